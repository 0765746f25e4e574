// SPDX-License-Identifier: MIT
// Confines the DNS relay.
#pragma once

#include <stdbool.h>

// Enters a user namespace (-1: a new one) and a new mount namespace with an empty root. Returns
// false with errno.
bool dns_confine_files(int user_namespace);
// Drops all capabilities, limits the number of descriptors, and loads the seccomp filter. The
// process must have opened everything but sockets. Returns false with errno.
bool dns_confine_calls(unsigned int descriptors);
