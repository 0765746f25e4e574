// SPDX-License-Identifier: MIT
// The schema of a profile: one row for each key. Checking, merging, error messages, the manual and
// every display of a setting use it.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "config/limits.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct profile_merge;
struct profile_place;

enum profile_kind {
	PROFILE_STRING,
	PROFILE_CHOICE, // one of a few strings
	PROFILE_BOOLEAN,
	PROFILE_NUMBER,
	PROFILE_PORTS,     // a list of numbers
	PROFILE_STRINGS,   // a list of strings
	PROFILE_CHOICES,   // a list of some of a few strings, or a word for all or none of them
	PROFILE_VARIABLES, // an object: name to string
	PROFILE_OBJECT,    // an object with a table of its own
	PROFILE_OBJECTS,   // a list of such objects
	PROFILE_KIND_COUNT,
};

// How a key of a profile combines with the same key of the profile that it extends.
enum profile_merge_rule {
	MERGE_OWN,     // not inherited
	MERGE_REPLACE, // the extending profile's value replaces the other
	MERGE_ADD,     // both, without duplicates
	MERGE_BY_NAME, // both; of two entries with one name the extending profile's counts
	MERGE_COUNT,
};

// Outputs that list the settings of a configuration, as bits.
enum setting_output {
	SETTING_IN_AUDIT = 1 << 0,
	SETTING_IN_APPROVAL = 1 << 1,
	SETTING_IN_DRY_RUN = 1 << 2,
	SETTING_IN_JSON = 1 << 3,
};

struct profile_row {
	enum profile_kind kind;
	const char *key;
	const char *example; // JSON
	const char *help;    // scdoc
	enum profile_merge_rule merge;
	bool required;
	bool names_variables;          // the text after '=' in a wrong one is not shown
	unsigned char shown_by_code;   // outputs that do not list the setting, but show its effect
	unsigned char default_choices; // of a list of choices, as bits, without `all_choices`
	const char *all_choices;       // a word for a list of all choices, the default; NULL: none
	const char *no_choices;        // a word for an empty list; NULL: none
	size_t most;                   // entries, of a list or an object
	size_t longest;                // bytes, of a string
	const struct limit_row *range; // of a number
	const char *const *choices;
	size_t choice_count;
	// Returns what is wrong with a string (of variables: with a name), as the end of a sentence
	// that begins with it; NULL: nothing.
	const char *(*problem)(struct arena *arena, const char *text);
	const struct profile_row *entry; // of an object, or of each object in a list
	size_t entry_count;
	// Offsets in struct config. A scalar is stored at `value` by its kind: const char *, an
	// enumeration, bool, or unsigned long long. A list of choices is an unsigned int whose bits
	// are the choices that differ from the default. 0: the key is not stored.
	size_t value;
	size_t value_size;
	size_t origin; // 0: none
	// Merges a list or an object into the configuration. NULL: the key is a scalar.
	bool (*apply)(struct profile_merge *merge, const struct profile_place *place,
		      const struct profile_row *row, json_t *value);
};

extern const struct profile_row profile_table[];
extern const size_t profile_table_count;
extern const struct profile_row profile_mount_table[];
extern const size_t profile_mount_table_count;
extern const struct profile_row profile_limit_table[LIMIT_KEY_COUNT];
extern const char *const profile_kind_names[PROFILE_KIND_COUNT];
extern const char *const profile_merge_names[MERGE_COUNT];
extern const char *const project_mode_names[PROJECT_MODE_COUNT];
extern const char *const home_mode_names[HOME_MODE_COUNT];
extern const char *const undo_mode_names[UNDO_MODE_COUNT];
extern const char *const mount_mode_names[2];
extern const char *const terminal_mode_names[TERMINAL_MODE_COUNT];
extern const char *const terminal_class_names[TERMINAL_CLASS_COUNT];
extern const char *const confirm_names[CONFIRM_COUNT];
extern const char *const package_settings_names[PACKAGE_SETTINGS_COUNT];
