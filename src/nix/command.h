// SPDX-License-Identifier: MIT
// Runs nix on the host: reads its output, shows its progress, and stops it when a signal arrives.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/facts.h"

#include <signal.h>
#include <stdbool.h>

// Runs commands of nix one after the other, with a fixed environment.
struct nix_command {
	struct arena *arena;
	const char *program;
	strings environment;
	int signals;
	sigset_t old_mask;
	bool terminal;       // standard error is a terminal, which shows the progress in one line
	bool progress_shown; // that line is visible now
	bool fetching_reported; // elsewhere one line stands for all paths that nix fetches
	bool offline;           // pass --offline
	bool quiet;             // show no progress
};

struct nix_result {
	int status; // exit status, 0: success
	const char *output;
	const char *messages; // standard error, only the end if it is long
};

// Finds nix and blocks the signals that end claudebox. Returns false with an error; otherwise the
// caller calls nix_command_close.
bool nix_command_open(struct nix_command *nix, struct arena *arena, const struct facts *facts,
		      struct error *error);
// Clears the progress line and restores the signal mask.
void nix_command_close(struct nix_command *nix);
// Runs nix with these arguments. Returns false with an error if nix could not be run, if its output
// is too large, or if a signal arrived.
bool nix_command_run(struct nix_command *nix, const strings *arguments,
		     struct nix_result *ret_result, struct error *error);
