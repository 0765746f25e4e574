// SPDX-License-Identifier: MIT
// Reads what nix says to people: what it does, and why it failed. All of it is escaped before it reaches a screen.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// A line of nix's that tells what it does now: "building hello"; NULL: none.
const char *packages_progress(struct arena *arena, const char *line);
// Why nix failed, for the screen; what evaluating says last, or what building says first.
const char *packages_reason(struct arena *arena, const char *messages, bool building);
// The name that nix says was meant, as a hint; NULL: none.
const char *packages_suggestion(struct arena *arena, const char *messages);
