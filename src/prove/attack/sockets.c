// SPDX-License-Identifier: MIT
// Attacks on Unix sockets of the host.
#include "prove/attack/attack.h"

#include <linux/un.h>

enum {
	UNIX = 1,
	STREAM = 1,
	DATAGRAM = 2,
	QUICK = 0x80000 | 0x800 /* SOCK_CLOEXEC | SOCK_NONBLOCK */
};

// The address of a socket is short: a longer path goes by a descriptor of its directory.
static const char *shorten(char *buffer, size_t size, const char *path)
{
	size_t last = text_length(path);
	char parent[PATH_SIZE];
	long directory;

	if (last < size)
		return text_make(buffer, size, "%s", path);
	while (last && path[last] != '/')
		last--;
	memcpy(parent, path, last);
	parent[last] = 0;
	directory = open_file(parent, O_PATH | O_DIRECTORY);
	return text_make(buffer, size, "/proc/self/fd/%d%s", (int)directory, path + last);
}

static long connect_unix(const char *name, bool abstract, int type)
{
	struct sockaddr_un address = { .sun_family = UNIX };
	size_t room = sizeof(address.sun_path) - abstract;
	long file = call(__NR_socket, UNIX, type | QUICK, 0, 0);
	long result;

	if (file < 0)
		return file;
	if (abstract)
		text_make(address.sun_path + 1, room, "%s", name);
	else
		shorten(address.sun_path, room, name);
	// An abstract name has a NUL before it, a path has one after it.
	result = call(__NR_connect, file, &address,
		      sizeof(address.sun_family) + 1 + text_length(address.sun_path + abstract), 0);
	close_file(file);
	// It is there: only the type is another, or many are waiting.
	return !abstract && (result == -EPROTOTYPE || result == -EAGAIN) ? 0 : result;
}

static enum verdict connect_canaries(const char *kind, bool abstract, int type)
{
	struct tries tries = { 0 };

	for (const struct canary *socket = NULL; (socket = next_canary(socket, kind));)
		if (!failed(&tries, connect_unix(socket->field[0], abstract, type)))
			return leaked("connected to %s%s", abstract ? "@" : "", socket->field[0]);
	return blocked_by(&tries);
}

enum verdict try_SOCKETS_ABSTRACT(void)
{
	return connect_canaries("abstract", true, STREAM);
}

enum verdict try_SOCKETS_ABSTRACT_DATAGRAM(void)
{
	return connect_canaries("abstract-datagram", true, DATAGRAM);
}

enum verdict try_SOCKETS_LIST(void)
{
	static char text[131072];
	static const char *const kinds[] = { "abstract", "abstract-datagram", "unix" };
	long length = read_text("/proc/net/unix", text, sizeof(text));

	if (length < 0)
		return held("%s", error_name(length));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		for (const struct canary *socket = NULL; (socket = next_canary(socket, kinds[i]));)
			if (text_find(text, (size_t)length, socket->field[0]))
				return reached("%s is listed", socket->field[0]);
	return held("the box's own only");
}

enum verdict try_SOCKETS_PATH(void)
{
	return connect_canaries("unix", false, STREAM);
}

enum verdict try_SOCKETS_PROC_ROOT(void)
{
	struct tries tries = { 0 };
	int pids[PROCESSES];
	size_t count = list_numbers("/proc", pids, PROCESSES);
	char path[PATH_SIZE];

	for (const struct canary *socket = NULL; (socket = next_canary(socket, "unix"));) {
		text_make(path, sizeof(path), "/proc/self/root%s", socket->field[0]);
		if (!failed(&tries, connect_unix(path, false, STREAM)))
			return leaked("connected to %s", path);
		for (size_t i = 0; i < count; i++) {
			text_make(path, sizeof(path), "/proc/%d/root%s", pids[i], socket->field[0]);
			if (!failed(&tries, connect_unix(path, false, STREAM)))
				return leaked("connected to %s", path);
		}
	}
	return blocked_by(&tries);
}

// A name that starts with '@' is abstract.
static enum verdict connect_any(struct tries *tries, const char *const *paths, size_t count)
{
	char path[PATH_SIZE];

	for (size_t i = 0; i < count; i++) {
		bool abstract = paths[i][0] == '@';

		expand(path, sizeof(path), paths[i] + abstract);
		if (!failed(tries, connect_unix(path, abstract, STREAM)))
			return leaked("connected to %s%s", abstract ? "@" : "", path);
	}
	return blocked_by(tries);
}

// ssh -A and ssh-agent make /tmp/ssh-XXXX/agent.N.
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
		size = list_names(text_make(path, sizeof(path), "/tmp/%s", s), agents,
				  sizeof(agents));
		for (const char *t = agents; t < agents + size; t += text_length(t) + 1) {
			text_make(path, sizeof(path), "/tmp/%s/%s", s, t);
			if (!failed(tries, connect_unix(path, false, STREAM)))
				return leaked("connected to %s", path);
		}
	}
	return HELD;
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

	for (char **variable = probe.environment; *variable; variable++)
		if (text_starts(*variable, "SSH_AUTH_SOCK=") &&
		    !failed(&tries, connect_unix(*variable + 14, false, STREAM)))
			return leaked("connected by SSH_AUTH_SOCK");
	if (search_agents(&tries) == LEAKED)
		return LEAKED;
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
