// SPDX-License-Identifier: MIT
// Collects struct facts, in two steps: before and after the profile is applied.
//
// Theory of operation: a profile can change what has to be collected, and a profile is only used
// when no box can have written it. So probe_base collects what that check needs, and probe_all the
// rest for the final configuration. The answer of the Nix daemon takes milliseconds: it is
// requested first and read last. The daemon is asked before the profile is known. If the profile
// excludes the daemon, its answer is not waited for.
#include "probe/probe.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/secrets/places.h"
#include "plan/system.h"
#include "plan/tables.h"
#include "probe/settings/certificates.h"
#include "probe/cgroup.h"
#include "probe/claude/agent.h"
#include "probe/claude/arguments.h"
#include "probe/claude/claude_files.h"
#include "probe/claude/commands.h"
#include "probe/claude/named_paths.h"
#include "probe/claude/conversations.h"
#include "probe/flat.h"
#include "probe/git/enclosing.h"
#include "probe/git/files.h"
#include "probe/git/repository.h"
#include "probe/git/settings.h"
#include "probe/git/worktrees.h"
#include "probe/guard.h"
#include "probe/mounts/hard_links.h"
#include "probe/mounts/mounted_files.h"
#include "probe/mounts/mounts.h"
#include "probe/network.h"
#include "probe/nix/client.h"
#include "probe/nix/daemon.h"
#include "probe/nix/requested.h"
#include "probe/nix/store.h"
#include "probe/programs.h"
#include "probe/settings/registries.h"
#include "probe/mounts/project_secrets.h"
#include "probe/mounts/sockets.h"
#include "probe/state.h"
#include "probe/toolchains/toolchains.h"
#include "probe/undo.h"
#include "probe/user.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_LIMIT = 1024 * 1024 };

// Paths that the plan needs facts about and that are in none of its tables.
static const char *const other_files[] = {
	"/etc/NIXOS",
	"/etc/nix/nix.conf",
	"/bin/sh",
	"/usr/bin/env",
};
static const char *const shells[] = {
	"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/zsh", "/usr/bin/zsh",
};

static void note_project(struct facts *facts, const struct stat *status)
{
	facts->project_id = file_identity(status);
	if (faccessat(AT_FDCWD, facts->project, W_OK, AT_EACCESS) == 0)
		return;
	facts->project_unwritable = errno == EROFS ? "its file system is read-only"
						   : "you cannot write to this directory";
}

static void probe_project(struct facts *facts, struct arena *arena)
{
	char *here = getcwd(NULL, 0);
	struct stat status;

	facts->project = here ? arena_strdup(arena, here) : NULL;
	free(here);
	if (!facts->project || facts->project[0] != '/')
		facts->project_problem =
			"does not exist: the working directory was removed or cannot be reached";
	else if (stat(facts->project, &status) < 0)
		facts->project_problem =
			arena_printf(arena, "cannot be examined: %s", strerror(errno));
	else if (!S_ISDIR(status.st_mode))
		facts->project_problem = "is not a directory";
	else if (access(facts->project, R_OK | X_OK) < 0)
		facts->project_problem = "cannot be read";
	else
		note_project(facts, &status);
}

static void add_file(struct facts *facts, struct arena *arena, const char *path)
{
	if (path && path[0] == '/' && !facts_file(facts, path))
		vec_push(arena, &facts->files, file_follow(arena, path));
}

// Returns whether the kernel is at least of this version, for features that cannot be detected in
// another way.
static bool release_is_at_least(const char *release, unsigned long major, unsigned long minor)
{
	char *rest;
	unsigned long found = strtoul(release, &rest, 10);

	return found > major ||
	       (found == major && *rest == '.' && strtoul(rest + 1, NULL, 10) >= minor);
}

static void add_secrets(struct facts *facts, struct arena *arena, const char *home)
{
	size_t length = str_equal(home, facts->home) && !str_equal(home, "/") ? strlen(home) : 0;

	for (size_t i = 0; i < secret_table_count; i++) {
		const struct secret_row *row = &secret_table[i];
		const char *path = path_expand_home(arena, row->path, home);
		struct followed place = file_follow(arena, path);

		vec_push(arena, &facts->secrets,
			 (struct secret_place){ .path = path,
						.home = path_within(path, home) ? length : 0,
						.real = str_equal(place.real, path) ? path
										    : place.real,
						.what = row->what,
						.attack = row->attack,
						.missing = place.kind == FILE_MISSING });
	}
}

// Returns whether a path is in a place that is known already.
static bool in_secret_place(const struct facts *facts, const char *path)
{
	bool found = false;

	vec_each(secret, &facts->secrets)
		found |= path_within(path, secret->path);
	return found;
}

// Adds a place that a variable names. One in the project or the repository around it is the user's
// choice: the project would be refused. A device (KUBECONFIG=/dev/null) and a directory that is or
// contains the home are none.
static void add_moved_secret(struct facts *facts, struct arena *arena, const char *path,
			     const char *what, const char *attack)
{
	struct followed place;

	path = path_clean(arena, path);
	if (in_secret_place(facts, path) || path_within(facts->home, path) ||
	    path_within(path, "/dev") || path_within(path, "/proc") ||
	    path_within(path, facts->project) ||
	    (facts->git.top && path_within(path, facts->git.top)))
		return;
	place = file_follow(arena, path);
	vec_push(arena, &facts->secrets,
		 (struct secret_place){ .path = path,
					.real = str_equal(place.real, path) ? path : place.real,
					.what = what,
					.attack = attack,
					.missing = place.kind == FILE_MISSING,
					.moved = true });
}

// Adds the rows of the table whose beginning a variable replaces: ~/.config/gh is in
// $XDG_CONFIG_HOME.
static void add_moved_beginning(struct facts *facts, struct arena *arena, const char *directory,
				const char *beginning)
{
	for (size_t i = 0; i < secret_table_count; i++) {
		const struct secret_row *row = &secret_table[i];

		if (str_starts(row->path, beginning))
			add_moved_secret(facts, arena,
					 path_join(arena, directory, row->path + strlen(beginning)),
					 row->what, row->attack);
	}
}

// Adds the secrets that variables of the user have moved. A value can be a list (KUBECONFIG).
static void add_moved_secrets(struct facts *facts, struct arena *arena)
{
	for (size_t i = 0; i < moved_secret_count; i++) {
		const struct moved_secret_row *row = &moved_secret_table[i];
		const char *rest = facts_variable(facts, row->variable);

		while (rest && *rest) {
			size_t length = strcspn(rest, ":");
			const char *path = path_expand_home(
				arena, arena_strndup(arena, rest, length), facts->home);

			rest += length + (rest[length] == ':');
			if (*path != '/')
				continue;
			if (row->instead)
				add_moved_beginning(facts, arena, path, row->instead);
			else
				add_moved_secret(facts, arena,
						 row->below ? path_join(arena, path, row->below)
							    : path,
						 row->what, row->attack);
		}
	}
}

static void probe_secret_places(struct facts *facts, struct arena *arena)
{
	add_secrets(facts, arena, facts->home);
	if (!str_equal(facts->account_home, facts->home) && access(facts->account_home, F_OK) == 0)
		add_secrets(facts, arena, facts->account_home);
	add_moved_secrets(facts, arena);
	probe_known_sockets(facts, arena);
}

static void probe_files(struct facts *facts, struct arena *arena)
{
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
	facts->hosts_text = file_read(arena, "/etc/hosts", TEXT_LIMIT, READ_FOLLOW);
	facts->nix_conf_text = file_read(arena, "/etc/nix/nix.conf", TEXT_LIMIT, READ_FOLLOW);
	facts->policy_instructions =
		file_read(arena, BOX_POLICY "/CLAUDE.md", TEXT_LIMIT, READ_FOLLOW);
	probe_policy_files(facts, arena);
}

// Returns the version of Landlock's interface, or 0 when the kernel has none.
static int landlock_version(void)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* …CREATE_RULESET_VERSION */);

	return version > 0 ? (int)version : 0;
}

static void probe_kernel(struct facts *facts, struct arena *arena)
{
	struct utsname system;

	struct sysinfo memory;

	facts->landlock = landlock_version();
	if (sysinfo(&memory) == 0)
		facts->memory = (uint64_t)memory.totalram * memory.mem_unit;
	if (uname(&system) < 0)
		return;
	facts->hostname = arena_strdup(arena, system.nodename);
	facts->overlay_on_tmpfs = release_is_at_least(system.release, 6, 6);
}

// Returns whether a program has an option, by searching the program file for the option's name. To
// run the program takes longer, and distributions backport options to older versions.
static bool has_option(struct arena *arena, const char *program, const char *option)
{
	return program && probe_text_after(arena, program, option, 0);
}

static void probe_tools(struct facts *facts, struct arena *arena)
{
	facts->bwrap = probe_program(arena, facts, "bwrap", &facts->untrusted_programs);
	facts->bwrap_binds_descriptors = has_option(arena, facts->bwrap, "--ro-bind-fd");
	facts->bwrap_disables_userns = has_option(arena, facts->bwrap, "--disable-userns");
	for (size_t i = 0; !facts->store.only && !facts->shell && i < ARRAY_SIZE(shells); i++)
		if (access(shells[i], X_OK) == 0)
			facts->shell = shells[i];
	if (!facts->shell)
		facts->shell = probe_store_program(arena, facts, "bash");
	if (!facts->shell)
		facts->shell = probe_store_program(arena, facts, "zsh");
}

// Decides once whether the repository is used: the plan and the probes ask some 50 times.
static void judge_repository(struct facts *facts)
{
	facts->git.judged = false;
	facts->git.refused = plan_git_refusal(facts);
	facts->git.judged = true;
}

// Sets the numbers that give the files of this launch a name of their own.
static void name_launch(struct facts *facts)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	facts->process = getpid();
	facts->started_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool probe_base(struct probe *probe, struct facts *facts, struct arena *arena,
		const struct config *config, char *const *environment, struct error *error)
{
	*probe = (struct probe){ .nix.socket = -1 };
	if (config->action != ACTION_DRY_RUN) // its output is the same each time
		name_launch(facts);
	if (plan_requests_daemon(config))
		probe->nix = probe_nix_start();
	if (!probe_user(facts, arena, environment, error))
		return false;
	probe_project(facts, arena);
	if (!facts->project_problem) {
		probe_repository(&facts->git, arena, facts->project);
		probe_enclosing_repository(facts, arena);
		probe_other_worktrees(facts, arena);
	}
	if (!facts->project)
		facts->project = ".";
	probe_secret_places(facts, arena);
	judge_repository(facts);
	probe_state_root(facts, arena);
	probe_instance_record(facts, arena);
	return true;
}

static void finish_nix(struct probe *probe, struct facts *facts, struct arena *arena, bool wanted)
{
	if (!wanted) {
		if (probe->nix.socket >= 0)
			close(take_fd(&probe->nix.socket));
		return;
	}
	probe_nix_finish(&probe->nix, facts, arena);
	if (facts_file(facts, NIX_DAEMON))
		probe_nix_client(facts, arena);
}

void probe_all(struct probe *probe, struct facts *facts, struct arena *arena,
	       const struct config *config, unsigned int needs)
{
	bool want_nix = plan_requests_daemon(config) || (needs & PROBE_NIX);

	if (want_nix && !probe->nix.started)
		probe->nix = probe_nix_start();
	probe_files(facts, arena);
	probe_kernel(facts, arena);
	probe_store(facts, arena);
	probe_tools(facts, arena);
	probe_instance(facts, arena);
	probe_home(facts, arena, config);
	probe_mounts(facts, arena, config); // before what asks where boxes can write
	probe_user_claude(facts, arena);
	if (!facts->project_problem)
		probe_conversations(facts, arena, config);
	if (facts->state.root_kind == FILE_DIRECTORY && !facts->state.version)
		probe_flat_state(facts, arena);
	probe_agent(&facts->agent, arena, facts);
	if (config->payload == PAYLOAD_CLAUDE)
		probe_named_paths(facts, arena); // before those of the repository
	if (!facts->project_problem) {
		probe_project_secrets(facts, arena);
		probe_requested_packages(facts, arena);
	}
	if (config->package_settings != PACKAGE_SETTINGS_NONE)
		probe_registries(facts, arena);
	probe_certificates(facts, arena);
	if (config->payload == PAYLOAD_CLAUDE)
		probe_arguments(facts, arena, config);
	probe_toolchains(facts, arena, config);
	probe_claude_commands(facts, arena, config);
	probe_sockets(facts, arena);
	probe_mounted_files(facts, arena);
	if (!facts->project_problem)
		probe_hard_links(facts, arena);
	probe_linked_secrets(facts, arena);
	judge_repository(facts); // with the secrets that were added since
	probe_cgroup(facts, arena, config, needs & PROBE_SYSTEMD);
	if (config->network == NETWORK_INET || (needs & PROBE_NETWORK))
		probe_network(facts, arena);
	if (!facts->project_problem) {
		probe_git_settings(facts, arena);
		probe_git_lfs(facts, arena);
		probe_guard(facts, arena);
		if (config->undo != UNDO_OFF)
			probe_undo(facts, arena);
	}
	finish_nix(probe, facts, arena, want_nix);
}
