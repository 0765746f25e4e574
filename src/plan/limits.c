// SPDX-License-Identifier: MIT
// The limits of a box (memory, processes, processor time) and how they are set.
//
// Theory of operation: a limit is a setting of a cgroup (v2). Where claudebox can write to the tree
// of cgroups, it creates one beside its own. Where systemd manages the tree, systemd-run requests a
// scope and then executes bwrap. In both cases the processes of the box are in a cgroup one level
// below the limits, and further levels are forbidden. If configured limits cannot be set, the box
// does not start. Without configuration the number of processes is limited all the same, if that
// needs no systemd-run.
#include "plan/limits.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <string.h>

enum { CPU_PERIOD = 100000 }; // microseconds, the kernel's default

// Script of the shell that systemd-run executes: creates the inner cgroup, moves the shell into it,
// and executes bwrap.
#define ENTER_INNER                                                     \
	"IFS=: read -r _ _ own </proc/self/cgroup && cd \"" CGROUP_ROOT \
	"$own\" && mkdir " CGROUP_INNER                                 \
	" && echo 1 >cgroup.max.descendants && echo 0 >" CGROUP_INNER   \
	"/cgroup.procs && cd / && exec \"$@\""

bool limits_requested(const struct config *config)
{
	for (int limit = 0; limit < LIMIT_COUNT; limit++)
		if (config->limits[limit].value)
			return true;
	return false;
}

// Returns whether all configured limits are available.
static bool has_all(const struct plan_limits *limits, const bool available[LIMIT_COUNT])
{
	for (int limit = 0; limit < LIMIT_COUNT; limit++)
		if (limits->values[limit].value && !available[limit])
			return false;
	return true;
}

void plan_build_limits(struct plan *plan, const struct config *config, const struct facts *facts)
{
	const struct cgroup_facts *cgroup = &facts->cgroup;
	struct plan_limits *limits = &plan->limits;

	memcpy(limits->values, config->limits, sizeof(limits->values));
	limits->as_root = facts->uid == 0;
	limits->requested = limits_requested(config);
	if (!limits->values[LIMIT_PIDS].value && cgroup->parent && cgroup->direct[LIMIT_PIDS])
		limits->values[LIMIT_PIDS].value = DEFAULT_PIDS;
	if (cgroup->parent && has_all(limits, cgroup->direct)) {
		limits->parent = cgroup->parent;
		limits->method = limits->values[LIMIT_PIDS].value || limits->requested
					 ? LIMITS_CGROUP
					 : LIMITS_NONE;
		return;
	}
	if (!limits->requested)
		return;
	limits->method = LIMITS_IMPOSSIBLE;
	if (!cgroup->systemd_run || cgroup->systemd_problem || !has_all(limits, cgroup->by_systemd))
		return;
	limits->method = LIMITS_SYSTEMD;
	limits->systemd_run = cgroup->systemd_run;
	limits->oom_policy = cgroup->systemd_oom_policy;
	limits->runtime_directory = cgroup->runtime_directory;
}

// Sets the error for controllers that systemd does not have. systemd would ignore such a limit
// without an error. Returns false.
static bool set_controller_error(const struct plan_limits *limits, const struct facts *facts,
				 struct error *error)
{
	struct text missing = { .arena = error->arena };

	for (int limit = 0; limit < LIMIT_COUNT; limit++)
		if (limits->values[limit].value && !facts->cgroup.by_systemd[limit])
			text_printf(&missing, "%s%s", missing.length ? ", " : "",
				    limit_table[limit].name);
	error_set(error, "cannot limit %s: the controller is not delegated to this user",
		  text_get(&missing));
	return error_hint(
		error,
		"as root, write '[Service]' and 'Delegate=memory pids cpu' to "
		"/etc/systemd/system/user@.service.d/delegate.conf, run systemctl daemon-reload, "
		"and log in again; or remove the limit from the profile");
}

// Sets the error for limits that cannot be set. Returns false.
static bool set_limits_error(const struct plan_limits *limits, const struct facts *facts,
			     struct error *error)
{
	const struct cgroup_facts *cgroup = &facts->cgroup;

	if (cgroup->systemd_run && !cgroup->systemd_problem)
		return set_controller_error(limits, facts, error);
	error_set(error, "cannot limit the box: %s, and %s",
		  cgroup->problem ? cgroup->problem : "its own cgroup has no such limits",
		  cgroup->systemd_problem ? cgroup->systemd_problem
					  : "systemd-run is not installed");
	return error_hint(
		error, "log in through systemd (loginctl enable-linger starts the user instance), "
		       "start claudebox in a cgroup below a writable one, or remove \"limits\" "
		       "from the profile");
}

// Refuses a writable mount of the tree of cgroups: the box could remove its limits there.
static bool check_mounts(const struct plan *plan, struct error *error)
{
	vec_each(mount, &plan->mounts) {
		if (mount->kind != MOUNT_WRITABLE || !(path_within(mount->source, CGROUP_ROOT) ||
						       path_within(CGROUP_ROOT, mount->source)))
			continue;
		error_set(error, "mount '%s' allows the box to remove its own limits",
			  quote_display(error->arena, mount->source, 0));
		return error_hint(error,
				  "mount it read-only, or remove \"limits\" from the profile");
	}
	return true;
}

bool plan_check_limits(const struct plan *plan, const struct facts *facts, struct error *error)
{
	if (plan->limits.method == LIMITS_IMPOSSIBLE)
		return set_limits_error(&plan->limits, facts, error);
	return !plan->limits.requested || check_mounts(plan, error);
}

limit_files limits_render_files(struct arena *arena, const struct plan_limits *limits)
{
	const struct config_limit *values = limits->values;
	limit_files files = { 0 };

	if (values[LIMIT_MEMORY].value) {
		vec_push(arena, &files,
			 (struct limit_file){
				 "memory.max",
				 arena_printf(arena, "%llu", values[LIMIT_MEMORY].value), false });
		// Missing in a kernel without swap.
		vec_push(arena, &files, (struct limit_file){ "memory.swap.max", "0", true });
	}
	if (values[LIMIT_PIDS].value)
		vec_push(arena, &files,
			 (struct limit_file){ "pids.max",
					      arena_printf(arena, "%llu", values[LIMIT_PIDS].value),
					      false });
	if (values[LIMIT_CPU].value)
		vec_push(arena, &files,
			 (struct limit_file){
				 "cpu.max",
				 arena_printf(arena, "%llu %d",
					      values[LIMIT_CPU].value * CPU_PERIOD / 100,
					      CPU_PERIOD),
				 false });
	vec_push(arena, &files, (struct limit_file){ "cgroup.max.descendants", "1", false });
	return files;
}

// Parses digits. Returns false if there are none.
static bool parse_number(const char **cursor, double *ret_number)
{
	const char *digit = *cursor;

	for (*ret_number = 0; *digit >= '0' && *digit <= '9'; digit++)
		*ret_number = *ret_number * 10 + (*digit - '0');
	if (digit == *cursor)
		return false;
	*cursor = digit;
	return true;
}

// Parses "100" as 100, and the quotient "200000 100000" as 2. Returns false if there is no limit
// ("max") or if the text is malformed.
static bool parse_value(const char *text, double *ret_value)
{
	double divisor = 1;

	if (!parse_number(&text, ret_value))
		return false;
	if (*text == ' ') {
		text++;
		if (!parse_number(&text, &divisor) || divisor == 0)
			return false;
		*ret_value /= divisor;
	}
	return !*text || str_equal(text, "\n");
}

bool limit_in_effect(const struct limit_file *file, const char *text)
{
	double wanted;
	double found;

	return parse_value(file->value, &wanted) && parse_value(text, &found) && found <= wanted;
}

const char *limits_find_cgroup(struct arena *arena, const char *text)
{
	const char *line;

	while ((line = str_next_line(arena, &text))) {
		const char *path = str_after(line, "0::"); // other lines are of cgroup v1

		if (path)
			return path;
	}
	return NULL;
}

static void add_property(strings *words, struct arena *arena, const char *property)
{
	vec_push(arena, words, "-p");
	vec_push(arena, words, property);
}

strings limits_render_prefix(struct arena *arena, const struct plan_limits *limits)
{
	const struct config_limit *values = limits->values;
	strings words = { 0 };

	if (limits->method != LIMITS_SYSTEMD)
		return words;
	vec_push(arena, &words, limits->systemd_run);
	if (!limits->as_root)
		vec_push(arena, &words, "--user");
	vec_push(arena, &words, "--scope");
	vec_push(arena, &words, "--quiet");
	vec_push(arena, &words, "--collect");
	add_property(&words, arena, "Delegate=yes");
	if (values[LIMIT_MEMORY].value) {
		add_property(&words, arena,
			     arena_printf(arena, "MemoryMax=%llu", values[LIMIT_MEMORY].value));
		add_property(&words, arena, "MemorySwapMax=0");
		if (limits->oom_policy)
			add_property(&words, arena, "OOMPolicy=continue");
	}
	if (values[LIMIT_PIDS].value)
		add_property(&words, arena,
			     arena_printf(arena, "TasksMax=%llu", values[LIMIT_PIDS].value));
	if (values[LIMIT_CPU].value)
		add_property(&words, arena,
			     arena_printf(arena, "CPUQuota=%llu%%", values[LIMIT_CPU].value));
	vec_push(arena, &words, "--");
	vec_push(arena, &words, "/bin/sh");
	vec_push(arena, &words, "-c");
	vec_push(arena, &words, ENTER_INNER);
	vec_push(arena, &words, "sh");
	return words;
}

const char *limits_render_text(struct arena *arena, enum limit limit, unsigned long long value)
{
	static const char *const what[LIMIT_COUNT] = {
		[LIMIT_MEMORY] = "of memory, without swap",
		[LIMIT_PIDS] = "processes and threads",
		[LIMIT_CPU] = "of one processor's time",
	};

	return arena_printf(arena, "%s %s", limit_render(arena, limit, value), what[limit]);
}

// Returns the names of the available limits, NULL if there are none.
static const char *render_names(struct arena *arena, const bool available[LIMIT_COUNT])
{
	struct text names = { .arena = arena };

	for (int limit = 0; limit < LIMIT_COUNT; limit++)
		if (available[limit])
			text_printf(&names, "%s%s", names.length ? ", " : "",
				    limit_table[limit].name);
	return names.length ? text_get(&names) : NULL;
}

const char *limits_render_available(const struct facts *facts, struct error *error)
{
	const struct cgroup_facts *cgroup = &facts->cgroup;
	const char *direct = render_names(error->arena, cgroup->direct);
	const char *by_systemd = cgroup->systemd_run && !cgroup->systemd_problem
					 ? render_names(error->arena, cgroup->by_systemd)
					 : NULL;
	struct config config = { 0 };
	struct plan plan = { 0 };

	// If no limit is available, request all of them, so that plan_check_limits sets an error.
	for (int limit = 0; limit < LIMIT_COUNT; limit++)
		config.limits[limit].value = cgroup->wanted[limit] || (!direct && !by_systemd);
	plan_build_limits(&plan, &config, facts);
	if (!plan_check_limits(&plan, facts, error))
		return NULL;
	if (plan.limits.method == LIMITS_SYSTEMD || !direct)
		return arena_printf(error->arena, "%s: by systemd-run --scope", by_systemd);
	return arena_printf(error->arena, "%s: by a cgroup in %s%s%s", direct,
			    quote_display(error->arena, cgroup->parent, 0),
			    by_systemd ? "; by systemd-run --scope: " : "",
			    by_systemd ? by_systemd : "");
}
