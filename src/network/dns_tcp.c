// SPDX-License-Identifier: MIT
// Queries by TCP: bytes are copied both ways between the box and one of the host's resolvers.
//
// Theory of operation: a server is connected when the box has sent something, the next one when that fails. A direction
// is read only when its buffer is empty: whoever does not take what is sent to him holds up nobody but himself. Of
// the messages only the length and the flags are looked at. A place is neither taken from a connection that moves nor
// used again at once: a box that opens connections as fast as it can would fill the host's table of closed ones.
#include "network/dns_tcp.h"

#include "network/dns.h"
#include "network/dns_loop.h"
#include "network/dns_servers.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	CONNECT_MS = 2000,
	IDLE_MS = 20000,
	UNTOUCHED_MS = 1000, // so long an idle connection keeps its place when there are too many
	REUSE_MS = 50,
	PAUSE_MS = 200,
	LENGTH_SIZE = 2, // before each message
};

// What comes in pieces goes on in pieces; none shall wait for the receipt of the one before.
static void send_at_once(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static void close_endpoint(struct endpoint *endpoint)
{
	if (endpoint->fd >= 0)
		close(endpoint->fd);
	*endpoint = (struct endpoint){ .fd = -1 };
}

static void release(struct connection *connection)
{
	close_endpoint(&connection->box);
	close_endpoint(&connection->host);
	connection->used = false;
}

static bool would_block(void)
{
	return errno == EAGAIN || errno == EINTR;
}

// False: broken.
static bool stream_read(struct stream *stream, int fd, bool *moved)
{
	ssize_t got;

	if (stream->count || stream->ended)
		return true;
	got = recv(fd, stream->bytes, STREAM_SIZE, MSG_DONTWAIT);
	if (got < 0)
		return would_block();
	stream->start = 0;
	stream->count = (size_t)got;
	stream->ended = got == 0;
	*moved = true;
	return true;
}

static bool stream_write(struct stream *stream, int fd, bool *moved)
{
	ssize_t put;

	if (!stream->count)
		return true;
	put = send(fd, stream->bytes + stream->start, stream->count, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (put < 0)
		return would_block();
	stream->start += (size_t)put;
	stream->count -= (size_t)put;
	*moved = true;
	return true;
}

// Follows the messages that the box sends. False: one is no plain query.
static bool only_queries(struct connection *connection)
{
	const struct stream *stream = &connection->up;

	for (size_t i = 0; i < stream->count; i++) {
		uint8_t byte = stream->bytes[stream->start + i];
		size_t at = connection->message_at++;

		if (at < LENGTH_SIZE)
			connection->message_size = connection->message_size << 8 | byte;
		if (at == LENGTH_SIZE && connection->message_size < DNS_HEADER_SIZE)
			return false;
		if (at == LENGTH_SIZE + DNS_FLAGS_OFFSET && !dns_flags_of_query(byte))
			return false;
		if (at >= LENGTH_SIZE && at + 1 == LENGTH_SIZE + connection->message_size) {
			connection->message_at = 0;
			connection->message_size = 0;
		}
	}
	return true;
}

// Begins to connect to one more server. False: there is none that could be tried.
static bool connect_next(struct loop *loop, struct connection *connection)
{
	int server;

	close_endpoint(&connection->host);
	while ((server = servers_pick(loop, connection->asked)) >= 0) {
		connection->asked |= (uint8_t)(1U << server);
		connection->server = (uint8_t)server;
		connection->host.fd = servers_connect(loop, (unsigned int)server, SOCK_STREAM);
		if (connection->host.fd < 0)
			continue;
		send_at_once(connection->host.fd);
		connection->connecting = true;
		connection->connect_until = loop->now + CONNECT_MS;
		return true;
	}
	return false;
}

// False: no server is left.
static bool finish_connecting(struct loop *loop, struct connection *connection)
{
	struct sockaddr_storage peer;
	socklen_t size = sizeof(peer);
	int problem = 0;
	socklen_t problem_size = sizeof(problem);

	getsockopt(connection->host.fd, SOL_SOCKET, SO_ERROR, &problem, &problem_size);
	if (problem)
		return connect_next(loop, connection);
	if (getpeername(connection->host.fd, (struct sockaddr *)&peer, &size) == 0)
		connection->connecting = false;
	return true;
}

// False: the connection is over.
static bool move(struct loop *loop, struct connection *connection)
{
	struct stream *up = &connection->up;
	struct stream *down = &connection->down;
	bool fresh = up->count == 0;
	bool moved = false;

	if (!stream_read(up, connection->box.fd, &moved) || (fresh && !only_queries(connection)))
		return false;
	if (connection->host.fd < 0 &&
	    (up->ended || (up->count && !connect_next(loop, connection))))
		return false;
	if (connection->connecting && !finish_connecting(loop, connection))
		return false;
	if (connection->host.fd >= 0 && !connection->connecting) {
		if (!stream_write(up, connection->host.fd, &moved))
			return false;
		if (up->ended && !up->shut)
			up->shut = shutdown(connection->host.fd, SHUT_WR) == 0;
		if (!stream_read(down, connection->host.fd, &moved) ||
		    !stream_write(down, connection->box.fd, &moved))
			return false;
	}
	if (moved)
		connection->active = loop->now;
	return !(down->ended && !down->count);
}

static bool watch(struct loop *loop, struct connection *connection)
{
	unsigned int index = (unsigned int)(connection - loop->connections);
	const struct stream *up = &connection->up;
	const struct stream *down = &connection->down;
	uint32_t box = (!up->count && !up->ended ? EPOLLIN : 0U) | (down->count ? EPOLLOUT : 0U);
	uint32_t host = (!down->count && !down->ended ? EPOLLIN : 0U) | (up->count ? EPOLLOUT : 0U);

	if (connection->connecting)
		host = EPOLLOUT;
	return loop_watch(loop, &connection->box, box, EVENT_CONNECTION, index, 0) &&
	       (connection->host.fd < 0 ||
		loop_watch(loop, &connection->host, host, EVENT_CONNECTION, index, 1));
}

void tcp_move(struct loop *loop, unsigned int index)
{
	struct connection *connection = &loop->connections[index];

	if (!move(loop, connection) || !watch(loop, connection))
		release(connection);
}

// The free place that may be used first; the lowest of those that may be now, so that few are ever touched.
static struct connection *free_place(struct loop *loop)
{
	struct connection *best = NULL;

	for (unsigned int i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *place = &loop->connections[i];

		if (place->used)
			continue;
		if (place->ready_at <= loop->now)
			return place;
		if (!best || place->ready_at < best->ready_at)
			best = place;
	}
	return best;
}

// A free place if there are only such.
static struct connection *idlest(struct loop *loop)
{
	struct connection *best = &loop->connections[0];

	for (unsigned int i = 1; i < CONNECTIONS_MAX; i++) {
		struct connection *other = &loop->connections[i];

		if (other->used && (!best->used || other->active < best->active))
			best = other;
	}
	return best;
}

int64_t tcp_ready_at(struct loop *loop)
{
	const struct connection *place = free_place(loop);
	int64_t ready = place ? place->ready_at : idlest(loop)->active + UNTOUCHED_MS;

	return ready > loop->tcp_pause ? ready : loop->tcp_pause;
}

bool tcp_make_room(struct loop *loop)
{
	struct connection *place = idlest(loop);

	if (!place->used)
		return false;
	release(place);
	return true;
}

static void accept_failed(struct loop *loop)
{
	if (would_block() || errno == ECONNABORTED)
		return;
	// No descriptors, or no memory: some come back with time, and those of another connection at once.
	loop->tcp_pause = loop->now + PAUSE_MS;
	tcp_make_room(loop);
}

void tcp_accept(struct loop *loop)
{
	int fd = accept4(loop->relay.tcp, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct connection *place = free_place(loop);
	uint8_t(*buffers)[STREAM_SIZE];

	if (fd < 0) {
		accept_failed(loop);
		return;
	}
	if (!place) {
		place = idlest(loop);
		release(place);
	}
	send_at_once(fd);
	buffers = loop->streams[place - loop->connections];
	*place = (struct connection){ .used = true,
				      .active = loop->now,
				      .ready_at = loop->now + REUSE_MS,
				      .box = { .fd = fd },
				      .host = { .fd = -1 },
				      .up = { .bytes = buffers[0] },
				      .down = { .bytes = buffers[1] } };
	if (!watch(loop, place))
		release(place);
}

int64_t tcp_next(const struct loop *loop)
{
	int64_t next = NEVER;

	for (unsigned int i = 0; i < CONNECTIONS_MAX; i++) {
		const struct connection *connection = &loop->connections[i];

		if (!connection->used)
			continue;
		if (connection->connecting && connection->connect_until < next)
			next = connection->connect_until;
		if (connection->active + IDLE_MS < next)
			next = connection->active + IDLE_MS;
	}
	return next;
}

static void try_another(struct loop *loop, struct connection *connection)
{
	if (!connect_next(loop, connection) || !watch(loop, connection))
		release(connection);
}

void tcp_expire(struct loop *loop)
{
	for (unsigned int i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *connection = &loop->connections[i];

		if (!connection->used)
			continue;
		if (loop->now >= connection->active + IDLE_MS) {
			release(connection);
		} else if (connection->connecting && loop->now >= connection->connect_until) {
			servers_silent(loop, connection->server,
				       connection->connect_until - CONNECT_MS);
			try_another(loop, connection);
		}
	}
}

void tcp_forget_servers(struct loop *loop)
{
	for (unsigned int i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *connection = &loop->connections[i];

		connection->asked = 0;
		if (connection->used && connection->connecting)
			try_another(loop, connection);
	}
}
