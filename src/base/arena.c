// SPDX-License-Identifier: MIT
// Bump allocator: memory comes from chunks that are freed together.
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A start needs some 200 KB, an arena for one file a few. The C library gets a large block from the
// kernel, which has zeroed it, and touches none of it. With blocks of 64 KB from the heap it zeroed
// 576 KB, which were 100 of 230 page faults. The first chunk comes from the heap: only what is used
// of it is zeroed, because the guard needs an arena for each entry of a large project.
enum { FIRST_CHUNK_SIZE = 32 * 1024, CHUNK_SIZE = 256 * 1024 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t used;
	size_t size;
	bool zeroed; // the rest is zero already
	alignas(max_align_t) char data[];
};

static struct arena_chunk *chunk_new(size_t size)
{
	bool zeroed = size > FIRST_CHUNK_SIZE;
	struct arena_chunk *chunk = zeroed ? calloc(1, sizeof(*chunk) + size)
					   : malloc(sizeof(*chunk) + size);

	if (!chunk)
		abort();
	chunk->used = 0;
	chunk->size = size;
	chunk->zeroed = zeroed;
	return chunk;
}

static size_t aligned(size_t size)
{
	const size_t alignment = alignof(max_align_t);

	if (size > SIZE_MAX / 2)
		abort();
	return (size + alignment - 1) / alignment * alignment;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk = arena->head;
	void *memory;

	size = aligned(size);
	if (!chunk || chunk->size - chunk->used < size) {
		size_t usual = chunk ? CHUNK_SIZE : FIRST_CHUNK_SIZE;

		chunk = chunk_new(size > usual ? size : usual);
		chunk->next = arena->head;
		arena->head = chunk;
	}
	memory = chunk->data + chunk->used;
	chunk->used += size;
	return chunk->zeroed ? memory : memset(memory, 0, size);
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);

	memcpy(copy, text, length);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
	struct arena_chunk *chunk = arena->head;
	size_t room = chunk ? chunk->size - chunk->used : 0;
	va_list again;
	char *text;
	int length;

	// Most texts fit into the rest of the chunk and are formatted only once.
	va_copy(again, args);
	length = vsnprintf(chunk ? chunk->data + chunk->used : NULL, room, format, again);
	va_end(again);
	if (length < 0)
		abort();
	if ((size_t)length < room) {
		text = chunk->data + chunk->used;
		chunk->used += aligned((size_t)length + 1);
		return text;
	}
	if (room && chunk->zeroed)
		memset(chunk->data + chunk->used, 0, room); // memory of an arena is zeroed
	text = arena_alloc(arena, (size_t)length + 1);
	vsnprintf(text, (size_t)length + 1, format, args);
	return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = arena_vprintf(arena, format, args);
	va_end(args);
	return text;
}

bool arena_extend(struct arena *arena, const void *memory, size_t size, size_t wanted)
{
	struct arena_chunk *chunk = arena->head;
	size_t more = aligned(wanted) - aligned(size);

	if (!chunk || (const char *)memory + aligned(size) != chunk->data + chunk->used ||
	    chunk->size - chunk->used < more)
		return false;
	if (!chunk->zeroed)
		memset(chunk->data + chunk->used, 0, more);
	chunk->used += more;
	return true;
}

void *arena_grow(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size)
{
	size_t wanted = *capacity ? *capacity * 2 : 8;
	void *grown;

	if (wanted > SIZE_MAX / 2 / size)
		abort();
	if (items && arena_extend(arena, items, *capacity * size, wanted * size)) {
		*capacity = wanted;
		return items;
	}
	grown = arena_alloc(arena, wanted * size);
	if (items && count)
		memcpy(grown, items, count * size);
	*capacity = wanted;
	return grown;
}

void arena_free(struct arena *arena)
{
	while (arena->head) {
		struct arena_chunk *next = arena->head->next;

		free(arena->head);
		arena->head = next;
	}
}
