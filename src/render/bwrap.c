// SPDX-License-Identifier: MIT
// Renders the plan as bwrap options, in the order in which bwrap applies them.
#include "render/bwrap.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "config/limits.h"
#include "plan/plan.h"
#include "plan/tables.h"
#include "seccomp/programs.h"

enum { PAGE = 4096 };

static void add_option(bwrap_options *options, struct arena *arena, const char *flag,
		       const char *first, const char *second)
{
	vec_push(arena, options,
		 (struct bwrap_option){ .flag = flag, .arguments = { first, second } });
}

static void add_variables(bwrap_options *options, struct arena *arena, const struct plan *plan)
{
	add_option(options, arena, "--clearenv", NULL, NULL);
	vec_each(variable, &plan->variables)
		vec_push(arena, options,
			 (struct bwrap_option){ .flag = "--setenv",
						.arguments = { variable->name, variable->value },
						.operand = OPERAND_VARIABLE,
						.variable = variable });
}

static struct bwrap_option mount_option(const struct plan_mount *mount)
{
	bool writable = mount->kind == MOUNT_WRITABLE;

	switch (mount->kind) {
	case MOUNT_READ_ONLY:
	case MOUNT_WRITABLE:
		return (struct bwrap_option){ .flag = writable ? "--bind" : "--ro-bind",
					      .by_descriptor = writable ? "--bind-fd"
									: "--ro-bind-fd",
					      .arguments = { mount->source, mount->path },
					      .operand = OPERAND_HOST_PATH };
	case MOUNT_EMPTY:
		return (struct bwrap_option){ .flag = "--tmpfs", .arguments = { mount->path } };
	case MOUNT_DIRECTORY:
		return (struct bwrap_option){ .flag = "--dir", .arguments = { mount->path } };
	case MOUNT_LINK:
		return (struct bwrap_option){ .flag = "--symlink",
					      .arguments = { mount->source, mount->path } };
	case MOUNT_PROGRAM: // as in a script, which does not have the program
		return (struct bwrap_option){ .flag = "--symlink",
					      .arguments = { mount->source, mount->path },
					      .operand = OPERAND_PROGRAM };
	case MOUNT_DATA:
		return (struct bwrap_option){ .flag = "--file",
					      .arguments = { NULL, mount->path },
					      .operand = OPERAND_DATA };
	case MOUNT_PROC:
		return (struct bwrap_option){ .flag = "--proc", .arguments = { mount->path } };
	case MOUNT_DEV:
		return (struct bwrap_option){ .flag = "--dev", .arguments = { mount->path } };
	case MOUNT_SEAL:
	case MOUNT_KIND_COUNT:
		break;
	}
	return (struct bwrap_option){ .flag = "--remount-ro", .arguments = { mount->path } };
}

// Returns the size of a tmpfs in bytes, 0: the kernel's default, half of the memory. Files in it
// use the memory of the box or the machine, and killing a process does not free them. A file system
// that is full at half of a limit is better than an out-of-memory kill. Without a limit /tmp has
// half of the machine's memory, a tmpfs in the home a quarter, and the two others an eighth each,
// so that they cannot use up more than all of it together.
static unsigned long long tmpfs_size(const struct plan *plan, const struct plan_mount *mount)
{
	unsigned long long limit = plan->limits.values[LIMIT_MEMORY].value;
	unsigned int share = str_equal(mount->path, "/tmp")         ? 2
			     : path_within(mount->path, plan->home) ? 4
								    : 8;

	return limit ? limit / 2 : plan->memory / share / PAGE * PAGE;
}

static void add_mount(bwrap_options *options, struct arena *arena, const struct plan *plan,
		      const struct plan_mount *mount)
{
	struct bwrap_option option = mount_option(mount);
	unsigned long long size = tmpfs_size(plan, mount);

	option.mount = mount;
	option.staged = mount->staged;
	if (mount->kept_home)
		option.operand = OPERAND_HOME;
	if (mount->created && !mount->staged)
		option.operand = OPERAND_IN_HOME;
	if (mount->kind == MOUNT_EMPTY && size)
		add_option(options, arena, "--size", arena_printf(arena, "%llu", size), NULL);
	if (mount->mode)
		option.mode = arena_printf(arena, "%04o", mount->mode);
	vec_push(arena, options, option);
	// A tmpfs that covers a directory of the host stays empty.
	if (mount->kind == MOUNT_EMPTY && mount->staged && mount->place.inode)
		vec_push(arena, options,
			 (struct bwrap_option){ .flag = "--remount-ro",
						.arguments = { mount->path },
						.staged = mount->staged });
}

// Adds --chdir. If the project is a staged mount, this is the staging path: a process stays in the
// mount when it is moved.
static void add_chdir(bwrap_options *options, struct arena *arena, const struct plan *plan)
{
	struct bwrap_option option = { .flag = "--chdir", .arguments = { plan->project } };

	vec_each(mount, &plan->mounts) {
		if (str_equal(mount->path, plan->project))
			option.staged = mount->staged;
	}
	vec_push(arena, options, option);
}

bwrap_options render_bwrap(const struct plan *plan, struct arena *arena)
{
	bwrap_options options = { 0 };

	add_option(&options, arena, "--unshare-user", NULL, NULL);
	add_option(&options, arena, "--unshare-pid", NULL, NULL);
	add_option(&options, arena, "--unshare-ipc", NULL, NULL);
	add_option(&options, arena, "--unshare-uts", NULL, NULL);
	add_option(&options, arena, "--unshare-cgroup", NULL, NULL);
	if (tier_table[plan->config->network].own_namespace)
		add_option(&options, arena, "--unshare-net", NULL, NULL);
	add_option(&options, arena, "--uid", arena_printf(arena, "%u", plan->uid), NULL);
	add_option(&options, arena, "--gid", arena_printf(arena, "%u", plan->gid), NULL);
	add_option(&options, arena, "--hostname", plan->hostname, NULL);
	add_option(&options, arena, "--cap-drop", "ALL", NULL);
	vec_push(arena, &options,
		 (struct bwrap_option){ .flag = "--die-with-parent", .operand = OPERAND_NO_INIT });
	if (!plan->config->nested)
		add_option(&options, arena, "--disable-userns", NULL, NULL);
	vec_push(arena, &options,
		 (struct bwrap_option){ .flag = "--seccomp",
					.operand = OPERAND_SECCOMP,
					.filter = &seccomp_programs[plan->seccomp] });
	add_variables(&options, arena, plan);
	vec_each(mount, &plan->mounts)
		add_mount(&options, arena, plan, mount);
	add_chdir(&options, arena, plan);
	return options;
}
