// SPDX-License-Identifier: MIT
// Listening sockets of the host for --prove, and a server process that answers on them with the
// token.
#pragma once

#include "plan/plan.h"
#include "prove/prove.h"

// Opens the sockets, adds them to the list and starts the server. It counts the connections to each
// socket, and connects to a port of the box again and again.
void prove_listen(struct prove *prove, const struct plan *plan);

// Ends the server after it has answered pending connections.
void prove_stop_listening(struct prove *prove);
