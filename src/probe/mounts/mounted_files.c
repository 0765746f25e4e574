// SPDX-License-Identifier: MIT
// Searches the directories that are mounted for sockets and for files with several names.
//
// Theory of operation: one walk over the project, the repository around it and the requested
// mounts finds both. The limits keep the start fast in a large project, so the result is a hint and
// not a guarantee. A file whose names are all in the same directory tree is not reported.
#include "probe/mounts/mounted_files.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "probe/mounts/sockets.h"
#include "probe/mounts/walk.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	MAX_ENTRIES = 2000,
	MAX_DIRECTORIES = 24,
	MAX_EXAMINED = 256, // files whose number of names is read
	MAX_LINKED = 64,
	SEARCH_DEPTH = 2,
	TIMEOUT_MS = 100, // for slow file systems
};

struct linked_file {
	struct file_id id;
	nlink_t names;
	nlink_t seen; // names in this directory tree
	const char *path;
};

struct search {
	struct facts *facts;
	struct arena *arena;
	int64_t start;
	bool writable; // the box can change the files
	int examined;
	VEC(struct linked_file) files;
};

// Records a file if it has several names.
static void add_file(struct search *search, const struct walk_place *place, const char *name)
{
	struct file_id id;
	struct stat status;

	if (fstatat(place->fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || status.st_nlink < 2 ||
	    !S_ISREG(status.st_mode))
		return;
	id = file_identity(&status);
	vec_each(file, &search->files) {
		if (file->id.inode == id.inode && file->id.device == id.device) {
			file->seen++;
			return;
		}
	}
	if (search->files.count < MAX_LINKED)
		vec_push(search->arena, &search->files,
			 (struct linked_file){
				 .id = id,
				 .names = status.st_nlink,
				 .seen = 1,
				 .path = path_join(search->arena, place->path, name) });
}

static bool visit(void *context, const struct walk_place *place, const struct dirent *entry)
{
	struct search *search = context;

	if (entry->d_type == DT_SOCK)
		probe_add_socket(search->facts, search->arena,
				 path_join(search->arena, place->path, entry->d_name));
	if (entry->d_type == DT_REG && search->writable && search->examined++ < MAX_EXAMINED)
		add_file(search, place, entry->d_name);
	return clock_left_ms(search->start, TIMEOUT_MS) > 0;
}

static void search_directory(struct walk *walk, const char *root, int depth, bool writable)
{
	struct search *search = walk->context;

	search->writable = writable;
	search->files.count = 0;
	walk_directory(walk, root, depth);
	vec_each(file, &search->files) {
		if (file->seen < file->names)
			vec_push(search->arena, &search->facts->hard_links.files, file->path);
	}
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_names(strings *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare_names);
}

void probe_mounted_files(struct facts *facts, struct arena *arena)
{
	const struct git_facts *git = &facts->git;
	struct search search = { .facts = facts, .arena = arena, .start = clock_monotonic_ms() };
	struct walk walk = { .arena = arena,
			     .entries = MAX_ENTRIES,
			     .directories = MAX_DIRECTORIES,
			     .visit = visit,
			     .context = &search };

	if (!facts->project_problem)
		search_directory(&walk, facts->project, SEARCH_DEPTH, true);
	if (git->top)
		search_directory(&walk, git->common, 1, false);
	vec_each(mount, &facts->mounts) {
		if (mount->source.kind == FILE_DIRECTORY)
			search_directory(&walk, mount->source.real, SEARCH_DEPTH, mount->writable);
	}
	if (git->top && !str_equal(git->top, facts->project))
		search_directory(&walk, git->top, SEARCH_DEPTH, false);
	sort_names(&facts->sockets);
	sort_names(&facts->hard_links.files);
}
