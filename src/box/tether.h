// SPDX-License-Identifier: MIT
// Makes the kernel kill bwrap's child if claudebox is killed while the child waits for bwrap.
#pragma once

#include <sys/types.h>

// Traced processes; 0: none.
struct tether {
	pid_t bwrap;
	pid_t child;
};

// Attaches to bwrap, which waits for its options. Does nothing without the permission to trace. The
// caller has blocked SIGCHLD, and keeps it blocked until tether_release().
void tether_attach(struct tether *tether, pid_t bwrap);
// Waits until bwrap has created its child, attaches to the child, and detaches from bwrap. Returns
// without a child if `control_fd` becomes readable: then init runs already.
void tether_child(struct tether *tether, int control_fd);
// Detaches from the child. Reaps it if it has ended: bwrap does not notice its end before.
void tether_release(struct tether *tether);
