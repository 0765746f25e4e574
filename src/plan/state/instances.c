// SPDX-License-Identifier: MIT
// Which project an instance belongs to, and whether that is gone for good.
//
// Theory of operation: a path that is not there says little: its disk may be in a drawer, its server down. So every start
// keeps on record where the project's file system is mounted and which one it is. A project is gone only when that very
// file system is there and the path is not. Whatever is in doubt is kept.
#include "plan/state/instances.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/facts.h"

#include <string.h>

const char *const presence_names[PRESENCE_COUNT] = {
	[PRESENCE_THERE] = "there",
	[PRESENCE_GONE] = "gone",
	[PRESENCE_UNREACHABLE] = "unreachable",
	[PRESENCE_UNKNOWN] = "unknown",
};

static const char digits[] = "0123456789abcdef";

const char *instance_id(struct arena *arena, const char *root)
{
	return digest_hex(arena, root, INSTANCE_DIGITS);
}

bool instance_id_valid(const char *name)
{
	return strspn(name, digits) == INSTANCE_DIGITS && !name[INSTANCE_DIGITS];
}

// JSON is UTF-8, a path is any bytes.
static const char *to_hex(struct arena *arena, const char *bytes)
{
	struct text out = { .arena = arena };

	for (; *bytes; bytes++)
		text_printf(&out, "%02x", (unsigned char)*bytes);
	return text_get(&out);
}

static const char *from_hex(struct arena *arena, const char *hex)
{
	struct text out = { .arena = arena };

	if (!hex || strlen(hex) % 2 || hex[strspn(hex, digits)])
		return NULL;
	for (; *hex; hex += 2) {
		size_t byte = (size_t)(strchr(digits, hex[0]) - digits) * 16 +
			      (size_t)(strchr(digits, hex[1]) - digits);

		if (!byte)
			return NULL;
		text_add_bytes(&out, (const char[]){ (char)byte }, 1);
	}
	return text_get(&out);
}

const char *instance_render_record(struct arena *arena, const char *root,
				   const struct file_system *on)
{
	json_t *name = json_string(root);
	JSON_OWNED *record = json_pack("{s:i, s:o}", "version", INSTANCE_RECORD_VERSION, "root",
				       name ? name : json_string(quote_display(arena, root, 0)));

	if (!name)
		json_object_set_new(record, "root_hex", json_string(to_hex(arena, root)));
	if (on->mount_point) // one that is no text is left out: then it is not known
		json_object_set_new(record, "mount_point", json_string(on->mount_point));
	if (on->mount_point && on->id)
		json_object_set_new(record, "file_system", json_string(on->id));
	return json_write(arena, record, JSON_INDENT(2));
}

static const char *member(struct arena *arena, const json_t *record, const char *key)
{
	const char *text = json_string_value(json_object_get(record, key));

	return text ? arena_strdup(arena, text) : NULL;
}

bool instance_read_record(struct arena *arena, const char *id, const char *text,
			  struct instance_record *ret_record)
{
	JSON_OWNED *object = json_read_object(text, 0);
	const char *exact = from_hex(arena, member(arena, object, "root_hex"));
	struct instance_record record = {
		.version = (int)json_integer_value(json_object_get(object, "version")),
		.root = exact ? exact : member(arena, object, "root"),
		.on = { .mount_point = member(arena, object, "mount_point"),
			.id = member(arena, object, "file_system") },
	};

	// The id is the digest of the path: no other path can pass for it.
	if (!record.root || record.root[0] != '/' ||
	    !str_equal(instance_id(arena, record.root), id))
		return false;
	*ret_record = record;
	return true;
}

enum presence instance_judge(struct arena *arena, const struct instance_record *record,
			     const struct project_sight *sight, const char **ret_why)
{
	const char *mount_point = record && record->on.mount_point ? record->on.mount_point : NULL;
	const char *shown = mount_point ? quote_word(arena, mount_point, 120) : NULL;

	*ret_why = NULL;
	if (!record) {
		*ret_why = "it does not say which project it belongs to";
		return PRESENCE_UNKNOWN;
	}
	switch (sight->seen) {
	case SIGHT_THERE:
		return PRESENCE_THERE;
	case SIGHT_FAILED:
		*ret_why =
			arena_printf(arena, "the project cannot be looked at (%s)", sight->problem);
		return PRESENCE_UNREACHABLE;
	case SIGHT_SILENT:
		*ret_why = "the project's file system does not answer";
		return PRESENCE_UNREACHABLE;
	case SIGHT_MISSING:
		break;
	}
	if (!mount_point && sight->bare)
		*ret_why = "the directory above the project is missing or empty: its file system "
			   "may not be mounted";
	else if (mount_point && !sight->mounted)
		*ret_why =
			arena_printf(arena, "the project's file system is not mounted (%s)", shown);
	else if (mount_point && record->on.id && !str_equal(record->on.id, sight->mount_id))
		*ret_why = arena_printf(arena, "another file system is mounted at %s now", shown);
	return *ret_why ? PRESENCE_UNREACHABLE : PRESENCE_GONE;
}

bool instance_removable(const struct instance *instance)
{
	return instance->presence == PRESENCE_GONE && !instance->in_use;
}

// Few enough for the plainest way; equal ones by name, so that the order is always the same.
void instances_sort(instance_list *list)
{
	for (size_t i = 1; i < list->count; i++) {
		struct instance moved = list->items[i];
		size_t place = i;

		while (place && (list->items[place - 1].last_use < moved.last_use ||
				 (list->items[place - 1].last_use == moved.last_use &&
				  strcmp(list->items[place - 1].id, moved.id) > 0))) {
			list->items[place] = list->items[place - 1];
			place--;
		}
		list->items[place] = moved;
	}
}

instance_list instances_removable(struct arena *arena, const instance_list *list)
{
	instance_list some = { 0 };

	vec_each(instance, list) {
		if (instance_removable(instance))
			vec_push(arena, &some, *instance);
	}
	return some;
}

uint64_t instances_size(const instance_list *list)
{
	uint64_t sum = 0;

	vec_each(instance, list)
		sum += instance->size;
	return sum;
}
