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
#include "plan/claude/parts.h"
#include "plan/facts.h"
#include "plan/mounts.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/state/instances.h"
#include "plan/state/layout.h"
#include "plan/state/upgrade.h"

enum { LISTED_DOUBTS = 20 };

static void add_link(struct plan *plan, struct arena *arena, const char *name, const char *target)
{
	vec_push(arena, &plan->state.links, (struct plan_link){ .name = name, .target = target });
}

// Returns the record of the instance, for the directory that is at the project's path now.
static const char *render_record(struct arena *arena, const struct facts *facts, const char *root)
{
	const struct instance_record record = { .root = root,
						.on = facts->state.on,
						.identity = facts->state.identity };

	return instance_render_record(arena, &record);
}

// Adds the directories and files outside of the canonical root that boxes of the project write.
static void add_places(struct plan_state *state, struct arena *arena, const struct facts *facts)
{
	const struct git_facts *git = plan_git(facts);

	vec_each(mount, &facts->mounts) {
		if (mount->writable && !path_within(mount->source.real, state->canonical_root))
			vec_push(arena, &state->places, mount->source.real);
	}
	if (!git)
		return;
	if (!path_within(git->top, state->canonical_root))
		vec_push(arena, &state->places, git->top);
	if (!path_within(git->common, state->canonical_root))
		vec_push(arena, &state->places, git->common);
}

// Plans a new instance if the one of this path belongs to an earlier directory. Everything in it
// was written for that directory, or by its boxes.
static void add_replacement(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	struct plan_state *state = &plan->state;
	const char *root = path_tilde(arena, state->canonical_root, facts->home);

	state->identity = facts->state.identity;
	state->kept_as = facts->state.kept_as;
	if (!state->kept_as)
		return;
	state->replaced = arena_printf(
		arena,
		"%s is not the directory that claudebox used at this path before (created %s). "
		"The box gets a new, empty state. The conversations and settings of the earlier "
		"directory are kept as '%s': claudebox --instances",
		quote_word(arena, root, 120), facts->state.earlier_born, state->kept_as);
	plan_warn_outside(plan, arena, "%s", state->replaced);
}

// Warns about texts that may have a secret but come along.
static void warn_doubtful(struct plan *plan, struct arena *arena, const strings *places)
{
	struct text names = { .arena = arena };
	const char *text;
	size_t count = 0;

	vec_each(place, places) {
		if (count++ < LISTED_DOUBTS)
			text_printf(&names, "%s%s", count > 1 ? ", " : "", *place);
	}
	if (count > LISTED_DOUBTS)
		text_printf(&names, " and %zu more", count - LISTED_DOUBTS);
	text = arena_printf(arena,
			    "your Claude files: %s may contain a secret, and the agent can read it",
			    text_get(&names));
	if (count > LISTED_DOUBTS)
		plan_add_list_warning(plan, arena, WARNING_SECRET, text, places);
	else if (count)
		plan_add_warning(plan, arena, WARNING_SECRET, text);
}

static void add_user_files(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const struct user_claude_facts *user = &facts->user_claude;

	vec_each(entry, &user->entries) {
		const char *name = path_name(entry->path);
		const char *place = arena_printf(arena, BOX_USER_CLAUDE "/%s", name);
		const char *problem;
		const char *hint;

		if (plan_near_secret(facts, entry->real)) {
			plan_warn_outside(plan, arena,
					  "'%s' points to a secret place and is left out",
					  quote_word(arena, entry->path, 120));
			continue;
		}
		problem = plan_source_problem(plan, arena, facts, entry->real, &hint);
		if (problem) {
			plan_warn_outside(plan, arena, "'%s' is left out: its target %s",
					  quote_word(arena, entry->path, 120), problem);
			continue;
		}
		if (plan_add_claude_file(plan, arena, &user->parts, entry, BOX_USER_CLAUDE,
					 PLAN_WHY_OWN_FILES))
			add_link(plan, arena, name, place);
	}
	vec_each(file, &user->refused) {
		const char *path = quote_word(arena, file->path, 120);

		if (file->members)
			plan_warn_outside(plan, arena, "of '%s', these are left out: %s: %s", path,
					  file->members, file->why);
		else
			plan_warn_outside(plan, arena, "'%s' is left out: %s", path, file->why);
	}
	plan_warn_claude_parts(plan, arena, &user->parts, "your Claude files");
	vec_each(name, &user->unexamined)
		plan_warn(plan, arena,
			  "your Claude files: '%s' has too many files to search all of them for "
			  "secrets",
			  quote_word(arena, *name, 80));
	warn_doubtful(plan, arena, &user->doubtful);
	if (user->secret_lines)
		plan_warn_secret(
			plan, arena,
			"your CLAUDE.md contains something like a secret in line %s, and the "
			"agent can read it",
			user->secret_lines);
}

// Returns the reason of the directory with the credentials: the file whose login enters the box.
static const char *login_reason(const struct plan *plan, struct arena *arena)
{
	const struct plan_state *state = &plan->state;

	if (!state->login)
		return "a Claude login that you make in a box (none yet)";
	if (!str_equal(state->login, state->host_credentials))
		return "the Claude login of your boxes";
	return arena_printf(arena, "your Claude login, from %s",
			    quote_word(arena, path_tilde(arena, state->login, plan->home), 120));
}

void plan_build_state(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	struct plan_state *state = &plan->state;
	const struct user_claude_facts *user = &facts->user_claude;
	const char *sessions = arena_printf(arena, "/run/user/%u/claude-sessions", plan->uid);

	state->root = facts->state.root;
	state->canonical_root = plan_canonical_root(arena, facts);
	state->instance = plan_instance_path(arena, facts);
	state->new_record = render_record(arena, facts, state->canonical_root);
	if (str_equal(state->new_record, facts->state.record))
		state->new_record = NULL;
	add_places(state, arena, facts);
	add_replacement(plan, arena, facts);
	if (!facts->state.version)
		state->new_version = STATE_VERSION_TEXT;
	state->new_searched = facts->state.new_searched;
	state->new_searched_size = facts->state.new_searched_size;
	plan_build_upgrade(plan, arena, facts);
	state->claude = path_join(arena, state->instance, "claude");
	state->credentials = path_join(arena, state->root, "sign-in");
	if (!user->credentials_refused)
		state->host_credentials = path_join(arena, user->directory, ".credentials.json");
	state->host_links = user->credentials;
	state->host_credentials_of_box = user->credentials_of_box;
	if (user->has_credentials)
		state->login = state->host_credentials;
	else if (facts->state.has_credentials)
		state->login = path_join(arena, state->credentials,
					 CREDENTIALS_STORE "/.credentials.json");
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_WRITABLE,
					    .source = state->claude,
					    .path = path_join(arena, facts->home, ".claude"),
					    .why = state->kept_as
							   ? "this project's Claude state, "
							     "new and empty"
							   : "this project's Claude state" });
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_WRITABLE,
					    .source = state->credentials,
					    .path = BOX_CREDENTIALS,
					    .why = login_reason(plan, arena) });
	add_link(plan, arena, ".credentials.json",
		 BOX_CREDENTIALS "/" CREDENTIALS_STORE "/.credentials.json");
	// Claude names session files after its process id, which is the same in every box.
	plan_add_mount(
		plan, arena,
		(struct plan_mount){ .kind = MOUNT_DIRECTORY, .path = sessions, .mode = 0700 });
	add_link(plan, arena, "sessions", sessions);
	add_user_files(plan, arena, facts);
}
