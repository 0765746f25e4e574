// SPDX-License-Identifier: MIT
// Finds the files that settings of git name and that a box can write.
//
// Theory of operation: the settings of the repository and of the user were noted when their
// configuration was read, so only the configuration of submodules is read here. A path that leads
// through symbolic links has more than one target: the path itself, where a box can put another
// file, each link in the project, and the file at the end, which may be missing as well.
#include "probe/guard_targets.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/git/facts.h"
#include "plan/git/parse.h"
#include "plan/guard/facts.h"
#include "plan/guard/places.h"
#include "plan/guard/targets.h"
#include "plan/project.h"
#include "sys/files.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_TARGETS = 128, MAX_STEPS = 64, CONFIG_LIMIT = 1024 * 1024 };

// Returns the path without symbolic links, also of a file that is missing. *steps bounds the work.
static const char *resolve(struct arena *arena, const char *path, int *steps)
{
	struct followed file = file_follow(arena, path);
	char target[PATH_MAX];
	const char *parent;
	ssize_t length;

	if (file.kind != FILE_MISSING)
		return file.real;
	if (str_equal(path, "/") || (*steps)-- <= 0)
		return path;
	parent = resolve(arena, path_parent(arena, path), steps);
	path = path_join(arena, parent, path_name(path));
	length = readlink(path, target, sizeof(target) - 1);
	if (length <= 0)
		return path;
	target[length] = '\0';
	return resolve(arena, path_clean(arena, path_join(arena, parent, target)), steps);
}

// Returns whether a box can write below a directory around the path, and the path is no directory
// that a box needs as a whole.
static bool is_in_reach(const struct facts *facts, const char *path)
{
	const struct git_facts *git = plan_git(facts);

	if (path_within(facts->project, path) || (git && path_within(git->common, path)) ||
	    (git && path_within(git->directory, path)))
		return false;
	return path_within(path, facts->project) ||
	       (git && (path_within(path, git->common) || path_within(path, git->directory)));
}

// Returns whether a path relative to a git directory is one of git's own: it has a row of the
// table, or is data that git has to write.
static bool is_git_part(const char *below, enum guard_value value)
{
	return guard_find_in_git(below) ||
	       (value != VALUE_INCLUDE && value != VALUE_FILE && guard_is_git_data(below));
}

// Returns whether a box can write a path, and git's own files have no other protection for it.
static bool is_target(const struct facts *facts, const char *path, enum guard_value value)
{
	const struct git_facts *git = plan_git(facts);

	if (!is_in_reach(facts, path))
		return false;
	if (git && path_within(path, git->directory))
		return !is_git_part(path + strlen(git->directory) + 1, value);
	if (git && path_within(path, git->common))
		return !is_git_part(path + strlen(git->common) + 1, value);
	return true;
}

static void add(struct facts *facts, struct arena *arena, struct guard_target target)
{
	guard_targets *targets = &facts->guard.targets;

	vec_each(known, targets) {
		if (str_equal(known->path, target.path) && str_equal(known->name, target.name) &&
		    known->directory >= target.directory)
			return;
	}
	if (targets->count >= MAX_TARGETS) {
		facts->guard.too_many_targets = true;
		return;
	}
	vec_push(arena, targets, target);
}

static bool is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

// Adds a path with the links on the way to it.
static void add_path(struct facts *facts, struct arena *arena, struct guard_target target,
		     enum guard_value value)
{
	struct followed file = file_follow(arena, target.path);
	int steps = MAX_STEPS;
	const char *real = resolve(arena, target.path, &steps);

	if (is_target(facts, target.path, value))
		add(facts, arena, target);
	else if (target.name)
		add(facts, arena,
		    (struct guard_target){ .name = target.name,
					   .directory = target.directory,
					   .row = target.row });
	target.name = NULL;
	vec_each(hop, &file.hops) {
		if (is_in_reach(facts, hop->link))
			add(facts, arena,
			    (struct guard_target){ .path = hop->link, .row = target.row });
	}
	target.path = real;
	if (is_target(facts, real, value))
		add(facts, arena, target);
}

// Returns the name of a relative path in each worktree, NULL: it leads out of it, or to git's own
// files.
static const char *name_in_worktrees(struct arena *arena, const char *word, enum guard_value value)
{
	// path_clean() works on absolute paths.
	const char *name = path_clean(arena, path_join(arena, "/", word)) + 1;
	const char *in_git = str_after(name, ".git/");

	if (!*name || str_equal(name, ".git") || str_starts(word, "../") || strstr(word, "/../") ||
	    (in_git && is_git_part(in_git, value)))
		return NULL;
	return name;
}

// A configuration whose settings are added.
struct source {
	struct facts *facts;
	struct arena *arena;
	const char *file;
	const char *top; // of the worktree, NULL: none
};

// Adds one word of a value.
static void add_word(const struct source *source, const struct guard_target_row *row,
		     const char *word)
{
	struct arena *arena = source->arena;
	bool include = row->value == VALUE_INCLUDE;
	struct guard_target target = { .directory = row->value == VALUE_FILE, .row = &row->place };

	word = path_expand_home(arena, word, source->facts->home);
	if (*word == '~' || *word == '%')
		return;
	if (*word != '/' && !include)
		target.name = name_in_worktrees(arena, word, row->value);
	if (*word != '/' && include)
		word = path_join(arena, path_parent(arena, source->file), word);
	else if (*word != '/')
		word = source->top ? path_join(arena, source->top, word) : NULL;
	if (word)
		target.path = path_clean(arena, word);
	// A command line names directories that it reads or writes: the box may write them too.
	if (target.path && !target.directory && !include && is_directory(target.path))
		return;
	if (target.path)
		add_path(source->facts, arena, target, row->value);
	else if (target.name)
		add(source->facts, arena, target);
}

static void add_setting(void *context, const char *name, const char *value)
{
	const struct source *source = context;
	const struct guard_target_row *row = guard_target_row(source->arena, name);
	strings words = row ? guard_target_words(source->arena, row, value) : (strings){ 0 };

	vec_each(word, &words)
		add_word(source, row, *word);
}

void probe_guard_targets(struct facts *facts, struct arena *arena)
{
	const struct git_facts *git = plan_git(facts);

	vec_each(named, &facts->git.named) {
		struct source source = { facts, arena, named->file, git ? git->top : NULL };

		add_setting(&source, named->name, named->value);
	}
}

static void store_worktree(void *context, const char *name, const char *value)
{
	if (value && str_equal(name, "core.worktree"))
		*(const char **)context = value;
}

void probe_guard_module(struct facts *facts, struct arena *arena, const char *directory)
{
	const char *file = path_join(arena, directory, "config");
	const char *text = file_read(arena, file, CONFIG_LIMIT, 0);
	struct source source = { facts, arena, file, NULL };
	size_t line;

	if (!text)
		return;
	git_config_parse(arena, text, store_worktree, &source.top, &line);
	if (source.top)
		source.top = path_clean(arena, path_join(arena, directory, source.top));
	git_config_parse(arena, text, add_setting, &source, &line);
}

void probe_guard_link(struct facts *facts, struct arena *arena, const char *link,
		      const struct guard_row *row)
{
	add_path(facts, arena,
		 (struct guard_target){ .path = link, .directory = row->directory, .row = row },
		 VALUE_FILE);
}
