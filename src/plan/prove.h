// SPDX-License-Identifier: MIT
// --prove: what is planted on the host, what the probe in the box says about it, and what that means.
//
// Theory of operation: canaries are marks with a random token, in every kind of place that the box must not reach. The
// probe gets their list, and the box of the plan with no other change, and prints a line for each attack of
// prove/attacks.def. What the plan lets in because the user asked for it is not in the list; its attacks are
// "granted". What only the host can see afterwards turns an attack that looked held into a leak.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
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
	CANARY_HOST_NAME,
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

extern const char *const canary_kind_names[CANARY_KIND_COUNT];

// Files, sockets and paths to try, all with the name `mark`, and the limits.
canaries prove_places(struct arena *arena, const struct plan *plan, const struct host *host,
		      const char *mark);
// Marks variables that the plan passes; they lose the token.
void prove_grant_variables(struct arena *arena, struct plan *plan, canaries *list);
// Adds the ports that the plan opens, each way; one of ours that is the same by chance is not attacked.
void prove_grant_ports(struct arena *arena, const struct plan *plan, canaries *list);
// For the probe.
const char *prove_render_canaries(struct arena *arena, const canaries *list);
// The plan's box, with the probe as its command.
#define BOX_PROBE    BOX_RUN "/probe"
#define BOX_CANARIES BOX_RUN "/canaries"
void prove_change_plan(struct plan *plan, struct arena *arena, const void *probe, size_t probe_size,
		       const char *canary_text);

enum verdict {
	VERDICT_HELD,
	VERDICT_LEAKED,
	VERDICT_OPEN,    // the tier means it
	VERDICT_GRANTED, // the user asked for it
	VERDICT_SKIPPED, // there was nothing to attack
	VERDICT_NOT_RUN,
	VERDICT_COUNT,
};
extern const char *const verdict_names[VERDICT_COUNT];

struct attack {
	const char *id; // as in the table
	const char *group;
	const char *tried;
	const char *held_by;
};
extern const struct attack attack_table[];
extern const size_t attack_count;
const char *attack_name(struct arena *arena, const struct attack *attack);

struct proof_row {
	enum verdict verdict;
	const char *why;
};

struct proof {
	struct proof_row *rows; // one for each attack
	size_t counts[VERDICT_COUNT];
	const char *problem; // why it proves nothing, NULL: it is complete
};
// From what the probe printed, how it ended, and what the host saw. `nested_by`: who let the box make boxes, or NULL.
struct proof prove_judge(struct arena *arena, const char *output, int status, const canaries *list,
			 const char *nested_by);

const char *render_proof(struct arena *arena, const struct plan *plan, const struct proof *proof,
			 struct reader reader);
const char *render_proof_json(struct arena *arena, const struct plan *plan,
			      const struct proof *proof);
