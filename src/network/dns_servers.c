// SPDX-License-Identifier: MIT
// The host's resolvers: which they are, and which is asked first.
//
// Theory of operation: the order of resolv.conf is kept, for the first may know names that the others do not. Only a
// server that gave no sign of life comes after the others for a while. One that refuses connections costs no time
// and needs no such memory.
#include "network/dns_servers.h"

#include "base/resolv_conf.h"
#include "network/dns_loop.h"
#include "sys/cleanup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MS = 1000, SILENCE_MS = 900, DOWN_MS = 30000, FILE_MAX = 16384 };

static bool parse_server(const struct resolver *resolver, uint16_t port, struct server *ret)
{
	*ret = (struct server){ .answered = -1 };
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

static unsigned int parse_servers(const char *text, uint16_t port, struct server *servers)
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

// The beginning of the file, in whole lines; NULL when it cannot be read.
static const char *read_file(struct loop *loop)
{
	CLEANUP_FD int fd =
		open(loop->relay.resolv_conf, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = (char *)loop->buffer;
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

static bool same_server(const struct server *a, const struct server *b)
{
	if (a->size != b->size)
		return false;
	if (a->address.any.sa_family == AF_INET)
		return a->address.v4.sin_addr.s_addr == b->address.v4.sin_addr.s_addr;
	return memcmp(&a->address.v6.sin6_addr, &b->address.v6.sin6_addr,
		      sizeof(struct in6_addr)) == 0 &&
	       memcmp(a->scope, b->scope, sizeof(a->scope)) == 0;
}

bool servers_refresh(struct loop *loop)
{
	struct servers *servers = &loop->servers;
	struct server found[RESOLVERS_MAX];
	struct stat file;
	const char *text = NULL;
	unsigned int count;
	bool same;

	if (servers->count && loop->now - servers->looked < LOOK_MS)
		return false;
	servers->looked = loop->now;
	if (stat(loop->relay.resolv_conf, &file) == 0) {
		if (servers->count && same_file(&file, &servers->file))
			return false;
		text = read_file(loop);
		if (text)
			servers->file = file;
	}
	// Missing for a moment while somebody writes it anew: what was known still holds.
	if (!text && servers->count)
		return false;
	count = parse_servers(text, loop->relay.port, found);
	same = count == servers->count;
	for (unsigned int i = 0; same && i < count; i++)
		same = same_server(&found[i], &servers->items[i]);
	if (same)
		return false;
	memcpy(servers->items, found, count * sizeof(*found));
	servers->count = count;
	return true;
}

int servers_pick(const struct loop *loop, unsigned int asked)
{
	int other = -1;

	for (unsigned int i = 0; i < loop->servers.count; i++) {
		if (asked & 1U << i)
			continue;
		if (loop->servers.items[i].down_until <= loop->now)
			return (int)i;
		if (other < 0)
			other = (int)i;
	}
	return other;
}

// Looked up each time: the number of an interface changes when it comes back.
static uint32_t scope_number(const char *scope)
{
	uint32_t number = *scope ? if_nametoindex(scope) : 0;

	return number ? number : (uint32_t)strtoul(scope, NULL, 10);
}

int servers_connect(const struct loop *loop, unsigned int server, int type)
{
	struct server to = loop->servers.items[server];
	int fd = socket(to.address.any.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (to.address.any.sa_family == AF_INET6)
		to.address.v6.sin6_scope_id = scope_number(to.scope);
	if (connect(fd, &to.address.any, to.size) < 0 && errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	return fd;
}

void servers_answered(struct loop *loop, unsigned int server)
{
	loop->servers.items[server].answered = loop->now;
	loop->servers.items[server].down_until = 0;
}

void servers_silent(struct loop *loop, unsigned int server, int64_t asked_at)
{
	struct server *one = &loop->servers.items[server];

	// A hard question takes long; whoever answered another one meanwhile is well.
	if (loop->now - asked_at >= SILENCE_MS && one->answered < asked_at)
		one->down_until = loop->now + DOWN_MS;
}
