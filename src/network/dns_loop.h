// SPDX-License-Identifier: MIT
// What the parts of the relay know of each other.
#pragma once

#include "base/resolv_conf.h"
#include "network/dns_relay.h"

#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum {
	QUERIES_MAX = 256,
	QUERY_SIZE_MAX = 512, // longer ones take TCP
	CONNECTIONS_MAX = 16,
	STREAM_SIZE = 4096,
	MESSAGE_MAX = 65536,
};

// Milliseconds of a clock that never goes back.
#define NEVER INT64_MAX

struct server {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} address;
	socklen_t size;
	char scope[RESOLVER_SCOPE_SIZE];
	int64_t answered;   // when it did last
	int64_t down_until; // it was silent: others are asked first
};

struct servers {
	struct server items[RESOLVERS_MAX];
	unsigned int count;
	int64_t looked; // at the file, last
	struct stat file;
};

// A query that waits for an answer, and those servers that it waits for.
struct query {
	bool used;
	uint8_t asked;  // a bit for each server
	uint8_t result; // of a server that did not know, 0: none yet
	uint16_t size;
	uint16_t end; // of its question
	struct sockaddr_in client;
	int sockets[RESOLVERS_MAX]; // -1: none
	int64_t asked_at[RESOLVERS_MAX];
	int64_t started;
	int64_t next_at; // when another server is asked
	int64_t deadline;
};

// One direction of a connection: read when empty, written until empty.
struct stream {
	size_t start;
	size_t count;
	bool ended; // the end was read
	bool shut;  // and passed on
	uint8_t *bytes;
};

struct endpoint {
	int fd;          // -1: none
	uint32_t events; // those that epoll watches for
};

struct connection {
	bool used;
	bool connecting;
	uint8_t asked;    // a bit for each server
	uint8_t server;   // the one that is connected
	int64_t ready_at; // when the place may be used for another, if it is free
	int64_t active;   // when bytes moved last
	int64_t connect_until;
	size_t message_at; // how much of the message that the box sends was seen, with its two bytes of length
	size_t message_size; // the length that these said
	struct endpoint box;
	struct endpoint host;
	struct stream up; // towards the host
	struct stream down;
};

enum event_kind { EVENT_UDP, EVENT_TCP, EVENT_QUERY, EVENT_CONNECTION };

struct loop {
	struct relay relay;
	int epoll;
	int64_t now;
	struct endpoint udp;
	struct endpoint tcp;
	int64_t udp_pause; // after an error nothing is taken before
	int64_t tcp_pause;
	struct servers servers;
	unsigned int query_count;
	unsigned int query_limit;
	int64_t allowance; // so many more messages may come now
	int64_t allowance_at;
	struct query queries[QUERIES_MAX];
	struct connection connections[CONNECTIONS_MAX];
	// Memory that is not touched costs nothing, so the bytes lie apart.
	uint8_t messages[QUERIES_MAX][QUERY_SIZE_MAX];
	uint8_t streams[CONNECTIONS_MAX][2][STREAM_SIZE];
	uint8_t buffer[MESSAGE_MAX];
};

// Makes epoll watch for these events and no others. False: it cannot.
bool loop_watch(struct loop *loop, struct endpoint *endpoint, uint32_t events, enum event_kind kind,
		unsigned int index, unsigned int part);
