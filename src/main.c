// SPDX-License-Identifier: MIT
// Read, plan, act. The only place that prints an error.
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "config/options.h"
#include "host/probe.h"
#include "plan/approval.h"
#include "plan/plan.h"
#include "plan/render.h"
#include "plan/tables.h"
#include "run/packages.h"
#include "run/prove.h"
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool apply_profile(struct config *config, struct arena *arena, struct host *host,
			  struct error *error)
{
	profile_chain chain = { 0 };
	bool ok = probe_profile(host, arena, config->profile, &chain, error) &&
		  profile_apply(config, arena, chain.items, chain.count, error);

	host->profile.name = config->profile;
	if (ok || config->action != ACTION_CHECK)
		return ok;
	// One line among others.
	host->profile.problem = error->message;
	host->profile.fix = error->hint;
	*error = (struct error){ .arena = error->arena };
	return true;
}

// The daemon takes milliseconds to answer: a box that will not have it does not wait.
static void hear_nix(struct nix_question *question, struct host *host, struct arena *arena,
		     const struct config *config)
{
	if (!plan_wants_daemon(config) && config->action != ACTION_CHECK) {
		if (question->socket >= 0)
			close(question->socket);
		return;
	}
	probe_nix_finish(question, host, arena);
	if (host_file(host, NIX_DAEMON))
		probe_nix_client(host, arena);
}

static bool act(struct config *config, struct arena *arena, struct prove *prove, int *ret_status,
		struct error *error)
{
	struct nix_question question = { .socket = -1 };
	struct host host = { 0 };
	const char *wish_record;
	struct plan plan;

	if (plan_wants_daemon(config)) // beside the rest; a profile may know better
		question = probe_nix_start();
	if (!probe_host(&host, arena, environ, error) ||
	    !apply_profile(config, arena, &host, error) || !options_check(config, error))
		return false;
	hear_nix(&question, &host, arena, config);
	probe_mounts(&host, arena, config);
	probe_cgroup(&host, arena, config);
	if (config->network == NETWORK_INET || config->action == ACTION_CHECK)
		probe_network(&host, arena);
	if (config->action == ACTION_CHECK)
		return run_check(config, &host, arena, ret_status, error);
	if (!run_settle_wishes(config, &host, arena, &wish_record, error) ||
	    !run_resolve_packages(&host, config, arena, error))
		return false;
	if (!plan_build(&plan, arena, config, &host, error) || !plan_check(&plan, &host, error))
		return false;
	if (config->action == ACTION_DRY_RUN)
		return run_print(STDOUT_FILENO,
				 config->output == OUTPUT_JSON ? render_json(&plan, arena)
							       : render_dry_run(&plan, arena),
				 error);
	if (config->action == ACTION_PROVE)
		return run_prove(prove, config, &host, &plan, ret_status, error);
	plan.state.new_wish = wish_record;
	fputs(render_audit(&plan, arena, run_find_reader(STDERR_FILENO)), stderr);
	if (plan.must_ask) {
		if (!run_confirm(error))
			return false;
		plan.state.new_approval = approval_render(arena, &plan);
	}
	return run_box(&plan, arena, ret_status, error);
}

int main(int argc, char **argv)
{
	struct arena arena = { 0 };
	struct error error = { .arena = &arena };
	struct config config = { .extra_env = getenv("CLAUDEBOX_EXTRA_ENV") };
	struct prove prove = { .journal = -1 };
	int status = 0;
	bool ok;

	ok = run_settle_in(&error) && options_parse(&config, &arena, argc, argv, &error) &&
	     (config.action != ACTION_PROVE || prove_begin(&prove, &arena, &error)) &&
	     run_close_on_execution(&error);

	if (ok && config.action == ACTION_HELP)
		ok = run_print(STDOUT_FILENO,
			       options_render_help(&arena, run_find_reader(STDOUT_FILENO)), &error);
	else if (ok && config.action == ACTION_VERSION)
		ok = run_print(STDOUT_FILENO, "claudebox " CLAUDEBOX_VERSION "\n", &error);
	else if (ok && (config.action == ACTION_INSTANCES || config.action == ACTION_GC))
		ok = run_instances(&config, &arena, &status, &error);
	else if (ok)
		ok = act(&config, &arena, &prove, &status, &error);
	if (!ok) {
		run_tell_error(&error);
		status = error.status;
	}
	arena_free(&arena);
	return status;
}
