// SPDX-License-Identifier: MIT
// Chooses the profile, and reads it and the profiles that it extends.
#include "probe/profile/profile.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/names.h"
#include "config/profile/profile.h"
#include "config/profile/check.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "probe/profile/directories.h"
#include "probe/profile/files.h"

#include <errno.h>
#include <sys/stat.h>

// Returns "a -> b -> a".
static const char *show_chain(struct arena *arena, const profile_chain *chain, const char *last)
{
	struct text out = { .arena = arena };

	vec_each(profile, chain)
		text_printf(&out, "%s -> ", profile->name);
	text_add(&out, last);
	return text_get(&out);
}

static bool check_chain(struct arena *arena, const profile_chain *chain, const char *next,
			struct error *error)
{
	bool cycle = false;

	vec_each(profile, chain)
		cycle |= str_equal(profile->name, next);
	if (!cycle && chain->count <= MOST_EXTENDED)
		return true;
	if (cycle)
		error_set(error, "profiles extend each other in a cycle: %s",
			  show_chain(arena, chain, next));
	else
		error_set(error, "profiles extend each other more than %d levels deep: %s",
			  MOST_EXTENDED, show_chain(arena, chain, next));
	return error_hint(error, "remove one 'extends'");
}

// Adds the profile of this name and those that it extends, and then reverses the chain.
static bool read_chain(struct arena *arena, const struct facts *facts, const char *name,
		       const char *source, profile_chain *chain, struct error *error)
{
	while (name) {
		struct profile profile = { .name = name };

		if (!check_chain(arena, chain, name, error) ||
		    !profile_read(arena, facts, &profile, source, error) ||
		    !profile_parse(&profile, error))
			return false;
		vec_push(arena, chain, profile);
		name = profile_extends(arena, &profile);
		source = arena_printf(arena, "extended by '%s'", profile.name);
	}
	for (size_t i = 0; i < chain->count / 2; i++) {
		struct profile first = chain->items[i];

		chain->items[i] = chain->items[chain->count - 1 - i];
		chain->items[chain->count - 1 - i] = first;
	}
	return true;
}

// Returns the profile that the variable names. Stores "" if it is empty: no profile at all.
static bool choose_by_variable(const struct facts *facts, struct arena *arena, const char *variable,
			       const char **ret_name, struct error *error)
{
	*ret_name = variable;
	if (!*variable || profile_name_valid(variable))
		return true;
	error_set(error, "CLAUDEBOX_PROFILE: '%s' is not a valid profile name",
		  quote_display(arena, variable, 60));
	return error_hint(error, "give the name of a file in '%s', without .json",
			  profile_shown(arena, facts, profile_directory_path(arena, facts)));
}

// Returns whether there is a default profile. A dangling link, or a file that cannot be examined,
// is an error later and not ignored.
static bool has_default(const struct facts *facts, struct arena *arena)
{
	struct stat status;

	return facts->state.root_kind == FILE_DIRECTORY &&
	       (lstat(profile_file_path(arena, facts, "default"), &status) == 0 ||
		(errno != ENOENT && errno != ENOTDIR));
}

bool probe_profile(const struct facts *facts, struct arena *arena, const char *name,
		   struct profile_facts *ret_facts, profile_chain *ret_chain, struct error *error)
{
	const char *variable = facts_variable(facts, "CLAUDEBOX_PROFILE");
	const char *source = "chosen by --profile";

	if (!name && variable) {
		source = "chosen by CLAUDEBOX_PROFILE";
		if (!choose_by_variable(facts, arena, variable, &name, error))
			return false;
	}
	if (!name) {
		source = "chosen by directory";
		if (!probe_profile_by_directory(facts, arena, ret_facts, &name, error))
			return false;
	}
	if (!name && has_default(facts, arena)) {
		name = "default";
		source = "the default";
	}
	if (!name || !*name)
		return true;
	return plan_refuse_state(facts, error) && profile_check_directory(arena, facts, error) &&
	       read_chain(arena, facts, name, source, ret_chain, error);
}
