// SPDX-License-Identifier: MIT
// Searches the project for files that look like secrets and for secrets in its Claude settings.
#include "probe/project_secrets.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/claude/settings.h"
#include "plan/facts.h"
#include "plan/secrets/detect.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// The result is a hint and not a guarantee. The limits keep the start fast in a large project.
enum { MAX_DEPTH = 3, MAX_DIRECTORIES = 64, MAX_ENTRIES = 4096, SETTINGS_LIMIT = 1024 * 1024 };

struct scan {
	struct arena *arena;
	strings *found;
	int directories;
	int entries;
};

// Returns whether a directory holds dependencies, build results or git's own data.
static bool is_skipped(const char *name)
{
	static const char *const skipped[] = { ".git",  "node_modules", "target",
					       "build", "dist",         ".venv",
					       "venv",  "vendor",       "__pycache__" };

	for (size_t i = 0; i < ARRAY_SIZE(skipped); i++)
		if (str_equal(name, skipped[i]))
			return true;
	return false;
}

// Adds the matching files of a directory and of those below it. `shown` is the directory's path
// relative to the project.
static void scan_directory(struct scan *scan, int parent, const char *name, const char *shown,
			   int depth)
{
	CLEANUP_DIR DIR *directory = open_directory_stream(parent, name);
	struct dirent *entry;

	while (directory && (entry = readdir(directory)) && scan->entries++ < MAX_ENTRIES) {
		const char *path = *shown ? path_join(scan->arena, shown, entry->d_name)
					  : arena_strdup(scan->arena, entry->d_name);

		if (str_equal(entry->d_name, ".") || str_equal(entry->d_name, ".."))
			continue;
		if (entry->d_type == DT_REG && secret_file_name(entry->d_name))
			vec_push(scan->arena, scan->found, path);
		if (entry->d_type == DT_DIR && depth > 1 && !is_skipped(entry->d_name) &&
		    scan->directories++ < MAX_DIRECTORIES)
			scan_directory(scan, dirfd(directory), entry->d_name, path, depth - 1);
	}
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void probe_project_secrets(struct facts *facts, struct arena *arena)
{
	static const char *const settings[] = { ".mcp.json", ".claude/settings.json",
						".claude/settings.local.json" };
	struct scan scan = { .arena = arena, .found = &facts->project_secrets };

	scan_directory(&scan, AT_FDCWD, facts->project, "", MAX_DEPTH);
	if (facts->project_secrets.count)
		qsort(facts->project_secrets.items, facts->project_secrets.count,
		      sizeof(*facts->project_secrets.items), compare_names);
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		const char *text = file_read(arena, path_join(arena, facts->project, settings[i]),
					     SETTINGS_LIMIT, 0);

		if (text)
			settings_find_secrets(arena, settings[i], text,
					      &facts->project_mcp_secrets);
	}
}
