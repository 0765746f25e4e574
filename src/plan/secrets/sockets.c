// SPDX-License-Identifier: MIT
// Sockets of the host whose owner acts for the user.
#include "plan/secrets/sockets.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/facts.h"

#include <string.h>

const struct socket_row socket_table[] = {
	{ "SSH_AUTH_SOCK", "", "", "the SSH agent" },
	{ "GPG_AGENT_INFO", "", ":", "the GnuPG agent" },
	{ "DBUS_SESSION_BUS_ADDRESS", "unix:path=", ",;", "the session bus" },
	{ "WAYLAND_DISPLAY", "", "", "the Wayland display" },
	{ "PULSE_SERVER", "unix:", "", "sound" },
	{ "DOCKER_HOST", "unix://", "", "Docker" },
	{ "CONTAINER_HOST", "unix://", "", "Podman" },
	{ "TMUX", "", ",", "tmux, which runs commands" },
	{ "NVIM", "", "", "Neovim, which runs commands" },
	{ "VSCODE_IPC_HOOK_CLI", "", "", "VS Code, which runs commands" },
	{ "VSCODE_GIT_IPC_HANDLE", "", "", "VS Code's git credentials" },
	{ "KITTY_LISTEN_ON", "unix:", "", "kitty, which runs commands" },
	{ "WEZTERM_UNIX_SOCKET", "", "", "WezTerm, which runs commands" },
	{ "ALACRITTY_SOCKET", "", "", "Alacritty, which runs commands" },
	{ "SWAYSOCK", "", "", "sway, which runs commands" },
	{ "I3SOCK", "", "", "i3, which runs commands" },
	{ NULL, "%u/bus", "", "the session bus" },
	{ NULL, "%u/systemd", "", "systemd, which runs commands" },
	{ NULL, "%u/gnupg", "", "the GnuPG agent" },
	{ NULL, "%u/keyring", "", "the keyring" },
	{ NULL, "%u/wayland-0", "", "the Wayland display" },
	{ NULL, "%u/pipewire-0", "", "sound and screen capture" },
	{ NULL, "%u/pulse", "", "sound" },
	{ NULL, "%u/docker.sock", "", "Docker" },
	{ NULL, "%u/podman", "", "Podman" },
	{ NULL, "%u/emacs", "", "Emacs, which runs commands" },
	{ NULL, "/tmp/tmux-%i", "", "tmux, which runs commands" },
	{ NULL, "/tmp/.X11-unix", "", "the X11 display" },
	{ NULL, "/tmp/.ICE-unix", "", "the desktop session" },
	{ NULL, "/run/docker.sock", "", "Docker" },
	{ NULL, "/run/podman", "", "Podman" },
	{ NULL, "/run/containerd", "", "containerd" },
	{ NULL, "/run/libvirt", "", "virtual machines" },
	{ NULL, "/run/screen", "", "screen, which runs commands" },
	{ NULL, "/run/dbus", "", "the system bus" },
	{ NULL, "/run/systemd/private", "", "systemd, which runs commands" },
};
const size_t socket_table_count = ARRAY_SIZE(socket_table);

static const char *runtime_directory(struct arena *arena, const struct facts *facts)
{
	const char *runtime = facts_variable(facts, "XDG_RUNTIME_DIR");

	return runtime && runtime[0] == '/' ? runtime
					    : arena_printf(arena, "/run/user/%u", facts->uid);
}

const char *socket_row_path(struct arena *arena, const struct facts *facts,
			    const struct socket_row *row)
{
	const char *value;

	if (!row->variable) {
		const char *below = str_after(row->text, "%u/");
		const char *id = strstr(row->text, "%i");

		if (below)
			return path_join(arena, runtime_directory(arena, facts), below);
		if (id)
			return arena_printf(arena, "%.*s%u", (int)(id - row->text), row->text,
					    facts->uid);
		return row->text;
	}
	value = facts_variable(facts, row->variable);
	value = value ? str_after(value, row->text) : NULL;
	if (!value || !*value)
		return NULL;
	value = arena_strndup(arena, value, strcspn(value, row->end));
	if (str_equal(row->variable, "WAYLAND_DISPLAY"))
		value = path_join(arena, runtime_directory(arena, facts), value);
	return value[0] == '/' ? path_clean(arena, value) : NULL;
}
