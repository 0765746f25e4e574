// SPDX-License-Identifier: MIT
// Finds the conversations of plain claude on the host that belong to this project.
//
// Theory of operation: the name of the directory is ambiguous (/a/b and /a-b have the same), and
// the user may have copied conversations. So each conversation must name this project as its
// directory. Only regular files with the name of a conversation count; no link is followed, neither
// a file nor the directory of the project.
#include "probe/claude/conversations.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/state/conversations.h"
#include "plan/state/upgrade.h"
#include "probe/programs.h"
#include "sys/ask.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	HEAD_SHORT = 64 * 1024,
	HEAD_LONG = 32 * 1024 * 1024, // the first message may contain images
	MOST_CONVERSATIONS = 10 * 1000,
};

// Returns whether the beginning of a file names this project before any other directory.
static bool head_names(int fd, size_t limit, const char *project)
{
	struct arena scratch = { 0 };
	char *head = arena_alloc(&scratch, limit + 1);
	ssize_t length = pread(fd, head, limit, 0);
	char *end = length > 0 ? memrchr(head, '\n', (size_t)length) : NULL;
	bool same;

	if (end)
		*end = '\0'; // complete lines only
	same = end && str_equal(upgrade_find_project(&scratch, head), project);
	arena_free(&scratch);
	return same;
}

static bool names_project(int directory, const char *name, uint64_t size, const char *project)
{
	CLEANUP_FD int fd =
		openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (head_names(fd, size < HEAD_SHORT ? (size_t)size : HEAD_SHORT, project))
		return true;
	return size > HEAD_SHORT &&
	       head_names(fd, size < HEAD_LONG ? (size_t)size : HEAD_LONG, project);
}

static void add_conversation(struct facts *facts, struct arena *arena, int directory, int instance,
			     const char *name)
{
	struct conversation_facts *found = &facts->conversations;
	struct stat status;

	if (!conversation_name_valid(name) || found->list.count == MOST_CONVERSATIONS ||
	    fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(status.st_mode) || status.st_size <= 0 || status.st_uid != facts->uid ||
	    (instance >= 0 && faccessat(instance, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) ||
	    !names_project(directory, name, (uint64_t)status.st_size, facts->project))
		return;
	found->size += (uint64_t)status.st_size;
	vec_push(arena, &found->list,
		 (struct host_conversation){ .name = arena_strdup(arena, name),
					     .size = (uint64_t)status.st_size,
					     .changed_ns =
						     status.st_mtim.tv_sec * INT64_C(1000000000) +
						     status.st_mtim.tv_nsec,
					     .id = file_identity(&status) });
}

// Opens the directory of this project's conversations in the user's Claude directory. That one may
// contain links of the user's, but none that a box can change. Returns -1 if there is none.
static int open_source(struct facts *facts, struct arena *arena)
{
	struct followed all = file_follow(arena, path_join(arena, facts->user_claude.directory,
							   CONVERSATIONS_DIRECTORY));
	struct conversation_facts *found = &facts->conversations;

	found->source = path_join(arena, all.real, found->slug);
	if (all.kind != FILE_DIRECTORY || (all.hops.count && probe_writing_box(arena, facts, &all)))
		return -1;
	return file_open(AT_FDCWD, found->source, O_RDONLY | O_DIRECTORY);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct host_conversation *)a)->name,
		      ((const struct host_conversation *)b)->name);
}

static bool has_conversation(int instance)
{
	CLEANUP_DIR DIR *stream = open_directory_stream(instance, ".");
	const struct dirent *entry;
	bool found = false;

	for (int i = 0; stream && !found && i < MOST_CONVERSATIONS && (entry = readdir(stream));
	     i++)
		found = conversation_name_valid(entry->d_name);
	return found;
}

static void list_conversations(struct facts *facts, struct arena *arena)
{
	struct conversation_facts *found = &facts->conversations;
	CLEANUP_FD int source = open_source(facts, arena);
	CLEANUP_FD int instance = -1;
	CLEANUP_DIR DIR *stream = source < 0 ? NULL : open_directory_stream(source, ".");
	const struct dirent *entry;

	// The instance of an earlier directory is not used.
	if (stream && !facts->state.kept_as)
		instance = file_open(AT_FDCWD,
				     arena_printf(arena, "%s/claude/" CONVERSATIONS_DIRECTORY "/%s",
						  plan_instance_path(arena, facts), found->slug),
				     O_PATH | O_DIRECTORY);
	found->has_own = instance >= 0 && has_conversation(instance);
	while (stream && (entry = readdir(stream)))
		add_conversation(facts, arena, source, instance, entry->d_name);
	if (found->list.count)
		qsort(found->list.items, found->list.count, sizeof(found->list.items[0]),
		      compare_names);
}

static bool was_answered(const struct facts *facts, struct arena *arena)
{
	return facts->state.root_kind == FILE_DIRECTORY && !facts->state.kept_as &&
	       faccessat(AT_FDCWD,
			 path_join(arena, plan_instance_path(arena, facts),
				   plan_conversations_name(arena, facts)),
			 F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void probe_conversations(struct facts *facts, struct arena *arena, const struct config *config)
{
	struct conversation_facts *found = &facts->conversations;

	found->answered = was_answered(facts, arena);
	if (found->answered && !config->import_conversations && !conversation_resumed(config) &&
	    !conversation_continued(config))
		return;
	found->slug = conversation_slug(arena, facts->project);
	list_conversations(facts, arena);
	found->can_ask = found->list.count && ask_possible();
}
