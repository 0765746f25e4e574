// SPDX-License-Identifier: MIT
// The cgroup of a box.
//
// Theory of operation: two levels, so that the files with the limits are out of reach even for a box that mounts a
// cgroup file system of its own: it sees the inner level only. bwrap is born there (clone3), because to move a process
// makes the kernel wait for all processors, five milliseconds and more. A cgroup is removed when it is empty; when we are
// killed, the box ends by itself and the next start of a box removes what is left, by its name.
#include "box/cgroup.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/limits.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/output.h"

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
	END_MS = 2000,
	DIRECTORY = O_DIRECTORY | O_RDONLY | O_CLOEXEC | O_NOFOLLOW,
	FILE_SIZE = 4096,
};

static bool fail(struct error *error, const struct plan *plan, const char *what)
{
	const char *why = strerror(errno);

	error_hint(error, "claudebox --check tells which limits there are");
	return error_set(error, "cannot limit the box: cannot %s in '%s': %s", what,
			 quote_display(error->arena, plan->limits.parent, 0), why);
}

static bool write_file(int directory, const char *name, const char *value)
{
	CLEANUP_FD int fd = openat(directory, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);
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

// Those of claudeboxes that are gone. The kernel keeps every one that still has a process.
static void remove_leftovers(int parent)
{
	CLEANUP_DIR DIR *directory = fdopendir(openat(parent, ".", DIRECTORY));
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
		if (!write_file(cgroup->outer, file->name, file->value) &&
		    !(file->may_be_missing && errno == ENOENT))
			return fail(error, plan, arena_printf(arena, "set '%s'", file->name));
	}
	return true;
}

static bool make(struct cgroup *cgroup, const struct plan *plan, struct arena *arena,
		 struct error *error)
{
	cgroup->parent = open(plan->limits.parent, DIRECTORY);
	if (cgroup->parent < 0)
		return fail(error, plan, "look around");
	remove_leftovers(cgroup->parent);
	cgroup->name = arena_printf(arena, CGROUP_PREFIX "%d", (int)getpid());
	// One that is there is of a claudebox that had our number.
	if (!remove_levels(cgroup->parent, cgroup->name) ||
	    mkdirat(cgroup->parent, cgroup->name, 0755) < 0) {
		fail(error, plan, "make a cgroup");
		cleanup_close(&cgroup->parent);
		*cgroup = CGROUP_NOT_MADE;
		return false;
	}
	cgroup->outer = openat(cgroup->parent, cgroup->name, DIRECTORY);
	if (cgroup->outer >= 0 && mkdirat(cgroup->outer, CGROUP_INNER, 0755) == 0)
		cgroup->inner = openat(cgroup->outer, CGROUP_INNER, DIRECTORY);
	if (cgroup->inner >= 0 ? set_limits(cgroup, plan, arena, error)
			       : fail(error, plan, "make a cgroup"))
		return true;
	cgroup_end(cgroup);
	return false;
}

bool cgroup_make(struct cgroup *cgroup, const struct plan *plan, struct arena *arena,
		 struct error *error)
{
	struct error problem = { .arena = arena };

	*cgroup = CGROUP_NOT_MADE;
	if (plan->limits.way != LIMITS_CGROUP)
		return true;
	if (plan->limits.asked)
		return make(cgroup, plan, arena, error);
	if (!make(cgroup, plan, arena, &problem))
		output_message("claudebox", "without a limit of processes: %s", problem.message);
	return true;
}

bool cgroup_forgo(struct cgroup *cgroup, const struct plan *plan, int why)
{
	if (plan->limits.asked || cgroup->inner < 0)
		return false;
	cgroup_end(cgroup);
	output_message("claudebox",
		       "without a limit of processes: cannot start one in a cgroup: %s",
		       strerror(why));
	return true;
}

pid_t cgroup_fork(const struct cgroup *cgroup)
{
	struct clone_args arguments = {
		.flags = CLONE_INTO_CGROUP | CLONE_VFORK,
		.exit_signal = SIGCHLD,
		.cgroup = (unsigned long long)cgroup->inner,
	};

	return (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
}

// Files of the kernel claim to be empty. -1: it cannot be read.
static ssize_t read_file(int directory, const char *name, char text[FILE_SIZE])
{
	CLEANUP_FD int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, FILE_SIZE - 1);

	text[got < 0 ? 0 : got] = '\0';
	return got;
}

// The level above the one that a process is in, if those two are what the plan means; -1: they are not. Ours we know,
// systemd's has a name that is systemd's choice.
static int open_limits(const struct cgroup *cgroup, const struct plan *plan, pid_t process,
		       struct arena *arena)
{
	const char *file = arena_printf(arena, "/proc/%d/cgroup", (int)process);
	char text[FILE_SIZE];
	const char *path = read_file(AT_FDCWD, file, text) < 0 ? NULL
							       : limits_find_cgroup(arena, text);

	if (!path || !str_equal(path_name(path), CGROUP_INNER))
		return -1;
	path = path_parent(arena, path);
	if (plan->limits.way == LIMITS_SYSTEMD)
		return open(arena_printf(arena, CGROUP_ROOT "%s", path), DIRECTORY);
	return str_equal(path_name(path), cgroup->name) ? fcntl(cgroup->outer, F_DUPFD_CLOEXEC, 3)
							: -1;
}

bool cgroup_confirm(const struct cgroup *cgroup, const struct plan *plan, pid_t process,
		    struct arena *arena, struct error *error)
{
	limit_files files = limits_render_files(arena, &plan->limits);
	CLEANUP_FD int outer = -1;
	char said[FILE_SIZE];

	if (!plan->limits.asked)
		return true;
	error_hint(error, "claudebox --check tells which limits there are");
	outer = open_limits(cgroup, plan, process, arena);
	if (outer < 0)
		return error_set(error, "cannot limit the box: it is not in the cgroup that has "
					"the limits");
	vec_each(file, &files) {
		if (read_file(outer, file->name, said) < 0) {
			if (file->may_be_missing && errno == ENOENT)
				continue;
			return error_set(error, "cannot limit the box: cannot read '%s': %s",
					 file->name, strerror(errno));
		}
		said[strcspn(said, "\n")] = '\0';
		if (!limits_hold(file, said))
			return error_set(error, "cannot limit the box: '%s' is '%s', not '%s'",
					 file->name, quote_display(arena, said, 60), file->value);
	}
	error->hint = NULL;
	return true;
}

// The number that follows a word in one of the cgroup's files; 0 when there is none.
static long read_count(const struct cgroup *cgroup, const char *name, const char *word)
{
	char text[FILE_SIZE];
	const char *found = read_file(cgroup->outer, name, text) < 0 ? NULL : strstr(text, word);

	return found ? strtol(found + strlen(word), NULL, 10) : 0;
}

static void tell(const struct cgroup *cgroup)
{
	long killed = read_count(cgroup, "memory.events", "oom_kill ");
	long refused = read_count(cgroup, "pids.events", "max ");

	if (killed > 0)
		output_message("limits", "memory ran out, %ld process%s killed", killed,
			       killed == 1 ? " was" : "es were");
	if (refused > 0)
		output_message("limits", "%ld time%s a process or thread too many was refused",
			       refused, refused == 1 ? "" : "s");
}

// The last processes of the box may still be on their way out.
static void wait_until_empty(const struct cgroup *cgroup)
{
	CLEANUP_FD int events = openat(cgroup->outer, "cgroup.events", O_RDONLY | O_CLOEXEC);
	struct pollfd wait = { .fd = events, .events = POLLPRI };
	char text[FILE_SIZE];

	write_file(cgroup->outer, "cgroup.kill", "1"); // Linux 5.14
	// To read is to be told of what comes later.
	if (events >= 0 && read(events, text, sizeof(text)) > 0 &&
	    read_count(cgroup, "cgroup.events", "populated ") != 0)
		poll(&wait, 1, END_MS);
}

void cgroup_end(struct cgroup *cgroup)
{
	if (cgroup->parent < 0)
		return;
	if (cgroup->outer >= 0 && isatty(STDERR_FILENO))
		tell(cgroup);
	if (!remove_levels(cgroup->parent, cgroup->name) && cgroup->outer >= 0) {
		wait_until_empty(cgroup);
		remove_levels(cgroup->parent, cgroup->name);
	}
	cleanup_close(&cgroup->inner);
	cleanup_close(&cgroup->outer);
	cleanup_close(&cgroup->parent);
	*cgroup = CGROUP_NOT_MADE;
}
