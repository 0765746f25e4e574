// SPDX-License-Identifier: MIT
// The reasons to leave an MCP server out, and what brings it.
#include "plan/mcp/reasons.h"

#include "base/arena.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/claude/commands.h"
#include "plan/environment.h"

// What replaces a secret that has no name, before the option that passes the variable NAME.
static const char by_variable[] = "write ${NAME} in its place, with";

bool reasons_add(struct server_reasons *reasons, struct arena *arena, const char *why,
		 const char *option)
{
	vec_push(arena, &reasons->lacks, (struct command_lack){ .why = why, .option = option });
	return false;
}

bool reasons_add_secret(struct server_reasons *reasons, struct arena *arena, const char *why)
{
	vec_push(arena, &reasons->needed, "NAME");
	return reasons_add(reasons, arena, why, by_variable);
}

const char *reasons_list_names(struct arena *arena, const strings *names)
{
	struct text out = { .arena = arena };

	vec_each(name, names)
		text_printf(&out, "%s%s", out.length ? ", " : "", quote_word(arena, *name, 60));
	return text_get(&out);
}

void reasons_add_variables(struct server_reasons *reasons, struct arena *arena, const char *why,
			   const strings *names)
{
	if (!names->count)
		return;
	// One option passes all variables: two would replace each other.
	reasons_add(reasons, arena,
		    arena_printf(arena, "%s: %s", why, reasons_list_names(arena, names)), "");
	vec_each(name, names)
		vec_push(arena, &reasons->needed, *name);
}

bool reasons_list_has(const strings *names, const char *name)
{
	vec_each(other, names) {
		if (str_equal(*other, name))
			return true;
	}
	return false;
}

struct command_lack reasons_join(const struct server_reasons *reasons, struct arena *arena,
				 const struct config *config)
{
	struct command_lack joined = command_join_lacks(arena, &reasons->lacks);
	const char *variables;

	if (!joined.option || !reasons->needed.count)
		return joined;
	variables = plan_pass_option(arena, config, &reasons->needed);
	if (str_equal(joined.option, by_variable))
		joined.option = arena_printf(arena, "%s %s", by_variable, variables);
	else if (*joined.option)
		joined.option = arena_printf(arena, "%s claudebox %s", variables, joined.option);
	else
		joined.option = variables;
	return joined;
}
