// SPDX-License-Identifier: MIT
// State of the DNS relay, shared by its source files. Times are milliseconds of the monotonic
// clock.
#pragma once

#include "base/resolv_conf.h"
#include "network/dns.h"
#include "network/dns_relay.h"

#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
	QUERIES_MAX = 256,
	QUERY_SIZE_MAX = 512, // a longer query by UDP is dropped
	CONNECTIONS_MAX = 16,
	STREAM_SIZE = 4096,
	MESSAGE_MAX = 65536,
};

#define NEVER INT64_MAX

struct dns_server {
	struct dns_resolver resolver;
	int64_t last_answer; // -1: none yet
	int64_t down_until;  // after a timeout; until then other servers are tried first
};

struct dns_servers {
	struct dns_server items[RESOLVERS_MAX];
	unsigned int count;
	int64_t last_request; // for a new list
};

// A query from the box by UDP that waits for an answer.
struct dns_query {
	bool used;
	uint8_t tried;   // bit mask of servers
	uint8_t failure; // last response code of a server that could not answer, 0: none
	uint16_t size;
	uint16_t question_end;
	struct sockaddr_in client;
	int sockets[RESOLVERS_MAX]; // one for each server that may still answer, -1: none
	int64_t sent_at[RESOLVERS_MAX];
	int64_t started;
	int64_t next_server_at; // when the query is sent to another server as well
	int64_t deadline;
};

// A buffer of a TCP connection.
struct dns_stream {
	size_t start;
	size_t count;
	bool ended;         // its source is at end of file
	bool shutdown_sent; // and passed on
	uint8_t *bytes;
};

struct dns_endpoint {
	int fd;          // -1: none
	uint32_t events; // that epoll watches for
};

struct dns_connection {
	bool used;
	bool connecting;
	uint8_t tried;       // bit mask of servers
	uint8_t server;      // the current one
	int64_t reusable_at; // when a free slot may be used for another connection
	int64_t last_active; // when bytes were transferred last
	int64_t connect_deadline;
	bool answer_waits;    // an answer of the DNS relay waits for the end of one of the server
	size_t answer_offset; // in the message from the server, counted from its length field
	size_t answer_size;   // value of the length field
	struct dns_endpoint box;
	struct dns_endpoint host;
	struct dns_stream input; // from the box, until a message is complete
	struct dns_stream up;    // to the server
	struct dns_stream down;  // to the box
};

enum dns_event { EVENT_UDP, EVENT_TCP, EVENT_QUERY, EVENT_CONNECTION, EVENT_RESOLVERS };

struct dns_relay {
	int epoll;
	int64_t now; // set once for each event
	struct dns_endpoint udp;
	struct dns_endpoint tcp;
	struct dns_endpoint resolvers; // the channel to the supervisor
	int64_t udp_paused_until;      // after an error
	int64_t tcp_paused_until;
	struct dns_servers servers;
	unsigned int query_count;
	unsigned int query_limit;
	int64_t tokens; // number of UDP messages that may be received now (token bucket)
	int64_t tokens_updated;
	struct dns_query queries[QUERIES_MAX];
	struct dns_connection connections[CONNECTIONS_MAX];
	// Separate arrays: pages that are never written are never allocated.
	uint8_t messages[QUERIES_MAX][DNS_QUERY_MAX];
	uint8_t streams[CONNECTIONS_MAX][3][STREAM_SIZE];
	uint8_t buffer[MESSAGE_MAX];
};

// Makes epoll watch the endpoint for `events`, 0: for none. An event carries kind, index and part.
// Returns false if epoll_ctl fails.
bool dns_relay_watch(struct dns_relay *relay, struct dns_endpoint *endpoint, uint32_t events,
		     enum dns_event kind, unsigned int index, unsigned int part);
