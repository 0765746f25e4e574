// SPDX-License-Identifier: MIT
// The tables of keys, and what a string in each of them may be.
#include "config/profile_schema.h"

#include "base/arena.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/names.h"
#include "config/options.h"

#include <string.h>

enum {
	LONGEST_DESCRIPTION = 200,
	LONGEST_VALUE = 16 * 1024,
	LONGEST_PATH = 4095,
	LONGEST_REFERENCE = 300,
	LONGEST_LIMIT = 20,
	MOST_VARIABLES = 100,
	MOST_MOUNTS = 64,
	MOST_PACKAGES = 100,
};

const char *const profile_kind_names[PROFILE_KIND_COUNT] = {
	[PROFILE_STRING] = "a string",           [PROFILE_CHOICE] = "a string",
	[PROFILE_BOOLEAN] = "true or false",     [PROFILE_PORTS] = "a list of ports",
	[PROFILE_STRINGS] = "a list of strings", [PROFILE_VARIABLES] = "an object of strings",
	[PROFILE_OBJECTS] = "a list of objects", [PROFILE_OBJECT] = "an object",
	[PROFILE_NUMBER] = "a number",
};
const char *const profile_merge_names[MERGE_COUNT] = {
	[MERGE_OWN] = "not handed on",
	[MERGE_REPLACE] = "replaces the base's",
	[MERGE_ADD] = "adds to the base's",
	[MERGE_BY_NAME] = "adds to the base's, and replaces what has the same name there",
};
const char *const project_mode_names[2] = { "read-write", "read-only" };
const char *const mount_mode_names[2] = { "ro", "rw" };
const char *const terminal_mode_names[TERMINAL_MODE_COUNT] = {
	[TERMINAL_FILTERED] = "filtered",
	[TERMINAL_DIRECT] = "direct",
};
const char *const confirm_names[CONFIRM_COUNT] = {
	[CONFIRM_ALWAYS] = "always",
	[CONFIRM_CHANGED] = "changed",
	[CONFIRM_NEVER] = "never",
};

static const char *profile_problem(struct arena *arena, const char *text)
{
	(void)arena;
	return profile_name_valid(text) ? NULL : "is not a profile's name";
}

static const char *variable_problem(struct arena *arena, const char *text)
{
	const struct variable_row *row;

	if (!env_name_valid(text, strlen(text)))
		return "is not a variable's name";
	row = variable_row_find(reserved_variables, reserved_variable_count, text);
	return row ? arena_printf(arena, "cannot be set: %s", row->why) : NULL;
}

static const char *package_problem(struct arena *arena, const char *text)
{
	(void)arena;
	return package_name_valid(text) ? NULL : "is not a package's name";
}

static const char *path_problem(struct arena *arena, const char *text)
{
	(void)arena;
	if (!*text)
		return "is not a path";
	if (text[0] == '~' && text[1] && text[1] != '/')
		return "is not a path that is understood: write it out, or begin with ~/";
	return NULL;
}

// What nix would look for in the working directory is the repository's choice, not the user's.
static const char *reference_problem(struct arena *arena, const char *text)
{
	(void)arena;
	switch (flake_reference_judge(text)) {
	case FLAKE_ODD:
		return "is not a flake reference";
	case FLAKE_RELATIVE:
		return "is relative: write the full path";
	case FLAKE_FINE:
		break;
	}
	return NULL;
}

static const char *memory_problem(struct arena *arena, const char *text)
{
	unsigned long long value;

	return limit_parse(arena, LIMIT_MEMORY, text, &value);
}

static const char *cpu_problem(struct arena *arena, const char *text)
{
	unsigned long long value;

	return limit_parse(arena, LIMIT_CPU, text, &value);
}

#define ENTRIES(rows)  .entry = (rows), .entry_count = ARRAY_SIZE(rows)
#define CHOICES(names) .choices = (names), .choice_count = ARRAY_SIZE(names)

const struct profile_row profile_mount_table[MOUNT_KEY_COUNT] = {
	{ MOUNT_KEY_HOST, PROFILE_STRING, "host", "\"~/notes\"",
	  "The file or directory of the host. *~/* is your home; a relative path starts in the "
	  "project.",
	  MERGE_OWN, .required = true, .longest = LONGEST_PATH, .problem = path_problem },
	{ MOUNT_KEY_SANDBOX, PROFILE_STRING, "sandbox", "\"~/notes\"",
	  "Where the box has it. Without it: where the host has it.", MERGE_OWN,
	  .longest = LONGEST_PATH, .problem = path_problem },
	{ MOUNT_KEY_MODE, PROFILE_CHOICE, "mode", "\"ro\"",
	  "*ro* is read-only, and what a mount without it is; *rw* is read-write.", MERGE_OWN,
	  CHOICES(mount_mode_names) },
};

const struct profile_row profile_limit_table[LIMIT_COUNT] = {
	{ LIMIT_MEMORY, PROFILE_STRING, "memory", "\"4G\"",
	  "How much memory the box has, with what its files in _/tmp_ take; K, M, G and T are 1024 "
	  "each of the one before. None of it is swapped out. Where it is used up, the kernel ends "
	  "the process that has most of it, and the rest of the box goes on.",
	  MERGE_OWN, .longest = LONGEST_LIMIT, .problem = memory_problem },
	{ LIMIT_PIDS, PROFILE_NUMBER, "pids", "2000",
	  "How many processes and threads there can be in the box at once; one more cannot be "
	  "started.",
	  MERGE_OWN, .range = &limit_table[LIMIT_PIDS] },
	{ LIMIT_CPU, PROFILE_STRING, "cpu", "\"200%\"",
	  "How much processor time the box gets; *100%* is one processor, *200%* two of them or "
	  "half of four.",
	  MERGE_OWN, .longest = LONGEST_LIMIT, .problem = cpu_problem },
};

const struct profile_row profile_table[KEY_COUNT] = {
	{ KEY_NAME, PROFILE_STRING, "name", "\"work\"",
	  "The profile's name. It may be left out; it must be the file's.", MERGE_OWN,
	  .longest = LONGEST_PROFILE_NAME, .problem = profile_problem },
	{ KEY_DESCRIPTION, PROFILE_STRING, "description", "\"the customer's cloud, internet only\"",
	  "What it is for, in your words. It is shown before the start, and where profiles are "
	  "listed.",
	  MERGE_OWN, .longest = LONGEST_DESCRIPTION },
	{ KEY_EXTENDS, PROFILE_STRING, "extends", "\"base\"",
	  "Another profile to start from, its base. See *ONE PROFILE ON ANOTHER*.", MERGE_OWN,
	  .longest = LONGEST_PROFILE_NAME, .problem = profile_problem },
	{ KEY_NETWORK, PROFILE_CHOICE, "network", "\"inet\"",
	  "*full* is the host's network, and what a box without it has; *inet* is the internet, "
	  "without this machine and its networks; *none* is nothing. As *--network*, which "
	  "overrides it.",
	  MERGE_REPLACE, CHOICES(network_tier_names) },
	{ KEY_HOST_PORTS, PROFILE_PORTS, "host_ports", "[5432]",
	  "TCP ports of the host's loopback that the box reaches in *inet*. As *--host-port*, "
	  "which adds to it.",
	  MERGE_ADD, .most = MOST_PORTS },
	{ KEY_PUBLISH, PROFILE_PORTS, "publish", "[3000, 8080]",
	  "TCP ports of the box that the host's loopback reaches in *inet*. As *--publish*, which "
	  "adds to it.",
	  MERGE_ADD, .most = MOST_PORTS },
	{ KEY_ENV, PROFILE_VARIABLES, "env", "{ \"AWS_PROFILE\": \"work\" }",
	  "Variables for the box, with their values. A secret does not belong in a file: name the "
	  "variable in *extra_env_passthrough* instead. Names that decide how the box works "
	  "(*PATH*, *HOME*, *LD_PRELOAD*, *BASH_ENV*, *CLAUDE_CONFIG_DIR* ...) are refused.",
	  MERGE_BY_NAME, .most = MOST_VARIABLES, .longest = LONGEST_VALUE,
	  .problem = variable_problem },
	{ KEY_PASSTHROUGH, PROFILE_STRINGS, "extra_env_passthrough", "[\"MY_ORG_TOKEN\"]",
	  "Names of host variables that pass into the box when they are set. As "
	  "*CLAUDEBOX_EXTRA_ENV*, which adds to it.",
	  MERGE_BY_NAME, .most = MOST_VARIABLES, .longest = LONGEST_VARIABLE_NAME,
	  .problem = variable_problem },
	{ KEY_MOUNTS, PROFILE_OBJECTS, "mounts", "[{ \"host\": \"~/notes\", \"mode\": \"rw\" }]",
	  "More files and directories of the host; a mount's name is its place in the box. As "
	  "*--mount-ro* and *--mount-rw*, which add to it and win where both have one place. A "
	  "secret (_~/.ssh_, _~/.aws_ ...) is mounted only when it is named exactly, and shown "
	  "in red.",
	  MERGE_BY_NAME, .most = MOST_MOUNTS, ENTRIES(profile_mount_table) },
	{ KEY_PACKAGES, PROFILE_STRINGS, "packages", "[\"jq\", \"python3Packages.requests\"]",
	  "Packages of nixpkgs. They are built or fetched on the host before the box starts, and "
	  "come first in its *PATH*.",
	  MERGE_ADD, .most = MOST_PACKAGES, .longest = LONGEST_PACKAGE_NAME,
	  .problem = package_problem },
	{ KEY_NIXPKGS, PROFILE_STRING, "nixpkgs", "\"github:NixOS/nixpkgs/nixos-24.11\"",
	  "The flake that *packages* come from, and that nix in the box then calls _nixpkgs_. "
	  "Without it: the registry's _nixpkgs_.",
	  MERGE_REPLACE, .longest = LONGEST_REFERENCE, .problem = reference_problem },
	{ KEY_NIX_DAEMON, PROFILE_BOOLEAN, "nix_daemon", "true",
	  "Whether the box has the Nix daemon's socket in *inet* and *none* too. What the daemon "
	  "builds and fetches has the host's network.",
	  MERGE_REPLACE },
	{ KEY_NESTED, PROFILE_BOOLEAN, "nested", "true",
	  "Whether programs in the box may make boxes of their own: user namespaces and mounts, for "
	  "Claude Code's own sandbox, Chromium's, podman or bubblewrap inside. Without it these are "
	  "off, and so is Claude Code's own sandbox setting; Chromium runs with _--no-sandbox_. It "
	  "puts more of the kernel within the agent's reach, and is not for root. Where the host has "
	  "_/etc/containers/policy.json_, settings are made with which podman works in a box, through "
	  "*crun*: containers have the box's network, one user (their root, who is you) and no "
	  "cgroups, and images are kept in memory, by overlay from Linux 6.6 on and else by vfs "
	  "(_STORAGE_DRIVER_ in *env* says otherwise).",
	  MERGE_REPLACE },
	{ KEY_PROJECT, PROFILE_CHOICE, "project", "\"read-only\"",
	  "What the box may do to the project; without it, *read-write*.", MERGE_REPLACE,
	  CHOICES(project_mode_names) },
	{ KEY_TERMINAL, PROFILE_CHOICE, "terminal", "\"direct\"",
	  "*filtered*, the default, gives the box a terminal of its own; only the output that a "
	  "screen needs reaches yours: no clipboard, no titles, no notifications. *direct* gives "
	  "the box your terminal: the agent can then read what you type into your shell. See "
	  "_doc/terminal.md_.",
	  MERGE_REPLACE, CHOICES(terminal_mode_names) },
	{ KEY_LIMITS, PROFILE_OBJECT, "limits",
	  "{ \"memory\": \"4G\", \"pids\": 2000, \"cpu\": \"200%\" }",
	  "What the box may use at most, by a cgroup (v2): one that claudebox makes where it may, or "
	  "one by *systemd-run*, which takes some ten milliseconds. Where neither can be had nothing "
	  "starts; *claudebox --check* tells. Each limit is a name of its own.",
	  MERGE_BY_NAME, ENTRIES(profile_limit_table) },
	{ KEY_CONFIRM, PROFILE_CHOICE, "confirm", "\"changed\"",
	  "When you are asked before the start: *always*, also without it; *changed*, only when "
	  "the box is not the one that you last approved for this project; *never*. *--yes* asks "
	  "nothing.",
	  MERGE_REPLACE, CHOICES(confirm_names) },
};
