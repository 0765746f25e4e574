// SPDX-License-Identifier: MIT
// Finds the programs and files that Claude's configuration names.
//
// Theory of operation: which directories are on the box's PATH is a decision of the plan. So a name
// is looked for in every directory that can be there, and on the host's PATH.
#include "probe/claude/commands.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/claude/settings.h"
#include "plan/editors.h"
#include "plan/facts.h"
#include "plan/home/home.h"
#include "plan/mcp/servers.h"
#include "plan/tables.h"
#include "sys/files.h"

#include <string.h>
#include <unistd.h>

// More files than these are not looked for. Each takes a few system calls.
enum { MOST_FILES = 4000, LONGEST_WORD = 1024 };

static bool has(const strings *list, const char *wanted)
{
	vec_each(item, list) {
		if (str_equal(*item, wanted))
			return true;
	}
	return false;
}

static void add_directory(struct arena *arena, strings *places, const char *path)
{
	if (path && path[0] == '/' && !has(places, path))
		vec_push(arena, places, path);
}

// Returns the directories of programs, without symbolic links.
static strings list_directories(const struct facts *facts, struct arena *arena,
				const struct config *config)
{
	const char *home = plan_home_path(arena, config, facts);
	strings places = { 0 };

	vec_each(mount, &facts->mounts) {
		if (mount->on_path)
			add_directory(arena, &places, mount->source.real);
	}
	vec_each(package, &facts->packages)
		add_directory(arena, &places, package->bin);
	vec_each(entry, &facts->toolchains.path) {
		if (!entry->problem && entry->directory.kind == FILE_DIRECTORY)
			add_directory(arena, &places, entry->directory.real);
	}
	vec_each(directory, &facts->store.path)
		add_directory(arena, &places, *directory);
	for (size_t i = 0; i < system_path_count; i++) {
		const struct followed *directory = facts_file(facts, system_path[i]);

		add_directory(arena, &places, directory ? directory->real : NULL);
	}
	// Where package managers in the box install programs.
	if (home && facts->state.home_exists)
		add_directory(arena, &places, path_join(arena, home, ".local/bin"));
	return places;
}

static void add_file(struct facts *facts, struct arena *arena, const char *path)
{
	if (facts->user_claude.command_files.count < MOST_FILES)
		vec_push(arena, &facts->user_claude.command_files, file_follow(arena, path));
}

void probe_claude_commands(struct facts *facts, struct arena *arena, const struct config *config)
{
	struct user_claude_facts *user = &facts->user_claude;
	strings words = { 0 };
	strings seen = { 0 };
	strings places;

	user->command_files.count = 0;
	settings_add_words(arena, facts->home, user->settings_json, &words);
	servers_add_words(arena, facts, &words);
	vec_each(argument, &facts->agent.argument_texts) {
		if (argument->of_box)
			continue;
		settings_add_words(arena, facts->home, argument->text, &words);
		servers_add_words_of(arena, facts, argument->text, &words);
	}
	vec_each(named, &facts->named) {
		if (named->program)
			vec_push(arena, &words, named->file.path);
	}
	editors_add_words(arena, facts, &words);
	if (!words.count)
		return;
	places = list_directories(facts, arena, config);
	vec_each(word, &words) {
		if (has(&seen, *word) || strlen(*word) > LONGEST_WORD)
			continue;
		vec_push(arena, &seen, *word);
		if (**word == '/')
			add_file(facts, arena, path_clean(arena, *word));
		if (strchr(*word, '/'))
			continue;
		vec_each(directory, &places) {
			const char *path = path_join(arena, *directory, *word);

			if (access(path, X_OK) == 0)
				add_file(facts, arena, path);
		}
	}
}
