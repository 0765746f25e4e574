// SPDX-License-Identifier: MIT
// Edits any text into any other one, which the first '\x01' separates: the result has the values of
// the other text, and no change changes no byte. A text without refused entries has none left.
#include "base/arena.h"
#include "base/text.h"
#include "fuzz.h"
#include "plan/guard/config_edit.h"

static void check_edit(struct arena *arena, const char *text, const char *other)
{
	git_config_changes changes = { 0 };
	git_config_changes left = { 0 };
	git_config_changes none = { 0 };
	const char *result;

	if (!git_config_compare(arena, text, other, &changes))
		return;
	result = git_config_edit(arena, text, &changes);
	if (!result)
		return;
	MUST(git_config_compare(arena, result, other, &left));
	MUST(!left.count);
	MUST(str_equal(git_config_edit(arena, text, &none), text));
}

static void check_strip(struct arena *arena, const char *text)
{
	static const struct git_key_place place = { .worktree = "/p", .directory = "/p/.git" };
	strings refused = { 0 };
	strings again = { 0 };
	const char *once = git_config_strip(arena, text, &place, &refused);

	if (!once)
		return;
	MUST(str_equal(git_config_strip(arena, once, &place, &again), once));
	MUST(!again.count);
	MUST(refused.count || str_equal(once, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	char *text = arena_strndup(&arena, (const char *)data, size);
	char *other = strchr(text, '\x01');

	if (other)
		*other++ = '\0';
	check_edit(&arena, text, other ? other : "");
	check_strip(&arena, text);
	arena_free(&arena);
	return 0;
}
