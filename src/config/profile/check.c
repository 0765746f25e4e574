// SPDX-License-Identifier: MIT
// Parses a profile and checks it against the schema. Every error gives the position in one line;
// none shows the value of a variable.
#include "config/profile/check.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/locate.h"
#include "config/names.h"
#include "config/profile/profile.h"
#include "config/profile/place.h"
#include "config/profile/schema.h"

#include <string.h>

// Adds the example of a row as the hint. Returns false.
static bool hint_example(const struct profile_place *place, const struct profile_row *row)
{
	return error_hint(place->error, "for example: \"%s\": %s", row->key, row->example);
}

static const char *type_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
		return "a number";
	case JSON_REAL:
		return "a fraction";
	case JSON_TRUE:
		return "true";
	case JSON_FALSE:
		return "false";
	case JSON_NULL:
		break;
	}
	return "null";
}

static bool wrong_type(const struct profile_place *place, const struct profile_row *row,
		       const char *wanted, const json_t *value)
{
	profile_fail(place, LOCATE_VALUE, "'%s' must be %s, not %s", profile_place_name(place),
		     wanted, type_name(value));
	return hint_example(place, row);
}

bool profile_too_many(const struct profile_place *place, const struct profile_row *row)
{
	profile_fail(place, LOCATE_VALUE, "'%s' has more than %zu entries", row->key, row->most);
	return error_hint(place->error,
			  "the entries of extended profiles and of options count too");
}

// C0, DEL, and C1 as UTF-8 writes it (c2 80 to c2 9f).
static bool has_control(const char *text)
{
	for (const unsigned char *s = (const unsigned char *)text; *s; s++)
		if (*s < 0x20 || *s == 0x7f || (*s == 0xc2 && s[1] < 0xa0))
			return true;
	return false;
}

// Returns the name of a variable for a message. The text after '=' may be a secret.
static const char *shown_variable(struct arena *arena, const char *name)
{
	size_t length = strcspn(name, "=");

	return arena_printf(arena, "%s%s",
			    quote_display(arena, arena_strndup(arena, name, length), 60),
			    name[length] ? "=..." : "");
}

// Returns what is wrong with a string, as the end of a sentence about the place; NULL: nothing.
static const char *find_problem(const struct profile_place *place, const struct profile_row *row,
				const char *text, bool row_test)
{
	struct arena *arena = place->error->arena;
	const char *problem = NULL;

	if (has_control(text))
		return " contains a control character";
	if (row->longest && strlen(text) > row->longest)
		return arena_printf(arena, " is longer than %zu bytes", row->longest);
	if (row_test && row->problem)
		problem = row->problem(arena, text);
	if (!problem)
		return NULL;
	return arena_printf(arena, ": '%s' %s",
			    row->names_variables ? shown_variable(arena, text)
						 : quote_display(arena, text, 60),
			    problem);
}

// Checks a string. `row_test`: also by the test of its row, which is for the names of variables and
// not for their values.
static bool check_string(const struct profile_place *place, const struct profile_row *row,
			 const json_t *value, bool row_test)
{
	const char *problem;

	if (!json_is_string(value))
		return wrong_type(place, row, "a string", value);
	problem = find_problem(place, row, json_string_value(value), row_test);
	if (!problem)
		return true;
	profile_fail(place, LOCATE_VALUE, "'%s'%s", profile_place_name(place), problem);
	return hint_example(place, row);
}

size_t profile_choice(const struct profile_row *row, const json_t *value)
{
	size_t i = 0;

	while (i < row->choice_count && !str_equal(row->choices[i], json_string_value(value)))
		i++;
	return i;
}

static bool check_choice(const struct profile_place *place, const struct profile_row *row,
			 const json_t *value)
{
	struct text known = { .arena = place->error->arena };
	const char *nearest;

	if (!json_is_string(value))
		return wrong_type(place, row, "a string", value);
	if (profile_choice(row, value) < row->choice_count)
		return true;
	for (size_t i = 0; i < row->choice_count; i++)
		text_printf(&known, "%s'%s'", i ? ", " : "", row->choices[i]);
	profile_fail(place, LOCATE_VALUE, "'%s' is '%s' and must be one of %s",
		     profile_place_name(place),
		     quote_display(place->error->arena, json_string_value(value), 60),
		     text_get(&known));
	nearest = name_nearest(json_string_value(value), row->choices, row->choice_count);
	return nearest ? error_hint(place->error, "did you mean '%s'?", nearest)
		       : hint_example(place, row);
}

// Checks a list of choices that is given as a word.
static bool check_word(const struct profile_place *place, const struct profile_row *row,
		       const json_t *value)
{
	const char *const words[] = { row->all_choices, row->no_choices };
	const char *word = json_string_value(value);
	struct arena *arena = place->error->arena;

	if (str_equal(word, row->all_choices) || str_equal(word, row->no_choices))
		return true;
	profile_fail(place, LOCATE_VALUE, "'%s' is '%s' and must be '%s', '%s' or a list",
		     profile_place_name(place), quote_display(arena, word, 60), words[0], words[1]);
	if (name_nearest(word, row->choices, row->choice_count) &&
	    !name_nearest(word, words, ARRAY_SIZE(words)))
		return error_hint(place->error, "write a list: [\"%s\"]",
				  name_nearest(word, row->choices, row->choice_count));
	return error_hint(place->error, "%s",
			  name_hint(arena, "words", word, words, ARRAY_SIZE(words)));
}

static bool check_port(const struct profile_place *place, const struct profile_row *row,
		       const json_t *value)
{
	if (!json_is_integer(value))
		return wrong_type(place, row, "a port from 1 to 65535", value);
	if (json_integer_value(value) >= 1 && json_integer_value(value) <= 65535)
		return true;
	profile_fail(place, LOCATE_VALUE, "'%s' must be a port from 1 to 65535, not %lld",
		     profile_place_name(place), (long long)json_integer_value(value));
	return hint_example(place, row);
}

static bool check_number(const struct profile_place *place, const struct profile_row *row,
			 const json_t *value)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value))
		return wrong_type(place, row, "a number", value);
	if (number >= (json_int_t)row->range->least && number <= (json_int_t)row->range->most)
		return true;
	profile_fail(place, LOCATE_VALUE, "'%s' must be from %llu to %llu, not %lld",
		     profile_place_name(place), row->range->least, row->range->most,
		     (long long)number);
	return hint_example(place, row);
}

static bool check_variables(const struct profile_place *place, const struct profile_row *row,
			    json_t *object)
{
	struct arena *arena = place->error->arena;
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value) {
		struct profile_place inner = profile_member(place, name);
		const char *problem = row->problem(arena, name);

		if (!problem && strlen(name) > LONGEST_VARIABLE_NAME)
			problem = "is too long";
		if (problem) {
			profile_fail(&inner, LOCATE_KEY, "'%s': '%s' %s", row->key,
				     shown_variable(arena, name), problem);
			return hint_example(place, row);
		}
		if (!check_string(&inner, row, value, false))
			return false;
	}
	return true;
}

const char *profile_destination(struct arena *arena, const char *path)
{
	path = path_expand_home(arena, path, "~");
	// After a symbolic link ".." does not lead back, so such a path is not simplified.
	if (strstr(path, ".."))
		return path;
	return arena_printf(arena, "%s%s",
			    path[0] == '/'   ? ""
			    : path[0] == '~' ? "~"
					     : ".",
			    path_clean(arena, path));
}

static const char *destination_of(struct arena *arena, const json_t *mount)
{
	const char *path = json_string_value(json_object_get(mount, "sandbox"));

	if (!path)
		path = json_string_value(json_object_get(mount, "host"));
	return profile_destination(arena, path);
}

// Refuses two mounts at one path: the second would hide the first.
static bool check_destinations(const struct profile_place *place, const json_t *mounts)
{
	struct arena *arena = place->error->arena;
	strings seen = { 0 };
	size_t i;
	json_t *mount;

	json_array_foreach((json_t *)mounts, i, mount) {
		struct profile_place inner = profile_entry(place, i);
		const char *destination = destination_of(arena, mount);

		for (size_t k = 0; k < seen.count; k++) {
			if (!str_equal(seen.items[k], destination))
				continue;
			profile_fail(&inner, LOCATE_VALUE,
				     "'%s' has the same path in the box as 'mounts[%zu]'",
				     profile_place_name(&inner), k);
			return error_hint(place->error, "remove one of the two");
		}
		vec_push(arena, &seen, destination);
	}
	return true;
}

static bool check_members(const struct profile_place *place, const struct profile_row *rows,
			  size_t count, json_t *object);

static bool check_object(const struct profile_place *place, const struct profile_row *row,
			 json_t *value)
{
	if (!json_is_object(value))
		return wrong_type(place, row, "an object", value);
	return check_members(place, row->entry, row->entry_count, value);
}

static bool check_entry(const struct profile_place *place, const struct profile_row *row,
			json_t *value)
{
	if (row->kind == PROFILE_PORTS)
		return check_port(place, row, value);
	if (row->kind == PROFILE_STRINGS)
		return check_string(place, row, value, true);
	if (row->kind == PROFILE_CHOICES)
		return check_choice(place, row, value);
	return check_object(place, row, value);
}

static bool check_list(const struct profile_place *place, const struct profile_row *row,
		       json_t *list)
{
	size_t i;
	json_t *value;

	if (row->all_choices && json_is_string(list))
		return check_word(place, row, list);
	if (!json_is_array(list))
		return wrong_type(place, row, profile_kind_names[row->kind], list);
	if (json_array_size(list) > row->most)
		return profile_too_many(place, row);
	json_array_foreach(list, i, value) {
		struct profile_place inner = profile_entry(place, i);

		if (!check_entry(&inner, row, value))
			return false;
	}
	return row->kind != PROFILE_OBJECTS || check_destinations(place, list);
}

static bool check_value(const struct profile_place *place, const struct profile_row *row,
			json_t *value)
{
	switch (row->kind) {
	case PROFILE_STRING:
		return check_string(place, row, value, true);
	case PROFILE_CHOICE:
		return check_choice(place, row, value);
	case PROFILE_BOOLEAN:
		return json_is_boolean(value) || wrong_type(place, row, "true or false", value);
	case PROFILE_NUMBER:
		return check_number(place, row, value);
	case PROFILE_OBJECT:
		return check_object(place, row, value);
	case PROFILE_VARIABLES:
		if (!json_is_object(value))
			return wrong_type(place, row, profile_kind_names[row->kind], value);
		if (json_object_size(value) > row->most)
			return profile_too_many(place, row);
		return check_variables(place, row, value);
	default:
		return check_list(place, row, value);
	}
}

static bool unknown_key(const struct profile_place *place, const struct profile_row *rows,
			size_t count, const char *key)
{
	struct arena *arena = place->error->arena;
	strings known = { 0 };

	for (size_t i = 0; i < count; i++)
		vec_push(arena, &known, rows[i].key);
	profile_fail(place, LOCATE_KEY, "unknown key '%s'", profile_place_name(place));
	return error_hint(place->error, "%s",
			  name_hint(arena, "known keys", key, known.items, known.count));
}

static bool check_members(const struct profile_place *place, const struct profile_row *rows,
			  size_t count, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) {
		struct profile_place inner = profile_member(place, key);
		size_t i = 0;

		while (i < count && !str_equal(rows[i].key, key))
			i++;
		if (i == count)
			return unknown_key(&inner, rows, count, key);
		if (!check_value(&inner, &rows[i], value))
			return false;
	}
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].required || json_object_get(object, rows[i].key))
			continue;
		profile_fail(place, LOCATE_VALUE, "'%s' requires the key '%s'",
			     profile_place_name(place), rows[i].key);
		return hint_example(place, &rows[i]);
	}
	return true;
}

static bool check_name(const struct profile_place *root, const json_t *object)
{
	struct profile_place place = profile_member(root, "name");
	const char *name = json_string_value(json_object_get(object, "name"));

	if (!name || str_equal(name, root->profile->name))
		return true;
	profile_fail(&place, LOCATE_VALUE, "'name' is '%s', but the file is named '%s'", name,
		     root->profile->name);
	return error_hint(root->error, "rename the file, or change or remove the name");
}

// Refuses a variable that has a value in 'env' and is also passed from the host.
static bool check_passed_variables(const struct profile_place *root, const json_t *object)
{
	static const char key[] = "extra_env_passthrough";
	const json_t *variables = json_object_get(object, "env");
	json_t *names = json_object_get(object, key);
	size_t i;
	json_t *name;

	json_array_foreach(names, i, name) {
		struct profile_place list = profile_member(root, key);
		struct profile_place place = profile_entry(&list, i);

		if (!json_object_get(variables, json_string_value(name)))
			continue;
		profile_fail(&place, LOCATE_VALUE, "'%s': '%s' already has a value in 'env'",
			     profile_place_name(&place), json_string_value(name));
		return error_hint(root->error, "remove it from one of the two");
	}
	return true;
}

bool profile_parse(struct profile *profile, struct error *error)
{
	struct profile_place root = { .profile = profile, .error = error };
	json_error_t problem;
	json_t *value =
		json_loads(profile->text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &problem);

	if (!value)
		return profile_fail_syntax(profile, &problem, error);
	if (!json_is_object(value)) {
		profile_fail(&root, LOCATE_VALUE, "a profile must be an object, not %s",
			     type_name(value));
		error_hint(error, "the smallest profile is {}");
	} else if (check_members(&root, profile_table, profile_table_count, value) &&
		   check_name(&root, value) && check_passed_variables(&root, value)) {
		profile->object = value;
		return true;
	}
	json_decref(value);
	return false;
}
