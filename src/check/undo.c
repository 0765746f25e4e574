// SPDX-License-Identifier: MIT
// --check: whether sessions can be taken back.
#include "check/undo.h"

#include "base/arena.h"
#include "base/quote.h"
#include "check/finding.h"
#include "config/config.h"
#include "plan/facts.h"
#include "render/check.h"

struct finding check_undo(struct arena *arena, const struct facts *facts,
			  const struct config *config)
{
	if (config->undo == UNDO_OFF)
		return finding_ok("off, by the profile");
	if (config->project == PROJECT_READ_ONLY)
		return finding_ok("not needed: the project is read-only");
	if (!facts->undo.git)
		return finding_missing("without git, a session cannot be taken back",
				       "install git");
	return finding_ok(arena_printf(arena, "--diff and --undo use %s",
				       quote_display(arena, facts->undo.git, 0)));
}
