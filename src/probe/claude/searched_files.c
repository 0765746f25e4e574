// SPDX-License-Identifier: MIT
// Reads the Claude files that no earlier start has found to be without secrets.
//
// Theory of operation: a file is identified by its numbers and times. The time of change (ctime) is
// set by the kernel and cannot be restored, so a file with the same one has the same content. That
// holds on file systems of this machine only, and for a file that did not change in the seconds
// before it was read: times have a granularity. The identity of claudebox's own program file is a
// part of the list, so another build searches everything again.
#include "probe/claude/searched_files.h"

#include "base/arena.h"
#include "base/path.h"
#include "plan/claude/files.h"
#include "plan/claude/searched.h"
#include "plan/facts.h"
#include "plan/state/layout.h"
#include "probe/file_system.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

enum { SETTLED_MS = 2000 };

static uint64_t nanoseconds(struct timespec time)
{
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static struct searched_file identify(const struct stat *status, uint64_t judged_as)
{
	return (struct searched_file){ .device = status->st_dev,
				       .inode = status->st_ino,
				       .size = (uint64_t)status->st_size,
				       .modified_ns = nanoseconds(status->st_mtim),
				       .changed_ns = nanoseconds(status->st_ctim),
				       .judged_as = judged_as };
}

// Identifies this program. A digest of it would take longer than the search of most users' files.
static bool identify_program(struct searched_file *ret)
{
	CLEANUP_FD int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || !probe_change_times_reliable(fd))
		return false;
	*ret = identify(&status, 0);
	return true;
}

void searched_files_start(struct searched_files *files, struct arena *arena,
			  const struct facts *facts)
{
	struct searched_file program;
	const char *bytes = NULL;
	size_t length = 0;

	*files = (struct searched_files){ .arena = arena };
	if (!identify_program(&program))
		return;
	files->enabled = true;
	files->before_ns = (uint64_t)(clock_realtime_ms() - SETTLED_MS) * UINT64_C(1000000);
	if (facts->state.root_kind == FILE_DIRECTORY)
		bytes = file_read_bytes_at(arena, AT_FDCWD,
					   path_join(arena, facts->state.root, STATE_SEARCHED),
					   searched_size_max(), &length);
	searched_read(&files->list, arena, bytes, length, &program);
}

bool searched_files_have(struct searched_files *files, int directory, const char *name,
			 const char *judged_as)
{
	struct searched_file file;
	struct stat status;

	if (!files->enabled || !files->list.earlier_count ||
	    fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
		return false;
	file = identify(&status, searched_name(judged_as));
	return searched_has(&files->list, &file);
}

// Returns whether the times of change are reliable on the file system of an open file.
static bool is_reliable(struct searched_files *files, int fd, dev_t device)
{
	if (!files->device || files->device != device)
		files->reliable = probe_change_times_reliable(fd);
	files->device = device;
	return files->reliable;
}

char *searched_files_read(struct searched_files *files, struct arena *arena, int directory,
			  const char *name, const char *judged_as, size_t *ret_length,
			  struct searched_file *ret_file)
{
	CLEANUP_FD int fd = file_open(directory, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat before;
	struct stat after;
	struct searched_file file;
	char *bytes;

	*ret_file = (struct searched_file){ 0 };
	if (fd < 0 || fstat(fd, &before) < 0)
		return NULL;
	bytes = file_read_bytes(arena, fd, CLAUDE_TEXT_LIMIT, ret_length);
	if (!bytes || !files->enabled || fstat(fd, &after) < 0)
		return bytes;
	file = identify(&before, 0);
	*ret_file = identify(&after, 0);
	if (memcmp(&file, ret_file, sizeof(file)) != 0 || *ret_length != file.size ||
	    file.changed_ns > files->before_ns || !is_reliable(files, fd, before.st_dev))
		ret_file->inode = 0;
	ret_file->judged_as = searched_name(judged_as);
	return bytes;
}

void searched_files_add(struct searched_files *files, const struct searched_file *file)
{
	if (file->inode)
		searched_add(&files->list, files->arena, file);
}

void searched_files_finish(const struct searched_files *files, struct facts *facts)
{
	struct state_facts *state = &facts->state;

	if (files->enabled)
		state->new_searched =
			searched_write(&files->list, files->arena, &state->new_searched_size);
}
