// SPDX-License-Identifier: MIT
// Parses the messages of nix: progress, and the cause of a failure. The results are escaped for a
// terminal.
#include "plan/nix/package_messages.h"

#include "base/arena.h"
#include "base/quote.h"
#include "base/text.h"

#include <string.h>

enum { LINES_MAX = 14, LINE_COLUMNS = 240, NAME_OFFSET = 33 };

// Returns NAME of "'/nix/store/HASH-NAME'", NULL if the text is not of this form.
static const char *store_name(struct arena *arena, const char *text)
{
	const char *path = str_after(text, "'/nix/store/");
	size_t length = path ? strcspn(path, "'") : 0;

	if (length <= NAME_OFFSET || path[length] != '\'')
		return NULL;
	return arena_strndup(arena, path + NAME_OFFSET, length - NAME_OFFSET);
}

const char *packages_parse_progress(struct arena *arena, const char *line)
{
	static const struct {
		const char *start;
		const char *doing;
	} kinds[] = { { "building ", "building" }, { "copying path ", "fetching" } };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *rest = str_after(line, kinds[i].start);
		const char *name = rest ? store_name(arena, rest) : NULL;
		size_t length = name ? strlen(name) : 0;

		if (!name)
			continue;
		if (str_ends(name, ".drv"))
			length -= 4;
		return arena_printf(arena, "%s %s", kinds[i].doing,
				    quote_display(arena, arena_strndup(arena, name, length), 100));
	}
	return NULL;
}

// Returns the text behind the first "error:" of a build, or behind the last one of an evaluation,
// which is the innermost.
static const char *find_reason(const char *messages, bool building)
{
	const char *found = NULL;

	for (const char *line = messages; *line;) {
		const char *rest = str_after(line + strspn(line, " "), "error:");

		if (rest && rest[strspn(rest, " \n")] && !(found && building))
			found = rest;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return found ? found : messages;
}

const char *packages_parse_reason(struct arena *arena, const char *messages, bool building)
{
	struct text out = { .arena = arena };
	const char *s = find_reason(messages, building);
	const char *line;
	int lines = 0;

	while (lines < LINES_MAX && (line = str_next_line(arena, &s))) {
		line += strspn(line, " ");
		if (lines && str_starts(line, "error:"))
			break;
		if (!*line || str_starts(line, "(use '--show-trace'") ||
		    str_starts(line, "(stack trace truncated"))
			continue;
		text_printf(&out, "%s%s", lines ? "\n  " : "",
			    quote_display(arena, line, LINE_COLUMNS));
		lines++;
	}
	return out.length ? text_get(&out) : "nix gives no reason";
}

const char *packages_parse_suggestion(struct arena *arena, const char *messages)
{
	static const char start[] = "Did you mean ";
	const char *found = strstr(messages, start);

	if (!found)
		return NULL;
	found += sizeof(start) - 1;
	return arena_printf(arena, "did you mean %s",
			    quote_display(arena, arena_strndup(arena, found, strcspn(found, "\n")),
					  160));
}
