// SPDX-License-Identifier: MIT
// The result of one check, and the type of the functions in the table of checks.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"
#include "render/check.h"

typedef struct finding check_function(struct arena *arena, const struct facts *facts,
				      const struct config *config);

static inline struct finding finding_ok(const char *detail)
{
	return (struct finding){ .state = FINDING_OK, .detail = detail };
}

static inline struct finding finding_missing(const char *detail, const char *fix)
{
	return (struct finding){ .state = FINDING_MISSING, .detail = detail, .fix = fix };
}

static inline struct finding finding_broken(const char *detail, const char *fix)
{
	return (struct finding){ .state = FINDING_BROKEN, .detail = detail, .fix = fix };
}
