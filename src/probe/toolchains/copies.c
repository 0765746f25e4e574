// SPDX-License-Identifier: MIT
// Reads the settings of toolchain managers that the box gets as generated copies.
#include "probe/toolchains/copies.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "plan/facts.h"
#include "plan/toolchains/facts.h"
#include "plan/toolchains/settings.h"
#include "probe/programs.h"
#include "sys/files.h"

#include <sys/stat.h>

enum { SETTINGS_LIMIT = 64 * 1024 };

void toolchain_copy_settings(struct toolchain_found *found, struct arena *arena,
			     const struct facts *facts)
{
	for (const char *const *copy = found->row->copies; *copy; copy++) {
		bool at_home = **copy == '~';
		const char *path = at_home ? path_expand_home(arena, *copy, facts->home)
					   : path_join(arena, found->root, *copy);
		const char *file = file_follow(arena, path).real;
		const char *text = file_read(arena, file, SETTINGS_LIMIT, 0);
		struct stat status;
		bool shortened;

		if (!text || lstat(file, &status) < 0 || probe_writable_by_others(facts, &status))
			continue;
		text = toolchain_clean_settings(arena, text, found->row->sections, &shortened);
		vec_push(arena, &found->copies,
			 (struct toolchain_copy){
				 .path = path, .text = text, .shortened = shortened });
	}
}
