// SPDX-License-Identifier: MIT
// Queries by UDP: each is asked through a socket of its own, until somebody knows the answer.
//
// Theory of operation: a socket for each query and server has a port that nobody can guess, and the kernel lets in
// only what that server sends; the id and the question are compared as well. The next server is asked when one cannot
// be reached or does not know, after a second of silence, or when the client asks again, as it would be without us.
// All that were asked may still answer. If nobody can, the client hears so instead of waiting in vain.
#include "network/dns_udp.h"

#include "base/resolv_conf.h"
#include "network/dns.h"
#include "network/dns_loop.h"
#include "network/dns_servers.h"
#include "network/dns_tcp.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	PATIENCE_MS = 1000, // with one server, before the next is asked too
	DEADLINE_MS = 10000,
	FAILED_MS = 3000,      // with the others, once one server has said that it does not know
	UNTOUCHED_MS = 1000,   // so long a query keeps its place when there are too many …
	UNTOUCHED_MIN_MS = 50, // … and with fewer places not quite so long
	BATCH = 16,
	ALLOWANCE_PER_MS = 2,
	ALLOWANCE_MAX = 2000,
	ALLOWANCE_PAUSE_MS = 5,
	PAUSE_MS = 200,
};

static void close_sockets(struct query *query)
{
	for (unsigned int i = 0; i < RESOLVERS_MAX; i++) {
		if (query->sockets[i] >= 0)
			close(query->sockets[i]);
		query->sockets[i] = -1;
	}
}

static bool waits_for_any(const struct query *query)
{
	for (unsigned int i = 0; i < RESOLVERS_MAX; i++)
		if (query->sockets[i] >= 0)
			return true;
	return false;
}

// Done with it, answered or not.
static void release(struct loop *loop, struct query *query)
{
	for (unsigned int i = 0; i < loop->servers.count; i++)
		if (query->sockets[i] >= 0)
			servers_silent(loop, i, query->asked_at[i]);
	close_sockets(query);
	query->used = false;
	loop->query_count--;
}

static const uint8_t *message_of(const struct loop *loop, const struct query *query)
{
	return loop->messages[query - loop->queries];
}

static void send_to_client(const struct loop *loop, const struct query *query, const void *answer,
			   size_t size)
{
	sendto(loop->relay.udp, answer, size, MSG_DONTWAIT | MSG_NOSIGNAL, &query->client,
	       sizeof(query->client));
}

static void send_failure(const struct loop *loop, const struct query *query)
{
	uint8_t answer[DNS_HEADER_SIZE + DNS_QUESTION_MAX];

	dns_make_failure(answer, message_of(loop, query), query->end,
			 query->result ? query->result : DNS_SERVFAIL);
	send_to_client(loop, query, answer, query->end);
}

static struct query *oldest_query(struct loop *loop)
{
	struct query *oldest = NULL;

	for (unsigned int i = 0; i < QUERIES_MAX; i++) {
		struct query *query = &loop->queries[i];

		if (query->used && (!oldest || query->started < oldest->started))
			oldest = query;
	}
	return oldest;
}

// Gives up what waits longest for its descriptors; connections first, for queries are short. False: there is nothing.
static bool make_room(struct loop *loop, const struct query *wanted_by)
{
	struct query *oldest = oldest_query(loop);

	if (tcp_make_room(loop))
		return true;
	if (!oldest || oldest == wanted_by)
		return false;
	release(loop, oldest);
	return true;
}

static bool ask(struct loop *loop, struct query *query, unsigned int server)
{
	unsigned int index = (unsigned int)(query - loop->queries);
	struct endpoint endpoint = { .fd = servers_connect(loop, server, SOCK_DGRAM) };

	if (endpoint.fd < 0 && (errno == EMFILE || errno == ENFILE) && make_room(loop, query))
		endpoint.fd = servers_connect(loop, server, SOCK_DGRAM);
	if (endpoint.fd < 0)
		return false;
	if (!loop_watch(loop, &endpoint, EPOLLIN, EVENT_QUERY, index, server) ||
	    send(endpoint.fd, message_of(loop, query), query->size, MSG_NOSIGNAL) < 0) {
		close(endpoint.fd);
		return false;
	}
	query->sockets[server] = endpoint.fd;
	query->asked_at[server] = loop->now;
	return true;
}

// Asks one more server. False: there is none that could be asked.
static bool ask_next(struct loop *loop, struct query *query)
{
	int server;

	query->next_at = NEVER;
	while ((server = servers_pick(loop, query->asked)) >= 0) {
		query->asked |= (uint8_t)(1U << server);
		if (!ask(loop, query, (unsigned int)server))
			continue;
		if (servers_pick(loop, query->asked) >= 0)
			query->next_at = loop->now + PATIENCE_MS;
		return true;
	}
	return false;
}

static void ask_or_give_up(struct loop *loop, struct query *query)
{
	if (ask_next(loop, query) || waits_for_any(query))
		return;
	send_failure(loop, query);
	release(loop, query);
}

// One server is of no help. False: no other is left.
static bool go_on_without(struct loop *loop, struct query *query, unsigned int server)
{
	close(query->sockets[server]);
	query->sockets[server] = -1;
	if (!ask_next(loop, query) && !waits_for_any(query))
		return false;
	if (query->result && query->deadline > loop->now + FAILED_MS)
		query->deadline = loop->now + FAILED_MS;
	return true;
}

static bool another_may_know(unsigned int result)
{
	return result == DNS_SERVFAIL || result == DNS_NOTIMP || result == DNS_REFUSED;
}

void udp_answer(struct loop *loop, unsigned int index, unsigned int server)
{
	struct query *query = &loop->queries[index];
	ssize_t size =
		recv(query->sockets[server], loop->buffer, sizeof(loop->buffer), MSG_DONTWAIT);

	if (size < 0) {
		if (errno == EAGAIN || errno == EINTR || go_on_without(loop, query, server))
			return;
		send_failure(loop, query);
		release(loop, query);
		return;
	}
	if (!dns_answers(loop->buffer, (size_t)size, message_of(loop, query), query->end))
		return;
	servers_answered(loop, server);
	if (another_may_know(dns_result(loop->buffer))) {
		query->result = (uint8_t)dns_result(loop->buffer);
		if (go_on_without(loop, query, server))
			return;
	}
	send_to_client(loop, query, loop->buffer, (size_t)size);
	release(loop, query);
}

// The same query from the same client, which is still waiting.
static struct query *find_query(struct loop *loop, const struct sockaddr_in *client, size_t size)
{
	for (unsigned int i = 0; loop->query_count && i < QUERIES_MAX; i++) {
		struct query *query = &loop->queries[i];

		if (query->used && query->size == size &&
		    query->client.sin_port == client->sin_port &&
		    query->client.sin_addr.s_addr == client->sin_addr.s_addr &&
		    memcmp(loop->messages[i], loop->buffer, size) == 0)
			return query;
	}
	return NULL;
}

// The lowest place, so that few are ever touched.
static struct query *new_query(struct loop *loop)
{
	unsigned int i = 0;

	if (loop->query_count >= loop->query_limit)
		release(loop, oldest_query(loop));
	while (loop->queries[i].used)
		i++;
	loop->query_count++;
	loop->queries[i] = (struct query){ .used = true,
					   .sockets = { -1, -1, -1 },
					   .started = loop->now,
					   .deadline = loop->now + DEADLINE_MS };
	return &loop->queries[i];
}

static void repeat(struct loop *loop, struct query *query)
{
	if (ask_next(loop, query))
		return;
	for (unsigned int i = 0; i < loop->servers.count; i++)
		if (query->sockets[i] >= 0)
			send(query->sockets[i], message_of(loop, query), query->size, MSG_NOSIGNAL);
}

// False: there is nothing more for now.
static bool receive_one(struct loop *loop)
{
	struct sockaddr_in client = { 0 };
	socklen_t client_size = sizeof(client);
	ssize_t size = recvfrom(loop->relay.udp, loop->buffer, QUERY_SIZE_MAX,
				MSG_DONTWAIT | MSG_TRUNC, &client, &client_size);
	struct query *query;
	size_t end;

	if (size < 0) {
		if (errno != EAGAIN && errno != EINTR)
			loop->udp_pause = loop->now + PAUSE_MS;
		return false;
	}
	loop->allowance--;
	if (size > QUERY_SIZE_MAX || client.sin_family != AF_INET)
		return true;
	end = dns_query_end(loop->buffer, (size_t)size);
	if (!end)
		return true;
	query = find_query(loop, &client, (size_t)size);
	if (query) {
		repeat(loop, query);
		return true;
	}
	query = new_query(loop);
	query->client = client;
	query->size = (uint16_t)size;
	query->end = (uint16_t)end;
	memcpy(loop->messages[query - loop->queries], loop->buffer, (size_t)size);
	ask_or_give_up(loop, query);
	return true;
}

static int64_t untouched_time(const struct loop *loop)
{
	int64_t time = (int64_t)UNTOUCHED_MS * loop->query_limit / QUERIES_MAX;

	return time > UNTOUCHED_MIN_MS ? time : UNTOUCHED_MIN_MS;
}

int64_t udp_ready_at(struct loop *loop)
{
	loop->allowance += (loop->now - loop->allowance_at) * ALLOWANCE_PER_MS;
	loop->allowance_at = loop->now;
	if (loop->allowance > ALLOWANCE_MAX)
		loop->allowance = ALLOWANCE_MAX;
	if (loop->udp_pause > loop->now)
		return loop->udp_pause;
	if (loop->allowance <= 0)
		return loop->now + ALLOWANCE_PAUSE_MS;
	if (loop->query_count >= loop->query_limit)
		return oldest_query(loop)->started + untouched_time(loop);
	return loop->now;
}

void udp_receive(struct loop *loop)
{
	for (int i = 0; i < BATCH && udp_ready_at(loop) <= loop->now; i++)
		if (!receive_one(loop))
			return;
}

int64_t udp_next(const struct loop *loop)
{
	int64_t next = NEVER;

	for (unsigned int i = 0; loop->query_count && i < QUERIES_MAX; i++) {
		const struct query *query = &loop->queries[i];

		if (query->used && query->deadline < next)
			next = query->deadline;
		if (query->used && query->next_at < next)
			next = query->next_at;
	}
	return next;
}

void udp_expire(struct loop *loop)
{
	for (unsigned int i = 0; i < QUERIES_MAX; i++) {
		struct query *query = &loop->queries[i];

		if (!query->used)
			continue;
		if (loop->now >= query->deadline) {
			if (query->result)
				send_failure(loop, query);
			release(loop, query);
		} else if (loop->now >= query->next_at) {
			ask_or_give_up(loop, query);
		}
	}
}

// The servers are others than before: what still waits asks them.
void udp_ask_again(struct loop *loop)
{
	for (unsigned int i = 0; i < QUERIES_MAX; i++) {
		struct query *query = &loop->queries[i];

		if (!query->used)
			continue;
		close_sockets(query);
		query->asked = 0;
		ask_or_give_up(loop, query);
	}
}
