// SPDX-License-Identifier: MIT
// Golden cases: each directory of tests/golden with a file `argv` is a launch, up to its plan.
//
// Input: `argv` (an argument a line), `environment` (NAME=value a line), `profile.json` (as the
// profile "work"), `facts.json` (overrides of a host in tests/hosts; without it, the host "small").
// Expected: the files of golden_outputs, or `error.txt` where no plan can be made.
#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "check.h"
#include "config/config.h"
#include "config/options/options.h"
#include "config/profile/profile.h"
#include "config/profile/check.h"
#include "fixture.h"
#include "golden.h"
#include "golden_plan.h"
#include "golden_screens.h"
#include "plan/facts.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena arena;
static size_t case_count;

static strings list_directory(const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, alphasort);
	strings names = { 0 };

	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.')
			vec_push(&arena, &names, arena_strdup(&arena, entries[i]->d_name));
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return names;
}

static bool is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static strings read_lines(const char *directory, const char *name)
{
	const char *text = golden_read(&arena, path_join(&arena, directory, name));

	return str_split_lines(&arena, text ? text : "");
}

// Fills in what the probe finds at the places that options and profile ask to mount.
static void find_mounts(struct world *world)
{
	vec_each(mount, &world->config.mounts) {
		const char *path =
			path_expand_home(&world->arena, mount->source, world->facts.home);
		const struct followed *file = facts_file(&world->facts, path);
		struct mount_facts found = { .written = mount->source,
					     .written_to = mount->destination,
					     .writable = mount->writable,
					     .origin = mount->origin };

		found.source = file ? *file : (struct followed){ .path = path, .real = path };
		found.destination = (struct followed){ .path = path, .real = path };
		if (mount->destination)
			found.destination.path = found.destination.real = mount->destination;
		vec_push(&world->arena, &world->facts.mounts, found);
	}
}

// The origins in the configuration point to the profile, so it lives in the arena.
static bool apply_profile(struct world *world, const char *text)
{
	struct profile *profile = arena_alloc(&world->arena, sizeof(*profile));
	bool ok;

	*profile = (struct profile){ .name = "work",
				     .path = "~/.claudebox/profiles/work.json",
				     .text = text };
	ok = profile_parse(profile, &world->error) &&
	     profile_apply(&world->config, &world->arena, profile, 1, &world->error);
	json_decref(profile->object);
	return ok;
}

static bool configure(struct world *world, const char *directory)
{
	const char *profile = golden_read(&arena, path_join(&arena, directory, "profile.json"));
	strings argv = { 0 };
	strings lines = read_lines(directory, "argv");

	vec_push(&arena, &argv, "claudebox");
	vec_each(line, &lines)
		vec_push(&arena, &argv, *line);
	world->config.extra_env = facts_variable(&world->facts, "CLAUDEBOX_EXTRA_ENV");
	return options_parse(&world->config, &world->arena, (int)argv.count,
			     (char *const *)argv.items, &world->error) &&
	       (!profile || apply_profile(world, profile)) &&
	       options_check(&world->config, &world->error);
}

static bool make_plan(struct world *world, const char *directory)
{
	const char *facts = path_join(&arena, directory, "facts.json");
	strings variables = read_lines(directory, "environment");

	world_init(world);
	if (access(facts, F_OK) == 0)
		world_read_facts(world, facts);
	else
		world_read_host(world, "small");
	vec_each(variable, &variables)
		world_variable(world, *variable);
	if (!configure(world, directory))
		return false;
	find_mounts(world);
	return world_plan(world);
}

static const char *show_error(const struct error *error)
{
	struct text out = { .arena = &arena };

	text_printf(&out, "error: %s\n", error->message);
	if (error->note)
		text_printf(&out, "note: %s\n", error->note);
	if (error->hint)
		text_printf(&out, "hint: %s\n", error->hint);
	return text_get(&out);
}

// Every file is one that the test reads or compares.
static void check_names(const char *name, const strings *files)
{
	vec_each(file, files) {
		bool known = str_equal(*file, "argv") || str_equal(*file, "environment") ||
			     str_equal(*file, "profile.json") || str_equal(*file, "facts.json") ||
			     str_equal(*file, "error.txt");

		for (size_t i = 0; i < golden_output_count; i++)
			known |= str_equal(*file, golden_outputs[i].file);
		if (!known)
			CHECK_CASE(false, arena_printf(&arena, "%s/%s is known", name, *file));
	}
}

static bool has(const strings *files, const char *name)
{
	vec_each(file, files) {
		if (str_equal(*file, name))
			return true;
	}
	return false;
}

static void check_output(const char *directory, const char *name, const char *file,
			 const char *text)
{
	golden_check(&arena, path_join(&arena, directory, file), text,
		     arena_printf(&arena, "%s: %s", name, file));
}

static void run_case(const char *directory, const char *name, const strings *files)
{
	bool new = !has(files, "plan.json") && !has(files, "error.txt") && golden_updates();
	struct world world;
	bool made = make_plan(&world, directory);

	case_count++;
	check_names(name, files);
	if (!made)
		check_output(directory, name, "error.txt", show_error(&world.error));
	for (size_t i = 0; i < golden_output_count; i++) {
		const struct golden_output *output = &golden_outputs[i];

		if (made && (has(files, output->file) || (new && output->usual)))
			check_output(directory, name, output->file, golden_render(output, &world));
		else if (has(files, output->file))
			CHECK_CASE(false, arena_printf(&arena, "%s can start", name));
	}
	if (made)
		CHECK_CASE_STRING(screen_problem(&world), NULL,
				  arena_printf(&arena, "%s fits every screen", name));
	if (made)
		CHECK_CASE((new || has(files, "plan.json")) && !has(files, "error.txt"),
			   arena_printf(&arena, "%s expects a plan and no error", name));
	world_free(&world);
}

static void run_directory(const char *directory, const char *name)
{
	strings names = list_directory(directory);

	if (has(&names, "argv")) {
		run_case(directory, name, &names);
		return;
	}
	vec_each(entry, &names) {
		const char *path = path_join(&arena, directory, *entry);

		if (is_directory(path))
			run_directory(path, *name ? path_join(&arena, name, *entry) : *entry);
		else
			CHECK_CASE(false, arena_printf(&arena, "%s belongs to a case", path));
	}
}

int main(void)
{
	run_directory(source_path(&arena, "tests/golden"), "");
	CHECK(case_count > 0);
	arena_free(&arena);
	return check_done();
}
