// SPDX-License-Identifier: MIT
// Recall and false alarms of the secret detector, with secrets that are generated at run time and
// with harmless strings: those of harmless.txt, and random ones such as digests.
#include "base/arena.h"
#include "check.h"
#include "plan/secrets/detect.h"
#include "secret_patterns.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define LETTERS  "abcdefghijklmnopqrstuvwxyz"
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS   "0123456789"

enum { SECRETS = 200, HARMLESS = 500, SEEDS = 5 };

struct score {
	int wrong;
	int count;
};

static struct arena arena;
static uint64_t state;

static unsigned int roll(unsigned int sides)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)((state >> 11) % sides);
}

static const char *alphabet_of(char kind)
{
	switch (kind) {
	case 'A':
		return LETTERS CAPITALS DIGITS;
	case 'H':
		return "0123456789abcdef";
	case 'D':
		return DIGITS;
	case 'U':
		return CAPITALS DIGITS;
	case 'L':
		return LETTERS DIGITS;
	case 'B':
		return LETTERS CAPITALS DIGITS "_-";
	case 'N':
		return "0123456789abcdfghijklmnpqrsvwxyz"; // base32 of Nix
	default:
		return LETTERS CAPITALS DIGITS "+/";
	}
}

static void add_random(struct text *out, const char *alphabet, size_t count)
{
	size_t sides = strlen(alphabet);

	while (count-- > 0)
		text_add_bytes(out, &alphabet[roll((unsigned int)sides)], 1);
}

// Adds a password as people choose them: a word, and digits or punctuation.
static void add_password(struct text *out)
{
	static const char *const words[] = { "hunter",  "Winter", "tr0ub",
					     "correct", "zebra",  "Lisboa" };

	text_add(out, words[roll(ARRAY_SIZE(words))]);
	add_random(out, DIGITS, 2 + roll(3));
	add_random(out, "!#%", roll(2));
}

// Returns the pattern with random text in place of its <...> parts.
static const char *generate(const char *pattern)
{
	struct text out = { .arena = &arena };

	for (const char *s = pattern; *s; s++) {
		const char *end = *s == '<' ? strchr(s, '>') : NULL;

		if (!end) {
			text_add_bytes(&out, s, 1);
			continue;
		}
		if (s[1] == 'W') {
			add_password(&out);
		} else if (s[1] == 'b') {
			struct text login = { .arena = &arena };

			text_add(&login, "bot:");
			add_password(&login);
			text_add_base64(&out, (const unsigned char *)login.data, login.length, 400);
			while (out.data[out.length - 1] == '\n')
				out.length--;
			out.data[out.length] = '\0';
		} else {
			add_random(&out, alphabet_of(s[1]), (size_t)strtoul(s + 2, NULL, 10));
		}
		s = end;
	}
	return text_get(&out);
}

// Puts a token into one of several surroundings whose names are harmless.
static const char *surround(const char *token, unsigned int which)
{
	static const char *const around[][2] = {
		{ "", "" },
		{ "see ", " for details" },
		{ "{\"value\": \"", "\", \"n\": 1}" },
		{ "{\\\"value\\\":\\\"", "\\\"}" },
		{ "run --value ", " --force" },
		{ "Bash(VALUE='", "' gh pr list)" },
		{ "first line\\n", "\\nlast line" },
		{ "https://example.org/callback?x=", "&y=1" },
		{ "a, ", "; b" },
		{ "<value>", "</value>" },
		{ "x=%20", "" },
		{ "value=", "" },
		{ "[", "]" },
	};

	which %= ARRAY_SIZE(around);
	return arena_printf(&arena, "%s%s%s", around[which][0], token, around[which][1]);
}

static void miss(struct score *score, bool ok, const char *label, const char *text)
{
	score->count++;
	score->wrong += !ok;
	if (!ok)
		check_note(label, text);
}

// Generates secrets of every pattern, and more of random patterns.
static struct score try_secrets(void)
{
	struct score score = { 0 };
	size_t start;
	size_t length;

	for (size_t i = 0; i < ARRAY_SIZE(token_patterns); i++) {
		const char *token = generate(token_patterns[i]);
		const char *text = surround(token, (unsigned int)i + roll(13));
		const char *kind = secret_find(text, &start, &length);

		// A private key without an end reaches to the end of the text.
		miss(&score,
		     secret_value(text) && kind && length > 0 &&
			     start >= (size_t)(strstr(text, token) - text) &&
			     start < (size_t)(strstr(text, token) - text) + strlen(token),
		     "missed", text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(named_patterns); i++) {
		const char *value = generate(named_patterns[i][1]);

		miss(&score, secret_text(named_patterns[i][0], value), "missed",
		     arena_printf(&arena, "%s=%s", named_patterns[i][0], value));
	}
	for (size_t i = 0; i < ARRAY_SIZE(line_patterns); i++) {
		const char *text = generate(line_patterns[i]);

		miss(&score, secret_find(text, &start, &length), "missed", text);
	}
	return score;
}

// Reads NAME=value as a variable, and any other line as a text.
static void try_line(struct score *score, const char *line)
{
	const char *equals = strchr(line, '=');
	size_t start;
	size_t length;

	if (equals && equals > line && env_name_valid(line, (size_t)(equals - line)))
		miss(score,
		     !secret_text(arena_strndup(&arena, line, (size_t)(equals - line)), equals + 1),
		     "false alarm", line);
	else
		miss(score, !secret_find(line, &start, &length), "false alarm", line);
}

static struct score try_harmless(const strings *lines)
{
	static const char *const patterns[] = {
		"<H40>",
		"commit <H40>",
		"<H8>-<H4>-4<H3>-a<H3>-<H12>",
		"\"id\": \"<H8>-<H4>-4<H3>-b<H3>-<H12>\"",
		"\"integrity\": \"sha512-<S86>==\"",
		"checksum = \"<H64>\"",
		"app@sha256:<H64>",
		"/nix/store/<N32>-hello-2.12.1/bin/hello",
		"<H64>  archive.tar.gz",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<S43> ada@host",
		"v<D1>.<D2>.<D1>",
		"#<H6>",
		"index <H7>..<H7> 100644",
		"data:image/png;base64,<S120>",
		"\"rev\": \"<H40>\"",
		"\"narHash\": \"sha256-<S43>=\"",
		"GITHUB_SHA=<H40>",
		"https://github.com/a/b/commit/<H40>",
		"/tmp/build.<A10>/out.o",
		"0x<H16>",
	};
	struct score score = { 0 };

	vec_each(line, lines)
		try_line(&score, *line);
	for (size_t i = 0; score.count < HARMLESS; i++)
		try_line(&score, generate(patterns[i % ARRAY_SIZE(patterns)]));
	return score;
}

static strings read_harmless(void)
{
	static char content[64 * 1024];
	const char *source = getenv("SOURCE");
	const char *path =
		arena_printf(&arena, "%s/tests/unit/harmless.txt", source ? source : ".");
	FILE *file = fopen(path, "r");

	if (!file || fread(content, 1, sizeof(content) - 1, file) == 0)
		check_note("cannot read", path);
	if (file)
		fclose(file);
	return str_split_lines(&arena, content);
}

int main(void)
{
	strings lines = read_harmless();

	CHECK(lines.count > 300 && lines.count <= HARMLESS);
	for (int i = 0; i < SEEDS * check_stress(); i++) {
		struct score secrets;
		struct score harmless;
		uint64_t seed = 0x9e3779b97f4a7c15 * (uint64_t)(i + 1);

		state = seed;
		secrets = try_secrets();
		harmless = try_harmless(&lines);
		printf("# seed %llx: recall %.1f %% of %d secrets, false alarms %.1f %% of %d\n",
		       (unsigned long long)seed,
		       100.0 * (secrets.count - secrets.wrong) / secrets.count, secrets.count,
		       100.0 * harmless.wrong / harmless.count, harmless.count);
		CHECK(secrets.count >= SECRETS && secrets.wrong * 100 <= secrets.count * 2);
		CHECK(harmless.count >= HARMLESS && harmless.wrong * 100 <= harmless.count);
	}
	arena_free(&arena);
	return check_done();
}
