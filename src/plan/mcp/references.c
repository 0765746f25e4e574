// SPDX-License-Identifier: MIT
// References to variables in the configuration of an MCP server.
#include "plan/mcp/references.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

// Bounds defaults that contain references.
enum { MOST_DEPTH = 8 };

static const char *look_up_nothing(const void *environment, const char *name)
{
	(void)environment;
	(void)name;
	return NULL;
}

const char *references_defaults(struct arena *arena, const char *text)
{
	for (int i = 0; i < MOST_DEPTH && strstr(text, ":-"); i++)
		text = references_expand(arena, text, look_up_nothing, NULL, NULL);
	return text;
}

const char *references_expand(struct arena *arena, const char *text, reference_lookup lookup,
			      const void *environment, strings *missing)
{
	struct text out = { .arena = arena };
	const char *start;

	while ((start = strstr(text, "${"))) {
		size_t length = strcspn(start + 2, "}");
		const char *inside = arena_strndup(arena, start + 2, length);
		const char *fallback = strstr(inside, ":-");
		const char *name =
			fallback ? arena_strndup(arena, inside, (size_t)(fallback - inside))
				 : inside;
		const char *value = lookup(environment, name);

		if (!start[2 + length] || !length)
			break;
		text_add_bytes(&out, text, (size_t)(start - text));
		text = start + 2 + length + 1;
		if (value || fallback) {
			text_add(&out, value ? value : fallback + strlen(":-"));
			continue;
		}
		text_add_bytes(&out, start, (size_t)(text - start));
		if (missing)
			vec_push(arena, missing, name);
	}
	text_add(&out, text);
	return text_get(&out);
}
