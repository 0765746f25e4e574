// SPDX-License-Identifier: MIT
// The schema of a profile: one table that is parsed by, complained from and documented from.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/locate.h"
#include "config/profile.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum profile_kind {
	PROFILE_STRING,
	PROFILE_CHOICE, // one of a few strings
	PROFILE_BOOLEAN,
	PROFILE_NUMBER,
	PROFILE_PORTS,     // a list of numbers
	PROFILE_STRINGS,   // a list of strings
	PROFILE_VARIABLES, // an object: name to string
	PROFILE_OBJECT,    // an object with a table of its own
	PROFILE_OBJECTS,   // a list of such objects
	PROFILE_KIND_COUNT,
};

// What becomes of a key that a profile and the one it extends both have.
enum profile_merge {
	MERGE_OWN,     // it is not handed on
	MERGE_REPLACE, // the extending profile's counts
	MERGE_ADD,     // both, without duplicates
	MERGE_BY_NAME, // both; of two with one name the extending profile's counts
	MERGE_COUNT,
};

enum profile_key {
	KEY_NAME,
	KEY_DESCRIPTION,
	KEY_EXTENDS,
	KEY_NETWORK,
	KEY_HOST_PORTS,
	KEY_PUBLISH,
	KEY_ENV,
	KEY_PASSTHROUGH,
	KEY_MOUNTS,
	KEY_PACKAGES,
	KEY_NIXPKGS,
	KEY_NIX_DAEMON,
	KEY_NESTED,
	KEY_PROJECT,
	KEY_TERMINAL,
	KEY_LIMITS,
	KEY_CONFIRM,
	KEY_COUNT,
};

enum mount_key {
	MOUNT_KEY_HOST,
	MOUNT_KEY_SANDBOX,
	MOUNT_KEY_MODE,
	MOUNT_KEY_COUNT,
};

struct profile_row {
	int id; // its place in the table: enum profile_key, mount_key or limit
	enum profile_kind kind;
	const char *key;
	const char *example; // JSON
	const char *help;    // scdoc
	enum profile_merge merge;
	bool required;
	size_t most;                   // entries, of a list or an object
	size_t longest;                // bytes, of a string
	const struct limit_row *range; // of a number
	const char *const *choices;
	size_t choice_count;
	// What is wrong with a string (of variables: with a name), to follow it in a sentence; NULL: nothing.
	const char *(*problem)(struct arena *arena, const char *text);
	const struct profile_row *entry; // of an object, or of each in a list
	size_t entry_count;
};

extern const struct profile_row profile_table[KEY_COUNT];
extern const struct profile_row profile_mount_table[MOUNT_KEY_COUNT];
extern const struct profile_row profile_limit_table[LIMIT_COUNT];
extern const char *const profile_kind_names[PROFILE_KIND_COUNT];
extern const char *const profile_merge_names[MERGE_COUNT];
extern const char *const project_mode_names[2];
extern const char *const mount_mode_names[2];
extern const char *const confirm_names[CONFIRM_COUNT];

// Where we are in a profile, for errors.
struct profile_place {
	const struct profile_text *profile;
	struct error *error;
	struct json_step steps[4];
	size_t depth;
};

extern const char *const terminal_mode_names[TERMINAL_MODE_COUNT];
