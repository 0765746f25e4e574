// SPDX-License-Identifier: MIT
// The parts of the audit on the user's MCP servers and on settings of package managers.
#include "render/audit/claude.h"

#include "base/arena.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "config/origin.h"
#include "plan/plan.h"
#include "render/audit/parts.h"

#include <stdbool.h>

void audit_add_servers(struct screen *screen, const struct plan *plan)
{
	if (!plan->servers.count && !plan->box_servers.count)
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
	vec_each(name, &plan->box_servers) {
		audit_add_mark(screen, ORIGIN_GENERATED);
		screen_add_wrapped(screen, STYLE_PLAIN,
				   arena_printf(screen->arena, "%s (added in a box)",
						quote_word(screen->arena, *name, 60)),
				   6);
	}
}

void audit_add_unused_settings(struct screen *screen, const struct plan *plan)
{
	bool title = false;

	vec_each(report, &plan->registries) {
		struct text line = { .arena = screen->arena };

		if (!report->unused.count)
			continue;
		if (!title)
			audit_add_title(screen, STYLE_HEAD, "Settings without effect here:");
		text_add(&screen->out, title ? "  " : "\n  ");
		title = true;
		text_printf(&line, "%s: ", audit_path(screen, report->source));
		vec_each(name, &report->unused)
			text_printf(&line, "%s%s", name == report->unused.items ? "" : ", ",
				    audit_value(screen, *name));
		screen_add_wrapped(screen, STYLE_PLAIN, text_get(&line), 4);
	}
}
