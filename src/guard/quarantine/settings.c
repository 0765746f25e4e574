// SPDX-License-Identifier: MIT
// The settings of a quarantined git configuration that the file at its place lacks.
//
// Theory of operation: the place kept the harmless settings of the item, and the user and other
// boxes have changed the file since. So the item is no newer version of the file, and may even be
// half of one: git was writing it when it was moved. Only settings that the guard refuses are taken
// from it. Each goes behind the values that the name has at the place, where it counts for git.
// Nothing that is at the place is removed, and doing it twice changes nothing.
#include "guard/quarantine/settings.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/git/directory.h"
#include "guard/git/setting.h"
#include "guard/quarantine/quarantine.h"
#include "plan/git/parse.h"
#include "plan/guard/config_edit.h"
#include "plan/guard/keys.h"
#include "plan/state/instances.h"
#include "sys/files.h"

#include <fcntl.h>
#include <sys/stat.h>

// A box has written the item: the number of comparisons is limited.
enum { CONFIG_LIMIT = 1024 * 1024, VALUES_MAX = 1000, SETTINGS_MAX = 1000 };

struct refused {
	struct arena *arena;
	const struct git_key_place *place;
	bool any;
};

static void note_refused(void *context, const char *name, const char *value)
{
	struct refused *refused = context;

	if (!refused->any)
		refused->any = git_setting_refusal(refused->arena, name, value, refused->place) !=
			       NULL;
}

static bool has_value(const strings *values, const char *wanted)
{
	vec_each(value, values) {
		if (str_equal(*value, wanted))
			return true;
	}
	return false;
}

// Returns the values that a name gets: those at the place, then the refused ones of the item; all
// of the item, if it has only settings that were not applied.
static struct git_config_change complete(struct arena *arena,
					 const struct git_config_change *change,
					 const struct git_key_place *place, bool all)
{
	struct git_config_change result = { .name = change->name };

	if (all && change->after.count)
		return (struct git_config_change){ .name = change->name, .after = change->after };
	vec_each(value, &change->before)
		vec_push(arena, &result.after, *value);
	vec_each(value, &change->after) {
		if (!has_value(&change->before, *value) &&
		    git_setting_refusal(arena, change->name, *value, place))
			vec_push(arena, &result.after, *value);
	}
	return result;
}

static size_t count_added(const strings *after, const strings *before)
{
	size_t count = 0;

	vec_each(value, after)
		count += !has_value(before, *value);
	return count;
}

// Stores the names that get more values, and the number of these values.
static const char *find_missing(struct arena *arena, const char *present, const char *wanted,
				const struct git_key_place *place, git_config_changes *ret_changes,
				size_t *ret_count)
{
	struct refused refused = { .arena = arena, .place = place };
	git_config_changes different = { 0 };
	bool all = str_starts(wanted, QUARANTINE_SETTINGS);
	size_t line;

	if (!git_config_compare(arena, present, wanted, &different))
		return "git cannot read it";
	vec_each(change, &different) {
		struct git_config_change result;
		size_t added;

		if (change->before.count > VALUES_MAX || change->after.count > VALUES_MAX)
			return "it has too many values of one setting";
		result = complete(arena, change, place, all);
		added = count_added(&result.after, &change->before);
		if (added)
			vec_push(arena, ret_changes, result);
		*ret_count += added;
		if (*ret_count > SETTINGS_MAX)
			return "it has too many settings";
	}
	git_config_parse(arena, wanted, note_refused, &refused, &line);
	return all || refused.any ? NULL : "it has no setting that the guard refuses";
}

const char *settings_compare(struct arena *arena, const char *project,
			     const struct quarantined *item, int directory, int place,
			     struct settings_change *ret)
{
	const char *parent = path_parent(arena, item->path);
	struct git_key_place where = { .worktree = project,
				       .directory = parent,
				       .is_modules = git_is_module(parent) };
	const char *name = path_name(item->path);
	const char *wanted = file_read_at(arena, directory, QUARANTINE_ITEM, CONFIG_LIMIT);
	git_config_changes changes = { 0 };
	struct stat status;
	const char *problem;

	*ret = (struct settings_change){ .present =
						 file_read_at(arena, place, name, CONFIG_LIMIT) };
	if (!wanted)
		return "git cannot read it";
	if (!ret->present || fstatat(place, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return "the file at its place cannot be read";
	ret->mode = status.st_mode;
	problem = find_missing(arena, ret->present, wanted, &where, &changes, &ret->count);
	if (problem)
		return problem;
	ret->text = git_config_edit(arena, ret->present, &changes);
	return ret->text ? NULL : "git cannot read the file at its place";
}
