// SPDX-License-Identifier: MIT
// The user's terminal while a box runs: saves its modes, restores them, and removes what the agent
// left.
//
// Theory of operation: the line modes (termios) are saved when claudebox first has the foreground
// and are restored at the end. An agent that draws a screen changes the line modes, so changed
// modes show whether it may also have set modes of the terminal itself. Without a terminal relay
// the line modes are checked at intervals that double, until they differ; with a terminal relay,
// the terminal filter records the sequences that passed. Only after such an agent is the terminal
// reset and its input discarded, up to the answer to a query of claudebox: the input before it
// answers queries of the agent. Input that the user typed ahead of a program that only printed
// stays for the shell. claudebox does none of this in the background.
#include "terminal/terminal.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/plan.h"
#include "sys/clock.h"
#include "sys/read.h"
#include "terminal/relay.h"
#include "terminal/reset.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

enum {
	FIRST_CHECK_MS = 30,
	BACKGROUND_CHECK_MS = 250,
	// Terminals answer within milliseconds. An answer after the timeout becomes input of the
	// shell.
	ANSWER_TIMEOUT_MS = 2000,
};

bool terminal_is_foreground(const struct terminal *terminal)
{
	return terminal->fd >= 0 && tcgetpgrp(terminal->fd) == getpgrp();
}

static void save_modes(struct terminal *terminal)
{
	if (!terminal->modes_saved)
		terminal->modes_saved = tcgetattr(terminal->fd, &terminal->saved_modes) == 0;
}

static bool same_modes(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
	       a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc)) == 0;
}

static bool modes_differ(const struct terminal *terminal)
{
	struct termios modes;

	return tcgetattr(terminal->fd, &modes) == 0 && !same_modes(&modes, &terminal->saved_modes);
}

bool terminal_open(struct terminal *terminal, const struct plan *plan, struct arena *arena,
		   struct error *error)
{
	*terminal = (struct terminal){
		.fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK),
		.arena = arena,
		.check_interval_ms = FIRST_CHECK_MS,
	};
	terminal->foreground = terminal_is_foreground(terminal);
	if (terminal->foreground)
		save_modes(terminal);
	return plan->config->terminal == TERMINAL_DIRECT ||
	       terminal_relay_open(terminal, plan, error);
}

void terminal_resume(struct terminal *terminal)
{
	if (!terminal_is_foreground(terminal))
		return;
	save_modes(terminal);
	terminal_relay_set_raw(terminal);
}

void terminal_suspend(struct terminal *terminal)
{
	if (terminal_is_foreground(terminal))
		terminal_relay_restore_modes(terminal);
}

int terminal_timeout(const struct terminal *terminal)
{
	if (terminal->relay)
		return terminal_relay_in_background(terminal) ? BACKGROUND_CHECK_MS : -1;
	return terminal->modes_saved && !terminal->modes_changed ? terminal->check_interval_ms : -1;
}

void terminal_check(struct terminal *terminal, bool timed_out)
{
	if (terminal->relay) {
		if (terminal_relay_in_background(terminal))
			terminal_resume(terminal);
	} else if (terminal->modes_saved && !terminal->modes_changed) {
		terminal->modes_changed = modes_differ(terminal);
		if (timed_out && terminal->check_interval_ms < INT_MAX / 2)
			terminal->check_interval_ms *= 2;
	}
}

// Chooses two random columns. Returns false if the width of the terminal is unknown.
static bool choose_columns(const struct terminal *terminal, struct terminal_query *query)
{
	struct winsize size;
	unsigned short random[2];

	if (ioctl(terminal->fd, TIOCGWINSZ, &size) < 0 || size.ws_col < 2 ||
	    getrandom(random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(random); i++)
		query->columns[i] = 1U + random[i] % size.ws_col;
	return true;
}

// Discards input up to the answer to the query. Terminals answer in order, so all answers to
// queries of the agent come before it.
static void discard_answers(const struct terminal *terminal, struct terminal_query *query)
{
	int64_t start = clock_monotonic_ms();
	char bytes[4096];
	ssize_t got = 0;

	while (got >= 0 && !terminal_query_answered(query, bytes, (size_t)got)) {
		if (!wait_readable(terminal->fd, clock_left_ms(start, ANSWER_TIMEOUT_MS)))
			return;
		got = read(terminal->fd, bytes, sizeof(bytes));
		if (got == 0)
			return;
	}
}

// Sets raw modes, so that answers are not echoed and no byte of them is a special character.
static bool set_quiet_modes(const struct terminal *terminal)
{
	struct termios quiet = terminal->saved_modes;

	cfmakeraw(&quiet);
	quiet.c_cc[VMIN] = 0;
	quiet.c_cc[VTIME] = 0;
	return tcsetattr(terminal->fd, TCSANOW, &quiet) == 0;
}

// Writes the resets and the query with one write(2) that does not block: the terminal may have
// stopped its output.
static void reset(const struct terminal *terminal)
{
	enum terminal_kind kind = terminal_kind_of(getenv("TERM"), getenv("TMUX") != NULL);
	struct terminal_query query = { 0 };
	struct text out = { .arena = terminal->arena };
	bool with_query = kind != TERMINAL_OTHER && choose_columns(terminal, &query);

	if (!set_quiet_modes(terminal))
		return;
	text_add(&out, terminal_render_reset(terminal->arena, kind));
	if (with_query)
		text_add(&out, terminal_render_query(terminal->arena, &query));
	if (write(terminal->fd, text_get(&out), out.length) == (ssize_t)out.length && with_query)
		discard_answers(terminal, &query);
	tcflush(terminal->fd, TCIFLUSH);
}

void terminal_restore(struct terminal *terminal)
{
	bool needs_reset = terminal_relay_close(terminal);
	bool differ;

	if (!terminal_is_foreground(terminal) || !terminal->modes_saved)
		return;
	differ = modes_differ(terminal);
	if (terminal->relay ? needs_reset : terminal->modes_changed || differ) {
		reset(terminal);
		differ = true;
	}
	if (differ)
		tcsetattr(terminal->fd, TCSANOW, &terminal->saved_modes);
}
