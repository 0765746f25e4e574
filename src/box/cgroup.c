// SPDX-License-Identifier: MIT
// The cgroup of a box: creates it with the plan's limits, starts processes in it, removes it.
//
// Theory of operation: there are two levels. The limits are files of the outer level, the processes
// are in the inner one. A box that mounts its own cgroup file system sees the inner level only, so
// it cannot change the limits. bwrap is created in the inner level by clone3(2): moving a process
// later makes the kernel wait for all processors, which takes 5 ms or more. A cgroup is removed
// when it is empty. If claudebox is killed, the box ends by itself, and the next claudebox removes
// the cgroup: its name contains the pid.
#include "box/cgroup.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/limits.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/output.h"
#include "sys/process.h"
#include "sys/read.h"
#include "sys/spawn.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
	EMPTY_TIMEOUT_MS = 2000,
	DIRECTORY = O_DIRECTORY | O_RDONLY | O_CLOEXEC | O_NOFOLLOW,
	FILE_SIZE = 4096,
};

static bool add_hint(struct error *error)
{
	return error_hint(error, "run claudebox --check to see which limits are available");
}

// Sets the error "cannot OPERATION 'parent'" from errno.
static bool set_error(struct error *error, const struct plan *plan, const char *operation)
{
	error_set(error, "cannot limit the box: cannot %s '%s': %s", operation,
		  quote_display(error->arena, plan->limits.parent, 0), strerror(errno));
	return add_hint(error);
}

static bool remove_levels(int parent, const char *name)
{
	CLEANUP_FD int outer = openat(parent, name, DIRECTORY);

	if (outer < 0)
		return errno == ENOENT;
	if (unlinkat(outer, CGROUP_INNER, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return false;
	return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

// Removes the cgroups of claudeboxes that have ended. rmdir(2) fails for a cgroup that has
// processes.
static void remove_leftovers(int parent)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(parent, ".");
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		const char *number = str_after(entry->d_name, CGROUP_PREFIX);
		long owner = number ? strtol(number, NULL, 10) : 0;

		if (owner > 0 && kill((pid_t)owner, 0) < 0 && errno == ESRCH)
			remove_levels(parent, entry->d_name);
	}
}

static bool set_limits(const struct cgroup *cgroup, const struct plan *plan, struct arena *arena,
		       struct error *error)
{
	limit_files files = limits_render_files(arena, &plan->limits);

	vec_each(file, &files) {
		if (!write_kernel_file(cgroup->outer, file->name, file->value) &&
		    !(file->may_be_missing && errno == ENOENT))
			return set_error(error, plan,
					 arena_printf(arena, "set '%s' in", file->name));
	}
	return true;
}

static bool create(struct cgroup *cgroup, const struct plan *plan, struct arena *arena,
		   struct error *error)
{
	cgroup->parent = open(plan->limits.parent, DIRECTORY);
	if (cgroup->parent < 0)
		return set_error(error, plan, "open");
	remove_leftovers(cgroup->parent);
	cgroup->name = arena_printf(arena, CGROUP_PREFIX "%d", (int)getpid());
	// An existing cgroup of this name belongs to an ended claudebox that had the same pid.
	if (!remove_levels(cgroup->parent, cgroup->name) ||
	    mkdirat(cgroup->parent, cgroup->name, 0755) < 0) {
		set_error(error, plan, "create a cgroup in");
		cleanup_close(&cgroup->parent);
		*cgroup = CGROUP_NONE;
		return false;
	}
	cgroup->outer = openat(cgroup->parent, cgroup->name, DIRECTORY);
	if (cgroup->outer >= 0 && mkdirat(cgroup->outer, CGROUP_INNER, 0755) == 0)
		cgroup->inner = openat(cgroup->outer, CGROUP_INNER, DIRECTORY);
	if (cgroup->inner >= 0 ? set_limits(cgroup, plan, arena, error)
			       : set_error(error, plan, "create a cgroup in"))
		return true;
	cgroup_remove(cgroup);
	return false;
}

bool cgroup_create(struct cgroup *cgroup, const struct plan *plan, struct arena *arena,
		   struct error *error)
{
	struct error problem = { .arena = arena };

	*cgroup = CGROUP_NONE;
	if (plan->limits.method != LIMITS_CGROUP)
		return true;
	if (plan->limits.requested)
		return create(cgroup, plan, arena, error);
	if (!create(cgroup, plan, arena, &problem))
		output_message("claudebox", "running without a process limit: %s", problem.message);
	return true;
}

bool cgroup_abandon(struct cgroup *cgroup, const struct plan *plan, int error_number)
{
	if (plan->limits.requested || cgroup->inner < 0)
		return false;
	cgroup_remove(cgroup);
	output_message("claudebox",
		       "running without a process limit: cannot start a process in a cgroup: %s",
		       strerror(error_number));
	return true;
}

// Does the same as fork(2) for a child in the cgroup. The parent waits until the child has executed
// a program or exited.
static pid_t fork_into(const struct cgroup *cgroup)
{
	struct clone_args arguments = {
		.flags = CLONE_INTO_CGROUP | CLONE_VFORK,
		.exit_signal = SIGCHLD,
		.cgroup = (unsigned long long)cgroup->inner,
	};

	return (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
}

// Executes the program. Sends errno to `failure_fd` if that fails.
static _Noreturn void execute(const struct spawn *spawn, int failure_fd)
{
	spawn_execute(spawn);
	_exit(write(failure_fd, &errno, sizeof(errno)) < 0 ? EXIT_NOT_STARTED
							   : EXIT_NOT_EXECUTABLE);
}

// Creates a pipe by which the child reports a failure to execute the program. The number of the
// write end is above all descriptors of the program, so that it is not overwritten. Returns false
// with errno on failure.
static bool open_failure_pipe(const struct spawn *spawn, int ret_fds[2])
{
	int last = STDERR_FILENO;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	vec_each(descriptor, &spawn->descriptors)
		last = descriptor->to > last ? descriptor->to : last;
	ret_fds[0] = fds[0];
	ret_fds[1] = fcntl(fds[1], F_DUPFD_CLOEXEC, last + 1);
	close(fds[1]);
	if (ret_fds[1] < 0)
		close(fds[0]);
	return ret_fds[1] >= 0;
}

bool cgroup_spawn(const struct cgroup *cgroup, const struct spawn *spawn, pid_t *ret_pid)
{
	int failure = 0;
	int fds[2];

	if (cgroup->inner < 0)
		return spawn_process(spawn, ret_pid);
	*ret_pid = -1;
	if (!open_failure_pipe(spawn, fds))
		return false;
	*ret_pid = fork_into(cgroup);
	if (*ret_pid == 0)
		execute(spawn, fds[1]);
	if (*ret_pid < 0)
		failure = errno;
	close(fds[1]);
	// The pipe is closed without data if the program was executed.
	if (*ret_pid > 0 && read(fds[0], &failure, sizeof(failure)) == sizeof(failure))
		process_wait(*ret_pid);
	close(fds[0]);
	errno = failure;
	return failure == 0;
}

// Opens the cgroup with the limits: the parent of the cgroup that a process is in. Returns -1 if
// that is not the one of the plan. The name of a scope is systemd's choice; other names are known.
static int open_limits(const struct cgroup *cgroup, const struct plan *plan, pid_t process,
		       struct arena *arena)
{
	const char *file = arena_printf(arena, "/proc/%d/cgroup", (int)process);
	char text[FILE_SIZE];
	ssize_t got = read_kernel_file(AT_FDCWD, file, text, sizeof(text));
	const char *path = got < 0 ? NULL : limits_find_cgroup(arena, text);

	if (!path || !str_equal(path_name(path), CGROUP_INNER))
		return -1;
	path = path_parent(arena, path);
	if (plan->limits.method == LIMITS_SYSTEMD)
		return open(arena_printf(arena, CGROUP_ROOT "%s", path), DIRECTORY);
	return str_equal(path_name(path), cgroup->name) ? fcntl(cgroup->outer, F_DUPFD_CLOEXEC, 3)
							: -1;
}

// Checks the value of one limit.
static bool check_limit(int outer, const struct limit_file *file, struct error *error)
{
	char value[FILE_SIZE];

	if (read_kernel_file(outer, file->name, value, sizeof(value)) < 0)
		return (file->may_be_missing && errno == ENOENT) ||
		       error_set(error, "cannot limit the box: cannot read '%s': %s", file->name,
				 strerror(errno));
	value[strcspn(value, "\n")] = '\0';
	return limit_in_effect(file, value) ||
	       error_set(error, "cannot limit the box: '%s' is '%s', not '%s'", file->name,
			 quote_display(error->arena, value, 60), file->value);
}

bool cgroup_check_limits(const struct cgroup *cgroup, const struct plan *plan, pid_t process,
			 struct arena *arena, struct error *error)
{
	limit_files files = limits_render_files(arena, &plan->limits);
	CLEANUP_FD int outer = -1;

	if (!plan->limits.requested)
		return true;
	outer = open_limits(cgroup, plan, process, arena);
	if (outer < 0) {
		error_set(error, "cannot limit the box: it is not in the cgroup with the limits");
		return add_hint(error);
	}
	vec_each(file, &files) {
		if (!check_limit(outer, file, error))
			return add_hint(error);
	}
	return true;
}

// Returns the number after `word` in a file of the cgroup; 0 if there is none.
static long read_count(const struct cgroup *cgroup, const char *name, const char *word)
{
	char text[FILE_SIZE];
	ssize_t got = read_kernel_file(cgroup->outer, name, text, sizeof(text));
	const char *found = got < 0 ? NULL : strstr(text, word);

	return found ? strtol(found + strlen(word), NULL, 10) : 0;
}

static void report_reached_limits(const struct cgroup *cgroup)
{
	long killed = read_count(cgroup, "memory.events", "oom_kill ");
	long refused = read_count(cgroup, "pids.events", "max ");

	if (killed > 0)
		output_message("limits", "out of memory: %ld process%s killed", killed,
			       killed == 1 ? " was" : "es were");
	if (refused > 0)
		output_message("limits",
			       "the limit on processes and threads was reached %ld time%s", refused,
			       refused == 1 ? "" : "s");
}

// Kills the remaining processes of the cgroup, and waits for their end.
static void wait_until_empty(const struct cgroup *cgroup)
{
	CLEANUP_FD int events = openat(cgroup->outer, "cgroup.events", O_RDONLY | O_CLOEXEC);
	struct pollfd wait = { .fd = events, .events = POLLPRI };
	char text[FILE_SIZE];

	write_kernel_file(cgroup->outer, "cgroup.kill", "1"); // Linux 5.14 and later
	// poll(2) reports changes after the last read(2) of the descriptor.
	if (events >= 0 && read(events, text, sizeof(text)) > 0 &&
	    read_count(cgroup, "cgroup.events", "populated ") != 0)
		poll(&wait, 1, EMPTY_TIMEOUT_MS);
}

void cgroup_remove(struct cgroup *cgroup)
{
	if (cgroup->parent < 0)
		return;
	if (cgroup->outer >= 0 && isatty(STDERR_FILENO))
		report_reached_limits(cgroup);
	if (!remove_levels(cgroup->parent, cgroup->name) && cgroup->outer >= 0) {
		wait_until_empty(cgroup);
		remove_levels(cgroup->parent, cgroup->name);
	}
	cleanup_close(&cgroup->inner);
	cleanup_close(&cgroup->outer);
	cleanup_close(&cgroup->parent);
	*cgroup = CGROUP_NONE;
}
