// SPDX-License-Identifier: MIT
// Judges entries of a repository's configuration with the table of keys.
#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/git/rules.h"
#include "plan/git/settings.h"
#include "plan/guard/address.h"
#include "plan/guard/keys.h"
#include "plan/guard/places.h"

#include <string.h>
#include <strings.h>

enum { WORD_LIMIT = 256 };

#define WORD_BYTES                                                        \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 " \
	"-_.,:+=#@"

#define UNKNOWN   "is not known to be harmless"
#define BAD_VALUE "has a value that is not known to be harmless"

static const char *const refusals[KEY_RULE_COUNT] = {
	[KEY_PROGRAM] = "names a program",
	[KEY_REDIRECT] = "can redirect addresses",
	[KEY_FILE] = "names a file outside of the repository",
	[KEY_INCLUDE] = "includes another file",
	[KEY_HIDES] = "can hide changes",
	[KEY_LOSES] = "can lose data of the repository",
	[KEY_PROTECTION] = "can switch a protection off",
};

// Returns whether a value is a truth value that git reads without a doubt.
static bool is_boolean(const char *value, bool truth)
{
	static const char *const words[][4] = { { "false", "no", "off", "0" },
						{ "true", "yes", "on", "1" } };

	for (size_t i = 0; i < ARRAY_SIZE(words[0]); i++)
		if (strcasecmp(value, words[truth][i]) == 0)
			return true;
	return !truth && !*value;
}

static bool is_word(const char *value)
{
	size_t length = strlen(value);

	return length <= WORD_LIMIT && strspn(value, WORD_BYTES) == length;
}

static bool is_ref(const char *value)
{
	return *value && *value != '-' && git_value_is_text(value) && !strpbrk(value, "\n\t\\") &&
	       !strstr(value, "..");
}

// Returns whether a text has the part "..".
static bool has_parent_part(const char *path)
{
	while (*path) {
		size_t length = strcspn(path, "/");

		if (length == 2 && strncmp(path, "..", 2) == 0)
			return true;
		path += length + (path[length] == '/');
	}
	return false;
}

// Returns whether a value is the name of a remote, or ".". Git takes a name that no remote has for
// a path below the worktree, so it leads neither elsewhere nor into a directory of dependencies.
static bool is_remote_name(const char *value)
{
	return str_equal(value, ".") || (is_ref(value) && !strpbrk(value, "/:~%") &&
					 !guard_is_dependency(value) && !path_has_git_part(value));
}

// Returns whether a refspec updates refs of remotes alone. A negative one updates none.
static bool is_fetch(const char *value)
{
	const char *target = strchr(value, ':');

	return is_ref(value) &&
	       (*value == '^' || !target || !target[1] || str_starts(target + 1, "refs/remotes/"));
}

static const char *worktree_path(struct arena *arena, const char *value,
				 const struct git_key_place *place)
{
	return path_clean(arena, path_join(arena, place->directory, value));
}

// Judges core.worktree. git writes tracked files there, so it is no git directory. Outside of
// modules/ the worktree is known, and is nothing else.
static const char *judge_worktree(struct arena *arena, const char *value,
				  const struct git_key_place *place)
{
	const char *path;

	if (!place->worktree || !*value || !git_value_is_text(value))
		return "leads out of the worktree";
	path = worktree_path(arena, value, place);
	if (place->is_modules ? !path_within(path, place->worktree)
			      : !str_equal(path, place->worktree))
		return "leads out of the worktree";
	if (path_has_git_part(path + strlen(place->worktree)) ||
	    path_within(path, place->directory))
		return "leads into a git directory";
	return NULL;
}

// Judges the value of an entry by a row. NULL: it is harmless.
static const char *judge_value(struct arena *arena, const struct git_key_row *row,
			       const char *value, const struct git_key_place *place)
{
	bool ok = false;

	switch (row->rule) {
	case KEY_BOOLEAN:
	case KEY_PROBED:
		ok = (is_boolean(value, true) || is_boolean(value, false)) &&
		     !(row->rule == KEY_PROBED && place->is_users);
		break;
	case KEY_FALSE:
	case KEY_TRUE:
		ok = is_boolean(value, row->rule == KEY_TRUE);
		break;
	case KEY_BARE:
		ok = is_boolean(value, false) || (is_boolean(value, true) && !place->is_users);
		break;
	case KEY_WORD:
		ok = is_word(value);
		break;
	case KEY_FORMAT:
		ok = !place->is_users && git_keys_have(row->words, value);
		break;
	case KEY_CHOICE:
		ok = git_keys_have(row->words, value);
		break;
	case KEY_REF:
		ok = is_ref(value);
		break;
	case KEY_FETCH:
		ok = place->is_users ? is_fetch(value) : is_ref(value);
		break;
	case KEY_TEXT:
		ok = git_value_is_text(value);
		break;
	case KEY_REMOTE:
		ok = is_remote_name(value);
		break;
	case KEY_ADDRESS:
		return git_address_refusal(arena, value, place);
	case KEY_WORKTREE:
		return judge_worktree(arena, value, place);
	default:
		return refusals[row->rule];
	}
	return ok ? NULL : BAD_VALUE;
}

// A key without "=" is true for git. Other keys need a value, or git ends with an error.
static const char *value_for(const struct git_key_row *row, const char *value)
{
	if (value)
		return value;
	switch (row->rule) {
	case KEY_BOOLEAN:
	case KEY_PROBED:
	case KEY_BARE:
	case KEY_TRUE:
	case KEY_FALSE:
	case KEY_WORD:
		return "true";
	default:
		return NULL;
	}
}

// Returns whether the name of a section can be an argument of a command. Names of submodules are
// parts of paths. A remote whose name is an address or a path would redirect a push to that place.
static bool is_harmless_name(const struct git_name *name)
{
	const char *text = name->subsection;

	if (!text)
		return true;
	if (!*text || *text == '-' || !git_value_is_text(text) || strpbrk(text, "\n\t"))
		return false;
	if (str_equal(name->section, "remote"))
		return !strchr("/.~", *text) && !strpbrk(text, ":\\");
	return !str_equal(name->section, "submodule") ||
	       (*text != '/' && !has_parent_part(text) && !strchr(text, '\\'));
}

static bool matches(const struct git_key_row *row, const struct git_name *name)
{
	const char *rest = str_after(row->section, name->section);

	return rest && str_equal(rest, name->subsection ? ".*" : "") &&
	       git_keys_have(row->keys, name->key);
}

const char *git_key_refusal(struct arena *arena, const char *name, const char *value,
			    const struct git_key_place *place)
{
	struct git_name parts = git_name_split(arena, name);
	const char *reason = UNKNOWN;

	// A row of refused keys behind a row that did not pass has the better reason.
	for (size_t i = 0; i < git_key_count; i++) {
		const struct git_key_row *row = &git_key_table[i];
		const char *text = value_for(row, value);

		if (!matches(row, &parts))
			continue;
		if (row->rule >= KEY_PROGRAM)
			return refusals[row->rule];
		if (!is_harmless_name(&parts))
			return "belongs to a name that is not known to be harmless";
		if (place->overrides &&
		    (str_equal(parts.section, "remote") || str_equal(parts.section, "branch")))
			return "can redirect addresses of config";
		reason = text ? judge_value(arena, row, text, place) : "has no value";
		if (!reason)
			return NULL;
	}
	return reason;
}

enum git_key_rule git_key_rule(struct arena *arena, const char *name)
{
	struct git_name parts = git_name_split(arena, name);

	for (size_t i = 0; i < git_key_count; i++)
		if (matches(&git_key_table[i], &parts))
			return git_key_table[i].rule;
	return KEY_RULE_COUNT;
}

const char *git_key_path(struct arena *arena, const char *name, const char *value,
			 const struct git_key_place *place)
{
	struct git_name parts = git_name_split(arena, name);

	for (size_t i = 0; value && i < git_key_count; i++) {
		const struct git_key_row *row = &git_key_table[i];

		if (!matches(row, &parts))
			continue;
		if (row->rule == KEY_WORKTREE)
			return worktree_path(arena, value, place);
		if (row->rule == KEY_ADDRESS || row->rule == KEY_REMOTE)
			return git_address_path(arena, value, place);
	}
	return NULL;
}

// Judges the path of a submodule, relative to the worktree.
static bool is_submodule_path(const char *path)
{
	return *path && *path != '/' && *path != '-' && git_value_is_text(path) &&
	       !strpbrk(path, "\n\t\\") && !has_parent_part(path) && !path_has_git_part(path);
}

const char *gitmodules_refusal(struct arena *arena, const char *name, const char *value)
{
	static const struct git_key_place nowhere = { .directory = "/" };
	struct git_name parts = git_name_split(arena, name);

	if (!str_equal(parts.section, "submodule") || !parts.subsection)
		return UNKNOWN;
	if (!is_harmless_name(&parts))
		return "belongs to a name that is not known to be harmless";
	if (str_equal(parts.key, "path"))
		return value && is_submodule_path(value) ? NULL : BAD_VALUE;
	// The file is tracked, so a value that hides changes shows in `git diff`.
	if (str_equal(parts.key, "ignore"))
		return value && git_keys_have("none untracked dirty all", value) ? NULL : BAD_VALUE;
	if (str_equal(parts.key, "url") && value &&
	    (str_starts(value, "./") || str_starts(value, "../")))
		return git_address_relative_refusal(value);
	return git_key_refusal(arena, name, value, &nowhere);
}
