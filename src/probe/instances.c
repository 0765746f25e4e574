// SPDX-License-Identifier: MIT
// Reads instances and looks up their projects.
//
// Theory of operation: boxes write most files of an instance, so no link is followed and the depth
// is limited. A project may be on a network file system whose server is down, where system calls
// block forever. So another process looks up the projects. It is abandoned when it does not
// respond.
#include "probe/instances.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/state/instances.h"
#include "plan/state/layout.h"
#include "probe/file_system.h"
#include "probe/tree_size.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/list.h"
#include "sys/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

// A walk through all of them takes a few seconds.
enum { ENTRIES_MAX = 2 * 1000 * 1000 };
enum { QUARANTINE_MAX = 100 * 1000 };
enum { RECORD_LIMIT = 64 * 1024, TIMEOUT_MS = 2000, ID_SIZE = 32 };

typedef VEC(struct instance_record) instance_records;
typedef VEC(struct project_facts) project_list;

// Project facts as the lookup process writes them to its pipe.
struct lookup_message {
	enum lookup lookup;
	int problem; // errno
	bool mounted;
	bool parent_empty;
	char mount_id[ID_SIZE];
	struct directory_identity identity;
};

static bool is_missing_or_empty(const char *path)
{
	CLEANUP_DIR DIR *directory = opendir(path);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (!str_equal(entry->d_name, ".") && !str_equal(entry->d_name, ".."))
			return false;
	return true;
}

static struct lookup_message look_up(struct arena *arena, const struct instance_record *record)
{
	const char *mount_point = record->on.mount_point;
	struct lookup_message message = { .lookup = LOOKUP_EXISTS };
	struct stat status;
	const char *id;

	if (lstat(record->root, &status) == 0) {
		if (!record->kept)
			return message;
		message.identity = probe_directory_identity(record->root);
	} else if (errno != ENOENT && errno != ENOTDIR) {
		message.lookup = LOOKUP_FAILED;
		message.problem = errno;
		return message;
	} else {
		message.lookup = LOOKUP_MISSING;
	}
	if (!mount_point) {
		message.parent_empty = is_missing_or_empty(path_parent(arena, record->root));
		return message;
	}
	message.mounted = probe_is_mount_point(mount_point);
	id = probe_file_system_id(arena, mount_point);
	snprintf(message.mount_id, sizeof(message.mount_id), "%s", id ? id : "");
	return message;
}

struct lookup_process {
	pid_t pid; // 0: none
	int pipe;  // messages arrive here, -1: none
};

// Starts a process that looks up the projects from index `first` on, and writes one message each.
static struct lookup_process start_lookups(const instance_records *records, size_t first)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return (struct lookup_process){ .pipe = -1 };
	pid = fork();
	if (pid == 0) {
		struct arena arena = { 0 };

		// The child may outlive claudebox, so it keeps no lock and no inherited pipe open.
		if (dup2(ends[1], STDIN_FILENO) < 0 || close_range(STDOUT_FILENO, ~0U, 0) < 0)
			_exit(1);
		for (size_t i = first; i < records->count; i++) {
			struct lookup_message message = look_up(&arena, &records->items[i]);

			if (write(STDIN_FILENO, &message, sizeof(message)) < 0)
				break;
		}
		_exit(0);
	}
	close(ends[1]);
	if (pid > 0)
		return (struct lookup_process){ .pid = pid, .pipe = ends[0] };
	close(ends[0]);
	return (struct lookup_process){ .pipe = -1 };
}

// Kills the process. A stuck one is not waited for: it may not die before its file system responds.
static void stop_lookups(struct lookup_process *process, bool stuck)
{
	if (process->pid) {
		kill(process->pid, SIGKILL);
		waitpid(process->pid, NULL, stuck ? WNOHANG : 0);
		close(process->pipe);
	}
	*process = (struct lookup_process){ .pipe = -1 };
}

// Receives the next message. Every failure counts as a timeout.
static struct project_facts receive_lookup(const struct lookup_process *process,
					   struct arena *arena)
{
	struct pollfd wait = { .fd = process->pipe, .events = POLLIN };
	struct lookup_message message;

	if (process->pipe < 0 || poll(&wait, 1, TIMEOUT_MS) <= 0 ||
	    read(process->pipe, &message, sizeof(message)) != sizeof(message))
		return (struct project_facts){ .lookup = LOOKUP_TIMEOUT };
	return (struct project_facts){
		.lookup = message.lookup,
		.problem = arena_strdup(arena, strerror(message.problem)),
		.mounted = message.mounted,
		.mount_id = *message.mount_id ? arena_strdup(arena, message.mount_id) : NULL,
		.parent_empty = message.parent_empty,
		.identity = message.identity,
	};
}

static bool contains(const strings *list, const char *text)
{
	vec_each(item, list) {
		if (str_equal(*item, text))
			return true;
	}
	return false;
}

// Returns the facts of each project. Waits for each unresponsive file system once.
static project_list look_up_projects(struct arena *arena, const instance_records *records)
{
	struct lookup_process process = { .pipe = -1 };
	project_list projects = { 0 };
	strings unresponsive = { 0 }; // mount points

	for (size_t i = 0; i < records->count; i++) {
		const char *mount_point = records->items[i].on.mount_point;
		struct project_facts facts = { .lookup = LOOKUP_TIMEOUT };

		if (!contains(&unresponsive, mount_point)) {
			if (!process.pid)
				process = start_lookups(records, i);
			facts = receive_lookup(&process, arena);
		}
		if (facts.lookup == LOOKUP_TIMEOUT) {
			stop_lookups(&process, true);
			if (mount_point)
				vec_push(arena, &unresponsive, mount_point);
		}
		vec_push(arena, &projects, facts);
	}
	stop_lookups(&process, false);
	return projects;
}

static struct project_facts look_up_project(struct arena *arena, struct instance_record record)
{
	instance_records records = { .items = &record, .count = 1 };

	return look_up_projects(arena, &records).items[0];
}

bool probe_path_exists(struct arena *arena, const char *path)
{
	return look_up_project(arena, (struct instance_record){ .root = path }).lookup ==
	       LOOKUP_EXISTS;
}

void probe_add_home(struct instance_home *home, int parent, const char *name)
{
	struct tree_size size = { 0 };

	tree_size_add(&size, parent, name, ENTRIES_MAX);
	home->size += size.bytes;
	home->incomplete |= size.incomplete;
	home->count++;
}

// Counts the items in the quarantine of an instance.
static size_t count_quarantined(struct arena *arena, int instance)
{
	strings names = list_directory_up_to(arena, instance, INSTANCE_QUARANTINE, QUARANTINE_MAX);
	size_t count = 0;

	vec_each(name, &names) {
		const char *item =
			arena_printf(arena, INSTANCE_QUARANTINE "/%s/" QUARANTINE_ITEM, *name);

		count += faccessat(instance, item, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	}
	return count;
}

// Measures the instance, and apart from the rest the homes in it.
static void measure(int all, const char *name, struct instance *instance, struct arena *arena)
{
	CLEANUP_FD int directory =
		openat(all, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	strings names = { 0 };
	struct tree_size total = { 0 };
	struct tree_size snapshots = { 0 };

	tree_size_add(&total, all, name, ENTRIES_MAX);
	instance->size = total.bytes;
	instance->size_known = !total.incomplete;
	if (directory >= 0) {
		names = list_directory(arena, directory, ".");
		instance->quarantined = count_quarantined(arena, directory);
		tree_size_add(&snapshots, directory, INSTANCE_SNAPSHOTS, ENTRIES_MAX);
		instance->snapshots = snapshots.bytes;
	}
	vec_each(entry, &names) {
		if (str_equal(*entry, STATE_HOME) || str_starts(*entry, STATE_HOME_KEPT))
			probe_add_home(&instance->home, directory, *entry);
	}
}

// Returns 0 when there is no such entry.
static int64_t modification_time(int directory, const char *name)
{
	struct stat status;

	return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_mtime : 0;
}

static struct instance read_instance(struct arena *arena, int all, const char *name,
				     struct instance_record *ret_record)
{
	struct instance instance = { .id = arena_strdup(arena, name) };
	CLEANUP_FD int directory =
		openat(all, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *text = directory < 0
				   ? NULL
				   : file_read_at(arena, directory, INSTANCE_RECORD, RECORD_LIMIT);

	if (instance_read_record(arena, name, text, ret_record))
		instance.root = ret_record->root;
	measure(all, name, &instance, arena);
	instance.last_use = modification_time(directory, INSTANCE_LOCK);
	if (!instance.last_use) // instances of early versions have no lock file
		instance.last_use = modification_time(directory, "claude");
	instance.in_use = directory >= 0 && lock_is_held(directory, INSTANCE_LOCK);
	return instance;
}

// Sets the status of each project. `records` and `projects` have one entry per instance with a
// root.
static void set_status(struct arena *arena, instance_list *list, const instance_records *records,
		       const project_list *projects)
{
	size_t next = 0;

	vec_each(instance, list) {
		size_t index = instance->root ? next++ : 0;

		instance->project = instance_project_status(
			arena, instance->root ? &records->items[index] : NULL,
			instance->root ? &projects->items[index] : NULL, &instance->why);
	}
}

instance_list probe_instances(struct arena *arena, int all, strings *ret_leftovers)
{
	strings names = list_directory(arena, all, ".");
	instance_records records = { 0 };
	project_list projects;
	instance_list list = { 0 };

	vec_each(name, &names) {
		const char *removed = str_after(*name, INSTANCE_REMOVED);
		struct instance_record record;
		struct instance instance;

		if (removed && (instance_id_valid(removed) || instance_kept_valid(removed)))
			vec_push(arena, ret_leftovers, *name);
		if (!instance_id_valid(*name) && !instance_kept_valid(*name))
			continue;
		instance = read_instance(arena, all, *name, &record);
		vec_push(arena, &list, instance);
		if (instance.root)
			vec_push(arena, &records, record);
	}
	projects = look_up_projects(arena, &records);
	set_status(arena, &list, &records, &projects);
	instances_sort(&list);
	return list;
}

bool probe_project_gone(struct arena *arena, int instance, const char *name)
{
	const char *text = file_read_at(arena, instance, INSTANCE_RECORD, RECORD_LIMIT);
	struct instance_record record;
	struct project_facts facts;
	enum project_status status;
	const char *why;

	if (!instance_read_record(arena, name, text, &record))
		return false;
	facts = look_up_project(arena, record);
	status = instance_project_status(arena, &record, &facts, &why);
	return status == PROJECT_GONE || status == PROJECT_REPLACED;
}
