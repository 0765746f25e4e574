// SPDX-License-Identifier: MIT
// Attacks by system calls: privileges, namespaces, and operations of the machine's root.
#include "freestanding/process.h"
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/format.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <asm/errno.h>
#include <asm/statfs.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/fcntl.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/stat.h>
#include <linux/timex.h>

enum { NO_SET_ID = 2 /* ST_NOSUID */, INVALID_FLAG = 0x40000000 };
static const char missing_path[] = "/claudebox-canary";

// Reads a hexadecimal number from a line of /proc/PID/status. Returns -errno on failure.
static long read_status(const char *path, const char *name, unsigned long *value)
{
	static char text[8192];
	long length = read_text(path, text, sizeof(text));
	const char *found = length > 0 ? text_find(text, (size_t)length, name) : NULL;

	*value = 0;
	if (!found)
		return length < 0 ? length : -ENODATA;
	for (found += text_length(name); *found && *found != '\n'; found++)
		if (*found != '\t' && *found != ' ')
			*value = *value << 4 |
				 (unsigned long)(*found >= 'a' ? *found - 'a' + 10 : *found - '0');
	return 0;
}

static enum verdict check_seccomp(const char *path)
{
	unsigned long mode;
	long result = read_status(path, "\nSeccomp:", &mode);

	if (result < 0)
		return skipped("%s: %s", path, error_name(result));
	return mode == 2 ? blocked("a seccomp filter is loaded")
			 : leaked("no seccomp filter is loaded");
}

enum verdict try_KERNEL_FILTER(void)
{
	return check_seccomp("/proc/self/status");
}

enum verdict try_KERNEL_FILTER_INIT(void)
{
	return check_seccomp("/proc/1/status");
}

enum verdict try_KERNEL_NO_NEW_PRIVILEGES(void)
{
	return call(__NR_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0) == 1 ? blocked("set")
								   : leaked("not set");
}

enum verdict try_KERNEL_CAPABILITIES(void)
{
	static const char *const sets[] = { "\nCapInh:", "\nCapPrm:", "\nCapEff:", "\nCapBnd:",
					    "\nCapAmb:" };

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		unsigned long set;
		long result = read_status("/proc/self/status", sets[i], &set);

		if (result < 0)
			return skipped("/proc/self/status: %s", error_name(result));
		if (set)
			return leaked("%s is not empty", sets[i] + 1);
	}
	return blocked("all sets are empty");
}

enum verdict try_KERNEL_BECOME_ROOT(void)
{
	struct tries tries = { 0 };

	if (call(__NR_geteuid, 0, 0, 0, 0) == 0)
		return leaked("the process is root");
	if (!failed(&tries, call(__NR_setgroups, 0, NULL, 0, 0)) ||
	    !failed(&tries, call(__NR_setresgid, 0, 0, 0, 0)) ||
	    !failed(&tries, call(__NR_setresuid, 0, 0, 0, 0)) ||
	    !failed(&tries, call(__NR_setuid, 0, 0, 0, 0)))
		return leaked("the call succeeds");
	return all_failed(&tries);
}

// The kernel ignores the setuid bit under no_new_privs and on a nosuid mount.
enum verdict try_KERNEL_SETUID_PROGRAMS(void)
{
	static const char *const paths[] = {
		"/usr/bin/su",
		"/usr/bin/sudo",
		"/usr/bin/mount",
		"/usr/bin/passwd",
		"/usr/bin/chsh",
		"/usr/bin/newgrp",
		"/usr/bin/newuidmap",
		"/usr/bin/pkexec",
		"/usr/bin/fusermount3",
		"/usr/bin/crontab",
		"/usr/bin/umount",
		"/usr/bin/gpasswd",
		"/run/wrappers/bin/sudo",
	};
	bool safe = call(__NR_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0) == 1;
	int count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct statx status = { 0 };
		struct statfs system = { 0 };

		if (call6(__NR_statx, AT_FDCWD, (long)paths[i], 0, STATX_MODE, (long)&status, 0) <
			    0 ||
		    !(status.stx_mode & S_ISUID))
			continue;
		count++;
		call(__NR_statfs, paths[i], &system, 0, 0);
		if (!safe && !(system.f_flags & NO_SET_ID))
			return leaked("%s would run as root", paths[i]);
	}
	return blocked("%d programs, without effect", count);
}

enum verdict try_KERNEL_FILE_CAPABILITIES(void)
{
	struct vfs_cap_data data = { .magic_etc = VFS_CAP_REVISION_2,
				     .data = { { .permitted = 1U << CAP_NET_RAW } } };
	struct tries tries = { 0 };
	char path[PATH_SIZE];
	long file = open_file(scratch_path(path, sizeof(path), "program"), O_RDWR | O_CREAT);
	long result;

	if (failed(&tries, file))
		return skipped("cannot create a file: %s", error_name(file));
	result = call6(__NR_fsetxattr, file, (long)"security.capability", (long)&data, sizeof(data),
		       0, 0);
	remove_file(path);
	if (!failed(&tries, result))
		return leaked("a file has a capability now");
	return all_failed(&tries);
}

enum verdict try_KERNEL_USER_NAMESPACE(void)
{
	struct tries tries = { 0 };

	if (!failed(&tries, call(__NR_unshare, CLONE_NEWUSER, 0, 0, 0)))
		return leaked("the namespace was created");
	return all_failed(&tries);
}

// Returns the verdict on a clone whose result is `pid`. The child exits here.
static enum verdict judge_child(long pid)
{
	struct tries tries = { 0 };

	if (pid == 0)
		exit_program(0);
	if (failed(&tries, pid))
		return all_failed(&tries);
	call(__NR_wait4, pid, NULL, 0, NULL);
	return leaked("the namespace was created");
}

enum verdict try_KERNEL_CLONE_NAMESPACE(void)
{
	return judge_child(fork_process(CLONE_NEWUSER));
}

enum verdict try_KERNEL_CLONE3_NAMESPACE(void)
{
	struct clone_args arguments = { .flags = CLONE_NEWUSER, .exit_signal = 17 /* SIGCHLD */ };

	return judge_child(call(__NR_clone3, &arguments, sizeof(arguments), 0, 0));
}

enum verdict try_KERNEL_NAMESPACES(void)
{
	static const struct {
		int flag;
		const char *name;
	} kinds[] = {
		{ CLONE_NEWNS, "mount" },
		{ CLONE_NEWUTS, "UTS" },
		{ CLONE_NEWIPC, "IPC" },
		{ CLONE_NEWNET, "network" },
		{ CLONE_NEWCGROUP, "cgroup" },
		{ CLONE_NEWPID, "PID" },
		{ 0x80 /* CLONE_NEWTIME */, "time" },
	};
	struct tries tries = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!failed(&tries, call(__NR_unshare, kinds[i].flag, 0, 0, 0)))
			return leaked("a %s namespace was created", kinds[i].name);
	return all_failed(&tries);
}

enum verdict try_KERNEL_ENTER_NAMESPACE(void)
{
	static const char *const kinds[] = { "user", "mnt", "net", "pid", "ipc", "uts", "cgroup" };
	int pids[] = { 1, host_process() };
	struct tries tries = { 0 };
	char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(pids) && pids[i]; i++) {
		long process = call(__NR_pidfd_open, pids[i], 0, 0, 0);

		if (!failed(&tries, process) &&
		    (!failed(&tries, call(__NR_setns, process, CLONE_NEWUSER, 0, 0)) ||
		     !failed(&tries, call(__NR_setns, process, CLONE_NEWNS | CLONE_NEWNET, 0, 0))))
			return leaked("namespaces of process %d were entered", pids[i]);
		for (size_t kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
			long file = open_file(text_format(path, sizeof(path), "/proc/%d/ns/%s",
							  pids[i], kinds[kind]),
					      O_RDONLY);

			if (!failed(&tries, file) &&
			    !failed(&tries, call(__NR_setns, file, 0, 0, 0)))
				return leaked("%s was entered", path);
		}
	}
	return all_failed(&tries);
}

enum verdict try_KERNEL_BPF(void)
{
	union bpf_attr map = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1
	};
	struct tries tries = { 0 };

	if (!failed(&tries, call(__NR_bpf, BPF_MAP_CREATE, &map, sizeof(map), 0)))
		return leaked("a map was created");
	return all_failed(&tries);
}

enum verdict try_KERNEL_IO_URING(void)
{
	unsigned int parameters[30] = { 0 };
	struct tries tries = { 0 };

	if (!failed(&tries, call(__NR_io_uring_setup, 1, parameters, 0, 0)))
		return leaked("the call succeeds");
	return all_failed(&tries);
}

enum verdict try_KERNEL_FANOTIFY(void)
{
	struct tries tries = { 0 };

	if (!failed(&tries, call(__NR_fanotify_init, 4 /* FAN_CLASS_CONTENT */, O_RDONLY, 0, 0)))
		return leaked("the call succeeds");
	return all_failed(&tries);
}

// The arguments of the following calls are invalid, so that an accepted call does nothing.
enum verdict try_KERNEL_KEXEC(void)
{
	struct tries tries = { 0 };
	enum verdict verdict = judge_refusal(
		&tries, call(__NR_kexec_load, 0, 0, NULL, INVALID_FLAG), "kexec_load");

#ifdef __NR_kexec_file_load
	if (verdict == VERDICT_BLOCKED)
		verdict = judge_refusal(&tries,
					call6(__NR_kexec_file_load, -1, -1, 0, 0, INVALID_FLAG, 0),
					"kexec_file_load");
#endif
	return verdict;
}

enum verdict try_KERNEL_MODULES(void)
{
	struct tries tries = { 0 };
	enum verdict verdict =
		judge_refusal(&tries, call(__NR_init_module, NULL, 0, "", 0), "init_module");

	if (verdict == VERDICT_BLOCKED)
		verdict = judge_refusal(&tries, call(__NR_finit_module, -1, "", INVALID_FLAG, 0),
					"finit_module");
	if (verdict == VERDICT_BLOCKED)
		verdict = judge_refusal(
			&tries, call(__NR_delete_module, "claudebox-canary", O_NONBLOCK, 0, 0),
			"delete_module");
	return verdict;
}

enum verdict try_KERNEL_REBOOT(void)
{
	struct tries tries = { 0 };

	return judge_refusal(&tries, call(__NR_reboot, 0, 0, 0, NULL), "reboot");
}

enum verdict try_KERNEL_SWAP(void)
{
	struct tries tries = { 0 };
	enum verdict verdict =
		judge_refusal(&tries, call(__NR_swapon, missing_path, 0, 0, 0), "swapon");

	if (verdict == VERDICT_BLOCKED)
		verdict =
			judge_refusal(&tries, call(__NR_swapoff, missing_path, 0, 0, 0), "swapoff");
	if (verdict == VERDICT_BLOCKED)
		verdict = judge_refusal(&tries, call(__NR_acct, missing_path, 0, 0, 0), "acct");
	return verdict;
}

// Sets the value that it has read.
enum verdict try_KERNEL_CLOCK(void)
{
	struct __kernel_timex clock = { 0 };
	struct tries tries = { 0 };

	if (failed(&tries, call(__NR_adjtimex, &clock, 0, 0, 0)))
		return all_failed(&tries);
	clock.modes = ADJ_STATUS;
	if (!failed(&tries, call(__NR_adjtimex, &clock, 0, 0, 0)))
		return leaked("the clock can be set");
	return all_failed(&tries);
}

enum verdict try_KERNEL_PORTS(void)
{
#ifdef __x86_64__
	struct tries tries = { 0 };

	if (!failed(&tries, call(__NR_iopl, 3, 0, 0, 0)) ||
	    !failed(&tries, call(__NR_ioperm, 0x80, 1, 1, 0)))
		return leaked("the call succeeds");
	return all_failed(&tries);
#else
	return skipped("not on this architecture");
#endif
}

enum verdict try_KERNEL_CORE_DUMPS(void)
{
	unsigned long limit[2] = { 1, 1 };

	call(__NR_prlimit64, 0, RLIMIT_CORE, NULL, limit);
	return limit[0] || limit[1] ? leaked("core dumps are allowed") : blocked("limit of 0");
}

enum verdict try_KERNEL_MKNOD(void)
{
	struct tries tries = { 0 };
	char path[PATH_SIZE];
	long result = call(__NR_mknodat, AT_FDCWD, scratch_path(path, sizeof(path), "device"),
			   S_IFCHR | 0600, 1 << 8 | 3 /* null */);

	if (failed(&tries, result))
		return all_failed(&tries);
	remove_file(path);
	return leaked("a device node was created");
}
