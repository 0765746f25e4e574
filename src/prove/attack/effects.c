// SPDX-License-Identifier: MIT
// Attacks that outlive the box or disturb programs of the host: set-id files, process 1, leases,
// snapshots, kernel objects that are counted for each user.
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/format.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <asm/errno.h>
#include <linux/btrfs.h>
#include <linux/fcntl.h>
#include <linux/fscrypt.h>
#include <linux/ioprio.h>
#include <linux/openat2.h>
#include <linux/resource.h>
#include <linux/sched/types.h>
#include <linux/stat.h>

enum {
	INIT = 1,
	FIRST_LATER_CALL = 470, // after file_setattr of Linux 6.17
	LAST_LATER_CALL = 600,
	FCHMODAT2 = 452,
	MAX_INSTANCES = 512,
};

// Each function tries to create a set-id file at `path`, where there is none. Returns -errno on
// failure.
typedef long set_id_function(const char *path);

static long create_plain(const char *path)
{
	return call(__NR_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
}

static long by_chmod(const char *path)
{
	close_file(create_plain(path));
	return call(__NR_fchmodat, AT_FDCWD, path, S_ISUID | 0755, 0);
}

static long by_descriptor(const char *path)
{
	long file = create_plain(path);
	long result = file < 0 ? file : call(__NR_fchmod, file, S_ISUID | S_ISGID | 0755, 0, 0);

	close_file(file);
	return result;
}

static long by_new_chmod(const char *path)
{
	close_file(create_plain(path));
	return call(FCHMODAT2, AT_FDCWD, path, S_ISUID | 0755, 0);
}

static long by_creation(const char *path)
{
	long file = call(__NR_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
			 S_ISUID | 0755);

	close_file(file);
	return file;
}

static long by_group_creation(const char *path)
{
	long file = call(__NR_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
			 S_ISGID | 0755);

	close_file(file);
	return file;
}

static long by_structure(const char *path)
{
	struct open_how how = { .flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
				.mode = S_ISUID | 0755 };
	long file = call(__NR_openat2, AT_FDCWD, path, &how, sizeof(how));

	close_file(file);
	return file;
}

static long by_node(const char *path)
{
	return call(__NR_mknodat, AT_FDCWD, path, S_IFREG | S_ISUID | 0755, 0);
}

// The file has no name until it is linked.
static long by_unnamed_file(const char *path)
{
	char link[64];
	long file = call(__NR_openat, AT_FDCWD, context.project, O_RDWR | O_TMPFILE | O_CLOEXEC,
			 S_ISUID | 0755);
	long result = file < 0 ? file
			       : call6(__NR_linkat, AT_FDCWD,
				       (long)text_format(link, sizeof(link), "/proc/self/fd/%d",
							 (int)file),
				       AT_FDCWD, (long)path, AT_SYMLINK_FOLLOW, 0);

	close_file(file);
	return result;
}

enum verdict try_WRITE_SET_ID(void)
{
	static const struct {
		set_id_function *function;
		const char *name;
	} ways[] = { { by_chmod, "fchmodat" },         { by_descriptor, "fchmod" },
		     { by_new_chmod, "fchmodat2" },    { by_creation, "openat" },
		     { by_group_creation, "openat" },  { by_structure, "openat2" },
		     { by_unnamed_file, "O_TMPFILE" }, { by_node, "mknodat" } };
	struct tries tries = { 0 };
	char path[PATH_SIZE];

	scratch_path(path, sizeof(path), "set-id");
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct statx info = { 0 };

		if (failed(&tries, ways[i].function(path)))
			remove_file(path);
		else {
			call6(__NR_statx, AT_FDCWD, (long)path, AT_SYMLINK_NOFOLLOW, STATX_MODE,
			      (long)&info, 0);
			remove_file(path);
			if (info.stx_mode & (S_ISUID | S_ISGID))
				return leaked("%s creates one", ways[i].name);
		}
	}
	return all_failed(&tries);
}

// Sets the mode to the current one.
enum verdict try_WRITE_DEVICES(void)
{
	static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/urandom" };
	struct tries tries = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		struct statx info = { 0 };

		call6(__NR_statx, AT_FDCWD, (long)devices[i], 0, STATX_MODE, (long)&info, 0);
		if (!failed(&tries,
			    call(__NR_fchmodat, AT_FDCWD, devices[i], info.stx_mode & 0777, 0)))
			return leaked("chmod of %s succeeds", devices[i]);
	}
	return all_failed(&tries);
}

// Sets each value to the current one.
enum verdict try_PROCESSES_INIT_PRIORITY(void)
{
	struct tries tries = { 0 };
	struct sched_attr attributes = { .size = sizeof(attributes) };
	struct rlimit64 limit;
	unsigned long mask[128];
	int priority = 0;
	long nice = call(__NR_getpriority, PRIO_PROCESS, INIT, 0, 0);
	long policy = call(__NR_sched_getscheduler, INIT, 0, 0, 0);
	long size = call(__NR_sched_getaffinity, INIT, sizeof(mask), mask, 0);
	long io = call(__NR_ioprio_get, IOPRIO_WHO_PROCESS, INIT, 0, 0);

	if (!failed(&tries, call(__NR_setpriority, PRIO_PROCESS, INIT, 20 - nice, 0)) ||
	    !failed(&tries, call(__NR_setpriority, PRIO_PGRP, INIT, 20 - nice, 0)))
		return leaked("setpriority succeeds");
	if (!failed(&tries, call(__NR_sched_setscheduler, INIT, policy, &priority, 0)) ||
	    !failed(&tries, call(__NR_sched_setparam, INIT, &priority, 0, 0)))
		return leaked("sched_setscheduler succeeds");
	if (call(__NR_sched_getattr, INIT, &attributes, sizeof(attributes), 0) == 0 &&
	    !failed(&tries, call(__NR_sched_setattr, INIT, &attributes, 0, 0)))
		return leaked("sched_setattr succeeds");
	if (!failed(&tries, call(__NR_sched_setaffinity, INIT, size, mask, 0)))
		return leaked("sched_setaffinity succeeds");
	if (!failed(&tries, call(__NR_ioprio_set, IOPRIO_WHO_PROCESS, INIT, io, 0)))
		return leaked("ioprio_set succeeds");
	if (!failed(&tries, call(__NR_prlimit64, INIT, RLIMIT_NOFILE, NULL, &limit)) &&
	    !failed(&tries, call(__NR_prlimit64, INIT, RLIMIT_NOFILE, &limit, NULL)))
		return leaked("prlimit succeeds");
	return all_failed(&tries);
}

// Opens the files for writing, and writes nothing.
enum verdict try_PROCESSES_INIT_FILES(void)
{
	static const char *const paths[] = {
		"/proc/1/autogroup",
		"/proc/1/oom_score_adj",
		"/proc/1/task/1/oom_score_adj",
		"/proc/1/comm",
		"/proc/1/task/1/comm",
		"/proc/1/sched",
		"/proc/1/coredump_filter",
		"/proc/1/clear_refs",
	};

	return open_any(paths, ARRAY_SIZE(paths), O_WRONLY);
}

// A lease on a file of its own. The kernel allows the same on every file of the user, also on a
// read-only mount.
enum verdict try_KERNEL_LEASE(void)
{
	struct tries tries = { 0 };
	char path[PATH_SIZE];
	long file;
	long result;

	close_file(create_plain(scratch_path(path, sizeof(path), "lease")));
	file = open_file(path, O_RDONLY);
	result = call(__NR_fcntl, file, F_SETLEASE, F_RDLCK, 0);
	close_file(file);
	remove_file(path);
	return failed(&tries, result) ? all_failed(&tries) : leaked("a lease was taken");
}

// The argument is no address, so that an accepted request does nothing.
enum verdict try_KERNEL_SNAPSHOTS(void)
{
	static const struct {
		unsigned int request;
		const char *name;
	} requests[] = {
		{ BTRFS_IOC_SNAP_CREATE, "BTRFS_IOC_SNAP_CREATE" },
		{ BTRFS_IOC_SNAP_CREATE_V2, "BTRFS_IOC_SNAP_CREATE_V2" },
		{ BTRFS_IOC_SUBVOL_CREATE, "BTRFS_IOC_SUBVOL_CREATE" },
		{ BTRFS_IOC_SNAP_DESTROY, "BTRFS_IOC_SNAP_DESTROY" },
		{ BTRFS_IOC_SUBVOL_SETFLAGS, "BTRFS_IOC_SUBVOL_SETFLAGS" },
		{ FS_IOC_ADD_ENCRYPTION_KEY, "FS_IOC_ADD_ENCRYPTION_KEY" },
		{ FS_IOC_REMOVE_ENCRYPTION_KEY, "FS_IOC_REMOVE_ENCRYPTION_KEY" },
	};
	long directory = open_file(context.project, O_RDONLY | O_DIRECTORY);
	struct tries tries = { 0 };
	enum verdict verdict = VERDICT_BLOCKED;

	for (size_t i = 0; i < ARRAY_SIZE(requests) && verdict == VERDICT_BLOCKED; i++)
		verdict = judge_refusal(&tries,
					call(__NR_ioctl, directory, requests[i].request, NULL, 0),
					requests[i].name);
	close_file(directory);
	return verdict;
}

// The arguments are invalid for every call that has flags, a descriptor or an address.
enum verdict try_KERNEL_LATER_CALLS(void)
{
	struct tries tries = { 0 };

	for (int number = FIRST_LATER_CALL; number <= LAST_LATER_CALL; number++)
		if (call6(number, -1, -1, -1, -1, -1, -1) != -ENOSYS)
			return leaked("system call %d exists", number);
	failed(&tries, -ENOSYS);
	return all_failed(&tries);
}

// Takes more than half of the user's instances.
enum verdict try_KERNEL_INOTIFY(void)
{
	struct tries tries = { 0 };
	char text[32];
	long wanted = 0;

	if (read_text("/proc/sys/fs/inotify/max_user_instances", text, sizeof(text)) > 0)
		wanted = text_number(text) / 2 + 1;
	if (wanted < 64 || wanted > MAX_INSTANCES)
		return skipped("the limit of the machine is %s", wanted < 64 ? "low" : "high");
	for (long i = 0; i < wanted; i++) // the end of this process closes them
		if (failed(&tries, call(__NR_inotify_init1, O_CLOEXEC, 0, 0, 0)))
			return all_failed(&tries);
	return leaked("%d inotify instances were created", (int)wanted);
}
