// SPDX-License-Identifier: MIT
// The gates: what cannot be a project, which state cannot be trusted, and what no plan may contain.
#include "plan/check.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
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
	error_hint(error, "start claudebox in the directory of one project, for example: "
			  "`mkdir ~/project && cd ~/project && claudebox`");
	return error_set(error, "project '%s' %s '%s' (%s)",
			 quote_display(error->arena, project, 0), relation,
			 quote_display(error->arena, place, 0), what);
}

static bool near(const char *project, const char *place)
{
	return place && (path_within(place, project) || path_within(project, place));
}

bool plan_refuse_project(const struct facts *facts, struct error *error)
{
	const char *project = facts->project;

	if (facts->project_problem) {
		error_hint(error, "start claudebox in a directory that you can read and enter");
		return error_set(error, "project '%s' %s",
				 quote_display(error->arena, project ? project : ".", 0),
				 facts->project_problem);
	}
	if (path_within(facts->home, project))
		return refuse(error, project, str_equal(facts->home, project) ? "is" : "contains",
			      facts->home, "your home directory, with all its secrets");
	if (facts->account_home && path_within(facts->account_home, project))
		return refuse(error, project,
			      str_equal(facts->account_home, project) ? "is" : "contains",
			      facts->account_home, "your account's home directory");
	vec_each(secret, &facts->secrets) {
		if (path_within(secret->path, project) || path_within(secret->real, project))
			return refuse(error, project, "contains", secret->path, secret->what);
		if (path_within(project, secret->path) || path_within(project, secret->real))
			return refuse(error, project, "lies in", secret->path, secret->what);
	}
	if (near(project, facts->user_claude.directory) || near(project, facts->user_claude.real))
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
	return true;
}

bool plan_refuse_state(const struct facts *facts, struct error *error)
{
	const struct state_facts *state = &facts->state;
	const char *root = quote_display(error->arena, state->root, 0);
	bool newline;

	if (state->root_is_link) {
		error_hint(error, "replace the link by a directory of your own");
		return error_set(error, "state directory '%s' is a symbolic link", root);
	}
	if (state->root_kind == FILE_MISSING)
		return true;
	if (state->root_kind != FILE_DIRECTORY) {
		error_hint(error, "move it away; claudebox makes a new one");
		return error_set(error, "state directory '%s' is not a directory", root);
	}
	if (state->root_foreign) {
		error_hint(error, "move it away, or give it to yourself with chown");
		return error_set(error, "state directory '%s' belongs to someone else", root);
	}
	if (state->root_mode & 077) {
		error_hint(error, "run `chmod 700 %s`",
			   quote_shell(error->arena, state->root, &newline));
		return error_set(error, "state directory '%s' is open to other users (mode %03o)",
				 root, (unsigned int)state->root_mode & 0777);
	}
	return layout_check_version(state, error);
}

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

static bool check_mount(const struct plan *plan, const struct plan_mount *mount,
			const struct facts *facts, struct error *error)
{
	// A mount point below a directory that a box writes to can be swapped for a link, and bwrap would follow it;
	// what is made there would be made in the user's own files. Only what is staged may go there: to what was
	// looked at.
	bool astray = plan_from_host(mount) ? mount->staged && !mount->place.inode
					    : writable_in_box(plan, mount->path);

	if (astray)
		return error_set(error, "plan mounts '%s' inside a writable directory",
				 quote_display(error->arena, mount->path, 0));
	if (!plan_from_host(mount))
		return true;
	if (plan_near_secret(facts, mount->source) && !mount->secret)
		return error_set(error, "plan mounts secret path '%s'",
				 quote_display(error->arena, mount->source, 0));
	return true;
}

bool plan_brings_daemon(const struct plan *plan, const struct facts *facts, const char *path)
{
	const struct followed *daemon = facts_file(facts, NIX_DAEMON);

	return daemon && plan->nix_daemon_left_out &&
	       (path_within(daemon->real, path) || path_within(path, daemon->real));
}

// However a mount was asked for, it does not bring in what was left out.
static bool check_daemon(const struct plan *plan, const struct facts *facts, struct error *error)
{
	vec_each(mount, &plan->mounts) {
		if (!plan_from_host(mount) || !plan_brings_daemon(plan, facts, mount->source))
			continue;
		error_hint(error, "the Nix daemon is not for this box: %s",
			   plan->nix_daemon_left_out);
		return error_set(error, "'%s' holds the Nix daemon's socket",
				 quote_display(error->arena, mount->source, 0));
	}
	return true;
}

bool plan_check(const struct plan *plan, const struct facts *facts, struct error *error)
{
	if (!plan->bwrap && facts->untrusted_programs.count) {
		error_hint(
			error,
			"install it for the whole system, for example: `apt install bubblewrap`");
		return error_set(error, "no bwrap that can be trusted: %s",
				 facts->untrusted_programs.items[0]);
	}
	if (!plan->bwrap) {
		error_note(error,
			   "bwrap makes the sandbox that Claude runs in; nothing was started");
		error_hint(error,
			   "install it: `apt install bubblewrap` (Debian, Ubuntu), "
			   "`dnf install bubblewrap` (Fedora), `pacman -S bubblewrap` (Arch)");
		return error_set(error, "bwrap (bubblewrap) is not installed");
	}
	// In a namespace of its own, what root's number may do to the host would be within reach.
	if (plan->user_namespaces && facts->uid == 0) {
		error_hint(error, "start claudebox as an ordinary user, or with another profile");
		return error_set(error,
				 "'nested' (%s) is not for root: a namespace made in the box would "
				 "give it root's rights on files of the host",
				 quote_display(error->arena, plan->nested_by, 80));
	}
	if (!plan->user_namespaces && !facts->bwrap_disables_userns) {
		error_hint(error, "install bubblewrap 0.8 or later%s",
			   facts->uid
				   ? ", or use a profile with \"nested\": true, whose box is less "
				     "confined"
				   : "");
		return error_set(error, "this bwrap cannot keep a box from making user namespaces "
					"(--disable-userns)");
	}
	if (!facts->shell) {
		error_hint(error, facts->store.only
					  ? "the box has programs of /nix/store only: install "
					    "claudebox again with nix, or bash on your PATH (NixOS)"
					  : "install bash in /usr/bin (Claude's Bash tool needs "
					    "bash or zsh)");
		return error_set(error, "no shell: neither bash nor zsh would be in the box");
	}
	if (!plan_check_network(plan, facts, error) || !plan_check_limits(plan, facts, error) ||
	    !check_daemon(plan, facts, error))
		return false;
	vec_each(mount, &plan->mounts) {
		if (mount->kind == MOUNT_DATA && *mount->source && !str_ends(mount->source, "\n"))
			return error_set(error, "made file '%s' has no last newline", mount->path);
		if (!check_mount(plan, mount, facts, error))
			return error_hint(error, "this is a fault in claudebox: please report it");
	}
	vec_each(package, &plan->packages) {
		if (!path_within(package->path, "/nix/store") ||
		    !plan_provides(plan, package->path))
			return error_set(error, "package '%s' is not in a store that the box has",
					 quote_display(error->arena, package->name, 60));
	}
	vec_each(variable, &plan->variables) {
		if (!env_name_valid(variable->name, strlen(variable->name)))
			return error_set(error, "plan has a variable without a proper name");
	}
	return true;
}
