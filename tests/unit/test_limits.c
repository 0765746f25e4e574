// SPDX-License-Identifier: MIT
// Limits: parsing, the choice between a cgroup and systemd, and the values for both.
#include "base/arena.h"
#include "base/screen.h"
#include "base/text.h"
#include "check.h"
#include "config/config.h"
#include "config/limits.h"
#include "fixture.h"
#include "plan/approval.h"
#include "plan/approved_lines.h"
#include "plan/limits.h"
#include "plan/plan.h"
#include "render/audit/audit.h"
#include "render/dry_run.h"

#include <string.h>

#define GiB (1ULL << 30)

static struct arena arena;

static void test_parse(void)
{
	static const struct {
		enum limit limit;
		const char *text;
		unsigned long long value; // 0: refused
		const char *shown;        // as it is rendered, or the problem
	} rows[] = {
		{ LIMIT_MEMORY, "4G", 4 * GiB, "4G" },
		{ LIMIT_MEMORY, "512M", GiB / 2, "512M" },
		{ LIMIT_MEMORY, "1.5G", 3 * GiB / 2, "1536M" },
		{ LIMIT_MEMORY, "0.125T", 128 * GiB, "128G" },
		{ LIMIT_MEMORY, "33.333M", 34951168, "34132K" },
		{ LIMIT_MEMORY, "32768K", 32ULL << 20, "32M" },
		{ LIMIT_MEMORY, "0000000000000001G", GiB, "1G" },
		{ LIMIT_MEMORY, "64T", 64ULL << 40, "64T" },
		{ LIMIT_MEMORY, "64.001T", 0, "is more than 64T" },
		{ LIMIT_MEMORY, "65T", 0, "is more than 64T" },
		{ LIMIT_MEMORY, "99999999999999999999K", 0, "is more than 64T" },
		{ LIMIT_MEMORY, "999999999999999999.9T", 0, "is more than 64T" },
		{ LIMIT_MEMORY, "18446744073709551616M", 0, "is more than 64T" },
		{ LIMIT_MEMORY, "31.9M", 0, "is less than 32M" },
		{ LIMIT_MEMORY, "0G", 0, "is less than 32M" },
		{ LIMIT_MEMORY, "0", 0, "is not a size such as 512M, 1.5G or 4G" },
		{ LIMIT_MEMORY, "4294967296", 0, "is not a size such as 512M, 1.5G or 4G" },
		{ LIMIT_MEMORY, "-1", 0, "is not a size such as 512M, 1.5G or 4G" },
		{ LIMIT_MEMORY, "-1G", 0, "is not a size such as 512M, 1.5G or 4G" },
		{ LIMIT_MEMORY, "4GG", 0, "is not a size such as 512M, 1.5G or 4G" },
		{ LIMIT_MEMORY, "4GB", 0, "is not a size such as 512M, 1.5G or 4G" },
		{ LIMIT_MEMORY, "4g", 0, "is not a size such as 512M, 1.5G or 4G" },
		{ LIMIT_MEMORY, " 4G", 0, "is not a size such as 512M, 1.5G or 4G" },
		{ LIMIT_MEMORY, "4 G", 0, "is not a size such as 512M, 1.5G or 4G" },
		{ LIMIT_MEMORY, ".5G", 0, "is not a size such as 512M, 1.5G or 4G" },
		{ LIMIT_MEMORY, "1.G", 0, "is not a size such as 512M, 1.5G or 4G" },
		{ LIMIT_MEMORY, "1.2345G", 0, "is not a size such as 512M, 1.5G or 4G" },
		{ LIMIT_MEMORY, "1.5.5G", 0, "is not a size such as 512M, 1.5G or 4G" },
		{ LIMIT_MEMORY, "1e3G", 0, "is not a size such as 512M, 1.5G or 4G" },
		{ LIMIT_MEMORY, "max", 0, "is not a size such as 512M, 1.5G or 4G" },
		{ LIMIT_CPU, "1%", 1, "1%" },
		{ LIMIT_CPU, "200%", 200, "200%" },
		{ LIMIT_CPU, "100000%", 100000, "100000%" },
		{ LIMIT_CPU, "0%", 0, "is less than 1%" },
		{ LIMIT_CPU, "100001%", 0, "is more than 100000%" },
		{ LIMIT_CPU, "18446744073709551617%", 0, "is more than 100000%" },
		{ LIMIT_CPU, "2", 0, "is not a share such as 50% (of one processor) or 200%" },
		{ LIMIT_CPU, "1.5%", 0, "is not a share such as 50% (of one processor) or 200%" },
		{ LIMIT_CPU, "%", 0, "is not a share such as 50% (of one processor) or 200%" },
		{ LIMIT_CPU, "50%%", 0, "is not a share such as 50% (of one processor) or 200%" },
		{ LIMIT_PIDS, "2000", 2000, "2000" },
		{ LIMIT_PIDS, "15", 0, "is less than 16" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned long long value;
		const char *problem = limit_parse(&arena, rows[i].limit, rows[i].text, &value);

		CHECK_CASE_STRING(problem ? problem : limit_render(&arena, rows[i].limit, value),
				  rows[i].shown, rows[i].text);
		CHECK_CASE(problem ? !rows[i].value : value == rows[i].value, rows[i].text);
	}
}

static void limit(struct world *world, unsigned long long memory, unsigned long long pids,
		  unsigned long long cpu)
{
	const unsigned long long values[LIMIT_COUNT] = { memory, pids, cpu };

	for (int i = 0; i < LIMIT_COUNT; i++)
		if (values[i])
			world->config.limits[i] =
				(struct config_limit){ values[i], origin_requested("profile x") };
}

static void delegate(struct world *world, const char *limits)
{
	world->facts.cgroup.parent = "/sys/fs/cgroup/ours";
	world->facts.cgroup.problem = "there is something";
	for (int i = 0; i < LIMIT_COUNT; i++)
		world->facts.cgroup.direct[i] = strstr(limits, limit_table[i].name);
}

static void login(struct world *world, const char *limits)
{
	world->facts.cgroup.systemd_run = "/usr/bin/systemd-run";
	world->facts.cgroup.runtime_directory = "/run/user/1000";
	for (int i = 0; i < LIMIT_COUNT; i++)
		world->facts.cgroup.by_systemd[i] = strstr(limits, limit_table[i].name);
}

static const char *describe(const struct world *world)
{
	limit_files files = limits_render_files(&arena, &world->plan.limits);
	strings prefix = limits_render_prefix(&arena, &world->plan.limits);
	struct text out = { .arena = &arena };

	if (world->plan.limits.method == LIMITS_CGROUP)
		vec_each(file, &files)
			text_printf(&out, "%s=%s;", file->name, file->value);
	vec_each(word, &prefix)
		if (!strchr(*word, '$'))
			text_printf(&out, "%s ", *word);
	return text_get(&out);
}

// A cgroup of claudebox's own is used if it has all limits, or else systemd; otherwise it is an
// error.
static void test_way(void)
{
	static const struct {
		unsigned long long memory, pids, cpu;
		const char *direct;
		const char *systemd;
		const char *wanted; // or the error
	} rows[] = {
		{ 0, 0, 0, NULL, NULL, "" },
		{ 0, 0, 0, NULL, "memory pids cpu", "" },
		{ 0, 0, 0, "memory cpu", NULL, "" },
		{ 0, 0, 0, "pids", NULL, "pids.max=8192;cgroup.max.descendants=1;" },
		{ GiB, 100, 150, "memory pids cpu", "memory pids cpu",
		  "memory.max=1073741824;memory.swap.max=0;pids.max=100;cpu.max=150000 "
		  "100000;cgroup.max.descendants=1;" },
		{ GiB, 0, 0, "memory", NULL,
		  "memory.max=1073741824;memory.swap.max=0;cgroup.max.descendants=1;" },
		{ GiB, 100, 150, "pids", "memory pids cpu",
		  "/usr/bin/systemd-run --user --scope --quiet --collect -p Delegate=yes -p "
		  "MemoryMax=1073741824 -p MemorySwapMax=0 -p TasksMax=100 -p CPUQuota=150% -- "
		  "/bin/sh -c sh " },
		{ 0, 100, 0, NULL, "pids",
		  "/usr/bin/systemd-run --user --scope --quiet --collect -p Delegate=yes -p "
		  "TasksMax=100 -- /bin/sh -c sh " },
		{ 0, 100, 150, NULL, "memory pids",
		  "cannot limit cpu: the controller is not delegated to this user" },
		{ GiB, 0, 150, NULL, "pids",
		  "cannot limit memory, cpu: the controller is not delegated to this user" },
		{ 0, 100, 0, "memory", NULL,
		  "cannot limit the box: there is something, and systemd-run is not installed" },
		{ 0, 100, 0, NULL, NULL,
		  "cannot limit the box: nothing is known, and systemd-run is not installed" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world world;
		const char *what = arena_printf(&arena, "way %zu", i);
		bool ok;

		world_debian(&world);
		world.facts.cgroup.problem = "nothing is known";
		limit(&world, rows[i].memory, rows[i].pids, rows[i].cpu);
		if (rows[i].direct)
			delegate(&world, rows[i].direct);
		if (rows[i].systemd)
			login(&world, rows[i].systemd);
		ok = world_plan(&world);
		CHECK_CASE_STRING(ok ? describe(&world) : world.error.message, rows[i].wanted,
				  what);
		CHECK_CASE(ok || (world.error.hint && *world.error.hint), what);
		world_free(&world);
	}
}

static void test_systemd_details(void)
{
	struct world world;

	world_debian(&world);
	limit(&world, GiB, 0, 0);
	login(&world, "memory");
	world.facts.cgroup.systemd_oom_policy = true;
	CHECK(world_plan(&world));
	CHECK(strstr(describe(&world), " -p MemorySwapMax=0 -p OOMPolicy=continue -- "));
	CHECK(strstr(render_dry_run(&world.plan, &arena),
		     " | /usr/bin/systemd-run --user --scope "));
	world.facts.uid = 0;
	world.facts.bwrap_disables_userns = true;
	CHECK(world_plan(&world));
	CHECK(strstr(describe(&world), "systemd-run --scope "));
	world.facts.cgroup.systemd_problem = "it is stopped";
	CHECK(!world_plan(&world));
	CHECK(strstr(world.error.message, ", and it is stopped"));
	world_free(&world);
}

static bool has_line(const strings *lines, const char *line)
{
	vec_each(other, lines) {
		if (str_equal(*other, line))
			return true;
	}
	return false;
}

// Configured limits are part of the approval, the default limit is not.
static void test_approval(void)
{
	struct world world;
	strings lines;

	world_debian(&world);
	limit(&world, 2 * GiB, 0, 50);
	delegate(&world, "memory pids cpu");
	CHECK(world_plan(&world));
	lines = approval_lines(&arena, &world.plan);
	CHECK(has_line(&lines, "limit memory 2G") && has_line(&lines, "limit cpu 50%"));
	CHECK(!has_line(&lines, "limit pids 8192"));
	CHECK(strstr(
		render_audit(&world.plan, &arena, (struct reader){ 0 }),
		"\nLimits:  by a cgroup in /sys/fs/cgroup/ours\n  [+] 2G of memory, without swap "
		"(profile x)\n  [~] 8192 processes and threads\n  [+] 50% of one processor's "
		"time (profile x)\n"));
	CHECK(strstr(render_dry_run(&world.plan, &arena),
		     "  --size 1073741824 \\\n  --perms 1777 \\\n  --tmpfs /tmp "));
	world_free(&world);
}

static void test_available(void)
{
	struct world world;

	world_debian(&world);
	world.error.arena = &world.arena;
	world.facts.cgroup.problem = "nothing is known";
	CHECK(!limits_render_available(&world.facts, &world.error));
	CHECK_STRING(world.error.message,
		     "cannot limit the box: nothing is known, and systemd-run is not installed");
	login(&world, "memory pids");
	CHECK_STRING(limits_render_available(&world.facts, &world.error),
		     "memory, pids: by systemd-run --scope");
	world.facts.cgroup.wanted[LIMIT_CPU] = true;
	CHECK(!limits_render_available(&world.facts, &world.error));
	delegate(&world, "memory pids cpu");
	CHECK_STRING(limits_render_available(&world.facts, &world.error),
		     "memory, pids, cpu: by a cgroup in /sys/fs/cgroup/ours; by systemd-run "
		     "--scope: memory, pids");
	world_free(&world);
}

// The value that is read back must be the configured one or less.
static void test_hold(void)
{
	static const struct {
		const char *wanted;
		const char *found;
		bool holds;
	} rows[] = {
		{ "100", "100\n", true },
		{ "100", "100", true },
		{ "100", "99\n", true },
		{ "100", "101\n", false },
		{ "100", "1000\n", false },
		{ "100", "max\n", false },
		{ "100", "", false },
		{ "100", "\n", false },
		{ "100", "-1\n", false },
		{ "100", " 100\n", false },
		{ "100", "100x\n", false },
		{ "100", "18446744073709551615\n", false },
		{ "70368744177664", "70368744177664\n", true },
		{ "0", "0\n", true },
		{ "0", "4096\n", false },
		{ "200000 100000", "200000 100000\n", true },
		{ "200000 100000", "20000 10000\n", true },
		{ "200000 100000", "200000 99999\n", false },
		{ "200000 100000", "200001 100000\n", false },
		{ "200000 100000", "max 100000\n", false },
		{ "200000 100000", "200000\n", false },
		{ "200000 100000", "200000 0\n", false },
		{ "200000 100000", "200000 100000 1\n", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct limit_file file = { "x.max", rows[i].wanted, false };

		CHECK_CASE(limit_in_effect(&file, rows[i].found) == rows[i].holds,
			   arena_printf(&arena, "%s: %s", rows[i].wanted, rows[i].found));
	}
}

static void test_find_cgroup(void)
{
	CHECK_STRING(limits_find_cgroup(&arena, "0::/user.slice/x\n"), "/user.slice/x");
	CHECK_STRING(limits_find_cgroup(&arena, "12:pids:/a\n1:name=systemd:/b\n0::/\n"), "/");
	CHECK_STRING(limits_find_cgroup(&arena, "0::/x"), "/x");
	CHECK(!limits_find_cgroup(&arena, ""));
	CHECK(!limits_find_cgroup(&arena, "1:name=0::/x:/y\n10::/z\n"));
}

int main(void)
{
	test_parse();
	test_hold();
	test_find_cgroup();
	test_way();
	test_systemd_details();
	test_approval();
	test_available();
	arena_free(&arena);
	return check_done();
}
