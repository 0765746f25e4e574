// SPDX-License-Identifier: MIT
// Paths that Claude's files name: imports of instructions, directories in settings, MCP servers.
//
// Theory of operation: Claude reads "@path" in a CLAUDE.md as an import, outside of code. None of
// these paths is mounted by itself. The user's own files decide what is offered. The repository
// decides nothing: its paths are compared as texts, and no file that it names is looked at, because
// a look can block or start a network mount.
#include "plan/claude/named_paths.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/claude/commands.h"
#include "plan/claude/settings.h"
#include "plan/facts.h"
#include "plan/mounts.h"
#include "plan/plan.h"
#include "plan/project.h"

#include <string.h>

#define BY_REPOSITORY "named by the repository"

enum { MOST_IMPORTS = 64, MOST_NAMED = 64, LISTED_OF_REPOSITORY = 5 };

// Returns the end of a code span that starts at this backquote, or the next character.
static const char *skip_code(const char *s)
{
	size_t quotes = strspn(s, "`");

	for (const char *end = s + quotes; (end = strchr(end, '`'));) {
		size_t found = strspn(end, "`");

		end += found;
		if (found == quotes)
			return end;
	}
	return s + quotes;
}

// Returns the word after "@", up to a blank that no backslash precedes.
static const char *read_import(struct arena *arena, const char *s)
{
	struct text word = { .arena = arena };

	for (; *s && !strchr(" \t\r", *s); s++) {
		if (*s == '\\' && s[1] == ' ')
			s++;
		else if (*s == '\\')
			break;
		text_add_bytes(&word, s, 1);
	}
	return text_get(&word);
}

static void find_in_line(struct arena *arena, const char *line, strings *found)
{
	const char *s = line;

	while (*s && found->count < MOST_IMPORTS) {
		if (*s == '`') {
			s = skip_code(s);
			continue;
		}
		if (*s == '@' && (s == line || strchr(" \t", s[-1])))
			vec_push(arena, found, read_import(arena, s + 1));
		s++;
	}
}

strings claude_find_imports(struct arena *arena, const char *text)
{
	strings found = { 0 };
	bool fenced = false;

	for (const char *line; (line = str_next_line(arena, &text));) {
		const char *start = line + strspn(line, " ");

		if (str_starts(start, "```") || str_starts(start, "~~~"))
			fenced = !fenced;
		else if (!fenced)
			find_in_line(arena, line, &found);
	}
	return found;
}

const char *claude_import_path(struct arena *arena, const struct facts *facts, const char *file,
			       const char *written)
{
	const char *path = arena_strndup(arena, written, strcspn(written, "#"));

	if (!*path || str_equal(path, "/") || strchr("@%^&*()", *path))
		return "";
	path = path_expand_home(arena, path, facts->home);
	return path_clean(arena, path_join(arena, path_parent(arena, file), path));
}

strings claude_additional_directories(struct arena *arena, const char *text)
{
	JSON_OWNED *settings = json_read_object(text, 0);
	json_t *list =
		json_object_get(json_object_get(settings, "permissions"), "additionalDirectories");
	strings found = { 0 };
	json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry) {
		const char *written = json_string_value(entry);

		if (written && *written && found.count < MOST_NAMED)
			vec_push(arena, &found, arena_strdup(arena, written));
	}
	return found;
}

// Adds a path that the repository names, if it leads out of the project, or the name of a program.
static void add_of_repository(struct facts *facts, struct arena *arena, const char *file,
			      const char *path)
{
	bool program = !strchr(path, '/');

	if ((path[0] != '/' && !program) || path_within(path, facts->project) ||
	    facts->named.count >= MOST_NAMED)
		return;
	vec_each(known, &facts->named) {
		if (known->repository && str_equal(known->file.path, path))
			return;
	}
	vec_push(arena, &facts->named,
		 (struct named_facts){ .file = { .path = path, .real = path },
				       .by = file,
				       .repository = true,
				       .program = program });
}

void claude_add_repository_imports(struct facts *facts, struct arena *arena, const char *file,
				   const char *text)
{
	strings imports = claude_find_imports(arena, text);

	vec_each(written, &imports)
		add_of_repository(facts, arena, file,
				  claude_import_path(arena, facts,
						     path_join(arena, facts->project, file),
						     *written));
}

// Adds a word of a command if it is a path.
static void add_word(struct facts *facts, struct arena *arena, const char *file, const json_t *word)
{
	const char *written = json_string_value(word);

	if (written && *written && (strchr("/~$", *written) || str_starts(written, "../")))
		add_of_repository(facts, arena, file,
				  plan_written_path(arena, facts, arena_strdup(arena, written)));
}

void claude_add_repository_settings(struct facts *facts, struct arena *arena, const char *file,
				    const char *text)
{
	JSON_OWNED *settings = json_read_object(text, 0);
	strings added = claude_additional_directories(arena, text);
	strings words = { 0 };
	const char *server;
	json_t *entry;
	json_t *word;
	size_t i;

	vec_each(written, &added)
		add_of_repository(facts, arena, file, plan_written_path(arena, facts, *written));
	settings_add_words(arena, facts->home, text, &words);
	json_object_foreach(json_object_get(settings, "mcpServers"), server, entry) {
		const char *program = json_string_value(json_object_get(entry, "command"));

		if (program && *program && !strpbrk(program, "/~$ "))
			vec_push(arena, &words, arena_strdup(arena, program));
		add_word(facts, arena, file, json_object_get(entry, "command"));
		json_array_foreach(json_object_get(entry, "args"), i, word)
			add_word(facts, arena, file, word);
	}
	vec_each(name, &words)
		add_of_repository(facts, arena, file, *name);
}

// Returns the option that brings a file or directory. ':' separates the destination of a mount. A
// mount cannot lie in the box's own ~/.claude; Claude reads such a file as part of its prompt.
static const char *bring_option(const struct plan *plan, struct arena *arena, const char *path)
{
	const char *shown = path_tilde(arena, path, plan->home);
	struct text word = { .arena = arena };

	if (path_within(path, path_join(arena, plan->home, ".claude")))
		return arena_printf(arena, "--append-system-prompt-file %s",
				    quote_word(arena, shown, 0));
	for (const char *s = shown; *s; s++) {
		if (*s == ':')
			text_add(&word, "\\");
		text_add_bytes(&word, s, 1);
	}
	return arena_printf(arena, "--mount-ro %s", quote_word(arena, text_get(&word), 0));
}

static void offer(struct plan *plan, struct arena *arena, const struct facts *facts,
		  const struct named_facts *named)
{
	const char *path = named->file.path;
	bool secret = plan_near_secret(facts, named->file.real) || plan_near_secret(facts, path);

	if (claude_visible_in_box(plan, arena, facts, path_clean(arena, path)) &&
	    (str_equal(path, named->file.real) ||
	     claude_visible_in_box(plan, arena, facts, named->file.real)))
		return;
	plan_leave_out(plan, arena, quote_word(arena, path_tilde(arena, path, plan->home), 120),
		       secret ? arena_printf(arena, "named by %s; it leads to a secret place",
					     named->by)
			      : arena_printf(arena, "named by %s", named->by),
		       secret ? NULL : bring_option(plan, arena, path));
}

// Returns whether the box lacks what the repository names.
static bool is_lacking(const struct plan *plan, struct arena *arena, const struct facts *facts,
		       const struct named_facts *named)
{
	struct command_lack ignored;

	return named->program ? !command_has_program(plan, arena, facts, named->file.path, &ignored)
			      : !plan_provides(plan, named->file.path);
}

// Lists what the repository names. None of it is offered.
static void list_of_repository(struct plan *plan, struct arena *arena, const struct facts *facts,
			       bool programs)
{
	size_t listed = 0;

	vec_each(named, &facts->named) {
		const char *path = path_tilde(arena, named->file.path, plan->home);

		if (!named->repository || named->program != programs ||
		    !is_lacking(plan, arena, facts, named))
			continue;
		if (listed++ < LISTED_OF_REPOSITORY)
			plan_leave_out(plan, arena,
				       arena_printf(arena, "%s%s", programs ? "program " : "",
						    quote_word(arena, path, 120)),
				       arena_printf(arena, BY_REPOSITORY ", in %s", named->by),
				       NULL);
	}
	if (listed > LISTED_OF_REPOSITORY)
		plan_leave_out(plan, arena,
			       arena_printf(arena, "%zu more %s", listed - LISTED_OF_REPOSITORY,
					    programs ? "programs" : "paths"),
			       BY_REPOSITORY, NULL);
}

void plan_leave_out_named(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	if (plan->config->payload != PAYLOAD_CLAUDE)
		return;
	vec_each(named, &facts->named) {
		if (!named->repository)
			offer(plan, arena, facts, named);
	}
	list_of_repository(plan, arena, facts, false);
}

void plan_leave_out_programs(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	if (plan->config->payload == PAYLOAD_CLAUDE)
		list_of_repository(plan, arena, facts, true);
}

// Returns whether a text has a path or a name of a program, as a word.
static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *s = text; length && (s = strstr(s, word)); s += length)
		if ((s == text || strchr(" '\"", s[-1])) &&
		    (!s[length] || strchr(" ,'\")", s[length])))
			return true;
	return false;
}

void plan_drop_named_twice(struct plan *plan)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->left_out.count; i++) {
		const struct plan_left_out row = plan->left_out.items[i];
		const char *program = str_after(row.what, "program ");
		bool twice = false;

		if (str_starts(row.why, BY_REPOSITORY))
			vec_each(other, &plan->left_out)
				twice |= !str_starts(other->why, BY_REPOSITORY) &&
					 (has_word(other->what, program ? program : row.what) ||
					  has_word(other->why, program ? program : row.what));
		if (!twice)
			plan->left_out.items[kept++] = row;
	}
	plan->left_out.count = kept;
}
