// SPDX-License-Identifier: MIT
// Parses the messages of nix: progress, and the cause of a failure. The results are escaped for a
// terminal.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// Returns the progress that a line of nix reports, for example "building hello"; NULL if it reports
// none.
const char *packages_parse_progress(struct arena *arena, const char *line);
// Returns the cause of a failure, in several lines: the last error of an evaluation, or the first
// error of a build.
const char *packages_parse_reason(struct arena *arena, const char *messages, bool building);
// Returns nix's suggestion for a wrong name as a hint, NULL if there is none.
const char *packages_parse_suggestion(struct arena *arena, const char *messages);
