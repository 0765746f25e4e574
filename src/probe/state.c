// SPDX-License-Identifier: MIT
// Facts about the state directory ~/.claudebox and the instance of the project in it.
#include "probe/state.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "plan/state/layout.h"
#include "probe/file_system.h"
#include "sys/files.h"

#include <sys/stat.h>

enum { TEXT_LIMIT = 1024 * 1024, ACCOUNT_LIMIT = 64 * 1024 * 1024 };

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

void probe_instance_record(struct facts *facts, struct arena *arena)
{
	if (facts->state.root_kind != FILE_DIRECTORY)
		return;
	facts->state.record = file_read(
		arena, path_join(arena, plan_instance_path(arena, facts), INSTANCE_RECORD),
		TEXT_LIMIT, 0);
}

void probe_instance(struct facts *facts, struct arena *arena)
{
	struct state_facts *state = &facts->state;
	const char *instance;

	state->on = probe_file_system(arena, plan_canonical_root(arena, facts));
	if (state->root_kind != FILE_DIRECTORY)
		return;
	instance = plan_instance_path(arena, facts);
	state->instance_json = file_read(arena, path_join(arena, instance, "claude/.claude.json"),
					 ACCOUNT_LIMIT, 0);
	state->settings_json =
		file_read(arena, path_join(arena, instance, "claude/settings.json"), TEXT_LIMIT, 0);
	state->approved = file_read(
		arena, path_join(arena, instance, plan_approval_name(arena, facts)), TEXT_LIMIT, 0);
	state->settings_base =
		file_read(arena, path_join(arena, instance, "settings-base.json"), TEXT_LIMIT, 0);
}
