// SPDX-License-Identifier: MIT
// Queries by TCP: bytes are copied both ways between the box and one of the host's resolvers.
#pragma once

#include "network/dns_loop.h"

#include <stdbool.h>
#include <stdint.h>

int64_t tcp_ready_at(struct loop *loop);
int64_t tcp_next(const struct loop *loop);
void tcp_accept(struct loop *loop);
void tcp_move(struct loop *loop, unsigned int index);
void tcp_expire(struct loop *loop);
void tcp_forget_servers(struct loop *loop);
// Gives up a connection for its descriptors. False: there is none.
bool tcp_make_room(struct loop *loop);
