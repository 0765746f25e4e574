// SPDX-License-Identifier: MIT
// --prove: plants canaries, runs the attack program in the box, and reports the result.
//
// Theory of operation: signals are blocked from the first canary until the last one is removed. A
// signal that arrives meanwhile goes to the attack program, as to any agent, and ends it, so every
// signal but SIGKILL leads through the cleanup. After SIGKILL the child processes exit with this
// one, and the next --prove removes the rest. The box writes its output to memfds, which no process
// has to read while it runs.
#include "prove/prove.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "box/box.h"
#include "box/supervise.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "prove/attacks.h"
#include "prove/canaries.h"
#include "prove/journal.h"
#include "prove/listen.h"
#include "prove/places.h"
#include "prove/plant.h"
#include "prove/protocol.h"
#include "prove/render.h"
#include "prove/verdicts.h"
#include "sys/cleanup.h"
#include "sys/memfd.h"
#include "sys/output.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <termios.h>

extern const unsigned char attack_program[];
extern const size_t attack_program_size;

enum { OUTPUT_LIMIT = 1024 * 1024 };

// The saved standard streams, and the files that replace them.
struct streams {
	int saved[3];
	int files[3];
};

// Opens a memfd that every write appends to; -1 with errno.
static int open_output(const char *name)
{
	int fd = memfd_open(name, false);

	if (fd >= 0)
		fcntl(fd, F_SETFL, O_APPEND);
	return fd;
}

// Replaces the standard streams. A redirected standard input is not passed to the box; a terminal
// is.
static bool redirect_streams(struct streams *streams, struct error *error)
{
	streams->files[0] = isatty(STDIN_FILENO) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
						 : open("/dev/null", O_RDONLY | O_CLOEXEC);
	streams->files[1] = open_output("attack-output");
	streams->files[2] = open_output("attack-messages");
	for (int i = 0; i < 3; i++) {
		streams->saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
		if (streams->files[i] < 0 || dup2(streams->files[i], i) < 0)
			return error_set(error, "cannot redirect output: %s", strerror(errno));
	}
	return true;
}

static void restore_streams(const struct streams *streams)
{
	for (int i = 0; i < 3; i++) {
		if (streams->saved[i] >= 0)
			dup2(streams->saved[i], i);
		else
			close(i);
		cleanup_close(&streams->saved[i]);
	}
}

// Returns the content of a memfd, or "" if there is none or it is too long.
static const char *read_output(struct arena *arena, int fd)
{
	const char *text = memfd_read(arena, fd, OUTPUT_LIMIT);

	return text ? text : "";
}

// Discards terminal input if a terminal attack succeeded, so that the user's shell does not read
// input that came from the box.
static void drain_terminal(const struct proof *proof)
{
	CLEANUP_FD int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	for (enum attack_id attack = 0; terminal >= 0 && attack < ATTACK_COUNT; attack++)
		if (proof->rows[attack].verdict == VERDICT_LEAKED &&
		    str_equal(attack_table[attack].group, "terminal"))
			tcflush(terminal, TCIFLUSH);
}

// Plants the canaries, runs the box, checks the canaries and removes them. Returns false with an
// error if the box could not start.
static bool run_attacks(struct prove *prove, struct plan *plan, struct proof *ret_proof,
			struct error *error)
{
	struct streams streams = { { -1, -1, -1 }, { -1, -1, -1 } };
	const char *messages;
	int status = 0;
	bool ok;

	prove_plant(prove, plan);
	prove_grant_ports(prove->arena, plan, &prove->list);
	prove_change_plan(plan, prove->arena, attack_program, attack_program_size,
			  prove_render_canaries(prove->arena, &prove->list));
	ok = redirect_streams(&streams, error) && box_run(plan, prove->arena, &status, error);
	restore_streams(&streams);
	prove_stop_listening(prove);
	prove_check_canaries(prove);
	prove_remove_canaries(prove);
	*ret_proof = prove_judge(prove->arena, read_output(prove->arena, streams.files[1]), status,
				 &prove->list,
				 plan->config->nested ? plan->config->nested_origin.name : NULL);
	messages = read_output(prove->arena, streams.files[2]);
	if (!ok || ret_proof->problem)
		write_all(STDERR_FILENO, messages, strlen(messages));
	for (int i = 0; i < 3; i++)
		cleanup_close(&streams.files[i]);
	return ok;
}

bool prove_command(struct prove *prove, const struct config *config, const struct facts *facts,
		   struct plan *plan, int *ret_status, struct error *error)
{
	canaries places;
	struct proof proof;
	sigset_t before;
	bool ok;

	if (plan->state.upgrade.needed) {
		error_set(error, "'%s' is still in the layout of an earlier claudebox",
			  plan->state.root);
		return error_hint(error, "start a box first: claudebox --shell");
	}
	prove_change_home(plan, prove->arena, prove->mark);
	places = prove_places(prove->arena, plan, facts, prove->mark);
	prove_grant_variables(prove->arena, plan, &prove->list);
	vec_each(canary, &places)
		prove_add(prove, *canary);
	prove_add_places(prove->arena, plan, &prove->list);
	sigprocmask(SIG_BLOCK, NULL, &before);
	close(supervise_open_signals());
	ok = prove_open_journal(prove, plan, error);
	if (ok) {
		ok = run_attacks(prove, plan, &proof, error);
		prove_close_journal(prove, plan);
	}
	if (ok)
		drain_terminal(&proof);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!ok) {
		error->status = EXIT_NOT_STARTED;
		return false;
	}
	if (!output_print(STDOUT_FILENO,
			  config->output == OUTPUT_JSON
				  ? render_proof_json(prove->arena, plan, &proof)
				  : render_proof(prove->arena, plan, &proof,
						 output_reader(STDOUT_FILENO)),
			  error))
		return false;
	*ret_status = proof.problem || proof.counts[VERDICT_LEAKED] ? EXIT_CHECK_FAILED : 0;
	if (!proof.problem)
		return true;
	error->status = EXIT_CHECK_FAILED;
	return error_set(error, "the proof is incomplete: %s", proof.problem);
}
