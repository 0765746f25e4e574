// SPDX-License-Identifier: MIT
// The host's own addresses and networks, by asking the kernel (rtnetlink).
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

#include <stdbool.h>

// What the tier inet needs to know.
void probe_network(struct facts *facts, struct arena *arena);
// Every address and every directly reached network of the host's interfaces; false with errno.
bool probe_ranges(struct network_facts *network, struct arena *arena);
