// SPDX-License-Identifier: MIT
// Limits the box's share of kernel objects that the kernel counts for each user.
//
// Theory of operation: all programs of a user share one number of inotify instances, often 128. A
// box that takes all of them breaks editors and desktop programs of the host. The kernel charges an
// instance to the user in each user namespace from that of the process up to the initial one, and
// each of them has limits of its own in /proc/sys/user. All processes of the box are in the outer
// user namespace of bwrap or below it, and none has a capability there, so a limit of that
// namespace is one for the box.
#include "box/host_share.h"

#include "sys/read.h"
#include "sys/write.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum { INSTANCES_MIN = 64 }; // enough for Claude, an editor's language servers and a bundler

// Returns the lower one of two limits: the machine's, and that of a user namespace in which
// claudebox itself was started.
static unsigned long read_limit(const char *machine, const char *own)
{
	const char *const names[] = { machine, own };
	unsigned long limit = 0;

	for (int i = 0; i < 2; i++) {
		char text[32];
		unsigned long value = read_kernel_file(AT_FDCWD, names[i], text, sizeof(text)) > 0
					      ? strtoul(text, NULL, 10)
					      : 0;

		if (value && (!limit || value < limit))
			limit = value;
	}
	return limit;
}

struct host_share host_share_read(void)
{
	unsigned long instances = read_limit("/proc/sys/fs/inotify/max_user_instances",
					     "/proc/sys/user/max_inotify_instances");
	unsigned long watches = read_limit("/proc/sys/fs/inotify/max_user_watches",
					   "/proc/sys/user/max_inotify_watches");
	unsigned long half = instances / 2;

	// A large project needs many watches, so three quarters of them.
	return (struct host_share){ .instances = half < INSTANCES_MIN ? INSTANCES_MIN : half,
				    .watches = watches - watches / 4 };
}

static void write_limit(const char *name, unsigned long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", value);
	if (value)
		write_kernel_file(AT_FDCWD, name, text);
}

void host_share_apply(const struct host_share *share)
{
	write_limit("/proc/sys/user/max_inotify_instances", share->instances);
	write_limit("/proc/sys/user/max_inotify_watches", share->watches);
}
