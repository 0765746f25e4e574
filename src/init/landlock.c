// SPDX-License-Identifier: MIT
// Applies Landlock restrictions to init and to every process of the box.
//
// Theory of operation: abstract Unix sockets belong to the network namespace, which may be the
// host's, and signals have other ways than a process id (F_SETOWN). Landlock's scopes (Linux 6.12)
// refuse both toward processes outside of the box. A socket by path is reachable in every mounted
// directory, also on a read-only mount. Since Linux 7.1 Landlock can refuse to connect or send to
// a socket that no process of the box created. Sockets that appear later are covered too. A ruleset
// about files forbids mounts, which only a nested box needs, and forbids to rename and link between
// directories unless a rule allows it.
#include "init/landlock.h"

#include "freestanding/syscall.h"
#include "freestanding/text.h"

#include <asm/errno.h>
#include <linux/fcntl.h>

// The headers may be older than these.
enum {
	SCOPE_ABSTRACT_UNIX_SOCKET = 1, // ABI 6
	SCOPE_SIGNAL = 2,
	RIGHT_REFER = 1 << 13,        // ABI 2: rename and link between directories
	RIGHT_RESOLVE_UNIX = 1 << 16, // ABI 9: connect and send to a socket by path
	RULE_PATH_BENEATH = 1,
};

// The plan mounts it only if the box may use the Nix daemon.
#define NIX_DAEMON_SOCKETS "/nix/var/nix/daemon-socket"

// Allows Landlock rights below a directory; one that does not exist needs no rule. Returns -errno
// on failure.
static long allow_below(long ruleset, const char *path, unsigned long long rights)
{
	struct {
		unsigned long long rights;
		int parent;
	} __attribute__((packed)) rule = { .rights = rights };
	long error;

	rule.parent = (int)call(__NR_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
	if (rule.parent < 0)
		return rule.parent == -ENOENT ? 0 : rule.parent;
	error = call(__NR_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0);
	call(__NR_close, rule.parent, 0, 0, 0);
	return error;
}

long apply_landlock(bool sockets)
{
	struct {
		unsigned long long files, network, scoped;
	} rules = { .files = sockets ? RIGHT_REFER | RIGHT_RESOLVE_UNIX : 0,
		    .scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL };
	long fd = call(__NR_landlock_create_ruleset, &rules, sizeof(rules), 0, 0);
	long error = fd;

	if (fd >= 0 && sockets)
		error = allow_below(fd, "/", RIGHT_REFER);
	if (error >= 0 && sockets)
		error = allow_below(fd, NIX_DAEMON_SOCKETS, RIGHT_RESOLVE_UNIX);
	if (error >= 0)
		error = call(__NR_landlock_restrict_self, fd, 0, 0, 0);
	if (fd >= 0)
		call(__NR_close, fd, 0, 0, 0);
	return error;
}
