// SPDX-License-Identifier: MIT
// The proxies of the user, as far as they have no login and the box reaches them.
#include "base/arena.h"
#include "base/text.h"
#include "config/config.h"
#include "config/names.h"
#include "plan/connections/connections.h"
#include "plan/connections/endpoint.h"
#include "plan/connections/tables.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Variables that stay outside for the same reason.
struct group {
	const char *why;
	const char *option;
	strings names;
};
typedef VEC(struct group) groups;

static void add_to_group(struct arena *arena, groups *list, const char *why, const char *option,
			 const char *name)
{
	struct group *found = NULL;

	vec_each(group, list) {
		if (str_equal(group->why, why) && str_equal(group->option, option))
			found = group;
	}
	if (!found) {
		vec_push(arena, list, (struct group){ .why = why, .option = option });
		found = &list->items[list->count - 1];
	}
	vec_push(arena, &found->names, name);
}

void connections_add_proxies(struct connections *all)
{
	groups outside = { 0 };

	if (all->plan->config->network == NETWORK_NONE)
		return;
	for (size_t i = 0; i < proxy_variable_count; i++) {
		const struct variable_row *row = &proxy_variables[i];
		const char *value = facts_variable(all->facts, row->name);
		struct endpoint endpoint;
		const char *option = NULL;
		const char *why;

		if (!value || !connection_open(all, row->name))
			continue;
		endpoint = endpoint_parse(all->arena, value);
		if (!*value)
			why = NULL;
		else if (proxy_variable_is_list(row->name))
			why = endpoint_list_problem(value);
		else if (endpoint.login)
			why = "the address has a login";
		else if (endpoint.odd)
			why = "the form of the address is not understood";
		else
			why = endpoint_obstacle(all->arena, all->plan, &endpoint, &option);
		if (why)
			add_to_group(all->arena, &outside, why, option, row->name);
		else
			connection_pass(all, row->name, value, row->why);
	}
	vec_each(group, &outside)
		connection_leave_out(all, &group->names, NULL, group->why, group->option);
}
