// SPDX-License-Identifier: MIT
// Finds out how a box can be limited: by a new cgroup beside claudebox's own, or by systemd.
//
// Theory of operation: the name of claudebox's own cgroup shows whether systemd manages it. Then a
// limit must go through systemd, because systemd removes controllers from a tree that it manages.
// Otherwise claudebox may create a cgroup in the parent of its own, if it can write there. The
// controllers that are available are those in the parent's cgroup.subtree_control.
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
#include "probe/programs.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

enum { FILE_MAX = 4096, OOM_POLICY_VERSION = 253 };

// Mount points of cgroup v2: alone, or beside the trees of cgroup v1.
static const char *const roots[] = { CGROUP_ROOT, CGROUP_ROOT "/unified" };

// Reads a kernel file, whose size stat reports as 0.
static const char *read_file(struct arena *arena, const char *path)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[FILE_MAX];
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text));

	return size < 0 ? NULL : arena_strndup(arena, text, (size_t)size);
}

static const char *find_root(void)
{
	struct statfs status;

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		if (statfs(roots[i], &status) == 0 && status.f_type == CGROUP2_SUPER_MAGIC)
			return roots[i];
	return NULL;
}

// Reads a list of controllers, such as "cpu memory pids", and sets the limits that they allow.
static void parse_controllers(struct arena *arena, const char *path, bool limits[LIMIT_COUNT])
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

static bool is_systemd_cgroup(const char *own)
{
	return str_ends(own, ".scope") || str_ends(own, ".service") || str_ends(own, ".slice");
}

// Fills the part for a cgroup of claudebox's own.
static void probe_direct(struct cgroup_facts *cgroup, struct arena *arena, const char *root)
{
	const char *text = root ? read_file(arena, "/proc/self/cgroup") : NULL;
	const char *own = text ? limits_find_cgroup(arena, text) : NULL;
	const char *parent;

	if (!own) {
		cgroup->problem = "no cgroup v2 is mounted at /sys/fs/cgroup";
		return;
	}
	if (is_systemd_cgroup(own)) {
		cgroup->problem = "systemd manages the cgroup that claudebox was started in";
		return;
	}
	parent = path_clean(arena, arena_printf(arena, "%s/%s", root, path_parent(arena, own)));
	if (access(parent, W_OK | X_OK) < 0 ||
	    access(path_join(arena, parent, "cgroup.procs"), W_OK) < 0) {
		cgroup->problem = arena_printf(arena, "the cgroup '%s' is not writable",
					       quote_display(arena, parent, 0));
		return;
	}
	cgroup->parent = parent;
	cgroup->problem = arena_printf(arena,
				       "the cgroup '%s' does not delegate all controllers (%s)",
				       quote_display(arena, parent, 0), "cgroup.subtree_control");
	parse_controllers(arena, path_join(arena, parent, "cgroup.subtree_control"),
			  cgroup->direct);
}

static unsigned int systemd_version(struct arena *arena, const char *program)
{
	const char *digits = probe_text_after(arena, program, "libsystemd-shared-", 3);
	unsigned int version = 0;

	for (; digits && *digits >= '0' && *digits <= '9'; digits++)
		version = version * 10 + (unsigned int)(*digits - '0');
	return version;
}

// Returns whether a box can write to the directory. A socket there could be the box's own, and
// would report limits that do not exist.
static bool is_box_writable(const struct facts *facts, struct arena *arena, const char *directory)
{
	struct followed place = file_follow(arena, directory);

	return probe_writing_box(arena, facts, &place) != NULL;
}

// Fills the part for systemd.
static void probe_systemd(struct facts *facts, struct arena *arena, const char *root)
{
	struct cgroup_facts *cgroup = &facts->cgroup;
	const char *runtime = facts_variable(facts, "XDG_RUNTIME_DIR");
	const char *manager = "/";

	cgroup->systemd_run =
		probe_program(arena, facts, "systemd-run", &facts->untrusted_programs);
	if (!cgroup->systemd_run)
		return;
	if (access("/run/systemd/system", F_OK) < 0 || !root || root != roots[0]) {
		cgroup->systemd_problem = "systemd does not manage this machine's cgroups (v2)";
		return;
	}
	if (facts->uid) {
		if (!runtime || runtime[0] != '/' || is_box_writable(facts, arena, runtime))
			runtime = arena_printf(arena, "/run/user/%u", facts->uid);
		cgroup->runtime_directory = runtime;
		manager = arena_printf(arena, "/user.slice/user-%u.slice/user@%u.service",
				       facts->uid, facts->uid);
		if (access(path_join(arena, runtime, "systemd/private"), F_OK) < 0)
			cgroup->systemd_problem = "the systemd user instance does not run";
	}
	cgroup->systemd_oom_policy = systemd_version(arena, cgroup->systemd_run) >=
				     OOM_POLICY_VERSION;
	parse_controllers(arena, arena_printf(arena, "%s%s/cgroup.controllers", root, manager),
			  cgroup->by_systemd);
}

void probe_cgroup(struct facts *facts, struct arena *arena, const struct config *config,
		  bool need_systemd)
{
	const char *root = find_root();

	for (int limit = 0; limit < LIMIT_COUNT; limit++)
		need_systemd |= facts->cgroup.wanted[limit] = config->limits[limit].value != 0;
	probe_direct(&facts->cgroup, arena, root);
	if (need_systemd)
		probe_systemd(facts, arena, root);
}
