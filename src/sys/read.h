// SPDX-License-Identifier: MIT
// Reads from descriptors with a timeout, and reads small files of the kernel.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Waits until `fd` is readable or at its end. Returns false when the timeout expires or poll(2)
// fails. A signal does not end the wait.
bool wait_readable(int fd, int timeout_ms);

// Reads until the end of `fd`, until the buffer is full, or until the timeout expires. Returns the
// number of bytes read; *ret_complete is whether the end was reached.
size_t read_until_end(int fd, char *buffer, size_t size, int timeout_ms, bool *ret_complete);

// Reads the beginning of a file of /proc, /sys or a cgroup, whose size is reported as 0, and adds a
// NUL. `name` is relative to `directory` (AT_FDCWD: the working directory) or absolute. Returns the
// number of bytes, -1 with errno.
ssize_t read_kernel_file(int directory, const char *name, char *text, size_t size);
