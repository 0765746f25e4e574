// SPDX-License-Identifier: MIT
// Where --prove plants its canaries, and which of them the user has let into the box.
#include "prove/canaries.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/limits.h"
#include "plan/plan.h"
#include "prove/verdicts.h"

#include <string.h>

const char *const canary_kind_names[CANARY_KIND_COUNT] = {
	[CANARY_TOKEN] = "token",
	[CANARY_MARK] = "mark",
	[CANARY_TIER] = "tier",
	[CANARY_FILE] = "file",
	[CANARY_ABSENT] = "absent",
	[CANARY_VARIABLE] = "env",
	[CANARY_DESCRIPTOR] = "fd",
	[CANARY_KEY] = "key",
	[CANARY_ABSTRACT] = "abstract",
	[CANARY_ABSTRACT_DATAGRAM] = "abstract-datagram",
	[CANARY_UNIX] = "unix",
	[CANARY_TCP] = "tcp",
	[CANARY_UDP] = "udp",
	[CANARY_INCOMING] = "incoming",
	[CANARY_PROCESS] = "pid",
	[CANARY_SHARED_MEMORY] = "sysv-shm",
	[CANARY_SEMAPHORE] = "sysv-sem",
	[CANARY_MESSAGES] = "sysv-msg",
	[CANARY_QUEUE] = "mqueue",
	[CANARY_HOSTNAME] = "hostname",
	[CANARY_MACHINE] = "machine-id",
	[CANARY_BOOT] = "boot-id",
	[CANARY_USER] = "user",
	[CANARY_MOUNT_SOURCE] = "mount-source",
	[CANARY_HOME] = "home",
	[CANARY_PROJECT] = "project",
	[CANARY_PARENT] = "parent",
	[CANARY_HARDWARE] = "mac",
	[CANARY_TERMINAL] = "terminal",
	[CANARY_LIMIT] = "limit",
	[CANARY_WRITE] = "write",
};

// Directories that are nobody's secret, but not the box's either. '~/' is the home directory.
enum { PLANT_FILE = 1, PLANT_SOCKET = 2, PLANT_NOTHING_MADE = 4 };
struct place {
	const char *group;
	const char *path;
	unsigned int what;
};
static const struct place places[] = {
	{ "home", "~/", PLANT_FILE | PLANT_SOCKET | PLANT_NOTHING_MADE },
	{ "home", "~/.config", PLANT_NOTHING_MADE },
	{ "home", "~/.local/bin", PLANT_NOTHING_MADE },
	{ "home", "~/.ssh", PLANT_NOTHING_MADE },
	{ "home", "~/.claude", PLANT_NOTHING_MADE },
	{ "state", "~/.claudebox", PLANT_FILE | PLANT_NOTHING_MADE },
	{ "state", "~/.claudebox/instances", PLANT_FILE | PLANT_NOTHING_MADE },
	{ "state", "~/.claudebox/profiles", PLANT_NOTHING_MADE },
	{ "temporary", "/tmp", PLANT_FILE | PLANT_SOCKET | PLANT_NOTHING_MADE },
	{ "temporary", "/var/tmp", PLANT_FILE | PLANT_NOTHING_MADE },
	{ "shm", "/dev/shm", PLANT_FILE | PLANT_NOTHING_MADE },
	{ "run", "/run", PLANT_NOTHING_MADE },
	{ "system", "/etc", PLANT_NOTHING_MADE },
	{ "system", "/usr", PLANT_NOTHING_MADE },
	{ "system", "/usr/bin", PLANT_NOTHING_MADE },
	{ "system", "/var", PLANT_NOTHING_MADE },
};

// The canaries' list has a line for each, and tabs between its fields.
static bool can_be_listed(const char *path)
{
	return !strpbrk(path, "\t\n");
}

// What the box has at this path that is not empty at the start.
static const struct plan_mount *mount_around(const struct plan *plan, const char *path)
{
	const struct plan_mount *found = NULL;

	vec_each(mount, &plan->mounts) {
		bool empty = mount->kind == MOUNT_EMPTY || mount->kind == MOUNT_DEV ||
			     mount->kind == MOUNT_DIRECTORY || mount->kind == MOUNT_PROC;

		if (mount->kind != MOUNT_SEAL && path_within(path, mount->path))
			found = empty ? NULL : mount;
	}
	return found;
}

// Another home directory brings the system's secrets a second time.
static bool is_listed(const canaries *list, const struct canary *wanted)
{
	vec_each(canary, list) {
		if (canary->kind == wanted->kind && str_equal(canary->value, wanted->value))
			return true;
	}
	return false;
}

static void add(canaries *list, struct arena *arena, const struct plan *plan, struct canary canary,
		const char *directory)
{
	const struct plan_mount *mount = mount_around(plan, directory);
	// To read was asked for, or is meant: to write is not.
	bool forbidden = mount && canary.kind >= CANARY_WRITE && mount->kind == MOUNT_READ_ONLY;

	if (!can_be_listed(canary.value) || is_listed(list, &canary))
		return;
	// Something of the box's own has that name in it: nothing can be told by it.
	if (mount && !forbidden && mount->origin != ORIGIN_ASKED)
		return;
	if (mount && !forbidden)
		canary.granted = arena_printf(arena, "%s mounts '%s'", mount->why,
					      quote_display(arena, mount->source, 0));
	vec_push(arena, list, canary);
}

// What must not come into being, by any of the attacks that make something.
static void add_write(canaries *list, struct arena *arena, const struct plan *plan,
		      const char *directory, const char *path)
{
	add(list, arena, plan, (struct canary){ .kind = CANARY_WRITE, .value = path }, directory);
	for (size_t i = 0; i < attack_count; i++) {
		const struct attack *attack = &attack_table[i];

		if (str_equal(attack->group, "writes"))
			add(list, arena, plan,
			    (struct canary){ .kind = CANARY_MADE,
					     .group = attack->id,
					     .value = arena_printf(arena, "%s.%s", path,
								   attack_name(arena, attack)) },
			    directory);
	}
}

static void add_place(canaries *list, struct arena *arena, const struct plan *plan,
		      const struct place *place, const char *directory, const char *mark)
{
	const char *path = path_join(arena, directory, mark);

	if (place->what & PLANT_FILE)
		add(list, arena, plan,
		    (struct canary){ .kind = CANARY_FILE, .group = place->group, .value = path },
		    directory);
	if (place->what & PLANT_SOCKET)
		add(list, arena, plan,
		    (struct canary){ .kind = CANARY_UNIX,
				     .value = arena_printf(arena, "%s.socket", path) },
		    directory);
	if (place->what & PLANT_NOTHING_MADE)
		add_write(list, arena, plan, directory, arena_printf(arena, "%s.made", path));
}

// "ssh" for "~/.ssh", "credentials-toml" for "~/.cargo/credentials.toml".
static const char *class_of(struct arena *arena, const char *path)
{
	char *name = arena_strdup(arena, path_name(path));

	name += *name == '.';
	for (char *s = name; *s; s++) {
		if (*s >= 'A' && *s <= 'Z')
			*s = (char)(*s - 'A' + 'a');
		else if (*s == '.' || *s == ' ' || *s == '_')
			*s = '-';
	}
	return name;
}

// In the directories of root nothing is planted, not even by root: daemons watch them.
static void add_secrets(canaries *list, struct arena *arena, const struct plan *plan,
			const struct facts *facts, const char *mark)
{
	vec_each(secret, &facts->secrets) {
		bool ours = path_within(secret->path, facts->home);
		const char *group = class_of(arena, secret->path);

		add(list, arena, plan,
		    ours ? (struct canary){ .kind = CANARY_FILE,
					    .group = group,
					    .value = path_join(arena, secret->path, mark),
					    .secret = true }
			 : (struct canary){ .kind = CANARY_ABSENT,
					    .group = group,
					    .value = secret->path },
		    secret->path);
	}
}

// The nearest directory around the project that the box does not have.
static const char *parent_of(struct arena *arena, const struct plan *plan)
{
	const char *path = path_parent(arena, plan->project);

	while (!str_equal(path, "/") && mount_around(plan, path))
		path = path_parent(arena, path);
	return path;
}

static void add_limits(canaries *list, struct arena *arena, const struct plan_limits *limits)
{
	limit_files files = limits_render_files(arena, limits);

	if (limits->way == LIMITS_NONE)
		return;
	vec_each(file, &files) {
		if (!file->may_be_missing)
			vec_push(arena, list,
				 (struct canary){ .kind = CANARY_LIMIT,
						  .group = file->name,
						  .value = file->value,
						  .extra = limits->asked ? "asked" : NULL });
	}
}

canaries prove_places(struct arena *arena, const struct plan *plan, const struct facts *facts,
		      const char *mark)
{
	static const unsigned int all = PLANT_FILE | PLANT_NOTHING_MADE;
	const char *runtime = facts_variable(facts, "XDG_RUNTIME_DIR");
	const char *parent = parent_of(arena, plan);
	canaries list = { 0 };

	add_secrets(&list, arena, plan, facts, mark);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		add_place(&list, arena, plan, &places[i],
			  path_clean(arena, path_expand_home(arena, places[i].path, facts->home)),
			  mark);
	if (runtime && *runtime == '/')
		add_place(&list, arena, plan,
			  &(struct place){ .group = "run", .what = all | PLANT_SOCKET },
			  path_clean(arena, runtime), mark);
	if (!str_equal(parent, "/") && !str_equal(parent, facts->home))
		add_place(&list, arena, plan,
			  &(struct place){ .group = "other-project", .what = all }, parent, mark);
	add_limits(&list, arena, &plan->limits);
	if (can_be_listed(parent))
		vec_push(arena, &list, (struct canary){ .kind = CANARY_PARENT, .value = parent });
	return list;
}

void prove_grant_variables(struct arena *arena, struct plan *plan, canaries *list)
{
	vec_each(canary, list) {
		if (canary->kind != CANARY_VARIABLE)
			continue;
		vec_each(variable, &plan->variables) {
			if (variable->origin == ORIGIN_ASKED &&
			    str_equal(variable->name, canary->value)) {
				canary->granted = arena_printf(arena, "%s passes %s", variable->why,
							       variable->name);
				variable->value = "granted"; // the token would be found by others
			}
		}
	}
}

void prove_grant_ports(struct arena *arena, const struct plan *plan, canaries *list)
{
	vec_each(port, &plan->inet.host_ports) {
		struct canary open = { .kind = CANARY_TCP,
				       .group = "loopback",
				       .value = "127.0.0.1",
				       .extra = arena_printf(arena, "%u", port->number) };

		open.granted = arena_printf(arena, "%s opens port %u of the host's loopback",
					    port->origin, port->number);
		vec_each(canary, list) {
			if (canary->kind == open.kind && str_equal(canary->group, open.group) &&
			    str_equal(canary->extra, open.extra))
				canary->granted = open.granted;
		}
		vec_push(arena, list, open);
	}
	vec_each(port, &plan->inet.published_ports) {
		struct canary open = { .kind = CANARY_INCOMING,
				       .value = arena_printf(arena, "%u", port->number) };

		open.granted = arena_printf(arena,
					    "%s opens port %u of the box to the host's loopback",
					    port->origin, port->number);
		vec_push(arena, list, open);
	}
}

const char *prove_render_canaries(struct arena *arena, const canaries *list)
{
	struct text out = { .arena = arena };

	vec_each(canary, list) {
		const char *const fields[] = { canary->group, canary->value, canary->extra };

		if (canary->granted || canary->kind >= CANARY_MADE)
			continue;
		text_add(&out, canary_kind_names[canary->kind]);
		for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
			if (fields[i])
				text_printf(&out, "\t%s", fields[i]);
		text_add(&out, "\n");
	}
	return text_get(&out);
}

void prove_change_plan(struct plan *plan, struct arena *arena, const void *probe, size_t probe_size,
		       const char *canary_text)
{
	const struct plan_mount seal = plan->mounts.items[--plan->mounts.count];

	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_DATA,
					    .source = probe,
					    .size = probe_size,
					    .path = BOX_PROBE,
					    .mode = 0555,
					    .why = "attacks the box" });
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_DATA,
					    .source = canary_text,
					    .path = BOX_CANARIES,
					    .mode = 0444,
					    .why = "tells the probe what to look for" });
	plan_add_mount(plan, arena, seal); // it stays the last
	plan->command.count = 0;
	vec_push(arena, &plan->command, BOX_PROBE);
}
