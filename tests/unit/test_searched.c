// SPDX-License-Identifier: MIT
// Tests of the list of searched files: it has what was added and nothing else, whatever its bytes
// are.
#include "base/arena.h"
#include "check.h"
#include "plan/claude/searched.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static struct arena arena;
static const struct searched_file program = { 1, 2, 3, 4, 5, 0 };

static struct searched_file file(uint64_t number)
{
	return (struct searched_file){ 64769,      number,     number % 7,
				       number * 3, number * 5, searched_name("a.md") };
}

// Returns a list with the files from `from` to `to`.
static const char *list(uint64_t from, uint64_t to, size_t *ret_length)
{
	struct searched searched;

	searched_read(&searched, &arena, NULL, 0, &program);
	for (uint64_t i = from; i < to; i++) {
		struct searched_file added = file(i);

		searched_add(&searched, &arena, &added);
	}
	return searched_write(&searched, &arena, ret_length);
}

// Returns how many of the files from `from` to `to` a list has.
static size_t count(struct searched *searched, uint64_t from, uint64_t to)
{
	size_t found = 0;

	for (uint64_t i = from; i < to; i++) {
		struct searched_file wanted = file(i);

		found += searched_has(searched, &wanted);
	}
	return found;
}

static void test_each_number_counts(void)
{
	size_t length;
	const char *bytes = list(1, 100, &length);
	struct searched searched;
	struct searched_file wanted = file(50);

	searched_read(&searched, &arena, bytes, length, &program);
	CHECK(count(&searched, 1, 100) == 99);
	CHECK(count(&searched, 100, 1000) == 0);
	for (size_t i = 0; i < sizeof(wanted); i++) {
		struct searched_file other = wanted;

		((unsigned char *)&other)[i] ^= 1;
		CHECK(!searched_has(&searched, &other));
	}
	CHECK(searched_has(&searched, &wanted));
	CHECK(searched_name("a.md") != searched_name("a.sh"));
	CHECK(searched_name("CLAUDE.md") != searched_name("/CLAUDE.md"));
}

static void test_another_program_starts_anew(void)
{
	size_t length;
	const char *bytes = list(1, 100, &length);
	struct searched searched;

	for (size_t i = 0; i < sizeof(program); i++) {
		struct searched_file other = program;

		((unsigned char *)&other)[i] ^= 1;
		searched_read(&searched, &arena, bytes, length, &other);
		CHECK(count(&searched, 1, 100) == 0);
	}
}

static void test_damaged_lists(void)
{
	size_t length;
	size_t wrong = 0;
	const char *bytes = list(1, 20, &length);
	char *damaged = arena_alloc(&arena, length);
	struct searched searched;

	searched_read(&searched, &arena, NULL, 0, &program);
	CHECK(count(&searched, 1, 20) == 0);
	for (size_t i = 0; i < length; i++) { // truncated: the files before that place, or none
		searched_read(&searched, &arena, bytes, i, &program);
		wrong += count(&searched, 1, 20) > i / sizeof(struct searched_file);
		memcpy(damaged, bytes, length);
		damaged[i] = (char)(damaged[i] ^ 0x55);
		searched_read(&searched, &arena, damaged, length, &program);
		wrong += count(&searched, 1, 20) > 18;
		wrong += count(&searched, 20, 200) > 0;
	}
	CHECK(wrong == 0);
	memset(damaged, 0, length);
	searched_read(&searched, &arena, damaged, length, &program);
	CHECK(count(&searched, 1, 20) == 0);
	damaged = arena_alloc(&arena, searched_size_max() + sizeof(program));
	memcpy(damaged, bytes, length);
	searched_read(&searched, &arena, damaged, searched_size_max() + sizeof(program), &program);
	CHECK(count(&searched, 1, 20) == 0); // too long
	searched_read(&searched, &arena, damaged, searched_size_max(), &program);
	CHECK(count(&searched, 1, 20) == 19); // as long as possible, with 20,000 equal rows
}

static void test_what_is_written(void)
{
	size_t length;
	const char *bytes = list(1, 100, &length);
	struct searched searched;
	struct searched_file added = file(200);

	searched_read(&searched, &arena, bytes, length, &program);
	count(&searched, 1, 50);
	CHECK(!searched_write(&searched, &arena, &length)); // nothing is new
	searched_add(&searched, &arena, &added);
	bytes = searched_write(&searched, &arena, &length);
	searched_read(&searched, &arena, bytes, length, &program);
	CHECK(count(&searched, 1, 300) == 100); // also those of another Claude directory
	searched_read(&searched, &arena, NULL, 0, &program);
	CHECK(!searched_write(&searched, &arena, &length));
}

static void test_bounds(void)
{
	size_t length;
	const char *bytes = list(1, SEARCHED_MAX + 500, &length);
	struct searched searched;
	struct searched_file added = file(SEARCHED_MAX * 2);

	CHECK(length == searched_size_max());
	searched_read(&searched, &arena, bytes, length, &program);
	CHECK(count(&searched, 1, SEARCHED_MAX + 500) == SEARCHED_MAX);
	searched_add(&searched, &arena, &added);
	CHECK(!searched_write(&searched, &arena, &length)); // all are in use: it stays
	searched_read(&searched, &arena, bytes, length, &program);
	count(&searched, 1, 11);
	searched_add(&searched, &arena, &added);
	bytes = searched_write(&searched, &arena, &length);
	searched_read(&searched, &arena, bytes, length, &program);
	CHECK(count(&searched, 1, SEARCHED_MAX * 2 + 1) == 11); // those in use, and the new one
}

int main(void)
{
	test_each_number_counts();
	test_another_program_starts_anew();
	test_damaged_lists();
	test_what_is_written();
	test_bounds();
	arena_free(&arena);
	return check_done();
}
