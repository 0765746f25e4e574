// SPDX-License-Identifier: MIT
// The host's resolvers and the order in which the DNS relay tries them.
//
// Theory of operation: servers are tried in the order of resolv.conf, because the first one may
// know names that the others do not. A server that did not answer in time is tried after the others
// for DOWN_MS. A server that refuses packets is not: the error arrives at once and costs no time.
#include "network/dns_servers.h"

#include "base/resolv_conf.h"
#include "network/dns_relay.h"
#include "network/dns_state.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	REQUEST_INTERVAL_MS = 1000,
	SILENCE_MS = 900, // without an answer, after which a server counts as down
	DOWN_MS = 30000,
};

static bool same_resolver(const struct dns_resolver *a, const struct dns_resolver *b)
{
	if (a->address.any.sa_family != b->address.any.sa_family)
		return false;
	if (a->address.any.sa_family == AF_INET)
		return a->address.v4.sin_addr.s_addr == b->address.v4.sin_addr.s_addr;
	return a->address.v6.sin6_scope_id == b->address.v6.sin6_scope_id &&
	       memcmp(&a->address.v6.sin6_addr, &b->address.v6.sin6_addr,
		      sizeof(struct in6_addr)) == 0;
}

// Takes over a list of servers. Returns whether it is a new one.
static bool set_servers(struct dns_servers *servers, const struct dns_resolvers *list)
{
	bool same = list->count == servers->count;

	for (unsigned int i = 0; same && i < list->count; i++)
		same = same_resolver(&list->items[i], &servers->items[i].resolver);
	for (unsigned int i = 0; !same && i < list->count; i++)
		servers->items[i] =
			(struct dns_server){ .resolver = list->items[i], .last_answer = -1 };
	servers->count = list->count;
	return !same;
}

bool dns_servers_receive(struct dns_relay *relay)
{
	struct dns_resolvers list;
	ssize_t size = recv(relay->resolvers.fd, &list, sizeof(list), 0);

	if (size < 0 && errno == EAGAIN)
		return false;
	if (size != sizeof(list) || list.count == 0 || list.count > RESOLVERS_MAX)
		_exit(1);
	return set_servers(&relay->servers, &list);
}

bool dns_servers_refresh(struct dns_relay *relay)
{
	struct dns_servers *servers = &relay->servers;

	if (relay->now - servers->last_request < REQUEST_INTERVAL_MS)
		return false;
	servers->last_request = relay->now;
	return send(relay->resolvers.fd, "r", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 &&
	       dns_servers_receive(relay);
}

int dns_servers_select(const struct dns_relay *relay, unsigned int tried)
{
	int other = -1;

	for (unsigned int i = 0; i < relay->servers.count; i++) {
		if (tried & 1U << i)
			continue;
		if (relay->servers.items[i].down_until <= relay->now)
			return (int)i;
		if (other < 0)
			other = (int)i;
	}
	return other;
}

int dns_servers_connect(const struct dns_relay *relay, unsigned int server, int type)
{
	const struct dns_resolver *to = &relay->servers.items[server].resolver;
	int fd = socket(to->address.any.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (connect(fd, &to->address.any, to->size) < 0 && errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	return fd;
}

void dns_servers_record_answer(struct dns_relay *relay, unsigned int server)
{
	relay->servers.items[server].last_answer = relay->now;
	relay->servers.items[server].down_until = 0;
}

void dns_servers_record_silence(struct dns_relay *relay, unsigned int server, int64_t sent_at)
{
	struct dns_server *one = &relay->servers.items[server];

	// A server that answered another query in the meantime is up: some queries take long.
	if (relay->now - sent_at >= SILENCE_MS && one->last_answer < sent_at)
		one->down_until = relay->now + DOWN_MS;
}
