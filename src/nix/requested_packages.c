// SPDX-License-Identifier: MIT
// Asks the user about the requested packages, once for each list.
#include "nix/requested_packages.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/nix/requested.h"
#include "sys/ask.h"

static const char request_origin[] = REQUESTED_DIRECTORY "/" REQUESTED_FILE;

static const char *render_question(struct arena *arena, const strings *packages)
{
	struct text out = { .arena = arena };

	text_printf(&out, "This repository requests packages from Nix (%s):", request_origin);
	vec_each(package, packages)
		text_printf(&out, "%s %s", package == packages->items ? "" : ",", *package);
	text_add(&out, ".\nAdd them to the box?");
	return text_get(&out);
}

bool resolve_requested_packages(struct config *config, struct facts *facts, struct arena *arena,
				const char **ret_record, struct error *error)
{
	struct requested_facts *requested = &facts->requested;
	const strings *packages = &requested->list.packages;
	bool accepted = false;

	*ret_record = NULL;
	if (!packages->count)
		return true;
	// --yes does not answer this question. Without Nix the packages could not be added.
	if (requested->answer == REQUESTED_UNKNOWN && config->action == ACTION_LAUNCH &&
	    !config->yes && facts_file(facts, "/nix/store")) {
		if (!ask_yes_no(render_question(arena, packages), &accepted, error))
			return false;
		requested->answer = accepted ? REQUESTED_YES : REQUESTED_NO;
		*ret_record = requested_render_answer(arena, packages, requested->answer);
	}
	if (requested->answer != REQUESTED_YES)
		return true;
	vec_each(package, packages)
		vec_push(arena, &config->packages,
			 (struct config_package){ .name = *package,
						  .origin = origin_requested(request_origin) });
	return true;
}
