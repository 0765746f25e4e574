// SPDX-License-Identifier: MIT
// Looks at JSON before it is taken apart.
#include "base/json.h"

#include <string.h>

bool json_too_many_values(const char *text)
{
	size_t values = 0;

	if (strlen(text) <= JSON_SHORT)
		return false;
	for (const char *s = text; *s && values <= JSON_MOST_VALUES; s++) {
		if (*s == '"') {
			// To the end of the string.
			while (*(s += 1 + strcspn(s + 1, "\"\\")) == '\\' && s[1])
				s++;
			if (*s != '"')
				return false; // it is no JSON, and the parser says so
		}
		values += *s == ',' || *s == '[' || *s == '{';
	}
	return values > JSON_MOST_VALUES;
}
