// SPDX-License-Identifier: MIT
// Packages from Nix: found, built and remembered before the plan is made.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/options.h"
#include "plan/packages.h"

#include <signal.h>
#include <stdbool.h>

// Fills host->packages. Runs nix only when what it said last no longer holds. False with an error that names the package.
bool run_resolve_packages(struct host *host, const struct config *config, struct arena *arena,
			  struct error *error);

// For --check: nothing is built, fetched or kept.
enum packages_seen {
	PACKAGES_WRONG, // with an error
	PACKAGES_NOT_YET,
	PACKAGES_KNOWN, // the names are right
	PACKAGES_HERE,
};
enum packages_seen run_look_for_packages(const struct host *host, const struct config *config,
					 struct arena *arena, struct error *error);

// nix on the host, with a fixed environment, one call after the other; signals end it.
struct nix_command {
	struct arena *arena;
	const char *program;
	strings environment;
	int signals;
	sigset_t mask; // as it was
	bool terminal; // progress goes to one
	bool shown;    // a line of it is there
	bool fetching; // has been said
	bool offline;  // it shall not fetch
};
struct nix_result {
	int status; // 0: all went well
	const char *output;
	const char *messages; // the last of them
};
bool nix_command_open(struct nix_command *nix, struct arena *arena, const struct host *host,
		      struct error *error);
void nix_command_close(struct nix_command *nix);
// The words behind "nix" and its options. False with an error when it could not run or a signal came.
bool nix_command_run(struct nix_command *nix, const strings *words, struct nix_result *ret_result,
		     struct error *error);

// What is kept of an answer: a file in ~/.claudebox/packages, and links in ~/.claudebox/gcroots that keep it in the store.
#define PACKAGES_DIRECTORY "packages"
#define ROOTS_DIRECTORY    "gcroots"
struct package_memory {
	struct package_request request;
	const char *key;
	const char *root;  // ~/.claudebox
	const char *links; // what the names of its links start with
};
struct package_memory packages_memory(struct arena *arena, const struct config *config,
				      const struct host *host);
// True when all that was found then is still there.
bool packages_recall(const struct package_memory *memory, struct arena *arena,
		     struct package_answer *ret_answer);
// Makes the directory for links.
bool packages_prepare_links(const struct package_memory *memory, struct error *error);
bool packages_remember(const struct package_memory *memory, struct arena *arena,
		       const struct package_answer *answer, enum reference_kind kind,
		       struct error *error);
// Does this path of the store have a directory of programs?
bool packages_has_programs(struct arena *arena, const char *path);
