// SPDX-License-Identifier: MIT
// The list of Claude files that were searched and contain nothing like a secret.
//
// Theory of operation: the list is an array of numbers in the machine's own byte order, behind a
// header with the format and the identity of the program. It is compared number by number, so a
// damaged list can only cause another search. A hash table over it makes the look-up fast.
#include "plan/claude/searched.h"

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct header {
	char format[8];
	struct searched_file program;
};
#define FORMAT "claude1\n"

_Static_assert(sizeof(struct searched_file) == 6 * sizeof(uint64_t), "there is no padding");

// Twice the number of files, so that the table has empty slots.
enum { SLOTS = 1 << 16 };
_Static_assert(SLOTS >= 2 * SEARCHED_MAX, "the table has empty slots");

size_t searched_size_max(void)
{
	return sizeof(struct header) + SEARCHED_MAX * sizeof(struct searched_file);
}

// FNV-1a.
uint64_t searched_name(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return hash;
}

static bool is_same(const struct searched_file *a, const struct searched_file *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

// Returns the slot of a file, or the empty one where it belongs.
static uint32_t *find_slot(const struct searched *searched, const struct searched_file *file)
{
	uint64_t mixed = (file->inode ^ file->changed_ns << 16) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(mixed >> 48) % SLOTS;

	while (searched->slots[at] && !is_same(&searched->earlier[searched->slots[at] - 1], file))
		at = (at + 1) % SLOTS;
	return &searched->slots[at];
}

void searched_read(struct searched *searched, struct arena *arena, const char *bytes, size_t length,
		   const struct searched_file *program)
{
	struct header header;
	size_t size;

	*searched = (struct searched){ .program = *program };
	if (!bytes || length < sizeof(header) || length > searched_size_max())
		return;
	memcpy(&header, bytes, sizeof(header));
	size = length - sizeof(header);
	if (memcmp(header.format, FORMAT, sizeof(header.format)) != 0 ||
	    !is_same(&header.program, program) || size % sizeof(struct searched_file) != 0)
		return;
	searched->earlier_count = size / sizeof(struct searched_file);
	searched->earlier = arena_alloc(arena, size);
	memcpy(searched->earlier, bytes + sizeof(header), size);
	searched->seen = arena_alloc(arena, searched->earlier_count * sizeof(*searched->seen));
	searched->slots = arena_alloc(arena, SLOTS * sizeof(*searched->slots));
	for (size_t i = 0; i < searched->earlier_count; i++)
		*find_slot(searched, &searched->earlier[i]) = (uint32_t)i + 1;
}

bool searched_has(struct searched *searched, const struct searched_file *file)
{
	uint32_t number = searched->slots ? *find_slot(searched, file) : 0;

	if (number)
		searched->seen[number - 1] = true;
	return number != 0;
}

void searched_add(struct searched *searched, struct arena *arena, const struct searched_file *file)
{
	if (searched->added.count < SEARCHED_MAX)
		vec_push(arena, &searched->added, *file);
}

// Returns how many earlier files the new list keeps: all, or only those that were seen.
static size_t count_kept(const struct searched *searched, bool all)
{
	size_t count = 0;

	for (size_t i = 0; i < searched->earlier_count; i++)
		count += all || searched->seen[i];
	return count;
}

const char *searched_write(const struct searched *searched, struct arena *arena, size_t *ret_length)
{
	bool all = searched->earlier_count + searched->added.count <= SEARCHED_MAX;
	size_t kept = count_kept(searched, all);
	size_t added = searched->added.count < SEARCHED_MAX - kept ? searched->added.count
								   : SEARCHED_MAX - kept;
	struct header header = { .format = FORMAT, .program = searched->program };
	char *content;
	char *end;

	if (added == 0)
		return NULL;
	*ret_length = sizeof(header) + (kept + added) * sizeof(struct searched_file);
	content = arena_alloc(arena, *ret_length);
	memcpy(content, &header, sizeof(header));
	end = content + sizeof(header);
	for (size_t i = 0; i < searched->earlier_count; i++) {
		if (!all && !searched->seen[i])
			continue;
		memcpy(end, &searched->earlier[i], sizeof(struct searched_file));
		end += sizeof(struct searched_file);
	}
	memcpy(end, searched->added.items, added * sizeof(struct searched_file));
	return content;
}
