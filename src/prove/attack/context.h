// SPDX-License-Identifier: MIT
// The context of the attacks: the list of canaries, the environment, and paths derived from them.
#pragma once

#include "prove/protocol.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_CANARIES = 512, MAX_PROCESSES = 512, PATH_SIZE = 4608 };

// A line of the list. Missing fields are "".
struct canary {
	enum canary_kind kind;
	const char *field[CANARY_FIELDS];
};

struct context {
	struct canary canaries[MAX_CANARIES];
	size_t count;
	const char *token;
	const char *home;    // "" if unknown
	const char *project; // "." if unknown
	const char *mark;    // name of the attack program's own files
	bool full, inet;     // the network tier; none if neither
	char **environment;
	unsigned long page_size;
};
extern struct context context;

// "../" often enough to reach the root from any directory.
extern const char to_root[];

// Fills the context from the initial stack and the list at `path`. Returns false if the list cannot
// be read, has no token, or names an unknown kind or attack.
bool read_context(const long *stack, const char *path);

// Returns the next canary of a kind, the first one after NULL; NULL if there is none.
const struct canary *next_canary(const struct canary *after, enum canary_kind kind);

// Returns whether the data contains the token.
bool has_token(const void *data, long length);

// Returns the pid of the planted process, or 0 if there is none or if a process of the box has the
// same pid.
int host_process(void);

// Returns whether a directory is the host's: a canary in it can be read.
bool is_host_directory(const char *directory);

// Writes a path with "~" replaced by the home directory and "%d" by the user id. Returns buffer.
const char *expand_path(char *buffer, size_t size, const char *pattern);

// Writes a path in the project for a file of the attack program. Returns buffer.
const char *scratch_path(char *buffer, size_t size, const char *name);
