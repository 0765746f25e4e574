// SPDX-License-Identifier: MIT
// The option table, and the parser of the command line.
#include "config/options.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/claude/pass_on.h"
#include "config/claude/words.h"
#include "config/config.h"
#include "config/modes.h"
#include "config/names.h"

#include <string.h>

const struct option_row option_table[] = {
	{ OPTION_YES, 'y', "yes", ARGUMENT_NONE, NULL, "start without asking for confirmation" },
	{ OPTION_DRY_RUN, 0, "dry-run", ARGUMENT_JSON, NULL,
	  "print the bwrap command (or the plan as JSON) and change nothing" },
	{ OPTION_CHECK, 0, "check", ARGUMENT_JSON, NULL,
	  "check that this machine has everything that a box needs" },
	{ OPTION_PROVE, 0, "prove", ARGUMENT_JSON, NULL,
	  "attack this project's box from inside and show what was blocked" },
	{ OPTION_PROFILE, 0, "profile", ARGUMENT_REQUIRED, "NAME",
	  "use the settings of ~/.claudebox/profiles/NAME.json" },
	{ OPTION_NETWORK, 0, "network", ARGUMENT_REQUIRED, "TIER",
	  "full (the host's network), inet (the internet only) or none" },
	{ OPTION_HOST_PORT, 0, "host-port", ARGUMENT_REQUIRED, "PORT",
	  "inet: let the box reach this TCP port of the host's loopback" },
	{ OPTION_PUBLISH, 0, "publish", ARGUMENT_REQUIRED, "PORT",
	  "inet: let every user of this machine reach this TCP port of the box" },
	{ OPTION_MOUNT_RO, 0, "mount-ro", ARGUMENT_REQUIRED, "PATH[:DEST]",
	  "mount one more file or directory, read-only" },
	{ OPTION_MOUNT_RW, 0, "mount-rw", ARGUMENT_REQUIRED, "PATH[:DEST]",
	  "mount one more file or directory, read-write" },
	{ OPTION_PATH, 0, "path", ARGUMENT_REQUIRED, "DIR",
	  "mount a directory of programs, read-only, first in PATH" },
	{ OPTION_UNPROTECT, 0, "unprotect", ARGUMENT_REQUIRED, "PATH",
	  "let the box write a protected place; **/NAME: in every directory" },
	{ OPTION_REPORT, 0, "report-fd", ARGUMENT_REQUIRED, "N",
	  "write exit status and refused connections as JSON to descriptor N" },
	{ OPTION_AUDIT, 0, "audit", ARGUMENT_FULL, NULL,
	  "show every variable and mount before the start; with or without =full" },
	{ OPTION_QUIET, 0, "quiet", ARGUMENT_NONE, NULL,
	  "show errors and the number of moved files; a question shows its audit" },
	{ OPTION_SHELL, 0, "shell", ARGUMENT_NONE, NULL,
	  "run a shell in the box instead of claude" },
	{ OPTION_EXEC, 0, "exec", ARGUMENT_REST, "CMD [ARG...]",
	  "run CMD in the box instead of claude; the rest are its arguments" },
	{ OPTION_INSTANCES, 0, "instances", ARGUMENT_JSON, NULL,
	  "list the state of each project, the last used first" },
	{ OPTION_GC, 0, "gc", ARGUMENT_GC, "WORD",
	  "remove the state of deleted projects, or =home, =snapshots; asks" },
	{ OPTION_INSTANCE, 0, "instance", ARGUMENT_REQUIRED, "ID",
	  "limit --instances or --gc to one project: its id or directory" },
	{ OPTION_QUARANTINE, 0, "quarantine", ARGUMENT_WORD, "WORD",
	  "list what the guard moved away; =N puts one back, =clear removes all" },
	{ OPTION_DIFF, 0, "diff", ARGUMENT_STAT, NULL,
	  "show what the last session changed; =stat: the number of lines" },
	{ OPTION_UNDO, 0, "undo", ARGUMENT_COMMITS, NULL,
	  "take back what the last session changed; =commits: branches too" },
	{ OPTION_LAST_REPORT, 0, "report", ARGUMENT_JSON, NULL,
	  "show the report of the last session again" },
	{ OPTION_IMPORT_CONVERSATIONS, 0, "import-conversations", ARGUMENT_NONE, NULL,
	  "copy this directory's conversations of plain claude, then start" },
	{ OPTION_HELP, 'h', "help", ARGUMENT_NONE, NULL,
	  "show this help (help of claude: claudebox -- --help)" },
	{ OPTION_VERSION, 'v', "version", ARGUMENT_NONE, NULL,
	  "show the version of claudebox (of claude: claudebox -- --version)" },
};
const size_t option_table_count = ARRAY_SIZE(option_table);

const char *const network_tier_names[NETWORK_TIER_COUNT] = {
	[NETWORK_FULL] = "full",
	[NETWORK_INET] = "inet",
	[NETWORK_NONE] = "none",
};

const char *option_word(const struct option_row *row)
{
	return row->argument == ARGUMENT_JSON      ? "json"
	       : row->argument == ARGUMENT_GC      ? "home snapshots"
	       : row->argument == ARGUMENT_FULL    ? "full"
	       : row->argument == ARGUMENT_STAT    ? "stat"
	       : row->argument == ARGUMENT_COMMITS ? "commits"
	       : row->argument == ARGUMENT_WORD    ? QUARANTINE_JSON " " QUARANTINE_CLEAR
						   : NULL;
}

// Completes an error on the command line: its exit status and a hint. Returns false.
static bool usage_error(struct error *error)
{
	error->status = EXIT_USAGE;
	return error_hint(error, "see claudebox --help; words after -- are passed to claude");
}

static bool parse_tier(struct config *config, const char *value, struct error *error)
{
	for (int tier = 0; tier < NETWORK_TIER_COUNT; tier++) {
		if (str_equal(value, network_tier_names[tier])) {
			config->network = (enum network_tier)tier;
			config->network_origin = origin_requested("--network");
			return true;
		}
	}
	error_set(error, "unknown network tier '%s'", quote_display(error->arena, value, 60));
	error->status = EXIT_USAGE;
	return error_hint(error, "%s",
			  name_hint(error->arena, "tiers", value, network_tier_names,
				    NETWORK_TIER_COUNT));
}

// Parses a decimal number from `least` to `most`, without sign or blanks.
static bool parse_number(const char *text, unsigned int least, unsigned int most,
			 unsigned int *ret_number)
{
	size_t digits = text ? strspn(text, "0123456789") : 0;
	unsigned int number = 0;

	if (digits == 0 || digits > 9 || text[digits])
		return false;
	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (unsigned int)(text[i] - '0');
	*ret_number = number;
	return number >= least && number <= most;
}

static bool parse_port(struct arena *arena, ports *list, const char *name, const char *value,
		       struct error *error)
{
	struct config_port port = { .origin = origin_requested(arena_printf(arena, "--%s", name)) };

	if (!parse_number(value, 1, 65535, &port.number)) {
		error_set(error, "option '--%s' requires a port from 1 to 65535, not '%s'", name,
			  quote_display(error->arena, value, 60));
		return usage_error(error);
	}
	vec_each(known, list) {
		if (known->number == port.number)
			return true;
	}
	if (list->count == MOST_PORTS) {
		error_set(error, "option '--%s' is given more than %d times", name, MOST_PORTS);
		return usage_error(error);
	}
	vec_push(arena, list, port);
	return true;
}

// Parses the descriptor of the report. Descriptors 0 to 2 belong to the agent.
static bool parse_report(struct config *config, const char *value, struct error *error)
{
	unsigned int fd;

	if (!parse_number(value, 3, 1023, &fd)) {
		error_set(error,
			  "option '--report-fd' requires a descriptor from 3 to 1023, not '%s'",
			  quote_display(error->arena, value, 60));
		return usage_error(error);
	}
	config->report = (int)fd;
	return true;
}

// Parses PATH[:DEST]. A colon in a path is written "\\:".
static bool parse_mount(struct config *config, struct arena *arena, const struct option_row *row,
			const char *value, struct error *error)
{
	struct text parts[2] = { { .arena = arena }, { .arena = arena } };
	size_t part = 0;

	for (const char *s = value ? value : ""; *s; s++) {
		if (*s == ':' && part == 0) {
			part = 1;
			continue;
		}
		if (*s == '\\' && s[1] == ':')
			s++;
		else if (*s == ':')
			part = 2;
		if (part < 2)
			text_add_bytes(&parts[part], s, 1);
	}
	if (part == 2 || !parts[0].length || (part == 1 && !parts[1].length)) {
		error_set(error, "option '--%s' requires PATH or PATH:DEST, not '%s'", row->name,
			  quote_display(error->arena, value ? value : "", 60));
		return usage_error(error);
	}
	vec_push(arena, &config->mounts,
		 (struct config_mount){
			 .source = text_get(&parts[0]),
			 .destination = part ? text_get(&parts[1]) : NULL,
			 .writable = row->id == OPTION_MOUNT_RW,
			 .origin = origin_requested(arena_printf(arena, "--%s", row->name)) });
	return true;
}

// Adds a directory to PATH, in which a colon separates directories.
static bool parse_path(struct config *config, struct arena *arena, const char *value,
		       struct error *error)
{
	if (!value || !*value || strchr(value, ':')) {
		error_set(error, "option '--path' requires one directory without ':', not '%s'",
			  quote_display(error->arena, value ? value : "", 60));
		return usage_error(error);
	}
	vec_push(arena, &config->mounts,
		 (struct config_mount){
			 .source = value, .on_path = true, .origin = origin_requested("--path") });
	return true;
}

static bool parse_unprotect(struct config *config, struct arena *arena, const char *value,
			    struct error *error)
{
	if (!value || !*value) {
		error_set(error, "option '--unprotect' requires a path");
		return usage_error(error);
	}
	vec_push(arena, &config->unprotect,
		 (struct config_unprotect){ .path = value,
					    .origin = origin_requested("--unprotect") });
	return true;
}

static bool parse_profile(struct config *config, const char *value, struct error *error)
{
	config->profile = value;
	if (profile_name_valid(value))
		return true;
	error_set(error, "option '--profile' requires a profile name, not '%s'",
		  quote_display(error->arena, value, 60));
	return usage_error(error);
}

// Returns whether a value of --quarantine is a fixed word, the number of an item, or its id, which
// is two numbers.
static bool is_quarantine_word(const char *value)
{
	size_t digits = strspn(value, "0123456789");
	const char *rest = value + digits;

	return str_equal(value, QUARANTINE_JSON) || str_equal(value, QUARANTINE_CLEAR) ||
	       (digits && !*rest) ||
	       (digits && *rest == '-' && rest[1] && !rest[1 + strspn(rest + 1, "0123456789")]);
}

static bool parse_quarantine(struct config *config, const char *value, struct error *error)
{
	config->action = ACTION_QUARANTINE;
	config->output = str_equal(value, QUARANTINE_JSON) ? OUTPUT_JSON : OUTPUT_TEXT;
	config->quarantine = config->output == OUTPUT_JSON ? NULL : value;
	if (!value || is_quarantine_word(value))
		return true;
	error_set(error,
		  "option '--quarantine' accepts json, clear, the number of an item or its id, "
		  "not '%s'",
		  quote_display(error->arena, value, 60));
	return usage_error(error);
}

static void choose_output(struct config *config, enum action action, const char *value)
{
	config->action = action;
	config->output = value ? OUTPUT_JSON : OUTPUT_TEXT;
}

static bool apply(struct config *config, struct arena *arena, const struct option_row *row,
		  const char *value, struct error *error)
{
	switch (row->id) {
	case OPTION_YES:
		config->yes = true;
		return true;
	case OPTION_PROFILE:
		return parse_profile(config, value, error);
	case OPTION_NETWORK:
		return parse_tier(config, value, error);
	case OPTION_HOST_PORT:
		return parse_port(arena, &config->host_ports, row->name, value, error);
	case OPTION_PUBLISH:
		return parse_port(arena, &config->published_ports, row->name, value, error);
	case OPTION_MOUNT_RO:
	case OPTION_MOUNT_RW:
		return parse_mount(config, arena, row, value, error);
	case OPTION_PATH:
		return parse_path(config, arena, value, error);
	case OPTION_UNPROTECT:
		return parse_unprotect(config, arena, value, error);
	case OPTION_REPORT:
		return parse_report(config, value, error);
	case OPTION_SHELL:
		config->payload = PAYLOAD_SHELL;
		return true;
	case OPTION_EXEC:
		config->payload = PAYLOAD_EXEC;
		return true;
	case OPTION_DRY_RUN:
		config->list_only = config->action == ACTION_GC || config->action == ACTION_UNDO;
		choose_output(config, config->list_only ? config->action : ACTION_DRY_RUN, value);
		return true;
	case OPTION_CHECK:
		choose_output(config, ACTION_CHECK, value);
		return true;
	case OPTION_PROVE:
		choose_output(config, ACTION_PROVE, value);
		return true;
	case OPTION_INSTANCES:
		choose_output(config, ACTION_INSTANCES, value);
		return true;
	case OPTION_QUARANTINE:
		return parse_quarantine(config, value, error);
	case OPTION_DIFF:
		config->action = ACTION_DIFF;
		config->statistics = value != NULL;
		return true;
	case OPTION_UNDO:
		config->list_only = config->action == ACTION_DRY_RUN;
		config->action = ACTION_UNDO;
		config->commits = value != NULL;
		return true;
	case OPTION_LAST_REPORT:
		choose_output(config, ACTION_REPORT, value);
		return true;
	case OPTION_GC:
		config->list_only = config->action == ACTION_DRY_RUN;
		config->action = ACTION_GC;
		config->homes = str_equal(value, "home");
		config->snapshots = str_equal(value, "snapshots");
		return true;
	case OPTION_INSTANCE:
		config->instance = value;
		return true;
	case OPTION_IMPORT_CONVERSATIONS:
		config->import_conversations = true;
		return true;
	case OPTION_AUDIT:
		config->audit = AUDIT_FULL;
		return true;
	case OPTION_QUIET:
		config->audit = AUDIT_QUIET;
		return true;
	case OPTION_HELP:
		config->action = ACTION_HELP;
		return true;
	case OPTION_VERSION:
		config->action = ACTION_VERSION;
		return true;
	}
	return false;
}

// Returns the row that a word names, or NULL, and the value after '=', or NULL.
static const struct option_row *find_row(const char *word, const char **ret_value)
{
	*ret_value = NULL;
	for (size_t i = 0; i < option_table_count; i++) {
		const struct option_row *row = &option_table[i];
		const char *rest = str_starts(word, "--") ? str_after(word + 2, row->name) : NULL;

		if (rest && (*rest == '\0' || *rest == '=')) {
			*ret_value = *rest ? rest + 1 : NULL;
			return row;
		}
		if (row->letter && word[0] == '-' && word[1] == row->letter && word[2] == '\0')
			return row;
	}
	return NULL;
}

static bool check_value(const struct option_row *row, const char *value, struct error *error)
{
	switch (row->argument) {
	case ARGUMENT_REQUIRED:
		if (!value || !*value) {
			error_set(error, "option '--%s' requires a value: %s", row->name,
				  row->value_name);
			return usage_error(error);
		}
		return true;
	case ARGUMENT_WORD:
		return true;
	case ARGUMENT_GC:
		if (!value || str_equal(value, "home") || str_equal(value, "snapshots"))
			return true;
		error_set(error, "option '--%s' accepts no value except 'home' and 'snapshots'",
			  row->name);
		return usage_error(error);
	case ARGUMENT_JSON:
	case ARGUMENT_FULL:
	case ARGUMENT_STAT:
	case ARGUMENT_COMMITS:
		if (value && !str_equal(value, option_word(row))) {
			error_set(error, "option '--%s' accepts no value except '%s'", row->name,
				  option_word(row));
			return usage_error(error);
		}
		return true;
	default:
		if (value) {
			error_set(error, "option '--%s' accepts no value", row->name);
			return usage_error(error);
		}
		return true;
	}
}

// Returns whether the words that are no options are paths of the project.
static bool takes_paths(const struct config *config)
{
	return config->action == ACTION_DIFF || config->action == ACTION_UNDO;
}

// Reads a word that is no option of claudebox as a path.
static bool parse_word_as_path(struct config *config, struct arena *arena, const char *word,
			       struct error *error)
{
	if (word[0] == '-' && word[1]) {
		error_set(error, "unknown option '%s'", quote_display(error->arena, word, 60));
		return usage_error(error);
	}
	vec_push(arena, &config->arguments, word);
	return true;
}

// Reads the words. After "--" and from a sub-command of claude on, none is an option of claudebox.
// The "--" is passed on if words for claude came before it.
static bool parse_words(struct config *config, struct arena *arena, char *const *words,
			struct error *error)
{
	struct claude_reader reader = { 0 };
	struct modes modes = { 0 };

	for (; *words; words++) {
		const char *value;
		const struct option_row *row = find_row(*words, &value);

		if (str_equal(*words, "--") && takes_paths(config)) {
			while (*++words)
				vec_push(arena, &config->arguments, *words);
			return true;
		}
		if (!row && takes_paths(config)) {
			if (!parse_word_as_path(config, arena, *words, error))
				return false;
			continue;
		}
		if (str_equal(*words, "--"))
			return claude_pass_words(config, arena, &reader,
						 words + !config->arguments.count, error);
		if (!row) {
			if (!claude_pass_word(config, arena, &reader, *words, true, error))
				return false;
			if (reader.command && config->payload == PAYLOAD_CLAUDE)
				return claude_pass_words(config, arena, &reader, words + 1, error);
			continue;
		}
		if (row->argument == ARGUMENT_REQUIRED && !value && words[1])
			value = *++words;
		if (!modes_add(&modes, row, error) || !check_value(row, value, error) ||
		    !apply(config, arena, row, value, error))
			return false;
		if (row->argument != ARGUMENT_REST)
			continue;
		if (config->arguments.count) {
			error_set(error, "unexpected argument '%s' before --exec",
				  quote_display(error->arena, config->arguments.items[0], 60));
			return usage_error(error);
		}
		words += words[1] && str_equal(words[1], "--");
		while (*++words)
			vec_push(arena, &config->arguments, *words);
		return true;
	}
	return true;
}

// Refuses a command and arguments for an option that runs no box. A first argument that is a value
// of the option is one: the value of this option follows only after '='.
static bool refuse_arguments(const struct config *config, const char *name, const char *value,
			     struct error *error)
{
	const char *word = config->payload == PAYLOAD_CLAUDE ? config->arguments.items[0] : "";

	error_set(error, "option '--%s' accepts no command and no arguments", name);
	if (str_after(word, "--"))
		word += 2; // --instances --json
	if (!(value ? str_equal(word, value) : is_quarantine_word(word)))
		return usage_error(error);
	error->status = EXIT_USAGE;
	return error_hint(error, "did you mean '--%s=%s'?", name,
			  quote_display(error->arena, word, 60));
}

// Checks the options of actions that run no command: --prove, --instances, --gc and --quarantine.
static bool check_actions(const struct config *config, struct error *error)
{
	bool lists = config->action == ACTION_INSTANCES || config->action == ACTION_GC;

	if (config->arguments.count || config->payload != PAYLOAD_CLAUDE) {
		if (config->action == ACTION_PROVE)
			return refuse_arguments(config, "prove", "json", error);
		if (config->action == ACTION_INSTANCES)
			return refuse_arguments(config, "instances", "json", error);
		if (config->action == ACTION_GC)
			return refuse_arguments(config, "gc", "home", error);
		if (config->action == ACTION_REPORT)
			return refuse_arguments(config, "report", "json", error);
		if (takes_paths(config) && config->payload != PAYLOAD_CLAUDE)
			return refuse_arguments(config,
						config->action == ACTION_DIFF ? "diff" : "undo",
						NULL, error);
		if (config->action == ACTION_QUARANTINE)
			return refuse_arguments(config, "quarantine", NULL, error);
	}
	if (!lists && config->instance) {
		error_set(error, "option '--instance' requires --instances or --gc");
		return usage_error(error);
	}
	return true;
}

bool options_parse(struct config *config, struct arena *arena, int argc, char *const *argv,
		   struct error *error)
{
	char **words = arena_alloc(arena, ((size_t)argc + 1) * sizeof(*words)); // NULL at the end

	for (int i = 1; i < argc; i++)
		words[i - 1] = argv[i];
	if (!parse_words(config, arena, words, error))
		return false;
	if (config->payload == PAYLOAD_EXEC && config->arguments.count == 0) {
		error_set(error, "option '--exec' requires a command");
		return usage_error(error);
	}
	if (!check_actions(config, error))
		return false;
	if (config->action == ACTION_PROVE) // works without claude
		config->payload = PAYLOAD_EXEC;
	// Only claude's version or help is printed: there is nothing to agree to.
	if (config->action == ACTION_LAUNCH && config->payload == PAYLOAD_CLAUDE &&
	    claude_words_inform(&config->arguments)) {
		config->yes = true;
		config->audit = config->audit == AUDIT_FULL ? AUDIT_FULL : AUDIT_QUIET;
	}
	return true;
}

const char *options_misplaced(const struct config *config)
{
	const char *value;

	for (size_t i = 1; config->payload == PAYLOAD_EXEC && i < config->arguments.count; i++) {
		const struct option_row *row = find_row(config->arguments.items[i], &value);

		if (row && row->id != OPTION_HELP && row->id != OPTION_VERSION)
			return config->arguments.items[i];
	}
	return NULL;
}

bool options_check(const struct config *config, struct error *error)
{
	if (config->network != NETWORK_INET &&
	    (config->host_ports.count || config->published_ports.count)) {
		error_set(error, "option '--%s' requires --network inet, not %s",
			  config->host_ports.count ? "host-port" : "publish",
			  network_tier_names[config->network]);
		return usage_error(error);
	}
	return true;
}
