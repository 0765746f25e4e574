// SPDX-License-Identifier: MIT
// --check: what the machine offers besides: the kernel, limits, programs, a terminal.
#include "check/system.h"

#include "base/arena.h"
#include "base/error.h"
#include "check/check.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/limits.h"
#include "probe/programs.h"
#include "render/check.h"
#include "sys/cleanup.h"

#include <fcntl.h>
#include <stdio.h>

struct finding check_landlock(struct arena *arena, const struct facts *facts,
			      const struct config *config)
{
	(void)config;
	if (facts->landlock < LANDLOCK_SCOPES)
		return check_missing(arena_printf(arena,
						  facts->landlock ? "version %d, 6 is wanted"
								  : "not in this kernel",
						  facts->landlock),
				     "Linux 6.12 or newer; without it --network full leaves "
				     "abstract sockets open");
	return check_ok(
		arena_printf(arena, "version %d: abstract sockets are closed", facts->landlock));
}

struct finding check_path(struct arena *arena, const struct facts *facts,
			  const struct config *config)
{
	strings passed_over = probe_passed_over(arena, facts);

	(void)config;
	if (!passed_over.count)
		return check_ok("programs come from where only you and root can write");
	return check_broken(passed_over.count == 1
				    ? passed_over.items[0]
				    : arena_printf(arena, "%s, and %zu more", passed_over.items[0],
						   passed_over.count - 1),
			    "take that directory off PATH, or keep others from it: chmod go-w");
}

struct finding check_limits(struct arena *arena, const struct facts *facts,
			    const struct config *config)
{
	struct error error = { .arena = arena };
	const char *found = limits_render_available(facts, &error);

	(void)config;
	return found ? check_ok(found) : check_missing(error.message, error.hint);
}

struct finding check_terminal(struct arena *arena, const struct facts *facts,
			      const struct config *config)
{
	CLEANUP_FD int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	(void)config;
	(void)arena;
	(void)facts;
	if (terminal < 0)
		return check_missing("nobody can be asked",
				     "start with --yes where there is no terminal");
	return check_ok("can ask for confirmation");
}
