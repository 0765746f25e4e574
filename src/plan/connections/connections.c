// SPDX-License-Identifier: MIT
// How programs of the box reach the network as outside.
//
// Theory of operation: a company's proxy, its certificates and its gateway to Claude are variables
// of the user's environment. The box gets those without secrets, by tables, and the row of each
// says why. A variable with a login stays outside and is named with the option that passes it, and
// so are the credentials of a cloud. Nothing here depends on a file of the project.
#include "plan/connections/connections.h"

#include "base/arena.h"
#include "base/text.h"
#include "config/names.h"
#include "config/origin.h"
#include "plan/connections/certificates.h"
#include "plan/environment.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/registries/tools.h"
#include "plan/secrets/detect.h"

#include <string.h>

enum { LISTED_SECRETS = 6 };

bool connection_open(const struct connections *all, const char *name)
{
	return env_name_valid(name, strlen(name)) && !plan_variable(all->plan, name) &&
	       !variable_row_find(reserved_variables, reserved_variable_count, name);
}

static void add(struct connections *all, struct plan_variable variable)
{
	vec_push(all->arena, &all->plan->variables, variable);
}

void connection_pass(struct connections *all, const char *name, const char *value, const char *why)
{
	add(all, (struct plan_variable){ .name = name,
					 .value = value,
					 .origin = { .kind = ORIGIN_ALLOWED },
					 .why = why });
}

void connection_generate(struct connections *all, const char *name, const char *value,
			 const char *why)
{
	add(all, (struct plan_variable){ .name = name, .value = value, .why = why });
}

static const char *join(struct arena *arena, const strings *names, size_t most,
			const char *separator)
{
	struct text out = { .arena = arena };

	for (size_t i = 0; i < names->count && i < most; i++)
		text_printf(&out, "%s%s", i ? separator : "", names->items[i]);
	return text_get(&out);
}

const char *connection_by_name(const struct connections *all, const strings *names)
{
	return plan_pass_option(all->arena, all->plan->config, names);
}

void connection_leave_out(struct connections *all, const strings *names, const char *what,
			  const char *why, const char *option)
{
	const char *list = join(all->arena, names, names->count, ", ");

	if (!names->count)
		return;
	vec_each(name, names)
		vec_push(all->arena, &all->named, *name);
	plan_leave_out(all->plan, all->arena,
		       what ? arena_printf(all->arena, "%s: %s", what, list) : list, why,
		       option ? option : connection_by_name(all, names));
}

bool connection_named(const struct connections *all, const char *name)
{
	vec_each(known, &all->named) {
		if (str_equal(*known, name))
			return true;
	}
	vec_each(row, &all->plan->left_out) {
		if (str_equal(str_after(row->what, "variable "), name))
			return true;
	}
	return false;
}

// Names the variables of the host that look like secrets, in one row.
static void leave_out_secrets(struct connections *all)
{
	strings names = { 0 };
	strings first = { 0 };
	const char *list;

	vec_each(entry, &all->facts->environment) {
		size_t length = strcspn(*entry, "=");
		const char *name = arena_strndup(all->arena, *entry, length);
		const char *kind;

		if (connection_open(all, name) && !connection_named(all, name) &&
		    !variable_row_find(registry_variables, registry_variable_count, name) &&
		    secret_variable(name, *entry + length + 1, &kind) != SECRET_NONE)
			vec_push(all->arena, &names, name);
	}
	if (!names.count)
		return;
	vec_each(name, &names)
		vec_push(all->arena, &all->named, *name);
	for (size_t i = 0; i < names.count && i < LISTED_SECRETS; i++)
		vec_push(all->arena, &first, names.items[i]);
	list = join(all->arena, &names, LISTED_SECRETS, ", ");
	if (names.count > LISTED_SECRETS)
		list = arena_printf(all->arena, "%s and %zu more", list,
				    names.count - LISTED_SECRETS);
	plan_leave_out_kind(all->plan, all->arena, LEFT_OUT_MINOR,
			    arena_printf(all->arena, "variables: %s", list),
			    "they look like secrets", connection_by_name(all, &first));
}

void plan_build_connections(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	struct connections all = { .plan = plan, .arena = arena, .facts = facts };

	connections_add_certificates(&all);
	connections_add_proxies(&all);
	connections_add_api(&all);
	connections_add_clouds(&all);
	leave_out_secrets(&all);
	connections_leave_out_others(&all);
}
