// SPDX-License-Identifier: MIT
// Attacks by system calls: privileges, namespaces, and what only the machine's root should do.
#include "prove/attack/attack.h"

#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/stat.h>
#include <linux/timex.h>
#include <asm/statfs.h>

enum { NO_SET_ID = 2 /* ST_NOSUID */, NOT_A_FLAG = 0x40000000 };
static const char nowhere[] = "/claudebox-canary";

// A line of /proc/PID/status, as a hexadecimal number.
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

static enum verdict check_filter(const char *path)
{
	unsigned long mode;
	long result = read_status(path, "\nSeccomp:", &mode);

	if (result < 0)
		return skipped("%s: %s", path, error_name(result));
	return mode == 2 ? held("it has one") : leaked("it has none");
}

enum verdict try_KERNEL_FILTER(void)
{
	return check_filter("/proc/self/status");
}

enum verdict try_KERNEL_FILTER_INIT(void)
{
	return check_filter("/proc/1/status");
}

enum verdict try_KERNEL_NO_NEW_PRIVILEGES(void)
{
	return call(__NR_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0) == 1 ? held("set")
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
	return held("all sets are empty");
}

enum verdict try_KERNEL_BECOME_ROOT(void)
{
	struct tries tries = { 0 };

	if (call(__NR_geteuid, 0, 0, 0, 0) == 0)
		return leaked("it is root already");
	if (!failed(&tries, call(__NR_setgroups, 0, NULL, 0, 0)) ||
	    !failed(&tries, call(__NR_setresgid, 0, 0, 0, 0)) ||
	    !failed(&tries, call(__NR_setresuid, 0, 0, 0, 0)) ||
	    !failed(&tries, call(__NR_setuid, 0, 0, 0, 0)))
		return leaked("it works");
	return blocked_by(&tries);
}

// With either protection, the kernel ignores the bit.
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
	return held("%d there, without effect", count);
}

enum verdict try_KERNEL_FILE_CAPABILITIES(void)
{
	struct vfs_cap_data data = { .magic_etc = VFS_CAP_REVISION_2,
				     .data = { { .permitted = 1U << CAP_NET_RAW } } };
	struct tries tries = { 0 };
	char path[PATH_SIZE];
	long file = open_file(scratch(path, sizeof(path), "program"), O_RDWR | O_CREAT);
	long result;

	if (failed(&tries, file))
		return skipped("no file: %s", error_name(file));
	result = call6(__NR_fsetxattr, file, (long)"security.capability", (long)&data, sizeof(data),
		       0, 0);
	remove_file(path);
	if (!failed(&tries, result))
		return leaked("a file was given one");
	return blocked_by(&tries);
}

enum verdict try_KERNEL_USER_NAMESPACE(void)
{
	struct tries tries = { 0 };

	if (!failed(&tries, call(__NR_unshare, CLONE_NEWUSER, 0, 0, 0)))
		return leaked("it was made");
	return blocked_by(&tries);
}

static enum verdict judge_child(long pid)
{
	struct tries tries = { 0 };

	if (pid == 0)
		leave(0);
	if (failed(&tries, pid))
		return blocked_by(&tries);
	wait_child(pid);
	return leaked("it was made");
}

enum verdict try_KERNEL_CLONE_NAMESPACE(void)
{
	return judge_child(fork_child(CLONE_NEWUSER));
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
			return leaked("a new %s namespace", kinds[i].name);
	return blocked_by(&tries);
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
			return leaked("namespaces of process %d", pids[i]);
		for (size_t kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
			long file = open_file(text_make(path, sizeof(path), "/proc/%d/ns/%s",
							pids[i], kinds[kind]),
					      O_RDONLY);

			if (!failed(&tries, file) &&
			    !failed(&tries, call(__NR_setns, file, 0, 0, 0)))
				return leaked("%s was entered", path);
		}
	}
	return blocked_by(&tries);
}

enum verdict try_KERNEL_BPF(void)
{
	union bpf_attr map = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1
	};
	struct tries tries = { 0 };

	if (!failed(&tries, call(__NR_bpf, BPF_MAP_CREATE, &map, sizeof(map), 0)))
		return leaked("a map was made");
	return blocked_by(&tries);
}

enum verdict try_KERNEL_IO_URING(void)
{
	unsigned int parameters[30] = { 0 };
	struct tries tries = { 0 };

	if (!failed(&tries, call(__NR_io_uring_setup, 1, parameters, 0, 0)))
		return leaked("it works");
	return blocked_by(&tries);
}

enum verdict try_KERNEL_FANOTIFY(void)
{
	struct tries tries = { 0 };

	if (!failed(&tries, call(__NR_fanotify_init, 4 /* FAN_CLASS_CONTENT */, O_RDONLY, 0, 0)))
		return leaked("it works");
	return blocked_by(&tries);
}

// The arguments of these make no sense, so that nothing happens if they get through.
enum verdict try_KERNEL_KEXEC(void)
{
	struct tries tries = { 0 };
	enum verdict verdict =
		judge_refusal(&tries, call(__NR_kexec_load, 0, 0, NULL, NOT_A_FLAG), "kexec_load");

#ifdef __NR_kexec_file_load
	if (verdict == HELD)
		verdict = judge_refusal(&tries,
					call6(__NR_kexec_file_load, -1, -1, 0, 0, NOT_A_FLAG, 0),
					"kexec_file_load");
#endif
	return verdict;
}

enum verdict try_KERNEL_MODULES(void)
{
	struct tries tries = { 0 };
	enum verdict verdict =
		judge_refusal(&tries, call(__NR_init_module, NULL, 0, "", 0), "init_module");

	if (verdict == HELD)
		verdict = judge_refusal(&tries, call(__NR_finit_module, -1, "", NOT_A_FLAG, 0),
					"finit_module");
	if (verdict == HELD)
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
	enum verdict verdict = judge_refusal(&tries, call(__NR_swapon, nowhere, 0, 0, 0), "swapon");

	if (verdict == HELD)
		verdict = judge_refusal(&tries, call(__NR_swapoff, nowhere, 0, 0, 0), "swapoff");
	if (verdict == HELD)
		verdict = judge_refusal(&tries, call(__NR_acct, nowhere, 0, 0, 0), "acct");
	return verdict;
}

// Sets what was read.
enum verdict try_KERNEL_CLOCK(void)
{
	struct __kernel_timex clock = { 0 };
	struct tries tries = { 0 };

	if (failed(&tries, call(__NR_adjtimex, &clock, 0, 0, 0)))
		return blocked_by(&tries);
	clock.modes = ADJ_STATUS;
	if (!failed(&tries, call(__NR_adjtimex, &clock, 0, 0, 0)))
		return leaked("it can be set");
	return blocked_by(&tries);
}

enum verdict try_KERNEL_PORTS(void)
{
#ifdef __x86_64__
	struct tries tries = { 0 };

	if (!failed(&tries, call(__NR_iopl, 3, 0, 0, 0)) ||
	    !failed(&tries, call(__NR_ioperm, 0x80, 1, 1, 0)))
		return leaked("it works");
	return blocked_by(&tries);
#else
	return skipped("this machine has no such calls");
#endif
}

enum verdict try_KERNEL_CORE_DUMPS(void)
{
	unsigned long limit[2] = { 1, 1 };

	call(__NR_prlimit64, 0, RLIMIT_CORE, NULL, limit);
	return limit[0] || limit[1] ? leaked("they are allowed") : held("limit of 0");
}

enum verdict try_KERNEL_MKNOD(void)
{
	struct tries tries = { 0 };
	char path[PATH_SIZE];
	long result = call(__NR_mknodat, AT_FDCWD, scratch(path, sizeof(path), "device"),
			   S_IFCHR | 0600, 1 << 8 | 3 /* null */);

	if (failed(&tries, result))
		return blocked_by(&tries);
	remove_file(path);
	return leaked("a device was made");
}
