// SPDX-License-Identifier: MIT
// The network part of the plan: refused addresses, ports, and the box's resolv.conf.
//
// Theory of operation (tier inet): the box has its own network namespace. pasta runs outside of it
// and forwards the box's packets through ordinary sockets of the host. nftables rules inside the
// namespace refuse every address that does not belong to the internet; they are loaded before the
// agent starts. The box has fixed addresses of its own, so its routes show nothing of the host. The
// DNS relay runs outside, listens on the box's loopback, and forwards queries to the host's
// resolvers. The agent has no capability in the namespace, so it cannot change any of this.
#include "plan/network.h"

#include "base/address.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/resolv_conf.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/tables.h"

bool plan_ranges_cover(const plan_ranges *ranges, const struct address_range *range)
{
	vec_each(known, ranges) {
		if (address_covers(&known->range, range))
			return true;
	}
	return false;
}

// Returns whether a range behind `from` in the list includes it.
static bool is_covered_later(const host_ranges *ranges, const struct host_range *from)
{
	for (const struct host_range *other = from + 1; other < ranges->items + ranges->count;
	     other++)
		if (address_covers(&other->range, &from->range))
			return true;
	return false;
}

plan_ranges plan_refused_ranges(struct arena *arena)
{
	plan_ranges ranges = { 0 };

	for (size_t i = 0; i < refused_range_count; i++) {
		struct plan_range row = { .why = refused_ranges[i].why };

		if (address_parse(refused_ranges[i].range, &row.range))
			vec_push(arena, &ranges, row);
	}
	return ranges;
}

plan_ranges plan_host_ranges(struct arena *arena, const host_ranges *found)
{
	plan_ranges always = plan_refused_ranges(arena);
	plan_ranges ranges = { 0 };

	// nft refuses overlapping ranges in a set.
	vec_each(own, found) {
		if (plan_ranges_cover(&always, &own->range) ||
		    plan_ranges_cover(&ranges, &own->range) || is_covered_later(found, own))
			continue;
		vec_push(arena, &ranges,
			 (struct plan_range){ .range = own->range, .why = own->interface });
	}
	return ranges;
}

void plan_build_network(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	struct plan_network *inet = &plan->inet;
	const char *resolv = facts->network.resolv_text;

	if (!tier_table[plan->config->network].attached)
		return;
	*inet = (struct plan_network){
		.ipv4 = facts->network.ipv4,
		.ipv6 = facts->network.ipv6,
		.pasta = facts->network.pasta,
		.nft = facts->network.nft,
		.as_root = facts->uid == 0,
		.refused = plan_refused_ranges(arena),
		.host = plan_host_ranges(arena, &facts->network.ranges),
	};
	plan_add_mount(plan, arena,
		       (struct plan_mount){
			       .kind = MOUNT_DATA,
			       .source = resolv_render(arena, resolv ? resolv : "", BOX_RESOLVER),
			       .path = RESOLVER_FILE,
			       .mode = 0444,
			       .why = "host name lookup" });
}

bool plan_check_network(const struct plan *plan, const struct facts *facts, struct error *error)
{
	const struct network_facts *network = &facts->network;

	if (!tier_table[plan->config->network].attached)
		return true;
	if (!network->pasta) {
		error_set(error, "network inet needs 'pasta', which is not installed");
		return error_hint(error, "install it: `apt install passt` (Debian, Ubuntu), "
					 "`dnf install passt` (Fedora), `pacman -S passt` (Arch)");
	}
	if (!network->nft) {
		error_set(error, "network inet needs 'nft', which is not installed");
		return error_hint(error,
				  "install it: `apt install nftables` (Debian, Ubuntu), "
				  "`dnf install nftables` (Fedora), `pacman -S nftables` (Arch)");
	}
	if (network->tun_problem) {
		error_set(error, "network inet needs '/dev/net/tun': %s", network->tun_problem);
		// One command for all causes: no module, no node (in a container), wrong mode.
		// It has no quoted part, so that it can be broken between words.
		return error_hint(error,
				  "run `sudo modprobe tun; sudo mkdir -p /dev/net; sudo mknod "
				  "/dev/net/tun c 10 200; sudo chmod 666 /dev/net/tun`");
	}
	if (network->problem) {
		error_set(error, "cannot read the host's addresses: %s", network->problem);
		return error_hint(error,
				  "without them, the box could reach this machine's own network");
	}
	if (!network->ipv4 && !network->ipv6) {
		error_set(error, "network inet: this machine is offline (no default route)");
		return error_hint(error, "connect it, or start with --network none");
	}
	return true;
}

const char *plan_resolver_problem(struct arena *arena, const struct facts *facts)
{
	vec_each(file, &facts->files) {
		if (!str_equal(file->path, RESOLVER_FILE) || file->kind != FILE_MISSING)
			continue;
		if (!file->hops.count)
			return RESOLVER_FILE " does not exist";
		return arena_printf(arena, RESOLVER_FILE " is a link to '%s', which does not exist",
				    quote_word(arena, file->hops.items[file->hops.count - 1].target,
					       120));
	}
	return NULL;
}
