// SPDX-License-Identifier: MIT
#include "config/options/values.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/names.h"
#include "config/options/table.h"

#include <string.h>

bool option_usage_error(struct error *error)
{
	error->status = EXIT_USAGE;
	return error_hint(error, "see claudebox --help; words after -- are passed to claude");
}

bool option_check_value(const struct option_row *row, const char *value, struct error *error)
{
	switch (row->argument) {
	case ARGUMENT_REQUIRED:
		if (!value || !*value) {
			error_set(error, "option '--%s' requires a value: %s", row->name,
				  row->value_name);
			return option_usage_error(error);
		}
		return true;
	case ARGUMENT_WORD:
		return true;
	case ARGUMENT_GC:
		if (!value || str_equal(value, "home") || str_equal(value, "snapshots"))
			return true;
		error_set(error, "option '--%s' accepts no value except 'home' and 'snapshots'",
			  row->name);
		return option_usage_error(error);
	case ARGUMENT_JSON:
	case ARGUMENT_FULL:
	case ARGUMENT_STAT:
	case ARGUMENT_COMMITS:
		if (value && !str_equal(value, option_word(row))) {
			error_set(error, "option '--%s' accepts no value except '%s'", row->name,
				  option_word(row));
			return option_usage_error(error);
		}
		return true;
	default:
		if (value) {
			error_set(error, "option '--%s' accepts no value", row->name);
			return option_usage_error(error);
		}
		return true;
	}
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
		return option_usage_error(error);
	}
	vec_each(known, list) {
		if (known->number == port.number)
			return true;
	}
	if (list->count == MOST_PORTS) {
		error_set(error, "option '--%s' is given more than %d times", name, MOST_PORTS);
		return option_usage_error(error);
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
		return option_usage_error(error);
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
		return option_usage_error(error);
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
		return option_usage_error(error);
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
		return option_usage_error(error);
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
	return option_usage_error(error);
}

bool option_quarantine_word(const char *value)
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
	if (!value || option_quarantine_word(value))
		return true;
	error_set(error,
		  "option '--quarantine' accepts json, clear, the number of an item or its id, "
		  "not '%s'",
		  quote_display(error->arena, value, 60));
	return option_usage_error(error);
}

static void choose_output(struct config *config, enum action action, const char *value)
{
	config->action = action;
	config->output = value ? OUTPUT_JSON : OUTPUT_TEXT;
}

bool option_apply(struct config *config, struct arena *arena, const struct option_row *row,
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
