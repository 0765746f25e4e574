// SPDX-License-Identifier: MIT
// What the report says about repositories, and no undo takes back: repositories in the project,
// stashes, and hooks that are not protected.
#include "snapshot/refs/state.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/guard/unprotect.h"
#include "plan/plan.h"
#include "plan/report/report.h"
#include "render/instances.h"
#include "snapshot/refs/nested.h"
#include "snapshot/refs/refs.h"
#include "snapshot/take/path_set.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/list.h"
#include "sys/write.h"

#include <fcntl.h>
#include <jansson.h>
#include <string.h>

#define STATE "state.json"

enum {
	STATE_LIMIT = 1024 * 1024,
	LINE_SIZE = 4096,
	MOST_HOOKS = 100,
	HOOK_SIZE = 1024 * 1024,
	LOG_SIZE = 1024 * 1024,
	DIGITS = 32,
	MOST_REPOSITORIES = 300, // as in take/scan.c
};

struct state {
	bool top;        // the project is the top of a repository
	git_refs nested; // digests by path
	git_refs hooks;
	git_refs stashes; // names are the commits
};

// Returns the directory that all worktrees of the repository share.
static const char *find_common(struct arena *arena, const char *git_directory)
{
	const char *text =
		file_read(arena, path_join(arena, git_directory, "commondir"), LINE_SIZE, 0);

	return text ? path_clean(arena,
				 path_join(arena, git_directory,
					   arena_strndup(arena, text, strcspn(text, "\r\n"))))
		    : git_directory;
}

// Reads the commits of all stashes: the reflog is their list.
static void read_stashes(struct state *state, struct arena *arena, const char *common)
{
	const char *text =
		file_read(arena, path_join(arena, common, "logs/refs/stash"), LOG_SIZE, 0);
	const char *line;

	while (text && (line = str_next_line(arena, &text))) {
		const char *id = strchr(line, ' ');
		const char *end = id ? strchr(id + 1, ' ') : NULL;
		const char *commit = end ? arena_strndup(arena, id + 1, (size_t)(end - id - 1))
					 : "";

		if (refs_is_object(commit))
			vec_push(arena, &state->stashes, (struct git_ref){ commit, "" });
	}
}

// Reads the hooks that the box can change.
static void read_hooks(struct state *state, struct arena *arena, const char *common,
		       const struct plan *plan)
{
	const char *path = path_join(arena, common, "hooks");
	CLEANUP_FD int directory = -1;
	strings names;

	if (!plan->guard.unprotected.count)
		return;
	directory = file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	if (directory < 0)
		return;
	names = list_directory_up_to(arena, directory, ".", MOST_HOOKS);
	vec_each(name, &names) {
		const char *hook = path_join(arena, path, *name);
		const char *text;

		if (str_ends(*name, ".sample") ||
		    !unprotect_covers(&plan->guard.unprotected, plan->project, hook))
			continue;
		text = file_read_at(arena, directory, *name, HOOK_SIZE);
		vec_push(arena, &state->hooks,
			 (struct git_ref){ hook, text ? digest_hex(arena, text, DIGITS) : "?" });
	}
}

// Returns a path as it is kept: one that is not UTF-8 is escaped.
static const char *show_path(struct arena *arena, const char *path)
{
	JSON_OWNED *value = render_path_value(arena, path);

	return arena_strdup(arena, json_string_value(value));
}

static struct state read_state(const struct plan *plan, const strings *nested, struct arena *arena)
{
	const char *directory = plan->undo.git_directory;
	const char *modules = directory ? path_join(arena, directory, "modules") : NULL;
	CLEANUP_FD int project = file_open(AT_FDCWD, plan->project, O_RDONLY | O_DIRECTORY);
	const char *common = directory ? find_common(arena, directory) : NULL;
	struct state state = { 0 };

	if (common) {
		read_stashes(&state, arena, common);
		read_hooks(&state, arena, common, plan);
	}
	if (project < 0)
		return state;
	state.top = nested_digest(arena, project, plan->project, "", NULL) != NULL;
	vec_each(path, nested) {
		const char *digest = nested_digest(arena, project, plan->project, *path, modules);

		if (digest)
			vec_push(arena, &state.nested,
				 (struct git_ref){ show_path(arena, *path), digest });
	}
	return state;
}

bool state_write(int session, const struct plan *plan, const strings *nested, struct error *error)
{
	struct state state = read_state(plan, nested, error->arena);
	JSON_OWNED *object = json_pack("{s:b, s:o, s:o, s:o}", "top", (int)state.top, "nested",
				       refs_render(&state.nested), "hooks",
				       refs_render(&state.hooks), "stashes",
				       refs_render(&state.stashes));

	return replace_file(session, STATE, json_write(error->arena, object, 0), error);
}

// Adds the repositories of the start to those of the end: where there are too many, which of them
// are found is chance.
static strings add_known(struct arena *arena, const strings *nested, const git_refs *before)
{
	struct path_set known = { 0 };
	strings all = { 0 };

	vec_each(path, nested) {
		path_set_add(&known, arena, *path);
		vec_push(arena, &all, *path);
	}
	vec_each(ref, before) {
		if (!path_set_has(&known, ref->name))
			vec_push(arena, &all, ref->name);
	}
	return all;
}

static void compare_nested(struct repository_changes *changes, struct arena *arena,
			   const git_refs *before, const git_refs *after)
{
	vec_each(ref, before) {
		if (!refs_value(after, ref->name))
			vec_push(arena, &changes->nested,
				 (struct report_repository){ ref->name, REPOSITORY_REMOVED });
	}
	vec_each(ref, after) {
		const char *start = refs_value(before, ref->name);

		if (!str_equal(start, ref->value) && (start || before->count < MOST_REPOSITORIES))
			vec_push(arena, &changes->nested,
				 (struct report_repository){ ref->name,
							     start ? REPOSITORY_CHANGED
								   : REPOSITORY_CREATED });
	}
}

struct repository_changes state_compare(int session, const struct plan *plan, const strings *nested,
					struct arena *arena)
{
	const char *text = file_read_at(arena, session, STATE, STATE_LIMIT);
	JSON_OWNED *object = text ? json_read_object(text, 0) : NULL;
	git_refs before = refs_parse(arena, json_object_get(object, "nested"));
	strings all = add_known(arena, nested, &before);
	struct state after = read_state(plan, &all, arena);
	git_refs hooks = refs_parse(arena, json_object_get(object, "hooks"));
	git_refs stashes = refs_parse(arena, json_object_get(object, "stashes"));
	struct repository_changes changes = { 0 };

	if (!object)
		return changes;
	changes.created = after.top && json_is_false(json_object_get(object, "top"));
	compare_nested(&changes, arena, &before, &after.nested);
	vec_each(stash, &stashes) {
		if (!refs_value(&after.stashes, stash->name))
			vec_push(arena, &changes.stashes, stash->name);
	}
	vec_each(hook, &after.hooks) {
		if (!str_equal(refs_value(&hooks, hook->name), hook->value))
			vec_push(arena, &changes.hooks,
				 path_within(hook->name, plan->project)
					 ? hook->name + strlen(plan->project) + 1
					 : hook->name);
	}
	return changes;
}

bool state_is_changed(const struct repository_changes *changes)
{
	return changes->created || changes->nested.count || changes->stashes.count ||
	       changes->hooks.count;
}
