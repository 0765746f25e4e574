// SPDX-License-Identifier: MIT
// Tests of programs whose paths are set at build time: PATH is not searched. In this build, bwrap
// is /bin/sh and git is a path that does not exist.
#include "base/arena.h"
#include "check.h"
#include "plan/facts.h"
#include "probe/programs.h"

#include <unistd.h>

static struct arena arena;

static const char *find(const char *path, const char *name, strings *untrusted)
{
	struct facts facts = { .uid = getuid(), .gid = getgid(), .project = "/nowhere" };

	facts.state.root = "/nowhere/state";
	if (path)
		vec_push(&arena, &facts.environment, arena_printf(&arena, "PATH=%s", path));
	return probe_program(&arena, &facts, name, untrusted);
}

int main(void)
{
	static const char *const paths[] = { NULL, "", "/usr/bin", "/nowhere", "." };
	strings untrusted = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		CHECK_STRING(find(paths[i], "bwrap", &untrusted), "/bin/sh");
		CHECK_CASE(!find(paths[i], "git", &untrusted), "a path that does not exist");
	}
	CHECK(untrusted.count == 0);
	CHECK_STRING(find("/nowhere:/bin", "sh", NULL),
		     "/bin/sh"); // a Nix build has no other program
	CHECK(!find("/nowhere", "no-such-program", NULL));
	arena_free(&arena);
	return check_done();
}
