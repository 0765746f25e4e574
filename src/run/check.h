// SPDX-License-Identifier: MIT
// What --check finds: a line each.
#pragma once

#include "base/arena.h"
#include "config/options.h"
#include "plan/host.h"

#include <stdbool.h>

enum state { STATE_OK, STATE_MISSING, STATE_BROKEN, STATE_COUNT };

struct finding {
	enum state state;
	bool starts_without; // a box starts all the same, also where this is needed
	const char *detail;
	const char *fix; // how to cure it
};

static inline struct finding check_ok(const char *detail)
{
	return (struct finding){ .state = STATE_OK, .detail = detail };
}

static inline struct finding check_missing(const char *detail, const char *fix)
{
	return (struct finding){ .state = STATE_MISSING, .detail = detail, .fix = fix };
}

static inline struct finding check_broken(const char *detail, const char *fix)
{
	return (struct finding){ .state = STATE_BROKEN, .detail = detail, .fix = fix };
}

struct finding check_nix(struct arena *arena, const struct host *host, const struct config *config);
struct finding check_packages(struct arena *arena, const struct host *host,
			      const struct config *config);
struct finding check_landlock(struct arena *arena, const struct host *host,
			      const struct config *config);
struct finding check_path(struct arena *arena, const struct host *host,
			  const struct config *config);
struct finding check_limits(struct arena *arena, const struct host *host,
			    const struct config *config);
struct finding check_terminal(struct arena *arena, const struct host *host,
			      const struct config *config);
