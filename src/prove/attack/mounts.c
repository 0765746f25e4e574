// SPDX-License-Identifier: MIT
// Attacks by mounting and unmounting.
#include "prove/attack/mounts.h"

#include "freestanding/memory.h"
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <asm/errno.h>
#include <asm/statfs.h>
#include <linux/fcntl.h>
#include <linux/mount.h>
#include <linux/sched.h>

enum { DETACH = 2 /* MNT_DETACH */, EXPIRE = 4 /* MNT_EXPIRE */, READ_ONLY = 1 /* ST_RDONLY */ };
static const char missing_path[] = "/claudebox-canary";

struct mounted {
	char path[PATH_SIZE];
	const char *type; // followed by a blank and further fields
	unsigned long flags;
	bool read_only;
	bool receives; // propagation from the host
};

// Returns the position after `count` blanks.
static const char *skip_fields(const char *line, int count)
{
	for (; count && *line && *line != '\n'; line++)
		count -= *line == ' ';
	return line;
}

static bool has_word(const char *from, const char *to, const char *word)
{
	return from < to && text_find(from, (size_t)(to - from), word);
}

// Parses a line of mountinfo: id, parent, device, root, path, options, optional fields, '-', type
// and more. Returns the next line.
static const char *parse_mount(const char *line, const char *end, struct mounted *mount)
{
	const char *path = skip_fields(line, 4);
	const char *options = skip_fields(path, 1);
	const char *optional = skip_fields(options, 1);
	const char *next = text_find(line, (size_t)(end - line), "\n");
	const char *dash;
	size_t length = 0;

	next = next ? next + 1 : end;
	dash = text_find(optional - 1, (size_t)(next - optional + 1), " - ");
	for (; path < options - 1 && length + 1 < sizeof(mount->path); path++, length++) {
		bool escaped = path[0] == '\\'; // followed by three octal digits
		int octal = (path[1] - '0') * 64 + (path[2] - '0') * 8 + path[3] - '0';

		mount->path[length] = (char)(escaped ? octal : *path);
		path += escaped ? 3 : 0;
	}
	mount->path[length] = 0;
	mount->type = dash ? dash + 3 : "";
	mount->read_only = text_starts(options, "ro");
	mount->flags = (has_word(options, optional, "nosuid") ? MS_NOSUID : 0) |
		       (has_word(options, optional, "nodev") ? MS_NODEV : 0) |
		       (has_word(options, optional, "noexec") ? MS_NOEXEC : 0) |
		       (has_word(options, optional, "relatime") ? MS_RELATIME : 0);
	mount->receives = dash && (has_word(optional, dash, "shared:") ||
				   has_word(optional, dash, "master:"));
	return next;
}

static char mount_list[131072];

static long read_mounts(void)
{
	return read_text("/proc/self/mountinfo", mount_list, sizeof(mount_list));
}

bool find_mount(const char *type, size_t index, char path[PATH_SIZE])
{
	static struct mounted mounted;
	long length = read_mounts();
	size_t found = 0;

	for (const char *line = mount_list; line < mount_list + length;) {
		line = parse_mount(line, mount_list + length, &mounted);
		if (!text_starts(mounted.type, type) || mounted.type[text_length(type)] != ' ' ||
		    found++ != index)
			continue;
		memcpy(path, mounted.path, sizeof(mounted.path));
		return true;
	}
	return false;
}

static long mount(const char *source, const char *target, const char *type, unsigned long flags)
{
	return call6(__NR_mount, (long)source, (long)target, (long)type, (long)flags, 0, 0);
}

enum verdict try_MOUNTS_MOUNT(void)
{
	struct tries tries = { 0 };

	if (failed(&tries, mount("claudebox-canary", "/tmp", "tmpfs", 0)) &&
	    failed(&tries, mount("claudebox-canary", "/tmp", "proc", 0)))
		return all_failed(&tries);
	call(__NR_umount2, "/tmp", DETACH, 0, 0);
	return leaked("the mount succeeds");
}

enum verdict try_MOUNTS_BIND(void)
{
	struct tries tries = { 0 };

	if (failed(&tries, mount(context.project, "/tmp", NULL, MS_BIND)))
		return all_failed(&tries);
	call(__NR_umount2, "/tmp", DETACH, 0, 0);
	return leaked("the mount succeeds");
}

// Returns whether a writable mount covers a read-only one at the same path. A remount would affect
// the writable one.
static bool is_covered(const char *path)
{
	struct statfs system = { 0 };

	return call(__NR_statfs, path, &system, 0, 0) == 0 && !(system.f_flags & READ_ONLY);
}

// Tries to make each read-only mount writable, and makes it read-only again if that succeeds.
static enum verdict remount(struct tries *tries)
{
	static struct mounted mounted;
	long length = read_mounts();

	for (const char *line = mount_list; line < mount_list + length;) {
		line = parse_mount(line, mount_list + length, &mounted);
		if (!mounted.read_only || is_covered(mounted.path) ||
		    failed(tries,
			   mount(NULL, mounted.path, NULL, MS_REMOUNT | MS_BIND | mounted.flags)))
			continue;
		mount(NULL, mounted.path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | mounted.flags);
		return leaked("%s became writable", mounted.path);
	}
	return tries->count ? all_failed(tries) : blocked("no mount is read-only");
}

enum verdict try_MOUNTS_REMOUNT(void)
{
	struct tries tries = { 0 };

	return remount(&tries);
}

// MNT_EXPIRE only marks a mount: the kernel returns EAGAIN or EBUSY to a process that may unmount
// it.
enum verdict try_MOUNTS_UNMOUNT(void)
{
	static struct mounted mounted;
	struct tries tries = { 0 };
	long length = read_mounts();

	for (const char *line = mount_list; line < mount_list + length;) {
		long result;

		line = parse_mount(line, mount_list + length, &mounted);
		result = call(__NR_umount2, mounted.path, EXPIRE, 0, 0);
		failed(&tries, result);
		if (result >= 0 || result == -EAGAIN || result == -EBUSY)
			return leaked("%s can be unmounted", mounted.path);
	}
	return all_failed(&tries);
}

enum verdict try_MOUNTS_PIVOT(void)
{
	struct tries tries = { 0 };

	return judge_refusal(&tries, call(__NR_pivot_root, missing_path, missing_path, 0, 0),
			     "pivot_root");
}

enum verdict try_MOUNTS_CHROOT(void)
{
	struct tries tries = { 0 };

	return judge_refusal(&tries, call(__NR_chroot, "/", 0, 0, 0), "chroot");
}

enum verdict try_MOUNTS_NEW_CALLS(void)
{
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_RDONLY };
	struct tries tries = { 0 };
	enum verdict verdict = judge_refusal(&tries, call(__NR_fsopen, "tmpfs", 1, 0, 0), "fsopen");

	if (verdict == VERDICT_BLOCKED)
		verdict = judge_refusal(&tries,
					call(__NR_open_tree, AT_FDCWD, "/",
					     OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC, 0),
					"open_tree");
	if (verdict == VERDICT_BLOCKED)
		verdict = judge_refusal(&tries,
					call6(__NR_mount_setattr, AT_FDCWD, (long)missing_path, 0,
					      (long)&attributes, sizeof(attributes), 0),
					"mount_setattr");
	if (verdict == VERDICT_BLOCKED)
		verdict = judge_refusal(&tries,
					call6(__NR_move_mount, AT_FDCWD, (long)missing_path,
					      AT_FDCWD, (long)missing_path, 0, 0),
					"move_mount");
	if (verdict == VERDICT_BLOCKED)
		verdict = judge_refusal(&tries, call(__NR_fspick, AT_FDCWD, missing_path, 1, 0),
					"fspick");
	return verdict;
}

// Unmounts as root of a new user namespace, where the mounts of the box should be locked, and reads
// what they cover.
enum verdict try_MOUNTS_NESTED(void)
{
	static struct mounted mounted;
	struct tries tries = { 0 };
	long length = read_mounts();

	if (failed(&tries, call(__NR_unshare, CLONE_NEWUSER | CLONE_NEWNS, 0, 0, 0)))
		return all_failed(&tries);
	for (const char *line = mount_list; line < mount_list + length;) {
		line = parse_mount(line, mount_list + length, &mounted);
		if (!failed(&tries, call(__NR_umount2, mounted.path, DETACH, 0, 0)))
			return leaked("%s was unmounted", mounted.path);
	}
	for (const struct canary *file = NULL; (file = next_canary(file, CANARY_FILE));)
		if (read_token(file->field[1]) == 1)
			return leaked("%s can be read", file->field[1]);
	return remount(&tries);
}

enum verdict try_MOUNTS_PROPAGATION(void)
{
	static struct mounted mounted;
	long length = read_mounts();

	if (length < 0)
		return skipped("mountinfo: %s", error_name(length));
	for (const char *line = mount_list; line < mount_list + length;) {
		line = parse_mount(line, mount_list + length, &mounted);
		if (mounted.receives)
			return leaked("%s receives later mounts of the host", mounted.path);
	}
	return blocked("all mounts are private");
}
