// SPDX-License-Identifier: MIT
// Parses resolv.conf(5), and renders the one of the box.
//
// Lines are read as glibc reads them: the last `search` or `domain` line counts, `options` lines
// add up, all other lines are skipped. Only words whose characters are all allowed are copied, so
// comments and unexpected content of the host's file do not enter the box.
#include "base/resolv_conf.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

static const char default_resolver[] = "127.0.0.1";
static const char address_characters[] = "0123456789abcdefABCDEF:.";
static const char name_characters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
static const char option_characters[] = "abcdefghijklmnopqrstuvwxyz"
					"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:";

enum { DOMAIN_MAX = 254, OPTION_MAX = 32, SEARCH_MAX = 1024, OPTIONS_MAX = 256 };

struct span {
	const char *start;
	size_t length;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool next_line(const char **cursor, struct span *ret_line)
{
	size_t length = strcspn(*cursor, "\n");

	if (!**cursor)
		return false;
	*ret_line = (struct span){ *cursor, length };
	*cursor += length + ((*cursor)[length] == '\n');
	return true;
}

static bool next_word(struct span *rest, struct span *ret_word)
{
	while (rest->length && is_blank(*rest->start)) {
		rest->start++;
		rest->length--;
	}
	if (rest->length && (*rest->start == '#' || *rest->start == ';'))
		rest->length = 0;
	*ret_word = (struct span){ rest->start, 0 };
	while (rest->length && !is_blank(*rest->start)) {
		rest->start++;
		rest->length--;
		ret_word->length++;
	}
	return ret_word->length > 0;
}

// Stores the rest of the line after `keyword`. Returns false unless the line starts with the
// keyword and a blank follows it.
static bool after_keyword(const struct span *line, const char *keyword, struct span *ret_rest)
{
	size_t length = strlen(keyword);

	if (line->length <= length || memcmp(line->start, keyword, length) != 0 ||
	    !is_blank(line->start[length]))
		return false;
	*ret_rest = (struct span){ line->start + length, line->length - length };
	return true;
}

// Returns whether all characters of `word` are in `allowed`.
static bool has_only(const struct span *word, const char *allowed)
{
	for (size_t i = 0; i < word->length; i++)
		if (!memchr(allowed, word->start[i], strlen(allowed)))
			return false;
	return true;
}

// Parses an address with an optional "%SCOPE".
static bool parse_resolver(const struct span *word, struct resolver *ret)
{
	const char *percent = memchr(word->start, '%', word->length);
	struct span address = { word->start,
				percent ? (size_t)(percent - word->start) : word->length };
	struct span scope = { percent ? percent + 1 : "",
			      percent ? word->length - address.length - 1 : 0 };

	if (!address.length || address.length >= sizeof(ret->address) ||
	    !has_only(&address, address_characters) || scope.length >= sizeof(ret->scope) ||
	    !has_only(&scope, name_characters))
		return false;
	*ret = (struct resolver){ 0 };
	memcpy(ret->address, address.start, address.length);
	memcpy(ret->scope, scope.start, scope.length);
	return true;
}

struct resolver_list resolv_parse(const char *text)
{
	struct resolver_list list = { 0 };
	struct span line;
	struct span rest;
	struct span word;

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

// Adds a blank and the word, unless the text would become longer than `limit`.
static void add_word(struct text *out, const struct span *word, size_t limit)
{
	if (out->length + 1 + word->length > limit)
		return;
	text_add(out, " ");
	text_add_bytes(out, word->start, word->length);
}

const char *resolv_render(struct arena *arena, const char *host_text, const char *address)
{
	struct text search = { .arena = arena };
	struct text options = { .arena = arena };
	struct text out = { .arena = arena };
	struct span line;
	struct span rest;
	struct span word;

	while (host_text && next_line(&host_text, &line)) {
		bool only_one = after_keyword(&line, "domain", &rest);

		if (only_one || after_keyword(&line, "search", &rest)) {
			for (size_t i = 0; next_word(&rest, &word) && !(only_one && i); i++) {
				if (i == 0) // a line without a word does not replace the list
					search.length = 0;
				if (word.length <= DOMAIN_MAX && has_only(&word, name_characters))
					add_word(&search, &word, SEARCH_MAX);
			}
		} else if (after_keyword(&line, "options", &rest)) {
			while (next_word(&rest, &word))
				if (word.length <= OPTION_MAX && has_only(&word, option_characters))
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
