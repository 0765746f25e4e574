// SPDX-License-Identifier: MIT
// Checks of the project, the state directory and the finished plan.
#include "plan/check.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/limits.h"
#include "plan/network.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/state/layout.h"
#include "plan/tables.h"

#include <string.h>

static bool refuse(struct error *error, const char *project, const char *relation,
		   const char *place, const char *what)
{
	const char *shown = quote_display(error->arena, project, 0);

	if (str_equal(project, place))
		error_set(error, "project '%s' is not allowed (%s)", shown, what);
	else
		error_set(error, "project '%s' %s '%s' (%s)", shown, relation,
			  quote_display(error->arena, place, 0), what);
	return error_hint(error, "start claudebox in the directory of one project, for example: "
				 "`mkdir ~/project && cd ~/project && claudebox`");
}

static bool overlaps(const char *project, const char *place)
{
	return place && path_overlaps(place, project);
}

// Refuses the git directory of a worktree, and what lies in it: the box would write git's own files
// and not the worktree that they belong to. A worktree in a git directory is none of these.
static bool refuse_git_directory(const struct git_facts *git, const char *project,
				 struct error *error)
{
	if (!git->top || !git->directory || !path_within(project, git->directory) ||
	    !path_within(git->directory, git->top))
		return true;
	error_set(error, "project '%s' %s the git directory of '%s'",
		  quote_display(error->arena, project, 0),
		  str_equal(project, git->directory) ? "is" : "lies in",
		  quote_display(error->arena, git->top, 0));
	return error_hint(error, "start claudebox in that directory");
}

// Refuses a project with a secret in it, or in a secret place. A secret that exists is named rather
// than one that may appear.
static bool refuse_secrets(const struct facts *facts, struct error *error)
{
	const char *project = facts->project;

	for (int missing = 0; missing <= 1; missing++)
		vec_each(secret, &facts->secrets) {
			if (secret->missing != missing)
				continue;
			if (path_within(secret->path, project) ||
			    path_within(secret->real, project))
				return refuse(error, project,
					      missing ? "would contain" : "contains", secret->path,
					      secret->what);
			if (path_within(project, secret->path) ||
			    path_within(project, secret->real))
				return refuse(error, project, "lies in", secret->path,
					      secret->what);
		}
	return true;
}

bool plan_refuse_project(const struct facts *facts, struct error *error)
{
	const char *project = facts->project;

	if (facts->project_problem) {
		error_set(error, "project '%s' %s",
			  quote_display(error->arena, project ? project : ".", 0),
			  facts->project_problem);
		return error_hint(error,
				  "start claudebox in a directory that you can read and enter");
	}
	if (path_within(facts->home, project))
		return refuse(error, project, str_equal(facts->home, project) ? "is" : "contains",
			      facts->home, "your home directory, with all its secrets");
	if (facts->account_home && path_within(facts->account_home, project))
		return refuse(error, project,
			      str_equal(facts->account_home, project) ? "is" : "contains",
			      facts->account_home, "your account's home directory");
	if (!refuse_secrets(facts, error))
		return false;
	if (overlaps(project, facts->user_claude.directory) ||
	    overlaps(project, facts->user_claude.real))
		return refuse(error, project,
			      path_within(project, facts->user_claude.directory) ? "lies in"
										 : "contains",
			      facts->user_claude.directory, "the conversations of all projects");
	for (size_t i = 0; i < refused_project_count; i++) {
		const struct refused_row *row = &refused_projects[i];
		const char *place = path_expand_home(error->arena, row->path, facts->home);

		if (path_within(place, project))
			return refuse(error, project, str_equal(place, project) ? "is" : "contains",
				      place, row->what);
		if (row->inside && path_within(project, place))
			return refuse(error, project, "lies in", place, row->what);
	}
	return refuse_git_directory(&facts->git, project, error);
}

bool plan_refuse_state(const struct facts *facts, struct error *error)
{
	const struct state_facts *state = &facts->state;
	const char *root = quote_display(error->arena, state->root, 0);
	bool newline;

	if (state->root_is_link) {
		error_set(error, "state directory '%s' is a symbolic link", root);
		return error_hint(error, "replace the link by a directory of your own");
	}
	if (state->root_kind == FILE_MISSING)
		return true;
	if (state->root_kind != FILE_DIRECTORY) {
		error_set(error, "state directory '%s' is not a directory", root);
		return error_hint(error, "move it away; claudebox creates a new one");
	}
	if (state->root_foreign) {
		error_set(error, "state directory '%s' belongs to another user", root);
		return error_hint(error, "move it away, or change its owner with chown");
	}
	if (state->root_mode & 077) {
		error_set(error, "state directory '%s' is open to other users (mode %03o)", root,
			  (unsigned int)state->root_mode & 0777);
		return error_hint(error, "run `chmod 700 %s`",
				  quote_shell(error->arena, state->root, &newline));
	}
	return layout_check_version(state, error);
}

// Returns whether a path lies in a directory that the box can write.
static bool writable_in_box(const struct plan *plan, const char *path)
{
	bool writable = false;

	vec_each(mount, &plan->mounts) {
		if (mount->kind == MOUNT_WRITABLE && path_within(path, mount->path) &&
		    !str_equal(path, mount->path))
			writable = true;
	}
	return writable;
}

// Returns whether the kept home, and no other mount, provides the mount point.
static bool lies_in_home(const struct plan *plan, const struct plan_mount *mount)
{
	bool in_home = false;

	for (const struct plan_mount *other = plan->mounts.items; other < mount; other++)
		if ((plan_from_host(other) || other->kind == MOUNT_EMPTY) &&
		    path_within(mount->path, other->path))
			in_home = other->kept_home && !str_equal(mount->path, other->path);
	return in_home;
}

static bool check_mount(const struct plan *plan, const struct plan_mount *mount,
			const struct facts *facts, struct error *error)
{
	// In a directory that a box can write, a mount point can be swapped for a link. bwrap
	// would follow it, and would create the mount point in the user's own files. Only a
	// staged mount may go there: it is moved onto the file that the probe has seen, or that
	// the launcher made in the kept home.
	bool placed = mount->created ? lies_in_home(plan, mount)
				     : mount->carried || (mount->staged && mount->place.inode);

	if (!placed && (mount->staged || writable_in_box(plan, mount->path)))
		return error_set(error, "plan mounts '%s' inside a writable directory",
				 quote_display(error->arena, mount->path, 0));
	if (!plan_from_host(mount))
		return true;
	if (plan_near_secret(facts, mount->source) && !mount->secret && !mount->later)
		return error_set(error, "plan mounts secret path '%s'",
				 quote_display(error->arena, mount->source, 0));
	return true;
}

bool plan_exposes_daemon(const struct plan *plan, const struct facts *facts, const char *path)
{
	const struct followed *daemon = facts_file(facts, NIX_DAEMON);

	return daemon && plan->nix_daemon_left_out &&
	       (path_within(daemon->real, path) || path_within(path, daemon->real));
}

// Refuses a mount that gives the box the Nix daemon that it must not have.
static bool check_daemon(const struct plan *plan, const struct facts *facts, struct error *error)
{
	vec_each(mount, &plan->mounts) {
		if (!plan_from_host(mount) || !plan_exposes_daemon(plan, facts, mount->source))
			continue;
		error_set(error, "'%s' contains the Nix daemon's socket",
			  quote_display(error->arena, mount->source, 0));
		return error_hint(error, "this box does not get the Nix daemon: %s",
				  plan->nix_daemon_left_out);
	}
	return true;
}

static bool check_bwrap(const struct plan *plan, const struct facts *facts, struct error *error)
{
	if (!plan->bwrap && facts->untrusted_programs.count) {
		error_set(error, "no trusted bwrap: %s", facts->untrusted_programs.items[0]);
		return error_hint(error, "install it for the whole system, for example: "
					 "`apt install bubblewrap`");
	}
	if (!plan->bwrap) {
		error_set(error, "bwrap (bubblewrap) is not installed");
		error_note(error,
			   "bwrap creates the sandbox that Claude runs in; nothing was started");
		return error_hint(
			error, "install it: `apt install bubblewrap` (Debian, Ubuntu), "
			       "`dnf install bubblewrap` (Fedora), `pacman -S bubblewrap` (Arch)");
	}
	return true;
}

static bool check_namespaces(const struct plan *plan, const struct facts *facts,
			     struct error *error)
{
	// In a user namespace of the box, the host still honours root's user id.
	if (plan->config->nested && facts->uid == 0) {
		error_set(error,
			  "'nested' (%s) is refused for root: a namespace created in the box would "
			  "have root's rights on files of the host",
			  quote_display(error->arena, plan->config->nested_origin.name, 80));
		return error_hint(error,
				  "start claudebox as an ordinary user, or with another profile");
	}
	if (!plan->config->nested && !facts->bwrap_disables_userns) {
		error_set(error,
			  "this bwrap cannot disable user namespaces in a box (--disable-userns)");
		return error_hint(error, "install bubblewrap 0.8 or later%s",
				  facts->uid
					  ? ", or use a profile with \"nested\": true, whose box "
					    "is less confined"
					  : "");
	}
	return true;
}

static bool check_shell(const struct facts *facts, struct error *error)
{
	if (facts->shell)
		return true;
	error_set(error, "no shell: the box would have neither bash nor zsh");
	return error_hint(error,
			  facts->store.only
				  ? "the box has programs of /nix/store only: install "
				    "claudebox again with nix, or bash on your PATH (NixOS)"
				  : "install bash in /usr/bin (Claude's Bash tool requires bash "
				    "or zsh)");
}

static bool check_lists(const struct plan *plan, const struct facts *facts, struct error *error)
{
	vec_each(mount, &plan->mounts) {
		if (mount->kind == MOUNT_DATA && *mount->source && !str_ends(mount->source, "\n"))
			return error_set(error, "generated file '%s' does not end in a newline",
					 mount->path);
		if (!check_mount(plan, mount, facts, error))
			return error_hint(error, "this is a bug in claudebox: please report it");
	}
	vec_each(package, &plan->packages) {
		if (!path_within(package->path, "/nix/store") ||
		    !plan_provides(plan, package->path))
			return error_set(error, "package '%s' is not in the store of the box",
					 quote_display(error->arena, package->name, 60));
	}
	vec_each(variable, &plan->variables) {
		if (!env_name_valid(variable->name, strlen(variable->name)))
			return error_set(error, "plan has a variable with an invalid name");
	}
	return true;
}

bool plan_check(const struct plan *plan, const struct facts *facts, struct error *error)
{
	return check_bwrap(plan, facts, error) && check_namespaces(plan, facts, error) &&
	       check_shell(facts, error) && plan_check_network(plan, facts, error) &&
	       plan_check_limits(plan, facts, error) && check_daemon(plan, facts, error) &&
	       check_lists(plan, facts, error);
}
