// SPDX-License-Identifier: MIT
// Files and directories, as the attacks use them.
#include "prove/attack/io.h"

#include "freestanding/memory.h"
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/context.h"
#include "prove/attack/outcome.h"

#include <linux/fcntl.h>

// An entry of getdents64(2).
struct entry {
	unsigned long long inode;
	long long offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

long open_file(const char *path, int flags)
{
	return call(__NR_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
}

void close_file(long descriptor)
{
	if (descriptor >= 0)
		call(__NR_close, descriptor, 0, 0, 0);
}

void remove_file(const char *path)
{
	call(__NR_unlinkat, AT_FDCWD, path, 0, 0);
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

enum verdict open_any(const char *const *paths, size_t count, int flags)
{
	struct tries tries = { 0 };
	char path[PATH_SIZE];

	for (size_t i = 0; i < count; i++) {
		long file = open_file(expand_path(path, sizeof(path), paths[i]), flags);

		if (failed(&tries, file))
			continue;
		close_file(file);
		return leaked("%s can be opened", path);
	}
	return all_failed(&tries);
}
