// SPDX-License-Identifier: MIT
// The report at the end of a session: collected from all parts, shown, and kept.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/report/report.h"
#include "snapshot/session.h"

#include <stdbool.h>

// Adds what a session changed. `record`: NULL if nothing was changed, or no snapshot was made.
void report_add_changes(struct report *report, const struct plan *plan,
			const struct session_record *record, struct arena *arena);
// Stores the report for --report, and writes it to the descriptor of --report-fd.
void report_write(const struct report *report, const struct plan *plan, struct arena *arena);
// Prints it: on a terminal what fits on a screen, otherwise one line.
void report_print(const struct report *report, const struct plan *plan, struct arena *arena);
// The command --report.
bool report_command(const struct config *config, const struct facts *facts, struct arena *arena,
		    int *ret_status, struct error *error);
