// SPDX-License-Identifier: MIT
// The protocol between claudebox and the attack program in the box. Both include this header and
// link protocol.c. The attack program has no C library, so neither file uses one.
//
// Theory of operation: claudebox mounts a list of canaries at BOX_CANARIES, one line each: the kind
// and up to three fields, separated by tabs. The attack program writes one line to its standard
// output for each attack of attacks.def: name, verdict and reason, separated by tabs. The last line
// is PROTOCOL_END, the number of attacks and "-". A run without that line proves nothing.
#pragma once

#include <stddef.h>

#define BOX_ATTACK_PROGRAM "/run/claudebox/attack"
#define BOX_CANARIES       "/run/claudebox/canaries"
#define PROTOCOL_END       "end"

// The names of all planted objects start with this prefix, and so do the tokens in them.
#define CANARY_PREFIX "claudebox-canary-"

enum { CANARY_FIELDS = 3, ATTACK_NAME_SIZE = 64 };

enum verdict {
	VERDICT_BLOCKED,
	VERDICT_LEAKED,
	VERDICT_OPEN,    // succeeded, as the network tier intends
	VERDICT_GRANTED, // the user granted access; decided by claudebox, never sent
	VERDICT_SKIPPED, // nothing to attack
	VERDICT_NOT_RUN, // no result
	VERDICT_COUNT,
};
extern const char *const verdict_names[VERDICT_COUNT];

// Fields are in parentheses.
enum canary_kind {
	CANARY_TOKEN,             // the text in every planted object (token)
	CANARY_MARK,              // name of the attack program's own files in the project (name)
	CANARY_TIER,              // the network tier (name)
	CANARY_FILE,              // a planted file (name of the attack that reads it, path)
	CANARY_GENERATED,         // a file that claudebox generates for the box (path)
	CANARY_ABSENT,            // a secret place without a planted file (attack, path)
	CANARY_VARIABLE,          // an environment variable (name)
	CANARY_DESCRIPTOR,        // an open descriptor (number)
	CANARY_KEY,               // a key ("session" or "user", serial number)
	CANARY_ABSTRACT,          // an abstract stream socket (name)
	CANARY_ABSTRACT_DATAGRAM, // an abstract datagram socket (name)
	CANARY_UNIX,              // a stream socket in a directory (path)
	CANARY_MOUNTED_SOCKET,    // one in the project (path, "open" if the kernel cannot block it)
	CANARY_TCP,               // a TCP service ("loopback" or "host", address, port)
	CANARY_UDP,               // a UDP service ("loopback" or "host", address, port)
	CANARY_INCOMING,          // a port of the box that the host connects to (port)
	CANARY_PROCESS,           // a process of the host (pid)
	CANARY_SHARED_MEMORY,     // a System V shared memory segment (id, key)
	CANARY_SEMAPHORE,         // a System V semaphore set (id, key)
	CANARY_MESSAGES,          // a System V message queue (id, key)
	CANARY_QUEUE,             // a POSIX message queue (name)
	CANARY_HOSTNAME,          // the host's name (name)
	CANARY_MACHINE,           // the host's machine id (id)
	CANARY_BOOT,              // the host's boot id (id)
	CANARY_USER,              // another user of the host (name)
	CANARY_MOUNT_SOURCE,      // a device that no mount of the box comes from (path)
	CANARY_HARDWARE,          // a hardware address of the host (address)
	CANARY_HOME,              // the home directory (path)
	CANARY_PROJECT,           // the project (path)
	CANARY_PARENT,            // the nearest directory above the project outside the box (path)
	CANARY_TERMINAL,          // device number of claudebox's controlling terminal, or "no"
	CANARY_LIMIT,     // a cgroup limit (file, value, "requested" if the profile sets it)
	CANARY_TOOLCHAIN, // a mounted directory or file of a toolchain (path)
	CANARY_PLACE,     // a protected place (path, "file", "directory" or "pin")
	CANARY_WRITE,     // a path that must not come to exist on the host (path)
	CANARY_KIND_COUNT,
	// Kinds that are not sent, because only the host checks them.
	CANARY_WRITE_BY_ATTACK =
		CANARY_KIND_COUNT, // a path that one attack derives from CANARY_WRITE
	CANARY_NOT_PLANTED,        // could not be created
};
extern const char *const canary_kind_names[CANARY_KIND_COUNT];

enum attack_id {
#define ATTACK(id, group, tried, blocked_by) ATTACK_##id,
#include "prove/attacks.def"
	ATTACK_COUNT,
};

// Return the value of that name, or the COUNT value of the enum.
enum verdict verdict_by_name(const char *name);
enum canary_kind canary_kind_by_name(const char *name);
enum attack_id attack_by_name(const char *name);

// Writes the name of an attack: its id in lower case with '-', for example "files-ssh".
void attack_write_name(enum attack_id attack, char name[ATTACK_NAME_SIZE]);
