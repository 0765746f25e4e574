// SPDX-License-Identifier: MIT
// Who can limit a box: we ourselves, in a cgroup beside ours, or systemd.
//
// Whoever made the cgroup that we are in keeps the tree around it. When that is systemd, by the name, it must be asked:
// it takes controllers away from a tree that it believes to be its own. Otherwise the parent of our cgroup may be ours
// to make another one in; the limits that it hands on are those that somebody switched on there.
#include "probe/cgroup.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "plan/facts.h"
#include "plan/limits.h"
#include "probe/probe.h"
#include "probe/programs.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

enum { LONGEST_FILE = 4096, FIRST_WITH_OOM_POLICY = 253 };

// Alone, or beside the trees of cgroup v1.
static const char *const roots[] = { CGROUP_ROOT, CGROUP_ROOT "/unified" };

// Files of the kernel claim to be empty.
static const char *read_file(struct arena *arena, const char *path)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[LONGEST_FILE];
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text));

	return got < 0 ? NULL : arena_strndup(arena, text, (size_t)got);
}

static const char *find_root(void)
{
	struct statfs status;

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		if (statfs(roots[i], &status) == 0 && status.f_type == CGROUP2_SUPER_MAGIC)
			return roots[i];
	return NULL;
}

// A list of controllers: "cpu memory pids".
static void read_limits(struct arena *arena, const char *path, bool limits[LIMIT_COUNT])
{
	const char *text = read_file(arena, path);

	for (const char *word = text; word && *word; word += strcspn(word, " \n")) {
		word += strspn(word, " \n");
		for (int limit = 0; limit < LIMIT_COUNT; limit++) {
			const char *rest = str_after(word, limit_table[limit].name);

			limits[limit] |= rest && (!*rest || *rest == ' ' || *rest == '\n');
		}
	}
}

static bool by_systemd(const char *own)
{
	return str_ends(own, ".scope") || str_ends(own, ".service") || str_ends(own, ".slice");
}

static void probe_direct(struct cgroup_facts *cgroup, struct arena *arena, const char *root)
{
	const char *text = root ? read_file(arena, "/proc/self/cgroup") : NULL;
	const char *own = text ? limits_find_cgroup(arena, text) : NULL;
	const char *parent;

	if (!own) {
		cgroup->problem = "this machine has no cgroup v2 in /sys/fs/cgroup";
		return;
	}
	if (by_systemd(own)) {
		cgroup->problem = "systemd keeps the cgroup that claudebox was started in";
		return;
	}
	parent = path_clean(arena, arena_printf(arena, "%s/%s", root, path_parent(arena, own)));
	if (access(parent, W_OK | X_OK) < 0 ||
	    access(path_join(arena, parent, "cgroup.procs"), W_OK) < 0) {
		cgroup->problem = arena_printf(arena, "the cgroup '%s' is not yours to change",
					       quote_display(arena, parent, 0));
		return;
	}
	cgroup->parent = parent;
	cgroup->problem = arena_printf(arena, "the cgroup '%s' does not hand on all of them (%s)",
				       quote_display(arena, parent, 0), "cgroup.subtree_control");
	read_limits(arena, path_join(arena, parent, "cgroup.subtree_control"), cgroup->direct);
}

static unsigned int systemd_version(struct arena *arena, const char *program)
{
	const char *digits = probe_text_after(arena, program, "libsystemd-shared-", 3);
	unsigned int version = 0;

	for (; digits && *digits >= '0' && *digits <= '9'; digits++)
		version = version * 10 + (unsigned int)(*digits - '0');
	return version;
}

// Whoever listens there would say that there are limits.
static bool in_reach(const struct facts *facts, struct arena *arena, const char *directory)
{
	struct followed place = file_follow(arena, directory);

	return probe_box_writes(facts, &place);
}

static void probe_systemd(struct facts *facts, struct arena *arena, const char *root)
{
	struct cgroup_facts *cgroup = &facts->cgroup;
	const char *runtime = facts_variable(facts, "XDG_RUNTIME_DIR");
	const char *manager = "/";

	cgroup->systemd_run = probe_program(arena, facts, "systemd-run", &facts->passed_over);
	if (!cgroup->systemd_run)
		return;
	if (access("/run/systemd/system", F_OK) < 0 || !root || root != roots[0]) {
		cgroup->systemd_problem = "systemd does not keep the cgroups (v2) of this machine";
		return;
	}
	if (facts->uid) {
		if (!runtime || runtime[0] != '/' || in_reach(facts, arena, runtime))
			runtime = arena_printf(arena, "/run/user/%u", facts->uid);
		cgroup->runtime_directory = runtime;
		manager = arena_printf(arena, "/user.slice/user-%u.slice/user@%u.service",
				       facts->uid, facts->uid);
		if (access(path_join(arena, runtime, "systemd/private"), F_OK) < 0)
			cgroup->systemd_problem = "you have no systemd of your own running";
	}
	cgroup->systemd_oom_policy = systemd_version(arena, cgroup->systemd_run) >=
				     FIRST_WITH_OOM_POLICY;
	read_limits(arena, arena_printf(arena, "%s%s/cgroup.controllers", root, manager),
		    cgroup->by_systemd);
}

void probe_cgroup(struct facts *facts, struct arena *arena, const struct config *config)
{
	const char *root = find_root();
	bool wanted = config->action == ACTION_CHECK;

	for (int limit = 0; limit < LIMIT_COUNT; limit++)
		wanted |= facts->cgroup.wanted[limit] = config->limits[limit].value != 0;
	probe_direct(&facts->cgroup, arena, root);
	if (wanted)
		probe_systemd(facts, arena, root);
}
