// SPDX-License-Identifier: MIT
// The list of canaries: where --prove plants them, which of them the user has granted to the box,
// and the text that the attack program reads.
#include "prove/canaries.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/limits.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "plan/state/layout.h"
#include "prove/attacks.h"
#include "prove/protocol.h"

#include <string.h>

enum { PLANT_FILE = 1, PLANT_SOCKET = 2, PLANT_WRITE = 4 };
enum { MOST_TOOLCHAINS = 32 }; // mounts of toolchains that are attacked

// A directory that is no secret place, but does not belong to the box either.
struct place {
	const char *attack; // the PLACE_ATTACK that reads the file; NULL without PLANT_FILE
	const char *path;   // "~/" stands for the home directory
	unsigned int what;
};
static const struct place places[] = {
	{ "files-home", "~/", PLANT_FILE | PLANT_SOCKET | PLANT_WRITE },
	{ NULL, "~/.config", PLANT_WRITE },
	{ NULL, "~/.local/bin", PLANT_WRITE },
	{ NULL, "~/.ssh", PLANT_WRITE },
	{ NULL, "~/.claude", PLANT_WRITE },
	{ "files-state", "~/.claudebox", PLANT_FILE | PLANT_WRITE },
	{ "files-state", "~/.claudebox/instances", PLANT_FILE | PLANT_WRITE },
	{ NULL, "~/.claudebox/profiles", PLANT_WRITE },
	{ "files-temporary", "/tmp", PLANT_FILE | PLANT_SOCKET | PLANT_WRITE },
	{ "files-temporary", "/var/tmp", PLANT_FILE | PLANT_WRITE },
	{ "files-shared-memory", "/dev/shm", PLANT_FILE | PLANT_WRITE },
	{ NULL, "/run", PLANT_WRITE },
	{ NULL, "/etc", PLANT_WRITE },
	{ NULL, "/usr", PLANT_WRITE },
	{ NULL, "/usr/bin", PLANT_WRITE },
	{ NULL, "/var", PLANT_WRITE },
};

// Returns whether a path fits the protocol, which separates lines by newlines and fields by tabs.
static bool can_be_listed(const char *path)
{
	return !strpbrk(path, "\t\n");
}

// Returns the mount that provides this path in the box, or NULL if the path is empty at the start.
static const struct plan_mount *find_mount(const struct plan *plan, const char *path)
{
	const struct plan_mount *found = NULL;

	vec_each(mount, &plan->mounts) {
		bool empty = mount->kind == MOUNT_EMPTY || mount->kind == MOUNT_DEV ||
			     mount->kind == MOUNT_DIRECTORY || mount->kind == MOUNT_PROC ||
			     mount->kept_home;

		if (mount->kind != MOUNT_SEAL && path_within(path, mount->path))
			found = empty ? NULL : mount;
	}
	return found;
}

// Returns whether the list has this canary already: facts about a second home directory repeat the
// secret places of the system.
static bool is_listed(const canaries *list, const struct canary *wanted)
{
	vec_each(canary, list) {
		if (canary->kind == wanted->kind && str_equal(canary->value, wanted->value))
			return true;
	}
	return false;
}

static bool is_write(enum canary_kind kind)
{
	return kind == CANARY_WRITE || kind == CANARY_WRITE_BY_ATTACK;
}

static void add_canary(canaries *list, struct arena *arena, const struct plan *plan,
		       struct canary canary, const char *directory)
{
	const struct plan_mount *mount = find_mount(plan, directory);
	// A read-only mount permits reading, but never writing.
	bool forbidden = mount && is_write(canary.kind) && mount->kind == MOUNT_READ_ONLY;

	if (!can_be_listed(canary.value) || is_listed(list, &canary))
		return;
	// The box has its own file at this path, so a successful access would prove nothing.
	if (mount && !forbidden && mount->origin.kind != ORIGIN_REQUESTED)
		return;
	if (mount && !forbidden)
		canary.granted = arena_printf(arena, "%s mounts '%s'", mount->origin.name,
					      quote_display(arena, mount->source, 0));
	vec_push(arena, list, canary);
}

// Adds a path that must not come to exist, and one for each attack that derives a path from it.
static void add_write(canaries *list, struct arena *arena, const struct plan *plan,
		      const char *directory, const char *path)
{
	add_canary(list, arena, plan, (struct canary){ .kind = CANARY_WRITE, .value = path },
		   directory);
	for (enum attack_id attack = 0; attack < ATTACK_COUNT; attack++) {
		const char *name = attack_name(arena, attack);

		if (str_equal(attack_table[attack].group, "writes"))
			add_canary(list, arena, plan,
				   (struct canary){
					   .kind = CANARY_WRITE_BY_ATTACK,
					   .group = name,
					   .value = arena_printf(arena, "%s.%s", path, name) },
				   directory);
	}
}

static void add_place(canaries *list, struct arena *arena, const struct plan *plan,
		      const struct place *place, const char *directory, const char *mark)
{
	const char *path = path_join(arena, directory, mark);

	if (place->what & PLANT_FILE)
		add_canary(list, arena, plan,
			   (struct canary){
				   .kind = CANARY_FILE, .group = place->attack, .value = path },
			   directory);
	if (place->what & PLANT_SOCKET)
		add_canary(list, arena, plan,
			   (struct canary){ .kind = CANARY_UNIX,
					    .value = arena_printf(arena, "%s.socket", path) },
			   directory);
	if (place->what & PLANT_WRITE)
		add_write(list, arena, plan, directory, arena_printf(arena, "%s.made", path));
}

// Returns whether the box has a link to a generated file at this path.
static bool is_home_link(const struct plan *plan, const char *path)
{
	const char *name = str_after(path, plan->home);

	vec_each(link, &plan->state.home_links) {
		if (name && *name == '/' && str_equal(name + 1, link->name))
			return true;
	}
	return false;
}

// Adds the files that claudebox generates. The settings of package managers among them come from
// texts with the token in them.
static void add_generated(canaries *list, struct arena *arena, const struct plan *plan)
{
	vec_each(mount, &plan->mounts) {
		if (mount->kind == MOUNT_DATA && can_be_listed(mount->path))
			vec_push(arena, list,
				 (struct canary){ .kind = CANARY_GENERATED, .value = mount->path });
	}
}

// Adds the secret places. Outside the home directory nothing is planted, not even by root, because
// daemons watch those directories.
static void add_secrets(canaries *list, struct arena *arena, const struct plan *plan,
			const struct facts *facts, const char *mark)
{
	vec_each(secret, &facts->secrets) {
		bool in_home = path_within(secret->path, facts->home);

		if (is_home_link(plan, secret->path))
			continue;
		if (!secret->attack) // a socket: the attacks on sockets have their own tables
			continue;
		add_canary(list, arena, plan,
			   in_home ? (struct canary){ .kind = CANARY_FILE,
						      .group = secret->attack,
						      .value = path_join(arena, secret->path, mark),
						      .secret = true }
				   : (struct canary){ .kind = CANARY_ABSENT,
						      .group = secret->attack,
						      .value = secret->path },
			   secret->path);
	}
}

// Adds the toolchains: a file beside the parts that the box has, which is written after the plan
// was made, and a name in each part.
static void add_toolchains(canaries *list, struct arena *arena, const struct plan *plan,
			   const struct facts *facts, const char *mark)
{
	const struct place beside = { .attack = "files-toolchains",
				      .what = PLANT_FILE | PLANT_WRITE };
	int count = 0;

	vec_each(toolchain, &plan->toolchains) {
		if (path_within(toolchain->root, facts->home) &&
		    !path_within(toolchain->root, path_join(arena, facts->home, ".local/bin")))
			add_place(list, arena, plan, &beside, toolchain->root, mark);
	}
	vec_each(mount, &plan->mounts) {
		if (!mount->toolchain || mount->kind != MOUNT_READ_ONLY ||
		    !can_be_listed(mount->path) || count++ >= MOST_TOOLCHAINS)
			continue;
		vec_push(arena, list,
			 (struct canary){ .kind = CANARY_TOOLCHAIN, .value = mount->path });
		if (str_equal(mount->source, mount->path))
			add_write(list, arena, plan, mount->path,
				  arena_printf(arena, "%s/%s.made", mount->path, mark));
	}
}

// Returns the nearest directory above the project that the box does not have.
static const char *find_parent(struct arena *arena, const struct plan *plan)
{
	const char *path = path_parent(arena, plan->project);

	while (!str_equal(path, "/") && find_mount(plan, path))
		path = path_parent(arena, path);
	return path;
}

const char *prove_other_instance(struct arena *arena, const struct plan *plan, const char *mark)
{
	return arena_printf(arena, "%s/" INSTANCES_DIRECTORY "/%s", plan->state.root, mark);
}

// Adds the snapshots of the present project: a box that reaches them could spoil --undo.
static void add_snapshots(canaries *list, struct arena *arena, const struct plan *plan,
			  const char *mark)
{
	static const struct place place = { .attack = "files-state",
					    .what = PLANT_FILE | PLANT_WRITE };

	add_place(list, arena, plan, &place,
		  path_join(arena, plan->state.instance, INSTANCE_SNAPSHOTS), mark);
}

// Adds the homes of other boxes: that of an instance that --prove creates, and the shared one,
// which may be granted.
static void add_homes(canaries *list, struct arena *arena, const struct plan *plan,
		      const char *mark)
{
	static const struct place place = { .attack = "files-other-homes",
					    .what = PLANT_FILE | PLANT_WRITE };
	const char *shared = path_join(arena, plan->state.root, STATE_HOME);

	add_place(list, arena, plan, &place,
		  path_join(arena, prove_other_instance(arena, plan, mark), STATE_HOME), mark);
	if (plan->config->home != HOME_SHARED) {
		add_place(list, arena, plan, &place, shared, mark);
		return;
	}
	vec_push(arena, list,
		 (struct canary){ .kind = CANARY_FILE,
				  .group = place.attack,
				  .value = path_join(arena, shared, mark),
				  .granted = arena_printf(arena, "%s shares the home of all boxes",
							  plan->config->home_origin.name) });
}

void prove_change_home(struct plan *plan, struct arena *arena, const char *mark)
{
	if (!plan->state.home)
		return;
	plan->state.home = arena_printf(arena, "%s/%s." STATE_HOME, plan->state.root, mark);
	plan->state.new_home_links = NULL;
	vec_each(mount, &plan->mounts) {
		if (mount->kept_home)
			mount->source = plan->state.home;
	}
}

static void add_limits(canaries *list, struct arena *arena, const struct plan_limits *limits)
{
	limit_files files = limits_render_files(arena, limits);

	if (limits->method == LIMITS_NONE)
		return;
	vec_each(file, &files) {
		if (!file->may_be_missing)
			vec_push(arena, list,
				 (struct canary){ .kind = CANARY_LIMIT,
						  .group = file->name,
						  .value = file->value,
						  .extra = limits->requested ? "requested"
									     : NULL });
	}
}

canaries prove_places(struct arena *arena, const struct plan *plan, const struct facts *facts,
		      const char *mark)
{
	const char *runtime = facts_variable(facts, "XDG_RUNTIME_DIR");
	const char *parent = find_parent(arena, plan);
	canaries list = { 0 };

	add_secrets(&list, arena, plan, facts, mark);
	add_generated(&list, arena, plan);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		add_place(&list, arena, plan, &places[i],
			  path_clean(arena, path_expand_home(arena, places[i].path, facts->home)),
			  mark);
	add_toolchains(&list, arena, plan, facts, mark);
	if (runtime && *runtime == '/')
		add_place(&list, arena, plan,
			  &(struct place){ .attack = "files-run",
					   .what = PLANT_FILE | PLANT_SOCKET | PLANT_WRITE },
			  path_clean(arena, runtime), mark);
	if (!str_equal(parent, "/") && !str_equal(parent, facts->home))
		add_place(&list, arena, plan,
			  &(struct place){ .attack = "files-other-projects",
					   .what = PLANT_FILE | PLANT_WRITE },
			  parent, mark);
	if (can_be_listed(plan->project))
		vec_push(arena, &list,
			 (struct canary){
				 .kind = CANARY_MOUNTED_SOCKET,
				 .value = arena_printf(arena, "%s/%s.socket", plan->project, mark),
				 .extra = plan->sockets_blocked ? NULL : "open" });
	add_snapshots(&list, arena, plan, mark);
	add_homes(&list, arena, plan, mark);
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
			if (variable->origin.kind == ORIGIN_REQUESTED &&
			    str_equal(variable->name, canary->value)) {
				canary->granted = arena_printf(arena, "%s passes %s",
							       variable->origin.name,
							       variable->name);
				// Other attacks would find the token.
				variable->value = "granted";
			}
		}
	}
}

void prove_grant_ports(struct arena *arena, const struct plan *plan, canaries *list)
{
	vec_each(port, &plan->config->host_ports) {
		struct canary open = { .kind = CANARY_TCP,
				       .group = "loopback",
				       .value = "127.0.0.1",
				       .extra = arena_printf(arena, "%u", port->number) };

		open.granted = arena_printf(arena, "%s opens port %u of the host's loopback",
					    port->origin.name, port->number);
		vec_each(canary, list) {
			if (canary->kind == open.kind && str_equal(canary->group, open.group) &&
			    str_equal(canary->extra, open.extra))
				canary->granted = open.granted;
		}
		vec_push(arena, list, open);
	}
	vec_each(port, &plan->config->published_ports) {
		struct canary open = { .kind = CANARY_INCOMING,
				       .value = arena_printf(arena, "%u", port->number) };

		open.granted = arena_printf(arena,
					    "%s opens port %u of the box to the host's loopback",
					    port->origin.name, port->number);
		vec_push(arena, list, open);
	}
}

const char *prove_render_canaries(struct arena *arena, const canaries *list)
{
	struct text out = { .arena = arena };

	vec_each(canary, list) {
		const char *const fields[] = { canary->group, canary->value, canary->extra };

		if (canary->granted || canary->kind >= CANARY_KIND_COUNT)
			continue;
		text_add(&out, canary_kind_names[canary->kind]);
		for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
			if (fields[i])
				text_printf(&out, "\t%s", fields[i]);
		text_add(&out, "\n");
	}
	return text_get(&out);
}

void prove_change_plan(struct plan *plan, struct arena *arena, const void *program,
		       size_t program_size, const char *canary_text)
{
	const struct plan_mount seal = plan->mounts.items[--plan->mounts.count];

	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_DATA,
					    .source = program,
					    .size = program_size,
					    .path = BOX_ATTACK_PROGRAM,
					    .mode = 0555,
					    .why = "attacks the box" });
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_DATA,
					    .source = canary_text,
					    .path = BOX_CANARIES,
					    .mode = 0444,
					    .why = "lists the canaries" });
	plan_add_mount(plan, arena, seal); // must be the last mount
	plan->command.count = 0;
	vec_push(arena, &plan->command, BOX_ATTACK_PROGRAM);
}
