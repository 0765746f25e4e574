// SPDX-License-Identifier: MIT
// Tests of the words for claude: which are paths, and what the box needs for them.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "config/claude/options.h"
#include "config/claude/words.h"

#include <string.h>

static struct arena arena;

static strings split(const char *line)
{
	strings words = { 0 };

	while (*line) {
		size_t length = strcspn(line, "|");

		vec_push(&arena, &words, arena_strndup(&arena, line, length));
		line += length + (line[length] == '|');
	}
	return words;
}

// "option=value@word", with "{}" for JSON.
static const char *describe(const char *line)
{
	strings words = split(line);
	claude_arguments found = claude_find_arguments(&arena, &words);
	struct text out = { .arena = &arena };

	vec_each(argument, &found)
		text_printf(&out, "%s%s=%s@%zu", out.length ? " " : "", argument->option->name,
			    argument->json ? "{}" : argument->value, argument->word);
	return text_get(&out);
}

static void test_paths(void)
{
	static const char *const rows[][2] = {
		{ "", "" },
		{ "-p|x", "" },
		{ "--add-dir|a|b|--model|c|d", "add-dir=a@1 add-dir=b@2" },
		{ "--add-dir=a|b", "add-dir=a@0" }, // one value: b is the prompt
		{ "--add-dir|--settings|x", "add-dir=--settings@1 add-dir=x@2" },
		{ "--add-dir|a|--|b", "add-dir=a@1" },
		{ "--settings|x.json|--settings={\"a\":1}", "settings=x.json@1 settings={}@2" },
		{ "--settings| {}", "settings={}@1" },
		{ "--mcp-config|a.json|{\"mcpServers\":{}}|-p|q",
		  "mcp-config=a.json@1 mcp-config={}@2" },
		{ "--plugin-dir|a|b", "plugin-dir=a@1" },
		{ "--append-system-prompt-file|f|--system-prompt-file=g",
		  "append-system-prompt-file=f@1 system-prompt-file=g@2" },
		{ "--append-system-prompt|/etc/passwd", "" },
		{ "--debug-file|log", "debug-file=log@1" },
		{ "-d|--settings|x", "settings=x@2" },
		{ "-d|hooks|--settings|x", "settings=x@3" },
		{ "--resume|--settings|x", "settings=x@2" },
		{ "--model|--settings|x", "" },
		{ "-p|--|--settings|x", "" },
		{ "mcp|add|--settings|x", "" },
		{ "-pn|--settings|x", "" }, // a name
		{ "--settings", "" },
		{ "--settings=", "" },
		{ "--zork|--settings|x", "settings=x@2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(describe(rows[i][0]), rows[i][1], rows[i][0]);
}

static void test_first_words(void)
{
	static const struct {
		const char *line;
		bool first;
	} rows[] = {
		{ "", false },
		{ "mcp|list", false }, // it is recognised behind options too
		{ "remote-control", true },
		{ "rc", true },
		{ "-p|rc", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		strings words = split(rows[i].line);

		CHECK_CASE(claude_words_are_first(&words) == rows[i].first, rows[i].line);
	}
}

static void test_print(void)
{
	static const struct {
		const char *line;
		bool print;
	} rows[] = {
		{ "", false },       { "-p|text", true },     { "text|--print", true },
		{ "-pc", true },     { "--model|-p", false }, { "--|-p", false },
		{ "mcp|-p", false }, { "--continue", false }, { "--output-format|json|-p", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		strings words = split(rows[i].line);

		CHECK_CASE(claude_words_print(&words) == rows[i].print, rows[i].line);
	}
}

int main(void)
{
	test_paths();
	test_print();
	test_first_words();
	arena_free(&arena);
	return check_done();
}
