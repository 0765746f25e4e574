// SPDX-License-Identifier: MIT
// Parses the greeting of a Nix daemon, and Nix's settings files in the way that Nix does. Settings
// that cannot be parsed are marked as incomplete.
#include "plan/nix/daemon.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"

#include <stdint.h>
#include <string.h>

enum {
	NUMBER_SIZE = 8, // little endian
	CLIENT_MAGIC = 0x6e697863,
	DAEMON_MAGIC = 0x6478696f,
	PROTOCOL = 0x123,  // 1.35: the first with the trust, and the last without later fields
	VERSION_MAX = 256, // length of the daemon's version string
	FILES_MAX = 32,
};

// Values of the trust field; 0: unknown.
enum { DAEMON_TRUSTS = 1, DAEMON_DOES_NOT_TRUST = 2 };

const struct nix_settings nix_default_settings = {
	.trusted_users = { .items = (const char *[]){ "root" }, .count = 1, .capacity = 1 },
	.sandbox = "true",
};

static void write_number(unsigned char *bytes, uint64_t number)
{
	for (int i = 0; i < NUMBER_SIZE; i++)
		bytes[i] = (unsigned char)(number >> (8 * i));
}

static uint64_t read_number(const unsigned char *bytes)
{
	uint64_t number = 0;

	for (int i = 0; i < NUMBER_SIZE; i++)
		number |= (uint64_t)bytes[i] << (8 * i);
	return number;
}

void nix_render_hello(unsigned char bytes[NIX_HELLO_SIZE])
{
	// The last two numbers stay 0: no processor affinity, no reserved space.
	memset(bytes, 0, NIX_HELLO_SIZE);
	write_number(bytes, CLIENT_MAGIC);
	write_number(bytes + NUMBER_SIZE, PROTOCOL);
}

enum nix_greeting nix_parse_greeting(const unsigned char *bytes, size_t size)
{
	uint64_t version;
	uint64_t length;
	size_t place;

	if (size < 2 * (size_t)NUMBER_SIZE)
		return NIX_GREETING_INCOMPLETE;
	version = read_number(bytes + NUMBER_SIZE);
	if (read_number(bytes) != DAEMON_MAGIC || version >> 8 != PROTOCOL >> 8)
		return NIX_GREETING_INVALID;
	if (version < PROTOCOL)
		return NIX_GREETING_UNKNOWN;
	if (size < 3 * (size_t)NUMBER_SIZE)
		return NIX_GREETING_INCOMPLETE;
	length = read_number(bytes + 2 * (size_t)NUMBER_SIZE);
	if (length > VERSION_MAX)
		return NIX_GREETING_INVALID;
	place = 3 * (size_t)NUMBER_SIZE +
		((size_t)length + NUMBER_SIZE - 1) / NUMBER_SIZE * NUMBER_SIZE;
	if (size < place + NUMBER_SIZE)
		return NIX_GREETING_INCOMPLETE;
	switch (read_number(bytes + place)) {
	case 0:
		return NIX_GREETING_UNKNOWN;
	case DAEMON_TRUSTS:
		return NIX_GREETING_TRUSTED;
	case DAEMON_DOES_NOT_TRUST:
		return NIX_GREETING_NOT_TRUSTED;
	default:
		return NIX_GREETING_INVALID;
	}
}

// Splits a line into words, up to a comment.
static strings split_line(struct arena *arena, const char *line)
{
	static const char blanks[] = " \t\r";
	strings words = { 0 };

	for (const char *s = line + strspn(line, blanks); *s && *s != '#'; s += strspn(s, blanks)) {
		size_t length = strcspn(s, " \t\r#");

		vec_push(arena, &words, arena_strndup(arena, s, length));
		s += length;
	}
	return words;
}

// Applies a line "NAME = VALUE …".
static void apply_setting(struct nix_settings *settings, struct arena *arena, const strings *words)
{
	const char *name = words->items[0];
	const char *plain = str_after(name, "extra-");
	bool more = plain != NULL;

	if (!more)
		plain = name;
	if (str_equal(plain, "trusted-users")) {
		if (!more)
			settings->trusted_users = (strings){ 0 };
		for (size_t i = 2; i < words->count; i++)
			vec_push(arena, &settings->trusted_users, words->items[i]);
	} else if (str_equal(name, "sandbox") || str_equal(name, "build-use-sandbox") ||
		   str_equal(name, "build-use-chroot")) {
		settings->sandbox = words->count > 2 ? words->items[2] : "";
	}
}

static void parse_file(struct nix_settings *settings, struct arena *arena, const char *path,
		       bool required, nix_reader reader);

// NOLINTNEXTLINE(misc-no-recursion): as files include each other, at most FILES_MAX of them
static void parse_line(struct nix_settings *settings, struct arena *arena, const char *path,
		       const strings *words, nix_reader reader)
{
	const char *first = words->items[0];
	bool required = str_equal(first, "include");

	if (required || str_equal(first, "!include")) {
		if (words->count == 2)
			parse_file(settings, arena,
				   path_join(arena, path_parent(arena, path), words->items[1]),
				   required, reader);
		else
			settings->incomplete = true;
	} else if (words->count >= 2 && str_equal(words->items[1], "=")) {
		apply_setting(settings, arena, words);
	} else {
		settings->incomplete = true; // Nix refuses this line
	}
}

// NOLINTNEXTLINE(misc-no-recursion)
static void parse_file(struct nix_settings *settings, struct arena *arena, const char *path,
		       bool required, nix_reader reader)
{
	bool missing = false;
	const char *text = settings->files < FILES_MAX ? reader(arena, path, &missing) : NULL;
	const char *line;

	settings->files++;
	if (!text) {
		settings->incomplete |= required || !missing;
		return;
	}
	while ((line = str_next_line(arena, &text))) {
		strings words = split_line(arena, line);

		if (words.count)
			parse_line(settings, arena, path, &words, reader);
	}
}

void nix_parse_settings(struct nix_settings *settings, struct arena *arena, const char *path,
			nix_reader reader)
{
	parse_file(settings, arena, path, false, reader);
}

bool nix_unsandboxed(const struct nix_settings *settings)
{
	return !str_equal(settings->sandbox, "true");
}
