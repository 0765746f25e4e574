// SPDX-License-Identifier: MIT
// --check: Landlock, the directories of PATH, limits, and the terminal.
#include "check/system.h"

#include "base/arena.h"
#include "base/error.h"
#include "check/finding.h"
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
		return finding_missing(arena_printf(arena,
						    facts->landlock ? "version %d, needs version 6"
								    : "not in this kernel",
						    facts->landlock),
				       "use Linux 6.12 or later; without it, a box with --network "
				       "full can connect to the host's abstract sockets");
	return finding_ok(
		arena_printf(arena,
			     facts->landlock < LANDLOCK_SOCKETS
				     ? "version %d: blocks abstract sockets; sockets in mounted "
				       "directories from version 9 on"
				     : "version %d: blocks abstract sockets and sockets in mounted "
				       "directories",
			     facts->landlock));
}

struct finding check_path(struct arena *arena, const struct facts *facts,
			  const struct config *config)
{
	strings untrusted = probe_untrusted_programs(arena, facts);

	(void)config;
	if (!untrusted.count)
		return finding_ok("programs are in directories that only you and root can write");
	return finding_broken(untrusted.count == 1
				      ? untrusted.items[0]
				      : arena_printf(arena, "%s, and %zu more", untrusted.items[0],
						     untrusted.count - 1),
			      "remove that directory from PATH, or run `chmod go-w` on it");
}

struct finding check_limits(struct arena *arena, const struct facts *facts,
			    const struct config *config)
{
	struct error error = { .arena = arena };
	const char *found = limits_render_available(facts, &error);

	(void)config;
	return found ? finding_ok(found) : finding_missing(error.message, error.hint);
}

struct finding check_terminal(struct arena *arena, const struct facts *facts,
			      const struct config *config)
{
	CLEANUP_FD int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	(void)config;
	(void)arena;
	(void)facts;
	if (terminal < 0)
		return finding_missing("there is no terminal for questions", "start with --yes");
	return finding_ok("can ask for confirmation");
}
