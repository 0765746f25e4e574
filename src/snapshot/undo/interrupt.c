// SPDX-License-Identifier: MIT
// Holds back the signals that would end claudebox in the middle of an undo.
#include "snapshot/undo/interrupt.h"

#include "base/text.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

static const int held[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

static sigset_t held_set(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(held); i++)
		sigaddset(&set, held[i]);
	return set;
}

struct interrupt interrupt_hold(void)
{
	struct interrupt interrupt;
	sigset_t set = held_set();

	sigprocmask(SIG_BLOCK, &set, &interrupt.before);
	return interrupt;
}

bool interrupt_is_pending(void)
{
	sigset_t pending;

	sigpending(&pending);
	for (size_t i = 0; i < ARRAY_SIZE(held); i++)
		if (sigismember(&pending, held[i]) == 1)
			return true;
	return false;
}

bool interrupt_release(const struct interrupt *interrupt)
{
	static const struct timespec none = { 0 };
	sigset_t set = held_set();
	bool found = false;

	while (sigtimedwait(&set, NULL, &none) > 0)
		found = true;
	sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
	return found;
}
