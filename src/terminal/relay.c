// SPDX-License-Identifier: MIT
// Terminal relay: the pseudo-terminal of the box, connected to the user's terminal by the terminal
// filter.
//
// Theory of operation: the box gets the slave of a new pseudo-terminal, in place of those
// descriptors 0 to 2 that are terminals, and as the controlling terminal of its own session. The
// slave's line discipline handles echo, Ctrl+C and Ctrl+Z. The user's terminal is in raw mode while
// claudebox has the foreground, so its input arrives unchanged, and is relayed unchanged. Output
// passes the terminal filter. Each direction has one buffer and reads again only after the buffer
// has been written, so no data piles up.
//
// Input is relayed only if standard input is the terminal. If standard output or error is a pipe,
// another program of the pipeline may read the terminal too, and ask for a password there. The
// terminal then keeps its modes, and claudebox reads lines only while no program has changed them.
// In both cases Ctrl+C and Ctrl+Z are signals to claudebox, which passes them to the foreground
// process group of the box.
//
// In the background, the user's shell reads the terminal. Sequences that set a mode or request an
// answer do not pass then; modes are set when claudebox has the foreground again. The same holds
// while another program of a pipeline has changed the line modes, except that nothing is written to
// its screen. Without raw mode, answers and events would reach another program, so no sequence
// passes that requests them.
#include "terminal/relay.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "terminal/modes.h"
#include "terminal/relay_state.h"
#include "terminal/reset.h"
#include "terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
	READS_PER_POLL = 4,
	READS_AT_STOP = 64,
	FLUSH_TIMEOUT_MS = 1000,
	// A screen sends a few queries; a program that reads the whole palette sends 256. More
	// would delay the end of the box, until all are answered.
	QUERIES_PER_SECOND = 512,
	// A terminal that sends nothing may answer them all later.
	QUERIES_WITHOUT_INPUT = 1024,
};

// Slots of the poll array.
enum { SLOT_USER, SLOT_MASTER };

void terminal_relay_start(struct terminal *terminal)
{
	struct terminal_relay *relay = terminal->relay;

	if (!relay)
		return;
	cleanup_close(&relay->slave);
	relay->slave = -1;
	terminal_resume(terminal);
}

int terminal_relay_standard_fd(const struct terminal *terminal, int number)
{
	const struct terminal_relay *relay = terminal->relay;

	return relay && relay->standard[number] ? relay->slave : -1;
}

void terminal_relay_resize(const struct terminal *terminal)
{
	const struct terminal_relay *relay = terminal->relay;
	struct winsize size;

	// The kernel sends SIGWINCH to the box if the size differs.
	if (relay && relay->master >= 0 && ioctl(terminal->fd, TIOCGWINSZ, &size) == 0)
		ioctl(relay->master, TIOCSWINSZ, &size);
}

// Returns whether the terminal echoes lines. Without echo, another program of the pipeline may ask
// for a password, or read keys. If that program was there before claudebox, its modes were saved.
static bool has_line_modes(struct terminal *terminal)
{
	struct termios modes;

	if (tcgetattr(terminal->fd, &modes) < 0 || !(modes.c_lflag & ECHO) ||
	    !(modes.c_lflag & ICANON))
		return false;
	if (!(terminal->saved_modes.c_lflag & ECHO) || !(terminal->saved_modes.c_lflag & ICANON))
		terminal->saved_modes = modes;
	return true;
}

void terminal_relay_begin_input(struct terminal *terminal)
{
	struct terminal_relay *relay = terminal->relay;
	struct termios raw = terminal->saved_modes;

	if (!relay || relay->master < 0 || relay->input == INPUT_NONE || !terminal->modes_saved)
		return;
	if (relay->input == INPUT_RAW) {
		cfmakeraw(&raw);
		if (!relay_is_raw_output(relay))
			raw.c_oflag = terminal->saved_modes.c_oflag;
		relay->reading = terminal_set_modes(terminal, &raw);
	} else {
		relay->reading = has_line_modes(terminal) && !terminal_modes_differ(terminal);
	}
	terminal_relay_resize(terminal);
}

void terminal_relay_end_input(struct terminal *terminal)
{
	struct terminal_relay *relay = terminal->relay;

	if (!relay || !relay->reading)
		return;
	relay->reading = false;
	if (relay->input == INPUT_RAW)
		terminal_restore_modes(terminal);
}

bool terminal_relay_waits_for_input(const struct terminal *terminal)
{
	const struct terminal_relay *relay = terminal->relay;

	return relay && relay->master >= 0 && relay->input != INPUT_NONE && !relay->reading;
}

bool terminal_relay_signal(const struct terminal *terminal, const struct signalfd_siginfo *info)
{
	const struct terminal_relay *relay = terminal->relay;
	int number = (int)info->ssi_signo;

	return relay && relay->master >= 0 && relay->input != INPUT_RAW &&
	       info->ssi_code == SI_KERNEL &&
	       (number == SIGINT || number == SIGQUIT || number == SIGTSTP) &&
	       ioctl(relay->master, TIOCSIG, number) == 0;
}

// Writes as much as possible without blocking. Returns false if the other side has hung up.
static bool buffer_write(struct buffer *buffer, int fd)
{
	while (buffer->at < buffer->length) {
		ssize_t done = write(fd, buffer->bytes + buffer->at, buffer->length - buffer->at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno != EAGAIN)
			return false;
		if (done <= 0)
			return true;
		buffer->at += (size_t)done;
	}
	buffer->at = buffer->length = 0;
	return true;
}

static void close_master(struct terminal_relay *relay)
{
	cleanup_close(&relay->master);
	relay->master = -1;
}

// Filters output of the box. Keeps the time of the last query, and limits their number.
static void filter_output(struct terminal_relay *relay, const char *bytes, size_t count)
{
	struct terminal_filter *filter = &relay->filter;
	unsigned int before = filter->queries;
	unsigned int unanswered = relay->input_queries + QUERIES_WITHOUT_INPUT;
	int64_t now = clock_monotonic_ms();

	if (now - relay->query_second >= 1000) {
		relay->query_second = now;
		relay->second_queries = filter->queries;
	}
	filter->query_limit = relay->second_queries + QUERIES_PER_SECOND;
	if (filter->query_limit > unanswered)
		filter->query_limit = unanswered;
	relay->out.length = terminal_filter(filter, bytes, count, relay->out.bytes);
	if (filter->queries != before)
		relay->last_query = now;
}

// Reads output of the box once and filters it. The caller writes it before the next read: while
// claudebox collects more, the programs at both ends wait, and output of 100 MB takes twice as
// long. Returns false if none is available; closes the master when the box has closed the slave.
static bool read_output(struct terminal_relay *relay)
{
	static char bytes[RELAY_CHUNK];
	ssize_t got = read(relay->master, bytes, sizeof(bytes));

	if (got > 0)
		filter_output(relay, bytes, (size_t)got);
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		close_master(relay);
	return got > 0;
}

// Returns whether lines are input of the box, and not of another program that reads a password or
// keys.
static bool is_read_by_box(const struct terminal *terminal, struct terminal_relay *relay)
{
	if (relay->reading && terminal_modes_differ(terminal))
		relay->reading = false;
	return relay->reading;
}

// Resets the modes when claudebox has lost the foreground, and sets them when it has it again.
static void follow_foreground(const struct terminal *terminal, struct terminal_relay *relay)
{
	bool shared = relay->input == INPUT_LINES && !is_read_by_box(terminal, relay);
	bool foreground = terminal_is_foreground(terminal) && !shared;
	struct terminal_used used = { relay->filter.modes.touched, relay->filter.rows };
	struct text out = { .arena = terminal->arena };

	if (relay->kind == TERMINAL_DUMB)
		return;
	if (foreground != relay->filter.background || relay->out.length)
		return;
	relay->filter.background = !foreground;
	if (foreground) {
		modes_render_set(&out, relay->filter.modes.changed, relay->kind);
		relay->filter.needs_reset |= out.length > 0;
	} else if (relay->filter.needs_reset && !shared) {
		text_add(&out, terminal_render_reset(terminal->arena, relay->kind, &used));
		relay->filter.needs_reset = false;
	}
	memcpy(relay->out.bytes, text_get(&out), out.length);
	relay->out.length = out.length;
}

void terminal_relay_prepare_poll(const struct terminal *terminal,
				 struct pollfd slots[RELAY_POLL_SLOTS])
{
	const struct terminal_relay *relay = terminal->relay;
	bool active = relay && relay->master >= 0;
	bool output = active && relay->out.length > 0;
	bool input = active && relay->in.length > 0;

	slots[SLOT_USER] = (struct pollfd){ .fd = active ? terminal->fd : -1 };
	slots[SLOT_MASTER] = (struct pollfd){ .fd = active ? relay->master : -1 };
	if (!active)
		return;
	slots[SLOT_USER].events =
		(short)((output ? POLLOUT : 0) | (relay->reading && !input ? POLLIN : 0));
	slots[SLOT_MASTER].events = (short)((input ? POLLOUT : 0) | (output ? 0 : POLLIN));
}

// Returns whether input contains an answer to a query. No key sends one of these.
static bool has_answer(const char *bytes, size_t count)
{
	return memmem(bytes, count, "\033[?", 3) || memmem(bytes, count, "\033]", 2) ||
	       memmem(bytes, count, "\033P", 2);
}

// Reads input of the user. Returns false if the user's terminal has hung up.
static bool read_input(const struct terminal *terminal, struct terminal_relay *relay, short events)
{
	ssize_t got;

	if (events & (POLLHUP | POLLERR | POLLNVAL))
		return false;
	if (!(events & POLLIN) || relay->in.length)
		return true;
	if (relay->input == INPUT_LINES && !is_read_by_box(terminal, relay))
		return true;
	got = read(terminal->fd, relay->in.bytes, RELAY_CHUNK);
	if (got > 0) {
		relay->in.length = (size_t)got;
		relay->input_queries = relay->filter.queries;
		relay->answers |= has_answer(relay->in.bytes, (size_t)got);
	} else if (got == 0 && relay->input == INPUT_LINES) { // the end of input, as Ctrl+D
		relay->in.bytes[0] = (char)terminal->saved_modes.c_cc[VEOF];
		relay->in.length = 1;
	} else if (got == 0 || errno == EIO) {
		relay->reading = false; // in the background; the next poll(2) reports a hang-up
	}
	return true;
}

void terminal_relay_handle_poll(struct terminal *terminal,
				const struct pollfd slots[RELAY_POLL_SLOTS])
{
	struct terminal_relay *relay = terminal->relay;
	bool ended = false;

	if (!relay || relay->master < 0)
		return;
	relay->hung_up = !read_input(terminal, relay, slots[SLOT_USER].revents);
	if (relay->hung_up || !buffer_write(&relay->out, terminal->fd)) {
		close_master(relay); // hangs up the terminal of the box
		return;
	}
	follow_foreground(terminal, relay);
	if (!buffer_write(&relay->in, relay->master))
		relay->in.at = relay->in.length = 0;
	if (!(slots[SLOT_MASTER].revents & (POLLIN | POLLHUP)))
		return;
	for (int i = 0; i < READS_PER_POLL && relay->out.length == 0 && !ended; i++) {
		ended = !read_output(relay);
		if (!ended && !buffer_write(&relay->out, terminal->fd))
			ended = true;
	}
}

// Writes all of the buffer to the user's terminal. Waits for a slow terminal, but not for one that
// accepts no output until the timeout.
static bool buffer_flush(const struct terminal *terminal, struct buffer *buffer)
{
	while (buffer->length) {
		struct pollfd wait = { .fd = terminal->fd, .events = POLLOUT };

		if (!buffer_write(buffer, terminal->fd))
			return false;
		if (buffer->length && poll(&wait, 1, FLUSH_TIMEOUT_MS) <= 0)
			return false;
	}
	return true;
}

void terminal_relay_drain(struct terminal *terminal)
{
	struct terminal_relay *relay = terminal->relay;
	bool ok = relay && !relay->hung_up && buffer_flush(terminal, &relay->out);

	for (int i = 0; ok && i < READS_AT_STOP && relay->master >= 0 && read_output(relay); i++)
		ok = buffer_flush(terminal, &relay->out);
}

struct relay_marks terminal_relay_take_marks(struct terminal *terminal)
{
	struct terminal_relay *relay = terminal->relay;
	struct relay_marks marks = { 0 };

	if (!relay)
		return marks;
	marks.needs_reset = relay->filter.needs_reset;
	marks.used = (struct terminal_used){ relay->filter.modes.touched, relay->filter.rows };
	marks.answers = relay->answers;
	marks.no_input = relay->filter.no_input;
	marks.query_age_ms = relay->last_query ? clock_monotonic_ms() - relay->last_query : -1;
	relay->filter.needs_reset = false;
	relay->filter.background = true; // until follow_foreground()
	relay->last_query = 0;
	return marks;
}

const unsigned int *terminal_relay_dropped(const struct terminal *terminal)
{
	return terminal->relay ? terminal->relay->filter.dropped : NULL;
}

unsigned int terminal_relay_allowed(const struct terminal *terminal)
{
	return terminal->relay ? terminal->relay->filter.allowed : 0;
}

void terminal_relay_close(struct terminal *terminal)
{
	struct terminal_relay *relay = terminal->relay;
	bool ok;

	if (!relay)
		return;
	ok = !relay->hung_up && buffer_flush(terminal, &relay->out);
	cleanup_close(&relay->slave);
	relay->slave = -1;
	while (ok && relay->master >= 0 && read_output(relay))
		ok = buffer_flush(terminal, &relay->out);
	close_master(relay);
}
