// SPDX-License-Identifier: MIT
// --check: host names, pasta, nft, and a test box in the tier inet.
#include "check/network.h"

#include "base/arena.h"
#include "base/error.h"
#include "box/box.h"
#include "check/finding.h"
#include "check/programs.h"
#include "config/config.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/network.h"
#include "plan/plan.h"
#include "render/check.h"

struct finding check_names(struct arena *arena, const struct facts *facts,
			   const struct config *config)
{
	const char *problem = plan_resolver_problem(arena, facts);

	(void)config;
	if (problem)
		return finding_broken(problem,
				      "restore the file, or start the service that writes it "
				      "(systemd-resolved, NetworkManager)");
	return finding_ok("host names are looked up as /etc/resolv.conf says");
}

struct finding check_pasta(struct arena *arena, const struct facts *facts,
			   const struct config *config)
{
	(void)config;
	return check_program(arena, facts, "pasta", "for --network inet, install passt");
}

struct finding check_nft(struct arena *arena, const struct facts *facts,
			 const struct config *config)
{
	(void)config;
	return check_program(arena, facts, "nft", "for --network inet, install nftables");
}

// Starts a box with the command `true` and connects its network.
struct finding check_inet(struct arena *arena, const struct facts *facts,
			  const struct config *config)
{
	struct config inet = { .payload = PAYLOAD_EXEC, .network = NETWORK_INET };
	struct error error = { .arena = arena };
	struct plan plan;

	(void)config;
	vec_push(arena, &inet.arguments, "true");
	if (!plan_build(&plan, arena, &inet, facts, &error))
		return finding_ok("not tested: no box can start here");
	if (!plan_check(&plan, facts, &error))
		return finding_missing(error.message, error.hint);
	if (!box_try_network(&plan, arena, &error))
		return finding_broken(error.message, error.hint);
	return finding_ok(plan.inet.ipv4 && plan.inet.ipv6 ? "connects a box, IPv4 and IPv6"
			  : plan.inet.ipv4                 ? "connects a box, IPv4"
							   : "connects a box, IPv6");
}
