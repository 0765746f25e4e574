// SPDX-License-Identifier: MIT
// Plans how the state of an earlier claudebox is taken over.
//
// Theory of operation: once, ~/.claudebox was itself the .claude directory of every project. What belongs to a project (its
// conversations, with what hangs on them) is copied to its instance; then all of the old state, as it is, moves into a
// backup beside the new one. Settings, commands and the like are not taken over: boxes could write them, and what they
// say is executed; the user's own are in ~/.claude.
#include "plan/state/upgrade.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/state/instances.h"

#include <string.h>

enum { VERSION_DIGITS = 9, SLUG_MOST = 200, LINES_MOST = 500, NAMES_SHOWN = 6 };

const char *const flat_marks[] = {
	".claude.json", ".credentials.json", "projects", "history.jsonl",
	"todos",        "shell-snapshots",
};
const size_t flat_mark_count = ARRAY_SIZE(flat_marks);

bool upgrade_keeps_name(const char *name)
{
	static const char *const names[] = {
		"instances",    "packages",     "gcroots",  "sign-in",
		"sign-in.base", "sign-in.lock", "profiles", STATE_VERSION_FILE,
	};
	static const char *const prefixes[] = { BACKUP_PREFIX, "prove-claudebox-", ".claudebox-" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_equal(name, names[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (str_starts(name, prefixes[i]))
			return true;
	return false;
}

static bool later(struct error *error, const char *what, const char *version, int known)
{
	error_hint(error, "use that claudebox, or a later one; nothing was touched");
	return error_set(error, "%s is of a later claudebox (version %s, this one knows %d)", what,
			 version, known);
}

bool upgrade_refuse_later(const struct state_facts *state, struct error *error)
{
	const char *text = state->version;
	const char *root = quote_display(error->arena, state->root, 0);
	JSON_OWNED *record = json_read_object(state->record, 0);
	json_int_t version = json_integer_value(json_object_get(record, "version"));

	if (text) {
		size_t length = strspn(text, "0123456789");
		const char *number = arena_strndup(error->arena, text, length);
		size_t value = 0;

		for (const char *s = number; *s && length <= VERSION_DIGITS; s++)
			value = value * 10 + (size_t)(*s - '0');
		if (!length || !str_equal(text + length + (text[length] == '\n'), "")) {
			error_hint(error, "this claudebox writes a %d there", STATE_VERSION);
			return error_set(error, "'%s/" STATE_VERSION_FILE "' holds no version",
					 root);
		}
		if (length > VERSION_DIGITS || value > STATE_VERSION)
			return later(error, arena_printf(error->arena, "'%s'", root), number,
				     STATE_VERSION);
	}
	if (version > INSTANCE_RECORD_VERSION)
		return later(error, "this project's state",
			     arena_printf(error->arena, "%lld", (long long)version),
			     INSTANCE_RECORD_VERSION);
	return true;
}

const char *upgrade_slug(struct arena *arena, const char *path)
{
	struct text out = { .arena = arena };

	for (const char *s = path; *s; s++) {
		unsigned char byte = (unsigned char)*s;
		bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
			     (*s >= '0' && *s <= '9');

		if (plain)
			text_add_bytes(&out, s, 1);
		else if ((byte & 0xc0) != 0x80) // one for each unit of UTF-16
			text_add(&out, byte >= 0xf0 ? "--" : "-");
	}
	return text_get(&out);
}

// A long one ends in a digest of its own.
static bool fits(const char *slug, const char *made)
{
	return strlen(made) <= SLUG_MOST ? str_equal(slug, made)
					 : strncmp(slug, made, SLUG_MOST) == 0;
}

const char *upgrade_place(struct arena *arena, const char *text, const char *slug)
{
	for (int i = 0; *text && i < LINES_MOST; i++) {
		size_t length = strcspn(text, "\n");
		JSON_OWNED *line = json_read_object(arena_strndup(arena, text, length), 0);
		const char *place = json_string_value(json_object_get(line, "cwd"));

		if (place && place[0] == '/' && str_equal(path_clean(arena, place), place) &&
		    fits(slug, upgrade_slug(arena, place)))
			return arena_strdup(arena, place);
		text += length + (text[length] == '\n');
	}
	return NULL;
}

static void add_part(struct plan_upgrade *upgrade, struct arena *arena,
		     const struct flat_part *part)
{
	const char *id = instance_id(arena, part->root);
	bool known = false;

	vec_each(instance, &upgrade->instances)
		known |= str_equal(instance->id, id);
	if (!known)
		vec_push(arena, &upgrade->instances,
			 (struct plan_instance){
				 id, instance_render_record(arena, part->root, &part->on) });
	vec_each(path, &part->paths)
		vec_push(arena, &upgrade->copies, (struct plan_copy){ *path, id });
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

// Names of what is nowhere but in the backup; those that hold parts of projects are not among them.
static const char *left_names(struct arena *arena, const struct flat_facts *flat)
{
	static const char *const shared[] = { "projects", "todos", "file-history", "tasks",
					      ".credentials.json" };
	struct text out = { .arena = arena };
	size_t count = 0;

	vec_each(entry, &flat->entries) {
		bool parts = false;

		for (size_t i = 0; i < ARRAY_SIZE(shared); i++)
			parts |= str_equal(*entry, shared[i]);
		if (!parts && count++ < NAMES_SHOWN)
			text_printf(&out, ", %s", quote_word(arena, *entry, 40));
	}
	if (count > NAMES_SHOWN)
		text_printf(&out, " and %zu more", count - NAMES_SHOWN);
	return text_get(&out);
}

static void add_notes(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	struct plan_upgrade *upgrade = &plan->state.upgrade;
	const struct flat_facts *flat = &facts->state.flat;
	const char *root = quote_word(arena, path_tilde(arena, facts->state.root, facts->home), 0);
	size_t taken = 0;
	size_t left = 0;

	vec_each(part, &flat->parts) {
		taken += part->conversation && part->root;
		left += part->conversation && !part->root;
	}
	vec_push(arena, &upgrade->notes,
		 arena_printf(arena,
			      "%s is that of an earlier claudebox, one for all projects: the start "
			      "takes it over%s, and nothing of it is lost.",
			      root, upgrade->begun ? " (it was begun before)" : ""));
	if (!upgrade->begun)
		vec_push(arena, &upgrade->notes,
			 arena_printf(arena,
				      "%zu conversation%s, copied to the state of %zu project%s; "
				      "the sign-in %s.",
				      taken, plural(taken), upgrade->instances.count,
				      plural(upgrade->instances.count),
				      upgrade->credentials ? "comes along"
				      : flat->credentials  ? "does not"
							   : "is not there"));
	vec_push(arena, &upgrade->notes,
		 arena_printf(arena,
			      "All of it moves to %s/%s; only there: %zu conversation%s whose "
			      "project is not here%s. Your own settings are in ~/.claude.",
			      root, upgrade->backup, left, plural(left), left_names(arena, flat)));
}

// Tokens of MCP servers and the like stay behind.
static const char *credentials_of(struct arena *arena, const char *text)
{
	JSON_OWNED *file = json_read_object(text, JSON_REJECT_DUPLICATES);
	json_t *credentials = json_object_get(file, "claudeAiOauth");
	JSON_OWNED *only = credentials ? json_pack("{s:O}", "claudeAiOauth", credentials) : NULL;

	return only ? json_write(arena, only, JSON_COMPACT) : NULL;
}

void plan_build_upgrade(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const struct flat_facts *flat = &facts->state.flat;
	struct plan_upgrade *upgrade = &plan->state.upgrade;

	if (!flat->found)
		return;
	*upgrade = (struct plan_upgrade){
		.needed = true,
		.begun = flat->begun,
		.backup = arena_printf(arena, BACKUP_PREFIX "%s", flat->date),
		.moves = flat->entries,
	};
	vec_each(part, &flat->parts) {
		if (part->root)
			add_part(upgrade, arena, part);
	}
	if (!facts->user_claude.has_credentials && !flat->store_has_credentials)
		upgrade->credentials = credentials_of(arena, flat->credentials);
	add_notes(plan, arena, facts);
}
