// SPDX-License-Identifier: MIT
// Instances as data: names, records, the status of each project, and lists.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

#include <stdbool.h>
#include <stdint.h>

// First line of an item that has only settings of a box which were not applied.
#define QUARANTINE_SETTINGS "# settings of a box that claudebox did not apply\n"

#define INSTANCES_DIRECTORY "instances"
#define INSTANCE_RECORD     "instance.json"
// Locked by every supervisor of the instance. Its modification time is the time of the last use.
#define INSTANCE_LOCK "instance.lock"
// Files that the guard moved out of the project: a directory each, with the moved file and a
// record.
#define INSTANCE_QUARANTINE "quarantine"
// Snapshots of the projects (main worktree, other worktrees, subdirectories) of an instance.
#define INSTANCE_SNAPSHOTS "snapshots"
// The report of the last session of a project; the id of its path and ".json" follow.
#define INSTANCE_REPORT_PREFIX "report-"
#define QUARANTINE_ITEM        "item"
#define QUARANTINE_RECORD      "record.json"
// The host's settings, and its reduced .claude.json, at the last start.
#define INSTANCE_SETTINGS_BASE "settings-base.json"
#define INSTANCE_ACCOUNT_BASE  "account-base.json"
// Prefix of the name of an instance while it is being removed; the id follows.
#define INSTANCE_REMOVED ".removing-"
// Between the id and a number in the name of an instance whose project was replaced by another
// directory at the same path.
#define INSTANCE_KEPT ".old-"

enum { INSTANCE_DIGITS = 16, INSTANCE_RECORD_VERSION = 1, PLACE_LIMIT = 64 * 1024 };

// Returns the name of the instance of a project.
const char *instance_id(struct arena *arena, const char *root);
// Returns whether a name has the form of an instance id.
bool instance_id_valid(const char *name);
// Returns the name under which the instance of a replaced project is kept. Numbers start at 1.
const char *instance_kept_name(struct arena *arena, const char *id, int number);
// Returns whether a name has the form of instance_kept_name.
bool instance_kept_valid(const char *name);

// Returns the instances whose boxes write a place, from the text of its record: one id in each
// line, or the root of one project, as earlier versions wrote it.
strings instance_place_ids(struct arena *arena, const char *text);

struct instance_record {
	int version;
	const char *root;                   // canonical root of the project
	struct file_system on;              // the file system of the root at the last start
	struct directory_identity identity; // of the root at the last start
	bool kept;                          // the instance has a name of instance_kept_name
};

// Renders a record with the current version.
const char *instance_render_record(struct arena *arena, const struct instance_record *from);
// Parses a record. Returns false when it does not name the project of the instance `name`. Ignores
// unknown keys of later versions.
bool instance_read_record(struct arena *arena, const char *name, const char *text,
			  struct instance_record *ret_record);
// Returns whether both identities are known and differ.
bool instance_is_replaced(const struct directory_identity *before,
			  const struct directory_identity *now);

// Result of looking up the path of a project.
enum lookup {
	LOOKUP_EXISTS,
	LOOKUP_MISSING,
	LOOKUP_FAILED,  // any error other than ENOENT and ENOTDIR
	LOOKUP_TIMEOUT, // the file system does not respond
};

struct project_facts {
	enum lookup lookup;
	const char *problem; // LOOKUP_FAILED: the error text
	// The other fields are set for LOOKUP_MISSING, and for LOOKUP_EXISTS of a kept instance.
	bool mounted;         // the recorded mount point is a mount point
	const char *mount_id; // id of the file system mounted there, NULL: unknown
	bool parent_empty; // the parent directory is missing or empty; without a mount point only
	// LOOKUP_EXISTS of a kept instance: the directory at that path.
	struct directory_identity identity;
};

enum project_status {
	PROJECT_EXISTS,
	PROJECT_GONE,
	PROJECT_UNREACHABLE, // the project may come back
	PROJECT_UNKNOWN,     // the record does not name a project
	PROJECT_REPLACED,    // another directory is at its path now
	PROJECT_STATUS_COUNT,
};
// The names in JSON.
extern const char *const project_status_names[PROJECT_STATUS_COUNT];

// Returns the status of a project. `record` is NULL when there is none; `facts` is then unused.
// Sets `ret_why` to the reason for PROJECT_UNREACHABLE and PROJECT_UNKNOWN, otherwise to NULL.
enum project_status instance_project_status(struct arena *arena,
					    const struct instance_record *record,
					    const struct project_facts *facts,
					    const char **ret_why);

// The kept homes of an instance: that of its boxes, and earlier ones.
struct instance_home {
	size_t count;    // 0: none
	uint64_t size;   // bytes on disk
	bool incomplete; // `size` is a lower bound
};

struct instance {
	const char *id;
	const char *root; // NULL: unknown
	int64_t last_use; // seconds since 1970
	uint64_t size;    // bytes on disk
	bool size_known;  // false: `size` is a lower bound
	bool in_use;
	enum project_status project;
	const char *why;           // reason for PROJECT_UNREACHABLE and PROJECT_UNKNOWN
	struct instance_home home; // part of `size`
	size_t quarantined;        // items in its quarantine
	uint64_t snapshots;        // bytes of its snapshots, part of `size`
};
typedef VEC(struct instance) instance_list;

// Returns whether --gc may remove an instance.
bool instance_removable(const struct instance *instance);
// Sorts by last use, the most recent first.
void instances_sort(instance_list *list);
instance_list instances_removable(struct arena *arena, const instance_list *list);
// Returns the total size in bytes.
uint64_t instances_size(const instance_list *list);
