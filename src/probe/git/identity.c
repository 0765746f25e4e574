// SPDX-License-Identifier: MIT
// Finds the name and e-mail for commits, and whether the repository requests signatures.
#include "probe/git/identity.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "probe/git/config.h"
#include "probe/programs.h"
#include "probe/user.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/read.h"
#include "sys/spawn.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { CONFIG_LIMIT = 1024 * 1024, OUTPUT_TIMEOUT_MS = 1000, OUTPUT_LIMIT = 16384 };

struct entry_target {
	struct git_facts *git;
	bool local; // the entries are from the repository's own configuration
};

static struct git_query start_git(struct arena *arena, const struct facts *facts)
{
	struct git_query query = { .pid = -1, .output = -1 };
	const char *git = probe_program(arena, facts, "git", NULL);
	// `git config` runs no program that a repository names. It runs in the project, because
	// includeIf depends on the directory.
	const char *const arguments[] = { "git",
					  "-C",
					  facts->project,
					  "config",
					  "--null",
					  "--show-scope",
					  "--get-regexp",
					  "^(user\\.(name|email)|(commit|tag)\\.gpgsign)$",
					  NULL };
	const char *const environment[] = { arena_printf(arena, "HOME=%s", facts->home),
					    "PATH=/usr/bin:/bin",
					    "LC_ALL=C",
					    "GIT_OPTIONAL_LOCKS=0",
					    "GIT_TERMINAL_PROMPT=0",
					    arena_printf(arena, "XDG_CONFIG_HOME=%s",
							 probe_config_home(arena, facts)),
					    NULL };
	CLEANUP_FD int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct spawn spawn = { .program = git, .arguments = arguments, .environment = environment };
	int pipe_fds[2];

	if (!git || null < 0 || pipe2(pipe_fds, O_CLOEXEC) < 0)
		return query;
	vec_push(arena, &spawn.descriptors, (struct spawn_descriptor){ null, STDIN_FILENO });
	vec_push(arena, &spawn.descriptors,
		 (struct spawn_descriptor){ pipe_fds[1], STDOUT_FILENO });
	vec_push(arena, &spawn.descriptors, (struct spawn_descriptor){ null, STDERR_FILENO });
	spawn_process(&spawn, &query.pid);
	close(pipe_fds[1]);
	query.output = pipe_fds[0];
	return query;
}

static bool is_true(const char *value)
{
	return strcasecmp(value, "true") == 0 || strcasecmp(value, "yes") == 0 ||
	       strcasecmp(value, "on") == 0 || str_equal(value, "1");
}

// Stores one configuration entry in the facts.
static void apply_entry(void *context, const char *key, const char *value)
{
	struct entry_target *target = context;

	if (str_equal(key, "user.name"))
		target->git->user_name = value;
	else if (str_equal(key, "user.email"))
		target->git->user_email = value;
	else if (target->local &&
		 (str_equal(key, "commit.gpgsign") || str_equal(key, "tag.gpgsign")))
		target->git->repository_signs |= is_true(value);
}

// Reads the configuration files in git's order. Returns false when one of them cannot be parsed.
static bool read_identity(struct git_facts *git, struct arena *arena, const struct facts *facts)
{
	const char *const files[] = {
		"/etc/gitconfig",
		path_join(arena, probe_config_home(arena, facts), "git/config"),
		path_join(arena, facts->home, ".gitconfig"),
		git->top ? path_join(arena, git->common, "config") : NULL,
	};
	struct entry_target target = { .git = git };

	// git reads the configuration of a worktree only if an extension is set: git decides.
	if (git->top && access(path_join(arena, git->directory, "config.worktree"), F_OK) == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		bool own = i + 1 == ARRAY_SIZE(files);
		const char *text =
			files[i] ? file_read(arena, files[i], CONFIG_LIMIT, own ? 0 : READ_FOLLOW)
				 : NULL;

		target.local = own;
		if (text && !git_config_parse(arena, text, apply_entry, &target))
			return false;
	}
	return true;
}

struct git_query probe_identity_start(struct git_facts *git, struct arena *arena,
				      const struct facts *facts)
{
	if (read_identity(git, arena, facts))
		return (struct git_query){ .pid = -1, .output = -1 };
	git->user_name = git->user_email = NULL;
	git->repository_signs = false;
	return start_git(arena, facts);
}

// Parses the output of `git config --null --show-scope`: "scope\0key\nvalue\0" for each entry.
static void parse_output(struct git_facts *git, struct arena *arena, const char *buffer,
			 size_t length)
{
	for (size_t at = 0; at < length;) {
		const char *scope = buffer + at;
		struct entry_target target = { .git = git,
					       .local = str_equal(scope, "local") ||
							str_equal(scope, "worktree") };
		const char *entry;
		size_t key;

		at += strlen(scope) + 1;
		if (at >= length)
			return;
		entry = buffer + at;
		at += strlen(entry) + 1;
		key = strcspn(entry, "\n");
		apply_entry(&target, arena_strndup(arena, entry, key),
			    entry[key] ? arena_strdup(arena, entry + key + 1) : "true");
	}
}

void probe_identity_finish(struct git_query *query, struct git_facts *git, struct arena *arena,
			   const char *user)
{
	char *buffer = arena_alloc(arena, OUTPUT_LIMIT + 1);
	CLEANUP_FD int output = take_fd(&query->output);
	bool complete = false;
	size_t length = 0;

	if (output >= 0)
		length = read_until_end(output, buffer, OUTPUT_LIMIT, OUTPUT_TIMEOUT_MS, &complete);
	// git has closed its output and is about to exit, or it hangs.
	if (query->pid > 0)
		process_kill(query->pid);
	if (complete)
		parse_output(git, arena, buffer, length);
	git->identity_incomplete = !git->user_name || !git->user_email;
	if (!git->user_name)
		git->user_name = user;
	if (!git->user_email)
		git->user_email = arena_printf(arena, "%s@localhost", user);
}
