// SPDX-License-Identifier: MIT
// Plans the instance of the project: its private Claude state, the user's own Claude files
// (read-only), and the credentials.
//
// Theory of operation: the box writes to its ~/.claude, so nothing is mounted below it. A box could
// replace a mount point there with a link, and bwrap would follow it. Files of the host are mounted
// under /run/claudebox, and links in ~/.claude point there. The credentials are in a directory that
// all boxes share, so that Claude's own locks work across boxes and several boxes refresh a token
// only once. src/state/credentials.c keeps it in sync with the host's file.
#include "plan/state/instance.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/claude/first_run.h"
#include "plan/claude/settings.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/state/instances.h"
#include "plan/state/layout.h"
#include "plan/state/upgrade.h"

static void add_link(struct plan *plan, struct arena *arena, const char *name, const char *target)
{
	vec_push(arena, &plan->state.links, (struct plan_link){ .name = name, .target = target });
}

static void add_user_files(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	vec_each(entry, &facts->user_claude.entries) {
		const char *name = path_name(entry->path);
		const char *place = arena_printf(arena, BOX_USER_CLAUDE "/%s", name);

		if (plan_near_secret(facts, entry->real)) {
			plan_warn(plan, arena, "'%s' points to a secret place and is left out",
				  quote_word(arena, entry->path, 120));
			continue;
		}
		plan_add_mount(plan, arena,
			       (struct plan_mount){ .kind = MOUNT_READ_ONLY,
						    .source = entry->real,
						    .path = place,
						    .id = entry->id,
						    .why = "your own Claude files" });
		add_link(plan, arena, name, place);
	}
}

// Plans the replacement of a file. A file that is not a JSON object is kept under another name.
static void add_file(struct plan *plan, struct arena *arena, const char *name, const char *content,
		     const char *old)
{
	bool invalid = old && !settings_valid(old);

	vec_push(arena, &plan->state.files,
		 (struct plan_file){ .name = name,
				     .content = content,
				     .based_on = old,
				     .keep_as = invalid ? arena_printf(arena, "%s.broken", name)
							: NULL });
}

static void add_settings(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	struct plan_state *state = &plan->state;
	const char *filtered;
	const char *merged;
	const char *answers;
	strings notes = { 0 };

	filtered = settings_filter(arena, plan, facts, &notes);
	vec_each(note, &notes)
		vec_push(arena, &plan->warnings, *note);
	// Host settings that cannot be parsed count as unchanged. Missing ones count as empty.
	if (!filtered && facts->state.settings_base)
		filtered = facts->user_claude.settings_json ? facts->state.settings_base : "{}\n";
	if (filtered && !str_equal(filtered, facts->state.settings_base))
		state->new_settings_base = filtered;
	merged = settings_merge(arena, facts->state.settings_base, filtered,
				facts->state.settings_json);
	if (merged)
		add_file(plan, arena, "settings.json", merged, facts->state.settings_json);
	answers = first_run_render(arena, facts->state.instance_json,
				   facts->user_claude.preferences_json, facts->project,
				   facts_variable(facts, "ANTHROPIC_API_KEY"));
	if (answers)
		add_file(plan, arena, ".claude.json", answers, facts->state.instance_json);
}

void plan_build_state(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	struct plan_state *state = &plan->state;
	const char *sessions = arena_printf(arena, "/run/user/%u/claude-sessions", plan->uid);

	state->root = facts->state.root;
	state->canonical_root = plan_canonical_root(arena, facts);
	state->instance = plan_instance_path(arena, facts);
	state->new_record = instance_render_record(arena, state->canonical_root, &facts->state.on);
	if (str_equal(state->new_record, facts->state.record))
		state->new_record = NULL;
	if (!facts->state.version)
		state->new_version = STATE_VERSION_TEXT;
	plan_build_upgrade(plan, arena, facts);
	state->claude = path_join(arena, state->instance, "claude");
	state->credentials = path_join(arena, state->root, "sign-in");
	state->host_credentials =
		path_join(arena, facts->user_claude.directory, ".credentials.json");
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_WRITABLE,
					    .source = state->claude,
					    .path = path_join(arena, facts->home, ".claude"),
					    .why = "this project's Claude state" });
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_WRITABLE,
					    .source = state->credentials,
					    .path = BOX_CREDENTIALS,
					    .why = "the Claude credentials" });
	add_link(plan, arena, ".credentials.json",
		 BOX_CREDENTIALS "/" CREDENTIALS_STORE "/.credentials.json");
	// Claude names session files after its process id, which is the same in every box.
	plan_add_mount(
		plan, arena,
		(struct plan_mount){ .kind = MOUNT_DIRECTORY, .path = sessions, .mode = 0700 });
	add_link(plan, arena, "sessions", sessions);
	add_user_files(plan, arena, facts);
	add_settings(plan, arena, facts);
}
