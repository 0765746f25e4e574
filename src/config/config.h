// SPDX-License-Identifier: MIT
// The configuration: what the command line and the profiles ask for, merged.
#pragma once

#include "base/arena.h"
#include "config/limits.h"

#include <stdbool.h>

enum network_tier {
	NETWORK_FULL,
	NETWORK_INET,
	NETWORK_NONE,
	NETWORK_TIER_COUNT,
};

enum action {
	ACTION_LAUNCH,
	ACTION_DRY_RUN,
	ACTION_CHECK,
	ACTION_PROVE,
	ACTION_INSTANCES,
	ACTION_GC,
	ACTION_HELP,
	ACTION_VERSION,
};

enum output {
	OUTPUT_TEXT,
	OUTPUT_JSON,
};

// What runs in the box.
enum payload {
	PAYLOAD_CLAUDE,
	PAYLOAD_SHELL,
	PAYLOAD_EXEC,
};

struct config_port {
	unsigned int number;
	const char *origin;
};
typedef VEC(struct config_port) ports;
enum { MOST_PORTS = 16 };

// Where in a profile something stands: what is wrong with it, only the machine may show.
struct profile_place;

// In all of these `origin` says who asked: "--mount-ro", "profile work"; `place` is NULL when it was no profile.
struct config_mount {
	const char *source;      // as it was written: "~/x", "x", "/x"
	const char *destination; // the same; NULL: where it is on the host
	bool writable;
	const char *origin;
	const struct profile_place *place;
};

struct config_variable {
	const char *name;
	const char *value; // NULL: the host's, if it is set there
	const char *origin;
};

struct config_package {
	const char *name;
	const char *origin;
	const struct profile_place *place;
};

struct config_limit {
	unsigned long long value; // 0: none
	const char *origin;
};

// When the question before the start is asked.
enum confirm {
	CONFIRM_ALWAYS,
	CONFIRM_CHANGED, // only when the box is not what was last approved
	CONFIRM_NEVER,
	CONFIRM_COUNT,
};

// What stands between the agent and the user's terminal.
enum terminal_mode {
	TERMINAL_FILTERED, // a terminal of its own; output passes the terminal filter (default)
	TERMINAL_DIRECT,   // the user's own terminal
	TERMINAL_MODE_COUNT,
};

struct config {
	enum action action;
	enum output output;
	enum payload payload;
	enum network_tier network;
	ports host_ports;      // of the host's loopback, for the box
	ports published_ports; // of the box, for the host's loopback
	int report;            // descriptor for the report at the end, 0: none
	const char *profile;   // asked for by name, NULL: none
	const char *profile_description;
	const char *network_by; // who chose the tier
	VEC(struct config_mount) mounts;
	VEC(struct config_variable) variables;
	VEC(struct config_package) packages;
	const char *nixpkgs; // where they come from, NULL: the registry's nixpkgs
	const struct profile_place *nixpkgs_place;
	bool nix_daemon; // its socket is wanted although the box has a network of its own
	bool project_read_only;
	enum terminal_mode terminal;
	bool nested;           // user namespaces and mounts within the box
	const char *nested_by; // who asked for them
	struct config_limit limits[LIMIT_COUNT];
	enum confirm confirm;
	bool yes;
	bool list_only;        // --gc with --dry-run
	strings arguments;     // for claude, for the shell, or the command of --exec
	const char *extra_env; // CLAUDEBOX_EXTRA_ENV as it came
};
