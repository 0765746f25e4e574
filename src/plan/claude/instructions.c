// SPDX-License-Identifier: MIT
// Renders the instructions for Claude in the box: what the plan permits and what it leaves out.
//
// Every sentence must be true of every plan that it is rendered for: tests/box/test_instructions.py
// names the test that shows it.
#include "plan/claude/instructions.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/limits.h"
#include "plan/claude/files.h"
#include "plan/facts.h"
#include "plan/git/wrapper.h"
#include "plan/home/installs.h"
#include "plan/limits.h"
#include "plan/guard/unprotect.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/registries/registries.h"
#include "plan/tables.h"

#include <string.h>

static void add_home(struct text *out, const struct plan *plan, struct arena *arena)
{
	static const char *const seen_by[HOME_MODE_COUNT] = {
		[HOME_PROJECT] = "Sessions in this project share the home directory; it is not the "
				 "user's own on the host.",
		[HOME_SHARED] =
			"Sessions in other projects can share the home directory; it is not "
			"the user's own on the host. Do not put anything of this project "
			"there.",
		[HOME_NONE] = "Every session has a new home directory, in memory; it is not the "
			      "user's own on the host.",
	};

	text_printf(out, "- %s", seen_by[plan->config->home]);
	if (plan_can_install(plan, arena))
		text_printf(out,
			    " `npm install -g`, `cargo install` and `go install` put programs into "
			    "`~/.local/bin`, which is %s `PATH`%s.",
			    plan_has_installs(plan, arena) ? "on" : "not on",
			    plan->state.home ? ", and they are there in the next session" : "");
	text_add(out, "\n");
}

// Describes the repository around the project.
static void add_git(struct text *out, const struct plan *plan, struct arena *arena,
		    const struct git_facts *git)
{
	const char *main = path_parent(arena, git->common);

	if (!str_equal(git->top, plan->project))
		text_printf(out, "- The rest of the worktree `%s` is read-only.\n",
			    quote_display(arena, git->top, 0));
	if (!str_equal(git->directory, git->common) && str_equal(path_name(git->common), ".git"))
		text_printf(out,
			    "- This is a linked worktree. Of the main worktree `%s`, only the git "
			    "directory %s in the box, unless the user added more: the user does "
			    "not see other files that you write there.\n",
			    quote_display(arena, main, 0),
			    path_within(git->top, main) ? "and this worktree are" : "is");
	if (plan->config->project != PROJECT_READ_ONLY)
		text_add(
			out,
			"- git works, including commits. claudebox adds no keys and no passwords: "
			"leave pushing, fetching from private repositories and signing to the "
			"user.\n"
			"- Create worktrees only inside of the project: `git worktree add " WORKTREE_PLACE
			"/NAME`, with a file `" WORKTREE_PLACE
			"/.gitignore` that has the line `*`. The user does not see files beside the "
			"project, in `/tmp` or in your home directory, and git refuses worktrees "
			"there.\n");
}

// Describes the copies of generated hooks.
static void add_hooks(struct text *out, const struct plan *plan)
{
	vec_each(copy, &plan->guard.copies) {
		const char *below = copy->hooks ? str_after(copy->config, plan->project) : NULL;

		if (below)
			text_printf(out,
				    " `%s` is a copy of the user's directory with generated hooks: "
				    "git here runs them, and what you change there stays in the "
				    "box.",
				    quote_display(out->arena, below + 1, 0));
	}
}

// Describes the protected places of the project.
static void add_guard(struct text *out, const struct plan *plan, const struct git_facts *git)
{
	if (!plan->guard.active)
		return;
	text_add(
		out,
		"- Protected are files that programs of the user execute or trust: hooks and "
		"configuration of git, and settings of agents, editors, shells and package managers "
		"(`.claude/settings.json`, `.mcp.json`, `.vscode`, `.envrc`, `.cargo/config.toml` and "
		"others). Such a file is read-only if it exists, and is moved away at once if you "
		"create it; if you create it again and again, the box is stopped. Files that git "
		"tracks are not protected.");
	if (git)
		text_add(
			out,
			" Settings that you change with `git config` reach the user's repository "
			"when this session ends; those that make git execute a program stay in the "
			"box.");
	add_hooks(out, plan);
	vec_each(path, &plan->guard.unprotected) {
		const char *below = str_after(*path, plan->project);

		text_printf(out,
			    " `%s`%s is not protected in this session: the user lets you write it.",
			    quote_display(out->arena, below && *below ? below + 1 : *path, 0),
			    unprotect_scope(*path, plan->project));
	}
	text_add(out, " If the user wants such a file, say so: the user finds it with `claudebox "
		      "--quarantine`, or starts the next session with `--unprotect PATH`.\n");
}

static void add_project(struct text *out, const struct plan *plan, struct arena *arena,
			const struct facts *facts)
{
	const struct git_facts *git = plan_git(facts);
	bool read_only = plan->config->project == PROJECT_READ_ONLY;
	const char *project = quote_display(arena, plan->project, 0);
	const char *own = plan->state.home ? "your home directory"
					   : "your own state in `~/.claude`";

	if (read_only)
		text_printf(out,
			    "- The project `%s` is read-only. You can write to `/tmp` and to your "
			    "home directory. Of these, only %s is kept after this session.\n",
			    project, own);
	else
		text_printf(out,
			    "- You can write to the project `%s`, to `/tmp` and to your home "
			    "directory. Of these, only the project and %s are kept after this "
			    "session: put results in the project.\n",
			    project, own);
	add_home(out, plan, arena);
	vec_each(mount, &plan->mounts) {
		if (mount->origin.kind == ORIGIN_REQUESTED)
			text_printf(out, "- The user added `%s`%s.\n",
				    quote_display(arena, mount->path, 0),
				    mount->kind == MOUNT_WRITABLE
					    ? "; you can write to it, and changes are kept"
					    : ", read-only");
	}
	if (git)
		add_git(out, plan, arena, git);
	add_guard(out, plan, git);
	text_printf(out,
		    "- %s. They are read-only: `sudo` and the installation of system packages do "
		    "not work. Package managers of programming languages can install into the "
		    "%shome directory.\n",
		    facts->store.only ? "Programs and libraries are those of the Nix store, and "
					"`/usr` is almost empty"
				      : "The host's programs and libraries are available",
		    plan->config->project == PROJECT_READ_ONLY ? "" : "project or the ");
}

// The names of packages need no quoting: they are validated when they are read.
static void add_packages(struct text *out, const struct plan *plan)
{
	const char *before = NULL;

	vec_each(package, &plan->packages) {
		if (!str_equal(before, package->name))
			text_printf(out, "%s`%s`", before ? ", " : "- The user added ",
				    package->name);
		before = package->name;
	}
	if (before)
		text_add(out, " (Nix packages, first in `PATH`).\n");
}

// Adds the toolchains of the host that the box has.
static void add_toolchains(struct text *out, const struct plan *plan, struct arena *arena)
{
	const char *before = NULL;

	vec_each(row, &plan->toolchains) {
		if (str_equal(before, row->name))
			text_add(out, ", ");
		else
			text_printf(out, "%s%s (",
				    before ? "), " : "- Toolchains of the user, read-only: ",
				    row->name);
		text_printf(out, "`%s`", quote_display(arena, row->root, 0));
		before = row->name;
	}
	if (before)
		text_add(out, "). They are on `PATH` as outside. To add a version to one of them, "
			      "ask the user: it is available from the next session on.\n");
}

// Adds a sentence if an option brings something that the box lacks.
static void add_left_out(struct text *out, const struct plan *plan)
{
	vec_each(row, &plan->left_out) {
		if (!row->option)
			continue;
		text_add(
			out,
			"- Some programs or settings of the user are not in the box. If you need "
			"one, tell the user: claudebox lists them before the start, under \"Not in "
			"the box\", with options that bring them.\n");
		return;
	}
}

static void add_tools(struct text *out, const struct plan *plan, struct arena *arena,
		      const struct facts *facts)
{
	add_packages(out, plan);
	add_toolchains(out, plan, arena);
	add_left_out(out, plan);
	if (plan_variable(plan, "NIX_REMOTE"))
		text_add(out,
			 "- If a tool is missing, run it with `nix shell nixpkgs#NAME -c COMMAND`, "
			 "or with `, COMMAND` if comma is installed. The result stays in "
			 "`/nix/store` after this session.\n");
	else
		text_printf(out,
			    "- If a tool is missing, ask the user to %s. It is available from the "
			    "next session on.\n",
			    facts->store.only ? "add its Nix package to `packages` of a profile"
					      : "install it with the host's package manager");
	if (plan->nix_daemon_left_out)
		text_printf(out,
			    "- `nix shell` and other commands that need the Nix daemon fail, "
			    "because the box does not have it: %s.\n",
			    plan->nix_daemon_left_out);
}

// Describes the settings of package managers, if there are any.
static void add_registries(struct text *out, const struct plan *plan, struct arena *arena)
{
	const char *tools = registries_tools(plan, arena);

	if (!*tools)
		return;
	text_printf(
		out,
		"- The user's settings of package managers, such as registries, are in effect "
		"(%s), without logins that the user did not pass. What you set in your home "
		"directory ranks above them; a file there that is a link to `/run/claudebox` is "
		"read-only, and you can replace it. If a registry refuses access (401, 403), or "
		"its host name ends in `.invalid`, tell the user, and do not install the package "
		"from another registry: its name may be that of another package there.\n",
		tools);
}

static void add_network(struct text *out, const struct plan *plan)
{
	text_printf(out, "- %s\n", tier_table[plan->config->network].instructions);
	vec_each(port, &plan->config->host_ports)
		text_printf(
			out,
			"- An exception: `127.0.0.1:%u` is a service of the user on the host.\n",
			port->number);
	vec_each(port, &plan->config->published_ports)
		text_printf(out,
			    "- The user can reach a server that you start on port %u at "
			    "`http://127.0.0.1:%u`.\n",
			    port->number, port->number);
}

static void add_kernel(struct text *out, const struct plan *plan)
{
	text_add(out,
		 plan->config->nested
			 ? "- You can create user namespaces and mounts: bubblewrap and Chromium "
			   "with its own sandbox work."
			 : "- You cannot create user namespaces or mounts: Docker, podman, "
			   "bubblewrap and Claude Code's own sandbox do not work, and Chromium "
			   "needs `--no-sandbox`.");
	// In a network namespace of its own, a nested box has raw sockets.
	text_printf(
		out,
		" io_uring, bpf, perf, kernel keyrings%s and unusual socket families are disabled. "
		"Debuggers and strace work on processes that they start.\n",
		plan->config->nested ? "" : ", raw sockets");
	if (plan_provides(plan, CONTAINERS_STORAGE))
		text_add(
			out,
			"- podman, if it is installed, works with crun. A container uses the network "
			"and the ports of this box: `-p` and networks of its own do not work and "
			"are not needed, `--network none` works. A container has one user, its "
			"root, which is you: `--user`, and images or installers that switch to "
			"another user, fail (use `--user 0` or "
			"`apt-get -o APT::Sandbox::User=root`). Images are stored in memory and are "
			"lost after this session.\n");
}

static void add_limits(struct text *out, const struct plan *plan, struct arena *arena)
{
	const char *before = "- This box has at most ";

	for (int limit = 0; limit < LIMIT_COUNT && plan->limits.method != LIMITS_NONE; limit++) {
		unsigned long long value = plan->limits.values[limit].value;

		if (!value)
			continue;
		text_printf(out, "%s%s", before,
			    limits_render_text(arena, (enum limit)limit, value));
		before = ", ";
	}
	if (*before != ',')
		return;
	text_add(out, ".");
	if (plan->limits.values[LIMIT_PIDS].value)
		text_add(out, " At the limit of processes, no further one can be started.");
	if (plan->limits.values[LIMIT_MEMORY].value)
		text_printf(
			out,
			" A process that uses too much memory is killed; files in `/tmp` %scount "
			"as memory.",
			plan->state.home ? "" : "and in the home directory ");
	if (plan->limits.values[LIMIT_PIDS].value || plan->limits.values[LIMIT_MEMORY].value)
		text_add(out, " Do not retry: run fewer processes at once (`make -j2`).");
	text_add(out, "\n");
}

const char *plan_render_instructions(const struct plan *plan, struct arena *arena,
				     const struct facts *facts)
{
	struct text out = { .arena = arena };
	const char *secret_lines;

	if (facts->policy_instructions)
		text_printf(&out, "%s\n",
			    claude_without_secret_lines(arena, facts->policy_instructions,
							&secret_lines));
	text_add(&out,
		 "# You are in a sandbox (claudebox)\n\n"
		 "This session runs in a box that the user started with `claudebox`. The box "
		 "replaces permission questions: you do not have to ask before you run commands or "
		 "change files.\n\n");
	add_project(&out, plan, arena, facts);
	add_tools(&out, plan, arena, facts);
	add_registries(&out, plan, arena);
	add_network(&out, plan);
	add_kernel(&out, plan);
	add_limits(&out, plan, arena);
	text_add(
		&out,
		"- MCP servers that you add with `claude mcp add`, with any scope but `project`, are "
		"for the boxes of this project only, and are kept. To have one everywhere, the user "
		"runs `claude mcp add` outside of the box.\n");
	text_add(&out,
		 "- Not in the box, unless the user added it: SSH and GPG keys, cloud and registry "
		 "credentials, the user's other projects and the rest of the home directory, "
		 "shell history, Docker, D-Bus, the desktop and its clipboard.\n"
		 "- If the box refuses an operation or lacks a file (permission denied, read-only "
		 "file system, no such file outside the project), that is intended: do not retry "
		 "and do not work around it. Tell the user what you need and why.\n");
	return text_get(&out);
}
