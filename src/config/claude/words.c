// SPDX-License-Identifier: MIT
// Reads the words for claude as claude does: which are options, values, the sub-command.
//
// Theory of operation: claude parses its words with the library commander, whose rules these
// functions follow. An unknown option may have a value, so no sub-command is recognised after one:
// the words that follow are then searched for options of claudebox, which is the safe side.
#include "config/claude/words.h"

#include "base/arena.h"
#include "base/text.h"
#include "config/claude/options.h"

#include <string.h>

static bool is_option(const char *word)
{
	return word[0] == '-' && word[1];
}

// Returns whether the option of the word before takes this word as a value.
static bool takes_value(struct claude_reader *reader, const char *word)
{
	const struct claude_option *option = reader->option;
	bool taken = option && (reader->required || !is_option(word));

	reader->required = false;
	if (!taken || option->value != CLAUDE_VALUE_MANY)
		reader->option = NULL;
	reader->found = option;
	return taken;
}

// Records an option. `value` is the value in its word, NULL: none.
static void set_option(struct claude_reader *reader, const struct claude_option *option,
		       const char *value)
{
	reader->found = option;
	reader->value = option->value == CLAUDE_VALUE_NONE ? NULL : value;
	reader->print |= str_equal(option->name, "print");
	if (!value && option->value != CLAUDE_VALUE_NONE) {
		reader->option = option;
		reader->required = option->value != CLAUDE_VALUE_OPTIONAL;
	}
}

// Reads "-p", "-pc", "-rID". Returns whether claude has the options.
static bool read_letters(struct claude_reader *reader, const char *letters)
{
	const struct claude_option *whole = claude_option_find_letter(letters, strlen(letters));

	if (whole) {
		set_option(reader, whole, NULL);
		return true;
	}
	for (const char *s = letters; *s; s++) {
		const struct claude_option *option = claude_option_find_letter(s, 1);

		if (!option)
			return false;
		set_option(reader, option, s[1] ? s + 1 : NULL);
		if (option->value != CLAUDE_VALUE_NONE)
			break;
	}
	return true;
}

static bool read_option(struct claude_reader *reader, const char *word)
{
	const char *name = str_after(word, "--");
	size_t length = name ? strcspn(name, "=") : 0;
	const struct claude_option *option = name ? claude_option_find(name, length) : NULL;

	if (!name)
		return read_letters(reader, word + 1);
	if (!option || (name[length] && option->value == CLAUDE_VALUE_NONE))
		return false;
	set_option(reader, option, name[length] ? name + length + 1 : NULL);
	return true;
}

enum claude_word claude_read_word(struct claude_reader *reader, const char *word)
{
	bool first = reader->count++ == 0;

	reader->found = NULL;
	reader->value = NULL;
	if (reader->command)
		return CLAUDE_WORD_PLAIN;
	if (!reader->dashes && (!str_equal(word, "--") || reader->required) &&
	    takes_value(reader, word)) {
		reader->value = word;
		return CLAUDE_WORD_VALUE;
	}
	reader->found = NULL;
	reader->option = NULL;
	if (!reader->dashes && str_equal(word, "--")) {
		reader->dashes = true;
		return CLAUDE_WORD_DASHES;
	}
	if (!reader->dashes && is_option(word)) {
		if (read_option(reader, word))
			return CLAUDE_WORD_OPTION;
		reader->unknown = true;
		return CLAUDE_WORD_UNKNOWN;
	}
	if (!reader->plain && !reader->print && !reader->unknown) {
		const struct claude_command *command = claude_command_find(word);

		if (command && (first || !command->first))
			reader->command = command;
	}
	reader->plain = true;
	return reader->command ? CLAUDE_WORD_COMMAND : CLAUDE_WORD_PLAIN;
}

const struct claude_answer *claude_word_answer(const struct claude_reader *reader,
					       enum claude_word kind)
{
	if (kind == CLAUDE_WORD_COMMAND)
		return reader->command->answer;
	return kind == CLAUDE_WORD_OPTION ? reader->found->answer : NULL;
}

claude_arguments claude_find_arguments(struct arena *arena, const strings *words)
{
	struct claude_reader reader = { 0 };
	claude_arguments found = { 0 };

	for (size_t i = 0; i < words->count; i++) {
		const struct claude_option *option;

		claude_read_word(&reader, words->items[i]);
		option = reader.value ? reader.found : NULL;
		if (!option || option->path == CLAUDE_PATH_NONE || !*reader.value)
			continue;
		vec_push(arena, &found,
			 (struct claude_argument){
				 .option = option,
				 .word = i,
				 .value = reader.value,
				 .json = option->path == CLAUDE_PATH_OR_JSON &&
					 reader.value[strspn(reader.value, " \t\r\n")] == '{' });
	}
	return found;
}

bool claude_words_print(const strings *words)
{
	struct claude_reader reader = { 0 };

	for (size_t i = 0; i < words->count && !reader.command; i++)
		claude_read_word(&reader, words->items[i]);
	return reader.print;
}

bool claude_words_inform(const strings *words)
{
	static const char *const informing[] = { "--version", "-v", "--help", "-h" };

	for (size_t i = 0; words->count == 1 && i < ARRAY_SIZE(informing); i++)
		if (str_equal(words->items[0], informing[i]))
			return true;
	return false;
}

bool claude_words_are_first(const strings *words)
{
	const struct claude_command *command = words->count ? claude_command_find(words->items[0])
							    : NULL;

	return command && command->first;
}
