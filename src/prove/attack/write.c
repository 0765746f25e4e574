// SPDX-License-Identifier: MIT
// Attacks that write to the host.
//
// Theory of operation: the box has its own directories at paths of the host, so creating a file
// there proves nothing. It is a leak if a canary of the host is in the directory. Otherwise the
// host checks afterwards whether anything was created.
#include "freestanding/memory.h"
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/format.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <asm/errno.h>
#include <linux/fcntl.h>
#include <linux/stat.h>
#include <linux/un.h>

enum { UNIX = 1, DATAGRAM = 2 };

// Writes the directory of a path. Returns buffer.
static const char *parent_path(const char *path, char *buffer, size_t size)
{
	size_t length = text_length(path);

	while (length && path[length] != '/')
		length--;
	length = length < size ? length : size - 1;
	memcpy(buffer, path, length);
	buffer[length] = 0;
	return buffer;
}

// Creates an object at `path`. Returns -errno on failure.
typedef long create_function(const char *path);

// Creates an object at every CANARY_WRITE. All attacks but WRITE_CREATE add their name, so that the
// host can distinguish them (CANARY_WRITE_BY_ATTACK).
static enum verdict create_all(enum attack_id attack, const char *prefix, create_function *create)
{
	struct tries tries = { 0 };
	char name[ATTACK_NAME_SIZE] = "";
	const char *dot = attack == ATTACK_WRITE_CREATE ? "" : ".";
	char path[PATH_SIZE];
	char directory[PATH_SIZE];
	const char *host_path = NULL;
	int created = 0;

	if (*dot)
		attack_write_name(attack, name);
	for (const struct canary *write = NULL; (write = next_canary(write, CANARY_WRITE));) {
		text_format(path, sizeof(path), "%s%s%s%s", prefix, write->field[0], dot, name);
		if (failed(&tries, create(path)))
			continue;
		created++;
		if (is_host_directory(parent_path(write->field[0], directory, sizeof(directory))))
			host_path = write->field[0];
	}
	if (host_path)
		return leaked("%s%s%s was created", host_path, dot, name);
	if (created)
		return blocked("%d created in directories of the box", created);
	return all_failed(&tries);
}

static long create_file(const char *path)
{
	long file = open_file(path, O_WRONLY | O_CREAT | O_EXCL);

	close_file(file);
	return file;
}

static long create_directory(const char *path)
{
	return call(__NR_mkdirat, AT_FDCWD, path, 0700, 0);
}

static long create_symlink(const char *path)
{
	return call(__NR_symlinkat, "claudebox-canary", AT_FDCWD, path, 0);
}

// Moves a new file of the project to `path`. If that fails, the file stays for the next attempt.
static long move_file(const char *path)
{
	char from[PATH_SIZE];
	long result = create_file(scratch_path(from, sizeof(from), "moved"));

	if (result < 0 && result != -EEXIST)
		return result;
	return call6(__NR_renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)path, 0, 0);
}

// Binds a socket by its name in the current directory, because a socket address is short.
static long create_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = UNIX };
	char directory[PATH_SIZE];
	const char *name = path + text_length(parent_path(path, directory, sizeof(directory))) + 1;
	long result = call(__NR_chdir, directory, 0, 0, 0);

	if (result < 0)
		return result;
	text_format(address.sun_path, sizeof(address.sun_path), "%s", name);
	result = call(__NR_socket, UNIX, DATAGRAM, 0, 0);
	return result < 0 ? result : call(__NR_bind, result, &address, sizeof(address), 0);
}

enum verdict try_WRITE_CREATE(void)
{
	return create_all(ATTACK_WRITE_CREATE, "", create_file);
}

enum verdict try_WRITE_DIRECTORY(void)
{
	return create_all(ATTACK_WRITE_DIRECTORY, "", create_directory);
}

enum verdict try_WRITE_SYMLINK(void)
{
	return create_all(ATTACK_WRITE_SYMLINK, "", create_symlink);
}

enum verdict try_WRITE_RENAME(void)
{
	char from[PATH_SIZE];
	enum verdict verdict = create_all(ATTACK_WRITE_RENAME, "", move_file);

	remove_file(scratch_path(from, sizeof(from), "moved"));
	return verdict;
}

enum verdict try_WRITE_SOCKET(void)
{
	return create_all(ATTACK_WRITE_SOCKET, "", create_socket);
}

enum verdict try_WRITE_PROC_ROOT(void)
{
	enum verdict verdict = create_all(ATTACK_WRITE_PROC_ROOT, "/proc/1/root", create_file);

	return verdict == VERDICT_LEAKED
		       ? verdict
		       : create_all(ATTACK_WRITE_PROC_ROOT, "/proc/self/root", create_file);
}

enum verdict try_WRITE_DOT_DOT(void)
{
	call(__NR_chdir, context.project, 0, 0, 0);
	return create_all(ATTACK_WRITE_DOT_DOT, to_root, create_file);
}

enum verdict try_WRITE_CANARIES(void)
{
	struct tries tries = { 0 };

	for (const struct canary *file = NULL; (file = next_canary(file, CANARY_FILE));)
		if (!failed(&tries, open_file(file->field[1], O_WRONLY | O_APPEND)))
			return leaked("%s can be written", file->field[1]);
	return all_failed(&tries);
}

enum verdict try_WRITE_PARENT(void)
{
	const struct canary *parent = next_canary(NULL, CANARY_PARENT);
	struct tries tries = { 0 };
	char path[PATH_SIZE];

	if (!parent)
		return skipped("no canary was planted");
	text_format(path, sizeof(path), "%s/" CANARY_PREFIX "attack", parent->field[0]);
	if (failed(&tries, create_file(path)))
		return all_failed(&tries);
	remove_file(path);
	return is_host_directory(parent->field[0]) ? leaked("%s was created", path)
						   : blocked("created in a directory of the box");
}

// Returns the id of the mount that a path is on, 0: unknown.
static unsigned long long mount_id(const char *path)
{
	struct statx status = { 0 };

	call6(__NR_statx, AT_FDCWD, (long)path, 0, STATX_MNT_ID, (long)&status, 0);
	return status.stx_mask & STATX_MNT_ID ? status.stx_mnt_id : 0;
}

// Returns whether a path is in the box's own home, and not in another mount below it. The host's
// home directory contains a canary.
static bool is_box_home(const char *path)
{
	unsigned long long id = mount_id(context.home);

	return id && mount_id(path) == id && !is_host_directory(context.home);
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

	if (!*context.home)
		return skipped("no home directory");
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (!failed(&tries, open_file(expand_path(path, sizeof(path), paths[i]),
					      O_WRONLY | O_APPEND)) &&
		    !is_box_home(path))
			return leaked("%s can be written", path);
	return all_failed(&tries);
}

// Creates a file in each directory and removes it at once.
static enum verdict create_in(const char *const *directories, size_t count)
{
	struct tries tries = { 0 };
	char directory[PATH_SIZE];
	char path[PATH_SIZE];

	for (size_t i = 0; i < count; i++) {
		expand_path(directory, sizeof(directory), directories[i]);
		text_format(path, sizeof(path), "%s/" CANARY_PREFIX "attack", directory);
		if (failed(&tries, create_file(path)))
			continue;
		remove_file(path);
		if (directories[i][0] != '~' || !is_box_home(directory))
			return leaked("%s was created", path);
	}
	return all_failed(&tries);
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

	return create_in(directories, ARRAY_SIZE(directories));
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

	return create_in(directories, ARRAY_SIZE(directories));
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
		BOX_CANARIES,
		"/etc/ssl/certs/ca-certificates.crt",
	};

	return open_any(paths, ARRAY_SIZE(paths), O_WRONLY | O_APPEND);
}

// Creates a file in a directory of a toolchain, or opens a file of it for writing.
static long change_toolchain(const char *path)
{
	char name[PATH_SIZE];
	long result = open_file(path, O_WRONLY | O_APPEND);

	if (result != -EISDIR) {
		close_file(result);
		return result;
	}
	text_format(name, sizeof(name), "%s/" CANARY_PREFIX "attack", path);
	result = create_file(name);
	if (result >= 0)
		remove_file(name);
	return result;
}

// Renames a mount point and back.
static long move_toolchain(const char *path)
{
	char moved[PATH_SIZE];
	long result;

	text_format(moved, sizeof(moved), "%s." CANARY_PREFIX "attack", path);
	result = call6(__NR_renameat2, AT_FDCWD, (long)path, AT_FDCWD, (long)moved, 0, 0);
	if (result >= 0)
		call6(__NR_renameat2, AT_FDCWD, (long)moved, AT_FDCWD, (long)path, 0, 0);
	return result;
}

enum verdict try_WRITE_TOOLCHAINS(void)
{
	struct tries tries = { 0 };

	for (const struct canary *part = NULL; (part = next_canary(part, CANARY_TOOLCHAIN));) {
		if (!failed(&tries, change_toolchain(part->field[0])))
			return leaked("%s can be changed", part->field[0]);
		if (!failed(&tries, move_toolchain(part->field[0])))
			return leaked("%s can be moved", part->field[0]);
	}
	return all_failed(&tries);
}
