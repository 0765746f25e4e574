// SPDX-License-Identifier: MIT
// Packages from Nix: found, built and remembered before the plan is made.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/nix/packages.h"

#include <signal.h>
#include <stdbool.h>

// Fills host->packages. Runs nix only when what it said last no longer holds. False with an error that names the package.
bool packages_resolve(struct facts *facts, const struct config *config, struct arena *arena,
		      struct error *error);

// For --check: nothing is built, fetched or kept.
enum packages_seen {
	PACKAGES_WRONG, // with an error
	PACKAGES_NOT_YET,
	PACKAGES_KNOWN, // the names are right
	PACKAGES_HERE,
};
enum packages_seen packages_lookup(const struct facts *facts, const struct config *config,
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

// What is kept of an answer: a file in ~/.claudebox/packages, and links in ~/.claudebox/gcroots that keep it in the store.
#define PACKAGES_DIRECTORY "packages"
#define ROOTS_DIRECTORY    "gcroots"
struct package_cache {
	struct package_request request;
	const char *key;
	const char *root;  // ~/.claudebox
	const char *links; // what the names of its links start with
};
