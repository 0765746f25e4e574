// SPDX-License-Identifier: MIT
// Parses nft's JSON and renders the refused connections. The agent chooses the addresses and ports
// in it. The sets are bounded, and only addresses and numbers are taken from the JSON, so the
// output needs no escaping.
#include "network/refusals.h"

#include "base/address.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"

#include <string.h>

enum { LISTED_MAX = 5 };

// Returns the address in its usual spelling, NULL if the value is no address.
static const char *parse_address(struct arena *arena, const json_t *value)
{
	struct address_range range;
	const char *text = json_string_value(value);

	return text && address_parse(text, &range) ? address_render(arena, &range) : NULL;
}

// Inserts the refusal behind those with the same or a higher count.
static void insert(struct refusals *refusals, struct arena *arena, struct refusal refusal)
{
	size_t place;

	vec_push(arena, &refusals->list, refusal);
	place = refusals->list.count - 1;
	for (; place && refusals->list.items[place - 1].count < refusal.count; place--)
		refusals->list.items[place] = refusals->list.items[place - 1];
	refusals->list.items[place] = refusal;
}

// nft gives the protocol's name, or its number on a machine without /etc/protocols.
static bool is_udp(const json_t *protocol)
{
	const char *name = json_string_value(protocol);

	return name ? str_equal(name, "udp") || str_equal(name, "17")
		    : json_integer_value(protocol) == 17;
}

// Adds an element of one of nft's sets.
static void add_element(struct refusals *refusals, struct arena *arena, const json_t *wrapped)
{
	const json_t *element = json_object_get(wrapped, "elem");
	const json_t *value = json_object_get(element, "val");
	const json_t *concat = json_object_get(value, "concat");
	const json_t *count = json_object_get(json_object_get(element, "counter"), "packets");
	struct refusal refusal = {
		.address = parse_address(arena, concat ? json_array_get(concat, 0) : value),
		.protocol = !concat                             ? "icmp"
			    : is_udp(json_array_get(concat, 1)) ? "udp"
								: "tcp",
		.port = (unsigned int)json_integer_value(json_array_get(concat, 2)) & 0xffff,
		.count = (unsigned long)json_integer_value(count),
	};

	if (refusal.address && refusal.count)
		insert(refusals, arena, refusal);
}

bool refused_parse(struct arena *arena, const char *json, struct refusals *ret_refusals)
{
	JSON_OWNED *all = json_read_object(json, 0);
	const json_t *rows = json_object_get(all, "nftables");
	struct refusals refusals = { 0 };
	bool counted = false;
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		const json_t *counter = json_object_get(row, "counter");
		const json_t *elements = json_object_get(json_object_get(row, "set"), "elem");
		json_t *element;
		size_t j;

		if (counter) {
			counted = true;
			refusals.total += (unsigned long)json_integer_value(
				json_object_get(counter, "packets"));
		}
		json_array_foreach(elements, j, element)
			add_element(&refusals, arena, element);
	}
	*ret_refusals = refusals;
	return counted;
}

static const char *render_target(struct arena *arena, const struct refusal *refusal)
{
	bool six = strchr(refusal->address, ':') != NULL;

	if (!refusal->port)
		return arena_printf(arena, "%s (ping)", refusal->address);
	return arena_printf(arena, six ? "[%s]:%u%s" : "%s:%u%s", refusal->address, refusal->port,
			    str_equal(refusal->protocol, "udp") ? "/udp" : "");
}

const char *refused_render_line(struct arena *arena, const struct refusals *refusals, bool ascii)
{
	size_t count = refusals->list.count;
	struct text out = { .arena = arena };

	if (!refusals->total)
		return NULL;
	text_printf(&out, "refused %lu connection%s", refusals->total,
		    refusals->total == 1 ? "" : "s");
	for (size_t i = 0; i < count && i < LISTED_MAX; i++)
		text_printf(&out, "%s%s %s%lu", i ? ", " : " (",
			    render_target(arena, &refusals->list.items[i]), ascii ? "x" : "×",
			    refusals->list.items[i].count);
	if (count > LISTED_MAX)
		text_printf(&out, " and %zu more", count - LISTED_MAX);
	text_add(&out, count ? ")" : "");
	return text_get(&out);
}

const char *refused_render_json(struct arena *arena, const struct refusals *refusals)
{
	json_t *list = json_array();
	JSON_OWNED *all = NULL;

	vec_each(row, &refusals->list)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:i, s:I}", "protocol", row->protocol,
						"address", row->address, "port", (int)row->port,
						"count", (json_int_t)row->count));
	all = json_pack("{s:I, s:o}", "total", (json_int_t)refusals->total, "list", list);
	return json_write(arena, all, JSON_COMPACT);
}
