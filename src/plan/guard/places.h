// SPDX-License-Identifier: MIT
// Places of a project that programs of the host execute or trust, and what is done about each.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What the host does with the file.
enum guard_host {
	HOST_EXECUTES, // runs a program that it names or contains, without asking
	HOST_ASKS,     // does so after it has asked the user once
	HOST_READS,    // only reads it, and trusts it
	GUARD_HOST_COUNT,
};

enum guard_decision {
	GUARD_PROTECTED, // a box cannot change it, and one that it creates is moved to quarantine
	GUARD_JUDGED,    // only content that executes is moved to quarantine
	GUARD_REPORTED,  // a box may write it
	GUARD_DECISION_COUNT,
};

// Where the name counts.
enum guard_scope {
	GUARD_GIT,      // in a git directory
	GUARD_TOP,      // in the top directory of the project
	GUARD_ANYWHERE, // in every directory of the project, except in those of dependencies
};

// How the content is judged.
enum guard_judge {
	JUDGE_NONE,
	JUDGE_GIT_CONFIG, // a configuration of git
	JUDGE_HOOKS,      // a directory of hooks
	JUDGE_GITMODULES,
	JUDGE_NPMRC,
	JUDGE_POINTER,    // the path of a git directory, which is judged
	JUDGE_REPOSITORY, // a git directory, or a pointer to one
};

struct guard_row {
	const char *name; // relative
	enum guard_scope scope;
	bool directory;
	enum guard_host host;
	enum guard_decision decision;
	enum guard_judge judge;
	const char *why; // what the host does with it, as the end of a sentence
};
extern const struct guard_row guard_table[];
extern const size_t guard_count;

extern const char *const guard_host_names[GUARD_HOST_COUNT];
extern const char *const guard_decision_names[GUARD_DECISION_COUNT];

// Returns the row of a path relative to the project, NULL: the place is not in the table. A path
// below a directory of the table belongs to the row of the directory. `path` never leads into a git
// directory.
const struct guard_row *guard_find(const char *path);
// Returns a row whose place lies below this path, NULL: none. A link at the path leads to a place.
const struct guard_row *guard_find_below(const char *path);
// Returns whether a directory at a place of this row is no place while no file is in it: nothing in
// it can be executed. A directory of hooks is one.
bool guard_may_be_empty(const struct guard_row *row);
// Returns whether this is a component of a place of the table that begins without a dot.
bool guard_is_name(const char *name);
// Returns the row of a path relative to a git directory.
const struct guard_row *guard_find_in_git(const char *path);
// Returns whether a path leads into a directory of dependencies.
bool guard_lies_in_dependencies(const char *path);
// Returns whether an entry of an index is a repository among dependencies. The mode is git's.
bool guard_is_hidden_repository(const char *path, uint32_t mode);
// Returns whether a directory with this name contains dependencies: no program of the host is
// started in it, so its files are not places of the project.
bool guard_is_dependency(const char *name);
