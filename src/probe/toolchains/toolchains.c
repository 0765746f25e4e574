// SPDX-License-Identifier: MIT
// Collects facts about toolchains: which managers the user has, what of them comes along, and what
// the host's PATH contains.
//
// Theory of operation: PATH, the variables of managers and links in a few directories name the
// managers. Version managers run code of the project when they are executed, so nothing is
// executed: paths, links and names of directories are sufficient. A project cannot choose a
// manager: where its virtual environments lead to is only compared with what is in the box.
#include "probe/toolchains/toolchains.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/toolchains/facts.h"
#include "plan/toolchains/managers.h"
#include "probe/known_projects.h"
#include "probe/toolchains/copies.h"
#include "probe/toolchains/expand.h"
#include "probe/toolchains/installs.h"
#include "probe/toolchains/links.h"
#include "probe/toolchains/path.h"
#include "probe/toolchains/recognise.h"
#include "sys/files.h"

#include <string.h>

// Returns whether a name is that of a python: python, python3, python3.11.
static bool is_python(const char *name)
{
	return str_starts(name, "python") && strspn(name + 6, "0123456789.") == strlen(name + 6);
}

// Returns the installation of Python by a manager of the table that a python lies in. Without
// paths: it lies in none.
static struct install find_install(struct facts *facts, struct arena *arena, const char *python)
{
	const char *programs = path_parent(arena, python);
	const struct manager_row *row = is_python(path_name(python)) &&
							str_equal(path_name(programs), "bin")
						? toolchain_row_of(facts, arena, python, true)
						: NULL;

	return row && row->has_pythons ? install_examine(arena, path_parent(arena, programs), row)
				       : (struct install){ 0 };
}

// Adds the pythons of virtual environments in the project that are links.
static void find_pythons(struct facts *facts, struct arena *arena)
{
	static const char *const names[] = { ".venv/bin/python", "venv/bin/python",
					     "env/bin/python" };

	for (size_t i = 0; !facts->project_problem && i < ARRAY_SIZE(names); i++) {
		struct project_python python = {
			.file = file_follow(arena, path_join(arena, facts->project, names[i]))
		};

		if (python.file.kind != FILE_REGULAR || !python.file.hops.count ||
		    path_within(python.file.real, facts->project))
			continue;
		python.install = find_install(facts, arena, python.file.real);
		vec_push(arena, &facts->toolchains.pythons, python);
	}
}

static void find_local_bin(struct facts *facts, struct arena *arena)
{
	const char *local = path_join(arena, facts->home, ".local/bin");

	vec_each(entry, &facts->toolchains.path) {
		if (entry->directory.kind == FILE_DIRECTORY &&
		    (str_equal(entry->directory.real, local) ||
		     str_equal(entry->directory.path, local)))
			facts->toolchains.local_bin = entry->directory.real;
	}
}

// Removes the directory trees of which nothing comes along.
static void drop_empty(struct toolchains_facts *toolchains)
{
	size_t kept = 0;

	for (size_t i = 0; i < toolchains->found.count; i++) {
		const struct toolchain_found *found = &toolchains->found.items[i];

		if (found->problem || found->parts.count || found->copies.count)
			toolchains->found.items[kept++] = *found;
	}
	toolchains->found.count = kept;
}

void probe_toolchains(struct facts *facts, struct arena *arena, const struct config *config)
{
	strings signs, projects = { 0 };

	path_read_entries(facts, arena);
	find_local_bin(facts, arena);
	find_pythons(facts, arena);
	signs = path_signs(facts, arena);
	toolchain_recognise(facts, arena, &signs, config_toolchains(config));
	if (facts->toolchains.found.count)
		projects = probe_known_roots(arena, facts);
	vec_each(found, &facts->toolchains.found) {
		if (found->problem)
			continue;
		toolchain_expand(found, arena, facts, &projects);
		toolchain_copy_settings(found, arena, facts);
	}
	path_read_local(facts, arena, config_toolchains(config));
	drop_empty(&facts->toolchains);
	path_count_programs(facts, arena);
	links_read_requested(facts, arena);
	install_read_variables(facts, arena);
}
