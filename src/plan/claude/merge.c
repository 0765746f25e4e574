// SPDX-License-Identifier: MIT
// Merges members of the host's JSON files with the box's own.
#include "plan/claude/merge.h"

#include "base/json.h"

// Returns the box's members, and those that only the host has. A member that is in the base too was
// removed by the box.
static json_t *add_members(const json_t *base, const json_t *host, const json_t *box)
{
	json_t *result = json_object();
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)box, key, value)
		json_object_set(result, key, value);
	json_object_foreach((json_t *)host, key, value)
		if (!json_object_get(result, key) && !(box && json_object_get(base, key)))
			json_object_set(result, key, value);
	return result;
}

static json_t *follow_host(const json_t *base, const json_t *host, const json_t *box)
{
	json_t *result = json_object();
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)host, key, value) {
		json_t *own = json_object_get(box, key);
		json_t *before = json_object_get(base, key);
		// The box has removed or changed the host's value since the last start.
		bool changed = box && before && (!own || !json_equal(own, before));
		bool added = box && !before && own;

		if (changed || added)
			value = own;
		if (value)
			json_object_set(result, key, value);
	}
	json_object_foreach((json_t *)box, key, value) {
		json_t *before = json_object_get(base, key);

		if (!json_object_get(host, key) && !(before && json_equal(before, value)))
			json_object_set(result, key, value);
	}
	return result;
}

json_t *merge_members(enum merge_mode mode, const json_t *base, const json_t *host,
		      const json_t *box)
{
	return mode == MERGE_ADDED ? add_members(base, host, box) : follow_host(base, host, box);
}

json_t *merge_base(enum merge_mode mode, const json_t *base, const json_t *host)
{
	return add_members(NULL, host, mode == MERGE_ADDED ? base : NULL);
}
