// SPDX-License-Identifier: MIT
// Which exceptions from the protection are accepted, and which paths they cover.
#include "base/arena.h"
#include "base/error.h"
#include "check.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/guard/unprotect.h"

static struct arena arena;

static struct facts make_facts(void)
{
	struct facts facts = { .project = "/home/u/p", .home = "/home/u" };

	vec_push(&arena, &facts.guard.targets,
		 ((struct guard_target){ .path = "/home/u/p/tools/hooks",
					 .directory = true,
					 .row = guard_find(".husky") }));
	vec_push(&arena, &facts.guard.git_directories, "/home/u/p/.git");
	vec_push(&arena, &facts.guard.git_directories, "/srv/main/.git");
	vec_push(&arena, &facts.guard.places,
		 ((struct guard_place){ .path = "/home/u/p/linked/target",
					.mount = GUARD_READ_ONLY,
					.row = guard_find(".envrc") }));
	vec_push(&arena, &facts.guard.places,
		 ((struct guard_place){ .path = "/home/u/p/linked", .mount = GUARD_PIN }));
	return facts;
}

static void test_accepted(void)
{
	static const char *const paths[] = { ".envrc",
					     "./.envrc",
					     ".vscode/",
					     ".vscode/tasks.json",
					     "~/p/.vscode",
					     "/home/u/p/.idea",
					     "sub/.envrc",
					     "a/../b/c/.npmrc",
					     ".claude",
					     "sub/.claude/hooks/x",
					     "**/.envrc",
					     "**/.claude",
					     "**/.git/hooks",
					     "**/d/.envrc",
					     ".git",
					     ".git/hooks",
					     ".git/hooks/pre-commit",
					     ".git/config",
					     ".git/modules/lib/hooks",
					     "sub/.git/config",
					     "/srv/main/.git",
					     "/srv/main/.git/info/attributes",
					     "../../../srv/main/.git/hooks",
					     "tools/hooks",
					     "tools/hooks/pre-commit",
					     "linked/target" };
	struct facts facts = make_facts();

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct config_unprotect request = { .path = paths[i],
						    .origin = origin_requested("--unprotect") };
		struct error error = { .arena = &arena };

		CHECK_CASE(unprotect_check(&facts, &request, &error), paths[i]);
	}
}

static void test_refused(void)
{
	static const char *const list = "see doc/guard.md for the protected places";
	static const struct {
		const char *path;
		const char *problem;
		const char *hint;
	} rows[] = {
		{ ".vscod", "is no protected place", "did you mean '.vscode'? See doc/guard.md" },
		{ "sub/.envr", "is no protected place",
		  "did you mean 'sub/.envrc'? See doc/guard.md" },
		{ "**/.envr", "is no protected place",
		  "did you mean '**/.envrc'? See doc/guard.md" },
		{ "**/.vscode", "is no protected place",
		  "did you mean '.vscode'? See doc/guard.md" },
		{ ".git/hook", "is no protected place",
		  "did you mean '.git/hooks'? See doc/guard.md" },
		{ ".git/HEAD", "is no protected place", list },
		{ "/srv/main/.git/HEAD", "is outside of the project", list },
		{ "Makefile", "is no protected place", list },
		{ "node_modules/x/.envrc", "is no protected place", list },
		{ "linked", "is no protected place", list },
		{ "tools", "is no protected place", list },
		{ ".", "is no protected place", list },
		{ "**", "has a '*' that is not at its start",
		  "'**/.envrc' means this name in every directory" },
		{ "sub/**/.envrc", "has a '*' that is not at its start",
		  "'**/.envrc' means this name in every directory" },
		{ "**/", "is no protected place", list },
		{ "/etc/passwd", "is outside of the project", list },
		{ "../x", "is outside of the project", list },
		{ "../p2/.envrc", "is outside of the project", list },
		{ "/", "is outside of the project", list },
	};
	struct facts facts = make_facts();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config_unprotect request = { .path = rows[i].path,
						    .origin = origin_requested("--unprotect") };
		struct error error = { .arena = &arena };

		CHECK_CASE(!unprotect_check(&facts, &request, &error), rows[i].path);
		CHECK_CASE(error.status == EXIT_USAGE, rows[i].path);
		CHECK_CASE_STRING(error.message,
				  arena_printf(&arena, "--unprotect: '%s' %s", rows[i].path,
					       rows[i].problem),
				  rows[i].path);
		CHECK_CASE_STRING(error.hint, rows[i].hint, rows[i].path);
	}
}

static void test_covered(void)
{
	static const struct {
		const char *exception;
		const char *path;
		bool covered;
	} rows[] = {
		{ ".envrc", "/home/u/p/.envrc", true },
		{ ".envrc", "/home/u/p/sub/.envrc", false },
		{ ".vscode", "/home/u/p/.vscode/tasks.json", true },
		{ ".vscode", "/home/u/p/.vscode2", false },
		{ "**/.envrc", "/home/u/p/.envrc", true },
		{ "**/.envrc", "/home/u/p/a/b/.envrc", true },
		{ "**/.envrc", "/home/u/p/a/.envrc2", false },
		{ "**/.envrc", "/home/u/p/a/x.envrc", false },
		{ "**/.envrc", "/home/u/p2/.envrc", false },
		{ "**/.husky", "/home/u/p/a/.husky/pre-commit", true },
		{ "**/.claude/hooks", "/home/u/p/a/.claude/hooks/x", true },
		{ "**/.claude/hooks", "/home/u/p/a/.claude/settings.json", false },
	};
	struct facts facts = make_facts();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		strings exceptions = { 0 };

		vec_push(&arena, &exceptions, unprotect_path(&arena, &facts, rows[i].exception));
		CHECK_CASE(unprotect_covers(&exceptions, facts.project, rows[i].path) ==
				   rows[i].covered,
			   arena_printf(&arena, "%s %s", rows[i].exception, rows[i].path));
	}
}

int main(void)
{
	test_accepted();
	test_refused();
	test_covered();
	arena_free(&arena);
	return check_done();
}
