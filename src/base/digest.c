// SPDX-License-Identifier: MIT
// SHA-256, computed by libmd.
#include "base/digest.h"

#include "base/arena.h"

#include <sha2.h>
#include <stdint.h>
#include <string.h>

const char *digest_hex_bytes(struct arena *arena, const char *bytes, size_t length, size_t digits)
{
	char hex[SHA256_DIGEST_STRING_LENGTH];

	SHA256Data((const uint8_t *)bytes, length, hex);
	return arena_strndup(arena, hex, digits);
}

const char *digest_hex(struct arena *arena, const char *text, size_t digits)
{
	return digest_hex_bytes(arena, text, strlen(text), digits);
}
