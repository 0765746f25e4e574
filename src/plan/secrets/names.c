// SPDX-License-Identifier: MIT
// Judges names by their words. A name is split at '_', '-', '.' and other punctuation, at changes
// from small to capital letters, and before the last capital of a run: "dbAPIKey" has the words
// db, API and Key. Digits at the end of a word do not count.
#include "plan/secrets/names.h"

#include "base/arena.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

enum { MAX_WORDS = 16 };

struct word {
	const char *start;
	size_t length;
};

struct name_row {
	const char *word;
	bool inside; // also as a part of a word: PGPASSWORD, AUTHTOKEN
	enum name_strength strength;
	const char *kind;
};

static const struct name_row name_rows[] = {
	{ "PASSWORD", true, NAME_SECRET, "a password" },
	{ "PASSWD", true, NAME_SECRET, "a password" },
	{ "PASSPHRASE", true, NAME_SECRET, "a passphrase" },
	{ "PASSCODE", true, NAME_SECRET, "a password" },
	{ "SECRET", true, NAME_SECRET, "a secret" },
	{ "CREDENTIAL", true, NAME_SECRET, "credentials" },
	{ "TOKEN", true, NAME_TOKEN, "a token" },
	{ "APIKEY", true, NAME_SECRET, "an API key" },
	{ "ACCESSKEY", true, NAME_SECRET, "an access key" },
	{ "PRIVATEKEY", true, NAME_SECRET, "a private key" },
	{ "AUTHKEY", true, NAME_SECRET, "a key" },
	{ "ENCRYPTIONKEY", true, NAME_SECRET, "a key" },
	{ "SIGNINGKEY", true, NAME_HINT, "a key" },
	{ "MASTERKEY", true, NAME_HINT, "a key" },
	{ "LICENSEKEY", true, NAME_HINT, "a license" },
	{ "PASS", false, NAME_SECRET, "a password" },     // DB_PASS
	{ "DBPASS", false, NAME_SECRET, "a password" },   // without an underscore
	{ "USERPASS", false, NAME_SECRET, "a password" }, // user:password
	{ "USERPWD", false, NAME_SECRET, "a password" },  // user:password, as in curl
	{ "PWD", false, NAME_SECRET, "a password" },      // MYSQL_PWD
	{ "PW", false, NAME_SECRET, "a password" },       // SMTP_PW
	{ "PGPASS", false, NAME_SECRET, "a password" },
	{ "PASSWORT", true, NAME_SECRET, "a password" },
	{ "KENNWORT", true, NAME_SECRET, "a password" },
	{ "PIN", false, NAME_PIN, "a number" },
	{ "UNSEAL", false, NAME_TOKEN, "a key" },    // VAULT_UNSEAL
	{ "SIG", false, NAME_HINT, "a signature" },  // ?sig=, of Azure
	{ "APPID", false, NAME_HINT, "a key" },      // ?appid=
	{ "PSK", false, NAME_SECRET, "a password" }, // of a wireless network
	{ "CRED", false, NAME_SECRET, "credentials" },
	{ "CREDS", false, NAME_SECRET, "credentials" },
	{ "MNEMONIC", false, NAME_SECRET, "a wallet's words" },
	{ "NETRC", false, NAME_HINT, "credentials" },
	{ "KUBECONFIG", false, NAME_HINT, "credentials" },
	{ "DOCKERCONFIGJSON", false, NAME_HINT, "credentials" },
	{ "KEY", false, NAME_HINT, "a key" }, // also an entry of a table
	{ "KEYS", false, NAME_HINT, "a key" },
	{ "PAT", false, NAME_HINT, "a token" },  // GITHUB_PAT
	{ "AUTH", false, NAME_HINT, "a login" }, // also a method
	{ "BASICAUTH", false, NAME_SECRET, "a login" },
	{ "AUTHORIZATION", false, NAME_TOKEN, "a login" },
	{ "BEARER", false, NAME_HINT, "a token" },
	{ "TOK", false, NAME_HINT, "a token" },
	{ "JWT", false, NAME_HINT, "a token" },
	{ "OTP", false, NAME_HINT, "a password" },
	{ "TOTP", false, NAME_HINT, "a secret" },
	{ "PRIVATE", false, NAME_HINT, "a key" }, // also "private": true
	{ "SIGNATURE", false, NAME_HINT, "a signature" },
	{ "SALT", false, NAME_HINT, "a secret" },
	{ "PEPPER", false, NAME_HINT, "a secret" },
	{ "SESSION", false, NAME_HINT, "a session" },
	{ "SESSIONID", false, NAME_HINT, "a session" },
	{ "SESSID", false, NAME_HINT, "a session" },
	{ "PHPSESSID", false, NAME_HINT, "a session" },
	{ "COOKIE", false, NAME_HINT, "a cookie" },
	{ "COOKIES", false, NAME_HINT, "a cookie" },
	{ "DSN", false, NAME_HINT, "a connection string" },
	{ "CONNSTR", false, NAME_HINT, "a connection string" },
	{ "WEBHOOK", false, NAME_HINT, "a webhook" }, // the address is the secret
	{ "WEBHOOKS", false, NAME_HINT, "a webhook" },
	{ "HEADERS", false, NAME_HEADERS, "HTTP headers" }, // OTEL_EXPORTER_OTLP_HEADERS
};

// Two words that follow each other.
static const struct {
	const char *first;
	const char *second;
	const char *kind;
	enum name_strength strength;
} name_pairs[] = {
	{ "API", "KEY", "an API key", NAME_TOKEN },
	{ "API", "KEYS", "an API key", NAME_TOKEN },
	{ "ACCESS", "KEY", "an access key", NAME_TOKEN },
	{ "AUTH", "KEY", "a key", NAME_TOKEN },
	{ "ENCRYPTION", "KEY", "a key", NAME_TOKEN },
	{ "PRIVATE", "KEY", "a private key", NAME_TOKEN },
	{ "SEED", "PHRASE", "a wallet's words", NAME_SECRET },
	{ "WALLET", "SEED", "a wallet's words", NAME_SECRET },
	{ "RECOVERY", "PHRASE", "a wallet's words", NAME_SECRET },
	{ "CONN", "STR", "a connection string", NAME_HINT },
	{ "CONN", "STRING", "a connection string", NAME_HINT },
	{ "CONNECTION", "STRING", "a connection string", NAME_HINT },
	{ "CONNECTION", "URI", "a connection string", NAME_HINT },
	{ "DATABASE", "URL", "a connection string", NAME_HINT },
	{ "DATABASE", "URI", "a connection string", NAME_HINT },
	{ "DB", "URL", "a connection string", NAME_HINT },
	{ "DB", "URI", "a connection string", NAME_HINT },
	{ "POSTGRES", "URL", "a connection string", NAME_HINT },
	{ "MYSQL", "URL", "a connection string", NAME_HINT },
	{ "MONGO", "URL", "a connection string", NAME_HINT },
	{ "MONGO", "URI", "a connection string", NAME_HINT },
	{ "MONGODB", "URI", "a connection string", NAME_HINT },
	{ "REDIS", "URL", "a connection string", NAME_HINT },
	{ "AMQP", "URL", "a connection string", NAME_HINT },
	{ "BROKER", "URL", "a connection string", NAME_HINT },
};

// A name that ends with one of these describes a secret and does not hold it.
static const char *const describing_words[] = {
	"TYPE",    "NAME",     "FILE",     "FILES",       "PATH",        "DIR",        "DIRECTORY",
	"LENGTH",  "LEN",      "COUNT",    "LIMIT",       "TTL",         "EXPIRY",     "EXPIRES",
	"EXPIRED", "IN",       "AGE",      "TIMEOUT",     "ALG",         "ALGORITHM",  "FORMAT",
	"HELPER",  "PROVIDER", "MODE",     "ENABLED",     "DISABLED",    "SIZE",       "VERSION",
	"SOCK",    "SOCKET",   "ENDPOINT", "HOST",        "PORT",        "METHOD",     "SCOPE",
	"SCOPES",  "AUDIENCE", "ISSUER",   "POLICY",      "STDIN",       "PROMPT",     "COMMAND",
	"BUDGET",  "REGION",   "HINT",     "LABEL",       "REQUIRED",    "SCHEME",     "DOMAIN",
	"TIME",    "INTERVAL", "RETRIES",  "PARALLELISM", "FINGERPRINT", "EXPIRATION", "MANAGER",
	"STORE",   "BACKEND",  "STRATEGY", "ASKPASS",
};

// A name with one of these words is not about a secret key.
static const char *const table_words[] = {
	"PUBLIC", "PUB",     "CACHE",  "PRIMARY",     "FOREIGN", "SORT",   "PARTITION", "HOT",
	"REPEAT", "BINDING", "UNIQUE", "INDEX",       "ARROW",   "OBJECT", "SHORTCUT",  "PRESS",
	"DOWN",   "UP",      "CODE",   "EVENT",       "RECV",    "REACT",  "HOST",      "TRUSTED",
	"KNOWN",  "ID",      "IDS",    "TRANSLATION", "GROUP",   "MAP",
};

// Names that contain a word of the table by chance, or count the tokens of a model.
static const char *const harmless_words[] = {
	"TOKENS",    "TOKENIZER",    "TOKENIZERS", "TOKENIZE",
	"TOKENIZED", "TOKENIZATION", "SECRETARY",  "PASSWORDLESS",
};

static bool word_is(const struct word *word, const char *text)
{
	return strlen(text) == word->length && strncasecmp(word->start, text, word->length) == 0;
}

static bool word_in(const struct word *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (word_is(word, list[i]))
			return true;
	return false;
}

static bool word_has(const struct word *word, const char *text)
{
	size_t length = strlen(text);

	for (size_t i = 0; i + length <= word->length; i++)
		if (strncasecmp(word->start + i, text, length) == 0)
			return true;
	return false;
}

// Returns whether a word ends before name[i].
static bool splits(const char *name, size_t length, size_t i)
{
	bool small_before = islower((unsigned char)name[i - 1]) ||
			    isdigit((unsigned char)name[i - 1]);
	bool small_after = i + 1 < length && islower((unsigned char)name[i + 1]);

	return isupper((unsigned char)name[i]) && (small_before || small_after);
}

static size_t split_name(const char *name, size_t length, struct word *words)
{
	size_t count = 0;

	for (size_t i = 0; i < length && count < MAX_WORDS;) {
		size_t start = i;
		size_t end;

		if (!isalnum((unsigned char)name[i])) {
			i++;
			continue;
		}
		for (i++;
		     i < length && isalnum((unsigned char)name[i]) && !splits(name, length, i);)
			i++;
		for (end = i; end > start + 1 && isdigit((unsigned char)name[end - 1]);)
			end--;
		words[count++] = (struct word){ name + start, end - start };
	}
	return count;
}

// Returns the row of the strongest word, NULL: none.
static const struct name_row *find_row(const struct word *words, size_t count)
{
	const struct name_row *best = NULL;

	for (size_t i = 0; i < count; i++) {
		if (word_in(&words[i], harmless_words, ARRAY_SIZE(harmless_words)))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(name_rows); k++) {
			const struct name_row *row = &name_rows[k];

			if ((!best || row->strength > best->strength) &&
			    (row->inside ? word_has(&words[i], row->word)
					 : word_is(&words[i], row->word)))
				best = row;
		}
	}
	return best;
}

static bool any_word_in(const struct word *words, size_t count, const char *const *list,
			size_t listed)
{
	for (size_t i = 0; i < count; i++)
		if (word_in(&words[i], list, listed))
			return true;
	return false;
}

enum name_strength name_judge(const char *name, size_t length, const char **ret_kind)
{
	struct word words[MAX_WORDS];
	const char *tail = name + (length > 160 ? length - 160 : 0);
	size_t count = split_name(tail, length - (size_t)(tail - name), words);
	const struct name_row *row = find_row(words, count);

	*ret_kind = NULL;
	// The shell's working directories. A connection string has "Pwd".
	if (count == 1 && (word_is(&words[0], "OLDPWD") ||
			   (word_is(&words[0], "PWD") && memcmp(words[0].start, "Pwd", 3) != 0)))
		return NAME_HARMLESS;
	if (count > 1 && word_in(&words[count - 1], describing_words, ARRAY_SIZE(describing_words)))
		return NAME_HARMLESS;
	for (size_t i = 0; i + 1 < count; i++)
		for (size_t k = 0; k < ARRAY_SIZE(name_pairs); k++)
			if (word_is(&words[i], name_pairs[k].first) &&
			    word_is(&words[i + 1], name_pairs[k].second) &&
			    (!row || row->strength < name_pairs[k].strength)) {
				*ret_kind = name_pairs[k].kind;
				return name_pairs[k].strength;
			}
	if (!row)
		return NAME_HARMLESS;
	if (row->strength == NAME_HINT && str_starts(row->word, "KEY") &&
	    any_word_in(words, count, table_words, ARRAY_SIZE(table_words)))
		return NAME_HARMLESS;
	*ret_kind = row->kind;
	return row->strength;
}

const char *secret_name(const char *name)
{
	const char *kind;

	name_judge(name, strlen(name), &kind);
	return kind;
}
