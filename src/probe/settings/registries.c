// SPDX-License-Identifier: MIT
// Reads the settings of package managers. Their text never enters the box: the plan generates files
// from it.
#include "probe/settings/registries.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/registries/tools.h"
#include "plan/secrets/files.h"
#include "probe/settings/own_files.h"
#include "probe/settings/settings_file.h"
#include "probe/user.h"
#include "sys/files.h"

// Returns the path of a row without its variable, NULL: it has none.
static const char *usual_path(struct arena *arena, const struct facts *facts,
			      const struct source_row *row)
{
	const char *in_config = row->path ? str_after(row->path, "@/") : NULL;

	if (in_config)
		return path_join(arena, probe_config_home(arena, facts), in_config);
	return row->path ? path_expand_home(arena, row->path, facts->home) : NULL;
}

// Returns the path of a file on the host, NULL: it has none.
static const char *source_path(struct arena *arena, const struct facts *facts,
			       const struct source_row *row)
{
	const char *named = row->variable ? facts_variable(facts, row->variable) : NULL;

	if (named && *named == '/')
		return path_clean(arena, row->directory
						 ? path_join(arena, named, path_name(row->path))
						 : named);
	return usual_path(arena, facts, row);
}

// Returns whether a secret place is there because of this tool's own settings.
static bool is_place_of(struct arena *arena, const struct facts *facts, enum registry_tool tool,
			const struct secret_place *secret)
{
	for (size_t i = 0; i < source_table_count; i++) {
		const struct source_row *row = &source_table[i];
		const char *usual = row->tool == tool ? usual_path(arena, facts, row) : NULL;
		const char *named = row->tool == tool ? source_path(arena, facts, row) : NULL;

		if ((usual && path_within(usual, secret->path)) ||
		    (secret->moved && named && str_equal(named, secret->path)))
			return true;
	}
	return false;
}

// Returns whether the file lies in the secret place of another program, by its name or behind a
// link.
static bool is_other_secret(struct arena *arena, const struct facts *facts, enum registry_tool tool,
			    const struct followed *file)
{
	vec_each(secret, &facts->secrets) {
		bool inside = path_within(file->path, secret->path) ||
			      path_within(file->real, secret->path) ||
			      path_within(file->real, secret->real);

		if (inside && !is_place_of(arena, facts, tool, secret))
			return true;
	}
	return false;
}

// Returns whether the name of a file is that of a secret, and not usual for the tool.
static bool has_secret_name(const char *path, enum registry_tool tool)
{
	for (size_t i = 0; i < source_table_count; i++)
		if (source_table[i].tool == tool && source_table[i].path &&
		    str_equal(path_name(path), path_name(source_table[i].path)))
			return false;
	return secret_file_path(path);
}

static void probe_source(struct facts *facts, struct arena *arena, size_t source)
{
	const struct source_row *row = &source_table[source];
	const char *path = source_path(arena, facts, row);
	struct registry_facts fact = { .source = source, .path = path };
	struct followed file;

	if (!path)
		return;
	file = file_follow(arena, path);
	if (file.kind == FILE_MISSING)
		return;
	if (row->unread)
		fact.problem = row->unread;
	else if (!path_within(path, facts->home) && !path_within(path, "/etc") &&
		 !path_within(path, "/usr"))
		fact.problem = arena_printf(arena, "%s names a file outside of your home directory",
					    row->variable ? row->variable : "XDG_CONFIG_HOME");
	else if ((fact.problem = probe_own_place_problem(arena, facts, &file)))
		; // by a link
	else if (is_other_secret(arena, facts, row->tool, &file))
		fact.problem = file.hops.count ? "it leads to a secret place"
					       : "it lies in a secret place";
	else if (has_secret_name(file.path, row->tool) || has_secret_name(file.real, row->tool))
		fact.problem = "its name is that of a secret";
	else
		fact.text =
			probe_settings_file(arena, facts, &file, SETTINGS_LIMIT, 0, &fact.problem);
	vec_push(arena, &facts->registries, fact);
}

void probe_registries(struct facts *facts, struct arena *arena)
{
	for (size_t i = 0; i < source_table_count; i++)
		probe_source(facts, arena, i);
}
