// SPDX-License-Identifier: MIT
// Finds tokens in the addresses of package registries.
//
// Theory of operation: an address is split into parts, at every character except letters, digits
// and "-._~". A part is a token because of its place (behind /t/, at the start of a path of certain
// hosts, in a query), or because it does not read like names: words.c counts the characters of such
// groups. The counts of a path are added, so that a token in several groups is found as well.
#include "plan/registries/address.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/registries/words.h"
#include "plan/secrets/detect.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define NAMED "is the name of a secret"

const struct token_word_row token_words[] = {
	{ "t", "conda's form: /t/TOKEN/channel" },
	{ "token", NAMED },
	{ "tokens", NAMED },
	{ "accesstoken", NAMED },
	{ "authtoken", NAMED },
	{ "key", NAMED },
	{ "apikey", NAMED },
	{ "auth", NAMED },
	{ "secret", NAMED },
	{ "password", NAMED },
	{ "passwd", NAMED },
	{ "pass", NAMED },
	{ "entitlement", "a token that can only read packages" },
	{ "priv", "the form of private repositories: /priv/TOKEN" },
};
const size_t token_word_count = ARRAY_SIZE(token_words);

const struct token_host_row token_hosts[] = {
	{ "dl.cloudsmith.io", NULL, "public", "an entitlement token starts the path" },
	{ ".fury.io", NULL, NULL, "a token may start the path" },
	{ "packagecloud.io", "priv", NULL, "a read token follows /priv/" },
};
const size_t token_host_count = ARRAY_SIZE(token_hosts);

const struct harmless_parameter_row harmless_parameters[] = {
	{ "api-version", "the version of a protocol is a date" },
	{ "branch", "a name in a repository" },
	{ "channel", "a name in a repository" },
	{ "format", "a kind of package" },
	{ "repository", "a name of a repository" },
};
const size_t harmless_parameter_count = ARRAY_SIZE(harmless_parameters);

enum {
	LONG_VALUE = 8,  // of a query
	ODD_ADDRESS = 8, // characters that do not read like names
};

static int hex_value(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

// Returns the text with its %XX resolved. NULL: the result has another '%', and hides something.
static const char *decode(struct arena *arena, const char *text)
{
	struct text out = { .arena = arena };

	for (; *text; text++) {
		char c = *text;

		if (c == '%') {
			if (!isxdigit((unsigned char)text[1]) || !isxdigit((unsigned char)text[2]))
				return NULL;
			c = (char)(hex_value(text[1]) * 16 + hex_value(text[2]));
			if (c == '%' || !c)
				return NULL;
			text += 2;
		}
		text_add_bytes(&out, &c, 1);
	}
	return text_get(&out);
}

static size_t part_length(const char *s)
{
	size_t length = 0;

	while (isalnum((unsigned char)s[length]) || (s[length] && strchr("-._~", s[length])))
		length++;
	return length;
}

// Returns the length of a reference to a variable, ${NAME} or ${env.NAME}; 0: there is none.
static size_t reference_length(const char *s)
{
	size_t length = str_starts(s, "${") ? part_length(s + 2) : 0;

	return length && s[2 + length] == '}' ? length + 3 : 0;
}

static bool is_token_word(const char *part, size_t length)
{
	char word[16];
	size_t count = 0;

	for (size_t i = 0; i < length; i++) {
		if (!isalnum((unsigned char)part[i]))
			continue;
		if (count == sizeof(word) - 1)
			return false;
		word[count++] = (char)tolower((unsigned char)part[i]);
	}
	word[count] = '\0';
	for (size_t i = 0; i < token_word_count; i++)
		if (str_equal(word, token_words[i].word))
			return true;
	return false;
}

static bool is_uuid(const char *s)
{
	static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	for (size_t i = 0; shape[i]; i++)
		if (shape[i] == '-' ? s[i] != '-' : !isxdigit((unsigned char)s[i]))
			return false;
	return true;
}

static bool has_uuid(const char *part, size_t length)
{
	for (size_t i = 0; i + 36 <= length; i++)
		if (is_uuid(part + i))
			return true;
	return false;
}

// Returns whether a host or a path has a token by its words or by its look.
static bool parts_have_token(struct arena *arena, const char *text)
{
	bool announced = false;
	size_t odd = 0;

	while (*text) {
		size_t length = reference_length(text);
		bool reference = length > 0;
		bool named;

		if (!reference)
			length = part_length(text);
		if (!length) {
			text++;
			continue;
		}
		named = !reference && text[length] == '=' &&
			secret_name(arena_strndup(arena, text, length));
		odd += reference ? 0 : odd_characters(text, length);
		if ((announced && !reference) || odd >= ODD_ADDRESS ||
		    (!reference && has_uuid(text, length)))
			return true;
		announced = !reference && (named || is_token_word(text, length));
		text += length;
	}
	return false;
}

static bool is_part(const char *part, size_t length, const char *wanted)
{
	return wanted && strlen(wanted) == length && strncasecmp(part, wanted, length) == 0;
}

static bool is_harmless_parameter(const char *name, size_t length)
{
	for (size_t i = 0; i < harmless_parameter_count; i++)
		if (is_part(name, length, harmless_parameters[i].name))
			return true;
	return false;
}

// Returns whether a query has the name of a secret, or a long value beside an unknown name. A
// fragment ends up here too.
static bool query_has_token(struct arena *arena, const char *query)
{
	while (*query) {
		size_t length = strcspn(query, "&;?#");
		size_t name = strcspn(query, "=&;?#");
		size_t value = name < length ? length - name - 1 : name;

		if (name < length &&
		    (is_token_word(query, name) || secret_name(arena_strndup(arena, query, name))))
			return true;
		if (value >= LONG_VALUE && !(name < length && is_harmless_parameter(query, name)))
			return true;
		query += length + (query[length] != '\0');
	}
	return false;
}

static bool is_host(const char *host, size_t length, const char *row)
{
	size_t wanted = strlen(row);

	while (length && host[length - 1] == '.')
		length--;
	return length >= wanted && (*row == '.' || length == wanted) &&
	       strncasecmp(host + length - wanted, row, wanted) == 0;
}

// Returns whether the host is known for tokens at this place of the path.
static bool is_known_place(const char *host, size_t length, const char *path)
{
	size_t first = part_length(path += strspn(path, "/"));
	const char *second = path + first + strspn(path + first, "/");

	for (size_t i = 0; i < token_host_count; i++) {
		const struct token_host_row *row = &token_hosts[i];

		if (!is_host(host, length, row->host))
			continue;
		if (row->after)
			return is_part(path, first, row->after) && *second;
		return first && !is_part(path, first, row->unless);
	}
	return false;
}

static bool one_has_token(struct arena *arena, const char *text)
{
	const char *scheme = strstr(text, "://");
	const char *host = scheme ? scheme + 3 : text;
	size_t name = scheme ? strcspn(host, ":/?#") : 0; // '[' of an IPv6 address, and its start
	const char *path = scheme ? host + strcspn(host, "/?#") : text;
	const char *query = path + strcspn(path, "?#");

	return parts_have_token(arena, arena_strndup(arena, host, name)) ||
	       is_known_place(host, name, path) || parts_have_token(arena, path) ||
	       (*query && query_has_token(arena, query + 1));
}

bool address_has_token(struct arena *arena, const char *address)
{
	const char *text = decode(arena, address);

	if (!text)
		return true;
	while (*text) {
		size_t length = strcspn(text, ",| ");

		// The rest of a path behind a comma counts with it.
		while (text[length] && !strstr(arena_strndup(arena, text + length + 1,
							     strcspn(text + length + 1, ",| ")),
					       "://"))
			length += 1 + strcspn(text + length + 1, ",| ");
		if (one_has_token(arena, arena_strndup(arena, text, length)))
			return true;
		text += length + (text[length] != '\0');
	}
	return false;
}
