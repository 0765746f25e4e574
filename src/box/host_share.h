// SPDX-License-Identifier: MIT
// Limits the box's share of kernel objects that the kernel counts for each user.
#pragma once

// The highest numbers that the box may use; 0 if unknown.
struct host_share {
	unsigned long instances; // of inotify
	unsigned long watches;
};

// Reads the user's limits and returns the box's share of them.
struct host_share host_share_read(void);

// Sets the limits of the user namespace of the calling process, which needs CAP_SYS_RESOURCE there.
// A failure is ignored: in a container /proc/sys can be read-only.
void host_share_apply(const struct host_share *share);
