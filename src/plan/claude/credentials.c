// SPDX-License-Identifier: MIT
// Decides between the host's and the boxes' copy of the sign-in.
//
// Theory of operation: refresh tokens work once. Whoever refreshed last holds the only good copy, and it must reach
// the other side. A digest of the token that both sides last agreed on tells which side has moved since. What a box
// hands back is data from inside the sandbox: it must look exactly like a sign-in, and only that part of the host's
// file is touched. MCP tokens and whatever else is in there never enter the box.
#include "plan/claude/credentials.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "plan/facts.h"

#include <string.h>

#define SIGN_IN_KEY "claudeAiOauth"

enum { TOKEN_LEAST = 8, TOKEN_MOST = 8192, TEXT_MOST = 1024, LIST_MOST = 64, KEYS_MOST = 32 };
static const int64_t longest_ms = INT64_C(400) * 24 * 3600 * 1000;

static bool plain_text(const json_t *value, size_t least, size_t most)
{
	const char *text = json_string_value(value);
	size_t length = text ? strlen(text) : 0;

	if (!text || length < least || length > most || json_string_length(value) != length)
		return false;
	for (const char *s = text; *s; s++)
		if (*s <= ' ' || *s > '~')
			return false;
	return true;
}

static bool plain_list(const json_t *value)
{
	size_t i;
	json_t *item;

	if (!json_is_array(value) || json_array_size(value) > LIST_MOST)
		return false;
	json_array_foreach((json_t *)value, i, item)
		if (!plain_text(item, 1, TEXT_MOST))
			return false;
	return true;
}

// Keys that later versions may add are let through when they are as plain as the known ones.
static bool plain_key(const char *key, const json_t *value, int64_t now_ms)
{
	if (str_equal(key, "accessToken") || str_equal(key, "refreshToken"))
		return plain_text(value, TOKEN_LEAST, TOKEN_MOST);
	if (str_equal(key, "expiresAt"))
		return json_is_integer(value) && json_integer_value(value) > 0 &&
		       json_integer_value(value) < now_ms + longest_ms;
	if (str_equal(key, "scopes"))
		return plain_list(value);
	return json_is_null(value) || json_is_boolean(value) || json_is_integer(value) ||
	       plain_text(value, 0, TEXT_MOST) || plain_list(value);
}

static bool well_formed(const json_t *credentials, int64_t now_ms)
{
	const char *key;
	json_t *value;

	if (!json_object_get(credentials, "accessToken") ||
	    !json_object_get(credentials, "expiresAt") || json_object_size(credentials) > KEYS_MOST)
		return false;
	json_object_foreach((json_t *)credentials, key, value)
		if (!plain_key(key, value, now_ms))
			return false;
	return true;
}

// The sign-in of a file, or NULL when it holds none; an expired one that Claude gave up has empty tokens.
static json_t *credentials_of(const json_t *file)
{
	json_t *credentials = json_object_get(file, SIGN_IN_KEY);
	const char *token = json_string_value(json_object_get(credentials, "accessToken"));

	return token && *token ? credentials : NULL;
}

static const char *digest_of(struct arena *arena, const json_t *credentials)
{
	const char *token = json_string_value(json_object_get(credentials, "accessToken"));

	return credentials ? digest_hex(arena, token, 64) : NULL;
}

static json_int_t expiry_of(const json_t *credentials)
{
	return json_integer_value(json_object_get(credentials, "expiresAt"));
}

// `into`, with its sign-in replaced by `from`; what a box added to the old one does not stay.
static const char *put(struct arena *arena, const json_t *into, json_t *from)
{
	JSON_OWNED *file = into ? json_deep_copy(into) : json_object();

	json_object_set(file, SIGN_IN_KEY, from);
	return json_write(arena, file, JSON_COMPACT);
}

static struct credentials_step to_box(struct arena *arena, const json_t *box_file, json_t *host)
{
	return (struct credentials_step){ .move = CREDENTIALS_TO_BOX,
					  .content = put(arena, box_file, host),
					  .base = digest_of(arena, host) };
}

static struct credentials_step to_host(struct arena *arena, const json_t *facts_file, json_t *box)
{
	return (struct credentials_step){ .move = CREDENTIALS_TO_HOST,
					  .content = put(arena, facts_file, box),
					  .base = digest_of(arena, box) };
}

struct credentials_step credentials_decide(struct arena *arena, const char *host_text,
					   const char *box_text, const char *base, bool starting,
					   int64_t now_ms)
{
	JSON_OWNED *facts_file = json_read_object(host_text, 0);
	JSON_OWNED *box_file = json_read_object(box_text, JSON_REJECT_DUPLICATES);
	json_t *host = credentials_of(facts_file);
	json_t *box = credentials_of(box_file);
	const char *host_digest = digest_of(arena, host);
	const char *box_digest;
	struct credentials_step keep = { .move = CREDENTIALS_KEEP, .base = base };

	if (host_text && !facts_file)
		return keep; // half written: it says nothing
	// A refresh never takes the refresh token away.
	if (box && (!well_formed(box, now_ms) || (json_object_get(host, "refreshToken") &&
						  !json_object_get(box, "refreshToken"))))
		box = NULL;
	box_digest = digest_of(arena, box);
	if (host && box) {
		if (str_equal(host_digest, box_digest)) {
			keep.base = host_digest;
			return keep;
		}
		if (str_equal(box_digest, base))
			return to_box(arena, box_file, host);
		if (str_equal(host_digest, base) || expiry_of(box) > expiry_of(host))
			return to_host(arena, facts_file, box);
		return to_box(arena, box_file, host);
	}
	if (host) {
		// A box that gave the sign-in up does not get the same one again while it runs.
		if (starting || !str_equal(host_digest, base))
			return to_box(arena, box_file, host);
		return keep;
	}
	if (!box || !base)
		return keep; // nobody is signed in, or a box is by its own log-in (AUTH-03)
	if (str_equal(box_digest, base))
		return (struct credentials_step){ .move = CREDENTIALS_DROP };
	// The host gave up an old sign-in that a box has since renewed.
	if (json_object_get(facts_file, SIGN_IN_KEY))
		return to_host(arena, facts_file, box);
	return keep;
}
