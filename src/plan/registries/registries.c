// SPDX-License-Identifier: MIT
// The settings of package managers in the box: generated files without credentials.
//
// Theory of operation: without the addresses of the user's own registries, a tool in the box would
// fetch the name of a private package from the public registry, where another person may have
// published it. The files with these addresses also hold tokens and passwords, and so they are
// secret places that are never mounted. Each is parsed, filtered by a table (rules.c), and written
// again from what passed. The generated file lies where it ranks below the agent's own settings.
#include "plan/registries/registries.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/names.h"
#include "plan/facts.h"
#include "plan/home/home.h"
#include "plan/plan.h"
#include "plan/registries/filter.h"
#include "plan/registries/rules.h"
#include "plan/registries/setting.h"
#include "plan/registries/tools.h"
#include "plan/secrets/detect.h"
#include "plan/toolchains/advice.h"

#include <string.h>

#define SETTINGS_REASON "package manager settings without credentials: "

enum { LISTED_NAMES = 8 };

// Returns whether a text is something else than settings of this tool: its table has none of them,
// and some are not even names. Then no part of it is shown.
static bool is_other_text(enum registry_tool tool, const struct parsed *parsed,
			  const struct plan_registry *report)
{
	bool unnamed = false;

	vec_each(setting, &parsed->list) {
		if (rule_find(tool, setting))
			return false;
	}
	vec_each(name, &report->left_out)
		unnamed |= str_starts(*name, "line ");
	return unnamed;
}

// Parses and filters one file of the host. Returns its report.
static struct plan_registry read_source(const struct plan *plan, struct arena *arena,
					const struct registry_facts *file, setting_list *kept)
{
	enum registry_tool tool = source_table[file->source].tool;
	struct parsed parsed = { .arena = arena };
	struct plan_registry report = { .tool = tool_table[tool].name,
					.source = file->path,
					.problem = file->problem };

	if (!report.problem && !tool_table[tool].parse(&parsed, file->text))
		report.problem = arena_printf(arena, "line %zu is not understood", parsed.line);
	if (!report.problem)
		registries_filter(&report, arena, plan, tool, &parsed.list, kept);
	if (!report.problem && is_other_text(tool, &parsed, &report))
		report = (struct plan_registry){ .tool = report.tool,
						 .source = report.source,
						 .problem = "it has no setting of this tool" };
	return report;
}

// Returns the box's own file at this path, NULL: none.
static struct plan_mount *find_generated(const struct plan *plan, const char *path)
{
	vec_each(mount, &plan->mounts) {
		if (mount->kind == MOUNT_DATA && str_equal(mount->path, path))
			return mount;
	}
	return NULL;
}

// Returns whether the box can have a file of its own at this path: no host file or directory is
// there.
static bool is_free(const struct plan *plan, const char *path)
{
	return !plan_provides(plan, path) && !plan_lies_in_host(plan, path);
}

// Adds the file of a tool, or adds to the box's own one. Returns why it does not, NULL: it does.
static const char *add_file(struct plan *plan, struct arena *arena, const struct tool_row *tool,
			    const char *content)
{
	const char *link = tool->link ? path_expand_home(arena, tool->link, plan->home) : NULL;
	struct plan_mount *own = find_generated(plan, tool->path);
	struct plan_mount mount = {
		.kind = MOUNT_DATA, .source = content, .path = tool->path, .mode = 0444
	};
	size_t start;
	size_t length;

	// The filter has checked every value; this is the last check.
	if (secret_find(content, &start, &length))
		return "what would pass still looks like a secret";
	if ((!own && !is_free(plan, tool->path)) || (link && !is_free(plan, link)))
		return "a mount covers the place of the generated file";
	if (own)
		own->source = arena_printf(arena, "%s%s", own->source, content);
	else
		plan_add_mount(plan, arena, mount);
	if (link)
		plan_add_home_link(plan, arena, link, tool->path, NULL);
	return NULL;
}

// Adds the registries of npm, which yarn 1 reads from ~/.npmrc but not from npm's global file. Its
// own settings rank above them.
static void add_npm_registries(struct arena *arena, const setting_list *npm, setting_list *kept)
{
	vec_each(setting, npm) {
		const struct rule_row *row = rule_find(TOOL_YARN_1, setting);

		if (row && row->kind == RULE_ADDRESS)
			vec_push(arena, kept, *setting);
	}
}

// Reads the files of a tool, and adds the generated one.
static setting_list build_tool(struct plan *plan, struct arena *arena, const struct facts *facts,
			       enum registry_tool tool, const setting_list *npm)
{
	const struct tool_row *row = &tool_table[tool];
	size_t first = plan->registries.count;
	setting_list kept = { 0 };
	const char *problem;

	if (tool == TOOL_YARN_1)
		add_npm_registries(arena, npm, &kept);
	vec_each(file, &facts->registries) {
		if (source_table[file->source].tool == tool)
			vec_push(arena, &plan->registries, read_source(plan, arena, file, &kept));
	}
	problem = kept.count ? add_file(plan, arena, row, row->render(arena, &kept)) : NULL;
	for (size_t i = first; problem && i < plan->registries.count; i++)
		if (!plan->registries.items[i].problem)
			plan->registries.items[i].problem = problem;
	if (problem)
		kept.count = 0;
	return kept;
}

// A list of names for a warning, which is cut.
struct names {
	struct text text;
	size_t count;
	const char *source; // of the last one
};

static void add_names(struct names *names, const struct plan *plan,
		      const struct plan_registry *report, const strings *list, const char *note)
{
	struct arena *arena = names->text.arena;

	vec_each(name, list) {
		if (names->count++ >= LISTED_NAMES)
			continue;
		if (str_equal(names->source, report->source))
			text_add(&names->text, ", ");
		else
			text_printf(&names->text, "%s%s: ", names->count > 1 ? "; " : "",
				    quote_word(arena, path_tilde(arena, report->source, plan->home),
					       80));
		names->source = report->source;
		// The filter lets only plain names and "line N" through.
		text_printf(&names->text, "%s%s", quote_display(arena, *name, 100), note);
	}
}

static void warn_names(struct plan *plan, struct arena *arena, struct names *names,
		       const char *what)
{
	if (names->count > LISTED_NAMES)
		text_printf(&names->text, " and %zu more (--dry-run=json has all)",
			    names->count - LISTED_NAMES);
	if (names->count)
		plan_warn_outside(plan, arena, "%s: %s", what, text_get(&names->text));
}

static void warn_left_out(struct plan *plan, struct arena *arena)
{
	struct names logins = { .text.arena = arena };
	struct names replaced = { .text.arena = arena };
	struct names others = { .text.arena = arena };

	vec_each(report, &plan->registries) {
		if (report->problem) {
			plan_warn_outside(
				plan, arena,
				"settings of %s are left out: '%s': %s; names of private packages "
				"may be fetched from a public registry",
				report->tool,
				quote_word(arena, path_tilde(arena, report->source, plan->home),
					   120),
				report->problem);
			continue;
		}
		add_names(&logins, plan, report, &report->credentials, "");
		add_names(&logins, plan, report, &report->without_login, " (the address passes)");
		add_names(&replaced, plan, report, &report->replaced, "");
		add_names(&others, plan, report, &report->left_out, "");
	}
	warn_names(plan, arena, &logins,
		   "logins of package managers stay outside; \"extra_env_passthrough\" passes a "
		   "variable with one (doc/package-settings.md)");
	warn_names(plan, arena, &replaced,
		   "addresses of registries with a token in them are replaced by one that does not "
		   "exist, so that no public registry takes their place");
	warn_names(plan, arena, &others, "settings of package managers that the box does not get");
}

// Warns about variables of the host that name registries. They may hold a login, so only the user
// passes them.
static void warn_variables(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	struct text names = { .arena = arena };

	vec_each(entry, &facts->environment) {
		size_t length = strcspn(*entry, "=");
		const char *name = arena_strndup(arena, *entry, length);

		if (env_name_valid(name, length) && !plan_variable(plan, name) &&
		    variable_row_find(registry_variables, registry_variable_count, name))
			text_printf(&names, "%s%s", names.length ? ", " : "",
				    quote_word(arena, name, 80));
	}
	if (names.length)
		plan_warn_outside(
			plan, arena,
			"variables that name package registries do not pass; name them in "
			"\"extra_env_passthrough\": %s",
			text_get(&names));
}

// Names the variables of the host that settings refer to, with what passes them. They may hold a
// login, so only the user passes them.
static void report_variables(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	vec_each(report, &plan->registries) {
		vec_each(name, &report->variables) {
			const char *option =
				arena_printf(arena, "\"extra_env_passthrough\": [\"%s\"]", *name);

			if (!report->problem && facts_variable(facts, *name) &&
			    !advice_given(plan, option))
				plan_leave_out(
					plan, arena, arena_printf(arena, "variable %s", *name),
					arena_printf(arena, "%s uses it",
						     advice_path(plan, arena, report->source)),
					option);
		}
	}
}

// Gives the generated files the reason that the audit shows.
static void explain_files(struct plan *plan, struct arena *arena)
{
	const char *why = arena_printf(arena, SETTINGS_REASON "%s", registries_tools(plan, arena));

	for (int tool = 0; tool < TOOL_COUNT; tool++) {
		struct plan_mount *file = plan->has_registries[tool]
						  ? find_generated(plan, tool_table[tool].path)
						  : NULL;

		if (file)
			file->why = why;
	}
}

strings registries_bundles(struct arena *arena, const struct facts *facts)
{
	strings paths = { 0 };

	vec_each(file, &facts->registries) {
		enum registry_tool tool = source_table[file->source].tool;
		struct parsed parsed = { .arena = arena };

		if (file->problem || !tool_table[tool].parse(&parsed, file->text))
			continue;
		vec_each(setting, &parsed.list) {
			const struct rule_row *row = rule_find(tool, setting);

			if (!row || row->kind != RULE_BUNDLE || setting->unreadable)
				continue;
			vec_each(value, &setting->values)
				vec_push(arena, &paths, *value);
		}
	}
	return paths;
}

const char *registries_tools(const struct plan *plan, struct arena *arena)
{
	struct text names = { .arena = arena };

	for (int tool = 0; tool < TOOL_COUNT; tool++)
		if (plan->has_registries[tool])
			text_printf(&names, "%s%s", names.length ? ", " : "",
				    tool_table[tool].name);
	return text_get(&names);
}

void plan_build_registries(struct plan *plan, struct arena *arena, const struct facts *facts)
{
	setting_list npm = { 0 };

	if (plan->config->package_settings == PACKAGE_SETTINGS_NONE)
		return;
	for (int tool = 0; tool < TOOL_COUNT; tool++) {
		setting_list kept = build_tool(plan, arena, facts, (enum registry_tool)tool, &npm);

		plan->has_registries[tool] = kept.count > 0;
		if (tool == TOOL_NPM)
			npm = kept;
	}
	explain_files(plan, arena);
	warn_left_out(plan, arena);
	warn_variables(plan, arena, facts);
	report_variables(plan, arena, facts);
}
