// SPDX-License-Identifier: MIT
// Bump allocator, and growable arrays in it.
//
// One arena holds the configuration, the facts and the plan, so pure code never frees memory.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *head;
};

// Memory is zeroed and valid until arena_free(). The process aborts if no memory is left.
void *arena_alloc(struct arena *arena, size_t size);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
// Makes the memory that was allocated last larger, in its place. Returns false if other memory was
// allocated after it, or too little is left.
bool arena_extend(struct arena *arena, const void *memory, size_t size, size_t wanted);
void arena_free(struct arena *arena);

// Declares a growable array in an arena: VEC(char *) names = { 0 }; vec_push(arena, &names, "x");
#define VEC(type)                \
	struct {                 \
		type *items;     \
		size_t count;    \
		size_t capacity; \
	}

// Returns the items in an array of twice the capacity: the same one, or a copy. For vec_push().
void *arena_grow(struct arena *arena, void *items, size_t count, size_t *capacity, size_t size);

#define vec_push(arena, vec, ...)                                                        \
	do {                                                                             \
		__typeof__(vec) vec_ = (vec);                                            \
		if (vec_->count == vec_->capacity)                                       \
			vec_->items = arena_grow((arena), vec_->items, vec_->count,      \
						 &vec_->capacity, sizeof(*vec_->items)); \
		vec_->items[vec_->count++] = (__VA_ARGS__);                              \
	} while (0)

#define vec_each(item, vec)                                    \
	for (__typeof__((vec)->items[0]) *item = (vec)->items; \
	     item && item < (vec)->items + (vec)->count; item++)

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

typedef VEC(const char *) strings;
