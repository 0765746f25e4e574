// SPDX-License-Identifier: MIT
// Which places of the project git tracks, compared with the last start.
//
// Theory of operation: a box can write the index, and what the index has is writable in the next
// box. A place counts as protected in the last box if the record says so, or, further down in the
// project, if the index did not have it and the file is older than that start: a box cannot change
// the birth time of a file. An index that cannot be read tells nothing. Then the places are those
// of the last start, so that a box cannot make a place writable by damaging the index.
#include "probe/guard_tracked.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/guard/places.h"
#include "plan/guard/unprotect.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { RECORD_LIMIT = 4 * 1024 * 1024, MAX_LISTED = 2000 };

static bool has(const strings *list, const char *wanted)
{
	vec_each(text, list) {
		if (str_equal(*text, wanted))
			return true;
	}
	return false;
}

// Returns whether a list has a path, or a directory around it.
static bool covers(const strings *list, const char *path)
{
	vec_each(text, list) {
		const char *rest = str_after(path, *text);

		if (rest && (!*rest || *rest == '/'))
			return true;
	}
	return false;
}

struct last_start probe_last_start(const struct facts *facts, struct arena *arena)
{
	const char *path =
		path_join(arena, plan_instance_path(arena, facts), guard_record_name(arena, facts));
	const char *text = NULL;
	struct stat status;

	if (facts->state.root_kind == FILE_DIRECTORY && !facts->state.kept_as &&
	    lstat(path, &status) == 0)
		text = file_read(arena, path, RECORD_LIMIT, 0);
	if (!text)
		return (struct last_start){ 0 };
	return (struct last_start){
		.known = true,
		.time_ns = status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec,
		.record = guard_record_parse(arena, text),
	};
}

bool probe_was_tracked(const struct last_start *last, const char *relative)
{
	return has(&last->record.tracked, relative);
}

void probe_add_tracked(struct facts *facts, struct arena *arena, const char *relative)
{
	strings *tracked = &facts->guard.tracked;

	if (!has(tracked, relative) && tracked->count < MAX_LISTED)
		vec_push(arena, tracked, arena_strdup(arena, relative));
}

struct walk {
	struct facts *facts;
	struct arena *arena;
	const char *prefix;
	strings names; // of places that begin without a dot
};

// Returns whether a path can be a place: a part of it begins with a dot, or its name is in the
// list. An index has up to some hundred thousand entries.
static bool may_be_place(const struct walk *walk, const char *relative)
{
	const char *name = path_name(relative);

	vec_each(known, &walk->names) {
		if (**known == *name && str_equal(*known, name))
			return true;
	}
	return *relative == '.' || strstr(relative, "/.");
}

// Adds an entry of the index if it is a place.
static bool add_entry(void *context, const struct git_index_entry *entry)
{
	struct walk *walk = context;
	const char *relative = str_after(entry->path, walk->prefix);

	walk->facts->guard.index.hides |= guard_is_hidden_repository(entry->path, entry->mode);
	if (relative && may_be_place(walk, relative) && guard_find(relative))
		probe_add_tracked(walk->facts, walk->arena, relative);
	return true;
}

void probe_add_tracked_places(struct facts *facts, struct arena *arena, const char *prefix,
			      const struct tracked *tracked, const struct last_start *last)
{
	struct walk walk = { .facts = facts, .arena = arena, .prefix = prefix };

	for (size_t i = 0; i < guard_count; i++)
		if (guard_table[i].scope != GUARD_GIT && guard_table[i].name[0] != '.')
			vec_push(arena, &walk.names, path_name(guard_table[i].name));
	facts->guard.index = (struct guard_index){ .id = tracked->id,
						   .size = (int64_t)tracked->size,
						   .change_ns = tracked->change_ns };
	if (tracked_each(tracked, add_entry, &walk))
		return;
	facts->guard.index.hides = true;
	facts->guard.index_unreadable = true;
	facts->guard.tracked_from_record = last->known;
	vec_each(relative, &last->record.tracked)
		probe_add_tracked(facts, arena, *relative);
}

// Returns whether a file is older than a time. Without a birth time, its last change counts.
static bool is_older(const char *path, int64_t time_ns)
{
	struct statx status;
	struct statx_timestamp born;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME | STATX_CTIME, &status) < 0)
		return false;
	born = status.stx_mask & STATX_BTIME ? status.stx_btime : status.stx_ctime;
	return born.tv_sec * INT64_C(1000000000) + born.tv_nsec < time_ns;
}

void probe_add_released(struct facts *facts, struct arena *arena, const struct last_start *last)
{
	struct guard_facts *guard = &facts->guard;

	vec_each(relative, &guard->tracked) {
		const char *path = path_join(arena, facts->project, *relative);

		if (last->known && !has(&last->record.tracked, *relative) &&
		    !unprotect_covers(&last->record.unprotected, facts->project, path) &&
		    !covers(&guard->released, *relative) &&
		    (covers(&last->record.protected, *relative) || is_older(path, last->time_ns)))
			vec_push(arena, &guard->released, *relative);
	}
}
