// SPDX-License-Identifier: MIT
// Starts bwrap from the plan.
//
// Theory of operation: bwrap gets its options from a pipe (--args) and an empty environment, so
// neither ps(1) nor /proc/1/environ shows them. Generated files are memfds and are never written to
// disk. Host paths are opened (inputs.c), compared with the files that the audit showed, and passed
// as descriptors, so a path that is replaced meanwhile is not mounted. Staged mounts are moved to
// their places later (mount_namespace.c). The command that bwrap runs is the init program of
// claudebox, also a memfd; init reads the agent's environment from another memfd.
#include "box/launch.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "box/box.h"
#include "box/cgroup.h"
#include "box/inputs.h"
#include "box/tether.h"
#include "init/protocol.h"
#include "plan/limits.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/process.h"
#include "sys/spawn.h"
#include "terminal/terminal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

// Returns the mask of ignored signals. Signals that the caller ignored, as nohup(1) does, stay
// ignored for the agent.
static unsigned long ignored_signals(void)
{
	unsigned long mask = 0;

	for (int number = 1; number < 32; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			mask |= 1UL << (number - 1);
	}
	return mask;
}

// Returns an empty environment for bwrap. systemd-run needs the variables that locate systemd, and
// PATH.
static const char **build_environment(struct arena *arena, const struct plan *plan)
{
	strings variables = { 0 };

	if (plan->limits.method == LIMITS_SYSTEMD)
		vec_push(arena, &variables, "PATH=/usr/bin:/bin:/run/current-system/sw/bin");
	if (plan->limits.runtime_directory)
		vec_push(arena, &variables,
			 arena_printf(arena, "XDG_RUNTIME_DIR=%s", plan->limits.runtime_directory));
	vec_push(arena, &variables, NULL);
	return variables.items;
}

// Returns the command line of bwrap, after that of systemd-run if the plan uses it.
static strings build_arguments(struct arena *arena, const struct plan *plan, const struct box *box)
{
	strings words = limits_render_prefix(arena, &plan->limits);
	bool own_terminal = box->terminal.relay != NULL;

	vec_push(arena, &words, words.count ? plan->bwrap : "bwrap");
	vec_push(arena, &words, "--args");
	vec_push(arena, &words, arena_printf(arena, "%d", INPUT_OPTIONS_FD));
	vec_push(arena, &words, "--");
	vec_push(arena, &words, arena_printf(arena, "/proc/self/fd/%d", INPUT_INIT_FD));
	vec_push(arena, &words,
		 arena_printf(arena, "%c%c%c%lu",
			      box->terminal.foreground || own_terminal ? INIT_FLAG_FOREGROUND : '-',
			      plan->sockets_blocked ? INIT_FLAG_SOCKETS
			      : plan->scoped        ? INIT_FLAG_SCOPED
						    : '-',
			      own_terminal ? INIT_FLAG_OWN_TERMINAL : '-', ignored_signals()));
	vec_each(word, &plan->command)
		vec_push(arena, &words, *word);
	vec_push(arena, &words, NULL);
	return words;
}

static void add_descriptors(struct spawn *spawn, const struct inputs *inputs, int control,
			    const struct terminal *terminal)
{
	const struct spawn_descriptor fixed[] = { { control, INIT_CONTROL_FD },
						  { inputs->environment, INIT_ENVIRONMENT_FD },
						  { inputs->init, INPUT_INIT_FD },
						  { inputs->options, INPUT_OPTIONS_FD } };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int replacement = terminal_standard_fd(terminal, fd);

		if (replacement >= 0)
			vec_push(inputs->arena, &spawn->descriptors,
				 (struct spawn_descriptor){ replacement, fd });
	}
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		vec_push(inputs->arena, &spawn->descriptors, fixed[i]);
}

// Returns the signals that are blocked in bwrap: those meant for the agent must not end or stop
// bwrap. They are blocked, not ignored, because ignoring a signal discards one that is pending.
// init resets the mask for the agent.
static const sigset_t *blocked_signals(struct arena *arena)
{
	static const int numbers[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGTSTP,
				       SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2, SIGALRM };
	sigset_t *set = arena_alloc(arena, sizeof(*set));

	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaddset(set, numbers[i]);
	return set;
}

static struct spawn build_spawn(const struct inputs *inputs, int control, const struct plan *plan,
				const struct box *box)
{
	strings arguments = build_arguments(inputs->arena, plan, box);
	struct spawn spawn = { .program = plan->limits.method == LIMITS_SYSTEMD ? arguments.items[0]
										: plan->bwrap,
			       .arguments = arguments.items,
			       .environment = build_environment(inputs->arena, plan),
			       .own_group = true, // box_kill() kills all processes of the start
			       .blocked = blocked_signals(inputs->arena) };

	add_descriptors(&spawn, inputs, control, &box->terminal);
	return spawn;
}

// Starts the program; without the cgroup if that fails and the user did not request limits.
static bool start(struct box *box, const struct plan *plan, const struct spawn *spawn,
		  struct error *error)
{
	const char *program = quote_display(error->arena, spawn->program, 0);

	if (cgroup_spawn(&box->cgroup, spawn, &box->bwrap) ||
	    (box->bwrap < 0 && cgroup_abandon(&box->cgroup, plan, errno) &&
	     cgroup_spawn(&box->cgroup, spawn, &box->bwrap)))
		return true;
	if (box->bwrap < 0 && box->cgroup.inner >= 0) {
		error_set(error, "cannot start a process in a cgroup: %s", strerror(errno));
		return error_hint(error,
				  "this needs Linux 5.7 and clone3(2); claudebox was started in "
				  "'%s'",
				  quote_display(error->arena, plan->limits.parent, 0));
	}
	error_set(error, "cannot execute '%s': %s", program, strerror(errno));
	if (plan->limits.method == LIMITS_SYSTEMD)
		return error_hint(error, "a profile without \"limits\" does not need systemd");
	return error_hint(error,
			  "check that it is bubblewrap: claudebox runs the first bwrap on PATH");
}

// Creates the control socket. SO_PASSCRED makes the kernel add the sender's pid to each message.
// *ret_control is the end for init.
static bool open_control(struct box *box, int *ret_control, struct error *error)
{
	int sockets[2];
	int on = 1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return error_set(error, "cannot create a socket pair: %s", strerror(errno));
	box->control_fd = inputs_move_up(sockets[0]);
	*ret_control = inputs_move_up(sockets[1]);
	setsockopt(box->control_fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	return true;
}

bool box_launch(struct box *box, const struct plan *plan, struct arena *arena, struct error *error)
{
	CLEANUP_FD int control = -1;
	struct inputs inputs;
	struct spawn spawn;
	bool started;

	box->terminal.fd = inputs_move_up(box->terminal.fd);
	started = inputs_create(&inputs, plan, arena, &box->info_fd, error) &&
		  cgroup_create(&box->cgroup, plan, arena, error) &&
		  open_control(box, &control, error);
	if (started) {
		spawn = build_spawn(&inputs, control, plan, box);
		started = start(box, plan, &spawn, error);
	}
	if (started) {
		box->bwrap_end = process_open(box->bwrap);
		if (inputs.hold >= 0)
			tether_attach(&box->tether, box->bwrap);
	}
	// Closes the pipe that bwrap reads its options from, and so lets bwrap continue.
	inputs_close(&inputs);
	return started;
}
