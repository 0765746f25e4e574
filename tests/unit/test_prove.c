// SPDX-License-Identifier: MIT
// --prove: where canaries are planted, what is granted, and how verdicts follow from the output of
// the attack program and from what the host observes.
#include "base/arena.h"
#include "base/error.h"
#include "base/screen.h"
#include "base/text.h"
#include "base/width.h"
#include "check.h"
#include "config/config.h"
#include "config/limits.h"
#include "fixture.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/secrets/places.h"
#include "prove/attacks.h"
#include "prove/canaries.h"
#include "prove/protocol.h"
#include "prove/render.h"
#include "prove/verdicts.h"

#include <string.h>

static struct arena arena;

// Returns the output of an attack program where one attack has this verdict and all others are
// blocked.
static const char *output_of(const char *attack, const char *verdict, bool ended)
{
	struct text out = { .arena = &arena };

	for (enum attack_id id = 0; id < ATTACK_COUNT; id++) {
		const char *name = attack_name(&arena, id);
		bool special = str_equal(name, attack);

		text_printf(&out, "%s\t%s\tEPERM\n", name, special ? verdict : "blocked");
	}
	if (ended)
		text_printf(&out, "end\t%d\t-\n", (int)ATTACK_COUNT);
	return text_get(&out);
}

static const struct proof_row *row_of(const struct proof *proof, const char *attack)
{
	static const struct proof_row none = { VERDICT_COUNT, "no such attack" };

	enum attack_id id = attack_by_name(attack);

	return id < ATTACK_COUNT ? &proof->rows[id] : &none;
}

static const char *counts_of(const struct proof *proof)
{
	return arena_printf(
		&arena,
		"%zu not blocked, %zu leaked, %zu open, %zu granted, %zu skipped, %zu not run",
		ATTACK_COUNT - proof->counts[VERDICT_BLOCKED], proof->counts[VERDICT_LEAKED],
		proof->counts[VERDICT_OPEN], proof->counts[VERDICT_GRANTED],
		proof->counts[VERDICT_SKIPPED], proof->counts[VERDICT_NOT_RUN]);
}

static void test_verdicts(void)
{
	static const char *const rows[][2] = {
		{ "blocked", "0 not blocked, 0 leaked, 0 open, 0 granted, 0 skipped, 0 not run" },
		{ "leaked", "1 not blocked, 1 leaked, 0 open, 0 granted, 0 skipped, 0 not run" },
		{ "open", "1 not blocked, 0 leaked, 1 open, 0 granted, 0 skipped, 0 not run" },
		{ "skipped", "1 not blocked, 0 leaked, 0 open, 0 granted, 1 skipped, 0 not run" },
		{ "not-run", "1 not blocked, 0 leaked, 0 open, 0 granted, 0 skipped, 1 not run" },
		// The attack program cannot grant anything, and an unknown word is no verdict.
		{ "granted", "1 not blocked, 0 leaked, 0 open, 0 granted, 0 skipped, 1 not run" },
		{ "fine", "1 not blocked, 0 leaked, 0 open, 0 granted, 0 skipped, 1 not run" },
	};
	const canaries none = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct proof proof = prove_judge(&arena, output_of("files-ssh", rows[i][0], true),
						 0, &none, NULL);

		CHECK_CASE_STRING(counts_of(&proof), rows[i][1], rows[i][0]);
		CHECK_CASE(!proof.problem == !proof.counts[VERDICT_NOT_RUN], rows[i][0]);
	}
}

static void test_incomplete(void)
{
	const char *all = output_of("", "", true);
	const canaries none = { 0 };
	struct proof proof = prove_judge(&arena, output_of("", "", false), 0, &none, NULL);

	CHECK(proof.problem && strstr(proof.problem, "exited early"));
	proof = prove_judge(&arena, all, 3, &none, NULL);
	CHECK(proof.problem && strstr(proof.problem, "status 3"));
	proof = prove_judge(&arena, all, EXIT_SIGNAL_BASE + 15, &none, NULL);
	CHECK(proof.problem && strstr(proof.problem, "signal 15"));
	proof = prove_judge(&arena, "", 0, &none, NULL);
	CHECK(proof.problem && proof.counts[VERDICT_NOT_RUN] == ATTACK_COUNT);
	proof = prove_judge(&arena, "end\t0\t-\n", 0, &none, NULL);
	CHECK(proof.problem && proof.counts[VERDICT_NOT_RUN] == ATTACK_COUNT);
	// A line after the end, or a second line of an attack, is ignored.
	proof = prove_judge(&arena, arena_printf(&arena, "files-ssh\tleaked\tx\n%s", all), 0, &none,
			    NULL);
	CHECK(proof.counts[VERDICT_LEAKED] == 1 && !proof.problem);
	proof = prove_judge(&arena, arena_printf(&arena, "%sfiles-ssh\tleaked\tx\n", all), 0, &none,
			    NULL);
	CHECK(proof.counts[VERDICT_LEAKED] == 0 && !proof.problem);
	proof = prove_judge(&arena, arena_printf(&arena, "x\n\n\t\t\nno such\tblocked\t\n%s", all),
			    0, &none, NULL);
	CHECK(proof.counts[VERDICT_BLOCKED] == ATTACK_COUNT && !proof.problem);
}

// A change that the host observes makes one attack a leak, whatever its verdict, unless it is open.
static void test_harm(void)
{
	static const struct {
		struct canary canary;
		const char *attack;
	} rows[] = {
		{ { CANARY_FILE, .group = "files-ssh" }, "write-canaries" },
		{ { CANARY_WRITE }, "write-create" },
		{ { CANARY_WRITE_BY_ATTACK, .group = "write-rename" }, "write-rename" },
		{ { CANARY_ABSTRACT }, "sockets-abstract" },
		{ { CANARY_ABSTRACT_DATAGRAM }, "sockets-abstract-datagram" },
		{ { CANARY_UNIX }, "sockets-path" },
		{ { CANARY_MOUNTED_SOCKET }, "sockets-mounted" },
		{ { CANARY_TCP, .group = "loopback" }, "network-loopback-tcp" },
		{ { CANARY_TCP, .group = "host" }, "network-host-tcp" },
		{ { CANARY_UDP, .group = "loopback" }, "network-loopback-udp" },
		{ { CANARY_UDP, .group = "host" }, "network-host-udp" },
		{ { CANARY_PROCESS }, "processes-signal" },
		{ { CANARY_SHARED_MEMORY }, "memory-shm-id" },
		{ { CANARY_SEMAPHORE }, "memory-semaphores" },
		{ { CANARY_MESSAGES }, "memory-messages" },
		{ { CANARY_QUEUE }, "memory-mqueue" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		canaries list = { 0 };
		struct proof proof;

		vec_push(&arena, &list, rows[i].canary);
		list.items[0].value = "/x";
		proof = prove_judge(&arena, output_of("", "", true), 0, &list, NULL);
		CHECK_CASE(proof.counts[VERDICT_LEAKED] == 0, rows[i].attack);
		list.items[0].harm = "was changed";
		proof = prove_judge(&arena, output_of("", "", true), 0, &list, NULL);
		CHECK_CASE(proof.counts[VERDICT_LEAKED] == 1, rows[i].attack);
		CHECK_CASE_STRING(row_of(&proof, rows[i].attack)->why,
				  "/x was changed (observed on the host)", rows[i].attack);
		proof = prove_judge(&arena, output_of(rows[i].attack, "skipped", true), 0, &list,
				    NULL);
		CHECK_CASE(proof.counts[VERDICT_LEAKED] == 1, rows[i].attack);
		proof = prove_judge(&arena, output_of(rows[i].attack, "open", true), 0, &list,
				    NULL);
		CHECK_CASE(proof.counts[VERDICT_LEAKED] == 0, rows[i].attack);
	}
}

static void test_granted(void)
{
	canaries list = { 0 };
	struct proof proof;

	vec_push(&arena, &list,
		 (struct canary){ CANARY_FILE, .group = "files-cloud", .value = "/x",
				  .granted = "profile work mounts '/x'" });
	proof = prove_judge(&arena, output_of("files-cloud", "skipped", true), 0, &list, NULL);
	CHECK(proof.counts[VERDICT_GRANTED] == 1 && proof.counts[VERDICT_SKIPPED] == 0);
	CHECK_STRING(row_of(&proof, "files-cloud")->why, "profile work mounts '/x'");
	// The other canaries of that attack are attacked: blocked or leaked.
	proof = prove_judge(&arena, output_of("", "", true), 0, &list, NULL);
	CHECK(row_of(&proof, "files-cloud")->verdict == VERDICT_GRANTED);
	proof = prove_judge(&arena, output_of("files-cloud", "leaked", true), 0, &list, NULL);
	CHECK(row_of(&proof, "files-cloud")->verdict == VERDICT_LEAKED);
	proof = prove_judge(&arena, output_of("files-ssh", "leaked", true), 0, &list, NULL);
	CHECK(proof.counts[VERDICT_LEAKED] == 1);
	// Each grant is reported once.
	for (int i = 0; i < 2; i++)
		vec_push(&arena, &list,
			 (struct canary){ CANARY_FILE, .group = "files-cloud", .value = "/y",
					  .granted = "--mount-ro mounts '/y'" });
	proof = prove_judge(&arena, output_of("", "", true), 0, &list, NULL);
	CHECK_STRING(row_of(&proof, "files-cloud")->why,
		     "profile work mounts '/x'; --mount-ro mounts '/y'");
}

// Ports that the user opens are reported, not attacked, and hide no leak of another port.
static void test_ports(void)
{
	struct world world;
	canaries list = { 0 };
	struct proof proof;

	world_debian(&world);
	world.plan.config = &world.config;
	vec_push(&arena, &world.config.host_ports,
		 ((struct config_port){ 80, origin_requested("profile work") }));
	vec_push(&arena, &world.config.host_ports,
		 ((struct config_port){ 8080, origin_requested("--host-port") }));
	vec_push(&arena, &world.config.published_ports,
		 ((struct config_port){ 3000, origin_requested("--publish") }));
	// The port of the first canary happens to be open.
	vec_push(&arena, &list, (struct canary){ CANARY_TCP, "loopback", "::1", "8080" });
	vec_push(&arena, &list, (struct canary){ CANARY_TCP, "loopback", "127.0.0.1", "81" });
	vec_push(&arena, &list, (struct canary){ CANARY_TCP, "host", "192.0.2.1", "8080" });
	vec_push(&arena, &list, (struct canary){ CANARY_UDP, "loopback", "127.0.0.1", "8080" });
	vec_push(&arena, &list, (struct canary){ CANARY_INCOMING, .value = "3001" });
	prove_grant_ports(&arena, &world.plan, &list);
	CHECK_STRING(prove_render_canaries(&arena, &list), "tcp\tloopback\t127.0.0.1\t81\n"
							   "tcp\thost\t192.0.2.1\t8080\n"
							   "udp\tloopback\t127.0.0.1\t8080\n"
							   "incoming\t3001\n");
	proof = prove_judge(&arena, output_of("", "", true), 0, &list, NULL);
	CHECK(proof.counts[VERDICT_GRANTED] == 2 && proof.counts[VERDICT_LEAKED] == 0);
	CHECK_STRING(row_of(&proof, "network-loopback-tcp")->why,
		     "--host-port opens port 8080 of the host's loopback; "
		     "profile work opens port 80 of the host's loopback");
	CHECK_STRING(row_of(&proof, "network-incoming")->why,
		     "--publish opens port 3000 of the box to the host's loopback");
	proof = prove_judge(&arena, output_of("network-incoming", "leaked", true), 0, &list, NULL);
	CHECK(row_of(&proof, "network-incoming")->verdict == VERDICT_LEAKED);
	list.items[1].harm = "was reached";
	proof = prove_judge(&arena, output_of("", "", true), 0, &list, NULL);
	CHECK(row_of(&proof, "network-loopback-tcp")->verdict == VERDICT_LEAKED);
	world_free(&world);
}

// A nested box grants these attacks, and no others.
static void test_nested(void)
{
	static const char *const by[] = { "kernel-user-namespace", "kernel-clone-namespace",
					  "kernel-clone3-namespace", "keys-list", "write-set-id" };
	const canaries none = { 0 };
	struct proof proof;
	size_t granted = 0;

	for (size_t i = 0; i < ARRAY_SIZE(by); i++) {
		const char *output = output_of(by[i], "leaked", true);

		proof = prove_judge(&arena, output, 0, &none, "profile work");
		CHECK_CASE_STRING(row_of(&proof, by[i])->why, "\"nested\", profile work", by[i]);
		CHECK_CASE(proof.counts[VERDICT_GRANTED] == 1 && !proof.counts[VERDICT_LEAKED],
			   by[i]);
		proof = prove_judge(&arena, output, 0, &none, NULL);
		CHECK_CASE(proof.counts[VERDICT_LEAKED] == 1, by[i]);
	}
	for (enum attack_id attack = 0; attack < ATTACK_COUNT; attack++) {
		const char *name = attack_name(&arena, attack);

		proof = prove_judge(&arena, output_of(name, "leaked", true), 0, &none,
				    "profile work");
		granted += proof.counts[VERDICT_GRANTED];
	}
	CHECK(granted == ARRAY_SIZE(by));
	// A blocked attack stays blocked.
	proof = prove_judge(&arena, output_of("", "", true), 0, &none, "profile work");
	CHECK(proof.counts[VERDICT_BLOCKED] == ATTACK_COUNT);
}

static bool lists(const char *text, const char *line)
{
	return strstr(text, arena_printf(&arena, "%s\n", line)) != NULL;
}

static const char *listed(struct world *world)
{
	canaries list = prove_places(&arena, &world->plan, &world->facts, "MARK");

	return prove_render_canaries(&arena, &list);
}

static void test_places(void)
{
	struct world world;
	const char *text;

	world_debian(&world);
	vec_push(&world.arena, &world.facts.secrets,
		 (struct secret_place){ HOME "/.aws", HOME "/.aws", "AWS credentials",
					"files-cloud" });
	vec_push(&world.arena, &world.facts.secrets,
		 (struct secret_place){ "/etc/shadow", "/etc/shadow", "passwords",
					"files-system" });
	vec_push(&world.arena, &world.facts.secrets,
		 (struct secret_place){ HOME "/.claude/.credentials.json",
					HOME "/.claude/.credentials.json", "Claude credentials",
					"files-claude" });
	world_variable(&world, "XDG_RUNTIME_DIR=/run/user/7");
	CHECK(world_plan(&world));
	text = listed(&world);
	CHECK(lists(text, "file\tfiles-cloud\t" HOME "/.aws/MARK"));
	CHECK(lists(text, "absent\tfiles-system\t/etc/shadow"));
	CHECK(lists(text, "file\tfiles-home\t" HOME "/MARK"));
	CHECK(lists(text, "file\tfiles-temporary\t/tmp/MARK"));
	CHECK(lists(text, "file\tfiles-run\t/run/user/7/MARK"));
	CHECK(lists(text, "unix\t/run/user/7/MARK.socket"));
	CHECK(lists(text, "write\t" HOME "/MARK.made"));
	CHECK(lists(text, "parent\t" HOME));
	// The box has its own file at that path.
	CHECK(!strstr(text, ".credentials.json"));
	// These are checked by the host and not sent.
	CHECK(!strstr(text, "write-rename"));
	CHECK(lists(text, "mounted-socket\t" PROJECT "/MARK.socket\topen"));
	world.plan.sockets_blocked = true;
	CHECK(lists(listed(&world), "mounted-socket\t" PROJECT "/MARK.socket"));
	CHECK(!strstr(text, PROJECT "/MARK.made"));

	vec_push(&world.arena, &world.plan.mounts,
		 (struct plan_mount){ .kind = MOUNT_READ_ONLY,
				      .source = HOME "/.aws",
				      .path = HOME "/.aws",
				      .origin = origin_requested("profile work") });
	text = listed(&world);
	CHECK(!strstr(text, ".aws/MARK"));
	world_free(&world);
}

// The list names the limits, and those that the profile sets.
static void test_limits(void)
{
	struct world world;

	world_debian(&world);
	CHECK(world_plan(&world) && !strstr(listed(&world), "limit\t"));
	world.facts.cgroup.parent = "/sys/fs/cgroup/ours";
	world.facts.cgroup.direct[LIMIT_PIDS] = world.facts.cgroup.direct[LIMIT_MEMORY] = true;
	CHECK(world_plan(&world));
	CHECK(lists(listed(&world), "limit\tpids.max\t8192\nlimit\tcgroup.max.descendants\t1"));
	world.config.limits[LIMIT_MEMORY] =
		(struct config_limit){ 1 << 30, origin_requested("profile x") };
	CHECK(world_plan(&world));
	CHECK(lists(listed(&world), "limit\tmemory.max\t1073741824\trequested"));
	CHECK(lists(listed(&world), "limit\tpids.max\t8192\trequested"));
	CHECK(!strstr(listed(&world), "swap")); // not every kernel has that
	world_free(&world);
}

static void test_variables(void)
{
	struct world world;
	canaries list = { 0 };

	world_debian(&world);
	world.config.extra_env = "GITHUB_TOKEN";
	world_variable(&world, "GITHUB_TOKEN=token");
	world_variable(&world, "NPM_TOKEN=token");
	CHECK(world_plan(&world));
	vec_push(&arena, &list, (struct canary){ CANARY_VARIABLE, .value = "GITHUB_TOKEN" });
	vec_push(&arena, &list, (struct canary){ CANARY_VARIABLE, .value = "NPM_TOKEN" });
	prove_grant_variables(&arena, &world.plan, &list);
	CHECK(list.items[0].granted && strstr(list.items[0].granted, "GITHUB_TOKEN"));
	CHECK(!list.items[1].granted);
	CHECK_STRING(plan_variable(&world.plan, "GITHUB_TOKEN"), "granted");
	CHECK_STRING(prove_render_canaries(&arena, &list), "env\tNPM_TOKEN\n");
	world_free(&world);
}

static void test_plan(void)
{
	struct world world;
	size_t mounts;

	world_debian(&world);
	CHECK(world_plan(&world));
	mounts = world.plan.mounts.count;
	prove_change_plan(&world.plan, &world.arena, "\177ELF\0x", 6, "token\tx\n");
	CHECK(world.plan.mounts.count == mounts + 2);
	CHECK(world.plan.mounts.items[mounts + 1].kind == MOUNT_SEAL);
	CHECK(world.plan.mounts.items[mounts - 1].size == 6);
	CHECK(world.plan.command.count == 1 &&
	      str_equal(world.plan.command.items[0], BOX_ATTACK_PROGRAM));
	world_free(&world);
}

static void test_table(void)
{
	static const size_t widths[] = { 40, 60, 72, 80, 120, 200 };
	struct world world;
	const canaries none = { 0 };
	const char *output = arena_printf(&arena,
					  "files-ssh\tleaked\t\033[2Jread\r/home/\xff%0200d\n%s", 7,
					  output_of("", "", true));
	struct proof proof = prove_judge(&arena, output, 0, &none, NULL);
	const char *text;

	world_debian(&world);
	CHECK(world_plan(&world));
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		text = render_proof(&arena, &world.plan, &proof,
				    (struct reader){ .columns = widths[i] });
		for (const char *s = text; *s; s += strcspn(s, "\n") + 1)
			CHECK_CASE(display_width(arena_strndup(&arena, s, strcspn(s, "\n"))) <=
					   widths[i],
				   arena_printf(&arena, "%zu columns: %.*s", widths[i],
						(int)strcspn(s, "\n"), s));
		CHECK(!strpbrk(text, "\033\r"));
	}
	text = render_proof(&arena, &world.plan, &proof, (struct reader){ 0 });
	CHECK(strstr(text, " LEAKED "));
	CHECK(str_ends(text, arena_printf(&arena,
					  "\n%d blocked, 1 leaked, 0 open by design, "
					  "0 granted, 0 skipped\n",
					  (int)ATTACK_COUNT - 1)));
	text = render_proof(&arena, &world.plan, &proof, (struct reader){ .colour = true });
	CHECK(strstr(text, "\033[1;31mLEAKED\033[0m"));
	CHECK(!strstr(text, "\033[2J"));
	world_free(&world);
}

static void test_attacks(void)
{
	CHECK(ATTACK_COUNT >= 179);
	for (enum attack_id attack = 0; attack < ATTACK_COUNT; attack++) {
		const char *name = attack_name(&arena, attack);

		CHECK_CASE(*attack_table[attack].tried && *attack_table[attack].blocked_by, name);
		// Also shows that no two attacks have the same name.
		CHECK_CASE(attack_by_name(name) == attack, name);
		CHECK_CASE(strlen(name) + 1 < ATTACK_NAME_SIZE, name);
	}
	CHECK(attack_by_name("files-none") == ATTACK_COUNT);
}

// Every value has a name, and every name belongs to one value.
static void test_protocol(void)
{
	for (enum verdict verdict = 0; verdict < VERDICT_COUNT; verdict++)
		CHECK_CASE(verdict_by_name(verdict_names[verdict]) == verdict,
			   verdict_names[verdict]);
	for (enum canary_kind kind = 0; kind < CANARY_KIND_COUNT; kind++)
		CHECK_CASE(canary_kind_by_name(canary_kind_names[kind]) == kind,
			   canary_kind_names[kind]);
	CHECK(verdict_by_name("") == VERDICT_COUNT && verdict_by_name("block") == VERDICT_COUNT);
	CHECK(canary_kind_by_name("files") == CANARY_KIND_COUNT);
	CHECK(str_starts(BOX_CANARIES, BOX_RUN "/") && str_starts(BOX_ATTACK_PROGRAM, BOX_RUN "/"));
}

// Every secret place names an attack that reads places, and every such attack has a place.
static void test_attacks_on_places(void)
{
	struct world world;
	bool has_place[ATTACK_COUNT] = { 0 };
	canaries list;

	world_debian(&world);
	world_variable(&world, "XDG_RUNTIME_DIR=/run/user/7");
	CHECK(world_plan(&world));
	world.plan.project = HOME "/work/project";
	vec_push(&world.arena, &world.plan.toolchains,
		 (struct plan_toolchain){ "cargo", HOME "/.cargo", "bin" });
	for (size_t i = 0; i < secret_table_count; i++) {
		enum attack_id attack = attack_by_name(secret_table[i].attack);

		CHECK_CASE(attack < ATTACK_COUNT && attack_table[attack].reads_places,
			   secret_table[i].path);
		if (attack < ATTACK_COUNT)
			has_place[attack] = true;
	}
	list = prove_places(&arena, &world.plan, &world.facts, "MARK");
	vec_each(canary, &list) {
		enum attack_id attack;

		if (canary->kind != CANARY_FILE && canary->kind != CANARY_ABSENT)
			continue;
		attack = attack_by_name(canary->group);
		CHECK_CASE(attack < ATTACK_COUNT && attack_table[attack].reads_places,
			   canary->value);
		if (attack < ATTACK_COUNT)
			has_place[attack] = true;
	}
	for (enum attack_id attack = 0; attack < ATTACK_COUNT; attack++)
		CHECK_CASE(has_place[attack] == attack_table[attack].reads_places,
			   attack_name(&arena, attack));
	world_free(&world);
}

// A place is granted and attacked under the attack that its row names, not by its file name.
static void test_place_with_a_common_name(void)
{
	static const char *const rows[][2] = {
		{ HOME "/.gem/credentials", "files-registries" },
		{ HOME "/.config/git/credentials", "files-git" },
		{ "/etc/ssh", "files-system" },
		{ HOME "/.ssh", "files-ssh" },
	};
	struct world world;
	const char *text;

	world_debian(&world);
	CHECK(world_plan(&world));
	text = listed(&world);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE(strstr(text, arena_printf(&arena, "\t%s\t%s", rows[i][1], rows[i][0])),
			   rows[i][0]);
	world_free(&world);
}

int main(void)
{
	test_attacks();
	test_protocol();
	test_attacks_on_places();
	test_place_with_a_common_name();
	test_verdicts();
	test_incomplete();
	test_harm();
	test_granted();
	test_ports();
	test_nested();
	test_places();
	test_limits();
	test_variables();
	test_plan();
	test_table();
	arena_free(&arena);
	return check_done();
}
