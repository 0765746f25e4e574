// SPDX-License-Identifier: MIT
// What the attacks of --prove came to: the probe's lines, what the user granted, and what the host saw.
#include "prove/verdicts.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "prove/canaries.h"

#include <string.h>

#define ATTACK(id, group, tried, blocked_by) { #id, group, tried, blocked_by },
const struct attack attack_table[] = {
#include "prove/attacks.def"
};
#undef ATTACK
const size_t attack_count = ARRAY_SIZE(attack_table);

const char *const verdict_names[VERDICT_COUNT] = {
	[VERDICT_BLOCKED] = "held",    [VERDICT_LEAKED] = "leaked",   [VERDICT_OPEN] = "open",
	[VERDICT_GRANTED] = "granted", [VERDICT_SKIPPED] = "skipped", [VERDICT_NOT_RUN] = "not-run",
};

const char *attack_name(struct arena *arena, const struct attack *attack)
{
	char *name = arena_strdup(arena, attack->id);

	for (char *s = name; *s; s++) {
		if (*s == '_')
			*s = '-';
		else if (*s >= 'A' && *s <= 'Z')
			*s = (char)(*s - 'A' + 'a');
	}
	return name;
}

static size_t find_attack(struct arena *arena, const char *name)
{
	size_t i = 0;

	while (i < attack_count && !str_equal(attack_name(arena, &attack_table[i]), name))
		i++;
	return i;
}

static enum verdict find_verdict(const char *name)
{
	enum verdict verdict = VERDICT_BLOCKED;

	while (verdict < VERDICT_GRANTED && !str_equal(verdict_names[verdict], name))
		verdict++;
	if (verdict < VERDICT_GRANTED)
		return verdict;
	// "failed", or what nobody knows: it proves nothing.
	return str_equal(name, "skipped") ? VERDICT_SKIPPED : VERDICT_NOT_RUN;
}

// NAME TAB VERDICT TAB WHY; the last line is "end TAB COUNT TAB -". Whether there was one.
static bool read_output(struct arena *arena, struct proof *proof, const char *output)
{
	bool ended = false;
	char *name;

	while (!ended && (name = str_next_line(arena, &output))) {
		char *verdict = strchr(name, '\t');
		char *why = verdict ? strchr(verdict + 1, '\t') : NULL;

		if (!why)
			continue;
		*verdict++ = *why++ = '\0';
		ended = str_equal(name, "end");

		size_t i = find_attack(arena, name);

		if (i < attack_count && proof->rows[i].verdict == VERDICT_NOT_RUN)
			proof->rows[i] = (struct proof_row){ find_verdict(verdict), why };
	}
	return ended;
}

// Attacks by their place in the table.
#define ATTACK(id, group, tried, blocked_by) id,
enum attack_id {
#include "prove/attacks.def"
};
#undef ATTACK

// Which attack reads which class of files.
static const struct {
	const char *name;
	enum attack_id attack;
} classes[] = {
#define CLASS(name, attack) { name, attack },
#include "prove/classes.def"
#undef CLASS
};

static enum attack_id attack_of_class(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		if (str_equal(classes[i].name, name))
			return classes[i].attack;
	return FILES_OTHERS;
}

// Which attack answers for what was done to which canary, as seen from the host.
static const struct aim {
	enum canary_kind kind;
	enum attack_id attack;
	const char *group; // NULL: any
} aims[] = {
	{ CANARY_FILE, WRITE_CANARIES, NULL },
	{ CANARY_WRITE, WRITE_CREATE, NULL },
	{ CANARY_ABSTRACT, SOCKETS_ABSTRACT, NULL },
	{ CANARY_ABSTRACT_DATAGRAM, SOCKETS_ABSTRACT_DATAGRAM, NULL },
	{ CANARY_UNIX, SOCKETS_PATH, NULL },
	{ CANARY_TCP, NETWORK_LOOPBACK_TCP, "loopback" },
	{ CANARY_TCP, NETWORK_HOST_TCP, "host" },
	{ CANARY_UDP, NETWORK_LOOPBACK_UDP, "loopback" },
	{ CANARY_UDP, NETWORK_HOST_UDP, "host" },
	{ CANARY_PROCESS, PROCESSES_SIGNAL, NULL },
	{ CANARY_SHARED_MEMORY, MEMORY_SHM_ID, NULL },
	{ CANARY_SEMAPHORE, MEMORY_SEMAPHORES, NULL },
	{ CANARY_MESSAGES, MEMORY_MESSAGES, NULL },
	{ CANARY_QUEUE, MEMORY_MQUEUE, NULL },
};

static bool did_harm(enum attack_id attack, const struct canary *canary)
{
	if (!canary->harm)
		return false;
	if (canary->kind == CANARY_MADE)
		return str_equal(canary->group, attack_table[attack].id);
	for (size_t i = 0; i < ARRAY_SIZE(aims); i++)
		if (aims[i].attack == attack && aims[i].kind == canary->kind &&
		    (!aims[i].group || str_equal(aims[i].group, canary->group)))
			return true;
	return false;
}

static bool was_granted(enum attack_id attack, const struct canary *canary)
{
	if (!canary->granted)
		return false;
	switch (canary->kind) {
	case CANARY_VARIABLE:
		return attack == ENVIRONMENT_OWN;
	case CANARY_FILE:
	case CANARY_ABSENT:
		return attack == attack_of_class(canary->group);
	case CANARY_UNIX:
		return attack == SOCKETS_PATH;
	case CANARY_TCP:
		return attack == NETWORK_LOOPBACK_TCP;
	case CANARY_INCOMING:
		return attack == NETWORK_INCOMING;
	case CANARY_WRITE:
		return attack == WRITE_CREATE;
	default:
		return false;
	}
}

// One after the other, each once.
static void grant(struct arena *arena, struct proof_row *row, const char *granted)
{
	if (row->verdict == VERDICT_BLOCKED || row->verdict == VERDICT_SKIPPED)
		*row = (struct proof_row){ VERDICT_GRANTED, granted };
	else if (row->verdict == VERDICT_GRANTED && !strstr(row->why, granted))
		row->why = arena_printf(arena, "%s; %s", row->why, granted);
}

// What a box that may make boxes has open: namespaces, and the list of keys, for below a cover over a part of /proc no box
// inside could mount one of its own.
static bool comes_with_nested(enum attack_id attack)
{
	switch (attack) {
	case KERNEL_USER_NAMESPACE:
	case KERNEL_CLONE_NAMESPACE:
	case KERNEL_CLONE3_NAMESPACE:
	case KEYS_LIST:
		return true;
	default:
		return false;
	}
}

// The probe was not told of what was granted, so what it says is about the rest; and it cannot see what it did to the host.
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
			*row = (struct proof_row){ VERDICT_LEAKED,
						   arena_printf(arena, "%s: %s, seen from the host",
								canary->value, canary->harm) };
	}
}

static const char *find_problem(struct arena *arena, const struct proof *proof, int status,
				bool ended)
{
	size_t missing = proof->counts[VERDICT_NOT_RUN];

	if (status > EXIT_SIGNAL_BASE)
		return arena_printf(arena, "signal %d ended the probe, %zu attacks were not made",
				    status - EXIT_SIGNAL_BASE, missing);
	if (status || !ended)
		return arena_printf(arena,
				    "the probe ended early (status %d), %zu attacks were "
				    "not made",
				    status, missing);
	return missing ? arena_printf(arena, "%zu attacks were not made", missing) : NULL;
}

struct proof prove_judge(struct arena *arena, const char *output, int status, const canaries *list,
			 const char *nested_by)
{
	struct proof proof = { .rows = arena_alloc(arena, attack_count * sizeof(*proof.rows)) };
	bool ended;

	for (size_t i = 0; i < attack_count; i++)
		proof.rows[i] = (struct proof_row){ VERDICT_NOT_RUN, "the probe said nothing" };
	ended = read_output(arena, &proof, output);
	for (size_t i = 0; i < attack_count; i++) {
		judge_row(arena, &proof.rows[i], (enum attack_id)i, list, nested_by);
		proof.counts[proof.rows[i].verdict]++;
	}
	proof.problem = find_problem(arena, &proof, status, ended);
	return proof;
}
