// SPDX-License-Identifier: MIT
// The names that claudebox and the attack program exchange. Part of both, so without a C library.
#include "prove/protocol.h"

#include <stdbool.h>

const char *const verdict_names[VERDICT_COUNT] = {
	[VERDICT_BLOCKED] = "blocked", [VERDICT_LEAKED] = "leaked",   [VERDICT_OPEN] = "open",
	[VERDICT_GRANTED] = "granted", [VERDICT_SKIPPED] = "skipped", [VERDICT_NOT_RUN] = "not-run",
};

const char *const canary_kind_names[CANARY_KIND_COUNT] = {
	[CANARY_TOKEN] = "token",
	[CANARY_MARK] = "mark",
	[CANARY_TIER] = "tier",
	[CANARY_FILE] = "file",
	[CANARY_GENERATED] = "generated",
	[CANARY_ABSENT] = "absent",
	[CANARY_VARIABLE] = "env",
	[CANARY_DESCRIPTOR] = "fd",
	[CANARY_KEY] = "key",
	[CANARY_ABSTRACT] = "abstract",
	[CANARY_ABSTRACT_DATAGRAM] = "abstract-datagram",
	[CANARY_UNIX] = "unix",
	[CANARY_MOUNTED_SOCKET] = "mounted-socket",
	[CANARY_TCP] = "tcp",
	[CANARY_UDP] = "udp",
	[CANARY_INCOMING] = "incoming",
	[CANARY_PROCESS] = "pid",
	[CANARY_SHARED_MEMORY] = "sysv-shm",
	[CANARY_SEMAPHORE] = "sysv-sem",
	[CANARY_MESSAGES] = "sysv-msg",
	[CANARY_QUEUE] = "mqueue",
	[CANARY_HOSTNAME] = "hostname",
	[CANARY_MACHINE] = "machine-id",
	[CANARY_BOOT] = "boot-id",
	[CANARY_USER] = "user",
	[CANARY_MOUNT_SOURCE] = "mount-source",
	[CANARY_HARDWARE] = "mac",
	[CANARY_HOME] = "home",
	[CANARY_PROJECT] = "project",
	[CANARY_PARENT] = "parent",
	[CANARY_TERMINAL] = "terminal",
	[CANARY_LIMIT] = "limit",
	[CANARY_TOOLCHAIN] = "toolchain",
	[CANARY_PLACE] = "place",
	[CANARY_WRITE] = "write",
};

static const char *const attack_ids[ATTACK_COUNT] = {
#define ATTACK(id, group, tried, blocked_by) #id,
#include "prove/attacks.def"
};

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

// Returns the index of a name, or count.
static unsigned int find_name(const char *const *names, unsigned int count, const char *name)
{
	unsigned int i = 0;

	while (i < count && !is_same(names[i], name))
		i++;
	return i;
}

enum verdict verdict_by_name(const char *name)
{
	return find_name(verdict_names, VERDICT_COUNT, name);
}

enum canary_kind canary_kind_by_name(const char *name)
{
	return find_name(canary_kind_names, CANARY_KIND_COUNT, name);
}

void attack_write_name(enum attack_id attack, char name[ATTACK_NAME_SIZE])
{
	size_t length = 0;

	for (const char *s = attack_ids[attack]; *s && length + 1 < ATTACK_NAME_SIZE; s++)
		name[length++] = (char)(*s == '_' ? '-' : *s >= 'A' && *s <= 'Z' ? *s + 32 : *s);
	name[length] = 0;
}

enum attack_id attack_by_name(const char *name)
{
	char other[ATTACK_NAME_SIZE];
	enum attack_id attack = 0;

	for (; attack < ATTACK_COUNT; attack++) {
		attack_write_name(attack, other);
		if (is_same(other, name))
			break;
	}
	return attack;
}
