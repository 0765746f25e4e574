// SPDX-License-Identifier: MIT
// Which applied settings of a git configuration the user is told about.
//
// Theory of operation: `git push -u`, `git remote add` and `git submodule add` write settings that
// `git branch -vv`, `git remote -v` and `git submodule` show. A line for each of them would hide
// the line about a setting such as user.email, which no command shows.
#include "plan/guard/applied.h"

#include "base/text.h"

#include <string.h>

// Settings of one branch, remote or submodule; "*": all of it.
static const struct {
	const char *section;
	const char *key;
} routine[] = {
	{ "branch", "remote" },            // where `git push -u` has sent it
	{ "branch", "merge" },             // the same
	{ "branch", "vscode-merge-base" }, // read by an editor alone
	{ "branch", "gh-merge-base" },     // read by gh alone
	{ "remote", "*" },                 // `git remote -v` shows it
	{ "submodule", "*" },              // `git submodule` shows it
};

bool git_setting_is_told(const char *name)
{
	const char *first = strchr(name, '.');
	const char *last = strrchr(name, '.');

	if (!first || first == last) // of no branch, remote or submodule
		return true;
	for (size_t i = 0; i < sizeof(routine) / sizeof(*routine); i++) {
		const char *rest = str_after(name, routine[i].section);

		if (rest == first &&
		    (str_equal(routine[i].key, "*") || str_equal(routine[i].key, last + 1)))
			return false;
	}
	return true;
}
