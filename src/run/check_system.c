// SPDX-License-Identifier: MIT
// --check: what the machine offers besides: the kernel, limits, programs, a terminal.
#include "run/check.h"

#include "base/cleanup.h"
#include "host/probe.h"
#include "plan/limits.h"
#include "run/run.h"

#include <fcntl.h>
#include <stdio.h>

struct userns_row {
	const char *file;
	char bad;
	const char *problem;
	const char *cure;
};

static const struct userns_row userns_table[] = {
	{ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1',
	  "AppArmor keeps bwrap from making user namespaces (Ubuntu 23.10 and later)",
	  "sudo apt install apparmor-profiles && sudo ln -s "
	  "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && sudo "
	  "systemctl reload apparmor" },
	{ "/proc/sys/kernel/unprivileged_userns_clone", '0',
	  "user namespaces are switched off for ordinary users",
	  "sudo sysctl -w kernel.unprivileged_userns_clone=1" },
	{ "/proc/sys/user/max_user_namespaces", '0', "no user namespaces are allowed",
	  "sudo sysctl -w user.max_user_namespaces=15000" },
};

const char *run_userns_problem(struct arena *arena, const char **ret_cure)
{
	for (size_t i = 0; i < ARRAY_SIZE(userns_table); i++) {
		const struct userns_row *row = &userns_table[i];
		// Files of the kernel claim to be empty.
		CLEANUP_FILE FILE *file = fopen(row->file, "re");
		char value[16] = "";

		if (!file || !fgets(value, sizeof(value), file))
			continue;
		if (value[0] == row->bad && (value[1] == '\n' || value[1] == '\0')) {
			*ret_cure = row->cure;
			return arena_strdup(arena, row->problem);
		}
	}
	return NULL;
}

struct finding check_landlock(struct arena *arena, const struct host *host,
			      const struct config *config)
{
	(void)config;
	if (host->landlock < LANDLOCK_SCOPES)
		return check_missing(arena_printf(arena,
						  host->landlock ? "version %d, 6 is wanted"
								 : "not in this kernel",
						  host->landlock),
				     "Linux 6.12 or newer; without it --network full leaves "
				     "abstract sockets open");
	return check_ok(
		arena_printf(arena, "version %d: abstract sockets are closed", host->landlock));
}

struct finding check_path(struct arena *arena, const struct host *host, const struct config *config)
{
	strings passed_over = probe_passed_over(arena, host);

	(void)config;
	if (!passed_over.count)
		return check_ok("programs come from where only you and root can write");
	return check_broken(passed_over.count == 1
				    ? passed_over.items[0]
				    : arena_printf(arena, "%s, and %zu more", passed_over.items[0],
						   passed_over.count - 1),
			    "take that directory off PATH, or keep others from it: chmod go-w");
}

struct finding check_limits(struct arena *arena, const struct host *host,
			    const struct config *config)
{
	struct error error = { .arena = arena };
	const char *found = limits_render_available(host, &error);

	(void)config;
	return found ? check_ok(found) : check_missing(error.message, error.hint);
}

struct finding check_terminal(struct arena *arena, const struct host *host,
			      const struct config *config)
{
	CLEANUP_FD int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	(void)config;
	(void)arena;
	(void)host;
	if (terminal < 0)
		return check_missing("nobody can be asked",
				     "start with --yes where there is no terminal");
	return check_ok("can ask for confirmation");
}
