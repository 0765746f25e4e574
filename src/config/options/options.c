// SPDX-License-Identifier: MIT
// The parser of the command line.
#include "config/options/options.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/claude/pass_on.h"
#include "config/claude/words.h"
#include "config/config.h"
#include "config/options/modes.h"
#include "config/options/table.h"
#include "config/options/values.h"

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
		return option_usage_error(error);
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
		const struct option_row *row = option_find(*words, &value);

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
		if (!modes_add(&modes, row, error) || !option_check_value(row, value, error) ||
		    !option_apply(config, arena, row, value, error))
			return false;
		if (row->argument != ARGUMENT_REST)
			continue;
		if (config->arguments.count) {
			error_set(error, "unexpected argument '%s' before --exec",
				  quote_display(error->arena, config->arguments.items[0], 60));
			return option_usage_error(error);
		}
		if (words[1] && option_find(words[1], &value)) {
			error_set(error, "option '%s' follows --exec, where the command starts",
				  quote_display(error->arena, words[1], 60));
			error->status = EXIT_USAGE;
			return error_hint(error, "options of claudebox go before --exec");
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
	if (!(value ? str_equal(word, value) : option_quarantine_word(word)))
		return option_usage_error(error);
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
		return option_usage_error(error);
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
		return option_usage_error(error);
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
		const struct option_row *row = option_find(config->arguments.items[i], &value);

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
		return option_usage_error(error);
	}
	return true;
}
