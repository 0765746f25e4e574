// SPDX-License-Identifier: MIT
// The host's resolvers for the DNS relay.
//
// Theory of operation: resolv.conf can be a symbolic link through several directories, so a watch
// on it is not reliable. The DNS relay sends a byte when the box asks it something, at most once a
// second. The supervisor then reads the file, if it is another one than before, and sends the list.
// While the box asks for no name, no process wakes up.
#include "network/resolvers.h"

#include "base/resolv_conf.h"
#include "network/dns_relay.h"
#include "sys/cleanup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { FILE_MAX = 16384, REQUESTS_MAX = 64 };

int resolvers_open(struct resolvers *resolvers, const char *path, uint16_t port)
{
	int ends[2];

	*resolvers = (struct resolvers){ .path = path, .port = port, .channel = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	resolvers->channel = ends[0];
	return ends[1];
}

void resolvers_close(struct resolvers *resolvers)
{
	cleanup_close(&resolvers->channel);
	resolvers->channel = -1;
}

// Returns the index of the interface that `scope` names, by name or by number.
static uint32_t scope_index(const char *scope)
{
	uint32_t index = *scope ? if_nametoindex(scope) : 0;

	return index ? index : (uint32_t)strtoul(scope, NULL, 10);
}

static bool parse_resolver(const struct resolver *resolver, uint16_t port, struct dns_resolver *ret)
{
	*ret = (struct dns_resolver){ 0 };
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
	ret->address.v6.sin6_scope_id = scope_index(resolver->scope);
	ret->size = sizeof(ret->address.v6);
	return true;
}

// Returns the servers of the list, at least one: without a valid one it is the default of the C
// library, the local host. An interface gets a new index when it is created again, so the index is
// looked up each time.
static struct dns_resolvers parse_resolvers(const struct resolvers *resolvers)
{
	const struct resolver_list *list = &resolvers->list;
	struct dns_resolvers found = { 0 };

	for (size_t i = 0; i < list->count && found.count < RESOLVERS_MAX; i++)
		if (parse_resolver(&list->items[i], resolvers->port, &found.items[found.count]))
			found.count++;
	if (!found.count) {
		struct resolver_list local = resolv_parse("");

		found.count = parse_resolver(&local.items[0], resolvers->port, &found.items[0]);
	}
	return found;
}

// Reads at most FILE_MAX bytes of resolv.conf, cut at the end of a line, and parses them. Returns
// false if the file cannot be read.
static bool read_file(struct resolvers *resolvers)
{
	CLEANUP_FD int fd = open(resolvers->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char text[FILE_MAX + 1];
	size_t size = 0;
	ssize_t got = fd < 0 ? -1 : 1;

	while (got > 0 && size < FILE_MAX) {
		got = read(fd, text + size, FILE_MAX - size);
		if (got > 0)
			size += (size_t)got;
	}
	if (got < 0)
		return false;
	while (size == FILE_MAX && size > 0 && text[size - 1] != '\n')
		size--;
	text[size] = '\0';
	resolvers->list = resolv_parse(text);
	return true;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

void resolvers_update(struct resolvers *resolvers)
{
	struct dns_resolvers found;
	struct stat file;

	if (resolvers->channel < 0)
		return;
	if (stat(resolvers->path, &file) == 0 &&
	    !(resolvers->known && same_file(&file, &resolvers->file)) && read_file(resolvers)) {
		resolvers->file = file;
		resolvers->known = true;
	}
	found = parse_resolvers(resolvers);
	// A DNS relay that does not read the list asks again.
	send(resolvers->channel, &found, sizeof(found), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void resolvers_handle_request(struct resolvers *resolvers)
{
	ssize_t got = -1;
	char byte;

	// Bounded, in case the agent controls the DNS relay.
	for (int i = 0; i < REQUESTS_MAX; i++) {
		got = recv(resolvers->channel, &byte, sizeof(byte), MSG_DONTWAIT);
		if (got <= 0)
			break;
	}
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		resolvers_close(resolvers);
	else
		resolvers_update(resolvers);
}
