// SPDX-License-Identifier: MIT
// Looks up facts.
#include "plan/facts.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/tables.h"

const struct followed *facts_file(const struct facts *facts, const char *path)
{
	unsigned int key = path ? path_key(path) : 0;

	// Some 250 lookups at each start compare with up to 70 paths.
	vec_each(file, &facts->files) {
		if (file->key && file->key != key)
			continue;
		if (str_equal(file->path, path))
			return file->kind == FILE_MISSING ? NULL : file;
	}
	return NULL;
}

bool facts_store_has(const struct facts *facts, const char *path)
{
	bool found = path_within(path, NIX_STORE);

	vec_each(link, &facts->store.links)
		found |= str_equal(link->link, path);
	return found;
}

const char *facts_variable(const struct facts *facts, const char *name)
{
	vec_each(entry, &facts->environment) {
		const char *rest = **entry == *name ? str_after(*entry, name) : NULL;

		if (rest && *rest == '=')
			return rest + 1;
	}
	return NULL;
}
