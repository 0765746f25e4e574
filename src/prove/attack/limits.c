// SPDX-License-Identifier: MIT
// Attacks on the limits of the box, in every cgroup (v2) that is visible.
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/format.h"
#include "prove/attack/io.h"
#include "prove/attack/mounts.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <asm/errno.h>
#include <linux/fcntl.h>
#include <linux/sched.h>

enum { MAX_CGROUPS = 256, NAMES_SIZE = 16384, CGROUP_SIZE = 512 };

static char cgroups[MAX_CGROUPS][CGROUP_SIZE];

static void add_cgroup(size_t *count, const char *directory, const char *name)
{
	if (*count < MAX_CGROUPS && text_length(directory) + text_length(name) + 2 < CGROUP_SIZE)
		text_format(cgroups[(*count)++], CGROUP_SIZE, "%s%s%s", directory, *name ? "/" : "",
			    name);
}

// Lists the mounted cgroups and those below them. If none is mounted, tries to mount the file
// system in new namespaces. Returns how many there are.
static size_t find_cgroups(struct tries *tries)
{
	static char path[PATH_SIZE];
	static char names[NAMES_SIZE];
	size_t count = 0;

	for (size_t i = 0; find_mount("cgroup2", i, path); i++)
		add_cgroup(&count, path, "");
	if (!count &&
	    !failed(tries,
		    call(__NR_unshare, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP, 0, 0, 0)) &&
	    !failed(tries, call6(__NR_mount, (long)"none", (long)"/tmp", (long)"cgroup2", 0, 0, 0)))
		add_cgroup(&count, "/tmp", "");
	for (size_t at = 0; at < count; at++) {
		long length = list_names(cgroups[at], names, sizeof(names));

		for (const char *name = names; name < names + length;
		     name += text_length(name) + 1) {
			text_format(path, sizeof(path), "%s/%s/cgroup.procs", cgroups[at], name);
			if (*name != '.' && call(__NR_faccessat, AT_FDCWD, path, 0, 0) == 0)
				add_cgroup(&count, cgroups[at], name);
		}
	}
	return count;
}

static long write_text(const char *path, const char *text)
{
	long file = open_file(path, O_WRONLY);
	long result = file < 0 ? file : call(__NR_write, file, text, text_length(text), 0);

	close_file(file);
	return result;
}

// Returns whether this process is in the cgroup. cgroup.procs lists pids of the own PID namespace.
static bool is_own_cgroup(const char *cgroup)
{
	static char text[8192];
	char path[CGROUP_SIZE + 32];
	char wanted[16];
	long length = read_text(text_format(path, sizeof(path), "%s/cgroup.procs", cgroup), text,
				sizeof(text));

	text_format(wanted, sizeof(wanted), "%d\n", (int)call(__NR_getpid, 0, 0, 0, 0));
	return length > 0 &&
	       (text_starts(text, wanted) ||
		text_find(text, (size_t)length, text_format(path, sizeof(path), "\n%s", wanted)));
}

// The supervisor has read the limits back before this program could start.
enum verdict try_LIMITS_IN_FORCE(void)
{
	char shown[sizeof(outcome->why)] = "";
	size_t used = 0;

	for (const struct canary *limit = NULL; (limit = next_canary(limit, CANARY_LIMIT));) {
		if (!text_equal(limit->field[2], "requested"))
			continue;
		text_format(shown + used, sizeof(shown) - used, "%s%s %s", used ? ", " : "",
			    limit->field[0], limit->field[1]);
		used = text_length(shown);
	}
	return used ? blocked("%s", shown) : skipped("the profile sets none");
}

// Writes an invalid value: the kernel returns EINVAL to a process that may change the limit.
enum verdict try_LIMITS_LIFT(void)
{
	struct tries tries = { 0 };
	char path[CGROUP_SIZE + 64];
	char value[64];
	size_t count;

	if (!next_canary(NULL, CANARY_LIMIT))
		return skipped("no limit is set");
	count = find_cgroups(&tries);
	for (size_t i = 0; i < count; i++)
		for (const struct canary *limit = NULL;
		     (limit = next_canary(limit, CANARY_LIMIT));) {
			long result;

			text_format(path, sizeof(path), "%s/%s", cgroups[i], limit->field[0]);
			if (failed(&tries, read_text(path, value, sizeof(value))) ||
			    text_starts(value, "max"))
				continue;
			result = write_text(path, "x");
			if (failed(&tries, result) && result != -EINVAL)
				continue;
			return leaked("%s can be changed", path);
		}
	return all_failed(&tries);
}

enum verdict try_LIMITS_LEAVE(void)
{
	struct tries tries = { 0 };
	char path[CGROUP_SIZE + 32];
	size_t count = find_cgroups(&tries);

	for (size_t i = 0; i < count; i++) {
		if (is_own_cgroup(cgroups[i]))
			continue;
		text_format(path, sizeof(path), "%s/cgroup.procs", cgroups[i]);
		if (!failed(&tries, write_text(path, "0")))
			return leaked("%s was entered", cgroups[i]);
	}
	return all_failed(&tries);
}

enum verdict try_LIMITS_BELOW(void)
{
	struct tries tries = { 0 };
	char path[CGROUP_SIZE + 64];
	size_t count = find_cgroups(&tries);

	for (size_t i = 0; i < count; i++) {
		text_format(path, sizeof(path), "%s/%s", cgroups[i], context.mark);
		if (failed(&tries, call(__NR_mkdirat, AT_FDCWD, path, 0755, 0)))
			continue;
		call(__NR_unlinkat, AT_FDCWD, path, 0x200 /* AT_REMOVEDIR */, 0);
		return leaked("%s was created", path);
	}
	return all_failed(&tries);
}
