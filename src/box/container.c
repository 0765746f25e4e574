// SPDX-License-Identifier: MIT
// Recognises containers and other places where the kernel refuses a sandbox, and what allows it.
//
// Theory of operation: a container engine restricts its containers with a seccomp filter (Docker's
// refuses user namespaces), with AppArmor or SELinux (which refuse mounts), and by mounts over
// parts of /proc (the kernel then refuses a new /proc in a user namespace). The error number is the
// same for all of them, so the steps are tried one by one, in a child process.
#include "box/container.h"

#include "base/arena.h"
#include "base/quote.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/process.h"
#include "sys/read.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#define DOCKER_OPTIONS                                                          \
	"--security-opt seccomp=unconfined --security-opt apparmor=unconfined " \
	"--security-opt systempaths=unconfined"

// The most specific rows come first: a pod and a dev container may have Docker's files.
static const struct container_row container_table[] = {
	{ "this box of claudebox", .variable = "CLAUDEBOX",
	  .fix = "start it outside of the box, or start the outer box with \"nested\": true in its "
		 "profile" },
	{ "WSL 1", "/proc/sys/kernel/osrelease", "-Microsoft",
	  .fix = "run `wsl --list --verbose` in Windows, then `wsl --set-version NAME 2`" },
	{ "gVisor", "/proc/version", "gVisor",
	  .fix = "use the default runtime: `docker run --runtime runc`, or a pod without "
		 "runtimeClassName" },
	{ "gVisor", "/proc/version", "Sun Jan 10 15:06:54 PST 2016", // in its older versions
	  .fix = "use the default runtime: `docker run --runtime runc`, or a pod without "
		 "runtimeClassName" },
	{ "Flatpak's sandbox", "/.flatpak-info",
	  .fix = "start it outside: `flatpak-spawn --host claudebox`" },
	{ "this codespace", .variable = "CODESPACES", .engine = true,
	  .fix = "add \"runArgs\": [\"--security-opt=seccomp=unconfined\", "
		 "\"--security-opt=apparmor=unconfined\", "
		 "\"--security-opt=systempaths=unconfined\"] to .devcontainer/devcontainer.json and "
		 "rebuild the container" },
	{ "this dev container", .variable = "REMOTE_CONTAINERS", .engine = true,
	  .fix = "add \"runArgs\": [\"--security-opt=seccomp=unconfined\", "
		 "\"--security-opt=apparmor=unconfined\", "
		 "\"--security-opt=systempaths=unconfined\"] to .devcontainer/devcontainer.json and "
		 "rebuild the container" },
	{ "this pod", .variable = "KUBERNETES_SERVICE_HOST", .engine = true,
	  .fix = "set `hostUsers: false` in the pod, and `seccompProfile: {type: Unconfined}`, "
		 "`appArmorProfile: {type: Unconfined}` and `procMount: Unmasked` in the "
		 "securityContext of its container" },
	{ "this GitHub job's container", "/.dockerenv", .variable = "GITHUB_ACTIONS",
	  .engine = true, .fix = "add `options: " DOCKER_OPTIONS "` to `container:` of the job" },
	{ "this GitLab job's container", "/.dockerenv", .variable = "GITLAB_CI", .engine = true,
	  .fix = "set `privileged = true` in [runners.docker] of the runner's config.toml, or use "
		 "the shell executor" },
	{ "this podman container", "/run/.containerenv", .engine = true,
	  .fix = "start the container with `--security-opt seccomp=unconfined --security-opt "
		 "unmask=ALL --security-opt label=disable`" },
	{ "this Docker container", "/.dockerenv", .engine = true,
	  .fix = "start the container with `" DOCKER_OPTIONS "`" },
	{ "this LXC container", "/run/systemd/container", "lxc", .engine = true,
	  .fix = "run `lxc config set NAME security.nesting true` (LXD) or `incus config set NAME "
		 "security.nesting true`, and restart it" },
};

static bool recognised(const struct container_row *row)
{
	char text[512];
	const char *value = row->variable ? getenv(row->variable) : NULL;

	if (row->variable && (!value || !*value))
		return false;
	if (!row->text)
		return !row->file || access(row->file, F_OK) == 0;
	return read_kernel_file(AT_FDCWD, row->file, text, sizeof(text)) > 0 &&
	       strstr(text, row->text) != NULL;
}

const struct container_row *container_find(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(container_table); i++)
		if (recognised(&container_table[i]))
			return &container_table[i];
	return NULL;
}

static bool write_file(const char *path, const char *text)
{
	CLEANUP_FD int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

// Tries the steps, in a process of its own. Never returns; the exit status is the failed step.
static void __attribute__((noreturn)) try_steps(const char *ids)
{
	pid_t child;

	if (unshare(CLONE_NEWUSER) < 0)
		_exit(STEP_NAMESPACE);
	// The files in /proc of a process that is not dumpable belong to root.
	if (prctl(PR_SET_DUMPABLE, 1) < 0 || !write_file("/proc/self/uid_map", ids))
		_exit(STEP_MAP);
	if (unshare(CLONE_NEWNS | CLONE_NEWPID) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		_exit(STEP_MOUNT);
	child = fork();
	if (child == 0)
		_exit(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0);
	_exit(child > 0 && process_exit_status(process_wait(child)) == 0 ? STEP_NONE : STEP_PROC);
}

enum refused_step container_try_steps(void)
{
	char ids[64];
	pid_t child;
	int status;

	snprintf(ids, sizeof(ids), "%u %u 1", geteuid(), geteuid());
	child = fork();
	if (child == 0)
		try_steps(ids);
	status = child > 0 ? process_exit_status(process_wait(child)) : -1;
	return status > STEP_NONE && status < STEP_COUNT ? (enum refused_step)status : STEP_NONE;
}

// Returns whether a seccomp filter applies to this process.
static bool has_seccomp_filter(void)
{
	char text[4096];

	return read_kernel_file(AT_FDCWD, "/proc/self/status", text, sizeof(text)) > 0 &&
	       strstr(text, "\nSeccomp:\t2") != NULL;
}

// Returns the AppArmor profile or the SELinux context of this process, NULL: none restricts it.
static const char *security_label(struct arena *arena)
{
	char text[256];

	if (read_kernel_file(AT_FDCWD, "/proc/self/attr/current", text, sizeof(text)) <= 0)
		return NULL;
	text[strcspn(text, " \n")] = '\0';
	if (!*text || str_equal(text, "unconfined") || strstr(text, ":unconfined_t:"))
		return NULL;
	return quote_display(arena, text, 80);
}

const char *container_describe(struct arena *arena, enum refused_step step,
			       const struct container_row *row)
{
	static const char *const refused[STEP_COUNT] = {
		[STEP_NONE] = "a sandbox is refused",
		[STEP_NAMESPACE] = "user namespaces are refused",
		[STEP_MAP] = "capabilities in a user namespace are refused",
		[STEP_MOUNT] = "mounts in a user namespace are refused",
		[STEP_PROC] = "a /proc of its own is refused",
	};
	struct text out = { .arena = arena };
	const char *label = security_label(arena);

	text_add(&out, refused[step]);
	if (row)
		text_printf(&out, " in %s", row->name);
	if (step == STEP_NAMESPACE && has_seccomp_filter())
		text_add(&out, ", by a seccomp filter");
	else if (step == STEP_PROC)
		text_add(&out, ", because parts of the present /proc are masked");
	else if (step != STEP_NONE && label)
		text_printf(&out, ", by the security profile '%s'", label);
	return text_get(&out);
}
