// SPDX-License-Identifier: MIT
// The rows of the seccomp filter.
//
// The error is EPERM where the kernel itself could return it to an ordinary user, and ENOSYS where
// programs then fall back to an older call.
//
// Allowed on purpose:
// - ptrace, process_vm_*, kcmp and pidfd_getfd, for debuggers. Every process of the box has the
//   same seccomp filter, so there is no less restricted process to use, and process 1 is not
//   dumpable.
// - seccomp and Landlock, with which a program restricts itself further.
// - System V and POSIX queues and memory: the box has its own IPC namespace. Calls that no kernel
//   since 5.10 has need no row.
// - chmod with S_ISGID for modes that git sets on the directories of a shared repository: a seccomp
//   filter cannot distinguish them from files.
// - inotify, whose events also report how the host uses files that the box sees: common file
//   watchers ask for these events (IN_OPEN) and fail without them.
// - cachestat, statmount, listmount, the futex and xattr calls, mseal, file_getattr and
//   file_setattr: the kernel limits them as it limits their older relatives.
#include "seccomp/rules.h"

#include "base/arena.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fscrypt.h>
#include <linux/ioprio.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

// clone has the exit signal in the bits that other calls use for CLONE_NEWTIME.
#define CLONE_NAMESPACES                                                               \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET)
#define NAMESPACES (CLONE_NAMESPACES | 0x80 /* CLONE_NEWTIME */)

// gdb and setarch disable address randomisation; the other two change the output of uname.
#define HARMLESS_PERSONALITY (ADDR_NO_RANDOMIZE | 0x0020000 /* UNAME26 */ | PER_LINUX32)

#define FAMILIES (1U << AF_UNIX | 1U << AF_INET | 1U << AF_INET6 | 1U << AF_NETLINK)

// Calls that create a file use the mode only with one of these flags. O_TMPFILE contains
// O_DIRECTORY, whose value depends on the machine.
#define CREATES (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))
#define SET_ID  (S_ISUID | S_ISGID)

// Set-group-ID modes that every user may execute. git sets the bit on directories that the group
// may write to. Without execution by others, the bit gives no right to a process that does not have
// it.
#define SET_GROUP_ID MODE(S_ISGID | S_IXOTH, S_IWGRP)

// The requests with the type of btrfs, except FICLONE, FICLONERANGE and FIDEDUPERANGE, which other
// file systems have too.
#define BTRFS_REQUESTS IOCTL_TYPE(0x94, 9, 13, 54)

#define SET_DELEGATION (F_SETLEASE + 16) // F_SETDELEG of Linux 6.19

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
// The following rows do not apply in a nested box.
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
#define OUTER_REFUSE_NEW_IF(name, number, why, ...) \
	{                                           \
		name, number, EPERM, true, why,     \
		{                                   \
			__VA_ARGS__                 \
		}                                   \
	}

static const char terminal[] = "inserts input into, or changes, the user's terminal";
static const char keyring[] =
	"kernel keyrings ignore namespaces: the host's keys are accessible by number";
static const char ring[] = "performs the work of other calls without passing this seccomp filter";
static const char watcher[] = "inspects the kernel, with a history of privilege escalations";
static const char loader[] = "loads another kernel or code into the kernel";
static const char machine[] = "affects the whole machine";
static const char the_clock[] = "sets the machine's clock";
static const char handle[] = "opens files by handle, independent of mounts";
static const char legacy[] = "is obsolete, no current program uses it";
static const char family[] = "other families ignore network namespaces, or load kernel modules";
static const char first[] = "slows down process 1, which ends the box";
static const char set_id[] = "a set-id file gives the user's rights to every user of the host";
static const char lease[] = "makes host programs wait that open the file";
static const char fscrypt[] = "locks encrypted files of the user, also outside the box";
static const char space[] = "creates or enters a namespace, which exposes more of the kernel";
static const char mounts[] = "changes the mounts";

const struct seccomp_rule seccomp_rules[] = {
	REFUSE_IF("ioctl", terminal, { TEST_EQUALS, 1, TIOCSTI }),
	REFUSE_IF("ioctl", terminal, { TEST_EQUALS, 1, TIOCLINUX }),
	REFUSE_IF("ioctl", "loads line disciplines", { TEST_EQUALS, 1, TIOCSETD }),
	REFUSE_IF("ioctl", "redirects the output of the console", { TEST_EQUALS, 1, TIOCCONS }),
	REFUSE("vhangup", terminal),

	REFUSE_IF("ioctl", "snapshots and subvolumes outlive the box and cover other files",
		  { TEST_IOCTL_TYPE, 1, BTRFS_REQUESTS }),
	REFUSE_IF("ioctl", fscrypt, { TEST_EQUALS, 1, (uint32_t)FS_IOC_ADD_ENCRYPTION_KEY }),
	REFUSE_IF("ioctl", fscrypt, { TEST_EQUALS, 1, (uint32_t)FS_IOC_REMOVE_ENCRYPTION_KEY }),
	REFUSE_IF("ioctl", fscrypt,
		  { TEST_EQUALS, 1, (uint32_t)FS_IOC_REMOVE_ENCRYPTION_KEY_ALL_USERS }),
	REFUSE_IF("fcntl", lease, { TEST_EQUALS, 1, F_SETLEASE }),
	REFUSE_IF("fcntl", lease, { TEST_EQUALS, 1, SET_DELEGATION }),

	// A process group or all processes of the user can include process 1.
	REFUSE_IF("sched_setscheduler", first, { TEST_EQUALS, 0, 1 }),
	REFUSE_IF("sched_setparam", first, { TEST_EQUALS, 0, 1 }),
	REFUSE_IF("sched_setattr", first, { TEST_EQUALS, 0, 1 }),
	REFUSE_IF("sched_setaffinity", first, { TEST_EQUALS, 0, 1 }),
	REFUSE_IF("prlimit64", first, { TEST_EQUALS, 0, 1 }),
	REFUSE_IF("setpriority", first, { TEST_EQUALS, 0, PRIO_PROCESS }, { TEST_EQUALS, 1, 1 }),
	REFUSE_IF("setpriority", first, { TEST_EQUALS, 0, PRIO_PGRP }),
	REFUSE_IF("setpriority", first, { TEST_EQUALS, 0, PRIO_USER }),
	REFUSE_IF("ioprio_set", first, { TEST_EQUALS, 0, IOPRIO_WHO_PROCESS },
		  { TEST_EQUALS, 1, 1 }),
	REFUSE_IF("ioprio_set", first, { TEST_EQUALS, 0, IOPRIO_WHO_PGRP }),
	REFUSE_IF("ioprio_set", first, { TEST_EQUALS, 0, IOPRIO_WHO_USER }),

	// Container runtimes continue without a keyring only if the call does not exist.
	ABSENT("add_key", keyring),
	ABSENT("keyctl", keyring),
	ABSENT("request_key", keyring),

	ABSENT("io_uring_setup", ring),
	ABSENT("io_uring_enter", ring),
	ABSENT("io_uring_register", ring),

	REFUSE("bpf", watcher),
	REFUSE("perf_event_open", watcher),
	REFUSE("userfaultfd", "stops the kernel at a page fault, which helps to exploit races"),
	REFUSE("fanotify_init",
	       "watches a whole file system, of which the box may have only a part"),
	REFUSE("fanotify_mark",
	       "watches a whole file system, of which the box may have only a part"),
	REFUSE("syslog", "reads the kernel log"),

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
	REFUSE_IF("socket", "other netlink protocols than routes and addresses affect the machine",
		  { TEST_EQUALS, 0, AF_NETLINK }, { TEST_OTHER, 2, 1U << NETLINK_ROUTE }),
	REFUSE_IF("socketpair", family, { TEST_OTHER, 0, FAMILIES }),

	// Images of containers have set-id files, so a nested box needs these calls.
	OUTER_REFUSE_IF("chmod", set_id, { TEST_ANY_BIT, 1, S_ISUID }),
	OUTER_REFUSE_IF("fchmod", set_id, { TEST_ANY_BIT, 1, S_ISUID }),
	OUTER_REFUSE_IF("fchmodat", set_id, { TEST_ANY_BIT, 2, S_ISUID }),
	OUTER_REFUSE_NEW_IF("fchmodat2", 452, set_id, { TEST_ANY_BIT, 2, S_ISUID }),
	OUTER_REFUSE_IF("chmod", set_id, { TEST_MODE, 1, SET_GROUP_ID }),
	OUTER_REFUSE_IF("fchmod", set_id, { TEST_MODE, 1, SET_GROUP_ID }),
	OUTER_REFUSE_IF("fchmodat", set_id, { TEST_MODE, 2, SET_GROUP_ID }),
	OUTER_REFUSE_NEW_IF("fchmodat2", 452, set_id, { TEST_MODE, 2, SET_GROUP_ID }),
	OUTER_REFUSE_IF("open", set_id, { TEST_ANY_BIT, 1, CREATES }, { TEST_ANY_BIT, 2, SET_ID }),
	OUTER_REFUSE_IF("openat", set_id, { TEST_ANY_BIT, 2, CREATES },
			{ TEST_ANY_BIT, 3, SET_ID }),
	OUTER_REFUSE_IF("creat", set_id, { TEST_ANY_BIT, 1, SET_ID }),
	OUTER_REFUSE_IF("mkdir", set_id, { TEST_ANY_BIT, 1, S_ISUID }),
	OUTER_REFUSE_IF("mkdirat", set_id, { TEST_ANY_BIT, 2, S_ISUID }),
	OUTER_REFUSE_IF("mknod", set_id, { TEST_ANY_BIT, 1, SET_ID }),
	OUTER_REFUSE_IF("mknodat", set_id, { TEST_ANY_BIT, 2, SET_ID }),
	// Its mode is in memory, as that of clone3. Programs then use openat.
	OUTER_ABSENT("openat2", 0, set_id),

	OUTER_REFUSE_IF("unshare", space, { TEST_ANY_BIT, 0, NAMESPACES }),
	OUTER_REFUSE_IF("clone", space, { TEST_ANY_BIT, 0, CLONE_NAMESPACES }),
	// Its flags are in memory, which no seccomp filter can read. C libraries then use clone.
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
const struct newest_call seccomp_newest = { "file_setattr", 469, "6.17" };
const size_t seccomp_rule_count = ARRAY_SIZE(seccomp_rules);
