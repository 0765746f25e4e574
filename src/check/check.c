// SPDX-License-Identifier: MIT
// --check (UX-05): is everything here that a box needs, and does it work?
#include "check/check.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/text.h"
#include "box/box.h"
#include "check/nix.h"
#include "check/sandbox.h"
#include "check/system.h"
#include "config/config.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/limits.h"
#include "plan/plan.h"
#include "probe/programs.h"
#include "render/bwrap.h"
#include "render/check.h"
#include "sys/capture.h"
#include "sys/output.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct check {
	const char *name;
	const char *group;
	// Whether no box starts without it.
	bool (*required)(const struct config *config);
	struct finding (*look)(struct arena *arena, const struct facts *facts,
			       const struct config *config);
};

static const char *first_line(struct arena *arena, const char *text)
{
	return quote_display(arena, arena_strndup(arena, text, strcspn(text, "\n")), 160);
}

static struct finding look_at_bwrap(struct arena *arena, const struct facts *facts,
				    const struct config *config)
{
	const char *const version[] = { "bwrap", "--version", NULL };
	const char *output;
	const char *number;
	const char *problem;
	const char *cure = "run the command that claudebox --dry-run prints, and see what it says";

	(void)config;
	if (!facts->bwrap)
		return check_missing(
			"not on PATH",
			"`apt install bubblewrap` (Debian, Ubuntu), "
			"`dnf install bubblewrap` (Fedora), `pacman -S bubblewrap` (Arch)");
	capture_output(arena, facts->bwrap, version, &number);
	if (!facts->bwrap_disables_userns)
		return check_broken(arena_printf(arena,
						 "%s cannot keep a box from making user namespaces "
						 "(--disable-userns)",
						 first_line(arena, number)),
				    "install bubblewrap 0.8 or later");
	if (check_try_sandbox(arena, facts->bwrap, &output))
		return check_ok(arena_printf(
			arena, "%s, makes a sandbox with a system-call filter%s",
			first_line(arena, number),
			facts->bwrap_binds_descriptors ? "" : "; without --bind-fd (0.10 has it)"));
	problem = check_userns_problem(arena, &cure);
	return check_broken(arena_printf(arena, "makes no sandbox: %s",
					 problem ? problem : first_line(arena, output)),
			    cure);
}

// The box of this plan with nothing of it that is yours: no project, no state, no sign-in, no network.
static strings strict_box(struct arena *arena, const struct plan *plan, size_t program_words)
{
	bwrap_options options = render_bwrap(plan, arena);
	strings words = { 0 };

	vec_push(arena, &words, "bwrap");
	vec_push(arena, &words, "--unshare-net");
	vec_each(option, &options) {
		bool yours = option->mount && option->mount->kind == MOUNT_WRITABLE;

		if (yours || option->operand == OPERAND_DATA ||
		    option->operand == OPERAND_SECCOMP || str_equal(option->flag, "--chdir") ||
		    (option->variable && option->variable->origin != ORIGIN_GENERATED))
			continue;
		if (option->mode) {
			vec_push(arena, &words, "--perms");
			vec_push(arena, &words, option->mode);
		}
		vec_push(arena, &words, option->flag);
		for (size_t i = 0; i < ARRAY_SIZE(option->arguments) && option->arguments[i]; i++)
			vec_push(arena, &words, option->arguments[i]);
	}
	vec_push(arena, &words, "--");
	// It shall say its version and nothing else.
	for (size_t i = 0; i < program_words; i++)
		vec_push(arena, &words, plan->command.items[i]);
	vec_push(arena, &words, "--version");
	vec_push(arena, &words, NULL);
	return words;
}

static struct finding look_at_claude(struct arena *arena, const struct facts *facts,
				     const struct config *wanted)
{
	struct error error = { .arena = arena };
	struct config config = { .payload = PAYLOAD_CLAUDE };
	const char *found = facts->agent.found ? quote_display(arena, facts->agent.found, 0) : "";
	struct plan plan;
	const char *output;

	(void)wanted;
	if (facts->agent.problem)
		return facts->agent.found || facts->agent.passed_over.count
			       ? check_broken(facts->agent.problem, facts->agent.hint)
			       : check_missing("not on PATH", facts->agent.hint);
	if (!plan_build(&plan, arena, &config, facts, &error) || !plan_check(&plan, facts, &error))
		return check_ok(arena_printf(arena, "%s, not tried", found));
	if (capture_output(arena, facts->bwrap,
			   strict_box(arena, &plan, facts->agent.command.count).items,
			   &output) != 0)
		return check_broken(
			arena_printf(arena, "%s does not say its version in a box", found),
			facts->store.only
				? "the box has libraries of /nix/store only: install Claude Code "
				  "with nix, or the native one, which needs none but the C library"
				: "run it by hand: claude --version; then in a box: claudebox "
				  "--shell");
	return check_ok(arena_printf(arena, "%s, %s", first_line(arena, output), found));
}

static struct finding look_at_shell(struct arena *arena, const struct facts *facts,
				    const struct config *config)
{
	(void)config;
	(void)arena;
	if (!facts->shell)
		return facts->store.only
			       ? check_missing("neither bash nor zsh of /nix/store",
					       "install claudebox again with nix, or bash on your "
					       "PATH (NixOS)")
			       : check_missing("neither bash nor zsh in /usr/bin", "install bash");
	return check_ok(facts->shell);
}

static struct finding look_at_state(struct arena *arena, const struct facts *facts,
				    const struct config *config)
{
	struct error error = { .arena = arena };

	(void)config;
	if (!plan_refuse_state(facts, &error))
		return check_broken(error.message, error.hint);
	if (facts->state.root_kind != FILE_MISSING)
		return check_ok(arena_printf(
			arena, "%s, mode %03o%s", quote_display(arena, facts->state.root, 0),
			(unsigned int)facts->state.root_mode & 0777,
			facts->state.flat.found ? "; of an earlier claudebox: the next start takes "
						  "it over, with a backup"
						: ""));
	if (access(facts->home, W_OK) < 0)
		return check_broken("the home directory cannot be written to",
				    "look at its owner and mode");
	return check_ok("not there yet: made at the first start");
}

static struct finding look_at_project(struct arena *arena, const struct facts *facts,
				      const struct config *config)
{
	struct error error = { .arena = arena };

	(void)config;
	if (!plan_refuse_project(facts, &error))
		return check_broken(error.message, error.hint);
	return check_ok(quote_display(arena, facts->project, 0));
}

static struct finding look_at_program(struct arena *arena, const struct facts *facts,
				      const char *name, const char *fix)
{
	const char *program = probe_program(arena, facts, name, NULL);
	const char *const words[] = { name, "--version", NULL };
	const char *output;

	if (!program)
		return check_missing("not on PATH", fix);
	if (capture_output(arena, program, words, &output) != 0)
		return check_broken(arena_printf(arena, "%s does not say its version",
						 quote_display(arena, program, 0)),
				    fix);
	return check_ok(first_line(arena, output));
}

static struct finding look_at_git(struct arena *arena, const struct facts *facts,
				  const struct config *config)
{
	(void)config;
	return look_at_program(arena, facts, "git",
			       "install git, for a name and e-mail in commits");
}

static struct finding look_at_pasta(struct arena *arena, const struct facts *facts,
				    const struct config *config)
{
	(void)config;
	return look_at_program(arena, facts, "pasta", "for --network inet: install passt");
}

static struct finding look_at_nft(struct arena *arena, const struct facts *facts,
				  const struct config *config)
{
	(void)config;
	return look_at_program(arena, facts, "nft", "for --network inet: install nftables");
}

static struct finding look_at_inet(struct arena *arena, const struct facts *facts,
				   const struct config *wanted)
{
	struct config config = { .payload = PAYLOAD_EXEC, .network = NETWORK_INET };
	struct error error = { .arena = arena };
	struct plan plan;

	(void)wanted;
	vec_push(arena, &config.arguments, "true");
	if (!plan_build(&plan, arena, &config, facts, &error))
		return check_ok("not tried: no box can start here");
	if (!plan_check(&plan, facts, &error))
		return check_missing(error.message, error.hint);
	if (!box_try_network(&plan, arena, &error))
		return check_broken(error.message, error.hint);
	return check_ok(plan.inet.ipv4 && plan.inet.ipv6 ? "connects a box, IPv4 and IPv6"
			: plan.inet.ipv4                 ? "connects a box, IPv4"
							 : "connects a box, IPv6");
}

// With what the command line asks for: all of it must fit this machine.
static struct finding look_at_profile(struct arena *arena, const struct facts *facts,
				      const struct config *config)
{
	const struct profile_facts *profile = &facts->profile;
	struct error error = { .arena = arena };
	struct config wanted = *config;
	struct plan plan;

	if (profile->problem)
		return check_broken(profile->problem, profile->fix);
	wanted.payload = PAYLOAD_SHELL;
	// Those have lines of their own.
	if (plan_refuse_project(facts, &error) && plan_refuse_state(facts, &error) &&
	    !plan_build(&plan, arena, &wanted, facts, &error))
		return check_broken(error.message, error.hint);
	return check_ok(profile->name ? profile->name : "none is chosen");
}

static bool always(const struct config *config)
{
	(void)config;
	return true;
}

static bool never(const struct config *config)
{
	(void)config;
	return false;
}

static bool for_inet(const struct config *config)
{
	return config->network == NETWORK_INET;
}

static bool for_packages(const struct config *config)
{
	return config->packages.count > 0;
}

#define EVERY_BOX "Every box"
#define MACHINE   "This machine"
#define INET      "Network inet"
#define NIX       "Nix"

static const struct check checks[] = {
	{ "bwrap", EVERY_BOX, always, look_at_bwrap },
	{ "claude", EVERY_BOX, always, look_at_claude },
	{ "shell", EVERY_BOX, always, look_at_shell },
	{ "state", EVERY_BOX, always, look_at_state },
	{ "project", EVERY_BOX, always, look_at_project },
	{ "profile", EVERY_BOX, always, look_at_profile },
	{ "path", MACHINE, never, check_path },
	{ "landlock", MACHINE, never, check_landlock },
	{ "git", MACHINE, never, look_at_git },
	{ "pasta", INET, for_inet, look_at_pasta },
	{ "nft", INET, for_inet, look_at_nft },
	{ "inet", INET, for_inet, look_at_inet },
	{ "limits", MACHINE, limits_asked_for, check_limits },
	{ "nix", NIX, for_packages, check_nix },
	{ "packages", NIX, for_packages, check_packages },
	{ "terminal", MACHINE, never, check_terminal },
};

bool check_command(const struct config *config, const struct facts *facts, struct arena *arena,
		   int *ret_status, struct error *error)
{
	finding_rows rows = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		vec_push(arena, &rows,
			 (struct finding_row){ .name = checks[i].name,
					       .group = checks[i].group,
					       .required = checks[i].required(config),
					       .found = checks[i].look(arena, facts, config) });
	*ret_status = findings_to_fix(&rows) ? EXIT_CHECK_FAILED : 0;
	return output_print(STDOUT_FILENO,
			    config->output == OUTPUT_JSON
				    ? render_check_json(arena, &rows)
				    : render_check(arena, &rows, output_reader(STDOUT_FILENO)),
			    error);
}
