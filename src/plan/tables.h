// SPDX-License-Identifier: MIT
// The tables of the plan, each row with its reason. The probe reads them too, so that it examines
// exactly the paths that the plan decides about.
#pragma once

#include "config/config.h"
#include "config/names.h"

#include <stdbool.h>
#include <stddef.h>

// The meaning of a network tier.
struct tier_row {
	const char *meaning;      // for the user
	const char *instructions; // for Claude
	bool own_namespace;
	bool attached;       // pasta, nft rules and the DNS relay connect the namespace
	const char *warning; // NULL: none
};
extern const struct tier_row tier_table[NETWORK_TIER_COUNT];

// Addresses outside the internet, which the tier inet refuses.
struct refused_range {
	const char *range;
	const char *why;
};
extern const struct refused_range refused_ranges[];
extern const size_t refused_range_count;

// A host path that the box gets read-only, if it exists.
struct system_row {
	const char *path;
	const char *why;
	bool replaced; // by the Nix store, in a box whose programs are there
	bool nested;   // only for a box that may create namespaces
};
extern const struct system_row system_table[];
extern const size_t system_table_count;

// Paths that scripts and programs expect; in a box without /usr they are links into the store.
struct store_link {
	const char *path;
	const char *program; // its name on the box's PATH; NULL: the loader of dynamic programs
};
extern const struct store_link store_links[];
extern const size_t store_link_count;

// Paths that are covered, read-only, if root starts the box: the kernel lets root's user id write
// there in any namespace.
extern const struct system_row root_table[];
extern const size_t root_table_count;

// Paths that are covered in every box without user namespaces. With such a cover, a nested
// sandbox could not mount /proc.
extern const struct system_row hidden_table[];
extern const size_t hidden_table_count;

// CA bundles, best first.
extern const char *const ca_bundles[];
extern const size_t ca_bundle_count;

#define NIX_STORE "/nix/store"

// Builds of the daemon have the host's network, so only a box with that network gets the socket.
#define NIX_DAEMON   "/nix/var/nix/daemon-socket"
#define NIX_REGISTRY "/etc/nix/registry.json"

#define RESOLVER_FILE "/etc/resolv.conf"

// podman does not start without the first, so its presence indicates podman. The second is
// generated.
#define CONTAINERS_POLICY  "/etc/containers/policy.json"
#define CONTAINERS_STORAGE "/etc/containers/storage.conf"

// Directories that cannot be a project, besides those with secrets.
struct refused_row {
	const char *path;
	bool inside; // no directory below it can be one either
	const char *what;
};
extern const struct refused_row refused_projects[];
extern const size_t refused_project_count;

// The allowlist: host variables that the box gets, besides those of connections
// (src/plan/connections/tables.c).
extern const struct variable_row allowed_variables[];
extern const size_t allowed_variable_count;

// Entries of the user's own Claude directory that the box gets, read-only.
struct user_claude_row {
	const char *name;
	const char *why;
};
extern const struct user_claude_row user_claude_table[];
extern const size_t user_claude_table_count;

// PATH of a box on an ordinary distribution, as far as the directories exist.
extern const char *const system_path[];
extern const size_t system_path_count;
