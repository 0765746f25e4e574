// SPDX-License-Identifier: MIT
// Instances as data: names, records, the status of each project, and lists.
//
// Theory of operation: a missing path does not prove that a project was deleted: its disk may be
// unplugged or its server down. So every start records the mount point and the id of the project's
// file system. A project is gone only when the same file system is mounted and the path is missing.
// In doubt, the instance is kept.
#include "plan/state/instances.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/facts.h"

#include <string.h>

const char *const project_status_names[PROJECT_STATUS_COUNT] = {
	[PROJECT_EXISTS] = "there",
	[PROJECT_GONE] = "gone",
	[PROJECT_UNREACHABLE] = "unreachable",
	[PROJECT_UNKNOWN] = "unknown",
	[PROJECT_REPLACED] = "replaced",
};

enum { KEPT_DIGITS = 4 };

static const char digits[] = "0123456789abcdef";

const char *instance_id(struct arena *arena, const char *root)
{
	return digest_hex(arena, root, INSTANCE_DIGITS);
}

bool instance_id_valid(const char *name)
{
	return strspn(name, digits) == INSTANCE_DIGITS && !name[INSTANCE_DIGITS];
}

strings instance_place_ids(struct arena *arena, const char *text)
{
	strings ids = { 0 };
	const char *line;

	if (text[0] == '/') {
		vec_push(arena, &ids, instance_id(arena, text));
		return ids;
	}
	while ((line = str_next_line(arena, &text))) {
		if (instance_id_valid(line))
			vec_push(arena, &ids, line);
	}
	return ids;
}

const char *instance_kept_name(struct arena *arena, const char *id, int number)
{
	return arena_printf(arena, "%s" INSTANCE_KEPT "%d", id, number);
}

bool instance_kept_valid(const char *name)
{
	const char *number = strspn(name, digits) == INSTANCE_DIGITS
				     ? str_after(name + INSTANCE_DIGITS, INSTANCE_KEPT)
				     : NULL;
	size_t length = number ? strspn(number, "0123456789") : 0;

	return length && length <= KEPT_DIGITS && !number[length] && number[0] != '0';
}

// Encodes a path that is not valid UTF-8, which JSON requires.
static const char *to_hex(struct arena *arena, const char *bytes)
{
	struct text out = { .arena = arena };

	for (; *bytes; bytes++)
		text_printf(&out, "%02x", (unsigned char)*bytes);
	return text_get(&out);
}

// Decodes the output of to_hex. Returns NULL when the text is not one.
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

const char *instance_render_record(struct arena *arena, const struct instance_record *from)
{
	const char *root = from->root;
	const struct file_system *on = &from->on;
	json_t *name = json_string(root);
	JSON_OWNED *record = json_pack("{s:i, s:o}", "version", INSTANCE_RECORD_VERSION, "root",
				       name ? name : json_string(quote_display(arena, root, 0)));

	if (!name)
		json_object_set_new(record, "root_hex", json_string(to_hex(arena, root)));
	// json_string returns NULL for invalid UTF-8, and jansson then leaves the key out.
	if (on->mount_point)
		json_object_set_new(record, "mount_point", json_string(on->mount_point));
	if (on->mount_point && on->id)
		json_object_set_new(record, "file_system", json_string(on->id));
	if (from->identity.born_ns) {
		json_object_set_new(record, "inode",
				    json_integer((json_int_t)from->identity.inode));
		json_object_set_new(record, "born_ns", json_integer(from->identity.born_ns));
	}
	return json_write(arena, record, JSON_INDENT(2));
}

// Returns a copy of a string member, NULL when it is missing.
static const char *read_string(struct arena *arena, const json_t *record, const char *key)
{
	const char *text = json_string_value(json_object_get(record, key));

	return text ? arena_strdup(arena, text) : NULL;
}

static int64_t read_integer(const json_t *record, const char *key)
{
	return json_integer_value(json_object_get(record, key));
}

bool instance_read_record(struct arena *arena, const char *name, const char *text,
			  struct instance_record *ret_record)
{
	JSON_OWNED *object = json_read_object(text, 0);
	const char *exact = from_hex(arena, read_string(arena, object, "root_hex"));
	struct instance_record record = {
		.version = (int)json_integer_value(json_object_get(object, "version")),
		.root = exact ? exact : read_string(arena, object, "root"),
		.on = { .mount_point = read_string(arena, object, "mount_point"),
			.id = read_string(arena, object, "file_system") },
		.identity = { .inode = (uint64_t)read_integer(object, "inode"),
			      .born_ns = read_integer(object, "born_ns") },
		.kept = instance_kept_valid(name),
	};
	const char *id = record.kept ? arena_strndup(arena, name, INSTANCE_DIGITS) : name;

	// The id is the digest of the path, so a record cannot claim another path.
	if (!record.root || record.root[0] != '/' ||
	    !str_equal(instance_id(arena, record.root), id))
		return false;
	*ret_record = record;
	return true;
}

bool instance_is_replaced(const struct directory_identity *before,
			  const struct directory_identity *now)
{
	return before->born_ns && now->born_ns &&
	       (before->born_ns != now->born_ns || before->inode != now->inode);
}

// Returns why a missing project may come back; NULL when it is gone for good.
static const char *find_reason_to_keep(struct arena *arena, const struct file_system *on,
				       const struct project_facts *facts)
{
	const char *shown = on->mount_point ? quote_word(arena, on->mount_point, 120) : NULL;

	if (!shown)
		return facts->parent_empty
			       ? "the parent directory of the project is missing or empty: its file "
				 "system may not be mounted"
			       : NULL;
	if (!facts->mounted)
		return arena_printf(arena, "the project's file system is not mounted (%s)", shown);
	if (on->id && !str_equal(on->id, facts->mount_id))
		return arena_printf(arena, "another file system is mounted at %s now", shown);
	return NULL;
}

enum project_status instance_project_status(struct arena *arena,
					    const struct instance_record *record,
					    const struct project_facts *facts, const char **ret_why)
{
	*ret_why = NULL;
	if (!record) {
		*ret_why = "its record does not name a project";
		return PROJECT_UNKNOWN;
	}
	switch (facts->lookup) {
	case LOOKUP_EXISTS:
		if (!record->kept)
			return PROJECT_EXISTS;
		*ret_why = find_reason_to_keep(arena, &record->on, facts);
		if (!*ret_why && !instance_is_replaced(&record->identity, &facts->identity))
			*ret_why = "its directory may be at that path again";
		return *ret_why ? PROJECT_UNREACHABLE : PROJECT_REPLACED;
	case LOOKUP_FAILED:
		*ret_why = arena_printf(arena, "cannot look up the project: %s", facts->problem);
		break;
	case LOOKUP_TIMEOUT:
		*ret_why = "the project's file system does not respond";
		break;
	case LOOKUP_MISSING:
		*ret_why = find_reason_to_keep(arena, &record->on, facts);
		break;
	}
	return *ret_why ? PROJECT_UNREACHABLE : PROJECT_GONE;
}

bool instance_removable(const struct instance *instance)
{
	return (instance->project == PROJECT_GONE || instance->project == PROJECT_REPLACED) &&
	       !instance->in_use;
}

// Insertion sort: lists are short. Entries with the same time are sorted by id for a stable order.
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
	instance_list removable = { 0 };

	vec_each(instance, list) {
		if (instance_removable(instance))
			vec_push(arena, &removable, *instance);
	}
	return removable;
}

uint64_t instances_size(const instance_list *list)
{
	uint64_t sum = 0;

	vec_each(instance, list)
		sum += instance->size;
	return sum;
}
