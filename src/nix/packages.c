// SPDX-License-Identifier: MIT
// Finds what the names of packages stand for, and has nix build or fetch it.
//
// Theory of operation: nix is asked four things at most. What the reference stands for now, so that all further answers are
// about the same tree; which derivation each name is, in the order of the request, which also finds names that are wrong
// before anything is built; then to build them all. Which outputs that brings differs between versions of nix, and some
// packages have their programs in another one: those are named in the derivation's file, and asked for in the end.
#include "nix/packages.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "config/config.h"
#include "nix/command.h"
#include "nix/package_cache.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/nix/package_messages.h"
#include "plan/nix/packages.h"
#include "sys/files.h"

#include <string.h>

enum { DERIVATION_LIMIT = 16 * 1024 * 1024 };

struct resolve {
	struct arena *arena;
	struct nix_command nix;
	const struct config *config;
	const struct package_cache *memory;
	struct package_source source;
	bool keep;             // links and a file may be made
	package_builds wanted; // one for each name
	package_builds built;
	struct package_answer answer;
};

static bool not_understood(struct error *error)
{
	error_hint(error, "claudebox works with Nix 2.8 and later: nix --version");
	return error_set(error, "nix gives an answer that claudebox does not understand");
}

static const char *installable(const struct resolve *resolve, const char *name)
{
	return arena_printf(resolve->arena, "%s#%s", resolve->source.url, name);
}

static bool find_source(struct resolve *resolve, struct error *error)
{
	const char *reference = resolve->memory->request.reference;
	struct nix_result result;
	strings words = { 0 };

	vec_push(resolve->arena, &words, "flake");
	vec_push(resolve->arena, &words, "metadata");
	vec_push(resolve->arena, &words, "--json");
	vec_push(resolve->arena, &words, "--");
	vec_push(resolve->arena, &words, reference);
	if (!nix_command_run(&resolve->nix, &words, &result, error))
		return false;
	if (result.status) {
		error_hint(error, "see what this says: `nix flake metadata %s`", reference);
		return error_set(error, "%s cannot be used: %s",
				 packages_source_shown(resolve->arena, resolve->config),
				 packages_reason(resolve->arena, result.messages, false));
	}
	if (!packages_read_source(resolve->arena, result.output, &resolve->source))
		return not_understood(error);
	resolve->answer.nixpkgs = resolve->source.path;
	return true;
}

static bool evaluate(struct resolve *resolve, const struct config_package *packages, size_t count,
		     struct nix_result *ret_result, struct error *error)
{
	strings words = { 0 };

	vec_push(resolve->arena, &words, "build");
	vec_push(resolve->arena, &words, "--dry-run");
	vec_push(resolve->arena, &words, "--json");
	vec_push(resolve->arena, &words, "--");
	for (size_t i = 0; i < count; i++)
		vec_push(resolve->arena, &words, installable(resolve, packages[i].name));
	return nix_command_run(&resolve->nix, &words, ret_result, error);
}

static bool blame(const struct resolve *resolve, const struct config_package *package,
		  const char *messages, struct error *error)
{
	const char *shown = packages_shown(resolve->arena, package);
	const char *meant = packages_suggestion(resolve->arena, messages);

	if (strstr(messages, "does not provide attribute")) {
		error_hint(error, "%s",
			   meant ? meant
				 : arena_printf(resolve->arena,
						"look for its name: `nix search %s WORD`",
						resolve->memory->request.reference));
		return error_set(error, "%s is not in '%s'", shown,
				 resolve->memory->request.reference);
	}
	error_hint(error, "take it off the list, or choose another package");
	return error_set(error, "%s cannot be used: %s", shown,
			 packages_reason(resolve->arena, messages, false));
}

// nix stops at the first name that is wrong, and does not always say which.
static bool blame_one(struct resolve *resolve, const char *messages, struct error *error)
{
	const struct config_package *packages = resolve->config->packages.items;
	size_t count = resolve->config->packages.count;
	struct nix_result result;

	for (size_t i = 0; count > 1 && i < count; i++) {
		if (!evaluate(resolve, &packages[i], 1, &result, error))
			return false;
		if (result.status)
			return blame(resolve, &packages[i], result.messages, error);
	}
	if (count == 1)
		return blame(resolve, packages, messages, error);
	return error_set(error, "the packages cannot be used together: %s",
			 packages_reason(resolve->arena, messages, false));
}

static bool find_derivations(struct resolve *resolve, struct error *error)
{
	const struct config *config = resolve->config;
	struct nix_result result;

	if (!evaluate(resolve, config->packages.items, config->packages.count, &result, error))
		return false;
	if (result.status)
		return blame_one(resolve, result.messages, error);
	return (packages_read_builds(resolve->arena, result.output, &resolve->wanted) &&
		resolve->wanted.count == config->packages.count) ||
	       not_understood(error);
}

// The name whose derivation, or one that it needs, has failed: both are in what nix says.
static bool blame_build(const struct resolve *resolve, const char *messages, struct error *error)
{
	const char *reason = packages_reason(resolve->arena, messages, true);
	struct text names = { .arena = resolve->arena };

	for (size_t i = 0; i < resolve->wanted.count; i++) {
		const struct config_package *package = &resolve->config->packages.items[i];

		if (strstr(messages, resolve->wanted.items[i].derivation)) {
			error_hint(error, "take it off the list, or see why: `nix build %s#%s`",
				   resolve->memory->request.reference, package->name);
			return error_set(error, "%s cannot be built: %s",
					 packages_shown(resolve->arena, package), reason);
		}
		text_printf(&names, "%s'%s'", i ? ", " : "", package->name);
	}
	error_hint(error, "take it off the list");
	return error_set(error, "one of the packages %s cannot be built: %s", text_get(&names),
			 reason);
}

static bool build(struct resolve *resolve, const strings *installables, const char *links,
		  struct error *error)
{
	struct nix_result result;
	package_builds built;
	strings words = { 0 };

	vec_push(resolve->arena, &words, "build");
	vec_push(resolve->arena, &words, "--json");
	vec_push(resolve->arena, &words, resolve->keep ? "--out-link" : "--no-link");
	if (resolve->keep)
		vec_push(resolve->arena, &words, links);
	vec_push(resolve->arena, &words, "--");
	vec_each(word, installables)
		vec_push(resolve->arena, &words, *word);
	if (!nix_command_run(&resolve->nix, &words, &result, error))
		return false;
	if (result.status)
		return blame_build(resolve, result.messages, error);
	if (!packages_read_builds(resolve->arena, result.output, &built))
		return not_understood(error);
	vec_each(one, &built)
		vec_push(resolve->arena, &resolve->built, *one);
	return true;
}

static bool is_built(const struct resolve *resolve, const char *derivation, const char *output)
{
	vec_each(one, &resolve->built) {
		if (!str_equal(one->derivation, derivation))
			continue;
		vec_each(other, &one->outputs) {
			if (!output ? other->path &&
					      packages_has_programs(resolve->arena, other->path)
				    : str_equal(other->name, output))
				return true;
		}
	}
	return false;
}

// Outputs that nix did not bring by itself: when those that it brought have no programs, or when they are there anyway.
static void add_hidden_outputs(struct resolve *resolve, size_t number, strings *installables)
{
	const char *derivation = resolve->wanted.items[number].derivation;
	const char *name = resolve->config->packages.items[number].name;
	const char *text = file_read(resolve->arena, derivation, DERIVATION_LIMIT, 0);
	bool enough = is_built(resolve, derivation, NULL);
	package_outputs outputs;

	if (!text || !packages_read_derivation(resolve->arena, text, &outputs))
		return;
	vec_each(output, &outputs) {
		bool here = output->path && packages_has_programs(resolve->arena, output->path);

		if (!is_built(resolve, derivation, output->name) &&
		    !packages_output_is_aside(output->name) && (here || !enough))
			vec_push(resolve->arena, installables,
				 installable(resolve, arena_printf(resolve->arena, "%s.%s", name,
								   output->name)));
	}
}

static bool build_all(struct resolve *resolve, struct error *error)
{
	const char *links = resolve->memory->links;
	strings installables = { 0 };
	strings hidden = { 0 };

	vec_each(package, &resolve->config->packages)
		vec_push(resolve->arena, &installables, installable(resolve, package->name));
	// With a link of its own it stays in the store, for nix in the box.
	if (resolve->source.path)
		vec_push(resolve->arena, &installables, resolve->source.path);
	if (!build(resolve, &installables, links, error))
		return false;
	for (size_t i = 0; i < resolve->wanted.count; i++)
		add_hidden_outputs(resolve, i, &hidden);
	return !hidden.count ||
	       build(resolve, &hidden, arena_printf(resolve->arena, "%s-more", links), error);
}

static void add_row(struct resolve *resolve, const char *name, const char *path)
{
	const char *bin = packages_has_programs(resolve->arena, path)
				  ? path_join(resolve->arena, path, "bin")
				  : NULL;

	vec_each(row, &resolve->answer.rows) {
		if (str_equal(row->name, name) && str_equal(row->path, path))
			return;
	}
	vec_push(resolve->arena, &resolve->answer.rows,
		 (struct package_facts){ .name = name, .path = path, .bin = bin });
}

// Every output with programs; for a package that has none, whatever it has.
static bool collect(struct resolve *resolve, struct error *error)
{
	for (size_t i = 0; i < resolve->wanted.count; i++) {
		const char *name = resolve->config->packages.items[i].name;
		const char *derivation = resolve->wanted.items[i].derivation;
		bool programs = is_built(resolve, derivation, NULL);
		size_t before = resolve->answer.rows.count;

		vec_each(one, &resolve->built) {
			if (!str_equal(one->derivation, derivation))
				continue;
			vec_each(output, &one->outputs) {
				if (output->path &&
				    (packages_has_programs(resolve->arena, output->path) ||
				     (!programs && resolve->answer.rows.count == before)))
					add_row(resolve, name, output->path);
			}
		}
		if (resolve->answer.rows.count == before)
			return not_understood(error);
	}
	return true;
}

static bool ask_nix(struct resolve *resolve, const struct facts *facts, struct error *error)
{
	bool ok;

	if (resolve->keep && !package_cache_prepare_links(resolve->memory, error))
		return false;
	if (!nix_command_open(&resolve->nix, resolve->arena, facts, error)) {
		const char *shown = packages_shown(resolve->arena, resolve->config->packages.items);

		return error_set(error, "%s: %s", shown, error->message);
	}
	ok = find_source(resolve, error) && find_derivations(resolve, error) &&
	     build_all(resolve, error) && collect(resolve, error);
	nix_command_close(&resolve->nix);
	return ok;
}

// Rows are in the order of the request.
static void add_origins(package_rows *rows, const struct config *config)
{
	vec_each(row, rows) {
		vec_each(package, &config->packages) {
			if (str_equal(row->name, package->name) && !row->origin)
				row->origin = package->origin;
		}
	}
}

bool packages_resolve(struct facts *facts, const struct config *config, struct arena *arena,
		      struct error *error)
{
	struct package_cache memory;
	struct resolve resolve = { .arena = arena, .config = config, .memory = &memory };

	if (!config->packages.count)
		return true;
	// What cannot start shall not be built for, and state that is not ours not be believed.
	if (!plan_refuse_project(facts, error) || !plan_refuse_state(facts, error) ||
	    !packages_check(config, error))
		return false;
	memory = package_cache_find(arena, config, facts);
	resolve.keep = config->action != ACTION_DRY_RUN;
	if (!package_cache_load(&memory, arena, &resolve.answer)) {
		if (!ask_nix(&resolve, facts, error) ||
		    (resolve.keep && !package_cache_store(&memory, arena, &resolve.answer,
							  resolve.source.kind, error)))
			return false;
	}
	add_origins(&resolve.answer.rows, config);
	facts->packages = resolve.answer.rows;
	facts->nixpkgs = resolve.answer.nixpkgs;
	return true;
}

// A place on this machine.
static bool path_is_named(const char *reference)
{
	return reference[0] == '/' || str_starts(reference, "path:") ||
	       str_starts(reference, "git+file:");
}

enum packages_seen packages_lookup(const struct facts *facts, const struct config *config,
				   struct arena *arena, struct error *error)
{
	struct package_cache memory = package_cache_find(arena, config, facts);
	struct resolve resolve = { .arena = arena, .config = config, .memory = &memory };
	enum packages_seen seen = PACKAGES_NOT_YET;

	if (!packages_check(config, error))
		return PACKAGES_WRONG;
	if (package_cache_load(&memory, arena, &resolve.answer))
		return PACKAGES_HERE;
	if (!nix_command_open(&resolve.nix, arena, facts, error))
		return PACKAGES_WRONG;
	resolve.nix.offline = true;
	if (find_source(&resolve, error))
		seen = find_derivations(&resolve, error) ? PACKAGES_KNOWN : PACKAGES_WRONG;
	else if (path_is_named(memory.request.reference)) // of others, the internet may know more
		seen = PACKAGES_WRONG;
	nix_command_close(&resolve.nix);
	return seen;
}
