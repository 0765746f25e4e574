// SPDX-License-Identifier: MIT
// Asks the Nix daemon whether it trusts the user, in parallel with the other probes.
//
// Theory of operation: a trusted user can make the daemon run any command as root, so the box of
// such a user must not reach the daemon. Since protocol 1.35 the daemon reports at the end of its
// greeting whether it trusts the client. The client's messages up to that point do not depend on
// the daemon's. So probe_nix_start sends them all at once, and probe_nix_finish reads the greeting
// after the other probes. For an older daemon, or one that is not running yet, the result comes
// from Nix's settings files.
#include "probe/nix/daemon.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/nix/daemon.h"
#include "plan/tables.h"
#include "sys/accounts.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

enum { ANSWER_TIMEOUT_MS = 2000, SETTINGS_MAX = 1024 * 1024 };

// The daemon also reads settings in root's home directory, which ordinary users cannot read.
static const char *const settings_files[] = { "/etc/nix/nix.conf", "/etc/xdg/nix/nix.conf" };

struct nix_query probe_nix_start(void)
{
	static const struct sockaddr_un address = { .sun_family = AF_UNIX,
						    .sun_path = NIX_DAEMON "/socket" };
	struct nix_query query = { .started = true, .socket = -1 };
	CLEANUP_FD int fd = -1;
	unsigned char hello[NIX_HELLO_SIZE];

	if (getuid() == 0)
		return query;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		// With these errors the daemon does not run, or this user cannot reach it. Then
		// its settings decide.
		query.failed = errno != ENOENT && errno != ECONNREFUSED && errno != EACCES;
		return query;
	}
	nix_render_hello(hello);
	query.failed = send(fd, hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello);
	query.socket = take_fd(&fd);
	return query;
}

static enum nix_greeting read_greeting(int fd)
{
	unsigned char bytes[NIX_GREETING_MAX];
	enum nix_greeting greeting = NIX_GREETING_INCOMPLETE;
	int64_t start = clock_monotonic_ms();
	size_t size = 0;

	while (greeting == NIX_GREETING_INCOMPLETE && size < sizeof(bytes)) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		int left = clock_left_ms(start, ANSWER_TIMEOUT_MS);
		ssize_t got;

		if (left <= 0 || poll(&wait, 1, left) <= 0)
			break;
		got = recv(fd, bytes + size, sizeof(bytes) - size, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) // the daemon closes the connection if the user is not allowed
			break;
		size += (size_t)got;
		greeting = nix_parse_greeting(bytes, size);
	}
	return greeting;
}

// Returns whether the daemon runs as this user, so that it builds as this user; true if unknown.
static bool runs_as_user(int fd, uid_t uid)
{
	struct ucred daemon;
	socklen_t size = sizeof(daemon);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &daemon, &size) < 0 || daemon.uid == uid;
}

static const char *read_settings(struct arena *arena, const char *path, bool *ret_missing)
{
	const char *text = file_read(arena, path, SETTINGS_MAX, READ_FOLLOW);

	*ret_missing = !text && access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR);
	return text;
}

// Returns whether the user is in the group: by its member list, or by the groups of this process.
static bool in_group(const char *name, const char *user)
{
	const struct group *group = group_by_name(name);
	gid_t groups[256];
	int count = getgroups(ARRAY_SIZE(groups), groups);

	if (!group)
		return false;
	if (count < 0 || group->gr_gid == getgid() || group->gr_gid == getegid())
		return true;
	for (int i = 0; i < count; i++)
		if (groups[i] == group->gr_gid)
			return true;
	for (char **member = group->gr_mem; *member; member++)
		if (str_equal(*member, user))
			return true;
	return false;
}

// Returns what the setting trusted-users means for this user.
static enum nix_trust trust_by_settings(const struct nix_settings *settings,
					const struct facts *facts)
{
	char number[16];

	// The daemon uses the number of a user without a name.
	snprintf(number, sizeof(number), "%u", facts->uid);
	vec_each(entry, &settings->trusted_users) {
		if (str_equal(*entry, "*") || str_equal(*entry, facts->user) ||
		    str_equal(*entry, number) ||
		    (**entry == '@' && in_group(*entry + 1, facts->user)))
			return NIX_TRUST_YES;
	}
	return settings->incomplete ? NIX_TRUST_UNKNOWN : NIX_TRUST_NO;
}

void probe_nix_finish(struct nix_query *query, struct facts *facts, struct arena *arena)
{
	CLEANUP_FD int fd = -1;
	struct nix_settings settings = nix_default_settings;
	enum nix_greeting greeting = NIX_GREETING_UNKNOWN;
	struct nix_facts *nix = &facts->nix;

	if (!facts_file(facts, NIX_DAEMON))
		return;
	if (!query->started)
		*query = probe_nix_start();
	fd = take_fd(&query->socket);
	for (size_t i = 0; i < ARRAY_SIZE(settings_files); i++)
		nix_parse_settings(&settings, arena, settings_files[i], read_settings);
	nix->unsandboxed = nix_unsandboxed(&settings);
	nix->ours = fd >= 0 && runs_as_user(fd, facts->uid);
	if (query->failed)
		greeting = NIX_GREETING_INVALID;
	else if (fd >= 0)
		greeting = read_greeting(fd);
	if (facts->uid == 0 || greeting == NIX_GREETING_TRUSTED)
		nix->trust = NIX_TRUST_YES;
	else if (greeting == NIX_GREETING_NOT_TRUSTED)
		nix->trust = NIX_TRUST_NO;
	else if (greeting == NIX_GREETING_UNKNOWN)
		nix->trust = trust_by_settings(&settings, facts);
}
