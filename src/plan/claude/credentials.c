// SPDX-License-Identifier: MIT
// Decides which copy of Claude's credentials, the host's or the boxes', replaces the other.
//
// Theory of operation: a refresh token works once, so the side that refreshed last has the only
// valid copy, and the other side must get it. A digest of the access token that both sides last had
// in common shows which side has changed since. The copy of the boxes is data from inside the
// sandbox: it must have exactly the shape of credentials, and it replaces only that part of the
// host's file. Tokens of MCP servers and other content of the host's file never enter a box.
#include "plan/claude/credentials.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "plan/facts.h"

#include <string.h>

#define CREDENTIALS_KEY "claudeAiOauth"

enum {
	MIN_TOKEN_LENGTH = 8,
	MAX_TOKEN_LENGTH = 8192,
	MAX_TEXT_LENGTH = 1024,
	MAX_LIST_LENGTH = 64,
	MAX_KEYS = 32,
};
static const int64_t max_lifetime_ms = INT64_C(400) * 24 * 3600 * 1000;

// Returns whether a value is a string of printable ASCII characters without spaces.
static bool is_plain_text(const json_t *value, size_t min_length, size_t max_length)
{
	const char *text = json_string_value(value);
	size_t length = text ? strlen(text) : 0;

	if (!text || length < min_length || length > max_length ||
	    json_string_length(value) != length)
		return false;
	for (const char *s = text; *s; s++)
		if (*s <= ' ' || *s > '~')
			return false;
	return true;
}

static bool is_plain_list(const json_t *value)
{
	size_t i;
	json_t *item;

	if (!json_is_array(value) || json_array_size(value) > MAX_LIST_LENGTH)
		return false;
	json_array_foreach((json_t *)value, i, item)
		if (!is_plain_text(item, 1, MAX_TEXT_LENGTH))
			return false;
	return true;
}

// Returns whether the value of a key is valid. Keys that later versions may add are accepted when
// their values are of a simple type.
static bool is_valid_member(const char *key, const json_t *value, int64_t now_ms)
{
	if (str_equal(key, "accessToken") || str_equal(key, "refreshToken"))
		return is_plain_text(value, MIN_TOKEN_LENGTH, MAX_TOKEN_LENGTH);
	if (str_equal(key, "expiresAt"))
		return json_is_integer(value) && json_integer_value(value) > 0 &&
		       json_integer_value(value) < now_ms + max_lifetime_ms;
	if (str_equal(key, "scopes"))
		return is_plain_list(value);
	return json_is_null(value) || json_is_boolean(value) || json_is_integer(value) ||
	       is_plain_text(value, 0, MAX_TEXT_LENGTH) || is_plain_list(value);
}

static bool is_well_formed(const json_t *credentials, int64_t now_ms)
{
	const char *key;
	json_t *value;

	if (!json_object_get(credentials, "accessToken") ||
	    !json_object_get(credentials, "expiresAt") || json_object_size(credentials) > MAX_KEYS)
		return false;
	json_object_foreach((json_t *)credentials, key, value)
		if (!is_valid_member(key, value, now_ms))
			return false;
	return true;
}

// Returns the credentials in a file, or NULL when it has none. Claude empties the tokens of expired
// credentials that it cannot refresh: those count as none.
static json_t *find_credentials(const json_t *file)
{
	json_t *credentials = json_object_get(file, CREDENTIALS_KEY);
	const char *token = json_string_value(json_object_get(credentials, "accessToken"));

	return token && *token ? credentials : NULL;
}

static const char *token_digest(struct arena *arena, const json_t *credentials)
{
	const char *token = json_string_value(json_object_get(credentials, "accessToken"));

	return credentials ? digest_hex(arena, token, 64) : NULL;
}

static json_int_t expiry_time(const json_t *credentials)
{
	return json_integer_value(json_object_get(credentials, "expiresAt"));
}

// Returns the text of `file` with its credentials replaced as a whole. `file` may be NULL.
static const char *render_file(struct arena *arena, const json_t *file, json_t *credentials)
{
	JSON_OWNED *copy = file ? json_deep_copy(file) : json_object();

	json_object_set(copy, CREDENTIALS_KEY, credentials);
	return json_write(arena, copy, JSON_COMPACT);
}

static struct credentials_step copy_to_box(struct arena *arena, const json_t *box_file,
					   json_t *host)
{
	return (struct credentials_step){ .move = CREDENTIALS_TO_BOX,
					  .content = render_file(arena, box_file, host),
					  .base = token_digest(arena, host) };
}

static struct credentials_step copy_to_host(struct arena *arena, const json_t *host_file,
					    json_t *box)
{
	return (struct credentials_step){ .move = CREDENTIALS_TO_HOST,
					  .content = render_file(arena, host_file, box),
					  .base = token_digest(arena, box) };
}

struct credentials_step credentials_decide(struct arena *arena, const char *host_text,
					   const char *box_text, const char *base, bool starting,
					   int64_t now_ms)
{
	JSON_OWNED *host_file = json_read_object(host_text, 0);
	JSON_OWNED *box_file = json_read_object(box_text, JSON_REJECT_DUPLICATES);
	json_t *host = find_credentials(host_file);
	json_t *box = find_credentials(box_file);
	const char *host_digest = token_digest(arena, host);
	const char *box_digest;
	struct credentials_step keep = { .move = CREDENTIALS_KEEP, .base = base };

	if (host_text && !host_file)
		return keep; // the file is being written
	// A refresh never removes the refresh token.
	if (box && (!is_well_formed(box, now_ms) || (json_object_get(host, "refreshToken") &&
						     !json_object_get(box, "refreshToken"))))
		box = NULL;
	box_digest = token_digest(arena, box);
	if (host && box) {
		if (str_equal(host_digest, box_digest)) {
			keep.base = host_digest;
			return keep;
		}
		if (str_equal(box_digest, base))
			return copy_to_box(arena, box_file, host);
		if (str_equal(host_digest, base) || expiry_time(box) > expiry_time(host))
			return copy_to_host(arena, host_file, box);
		return copy_to_box(arena, box_file, host);
	}
	if (host) {
		// Claude in the box has discarded these credentials: it does not get them again
		// while the box runs.
		if (starting || !str_equal(host_digest, base))
			return copy_to_box(arena, box_file, host);
		return keep;
	}
	if (!box || !base)
		return keep; // there are no credentials, or they are from a login in a box
	if (str_equal(box_digest, base))
		return (struct credentials_step){ .move = CREDENTIALS_DROP };
	// Claude on the host has discarded credentials that a box has refreshed since.
	if (json_object_get(host_file, CREDENTIALS_KEY))
		return copy_to_host(arena, host_file, box);
	return keep;
}
