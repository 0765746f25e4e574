// SPDX-License-Identifier: MIT
// Reads the settings of toolchain managers that the box gets as generated copies.
#include "probe/toolchains/copies.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/toolchains/clean.h"
#include "plan/toolchains/facts.h"
#include "probe/settings/own_files.h"
#include "probe/programs.h"
#include "probe/settings/settings_file.h"
#include "sys/files.h"

#include <string.h>
#include <sys/stat.h>

enum { COPY_LIMIT = 64 * 1024 };

// Adds a copy of a file, or why it is not used.
static void add_copy(struct toolchain_found *found, struct arena *arena, const struct facts *facts,
		     const char *path, bool variables)
{
	struct followed file = file_follow(arena, path);
	struct toolchain_copy copy = { .path = path, .real = file.real };
	const char *text =
		probe_own_file(arena, facts, &file, COPY_LIMIT, SETTINGS_USUAL_NAME, &copy.problem);
	struct stat status;

	if (!text && !copy.problem)
		return;
	if (text && (lstat(file.real, &status) < 0 || probe_writable_by_others(facts, &status)))
		copy.problem = "other users can change it";
	else if (text)
		copy.text = variables ? toolchain_clean_variables(arena, text, &copy.shortened)
				      : toolchain_clean_settings(arena, text, found->row->sections,
								 &copy.shortened);
	vec_push(arena, &found->copies, copy);
}

// Replaces the parts that come without addresses by copies.
static void copy_parts(struct toolchain_found *found, struct arena *arena,
		       const struct facts *facts)
{
	size_t kept = 0;

	vec_each(part, &found->parts) {
		const char *path = part->file.path;

		if (!str_equal(path_name(path), found->row->cleaned))
			found->parts.items[kept++] = *part;
		else if (!part->problem)
			add_copy(found, arena, facts,
				 arena_printf(arena, "%s%s", found->root,
					      path + strlen(found->real)),
				 true);
	}
	found->parts.count = kept;
}

void toolchain_copy_settings(struct toolchain_found *found, struct arena *arena,
			     const struct facts *facts)
{
	for (const char *const *copy = found->row->copies; *copy; copy++) {
		bool at_home = **copy == '~';
		const char *path = at_home ? path_expand_home(arena, *copy, facts->home)
					   : path_join(arena, found->root, *copy);

		add_copy(found, arena, facts, path, false);
	}
	if (found->row->cleaned)
		copy_parts(found, arena, facts);
}
