// SPDX-License-Identifier: MIT
// SHA-256, computed by libmd.
#pragma once

#include "base/arena.h"

#include <stddef.h>

// Returns the first `digits` (at most 64) hexadecimal digits of the SHA-256 of `text`.
const char *digest_hex(struct arena *arena, const char *text, size_t digits);
// Does the same for any content.
const char *digest_hex_bytes(struct arena *arena, const char *bytes, size_t length, size_t digits);
