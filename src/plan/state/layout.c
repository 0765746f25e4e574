// SPDX-License-Identifier: MIT
// The layout of ~/.claudebox: its version and its entries.
#include "plan/state/layout.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/state/instances.h"

#include <string.h>

enum { MAX_DIGITS = 9 };

bool layout_has_name(const char *name)
{
	static const char *const names[] = {
		"instances",        "packages",     "gcroots",          "sign-in",
		"sign-in.base",     "sign-in.lock", "profiles",         STATE_VERSION_FILE,
		STATE_PLACES,       STATE_HOME,     STATE_HOME ".lock", STATE_HOME ".links",
		STATE_HOME ".size", STATE_SEARCHED,
	};
	static const char *const prefixes[] = { "backup-", "prove-claudebox-", ".claudebox-",
						STATE_HOME_KEPT };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_equal(name, names[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (str_starts(name, prefixes[i]))
			return true;
	return false;
}

static bool refuse_later(struct error *error, const char *what, const char *version, int known)
{
	error_set(error,
		  "%s was written by a later claudebox (version %s, this claudebox supports %d)",
		  what, version, known);
	return error_hint(error, "use that claudebox or a later one; nothing was changed");
}

bool layout_check_version(const struct state_facts *state, struct error *error)
{
	const char *text = state->version;
	const char *root = quote_display(error->arena, state->root, 0);
	JSON_OWNED *record = json_read_object(state->record, 0);
	json_int_t version = json_integer_value(json_object_get(record, "version"));

	if (text) {
		size_t length = strspn(text, "0123456789");
		const char *number = arena_strndup(error->arena, text, length);
		size_t value = 0;

		for (const char *s = number; *s && length <= MAX_DIGITS; s++)
			value = value * 10 + (size_t)(*s - '0');
		if (!length || !str_equal(text + length + (text[length] == '\n'), "")) {
			error_set(error, "'%s/" STATE_VERSION_FILE "' contains no version number",
				  root);
			return error_hint(error, "this claudebox writes %d to that file",
					  STATE_VERSION);
		}
		if (length > MAX_DIGITS || value > STATE_VERSION)
			return refuse_later(error, arena_printf(error->arena, "'%s'", root), number,
					    STATE_VERSION);
	}
	if (version > INSTANCE_RECORD_VERSION)
		return refuse_later(error, "the state of this project",
				    arena_printf(error->arena, "%lld", (long long)version),
				    INSTANCE_RECORD_VERSION);
	return true;
}
