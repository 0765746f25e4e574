// SPDX-License-Identifier: MIT
// Where --prove plants its canaries, and which of them the user has let into the box.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

// Names of all that is planted start like this, and so do the tokens in it.
#define CANARY_PREFIX "claudebox-canary-"
enum { TOKEN_DIGITS = 32, MARK_DIGITS = 12 };

enum canary_kind {
	CANARY_TOKEN,
	CANARY_MARK, // what the probe's own files in the project are called
	CANARY_TIER,
	CANARY_FILE,   // group: its class
	CANARY_ABSENT, // group: its class; nothing is planted, and nothing may be opened
	CANARY_VARIABLE,
	CANARY_DESCRIPTOR,
	CANARY_KEY, // group: session or user
	CANARY_ABSTRACT,
	CANARY_ABSTRACT_DATAGRAM,
	CANARY_UNIX,
	CANARY_TCP, // group: loopback or host; extra: the port
	CANARY_UDP,
	CANARY_INCOMING, // a port of the box, which the host tries to reach
	CANARY_PROCESS,
	CANARY_SHARED_MEMORY, // extra: the key
	CANARY_SEMAPHORE,
	CANARY_MESSAGES,
	CANARY_QUEUE,
	CANARY_HOSTNAME,
	CANARY_MACHINE,
	CANARY_BOOT,
	CANARY_USER,
	CANARY_MOUNT_SOURCE,
	CANARY_HARDWARE,
	CANARY_HOME,
	CANARY_PROJECT,
	CANARY_PARENT,
	CANARY_TERMINAL,
	CANARY_LIMIT,      // group: the file, value: what it says; extra: whether it was asked for
	CANARY_WRITE,      // must not come into being
	CANARY_MADE,       // nor this, which the attack in `group` would make; the probe knows
	CANARY_KIND_COUNT, // as a kind: could not be planted
};

struct canary {
	enum canary_kind kind;
	const char *group;
	const char *value;
	const char *extra;
	const char *granted; // by whom; then neither planted nor attacked
	const char *harm;    // what the host saw of it afterwards, NULL: nothing
	bool secret;         // of a file: where it cannot be planted, nothing may be opened either
};
typedef VEC(struct canary) canaries;

// The plan's box, with the probe as its command.
#define BOX_PROBE    BOX_RUN "/probe"
#define BOX_CANARIES BOX_RUN "/canaries"

extern const char *const canary_kind_names[CANARY_KIND_COUNT];
// Files, sockets and paths to try, all with the name `mark`, and the limits.
canaries prove_places(struct arena *arena, const struct plan *plan, const struct facts *facts,
		      const char *mark);
// Marks variables that the plan passes; they lose the token.
void prove_grant_variables(struct arena *arena, struct plan *plan, canaries *list);
// Adds the ports that the plan opens, each way; one of ours that is the same by chance is not attacked.
void prove_grant_ports(struct arena *arena, const struct plan *plan, canaries *list);
// For the probe.
const char *prove_render_canaries(struct arena *arena, const canaries *list);
void prove_change_plan(struct plan *plan, struct arena *arena, const void *probe, size_t probe_size,
		       const char *canary_text);
