// SPDX-License-Identifier: MIT
// Asks about what the repository asks for (EXT-01), once, and again when it changes.
#include "run/run.h"

#include "base/text.h"

static const char wish_origin[] = WISH_DIRECTORY "/" WISH_FILE;

static const char *question_of(struct arena *arena, const strings *tools)
{
	struct text out = { .arena = arena };

	text_printf(&out, "This repository asks for tools from Nix (%s):", wish_origin);
	vec_each(tool, tools)
		text_printf(&out, "%s %s", tool == tools->items ? "" : ",", *tool);
	text_add(&out, ".\nAdd them to the box?");
	return text_get(&out);
}

bool run_settle_wishes(struct config *config, struct host *host, struct arena *arena,
		       const char **ret_record, struct error *error)
{
	struct wish_facts *wish = &host->wish;
	const strings *tools = &wish->wishes.tools;
	bool yes = false;

	*ret_record = NULL;
	if (!tools->count)
		return true;
	// Without a question there is no yes; and without Nix there is nothing to ask.
	if (wish->answer == WISH_UNKNOWN && config->action == ACTION_LAUNCH && !config->yes &&
	    host_file(host, "/nix/store")) {
		if (!run_ask(question_of(arena, tools), &yes, error))
			return false;
		wish->answer = yes ? WISH_YES : WISH_NO;
		*ret_record = wishes_render_answer(arena, tools, wish->answer);
	}
	if (wish->answer != WISH_YES)
		return true;
	vec_each(tool, tools)
		vec_push(arena, &config->packages,
			 (struct config_package){ .name = *tool, .origin = wish_origin });
	return true;
}
