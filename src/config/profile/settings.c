// SPDX-License-Identifier: MIT
// Settings: the scalar keys of the profile schema, stored in and listed from a configuration.
#include "config/profile/settings.h"

#include "base/arena.h"
#include "base/text.h"
#include "config/config.h"
#include "config/profile/check.h"
#include "config/profile/lists.h"
#include "config/profile/schema.h"

#include <string.h>

static unsigned int default_choices(const struct profile_row *row)
{
	return row->all_choices ? (1U << row->choice_count) - 1 : row->default_choices;
}

// Returns a list of choices, or a word for all or none, as the bits that differ from the default.
static unsigned int choices_of(const struct profile_row *row, const json_t *list)
{
	unsigned int set = 0;
	size_t i;
	json_t *value;

	if (row->all_choices && str_equal(json_string_value(list), row->all_choices))
		set = default_choices(row);
	json_array_foreach((json_t *)list, i, value)
		set |= 1U << profile_choice(row, value);
	return set ^ default_choices(row);
}

static const char *render_choices(struct arena *arena, const struct profile_row *row,
				  unsigned int set)
{
	struct text out = { .arena = arena };

	for (size_t i = 0; i < row->choice_count; i++)
		if (set >> i & 1)
			text_printf(&out, "%s%s", out.length ? "," : "", row->choices[i]);
	return out.length ? text_get(&out) : "none";
}

static const struct origin *origin_of(const struct config *config, const struct profile_row *row)
{
	return (const struct origin *)((const char *)config + row->origin);
}

void profile_setting_apply(struct profile_merge *merge, const struct profile_place *place,
			   const struct profile_row *row, const json_t *value)
{
	char *config = (char *)merge->config;
	void *field = config + row->value;
	unsigned int choice;

	if (row->origin) {
		if (origin_of(&merge->options, row)->kind == ORIGIN_REQUESTED)
			return;
		*(struct origin *)(config + row->origin) = profile_origin(merge, place);
	}
	switch (row->kind) {
	case PROFILE_STRING:
		*(const char **)field = arena_strdup(merge->arena, json_string_value(value));
		break;
	case PROFILE_CHOICE:
		choice = (unsigned int)profile_choice(row, value);
		memcpy(field, &choice, sizeof(choice)); // an enumeration
		break;
	case PROFILE_CHOICES:
		*(unsigned int *)field = choices_of(row, value);
		break;
	case PROFILE_BOOLEAN:
		*(bool *)field = json_is_true(value);
		break;
	case PROFILE_NUMBER:
		*(unsigned long long *)field = (unsigned long long)json_integer_value(value);
		break;
	default:
		break;
	}
}

// Returns the value as text; NULL: it is the default.
static const char *render(struct arena *arena, const struct profile_row *row, const void *field)
{
	unsigned long long number;
	unsigned int choice;

	switch (row->kind) {
	case PROFILE_STRING:
		return *(const char *const *)field;
	case PROFILE_CHOICE:
		memcpy(&choice, field, sizeof(choice));
		return choice ? row->choices[choice] : NULL;
	case PROFILE_CHOICES:
		choice = *(const unsigned int *)field;
		return choice ? render_choices(arena, row, choice ^ default_choices(row)) : NULL;
	case PROFILE_BOOLEAN:
		return *(const bool *)field ? "true" : NULL;
	case PROFILE_NUMBER:
		number = *(const unsigned long long *)field;
		return number ? arena_printf(arena, "%llu", number) : NULL;
	default:
		return NULL;
	}
}

profile_settings profile_settings_list(struct arena *arena, const struct config *config,
				       enum setting_output output)
{
	profile_settings list = { 0 };

	for (size_t i = 0; i < profile_table_count; i++) {
		const struct profile_row *row = &profile_table[i];
		struct profile_setting setting = { .row = row,
						   .value = (const char *)config + row->value,
						   .origin = origin_of(config, row) };

		if (!row->origin || row->shown_by_code & output)
			continue;
		setting.text = render(arena, row, setting.value);
		if (setting.text)
			vec_push(arena, &list, setting);
	}
	return list;
}

json_t *profile_setting_json(const struct profile_setting *setting)
{
	const unsigned long long *number = setting->value;
	const struct profile_row *row = setting->row;
	json_t *list;

	switch (setting->row->kind) {
	case PROFILE_BOOLEAN:
		return json_true();
	case PROFILE_NUMBER:
		return json_integer((json_int_t)*number);
	case PROFILE_CHOICES:
		list = json_array();
		for (size_t i = 0; i < row->choice_count; i++)
			if ((*(const unsigned int *)setting->value ^ default_choices(row)) >> i & 1)
				json_array_append_new(list, json_string(row->choices[i]));
		return list;
	default:
		return json_string(setting->text);
	}
}
