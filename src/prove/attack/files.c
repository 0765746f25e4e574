// SPDX-License-Identifier: MIT
// Attacks on the environment, and on files of the host by their own paths and by detours.
#include "prove/attack/attack.h"

#include <linux/stat.h>

static enum verdict search_processes(const char *name)
{
	int pids[PROCESSES];
	size_t count = list_numbers("/proc", pids, PROCESSES);
	struct tries tries = { 0 };
	char path[64];

	for (size_t i = 0; i < count; i++) {
		long found =
			read_token(text_make(path, sizeof(path), "/proc/%d/%s", pids[i], name));

		if (!failed(&tries, found) && found)
			return leaked("%s holds it", path);
	}
	return held("%d processes, none shows it", tries.count);
}

enum verdict try_ENVIRONMENT_OWN(void)
{
	for (char **variable = probe.environment; *variable; variable++) {
		if (has_token(*variable, (long)text_length(*variable)))
			return leaked("%s", *variable);
		for (const struct canary *name = NULL; (name = next_canary(name, "env"));)
			if (text_starts(*variable, name->field[0]) &&
			    (*variable)[text_length(name->field[0])] == '=')
				return leaked("%s is set", name->field[0]);
	}
	return next_canary(NULL, "env") ? held("not there") : skipped("nothing was planted");
}

enum verdict try_ENVIRONMENT_PROCESSES(void)
{
	return search_processes("environ");
}

enum verdict try_ENVIRONMENT_COMMAND_LINES(void)
{
	return search_processes("cmdline");
}

// Which attack a kind of secret belongs to; what is not here belongs to FILES_OTHERS.
static const struct {
	const char *class;
	enum attack attack;
} classes[] = {
#define CLASS(class, attack) { class, ATTACK_##attack },
#include "prove/classes.def"
#undef CLASS
};

static enum attack attack_of(const char *class)
{
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		if (text_equal(classes[i].class, class))
			return classes[i].attack;
	return ATTACK_FILES_OTHERS;
}

static enum verdict read_class(enum attack attack)
{
	struct tries tries = { 0 };

	for (const struct canary *file = NULL; (file = next_canary(file, "file"));) {
		if (attack_of(file->field[0]) != attack)
			continue;
		if (!failed(&tries, read_token(file->field[1])))
			return leaked("%s can be read", file->field[1]);
	}
	return blocked_by(&tries);
}

#define READ_CLASS(id)                          \
	enum verdict try_##id(void)             \
	{                                       \
		return read_class(ATTACK_##id); \
	}
READ_CLASS(FILES_SSH)
READ_CLASS(FILES_GNUPG)
READ_CLASS(FILES_CLOUD)
READ_CLASS(FILES_REGISTRIES)
READ_CLASS(FILES_GIT)
READ_CLASS(FILES_PASSWORDS)
READ_CLASS(FILES_BROWSERS)
READ_CLASS(FILES_HISTORY)
READ_CLASS(FILES_CLAUDE)
READ_CLASS(FILES_HOME)
READ_CLASS(FILES_OTHER_PROJECTS)
READ_CLASS(FILES_STATE)
READ_CLASS(FILES_TEMPORARY)
READ_CLASS(FILES_RUN)
READ_CLASS(FILES_SHARED_MEMORY)
READ_CLASS(FILES_OTHERS)

enum verdict try_FILES_SYSTEM(void)
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
	enum verdict verdict = read_class(ATTACK_FILES_SYSTEM);

	return verdict == LEAKED ? verdict : open_any(paths, ARRAY_SIZE(paths), O_RDONLY);
}

enum verdict try_FILES_ABSENT(void)
{
	struct tries tries = { 0 };

	for (const struct canary *path = NULL; (path = next_canary(path, "absent"));)
		if (!failed(&tries, open_file(path->field[1], O_RDONLY)))
			return leaked("%s can be opened", path->field[1]);
	return blocked_by(&tries);
}

enum verdict try_FILES_PARENT(void)
{
	static char names[16384];
	const struct canary *parent = next_canary(NULL, "parent");
	int count = 0;
	long length;

	if (!parent)
		return skipped("nothing was planted");
	length = list_names(parent->field[0], names, sizeof(names));
	if (length < 0)
		return held("%s", error_name(length));
	for (const char *s = names; s < names + length; s += text_length(s) + 1, count++)
		if (text_starts(s, "claudebox-canary-"))
			return leaked("%s/%s can be seen", parent->field[0], s);
	return held("%d names, none of the host's", count);
}

// Every planted file, below another root.
static enum verdict read_below(struct tries *tries, const char *root)
{
	char path[PATH_SIZE];

	for (const struct canary *file = NULL; (file = next_canary(file, "file"));) {
		long found =
			read_token(text_make(path, sizeof(path), "%s%s", root, file->field[1]));

		if (!failed(tries, found) && found)
			return leaked("%s can be read", path);
	}
	return HELD;
}

// `link` is "root" or "cwd": one directory for each process, and ours.
static enum verdict read_through_processes(const char *link, const char *rest)
{
	int pids[PROCESSES];
	size_t count = list_numbers("/proc", pids, PROCESSES);
	struct tries tries = { 0 };
	char root[256];

	text_make(root, sizeof(root), "/proc/self/%s%s", link, rest);
	if (read_below(&tries, root) == LEAKED)
		return LEAKED;
	for (size_t i = 0; i < count; i++) {
		long file;

		text_make(root, sizeof(root), "/proc/%d/%s", pids[i], link);
		file = open_file(root, O_PATH | O_DIRECTORY);
		if (failed(&tries, file))
			continue;
		close_file(file);
		text_make(root, sizeof(root), "/proc/%d/%s%s", pids[i], link, rest);
		if (read_below(&tries, root) == LEAKED)
			return LEAKED;
	}
	return blocked_by(&tries);
}

enum verdict try_FILES_PROC_ROOT(void)
{
	return read_through_processes("root", "");
}

enum verdict try_FILES_PROC_CWD(void)
{
	char rest[128];

	return read_through_processes("cwd", text_make(rest, sizeof(rest), "/%s", up));
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
		long file = open_file(text_make(path, sizeof(path), "%s/.", roots[i]), O_RDONLY);

		if (!failed(&tries, file))
			return leaked("%s can be opened", path);
		if (read_below(&tries, roots[i]) == LEAKED)
			return LEAKED;
	}
	return blocked_by(&tries);
}

enum verdict try_FILES_DOT_DOT(void)
{
	long project = open_file(probe.project, O_RDONLY | O_DIRECTORY);
	struct tries tries = { 0 };
	char root[256];

	call(__NR_chdir, probe.project, 0, 0, 0);
	if (read_below(&tries, up) == LEAKED)
		return LEAKED;
	text_make(root, sizeof(root), "/proc/self/fd/%d/%s", (int)project, up);
	if (read_below(&tries, root) == LEAKED)
		return LEAKED;
	for (int depth = 0; depth < 24; depth++)
		call(__NR_chdir, "..", 0, 0, 0);
	if (read_below(&tries, ".") == LEAKED)
		return LEAKED;
	return blocked_by(&tries);
}

enum verdict try_FILES_SYMLINK(void)
{
	static const char *const roots[] = { "/", "/proc/1/root", "/proc/self/root",
					     "/proc/1/cwd" };
	struct tries tries = { 0 };
	char link[PATH_SIZE];

	scratch(link, sizeof(link), "symlink");
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		enum verdict verdict;

		if (failed(&tries, call(__NR_symlinkat, roots[i], AT_FDCWD, link, 0)))
			continue;
		verdict = read_below(&tries, link);
		remove_file(link);
		if (verdict == LEAKED)
			return verdict;
	}
	return blocked_by(&tries);
}

enum verdict try_FILES_HARD_LINK(void)
{
	struct tries tries = { 0 };
	char link[PATH_SIZE];

	scratch(link, sizeof(link), "link");
	for (const struct canary *file = NULL; (file = next_canary(file, "file"));) {
		long result = call6(__NR_linkat, AT_FDCWD, (long)file->field[1], AT_FDCWD,
				    (long)link, 0, 0);

		if (failed(&tries, result))
			continue;
		remove_file(link);
		return leaked("a hard link to %s was made", file->field[1]);
	}
	return blocked_by(&tries);
}

enum verdict try_FILES_HANDLE(void)
{
	struct {
		unsigned int size;
		int type;
		unsigned char bytes[128];
	} handle = { .size = sizeof(handle.bytes) };
	long project = open_file(probe.project, O_RDONLY | O_DIRECTORY);
	int mount = 0;
	struct tries tries = { 0 };
	long result = call6(__NR_name_to_handle_at, project, (long)"", (long)&handle, (long)&mount,
			    AT_EMPTY_PATH, 0);

	if (failed(&tries, result))
		return blocked_by(&tries);
	if (failed(&tries, call(__NR_open_by_handle_at, project, &handle, O_RDONLY, 0)))
		return blocked_by(&tries);
	return leaked("files can be opened by number");
}
