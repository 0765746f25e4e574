// SPDX-License-Identifier: MIT
// The configuration: the command line and the profiles, merged.
#pragma once

#include "base/arena.h"
#include "config/limits.h"
#include "config/origin.h"
#include "config/toolchains.h"

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
	ACTION_QUARANTINE,
	ACTION_DIFF,
	ACTION_UNDO,
	ACTION_REPORT,
	ACTION_HELP,
	ACTION_VERSION,
};

// Values of --quarantine.
#define QUARANTINE_JSON  "json"
#define QUARANTINE_CLEAR "clear"

enum output {
	OUTPUT_TEXT,
	OUTPUT_JSON,
};

// The program that runs in the box.
enum payload {
	PAYLOAD_CLAUDE,
	PAYLOAD_SHELL,
	PAYLOAD_EXEC,
};

// What is shown before the start.
enum audit_form {
	AUDIT_AS_NEEDED, // in short where there is a question, otherwise changes and warnings
	AUDIT_FULL,
	AUDIT_QUIET, // errors, and the short form where there is a question
};

struct config_port {
	unsigned int number;
	struct origin origin;
};
typedef VEC(struct config_port) ports;
enum { MOST_PORTS = 16 };

struct config_mount {
	const char *source;      // as written: "~/x", "x", "/x"
	const char *destination; // as written; NULL: the same path as on the host
	bool writable;
	bool on_path; // a directory of programs, first in PATH
	struct origin origin;
};

struct config_variable {
	const char *name;
	const char *value; // NULL: the host's value, if the host has the variable
	struct origin origin;
};

// A path of the project that the guard does not protect.
struct config_unprotect {
	const char *path; // relative to the project, or absolute
	struct origin origin;
};

struct config_package {
	const char *name;
	struct origin origin;
};

struct config_limit {
	unsigned long long value; // 0: no limit
	struct origin origin;
};

// When claudebox asks for confirmation before the start.
enum confirm {
	CONFIRM_ALWAYS,
	CONFIRM_CHANGED, // only if the box differs from the last approved one
	CONFIRM_NEVER,
	CONFIRM_COUNT,
};

// The terminal that the agent gets.
enum terminal_mode {
	TERMINAL_FILTERED, // a terminal of the box's own, behind the terminal filter (default)
	TERMINAL_DIRECT,   // the user's own terminal
	TERMINAL_MODE_COUNT,
};

// What the terminal filter passes besides the output that a screen needs.
enum terminal_class {
	TERMINAL_TITLE,
	TERMINAL_NOTIFY,
	TERMINAL_CLIPBOARD,
	TERMINAL_IMAGES,
	TERMINAL_CLASS_COUNT,
};
// Sets of them, as bits.
#define TERMINAL_BIT(class)    (1U << (class))
#define TERMINAL_ALLOW_DEFAULT (TERMINAL_BIT(TERMINAL_TITLE) | TERMINAL_BIT(TERMINAL_NOTIFY))

enum project_mode {
	PROJECT_READ_WRITE,
	PROJECT_READ_ONLY,
	PROJECT_MODE_COUNT,
};

// The settings of package managers in the box.
enum package_settings {
	PACKAGE_SETTINGS_AUTO, // those of the host without credentials (default)
	PACKAGE_SETTINGS_NONE,
	PACKAGE_SETTINGS_COUNT,
};

// Whether what a session changes can be taken back.
enum undo_mode {
	UNDO_AUTO, // if the project can be saved in time (default)
	UNDO_OFF,
	UNDO_MODE_COUNT,
};

// The home directory of the box.
enum home_mode {
	HOME_PROJECT, // kept in the instance
	HOME_SHARED,  // kept, one for the boxes of all projects
	HOME_NONE,    // empty, in memory
	HOME_MODE_COUNT,
};

struct config {
	enum action action;
	enum output output;
	enum payload payload;
	enum audit_form audit;
	int report; // descriptor for the report at the end, 0: none
	bool yes;
	bool list_only;  // --gc or --undo with --dry-run
	bool homes;      // --gc=home
	bool snapshots;  // --gc=snapshots
	bool statistics; // --diff=stat
	bool commits;    // --undo=commits
	bool import_conversations;
	// of --quarantine: QUARANTINE_CLEAR, the number of an item, or its id; NULL: the list
	const char *quarantine;
	const char *instance; // of --gc and --instances: an id, or the project's directory; NULL: all

	// Settings of the profile schema. Zero is the default of each: other values are shown.
	bool nix_daemon;   // mount the Nix daemon's socket in a tier with a network namespace too
	bool nested;       // allow user namespaces and mounts in the box
	bool undo_ignored; // snapshots have the files that git ignores too
	enum undo_mode undo;
	enum network_tier network;
	enum project_mode project;
	enum home_mode home;
	enum terminal_mode terminal;
	unsigned int terminal_allow; // what differs from TERMINAL_ALLOW_DEFAULT
	unsigned int toolchains;     // what differs from TOOLCHAINS_ALL
	enum confirm confirm;
	enum package_settings package_settings;
	const char *nixpkgs; // the flake of the packages, NULL: nixpkgs of the registry
	// The origin of each setting, NAME_origin.
	struct origin nix_daemon_origin;
	struct origin nested_origin;
	struct origin undo_ignored_origin;
	struct origin undo_origin;
	struct origin network_origin;
	struct origin project_origin;
	struct origin home_origin;
	struct origin terminal_origin;
	struct origin terminal_allow_origin;
	struct origin toolchains_origin;
	struct origin confirm_origin;
	struct origin package_settings_origin;
	struct origin nixpkgs_origin;

	const char *profile; // the name of the profile, NULL: none
	const char *profile_description;
	const char *profile_directory; // the pattern that chose the profile, NULL: another way
	ports host_ports;              // of the host's loopback, for the box
	ports published_ports;         // of the box, for the host's loopback
	VEC(struct config_mount) mounts;
	VEC(struct config_variable) variables;
	VEC(struct config_package) packages;
	VEC(struct config_unprotect) unprotect;
	struct config_limit limits[LIMIT_KEY_COUNT];
	strings arguments;     // for claude, for the shell, the command of --exec, or paths
	const char *extra_env; // the value of CLAUDEBOX_EXTRA_ENV
};

// Returns the set of terminal classes that pass the terminal filter.
static inline unsigned int config_terminal_allowed(const struct config *config)
{
	return TERMINAL_ALLOW_DEFAULT ^ config->terminal_allow;
}

// Returns the set of toolchain managers that come along.
static inline unsigned int config_toolchains(const struct config *config)
{
	return TOOLCHAINS_ALL ^ config->toolchains;
}
