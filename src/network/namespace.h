// SPDX-License-Identifier: MIT
// What a short-lived child does inside the box's network namespace, with the powers of its owner.
#pragma once

#include "plan/plan.h"

#include <stdbool.h>

// In a child process: enters the namespaces, and readies them. What could not be done, or NULL.
bool namespace_enter(int user_namespace, int net_namespace);
const char *namespace_begin(const struct plan *plan);  // what pasta needs
const char *namespace_finish(const struct plan *plan); // what the agent needs
// Sockets on the box's loopback, port 53: {UDP, TCP}.
bool namespace_open_resolver(int ret_sockets[2]);
