// SPDX-License-Identifier: MIT
// Look-ups in the facts.
#include "plan/host.h"

#include "base/path.h"
#include "base/text.h"
#include "plan/tables.h"

const struct followed *host_file(const struct host *host, const char *path)
{
	vec_each(file, &host->files) {
		if (str_equal(file->path, path))
			return file->kind == FILE_MISSING ? NULL : file;
	}
	return NULL;
}

bool host_store_has(const struct host *host, const char *path)
{
	bool found = path_within(path, NIX_STORE);

	vec_each(link, &host->store.links)
		found |= str_equal(link->link, path);
	return found;
}

const char *host_variable(const struct host *host, const char *name)
{
	vec_each(entry, &host->environment) {
		const char *rest = str_after(*entry, name);

		if (rest && *rest == '=')
			return rest + 1;
	}
	return NULL;
}
