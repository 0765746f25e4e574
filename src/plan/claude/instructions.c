// SPDX-License-Identifier: MIT
// SANDBOX.md (AWARE-01): tells Claude where it is, from the very plan that is run.
#include "plan/claude/instructions.h"

#include "base/arena.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/limits.h"
#include "plan/facts.h"
#include "plan/limits.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/tables.h"

static void add_project(struct text *out, const struct plan *plan, struct arena *arena,
			const struct facts *facts)
{
	const struct git_facts *git = plan_git(facts);

	if (plan->project_read_only)
		text_printf(
			out,
			"- The project `%s` is there to read, not to change. You can write to "
			"`/tmp` and to your home directory, which are gone after this session.\n",
			quote_display(arena, plan->project, 0));
	else
		text_printf(
			out,
			"- You can write to the project `%s`, to `/tmp` and to your home "
			"directory. Only the project, and your own state in `~/.claude`, outlive "
			"this session: put results in the project.\n",
			quote_display(arena, plan->project, 0));
	vec_each(mount, &plan->mounts) {
		if (mount->origin == ORIGIN_ASKED)
			text_printf(out, "- `%s` is there too, %s.\n",
				    quote_display(arena, mount->path, 0),
				    mount->kind == MOUNT_WRITABLE
					    ? "and you can change it, as the user asked"
					    : "to read");
	}
	if (git && !str_equal(git->top, plan->project))
		text_printf(out,
			    "- The rest of the repository, `%s`, is there to read, not to "
			    "change.\n",
			    quote_display(arena, git->top, 0));
	if (git && !plan->project_read_only)
		text_add(out,
			 "- git works here, commits included. There are no keys and no passwords: "
			 "pushing, fetching from private places and signing are for the user.\n");
	text_printf(out,
		    "- %s, read-only: `sudo` and installing system packages cannot work. Language "
		    "package managers work inside the project or the home directory.\n",
		    facts->store.only ? "Programs and libraries are those of the Nix store, and "
					"`/usr` is as good as empty"
				      : "Programs and libraries of the host are there");
}

// Names of packages are plain words: they were checked.
static void add_packages(struct text *out, const struct plan *plan)
{
	const char *before = NULL;

	vec_each(package, &plan->packages) {
		if (!str_equal(before, package->name))
			text_printf(out, "%s`%s`", before ? ", " : "- The user gave you ",
				    package->name);
		before = package->name;
	}
	if (before)
		text_add(out, " (packages of nixpkgs, first on `PATH`).\n");
}

static void add_tools(struct text *out, const struct plan *plan)
{
	add_packages(out, plan);
	if (plan_variable(plan, "NIX_REMOTE"))
		text_add(out,
			 "- A tool is missing? `nix shell nixpkgs#NAME -c COMMAND` gets it, or "
			 "`, COMMAND` where comma is installed. What is built stays in "
			 "`/nix/store`.\n");
	else
		text_add(out,
			 "- A tool is missing? Ask the user to install it on the host: it is in "
			 "the box from the next session on.\n");
}

static void add_network(struct text *out, const struct plan *plan)
{
	text_printf(out, "- %s\n", tier_table[plan->network].memory);
	vec_each(port, &plan->inet.host_ports)
		text_printf(out, "- `127.0.0.1:%u` is the user's own service on that port.\n",
			    port->number);
	vec_each(port, &plan->inet.published_ports)
		text_printf(out,
			    "- A server that you start on port %u can be opened by the user at "
			    "`http://127.0.0.1:%u`.\n",
			    port->number, port->number);
}

static void add_kernel(struct text *out, const struct plan *plan)
{
	text_add(out,
		 plan->user_namespaces
			 ? "- You can make user namespaces and mounts of your own: bubblewrap and "
			   "Chromium with its own sandbox work. Off are"
			 : "- User namespaces and mounting are off: Docker, podman, bubblewrap and "
			   "Claude Code's own sandbox cannot work, and Chromium needs "
			   "`--no-sandbox`. Off too are");
	text_add(out, " io_uring, bpf, perf, kernel keyrings, raw and other unusual sockets. "
		      "Debuggers and strace work on what they start.\n");
	if (plan_provides(plan, CONTAINERS_STORAGE))
		text_add(
			out,
			"- podman, if it is installed, works with crun. A container has this box's "
			"network and ports (`-p` and networks of its own are not needed and not "
			"there; `--network none` works) and one user, its root, which is you: "
			"`--user`, and images or installers that switch to another user, fail "
			"(`--user 0`, `apt-get -o APT::Sandbox::User=root`). Images are memory, and "
			"gone after this session.\n");
}

static void add_limits(struct text *out, const struct plan *plan, struct arena *arena)
{
	const char *before = "- This box has at most ";

	for (int limit = 0; limit < LIMIT_COUNT && plan->limits.way != LIMITS_NONE; limit++) {
		unsigned long long value = plan->limits.values[limit].value;

		if (!value)
			continue;
		text_printf(out, "%s%s", before,
			    limits_render_text(arena, (enum limit)limit, value));
		before = ", ";
	}
	if (*before != ',')
		return;
	text_add(out, ". One process too many is not started");
	if (plan->limits.values[LIMIT_MEMORY].value)
		text_add(out, "; one that takes too much memory is killed, and files in `/tmp` and "
			      "in the home directory are memory too");
	text_add(out, ": run less at once (`make -j2`), do not retry.\n");
}

const char *plan_render_instructions(const struct plan *plan, struct arena *arena,
				     const struct facts *facts)
{
	struct text out = { .arena = arena };

	if (facts->policy_instructions)
		text_printf(&out, "%s\n", facts->policy_instructions);
	text_add(&out,
		 "# You are in a sandbox (claudebox)\n\n"
		 "This session runs in a box that the user started with `claudebox`. It is the "
		 "permission layer: you need not ask before you run commands or change files.\n\n");
	add_project(&out, plan, arena, facts);
	add_tools(&out, plan);
	add_network(&out, plan);
	add_kernel(&out, plan);
	add_limits(&out, plan, arena);
	text_add(&out,
		 "- Not here, on purpose: SSH and GPG keys, cloud and registry credentials, the "
		 "user's other projects and home directory, shell history, Docker, D-Bus, the "
		 "desktop and its clipboard.\n"
		 "- Something is refused or missing (permission denied, read-only file system, no "
		 "such file outside the project)? That is the box, not an accident: do not retry, "
		 "do not look for a way around it. Tell the user what you need and why.\n");
	return text_get(&out);
}
