// SPDX-License-Identifier: MIT
// --check: the tools that a box is meant to have.
#include "check/tools.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "check/finding.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "render/check.h"

#include <string.h>
#include <unistd.h>

// Claude, its scripts and most projects use these.
static const struct {
	const char *name;
	const char *other; // name in some distributions, NULL: none
	const char *package;
	bool nix; // only on a host with Nix
} tools[] = {
	{ "git", NULL, "git", false },        { "curl", NULL, "curl", false },
	{ "jq", NULL, "jq", false },          { "rg", NULL, "ripgrep", false },
	{ "fd", "fdfind", "fd-find", false }, { "bash", NULL, "bash", false },
	{ "node", NULL, "nodejs", false },    { "nix", NULL, "nix", true },
	{ ",", NULL, "comma", true },
};

// Returns whether a directory of the box's PATH has the program. The directories that claudebox
// generates have the names of programs that are elsewhere too.
static bool box_has(struct arena *arena, const struct plan *plan, const char *name)
{
	const char *list = plan_variable(plan, "PATH");

	for (const char *s = list ? list : ""; *s;) {
		size_t length = strcspn(s, ":");
		const char *file = path_join(arena, arena_strndup(arena, s, length), name);

		if (plan_provides(plan, file) && access(file, X_OK) == 0)
			return true;
		s += length + (s[length] == ':');
	}
	return false;
}

struct finding check_tools(struct arena *arena, const struct facts *facts,
			   const struct config *config)
{
	struct error error = { .arena = arena };
	struct config shell = *config;
	struct text found = { .arena = arena };
	struct text missing = { .arena = arena };
	struct text packages = { .arena = arena };
	struct plan plan;

	shell.payload = PAYLOAD_SHELL;
	if (!plan_build(&plan, arena, &shell, facts, &error))
		return finding_ok("not tested: no box can start here");
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		bool has = box_has(arena, &plan, tools[i].name) ||
			   (tools[i].other && box_has(arena, &plan, tools[i].other));
		struct text *list = has ? &found : &missing;

		if (tools[i].nix && !facts_file(facts, "/nix/store"))
			continue;
		text_printf(list, "%s%s", list->length ? " " : "",
			    quote_listed(arena, tools[i].name, 0));
		if (!has)
			text_printf(&packages, "%s%s", packages.length ? " " : "",
				    tools[i].package);
	}
	if (!missing.length)
		return finding_ok(text_get(&found));
	return finding_missing(
		arena_printf(arena, "the box has no %s; it has %s", text_get(&missing),
			     found.length ? text_get(&found) : "none of the usual tools"),
		arena_printf(arena, "Claude works without them, but uses them: install %s",
			     text_get(&packages)));
}
