// SPDX-License-Identifier: MIT
// The members of an MCP server that come along.
#pragma once

#include "base/json.h"

#include <stdbool.h>

// Returns a copy of a server with the known members: of one that is reached by its address, or of a
// program. Returns NULL if one has another type than Claude accepts.
json_t *server_copy_known(const json_t *server, bool by_address);
