// SPDX-License-Identifier: MIT
// Texts that are rendered from values alone, without a plan of a whole box.
#include "base/arena.h"
#include "base/screen.h"
#include "base/text.h"
#include "check.h"
#include "config/config.h"
#include "fixture.h"
#include "golden.h"
#include "network/refusals.h"
#include "plan/network.h"
#include "render/audit/audit.h"
#include "render/check.h"
#include "render/mask.h"
#include "render/network.h"

static struct arena arena;

static void check_text(const char *name, const char *text)
{
	const char *path = arena_printf(&arena, "tests/unit/expected/%s", name);

	golden_check(&arena, source_path(&arena, path), text, name);
}

static void test_check_report(void)
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
		  { FINDING_BROKEN, false, "no output", "reinstall it" } },
		{ "state", "Every box", true, { FINDING_BROKEN, false, "a link", NULL } },
		{ "nix", "Nix", true, { FINDING_BROKEN, true, "no daemon", "start it" } },
	};
	finding_rows rows = { .items = table, .count = ARRAY_SIZE(table) };
	struct reader terminal = { .terminal = true, .columns = 80 };
	struct reader narrow = { .terminal = true, .columns = 40 };
	static struct plan_left_out left_out[] = {
		{ "~/bin", "2 programs: deploy, git", "--path ~/bin" },
		{ "~/.ssh/bin", "it is in a secret place", NULL },
	};
	struct plan plan = { .left_out = { .items = left_out, .count = ARRAY_SIZE(left_out) } };
	struct check_plan found = { .plan = &plan };
	struct check_plan none = { .problem = "bwrap is not installed" };

	check_text("check-pipe.txt", render_check(&arena, &rows, &found, (struct reader){ 0 }));
	check_text("check-80-columns.txt", render_check(&arena, &rows, &found, terminal));
	check_text("check-40-columns.txt", render_check(&arena, &rows, &found, narrow));
	check_text("check.json", render_check_json(&arena, &rows, &found));
	check_text("check-without-a-plan.txt", render_check(&arena, &rows, &none, terminal));
	check_text("check-without-a-plan.json", render_check_json(&arena, &rows, &none));
}

static void test_masked_secrets(void)
{
	static const char *const rows[][2] = {
		{ "", "********" },
		{ "abc", "********" },
		{ "0123456789012345678", "********" },
		{ "01234567890123456789", "0123...6789" },
		{ "sk-ant-api03-0123456789abcdef", "sk-a...cdef" },
		{ "\033[2J............\033[2J.", "\\x1b[2J...[2J." },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(render_masked(&arena, rows[i][0]), rows[i][1], rows[i][0]);
}

static void make_inet(struct world *world)
{
	world_debian(world);
	world_connect(world);
	world->config.network = NETWORK_INET;
	CHECK(world_plan(world));
}

static void test_nft_changes(void)
{
	static const char *const ranges[] = { "192.168.1.7/24", "2001:db8:2::/64",
					      "198.51.100.64/26", "198.51.100.70" };
	struct world world;
	plan_ranges found;

	make_inet(&world);
	world.facts.network.ranges.count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		world_range(&world, "wlan0", ranges[i]);
	found = plan_host_ranges(&world.arena, &world.facts.network.ranges);
	check_text("nft-other-network.txt", render_nft_change(&arena, &found));
	found.count = 0;
	check_text("nft-no-network.txt", render_nft_change(&arena, &found));
	world_free(&world);
}

// Input is what `nft -j` prints. Without /etc/protocols it prints the numbers of protocols.
static void test_refused_connections(void)
{
	static const char *const names[] = { "nothing",
					     "one-connection",
					     "protocols-by-number",
					     "both-families-and-pings",
					     "more-than-a-line-shows",
					     "not-an-address",
					     "no-counter",
					     "not-json",
					     "no-output" };
	struct world world;

	make_inet(&world);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *path =
			arena_printf(&arena, "tests/unit/expected/refused/%s.json", names[i]);
		const char *counters = golden_read(&arena, source_path(&arena, path));
		struct text out = { .arena = &arena };
		struct refusals refusals;
		bool parsed = CHECK_CASE(counters != NULL, path) &&
			      refused_parse(&arena, counters, &refusals);

		for (int ascii = 0; parsed && ascii < 2; ascii++) {
			const char *line = refused_render_line(&arena, &refusals, ascii);

			text_printf(&out, "%s\n", line ? line : "(no line)");
		}
		text_add(&out, parsed ? refused_render_json(&arena, &refusals) : "(not counted)\n");
		check_text(arena_printf(&arena, "refused/%s.txt", names[i]), text_get(&out));
	}
	world_free(&world);
}

int main(void)
{
	test_check_report();
	test_masked_secrets();
	test_nft_changes();
	test_refused_connections();
	arena_free(&arena);
	return check_done();
}
