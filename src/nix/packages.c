// SPDX-License-Identifier: MIT
// Resolves the names of packages to store paths, and runs nix to build or fetch them.
//
// Theory of operation: nix runs at most four times, and more often only to find the cause of an
// error.
//   1. `nix flake metadata` resolves the reference, so that all later commands use the same tree.
//   2. `nix build --dry-run` gives the derivation of each name, in the order of the request. Wrong
//      names are found here, before anything is built.
//   3. `nix build` builds or fetches all of them.
//   4. Which outputs step 3 builds depends on the version of nix, and some packages have their
//      programs in another output. The derivation's file lists all outputs; a second `nix build`
//      adds those that are missing.
#include "nix/packages.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "config/config.h"
#include "nix/command.h"
#include "nix/daemon.h"
#include "nix/package_cache.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/nix/package_messages.h"
#include "plan/nix/packages.h"
#include "sys/files.h"

#include <string.h>

enum { DERIVATION_MAX = 16 * 1024 * 1024 };

struct resolution {
	struct arena *arena;
	struct nix_command nix;
	const struct config *config;
	const struct package_cache *cache;
	struct package_source source;
	bool write_cache;      // and create links
	package_builds wanted; // derivations, one for each name
	package_builds built;
	struct package_answer answer;
};

static bool set_parse_error(struct error *error)
{
	error_set(error, "cannot parse the output of nix");
	return error_hint(error, "claudebox needs Nix 2.8 or later; see `nix --version`");
}

static const char *installable(const struct resolution *resolution, const char *name)
{
	return arena_printf(resolution->arena, "%s#%s", resolution->source.url, name);
}

// Resolves the reference of nixpkgs (step 1). Returns false with an error.
static bool find_source(struct resolution *resolution, struct error *error)
{
	const char *reference = resolution->cache->request.reference;
	struct nix_result result;
	strings arguments = { 0 };

	vec_push(resolution->arena, &arguments, "flake");
	vec_push(resolution->arena, &arguments, "metadata");
	vec_push(resolution->arena, &arguments, "--json");
	vec_push(resolution->arena, &arguments, "--");
	vec_push(resolution->arena, &arguments, reference);
	if (!nix_command_run(&resolution->nix, &arguments, &result, error))
		return false;
	if (result.status) {
		error_set(error, "%s cannot be used: %s",
			  packages_render_source(resolution->arena, resolution->config),
			  packages_parse_reason(resolution->arena, result.messages, false));
		return error_hint(error, "run `nix flake metadata %s` to see the whole message",
				  reference);
	}
	if (!packages_parse_source(resolution->arena, result.output, &resolution->source))
		return set_parse_error(error);
	resolution->answer.nixpkgs = resolution->source.path;
	return true;
}

// Runs `nix build --dry-run` for some packages.
static bool run_dry_build(struct resolution *resolution, const struct config_package *packages,
			  size_t count, struct nix_result *ret_result, struct error *error)
{
	strings arguments = { 0 };

	vec_push(resolution->arena, &arguments, "build");
	vec_push(resolution->arena, &arguments, "--dry-run");
	vec_push(resolution->arena, &arguments, "--json");
	vec_push(resolution->arena, &arguments, "--");
	for (size_t i = 0; i < count; i++)
		vec_push(resolution->arena, &arguments, installable(resolution, packages[i].name));
	return nix_command_run(&resolution->nix, &arguments, ret_result, error);
}

// Sets the error for a package that nix cannot evaluate. Returns false.
static bool set_package_error(const struct resolution *resolution,
			      const struct config_package *package, const char *messages,
			      struct error *error)
{
	const char *shown = packages_render_name(resolution->arena, package);
	const char *suggestion = packages_parse_suggestion(resolution->arena, messages);

	if (strstr(messages, "does not provide attribute")) {
		const char *reference = resolution->cache->request.reference;

		error_set(error, "%s is not in '%s'", shown, reference);
		return suggestion ? error_hint(error, "%s", suggestion)
				  : error_hint(error, "search for the name: `nix search %s WORD`",
					       reference);
	}
	error_set(error, "%s cannot be used: %s", shown,
		  packages_parse_reason(resolution->arena, messages, false));
	return error_hint(error, "remove it from the list, or choose another package");
}

// Evaluates the packages one by one and sets the error for the first that fails. nix stops at the
// first error and does not always name the package.
static bool find_failing_package(struct resolution *resolution, const char *messages,
				 struct error *error)
{
	const struct config_package *packages = resolution->config->packages.items;
	size_t count = resolution->config->packages.count;
	struct nix_result result;

	for (size_t i = 0; count > 1 && i < count; i++) {
		if (!run_dry_build(resolution, &packages[i], 1, &result, error))
			return false;
		if (result.status)
			return set_package_error(resolution, &packages[i], result.messages, error);
	}
	if (count == 1)
		return set_package_error(resolution, packages, messages, error);
	return error_set(error, "the packages cannot be used together: %s",
			 packages_parse_reason(resolution->arena, messages, false));
}

// Finds the derivations of all packages (step 2). Returns false with an error.
static bool find_derivations(struct resolution *resolution, struct error *error)
{
	const struct config *config = resolution->config;
	struct nix_result result;

	if (!run_dry_build(resolution, config->packages.items, config->packages.count, &result,
			   error))
		return false;
	if (result.status)
		return find_failing_package(resolution, result.messages, error);
	return (packages_parse_builds(resolution->arena, result.output, &resolution->wanted) &&
		resolution->wanted.count == config->packages.count) ||
	       set_parse_error(error);
}

// Sets the error for the package whose build failed. nix's messages contain its derivation, even if
// the build of a dependency failed.
static bool set_build_error(const struct resolution *resolution, const char *messages,
			    struct error *error)
{
	const char *reason = packages_parse_reason(resolution->arena, messages, true);
	struct text names = { .arena = resolution->arena };

	for (size_t i = 0; i < resolution->wanted.count; i++) {
		const struct config_package *package = &resolution->config->packages.items[i];

		if (strstr(messages, resolution->wanted.items[i].derivation)) {
			error_set(error, "%s cannot be built: %s",
				  packages_render_name(resolution->arena, package), reason);
			return error_hint(error,
					  "remove it from the list, or run `nix build %s#%s` to "
					  "see the whole log",
					  resolution->cache->request.reference, package->name);
		}
		text_printf(&names, "%s'%s'", i ? ", " : "", package->name);
	}
	error_set(error, "one of the packages %s cannot be built: %s", text_get(&names), reason);
	return error_hint(error, "remove packages from the list to find the one that fails");
}

// Runs `nix build` and adds the results to resolution->built. Returns false with an error.
static bool run_build(struct resolution *resolution, const strings *installables, const char *links,
		      struct error *error)
{
	struct nix_result result;
	package_builds built;
	strings arguments = { 0 };

	vec_push(resolution->arena, &arguments, "build");
	vec_push(resolution->arena, &arguments, "--json");
	vec_push(resolution->arena, &arguments,
		 resolution->write_cache ? "--out-link" : "--no-link");
	if (resolution->write_cache)
		vec_push(resolution->arena, &arguments, links);
	vec_push(resolution->arena, &arguments, "--");
	vec_each(word, installables)
		vec_push(resolution->arena, &arguments, *word);
	if (!nix_command_run(&resolution->nix, &arguments, &result, error))
		return false;
	if (result.status)
		return set_build_error(resolution, result.messages, error);
	if (!packages_parse_builds(resolution->arena, result.output, &built))
		return set_parse_error(error);
	vec_each(one, &built)
		vec_push(resolution->arena, &resolution->built, *one);
	return true;
}

// Returns whether nix has built this output of the derivation; with `output` NULL, whether one of
// the built outputs has programs.
static bool is_built(const struct resolution *resolution, const char *derivation,
		     const char *output)
{
	vec_each(one, &resolution->built) {
		if (!str_equal(one->derivation, derivation))
			continue;
		vec_each(other, &one->outputs) {
			if (!output ? other->path &&
					      packages_has_programs(resolution->arena, other->path)
				    : str_equal(other->name, output))
				return true;
		}
	}
	return false;
}

// Adds the outputs of a package that nix has not built and that may have programs, if the built
// ones have no programs or if the output is in the store already.
static void add_missing_outputs(struct resolution *resolution, size_t number, strings *installables)
{
	const char *derivation = resolution->wanted.items[number].derivation;
	const char *name = resolution->config->packages.items[number].name;
	const char *text = file_read(resolution->arena, derivation, DERIVATION_MAX, 0);
	bool enough = is_built(resolution, derivation, NULL);
	package_outputs outputs;

	if (!text || !packages_parse_derivation(resolution->arena, text, &outputs))
		return;
	vec_each(output, &outputs) {
		bool here = output->path && packages_has_programs(resolution->arena, output->path);

		if (!is_built(resolution, derivation, output->name) &&
		    !packages_output_is_auxiliary(output->name) && (here || !enough))
			vec_push(resolution->arena, installables,
				 installable(resolution, arena_printf(resolution->arena, "%s.%s",
								      name, output->name)));
	}
}

// Builds all packages (steps 3 and 4). Returns false with an error.
static bool build_all(struct resolution *resolution, struct error *error)
{
	const char *links = resolution->cache->links;
	strings installables = { 0 };
	strings missing = { 0 };

	vec_each(package, &resolution->config->packages)
		vec_push(resolution->arena, &installables, installable(resolution, package->name));
	// A link keeps the source of nixpkgs in the store, for nix in the box.
	if (resolution->source.path)
		vec_push(resolution->arena, &installables, resolution->source.path);
	if (!run_build(resolution, &installables, links, error))
		return false;
	for (size_t i = 0; i < resolution->wanted.count; i++)
		add_missing_outputs(resolution, i, &missing);
	return !missing.count ||
	       run_build(resolution, &missing, arena_printf(resolution->arena, "%s-more", links),
			 error);
}

static void add_row(struct resolution *resolution, const char *name, const char *path)
{
	const char *bin = packages_has_programs(resolution->arena, path)
				  ? path_join(resolution->arena, path, "bin")
				  : NULL;

	vec_each(row, &resolution->answer.rows) {
		if (str_equal(row->name, name) && str_equal(row->path, path))
			return;
	}
	vec_push(resolution->arena, &resolution->answer.rows,
		 (struct package_facts){ .name = name, .path = path, .bin = bin });
}

// Adds every output with programs to the answer; for a package without programs, its first output.
static bool collect_outputs(struct resolution *resolution, struct error *error)
{
	for (size_t i = 0; i < resolution->wanted.count; i++) {
		const char *name = resolution->config->packages.items[i].name;
		const char *derivation = resolution->wanted.items[i].derivation;
		bool programs = is_built(resolution, derivation, NULL);
		size_t before = resolution->answer.rows.count;

		vec_each(one, &resolution->built) {
			if (!str_equal(one->derivation, derivation))
				continue;
			vec_each(output, &one->outputs) {
				if (output->path &&
				    (packages_has_programs(resolution->arena, output->path) ||
				     (!programs && resolution->answer.rows.count == before)))
					add_row(resolution, name, output->path);
			}
		}
		if (resolution->answer.rows.count == before)
			return set_parse_error(error);
	}
	return true;
}

static bool run_nix(struct resolution *resolution, const struct facts *facts, struct error *error)
{
	const char *problem;
	bool owner;
	bool ok;

	if (resolution->write_cache && !package_cache_prepare_links(resolution->cache, error))
		return false;
	if (!nix_command_open(&resolution->nix, resolution->arena, facts, error)) {
		const char *shown =
			packages_render_name(resolution->arena, resolution->config->packages.items);

		return error_set(error, "%s: %s", shown, error->message);
	}
	resolution->nix.quiet = resolution->config->audit == AUDIT_QUIET;
	ok = find_source(resolution, error) && find_derivations(resolution, error) &&
	     build_all(resolution, error) && collect_outputs(resolution, error);
	nix_command_close(&resolution->nix);
	if (ok)
		return true;
	problem = nix_daemon_problem(resolution->arena, &owner);
	if (!problem || owner)
		return false;
	// The message of nix is about its socket.
	error_set(error, "%s: nix is installed, but it %s",
		  packages_render_name(resolution->arena, resolution->config->packages.items),
		  problem);
	return error_hint(error, "%s; or start without packages", nix_daemon_fix);
}

static void add_origins(package_rows *rows, const struct config *config)
{
	vec_each(row, rows) {
		vec_each(package, &config->packages) {
			if (str_equal(row->name, package->name) && !row->origin.name)
				row->origin = package->origin;
		}
	}
}

bool packages_resolve(struct facts *facts, const struct config *config, struct arena *arena,
		      struct error *error)
{
	struct package_cache cache;
	struct resolution resolution = { .arena = arena, .config = config, .cache = &cache };

	if (!config->packages.count)
		return true;
	// Do not build for a box that cannot start, and do not read a cache that others can write.
	if (!plan_refuse_project(facts, error) || !plan_refuse_state(facts, error) ||
	    !packages_check(config, error))
		return false;
	cache = package_cache_find(arena, config, facts);
	resolution.write_cache = config->action != ACTION_DRY_RUN;
	if (!package_cache_load(&cache, arena, &resolution.answer)) {
		if (!run_nix(&resolution, facts, error) ||
		    (resolution.write_cache &&
		     !package_cache_store(&cache, arena, &resolution.answer, resolution.source.kind,
					  error)))
			return false;
	}
	add_origins(&resolution.answer.rows, config);
	facts->packages = resolution.answer.rows;
	facts->nixpkgs = resolution.answer.nixpkgs;
	return true;
}

// Returns whether the reference is a path on this machine.
static bool is_local_reference(const char *reference)
{
	return reference[0] == '/' || str_starts(reference, "path:") ||
	       str_starts(reference, "git+file:");
}

enum packages_state packages_lookup(const struct facts *facts, const struct config *config,
				    struct arena *arena, struct error *error)
{
	struct package_cache cache = package_cache_find(arena, config, facts);
	struct resolution resolution = { .arena = arena, .config = config, .cache = &cache };
	enum packages_state state = PACKAGES_UNKNOWN;

	if (!packages_check(config, error))
		return PACKAGES_INVALID;
	if (package_cache_load(&cache, arena, &resolution.answer))
		return PACKAGES_CACHED;
	if (!nix_command_open(&resolution.nix, arena, facts, error))
		return PACKAGES_INVALID;
	resolution.nix.offline = true;
	if (find_source(&resolution, error))
		state = find_derivations(&resolution, error) ? PACKAGES_EVALUATED
							     : PACKAGES_INVALID;
	else if (is_local_reference(cache.request.reference)) // others may have to be fetched first
		state = PACKAGES_INVALID;
	nix_command_close(&resolution.nix);
	return state;
}
