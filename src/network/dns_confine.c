// SPDX-License-Identifier: MIT
// Confines the DNS relay.
//
// Theory of operation: the DNS relay parses messages of the agent. If the agent could take it over,
// the seccomp filter leaves it the sockets (src/seccomp/generate_relay.c). Its root is an empty
// read-only file system, it has no capabilities, and its memory has nothing of claudebox, because
// it is a program that was executed anew. To mount, it enters the user namespace that owns the
// box's network namespace, where the user has all capabilities. A machine on which bwrap works
// needs no additional permission for that.
#include "network/dns_confine.h"

#include "seccomp/relay_program.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif

bool dns_confine_files(int user_namespace)
{
	const unsigned long flags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;

	if ((user_namespace < 0 ? unshare(CLONE_NEWUSER) : setns(user_namespace, CLONE_NEWUSER)) <
		    0 ||
	    unshare(CLONE_NEWNS) < 0)
		return false;
	// Any directory will do as mount point; every machine has /proc.
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", "/proc", "tmpfs", flags, "size=4k,nr_inodes=1,mode=0555") == 0 &&
	       chdir("/proc") == 0 && syscall(SYS_pivot_root, ".", ".") == 0 &&
	       umount2(".", MNT_DETACH) == 0 && chdir("/") == 0;
}

static bool drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capset, &header, none) == 0;
}

static bool limit_descriptors(unsigned int descriptors)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return false;
	if (limit.rlim_cur > descriptors)
		limit.rlim_cur = descriptors;
	limit.rlim_max = limit.rlim_cur;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// Loads the seccomp filter. A program with AddressSanitizer has none: the sanitizer uses other
// calls for its reports.
static bool load_seccomp_filter(void)
{
#if defined(SANITIZED)
	return true;
#else
	struct sock_fprog program = {
		.len = (unsigned short)(relay_program_size / sizeof(struct sock_filter)),
		.filter = (struct sock_filter *)(void *)relay_program,
	};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
#endif
}

bool dns_confine_calls(unsigned int descriptors)
{
	return limit_descriptors(descriptors) && drop_capabilities() &&
	       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0 &&
	       load_seccomp_filter();
}
