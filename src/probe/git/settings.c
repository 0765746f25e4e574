// SPDX-License-Identifier: MIT
// Reads the git configuration of the system, of the user and of the repository.
//
// Theory of operation: the files are read in git's order, and an include takes effect where it
// stands. Conditions of includeIf count for this project, as outside. The user's files may include
// any file, but one in a secret place, of another user, or that is no plain text is left out. A
// file that a box can write names no others (src/probe/settings/own_files.c). The repository is not
// trusted: of its includes, only files of the repository itself are read, because the box has no
// others. The plan decides which settings pass (src/plan/git/rules.c).
//
// Settings that name files which git executes are noted for the guard (src/plan/guard/targets.c),
// also those of included files of the project that are not used here.
#include "probe/git/settings.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/git/facts.h"
#include "plan/git/parse.h"
#include "plan/git/remotes.h"
#include "plan/git/rules.h"
#include "plan/git/settings.h"
#include "plan/guard/targets.h"
#include "plan/project.h"
#include "probe/git/condition.h"
#include "probe/git/files.h"
#include "probe/settings/own_files.h"
#include "probe/settings/settings_file.h"
#include "probe/user.h"
#include "sys/files.h"

#include <string.h>

enum {
	CONFIG_LIMIT = 1024 * 1024, // of the repository's own file
	POINTER_LIMIT = 4096,
	MAX_DEPTH = 10, // of includes, as in git
	MAX_FILES = 64,
	MAX_SETTINGS = 4096,
	MAX_NAMED = 512,
	MAX_ADDRESSES = 64,
	NOTED_DEPTH = 4, // of includes that are noted only
};

struct reader {
	struct facts *facts;
	struct arena *arena;
	const struct git_place *place;
	git_settings *settings;
	bool local; // the repository's own configuration
	int files;
	int depth;
	int noted_depth;
	bool box_writes;  // a box can write the file that is parsed
	const char *file; // that is parsed
	strings parents;  // the files whose includes led to it, and itself
	bool exhausted;   // too much work for conditions, which has been said
};

static void read_config(struct reader *reader, const char *path);

static void leave_unread(struct reader *reader, const char *path, const char *why)
{
	if (!reader->local)
		vec_push(reader->arena, &reader->facts->git.user.unread,
			 (struct git_unread){ path, why });
}

// Returns the path that an include names; NULL: it is not supported.
static const char *include_path(struct reader *reader, const char *value)
{
	struct arena *arena = reader->arena;

	if (!value || !*value || *value == '%')
		return NULL;
	if (*value == '~' && value[1] != '/')
		return NULL;
	if (*value == '~')
		return path_clean(arena, path_expand_home(arena, value, reader->facts->home));
	return path_clean(arena, path_join(arena, path_parent(arena, reader->file), value));
}

// Notes a setting that names a file which git executes or reads as settings.
static void note(struct reader *reader, const char *name, const char *value)
{
	struct git_facts *git = &reader->facts->git;

	if (value && git->named.count < MAX_NAMED && guard_target_row(reader->arena, name))
		vec_push(reader->arena, &git->named,
			 (struct git_named){ name, value, reader->file });
}

static void note_file(struct reader *reader, const char *path);

static void note_entry(void *context, const char *name, const char *value)
{
	struct reader *reader = context;

	note(reader, name, value);
	if (str_equal(name, "include.path") ||
	    (str_starts(name, "includeif.") && str_ends(name, ".path")))
		note_file(reader, include_path(reader, value));
}

// Notes the settings of a file that a box can write and that is not used here: the condition of its
// include does not hold, or a box can have written the include.
static void note_file(struct reader *reader, const char *path)
{
	const struct git_facts *git = &reader->facts->git;
	const char *file = reader->file;
	const char *real = path ? file_follow(reader->arena, path).real : NULL;
	const char *text;
	size_t line;

	if (!real || reader->noted_depth >= NOTED_DEPTH || reader->files >= MAX_FILES ||
	    !(path_within(real, reader->facts->project) ||
	      (git->top && (path_within(real, git->common) || path_within(real, git->directory)))))
		return;
	reader->files++;
	text = file_read(reader->arena, real, CONFIG_LIMIT, 0);
	if (!text)
		return;
	reader->noted_depth++;
	reader->file = path;
	git_config_parse(reader->arena, text, note_entry, reader, &line);
	reader->file = file;
	reader->noted_depth--;
}

static void include(struct reader *reader, const char *value)
{
	const char *path = include_path(reader, value);
	const char *file = reader->file;
	bool box_writes = reader->box_writes;

	if (!path) {
		if (value && *value)
			leave_unread(reader, value,
				     *value == '%' ? "a path that begins with % is not supported"
						   : "a path in the home of another user is not "
						     "supported");
		return;
	}
	if (box_writes) {
		leave_unread(reader, path, OWN_NAMED_BY_BOX);
		note_file(reader, path);
		return;
	}
	vec_each(parent, &reader->parents) {
		if (str_equal(*parent, path)) {
			leave_unread(reader, path, "it includes itself");
			return;
		}
	}
	if (reader->depth >= MAX_DEPTH) {
		leave_unread(reader, path, "includes are nested too deeply");
		return;
	}
	reader->depth++;
	read_config(reader, path);
	reader->depth--;
	reader->file = file;
	reader->box_writes = box_writes;
}

// Handles [includeIf "CONDITION"] path = VALUE.
static void include_if(struct reader *reader, const char *condition, const char *value)
{
	if (git_condition_holds(reader->arena, condition, reader->file, reader->place)) {
		include(reader, value);
		return;
	}
	if (!*reader->place->work && !reader->exhausted) {
		reader->exhausted = true;
		leave_unread(reader, reader->file,
			     "it has too many conditions (includeIf) for this repository: the "
			     "later ones count as false");
	}
	note_file(reader, include_path(reader, value));
}

static void handle_entry(void *context, const char *name, const char *value)
{
	static const char path_key[] = ".path";
	struct reader *reader = context;
	const char *condition = str_after(name, "includeif.");

	note(reader, name, value);
	if (str_equal(name, "include.path")) {
		include(reader, value);
	} else if (condition && str_ends(condition, path_key)) {
		include_if(reader,
			   arena_strndup(reader->arena, condition,
					 strlen(condition) - strlen(path_key)),
			   value);
	} else if (reader->settings->count < MAX_SETTINGS) {
		vec_push(reader->arena, reader->settings,
			 (struct git_setting){ name, value, reader->box_writes });
	}
}

// Returns the text of a file of the repository; NULL: it is not used. The box can write it, so no
// part of the path may be a link.
static const char *read_local(struct reader *reader, const char *path)
{
	const struct git_facts *git = &reader->facts->git;

	if (!path_within(path, git->top) && !path_within(path, git->common) &&
	    !path_within(path, git->directory))
		return NULL;
	return file_read(reader->arena, path, CONFIG_LIMIT, 0);
}

// Returns the text of a file of the system or the user; NULL: it does not exist or is not used.
static const char *read_own(struct reader *reader, const char *path)
{
	struct followed file = file_follow(reader->arena, path);
	const char *problem = NULL;
	const char *text = probe_own_file(reader->arena, reader->facts, &file, SETTINGS_LIMIT,
					  reader->depth ? 0 : SETTINGS_LINKED, &problem);

	if (problem)
		leave_unread(reader, path, problem);
	reader->box_writes = probe_own_box_writes(reader->arena, reader->facts, &file);
	return text;
}

static void read_config(struct reader *reader, const char *path)
{
	size_t before = reader->settings->count;
	const char *text;
	size_t line;

	if (reader->files++ >= MAX_FILES) {
		if (reader->files == MAX_FILES + 1)
			leave_unread(reader, path, "there are more than 64 files");
		return;
	}
	text = reader->local ? read_local(reader, path) : read_own(reader, path);
	if (!text) {
		note_file(reader, path);
		return;
	}
	reader->file = path;
	vec_push(reader->arena, &reader->parents, path);
	if (!git_config_parse(reader->arena, text, handle_entry, reader, &line)) {
		reader->settings->count = before;
		leave_unread(reader, path,
			     arena_printf(reader->arena, "line %zu is not understood", line));
	}
	reader->parents.count--;
}

// Reads the repository's own configuration.
static git_settings read_repository(struct facts *facts, struct arena *arena,
				    const struct git_place *place)
{
	const struct git_facts *git = &facts->git;
	git_settings settings = { 0 };
	struct reader reader = {
		.facts = facts, .arena = arena, .place = place, .settings = &settings, .local = true
	};

	read_config(&reader, path_join(arena, git->common, "config"));
	if (git_setting_is_true(git_setting_last(&settings, "extensions.worktreeconfig")))
		read_config(&reader, path_join(arena, git->directory, "config.worktree"));
	return settings;
}

static void read_user(struct facts *facts, struct arena *arena, const struct git_place *place)
{
	const char *const files[] = {
		"/etc/gitconfig",
		path_join(arena, probe_config_home(arena, facts), "git/config"),
		path_join(arena, facts->home, ".gitconfig"),
	};
	struct reader reader = { .facts = facts,
				 .arena = arena,
				 .place = place,
				 .settings = &facts->git.user.settings };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		reader.file = files[i];
		note(&reader, "include.path", files[i]); // it can be a link into the project
		read_config(&reader, files[i]);
	}
}

// Returns the branch of the worktree; NULL: none.
static const char *read_branch(struct arena *arena, const char *directory)
{
	const char *text = file_read(arena, path_join(arena, directory, "HEAD"), POINTER_LIMIT, 0);
	const char *branch = text ? str_after(text, "ref: refs/heads/") : NULL;

	return branch ? arena_strndup(arena, branch, strcspn(branch, "\r\n")) : NULL;
}

// Stores who the author of commits is, and whether the repository requests signatures. A value of
// the repository is not copied: git in the box reads it there.
static void store_identity(struct git_facts *git, const git_settings *own)
{
	const struct git_setting *name = git_setting_last(&git->user.settings, "user.name");
	const struct git_setting *email = git_setting_last(&git->user.settings, "user.email");

	git->user_name = git_identity_value(name, "Claude User");
	git->user_email = git_identity_value(email, "claude@localhost");
	git->identity_incomplete = (!name && !git_setting_last(own, "user.name")) ||
				   (!email && !git_setting_last(own, "user.email"));
	git->repository_signs = git_setting_is_true(git_setting_last(own, "commit.gpgsign")) ||
				git_setting_is_true(git_setting_last(own, "tag.gpgsign"));
}

void probe_git_settings(struct facts *facts, struct arena *arena)
{
	bool repository = plan_git(facts) != NULL;
	size_t work = GIT_CONDITION_WORK;
	struct git_place place = {
		.home = facts->home,
		.work = &work,
		// The agent may create a repository in a project that is none.
		.directory = repository ? facts->git.directory
					: path_join(arena, facts->project, ".git"),
	};
	git_settings own = { 0 };

	if (repository) {
		place.branch = read_branch(arena, place.directory);
		own = read_repository(facts, arena, &place);
	}
	vec_each(setting, &own) {
		if (setting->value && git_setting_is_address(setting->name) &&
		    facts->git.addresses.count < MAX_ADDRESSES)
			vec_push(arena, &facts->git.addresses, *setting);
		if (str_starts(setting->name, "remote.") && str_ends(setting->name, ".url") &&
		    setting->value)
			vec_push(arena, &place.urls, setting->value);
	}
	work = GIT_CONDITION_WORK; // not what the repository left of it
	read_user(facts, arena, &place);
	store_identity(&facts->git, &own);
	probe_git_files(facts, arena);
}
