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
#include "terminal/relay.h"

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "terminal/filter.h"
#include "terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { CHUNK = 4096, READS_PER_POLL = 16, FLUSH_TIMEOUT_MS = 1000 };

// Slots of the poll array.
enum { SLOT_USER, SLOT_MASTER };

struct buffer {
	char *bytes;
	size_t at, length;
};

struct terminal_relay {
	int master; // -1: no descriptor of the box is a terminal, or the terminal relay has ended
	int slave;
	bool standard[STDERR_FILENO + 1]; // descriptors 0 to 2 that are terminals
	bool forwards_input;
	bool raw;     // the user's terminal is in raw mode, and claudebox reads it
	bool hung_up; // the user's terminal has hung up
	struct terminal_filter filter;
	struct buffer in, out;
	char in_bytes[CHUNK];
	char out_bytes[FILTER_OUTPUT_MAX(CHUNK)];
};

// Finds the standard descriptors that are terminals. Refuses a terminal that is not the controlling
// one: claudebox could not control its foreground and modes.
static bool find_standard_terminals(const struct terminal *terminal, struct terminal_relay *relay,
				    struct error *error)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (!isatty(fd))
			continue;
		if (terminal->fd < 0 || tcgetsid(fd) != getsid(0)) {
			error_set(error,
				  "cannot filter the terminal of descriptor %d: it is not the "
				  "controlling terminal of claudebox",
				  fd);
			return error_hint(error,
					  "start claudebox in a shell on that terminal, redirect "
					  "descriptor %d, or set \"terminal\": \"direct\" in a "
					  "profile",
					  fd);
		}
		relay->standard[fd] = true;
	}
	return true;
}

// Returns whether the terminal reads bytes from 0x80 as UTF-8, by its IUTF8 mode or by the locale.
static bool is_utf8(const struct terminal *terminal, const struct plan *plan)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	struct termios modes;

	if (tcgetattr(terminal->fd, &modes) == 0 && (modes.c_iflag & IUTF8))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = plan_variable(plan, names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

static bool open_pty(const struct terminal *terminal, struct terminal_relay *relay)
{
	struct winsize size;

	relay->master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (relay->master < 0 || unlockpt(relay->master) < 0)
		return false;
	relay->slave = ioctl(relay->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (relay->slave < 0)
		return false;
	if (terminal->modes_saved)
		tcsetattr(relay->slave, TCSANOW, &terminal->saved_modes);
	if (ioctl(terminal->fd, TIOCGWINSZ, &size) == 0)
		ioctl(relay->master, TIOCSWINSZ, &size);
	return true;
}

bool terminal_relay_open(struct terminal *terminal, const struct plan *plan, struct error *error)
{
	struct terminal_relay *relay = arena_alloc(terminal->arena, sizeof(*relay));

	relay->master = relay->slave = -1;
	relay->in.bytes = relay->in_bytes;
	relay->out.bytes = relay->out_bytes;
	if (!find_standard_terminals(terminal, relay, error))
		return false;
	terminal->relay = relay;
	relay->forwards_input = relay->standard[STDIN_FILENO] || relay->standard[STDOUT_FILENO];
	if (!relay->forwards_input && !relay->standard[STDERR_FILENO])
		return true;
	relay->filter.utf8 = is_utf8(terminal, plan);
	if (!open_pty(terminal, relay)) {
		error_set(error, "cannot create a pseudo-terminal for the box: %s",
			  strerror(errno));
		return error_hint(error, "if all are in use, /proc/sys/kernel/pty/nr equals "
					 "/proc/sys/kernel/pty/max");
	}
	return true;
}

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

void terminal_relay_set_raw(struct terminal *terminal)
{
	struct terminal_relay *relay = terminal->relay;
	struct termios raw = terminal->saved_modes;

	if (!relay || relay->master < 0 || !relay->forwards_input || !terminal->modes_saved)
		return;
	cfmakeraw(&raw);
	// In a pipeline other programs write to the terminal, and need its output processing.
	if (!relay->standard[STDOUT_FILENO])
		raw.c_oflag = terminal->saved_modes.c_oflag;
	relay->raw = tcsetattr(terminal->fd, TCSANOW, &raw) == 0;
	terminal_relay_resize(terminal);
}

void terminal_relay_restore_modes(struct terminal *terminal)
{
	struct terminal_relay *relay = terminal->relay;

	if (!relay || !relay->raw)
		return;
	relay->raw = false;
	tcsetattr(terminal->fd, TCSANOW, &terminal->saved_modes);
}

bool terminal_relay_in_background(const struct terminal *terminal)
{
	const struct terminal_relay *relay = terminal->relay;

	return relay && relay->master >= 0 && relay->forwards_input && !relay->raw;
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

// Reads output of the box once and filters it. Returns false if none is available; closes the
// master when the box has closed the slave.
static bool read_output(struct terminal_relay *relay)
{
	char bytes[CHUNK];
	ssize_t got = read(relay->master, bytes, sizeof(bytes));

	if (got > 0)
		relay->out.length =
			terminal_filter(&relay->filter, bytes, (size_t)got, relay->out.bytes);
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		close_master(relay);
	return got > 0;
}

void terminal_relay_prepare_poll(const struct terminal *terminal,
				 struct pollfd slots[TERMINAL_POLL_SLOTS])
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
		(short)((output ? POLLOUT : 0) | (relay->raw && !input ? POLLIN : 0));
	slots[SLOT_MASTER].events = (short)((input ? POLLOUT : 0) | (output ? 0 : POLLIN));
}

// Reads input of the user. Returns false if the user's terminal has hung up.
static bool read_input(const struct terminal *terminal, struct terminal_relay *relay, short events)
{
	ssize_t got;

	if (events & (POLLHUP | POLLERR | POLLNVAL))
		return false;
	if (!(events & POLLIN) || relay->in.length)
		return true;
	got = read(terminal->fd, relay->in.bytes, CHUNK);
	if (got > 0)
		relay->in.length = (size_t)got;
	else if (got == 0 || errno == EIO)
		relay->raw = false; // in the background; a hang-up is reported by the next poll(2)
	return true;
}

void terminal_relay_handle_poll(struct terminal *terminal,
				const struct pollfd slots[TERMINAL_POLL_SLOTS])
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

bool terminal_relay_close(struct terminal *terminal)
{
	struct terminal_relay *relay = terminal->relay;
	bool ok;

	if (!relay)
		return false;
	ok = !relay->hung_up && buffer_flush(terminal, &relay->out);
	cleanup_close(&relay->slave);
	relay->slave = -1;
	while (ok && relay->master >= 0 && read_output(relay))
		ok = buffer_flush(terminal, &relay->out);
	close_master(relay);
	return relay->filter.needs_reset;
}
