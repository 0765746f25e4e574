// SPDX-License-Identifier: MIT
// Finds out who commits, and whether the repository wants signatures.
#include "probe/git/identity.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "probe/git/config.h"
#include "probe/programs.h"
#include "sys/files.h"
#include "sys/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONFIG_LIMIT = 1024 * 1024, IDENTITY_MS = 1000, OUTPUT_LIMIT = 16384 };

struct taking {
	struct git_facts *git;
	bool local; // from the repository's own configuration
};

const char *probe_configuration_home(struct arena *arena, const struct facts *facts)
{
	const char *chosen = facts_variable(facts, "XDG_CONFIG_HOME");
	struct followed place;

	if (!chosen || chosen[0] != '/')
		return NULL;
	place = file_follow(arena, chosen);
	return probe_box_writes(facts, &place) ? NULL : chosen;
}

static struct git_identity start_git(struct arena *arena, const struct facts *facts)
{
	struct git_identity identity = { .pid = -1, .output = -1 };
	const char *git = probe_program(arena, facts, "git", NULL);
	const char *config_home = probe_configuration_home(arena, facts);
	// `git config` runs no code of a repository; the project decides which includeIf holds.
	const char *const arguments[] = { "git",
					  "-C",
					  facts->project,
					  "config",
					  "--null",
					  "--show-scope",
					  "--get-regexp",
					  "^(user\\.(name|email)|(commit|tag)\\.gpgsign)$",
					  NULL };
	const char *const environment[] = {
		arena_printf(arena, "HOME=%s", facts->home),
		"PATH=/usr/bin:/bin",
		"LC_ALL=C",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		config_home ? arena_printf(arena, "XDG_CONFIG_HOME=%s", config_home) : NULL,
		NULL
	};
	posix_spawn_file_actions_t actions;
	int pipe_fds[2];

	if (!git || pipe2(pipe_fds, O_CLOEXEC) < 0)
		return identity;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&identity.pid, git, &actions, NULL, (char *const *)arguments,
			(char *const *)environment) != 0)
		identity.pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	close(pipe_fds[1]);
	identity.output = pipe_fds[0];
	return identity;
}

static size_t read_all(int fd, char *buffer, size_t limit)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	size_t length = 0;

	while (length < limit && poll(&wait, 1, IDENTITY_MS) > 0) {
		ssize_t got = read(fd, buffer + length, limit - length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return length;
		length += (size_t)got;
	}
	return 0; // too slow or too much: nothing of it is believed
}

static bool is_true(const char *value)
{
	return strcasecmp(value, "true") == 0 || strcasecmp(value, "yes") == 0 ||
	       strcasecmp(value, "on") == 0 || str_equal(value, "1");
}

static void take_entry(void *context, const char *key, const char *value)
{
	struct taking *taking = context;

	if (str_equal(key, "user.name"))
		taking->git->user_name = value;
	else if (str_equal(key, "user.email"))
		taking->git->user_email = value;
	else if (taking->local &&
		 (str_equal(key, "commit.gpgsign") || str_equal(key, "tag.gpgsign")))
		taking->git->repository_signs |= is_true(value);
}

// False when one of the files is not plain.
static bool read_identity(struct git_facts *git, struct arena *arena, const struct facts *facts)
{
	const char *config_home = probe_configuration_home(arena, facts);
	const char *home_config = path_join(arena, facts->home, ".config");
	const char *const files[] = {
		"/etc/gitconfig",
		path_join(arena, config_home ? config_home : home_config, "git/config"),
		path_join(arena, facts->home, ".gitconfig"),
		git->top ? path_join(arena, git->common, "config") : NULL,
	};
	struct taking taking = { .git = git };

	// Each worktree may have settings of its own, if a file of that name is there at all.
	if (git->top && access(path_join(arena, git->directory, "config.worktree"), F_OK) == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		bool own = i + 1 == ARRAY_SIZE(files);
		const char *text =
			files[i] ? file_read(arena, files[i], CONFIG_LIMIT, own ? 0 : READ_FOLLOW)
				 : NULL;

		taking.local = own;
		if (text && !probe_git_config(arena, text, take_entry, &taking))
			return false;
	}
	return true;
}

struct git_identity probe_identity_start(struct git_facts *git, struct arena *arena,
					 const struct facts *facts)
{
	if (read_identity(git, arena, facts))
		return (struct git_identity){ .pid = -1, .output = -1 };
	git->user_name = git->user_email = NULL;
	git->repository_signs = false;
	return start_git(arena, facts);
}

// What `git config --null --show-scope` says: "scope\0key\nvalue\0" …
static void take_output(struct git_facts *git, struct arena *arena, const char *buffer,
			size_t length)
{
	for (size_t at = 0; at < length;) {
		const char *scope = buffer + at;
		struct taking taking = { .git = git,
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
		take_entry(&taking, arena_strndup(arena, entry, key),
			   entry[key] ? arena_strdup(arena, entry + key + 1) : "true");
	}
}

void probe_identity_finish(struct git_identity *identity, struct git_facts *git,
			   struct arena *arena, const char *user)
{
	char *buffer = arena_alloc(arena, OUTPUT_LIMIT + 1);
	size_t length = identity->output >= 0 ? read_all(identity->output, buffer, OUTPUT_LIMIT)
					      : 0;

	if (identity->output >= 0)
		close(identity->output);
	if (identity->pid > 0)
		process_kill(identity->pid); // it has closed its output, or it hangs
	take_output(git, arena, buffer, length);
	git->identity_made_up = !git->user_name || !git->user_email;
	if (!git->user_name)
		git->user_name = user;
	if (!git->user_email)
		git->user_email = arena_printf(arena, "%s@localhost", user);
}
