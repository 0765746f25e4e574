// SPDX-License-Identifier: MIT
// Facts about the state directory ~/.claudebox and the instance of the project in it.
#include "probe/state.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/home/home.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "plan/state/layout.h"
#include "probe/file_system.h"
#include "sys/files.h"
#include "sys/lock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KEPT_MAX = 9999, TEXT_LIMIT = 1024 * 1024, NUMBER_LIMIT = 32 };

void probe_state_root(struct facts *facts, struct arena *arena)
{
	struct state_facts *state = &facts->state;
	struct stat status;

	if (lstat(state->root, &status) < 0)
		return;
	state->root_is_link = S_ISLNK(status.st_mode);
	state->root_kind = S_ISDIR(status.st_mode) ? FILE_DIRECTORY : FILE_OTHER;
	state->root_foreign = status.st_uid != facts->uid;
	state->root_mode = status.st_mode & 07777;
	if (state->root_kind == FILE_DIRECTORY)
		state->version = file_read(arena, path_join(arena, state->root, STATE_VERSION_FILE),
					   TEXT_LIMIT, 0);
}

// Returns a birth time as local time, to the minute.
static const char *render_time(struct arena *arena, int64_t born_ns)
{
	time_t seconds = (time_t)(born_ns / INT64_C(1000000000));
	struct tm local;
	char text[32];

	if (!localtime_r(&seconds, &local) || !strftime(text, sizeof(text), "%F %R", &local))
		return "earlier";
	return arena_strdup(arena, text);
}

// Finds a free name for the instance of an earlier directory. The last one is taken in any case:
// the start then fails instead of using that instance.
static const char *find_kept_name(struct arena *arena, const char *instance)
{
	const char *name = NULL;

	for (int i = 1; i <= KEPT_MAX; i++) {
		name = instance_kept_name(arena, path_name(instance), i);
		if (faccessat(AT_FDCWD, path_join(arena, path_parent(arena, instance), name), F_OK,
			      AT_SYMLINK_NOFOLLOW) < 0)
			break;
	}
	return name;
}

void probe_instance_record(struct facts *facts, struct arena *arena)
{
	struct state_facts *state = &facts->state;
	const char *instance = plan_instance_path(arena, facts);
	struct instance_record record;

	if (!facts->project_problem)
		state->identity = probe_directory_identity(plan_canonical_root(arena, facts));
	if (state->root_kind != FILE_DIRECTORY)
		return;
	state->record =
		file_read(arena, path_join(arena, instance, INSTANCE_RECORD), TEXT_LIMIT, 0);
	if (!instance_read_record(arena, path_name(instance), state->record, &record) ||
	    !instance_is_replaced(&record.identity, &state->identity))
		return;
	state->kept_as = find_kept_name(arena, instance);
	state->earlier_born = render_time(arena, record.identity.born_ns);
}

// Reads a number from a file of claudebox, 0: there is none.
static uint64_t read_number(const char *text)
{
	return text && *text >= '0' && *text <= '9' ? strtoull(text, NULL, 10) : 0;
}

void probe_home(struct facts *facts, struct arena *arena, const struct config *config)
{
	struct state_facts *state = &facts->state;
	const char *home = plan_home_path(arena, config, facts);
	struct stat status;

	if (!home || state->root_kind != FILE_DIRECTORY ||
	    (state->kept_as && config->home == HOME_PROJECT))
		return;
	state->home_exists = lstat(home, &status) == 0 && S_ISDIR(status.st_mode);
	state->home_size = read_number(
		file_read(arena, arena_printf(arena, "%s.size", home), NUMBER_LIMIT, 0));
	state->home_links = file_read(arena, arena_printf(arena, "%s.links", home), TEXT_LIMIT, 0);
}

// Reads a file of the instance that the box writes. Stores whether there is a file that is not
// used.
static const char *read_box_file(struct arena *arena, const char *path, bool *ret_unread)
{
	const char *text = file_read_single_at(arena, AT_FDCWD, path, BOX_FILE_LIMIT);
	struct stat status;

	*ret_unread = !text && lstat(path, &status) == 0 && S_ISREG(status.st_mode);
	return text;
}

void probe_instance(struct facts *facts, struct arena *arena)
{
	struct state_facts *state = &facts->state;
	const char *instance;

	state->on = probe_file_system(arena, plan_canonical_root(arena, facts));
	if (state->root_kind != FILE_DIRECTORY || state->kept_as)
		return;
	instance = plan_instance_path(arena, facts);
	state->in_use = lock_is_held(AT_FDCWD, path_join(arena, instance, INSTANCE_LOCK));
	state->instance_json = read_box_file(arena,
					     path_join(arena, instance, "claude/.claude.json"),
					     &state->instance_json_unread);
	state->settings_json = read_box_file(
		arena, path_join(arena, instance, "claude/settings.json"), &state->settings_unread);
	state->approved = file_read(
		arena, path_join(arena, instance, plan_approval_name(arena, facts)), TEXT_LIMIT, 0);
	state->settings_base =
		file_read(arena, path_join(arena, instance, INSTANCE_SETTINGS_BASE), TEXT_LIMIT, 0);
	state->account_base =
		file_read(arena, path_join(arena, instance, INSTANCE_ACCOUNT_BASE), TEXT_LIMIT, 0);
}
