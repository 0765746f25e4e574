// SPDX-License-Identifier: MIT
// Ends the box after the user's terminal has hung up, also if the agent ignores SIGHUP.
//
// Theory of operation: outside a box, a program that ignores SIGHUP lives on after its terminal was
// closed. A box would live on without a terminal on which the user could see or end it. So the
// agent has a few seconds to end, as at a logout. With nohup(1) the box lives on.
#include "box/hangup.h"

#include "base/arena.h"
#include "box/box.h"
#include "box/control.h"
#include "init/protocol.h"
#include "sys/clock.h"

#include <signal.h>

static const struct {
	int after_ms;
	int signal_number; // 0: SIGKILL to the whole box
} steps[] = { { 0, SIGHUP }, { 3000, SIGTERM }, { 5000, 0 } };

struct hangup hangup_open(void)
{
	struct sigaction action;

	return (struct hangup){ .ignored = sigaction(SIGHUP, NULL, &action) == 0 &&
					   action.sa_handler == SIG_IGN };
}

void hangup_prepare_poll(const struct hangup *hangup, const struct box *box, struct pollfd *slot)
{
	// poll(2) always reports POLLHUP.
	*slot = (struct pollfd){ .fd = hangup->ignored || hangup->since_ms ? -1
									   : box->terminal.fd };
}

int hangup_timeout(const struct hangup *hangup)
{
	if (!hangup->since_ms || hangup->step == ARRAY_SIZE(steps))
		return -1;
	return clock_left_ms(hangup->since_ms, steps[hangup->step].after_ms);
}

void hangup_check(struct hangup *hangup, const struct box *box, const struct pollfd *slot)
{
	if (slot->revents & (POLLHUP | POLLERR))
		hangup->since_ms = clock_monotonic_ms();
	if (hangup_timeout(hangup) != 0)
		return;
	if (steps[hangup->step].signal_number)
		control_send(box->control_fd, MESSAGE_SIGNAL, steps[hangup->step].signal_number);
	else
		box_kill(box);
	hangup->step++;
}
