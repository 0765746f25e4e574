// SPDX-License-Identifier: MIT
// The program `git` of the box: executes git, but lets a script look at commands that may add,
// remove or move a worktree, or stash untracked files (plan/git/wrapper.c).
//
// Theory of operation: an agent starts git very often, so the common case costs one execve(2) more
// and nothing else. The program looks for the command among the arguments. For a command of git's
// own it executes the next `git` of PATH. `worktree`, `stash`, and each name that may be an alias,
// goes to the script, which asks git for the alias.
#include "freestanding/process.h"
#include "freestanding/start.h"
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "gitwrap/commands.h"
#include "gitwrap/places.h"

#include <linux/fcntl.h>
#include <linux/stat.h>
#include <stdbool.h>
#include <stddef.h>

enum { PATH_SIZE = 4096, EXIT_NOT_FOUND = 127, STANDARD_ERROR = 2 };

struct identity {
	unsigned int major, minor;
	unsigned long long inode; // 0: there is no such file
};

static struct identity identify(const char *path)
{
	struct statx file = { 0 };

	if (call6(__NR_statx, AT_FDCWD, (long)path, 0, STATX_INO, (long)&file, 0) < 0)
		return (struct identity){ 0 };
	return (struct identity){ file.stx_dev_major, file.stx_dev_minor, file.stx_ino };
}

static bool is_same(struct identity a, struct identity b)
{
	return a.inode && a.inode == b.inode && a.major == b.major && a.minor == b.minor;
}

static const char *find_variable(char *const *environment, const char *prefix)
{
	for (; *environment; environment++)
		if (text_starts(*environment, prefix))
			return *environment + text_length(prefix);
	return "";
}

// Writes the path of `git` in the first directory of a list to a buffer, the empty text if the list
// has none there. Returns the rest of the list.
static const char *next_candidate(const char *list, char *buffer)
{
	static const char name[] = "/git";
	size_t length = 0;

	while (list[length] && list[length] != ':')
		length++;
	buffer[0] = '\0';
	if (length && length + sizeof(name) <= PATH_SIZE) {
		for (size_t i = 0; i < length; i++)
			buffer[i] = list[i];
		for (size_t i = 0; i < sizeof(name); i++)
			buffer[length + i] = name[i];
	}
	return list + length + (list[length] == ':');
}

// Executes the first git of PATH that is not this program, by whatever path. Returns if there is
// none.
static void execute_git(char **arguments, char *const *environment)
{
	struct identity own = identify(GIT_WRAPPER_DIRECTORY "/git");
	const char *list = find_variable(environment, "PATH=");
	char path[PATH_SIZE];

	while (*list) {
		list = next_candidate(list, path);
		if (!*path || is_same(identify(path), own))
			continue;
		arguments[0] = path;
		call(__NR_execve, path, arguments, environment, 0);
	}
}

void program_main(long *stack)
{
	static const char message[] = "git: not found\n";
	long count = stack[0];
	char **arguments = (char **)(stack + 1);
	char **environment = arguments + count + 1;
	const char *command = count ? find_command(arguments + 1) : NULL;

	if (command && !is_plain_command(command))
		call(__NR_execve, GIT_WRAPPER_SCRIPT, arguments, environment, 0);
	if (count)
		execute_git(arguments, environment);
	call(__NR_write, STANDARD_ERROR, message, sizeof(message) - 1, 0);
	exit_program(EXIT_NOT_FOUND);
}
