// SPDX-License-Identifier: MIT
// The variables of the box: generated, from the allowlist, and requested.
#include "plan/environment.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/names.h"
#include "plan/facts.h"
#include "plan/home/installs.h"
#include "plan/plan.h"
#include "plan/secrets/detect.h"
#include "plan/tables.h"
#include "plan/toolchains/advice.h"
#include "plan/toolchains/path.h"
#include "plan/toolchains/settings.h"

#include <string.h>

#define EXTRA_ENV "CLAUDEBOX_EXTRA_ENV"

static void add(struct plan *plan, struct arena *arena, struct plan_variable variable)
{
	if (variable.origin.kind != ORIGIN_GENERATED)
		variable.secret =
			secret_variable(variable.name, variable.value, &variable.secret_kind);
	vec_push(arena, &plan->variables, variable);
}

static void generate(struct plan *plan, struct arena *arena, const char *name, const char *value,
		     const char *why)
{
	add(plan, arena, (struct plan_variable){ .name = name, .value = value, .why = why });
}

static void allow(struct plan *plan, struct arena *arena, const char *name, const char *value,
		  const char *why)
{
	add(plan, arena,
	    (struct plan_variable){ .name = name,
				    .value = value,
				    .origin = { .kind = ORIGIN_ALLOWED },
				    .why = why });
}

static void add_generated(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	generate(plan, arena, "HOME", facts->home,
		 plan->state.home ? "the box's home" : "an empty home");
	generate(plan, arena, "USER", facts->user, "you");
	generate(plan, arena, "LOGNAME", facts->user, "you");
	generate(plan, arena, "SHELL", facts->shell ? facts->shell : "/bin/sh", "shell");
	generate(plan, arena, "PATH", plan_build_path(plan, arena, facts), "programs in the box");
	generate(plan, arena, "PWD", facts->project, "the project");
	generate(plan, arena, "TMPDIR", "/tmp", "private temporary files");
	generate(plan, arena, "XDG_RUNTIME_DIR", arena_printf(arena, "/run/user/%u", plan->uid),
		 "private sockets");
	for (size_t i = 0; i < install_table_count; i++)
		generate(plan, arena, install_table[i].variable,
			 path_expand_home(arena, install_table[i].value, facts->home),
			 install_table[i].why);
	generate(plan, arena, "CLAUDEBOX", "1", "lets programs detect the box");
	generate(plan, arena, "CLAUDE_CONFIG_DIR", path_join(arena, facts->home, ".claude"),
		 "this project's Claude state");
	generate(plan, arena, "CLAUDE_SECURESTORAGE_CONFIG_DIR",
		 BOX_CREDENTIALS "/" CREDENTIALS_STORE, "Claude's credentials");
	generate(plan, arena, "CLAUDE_CODE_SANDBOXED", "1", "no prompt about trust");
	generate(plan, arena, "DISABLE_AUTOUPDATER", "1", "claude is read-only here");
	generate(plan, arena, "DISABLE_INSTALLATION_CHECKS", "1", "claude is read-only here");
	generate(plan, arena, "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1",
		 "plugins are the host's");
	if (plan_provides(plan, NIX_DAEMON))
		generate(plan, arena, "NIX_REMOTE", "daemon", "nix uses its daemon");
	// podman ignores some settings of the system's file for an ordinary user.
	if (plan_provides(plan, CONTAINERS_STORAGE))
		generate(plan, arena, "CONTAINERS_STORAGE_CONF", CONTAINERS_STORAGE,
			 "lets podman work in a box");
	if (facts->git.repository_signs) {
		// The box has no keys: an unsigned commit is better than none.
		generate(plan, arena, "GIT_CONFIG_COUNT", "2", "commits are not signed here");
		generate(plan, arena, "GIT_CONFIG_KEY_0", "commit.gpgsign",
			 "commits are not signed here");
		generate(plan, arena, "GIT_CONFIG_VALUE_0", "false", "commits are not signed here");
		generate(plan, arena, "GIT_CONFIG_KEY_1", "tag.gpgsign",
			 "commits are not signed here");
		generate(plan, arena, "GIT_CONFIG_VALUE_1", "false", "commits are not signed here");
	}
}

static void add_allowed(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	vec_each(entry, &facts->environment) {
		const char *value = strchr(*entry, '=') + 1;
		size_t length = (size_t)(value - *entry) - 1;
		const char *name = arena_strndup(arena, *entry, length);
		const struct variable_row *row =
			variable_row_find(allowed_variables, allowed_variable_count, name);

		if (row && env_name_valid(name, length) && !plan_variable(plan, name))
			allow(plan, arena, name, value, row->why);
	}
}

static void remove_variable(struct plan *plan, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->variables.count; i++)
		if (!str_equal(plan->variables.items[i].name, name))
			plan->variables.items[kept++] = plan->variables.items[i];
	plan->variables.count = kept;
}

// Adds the variables of profiles. A requested variable replaces one of the allowlist. The names
// were checked when the profile was parsed; reserved ones are refused here too, whatever the
// origin.
static bool add_configured(struct plan *plan, struct arena *arena, const struct facts *facts,
			   struct error *error)
{
	vec_each(wanted, &plan->config->variables) {
		const struct variable_row *reserved = variable_row_find(
			reserved_variables, reserved_variable_count, wanted->name);
		const char *value = wanted->value ? wanted->value
						  : facts_variable(facts, wanted->name);

		if (reserved || !env_name_valid(wanted->name, strlen(wanted->name))) {
			error_set(error, "%s: variable '%s' cannot be set: %s", wanted->origin.name,
				  quote_display(arena, wanted->name, 40),
				  reserved ? reserved->why : "the name is not valid");
			return error_hint(error, "remove it from the profile");
		}
		if (!value)
			continue;
		remove_variable(plan, wanted->name);
		add(plan, arena,
		    (struct plan_variable){ .name = wanted->name,
					    .value = value,
					    .origin = wanted->origin,
					    .written = wanted->value != NULL });
	}
	return true;
}

// Adds one variable of CLAUDEBOX_EXTRA_ENV.
static bool add_extra(struct plan *plan, struct arena *arena, const char *name,
		      const struct facts *facts, struct error *error)
{
	const struct variable_row *reserved =
		variable_row_find(reserved_variables, reserved_variable_count, name);
	const char *value = facts_variable(facts, name);

	if (!env_name_valid(name, strlen(name))) {
		// A value after '=' may be a secret.
		size_t shown = strcspn(name, "=");

		error_set(error, EXTRA_ENV ": '%s%s' is not a valid variable name",
			  quote_display(arena, arena_strndup(arena, name, shown), 40),
			  name[shown] ? "=..." : "");
		return error_hint(error, "give names only, separated by commas: " EXTRA_ENV
					 "=\"GITHUB_TOKEN,MY_VAR\"");
	}
	if (reserved) {
		error_set(error, EXTRA_ENV ": '%s' cannot be passed: %s", name, reserved->why);
		return error_hint(error, "remove it from " EXTRA_ENV);
	}
	if (value && !plan_variable(plan, name))
		add(plan, arena,
		    (struct plan_variable){
			    .name = name, .value = value, .origin = origin_requested(EXTRA_ENV) });
	return true;
}

// Returns the names in CLAUDEBOX_EXTRA_ENV, separated by commas. Empty entries count as none: the
// list may be put together by a script.
static strings extra_names(struct arena *arena, const struct config *config)
{
	static const char blanks[] = " \t";
	strings names = { 0 };

	for (const char *s = config->extra_env; s && *s;) {
		size_t length = strcspn(s, ",");
		const char *next = s + length + (s[length] == ',');
		size_t start = strspn(s, blanks);

		start = start < length ? start : length;
		while (length > start && strchr(blanks, s[length - 1]))
			length--;
		if (length > start)
			vec_push(arena, &names, arena_strndup(arena, s + start, length - start));
		s = next;
	}
	return names;
}

static bool add_extras(struct plan *plan, struct arena *arena, const struct facts *facts,
		       struct error *error)
{
	strings names = extra_names(arena, plan->config);

	vec_each(name, &names) {
		if (!add_extra(plan, arena, *name, facts, error))
			return false;
	}
	return true;
}

bool plan_build_environment(struct plan *plan, struct arena *arena, const struct facts *facts,
			    struct error *error)
{
	add_generated(plan, arena, facts);
	plan_add_toolchain_variables(plan, arena, facts);
	add_allowed(plan, arena, facts);
	return add_configured(plan, arena, facts, error) && add_extras(plan, arena, facts, error);
}

// Names a requested variable that the box lacks. Claude's settings may have it: then the box gets
// it with them.
static void leave_out_unset(struct plan *plan, struct arena *arena, const struct facts *facts,
			    const char *name, const char *origin)
{
	const char *settings = facts->user_claude.settings_json;

	if (plan_variable(plan, name) ||
	    (settings && strstr(settings, arena_printf(arena, "\"%s\"", name))))
		return;
	plan_leave_out_kind(plan, arena, LEFT_OUT_MINOR, arena_printf(arena, "variable %s", name),
			    arena_printf(arena, "not set on the host; requested by %s", origin),
			    NULL);
}

void plan_leave_out_unset(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	strings names = extra_names(arena, plan->config);

	vec_each(wanted, &plan->config->variables)
		leave_out_unset(plan, arena, facts, wanted->name, wanted->origin.name);
	vec_each(name, &names)
		leave_out_unset(plan, arena, facts, *name, EXTRA_ENV);
}

static void add_name(struct text *list, struct arena *arena, strings *known, const char *name)
{
	vec_each(other, known) {
		if (str_equal(*other, name))
			return;
	}
	vec_push(arena, known, name);
	text_printf(list, "%s%s", list->length ? "," : "", name);
}

const char *plan_pass_option(struct arena *arena, const struct config *config, const strings *names)
{
	strings requested = extra_names(arena, config);
	struct text list = { .arena = arena };
	strings known = { 0 };

	vec_each(name, &requested)
		add_name(&list, arena, &known, *name);
	vec_each(name, names)
		add_name(&list, arena, &known, *name);
	return arena_printf(arena, EXTRA_ENV "=%s", text_get(&list));
}
