// SPDX-License-Identifier: MIT
// The files with CA certificates.
//
// Theory of operation: a company's certificates are no secret, and without them no program of the
// box connects through the company's proxy. But a variable can name any file: a file with the key
// beside the certificate, or a link to another secret. So the probe reads each file, and only one
// with certificates and nothing else comes along (bundle.c). A directory does not: its files
// change.
#include "plan/connections/certificates.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/origin.h"
#include "plan/connections/connections.h"
#include "plan/connections/tables.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/secrets/detect.h"
#include "plan/system.h"
#include "plan/tables.h"

#include <string.h>

static const struct certificate_facts *find_examined(const struct facts *facts, const char *path)
{
	vec_each(certificate, &facts->certificates) {
		if (str_equal(certificate->path, path))
			return certificate;
	}
	return NULL;
}

// Mounts a file that a variable or a setting of the user names.
static void mount_named(struct plan *plan, struct arena *arena, const struct facts *facts,
			const struct certificate_facts *certificate, const struct followed *file)
{
	size_t before = plan->mounts.count;

	plan_add_followed(plan, arena, facts, file,
			  arena_printf(arena, "certificates that %s names", certificate->origin));
	for (size_t i = before; i < plan->mounts.count; i++)
		plan->mounts.items[i].origin.kind = ORIGIN_ALLOWED;
}

static bool is_own_state(struct arena *arena, const struct facts *facts, const char *path)
{
	return path_within(path, path_join(arena, facts->home, ".claude"));
}

void plan_mount_certificates(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	for (size_t i = 0; i < ca_bundle_count; i++) {
		const struct followed *bundle = facts_file(facts, ca_bundles[i]);

		if (bundle && bundle->kind == FILE_REGULAR)
			plan_add_followed(plan, arena, facts, bundle, "trusted certificates");
	}
	vec_each(certificate, &facts->certificates) {
		const struct followed *file = facts_file(facts, certificate->path);

		if (!certificate->problem && file && file->kind == FILE_REGULAR &&
		    !path_within(file->real, facts->project) &&
		    !is_own_state(arena, facts, file->real))
			mount_named(plan, arena, facts, certificate, file);
	}
}

// Returns a CA bundle, NULL: none. The host's comes before the build's: a company adds its own
// CAs there.
static const char *find_system_bundle(const struct facts *facts)
{
	for (size_t i = 0; i < ca_bundle_count; i++) {
		const struct followed *bundle = facts_file(facts, ca_bundles[i]);

		if (bundle && bundle->kind == FILE_REGULAR)
			return bundle->path;
	}
	return facts->store.certificates;
}

// Returns why the box does not get the file of a variable, NULL: it does.
static const char *find_problem(const struct connections *all, const char *path)
{
	const struct followed *file = facts_file(all->facts, path);
	const struct certificate_facts *certificate = find_examined(all->facts, path);

	if (file && file->kind != FILE_MISSING && !plan_kernel_file(file->real) &&
	    !is_own_state(all->arena, all->facts, file->real) &&
	    plan_provides(all->plan, file->real))
		return NULL;
	if (certificate && certificate->problem)
		return certificate->problem;
	return *path == '/' ? "the box does not have the file" : "it is no absolute path";
}

// Names a variable whose file stays outside. Of a directory, the option brings all files.
static void leave_out(struct connections *all, const char *name, const char *path, const char *why)
{
	const struct followed *file = facts_file(all->facts, path);
	const char *shown =
		quote_word(all->arena, path_tilde(all->arena, path, all->facts->home), 120);
	bool directory = file && file->kind == FILE_DIRECTORY;

	vec_push(all->arena, &all->named, name);
	plan_leave_out(all->plan, all->arena, arena_printf(all->arena, "%s=%s", name, shown), why,
		       directory ? arena_printf(all->arena, "--mount-ro %s", shown) : NULL);
}

void connections_add_certificates(struct connections *all)
{
	const char *system = find_system_bundle(all->facts);

	for (size_t i = 0; i < certificate_table_count; i++) {
		const struct certificate_row *row = &certificate_table[i];
		const char *path = facts_variable(all->facts, row->name);
		const char *problem = path && *path ? find_problem(all, path) : NULL;

		if (!connection_open(all, row->name))
			continue;
		if (problem)
			leave_out(all, row->name, path, problem);
		if (path && *path && !problem)
			connection_pass(all, row->name, path, "trusted certificates");
		else if (row->system && system)
			connection_generate(all, row->name, system, "trusted certificates");
	}
}
