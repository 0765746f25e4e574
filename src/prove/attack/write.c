// SPDX-License-Identifier: MIT
// Attacks that would leave something on the host.
//
// A box has directories of its own, with the names of the host's: that something can be made there proves nothing. It
// is a leak if the directory shows a canary of the host's; otherwise the host looks afterwards whether anything came.
#include "prove/attack/attack.h"

#include <asm/statfs.h>
#include <linux/magic.h>
#include <linux/un.h>

enum { UNIX = 1, DATAGRAM = 2 };

static const char *parent_of(const char *path, char *buffer, size_t size)
{
	size_t length = text_length(path);

	while (length && path[length] != '/')
		length--;
	length = length < size ? length : size - 1;
	memcpy(buffer, path, length);
	buffer[length] = 0;
	return buffer;
}

// Makes something at `path`; an error, or what is not one.
typedef long maker(const char *path);

static enum verdict make_all(const char *prefix, const char *suffix, maker *make)
{
	struct tries tries = { 0 };
	char path[PATH_SIZE];
	char directory[PATH_SIZE];
	const char *hosts = NULL;
	int made = 0;

	for (const struct canary *write = NULL; (write = next_canary(write, "write"));) {
		text_make(path, sizeof(path), "%s%s%s", prefix, write->field[0], suffix);
		if (failed(&tries, make(path)))
			continue;
		made++;
		if (is_hosts(parent_of(write->field[0], directory, sizeof(directory))))
			hosts = write->field[0];
	}
	if (hosts)
		return leaked("%s%s was made", hosts, suffix);
	if (made)
		return held("%d made, in the box's own directories", made);
	return blocked_by(&tries);
}

static long make_file(const char *path)
{
	long file = open_file(path, O_WRONLY | O_CREAT | O_EXCL);

	close_file(file);
	return file;
}

static long make_directory(const char *path)
{
	return call(__NR_mkdirat, AT_FDCWD, path, 0700, 0);
}

static long make_symlink(const char *path)
{
	return call(__NR_symlinkat, "claudebox-canary", AT_FDCWD, path, 0);
}

// What could not be moved is there for the next try.
static long move_file(const char *path)
{
	char from[PATH_SIZE];
	long result = make_file(scratch(from, sizeof(from), "moved"));

	if (result < 0 && result != -EEXIST)
		return result;
	return call6(__NR_renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)path, 0, 0);
}

// By its name alone: the address of a socket is short.
static long make_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = UNIX };
	char directory[PATH_SIZE];
	const char *name = path + text_length(parent_of(path, directory, sizeof(directory))) + 1;
	long result = call(__NR_chdir, directory, 0, 0, 0);

	if (result < 0)
		return result;
	text_make(address.sun_path, sizeof(address.sun_path), "%s", name);
	result = call(__NR_socket, UNIX, DATAGRAM, 0, 0);
	return result < 0 ? result : call(__NR_bind, result, &address, sizeof(address), 0);
}

enum verdict try_WRITE_CREATE(void)
{
	return make_all("", "", make_file);
}

enum verdict try_WRITE_DIRECTORY(void)
{
	return make_all("", ".write-directory", make_directory);
}

enum verdict try_WRITE_SYMLINK(void)
{
	return make_all("", ".write-symlink", make_symlink);
}

enum verdict try_WRITE_RENAME(void)
{
	char from[PATH_SIZE];
	enum verdict verdict = make_all("", ".write-rename", move_file);

	remove_file(scratch(from, sizeof(from), "moved"));
	return verdict;
}

enum verdict try_WRITE_SOCKET(void)
{
	return make_all("", ".write-socket", make_socket);
}

enum verdict try_WRITE_PROC_ROOT(void)
{
	enum verdict verdict = make_all("/proc/1/root", ".write-proc-root", make_file);

	return verdict == LEAKED ? verdict
				 : make_all("/proc/self/root", ".write-proc-root", make_file);
}

enum verdict try_WRITE_DOT_DOT(void)
{
	call(__NR_chdir, probe.project, 0, 0, 0);
	return make_all(up, ".write-dot-dot", make_file);
}

enum verdict try_WRITE_CANARIES(void)
{
	struct tries tries = { 0 };

	for (const struct canary *file = NULL; (file = next_canary(file, "file"));)
		if (!failed(&tries, open_file(file->field[1], O_WRONLY | O_APPEND)))
			return leaked("%s can be written", file->field[1]);
	return blocked_by(&tries);
}

enum verdict try_WRITE_PARENT(void)
{
	const struct canary *parent = next_canary(NULL, "parent");
	struct tries tries = { 0 };
	char path[PATH_SIZE];

	if (!parent)
		return skipped("nothing was planted");
	text_make(path, sizeof(path), "%s/claudebox-canary-probe", parent->field[0]);
	if (failed(&tries, make_file(path)))
		return blocked_by(&tries);
	remove_file(path);
	return is_hosts(parent->field[0]) ? leaked("%s was made", path)
					  : held("made in the box's own");
}

// The home directory of a box is in memory and its own; the host's shows a canary.
static bool is_own(const char *path)
{
	struct statfs system = { 0 };

	call(__NR_statfs, path, &system, 0, 0);
	return system.f_type == TMPFS_MAGIC && !is_hosts(probe.home);
}

enum verdict try_WRITE_STARTUP(void)
{
	static const char *const paths[] = {
		"~/.bashrc",
		"~/.bash_profile",
		"~/.bash_login",
		"~/.bash_logout",
		"~/.profile",
		"~/.zshrc",
		"~/.zshenv",
		"~/.zprofile",
		"~/.inputrc",
		"~/.vimrc",
		"~/.tmux.conf",
		"~/.gitconfig",
		"~/.config/fish/config.fish",
		"~/.ssh/config",
		"~/.ssh/authorized_keys",
		"~/.pam_environment",
		"~/.xprofile",
	};
	struct tries tries = { 0 };
	char path[PATH_SIZE];

	if (!*probe.home)
		return skipped("no home directory");
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (!failed(&tries,
			    open_file(expand(path, sizeof(path), paths[i]), O_WRONLY | O_APPEND)) &&
		    !is_own(path))
			return leaked("%s can be written", path);
	return blocked_by(&tries);
}

// What is made is removed again at once.
static enum verdict make_in(const char *const *directories, size_t count)
{
	struct tries tries = { 0 };
	char directory[PATH_SIZE];
	char path[PATH_SIZE];

	for (size_t i = 0; i < count; i++) {
		expand(directory, sizeof(directory), directories[i]);
		text_make(path, sizeof(path), "%s/claudebox-canary-probe", directory);
		if (failed(&tries, make_file(path)))
			continue;
		remove_file(path);
		if (directories[i][0] != '~' || !is_own(directory))
			return leaked("%s was made", path);
	}
	return blocked_by(&tries);
}

enum verdict try_WRITE_AUTOSTART(void)
{
	static const char *const directories[] = {
		"/etc/cron.d",
		"/etc/cron.hourly",
		"/var/spool/cron",
		"/var/spool/cron/crontabs",
		"/etc/systemd/system",
		"/run/systemd/system",
		"/run/user/%d/systemd/user",
		"~/.config/systemd/user",
		"~/.local/share/systemd/user",
		"~/.config/autostart",
		"~/.config/environment.d",
		"~/.config/fish/conf.d",
		"~/.local/share/applications",
		"~/.local/bin",
		"~/bin",
		"/etc/profile.d",
		"/etc/xdg/autostart",
		"/etc/udev/rules.d",
	};

	return make_in(directories, ARRAY_SIZE(directories));
}

enum verdict try_WRITE_SYSTEM(void)
{
	static const char *const directories[] = {
		"",          "/usr",           "/usr/bin",
		"/usr/sbin", "/usr/lib",       "/usr/local/bin",
		"/bin",      "/sbin",          "/lib",
		"/lib64",    "/etc",           "/etc/claude-code",
		"/opt",      "/boot",          "/var",
		"/var/lib",  "/nix/store",     "/run",
		"/srv",      "/run/claudebox", "/etc/alternatives",
		"/home",     "/etc/ssl/certs",
	};

	return make_in(directories, ARRAY_SIZE(directories));
}

enum verdict try_WRITE_PROGRAMS(void)
{
	static const char *const paths[] = {
		"/etc/passwd",
		"/etc/group",
		"/etc/hosts",
		"/etc/resolv.conf",
		"/etc/nsswitch.conf",
		"/etc/gitconfig",
		"/etc/ld.so.cache",
		"/etc/ld.so.preload",
		"/etc/services",
		"/usr/bin/env",
		"/usr/bin/git",
		"/usr/bin/sh",
		"/bin/bash",
		"/usr/bin/python3",
		"/usr/lib/os-release",
		"/run/claudebox/canaries",
		"/etc/ssl/certs/ca-certificates.crt",
	};

	return open_any(paths, ARRAY_SIZE(paths), O_WRONLY | O_APPEND);
}
