// SPDX-License-Identifier: MIT
// Read, plan, act. The only place that prints an error.
#include "base/arena.h"
#include "base/error.h"
#include "box/box.h"
#include "check/check.h"
#include "config/config.h"
#include "config/options.h"
#include "config/profile.h"
#include "nix/packages.h"
#include "nix/requested_packages.h"
#include "plan/approval.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "probe/probe.h"
#include "probe/profile.h"
#include "prove/plant.h"
#include "prove/prove.h"
#include "render/audit.h"
#include "render/dry_run.h"
#include "render/json.h"
#include "state/gc.h"
#include "sys/ask.h"
#include "sys/output.h"
#include "sys/process_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool apply_profile(struct config *config, struct arena *arena, struct facts *facts,
			  struct error *error)
{
	profile_chain chain = { 0 };
	bool ok = probe_profile(facts, arena, config->profile, &chain, error) &&
		  profile_apply(config, arena, chain.items, chain.count, error);

	facts->profile.name = config->profile;
	if (ok || config->action != ACTION_CHECK)
		return ok;
	// One line among others.
	facts->profile.problem = error->message;
	facts->profile.fix = error->hint;
	*error = (struct error){ .arena = error->arena };
	return true;
}

static bool act(struct config *config, struct arena *arena, struct prove *prove, int *ret_status,
		struct error *error)
{
	unsigned int needs =
		config->action == ACTION_CHECK ? PROBE_NETWORK | PROBE_NIX | PROBE_SYSTEMD : 0;
	struct facts facts = { 0 };
	struct probe probe;
	const char *requested_record;
	struct plan plan;

	if (!probe_base(&probe, &facts, arena, config, environ, error) ||
	    !apply_profile(config, arena, &facts, error) || !options_check(config, error))
		return false;
	probe_all(&probe, &facts, arena, config, needs);
	if (config->action == ACTION_CHECK)
		return check_command(config, &facts, arena, ret_status, error);
	if (!resolve_requested_packages(config, &facts, arena, &requested_record, error) ||
	    !packages_resolve(&facts, config, arena, error))
		return false;
	if (!plan_build(&plan, arena, config, &facts, error) || !plan_check(&plan, &facts, error))
		return false;
	if (config->action == ACTION_DRY_RUN)
		return output_print(STDOUT_FILENO,
				    config->output == OUTPUT_JSON ? render_json(&plan, arena)
								  : render_dry_run(&plan, arena),
				    error);
	if (config->action == ACTION_PROVE)
		return prove_command(prove, config, &facts, &plan, ret_status, error);
	plan.state.new_requested = requested_record;
	fputs(render_audit(&plan, arena, output_reader(STDERR_FILENO)), stderr);
	if (plan.must_ask) {
		if (!ask_confirmation(error))
			return false;
		plan.state.new_approval = approval_render(arena, &plan);
	}
	return box_run(&plan, arena, ret_status, error);
}

int main(int argc, char **argv)
{
	struct arena arena = { 0 };
	struct error error = { .arena = &arena };
	struct config config = { .extra_env = getenv("CLAUDEBOX_EXTRA_ENV") };
	struct prove prove = { .journal = -1 };
	int status = 0;
	bool ok;

	ok = process_setup(&error) && options_parse(&config, &arena, argc, argv, &error) &&
	     (config.action != ACTION_PROVE || prove_begin(&prove, &arena, &error)) &&
	     close_inherited_on_exec(&error);

	if (ok && config.action == ACTION_HELP)
		ok = output_print(STDOUT_FILENO,
				  options_render_help(&arena, output_reader(STDOUT_FILENO)),
				  &error);
	else if (ok && config.action == ACTION_VERSION)
		ok = output_print(STDOUT_FILENO, "claudebox " CLAUDEBOX_VERSION "\n", &error);
	else if (ok && (config.action == ACTION_INSTANCES || config.action == ACTION_GC))
		ok = instances_command(&config, &arena, &status, &error);
	else if (ok)
		ok = act(&config, &arena, &prove, &status, &error);
	if (!ok) {
		output_error(&error);
		status = error.status;
	}
	arena_free(&arena);
	return status;
}
