// SPDX-License-Identifier: MIT
// Which aliases of git run no program besides git.
//
// Theory of operation: an alias starts with a command, or with options of git itself (-c,
// --exec-path) and '!', which are refused. Git accepts each unique prefix of a long option and
// several short options in one word, so a word is refused if it can stand for an option of the
// list. A word that is refused by mistake costs an alias, which is named; nothing else.
#include "plan/git/alias.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

#define SIGNS "-S signs with a key"

const struct git_command_row git_command_table[] = {
	{ "add", "", NULL },
	{ "apply", "", NULL },
	{ "am", "S", SIGNS },
	{ "blame", "", NULL },
	{ "branch", "", NULL },
	{ "cat-file", "", NULL },
	{ "check-attr", "", NULL },
	{ "check-ignore", "", NULL },
	{ "checkout", "", NULL },
	{ "cherry", "", NULL },
	{ "cherry-pick", "S", SIGNS },
	{ "clean", "", NULL },
	{ "clone", "cu", "-u names a program, -c sets any configuration" },
	{ "commit", "S", SIGNS },
	{ "config", "", NULL },
	{ "count-objects", "", NULL },
	{ "describe", "", NULL },
	{ "diff", "", NULL },
	{ "diff-tree", "", NULL },
	{ "fetch", "", NULL },
	{ "for-each-ref", "", NULL },
	{ "format-patch", "", NULL },
	{ "gc", "", NULL },
	{ "grep", "O", "-O opens a pager" },
	{ "init", "", NULL },
	{ "log", "", NULL },
	{ "ls-files", "", NULL },
	{ "ls-remote", "", NULL },
	{ "ls-tree", "", NULL },
	{ "maintenance", "", NULL },
	{ "merge", "S", SIGNS },
	{ "merge-base", "", NULL },
	{ "mv", "", NULL },
	{ "name-rev", "", NULL },
	{ "notes", "", NULL },
	{ "prune", "", NULL },
	{ "pull", "S", SIGNS },
	{ "push", "", NULL },
	{ "range-diff", "", NULL },
	{ "rebase", "xS", "-x runs a program, " SIGNS },
	{ "reflog", "", NULL },
	{ "remote", "", NULL },
	{ "rerere", "", NULL },
	{ "reset", "", NULL },
	{ "restore", "", NULL },
	{ "rev-list", "", NULL },
	{ "rev-parse", "", NULL },
	{ "revert", "S", SIGNS },
	{ "rm", "", NULL },
	{ "shortlog", "", NULL },
	{ "show", "", NULL },
	{ "show-branch", "", NULL },
	{ "show-ref", "", NULL },
	{ "sparse-checkout", "", NULL },
	{ "stash", "", NULL },
	{ "status", "", NULL },
	{ "switch", "", NULL },
	{ "symbolic-ref", "", NULL },
	{ "tag", "su", "-s and -u sign with a key" },
	{ "update-index", "", NULL },
	{ "update-ref", "", NULL },
	{ "var", "", NULL },
	{ "version", "", NULL },
	{ "whatchanged", "", NULL },
};
const size_t git_command_count = ARRAY_SIZE(git_command_table);

// Long options that name a program, a configuration or a key, of any command.
static const char *const refused_options[] = {
	"--config",       "--config-env", "--exec",           "--exec-path",
	"--ext-diff",     "--extcmd",     "--gpg-sign",       "--open-files-in-pager",
	"--receive-pack", "--sign",       "--show-signature", "--strategy",
	"--template",     "--tool",       "--upload-pack",
};

// Splits a value as git does. Stores whether a quotation mark is open at the end.
static strings split_words(struct arena *arena, const char *value, bool *ret_open)
{
	struct text word = { .arena = arena };
	strings words = { 0 };
	char quote = '\0';
	bool started = false;

	for (const char *s = value; *s; s++) {
		if (!quote && strchr(" \t\n\r", *s)) {
			if (started)
				vec_push(arena, &words, arena_strdup(arena, text_get(&word)));
			word = (struct text){ .arena = arena };
			started = false;
			continue;
		}
		started = true;
		if (!quote && (*s == '"' || *s == '\''))
			quote = *s;
		else if (quote == *s)
			quote = '\0';
		else if (*s == '\\' && quote != '\'' && s[1])
			text_add_bytes(&word, ++s, 1);
		else
			text_add_bytes(&word, s, 1);
	}
	if (started)
		vec_push(arena, &words, text_get(&word));
	*ret_open = quote != '\0';
	return words;
}

// Returns whether a word can stand for an option that is refused. "--pretty=x" is compared without
// its value.
static bool is_refused(const struct git_command_row *command, const char *word)
{
	size_t length = strcspn(word, "=");

	if (word[0] != '-' || !word[1] || str_equal(word, "--"))
		return false;
	if (word[1] != '-')
		return strpbrk(word + 1, command->refused) != NULL;
	for (size_t i = 0; i < ARRAY_SIZE(refused_options); i++)
		if (strncmp(refused_options[i], word, length) == 0)
			return true;
	return false;
}

strings git_alias_words(struct arena *arena, const char *value)
{
	bool open;

	return split_words(arena, value, &open);
}

// Returns whether a word is an address whose scheme is a program: ext::sh, --repo=ext::sh.
static bool names_helper(const char *word)
{
	const char *value = word[0] == '-' ? strchr(word, '=') : NULL;
	const char *name = value ? value + 1 : word;
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789+.-");

	return length && str_starts(name + length, "::") && !str_starts(name, "format::");
}

// Returns whether `git config` sets something: it has more than the name of a setting.
static bool sets_value(const strings *words)
{
	size_t count = 0;

	for (size_t i = 1; i < words->count; i++) {
		const char *word = words->items[i];

		count += word[0] != '-' &&
			 !(i == 1 && (str_equal(word, "get") || str_equal(word, "list")));
	}
	return count > 1;
}

bool git_alias_is_plain(struct arena *arena, const char *value)
{
	const struct git_command_row *command = NULL;
	bool open;
	strings words = split_words(arena, value, &open);

	if (!words.count || open)
		return false;
	for (size_t i = 0; i < git_command_count; i++)
		if (str_equal(git_command_table[i].name, words.items[0]))
			command = &git_command_table[i];
	if (!command || (str_equal(command->name, "config") && sets_value(&words)))
		return false;
	for (size_t i = 1; i < words.count; i++)
		if (is_refused(command, words.items[i]) || names_helper(words.items[i]))
			return false;
	return true;
}
