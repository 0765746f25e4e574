// SPDX-License-Identifier: MIT
// Examines the files with CA certificates that variables and settings of package managers name.
#include "probe/settings/certificates.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/connections/certificates.h"
#include "plan/connections/tables.h"
#include "plan/facts.h"
#include "plan/project.h"
#include "plan/registries/registries.h"
#include "plan/system.h"
#include "plan/tables.h"
#include "probe/settings/own_files.h"
#include "sys/files.h"

enum { BUNDLE_LIMIT = 4 * 1024 * 1024 };

// Returns whether every box has this file, as the certificates of the system.
static bool is_of_system(const struct facts *facts, const char *real)
{
	for (size_t i = 0; i < ca_bundle_count; i++) {
		const struct followed *bundle = facts_file(facts, ca_bundles[i]);

		if (bundle && bundle->kind == FILE_REGULAR && str_equal(bundle->real, real))
			return true;
	}
	return false;
}

static const char *find_problem(struct arena *arena, const struct facts *facts,
				const struct followed *file)
{
	const char *problem;
	const char *text;

	if (plan_kernel_file(file->path) || plan_kernel_file(file->real))
		return "it is a file of the kernel";
	if (file->kind == FILE_MISSING)
		return "the file does not exist";
	problem = probe_own_place_problem(arena, facts, file);
	if (problem)
		return problem;
	if (plan_near_secret(facts, file->path) || plan_near_secret(facts, file->real))
		return file->hops.count ? "it leads to a secret place"
					: "it lies in a secret place";
	if (file->kind == FILE_DIRECTORY)
		return "it is a directory, whose files are not examined";
	if (file->kind != FILE_REGULAR)
		return "it is not a regular file";
	if (is_of_system(facts, file->real))
		return NULL; // to read it takes longer than most of the start
	text = file_read(arena, file->real, BUNDLE_LIMIT, 0);
	return text ? certificate_problem(arena, text)
		    : "it cannot be read, is not text, or is longer than 4 MiB";
}

static void examine(struct facts *facts, struct arena *arena, const char *path, const char *origin)
{
	struct followed file;

	if (!path || path[0] != '/')
		return;
	vec_each(known, &facts->certificates) {
		if (str_equal(known->path, path))
			return;
	}
	file = file_follow(arena, path);
	if (!facts_file(facts, path))
		vec_push(arena, &facts->files, file);
	vec_push(arena, &facts->certificates,
		 (struct certificate_facts){ .path = path,
					     .origin = origin,
					     .problem = find_problem(arena, facts, &file) });
}

void probe_certificates(struct facts *facts, struct arena *arena)
{
	strings bundles = registries_bundles(arena, facts);

	for (size_t i = 0; i < certificate_table_count; i++)
		examine(facts, arena, facts_variable(facts, certificate_table[i].name),
			certificate_table[i].name);
	vec_each(path, &bundles)
		examine(facts, arena, *path, "package manager settings");
}
