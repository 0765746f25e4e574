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

	return find_secret(value, FIND_SHAPES, &found) ? found.kind : NULL;
}

const char *secret_find(const char *text, size_t *ret_start, size_t *ret_length)
{
	struct found found;

	if (!find_secret(text, FIND_SHAPES | FIND_ASSIGNMENTS, &found))
		return NULL;
	*ret_start = found.start;
	*ret_length = found.length;
	return found.kind;
}

const char *secret_find_in_prose(const char *text, size_t *ret_start, size_t *ret_length,
				 bool *ret_certain)
{
	struct found found;

	if (!find_secret(text, FIND_SHAPES | FIND_PROSE, &found))
		return NULL;
	*ret_start = found.start;
	*ret_length = found.length;
	*ret_certain = found.certain;
	return found.kind;
}

bool secret_random_part(const char *text)
{
	return shape_random(text, strlen(text), LONG_PART);
}

const char *secret_token(const char *text)
{
	struct found found;

	return find_secret(text, FIND_TOKENS, &found) ? found.kind : NULL;
}

const char *secret_data(const char *name, const char *value)
{
	const char *named = NULL;
	enum name_strength strength = name ? name_judge(name, strlen(name), &named) : NAME_HARMLESS;
	const char *rest = value;
	const char *kind;
	size_t start;
	size_t length;
	bool certain;

	while ((kind = secret_find_in_prose(rest, &start, &length, &certain))) {
		if (certain)
			return kind;
		rest += start + (start == 0); // the doubtful value may contain a certain one
	}
	return value_is_secret(strength, value, strlen(value)) ? named : NULL;
}

const char *secret_text(const char *name, const char *value)
{
	const char *named = NULL;
	enum name_strength strength = name ? name_judge(name, strlen(name), &named) : NAME_HARMLESS;
	struct found found;

	if (find_secret(value, FIND_SHAPES | FIND_ASSIGNMENTS, &found))
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
