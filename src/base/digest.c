// SPDX-License-Identifier: MIT
// SHA-256, and the ids of git, computed by libmd.
#include "base/digest.h"

#include "base/arena.h"

#include <sha1.h>
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

const char *digest_blob(struct arena *arena, const void *bytes, size_t length)
{
	// git counts the NUL behind the length to the header.
	const char *header = arena_printf(arena, "blob %zu", length);
	char hex[SHA1_DIGEST_STRING_LENGTH];
	SHA1_CTX context;

	SHA1Init(&context);
	SHA1Update(&context, (const uint8_t *)header, strlen(header) + 1);
	SHA1Update(&context, bytes, length);
	SHA1End(&context, hex);
	return arena_strdup(arena, hex);
}
