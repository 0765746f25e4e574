// SPDX-License-Identifier: MIT
// Attacks on the identity of the host: names, ids, users, mounts.
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <linux/utsname.h>

enum { MAX_GROUPS = 256, NOBODY = 65534 };

static bool is_name_letter(char letter)
{
	return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
	       (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
}

// Returns whether the text contains a whole word. A host may have a short name such as "vm".
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

// Returns the first path whose file contains a canary of this kind, or NULL.
static const char *search_files(struct tries *tries, enum canary_kind kind,
				const char *const *paths, size_t count)
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

static enum verdict find_in_files(enum canary_kind kind, const char *const *paths, size_t count)
{
	struct tries tries = { 0 };
	const char *found;

	if (!next_canary(NULL, kind))
		return skipped("the host has none");
	found = search_files(&tries, kind, paths, count);
	return found ? leaked("%s contains it", found) : blocked("in no file");
}

enum verdict try_IDENTITY_HOST_NAME(void)
{
	static const char *const paths[] = { "/proc/sys/kernel/hostname", "/etc/hostname",
					     "/etc/hosts", "/etc/mailname", "/etc/machine-info" };
	const struct canary *name = next_canary(NULL, CANARY_HOSTNAME);
	struct new_utsname system = { 0 };

	if (!name || text_equal(name->field[0], "localhost"))
		return skipped("the host has no name");
	call(__NR_uname, &system, 0, 0, 0);
	if (text_equal(system.nodename, name->field[0]))
		return leaked("uname shows it");
	return find_in_files(CANARY_HOSTNAME, paths, ARRAY_SIZE(paths));
}

enum verdict try_IDENTITY_MACHINE_ID(void)
{
	static const char *const paths[] = { "/etc/machine-id", "/var/lib/dbus/machine-id",
					     "/run/machine-id", "/etc/hostid" };

	return find_in_files(CANARY_MACHINE, paths, ARRAY_SIZE(paths));
}

// The kernel shows the boot id to every process and cannot hide it.
enum verdict try_IDENTITY_BOOT_ID(void)
{
	static const char *const paths[] = { "/proc/sys/kernel/random/boot_id" };
	enum verdict verdict = find_in_files(CANARY_BOOT, paths, ARRAY_SIZE(paths));

	return verdict == VERDICT_LEAKED
		       ? conclude(VERDICT_OPEN, "the kernel shows it to every process")
		       : verdict;
}

enum verdict try_IDENTITY_USERS(void)
{
	static const char *const paths[] = { "/etc/passwd",  "/etc/group",
					     "/etc/passwd-", "/etc/subuid",
					     "/etc/subgid",  "/var/lib/AccountsService/users" };

	return find_in_files(CANARY_USER, paths, ARRAY_SIZE(paths));
}

enum verdict try_IDENTITY_MOUNT_SOURCES(void)
{
	static const char *const paths[] = {
		"/proc/self/mountinfo", "/proc/1/mountinfo", "/proc/self/mounts",
		"/etc/fstab",           "/etc/mtab",         "/run/mount/utab"
	};

	return find_in_files(CANARY_MOUNT_SOURCE, paths, ARRAY_SIZE(paths));
}

// Groups that the user namespace does not map appear as NOBODY. They apply to mounted files only.
enum verdict try_IDENTITY_GROUPS(void)
{
	unsigned int groups[MAX_GROUPS] = { 0 };
	long own = call(__NR_getegid, 0, 0, 0, 0);
	long count = call(__NR_getgroups, MAX_GROUPS, groups, 0, 0);
	int unmapped = 0;

	for (long i = 0; i < count; i++) {
		if (groups[i] != NOBODY && groups[i] != (unsigned int)own)
			return leaked("member of group %d", (int)groups[i]);
		unmapped += groups[i] == NOBODY;
	}
	return unmapped ? blocked("%d groups, not mapped in the box", unmapped)
			: blocked("no other group");
}

// A line is number:controllers:path. In a private cgroup namespace the path is "/".
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
	return all_failed(&tries);
}
