// SPDX-License-Identifier: MIT
// Cases of SPEC.md's "Network tiers": the tier inet as pasta, nft, the audit and the box's own files see it.
#include "base/arena.h"
#include "base/screen.h"
#include "base/text.h"
#include "config/config.h"
#include "fixture.h"
#include "golden.h"
#include "network/refusals.h"
#include "plan/claude/instructions.h"
#include "plan/facts.h"
#include "plan/network.h"
#include "render/audit.h"
#include "render/dry_run.h"
#include "render/network.h"

#include <string.h>

static void world_connected(struct world *world)
{
	world_debian(world);
	world_connect(world);
	world->config.network = NETWORK_INET;
}

static void show_pasta(struct text *out, struct world *world)
{
	strings words;

	if (!show_plan(out, world))
		return;
	words = render_pasta(&world->plan, &world->arena, NETWORK_NAMESPACE_SHOWN);
	vec_each(word, &words)
		text_printf(out, "%s%s",
			    word == words.items       ? ""
			    : str_starts(*word, "--") ? "\n  "
						      : " ",
			    *word);
	text_add(out, "\n");
}

static void show_pasta_commands(struct text *out)
{
	struct world world;

	world_connected(&world);
	show_title(out, "IPv4 and IPv6");
	show_pasta(out, &world);
	world_free(&world);

	world_connected(&world);
	world.facts.network.ipv6 = false;
	show_title(out, "no IPv6; two ports each way");
	vec_push(&world.arena, &world.config.host_ports,
		 ((struct config_port){ 5432, "--host-port" }));
	vec_push(&world.arena, &world.config.host_ports,
		 ((struct config_port){ 6379, "--host-port" }));
	vec_push(&world.arena, &world.config.published_ports,
		 ((struct config_port){ 3000, "--publish" }));
	vec_push(&world.arena, &world.config.published_ports,
		 ((struct config_port){ 5173, "--publish" }));
	show_pasta(out, &world);
	world_free(&world);

	world_connected(&world);
	world.facts.network.ipv4 = false;
	world.facts.uid = 0;
	show_title(out, "no IPv4; as root");
	show_pasta(out, &world);
	world_free(&world);
}

static void show_rules(struct text *out)
{
	struct world world;

	world_connected(&world);
	if (show_plan(out, &world))
		text_add(out, render_nft(&world.plan, &world.arena));
	show_title(out, "the host's network has changed");
	world.facts.network.ranges.count = 0;
	world_range(&world, "wlan0", "192.168.1.7/24");
	world_range(&world, "wlan0", "2001:db8:2::/64");
	world_range(&world, "wlan0", "198.51.100.64/26");
	world_range(&world, "wlan0", "198.51.100.70");
	world.plan.inet.host = plan_host_ranges(&world.arena, &world.facts.network.ranges);
	text_add(out, render_nft_change(&world.arena, &world.plan.inet.host));
	show_title(out, "and has gone");
	world.plan.inet.host.count = 0;
	text_add(out, render_nft_change(&world.arena, &world.plan.inet.host));
	world_free(&world);
}

static void show_inet(struct text *out)
{
	struct world world;

	world_connected(&world);
	vec_push(&world.arena, &world.config.host_ports,
		 ((struct config_port){ 5432, "--host-port" }));
	vec_push(&world.arena, &world.config.published_ports,
		 ((struct config_port){ 3000, "profile work" }));
	if (show_plan(out, &world)) {
		const char *audit = render_audit(&world.plan, &world.arena, (struct reader){ 0 });
		const char *memory =
			plan_render_instructions(&world.plan, &world.arena, &world.facts);

		show_flag(out, &world, "--unshare-net");
		show_below(out, &world, "/etc/resolv.conf");
		show_data(out, &world, "/etc/resolv.conf");
		show_title(out, "audit");
		text_add(out, strstr(audit, "Network:"));
		show_title(out, "memory");
		show_lines(out, &world.arena, memory, "internet");
		show_lines(out, &world.arena, memory, "5432");
		show_lines(out, &world.arena, memory, "3000");
		show_title(out, "dry run");
		show_lines(out, &world.arena, render_dry_run(&world.plan, &world.arena), "# pasta");
		show_lines(out, &world.arena, render_dry_run(&world.plan, &world.arena), "# nft");
	}
	world_free(&world);
}

static void show_missing(struct text *out)
{
	static const char *const titles[] = { "no pasta",  "no nft",  "no tun",
					      "no answer", "offline", "IPv4 only" };

	for (size_t i = 0; i < ARRAY_SIZE(titles); i++) {
		struct world world;
		struct network_facts *network = &world.facts.network;

		world_connected(&world);
		network->pasta = i == 0 ? NULL : network->pasta;
		network->nft = i == 1 ? NULL : network->nft;
		network->tun_problem = i == 2 ? "Permission denied" : NULL;
		network->problem = i == 3 ? "Operation not permitted" : NULL;
		network->ipv4 = i != 4;
		network->ipv6 = i < 4;
		show_title(out, titles[i]);
		if (show_plan(out, &world))
			text_add(out, "starts\n");
		world_free(&world);
	}
}

static void show_refusals(struct text *out)
{
	static const char *const texts[] = {
		"{\"nftables\": [{\"counter\": {\"packets\": 0}}]}",
		"{\"nftables\": [{\"counter\": {\"packets\": 1}}, {\"set\": {\"elem\": [{\"elem\": {\"val\": "
		"{\"concat\": [\"192.168.1.10\", \"tcp\", 22]}, \"counter\": {\"packets\": 1}}}]}}]}",
		// Without /etc/protocols nft knows no names.
		"{\"nftables\": [{\"counter\": {\"packets\": 3}}, {\"set\": {\"elem\": ["
		"{\"elem\": {\"val\": {\"concat\": [\"10.0.0.1\", 17, 53]}, \"counter\": {\"packets\": 2}}}, "
		"{\"elem\": {\"val\": {\"concat\": [\"10.0.0.1\", 6, 53]}, \"counter\": {\"packets\": 1}}}]}}]}",
		"{\"nftables\": [{\"counter\": {\"packets\": 17}}, {\"set\": {\"elem\": ["
		"{\"elem\": {\"val\": {\"concat\": [\"169.254.169.254\", \"tcp\", 80]}, \"counter\": {\"packets\": 2}}}, "
		"{\"elem\": {\"val\": {\"concat\": [\"192.168.1.10\", \"tcp\", 22]}, \"counter\": {\"packets\": 12}}}]}}, "
		"{\"set\": {\"elem\": [{\"elem\": {\"val\": {\"concat\": [\"fd00::1\", \"udp\", 53]}, \"counter\": "
		"{\"packets\": 1}}}]}}, {\"set\": {\"elem\": [{\"elem\": {\"val\": \"10.0.0.1\", \"counter\": "
		"{\"packets\": 2}}}, \"10.0.0.0\", {\"prefix\": {\"addr\": \"10.0.0.0\", \"len\": 8}}]}}]}",
		"{\"nftables\": [{\"counter\": {\"packets\": 7}}, {\"set\": {\"elem\": ["
		"{\"elem\": {\"val\": \"10.0.0.1\", \"counter\": {\"packets\": 1}}}, "
		"{\"elem\": {\"val\": \"10.0.0.2\", \"counter\": {\"packets\": 1}}}, "
		"{\"elem\": {\"val\": \"10.0.0.3\", \"counter\": {\"packets\": 1}}}, "
		"{\"elem\": {\"val\": \"10.0.0.4\", \"counter\": {\"packets\": 1}}}, "
		"{\"elem\": {\"val\": \"10.0.0.5\", \"counter\": {\"packets\": 1}}}, "
		"{\"elem\": {\"val\": \"10.0.0.6\", \"counter\": {\"packets\": 1}}}, "
		"{\"elem\": {\"val\": \"10.0.0.7\", \"counter\": {\"packets\": 1}}}]}}]}",
		"{\"nftables\": [{\"counter\": {\"packets\": 3}}, {\"set\": {\"elem\": [{\"elem\": {\"val\": "
		"\"\\u001b[2J\", \"counter\": {\"packets\": 3}}}]}}]}",
		"{\"nftables\": []}",
		"not JSON",
		"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct refusals refusals;
		struct world world;

		world_connected(&world);
		if (!show_plan(out, &world)) {
			world_free(&world);
			return;
		}
		if (refused_parse(&world.arena, texts[i], &refusals)) {
			const char *line = refused_render_line(&world.arena, &refusals, false);

			text_printf(out, "%s\n", line ? line : "nothing");
			if (line)
				text_printf(out, "%s\n",
					    refused_render_line(&world.arena, &refusals, true));
			text_add(out,
				 refused_render_report(&world.arena, &world.plan, 7, &refusals));
		} else {
			text_add(out, "cannot be read\n");
			text_add(out, refused_render_report(&world.arena, &world.plan, 7, NULL));
		}
		world_free(&world);
	}
}

const struct golden_case network_cases[] = {
	{ "NET-02", show_inet },
	{ "NET-02-pasta", show_pasta_commands },
	{ "NET-02-rules", show_rules },
	{ "NET-02-missing", show_missing },
	{ "NET-02-refused", show_refusals },
};
const size_t network_case_count = ARRAY_SIZE(network_cases);
