// SPDX-License-Identifier: MIT
// Packages from Nix, as far as text goes: what is asked, what nix answers, and what of it may be remembered.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"

#include <stdbool.h>

enum { PACKAGES_REMOTE_SECONDS = 24 * 60 * 60 };

// False with an error when a name or the reference cannot be given to nix.
bool packages_check(const struct config *config, struct error *error);
// "package 'hello' (.claudebox/tools.txt)", or its place in a profile, for messages.
const char *packages_shown(struct arena *arena, const struct config_package *package);
// The same for where they come from: "nixpkgs 'path:/x'".
const char *packages_source_shown(struct arena *arena, const struct config *config);

// How long it holds what a reference to a flake stands for.
enum reference_kind {
	REFERENCE_LOCAL, // it can change at any moment
	REFERENCE_REMOTE,
	REFERENCE_FIXED,
};
enum reference_kind packages_reference_kind(const char *url);

// From `nix flake metadata --json`.
struct package_source {
	const char *url;  // stays what it is
	const char *path; // in the store; NULL: not known
	enum reference_kind kind;
};
bool packages_read_source(struct arena *arena, const char *json, struct package_source *ret_source);

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
// From `nix build --json`; with --dry-run in the order of the request.
bool packages_read_builds(struct arena *arena, const char *json, package_builds *ret_builds);
// All outputs of a derivation, from its file.
bool packages_read_derivation(struct arena *arena, const char *text, package_outputs *ret_outputs);
// An output that nobody installs for its programs.
bool packages_output_is_aside(const char *output);

// "/nix/store/HASH-NAME" and nothing below it.
bool packages_store_path_valid(const char *path);

// What is remembered. Times are in seconds since 1970.
struct package_request {
	const char *reference;
	const char *system;
	const char *stamp; // of the files that decide what the reference stands for
	strings names;
};
struct package_answer {
	package_rows rows;   // when read, without their origins
	const char *nixpkgs; // where in the store they come from, NULL: not known
};
