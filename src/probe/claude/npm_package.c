// SPDX-License-Identifier: MIT
// The npm package of Claude Code, which the box gets as a whole.
#include "probe/claude/npm_package.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/secrets/detect.h"
#include "sys/files.h"
#include "sys/list.h"

#include <fcntl.h>

#define CLAUDE_PACKAGE "@anthropic-ai/claude-code"

enum { PACKAGE_LIMIT = 256 * 1024, ENTRIES_MAX = 256 };

const char *probe_npm_package(struct arena *arena, const char *file)
{
	for (const char *directory = path_parent(arena, file); !str_equal(directory, "/");
	     directory = path_parent(arena, directory)) {
		const char *text = file_read(arena, path_join(arena, directory, "package.json"),
					     PACKAGE_LIMIT, 0);
		JSON_OWNED *package = json_read_object(text, 0);

		if (str_equal(json_string_value(json_object_get(package, "name")), CLAUDE_PACKAGE))
			return directory;
		if (text || str_equal(path_name(directory), "node_modules"))
			break;
	}
	return NULL;
}

void probe_npm_package_secrets(struct arena *arena, const char *package, strings *notes)
{
	strings names = list_directory_up_to(arena, AT_FDCWD, package, ENTRIES_MAX);

	vec_each(name, &names) {
		if (secret_file_name(*name))
			vec_push(arena, notes,
				 arena_printf(
					 arena,
					 "'%s' looks like a secret, and the agent can read it: "
					 "it is in the package of claude. Move it elsewhere",
					 quote_word(arena, path_join(arena, package, *name), 120)));
	}
}
