// SPDX-License-Identifier: MIT
// The host's resolvers and the order in which the DNS relay tries them.
//
// Theory of operation: servers are tried in the order of resolv.conf, because the first one may
// know names that the others do not. A server that did not answer in time is tried after the others
// for DOWN_MS. A server that refuses packets is not: the error arrives at once and costs no time.
#include "network/dns_servers.h"

#include "base/resolv_conf.h"
#include "network/dns_state.h"
#include "sys/cleanup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHECK_INTERVAL_MS = 1000, // between two checks of resolv.conf
	SILENCE_MS = 900,         // without an answer, after which a server counts as down
	DOWN_MS = 30000,
	FILE_MAX = 16384,
};

static bool parse_server(const struct resolver *resolver, uint16_t port, struct dns_server *ret)
{
	*ret = (struct dns_server){ .last_answer = -1 };
	if (inet_aton(resolver->address, &ret->address.v4.sin_addr)) {
		ret->address.v4.sin_family = AF_INET;
		ret->address.v4.sin_port = htons(port);
		ret->size = sizeof(ret->address.v4);
		return true;
	}
	if (inet_pton(AF_INET6, resolver->address, &ret->address.v6.sin6_addr) != 1)
		return false;
	ret->address.v6.sin6_family = AF_INET6;
	ret->address.v6.sin6_port = htons(port);
	ret->size = sizeof(ret->address.v6);
	memcpy(ret->scope, resolver->scope, sizeof(ret->scope));
	return true;
}

// Parses the text of a resolv.conf. Returns the number of servers, which is at least 1: without a
// valid one it is the default of the C library, the local host.
static unsigned int parse_servers(const char *text, uint16_t port, struct dns_server *servers)
{
	struct resolver_list list = resolv_parse(text);
	unsigned int count = 0;

	for (size_t i = 0; i < list.count && count < RESOLVERS_MAX; i++)
		if (parse_server(&list.items[i], port, &servers[count]))
			count++;
	if (count)
		return count;
	list = resolv_parse("");
	return parse_server(&list.items[0], port, servers);
}

// Reads at most FILE_MAX bytes of resolv.conf into the DNS relay's buffer, cut at the end of a
// line. Returns NULL if the file cannot be read.
static const char *read_resolv_conf(struct dns_relay *relay)
{
	CLEANUP_FD int fd =
		open(relay->options.resolv_conf, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = (char *)relay->buffer;
	size_t size = 0;
	ssize_t got = fd < 0 ? -1 : 1;

	while (got > 0 && size < FILE_MAX) {
		got = read(fd, text + size, FILE_MAX - size);
		if (got > 0)
			size += (size_t)got;
	}
	if (got < 0)
		return NULL;
	while (size == FILE_MAX && size > 0 && text[size - 1] != '\n')
		size--;
	text[size] = '\0';
	return text;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool same_server(const struct dns_server *a, const struct dns_server *b)
{
	if (a->size != b->size)
		return false;
	if (a->address.any.sa_family == AF_INET)
		return a->address.v4.sin_addr.s_addr == b->address.v4.sin_addr.s_addr;
	return memcmp(&a->address.v6.sin6_addr, &b->address.v6.sin6_addr,
		      sizeof(struct in6_addr)) == 0 &&
	       memcmp(a->scope, b->scope, sizeof(a->scope)) == 0;
}

bool dns_servers_refresh(struct dns_relay *relay)
{
	struct dns_servers *servers = &relay->servers;
	struct dns_server found[RESOLVERS_MAX];
	struct stat file;
	const char *text = NULL;
	unsigned int count;
	bool same;

	if (servers->count && relay->now - servers->last_check < CHECK_INTERVAL_MS)
		return false;
	servers->last_check = relay->now;
	if (stat(relay->options.resolv_conf, &file) == 0) {
		if (servers->count && same_file(&file, &servers->file))
			return false;
		text = read_resolv_conf(relay);
		if (text)
			servers->file = file;
	}
	// The file may be missing for a moment while it is replaced: keep the list.
	if (!text && servers->count)
		return false;
	count = parse_servers(text, relay->options.port, found);
	same = count == servers->count;
	for (unsigned int i = 0; same && i < count; i++)
		same = same_server(&found[i], &servers->items[i]);
	if (same)
		return false;
	memcpy(servers->items, found, count * sizeof(*found));
	servers->count = count;
	return true;
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

// Returns the index of the interface that `scope` names, by name or by number. It is looked up for
// every socket because an interface gets a new index when it is created again.
static uint32_t scope_index(const char *scope)
{
	uint32_t index = *scope ? if_nametoindex(scope) : 0;

	return index ? index : (uint32_t)strtoul(scope, NULL, 10);
}

int dns_servers_connect(const struct dns_relay *relay, unsigned int server, int type)
{
	struct dns_server to = relay->servers.items[server];
	int fd = socket(to.address.any.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (to.address.any.sa_family == AF_INET6)
		to.address.v6.sin6_scope_id = scope_index(to.scope);
	if (connect(fd, &to.address.any, to.size) < 0 && errno != EINPROGRESS) {
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
