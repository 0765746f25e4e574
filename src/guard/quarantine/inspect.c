// SPDX-License-Identifier: MIT
// Reads an item of the quarantine, and what is at its place now.
//
// Theory of operation: a box has written all that is read here. So the amount that is read of a
// file, the number of entries and the depth are limited, no link is followed, and a FIFO is never
// opened for longer than it takes to see that it is one. The texts are dropped after the
// comparison: a quarantine may have thousands of items.
#include "guard/quarantine/inspect.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "guard/quarantine/quarantine.h"
#include "guard/quarantine/settings.h"
#include "plan/state/instances.h"
#include "render/difference.h"
#include "render/quarantine.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/list.h"
#include "sys/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { READ_LIMIT = 64 * 1024, DEPTH_MAX = 64, READ_TIMEOUT_MS = 1000 };

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Adds the files in a directory to a sample. `prefix` is its path in the item, with a slash.
static void add_files(struct sample *sample, struct arena *arena, int parent, const char *name,
		      const char *prefix, size_t *budget, int depth)
{
	CLEANUP_FD int directory = file_open(parent, name, O_RDONLY | O_DIRECTORY);
	strings names = { 0 };

	if (directory >= 0)
		names = list_directory_up_to(arena, directory, ".", *budget);
	sample->incomplete |= directory < 0 || !depth || names.count == *budget;
	*budget -= names.count;
	if (names.count)
		qsort(names.items, names.count, sizeof(names.items[0]), compare_names);
	vec_each(entry, &names) {
		const char *path = arena_printf(arena, "%s%s", prefix, *entry);
		struct stat status;

		if (fstatat(directory, *entry, &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(status.st_mode)) {
			if (depth)
				add_files(sample, arena, directory, *entry,
					  arena_printf(arena, "%s/", path), budget, depth - 1);
			continue;
		}
		sample->count++;
		sample->size += S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
		if (sample->files.count < DIFFERENCE_MAX)
			vec_push(arena, &sample->files, path);
	}
}

static void read_file(struct sample *sample, struct arena *arena, int directory, const char *name)
{
	CLEANUP_FD int fd = file_open(directory, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	bool complete;
	char *bytes;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		sample->problem = fd < 0 ? arena_strdup(arena, strerror(errno)) : "it has changed";
		return;
	}
	bytes = arena_alloc(arena, READ_LIMIT + 1);
	sample->length = read_until_end(fd, bytes, READ_LIMIT, READ_TIMEOUT_MS, &complete);
	sample->bytes = bytes;
}

static void read_link(struct sample *sample, struct arena *arena, int directory, const char *name)
{
	char target[4096];
	ssize_t length = readlinkat(directory, name, target, sizeof(target));

	sample->target = length < 0 ? "" : arena_strndup(arena, target, (size_t)length);
}

static struct sample read_sample(struct arena *arena, int directory, const char *name,
				 size_t *budget)
{
	struct sample sample = { .kind = SAMPLE_OTHER };
	struct stat status;

	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return (struct sample){ .kind = SAMPLE_MISSING };
	if (S_ISREG(status.st_mode)) {
		sample.kind = status.st_mode & 0111 ? SAMPLE_PROGRAM : SAMPLE_FILE;
		sample.size = (uint64_t)status.st_size;
		read_file(&sample, arena, directory, name);
	} else if (S_ISDIR(status.st_mode)) {
		sample.kind = SAMPLE_DIRECTORY;
		add_files(&sample, arena, directory, name, "", budget, DEPTH_MAX);
	} else if (S_ISLNK(status.st_mode)) {
		sample.kind = SAMPLE_LINK;
		read_link(&sample, arena, directory, name);
	} else if (S_ISFIFO(status.st_mode)) {
		sample.kind = SAMPLE_FIFO;
	}
	return sample;
}

const char *inspect_obstacle(struct arena *arena, const char *project, const char *path)
{
	const char *parent = path_parent(arena, path);

	if (path[0] != '/')
		return "its path is not known";
	for (const char *end = parent + 1; end[-1]; end++) {
		const char *part = arena_strndup(arena, parent, (size_t)(end - parent));
		struct stat status;

		if (*end && *end != '/')
			continue;
		if (lstat(part, &status) < 0 && errno == ENOENT && path_within(part, project))
			return NULL; // it is created
		if (lstat(part, &status) < 0)
			return errno == ENOENT ? arena_printf(arena, "'%s' does not exist any more",
							      quote_display(arena, part, 0))
					       : arena_printf(arena, "'%s': %s",
							      quote_display(arena, part, 0),
							      strerror(errno));
		if (!S_ISDIR(status.st_mode))
			return arena_printf(arena, "'%s' is %s now", quote_display(arena, part, 0),
					    S_ISLNK(status.st_mode) ? "a symbolic link"
								    : "not a directory");
		if (!*end)
			break;
	}
	return NULL;
}

static const char *render_time(struct arena *arena, int64_t time_ms)
{
	time_t seconds = (time_t)(time_ms / 1000);
	struct tm local;
	char text[64];

	if (!localtime_r(&seconds, &local) || !strftime(text, sizeof(text), "%F %T", &local))
		return "earlier";
	return arena_strdup(arena, text);
}

// Copies what is left of a sample after the comparison.
static struct sample keep_sample(struct arena *arena, const struct sample *from)
{
	struct sample kept = *from;

	kept.bytes = NULL;
	kept.files = (strings){ 0 };
	kept.problem = from->problem ? arena_strdup(arena, from->problem) : NULL;
	kept.target = from->target ? arena_strdup(arena, from->target) : NULL;
	return kept;
}

static struct sample text_sample(const char *text)
{
	size_t length = strlen(text);

	return (struct sample){
		.kind = SAMPLE_FILE, .size = length, .bytes = text, .length = length
	};
}

// Computes what putting back an item changes.
static void find_difference(struct quarantine_row *row, struct arena *arena,
			    const struct sample *before, const struct sample *after,
			    const struct settings_change *change)
{
	if (change->text) {
		struct sample present = text_sample(change->present);
		struct sample changed = text_sample(change->text);

		row->in_part = true;
		row->settings = change->count;
		row->difference = difference_build(arena, &present, &changed);
	} else {
		row->difference = difference_build(arena, before, after);
	}
}

static void compare(struct quarantine_row *row, struct inspection *inspection,
		    const struct quarantined *item, int directory, int place)
{
	struct arena *arena = inspection->arena;
	struct arena scratch = { 0 };
	struct sample after =
		read_sample(&scratch, directory, QUARANTINE_ITEM, &inspection->budget);
	struct sample before = { .kind = SAMPLE_MISSING };
	struct settings_change change = { 0 };
	strings lines;

	if (place >= 0)
		before = read_sample(&scratch, place, path_name(row->path), &inspection->budget);
	if (item->copied && (before.kind == SAMPLE_FILE || before.kind == SAMPLE_PROGRAM))
		settings_compare(&scratch, inspection->project, item, directory, place, &change);
	find_difference(row, &scratch, &before, &after, &change);
	lines = row->difference.lines;
	row->difference.lines = (strings){ 0 };
	vec_each(line, &lines)
		vec_push(arena, &row->difference.lines, arena_strdup(arena, *line));
	row->item = keep_sample(arena, &after);
	row->present = keep_sample(arena, &before);
	arena_free(&scratch);
}

struct quarantine_row inspect_item(struct inspection *inspection, const struct quarantined *item,
				   size_t number)
{
	struct arena *arena = inspection->arena;
	struct quarantine_row row = {
		.number = number,
		.id = item->id,
		.path = item->path,
		.file = arena_printf(arena, "%s/%s/" QUARANTINE_ITEM, inspection->path, item->id),
		.why = item->why,
		.moved = render_time(arena, item->moved_ms),
		.moved_ms = item->moved_ms,
		.copied = item->copied,
		.obstacle = inspect_obstacle(arena, inspection->project, item->path)
	};
	CLEANUP_FD int directory =
		file_open(inspection->quarantine, item->id, O_PATH | O_DIRECTORY);
	CLEANUP_FD int place = row.obstacle ? -1
					    : file_open(AT_FDCWD, path_parent(arena, item->path),
							O_PATH | O_DIRECTORY);

	compare(&row, inspection, item, directory, place);
	return row;
}

void inspect_add_size(struct inspection *inspection, const struct quarantined *item,
		      struct sample *sum)
{
	CLEANUP_FD int directory =
		file_open(inspection->quarantine, item->id, O_PATH | O_DIRECTORY);
	struct arena scratch = { 0 };
	struct stat status;

	if (fstatat(directory, QUARANTINE_ITEM, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISREG(status.st_mode))
		sum->size += (uint64_t)status.st_size;
	if (S_ISDIR(status.st_mode))
		add_files(sum, &scratch, directory, QUARANTINE_ITEM, "", &inspection->budget,
			  DEPTH_MAX);
	sum->files = (strings){ 0 };
	arena_free(&scratch);
}
