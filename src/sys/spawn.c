// SPDX-License-Identifier: MIT
// Starts programs with a chosen set of descriptors.
#include "sys/spawn.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

// Uses posix_spawn(3), because fork(2) copies the page tables of claudebox.
bool spawn_process(const struct spawn *spawn, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;

	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes,
				 (short)((spawn->blocked ? POSIX_SPAWN_SETSIGMASK : 0) |
					 (spawn->own_group ? POSIX_SPAWN_SETPGROUP : 0)));
	if (spawn->blocked)
		posix_spawnattr_setsigmask(&attributes, spawn->blocked);
	posix_spawn_file_actions_init(&actions);
	vec_each(descriptor, &spawn->descriptors)
		posix_spawn_file_actions_adddup2(&actions, descriptor->from, descriptor->to);
	*ret_pid = -1;
	errno = posix_spawn(ret_pid, spawn->program, &actions, &attributes,
			    (char *const *)spawn->arguments, (char *const *)spawn->environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return errno == 0;
}

void spawn_execute(const struct spawn *spawn)
{
	if (spawn->blocked)
		sigprocmask(SIG_SETMASK, spawn->blocked, NULL);
	if (spawn->own_group)
		setpgid(0, 0);
	vec_each(descriptor, &spawn->descriptors) {
		// dup2(2) with equal numbers would leave the descriptor close-on-exec.
		if (descriptor->from == descriptor->to ? fcntl(descriptor->to, F_SETFD, 0) < 0
						       : dup2(descriptor->from, descriptor->to) < 0)
			return;
	}
	execve(spawn->program, (char *const *)spawn->arguments, (char *const *)spawn->environment);
}
