// SPDX-License-Identifier: MIT
// Whether nix on the host can use its store: by the daemon, or as the owner of the store.
#include "nix/daemon.h"

#include "base/arena.h"
#include "plan/tables.h"
#include "sys/cleanup.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

const char nix_daemon_fix[] =
	"start it: `systemctl start nix-daemon`; your user must be in its group";

const char *nix_daemon_problem(struct arena *arena, bool *ret_owner)
{
	static const struct sockaddr_un address = { .sun_family = AF_UNIX,
						    .sun_path = NIX_DAEMON "/socket" };
	CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*ret_owner = false;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return NULL;
	*ret_owner = access("/nix/var/nix", W_OK) == 0;
	return arena_printf(arena, "cannot connect to the daemon: %m");
}
