// SPDX-License-Identifier: MIT
// The state of a git operation that is not finished: what `git rebase --continue` and the like
// would execute.
//
// Theory of operation: a box can stop a rebase and leave the rest of it to the user. The list of a
// rebase can have lines with commands for the shell. The strategy of a merge is a part of the name
// of a program, which may contain a path. The options of git am go to git apply, which can write
// outside of the worktree.
#include "plan/guard/unfinished.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/git/parse.h"

#include <ctype.h>
#include <string.h>

#define BLANKS " \t\r\v\f"

// Returns whether a line of the list executes a command: "exec CMD" or "x CMD".
static bool executes(const char *line)
{
	static const char *const words[] = { "exec", "x" };

	line += strspn(line, BLANKS);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const char *rest = str_after(line, words[i]);

		if (rest && (!*rest || strchr(BLANKS "\n", *rest)))
			return true;
	}
	return false;
}

const char *unfinished_without_commands(struct arena *arena, const char *todo)
{
	struct text out = { .arena = arena };
	bool removed = false;

	while (*todo) {
		size_t length = strcspn(todo, "\n");
		const char *line = arena_strndup(arena, todo, length);

		if (executes(line))
			removed = true;
		else
			text_printf(&out, "%s%s", line, todo[length] ? "\n" : "");
		todo += length + (todo[length] != '\0');
	}
	return removed ? text_get(&out) : NULL;
}

bool unfinished_strategy_is_harmless(const char *text)
{
	for (; *text && *text != '\n'; text++)
		if (!isalnum((unsigned char)*text) && *text != '-' && *text != '_')
			return false;
	return true;
}

static void judge_option(void *context, const char *name, const char *value)
{
	bool *harmless = context;

	if (str_equal(name, "options.strategy") && value && !unfinished_strategy_is_harmless(value))
		*harmless = false;
}

bool unfinished_options_are_harmless(struct arena *arena, const char *text)
{
	bool harmless = true;
	size_t line;

	// git refuses to go on with a file that it cannot parse
	git_config_parse(arena, text, judge_option, &harmless, &line);
	return harmless;
}

bool unfinished_apply_is_harmless(struct arena *arena, const char *text)
{
	static const char *const known[] = { "-p",
					     "-C",
					     "--whitespace=",
					     "--exclude=",
					     "--include=",
					     "--ignore-whitespace",
					     "--ignore-space-change",
					     "--reject" };
	const char *word;

	while ((word = str_next_word(arena, &text))) {
		bool found = false;

		word += *word == '\''; // git quotes them for a shell
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			found |= str_starts(word, known[i]);
		if (!found)
			return false;
	}
	return true;
}
