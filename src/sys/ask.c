// SPDX-License-Identifier: MIT
// Asks the user a question on the terminal.
#include "sys/ask.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/screen.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/output.h"
#include "sys/write.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { ANSWER_SIZE = 64 };

// Opens the terminal. Returns -1 if there is none.
static int open_terminal(void)
{
	// The audit goes to stderr. The user must be able to read it before answering.
	return isatty(STDERR_FILENO) ? open("/dev/tty", O_RDWR | O_CLOEXEC) : -1;
}

bool ask_possible(void)
{
	CLEANUP_FD int terminal = open_terminal();

	return terminal >= 0;
}

// Prints a question and reads a line. *ret_end is whether the input ended. Returns false with an
// error if the terminal fails.
static bool read_answer(int terminal, const char *question, char answer[ANSWER_SIZE], bool *ret_end,
			struct error *error)
{
	struct screen screen = screen_for(error->arena, output_reader(terminal));
	ssize_t got;

	screen_add_words(&screen, STYLE_PLAIN, question, 0, 0);
	if (!write_all(terminal, text_get(&screen.out), screen.out.length))
		return error_set(error, "cannot write to the terminal: %s", strerror(errno));
	got = read(terminal, answer, ANSWER_SIZE - 1);
	if (got <= 0 && write(terminal, "\n", 1) < 0)
		return error_set(error, "cannot read from the terminal: %s", strerror(errno));
	*ret_end = got <= 0;
	answer[strcspn(answer, "\n")] = '\0';
	return true;
}

char ask_letter(const char *question, const char *letters, struct arena *arena)
{
	CLEANUP_FD int terminal = open_terminal();
	struct error error = { .arena = arena };
	char answer[ANSWER_SIZE] = "";
	bool end = true;

	if (terminal < 0)
		return letters[0];
	if (!read_answer(terminal, question, answer, &end, &error) || end)
		return '\0';
	for (const char *letter = letters; *letter; letter++)
		if (strlen(answer) == 1 && tolower((unsigned char)answer[0]) == *letter)
			return *letter;
	if (!answer[0])
		return letters[0];
	return '\0';
}

static bool is_yes(const char *answer)
{
	return str_equal(answer, "y") || str_equal(answer, "Y") || str_equal(answer, "yes");
}

// Asks a question and reads a line. Returns false with an error if there is no terminal.
static bool ask_line(const char *question, char answer[ANSWER_SIZE], struct error *error)
{
	CLEANUP_FD int terminal = open_terminal();
	bool end = true;

	if (terminal < 0) {
		error_set(error, "cannot ask for confirmation: there is no terminal");
		return error_hint(error,
				  "the list above is the box: start with --yes if you agree");
	}
	return read_answer(terminal, question, answer, &end, error);
}

bool ask_yes_no(const char *question, bool *ret_yes, struct error *error)
{
	char answer[ANSWER_SIZE] = "";

	if (!ask_line(arena_printf(error->arena, "%s [y/N] ", question), answer, error))
		return false;
	*ret_yes = is_yes(answer);
	return true;
}

static const char *render_question(struct arena *arena, const struct ask_key *keys, size_t count)
{
	struct text out = { .arena = arena };

	text_add(&out, "Start? [y/N] ");
	for (size_t i = 0; i < count; i++)
		text_printf(&out, "%s%c: %s", i ? ", " : "(", keys[i].letter, keys[i].effect);
	text_add(&out, count ? ") " : "");
	return text_get(&out);
}

bool ask_confirmation(const struct ask_key *keys, size_t count, char *ret_letter,
		      struct error *error)
{
	char answer[ANSWER_SIZE] = "";

	if (!ask_line(render_question(error->arena, keys, count), answer, error))
		return false;
	*ret_letter = is_yes(answer) ? 'y' : '\0';
	for (size_t i = 0; i < count; i++)
		if (strlen(answer) == 1 && tolower((unsigned char)answer[0]) == keys[i].letter)
			*ret_letter = keys[i].letter;
	if (*ret_letter)
		return true;
	error_set(error, "not started");
	return error_hint(error, "answer y to start, or use --yes");
}
