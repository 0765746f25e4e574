// SPDX-License-Identifier: MIT
// Cases of SPEC.md's "Claude awareness, git, state, sign-in".
#include "base/arena.h"
#include "base/file.h"
#include "base/screen.h"
#include "base/text.h"
#include "fixture.h"
#include "golden.h"
#include "plan/plan.h"
#include "render/audit.h"
#include "render/dry_run.h"
#include "render/json.h"

#define POLICY BOX_POLICY "/CLAUDE.md"

static void show_memory(struct text *out)
{
	struct world world;

	world_debian(&world);
	world_repository(&world, PROJECT, PROJECT "/.git", PROJECT "/.git");
	if (show_plan(out, &world)) {
		show_below(out, &world, BOX_POLICY);
		show_data(out, &world, POLICY);
	}
	world_free(&world);
	world_debian(&world);
	world.facts.project = PROJECT "/a\nb";
	world.facts.policy_instructions = "The company's own memory.";
	world_repository(&world, PROJECT, PROJECT "/.git", PROJECT "/.git");
	show_title(out, "a subdirectory, a company's memory");
	if (show_plan(out, &world)) {
		show_lines(out, &world.arena, world_data(&world, POLICY), "company");
		show_lines(out, &world.arena, world_data(&world, POLICY), "the project");
		show_lines(out, &world.arena, world_data(&world, POLICY), "repository");
	}
	world_free(&world);
}

static void show_tools(struct text *out)
{
	static const char *const words[] = { "tool is missing", "do not retry" };

	for (int nix = 0; nix < 2; nix++) {
		struct world world;

		if (nix)
			world_nixos(&world);
		else
			world_debian(&world);
		show_title(out, nix ? "NixOS" : "Debian");
		if (show_plan(out, &world))
			for (size_t i = 0; i < ARRAY_SIZE(words); i++)
				show_lines(out, &world.arena, world_data(&world, POLICY), words[i]);
		world_free(&world);
	}
}

struct repository {
	const char *title;
	const char *project;
	const char *top;
	const char *directory;
	const char *common;
};

static const struct repository repositories[] = {
	{ "the main worktree", PROJECT, PROJECT, PROJECT "/.git", PROJECT "/.git" },
	{ "a subdirectory", PROJECT "/src", PROJECT, PROJECT "/.git", PROJECT "/.git" },
	{ "a linked worktree", HOME "/side", HOME "/side", PROJECT "/.git/worktrees/side",
	  PROJECT "/.git" },
	{ "a subdirectory of a linked worktree", HOME "/side/src", HOME "/side",
	  PROJECT "/.git/worktrees/side", PROJECT "/.git" },
	{ "a submodule", PROJECT "/sub", PROJECT "/sub", PROJECT "/.git/modules/sub",
	  PROJECT "/.git/modules/sub" },
	{ "a worktree of a bare repository", HOME "/side", HOME "/side",
	  HOME "/bare.git/worktrees/side", HOME "/bare.git" },
	{ "a worktree inside the project", PROJECT, PROJECT, PROJECT "/.bare/worktrees/x",
	  PROJECT "/.bare" },
};

static void make_repository(struct world *world, const struct repository *row)
{
	world_debian(world);
	world->facts.project = row->project;
	world_repository(world, row->top, row->directory, row->common);
}

static void show_git_mounts(struct text *out, struct world *world)
{
	show_why(out, world, "the repository around the project");
	show_why(out, world, "the project");
	show_why(out, world, "the repository's history");
	show_why(out, world, "the worktree's git directory");
}

static void show_repositories(struct text *out)
{
	struct world world;

	for (size_t i = 0; i < ARRAY_SIZE(repositories); i++) {
		make_repository(&world, &repositories[i]);
		show_title(out, repositories[i].title);
		if (show_plan(out, &world))
			show_git_mounts(out, &world);
		world_free(&world);
	}
	world_debian(&world);
	show_title(out, "no repository");
	if (show_plan(out, &world)) {
		show_git_mounts(out, &world);
		show_data(out, &world, "/etc/gitconfig");
	}
	world_free(&world);
	world_debian(&world);
	world.facts.git.refused = "'.git' leads elsewhere: git is not available";
	show_title(out, "a .git that is not proven");
	if (show_plan(out, &world)) {
		show_git_mounts(out, &world);
		show_warnings(out, &world);
	}
	world_free(&world);
	world_debian(&world);
	world_repository(&world, HOME, HOME "/.git", HOME "/.git");
	show_title(out, "a repository around the home directory");
	if (show_plan(out, &world)) {
		show_git_mounts(out, &world);
		show_warnings(out, &world);
	}
	world_free(&world);
}

static void show_trust(struct text *out)
{
	struct world world;

	make_repository(&world, &repositories[1]);
	world.facts.git.user_name = "A \"User\" \\ \t\033[2J";
	world.facts.git.user_email = NULL;
	if (show_plan(out, &world))
		show_data(out, &world, "/etc/gitconfig");
	world_free(&world);
	world_debian(&world);
	world.facts.project = HOME "/a \"b\"\\\nc";
	show_title(out, "an odd name");
	if (show_plan(out, &world))
		show_data(out, &world, "/etc/gitconfig");
	world_free(&world);
}

static void show_no_keys(struct text *out)
{
	static const char *const names[] = { "SSH_AUTH_SOCK", "SSH_ASKPASS",     "GPG_AGENT_INFO",
					     "GIT_ASKPASS",   "GIT_SSH_COMMAND", "GNUPGHOME" };
	struct world world;

	world_debian(&world);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		world_variable(&world, arena_printf(&world.arena, "%s=/x", names[i]));
	world_repository(&world, PROJECT, PROJECT "/.git", PROJECT "/.git");
	world.facts.git.repository_signs = true;
	if (show_plan(out, &world)) {
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			show_variable(out, &world, names[i]);
		show_data(out, &world, "/etc/gitconfig");
		show_lines(out, &world.arena,
			   render_audit(&world.plan, &world.arena, (struct reader){ 0 }), "sign");
	}
	world_free(&world);
}

static void show_instance(struct text *out)
{
	struct world world;

	for (size_t i = 0; i < ARRAY_SIZE(repositories); i++) {
		make_repository(&world, &repositories[i]);
		if (show_plan(out, &world))
			text_printf(out, "%s: %s of %s\n", repositories[i].title,
				    world.plan.state.instance, world.plan.state.canonical_root);
		world_free(&world);
	}
	world_debian(&world);
	world_user_claude(&world, FILE_REGULAR, "CLAUDE.md");
	world_user_claude(&world, FILE_DIRECTORY, "skills");
	world.facts.user_claude.settings_json = "{\"model\":\"opus\",\"env\":{\"A_TOKEN\":\"x\"}}";
	world.facts.user_claude.preferences_json = "{\"theme\":\"light\",\"userID\":\"x\"}";
	world.facts.state.settings_json = "not JSON";
	show_title(out, "the user's own files");
	if (show_plan(out, &world)) {
		show_why(out, &world, "your own Claude files");
		show_why(out, &world, "this project's Claude state");
		show_state(out, &world);
		show_warnings(out, &world);
	}
	world_free(&world);
}

static void show_sign_in(struct text *out)
{
	struct world world;

	world_debian(&world);
	if (show_plan(out, &world)) {
		show_why(out, &world, "the Claude sign-in");
		show_variable(out, &world, "CLAUDE_SECURESTORAGE_CONFIG_DIR");
		text_printf(out, "kept like: %s\n", world.plan.state.host_credentials);
		show_lines(out, &world.arena, render_dry_run(&world.plan, &world.arena),
			   ".credentials.json");
	}
	world_free(&world);
	world_debian(&world);
	world.facts.user_claude.directory = HOME "/.config/claude";
	show_title(out, "CLAUDE_CONFIG_DIR");
	if (show_plan(out, &world))
		text_printf(out, "kept like: %s\n", world.plan.state.host_credentials);
	world_free(&world);
}

// With or without the host's file: the same plan, and no word about it.
static void show_silence(struct text *out)
{
	struct world with;
	struct world without;

	world_debian(&with);
	world_debian(&without);
	without.facts.user_claude.has_credentials = false;
	if (show_plan(out, &with) && show_plan(out, &without)) {
		bool same = str_equal(render_json(&with.plan, &with.arena),
				      render_json(&without.plan, &without.arena));

		text_printf(out, "the plan is %s\n", same ? "the same" : "another one");
		show_warnings(out, &without);
	}
	world_free(&with);
	world_free(&without);
}

static void show_shared_sign_in(struct text *out)
{
	static const char *const projects[] = { PROJECT, "/srv/other" };

	for (size_t i = 0; i < ARRAY_SIZE(projects); i++) {
		struct world world;

		world_debian(&world);
		world.facts.project = projects[i];
		show_title(out, projects[i]);
		if (show_plan(out, &world))
			show_why(out, &world, "the Claude sign-in");
		world_free(&world);
	}
}

static void show_key(struct text *out)
{
	struct world world;

	world_debian(&world);
	world_variable(&world, "ANTHROPIC_API_KEY=sk-ant-api03-0123456789abcdefghij");
	if (show_plan(out, &world)) {
		const char *audit = render_audit(&world.plan, &world.arena, (struct reader){ 0 });
		const char *script = render_dry_run(&world.plan, &world.arena);

		show_variable(out, &world, "ANTHROPIC_API_KEY");
		show_lines(out, &world.arena, audit, "ANTHROPIC_API_KEY");
		show_lines(out, &world.arena, script, "ANTHROPIC_API_KEY");
		show_state(out, &world);
	}
	world_free(&world);
}

const struct golden_case claude_cases[] = {
	{ "AWARE-01", show_memory },        { "AWARE-02", show_tools },
	{ "GIT-01", show_repositories },    { "GIT-02", show_trust },
	{ "SEC-03", show_no_keys },         { "STATE", show_instance },
	{ "AUTH-01", show_sign_in },        { "AUTH-02", show_silence },
	{ "AUTH-03", show_shared_sign_in }, { "AUTH-04", show_key },
};
const size_t claude_case_count = ARRAY_SIZE(claude_cases);
