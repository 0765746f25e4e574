// SPDX-License-Identifier: MIT
// Programs whose paths the build was given: PATH has no say. Built with -Dbwrap=/bin/sh, so to speak, and a git that is not there.
#include "base/arena.h"
#include "check.h"
#include "plan/facts.h"
#include "probe/programs.h"

#include <unistd.h>

static struct arena arena;

static const char *find(const char *path, const char *name, strings *passed_over)
{
	struct facts facts = { .uid = getuid(), .gid = getgid(), .project = "/nowhere" };

	facts.state.root = "/nowhere/state";
	if (path)
		vec_push(&arena, &facts.environment, arena_printf(&arena, "PATH=%s", path));
	return probe_program(&arena, &facts, name, passed_over);
}

int main(void)
{
	static const char *const paths[] = { NULL, "", "/usr/bin", "/nowhere", "." };
	strings passed_over = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		CHECK_STRING(find(paths[i], "bwrap", &passed_over), "/bin/sh");
		CHECK_CASE(!find(paths[i], "git", &passed_over), "a path that leads nowhere");
	}
	CHECK(passed_over.count == 0);
	CHECK_STRING(find("/nowhere:/bin", "sh", NULL), "/bin/sh"); // Nix builds have no other
	CHECK(!find("/nowhere", "no-such-program", NULL));
	arena_free(&arena);
	return check_done();
}
