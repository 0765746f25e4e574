// SPDX-License-Identifier: MIT
// What the box can tell of the host it runs on.
#include "prove/attack/attack.h"

#include <linux/utsname.h>

enum { GROUPS = 256, NOBODY = 65534 };

static bool is_name_letter(char letter)
{
	return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
	       (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
}

// A whole word: the host may be called "vm".
static bool has_word(const char *text, size_t length, const char *word)
{
	const char *end = text + length;
	const char *found = text;

	while ((found = text_find(found, (size_t)(end - found), word))) {
		const char *after = found + text_length(word);

		if ((found == text || !is_name_letter(found[-1])) &&
		    (after == end || !is_name_letter(*after)))
			return true;
		found++;
	}
	return false;
}

// Where one of the canaries of a kind is written; NULL: nowhere.
static const char *search_files(struct tries *tries, const char *kind, const char *const *paths,
				size_t count)
{
	static char text[65536];

	for (size_t i = 0; i < count; i++) {
		long length = read_text(paths[i], text, sizeof(text));

		if (failed(tries, length))
			continue;
		for (const struct canary *canary = NULL; (canary = next_canary(canary, kind));)
			if (has_word(text, (size_t)length, canary->field[0]))
				return paths[i];
	}
	return NULL;
}

static enum verdict find_in_files(const char *kind, const char *const *paths, size_t count)
{
	struct tries tries = { 0 };
	const char *found;

	if (!next_canary(NULL, kind))
		return skipped("nothing to look for");
	found = search_files(&tries, kind, paths, count);
	return found ? leaked("%s says it", found) : held("nothing says it");
}

enum verdict try_IDENTITY_HOST_NAME(void)
{
	static const char *const paths[] = { "/proc/sys/kernel/hostname", "/etc/hostname",
					     "/etc/hosts", "/etc/mailname", "/etc/machine-info" };
	const struct canary *name = next_canary(NULL, "hostname");
	struct new_utsname system = { 0 };

	if (!name || text_equal(name->field[0], "localhost"))
		return skipped("it has no name of its own");
	call(__NR_uname, &system, 0, 0, 0);
	if (text_equal(system.nodename, name->field[0]))
		return leaked("uname says it");
	return find_in_files("hostname", paths, ARRAY_SIZE(paths));
}

enum verdict try_IDENTITY_MACHINE_ID(void)
{
	static const char *const paths[] = { "/etc/machine-id", "/var/lib/dbus/machine-id",
					     "/run/machine-id", "/etc/hostid" };

	return find_in_files("machine-id", paths, ARRAY_SIZE(paths));
}

// The kernel has one for all; nobody can be asked to hide it.
enum verdict try_IDENTITY_BOOT_ID(void)
{
	static const char *const paths[] = { "/proc/sys/kernel/random/boot_id" };
	enum verdict verdict = find_in_files("boot-id", paths, ARRAY_SIZE(paths));

	return verdict == LEAKED ? conclude(OPEN, "the kernel tells everybody") : verdict;
}

enum verdict try_IDENTITY_USERS(void)
{
	static const char *const paths[] = { "/etc/passwd",  "/etc/group",
					     "/etc/passwd-", "/etc/subuid",
					     "/etc/subgid",  "/var/lib/AccountsService/users" };

	return find_in_files("user", paths, ARRAY_SIZE(paths));
}

enum verdict try_IDENTITY_MOUNT_SOURCES(void)
{
	static const char *const paths[] = {
		"/proc/self/mountinfo", "/proc/1/mountinfo", "/proc/self/mounts",
		"/etc/fstab",           "/etc/mtab",         "/run/mount/utab"
	};

	return find_in_files("mount-source", paths, ARRAY_SIZE(paths));
}

// Those without a name here count for files that are mounted, and for nothing else.
enum verdict try_IDENTITY_GROUPS(void)
{
	unsigned int groups[GROUPS] = { 0 };
	long own = call(__NR_getegid, 0, 0, 0, 0);
	long count = call(__NR_getgroups, GROUPS, groups, 0, 0);
	int nameless = 0;

	for (long i = 0; i < count; i++) {
		if (groups[i] != NOBODY && groups[i] != (unsigned int)own)
			return leaked("it is in group %d", (int)groups[i]);
		nameless += groups[i] == NOBODY;
	}
	return nameless ? held("%d, without names or rights in the box", nameless)
			: held("its own only");
}

// Each line: number, controllers, path; in a namespace of its own the path is "/".
enum verdict try_IDENTITY_CGROUP(void)
{
	static const char *const paths[] = { "/proc/self/cgroup", "/proc/1/cgroup" };
	static char text[8192];
	struct tries tries = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		long length = read_text(paths[i], text, sizeof(text));
		int colons = 0;

		failed(&tries, length);
		for (long at = 0; at < length; at++) {
			if (colons >= 2 && (text[at - 1] != ':' || text[at] != '/') &&
			    text[at] != '\n')
				return leaked("%s shows the host's path", paths[i]);
			colons = text[at] == '\n' ? 0 : colons + (text[at] == ':');
		}
	}
	return blocked_by(&tries);
}
