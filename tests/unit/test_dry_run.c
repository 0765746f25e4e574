// SPDX-License-Identifier: MIT
// The script of --dry-run, run by real shells, passes the same arguments to bwrap as the launch.
#include "base/arena.h"
#include "base/screen.h"
#include "base/text.h"
#include "check.h"
#include "fixture.h"
#include "plan/check.h"
#include "plan/plan.h"
#include "render/audit/audit.h"
#include "render/bwrap.h"
#include "render/dry_run.h"
#include "render/json.h"
#include "seccomp/programs.h"
#include "shell.h"

#include <sys/stat.h>

#define HOSTILE "'\"\\$HOME`id`$(id)\n\t\r\033[2J \xe2\x80\xae\xff!*~#;&|<>"
#define KEY     "sk-ant-api03-0123456789abcdef"
#define TOKEN   "very secret $HOME 'x'"

static struct arena arena;

#define INPUT "what the user typed\n"
enum { FILTER_DESCRIPTOR = 9, LAST_DESCRIPTOR = 14 };

// Replaces bwrap: prints its arguments and the content of its descriptors, each with a NUL byte.
static const char fake_bwrap[] =
	"#!/bin/bash\n"
	"for word; do printf '%s\\0' \"$word\"; done\n"
	"for fd in 0 3 4 5 6 7 8 9 10 11 12 13 14; do\n"
	"if [ -e /proc/self/fd/$fd ]; then eval \"cat <&$fd\"; fi; printf '\\0'\n"
	"done\n";

// The script may start another shell, so programs are found by PATH and variables are exported.
static const char before[] = "PATH=%s:$PATH\n"
			     "ANTHROPIC_API_KEY='" KEY "'\n"
			     "MY_TOKEN=\"very secret \\$HOME 'x'\"\n"
			     "export PATH ANTHROPIC_API_KEY MY_TOKEN\n"
			     "exec 0<<X\n" INPUT "X\n";

static char fakes[] = "/tmp/claudebox-test-XXXXXX";

static void make_fake(const char *name, const char *text)
{
	const char *path = arena_printf(&arena, "%s/%s", fakes, name);
	FILE *file = fopen(path, "w");

	if (CHECK(file != NULL)) {
		fputs(text, file);
		fclose(file);
		chmod(path, 0755);
	}
}

static void remove_fakes(void)
{
	static const char *const names[] = { "bwrap", "mkdir", "ln" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(arena_printf(&arena, "%s/%s", fakes, names[i]));
	rmdir(fakes);
}

static void add_word(struct text *out, const char *word)
{
	text_add(out, word);
	text_add_bytes(out, "", 1);
}

// Adds the arguments and contents of the launch, in the form that the replacement prints.
static void add_expected(struct text *out, const struct plan *plan)
{
	bwrap_options options = render_bwrap(plan, &arena);
	strings contents[LAST_DESCRIPTOR + 1] = { 0 };
	int next = 3;

	vec_each(option, &options) {
		if (option->operand == OPERAND_HOME) { // the script has an empty one
			add_word(out, "--perms");
			add_word(out, "0700");
			add_word(out, "--tmpfs");
			add_word(out, option->mount->path);
			continue;
		}
		if (option->mode) {
			add_word(out, "--perms");
			add_word(out, option->mode);
		}
		add_word(out, option->flag);
		if (option->operand == OPERAND_SECCOMP)
			add_word(out, "9");
		if (option->operand == OPERAND_DATA) {
			add_word(out, arena_printf(&arena, "%d", next));
			vec_push(&arena, &contents[next], option->mount->source);
			next += next + 1 == FILTER_DESCRIPTOR ? 2 : 1;
		}
		for (size_t i = 0; i < ARRAY_SIZE(option->arguments); i++)
			if (option->arguments[i])
				add_word(out, option->arguments[i]);
	}
	add_word(out, "--");
	vec_each(word, &plan->command)
		add_word(out, *word);
	add_word(out, INPUT);
	for (int fd = 3; fd <= LAST_DESCRIPTOR; fd++) {
		const struct seccomp_program *filter = &seccomp_programs[plan->seccomp];

		if (fd == FILTER_DESCRIPTOR)
			text_add_bytes(out, (const char *)filter->bytes, filter->size);
		add_word(out, contents[fd].count ? contents[fd].items[0] : "");
	}
}

static void make_hostile(struct world *world)
{
	world_nixos(world);
	world->facts.bwrap = "bwrap";
	world->facts.project = HOME "/" HOSTILE;
	world->facts.git.user_name = HOSTILE;
	world->facts.policy_instructions = "CLAUDEBOX_END\n" HOSTILE "\nCLAUDEBOX_END_\n";
	world->facts.hosts_text = "127.0.0.1 localhost # `id` $x \\\n";
	world_variable(world, "EDITOR=" HOSTILE);
	world_variable(world, "LANG=");
	world_variable(world, "ANTHROPIC_API_KEY=" KEY);
	world_variable(world, "MY_TOKEN=" TOKEN);
	world->config.extra_env = "MY_TOKEN";
	world_arguments(world, (const char *const[]){ "-p", HOSTILE, "", "--", NULL });
}

static void compare(struct world *world, const char *what)
{
	const char *script = render_dry_run(&world->plan, &world->arena);
	struct text wanted = { .arena = &arena };

	add_expected(&wanted, &world->plan);
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
		const char *start = arena_printf(&arena, before, fakes);
		size_t length = 0;
		const char *output;

		if (!shell_exists(shells[i]))
			continue;
		output = shell_run(&arena, shells[i], arena_printf(&arena, "%s%s", start, script),
				   &length);
		CHECK_CASE(output && length == wanted.length &&
				   memcmp(output, wanted.data, length) == 0,
			   arena_printf(&arena, "%s passes the same arguments to bwrap, %s",
					shells[i], what));
	}
	CHECK_CASE(!strstr(script, KEY) && !strstr(script, "very secret"),
		   "the script contains no secret");
}

static void test_same_arguments_as_launch(void)
{
	struct world world;

	make_hostile(&world);
	if (!CHECK(world_plan(&world)))
		check_note("error", world.error.message);
	compare(&world, "with hostile values");
	world_free(&world);
}

static void remove_file(struct plan *plan, const char *path)
{
	vec_each(mount, &plan->mounts) {
		if (mount->kind == MOUNT_DATA && str_equal(mount->path, path))
			mount->kind = MOUNT_DIRECTORY;
	}
}

// sh has nine descriptors; a plan may have any number of generated files.
static void test_many_files(void)
{
	static const char *const extra[] = { "/etc/1", "/etc/2", "/etc/3", "/etc/4", "/etc/5" };
	struct world world;

	world_debian(&world);
	world.facts.bwrap = "bwrap";
	CHECK(world_plan(&world));
	CHECK_CASE(strstr(render_dry_run(&world.plan, &world.arena), "bash /proc"),
		   "an ordinary box has eight files");
	compare(&world, "an ordinary box");
	remove_file(&world.plan, "/run/claudebox/npmrc");
	remove_file(&world.plan, "/run/claudebox/command/claude");
	CHECK_CASE(!strstr(render_dry_run(&world.plan, &world.arena), "bash /proc"),
		   "six files need no other shell");
	for (size_t i = 0; i < ARRAY_SIZE(extra); i++) {
		compare(&world, arena_printf(&arena, "%zu more files", i));
		plan_add_mount(&world.plan, &world.arena,
			       (struct plan_mount){ .kind = MOUNT_DATA,
						    .source = "CLAUDEBOX_END\nx\n",
						    .path = extra[i] });
	}
	world_free(&world);
	// With fewer files the descriptor that kept the input is closed.
	world_debian(&world);
	world.facts.bwrap = "bwrap";
	CHECK(world_plan(&world));
	remove_file(&world.plan, "/run/claudebox/npmrc");
	remove_file(&world.plan, "/etc/group");
	compare(&world, "with one file less");
	world_free(&world);
}

// Every line is one option, without control characters.
static void test_script_without_control_characters(void)
{
	struct world world;
	const char *script;
	bool clean = true;

	make_hostile(&world);
	world_plan(&world);
	script = render_dry_run(&world.plan, &world.arena);
	for (const char *s = script; *s; s++)
		clean &= *s == '\n' || *s == '\t' || ((unsigned char)*s >= ' ' && *s != 0x7f);
	CHECK_CASE(clean, "no control character is in the script");
	CHECK(!strstr(script, "\xe2\x80\xae"));
	CHECK(strstr(script, " \\\n  --clearenv \\\n  --setenv HOME /home/user \\\n"));
	world_free(&world);
}

static bool is_plain(const char *text)
{
	for (const char *s = text; *s; s++)
		if (*s != '\n' && (*s < ' ' || *s > '~'))
			return false;
	return true;
}

static void test_json_without_secrets(void)
{
	struct world world;
	const char *json;

	make_hostile(&world);
	world.facts.project = HOME "/\xc2\x9b"
				   "2J\xe2\x80\xae";
	world_plan(&world);
	json = render_json(&world.plan, &world.arena);
	CHECK_CASE(!strstr(json, KEY), "the JSON contains no key");
	CHECK_CASE(is_plain(json), "the JSON is printable ASCII");
	CHECK(str_ends(json, "}\n"));
	world_free(&world);
}

// A here-document always ends in a newline, so content without one cannot be represented.
static void test_file_without_last_newline(void)
{
	struct world world;

	world_debian(&world);
	world_plan(&world);
	plan_add_mount(
		&world.plan, &world.arena,
		(struct plan_mount){ .kind = MOUNT_DATA, .source = "no end", .path = "/etc/x" });
	CHECK_CASE(!plan_check(&world.plan, &world.facts, &world.error) ||
			   !strstr(render_dry_run(&world.plan, &world.arena),
				   "no endCLAUDEBOX_END"),
		   "a generated file without a last newline is refused or printed correctly");
	world_free(&world);
}

static void test_audit_widths(void)
{
	static const size_t widths[] = { 0, 1, 20, 40, 80, 200 };

	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		struct world world;
		const char *audit;
		bool clean = true;

		make_hostile(&world);
		world_plan(&world);
		audit = render_audit(&world.plan, &world.arena,
				     (struct reader){ .columns = widths[i] });
		for (const char *s = audit; *s; s++)
			clean &= *s == '\n' || ((unsigned char)*s >= ' ' && *s != 0x7f);
		CHECK_CASE(clean && !strstr(audit, KEY) && !strstr(audit, "very secret"),
			   arena_printf(&arena, "an audit of %zu columns", widths[i]));
		world_free(&world);
	}
}

int main(void)
{
	CHECK(mkdtemp(fakes) != NULL);
	make_fake("bwrap", fake_bwrap);
	make_fake("mkdir", "#!/bin/sh\n");
	make_fake("ln", "#!/bin/sh\n");
	test_same_arguments_as_launch();
	test_many_files();
	remove_fakes();
	test_script_without_control_characters();
	test_json_without_secrets();
	test_file_without_last_newline();
	test_audit_widths();
	arena_free(&arena);
	return check_done();
}
