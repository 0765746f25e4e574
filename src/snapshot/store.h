// SPDX-License-Identifier: MIT
// The snapshots of a project: a git directory of claudebox's own, in the instance.
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// In it: the path of the project.
#define STORE_PROJECT "project"

// A git directory with the contents of a project. No box can reach it.
struct store {
	const char *git;     // the program
	const char *path;    // of the git directory
	const char *project; // the directory whose files it has
	int directory;       // -1: not open
	int lock;            // held while the index is read or written, -1: not held
};

#define STORE_NONE                          \
	(struct store)                      \
	{                                   \
		.directory = -1, .lock = -1 \
	}

// Opens the snapshots of a project and takes their lock. Creates them if `create`. Returns false
// with an error on failure, and without one if there are none.
bool store_open(struct store *store, const char *git, const char *path, const char *project,
		bool create, struct error *error);
void store_close(struct store *store);
// Replaces the patterns of ignored files.
bool store_set_exclude(const struct store *store, const char *text, struct error *error);

// A run of the git program on the snapshots. The configuration of the user and of the machine has
// no effect, and nothing in the store names a program.
struct git_run {
	const char *const *arguments; // without the name of the program, NULL at the end
	const char *git_directory;    // NULL: the store
	const char *index;            // a file, NULL: the index of the git directory
	const char *worktree;         // NULL: the project
	const char *input;
	size_t input_length;
	// The input ends early at this time of CLOCK_MONOTONIC; 0: never. A program that has not
	// ended after a moment more is killed.
	int64_t input_until_ms;
	size_t output_limit; // 0: the default
	// Results.
	char *output; // a NUL follows
	size_t output_length;
	bool cut;            // not all of the input was read
	const char *message; // why it ended with an error, NULL: it did not say
};

struct git_process;
// Begins a run of git, for git_end(). Its output waits until then.
struct git_process *git_begin(const struct store *store, struct arena *arena, struct git_run *run);
// Ends a run: sends the input and receives the output. Returns whether git exited with 0.
bool git_end(struct git_process *process);
// Both. Returns whether git exited with 0.
bool git_run(const struct store *store, struct arena *arena, struct git_run *run);
// Sets the error of a run that failed. Returns false.
bool git_fail(const struct git_run *run, const char *operation, struct error *error);
