// SPDX-License-Identifier: MIT
// The host's resolvers: which they are, and which is asked first.
#pragma once

#include "network/dns_loop.h"

#include <stdbool.h>
#include <stdint.h>

// relay_servers.c: which servers there are. True: others than before.
bool servers_refresh(struct loop *loop);
// The best server that is not in the mask, -1: none.
int servers_pick(const struct loop *loop, unsigned int asked);
// A socket that is connected, or connects, to the server; -1 with errno.
int servers_connect(const struct loop *loop, unsigned int server, int type);
void servers_answered(struct loop *loop, unsigned int server);
// It did not answer what it was asked at that time.
void servers_silent(struct loop *loop, unsigned int server, int64_t asked_at);
