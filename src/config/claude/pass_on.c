// SPDX-License-Identifier: MIT
// Passes words of the command line on to claude, or says why not.
#include "config/claude/pass_on.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/claude/options.h"
#include "config/claude/words.h"
#include "config/config.h"
#include "config/names.h"
#include "config/options/table.h"

#include <string.h>

// Returns the option of claudebox that a misspelled one resembles, NULL: none.
static const char *option_nearest(struct arena *arena, const char *name)
{
	char *spelled = arena_strndup(arena, name, strcspn(name, "="));
	strings known = { 0 };

	for (char *s = spelled; *s; s++)
		if (*s == '_')
			*s = '-';
	for (size_t i = 0; i < option_table_count; i++)
		vec_push(arena, &known, option_table[i].name);
	return name_nearest(spelled, known.items, known.count);
}

// Reports a misspelled option of claudebox. An option that claude has is not one.
static bool check_spelling(const char *word, struct error *error)
{
	const char *name = str_after(word, "--");
	const char *nearest = name ? option_nearest(error->arena, name) : NULL;
	const char *shown = quote_display(error->arena, word, 60);

	if (!nearest)
		return true;
	error_set(error, "unknown option '%s'", shown);
	error->status = EXIT_USAGE;
	return error_hint(error, "did you mean '--%s'? To pass the word to claude: claudebox -- %s",
			  nearest, shown);
}

bool claude_pass_word(struct config *config, struct arena *arena, struct claude_reader *reader,
		      const char *word, bool own, struct error *error)
{
	enum claude_word kind = claude_read_word(reader, word);
	const struct claude_answer *answer = claude_word_answer(reader, kind);
	bool for_claude = config->payload == PAYLOAD_CLAUDE;

	if (for_claude && answer) {
		error_set(error, "'%s' is not passed to claude: %s", word, answer->problem);
		error->status = EXIT_USAGE;
		return error_hint(error, "%s", answer->hint);
	}
	if (own && for_claude && kind == CLAUDE_WORD_UNKNOWN && !check_spelling(word, error))
		return false;
	vec_push(arena, &config->arguments, word);
	return true;
}

bool claude_pass_words(struct config *config, struct arena *arena, struct claude_reader *reader,
		       char *const *words, struct error *error)
{
	for (; *words; words++)
		if (!claude_pass_word(config, arena, reader, *words, false, error))
			return false;
	return true;
}
