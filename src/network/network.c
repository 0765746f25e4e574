// SPDX-License-Identifier: MIT
// Connects a waiting box to the internet and keeps its rules up to date.
//
// Theory of operation: when network_start is called, bwrap has created the namespaces, and init, as
// process 1 of the box, waits before it starts the agent.
//   1. A child enters the box's network namespace, configures it, and executes nft to load the
//      rules (helper_start_nft).
//   2. Meanwhile pasta connects the namespace from outside (helper_start_pasta), and the DNS relay
//      starts (helper_start_dns_relay). It confines itself before it receives the first message, so
//      network_start does not wait for it.
//   3. network_start returns when the rules are loaded, pasta is ready, and the agent's user
//      namespace is not the owner of the network namespace. Then the caller lets init continue.
// pasta and the DNS relay end with the supervisor, however it ends. While the box runs, a netlink
// socket reports changes of the host's addresses, and update_rules loads new ranges. If that fails,
// the network is disconnected.
#include "network/network.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "network/dns.h"
#include "network/helpers.h"
#include "network/refusals.h"
#include "network/resolvers.h"
#include "plan/facts.h"
#include "plan/network.h"
#include "plan/plan.h"
#include "plan/tables.h"
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

enum { MESSAGES_MAX = 2000 };

// Sets the error "cannot WHAT: …" with the text of errno. Returns false.
static bool set_errno_error(struct error *error, const char *what)
{
	return error_set(error, "cannot %s: %s", what, strerror(errno));
}

// Returns the line of the helpers' messages that explains a failure best: the last one that
// contains "error", or else the last one.
static const char *last_message(struct arena *arena, int messages)
{
	char text[MESSAGES_MAX + 1];
	ssize_t got = read(messages, text, MESSAGES_MAX);
	const char *last = "";

	text[got > 0 ? got : 0] = '\0';
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (!*last || strstr(line, "rror") || !strstr(last, "rror"))
			last = line;
	return *last ? quote_display(arena, last, 200) : "no error message";
}

static bool set_nft_error(struct error *error, int messages)
{
	error_set(error, "network inet: cannot load the nftables rules: %s",
		  last_message(error->arena, messages));
	return error_hint(error, "load the kernel's modules: `sudo modprobe -a nf_tables "
				 "nft_reject_inet`; then try `claudebox --check --network inet`");
}

static bool set_pasta_error(struct error *error, int messages)
{
	error_set(error, "network inet: pasta cannot connect the box: %s",
		  last_message(error->arena, messages));
	return error_hint(error, "try `claudebox --check --network inet`, or start a box without "
				 "network: --network none");
}

// Waits until pasta writes its process id. Returns false after a timeout or if pasta or the box
// ends before.
static bool wait_for_pasta(const struct network *network, int out)
{
	struct pollfd wait[] = { { .fd = out, .events = POLLIN },
				 { .fd = network->box_end, .events = POLLIN } };
	char number[32];

	return poll(wait, ARRAY_SIZE(wait), HELPER_TIMEOUT_MS) > 0 && wait[0].revents &&
	       read(out, number, sizeof(number)) > 0;
}

static bool box_has_ended(const struct network *network)
{
	struct pollfd wait = { .fd = network->box_end, .events = POLLIN };

	return poll(&wait, 1, 0) > 0;
}

static bool open_namespaces(struct network *network, pid_t child, struct arena *arena,
			    struct error *error)
{
	network->net_namespace =
		open(arena_printf(arena, "/proc/%d/ns/net", (int)child), O_RDONLY | O_CLOEXEC);
	if (network->net_namespace >= 0)
		network->user_namespace = ioctl(network->net_namespace, NS_GET_USERNS);
	if (network->user_namespace < 0)
		return set_errno_error(error, "open the box's network namespace");
	fcntl(network->user_namespace, F_SETFD, FD_CLOEXEC);
	return true;
}

// Waits until bwrap has moved process 1 of the box into a user namespace below the one that owns
// the network namespace. Otherwise the agent could change the rules.
static bool wait_for_user_namespace(const struct network *network, pid_t child, struct error *error)
{
	const char *path = arena_printf(error->arena, "/proc/%d/ns/user", (int)child);

	for (int i = 0; i < HELPER_TIMEOUT_MS; i++) {
		static const struct timespec pause = { .tv_nsec = 1000000 };
		struct stat owner;
		struct stat agent;

		if (fstat(network->user_namespace, &owner) < 0 || stat(path, &agent) < 0 ||
		    box_has_ended(network))
			return set_errno_error(error, "inspect the box's user namespace");
		if (owner.st_ino != agent.st_ino)
			return true;
		nanosleep(&pause, NULL);
	}
	error_set(error, "network inet: the agent's user namespace owns the network namespace");
	return error_hint(error, "`claudebox --check` tests for the usual causes");
}

// Returns a netlink socket that reports changes of the host's addresses and routes; -1 with errno.
static int open_host_changes(void)
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

static bool load_ranges(const struct network *network, const char *rules)
{
	CLEANUP_FD int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t nft = helper_start_nft(network, rules, -1, null);

	return nft > 0 && helper_wait(nft);
}

// Loads the host's current addresses and networks into the rules, if they have changed. nft
// replaces the sets in one transaction, so at no time is an address allowed that should be refused.
// Returns false and sets update_problem if that fails; the caller must then disconnect the network.
static bool update_rules(struct network *network)
{
	struct network_facts facts = { 0 };
	struct arena arena = { 0 };
	char drain[4096];
	plan_ranges ranges;
	const char *rules;

	while (recv(network->host_changes, drain, sizeof(drain), MSG_DONTWAIT) > 0 ||
	       errno == ENOBUFS)
		;
	if (probe_ranges(&facts, &arena)) {
		ranges = plan_host_ranges(&arena, &facts.ranges);
		rules = render_nft_change(&arena, &ranges);
		if (!str_equal(rules, network->loaded_ranges)) {
			if (load_ranges(network, rules))
				network->loaded_ranges = arena_strdup(network->arena, rules);
			else
				network->update_problem =
					"nft cannot load the host's new addresses";
		}
	} else {
		network->update_problem = "the host's new addresses cannot be read";
	}
	arena_free(&arena);
	return !network->update_problem;
}

// Checks that the published ports are free. pasta would not report a port that is in use.
static bool check_published_ports(const struct plan *plan, struct error *error)
{
	vec_each(port, &plan->config->published_ports) {
		CLEANUP_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		struct sockaddr_in address = { .sin_family = AF_INET,
					       .sin_port = htons((uint16_t)port->number),
					       .sin_addr = { htonl(INADDR_LOOPBACK) } };
		const int on = 1;

		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
		    listen(fd, 1) < 0) {
			bool privileged = errno == EACCES;

			error_set(error, "cannot publish port %u: %s", port->number,
				  strerror(errno));
			return error_hint(error, privileged
							 ? "only root may use ports below 1024: "
							   "publish another port"
							 : "stop the program that listens there "
							   "(`ss -ltnp`), or publish another port");
		}
	}
	return true;
}

static void close_descriptor(int *fd)
{
	cleanup_close(fd);
	*fd = -1;
}

// Starts the DNS relay; network->dns_relay has no descriptor if that fails.
static void start_dns_relay(struct network *network, const int sockets[2])
{
	CLEANUP_FD int channel = resolvers_open(&network->resolvers, RESOLVER_FILE, DNS_PORT);

	if (channel < 0)
		return;
	resolvers_update(&network->resolvers);
	network->dns_relay = helper_open(helper_start_dns_relay(network, sockets, channel));
}

// Starts the helpers and waits until the box is connected. Returns false with an error.
static bool connect_box(struct network *network, pid_t child, struct error *error)
{
	struct network_pipes *pipes = &network->pipes;
	int sockets[2];
	pid_t nft;

	nft = helper_start_nft(network, network->rules, pipes->channel[1], pipes->messages[1]);
	close_descriptor(&pipes->channel[1]);
	if (nft < 0)
		return set_errno_error(error, "start a helper");
	// bwrap and pasta must not set up the loopback interface at the same time.
	if (!helper_receive_prepared(pipes->channel[0])) {
		helper_wait(nft);
		return set_nft_error(error, pipes->messages[0]);
	}
	network->pasta = helper_open(helper_start_pasta(network, error->arena, child,
							pipes->ready[1], pipes->messages[1]));
	close_descriptor(&pipes->ready[1]);
	if (!helper_receive_sockets(pipes->channel[0], sockets)) {
		helper_wait(nft);
		return set_nft_error(error, pipes->messages[0]);
	}
	start_dns_relay(network, sockets);
	close(sockets[0]);
	close(sockets[1]);
	if (!helper_wait(nft))
		return set_nft_error(error, pipes->messages[0]);
	if (network->pasta.end < 0 || network->dns_relay.end < 0)
		return set_errno_error(error, "start a helper");
	// The host's addresses may have changed since the plan was built.
	if (!update_rules(network))
		return error_set(error, "network inet: %s", network->update_problem);
	return (wait_for_pasta(network, pipes->ready[0]) ||
		set_pasta_error(error, pipes->messages[0])) &&
	       wait_for_user_namespace(network, child, error);
}

bool network_prepare(struct network *network, const struct plan *plan, struct error *error)
{
	struct network_pipes *pipes = &network->pipes;

	*network = (struct network){ .plan = plan,
				     .arena = error->arena,
				     .user_namespace = -1,
				     .net_namespace = -1,
				     .box_end = -1,
				     .host_changes = open_host_changes(),
				     .rules = render_nft(plan, error->arena),
				     .loaded_ranges =
					     render_nft_change(error->arena, &plan->inet.host),
				     .pipes = { { -1, -1 }, { -1, -1 }, { -1, -1 } },
				     .pasta = { .end = -1 },
				     .dns_relay = { .end = -1 },
				     .resolvers = { .channel = -1 } };
	if (network->host_changes < 0)
		return set_errno_error(error, "open a netlink socket");
	if (!check_published_ports(plan, error))
		return false;
	if (pipe2(pipes->messages, O_CLOEXEC) < 0 || pipe2(pipes->ready, O_CLOEXEC) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pipes->channel) < 0)
		return set_errno_error(error, "create a pipe");
	fcntl(pipes->messages[0], F_SETFL, O_NONBLOCK);
	return true;
}

static void close_pipes(struct network_pipes *pipes)
{
	for (int i = 0; i < 2; i++) {
		close_descriptor(&pipes->messages[i]);
		close_descriptor(&pipes->ready[i]);
		close_descriptor(&pipes->channel[i]);
	}
}

bool network_start(struct network *network, pid_t child, struct error *error)
{
	bool ok = open_namespaces(network, child, error->arena, error) &&
		  connect_box(network, child, error);

	close_pipes(&network->pipes);
	return ok;
}

void network_watched(const struct network *network, int fds[NETWORK_WATCHED])
{
	fds[WATCHED_PASTA] = network->pasta.end;
	fds[WATCHED_DNS_RELAY] = network->dns_relay.end;
	fds[WATCHED_RESOLVERS] = network->resolvers.channel;
	fds[WATCHED_HOST_CHANGES] = network->disconnected ? -1 : network->host_changes;
}

static void report_disconnect(const char *why)
{
	dprintf(STDERR_FILENO, "\r\n"); // the agent may have left the cursor anywhere
	output_message("claudebox",
		       "network disconnected: %s; the box continues without a network until "
		       "claudebox is started again",
		       why);
}

// Stops pasta, so that the box has no network at all, and reports that to the user.
static void disconnect(struct network *network, const char *why)
{
	helper_stop(&network->pasta);
	network->disconnected = true;
	report_disconnect(why);
}

void network_handle_events(struct network *network, const bool ready[NETWORK_WATCHED])
{
	if (ready[WATCHED_PASTA])
		disconnect(network, "pasta has ended");
	// Without host names hardly any program can use the network.
	if (ready[WATCHED_DNS_RELAY]) {
		helper_stop(&network->dns_relay);
		disconnect(network, "the DNS relay has ended");
	}
	if (ready[WATCHED_RESOLVERS])
		resolvers_handle_request(&network->resolvers);
	// A resolver's interface may have a new index.
	if (ready[WATCHED_HOST_CHANGES])
		resolvers_update(&network->resolvers);
	if (ready[WATCHED_HOST_CHANGES] && !network->disconnected && !update_rules(network))
		disconnect(network, network->update_problem);
}

bool network_renew(struct network *network)
{
	resolvers_update(&network->resolvers);
	if (!network->disconnected && !update_rules(network))
		disconnect(network, network->update_problem);
	return !network->disconnected;
}

// Polls once more, because a helper may have ended together with the box.
bool network_was_lost(struct network *network)
{
	struct pollfd wait[] = { { .fd = network->pasta.end, .events = POLLIN },
				 { .fd = network->dns_relay.end, .events = POLLIN } };

	if (poll(wait, ARRAY_SIZE(wait), 0) > 0)
		network_handle_events(network,
				      (const bool[NETWORK_WATCHED]){
					      [WATCHED_PASTA] = wait[0].revents != 0,
					      [WATCHED_DNS_RELAY] = wait[1].revents != 0 });
	return network->disconnected;
}

bool network_refused(const struct network *network, struct arena *arena,
		     struct refusals *ret_refusals)
{
	const char *counters = helper_read_counters(network, arena);

	return counters && refused_parse(arena, counters, ret_refusals);
}

void network_end(struct network *network)
{
	helper_stop(&network->pasta);
	helper_stop(&network->dns_relay);
	resolvers_close(&network->resolvers);
	close_pipes(&network->pipes);
	close_descriptor(&network->host_changes);
	close_descriptor(&network->net_namespace);
	close_descriptor(&network->user_namespace);
}
