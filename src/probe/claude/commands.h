// SPDX-License-Identifier: MIT
// Finds the programs and files that Claude's configuration names: hooks, status line, MCP servers.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"

// Fills facts->user_claude.command_files. Needs the facts about Claude's files, mounts, toolchains
// and packages; a second call, with the packages, replaces the result.
void probe_claude_commands(struct facts *facts, struct arena *arena, const struct config *config);
