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
#include "probe/programs.h"
#include "sys/files.h"

#include <string.h>
#include <sys/stat.h>

enum { SETTINGS_LIMIT = 64 * 1024 };

// Adds a copy of a file, unless other users can write it.
static void add_copy(struct toolchain_found *found, struct arena *arena, const struct facts *facts,
		     const char *path, bool variables)
{
	const char *file = file_follow(arena, path).real;
	const char *text = file_read(arena, file, SETTINGS_LIMIT, 0);
	struct toolchain_copy copy = { .path = path };
	struct stat status;

	if (!text || lstat(file, &status) < 0 || probe_writable_by_others(facts, &status))
		return;
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
