// SPDX-License-Identifier: MIT
// Logins with the token of --prove in the settings of package managers.
#include "prove/bait.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/registries/tools.h"

#include <string.h>

// Returns a text with the bait of its tool, in which '$' stands for the token.
static const char *add_bait(struct arena *arena, const char *text, const char *bait,
			    const char *token)
{
	const char *end = memmem(text, strlen(text), "</settings>", strlen("</settings>"));
	struct text out = { .arena = arena };

	text_add_bytes(&out, text, end ? (size_t)(end - text) : strlen(text));
	text_add(&out, "\n");
	for (; *bait; bait++)
		if (*bait == '$')
			text_add(&out, token);
		else
			text_add_bytes(&out, bait, 1);
	text_add(&out, end ? end : "");
	return text_get(&out);
}

void prove_bait_settings(struct facts *facts, struct arena *arena, const char *token)
{
	bool npm = false;

	vec_each(file, &facts->registries) {
		const struct tool_row *tool = &tool_table[source_table[file->source].tool];

		npm |= tool == &tool_table[TOOL_NPM];
		if (file->text && tool->bait)
			file->text = add_bait(arena, file->text, tool->bait, token);
	}
	for (size_t i = 0; !npm && i < source_table_count; i++) {
		if (source_table[i].tool == TOOL_NPM)
			vec_push(arena, &facts->registries,
				 (struct registry_facts){
					 .source = i,
					 .path = path_join(arena, facts->home, ".npmrc"),
					 .text = add_bait(arena, "", tool_table[TOOL_NPM].bait,
							  token) });
	}
}
