// SPDX-License-Identifier: MIT
// The BPF program of the DNS relay's seccomp filter, which seccomp/generate_relay.c generates at
// build time.
#pragma once

#include <stddef.h>

extern const unsigned char relay_program[]; // struct sock_filter
extern const size_t relay_program_size;     // in bytes
