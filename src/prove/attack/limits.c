// SPDX-License-Identifier: MIT
// Attacks on the limits of the box: on every level of the tree of cgroups (v2) that can be seen.
#include "prove/attack/attack.h"

#include <linux/sched.h>

enum { LEVELS = 256, NAMES_SIZE = 16384, LEVEL_SIZE = 512 };

static char levels[LEVELS][LEVEL_SIZE];

static void add_level(size_t *count, const char *directory, const char *name)
{
	if (*count < LEVELS && text_length(directory) + text_length(name) + 2 < LEVEL_SIZE)
		text_make(levels[(*count)++], LEVEL_SIZE, "%s%s%s", directory, *name ? "/" : "",
			  name);
}

// Where a tree is mounted, or else where namespaces of our own let us mount one; and all that is below.
static size_t find_levels(struct tries *tries)
{
	static char path[PATH_SIZE];
	static char names[NAMES_SIZE];
	size_t count = 0;

	for (size_t i = 0; mounted_at("cgroup2", i, path); i++)
		add_level(&count, path, "");
	if (!count &&
	    !failed(tries,
		    call(__NR_unshare, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP, 0, 0, 0)) &&
	    !failed(tries, call6(__NR_mount, (long)"none", (long)"/tmp", (long)"cgroup2", 0, 0, 0)))
		add_level(&count, "/tmp", "");
	for (size_t at = 0; at < count; at++) {
		long length = list_names(levels[at], names, sizeof(names));

		for (const char *name = names; name < names + length;
		     name += text_length(name) + 1) {
			text_make(path, sizeof(path), "%s/%s/cgroup.procs", levels[at], name);
			if (*name != '.' && call(__NR_faccessat, AT_FDCWD, path, 0, 0) == 0)
				add_level(&count, levels[at], name);
		}
	}
	return count;
}

static long write_into(const char *path, const char *text)
{
	long file = open_file(path, O_WRONLY);
	long result = file < 0 ? file : call(__NR_write, file, text, text_length(text), 0);

	close_file(file);
	return result;
}

// Its processes are listed by the numbers that they have here.
static bool is_ours(const char *level)
{
	static char text[8192];
	char path[LEVEL_SIZE + 32];
	char wanted[16];
	long length = read_text(text_make(path, sizeof(path), "%s/cgroup.procs", level), text,
				sizeof(text));

	text_make(wanted, sizeof(wanted), "%d\n", (int)call(__NR_getpid, 0, 0, 0, 0));
	return length > 0 &&
	       (text_starts(text, wanted) ||
		text_find(text, (size_t)length, text_make(path, sizeof(path), "\n%s", wanted)));
}

// That they are was read back from outside before this program could start.
enum verdict try_LIMITS_IN_FORCE(void)
{
	char shown[sizeof(outcome->why)] = "";
	size_t used = 0;

	for (const struct canary *limit = NULL; (limit = next_canary(limit, "limit"));) {
		if (!text_equal(limit->field[2], "asked"))
			continue;
		text_make(shown + used, sizeof(shown) - used, "%s%s %s", used ? ", " : "",
			  limit->field[0], limit->field[1]);
		used = text_length(shown);
	}
	return used ? held("%s", shown) : skipped("the profile asks for none");
}

// A word that makes no sense there: the kernel says EINVAL to who may change the limit.
enum verdict try_LIMITS_LIFT(void)
{
	struct tries tries = { 0 };
	char path[LEVEL_SIZE + 64];
	char said[64];
	size_t count;

	if (!next_canary(NULL, "limit"))
		return skipped("there is none");
	count = find_levels(&tries);
	for (size_t i = 0; i < count; i++)
		for (const struct canary *limit = NULL; (limit = next_canary(limit, "limit"));) {
			long result;

			text_make(path, sizeof(path), "%s/%s", levels[i], limit->field[0]);
			if (failed(&tries, read_text(path, said, sizeof(said))) ||
			    text_starts(said, "max"))
				continue;
			result = write_into(path, "x");
			if (failed(&tries, result) && result != -EINVAL)
				continue;
			return leaked("%s can be changed", path);
		}
	return blocked_by(&tries);
}

enum verdict try_LIMITS_LEAVE(void)
{
	struct tries tries = { 0 };
	char path[LEVEL_SIZE + 32];
	size_t count = find_levels(&tries);

	for (size_t i = 0; i < count; i++) {
		if (is_ours(levels[i]))
			continue;
		text_make(path, sizeof(path), "%s/cgroup.procs", levels[i]);
		if (!failed(&tries, write_into(path, "0")))
			return leaked("%s was entered", levels[i]);
	}
	return blocked_by(&tries);
}

enum verdict try_LIMITS_BELOW(void)
{
	struct tries tries = { 0 };
	char path[LEVEL_SIZE + 64];
	size_t count = find_levels(&tries);

	for (size_t i = 0; i < count; i++) {
		text_make(path, sizeof(path), "%s/%s", levels[i], probe.mark);
		if (failed(&tries, call(__NR_mkdirat, AT_FDCWD, path, 0755, 0)))
			continue;
		call(__NR_unlinkat, AT_FDCWD, path, 0x200 /* AT_REMOVEDIR */, 0);
		return leaked("%s was made", path);
	}
	return blocked_by(&tries);
}
