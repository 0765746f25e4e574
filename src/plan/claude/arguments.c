// SPDX-License-Identifier: MIT
// The arguments of the command in the box.
//
// Theory of operation: the box has the working directory of the caller, and the files that
// arguments of claude name are mounted at their own paths (src/plan/mounts.c). So the words stay as
// they are, with two exceptions: a path in the host's ~/.claude, which the box has elsewhere, and
// --settings, which also switches Claude's own sandbox off.
#include "plan/claude/arguments.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/claude/options.h"
#include "config/claude/words.h"
#include "config/config.h"
#include "plan/claude/settings.h"
#include "plan/command.h"
#include "plan/facts.h"
#include "plan/mounts.h"
#include "plan/plan.h"

// Returns the caller's --settings; NULL: none. claude accepts one only.
static const struct claude_argument *find_settings(const claude_arguments *arguments)
{
	vec_each(argument, arguments) {
		if (str_equal(argument->option->name, "settings"))
			return argument;
	}
	return NULL;
}

// Returns the word with another value in it.
static const char *replace_value(struct arena *arena, const char *word,
				 const struct claude_argument *argument, const char *value)
{
	return arena_printf(arena, "%.*s%s", (int)(argument->value - word), word, value);
}

// Returns the word with the path that its file has in the box.
static const char *place_word(const struct plan *plan, struct arena *arena,
			      const struct facts *facts, const char *word,
			      const struct claude_argument *argument)
{
	const char *path = plan_written_path(arena, facts, argument->value);

	vec_each(mount, &facts->mounts) {
		if (mount->argument && str_equal(mount->source.path, path)) {
			const char *place = plan_agent_place(plan, arena, path);

			return str_equal(place, path) ? word
						      : replace_value(arena, word, argument, place);
		}
	}
	return word;
}

// Warns about a file that claude writes and that no directory of the host gets.
static void warn_written(struct plan *plan, struct arena *arena, const struct facts *facts,
			 const struct claude_argument *argument)
{
	const char *path = plan_written_path(arena, facts, argument->value);
	bool kept = plan->config->project != PROJECT_READ_ONLY && path_within(path, facts->project);

	vec_each(mount, &facts->mounts)
		kept |= mount->writable && path_within(path, mount->destination.path);
	if (!kept)
		plan_warn_outside(
			plan, arena,
			"'%s' (--%s) is written in the box and not on this machine: give a path "
			"in a directory that the box can write",
			quote_word(arena, argument->value, 120), argument->option->name);
}

// Returns the text of the caller's --settings, NULL: it was not read.
static const char *find_settings_text(const struct facts *facts)
{
	vec_each(argument, &facts->agent.argument_texts) {
		if (str_equal(argument->option, "settings"))
			return argument->text;
	}
	return NULL;
}

// Adds the setting that switches Claude's own sandbox off, unless the user's settings can be
// merged with it. In a box without user namespaces that sandbox makes each command of Claude fail.
// The command line ranks above the settings of the user and of the project.
static void add_setting(struct plan *plan, struct arena *arena, const struct facts *facts,
			const struct claude_argument *own)
{
	if (!own) {
		vec_push(arena, &plan->command, "--settings");
		vec_push(arena, &plan->command, settings_without_sandbox(arena, NULL));
	} else if (!settings_without_sandbox(arena, own->value) &&
		   settings_enable_sandbox(find_settings_text(facts))) {
		plan_warn_outside(
			plan, arena,
			"Claude's own sandbox is not switched off, because '--settings' cannot be "
			"merged: if it is on, Claude's commands fail in this box");
	}
}

static void add_claude_arguments(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const strings *words = &plan->config->arguments;
	claude_arguments arguments = claude_find_arguments(arena, words);
	const struct claude_argument *settings = find_settings(&arguments);
	bool off = !plan->config->nested && !claude_words_are_first(words);

	if (off)
		add_setting(plan, arena, facts, settings);
	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->items[i];

		vec_each(argument, &arguments) {
			const char *merged =
				off && argument == settings
					? settings_without_sandbox(arena, argument->value)
					: NULL;

			if (argument->word != i)
				continue;
			if (merged)
				word = replace_value(arena, word, argument, merged);
			else if (argument->option->path == CLAUDE_PATH_WRITTEN)
				warn_written(plan, arena, facts, argument);
			else if (!argument->json)
				word = place_word(plan, arena, facts, word, argument);
		}
		vec_push(arena, &plan->command, word);
	}
}

void plan_add_arguments(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	if (plan->config->payload == PAYLOAD_CLAUDE) {
		add_claude_arguments(plan, arena, facts);
		return;
	}
	vec_each(word, &plan->config->arguments)
		vec_push(arena, &plan->command, *word);
}
