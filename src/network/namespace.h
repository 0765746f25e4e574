// SPDX-License-Identifier: MIT
// Configures the box's network namespace. Called in a short-lived child, which owns the namespace.
#pragma once

#include "plan/plan.h"

#include <stdbool.h>

// Enters both namespaces. Returns false with errno.
bool namespace_enter(int user_namespace, int net_namespace);
// These configure what must be set before pasta starts, and before the agent starts. They return
// NULL, or the step that failed as the end of a sentence "cannot …", with errno.
const char *namespace_prepare_pasta(const struct plan *plan);
const char *namespace_prepare_agent(const struct plan *plan);
// Opens the sockets of the DNS relay, {UDP, TCP}, on port 53 of the box's loopback. Returns false
// with errno. The child exits afterwards, so nothing is closed on failure.
bool namespace_open_dns_sockets(int ret_sockets[2]);
