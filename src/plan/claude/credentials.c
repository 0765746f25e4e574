// SPDX-License-Identifier: MIT
// Decides which copy of Claude's credentials, the host's or the boxes', replaces the other.
//
// Theory of operation: a refresh token works once, so the side that refreshed last has the only
// valid copy, and the other side must get it. A digest of the access token that both sides last had
// in common shows which side has changed since. The copy of the boxes is data from inside the
// sandbox: it must have the shape of credentials, unknown members pass only with plain names and
// values, and it replaces only that part of the host's file. Tokens of MCP servers and other
// content of the host's file never enter a box.
#include "plan/claude/credentials.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "plan/facts.h"

#include <string.h>

#define CREDENTIALS_KEY "claudeAiOauth"

// With these limits credentials are shorter than 64 kB.
enum {
	MIN_TOKEN_LENGTH = 8,
	MAX_TOKEN_LENGTH = 8192,
	MAX_TEXT_LENGTH = 1024,
	MAX_SCOPES = 64,
	MAX_SCOPE_LENGTH = 128,
	MAX_NAME_LENGTH = 64,
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

static bool is_token(const json_t *value, int64_t now_ms)
{
	(void)now_ms;
	return is_plain_text(value, MIN_TOKEN_LENGTH, MAX_TOKEN_LENGTH);
}

static bool is_expiry(const json_t *value, int64_t now_ms)
{
	return json_is_integer(value) && json_integer_value(value) > 0 &&
	       json_integer_value(value) < now_ms + max_lifetime_ms;
}

static bool is_scope_list(const json_t *value, int64_t now_ms)
{
	size_t i;
	json_t *item;

	(void)now_ms;
	if (!json_is_array(value) || json_array_size(value) > MAX_SCOPES)
		return false;
	json_array_foreach((json_t *)value, i, item)
		if (!is_plain_text(item, 1, MAX_SCOPE_LENGTH))
			return false;
	return true;
}

// The members that Claude needs. Credentials with an invalid one are not accepted.
static const struct {
	const char *key;
	bool (*is_valid)(const json_t *value, int64_t now_ms);
	bool required;
} members[] = {
	{ "accessToken", is_token, true },
	{ "refreshToken", is_token, false },
	{ "expiresAt", is_expiry, true },
	{ "scopes", is_scope_list, false },
};

// Returns whether a name is an identifier without a meaning of its own in JavaScript.
static bool is_plain_name(const char *key)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char others[] = "0123456789_";
	static const char *const reserved[] = { "constructor", "prototype", "hasOwnProperty",
						"toString",    "valueOf",   "toJSON",
						"then" };
	size_t length = strlen(key);

	if (!length || length > MAX_NAME_LENGTH || !strchr(letters, key[0]))
		return false;
	for (const char *s = key; *s; s++)
		if (!strchr(letters, *s) && !strchr(others, *s))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		if (str_equal(key, reserved[i]))
			return false;
	return true;
}

// Returns whether a member that is not in the table passes: subscriptionType, rateLimitTier and
// what later versions of Claude add.
static bool is_plain_member(const char *key, const json_t *value)
{
	return is_plain_name(key) &&
	       (json_is_null(value) || json_is_boolean(value) || json_is_integer(value) ||
		is_plain_text(value, 0, MAX_TEXT_LENGTH));
}

// Returns a copy of credentials from a box with the members that may reach the host, or NULL when
// they are not well-formed. Other members are left out. They must not make the copy useless: Claude
// keeps unknown members when it refreshes a token.
static json_t *accept_credentials(const json_t *box, int64_t now_ms)
{
	json_t *accepted = json_object();
	const char *key;
	json_t *value;

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		value = json_object_get(box, members[i].key);
		if (value ? !members[i].is_valid(value, now_ms) : members[i].required) {
			json_decref(accepted);
			return NULL;
		}
	}
	json_object_foreach((json_t *)box, key, value) {
		bool pass = false;

		for (size_t i = 0; i < ARRAY_SIZE(members); i++)
			pass |= str_equal(key, members[i].key);
		// The members of the table pass, however many others there are.
		if (pass || (json_object_size(accepted) < MAX_KEYS && is_plain_member(key, value)))
			json_object_set(accepted, key, value);
	}
	return accepted;
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
	JSON_OWNED *accepted = accept_credentials(find_credentials(box_file), now_ms);
	json_t *box = accepted;
	const char *host_digest = token_digest(arena, host);
	const char *box_digest;
	struct credentials_step keep = { .move = CREDENTIALS_KEEP, .base = base };

	if (host_text && !host_file)
		return keep; // the file is being written
	// A refresh never removes the refresh token.
	if (json_object_get(host, "refreshToken") && !json_object_get(box, "refreshToken"))
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
