// SPDX-License-Identifier: MIT
// Starts and stops the helper processes of the tier inet: nft, pasta and the DNS relay.
//
// Theory of operation: a helper is a child process that the kernel kills when claudebox ends
// (PR_SET_PDEATHSIG). It has no controlling terminal and a fixed environment; standard input,
// output and error are the only descriptors that a program inherits. Work inside the box's network
// namespace is done by a child that enters the namespace and then executes nft. The supervisor
// itself stays in the host's network namespace. The DNS relay is claudebox itself, executed anew.
#include "network/helpers.h"

#include "base/arena.h"
#include "base/error.h"
#include "network/dns_relay.h"
#include "network/namespace.h"
#include "network/network.h"
#include "render/network.h"
#include "sys/cleanup.h"
#include "sys/memfd.h"
#include "sys/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { COUNTERS_MAX = 1024 * 1024 };

// Called in a new child. Makes the kernel kill it when `parent` ends, starts a new session, resets
// signals, and sets the three standard descriptors. Exits on failure.
static void prepare_child(pid_t parent, int in, int out, int messages)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t none;

	process_end_with_parent(parent, SIGKILL);
	setsid();
	sigaction(SIGPIPE, &standard, NULL); // pasta fails if it is ignored
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(messages, 2) < 0)
		_exit(EXIT_NOT_STARTED);
}

static _Noreturn void execute(const char *program, const char *const *words)
{
	static const char *const environment[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };

	execve(program, (char *const *)words, (char *const *)environment);
	dprintf(2, "cannot execute %s: %s\n", program, strerror(errno));
	_exit(EXIT_NOT_FOUND);
}

struct network_helper helper_open(pid_t pid)
{
	return (struct network_helper){ .pid = pid, .end = process_open(pid) };
}

int helper_stop(struct network_helper *helper)
{
	int status;

	if (helper->pid <= 0)
		return 0;
	status = process_kill(helper->pid);
	cleanup_close(&helper->end);
	*helper = (struct network_helper){ .end = -1 };
	return status;
}

static bool send_sockets(int channel, const int sockets[2])
{
	char control[CMSG_SPACE(2 * sizeof(int))] = { 0 };
	char byte = 1;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr header = { .msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control) };
	struct cmsghdr *part = CMSG_FIRSTHDR(&header);

	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(part), sockets, 2 * sizeof(int));
	return sendmsg(channel, &header, MSG_NOSIGNAL) == 1;
}

bool helper_receive_prepared(int channel)
{
	struct pollfd wait = { .fd = channel, .events = POLLIN };
	char byte;

	return poll(&wait, 1, HELPER_TIMEOUT_MS) > 0 && recv(channel, &byte, 1, 0) == 1;
}

bool helper_receive_sockets(int channel, int ret_sockets[2])
{
	char control[CMSG_SPACE(2 * sizeof(int))] = { 0 };
	char byte;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr header = { .msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control) };
	struct pollfd wait = { .fd = channel, .events = POLLIN };
	const struct cmsghdr *part;

	if (poll(&wait, 1, HELPER_TIMEOUT_MS) <= 0 ||
	    recvmsg(channel, &header, MSG_CMSG_CLOEXEC) != 1)
		return false;
	part = CMSG_FIRSTHDR(&header);
	if (!part || part->cmsg_type != SCM_RIGHTS || part->cmsg_len != CMSG_LEN(2 * sizeof(int)))
		return false;
	memcpy(ret_sockets, CMSG_DATA(part), 2 * sizeof(int));
	return true;
}

// Called in a new child. Enters the box's network namespace and executes nft. With a channel it
// prepares the namespace first.
static _Noreturn void run_nft(const struct network *network, int channel)
{
	static const char *const words[] = { "nft", "-f", "-", NULL };
	int sockets[2];

	if (!namespace_enter(network->user_namespace, network->net_namespace)) {
		dprintf(2, "cannot enter the network namespace: %s\n", strerror(errno));
		_exit(EXIT_NOT_STARTED);
	}
	if (channel >= 0) {
		const char *problem = namespace_prepare_pasta(network->plan);

		if (!problem && send(channel, "g", 1, MSG_NOSIGNAL) != 1)
			problem = "send to the supervisor";
		if (!problem)
			problem = namespace_prepare_agent(network->plan);
		if (!problem &&
		    (!namespace_open_dns_sockets(sockets) || !send_sockets(channel, sockets)))
			problem = "open the sockets of the DNS relay";
		if (problem) {
			dprintf(2, "network namespace: cannot %s: %s\n", problem, strerror(errno));
			_exit(EXIT_NOT_STARTED);
		}
	}
	execute(network->plan->inet.nft, words);
}

pid_t helper_start_nft(const struct network *network, const char *rules, int channel, int messages)
{
	CLEANUP_FD int file = memfd_with_text("rules", rules);
	pid_t parent = getpid();
	pid_t pid = file < 0 ? -1 : fork();

	if (pid == 0) {
		prepare_child(parent, file, messages, messages);
		run_nft(network, channel);
	}
	return pid;
}

pid_t helper_start_pasta(const struct network *network, struct arena *arena, pid_t child, int out,
			 int messages)
{
	const char *path = arena_printf(arena, "/proc/%d/ns/net", (int)child);
	strings words = render_pasta(network->plan, arena, path);
	pid_t parent = getpid();
	pid_t pid;

	vec_push(arena, &words, NULL);
	pid = fork();
	if (pid == 0) {
		prepare_child(parent, network->user_namespace, out, messages);
		execute(network->plan->inet.pasta, words.items);
	}
	return pid;
}

// Called in a new child. Executes claudebox itself as DNS relay, so that its memory has nothing of
// the supervisor.
static _Noreturn void run_dns_relay(const int fds[DNS_RELAY_FIRST_OTHER])
{
	static const char *const words[] = { DNS_RELAY_COMMAND, NULL };
	int copies[DNS_RELAY_FIRST_OTHER];

	// No copy has a number that another descriptor shall get.
	for (int i = DNS_RELAY_UDP; i < DNS_RELAY_FIRST_OTHER; i++)
		copies[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, DNS_RELAY_FIRST_OTHER);
	for (int i = DNS_RELAY_UDP; i < DNS_RELAY_FIRST_OTHER; i++)
		if (copies[i] < 0 || dup2(copies[i], i) < 0)
			_exit(EXIT_NOT_STARTED);
	execute("/proc/self/exe", words);
}

pid_t helper_start_dns_relay(const struct network *network, const int sockets[2], int resolvers)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);
		const int fds[DNS_RELAY_FIRST_OTHER] = {
			[DNS_RELAY_UDP] = sockets[0],
			[DNS_RELAY_TCP] = sockets[1],
			[DNS_RELAY_RESOLVERS] = resolvers,
			[DNS_RELAY_USER_NAMESPACE] = network->user_namespace,
		};

		prepare_child(parent, null, null, null);
		run_dns_relay(fds);
	}
	return pid;
}

bool helper_wait(pid_t pid)
{
	struct network_helper helper = helper_open(pid);
	struct pollfd wait = { .fd = helper.end, .events = POLLIN };
	int status;

	poll(&wait, 1, HELPER_TIMEOUT_MS);
	status = helper_stop(&helper); // the status of a child that has ended already is its own
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

const char *helper_read_counters(const struct network *network, struct arena *arena)
{
	static const char *const words[] = {
		"nft", "-j", "list", "table", "inet", "claudebox", NULL
	};
	CLEANUP_FD int file = memfd_open("counters", false);
	CLEANUP_FD int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t parent = getpid();
	pid_t pid;

	if (file < 0 || (pid = fork()) < 0)
		return NULL;
	if (pid == 0) {
		prepare_child(parent, null, file, null);
		if (namespace_enter(network->user_namespace, network->net_namespace))
			execute(network->plan->inet.nft, words);
		_exit(EXIT_NOT_STARTED);
	}
	return helper_wait(pid) ? memfd_read(arena, file, COUNTERS_MAX) : NULL;
}
