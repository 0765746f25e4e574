// SPDX-License-Identifier: MIT
// The project, and the parts of its git repository that git needs.
#include "plan/project.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/tables.h"

#include <string.h>

static void add_host(struct plan *plan, struct arena *arena, enum mount_kind kind, const char *path,
		     struct file_id id, const char *why)
{
	plan_add_mount(plan, arena,
		       (struct plan_mount){
			       .kind = kind, .source = path, .path = path, .id = id, .why = why });
}

static bool is_mounted(const struct plan *plan, const char *path, enum mount_kind kind)
{
	bool has = false;

	vec_each(mount, &plan->mounts) {
		if (path_within(path, mount->path))
			has = mount->kind == kind && !mount->kept_home;
	}
	return has;
}

// Runs thousands of times at each start. `below` is the part of the path after the home directory,
// which most secrets are in, NULL: it is not there.
static bool overlaps_secret(const char *path, const char *below, const struct secret_place *secret)
{
	if (!secret->home)
		return path_overlaps(path, secret->path);
	return below && path_overlaps(below, secret->path + secret->home);
}

bool plan_near_other_secret(const struct facts *facts, const char *path, const char *own)
{
	const char *below = path_within(path, facts->home) ? path + strlen(facts->home) : NULL;

	if (path_within(facts->home, path) ||
	    (facts->account_home && path_within(facts->account_home, path)))
		return true;
	vec_each(secret, &facts->secrets) {
		if (own && str_equal(secret->path, own))
			continue;
		if (overlaps_secret(path, below, secret))
			return true;
		// The store is readable by every user, so a secret that leads there is not one.
		if (secret->real != secret->path && path_overlaps(path, secret->real) &&
		    !path_within(secret->real, "/nix/store"))
			return true;
	}
	return false;
}

bool plan_near_secret(const struct facts *facts, const char *path)
{
	return plan_near_other_secret(facts, path, NULL);
}

const char *plan_git_refusal(const struct facts *facts)
{
	const struct git_facts *git = &facts->git;

	if (git->refused || git->judged || !git->top)
		return git->refused;
	if (plan_near_secret(facts, git->top) || plan_near_secret(facts, git->common) ||
	    plan_near_secret(facts, git->directory))
		return "the repository around the project contains secrets: git is not available";
	// A directory that cannot be a project (/tmp …) cannot be the repository of one either.
	for (size_t i = 0; i < refused_project_count; i++)
		if (path_within(refused_projects[i].path, git->top))
			return "the repository around the project contains more than projects: git "
			       "is not available";
	return NULL;
}

const struct git_facts *plan_git(const struct facts *facts)
{
	return facts->git.top && !plan_git_refusal(facts) ? &facts->git : NULL;
}

// Returns whether the user requests this very directory at its own path.
static bool is_requested(const struct facts *facts, const char *path)
{
	bool found = false;

	vec_each(mount, &facts->mounts)
		found |= str_equal(mount->source.real, path) &&
			 str_equal(mount->destination.path, path);
	return found;
}

// Covers directories of other worktrees in the repository with an empty one.
static void cover_worktrees(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	vec_each(covered, &facts->git.covered) {
		if (!is_requested(facts, covered->path))
			plan_add_mount(
				plan, arena,
				(struct plan_mount){
					.kind = MOUNT_EMPTY,
					.path = covered->path,
					.mode = 0555,
					.place = covered->id,
					.why = "hidden: other worktrees of the repository" });
	}
}

// Returns whether git tracks a place of the project.
static bool is_tracked(const struct facts *facts, const char *path)
{
	vec_each(tracked, &facts->guard.tracked) {
		const char *relative = str_after(path, facts->project);

		if (relative && *relative == '/' && str_equal(relative + 1, *tracked))
			return true;
	}
	return false;
}

void plan_build_project(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const struct git_facts *git = plan_git(facts);
	// A worktree inside a bare repository: its mounts must not be hidden by the repository's.
	bool inside = git && path_within(git->top, git->common);
	bool read_only = plan->config->project == PROJECT_READ_ONLY;
	enum mount_kind kind = read_only ? MOUNT_READ_ONLY : MOUNT_WRITABLE;

	if (inside) {
		add_host(plan, arena, kind, git->common, git->common_id,
			 "the repository's history");
		for (size_t i = git->pinned.count; i-- > 0;)
			add_host(plan, arena, kind, git->pinned.items[i].path,
				 git->pinned.items[i].id, NULL);
	}
	// Without the files around a subdirectory, git reports them as deleted.
	if (git && !str_equal(git->top, facts->project))
		add_host(plan, arena, MOUNT_READ_ONLY, git->top, git->top_id,
			 "the repository around the project");
	add_host(plan, arena, kind, facts->project, facts->project_id,
		 read_only ? "the project, read-only"
		 : facts->project_unwritable
			 ? arena_printf(arena, "the project; read-only in effect: %s",
					facts->project_unwritable)
			 : "the project");
	// The box must not write its own requests. A mount point cannot be renamed either.
	// If git tracks them, a checkout must be able to replace them, and claudebox asks about new
	// ones.
	if (facts->requested.kind == FILE_DIRECTORY && !is_tracked(facts, facts->requested.path))
		add_host(plan, arena, MOUNT_READ_ONLY, facts->requested.path, facts->requested.id,
			 "packages that the repository requests");
	if (!git)
		return;
	if (!inside && !is_mounted(plan, git->common, kind))
		add_host(plan, arena, kind, git->common, git->common_id,
			 "the repository's history");
	if (!is_mounted(plan, git->directory, kind))
		add_host(plan, arena, kind, git->directory, git->directory_id,
			 "the worktree's git directory");
	cover_worktrees(plan, arena, facts);
}
