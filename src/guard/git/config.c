// SPDX-License-Identifier: MIT
// Judges a configuration of git by its content.
//
// Theory of operation: a configuration with a setting that is not known to be harmless is moved to
// quarantine, and a file without these settings takes its place, so that the repository stays
// usable. Settings that it had before the session are the user's.
//
// `git clone` writes the address of its source into the new configuration and reads it again. If it
// is gone by then, the clone fails. So an address waits that executes nothing: a local path outside
// of the project where the box cannot write, in a repository without a commit. Git cannot push from
// there, and it runs nothing of the box to fetch. It waits until the repository has a reference, or
// for two seconds. All other settings go at once.
#include "guard/git/config.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/git/config_file.h"
#include "guard/git/directory.h"
#include "guard/git/setting.h"
#include "guard/replaced.h"
#include "guard/known_places.h"
#include "guard/move_out.h"
#include "guard/pending.h"
#include "guard/watcher.h"
#include "plan/git/parse.h"
#include "plan/guard/address.h"
#include "plan/guard/config_edit.h"
#include "plan/guard/keys.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONFIG_LIMIT = 1024 * 1024, MAX_EXCHANGES = 3 };

static struct baseline *find_baseline(const struct watcher *watcher, const char *path)
{
	struct baseline *baseline = watcher->baselines;

	while (baseline && strcmp(baseline->path, path) != 0)
		baseline = baseline->next;
	return baseline;
}

struct collect {
	struct arena *arena;
	strings entries;
};

static void collect_entry(void *context, const char *name, const char *value)
{
	struct collect *collect = context;

	vec_push(collect->arena, &collect->entries,
		 arena_printf(collect->arena, "%s=%s", name, value ? value : ""));
}

// Remembers the entries of a configuration that is older than the session.
static void remember_config(struct watcher *watcher, struct arena *arena, const char *path,
			    const char *text)
{
	struct collect collect = { .arena = arena };
	struct baseline *baseline;
	size_t line;

	if (find_baseline(watcher, path))
		return;
	git_config_parse(arena, text, collect_entry, &collect, &line);
	baseline = calloc(1, sizeof(*baseline));
	if (!baseline)
		return;
	baseline->path = strdup(path);
	baseline->entries = calloc(collect.entries.count + 1, sizeof(char *));
	if (!baseline->path || !baseline->entries) {
		free(baseline->path);
		free(baseline->entries);
		free(baseline);
		return;
	}
	vec_each(entry, &collect.entries)
		baseline->entries[baseline->count++] = strdup(*entry);
	baseline->next = watcher->baselines;
	watcher->baselines = baseline;
}

static bool is_in_baseline(const struct baseline *baseline, const char *entry)
{
	for (size_t i = 0; baseline && i < baseline->count; i++)
		if (str_equal(baseline->entries[i], entry))
			return true;
	return false;
}

void git_config_accept(struct watcher *watcher, const char *path, const char *text)
{
	struct baseline *baseline = find_baseline(watcher, path);
	struct arena arena = { 0 };
	struct collect collect = { .arena = &arena };
	size_t line;
	char **entries;

	git_config_parse(&arena, text, collect_entry, &collect, &line);
	entries = baseline ? realloc(baseline->entries,
				     (baseline->count + collect.entries.count + 1) * sizeof(char *))
			   : NULL;
	if (entries) {
		baseline->entries = entries;
		vec_each(entry, &collect.entries) {
			if (!is_in_baseline(baseline, *entry))
				baseline->entries[baseline->count++] = strdup(*entry);
		}
	}
	arena_free(&arena);
}

struct judgement {
	struct arena *arena;
	const struct baseline *baseline;
	struct git_key_place place;
	const struct watcher *watcher;
	bool may_be_cloned;
	git_config_changes removed; // each name with the values that stay
	strings names;              // of refused entries
	bool waits;                 // a refused entry stays for a moment
};

static struct git_config_change *change_of(struct judgement *judgement, const char *name)
{
	vec_each(change, &judgement->removed) {
		if (str_equal(change->name, name))
			return change;
	}
	vec_push(judgement->arena, &judgement->removed, (struct git_config_change){ .name = name });
	return &judgement->removed.items[judgement->removed.count - 1];
}

// Returns whether a box can write below a path of the host.
static bool is_writable(const struct watcher *watcher, const char *path)
{
	vec_each(mount, &watcher->plan->mounts) {
		if (mount->kind == MOUNT_WRITABLE && mount->source &&
		    path_within(path, mount->source))
			return true;
	}
	return path_within(path, watcher->plan->state.root);
}

// Returns whether a refused entry is the address of the source of a clone that may be at work.
static bool may_wait(const struct judgement *judgement, const char *name, const char *value)
{
	const char *path;

	if (!judgement->may_be_cloned || !value || !str_starts(name, "remote.") ||
	    git_key_rule(judgement->arena, name) != KEY_ADDRESS)
		return false;
	path = git_address_outside(judgement->arena, value, &judgement->place);
	return path && !is_writable(judgement->watcher, path) &&
	       !is_writable(judgement->watcher, file_follow(judgement->arena, path).real);
}

static void judge_entry(void *context, const char *name, const char *value)
{
	struct judgement *judgement = context;
	const char *entry = arena_printf(judgement->arena, "%s=%s", name, value ? value : "");
	struct git_config_change *change = change_of(judgement, name);

	bool harmless = is_in_baseline(judgement->baseline, entry) ||
			!git_setting_refusal(judgement->arena, name, value, &judgement->place);
	bool waits = !harmless && may_wait(judgement, name, value);

	judgement->waits |= waits;
	if (harmless || waits)
		vec_push(judgement->arena, &change->after, value);
	else
		vec_push(judgement->arena, &judgement->names, name);
}

// Stores the text without the refused entries, NULL: all are harmless. Returns false if the text
// cannot be parsed: git may understand it all the same.
static bool find_harmless_text(struct judgement *judgement, const char *text, const char **ret_text)
{
	git_config_changes changes = { 0 };
	size_t line;

	*ret_text = NULL;
	if (!git_config_parse(judgement->arena, text, judge_entry, judgement, &line))
		return false;
	if (!judgement->names.count)
		return true;
	vec_each(change, &judgement->removed) {
		vec_each(name, &judgement->names) {
			if (str_equal(*name, change->name)) {
				vec_push(judgement->arena, &changes, *change);
				break;
			}
		}
	}
	*ret_text = git_config_edit(judgement->arena, text, &changes);
	return *ret_text != NULL;
}

// Returns whether a git directory, or that of a worktree in it, had a configuration when the box
// started. The box can still create its config.worktree.
static bool is_users(const struct watcher *watcher, struct arena *arena, const char *directory)
{
	vec_each(copy, &watcher->plan->guard.copies) {
		const char *parent = path_parent(arena, copy->config);

		if (!copy->hooks && (str_equal(parent, directory) ||
				     path_within(directory, path_join(arena, parent, "worktrees"))))
			return true;
	}
	return false;
}

// Judges another version of the configuration. Stores as find_harmless_text() does.
static bool judge_again(struct judgement *judgement, const char *text, const char **ret_text)
{
	judgement->names = (strings){ 0 };
	judgement->removed = (git_config_changes){ 0 };
	return find_harmless_text(judgement, text, ret_text);
}

// Moves a configuration, and puts one without the refused entries at its place. Does not hold git's
// lock, because a git command of the box would fail: `git init` writes several settings in a row.
// The file is exchanged in one step instead. If git has written between the judgement and the
// exchange, the version of git is judged and exchanged in turn, so that none of its settings is
// lost. If git writes after the exchange, the file is judged again by its event.
static void strip(struct watcher *watcher, struct judgement *judgement, int fd, const char *path,
		  const char *name, const char *text, const char *better)
{
	const char *reason = git_part_reason(name);
	struct stat status;

	for (int i = 0; i < MAX_EXCHANGES && fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
	     i++) {
		const char *old = file_exchange(judgement->arena, fd, name, better, status.st_mode);
		const char *found = old ? file_read_at(judgement->arena, fd, old, CONFIG_LIMIT)
					: NULL;

		if (!old) { // the file system cannot exchange, or the directory is read-only
			if (move_out(watcher, fd, path, name, reason, true))
				file_renew(fd, name, better, status.st_mode, false);
			return;
		}
		if (i && str_equal(found, text)) // the one that the guard has written
			unlinkat(fd, old, 0);
		else
			move_out(watcher, fd, path, old, reason, true);
		if (!found || str_equal(found, text))
			return;
		text = better;
		if (!judge_again(judgement, found, &better))
			return;
		if (!better)
			better = found;
	}
}

void git_config_judge(struct watcher *watcher, int fd, const char *directory, const char *name)
{
	struct arena arena = { 0 };
	const char *path = path_join(&arena, directory, name);
	struct judgement judgement = {
		.arena = &arena,
		.watcher = watcher,
		.baseline = find_baseline(watcher, path),
		.place = { .worktree = watcher->plan->project,
			   .directory = directory,
			   .git_directories = &watcher->plan->guard.git_directories,
			   .is_modules = git_is_module(directory),
			   .overrides = str_equal(name, "config.worktree"),
			   .is_users = is_users(watcher, &arena, directory) }
	};
	struct stat status;
	const char *text;
	const char *better;

	if (git_part_is_left_alone(watcher, &arena, directory, name) ||
	    fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		goto end;
	// Before it is read. No process in the box can write to a protected one.
	if (!known_find(watcher, path))
		watcher_watch_file(watcher, fd, name, path);
	text = S_ISREG(status.st_mode) ? file_read_at(&arena, fd, name, CONFIG_LIMIT) : NULL;
	if (!watcher_is_new(watcher, path, &status)) {
		if (text)
			remember_config(watcher, &arena, path, text);
		goto end;
	}
	// The box cannot reach a protected one: the user has changed it.
	if (known_find(watcher, path) && !replaced_is_lost(watcher, path)) {
		if (text)
			replaced_keep_text(watcher, path, text);
		goto end;
	}
	judgement.may_be_cloned = git_directory_may_be_cloned(watcher, fd);
	// A link, a directory, too long, with NUL bytes, or not to be parsed.
	if (!text || !find_harmless_text(&judgement, text, &better))
		move_out(watcher, fd, path, name, git_part_reason(name), false);
	else if (better)
		strip(watcher, &judgement, fd, path, name, text, better);
	if (judgement.waits)
		pending_add(watcher, directory, name);
end:
	arena_free(&arena);
}
