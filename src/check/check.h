// SPDX-License-Identifier: MIT
// How --check finds: a function for each line.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"
#include "render/check.h"

#include <stdbool.h>

static inline struct finding check_ok(const char *detail)
{
	return (struct finding){ .state = FINDING_OK, .detail = detail };
}

static inline struct finding check_missing(const char *detail, const char *fix)
{
	return (struct finding){ .state = FINDING_MISSING, .detail = detail, .fix = fix };
}

static inline struct finding check_broken(const char *detail, const char *fix)
{
	return (struct finding){ .state = FINDING_BROKEN, .detail = detail, .fix = fix };
}

// --check: prints what it finds.
bool check_command(const struct config *config, const struct facts *facts, struct arena *arena,
		   int *ret_status, struct error *error);
