// SPDX-License-Identifier: MIT
// Removes secrets from JSON: the user's settings, configuration of plugins, company policy.
#pragma once

#include "base/arena.h"
#include "base/json.h"

// How the strings of a file are judged.
enum clean_mode {
	CLEAN_DATA,          // by token shapes and names: data of any kind
	CLEAN_CONFIGURATION, // as commands and HTTP headers too: settings of Claude and MCP servers
};

// Removes secrets at any depth of an object, and adds the path of each removed part, such as
// "permissions.allow[2]". A path never contains a part of a secret.
void clean_json(struct arena *arena, json_t *object, enum clean_mode mode, strings *removed);

// Removes from company policy the settings whose commands print credentials: they are of no use in
// a box, and may contain what they print.
void clean_policy_helpers(struct arena *arena, json_t *object, strings *removed);

// Returns why a text, which belongs to a member of this name (NULL: none), counts as a secret; NULL
// if it does not.
const char *clean_judge(enum clean_mode mode, const char *name, const char *text);
