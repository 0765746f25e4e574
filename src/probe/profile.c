// SPDX-License-Identifier: MIT
// Finds and reads the chosen profile and those that it extends. Only the user's own directory is looked at.
#include "probe/profile.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/names.h"
#include "config/profile.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "probe/programs.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_LISTED = 12, LISTED_COLUMNS = 100 };

static const char *directory_of(struct arena *arena, const struct facts *facts)
{
	return path_join(arena, facts->state.root, "profiles");
}

static const char *file_of(struct arena *arena, const struct facts *facts, const char *name)
{
	return arena_printf(arena, "%s/%s.json", directory_of(arena, facts), name);
}

static const char *shown(struct arena *arena, const struct facts *facts, const char *path)
{
	return quote_display(arena, path_tilde(arena, path, facts->home), 200);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static strings list_names(struct arena *arena, const struct facts *facts)
{
	CLEANUP_DIR DIR *directory = opendir(directory_of(arena, facts));
	const struct dirent *entry;
	strings names = { 0 };

	while (directory && (entry = readdir(directory))) {
		size_t length = strlen(entry->d_name);
		const char *name;

		if (!str_ends(entry->d_name, ".json"))
			continue;
		name = arena_strndup(arena, entry->d_name, length - strlen(".json"));
		if (profile_name_valid(name))
			vec_push(arena, &names, name);
	}
	if (names.count)
		qsort(names.items, names.count, sizeof(names.items[0]), by_name);
	return names;
}

// What a profile says about itself; one that cannot be read says nothing.
static const char *describe(struct arena *arena, const struct facts *facts, const char *name)
{
	struct profile_text profile = { .name = name, .path = name };

	profile.text = file_read(arena, file_of(arena, facts, name), LONGEST_PROFILE, READ_FOLLOW);
	return profile.text ? profile_description(arena, &profile) : NULL;
}

// In a line; with what they say about themselves, in a line each.
static void add_names(struct text *hint, struct arena *arena, const struct facts *facts,
		      const strings *names)
{
	const char *said[MOST_LISTED];
	bool described = false;
	size_t count = names->count < MOST_LISTED ? names->count : MOST_LISTED;

	for (size_t i = 0; i < count; i++) {
		said[i] = describe(arena, facts, names->items[i]);
		described |= said[i] != NULL;
	}
	for (size_t i = 0; i < count; i++)
		if (!described)
			text_printf(hint, "%s %s", i ? "," : "", names->items[i]);
		else if (said[i])
			text_printf(hint, "\n  %s: %s", names->items[i],
				    quote_display(arena, said[i], LISTED_COLUMNS));
		else
			text_printf(hint, "\n  %s", names->items[i]);
	if (names->count > count)
		text_printf(hint, "%s and %zu more", described ? "\n " : "", names->count - count);
}

static bool hint_names(struct arena *arena, const struct facts *facts, const char *name,
		       struct error *error)
{
	strings names = list_names(arena, facts);
	const char *nearest = name_nearest(name, names.items, names.count);
	struct text hint = { .arena = arena };

	if (!names.count)
		return error_hint(error, "make '%s'; claudebox-profile(5) says how",
				  shown(arena, facts, file_of(arena, facts, name)));
	if (nearest)
		text_printf(&hint, "did you mean '%s'? ", nearest);
	text_add(&hint, "there are:");
	add_names(&hint, arena, facts, &names);
	return error_hint(error, "%s", text_get(&hint));
}

// Whoever can change a profile decides about the user's next box. root can anyway; the user's own group is often theirs alone.
static bool check_owner(struct arena *arena, const struct facts *facts, const char *path,
			const struct stat *status, struct error *error)
{
	const char *name = shown(arena, facts, path);
	bool newline;

	if (status->st_uid != facts->uid && status->st_uid != 0) {
		error_hint(error, "replace it by one of your own");
		return error_set(error, "'%s' belongs to someone else", name);
	}
	if (status->st_mode & S_IWOTH ||
	    (status->st_mode & S_IWGRP && status->st_gid != facts->gid)) {
		error_hint(error, "run `chmod go-w %s`", quote_shell(arena, path, &newline));
		return error_set(error, "'%s' can be changed by other users (mode %03o)", name,
				 (unsigned int)status->st_mode & 0777);
	}
	return true;
}

static bool check_directory(struct arena *arena, const struct facts *facts, struct error *error)
{
	const char *directory = directory_of(arena, facts);
	struct stat status;

	if (stat(directory, &status) < 0)
		return true; // and there is nothing in it
	return check_owner(arena, facts, directory, &status, error);
}

// What lies in the project is the box's to change: it would write its own next profile.
static bool check_outside(struct arena *arena, const struct facts *facts, const char *path,
			  struct error *error)
{
	struct followed file = file_follow(arena, path);
	const char *own = directory_of(arena, facts);
	bool inside = false;

	// Of claudebox's own state, this directory is the one that no box can write.
	if (!path_within(file.real, own))
		inside = probe_box_can_write(facts, &(struct followed){ .real = file.real });
	vec_each(hop, &file.hops) {
		if (!path_within(hop->link, own))
			inside |=
				probe_box_can_write(facts, &(struct followed){ .real = hop->link });
	}
	if (!inside)
		return true;
	error_hint(error, "put a copy there instead of the link, or choose another profile here");
	return error_set(error, "profile '%s' leads to where a box can change it",
			 shown(arena, facts, path));
}

// NULL with an error. `who` is how the profile came to be wanted.
static const char *read_profile(struct arena *arena, const struct facts *facts, const char *name,
				const char *who, struct error *error)
{
	const char *path = file_of(arena, facts, name);
	const char *seen = shown(arena, facts, path);
	const char *text;
	struct stat status;

	if (stat(path, &status) < 0) {
		int why = errno;

		hint_names(arena, facts, name, error);
		if (why == ENOENT || why == ENOTDIR)
			error_set(error, "no profile '%s' (%s)", name, who);
		else
			error_set(error, "cannot look at profile '%s': %s", seen, strerror(why));
		return NULL;
	}
	error_hint(error,
		   "a profile is a small JSON file; claudebox-profile(5) says what is in it");
	if (!S_ISREG(status.st_mode)) {
		error_set(error, "profile '%s' is not a file", seen);
		return NULL;
	}
	if (!check_owner(arena, facts, path, &status, error) ||
	    !check_outside(arena, facts, path, error))
		return NULL;
	if (status.st_size > LONGEST_PROFILE) {
		error_set(error, "profile '%s' is longer than %d KiB", seen,
			  LONGEST_PROFILE / 1024);
		return NULL;
	}
	if (access(path, R_OK) < 0) {
		error_set(error, "cannot read profile '%s': %s", seen, strerror(errno));
		return NULL;
	}
	text = file_read(arena, path, LONGEST_PROFILE, READ_FOLLOW);
	if (!text)
		error_set(error, "profile '%s' is not text: it holds a NUL byte", seen);
	else
		error->hint = NULL;
	return text;
}

// "a -> b -> a"
static const char *show_chain(struct arena *arena, const profile_chain *chain, const char *last)
{
	struct text out = { .arena = arena };

	vec_each(profile, chain)
		text_printf(&out, "%s -> ", profile->name);
	text_add(&out, last);
	return text_get(&out);
}

static bool check_chain(struct arena *arena, const profile_chain *chain, const char *next,
			struct error *error)
{
	bool circle = false;

	vec_each(profile, chain)
		circle |= str_equal(profile->name, next);
	if (!circle && chain->count <= MOST_EXTENDED)
		return true;
	error_hint(error, "take one 'extends' out");
	if (circle)
		return error_set(error, "profiles extend each other in a circle: %s",
				 show_chain(arena, chain, next));
	return error_set(error, "profiles extend each other more than %d deep: %s", MOST_EXTENDED,
			 show_chain(arena, chain, next));
}

static bool read_chain(struct arena *arena, const struct facts *facts, const char *name,
		       const char *who, profile_chain *ret_chain, struct error *error)
{
	profile_chain chain = { 0 };

	while (name) {
		struct profile_text profile = { .name = name };
		const char *path = file_of(arena, facts, name);

		if (!check_chain(arena, &chain, name, error))
			return false;
		profile.path = path_tilde(arena, path, facts->home);
		profile.text = read_profile(arena, facts, name, who, error);
		if (!profile.text || !profile_extends(arena, &profile, &name, error))
			return false;
		vec_push(arena, &chain, profile);
		who = arena_printf(arena, "extended by '%s'", profile.name);
	}
	for (size_t i = chain.count; i-- > 0;)
		vec_push(arena, ret_chain, chain.items[i]);
	return true;
}

bool probe_profile(const struct facts *facts, struct arena *arena, const char *name,
		   profile_chain *ret_chain, struct error *error)
{
	const char *variable = facts_variable(facts, "CLAUDEBOX_PROFILE");
	const char *who = "asked for by --profile";

	if (!name && variable) {
		name = variable;
		who = "asked for by CLAUDEBOX_PROFILE";
		if (!*name)
			return true;
		if (!profile_name_valid(name)) {
			error_hint(error, "give the name of a file in '%s', without .json",
				   shown(arena, facts, directory_of(arena, facts)));
			return error_set(error, "CLAUDEBOX_PROFILE: '%s' is not a profile's name",
					 quote_display(arena, name, 60));
		}
	}
	if (!name) {
		const char *path = file_of(arena, facts, "default");
		struct stat status;

		// A link that leads nowhere is still a choice, and so is what cannot be looked at.
		if (facts->state.root_kind != FILE_DIRECTORY ||
		    (lstat(path, &status) < 0 && (errno == ENOENT || errno == ENOTDIR)))
			return true;
		name = "default";
		who = "the default";
	}
	return plan_refuse_state(facts, error) && check_directory(arena, facts, error) &&
	       read_chain(arena, facts, name, who, ret_chain, error);
}
