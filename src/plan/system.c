// SPDX-License-Identifier: MIT
// The part of the box that is the same for every project: an empty root, the system read-only, a few made files.
#include "plan/system.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/nix/registry.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/tables.h"

#include <string.h>

// A made file lies in the root's tmpfs, which is sealed at the end: read-only without a mount of its own.
static void add_made(struct plan *plan, struct arena *arena, const char *path, const char *content,
		     const char *why)
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

// The host's own name, with or without its domain.
static bool names_host(const char *name, const char *hostname)
{
	const char *rest = hostname ? str_after(name, hostname) : NULL;

	return rest && (*rest == '\0' || *rest == '.');
}

// A line of /etc/hosts without the host's name; "" when no other is left.
static const char *without_host(struct arena *arena, const char *line, const char *hostname)
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

static const char *host_names(struct arena *arena, const struct facts *facts)
{
	const char *content = facts->hosts_text ? facts->hosts_text
						: "127.0.0.1 localhost\n"
						  "::1 localhost\n";
	struct text out = { .arena = arena };
	const char *line;

	while ((line = str_next_line(arena, &content))) {
		const char *kept = without_host(arena, line, facts->hostname);

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

	add_made(plan, arena, "/etc/passwd",
		 arena_printf(arena,
			      "%s:x:%u:%u:%s:%s:%s\n"
			      "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
			      user, plan->uid, plan->gid, user, home, shell),
		 "names you and nobody");
	add_made(plan, arena, "/etc/group",
		 arena_printf(arena, "%s:x:%u:\nnogroup:x:65534:\n", user, plan->gid),
		 "names you and nobody");
}

static void add_names(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	add_made(plan, arena, "/etc/hosts",
		 arena_printf(arena, "%s127.0.1.1 %s\n", host_names(arena, facts), plan->hostname),
		 "finds host names");
	add_made(plan, arena, "/etc/nsswitch.conf",
		 "passwd: files\ngroup: files\nhosts: files dns\n", "finds host names");
}

// A value in git's configuration syntax; control characters would only serve to confuse.
static const char *git_value(struct arena *arena, const char *value)
{
	struct text out = { .arena = arena };

	text_add(&out, "\"");
	for (const char *s = value; *s; s++) {
		if (*s == '"' || *s == '\\')
			text_add(&out, "\\");
		if (*s == '\n')
			text_add(&out, "\\n");
		else if ((unsigned char)*s >= ' ' && *s != 0x7f)
			text_add_bytes(&out, s, 1);
	}
	text_add(&out, "\"");
	return text_get(&out);
}

static void add_git_configuration(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const struct git_facts *git = &facts->git;
	struct text out = { .arena = arena };

	if (git->user_name || git->user_email)
		text_add(&out, "[user]\n");
	if (git->user_name)
		text_printf(&out, "\tname = %s\n", git_value(arena, git->user_name));
	if (git->user_email)
		text_printf(&out, "\temail = %s\n", git_value(arena, git->user_email));
	text_printf(&out, "[safe]\n\tdirectory = %s\n", git_value(arena, facts->project));
	if (plan_git(facts) && !str_equal(git->top, facts->project))
		text_printf(&out, "\tdirectory = %s\n", git_value(arena, git->top));
	add_made(plan, arena, "/etc/gitconfig", text_get(&out), "your name and e-mail for commits");
}

static void add_certificates(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	for (size_t i = 0; i < ca_bundle_count; i++) {
		const struct followed *bundle = facts_file(facts, ca_bundles[i]);

		if (bundle && bundle->kind == FILE_REGULAR)
			plan_add_followed(plan, arena, facts, bundle, "trusted certificates");
	}
	for (size_t i = 0; i < ca_variable_count; i++) {
		const char *path = facts_variable(facts, ca_variables[i]);
		const struct followed *bundle = path ? facts_file(facts, path) : NULL;

		if (bundle && bundle->kind == FILE_REGULAR &&
		    !path_within(bundle->real, facts->project) &&
		    !path_within(bundle->real, path_join(arena, facts->home, ".claude")))
			plan_add_followed(plan, arena, facts, bundle, "trusted certificates");
	}
}

const char *plan_nix_problem(const struct facts *facts, const char **ret_cure)
{
	const struct nix_facts *nix = &facts->nix;

	*ret_cure = "take yourself off that list, and out of the groups on it, to have nix in the "
		    "box";
	if (facts->uid == 0) {
		*ret_cure = "start claudebox as an ordinary user";
		return "you are root, and it would run as root what a box tells it to";
	}
	if (nix->trust == NIX_TRUST_YES)
		return "it trusts you (trusted-users in nix.conf) and would run as root what a box "
		       "tells it to";
	if (nix->trust != NIX_TRUST_NO) {
		*ret_cure = "see that it answers, and that nix.conf can be read";
		return "it does not say whether it trusts you (trusted-users in nix.conf), and "
		       "then it would run as root what a box tells it to";
	}
	if (nix->ours && nix->unsandboxed) {
		*ret_cure = "set sandbox = true in nix.conf";
		return "it runs as you and builds without a sandbox, so what a box builds could do "
		       "all that you can";
	}
	return NULL;
}

bool plan_wants_daemon(const struct config *config)
{
	return !tier_table[config->network].own_namespace || config->nix_daemon;
}

// A profile can ask for it in a tier that has none, but not for what its user must not have.
static const char *leave_daemon_out(struct arena *arena, const struct config *config,
				    const struct facts *facts)
{
	const char *cure;
	const char *problem = plan_nix_problem(facts, &cure);

	if (!plan_wants_daemon(config))
		return "what it builds and fetches has the host's network";
	return problem ? arena_printf(arena, "%s; %s", problem, cure) : NULL;
}

// What nix in the box needs beside the daemon.
static void add_nix(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	if (plan_makes_nix_registry(facts))
		add_made(plan, arena, NIX_REGISTRY, plan_nix_registry(plan, arena, facts),
			 "what nix calls nixpkgs");
	add_made(plan, arena, "/etc/nix/nix.conf", plan_nix_settings(arena, facts),
		 "Nix settings without tokens");
	if (facts->nix.index.kind == FILE_DIRECTORY &&
	    !plan_near_secret(facts, facts->nix.index.real))
		plan_add_mount(plan, arena,
			       (struct plan_mount){
				       .kind = MOUNT_READ_ONLY,
				       .source = facts->nix.index.real,
				       .path = path_join(arena, facts->home, ".cache/nix-index"),
				       .id = facts->nix.index.id,
				       .why = "finds commands in packages" });
}

// Without the host's /usr: what scripts and foreign programs name by its path.
static void add_store_links(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	vec_each(link, &facts->store.links)
		plan_add_mount(plan, arena,
			       (struct plan_mount){ .kind = MOUNT_LINK,
						    .source = link->target,
						    .path = link->link,
						    .why = "where programs look for them" });
}

// podman's own defaults ask for what no box has: many user ids, a tun device, cgroups. It must see the directory of the
// last, and goes on without when it is empty. Images lie in the box's home, a tmpfs; vfs copies each of their layers.
static void add_containers(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	static const char why[] = "lets podman work in a box";

	add_made(plan, arena, "/etc/containers/containers.conf",
		 "[containers]\n"
		 "netns = \"host\"\n"
		 "[engine]\n"
		 "env = [\"PODMAN_IGNORE_CGROUPSV1_WARNING=1\"]\n",
		 why);
	add_made(plan, arena, CONTAINERS_STORAGE,
		 arena_printf(arena,
			      "[storage]\n"
			      "driver = \"%s\"\n"
			      "[storage.options]\n"
			      "ignore_chown_errors = \"true\"\n"
			      "[storage.options.vfs]\n"
			      "ignore_chown_errors = \"true\"\n",
			      facts->overlay_on_tmpfs ? "overlay" : "vfs"),
		 why);
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_DIRECTORY,
					    .path = "/sys/fs/cgroup",
					    .mode = 0555,
					    .why = why });
}

// A box that finds names by itself has its own resolver.
static bool left_out(const struct plan *plan, const struct facts *facts, const char *path)
{
	if (str_equal(path, NIX_DAEMON))
		return plan->nix_daemon_left_out != NULL;
	if (str_equal(path, NIX_REGISTRY))
		return facts_file(facts, NIX_DAEMON) && !plan->nix_daemon_left_out &&
		       plan_makes_nix_registry(facts);
	return tier_table[plan->network].attached && str_equal(path, RESOLVER_FILE);
}

void plan_build_system(struct plan *plan, struct arena *arena, const struct config *config,
		       const struct facts *facts)
{
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_PROC,
					    .path = "/proc",
					    .why = "processes of the box" });
	plan_add_mount(plan, arena,
		       (struct plan_mount){
			       .kind = MOUNT_DEV, .path = "/dev", .why = "harmless devices" });
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
	// A device on a mount without devices: it cannot even be opened.
	for (size_t i = 0; i < hidden_table_count && !plan->user_namespaces; i++) {
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
	add_empty(plan, arena, facts->home, 0700, "an empty home, gone at the end");
	if (facts_file(facts, NIX_DAEMON))
		plan->nix_daemon_left_out = leave_daemon_out(arena, config, facts);
	if (facts->store.only)
		add_store_links(plan, arena, facts);
	for (size_t i = 0; i < system_table_count; i++) {
		const struct followed *file = facts_file(facts, system_table[i].path);

		if (!file || file->kind == FILE_OTHER || left_out(plan, facts, file->path) ||
		    (facts->store.only && system_table[i].replaced) ||
		    (system_table[i].nested && !plan->user_namespaces))
			continue;
		plan_add_followed(plan, arena, facts, file, system_table[i].why);
	}
	add_certificates(plan, arena, facts);
	add_accounts(plan, arena, facts);
	add_names(plan, arena, facts);
	add_git_configuration(plan, arena, facts);
	if (plan->user_namespaces && facts_file(facts, CONTAINERS_POLICY))
		add_containers(plan, arena, facts);
	if (facts_file(facts, NIX_DAEMON) && !plan->nix_daemon_left_out)
		add_nix(plan, arena, facts);
}
