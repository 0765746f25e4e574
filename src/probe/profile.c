// SPDX-License-Identifier: MIT
// Finds, reads and parses the chosen profile and the profiles that it extends. Only the user's own
// directory is searched.
#include "probe/profile.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/names.h"
#include "config/profile.h"
#include "config/profile_check.h"
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

// Returns a path for messages.
static const char *shown(struct arena *arena, const struct facts *facts, const char *path)
{
	return quote_display(arena, path_tilde(arena, path, facts->home), 200);
}

static int compare_names(const void *a, const void *b)
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
		qsort(names.items, names.count, sizeof(names.items[0]), compare_names);
	return names;
}

// Returns the description of a profile; NULL if it has none or cannot be parsed.
static const char *describe(struct arena *arena, const struct facts *facts, const char *name)
{
	struct error error = { .arena = arena };
	struct profile profile = { .name = name, .path = name };
	const char *description = NULL;

	profile.text = file_read(arena, file_of(arena, facts, name), LONGEST_PROFILE, READ_FOLLOW);
	if (profile.text && profile_parse(&profile, &error))
		description = profile_description(arena, &profile);
	json_decref(profile.object);
	return description;
}

// Adds the names of profiles in one line; if one has a description, in a line each.
static void add_names(struct text *hint, struct arena *arena, const struct facts *facts,
		      const strings *names)
{
	const char *descriptions[MOST_LISTED];
	bool described = false;
	size_t count = names->count < MOST_LISTED ? names->count : MOST_LISTED;

	for (size_t i = 0; i < count; i++) {
		descriptions[i] = describe(arena, facts, names->items[i]);
		described |= descriptions[i] != NULL;
	}
	for (size_t i = 0; i < count; i++)
		if (!described)
			text_printf(hint, "%s %s", i ? "," : "", names->items[i]);
		else if (descriptions[i])
			text_printf(hint, "\n  %s: %s", names->items[i],
				    quote_display(arena, descriptions[i], LISTED_COLUMNS));
		else
			text_printf(hint, "\n  %s", names->items[i]);
	if (names->count > count)
		text_printf(hint, "%s and %zu more", described ? "\n " : "", names->count - count);
}

// Adds the names of the existing profiles as the hint. Returns false.
static bool hint_names(struct arena *arena, const struct facts *facts, const char *name,
		       struct error *error)
{
	strings names = list_names(arena, facts);
	const char *nearest = name_nearest(name, names.items, names.count);
	struct text hint = { .arena = arena };

	if (!names.count)
		return error_hint(error, "create '%s'; see claudebox-profile(5)",
				  shown(arena, facts, file_of(arena, facts, name)));
	if (nearest)
		text_printf(&hint, "did you mean '%s'? ", nearest);
	text_add(&hint, "choose one of:");
	add_names(&hint, arena, facts, &names);
	return error_hint(error, "%s", text_get(&hint));
}

// Refuses a file or directory that other users can change, since a profile decides about the next
// box. root is trusted, and so is the user's own group, which often has no other member.
static bool check_owner(struct arena *arena, const struct facts *facts, const char *path,
			const struct stat *status, struct error *error)
{
	const char *name = shown(arena, facts, path);
	bool newline;

	if (status->st_uid != facts->uid && status->st_uid != 0) {
		error_set(error, "'%s' belongs to another user", name);
		return error_hint(error, "replace it by one of your own");
	}
	// A box could write the file under its other name. In the store, Nix creates such links.
	if (S_ISREG(status->st_mode) && status->st_nlink > 1 && status->st_uid == facts->uid &&
	    !path_within(file_follow(arena, path).real, "/nix/store")) {
		error_set(error,
			  "'%s' has another name (hard link), under which a box may change it",
			  name);
		return error_hint(error, "replace it by a copy");
	}
	if (status->st_mode & S_IWOTH ||
	    (status->st_mode & S_IWGRP && status->st_gid != facts->gid)) {
		error_set(error, "'%s' can be changed by other users (mode %03o)", name,
			  (unsigned int)status->st_mode & 0777);
		return error_hint(error, "run `chmod go-w %s`", quote_shell(arena, path, &newline));
	}
	return true;
}

static bool check_directory(struct arena *arena, const struct facts *facts, struct error *error)
{
	const char *directory = directory_of(arena, facts);
	struct stat status;

	if (stat(directory, &status) < 0)
		return true; // no profile will be found
	return check_owner(arena, facts, directory, &status, error);
}

// Refuses a profile that is, or is reached through, a file that a box or another user
// can write: they could choose the settings of the next box.
static bool check_outside(struct arena *arena, const struct facts *facts, const char *path,
			  struct error *error)
{
	struct followed file = file_follow(arena, path);
	const char *box;

	if (!file.hops.count) // in claudebox's state, and examined
		return true;
	box = probe_writing_box(arena, facts, &file);
	if (box)
		error_set(error, "profile '%s' leads to a file that %s can change",
			  shown(arena, facts, path), box);
	else if (!path_within(file.real, "/nix/store") &&
		 probe_others_can_change(arena, facts, &file))
		error_set(error,
			  "profile '%s' leads to '%s', which other users can change or replace",
			  shown(arena, facts, path), shown(arena, facts, file.real));
	else
		return true;
	return error_hint(error, "replace the link by a copy, or choose another profile here");
}

// Sets the error for a profile that does not exist, or whose file cannot be examined. Returns
// false.
static bool fail_missing(struct arena *arena, const struct facts *facts, const char *name,
			 const char *source, int reason, struct error *error)
{
	if (reason == ENOENT || reason == ENOTDIR)
		error_set(error, "no profile '%s' (%s)", name, source);
	else
		error_set(error, "cannot access profile '%s': %s",
			  shown(arena, facts, file_of(arena, facts, name)), strerror(reason));
	return hint_names(arena, facts, name, error);
}

// Reads the text of a profile, or sets the error. `source`: what chose the profile.
static bool read_profile(struct arena *arena, const struct facts *facts, struct profile *profile,
			 const char *source, struct error *error)
{
	const char *path = file_of(arena, facts, profile->name);
	const char *seen = shown(arena, facts, path);
	struct stat status;

	if (stat(path, &status) < 0)
		return fail_missing(arena, facts, profile->name, source, errno, error);
	if (S_ISREG(status.st_mode) && (!check_owner(arena, facts, path, &status, error) ||
					!check_outside(arena, facts, path, error)))
		return false;
	if (!S_ISREG(status.st_mode)) {
		error_set(error, "profile '%s' is not a regular file", seen);
	} else if (status.st_size > LONGEST_PROFILE) {
		error_set(error, "profile '%s' is longer than %d KiB", seen,
			  LONGEST_PROFILE / 1024);
	} else if (access(path, R_OK) < 0) {
		error_set(error, "cannot read profile '%s': %s", seen, strerror(errno));
	} else {
		profile->path = path_tilde(arena, path, facts->home);
		profile->text = file_read(arena, path, LONGEST_PROFILE, READ_FOLLOW);
		if (profile->text)
			return true;
		error_set(error, "profile '%s' is not text: it contains a NUL byte", seen);
	}
	return error_hint(error, "a profile is a small JSON file; see claudebox-profile(5)");
}

// Returns "a -> b -> a".
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
	bool cycle = false;

	vec_each(profile, chain)
		cycle |= str_equal(profile->name, next);
	if (!cycle && chain->count <= MOST_EXTENDED)
		return true;
	if (cycle)
		error_set(error, "profiles extend each other in a cycle: %s",
			  show_chain(arena, chain, next));
	else
		error_set(error, "profiles extend each other more than %d levels deep: %s",
			  MOST_EXTENDED, show_chain(arena, chain, next));
	return error_hint(error, "remove one 'extends'");
}

// Adds the profile of this name and those that it extends, and then reverses the chain.
static bool read_chain(struct arena *arena, const struct facts *facts, const char *name,
		       const char *source, profile_chain *chain, struct error *error)
{
	while (name) {
		struct profile profile = { .name = name };

		if (!check_chain(arena, chain, name, error) ||
		    !read_profile(arena, facts, &profile, source, error) ||
		    !profile_parse(&profile, error))
			return false;
		vec_push(arena, chain, profile);
		name = profile_extends(arena, &profile);
		source = arena_printf(arena, "extended by '%s'", profile.name);
	}
	for (size_t i = 0; i < chain->count / 2; i++) {
		struct profile first = chain->items[i];

		chain->items[i] = chain->items[chain->count - 1 - i];
		chain->items[chain->count - 1 - i] = first;
	}
	return true;
}

bool probe_profile(const struct facts *facts, struct arena *arena, const char *name,
		   profile_chain *ret_chain, struct error *error)
{
	const char *variable = facts_variable(facts, "CLAUDEBOX_PROFILE");
	const char *source = "chosen by --profile";

	if (!name && variable) {
		name = variable;
		source = "chosen by CLAUDEBOX_PROFILE";
		if (!*name)
			return true;
		if (!profile_name_valid(name)) {
			error_set(error, "CLAUDEBOX_PROFILE: '%s' is not a valid profile name",
				  quote_display(arena, name, 60));
			return error_hint(error, "give the name of a file in '%s', without .json",
					  shown(arena, facts, directory_of(arena, facts)));
		}
	}
	if (!name) {
		const char *path = file_of(arena, facts, "default");
		struct stat status;

		// A dangling link, or a file that cannot be examined, is an error and not ignored.
		if (facts->state.root_kind != FILE_DIRECTORY ||
		    (lstat(path, &status) < 0 && (errno == ENOENT || errno == ENOTDIR)))
			return true;
		name = "default";
		source = "the default";
	}
	return plan_refuse_state(facts, error) && check_directory(arena, facts, error) &&
	       read_chain(arena, facts, name, source, ret_chain, error);
}
