// SPDX-License-Identifier: MIT
// The report at the end of a session as text and as JSON.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "plan/report/report.h"

#include <jansson.h>
#include <stdbool.h>

// Returns the report for the end of a session: at most one screen. NULL: nothing happened.
const char *render_report_end(struct arena *arena, const struct report *report,
			      struct reader reader);
// Returns one line for a session without a terminal, NULL: nothing happened.
const char *render_report_line(struct arena *arena, const struct report *report);
// Returns the whole report, for --report.
const char *render_report(struct arena *arena, const struct report *report, struct reader reader);
// Returns the JSON of --report=json and --report-fd.
const char *render_report_json(struct arena *arena, const struct report *report);
// Parses it. Returns false if it is no report.
bool report_parse(struct arena *arena, const char *text, struct report *ret_report);
