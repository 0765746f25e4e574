// SPDX-License-Identifier: MIT
// DNS relay, TCP: forwards queries of the box to one of the host's resolvers, and copies the bytes
// of the answers.
//
// Theory of operation: a message from the box is collected in a buffer until it is complete. Then
// the DNS relay answers it itself, or forwards it (network/dns_filter.c). An answer of its own goes
// between two answers of the server. The DNS relay connects to a server for the first query that is
// forwarded, and to the next server when that fails. A buffer is filled only when the one behind it
// is empty, so a peer that does not read blocks its own connection only. When all slots are in use,
// a new connection replaces the one that has been idle longest, if it has been idle for KEPT_MS. A
// slot is used at most once in REUSE_DELAY_MS: a box that opens connections in a loop would
// otherwise fill the host's table of connections in the state TIME_WAIT.
#include "network/dns_tcp.h"

#include "network/dns_servers.h"
#include "network/dns_state.h"
#include "network/dns_stream.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	CONNECT_TIMEOUT_MS = 2000,
	IDLE_TIMEOUT_MS = 20000,
	KEPT_MS = 1000, // an idle connection keeps its slot so long when all are in use
	REUSE_DELAY_MS = 50,
	ERROR_PAUSE_MS = 200,
};

// Makes the kernel send small pieces at once, without waiting for the acknowledgement of earlier
// ones.
static void disable_nagle(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static void close_endpoint(struct dns_endpoint *endpoint)
{
	if (endpoint->fd >= 0)
		close(endpoint->fd);
	*endpoint = (struct dns_endpoint){ .fd = -1 };
}

static void close_connection(struct dns_connection *connection)
{
	close_endpoint(&connection->box);
	close_endpoint(&connection->host);
	connection->used = false;
}

// Starts to connect to one more server. Returns false if there is none left that can be reached.
static bool connect_next(struct dns_relay *relay, struct dns_connection *connection)
{
	int server;

	close_endpoint(&connection->host);
	while ((server = dns_servers_select(relay, connection->tried)) >= 0) {
		connection->tried |= (uint8_t)(1U << server);
		connection->server = (uint8_t)server;
		connection->host.fd = dns_servers_connect(relay, (unsigned int)server, SOCK_STREAM);
		if (connection->host.fd < 0)
			continue;
		disable_nagle(connection->host.fd);
		connection->connecting = true;
		connection->connect_deadline = relay->now + CONNECT_TIMEOUT_MS;
		return true;
	}
	return false;
}

// Completes a connect, or starts the next one if it failed. Returns false if no server is left.
static bool finish_connect(struct dns_relay *relay, struct dns_connection *connection)
{
	struct sockaddr_storage peer;
	socklen_t size = sizeof(peer);
	int problem = 0;
	socklen_t problem_size = sizeof(problem);

	getsockopt(connection->host.fd, SOL_SOCKET, SO_ERROR, &problem, &problem_size);
	if (problem)
		return connect_next(relay, connection);
	if (getpeername(connection->host.fd, (struct sockaddr *)&peer, &size) == 0)
		connection->connecting = false;
	return true;
}

// Writes the query to the server and reads its answers. Returns false if the connection failed.
static bool exchange(struct dns_relay *relay, struct dns_connection *connection, bool *progress)
{
	struct dns_stream *up = &connection->up;

	if (connection->host.fd < 0 && up->count && !connect_next(relay, connection))
		return false;
	if (connection->connecting && !finish_connect(relay, connection))
		return false;
	if (connection->host.fd < 0 || connection->connecting)
		return true;
	if (!dns_stream_write(up, connection->host.fd, progress))
		return false;
	if (connection->input.ended && !up->count &&
	    !dns_stream_first_message(&connection->input) && !up->shutdown_sent)
		up->shutdown_sent = shutdown(connection->host.fd, SHUT_WR) == 0;
	return dns_stream_read_answer(connection, progress);
}

// Returns whether the connection has ended: the server has, or the box has and no answer is due.
static bool has_ended(const struct dns_connection *connection)
{
	if (connection->down.count)
		return false;
	if (connection->host.fd >= 0)
		return connection->down.ended;
	return connection->input.ended && !dns_stream_first_message(&connection->input);
}

// Reads from the box once, and handles all that can be handled then. Returns false if the
// connection has ended or failed.
static bool transfer(struct dns_relay *relay, struct dns_connection *connection)
{
	struct dns_stream *input = &connection->input;
	bool progress = false;

	if (!dns_stream_read(input, connection->box.fd, STREAM_SIZE - input->count, &progress))
		return false;
	do {
		if (progress)
			connection->last_active = relay->now;
		progress = false;
		if (!dns_stream_handle_message(connection, &progress) ||
		    !exchange(relay, connection, &progress) ||
		    !dns_stream_write(&connection->down, connection->box.fd, &progress))
			return false;
	} while (progress && dns_stream_first_message(input));
	if (progress)
		connection->last_active = relay->now;
	return !has_ended(connection);
}

// Makes epoll watch both ends for the events that allow progress. Returns false if epoll fails.
static bool update_watches(struct dns_relay *relay, struct dns_connection *connection)
{
	unsigned int index = (unsigned int)(connection - relay->connections);
	const struct dns_stream *input = &connection->input;
	const struct dns_stream *up = &connection->up;
	const struct dns_stream *down = &connection->down;
	uint32_t box = (!dns_stream_first_message(input) && !input->ended ? EPOLLIN : 0U) |
		       (down->count ? EPOLLOUT : 0U);
	uint32_t host = (!down->count && !down->ended ? EPOLLIN : 0U) | (up->count ? EPOLLOUT : 0U);

	if (connection->connecting)
		host = EPOLLOUT;
	return dns_relay_watch(relay, &connection->box, box, EVENT_CONNECTION, index, 0) &&
	       (connection->host.fd < 0 ||
		dns_relay_watch(relay, &connection->host, host, EVENT_CONNECTION, index, 1));
}

void dns_tcp_transfer(struct dns_relay *relay, unsigned int index)
{
	struct dns_connection *connection = &relay->connections[index];

	if (!transfer(relay, connection) || !update_watches(relay, connection))
		close_connection(connection);
}

// Returns the lowest free slot that may be used now, so that few pages are ever written; or else
// the free slot that may be used first; NULL if all are in use.
static struct dns_connection *free_slot(struct dns_relay *relay)
{
	struct dns_connection *best = NULL;

	for (unsigned int i = 0; i < CONNECTIONS_MAX; i++) {
		struct dns_connection *slot = &relay->connections[i];

		if (slot->used)
			continue;
		if (slot->reusable_at <= relay->now)
			return slot;
		if (!best || slot->reusable_at < best->reusable_at)
			best = slot;
	}
	return best;
}

// Returns the connection that has been idle longest, or a free slot if there is no connection.
static struct dns_connection *idlest_connection(struct dns_relay *relay)
{
	struct dns_connection *best = &relay->connections[0];

	for (unsigned int i = 1; i < CONNECTIONS_MAX; i++) {
		struct dns_connection *other = &relay->connections[i];

		if (other->used && (!best->used || other->last_active < best->last_active))
			best = other;
	}
	return best;
}

int64_t dns_tcp_ready_at(struct dns_relay *relay)
{
	const struct dns_connection *slot = free_slot(relay);
	int64_t ready = slot ? slot->reusable_at : idlest_connection(relay)->last_active + KEPT_MS;

	return ready > relay->tcp_paused_until ? ready : relay->tcp_paused_until;
}

bool dns_tcp_close_idlest(struct dns_relay *relay)
{
	struct dns_connection *slot = idlest_connection(relay);

	if (!slot->used)
		return false;
	close_connection(slot);
	return true;
}

static void handle_accept_error(struct dns_relay *relay)
{
	if (dns_stream_would_block() || errno == ECONNABORTED)
		return;
	// Out of descriptors or memory: closing a connection frees some at once, others follow.
	relay->tcp_paused_until = relay->now + ERROR_PAUSE_MS;
	dns_tcp_close_idlest(relay);
}

void dns_tcp_accept(struct dns_relay *relay)
{
	int fd = accept4(relay->tcp.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct dns_connection *slot = free_slot(relay);
	uint8_t(*buffers)[STREAM_SIZE];

	if (fd < 0) {
		handle_accept_error(relay);
		return;
	}
	if (!slot) {
		slot = idlest_connection(relay);
		close_connection(slot);
	}
	disable_nagle(fd);
	buffers = relay->streams[slot - relay->connections];
	*slot = (struct dns_connection){ .used = true,
					 .last_active = relay->now,
					 .reusable_at = relay->now + REUSE_DELAY_MS,
					 .box = { .fd = fd },
					 .host = { .fd = -1 },
					 .input = { .bytes = buffers[0] },
					 .up = { .bytes = buffers[1] },
					 .down = { .bytes = buffers[2] } };
	if (!update_watches(relay, slot))
		close_connection(slot);
}

int64_t dns_tcp_next_timeout(const struct dns_relay *relay)
{
	int64_t next = NEVER;

	for (unsigned int i = 0; i < CONNECTIONS_MAX; i++) {
		const struct dns_connection *connection = &relay->connections[i];

		if (!connection->used)
			continue;
		if (connection->connecting && connection->connect_deadline < next)
			next = connection->connect_deadline;
		if (connection->last_active + IDLE_TIMEOUT_MS < next)
			next = connection->last_active + IDLE_TIMEOUT_MS;
	}
	return next;
}

// Starts to connect to one more server, and closes the connection if there is none left.
static void connect_or_close(struct dns_relay *relay, struct dns_connection *connection)
{
	if (!connect_next(relay, connection) || !update_watches(relay, connection))
		close_connection(connection);
}

void dns_tcp_expire(struct dns_relay *relay)
{
	for (unsigned int i = 0; i < CONNECTIONS_MAX; i++) {
		struct dns_connection *connection = &relay->connections[i];

		if (!connection->used)
			continue;
		if (relay->now >= connection->last_active + IDLE_TIMEOUT_MS) {
			close_connection(connection);
		} else if (connection->connecting && relay->now >= connection->connect_deadline) {
			dns_servers_record_silence(relay, connection->server,
						   connection->connect_deadline -
							   CONNECT_TIMEOUT_MS);
			connect_or_close(relay, connection);
		}
	}
}

void dns_tcp_restart_connecting(struct dns_relay *relay)
{
	for (unsigned int i = 0; i < CONNECTIONS_MAX; i++) {
		struct dns_connection *connection = &relay->connections[i];

		connection->tried = 0;
		if (connection->used && connection->connecting)
			connect_or_close(relay, connection);
	}
}
