// SPDX-License-Identifier: MIT
// Claude's account file, .claude.json: the parts of the user's that come along, and those of the
// instance.
//
// A reduced account file has the format of .claude.json, with these members only: the preferences
// of preference_table, "mcpServers", and "projects" with "mcpServers" and "disabledMcpServers" of
// one project.
#pragma once

#include "base/arena.h"
#include "base/json.h"
#include "plan/claude/merge.h"

#include <stdbool.h>

// Returns the reduced form of an account file, for the project at `root`; "": the text is not a
// JSON object. NULL stands for a missing file, and is returned for it. A list of servers that
// cannot be read is null in the result.
const char *account_reduce(struct arena *arena, const char *text, const char *root);

// Return the servers of the user and of the project in an account file, NULL: none.
json_t *account_user_servers(const json_t *account);
json_t *account_local_servers(const json_t *account, const char *root);

// Merges a reduced account file of the host into the instance's. `base` is the host's of the last
// start, NULL: none.
void account_merge(enum merge_mode mode, json_t *instance, const json_t *base, const json_t *host,
		   const char *root);

// The account files of the last start's host (reduced and filtered), of the host (reduced) and of
// the instance.
struct account_texts {
	const char *base;
	const char *host;
	const char *box;
};
// Returns the base of the next merge: the filtered file of this start, and the servers that the box
// has removed although the host has them. A start whose network leaves such a server out would
// otherwise forget the removal. With MERGE_ADDED, the present base and what this start adds.
const char *account_next_base(struct arena *arena, enum merge_mode mode, const char *filtered,
			      const struct account_texts *texts, const char *root);

// Returns the name of a server with its scope: "user NAME", "local NAME".
const char *account_server_name(struct arena *arena, const char *name, bool local);
// Returns these names of all servers in an account file.
strings account_server_names(struct arena *arena, const json_t *account, const char *root);
