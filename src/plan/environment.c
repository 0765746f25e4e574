// SPDX-License-Identifier: MIT
// The variables of the box: made ones, then what the allowlist lets through, then what was asked for.
#include "plan/environment.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/names.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/secrets/detect.h"
#include "plan/tables.h"

#include <string.h>

static void add(struct plan *plan, struct arena *arena, const char *name, const char *value,
		enum origin origin, const char *why)
{
	const char *secret = secret_name(name);

	if (origin == ORIGIN_GENERATED)
		secret = NULL;
	else if (!secret)
		secret = secret_value(value);
	vec_push(arena, &plan->variables,
		 (struct plan_variable){ .name = name,
					 .value = value,
					 .origin = origin,
					 .why = why,
					 .secret = secret });
}

static void make(struct plan *plan, struct arena *arena, const char *name, const char *value,
		 const char *why)
{
	add(plan, arena, name, value, ORIGIN_GENERATED, why);
}

static void add_directory(struct text *path, const char *directory)
{
	text_printf(path, "%s%s", path->length ? ":" : "", directory);
}

// What was asked for comes first, each directory once.
static void add_packages(struct text *path, const struct plan *plan)
{
	vec_each(package, &plan->packages) {
		bool known = !package->bin;

		for (const struct package_facts *other = plan->packages.items; other < package;
		     other++)
			known |= str_equal(other->bin, package->bin);
		if (!known)
			add_directory(path, package->bin);
	}
}

// Only directories that are in the box.
static const char *make_path(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	struct text path = { .arena = arena };

	add_packages(&path, plan);
	if (!facts->store.only) {
		for (size_t i = 0; i < system_path_count; i++) {
			const struct followed *directory = facts_file(facts, system_path[i]);

			// /bin -> usr/bin: once is enough
			if (directory && directory->kind == FILE_DIRECTORY &&
			    directory->hops.count == 0 && plan_provides(plan, system_path[i]))
				add_directory(&path, system_path[i]);
		}
	}
	vec_each(directory, &facts->store.path) {
		if (plan_provides(plan, *directory))
			add_directory(&path, *directory);
	}
	return text_get(&path);
}

// The host's own before the build's: a company adds its own to those.
static const char *find_certificates(const struct facts *facts)
{
	for (size_t i = 0; i < ca_bundle_count; i++) {
		const struct followed *bundle = facts_file(facts, ca_bundles[i]);

		if (bundle && bundle->kind == FILE_REGULAR)
			return bundle->path;
	}
	return facts->store.certificates;
}

// The host's choice when the box can see that file, otherwise the system's bundle.
static void add_certificates(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	const char *system = find_certificates(facts);

	for (size_t i = 0; i < ca_variable_count; i++) {
		const char *chosen = facts_variable(facts, ca_variables[i]);
		const struct followed *file = chosen ? facts_file(facts, chosen) : NULL;

		if (file && plan_provides(plan, file->real) &&
		    !path_within(file->real, path_join(arena, facts->home, ".claude")))
			add(plan, arena, ca_variables[i], chosen, ORIGIN_ALLOWED,
			    "trusted certificates");
		else if (system)
			make(plan, arena, ca_variables[i], system, "trusted certificates");
	}
}

static void add_made(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	make(plan, arena, "HOME", facts->home, "an empty home");
	make(plan, arena, "USER", facts->user, "you");
	make(plan, arena, "LOGNAME", facts->user, "you");
	make(plan, arena, "SHELL", facts->shell ? facts->shell : "/bin/sh", "shell");
	make(plan, arena, "PATH", make_path(plan, arena, facts), "programs in the box");
	make(plan, arena, "PWD", facts->project, "the project");
	make(plan, arena, "TMPDIR", "/tmp", "private temporary files");
	make(plan, arena, "XDG_RUNTIME_DIR", arena_printf(arena, "/run/user/%u", plan->uid),
	     "private sockets");
	make(plan, arena, "CLAUDEBOX", "1", "tells programs where they are");
	make(plan, arena, "CLAUDE_CONFIG_DIR", path_join(arena, facts->home, ".claude"),
	     "this project's Claude state");
	make(plan, arena, "CLAUDE_SECURESTORAGE_CONFIG_DIR", BOX_CREDENTIALS "/" CREDENTIALS_STORE,
	     "the sign-in");
	make(plan, arena, "CLAUDE_CODE_SANDBOXED", "1", "no question about trust");
	make(plan, arena, "DISABLE_AUTOUPDATER", "1", "claude is read-only here");
	make(plan, arena, "DISABLE_INSTALLATION_CHECKS", "1", "claude is read-only here");
	make(plan, arena, "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1",
	     "plugins are the host's");
	if (plan_provides(plan, NIX_DAEMON))
		make(plan, arena, "NIX_REMOTE", "daemon", "nix works through its daemon");
	// Of the system's settings, podman would take only some for an ordinary user.
	if (plan_provides(plan, CONTAINERS_STORAGE))
		make(plan, arena, "CONTAINERS_STORAGE_CONF", CONTAINERS_STORAGE,
		     "lets podman work in a box");
	if (facts->git.repository_signs) {
		// The keys are not here: an unsigned commit is better than none.
		make(plan, arena, "GIT_CONFIG_COUNT", "2", "commits are not signed here");
		make(plan, arena, "GIT_CONFIG_KEY_0", "commit.gpgsign",
		     "commits are not signed here");
		make(plan, arena, "GIT_CONFIG_VALUE_0", "false", "commits are not signed here");
		make(plan, arena, "GIT_CONFIG_KEY_1", "tag.gpgsign", "commits are not signed here");
		make(plan, arena, "GIT_CONFIG_VALUE_1", "false", "commits are not signed here");
	}
	add_certificates(plan, arena, facts);
}

static void add_allowed(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	vec_each(entry, &facts->environment) {
		const char *value = strchr(*entry, '=') + 1;
		size_t length = (size_t)(value - *entry) - 1;
		const char *name = arena_strndup(arena, *entry, length);
		const struct variable_row *row =
			variable_row_find(allowed_variables, allowed_variable_count, name);

		if (row && env_name_valid(name, length) && !plan_variable(plan, name) &&
		    !str_ends(name, "SSL_CERT_FILE"))
			add(plan, arena, name, value, ORIGIN_ALLOWED, row->why);
	}
}

// What was asked for replaces what the host's allowlist let through.
static void remove_variable(struct plan *plan, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->variables.count; i++)
		if (!str_equal(plan->variables.items[i].name, name))
			plan->variables.items[kept++] = plan->variables.items[i];
	plan->variables.count = kept;
}

static bool add_asked(struct plan *plan, struct arena *arena, const char *names,
		      const struct facts *facts, struct error *error)
{
	for (const char *s = names; s && *s;) {
		size_t length = strcspn(s, ",");
		const char *next = s + length + (s[length] == ',');
		const struct variable_row *reserved;
		const char *name;
		const char *value;

		while (length && (*s == ' ' || *s == '\t')) {
			s++;
			length--;
		}
		while (length && (s[length - 1] == ' ' || s[length - 1] == '\t'))
			length--;
		name = arena_strndup(arena, s, length);
		if (!env_name_valid(name, length)) {
			error_hint(error, "give names only, separated by commas: "
					  "CLAUDEBOX_EXTRA_ENV=\"GITHUB_TOKEN,MY_VAR\"");
			return error_set(error,
					 "CLAUDEBOX_EXTRA_ENV: '%s' is not a variable's name",
					 quote_display(arena, name, 40));
		}
		reserved = variable_row_find(reserved_variables, reserved_variable_count, name);
		if (reserved) {
			error_hint(error, "take it out of CLAUDEBOX_EXTRA_ENV");
			return error_set(error, "CLAUDEBOX_EXTRA_ENV: '%s' cannot be passed: %s",
					 name, reserved->why);
		}
		value = facts_variable(facts, name);
		if (value && !plan_variable(plan, name))
			add(plan, arena, name, value, ORIGIN_ASKED, "CLAUDEBOX_EXTRA_ENV");
		s = next;
	}
	return true;
}

// Names were checked where they were read; what is reserved is refused here too, whoever asks.
static bool add_configured(struct plan *plan, struct arena *arena, const struct config *config,
			   const struct facts *facts, struct error *error)
{
	vec_each(wanted, &config->variables) {
		const struct variable_row *reserved = variable_row_find(
			reserved_variables, reserved_variable_count, wanted->name);
		const char *value = wanted->value ? wanted->value
						  : facts_variable(facts, wanted->name);

		if (reserved || !env_name_valid(wanted->name, strlen(wanted->name))) {
			error_hint(error, "take it out of the profile");
			return error_set(error, "%s: variable '%s' cannot be set: %s",
					 wanted->origin, quote_display(arena, wanted->name, 40),
					 reserved ? reserved->why : "that is no name");
		}
		if (!value)
			continue;
		remove_variable(plan, wanted->name);
		add(plan, arena, wanted->name, value, ORIGIN_ASKED, wanted->origin);
	}
	return true;
}

bool plan_build_environment(struct plan *plan, struct arena *arena, const struct config *config,
			    const struct facts *facts, struct error *error)
{
	add_made(plan, arena, facts);
	add_allowed(plan, arena, facts);
	return add_configured(plan, arena, config, facts, error) &&
	       add_asked(plan, arena, config->extra_env, facts, error);
}
