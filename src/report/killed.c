// SPDX-License-Identifier: MIT
// Finds sessions without a report, because claudebox was killed.
#include "report/killed.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/list.h"
#include "sys/lock.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_SESSIONS = 1000, RECORD_LIMIT = 16 * 1024 * 1024 };

// Returns whether claudebox was killed in a session: the record says so, or there is none, and no
// process holds the lock. The next --diff or --undo writes the record.
static bool was_killed(struct arena *arena, int sessions, const char *id)
{
	CLEANUP_FD int session = file_open(sessions, id, O_RDONLY | O_DIRECTORY);
	const char *text = session < 0 ? NULL
				       : file_read_at(arena, session, "record.json", RECORD_LIMIT);
	JSON_OWNED *record = text ? json_read_object(text, 0) : NULL;

	// Only a session of a box has this copy of the index.
	if (session < 0 || faccessat(session, "before", F_OK, 0) < 0)
		return false;
	return text ? json_is_true(json_object_get(record, "killed"))
		    : !lock_is_held(session, "lock");
}

bool killed_since(struct arena *arena, const char *snapshots, int64_t time_ms)
{
	CLEANUP_FD int sessions = file_open(AT_FDCWD, path_join(arena, snapshots, "sessions"),
					    O_RDONLY | O_DIRECTORY);
	strings ids = { 0 };

	if (sessions >= 0)
		ids = list_directory_up_to(arena, sessions, ".", MOST_SESSIONS);
	vec_each(id, &ids) { // an id begins with the time of its start
		if (strtoll(*id, NULL, 10) > time_ms && was_killed(arena, sessions, *id))
			return true;
	}
	return false;
}
