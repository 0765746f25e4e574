// SPDX-License-Identifier: MIT
// --check, the part about Nix: is the daemon here, and are a profile's packages?
#include "check/nix.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "check/check.h"
#include "config/config.h"
#include "nix/packages.h"
#include "plan/facts.h"
#include "plan/system.h"
#include "plan/tables.h"
#include "render/check.h"
#include "sys/cleanup.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct finding check_nix(struct arena *arena, const struct facts *facts,
			 const struct config *config)
{
	static const struct sockaddr_un address = { .sun_family = AF_UNIX,
						    .sun_path = NIX_DAEMON "/socket" };
	CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct finding found;
	const char *problem;
	const char *cure;

	if (!facts_file(facts, "/nix/store"))
		return check_missing("no /nix/store",
				     config->packages.count
					     ? "install Nix (https://nixos.org/download), or do "
					       "without packages"
					     : "nothing to do, unless you want tools from Nix");
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		found = check_broken(
			arena_printf(arena, "the daemon does not answer (%m)"),
			"start it: `systemctl start nix-daemon`; and be in its group of users");
		// Who owns the store needs no daemon to build on the host.
		found.starts_without = access("/nix/var/nix", W_OK) == 0;
		return found;
	}
	problem = plan_nix_problem(facts, &cure);
	if (!problem)
		return check_ok("the daemon answers");
	found = check_broken(arena_printf(arena, "the daemon is left out of the box: %s", problem),
			     cure);
	found.starts_without = true;
	return found;
}

static const char *list(struct arena *arena, const struct config *config)
{
	enum { MOST_LISTED = 8 };
	struct text out = { .arena = arena };

	vec_each(package, &config->packages) {
		size_t number = (size_t)(package - config->packages.items);

		if (number < MOST_LISTED)
			text_printf(&out, "%s%s", number ? ", " : "",
				    quote_display(arena, package->name, 60));
	}
	if (config->packages.count > MOST_LISTED)
		text_printf(&out, " and %zu more", config->packages.count - MOST_LISTED);
	return text_get(&out);
}

struct finding check_packages(struct arena *arena, const struct facts *facts,
			      const struct config *config)
{
	struct error error = { .arena = arena };
	const char *names = list(arena, config);

	if (!config->packages.count)
		return check_ok("none are asked for");
	switch (packages_lookup(facts, config, arena, &error)) {
	case PACKAGES_HERE:
		return check_ok(arena_printf(arena, "%s: remembered, and in the store", names));
	case PACKAGES_KNOWN:
		return check_ok(arena_printf(
			arena, "%s: found; nix builds or fetches what is missing at the next start",
			names));
	case PACKAGES_NOT_YET:
		return check_ok(arena_printf(
			arena, "%s: not looked for yet; nix fetches '%s' at the next start", names,
			config->nixpkgs ? config->nixpkgs : "nixpkgs"));
	case PACKAGES_WRONG:
		break;
	}
	return check_broken(error.message, error.hint);
}
