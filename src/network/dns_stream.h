// SPDX-License-Identifier: MIT
// Buffers of a TCP connection of the DNS relay, and the messages in them.
#pragma once

#include "network/dns_state.h"

#include <stdbool.h>
#include <stddef.h>

// Reads at most `limit` bytes and appends them to the buffer. Sets *progress if bytes or the end of
// file were read. Returns false if the connection failed.
bool dns_stream_read(struct dns_stream *stream, int fd, size_t limit, bool *progress);
// Writes as much of the buffer as possible. Sets *progress if bytes were written. Returns false if
// the connection failed.
bool dns_stream_write(struct dns_stream *stream, int fd, bool *progress);
// Returns the size of the first message in the buffer with its length field; 0 if it is not
// complete.
size_t dns_stream_first_message(const struct dns_stream *input);
// Handles the first message from the box, if it is complete and there is room for the result. Sets
// *progress if it was handled. Returns false if the connection must be closed.
bool dns_stream_handle_message(struct dns_connection *connection, bool *progress);
// Reads from the server and keeps track of where its messages end. Returns false if the connection
// failed.
bool dns_stream_read_answer(struct dns_connection *connection, bool *progress);
bool dns_stream_would_block(void);
