// SPDX-License-Identifier: MIT
// Gives the user's terminal back as it was.
//
// Theory of operation: the modes of the line (termios) are saved when we first have the terminal and put back at the
// end. Whether the agent used it as a screen, and may thus have left more behind, shows in those modes: nobody draws a
// screen without changing them. They are looked at now and then, ever more rarely, until they differ. Only after such
// an agent are the resets written and the input thrown away, up to the answer to a last question: what was typed
// ahead of a program that only printed belongs to the shell. We never do any of this from the background.
#include "terminal/terminal.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "box/box.h"
#include "config/config.h"
#include "plan/plan.h"
#include "sys/clock.h"
#include "terminal/relay.h"
#include "terminal/reset.h"

#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

enum {
	FIRST_LOOK_MS = 30,
	BACKGROUND_LOOK_MS = 250,
	ANSWER_MS =
		2000, // milliseconds as a rule; an answer that comes later would itself be typed
};

static bool is_ours(const struct box *box)
{
	return box->terminal >= 0 && tcgetpgrp(box->terminal) == getpgrp();
}

static void save(struct box *box)
{
	struct terminal *terminal = &box->screen;

	if (!terminal->saved)
		terminal->saved = tcgetattr(box->terminal, &terminal->modes) == 0;
}

static bool same_modes(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
	       a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc)) == 0;
}

static bool modes_differ(const struct box *box)
{
	struct termios modes;

	return tcgetattr(box->terminal, &modes) == 0 && !same_modes(&modes, &box->screen.modes);
}

bool terminal_begin(struct box *box, const struct plan *plan, struct arena *arena,
		    struct error *error)
{
	box->screen = (struct terminal){ .arena = arena, .next_look = FIRST_LOOK_MS };
	if (box->foreground)
		save(box);
	return plan->terminal == TERMINAL_DIRECT || terminal_relay_open(box, plan, error);
}

void terminal_resumed(struct box *box)
{
	if (!is_ours(box))
		return;
	save(box);
	terminal_relay_enter(box);
}

void terminal_stopping(struct box *box)
{
	if (is_ours(box))
		terminal_relay_leave(box);
}

int terminal_timeout(const struct box *box)
{
	if (box->screen.relay)
		return terminal_relay_waits(box) ? BACKGROUND_LOOK_MS : -1;
	return box->screen.saved && !box->screen.used ? box->screen.next_look : -1;
}

void terminal_look(struct box *box, bool waited)
{
	struct terminal *terminal = &box->screen;

	if (terminal->relay) {
		if (terminal_relay_waits(box))
			terminal_resumed(box);
	} else if (terminal->saved && !terminal->used) {
		terminal->used = modes_differ(box);
		if (waited && terminal->next_look < INT_MAX / 2)
			terminal->next_look *= 2;
	}
}

// Two columns by chance; on a screen without a known width nothing can be asked.
static bool choose_columns(const struct box *box, struct terminal_question *question)
{
	struct winsize size;
	unsigned short random[2];

	if (ioctl(box->terminal, TIOCGWINSZ, &size) < 0 || size.ws_col < 2 ||
	    getrandom(random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(random); i++)
		question->columns[i] = 1U + random[i] % size.ws_col;
	return true;
}

// Everything that was asked before has been answered when this is.
static void drain(const struct box *box, struct terminal_question *question, int timeout_ms)
{
	int64_t start = clock_monotonic_ms();
	char bytes[4096];
	ssize_t got = 0;

	while (got >= 0 && !terminal_answered(question, bytes, (size_t)got)) {
		struct pollfd wait = { .fd = box->terminal, .events = POLLIN };
		int left = clock_left_ms(start, timeout_ms);

		if (left <= 0 || poll(&wait, 1, left) <= 0 || !(wait.revents & POLLIN))
			return;
		got = read(box->terminal, bytes, sizeof(bytes));
		if (got == 0)
			return;
	}
}

// The line is quiet meanwhile: an answer is not echoed, and no byte of it is a key with a meaning.
static bool silence(const struct box *box)
{
	struct termios quiet = box->screen.modes;

	cfmakeraw(&quiet);
	quiet.c_cc[VMIN] = 0;
	quiet.c_cc[VTIME] = 0;
	return tcsetattr(box->terminal, TCSANOW, &quiet) == 0;
}

// All is written at once and without waiting: output that is held up must not hold us up.
static void clean(const struct box *box)
{
	enum terminal_kind kind = terminal_kind_of(getenv("TERM"), getenv("TMUX") != NULL);
	struct terminal_question question = { 0 };
	struct text out = { .arena = box->screen.arena };
	bool asked = kind != TERMINAL_OTHER && choose_columns(box, &question);

	if (!silence(box))
		return;
	text_add(&out, terminal_render_reset(box->screen.arena, kind));
	if (asked)
		text_add(&out, terminal_render_question(box->screen.arena, &question));
	if (write(box->terminal, text_get(&out), out.length) == (ssize_t)out.length && asked)
		drain(box, &question, ANSWER_MS);
	tcflush(box->terminal, TCIFLUSH);
}

void terminal_end(struct box *box)
{
	const struct terminal *terminal = &box->screen;
	bool touched = terminal->relay && terminal_relay_end(box);
	bool differ;

	if (!is_ours(box) || !terminal->saved)
		return;
	differ = modes_differ(box);
	if (terminal->relay ? touched : terminal->used || differ) {
		clean(box);
		differ = true;
	}
	if (differ)
		tcsetattr(box->terminal, TCSANOW, &terminal->modes);
}
