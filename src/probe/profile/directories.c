// SPDX-License-Identifier: MIT
// Finds the profile whose "directories" match the project.
//
// Theory of operation: of each profile, only "directories" is read here, whatever the rest of it
// contains. If that profile is chosen, the caller reads all of it, and every mistake in it is an
// error. A profile that is not chosen stops no start; if it cannot be read, a warning says that it
// may be meant for this directory. Only its "directories" count, not those of the profile that it
// extends.
//
// A pattern is compared with the real path of the project. If it begins with "~/", links in its
// part before the first wildcard are resolved, as in ~/work -> /data/work. Other patterns are not
// looked up: they may lead to a file system that does not respond.
#include "probe/profile/directories.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/pattern.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/profile/profile.h"
#include "config/profile/place.h"
#include "plan/facts.h"
#include "probe/profile/files.h"
#include "probe/programs.h"
#include "sys/files.h"

#include <string.h>

enum { SHOWN_PATTERN = 120, MOST_SENTENCES = 5 };

struct match {
	const char *profile; // NULL: none
	const char *pattern; // as written
	const char *link;    // a link on the way to it that a box can change, NULL: none
	const char *box;     // that can change it
	size_t weight;
};

struct search {
	const struct facts *facts;
	struct arena *arena;
	struct match best;
	struct match other; // of another profile, as exact as the best
	strings *doubtful;
	size_t doubtful_count;
};

static void add_doubt(struct search *search, const char *sentence)
{
	if (search->doubtful_count++ < MOST_SENTENCES)
		vec_push(search->arena, search->doubtful,
			 arena_printf(search->arena,
				      "%s; if it is meant for this directory, it is not used",
				      sentence));
}

static void add_match(struct search *search, struct match match)
{
	if (match.weight > search->best.weight || !search->best.profile) {
		search->best = match;
		search->other = (struct match){ 0 };
	} else if (match.weight == search->best.weight &&
		   !str_equal(match.profile, search->best.profile)) {
		search->other = match;
	}
}

// Finds a link on the way to the beginning of a pattern that a box can change: the box would choose
// the directory that gets the profile.
static void judge_links(const struct search *search, const struct followed *beginning,
			struct match *match)
{
	vec_each(hop, &beginning->hops) {
		struct followed link = { .path = hop->link, .real = hop->link };

		match->box = probe_writing_box(search->arena, search->facts, &link);
		match->link = hop->link;
		if (match->box)
			return;
	}
}

static void try_pattern(struct search *search, const char *profile, const char *written)
{
	const struct facts *facts = search->facts;
	const char *pattern = path_expand_home(search->arena, written, facts->home);
	struct match match = { .profile = profile, .pattern = written };
	struct followed beginning = { 0 };
	const char *rest;

	if (!pattern_matches(pattern, facts->project) && written[0] == '~') {
		beginning = file_follow(search->arena,
					pattern_beginning(search->arena, pattern, &rest));
		if (beginning.hops.count)
			pattern = arena_printf(search->arena, "%s%s", beginning.real, rest);
	}
	if (!pattern_matches(pattern, facts->project))
		return;
	judge_links(search, &beginning, &match);
	match.weight = pattern_weight(pattern);
	add_match(search, match);
}

static void try_patterns(struct search *search, const char *profile, const json_t *list)
{
	const char *shown = profile_shown(search->arena, search->facts,
					  profile_file_path(search->arena, search->facts, profile));
	bool invalid = list && !json_is_array(list);
	size_t i;
	json_t *value;

	json_array_foreach((json_t *)list, i, value) {
		const char *text = json_string_value(value);

		if (text && !pattern_problem(text))
			try_pattern(search, profile, arena_strdup(search->arena, text));
		else
			invalid = true;
	}
	if (invalid)
		add_doubt(search,
			  arena_printf(search->arena,
				       "profile '%s' has \"directories\" that are no patterns",
				       shown));
}

// Returns why a profile cannot be read.
static const char *find_problem(const struct search *search, const char *name)
{
	struct error error = { .arena = search->arena };
	struct profile profile = { .name = name };

	if (profile_read(search->arena, search->facts, &profile, "a dangling link", &error))
		return arena_printf(search->arena, "profile '%s' cannot be read", name);
	return error.message;
}

static void try_profile(struct search *search, const char *name)
{
	struct error error = { .arena = search->arena };
	const char *path = profile_file_path(search->arena, search->facts, name);
	struct profile profile = { .name = name,
				   .path = path_tilde(search->arena, path, search->facts->home) };
	json_error_t problem;

	profile.text = file_read(search->arena, path, LONGEST_PROFILE, READ_FOLLOW);
	if (!profile.text) {
		add_doubt(search, find_problem(search, name));
		return;
	}
	profile.object = json_loads(profile.text, JSON_REJECT_DUPLICATES, &problem);
	if (profile.object && !json_is_object(profile.object)) {
		add_doubt(search,
			  arena_printf(search->arena, "profile '%s' is no JSON object", name));
		json_decref(profile.object);
		return;
	}
	if (profile.object) {
		try_patterns(search, name, json_object_get(profile.object, "directories"));
		json_decref(profile.object);
		return;
	}
	profile_fail_syntax(&profile, &problem, &error);
	add_doubt(search, error.message);
}

static const char *shown_pattern(const struct search *search, const struct match *match)
{
	return quote_display(search->arena, match->pattern, SHOWN_PATTERN);
}

static bool check_best(const struct search *search, struct error *error)
{
	const struct match *best = &search->best;
	const struct match *other = &search->other;

	if (other->profile) {
		error_set(error,
			  "profiles '%s' (directory '%s') and '%s' (directory '%s') match this "
			  "project equally well",
			  best->profile, shown_pattern(search, best), other->profile,
			  shown_pattern(search, other));
		return error_hint(error,
				  "make one of the patterns longer, or choose with --profile");
	}
	if (best->box) {
		error_set(error,
			  "profile '%s': directory '%s' leads through the link '%s', which %s can "
			  "change",
			  best->profile, shown_pattern(search, best),
			  profile_shown(search->arena, search->facts, best->link), best->box);
		return error_hint(error, "write the path without the link, or choose with "
					 "--profile");
	}
	return true;
}

bool probe_profile_by_directory(const struct facts *facts, struct arena *arena,
				struct profile_facts *ret_facts, const char **ret_name,
				struct error *error)
{
	struct search search = { .facts = facts, .arena = arena, .doubtful = &ret_facts->doubtful };
	strings names = { 0 };

	*ret_name = NULL;
	if (facts->state.root_kind != FILE_DIRECTORY || facts->project_problem)
		return true;
	names = profile_names(arena, facts);
	vec_each(name, &names)
		try_profile(&search, *name);
	if (search.doubtful_count > MOST_SENTENCES)
		vec_push(arena, &ret_facts->doubtful,
			 arena_printf(arena, "%zu more profiles cannot be read",
				      search.doubtful_count - MOST_SENTENCES));
	if (!check_best(&search, error))
		return false;
	*ret_name = search.best.profile;
	ret_facts->directory = search.best.pattern;
	return true;
}
