// SPDX-License-Identifier: MIT
// The parts of the user's Claude settings that an approval records.
//
// Theory of operation: a hook runs in the box without a question, so a new or changed one is a
// change of the box, and so is a rule that no longer forbids something. Themes and other
// preferences change too often to ask about each.
#include "plan/claude/recorded.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/approved_lines.h"
#include "plan/claude/settings.h"
#include "plan/connections/endpoint.h"

enum { SHOWN = 60 };

static void add(struct plan *plan, struct arena *arena, const char *line, const char *content)
{
	vec_push(arena, &plan->settings,
		 (struct plan_setting){ .line = line, .digest = approval_digest(arena, content) });
}

static void add_command(struct plan *plan, struct arena *arena, const char *kind,
			const char *command, const json_t *whole)
{
	const char *line = command ? arena_printf(arena, "claude %s %s", kind,
						  quote_word(arena, command, SHOWN))
				   : arena_printf(arena, "claude %s", kind);

	add(plan, arena, line, json_write(arena, whole, JSON_COMPACT | JSON_SORT_KEYS));
}

static const char *get_command(const json_t *entry)
{
	return json_string_value(json_object_get(entry, "command"));
}

// Adds each hook with its event and what it matches.
static void add_hooks(struct plan *plan, struct arena *arena, json_t *events)
{
	const char *event;
	json_t *matchers;
	json_t *matcher;
	json_t *hook;
	size_t i;
	size_t k;

	json_object_foreach(events, event, matchers)
		json_array_foreach(matchers, i, matcher)
			json_array_foreach(json_object_get(matcher, "hooks"), k, hook) {
				JSON_OWNED *whole = json_pack("{s:O?, s:O}", "matcher",
							      json_object_get(matcher, "matcher"),
							      "hook", hook);

				add_command(plan, arena,
					    arena_printf(arena, "hook %s",
							 quote_word(arena, event, SHOWN)),
					    get_command(hook), whole);
			}
}

// Adds the addresses among Claude's variables.
static void add_addresses(struct plan *plan, struct arena *arena, json_t *variables)
{
	const char *name;
	json_t *value;

	json_object_foreach(variables, name, value) {
		const char *text = json_string_value(value);
		const char *hosts = text ? endpoint_hosts(arena, text, false) : NULL;

		if (hosts)
			add(plan, arena,
			    arena_printf(arena, "claude env %s", quote_word(arena, name, 0)),
			    hosts);
	}
}

void recorded_add_settings(struct plan *plan, struct arena *arena, const char *text)
{
	JSON_OWNED *settings = json_read_object(text, 0);
	json_t *rules = json_object_get(json_object_get(settings, "permissions"), "deny");
	json_t *rule;
	size_t i;

	for (i = 0; i < command_setting_count; i++) {
		const json_t *entry = json_object_get(settings, command_settings[i]);

		if (get_command(entry))
			add_command(plan, arena, command_settings[i], get_command(entry), entry);
	}
	add_hooks(plan, arena, json_object_get(settings, "hooks"));
	add_addresses(plan, arena, json_object_get(settings, "env"));
	json_array_foreach(rules, i, rule) {
		const char *written = json_string_value(rule);

		if (written)
			add(plan, arena,
			    arena_printf(arena, APPROVAL_DENY "%s",
					 quote_word(arena, written, SHOWN)),
			    written);
	}
}
