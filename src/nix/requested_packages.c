// SPDX-License-Identifier: MIT
// Asks about what the repository asks for (EXT-01), once, and again when it changes.
#include "nix/requested_packages.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/nix/requested.h"
#include "sys/ask.h"

static const char wish_origin[] = REQUESTED_DIRECTORY "/" REQUESTED_FILE;

static const char *question_of(struct arena *arena, const strings *tools)
{
	struct text out = { .arena = arena };

	text_printf(&out, "This repository asks for tools from Nix (%s):", wish_origin);
	vec_each(tool, tools)
		text_printf(&out, "%s %s", tool == tools->items ? "" : ",", *tool);
	text_add(&out, ".\nAdd them to the box?");
	return text_get(&out);
}

bool resolve_requested_packages(struct config *config, struct facts *facts, struct arena *arena,
				const char **ret_record, struct error *error)
{
	struct requested_facts *requested = &facts->requested;
	const strings *tools = &requested->requested.tools;
	bool yes = false;

	*ret_record = NULL;
	if (!tools->count)
		return true;
	// Without a question there is no yes; and without Nix there is nothing to ask.
	if (requested->answer == REQUESTED_UNKNOWN && config->action == ACTION_LAUNCH &&
	    !config->yes && facts_file(facts, "/nix/store")) {
		if (!ask_yes_no(question_of(arena, tools), &yes, error))
			return false;
		requested->answer = yes ? REQUESTED_YES : REQUESTED_NO;
		*ret_record = requested_render_answer(arena, tools, requested->answer);
	}
	if (requested->answer != REQUESTED_YES)
		return true;
	vec_each(tool, tools)
		vec_push(arena, &config->packages,
			 (struct config_package){ .name = *tool, .origin = wish_origin });
	return true;
}
