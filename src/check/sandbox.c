// SPDX-License-Identifier: MIT
// Tries whether bwrap makes a sandbox here at all; knows the usual reasons why not, and what cures each.
#include "check/sandbox.h"

#include "base/arena.h"
#include "base/text.h"
#include "box/launch.h"
#include "probe/file_system.h"
#include "seccomp/programs.h"
#include "sys/capture.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/memfd.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

// Without a word on what to do, init leaves at once.
enum { INIT_IDLE = 125 };

// bwrap inherits the descriptor.
static int open_seccomp_program(void)
{
	const struct seccomp_program *program = &seccomp_programs[SECCOMP_STRICT];
	CLEANUP_FD int fd = memfd_with("seccomp", program->bytes, program->size, false);

	return fd >= 0 && fcntl(fd, F_SETFD, 0) == 0 ? take_fd(&fd) : -1;
}

bool check_try_sandbox(struct arena *arena, const char *bwrap, const char **ret_output)
{
	// It must start what a box starts: AppArmor's profile for bwrap lets it make sandboxes, and run only files.
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

	*ret_output = "no program can be made in memory";
	return init >= 0 && seccomp >= 0 && fcntl(init, F_SETFD, 0) == 0 &&
	       capture_output(arena, bwrap, words, ret_output) == INIT_IDLE;
}

// A profile holds for the program at one path: the one that is installed with it.
static const char *cure_for_apparmor(struct arena *arena)
{
	const char *self = file_follow(arena, "/proc/self/exe").real;
	const char *meant = file_follow(arena, INSTALLED_PROGRAM).real;

	if (!str_equal(self, meant) || access(APPARMOR_PROFILE, R_OK) < 0)
		return "install claudebox, by its package or by sudo make install, and start that "
		       "one: AppArmor knows programs by their path";
	return arena_printf(arena,
			    "run `sudo install -m 644 %s /etc/apparmor.d/claudebox && sudo "
			    "apparmor_parser -r /etc/apparmor.d/claudebox`",
			    APPARMOR_PROFILE);
}

static const char *cure_for_clone(struct arena *arena)
{
	(void)arena;
	return "run `sudo sysctl -w kernel.unprivileged_userns_clone=1`";
}

static const char *cure_for_number(struct arena *arena)
{
	(void)arena;
	return "run `sudo sysctl -w user.max_user_namespaces=15000`";
}

// Those that leave no doubt come first: on Ubuntu the last one is set also where a profile makes an exception.
static const struct {
	const char *file;
	char bad;
	const char *problem;
	const char *(*cure)(struct arena *arena);
} reasons[] = {
	{ "/proc/sys/kernel/unprivileged_userns_clone", '0',
	  "user namespaces are switched off for ordinary users", cure_for_clone },
	{ "/proc/sys/user/max_user_namespaces", '0', "no user namespaces are allowed",
	  cure_for_number },
	{ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1',
	  "AppArmor keeps bwrap from making a box (Ubuntu 23.10 and later)", cure_for_apparmor },
};

const char *check_userns_problem(struct arena *arena, const char **ret_cure)
{
	if (!probe_is_mount_point("/")) {
		*ret_cure = "enter it from outside with `sudo bwrap --bind DIRECTORY / "
			    "--dev-bind /dev /dev --bind /proc /proc --cap-add ALL su - USER`";
		return "this is a chroot, where nobody may make user namespaces";
	}
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		// Files of the kernel claim to be empty.
		CLEANUP_FILE FILE *file = fopen(reasons[i].file, "re");
		char value[16] = "";

		if (!file || !fgets(value, sizeof(value), file))
			continue;
		if (value[0] == reasons[i].bad && (value[1] == '\n' || value[1] == '\0')) {
			*ret_cure = reasons[i].cure(arena);
			return reasons[i].problem;
		}
	}
	return NULL;
}
