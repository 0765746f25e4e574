// SPDX-License-Identifier: MIT
// Secrets in the lines of a conversation.
//
// Theory of operation: the strings of the parsed line are searched, so that no escape in the text
// hides a secret. A conversation consists of prose, source code and the output of programs: as in
// other documents, values beside the names of secrets count if they are certain.
#include "plan/claude/transcript.h"

#include "base/json.h"
#include "base/text.h"
#include "plan/secrets/detect.h"

const char *transcript_find_in_part(const char *part)
{
	return secret_data(NULL, part);
}

// Returns whether a member is the signature of a thought, which looks random and is no secret.
static bool is_thought_signature(const json_t *object, const char *key)
{
	return str_equal(key, "signature") &&
	       str_equal(json_string_value(json_object_get(object, "type")), "thinking");
}

// `name`: the member that holds the value, NULL: one of Claude's own (ids, times, versions).
static const char *find_in_value(const char *name, json_t *value)
{
	const char *kind = NULL;
	const char *key;
	json_t *inner;
	size_t i;

	if (json_is_string(value))
		return secret_data(name, json_string_value(value));
	json_array_foreach(value, i, inner) {
		if (!kind)
			kind = find_in_value(name, inner);
	}
	json_object_foreach(value, key, inner) {
		if (!kind)
			kind = secret_value(key);
		if (!kind)
			kind = find_in_value(is_thought_signature(value, key) ? NULL : key, inner);
	}
	return kind;
}

const char *transcript_find_secret(const char *line)
{
	// Of two members of the same name, the parser keeps one.
	JSON_OWNED *object = json_read_object(line, JSON_REJECT_DUPLICATES);
	const char *kind = NULL;
	const char *key;
	json_t *value;

	if (!object)
		return transcript_find_in_part(line);
	json_object_foreach(object, key, value) {
		if (!kind)
			kind = secret_value(key);
		if (!kind)
			kind = find_in_value(json_is_string(value) ? NULL : key, value);
	}
	return kind;
}
