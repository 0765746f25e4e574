// SPDX-License-Identifier: MIT
// Limits the number of values in JSON text, before it is parsed.
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
