// SPDX-License-Identifier: MIT
// What the supervisor outside and init inside say to each other, one struct a packet.
#pragma once

#include <stdint.h>

enum message_kind {
	// init to supervisor
	MESSAGE_READY, // bwrap is done and the agent waits for the start; the kernel adds init's pid
	MESSAGE_STARTED, // sent by the agent's process just before it executes; the kernel adds its pid
	MESSAGE_FAILED,  // value: errno of the execution
	MESSAGE_STOPPED, // value: the signal
	MESSAGE_ENDED,   // value: exit status as a shell would show it
	MESSAGE_OPEN,    // value: errno of the protection that failed; the agent was not started
	// supervisor to init
	MESSAGE_SIGNAL, // value: the signal, for the agent
	MESSAGE_RESUME, // value: 1 when the agent shall have the terminal
	MESSAGE_START,  // everything around the box is ready: start the agent
};

struct message {
	int32_t kind;
	int32_t value;
};

// Descriptors that init starts with, besides 0 to 2. They are fixed so that init needs no options.
enum {
	INIT_CONTROL_FD = 3,     // a SOCK_SEQPACKET socket
	INIT_ENVIRONMENT_FD = 4, // a memfd: NAME=value, NUL-separated
};

// What init is told on its command line: init FLAGS COMMAND [ARG…]. FLAGS is three letters, '-' for no, and the mask of
// ignored signals: "fs-4096".
#define INIT_FLAG_FOREGROUND 'f' // give the terminal to the agent
#define INIT_FLAG_SCOPED     's' // nothing in the box reaches abstract sockets or processes outside
#define INIT_FLAG_OWN_TERMINAL \
	't' // a session of its own, with the terminal among 0 to 2, if there is one
