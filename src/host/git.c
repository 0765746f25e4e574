// SPDX-License-Identifier: MIT
// Finds the repository around the project without running git in it, and proves that it is the project's own.
//
// Theory of operation: a `.git` file only says where the git directory is, and the box can write that file. Were
// it believed, "gitdir: ~/other/.git" would open another project at the next launch. So the other side must
// point back: a worktree's git directory names the `.git` file, a submodule's core.worktree the directory.
#include "host/probe.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { POINTER_LIMIT = 4096, CONFIG_LIMIT = 1024 * 1024, IDENTITY_MS = 1000, OUTPUT_LIMIT = 16384 };

static bool is_directory(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool exists(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

// One line of a small file, without the newline.
static const char *read_line(struct arena *arena, const char *path)
{
	const char *text = probe_read(arena, path, POINTER_LIMIT, 0);

	return text ? arena_strndup(arena, text, strcspn(text, "\r\n")) : NULL;
}

static const char *resolve(struct arena *arena, const char *directory, const char *path)
{
	struct followed followed = probe_follow(arena, path_join(arena, directory, path));

	return followed.kind == FILE_MISSING ? NULL : followed.real;
}

// The value of core.worktree in a git directory's configuration; enough of the syntax for what git writes.
static const char *core_worktree(struct arena *arena, const char *directory)
{
	const char *text =
		probe_read(arena, path_join(arena, directory, "config"), CONFIG_LIMIT, 0);
	bool in_core = false;

	for (const char *s = text; s && *s;) {
		size_t length = strcspn(s, "\n");
		const char *line = arena_strndup(arena, s + strspn(s, " \t"), length);
		const char *rest;

		line = arena_strndup(arena, line, strcspn(line, "\n"));
		if (line[0] == '[')
			in_core = strncasecmp(line, "[core]", 6) == 0;
		rest = in_core && strncasecmp(line, "worktree", 8) == 0 ? line + 8 : NULL;
		if (rest && (rest += strspn(rest, " \t"))[0] == '=') {
			rest++;
			return str_next_word(arena, &rest);
		}
		s += length + (s[length] == '\n');
	}
	return NULL;
}

static bool points_back(struct arena *arena, const char *directory, const char *common,
			const char *top)
{
	const char *back;

	if (!str_equal(directory, common)) {
		const char *worktrees = path_join(arena, common, "worktrees");

		if (!str_equal(path_parent(arena, directory), worktrees))
			return false;
		back = read_line(arena, path_join(arena, directory, "gitdir"));
		back = back ? resolve(arena, directory, back) : NULL;
		return str_equal(back, path_join(arena, top, ".git"));
	}
	back = core_worktree(arena, directory);
	return back && str_equal(resolve(arena, directory, back), top);
}

static bool follow_pointer(struct git_facts *git, struct arena *arena, const char *top,
			   const char *project)
{
	const char *line = read_line(arena, path_join(arena, top, ".git"));
	const char *target = line ? str_after(line, "gitdir: ") : NULL;
	const char *target_directory = target ? resolve(arena, top, target) : NULL;
	const char *shared;
	const char *common;

	if (!target_directory || !exists(path_join(arena, target_directory, "HEAD"))) {
		git->refused = "'.git' is a file that leads to no repository: git is not available";
		return false;
	}
	shared = read_line(arena, path_join(arena, target_directory, "commondir"));
	common = shared ? resolve(arena, target_directory, shared) : target_directory;
	if (!common || !is_directory(path_join(arena, common, "objects"))) {
		git->refused = "'.git' leads to a broken repository: git is not available";
		return false;
	}
	// What lies in the project is the box's anyway and needs no proof.
	if (!(path_within(target_directory, project) && path_within(common, project)) &&
	    !points_back(arena, target_directory, common, top)) {
		git->refused =
			arena_printf(arena,
				     "'.git' leads to '%s', which does not point back: it is not "
				     "mounted, git is not available",
				     quote_display(arena, target_directory, 120));
		return false;
	}
	git->directory = target_directory;
	git->common = common;
	return true;
}

static bool look_at(struct git_facts *git, struct arena *arena, const char *top,
		    const char *project)
{
	const char *dot_git = path_join(arena, top, ".git");
	struct stat status;

	if (lstat(dot_git, &status) < 0)
		return false;
	if (S_ISDIR(status.st_mode)) {
		if (!exists(path_join(arena, dot_git, "HEAD")) ||
		    !is_directory(path_join(arena, dot_git, "objects")))
			return false;
		git->directory = git->common = dot_git;
	} else if (!S_ISREG(status.st_mode)) {
		git->refused = "'.git' is neither a directory nor a file: git is not available";
		return true;
	} else if (!follow_pointer(git, arena, top, project)) {
		return true;
	}
	git->top = top;
	git->top_id = probe_follow(arena, top).id;
	git->directory_id = probe_follow(arena, git->directory).id;
	git->common_id = probe_follow(arena, git->common).id;
	return true;
}

void probe_repository(struct git_facts *git, struct arena *arena, const char *project)
{
	const char *top = project;

	while (!look_at(git, arena, top, project) && !str_equal(top, "/"))
		top = path_parent(arena, top);
}

struct git_identity probe_identity_start(struct arena *arena, const struct host *host)
{
	struct git_identity identity = { .pid = -1, .output = -1 };
	const char *git = probe_program(arena, host, "git", host->project);
	const char *config_home = host_variable(host, "XDG_CONFIG_HOME");
	// `git config` runs no code of a repository; the project decides which includeIf holds.
	const char *const arguments[] = { "git",
					  "-C",
					  host->project,
					  "config",
					  "--null",
					  "--show-scope",
					  "--get-regexp",
					  "^(user\\.(name|email)|(commit|tag)\\.gpgsign)$",
					  NULL };
	const char *const environment[] = {
		arena_printf(arena, "HOME=%s", host->home),
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

// "scope\0key\nvalue\0" …
static void take_entry(struct git_facts *git, struct arena *arena, const char *scope,
		       const char *entry)
{
	const char *newline = strchr(entry, '\n');
	const char *value = newline ? newline + 1 : "true";

	if (str_starts(entry, "user.name\n"))
		git->user_name = arena_strdup(arena, value);
	else if (str_starts(entry, "user.email\n"))
		git->user_email = arena_strdup(arena, value);
	else if ((str_equal(scope, "local") || str_equal(scope, "worktree")) &&
		 (strcasecmp(value, "true") == 0 || strcasecmp(value, "yes") == 0 ||
		  strcasecmp(value, "on") == 0 || str_equal(value, "1")))
		git->repository_signs = true;
}

void probe_identity_finish(struct git_identity *identity, struct git_facts *git,
			   struct arena *arena, const char *user)
{
	char *buffer = arena_alloc(arena, OUTPUT_LIMIT + 1);
	size_t length = identity->output >= 0 ? read_all(identity->output, buffer, OUTPUT_LIMIT)
					      : 0;

	if (identity->output >= 0)
		close(identity->output);
	if (identity->pid > 0) {
		kill(identity->pid, SIGKILL); // it has said all it had to say, or it hangs
		while (waitpid(identity->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	for (size_t at = 0; at < length;) {
		const char *scope = buffer + at;
		const char *entry;

		at += strlen(scope) + 1;
		if (at >= length)
			break;
		entry = buffer + at;
		at += strlen(entry) + 1;
		take_entry(git, arena, scope, entry);
	}
	git->identity_made_up = !git->user_name || !git->user_email;
	if (!git->user_name)
		git->user_name = user;
	if (!git->user_email)
		git->user_email = arena_printf(arena, "%s@localhost", user);
}
