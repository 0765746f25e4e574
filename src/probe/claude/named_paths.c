// SPDX-License-Identifier: MIT
// Finds the files and directories that the user's own Claude files name.
//
// Theory of operation: an imported file can import others, as deep as Claude follows them. A file
// in a secret place is recorded and not read. A file that a box can write is recorded, but its
// imports are not the user's.
#include "probe/claude/named_paths.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/claude/files.h"
#include "plan/claude/named_paths.h"
#include "plan/facts.h"
#include "plan/mounts.h"
#include "plan/project.h"
#include "probe/programs.h"
#include "sys/files.h"

enum { MOST_IMPORTS = 32, IMPORT_DEPTH = 5 };

static bool is_known(const struct facts *facts, const char *path)
{
	vec_each(named, &facts->named) {
		if (!named->repository && str_equal(named->file.path, path))
			return true;
	}
	return false;
}

static void add_imports(struct facts *facts, struct arena *arena, const char *file,
			const char *text, int depth)
{
	strings imports = claude_find_imports(arena, text);

	vec_each(written, &imports) {
		const char *path = claude_import_path(arena, facts, file, *written);
		struct followed found;
		const char *more;

		if (!*path || facts->named.count >= MOST_IMPORTS || is_known(facts, path) ||
		    path_within(path, facts->project))
			continue;
		found = file_follow(arena, path);
		if (found.kind != FILE_REGULAR)
			continue; // Claude ignores it too: "@name" is often no path
		vec_push(arena, &facts->named,
			 (struct named_facts){ .file = found, .by = "your CLAUDE.md" });
		if (depth == 1 || plan_near_secret(facts, found.real) ||
		    probe_writing_box(arena, facts, &found))
			continue;
		more = file_read(arena, found.real, CLAUDE_TEXT_LIMIT, 0);
		if (more)
			add_imports(facts, arena, path, more, depth - 1);
	}
}

void probe_named_paths(struct facts *facts, struct arena *arena)
{
	const struct user_claude_facts *claude = &facts->user_claude;
	const char *file = path_join(arena, claude->directory, "CLAUDE.md");
	struct followed instructions = file_follow(arena, file);
	// What a box can have written names no files.
	const char *text = probe_writing_box(arena, facts, &instructions)
				   ? NULL
				   : file_read(arena, instructions.real, CLAUDE_TEXT_LIMIT, 0);
	strings added = claude_additional_directories(arena, claude->settings_json);

	// The box has the file at this path, and Claude follows its imports from there.
	file = path_join(arena, path_join(arena, facts->home, ".claude"), "CLAUDE.md");
	if (text)
		add_imports(facts, arena, file, text, IMPORT_DEPTH);
	vec_each(written, &added) {
		struct followed found =
			file_follow(arena, plan_written_path(arena, facts, *written));

		if (found.kind == FILE_DIRECTORY && !path_within(found.path, facts->project))
			vec_push(arena, &facts->named,
				 (struct named_facts){ .file = found, .by = "your settings" });
	}
}
