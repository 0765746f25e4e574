// SPDX-License-Identifier: MIT
// The tables behind the plan, each row with its reason. The probe walks them too, so that what is looked at
// and what is decided about are the same list.
#pragma once

#include "config/config.h"
#include "config/names.h"

#include <stdbool.h>
#include <stddef.h>

// What a network tier means: to the user, and to Claude.
struct tier_row {
	const char *meaning;
	const char *memory;
	bool own_namespace;
	bool attached;       // pasta, rules and a relay for names connect the namespace
	const char *warning; // NULL: none
};
extern const struct tier_row tier_table[NETWORK_TIER_COUNT];

// Addresses that are not the internet: the tier inet refuses them.
struct refused_range {
	const char *range;
	const char *why;
};
extern const struct refused_range refused_ranges[];
extern const size_t refused_range_count;

// A host path that the box may see, read-only, when it exists.
struct system_row {
	const char *path;
	const char *why;
	bool replaced; // by the store, in a box whose programs are there
	bool nested;   // only for a box that may make boxes
};
extern const struct system_row system_table[];
extern const size_t system_table_count;

// What scripts and programs count on to be at one path: in a box without /usr, links into the store.
struct store_link {
	const char *path;
	const char *program; // its name on the box's PATH; NULL: the loader of dynamic programs
};
extern const struct store_link store_links[];
extern const size_t store_link_count;

// Covered, read-only, when root starts the box: the kernel lets root's number write there in any namespace.
extern const struct system_row root_table[];
extern const size_t root_table_count;

// Covered in every box that makes no user namespaces (a box in it could not mount /proc below such a cover).
extern const struct system_row hidden_table[];
extern const size_t hidden_table_count;

// CA bundles, best first.
extern const char *const ca_bundles[];
extern const size_t ca_bundle_count;

// Variables that name a CA bundle; the box sets them when the host does not.
extern const char *const ca_variables[];
extern const size_t ca_variable_count;

#define NIX_STORE "/nix/store"

// A build that the daemon runs has the host's network: only a box that has it too gets the socket.
#define NIX_DAEMON   "/nix/var/nix/daemon-socket"
#define NIX_REGISTRY "/etc/nix/registry.json"

#define RESOLVER_FILE "/etc/resolv.conf"

// podman does not start without the first, so where that is, podman may be. The second is made.
#define CONTAINERS_POLICY  "/etc/containers/policy.json"
#define CONTAINERS_STORAGE "/etc/containers/storage.conf"

// Directories that cannot be a project, although no secret has a fixed name in them.
struct refused_row {
	const char *path;
	bool inside; // nothing below it can be one either
	const char *what;
};
extern const struct refused_row refused_projects[];
extern const size_t refused_project_count;

// Variables of the host that pass when they are set; a trailing '*' stands for any ending.
extern const struct variable_row allowed_variables[];
extern const size_t allowed_variable_count;

// What comes along, read-only, from the user's own Claude directory.
struct user_claude_row {
	const char *name;
	const char *why;
};
extern const struct user_claude_row user_claude_table[];
extern const size_t user_claude_table_count;

// Search path of a box on an ordinary distribution, for directories that exist.
extern const char *const system_path[];
extern const size_t system_path_count;
