// SPDX-License-Identifier: MIT
// Decides which of the user's Claude files (plugins, skills, hooks …) and of the company's policy
// the box gets, by their names and contents.
#pragma once

#include "base/arena.h"
#include "base/file.h"
#include "plan/claude/clean.h"

#include <stdbool.h>
#include <stddef.h>

// Longer files are not examined.
enum { CLAUDE_TEXT_LIMIT = 256 * 1024 };

// A part of a directory that the box does not get as a whole.
enum claude_part_kind {
	CLAUDE_PART_DIRECTORY, // a directory of the box's own, with the parts in it
	CLAUDE_PART_HOST,      // a file or directory of the host without secrets
	CLAUDE_PART_LINK,      // a symbolic link; `source` is its target
	CLAUDE_PART_CLEANED,   // generated; `source` is the content without secrets
	CLAUDE_PART_LEFT_OUT,
};
struct claude_part {
	enum claude_part_kind kind;
	const char *path; // below the directory that was examined: "plugins/x/.git"
	const char *source;
	struct file_id id; // of a host path
	const char *why;   // it is left out; or what a cleaned file lacks
};
typedef VEC(struct claude_part) claude_parts;

// Returns why no file or directory of this path comes along, NULL: it may. In `node_modules`, only
// hidden names count: packages contain keys for their own tests.
const char *claude_name_refused(const char *path, bool directory, bool in_modules);

// Judges the text of a file. Returns CLAUDE_PART_HOST if it has no secret, with the number of the
// first line that may have one or NULL as the reason; CLAUDE_PART_CLEANED with the new content and
// the removed parts; CLAUDE_PART_LEFT_OUT with the reason. `policy`: the names of all members
// count.
enum claude_part_kind claude_judge_content(struct arena *arena, const char *name, const char *text,
					   bool policy, const char **ret_content,
					   const char **ret_why);

// Does the same for any content, and changes it. A NUL must follow the bytes.
enum claude_part_kind claude_judge_bytes(struct arena *arena, const char *name, char *bytes,
					 size_t length, bool policy, const char **ret_content,
					 const char **ret_why);

// Returns a text without the lines with secrets; stores their numbers ("2, 5-9"), NULL: none.
const char *claude_without_secret_lines(struct arena *arena, const char *text,
					const char **ret_lines);

// Returns the part with this path, NULL: there is none.
const struct claude_part *claude_part_find(const claude_parts *parts, const char *path);
// Returns whether the box has a path of these parts: no part that contains it is left out.
bool claude_parts_have(const claude_parts *parts, const char *path);
