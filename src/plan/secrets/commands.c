// SPDX-License-Identifier: MIT
// Finds passwords in the arguments of known programs.
//
// Theory of operation: at the name of a program of the table, the rest of the command is read word
// by word, up to the end of the line or of the command. A password option may be followed by its
// value, or contain it after '=' or at once.
#include "plan/secrets/commands.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/secrets/bytes.h"
#include "plan/secrets/shapes.h"
#include "plan/secrets/values.h"

#include <string.h>

// No command costs more than this.
enum { MAX_COMMAND = 512, SHORTEST_POSITIONAL = 8, LONGEST_PROGRAM = 16 };

enum option_form {
	FORM_ANY,      // -p VALUE, -pVALUE, --option=VALUE
	FORM_GLUED,    // -pVALUE alone: without it, the program asks
	FORM_SEPARATE, // -pass VALUE
	FORM_NEXT,     // the word after this one
};

struct command_row {
	const char *program;
	const char *option;
	enum option_form form;
	char separator; // the password is behind it: user:password. '\0': it is the whole value
	const char *subcommand; // must be before the option; NULL: none
};

static const struct command_row rows[] = {
	{ "curl", "-u", FORM_ANY, ':', NULL },
	{ "curl", "--user", FORM_ANY, ':', NULL },
	{ "curl", "-U", FORM_ANY, ':', NULL },
	{ "curl", "--proxy-user", FORM_ANY, ':', NULL },
	{ "http", "-a", FORM_ANY, ':', NULL },
	{ "http", "--auth", FORM_ANY, ':', NULL },
	{ "https", "-a", FORM_ANY, ':', NULL },
	{ "https", "--auth", FORM_ANY, ':', NULL },
	{ "xh", "-a", FORM_ANY, ':', NULL },
	{ "lftp", "-u", FORM_ANY, ',', NULL },
	{ "mysql", "-p", FORM_GLUED, '\0', NULL },
	{ "mysqldump", "-p", FORM_GLUED, '\0', NULL },
	{ "mysqladmin", "-p", FORM_GLUED, '\0', NULL },
	{ "mysqlimport", "-p", FORM_GLUED, '\0', NULL },
	{ "mariadb", "-p", FORM_GLUED, '\0', NULL },
	{ "mariadb-dump", "-p", FORM_GLUED, '\0', NULL },
	{ "mycli", "-p", FORM_GLUED, '\0', NULL },
	{ "sshpass", "-p", FORM_ANY, '\0', NULL },
	{ "redis-cli", "-a", FORM_ANY, '\0', NULL },
	{ "valkey-cli", "-a", FORM_ANY, '\0', NULL },
	{ "docker", "-p", FORM_ANY, '\0', "login" },
	{ "podman", "-p", FORM_ANY, '\0', "login" },
	{ "buildah", "-p", FORM_ANY, '\0', "login" },
	{ "skopeo", "-p", FORM_ANY, '\0', "login" },
	{ "helm", "-p", FORM_ANY, '\0', "login" },
	{ "az", "-p", FORM_ANY, '\0', "login" },
	{ "oc", "-p", FORM_ANY, '\0', "login" },
	{ "cf", "-p", FORM_ANY, '\0', "login" },
	{ "mongosh", "-p", FORM_ANY, '\0', NULL },
	{ "mongo", "-p", FORM_ANY, '\0', NULL },
	{ "mongodump", "-p", FORM_ANY, '\0', NULL },
	{ "mongorestore", "-p", FORM_ANY, '\0', NULL },
	{ "cqlsh", "-p", FORM_ANY, '\0', NULL },
	{ "twine", "-p", FORM_ANY, '\0', "upload" },
	{ "smbclient", "-U", FORM_ANY, '%', NULL },
	{ "rpcclient", "-U", FORM_ANY, '%', NULL },
	{ "ldapsearch", "-w", FORM_ANY, '\0', NULL },
	{ "ldapadd", "-w", FORM_ANY, '\0', NULL },
	{ "ldapmodify", "-w", FORM_ANY, '\0', NULL },
	{ "ldapdelete", "-w", FORM_ANY, '\0', NULL },
	{ "ldapwhoami", "-w", FORM_ANY, '\0', NULL },
	{ "sqlcmd", "-P", FORM_ANY, '\0', NULL },
	{ "bcp", "-P", FORM_ANY, '\0', NULL },
	{ "ipmitool", "-P", FORM_ANY, '\0', NULL },
	{ "mosquitto_pub", "-P", FORM_ANY, '\0', NULL },
	{ "mosquitto_sub", "-P", FORM_ANY, '\0', NULL },
	{ "unzip", "-P", FORM_ANY, '\0', NULL },
	{ "zip", "-P", FORM_ANY, '\0', NULL },
	{ "7z", "-p", FORM_GLUED, '\0', NULL },
	{ "7za", "-p", FORM_GLUED, '\0', NULL },
	{ "7zz", "-p", FORM_GLUED, '\0', NULL },
	{ "rar", "-p", FORM_GLUED, '\0', NULL },
	{ "unrar", "-p", FORM_GLUED, '\0', NULL },
	{ "openssl", "-k", FORM_SEPARATE, '\0', NULL },
	{ "openssl", "-pass", FORM_SEPARATE, ':', NULL },
	{ "openssl", "-passin", FORM_SEPARATE, ':', NULL },
	{ "openssl", "-passout", FORM_SEPARATE, ':', NULL },
	{ "kubectl", "--from-literal", FORM_ANY, '=', "secret" },
	{ "oc", "--from-literal", FORM_ANY, '=', "secret" },
	{ "vault", "login", FORM_NEXT, '\0', NULL },
	{ "npm", ":_authToken", FORM_NEXT, '\0', "set" },
	{ "npm", ":_auth", FORM_NEXT, '\0', "set" },
	{ "npm", ":_password", FORM_NEXT, '\0', "set" },
	{ "pnpm", ":_authToken", FORM_NEXT, '\0', "set" },
	{ "aws", "aws_secret_access_key", FORM_NEXT, '\0', "set" },
	{ "aws", "aws_session_token", FORM_NEXT, '\0', "set" },
};

struct word {
	const char *start;
	size_t length;
};

// Reads the next word of a command; the quotes around it are not part of it. Returns false at the
// end of the command.
static bool next_word(const char **cursor, const char *end, struct word *ret)
{
	const char *s = *cursor;
	char quote = 0;

	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	if (s == end || strchr("\r\n|;&", *s))
		return false;
	if (*s == '"' || *s == '\'')
		quote = *s++;
	ret->start = s;
	while (s < end && *s != '\n' && (quote ? *s != quote : !strchr(" \t\r|;&", *s)))
		s++;
	ret->length = (size_t)(s - ret->start);
	*cursor = s + (quote && s < end && *s == quote);
	return true;
}

static bool word_is(const struct word *word, const char *text)
{
	return word->length == strlen(text) && memcmp(word->start, text, word->length) == 0;
}

static bool word_ends(const struct word *word, const char *text)
{
	size_t length = strlen(text);

	return word->length >= length &&
	       memcmp(word->start + word->length - length, text, length) == 0;
}

// Moves the start of a value to the password in it. Returns false if it has none.
static bool take_password(const struct command_row *row, struct word *value)
{
	const char *at = value->start;

	if (value->length && (*at == '"' || *at == '\'')) {
		value->start++;
		value->length -= 1 + (value->length > 1 && at[value->length - 1] == *at);
	}
	at = row->separator ? memchr(value->start, row->separator, value->length) : NULL;
	if (row->separator && !at)
		return false;
	if (at) {
		value->length -= (size_t)(at + 1 - value->start);
		value->start = at + 1;
	}
	// The end of a rule: Bash(mysql -pVALUE:*)
	value->length = strnlen(value->start, value->length);
	for (const char *end = ")*:\"'`,\\"; value->length;) {
		if (!strchr(end, value->start[value->length - 1]))
			break;
		value->length--;
	}
	if (row->form == FORM_NEXT &&
	    (value->length < SHORTEST_POSITIONAL || value->start[0] == '-'))
		return false;
	return value->length > 1 && !value_is_harmless(value->start, value->length);
}

// Matches an option and its value. `cursor` is behind the option.
static bool match_option(const struct command_row *row, const struct word *word, const char *cursor,
			 const char *end, struct word *ret)
{
	size_t length = strlen(row->option);

	if (row->form == FORM_NEXT)
		return word_ends(word, row->option) && next_word(&cursor, end, ret);
	if (word_is(word, row->option))
		return row->form != FORM_GLUED && next_word(&cursor, end, ret) &&
		       ret->start[0] != '-';
	// -su user:password
	if (row->separator == ':' && length == 2 && word->length > 2 && word->length <= 6 &&
	    word->start[0] == '-' && word->start[word->length - 1] == row->option[1] &&
	    !memchr(word->start, ':', word->length))
		return next_word(&cursor, end, ret);
	if (row->form == FORM_SEPARATE || word->length <= length ||
	    memcmp(word->start, row->option, length) != 0)
		return false;
	if (row->option[1] == '-' && word->start[length] != '=')
		return false;
	length += word->start[length] == '=';
	*ret = (struct word){ word->start + length, word->length - length };
	return true;
}

static bool match_row(const struct command_row *row, const char *arguments, const char *end,
		      struct word *ret)
{
	bool reached = !row->subcommand;
	struct word word;

	while (next_word(&arguments, end, &word)) {
		if (!reached)
			reached = word_is(&word, row->subcommand);
		else if (match_option(row, &word, arguments, end, ret) && take_password(row, ret))
			return true;
	}
	return false;
}

// Matches `echo VALUE | sudo -S`.
static bool match_echo(const char *arguments, const char *end, struct word *ret)
{
	static const struct command_row row = { "echo", "", FORM_ANY, '\0', NULL };
	const char *sudo = memmem(arguments, (size_t)(end - arguments), "sudo -S", 7);
	struct word word = { 0 };

	if (!sudo)
		return false;
	while (next_word(&arguments, end, &word) && word.start[0] == '-')
		;
	*ret = word;
	arguments += strspn(arguments, " \t");
	return word.length && *arguments == '|' && sudo > arguments &&
	       sudo <= arguments + strspn(arguments, "| \t") && take_password(&row, ret);
}

// An index of the table: for each first character of a program, its rows. NO_ROW ends a list.
struct command_index {
	bool filled;
	unsigned char first[256];
	unsigned char next[ARRAY_SIZE(rows)];
};
enum { NO_ROW = 0xff };
_Static_assert(ARRAY_SIZE(rows) < NO_ROW, "the index has a number for each row");

// Returns the index, which the first call fills.
static const struct command_index *get_index(void)
{
	static struct command_index index;

	if (index.filled)
		return &index;
	memset(index.first, NO_ROW, sizeof(index.first));
	for (size_t row = ARRAY_SIZE(rows); row-- > 0;) {
		unsigned char *list = &index.first[(unsigned char)rows[row].program[0]];

		index.next[row] = *list;
		*list = (unsigned char)row;
	}
	index.filled = true;
	return &index;
}

static bool is_program(const char *name, size_t length, const char *program)
{
	return strncmp(name, program, length) == 0 && program[length] == '\0';
}

// Matches the arguments of a program of the table.
static bool match_program(const char *name, size_t length, struct word *ret)
{
	const struct command_index *index = get_index();
	const char *arguments = name + length;

	for (size_t row = index->first[(unsigned char)*name]; row != NO_ROW; row = index->next[row])
		if (is_program(name, length, rows[row].program) &&
		    match_row(&rows[row], arguments, arguments + strnlen(arguments, MAX_COMMAND),
			      ret))
			return true;
	return (is_program(name, length, "echo") || is_program(name, length, "printf")) &&
	       match_echo(arguments, arguments + strnlen(arguments, MAX_COMMAND), ret);
}

bool command_match(const char *text, size_t at, size_t *ret_start, size_t *ret_length)
{
	const char *arguments = text + at;
	size_t length;
	struct word value;

	if (!byte_is_lower(*arguments) && *arguments != '7')
		return false;
	if (!shape_boundary(text, at) || (at > 0 && strchr("_-.", text[at - 1])))
		return false;
	for (length = 0; length < LONGEST_PROGRAM; length++)
		if (!byte_is_lower(arguments[length]) && arguments[length] != '_' &&
		    arguments[length] != '-' && arguments[length] != '7')
			break;
	if (arguments[length] != ' ' && arguments[length] != '\t')
		return false;
	if (!match_program(arguments, length, &value))
		return false;
	*ret_start = (size_t)(value.start - text);
	*ret_length = value.length;
	return true;
}
