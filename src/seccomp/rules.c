// SPDX-License-Identifier: MIT
// The rows of the filter.
//
// EPERM where the kernel itself might say so to an ordinary user; ENOSYS where programs then take an older way.
//
// Left open on purpose: ptrace, process_vm_*, kcmp and pidfd_getfd, for debuggers: every process of the box has the same
// filter, so there is no less confined one to borrow from, and process 1 may not be looked into. seccomp and Landlock,
// with which a program confines itself further. System V and POSIX queues and memory: the box has a namespace of its
// own. Calls that no kernel since 5.10 has need no row.
#include "seccomp/rules.h"

#include "base/arena.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <sys/personality.h>
#include <sys/socket.h>

// clone keeps the signal of its end in the bits where CLONE_NEWTIME is for the others.
#define NAMESPACES_OF_CLONE                                                            \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET)
#define NAMESPACES (NAMESPACES_OF_CLONE | 0x80 /* CLONE_NEWTIME */)

// gdb and setarch turn randomisation off; uname may say another release or machine.
#define HARMLESS_PERSONALITY (ADDR_NO_RANDOMIZE | 0x0020000 /* UNAME26 */ | PER_LINUX32)

#define FAMILIES (1U << AF_UNIX | 1U << AF_INET | 1U << AF_INET6 | 1U << AF_NETLINK)

#define REFUSE(name, why)                   \
	{                                   \
		name, 0, EPERM, false, why, \
		{                           \
			{                   \
				0           \
			}                   \
		}                           \
	}
#define ABSENT(name, why)                    \
	{                                    \
		name, 0, ENOSYS, false, why, \
		{                            \
			{                    \
				0            \
			}                    \
		}                            \
	}
#define REFUSE_IF(name, why, ...)           \
	{                                   \
		name, 0, EPERM, false, why, \
		{                           \
			__VA_ARGS__         \
		}                           \
	}
// A nested box has these.
#define OUTER_REFUSE(name, why)            \
	{                                  \
		name, 0, EPERM, true, why, \
		{                          \
			{                  \
				0          \
			}                  \
		}                          \
	}
#define OUTER_ABSENT(name, number, why)          \
	{                                        \
		name, number, ENOSYS, true, why, \
		{                                \
			{                        \
				0                \
			}                        \
		}                                \
	}
#define OUTER_REFUSE_IF(name, why, ...)    \
	{                                  \
		name, 0, EPERM, true, why, \
		{                          \
			__VA_ARGS__        \
		}                          \
	}

static const char terminal[] = "types into, or changes, the terminal that the user goes on using";
static const char keyring[] =
	"kernel keyrings cross all namespaces: the host's keys by their number";
static const char ring[] = "does what other calls do, past this filter";
static const char watcher[] = "looks into the kernel, and has often been a way into it";
static const char loader[] = "puts another kernel, or code, in the place of this one";
static const char machine[] = "is about the whole machine";
static const char the_clock[] = "sets the machine's clock";
static const char handle[] = "opens files by number, past every mount";
static const char legacy[] = "is used by nothing of today";
static const char family[] =
	"other families are not confined by network namespaces, or load modules";
static const char space[] = "makes or enters a namespace, where more of the kernel is within reach";
static const char mounts[] = "changes what is mounted";

const struct filter_rule filter_rules[] = {
	REFUSE_IF("ioctl", terminal, { TEST_EQUALS, 1, TIOCSTI }),
	REFUSE_IF("ioctl", terminal, { TEST_EQUALS, 1, TIOCLINUX }),
	REFUSE_IF("ioctl", "loads line disciplines", { TEST_EQUALS, 1, TIOCSETD }),
	REFUSE("vhangup", terminal),

	// Container runtimes go on without a keyring only when there is no such call.
	ABSENT("add_key", keyring),
	ABSENT("keyctl", keyring),
	ABSENT("request_key", keyring),

	ABSENT("io_uring_setup", ring),
	ABSENT("io_uring_enter", ring),
	ABSENT("io_uring_register", ring),

	REFUSE("bpf", watcher),
	REFUSE("perf_event_open", watcher),
	REFUSE("userfaultfd", "halts the kernel in the middle of its work"),
	REFUSE("fanotify_init", "watches file systems, also where the box has only a part of one"),
	REFUSE("fanotify_mark", "watches file systems, also where the box has only a part of one"),
	REFUSE("syslog", "reads the kernel's messages"),

	REFUSE("kexec_load", loader),
	REFUSE("kexec_file_load", loader),
	REFUSE("init_module", loader),
	REFUSE("finit_module", loader),
	REFUSE("delete_module", loader),

	REFUSE("reboot", machine),
	REFUSE("swapon", machine),
	REFUSE("swapoff", machine),
	REFUSE("acct", machine),
	REFUSE("quotactl", machine),
	REFUSE("quotactl_fd", machine),
	REFUSE("ioperm", machine),
	REFUSE("iopl", machine),
	REFUSE("move_pages", machine),
	REFUSE("migrate_pages", machine),
	REFUSE("settimeofday", the_clock),
	REFUSE("clock_settime", the_clock),
	REFUSE("clock_adjtime", the_clock),
	REFUSE("adjtimex", the_clock),

	REFUSE("open_by_handle_at", handle),
	OUTER_REFUSE("name_to_handle_at", handle),

	ABSENT("lookup_dcookie", legacy),
	ABSENT("uselib", legacy),
	ABSENT("sysfs", legacy),
	ABSENT("ustat", legacy),
	ABSENT("modify_ldt", legacy),
	REFUSE_IF("personality", "weakens memory protection",
		  { TEST_BITS_NO_QUERY, 0, ~(uint32_t)HARMLESS_PERSONALITY }),

	REFUSE_IF("socket", family, { TEST_OTHER, 0, FAMILIES }),
	REFUSE_IF("socket", "only routes and addresses: the rest is the machine's",
		  { TEST_EQUALS, 0, AF_NETLINK }, { TEST_OTHER, 2, 1U << NETLINK_ROUTE }),
	REFUSE_IF("socketpair", family, { TEST_OTHER, 0, FAMILIES }),

	OUTER_REFUSE_IF("unshare", space, { TEST_ANY_BIT, 0, NAMESPACES }),
	OUTER_REFUSE_IF("clone", space, { TEST_ANY_BIT, 0, NAMESPACES_OF_CLONE }),
	// Its flags are in memory, where no filter can look. C libraries and runtimes then use clone.
	OUTER_ABSENT("clone3", 0, space),
	OUTER_REFUSE("setns", space),
	OUTER_REFUSE("sethostname", space),
	OUTER_REFUSE("setdomainname", space),

	OUTER_REFUSE("mount", mounts),
	OUTER_REFUSE("umount2", mounts),
	OUTER_REFUSE("pivot_root", mounts),
	OUTER_REFUSE("chroot", mounts),
	OUTER_ABSENT("move_mount", 0, mounts),
	OUTER_ABSENT("open_tree", 0, mounts),
	OUTER_ABSENT("open_tree_attr", 467, mounts),
	OUTER_ABSENT("fsopen", 0, mounts),
	OUTER_ABSENT("fsconfig", 0, mounts),
	OUTER_ABSENT("fsmount", 0, mounts),
	OUTER_ABSENT("fspick", 0, mounts),
	OUTER_ABSENT("mount_setattr", 0, mounts),
};
const size_t filter_rule_count = ARRAY_SIZE(filter_rules);
