// SPDX-License-Identifier: MIT
// Standard streams that are not terminals: the box gets pipes of its own, and claudebox copies.
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <poll.h>

struct streams;

// Creates a pipe for each of descriptors 0 to 2 that is a file, a pipe or a socket. Returns NULL
// with an error on failure.
struct streams *streams_open(struct arena *arena, struct error *error);
// Returns the descriptor for the box's descriptor `number` (0 to 2); -1: none.
int streams_box_fd(const struct streams *streams, int number);
// Begins to copy, after bwrap has inherited its descriptors.
void streams_start(struct streams *streams);

// Descriptors that the supervisor polls: both sides of three streams.
enum { STREAMS_POLL_SLOTS = 6 };
void streams_prepare_poll(const struct streams *streams, struct pollfd slots[STREAMS_POLL_SLOTS]);
void streams_handle_poll(struct streams *streams, const struct pollfd slots[STREAMS_POLL_SLOTS]);

// Writes the rest of the output, and gives input back that the box has not read. Waits for a slow
// reader until a signal ends claudebox.
void streams_close(struct streams *streams);
