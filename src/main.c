// SPDX-License-Identifier: MIT
// The command table, and the steps that a command needs: options, facts, packages, plan.
//
// An error that ends the program is returned up to main, which prints it once.
#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "box/box.h"
#include "check/check.h"
#include "config/config.h"
#include "config/options/options.h"
#include "config/options/help.h"
#include "config/profile/profile.h"
#include "guard/git/copies.h"
#include "guard/quarantine/command.h"
#include "guard/recover.h"
#include "network/dns_relay.h"
#include "nix/packages.h"
#include "nix/requested_packages.h"
#include "plan/approval.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "probe/claude/commands.h"
#include "probe/guard.h"
#include "probe/probe.h"
#include "probe/profile/profile.h"
#include "prove/bait.h"
#include "prove/plant.h"
#include "prove/prove.h"
#include "render/audit/audit.h"
#include "render/audit/short.h"
#include "render/dry_run.h"
#include "render/json.h"
#include "report/report.h"
#include "snapshot/diff.h"
#include "snapshot/undo/command.h"
#include "state/conversations.h"
#include "state/gc.h"
#include "state/open_state.h"
#include "state/replaced.h"
#include "sys/ask.h"
#include "sys/output.h"
#include "sys/process_setup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// The results of the steps so far.
struct session {
	struct arena arena;
	struct config config;
	struct facts facts;
	struct plan plan;
	struct prove prove;
	const char *requested_record; // the answer about requested packages, to store; NULL: none
	int status;                   // the exit status
};

enum step {
	STEP_OPTIONS, // the command line alone
	STEP_PROJECT, // the facts about the user, the project and its instance are collected
	STEP_FACTS,   // the profile is applied, the facts are collected
	STEP_PLAN,    // packages are resolved, the plan is built and checked
};

struct command {
	enum step needs;
	unsigned int facts;       // enum probe_needs, in addition to those of the configuration
	bool reports_bad_profile; // as a result; for other commands it is an error
	bool plants_before_facts; // canaries of --prove that a caller could have left behind
	bool (*run)(struct session *session, struct error *error);
};

static bool print_help(struct session *session, struct error *error)
{
	struct reader reader = output_reader(STDOUT_FILENO);

	return output_print(STDOUT_FILENO, options_render_help(&session->arena, reader), error);
}

static bool print_version(struct session *session, struct error *error)
{
	(void)session;
	return output_print(STDOUT_FILENO, "claudebox " CLAUDEBOX_VERSION "\n", error);
}

static bool manage_instances(struct session *session, struct error *error)
{
	return instances_command(&session->config, &session->arena, &session->status, error);
}

static bool manage_quarantine(struct session *session, struct error *error)
{
	return quarantine_command(&session->config, &session->facts, &session->arena,
				  &session->status, error);
}

static bool show_changes(struct session *session, struct error *error)
{
	return diff_command(&session->config, &session->facts, &session->arena, &session->status,
			    error);
}

static bool undo_session(struct session *session, struct error *error)
{
	return undo_command(&session->config, &session->facts, &session->arena, &session->status,
			    error);
}

static bool show_report(struct session *session, struct error *error)
{
	return report_command(&session->config, &session->facts, &session->arena, &session->status,
			      error);
}

static bool check_machine(struct session *session, struct error *error)
{
	return check_command(&session->config, &session->facts, &session->arena, &session->status,
			     error);
}

static bool print_plan(struct session *session, struct error *error)
{
	bool json = session->config.output == OUTPUT_JSON;

	return output_print(STDOUT_FILENO,
			    json ? render_json(&session->plan, &session->arena)
				 : render_dry_run(&session->plan, &session->arena),
			    error);
}

static bool prove_box(struct session *session, struct error *error)
{
	return prove_command(&session->prove, &session->config, &session->facts, &session->plan,
			     &session->status, error);
}

// Prints the audit in full, in short, or changes and warnings alone.
static void show_audit(struct session *session, bool full)
{
	struct reader reader = output_reader(STDERR_FILENO);
	const struct plan *plan = &session->plan;

	if (full)
		fputs(render_audit(plan, &session->arena, reader), stderr);
	else if (plan->must_ask)
		fputs(render_audit_short(plan, &session->arena, reader, ask_possible()), stderr);
	else if (session->config.audit != AUDIT_QUIET)
		fputs(render_audit_changes(plan, &session->arena, reader), stderr);
}

// Completes the error that there is no terminal for the question. Returns false.
static bool explain_no_question(const struct session *session, bool silent, struct error *error)
{
	const char *misplaced = options_misplaced(&session->config);

	if (misplaced)
		return error_hint(error,
				  "'%s' is an argument of the command: options of claudebox go "
				  "before --exec",
				  quote_display(error->arena, misplaced, 60));
	if (silent)
		return error_hint(error, "claudebox --dry-run shows the box: start with --yes if "
					 "you agree");
	return error_hint(error, "the list above is the box, and --audit=full shows all of it: "
				 "start with --yes if you agree");
}

// Shows the short form and asks. The answer to show the full list leads to the question again.
// Without a terminal nothing starts, and the short form says why.
static bool confirm_start(struct session *session, struct error *error)
{
	struct plan *plan = &session->plan;
	bool offer = plan->state.home && session->facts.state.home_exists && plan->new_grants.count;
	bool possible = ask_possible();
	bool silent = !possible && session->config.audit == AUDIT_QUIET;
	bool full = session->config.audit == AUDIT_FULL;
	char letter = '\0';

	do {
		struct ask_key keys[2];
		size_t count = 0;

		full |= letter == *AUDIT_DETAILS;
		if (!full)
			keys[count++] = (struct ask_key){ *AUDIT_DETAILS, "show everything" };
		if (offer)
			keys[count++] = (struct ask_key){ 'e', "with an empty home" };
		if (!silent)
			show_audit(session, full);
		if (!ask_confirmation(keys, count, &letter, error))
			return possible ? false : explain_no_question(session, silent, error);
	} while (letter == *AUDIT_DETAILS);
	plan->state.empty_home = letter == 'e';
	plan->state.new_approval = approval_render(&session->arena, plan);
	return true;
}

static bool launch(struct session *session, struct error *error)
{
	struct plan *plan = &session->plan;

	plan->state.new_requested = session->requested_record;
	if (!plan->must_ask)
		show_audit(session, session->config.audit == AUDIT_FULL);
	else if (!confirm_start(session, error))
		return false;
	if (!resolve_conversations(&session->facts, plan, &session->arena, error))
		return false;
	return box_run(plan, &session->arena, &session->status, error);
}

static const struct command commands[] = {
	[ACTION_LAUNCH] = { STEP_PLAN, .run = launch },
	[ACTION_DRY_RUN] = { STEP_PLAN, .run = print_plan },
	[ACTION_CHECK] = { STEP_FACTS, .facts = PROBE_NETWORK | PROBE_NIX | PROBE_SYSTEMD,
			   .reports_bad_profile = true, .run = check_machine },
	[ACTION_PROVE] = { STEP_PLAN, .plants_before_facts = true, .run = prove_box },
	[ACTION_INSTANCES] = { STEP_OPTIONS, .run = manage_instances },
	[ACTION_GC] = { STEP_OPTIONS, .run = manage_instances },
	[ACTION_DIFF] = { STEP_PROJECT, .run = show_changes },
	[ACTION_UNDO] = { STEP_PROJECT, .run = undo_session },
	[ACTION_REPORT] = { STEP_PROJECT, .run = show_report },
	[ACTION_QUARANTINE] = { STEP_PROJECT, .run = manage_quarantine },
	[ACTION_HELP] = { STEP_OPTIONS, .run = print_help },
	[ACTION_VERSION] = { STEP_OPTIONS, .run = print_version },
};

// Finds the profile and merges it into the configuration.
static bool apply_profile(struct session *session, const struct command *command,
			  struct error *error)
{
	struct config *config = &session->config;
	struct profile_facts *profile = &session->facts.profile;
	profile_chain chain = { 0 };
	bool ok = probe_profile(&session->facts, &session->arena, config->profile, profile, &chain,
				error) &&
		  profile_apply(config, &session->arena, chain.items, chain.count, error);

	profile_release(&chain);
	profile->name = config->profile;
	config->profile_directory = profile->directory;
	if (ok || !command->reports_bad_profile)
		return ok;
	profile->problem = error->message;
	profile->fix = error->hint;
	*error = (struct error){ .arena = error->arena };
	return true;
}

// Completes what a killed launch could not do any more: writes its settings of git to the
// repository, and moves places that its box has created. Both are facts for this launch.
static void recover(struct session *session)
{
	struct facts *facts = &session->facts;
	struct copies_left left;
	strings notes = { 0 };

	left = copies_recover(plan_instance_path(&session->arena, facts), facts->project,
			      &session->arena, &notes);
	if (left.since_ns) {
		probe_guard(facts, &session->arena);
		guard_recover(facts, &session->config, &left, &session->arena, &notes);
		facts->guard = (struct guard_facts){ 0 };
	}
	vec_each(note, &notes)
		output_message("guard", "%s", *note);
}

static bool collect_facts(struct session *session, const struct command *command,
			  struct error *error)
{
	struct config *config = &session->config;
	struct probe probe;

	if (!probe_base(&probe, &session->facts, &session->arena, config, environ, error))
		return false;
	if (command->needs == STEP_PROJECT)
		return true;
	if (!apply_profile(session, command, error) || !options_check(config, error) ||
	    !resolve_open_state(config, &session->facts, error) ||
	    !resolve_replaced_state(config, &session->facts, error))
		return false;
	if (config->action == ACTION_LAUNCH || config->action == ACTION_PROVE)
		recover(session);
	probe_all(&probe, &session->facts, &session->arena, config, command->facts);
	return true;
}

// Asks about the packages that the repository requests, and resolves those and the profile's to
// store paths. Their paths are facts for the plan. This step can ask the user and can build.
static bool prepare_packages(struct session *session, struct error *error)
{
	if (!resolve_requested_packages(&session->config, &session->facts, &session->arena,
					&session->requested_record, error) ||
	    !packages_resolve(&session->facts, &session->config, &session->arena, error))
		return false;
	if (session->facts.packages.count)
		probe_claude_commands(&session->facts, &session->arena, &session->config);
	return true;
}

static bool build_plan(struct session *session, struct error *error)
{
	if (session->config.action == ACTION_PROVE)
		prove_bait_settings(&session->facts, &session->arena, session->prove.token);
	return plan_build(&session->plan, &session->arena, &session->config, &session->facts,
			  error) &&
	       plan_check(&session->plan, &session->facts, error);
}

static bool run_command(struct session *session, struct error *error)
{
	const struct command *command = &commands[session->config.action];

	if (command->plants_before_facts && !prove_begin(&session->prove, &session->arena, error))
		return false;
	if (!close_inherited_on_exec(error))
		return false;
	if (command->needs >= STEP_PROJECT && !collect_facts(session, command, error))
		return false;
	if (command->needs >= STEP_PLAN &&
	    (!prepare_packages(session, error) || !build_plan(session, error)))
		return false;
	return command->run(session, error);
}

int main(int argc, char **argv)
{
	struct session session = { .config.extra_env = getenv("CLAUDEBOX_EXTRA_ENV"),
				   .prove.journal = -1 };
	struct error error = { .arena = &session.arena };

	// A helper of the supervisor is this program under another name.
	if (argc > 0 && str_equal(argv[0], DNS_RELAY_COMMAND))
		dns_relay_run(getppid());
	if (!process_setup(&error) ||
	    !options_parse(&session.config, &session.arena, argc, argv, &error) ||
	    !run_command(&session, &error)) {
		output_error(&error);
		session.status = error.status;
	}
	arena_free(&session.arena);
	return session.status;
}
