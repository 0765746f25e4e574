// SPDX-License-Identifier: MIT
// The table of claudebox's options.
#pragma once

#include "config/config.h"

#include <stddef.h>

enum option_argument {
	ARGUMENT_NONE,
	ARGUMENT_REQUIRED, // --name VALUE or --name=VALUE
	ARGUMENT_JSON,     // --name or --name=json
	ARGUMENT_GC,       // --name, --name=home or --name=snapshots
	ARGUMENT_FULL,     // --name or --name=full, which mean the same
	ARGUMENT_STAT,     // --name or --name=stat, and paths
	ARGUMENT_COMMITS,  // --name or --name=commits, and paths
	ARGUMENT_WORD,     // --name or --name=WORD; option_word() is the list of fixed words
	ARGUMENT_REST,     // all words that follow
};

enum option_id {
	OPTION_YES,
	OPTION_PROFILE,
	OPTION_NETWORK,
	OPTION_HOST_PORT,
	OPTION_PUBLISH,
	OPTION_REPORT,
	OPTION_MOUNT_RO,
	OPTION_MOUNT_RW,
	OPTION_PATH,
	OPTION_UNPROTECT,
	OPTION_SHELL,
	OPTION_EXEC,
	OPTION_DRY_RUN,
	OPTION_CHECK,
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_PROVE,
	OPTION_INSTANCES,
	OPTION_GC,
	OPTION_INSTANCE,
	OPTION_IMPORT_CONVERSATIONS,
	OPTION_AUDIT,
	OPTION_QUIET,
	OPTION_QUARANTINE,
	OPTION_DIFF,
	OPTION_UNDO,
	OPTION_LAST_REPORT,
};

struct option_row {
	enum option_id id;
	char letter; // 0: none
	const char *name;
	enum option_argument argument;
	const char *value_name;
	const char *help;
};

extern const struct option_row option_table[];
extern const size_t option_table_count;
extern const char *const network_tier_names[NETWORK_TIER_COUNT];

// Returns the value that an option with an optional value accepts, or several with a blank between
// them; NULL: it is another option.
const char *option_word(const struct option_row *row);

// Returns the row that a word names, or NULL, and the value after '=', or NULL.
const struct option_row *option_find(const char *word, const char **ret_value);
