// SPDX-License-Identifier: MIT
// Cases of SPEC.md's "Sandbox core": environment, mounts, names, certificates.
#include "base/arena.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "config/config.h"
#include "config/options.h"
#include "fixture.h"
#include "golden.h"
#include "plan/claude/instructions.h"
#include "plan/facts.h"
#include "render/audit.h"

static void add_host_junk(struct world *world)
{
	static const char *const junk[] = {
		"PATH=" HOME "/bin:/usr/bin",
		"USER=someone",
		"SHELL=/bin/fish",
		"TMPDIR=/scratch",
		"XDG_RUNTIME_DIR=/run/user/1000",
		"SSH_AUTH_SOCK=/run/user/1000/ssh",
		"DISPLAY=:0",
		"WAYLAND_DISPLAY=wayland-0",
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus",
		"AWS_SECRET_ACCESS_KEY=0123456789",
		"GITHUB_TOKEN=ghp_0123456789abcdef0123",
		"LD_PRELOAD=/x.so",
		"BASH_FUNC_x%%=() { id; }",
		"GIT_SSH_COMMAND=ssh -i x",
		"DOCKER_HOST=unix:///run/docker.sock",
		"=odd",
		"LC_=",
		"NODE_OPTIONS=--require /x.js",
	};

	for (size_t i = 0; i < ARRAY_SIZE(junk); i++)
		world_variable(world, junk[i]);
}

static void show_empty_environment(struct text *out)
{
	struct world world;

	world_debian(&world);
	add_host_junk(&world);
	if (show_plan(out, &world)) {
		show_flag(out, &world, "--clearenv");
		show_flag(out, &world, "--setenv");
	}
	world_free(&world);
}

static void show_allowlist(struct text *out)
{
	static const char *const names[] = {
		"TERM",          "COLORTERM",        "EDITOR", "VISUAL",   "LANG",
		"LC_ALL",        "LC_TIME",          "TZ",     "NO_COLOR", "NIX_SSL_CERT_FILE",
		"SSL_CERT_FILE", "ANTHROPIC_API_KEY"
	};
	static const char *const made[] = { "HOME", "USER",   "LOGNAME",        "SHELL",
					    "PATH", "TMPDIR", "XDG_RUNTIME_DIR" };
	static const char *const set[] = { "COLORTERM=truecolor",
					   "EDITOR=vim",
					   "VISUAL=vim -f",
					   "LANG=de_DE.UTF-8",
					   "LC_ALL=C",
					   "LC_TIME=C",
					   "TZ=UTC",
					   "NO_COLOR=1",
					   "NIX_SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
					   "SSL_CERT_FILE=" HOME "/gone.pem",
					   "ANTHROPIC_API_KEY=sk-ant-api03-0123456789" };
	struct world world;

	for (int all = 0; all < 2; all++) {
		world_debian(&world);
		add_host_junk(&world);
		for (size_t i = 0; all && i < ARRAY_SIZE(set); i++)
			world_variable(&world, set[i]);
		show_title(out, all ? "all of them set" : "only TERM set");
		if (show_plan(out, &world)) {
			for (size_t i = 0; i < ARRAY_SIZE(names); i++)
				show_variable(out, &world, names[i]);
			for (size_t i = 0; i < ARRAY_SIZE(made); i++)
				show_variable(out, &world, made[i]);
		}
		world_free(&world);
	}
}

static void show_extra(struct text *out)
{
	static const char *const rows[] = {
		"MY_VAR",
		"MY_VAR,UNSET,OTHER",
		" MY_VAR , OTHER ",
		"MY_VAR,",
		"",
		"TERM",
		"MY-VAR",
		"MY_VAR,,OTHER",
		"MY_VAR=1",
		"1X",
		"MY_VAR\033[2J",
		"PATH",
		"LD_PRELOAD",
		"CLAUDEBOX_CLAUDE",
		"my var",
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world world;

		world_debian(&world);
		world_variable(&world, "MY_VAR=one");
		world_variable(&world, "OTHER=two=three");
		world_variable(&world, "LD_PRELOAD=/x.so");
		world.config.extra_env = rows[i];
		show_title(out, quote_display(&world.arena, rows[i], 0));
		if (show_plan(out, &world)) {
			show_variable(out, &world, "MY_VAR");
			show_variable(out, &world, "OTHER");
			show_variable(out, &world, "TERM");
			show_variable(out, &world, "LD_PRELOAD");
		}
		world_free(&world);
	}
}

static void show_runtime_directory(struct text *out)
{
	struct world world;

	world_debian(&world);
	add_host_junk(&world);
	if (show_plan(out, &world)) {
		show_variable(out, &world, "XDG_RUNTIME_DIR");
		show_variable(out, &world, "TMPDIR");
		show_below(out, &world, "/run");
		show_below(out, &world, "/tmp");
		show_below(out, &world, "/var");
	}
	world_free(&world);
}

static void show_everything_mounted(struct text *out)
{
	struct world world;

	world_debian(&world);
	if (show_plan(out, &world))
		show_below(out, &world, "/");
	world_free(&world);
}

static void show_project(struct text *out)
{
	static const char *const projects[] = { PROJECT, "/srv/work", HOME "/a/b c" };

	for (size_t i = 0; i < ARRAY_SIZE(projects); i++) {
		struct world world;

		world_debian(&world);
		world.facts.project = projects[i];
		show_title(out, projects[i]);
		if (show_plan(out, &world)) {
			show_below(out, &world, HOME);
			show_below(out, &world, "/srv");
			show_variable(out, &world, "PWD");
		}
		world_free(&world);
	}
}

static void show_on_each(struct text *out, void (*show)(struct text *out, struct world *world))
{
	for (size_t i = 0; i < distribution_count; i++) {
		struct world world;

		distributions[i].make(&world);
		show_title(out, distributions[i].name);
		if (show_plan(out, &world))
			show(out, &world);
		world_free(&world);
	}
}

static void show_store_of(struct text *out, struct world *world)
{
	show_below(out, world, "/nix/store");
}

static void show_store(struct text *out)
{
	show_on_each(out, show_store_of);
}

static void show_daemon_of(struct text *out, struct world *world)
{
	show_below(out, world, "/nix/var");
	show_variable(out, world, "NIX_REMOTE");
	show_data(out, world, "/etc/nix/nix.conf");
}

static void show_daemon(struct text *out)
{
	static const struct {
		const char *title;
		enum network_tier network;
		bool asked;
		uid_t uid;
		struct nix_facts nix;
	} cases[] = {
		{ "trusted", NETWORK_FULL, false, 1000, { .trust = NIX_TRUST_YES } },
		{ "trusted, and a profile asks for it",
		  NETWORK_NONE,
		  true,
		  1000,
		  { .trust = NIX_TRUST_YES } },
		{ "who knows", NETWORK_FULL, false, 1000, { .trust = NIX_TRUST_UNKNOWN } },
		{ "root", NETWORK_FULL, false, 0, { .trust = NIX_TRUST_NO } },
		{ "one of our own without a sandbox",
		  NETWORK_FULL,
		  false,
		  1000,
		  { NIX_TRUST_NO, true, true } },
		{ "without a sandbox", NETWORK_FULL, false, 1000, { NIX_TRUST_NO, false, true } },
		{ "no network", NETWORK_NONE, false, 1000, { .trust = NIX_TRUST_NO } },
		{ "no network, and a profile asks for it",
		  NETWORK_NONE,
		  true,
		  1000,
		  { .trust = NIX_TRUST_NO } },
	};

	show_on_each(out, show_daemon_of);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world world;

		world_nixos(&world);
		world.config.network = cases[i].network;
		world.config.nix_daemon = cases[i].asked;
		world.facts.uid = cases[i].uid;
		world.facts.nix = cases[i].nix;
		show_title(out, cases[i].title);
		if (show_plan(out, &world)) {
			show_below(out, &world, "/nix/var");
			show_lines(out, &world.arena,
				   render_audit(&world.plan, &world.arena, (struct reader){ 0 }),
				   "Nix daemon");
		}
		world_free(&world);
	}
}

static void show_claude_directory(struct text *out)
{
	struct world world;

	world_debian(&world);
	if (show_plan(out, &world)) {
		show_below(out, &world, HOME "/.claude");
		show_variable(out, &world, "CLAUDE_CONFIG_DIR");
	}
	world_free(&world);
}

static void show_refusals(struct text *out)
{
	static const char *const projects[] = {
		HOME,
		"/home",
		"/",
		HOME "/.ssh",
		HOME "/.ssh/keys",
		HOME "/.config",
		HOME "/.local",
		"/etc",
		"/var/lib",
		HOME "/.claude/projects",
		HOME "/.claudebox",
		"/tmp",
		"/run/user",
	};

	for (size_t i = 0; i < ARRAY_SIZE(projects); i++) {
		struct world world;

		world_debian(&world);
		world.facts.project = projects[i];
		if (show_plan(out, &world))
			text_printf(out, "%s is let through\n", projects[i]);
		world_free(&world);
	}
}

static void show_path_of(struct text *out, struct world *world)
{
	show_variable(out, world, "PATH");
	show_variable(out, world, "SHELL");
}

static void show_path(struct text *out)
{
	show_on_each(out, show_path_of);
}

static void show_private_places(struct text *out)
{
	struct world world;

	world_debian(&world);
	if (show_plan(out, &world)) {
		show_flag(out, &world, "--proc");
		show_flag(out, &world, "--dev");
		show_flag(out, &world, "--tmpfs");
		show_below(out, &world, "/dev");
		show_below(out, &world, "/var/tmp");
	}
	world_free(&world);
}

static void show_names_of(struct text *out, struct world *world)
{
	show_why(out, world, "finds host names");
}

static void show_names(struct text *out)
{
	struct world world;

	show_on_each(out, show_names_of);
	world_debian(&world);
	world.facts.hostname = "thinkpad";
	world.facts.hosts_text = "127.0.0.1 localhost\n10.0.0.1 build\n\033]0;x\n"
				 "127.0.1.1\tthinkpad.example.org thinkpad\n"
				 "::1 localhost thinkpad shop.test # mine\n10.0.0.2 thinkpad2\n";
	show_title(out, "the host's own names");
	if (show_plan(out, &world))
		show_data(out, &world, "/etc/hosts");
	world_free(&world);
}

static void show_certificates_of(struct text *out, struct world *world)
{
	show_why(out, world, "trusted certificates");
	show_variable(out, world, "SSL_CERT_FILE");
	show_variable(out, world, "NIX_SSL_CERT_FILE");
}

static void show_certificates(struct text *out)
{
	struct world world;

	show_on_each(out, show_certificates_of);
	world_debian(&world);
	world_variable(&world, "SSL_CERT_FILE=" HOME "/company.pem");
	world_file(&world, FILE_REGULAR, HOME "/company.pem", HOME "/company.pem");
	show_title(out, "the user's own");
	if (show_plan(out, &world))
		show_certificates_of(out, &world);
	world_free(&world);
	world_bare(&world);
	show_title(out, "none");
	if (show_plan(out, &world))
		show_certificates_of(out, &world);
	world_free(&world);
}

static void show_no_shell_between(struct text *out)
{
	struct world world;

	world_debian(&world);
	if (show_plan(out, &world)) {
		show_flag(out, &world, "--die-with-parent");
		show_flag(out, &world, "--new-session");
		show_command(out, &world);
	}
	world_free(&world);
}

// Each tier on a host with a Nix daemon, which has the host's network.
static void show_tiers(struct text *out)
{
	for (int tier = 0; tier < NETWORK_TIER_COUNT; tier++) {
		struct world world;

		world_nixos(&world);
		world_connect(&world);
		world.config.network = (enum network_tier)tier;
		show_title(out, network_tier_names[tier]);
		if (show_plan(out, &world)) {
			show_flag(out, &world, "--unshare-net");
			show_variable(out, &world, "NIX_REMOTE");
			show_below(out, &world, "/nix/var");
			show_lines(out, &world.arena,
				   render_audit(&world.plan, &world.arena, (struct reader){ 0 }),
				   "network");
			show_lines(out, &world.arena,
				   plan_render_instructions(&world.plan, &world.arena,
							    &world.facts),
				   "network");
		}
		world_free(&world);
	}
}

static void show_namespaces(struct text *out)
{
	static const char *const flags[] = { "--unshare-user",
					     "--unshare-pid",
					     "--unshare-ipc",
					     "--unshare-uts",
					     "--unshare-cgroup",
					     "--unshare-net",
					     "--share-net",
					     "--uid",
					     "--gid",
					     "--hostname",
					     "--cap-drop",
					     "--disable-userns",
					     "--seccomp",
					     "--cap-add" };
	struct world world;

	static const char *const titles[] = { "an ordinary user", "root", "nested",
					      "nested as root" };

	for (size_t i = 0; i < ARRAY_SIZE(titles); i++) {
		world_debian(&world);
		if (i % 2)
			world.facts.uid = world.facts.gid = 0;
		world.config.nested = i >= 2;
		world.config.nested_by = "profile work";
		show_title(out, titles[i]);
		if (show_plan(out, &world)) {
			for (size_t k = 0; k < ARRAY_SIZE(flags); k++)
				show_flag(out, &world, flags[k]);
			show_data(out, &world, "/etc/passwd");
			show_data(out, &world, "/etc/group");
			show_warnings(out, &world);
		}
		world_free(&world);
	}
}

const struct golden_case sandbox_cases[] = {
	{ "SAND-02", show_empty_environment },
	{ "SAND-03", show_allowlist },
	{ "D-03", show_extra },
	{ "D-04", show_runtime_directory },
	{ "SAND-04", show_everything_mounted },
	{ "SAND-05", show_project },
	{ "SAND-06", show_store },
	{ "SAND-07", show_daemon },
	{ "SAND-08", show_claude_directory },
	{ "SAND-09", show_refusals },
	{ "SAND-10", show_path },
	{ "SAND-11", show_private_places },
	{ "SAND-12", show_names },
	{ "SAND-13", show_certificates },
	{ "SAND-15", show_no_shell_between },
	{ "SEC-02", show_namespaces },
	{ "NET-01", show_tiers },
};
const size_t sandbox_case_count = ARRAY_SIZE(sandbox_cases);
