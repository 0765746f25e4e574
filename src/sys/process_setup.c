// SPDX-License-Identifier: MIT
// Checks and resets what claudebox inherits from its caller: descriptors, signals, limits,
// privileges.
#include "sys/process_setup.h"

#include "base/error.h"
#include "sys/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

enum { MIN_OPEN_FILES = 64 };

// Opens /dev/null for closed standard descriptors. Otherwise the first file that is opened would
// become one of them, and receive error messages.
static bool fill_standard_descriptors(struct error *error)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return error_set(error, "cannot open /dev/null: %s", strerror(errno));
	return true;
}

// Returns why a socket is refused, NULL: it is not. Only bytes of a stream can be copied.
static const char *refused_socket(int fd)
{
	int domain = -1;
	int type = -1;
	socklen_t size = sizeof(domain);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 || domain != AF_UNIX)
		return "a network socket";
	size = sizeof(type);
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_STREAM)
		return "a socket for datagrams";
	return NULL;
}

// Returns why a character device is refused, NULL: it is not. A terminal is replaced or, with
// "terminal": "direct", requested. Any other device than the listed ones has requests of its own
// (ioctl), as /dev/kvm, /dev/fuse and /dev/net/tun.
static const char *refused_device(int fd, dev_t device)
{
	enum { MEMORY_DEVICES = 1 };
	static const unsigned int harmless[] = { 3, 5, 7, 8,
						 9 }; // null, zero, full, random, urandom
	unsigned int number;

	if (ioctl(fd, TIOCGPTN, &number) == 0)
		return "the master of a pseudo-terminal";
	if (isatty(fd))
		return NULL;
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (major(device) == MEMORY_DEVICES && minor(device) == harmless[i])
			return NULL;
	return "a device";
}

// Returns why a descriptor cannot be a standard stream, NULL: it can. Files, pipes and Unix stream
// sockets are copied by claudebox (terminal/streams.c), and terminals are replaced. A directory
// leads to every file of the host by /proc/self/fd/0/.., and so does an O_PATH descriptor. A block
// device contains a file system. A network socket stays in the host's network, and other kernel
// objects (namespaces, pidfd, epoll) give access to it.
static const char *refused_kind(int fd, int flags, const struct stat *status)
{
	struct statfs file_system;

	if (S_ISDIR(status->st_mode))
		return "a directory";
	if (S_ISBLK(status->st_mode))
		return "a block device";
	if (flags & O_PATH)
		return "opened with O_PATH";
	if (S_ISSOCK(status->st_mode))
		return refused_socket(fd);
	if (S_ISCHR(status->st_mode))
		return refused_device(fd, status->st_rdev);
	if (!(status->st_mode & S_IFMT))
		return "a kernel object";
	if (fstatfs(fd, &file_system) == 0 && file_system.f_type == NSFS_MAGIC)
		return "a namespace";
	return NULL;
}

static bool check_standard_descriptors(struct error *error)
{
	static const char *const names[] = { "standard input", "standard output",
					     "standard error" };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int flags = fcntl(fd, F_GETFL);
		const char *kind;
		struct stat status;

		if (flags < 0 || fstat(fd, &status) < 0)
			return error_set(error, "cannot examine %s: %s", names[fd],
					 strerror(errno));
		kind = refused_kind(fd, flags, &status);
		if (!kind)
			continue;
		error_set(error, "%s is %s: the agent could reach more than the box through it",
			  names[fd], kind);
		return error_hint(error, "redirect it to a file, a pipe or /dev/null");
	}
	return true;
}

static bool check_privileges(struct error *error)
{
	if (getuid() == geteuid() && getgid() == getegid() && !getauxval(AT_SECURE))
		return true;
	error_set(error, "claudebox must not be setuid, setgid or have file capabilities");
	return error_hint(error, "remove them with `chmod ug-s` or `setcap -r`");
}

static bool check_limits(struct error *error)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= MIN_OPEN_FILES)
		return true;
	error_set(error, "the limit on open files is too low: %lu", (unsigned long)files.rlim_cur);
	return error_hint(error, "raise the limit: `ulimit -n 1024`");
}

static void reset_signals(void)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t size;

	// If SIGCHLD is ignored, the kernel discards the status of children and waitpid(2) fails.
	sigaction(SIGCHLD, &standard, NULL);
	// If SIGXFSZ is blocked, exceeding the limit on file size is an error of write(2).
	sigemptyset(&size);
	sigaddset(&size, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &size, NULL);
}

bool process_setup(struct error *error)
{
	if (!fill_standard_descriptors(error) || !check_standard_descriptors(error) ||
	    !check_privileges(error) || !check_limits(error))
		return false;
	reset_signals();
	// Other processes of the same user cannot read the memory of claudebox or attach a
	// debugger.
	prctl(PR_SET_DUMPABLE, 0);
	return true;
}

bool close_inherited_on_exec(struct error *error)
{
	CLEANUP_DIR DIR *directory = NULL;
	struct dirent *entry;

	if (close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return true;
	// Linux before 5.11 has no CLOSE_RANGE_CLOEXEC.
	directory = opendir("/proc/self/fd");
	if (!directory)
		return error_set(error, "cannot list the open descriptors: %s", strerror(errno));
	while ((entry = readdir(directory))) {
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (fd > STDERR_FILENO && fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
			return error_set(error, "cannot make descriptor %d close-on-exec: %s", fd,
					 strerror(errno));
	}
	return true;
}
