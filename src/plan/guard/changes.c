// SPDX-License-Identifier: MIT
// Which changes of a box's copy of a git configuration are applied to the file of the host.
//
// Theory of operation: git_key_refusal() judges a value by itself. A value can be harmless in a new
// repository and still redirect a push of the user in an old one, so this file compares it with
// what the host's file has:
//   1. Each change is judged by its values. Settings that protect are not removed either.
//   2. The addresses of a remote that the user has, and what a push to it sends, stay.
//   3. If the address of a new remote or submodule is refused, all of its settings are.
//   4. A branch that follows nothing follows only a remote that the host has before: `git push`
//      of it leads there. The remote of a branch, and that of a push, change only to another name
//      of the same addresses, as by `git remote rename`.
//   5. A fetch from a remote updates only its own references, and git fetches missing objects from
//      no other remote than before.
// A box can write many thousand settings, so names are found with hash tables.
#include "plan/guard/changes.h"

#include "base/text.h"
#include "plan/git/settings.h"

#include <jansson.h>
#include <string.h>

enum verdict { APPLIED, REFUSED, CONFLICT, IGNORED };

// The settings of [section "subsection"].
struct group {
	size_t host;    // how many names the host's file has
	size_t removed; // how many of them the box has removed
	bool is_used;   // the box has changed or added one
	bool is_held;   // the address of a new one is refused
	bool is_untied; // the remote of the branch is refused
};

struct candidate {
	const struct git_config_change *change;
	struct git_name name;
	size_t group;
	bool is_copy; // the host has the same values under another name
	enum verdict verdict;
};

struct work {
	struct arena *arena;
	const struct git_key_place *place;
	git_entry_judge *judge;
	git_config_changes host; // all names of the host's file; the values are in `after`
	VEC(struct group) groups;
	VEC(struct candidate) candidates;
	json_t *host_index;      // name: its index in `host`
	json_t *group_index;     // section and subsection: the index in `groups`
	json_t *candidate_index; // name: its index in `candidates`
	json_t *signatures;      // of the host's settings, see signature()
};

static const strings no_values;

static json_int_t find_number(const json_t *table, const char *text)
{
	const json_t *number = json_object_get(table, text);

	return number ? json_integer_value(number) : -1;
}

static void set_number(json_t *table, const char *text, size_t number)
{
	json_object_set_new_nocheck(table, text, json_integer((json_int_t)number));
}

static const char *last_value(const strings *values)
{
	return values->count ? values->items[values->count - 1] : NULL;
}

static const strings *host_values(const struct work *work, const char *name)
{
	json_int_t index = find_number(work->host_index, name);

	return index < 0 ? &no_values : &work->host.items[index].after;
}

// Returns the values of a name in the host's file after the changes that are applied so far.
static const strings *merged_values(const struct work *work, const char *name)
{
	json_int_t index = find_number(work->candidate_index, name);

	if (index < 0 || work->candidates.items[index].verdict != APPLIED)
		return host_values(work, name);
	return &work->candidates.items[index].change->after;
}

static void add_values(struct text *text, const char *key, const strings *values)
{
	vec_each(value, values)
		text_printf(text, "\n%s=%s", key, *value ? *value : "");
}

// Returns all addresses of a remote or a submodule as one text; "": there are none.
static const char *addresses(const struct work *work, const char *section, const char *name,
			     const strings *(*values)(const struct work *work, const char *name))
{
	static const char *const keys[] = { "url", "pushurl" };
	struct text text = { .arena = work->arena };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		add_values(&text, keys[i],
			   values(work,
				  arena_printf(work->arena, "%s.%s.%s", section, name, keys[i])));
	return text_get(&text);
}

// Returns a text that is the same for a setting and for that of a copy under another name: section,
// key, values, and the addresses to which the name belongs.
static const char *signature(const struct work *work, const struct git_name *name,
			     const strings *list,
			     const strings *(*values)(const struct work *work, const char *name))
{
	struct text text = { .arena = work->arena };

	text_add(&text, name->section);
	add_values(&text, name->key, list);
	text_add(&text, addresses(work, name->section, name->subsection, values));
	return text_get(&text);
}

// Returns whether a section has names that commands rename, copy and remove.
static bool is_grouped(const struct git_name *name)
{
	return name->subsection &&
	       (str_equal(name->section, "remote") || str_equal(name->section, "branch") ||
		str_equal(name->section, "submodule"));
}

// Returns the index of the group of a name. Group 0 is that of all other sections.
static size_t group_of(struct work *work, const struct git_name *name)
{
	const char *key = is_grouped(name) ? arena_printf(work->arena, "%s.%s", name->section,
							  name->subsection)
					   : "";
	json_int_t index = find_number(work->group_index, key);

	if (index >= 0)
		return (size_t)index;
	set_number(work->group_index, key, work->groups.count);
	vec_push(work->arena, &work->groups, (struct group){ 0 });
	return work->groups.count - 1;
}

static const struct group *group_at(const struct work *work, const struct candidate *candidate)
{
	return &work->groups.items[candidate->group];
}

// Returns whether the host's file has none of the group's settings.
static bool is_new(const struct work *work, const struct candidate *candidate)
{
	return is_grouped(&candidate->name) && !group_at(work, candidate)->host;
}

// Returns whether the box has removed all settings of the group.
static bool is_gone(const struct work *work, const struct candidate *candidate)
{
	const struct group *group = group_at(work, candidate);

	return is_grouped(&candidate->name) && group->host == group->removed && !group->is_used;
}

static void index_host(struct work *work)
{
	for (size_t i = 0; i < work->host.count; i++)
		set_number(work->host_index, work->host.items[i].name, i);
	vec_each(entry, &work->host) {
		struct git_name name = git_name_split(work->arena, entry->name);

		work->groups.items[group_of(work, &name)].host++;
		if (is_grouped(&name))
			set_number(work->signatures,
				   signature(work, &name, &entry->after, host_values), 1);
	}
}

static void add_candidate(struct work *work, const struct git_config_change *change, bool conflict)
{
	struct candidate candidate = { .change = change,
				       .name = git_name_split(work->arena, change->name) };

	candidate.group = group_of(work, &candidate.name);
	if (git_key_rule(work->arena, change->name) == KEY_PROBED)
		candidate.verdict = IGNORED;
	else if (conflict)
		candidate.verdict = CONFLICT;
	else if (!change->after.count)
		work->groups.items[candidate.group].removed++;
	work->groups.items[candidate.group].is_used |= change->after.count > 0;
	set_number(work->candidate_index, change->name, work->candidates.count);
	vec_push(work->arena, &work->candidates, candidate);
}

// Lists the changes of the box that the host does not have already.
static void add_candidates(struct work *work, const git_config_changes *by_box,
			   const git_config_changes *by_host)
{
	json_t *changed = json_object();

	for (size_t i = 0; i < by_host->count; i++)
		set_number(changed, by_host->items[i].name, i);
	vec_each(change, by_box) {
		json_int_t other = find_number(changed, change->name);

		if (other < 0 ||
		    !git_config_same_values(&by_host->items[other].after, &change->after))
			add_candidate(work, change, other >= 0);
	}
	json_decref(changed);
}

static bool has_refused(const struct work *work, const char *name, const strings *values)
{
	vec_each(value, values) {
		if (work->judge(work->arena, name, *value, work->place))
			return true;
	}
	return false;
}

// Returns whether the host's file has the same setting under another name. A name with addresses is
// a copy only if they are the same.
static bool is_copy(const struct work *work, const struct candidate *candidate)
{
	const struct git_name *name = &candidate->name;

	return is_new(work, candidate) &&
	       (str_equal(name->section, "branch") ||
		*addresses(work, name->section, name->subsection, merged_values)) &&
	       json_object_get(work->signatures,
			       signature(work, name, &candidate->change->after, merged_values));
}

// Returns whether a setting says where a push to a remote of the user leads, or what it sends.
static bool redirects_push(const struct work *work, const struct candidate *candidate)
{
	const struct git_name *name = &candidate->name;

	if (!str_equal(name->section, "remote") || !name->subsection ||
	    !(str_equal(name->key, "url") || str_equal(name->key, "pushurl") ||
	      str_equal(name->key, "push") || str_equal(name->key, "mirror")))
		return false;
	return *addresses(work, "remote", name->subsection, host_values);
}

// Returns whether a fetch from the remote updates references of another remote.
static bool updates_others(const struct work *work, const struct candidate *candidate)
{
	const struct git_name *name = &candidate->name;
	const char *own = arena_printf(work->arena, "refs/remotes/%s/",
				       name->subsection ? name->subsection : "");

	if (!str_equal(name->section, "remote") || !name->subsection ||
	    !str_equal(name->key, "fetch"))
		return false;
	vec_each(value, &candidate->change->after) {
		const char *target = *value && **value != '^' ? strchr(*value, ':') : NULL;

		if (target && target[1] && !str_starts(target + 1, own))
			return true;
	}
	return false;
}

// Returns whether git fetches objects that are missing from a remote, also for `git diff`.
static bool fetches_objects(const struct candidate *candidate)
{
	const struct git_name *name = &candidate->name;

	return candidate->change->after.count &&
	       ((str_equal(name->section, "remote") &&
		 (str_equal(name->key, "promisor") ||
		  str_equal(name->key, "partialclonefilter"))) ||
		(str_equal(name->section, "extensions") && str_equal(name->key, "partialclone")));
}

// Returns whether linked worktrees become bare: git moves core.bare before, and here it stays.
static bool breaks_worktrees(const struct work *work, const struct git_config_change *change)
{
	return str_equal(change->name, "extensions.worktreeconfig") &&
	       has_refused(work, "core.bare", host_values(work, "core.bare"));
}

// Judges a change by its values and by the settings of its group.
static enum verdict judge_change(struct work *work, struct candidate *candidate)
{
	const struct git_config_change *change = candidate->change;
	enum git_key_rule rule = git_key_rule(work->arena, change->name);

	if (!change->after.count && is_gone(work, candidate))
		return APPLIED;
	candidate->is_copy = is_copy(work, candidate);
	if (candidate->is_copy)
		return APPLIED;
	if (redirects_push(work, candidate) || updates_others(work, candidate) ||
	    fetches_objects(candidate) || breaks_worktrees(work, change) ||
	    has_refused(work, change->name, &change->after))
		return REFUSED;
	// An address of the user protects nothing; the names of remotes are judged below.
	if (rule == KEY_ADDRESS || rule == KEY_REMOTE)
		return APPLIED;
	if ((rule == KEY_TRUE && !change->after.count) ||
	    has_refused(work, change->name, &change->before))
		return REFUSED;
	return APPLIED;
}

static bool has_remote(const struct work *work, const char *name)
{
	return str_equal(name, ".") ||
	       merged_values(work, arena_printf(work->arena, "remote.%s.url", name))->count;
}

// Returns whether two names of remotes lead to the same addresses: that of the host now, and that
// of the merged file.
static bool is_same_remote(const struct work *work, const char *before, const char *after)
{
	const char *old = before ? addresses(work, "remote", before, host_values) : "";

	return str_equal(before, after) ||
	       (*old && after && str_equal(old, addresses(work, "remote", after, merged_values)));
}

// Returns whether the host has a remote, perhaps under another name of the same addresses.
static bool is_known_remote(const struct work *work, const char *name)
{
	const char *merged = addresses(work, "remote", name, merged_values);

	if (str_equal(name, "."))
		return true;
	vec_each(entry, &work->host) {
		struct git_name host = git_name_split(work->arena, entry->name);

		if (str_equal(host.section, "remote") && host.subsection &&
		    str_equal(host.key, "url") &&
		    str_equal(addresses(work, "remote", host.subsection, host_values), merged))
			return true;
	}
	return false;
}

// Judges a setting that names a remote, after the settings of all remotes.
static enum verdict judge_remote_name(const struct work *work, const struct candidate *candidate)
{
	const struct git_config_change *change = candidate->change;
	const char *before = last_value(host_values(work, change->name));
	bool is_push = str_equal(candidate->name.key, "pushremote") ||
		       str_equal(candidate->name.key, "pushdefault");

	if (candidate->is_copy || (!change->after.count && is_gone(work, candidate)))
		return APPLIED;
	if (!change->after.count)
		return is_push && before && has_remote(work, before) ? REFUSED : APPLIED;
	vec_each(value, &change->after) {
		if (!*value || !has_remote(work, *value))
			return REFUSED;
	}
	if (!before && !is_push)
		return is_known_remote(work, last_value(&change->after)) ? APPLIED : REFUSED;
	return is_same_remote(work, before, last_value(&change->after)) ? APPLIED : REFUSED;
}

// Holds back what does not work without a setting that is refused: a new remote or submodule
// without its address.
static void hold_groups(struct work *work)
{
	vec_each(candidate, &work->candidates) {
		if (candidate->verdict == REFUSED && is_new(work, candidate) &&
		    str_equal(candidate->name.key, "url"))
			work->groups.items[candidate->group].is_held = true;
	}
	vec_each(candidate, &work->candidates) {
		if (candidate->verdict == APPLIED && group_at(work, candidate)->is_held)
			candidate->verdict = REFUSED;
	}
}

static void judge_remote_names(struct work *work)
{
	vec_each(candidate, &work->candidates) {
		if (candidate->verdict != APPLIED ||
		    git_key_rule(work->arena, candidate->change->name) != KEY_REMOTE)
			continue;
		candidate->verdict = judge_remote_name(work, candidate);
	}
	vec_each(candidate, &work->candidates) {
		if (candidate->verdict == REFUSED && candidate->change->after.count &&
		    str_equal(candidate->name.section, "branch") &&
		    str_equal(candidate->name.key, "remote"))
			work->groups.items[candidate->group].is_untied = true;
	}
	// The branch of a remote means nothing without the remote.
	vec_each(candidate, &work->candidates) {
		if (candidate->verdict == APPLIED && group_at(work, candidate)->is_untied &&
		    str_equal(candidate->name.key, "merge"))
			candidate->verdict = REFUSED;
	}
}

static void collect(const struct work *work, struct git_division *ret)
{
	vec_each(candidate, &work->candidates) {
		const struct git_config_change *change = candidate->change;

		if (candidate->verdict == APPLIED)
			vec_push(work->arena, &ret->harmless, *change);
		else if (candidate->verdict == CONFLICT)
			vec_push(work->arena, &ret->conflict, change->name);
		else if (candidate->verdict == REFUSED)
			vec_push(work->arena, change->after.count ? &ret->refused : &ret->kept,
				 change->name);
	}
}

bool git_changes_divide(struct arena *arena, const struct git_config_texts *texts,
			const struct git_key_place *place, git_entry_judge *judge,
			struct git_division *ret)
{
	struct work work = { .arena = arena,
			     .place = place,
			     .judge = judge,
			     .host_index = json_object(),
			     .group_index = json_object(),
			     .candidate_index = json_object(),
			     .signatures = json_object() };
	git_config_changes by_box = { 0 }, by_host = { 0 };
	bool ok = git_config_compare(arena, texts->base, texts->copy, &by_box) &&
		  git_config_compare(arena, texts->base, texts->host, &by_host) &&
		  git_config_compare(arena, "", texts->host, &work.host);

	*ret = (struct git_division){ 0 };
	if (ok) {
		group_of(&work, &(struct git_name){ .section = "" });
		index_host(&work);
		add_candidates(&work, &by_box, &by_host);
		vec_each(candidate, &work.candidates) {
			if (candidate->verdict == APPLIED)
				candidate->verdict = judge_change(&work, candidate);
		}
		hold_groups(&work);
		judge_remote_names(&work);
		collect(&work, ret);
	}
	json_decref(work.host_index);
	json_decref(work.group_index);
	json_decref(work.candidate_index);
	json_decref(work.signatures);
	return ok;
}
