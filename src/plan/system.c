// SPDX-License-Identifier: MIT
// The part of the box that is the same for every project: an empty root, the system read-only, and
// generated files.
#include "plan/system.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/claude/parts.h"
#include "plan/connections/certificates.h"
#include "plan/facts.h"
#include "plan/git/git.h"
#include "plan/home/home.h"
#include "plan/home/installs.h"
#include "plan/nix/registry.h"
#include "plan/nix/without_daemon.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/tables.h"

#include <string.h>

// Adds a generated file. It lies in the root's tmpfs, which becomes read-only at the end, and so
// needs no mount of its own.
static void add_generated(struct plan *plan, struct arena *arena, const char *path,
			  const char *content, const char *why)
{
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_DATA,
					    .source = content,
					    .path = path,
					    .mode = 0444,
					    .why = why });
}

static void add_empty(struct plan *plan, struct arena *arena, const char *path, unsigned int mode,
		      const char *why)
{
	plan_add_mount(
		plan, arena,
		(struct plan_mount){ .kind = MOUNT_EMPTY, .path = path, .mode = mode, .why = why });
}

static bool has_control(const char *line)
{
	for (const char *s = line; *s; s++)
		if ((unsigned char)*s < ' ' && *s != '\t')
			return true;
	return false;
}

// Returns whether a name is the host's, with or without its domain.
static bool names_host(const char *name, const char *hostname)
{
	const char *rest = hostname ? str_after(name, hostname) : NULL;

	return rest && (*rest == '\0' || *rest == '.');
}

// Returns a line of /etc/hosts without the host's name; "": no other name is left.
static const char *remove_host(struct arena *arena, const char *line, const char *hostname)
{
	static const char blanks[] = " \t";
	struct text out = { .arena = arena };
	size_t names = 0;
	bool found = false;

	for (const char *s = line + strspn(line, blanks); *s; s += strspn(s, blanks)) {
		size_t length = strcspn(s, blanks);
		const char *word = arena_strndup(arena, s, length);

		s += length;
		if (names_host(word, hostname)) {
			found = true;
		} else {
			text_printf(&out, "%s%s", names ? " " : "", word);
			names++;
		}
	}
	if (!found)
		return line;
	return names > 1 ? text_get(&out) : "";
}

// Returns the host's /etc/hosts without the host's own name.
static const char *render_hosts(struct arena *arena, const struct facts *facts)
{
	const char *content = facts->hosts_text ? facts->hosts_text
						: "127.0.0.1 localhost\n"
						  "::1 localhost\n";
	struct text out = { .arena = arena };
	const char *line;

	while ((line = str_next_line(arena, &content))) {
		const char *kept = remove_host(arena, line, facts->hostname);

		if (!has_control(kept) && (*kept || !*line))
			text_printf(&out, "%s\n", kept);
	}
	return text_get(&out);
}

static bool plain_name(const char *name)
{
	return name && *name && strpbrk(name, ":\n\r,\"\\ \t") == NULL;
}

static void add_accounts(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const char *user = plain_name(facts->user) ? facts->user : "user";
	const char *shell = facts->shell ? facts->shell : "/bin/sh";
	const char *home = strpbrk(facts->home, ":\n") ? "/" : facts->home;

	add_generated(plan, arena, "/etc/passwd",
		      arena_printf(arena,
				   "%s:x:%u:%u:%s:%s:%s\n"
				   "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
				   user, plan->uid, plan->gid, user, home, shell),
		      "user and group names");
	add_generated(plan, arena, "/etc/group",
		      arena_printf(arena, "%s:x:%u:\nnogroup:x:65534:\n", user, plan->gid),
		      "user and group names");
}

static void add_names(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	add_generated(plan, arena, "/etc/hosts",
		      arena_printf(arena, "%s127.0.1.1 %s\n", render_hosts(arena, facts),
				   plan->hostname),
		      "host name lookup");
	add_generated(plan, arena, "/etc/nsswitch.conf",
		      "passwd: files\ngroup: files\nhosts: files dns\n", "host name lookup");
}

bool plan_kernel_file(const char *path)
{
	return path_within(path, "/proc") || path_within(path, "/sys") || path_within(path, "/dev");
}

const char *plan_nix_problem(const struct facts *facts, const char **ret_remedy)
{
	const struct nix_facts *nix = &facts->nix;

	*ret_remedy = "to have nix in the box, remove yourself from that list and from the groups "
		      "on it";
	if (facts->uid == 0) {
		*ret_remedy = "start claudebox as an ordinary user";
		return "you are root, and it would run commands of the box as root";
	}
	if (nix->trust == NIX_TRUST_YES)
		return "it trusts you (trusted-users in nix.conf) and would run commands of the "
		       "box as root";
	if (nix->trust != NIX_TRUST_NO) {
		*ret_remedy = "check that the daemon answers and that nix.conf is readable";
		return "it does not report whether it trusts you (trusted-users in nix.conf); if "
		       "it does, it would run commands of the box as root";
	}
	if (nix->ours && nix->unsandboxed) {
		*ret_remedy = "set sandbox = true in nix.conf";
		return "it runs as you and builds without a sandbox, so a build of the box could "
		       "do everything that you can";
	}
	return NULL;
}

bool plan_requests_daemon(const struct config *config)
{
	return !tier_table[config->network].own_namespace || config->nix_daemon;
}

// Returns why the box does not get the daemon, NULL: it does. A profile can request it in a tier
// that has none by default, but not against plan_nix_problem.
static const char *refuse_daemon(struct arena *arena, const struct config *config,
				 const struct facts *facts)
{
	const char *remedy;
	const char *problem = plan_nix_problem(facts, &remedy);

	if (!plan_requests_daemon(config))
		return "its builds and downloads use the host's network; \"nix_daemon\": true in "
		       "a profile adds it";
	return problem ? arena_printf(arena, "%s; %s", problem, remedy) : NULL;
}

// Adds the files that nix in the box needs besides the daemon.
static void add_nix(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	if (plan_generates_nix_registry(facts))
		add_generated(plan, arena, NIX_REGISTRY, plan_nix_registry(plan, arena, facts),
			      "flake registry");
	add_generated(plan, arena, "/etc/nix/nix.conf", plan_nix_settings(arena, facts),
		      "Nix settings without tokens");
	if (facts->nix.index.kind == FILE_DIRECTORY &&
	    !plan_near_secret(facts, facts->nix.index.real))
		plan_add_mount(plan, arena,
			       (struct plan_mount){
				       .kind = MOUNT_READ_ONLY,
				       .source = facts->nix.index.real,
				       .path = path_join(arena, facts->home, ".cache/nix-index"),
				       .id = facts->nix.index.id,
				       .why = "index of commands in packages" });
}

// Adds links for the paths that scripts and foreign programs expect, in a box without the host's
// /usr.
static void add_store_links(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	vec_each(link, &facts->store.links)
		plan_add_mount(plan, arena,
			       (struct plan_mount){ .kind = MOUNT_LINK,
						    .source = link->target,
						    .path = link->link,
						    .why = "fixed paths of programs" });
}

// Adds settings for podman. Its defaults require many user ids, a tun device and cgroups, which no
// box has. It requires the directory of cgroups, and works without them if that is empty. Images
// lie on a tmpfs, also in a kept home: the locks of podman are in the box, so two boxes could
// damage the images of each other. The driver vfs copies each layer.
static void add_containers(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	static const char why[] = "lets podman work in a box";

	add_generated(plan, arena, "/etc/containers/containers.conf",
		      "[containers]\n"
		      "netns = \"host\"\n"
		      "[engine]\n"
		      "env = [\"PODMAN_IGNORE_CGROUPSV1_WARNING=1\"]\n",
		      why);
	add_generated(plan, arena, CONTAINERS_STORAGE,
		      arena_printf(arena,
				   "[storage]\n"
				   "driver = \"%s\"\n"
				   "[storage.options]\n"
				   "ignore_chown_errors = \"true\"\n"
				   "[storage.options.vfs]\n"
				   "ignore_chown_errors = \"true\"\n",
				   facts->overlay_on_tmpfs ? "overlay" : "vfs"),
		      why);
	if (plan->state.home)
		add_empty(plan, arena, path_join(arena, facts->home, ".local/share/containers"),
			  0700, why);
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_DIRECTORY,
					    .path = "/sys/fs/cgroup",
					    .mode = 0555,
					    .why = why });
}

// Returns whether the host's file is not mounted, or is replaced by a generated one.
static bool is_left_out(const struct plan *plan, const struct facts *facts, const char *path)
{
	if (str_equal(path, NIX_DAEMON))
		return plan->nix_daemon_left_out != NULL;
	if (str_equal(path, NIX_REGISTRY))
		return facts_file(facts, NIX_DAEMON) && !plan->nix_daemon_left_out &&
		       plan_generates_nix_registry(facts);
	return tier_table[plan->config->network].attached && str_equal(path, RESOLVER_FILE);
}

void plan_build_system(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	bool nested = plan->config->nested;

	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_PROC,
					    .path = "/proc",
					    .why = "processes of the box" });
	plan_add_mount(
		plan, arena,
		(struct plan_mount){ .kind = MOUNT_DEV, .path = "/dev", .why = "basic devices" });
	for (size_t i = 0; i < root_table_count && facts->uid == 0; i++) {
		const struct followed *file = facts_file(facts, root_table[i].path);

		if (file)
			plan_add_mount(plan, arena,
				       (struct plan_mount){ .kind = MOUNT_READ_ONLY,
							    .source = file->real,
							    .path = file->real,
							    .id = file->id,
							    .why = root_table[i].why });
	}
	// /dev/null cannot be opened here: the mount does not allow devices.
	for (size_t i = 0; i < hidden_table_count && !nested; i++) {
		if (facts_file(facts, hidden_table[i].path))
			plan_add_mount(plan, arena,
				       (struct plan_mount){ .kind = MOUNT_READ_ONLY,
							    .source = "/dev/null",
							    .path = hidden_table[i].path,
							    .why = hidden_table[i].why });
	}
	add_empty(plan, arena, "/tmp", 01777, "temporary files");
	add_empty(plan, arena, "/var/tmp", 01777, "temporary files");
	add_empty(plan, arena, arena_printf(arena, "/run/user/%u", plan->uid), 0700,
		  "sockets of the box");
	plan_build_home(plan, arena, facts);
	if (facts_file(facts, NIX_DAEMON))
		plan->nix_daemon_left_out = refuse_daemon(arena, plan->config, facts);
	if (facts->store.only)
		add_store_links(plan, arena, facts);
	for (size_t i = 0; i < system_table_count; i++) {
		const struct followed *file = facts_file(facts, system_table[i].path);

		if (!file || file->kind == FILE_OTHER || is_left_out(plan, facts, file->path) ||
		    path_within(file->path, BOX_POLICY) ||
		    (facts->store.only && system_table[i].replaced) ||
		    (system_table[i].nested && !nested))
			continue;
		plan_add_followed(plan, arena, facts, file, system_table[i].why);
	}
	plan_build_policy(plan, arena, facts);
	plan_build_installs(plan, arena);
	plan_mount_certificates(plan, arena, facts);
	add_accounts(plan, arena, facts);
	add_names(plan, arena, facts);
	add_generated(plan, arena, BOX_GIT_CONFIG, plan_git_basics(arena, facts),
		      "your name and e-mail for commits");
	if (nested && facts_file(facts, CONTAINERS_POLICY))
		add_containers(plan, arena, facts);
	if (facts_file(facts, NIX_DAEMON) && !plan->nix_daemon_left_out)
		add_nix(plan, arena, facts);
	plan_explain_missing_daemon(plan, arena, facts->store.only);
}
