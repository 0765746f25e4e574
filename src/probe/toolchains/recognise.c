// SPDX-License-Identifier: MIT
// Recognises the toolchain managers that the user has.
//
// Theory of operation: a manager is in use if one of its variables is set, or if a path that the
// user's PATH leads to lies in its root. Nothing is executed, and no directory is searched: each
// root of the table is compared with these paths first, and only a root that matches is looked up.
#include "probe/toolchains/recognise.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "config/toolchains.h"
#include "plan/facts.h"
#include "plan/project.h"
#include "plan/toolchains/facts.h"
#include "plan/toolchains/managers.h"
#include "probe/programs.h"
#include "sys/files.h"

#include <string.h>
#include <unistd.h>

#define EACH "/*"

struct recognition {
	struct facts *facts;
	struct arena *arena;
	const strings *signs;
};

// Returns the path that a root of the table stands for, NULL: none. Stores whether a variable that
// is set to it is a sign by itself.
static const char *root_path(struct recognition *recognition, const char *root, bool *ret_sign)
{
	struct arena *arena = recognition->arena;
	size_t length = strcspn(root, "/");
	const char *value;

	*ret_sign = false;
	if (*root != '$')
		return path_clean(arena, path_expand_home(arena, root, recognition->facts->home));
	value = facts_variable(recognition->facts, arena_strndup(arena, root + 1, length - 1));
	if (!value || value[0] != '/')
		return NULL;
	*ret_sign = !str_starts(root, "$XDG_");
	return path_clean(arena, arena_printf(arena, "%s%s", value, root + length));
}

static bool has_sign(const struct recognition *recognition, const char *root)
{
	vec_each(sign, recognition->signs) {
		if (path_within(*sign, root))
			return true;
	}
	return false;
}

// Returns why a directory cannot be the root of a manager; NULL: it can.
static const char *root_problem(struct recognition *recognition, const struct followed *root)
{
	const struct facts *facts = recognition->facts;
	const char *box = probe_writing_box(recognition->arena, facts, root);

	if (path_within(facts->home, root->real) || path_within(facts->account_home, root->real))
		return "it contains your home directory";
	if (box)
		return arena_printf(recognition->arena, "%s can change it", box);
	if (probe_others_can_change(recognition->arena, facts, root))
		return "other users can change it";
	vec_each(secret, &facts->secrets) {
		if (path_within(root->real, secret->path) || path_within(root->real, secret->real))
			return "it is in a secret place";
	}
	return NULL;
}

// Returns whether the box has the directory without a toolchain: it belongs to the system or to the
// project.
static bool is_there_anyway(const struct facts *facts, const char *real)
{
	return path_within(real, facts->project) ||
	       (!facts->store.only && path_within(real, "/usr")) || path_within(real, "/nix/store");
}

// Adds the directory tree of a row at this path. Returns whether it is there.
static bool add_root(struct recognition *recognition, const struct manager_row *row,
		     const char *path)
{
	struct facts *facts = recognition->facts;
	struct arena *arena = recognition->arena;
	struct toolchain_found found = { .row = row };
	struct followed root;

	// Links on the way to the root are resolved; a root that is a link keeps its name.
	found.root = path_join(arena, file_follow(arena, path_parent(arena, path)).real,
			       path_name(path));
	root = file_follow(arena, found.root);
	if (root.kind != FILE_DIRECTORY || is_there_anyway(facts, root.real))
		return false;
	found.real = root.real;
	vec_each(known, &facts->toolchains.found) {
		if (known->row->toolchain == row->toolchain &&
		    (known->row == row ? path_within(found.real, known->real)
				       : str_equal(found.real, known->real)))
			return true;
	}
	found.problem = root_problem(recognition, &root);
	vec_push(arena, &facts->toolchains.found, found);
	return true;
}

// Adds each directory of `root` that a sign leads to, for a root such as "/opt/*".
static bool add_each(struct recognition *recognition, const struct manager_row *row,
		     const char *root)
{
	struct arena *arena = recognition->arena;
	const char *above = arena_strndup(arena, root, strlen(root) - strlen(EACH));
	bool added = false;

	vec_each(sign, recognition->signs) {
		const char *below = path_within(*sign, above) ? *sign + strlen(above) : "";
		size_t length = *below ? strcspn(below + 1, "/") : 0;

		if (length && toolchain_of(recognition->facts, *sign) ==
				      recognition->facts->toolchains.found.count)
			added |= add_root(recognition, row,
					  arena_printf(arena, "%s/%.*s", above, (int)length,
						       below + 1));
	}
	return added;
}

// Adds the directories of the home whose "bin" is a sign and that have the row's sibling in them.
static bool add_siblings(struct recognition *recognition, const struct manager_row *row)
{
	struct arena *arena = recognition->arena;
	const struct facts *facts = recognition->facts;
	bool added = false;

	vec_each(sign, recognition->signs) {
		const char *root = path_parent(arena, *sign);

		if (str_equal(path_name(*sign), "bin") && path_within(root, facts->home) &&
		    !str_equal(root, facts->home) &&
		    !str_equal(root, path_join(arena, facts->home, ".local")) && // see the table
		    toolchain_of(facts, root) == facts->toolchains.found.count &&
		    access(path_join(arena, root, row->sibling), F_OK) == 0)
			added |= add_root(recognition, row, root);
	}
	return added;
}

// Adds the roots of a row. `known`: the manager has been recognised by another row. Returns whether
// one was added.
static bool add_row(struct recognition *recognition, const struct manager_row *row, bool known)
{
	bool added = false;

	for (const char *const *root = row->roots; *root; root++) {
		bool sign;
		const char *path = root_path(recognition, *root, &sign);

		if (!path)
			continue;
		if (str_ends(path, EACH))
			added |= add_each(recognition, row, path);
		else if (sign || known || has_sign(recognition, path))
			added |= add_root(recognition, row, path);
		if (added && known)
			break; // the first that exists
	}
	if (row->sibling)
		added |= add_siblings(recognition, row);
	return added;
}

static bool is_found(const struct facts *facts, const struct manager_row *row)
{
	vec_each(found, &facts->toolchains.found) {
		if (found->row == row)
			return true;
	}
	return false;
}

void toolchain_recognise(struct facts *facts, struct arena *arena, const strings *signs,
			 unsigned int wanted)
{
	struct recognition recognition = { .facts = facts, .arena = arena, .signs = signs };
	unsigned int seen = 0;

	for (size_t i = 0; i < manager_table_count; i++) {
		const struct manager_row *row = &manager_table[i];

		if ((wanted & TOOLCHAIN_BIT(row->toolchain)) && add_row(&recognition, row, false))
			seen |= TOOLCHAIN_BIT(row->toolchain);
	}
	for (size_t i = 0; i < manager_table_count; i++)
		if ((seen & TOOLCHAIN_BIT(manager_table[i].toolchain)) &&
		    !is_found(facts, &manager_table[i]))
			add_row(&recognition, &manager_table[i], true);
}

const struct manager_row *toolchain_row_of(struct facts *facts, struct arena *arena,
					   const char *path, bool resolve)
{
	struct recognition recognition = { .facts = facts, .arena = arena };

	for (size_t i = 0; i < manager_table_count; i++) {
		const struct manager_row *row = &manager_table[i];

		for (const char *const *root = row->roots; *root; root++) {
			bool sign;
			const char *place = root_path(&recognition, *root, &sign);

			if (!place || path_within(facts->home, place))
				continue;
			if (resolve)
				place = file_follow(arena, place).real;
			if (path_within(path, place))
				return row;
		}
	}
	return NULL;
}

size_t toolchain_of(const struct facts *facts, const char *path)
{
	size_t i = 0;

	for (; i < facts->toolchains.found.count; i++) {
		const struct toolchain_found *found = &facts->toolchains.found.items[i];

		if (path_within(path, found->root) || path_within(path, found->real))
			break;
	}
	return i;
}
