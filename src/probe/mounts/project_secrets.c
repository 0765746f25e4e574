// SPDX-License-Identifier: MIT
// Searches the project and the repository around it for files that look like secrets, and for
// secrets in Claude settings and in the git configuration. It also finds nested repositories.
#include "probe/mounts/project_secrets.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/claude/files.h"
#include "plan/claude/named_paths.h"
#include "plan/claude/settings.h"
#include "plan/facts.h"
#include "plan/secrets/detect.h"
#include "plan/secrets/git_config.h"
#include "plan/secrets/npmrc.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// The result is a hint and not a guarantee. The limits keep the start fast in a large project.
enum {
	MAX_DEPTH = 3,
	MAX_DIRECTORIES = 64,
	MAX_ENTRIES = 4096,
	MAX_MODULES = 34,
	SETTINGS_LIMIT = 1024 * 1024,
	TEXT_LIMIT = 64 * 1024
};

struct scan {
	struct arena *arena;
	strings *found;
	strings *nested;     // directories that have a .git, NULL: not wanted
	const char *skipped; // a path relative to the start, NULL: none
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

// Returns whether a file that is a secret by its name has one. Only a .npmrc is read: most have
// settings alone. One that cannot be read counts.
static bool has_secret(struct arena *arena, int directory, const char *name)
{
	const char *text;

	if (!str_equal(name, ".npmrc"))
		return true;
	text = file_read_at(arena, directory, name, TEXT_LIMIT);
	return !text || secret_npmrc(text);
}

// Adds the matching files of a directory and of those below it. `shown` is the directory's path
// relative to the project, or to the repository around it.
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
		if (*shown && scan->nested && str_equal(entry->d_name, ".git"))
			vec_push(scan->arena, scan->nested, shown);
		if (entry->d_type == DT_REG && secret_file_path(path) &&
		    has_secret(scan->arena, dirfd(directory), entry->d_name))
			vec_push(scan->arena, scan->found, path);
		if (entry->d_type == DT_DIR && depth > 1 && !is_skipped(entry->d_name) &&
		    !str_equal(path, scan->skipped) && scan->directories++ < MAX_DIRECTORIES)
			scan_directory(scan, dirfd(directory), entry->d_name, path, depth - 1);
	}
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void scan_tree(struct arena *arena, const char *root, const char *skipped, strings *found,
		      strings *nested)
{
	struct scan scan = { .arena = arena, .found = found, .nested = nested, .skipped = skipped };

	scan_directory(&scan, AT_FDCWD, root, "", MAX_DEPTH);
	if (found->count)
		qsort(found->items, found->count, sizeof(*found->items), compare_names);
	if (nested && nested->count)
		qsort(nested->items, nested->count, sizeof(*nested->items), compare_names);
}

static void read_git_config(struct git_facts *git, struct arena *arena, const char *directory,
			    const char *name)
{
	const char *text = file_read(arena, path_join(arena, directory, name), SETTINGS_LIMIT, 0);

	if (text)
		secret_git_config(arena, text, &git->config_secrets);
}

// Reads the configuration of the repository, of the worktree and of submodules.
static void scan_git_config(struct facts *facts, struct arena *arena)
{
	struct git_facts *git = &facts->git;
	const char *own = path_join(arena, facts->project, ".git");
	const char *common = git->top ? git->common : own;
	const char *modules = path_join(arena, common, "modules");
	CLEANUP_DIR DIR *directory = open_directory_stream(AT_FDCWD, modules);
	struct dirent *entry;

	read_git_config(git, arena, common, "config");
	read_git_config(git, arena, git->top ? git->directory : own, "config.worktree");
	for (int i = 0; directory && i < MAX_MODULES && (entry = readdir(directory)); i++)
		if (entry->d_name[0] != '.')
			read_git_config(git, arena, path_join(arena, modules, entry->d_name),
					"config");
}

void probe_project_secrets(struct facts *facts, struct arena *arena)
{
	static const char *const settings[] = { ".mcp.json", ".claude/settings.json",
						".claude/settings.local.json" };
	static const char *const instructions[] = { "CLAUDE.md", "CLAUDE.local.md",
						    ".claude/CLAUDE.md" };
	const char *top = facts->git.top;

	scan_tree(arena, facts->project, NULL, &facts->project_secrets, &facts->git.user.nested);
	if (top && !str_equal(top, facts->project) && path_within(facts->project, top))
		scan_tree(arena, top, facts->project + strlen(top) + 1, &facts->around_secrets,
			  NULL);
	scan_git_config(facts, arena);
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		const char *text = file_read(arena, path_join(arena, facts->project, settings[i]),
					     SETTINGS_LIMIT, 0);

		if (!text)
			continue;
		settings_find_secrets(arena, settings[i], text, &facts->project_mcp_secrets);
		claude_add_repository_settings(facts, arena, settings[i], text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(instructions); i++) {
		const char *text = file_read(
			arena, path_join(arena, facts->project, instructions[i]), TEXT_LIMIT, 0);
		const char *lines = NULL;

		if (!text)
			continue;
		claude_without_secret_lines(arena, text, &lines);
		claude_add_repository_imports(facts, arena, instructions[i], text);
		if (lines)
			vec_push(arena, &facts->project_mcp_secrets,
				 arena_printf(arena, "%s: line %s", instructions[i], lines));
	}
}
