// SPDX-License-Identifier: MIT
// Cases of SPEC.md's "Command line": audit, warnings, dry run, what goes to claude.
#include "base/arena.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "config/config.h"
#include "config/options.h"
#include "fixture.h"
#include "golden.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "render/audit.h"
#include "render/check.h"
#include "render/dry_run.h"
#include "render/json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

// Few mounts, so that a whole text stays readable.
static void make_small(struct world *world)
{
	world_bare(world);
	world_file(world, FILE_DIRECTORY, "/usr", "/usr");
	world_file(world, FILE_DIRECTORY, "/usr/bin", "/usr/bin");
	world_file(world, FILE_DIRECTORY, "/bin", "/usr/bin", "/bin", "usr/bin");
}

#define HOSTILE "\033[2J\r\nforged \xe2\x80\xaeline\\"

static void make_hostile(struct world *world)
{
	make_small(world);
	world->facts.project = HOME "/a" HOSTILE;
	world_variable(world, "EDITOR=" HOSTILE);
	world_variable(world, "ANTHROPIC_API_KEY=sk-ant-api03-0123456789abcdef");
	world_variable(world, "SHORT_KEY=abc");
	world_variable(world, "PLAIN=it's $HOME `x`");
	world->config.extra_env = "SHORT_KEY,PLAIN";
	world->facts.git.user_name = "A `User` $NAME \"quoted\" \\ " HOSTILE;
	vec_push(&world->arena, &world->facts.project_secrets, ".env" HOSTILE);
}

// Another libseccomp, or machine, has another program: its text is left out.
static void add_without_filter(struct text *out, const char *script)
{
	const char *start = strstr(script, "; } 8<&0\n");
	const char *end = start ? strstr(start, "\nCLAUDEBOX_END\n") : NULL;

	if (!end)
		return;
	start = strchr(start, '\n');
	text_add_bytes(out, script, (size_t)(start - script));
	text_printf(out, "\n(the filter)%s", end);
}

static void show_dry_run(struct text *out)
{
	struct world world;

	make_hostile(&world);
	if (show_plan(out, &world))
		add_without_filter(out, render_dry_run(&world.plan, &world.arena));
	world_free(&world);
}

// One line a member, and one an entry of a list.
static void show_members(struct text *out, const char *json)
{
	json_t *all = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
	const char *key;
	json_t *value;

	json_object_foreach(all, key, value) {
		bool list = json_is_array(value);

		for (size_t i = 0; i < (list ? json_array_size(value) : 1); i++) {
			char *line = json_dumps(list ? json_array_get(value, i) : value,
						JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);

			text_printf(out, "%s: %s\n", key, line);
			free(line);
		}
	}
	json_decref(all);
}

static void show_json(struct text *out)
{
	struct world world;

	make_hostile(&world);
	if (show_plan(out, &world))
		show_members(out, render_json(&world.plan, &world.arena));
	world_free(&world);
}

static void show_audit(struct text *out)
{
	struct world world;

	make_hostile(&world);
	show_title(out, "80 columns");
	if (show_plan(out, &world))
		text_add(out,
			 render_audit(&world.plan, &world.arena, (struct reader){ .columns = 80 }));
	world_free(&world);
	world_nixos(&world);
	show_title(out, "as wide as it takes");
	if (show_plan(out, &world))
		text_add(out, render_audit(&world.plan, &world.arena, (struct reader){ 0 }));
	world_free(&world);
}

// Colour is an addition: without its sequences the text is the same.
static void show_colour(struct text *out)
{
	struct world world;

	make_small(&world);
	world_variable(&world, "MY_VAR=x");
	world.config.extra_env = "MY_VAR";
	if (show_plan(out, &world)) {
		const char *audit =
			render_audit(&world.plan, &world.arena, (struct reader){ .colour = true });

		for (const char *s = audit; *s; s++)
			if (*s == '\033')
				text_add(out, "<ESC>");
			else
				text_add_bytes(out, s, 1);
	}
	world_free(&world);
}

// What a newcomer reads below the audit.
static void show_first_start(struct text *out)
{
	static const size_t columns[] = { 0, 40 };

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		struct world world;

		make_small(&world);
		world.facts.state.root_kind = FILE_MISSING;
		world.facts.user_claude.has_credentials = false;
		world.config.network = i ? NETWORK_NONE : NETWORK_FULL;
		show_title(out, i ? "40 columns" : "as wide as it takes");
		if (show_plan(out, &world))
			text_add(out, strstr(render_audit(&world.plan, &world.arena,
							  (struct reader){ .columns = columns[i] }),
					     "First start:"));
		world_free(&world);
	}
}

static void show_check(struct text *out)
{
	static struct finding_row table[] = {
		{ "bwrap",
		  "Every box",
		  true,
		  { FINDING_MISSING, false, "not on PATH", "install it" } },
		{ "claude", "Every box", true, { FINDING_OK, false, "1.0, /usr/bin/claude", "x" } },
		{ "git",
		  "This machine",
		  false,
		  { FINDING_BROKEN, false, "it says nothing", "look" } },
		{ "state", "Every box", true, { FINDING_BROKEN, false, "a link", NULL } },
		{ "nix", "Nix", true, { FINDING_BROKEN, true, "no daemon", "start it" } },
	};
	struct arena arena = { 0 };
	finding_rows rows = { .items = table, .count = ARRAY_SIZE(table) };

	show_title(out, "in a pipe");
	text_add(out, render_check(&arena, &rows, (struct reader){ 0 }));
	show_title(out, "on a terminal");
	text_add(out,
		 render_check(&arena, &rows, (struct reader){ .terminal = true, .columns = 80 }));
	show_title(out, "40 columns");
	text_add(out,
		 render_check(&arena, &rows, (struct reader){ .terminal = true, .columns = 40 }));
	show_title(out, "for scripts");
	text_add(out, render_check_json(&arena, &rows));
	arena_free(&arena);
}

static void show_masks(struct text *out)
{
	static const char *const values[] = { "",
					      "abc",
					      "0123456789012345678",
					      "01234567890123456789",
					      "sk-ant-api03-0123456789abcdef",
					      "\033[2J............\033[2J." };
	struct arena arena = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		text_printf(out, "%s: %s\n", quote_display(&arena, values[i], 0),
			    render_masked(&arena, values[i]));
	arena_free(&arena);
}

static void show_all_warnings(struct text *out)
{
	static const char *const secrets[] = { ".env",  "a.pem", "b.pem", "c.pem",
					       "d.pem", "e.pem", "f.pem" };
	struct world world;

	world_debian(&world);
	world.facts.uid = world.facts.gid = 0;
	world.facts.bwrap_binds_descriptors = false;
	world.facts.landlock = 1;
	world_variable(&world, "MY_TOKEN=x");
	world_variable(&world, "HARMLESS=ghp_0123456789abcdef0123");
	world_variable(&world, "DATABASE=postgres://user:word@db/x");
	world_variable(&world, "QUIET=x");
	world_variable(&world, "ANTHROPIC_API_KEY=sk-ant-api03-0123456789abcdef");
	world.config.extra_env = "MY_TOKEN,HARMLESS,DATABASE,QUIET";
	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++)
		vec_push(&world.arena, &world.facts.project_secrets, secrets[i]);
	vec_push(&world.arena, &world.facts.project_mcp_secrets,
		 ".mcp.json: MCP server 'x': A_KEY");
	world.facts.agent.secret_in = HOME "/bin/claude\033";
	world.facts.user_claude.settings_json =
		"{\"env\":{\"MY_KEY\":\"x\"},\"apiKeyHelper\":\"x\"}";
	world_repository(&world, PROJECT, PROJECT "/.git", PROJECT "/.git");
	world.facts.git.repository_signs = true;
	world.facts.git.identity_made_up = true;
	if (show_plan(out, &world))
		show_warnings(out, &world);
	world_free(&world);
	world_debian(&world);
	show_title(out, "nothing special");
	if (show_plan(out, &world))
		show_warnings(out, &world);
	world_free(&world);
}

static void show_parsed(struct text *out, const char *const *words)
{
	struct world world;
	struct text line = { .arena = out->arena };
	int count = 0;

	while (words[count])
		count++;
	world_debian(&world);
	for (int i = 0; i < count; i++)
		text_printf(&line, "%s%s", i ? " " : "", words[i]);
	show_title(out, text_get(&line));
	if (!options_parse(&world.config, &world.arena, count, (char *const *)words, &world.error))
		text_printf(out, "error: %s\n", world.error.message);
	else if (show_plan(out, &world))
		show_command(out, &world);
	world_free(&world);
}

static void show_arguments(struct text *out)
{
	static const char *const lines[][8] = {
		{ "claudebox", NULL },
		{ "claudebox", "-y", "-p", "hello", "--dry-run", "--model", "x", NULL },
		{ "claudebox", "--", "--yes", "--help", NULL },
		{ "claudebox", "a", "--", "b", "--", "c", NULL },
		{ "claudebox", "--network", "full", "--continue", NULL },
		{ "claudebox", "--shell", "-l", NULL },
		{ "claudebox", "--exec", "ls", "--yes", "-l", NULL },
		{ "claudebox", "--exec", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		show_parsed(out, lines[i]);
}

static void show_permissions(struct text *out)
{
	static const char *const titles[] = {
		[PAYLOAD_CLAUDE] = "claude", [PAYLOAD_SHELL] = "--shell", [PAYLOAD_EXEC] = "--exec"
	};

	for (int payload = PAYLOAD_CLAUDE; payload <= PAYLOAD_EXEC; payload++) {
		struct world world;

		world_debian(&world);
		world.config.payload = (enum payload)payload;
		world_arguments(&world, (const char *const[]){ "a", "b c", NULL });
		show_title(out, titles[payload]);
		if (show_plan(out, &world)) {
			show_command(out, &world);
			show_why(out, &world, "claude");
		}
		world_free(&world);
	}
}

static void show_agents(struct text *out)
{
	struct world world;
	const char *local = HOME "/.claude/local/claude";

	world_debian(&world);
	world.facts.agent =
		(struct agent_facts){ .problem = "claude is not installed", .hint = "do so" };
	show_title(out, "none");
	show_plan(out, &world);
	world.config.payload = PAYLOAD_SHELL;
	show_title(out, "none, but a shell");
	if (show_plan(out, &world))
		show_command(out, &world);
	world_free(&world);

	world_debian(&world);
	world.facts.agent = (struct agent_facts){ .found = local };
	vec_push(&world.arena, &world.facts.agent.command, local);
	vec_push(&world.arena, &world.facts.agent.needs,
		 world_followed(&world, FILE_REGULAR, local, local, NO_MORE));
	show_title(out, "in the user's Claude directory");
	if (show_plan(out, &world)) {
		show_command(out, &world);
		show_why(out, &world, "claude");
	}
	world_free(&world);

	world_debian(&world);
	world.facts.bwrap = NULL;
	show_title(out, "no bwrap");
	show_plan(out, &world);
	world.facts.bwrap = "/usr/bin/bwrap";
	world.facts.shell = NULL;
	show_title(out, "no shell");
	show_plan(out, &world);
	world_free(&world);
}

static void show_packages(struct text *out)
{
	struct world world;

	world_nixos(&world);
	vec_push(&world.arena, &world.facts.packages,
		 (struct package_facts){ "awscli2", "profile work", "/nix/store/ffff-awscli2",
					 "/nix/store/ffff-awscli2/bin" });
	vec_push(&world.arena, &world.facts.packages,
		 (struct package_facts){ "openssl", "tools.txt", "/nix/store/gggg-openssl-bin",
					 "/nix/store/gggg-openssl-bin/bin" });
	vec_push(&world.arena, &world.facts.packages,
		 (struct package_facts){ "data", "profile work", "/nix/store/hhhh-data", NULL });
	if (show_plan(out, &world)) {
		show_variable(out, &world, "PATH");
		show_lines(out, &world.arena,
			   render_audit(&world.plan, &world.arena, (struct reader){ 0 }),
			   "/nix/store/");
		show_lines(out, &world.arena, world_data(&world, BOX_POLICY "/CLAUDE.md"),
			   "awscli2");
		show_lines(out, &world.arena, render_json(&world.plan, &world.arena), "openssl");
	}
	world_free(&world);
}

const struct golden_case screen_cases[] = {
	{ "PACKAGES", show_packages },
	{ "UX-04", show_dry_run },
	{ "UX-04-json", show_json },
	{ "AUDIT", show_audit },
	{ "AUDIT-colour", show_colour },
	{ "AUDIT-masks", show_masks },
	{ "AUDIT-first-start", show_first_start },
	{ "UX-05", show_check },
	{ "SEC-01", show_all_warnings },
	{ "D-01", show_arguments },
	{ "UX-06", show_permissions },
	{ "UX-06-agents", show_agents },
};
const size_t screen_case_count = ARRAY_SIZE(screen_cases);
