// SPDX-License-Identifier: MIT
// Parses any bytes as settings of every package manager: no crash, no hang; the generated file has
// no unusual characters, and the same filter passes it unchanged.
#include "base/arena.h"
#include "base/text.h"
#include "fuzz.h"
#include "plan/plan.h"
#include "plan/registries/filter.h"
#include "plan/registries/setting.h"
#include "plan/registries/tools.h"

static const char *generate(struct arena *arena, enum registry_tool tool, const char *text,
			    struct plan_registry *report)
{
	static const struct plan plan;
	struct parsed parsed = { .arena = arena };
	setting_list kept = { 0 };

	if (!tool_table[tool].parse(&parsed, text))
		return NULL;
	registries_filter(report, arena, &plan, tool, &parsed.list, &kept);
	return kept.count ? tool_table[tool].render(arena, &kept) : "";
}

static bool is_plain(const char *text)
{
	for (const char *s = text; *s; s++)
		if ((*s < ' ' && *s != '\n') || *s > '~')
			return false;
	return true;
}

static void check_names(const strings *list)
{
	vec_each(name, list)
		MUST(is_plain(*name) && !strchr(*name, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int tool = 0; tool < TOOL_COUNT; tool++) {
		struct arena arena = { 0 };
		const char *text = arena_strndup(&arena, (const char *)data, size);
		struct plan_registry report = { 0 };
		const char *once =
			tool_table[tool].parse
				? generate(&arena, (enum registry_tool)tool, text, &report)
				: NULL;

		if (once && *once) {
			struct plan_registry second = { 0 };
			const char *twice =
				generate(&arena, (enum registry_tool)tool, once, &second);

			MUST(is_plain(once));
			MUST(twice && str_equal(once, twice));
			MUST(!second.credentials.count && !second.left_out.count &&
			     !second.without_login.count && !second.replaced.count);
		}
		check_names(&report.credentials);
		check_names(&report.left_out);
		check_names(&report.replaced);
		check_names(&report.without_login);
		arena_free(&arena);
	}
	return 0;
}
