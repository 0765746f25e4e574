// SPDX-License-Identifier: MIT
// Setup of the terminal relay: which descriptors are terminals, how the user's terminal is read,
// and the pseudo-terminal of the box.
#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/plan.h"
#include "terminal/filter.h"
#include "terminal/payload.h"
#include "terminal/relay.h"
#include "terminal/relay_state.h"
#include "terminal/reset.h"
#include "terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool is_pipe(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

static enum input choose_input(const struct terminal_relay *relay)
{
	if (!relay->standard[STDIN_FILENO])
		return INPUT_NONE;
	return is_pipe(STDOUT_FILENO) || is_pipe(STDERR_FILENO) ? INPUT_LINES : INPUT_RAW;
}

bool relay_is_raw_output(const struct terminal_relay *relay)
{
	return relay->input == INPUT_RAW && relay->standard[STDOUT_FILENO];
}

static bool open_pty(const struct terminal *terminal, struct terminal_relay *relay)
{
	struct termios modes = terminal->saved_modes;
	struct winsize size;

	relay->master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (relay->master < 0 || unlockpt(relay->master) < 0)
		return false;
	relay->slave = ioctl(relay->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (relay->slave < 0)
		return false;
	if (relay->input == INPUT_LINES) { // the user's terminal echoes
		modes.c_lflag &= (tcflag_t)~ECHO;
		modes.c_lflag |= ICANON; // also if another program has set modes before
	}
	if (!relay_is_raw_output(relay)) // the user's terminal processes the output
		modes.c_oflag &= (tcflag_t)~OPOST;
	if (terminal->modes_saved)
		tcsetattr(relay->slave, TCSANOW, &modes);
	if (ioctl(terminal->fd, TIOCGWINSZ, &size) == 0)
		ioctl(relay->master, TIOCSWINSZ, &size);
	return true;
}

static void prepare_filter(const struct terminal *terminal, struct terminal_relay *relay,
			   const struct plan *plan)
{
	struct terminal_filter *filter = &relay->filter;

	filter->utf8 = is_utf8(terminal, plan);
	filter->allowed = config_terminal_allowed(plan->config);
	// Answers do not end with a newline: they would stay before the next line of the user.
	filter->no_input = relay->input != INPUT_RAW;
	filter->background = !terminal->foreground || relay->kind == TERMINAL_DUMB;
	if (filter->allowed & TERMINAL_BIT(TERMINAL_IMAGES))
		filter->large_size = IMAGE_MAX;
	else if (filter->allowed & TERMINAL_BIT(TERMINAL_CLIPBOARD))
		filter->large_size = CLIPBOARD_MAX + FILTER_SEQUENCE_MAX;
	if (filter->large_size)
		filter->large = arena_alloc(terminal->arena, filter->large_size);
	relay->in.bytes = relay->in_bytes;
	relay->out.bytes =
		arena_alloc(terminal->arena, FILTER_OUTPUT_MAX(filter->large ? filter->large_size
									     : FILTER_SEQUENCE_MAX,
							       RELAY_CHUNK));
}

bool terminal_relay_open(struct terminal *terminal, const struct plan *plan, struct error *error)
{
	struct terminal_relay *relay = arena_alloc(terminal->arena, sizeof(*relay));

	relay->master = relay->slave = -1;
	if (!find_standard_terminals(terminal, relay, error))
		return false;
	terminal->relay = relay;
	relay->input = choose_input(relay);
	relay->kind = terminal_kind_of(getenv("TERM"), getenv("TMUX") != NULL);
	if (!relay->standard[STDIN_FILENO] && !relay->standard[STDOUT_FILENO] &&
	    !relay->standard[STDERR_FILENO])
		return true;
	prepare_filter(terminal, relay, plan);
	if (!open_pty(terminal, relay)) {
		error_set(error, "cannot create a pseudo-terminal for the box: %s",
			  strerror(errno));
		return error_hint(error, "if all are in use, /proc/sys/kernel/pty/nr equals "
					 "/proc/sys/kernel/pty/max");
	}
	return true;
}
