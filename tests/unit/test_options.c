// SPDX-License-Identifier: MIT
// The command line: options of claudebox, arguments for claude, and the agreement of table,
// parser and help.
#include "base/arena.h"
#include "base/error.h"
#include "base/screen.h"
#include "base/text.h"
#include "base/width.h"
#include "check.h"
#include "config/claude/options.h"
#include "config/config.h"
#include "config/options/options.h"
#include "config/options/table.h"
#include "config/options/help.h"

#include <string.h>

enum { MOST_WORDS = 12 };

static struct arena arena;

// Splits at '|', so that a row of a table can have any argument.
static bool parse(const char *line, struct config *config, struct error *error)
{
	char *words[MOST_WORDS + 1] = { (char *)"claudebox" };
	int count = 1;

	*config = (struct config){ 0 };
	*error = (struct error){ .arena = &arena };
	for (const char *s = line; *s && count < MOST_WORDS;) {
		size_t length = strcspn(s, "|");

		words[count++] = arena_strndup(&arena, s, length);
		s += length + (s[length] == '|');
	}
	return options_parse(config, &arena, count, words, error) && options_check(config, error);
}

// "action output payload yes: <argument>…"
static const char *describe(const struct config *config)
{
	static const char *const actions[] = { [ACTION_LAUNCH] = "launch",
					       [ACTION_DRY_RUN] = "dry-run",
					       [ACTION_CHECK] = "check",
					       [ACTION_PROVE] = "prove",
					       [ACTION_HELP] = "help",
					       [ACTION_VERSION] = "version",
					       [ACTION_GC] = "gc",
					       [ACTION_INSTANCES] = "instances",
					       [ACTION_QUARANTINE] = "quarantine" };
	static const char *const payloads[] = {
		[PAYLOAD_CLAUDE] = "claude", [PAYLOAD_SHELL] = "shell", [PAYLOAD_EXEC] = "exec"
	};
	struct text out = { .arena = &arena };

	text_printf(&out, "%s%s %s%s:", actions[config->action],
		    config->output == OUTPUT_JSON ? "=json" : "", payloads[config->payload],
		    config->yes ? " yes" : "");
	vec_each(argument, &config->arguments)
		text_printf(&out, " <%s>", *argument);
	return text_get(&out);
}

static void test_accepted(void)
{
	static const char *const rows[][2] = {
		{ "", "launch claude:" },
		{ "-y", "launch claude yes:" },
		{ "--yes", "launch claude yes:" },
		{ "-p|hello|--yes", "launch claude yes: <-p> <hello>" },
		{ "--model|x|-y|--continue", "launch claude yes: <--model> <x> <--continue>" },
		{ "--instances=json", "instances=json claude:" },
		{ "--gc|-y", "gc claude yes:" },
		{ "--quarantine", "quarantine claude:" },
		{ "--quarantine=json", "quarantine=json claude:" },
		{ "--quarantine=clear|-y", "quarantine claude yes:" },
		{ "--quarantine=12", "quarantine claude:" },
		{ "--quarantine=1794996275314-0", "quarantine claude:" },
		{ "--gc|--dry-run", "gc claude:" },
		{ "--dry-run=json|--gc", "gc=json claude:" },
		{ "--|--yes|--dry-run", "launch claude: <--yes> <--dry-run>" },
		{ "a|--|b|--|c", "launch claude: <a> <--> <b> <--> <c>" },
		{ "-y|--|--|c", "launch claude yes: <--> <c>" },
		{ "-p|--|--yes", "launch claude: <-p> <--> <--yes>" },
		{ "--shell|-c|ls|--|--yes", "launch shell: <-c> <ls> <--> <--yes>" },
		{ "--dry-run", "dry-run claude:" },
		{ "--dry-run=json", "dry-run=json claude:" },
		{ "--check", "check claude:" },
		{ "--check=json", "check=json claude:" },
		{ "--check=json|--check", "check claude:" },
		{ "--prove", "prove exec:" },
		{ "--prove=json|--yes|--network|none", "prove=json exec yes:" },
		{ "--help", "help claude:" },
		{ "--version", "version claude:" },
		{ "--shell", "launch shell:" },
		{ "--shell|-c|ls", "launch shell: <-c> <ls>" },
		{ "--exec|ls|--yes|--help", "launch exec: <ls> <--yes> <--help>" },
		{ "--yes|--exec|--|ls", "launch exec yes: <ls>" },
		{ "--exec|--|--|x", "launch exec: <--> <x>" },
		{ "--exec|--|--yes", "launch exec: <--yes>" },
		{ "--exec|-x|--yes", "launch exec: <-x> <--yes>" },
		{ "--network|full", "launch claude:" },
		{ "--network|none", "launch claude:" },
		{ "--network|inet", "launch claude:" },
		{ "--network|inet|--host-port|5432|--publish|80", "launch claude:" },
		{ "--publish=80|--host-port=1|--network=inet|x", "launch claude: <x>" },
		{ "--report-fd|3", "launch claude:" },
		{ "--mount-ro|/x|--mount-rw=~/y:/z|a", "launch claude: <a>" },
		{ "--mount-ro|/a\\:b:/c\\:d", "launch claude:" },
		{ "--profile|work", "launch claude:" },
		{ "--profile=work|x", "launch claude: <x>" },
		{ "--network=full|x", "launch claude: <x>" },
		{ "-yy", "launch claude: <-yy>" },
		{ "-", "launch claude: <->" },
		{ "--yesterday", "launch claude: <--yesterday>" },
		{ "-h", "help claude:" },
		{ "-v", "version claude:" },
		{ "--|-h|-v", "launch claude: <-h> <-v>" },
		{ "-hv", "launch claude: <-hv>" },
		{ "--max-turns|3|-y", "launch claude yes: <--max-turns> <3>" },
		{ "--|--netwrok|--yes", "launch claude: <--netwrok> <--yes>" },
		{ "--model|--netwrok|-y", "launch claude yes: <--model> <--netwrok>" },
		{ "-p|--system-prompt|--dryrun",
		  "launch claude: <-p> <--system-prompt> <--dryrun>" },
		{ "--exec|ls|--netwrok", "launch exec: <ls> <--netwrok>" },
		{ "mcp|add|x|-y|--|cmd|--yes",
		  "launch claude: <mcp> <add> <x> <-y> <--> <cmd> <--yes>" },
		{ "-y|plugin|install|--yes", "launch claude yes: <plugin> <install> <--yes>" },
		{ "config|--netwrok|-h", "launch claude: <config> <--netwrok> <-h>" },
		{ "--model|x|doctor|-y", "launch claude: <--model> <x> <doctor> <-y>" },
		{ "--|mcp|list|--yes", "launch claude: <mcp> <list> <--yes>" },
		{ "--model|mcp|-y", "launch claude yes: <--model> <mcp>" }, // a value
		{ "-r|mcp|-y", "launch claude yes: <-r> <mcp>" },
		{ "-c|mcp|-y", "launch claude: <-c> <mcp> <-y>" },
		{ "--add-dir|a|mcp|-y", "launch claude yes: <--add-dir> <a> <mcp>" },
		{ "--add-dir|a|--verbose|mcp|-y",
		  "launch claude: <--add-dir> <a> <--verbose> <mcp> <-y>" },
		{ "fix|mcp|-y", "launch claude yes: <fix> <mcp>" },       // the second plain word
		{ "-p|mcp|-y", "launch claude yes: <-p> <mcp>" },         // -p: a prompt
		{ "-cp|mcp|-y", "launch claude yes: <-cp> <mcp>" },       // the same
		{ "--zork|mcp|-y", "launch claude yes: <--zork> <mcp>" }, // perhaps a value
		{ "--model|x|sync|-y", "launch claude yes: <--model> <x> <sync>" },
		{ "sync|-y", "launch claude: <sync> <-y>" },
		{ "--shell|mcp|-y", "launch shell yes: <mcp>" },
		{ "--shell|update|--bg", "launch shell: <update> <--bg>" },
		{ "-p|update", "launch claude: <-p> <update>" },
		{ "fix|update", "launch claude: <fix> <update>" },
		{ "update the parser", "launch claude: <update the parser>" },
		{ "-p|--|--bg", "launch claude: <-p> <--> <--bg>" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config config;
		struct error error;
		bool ok = parse(rows[i][0], &config, &error);

		CHECK_CASE_STRING(ok ? describe(&config) : error.message, rows[i][1], rows[i][0]);
	}
}

static void test_refused(void)
{
	static const struct {
		const char *line;
		int status;
		const char *message;
	} rows[] = {
		{ "--yes=1", EXIT_USAGE, "option '--yes' accepts no value" },
		{ "--dry-run=xml", EXIT_USAGE,
		  "option '--dry-run' accepts no value except 'json'" },
		{ "--dry-run=", EXIT_USAGE, "option '--dry-run' accepts no value except 'json'" },
		{ "--quarantine=", EXIT_USAGE,
		  "option '--quarantine' accepts json, clear, the number of an item or its id, not ''" },
		{ "--quarantine=all", EXIT_USAGE,
		  "option '--quarantine' accepts json, clear, the number of an item or its id, not 'all'" },
		{ "--quarantine=../1", EXIT_USAGE,
		  "option '--quarantine' accepts json, clear, the number of an item or its id, not '../1'" },
		{ "--quarantine=1-", EXIT_USAGE,
		  "option '--quarantine' accepts json, clear, the number of an item or its id, not '1-'" },
		{ "--quarantine=1-2-3", EXIT_USAGE,
		  "option '--quarantine' accepts json, clear, the number of an item or its id, not '1-2-3'" },
		{ "--quarantine=-1", EXIT_USAGE,
		  "option '--quarantine' accepts json, clear, the number of an item or its id, not '-1'" },
		{ "--quarantine|x", EXIT_USAGE,
		  "option '--quarantine' accepts no command and no arguments" },
		{ "--network", EXIT_USAGE, "option '--network' requires a value: TIER" },
		{ "--network=", EXIT_USAGE, "option '--network' requires a value: TIER" },
		{ "--network|lan", EXIT_USAGE, "unknown network tier 'lan'" },
		{ "--network|\033[2J", EXIT_USAGE, "unknown network tier '\\x1b[2J'" },
		{ "--network|--yes", EXIT_USAGE, "unknown network tier '--yes'" },
		{ "--network|Full", EXIT_USAGE, "unknown network tier 'Full'" },
		{ "--network|inet|--host-port|0", EXIT_USAGE,
		  "option '--host-port' requires a port from 1 to 65535, not '0'" },
		{ "--network|inet|--host-port|65536", EXIT_USAGE,
		  "option '--host-port' requires a port from 1 to 65535, not '65536'" },
		{ "--network|inet|--publish|80/tcp", EXIT_USAGE,
		  "option '--publish' requires a port from 1 to 65535, not '80/tcp'" },
		{ "--network|inet|--publish|-1", EXIT_USAGE,
		  "option '--publish' requires a port from 1 to 65535, not '-1'" },
		{ "--network|inet|--publish|99999999999999999999", EXIT_USAGE,
		  "option '--publish' requires a port from 1 to 65535, not '99999999999999999999'" },
		{ "--host-port|80", EXIT_USAGE,
		  "option '--host-port' requires --network inet, not full" },
		{ "--network|none|--publish|80", EXIT_USAGE,
		  "option '--publish' requires --network inet, not none" },
		{ "--report-fd|2", EXIT_USAGE,
		  "option '--report-fd' requires a descriptor from 3 to 1023, not '2'" },
		{ "--report-fd|x", EXIT_USAGE,
		  "option '--report-fd' requires a descriptor from 3 to 1023, not 'x'" },
		{ "--report-fd", EXIT_USAGE, "option '--report-fd' requires a value: N" },
		{ "--exec", EXIT_USAGE, "option '--exec' requires a command" },
		{ "--exec|--", EXIT_USAGE, "option '--exec' requires a command" },
		{ "--exec|--yes|--|ls", EXIT_USAGE,
		  "option '--yes' follows --exec, where the command starts" },
		{ "--exec|--network=none|ls", EXIT_USAGE,
		  "option '--network=none' follows --exec, where the command starts" },
		{ "--exec=ls", EXIT_USAGE, "option '--exec' accepts no value" },
		{ "x|--exec|ls", EXIT_USAGE, "unexpected argument 'x' before --exec" },
		{ "--mount-ro=:/x", EXIT_USAGE,
		  "option '--mount-ro' requires PATH or PATH:DEST, not ':/x'" },
		{ "--mount-ro|/x:", EXIT_USAGE,
		  "option '--mount-ro' requires PATH or PATH:DEST, not '/x:'" },
		{ "--mount-rw|/a:/b:/c", EXIT_USAGE,
		  "option '--mount-rw' requires PATH or PATH:DEST, not '/a:/b:/c'" },
		{ "--mount-rw", EXIT_USAGE, "option '--mount-rw' requires a value: PATH[:DEST]" },
		{ "--profile|../x", EXIT_USAGE,
		  "option '--profile' requires a profile name, not '../x'" },
		{ "--profile|", EXIT_USAGE, "option '--profile' requires a value: NAME" },
		{ "--prove=text", EXIT_USAGE, "option '--prove' accepts no value except 'json'" },
		{ "--prove|hello", EXIT_USAGE,
		  "option '--prove' accepts no command and no arguments" },
		{ "--shell|--prove", EXIT_USAGE,
		  "option '--prove' accepts no command and no arguments" },
		{ "--prove|--exec|ls", EXIT_USAGE,
		  "option '--prove' accepts no command and no arguments" },
		{ "--check|--prove", EXIT_USAGE,
		  "options '--check' and '--prove' cannot be combined" },
		{ "--shell|--exec|ls", EXIT_USAGE,
		  "options '--shell' and '--exec' cannot be combined" },
		{ "--instances=json|--yes|--gc", EXIT_USAGE,
		  "options '--instances' and '--gc' cannot be combined" },
		{ "--quarantine|--dry-run", EXIT_USAGE,
		  "options '--quarantine' and '--dry-run' cannot be combined" },
		{ "--gc|--dry-run|--check", EXIT_USAGE,
		  "options '--gc' and '--check' cannot be combined" },
		{ "--dry-run|--gc=home|--prove", EXIT_USAGE,
		  "options '--dry-run' and '--prove' cannot be combined" },
		{ "--hepl", EXIT_USAGE, "unknown option '--hepl'" },
		{ "--profile", EXIT_USAGE, "option '--profile' requires a value: NAME" },
		{ "--checks=json", EXIT_USAGE, "unknown option '--checks=json'" },
		{ "--netwrok|none", EXIT_USAGE, "unknown option '--netwrok'" },
		{ "--netowrk=inet", EXIT_USAGE, "unknown option '--netowrk=inet'" },
		{ "--dryrun", EXIT_USAGE, "unknown option '--dryrun'" },
		{ "-p|x|--mount_ro|/x", EXIT_USAGE, "unknown option '--mount_ro'" },
		{ "--netwrok|none|--shell", EXIT_USAGE, "unknown option '--netwrok'" },
		{ "--Yes", EXIT_USAGE, "unknown option '--Yes'" },
		{ "--bg|x", EXIT_USAGE,
		  "'--bg' is not passed to claude: a session in the background ends with its box, "
		  "and the box ends when claude returns" },
		{ "--|--background", EXIT_USAGE,
		  "'--background' is not passed to claude: a session in the background ends with "
		  "its box, and the box ends when claude returns" },
		{ "update", EXIT_USAGE,
		  "'update' is not passed to claude: claude is mounted read-only, and the box "
		  "cannot change it" },
		{ "--model|x|install|stable", EXIT_USAGE,
		  "'install' is not passed to claude: claude is mounted read-only, and the box "
		  "cannot change it" },
		{ "attach|1", EXIT_USAGE,
		  "'attach' is not passed to claude: a box has no sessions in the background" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config config;
		struct error error;
		bool ok = parse(rows[i].line, &config, &error);

		CHECK_CASE_STRING(ok ? describe(&config) : error.message, rows[i].message,
				  rows[i].line);
		CHECK_CASE(!ok && error.status == rows[i].status && error.hint, rows[i].line);
	}
}

// The hint for an unknown tier lists all of them and suggests the nearest.
static void test_tier_meant(void)
{
	static const char *const rows[][2] = {
		{ "lan", "" },
		{ "\033[2J", "" },
		{ "ine", "did you mean 'inet'? " },
		{ "inter", "did you mean 'inet'? " },
		{ "internet", "did you mean 'inet'? " },
		{ "INET", "did you mean 'inet'? " },
		{ "Full", "did you mean 'full'? " },
		{ "host", "did you mean 'full'? " },
		{ "none ", "did you mean 'none'? " },
		{ "off", "did you mean 'none'? " },
		{ "offline", "did you mean 'none'? " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config config;
		struct error error;

		CHECK_CASE(!parse(arena_printf(&arena, "--network|%s", rows[i][0]), &config,
				  &error),
			   rows[i][0]);
		CHECK_CASE_STRING(error.hint,
				  arena_printf(&arena, "%stiers: full, inet, none", rows[i][1]),
				  rows[i][0]);
	}
}

// A value that follows an option as the next word, though it belongs behind "=".
static void test_value_meant(void)
{
	static const char *const rows[][2] = {
		{ "--quarantine|1", "did you mean '--quarantine=1'?" },
		{ "--instances|--json", "did you mean '--instances=json'?" },
		{ "--gc|--home", "did you mean '--gc=home'?" },
		{ "--hepl",
		  "did you mean '--help'? To pass the word to claude: claudebox -- --hepl" },
		{ "--quarantine|--yes|12-3", "did you mean '--quarantine=12-3'?" },
		{ "--quarantine|clear", "did you mean '--quarantine=clear'?" },
		{ "--quarantine|json", "did you mean '--quarantine=json'?" },
		{ "--instances|json", "did you mean '--instances=json'?" },
		{ "--gc|home", "did you mean '--gc=home'?" },
		{ "--prove|json", "did you mean '--prove=json'?" },
		{ "--quarantine|x", "see claudebox --help; words after -- are passed to claude" },
		{ "--quarantine|--exec|1",
		  "see claudebox --help; words after -- are passed to claude" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config config;
		struct error error;

		CHECK_CASE(!parse(rows[i][0], &config, &error), rows[i][0]);
		CHECK_CASE(error.status == EXIT_USAGE, rows[i][0]);
		CHECK_CASE_STRING(error.hint, rows[i][1], rows[i][0]);
	}
}

// The hint for a misspelled option suggests the right one and names the way around.
static void test_misspelled(void)
{
	struct config config;
	struct error error;

	CHECK(!parse("--netwrok|none", &config, &error));
	CHECK_STRING(error.hint, "did you mean '--network'? To pass the word to claude: claudebox "
				 "-- --netwrok");
}

// No option of claude or of bash counts as a misspelled one of claudebox, alone or with a value.
static void test_other_options(void)
{
	static const char *const of_bash[] = { "--login",   "--norc",       "--noprofile",
					       "--posix",   "--restricted", "--rcfile",
					       "--verbose", "--noediting",  "--debugger" };
	struct config config;
	struct error error;

	for (size_t i = 0; i < claude_option_count; i++) {
		const struct claude_option *row = &claude_option_table[i];
		const char *line = arena_printf(&arena, "--%s%s", row->name,
						row->value == CLAUDE_VALUE_NONE ? "" : "=x");
		bool own = str_equal(row->name, "help") || str_equal(row->name, "version");

		CHECK_CASE(parse(line, &config, &error) == !row->answer, line);
		CHECK_CASE(row->answer || own || config.arguments.count == 1, line);
		for (size_t k = 0; k < i; k++)
			CHECK_CASE(!str_equal(row->name, claude_option_table[k].name) &&
					   (!row->letter ||
					    !str_equal(row->letter, claude_option_table[k].letter)),
				   row->name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(of_bash); i++)
		CHECK_CASE(parse(arena_printf(&arena, "--shell|%s", of_bash[i]), &config, &error),
			   of_bash[i]);
}

// No option of the table is passed to claude.
static void test_rows_reachable(void)
{
	for (size_t i = 0; i < option_table_count; i++) {
		const struct option_row *row = &option_table[i];
		bool needs = row->argument == ARGUMENT_REQUIRED || row->argument == ARGUMENT_REST;
		bool port = row->id == OPTION_HOST_PORT || row->id == OPTION_PUBLISH;
		const char *line = arena_printf(&arena, "--%s%s", row->name,
						row->id == OPTION_NETWORK    ? "|full"
						: port                       ? "|80|--network|inet"
						: row->id == OPTION_REPORT   ? "|3"
						: row->id == OPTION_INSTANCE ? "|x|--instances"
						: needs                      ? "|x"
									     : "");
		struct config config;
		struct error error;
		bool ok = parse(line, &config, &error);

		CHECK_CASE(ok && config.arguments.count == (row->id == OPTION_EXEC), line);
		if (row->letter) {
			ok = parse(arena_printf(&arena, "-%c", row->letter), &config, &error);
			CHECK_CASE(ok && config.arguments.count == 0, row->name);
		}
		for (size_t k = 0; k < i; k++)
			CHECK_CASE(!str_equal(option_table[k].name, row->name) &&
					   (!row->letter || option_table[k].letter != row->letter),
				   arena_printf(&arena, "%s is not %s", row->name,
						option_table[k].name));
	}
}

// Returns the line of an option in the help, from its name on; NULL: there is none.
static const char *find_line(const char *help, const char *name)
{
	for (const char *line = help; line; line = strchr(line, '\n')) {
		const char *rest;

		line += strspn(line, "\n ");
		line += *line == '-' && line[1] != '-' && line[2] == ',' ? 4 : 0;
		rest = str_after(line, name);
		if (rest && strchr(" [=\n", *rest))
			return line;
	}
	return NULL;
}

static void test_help(void)
{
	const char *help = options_render_help(&arena, (struct reader){ 0 });

	for (size_t i = 0; i < option_table_count; i++) {
		const struct option_row *row = &option_table[i];
		const char *name = arena_printf(&arena, "--%s", row->name);
		const char *line = find_line(help, name);

		CHECK_CASE(line && strstr(line, row->help) &&
				   (size_t)(strstr(line, row->help) - line) < strcspn(line, "\n"),
			   arena_printf(&arena, "help explains %s", name));
		if (line && row->value_name)
			CHECK_CASE(
				str_starts(line + strlen(name),
					   arena_printf(&arena,
							row->argument == ARGUMENT_WORD ||
									row->argument == ARGUMENT_GC
								? "[=%s]"
								: " %s",
							row->value_name)),
				arena_printf(&arena, "help shows the value of %s", name));
		if (row->letter)
			CHECK_CASE(strstr(help, arena_printf(&arena, "-%c, %s", row->letter, name)),
				   arena_printf(&arena, "help shows the letter of %s", name));
	}
	for (const char *s = help; *s; s += strcspn(s, "\n") + 1)
		CHECK_CASE(display_width(arena_strndup(&arena, s, strcspn(s, "\n"))) <= 100,
			   "help fits in 100 columns");
	CHECK(str_ends(help, "\n"));
}

int main(void)
{
	test_accepted();
	test_refused();
	test_tier_meant();
	test_value_meant();
	test_misspelled();
	test_other_options();
	test_rows_reachable();
	test_help();
	arena_free(&arena);
	return check_done();
}
