// SPDX-License-Identifier: MIT
// The state of the guard process, and the examination of one entry.
#pragma once

#include "base/arena.h"
#include "base/file.h"
#include "guard/guard.h"
#include "guard/watches.h"
#include "plan/guard/facts.h"
#include "plan/guard/places.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

enum { RECENT_COUNT = 64 };

// A place whose content was moved to quarantine.
struct recent {
	char *path; // NULL: unused
	int64_t moved_ms;
	int times; // in a row, each within a second of the last move
};

// An entry that cannot be judged yet, because git is writing its index.
struct pending {
	char *directory;
	char *name;
	struct pending *next;
};

// Entries of a git configuration that it had before the session, one "name=value" each.
struct baseline {
	char *path;
	char **entries;
	size_t count;
	struct baseline *next;
};

// Directories of a git directory whose files are judged.
enum { REPOSITORY_PARTS = 5 };

// A git directory that was judged. It is recognised by its inode, also if the box renames a
// directory around it.
struct repository {
	char *path;
	struct file_id id;
	int64_t found_ms;
	bool old;                               // it is older than the session
	struct file_id parts[REPOSITORY_PARTS]; // if it is old: its directories when it was found
	struct repository *next;
};

// An entry of a git directory that git did not create, and that is older than the session.
enum { OLD_LINK_BUCKETS = 256 };
struct old_link {
	struct file_id id;
	struct file_id parent; // the directory that contains it
	struct timespec ctime;
	struct old_link *next;
};

// A directory of the project that such a link leads to.
struct linked_directory {
	char *path;
	struct linked_directory *next;
};

// A directory whose mode was changed for a short time.
struct lent_mode {
	int fd;
	mode_t mode;
	struct lent_mode *next;
};

// A place that counted as tracked: at the end, git may not track it any more.
struct tracked_place {
	char *directory;
	char *name;
	struct tracked_place *next;
};

// A directory out of which an entry was moved.
struct emptied {
	char *path;
	struct emptied *next;
};

// A place further down in the project that existed before the session.
struct deep_place {
	struct guard_place place;
	bool link;             // a symbolic link, which cannot be mounted over
	bool early;            // protected before the agent started
	struct file_id parent; // the directory that contains it
	struct timespec ctime; // when it was protected last
	struct deep_place *next;
};

// A protected place that the host has replaced.
struct replaced {
	char *path;
	uint64_t until; // events before this position were queued when it was protected again
	bool lost;      // the box may have written to it
	char *text;     // of a configuration of git: when it was protected
	struct replaced *next;
};

// A file that was judged by its content.
struct judged_file {
	char *path;
	int fd;
	int64_t writer_ms; // since when a process can write to it, 0: none can
	struct judged_file *next;
};

struct planned_place {
	const struct guard_place *place;
};

// The directory whose entries are examined.
struct search {
	const char *directory;
	int fd;        // of it, open
	bool moved_in; // the box created or renamed it: its files are the box's, whatever their time
	bool git_judged; // the git directory that it is, or is a part of, was judged
	struct search *outer;
};

struct watcher {
	const struct plan *plan;
	struct search *search;             // NULL: an event is handled
	strings parents;                   // directories with planned places, sorted
	VEC(struct planned_place) planned; // the places of the plan, sorted by path
	struct watches watches;
	int channel;    // to the supervisor
	int quarantine; // directory
	pid_t init;     // process 1 of the box, 0: not known yet
	struct timespec start;
	struct recent recents[RECENT_COUNT];
	struct pending *pending;
	size_t pending_count;
	struct baseline *baselines;
	struct repository *repositories;
	struct old_link *old_links[OLD_LINK_BUCKETS];
	struct linked_directory *linked;
	bool finds_old_links; // while a git directory is searched for the first time
	struct lent_mode *lent;
	struct tracked_place *tracked;
	size_t tracked_count;
	struct emptied *emptied;
	size_t emptied_count;
	bool all_is_new; // while a repository is judged that the session has completed
	struct deep_place *deep;
	struct judged_file *judged;
	struct replaced *replaced;
	uint64_t read_bytes; // of events
	uint64_t event_at;   // position of the event that is handled
	int64_t begun_ms;    // start of the search
	int64_t init_ms;     // when it became known
	bool overflowed;     // the kernel has discarded events
	bool unkept;         // a judged file is not watched: there are too many
	bool complete;       // all directories were searched once
	bool dependencies;   // directories of dependencies are searched too
	char **dependency_paths;
	size_t dependency_count;
	bool strict; // no process of the box runs: an empty file is not about to be written
	bool told_ready;
	bool told_exhausted;
	bool box_ended; // nothing of the box can change an entry while it is judged
};

// Sends an event to the supervisor. `id`: of an item in quarantine, or NULL.
void watcher_tell(const struct watcher *watcher, enum guard_event_kind kind, const char *text,
		  const char *id);
// Returns whether a file was changed since the session started. A box cannot set this time back. A
// repository that became one in the session is new with all of its files, and so is a directory
// that was renamed: an earlier box may have left them.
bool watcher_is_new(const struct watcher *watcher, const char *path, const struct stat *status);
// Watches a file that is judged by content: a box can write to it without closing it. Returns false
// if there are too many such files.
bool watcher_watch_file(struct watcher *watcher, int directory, const char *name, const char *path);
// Returns whether the user has excepted a place.
bool watcher_is_unprotected(const struct watcher *watcher, const char *path);

// Examines directory/name, which was created or changed, or was found by a search. Protects it,
// moves it to quarantine, or leaves it.
void examine_entry(struct watcher *watcher, const char *directory, const char *name);
// Examines an entry that is no directory. A link may lead to a repository among dependencies, which
// are not searched; in a git directory, it is judged by its kind.
void examine_link(struct watcher *watcher, const char *directory, const char *name);
// Examines all places again that counted as tracked.
void examine_tracked(struct watcher *watcher);
// Runs the guard process.
_Noreturn void watcher_run(struct watcher *watcher);
