// SPDX-License-Identifier: MIT
// Reads any bytes as an index of git: no access beyond them, no hang, no entry of a damaged file,
// and a result that does not depend on the handler.
#include "base/arena.h"
#include "fuzz.h"
#include "plan/guard/index.h"

enum { ENTRY_SIZE = 62 };

static bool count_entry(void *context, const struct git_index_entry *entry)
{
	MUST(entry->length && strlen(entry->path) == entry->length);
	++*(size_t *)context;
	return true;
}

static bool stop(void *context, const struct git_index_entry *entry)
{
	(void)entry;
	++*(size_t *)context;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t hash = 20; hash <= 32; hash += 12) {
		struct arena arena = { 0 };
		size_t count = 0;
		size_t stops = 0;
		struct text out = { .arena = &arena };
		enum git_index_result result =
			git_index_walk(data, size, hash, &arena, count_entry, &count);

		MUST(result == GIT_INDEX_OK || !count);
		MUST(count <= size / ENTRY_SIZE);
		MUST(git_index_walk(data, size, hash, &arena, stop, &stops) == result);
		MUST(stops == (count > 0));
		MUST(git_index_describe(data, size, hash, &arena, &out) == result);
		MUST((out.length > 0) == (count > 0));
		arena_free(&arena);
	}
	return 0;
}
