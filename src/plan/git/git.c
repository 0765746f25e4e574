// SPDX-License-Identifier: MIT
// The generated git configuration of the box: /etc/gitconfig, and copies of files that it names.
//
// Theory of operation: git in the box reads it as the system's configuration, so the repository's
// own settings and `git config --global` in the box rank above it, as outside. Nothing in it comes
// from the repository.
#include "plan/git/git.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/git/copies.h"
#include "plan/git/facts.h"
#include "plan/git/render.h"
#include "plan/git/rules.h"
#include "plan/git/settings.h"
#include "plan/git/wrapper.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/secrets/detect.h"

#include <string.h>

enum { LISTED_NAMES = 8, MAX_NAMES = 256, SHOWN_COLUMNS = 80 };

static void add(struct arena *arena, git_settings *settings, const char *name, const char *value)
{
	if (value)
		vec_push(arena, settings, (struct git_setting){ name, value });
}

const char *plan_git_basics(struct arena *arena, const struct facts *facts)
{
	static const char safe[] = "safe.directory";
	const struct git_facts *git = &facts->git;
	struct text out = { .arena = arena };
	git_settings own = { 0 };

	add(arena, &own, "user.name", git->user_name);
	add(arena, &own, "user.email", git->user_email);
	add(arena, &own, safe, facts->project);
	// git before 2.46 compares whole paths, so nested repositories are listed too.
	add(arena, &own, safe, arena_printf(arena, "%s/*", facts->project));
	vec_each(nested, &git->user.nested)
		add(arena, &own, safe, path_join(arena, facts->project, *nested));
	if (plan_git(facts) && !str_equal(git->top, facts->project))
		add(arena, &own, safe, git->top);
	// Other worktrees are not in the box: `git gc` would remove their records after 3 months.
	add(arena, &own, "gc.worktreePruneExpire", "never");
	git_render_settings(&out, &own);
	return text_get(&out);
}

// Returns the name of a setting for people. A name that may contain a secret is cut.
static const char *show_name(struct arena *arena, const char *name)
{
	struct git_name parts = git_name_split(arena, name);
	size_t start;
	size_t length;

	// Names are in lower case here.
	if (str_equal(parts.key, "insteadof"))
		parts.key = "insteadOf";
	if (str_equal(parts.key, "pushinsteadof"))
		parts.key = "pushInsteadOf";
	if (parts.subsection &&
	    (str_equal(parts.section, "url") || secret_find(parts.subsection, &start, &length)))
		name = arena_printf(arena, "%s.*.%s", parts.section, parts.key);
	return quote_word(arena, name, SHOWN_COLUMNS);
}

// Returns the first names of a list, and the number of the others.
static const char *show_names(struct arena *arena, const strings *names)
{
	struct text out = { .arena = arena };

	for (size_t i = 0; i < names->count && i < LISTED_NAMES; i++)
		text_printf(&out, "%s%s", i ? ", " : "", names->items[i]);
	if (names->count > LISTED_NAMES)
		text_printf(&out, " and %zu more", names->count - LISTED_NAMES);
	return text_get(&out);
}

// Returns whether the box has git-lfs, in a directory of its PATH or as a package.
static bool has_lfs(const struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const char *path = plan_variable(plan, "PATH");

	vec_each(package, &plan->packages) {
		if (str_equal(package->name, "git-lfs") && package->bin)
			return true;
	}
	for (const char *s = path ? path : ""; *s; s += *s == ':') {
		const char *directory = arena_strndup(arena, s, strcspn(s, ":"));

		s += strlen(directory);
		vec_each(known, &facts->git.user.lfs_directories) {
			if (str_equal(*known, directory) && plan_provides(plan, directory))
				return true;
		}
	}
	return false;
}

// Adds the copies of files that settings name.
static void add_copies(struct plan *plan, struct arena *arena, const struct facts *facts,
		       git_settings *settings)
{
	for (int i = 0; i < GIT_COPY_COUNT; i++) {
		const struct git_copy_row *row = &git_copy_table[i];
		const struct git_copy_facts *copy = &facts->git.user.copies[i];
		const char *problem = copy->problem;
		size_t start;
		size_t length;

		if (copy->text && secret_find(copy->text, &start, &length))
			problem = "it contains something like a secret";
		if (problem) {
			plan_leave_out_kind(
				plan, arena, LEFT_OUT_MINOR,
				arena_printf(arena, "git's file %s",
					     quote_word(arena,
							path_tilde(arena, copy->path, plan->home),
							120)),
				problem, NULL);
			continue;
		}
		if (!copy->text)
			continue;
		plan_add_mount(plan, arena,
			       (struct plan_mount){ .kind = MOUNT_DATA,
						    .source = copy->text,
						    .copy_of = copy->real,
						    .path = row->path,
						    .mode = 0444,
						    .why = row->why });
		add(arena, settings, row->setting, row->path);
	}
}

static bool is_used(const struct git_user_facts *user, const char *filter)
{
	vec_each(used, &user->filters) {
		if (str_equal(*used, filter))
			return true;
	}
	return false;
}

// Warns about filters of the user that the repository uses and the box lacks.
static void warn_filters(struct plan *plan, struct arena *arena, const struct git_user_facts *user)
{
	strings names = { 0 };

	vec_each(setting, &user->settings) {
		const char *filter = git_name_split(arena, setting->name).subsection;

		if (str_starts(setting->name, "filter.") && filter && !str_equal(filter, "lfs") &&
		    is_used(user, filter))
			git_add_once(arena, &names, quote_word(arena, filter, SHOWN_COLUMNS),
				     MAX_NAMES);
	}
	if (names.count)
		plan_warn_outside(
			plan, arena,
			"files of the repository use filters of your git configuration, which do "
			"not run in the box (add them with `git config --local`): %s",
			show_names(arena, &names));
}

// Warns if commits in the box would store large files instead of pointers.
static void warn_lfs(struct plan *plan, struct arena *arena, const struct facts *facts, bool lfs,
		     bool filtered)
{
	const struct git_user_facts *user = &facts->git.user;
	const char *directory = user->lfs_directories.count ? user->lfs_directories.items[0] : NULL;
	bool other = false;

	if (!plan_git(facts) || !(is_used(user, "lfs") || user->has_lfs))
		return;
	vec_each(setting, &user->settings)
		other |= str_starts(setting->name, "filter.lfs.");
	if (!lfs)
		plan_warn_danger(
			plan, arena,
			"the repository uses git-lfs, which is not in the box: a commit would "
			"store whole files instead of pointers; %s",
			directory
				? arena_printf(arena, "start with --path %s",
					       quote_word(arena,
							  path_tilde(arena, directory, plan->home),
							  120))
				: "install git-lfs on the host");
	else if (other && !filtered)
		plan_warn_danger(
			plan, arena,
			"the repository uses git-lfs, and filter.lfs of your git "
			"configuration is not what `git lfs install` writes: a commit would "
			"store whole files instead of pointers; run 'git lfs install "
			"--force', or 'git lfs install --local' in the repository");
}

static bool has_name(const strings *names, const char *name)
{
	vec_each(known, names) {
		if (str_equal(*known, name))
			return true;
	}
	return false;
}

// Judges all settings, from the last: in git the last value counts, so one that stays outside is
// not replaced by an earlier one of its name.
static const enum git_rule *judge_all(struct arena *arena, const git_settings *settings, bool lfs)
{
	enum git_rule *rules = arena_alloc(arena, settings->count * sizeof(*rules) + 1);
	strings refused = { 0 };

	for (size_t i = settings->count; i-- > 0;) {
		rules[i] = git_judge(arena, &settings->items[i], lfs);
		if (rules[i] != GIT_WORD)
			vec_push(arena, &refused, settings->items[i].name);
		else if (has_name(&refused, settings->items[i].name))
			rules[i] = GIT_QUIET;
	}
	return rules;
}

// Returns what to do for the directory that a setting names: mount it, if the box lacks it, and
// name it in a place that the box has. NULL: the directory may be a secret.
static const char *advise_directory(const struct plan *plan, struct arena *arena,
				    const struct facts *facts, const char *option,
				    const char *value)
{
	const char *path = path_expand_home(arena, value, plan->home);
	const char *word = quote_word(arena, path_tilde(arena, path, plan->home), SHOWN_COLUMNS);
	const char *place = strstr(option, "%s");
	size_t start;
	size_t length;

	if (secret_find(value, &start, &length) || plan_near_secret(facts, path))
		return NULL;
	option = arena_printf(arena, "%.*s%s%s", (int)(place - option), option, word, place + 2);
	return path[0] != '/' || plan_provides(plan, path)
		       ? option
		       : arena_printf(arena, "--mount-ro %s, and %s", word, option);
}

// Returns the option or command that brings the settings of a row.
static const char *advise(const struct plan *plan, struct arena *arena, const struct facts *facts,
			  enum git_rule rule)
{
	const char *option = git_outside_table[rule].option;
	const char *value = NULL;

	if (!option || !strstr(option, "%s"))
		return option;
	vec_each(setting, &facts->git.user.settings) {
		const struct git_rule_row *row = git_rule_find(arena, setting->name);

		value = row && row->rule == rule && setting->value ? setting->value : value;
	}
	return value ? advise_directory(plan, arena, facts, option, value) : NULL;
}

// Names the files and settings that stay outside, one row for each reason.
static void name_outside(struct plan *plan, struct arena *arena, const struct facts *facts,
			 const strings *outside)
{
	const struct git_user_facts *user = &facts->git.user;

	for (int rule = 0; rule < GIT_RULE_COUNT; rule++)
		if (outside[rule].count)
			plan_leave_out_kind(
				plan, arena, LEFT_OUT_MINOR,
				arena_printf(arena, "git %s", show_names(arena, &outside[rule])),
				git_outside_table[rule].why, advise(plan, arena, facts, rule));
	vec_each(file, &user->unread)
		plan_leave_out_kind(
			plan, arena, LEFT_OUT_MINOR,
			arena_printf(arena, "git configuration %s",
				     quote_word(arena, path_tilde(arena, file->path, plan->home),
						120)),
			file->why, NULL);
}

// Adds settings to the generated file, and their names to its reason.
static void write_settings(struct plan *plan, struct arena *arena, const git_settings *settings)
{
	struct text out = { .arena = arena };
	strings names = { 0 };

	vec_each(setting, settings)
		git_add_once(arena, &names, quote_word(arena, setting->name, SHOWN_COLUMNS),
			     MAX_NAMES);
	plan->git_settings = *settings;
	vec_each(mount, &plan->mounts) {
		if (mount->kind != MOUNT_DATA || !str_equal(mount->path, BOX_GIT_CONFIG) ||
		    !settings->count)
			continue;
		text_add(&out, mount->source);
		git_render_settings(&out, settings);
		mount->source = text_get(&out);
		mount->why = arena_printf(arena,
					  "your name and e-mail for commits, and settings: %s",
					  show_names(arena, &names));
		mount->origin.kind = ORIGIN_ALLOWED;
	}
}

void plan_build_git(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const struct git_user_facts *user = &facts->git.user;
	bool lfs = has_lfs(plan, arena, facts);
	const enum git_rule *rules = judge_all(arena, &user->settings, lfs);
	strings outside[GIT_RULE_COUNT] = { 0 };
	git_settings passed = { 0 };
	bool filtered = true;

	for (size_t i = 0; i < user->settings.count; i++) {
		const struct git_setting *setting = &user->settings.items[i];

		if (rules[i] == GIT_WORD)
			vec_push(arena, &passed, *setting);
		else if (rules[i] != GIT_QUIET)
			git_add_once(arena, &outside[rules[i]], show_name(arena, setting->name),
				     MAX_NAMES);
		filtered &= rules[i] == GIT_WORD || !str_starts(setting->name, "filter.lfs.");
	}
	add_copies(plan, arena, facts, &passed);
	write_settings(plan, arena, &passed);
	plan_add_git_wrapper(plan, arena, facts);
	warn_lfs(plan, arena, facts, lfs, filtered);
	warn_filters(plan, arena, user);
	name_outside(plan, arena, facts, outside);
}
