// SPDX-License-Identifier: MIT
// What an undo will do, for the question.
#pragma once

#include "render/changes.h"
#include "snapshot/command.h"
#include "snapshot/refs/undo.h"
#include "snapshot/undo/plan.h"

// Lists the files and, with =commits, the branches and tags that an undo restores, and what it
// leaves.
struct undo_view undo_build_view(const struct snapshot_command *command, const undo_steps *steps,
				 const struct refs_undo *refs);
