// SPDX-License-Identifier: MIT
// Files, directories, processes and canaries, as the attacks of the probe see them.
#include "prove/attack/attack.h"

// What getdents64 gives.
struct entry {
	unsigned long long number;
	long long offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

const struct canary *next_canary(const struct canary *after, const char *kind)
{
	const struct canary *end = probe.canaries + probe.count;

	for (after = after ? after + 1 : probe.canaries; after < end; after++)
		if (text_equal(after->kind, kind))
			return after;
	return NULL;
}

long open_file(const char *path, int flags)
{
	return call(__NR_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
}

void close_file(long descriptor)
{
	if (descriptor >= 0)
		call(__NR_close, descriptor, 0, 0, 0);
}

long read_text(const char *path, char *buffer, size_t size)
{
	long file = open_file(path, O_RDONLY);
	size_t used = 0;
	long got = 0;

	buffer[0] = 0;
	if (file < 0)
		return file;
	while (used + 1 < size) {
		got = call(__NR_read, file, buffer + used, size - 1 - used, 0);
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	close_file(file);
	buffer[used] = 0;
	return got < 0 && !used ? got : (long)used;
}

long read_token(const char *path)
{
	static char text[16384];
	long got = read_text(path, text, sizeof(text));

	return got < 0 ? got : has_token(text, got);
}

enum verdict open_any(const char *const *paths, size_t count, int flags)
{
	struct tries tries = { 0 };
	char path[PATH_SIZE];

	for (size_t i = 0; i < count; i++) {
		long file = open_file(expand(path, sizeof(path), paths[i]), flags);

		if (failed(&tries, file))
			continue;
		close_file(file);
		return leaked("%s can be opened", path);
	}
	return blocked_by(&tries);
}

long list_names(const char *directory, char *names, size_t size)
{
	static char buffer[8192] __attribute__((aligned(8)));
	long file = open_file(directory, O_RDONLY | O_DIRECTORY);
	size_t used = 0;
	long got;

	if (file < 0)
		return file;
	while ((got = call(__NR_getdents64, file, buffer, sizeof(buffer), 0)) > 0) {
		for (long at = 0; at < got;) {
			const struct entry *entry = (const struct entry *)(buffer + at);
			size_t length = text_length(entry->name) + 1;

			if (used + length <= size) {
				memcpy(names + used, entry->name, length);
				used += length;
			}
			at += entry->size;
		}
	}
	close_file(file);
	return got < 0 ? got : (long)used;
}

size_t list_numbers(const char *directory, int *numbers, size_t size)
{
	static char names[32768];
	long length = list_names(directory, names, sizeof(names));
	size_t count = 0;

	for (const char *s = names; s < names + length && count < size; s += text_length(s) + 1)
		if (*s >= '0' && *s <= '9')
			numbers[count++] = (int)text_number(s);
	return count;
}

const char *scratch(char *buffer, size_t size, const char *name)
{
	return text_make(buffer, size, "%s/%s.%s", probe.project, probe.mark, name);
}

void remove_file(const char *path)
{
	call(__NR_unlinkat, AT_FDCWD, path, 0, 0);
}

bool is_hosts(const char *directory)
{
	size_t length = text_length(directory);

	for (const struct canary *file = NULL; (file = next_canary(file, "file"));) {
		const char *path = file->field[1];

		if (!text_starts(path, directory) || path[length] != '/')
			continue;
		if (!text_find(path + length + 1, text_length(path + length + 1), "/") &&
		    read_token(path) == 1)
			return true;
	}
	return false;
}

// As fork: the child goes on with a copy of everything.
long fork_child(unsigned long flags)
{
	return call6(__NR_clone, (long)(flags | 17 /* SIGCHLD */), 0, 0, 0, 0, 0);
}

void wait_child(long pid)
{
	call(__NR_wait4, pid, NULL, 0, NULL);
}

int host_process(void)
{
	const struct canary *canary = next_canary(NULL, "pid");
	int pid = canary ? (int)text_number(canary->field[0]) : 0;
	char path[64];
	long seen;

	if (pid <= 1)
		return 0;
	seen = read_token(text_make(path, sizeof(path), "/proc/%d/cmdline", pid));
	return seen == 0 ? 0 : pid; // something of the box's own has that number
}
