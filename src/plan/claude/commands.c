// SPDX-License-Identifier: MIT
// Decides whether programs and files that Claude's configuration names are in the box.
//
// Theory of operation: the probe looks for every name and path on the host and stores where each
// leads (facts->user_claude.command_files). A path is in the box if the mounts of the plan provide
// it, and if they also provide the file that a link at that path leads to.
#include "plan/claude/commands.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/claude/files.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/project.h"

#include <string.h>

enum { SHOWN_PATH = 120, SCRIPT_DEPTH = 3 };

// Returns whether the first word of a command is a part of the shell, or is too complex to be
// checked, so that it is not searched for on PATH.
static bool is_shell_word(const char *word)
{
	static const char *const words[] = { "if",     "for",     "while", "case",  "test", "echo",
					     "cd",     "exit",    "true",  "false", "set",  "exec",
					     "eval",   "printf",  "read",  ".",     "[",    "[[",
					     "export", "command", "jq" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_equal(word, words[i]))
			return true;
	return strpbrk(word, "=$`(){}<>|&;!\\*?") != NULL;
}

static const struct followed *find_file(const struct facts *facts, const char *path)
{
	vec_each(file, &facts->user_claude.command_files) {
		if (str_equal(file->path, path))
			return file;
	}
	return NULL;
}

// Returns whether the box has the links on the way to a path, and the file behind them: /bin/sh,
// where /bin is a link.
static bool is_behind_links(const struct plan *plan, const struct facts *facts, const char *path)
{
	const struct followed *file = find_file(facts, path);
	bool has_links = file && file->hops.count && file->kind != FILE_MISSING;

	for (size_t i = 0; has_links && i < file->hops.count; i++)
		has_links = plan_provides(plan, file->hops.items[i].link);
	return has_links && plan_provides(plan, file->real);
}

bool claude_visible_in_box(const struct plan *plan, struct arena *arena, const struct facts *facts,
			   const char *path)
{
	const char *own = path_join(arena, facts->home, ".claude");

	vec_each(entry, &facts->user_claude.entries) {
		if (path_within(path, path_join(arena, own, path_name(entry->path))))
			return claude_parts_have(&facts->user_claude.parts, path + strlen(own) + 1);
	}
	// The box has its own ~/.claude: only the entries above are the host's.
	if (path_within(path, own))
		return false;
	return plan_provides(plan, path) || is_behind_links(plan, facts, path) ||
	       path_within(path, "/dev") || path_within(path, "/tmp");
}

// Returns the mount of a host path that the box has at this path, NULL: it is another one.
static const struct plan_mount *find_mount(const struct plan *plan, const char *path)
{
	const struct plan_mount *found = NULL;

	vec_each(mount, &plan->mounts) {
		if (path_within(path, mount->path) &&
		    (plan_from_host(mount) || mount->kind == MOUNT_EMPTY ||
		     str_equal(mount->path, path)))
			found = mount;
	}
	return found;
}

// Returns the path on the host of a path in the box, NULL: it is not from the host.
static const char *host_path(const struct plan *plan, struct arena *arena, const char *path)
{
	const struct plan_mount *mount = find_mount(plan, path);

	if (!mount || !plan_from_host(mount))
		return NULL;
	return arena_printf(arena, "%s%s", mount->source, path + strlen(mount->path));
}

// Returns whether the links at a path of the box lead to files of the box.
static bool leads_into_box(const struct plan *plan, struct arena *arena, const struct facts *facts,
			   const char *path)
{
	const struct followed *file = find_file(facts, path);
	const char *outside = host_path(plan, arena, path);

	if (!file || file->kind == FILE_MISSING || str_equal(file->real, file->path) ||
	    str_equal(outside, file->real) ||
	    path_within(path, path_join(arena, facts->home, ".claude")))
		return true;
	return claude_visible_in_box(plan, arena, facts, file->real);
}

static const char *shown(const struct plan *plan, struct arena *arena, const char *path)
{
	return quote_word(arena, path_tilde(arena, path, plan->home), SHOWN_PATH);
}

// Returns the lack of a path. The directory around it comes along, because a script uses the files
// beside it, unless it contains more than scripts.
static struct command_lack lack_of_path(const struct plan *plan, struct arena *arena,
					const struct facts *facts, const char *path, bool program)
{
	const struct followed *file = find_file(facts, path);
	bool reached = claude_visible_in_box(plan, arena, facts,
					     path); // only the target of its link is not
	const char *name = shown(plan, arena, path);
	const char *wanted;
	const char *around;

	if (!file || file->kind == FILE_MISSING)
		return (struct command_lack){ .why = arena_printf(arena, "%s is not in the box",
								  name) };
	wanted = reached ? file->real : path;
	around = file->kind == FILE_DIRECTORY ? wanted : path_parent(arena, wanted);
	if (plan_near_secret(facts, file->real) && !path_within(facts->home, file->real))
		return (struct command_lack){ .why = arena_printf(
						      arena, "%s leads to a secret place", name) };
	if (plan_near_secret(facts, around)) {
		around = wanted;
		program = false;
	}
	return (struct command_lack){
		.why = arena_printf(arena, "%s%s is not in the box", program ? "its program " : "",
				    name),
		.option = plan_near_secret(facts, around)
				  ? NULL
				  : arena_printf(arena, "--%s %s", program ? "path" : "mount-ro",
						 shown(plan, arena, around)),
	};
}

// Returns whether the box has what is at an absolute path of the host.
static bool has_path(const struct plan *plan, struct arena *arena, const struct facts *facts,
		     const char *path, bool program, struct command_lack *ret_lack)
{
	const char *clean = path_clean(arena, path);

	if (claude_visible_in_box(plan, arena, facts, clean) &&
	    leads_into_box(plan, arena, facts, clean))
		return true;
	*ret_lack = lack_of_path(plan, arena, facts, clean, program);
	return false;
}

// Returns whether a directory of the box's PATH has a program.
static bool is_in_directory(const struct plan *plan, struct arena *arena, const struct facts *facts,
			    const char *directory, const char *name)
{
	const char *path = path_join(arena, directory, name);
	const struct plan_mount *mount = find_mount(plan, path);
	const char *outside = host_path(plan, arena, path);
	const struct followed *file = outside ? find_file(facts, outside) : NULL;

	if (mount && str_equal(mount->path, path))
		return true;
	return mount && file && file->kind == FILE_REGULAR &&
	       (mount->kept_home || str_equal(file->real, outside) ||
		plan_provides(plan, file->real));
}

// Returns the lack of a program that is to be found on PATH.
static struct command_lack lack_of_name(const struct plan *plan, struct arena *arena,
					const struct facts *facts, const char *name)
{
	vec_each(file, &facts->user_claude.command_files) {
		const char *directory = path_parent(arena, file->path);

		if (file->kind == FILE_REGULAR && str_equal(path_name(file->path), name) &&
		    !plan_provides(plan, directory))
			return lack_of_path(plan, arena, facts, file->path, true);
	}
	return (struct command_lack){ .why = arena_printf(arena, "its program %s is not in the box",
							  shown(plan, arena, name)) };
}

// Returns whether a program of the box works only with a service of the host that the box lacks.
static bool lacks_service(const struct plan *plan, const char *program)
{
	static const char *const sockets[] = { "/var/run/docker.sock", "/run/docker.sock" };

	if (!str_equal(path_name(program), "docker") || plan_variable(plan, "DOCKER_HOST"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(sockets); i++)
		if (plan_provides(plan, sockets[i]))
			return false;
	return true;
}

bool command_has_program(const struct plan *plan, struct arena *arena, const struct facts *facts,
			 const char *program, struct command_lack *ret_lack)
{
	const char *path = plan_variable(plan, "PATH");

	if (lacks_service(plan, program)) {
		*ret_lack = (struct command_lack){
			.why = "its program docker cannot run: the box has no Docker service"
		};
		return false;
	}
	if (program[0] == '/')
		return has_path(plan, arena, facts, program, true, ret_lack);
	if (strchr(program, '/'))
		return true; // in the project
	for (const char *s = path; s && *s; s += *s == ':') {
		size_t length = strcspn(s, ":");

		if (is_in_directory(plan, arena, facts, arena_strndup(arena, s, length), program))
			return true;
		s += length;
	}
	*ret_lack = lack_of_name(plan, arena, facts, program);
	return false;
}

bool command_on_host(const struct facts *facts, const char *program)
{
	vec_each(file, &facts->user_claude.command_files) {
		if (file->kind == FILE_REGULAR &&
		    str_equal(program[0] == '/' ? file->path : path_name(file->path), program))
			return true;
	}
	return false;
}

const char *command_path(const char *argument)
{
	const char *value = argument[0] == '-' ? strchr(argument, '=') : NULL;

	argument = value ? value + 1 : argument;
	argument = str_starts(argument, "file://") ? argument + strlen("file://") : argument;
	return argument[0] == '/' && argument[1] ? argument : NULL;
}

bool command_has_file(const struct plan *plan, struct arena *arena, const struct facts *facts,
		      const char *argument, struct command_lack *ret_lack)
{
	const char *path = command_path(argument);
	const struct followed *file = path ? find_file(facts, path_clean(arena, path)) : NULL;

	return !file || file->kind == FILE_MISSING ||
	       has_path(plan, arena, facts, path, false, ret_lack);
}

// Returns whether a word is the option of a shell before a script: -c, -lc.
static bool is_script_option(const char *word)
{
	return word[0] == '-' && word[1] != '-' && str_ends(word, "c");
}

bool command_is_script(const char *program, const char *option)
{
	static const char *const shells[] = { "sh", "bash", "dash", "zsh", "ksh", "fish" };

	for (size_t i = 0; program && option && i < ARRAY_SIZE(shells); i++)
		if (str_equal(path_name(program), shells[i]))
			return is_script_option(option);
	return false;
}

// Adds the programs and the absolute paths of a shell command, and those of a script in it
// (sh -c 'SCRIPT').
static void add_words(struct arena *arena, const char *home, const char *command, int depth,
		      strings *words)
{
	const char *cursor = command;
	const char *first = NULL;
	const char *before = NULL;

	for (const char *word; (word = str_next_word(arena, &cursor)); before = word) {
		const char *path = path_expand_home(arena, word, home);

		if (command_is_script(first, before) && depth)
			add_words(arena, home, word, depth - 1, words);
		else if (path[0] == '/')
			vec_push(arena, words, path_clean(arena, path));
		else if (!first && !strchr(word, '/') && !is_shell_word(word))
			vec_push(arena, words, word);
		first = first ? first : word;
	}
}

void command_add_words(struct arena *arena, const char *home, const char *command, strings *words)
{
	if (command)
		add_words(arena, home, command, SCRIPT_DEPTH, words);
}

// Returns whether a word is the program of the command itself.
static bool is_program(struct arena *arena, const char *home, const char *command, const char *word)
{
	const char *first = str_next_word(arena, &command);

	first = first ? path_expand_home(arena, first, home) : "";
	return str_equal(word, first[0] == '/' ? path_clean(arena, first) : first);
}

void command_find_lacks(const struct plan *plan, struct arena *arena, const struct facts *facts,
			const char *command, bool script, command_lacks *lacks)
{
	strings words = { 0 };

	command_add_words(arena, facts->home, command, &words);
	vec_each(word, &words) {
		const struct followed *file = find_file(facts, *word);
		bool missing = **word == '/' ? file && file->kind == FILE_MISSING
					     : !command_on_host(facts, *word);
		struct command_lack lack;

		// What the host does not have either is a file to write, a word of the shell, or no
		// name at all, unless it is the program.
		if (missing && (script || !is_program(arena, facts->home, command, *word)))
			continue;
		if (**word == '/' ? !has_path(plan, arena, facts, *word, false, &lack)
				  : !command_has_program(plan, arena, facts, *word, &lack))
			vec_push(arena, lacks, lack);
	}
}

// Returns what an option brings, without its name.
static const char *option_value(const char *option)
{
	return option + strcspn(option, " ");
}

struct command_lack command_join_lacks(struct arena *arena, const command_lacks *lacks)
{
	struct text why = { .arena = arena };
	struct text options = { .arena = arena };
	bool all = true;

	for (size_t i = 0; i < lacks->count; i++) {
		const struct command_lack *lack = &lacks->items[i];
		bool said = false;
		bool brought = false;

		for (size_t k = 0; k < i; k++) {
			const struct command_lack *other = &lacks->items[k];

			said |= str_equal(lack->why, other->why);
			brought |=
				lack->option && other->option &&
				str_equal(option_value(lack->option), option_value(other->option));
		}
		if (!said)
			text_printf(&why, "%s%s", why.length ? ", " : "", lack->why);
		if (!brought && lack->option && *lack->option)
			text_printf(&options, "%s%s", options.length ? " " : "", lack->option);
		all = all && lack->option;
	}
	return (struct command_lack){ .why = text_get(&why),
				      .option = all ? text_get(&options) : NULL };
}
