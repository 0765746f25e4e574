// SPDX-License-Identifier: MIT
// Instances as data: what each holds on record, whether its project is still there, and how they are shown.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "plan/facts.h"

#include <stdbool.h>
#include <stdint.h>

#define INSTANCES_DIRECTORY "instances"
#define INSTANCE_RECORD     "instance.json"
// Held by every supervisor of the instance; its time of change is that of the last use.
#define INSTANCE_LOCK "instance.lock"
// Before the id of one that is being removed.
#define INSTANCE_REMOVED ".removing-"

enum { INSTANCE_DIGITS = 16, INSTANCE_RECORD_VERSION = 1 };

// The name of a project's instance; and whether a name can be one.
const char *instance_id(struct arena *arena, const char *root);
bool instance_id_valid(const char *name);

struct instance_record {
	int version;
	const char *root;      // of the project
	struct file_system on; // where that was at the last start
};

const char *instance_render_record(struct arena *arena, const char *root,
				   const struct file_system *on);
// False when the text does not say whose instance `id` is. A record of a later version is read as far as it goes.
bool instance_read_record(struct arena *arena, const char *id, const char *text,
			  struct instance_record *ret_record);

// What a look at a project's path gave.
enum sight {
	SIGHT_THERE,
	SIGHT_MISSING,
	SIGHT_FAILED, // anything but "no such file"
	SIGHT_SILENT, // no answer: a file system whose server is gone
};

struct project_sight {
	enum sight seen;
	const char *problem; // of one that failed
	// The rest is for one that is missing.
	bool mounted;         // the mount point on record is one
	const char *mount_id; // what is mounted there, NULL: not known
	bool bare;            // the directory above is missing, or empty
};

enum presence {
	PRESENCE_THERE,
	PRESENCE_GONE,
	PRESENCE_UNREACHABLE, // it may come back
	PRESENCE_UNKNOWN,     // the record does not say whose it is
	PRESENCE_COUNT,
};
extern const char *const presence_names[PRESENCE_COUNT];

// `record` is NULL when there is none. `ret_why` gets the reason for all but the first two.
enum presence instance_judge(struct arena *arena, const struct instance_record *record,
			     const struct project_sight *sight, const char **ret_why);

struct instance {
	const char *id;
	const char *root; // NULL: not known
	int64_t last_use; // seconds since 1970
	uint64_t size;    // bytes on disk
	bool size_known;  // false: at least that
	bool in_use;
	enum presence presence;
	const char *why; // it is kept although its project is not there
};
typedef VEC(struct instance) instance_list;

// May --gc remove it?
bool instance_removable(const struct instance *instance);
// The one that was used last comes first.
void instances_sort(instance_list *list);
instance_list instances_removable(struct arena *arena, const instance_list *list);
uint64_t instances_size(const instance_list *list);

struct instances_view {
	struct reader reader;
	const char *home;
	int64_t now;
};
