// SPDX-License-Identifier: MIT
// Fills struct host: who and where we are, what the plan's tables name, what is installed.
#include "probe/probe.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/claude/settings.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "plan/state/upgrade.h"
#include "plan/tables.h"
#include "probe/agent.h"
#include "probe/file_system.h"
#include "probe/flat.h"
#include "probe/git/enclosing.h"
#include "probe/git/identity.h"
#include "probe/git/repository.h"
#include "probe/nix/requested.h"
#include "probe/nix/store.h"
#include "probe/programs.h"
#include "probe/project_secrets.h"
#include "sys/accounts.h"
#include "sys/cleanup.h"
#include "sys/files.h"

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

static void probe_user(struct facts *facts, struct arena *arena)
{
	const struct passwd *account;
	const char *home = facts_variable(facts, "HOME");

	facts->uid = getuid();
	facts->gid = getgid();
	account = account_by_uid(facts->uid);
	facts->user = account ? arena_strdup(arena, account->pw_name)
			      : arena_printf(arena, "user%u", facts->uid);
	if (!home || home[0] != '/')
		home = account ? account->pw_dir : "/";
	facts->home = file_follow(arena, home).real;
	facts->account_home = account ? file_follow(arena, account->pw_dir).real : facts->home;
	facts->state.root = path_join(arena, facts->home, ".claudebox");
}

// Whoever owns it decides what is read from it, and replaces what is written there.
static bool check_home(const struct facts *facts, struct error *error)
{
	struct stat status;

	if (str_equal(facts->home, "/")) {
		error_hint(error, "set HOME to your home directory");
		return error_set(error, "no home directory");
	}
	if (stat(facts->home, &status) < 0 || probe_owner_trusted(facts, status.st_uid))
		return true;
	error_hint(error, "set HOME to your own; with sudo: sudo -H");
	return error_set(error, "home directory '%s' belongs to someone else",
			 quote_display(error->arena, facts->home, 0));
}

static void probe_project(struct facts *facts, struct arena *arena)
{
	char *here = getcwd(NULL, 0);
	struct stat status;

	facts->project = here ? arena_strdup(arena, here) : NULL;
	free(here);
	if (!facts->project || facts->project[0] != '/')
		facts->project_problem = "is gone: the working directory does not exist any more";
	else if (stat(facts->project, &status) < 0)
		facts->project_problem =
			arena_printf(arena, "cannot be looked at (%s)", strerror(errno));
	else if (!S_ISDIR(status.st_mode))
		facts->project_problem = "is not a directory";
	else if (access(facts->project, R_OK | X_OK) < 0)
		facts->project_problem = "cannot be read";
	else
		facts->project_id =
			(struct file_id){ .device = status.st_dev, .inode = status.st_ino };
}

static void add_file(struct facts *facts, struct arena *arena, const char *path)
{
	if (path && path[0] == '/' && !facts_file(facts, path))
		vec_push(arena, &facts->files, file_follow(arena, path));
}

// For what the kernel offers no other way to ask.
static bool at_least(const char *release, unsigned long major, unsigned long minor)
{
	char *rest;
	unsigned long found = strtoul(release, &rest, 10);

	return found > major ||
	       (found == major && *rest == '.' && strtoul(rest + 1, NULL, 10) >= minor);
}

static void add_secrets(struct facts *facts, struct arena *arena, const char *home)
{
	for (size_t i = 0; i < secret_table_count; i++) {
		const struct secret_row *row = &secret_table[i];
		const char *path = path_expand_home(arena, row->path, home);
		struct followed place = file_follow(arena, path);

		vec_push(arena, &facts->secrets,
			 (struct secret_place){
				 .path = path, .real = place.real, .what = row->what });
	}
}

static void probe_files(struct facts *facts, struct arena *arena)
{
	struct utsname system;

	for (size_t i = 0; i < system_table_count; i++)
		add_file(facts, arena, system_table[i].path);
	for (size_t i = 0; i < ca_bundle_count; i++)
		add_file(facts, arena, ca_bundles[i]);
	for (size_t i = 0; i < system_path_count; i++)
		add_file(facts, arena, system_path[i]);
	for (size_t i = 0; i < ARRAY_SIZE(other_files); i++)
		add_file(facts, arena, other_files[i]);
	for (size_t i = 0; i < root_table_count && facts->uid == 0; i++)
		add_file(facts, arena, root_table[i].path);
	for (size_t i = 0; i < hidden_table_count; i++)
		add_file(facts, arena, hidden_table[i].path);
	for (size_t i = 0; i < ca_variable_count; i++)
		add_file(facts, arena, facts_variable(facts, ca_variables[i]));
	add_secrets(facts, arena, facts->home);
	if (!str_equal(facts->account_home, facts->home) && access(facts->account_home, F_OK) == 0)
		add_secrets(facts, arena, facts->account_home);
	if (uname(&system) == 0) {
		facts->hostname = arena_strdup(arena, system.nodename);
		facts->overlay_on_tmpfs = at_least(system.release, 6, 6);
	}
	facts->hosts_text = file_read(arena, "/etc/hosts", TEXT_LIMIT, READ_FOLLOW);
	facts->nix_conf_text = file_read(arena, "/etc/nix/nix.conf", TEXT_LIMIT, READ_FOLLOW);
	facts->policy_instructions =
		file_read(arena, BOX_POLICY "/CLAUDE.md", TEXT_LIMIT, READ_FOLLOW);
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

static void probe_tools(struct facts *facts, struct arena *arena)
{
	facts->bwrap = probe_program(arena, facts, "bwrap", &facts->passed_over);
	facts->bwrap_binds_descriptors = offers(arena, facts->bwrap, "--ro-bind-fd");
	facts->bwrap_disables_userns = offers(arena, facts->bwrap, "--disable-userns");
	for (size_t i = 0; !facts->store.only && !facts->shell && i < ARRAY_SIZE(shells); i++)
		if (access(shells[i], X_OK) == 0)
			facts->shell = shells[i];
	if (!facts->shell)
		facts->shell = probe_store_program(arena, facts, "bash");
	if (!facts->shell)
		facts->shell = probe_store_program(arena, facts, "zsh");
}

void probe_state_root(struct facts *facts, struct arena *arena)
{
	struct state_facts *state = &facts->state;
	struct stat status;

	if (lstat(state->root, &status) < 0)
		return;
	state->root_is_link = S_ISLNK(status.st_mode);
	state->root_kind = S_ISDIR(status.st_mode) ? FILE_DIRECTORY : FILE_OTHER;
	state->root_foreign = status.st_uid != facts->uid;
	state->root_mode = status.st_mode & 07777;
	if (state->root_kind == FILE_DIRECTORY)
		state->version = file_read(arena, path_join(arena, state->root, STATE_VERSION_FILE),
					   TEXT_LIMIT, 0);
}

static void probe_state(struct facts *facts, struct arena *arena)
{
	struct state_facts *state = &facts->state;
	const char *instance;

	state->on = probe_file_system(arena, plan_canonical_root(arena, facts));
	probe_state_root(facts, arena);
	if (state->root_kind != FILE_DIRECTORY)
		return;
	instance = plan_instance_path(arena, facts);
	state->instance_json = file_read(arena, path_join(arena, instance, "claude/.claude.json"),
					 ACCOUNT_LIMIT, 0);
	state->settings_json =
		file_read(arena, path_join(arena, instance, "claude/settings.json"), TEXT_LIMIT, 0);
	state->approved = file_read(
		arena, path_join(arena, instance, plan_approval_name(arena, facts)), TEXT_LIMIT, 0);
	state->settings_base =
		file_read(arena, path_join(arena, instance, "settings-base.json"), TEXT_LIMIT, 0);
	state->record =
		file_read(arena, path_join(arena, instance, INSTANCE_RECORD), TEXT_LIMIT, 0);
}

static void add_user_entry(struct user_claude_facts *user, struct arena *arena, const char *name)
{
	const char *path = path_join(arena, user->directory, name);
	struct followed entry = file_follow(arena, path);

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

static void probe_user_claude(struct facts *facts, struct arena *arena)
{
	struct user_claude_facts *user = &facts->user_claude;
	const char *chosen = facts_variable(facts, "CLAUDE_CONFIG_DIR");
	bool elsewhere = chosen && chosen[0] == '/';
	strings words;

	user->directory = elsewhere ? chosen : path_join(arena, facts->home, ".claude");
	user->real = file_follow(arena, user->directory).real;
	if (access(user->directory, X_OK) == 0) {
		for (size_t i = 0; i < user_claude_table_count; i++)
			add_user_entry(user, arena, user_claude_table[i].name);
		add_user_extras(user, arena);
		user->settings_json = file_read(arena,
						path_join(arena, user->directory, "settings.json"),
						TEXT_LIMIT, READ_FOLLOW);
		user->has_credentials =
			access(path_join(arena, user->directory, ".credentials.json"), F_OK) == 0;
	}
	if (!user->has_credentials && facts->state.root_kind == FILE_DIRECTORY)
		facts->state.signed_in =
			faccessat(AT_FDCWD,
				  path_join(arena, facts->state.root,
					    "sign-in/" CREDENTIALS_STORE "/.credentials.json"),
				  F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	// Preferences are taken once: a long file costs more to read than all the rest of the start.
	if (!facts->state.instance_json)
		user->preferences_json = file_read(
			arena,
			path_join(arena, elsewhere ? user->directory : facts->home, ".claude.json"),
			ACCOUNT_LIMIT, READ_FOLLOW);
	words = settings_command_words(arena, user->settings_json);
	vec_each(word, &words) {
		bool found = probe_store_program(arena, facts, *word) != NULL;

		for (size_t i = 0; !found && !facts->store.only && i < system_path_count; i++)
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

bool probe_owner(struct facts *facts, struct arena *arena, char *const *environment,
		 struct error *error)
{
	for (; *environment; environment++)
		if (strchr(*environment, '='))
			vec_push(arena, &facts->environment, *environment);
	probe_user(facts, arena);
	return check_home(facts, error);
}

bool probe_all(struct facts *facts, struct arena *arena, char *const *environment,
	       struct error *error)
{
	struct git_identity identity = { .pid = -1, .output = -1 };

	if (!probe_owner(facts, arena, environment, error))
		return false;
	probe_project(facts, arena);
	if (!facts->project_problem) {
		probe_repository(&facts->git, arena, facts->project);
		probe_enclosing_repository(facts, arena);
		identity = probe_identity_start(&facts->git, arena, facts);
	}
	if (!facts->project)
		facts->project = ".";
	probe_files(facts, arena);
	probe_store(facts, arena);
	probe_tools(facts, arena);
	facts->landlock = landlock_version();
	probe_state(facts, arena);
	probe_user_claude(facts, arena);
	if (facts->state.root_kind == FILE_DIRECTORY && !facts->state.version)
		probe_flat_state(facts, arena);
	probe_agent(&facts->agent, arena, facts);
	if (!facts->project_problem) {
		probe_project_secrets(facts, arena);
		probe_requested_packages(facts, arena);
	}
	probe_identity_finish(&identity, &facts->git, arena, facts->user);
	return true;
}
