// SPDX-License-Identifier: MIT
// Attacks on the environment, and on files of the host by their own and by indirect paths.
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/format.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <linux/fcntl.h>
#include <linux/stat.h>

// Searches a file of every process in /proc for the token.
static enum verdict search_processes(const char *name)
{
	int pids[MAX_PROCESSES];
	size_t count = list_numbers("/proc", pids, MAX_PROCESSES);
	struct tries tries = { 0 };
	char path[64];

	for (size_t i = 0; i < count; i++) {
		long found =
			read_token(text_format(path, sizeof(path), "/proc/%d/%s", pids[i], name));

		if (!failed(&tries, found) && found)
			return leaked("%s contains the token", path);
	}
	return blocked("no token in %d processes", tries.count);
}

enum verdict try_ENVIRONMENT_OWN(void)
{
	for (char **variable = context.environment; *variable; variable++) {
		if (has_token(*variable, (long)text_length(*variable)))
			return leaked("%s", *variable);
		for (const struct canary *name = NULL; (name = next_canary(name, CANARY_VARIABLE));)
			if (text_starts(*variable, name->field[0]) &&
			    (*variable)[text_length(name->field[0])] == '=')
				return leaked("%s is set", name->field[0]);
	}
	return next_canary(NULL, CANARY_VARIABLE) ? blocked("not set")
						  : skipped("no canary was planted");
}

enum verdict try_ENVIRONMENT_PROCESSES(void)
{
	return search_processes("environ");
}

enum verdict try_ENVIRONMENT_COMMAND_LINES(void)
{
	return search_processes("cmdline");
}

// Reads the canaries in the places that name this attack.
static enum verdict read_places(enum attack_id attack)
{
	struct tries tries = { 0 };

	for (const struct canary *file = NULL; (file = next_canary(file, CANARY_FILE));) {
		if (attack_by_name(file->field[0]) != attack)
			continue;
		if (!failed(&tries, read_token(file->field[1])))
			return leaked("%s can be read", file->field[1]);
	}
	return all_failed(&tries);
}

// Opens files that only root may read, where nothing is planted.
static enum verdict open_system_files(void)
{
	static const char *const paths[] = {
		"/etc/shadow",
		"/etc/gshadow",
		"/etc/sudoers",
		"/etc/ssh/ssh_host_ed25519_key",
		"/etc/ssh/ssh_host_rsa_key",
		"/etc/ssl/private",
		"/etc/wireguard",
		"/etc/NetworkManager/system-connections",
		"/var/lib/tailscale/tailscaled.state",
		"/etc/krb5.keytab",
	};

	return open_any(paths, ARRAY_SIZE(paths), O_RDONLY);
}

static enum verdict attack_places(enum attack_id attack)
{
	enum verdict verdict = read_places(attack);

	if (verdict != VERDICT_LEAKED && attack == ATTACK_FILES_SYSTEM)
		return open_system_files();
	return verdict;
}

// Defines try_ID of every PLACE_ATTACK.
#define ATTACK(id, group, tried, blocked_by)
#define PLACE_ATTACK(id, group, tried, blocked_by) \
	enum verdict try_##id(void)                \
	{                                          \
		return attack_places(ATTACK_##id); \
	}
#include "prove/attacks.def"

enum verdict try_FILES_ABSENT(void)
{
	struct tries tries = { 0 };

	for (const struct canary *path = NULL; (path = next_canary(path, CANARY_ABSENT));)
		if (!failed(&tries, open_file(path->field[1], O_RDONLY)))
			return leaked("%s can be opened", path->field[1]);
	return all_failed(&tries);
}

enum verdict try_FILES_GENERATED(void)
{
	struct tries tries = { 0 };
	int count = 0;

	for (const struct canary *file = NULL; (file = next_canary(file, CANARY_GENERATED));) {
		long found = read_token(file->field[0]);

		if (!failed(&tries, found) && found)
			return leaked("%s contains the token", file->field[0]);
		count += found == 0;
	}
	return count ? blocked("no token in %d files", count) : all_failed(&tries);
}

enum { PLUGIN_DEPTH = 5, PLUGIN_NAMES = 8192, MOST_DIRECTORIES = 4096 };

// Searches a directory for entries whose names mean secrets. Opens the first one, and writes its
// path to `path`. Returns whether it could be opened.
static bool find_secret_name(char *path, size_t depth, int *directories)
{
	static const char *const secrets[] = { ".git", ".env", ".netrc", ".npmrc",
					       ".git-credentials" };
	static char names[PLUGIN_DEPTH][PLUGIN_NAMES];
	size_t end = text_length(path);
	long length = depth < PLUGIN_DEPTH && *directories < MOST_DIRECTORIES
			      ? list_names(path, names[depth], PLUGIN_NAMES)
			      : -1;

	*directories += length >= 0;
	for (const char *s = names[depth]; length > 0 && s < names[depth] + length;
	     s += text_length(s) + 1) {
		long file = -1;

		if (text_equal(s, ".") || text_equal(s, ".."))
			continue;
		text_format(path + end, PATH_SIZE - end, "/%s", s);
		for (size_t i = 0; i < ARRAY_SIZE(secrets) && file < 0; i++)
			if (text_equal(s, secrets[i]))
				file = open_file(path, O_RDONLY);
		if (file >= 0) {
			close_file(file);
			return true;
		}
		if (find_secret_name(path, depth + 1, directories))
			return true;
		path[end] = '\0';
	}
	return false;
}

enum verdict try_FILES_PLUGINS(void)
{
	static const char *const places[] = { "~/.claude/plugins", "~/.claude/skills",
					      "~/.claude/hooks",   "~/.claude/commands",
					      "~/.claude/agents",  "/run/claudebox/claude" };
	static char path[PATH_SIZE];
	int directories = 0;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		expand_path(path, sizeof(path), places[i]);
		if (find_secret_name(path, 0, &directories))
			return leaked("%s can be opened", path);
	}
	return directories ? blocked("none in %d directories", directories)
			   : skipped("there are no such directories");
}

enum verdict try_FILES_PARENT(void)
{
	static char names[16384];
	const struct canary *parent = next_canary(NULL, CANARY_PARENT);
	int count = 0;
	long length;

	if (!parent)
		return skipped("no canary was planted");
	length = list_names(parent->field[0], names, sizeof(names));
	if (length < 0)
		return blocked("%s", error_name(length));
	for (const char *s = names; s < names + length; s += text_length(s) + 1, count++)
		if (text_starts(s, CANARY_PREFIX))
			return leaked("%s/%s is listed", parent->field[0], s);
	return blocked("%d entries, none of the host", count);
}

// Reads every planted file below another root directory.
static enum verdict read_below(struct tries *tries, const char *root)
{
	char path[PATH_SIZE];

	for (const struct canary *file = NULL; (file = next_canary(file, CANARY_FILE));) {
		long found =
			read_token(text_format(path, sizeof(path), "%s%s", root, file->field[1]));

		if (!failed(tries, found) && found)
			return leaked("%s can be read", path);
	}
	return VERDICT_BLOCKED;
}

// Reads every planted file through a link in /proc of every process; `link` is "root" or "cwd", and
// `rest` follows it.
static enum verdict read_through_processes(const char *link, const char *rest)
{
	int pids[MAX_PROCESSES];
	size_t count = list_numbers("/proc", pids, MAX_PROCESSES);
	struct tries tries = { 0 };
	char root[256];

	text_format(root, sizeof(root), "/proc/self/%s%s", link, rest);
	if (read_below(&tries, root) == VERDICT_LEAKED)
		return VERDICT_LEAKED;
	for (size_t i = 0; i < count; i++) {
		long file;

		text_format(root, sizeof(root), "/proc/%d/%s", pids[i], link);
		file = open_file(root, O_PATH | O_DIRECTORY);
		if (failed(&tries, file))
			continue;
		close_file(file);
		text_format(root, sizeof(root), "/proc/%d/%s%s", pids[i], link, rest);
		if (read_below(&tries, root) == VERDICT_LEAKED)
			return VERDICT_LEAKED;
	}
	return all_failed(&tries);
}

enum verdict try_FILES_PROC_ROOT(void)
{
	return read_through_processes("root", "");
}

enum verdict try_FILES_PROC_CWD(void)
{
	char rest[128];

	return read_through_processes("cwd", text_format(rest, sizeof(rest), "/%s", to_root));
}

enum verdict try_FILES_OLD_ROOT(void)
{
	static const char *const roots[] = {
		"/oldroot",
		"/newroot",
		"/old_root",
		"/.oldroot",
		"/.old",
		"/host",
		"/hostfs",
		"/rootfs",
		"/mnt/host",
		"/run/host",
		"/sysroot",
		"/bindfile",
		"/run/claudebox/root",
	};
	struct tries tries = { 0 };
	char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		long file = open_file(text_format(path, sizeof(path), "%s/.", roots[i]), O_RDONLY);

		if (!failed(&tries, file))
			return leaked("%s can be opened", path);
		if (read_below(&tries, roots[i]) == VERDICT_LEAKED)
			return VERDICT_LEAKED;
	}
	return all_failed(&tries);
}

enum verdict try_FILES_DOT_DOT(void)
{
	long project = open_file(context.project, O_RDONLY | O_DIRECTORY);
	struct tries tries = { 0 };
	char root[256];

	call(__NR_chdir, context.project, 0, 0, 0);
	if (read_below(&tries, to_root) == VERDICT_LEAKED)
		return VERDICT_LEAKED;
	text_format(root, sizeof(root), "/proc/self/fd/%d/%s", (int)project, to_root);
	if (read_below(&tries, root) == VERDICT_LEAKED)
		return VERDICT_LEAKED;
	for (int depth = 0; depth < 24; depth++)
		call(__NR_chdir, "..", 0, 0, 0);
	if (read_below(&tries, ".") == VERDICT_LEAKED)
		return VERDICT_LEAKED;
	return all_failed(&tries);
}

enum verdict try_FILES_SYMLINK(void)
{
	static const char *const roots[] = { "/", "/proc/1/root", "/proc/self/root",
					     "/proc/1/cwd" };
	struct tries tries = { 0 };
	char link[PATH_SIZE];

	scratch_path(link, sizeof(link), "symlink");
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		enum verdict verdict;

		if (failed(&tries, call(__NR_symlinkat, roots[i], AT_FDCWD, link, 0)))
			continue;
		verdict = read_below(&tries, link);
		remove_file(link);
		if (verdict == VERDICT_LEAKED)
			return verdict;
	}
	return all_failed(&tries);
}

enum verdict try_FILES_HARD_LINK(void)
{
	struct tries tries = { 0 };
	char link[PATH_SIZE];

	scratch_path(link, sizeof(link), "link");
	for (const struct canary *file = NULL; (file = next_canary(file, CANARY_FILE));) {
		long result = call6(__NR_linkat, AT_FDCWD, (long)file->field[1], AT_FDCWD,
				    (long)link, 0, 0);

		if (failed(&tries, result))
			continue;
		remove_file(link);
		return leaked("a hard link to %s was created", file->field[1]);
	}
	return all_failed(&tries);
}

enum verdict try_FILES_HANDLE(void)
{
	struct {
		unsigned int size;
		int type;
		unsigned char bytes[128];
	} handle = { .size = sizeof(handle.bytes) };
	long project = open_file(context.project, O_RDONLY | O_DIRECTORY);
	int mount = 0;
	struct tries tries = { 0 };
	long result = call6(__NR_name_to_handle_at, project, (long)"", (long)&handle, (long)&mount,
			    AT_EMPTY_PATH, 0);

	if (failed(&tries, result))
		return all_failed(&tries);
	if (failed(&tries, call(__NR_open_by_handle_at, project, &handle, O_RDONLY, 0)))
		return all_failed(&tries);
	return leaked("files can be opened by handle");
}
