// SPDX-License-Identifier: MIT
// Which settings of an .npmrc are harmless.
//
// Theory of operation: new packages often get an .npmrc with one or two settings, so the file is
// judged by content. Npm executes the programs that script-shell, node-options, git, editor and
// others name, and fetches from the addresses of registry and proxy settings. strict-ssl,
// audit-level, loglevel and sign-git-tag can switch a check off or hide it. Only the settings of
// this list are harmless; their values are true, false, a number or a word, never ${NAME}.
#include "plan/guard/npmrc.h"

#include "base/arena.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

// A setting, and the only value that is harmless; NULL: any word is.
static const struct npmrc_row {
	const char *name;
	const char *value;
	const char *why;
} harmless[] = {
	{ "audit", "true", "false reports no known holes" },
	{ "auto-install-peers", NULL, "which packages are installed" },
	{ "color", NULL, "output" },
	{ "dedupe-peer-dependents", NULL, "where packages are placed" },
	{ "engine-strict", "true", "false installs packages for other versions of node" },
	{ "fund", NULL, "output" },
	{ "hoist", NULL, "where packages are placed" },
	{ "ignore-scripts", "true", "false runs the scripts of packages" },
	{ "include-workspace-root", NULL, "which packages a command means" },
	{ "install-links", NULL, "how local packages are installed" },
	{ "install-strategy", NULL, "where packages are placed" },
	{ "legacy-peer-deps", NULL, "which packages are installed" },
	{ "link-workspace-packages", NULL, "how local packages are installed" },
	{ "lockfile", "true", "false verifies no hashes" },
	{ "message", NULL, "text of a commit" },
	{ "node-linker", NULL, "where packages are placed" },
	{ "omit", NULL, "which packages are installed" },
	{ "optional", NULL, "which packages are installed" },
	{ "package-lock", "true", "false verifies no hashes" },
	{ "prefer-dedupe", NULL, "which versions are installed" },
	{ "prefer-offline", NULL, "speed" },
	{ "prefer-workspace-packages", NULL, "how local packages are installed" },
	{ "progress", NULL, "output" },
	{ "public-hoist-pattern", NULL, "where packages are placed" },
	{ "resolution-mode", NULL, "which versions are installed" },
	{ "save", NULL, "what package.json gets" },
	{ "save-exact", NULL, "what package.json gets" },
	{ "save-prefix", NULL, "what package.json gets" },
	{ "save-workspace-protocol", NULL, "what package.json gets" },
	{ "shamefully-hoist", NULL, "where packages are placed" },
	{ "shared-workspace-lockfile", NULL, "where the file of hashes is" },
	{ "strict-peer-dependencies", NULL, "which conflicts of versions end a command" },
	{ "strict-peer-deps", NULL, "which conflicts of versions end a command" },
	{ "tag-version-prefix", NULL, "the name of a tag" },
	{ "update-notifier", NULL, "output" },
	{ "workspaces", NULL, "which packages a command means" },
};

static const char *skip_blanks(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static const struct npmrc_row *find_row(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		if (strlen(harmless[i].name) == length &&
		    strncmp(harmless[i].name, name, length) == 0)
			return &harmless[i];
	return NULL;
}

// Returns whether a value is a word, which names no variable and no place.
static bool is_word(const char *value)
{
	return strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			     " \t\r\"'*@^~._-,[]") == strlen(value);
}

// Returns whether a value, with blanks around it, is this one.
static bool is_value(const char *text, const char *wanted)
{
	const char *rest = str_after(skip_blanks(text), wanted);

	return rest && !*skip_blanks(rest);
}

// Returns whether "NAME=VALUE", "NAME[]=VALUE" or "NAME", which is true, is harmless.
static bool is_harmless(const char *line)
{
	size_t length = strcspn(line, " \t\r=[");
	const struct npmrc_row *row = find_row(line, length);
	const char *rest = skip_blanks(line + length);

	if (!row)
		return false;
	if (!row->value && strncmp(rest, "[]", 2) == 0)
		rest = skip_blanks(rest + 2);
	if (*rest && *rest != '=')
		return false;
	if (row->value)
		return !*rest || is_value(rest + 1, row->value);
	return is_word(*rest ? rest + 1 : rest);
}

bool npmrc_is_harmless(struct arena *arena, const char *text)
{
	const char *line;

	while ((line = str_next_line(arena, &text))) {
		const char *name = skip_blanks(line);

		if (*name && *name != '#' && *name != ';' && !is_harmless(name))
			return false;
	}
	return true;
}
