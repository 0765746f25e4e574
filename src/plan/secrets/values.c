// SPDX-License-Identifier: MIT
// Judges values beside the names of secrets.
#include "plan/secrets/values.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/secrets/shapes.h"

#include <ctype.h>
#include <string.h>

enum {
	SHORTEST_PASSWORD = 4,
	SMALL_NUMBER = 9,
	SHORTEST_KEY = 10,
	SHORTEST_TOKEN = 8,
	LONGEST_WORD = 24,
	PATH_RANDOM = 20,
	MAX_WORDS = 6,
	LONG_RUN = 20,
	SHORTEST_PIN = 4,
	LONGEST_PIN = 12,
	SHORTEST_LOGIN = 8, // in base64
	LONGEST_LOGIN = 256,
	LONGEST_PASSWORD = 64
};

static const char *const plain_words[] = {
	"true",     "false",    "yes",       "none",    "null",      "nil",         "auto",
	"default",  "enabled",  "disabled",  "never",   "always",    "undefined",   "optional",
	"required", "string",   "number",    "boolean", "object",    "bearer",      "basic",
	"oauth",    "oauth2",   "digest",    "ntlm",    "negotiate", "prompt",      "stdin",
	"changeme", "redacted", "hidden",    "masked",  "keyring",   "keychain",    "libsecret",
	"helper",   "password", "token",     "secret",  "example",   "placeholder", "empty",
	"unset",    "inherit",  "required:", "env",     "plain",     "login",
};

// Text that refers to a value elsewhere.
static const char *const reference_starts[] = {
	"$",
	"%(",
	"{{",
	"{%",
	"<",
	"@/",
	"env:",
	"env.",
	"secrets.",
	"vars.",
	"op://",
	"arn:",
	"vault:",
	"vault://",
	"ref+",
	"file:",
	"process.env",
	"os.environ",
	"ENV[",
	"your-",
	"your_",
	"YOUR_",
	"System.getenv",
	"getenv",
	"config.",
	"self.",
	"this.",
	"args.",
	"options.",
	"...",
	"\\$",
};

static bool starts(const char *value, size_t length, const char *prefix)
{
	size_t count = strlen(prefix);

	return count <= length && memcmp(value, prefix, count) == 0;
}

static bool is_plain_word(const char *value, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(plain_words); i++)
		if (strlen(plain_words[i]) == length &&
		    strncasecmp(value, plain_words[i], length) == 0)
			return true;
	return false;
}

static bool is_reference(const char *value, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(reference_starts); i++)
		if (starts(value, length, reference_starts[i]))
			return true;
	// %NAME% of Windows, and a call in a program.
	return (value[0] == '%' && value[length - 1] == '%') || memmem(value, length, "(", 1) ||
	       memmem(value, length, "${", 2);
}

// Returns whether all characters are the same, or the value is a mask.
static bool is_mask(const char *value, size_t length)
{
	for (size_t i = 1; i < length; i++)
		if (value[i] != value[0])
			return memmem(value, length, "****", 4) || memmem(value, length, "xxxx", 4);
	return true;
}

static bool is_small_number(const char *value, size_t length)
{
	size_t digits = 0;

	for (size_t i = 0; i < length; i++) {
		if (!isdigit((unsigned char)value[i]) && !strchr(".,:-_ ", value[i]))
			break;
		digits++;
	}
	// A unit may follow: "30m", "8000ms".
	return digits > 0 && digits <= SMALL_NUMBER && length - digits <= 2;
}

static bool is_path(const char *value, size_t length)
{
	bool path = value[0] == '/' || starts(value, length, "~/") || starts(value, length, "./") ||
		    starts(value, length, "../") ||
		    (length > 2 && isalpha((unsigned char)value[0]) && value[1] == ':' &&
		     (value[2] == '\\' || value[2] == '/'));

	if (!path && memchr(value, '/', length)) { // relative: secret/db
		for (size_t i = 0; i < length; i++)
			if (!isalpha((unsigned char)value[i]) && !strchr("/-_.", value[i]))
				return false;
		return true;
	}
	return path &&
	       (starts(value, length, "/nix/store/") || !shape_random(value, length, PATH_RANDOM));
}

static bool is_public_key(const char *value, size_t length)
{
	return starts(value, length, "ssh-") || starts(value, length, "ecdsa-sha2-") ||
	       starts(value, length, "sk-ssh-") || starts(value, length, "-----BEGIN PUBLIC") ||
	       starts(value, length, "-----BEGIN CERT") || starts(value, length, "sha256:") ||
	       starts(value, length, "sha512-") || starts(value, length, "sha256-") ||
	       starts(value, length, "SHA256:");
}

// Returns whether the value is a URL without a long random part. URLs with a password are found by
// their shape.
static bool is_plain_url(const char *value, size_t length)
{
	const char *scheme = memmem(value, length, "://", 3);

	return scheme && scheme > value && !shape_random(value, length, 16);
}

// Returns whether the value is a sentence.
static bool is_prose(const char *value, size_t length)
{
	size_t blanks = 0;

	for (size_t i = 0; i < length; i++)
		blanks += value[i] == ' ';
	return blanks > MAX_WORDS || (blanks > 0 && value[length - 1] == '.');
}

// Returns whether the value is a colour: #ccc, #a1b2c3.
static bool is_colour(const char *value, size_t length)
{
	for (size_t i = 1; i < length; i++)
		if (!isxdigit((unsigned char)value[i]))
			return false;
	return value[0] == '#' && (length == 4 || length == 7 || length == 9);
}

// Returns whether the value is itself the name of a secret: token=refresh_token.
static bool is_name(const char *value, size_t length)
{
	const char *kind;

	for (size_t i = 0; i < length; i++)
		if (!isalpha((unsigned char)value[i]) && !strchr("_-. ", value[i]))
			return false;
	return name_judge(value, length, &kind) != NAME_HARMLESS;
}

bool value_is_harmless(const char *value, size_t length)
{
	return length == 0 || is_plain_word(value, length) || is_reference(value, length) ||
	       is_mask(value, length) || is_small_number(value, length) || is_path(value, length) ||
	       is_public_key(value, length) || is_plain_url(value, length) ||
	       is_prose(value, length) || is_colour(value, length) || is_name(value, length);
}

// Returns whether a header has a value worth hiding. Most headers of this kind carry a login, under
// names that each service chooses.
static bool is_header_list(const char *value, size_t length)
{
	static const char *const harmless[] = { "accept", "content-type", "user-agent",
						"anthropic-beta", "cache-control" };
	size_t name = 0;
	size_t rest;

	while (name < length && value[name] != ':' && value[name] != '=')
		name++;
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		if (strlen(harmless[i]) == name && strncasecmp(value, harmless[i], name) == 0)
			return shape_random(value, length, SHORTEST_KEY);
	for (rest = name + (name < length); rest < length && value[rest] == ' ';)
		rest++;
	return length - rest >= SHORTEST_PASSWORD &&
	       !value_is_harmless(value + rest, length - rest);
}

// Returns whether the value is a long run of letters of one case, without a separator of words.
static bool is_letter_run(const char *value, size_t length)
{
	size_t capitals = 0;

	for (size_t i = 0; i < length; i++) {
		if (!isalpha((unsigned char)value[i]))
			return false;
		capitals += isupper((unsigned char)value[i]) != 0;
	}
	return length >= LONG_RUN && (capitals == 0 || capitals == length);
}

static bool is_pin(const char *value, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isdigit((unsigned char)value[i]))
			return false;
	return length >= SHORTEST_PIN && length <= LONGEST_PIN;
}

// Returns whether the value consists of the words of a wallet: 12, 15, 18, 21 or 24 small ones.
static bool is_word_list(const char *value, size_t length)
{
	size_t words = 0;

	for (size_t i = 0; i < length; i++) {
		size_t start = i;

		while (i < length && islower((unsigned char)value[i]))
			i++;
		if (i - start < 3 || i - start > 8 || (i < length && value[i] != ' '))
			return false;
		words++;
	}
	return words >= 12 && words <= 24 && words % 3 == 0;
}

// Returns whether a value without blanks is more than a word of letters.
static bool is_mixed(const char *value, size_t length)
{
	bool digit = false;

	for (size_t i = 0; i < length; i++) {
		if (value[i] == ' ')
			return false;
		digit |= isdigit((unsigned char)value[i]);
	}
	return digit || (length > LONGEST_WORD && !memchr(value, '.', length)) ||
	       is_letter_run(value, length) || shape_random(value, length, SHORTEST_TOKEN);
}

bool value_encodes_login(const char *base64, size_t length)
{
	unsigned char login[LONGEST_LOGIN];
	size_t count = 0;

	if (length >= SHORTEST_LOGIN && length <= LONGEST_LOGIN)
		count = base64_decode(base64, length, login, sizeof(login));
	for (size_t i = 0; i < count; i++)
		if (login[i] < ' ')
			return false;
	return count && memchr(login, ':', count);
}

bool value_is_secret(enum name_strength strength, const char *value, size_t length)
{
	// As in a script.
	if (length > 1 && (value[0] == '"' || value[0] == '\'') && value[length - 1] == value[0]) {
		value++;
		length -= 2;
	}
	if (strength == NAME_PIN)
		return is_pin(value, length);
	if (strength == NAME_SECRET && is_word_list(value, length))
		return true;
	if (strength == NAME_HARMLESS || value_is_harmless(value, length))
		return false;
	switch (strength) {
	case NAME_SECRET:
		return length >= SHORTEST_PASSWORD;
	case NAME_TOKEN:
		return length >= SHORTEST_TOKEN && is_mixed(value, length);
	case NAME_HEADERS:
		return is_header_list(value, length);
	default:
		return shape_random(value, length, SHORTEST_KEY) ||
		       value_encodes_login(value, length);
	}
}

bool value_is_noticeable(const char *value, size_t length)
{
	bool digit = false;
	bool letter = false;

	for (size_t i = 0; i < length; i++) {
		if (isspace((unsigned char)value[i]))
			return false;
		digit |= isdigit((unsigned char)value[i]) != 0;
		letter |= isalpha((unsigned char)value[i]) != 0;
	}
	return length >= SHORTEST_TOKEN && ((digit && letter) || is_letter_run(value, length) ||
					    value_is_random(value, length));
}

bool value_is_random(const char *value, size_t length)
{
	char plain[LONGEST_PASSWORD];
	size_t count = 0;

	if (length < SHORTEST_TOKEN)
		return false;
	if (shape_random(value, length, SHORTEST_TOKEN))
		return true;
	// Punctuation divides a password into short parts: Xk9#mQ2$vL8.
	for (size_t i = 0; i < length && count < sizeof(plain); i++)
		if (!strchr("!#$%^&*+~?@", value[i]))
			plain[count++] = value[i];
	return count < length && shape_random(plain, count, SHORTEST_TOKEN);
}

bool value_is_password(const char *value, size_t length)
{
	static const char *const examples[] = { "pass", "secret", "pw", "user" };
	bool digit = false;
	bool letter = false;

	if (value_is_noticeable(value, length))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++)
		if (length >= strlen(examples[i]) &&
		    strncasecmp(value, examples[i], strlen(examples[i])) == 0)
			return false;
	for (size_t i = 0; i < length; i++) {
		digit |= isdigit((unsigned char)value[i]) != 0;
		letter |= isalpha((unsigned char)value[i]) != 0;
	}
	return length >= SHORTEST_PASSWORD && digit && letter;
}
