// SPDX-License-Identifier: MIT
// Asks the Nix daemon whether it trusts us, beside the rest of the probe.
//
// Theory of operation: a user whom the daemon trusts can make it run anything as root, so such a user's box must not reach
// it. Since protocol 1.35 the daemon tells at the end of its greeting. Everything that a client says until then does not depend
// on the answers, so it is sent at once, and the answer is read when the rest of the probe is done. An older daemon, or
// one that is not running yet, goes by its settings, which we can read as well.
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

enum { ANSWER_MS = 2000, SETTINGS_LIMIT = 1024 * 1024 };

// A daemon that systemd starts has root's home as its own, too; what lies there, nobody else can read.
static const char *const settings_files[] = { "/etc/nix/nix.conf", "/etc/xdg/nix/nix.conf" };

struct nix_question probe_nix_start(void)
{
	static const struct sockaddr_un address = { .sun_family = AF_UNIX,
						    .sun_path = NIX_DAEMON "/socket" };
	struct nix_question question = { .asked = true, .socket = -1 };
	CLEANUP_FD int fd = -1;
	unsigned char hello[NIX_HELLO_SIZE];

	if (getuid() == 0)
		return question;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		// These say that nobody is there, or not for us: then its settings tell what it will be like.
		question.doubtful = errno != ENOENT && errno != ECONNREFUSED && errno != EACCES;
		return question;
	}
	nix_make_hello(hello);
	question.doubtful = send(fd, hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello);
	question.socket = take_fd(&fd);
	return question;
}

static enum nix_answer read_answer(int fd)
{
	unsigned char bytes[NIX_GREETING_LIMIT];
	enum nix_answer answer = NIX_ANSWER_MORE;
	int64_t start = clock_monotonic_ms();
	size_t size = 0;

	while (answer == NIX_ANSWER_MORE && size < sizeof(bytes)) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		int left = clock_left_ms(start, ANSWER_MS);
		ssize_t got;

		if (left <= 0 || poll(&wait, 1, left) <= 0)
			break;
		got = recv(fd, bytes + size, sizeof(bytes) - size, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) // it closes when we are not among its users
			break;
		size += (size_t)got;
		answer = nix_read_greeting(bytes, size);
	}
	return answer;
}

// A daemon of our own builds as us.
static bool is_ours(int fd, uid_t uid)
{
	struct ucred daemon;
	socklen_t size = sizeof(daemon);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &daemon, &size) < 0 || daemon.uid == uid;
}

static const char *read_settings(struct arena *arena, const char *path, bool *ret_missing)
{
	const char *text = file_read(arena, path, SETTINGS_LIMIT, READ_FOLLOW);

	*ret_missing = !text && access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR);
	return text;
}

// The daemon goes by the group's list and by the group that we have; being in it in any way counts here.
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

static enum nix_trust trust_by_settings(const struct nix_settings *settings,
					const struct facts *facts)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", facts->uid); // of a user without a name
	vec_each(entry, &settings->trusted_users) {
		if (str_equal(*entry, "*") || str_equal(*entry, facts->user) ||
		    str_equal(*entry, number) ||
		    (**entry == '@' && in_group(*entry + 1, facts->user)))
			return NIX_TRUST_YES;
	}
	return settings->doubtful ? NIX_TRUST_UNKNOWN : NIX_TRUST_NO;
}

void probe_nix_finish(struct nix_question *question, struct facts *facts, struct arena *arena)
{
	CLEANUP_FD int fd = -1;
	struct nix_settings settings = nix_default_settings;
	enum nix_answer answer = NIX_ANSWER_NONE;
	struct nix_facts *nix = &facts->nix;

	if (!facts_file(facts, NIX_DAEMON))
		return;
	if (!question->asked)
		*question = probe_nix_start();
	fd = take_fd(&question->socket);
	for (size_t i = 0; i < ARRAY_SIZE(settings_files); i++)
		nix_read_settings(&settings, arena, settings_files[i], read_settings);
	nix->unsandboxed = nix_unsandboxed(&settings);
	nix->ours = fd >= 0 && is_ours(fd, facts->uid);
	if (question->doubtful)
		answer = NIX_ANSWER_BAD;
	else if (fd >= 0)
		answer = read_answer(fd);
	if (facts->uid == 0 || answer == NIX_ANSWER_TRUSTED)
		nix->trust = NIX_TRUST_YES;
	else if (answer == NIX_ANSWER_NOT_TRUSTED)
		nix->trust = NIX_TRUST_NO;
	else if (answer == NIX_ANSWER_NONE)
		nix->trust = trust_by_settings(&settings, facts);
}
