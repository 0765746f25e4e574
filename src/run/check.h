// SPDX-License-Identifier: MIT
// How --check finds: a function for each line.
#pragma once

#include "base/arena.h"
#include "config/options.h"
#include "plan/findings.h"
#include "plan/host.h"

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
