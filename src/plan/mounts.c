// SPDX-License-Identifier: MIT
// Mounts that the user asked for by name (EXT-03): what may be a source, and where it may go.
//
// Theory of operation: the probe has followed each source and looked at each destination. A source that is a secret
// is let in only when its very path was written, and the audit shows it in red. A destination must not hide anything
// that the box is made of, and in a directory of the host it must already be there, reached through no link: nothing is
// made in the user's files, and what was planted is not followed.
#include "plan/mounts.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "config/profile_place.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/plan.h"

// In a profile the very path is pointed at; an option is a line of its own.
static bool refuse(struct error *error, const struct mount_facts *mount, const char *member,
		   const char *written, const char *problem)
{
	const char *shown = quote_display(error->arena, written, 0);

	if (mount->place)
		return error_set(error, "%s: '%s' %s",
				 profile_place_shown(error->arena, mount->place, member), shown,
				 problem);
	return error_set(error, "%s: mount '%s' %s", mount->origin, shown, problem);
}

static bool refuse_source(struct error *error, const struct mount_facts *mount, const char *problem,
			  const char *hint)
{
	error_hint(error, "%s", hint);
	return refuse(error, mount, "host", mount->written, problem);
}

static bool refuse_destination(struct error *error, const struct mount_facts *mount,
			       const char *problem, const char *hint)
{
	bool named = mount->place && mount->written_to;

	error_hint(error, "%s",
		   hint           ? hint
		   : mount->place ? "give it another place in the box: \"sandbox\": \"~/place\""
				  : "give another destination: PATH:DEST");
	return refuse(error, mount, named ? "sandbox" : "host",
		      named ? mount->written_to : mount->written, problem);
}

static bool check_source(const struct plan *plan, const struct facts *facts,
			 const struct mount_facts *mount, struct error *error)
{
	const char *real = mount->source.real;

	if (mount->source.kind == FILE_MISSING)
		return refuse_source(error, mount, "does not exist",
				     "look at the path; ~ is your home");
	if (mount->source.kind == FILE_OTHER)
		return refuse_source(error, mount, "is neither a file nor a directory",
				     "sockets and devices are never passed");
	if (path_within(facts->home, real) ||
	    (facts->account_home && path_within(facts->account_home, real)))
		return refuse_source(error, mount, "contains your home directory",
				     "name the directory that is needed");
	if (path_within(facts->state.root, real) || path_within(real, facts->state.root))
		return refuse_source(error, mount, "holds claudebox's own state",
				     "name the directory that is needed");
	if (plan_brings_daemon(plan, facts, real))
		return refuse_source(error, mount, "holds the Nix daemon's socket",
				     arena_printf(error->arena,
						  "the Nix daemon is not for this box: %s",
						  plan->nix_daemon_left_out));
	return true;
}

// The secret that this mount lets in: NULL when it is none. False when it does so in passing.
static bool find_secret(const struct facts *facts, const struct mount_facts *mount,
			const char **ret_secret, struct error *error)
{
	const char *real = mount->source.real;

	*ret_secret = NULL;
	vec_each(secret, &facts->secrets) {
		bool there = path_within(real, secret->path) || path_within(real, secret->real);
		bool named = path_within(mount->source.path, secret->path);

		if (there && !named)
			return refuse_source(
				error, mount,
				arena_printf(error->arena, "leads to '%s' (%s)",
					     quote_display(error->arena, secret->path, 0),
					     secret->what),
				"a secret is mounted only when its own path is named");
		if (there)
			*ret_secret = secret->what;
		else if (path_within(secret->path, real) || path_within(secret->real, real))
			return refuse_source(
				error, mount,
				arena_printf(error->arena, "contains '%s' (%s)",
					     quote_display(error->arena, secret->path, 0),
					     secret->what),
				"a secret is mounted only when its own path is named");
	}
	return true;
}

struct place {
	const char *path;
	const char *what;
};

// Nothing goes here, and nothing above or below.
static const struct place closed_places[] = {
	{ "/proc", "the box's processes" },
	{ "/dev", "the box's devices" },
	{ "/sys", "the kernel" },
	{ BOX_RUN, "claudebox's own files" },
	{ BOX_POLICY, "what Claude is told about the box" },
	{ "/nix/store", "programs (Nix)" },
};

static bool check_destination(const struct plan *plan, const struct mount_facts *mount,
			      struct error *error)
{
	const char *to = mount->destination.path;

	if (path_within(to, plan->state.claude) ||
	    path_within(to, path_join(error->arena, plan->home, ".claude")))
		return refuse_destination(error, mount, "would go into Claude's state", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(closed_places); i++)
		if (path_within(to, closed_places[i].path) ||
		    path_within(closed_places[i].path, to))
			return refuse_destination(error, mount,
						  arena_printf(error->arena, "would hide '%s' (%s)",
							       closed_places[i].path,
							       closed_places[i].what),
						  NULL);
	vec_each(other, &plan->mounts) {
		if (other->origin == ORIGIN_ASKED && other->kind != MOUNT_DATA &&
		    (path_within(to, other->path) || path_within(other->path, to)))
			return refuse_destination(
				error, mount,
				arena_printf(error->arena, "meets the mount at '%s'",
					     quote_display(error->arena, other->path, 0)),
				"each place can be mounted once");
		if (other->kind != MOUNT_SEAL && path_within(other->path, to))
			return refuse_destination(
				error, mount,
				arena_printf(error->arena, "would hide '%s'",
					     quote_display(error->arena, other->path, 0)),
				NULL);
	}
	return true;
}

static bool check_place(const struct plan *plan, const struct mount_facts *mount,
			struct error *error)
{
	const struct followed *to = &mount->destination;

	if (!plan_lies_in_host(plan, to->path))
		return true;
	if (to->hops.count)
		return refuse_destination(error, mount, "would go through a symbolic link",
					  "give a destination without links");
	if (to->kind != mount->source.kind)
		return refuse_destination(
			error, mount,
			arena_printf(error->arena, "needs '%s' to be there already",
				     quote_display(error->arena, to->path, 0)),
			mount->source.kind == FILE_DIRECTORY
				? "make the directory first: claudebox makes nothing in your files"
				: "make an empty file first: claudebox makes nothing in your files");
	return true;
}

bool plan_build_mounts(struct plan *plan, struct arena *arena, const struct facts *facts,
		       struct error *error)
{
	vec_each(mount, &facts->mounts) {
		const char *secret;

		if (!check_source(plan, facts, mount, error) ||
		    !find_secret(facts, mount, &secret, error) ||
		    !check_destination(plan, mount, error) || !check_place(plan, mount, error))
			return false;
		plan_add_mount(plan, arena,
			       (struct plan_mount){ .kind = mount->writable ? MOUNT_WRITABLE
									    : MOUNT_READ_ONLY,
						    .source = mount->source.real,
						    .path = mount->destination.path,
						    .id = mount->source.id,
						    .place = mount->destination.id,
						    .origin = ORIGIN_ASKED,
						    .secret = secret,
						    .why = mount->origin });
		if (secret)
			plan_warn(plan, arena, "'%s' is in the box: %s, %s",
				  quote_word(arena, mount->source.path, 120), secret,
				  mount->writable ? "and the agent can change it"
						  : "and the agent can read it");
	}
	return true;
}
