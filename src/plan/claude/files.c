// SPDX-License-Identifier: MIT
// Decides which of the user's Claude files and of the company's policy the box gets.
//
// Theory of operation: src/probe/claude/claude_files.c walks the directories and asks these
// functions about each name and each small text. JSON is cleaned. Other text cannot be cleaned,
// because a script without one of its lines is another script, so the file is left out.
#include "plan/claude/files.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/claude/clean.h"
#include "plan/secrets/detect.h"

#include <ctype.h>
#include <string.h>

#define CONTAINS_SECRET "it contains something like a secret"

// A file is binary if it has a NUL and this many control characters in its first bytes.
enum { EXAMINED_HEAD = 8192, MANY_CONTROLS = 8, CONTROLS_PART = 32 };

const char *claude_name_refused(const char *path, bool directory, bool in_modules)
{
	const char *name = path_name(path);

	if (str_equal(name, ".git"))
		return "data of git, which may contain credentials";
	if (!directory && secret_file_path(path) && (!in_modules || name[0] == '.'))
		return "files of such a name contain secrets";
	return NULL;
}

static bool ends_with(const char *name, const char *ending)
{
	size_t length = strlen(name);

	return length >= strlen(ending) && strcasecmp(name + length - strlen(ending), ending) == 0;
}

// Source code and documents assign variables and examples to names such as `token`: there, a value
// counts only if it looks random. In these files, every value beside the name of a secret counts.
static bool is_configuration_text(const char *name)
{
	static const char *const endings[] = {
		".sh",     ".bash",       ".zsh",  ".fish",  ".toml",  ".ini",   ".cfg", ".conf",
		".config", ".properties", ".json", ".json5", ".jsonc", ".jsonl", ".bak", ".orig",
	};

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (ends_with(name, endings[i]))
			return true;
	return !strchr(name + (name[0] == '.'), '.');
}

// Returns whether a JSON file configures Claude Code or MCP servers.
static bool is_configuration(const char *name)
{
	static const char *const names[] = { ".mcp.json",           "mcp.json",    "plugin.json",
					     "hooks.json",          "hook.json",   "settings.json",
					     "settings.local.json", ".lsp.json",   "config.json",
					     "marketplace.json",    "claude.json", ".claude.json" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcasecmp(name, names[i]) == 0)
			return true;
	return false;
}

static const char *join(struct arena *arena, const strings *list)
{
	struct text out = { .arena = arena };

	vec_each(item, list)
		text_printf(&out, "%s'%s'", out.length ? ", " : "", *item);
	return text_get(&out);
}

// Returns the number of the line at `at`.
static size_t line_number(const char *text, const char *at)
{
	size_t number = 1;

	for (; text < at; text++)
		number += *text == '\n';
	return number;
}

// Judges source code or a document. The doubtful places are only named.
static enum claude_part_kind judge_prose(struct arena *arena, const char *text,
					 const char **ret_why)
{
	const char *doubt;

	*ret_why = CONTAINS_SECRET;
	if (secret_find_certain(text, &doubt))
		return CLAUDE_PART_LEFT_OUT;
	*ret_why = doubt ? arena_printf(arena, "%zu", line_number(text, doubt)) : NULL;
	return CLAUDE_PART_HOST;
}

static enum claude_part_kind left_out_if(const char *kind, const char **ret_why)
{
	*ret_why = kind ? CONTAINS_SECRET : NULL;
	return kind ? CLAUDE_PART_LEFT_OUT : CLAUDE_PART_HOST;
}

static enum claude_part_kind judge_text(struct arena *arena, const char *name, const char *text,
					bool policy, const char **ret_why)
{
	if (!policy && !is_configuration_text(name))
		return judge_prose(arena, text, ret_why);
	return left_out_if(secret_text(NULL, text), ret_why);
}

enum claude_part_kind claude_judge_content(struct arena *arena, const char *name, const char *text,
					   bool policy, const char **ret_content,
					   const char **ret_why)
{
	bool configuration = policy || is_configuration(name);
	JSON_OWNED *object = ends_with(name, ".json") || ends_with(name, ".ipynb")
				     ? json_read_object(text, 0)
				     : NULL;
	strings removed = { 0 };

	*ret_content = NULL;
	*ret_why = NULL;
	if (!object)
		return judge_text(arena, name, text, policy, ret_why);
	if (policy)
		clean_policy_helpers(arena, object, &removed);
	clean_json(arena, object, configuration ? CLEAN_CONFIGURATION : CLEAN_DATA, &removed);
	// Of two members of the same name, the parser keeps one.
	if (!removed.count && secret_value(text))
		vec_push(arena, &removed, "a repeated member");
	if (!removed.count)
		return CLAUDE_PART_HOST;
	*ret_content = json_write(arena, object, JSON_INDENT(2));
	*ret_why = join(arena, &removed);
	if (!secret_value(*ret_content))
		return CLAUDE_PART_CLEANED;
	*ret_why = CONTAINS_SECRET;
	return CLAUDE_PART_LEFT_OUT;
}

// Returns whether the bytes are no text: a NUL and many control characters are near the start.
static bool is_binary(const char *bytes, size_t length)
{
	size_t head = length < EXAMINED_HEAD ? length : EXAMINED_HEAD;
	size_t controls = 0;

	for (size_t i = 0; i < head; i++)
		controls += iscntrl((unsigned char)bytes[i]) && !strchr("\t\n\r\f\033", bytes[i]);
	for (size_t i = 0; i < head; i++) // strchr() finds NUL
		controls += bytes[i] == '\0';
	return memchr(bytes, '\0', head) && controls >= MANY_CONTROLS &&
	       controls > head / CONTROLS_PART;
}

// Returns whether the bytes start with the mark of UTF-16.
static bool is_wide(const char *bytes, size_t length)
{
	return length > 1 &&
	       (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0);
}

// Makes a string of bytes. A NUL ends a line; in UTF-16, where every second byte of most texts is
// NUL, it is removed.
static void remove_nul(char *bytes, size_t length)
{
	bool wide = is_wide(bytes, length);
	size_t kept = 0;

	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == '\0' && wide)
			continue;
		bytes[kept] = bytes[i];
		if (bytes[i] == '\0')
			bytes[kept] = '\n';
		kept++;
	}
	bytes[kept] = '\0';
}

enum claude_part_kind claude_judge_bytes(struct arena *arena, const char *name, char *bytes,
					 size_t length, bool policy, const char **ret_content,
					 const char **ret_why)
{
	bool binary = is_binary(bytes, length) && !is_wide(bytes, length);

	*ret_content = NULL;
	*ret_why = NULL;
	if (!memchr(bytes, '\0', length))
		return claude_judge_content(arena, name, bytes, policy, ret_content, ret_why);
	if (policy) {
		*ret_why = "it cannot be read as text";
		return CLAUDE_PART_LEFT_OUT;
	}
	remove_nul(bytes, length);
	if (!binary)
		return judge_text(arena, name, bytes, policy, ret_why);
	return left_out_if(secret_token(bytes), ret_why);
}

// Adds the numbers of the lines of a secret to a list.
static void add_lines(struct text *list, size_t first, size_t last)
{
	text_printf(list, "%s%zu", list->length ? ", " : "", first);
	if (last > first)
		text_printf(list, "-%zu", last);
}

const char *claude_without_secret_lines(struct arena *arena, const char *text,
					const char **ret_lines)
{
	struct text out = { .arena = arena };
	struct text lines = { .arena = arena };
	const char *rest = text; // what is not in `out` yet; the start of a line
	size_t number = 1;
	size_t start;
	size_t length;
	bool certain;

	*ret_lines = NULL;
	while (secret_find_in_prose(rest, &start, &length, &certain)) {
		const char *first = rest + start;
		const char *last = rest + start + (length ? length - 1 : 0);
		size_t first_number;

		while (first > rest && first[-1] != '\n')
			first--;
		first_number = number + line_number(rest, first) - 1;
		number = first_number + line_number(first, last) - 1;
		add_lines(&lines, first_number, number);
		text_add_bytes(&out, rest, (size_t)(first - rest));
		rest = last + strcspn(last, "\n");
		if (*rest == '\0')
			break;
		rest++;
		number++;
	}
	if (!lines.length)
		return text;
	*ret_lines = text_get(&lines);
	text_add(&out, rest);
	return text_get(&out);
}

const struct claude_part *claude_part_find(const claude_parts *parts, const char *path)
{
	vec_each(part, parts) {
		if (str_equal(part->path, path))
			return part;
	}
	return NULL;
}

bool claude_parts_have(const claude_parts *parts, const char *path)
{
	vec_each(part, parts) {
		if (part->kind == CLAUDE_PART_LEFT_OUT && path_within(path, part->path))
			return false;
	}
	return true;
}
