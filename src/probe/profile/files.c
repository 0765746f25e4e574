// SPDX-License-Identifier: MIT
// Lists and reads the files of profiles. Only the user's own directory is searched.
#include "probe/profile/files.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/names.h"
#include "config/profile/profile.h"
#include "config/profile/check.h"
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

const char *profile_directory_path(struct arena *arena, const struct facts *facts)
{
	return path_join(arena, facts->state.root, "profiles");
}

const char *profile_file_path(struct arena *arena, const struct facts *facts, const char *name)
{
	return arena_printf(arena, "%s/%s.json", profile_directory_path(arena, facts), name);
}

const char *profile_shown(struct arena *arena, const struct facts *facts, const char *path)
{
	return quote_display(arena, path_tilde(arena, path, facts->home), 200);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

strings profile_names(struct arena *arena, const struct facts *facts)
{
	CLEANUP_DIR DIR *directory = opendir(profile_directory_path(arena, facts));
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

	profile.text = file_read(arena, profile_file_path(arena, facts, name), LONGEST_PROFILE,
				 READ_FOLLOW);
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
	strings names = profile_names(arena, facts);
	const char *nearest = name_nearest(name, names.items, names.count);
	struct text hint = { .arena = arena };

	if (!names.count)
		return error_hint(error, "create '%s'; see claudebox-profile(5)",
				  profile_shown(arena, facts,
						profile_file_path(arena, facts, name)));
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
	const char *name = profile_shown(arena, facts, path);
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

bool profile_check_directory(struct arena *arena, const struct facts *facts, struct error *error)
{
	const char *directory = profile_directory_path(arena, facts);
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
			  profile_shown(arena, facts, path), box);
	else if (!path_within(file.real, "/nix/store") &&
		 probe_others_can_change(arena, facts, &file))
		error_set(error,
			  "profile '%s' leads to '%s', which other users can change or replace",
			  profile_shown(arena, facts, path),
			  profile_shown(arena, facts, file.real));
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
			  profile_shown(arena, facts, profile_file_path(arena, facts, name)),
			  strerror(reason));
	return hint_names(arena, facts, name, error);
}

bool profile_read(struct arena *arena, const struct facts *facts, struct profile *profile,
		  const char *source, struct error *error)
{
	const char *path = profile_file_path(arena, facts, profile->name);
	const char *seen = profile_shown(arena, facts, path);
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
