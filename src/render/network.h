// SPDX-License-Identifier: MIT
// The tier inet as a pasta command line and as nft rules.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

#define NETWORK_NAMESPACE_SHOWN "/proc/CHILD/ns/net"

// The tier inet: the command that carries packets, the rules, and their change when the host's network has changed.
strings render_pasta(const struct plan *plan, struct arena *arena, const char *network_namespace);
const char *render_nft(const struct plan *plan, struct arena *arena);
const char *render_nft_change(struct arena *arena, const plan_ranges *facts);
