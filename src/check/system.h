// SPDX-License-Identifier: MIT
// --check: what the machine offers besides: the kernel, limits, programs, a terminal.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"
#include "render/check.h"

struct finding check_landlock(struct arena *arena, const struct facts *facts,
			      const struct config *config);
struct finding check_path(struct arena *arena, const struct facts *facts,
			  const struct config *config);
struct finding check_limits(struct arena *arena, const struct facts *facts,
			    const struct config *config);
struct finding check_terminal(struct arena *arena, const struct facts *facts,
			      const struct config *config);
