// SPDX-License-Identifier: MIT
// The quarantine: a directory of the instance with the items that were moved out of a project.
//
// Theory of operation: an item is a directory quarantine/ID with the record `record.json` and the
// moved file or directory `item`. The record is written first. A rename moves the item, so nothing
// of it is lost, whatever the box does meanwhile; a process of the box that has it open keeps it
// open, and cannot reach the directory around it. If the project is on another file system, the
// item is copied and then removed (move.c). After a kill in between, a record without `item` is not
// listed and is removed when another item is put back, and a file that is still in its place is
// found again.
#include "guard/quarantine/quarantine.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text.h"
#include "guard/quarantine/move.h"
#include "plan/state/instances.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/list.h"
#include "sys/remove_tree.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ITEM   QUARANTINE_ITEM
#define RECORD QUARANTINE_RECORD

enum { RECORD_LIMIT = 64 * 1024, MAX_ITEMS = 10000, BASE64_COLUMNS = 4 * 65536 };

int quarantine_open(const char *instance, struct error *error)
{
	CLEANUP_FD int directory = file_open(AT_FDCWD, instance, O_PATH | O_DIRECTORY);

	if (directory < 0) {
		write_fail(error, "open", instance);
		return -1;
	}
	return quarantine_open_at(directory, error);
}

int quarantine_open_at(int instance, struct error *error)
{
	return open_directory(instance, INSTANCE_QUARANTINE, INSTANCE_QUARANTINE, error);
}

int quarantine_find(const char *instance)
{
	CLEANUP_FD int directory = file_open(AT_FDCWD, instance, O_PATH | O_DIRECTORY);

	return directory < 0 ? -1
			     : file_open(directory, INSTANCE_QUARANTINE, O_RDONLY | O_DIRECTORY);
}

// Creates the directory of a new item. Returns its name, NULL with errno.
static const char *create_item(int quarantine, struct arena *arena, int64_t time_ms)
{
	for (int number = 0; number < MAX_ITEMS; number++) {
		const char *id = arena_printf(arena, "%lld-%d", (long long)time_ms, number);

		if (mkdirat(quarantine, id, 0700) == 0) // the umask may have removed permissions
			return fchmodat(quarantine, id, 0700, 0) == 0 ? id : NULL;
		if (errno != EEXIST)
			return NULL;
	}
	errno = ENOSPC;
	return NULL;
}

// Returns the record of an item. JSON has no bytes: a path that is not UTF-8 is in it as base64,
// and escaped for people.
static json_t *build_record(struct arena *arena, const char *path, const char *why, int64_t time_ms,
			    bool copied)
{
	struct text base64 = { .arena = arena };
	json_t *name = json_string(path);
	json_t *record;

	if (!name)
		text_add_base64(&base64, (const unsigned char *)path, strlen(path), BASE64_COLUMNS);
	record = json_pack("{s:o, s:s, s:I, s:b}", "path",
			   name ? name : json_string(quote_display(arena, path, 0)), "why", why,
			   "moved_ms", (json_int_t)time_ms, "copied", copied);
	if (!name)
		json_object_set_new(record, "path_base64", json_string(text_get(&base64)));
	return record;
}

static bool write_record(int item, struct arena *arena, const char *path, const char *why,
			 int64_t time_ms, bool copied)
{
	CLEANUP_FD int fd = create_file(item, RECORD);
	JSON_OWNED *record = build_record(arena, path, why, time_ms, copied);
	const char *text = record ? json_write(arena, record, JSON_INDENT(2)) : NULL;

	// Not synchronized with the disk: a place must not wait for it.
	return text && fd >= 0 && write_all(fd, text, strlen(text));
}

const char *quarantine_move(int quarantine, struct arena *arena, int directory, const char *name,
			    const char *path, const char *why, bool copied)
{
	int64_t time_ms = clock_realtime_ms();
	const char *id = create_item(quarantine, arena, time_ms);
	CLEANUP_FD int item =
		id ? openat(quarantine, id, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	int problem;

	if (item >= 0 && write_record(item, arena, path, why, time_ms, copied) &&
	    move_entry(directory, name, item, ITEM, arena))
		return id;
	problem = errno;
	// A copy whose source could not be removed stays.
	if (id && faccessat(item, ITEM, F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
		unlinkat(item, RECORD, 0);
		unlinkat(quarantine, id, AT_REMOVEDIR);
	}
	errno = problem;
	return NULL;
}

static const char *member(struct arena *arena, const json_t *record, const char *name)
{
	const char *text = json_string_value(json_object_get(record, name));

	return text ? arena_strdup(arena, text) : "";
}

// Returns the path of an item as bytes.
static const char *item_path(struct arena *arena, const json_t *record)
{
	const char *base64 = json_string_value(json_object_get(record, "path_base64"));
	size_t length = base64 ? strcspn(base64, "\n") : 0;
	unsigned char *bytes = arena_alloc(arena, length + 1);

	if (!base64 || !base64_decode(base64, length, bytes, length))
		return member(arena, record, "path");
	return (const char *)bytes;
}

static void add_item(quarantine_items *items, struct arena *arena, int quarantine, const char *id)
{
	CLEANUP_FD int item = openat(quarantine, id, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *text = item < 0 ? NULL : file_read_at(arena, item, RECORD, RECORD_LIMIT);
	JSON_OWNED *record = json_read_object(text, 0);
	struct stat status;

	if (record && fstatat(item, ITEM, &status, AT_SYMLINK_NOFOLLOW) == 0)
		vec_push(arena, items,
			 (struct quarantined){
				 .id = arena_strdup(arena, id),
				 .path = item_path(arena, record),
				 .why = member(arena, record, "why"),
				 .moved_ms =
					 json_integer_value(json_object_get(record, "moved_ms")),
				 .copied = json_is_true(json_object_get(record, "copied")) });
}

static int compare_items(const void *a, const void *b)
{
	const struct quarantined *first = a;
	const struct quarantined *second = b;

	if (first->moved_ms != second->moved_ms)
		return first->moved_ms < second->moved_ms ? -1 : 1;
	return strcmp(first->id, second->id);
}

quarantine_items quarantine_list(int quarantine, struct arena *arena)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(quarantine, ".");
	quarantine_items items = { 0 };
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)) && items.count < MAX_ITEMS)
		if (entry->d_name[0] != '.')
			add_item(&items, arena, quarantine, entry->d_name);
	if (items.count)
		qsort(items.items, items.count, sizeof(items.items[0]), compare_items);
	return items;
}

void quarantine_clean(int quarantine, struct arena *arena)
{
	strings names = list_directory_up_to(arena, quarantine, ".", MAX_ITEMS);

	vec_each(name, &names) {
		struct error error = { .arena = arena };
		struct stat status;

		if (fstatat(quarantine, arena_printf(arena, "%s/" ITEM, *name), &status,
			    AT_SYMLINK_NOFOLLOW) < 0 &&
		    errno == ENOENT)
			remove_tree(quarantine, *name, &error);
	}
}
