// SPDX-License-Identifier: MIT
// Sockets of the host for --prove, and a process that answers there with the token and counts who came, and knocks at the box.
#pragma once

#include "plan/plan.h"
#include "prove/prove.h"

// prove_listen.c: sockets, and a process that answers there and counts, and knocks at a port of the box.
void prove_listen(struct prove *prove, const struct plan *plan);
void prove_stop_listening(struct prove *prove);
