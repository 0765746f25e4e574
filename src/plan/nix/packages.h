// SPDX-License-Identifier: MIT
// Packages from Nix, the pure part: validates requests and parses the output of nix.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"

#include <stdbool.h>

// How long the cache of a REFERENCE_REMOTE is valid.
enum { PACKAGES_REMOTE_SECONDS = 24 * 60 * 60 };

// Checks that the names and the reference can be passed to nix. Returns false with an error.
bool packages_check(const struct config *config, struct error *error);
// Returns "package 'hello' (.claudebox/tools.txt)", or the position in a profile, for messages.
const char *packages_render_name(struct arena *arena, const struct config_package *package);
// Returns the same for the reference of nixpkgs: "nixpkgs 'path:/x'".
const char *packages_render_source(struct arena *arena, const struct config *config);

// How long the meaning of a flake reference stays the same.
enum reference_kind {
	REFERENCE_LOCAL,  // it can change at any time
	REFERENCE_REMOTE, // it is looked up again after PACKAGES_REMOTE_SECONDS
	REFERENCE_FIXED,  // it never changes
};
enum reference_kind packages_reference_kind(const char *url);

// A resolved reference.
struct package_source {
	const char *url;  // locked: it always means the same tree
	const char *path; // in the store; NULL: not known
	enum reference_kind kind;
};
// Parses the output of `nix flake metadata --json`.
bool packages_parse_source(struct arena *arena, const char *json,
			   struct package_source *ret_source);

struct package_output {
	const char *name;
	const char *path; // NULL: not known before it is built
};
typedef VEC(struct package_output) package_outputs;
struct package_build {
	const char *derivation;
	package_outputs outputs;
};
typedef VEC(struct package_build) package_builds;
// Parses the output of `nix build --json`; with --dry-run it is in the order of the request.
bool packages_parse_builds(struct arena *arena, const char *json, package_builds *ret_builds);
// Parses the outputs from the text of a derivation's file.
bool packages_parse_derivation(struct arena *arena, const char *text, package_outputs *ret_outputs);
// Returns whether an output of this name holds no programs: documentation, headers, libraries.
bool packages_output_is_auxiliary(const char *output);

// Returns whether the path is "/nix/store/HASH-NAME", without anything below it.
bool packages_store_path_valid(const char *path);

// The key of a cache entry.
struct package_request {
	const char *reference;
	const char *system;
	const char *stamp; // of the files that determine the meaning of the reference
	strings names;
};
// The value of a cache entry.
struct package_answer {
	package_rows rows;   // without origins when they come from the cache
	const char *nixpkgs; // store path of nixpkgs, NULL: not known
};
