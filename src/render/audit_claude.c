// SPDX-License-Identifier: MIT
// The part of the audit on the user's MCP servers.
#include "render/audit_claude.h"

#include "base/arena.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "config/origin.h"
#include "plan/plan.h"
#include "render/audit_parts.h"

void audit_add_servers(struct screen *screen, const struct plan *plan)
{
	if (!plan->servers.count)
		return;
	audit_add_title(screen, STYLE_HEAD, "MCP servers:");
	text_add(&screen->out, "\n");
	vec_each(server, &plan->servers) {
		const char *line = arena_printf(
			screen->arena, "%s (%s, %s)", quote_word(screen->arena, server->name, 60),
			server->local ? "this project's" : "yours",
			server->by_address ? "by its address" : "a program in the box");

		audit_add_mark(screen, ORIGIN_ALLOWED);
		screen_add_wrapped(screen, STYLE_PLAIN, line, 6);
	}
}
