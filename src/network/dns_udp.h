// SPDX-License-Identifier: MIT
// Queries by UDP: each is asked through a socket of its own, until somebody knows the answer.
#pragma once

#include "network/dns_loop.h"

#include <stdint.h>

// relay_udp.c, relay_tcp.c. ready_at: when the next message or connection may be taken; next: when a time-out is due.
int64_t udp_ready_at(struct loop *loop);
int64_t udp_next(const struct loop *loop);
void udp_receive(struct loop *loop);
void udp_answer(struct loop *loop, unsigned int index, unsigned int server);
void udp_expire(struct loop *loop);
void udp_ask_again(struct loop *loop);
