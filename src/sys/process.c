// SPDX-License-Identifier: MIT
// Waits for processes, kills them, opens their namespaces, and releases memory of this one.
#include "sys/process.h"

#include "base/error.h"
#include "sys/cleanup.h"
#include "sys/read.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int process_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

int process_wait(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return status;
}

int process_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	return process_wait(pid);
}

int process_wait_or_kill(pid_t pid, int timeout_ms)
{
	CLEANUP_FD int process = process_open(pid);

	if (process < 0 || !wait_readable(process, timeout_ms))
		return process_kill(pid);
	return process_wait(pid);
}

int process_exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void process_end_with_parent(pid_t parent, int signal_number)
{
	prctl(PR_SET_PDEATHSIG, signal_number);
	// The parent may have ended before prctl(2).
	if (getppid() != parent)
		_exit(EXIT_NOT_STARTED);
}

// Releases the parts of an object that are not writable, whose pages are those of its file.
static int release_object(struct dl_phdr_info *object, size_t size, void *data)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	(void)size;
	(void)data;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + part->p_vaddr;
		uintptr_t end = (start + part->p_memsz) & ~(page - 1); // a shared last page stays

		start &= ~(page - 1);
		if (part->p_type == PT_LOAD && !(part->p_flags & PF_W) && end > start)
			// NOLINTNEXTLINE(performance-no-int-to-ptr): the headers have numbers
			madvise((void *)start, end - start, MADV_DONTNEED);
	}
	return 0;
}

void process_release_code(void)
{
	dl_iterate_phdr(release_object, NULL);
}

int process_open_namespace(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}
