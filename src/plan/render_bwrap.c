// SPDX-License-Identifier: MIT
// The plan as bwrap options, in the order in which bwrap carries them out.
#include "plan/render.h"

static void add(bwrap_options *options, struct arena *arena, const char *flag, const char *first,
		const char *second)
{
	vec_push(arena, options,
		 (struct bwrap_option){ .flag = flag, .arguments = { first, second } });
}

static void add_variables(bwrap_options *options, struct arena *arena, const struct plan *plan)
{
	add(options, arena, "--clearenv", NULL, NULL);
	vec_each(variable, &plan->variables)
		vec_push(arena, options,
			 (struct bwrap_option){ .flag = "--setenv",
						.arguments = { variable->name, variable->value },
						.operand = OPERAND_VARIABLE,
						.variable = variable });
}

static void add_host_path(bwrap_options *options, struct arena *arena,
			  const struct plan_mount *mount)
{
	bool writable = mount->kind == MOUNT_WRITABLE;

	vec_push(arena, options,
		 (struct bwrap_option){ .flag = writable ? "--bind" : "--ro-bind",
					.by_descriptor = writable ? "--bind-fd" : "--ro-bind-fd",
					.arguments = { mount->source, mount->path },
					.operand = OPERAND_HOST_PATH,
					.mount = mount });
}

static void add_mount(bwrap_options *options, struct arena *arena, const struct plan_mount *mount)
{
	if (mount->mode)
		add(options, arena, "--perms", arena_printf(arena, "%04o", mount->mode), NULL);
	switch (mount->kind) {
	case MOUNT_READ_ONLY:
	case MOUNT_WRITABLE:
		add_host_path(options, arena, mount);
		break;
	case MOUNT_EMPTY:
		add(options, arena, "--tmpfs", mount->path, NULL);
		break;
	case MOUNT_DIRECTORY:
		add(options, arena, "--dir", mount->path, NULL);
		break;
	case MOUNT_LINK:
		add(options, arena, "--symlink", mount->source, mount->path);
		break;
	case MOUNT_DATA:
		vec_push(arena, options,
			 (struct bwrap_option){ .flag = "--file",
						.arguments = { NULL, mount->path },
						.operand = OPERAND_DATA,
						.mount = mount });
		break;
	case MOUNT_PROC:
		add(options, arena, "--proc", mount->path, NULL);
		break;
	case MOUNT_DEV:
		add(options, arena, "--dev", mount->path, NULL);
		break;
	case MOUNT_SEAL:
		add(options, arena, "--remount-ro", mount->path, NULL);
		break;
	case MOUNT_KIND_COUNT:
		break;
	}
}

bwrap_options render_bwrap(const struct plan *plan, struct arena *arena)
{
	bwrap_options options = { 0 };

	add(&options, arena, "--unshare-user", NULL, NULL);
	add(&options, arena, "--unshare-pid", NULL, NULL);
	add(&options, arena, "--unshare-ipc", NULL, NULL);
	add(&options, arena, "--unshare-uts", NULL, NULL);
	add(&options, arena, "--unshare-cgroup", NULL, NULL);
	add(&options, arena, "--uid", arena_printf(arena, "%u", plan->uid), NULL);
	add(&options, arena, "--gid", arena_printf(arena, "%u", plan->gid), NULL);
	add(&options, arena, "--hostname", plan->host_name, NULL);
	add(&options, arena, "--cap-drop", "ALL", NULL);
	add(&options, arena, "--die-with-parent", NULL, NULL);
	add_variables(&options, arena, plan);
	vec_each(mount, &plan->mounts)
		add_mount(&options, arena, mount);
	add(&options, arena, "--chdir", plan->project, NULL);
	return options;
}
