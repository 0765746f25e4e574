// SPDX-License-Identifier: MIT
// Facts about the user: account, home directory, and the Claude files in it.
#include "probe/user.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/claude/box_written.h"
#include "plan/facts.h"
#include "plan/mcp/account.h"
#include "plan/plan.h"
#include "plan/tables.h"
#include "probe/claude/claude_files.h"
#include "probe/settings/own_files.h"
#include "probe/programs.h"
#include "probe/settings/settings_file.h"
#include "sys/accounts.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { CLAUDE_SETTINGS_LIMIT = 1024 * 1024, ACCOUNT_LIMIT = 64 * 1024 * 1024 };

static void find_home(struct facts *facts, struct arena *arena)
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
	facts->state.passed = arena_alloc(arena, sizeof(*facts->state.passed));
}

// The owner of the home directory controls the files that claudebox reads from it and can replace
// those that claudebox writes there.
static bool check_home(const struct facts *facts, struct error *error)
{
	struct stat status;

	if (str_equal(facts->home, "/")) {
		error_set(error, "there is no home directory: HOME is not set or is '/'");
		return error_hint(error, "set HOME to your home directory");
	}
	if (stat(facts->home, &status) < 0 || probe_owner_trusted(facts, status.st_uid))
		return true;
	error_set(error, "home directory '%s' belongs to another user",
		  quote_display(error->arena, facts->home, 0));
	return error_hint(error, "set HOME to your own home directory; with sudo, use `sudo -H`");
}

bool probe_user(struct facts *facts, struct arena *arena, char *const *environment,
		struct error *error)
{
	for (; *environment; environment++)
		if (strchr(*environment, '='))
			vec_push(arena, &facts->environment, *environment);
	find_home(facts, arena);
	return check_home(facts, error);
}

static const char *user_directory(struct arena *arena, const struct facts *facts,
				  const char *variable, const char *fallback)
{
	const char *chosen = facts_variable(facts, variable);

	if (chosen && chosen[0] == '/') {
		struct followed place = file_follow(arena, chosen);

		if (!probe_writing_box(arena, facts, &place))
			return chosen;
	}
	return path_join(arena, facts->home, fallback);
}

const char *probe_config_home(struct arena *arena, const struct facts *facts)
{
	return user_directory(arena, facts, "XDG_CONFIG_HOME", ".config");
}

const char *probe_cache_home(struct arena *arena, const struct facts *facts)
{
	return user_directory(arena, facts, "XDG_CACHE_HOME", ".cache");
}

static void refuse(struct facts *facts, struct arena *arena, const char *path, const char *why)
{
	vec_push(arena, &facts->user_claude.refused,
		 (struct refused_file){ .path = path, .why = why });
}

// Returns why a file that exists was not read.
static const char *find_obstacle(struct arena *arena, const char *path, size_t limit)
{
	struct stat status;

	if (stat(path, &status) < 0 || access(path, R_OK) < 0)
		return arena_printf(arena, "cannot be opened: %s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return "is not a regular file";
	if ((size_t)status.st_size > limit)
		return arena_printf(arena, "is longer than %zu MiB", limit >> 20);
	return NULL;
}

// Reads a file of the user's Claude. Returns false if it does not exist or is refused. *ret_of_box:
// a box can have written it.
static bool read_usable(struct facts *facts, struct arena *arena, struct arena *scratch,
			const char *path, size_t limit, const char **ret_text, bool *ret_of_box)
{
	struct followed file = file_follow(arena, path);
	const char *problem = probe_own_problem(arena, facts, &file, SETTINGS_USUAL_NAME);

	*ret_text = NULL;
	*ret_of_box = false;
	if (file.kind == FILE_MISSING)
		return false;
	*ret_of_box = probe_own_box_writes(arena, facts, &file);
	if (problem)
		refuse(facts, arena, path, problem);
	else
		*ret_text = file_read(scratch, file.real, limit, 0);
	return !problem;
}

// Names the members of a file that were removed because a box can have written them.
static void refuse_members(struct facts *facts, struct arena *arena, const char *path,
			   const strings *removed)
{
	struct text names = { .arena = arena };

	vec_each(name, removed)
		text_printf(&names, "%s%s", names.length ? ", " : "", *name);
	if (removed->count)
		vec_push(arena, &facts->user_claude.refused,
			 (struct refused_file){ .path = path,
						.why = "a box can change the file",
						.members = text_get(&names) });
}

static void add_entry(struct facts *facts, struct arena *arena, const char *name)
{
	struct user_claude_facts *user = &facts->user_claude;
	const char *path = path_join(arena, user->directory, name);
	struct followed entry = file_follow(arena, path);
	const char *problem;

	if (entry.kind != FILE_REGULAR && entry.kind != FILE_DIRECTORY)
		return;
	problem = probe_own_place_problem(arena, facts, &entry);
	if (problem)
		refuse(facts, arena, path, problem);
	else
		vec_push(arena, &user->entries, entry);
}

// Adds the Markdown files, which CLAUDE.md may import, and the scripts, which settings may run.
static void add_imports_and_scripts(struct facts *facts, struct arena *arena)
{
	CLEANUP_DIR DIR *directory = opendir(facts->user_claude.directory);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		bool wanted = str_ends(entry->d_name, ".md") || str_ends(entry->d_name, ".sh");

		if (wanted && !str_equal(entry->d_name, "CLAUDE.md"))
			add_entry(facts, arena, arena_strdup(arena, entry->d_name));
	}
}

// Looks for the host's credentials. A box that can change a link on the way to them could choose
// the file that is read and replaced.
static void find_credentials(struct facts *facts, struct arena *arena)
{
	struct user_claude_facts *user = &facts->user_claude;
	const char *path = path_join(arena, user->directory, ".credentials.json");
	const char *problem;

	user->credentials = file_follow(arena, path);
	user->credentials_of_box =
		probe_path_writer(arena, facts, path_parent(arena, user->credentials.real)) != NULL;
	problem = probe_own_place_problem(arena, facts, &user->credentials);
	user->credentials_refused = problem != NULL;
	user->has_credentials = !problem && user->credentials.kind == FILE_REGULAR;
	if (problem)
		refuse(facts, arena, path, problem);
}

static void read_directory(struct facts *facts, struct arena *arena)
{
	struct user_claude_facts *user = &facts->user_claude;
	const char *settings = path_join(arena, user->directory, "settings.json");
	strings removed = { 0 };
	bool of_box;
	const char *obstacle;

	if (access(user->directory, X_OK) < 0)
		return;
	for (size_t i = 0; i < user_claude_table_count; i++)
		add_entry(facts, arena, user_claude_table[i].name);
	add_imports_and_scripts(facts, arena);
	if (read_usable(facts, arena, arena, settings, CLAUDE_SETTINGS_LIMIT, &user->settings_json,
			&of_box) &&
	    !user->settings_json) {
		obstacle = find_obstacle(arena, settings, CLAUDE_SETTINGS_LIMIT);
		refuse(facts, arena, settings,
		       obstacle ? arena_printf(arena, "it %s", obstacle) : "it is not text");
	}
	if (of_box)
		user->settings_json = box_written_settings(arena, user->settings_json, &removed);
	refuse_members(facts, arena, settings, &removed);
	find_credentials(facts, arena);
}

// Reads the parts of .claude.json that may come along. The rest can have many megabytes. A file
// that cannot be read counts as one that is not valid.
static void read_account(struct facts *facts, struct arena *arena, const char *directory)
{
	struct arena scratch = { 0 };
	const char *path = path_join(arena, directory, ".claude.json");
	const char *text = NULL;
	const char *reduced;
	strings removed = { 0 };
	bool of_box;

	if (read_usable(facts, arena, &scratch, path, ACCOUNT_LIMIT, &text, &of_box) && !text) {
		text = "";
		facts->user_claude.account_obstacle = find_obstacle(arena, path, ACCOUNT_LIMIT);
	}
	reduced = account_reduce(&scratch, text, plan_canonical_root(&scratch, facts));
	if (of_box)
		reduced = box_written_account(&scratch, reduced, &removed);
	refuse_members(facts, arena, path, &removed);
	facts->user_claude.account_json = reduced ? arena_strdup(arena, reduced) : NULL;
	arena_free(&scratch);
}

void probe_user_claude(struct facts *facts, struct arena *arena)
{
	struct user_claude_facts *user = &facts->user_claude;
	const char *chosen = facts_variable(facts, "CLAUDE_CONFIG_DIR");
	bool elsewhere = chosen && chosen[0] == '/';

	user->directory = elsewhere ? chosen : path_join(arena, facts->home, ".claude");
	user->real = file_follow(arena, user->directory).real;
	read_directory(facts, arena);
	probe_claude_files(facts, arena);
	if (!user->has_credentials && facts->state.root_kind == FILE_DIRECTORY)
		facts->state.has_credentials =
			faccessat(AT_FDCWD,
				  path_join(arena, facts->state.root,
					    "sign-in/" CREDENTIALS_STORE "/.credentials.json"),
				  F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	read_account(facts, arena, elsewhere ? user->directory : facts->home);
}
