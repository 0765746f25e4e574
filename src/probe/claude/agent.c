// SPDX-License-Identifier: MIT
// Finds claude and the files that it needs: an ELF file, a cli.js with node, or a wrapper script.
#include "probe/claude/agent.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/secrets/detect.h"
#include "plan/tables.h"
#include "probe/claude/arguments.h"
#include "probe/claude/npm_package.h"
#include "probe/loader.h"
#include "probe/programs.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { SCRIPT_LIMIT = 256 * 1024, HEAD_LENGTH = 256, MAX_WRAPPERS = 5 };

struct search {
	struct arena *arena;
	const struct facts *facts;
	struct agent_facts *agent;
	int wrappers;
};

// Where installers put claude, searched after PATH.
static const char *const installed_places[] = {
	"~/.local/bin/claude",
	"~/.claude/local/claude",
	"~/.local/share/claudebox/claude-code/node_modules/.bin/claude",
};

static bool resolve_program(struct search *search, const char *path, strings *ret_command);

// Records why claude cannot be started. Returns false.
static bool set_problem(struct search *search, const char *problem, const char *hint)
{
	search->agent->problem = problem;
	search->agent->hint = hint;
	return false;
}

static void add_required_file(struct search *search, const struct followed *file)
{
	vec_push(search->arena, &search->agent->needs, *file);
}

static bool is_executable(const char *path)
{
	return access(path, X_OK) == 0;
}

// Checks that `runner`, the loader or interpreter of a program, is in the box. A box with programs
// from the Nix store only does not have the host's /usr.
static bool check_runner(struct search *search, const char *path, const char *runner)
{
	struct arena *arena = search->arena;

	if (!search->facts->store.only || !runner || runner[0] != '/' ||
	    facts_store_has(search->facts, runner) ||
	    path_within(file_follow(arena, runner).real, NIX_STORE))
		return true;
	return set_problem(
		search,
		arena_printf(arena, "claude '%s' needs '%s', and the box has only the Nix store",
			     quote_display(arena, path, 0), quote_display(arena, runner, 0)),
		"install Claude Code with nix, or its native build for glibc; or set "
		"CLAUDEBOX_CLAUDE to the path of such an installation");
}

// Resolves a cli.js. It needs node, the whole npm package, and the image library that npm installs
// beside the package.
static bool resolve_node_script(struct search *search, const char *script, const char *interpreter,
				strings *ret_command)
{
	struct arena *arena = search->arena;
	bool usable = interpreter[0] == '/' &&
		      (!search->facts->store.only || path_within(interpreter, NIX_STORE));
	const char *node = usable ? interpreter
				  : probe_program(arena, search->facts, path_name(interpreter),
						  &search->agent->untrusted_programs);
	const char *package = probe_npm_package(arena, script);
	struct followed real_node;
	struct followed files;

	if (!node)
		return set_problem(
			search,
			arena_printf(arena, "'%s' needs node, which is not on PATH",
				     quote_display(arena, script, 0)),
			"install Node.js, or a newer Claude Code, which does not need it");
	real_node = file_follow(arena, node);
	add_required_file(search, &real_node);
	files = file_follow(arena, package ? package : script);
	add_required_file(search, &files);
	if (package) {
		const char *modules = path_parent(arena, path_parent(arena, package));
		struct followed images = file_follow(arena, path_join(arena, modules, "@img"));

		probe_npm_package_secrets(arena, package, &search->agent->argument_notes);
		if (str_equal(path_name(modules), "node_modules") && images.kind == FILE_DIRECTORY)
			add_required_file(search, &images);
	}
	vec_push(arena, ret_command, real_node.real);
	vec_push(arena, ret_command, script);
	return true;
}

// Adds a file that is an argument of the program. A script that names one file of a directory
// needs only that file; the package around Claude's own cli.js is the exception.
static void add_argument_file(struct search *search, const char *path)
{
	struct arena *arena = search->arena;
	struct followed file = file_follow(arena, path);
	const char *package = file.kind == FILE_REGULAR ? probe_npm_package(arena, file.real)
							: NULL;

	if (file.kind == FILE_DIRECTORY) {
		vec_push(arena, &search->agent->argument_notes,
			 arena_printf(arena,
				      "'%s', which the script that starts claude names, is a "
				      "directory and is not mounted; --mount-ro mounts it",
				      quote_word(arena, path, 120)));
		return;
	}
	if (package) {
		probe_npm_package_secrets(arena, package, &search->agent->argument_notes);
		file = file_follow(arena, package);
	} else if (file.kind != FILE_REGULAR)
		return;
	add_required_file(search, &file);
	if (!package)
		probe_argument_secret(search->agent, arena, path, file.real,
				      "the script that starts claude");
}

// Resolves the command after `exec` in a wrapper: the program, and the files among its arguments.
// Returns whether a program was found.
static bool resolve_exec(struct search *search, const char *line, const char *self,
			 strings *ret_command)
{
	struct arena *arena = search->arena;
	bool found = false;

	for (const char *word; (word = str_next_word(arena, &line));) {
		const char *path = path_expand_home(arena, word, search->facts->home);

		if (path[0] == '-' || path[0] == '$' || strchr(word, '='))
			continue;
		if (path[0] != '/' && !found)
			path = probe_program(arena, search->facts, word,
					     &search->agent->untrusted_programs);
		if (!path || path[0] != '/' || str_equal(file_follow(arena, path).real, self))
			continue;
		if (!found) {
			if (!resolve_program(search, path, ret_command))
				return false;
			found = true;
		} else {
			add_argument_file(search, path);
			vec_push(arena, ret_command, file_follow(arena, path).real);
		}
	}
	return found;
}

// Resolves a shell script that ends in `exec …`. The script runs unchanged in the box, so the
// program that it executes must be there too.
static bool resolve_wrapper(struct search *search, const struct followed *script,
			    strings *ret_command)
{
	struct arena *arena = search->arena;
	const char *text = file_read(arena, script->real, SCRIPT_LIMIT, 0);
	const char *replaced = path_join(arena, search->facts->home, ".claude");
	strings target = { 0 };
	const char *line;

	if (++search->wrappers > MAX_WRAPPERS)
		return set_problem(search, "claude is started through too many wrapper scripts",
				   "set CLAUDEBOX_CLAUDE to the path of the program itself");
	if (text && secret_text(NULL, text))
		search->agent->script_with_secret = script->path;
	while (text && (line = str_next_line(arena, &text))) {
		const char *start = line + strspn(line, " \t");
		const char *command = str_after(start, "exec ");

		if (command && !target.count &&
		    !resolve_exec(search, command, script->real, &target) && search->agent->problem)
			return false;
	}
	// The box has a ~/.claude of its own. A wrapper that runs a program in the host's ~/.claude
	// would not find it, so the program is started without the wrapper.
	vec_each(word, &target) {
		if (path_within(*word, replaced)) {
			*ret_command = target;
			return true;
		}
	}
	add_required_file(search, script);
	vec_push(arena, ret_command, script->real);
	return true;
}

// Returns the name or path of the interpreter in a "#!" line; env(1) and its options are skipped.
static const char *parse_interpreter(struct arena *arena, const char *head)
{
	const char *cursor = arena_strndup(arena, head + 2, strcspn(head + 2, "\n"));
	const char *program = str_next_word(arena, &cursor);

	if (program && str_equal(path_name(program), "env"))
		do {
			program = str_next_word(arena, &cursor);
		} while (program && (program[0] == '-' || strchr(program, '=')));
	return program;
}

static bool read_head(const char *path, char *head, size_t size)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t got = fd < 0 ? -1 : read(fd, head, size - 1);

	if (got < 0)
		return false;
	head[got] = '\0';
	return true;
}

// Resolves a script that a box can write. Paths in it are ignored: they could add any file of the
// host to the next box.
static bool resolve_box_writable(struct search *search, const struct followed *script,
				 const char *interpreter, strings *ret_command)
{
	const char *name = interpreter ? interpreter : "";

	search->agent->box_writable = script->path;
	if (str_equal(name, "node") || str_equal(name, "bun")) {
		const char *node = probe_program(search->arena, search->facts, name,
						 &search->agent->untrusted_programs);
		struct followed real_node = file_follow(search->arena, node ? node : "/");

		if (node) {
			add_required_file(search, &real_node);
			vec_push(search->arena, ret_command, real_node.real);
		}
	}
	add_required_file(search, script);
	vec_push(search->arena, ret_command, script->real);
	return true;
}

static bool resolve_script(struct search *search, const struct followed *script, const char *head,
			   strings *ret_command)
{
	struct arena *arena = search->arena;
	const char *interpreter = parse_interpreter(arena, head);
	const char *name = interpreter ? path_name(interpreter) : "";

	if (probe_writing_box(search->arena, search->facts, script))
		return resolve_box_writable(search, script, interpreter, ret_command);
	// The box contains the whole store, and a wrapper in the store runs programs of the store.
	if (path_within(script->real, NIX_STORE)) {
		vec_push(arena, ret_command, script->real);
		return true;
	}
	if (interpreter && (str_equal(name, "node") || str_equal(name, "bun")))
		return resolve_node_script(search, script->real, interpreter, ret_command);
	if (!check_runner(search, script->path, interpreter))
		return false;
	if (interpreter && interpreter[0] == '/' && !facts_store_has(search->facts, interpreter)) {
		struct followed program = file_follow(arena, interpreter);

		if (program.kind == FILE_REGULAR)
			add_required_file(search, &program);
	}
	return resolve_wrapper(search, script, ret_command);
}

// Adds the command that starts a program, and the files that it needs. Returns false with
// agent->problem set when it cannot be started.
static bool resolve_program(struct search *search, const char *path, strings *ret_command)
{
	struct arena *arena = search->arena;
	struct followed file = file_follow(arena, path);
	const char *shown = quote_display(arena, path, 0);
	char head[HEAD_LENGTH] = "";

	if (file.kind == FILE_MISSING)
		return set_problem(search, arena_printf(arena, "claude '%s' does not exist", shown),
				   "install Claude Code, or set CLAUDEBOX_CLAUDE to its path");
	if (file.kind != FILE_REGULAR || !is_executable(file.real) ||
	    !read_head(file.real, head, sizeof(head)))
		return set_problem(search,
				   arena_printf(arena, "claude '%s' is not executable", shown),
				   "reinstall Claude Code, or set CLAUDEBOX_CLAUDE to its path");
	if (memcmp(head, ELFMAG, SELFMAG) == 0) {
		if (search->facts->store.only &&
		    !check_runner(search, path, probe_loader(arena, file.real)))
			return false;
		add_required_file(search, &file);
		vec_push(arena, ret_command, file.real);
		if (probe_writing_box(arena, search->facts, &file))
			search->agent->box_writable = path;
		return true;
	}
	if (str_starts(head, "#!"))
		return resolve_script(search, &file, head, ret_command);
	return set_problem(search,
			   arena_printf(arena, "claude '%s' is neither an ELF program nor a script",
					shown),
			   "reinstall Claude Code, or set CLAUDEBOX_CLAUDE to its path");
}

// Returns the path of claude: $CLAUDEBOX_CLAUDE, a trusted one on PATH, or a trusted installed one.
static const char *find_claude(struct arena *arena, const struct facts *facts, strings *untrusted)
{
	const char *chosen = facts_variable(facts, "CLAUDEBOX_CLAUDE");
	const char *found;

	if (chosen && *chosen)
		return chosen;
	found = probe_program(arena, facts, "claude", untrusted);
	for (size_t i = 0; !found && i < ARRAY_SIZE(installed_places); i++) {
		const char *place = path_expand_home(arena, installed_places[i], facts->home);
		const char *problem;

		if (!is_executable(place))
			continue;
		problem = probe_trust_problem(arena, facts, place);
		if (!problem)
			found = place;
		else
			vec_push(arena, untrusted,
				 arena_printf(arena, "'%s' is ignored: %s",
					      quote_word(arena, place, 120), problem));
	}
	return found;
}

void probe_agent(struct agent_facts *agent, struct arena *arena, const struct facts *facts)
{
	struct search search = { .arena = arena, .facts = facts, .agent = agent };

	agent->found = find_claude(arena, facts, &agent->untrusted_programs);
	if (agent->found && agent->found[0] != '/') {
		// A relative path would name a different program in each project.
		set_problem(&search,
			    arena_printf(arena, "CLAUDEBOX_CLAUDE '%s' is not an absolute path",
					 quote_display(arena, agent->found, 0)),
			    "use an absolute path, which starts with '/'");
		return;
	}
	if (!agent->found && agent->untrusted_programs.count) {
		set_problem(
			&search,
			arena_printf(arena, "no trusted claude: %s",
				     agent->untrusted_programs.items[0]),
			"install Claude Code where only you can write, or set CLAUDEBOX_CLAUDE to "
			"its path");
		return;
	}
	if (!agent->found) {
		set_problem(&search, "claude (Claude Code) is not installed",
			    "install it, for example: `npm install -g --prefix ~/.local "
			    "@anthropic-ai/claude-code`; or set CLAUDEBOX_CLAUDE to its path");
		return;
	}
	resolve_program(&search, agent->found, &agent->command);
}
