// SPDX-License-Identifier: MIT
// Reads the greeting of a Nix daemon and Nix's configuration files as Nix does; what is not understood counts as doubt.
#include "plan/nix/daemon.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"

#include <stdint.h>
#include <string.h>

enum {
	WORD = 8, // all numbers have eight bytes, little end first
	CLIENT_MAGIC = 0x6e697863,
	DAEMON_MAGIC = 0x6478696f,
	PROTOCOL = 0x123,    // the first that tells, and the last without anything else new
	VERSION_LIMIT = 256, // of its name
	MOST_FILES = 32,
};

// As the daemon writes it; 0: it does not know.
enum { SAYS_TRUSTED = 1, SAYS_NOT_TRUSTED = 2 };

const struct nix_settings nix_default_settings = {
	.trusted_users = { .items = (const char *[]){ "root" }, .count = 1, .capacity = 1 },
	.sandbox = "true",
};

static void put_number(unsigned char *bytes, uint64_t number)
{
	for (int i = 0; i < WORD; i++)
		bytes[i] = (unsigned char)(number >> (8 * i));
}

static uint64_t get_number(const unsigned char *bytes)
{
	uint64_t number = 0;

	for (int i = 0; i < WORD; i++)
		number |= (uint64_t)bytes[i] << (8 * i);
	return number;
}

void nix_make_hello(unsigned char bytes[NIX_HELLO_SIZE])
{
	memset(bytes, 0,
	       NIX_HELLO_SIZE); // the last two: no wish for a processor, no space to reserve
	put_number(bytes, CLIENT_MAGIC);
	put_number(bytes + WORD, PROTOCOL);
}

enum nix_answer nix_read_greeting(const unsigned char *bytes, size_t size)
{
	uint64_t version;
	uint64_t length;
	size_t place;

	if (size < 2 * (size_t)WORD)
		return NIX_ANSWER_MORE;
	version = get_number(bytes + WORD);
	if (get_number(bytes) != DAEMON_MAGIC || version >> 8 != PROTOCOL >> 8)
		return NIX_ANSWER_BAD;
	if (version < PROTOCOL)
		return NIX_ANSWER_NONE;
	if (size < 3 * (size_t)WORD)
		return NIX_ANSWER_MORE;
	length = get_number(bytes + 2 * (size_t)WORD);
	if (length > VERSION_LIMIT)
		return NIX_ANSWER_BAD;
	place = 3 * (size_t)WORD + ((size_t)length + WORD - 1) / WORD * WORD;
	if (size < place + WORD)
		return NIX_ANSWER_MORE;
	switch (get_number(bytes + place)) {
	case 0:
		return NIX_ANSWER_NONE;
	case SAYS_TRUSTED:
		return NIX_ANSWER_TRUSTED;
	case SAYS_NOT_TRUSTED:
		return NIX_ANSWER_NOT_TRUSTED;
	default:
		return NIX_ANSWER_BAD;
	}
}

// Up to a comment.
static strings words_of(struct arena *arena, const char *line)
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

static void apply(struct nix_settings *settings, struct arena *arena, const strings *words)
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

static void read_file(struct nix_settings *settings, struct arena *arena, const char *path,
		      bool required, nix_reader reader);

// NOLINTNEXTLINE(misc-no-recursion): as files include each other, at most MOST_FILES of them
static void read_line(struct nix_settings *settings, struct arena *arena, const char *path,
		      const strings *words, nix_reader reader)
{
	const char *first = words->items[0];
	bool required = str_equal(first, "include");

	if (required || str_equal(first, "!include")) {
		if (words->count == 2)
			read_file(settings, arena,
				  path_join(arena, path_parent(arena, path), words->items[1]),
				  required, reader);
		else
			settings->doubtful = true;
	} else if (words->count >= 2 && str_equal(words->items[1], "=")) {
		apply(settings, arena, words);
	} else {
		settings->doubtful = true; // Nix refuses such a line
	}
}

// NOLINTNEXTLINE(misc-no-recursion)
static void read_file(struct nix_settings *settings, struct arena *arena, const char *path,
		      bool required, nix_reader reader)
{
	bool missing = false;
	const char *text = settings->files < MOST_FILES ? reader(arena, path, &missing) : NULL;
	const char *line;

	settings->files++;
	if (!text) {
		settings->doubtful |= required || !missing;
		return;
	}
	while ((line = str_next_line(arena, &text))) {
		strings words = words_of(arena, line);

		if (words.count)
			read_line(settings, arena, path, &words, reader);
	}
}

void nix_read_settings(struct nix_settings *settings, struct arena *arena, const char *path,
		       nix_reader reader)
{
	read_file(settings, arena, path, false, reader);
}

bool nix_unsandboxed(const struct nix_settings *settings)
{
	return !str_equal(settings->sandbox, "true");
}
