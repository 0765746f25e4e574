// SPDX-License-Identifier: MIT
// Finds the first secret in a text: one pass over it, and at each place every kind of secret.
#include "plan/secrets/find.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/secrets/assignments.h"
#include "plan/secrets/bytes.h"
#include "plan/secrets/shapes.h"
#include "plan/secrets/values.h"

#include <string.h>

enum {
	SHORTEST_BEARER = 16,
	SHORTEST_USER = 16,
	MAX_PASSWORD = 256,
	MAX_LABEL = 64,
	MAX_LOGIN = 1024,
	ESCAPE_LENGTH = 6,
};

#define ADDRESS_WITH_PASSWORD "an address with a password"
#define LOWER_CASE            "abcdefghijklmnopqrstuvwxyz"

static bool set(struct found *ret, const char *kind, size_t start, size_t length)
{
	*ret = (struct found){ .kind = kind, .start = start, .length = length, .certain = true };
	return true;
}

// Finds a private key. Its place ends with the end of the block, or of the text.
static bool find_private_key(const char *text, size_t at, struct found *ret)
{
	const char *begin = text + at;
	const char *line = str_after(begin, "-----BEGIN ");
	const char *last;

	if (str_starts(begin, "PuTTY-User-Key-File-"))
		return set(ret, "a private key", at, strlen(begin));
	if (!line)
		return false;
	last = memmem(line, strnlen(line, MAX_LABEL), "-----", 5);
	if (!last || (!memmem(line, (size_t)(last - line), "PRIVATE KEY", 11) &&
		      !memmem(line, (size_t)(last - line), "OpenVPN Static key", 18)))
		return false;
	last = strstr(last, "-----END ");
	last = last ? strstr(last + 9, "-----") : NULL;
	return set(ret, "a private key", at, last ? (size_t)(last + 5 - begin) : strlen(begin));
}

// Returns whether a part of a URL is a variable or a mask instead of a value. A variable with a
// default (${NAME:-value}) is a value.
static bool is_url_placeholder(const char *part, size_t length)
{
	const char *fallback = memmem(part, length, ":-", 2);

	if (str_starts(part, "${") && fallback && !strchr("}$", fallback[2]))
		return false;
	if (strchr("$<{[*", part[0]) || (part[0] == '%' && !byte_is_hex(part[1])))
		return true;
	for (size_t i = 1; i < length; i++)
		if (part[i] != part[0])
			return false;
	return length > 2; // xxx
}

// Finds the separator or its percent-encoded form; stores its length.
static const char *find_encoded(const char *part, size_t length, char plain, const char *encoded,
				size_t *ret_length)
{
	for (size_t i = 0; i < length; i++) {
		*ret_length = part[i] == plain ? 1 : strlen(encoded);
		if (part[i] == plain ||
		    (i + *ret_length <= length && strncasecmp(part + i, encoded, *ret_length) == 0))
			return part + i;
	}
	return NULL;
}

static size_t find_last_at(const char *authority, size_t length)
{
	const char *at = memrchr(authority, '@', length);

	for (size_t i = length; !at && i-- > 0;)
		if (i + 3 <= length && strncmp(authority + i, "%40", 3) == 0)
			at = authority + i;
	return at ? (size_t)(at - authority) : 0;
}

// Returns the kind of token in a part of the text, or `otherwise`.
static const char *kind_inside(const char *text, size_t start, size_t length, const char *otherwise)
{
	const char *kind;

	for (size_t i = start; i < start + length; i++)
		if (shape_match(text, i, &kind))
			return kind;
	return otherwise;
}

// Returns the length of "://" at the start of a text, 0: there is none. Each of the characters may
// be percent-encoded, as in the query of another address, or escaped, as in JSON.
static size_t match_separator(const char *text)
{
	size_t length = *text == ':' ? 1 : strncasecmp(text, "%3A", 3) == 0 ? 3 : 0;

	for (int i = 0; length && i < 2; i++) {
		if (text[length] == '/')
			length += 1;
		else if (str_starts(text + length, "\\/"))
			length += 2;
		else if (strncasecmp(text + length, "%2F", 3) == 0)
			length += 3;
		else
			return 0;
	}
	return length;
}

// Finds the password, or a random user, in scheme://user:password@host.
static bool find_url_login(const char *text, size_t at, struct found *ret)
{
	static const char authority_ends[] = "/?# \t\r\n\"'`<>\\&,;|"; // and NUL
	size_t start = match_separator(text + at);
	const char *authority = text + at + start;
	size_t user;
	size_t length;
	size_t separator;
	const char *colon;

	if (at == 0 || !byte_is_alnum(text[at - 1]) || !start)
		return false;
	for (length = 0; length < MAX_LOGIN && !strchr(authority_ends, authority[length]);)
		length++;
	user = find_last_at(authority, length);
	if (user == 0 && *authority == '<')
		return false;
	colon = find_encoded(authority, user, ':', "%3A", &separator);
	if (colon) {
		const char *password = colon + separator;

		length = (size_t)(authority + user - password);
		if (length == 0 || is_url_placeholder(password, length))
			return false;
		return set(ret,
			   kind_inside(text, (size_t)(password - text), length,
				       ADDRESS_WITH_PASSWORD),
			   (size_t)(password - text), length);
	}
	if (user < SHORTEST_USER || is_url_placeholder(authority, user))
		return false;
	length = user;
	if (!shape_random(authority, length, SHORTEST_USER) &&
	    !kind_inside(text, (size_t)(authority - text), length, NULL))
		return false;
	return set(ret,
		   kind_inside(text, (size_t)(authority - text), length, "an address with a login"),
		   (size_t)(authority - text), length);
}

static bool is_user_byte(char c)
{
	return byte_is_alnum(c) || c == '_' || c == '.' || c == '-';
}

// Finds the password in user:password@host:port and user:password@tcp(host), without a scheme.
static bool find_plain_login(const char *text, size_t at, struct found *ret)
{
	static const char name[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
	const char *s = text + at;
	const char *password;
	const char *host;
	size_t length;
	size_t digits;
	size_t user = 0;

	while (user <= MAX_LABEL && is_user_byte(s[user]))
		user++;
	password = s + user + 1;
	if (user == 0 || user > MAX_LABEL || s[user] != ':')
		return false;
	length = strcspn(password, "/?# \t\r\n\"'`<>\\&,;|@:()");
	if (length == 0 || length > MAX_PASSWORD || password[length] != '@' ||
	    is_url_placeholder(password, length))
		return false;
	host = password + length + 1;
	if (!str_starts(host, "tcp(") && !str_starts(host, "unix(")) {
		host += strspn(host, name);
		digits = *host == ':' ? strspn(host + 1, "0123456789") : 0;
		if (digits < 2 || digits > 5 || byte_is_alnum(host[1 + digits]))
			return false;
	}
	return set(ret, ADDRESS_WITH_PASSWORD, (size_t)(password - text), length);
}

// Finds the password in jdbc:oracle:thin:user/password@host.
static bool find_oracle_login(const char *text, size_t at, struct found *ret)
{
	const char *driver = text + at;
	const char *user;
	const char *password;
	size_t length;

	if (strncasecmp(driver, "jdbc:oracle:", 12) != 0)
		return false;
	user = driver + 12 + strspn(driver + 12, LOWER_CASE);
	if (*user++ != ':')
		return false;
	password = user + strcspn(user, "/@ \t\r\n\"'`\\");
	if (*password++ != '/')
		return false;
	length = strcspn(password, "@ \t\r\n\"'`\\");
	return length > 0 && password[length] == '@' && !is_url_placeholder(password, length) &&
	       set(ret, ADDRESS_WITH_PASSWORD, (size_t)(password - text), length);
}

// Finds the value behind "Bearer " and "Basic ".
static bool find_header_login(const char *text, size_t at, struct found *ret)
{
	const char *s = text + at;
	bool bearer = strncasecmp(s, "bearer ", 7) == 0;
	size_t skip = bearer ? 7 : 6;
	size_t length;

	if (!bearer && strncasecmp(s, "basic ", 6) != 0)
		return false;
	length = strspn(s + skip,
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=._~-");
	if (bearer ? length < SHORTEST_BEARER || !shape_random(s + skip, length, 8)
		   : !value_encodes_login(s + skip, length))
		return false;
	return set(ret, kind_inside(text, at + skip, length, bearer ? "a token" : "a login"),
		   at + skip, length);
}

static bool find_token(const char *text, size_t at, struct found *ret)
{
	const char *kind;
	size_t length = shape_match(text, at, &kind);

	return length > 0 && set(ret, kind, at, length);
}

static bool find_shape(const char *text, size_t at, bool boundary, struct found *ret)
{
	if (text[at] == ':' || text[at] == '%')
		return find_url_login(text, at, ret);
	if (text[at] == '-')
		return find_private_key(text, at, ret);
	if (boundary) {
		if (byte_is_alnum(text[at]) && find_plain_login(text, at, ret))
			return true;
		if ((text[at] | 0x20) == 'b' && find_header_login(text, at, ret))
			return true;
		if ((text[at] | 0x20) == 'j' && find_oracle_login(text, at, ret))
			return true;
		if (text[at] == 'P' && find_private_key(text, at, ret))
			return true;
	}
	return find_token(text, at, ret);
}

static bool find_assignment(const char *text, size_t at, bool prose, struct found *ret)
{
	struct assignment match;
	const char *value;

	if (!assignment_match(text, at, &match))
		return false;
	value = text + match.start;
	if (prose && !value_is_noticeable(value, match.length))
		return false;
	set(ret, kind_inside(text, match.start, match.length, match.kind), match.start,
	    match.length);
	ret->certain = !prose || kind_inside(text, match.start, match.length, NULL) ||
		       value_encodes_login(value, match.length) ||
		       (match.strength >= NAME_TOKEN && value_is_random(value, match.length));
	return true;
}

// Returns the next place from `at` on where a secret can begin. Most places of a text are in the
// middle of a word, and the rest of that word is too short for a token. A letter behind an escape
// ("\\n", "%20", "\\u0020") begins a word, so the places near one are not skipped. `word_end` is
// kept between the calls.
static size_t skip_middle(const char *text, size_t at, size_t *word_end)
{
	size_t end = at < *word_end ? *word_end : at;

	if (at == 0 || !byte_is_alnum(text[at - 1]))
		return at;
	while (byte_is_alnum(text[end]))
		end++;
	*word_end = end;
	if ((unsigned char)text[end] > ' ' || end - at >= SHAPE_SHORTEST ||
	    text[end - 1] == 'S') // "SSWS TOKEN"
		return at;
	for (size_t i = 1; i <= ESCAPE_LENGTH && i <= at; i++)
		if (text[at - i] == '\\' || text[at - i] == '%')
			return at;
	return end;
}

// Finds a secret that begins at this place.
static bool find_at(const char *text, size_t at, unsigned int flags, struct found *ret)
{
	bool boundary = shape_boundary(text, at);

	if (flags & FIND_SHAPES && find_shape(text, at, boundary, ret)) {
		// https://user:password@host is an example.
		ret->certain = !(flags & FIND_PROSE) ||
			       !str_equal(ret->kind, ADDRESS_WITH_PASSWORD) ||
			       value_is_password(text + ret->start, ret->length);
		return true;
	}
	if (flags & FIND_TOKENS && find_token(text, at, ret))
		return true;
	// A name begins at the boundary of a word.
	return flags & (FIND_ASSIGNMENTS | FIND_PROSE) && boundary &&
	       (byte_is_alnum(text[at]) || text[at] == '_') &&
	       find_assignment(text, at, flags & FIND_PROSE, ret);
}

bool find_secret(const char *text, size_t from, unsigned int flags, struct found *ret)
{
	size_t word_end = from;

	for (size_t i = from; text[i = skip_middle(text, i, &word_end)]; i++) {
		if (find_at(text, i, flags, ret)) {
			ret->place = i;
			return true;
		}
	}
	return false;
}
