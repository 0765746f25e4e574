// SPDX-License-Identifier: MIT
#include "plan/report/discarded.h"

#include "base/text.h"

#include <string.h>

const struct discarded_row discarded_table[] = {
	{ ".cache", false, "caches" },
	{ "claude-*", true, "Claude Code: output of its tools" },
	{ "claude_*", true, "Claude Code: output of its tools" },
	{ ".claude", true, "Claude's state, which is kept elsewhere" },
	{ ".npm", true, "npm: downloads" },
	{ ".cargo", true, "cargo: downloads and installed programs" },
	{ ".rustup", true, "rustup: toolchains" },
	{ ".gradle", true, "gradle: downloads" },
	{ ".m2", true, "Maven: downloads" },
	{ ".local", true, "installed programs, and the state of programs" },
	{ ".config", true, "settings that programs write at their first start" },
	{ ".bun", true, "bun: downloads" },
	{ ".pnpm-store", true, "pnpm: downloads" },
	{ ".yarn", true, "yarn: downloads" },
	{ ".nuget", true, ".NET: downloads" },
	{ ".dotnet", true, ".NET: state of its first start" },
	{ ".java", true, "Java: preferences" },
	{ ".node_repl_history", true, "history" },
	{ ".bash_history", true, "history" },
	{ ".python_history", true, "history" },
	{ ".lesshst", true, "history" },
	{ ".viminfo", true, "history" },
	{ ".wget-hsts", true, "wget: known servers" },
	{ "go", true, "go: downloads and installed programs" },
	{ "node_modules", false, "packages" },
	{ "node-compile-cache", true, "node: compiled programs" },
	{ "v8-compile-cache*", true, "node: compiled programs" },
	{ "jiti", true, "jiti: compiled programs" },
	{ "tsx-*", true, "tsx: compiled programs" },
	{ "jest_*", true, "jest: cache" },
	{ "jest-*", true, "jest: cache" },
	{ "npm-*", true, "npm: downloads" },
	{ "yarn--*", true, "yarn: programs for scripts" },
	{ "pip-*", true, "pip: builds" },
	{ "__pycache__", false, "Python: compiled programs" },
	{ "pytest-of-*", true, "pytest: directories of tests" },
	{ "go-build*", true, "go: builds" },
	{ "go-link-*", true, "go: builds" },
	{ "rustc*", true, "rustc: builds" },
	{ "hsperfdata_*", true, "Java: counters of running programs" },
	{ "playwright*", true, "Playwright: profiles of browsers" },
	{ "puppeteer*", true, "Puppeteer: profiles of browsers" },
	{ ".org.chromium.*", true, "Chromium: profiles" },
	{ "org.chromium.*", true, "Chromium: profiles" },
	{ "rust_mozprofile*", true, "Firefox: profiles" },
	{ "tmux-*", true, "tmux: sockets" },
	{ "ssh-*", true, "ssh: sockets" },
	{ "psm_*", true, "Python: shared memory" },
	{ "sem.*", true, "semaphores" },
	{ "pulse-shm-*", true, "PulseAudio: shared memory" },
	{ ".X*", true, "X11: sockets and locks" },
};
const size_t discarded_count = ARRAY_SIZE(discarded_table);

bool discarded_is_cache(const char *name, size_t depth)
{
	for (size_t i = 0; i < discarded_count; i++) {
		const struct discarded_row *row = &discarded_table[i];
		size_t length = strlen(row->name);

		if (row->at_top && depth)
			continue;
		if (row->name[length - 1] == '*' ? strncmp(name, row->name, length - 1) == 0
						 : str_equal(name, row->name))
			return true;
	}
	return false;
}
