// SPDX-License-Identifier: MIT
// Judges the address of a proxy or of an API.
//
// Theory of operation: programs disagree about unusual addresses. For one, a password ends at the
// first '@', for another at the last; some decode %40 first, some accept a backslash for a slash or
// an address without a scheme. So an address passes only in the form that all read in the same way.
// An '@' or its encoded form anywhere counts as a login.
#include "plan/connections/endpoint.h"

#include "base/address.h"
#include "base/arena.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/plan.h"
#include "plan/registries/address.h"
#include "plan/secrets/detect.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_HOST = 255, LONGEST_PORT = 5 };

static const struct {
	const char *scheme;
	unsigned int port;
} default_ports[] = {
	{ "http", 80 },     { "https", 443 },   { "socks", 1080 },
	{ "socks4", 1080 }, { "socks5", 1080 }, { "socks5h", 1080 },
};

static bool is_url_text(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~' || strchr("\\\"'<>`{}|^", *text))
			return false;
	return true;
}

static unsigned int default_port(const char *text, const char *scheme_end)
{
	size_t length = (size_t)(scheme_end - text);

	for (size_t i = 0; i < ARRAY_SIZE(default_ports); i++)
		if (strlen(default_ports[i].scheme) == length &&
		    strncasecmp(default_ports[i].scheme, text, length) == 0)
			return default_ports[i].port;
	return 0;
}

static bool is_local_name(const char *host)
{
	size_t length = strlen(host);

	if (length && host[length - 1] == '.')
		length--;
	return (length == 9 && strncasecmp(host, "localhost", 9) == 0) ||
	       (length > 10 && strncasecmp(host + length - 10, ".localhost", 10) == 0);
}

static bool is_within(const struct address_range *address, const char *range)
{
	struct address_range outer;

	return address_parse(range, &outer) && address_covers(&outer, address);
}

static void parse_host(struct endpoint *endpoint, const char *host)
{
	endpoint->literal = !strchr(host, '/') && address_parse(host, &endpoint->address);
	endpoint->local = endpoint->literal ? is_within(&endpoint->address, "127.0.0.0/8") ||
						      is_within(&endpoint->address, "::1")
					    : is_local_name(host);
}

// Parses host and port, the part between the scheme and the path.
static bool parse_authority(struct arena *arena, struct endpoint *endpoint, const char *text)
{
	bool six = *text == '[';
	const char *host = text + six;
	size_t length = strcspn(host, six ? "]" : ":");
	const char *rest = host + length;

	if (six) {
		if (*rest++ != ']' || strspn(host, "0123456789abcdefABCDEF:.") != length)
			return false;
	} else {
		for (size_t i = 0; i < length; i++)
			if (!isalnum((unsigned char)host[i]) && !strchr("-._", host[i]))
				return false;
	}
	if (!length || length > LONGEST_HOST)
		return false;
	if (*rest == ':') {
		size_t digits = strspn(rest + 1, "0123456789");

		if (digits > LONGEST_PORT || rest[1 + digits])
			return false;
		if (digits)
			endpoint->port = 0;
		for (size_t i = 1; i <= digits; i++)
			endpoint->port = endpoint->port * 10 + (unsigned int)(rest[i] - '0');
	} else if (*rest) {
		return false;
	}
	parse_host(endpoint, arena_strndup(arena, host, length));
	return true;
}

bool endpoint_has_user(const char *text)
{
	return strchr(text, '@') || strcasestr(text, "%40");
}

struct endpoint endpoint_parse(struct arena *arena, const char *text)
{
	struct endpoint endpoint = { 0 };
	const char *scheme = strstr(text, "://");
	const char *authority = scheme ? scheme + 3 : text;
	size_t length = strcspn(authority, "/?#");

	endpoint.login = endpoint_has_user(text) || secret_text(NULL, text) ||
			 address_has_token(arena, text);
	endpoint.port = scheme ? default_port(text, scheme) : 0;
	if (scheme && (scheme == text || strspn(text, "abcdefghijklmnopqrstuvwxyz"
						      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+") !=
						 (size_t)(scheme - text)))
		endpoint.odd = true;
	endpoint.odd |= !is_url_text(text) ||
			!parse_authority(arena, &endpoint, arena_strndup(arena, authority, length));
	return endpoint;
}

const char *endpoint_hosts(struct arena *arena, const char *text, bool secret)
{
	struct text out = { .arena = arena };
	const char *separator;

	for (const char *s = text; (separator = strstr(s, "://"));) {
		const char *scheme = separator;
		const char *host = separator + 3;
		size_t length = strcspn(host, "/?#\\,;|\"' \t\n");
		size_t word = secret ? strcspn(host, " \t\n") : length;
		const char *at = memrchr(host, '@', word);

		while (scheme > s && (isalnum((unsigned char)scheme[-1]) || scheme[-1] == '+'))
			scheme--;
		if (at) {
			host = at + 1;
			length = strcspn(host, "/?#\\,;|\"' \t\n");
		}
		text_add_bytes(&out, scheme, (size_t)(separator - scheme));
		text_add(&out, "://");
		text_add_bytes(&out, host, length);
		text_add(&out, "\n");
		s = host + length;
	}
	return out.length ? text_get(&out) : NULL;
}

// Returns whether an entry is a host, a domain, an address or a range, with an optional port.
static bool is_host_entry(const char *entry, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)entry[i]) && !strchr("-._*:/[]", entry[i]))
			return false;
	entry = memchr(entry, '/', length) ? (const char *)memchr(entry, '/', length) : NULL;
	return !entry ||
	       strspn(entry + 1, "0123456789") == strcspn(entry + 1, ", "); // the length of a range
}

const char *endpoint_list_problem(const char *text)
{
	for (const char *s = text; *s; s++)
		if (*s < ' ' || *s > '~')
			return "it has control characters";
	if (endpoint_has_user(text) || secret_text(NULL, text))
		return "it looks like a secret";
	for (const char *s = text; *s; s += strspn(s, ", ")) {
		size_t length = strcspn(s, ", ");

		if (!is_host_entry(s, length))
			return "an entry of it is no host, domain or address";
		s += length;
	}
	return NULL;
}

static bool is_host_port(const struct plan *plan, unsigned int number)
{
	vec_each(port, &plan->config->host_ports) {
		if (port->number == number)
			return true;
	}
	return false;
}

static const char *find_range(const plan_ranges *ranges, const struct address_range *address)
{
	vec_each(row, ranges) {
		if (address_covers(&row->range, address))
			return row->why;
	}
	return NULL;
}

const char *endpoint_obstacle(struct arena *arena, const struct plan *plan,
			      const struct endpoint *endpoint, const char **ret_option)
{
	const char *range;

	*ret_option = "--network full";
	if (plan->config->network == NETWORK_FULL)
		return NULL;
	if (plan->config->network == NETWORK_NONE)
		return "the box has no network";
	if (endpoint->local) {
		bool usual = !endpoint->literal || is_within(&endpoint->address, "127.0.0.1");

		if (usual && endpoint->port && is_host_port(plan, endpoint->port))
			return NULL;
		if (usual && endpoint->port)
			*ret_option = arena_printf(arena, "--host-port %u", endpoint->port);
		return "it is on this machine's own loopback";
	}
	if (!endpoint->literal)
		return NULL;
	range = find_range(&plan->inet.refused, &endpoint->address);
	if (range)
		return arena_printf(arena, "the tier inet refuses its address: %s", range);
	range = find_range(&plan->inet.host, &endpoint->address);
	return range ? "the tier inet refuses its address: a network of this machine" : NULL;
}
