// SPDX-License-Identifier: MIT
// Runs nix on the host: reads its output, shows its progress, and stops it when a signal arrives.
//
// Theory of operation: while nix runs, the signals that would end claudebox are blocked and read
// from a signalfd. When one arrives, nix gets SIGTERM, so that it stops the build in the daemon,
// and claudebox ends without starting a box. nix stays in claudebox's process group, so that Ctrl+Z
// suspends both. The kernel sends it SIGTERM if claudebox dies.
#include "nix/command.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "base/width.h"
#include "plan/facts.h"
#include "plan/nix/package_messages.h"
#include "probe/programs.h"
#include "probe/user.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/output.h"
#include "sys/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
	OUTPUT_MAX = 8 * 1024 * 1024,
	MESSAGES_MAX = 256 * 1024,
	MESSAGES_KEPT = 64 * 1024,
	PROGRESS_DELAY_MS = 500, // before the first message to the user
	STOP_TIMEOUT_MS = 3000,
	OUTPUT_TOO_LARGE = -1, // in place of the number of a signal
};

static const int stop_signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

// Variables that nix gets from the caller's environment: the locations of the user's files, and
// access to the network. NIX_PATH and other variables that change the meaning of a name are not
// among them.
static const char *const passed_variables[] = {
	"USER",          "LOGNAME",           "XDG_CACHE_HOME", "XDG_STATE_HOME",
	"XDG_DATA_HOME", "http_proxy",        "https_proxy",    "all_proxy",
	"no_proxy",      "HTTP_PROXY",        "HTTPS_PROXY",    "ALL_PROXY",
	"NO_PROXY",      "NIX_SSL_CERT_FILE", "SSL_CERT_FILE",  "SSH_AUTH_SOCK",
};

// Returns whether a box can write to the path.
static bool is_box_writable(struct arena *arena, const struct facts *facts, const char *path)
{
	struct followed place = file_follow(arena, path);

	return probe_writing_box(arena, facts, &place) != NULL;
}

static strings build_environment(struct arena *arena, const struct facts *facts,
				 const char *program)
{
	const char *git = probe_program(arena, facts, "git", NULL);
	strings environment = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(passed_variables); i++) {
		const char *name = passed_variables[i];
		const char *value = facts_variable(facts, name);

		if (value && !(value[0] == '/' && is_box_writable(arena, facts, value)))
			vec_push(arena, &environment, arena_printf(arena, "%s=%s", name, value));
	}
	vec_push(arena, &environment, arena_printf(arena, "HOME=%s", facts->home));
	vec_push(arena, &environment,
		 arena_printf(arena, "XDG_CONFIG_HOME=%s", probe_config_home(arena, facts)));
	// nix runs git and other programs for some references.
	vec_push(arena, &environment,
		 arena_printf(arena,
			      "PATH=%s:%s:/run/current-system/sw/bin:/usr/local/bin:/usr/bin:/bin",
			      path_parent(arena, program),
			      path_parent(arena, git ? git : program)));
	vec_push(arena, &environment, "LC_ALL=C.UTF-8");
	vec_push(arena, &environment, NULL);
	return environment;
}

bool nix_command_open(struct nix_command *nix, struct arena *arena, const struct facts *facts,
		      struct error *error)
{
	strings untrusted = { 0 };
	const char *program = probe_program(arena, facts, "nix", &untrusted);
	sigset_t set;

	if (!program && untrusted.count) {
		error_set(error, "no trusted nix on PATH: %s", untrusted.items[0]);
		return error_hint(error, "install Nix for the whole system, or start without "
					 "packages");
	}
	if (!program) {
		error_set(error, "nix is not installed");
		return error_hint(error, "install Nix (https://nixos.org/download), or start "
					 "without packages");
	}
	*nix = (struct nix_command){ .arena = arena,
				     .program = program,
				     .environment = build_environment(arena, facts, program),
				     .terminal = output_reader(STDERR_FILENO).escapes };
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(stop_signals); i++)
		sigaddset(&set, stop_signals[i]);
	sigprocmask(SIG_BLOCK, &set, &nix->old_mask);
	nix->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (nix->signals >= 0)
		return true;
	sigprocmask(SIG_SETMASK, &nix->old_mask, NULL);
	return error_set(error, "cannot create a signalfd: %s", strerror(errno));
}

static void clear_line(struct nix_command *nix)
{
	if (nix->progress_shown)
		fputs("\r\033[K", stderr);
	nix->progress_shown = false;
}

void nix_command_close(struct nix_command *nix)
{
	clear_line(nix);
	close(nix->signals);
	sigprocmask(SIG_SETMASK, &nix->old_mask, NULL);
}

// Shows one line of progress. On a terminal it replaces the line before.
static void show_progress(struct nix_command *nix, const char *doing)
{
	const char *line = arena_printf(nix->arena, "claudebox: %s", doing);

	if (nix->quiet)
		return;
	if (!nix->terminal) {
		// nix may fetch hundreds of paths: report the first one only.
		if (!(str_starts(doing, "fetching ") && nix->fetching_reported))
			fprintf(stderr, "%s\n", line);
		nix->fetching_reported |= str_starts(doing, "fetching ");
		return;
	}
	// The last column stays free: text in it would move the cursor to the next line.
	fprintf(stderr, "\r%.*s\033[K",
		(int)display_fit(line, output_reader(STDERR_FILENO).columns - 1), line);
	nix->progress_shown = true;
}

// Called in a new child: executes nix.
static _Noreturn void exec_nix(const struct nix_command *nix, const strings *arguments,
			       pid_t parent, int out, int messages)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	// In '/', a relative reference cannot name a directory of the project.
	if (getppid() != parent || chdir("/") < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(messages, 2) < 0)
		_exit(EXIT_NOT_STARTED);
	sigprocmask(SIG_SETMASK, &nix->old_mask, NULL);
	execve(nix->program, (char *const *)arguments->items,
	       (char *const *)nix->environment.items);
	dprintf(2, "error: cannot execute %s: %s\n", nix->program, strerror(errno));
	_exit(EXIT_NOT_FOUND);
}

struct nix_output {
	struct nix_command *nix;
	struct text data;
	struct text messages;
	size_t line_start; // offset of the incomplete last line in messages
};

// Reads what is available now. Returns false at end of file or after an error.
static bool read_available(int fd, struct text *text)
{
	char buffer[16 * 1024];
	ssize_t got;

	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		text_add_bytes(text, buffer, (size_t)got);
	return got < 0 && (errno == EAGAIN || errno == EINTR);
}

// Shows the progress of the complete lines in messages, and drops the beginning if they get long.
static void parse_messages(struct nix_output *output)
{
	struct text *messages = &output->messages;

	while (messages->length > output->line_start) {
		const char *line = messages->data + output->line_start;
		const char *end = strchr(line, '\n');
		const char *doing;

		if (!end)
			break;
		doing = packages_parse_progress(output->nix->arena,
						arena_strndup(output->nix->arena, line,
							      (size_t)(end - line)));
		if (doing)
			show_progress(output->nix, doing);
		output->line_start += (size_t)(end - line) + 1;
	}
	if (messages->length > MESSAGES_MAX) {
		size_t drop = messages->length - MESSAGES_KEPT;

		memmove(messages->data, messages->data + drop, MESSAGES_KEPT + 1);
		messages->length = MESSAGES_KEPT;
		output->line_start = output->line_start > drop ? output->line_start - drop : 0;
	}
}

// Reads the output of nix until it ends. Returns 0, or the number of a signal that arrived before,
// or OUTPUT_TOO_LARGE.
static int wait_for_nix(struct nix_output *output, int out, int messages, int process)
{
	bool waited = false;

	for (bool ended = false; !ended;) {
		struct pollfd wait[] = { { .fd = out, .events = POLLIN },
					 { .fd = messages, .events = POLLIN },
					 { .fd = process, .events = POLLIN },
					 { .fd = output->nix->signals, .events = POLLIN } };
		struct signalfd_siginfo signal;
		int ready = poll(wait, ARRAY_SIZE(wait), waited ? -1 : PROGRESS_DELAY_MS);

		if (ready == 0 && output->nix->terminal && !output->nix->progress_shown)
			show_progress(output->nix, "resolving packages with nix");
		waited |= ready == 0;
		if (read(output->nix->signals, &signal, sizeof(signal)) == sizeof(signal))
			return (int)signal.ssi_signo;
		ended = wait[2].revents != 0;
		if (!read_available(out, &output->data))
			out = -1;
		if (!read_available(messages, &output->messages))
			messages = -1;
		parse_messages(output);
		if (output->data.length > OUTPUT_MAX)
			return OUTPUT_TOO_LARGE;
	}
	return 0;
}

// Waits for the end of nix, after SIGTERM if `stop` is set. Returns its exit status, or
// EXIT_SIGNAL_BASE if a signal killed it.
static int reap_nix(pid_t pid, bool stop)
{
	int status;

	if (stop)
		kill(pid, SIGTERM);
	status = process_exit_status(stop ? process_wait_or_kill(pid, STOP_TIMEOUT_MS)
					  : process_wait(pid));
	return status < 0 ? EXIT_SIGNAL_BASE : status;
}

static strings command_line(const struct nix_command *nix, const strings *arguments)
{
	struct arena *arena = nix->arena;
	strings line = { 0 };

	vec_push(arena, &line, "nix");
	vec_push(arena, &line, "--extra-experimental-features");
	vec_push(arena, &line, "nix-command flakes");
	if (nix->offline)
		vec_push(arena, &line, "--offline");
	vec_each(argument, arguments)
		vec_push(arena, &line, *argument);
	vec_push(arena, &line, NULL);
	return line;
}

bool nix_command_run(struct nix_command *nix, const strings *arguments,
		     struct nix_result *ret_result, struct error *error)
{
	strings line = command_line(nix, arguments);
	struct nix_output output = { .nix = nix,
				     .data = { .arena = nix->arena },
				     .messages = { .arena = nix->arena } };
	int out[2] = { -1, -1 };
	int messages[2] = { -1, -1 };
	CLEANUP_FD int process = -1;
	pid_t parent = getpid();
	int stopped = 0;
	pid_t pid = -1;

	if (pipe2(out, O_CLOEXEC) == 0 && pipe2(messages, O_CLOEXEC) == 0)
		pid = fork();
	if (pid == 0)
		exec_nix(nix, &line, parent, out[1], messages[1]);
	cleanup_close(&out[1]);
	cleanup_close(&messages[1]);
	if (pid > 0) {
		process = process_open(pid);
		fcntl(out[0], F_SETFL, O_NONBLOCK);
		fcntl(messages[0], F_SETFL, O_NONBLOCK);
		stopped = wait_for_nix(&output, out[0], messages[0], process);
		ret_result->status = reap_nix(pid, stopped != 0);
	}
	cleanup_close(&out[0]);
	cleanup_close(&messages[0]);
	if (pid < 0)
		return error_set(error, "cannot run nix: %s", strerror(errno));
	if (stopped == OUTPUT_TOO_LARGE)
		return error_set(error, "the output of nix is larger than %d MiB",
				 OUTPUT_MAX / 1024 / 1024);
	if (stopped) {
		clear_line(nix);
		error->status = EXIT_SIGNAL_BASE + stopped;
		return error_set(error, "interrupted while nix was running; nothing was started");
	}
	ret_result->output = text_get(&output.data);
	ret_result->messages = text_get(&output.messages);
	return true;
}
