// SPDX-License-Identifier: MIT
// The verdict on each attack, from the output of the attack program, the user's grants, and the
// changes that the host observed.
#include "prove/verdicts.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "prove/attacks.h"
#include "prove/canaries.h"
#include "prove/protocol.h"

#include <string.h>

// Returns the verdict that the attack program sent. Only claudebox decides VERDICT_GRANTED, so that
// name counts as no result, like an unknown one.
static enum verdict parse_verdict(const char *name)
{
	enum verdict verdict = verdict_by_name(name);

	return verdict == VERDICT_GRANTED || verdict == VERDICT_COUNT ? VERDICT_NOT_RUN : verdict;
}

// Reads the lines of the attack program; the first line of an attack counts. Returns whether the
// last line is there.
static bool read_output(struct arena *arena, struct proof *proof, const char *output)
{
	bool ended = false;
	char *name;

	while (!ended && (name = str_next_line(arena, &output))) {
		char *verdict = strchr(name, '\t');
		char *why = verdict ? strchr(verdict + 1, '\t') : NULL;
		enum attack_id attack;

		if (!why)
			continue;
		*verdict++ = *why++ = '\0';
		ended = str_equal(name, PROTOCOL_END);
		attack = attack_by_name(name);
		if (attack < ATTACK_COUNT && proof->rows[attack].verdict == VERDICT_NOT_RUN)
			proof->rows[attack] = (struct proof_row){ parse_verdict(verdict), why };
	}
	return ended;
}

// The attack that is charged with a change to a canary, as the host observes it.
static const struct target {
	enum canary_kind kind;
	enum attack_id attack;
	const char *group; // NULL for any
} targets[] = {
	{ CANARY_FILE, ATTACK_WRITE_CANARIES, NULL },
	{ CANARY_WRITE, ATTACK_WRITE_CREATE, NULL },
	{ CANARY_ABSTRACT, ATTACK_SOCKETS_ABSTRACT, NULL },
	{ CANARY_ABSTRACT_DATAGRAM, ATTACK_SOCKETS_ABSTRACT_DATAGRAM, NULL },
	{ CANARY_UNIX, ATTACK_SOCKETS_PATH, NULL },
	{ CANARY_MOUNTED_SOCKET, ATTACK_SOCKETS_MOUNTED, NULL },
	{ CANARY_TCP, ATTACK_NETWORK_LOOPBACK_TCP, "loopback" },
	{ CANARY_TCP, ATTACK_NETWORK_HOST_TCP, "host" },
	{ CANARY_UDP, ATTACK_NETWORK_LOOPBACK_UDP, "loopback" },
	{ CANARY_UDP, ATTACK_NETWORK_HOST_UDP, "host" },
	{ CANARY_PROCESS, ATTACK_PROCESSES_SIGNAL, NULL },
	{ CANARY_SHARED_MEMORY, ATTACK_MEMORY_SHM_ID, NULL },
	{ CANARY_SEMAPHORE, ATTACK_MEMORY_SEMAPHORES, NULL },
	{ CANARY_MESSAGES, ATTACK_MEMORY_MESSAGES, NULL },
	{ CANARY_QUEUE, ATTACK_MEMORY_MQUEUE, NULL },
};

// Returns whether the host observed a change that this attack caused.
static bool did_harm(enum attack_id attack, const struct canary *canary)
{
	if (!canary->harm)
		return false;
	if (canary->kind == CANARY_WRITE_BY_ATTACK)
		return attack_by_name(canary->group) == attack;
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		if (targets[i].attack == attack && targets[i].kind == canary->kind &&
		    (!targets[i].group || str_equal(targets[i].group, canary->group)))
			return true;
	return false;
}

// Returns whether the user granted a canary that this attack would have tried.
static bool was_granted(enum attack_id attack, const struct canary *canary)
{
	if (!canary->granted)
		return false;
	switch (canary->kind) {
	case CANARY_VARIABLE:
		return attack == ATTACK_ENVIRONMENT_OWN;
	case CANARY_FILE:
	case CANARY_ABSENT:
		return attack == attack_by_name(canary->group);
	case CANARY_UNIX:
		return attack == ATTACK_SOCKETS_PATH;
	case CANARY_TCP:
		return attack == ATTACK_NETWORK_LOOPBACK_TCP;
	case CANARY_INCOMING:
		return attack == ATTACK_NETWORK_INCOMING;
	case CANARY_PLACE:
		return attack == ATTACK_PROJECT_WRITE;
	case CANARY_WRITE:
		return attack == ATTACK_WRITE_CREATE;
	default:
		return false;
	}
}

// Changes a verdict to granted, or adds a further grant to it. A leak stays a leak.
static void grant(struct arena *arena, struct proof_row *row, const char *granted)
{
	if (row->verdict == VERDICT_BLOCKED || row->verdict == VERDICT_SKIPPED)
		*row = (struct proof_row){ VERDICT_GRANTED, granted };
	else if (row->verdict == VERDICT_GRANTED && !strstr(row->why, granted))
		row->why = arena_printf(arena, "%s; %s", row->why, granted);
}

// Returns whether an attack succeeds by design in a nested box. Such a box can create namespaces
// and the set-id files of container images. Its /proc/keys is not covered, because the kernel
// refuses to mount /proc in a user namespace where parts of /proc are covered.
static bool comes_with_nested(enum attack_id attack)
{
	switch (attack) {
	case ATTACK_KERNEL_USER_NAMESPACE:
	case ATTACK_KERNEL_CLONE_NAMESPACE:
	case ATTACK_KERNEL_CLONE3_NAMESPACE:
	case ATTACK_KEYS_LIST:
	case ATTACK_WRITE_SET_ID:
		return true;
	default:
		return false;
	}
}

// Decides the verdict of one attack. The list that the attack program reads has no granted
// canaries, so its verdict concerns the others. It cannot see changes on the host, so those are
// added here.
static void judge_row(struct arena *arena, struct proof_row *row, enum attack_id attack,
		      const canaries *list, const char *nested_by)
{
	if (nested_by && row->verdict == VERDICT_LEAKED && comes_with_nested(attack))
		*row = (struct proof_row){ VERDICT_GRANTED,
					   arena_printf(arena, "\"nested\", %s", nested_by) };
	vec_each(canary, list) {
		if (was_granted(attack, canary))
			grant(arena, row, canary->granted);
	}
	vec_each(canary, list) {
		if (row->verdict != VERDICT_OPEN && row->verdict != VERDICT_LEAKED &&
		    did_harm(attack, canary))
			*row = (struct proof_row){
				VERDICT_LEAKED, arena_printf(arena, "%s %s (observed on the host)",
							     canary->value, canary->harm)
			};
	}
}

// Returns why the proof is incomplete, or NULL.
static const char *find_problem(struct arena *arena, const struct proof *proof, int status,
				bool ended)
{
	size_t missing = proof->counts[VERDICT_NOT_RUN];

	if (status > EXIT_SIGNAL_BASE)
		return arena_printf(arena,
				    "signal %d killed the attack program, %zu attacks did not run",
				    status - EXIT_SIGNAL_BASE, missing);
	if (status || !ended)
		return arena_printf(arena,
				    "the attack program exited early (status %d), "
				    "%zu attacks did not run",
				    status, missing);
	return missing ? arena_printf(arena, "%zu attacks did not run", missing) : NULL;
}

struct proof prove_judge(struct arena *arena, const char *output, int status, const canaries *list,
			 const char *nested_by)
{
	struct proof proof = { 0 };
	bool ended;

	for (enum attack_id attack = 0; attack < ATTACK_COUNT; attack++)
		proof.rows[attack] =
			(struct proof_row){ VERDICT_NOT_RUN, "the attack program sent no result" };
	ended = read_output(arena, &proof, output);
	for (enum attack_id attack = 0; attack < ATTACK_COUNT; attack++) {
		judge_row(arena, &proof.rows[attack], attack, list, nested_by);
		proof.counts[proof.rows[attack].verdict]++;
	}
	proof.problem = find_problem(arena, &proof, status, ended);
	return proof;
}
