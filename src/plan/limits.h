// SPDX-License-Identifier: MIT
// The limits of a box (memory, processes, processor time) and how they are set.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "config/limits.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

enum { DEFAULT_PIDS = 8192 };

// Processes are one level below the cgroup that has the limits, so that a cgroup file system that
// is mounted in the box shows only that level.
#define CGROUP_ROOT   "/sys/fs/cgroup"
#define CGROUP_PREFIX "claudebox-"
#define CGROUP_INNER  "box"

// A file of a cgroup and the value to write. The order of the files matters.
struct limit_file {
	const char *name;
	const char *value;
	bool may_be_missing;
};
typedef VEC(struct limit_file) limit_files;

// Returns whether limits are configured.
bool limits_requested(const struct config *config);
// Returns the files of the cgroup with the limits.
limit_files limits_render_files(struct arena *arena, const struct plan_limits *limits);
// Returns whether `text`, the current content of the file, is the wanted limit or a lower one. The
// kernel rounds values, and systemd may choose another period.
bool limit_in_effect(const struct limit_file *file, const char *text);
// Returns the cgroup (v2) that the text of /proc/PID/cgroup names, NULL if there is none.
const char *limits_find_cgroup(struct arena *arena, const char *text);
// Returns the systemd-run command that precedes bwrap's, empty if systemd is not used.
strings limits_render_prefix(struct arena *arena, const struct plan_limits *limits);
// Returns "4G of memory, without swap", for messages.
const char *limits_render_text(struct arena *arena, enum limit limit, unsigned long long value);
// For --check: returns which limits are available and how they are set. Returns NULL with an error
// if there are none, or not the configured ones.
const char *limits_render_available(const struct facts *facts, struct error *error);

// Fills plan->limits.
void plan_build_limits(struct plan *plan, const struct config *config, const struct facts *facts);
// Returns false with an error if configured limits cannot be set, or if a mount would defeat them.
bool plan_check_limits(const struct plan *plan, const struct facts *facts, struct error *error);
