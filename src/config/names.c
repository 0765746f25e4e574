// SPDX-License-Identifier: MIT
// The table of reserved names, and small tests of names.
#include "config/names.h"

#include "base/arena.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_COMPARED = 64 };

#define LETTERS            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define LETTERS_AND_DIGITS LETTERS "0123456789"

const struct variable_row reserved_variables[] = {
	{ "HOME", "made by claudebox" },
	{ "USER", "made by claudebox" },
	{ "LOGNAME", "made by claudebox" },
	{ "SHELL", "made by claudebox" },
	{ "PATH", "made by claudebox" },
	{ "PWD", "made by claudebox" },
	{ "OLDPWD", "made by claudebox" },
	{ "TMPDIR", "made by claudebox" },
	{ "XDG_RUNTIME_DIR", "made by claudebox" },
	{ "CLAUDEBOX*", "claudebox's own" },
	{ "CLAUDE_CONFIG_DIR", "made by claudebox" },
	{ "CLAUDE_SECURESTORAGE_CONFIG_DIR", "made by claudebox" },
	{ "CLAUDE_CODE_SANDBOXED", "made by claudebox" },
	{ "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB", "it turns the permission questions on again" },
	{ "NIX_REMOTE", "made by claudebox" },
	{ "GIT_CONFIG_*", "made by claudebox" },
	{ "LD_*", "changes how every program starts" },
	{ "GLIBC_TUNABLES", "changes how every program starts" },
	{ "BASH_ENV", "runs code in every shell" },
	{ "ENV", "runs code in every shell" },
	{ "BASH_FUNC_*", "runs code in every shell" },
	{ "SHELLOPTS", "changes every shell" },
	{ "BASHOPTS", "changes every shell" },
	{ "PS4", "runs code in every shell" },
	{ "PROMPT_COMMAND", "runs code in every shell" },
	{ "IFS", "changes every shell" },
};
const size_t reserved_variable_count = ARRAY_SIZE(reserved_variables);

const struct variable_row *variable_row_find(const struct variable_row *rows, size_t count,
					     const char *name)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(rows[i].name);

		if (rows[i].name[length - 1] == '*' ? strncmp(rows[i].name, name, length - 1) == 0
						    : str_equal(rows[i].name, name))
			return &rows[i];
	}
	return NULL;
}

bool profile_name_valid(const char *name)
{
	size_t length = strspn(name, LETTERS_AND_DIGITS "._-");

	return length > 0 && length <= LONGEST_PROFILE_NAME && name[length] == '\0' &&
	       strchr(LETTERS_AND_DIGITS, name[0]);
}

bool package_name_valid(const char *name)
{
	size_t length = strlen(name);

	if (length == 0 || length > LONGEST_PACKAGE_NAME || name[0] == '-')
		return false;
	for (const char *s = name;;) {
		size_t part = strspn(s, LETTERS_AND_DIGITS "_+-");

		if (part == 0)
			return false;
		if (s[part] == '\0')
			return true;
		if (s[part] != '.')
			return false;
		s += part + 1;
	}
}

// What others call ours; no count of letters leads from one to the other.
static const struct {
	const char *said;
	const char *meant;
} other_words[] = {
	{ "host", "full" },     { "internet", "inet" }, { "offline", "none" }, { "off", "none" },
	{ "ro", "read-only" },  { "rw", "read-write" }, { "read-only", "ro" }, { "readonly", "ro" },
	{ "read-write", "rw" }, { "readwrite", "rw" },
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

// Letters to add, drop or replace (Levenshtein) until one name is the other; capitals are as good as small ones.
static size_t distance(const char *a, const char *b)
{
	size_t row[LONGEST_COMPARED + 1];
	size_t length = strlen(b);

	for (size_t k = 0; k <= length; k++)
		row[k] = k;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t k = 0; k < length; k++) {
			size_t replaced = diagonal + (tolower((unsigned char)a[i]) !=
						      tolower((unsigned char)b[k]));

			diagonal = row[k + 1];
			row[k + 1] = least(replaced, 1 + least(row[k], row[k + 1]));
		}
	}
	return row[length];
}

enum flake_reference flake_reference_judge(const char *text)
{
	static const char *const of_files[] = { "path:", "file:", "file+" };

	if (!*text || text[strspn(text, LETTERS_AND_DIGITS ":/._+?=&%@~-")] ||
	    !strchr(LETTERS "/.", text[0]))
		return FLAKE_ODD;
	for (size_t i = 0; i < ARRAY_SIZE(of_files); i++) {
		const char *found = strstr(text, of_files[i]);
		const char *path = found ? strchr(found, ':') : NULL;

		if (path && path[1] != '/')
			return FLAKE_RELATIVE;
	}
	return text[0] == '.' ? FLAKE_RELATIVE : FLAKE_FINE;
}

static const char *by_other_word(const char *name, const char *const *known, size_t count)
{
	for (size_t i = 0; i < ARRAY_SIZE(other_words); i++)
		for (size_t k = 0; str_equal(other_words[i].said, name) && k < count; k++)
			if (str_equal(other_words[i].meant, known[k]))
				return known[k];
	return NULL;
}

const char *name_nearest(const char *name, const char *const *known, size_t count)
{
	size_t length = strlen(name);
	size_t best = least(length, 2 + length / 4);
	const char *nearest = NULL;

	for (size_t i = 0; i < count && length <= LONGEST_COMPARED; i++) {
		size_t far = strlen(known[i]) > LONGEST_COMPARED ? best : distance(name, known[i]);

		if (far < best) {
			best = far;
			nearest = known[i];
		}
	}
	return nearest ? nearest : by_other_word(name, known, count);
}

const char *name_hint(struct arena *arena, const char *what, const char *name,
		      const char *const *known, size_t count)
{
	const char *nearest = name_nearest(name, known, count);
	struct text hint = { .arena = arena };

	if (nearest)
		text_printf(&hint, "did you mean '%s'? ", nearest);
	text_printf(&hint, "%s:", what);
	for (size_t i = 0; i < count; i++)
		text_printf(&hint, "%s %s", i ? "," : "", known[i]);
	return text_get(&hint);
}
