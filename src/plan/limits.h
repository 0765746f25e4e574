// SPDX-License-Identifier: MIT
// What a box may use at most, as the kernel and systemd want to hear it.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "config/limits.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

enum { DEFAULT_PIDS = 8192 };

// Processes live one level below the cgroup that has the limits: whoever mounts a cgroup file system in the box sees
// only that level.
#define CGROUP_ROOT   "/sys/fs/cgroup"
#define CGROUP_PREFIX "claudebox-"
#define CGROUP_INNER  "box"

// A file of a cgroup and what is written to it, in this order.
struct limit_file {
	const char *name;
	const char *value;
	bool may_be_missing;
};
typedef VEC(struct limit_file) limit_files;

// Whether a profile has some.
bool limits_asked_for(const struct config *config);
limit_files limits_render_files(struct arena *arena, const struct plan_limits *limits);
// Whether what such a file says is that limit, or less; the kernel rounds, and systemd may choose another period.
bool limits_hold(const struct limit_file *file, const char *said);
// The cgroup (v2) that /proc/PID/cgroup names; NULL: none.
const char *limits_find_cgroup(struct arena *arena, const char *text);
// The words before bwrap's, empty when systemd is not asked.
strings limits_render_prefix(struct arena *arena, const struct plan_limits *limits);
// "4G of memory": for people.
const char *limits_render_text(struct arena *arena, enum limit limit, unsigned long long value);
// For --check: which limits there are, and by whom; NULL with an error when there are none, or not those that are wanted.
const char *limits_render_available(const struct facts *facts, struct error *error);

void plan_build_limits(struct plan *plan, const struct config *config, const struct facts *facts);
bool plan_check_limits(const struct plan *plan, const struct facts *facts, struct error *error);
