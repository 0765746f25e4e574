// SPDX-License-Identifier: MIT
// Places that the user excepts from the protection.
//
// Theory of operation: an exception that matches nothing is an error, because its user believes
// that it has an effect. It must be a place of the table, lie in one, or contain some; or be one
// that the configuration of git adds. Git directories can be outside of the project.
#include "plan/guard/unprotect.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/names.h"
#include "config/profile/place.h"
#include "plan/facts.h"
#include "plan/guard/places.h"
#include "plan/guard/targets.h"

#include <string.h>

#define ANYWHERE "**/"

const char *unprotect_path(struct arena *arena, const struct facts *facts, const char *written)
{
	const char *path = path_expand_home(arena, written, facts->home);

	return path_clean(arena, path_join(arena, facts->project, path));
}

// Returns the part of a path below a directory, NULL: it is not below it.
static const char *part_below(const char *path, const char *directory)
{
	const char *rest = str_after(path, directory);

	return rest && *rest == '/' ? rest + 1 : NULL;
}

// Returns what is behind the next '/', NULL: nothing.
static const char *next_part(const char *path)
{
	const char *slash = strchr(path, '/');

	return slash ? slash + 1 : NULL;
}

// Returns whether a path in a git directory is a place, or a directory of other git directories.
static bool is_place_in_git(const char *path)
{
	if (path_within(path, "modules") || path_within(path, "worktrees"))
		return true;
	for (const char *at = path; at; at = next_part(at))
		if (guard_find_in_git(at))
			return true;
	return false;
}

// Returns whether a path relative to the project is a place of the table.
static bool is_in_table(struct arena *arena, const char *path)
{
	const char *anywhere = str_after(path, ANYWHERE);

	// A row of the top directory alone does not match in a subdirectory.
	if (anywhere)
		path = path_join(arena, "*", anywhere);
	for (const char *at = path; at; at = next_part(at))
		if (str_starts(at, ".git/"))
			return is_place_in_git(at + strlen(".git/"));
	return guard_find(path) || guard_find_below(path);
}

// Counts each directory as the top of a worktree: the path may not exist.
static bool is_top(const char *directory)
{
	(void)directory;
	return true;
}

static bool is_place(struct arena *arena, const struct facts *facts, const char *path)
{
	const char *below = part_below(path, facts->project);

	vec_each(directory, &facts->guard.git_directories) {
		const char *in_git = part_below(path, *directory);

		if (str_equal(path, *directory) || (in_git && is_place_in_git(in_git)))
			return true;
	}
	vec_each(place, &facts->guard.places) {
		if (place->row && path_within(path, place->path))
			return true;
	}
	if (guard_target_find(&facts->guard.targets, path, is_top))
		return true;
	return below && is_in_table(arena, below);
}

// Returns the place that a misspelled path resembles, NULL: none.
static const char *find_meant(struct arena *arena, const struct facts *facts, const char *path)
{
	strings known = { 0 };

	for (size_t i = 0; i < guard_count; i++)
		vec_push(arena, &known,
			 guard_table[i].scope == GUARD_GIT
				 ? path_join(arena, ".git", guard_table[i].name)
				 : guard_table[i].name);
	for (const char *at = path; at; at = next_part(at)) {
		const char *nearest = name_nearest(at, known.items, known.count);
		const char *meant = arena_printf(arena, "%.*s%s", (int)(at - path), path,
						 nearest ? nearest : "");

		if (nearest && is_place(arena, facts, path_join(arena, facts->project, meant)))
			return meant;
	}
	return NULL;
}

static bool refuse(struct error *error, const struct config_unprotect *request, const char *problem,
		   const char *hint)
{
	const struct origin *origin = &request->origin;

	error_set(error, "%s: '%s' %s",
		  origin->place ? profile_place_shown(error->arena, origin->place, NULL)
				: origin->name,
		  quote_display(error->arena, request->path, 60), problem);
	if (!origin->place)
		error->status = EXIT_USAGE;
	return error_hint(error, "%s", hint);
}

// Returns the directory that exists and is mounted read-only or as a copy around a path, relative
// to the project; NULL: none.
static const char *find_around(const struct facts *facts, const char *path)
{
	vec_each(place, &facts->guard.places) {
		if (place->mount != GUARD_PIN && !str_equal(path, place->path) &&
		    path_within(path, place->path) && path_within(path, facts->project))
			return place->path + strlen(facts->project) + 1;
	}
	return NULL;
}

bool unprotect_check(const struct facts *facts, const struct config_unprotect *request,
		     struct error *error)
{
	struct arena *arena = error->arena;
	const char *path = unprotect_path(arena, facts, request->path);
	const char *below = part_below(path, facts->project);
	const char *around;
	const char *meant;

	if (strchr(request->path + (str_starts(request->path, ANYWHERE) ? strlen(ANYWHERE) : 0),
		   '*'))
		return refuse(error, request, "has a '*' that is not at its start",
			      "'**/.envrc' means this name in every directory");
	around = find_around(facts, path);
	if (around)
		return refuse(error, request, "lies in a directory that is protected as a whole",
			      arena_printf(arena, "except the directory: '%s'",
					   quote_display(arena, around, 0)));
	if (is_place(arena, facts, path))
		return true;
	meant = below ? find_meant(arena, facts, below) : NULL;
	return refuse(error, request,
		      below || str_equal(path, facts->project) ? "is no protected place"
							       : "is outside of the project",
		      meant ? arena_printf(arena, "did you mean '%s'? See doc/guard.md",
					   quote_display(arena, meant, 0))
			    : "see doc/guard.md for the protected places");
}

// Returns the name that an exception stands for in every directory, NULL: it is one path.
static const char *name_anywhere(const char *exception, const char *project)
{
	const char *below = part_below(exception, project);

	return below ? str_after(below, ANYWHERE) : NULL;
}

const char *unprotect_scope(const char *exception, const char *project)
{
	return name_anywhere(exception, project) ? " in every directory" : "";
}

bool unprotect_covers(const strings *exceptions, const char *project, const char *path)
{
	vec_each(exception, exceptions) {
		const char *name = name_anywhere(*exception, project);

		if (path_within(path, *exception))
			return true;
		for (const char *at = part_below(path, project); name && at; at = next_part(at))
			if (path_within(at, name))
				return true;
	}
	return false;
}
