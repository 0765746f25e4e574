// SPDX-License-Identifier: MIT
// The tables of keys, and the tests of their strings.
#include "config/profile/schema.h"

#include "base/arena.h"
#include "base/pattern.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/names.h"
#include "config/options/table.h"
#include "config/profile/lists.h"
#include "config/toolchains.h"

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
	MOST_DIRECTORIES = 100,
};

const char *const profile_kind_names[PROFILE_KIND_COUNT] = {
	[PROFILE_STRING] = "a string",           [PROFILE_CHOICE] = "a string",
	[PROFILE_BOOLEAN] = "true or false",     [PROFILE_PORTS] = "a list of ports",
	[PROFILE_STRINGS] = "a list of strings", [PROFILE_VARIABLES] = "an object of strings",
	[PROFILE_OBJECTS] = "a list of objects", [PROFILE_OBJECT] = "an object",
	[PROFILE_NUMBER] = "a number",           [PROFILE_CHOICES] = "a list of strings",
};
const char *const profile_merge_names[MERGE_COUNT] = {
	[MERGE_OWN] = "not inherited",
	[MERGE_REPLACE] = "replaces the value of the base",
	[MERGE_ADD] = "adds to the list of the base",
	[MERGE_BY_NAME] = "adds to the entries of the base, and replaces those with the same name",
};
const char *const project_mode_names[PROJECT_MODE_COUNT] = {
	[PROJECT_READ_WRITE] = "read-write",
	[PROJECT_READ_ONLY] = "read-only",
};
const char *const home_mode_names[HOME_MODE_COUNT] = {
	[HOME_PROJECT] = "project",
	[HOME_SHARED] = "shared",
	[HOME_NONE] = "none",
};
const char *const undo_mode_names[UNDO_MODE_COUNT] = {
	[UNDO_AUTO] = "auto",
	[UNDO_OFF] = "off",
};
const char *const mount_mode_names[2] = { "ro", "rw" };
const char *const terminal_mode_names[TERMINAL_MODE_COUNT] = {
	[TERMINAL_FILTERED] = "filtered",
	[TERMINAL_DIRECT] = "direct",
};
const char *const terminal_class_names[TERMINAL_CLASS_COUNT] = {
	[TERMINAL_TITLE] = "title",
	[TERMINAL_NOTIFY] = "notify",
	[TERMINAL_CLIPBOARD] = "clipboard",
	[TERMINAL_IMAGES] = "images",
};
const char *const toolchain_names[TOOLCHAIN_COUNT] = {
	[TOOLCHAIN_NVM] = "nvm",     [TOOLCHAIN_FNM] = "fnm",
	[TOOLCHAIN_VOLTA] = "volta", [TOOLCHAIN_NPM] = "npm",
	[TOOLCHAIN_PNPM] = "pnpm",   [TOOLCHAIN_BUN] = "bun",
	[TOOLCHAIN_DENO] = "deno",   [TOOLCHAIN_CARGO] = "cargo",
	[TOOLCHAIN_PYENV] = "pyenv", [TOOLCHAIN_UV] = "uv",
	[TOOLCHAIN_PIPX] = "pipx",   [TOOLCHAIN_CONDA] = "conda",
	[TOOLCHAIN_RBENV] = "rbenv", [TOOLCHAIN_SDKMAN] = "sdkman",
	[TOOLCHAIN_GO] = "go",       [TOOLCHAIN_ASDF] = "asdf",
	[TOOLCHAIN_MISE] = "mise",   [TOOLCHAIN_HOMEBREW] = "homebrew",
	[TOOLCHAIN_OPT] = "opt",
};
const char *const confirm_names[CONFIRM_COUNT] = {
	[CONFIRM_ALWAYS] = "always",
	[CONFIRM_CHANGED] = "changed",
	[CONFIRM_NEVER] = "never",
};

const char *const package_settings_names[PACKAGE_SETTINGS_COUNT] = {
	[PACKAGE_SETTINGS_AUTO] = "auto",
	[PACKAGE_SETTINGS_NONE] = "none",
};

static const char *profile_problem(struct arena *arena, const char *text)
{
	(void)arena;
	return profile_name_valid(text) ? NULL : "is not a valid profile name";
}

static const char *variable_problem(struct arena *arena, const char *text)
{
	const struct variable_row *row;

	if (!env_name_valid(text, strlen(text)))
		return "is not a valid variable name";
	row = variable_row_find(reserved_variables, reserved_variable_count, text);
	return row ? arena_printf(arena, "cannot be set: %s", row->why) : NULL;
}

static const char *package_problem(struct arena *arena, const char *text)
{
	(void)arena;
	return package_name_valid(text) ? NULL : "is not a valid package name";
}

static const char *path_problem(struct arena *arena, const char *text)
{
	(void)arena;
	if (!*text)
		return "is not a path";
	if (text[0] == '~' && text[1] && text[1] != '/')
		return "names the home directory of another user: write the full path";
	return NULL;
}

static const char *directory_problem(struct arena *arena, const char *text)
{
	(void)arena;
	return pattern_problem(text);
}

// nix would look for a relative reference in the working directory, where the repository chooses
// the flake and not the user.
static const char *reference_problem(struct arena *arena, const char *text)
{
	(void)arena;
	switch (flake_reference_check(text)) {
	case FLAKE_INVALID:
		return "is not a flake reference";
	case FLAKE_RELATIVE:
		return "is relative: write the full path";
	case FLAKE_VALID:
		break;
	}
	return NULL;
}

static const char *memory_problem(struct arena *arena, const char *text)
{
	unsigned long long value;

	return limit_parse(arena, LIMIT_MEMORY, text, &value);
}

static const char *home_problem(struct arena *arena, const char *text)
{
	unsigned long long value;

	return limit_parse(arena, LIMIT_HOME, text, &value);
}

static const char *snapshots_problem(struct arena *arena, const char *text)
{
	unsigned long long value;

	return limit_parse(arena, LIMIT_SNAPSHOTS, text, &value);
}

static const char *cpu_problem(struct arena *arena, const char *text)
{
	unsigned long long value;

	return limit_parse(arena, LIMIT_CPU, text, &value);
}

#define ENTRIES(rows)  .entry = (rows), .entry_count = ARRAY_SIZE(rows)
#define CHOICES(names) .choices = (names), .choice_count = ARRAY_SIZE(names)
#define STORED(field) \
	.value = offsetof(struct config, field), .value_size = sizeof(((struct config *)0)->field)
// A scalar with its origin in `field`_origin.
#define SETTING(field) STORED(field), .origin = offsetof(struct config, field##_origin)
// A setting that the audit, the approval and the dry run show by its effect, if at all.
#define SHOWN_BY_EFFECT .shown_by_code = SETTING_IN_AUDIT | SETTING_IN_APPROVAL | SETTING_IN_DRY_RUN

const struct profile_row profile_mount_table[] = {
	{ PROFILE_STRING, "host", "\"~/notes\"",
	  "The file or directory on the host. *~/* is your home directory; a relative path starts "
	  "in the project.",
	  MERGE_OWN, .required = true, .longest = LONGEST_PATH, .problem = path_problem },
	{ PROFILE_STRING, "sandbox", "\"~/notes\"",
	  "The path in the box. Default: the path on the host.", MERGE_OWN, .longest = LONGEST_PATH,
	  .problem = path_problem },
	{ PROFILE_CHOICE, "mode", "\"ro\"", "*ro*, the default, is read-only; *rw* is read-write.",
	  MERGE_OWN, CHOICES(mount_mode_names) },
};
const size_t profile_mount_table_count = ARRAY_SIZE(profile_mount_table);

const struct profile_row profile_limit_table[LIMIT_KEY_COUNT] = {
	{ PROFILE_STRING, "memory", "\"4G\"",
	  "The memory of the box, including its files in _/tmp_; K, M, G and T are powers of 1024. "
	  "The box does not swap. If the memory is used up, the kernel kills the process that uses "
	  "most of it, and the rest of the box continues.",
	  MERGE_OWN, .longest = LONGEST_LIMIT, .problem = memory_problem },
	{ PROFILE_NUMBER, "pids", "2000",
	  "The number of processes and threads in the box; the box cannot start more.", MERGE_OWN,
	  .range = &limit_table[LIMIT_PIDS] },
	{ PROFILE_STRING, "cpu", "\"200%\"",
	  "The processor time of the box; *100%* is one processor, *200%* is two, or half of four.",
	  MERGE_OWN, .longest = LONGEST_LIMIT, .problem = cpu_problem },
	{ PROFILE_STRING, "home", "\"10G\"",
	  "The size of a home that is kept. claudebox measures it when a box with this limit ends, "
	  "and warns before the next start if it is larger; the box can write all the same.",
	  MERGE_OWN, .longest = LONGEST_LIMIT, .problem = home_problem },
	{ PROFILE_STRING, "snapshots", "\"2G\"",
	  "The size of the snapshots of a project for *--diff* and *--undo*. When a session ends with "
	  "more, the snapshots of old sessions are removed; those of the last session stay.",
	  MERGE_OWN, .longest = LONGEST_LIMIT, .problem = snapshots_problem },
};

const struct profile_row profile_table[] = {
	{ PROFILE_STRING, "name", "\"work\"",
	  "The name of the profile. Optional; it must match the name of the file.", MERGE_OWN,
	  .longest = LONGEST_PROFILE_NAME, .problem = profile_problem },
	{ PROFILE_STRING, "description", "\"the customer's cloud, internet only\"",
	  "The purpose of the profile, in your words. It is shown before the start, and in lists "
	  "of profiles.",
	  MERGE_OWN, .longest = LONGEST_DESCRIPTION, STORED(profile_description) },
	{ PROFILE_STRING, "extends", "\"base\"",
	  "The profile that this one starts from, its base. See *EXTENDING A PROFILE*.", MERGE_OWN,
	  .longest = LONGEST_PROFILE_NAME, .problem = profile_problem },
	{ PROFILE_STRINGS, "directories", "[\"~/work/**\", \"/srv/*/site\"]",
	  "The directories in which this profile is chosen, if neither *--profile* nor "
	  "*CLAUDEBOX_PROFILE* chooses one. See *PROFILES BY DIRECTORY*.",
	  MERGE_OWN, .most = MOST_DIRECTORIES, .longest = LONGEST_PATH,
	  .problem = directory_problem },
	{ PROFILE_CHOICE, "network", "\"inet\"",
	  "*full*, the default, is the host's network; *inet* is the internet, without this "
	  "machine and its networks; *none* is no network. Overridden by *--network*.",
	  MERGE_REPLACE, CHOICES(network_tier_names), SETTING(network), SHOWN_BY_EFFECT },
	{ PROFILE_PORTS, "host_ports", "[5432]",
	  "TCP ports of the host's loopback that the box reaches in *inet*. *--host-port* adds to "
	  "them.",
	  MERGE_ADD, .most = MOST_PORTS, STORED(host_ports), .apply = profile_apply_ports },
	{ PROFILE_PORTS, "publish", "[3000, 8080]",
	  "TCP ports of the box that the host's loopback reaches in *inet*. Every user of the "
	  "machine can connect to them. *--publish* adds to them.",
	  MERGE_ADD, .most = MOST_PORTS, STORED(published_ports), .apply = profile_apply_ports },
	{ PROFILE_VARIABLES, "env", "{ \"AWS_PROFILE\": \"work\" }",
	  "Variables of the box, with their values. Do not write a secret into this file: name its "
	  "variable in *extra_env_passthrough* instead. Names that decide how the box works "
	  "(*PATH*, *HOME*, *LD_PRELOAD*, *BASH_ENV*, *CLAUDE_CONFIG_DIR* ...) are refused.",
	  MERGE_BY_NAME, .most = MOST_VARIABLES, .longest = LONGEST_VALUE,
	  .problem = variable_problem, .apply = profile_apply_variables },
	{ PROFILE_STRINGS, "extra_env_passthrough", "[\"MY_ORG_TOKEN\"]",
	  "Names of host variables that the box gets, if the host has them; the audit names the "
	  "others. *CLAUDEBOX_EXTRA_ENV* adds to them. Such a variable may also come from _env_ of your Claude settings.",
	  MERGE_BY_NAME, .most = MOST_VARIABLES, .longest = LONGEST_VARIABLE_NAME,
	  .names_variables = true, .problem = variable_problem, .apply = profile_apply_names },
	{ PROFILE_OBJECTS, "mounts", "[{ \"host\": \"~/notes\", \"mode\": \"rw\" }]",
	  "More files and directories of the host; the name of a mount is its path in the box. "
	  "*--mount-ro* and *--mount-rw* add to them and replace a mount with the same path. A "
	  "secret (_~/.ssh_, _~/.aws_ ...) is mounted only if its exact path is given, and shown "
	  "in red.",
	  MERGE_BY_NAME, .most = MOST_MOUNTS, ENTRIES(profile_mount_table),
	  .apply = profile_apply_mounts },
	{ PROFILE_STRINGS, "path", "[\"~/bin\"]",
	  "Directories of programs, mounted read-only at their own path and first in the *PATH* of "
	  "the box. *--path* adds to them.",
	  MERGE_ADD, .most = MOST_MOUNTS, .longest = LONGEST_PATH, .problem = path_problem,
	  .apply = profile_apply_path },
	{ PROFILE_STRINGS, "unprotect", "[\".vscode\"]",
	  "Paths of the project that the box may write although programs of the host execute or "
	  "trust them, shown in red. \"\\*\\*/.envrc\" is the name in every directory. A path that "
	  "is no protected place is an error. *--unprotect* adds to them. See _doc/guard.md_.",
	  MERGE_ADD, .most = MOST_MOUNTS, .longest = LONGEST_PATH,
	  .apply = profile_apply_unprotect },
	{ PROFILE_CHOICES, "toolchains", "[\"nvm\", \"cargo\"]",
	  "The toolchain managers whose programs come along: read-only, at the same path, and "
	  "without the secrets beside them. A manager is found by its variable (*NVM_DIR*, "
	  "*CARGO_HOME* ...) or by an entry of your *PATH* that leads into its directory; no "
	  "program is executed to find it. *\"auto\"*, the default, is all that are found, "
	  "*\"none\"* is none, and a list is those of it that are found. *opt* are programs in "
	  "_/opt_. The audit lists what comes along, what does not, and the option that brings it. "
	  "A new manager is a change of the box, a new version is none. See _doc/toolchains.md_.",
	  MERGE_REPLACE, CHOICES(toolchain_names), .most = TOOLCHAIN_COUNT, .all_choices = "auto",
	  .no_choices = "none", SETTING(toolchains), .shown_by_code = SETTING_IN_AUDIT },
	{ PROFILE_STRINGS, "packages", "[\"jq\", \"python3Packages.requests\"]",
	  "Packages of nixpkgs. The host builds or downloads them before the box starts; they come "
	  "first in the *PATH* of the box.",
	  MERGE_ADD, .most = MOST_PACKAGES, .longest = LONGEST_PACKAGE_NAME,
	  .problem = package_problem, .apply = profile_apply_packages },
	{ PROFILE_STRING, "nixpkgs", "\"github:NixOS/nixpkgs/nixos-24.11\"",
	  "The flake that provides *packages*; nix in the box uses it as _nixpkgs_ too. Default: "
	  "_nixpkgs_ of the registry.",
	  MERGE_REPLACE, .longest = LONGEST_REFERENCE, .problem = reference_problem,
	  SETTING(nixpkgs), SHOWN_BY_EFFECT },
	{ PROFILE_CHOICE, "package_settings", "\"none\"",
	  "*auto*, the default, generates the settings of package managers (npm, yarn, pip, uv, "
	  "cargo, Maven, gradle, go, gem, bundler, conda) from yours, without tokens and "
	  "passwords: private packages come from your registries. *none* generates none. See "
	  "_doc/package-settings.md_.",
	  MERGE_REPLACE, CHOICES(package_settings_names), SETTING(package_settings) },
	{ PROFILE_BOOLEAN, "nix_daemon", "true",
	  "Whether the box has the Nix daemon's socket in *inet* and *none* too. Builds and "
	  "downloads of the daemon use the host's network.",
	  MERGE_REPLACE, SETTING(nix_daemon), SHOWN_BY_EFFECT },
	{ PROFILE_BOOLEAN, "nested", "true",
	  "Whether programs in the box may create sandboxes of their own, with user namespaces "
	  "and mounts: Claude Code's own sandbox, Chromium's, podman or bubblewrap. By default "
	  "they may not; Claude Code's own sandbox is then switched off, and Chromium needs "
	  "_--no-sandbox_. *true* lets the agent reach more of the kernel, and is refused for "
	  "root. If the host has _/etc/containers/policy.json_, claudebox generates settings "
	  "with which podman works in the box, with *crun*: containers have the box's network, "
	  "one user (their root, who is you) and no cgroups. Images are kept in memory, by "
	  "overlay from Linux 6.6 on and otherwise by vfs (_STORAGE_DRIVER_ in *env* overrides "
	  "it).",
	  MERGE_REPLACE, SETTING(nested), .shown_by_code = SETTING_IN_AUDIT | SETTING_IN_DRY_RUN },
	{ PROFILE_CHOICE, "project", "\"read-only\"",
	  "Whether the box may change the project. Default: *read-write*.", MERGE_REPLACE,
	  CHOICES(project_mode_names), SETTING(project), SHOWN_BY_EFFECT },
	{ PROFILE_CHOICE, "home", "\"none\"",
	  "The home directory of the box. *project*, the default, is kept in the instance of the "
	  "project, and only boxes of this project see it. *shared* is kept, and is one for the "
	  "boxes of all projects that use it: each of them can change what the others run. *none* "
	  "is empty and in memory. See _doc/state.md_.",
	  MERGE_REPLACE, CHOICES(home_mode_names), SETTING(home), SHOWN_BY_EFFECT },
	{ PROFILE_CHOICE, "undo", "\"off\"",
	  "Whether claudebox saves the project before a session, so that *--diff* shows what the "
	  "session changed and *--undo* takes it back. *auto*, the default, does if that is "
	  "possible in time. The snapshots of the last ten sessions are kept in the instance, "
	  "fewer if they are larger than *snapshots* in *limits*. See "
	  "_doc/undo.md_.",
	  MERGE_REPLACE, CHOICES(undo_mode_names), SETTING(undo),
	  .shown_by_code = SETTING_IN_APPROVAL },
	{ PROFILE_BOOLEAN, "undo_ignored", "true",
	  "Whether snapshots have the files that git ignores too, such as dependencies and build "
	  "results. They take more time and space.",
	  MERGE_REPLACE, SETTING(undo_ignored), .shown_by_code = SETTING_IN_APPROVAL },
	{ PROFILE_CHOICE, "terminal", "\"direct\"",
	  "*filtered*, the default, gives the box a terminal of its own; only the output that a "
	  "screen needs, and what *terminal_allow* lists, reaches yours. *direct* gives "
	  "the box your terminal: the agent can then read what you type into your shell. See "
	  "_doc/terminal.md_.",
	  MERGE_REPLACE, CHOICES(terminal_mode_names), SETTING(terminal),
	  .shown_by_code = SETTING_IN_AUDIT | SETTING_IN_DRY_RUN },
	{ PROFILE_CHOICES, "terminal_allow", "[\"title\", \"notify\", \"clipboard\"]",
	  "What the box may do with your terminal besides drawing its screen. *title* sets the "
	  "title of the window, *notify* shows notifications and rings the bell; both are the "
	  "default, and their text is cleaned. *clipboard* writes your clipboard, so the agent "
	  "decides what you paste next; it never reads it. *images* shows images (sixel, kitty, "
	  "iTerm2). An empty list allows none.",
	  MERGE_REPLACE, CHOICES(terminal_class_names), .most = TERMINAL_CLASS_COUNT,
	  .default_choices = TERMINAL_ALLOW_DEFAULT, SETTING(terminal_allow),
	  .shown_by_code = SETTING_IN_AUDIT },
	{ PROFILE_OBJECT, "limits", "{ \"memory\": \"4G\", \"pids\": 2000, \"cpu\": \"200%\" }",
	  "Upper bounds on the resources of the box. *memory*, *pids* and *cpu* are set by a cgroup "
	  "(v2). claudebox creates the "
	  "cgroup where it is allowed to; otherwise *systemd-run* does, which takes about ten "
	  "milliseconds. If neither works, the box does not start; *claudebox --check* reports "
	  "it. Each limit is merged by its name.",
	  MERGE_BY_NAME, ENTRIES(profile_limit_table), .apply = profile_apply_limits },
	{ PROFILE_CHOICE, "confirm", "\"changed\"",
	  "When claudebox asks before the start: *always*, the default; *changed*, only if the box "
	  "has something that the one that you last approved for this project did not have (what "
	  "is gone is named); *never*. *--yes* suppresses the question.",
	  MERGE_REPLACE, CHOICES(confirm_names), SETTING(confirm), SHOWN_BY_EFFECT },
};
const size_t profile_table_count = ARRAY_SIZE(profile_table);
