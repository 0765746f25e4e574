// SPDX-License-Identifier: MIT
// The version of ~/.claudebox, and what becomes of one from before it had any.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

#define STATE_VERSION_FILE "version"
#define STATE_VERSION_TEXT "1\n"
#define BACKUP_PREFIX      "backup-"
// The backup's name until all is in it.
#define BACKUP_BEGUN BACKUP_PREFIX "unfinished"

enum { STATE_VERSION = 1 };

// Refuses what a later claudebox made.
bool upgrade_refuse_later(const struct state_facts *state, struct error *error);

// Names that give a flat state away: one of them is enough.
extern const char *const flat_marks[];
extern const size_t flat_mark_count;
// Is this one of the names that today's ~/.claudebox has?
bool upgrade_keeps_name(const char *name);

// What Claude calls the directory of a project's conversations.
const char *upgrade_slug(struct arena *arena, const char *path);
// Where a conversation was held, from the beginning of its file: the first directory that fits the slug; NULL: none.
const char *upgrade_place(struct arena *arena, const char *text, const char *slug);

void plan_build_upgrade(struct plan *plan, struct arena *arena, const struct facts *facts);
