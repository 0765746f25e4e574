// SPDX-License-Identifier: MIT
// Tests of the decision between two copies of the credentials, and of credentials that a box
// forged.
#include "base/arena.h"
#include "base/digest.h"
#include "base/text.h"
#include "check.h"
#include "plan/claude/credentials.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define NOW     INT64_C(1700000000000)
#define HOUR    INT64_C(3600000)
#define DAY     (24 * HOUR)
#define TOKEN_A "token-aaaaaaaa"
#define TOKEN_B "token-bbbbbbbb"
#define TOKEN_C "token-cccccccc"

static struct arena arena;

static const char *digest(const char *token)
{
	return token ? digest_hex(&arena, token, 64) : NULL;
}

// Returns a file with credentials; `more` are further members of them, with a comma before.
static const char *file_of(const char *token, int64_t expires, const char *more)
{
	return arena_printf(&arena,
			    "{\"claudeAiOauth\":{\"accessToken\":\"%s\",\"refreshToken\":"
			    "\"refresh-%s\",\"expiresAt\":%lld%s}}",
			    token, token, (long long)expires, more);
}

static const char *plain_file(const char *token)
{
	return token ? file_of(token, NOW + HOUR, "") : NULL;
}

static const char *member(const char *text, const char *object, const char *key)
{
	json_t *file = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
	json_t *value = json_object_get(file, object);
	char *dumped;
	const char *copy;

	value = key ? json_object_get(value, key) : value;
	dumped = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS) : NULL;
	copy = dumped ? arena_strdup(&arena, dumped) : NULL;
	free(dumped);
	json_decref(file);
	return copy;
}

static const char *token_in(const char *text)
{
	const char *token = member(text, "claudeAiOauth", "accessToken");

	return token ? arena_strndup(&arena, token + 1, strlen(token) - 2) : NULL;
}

static const char *move_name(enum credentials_move move)
{
	static const char *const names[] = { [CREDENTIALS_KEEP] = "keep",
					     [CREDENTIALS_TO_BOX] = "to box",
					     [CREDENTIALS_TO_HOST] = "to host",
					     [CREDENTIALS_DROP] = "drop" };

	return names[move];
}

struct row {
	const char *what;
	const char *host; // token; "": discarded by Claude; NULL: no file
	const char *box;
	const char *base;
	bool starting;
	enum credentials_move move;
	const char *new_base; // token
};

static const struct row rows[] = {
	{ "no credentials on either side", NULL, NULL, NULL, true, CREDENTIALS_KEEP, NULL },
	{ "... while a box runs", NULL, NULL, NULL, false, CREDENTIALS_KEEP, NULL },
	{ "both sides discarded them", "", "", TOKEN_A, true, CREDENTIALS_KEEP, TOKEN_A },
	{ "the first box", TOKEN_A, NULL, NULL, true, CREDENTIALS_TO_BOX, TOKEN_A },
	{ "login on the host while a box runs", TOKEN_A, NULL, NULL, false, CREDENTIALS_TO_BOX,
	  TOKEN_A },
	{ "both sides are equal", TOKEN_A, TOKEN_A, TOKEN_A, true, CREDENTIALS_KEEP, TOKEN_A },
	{ "equal, without a base", TOKEN_A, TOKEN_A, NULL, false, CREDENTIALS_KEEP, TOKEN_A },
	{ "equal, with an old base", TOKEN_B, TOKEN_B, TOKEN_A, false, CREDENTIALS_KEEP, TOKEN_B },
	{ "the host refreshed", TOKEN_B, TOKEN_A, TOKEN_A, false, CREDENTIALS_TO_BOX, TOKEN_B },
	{ "the host refreshed before a start", TOKEN_B, TOKEN_A, TOKEN_A, true, CREDENTIALS_TO_BOX,
	  TOKEN_B },
	{ "the box refreshed", TOKEN_A, TOKEN_B, TOKEN_A, false, CREDENTIALS_TO_HOST, TOKEN_B },
	{ "the box refreshed before a start", TOKEN_A, TOKEN_B, TOKEN_A, true, CREDENTIALS_TO_HOST,
	  TOKEN_B },
	{ "the box discarded them while it runs", TOKEN_A, "", TOKEN_A, false, CREDENTIALS_KEEP,
	  TOKEN_A },
	{ "the box logged out while it runs", TOKEN_A, NULL, TOKEN_A, false, CREDENTIALS_KEEP,
	  TOKEN_A },
	{ "a start after a box discarded them", TOKEN_A, "", TOKEN_A, true, CREDENTIALS_TO_BOX,
	  TOKEN_A },
	{ "the box discarded them, new login on the host", TOKEN_B, "", TOKEN_A, false,
	  CREDENTIALS_TO_BOX, TOKEN_B },
	{ "the host logged out", NULL, TOKEN_A, TOKEN_A, false, CREDENTIALS_DROP, NULL },
	{ "the host logged out before a start", NULL, TOKEN_A, TOKEN_A, true, CREDENTIALS_DROP,
	  NULL },
	{ "the host discarded the box's token", "", TOKEN_A, TOKEN_A, false, CREDENTIALS_DROP,
	  NULL },
	{ "the host discarded a token that the box refreshed", "", TOKEN_B, TOKEN_A, false,
	  CREDENTIALS_TO_HOST, TOKEN_B },
	{ "the host logged out, the box has a login of its own", NULL, TOKEN_B, TOKEN_A, false,
	  CREDENTIALS_KEEP, TOKEN_A },
	{ "a login in a box only", NULL, TOKEN_A, NULL, true, CREDENTIALS_KEEP, NULL },
	{ "... while it runs", NULL, TOKEN_A, NULL, false, CREDENTIALS_KEEP, NULL },
	{ "... and the host discarded its own", "", TOKEN_A, NULL, true, CREDENTIALS_KEEP, NULL },
};

static void test_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		struct credentials_step step =
			credentials_decide(&arena, plain_file(row->host), plain_file(row->box),
					   digest(row->base), row->starting, NOW);
		bool writes = row->move == CREDENTIALS_TO_BOX || row->move == CREDENTIALS_TO_HOST;

		CHECK_CASE_STRING(move_name(step.move), move_name(row->move), row->what);
		CHECK_CASE_STRING(step.base, digest(row->new_base), "... and its base");
		if (writes)
			CHECK_CASE_STRING(token_in(step.content),
					  row->move == CREDENTIALS_TO_BOX ? row->host : row->box,
					  "... and its content");
	}
}

// Both sides changed: the later expiry is the later refresh.
static void test_both_changed(void)
{
	const char *soon = file_of(TOKEN_B, NOW + HOUR, "");
	const char *late = file_of(TOKEN_C, NOW + 2 * HOUR, "");
	struct credentials_step step;

	step = credentials_decide(&arena, soon, late, digest(TOKEN_A), false, NOW);
	CHECK(step.move == CREDENTIALS_TO_HOST && str_equal(step.base, digest(TOKEN_C)));
	step = credentials_decide(&arena, late, soon, digest(TOKEN_A), false, NOW);
	CHECK(step.move == CREDENTIALS_TO_BOX && str_equal(step.base, digest(TOKEN_C)));
	step = credentials_decide(&arena, soon, file_of(TOKEN_C, NOW + HOUR, ""), NULL, true, NOW);
	CHECK_CASE(step.move == CREDENTIALS_TO_BOX, "with equal expiry the host's wins");
	step = credentials_decide(&arena, late, soon, NULL, true, NOW);
	CHECK(step.move == CREDENTIALS_TO_BOX);
}

static const char *repeat(const char *part, size_t count)
{
	struct text out = { .arena = &arena };

	for (size_t i = 0; i < count; i++)
		text_add(&out, part);
	return text_get(&out);
}

static const char *numbered_keys(const char *name, int count)
{
	struct text out = { .arena = &arena };

	for (int i = 0; i < count; i++)
		text_printf(&out, ",\"%s%d\":1", name, i);
	return text_get(&out);
}

// Invalid credentials from a box are never written to the host.
static void test_invalid_credentials(void)
{
	const char *host = plain_file(TOKEN_A);
	const char *const files[][2] = {
		{ "an empty file", "" },
		{ "invalid JSON", "{" },
		{ "text after the object", arena_printf(&arena, "%s x", plain_file(TOKEN_B)) },
		{ "an array", "[]" },
		{ "null", "{\"claudeAiOauth\":null}" },
		{ "a list of credentials",
		  "{\"claudeAiOauth\":[{\"accessToken\":\"" TOKEN_B "\"}]}" },
		{ "a number for a token",
		  "{\"claudeAiOauth\":{\"accessToken\":12345678,\"expiresAt\":1}}" },
		{ "no expiry", "{\"claudeAiOauth\":{\"accessToken\":\"" TOKEN_B "\"}}" },
		{ "a short token", file_of("short", NOW + HOUR, "") },
		{ "a token with a newline", file_of("token\\nbbbbbbbb", NOW + HOUR, "") },
		{ "a token with an escape", file_of("token\\u001b[2Jbbbb", NOW + HOUR, "") },
		{ "a token with a blank", file_of("token bbbbbbbb", NOW + HOUR, "") },
		{ "a token outside ASCII",
		  file_of("token-\xc3\xa9\xc3\xa9\xc3\xa9", NOW + HOUR, "") },
		{ "a token with NUL", file_of("token-bb\\u0000bbbb", NOW + HOUR, "") },
		{ "a huge token", file_of(repeat("bbbbbbbb", 1025), NOW + HOUR, "") },
		{ "an empty refresh token",
		  "{\"claudeAiOauth\":{\"accessToken\":\"" TOKEN_B
		  "\",\"refreshToken\":\"\",\"expiresAt\":1700003600000}}" },
		{ "a refresh token of another type",
		  "{\"claudeAiOauth\":{\"accessToken\":\"" TOKEN_B
		  "\",\"refreshToken\":{},\"expiresAt\":1700003600000}}" },
		{ "an expiry too far in the future", file_of(TOKEN_B, NOW + 500 * DAY, "") },
		{ "a negative expiry", file_of(TOKEN_B, -1, "") },
		{ "an expiry of zero", file_of(TOKEN_B, 0, "") },
		{ "an expiry out of range", "{\"claudeAiOauth\":{\"accessToken\":\"" TOKEN_B
					    "\",\"expiresAt\":99999999999999999999}}" },
		{ "an expiry that is a string", "{\"claudeAiOauth\":{\"accessToken\":\"" TOKEN_B
						"\",\"expiresAt\":\"tomorrow\"}}" },
		{ "scopes of another type", file_of(TOKEN_B, NOW + HOUR, ",\"scopes\":\"all\"") },
		{ "scopes with an object", file_of(TOKEN_B, NOW + HOUR, ",\"scopes\":[{}]") },
		{ "a key twice", file_of(TOKEN_B, NOW + HOUR, ",\"expiresAt\":1") },
		{ "credentials twice",
		  arena_printf(&arena, "{\"claudeAiOauth\":{},%s", plain_file(TOKEN_B) + 1) },
		{ "a deep file", repeat("{\"a\":", 5000) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct credentials_step step =
			credentials_decide(&arena, host, files[i][1], digest(TOKEN_A), false, NOW);
		struct credentials_step start =
			credentials_decide(&arena, host, files[i][1], digest(TOKEN_A), true, NOW);

		CHECK_CASE_STRING(move_name(step.move), "keep", files[i][0]);
		CHECK_CASE_STRING(move_name(start.move), "to box", "... and at the next start");
		CHECK_CASE_STRING(token_in(start.content), TOKEN_A,
				  "... with the host's credentials");
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct credentials_step step = credentials_decide(
			&arena, plain_file(""), files[i][1], digest(TOKEN_A), false, NOW);

		CHECK_CASE_STRING(move_name(step.move), "keep", files[i][0]);
	}
}

static const char *with(const char *member_text, const char *file)
{
	return arena_printf(&arena, "{%s,%s", member_text, file + 1);
}

// Members that are not known reach the host only with plain names and values. Others do not prevent
// that the rest does: Claude keeps unknown members when it refreshes a token.
static void test_unknown_members(void)
{
	const char *long_name = arena_printf(&arena, ",\"%s\":1", repeat("n", 200000));
	const char *const left_out[] = {
		",\"\\u001b[2J\":1",
		",\"a\\nb\":1",
		",\"a\\u007fb\":1",
		",\"__proto__\":1",
		",\"constructor\":1",
		",\"prototype\":\"x\"",
		",\"toString\":1",
		",\"then\":1",
		",\"\":1",
		",\" \":1",
		",\"a b\":1",
		",\"1a\":1",
		",\"a.b\":1",
		",\"../x\":1",
		",\"\xc3\xa9\":1",
		",\"\\u202e\":1",
		long_name,
		arena_printf(&arena, ",\"%s\":1", repeat("n", 65)),
		",\"x\":\"\\u001b[2J\"",
		",\"x\":{\"y\":1}",
		",\"x\":[1]",
		",\"x\":1.5",
		arena_printf(&arena, ",\"x\":\"%s\"", repeat("y", 2000)),
	};
	const char *host = with("\"other\":{\"n\":1.25,\"z\":[null]}", plain_file(TOKEN_A));
	const char *plain = member(plain_file(TOKEN_B), "claudeAiOauth", NULL);
	struct credentials_step step;

	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++) {
		const char *box = file_of(TOKEN_B, NOW + HOUR, left_out[i]);

		step = credentials_decide(&arena, host, box, digest(TOKEN_A), false, NOW);
		CHECK_CASE_STRING(move_name(step.move), "to host",
				  left_out[i] == long_name ? "a long name" : left_out[i]);
		CHECK_CASE_STRING(member(step.content, "claudeAiOauth", NULL), plain,
				  "... without that member");
		CHECK_CASE_STRING(member(step.content, "other", NULL), "{\"n\":1.25,\"z\":[null]}",
				  "... and with the host's others");
	}
	step = credentials_decide(&arena, host, file_of(TOKEN_B, NOW + HOUR, long_name),
				  digest(TOKEN_A), false, NOW);
	CHECK(strlen(step.content) < 1000);
	step = credentials_decide(&arena, host,
				  file_of(TOKEN_B, NOW + HOUR, numbered_keys("k", 400)),
				  digest(TOKEN_A), false, NOW);
	CHECK_CASE(step.move == CREDENTIALS_TO_HOST && strstr(step.content, "\"k10\"") &&
			   !strstr(step.content, "\"k40\""),
		   "the number of other members is limited");
	// A NUL is no valid part of a name or a value.
	step = credentials_decide(&arena, host, file_of(TOKEN_B, NOW + HOUR, ",\"a\\u0000b\":1"),
				  digest(TOKEN_A), false, NOW);
	CHECK_CASE(step.move == CREDENTIALS_KEEP, "a NUL in a name");
}

// Checks that the next box starts with credentials whose refresh reaches the host, for any content
// of the file that an earlier box left.
static void check_recovers(const char *what, const char *host, const char *left_behind)
{
	struct credentials_step start =
		credentials_decide(&arena, host, left_behind, digest(token_in(host)), true, NOW);
	json_t *box = json_loads(start.content ? start.content : "{}", 0, NULL);
	json_t *credentials = json_object_get(box, "claudeAiOauth");
	char *refreshed;
	struct credentials_step step;

	json_object_set_new(credentials, "accessToken", json_string(TOKEN_C));
	json_object_set_new(credentials, "expiresAt", json_integer(NOW + 2 * HOUR));
	refreshed = json_dumps(box, 0);
	step = credentials_decide(&arena, host, refreshed, start.base, false, NOW);
	CHECK_CASE_STRING(move_name(step.move), "to host", what);
	free(refreshed);
	json_decref(box);
}

static void test_recovery(void)
{
	const char *host = plain_file(TOKEN_A);

	check_recovers("a box that left an empty object", host, "{}");
	check_recovers("a box that left invalid JSON", host, "x");
	check_recovers("a box that discarded them", host, plain_file(""));
	check_recovers("a box that left an object in its credentials", host,
		       "{\"claudeAiOauth\":{\"accessToken\":\"\",\"x\":{\"y\":1}}}");
	check_recovers("a box that left too many keys", host,
		       arena_printf(&arena, "{\"claudeAiOauth\":{\"accessToken\":\"\"%s}}",
				    numbered_keys("k", 40)));
}

// A box that adds valid keys again and again must not make the host's credentials exceed the limit.
static void test_growth(void)
{
	const char *host = plain_file(TOKEN_A);
	struct credentials_step step;

	for (int round = 0; round < 5; round++) {
		const char *token = round % 2 ? TOKEN_A : TOKEN_B;
		const char *keys = numbered_keys(arena_printf(&arena, "r%d_", round), 20);

		step = credentials_decide(&arena, host, file_of(token, NOW + HOUR, keys),
					  digest(token_in(host)), false, NOW);
		if (step.move == CREDENTIALS_TO_HOST)
			host = step.content;
	}
	check_recovers("a box that adds keys again and again", host, NULL);
}

#define MCP     "\"mcpOAuth\":{\"server\":{\"accessToken\":\"mcp-of-the-host\"}}"
#define BOX_MCP "\"mcpOAuth\":{\"server\":{\"accessToken\":\"mcp-of-the-box\"}}"

static void test_mcp_tokens(void)
{
	struct credentials_step step;

	step = credentials_decide(&arena, with(MCP, plain_file(TOKEN_A)), NULL, NULL, true, NOW);
	CHECK_CASE(step.move == CREDENTIALS_TO_BOX && !strstr(step.content, "mcp"),
		   "MCP tokens of the host do not enter the box");
	step = credentials_decide(&arena, with(MCP, plain_file(TOKEN_B)),
				  with(BOX_MCP, plain_file(TOKEN_A)), digest(TOKEN_A), true, NOW);
	CHECK_CASE(step.move == CREDENTIALS_TO_BOX && !strstr(step.content, "mcp-of-the-host"),
		   "... nor when the box has some");
	CHECK_STRING(member(step.content, "mcpOAuth", NULL),
		     "{\"server\":{\"accessToken\":\"mcp-of-the-box\"}}");
	step = credentials_decide(&arena, with(MCP, plain_file(TOKEN_A)),
				  with(BOX_MCP, plain_file(TOKEN_B)), digest(TOKEN_A), false, NOW);
	CHECK_CASE(step.move == CREDENTIALS_TO_HOST && !strstr(step.content, "mcp-of-the-box"),
		   "MCP tokens of the box do not reach the host");
	CHECK_STRING(member(step.content, "mcpOAuth", NULL),
		     "{\"server\":{\"accessToken\":\"mcp-of-the-host\"}}");
	CHECK_STRING(token_in(step.content), TOKEN_B);
	step = credentials_decide(&arena, "{" MCP "}", plain_file(TOKEN_B), NULL, false, NOW);
	CHECK_CASE(step.move == CREDENTIALS_KEEP,
		   "a login in a box is not copied to a host without one");
	step = credentials_decide(&arena, "{" MCP "}", plain_file(TOKEN_A), digest(TOKEN_A), false,
				  NOW);
	CHECK_CASE(step.move == CREDENTIALS_DROP, "the host logged out of Claude only");
}

static void test_additional_keys(void)
{
	const char *more = ",\"scopes\":[\"user:inference\",\"user:profile\"],"
			   "\"subscriptionType\":\"max\",\"rateLimitTier\":null,\"later\":true";
	struct credentials_step step = credentials_decide(&arena, file_of(TOKEN_A, NOW, more),
							  file_of(TOKEN_B, NOW + HOUR, more),
							  digest(TOKEN_A), false, NOW);

	CHECK(step.move == CREDENTIALS_TO_HOST);
	CHECK_STRING(
		member(step.content, "claudeAiOauth", NULL),
		"{\"accessToken\":\"" TOKEN_B "\",\"expiresAt\":1700003600000,\"later\":true,"
		"\"rateLimitTier\":null,\"refreshToken\":\"refresh-" TOKEN_B "\","
		"\"scopes\":[\"user:inference\",\"user:profile\"],\"subscriptionType\":\"max\"}");
	step = credentials_decide(&arena, plain_file(TOKEN_A), file_of(TOKEN_B, NOW - DAY, ""),
				  digest(TOKEN_A), false, NOW);
	CHECK_CASE(step.move == CREDENTIALS_TO_HOST, "an expired token still has a refresh token");
}

// An incomplete file is being written. Only a complete file without credentials means a logout.
static void test_incomplete_host_file(void)
{
	static const char *const broken[] = { "", "{", "{\"claudeAiOauth\":{\"accessTok", "\n" };

	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		struct credentials_step step = credentials_decide(
			&arena, broken[i], plain_file(TOKEN_A), digest(TOKEN_A), false, NOW);

		CHECK_CASE_STRING(move_name(step.move), "keep", "the host's file is incomplete");
		CHECK_CASE_STRING(step.base, digest(TOKEN_A), "... and the base stays");
	}
}

int main(void)
{
	test_rows();
	test_both_changed();
	test_invalid_credentials();
	test_unknown_members();
	test_recovery();
	test_growth();
	test_mcp_tokens();
	test_additional_keys();
	test_incomplete_host_file();
	arena_free(&arena);
	return check_done();
}
