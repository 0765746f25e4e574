// SPDX-License-Identifier: MIT
// A terminal of the box's own, and the filter between it and the user's.
//
// Theory of operation: the box gets one end of a new pseudo-terminal, as those of its standard descriptors that are
// terminals, and as the controlling terminal of a session of its own. Its line does all that lines do: echo, Ctrl+C,
// Ctrl+Z. The user's is raw as long as we have it, so that keys come through as they are; keys are not looked at. Output
// passes the filter. Neither direction reads on before the other side has taken what was read: nothing piles up.
#include "terminal/relay.h"

#include "base/arena.h"
#include "base/error.h"
#include "box/box.h"
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

enum { CHUNK = 4096, READS_AT_ONCE = 16, LAST_MS = 1000 };

struct buffer {
	char *bytes;
	size_t at, length;
};

struct terminal_relay {
	int master; // -1: none of the box's descriptors is a terminal, or it is over
	int slave;
	bool standard[STDERR_FILENO + 1]; // those that are
	bool keys;                        // are passed on
	bool raw;                         // the user's terminal is ours now
	bool gone;                        // it has hung up
	struct terminal_filter filter;
	struct buffer in, out;
	char in_bytes[CHUNK];
	char out_bytes[FILTER_ROOM(CHUNK)];
};

// Another terminal than the one we are controlled by could be filtered, but not kept in order.
static bool find_standard(const struct box *box, struct terminal_relay *relay, struct error *error)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (!isatty(fd))
			continue;
		if (box->terminal < 0 || tcgetsid(fd) != getsid(0)) {
			error_hint(error,
				   "start it in a shell on that terminal, redirect "
				   "descriptor %d, or use \"terminal\": \"direct\"",
				   fd);
			return error_set(error,
					 "cannot filter the terminal of descriptor %d: it is not "
					 "the one that claudebox is controlled by",
					 fd);
		}
		relay->standard[fd] = true;
	}
	return true;
}

// Bytes from 0x80 are UTF-8, or controls among others: as the terminal's line knows, or as the language is.
static bool is_utf8(const struct box *box, const struct plan *plan)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	struct termios modes;

	if (tcgetattr(box->terminal, &modes) == 0 && (modes.c_iflag & IUTF8))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = plan_variable(plan, names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

static bool open_pair(const struct box *box, struct terminal_relay *relay)
{
	struct winsize size;

	relay->master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (relay->master < 0 || unlockpt(relay->master) < 0)
		return false;
	relay->slave = ioctl(relay->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (relay->slave < 0)
		return false;
	if (box->screen.saved)
		tcsetattr(relay->slave, TCSANOW, &box->screen.modes);
	if (ioctl(box->terminal, TIOCGWINSZ, &size) == 0)
		ioctl(relay->master, TIOCSWINSZ, &size);
	return true;
}

bool terminal_relay_open(struct box *box, const struct plan *plan, struct error *error)
{
	struct terminal_relay *relay = arena_alloc(box->screen.arena, sizeof(*relay));

	relay->master = relay->slave = -1;
	relay->in.bytes = relay->in_bytes;
	relay->out.bytes = relay->out_bytes;
	if (!find_standard(box, relay, error))
		return false;
	box->screen.relay = relay;
	relay->keys = relay->standard[STDIN_FILENO] || relay->standard[STDOUT_FILENO];
	if (!relay->keys && !relay->standard[STDERR_FILENO])
		return true;
	relay->filter.utf8 = is_utf8(box, plan);
	if (!open_pair(box, relay)) {
		error_hint(error, "are there pseudo-terminals? /proc/sys/kernel/pty/max and nr "
				  "tell");
		return error_set(error, "cannot make a terminal for the box: %s", strerror(errno));
	}
	return true;
}

void terminal_relay_started(struct box *box)
{
	struct terminal_relay *relay = box->screen.relay;

	if (!relay)
		return;
	cleanup_close(&relay->slave);
	relay->slave = -1;
	terminal_resumed(box);
}

int terminal_relay_standard(const struct box *box, int number)
{
	const struct terminal_relay *relay = box->screen.relay;

	return relay && relay->standard[number] ? relay->slave : -1;
}

void terminal_resized(const struct box *box)
{
	const struct terminal_relay *relay = box->screen.relay;
	struct winsize size;

	// The kernel tells the box when it is another.
	if (relay && relay->master >= 0 && ioctl(box->terminal, TIOCGWINSZ, &size) == 0)
		ioctl(relay->master, TIOCSWINSZ, &size);
}

void terminal_relay_enter(struct box *box)
{
	struct terminal_relay *relay = box->screen.relay;
	struct termios raw = box->screen.modes;

	if (!relay || relay->master < 0 || !relay->keys || !box->screen.saved)
		return;
	cfmakeraw(&raw);
	// In a pipeline others write to it, too, and their lines end as usual.
	if (!relay->standard[STDOUT_FILENO])
		raw.c_oflag = box->screen.modes.c_oflag;
	relay->raw = tcsetattr(box->terminal, TCSANOW, &raw) == 0;
	terminal_resized(box);
}

void terminal_relay_leave(struct box *box)
{
	struct terminal_relay *relay = box->screen.relay;

	if (!relay || !relay->raw)
		return;
	relay->raw = false;
	tcsetattr(box->terminal, TCSANOW, &box->screen.modes);
}

bool terminal_relay_waits(const struct box *box)
{
	const struct terminal_relay *relay = box->screen.relay;

	return relay && relay->master >= 0 && relay->keys && !relay->raw;
}

// Takes what goes; false: nobody is there any more.
static bool pass_on(struct buffer *buffer, int fd)
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

static void hang_up(struct terminal_relay *relay)
{
	cleanup_close(&relay->master);
	relay->master = -1;
}

// Reads once; false: there is nothing more, for now or for ever.
static bool read_output(struct terminal_relay *relay)
{
	char bytes[CHUNK];
	ssize_t got = read(relay->master, bytes, sizeof(bytes));

	if (got > 0)
		relay->out.length =
			terminal_filter(&relay->filter, bytes, (size_t)got, relay->out.bytes);
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		hang_up(relay);
	return got > 0;
}

void terminal_watched(const struct box *box, struct pollfd wait[TERMINAL_WATCHED])
{
	const struct terminal_relay *relay = box->screen.relay;
	bool on = relay && relay->master >= 0;
	bool output = on && relay->out.length > 0;
	bool input = on && relay->in.length > 0;

	wait[0] = (struct pollfd){ .fd = on ? box->terminal : -1 };
	wait[1] = (struct pollfd){ .fd = on ? relay->master : -1 };
	if (!on)
		return;
	wait[0].events = (short)((output ? POLLOUT : 0) | (relay->raw && !input ? POLLIN : 0));
	wait[1].events = (short)((input ? POLLOUT : 0) | (output ? 0 : POLLIN));
}

// True: the user's terminal is gone.
static bool read_keys(const struct box *box, struct terminal_relay *relay, short events)
{
	ssize_t got;

	if (events & (POLLHUP | POLLERR | POLLNVAL))
		return true;
	if (!(events & POLLIN) || relay->in.length)
		return false;
	got = read(box->terminal, relay->in.bytes, CHUNK);
	if (got > 0)
		relay->in.length = (size_t)got;
	else if (got == 0 ||
		 errno == EIO) // not ours any more; or gone, which poll() tells the next time
		relay->raw = false;
	return false;
}

void terminal_take(struct box *box, const struct pollfd wait[TERMINAL_WATCHED])
{
	struct terminal_relay *relay = box->screen.relay;
	bool over = false;

	if (!relay || relay->master < 0)
		return;
	relay->gone = read_keys(box, relay, wait[0].revents);
	if (relay->gone || !pass_on(&relay->out, box->terminal)) {
		hang_up(relay); // the box's terminal hangs up, too
		return;
	}
	if (!pass_on(&relay->in, relay->master))
		relay->in.at = relay->in.length = 0;
	if (!(wait[1].revents & (POLLIN | POLLHUP)))
		return;
	for (int i = 0; i < READS_AT_ONCE && relay->out.length == 0 && !over; i++) {
		over = !read_output(relay);
		if (!over && !pass_on(&relay->out, box->terminal))
			over = true;
	}
}

// Waits for a screen that is slow, not for one that has stopped.
static bool pass_all(const struct box *box, struct buffer *buffer)
{
	while (buffer->length) {
		struct pollfd wait = { .fd = box->terminal, .events = POLLOUT };

		if (!pass_on(buffer, box->terminal))
			return false;
		if (buffer->length && poll(&wait, 1, LAST_MS) <= 0)
			return false;
	}
	return true;
}

bool terminal_relay_end(struct box *box)
{
	struct terminal_relay *relay = box->screen.relay;
	bool ok = !relay->gone && pass_all(box, &relay->out);

	cleanup_close(&relay->slave);
	relay->slave = -1;
	while (ok && relay->master >= 0 && read_output(relay))
		ok = pass_all(box, &relay->out);
	hang_up(relay);
	return relay->filter.touched;
}
