// SPDX-License-Identifier: MIT
// resolv.conf(5) as glibc reads it: the last `search` or `domain` wins, lines of `options` add up, the rest is skipped.
//
// What is copied goes word by word, and only if each letter is one that such a word has. Comments, also those behind
// other words, and whatever a strange tool wrote into the file stay outside.
#include "base/resolv_conf.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

static const char default_resolver[] = "127.0.0.1";
static const char address_letters[] = "0123456789abcdefABCDEF:.";
static const char word_letters[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
static const char option_letters[] = "abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:";

enum { DOMAIN_MAX = 254, OPTION_MAX = 32, SEARCH_MAX = 1024, OPTIONS_MAX = 256 };

struct piece {
	const char *start;
	size_t length;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool next_line(const char **cursor, struct piece *ret_line)
{
	size_t length = strcspn(*cursor, "\n");

	if (!**cursor)
		return false;
	*ret_line = (struct piece){ *cursor, length };
	*cursor += length + ((*cursor)[length] == '\n');
	return true;
}

static bool next_word(struct piece *rest, struct piece *ret_word)
{
	while (rest->length && is_blank(*rest->start)) {
		rest->start++;
		rest->length--;
	}
	if (rest->length && (*rest->start == '#' || *rest->start == ';'))
		rest->length = 0;
	*ret_word = (struct piece){ rest->start, 0 };
	while (rest->length && !is_blank(*rest->start)) {
		rest->start++;
		rest->length--;
		ret_word->length++;
	}
	return ret_word->length > 0;
}

// What follows the keyword. It begins the line, and a blank ends it; so a comment is none.
static bool after_keyword(const struct piece *line, const char *keyword, struct piece *ret_rest)
{
	size_t length = strlen(keyword);

	if (line->length <= length || memcmp(line->start, keyword, length) != 0 ||
	    !is_blank(line->start[length]))
		return false;
	*ret_rest = (struct piece){ line->start + length, line->length - length };
	return true;
}

static bool only_letters(const struct piece *word, const char *letters)
{
	for (size_t i = 0; i < word->length; i++)
		if (!memchr(letters, word->start[i], strlen(letters)))
			return false;
	return true;
}

static bool parse_resolver(const struct piece *word, struct resolver *ret)
{
	const char *mark = memchr(word->start, '%', word->length);
	struct piece address = { word->start, mark ? (size_t)(mark - word->start) : word->length };
	struct piece scope = { mark ? mark + 1 : "", mark ? word->length - address.length - 1 : 0 };

	if (!address.length || address.length >= sizeof(ret->address) ||
	    !only_letters(&address, address_letters) || scope.length >= sizeof(ret->scope) ||
	    !only_letters(&scope, word_letters))
		return false;
	*ret = (struct resolver){ 0 };
	memcpy(ret->address, address.start, address.length);
	memcpy(ret->scope, scope.start, scope.length);
	return true;
}

struct resolver_list resolv_parse(const char *text)
{
	struct resolver_list list = { 0 };
	struct piece line;
	struct piece rest;
	struct piece word;

	while (text && list.count < RESOLVER_LINES && next_line(&text, &line))
		if (after_keyword(&line, "nameserver", &rest) && next_word(&rest, &word) &&
		    parse_resolver(&word, &list.items[list.count]))
			list.count++;
	if (!list.count) {
		memcpy(list.items[0].address, default_resolver, sizeof(default_resolver));
		list.count = 1;
	}
	return list;
}

static void add_word(struct text *out, const struct piece *word, size_t most)
{
	if (out->length + 1 + word->length > most)
		return;
	text_add(out, " ");
	text_add_bytes(out, word->start, word->length);
}

const char *resolv_render(struct arena *arena, const char *host_text, const char *address)
{
	struct text search = { .arena = arena };
	struct text options = { .arena = arena };
	struct text out = { .arena = arena };
	struct piece line;
	struct piece rest;
	struct piece word;

	while (host_text && next_line(&host_text, &line)) {
		bool only_one = after_keyword(&line, "domain", &rest);

		if (only_one || after_keyword(&line, "search", &rest)) {
			for (size_t i = 0; next_word(&rest, &word) && !(only_one && i); i++) {
				if (i == 0) // a line without a word changes nothing
					search.length = 0;
				if (word.length <= DOMAIN_MAX && only_letters(&word, word_letters))
					add_word(&search, &word, SEARCH_MAX);
			}
		} else if (after_keyword(&line, "options", &rest)) {
			while (next_word(&rest, &word))
				if (word.length <= OPTION_MAX &&
				    only_letters(&word, option_letters))
					add_word(&options, &word, OPTIONS_MAX);
		}
	}
	text_printf(&out, "nameserver %s\n", address);
	if (search.length)
		text_printf(&out, "search%s\n", search.data);
	if (options.length)
		text_printf(&out, "options%s\n", options.data);
	return text_get(&out);
}
