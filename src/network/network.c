// SPDX-License-Identifier: MIT
// Connects a waiting box to the internet, and keeps watch over it.
//
// Theory of operation: bwrap has made the namespaces, and init holds the agent back. A child of ours enters them, readies
// them and becomes nft, which loads the rules; pasta attaches from outside at the same time; a relay for names is
// forked. Only when the rules are in force and pasta is ready does the caller let the agent start. pasta and the relay
// die with us, whatever ends us. Later the kernel tells when the host's addresses change: the rules follow. If they
// cannot, the network is cut.
#include "network/network.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "network/helpers.h"
#include "network/refusals.h"
#include "plan/facts.h"
#include "plan/network.h"
#include "plan/plan.h"
#include "probe/network.h"
#include "render/network.h"
#include "sys/cleanup.h"
#include "sys/output.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

enum { SAID = 2000 };

static bool fail(struct error *error, const char *what)
{
	return error_set(error, "cannot %s: %s", what, strerror(errno));
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

	error_hint(error,
		   "is nf_tables in the kernel? `sudo modprobe -a nf_tables nft_reject_inet`; "
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

	return poll(&wait, 1, HELPER_LIMIT_MS) > 0 && read(out, number, sizeof(number)) > 0;
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

	for (int i = 0; i < HELPER_LIMIT_MS; i++) {
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

static bool load_change(const struct network *network, const char *rules)
{
	CLEANUP_FD int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t nft = helper_start_rules(network, rules, -1, nothing);

	return nft > 0 && helper_await(nft);
}

// Follows the host to its new addresses. The rules are loaded in one piece: there is no moment without. False: the
// network must go.
static bool follow_changes(struct network *network)
{
	struct network_facts facts = { 0 };
	struct arena arena = { 0 };
	char drain[4096];
	plan_ranges ranges;
	const char *rules;

	while (recv(network->changes, drain, sizeof(drain), MSG_DONTWAIT) > 0 || errno == ENOBUFS)
		;
	if (probe_ranges(&facts, &arena)) {
		ranges = plan_host_ranges(&arena, &facts.ranges);
		rules = render_nft_change(&arena, &ranges);
		if (!str_equal(rules, network->loaded)) {
			if (load_change(network, rules))
				network->loaded = arena_strdup(network->arena, rules);
			else
				network->problem = "the host's new addresses could not be refused";
		}
	} else {
		network->problem = "the host's new addresses cannot be read";
	}
	arena_free(&arena);
	return !network->problem;
}

// A published port that is taken would silently stay the other program's.
static bool ports_free(const struct plan *plan, struct error *error)
{
	vec_each(port, &plan->inet.published_ports) {
		CLEANUP_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		struct sockaddr_in address = { .sin_family = AF_INET,
					       .sin_port = htons((uint16_t)port->number),
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
			return error_set(error, "cannot publish port %u: %s", port->number,
					 strerror(errno));
		}
	}
	return true;
}

static void close_end(int *fd)
{
	cleanup_close(fd);
	*fd = -1;
}

static bool attach(struct network *network, pid_t child, struct error *error)
{
	struct network_pipes *pipes = &network->pipes;
	int sockets[2];
	pid_t nft;

	nft = helper_start_rules(network, network->rules, pipes->channel[1], pipes->messages[1]);
	close_end(&pipes->channel[1]);
	if (nft < 0)
		return fail(error, "start a helper");
	// Not before: bwrap and pasta must not both bring the loopback up.
	if (!helper_receive_go(pipes->channel[0])) {
		helper_await(nft);
		return rules_failed(error, pipes->messages[0]);
	}
	network->pasta = helper_of(helper_start_pasta(network, error->arena, child, pipes->ready[1],
						      pipes->messages[1]));
	close_end(&pipes->ready[1]);
	if (!helper_receive_sockets(pipes->channel[0], sockets)) {
		helper_await(nft);
		return rules_failed(error, pipes->messages[0]);
	}
	network->relay = helper_of(helper_start_relay(sockets));
	close(sockets[0]);
	close(sockets[1]);
	if (!helper_await(nft))
		return rules_failed(error, pipes->messages[0]);
	if (network->pasta.end < 0 || network->relay.end < 0)
		return fail(error, "start a helper");
	// What has changed since the plan was made.
	if (!follow_changes(network))
		return error_set(error, "network inet: %s", network->problem);
	return (await_pasta(pipes->ready[0]) || pasta_failed(error, pipes->messages[0])) &&
	       await_confined(network, child, error);
}

bool network_prepare(struct network *network, const struct plan *plan, struct error *error)
{
	struct network_pipes *pipes = &network->pipes;

	*network = (struct network){ .plan = plan,
				     .arena = error->arena,
				     .user_namespace = -1,
				     .net_namespace = -1,
				     .changes = open_changes(),
				     .rules = render_nft(plan, error->arena),
				     .loaded = render_nft_change(error->arena, &plan->inet.host),
				     .pipes = { { -1, -1 }, { -1, -1 }, { -1, -1 } },
				     .pasta = { .end = -1 },
				     .relay = { .end = -1 } };
	if (network->changes < 0)
		return fail(error, "watch the host's addresses");
	if (!ports_free(plan, error))
		return false;
	if (pipe2(pipes->messages, O_CLOEXEC) < 0 || pipe2(pipes->ready, O_CLOEXEC) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pipes->channel) < 0)
		return fail(error, "make a pipe");
	fcntl(pipes->messages[0], F_SETFL, O_NONBLOCK);
	return true;
}

static void close_pipes(struct network_pipes *pipes)
{
	for (int i = 0; i < 2; i++) {
		close_end(&pipes->messages[i]);
		close_end(&pipes->ready[i]);
		close_end(&pipes->channel[i]);
	}
}

bool network_start(struct network *network, pid_t child, struct error *error)
{
	bool ok = find_namespaces(network, child, error->arena, error) &&
		  attach(network, child, error);

	close_pipes(&network->pipes);
	return ok;
}

void network_watched(const struct network *network, int fds[NETWORK_WATCHED])
{
	fds[0] = network->pasta.end;
	fds[1] = network->relay.end;
	fds[2] = network->lost ? -1 : network->changes;
}

// Wherever the agent has the cursor.
static void tell_user(const char *why)
{
	dprintf(STDERR_FILENO, "\r\n");
	output_message("claudebox",
		       "the network is gone: %s. The box goes on without; start again to have one.",
		       why);
}

// Better no network than one without its rules.
static void cut(struct network *network, const char *why)
{
	helper_end(&network->pasta);
	network->lost = true;
	tell_user(why);
}

void network_take(struct network *network, const bool ready[NETWORK_WATCHED])
{
	if (ready[0])
		cut(network, "pasta has ended");
	// Without names there is next to nothing to do on it.
	if (ready[1]) {
		helper_end(&network->relay);
		cut(network, "the relay for names has ended");
	}
	if (ready[2] && !network->lost && !follow_changes(network))
		cut(network, network->problem);
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
	const char *counters = helper_read_counters(network, arena);

	return counters && refused_parse(arena, counters, ret_refusals);
}

void network_end(struct network *network)
{
	helper_end(&network->pasta);
	helper_end(&network->relay);
	close_pipes(&network->pipes);
	close_end(&network->changes);
	close_end(&network->net_namespace);
	close_end(&network->user_namespace);
}
