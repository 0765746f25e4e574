// SPDX-License-Identifier: MIT
// Helpers for jansson, and a limit on the number of values in JSON text.
#include "base/json.h"

#include <string.h>

bool json_too_many_values(const char *text)
{
	size_t values = 0;

	if (strlen(text) <= JSON_SHORT)
		return false;
	for (const char *s = text; *s && values <= JSON_MOST_VALUES; s++) {
		if (*s == '"') {
			// Skip the string.
			while (*(s += 1 + strcspn(s + 1, "\"\\")) == '\\' && s[1])
				s++;
			if (*s != '"')
				return false; // not JSON: the parser reports it
		}
		values += *s == ',' || *s == '[' || *s == '{';
	}
	return values > JSON_MOST_VALUES;
}

json_t *json_get_or_add_object(json_t *parent, const char *key)
{
	json_t *value = json_object_get(parent, key);

	if (!json_is_object(value)) {
		value = json_object();
		// Setting a key that is not UTF-8 fails, and releases the value.
		if (json_object_set_new(parent, key, value) < 0)
			return NULL;
	}
	return value;
}
