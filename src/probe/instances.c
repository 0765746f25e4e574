// SPDX-License-Identifier: MIT
// Looks at all instances and their projects.
//
// Theory of operation: boxes wrote most of what lies in an instance, so no link is followed and no depth is believed. A
// project may lie on a server that is gone, where the kernel waits for ever: another process looks, and is left to
// itself when it does not answer.
#include "probe/instances.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/state/instances.h"
#include "probe/file_system.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { RECORD_LIMIT = 64 * 1024, DEEPEST = 64, PATIENCE_MS = 2000, ID_ROOM = 32 };

// A sight as it comes through the pipe.
struct answer {
	enum sight seen;
	int problem;
	bool mounted;
	bool bare;
	char mount_id[ID_ROOM];
};

static bool is_bare(const char *path)
{
	CLEANUP_DIR DIR *directory = opendir(path);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (!str_equal(entry->d_name, ".") && !str_equal(entry->d_name, ".."))
			return false;
	return true;
}

static struct answer look(struct arena *arena, const struct instance_record *record)
{
	const char *mount_point = record->on.mount_point;
	struct answer answer = { .seen = SIGHT_THERE };
	struct stat status;
	const char *id;

	if (lstat(record->root, &status) == 0)
		return answer;
	if (errno != ENOENT && errno != ENOTDIR) {
		answer.seen = SIGHT_FAILED;
		answer.problem = errno;
		return answer;
	}
	answer.seen = SIGHT_MISSING;
	if (!mount_point) {
		answer.bare = is_bare(path_parent(arena, record->root));
		return answer;
	}
	answer.mounted = probe_is_mount_point(mount_point);
	id = probe_file_system_id(arena, mount_point);
	snprintf(answer.mount_id, sizeof(answer.mount_id), "%s", id ? id : "");
	return answer;
}

struct looker {
	pid_t pid; // 0: none
	int from;
};

// Looks at all of them from `first` on, and says one after the other.
static struct looker start_looking(const instance_records *records, size_t first)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return (struct looker){ .from = -1 };
	pid = fork();
	if (pid == 0) {
		struct arena arena = { 0 };

		// It may outlive us: then it must hold no lock, and nobody's pipe.
		if (dup2(ends[1], STDIN_FILENO) < 0 || close_range(STDOUT_FILENO, ~0U, 0) < 0)
			_exit(1);
		for (size_t i = first; i < records->count; i++) {
			struct answer answer = look(&arena, &records->items[i]);

			if (write(STDIN_FILENO, &answer, sizeof(answer)) < 0)
				break;
		}
		_exit(0);
	}
	close(ends[1]);
	if (pid > 0)
		return (struct looker){ .pid = pid, .from = ends[0] };
	close(ends[0]);
	return (struct looker){ .from = -1 };
}

// One that waits for a dead server cannot be ended, nor be waited for.
static void stop_looking(struct looker *looker, bool stuck)
{
	if (looker->pid) {
		kill(looker->pid, SIGKILL);
		waitpid(looker->pid, NULL, stuck ? WNOHANG : 0);
		close(looker->from);
	}
	*looker = (struct looker){ .from = -1 };
}

static struct project_sight hear(const struct looker *looker, struct arena *arena)
{
	struct pollfd wait = { .fd = looker->from, .events = POLLIN };
	struct answer answer;

	if (looker->from < 0 || poll(&wait, 1, PATIENCE_MS) <= 0 ||
	    read(looker->from, &answer, sizeof(answer)) != sizeof(answer))
		return (struct project_sight){ .seen = SIGHT_SILENT };
	return (struct project_sight){
		.seen = answer.seen,
		.problem = arena_strdup(arena, strerror(answer.problem)),
		.mounted = answer.mounted,
		.mount_id = *answer.mount_id ? arena_strdup(arena, answer.mount_id) : NULL,
		.bare = answer.bare,
	};
}

static bool on_silent(const strings *silent, const struct instance_record *record)
{
	vec_each(mount_point, silent) {
		if (str_equal(*mount_point, record->on.mount_point))
			return true;
	}
	return false;
}

project_sights probe_projects(struct arena *arena, const instance_records *records)
{
	struct looker looker = { .from = -1 };
	project_sights sights = { 0 };
	strings silent = { 0 };

	for (size_t i = 0; i < records->count; i++) {
		const struct instance_record *record = &records->items[i];
		struct project_sight sight = { .seen = SIGHT_SILENT };

		if (!on_silent(&silent, record)) {
			if (!looker.pid)
				looker = start_looking(records, i);
			sight = hear(&looker, arena);
		}
		if (sight.seen == SIGHT_SILENT) {
			stop_looking(&looker, true);
			if (record->on.mount_point)
				vec_push(arena, &silent, record->on.mount_point);
		}
		vec_push(arena, &sights, sight);
	}
	stop_looking(&looker, false);
	return sights;
}

// What is not counted makes it "at least".
static void add_size(int parent, const char *name, int depth, struct instance *instance)
{
	CLEANUP_FD int fd =
		openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	CLEANUP_DIR DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat status;

	if (!directory) {
		instance->size_known &= errno == ENOENT;
		return;
	}
	take_fd(&fd);
	while ((entry = readdir(directory))) {
		bool up = str_equal(entry->d_name, "..");

		if (up ||
		    fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (!S_ISDIR(status.st_mode) || str_equal(entry->d_name, "."))
			instance->size += (uint64_t)status.st_blocks * 512;
		else if (depth < DEEPEST)
			add_size(dirfd(directory), entry->d_name, depth + 1, instance);
		else
			instance->size_known = false;
	}
}

static int64_t time_of(int directory, const char *name)
{
	struct stat status;

	return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_mtime : 0;
}

// A start that meets the moment of the question waits for it.
static bool is_held(int directory)
{
	CLEANUP_FD int lock =
		openat(directory, INSTANCE_LOCK, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static struct instance look_at_instance(struct arena *arena, int all, const char *name,
					bool *ret_known, struct instance_record *ret_record)
{
	struct instance instance = { .id = arena_strdup(arena, name), .size_known = true };
	CLEANUP_FD int directory =
		openat(all, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *text = directory < 0
				   ? NULL
				   : file_read_at(arena, directory, INSTANCE_RECORD, RECORD_LIMIT);

	*ret_known = instance_read_record(arena, name, text, ret_record);
	instance.root = *ret_known ? ret_record->root : NULL;
	add_size(all, name, 0, &instance);
	instance.last_use = time_of(directory, INSTANCE_LOCK);
	if (!instance.last_use) // from before there was one
		instance.last_use = time_of(directory, "claude");
	instance.in_use = directory >= 0 && is_held(directory);
	return instance;
}

static void judge_all(struct arena *arena, instance_list *list, const instance_records *records,
		      const project_sights *sights)
{
	size_t next = 0;

	vec_each(instance, list) {
		size_t place = instance->root ? next++ : 0;

		instance->presence = instance_judge(arena,
						    instance->root ? &records->items[place] : NULL,
						    instance->root ? &sights->items[place] : NULL,
						    &instance->why);
	}
}

instance_list probe_instances(struct arena *arena, int all, strings *ret_leftovers)
{
	CLEANUP_FD int copy = openat(all, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_DIR DIR *directory = copy < 0 ? NULL : fdopendir(copy);
	instance_records records = { 0 };
	project_sights sights;
	instance_list list = { 0 };
	const struct dirent *entry;

	if (directory)
		take_fd(&copy);
	while (directory && (entry = readdir(directory))) {
		const char *removed = str_after(entry->d_name, INSTANCE_REMOVED);
		struct instance_record record;
		bool known;

		if (removed && instance_id_valid(removed))
			vec_push(arena, ret_leftovers, arena_strdup(arena, entry->d_name));
		if (!instance_id_valid(entry->d_name))
			continue;
		vec_push(arena, &list,
			 look_at_instance(arena, all, entry->d_name, &known, &record));
		if (known)
			vec_push(arena, &records, record);
	}
	sights = probe_projects(arena, &records);
	judge_all(arena, &list, &records, &sights);
	instances_sort(&list);
	return list;
}

bool probe_still_gone(struct arena *arena, int instance, const char *id)
{
	const char *text = file_read_at(arena, instance, INSTANCE_RECORD, RECORD_LIMIT);
	struct instance_record record;
	instance_records records = { 0 };
	project_sights sights;
	const char *why;

	if (!instance_read_record(arena, id, text, &record))
		return false;
	vec_push(arena, &records, record);
	sights = probe_projects(arena, &records);
	return instance_judge(arena, &record, sights.items, &why) == PRESENCE_GONE;
}
