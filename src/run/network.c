// SPDX-License-Identifier: MIT
// Connects a waiting box to the internet, and keeps watch over it.
//
// Theory of operation: bwrap has made the namespaces and holds the agent back. A child of ours enters them, readies
// them and becomes nft, which loads the rules; pasta attaches from outside at the same time; a relay for names is
// forked. Only when the rules are in force and pasta is ready does the caller let the agent start. pasta and the relay
// die with us, whatever ends us. Later the kernel tells when the host's addresses change: the rules follow. If they
// cannot, the network is cut.
#include "run/network.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "host/probe.h"
#include "plan/network.h"
#include "plan/render.h"
#include "run/relay.h"
#include "run/run.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { LIMIT_MS = 10000, SAID = 2000, REPORT_LIMIT = 1024 * 1024 };

static bool fail(struct error *error, const char *what)
{
	return error_set(error, "cannot %s: %s", what, strerror(errno));
}

// A child that ends with us, has no terminal and sees only the three descriptors given.
static void become_child(pid_t parent, int in, int out, int messages)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_NOT_STARTED);
	setsid();
	sigaction(SIGPIPE, &standard, NULL); // pasta fails when it is ignored
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

static struct network_helper helper_of(pid_t pid)
{
	return (struct network_helper){ .pid = pid, .end = (int)syscall(SYS_pidfd_open, pid, 0) };
}

static int end_helper(struct network_helper *helper)
{
	int status = 0;

	if (helper->pid <= 0)
		return 0;
	kill(helper->pid, SIGKILL);
	while (waitpid(helper->pid, &status, 0) < 0 && errno == EINTR)
		;
	cleanup_close(&helper->end);
	*helper = (struct network_helper){ .end = -1 };
	return status;
}

static int memory_file(const char *text)
{
	int fd = memfd_create("rules", MFD_CLOEXEC);

	if (fd >= 0 && (!run_write(fd, text, strlen(text)) || lseek(fd, 0, SEEK_SET) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
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

static bool receive_sockets(int channel, int ret_sockets[2])
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

	if (poll(&wait, 1, LIMIT_MS) <= 0 || recvmsg(channel, &header, MSG_CMSG_CLOEXEC) != 1)
		return false;
	part = CMSG_FIRSTHDR(&header);
	if (!part || part->cmsg_type != SCM_RIGHTS || part->cmsg_len != CMSG_LEN(2 * sizeof(int)))
		return false;
	memcpy(ret_sockets, CMSG_DATA(part), 2 * sizeof(int));
	return true;
}

// The child that becomes nft. With a channel it is the first: it readies the namespace before.
static _Noreturn void load_rules(const struct network *network, int channel)
{
	static const char *const words[] = { "nft", "-f", "-", NULL };
	int sockets[2];

	if (!namespace_enter(network->user_namespace, network->net_namespace)) {
		dprintf(2, "cannot enter the network namespace: %s\n", strerror(errno));
		_exit(EXIT_NOT_STARTED);
	}
	if (channel >= 0 &&
	    (!namespace_prepare(network->plan) || !namespace_open_resolver(sockets) ||
	     !send_sockets(channel, sockets))) {
		dprintf(2, "cannot ready the network namespace: %s\n", strerror(errno));
		_exit(EXIT_NOT_STARTED);
	}
	execute(network->plan->inet.nft, words);
}

static pid_t start_rules(const struct network *network, const char *rules, int channel,
			 int messages)
{
	CLEANUP_FD int file = memory_file(rules);
	pid_t parent = getpid();
	pid_t pid = file < 0 ? -1 : fork();

	if (pid == 0) {
		become_child(parent, file, messages, messages);
		load_rules(network, channel);
	}
	return pid;
}

static pid_t start_pasta(const struct network *network, struct arena *arena, pid_t child, int out,
			 int messages)
{
	const char *path = arena_printf(arena, "/proc/%d/ns/net", (int)child);
	strings words = render_pasta(network->plan, arena, path);
	pid_t parent = getpid();
	pid_t pid;

	vec_push(arena, &words, NULL);
	pid = fork();
	if (pid == 0) {
		become_child(parent, network->user_namespace, out, messages);
		execute(network->plan->inet.pasta, words.items);
	}
	return pid;
}

static pid_t start_relay(const int sockets[2])
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid == 0) {
		int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
		struct relay relay = { .udp = sockets[0],
				       .tcp = sockets[1],
				       .resolv_conf = "/etc/resolv.conf",
				       .port = 53,
				       .parent = parent };

		become_child(parent, nothing, nothing, nothing);
		if (chdir("/") < 0)
			_exit(EXIT_NOT_STARTED);
		relay_run(&relay);
	}
	return pid;
}

// The last line that a helper has said, for the user.
static const char *last_words(struct arena *arena, int messages)
{
	char text[SAID + 1];
	ssize_t got = read(messages, text, SAID);
	const char *last = "";

	text[got > 0 ? got : 0] = '\0';
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (!*last || strstr(line, "rror") || !strstr(last, "rror"))
			last = line;
	return *last ? quote_display(arena, last, 200) : "it says nothing";
}

static bool rules_failed(struct error *error, int messages)
{
	const char *said = last_words(error->arena, messages);

	error_hint(error, "is nf_tables in the kernel? sudo modprobe -a nf_tables nft_reject_inet; "
			  "then try claudebox --check --network inet");
	return error_set(error, "network inet: the rules cannot be loaded: %s", said);
}

static bool pasta_failed(struct error *error, int messages)
{
	const char *said = last_words(error->arena, messages);

	error_hint(error,
		   "try claudebox --check --network inet, or start with --network none for a box "
		   "without any");
	return error_set(error, "network inet: pasta cannot attach the network: %s", said);
}

// pasta writes its number when it is ready, and nothing when it ends before.
static bool await_pasta(int out)
{
	struct pollfd wait = { .fd = out, .events = POLLIN };
	char number[32];

	return poll(&wait, 1, LIMIT_MS) > 0 && read(out, number, sizeof(number)) > 0;
}

static bool await_rules(pid_t pid)
{
	struct network_helper nft = helper_of(pid);
	struct pollfd wait = { .fd = nft.end, .events = POLLIN };
	int status;

	poll(&wait, 1, LIMIT_MS);
	status = end_helper(&nft); // of one that has ended by itself, its own
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool find_namespaces(struct network *network, pid_t child, struct arena *arena,
			    struct error *error)
{
	network->net_namespace =
		open(arena_printf(arena, "/proc/%d/ns/net", (int)child), O_RDONLY | O_CLOEXEC);
	if (network->net_namespace >= 0)
		network->user_namespace = ioctl(network->net_namespace, NS_GET_USERNS);
	if (network->user_namespace < 0)
		return fail(error, "find the box's network namespace");
	fcntl(network->user_namespace, F_SETFD, FD_CLOEXEC);
	return true;
}

// The last look before the agent may start: bwrap must have put it in a user namespace below the one that owns the
// network, or it could change the rules.
static bool await_confined(const struct network *network, pid_t child, struct error *error)
{
	const char *path = arena_printf(error->arena, "/proc/%d/ns/user", (int)child);

	for (int i = 0; i < LIMIT_MS; i++) {
		static const struct timespec pause = { .tv_nsec = 1000000 };
		struct stat owner;
		struct stat agent;

		if (fstat(network->user_namespace, &owner) < 0 || stat(path, &agent) < 0)
			return fail(error, "look at the box's user namespace");
		if (owner.st_ino != agent.st_ino)
			return true;
		nanosleep(&pause, NULL);
	}
	error_hint(error, "claudebox --check looks at the usual reasons");
	return error_set(error, "network inet: the agent would own its network");
}

static int open_changes(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	struct sockaddr_nl address = { .nl_family = AF_NETLINK,
				       .nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR |
						    RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE };

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

// A published port that is taken would silently stay the other program's.
static bool ports_free(const struct plan *plan, struct error *error)
{
	vec_each(port, &plan->inet.published_ports) {
		CLEANUP_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		struct sockaddr_in address = { .sin_family = AF_INET,
					       .sin_port = htons((uint16_t)*port),
					       .sin_addr = { htonl(INADDR_LOOPBACK) } };
		const int on = 1;

		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
		    listen(fd, 1) < 0) {
			error_hint(error,
				   errno == EACCES
					   ? "ports below 1024 are root's: publish another"
					   : "end the program that listens there (ss -ltnp), or "
					     "publish another port");
			return error_set(error, "cannot publish port %u: %s", *port,
					 strerror(errno));
		}
	}
	return true;
}

struct pipes {
	int messages[2]; // what nft and pasta say
	int ready[2];    // pasta's number
	int channel[2];  // the relay's sockets
};

static bool attach(struct network *network, pid_t child, struct pipes *pipes, struct error *error)
{
	int sockets[2];
	pid_t nft = start_rules(network, render_nft(network->plan, error->arena), pipes->channel[1],
				pipes->messages[1]);
	bool rules;

	close(pipes->channel[1]);
	pipes->channel[1] = -1;
	if (nft < 0)
		return fail(error, "start a helper");
	if (!receive_sockets(pipes->channel[0], sockets)) {
		await_rules(nft);
		return rules_failed(error, pipes->messages[0]);
	}
	network->pasta = helper_of(
		start_pasta(network, error->arena, child, pipes->ready[1], pipes->messages[1]));
	network->relay = helper_of(start_relay(sockets));
	close(sockets[0]);
	close(sockets[1]);
	close(pipes->ready[1]);
	pipes->ready[1] = -1;
	rules = await_rules(nft);
	if (!rules)
		return rules_failed(error, pipes->messages[0]);
	if (network->relay.pid <= 0 || network->relay.end < 0 || network->pasta.end < 0)
		return fail(error, "start a helper");
	return (await_pasta(pipes->ready[0]) || pasta_failed(error, pipes->messages[0])) &&
	       await_confined(network, child, error);
}

bool network_start(struct network *network, const struct plan *plan, pid_t child,
		   struct error *error)
{
	struct pipes pipes = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	int *all = (int *)&pipes;
	bool ok;

	*network = (struct network){ .plan = plan,
				     .arena = error->arena,
				     .user_namespace = -1,
				     .net_namespace = -1,
				     .changes = open_changes(),
				     .pasta = { .end = -1 },
				     .relay = { .end = -1 } };
	if (network->changes < 0)
		return fail(error, "watch the host's addresses");
	ok = ports_free(plan, error) && find_namespaces(network, child, error->arena, error);
	if (ok && (pipe2(pipes.messages, O_CLOEXEC) < 0 || pipe2(pipes.ready, O_CLOEXEC) < 0 ||
		   socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pipes.channel) < 0))
		ok = fail(error, "make a pipe");
	if (ok) {
		fcntl(pipes.messages[0], F_SETFL, O_NONBLOCK);
		ok = attach(network, child, &pipes, error);
	}
	for (size_t i = 0; i < sizeof(pipes) / sizeof(int); i++)
		cleanup_close(&all[i]);
	if (ok)
		network->loaded = render_nft_change(error->arena, &plan->inet.host);
	else
		network_end(network);
	return ok;
}

void network_watched(const struct network *network, int fds[NETWORK_WATCHED])
{
	fds[0] = network->pasta.end;
	fds[1] = network->relay.end;
	fds[2] = network->changes;
}

// The agent may have the terminal in raw mode: a line needs its own carriage return.
static void tell_user(const char *why)
{
	dprintf(STDERR_FILENO,
		"\r\nclaudebox: the network is gone: %s. The box goes on without; start again to "
		"have one.\r\n",
		why);
}

// Better no network than one without its rules.
static void cut(struct network *network, const char *why)
{
	end_helper(&network->pasta);
	network->lost = true;
	tell_user(why);
}

static bool load_change(const struct network *network, const char *rules)
{
	CLEANUP_FD int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t nft = start_rules(network, rules, -1, nothing);

	return nft > 0 && await_rules(nft);
}

// Follows the host to its new addresses. The rules are loaded in one piece: there is no moment without.
static void follow_changes(struct network *network)
{
	struct network_facts facts = { 0 };
	struct arena arena = { 0 };
	char drain[8192];
	plan_ranges ranges;
	const char *rules;

	while (recv(network->changes, drain, sizeof(drain), MSG_DONTWAIT) > 0 || errno == ENOBUFS)
		;
	if (!network->pasta.pid)
		return;
	if (!probe_ranges(&facts, &arena)) {
		cut(network, "the host's new addresses cannot be read");
		arena_free(&arena);
		return;
	}
	ranges = plan_host_ranges(&arena, &facts.ranges);
	rules = render_nft_change(&arena, &ranges);
	if (!str_equal(rules, network->loaded)) {
		if (load_change(network, rules))
			network->loaded = arena_strdup(network->arena, rules);
		else
			cut(network, "the host's new addresses could not be refused");
	}
	arena_free(&arena);
}

void network_take(struct network *network, const bool ready[NETWORK_WATCHED])
{
	if (ready[0])
		cut(network, "pasta has ended");
	// Without names there is next to nothing to do on it.
	if (ready[1]) {
		end_helper(&network->relay);
		cut(network, "the relay for names has ended");
	}
	if (ready[2])
		follow_changes(network);
}

// What ended together with the box is seen late.
bool network_was_lost(struct network *network)
{
	struct pollfd wait[] = { { .fd = network->pasta.end, .events = POLLIN },
				 { .fd = network->relay.end, .events = POLLIN } };

	if (poll(wait, ARRAY_SIZE(wait), 0) > 0)
		network_take(network,
			     (const bool[]){ wait[0].revents != 0, wait[1].revents != 0, false });
	return network->lost;
}

bool network_refused(const struct network *network, struct arena *arena,
		     struct refusals *ret_refusals)
{
	static const char *const words[] = {
		"nft", "-j", "list", "table", "inet", "claudebox", NULL
	};
	CLEANUP_FD int file = memfd_create("counters", MFD_CLOEXEC);
	CLEANUP_FD int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t parent = getpid();
	struct stat status;
	char *text;
	pid_t pid;

	if (file < 0 || (pid = fork()) < 0)
		return false;
	if (pid == 0) {
		become_child(parent, nothing, file, nothing);
		if (namespace_enter(network->user_namespace, network->net_namespace))
			execute(network->plan->inet.nft, words);
		_exit(EXIT_NOT_STARTED);
	}
	if (!await_rules(pid) || fstat(file, &status) < 0 || status.st_size > REPORT_LIMIT)
		return false;
	text = arena_alloc(arena, (size_t)status.st_size + 1);
	return pread(file, text, (size_t)status.st_size, 0) == status.st_size &&
	       refused_parse(arena, text, ret_refusals);
}

void network_end(struct network *network)
{
	end_helper(&network->pasta);
	end_helper(&network->relay);
	cleanup_close(&network->changes);
	cleanup_close(&network->net_namespace);
	cleanup_close(&network->user_namespace);
}
