// SPDX-License-Identifier: MIT
// Runs nix on the host: reads its answer, shows what it does, and ends it when we are told to end.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "nix/packages.h"
#include "plan/facts.h"

#include <stdbool.h>

bool nix_command_open(struct nix_command *nix, struct arena *arena, const struct facts *facts,
		      struct error *error);
void nix_command_close(struct nix_command *nix);
// The words behind "nix" and its options. False with an error when it could not run or a signal came.
bool nix_command_run(struct nix_command *nix, const strings *words, struct nix_result *ret_result,
		     struct error *error);
