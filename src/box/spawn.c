// SPDX-License-Identifier: MIT
// Starts the one process that becomes the box. Everything is closed on execution but what is named.
#include "box/spawn.h"

#include "base/arena.h"
#include "base/error.h"
#include "box/cgroup.h"
#include "sys/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

// bwrap must not die, or stop, by what is meant for the agent. Blocked, not ignored: to ignore a signal throws away one
// that has just arrived, and init starts with a clean mask for the agent anyway.
static void blocked_for_bwrap(sigset_t *set)
{
	static const int numbers[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGTSTP,
				       SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2, SIGALRM };

	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaddset(set, numbers[i]);
}

// Not fork(): copying our page tables takes longer.
static bool spawn_beside(const struct spawn *spawn, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t blocked;

	blocked_for_bwrap(&blocked);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &blocked);
	posix_spawn_file_actions_init(&actions);
	vec_each(move, &spawn->moves)
		posix_spawn_file_actions_adddup2(&actions, move->from, move->to);
	errno = posix_spawn(ret_pid, spawn->program, &actions, &attributes,
			    (char *const *)spawn->arguments, (char *const *)spawn->environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return errno == 0;
}

// The same by hand, in a process that was born in its cgroup.
static _Noreturn void execute(const struct spawn *spawn, int failed)
{
	sigset_t blocked;

	blocked_for_bwrap(&blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	vec_each(move, &spawn->moves) {
		if (move->from == move->to ? fcntl(move->to, F_SETFD, 0) < 0
					   : dup2(move->from, move->to) < 0)
			goto out;
	}
	execve(spawn->program, (char *const *)spawn->arguments, (char *const *)spawn->environment);
out:
	_exit(write(failed, &errno, sizeof(errno)) < 0 ? EXIT_NOT_STARTED : EXIT_NOT_EXECUTABLE);
}

static bool spawn_inside(const struct spawn *spawn, const struct cgroup *cgroup, pid_t *ret_pid)
{
	int last = STDERR_FILENO;
	int failure = 0;
	int failed[2];
	int writer;

	if (pipe2(failed, O_CLOEXEC) < 0)
		return false;
	// Its number must not be one that the process gets something else at.
	vec_each(move, &spawn->moves)
		last = move->to > last ? move->to : last;
	writer = fcntl(failed[1], F_DUPFD_CLOEXEC, last + 1);
	close(failed[1]);
	*ret_pid = writer < 0 ? -1 : cgroup_fork(cgroup);
	if (*ret_pid == 0)
		execute(spawn, writer);
	if (*ret_pid < 0)
		failure = errno;
	cleanup_close(&writer);
	// Closed without a word when it was executed.
	if (*ret_pid > 0 && read(failed[0], &failure, sizeof(failure)) == sizeof(failure))
		waitpid(*ret_pid, NULL, 0);
	close(failed[0]);
	errno = failure;
	return failure == 0;
}

bool spawn_process(const struct spawn *spawn, const struct cgroup *cgroup, pid_t *ret_pid)
{
	*ret_pid = -1;
	return cgroup->inner < 0 ? spawn_beside(spawn, ret_pid)
				 : spawn_inside(spawn, cgroup, ret_pid);
}
