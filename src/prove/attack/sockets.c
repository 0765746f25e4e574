// SPDX-License-Identifier: MIT
// Attacks on Unix sockets of the host.
#include "freestanding/memory.h"
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/format.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <asm/errno.h>
#include <linux/fcntl.h>
#include <linux/un.h>

enum {
	UNIX = 1,
	STREAM = 1,
	DATAGRAM = 2,
	SOCKET_FLAGS = 0x80000 | 0x800, // SOCK_CLOEXEC | SOCK_NONBLOCK
};

// Writes a path that fits a socket address: a long one goes through a descriptor of its directory.
static const char *shorten_path(char *buffer, size_t size, const char *path)
{
	size_t last = text_length(path);
	char parent[PATH_SIZE];
	long directory;

	if (last < size)
		return text_format(buffer, size, "%s", path);
	while (last && path[last] != '/')
		last--;
	memcpy(parent, path, last);
	parent[last] = 0;
	directory = open_file(parent, O_PATH | O_DIRECTORY);
	return text_format(buffer, size, "/proc/self/fd/%d%s", (int)directory, path + last);
}

// Connects to a Unix socket. Returns -errno on failure.
static long connect_unix(const char *name, bool abstract, int type)
{
	struct sockaddr_un address = { .sun_family = UNIX };
	size_t room = sizeof(address.sun_path) - abstract;
	long file = call(__NR_socket, UNIX, type | SOCKET_FLAGS, 0, 0);
	long result;

	if (file < 0)
		return file;
	if (abstract)
		text_format(address.sun_path + 1, room, "%s", name);
	else
		shorten_path(address.sun_path, room, name);
	// An abstract name has a NUL before it, a path has one after it.
	result = call(__NR_connect, file, &address,
		      sizeof(address.sun_family) + 1 + text_length(address.sun_path + abstract), 0);
	close_file(file);
	// These errors mean that the socket exists: its type differs, or its queue is full.
	return !abstract && (result == -EPROTOTYPE || result == -EAGAIN) ? 0 : result;
}

static enum verdict connect_canaries(enum canary_kind kind, bool abstract, int type)
{
	struct tries tries = { 0 };

	for (const struct canary *socket = NULL; (socket = next_canary(socket, kind));)
		if (!failed(&tries, connect_unix(socket->field[0], abstract, type)))
			return leaked("connected to %s%s", abstract ? "@" : "", socket->field[0]);
	return all_failed(&tries);
}

enum verdict try_SOCKETS_ABSTRACT(void)
{
	return connect_canaries(CANARY_ABSTRACT, true, STREAM);
}

enum verdict try_SOCKETS_ABSTRACT_DATAGRAM(void)
{
	return connect_canaries(CANARY_ABSTRACT_DATAGRAM, true, DATAGRAM);
}

enum verdict try_SOCKETS_LIST(void)
{
	static char text[131072];
	static const enum canary_kind kinds[] = { CANARY_ABSTRACT, CANARY_ABSTRACT_DATAGRAM,
						  CANARY_UNIX };
	long length = read_text("/proc/net/unix", text, sizeof(text));

	if (length < 0)
		return blocked("%s", error_name(length));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		for (const struct canary *socket = NULL; (socket = next_canary(socket, kinds[i]));)
			if (text_find(text, (size_t)length, socket->field[0]))
				return reached("%s is listed", socket->field[0]);
	return blocked("lists sockets of the box only");
}

enum verdict try_SOCKETS_PATH(void)
{
	return connect_canaries(CANARY_UNIX, false, STREAM);
}

// Connects to a socket in the project. Whether the kernel can block it is known outside.
enum verdict try_SOCKETS_MOUNTED(void)
{
	struct tries tries = { 0 };

	for (const struct canary *socket = NULL;
	     (socket = next_canary(socket, CANARY_MOUNTED_SOCKET));) {
		bool expected = text_equal(socket->field[1], "open");

		if (!failed(&tries, connect_unix(socket->field[0], false, STREAM)))
			return conclude(expected ? VERDICT_OPEN : VERDICT_LEAKED,
					expected ? "this kernel cannot block it"
						 : "connected to a socket in the project");
	}
	return all_failed(&tries);
}

enum verdict try_SOCKETS_PROC_ROOT(void)
{
	struct tries tries = { 0 };
	int pids[MAX_PROCESSES];
	size_t count = list_numbers("/proc", pids, MAX_PROCESSES);
	char path[PATH_SIZE];

	for (const struct canary *socket = NULL; (socket = next_canary(socket, CANARY_UNIX));) {
		text_format(path, sizeof(path), "/proc/self/root%s", socket->field[0]);
		if (!failed(&tries, connect_unix(path, false, STREAM)))
			return leaked("connected to %s", path);
		for (size_t i = 0; i < count; i++) {
			text_format(path, sizeof(path), "/proc/%d/root%s", pids[i],
				    socket->field[0]);
			if (!failed(&tries, connect_unix(path, false, STREAM)))
				return leaked("connected to %s", path);
		}
	}
	return all_failed(&tries);
}

// Connects to each socket of a table; a name that starts with '@' is abstract.
static enum verdict connect_any(struct tries *tries, const char *const *paths, size_t count)
{
	char path[PATH_SIZE];

	for (size_t i = 0; i < count; i++) {
		bool abstract = paths[i][0] == '@';

		expand_path(path, sizeof(path), paths[i] + abstract);
		if (!failed(tries, connect_unix(path, abstract, STREAM)))
			return leaked("connected to %s%s", abstract ? "@" : "", path);
	}
	return all_failed(tries);
}

// Connects to the sockets of ssh -A and ssh-agent: /tmp/ssh-XXXX/agent.N.
static enum verdict search_agents(struct tries *tries)
{
	static char directories[8192];
	static char agents[2048];
	char path[PATH_SIZE];
	long length = list_names("/tmp", directories, sizeof(directories));

	for (const char *s = directories; s < directories + length; s += text_length(s) + 1) {
		long size;

		if (!text_starts(s, "ssh-"))
			continue;
		size = list_names(text_format(path, sizeof(path), "/tmp/%s", s), agents,
				  sizeof(agents));
		for (const char *t = agents; t < agents + size; t += text_length(t) + 1) {
			text_format(path, sizeof(path), "/tmp/%s/%s", s, t);
			if (!failed(tries, connect_unix(path, false, STREAM)))
				return leaked("connected to %s", path);
		}
	}
	return VERDICT_BLOCKED;
}

enum verdict try_SOCKETS_AGENTS(void)
{
	static const char *const paths[] = {
		"/run/user/%d/keyring/ssh",
		"/run/user/%d/keyring/control",
		"/run/user/%d/gcr/ssh",
		"/run/user/%d/ssh-agent.socket",
		"/run/user/%d/openssh_agent",
		"/run/user/%d/gnupg/S.gpg-agent",
		"/run/user/%d/gnupg/S.gpg-agent.ssh",
		"/run/user/%d/gnupg/S.gpg-agent.extra",
		"~/.gnupg/S.gpg-agent",
		"~/.gnupg/S.gpg-agent.ssh",
		"~/.1password/agent.sock",
		"~/.bitwarden-ssh-agent.sock",
	};
	struct tries tries = { 0 };

	for (char **variable = context.environment; *variable; variable++)
		if (text_starts(*variable, "SSH_AUTH_SOCK=") &&
		    !failed(&tries, connect_unix(*variable + 14, false, STREAM)))
			return leaked("connected to SSH_AUTH_SOCK");
	if (search_agents(&tries) == VERDICT_LEAKED)
		return VERDICT_LEAKED;
	return connect_any(&tries, paths, ARRAY_SIZE(paths));
}

enum verdict try_SOCKETS_DESKTOP(void)
{
	static const char *const paths[] = {
		"/run/user/%d/bus",
		"/run/user/%d/wayland-0",
		"/run/user/%d/wayland-1",
		"/run/user/%d/pulse/native",
		"/run/user/%d/pipewire-0",
		"/run/user/%d/at-spi/bus",
		"/run/user/%d/systemd/private",
		"/run/user/%d/systemd/notify",
		"/tmp/.X11-unix/X0",
		"/tmp/.X11-unix/X1",
		"/tmp/.ICE-unix/1",
		"@/tmp/.X11-unix/X0",
		"@/tmp/.X11-unix/X1",
		"@/tmp/.X11-unix/X2",
		"@/tmp/dbus-session",
	};
	struct tries tries = { 0 };

	return connect_any(&tries, paths, ARRAY_SIZE(paths));
}

enum verdict try_SOCKETS_CONTAINERS(void)
{
	static const char *const paths[] = {
		"/run/docker.sock",
		"/var/run/docker.sock",
		"/run/user/%d/docker.sock",
		"~/.docker/run/docker.sock",
		"~/.docker/desktop/docker.sock",
		"/run/podman/podman.sock",
		"/run/user/%d/podman/podman.sock",
		"/run/containerd/containerd.sock",
		"/run/user/%d/containerd/containerd.sock",
		"/run/crio/crio.sock",
		"/run/buildkit/buildkitd.sock",
		"/var/lib/lxd/unix.socket",
		"/var/snap/lxd/common/lxd/unix.socket",
		"/var/lib/incus/unix.socket",
		"/run/libvirt/libvirt-sock",
		"/run/user/%d/libvirt/libvirt-sock",
		"/run/k3s/containerd/containerd.sock",
	};
	struct tries tries = { 0 };

	return connect_any(&tries, paths, ARRAY_SIZE(paths));
}

enum verdict try_SOCKETS_SYSTEM(void)
{
	static const char *const paths[] = {
		"/run/dbus/system_bus_socket",
		"/var/run/dbus/system_bus_socket",
		"/run/systemd/private",
		"/run/systemd/notify",
		"/run/systemd/journal/socket",
		"/run/systemd/journal/stdout",
		"/run/systemd/journal/dev-log",
		"/dev/log",
		"/run/systemd/userdb/io.systemd.DynamicUser",
		"/run/systemd/resolve/io.systemd.Resolve",
		"/run/systemd/io.system.ManagedOOM",
		"/run/udev/control",
		"/run/snapd.socket",
		"/run/pcscd/pcscd.comm",
		"/run/tailscale/tailscaled.sock",
		"/run/cups/cups.sock",
		"/run/avahi-daemon/socket",
		"/run/nscd/socket",
		"/run/postgresql/.s.PGSQL.5432",
		"/run/mysqld/mysqld.sock",
	};
	struct tries tries = { 0 };

	return connect_any(&tries, paths, ARRAY_SIZE(paths));
}
