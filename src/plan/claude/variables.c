// SPDX-License-Identifier: MIT
// The variables of Claude Code that pass into the box, from the user's settings and environment.
//
// `env` in settings.json reaches every command of the agent, and users keep all kinds of values
// there. A list of secret names is never complete, so only documented variables of Claude Code
// pass. Not in the table: credentials and headers, variables that name a program to run or a file
// with credentials, and those that the box sets.
#include "plan/claude/variables.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/names.h"
#include "plan/connections/endpoint.h"
#include "plan/connections/tables.h"
#include "plan/secrets/detect.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_SWITCH = 12 };

const struct variable_row claude_variables[] = {
	{ "ANTHROPIC_BASE_URL", "address of the API" },
	{ "ANTHROPIC_BEDROCK_BASE_URL", "address of the API" },
	{ "ANTHROPIC_BEDROCK_MANTLE_BASE_URL", "address of the API" },
	{ "ANTHROPIC_AWS_BASE_URL", "address of the API" },
	{ "ANTHROPIC_FOUNDRY_BASE_URL", "address of the API" },
	{ "ANTHROPIC_FOUNDRY_RESOURCE", "address of the API" },
	{ "ANTHROPIC_GOOGLE_CLOUD_BASE_URL", "address of the API" },
	{ "ANTHROPIC_VERTEX_BASE_URL", "address of the API" },
	{ "ANTHROPIC_VERTEX_PROJECT_ID", "project at the cloud" },
	{ "ANTHROPIC_GOOGLE_CLOUD_PROJECT", "project at the cloud" },
	{ "ANTHROPIC_GOOGLE_CLOUD_LOCATION", "region of the cloud" },
	{ "ANTHROPIC_BEDROCK_REGION_PREFIX", "region of the cloud" },
	{ "ANTHROPIC_BEDROCK_SERVICE_TIER", "service level of the cloud" },
	{ "ANTHROPIC_SMALL_FAST_MODEL_AWS_REGION", "region of the cloud" },
	{ "VERTEX_REGION_CLAUDE_3_5_HAIKU", "region of the cloud" },
	{ "VERTEX_REGION_CLAUDE_3_5_SONNET", "region of the cloud" },
	{ "VERTEX_REGION_CLAUDE_3_7_SONNET", "region of the cloud" },
	{ "VERTEX_REGION_CLAUDE_4_0_OPUS", "region of the cloud" },
	{ "VERTEX_REGION_CLAUDE_4_0_SONNET", "region of the cloud" },
	{ "VERTEX_REGION_CLAUDE_4_1_OPUS", "region of the cloud" },
	{ "VERTEX_REGION_CLAUDE_4_5_SONNET", "region of the cloud" },
	{ "VERTEX_REGION_CLAUDE_HAIKU_4_5", "region of the cloud" },
	{ "CLAUDE_CODE_USE_*", "choice of the cloud" },
	{ "CLAUDE_CODE_SKIP_*", "switch of the login to a cloud" },
	{ "ANTHROPIC_MODEL", "model" },
	{ "ANTHROPIC_DEFAULT_MODEL", "model" },
	{ "ANTHROPIC_SMALL_FAST_MODEL", "model" },
	{ "ANTHROPIC_DEFAULT_FABLE_MODEL", "model" },
	{ "ANTHROPIC_DEFAULT_FABLE_MODEL_DESCRIPTION", "model" },
	{ "ANTHROPIC_DEFAULT_FABLE_MODEL_NAME", "model" },
	{ "ANTHROPIC_DEFAULT_FABLE_MODEL_SUPPORTED_CAPABILITIES", "model" },
	{ "ANTHROPIC_DEFAULT_HAIKU_MODEL", "model" },
	{ "ANTHROPIC_DEFAULT_HAIKU_MODEL_DESCRIPTION", "model" },
	{ "ANTHROPIC_DEFAULT_HAIKU_MODEL_NAME", "model" },
	{ "ANTHROPIC_DEFAULT_HAIKU_MODEL_SUPPORTED_CAPABILITIES", "model" },
	{ "ANTHROPIC_DEFAULT_OPUS_MODEL", "model" },
	{ "ANTHROPIC_DEFAULT_OPUS_MODEL_DESCRIPTION", "model" },
	{ "ANTHROPIC_DEFAULT_OPUS_MODEL_NAME", "model" },
	{ "ANTHROPIC_DEFAULT_OPUS_MODEL_SUPPORTED_CAPABILITIES", "model" },
	{ "ANTHROPIC_DEFAULT_SONNET_MODEL", "model" },
	{ "ANTHROPIC_DEFAULT_SONNET_MODEL_DESCRIPTION", "model" },
	{ "ANTHROPIC_DEFAULT_SONNET_MODEL_NAME", "model" },
	{ "ANTHROPIC_DEFAULT_SONNET_MODEL_SUPPORTED_CAPABILITIES", "model" },
	{ "ANTHROPIC_CUSTOM_MODEL_OPTION", "model" },
	{ "ANTHROPIC_CUSTOM_MODEL_OPTION_DESCRIPTION", "model" },
	{ "ANTHROPIC_CUSTOM_MODEL_OPTION_NAME", "model" },
	{ "ANTHROPIC_CUSTOM_MODEL_OPTION_SUPPORTED_CAPABILITIES", "model" },
	{ "ANTHROPIC_BETAS", "features of the API" },
	{ "ANTHROPIC_LOG", "verbosity" },
	{ "CLAUDE_CODE_SUBAGENT_MODEL", "model" },
	{ "CLAUDE_CODE_AUTO_MODE_MODEL", "model" },
	{ "CLAUDE_CODE_BG_CLASSIFIER_MODEL", "model" },
	{ "FALLBACK_FOR_ALL_PRIMARY_MODELS", "model" },
	{ "CLAUDE_CODE_EFFORT_LEVEL", "effort of the model" },
	{ "CLAUDE_CODE_ALWAYS_ENABLE_EFFORT", "effort of the model" },
	{ "MAX_THINKING_TOKENS", "limit of tokens" },
	{ "MAX_MCP_OUTPUT_TOKENS", "limit of tokens" },
	{ "MAX_STRUCTURED_OUTPUT_RETRIES", "number of retries" },
	{ "CLAUDE_CODE_MAX_*", "limit" },
	{ "CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS", "limit of tokens" },
	{ "CLAUDE_CODE_IDLE_TOKEN_THRESHOLD", "limit of tokens" },
	{ "CLAUDE_CODE_IDLE_THRESHOLD_MINUTES", "timeout" },
	{ "CLAUDE_CODE_AUTO_COMPACT_WINDOW", "limit of tokens" },
	{ "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "limit of tokens" },
	{ "CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE", "limit of tokens" },
	{ "SLASH_COMMAND_TOOL_CHAR_BUDGET", "limit of characters" },
	{ "TASK_MAX_OUTPUT_LENGTH", "limit of characters" },
	{ "BASH_MAX_OUTPUT_LENGTH", "limit of characters" },
	{ "BASH_DEFAULT_TIMEOUT_MS", "timeout" },
	{ "BASH_MAX_TIMEOUT_MS", "timeout" },
	{ "API_TIMEOUT_MS", "timeout" },
	{ "API_FORCE_IDLE_TIMEOUT", "timeout" },
	{ "MCP_TIMEOUT", "timeout" },
	{ "MCP_TOOL_TIMEOUT", "timeout" },
	{ "MCP_CONNECTION_NONBLOCKING", "switch of MCP" },
	{ "MCP_SERVER_CONNECTION_BATCH_SIZE", "limit of connections" },
	{ "MCP_REMOTE_SERVER_CONNECTION_BATCH_SIZE", "limit of connections" },
	{ "MCP_OAUTH_CALLBACK_PORT", "port in the box" },
	{ "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT", "timeout" },
	{ "CLAUDE_CODE_GLOB_TIMEOUT_SECONDS", "timeout" },
	{ "CLAUDE_CODE_CONNECT_TIMEOUT_MS", "timeout" },
	{ "CLAUDE_CODE_EXIT_AFTER_STOP_DELAY", "timeout" },
	{ "CLAUDE_CODE_AUTO_BACKGROUND_TIMEOUT_MS", "timeout" },
	{ "CLAUDE_CODE_PLUGIN_GIT_TIMEOUT_MS", "timeout" },
	{ "CLAUDE_STREAM_IDLE_TIMEOUT_MS", "timeout" },
	{ "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", "timeout" },
	{ "CLAUDE_CODE_DISABLE_*", "switch of Claude Code" },
	{ "CLAUDE_CODE_ENABLE_*", "switch of Claude Code" },
	{ "CLAUDE_CODE_EXPERIMENTAL_*", "switch of Claude Code" },
	{ "CLAUDE_CODE_FORCE_*", "switch of Claude Code" },
	{ "CLAUDE_CODE_HIDE_*", "switch of Claude Code" },
	{ "CLAUDE_CODE_IDE_SKIP_*", "switch of Claude Code" },
	{ "CLAUDE_CODE_AUTO_CONNECT_IDE", "switch of Claude Code" },
	{ "CLAUDE_CODE_ACCESSIBILITY", "switch of Claude Code" },
	{ "CLAUDE_CODE_ATTRIBUTION_HEADER", "switch of Claude Code" },
	{ "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD", "switch of Claude Code" },
	{ "CLAUDE_CODE_FORK_SUBAGENT", "switch of Claude Code" },
	{ "CLAUDE_CODE_GLOB_HIDDEN", "switch of Claude Code" },
	{ "CLAUDE_CODE_GLOB_NO_IGNORE", "switch of Claude Code" },
	{ "CLAUDE_CODE_NATIVE_CURSOR", "switch of Claude Code" },
	{ "CLAUDE_CODE_NEW_INIT", "switch of Claude Code" },
	{ "CLAUDE_CODE_NO_FLICKER", "switch of Claude Code" },
	{ "CLAUDE_CODE_PERFORCE_MODE", "switch of Claude Code" },
	{ "CLAUDE_CODE_PLAN_MODE_REQUIRED", "switch of Claude Code" },
	{ "CLAUDE_CODE_PLUGIN_PREFER_HTTPS", "switch of Claude Code" },
	{ "CLAUDE_CODE_PROACTIVE", "switch of Claude Code" },
	{ "CLAUDE_CODE_REPL", "switch of Claude Code" },
	{ "CLAUDE_CODE_SCROLL_SPEED", "switch of Claude Code" },
	{ "CLAUDE_CODE_SIMPLE", "switch of Claude Code" },
	{ "CLAUDE_CODE_SYNTAX_HIGHLIGHT", "switch of Claude Code" },
	{ "CLAUDE_CODE_TASK_LIST_ID", "name of a list of tasks" },
	{ "CLAUDE_CODE_DEBUG_LOG_LEVEL", "verbosity" },
	{ "CLAUDE_CODE_PROMPT_CACHE_TTL", "cache of prompts" },
	{ "CLAUDE_CODE_API_KEY_HELPER_TTL_MS", "timeout" },
	{ "CLAUDE_AUTO_BACKGROUND_TASKS", "switch of Claude Code" },
	{ "CLAUDE_AX_SCREEN_READER", "switch of Claude Code" },
	{ "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR", "switch of Claude Code" },
	{ "CLAUDE_ENABLE_*", "switch of Claude Code" },
	{ "FORCE_AUTOUPDATE_PLUGINS", "switch of Claude Code" },
	{ "USE_BUILTIN_RIPGREP", "switch of Claude Code" },
	{ "USE_API_CONTEXT_MANAGEMENT", "switch of Claude Code" },
	{ "CLAUDE_CODE_PROXY_RESOLVES_HOSTS", "proxy" },
	{ "CLAUDE_CODE_CERT_STORE", "sources of certificates" },
	{ "CLAUDE_CODE_SUBAGENT_EFFORT", "effort of the model" },
	{ "CLAUDE_CODE_WORKFLOW_SUBAGENT_MODEL", "model" },
	{ "CLAUDE_CODE_OVERLOADED_RETRY_*", "timeout" },
	{ "VERTEX_REGION_*", "region of the cloud" },
	{ "DISABLE_AUTO_COMPACT", "switch of Claude Code" },
	{ "DISABLE_BUG_COMMAND", "switch of Claude Code" },
	{ "DISABLE_COMPACT", "switch of Claude Code" },
	{ "DISABLE_COST_WARNINGS", "switch of Claude Code" },
	{ "DISABLE_DOCTOR_COMMAND", "switch of Claude Code" },
	{ "DISABLE_ERROR_REPORTING", "switch of Claude Code" },
	{ "DISABLE_EXTRA_USAGE_COMMAND", "switch of Claude Code" },
	{ "DISABLE_FEEDBACK_COMMAND", "switch of Claude Code" },
	{ "DISABLE_GROWTHBOOK", "switch of Claude Code" },
	{ "DISABLE_INSTALL_GITHUB_APP_COMMAND", "switch of Claude Code" },
	{ "DISABLE_INTERLEAVED_THINKING", "switch of Claude Code" },
	{ "DISABLE_LOGIN_COMMAND", "switch of Claude Code" },
	{ "DISABLE_LOGOUT_COMMAND", "switch of Claude Code" },
	{ "DISABLE_PROMPT_CACHING*", "switch of Claude Code" },
	{ "DISABLE_TELEMETRY", "switch of Claude Code" },
	{ "DISABLE_UPGRADE_COMMAND", "switch of Claude Code" },
	{ "ENABLE_CLAUDEAI_MCP_SERVERS", "switch of Claude Code" },
	{ "ENABLE_LSP_TOOL", "switch of Claude Code" },
	{ "ENABLE_MCP_LARGE_OUTPUT_FILES", "switch of Claude Code" },
	{ "ENABLE_PROMPT_CACHING_1H*", "switch of Claude Code" },
	{ "ENABLE_TOOL_SEARCH", "switch of Claude Code" },
};
const size_t claude_variable_count = ARRAY_SIZE(claude_variables);

const struct variable_row settings_variables[] = {
	{ "AWS_REGION", "region of the cloud" },
	{ "AWS_DEFAULT_REGION", "region of the cloud" },
	{ "CLOUD_ML_REGION", "region of the cloud" },
	{ "DISABLE_*", "switch of Claude Code" },
	{ "ENABLE_*", "switch of Claude Code" },
	{ "FORCE_COLOR", "terminal" },
	{ "FORCE_HYPERLINK", "terminal" },
	{ "OTEL_METRICS_EXPORTER", "telemetry" },
	{ "OTEL_LOGS_EXPORTER", "telemetry" },
	{ "OTEL_TRACES_EXPORTER", "telemetry" },
	{ "OTEL_EXPORTER_OTLP_PROTOCOL", "telemetry" },
	{ "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "telemetry" },
	{ "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "telemetry" },
	{ "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "telemetry" },
	{ "OTEL_EXPORTER_OTLP_ENDPOINT", "telemetry" },
	{ "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "telemetry" },
	{ "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "telemetry" },
	{ "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "telemetry" },
	{ "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "telemetry" },
	{ "OTEL_METRIC_EXPORT_INTERVAL", "telemetry" },
	{ "OTEL_LOGS_EXPORT_INTERVAL", "telemetry" },
	{ "OTEL_TRACES_EXPORT_INTERVAL", "telemetry" },
	{ "OTEL_LOG_*", "switch of telemetry" },
	{ "OTEL_METRICS_INCLUDE_*", "switch of telemetry" },
	{ "OTEL_RESOURCE_ATTRIBUTES", "telemetry" },
	{ "OTEL_SERVICE_NAME", "telemetry" },
};
const size_t settings_variable_count = ARRAY_SIZE(settings_variables);

const struct variable_row box_variables[] = {
	{ "DISABLE_AUTOUPDATER", "claude is read-only in the box" },
	{ "DISABLE_INSTALLATION_CHECKS", "claude is read-only in the box" },
	{ "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "plugins are the host's" },
};
const size_t box_variable_count = ARRAY_SIZE(box_variables);

// Returns whether a value is a switch or a number: a few letters and digits.
static bool is_switch(const char *value)
{
	size_t length = strlen(value);

	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)value[i]) && !strchr(":.-_", value[i]))
			return false;
	return length <= LONGEST_SWITCH;
}

// Returns the row of a variable, NULL: it has none, or its value is not one that the row allows.
static const struct variable_row *find_row(const struct variable_row *rows, size_t count,
					   const char *name, const char *value)
{
	const struct variable_row *row = variable_row_find(rows, count, name);

	return row && (!str_ends(row->name, "*") || is_switch(value)) ? row : NULL;
}

const struct variable_row *claude_variable_find(const char *name, const char *value)
{
	return find_row(claude_variables, claude_variable_count, name, value);
}

bool settings_variable_known(const char *name, const char *value)
{
	return claude_variable_find(name, value) ||
	       find_row(settings_variables, settings_variable_count, name, value) ||
	       variable_row_find(proxy_variables, proxy_variable_count, name);
}

bool settings_variable_secret(const char *name, const char *value)
{
	bool address = str_ends(name, "_URL") ||
		       (variable_row_find(proxy_variables, proxy_variable_count, name) &&
			!proxy_variable_is_list(name));

	return secret_text(NULL, value) || (address && endpoint_has_user(value));
}

// Returns whether CLAUDEBOX_EXTRA_ENV, a list with commas, has a name.
static bool list_names(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *s = list; s && *s; s += strcspn(s, ",")) {
		s += strspn(s, ", \t");
		if (strncmp(s, name, length) == 0 && strchr(", \t", s[length]))
			return true;
	}
	return false;
}

bool settings_variable_requested(const struct config *config, const char *name)
{
	vec_each(variable, &config->variables) {
		if (str_equal(variable->name, name))
			return true;
	}
	return list_names(config->extra_env, name);
}

enum verdict { VARIABLE_PASSES, VARIABLE_OF_BOX, VARIABLE_SECRET, VARIABLE_UNKNOWN, VERDICT_COUNT };

// Judges one variable. The name of a known one is harmless: MAX_THINKING_TOKENS.
static enum verdict judge(struct arena *arena, const struct config *config, const char *name,
			  const json_t *value)
{
	const char *text = json_is_string(value) ? json_string_value(value)
			   : json_is_integer(value)
				   ? arena_printf(arena, "%lld", json_integer_value(value))
				   : NULL;
	const char *kind;

	if (variable_row_find(reserved_variables, reserved_variable_count, name) ||
	    variable_row_find(box_variables, box_variable_count, name))
		return VARIABLE_OF_BOX;
	if (text && settings_variable_known(name, text))
		return settings_variable_secret(name, text) ? VARIABLE_SECRET : VARIABLE_PASSES;
	if (!env_name_valid(name, strlen(name)))
		return VARIABLE_UNKNOWN;
	if (!text || secret_variable(name, text, &kind) != SECRET_NONE)
		return VARIABLE_SECRET;
	return settings_variable_requested(config, name) ? VARIABLE_PASSES : VARIABLE_UNKNOWN;
}

void settings_filter_variables(struct arena *arena, const struct config *config, json_t *variables,
			       strings *notes)
{
	static const char *const reasons[VERDICT_COUNT] = {
		[VARIABLE_OF_BOX] = "set by the box",
		[VARIABLE_SECRET] =
			"name or value like a secret's; \"extra_env_passthrough\" in a profile "
			"passes it from your environment",
		[VARIABLE_UNKNOWN] = "not a known variable of Claude; \"extra_env_passthrough\" "
				     "in a profile brings it",
	};
	struct text names[VERDICT_COUNT] = { 0 };
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(variables, next, name, value) {
		enum verdict verdict = judge(arena, config, name, value);
		struct text *list = &names[verdict];

		if (verdict == VARIABLE_PASSES)
			continue;
		list->arena = arena;
		// An invalid name can be a value.
		text_printf(list, "%s'%s'", list->length ? ", " : "",
			    env_name_valid(name, strlen(name)) && !secret_value(name)
				    ? quote_word(arena, name, 60)
				    : "...");
		json_object_del(variables, name);
	}
	for (int verdict = VARIABLE_OF_BOX; verdict < VERDICT_COUNT; verdict++)
		if (names[verdict].length)
			vec_push(arena, notes,
				 arena_printf(arena, SETTINGS_SHOWN ": env %s %s left out (%s)",
					      text_get(&names[verdict]),
					      strchr(text_get(&names[verdict]), ',') ? "are" : "is",
					      reasons[verdict]));
}
