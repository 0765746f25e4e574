// SPDX-License-Identifier: MIT
// Finds Unix sockets of the host that mounts would pass into the box.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Adds the sockets of socket_table to the secret places.
void probe_known_sockets(struct facts *facts, struct arena *arena);
// Stores the sockets that the kernel lists and that can be in a mount.
void probe_sockets(struct facts *facts, struct arena *arena);
// Stores one socket, once.
void probe_add_socket(struct facts *facts, struct arena *arena, const char *path);
