// SPDX-License-Identifier: MIT
// Plans the upgrade of the flat state of an earlier claudebox. Only conversations are copied:
// boxes of all projects could write the rest, and Claude executes parts of it.
#include "plan/state/upgrade.h"

#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"

const char *upgrade_find_project(struct arena *arena, const char *text)
{
	const char *line;

	while (text && (line = str_next_line(arena, &text))) {
		JSON_OWNED *message = json_read_object(line, 0);
		const char *path = json_string_value(json_object_get(message, "cwd"));

		if (path)
			return arena_strdup(arena, path);
	}
	return "";
}

void plan_build_upgrade(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const char *root = quote_word(arena, path_tilde(arena, facts->state.root, facts->home), 0);
	struct plan_upgrade *upgrade = &plan->state.upgrade;
	size_t copied = 0;

	upgrade->needed = facts->state.flat.found;
	if (!upgrade->needed)
		return;
	upgrade->conversations = facts->state.flat.conversations;
	vec_each(conversation, &upgrade->conversations)
		copied += conversation->root != NULL;
	vec_push(arena, &upgrade->notes,
		 arena_printf(arena,
			      "%s was shared between all projects by an earlier claudebox. "
			      "Its content moves to %s/" FLAT_BACKUP ".",
			      root, root));
	vec_push(arena, &upgrade->notes,
		 arena_printf(arena,
			      "%zu of %zu conversations are also copied to their projects. "
			      "The login is not: log in again when Claude asks for it.",
			      copied, upgrade->conversations.count));
}
