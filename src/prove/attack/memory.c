// SPDX-License-Identifier: MIT
// Attacks on shared memory, System V and POSIX objects, and the memory of the kernel.
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <asm/errno.h>
#include <linux/fcntl.h>
#include <linux/ipc.h>
#include <linux/perf_event.h>

enum { SHARED_READ_ONLY = 010000 /* SHM_RDONLY, whose header needs the C library */ };

// Searches the first page of a segment. Returns 1 if it contains the token, or -errno.
static long search_shared_memory(long id)
{
	long address = call(__NR_shmat, id, NULL, SHARED_READ_ONLY, 0);

	if (address < 0 && address > -4096)
		return address;
	// NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel returns addresses as numbers
	return has_token((const void *)address, (long)context.page_size);
}

// Accesses the planted objects of a kind by id or by key. `get` returns the id of a key, and `use`
// returns 1 if the object can be read.
static enum verdict search_objects(enum canary_kind kind, bool by_key, long (*get)(int key),
				   long (*use)(long id))
{
	struct tries tries = { 0 };

	for (const struct canary *object = NULL; (object = next_canary(object, kind));) {
		long id = text_number(object->field[0]);
		long found;

		if (by_key)
			id = get((int)text_number(object->field[1]));
		if (failed(&tries, id))
			continue;
		found = use(id);
		if (!failed(&tries, found) && found)
			return leaked("object %d can be read", (int)id);
	}
	return all_failed(&tries);
}

static long get_shared_memory(int key)
{
	return key ? call(__NR_shmget, key, 0, 0, 0) : -ENOENT;
}

static long get_semaphores(int key)
{
	return key ? call(__NR_semget, key, 0, 0, 0) : -ENOENT;
}

static long get_messages(int key)
{
	return key ? call(__NR_msgget, key, 0, 0, 0) : -ENOENT;
}

static long stat_semaphores(long id)
{
	char status[256];
	long result = call(__NR_semctl, id, 0, IPC_STAT, status);

	return result < 0 ? result : 1;
}

static long stat_messages(long id)
{
	char status[256];
	long result = call(__NR_msgctl, id, IPC_STAT, status, 0);

	return result < 0 ? result : 1;
}

enum verdict try_MEMORY_SHM_ID(void)
{
	return search_objects(CANARY_SHARED_MEMORY, false, get_shared_memory, search_shared_memory);
}

enum verdict try_MEMORY_SHM_KEY(void)
{
	return search_objects(CANARY_SHARED_MEMORY, true, get_shared_memory, search_shared_memory);
}

enum verdict try_MEMORY_SEMAPHORES(void)
{
	enum verdict verdict =
		search_objects(CANARY_SEMAPHORE, false, get_semaphores, stat_semaphores);

	return verdict == VERDICT_BLOCKED
		       ? search_objects(CANARY_SEMAPHORE, true, get_semaphores, stat_semaphores)
		       : verdict;
}

enum verdict try_MEMORY_MESSAGES(void)
{
	enum verdict verdict = search_objects(CANARY_MESSAGES, false, get_messages, stat_messages);

	return verdict == VERDICT_BLOCKED
		       ? search_objects(CANARY_MESSAGES, true, get_messages, stat_messages)
		       : verdict;
}

// Each file has a header line and one line for each object.
enum verdict try_MEMORY_LISTS(void)
{
	static const char *const paths[] = { "/proc/sysvipc/shm", "/proc/sysvipc/sem",
					     "/proc/sysvipc/msg" };
	static char text[8192];
	struct tries tries = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		long length = read_text(paths[i], text, sizeof(text));
		int lines = 0;

		for (long at = 0; at < length; at++)
			lines += text[at] == '\n';
		if (!failed(&tries, length) && lines > 1)
			return leaked("%s lists %d objects", paths[i], lines - 1);
	}
	return all_failed(&tries);
}

enum verdict try_MEMORY_MQUEUE(void)
{
	struct tries tries = { 0 };

	for (const struct canary *queue = NULL; (queue = next_canary(queue, CANARY_QUEUE));) {
		const char *name = queue->field[0] + (queue->field[0][0] == '/');

		if (!failed(&tries, call(__NR_mq_open, name, O_RDONLY | O_NONBLOCK, 0, NULL)))
			return leaked("%s can be opened", queue->field[0]);
	}
	return all_failed(&tries);
}

enum verdict try_MEMORY_DEVICES(void)
{
	static const char *const paths[] = { "/dev/mem",   "/dev/kmem",   "/dev/port",
					     "/dev/pmem0", "/proc/kcore", "/proc/vmcore" };

	return open_any(paths, ARRAY_SIZE(paths), O_RDONLY);
}

enum verdict try_MEMORY_USERFAULTFD(void)
{
	struct tries tries = { 0 };

	if (!failed(&tries, call(__NR_userfaultfd, O_CLOEXEC | 1 /* user mode only */, 0, 0, 0)) ||
	    !failed(&tries, open_file("/dev/userfaultfd", O_RDWR)))
		return leaked("the call succeeds");
	return all_failed(&tries);
}

enum verdict try_MEMORY_PERF(void)
{
	struct perf_event_attr event = { .type = PERF_TYPE_SOFTWARE,
					 .size = sizeof(event),
					 .config = PERF_COUNT_SW_TASK_CLOCK,
					 .disabled = 1,
					 .exclude_kernel = 1,
					 .exclude_hv = 1 };
	struct tries tries = { 0 };

	if (!failed(&tries, call6(__NR_perf_event_open, (long)&event, 0, -1, -1, 8, 0)))
		return leaked("the call succeeds");
	return all_failed(&tries);
}

enum verdict try_MEMORY_PAGEMAP(void)
{
	volatile char byte = 1; // the write allocates its page
	unsigned long long entry = 0;
	unsigned long at = (unsigned long)&byte / context.page_size * sizeof(entry);
	long file = open_file("/proc/self/pagemap", O_RDONLY);
	struct tries tries = { 0 };

	if (failed(&tries, file) ||
	    failed(&tries, call(__NR_pread64, file, &entry, sizeof(entry), at)))
		return all_failed(&tries);
	if (entry & ((1ULL << 55) - 1))
		return leaked("physical addresses can be read");
	return blocked("the kernel shows 0");
}

enum verdict try_MEMORY_SYMBOLS(void)
{
	char text[2048];
	long length = read_text("/proc/kallsyms", text, sizeof(text));

	if (length < 0)
		return blocked("%s", error_name(length));
	for (long i = 0; i + 16 < length; i++)
		if (i == 0 || text[i - 1] == '\n')
			for (long digit = i; digit < i + 16; digit++)
				if (text[digit] != '0' && text[digit] != '\n')
					return leaked("addresses of the kernel can be read");
	return blocked("the kernel shows 0");
}
