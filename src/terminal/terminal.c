// SPDX-License-Identifier: MIT
// The user's terminal while a box runs: saves its modes, restores them, and removes what the agent
// left.
//
// Theory of operation: the line modes (termios) are saved when claudebox first has the foreground
// and are restored at the end. Other programs of a pipeline use the terminal too: with a terminal
// relay, claudebox restores the modes only if it has set the present ones itself, and writes
// nothing while another program has changed them. An agent that draws a screen changes the line
// modes, so changed modes show whether it may also have set modes of the terminal itself. Without a
// terminal relay the line modes are checked at intervals that double, until they differ; with a
// terminal relay, the terminal filter records the sequences that passed. Only after such an agent
// is the terminal reset and its input discarded, up to the answer to a query of claudebox: the
// input before it answers queries of the agent. Input that the user typed ahead of a program that
// only printed stays for the shell. The same happens when claudebox is suspended. In the
// background, nothing of the box sets a mode or requests an answer (relay.c), so nothing has to be
// reset.
#include "terminal/terminal.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "config/profile/schema.h"
#include "plan/plan.h"
#include "sys/clock.h"
#include "sys/output.h"
#include "sys/read.h"
#include "terminal/modes.h"
#include "terminal/relay.h"
#include "terminal/reset.h"
#include "terminal/streams.h"

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
	// shell, so the timeout is longer for a terminal that is known to answer.
	ANSWER_TIMEOUT_MS = 2000,
	LONG_ANSWER_TIMEOUT_MS = 10000,
	// The timeout begins again with each input, until this limit.
	DISCARD_LIMIT_MS = 20000,
};

_Static_assert(TERMINAL_POLL_SLOTS == RELAY_POLL_SLOTS + STREAMS_POLL_SLOTS,
	       "slots of the poll array");

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

bool terminal_modes_differ(const struct terminal *terminal)
{
	struct termios modes;

	return tcgetattr(terminal->fd, &modes) == 0 && !same_modes(&modes, &terminal->saved_modes);
}

bool terminal_set_modes(struct terminal *terminal, const struct termios *modes)
{
	if (tcsetattr(terminal->fd, TCSANOW, modes) < 0)
		return false;
	terminal->modes_set = tcgetattr(terminal->fd, &terminal->set_modes) == 0;
	return terminal->modes_set;
}

// Returns whether no other program has changed the modes.
static bool modes_are_own(const struct terminal *terminal)
{
	struct termios modes;

	return terminal->modes_saved && tcgetattr(terminal->fd, &modes) == 0 &&
	       same_modes(&modes,
			  terminal->modes_set ? &terminal->set_modes : &terminal->saved_modes);
}

void terminal_restore_modes(struct terminal *terminal)
{
	if (terminal->modes_set && modes_are_own(terminal))
		tcsetattr(terminal->fd, TCSANOW, &terminal->saved_modes);
	terminal->modes_set = false;
}

// Saves flags that belong to the open terminal and not to claudebox: with "terminal": "direct", the
// agent can change them.
static void save_flags(struct terminal *terminal)
{
	int exclusive = 0;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		terminal->saved_flags[fd] = fcntl(fd, F_GETFL);
	terminal->exclusive = ioctl(terminal->fd, TIOCGEXCL, &exclusive) == 0 && exclusive;
}

static void restore_flags(const struct terminal *terminal)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (isatty(fd) && terminal->saved_flags[fd] >= 0)
			fcntl(fd, F_SETFL, terminal->saved_flags[fd]);
	if (!terminal->exclusive)
		ioctl(terminal->fd, TIOCNXCL);
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
	terminal->streams = streams_open(arena, error);
	if (!terminal->streams)
		return false;
	if (plan->config->terminal != TERMINAL_DIRECT)
		return terminal_relay_open(terminal, plan, error);
	save_flags(terminal);
	return true;
}

int terminal_standard_fd(const struct terminal *terminal, int number)
{
	int fd = streams_box_fd(terminal->streams, number);

	return fd >= 0 ? fd : terminal_relay_standard_fd(terminal, number);
}

void terminal_start(struct terminal *terminal)
{
	streams_start(terminal->streams);
	terminal_relay_start(terminal);
}

void terminal_prepare_poll(const struct terminal *terminal,
			   struct pollfd slots[TERMINAL_POLL_SLOTS])
{
	terminal_relay_prepare_poll(terminal, slots);
	streams_prepare_poll(terminal->streams, slots + RELAY_POLL_SLOTS);
}

void terminal_handle_poll(struct terminal *terminal, const struct pollfd slots[TERMINAL_POLL_SLOTS])
{
	terminal_relay_handle_poll(terminal, slots);
	streams_handle_poll(terminal->streams, slots + RELAY_POLL_SLOTS);
}

void terminal_resume(struct terminal *terminal)
{
	if (!terminal_is_foreground(terminal))
		return;
	save_modes(terminal);
	terminal_relay_begin_input(terminal);
}

int terminal_timeout(const struct terminal *terminal)
{
	if (terminal->relay)
		return terminal_relay_waits_for_input(terminal) ? BACKGROUND_CHECK_MS : -1;
	return terminal->modes_saved && !terminal->modes_changed ? terminal->check_interval_ms : -1;
}

void terminal_check(struct terminal *terminal, bool timed_out)
{
	if (terminal->relay) {
		if (terminal_relay_waits_for_input(terminal))
			terminal_resume(terminal);
	} else if (terminal->modes_saved && !terminal->modes_changed) {
		terminal->modes_changed = terminal_modes_differ(terminal);
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
static void discard_answers(const struct terminal *terminal, struct terminal_query *query,
			    int timeout_ms)
{
	int64_t start = clock_monotonic_ms();
	char bytes[4096];
	ssize_t got = 0;

	while (got >= 0 && !terminal_query_answered(query, bytes, (size_t)got)) {
		int left = clock_left_ms(start, DISCARD_LIMIT_MS);

		if (!wait_readable(terminal->fd, left < timeout_ms ? left : timeout_ms))
			return;
		got = read(terminal->fd, bytes, sizeof(bytes));
		if (got == 0)
			return;
	}
}

// Sets raw modes, so that answers are not echoed and no byte of them is a special character.
static bool set_quiet_modes(struct terminal *terminal)
{
	struct termios quiet = terminal->saved_modes;

	cfmakeraw(&quiet);
	quiet.c_cc[VMIN] = 0;
	quiet.c_cc[VTIME] = 0;
	return terminal_set_modes(terminal, &quiet);
}

// Writes the resets and the query with one write(2) that does not block: the terminal may have
// stopped its output. timeout_ms: 0 if there is no query to answer.
static void reset(struct terminal *terminal, const struct relay_marks *marks, int timeout_ms)
{
	enum terminal_kind kind = terminal_kind_of(getenv("TERM"), getenv("TMUX") != NULL);
	struct terminal_query query = { 0 };
	struct text out = { .arena = terminal->arena };
	// An unknown terminal may not know the query, unless the agent has sent one too.
	bool with_query = timeout_ms && kind != TERMINAL_DUMB &&
			  (kind != TERMINAL_OTHER || marks->query_age_ms >= 0) &&
			  choose_columns(terminal, &query);

	if (timeout_ms && !set_quiet_modes(terminal))
		return;
	text_add(&out, terminal_render_reset(terminal->arena, kind, &marks->used));
	if (with_query)
		text_add(&out, terminal_render_query(terminal->arena, &query));
	if (write(terminal->fd, text_get(&out), out.length) == (ssize_t)out.length && with_query)
		discard_answers(terminal, &query, timeout_ms);
	if (timeout_ms)
		tcflush(terminal->fd, TCIFLUSH);
}

static int answer_timeout(const struct relay_marks *marks)
{
	if (marks->no_input)
		return 0;
	return marks->answers ? LONG_ANSWER_TIMEOUT_MS : ANSWER_TIMEOUT_MS;
}

void terminal_suspend(struct terminal *terminal)
{
	struct relay_marks marks;
	bool recent;

	if (!terminal->relay || !terminal_is_foreground(terminal))
		return;
	terminal_relay_drain(terminal);
	marks = terminal_relay_take_marks(terminal);
	// Input that the user typed ahead stays for the shell unless an answer may be among it.
	recent = marks.query_age_ms >= 0 && marks.query_age_ms < LONG_ANSWER_TIMEOUT_MS;
	if (marks.needs_reset && modes_are_own(terminal))
		reset(terminal, &marks, recent ? answer_timeout(&marks) : 0);
	terminal_relay_end_input(terminal);
	terminal_restore_modes(terminal);
}

void terminal_restore(struct terminal *terminal)
{
	struct relay_marks marks = { .query_age_ms = -1 };

	streams_close(terminal->streams);
	terminal_relay_close(terminal);
	if (terminal->relay)
		marks = terminal_relay_take_marks(terminal);
	else if (terminal->fd >= 0)
		restore_flags(terminal);
	if (!terminal->relay &&
	    terminal_kind_of(getenv("TERM"), getenv("TMUX") != NULL) != TERMINAL_OTHER)
		marks.used.modes = terminal_modes_unknown();
	if (!terminal_is_foreground(terminal) || !terminal->modes_saved)
		return;
	if (terminal->relay ? marks.needs_reset && modes_are_own(terminal)
			    : terminal->modes_changed || terminal_modes_differ(terminal))
		reset(terminal, &marks, answer_timeout(&marks));
	terminal_restore_modes(terminal);
}

void terminal_report(const struct terminal *terminal)
{
	static const struct {
		enum terminal_class class;
		const char *one, *many;
	} missed[] = {
		{ TERMINAL_CLIPBOARD, "clipboard write", "clipboard writes" },
		{ TERMINAL_IMAGES, "image", "images" },
	};
	const unsigned int *dropped = terminal_relay_dropped(terminal);
	unsigned int allowed = terminal_relay_allowed(terminal);
	unsigned int wanted = allowed;
	struct text what = { .arena = terminal->arena };
	struct text list = { .arena = terminal->arena };

	if (!dropped || !output_reader(STDERR_FILENO).terminal)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(missed); i++) {
		unsigned int count = dropped[missed[i].class];

		if (!count || allowed & TERMINAL_BIT(missed[i].class))
			continue;
		wanted |= TERMINAL_BIT(missed[i].class);
		text_printf(&what, "%s%u %s", what.length ? ", " : "", count,
			    count == 1 ? missed[i].one : missed[i].many);
	}
	for (int class = 0; class < TERMINAL_CLASS_COUNT; class ++)
		if (wanted & TERMINAL_BIT(class))
			text_printf(&list, "%s\"%s\"", list.length ? ", " : "",
				    terminal_class_names[class]);
	if (what.length)
		output_message("terminal",
			       "%s of the box dropped; to allow: \"terminal_allow\": [%s] in a "
			       "profile",
			       text_get(&what), text_get(&list));
}
