// SPDX-License-Identifier: MIT
// Files that belong to the user's git configuration, and what the repository needs of git-lfs.
#include "probe/git/files.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/git/copies.h"
#include "plan/git/facts.h"
#include "plan/git/settings.h"
#include "plan/project.h"
#include "plan/tables.h"
#include "probe/settings/own_files.h"
#include "probe/settings/settings_file.h"
#include "probe/user.h"
#include "sys/files.h"

#include <string.h>
#include <unistd.h>

#define LFS_PROGRAM "git-lfs"

enum { ATTRIBUTES_LIMIT = 256 * 1024, MAX_FILTERS = 16 };

// Returns the file that a setting names; NULL: none, or one in the project by a relative path,
// which git in the box finds itself.
static const char *copy_path(struct arena *arena, const struct facts *facts,
			     const struct git_copy_row *row)
{
	const struct git_setting *setting =
		git_setting_last(&facts->git.user.settings, row->setting);

	if (!setting)
		return row->usual ? path_join(arena, probe_config_home(arena, facts), row->usual)
				  : NULL;
	if (!setting->value || (*setting->value != '/' && !str_starts(setting->value, "~/")))
		return NULL;
	return path_clean(arena, path_expand_home(arena, setting->value, facts->home));
}

// Reads a file, unless a box can have chosen it.
static void read_copy(struct git_copy_facts *copy, struct arena *arena, const struct facts *facts,
		      const struct git_copy_row *row, const char *path)
{
	const struct git_setting *setting =
		git_setting_last(&facts->git.user.settings, row->setting);
	struct followed file = file_follow(arena, path);

	copy->real = file.real;
	if (setting && setting->box_writes)
		copy->problem = OWN_NAMED_BY_BOX;
	else
		copy->text = probe_own_file(arena, facts, &file, SETTINGS_LIMIT, 0, &copy->problem);
}

// Adds the filters that lines such as "*.psd filter=lfs -text" name.
static void add_filters(struct git_user_facts *user, struct arena *arena, const char *text)
{
	const char *line;

	while (text && (line = str_next_line(arena, &text))) {
		const char *found = *line == '#' ? NULL : strstr(line, "filter=");

		if (!found || found == line || !strchr(" \t", found[-1]))
			continue;
		found += strlen("filter=");
		git_add_once(arena, &user->filters,
			     arena_strndup(arena, found, strcspn(found, " \t\r")), MAX_FILTERS);
	}
}

void probe_git_files(struct facts *facts, struct arena *arena)
{
	const struct git_facts *git = plan_git(facts);
	struct git_user_facts *user = &facts->git.user;

	for (int i = 0; i < GIT_COPY_COUNT; i++) {
		struct git_copy_facts *copy = &user->copies[i];
		const char *path = copy_path(arena, facts, &git_copy_table[i]);

		if (path)
			read_copy(copy, arena, facts, &git_copy_table[i], path);
		if (copy->text || copy->problem)
			copy->path = path;
	}
	add_filters(user, arena, user->copies[GIT_COPY_ATTRIBUTES].text);
	if (!git)
		return;
	add_filters(user, arena,
		    file_read(arena, path_join(arena, git->top, ".gitattributes"), ATTRIBUTES_LIMIT,
			      0));
	add_filters(user, arena,
		    file_read(arena, path_join(arena, git->common, "info/attributes"),
			      ATTRIBUTES_LIMIT, 0));
	user->has_lfs = access(path_join(arena, git->common, "lfs"), F_OK) == 0;
}

static void add_lfs_directory(struct facts *facts, struct arena *arena, const char *directory)
{
	if (access(path_join(arena, directory, LFS_PROGRAM), X_OK) == 0)
		vec_push(arena, &facts->git.user.lfs_directories, directory);
}

void probe_git_lfs(struct facts *facts, struct arena *arena)
{
	const struct git_user_facts *user = &facts->git.user;
	bool wanted = user->has_lfs;

	vec_each(filter, &user->filters)
		wanted |= str_equal(*filter, "lfs");
	vec_each(setting, &user->settings)
		wanted |= str_starts(setting->name, "filter.lfs.");
	if (!wanted)
		return;
	for (size_t i = 0; i < system_path_count && !facts->store.only; i++)
		add_lfs_directory(facts, arena, system_path[i]);
	vec_each(directory, &facts->store.path)
		add_lfs_directory(facts, arena, *directory);
	vec_each(entry, &facts->toolchains.path) {
		if (entry->directory.kind != FILE_DIRECTORY)
			continue;
		add_lfs_directory(facts, arena, entry->directory.path);
		if (entry->directory.hops.count)
			add_lfs_directory(facts, arena, entry->directory.real);
	}
	vec_each(mount, &facts->mounts) {
		if (mount->on_path)
			add_lfs_directory(facts, arena, mount->source.path);
	}
}
