// SPDX-License-Identifier: MIT
// Stops all processes of the box, keeps them stopped, and continues them.
//
// Theory of operation: kill(-1, SIGSTOP) reaches every process of the PID namespace except init,
// also one that is being created. But a process that still runs for a moment can continue another
// one. So SIGSTOP is repeated until two scans of /proc find every thread stopped, with the same
// number of context switches: then no thread ran between the scans, and no process is left that
// could continue another. A timer of the kernel still can (timer_create with SIGCONT), so the check
// is repeated while the box is stopped, and a process that goes on running is killed.
#include "init/stop.h"

#include "freestanding/process.h"
#include "freestanding/syscall.h"
#include "freestanding/text.h"

#include <linux/fcntl.h>
#include <linux/signal.h>
#include <linux/time_types.h>
#include <stddef.h>

enum {
	KILL_AFTER_MS = 2000, // a process that still runs is killed
	GIVE_UP_AFTER_MS = 4000,
	MAX_VIOLATIONS = 3,
	MAX_PROCESSES = 16384,
	PAUSE_NS = 500000,
};

// A directory of /proc.
struct directory {
	long fd;
	long at, length;
	_Alignas(8) char entries[4096];
};

struct entry { // as getdents64(2) writes it
	unsigned long long inode;
	long long offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

struct scan {
	bool complete;     // /proc could be read
	long running;      // threads that are not stopped
	unsigned long sum; // of thread ids and their context switches
};

static struct directory processes;
static struct directory threads;

// Adds a number to a path, and then a text.
static void path_add(char **end, long number, const char *text)
{
	char digits[20];
	int count = 0;

	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (count)
		*(*end)++ = digits[--count];
	while (*text)
		*(*end)++ = *text++;
	**end = '\0';
}

static bool directory_open(struct directory *directory, long parent, const char *path)
{
	directory->fd =
		call(__NR_openat, parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, 0);
	directory->at = directory->length = 0;
	return directory->fd >= 0;
}

// Returns the next entry whose name is a number; closes the directory and returns 0 at its end.
static long directory_next(struct directory *directory)
{
	for (;;) {
		const struct entry *entry;

		if (directory->at >= directory->length) {
			directory->at = 0;
			directory->length = call(__NR_getdents64, directory->fd, directory->entries,
						 sizeof(directory->entries), 0);
			if (directory->length <= 0) {
				call(__NR_close, directory->fd, 0, 0, 0);
				return 0;
			}
		}
		entry = (const struct entry *)(directory->entries + directory->at);
		directory->at += entry->size;
		if (entry->name[0] > '0' && entry->name[0] <= '9')
			return text_number(entry->name);
	}
}

// Reads a file of /proc. Returns its length; 0 if the process has ended.
static size_t read_file(long parent, const char *path, char *text, size_t size)
{
	long fd = call(__NR_openat, parent, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
	long got;

	if (fd < 0)
		return 0;
	got = call(__NR_read, fd, text, size - 1, 0);
	call(__NR_close, fd, 0, 0, 0);
	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t)got : 0;
}

// Returns the number after a name in the text of a status file.
static unsigned long find_count(const char *text, size_t length, const char *name)
{
	const char *found = text_find(text, length, name);

	return found ? (unsigned long)text_number(found + text_length(name)) : 0;
}

// Returns whether a thread with this state executes no instruction: it is stopped, has ended, or
// waits in the kernel, and stops before it returns from there.
static bool is_stopped(char state)
{
	return state == 'T' || state == 't' || state == 'Z' || state == 'X' || state == 'D';
}

static void scan_thread(long thread, struct scan *scan, bool *ret_runs)
{
	static char text[4096];
	char path[48];
	char *end = path;
	const char *state;
	unsigned long switches;
	size_t length;

	path_add(&end, thread, "/status");
	length = read_file(threads.fd, path, text, sizeof(text));
	state = text_find(text, length, "\nState:\t");
	if (!state)
		return;
	if (!is_stopped(state[8])) {
		scan->running++;
		*ret_runs = true;
	}
	switches = find_count(text, length, "\nvoluntary_ctxt_switches:\t") +
		   find_count(text, length, "\nnonvoluntary_ctxt_switches:\t");
	scan->sum += ((unsigned long)thread << 32 ^ switches) * 0x9e3779b97f4a7c15UL;
}

// Examines all threads of the box. Kills processes that run, if `kill_running`.
static struct scan scan_all(bool kill_running)
{
	struct scan scan = { .complete = directory_open(&processes, AT_FDCWD, "/proc") };
	long process;

	while (scan.complete && (process = directory_next(&processes))) {
		bool runs = false;
		char path[32];
		char *end = path;
		long thread;

		path_add(&end, process, "/task");
		if (process == 1 || !directory_open(&threads, processes.fd, path))
			continue;
		while ((thread = directory_next(&threads)))
			scan_thread(thread, &scan, &runs);
		if (runs && kill_running)
			call(__NR_kill, process, SIGKILL, 0, 0);
	}
	return scan;
}

// Records the processes that are stopped, except those of the agent's process group.
static void record_stopped(struct stop *stop, long agent)
{
	long process;

	stop->kept_count = 0;
	if (!directory_open(&processes, AT_FDCWD, "/proc"))
		return;
	while ((process = directory_next(&processes))) {
		char text[256];
		char path[32];
		char *end = path;
		const char *state = NULL;
		const char *group;
		size_t length;

		path_add(&end, process, "/stat");
		length = read_file(processes.fd, path, text, sizeof(text));
		for (size_t i = 0; i + 4 < length; i++) // the name may contain brackets
			if (text[i] == ')' && text[i + 1] == ' ')
				state = text + i + 2;
		group = state ? text_find(state + 2, text_length(state + 2), " ") : NULL;
		if (group && *state == 'T' && text_number(group + 1) != agent &&
		    stop->kept_count < STOP_KEPT_MAX)
			stop->kept[stop->kept_count++] = (int)process;
	}
}

static void pause(void)
{
	struct __kernel_timespec time = { .tv_nsec = PAUSE_NS };

	call6(__NR_ppoll, 0, 0, (long)&time, 0, 0, 0);
}

// Sends SIGSTOP until no process runs. Returns false after the timeout.
static bool stop_running(void)
{
	long start = clock_ms();

	for (;;) {
		long passed = clock_ms() - start;
		struct scan first;

		call(__NR_kill, -1, SIGSTOP, 0, 0);
		first = scan_all(passed > KILL_AFTER_MS);
		if (first.complete && !first.running) {
			struct scan second = scan_all(false);

			if (second.complete && !second.running && first.sum == second.sum)
				break;
		}
		if (passed > GIVE_UP_AFTER_MS)
			return false;
		pause();
	}
	// A thread that waits in the kernel may have been continued since the last SIGSTOP.
	call(__NR_kill, -1, SIGSTOP, 0, 0);
	return true;
}

bool stop_all(struct stop *stop, long agent)
{
	// Without a PID namespace, which claudebox always requests, kill(-1, …) would reach the
	// host.
	if (call(__NR_getpid, 0, 0, 0, 0) != 1)
		return true;
	if (!stop->active)
		record_stopped(stop, agent);
	stop->active = true;
	stop->violations = 0;
	return stop_running();
}

void stop_check(struct stop *stop)
{
	struct scan scan = scan_all(stop->violations >= MAX_VIOLATIONS);

	if (scan.complete && !scan.running)
		return;
	stop->violations++;
	call(__NR_kill, -1, SIGSTOP, 0, 0);
}

static bool is_kept(const struct stop *stop, long process)
{
	for (int i = 0; i < stop->kept_count; i++)
		if (stop->kept[i] == process)
			return true;
	return false;
}

void stop_end(struct stop *stop)
{
	static int found[MAX_PROCESSES];
	int count = 0;
	long process;

	stop->active = false;
	if (!directory_open(&processes, AT_FDCWD, "/proc")) {
		call(__NR_kill, -1, SIGCONT, 0, 0);
		return;
	}
	while ((process = directory_next(&processes))) {
		if (process == 1 || is_kept(stop, process))
			continue;
		if (count < MAX_PROCESSES)
			found[count++] = (int)process;
		else
			call(__NR_kill, process, SIGCONT, 0, 0);
	}
	// Children have higher numbers than their parents: a shell that continues first would see a
	// job that is still stopped.
	while (count)
		call(__NR_kill, found[--count], SIGCONT, 0, 0);
}
