// SPDX-License-Identifier: MIT
// Mounts that the user requests: allowed sources and destinations.
//
// Theory of operation: the probe has followed each source and each destination. A secret is
// mounted only if its exact path is written, and the audit shows it in red. A source behind a link
// that a box can change, and that leads out of its project, is refused. A destination must
// not hide any part of the box. In a directory of the host the destination must exist and be
// reached without a symbolic link: claudebox creates nothing in the user's files and does not
// follow a link that a box planted there.
#include "plan/mounts.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/profile/place.h"
#include "plan/check.h"
#include "plan/command.h"
#include "plan/facts.h"
#include "plan/home/installs.h"
#include "plan/plan.h"

#include <string.h>

// Sets the error for a mount. In a profile it points at the member with the path; an option is
// named.
static bool refuse(struct error *error, const struct mount_facts *mount, const char *member,
		   const char *written, const char *problem)
{
	const char *shown = quote_display(error->arena, written, 0);

	if (mount->origin.place)
		return error_set(error, "%s: '%s' %s",
				 profile_place_shown(error->arena, mount->origin.place, member),
				 shown, problem);
	return error_set(error, "%s: %s'%s' %s", mount->origin.name,
			 mount->argument ? "" : "mount ", shown, problem);
}

static bool refuse_source(struct error *error, const struct mount_facts *mount, const char *problem,
			  const char *hint)
{
	refuse(error, mount, "host", mount->written, problem);
	return error_hint(error, "%s", hint);
}

// `hint` NULL: choose another destination.
static bool refuse_destination(struct error *error, const struct mount_facts *mount,
			       const char *problem, const char *hint)
{
	bool in_profile = mount->origin.place;
	bool named = in_profile && mount->written_to;

	refuse(error, mount, named ? "sandbox" : "host", named ? mount->written_to : mount->written,
	       problem);
	if (!hint && mount->argument)
		hint = "name another file or directory, or copy it into the project";
	else if (!hint)
		hint = in_profile ? "choose another path in the box: \"sandbox\": \"~/path\""
				  : "choose another destination: PATH:DEST";
	return error_hint(error, "%s", hint);
}

// Refuses a source behind a link that a box planted: the box would choose what is mounted.
static bool check_links(const struct facts *facts, const struct mount_facts *mount,
			struct error *error)
{
	const char *real = path_tilde(error->arena, mount->source.real, facts->home);

	if (!mount->planted.path)
		return true;
	return refuse_source(
		error, mount,
		arena_printf(error->arena,
			     "leads to '%s' through the symbolic link '%s', which %s can change",
			     quote_display(error->arena, real, 0),
			     quote_display(
				     error->arena,
				     path_tilde(error->arena, mount->planted.path, facts->home), 0),
			     mount->planted.box),
		"if you want that, give the path without this link");
}

// Sources that are never mounted, except cgroups: plan_check_limits() decides about these.
static const char *const kernel_paths[] = { "/proc", "/sys", "/dev" };

const char *plan_source_problem(const struct plan *plan, struct arena *arena,
				const struct facts *facts, const char *real, const char **ret_hint)
{
	*ret_hint = "mount only the directory that is needed";
	for (size_t i = 0; i < ARRAY_SIZE(kernel_paths); i++) {
		if (path_within(real, kernel_paths[i]) && !path_within(real, "/sys/fs/cgroup")) {
			*ret_hint = "the box has its own /proc and /dev";
			return "shows processes, devices or settings of the host";
		}
	}
	if (path_within(facts->home, real) ||
	    (facts->account_home && path_within(facts->account_home, real)))
		return "contains your home directory";
	if (path_overlaps(facts->state.root, real))
		return "contains the state of claudebox";
	if (plan_exposes_daemon(plan, facts, real)) {
		*ret_hint = arena_printf(arena, "this box does not get the Nix daemon: %s",
					 plan->nix_daemon_left_out);
		return "contains the Nix daemon's socket";
	}
	return NULL;
}

static bool check_source(const struct plan *plan, const struct facts *facts,
			 const struct mount_facts *mount, struct error *error)
{
	const char *problem;
	const char *hint;

	if (mount->source.kind == FILE_MISSING)
		return refuse_source(error, mount, "does not exist",
				     "check the path; ~ is your home directory");
	if (mount->on_path && mount->source.kind == FILE_REGULAR)
		return refuse_source(error, mount, "is a file, and PATH has directories",
				     "give the directory of the program, or mount the file with "
				     "--mount-ro");
	if (mount->on_path && strchr(mount->destination.path, ':'))
		return refuse_source(error, mount, "has a ':' in its path",
				     "':' separates the directories of PATH; rename the directory");
	if (mount->source.kind == FILE_OTHER)
		return refuse_source(error, mount, "is neither a file nor a directory",
				     "sockets and devices are never mounted");
	problem = plan_source_problem(plan, error->arena, facts, mount->source.real, &hint);
	return !problem || refuse_source(error, mount, problem, hint);
}

// Returns the next step for a mount that contains a secret.
static const char *secret_hint(const struct secret_place *secret)
{
	return secret->socket ? "a read-only mount does not stop a connection: mount a directory "
				"without it"
			      : "a secret is mounted only if its exact path is given";
}

// Stores the kind of secret that a mount gives to the box, NULL: none, and the place of one that
// does not exist yet and would be in the box if it appears. Returns false with an error if the
// mount contains a secret, or leads to one, without naming it.
static bool find_secret(const struct facts *facts, const struct mount_facts *mount,
			const char **ret_secret, const struct secret_place **ret_later,
			struct error *error)
{
	const char *real = mount->source.real;

	*ret_secret = NULL;
	*ret_later = NULL;
	vec_each(secret, &facts->secrets) {
		bool within = path_within(real, secret->path) || path_within(real, secret->real);
		bool named = !secret->socket && path_within(mount->source.path, secret->path);

		if (within && !named)
			return refuse_source(
				error, mount,
				arena_printf(error->arena, "leads to '%s' (%s)",
					     quote_display(error->arena, secret->path, 0),
					     secret->what),
				secret_hint(secret));
		if (within && mount->on_path)
			return refuse_source(
				error, mount,
				arena_printf(error->arena, "is '%s' (%s)",
					     quote_display(error->arena, secret->path, 0),
					     secret->what),
				"a directory of programs cannot be in a secret place");
		if (within)
			*ret_secret = secret->what;
		else if (!path_within(secret->path, real) && !path_within(secret->real, real))
			continue;
		else if (secret->missing && !secret->socket)
			*ret_later = secret;
		else
			return refuse_source(
				error, mount,
				arena_printf(error->arena, "%s '%s' (%s)",
					     secret->missing ? "would contain" : "contains",
					     quote_display(error->arena, secret->path, 0),
					     secret->what),
				secret_hint(secret));
	}
	return true;
}

// Paths of the box that cannot be a destination, and neither can paths above or below them.
static const struct {
	const char *path;
	const char *what;
} closed_paths[] = {
	{ "/proc", "the box's processes" },
	{ "/dev", "the box's devices" },
	{ "/sys", "the kernel" },
	{ BOX_RUN, "files of claudebox" },
	{ BOX_POLICY, "instructions for Claude" },
	{ "/nix/store", "programs (Nix)" },
	{ "/usr", "programs" },
};

// Returns whether a requested mount at its own path has the same file as another mount has there.
static bool is_same_below(const struct mount_facts *mount, const struct plan_mount *other)
{
	bool own_path = str_equal(mount->source.real, mount->destination.path);

	return own_path &&
	       (other->kind == MOUNT_LINK || other->kind == MOUNT_DIRECTORY ||
		(other->kind == MOUNT_READ_ONLY && str_equal(other->source, other->path) &&
		 !str_equal(other->path, mount->destination.path)));
}

static bool check_destination(const struct plan *plan, const struct mount_facts *mount,
			      struct error *error)
{
	const char *to = mount->destination.path;

	if (mount->on_path && str_equal(to, plan_install_directory(plan, error->arena))) {
		refuse_destination(error, mount,
				   "is the box's own directory for installed programs", NULL);
		return error_hint(error, "mount single programs: --mount-ro ~/.local/bin/NAME");
	}
	if (path_within(to, plan->state.claude) ||
	    path_within(to, path_join(error->arena, plan->home, ".claude")))
		return refuse_destination(error, mount, "would lie in Claude's state", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(closed_paths); i++)
		if (path_within(to, closed_paths[i].path) || path_within(closed_paths[i].path, to))
			return refuse_destination(error, mount,
						  arena_printf(error->arena, "would hide '%s' (%s)",
							       closed_paths[i].path,
							       closed_paths[i].what),
						  NULL);
	vec_each(other, &plan->mounts) {
		if (other->origin.kind == ORIGIN_REQUESTED && other->kind != MOUNT_DATA &&
		    (path_within(to, other->path) || path_within(other->path, to)))
			return refuse_destination(
				error, mount,
				arena_printf(error->arena, "overlaps the mount at '%s'",
					     quote_display(error->arena, other->path, 0)),
				"requested mounts must not overlap");
		if (other->kind == MOUNT_EMPTY && other->staged && path_within(to, other->path))
			return refuse_destination(
				error, mount,
				arena_printf(error->arena, "would lie in '%s', which is hidden",
					     quote_display(error->arena, other->path, 0)),
				NULL);
		if (other->kind != MOUNT_SEAL && path_within(other->path, to) &&
		    !is_same_below(mount, other))
			return refuse_destination(
				error, mount,
				arena_printf(error->arena, "would hide '%s'",
					     quote_display(error->arena, other->path, 0)),
				NULL);
	}
	return true;
}

// Checks a destination in a directory of the host.
static bool check_place(const struct plan *plan, const struct mount_facts *mount,
			struct error *error)
{
	const struct followed *to = &mount->destination;

	if (!plan_lies_in_host(plan, to->path))
		return true;
	if (to->hops.count)
		return refuse_destination(error, mount, "would be mounted through a symbolic link",
					  mount->argument
						  ? "give the path without symbolic links"
						  : "give a destination without symbolic links");
	if (to->kind != mount->source.kind)
		return refuse_destination(
			error, mount,
			arena_printf(error->arena, "requires that '%s' exists",
				     quote_display(error->arena, to->path, 0)),
			mount->source.kind == FILE_DIRECTORY
				? "create the directory first: claudebox does not change your files"
				: "create the file first: claudebox does not change your files");
	return true;
}

// Warns about secrets in a mount.
static void warn_secret(struct plan *plan, struct arena *arena, const struct mount_facts *mount,
			const char *secret, const struct secret_place *later)
{
	if (secret)
		plan_warn_listed(plan, arena, "'%s' is in the box: %s, %s",
				 quote_word(arena, mount->source.path, 120), secret,
				 mount->writable ? "and the agent can change it"
						 : "and the agent can read it");
	if (later)
		plan_warn(plan, arena,
			  "'%s' does not exist now (%s): if it appears, the agent can read it, "
			  "because '%s' is mounted",
			  quote_word(arena, path_tilde(arena, later->path, plan->home), 120),
			  later->what, quote_word(arena, mount->written, 120));
}

const char *plan_written_path(struct arena *arena, const struct facts *facts, const char *written)
{
	if (str_equal(written, "~"))
		return facts->home;
	written = path_expand_home(arena, written, facts->home);
	return path_clean(arena, path_join(arena, facts->project, written));
}

// Returns whether the box has the file or directory anyway, at the path that is written.
static bool is_provided(const struct plan *plan, const struct mount_facts *mount)
{
	return plan_lies_in_host(plan, mount->source.real) &&
	       plan_lies_in_host(plan, mount->source.path) &&
	       plan_provides(plan, mount->source.real);
}

static bool add_mount(struct plan *plan, struct arena *arena, const struct facts *facts,
		      const struct mount_facts *mount, struct error *error)
{
	const char *place = mount->argument ? plan_agent_place(plan, arena, mount->destination.path)
					    : mount->destination.path;
	bool own_path = str_equal(place, mount->destination.path);
	const struct secret_place *later;
	const char *secret;

	if (!check_source(plan, facts, mount, error) || !check_links(facts, mount, error) ||
	    !find_secret(facts, mount, &secret, &later, error))
		return false;
	// A directory of programs that the box has anyway needs no mount.
	if (mount->on_path && str_equal(mount->source.real, mount->destination.path) &&
	    plan_lies_in_host(plan, mount->source.real))
		return true;
	if (mount->argument && own_path && is_provided(plan, mount))
		return true;
	if (own_path &&
	    (!check_destination(plan, mount, error) || !check_place(plan, mount, error)))
		return false;
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = mount->writable ? MOUNT_WRITABLE
								    : MOUNT_READ_ONLY,
					    .source = mount->source.real,
					    .path = place,
					    .id = mount->source.id,
					    .place = mount->destination.id,
					    .origin = mount->origin,
					    .later = later ? later->what : NULL,
					    .secret = secret });
	warn_secret(plan, arena, mount, secret, later);
	return true;
}

// Returns whether another argument of claude names this path too, or a directory that contains it.
static bool is_in_another(const struct facts *facts, const struct mount_facts *mount)
{
	vec_each(other, &facts->mounts) {
		bool same = str_equal(other->source.path, mount->source.path);

		if (other->argument && (same ? other < mount : other != mount) &&
		    path_within(mount->source.path, other->source.path) &&
		    path_within(mount->source.real, other->source.real))
			return true;
	}
	return false;
}

bool plan_build_mounts(struct plan *plan, struct arena *arena, const struct facts *facts,
		       struct error *error)
{
	vec_each(mount, &facts->mounts) {
		if (!mount->on_path && !mount->argument &&
		    !add_mount(plan, arena, facts, mount, error))
			return false;
	}
	vec_each(mount, &facts->mounts) {
		if (mount->argument && !is_in_another(facts, mount) &&
		    !add_mount(plan, arena, facts, mount, error))
			return false;
	}
	vec_each(mount, &facts->mounts) { // these may lie in the others
		if (mount->on_path && !add_mount(plan, arena, facts, mount, error))
			return false;
	}
	return true;
}
