// SPDX-License-Identifier: MIT
// Renders the tier inet as a pasta command line and as nftables rules.
#include "render/network.h"

#include "base/address.h"
#include "base/arena.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/network.h"
#include "plan/plan.h"

static void add_word(strings *words, struct arena *arena, const char *word)
{
	vec_push(arena, words, word);
}

static void add_option(strings *words, struct arena *arena, const char *option, const char *value)
{
	vec_push(arena, words, option);
	vec_push(arena, words, value);
}

static const char *render_ports(struct arena *arena, const ports *list)
{
	struct text out = { .arena = arena };

	vec_each(port, list)
		text_printf(&out, "%s%u", out.length ? "," : "", port->number);
	return list->count ? text_get(&out) : "none";
}

static void add_addresses(strings *words, struct arena *arena, const struct plan_network *inet)
{
	if (!inet->ipv6)
		add_word(words, arena, "--ipv4-only");
	if (!inet->ipv4)
		add_word(words, arena, "--ipv6-only");
	if (inet->ipv4) {
		add_option(words, arena, "--address", BOX_ADDRESS_4);
		add_option(words, arena, "--netmask", BOX_LENGTH_4);
		add_option(words, arena, "--gateway", BOX_GATEWAY_4);
	}
	if (inet->ipv6) {
		add_option(words, arena, "--address", BOX_ADDRESS_6);
		add_option(words, arena, "--gateway", BOX_GATEWAY_6);
	}
}

strings render_pasta(const struct plan *plan, struct arena *arena, const char *network_namespace)
{
	const struct plan_network *inet = &plan->inet;
	strings words = { 0 };

	add_word(&words, arena, "pasta");
	add_word(&words, arena, "--foreground"); // so that it ends with the supervisor
	add_word(&words, arena, "--quiet");
	// The supervisor stops pasta. To watch the namespace, pasta would need access to init.
	add_word(&words, arena, "--no-netns-quit");
	add_word(&words, arena, "--config-net");
	add_option(&words, arena, "--ns-ifname", BOX_INTERFACE);
	add_option(&words, arena, "--mac-addr", "9a:55:9a:55:9a:55"); // not the host's
	add_addresses(&words, arena, inet);
	// No access to the host's loopback through the gateway address, and no DNS by pasta.
	add_word(&words, arena, "--no-map-gw");
	add_option(&words, arena, "--dns", "none");
	add_option(&words, arena, "--search", "none");
	add_word(&words, arena, "--no-dhcp");
	add_word(&words, arena, "--no-dhcpv6");
	add_word(&words, arena, "--no-ra");
	if (!plan->config->published_ports.count)
		add_option(&words, arena, "--tcp-ports", "none");
	vec_each(port, &plan->config->published_ports)
		add_option(&words, arena, "--tcp-ports",
			   arena_printf(arena, "127.0.0.1/%u", port->number));
	add_option(&words, arena, "--udp-ports", "none");
	add_option(&words, arena, "--tcp-ns", render_ports(arena, &plan->config->host_ports));
	add_option(&words, arena, "--udp-ns", "none");
	if (inet->as_root)
		add_option(&words, arena, "--runas", "0"); // user nobody cannot enter the namespace
	// Every version of pasta keeps its standard descriptors open, and closes others.
	add_option(&words, arena, "--pid", "/proc/self/fd/1");
	add_option(&words, arena, "--userns", "/proc/self/fd/0");
	add_option(&words, arena, "--netns", network_namespace);
	return words;
}

// Returns the ranges as elements of a set. With `six`, IPv4 ranges are included in the form that a
// NAT64 gateway uses.
static const char *render_elements(struct arena *arena, const plan_ranges *ranges, bool six)
{
	struct text out = { .arena = arena };

	vec_each(row, ranges) {
		struct address_range range = row->range;

		if (!six && range.six)
			continue;
		if (six && !range.six)
			range = address_nat64(&range);
		text_printf(&out, "%s%s", out.length ? ", " : "", address_render(arena, &range));
	}
	return text_get(&out);
}

static void add_set(struct text *out, struct arena *arena, const char *name, bool six,
		    const plan_ranges *ranges)
{
	const char *list = render_elements(arena, ranges, six);

	text_printf(out, "\tset %s%d {\n\t\ttype %s\n\t\tflags interval\n", name, six ? 6 : 4,
		    six ? "ipv6_addr" : "ipv4_addr");
	if (*list)
		text_printf(out, "\t\telements = { %s }\n", list);
	text_add(out, "\t}\n");
}

// Sets that count refused connections, for the report at the end of a session. When a set is full,
// connections are still refused, but not counted one by one.
static const char refused_sets[] =
	"\tset connections4 {\n\t\ttype ipv4_addr . inet_proto . inet_service\n"
	"\t\tsize 1024\n\t\tflags dynamic\n\t\tcounter\n\t}\n"
	"\tset connections6 {\n\t\ttype ipv6_addr . inet_proto . inet_service\n"
	"\t\tsize 1024\n\t\tflags dynamic\n\t\tcounter\n\t}\n"
	"\tset pings4 {\n\t\ttype ipv4_addr\n\t\tsize 1024\n\t\tflags dynamic\n\t\tcounter\n\t}\n"
	"\tset pings6 {\n\t\ttype ipv6_addr\n\t\tsize 1024\n\t\tflags dynamic\n\t\tcounter\n\t}\n"
	"\tcounter refused {\n\t}\n";

// Peers that the box has sent a datagram to, and from which port. pasta keeps that port open on the
// host for packets from any sender; the rules accept those from these peers only. The kernel's
// connection tracking would do the same, but at a cost for every packet.
static const char peer_sets[] =
	"\tset answers4 {\n\t\ttype ipv4_addr . inet_service . inet_service\n"
	"\t\tsize 16384\n\t\tflags dynamic,timeout\n\t\ttimeout 3m\n\t}\n"
	"\tset answers6 {\n\t\ttype ipv6_addr . inet_service . inet_service\n"
	"\t\tsize 16384\n\t\tflags dynamic,timeout\n\t\ttimeout 3m\n\t}\n";

// Chains. `refuse` answers TCP with a reset. Other packets get a mark that has an unreachable
// route, so that the sender gets EHOSTUNREACH. The kernel does not report that error for IPv6
// pings, so these get an ICMPv6 answer. `guard` rejects marked packets if the route is missing.
static const char chains[] =
	"\tchain refuse {\n"
	"\t\tmeta l4proto { tcp, udp } counter name refused\n"
	"\t\ticmp type echo-request counter name refused\n"
	"\t\ticmpv6 type echo-request counter name refused\n"
	"\t\tmeta nfproto ipv4 meta l4proto { tcp, udp } add @connections4 { ip daddr . meta l4proto . th dport }\n"
	"\t\tmeta nfproto ipv6 meta l4proto { tcp, udp } add @connections6 { ip6 daddr . meta l4proto . th dport }\n"
	"\t\ticmp type echo-request add @pings4 { ip daddr }\n"
	"\t\ticmpv6 type echo-request add @pings6 { ip6 daddr }\n"
	"\t\tmeta l4proto tcp reject with tcp reset\n"
	"\t\tmeta l4proto 58 reject with icmpv6 type port-unreachable\n"
	"\t\tmeta mark set %d\n"
	"\t\taccept\n"
	"\t}\n"
	"\tchain output {\n"
	"\t\ttype route hook output priority -150; policy accept;\n"
	"\t\toif lo accept\n"
	"\t\ticmpv6 type { nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert, mld-listener-report, "
	"mld-listener-done, mld2-listener-report } accept\n"
	"\t\tmeta l4proto igmp drop\n"
	"\t\tmeta l4proto != { tcp, udp, icmp, 58 } goto refuse\n"
	"\t\tip daddr @refused4 goto refuse\n"
	"\t\tip daddr @host4 goto refuse\n"
	"\t\tip6 daddr @refused6 goto refuse\n"
	"\t\tip6 daddr @host6 goto refuse\n"
	"\t\tip6 daddr != { 2000::/3, 64:ff9b::/96 } goto refuse\n"
	"\t\tmeta nfproto ipv4 meta l4proto udp update @answers4 { ip daddr . udp dport . udp sport }\n"
	"\t\tmeta nfproto ipv6 meta l4proto udp update @answers6 { ip6 daddr . udp dport . udp sport }\n"
	"\t}\n"
	"\tchain input {\n"
	"\t\ttype filter hook input priority 0; policy drop;\n"
	"\t\tiif lo accept\n"
	"\t\ttcp flags & (syn | ack) == syn drop\n"
	"\t\tmeta l4proto tcp accept\n"
	"\t\tmeta nfproto ipv4 ip saddr . udp sport . udp dport @answers4 accept\n"
	"\t\tmeta nfproto ipv6 ip6 saddr . udp sport . udp dport @answers6 accept\n"
	"\t\ticmp type { echo-reply, destination-unreachable, time-exceeded, parameter-problem } accept\n"
	"\t\ticmpv6 type { echo-reply, destination-unreachable, packet-too-big, time-exceeded, parameter-problem, "
	"nd-neighbor-solicit, nd-neighbor-advert } accept\n"
	"\t}\n"
	"\tchain guard {\n"
	"\t\ttype filter hook output priority 0; policy accept;\n"
	"\t\tmeta mark %d reject with icmpx type admin-prohibited\n"
	"\t}\n"
	"\tchain forward {\n"
	"\t\ttype filter hook forward priority 0; policy drop;\n"
	"\t}\n";

const char *render_nft(const struct plan *plan, struct arena *arena)
{
	struct text out = { .arena = arena };

	text_add(&out, "table inet claudebox {\n");
	add_set(&out, arena, "refused", false, &plan->inet.refused);
	add_set(&out, arena, "refused", true, &plan->inet.refused);
	add_set(&out, arena, "host", false, &plan->inet.host);
	add_set(&out, arena, "host", true, &plan->inet.host);
	text_add(&out, refused_sets);
	text_add(&out, peer_sets);
	text_printf(&out, chains, REFUSED_MARK, REFUSED_MARK);
	text_add(&out, "}\n");
	return text_get(&out);
}

const char *render_nft_change(struct arena *arena, const plan_ranges *host)
{
	struct text out = { .arena = arena };

	for (int six = 0; six < 2; six++) {
		const char *list = render_elements(arena, host, six);

		text_printf(&out, "flush set inet claudebox host%d\n", six ? 6 : 4);
		if (*list)
			text_printf(&out, "add element inet claudebox host%d { %s }\n", six ? 6 : 4,
				    list);
	}
	return text_get(&out);
}
