// SPDX-License-Identifier: MIT
// Detects secrets by names, by the shapes of values, and by both together.
#include "plan/secrets/detect.h"

#include "base/arena.h"
#include "plan/secrets/find.h"
#include "plan/secrets/shapes.h"
#include "plan/secrets/values.h"

#include <string.h>

enum { LONG_PART = 20 };

// A variable of the environment with one of these words in its name is always reported.
static const char *const reported_words[] = { "KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL" };

const char *secret_value(const char *value)
{
	struct found found;

	return find_secret(value, 0, FIND_SHAPES, &found) ? found.kind : NULL;
}

const char *secret_find(const char *text, size_t *ret_start, size_t *ret_length)
{
	struct found found;

	if (!find_secret(text, 0, FIND_SHAPES | FIND_ASSIGNMENTS, &found))
		return NULL;
	*ret_start = found.start;
	*ret_length = found.length;
	return found.kind;
}

const char *secret_find_in_prose(const char *text, size_t *ret_start, size_t *ret_length,
				 bool *ret_certain)
{
	struct found found;

	if (!find_secret(text, 0, FIND_SHAPES | FIND_PROSE, &found))
		return NULL;
	*ret_start = found.start;
	*ret_length = found.length;
	*ret_certain = found.certain;
	return found.kind;
}

const char *secret_find_certain(const char *text, const char **ret_doubt)
{
	struct found found;
	size_t from = 0;

	*ret_doubt = NULL;
	// A doubtful assignment may contain a certain secret: Authorization: Bearer TOKEN.
	while (find_secret(text, from, FIND_SHAPES | FIND_PROSE, &found)) {
		if (found.certain)
			return found.kind;
		*ret_doubt = *ret_doubt ? *ret_doubt : text + found.start;
		from = found.place + 1;
	}
	return NULL;
}

bool secret_random_part(const char *text)
{
	return shape_random(text, strlen(text), LONG_PART);
}

const char *secret_token(const char *text)
{
	struct found found;

	return find_secret(text, 0, FIND_TOKENS, &found) ? found.kind : NULL;
}

const char *secret_data(const char *name, const char *value)
{
	const char *named = NULL;
	enum name_strength strength = name ? name_judge(name, strlen(name), &named) : NAME_HARMLESS;
	const char *doubt;
	const char *kind = secret_find_certain(value, &doubt);

	if (kind)
		return kind;
	return value_is_secret(strength, value, strlen(value)) ? named : NULL;
}

const char *secret_text(const char *name, const char *value)
{
	const char *named = NULL;
	enum name_strength strength = name ? name_judge(name, strlen(name), &named) : NAME_HARMLESS;
	struct found found;

	if (find_secret(value, 0, FIND_SHAPES | FIND_ASSIGNMENTS, &found))
		return found.kind;
	return value_is_secret(strength, value, strlen(value)) ? named : NULL;
}

enum secret_sign secret_variable(const char *name, const char *value, const char **ret_kind)
{
	*ret_kind = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(reported_words); i++)
		if (strcasestr(name, reported_words[i]))
			return SECRET_BY_NAME;
	*ret_kind = secret_text(NULL, value);
	if (*ret_kind)
		return SECRET_BY_SHAPE;
	return secret_text(name, value) ? SECRET_BY_NAME : SECRET_NONE;
}
