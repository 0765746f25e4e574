// SPDX-License-Identifier: MIT
// Buffers of a TCP connection of the DNS relay, and the messages in them.
#include "network/dns_stream.h"

#include "network/dns.h"
#include "network/dns_filter.h"
#include "network/dns_state.h"

#include <errno.h>
#include <string.h>

enum { LENGTH_SIZE = 2 }; // before each message

bool dns_stream_would_block(void)
{
	return errno == EAGAIN || errno == EINTR;
}

bool dns_stream_read(struct dns_stream *stream, int fd, size_t limit, bool *progress)
{
	ssize_t got;

	if (stream->ended || limit == 0)
		return true;
	got = recv(fd, stream->bytes + stream->start + stream->count, limit, MSG_DONTWAIT);
	if (got < 0)
		return dns_stream_would_block();
	stream->count += (size_t)got;
	stream->ended = got == 0;
	*progress = true;
	return true;
}

bool dns_stream_write(struct dns_stream *stream, int fd, bool *progress)
{
	ssize_t sent;

	if (!stream->count)
		return true;
	sent = send(fd, stream->bytes + stream->start, stream->count, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0)
		return dns_stream_would_block();
	stream->count -= (size_t)sent;
	stream->start = stream->count ? stream->start + (size_t)sent : 0;
	*progress = true;
	return true;
}

static void put_message(struct dns_stream *stream, const struct dns_filtered *filtered)
{
	stream->start = 0;
	stream->count = LENGTH_SIZE + filtered->size;
	stream->bytes[0] = (uint8_t)(filtered->size >> 8);
	stream->bytes[1] = (uint8_t)filtered->size;
	memcpy(stream->bytes + LENGTH_SIZE, filtered->bytes, filtered->size);
}

size_t dns_stream_first_message(const struct dns_stream *input)
{
	size_t size;

	if (input->count < LENGTH_SIZE)
		return 0;
	size = LENGTH_SIZE + ((size_t)input->bytes[0] << 8 | input->bytes[1]);
	return size <= input->count ? size : 0;
}

// Returns whether the rest of the first message can follow: no message is longer than the buffer or
// shorter than a header.
static bool may_be_complete(const struct dns_stream *input)
{
	size_t size;

	if (input->count < LENGTH_SIZE)
		return true;
	size = (size_t)input->bytes[0] << 8 | input->bytes[1];
	return size >= DNS_HEADER_SIZE && size <= STREAM_SIZE - LENGTH_SIZE;
}

bool dns_stream_handle_message(struct dns_connection *connection, bool *progress)
{
	struct dns_stream *input = &connection->input;
	struct dns_stream *down = &connection->down;
	size_t size = dns_stream_first_message(input);
	struct dns_filtered filtered;
	enum dns_action action;

	connection->answer_waits = false;
	if (!size || connection->up.count)
		return may_be_complete(input);
	action = dns_filter(input->bytes + LENGTH_SIZE, size - LENGTH_SIZE, &filtered);
	if (action == DNS_DROP)
		return false;
	if (action == DNS_ANSWER && (down->count || connection->answer_offset)) {
		connection->answer_waits = true;
		return true;
	}
	put_message(action == DNS_ANSWER ? down : &connection->up, &filtered);
	input->count -= size;
	memmove(input->bytes, input->bytes + size, input->count);
	*progress = true;
	return true;
}

// Returns how many bytes may be read from the server: not beyond the current message if an answer
// of the DNS relay waits for its end.
static size_t answer_limit(const struct dns_connection *connection)
{
	size_t left = STREAM_SIZE;

	if (connection->down.count)
		return 0;
	if (connection->answer_waits)
		left = connection->answer_offset < LENGTH_SIZE
			       ? LENGTH_SIZE - connection->answer_offset
			       : LENGTH_SIZE + connection->answer_size - connection->answer_offset;
	return left < STREAM_SIZE ? left : STREAM_SIZE;
}

bool dns_stream_read_answer(struct dns_connection *connection, bool *progress)
{
	struct dns_stream *down = &connection->down;
	bool empty = !down->count;

	if (!dns_stream_read(down, connection->host.fd, answer_limit(connection), progress))
		return false;
	for (size_t i = 0; empty && i < down->count; i++) {
		size_t at = connection->answer_offset++;

		if (at < LENGTH_SIZE)
			connection->answer_size = connection->answer_size << 8 | down->bytes[i];
		if (connection->answer_offset < LENGTH_SIZE ||
		    connection->answer_offset < LENGTH_SIZE + connection->answer_size)
			continue;
		connection->answer_offset = 0;
		connection->answer_size = 0;
	}
	return true;
}
