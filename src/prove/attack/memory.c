// SPDX-License-Identifier: MIT
// Attacks on memory that is shared, or should not be.
#include "prove/attack/attack.h"

#include <linux/ipc.h>
#include <linux/perf_event.h>

enum { SHARED_READ_ONLY = 010000 /* SHM_RDONLY; its header needs those of the C library */ };

// The token is at the start of what was planted.
static long search_shared_memory(long id)
{
	long address = call(__NR_shmat, id, NULL, SHARED_READ_ONLY, 0);

	if (address < 0 && address > -4096)
		return address;
	// NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel returns addresses as numbers
	return has_token((const void *)address, (long)probe.page);
}

// By number and by key; `get` and `use` are how that kind of object is found and looked at.
static enum verdict search_objects(const char *kind, bool by_key, long (*get)(int key),
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
			return leaked("number %d can be read", (int)id);
	}
	return blocked_by(&tries);
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

static long look_at_semaphores(long id)
{
	char status[256];
	long result = call(__NR_semctl, id, 0, IPC_STAT, status);

	return result < 0 ? result : 1;
}

static long look_at_messages(long id)
{
	char status[256];
	long result = call(__NR_msgctl, id, IPC_STAT, status, 0);

	return result < 0 ? result : 1;
}

enum verdict try_MEMORY_SHM_ID(void)
{
	return search_objects("sysv-shm", false, get_shared_memory, search_shared_memory);
}

enum verdict try_MEMORY_SHM_KEY(void)
{
	return search_objects("sysv-shm", true, get_shared_memory, search_shared_memory);
}

enum verdict try_MEMORY_SEMAPHORES(void)
{
	enum verdict verdict =
		search_objects("sysv-sem", false, get_semaphores, look_at_semaphores);

	return verdict == HELD
		       ? search_objects("sysv-sem", true, get_semaphores, look_at_semaphores)
		       : verdict;
}

enum verdict try_MEMORY_MESSAGES(void)
{
	enum verdict verdict = search_objects("sysv-msg", false, get_messages, look_at_messages);

	return verdict == HELD ? search_objects("sysv-msg", true, get_messages, look_at_messages)
			       : verdict;
}

// A head line, and one for each object.
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
			return leaked("%s lists %d", paths[i], lines - 1);
	}
	return blocked_by(&tries);
}

enum verdict try_MEMORY_MQUEUE(void)
{
	struct tries tries = { 0 };

	for (const struct canary *queue = NULL; (queue = next_canary(queue, "mqueue"));) {
		const char *name = queue->field[0] + (queue->field[0][0] == '/');

		if (!failed(&tries, call(__NR_mq_open, name, O_RDONLY | O_NONBLOCK, 0, NULL)))
			return leaked("%s can be opened", queue->field[0]);
	}
	return blocked_by(&tries);
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
		return leaked("it works");
	return blocked_by(&tries);
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
		return leaked("it works");
	return blocked_by(&tries);
}

enum verdict try_MEMORY_PAGEMAP(void)
{
	volatile char here = 1; // so that its page is there
	unsigned long long entry = 0;
	unsigned long at = (unsigned long)&here / probe.page * sizeof(entry);
	long file = open_file("/proc/self/pagemap", O_RDONLY);
	struct tries tries = { 0 };

	if (failed(&tries, file) ||
	    failed(&tries, call(__NR_pread64, file, &entry, sizeof(entry), at)))
		return blocked_by(&tries);
	if (entry & ((1ULL << 55) - 1))
		return leaked("physical addresses can be read");
	return held("the kernel shows 0");
}

enum verdict try_MEMORY_SYMBOLS(void)
{
	char text[2048];
	long length = read_text("/proc/kallsyms", text, sizeof(text));

	if (length < 0)
		return held("%s", error_name(length));
	for (long i = 0; i + 16 < length; i++)
		if (i == 0 || text[i - 1] == '\n')
			for (long digit = i; digit < i + 16; digit++)
				if (text[digit] != '0' && text[digit] != '\n')
					return leaked("addresses of the kernel can be read");
	return held("the kernel shows 0");
}
