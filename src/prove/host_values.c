// SPDX-License-Identifier: MIT
// Names, numbers and devices of the host that the box must not learn.
#include "prove/host_values.h"

#include "base/arena.h"
#include "base/text.h"
#include "config/options/table.h"
#include "plan/plan.h"
#include "prove/canaries.h"
#include "prove/protocol.h"
#include "prove/prove.h"
#include "sys/cleanup.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

enum { VALUE_LIMIT = 4096 };

// Adds a value, unless it is empty or does not fit the protocol.
static void add_value(struct prove *prove, enum canary_kind kind, const char *value)
{
	if (value && *value && !strpbrk(value, "\t\n"))
		prove_add(prove, (struct canary){ .kind = kind, .value = value });
}

static const char *read_first_line(struct arena *arena, const char *path)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char line[VALUE_LIMIT] = "";

	if (fd < 0 || read(fd, line, sizeof(line) - 1) < 0)
		return NULL;
	return arena_strndup(arena, line, strcspn(line, "\n"));
}

// Returns the name of a user who is in no box, or NULL.
static const char *find_other_user(struct arena *arena)
{
	CLEANUP_FILE FILE *file = fopen("/etc/passwd", "re");
	const char *found = NULL;
	const struct passwd *account;

	while (file && !found && (account = fgetpwent(file))) {
		// Every box has root and the user nobody.
		if (account->pw_uid != getuid() && account->pw_uid != 0 &&
		    !str_equal(account->pw_name, "nobody"))
			found = arena_strdup(arena, account->pw_name);
	}
	return found;
}

// Returns whether a mount of the box comes from this device, "8:1" as in mountinfo.
static bool is_mounted_in_box(struct arena *arena, const struct plan *plan, const char *device)
{
	vec_each(mount, &plan->mounts) {
		if (mount->id.inode &&
		    str_equal(device, arena_printf(arena, "%u:%u", major(mount->id.device),
						   minor(mount->id.device))))
			return true;
	}
	return false;
}

// Returns a device that is mounted on the host and that no mount of the box comes from, or NULL.
// The kernel shows the sources of the box's own mounts in mountinfo.
static const char *find_other_device(struct arena *arena, const struct plan *plan)
{
	CLEANUP_FILE FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[VALUE_LIMIT];

	while (file && fgets(line, sizeof(line), file)) {
		char device[VALUE_LIMIT];
		char source[VALUE_LIMIT];
		const char *rest = strstr(line, " - ");

		if (rest && sscanf(line, "%*s %*s %4095s", device) == 1 &&
		    sscanf(rest, " - %*s %4095s", source) == 1 && *source == '/' &&
		    !is_mounted_in_box(arena, plan, device))
			return arena_strdup(arena, source);
	}
	return NULL;
}

// Returns the hardware address of an interface, or NULL.
static const char *find_hardware_address(struct arena *arena)
{
	const char *found = NULL;
	struct ifaddrs *all = NULL;

	if (getifaddrs(&all) < 0)
		return NULL;
	for (struct ifaddrs *one = all; one && !found; one = one->ifa_next) {
		struct sockaddr_ll link;

		if (!one->ifa_addr || one->ifa_addr->sa_family != AF_PACKET ||
		    (one->ifa_flags & IFF_LOOPBACK))
			continue;
		memcpy(&link, one->ifa_addr, sizeof(link));
		if (link.sll_halen == ETH_ALEN)
			found = arena_printf(arena, "%02x:%02x:%02x:%02x:%02x:%02x",
					     link.sll_addr[0], link.sll_addr[1], link.sll_addr[2],
					     link.sll_addr[3], link.sll_addr[4], link.sll_addr[5]);
	}
	freeifaddrs(all);
	return found;
}

void prove_add_host_values(struct prove *prove, const struct plan *plan)
{
	CLEANUP_FD int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	char name[HOST_NAME_MAX + 1] = "";
	unsigned int device;

	gethostname(name, sizeof(name) - 1);
	add_value(prove, CANARY_TIER, network_tier_names[plan->config->network]);
	add_value(prove, CANARY_HOME, plan->home);
	add_value(prove, CANARY_PROJECT, plan->project);
	add_value(prove, CANARY_TERMINAL,
		  terminal >= 0 && ioctl(terminal, TIOCGDEV, &device) == 0
			  ? arena_printf(prove->arena, "%u", device)
			  : "no");
	add_value(prove, CANARY_HOSTNAME, arena_strdup(prove->arena, name));
	add_value(prove, CANARY_MACHINE, read_first_line(prove->arena, "/etc/machine-id"));
	add_value(prove, CANARY_BOOT,
		  read_first_line(prove->arena, "/proc/sys/kernel/random/boot_id"));
	add_value(prove, CANARY_USER, find_other_user(prove->arena));
	add_value(prove, CANARY_HARDWARE, find_hardware_address(prove->arena));
	add_value(prove, CANARY_MOUNT_SOURCE, find_other_device(prove->arena, plan));
}
