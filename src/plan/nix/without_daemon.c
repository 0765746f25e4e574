// SPDX-License-Identifier: MIT
// Nix in a box that does not get the daemon: its commands say why.
//
// Theory of operation: without the daemon and without settings, `nix shell` reports a disabled
// experimental feature. With generated settings it fails at the daemon's socket. A program of the
// same name, first in PATH, runs the real one and adds the reason if it fails.
#include "plan/nix/without_daemon.h"

#include "base/arena.h"
#include "base/quote.h"
#include "plan/plan.h"

static const char *const programs[] = { "nix", "nix-shell", "nix-build", "nix-env" };

static void add_file(struct plan *plan, struct arena *arena, const char *path, const char *content,
		     unsigned int mode)
{
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_DATA,
					    .source = content,
					    .path = path,
					    .mode = mode,
					    .why = "nix says why there is no daemon" });
}

void plan_explain_missing_daemon(struct plan *plan, struct arena *arena, bool store_only)
{
	bool newline;
	const char *script;

	if (!plan->nix_daemon_left_out)
		return;
	plan_leave_out(plan, arena, "the Nix daemon", plan->nix_daemon_left_out, NULL);
	add_file(plan, arena, "/etc/nix/nix.conf",
		 "extra-experimental-features = nix-command flakes\n"
		 "store = unix://" BOX_RUN "/no-nix-daemon\n",
		 0444);
	if (store_only)
		return;
	script = arena_printf(
		arena,
		"#!/bin/sh\n"
		"# Runs the program of the same name further down in PATH.\n"
		"while case $PATH in *" BOX_NIX ":*) ;; *) false ;; esac; do\n"
		"\tPATH=${PATH%%%%" BOX_NIX ":*}${PATH#*" BOX_NIX ":}\n"
		"done\n"
		"\"${0##*/}\" \"$@\" && exit\n"
		"status=$?\n"
		"printf 'claudebox: this box does not have the Nix daemon: %%s\\n' %s >&2\n"
		"exit $status\n",
		quote_shell(arena, plan->nix_daemon_left_out, &newline));
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		add_file(plan, arena, arena_printf(arena, BOX_NIX "/%s", programs[i]), script,
			 0555);
}
