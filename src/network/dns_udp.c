// SPDX-License-Identifier: MIT
// DNS relay, UDP: sends each query to the host's resolvers through a socket of its own.
//
// Theory of operation: the DNS relay answers some messages of the box itself (network/dns_filter.c)
// and forwards the other queries. Every query uses a new connected socket for each server. So its
// source port cannot be guessed, and the kernel accepts packets from that server only. The id and
// the question of an answer are compared as well. A query is sent to the next server when a server
// cannot be reached or answers with an error, after a second without an answer, or when the client
// repeats the query, as a resolver library would do. All servers that have received the query may
// still answer it. If every server is unreachable or answers with an error, the client gets an
// error code. If all servers stay silent, it gets no answer.
#include "network/dns_udp.h"

#include "base/resolv_conf.h"
#include "network/dns.h"
#include "network/dns_filter.h"
#include "network/dns_servers.h"
#include "network/dns_state.h"
#include "network/dns_tcp.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	NEXT_SERVER_MS = 1000, // without an answer, before the next server is tried too
	QUERY_TIMEOUT_MS = 10000,
	FAILURE_TIMEOUT_MS = 3000, // for the other servers, after one has answered with an error
	KEPT_MS = 1000,            // a query keeps its slot so long when all QUERIES_MAX are used
	KEPT_MIN_MS = 50,          // and at least so long when the limit of queries is lower
	BATCH = 16,                // messages received for one event
	TOKENS_PER_MS = 2,         // messages from the box
	TOKENS_MAX = 2000,
	TOKENS_PAUSE_MS = 5,
	ERROR_PAUSE_MS = 200,
};

static void close_sockets(struct dns_query *query)
{
	for (unsigned int i = 0; i < RESOLVERS_MAX; i++) {
		if (query->sockets[i] >= 0)
			close(query->sockets[i]);
		query->sockets[i] = -1;
	}
}

// Returns whether a server may still answer the query.
static bool is_waiting(const struct dns_query *query)
{
	for (unsigned int i = 0; i < RESOLVERS_MAX; i++)
		if (query->sockets[i] >= 0)
			return true;
	return false;
}

// Frees the slot of a query.
static void release_query(struct dns_relay *relay, struct dns_query *query)
{
	for (unsigned int i = 0; i < relay->servers.count; i++)
		if (query->sockets[i] >= 0)
			dns_servers_record_silence(relay, i, query->sent_at[i]);
	close_sockets(query);
	query->used = false;
	relay->query_count--;
}

static const uint8_t *query_message(const struct dns_relay *relay, const struct dns_query *query)
{
	return relay->messages[query - relay->queries];
}

static void send_to_client(const struct dns_relay *relay, const struct dns_query *query,
			   const void *answer, size_t size)
{
	sendto(relay->udp.fd, answer, size, MSG_DONTWAIT | MSG_NOSIGNAL, &query->client,
	       sizeof(query->client));
}

// Answers the query with the error code of a server, or with SERVFAIL.
static void send_failure(const struct dns_relay *relay, const struct dns_query *query)
{
	uint8_t answer[DNS_HEADER_SIZE + DNS_QUESTION_MAX];

	dns_render_failure(answer, query_message(relay, query), query->question_end,
			   query->failure ? query->failure : DNS_SERVFAIL);
	send_to_client(relay, query, answer, query->question_end);
}

static struct dns_query *oldest_query(struct dns_relay *relay)
{
	struct dns_query *oldest = NULL;

	for (unsigned int i = 0; i < QUERIES_MAX; i++) {
		struct dns_query *query = &relay->queries[i];

		if (query->used && (!oldest || query->started < oldest->started))
			oldest = query;
	}
	return oldest;
}

// Closes the idlest connection, or else drops the oldest query, to free descriptors. Connections
// come first because queries are short. Returns false if there was nothing to free.
static bool free_descriptors(struct dns_relay *relay, const struct dns_query *requesting_query)
{
	struct dns_query *oldest = oldest_query(relay);

	if (dns_tcp_close_idlest(relay))
		return true;
	if (!oldest || oldest == requesting_query)
		return false;
	release_query(relay, oldest);
	return true;
}

// Sends the query to a server through a new socket. Returns false if that fails.
static bool send_query(struct dns_relay *relay, struct dns_query *query, unsigned int server)
{
	unsigned int index = (unsigned int)(query - relay->queries);
	struct dns_endpoint endpoint = { .fd = dns_servers_connect(relay, server, SOCK_DGRAM) };

	if (endpoint.fd < 0 && (errno == EMFILE || errno == ENFILE) &&
	    free_descriptors(relay, query))
		endpoint.fd = dns_servers_connect(relay, server, SOCK_DGRAM);
	if (endpoint.fd < 0)
		return false;
	if (!dns_relay_watch(relay, &endpoint, EPOLLIN, EVENT_QUERY, index, server) ||
	    send(endpoint.fd, query_message(relay, query), query->size, MSG_NOSIGNAL) < 0) {
		close(endpoint.fd);
		return false;
	}
	query->sockets[server] = endpoint.fd;
	query->sent_at[server] = relay->now;
	return true;
}

// Sends the query to one more server. Returns false if there is none left that can be reached.
static bool send_to_next(struct dns_relay *relay, struct dns_query *query)
{
	int server;

	query->next_server_at = NEVER;
	while ((server = dns_servers_select(relay, query->tried)) >= 0) {
		query->tried |= (uint8_t)(1U << server);
		if (!send_query(relay, query, (unsigned int)server))
			continue;
		if (dns_servers_select(relay, query->tried) >= 0)
			query->next_server_at = relay->now + NEXT_SERVER_MS;
		return true;
	}
	return false;
}

// Sends the query to one more server. Answers with an error code if no server is left.
static void send_or_fail(struct dns_relay *relay, struct dns_query *query)
{
	if (send_to_next(relay, query) || is_waiting(query))
		return;
	send_failure(relay, query);
	release_query(relay, query);
}

// Stops waiting for one server and tries the next. Returns false if no server is left.
static bool drop_server(struct dns_relay *relay, struct dns_query *query, unsigned int server)
{
	close(query->sockets[server]);
	query->sockets[server] = -1;
	if (!send_to_next(relay, query) && !is_waiting(query))
		return false;
	if (query->failure && query->deadline > relay->now + FAILURE_TIMEOUT_MS)
		query->deadline = relay->now + FAILURE_TIMEOUT_MS;
	return true;
}

// Returns whether another server may have an answer although one returned this response code.
static bool is_retryable(unsigned int code)
{
	return code == DNS_SERVFAIL || code == DNS_NOTIMP || code == DNS_REFUSED;
}

void dns_udp_receive_answer(struct dns_relay *relay, unsigned int index, unsigned int server)
{
	struct dns_query *query = &relay->queries[index];
	ssize_t size =
		recv(query->sockets[server], relay->buffer, sizeof(relay->buffer), MSG_DONTWAIT);

	if (size < 0) {
		if (errno == EAGAIN || errno == EINTR || drop_server(relay, query, server))
			return;
		send_failure(relay, query);
		release_query(relay, query);
		return;
	}
	if (!dns_answers(relay->buffer, (size_t)size, query_message(relay, query),
			 query->question_end))
		return;
	dns_servers_record_answer(relay, server);
	if (is_retryable(dns_response_code(relay->buffer))) {
		query->failure = (uint8_t)dns_response_code(relay->buffer);
		if (drop_server(relay, query, server))
			return;
	}
	send_to_client(relay, query, relay->buffer, (size_t)size);
	release_query(relay, query);
}

// Returns the waiting query that equals this one, from the same client; NULL if there is none.
static struct dns_query *find_query(struct dns_relay *relay, const struct sockaddr_in *client,
				    const struct dns_filtered *filtered)
{
	for (unsigned int i = 0; relay->query_count && i < QUERIES_MAX; i++) {
		struct dns_query *query = &relay->queries[i];

		if (query->used && query->size == filtered->size &&
		    query->client.sin_port == client->sin_port &&
		    query->client.sin_addr.s_addr == client->sin_addr.s_addr &&
		    memcmp(relay->messages[i], filtered->bytes, filtered->size) == 0)
			return query;
	}
	return NULL;
}

// Returns a new slot; drops the oldest query if all are in use. It is the lowest free one, so that
// few pages are ever written.
static struct dns_query *add_query(struct dns_relay *relay)
{
	unsigned int i = 0;

	if (relay->query_count >= relay->query_limit)
		release_query(relay, oldest_query(relay));
	while (relay->queries[i].used)
		i++;
	relay->query_count++;
	relay->queries[i] = (struct dns_query){ .used = true,
						.sockets = { -1, -1, -1 },
						.started = relay->now,
						.deadline = relay->now + QUERY_TIMEOUT_MS };
	return &relay->queries[i];
}

// Sends a query that the client has repeated to the next server, or else to the same ones again.
static void resend(struct dns_relay *relay, struct dns_query *query)
{
	if (send_to_next(relay, query))
		return;
	for (unsigned int i = 0; i < relay->servers.count; i++)
		if (query->sockets[i] >= 0)
			send(query->sockets[i], query_message(relay, query), query->size,
			     MSG_NOSIGNAL);
}

// Receives one message from the box. Returns false if there is none to receive now.
static bool receive_query(struct dns_relay *relay)
{
	struct sockaddr_in client = { 0 };
	socklen_t client_size = sizeof(client);
	ssize_t size = recvfrom(relay->udp.fd, relay->buffer, QUERY_SIZE_MAX,
				MSG_DONTWAIT | MSG_TRUNC, &client, &client_size);
	struct dns_filtered filtered;
	struct dns_query *query;

	if (size < 0) {
		if (errno != EAGAIN && errno != EINTR)
			relay->udp_paused_until = relay->now + ERROR_PAUSE_MS;
		return false;
	}
	relay->tokens--;
	if (size > QUERY_SIZE_MAX || client.sin_family != AF_INET)
		return true;
	switch (dns_filter(relay->buffer, (size_t)size, &filtered)) {
	case DNS_DROP:
		return true;
	case DNS_ANSWER:
		sendto(relay->udp.fd, filtered.bytes, filtered.size, MSG_DONTWAIT | MSG_NOSIGNAL,
		       &client, sizeof(client));
		return true;
	case DNS_FORWARD:
		break;
	}
	query = find_query(relay, &client, &filtered);
	if (query) {
		resend(relay, query);
		return true;
	}
	query = add_query(relay);
	query->client = client;
	query->size = (uint16_t)filtered.size;
	query->question_end = (uint16_t)filtered.question_end;
	memcpy(relay->messages[query - relay->queries], filtered.bytes, filtered.size);
	send_or_fail(relay, query);
	return true;
}

// Returns for how long a query keeps its slot when all slots are in use.
static int64_t kept_time(const struct dns_relay *relay)
{
	int64_t time = (int64_t)KEPT_MS * relay->query_limit / QUERIES_MAX;

	return time > KEPT_MIN_MS ? time : KEPT_MIN_MS;
}

int64_t dns_udp_ready_at(struct dns_relay *relay)
{
	relay->tokens += (relay->now - relay->tokens_updated) * TOKENS_PER_MS;
	relay->tokens_updated = relay->now;
	if (relay->tokens > TOKENS_MAX)
		relay->tokens = TOKENS_MAX;
	if (relay->udp_paused_until > relay->now)
		return relay->udp_paused_until;
	if (relay->tokens <= 0)
		return relay->now + TOKENS_PAUSE_MS;
	if (relay->query_count >= relay->query_limit)
		return oldest_query(relay)->started + kept_time(relay);
	return relay->now;
}

void dns_udp_receive(struct dns_relay *relay)
{
	for (int i = 0; i < BATCH && dns_udp_ready_at(relay) <= relay->now; i++)
		if (!receive_query(relay))
			return;
}

int64_t dns_udp_next_timeout(const struct dns_relay *relay)
{
	int64_t next = NEVER;

	for (unsigned int i = 0; relay->query_count && i < QUERIES_MAX; i++) {
		const struct dns_query *query = &relay->queries[i];

		if (query->used && query->deadline < next)
			next = query->deadline;
		if (query->used && query->next_server_at < next)
			next = query->next_server_at;
	}
	return next;
}

void dns_udp_expire(struct dns_relay *relay)
{
	for (unsigned int i = 0; i < QUERIES_MAX; i++) {
		struct dns_query *query = &relay->queries[i];

		if (!query->used)
			continue;
		if (relay->now >= query->deadline) {
			if (query->failure)
				send_failure(relay, query);
			release_query(relay, query);
		} else if (relay->now >= query->next_server_at) {
			send_or_fail(relay, query);
		}
	}
}

void dns_udp_restart_queries(struct dns_relay *relay)
{
	for (unsigned int i = 0; i < QUERIES_MAX; i++) {
		struct dns_query *query = &relay->queries[i];

		if (!query->used)
			continue;
		close_sockets(query);
		query->tried = 0;
		send_or_fail(relay, query);
	}
}
