// SPDX-License-Identifier: MIT
// Reads struct facts from JSON: the hosts in tests/hosts, and facts.json of a golden case.
//
// A key is the name of a field ("git.top"). Lists add to what is there, null empties a field or a
// whole struct, and "host" names the files of tests/hosts that are read first. In a list of files
// a path that ends in '/' is a directory; ["/bin/", "/bin -> usr/bin"] gives the links on the way.
#include "base/address.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "config/limits.h"
#include "fixture.h"
#include "plan/facts.h"
#include "plan/toolchains/facts.h"
#include "plan/toolchains/managers.h"
#include "plan/registries/tools.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fact_type {
	FACT_STRUCT, // can only be emptied
	FACT_STRING,
	FACT_BOOL,
	FACT_NUMBER, // of 32 bits; as text also octal
	FACT_KIND,
	FACT_TRUST,
	FACT_STRINGS, // this and the following are lists
	FACT_FILES,
	FACT_DIRECTORIES,
	FACT_LINKS,
	FACT_RANGES,
	FACT_PACKAGES,
	FACT_LIMITS,
	FACT_TOOLCHAINS,
	FACT_PATH,
	FACT_LOCAL_PROGRAMS,
	FACT_REGISTRIES, // ["~/.npmrc", "its text"]; a third string is a problem
};

struct fact_row {
	const char *key;
	enum fact_type type;
	size_t offset;
	size_t size;
};

#define FACT(type, field)                                                                          \
	{                                                                                          \
#field, type, offsetof(struct facts, field), sizeof(((struct facts *)NULL)->field) \
	}

// Facts that some host or case sets. To use another one in a case, add its row.
static const struct fact_row fact_table[] = {
	FACT(FACT_NUMBER, uid),
	FACT(FACT_NUMBER, gid),
	FACT(FACT_STRING, user),
	FACT(FACT_STRING, home),
	FACT(FACT_STRING, account_home),
	FACT(FACT_STRINGS, environment),
	FACT(FACT_STRING, project),
	FACT(FACT_STRINGS, project_secrets),
	FACT(FACT_STRINGS, project_mcp_secrets),
	FACT(FACT_STRINGS, sockets),
	FACT(FACT_STRING, hard_links.objects),
	FACT(FACT_STRING, hard_links.modules),
	FACT(FACT_STRING, hard_links.python),
	FACT(FACT_STRINGS, hard_links.files),
	FACT(FACT_STRINGS, around_secrets),
	FACT(FACT_STRINGS, git.config_secrets),
	FACT(FACT_FILES, files),
	FACT(FACT_BOOL, store.only),
	FACT(FACT_STRINGS, store.path),
	FACT(FACT_LINKS, store.links),
	FACT(FACT_STRING, store.certificates),
	FACT(FACT_STRING, hostname),
	FACT(FACT_STRING, hosts_text),
	FACT(FACT_STRING, nix_conf_text),
	FACT(FACT_STRING, policy_instructions),
	FACT(FACT_NUMBER, landlock),
	FACT(FACT_STRING, bwrap),
	FACT(FACT_BOOL, bwrap_binds_descriptors),
	FACT(FACT_BOOL, bwrap_disables_userns),
	FACT(FACT_STRING, undo.git),
	FACT(FACT_STRING, shell),
	FACT(FACT_STRING, git.top),
	FACT(FACT_STRING, git.directory),
	FACT(FACT_STRING, git.common),
	FACT(FACT_STRING, git.refused),
	FACT(FACT_DIRECTORIES, git.covered),
	FACT(FACT_DIRECTORIES, git.pinned),
	FACT(FACT_STRING, git.user_name),
	FACT(FACT_STRING, git.user_email),
	FACT(FACT_BOOL, git.identity_incomplete),
	FACT(FACT_BOOL, git.repository_signs),
	FACT(FACT_STRUCT, agent),
	FACT(FACT_STRING, agent.found),
	FACT(FACT_STRINGS, agent.command),
	FACT(FACT_FILES, agent.needs),
	FACT(FACT_STRING, agent.script_with_secret),
	FACT(FACT_STRING, agent.problem),
	FACT(FACT_STRING, agent.hint),
	FACT(FACT_STRING, state.root),
	FACT(FACT_KIND, state.root_kind),
	FACT(FACT_NUMBER, state.root_mode),
	FACT(FACT_STRING, state.settings_json),
	FACT(FACT_STRING, state.approved),
	FACT(FACT_BOOL, state.home_exists),
	FACT(FACT_NUMBER, state.home_size),
	FACT(FACT_STRING, state.home_links),
	FACT(FACT_STRING, user_claude.directory),
	FACT(FACT_FILES, user_claude.entries),
	FACT(FACT_STRING, user_claude.settings_json),
	FACT(FACT_STRING, user_claude.account_json),
	FACT(FACT_FILES, user_claude.command_files),
	FACT(FACT_BOOL, user_claude.has_credentials),
	FACT(FACT_STRUCT, network),
	FACT(FACT_RANGES, network.ranges),
	FACT(FACT_BOOL, network.ipv4),
	FACT(FACT_BOOL, network.ipv6),
	FACT(FACT_STRING, network.problem),
	FACT(FACT_STRING, network.resolv_text),
	FACT(FACT_STRING, network.pasta),
	FACT(FACT_STRING, network.nft),
	FACT(FACT_STRING, network.tun_problem),
	FACT(FACT_LIMITS, cgroup.wanted),
	FACT(FACT_LIMITS, cgroup.direct),
	FACT(FACT_STRING, cgroup.parent),
	FACT(FACT_TRUST, nix.trust),
	FACT(FACT_BOOL, nix.ours),
	FACT(FACT_BOOL, nix.unsandboxed),
	FACT(FACT_REGISTRIES, registries),
	FACT(FACT_PACKAGES, packages),
	FACT(FACT_STRING, nixpkgs),
	FACT(FACT_TOOLCHAINS, toolchains.found),
	FACT(FACT_PATH, toolchains.path),
	FACT(FACT_STRING, toolchains.local_bin),
	FACT(FACT_LOCAL_PROGRAMS, toolchains.local_programs),
};

static _Noreturn void fail(const char *what, const char *where)
{
	fprintf(stderr, "%s: %s\n", where, what);
	exit(EXIT_FAILURE);
}

static size_t index_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(names[i], name))
			return i;
	fail("unknown name", name);
}

static char *copy_string(struct world *world, const json_t *value)
{
	if (!json_is_string(value))
		fail("not a string", json_is_null(value) ? "null" : "fixture");
	return arena_strdup(&world->arena, json_string_value(value));
}

// Splits a copy of "NAME SEPARATOR VALUE".
static struct link_hop read_pair(struct world *world, const json_t *value, const char *separator)
{
	char *name = copy_string(world, value);
	char *at = strstr(name, separator);

	if (!at)
		fail("a separator is missing", name);
	*at = '\0';
	return (struct link_hop){ name, at + strlen(separator) };
}

// Returns the path that `path` becomes when the link on its way is followed.
static const char *follow(struct arena *arena, const char *path, const struct link_hop *hop)
{
	const char *target = hop->target;

	if (!path_within(path, hop->link))
		fail("not on the way", hop->link);
	if (target[0] != '/')
		target = path_join(arena, path_parent(arena, hop->link), target);
	return path_clean(arena, arena_printf(arena, "%s%s", target, path + strlen(hop->link)));
}

static struct followed read_file(struct world *world, const json_t *value)
{
	size_t count = json_is_array(value) ? json_array_size(value) : 0;
	const char *path = copy_string(world, count ? json_array_get(value, 0) : value);
	enum file_kind kind = str_ends(path, "/") ? FILE_DIRECTORY : FILE_REGULAR;
	struct followed file;

	path = path_clean(&world->arena, path);
	file = world_followed(world, kind, path, path, NO_MORE);
	for (size_t i = 1; i < count; i++) {
		struct link_hop hop = read_pair(world, json_array_get(value, i), " -> ");

		vec_push(&world->arena, &file.hops, hop);
		file.real = follow(&world->arena, file.real, &hop);
	}
	return file;
}

static struct package_facts read_package(struct world *world, const json_t *value)
{
	struct package_facts package = { 0 };
	const char **fields[] = { &package.name, &package.origin.name, &package.path,
				  &package.bin };

	for (size_t i = 0; i < json_array_size(value) && i < ARRAY_SIZE(fields); i++)
		*fields[i] = copy_string(world, json_array_get(value, i));
	if (package.origin.name)
		package.origin.kind = ORIGIN_REQUESTED;
	return package;
}

// Reads {"name", "root", "parts", "split", "problem", "copy"}; the row is the first of that name
// whose root is the same.
static struct toolchain_found read_toolchain(struct world *world, const json_t *value)
{
	struct toolchain_found found = { .root = copy_string(world,
							     json_object_get(value, "root")) };
	const char *name = copy_string(world, json_object_get(value, "name"));
	const json_t *problem = json_object_get(value, "problem");
	const json_t *copy = json_object_get(value, "copy");
	const json_t *secret = json_object_get(value, "secret");
	size_t i;
	json_t *part;

	found.real = found.root;
	found.problem = problem ? copy_string(world, problem) : NULL;
	for (i = 0; i < manager_table_count && !found.row; i++)
		for (const char *const *root = manager_table[i].roots; *root; root++)
			if (str_equal(toolchain_names[manager_table[i].toolchain], name) &&
			    str_equal(path_expand_home(&world->arena, *root, HOME), found.root))
				found.row = &manager_table[i];
	if (!found.row)
		fail("no such toolchain", name);
	json_array_foreach(json_object_get(value, "parts"), i, part) {
		struct toolchain_part read = { .file = read_file(world, part) };

		if (!path_within(read.file.real, found.real)) {
			read.outside = read.file.real;
			vec_push(&world->arena, &read.install.paths, read.outside);
		}
		vec_push(&world->arena, &found.parts, read);
	}
	if (secret) { // the last part has it, and one other file
		struct toolchain_part *last = &found.parts.items[found.parts.count - 1];

		last->split = true;
		vec_push(&world->arena, &last->secrets, copy_string(world, secret));
		vec_push(&world->arena, &last->entries,
			 world_followed(world, FILE_REGULAR,
					path_join(&world->arena, last->file.path, "program"),
					path_join(&world->arena, last->file.path, "program"),
					NO_MORE));
	}
	if (copy)
		vec_push(&world->arena, &found.copies,
			 (struct toolchain_copy){ .path = copy_string(world, copy),
						  .text = "copied\n" });
	return found;
}

// Reads {"directory", "programs", "problem"}, or a directory alone.
static struct path_entry read_path_entry(struct world *world, const json_t *value)
{
	const json_t *directory = json_object_get(value, "directory");
	const json_t *problem = json_object_get(value, "problem");
	struct path_entry entry = { 0 };
	size_t i;
	json_t *name;

	if (problem)
		return (struct path_entry){ .written = copy_string(world, directory),
					    .problem = copy_string(world, problem) };
	entry.directory = read_file(world, directory ? directory : value);
	if (entry.directory.kind != FILE_DIRECTORY)
		entry.directory.kind = FILE_MISSING;
	entry.written = entry.directory.path;
	json_array_foreach(json_object_get(value, "programs"), i, name) {
		vec_push(&world->arena, &entry.names, copy_string(world, name));
		entry.programs++;
		for (size_t k = 0; k < watched_program_count; k++)
			if (str_equal(watched_programs[k], json_string_value(name)))
				entry.watched |= 1ULL << k;
	}
	return entry;
}

// Reads the file of a program in ~/.local/bin; with links it belongs to a toolchain.
static struct local_program read_local_program(struct world *world, const json_t *value)
{
	struct followed file = read_file(world, value);

	return (struct local_program){ .name = path_name(file.path),
				       .file = file,
				       .belongs = file.hops.count || str_ends(file.path, "/uv"),
				       .owner = str_ends(file.path, "/uv") ? "uv" : NULL };
}

static struct registry_facts read_registry(struct world *world, const json_t *value)
{
	const char *path = copy_string(world, json_array_get(value, 0));
	struct registry_facts fact = { .source = source_table_count };

	for (size_t i = 0; i < source_table_count; i++)
		if (str_equal(source_table[i].path, path))
			fact.source = i;
	if (fact.source == source_table_count)
		fail("no such file in source_table", path);
	fact.path =
		str_starts(path, "@/")
			? arena_printf(&world->arena, "%s/.config%s", world->facts.home, path + 1)
			: path_expand_home(&world->arena, path, world->facts.home);
	fact.text = copy_string(world, json_array_get(value, 1));
	if (json_array_size(value) > 2)
		fact.problem = copy_string(world, json_array_get(value, 2));
	return fact;
}

// Adds one entry of a list to the vector at `field`.
static void add_entry(struct world *world, enum fact_type type, void *field, const json_t *entry)
{
	static const char *limits[LIMIT_COUNT];
	struct link_hop pair;

	for (int limit = 0; limit < LIMIT_COUNT; limit++)
		limits[limit] = limit_table[limit].name;
	switch (type) {
	case FACT_STRINGS:
		vec_push(&world->arena, (strings *)field, copy_string(world, entry));
		break;
	case FACT_FILES:
		vec_push(&world->arena, (__typeof__(&world->facts.files))field,
			 read_file(world, entry));
		break;
	case FACT_DIRECTORIES:
		vec_push(&world->arena, (directories *)field,
			 (struct directory_facts){ .path = copy_string(world, entry),
						   .id = { .device = 1, .inode = 99 } });
		break;
	case FACT_LINKS:
		vec_push(&world->arena, (__typeof__(&world->facts.store.links))field,
			 read_pair(world, entry, " -> "));
		break;
	case FACT_RANGES:
		pair = read_pair(world, entry, " ");
		world_range(world, pair.link, pair.target);
		break;
	case FACT_PACKAGES:
		vec_push(&world->arena, (package_rows *)field, read_package(world, entry));
		break;
	case FACT_TOOLCHAINS:
		vec_push(&world->arena, (__typeof__(&world->facts.toolchains.found))field,
			 read_toolchain(world, entry));
		break;
	case FACT_PATH:
		vec_push(&world->arena, (__typeof__(&world->facts.toolchains.path))field,
			 read_path_entry(world, entry));
		break;
	case FACT_LOCAL_PROGRAMS:
		vec_push(&world->arena, (__typeof__(&world->facts.toolchains.local_programs))field,
			 read_local_program(world, entry));
		break;
	case FACT_REGISTRIES:
		vec_push(&world->arena, (__typeof__(&world->facts.registries))field,
			 read_registry(world, entry));
		break;
	default: // FACT_LIMITS
		((bool *)field)[index_of(copy_string(world, entry), limits, LIMIT_COUNT)] = true;
	}
}

static void set_value(struct world *world, enum fact_type type, void *field, const json_t *value)
{
	static const char *const kinds[] = { "missing", "file", "directory", "other" };
	static const char *const trusts[] = { "unknown", "no", "yes" };

	switch (type) {
	case FACT_STRING:
		*(const char **)field = copy_string(world, value);
		break;
	case FACT_BOOL:
		*(bool *)field = json_is_true(value);
		break;
	case FACT_NUMBER:
		*(uint32_t *)field = json_is_string(value)
					     ? (uint32_t)strtoul(json_string_value(value), NULL, 0)
					     : (uint32_t)json_integer_value(value);
		break;
	case FACT_KIND:
		*(enum file_kind *)field = (enum file_kind)index_of(copy_string(world, value),
								    kinds, ARRAY_SIZE(kinds));
		break;
	case FACT_TRUST:
		*(enum nix_trust *)field = (enum nix_trust)index_of(copy_string(world, value),
								    trusts, ARRAY_SIZE(trusts));
		break;
	default:
		fail("not a value", "fixture");
	}
}

static const struct fact_row *find_row(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(fact_table); i++)
		if (str_equal(fact_table[i].key, key))
			return &fact_table[i];
	fail("no such fact", key);
}

void world_read_facts(struct world *world, const char *path)
{
	json_error_t error;
	json_t *all = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	size_t i;
	const char *key;
	json_t *value;
	json_t *entry;

	if (!all)
		fail(error.text, path);
	json_array_foreach(json_object_get(all, "host"), i, entry)
		world_read_host(world, json_string_value(entry));
	json_object_del(all, "host");
	json_object_foreach(all, key, value) {
		const struct fact_row *row = find_row(key);
		void *field = (char *)&world->facts + row->offset;

		if (json_is_null(value))
			memset(field, 0, row->size);
		else if (row->type < FACT_STRINGS)
			set_value(world, row->type, field, value);
		else if (!json_is_array(value))
			fail("not a list", key);
		else
			json_array_foreach(value, i, entry)
				add_entry(world, row->type, field, entry);
	}
	json_decref(all);
}
