// SPDX-License-Identifier: MIT
// Which changed files programs of the host execute, in which order, and the report as text and
// JSON.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "plan/report/change.h"
#include "plan/report/discarded.h"
#include "plan/report/executed.h"
#include "plan/report/report.h"
#include "render/report.h"

#include <string.h>

static struct arena arena;

enum { FILE_MODE = 0100644, PROGRAM_MODE = 0100755, LINK_MODE = 0120000 };

static struct file_change change_of(const char *path, uint32_t before, uint32_t after)
{
	return (struct file_change){ .path = path,
				     .before = { before, before ? "1" : "" },
				     .after = { after, after ? "2" : "" } };
}

// Returns the rank of a changed file, RUN_RANK_COUNT: it is harmless.
static enum run_rank rank_of(const struct file_change *change, const char *before,
			     const char *after)
{
	struct change_content content = { before, after };
	struct executed executed;

	return executed_judge(&arena, change, &content, &executed) ? executed.rank : RUN_RANK_COUNT;
}

static void test_names(void)
{
	static const struct {
		const char *path;
		enum run_rank rank;
	} rows[] = {
		{ ".envrc", RUN_WITH_QUESTION },
		{ "sub/.envrc", RUN_WITH_QUESTION },
		{ ".husky/pre-commit", RUN_WITHOUT_ASKING },
		{ ".gitattributes", RUN_WITHOUT_ASKING },
		{ ".claude/settings.json", RUN_WITHOUT_ASKING },
		{ ".vscode/tasks.json", RUN_WITH_QUESTION },
		{ ".claude/commands/x.md", RUN_TRUSTED },
		{ ".claude/x/y.md", RUN_TRUSTED },
		{ "Makefile", RUN_BY_BUILD },
		{ "a/b/rules.mk", RUN_BY_BUILD },
		{ "CMakeLists.txt", RUN_BY_BUILD },
		{ "cmake/find.cmake", RUN_BY_BUILD },
		{ "build.rs", RUN_BY_BUILD },
		{ "Cargo.toml", RUN_BY_BUILD },
		{ "setup.py", RUN_BY_BUILD },
		{ "tests/conftest.py", RUN_BY_BUILD },
		{ "pyproject.toml", RUN_BY_BUILD },
		{ "lib/evil.pth", RUN_BY_BUILD },
		{ "Dockerfile", RUN_BY_BUILD },
		{ "Dockerfile.dev", RUN_BY_BUILD },
		{ "docker/web.dockerfile", RUN_BY_BUILD },
		{ "app/build.gradle.kts", RUN_BY_BUILD },
		{ "vite.config.ts", RUN_BY_BUILD },
		{ "Rakefile", RUN_BY_BUILD },
		{ "flake.nix", RUN_BY_BUILD },
		{ ".github/workflows/ci.yml", RUN_ELSEWHERE },
		{ ".gitlab-ci.yml", RUN_ELSEWHERE },
		{ ".circleci/config.yml", RUN_ELSEWHERE },
		{ "CLAUDE.md", RUN_TRUSTED },
		{ "docs/AGENTS.md", RUN_TRUSTED },
		// harmless ones, some of which look like those above
		{ "src/main.c", RUN_RANK_COUNT },
		{ "README.md", RUN_RANK_COUNT },
		{ "Makefile.md", RUN_RANK_COUNT },
		{ "docs/makefiles.txt", RUN_RANK_COUNT },
		{ "src/build.rs.orig", RUN_RANK_COUNT },
		{ "conftest.pyc", RUN_RANK_COUNT },
		{ "github/workflows/ci.yml", RUN_RANK_COUNT },
		{ ".github/ISSUE_TEMPLATE.md", RUN_RANK_COUNT },
		{ "package-lock.json", RUN_RANK_COUNT },
		{ "node_modules/x/.envrc", RUN_RANK_COUNT },
		{ "config.js", RUN_RANK_COUNT },
		{ "pth", RUN_RANK_COUNT },
		{ ".gitignore", RUN_RANK_COUNT },
		{ "CLAUDE.md.bak", RUN_RANK_COUNT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct file_change changed = change_of(rows[i].path, FILE_MODE, FILE_MODE);
		struct file_change created = change_of(rows[i].path, 0, FILE_MODE);
		struct file_change deleted = change_of(rows[i].path, FILE_MODE, 0);

		CHECK_CASE(rank_of(&changed, NULL, NULL) == rows[i].rank, rows[i].path);
		CHECK_CASE(rank_of(&created, NULL, NULL) == rows[i].rank, rows[i].path);
		CHECK_CASE(rank_of(&deleted, NULL, NULL) == RUN_RANK_COUNT, rows[i].path);
	}
}

static void test_programs(void)
{
	struct file_change created = change_of("tool", 0, PROGRAM_MODE);
	struct file_change became = change_of("tool", FILE_MODE, PROGRAM_MODE);
	struct file_change edited = change_of("tool", PROGRAM_MODE, PROGRAM_MODE);
	struct file_change ceased = change_of("tool", PROGRAM_MODE, FILE_MODE);

	struct file_change link = change_of("Makefile", 0, LINK_MODE);

	CHECK(rank_of(&link, NULL, "notes.txt") == RUN_BY_BUILD);
	CHECK(rank_of(&created, NULL, NULL) == RUN_BY_BUILD);
	CHECK(rank_of(&became, NULL, NULL) == RUN_BY_BUILD);
	CHECK(rank_of(&edited, NULL, NULL) == RUN_RANK_COUNT);
	CHECK(rank_of(&ceased, NULL, NULL) == RUN_RANK_COUNT);
}

static void test_links(void)
{
	static const struct {
		const char *path;
		const char *target;
		bool out;
	} rows[] = {
		{ "a", "/etc/passwd", true }, { "a", "..", true },
		{ "a", "../x", true },        { "a/b", "../x", false },
		{ "a/b", "../../x", true },   { "a/b", "../../p/x", false },
		{ "a", "b/../../x", true },   { "a", "b/../x", false },
		{ "a", "b", false },          { "a/b/c", "../../..", true },
		{ "a/b/c", "../..", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct file_change change = change_of(rows[i].path, 0, LINK_MODE);

		CHECK(executed_needs_content(&change));
		CHECK_CASE((rank_of(&change, NULL, rows[i].target) == RUN_WITHOUT_ASKING) ==
				   rows[i].out,
			   rows[i].target);
	}
}

static void test_packages(void)
{
	static const struct {
		const char *before;
		const char *after;
		bool runs;
	} rows[] = {
		{ "{\"version\":\"1\"}", "{\"version\":\"2\"}", false },
		{ "{\"scripts\":{\"a\":\"x\"}}", "{\"scripts\":{\"a\":\"x\"}, \"name\":\"y\"}",
		  false },
		{ "{\"scripts\":{\"a\":\"x\"}}", "{\"scripts\":{\"a\":\"y\"}}", true },
		{ "{}", "{\"scripts\":{\"postinstall\":\"x\"}}", true },
		{ "{\"scripts\":{\"a\":\"x\"}}", "{}", false },
		{ "{}", "{\"dependencies\":{\"a\":\"1\"}}", true },
		{ NULL, "{\"scripts\":{\"a\":\"x\"}}", true },
		{ NULL, "{\"name\":\"x\"}", false },
		{ "{}", NULL, true }, // too large to be read
		{ "{}", "not JSON", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct file_change change =
			change_of("web/package.json", rows[i].before ? FILE_MODE : 0, FILE_MODE);

		CHECK(executed_needs_content(&change));
		CHECK_CASE((rank_of(&change, rows[i].before, rows[i].after) == RUN_BY_BUILD) ==
				   rows[i].runs,
			   rows[i].after ? rows[i].after : "none");
	}
}

static void test_order(void)
{
	executed_files files = { 0 };

	vec_push(&arena, &files, (struct executed){ "z", RUN_TRUSTED, "" });
	vec_push(&arena, &files, (struct executed){ "b", RUN_BY_BUILD, "" });
	vec_push(&arena, &files, (struct executed){ "y", RUN_WITHOUT_ASKING, "" });
	vec_push(&arena, &files, (struct executed){ "a", RUN_BY_BUILD, "" });
	executed_sort(&files);
	CHECK(strcmp(files.items[0].path, "y") == 0 && strcmp(files.items[1].path, "a") == 0 &&
	      strcmp(files.items[2].path, "b") == 0 && strcmp(files.items[3].path, "z") == 0);
}

static struct report make_report(void)
{
	struct report report = { .started_ms = 1795000000000,
				 .ended_ms = 1795000060000,
				 .status = 7,
				 .saved = true,
				 .file_count = 2,
				 .added = 12,
				 .removed = 1,
				 .counted = true,
				 .commits = 2,
				 .tier = "inet",
				 .network = "refused 3 connections",
				 .refused = "{\"total\":3,\"list\":[]}",
				 .resume = "0a1b",
				 .executed_count = 9 };
	struct file_change made = change_of("new\033[2Jname", 0, FILE_MODE);
	struct file_change binary = change_of("logo.png", FILE_MODE, FILE_MODE);

	report.discarded.count = 3;
	report.discarded.size = 4096;
	report.discarded.incomplete = true;
	vec_push(&arena, &report.discarded.files, (struct discarded_file){ "/tmp/a\033[2Jb", 9 });
	vec_push(&arena, &report.discarded.names,
		 (struct discarded_name){ .path = "/tmp/a\033[2Jb", .count = 1 });
	report.left_out = 9;
	vec_push(&arena, &report.left_out_paths, "vendor/library/");
	vec_push(&arena, &report.left_out_paths, "disk.img");
	made.counted = true;
	made.added = 12;
	binary.counted = binary.binary = true;
	vec_push(&arena, &report.files, binary);
	vec_push(&arena, &report.files, made);
	vec_push(&arena, &report.moved, (struct report_moved){ "/p/.envrc", NULL });
	vec_push(&arena, &report.executed,
		 (struct executed){ "out", RUN_WITHOUT_ASKING, "a link that leads out" });
	for (int i = 0; i < 8; i++)
		vec_push(&arena, &report.executed,
			 (struct executed){ arena_printf(&arena, "dir%d/Makefile", i), RUN_BY_BUILD,
					    "make runs its commands" });
	vec_push(&arena, &report.refs,
		 (struct report_ref){ "refs/heads/fix", .created = true, .after = "0123456789" });
	vec_push(&arena, &report.refs,
		 (struct report_ref){ "refs/tags/v1", .deleted = true, .before = "123456789a" });
	vec_push(&arena, &report.refs,
		 (struct report_ref){ "refs/heads/main", .before = "23456789ab",
				      .after = "3456789abc", .counted = true, .lost = 2 });
	return report;
}

static void add_repository_changes(struct report *report)
{
	vec_push(&arena, &report->operations,
		 (struct report_operation){ "merge", OPERATION_ENDED });
	vec_push(&arena, &report->operations, (struct report_operation){ "am", OPERATION_STARTED });
	vec_push(&arena, &report->other.nested,
		 (struct report_repository){ "lib\033", REPOSITORY_REMOVED });
	vec_push(&arena, &report->other.nested,
		 (struct report_repository){ "vendor/x", REPOSITORY_CHANGED });
	vec_push(&arena, &report->other.stashes, "456789abcd");
	vec_push(&arena, &report->settings, "user.email");
	report->other.created = true;
	report->index_changed = true;
}

static void test_references(void)
{
	struct report report = make_report();
	struct report lost = { .repository_lost = true, .saved = true };
	const char *line;

	add_repository_changes(&report);
	line = render_report_line(&arena, &report);
	CHECK(strstr(line, "new branch fix, deleted tag v1 (was 1234567), "
			   "branch main lost 2 commits (was 2345678)") != NULL);
	CHECK(strstr(line,
		     "(was 2345678); a git repository was created; a merge was ended; an am "
		     "is in progress; the repository lib\\x1b was removed; branches or HEAD of "
		     "the repository vendor/x changed; 1 stash was dropped: 456789a (`git stash "
		     "store 456789a`); settings of git changed: user.email") != NULL);
	CHECK(strstr(render_report_line(&arena, &lost), "removed or damaged") != NULL);
	CHECK(strstr(render_report(&arena, &lost, (struct reader){ 0 }), "undo=commits") == NULL);
}

// One change of a repository alone is reported on a terminal too. What no undo takes back has no
// advice.
static void test_repositories(void)
{
	struct report merge = { .saved = true }, nested = { .saved = true };
	struct report off = { .tier = "full" };
	struct reader reader = { .terminal = true, .columns = 80, .rows = 24 };

	vec_push(&arena, &merge.operations,
		 (struct report_operation){ "merge", OPERATION_STARTED });
	vec_push(&arena, &nested.other.nested,
		 (struct report_repository){ "lib", REPOSITORY_CREATED });
	CHECK(strstr(render_report_end(&arena, &merge, reader),
		     "Session: a merge is in progress\n") != NULL);
	CHECK(strstr(render_report_end(&arena, &merge, reader), "--undo=commits") != NULL);
	CHECK_STRING(render_report_end(&arena, &nested, reader),
		     "Session: the repository lib was created\n");
	CHECK(strstr(render_report(&arena, &off, reader), "no file was changed") == NULL);
	merge.snapshots_removed = true;
	CHECK(strstr(render_report(&arena, &merge, reader), "--undo") == NULL);
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void test_texts(void)
{
	struct report report = make_report();
	struct report nothing = { .tier = "full", .saved = true };
	struct reader reader = { .terminal = true, .columns = 80, .rows = 24 };
	const char *end = render_report_end(&arena, &report, reader);
	const char *all = render_report(&arena, &report, reader);
	const char *line = render_report_line(&arena, &report);

	CHECK(render_report_end(&arena, &nothing, reader) == NULL);
	CHECK(render_report_line(&arena, &nothing) == NULL);
	CHECK(strstr(render_report(&arena, &nothing, reader), "changed nothing") != NULL);
	CHECK(count_lines(end) <= 18);
	CHECK(strstr(end, "Other changes:\n new\\x1b[2Jname |    12 ++++") != NULL);
	CHECK(strstr(end, "\n logo.png") != NULL && strstr(end, "| binary\n") != NULL);
	CHECK(strstr(end, "2 files changed, 12 insertions, 1 deletion; 2 commits; new branch") !=
	      NULL);
	CHECK(strstr(end, "and 3 more: `claudebox --report`") != NULL ||
	      strstr(end, "and 3 more: claudebox --report") != NULL);
	CHECK(strstr(all, "dir7/Makefile") != NULL && strstr(all, "/p/.envrc") != NULL &&
	      strstr(all, "refused 3 connections") != NULL && strstr(all, "0a1b") != NULL);
	CHECK(strstr(all, "\033[2J") == NULL && strstr(all, "new\\x1b[2Jname") != NULL);
	CHECK(strchr(line, '\n') == NULL && strstr(line, "9 files that your programs may") != NULL);
	reader.columns = 200;
	CHECK(strstr(render_report_end(&arena, &report, reader),
		     "9 paths could not be saved, so changes of them are not known: "
		     "vendor/library/, disk.img and 7 more\n") != NULL);
}

// Files that ended with the box are named, also if nothing else happened.
static void test_discarded(void)
{
	struct report report = { .tier = "full", .saved = true };
	struct reader reader = { .terminal = true, .columns = 80, .rows = 24 };
	static const char expected[] =
		"deleted with the box: /tmp/a\\x1b[2Jb and 2 more (at least 3 "
		"files, 4.0 kB)";

	report.discarded = make_report().discarded;
	CHECK_STRING(render_report_line(&arena, &report), expected);
	CHECK(strncmp(render_report_end(&arena, &report, reader), expected, 40) == 0);
	CHECK(strstr(render_report(&arena, &report, reader), "changed nothing") == NULL);
	for (size_t i = 0; i < discarded_count; i++)
		CHECK(discarded_table[i].why != NULL && discarded_table[i].name[0] != '*');
	CHECK(discarded_is_cache("claude-1000", 0) && !discarded_is_cache("claude-1000", 1));
	CHECK(discarded_is_cache("node_modules", 5) && !discarded_is_cache("node_modules2", 5));
	CHECK(!discarded_is_cache("claude", 0) && !discarded_is_cache("", 0));
}

// The end of a session shows ordinary files, the largest changes first, on one screen.
static void test_ordinary_files(void)
{
	struct report report = { .saved = true, .counted = true, .file_count = 700, .added = 9 };
	struct reader reader = { .terminal = true, .columns = 80, .rows = 24 };
	const char *end;

	for (int i = 0; i < 500; i++) {
		struct file_change change =
			change_of(arena_printf(&arena, "file%03d", i), FILE_MODE, FILE_MODE);

		change.counted = true;
		change.added = (size_t)i;
		vec_push(&arena, &report.files, change);
	}
	end = render_report_end(&arena, &report, reader);
	CHECK(count_lines(end) <= 22);
	CHECK(strstr(end, " file499 |   499 ") < strstr(end, " file498 |   498 "));
	CHECK(strstr(end, "Other changes") == NULL && strstr(end, "file000") == NULL);
	CHECK(strstr(end, " and 682 more: `claudebox --diff=stat`") != NULL ||
	      strstr(end, " and 682 more: claudebox --diff=stat") != NULL);
	reader.rows = 10;
	CHECK(count_lines(render_report_end(&arena, &report, reader)) < 10);
	reader.rows = 3;
	CHECK(strstr(render_report_end(&arena, &report, reader), "file499") == NULL);
}

// What is parsed and rendered again is the same.
static void test_json(void)
{
	struct report report = make_report();
	struct report parsed;
	const char *json;

	add_repository_changes(&report);
	json = render_report_json(&arena, &report);
	CHECK(report_parse(&arena, json, &parsed));
	CHECK(strcmp(render_report_json(&arena, &parsed), json) == 0);
	CHECK(!report_parse(&arena, "{}", &parsed));
	CHECK(!report_parse(&arena, "[", &parsed));
	CHECK(!report_parse(&arena, "{\"version\":2}", &parsed));
}

int main(void)
{
	test_names();
	test_programs();
	test_links();
	test_packages();
	test_order();
	test_references();
	test_repositories();
	test_texts();
	test_discarded();
	test_ordinary_files();
	test_json();
	arena_free(&arena);
	return check_done();
}
