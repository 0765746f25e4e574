// SPDX-License-Identifier: MIT
// Copies of git configurations that a box may write, and the changes of them that reach the host.
//
// Theory of operation: for each git directory of the project, the box has a copy of the
// configuration (protect.c). When the box has ended, the copy is compared with the text that it
// started with. A changed setting that is harmless (plan/guard/changes.c) is written to the host's
// file, unless the host has changed it meanwhile. All others are named, and the copy goes to
// quarantine. So the host never reads a setting of a box that executes a program, not even for a
// moment. The files are in a directory of the instance for each launch:
//   base      the paths of the files and their texts at the start
//   copies/N  the copy; only this directory is mounted in the box. That of a directory of
//             generated hooks is hooks-N, see hooks.c
//   places    the places that the box cannot write, one path each line
//   lock      locked while the launch runs
// A copy that the box has not changed is kept for the next launch (spare.c).
// After a kill, the next start of the project applies what is left. The name of the directory has
// the time of the start.
#include "guard/git/copies.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "guard/git/config_file.h"
#include "guard/git/directory.h"
#include "guard/git/hooks.h"
#include "guard/git/setting.h"
#include "guard/git/spare.h"
#include "guard/quarantine/quarantine.h"
#include "plan/guard/applied.h"
#include "plan/guard/changes.h"
#include "plan/guard/config_edit.h"
#include "plan/guard/hooks.h"
#include "plan/guard/keys.h"
#include "plan/guard/places.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/lock.h"
#include "sys/remove_tree.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY_PREFIX "git-config-"
#define BASE             "base"
#define COPIES           "copies"
#define LOCK             "lock"
#define PLACES           "places"
#define ALL_LOCK         "copies.lock"

enum {
	CONFIG_LIMIT = 1024 * 1024,
	BASE_LIMIT = 64 * CONFIG_LIMIT,
	PLACES_LIMIT = 16 * 1024 * 1024,
	MAX_LEFT = 64,
	MAX_HELD = 500, // settings,
	MAX_NAMES = 50
};

static bool write_text(int directory, const char *name, const char *text)
{
	CLEANUP_FD int fd = create_file(directory, name);

	return fd >= 0 && write_all(fd, text, strlen(text));
}

// Writes one copy, and adds its record to the base. A configuration that cannot be read is empty in
// the box.
static bool write_copy(const struct plan_copy *copy, struct arena *arena, struct text *base,
		       int copies, int spare)
{
	const char *text = copy->hooks ? hooks_copy(arena, copy->config, copies, copy->name)
				       : file_read(arena, copy->config, CONFIG_LIMIT, 0);

	if (copy->hooks && !text)
		return false;
	text = text ? text : "";
	text_printf(base, "%s %zu %zu\n%s%s", copy->name, strlen(copy->config), strlen(text),
		    copy->config, text);
	return copy->hooks || spare_take(arena, spare, copies, copy->name, text) ||
	       write_text(copies, copy->name, text);
}

// A record of the base: the file of the host, and its text at the start. Of a directory of hooks,
// the text is a digest.
struct base_record {
	const char *name; // of the copy
	const char *config;
	const char *text;
};

// Takes the next record. Returns false at the end, or if the rest is none.
static bool next_record(struct arena *arena, const char **rest, struct base_record *ret_record)
{
	const char *at = *rest;
	const char *name_end = strchr(at, ' ');
	size_t path_length, text_length;
	char *end;

	if (!name_end)
		return false;
	path_length = strtoul(name_end + 1, &end, 10);
	text_length = strtoul(end, &end, 10);
	if (*end != '\n' || path_length > PATH_MAX || text_length > CONFIG_LIMIT ||
	    strnlen(end + 1, path_length + text_length) != path_length + text_length)
		return false;
	*ret_record = (struct base_record){
		.name = arena_strndup(arena, at, (size_t)(name_end - at)),
		.config = arena_strndup(arena, end + 1, path_length),
		.text = arena_strndup(arena, end + 1 + path_length, text_length),
	};
	*rest = end + 1 + path_length + text_length;
	return !strchr(ret_record->name, '/') && ret_record->name[0] != '.';
}

// Adds a list of names to a line, behind its title.
static void add_names(struct text *line, const char *title, const strings *names)
{
	if (!names->count)
		return;
	text_printf(line, "%s%s: ", line->length ? "; " : "", title);
	for (size_t i = 0; i < names->count && i < MAX_NAMES; i++)
		text_printf(line, "%s%s", i ? ", " : "",
			    quote_display(line->arena, names->items[i], 60));
	if (names->count > MAX_NAMES)
		text_printf(line, " and %zu more", names->count - MAX_NAMES);
}

// Returns the line that names the changes of a configuration that stayed in the box, "": none did.
static const char *describe(struct arena *arena, const char *config,
			    const struct git_division *division)
{
	const char *path = quote_display(arena, config, 0);
	struct text line = { .arena = arena };

	add_names(&line,
		  arena_printf(arena, "settings of '%s' that claudebox does not apply outside",
			       path),
		  &division->refused);
	add_names(&line,
		  line.length ? "settings that the box removed, and that stay"
			      : arena_printf(arena,
					     "settings of '%s' that the box removed, and that stay",
					     path),
		  &division->kept);
	add_names(&line,
		  line.length ? "settings that were changed outside too"
			      : arena_printf(arena,
					     "settings of '%s' that were changed outside too, and "
					     "stay as they are there",
					     path),
		  &division->conflict);
	return text_get(&line);
}

// Notes which settings that concern the user were applied.
static void note_applied(struct arena *arena, const char *config, const git_config_changes *changes,
			 struct copies_told *told)
{
	struct text line = { .arena = arena };
	strings names = { 0 };

	vec_each(change, changes) {
		if (git_setting_is_told(change->name))
			vec_push(arena, &names, change->name);
	}
	add_names(&line, arena_printf(arena, "applied to '%s'", quote_display(arena, config, 0)),
		  &names);
	if (names.count)
		vec_push(arena, &told->notes, text_get(&line));
	vec_each(name, &names)
		vec_push(arena, &told->applied, *name);
}

static void note_failure(struct arena *arena, const char *config, struct copies_told *told)
{
	vec_push(arena, &told->notes,
		 arena_printf(arena, "cannot write '%s': %s", quote_display(arena, config, 0),
			      strerror(errno)));
}

// Compares the copy with the host's file, and writes the harmless changes into it. Git's lock is
// held meanwhile, so no change of another box or of the user is lost. Returns false if a file
// cannot be parsed.
static bool merge(struct arena *arena, const struct base_record *record, const char *copy,
		  const struct git_key_place *place, struct git_division *division,
		  struct copies_told *told)
{
	const char *name = path_name(record->config);
	CLEANUP_FD int directory = file_open(AT_FDCWD, place->directory, O_PATH | O_DIRECTORY);
	CLEANUP_FD int lock = directory < 0 ? -1 : git_config_lock(directory, name);
	struct git_config_texts texts = { .base = record->text, .copy = copy };
	const char *text = NULL;
	struct stat status = { 0 };
	bool ok;

	if (lock < 0) {
		note_failure(arena, record->config, told);
		return true;
	}
	texts.host = file_read_at(arena, directory, name, CONFIG_LIMIT);
	ok = texts.host && fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	     S_ISREG(status.st_mode) &&
	     git_changes_divide(arena, &texts, place, git_setting_refusal, division);
	if (ok && division->harmless.count)
		text = git_config_edit(arena, texts.host, &division->harmless);
	if (!git_config_write(directory, name, lock, text, status.st_mode))
		note_failure(arena, record->config, told);
	else if (text)
		note_applied(arena, record->config, &division->harmless, told);
	return ok;
}

static bool has_name(const strings *names, const char *wanted)
{
	vec_each(name, names) {
		if (str_equal(*name, wanted))
			return true;
	}
	return false;
}

// Returns a configuration with the settings of a copy that were not applied, NULL: it has none.
static const char *held_back(struct arena *arena, const char *copy,
			     const struct git_division *division)
{
	git_config_changes all = { 0 }, held = { 0 };

	if (!git_config_compare(arena, "", copy, &all))
		return NULL;
	vec_each(change, &all) {
		if (held.count < MAX_HELD && (has_name(&division->refused, change->name) ||
					      has_name(&division->conflict, change->name)))
			vec_push(arena, &held, *change);
	}
	return held.count ? git_config_edit(arena, QUARANTINE_SETTINGS, &held) : NULL;
}

// Applies one copy.
static void apply_copy(const char *project, const strings *git_directories, struct arena *arena,
		       const struct base_record *record, int copies, int spare, int quarantine,
		       struct copies_told *told)
{
	struct git_division division = { 0 };
	struct git_key_place place = { .worktree = project,
				       .git_directories = git_directories,
				       .is_users = true };
	const char *copy = file_read_at(arena, copies, record->name, CONFIG_LIMIT);
	const char *line;
	const char *held;
	bool moved;

	if (copy && str_equal(record->text, copy)) {
		spare_keep(spare, copies, record->name);
		return;
	}
	place.directory = path_parent(arena, record->config);
	place.is_modules = git_is_module(place.directory);
	place.overrides = str_equal(path_name(record->config), "config.worktree");
	if (!copy || !merge(arena, record, copy, &place, &division, told)) {
		vec_push(arena, &told->notes,
			 arena_printf(arena,
				      "the box left a '%s' that git cannot read; the file outside "
				      "is unchanged",
				      quote_display(arena, record->config, 0)));
		return;
	}
	line = describe(arena, record->config, &division);
	if (!*line)
		return;
	held = held_back(arena, copy, &division);
	moved = held && quarantine >= 0 && file_renew(copies, record->name, held, 0600, true) &&
		quarantine_move(quarantine, arena, copies, record->name, record->config,
				guard_find_in_git("config")->why, true);
	vec_push(arena, &told->notes,
		 arena_printf(arena, "%s%s", line,
			      moved ? " (claudebox --quarantine has the new values)" : ""));
}

// Applies all copies in a directory of a launch, and removes it.
static void apply_directory(const char *project, struct arena *arena, int instance,
			    const char *name, struct copies_told *told)
{
	CLEANUP_FD int directory =
		openat(instance, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_FD int copies =
		openat(directory, COPIES, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *base = copies < 0 ? NULL : file_read_at(arena, directory, BASE, BASE_LIMIT);
	struct error error = { .arena = arena };
	CLEANUP_FD int quarantine = quarantine_open_at(instance, &error);
	CLEANUP_FD int spare = spare_open(instance, true);
	const char *rest = base;
	strings git_directories = { 0 };
	struct base_record record;
	const char *note;

	while (rest && next_record(arena, &rest, &record))
		vec_push(arena, &git_directories, path_parent(arena, record.config));
	while (base && next_record(arena, &base, &record))
		if (!str_starts(record.name, HOOKS_COPY))
			apply_copy(project, &git_directories, arena, &record, copies, spare,
				   quarantine, told);
		else if ((note = hooks_finish(arena, project, record.config, copies, record.name,
					      record.text, quarantine)))
			vec_push(arena, &told->notes, note);
	remove_tree(instance, name, &error);
}

// Notes when a killed launch started, and what was protected in its box.
static void read_left(struct copies_left *left, struct arena *arena, int instance, const char *name)
{
	const char *number = strrchr(name, '-');
	int64_t since = number ? strtoll(number + 1, NULL, 16) : 0;
	const char *text = file_read_at(arena, instance, arena_printf(arena, "%s/" PLACES, name),
					PLACES_LIMIT);
	const char *line;

	// It was killed before its box started.
	if (since <= 0 || !text)
		return;
	if (!left->since_ns || since < left->since_ns)
		left->since_ns = since;
	while ((line = str_next_line(arena, &text)))
		vec_push(arena, &left->places, line);
}

// Locks the directories of all launches of an instance. Without it, a launch could take the
// directory of another for abandoned that does not hold its lock yet.
static int lock_all(int instance)
{
	int fd = lock_open(instance, ALL_LOCK);

	while (fd >= 0 && flock(fd, LOCK_EX) < 0 && errno == EINTR)
		;
	return fd;
}

struct copies_left copies_recover(const char *path, const char *project, struct arena *arena,
				  strings *ret_notes)
{
	struct copies_left left = { 0 };
	struct copies_told told = { .notes = *ret_notes };
	CLEANUP_FD int instance = file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	CLEANUP_FD int mutex = instance < 0 ? -1 : lock_all(instance);
	CLEANUP_DIR DIR *directory = mutex < 0 ? NULL : open_directory_stream(instance, ".");
	const struct dirent *entry;
	strings names = { 0 };

	while (directory && (entry = readdir(directory)) && names.count < MAX_LEFT)
		if (str_starts(entry->d_name, DIRECTORY_PREFIX))
			vec_push(arena, &names, arena_strdup(arena, entry->d_name));
	vec_each(name, &names) {
		CLEANUP_FD int lock = file_open(instance, arena_printf(arena, "%s/" LOCK, *name),
						O_RDONLY | O_NONBLOCK);

		if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
			continue;
		read_left(&left, arena, instance, *name);
		apply_directory(project, arena, instance, *name, &told);
	}
	*ret_notes = told.notes;
	return left;
}

// Writes the list of the places that the box cannot write.
static bool write_places(const struct plan *plan, struct arena *arena, int directory)
{
	struct text list = { .arena = arena };

	vec_each(place, &plan->guard.places) {
		if (place->mount != GUARD_PIN && !strchr(place->path, '\n'))
			text_printf(&list, "%s\n", place->path);
	}
	return write_text(directory, PLACES, text_get(&list));
}

bool copies_prepare(const struct plan *plan, int *ret_lock, struct error *error)
{
	CLEANUP_FD int instance = file_open(AT_FDCWD, plan->state.instance, O_RDONLY | O_DIRECTORY);
	CLEANUP_FD int mutex = -1, directory = -1, copies = -1;

	*ret_lock = -1;
	if (!plan->guard.active)
		return true;
	if (instance < 0)
		return write_fail(error, "open", plan->state.instance);
	mutex = lock_all(instance);
	if (mutex < 0)
		return write_fail(error, "lock", plan->state.instance);
	directory = open_directory(instance, path_name(plan->guard.directory),
				   plan->guard.directory, error);
	if (directory < 0)
		return false;
	*ret_lock = lock_open(directory, LOCK);
	if (*ret_lock < 0 || flock(*ret_lock, LOCK_EX | LOCK_NB) < 0)
		return write_fail(error, "lock", plan->guard.directory);
	copies = open_directory(directory, COPIES, plan->guard.directory, error);
	return copies >= 0;
}

bool copies_write(const struct plan *plan, struct arena *arena, struct error *error)
{
	CLEANUP_FD int directory = -1, copies = -1, instance = -1, spare = -1;
	struct text base = { .arena = arena };

	if (!plan->guard.active)
		return true;
	directory = file_open(AT_FDCWD, plan->guard.directory, O_PATH | O_DIRECTORY);
	copies = file_open(directory, COPIES, O_PATH | O_DIRECTORY);
	if (copies < 0)
		return write_fail(error, "open", plan->guard.directory);
	instance = file_open(AT_FDCWD, plan->state.instance, O_PATH | O_DIRECTORY);
	spare = spare_open(instance, false);
	vec_each(copy, &plan->guard.copies) {
		if (!write_copy(copy, arena, &base, copies, spare))
			return write_fail(error, "write", plan->guard.directory);
	}
	if (base.length >= BASE_LIMIT)
		return error_set(error, "git's configurations of the project have more than %d MB",
				 BASE_LIMIT / CONFIG_LIMIT);
	// The list of places last: a launch without this file has started no box.
	if (!write_text(directory, BASE, text_get(&base)) || !write_places(plan, arena, directory))
		return write_fail(error, "write", plan->guard.directory);
	return true;
}

void copies_apply(const struct plan *plan, struct arena *arena, struct copies_told *ret_told)
{
	CLEANUP_FD int instance = file_open(AT_FDCWD, plan->state.instance, O_RDONLY | O_DIRECTORY);

	if (plan->guard.active && instance >= 0)
		apply_directory(plan->project, arena, instance, path_name(plan->guard.directory),
				ret_told);
}
