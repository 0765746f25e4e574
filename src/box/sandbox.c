// SPDX-License-Identifier: MIT
// Tests whether bwrap can create a sandbox, and finds the usual causes if it cannot.
#include "box/sandbox.h"

#include "base/arena.h"
#include "base/text.h"
#include "box/container.h"
#include "box/inputs.h"
#include "probe/file_system.h"
#include "seccomp/programs.h"
#include "sys/capture.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/memfd.h"
#include "sys/read.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Exit status of init when it has no control socket.
enum { INIT_STATUS = 125 };

// Returns a memfd with the seccomp filter that bwrap inherits; -1 on failure.
static int open_seccomp_program(void)
{
	const struct seccomp_program *program = &seccomp_programs[SECCOMP_STRICT];
	CLEANUP_FD int fd = memfd_with("seccomp", program->bytes, program->size, false);

	return fd >= 0 && fcntl(fd, F_SETFD, 0) == 0 ? take_fd(&fd) : -1;
}

bool sandbox_try(struct arena *arena, const char *bwrap, const char **ret_output)
{
	// Starts init from a memfd, as a box does: Ubuntu's AppArmor profile for bwrap allows
	// sandboxes, but allows them to execute regular files only.
	CLEANUP_FD int init = init_memfd();
	CLEANUP_FD int seccomp = open_seccomp_program();
	const char *const words[] = { "bwrap",
				      "--unshare-user",
				      "--unshare-pid",
				      "--unshare-ipc",
				      "--unshare-uts",
				      "--unshare-cgroup",
				      "--disable-userns",
				      "--seccomp",
				      arena_printf(arena, "%d", seccomp),
				      "--die-with-parent",
				      "--ro-bind",
				      "/",
				      "/",
				      "--proc",
				      "/proc",
				      "--",
				      arena_printf(arena, "/proc/self/fd/%d", init),
				      NULL };

	*ret_output = "cannot create a memfd";
	return init >= 0 && seccomp >= 0 && fcntl(init, F_SETFD, 0) == 0 &&
	       capture_output(arena, bwrap, words, ret_output) == INIT_STATUS;
}

// claudebox's AppArmor profile applies to the program at one path, where claudebox is installed. A
// job of a continuous integration and a container have no use for it.
static const char *fix_for_apparmor(struct arena *arena)
{
	const char *ci = getenv("CI");
	const char *self = file_follow(arena, "/proc/self/exe").real;
	const char *meant = file_follow(arena, INSTALLED_PROGRAM).real;

	if ((ci && *ci) || container_find())
		return "run `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`";
	if (!str_equal(self, meant) || access(APPARMOR_PROFILE, R_OK) < 0)
		return "install claudebox with its package or `sudo make install`, and start the "
		       "installed program: AppArmor profiles apply to a path";
	return arena_printf(arena,
			    "run `sudo install -m 644 %s /etc/apparmor.d/claudebox && sudo "
			    "apparmor_parser -r /etc/apparmor.d/claudebox`",
			    APPARMOR_PROFILE);
}

static const char *fix_for_userns_clone(struct arena *arena)
{
	(void)arena;
	return "run `sudo sysctl -w kernel.unprivileged_userns_clone=1`";
}

static const char *fix_for_max_user_namespaces(struct arena *arena)
{
	(void)arena;
	return "run `sudo sysctl -w user.max_user_namespaces=15000`";
}

// The last one is only likely: on Ubuntu it is set even if a profile makes an exception for bwrap.
// It allows the user namespace, and refuses capabilities in it.
static const struct {
	const char *file;
	char bad;
	bool allows_namespace;
	const char *problem;
	const char *(*fix)(struct arena *arena);
} causes[] = {
	{ "/proc/sys/kernel/unprivileged_userns_clone", '0', false,
	  "user namespaces are disabled for ordinary users", fix_for_userns_clone },
	{ "/proc/sys/user/max_user_namespaces", '0', false,
	  "the limit on user namespaces (user.max_user_namespaces) is 0",
	  fix_for_max_user_namespaces },
	{ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1', true,
	  "AppArmor restricts user namespaces (Ubuntu 23.10 and later)", fix_for_apparmor },
};

// Returns a setting of the kernel that refuses sandboxes; NULL: there is none.
static const char *find_setting(struct arena *arena, bool refuses_namespace, const char **ret_fix)
{
	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		char value[16];

		if ((refuses_namespace && causes[i].allows_namespace) ||
		    read_kernel_file(AT_FDCWD, causes[i].file, value, sizeof(value)) <= 0)
			continue;
		if (value[0] == causes[i].bad && (value[1] == '\n' || value[1] == '\0')) {
			*ret_fix = causes[i].fix(arena);
			return causes[i].problem;
		}
	}
	return NULL;
}

const char *sandbox_find_problem(struct arena *arena, const char **ret_fix)
{
	const struct container_row *container = container_find();
	enum refused_step step = container_try_steps();
	const char *setting;

	if (!probe_is_mount_point("/")) {
		*ret_fix = "enter it from outside with `sudo bwrap --bind DIRECTORY / "
			   "--dev-bind /dev /dev --bind /proc /proc --cap-add ALL su - USER`";
		return "this is a chroot, where the kernel does not allow user namespaces";
	}
	if (container && !container->engine) {
		*ret_fix = container->fix;
		return container_describe(arena, step, container);
	}
	setting = find_setting(arena, container && step == STEP_NAMESPACE, ret_fix);
	if (setting && container)
		*ret_fix =
			arena_printf(arena, "%s on the machine that runs the container", *ret_fix);
	if (setting)
		return setting;
	if (step == STEP_NONE)
		return NULL;
	*ret_fix = container ? container->fix
			     : "allow it in the seccomp filter, the security profile or the "
			       "service that this session runs in";
	return container_describe(arena, step, container);
}
