// SPDX-License-Identifier: MIT
// --check, the part about Nix: is the daemon here, and are a profile's packages?
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"
#include "render/check.h"

struct finding check_nix(struct arena *arena, const struct facts *facts,
			 const struct config *config);
struct finding check_packages(struct arena *arena, const struct facts *facts,
			      const struct config *config);
