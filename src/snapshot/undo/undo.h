// SPDX-License-Identifier: MIT
// Takes back what a session changed: the steps, their execution, and what a killed one left.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "snapshot/store.h"
#include "snapshot/undo/journal.h"
#include "snapshot/undo/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Takes back all possible steps. Nothing is changed if that fails. The lock of the store and that
// of the instance are held.
bool undo_apply(const struct store *store, const undo_steps *steps,
		const struct undo_journal *journal, struct error *error);
// Completes an undo that was killed. The same locks are held.
bool undo_recover(const struct store *store, struct undo_journal *ret_journal, struct error *error);
