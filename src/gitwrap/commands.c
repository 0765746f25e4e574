// SPDX-License-Identifier: MIT
// The arguments of git: which of them is the command.
#include "gitwrap/commands.h"

#include "freestanding/text.h"

#include <stddef.h>

// The commands of git 2.39 that people and tools use, and git-lfs, except those that the script
// checks. An alias cannot replace them. A command that is missing here costs some milliseconds: the
// script looks for an alias.
static const char *const plain_commands[] = {
	"add",
	"am",
	"annotate",
	"apply",
	"archive",
	"bisect",
	"blame",
	"branch",
	"bundle",
	"cat-file",
	"check-attr",
	"check-ignore",
	"check-mailmap",
	"check-ref-format",
	"checkout",
	"checkout-index",
	"cherry",
	"cherry-pick",
	"clean",
	"clone",
	"column",
	"commit",
	"commit-graph",
	"commit-tree",
	"config",
	"count-objects",
	"credential",
	"credential-cache",
	"credential-store",
	"describe",
	"diff",
	"diff-files",
	"diff-index",
	"diff-tree",
	"difftool",
	"fast-export",
	"fast-import",
	"fetch",
	"fetch-pack",
	"filter-branch",
	"fmt-merge-msg",
	"for-each-ref",
	"for-each-repo",
	"format-patch",
	"fsck",
	"gc",
	"grep",
	"hash-object",
	"help",
	"index-pack",
	"init",
	"interpret-trailers",
	"lfs",
	"log",
	"ls-files",
	"ls-remote",
	"ls-tree",
	"mailinfo",
	"mailsplit",
	"maintenance",
	"merge",
	"merge-base",
	"merge-file",
	"merge-index",
	"merge-octopus",
	"merge-one-file",
	"merge-ours",
	"merge-recursive",
	"merge-resolve",
	"merge-subtree",
	"merge-tree",
	"mergetool",
	"mktag",
	"mktree",
	"multi-pack-index",
	"mv",
	"name-rev",
	"notes",
	"pack-objects",
	"pack-refs",
	"patch-id",
	"prune",
	"prune-packed",
	"pull",
	"push",
	"range-diff",
	"read-tree",
	"rebase",
	"receive-pack",
	"reflog",
	"remote",
	"remote-ext",
	"remote-fd",
	"remote-http",
	"remote-https",
	"repack",
	"replace",
	"request-pull",
	"rerere",
	"reset",
	"restore",
	"rev-list",
	"rev-parse",
	"revert",
	"rm",
	"send-pack",
	"shortlog",
	"show",
	"show-branch",
	"show-index",
	"show-ref",
	"sparse-checkout",
	"stage",
	"status",
	"stripspace",
	"submodule",
	"switch",
	"symbolic-ref",
	"tag",
	"unpack-file",
	"unpack-objects",
	"update-index",
	"update-ref",
	"update-server-info",
	"upload-archive",
	"upload-pack",
	"var",
	"verify-commit",
	"verify-pack",
	"verify-tag",
	"version",
	"write-tree",
};

// Options whose value may be the next argument.
static const char *const options_with_value[] = {
	"-C",          "-c",          "--attr-source",  "--config-env",
	"--git-dir",   "--namespace", "--shallow-file", "--super-prefix",
	"--work-tree",
};

static bool has_text(const char *const *list, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(list[i], text))
			return true;
	return false;
}

const char *find_command(char *const *arguments)
{
	static const size_t count = sizeof(options_with_value) / sizeof(*options_with_value);

	for (; *arguments && **arguments == '-'; arguments++)
		if (has_text(options_with_value, count, *arguments) && !*++arguments)
			return NULL;
	return *arguments;
}

bool is_plain_command(const char *command)
{
	return has_text(plain_commands, sizeof(plain_commands) / sizeof(*plain_commands), command);
}
