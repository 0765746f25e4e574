// SPDX-License-Identifier: MIT
// --check: bwrap, claude, the shell and git.
#include "check/programs.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "box/sandbox.h"
#include "check/finding.h"
#include "config/config.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "probe/programs.h"
#include "render/bwrap.h"
#include "render/check.h"
#include "sys/capture.h"

#include <string.h>

static const char *first_line(struct arena *arena, const char *text)
{
	return quote_display(arena, arena_strndup(arena, text, strcspn(text, "\n")), 160);
}

struct finding check_bwrap(struct arena *arena, const struct facts *facts,
			   const struct config *config)
{
	const char *const arguments[] = { "bwrap", "--version", NULL };
	const char *output;
	const char *version;
	const char *problem;
	const char *fix = "run the command that `claudebox --dry-run` prints, to see the error";

	(void)config;
	if (!facts->bwrap)
		return finding_missing(
			"not on PATH",
			"`apt install bubblewrap` (Debian, Ubuntu), "
			"`dnf install bubblewrap` (Fedora), `pacman -S bubblewrap` (Arch)");
	capture_output(arena, facts->bwrap, arguments, &version);
	if (!facts->bwrap_disables_userns)
		return finding_broken(arena_printf(arena, "%s does not support --disable-userns",
						   first_line(arena, version)),
				      "install bubblewrap 0.8 or later");
	if (sandbox_try(arena, facts->bwrap, &output))
		return finding_ok(arena_printf(
			arena, "%s, creates a sandbox with a seccomp filter%s",
			first_line(arena, version),
			facts->bwrap_binds_descriptors ? "" : "; no --bind-fd (needs 0.10)"));
	problem = sandbox_find_problem(arena, &fix);
	return finding_broken(arena_printf(arena, "cannot create a sandbox: %s",
					   problem ? problem : first_line(arena, output)),
			      fix);
}

// Returns a bwrap command for `claude --version` in the box of this plan, without the parts that
// belong to the user: no project, no state, no credentials, no network.
static strings strict_box(struct arena *arena, const struct plan *plan, size_t program_words)
{
	bwrap_options options = render_bwrap(plan, arena);
	strings words = { 0 };

	vec_push(arena, &words, "bwrap");
	vec_push(arena, &words, "--unshare-net");
	vec_each(option, &options) {
		bool writable = option->mount && option->mount->kind == MOUNT_WRITABLE;

		if (writable || option->operand == OPERAND_DATA ||
		    option->operand == OPERAND_SECCOMP || str_equal(option->flag, "--chdir") ||
		    (option->variable && option->variable->origin.kind != ORIGIN_GENERATED))
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
	for (size_t i = 0; i < program_words; i++)
		vec_push(arena, &words, plan->command.items[i]);
	vec_push(arena, &words, "--version");
	vec_push(arena, &words, NULL);
	return words;
}

// claude may come from the project (node_modules/.bin on PATH), so it runs in a box here as well.
struct finding check_claude(struct arena *arena, const struct facts *facts,
			    const struct config *config)
{
	struct error error = { .arena = arena };
	struct config claude = { .payload = PAYLOAD_CLAUDE, .home = HOME_NONE };
	const char *found = facts->agent.found ? quote_display(arena, facts->agent.found, 0) : "";
	struct plan plan;
	const char *output;

	(void)config;
	if (facts->agent.problem)
		return facts->agent.found || facts->agent.untrusted_programs.count
			       ? finding_broken(facts->agent.problem, facts->agent.hint)
			       : finding_missing("not on PATH", facts->agent.hint);
	if (!plan_build(&plan, arena, &claude, facts, &error) || !plan_check(&plan, facts, &error))
		return finding_ok(arena_printf(arena, "%s, not tested", found));
	if (capture_output(arena, facts->bwrap,
			   strict_box(arena, &plan, facts->agent.command.count).items,
			   &output) != 0)
		return finding_broken(
			arena_printf(arena, "'%s --version' fails in a box", found),
			facts->store.only
				? "the box has libraries of /nix/store only: install Claude Code "
				  "with nix, or its native build, which needs the C library only"
				: "run `claude --version` on the host, and then in a box: "
				  "`claudebox --shell`");
	return finding_ok(arena_printf(arena, "%s, %s", first_line(arena, output), found));
}

struct finding check_shell(struct arena *arena, const struct facts *facts,
			   const struct config *config)
{
	(void)config;
	(void)arena;
	if (facts->shell)
		return finding_ok(facts->shell);
	return facts->store.only
		       ? finding_missing("neither bash nor zsh in /nix/store",
					 "install claudebox with nix again, or add bash "
					 "to your PATH (NixOS)")
		       : finding_missing("neither bash nor zsh in /usr/bin", "install bash");
}

struct finding check_program(struct arena *arena, const struct facts *facts, const char *name,
			     const char *fix)
{
	const char *program = probe_program(arena, facts, name, NULL);
	const char *const words[] = { name, "--version", NULL };
	const char *output;

	if (!program)
		return finding_missing("not on PATH", fix);
	if (capture_output(arena, program, words, &output) != 0)
		return finding_broken(arena_printf(arena, "'%s --version' fails",
						   quote_display(arena, program, 0)),
				      fix);
	return finding_ok(first_line(arena, output));
}

struct finding check_git(struct arena *arena, const struct facts *facts,
			 const struct config *config)
{
	(void)config;
	return check_program(arena, facts, "git",
			     "install git, so that commits in the box have your name and e-mail");
}
