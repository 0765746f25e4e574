// SPDX-License-Identifier: MIT
// Fills struct host: who and where we are, what the plan's tables name, what is installed.
#include "host/probe.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/instances.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "plan/tables.h"
#include "plan/upgrade.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

enum { TEXT_LIMIT = 1024 * 1024, ACCOUNT_LIMIT = 64 * 1024 * 1024 };

// More paths that the plan asks about, beyond its tables.
static const char *const other_files[] = {
	"/etc/NIXOS",
	"/etc/nix/nix.conf",
	"/bin/sh",
	"/usr/bin/env",
};
static const char *const shells[] = {
	"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/zsh", "/usr/bin/zsh",
};

static void probe_user(struct host *host, struct arena *arena)
{
	const struct passwd *account;
	const char *home = host_variable(host, "HOME");

	host->uid = getuid();
	host->gid = getgid();
	account = probe_account(host->uid);
	host->user = account ? arena_strdup(arena, account->pw_name)
			     : arena_printf(arena, "user%u", host->uid);
	if (!home || home[0] != '/')
		home = account ? account->pw_dir : "/";
	host->home = probe_follow(arena, home).real;
	host->account_home = account ? probe_follow(arena, account->pw_dir).real : host->home;
	host->state.root = path_join(arena, host->home, ".claudebox");
}

// Whoever owns it decides what is read from it, and replaces what is written there.
static bool check_home(const struct host *host, struct error *error)
{
	struct stat status;

	if (str_equal(host->home, "/")) {
		error_hint(error, "set HOME to your home directory");
		return error_set(error, "no home directory");
	}
	if (stat(host->home, &status) < 0 || probe_owner_trusted(host, status.st_uid))
		return true;
	error_hint(error, "set HOME to your own; with sudo: sudo -H");
	return error_set(error, "home directory '%s' belongs to someone else",
			 quote_display(error->arena, host->home, 0));
}

static void probe_project(struct host *host, struct arena *arena)
{
	char *here = getcwd(NULL, 0);
	struct stat status;

	host->project = here ? arena_strdup(arena, here) : NULL;
	free(here);
	if (!host->project || host->project[0] != '/')
		host->project_problem = "is gone: the working directory does not exist any more";
	else if (stat(host->project, &status) < 0)
		host->project_problem =
			arena_printf(arena, "cannot be looked at (%s)", strerror(errno));
	else if (!S_ISDIR(status.st_mode))
		host->project_problem = "is not a directory";
	else if (access(host->project, R_OK | X_OK) < 0)
		host->project_problem = "cannot be read";
	else
		host->project_id =
			(struct file_id){ .device = status.st_dev, .inode = status.st_ino };
}

static void add_file(struct host *host, struct arena *arena, const char *path)
{
	if (path && path[0] == '/' && !host_file(host, path))
		vec_push(arena, &host->files, probe_follow(arena, path));
}

// For what the kernel offers no other way to ask.
static bool at_least(const char *release, unsigned long major, unsigned long minor)
{
	char *rest;
	unsigned long found = strtoul(release, &rest, 10);

	return found > major ||
	       (found == major && *rest == '.' && strtoul(rest + 1, NULL, 10) >= minor);
}

static void add_secrets(struct host *host, struct arena *arena, const char *home)
{
	for (size_t i = 0; i < secret_table_count; i++) {
		const struct secret_row *row = &secret_table[i];
		const char *path = path_expand_home(arena, row->path, home);
		struct followed place = probe_follow(arena, path);

		vec_push(arena, &host->secrets,
			 (struct secret_place){
				 .path = path, .real = place.real, .what = row->what });
	}
}

static void probe_files(struct host *host, struct arena *arena)
{
	struct utsname system;

	for (size_t i = 0; i < system_table_count; i++)
		add_file(host, arena, system_table[i].path);
	for (size_t i = 0; i < ca_bundle_count; i++)
		add_file(host, arena, ca_bundles[i]);
	for (size_t i = 0; i < system_path_count; i++)
		add_file(host, arena, system_path[i]);
	for (size_t i = 0; i < ARRAY_SIZE(other_files); i++)
		add_file(host, arena, other_files[i]);
	for (size_t i = 0; i < root_table_count && host->uid == 0; i++)
		add_file(host, arena, root_table[i].path);
	for (size_t i = 0; i < hidden_table_count; i++)
		add_file(host, arena, hidden_table[i].path);
	for (size_t i = 0; i < ca_variable_count; i++)
		add_file(host, arena, host_variable(host, ca_variables[i]));
	add_secrets(host, arena, host->home);
	if (!str_equal(host->account_home, host->home) && access(host->account_home, F_OK) == 0)
		add_secrets(host, arena, host->account_home);
	if (uname(&system) == 0) {
		host->host_name = arena_strdup(arena, system.nodename);
		host->overlay_on_tmpfs = at_least(system.release, 6, 6);
	}
	host->hosts_text = probe_read(arena, "/etc/hosts", TEXT_LIMIT, READ_FOLLOW);
	host->nix_conf_text = probe_read(arena, "/etc/nix/nix.conf", TEXT_LIMIT, READ_FOLLOW);
	host->policy_memory = probe_read(arena, BOX_POLICY "/CLAUDE.md", TEXT_LIMIT, READ_FOLLOW);
}

const char *probe_text_after(struct arena *arena, const char *program, const char *wanted,
			     size_t count)
{
	CLEANUP_FD int fd = open(program, O_RDONLY | O_CLOEXEC);
	struct stat status;
	const char *found;
	const char *after = NULL;
	void *text;

	if (fd < 0 || fstat(fd, &status) < 0 || status.st_size == 0)
		return NULL;
	text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return NULL;
	found = memmem(text, (size_t)status.st_size, wanted, strlen(wanted));
	if (found) {
		size_t left = (size_t)status.st_size - (size_t)(found - (const char *)text);

		left -= strlen(wanted);
		after = arena_strndup(arena, found + strlen(wanted), count < left ? count : left);
	}
	munmap(text, (size_t)status.st_size);
	return after;
}

// bwrap's options are told by its own text: asking it costs a start, and versions mislead (backports).
static bool offers(struct arena *arena, const char *program, const char *option)
{
	return program && probe_text_after(arena, program, option, 0);
}

static void probe_tools(struct host *host, struct arena *arena)
{
	host->bwrap = probe_program(arena, host, "bwrap", &host->passed_over);
	host->bwrap_binds_descriptors = offers(arena, host->bwrap, "--ro-bind-fd");
	host->bwrap_disables_userns = offers(arena, host->bwrap, "--disable-userns");
	for (size_t i = 0; !host->store.only && !host->shell && i < ARRAY_SIZE(shells); i++)
		if (access(shells[i], X_OK) == 0)
			host->shell = shells[i];
	if (!host->shell)
		host->shell = probe_store_program(arena, host, "bash");
	if (!host->shell)
		host->shell = probe_store_program(arena, host, "zsh");
}

void probe_state_root(struct host *host, struct arena *arena)
{
	struct state_facts *state = &host->state;
	struct stat status;

	if (lstat(state->root, &status) < 0)
		return;
	state->root_is_link = S_ISLNK(status.st_mode);
	state->root_kind = S_ISDIR(status.st_mode) ? FILE_DIRECTORY : FILE_OTHER;
	state->root_foreign = status.st_uid != host->uid;
	state->root_mode = status.st_mode & 07777;
	if (state->root_kind == FILE_DIRECTORY)
		state->version = probe_read(
			arena, path_join(arena, state->root, STATE_VERSION_FILE), TEXT_LIMIT, 0);
}

static void probe_state(struct host *host, struct arena *arena)
{
	struct state_facts *state = &host->state;
	const char *instance;

	state->on = probe_file_system(arena, plan_canonical_root(arena, host));
	probe_state_root(host, arena);
	if (state->root_kind != FILE_DIRECTORY)
		return;
	instance = plan_instance_path(arena, host);
	state->instance_json = probe_read(arena, path_join(arena, instance, "claude/.claude.json"),
					  ACCOUNT_LIMIT, 0);
	state->settings_json = probe_read(arena, path_join(arena, instance, "claude/settings.json"),
					  TEXT_LIMIT, 0);
	state->approved = probe_read(
		arena, path_join(arena, instance, plan_approval_name(arena, host)), TEXT_LIMIT, 0);
	state->settings_base =
		probe_read(arena, path_join(arena, instance, "settings-base.json"), TEXT_LIMIT, 0);
	state->record =
		probe_read(arena, path_join(arena, instance, INSTANCE_RECORD), TEXT_LIMIT, 0);
}

static void add_user_entry(struct user_claude_facts *user, struct arena *arena, const char *name)
{
	const char *path = path_join(arena, user->directory, name);
	struct followed entry = probe_follow(arena, path);

	if (entry.kind == FILE_REGULAR || entry.kind == FILE_DIRECTORY)
		vec_push(arena, &user->entries, entry);
}

// Files beside CLAUDE.md that it may import, and scripts that settings may name.
static void add_user_extras(struct user_claude_facts *user, struct arena *arena)
{
	CLEANUP_DIR DIR *directory = opendir(user->directory);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		bool extra = str_ends(entry->d_name, ".md") || str_ends(entry->d_name, ".sh");

		if (extra && !str_equal(entry->d_name, "CLAUDE.md"))
			add_user_entry(user, arena, arena_strdup(arena, entry->d_name));
	}
}

static void probe_user_claude(struct host *host, struct arena *arena)
{
	struct user_claude_facts *user = &host->user_claude;
	const char *chosen = host_variable(host, "CLAUDE_CONFIG_DIR");
	bool elsewhere = chosen && chosen[0] == '/';
	strings words;

	user->directory = elsewhere ? chosen : path_join(arena, host->home, ".claude");
	user->real = probe_follow(arena, user->directory).real;
	if (access(user->directory, X_OK) == 0) {
		for (size_t i = 0; i < user_claude_table_count; i++)
			add_user_entry(user, arena, user_claude_table[i].name);
		add_user_extras(user, arena);
		user->settings_json = probe_read(arena,
						 path_join(arena, user->directory, "settings.json"),
						 TEXT_LIMIT, READ_FOLLOW);
		user->has_credentials =
			access(path_join(arena, user->directory, ".credentials.json"), F_OK) == 0;
	}
	if (!user->has_credentials && host->state.root_kind == FILE_DIRECTORY)
		host->state.signed_in =
			faccessat(AT_FDCWD,
				  path_join(arena, host->state.root,
					    "sign-in/" SIGN_IN_STORE "/.credentials.json"),
				  F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	// Preferences are taken once: a long file costs more to read than all the rest of the start.
	if (!host->state.instance_json)
		user->preferences_json = probe_read(
			arena,
			path_join(arena, elsewhere ? user->directory : host->home, ".claude.json"),
			ACCOUNT_LIMIT, READ_FOLLOW);
	words = settings_command_words(arena, user->settings_json);
	vec_each(word, &words) {
		bool found = probe_store_program(arena, host, *word) != NULL;

		for (size_t i = 0; !found && !host->store.only && i < system_path_count; i++)
			found = access(path_join(arena, system_path[i], *word), X_OK) == 0;
		if (found)
			vec_push(arena, &user->hook_commands_here, *word);
	}
}

// Which Landlock the kernel has; it says so to whoever asks for no rules at all.
static int landlock_version(void)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* …_VERSION */);

	return version > 0 ? (int)version : 0;
}

bool probe_owner(struct host *host, struct arena *arena, char *const *environment,
		 struct error *error)
{
	for (; *environment; environment++)
		if (strchr(*environment, '='))
			vec_push(arena, &host->environment, *environment);
	probe_user(host, arena);
	return check_home(host, error);
}

bool probe_host(struct host *host, struct arena *arena, char *const *environment,
		struct error *error)
{
	struct git_identity identity = { .pid = -1, .output = -1 };

	if (!probe_owner(host, arena, environment, error))
		return false;
	probe_project(host, arena);
	if (!host->project_problem) {
		probe_repository(&host->git, arena, host->project);
		probe_repository_around(host, arena);
		identity = probe_identity_start(&host->git, arena, host);
	}
	if (!host->project)
		host->project = ".";
	probe_files(host, arena);
	probe_store(host, arena);
	probe_tools(host, arena);
	host->landlock = landlock_version();
	probe_state(host, arena);
	probe_user_claude(host, arena);
	if (host->state.root_kind == FILE_DIRECTORY && !host->state.version)
		probe_flat_state(host, arena);
	probe_agent(&host->agent, arena, host);
	if (!host->project_problem) {
		probe_project_secrets(host, arena);
		probe_wishes(host, arena);
	}
	probe_identity_finish(&identity, &host->git, arena, host->user);
	return true;
}
