// SPDX-License-Identifier: MIT
// Runs nix on the host: reads its answer, shows what it does, and ends it when we are told to end.
//
// Theory of operation: while nix runs, signals that would end us are read from a descriptor. One of them ends nix, which
// tells the daemon to stop building, and then us, before anything was started. nix stays in our process group, so that
// Ctrl+Z stops both, and the kernel kills it should we die.
#include "nix/command.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "nix/packages.h"
#include "plan/facts.h"
#include "plan/nix/package_messages.h"
#include "probe/nix/client.h"
#include "probe/programs.h"
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
	OUTPUT_LIMIT = 8 * 1024 * 1024,
	MESSAGES_LIMIT = 256 * 1024,
	MESSAGES_KEPT = 64 * 1024,
	PATIENCE_MS = 500, // without a word to the user
	LAST_MS = 3000,
	TOO_MUCH = -1, // instead of a signal
};

static const int ending_signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

// Of the caller's environment: where the user's files are, and how to reach the network. None of nix's own variables
// that change what a name stands for.
static const char *const passed_variables[] = {
	"USER",          "LOGNAME",           "XDG_CACHE_HOME", "XDG_STATE_HOME",
	"XDG_DATA_HOME", "http_proxy",        "https_proxy",    "all_proxy",
	"no_proxy",      "HTTP_PROXY",        "HTTPS_PROXY",    "ALL_PROXY",
	"NO_PROXY",      "NIX_SSL_CERT_FILE", "SSL_CERT_FILE",  "SSH_AUTH_SOCK",
};

static bool leads_to_a_box(struct arena *arena, const struct facts *facts, const char *path)
{
	struct followed place = file_follow(arena, path);

	return probe_box_writes(facts, &place);
}

static strings make_environment(struct arena *arena, const struct facts *facts, const char *program)
{
	const char *git = probe_program(arena, facts, "git", NULL);
	strings environment = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(passed_variables); i++) {
		const char *name = passed_variables[i];
		const char *value = facts_variable(facts, name);

		if (value && !(value[0] == '/' && leads_to_a_box(arena, facts, value)))
			vec_push(arena, &environment, arena_printf(arena, "%s=%s", name, value));
	}
	vec_push(arena, &environment, arena_printf(arena, "HOME=%s", facts->home));
	vec_push(arena, &environment,
		 arena_printf(arena, "XDG_CONFIG_HOME=%s", probe_nix_configuration(arena, facts)));
	// It runs git and others for some references.
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
	strings passed_over = { 0 };
	const char *program = probe_program(arena, facts, "nix", &passed_over);
	sigset_t set;

	if (!program && passed_over.count) {
		error_hint(error, "install Nix for the whole system, or do without packages");
		return error_set(error, "no nix that can be trusted: %s", passed_over.items[0]);
	}
	if (!program) {
		error_hint(error, "install Nix (https://nixos.org/download), or do without "
				  "packages");
		return error_set(error, "nix is not installed");
	}
	*nix = (struct nix_command){ .arena = arena,
				     .program = program,
				     .environment = make_environment(arena, facts, program),
				     .terminal = output_reader(STDERR_FILENO).escapes };
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
		sigaddset(&set, ending_signals[i]);
	sigprocmask(SIG_BLOCK, &set, &nix->mask);
	nix->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (nix->signals >= 0)
		return true;
	sigprocmask(SIG_SETMASK, &nix->mask, NULL);
	return error_set(error, "cannot watch signals: %s", strerror(errno));
}

static void clear_line(struct nix_command *nix)
{
	if (nix->shown)
		fputs("\r\033[K", stderr);
	nix->shown = false;
}

void nix_command_close(struct nix_command *nix)
{
	clear_line(nix);
	close(nix->signals);
	sigprocmask(SIG_SETMASK, &nix->mask, NULL);
}

static void show(struct nix_command *nix, const char *doing)
{
	const char *line = arena_printf(nix->arena, "claudebox: %s", doing);

	if (!nix->terminal) {
		// Of what is fetched, hundreds of lines would help nobody.
		if (!(str_starts(doing, "fetching ") && nix->fetching))
			fprintf(stderr, "%s\n", line);
		nix->fetching |= str_starts(doing, "fetching ");
		return;
	}
	// The last column stays free: a cursor behind it would be on the next line.
	fprintf(stderr, "\r%.*s\033[K",
		(int)display_fit(line, output_reader(STDERR_FILENO).columns - 1), line);
	nix->shown = true;
}

static _Noreturn void become_nix(const struct nix_command *nix, const strings *words, pid_t parent,
				 int out, int messages)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	// A relative reference never leads into the project.
	if (getppid() != parent || chdir("/") < 0 || dup2(nothing, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(messages, 2) < 0)
		_exit(EXIT_NOT_STARTED);
	sigprocmask(SIG_SETMASK, &nix->mask, NULL);
	execve(nix->program, (char *const *)words->items, (char *const *)nix->environment.items);
	dprintf(2, "error: cannot execute %s: %s\n", nix->program, strerror(errno));
	_exit(EXIT_NOT_FOUND);
}

struct reading {
	struct nix_command *nix;
	struct text output;
	struct text messages;
	size_t line; // where the one that is not complete starts
};

// Takes what is there now; false when there will be no more.
static bool drain(int fd, struct text *text)
{
	char buffer[16 * 1024];
	ssize_t got;

	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		text_add_bytes(text, buffer, (size_t)got);
	return got < 0 && (errno == EAGAIN || errno == EINTR);
}

static void follow_messages(struct reading *reading)
{
	struct text *messages = &reading->messages;

	while (messages->length > reading->line) {
		const char *line = messages->data + reading->line;
		const char *end = strchr(line, '\n');
		const char *doing;

		if (!end)
			break;
		doing = packages_progress(reading->nix->arena,
					  arena_strndup(reading->nix->arena, line,
							(size_t)(end - line)));
		if (doing)
			show(reading->nix, doing);
		reading->line += (size_t)(end - line) + 1;
	}
	if (messages->length > MESSAGES_LIMIT) {
		size_t drop = messages->length - MESSAGES_KEPT;

		memmove(messages->data, messages->data + drop, MESSAGES_KEPT + 1);
		messages->length = MESSAGES_KEPT;
		reading->line = reading->line > drop ? reading->line - drop : 0;
	}
}

// Until nix has ended, or a signal has come, whose number is returned, or TOO_MUCH.
static int watch(struct reading *reading, int out, int messages, int process)
{
	bool waited = false;

	for (bool ended = false; !ended;) {
		struct pollfd wait[] = { { .fd = out, .events = POLLIN },
					 { .fd = messages, .events = POLLIN },
					 { .fd = process, .events = POLLIN },
					 { .fd = reading->nix->signals, .events = POLLIN } };
		struct signalfd_siginfo signal;
		int ready = poll(wait, ARRAY_SIZE(wait), waited ? -1 : PATIENCE_MS);

		if (ready == 0 && reading->nix->terminal && !reading->nix->shown)
			show(reading->nix, "nix looks for the packages");
		waited |= ready == 0;
		if (read(reading->nix->signals, &signal, sizeof(signal)) == sizeof(signal))
			return (int)signal.ssi_signo;
		ended = wait[2].revents != 0;
		if (!drain(out, &reading->output))
			out = -1;
		if (!drain(messages, &reading->messages))
			messages = -1;
		follow_messages(reading);
		if (reading->output.length > OUTPUT_LIMIT)
			return TOO_MUCH;
	}
	return 0;
}

static int end_nix(pid_t pid, bool stop)
{
	int status;

	if (stop)
		kill(pid, SIGTERM);
	status = process_exit_status(stop ? process_wait_or_kill(pid, LAST_MS) : process_wait(pid));
	return status < 0 ? EXIT_SIGNAL_BASE : status;
}

static strings command_line(const struct nix_command *nix, const strings *words)
{
	struct arena *arena = nix->arena;
	strings line = { 0 };

	vec_push(arena, &line, "nix");
	vec_push(arena, &line, "--extra-experimental-features");
	vec_push(arena, &line, "nix-command flakes");
	if (nix->offline)
		vec_push(arena, &line, "--offline");
	vec_each(word, words)
		vec_push(arena, &line, *word);
	vec_push(arena, &line, NULL);
	return line;
}

bool nix_command_run(struct nix_command *nix, const strings *words, struct nix_result *ret_result,
		     struct error *error)
{
	strings line = command_line(nix, words);
	struct reading reading = { .nix = nix,
				   .output = { .arena = nix->arena },
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
		become_nix(nix, &line, parent, out[1], messages[1]);
	cleanup_close(&out[1]);
	cleanup_close(&messages[1]);
	if (pid > 0) {
		process = process_open(pid);
		fcntl(out[0], F_SETFL, O_NONBLOCK);
		fcntl(messages[0], F_SETFL, O_NONBLOCK);
		stopped = watch(&reading, out[0], messages[0], process);
		ret_result->status = end_nix(pid, stopped != 0);
	}
	cleanup_close(&out[0]);
	cleanup_close(&messages[0]);
	if (pid < 0)
		return error_set(error, "cannot run nix: %s", strerror(errno));
	if (stopped == TOO_MUCH)
		return error_set(error, "nix says more than claudebox can take in");
	if (stopped) {
		clear_line(nix);
		error->status = EXIT_SIGNAL_BASE + stopped;
		return error_set(error, "stopped while nix was at work; nothing was started");
	}
	ret_result->output = text_get(&reading.output);
	ret_result->messages = text_get(&reading.messages);
	return true;
}
