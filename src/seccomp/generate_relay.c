// SPDX-License-Identifier: MIT
// Generates the BPF program of the DNS relay's seccomp filter, at build time: generate_relay
// MACHINE prints C source.
//
// Theory of operation: the DNS relay parses messages of the agent, so a fault in it must not give
// the agent a process on the host. After its start it needs the calls of this table and no others:
// it opens no file, starts no process and allocates no memory. Any other call ends it with SIGSYS,
// and then the supervisor disconnects the network.
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	MAX_CONDITIONS = 3,
	TYPE_MASK = 0xf, // of a socket, without flags
};

// An allowed call; the conditions are on its low 32 bits.
struct row {
	const char *name;
	struct {
		unsigned int argument;
		uint32_t mask;
		uint32_t value;
	} conditions[MAX_CONDITIONS];
	unsigned int count;
};

#define SOCKET(family, type)                                                                \
	{                                                                                   \
		"socket", { { 0, ~0U, family }, { 1, TYPE_MASK, type }, { 2, ~0U, 0 } }, 3, \
	}

static const struct row rows[] = {
	SOCKET(AF_INET, SOCK_DGRAM),
	SOCKET(AF_INET, SOCK_STREAM),
	SOCKET(AF_INET6, SOCK_DGRAM),
	SOCKET(AF_INET6, SOCK_STREAM),
	{ "setsockopt", { { 1, ~0U, IPPROTO_TCP }, { 2, ~0U, TCP_NODELAY } }, 2 },
	{ "getsockopt", { { 1, ~0U, SOL_SOCKET }, { 2, ~0U, SO_ERROR } }, 2 },
	{ "connect", { { 0 } }, 0 },
	{ "accept4", { { 0 } }, 0 },
	{ "getpeername", { { 0 } }, 0 },
	{ "sendto", { { 0 } }, 0 },
	{ "recvfrom", { { 0 } }, 0 },
	{ "shutdown", { { 0 } }, 0 },
	{ "close", { { 0 } }, 0 },
	{ "epoll_ctl", { { 0 } }, 0 },
	{ "epoll_wait", { { 0 } }, 0 },
	{ "epoll_pwait", { { 0 } }, 0 },
	{ "clock_gettime", { { 0 } }, 0 }, // where the vDSO cannot read the clock
	{ "restart_syscall", { { 0 } }, 0 },
	{ "exit_group", { { 0 } }, 0 },
};

static _Noreturn void fail(const char *what, int error)
{
	fprintf(stderr, "relay-seccomp-generator: %s: %s\n", what, strerror(error));
	exit(1);
}

// Adds a row. libseccomp has negative numbers for calls that a machine does not have.
static void add_row(scmp_filter_ctx filter, uint32_t machine, const struct row *row)
{
	struct scmp_arg_cmp compare[MAX_CONDITIONS];
	int result;

	if (seccomp_syscall_resolve_name_arch(machine, row->name) < 0)
		return;
	for (unsigned int i = 0; i < row->count; i++)
		compare[i] = SCMP_CMP64(row->conditions[i].argument, SCMP_CMP_MASKED_EQ,
					row->conditions[i].mask, row->conditions[i].value);
	result = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW,
					seccomp_syscall_resolve_name(row->name), row->count,
					compare);
	if (result < 0)
		fail(row->name, -result);
}

int main(int argc, char **argv)
{
	uint32_t machine = argc > 1 ? seccomp_arch_resolve_name(argv[1]) : 0;
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int fd = memfd_create("program", MFD_CLOEXEC);
	unsigned char byte;

	if (!machine || !filter || fd < 0)
		fail("unknown machine", EINVAL);
	if ((machine != seccomp_arch_native() &&
	     (seccomp_arch_add(filter, machine) < 0 ||
	      seccomp_arch_remove(filter, seccomp_arch_native()) < 0)) ||
	    seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) < 0)
		fail("cannot set up the filter", EINVAL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		add_row(filter, machine, &rows[i]);
	if (seccomp_export_bpf(filter, fd) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		fail("cannot write the program", errno);
	printf("#include \"seccomp/relay_program.h\"\n"
	       "_Alignas(8) const unsigned char relay_program[] = {");
	for (size_t at = 0; read(fd, &byte, 1) == 1; at++)
		printf("%s%u,", at % 16 ? "" : "\n", byte);
	printf("\n};\nconst size_t relay_program_size = sizeof(relay_program);\n");
	seccomp_release(filter);
	return fflush(stdout) == 0 ? 0 : 1;
}
