// SPDX-License-Identifier: MIT
// The API of Claude: its address, the login, the model, and Claude's other variables.
//
// Theory of operation: the table of variables is shared with Claude's settings. An address with a
// login or a token does not pass. Then Claude would use Anthropic's own API, with the prompts and
// perhaps the token that are meant for a company's gateway, so an address that does not exist takes
// its place. In a box without a network an address that does not exist makes Claude report its
// error within seconds: it does not wait for the settings of the real one, and does not retry.
#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"
#include "config/config.h"
#include "config/names.h"
#include "plan/claude/variables.h"
#include "plan/connections/connections.h"
#include "plan/connections/endpoint.h"
#include "plan/connections/tables.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/registries/filter.h"
#include "plan/secrets/detect.h"

#include <string.h>

#define BASE_URL       "ANTHROPIC_BASE_URL"
#define NO_NETWORK_URL "https://no-network.invalid"

static void add_logins(struct connections *all)
{
	for (size_t i = 0; i < login_variable_count; i++) {
		const struct variable_row *row = &login_variables[i];
		const char *value = facts_variable(all->facts, row->name);

		if (!value || !connection_open(all, row->name))
			continue;
		connection_pass(all, row->name, value, row->why);
		if (*value)
			all->plan->variables.items[all->plan->variables.count - 1].secret =
				SECRET_BY_NAME;
	}
}

static bool is_printable(const char *value)
{
	for (; *value; value++)
		if (*value < ' ' || *value > '~')
			return false;
	return true;
}

// Returns why a variable of the table stays outside, NULL: it passes.
static const char *find_problem(struct connections *all, const char *name, const char *value)
{
	const char *obstacle;
	const char *option;
	struct endpoint endpoint;

	if (!is_printable(value))
		return "its value has control characters";
	if (!str_ends(name, "_URL"))
		return secret_text(NULL, value) ? "its value looks like a secret" : NULL;
	if (!*value)
		return NULL;
	endpoint = endpoint_parse(all->arena, value);
	if (endpoint.login || endpoint.odd)
		return "the address has something like a login or a token";
	obstacle = endpoint_obstacle(all->arena, all->plan, &endpoint, &option);
	if (obstacle)
		plan_warn_outside(all->plan, all->arena,
				  "the box cannot reach the address in %s: %s; %s", name, obstacle,
				  option);
	return NULL;
}

// Sets the variables that make Claude report at once that it cannot reach its API. An address that
// the user requested by name stays.
static void fail_fast(struct connections *all, const char *name, const char *address,
		      const char *why)
{
	static const char retries[] = "CLAUDE_CODE_MAX_RETRIES";

	if (connection_open(all, name))
		connection_generate(all, name, address, why);
	if (!plan_variable(all->plan, retries))
		connection_generate(all, retries, "0", why);
}

static void add_settings(struct connections *all)
{
	vec_each(entry, &all->facts->environment) {
		size_t length = strcspn(*entry, "=");
		const char *name = arena_strndup(all->arena, *entry, length);
		const char *value = *entry + length + 1;
		const struct variable_row *row = claude_variable_find(name, value);
		const char *problem;
		strings one = { 0 };

		if (!row || !connection_open(all, name))
			continue;
		problem = find_problem(all, name, value);
		if (!problem) {
			connection_pass(all, name, value, row->why);
			continue;
		}
		vec_push(all->arena, &one, name);
		connection_leave_out(all, &one, NULL, problem, NULL);
		if (str_ends(name, "_URL"))
			fail_fast(all, name, ADDRESS_LEFT_OUT, "the address stays outside");
	}
}

// Replaces the addresses of the user's settings that their filter removes. The filter names them.
static void replace_addresses_of_settings(struct connections *all)
{
	JSON_OWNED *settings = json_read_object(all->facts->user_claude.settings_json, 0);
	const char *name;
	json_t *value;

	json_object_foreach(json_object_get(settings, "env"), name, value) {
		const char *text = json_string_value(value);

		if (text && str_ends(name, "_URL") && claude_variable_find(name, text) &&
		    settings_variable_secret(name, text) && connection_open(all, name))
			fail_fast(all, arena_strdup(all->arena, name), ADDRESS_LEFT_OUT,
				  "the address stays outside");
	}
}

// Names the variables that the user has set and that never pass by themselves.
static void add_refused(struct connections *all)
{
	vec_each(entry, &all->facts->environment) {
		const char *name = arena_strndup(all->arena, *entry, strcspn(*entry, "="));
		const struct variable_row *row =
			variable_row_find(refused_variables, refused_variable_count, name);
		strings one = { 0 };

		if (!row || !connection_open(all, name))
			continue;
		vec_push(all->arena, &one, name);
		connection_leave_out(all, &one, NULL, row->why, NULL);
	}
}

void connections_add_api(struct connections *all)
{
	const struct config *config = all->plan->config;

	add_logins(all);
	if (config->network == NETWORK_NONE) {
		fail_fast(all, BASE_URL, NO_NETWORK_URL, "no network: Claude fails at once");
		if (config->payload == PAYLOAD_CLAUDE)
			plan_warn_danger(
				all->plan, all->arena,
				"Claude cannot reach its API in the tier none and ends with an "
				"error; use --network inet (the internet without your LAN), or "
				"--shell to work in this box yourself");
	}
	add_settings(all);
	replace_addresses_of_settings(all);
	add_refused(all);
}
