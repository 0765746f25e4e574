// SPDX-License-Identifier: MIT
// The first thing done: whatever the caller left behind (descriptors, signals, limits, rights) does no harm from here on.
#include "sys/process_setup.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { FEWEST_FILES = 64 };

// The first file that is opened must not become the place where errors are written to.
static bool fill_standard_descriptors(struct error *error)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return error_set(error, "cannot open /dev/null: %s", strerror(errno));
	return true;
}

// The agent inherits these descriptors. A directory leads to every file of the host by /proc/self/fd/0/.., and so does an
// O_PATH descriptor; a block device is a whole file system. Nothing that claudebox or the agent does needs one.
static bool check_standard_descriptors(struct error *error)
{
	static const char *const names[] = { "standard input", "standard output",
					     "standard error" };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int flags = fcntl(fd, F_GETFL);
		const char *kind = NULL;
		struct stat status;

		if (flags < 0 || fstat(fd, &status) < 0)
			return error_set(error, "cannot examine %s: %s", names[fd],
					 strerror(errno));
		if (S_ISDIR(status.st_mode))
			kind = "a directory";
		else if (S_ISBLK(status.st_mode))
			kind = "a block device";
		else if (flags & O_PATH)
			kind = "opened with O_PATH";
		if (!kind)
			continue;
		error_hint(error, "redirect it to a file, a pipe or /dev/null");
		return error_set(error, "%s is %s: the agent could reach other files through it",
				 names[fd], kind);
	}
	return true;
}

static bool check_rights(struct error *error)
{
	if (getuid() == geteuid() && getgid() == getegid() && !getauxval(AT_SECURE))
		return true;
	error_hint(error,
		   "take them off: chmod ug-s, setcap -r; claudebox needs no rights of its own");
	return error_set(error, "claudebox is installed with the rights of someone else");
}

static bool check_limits(struct error *error)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= FEWEST_FILES)
		return true;
	error_hint(error, "raise the limit: `ulimit -n 1024`");
	return error_set(error, "too few files may be open at a time (%lu)",
			 (unsigned long)files.rlim_cur);
}

static void settle_signals(void)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t size;

	// Ignored, the kernel would throw away how children end, and we would wait for ever.
	sigaction(SIGCHLD, &standard, NULL);
	// Blocked, a file that may not grow is an error, and we live to tell.
	sigemptyset(&size);
	sigaddset(&size, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &size, NULL);
}

bool process_setup(struct error *error)
{
	if (!fill_standard_descriptors(error) || !check_standard_descriptors(error) ||
	    !check_rights(error) || !check_limits(error))
		return false;
	settle_signals();
	// Other programs of the user, an agent in another box's project tool among them, have no business in our memory.
	prctl(PR_SET_DUMPABLE, 0);
	return true;
}
