// SPDX-License-Identifier: MIT
// Toolchains: the install directories of the user's toolchain managers in the box.
//
// Theory of operation: the root of a manager (~/.cargo) is a directory of the box's own. The listed
// parts are mounted in it, read-only, so a file that a program of the host writes beside them later
// is not in the box. A part with names of secrets in it is mounted entry by entry, for the same
// reason: a cover over a secret would vanish when a program of the host replaces the file.
#include "plan/toolchains/toolchains.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "config/toolchains.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/toolchains/advice.h"
#include "plan/toolchains/facts.h"
#include "plan/toolchains/managers.h"

#include <string.h>

#define BOX_COPIES BOX_RUN "/toolchains"

// Returns the path in the box of a path below the real root.
static const char *box_path(struct arena *arena, const struct toolchain_found *found,
			    const char *path)
{
	if (str_equal(found->root, found->real) || !path_within(path, found->real))
		return path;
	return arena_printf(arena, "%s%s", found->root, path + strlen(found->real));
}

bool toolchain_has_below(const struct plan *plan, const char *path)
{
	vec_each(mount, &plan->mounts) {
		if (path_within(mount->path, path))
			return true;
	}
	return false;
}

// Returns whether the last component of a path is a link. Its target comes along only as far as it
// is listed itself: a link must not bring a whole version with the settings in it.
static bool is_link(const struct followed *file)
{
	vec_each(hop, &file->hops) {
		if (str_equal(hop->link, file->path))
			return true;
	}
	return false;
}

// Adds the links on the way to a file of a manager.
static void add_links(struct plan *plan, struct arena *arena, const struct facts *facts,
		      const struct toolchain_found *found, const struct followed *file)
{
	const char *name = toolchain_names[found->row->toolchain];

	vec_each(hop, &file->hops) {
		const char *link = box_path(arena, found, hop->link);

		if (!advice_requested(facts, link) && !plan_provides(plan, link) &&
		    !toolchain_has_below(plan, link))
			plan_add_mount(plan, arena,
				       (struct plan_mount){
					       .kind = MOUNT_LINK,
					       .source = hop->target,
					       .path = link,
					       .toolchain = name,
					       .why = arena_printf(arena, "toolchain %s", name) });
	}
}

// Mounts a file of a manager, with the links on the way to it. Returns false if it leads to a
// secret.
static bool add_file(struct plan *plan, struct arena *arena, const struct facts *facts,
		     const struct toolchain_found *found, const struct followed *file)
{
	const char *name = toolchain_names[found->row->toolchain];
	const char *why = arena_printf(arena, "toolchain %s", name);
	const char *place = box_path(arena, found, file->real);

	if (plan_near_secret(facts, file->real))
		return false;
	add_links(plan, arena, facts, found, file);
	if (!is_link(file) && !advice_requested(facts, place) && !plan_provides(plan, place))
		plan_add_mount(plan, arena,
			       (struct plan_mount){ .kind = MOUNT_READ_ONLY,
						    .source = file->real,
						    .path = place,
						    .id = file->id,
						    .toolchain = name,
						    .why = why });
	return true;
}

// Returns whether the box has, without this part, what the part leads to outside of the root.
static bool is_elsewhere(const struct plan *plan, const struct facts *facts,
			 const struct toolchain_part *part)
{
	const char *real = part->file.real;

	return part->outside && (advice_requested(facts, real) || plan_provides(plan, real) ||
				 path_within(real, plan->project) ||
				 (is_link(&part->file) && toolchain_has_below(plan, real)));
}

// Reports a part that does not come along. Several parts may lead to one installation.
static void report_part(struct plan *plan, struct arena *arena, const struct facts *facts,
			const struct toolchain_found *found, const struct toolchain_part *part)
{
	const char *path = box_path(arena, found, part->file.path);
	const char *why = part->problem;
	const char *option;

	if (!part->outside) {
		if (!advice_requested(facts, path))
			plan_leave_out(plan, arena, advice_path(plan, arena, path), why,
				       advice_mount(plan, arena, facts, path));
		return;
	}
	option = advice_install(plan, arena, facts, &part->install, NULL);
	if (advice_given(plan, option))
		return;
	// The link itself: ~/.sdkman/candidates/java/21 of ~/.sdkman/candidates/java/21/bin.
	path = arena_strndup(arena, path,
			     strlen(path) - (strlen(part->file.real) - strlen(part->outside)));
	if (!why)
		why = arena_printf(arena, "it is a link to %s",
				   advice_path(plan, arena, part->outside));
	plan_leave_out(plan, arena, advice_path(plan, arena, path), why, option);
}

// Adds a listed part. Returns whether something of it comes along.
static bool add_part(struct plan *plan, struct arena *arena, const struct facts *facts,
		     const struct toolchain_found *found, const struct toolchain_part *part)
{
	const char *path = box_path(arena, found, part->file.path);
	bool passed = true;

	if (is_elsewhere(plan, facts, part)) {
		add_links(plan, arena, facts, found, &part->file);
		return true;
	}
	if (part->problem || (part->outside && is_link(&part->file))) {
		report_part(plan, arena, facts, found, part);
		return false;
	}
	if (!part->split) {
		passed = add_file(plan, arena, facts, found, &part->file);
	} else {
		vec_each(entry, &part->entries) {
			if (entry->kind == FILE_REGULAR || entry->kind == FILE_DIRECTORY)
				passed &= add_file(plan, arena, facts, found, entry);
		}
		vec_each(secret, &part->secrets)
			plan_leave_out(plan, arena,
				       advice_path(plan, arena, path_join(arena, path, *secret)),
				       str_equal(*secret, ".git")
					       ? "a git directory may have tokens"
					       : "its name is that of a secret",
				       NULL);
		vec_each(name, &part->untrusted)
			plan_leave_out(plan, arena,
				       advice_path(plan, arena, path_join(arena, path, *name)),
				       "other users can change it", NULL);
	}
	if (!passed)
		plan_leave_out(plan, arena, advice_path(plan, arena, path),
			       "it leads to a secret place", NULL);
	return passed || part->entries.count;
}

// Adds a generated copy of settings, and the link that leads to it.
static void add_copy(struct plan *plan, struct arena *arena, const struct facts *facts,
		     const struct toolchain_found *found, const struct toolchain_copy *copy)
{
	const char *name = toolchain_names[found->row->toolchain];
	const char *why = arena_printf(arena, "toolchain %s", name);
	const char *place = arena_printf(arena, BOX_COPIES "/%s/%s", name, path_name(copy->path));

	if (advice_requested(facts, copy->path) || plan_provides(plan, copy->path))
		return;
	if (copy->problem) {
		plan_leave_out(plan, arena, advice_path(plan, arena, copy->path), copy->problem,
			       NULL);
		return;
	}
	for (int number = 2; plan_provides(plan, place); number++)
		place = arena_printf(arena, BOX_COPIES "/%s/%d/%s", name, number,
				     path_name(copy->path));
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_DATA,
					    .source = copy->text,
					    .copy_of = copy->real,
					    .path = place,
					    .mode = 0444,
					    .toolchain = name,
					    .why = why });
	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_LINK,
					    .source = place,
					    .path = copy->path,
					    .toolchain = name,
					    .why = why });
	if (copy->shortened)
		plan_leave_out(plan, arena,
			       arena_printf(arena, "lines of %s",
					    advice_path(plan, arena, copy->path)),
			       "the copy in the box has no secrets and no variables", NULL);
}

// Adds a name to a list of names, once.
static void add_name(struct text *list, const char *name, size_t length)
{
	for (const char *s = list->data; s && *s;) {
		size_t known = strcspn(s, ",");

		if (known == length && strncmp(s, name, length) == 0)
			return;
		s += known + strspn(s + known, ", ");
	}
	text_add(list, list->length ? ", " : "");
	text_add_bytes(list, name, length);
}

// Adds the parts and copies. Returns the names in the root that come along: "bin, toolchains".
static const char *add_parts(struct plan *plan, struct arena *arena, const struct facts *facts,
			     const struct toolchain_found *found)
{
	struct text names = { .arena = arena };

	vec_each(part, &found->parts) {
		const char *name = part->file.path + strlen(found->real) + 1;

		if (add_part(plan, arena, facts, found, part))
			add_name(&names, name, strcspn(name, "/"));
	}
	vec_each(copy, &found->copies) {
		const char *name = path_name(copy->path);

		add_copy(plan, arena, facts, found, copy);
		if (copy->real && !str_equal(copy->real, copy->path))
			name = arena_printf(arena, "%s from %s", name,
					    advice_path(plan, arena, copy->real));
		if (!copy->problem)
			add_name(&names, name, strlen(name));
	}
	return text_get(&names);
}

static void add_found(struct plan *plan, struct arena *arena, const struct facts *facts,
		      const struct toolchain_found *found)
{
	const char *name = toolchain_names[found->row->toolchain];
	const char *what =
		arena_printf(arena, "%s in %s", name, advice_path(plan, arena, found->root));
	struct plan_toolchain row = { .name = name, .root = found->root };

	if (found->problem) {
		plan_leave_out(plan, arena, what, found->problem, NULL);
		return;
	}
	row.parts = add_parts(plan, arena, facts, found);
	// Programs may name the real root.
	if (!str_equal(found->root, found->real) && !toolchain_has_below(plan, found->real) &&
	    !plan_provides(plan, found->real))
		plan_add_mount(
			plan, arena,
			(struct plan_mount){ .kind = MOUNT_LINK,
					     .source = found->root,
					     .path = found->real,
					     .toolchain = name,
					     .why = arena_printf(arena, "toolchain %s", name) });
	if (found->truncated)
		plan_leave_out(plan, arena, arena_printf(arena, "some of %s", what),
			       "it has too many parts", "--mount-ro DIR");
	if (*row.parts)
		vec_push(arena, &plan->toolchains, row);
}

// Returns the found directory tree that contains a real path; NULL: none.
static const struct toolchain_found *find_around(const struct facts *facts, const char *real)
{
	vec_each(found, &facts->toolchains.found) {
		if (!found->problem && path_within(real, found->real))
			return found;
	}
	return NULL;
}

// Adds a program of ~/.local/bin that is a file there. Other programs know it by that path.
static void add_own_program(struct plan *plan, struct arena *arena,
			    const struct local_program *program)
{
	const char *name = program->owner;
	const char *place = path_join(arena, BOX_PROGRAMS, program->name);
	const char *why = arena_printf(arena, "toolchain %s", name);

	plan_add_mount(plan, arena,
		       (struct plan_mount){ .kind = MOUNT_READ_ONLY,
					    .source = program->file.real,
					    .path = place,
					    .id = program->file.id,
					    .toolchain = name,
					    .why = why });
	if (!plan_provides(plan, program->file.path))
		plan_add_mount(plan, arena,
			       (struct plan_mount){ .kind = MOUNT_LINK,
						    .source = place,
						    .path = program->file.path,
						    .toolchain = name,
						    .why = why });
	vec_push(arena, &plan->toolchains,
		 (struct plan_toolchain){
			 .name = name, .root = program->file.path, .parts = "the program" });
}

// Adds the programs of ~/.local/bin that belong to a toolchain, one by one.
static void add_local_programs(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	vec_each(program, &facts->toolchains.local_programs) {
		const struct toolchain_found *around = find_around(facts, program->file.real);
		const char *target = around ? box_path(arena, around, program->file.real)
					    : program->file.real;

		if (!program->belongs || advice_requested(facts, facts->toolchains.local_bin) ||
		    plan_near_secret(facts, program->file.real))
			continue;
		if (program->owner)
			add_own_program(plan, arena, program);
		else if (plan_provides(plan, target) || advice_requested(facts, target))
			plan_add_mount(
				plan, arena,
				(struct plan_mount){
					.kind = MOUNT_LINK,
					.source = target,
					.path = path_join(arena, BOX_PROGRAMS, program->name),
					.toolchain =
						around ? toolchain_names[around->row->toolchain]
						       : NULL,
					.why = "program of ~/.local/bin" });
	}
}

// Reports the pythons of virtual environments in the project that the box does not have. The
// project chooses the link, so an option is named only for an installation of a manager.
static void report_pythons(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	vec_each(python, &facts->toolchains.pythons) {
		const struct toolchain_found *around = find_around(facts, python->file.real);
		const char *place = around ? box_path(arena, around, python->file.real)
					   : python->file.real;

		if (!plan_provides(plan, place) && !advice_requested(facts, place))
			plan_leave_out(plan, arena, advice_path(plan, arena, python->file.real),
				       arena_printf(arena, "%s of the project leads to it",
						    advice_path(plan, arena,
								python->file.path +
									strlen(plan->project) + 1)),
				       advice_install(plan, arena, facts, &python->install, NULL));
	}
}

void plan_build_toolchains(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	vec_each(found, &facts->toolchains.found)
		add_found(plan, arena, facts, found);
	add_local_programs(plan, arena, facts);
	report_pythons(plan, arena, facts);
}
