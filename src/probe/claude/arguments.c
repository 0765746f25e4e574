// SPDX-License-Identifier: MIT
// Collects facts about the files that arguments of claude name.
#include "probe/claude/arguments.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/claude/options.h"
#include "config/claude/words.h"
#include "config/config.h"
#include "config/origin.h"
#include "plan/claude/files.h"
#include "plan/claude/named_paths.h"
#include "plan/facts.h"
#include "plan/mounts.h"
#include "probe/programs.h"
#include "sys/files.h"

// Files that every box has, with the content of the box.
static const char *const box_files[] = {
	"/dev/null", "/dev/stdin",
	"~/.claude/settings.json", // the host's settings without secrets
};

static bool is_of_box(struct arena *arena, const struct facts *facts, const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(box_files); i++)
		if (str_equal(path, path_expand_home(arena, box_files[i], facts->home)))
			return true;
	return false;
}

void probe_argument_secret(struct agent_facts *agent, struct arena *arena, const char *path,
			   const char *real, const char *who)
{
	const char *text = file_read(arena, real, CLAUDE_TEXT_LIMIT, 0);
	const char *content;
	const char *why;

	if (text && claude_judge_content(arena, path_name(path), text, true, &content, &why) !=
			    CLAUDE_PART_HOST)
		vec_push(arena, &agent->argument_notes,
			 arena_printf(arena,
				      "'%s', which %s names, contains something like a secret, "
				      "and the agent can read it",
				      quote_word(arena, path, 120), who));
}

// Stores the text of settings or MCP servers. What a box can write names no files of the user.
static void add_text(struct facts *facts, struct arena *arena,
		     const struct claude_argument *argument, const struct followed *file)
{
	struct argument_text found = { .option = argument->option->name, .text = argument->value };

	if (!str_equal(found.option, "settings") && !str_equal(found.option, "mcp-config"))
		return;
	if (file) {
		found.file = argument->value;
		found.text = file_read(arena, file->real, CLAUDE_TEXT_LIMIT, 0);
		found.of_box = probe_writing_box(arena, facts, file) != NULL;
	}
	if (found.text)
		vec_push(arena, &facts->agent.argument_texts, found);
	if (found.text && found.of_box)
		claude_add_repository_settings(facts, arena, found.file, found.text);
}

void probe_arguments(struct facts *facts, struct arena *arena, const struct config *config)
{
	claude_arguments arguments = claude_find_arguments(arena, &config->arguments);

	vec_each(argument, &arguments) {
		const char *path = plan_written_path(arena, facts, argument->value);
		const char *option = arena_printf(arena, "--%s", argument->option->name);
		struct mount_facts found = { .written = argument->value,
					     .argument = true,
					     .origin = origin_requested(option) };

		if (argument->json)
			add_text(facts, arena, argument, NULL);
		if (argument->json || argument->option->path == CLAUDE_PATH_WRITTEN ||
		    is_of_box(arena, facts, path))
			continue;
		found.source = file_follow(arena, path);
		found.planted = probe_planted_link(arena, facts, &found.source);
		found.destination = found.source;
		vec_push(arena, &facts->mounts, found);
		if (found.source.kind == FILE_REGULAR)
			add_text(facts, arena, argument, &found.source);
		if (found.source.kind == FILE_REGULAR)
			probe_argument_secret(&facts->agent, arena, argument->value,
					      found.source.real, option);
	}
}
