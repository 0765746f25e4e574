// SPDX-License-Identifier: MIT
// The protocol between the supervisor and init: one struct message in each packet of the control
// socket.
#pragma once

#include <stdint.h>

enum message_kind {
	// init to supervisor
	MESSAGE_READY, // bwrap is done and init waits for MESSAGE_START; the kernel adds init's pid
	MESSAGE_STARTED, // the agent's process sends it just before execve; the kernel adds its pid
	MESSAGE_FAILED,  // value: errno of execve
	MESSAGE_STOPPED, // value: the signal that stopped the agent
	MESSAGE_ENDED,   // value: the agent's exit status as a shell shows it
	MESSAGE_RESTRICTION_FAILED, // value: errno; the agent does not start
	// supervisor to init
	MESSAGE_SIGNAL, // value: the signal to send to the agent
	MESSAGE_RESUME, // continue the box; value: 1 if the agent gets the terminal
	MESSAGE_START,  // mounts and network are ready: start the agent
	MESSAGE_STOP,   // stop all processes of the box
	// init to supervisor
	MESSAGE_ALL_STOPPED, // answer to MESSAGE_STOP; value: 1 if no process runs, else 0
};

struct message {
	int32_t kind;
	int32_t value;
};

// Descriptors that init starts with, besides 0 to 2. The numbers are fixed, so init needs no
// options.
enum {
	INIT_CONTROL_FD = 3,     // a SOCK_SEQPACKET socket
	INIT_ENVIRONMENT_FD = 4, // a memfd: NAME=value, NUL-separated
};

// The command line of init: init FLAGS COMMAND [ARG…]. FLAGS is three letters, '-' for each flag
// that is not set, and the mask of ignored signals as a number: "fs-4096".
#define INIT_FLAG_FOREGROUND   'f' // the agent gets the terminal
#define INIT_FLAG_SCOPED       's' // apply Landlock's scopes: abstract sockets and signals
#define INIT_FLAG_SOCKETS      'u' // the scopes, and also sockets by path
#define INIT_FLAG_OWN_TERMINAL 't' // new session, with the terminal among 0 to 2 if there is one
