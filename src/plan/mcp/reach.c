// SPDX-License-Identifier: MIT
// Decides whether the box can reach the address of an MCP server.
//
// Names are not looked up: a name that leads to a private address is refused when the box connects.
#include "plan/mcp/reach.h"

#include "base/address.h"
#include "base/arena.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/network.h"
#include "plan/plan.h"

#include <string.h>
#include <strings.h>

struct place {
	const char *host; // without brackets and without a '.' at its end
	unsigned int port;
};

static bool parse_port(const char *text, unsigned int *ret_port)
{
	unsigned int port = 0;
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 5 || text[digits])
		return false;
	for (size_t i = 0; i < digits; i++)
		port = port * 10 + (unsigned int)(text[i] - '0');
	*ret_port = port;
	return port > 0 && port <= 65535;
}

static bool parse_address(struct arena *arena, const char *address, struct place *ret_place)
{
	bool secure = strncasecmp(address, "https://", 8) == 0;
	const char *authority = secure                                    ? address + 8
				: strncasecmp(address, "http://", 7) == 0 ? address + 7
									  : NULL;
	size_t length = authority ? strcspn(authority, "/?#\\ \t\r\n") : 0;
	const char *at = authority ? memrchr(authority, '@', length) : NULL;
	char *host;
	char *end;

	if (!authority)
		return false;
	host = at ? arena_strndup(arena, at + 1, length - (size_t)(at + 1 - authority))
		  : arena_strndup(arena, authority, length);
	*ret_place = (struct place){ .host = host, .port = secure ? 443 : 80 };
	if (*host == '[') {
		ret_place->host = host + 1;
		end = strchr(host, ']');
		if (!end)
			return false;
		*end++ = '\0';
	} else {
		end = host + strcspn(host, ":");
	}
	if (*end == ':' && end[1] && !parse_port(end + 1, &ret_place->port))
		return false;
	*end = '\0';
	if (str_ends(ret_place->host, "."))
		host[strlen(host) - 1] = '\0';
	return *ret_place->host != '\0';
}

static bool name_ends(const char *name, const char *end)
{
	size_t length = strlen(name);
	size_t wanted = strlen(end);

	return length >= wanted && strcasecmp(name + length - wanted, end) == 0;
}

static bool is_loopback(const char *host, const struct address_range *address, bool numeric)
{
	static const char *const own[] = { "127.0.0.0/8", "::1", "0.0.0.0", "::" };

	for (size_t i = 0; numeric && i < ARRAY_SIZE(own); i++) {
		struct address_range range;

		if (address_parse(own[i], &range) && address_covers(&range, address))
			return true;
	}
	return strcasecmp(host, "localhost") == 0 || name_ends(host, ".localhost");
}

// Returns whether a name belongs to a private network by its form: a name without a domain, and the
// domains that are reserved for such networks.
static bool is_private_name(const char *host)
{
	return !strchr(host, '.') || name_ends(host, ".local") || name_ends(host, ".internal") ||
	       name_ends(host, ".home.arpa") || name_ends(host, ".lan");
}

static bool is_forwarded(const struct config *config, unsigned int port)
{
	vec_each(row, &config->host_ports) {
		if (row->number == port)
			return true;
	}
	return false;
}

const char *reach_problem(const struct plan *plan, struct arena *arena, const char *address,
			  const char **ret_option)
{
	const struct config *config = plan->config;
	bool none = config->network == NETWORK_NONE;
	plan_ranges refused = plan_refused_ranges(arena);
	struct address_range range;
	struct place place;
	bool numeric;

	*ret_option = NULL;
	if (!parse_address(arena, address, &place))
		return "its address is not a valid one";
	numeric = strchr(place.host, '/') == NULL && address_parse(place.host, &range);
	if (config->network == NETWORK_FULL)
		return NULL;
	if (is_loopback(place.host, &range, numeric)) {
		if (!none && is_forwarded(config, place.port))
			return NULL;
		*ret_option = arena_printf(arena, "%s--host-port %u", none ? "--network inet " : "",
					   place.port);
		return "it is a service of this machine, which the box cannot reach";
	}
	if (numeric ? plan_ranges_cover(&refused, &range) ||
			      plan_ranges_cover(&plan->inet.host, &range)
		    : is_private_name(place.host)) {
		*ret_option = "--network full";
		return "it is in a private network, which the box cannot reach";
	}
	*ret_option = none ? "--network inet" : NULL;
	return none ? "the box has no network" : NULL;
}
