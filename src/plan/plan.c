// SPDX-License-Identifier: MIT
// Builds the plan from its parts, and provides the helpers that the parts share.
#include "plan/plan.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/approval.h"
#include "plan/approved_lines.h"
#include "plan/check.h"
#include "plan/claude/argument_files.h"
#include "plan/claude/instructions.h"
#include "plan/claude/named_paths.h"
#include "plan/command.h"
#include "plan/connections/connections.h"
#include "plan/environment.h"
#include "plan/editors.h"
#include "plan/facts.h"
#include "plan/git/git.h"
#include "plan/git/remotes.h"
#include "plan/guard/guard.h"
#include "plan/home/home.h"
#include "plan/left_out.h"
#include "plan/limits.h"
#include "plan/mounts.h"
#include "plan/network.h"
#include "plan/own_files.h"
#include "plan/project.h"
#include "plan/registries/registries.h"
#include "plan/state/conversations.h"
#include "plan/state/instance.h"
#include "plan/state/merged.h"
#include "plan/state/instances.h"
#include "plan/system.h"
#include "plan/toolchains/links.h"
#include "plan/toolchains/toolchains.h"
#include "plan/undo.h"
#include "plan/warnings.h"
#include "seccomp/programs.h"

#include <string.h>

const char *const mount_kind_names[MOUNT_KIND_COUNT] = {
	[MOUNT_READ_ONLY] = "read-only", [MOUNT_WRITABLE] = "read-write",
	[MOUNT_EMPTY] = "tmpfs",         [MOUNT_DIRECTORY] = "directory",
	[MOUNT_LINK] = "link",           [MOUNT_DATA] = "generated",
	[MOUNT_PROC] = "proc",           [MOUNT_DEV] = "dev",
	[MOUNT_SEAL] = "sealed",         [MOUNT_PROGRAM] = "program",
};

const char *plan_canonical_root(struct arena *arena, const struct facts *facts)
{
	const struct git_facts *git = plan_git(facts);
	const char *root;

	if (!git)
		return facts->project;
	if (str_equal(path_name(git->common), ".git"))
		root = path_parent(arena, git->common);
	else // a submodule, with its git directory in the superproject, or a bare repository
		root = str_equal(git->directory, git->common) ? git->top : git->common;
	// The box can write a `.git` that leads further down: it must not choose the state of
	// another project that way.
	return path_within(root, git->top) ? git->top : root;
}

const char *plan_instance_path(struct arena *arena, const struct facts *facts)
{
	return plan_instance_of(arena, facts, plan_canonical_root(arena, facts));
}

const char *plan_instance_of(struct arena *arena, const struct facts *facts, const char *root)
{
	return arena_printf(arena, "%s/" INSTANCES_DIRECTORY "/%s", facts->state.root,
			    instance_id(arena, root));
}

const char *plan_approval_name(struct arena *arena, const struct facts *facts)
{
	return arena_printf(arena, "approved-%s",
			    digest_hex(arena, facts->project, INSTANCE_DIGITS));
}

const char *plan_requested_name(struct arena *arena, const struct facts *facts)
{
	return arena_printf(arena, "tools-%s", digest_hex(arena, facts->project, INSTANCE_DIGITS));
}

bool plan_from_host(const struct plan_mount *mount)
{
	return mount->kind == MOUNT_READ_ONLY || mount->kind == MOUNT_WRITABLE;
}

// Returns the mount that a path lies in, NULL: the root.
static const struct plan_mount *find_around(const struct plan *plan, const char *path)
{
	const struct plan_mount *found = NULL;

	vec_each(mount, &plan->mounts) {
		if ((mount->kind == MOUNT_EMPTY || plan_from_host(mount)) &&
		    path_within(path, mount->path))
			found = mount;
	}
	return found;
}

bool plan_lies_in_host(const struct plan *plan, const char *path)
{
	const struct plan_mount *around = find_around(plan, path);

	return around && plan_from_host(around) && !around->kept_home;
}

// Returns a name on a tmpfs that stays writable, so that it can be removed after the move.
static const char *staging_path(const struct plan *plan, struct arena *arena)
{
	return arena_printf(arena, "/run/user/%u/staged-%zu", plan->uid, plan->mounts.count);
}

void plan_add_mount(struct plan *plan, struct arena *arena, struct plan_mount mount)
{
	const struct plan_mount *around = find_around(plan, mount.path);
	bool covers = mount.kind == MOUNT_EMPTY && mount.place.inode;
	bool is_mount = plan_from_host(&mount) || mount.kind == MOUNT_EMPTY;

	if (around && around->kept_home) {
		if (mount.kind == MOUNT_LINK) {
			plan_add_home_link(plan, arena, mount.path, mount.source, mount.why);
			if (str_equal(plan->mounts.items[plan->mounts.count - 1].path, mount.path))
				plan->mounts.items[plan->mounts.count - 1].toolchain =
					mount.toolchain;
			return;
		}
		mount.created = is_mount || mount.kind == MOUNT_DIRECTORY;
		mount.staged = is_mount ? staging_path(plan, arena) : NULL;
		mount.place = (struct file_id){ 0 };
		// bwrap takes longer for a mount the more mounts there are.
		mount.bound = mount.toolchain && mount.kind == MOUNT_READ_ONLY &&
			      path_within(mount.source, plan->home);
	} else if (around && around->kind == MOUNT_EMPTY && (around->created || around->carried)) {
		mount.carried = true;
		mount.staged = arena_printf(arena, "%s%s", around->staged,
					    mount.path + strlen(around->path));
	} else if ((plan_from_host(&mount) || covers) && plan_lies_in_host(plan, mount.path)) {
		mount.staged = staging_path(plan, arena);
		if (!covers && str_equal(mount.source, mount.path))
			mount.place = mount.id;
	}
	vec_push(arena, &plan->mounts, mount);
}

bool plan_provides(const struct plan *plan, const char *path)
{
	bool provided = false;

	// Later mounts cover earlier ones.
	vec_each(mount, &plan->mounts) {
		bool from_host = plan_from_host(mount) && !mount->kept_home;
		bool exact = str_equal(path, mount->path);
		bool hides = mount->kind == MOUNT_EMPTY || mount->kind == MOUNT_DEV ||
			     mount->kept_home;

		if (path_within(path, mount->path))
			provided = from_host || (exact && !hides) || (provided && !hides);
	}
	return provided;
}

// Returns whether a mount lies in this directory, so that it cannot be a link as on the host
// (/bin -> usr/bin).
static bool has_below(const struct plan *plan, const char *path)
{
	bool found = false;

	vec_each(mount, &plan->mounts)
		found |= path_within(mount->path, path);
	return found;
}

void plan_add_followed(struct plan *plan, struct arena *arena, const struct facts *facts,
		       const struct followed *file, const char *why)
{
	// A link can lead anywhere.
	if (plan_near_secret(facts, file->real)) {
		plan_warn_outside(plan, arena, "'%s' is not mounted: it leads to a secret place",
				  quote_word(arena, file->path, 120));
		return;
	}
	vec_each(hop, &file->hops) {
		if (plan_provides(plan, hop->link) || has_below(plan, hop->link))
			continue;
		plan_add_mount(plan, arena,
			       (struct plan_mount){ .kind = MOUNT_LINK,
						    .source = hop->target,
						    .path = hop->link,
						    .why = why });
	}
	if (plan_provides(plan, file->real))
		return;
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_READ_ONLY,
					    .source = file->real,
					    .path = file->real,
					    .id = file->id,
					    .why = why });
}

const char *plan_variable(const struct plan *plan, const char *name)
{
	vec_each(variable, &plan->variables) {
		if (str_equal(variable->name, name))
			return variable->value;
	}
	return NULL;
}

const char *plan_variable_reason(const struct plan_variable *variable)
{
	return variable->origin.name ? variable->origin.name : variable->why;
}

const char *plan_mount_reason(const struct plan_mount *mount)
{
	return mount->origin.name ? mount->origin.name : mount->why;
}

static void add_warning(struct plan *plan, struct arena *arena, struct plan_warning warning)
{
	size_t i = plan->warnings.count;

	vec_push(arena, &plan->warnings, (struct plan_warning){ 0 });
	for (; i > 0 && plan->warnings.items[i - 1].rank > warning.rank; i--)
		plan->warnings.items[i] = plan->warnings.items[i - 1];
	plan->warnings.items[i] = warning;
}

void plan_add_warning(struct plan *plan, struct arena *arena, enum warning_rank rank,
		      const char *text)
{
	add_warning(plan, arena, (struct plan_warning){ .rank = rank, .text = text });
}

void plan_add_list_warning(struct plan *plan, struct arena *arena, enum warning_rank rank,
			   const char *text, const strings *list)
{
	struct text whole = { .arena = arena };

	vec_each(item, list)
		text_printf(&whole, "%s\n", *item);
	add_warning(plan, arena,
		    (struct plan_warning){ .rank = rank,
					   .text = text,
					   .whole = approval_digest(arena, text_get(&whole)) });
}

void plan_warn(struct plan *plan, struct arena *arena, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	plan_add_warning(plan, arena, WARNING_GRANT, arena_vprintf(arena, format, args));
	va_end(args);
}

void plan_warn_danger(struct plan *plan, struct arena *arena, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	plan_add_warning(plan, arena, WARNING_DANGER, arena_vprintf(arena, format, args));
	va_end(args);
}

void plan_warn_secret(struct plan *plan, struct arena *arena, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	plan_add_warning(plan, arena, WARNING_SECRET, arena_vprintf(arena, format, args));
	va_end(args);
}

void plan_warn_listed(struct plan *plan, struct arena *arena, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	plan_add_warning(plan, arena, WARNING_LISTED, arena_vprintf(arena, format, args));
	va_end(args);
}

void plan_warn_outside(struct plan *plan, struct arena *arena, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	plan_add_warning(plan, arena, WARNING_OUTSIDE, arena_vprintf(arena, format, args));
	va_end(args);
}

bool plan_build(struct plan *plan, struct arena *arena, const struct config *config,
		const struct facts *facts, struct error *error)
{
	*plan = (struct plan){
		.config = config,
		.packages = facts->packages,
		.project = facts->project,
		.home = facts->home,
		.hostname = "claudebox",
		.bwrap = facts->bwrap,
		.memory = facts->memory,
		.bind_descriptors = facts->bwrap_binds_descriptors,
		.seccomp = config->nested ? SECCOMP_NESTED : SECCOMP_STRICT,
		.scoped = facts->landlock >= LANDLOCK_SCOPES,
		// A process with a Landlock restriction on files cannot mount.
		.sockets_blocked = facts->landlock >= LANDLOCK_SOCKETS && !config->nested,
		// claude refuses to run as root. The files that it creates belong to the caller
		// all the same.
		.uid = facts->uid ? facts->uid : 1000,
		.gid = facts->uid ? facts->gid : 1000,
	};
	if (!plan_refuse_project(facts, error) || !plan_refuse_state(facts, error))
		return false;
	plan_build_system(plan, arena, facts);
	plan_build_network(plan, arena, facts);
	plan_build_limits(plan, config, facts);
	plan_build_state(plan, arena, facts);
	plan_build_toolchains(plan, arena, facts);
	plan_build_project(plan, arena, facts);
	if (!plan_build_environment(plan, arena, facts, error) ||
	    !plan_build_command(plan, arena, facts, error) ||
	    !plan_build_mounts(plan, arena, facts, error)) // last, so that none hides another part
		return false;
	plan_report_links(plan, arena, facts);
	plan_leave_out_named(plan, arena, facts);
	plan_leave_out_remotes(plan, arena, facts);
	if (!plan_build_conversations(plan, arena, facts, error))
		return false;
	plan_build_registries(plan, arena, facts);
	plan_build_connections(plan, arena, facts);
	plan_build_git(plan, arena, facts);
	if (!plan_build_guard(plan, arena, facts, error))
		return false;
	plan_build_undo(plan, arena, facts);
	plan_finish_home(plan, arena, facts);
	plan_build_claude_configuration(plan, arena, facts);
	plan_leave_out_unset(plan, arena, facts);
	plan_leave_out_argument_files(plan, arena, facts);
	plan_leave_out_programs(plan, arena, facts);
	plan_drop_missing_editors(plan, arena, facts);
	plan_drop_named_twice(plan);
	plan_sort_left_out(plan, arena);
	plan_mark_own_files(plan);
	plan_build_warnings(plan, arena, facts);
	plan_build_first_start_notes(plan, arena, facts);
	plan->state.requested_name = plan_requested_name(arena, facts);
	plan->state.approval_name = plan_approval_name(arena, facts);
	approval_compare(plan, arena, facts->state.approved);
	plan_warn_home(plan, arena, facts);
	approval_mark_warnings(plan, arena, facts->state.approved);
	// The instructions describe all of the above.
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_DATA,
					    .source = plan_render_instructions(plan, arena, facts),
					    .path = BOX_POLICY "/CLAUDE.md",
					    .mode = 0444,
					    .why = "instructions for Claude" });
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_LINK,
					    .source = "CLAUDE.md",
					    .path = BOX_POLICY "/SANDBOX.md" });
	plan_add_mount(plan, arena, (struct plan_mount){ .kind = MOUNT_SEAL, .path = "/" });
	return true;
}
