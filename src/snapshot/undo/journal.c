// SPDX-License-Identifier: MIT
// The journal of an undo: the steps that a killed one has still to do.
#include "snapshot/undo/journal.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "plan/report/change.h"
#include "snapshot/store.h"
#include "sys/write.h"

#include <jansson.h>
#include <string.h>

static json_t *render_version(const struct file_version *version)
{
	return json_pack("{s:i, s:s}", "mode", (int)version->mode, "object",
			 version->object ? version->object : "");
}

// Renders a path as base64: it can have any bytes.
static const char *encode(struct arena *arena, const char *path)
{
	struct text out = { .arena = arena };

	text_add_base64(&out, (const unsigned char *)path, strlen(path), 1U << 20);
	return arena_strndup(arena, text_get(&out), strcspn(text_get(&out), "\n"));
}

bool journal_write(const struct store *store, const file_changes *changes,
		   const struct undo_journal *journal, struct error *error)
{
	JSON_OWNED *list = json_array();
	JSON_OWNED *object = json_object();

	vec_each(change, changes) {
		json_t *step = json_object();

		json_object_set_new(step, "path", json_string(encode(error->arena, change->path)));
		json_object_set_new(step, "before", render_version(&change->before));
		json_object_set_new(step, "after", render_version(&change->after));
		json_array_append_new(list, step);
	}
	json_object_set_new(object, "id", json_string(journal->id));
	json_object_set_new(object, "of", json_string(journal->of));
	json_object_set_new(object, "now", json_string(journal->now));
	json_object_set_new(object, "undecided", json_boolean(journal->undecided));
	json_object_set(object, "steps", list);
	return replace_file(store->directory, UNDO_JOURNAL,
			    json_write(error->arena, object, JSON_COMPACT), error);
}

static struct file_version parse_version(struct arena *arena, const json_t *json)
{
	const char *object = json_string_value(json_object_get(json, "object"));

	return (struct file_version){
		.mode = (uint32_t)json_integer_value(json_object_get(json, "mode")),
		.object = object ? arena_strdup(arena, object) : "",
	};
}

static const char *copy_string(struct arena *arena, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? arena_strdup(arena, text) : NULL;
}

bool journal_parse(struct arena *arena, const char *text, struct undo_journal *ret_journal,
		   file_changes *ret_changes)
{
	JSON_OWNED *object = json_loads(text, 0, NULL);
	struct undo_journal journal = { .id = copy_string(arena, object, "id"),
					.of = copy_string(arena, object, "of"),
					.now = copy_string(arena, object, "now"),
					.undecided = json_is_true(
						json_object_get(object, "undecided")) };
	json_t *step;
	size_t i;

	json_array_foreach(json_object_get(object, "steps"), i, step) {
		const char *path = json_string_value(json_object_get(step, "path"));
		size_t length = path ? strlen(path) : 0;
		unsigned char *bytes = arena_alloc(arena, length + 1);

		base64_decode(path ? path : "", length, bytes, length);
		if (!*bytes)
			return false;
		vec_push(arena, ret_changes,
			 (struct file_change){
				 .path = (char *)bytes,
				 .before = parse_version(arena, json_object_get(step, "before")),
				 .after = parse_version(arena, json_object_get(step, "after")) });
	}
	*ret_journal = journal;
	return journal.id && journal.of && journal.now;
}
