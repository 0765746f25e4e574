// SPDX-License-Identifier: MIT
// --check: the Nix daemon and the configured packages.
#include "check/nix.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "check/finding.h"
#include "config/config.h"
#include "nix/daemon.h"
#include "nix/packages.h"
#include "plan/facts.h"
#include "plan/system.h"
#include "plan/tables.h"
#include "render/check.h"

struct finding check_nix(struct arena *arena, const struct facts *facts,
			 const struct config *config)
{
	struct finding found;
	const char *problem;
	const char *fix;
	bool owner;

	if (!facts_file(facts, "/nix/store"))
		return finding_missing("no /nix/store",
				       config->packages.count
					       ? "install Nix (https://nixos.org/download), or "
						 "start without packages"
					       : "needed only for packages from Nix");
	problem = nix_daemon_problem(arena, &owner);
	if (problem) {
		found = finding_broken(problem, nix_daemon_fix);
		// The owner of the store can build on the host without the daemon.
		found.starts_without = owner;
		return found;
	}
	problem = plan_nix_problem(facts, &fix);
	if (!problem)
		return finding_ok("the daemon is reachable");
	found = finding_broken(
		arena_printf(arena, "the daemon is left out of the box: %s", problem), fix);
	found.starts_without = true;
	return found;
}

static const char *render_names(struct arena *arena, const struct config *config)
{
	enum { LISTED_MAX = 8 };
	struct text out = { .arena = arena };

	vec_each(package, &config->packages) {
		size_t number = (size_t)(package - config->packages.items);

		if (number < LISTED_MAX)
			text_printf(&out, "%s%s", number ? ", " : "",
				    quote_display(arena, package->name, 60));
	}
	if (config->packages.count > LISTED_MAX)
		text_printf(&out, " and %zu more", config->packages.count - LISTED_MAX);
	return text_get(&out);
}

struct finding check_packages(struct arena *arena, const struct facts *facts,
			      const struct config *config)
{
	struct error error = { .arena = arena };
	const char *names = render_names(arena, config);

	if (!config->packages.count)
		return finding_ok("none configured");
	switch (packages_lookup(facts, config, arena, &error)) {
	case PACKAGES_CACHED:
		return finding_ok(arena_printf(arena, "%s: cached and in the store", names));
	case PACKAGES_EVALUATED:
		return finding_ok(arena_printf(
			arena, "%s: found; the next start builds or fetches missing packages",
			names));
	case PACKAGES_UNKNOWN:
		return finding_ok(
			arena_printf(arena, "%s: not evaluated yet; the next start fetches '%s'",
				     names, config->nixpkgs ? config->nixpkgs : "nixpkgs"));
	case PACKAGES_INVALID:
		break;
	}
	return finding_broken(error.message, error.hint);
}
