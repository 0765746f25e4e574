// SPDX-License-Identifier: MIT
// The report of --prove, as a table and as JSON.
#include "prove/render.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "base/width.h"
#include "config/options/table.h"
#include "plan/plan.h"
#include "prove/attacks.h"
#include "prove/protocol.h"
#include "prove/verdicts.h"

enum { NARROW_COLUMNS = 72, INDENT = 4, VERDICT_COLUMNS = 7 };

// How the table shows a verdict, and its name in the last line.
static const struct {
	const char *shown;
	enum style style;
	const char *counted;
} verdict_rows[VERDICT_COUNT] = {
	[VERDICT_BLOCKED] = { "blocked", STYLE_PLAIN, "blocked" },
	[VERDICT_LEAKED] = { "LEAKED", STYLE_DANGER, "leaked" },
	[VERDICT_OPEN] = { "open", STYLE_WARN, "open by design" },
	[VERDICT_GRANTED] = { "granted", STYLE_REQUESTED, "granted" },
	[VERDICT_SKIPPED] = { "skipped", STYLE_DIM, "skipped" },
	[VERDICT_NOT_RUN] = { "not run", STYLE_DANGER, "not run" },
};

// Returns the text beside the verdict: for a blocked attack the protection and the error, for a
// leak the access, otherwise the reason alone.
static const char *describe(struct arena *arena, const struct attack *attack,
			    const struct proof_row *row)
{
	const char *why = quote_display(arena, row->why, 0);

	if (row->verdict == VERDICT_BLOCKED)
		return arena_printf(arena, "%s (%s)", attack->blocked_by, why);
	if (row->verdict == VERDICT_LEAKED)
		return arena_printf(arena, "%s: %s", attack->tried, why);
	return why;
}

static void add_row(struct screen *screen, size_t name_width, enum attack_id attack,
		    const struct proof_row *row)
{
	const char *name = attack_name(screen->arena, attack);
	const char *shown = verdict_rows[row->verdict].shown;
	bool narrow = screen_narrow(screen, NARROW_COLUMNS);
	size_t indent = narrow ? INDENT : 2 + name_width + 2 + VERDICT_COLUMNS + 2;

	text_printf(&screen->out, "  %s", name);
	screen_add_blanks(screen, (narrow ? 0 : name_width - display_width(name)) + 2);
	screen_add(screen, verdict_rows[row->verdict].style, shown);
	if (narrow)
		screen_end_line(screen, indent);
	else
		screen_add_blanks(screen, VERDICT_COLUMNS - display_width(shown) + 2);
	screen_add_wrapped(screen, STYLE_PLAIN, describe(screen->arena, &attack_table[attack], row),
			   indent);
}

static void add_summary(struct screen *screen, const struct proof *proof)
{
	enum verdict last = proof->counts[VERDICT_NOT_RUN] ? VERDICT_NOT_RUN : VERDICT_SKIPPED;
	size_t used = 0;

	text_add(&screen->out, "\n");
	for (enum verdict verdict = 0; verdict <= last; verdict++) {
		size_t count = proof->counts[verdict];
		bool bad = count && verdict_rows[verdict].style == STYLE_DANGER;

		used = screen_add_words(
			screen, bad ? STYLE_DANGER : STYLE_PLAIN,
			arena_printf(screen->arena, "%s%zu %s%s", verdict ? " " : "", count,
				     verdict_rows[verdict].counted, verdict < last ? "," : ""),
			0, used);
	}
	text_add(&screen->out, "\n");
}

const char *render_proof(struct arena *arena, const struct plan *plan, const struct proof *proof,
			 struct reader reader)
{
	struct screen screen = screen_for(arena, reader);
	const char *group = NULL;
	size_t name_width = 0;

	for (enum attack_id attack = 0; attack < ATTACK_COUNT; attack++) {
		size_t width = display_width(attack_name(arena, attack));

		name_width = width > name_width ? width : name_width;
	}
	screen_add_wrapped(&screen, STYLE_PLAIN,
			   arena_printf(arena, "Attacks from inside the box of %s",
					quote_word(arena, plan->project, 0)),
			   0);
	screen_add_wrapped(&screen, STYLE_PLAIN,
			   arena_printf(arena, "network %s%s%s",
					network_tier_names[plan->config->network],
					plan->config->profile ? ", profile " : "",
					plan->config->profile ? plan->config->profile : ""),
			   0);
	for (enum attack_id attack = 0; attack < ATTACK_COUNT; attack++) {
		if (!str_equal(group, attack_table[attack].group)) {
			group = attack_table[attack].group;
			text_add(&screen.out, "\n");
			screen_add(&screen, STYLE_HEAD, group);
			text_add(&screen.out, "\n");
		}
		add_row(&screen, name_width, attack, &proof->rows[attack]);
	}
	add_summary(&screen, proof);
	return text_get(&screen.out);
}

// Returns a JSON string. Text that is no UTF-8, which the attack program may send, is escaped.
static json_t *json_string_of(struct arena *arena, const char *value)
{
	json_t *string = json_string(value);

	return string ? string : json_string(quote_display(arena, value, 0));
}

const char *render_proof_json(struct arena *arena, const struct plan *plan,
			      const struct proof *proof)
{
	json_t *attacks = json_array();
	JSON_OWNED *all = NULL;

	for (enum attack_id id = 0; id < ATTACK_COUNT; id++) {
		const struct attack *attack = &attack_table[id];
		const struct proof_row *row = &proof->rows[id];

		json_array_append_new(attacks, json_pack("{s:s, s:s, s:s, s:s, s:o, s:s}", "name",
							 attack_name(arena, id), "group",
							 attack->group, "tried", attack->tried,
							 "verdict", verdict_names[row->verdict],
							 "why", json_string_of(arena, row->why),
							 "blocked_by", attack->blocked_by));
	}
	all = json_pack("{s:i, s:s, s:s?, s:o, s:b, s:o}", "version", 1, "tier",
			network_tier_names[plan->config->network], "profile", plan->config->profile,
			"project", json_string_of(arena, plan->project), "complete",
			!proof->problem, "attacks", attacks);
	for (enum verdict verdict = 0; verdict < VERDICT_COUNT; verdict++)
		json_object_set_new(all, verdict_names[verdict],
				    json_integer((json_int_t)proof->counts[verdict]));
	return json_write(arena, all, JSON_INDENT(2) | JSON_ENSURE_ASCII);
}
