// SPDX-License-Identifier: MIT
// Look-ups in the facts.
#include "plan/host.h"

#include "base/text.h"

const struct followed *host_file(const struct host *host, const char *path)
{
	vec_each(file, &host->files) {
		if (str_equal(file->path, path))
			return file->kind == FILE_MISSING ? NULL : file;
	}
	return NULL;
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
