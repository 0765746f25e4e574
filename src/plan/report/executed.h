// SPDX-License-Identifier: MIT
// Files that programs of the host execute or trust when the user works on the project.
#pragma once

#include "base/arena.h"
#include "plan/report/change.h"

#include <stdbool.h>
#include <stddef.h>

// When a program of the host executes a file, the most surprising first.
enum run_rank {
	RUN_WITHOUT_ASKING, // when the user enters the directory, opens it or runs git
	RUN_WITH_QUESTION,  // the same, after a question
	RUN_BY_BUILD,       // when the user builds, tests or installs
	RUN_ELSEWHERE,      // on another machine
	RUN_TRUSTED,        // an agent or an editor follows it
	RUN_RANK_COUNT,
};
// The names in JSON.
extern const char *const run_rank_names[RUN_RANK_COUNT];

// A changed file that the host may execute.
struct executed {
	const char *path;
	enum run_rank rank;
	const char *why; // what happens, as the end of a sentence
};
typedef VEC(struct executed) executed_files;

struct run_row {
	const char *name; // of the file; '*' at its start or end stands for any part
	const char *in;   // a directory somewhere above it, NULL: any
	enum run_rank rank;
	const char *why;
};
extern const struct run_row run_table[];
extern const size_t run_count;

// Content of a change that the judgement may need.
struct change_content {
	const char *before; // NULL: there was none, or it is not known
	const char *after;
	bool leads_out; // it is a link that leads out of the project, by way of others too
};

// Returns whether the judgement needs the content of a changed file.
bool executed_needs_content(const struct file_change *change);
// Returns whether a program of the host may execute or trust what was changed.
bool executed_judge(struct arena *arena, const struct file_change *change,
		    const struct change_content *content, struct executed *ret);
// Sorts by rank, then by path.
void executed_sort(executed_files *files);
