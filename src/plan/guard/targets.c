// SPDX-License-Identifier: MIT
// Files that the user's own git configuration names, with the reason of each row.
//
// Theory of operation: a setting such as core.fsmonitor=./tools/watch is the user's, and stays as
// it is. But the box may write ./tools/watch, and the next `git status` outside runs it. So a file
// of the project that such a setting names is a place like a row of the table in places.c. Of a
// command line, each word that is a path counts: `sh ./tools/x` runs a file that is no program. A
// plain word is searched in PATH, where a box cannot write. A directory in a command line does not
// count: `eslint src/` does not run what is in it, and a box has to write there. A relative path is
// one from the top of the worktree, so it counts in each worktree and, if the setting is one of the
// user, in each repository of the project.
#include "plan/guard/targets.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/git/settings.h"
#include "plan/guard/facts.h"
#include "plan/guard/places.h"

#include <ctype.h>
#include <string.h>

#define JUDGED_TARGET(section_, keys_, value_, host_, judge_, why_)                   \
	{                                                                             \
		.section = (section_), .keys = (keys_), .value = (value_), .place = { \
			.name = "",                                                   \
			.scope = GUARD_TOP,                                           \
			.directory = true,                                            \
			.host = (host_),                                              \
			.decision = GUARD_PROTECTED,                                  \
			.judge = (judge_),                                            \
			.why = (why_)                                                 \
		}                                                                     \
	}
#define TARGET(section_, keys_, value_, host_, why_) \
	JUDGED_TARGET(section_, keys_, value_, host_, JUDGE_NONE, why_)
#define PROGRAM(section_, keys_, why_) TARGET(section_, keys_, VALUE_COMMAND, HOST_EXECUTES, why_)

const struct guard_target_row guard_target_table[] = {
	// Configuration, which can name any program.
	TARGET("include", "path", VALUE_INCLUDE, HOST_EXECUTES,
	       "git runs the programs that it names, by include.path"),
	TARGET("includeif.*", "path", VALUE_INCLUDE, HOST_EXECUTES,
	       "git runs the programs that it names, by includeIf"),
	JUDGED_TARGET("core", "hookspath", VALUE_FILE, HOST_EXECUTES, JUDGE_HOOKS,
		      "git runs the programs in it"),
	TARGET("init", "templatedir", VALUE_FILE, HOST_EXECUTES,
	       "git copies its hooks into new repositories"),
	TARGET("core", "attributesfile", VALUE_FILE, HOST_EXECUTES,
	       "git runs the filters that it names"),
	// Programs that run for common commands.
	PROGRAM("core", "fsmonitor", "git runs it by core.fsmonitor"),
	PROGRAM("core", "sshcommand gitproxy askpass alternaterefscommand",
		"git runs it to reach a server"),
	PROGRAM("core", "editor pager", "git runs it to show or edit a text"),
	PROGRAM("sequence", "editor", "git runs it for a rebase"),
	PROGRAM("pager", "*", "git runs it to show a text"),
	PROGRAM("interactive", "difffilter", "git runs it for `git add -p`"),
	PROGRAM("hook.*", "command", "git runs it as a hook"),
	PROGRAM("filter.*", "clean smudge process", "git runs it as a filter"),
	PROGRAM("diff", "external", "git runs it for `git diff`"),
	PROGRAM("diff.*", "textconv command", "git runs it for `git diff`"),
	PROGRAM("merge.*", "driver", "git runs it for a merge"),
	PROGRAM("difftool.*", "cmd path", "git runs it for `git difftool`"),
	PROGRAM("mergetool.*", "cmd path", "git runs it for `git mergetool`"),
	PROGRAM("gpg", "program", "git runs it for signatures"),
	PROGRAM("gpg.*", "program defaultkeycommand", "git runs it for signatures"),
	PROGRAM("credential", "helper", "git runs it for a login"),
	PROGRAM("credential.*", "helper", "git runs it for a login"),
	PROGRAM("remote.*", "uploadpack receivepack",
		"git runs it for a repository on this machine"),
	PROGRAM("uploadpack", "packobjectshook", "git runs it for a fetch"),
	PROGRAM("gc", "recentobjectshook", "git runs it for `git gc`"),
	PROGRAM("trailer.*", "command cmd", "git runs it for trailers"),
	PROGRAM("tar.*", "command", "git runs it for `git archive`"),
	PROGRAM("browser.*", "cmd path", "git runs it for `git help --web`"),
	PROGRAM("man.*", "cmd path", "git runs it for `git help`"),
	PROGRAM("guitool.*", "cmd", "git runs it from its menu"),
	PROGRAM("sendemail", "sendmailcmd tocmd cccmd headercmd",
		"git runs it for `git send-email`"),
	// A shell.
	TARGET("alias", "*", VALUE_SHELL, HOST_EXECUTES, "git runs it for an alias"),
	TARGET("alias.*", "*", VALUE_SHELL, HOST_EXECUTES, "git runs it for an alias"),
	TARGET("submodule.*", "update", VALUE_SHELL, HOST_EXECUTES,
	       "git runs it for `git submodule update`"),
};
const size_t guard_target_count = ARRAY_SIZE(guard_target_table);

enum { VALUE_LIMIT = 65536, QUOTED_LINES = 2 };

// Returns whether a list that is separated by blanks has a word; "*" has all.
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	if (str_equal(list, "*"))
		return true;
	for (const char *at = list; at; at = strchr(at, ' ')) {
		at += *at == ' ';
		if (strncmp(at, word, length) == 0 && (!at[length] || at[length] == ' '))
			return true;
	}
	return false;
}

static bool matches(const struct guard_target_row *row, const struct git_name *name)
{
	const char *rest = str_after(row->section, name->section);

	return rest && str_equal(rest, name->subsection ? ".*" : "") &&
	       has_word(row->keys, name->key);
}

const struct guard_target_row *guard_target_row(struct arena *arena, const char *name)
{
	struct git_name parts = git_name_split(arena, name);

	for (size_t i = 0; i < guard_target_count; i++)
		if (matches(&guard_target_table[i], &parts))
			return &guard_target_table[i];
	return NULL;
}

// Returns the next word of a shell command line without its quotes, and moves the cursor behind it;
// NULL at the end. Separators of commands end a word, and so does '=' of "--file=./x".
static const char *next_word(struct arena *arena, const char **cursor)
{
	static const char ends[] = " \t\r\n;|&()<>`=,:";
	struct text word = { .arena = arena };
	const char *at = *cursor + strspn(*cursor, ends);
	char quote = '\0';

	if (!*at)
		return NULL;
	// $(git rev-parse --show-toplevel)/x
	if (*at == '/' && at > *cursor && strchr(")`", at[-1]))
		text_add(&word, ".");
	for (; *at && (quote || !strchr(ends, *at)); at++) {
		if (*at == quote)
			quote = '\0';
		else if (!quote && (*at == '\'' || *at == '"'))
			quote = *at;
		else if (*at == '\\' && quote != '\'' && at[1])
			text_add_bytes(&word, ++at, 1);
		else
			text_add_bytes(&word, at, 1);
	}
	*cursor = at;
	return text_get(&word);
}

// Returns whether a word without a '/' is the name of a script, as in "sh x.sh".
static bool is_script(const char *word)
{
	static const char *const ends[] = { ".sh",  ".bash", ".zsh", ".py", ".js",  ".mjs",
					    ".cjs", ".ts",   ".pl",  ".rb", ".php", ".lua" };

	for (size_t i = 0; *word != '-' && i < ARRAY_SIZE(ends); i++)
		if (str_ends(word, ends[i]) && strlen(word) > strlen(ends[i]))
			return !strpbrk(word, "*?\n$");
	return false;
}

// Returns the path that a word of a command line is, NULL: it is none. A variable at its start, as
// in "$PWD/x", stands for the top of the worktree, except $HOME.
static const char *word_path(const char *word)
{
	const char *slash = strchr(word, '/');
	const char *rest = str_starts(word, "$HOME/") || str_starts(word, "${HOME}/") ? slash
										      : word;

	if (!slash)
		return is_script(word) ? word : NULL;
	if (str_ends(word, "/") || str_starts(word, "//"))
		return NULL;
	if (*rest == '$')
		word = rest = slash + 1;
	return *word && !strpbrk(rest, "*?\n$") ? word : NULL;
}

// Adds the paths of a command line.
static void add_words(struct arena *arena, strings *words, const char *line, int depth)
{
	const char *cursor = line;
	const char *word;

	while ((word = next_word(arena, &cursor))) {
		const char *path = word_path(word);

		if (path)
			vec_push(arena, words, path);
		// A line in quotes: sh -c './x y'
		if (depth && strpbrk(word, " \t;|&()=\"'"))
			add_words(arena, words, word, depth - 1);
	}
}

strings guard_target_words(struct arena *arena, const struct guard_target_row *row,
			   const char *value)
{
	strings words = { 0 };

	if (!value || !*value || strlen(value) > VALUE_LIMIT)
		return words;
	if (row->value == VALUE_FILE || row->value == VALUE_INCLUDE) {
		vec_push(arena, &words, value);
	} else if (row->value == VALUE_COMMAND || *value == '!') {
		add_words(arena, &words, value + (*value == '!'), QUOTED_LINES);
		// gpg.program and others are no command lines, and may contain blanks.
		if (strchr("/.~", *value) && strpbrk(value, " \t") && word_path(value))
			vec_push(arena, &words, value);
	}
	return words;
}

bool guard_is_git_data(const char *path)
{
	static const char *const names[] = {
		"annex",    "branches",    "config",       "description",  "gc.log",    "gc.pid",
		"hooks",    "index",       "info",         "lfs",          "logs",      "modules",
		"objects",  "packed-refs", "rebase-apply", "rebase-merge", "refs",      "reftable",
		"rr-cache", "sequencer",   "shallow",      "svn",          "worktrees",
	};
	size_t length = strcspn(path, "/");

	if (isupper((unsigned char)*path) || str_ends(path, ".lock"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == length && strncmp(path, names[i], length) == 0)
			return true;
	return false;
}

// Returns whether a path is directory/name, or lies below it.
static bool leads_to(const char *path, const char *directory, const char *name)
{
	const char *rest = str_after(path, directory);

	rest = rest && *rest == '/' ? str_after(rest + 1, name) : NULL;
	return rest && (*rest == '\0' || *rest == '/');
}

// Returns whether a component of a relative path is this name.
static bool has_component(const char *path, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = path; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (strncmp(at, name, length) == 0 && (!at[length] || at[length] == '/'))
			return true;
	}
	return false;
}

bool guard_target_may_be(const guard_targets *targets, const char *directory, const char *name)
{
	vec_each(target, targets) {
		if (target->path && (leads_to(target->path, directory, name) ||
				     (target->directory && path_within(directory, target->path))))
			return true;
		if (target->name && (has_component(target->name, name) ||
				     (target->directory && strstr(directory, target->name))))
			return true;
	}
	return false;
}

// Returns whether a name stands at one of the components of a path, in a worktree. `below`: the
// path ends within the name.
static bool has_name(const char *path, const char *name, bool directory, bool below,
		     guard_is_top is_top)
{
	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
		const char *rest = below ? str_after(name, at + 1) : str_after(at + 1, name);
		struct arena arena = { 0 };
		bool found = at > path && rest &&
			     (below ? *rest == '/' && at[1]
				    : *rest == '\0' || (directory && *rest == '/'));

		found = found && is_top(arena_strndup(&arena, path, (size_t)(at - path)));
		arena_free(&arena);
		if (found)
			return true;
	}
	return false;
}

const struct guard_row *guard_target_find(const guard_targets *targets, const char *path,
					  guard_is_top is_top)
{
	vec_each(target, targets) {
		if (target->path && (target->directory ? path_within(path, target->path)
						       : str_equal(path, target->path)))
			return target->row;
		if (target->name && has_name(path, target->name, target->directory, false, is_top))
			return target->row;
	}
	return NULL;
}

const struct guard_row *guard_target_find_below(const guard_targets *targets, const char *path,
						guard_is_top is_top)
{
	vec_each(target, targets) {
		if (target->path && path_within(target->path, path) &&
		    !str_equal(target->path, path))
			return target->row;
		if (target->name && has_name(path, target->name, target->directory, true, is_top))
			return target->row;
	}
	return NULL;
}
