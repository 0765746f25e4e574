// SPDX-License-Identifier: MIT
// Attacks on files of the kernel: settings, /sys, cgroups, devices, logs.
#include "freestanding/syscall.h"
#include "prove/attack/attacks.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <linux/fcntl.h>

enum { LOG_READ_ALL = 3 };

enum verdict try_KERNEL_LOG(void)
{
	static const char *const paths[] = { "/dev/kmsg", "/proc/kmsg", "/sys/fs/pstore/.",
					     "/var/log/dmesg", "/var/log/kern.log" };
	static char text[4096];

	if (call(__NR_syslog, LOG_READ_ALL, text, sizeof(text), 0) >= 0)
		return leaked("syslog(2) reads it");
	return open_any(paths, ARRAY_SIZE(paths), O_RDONLY);
}

// Opens the settings for writing, and writes nothing.
enum verdict try_KERNEL_SETTINGS(void)
{
	static const char *const paths[] = {
		"/proc/sys/kernel/dmesg_restrict",
		"/proc/sys/kernel/kptr_restrict",
		"/proc/sys/kernel/randomize_va_space",
		"/proc/sys/kernel/sysrq",
		"/proc/sys/kernel/unprivileged_bpf_disabled",
		"/proc/sys/kernel/yama/ptrace_scope",
		"/proc/sys/kernel/hostname",
		"/proc/sys/vm/overcommit_memory",
		"/proc/sys/vm/drop_caches",
		"/proc/sys/vm/mmap_min_addr",
		"/proc/sys/fs/suid_dumpable",
		"/proc/sys/fs/protected_hardlinks",
		"/proc/sys/dev/tty/legacy_tiocsti",
		"/proc/sys/net/ipv4/ip_forward",
		"/proc/sys/net/ipv6/conf/all/forwarding",
		"/proc/sys/user/max_user_namespaces",
	};

	return open_any(paths, ARRAY_SIZE(paths), O_WRONLY);
}

enum verdict try_KERNEL_CORE_PATTERN(void)
{
	static const char *const paths[] = {
		"/proc/sys/kernel/core_pattern",
		"/proc/sys/kernel/modprobe",
		"/proc/sys/kernel/hotplug",
		"/proc/sys/fs/binfmt_misc/register",
		"/proc/sys/kernel/usermodehelper/bset",
		"/sys/kernel/uevent_helper",
	};

	return open_any(paths, ARRAY_SIZE(paths), O_WRONLY);
}

enum verdict try_KERNEL_SYSRQ(void)
{
	static const char *const paths[] = { "/proc/sysrq-trigger" };

	return open_any(paths, ARRAY_SIZE(paths), O_WRONLY);
}

enum verdict try_KERNEL_SYS(void)
{
	static const char *const read[] = {
		"/sys/kernel/debug/.", "/sys/kernel/tracing/.",
		"/sys/fs/bpf/.",       "/sys/firmware/efi/vars/.",
		"/sys/kernel/notes",   "/sys/firmware/acpi/tables/DSDT",
	};
	static const char *const write[] = {
		"/sys/power/state",
		"/sys/kernel/mm/ksm/run",
		"/sys/kernel/mm/transparent_hugepage/enabled",
		"/sys/module/kernel/parameters/panic",
		"/sys/class/net/lo/mtu",
		"/sys/bus/pci/rescan",
	};
	enum verdict verdict = open_any(write, ARRAY_SIZE(write), O_WRONLY);

	return verdict == VERDICT_LEAKED ? verdict : open_any(read, ARRAY_SIZE(read), O_RDONLY);
}

enum verdict try_KERNEL_CGROUP(void)
{
	static const char *const paths[] = {
		"/sys/fs/cgroup/cgroup.procs",
		"/sys/fs/cgroup/release_agent",
		"/sys/fs/cgroup/unified/cgroup.procs",
		"/sys/fs/cgroup/pids/cgroup.procs",
		"/sys/fs/cgroup/pids/release_agent",
		"/sys/fs/cgroup/memory/cgroup.procs",
		"/sys/fs/cgroup/memory/release_agent",
		"/sys/fs/cgroup/devices/cgroup.procs",
		"/sys/fs/cgroup/systemd/release_agent",
		"/sys/fs/cgroup/user.slice/user-%d.slice/cgroup.procs",
		"/sys/fs/cgroup/user.slice/user-%d.slice/user@%d.service/cgroup.procs",
	};

	return open_any(paths, ARRAY_SIZE(paths), O_WRONLY);
}

enum verdict try_KERNEL_DEVICES(void)
{
	static const char *const paths[] = {
		"/dev/kvm",         "/dev/net/tun",         "/dev/fuse",
		"/dev/cuse",        "/dev/loop-control",    "/dev/vhost-net",
		"/dev/vhost-vsock", "/dev/vsock",           "/dev/vfio/vfio",
		"/dev/ppp",         "/dev/rfkill",          "/dev/tpm0",
		"/dev/tpmrm0",      "/dev/nvram",           "/dev/cpu/0/msr",
		"/dev/watchdog",    "/dev/btrfs-control",   "/dev/autofs",
		"/dev/binder",      "/dev/udmabuf",         "/dev/sgx_enclave",
		"/dev/sev-guest",   "/dev/bus/usb/001/001", "/dev/nvidiactl",
	};

	return open_any(paths, ARRAY_SIZE(paths), O_RDWR);
}

enum verdict try_MOUNTS_DISKS(void)
{
	static const char *const paths[] = {
		"/dev/sda",  "/dev/sda1", "/dev/sdb",   "/dev/nvme0n1", "/dev/nvme0",
		"/dev/vda",  "/dev/vda1", "/dev/vdb",   "/dev/xvda",    "/dev/mmcblk0",
		"/dev/dm-0", "/dev/md0",  "/dev/loop0", "/dev/nbd0",    "/dev/mapper/control",
		"/dev/sr0",  "/dev/sg0",  "/dev/zram0", "/dev/root",    "/dev/bsg/0:0:0:0",
	};

	return open_any(paths, ARRAY_SIZE(paths), O_RDONLY);
}

enum verdict try_IDENTITY_HARDWARE(void)
{
	static const char *const paths[] = {
		"/sys/class/dmi/id/product_uuid",  "/sys/class/dmi/id/product_serial",
		"/sys/class/dmi/id/board_serial",  "/sys/class/dmi/id/chassis_serial",
		"/sys/class/dmi/id/product_name",  "/sys/class/dmi/id/sys_vendor",
		"/sys/firmware/dmi/tables/DMI",    "/sys/hypervisor/uuid",
		"/proc/device-tree/serial-number", "/sys/firmware/devicetree/base/serial-number",
		"/sys/block/sda/device/serial",    "/sys/block/nvme0n1/device/serial",
		"/sys/class/net/eth0/address",     "/dev/disk/by-id/.",
	};

	return open_any(paths, ARRAY_SIZE(paths), O_RDONLY);
}

enum verdict try_IDENTITY_LOGS(void)
{
	static const char *const paths[] = {
		"/run/utmp",
		"/var/run/utmp",
		"/var/log/wtmp",
		"/var/log/btmp",
		"/var/log/lastlog",
		"/var/log/syslog",
		"/var/log/auth.log",
		"/var/log/messages",
		"/var/log/journal/.",
		"/run/log/journal/.",
		"/var/lib/systemd/coredump/.",
		"/var/mail/.",
		"/var/spool/cron/.",
		"/var/lib/dpkg/status",
	};

	return open_any(paths, ARRAY_SIZE(paths), O_RDONLY);
}
