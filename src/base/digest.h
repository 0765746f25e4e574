// SPDX-License-Identifier: MIT
// SHA-256, and the ids of git, computed by libmd.
#pragma once

#include "base/arena.h"

#include <stddef.h>

// Returns the first `digits` (at most 64) hexadecimal digits of the SHA-256 of `text`.
const char *digest_hex(struct arena *arena, const char *text, size_t digits);
// Does the same for any content.
const char *digest_hex_bytes(struct arena *arena, const char *bytes, size_t length, size_t digits);

// Returns the id that git gives to a file with this content, in a repository with SHA-1.
const char *digest_blob(struct arena *arena, const void *bytes, size_t length);
