// SPDX-License-Identifier: MIT
// Tests of Claude's settings: the filter for the box, the merge with the box's own, the first-run
// answers.
#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "check.h"
#include "fixture.h"
#include "json_text.h"
#include "plan/claude/first_run.h"
#include "plan/claude/settings.h"
#include "plan/claude/variables.h"
#include "plan/plan.h"

#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct arena arena;

static void test_valid(void)
{
	CHECK(settings_valid("{}") && settings_valid("{\"a\": [1]}"));
	CHECK(!settings_valid(NULL) && !settings_valid("") && !settings_valid("[]"));
	CHECK(!settings_valid("{") && !settings_valid("{} x") && !settings_valid("null"));
}

struct filter_row {
	const char *settings;
	const char *wanted;
	const char *notes;
};

static void check_filter(const struct filter_row *row)
{
	struct world world;
	strings notes = { 0 };
	size_t before;

	world_debian(&world);
	world_user_claude(&world, FILE_DIRECTORY, "hooks");
	world_user_claude(&world, FILE_REGULAR, "status.sh");
	vec_push(&world.arena, &world.facts.user_claude.command_files,
		 world_followed(&world, FILE_REGULAR, "/usr/bin/python3", "/usr/bin/python3.11",
				"/usr/bin/python3", "python3.11", NO_MORE));
	vec_push(&world.arena, &world.facts.user_claude.command_files,
		 world_followed(&world, FILE_REGULAR, HOME "/bin/status", HOME "/bin/status",
				NO_MORE));
	world_plan(&world);
	before = world.plan.left_out.count;
	world.facts.user_claude.settings_json = row->settings;
	CHECK_CASE_STRING(normalise_json(&arena, settings_filter(&world.plan, &world.arena,
								 &world.facts, &notes)),
			  row->wanted, row->settings ? row->settings : "no settings");
	for (size_t i = before; i < world.plan.left_out.count; i++) {
		const struct plan_left_out *lacked = &world.plan.left_out.items[i];

		vec_push(&world.arena, &notes,
			 arena_printf(&world.arena, "%s (%s): %s", lacked->what, lacked->why,
				      lacked->option ? lacked->option : ""));
	}
	CHECK_CASE_STRING(join_lines(&arena, &notes), row->notes, "... and its notes");
	world_free(&world);
}

static void test_filter(void)
{
	static const struct filter_row rows[] = {
		{ NULL, NULL, "" },
		{ "{", NULL, SETTINGS_SHOWN ": it is not valid JSON and is ignored\n" },
		{ "[]", NULL, SETTINGS_SHOWN ": it is not valid JSON and is ignored\n" },
		{ "{\"model\":\"opus\"}", "{\"model\":\"opus\"}", "" },
		{ "{\"apiKeyHelper\":\"x\",\"awsAuthRefresh\":\"y\",\"a\":1}", "{\"a\":1}",
		  SETTINGS_SHOWN
		  ": 'apiKeyHelper' is left out (it uses secrets of the host)\n" SETTINGS_SHOWN
		  ": 'awsAuthRefresh' is left out (it uses secrets of the host)\n" },
		{ "{\"env\":{\"A\":\"1\",\"BASH_MAX_TIMEOUT_MS\":\"9\",\"LANGUAGE\":\"de\","
		  "\"MY_TOKEN\":\"x\",\"PATH\":\"/x\",\"LD_PRELOAD\":\"/x\","
		  "\"DISABLE_AUTOUPDATER\":\"0\",\"MAX_THINKING_TOKENS\":8000,"
		  "\"a=b c\":\"x\"}}",
		  "{\"env\":{\"BASH_MAX_TIMEOUT_MS\":\"9\",\"MAX_THINKING_TOKENS\":8000}}",
		  SETTINGS_SHOWN
		  ": env 'PATH', 'LD_PRELOAD', 'DISABLE_AUTOUPDATER' are left out (set by "
		  "the box)\n" SETTINGS_SHOWN
		  ": env 'MY_TOKEN' is left out (name or value like a secret's; "
		  "\"extra_env_passthrough\" in a profile passes it from your environment)\n" SETTINGS_SHOWN
		  ": env 'A', 'LANGUAGE', '...' are left out (not a known variable of "
		  "Claude; \"extra_env_passthrough\" in a profile brings it)\n" },
		// A family of switches passes switches only.
		{ "{\"env\":{\"DISABLE_TELEMETRY\":\"1\",\"DISABLE_X\":\"correct horse\"}}",
		  "{\"env\":{\"DISABLE_TELEMETRY\":\"1\"}}",
		  SETTINGS_SHOWN ": env 'DISABLE_X' is left out (not a known variable of Claude; "
				 "\"extra_env_passthrough\" in a profile brings it)\n" },
		{ "{\"env\":[1]}", "{\"env\":[1]}", "" },
		{ "{\"sandbox\":{\"enabled\":true,\"a\":1}}",
		  "{\"sandbox\":{\"a\":1,\"enabled\":false}}",
		  SETTINGS_SHOWN
		  ": Claude's own sandbox and its rules are off in the box (a profile with "
		  "\"nested\": true keeps them on)\n" },
		{ "{\"sandbox\":{\"a\":1}}", "{\"sandbox\":{\"a\":1}}", "" },
		{ "{\"statusLine\":{\"command\":\"~/.claude/status.sh\"}}",
		  "{\"statusLine\":{\"command\":\"~/.claude/status.sh\"}}", "" },
		{ "{\"statusLine\":{\"command\":\"" HOME "/bin/status\"}}", "{}",
		  "statusLine '" HOME "/bin/status' (~/bin/status is not in the box): --mount-ro "
		  "~/bin\n" },
		{ "{\"statusLine\":{\"command\":\"/usr/bin/date\"}}",
		  "{\"statusLine\":{\"command\":\"/usr/bin/date\"}}", "" },
		{ "{\"statusLine\":{\"command\":\"starship prompt\"}}", "{}",
		  "statusLine 'starship prompt' (its program starship is not in the box): \n" },
		{ "{\"statusLine\":{\"command\":\"echo $PWD >/dev/null\"}}",
		  "{\"statusLine\":{\"command\":\"echo $PWD >/dev/null\"}}", "" },
		// The box's ~/.claude has only the mounted entries of the host's.
		{ "{\"statusLine\":{\"command\":\"python3 ~/.claude/scripts/line.py\"}}", "{}",
		  "statusLine 'python3 ~/.claude/scripts/line.py' (~/.claude/scripts/line.py is not "
		  "in the box): \n" },
		{ "{\"hooks\":{\"Stop\":[{\"hooks\":["
		  "{\"type\":\"command\",\"command\":\"python3 ~/.claude/hooks/a.py\"},"
		  "{\"type\":\"command\",\"command\":\"notify-send 'it\\u001b is done'\"},"
		  "{\"type\":\"prompt\",\"prompt\":\"x\"}]}]}}",
		  "{\"hooks\":{\"Stop\":[{\"hooks\":["
		  "{\"command\":\"python3 ~/.claude/hooks/a.py\",\"type\":\"command\"},"
		  "{\"prompt\":\"x\",\"type\":\"prompt\"}]}]}}",
		  "hook 'notify-send 'it\\x1b is done'' (its program notify-send is not in the box): \n" },
		{ "{\"hooks\":[1],\"statusLine\":\"x\"}", "{\"hooks\":[1],\"statusLine\":\"x\"}",
		  "" },
		{ "{\"hooks\":{\"Stop\":{\"hooks\":1}}}", "{\"hooks\":{\"Stop\":{\"hooks\":1}}}",
		  "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_filter(&rows[i]);
}

#define SKIP "\"skipDangerousModePermissionPrompt\":true"

static void test_merge(void)
{
	static const struct {
		const char *what;
		const char *base;
		const char *host;
		const char *box;
		const char *wanted;
	} rows[] = {
		{ "no settings at all", NULL, NULL, NULL, "{" SKIP "}" },
		{ "the first start", NULL, "{\"a\":1}", NULL, "{\"a\":1," SKIP "}" },
		{ "no change", "{\"a\":1}", "{\"a\":1}", "{\"a\":1," SKIP "}", NULL },
		{ "changed on the host", "{\"a\":1}", "{\"a\":2}", "{\"a\":1," SKIP "}",
		  "{\"a\":2," SKIP "}" },
		{ "changed in the box", "{\"a\":1}", "{\"a\":1}", "{\"a\":3," SKIP "}", NULL },
		{ "changed on both sides: the box's value stays", "{\"a\":1}", "{\"a\":2}",
		  "{\"a\":3," SKIP "}", NULL },
		{ "added on the host", "{}", "{\"a\":1}", "{" SKIP "}", "{\"a\":1," SKIP "}" },
		{ "added in the box", "{}", "{}", "{\"a\":1," SKIP "}", NULL },
		{ "added on both sides: the box's value stays", "{}", "{\"a\":1}",
		  "{\"a\":2," SKIP "}", NULL },
		{ "removed on the host", "{\"a\":1}", "{}", "{\"a\":1," SKIP "}", "{" SKIP "}" },
		{ "removed on the host, changed in the box", "{\"a\":1}", "{}",
		  "{\"a\":2," SKIP "}", NULL },
		{ "removed in the box", "{\"a\":1}", "{\"a\":1}", "{" SKIP "}", NULL },
		{ "removed in the box, changed on the host", "{\"a\":1}", "{\"a\":2}", "{" SKIP "}",
		  NULL },
		{ "invalid JSON in the box", "{\"a\":1}", "{\"a\":1}", "{", "{\"a\":1," SKIP "}" },
		{ "an array in the box", NULL, "{\"a\":1}", "[]", "{\"a\":1," SKIP "}" },
		{ "the box switched the question on", NULL, NULL,
		  "{\"skipDangerousModePermissionPrompt\":false}", "{" SKIP "}" },
		{ "an invalid base", "{", "{\"a\":1}", "{\"a\":2," SKIP "}", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(normalise_json(&arena,
						 settings_merge(&arena, MERGE_ALL, rows[i].base,
								rows[i].host, rows[i].box)),
				  rows[i].wanted, rows[i].what);
}

// Beside another box, a start only adds, and the base too: the next one sees the same changes.
static void test_added_settings(void)
{
	static const struct {
		const char *what;
		const char *base, *host, *box;
		const char *wanted, *next; // NULL: unchanged
	} rows[] = {
		{ "the first start", NULL, "{\"a\":1}", NULL, "{\"a\":1," SKIP "}", "{\"a\":1}" },
		{ "no change", "{\"a\":1}", "{\"a\":1}", "{\"a\":1," SKIP "}", NULL, NULL },
		{ "changed on the host", "{\"a\":1}", "{\"a\":2}", "{\"a\":1," SKIP "}", NULL,
		  NULL },
		{ "changed in the box", "{\"a\":1}", "{\"a\":1}", "{\"a\":3," SKIP "}", NULL,
		  NULL },
		{ "added on the host", "{}", "{\"a\":1}", "{" SKIP "}", "{\"a\":1," SKIP "}",
		  "{\"a\":1}" },
		{ "added on both sides", "{}", "{\"a\":1}", "{\"a\":2," SKIP "}", NULL,
		  "{\"a\":1}" },
		{ "removed on the host", "{\"a\":1}", "{\"b\":2}", "{\"a\":1," SKIP "}",
		  "{\"a\":1,\"b\":2," SKIP "}", "{\"a\":1,\"b\":2}" },
		{ "removed in the box", "{\"a\":1}", "{\"a\":1}", "{" SKIP "}", NULL, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_CASE_STRING(normalise_json(&arena,
						 settings_merge(&arena, MERGE_ADDED, rows[i].base,
								rows[i].host, rows[i].box)),
				  rows[i].wanted, rows[i].what);
		CHECK_CASE_STRING(normalise_json(&arena,
						 settings_next_base(&arena, MERGE_ADDED,
								    rows[i].base, rows[i].host)),
				  rows[i].next, rows[i].what);
	}
}

static const struct plan_file *planned_file(const struct plan *plan, const char *name)
{
	static const struct plan_file none;

	vec_each(file, &plan->state.files) {
		if (str_equal(file->name, name))
			return file;
	}
	return &none;
}

// Plans one start. The files that it writes are the input of the next call.
static void start(struct world *world, const char **base, const char **box,
		  const char *host_settings)
{
	const struct plan_merged *written;

	world_debian(world);
	world->facts.user_claude.settings_json = host_settings;
	world->facts.state.settings_base = *base;
	world->facts.state.settings_json = *box;
	world_plan(world);
	written = &planned_file(&world->plan, "settings.json")->alone;
	if (written->content)
		*box = arena_strdup(&arena, written->content);
	if (written->base)
		*base = arena_strdup(&arena, written->base);
	world_free(world);
}

// Host settings that are invalid or missing at one start are back in the box at the next.
static void test_interrupted_settings(void)
{
	static const char *const interruptions[] = { "{ \"model\": ", NULL };
	static const char *const names[] = { "invalid at one start", "missing at one start" };

	for (size_t i = 0; i < ARRAY_SIZE(interruptions); i++) {
		const char *base = NULL;
		const char *box = NULL;
		struct world world;

		start(&world, &base, &box, "{\"model\":\"opus\"}");
		CHECK_CASE_STRING(normalise_json(&arena, box), "{\"model\":\"opus\"," SKIP "}",
				  "the first start");
		start(&world, &base, &box, interruptions[i]);
		start(&world, &base, &box, "{\"model\":\"opus\"}");
		CHECK_CASE_STRING(normalise_json(&arena, box), "{\"model\":\"opus\"," SKIP "}",
				  names[i]);
	}
}

static const char *expected_answers(const char *key, const char *more)
{
	return arena_printf(
		&arena,
		"{\"bypassPermissionsModeAccepted\":true,%s\"hasCompletedOnboarding\":true,"
		"\"projects\":{\"/p\":{\"hasClaudeMdExternalIncludesApproved\":true,"
		"\"hasClaudeMdExternalIncludesWarningShown\":true,"
		"\"hasCompletedProjectOnboarding\":true,"
		"\"hasTrustDialogAccepted\":true}}%s}",
		key, more);
}

static const char *render(const char *existing, const char *account, const char *key)
{
	const struct first_run_account user = { .host = account, .root = "/p" };

	return normalise_json(&arena, first_run_render(&arena, existing, &user, "/p", key, true));
}

static const char *render_beside(const char *existing, const char *key)
{
	const struct first_run_account user = { .root = "/p", .mode = MERGE_ADDED };

	return normalise_json(&arena, first_run_render(&arena, existing, &user, "/p", key, true));
}

static void test_answers(void)
{
	const char *first = render(NULL, NULL, NULL);
	const char *key = "sk-ant-api03-0000000000-0123456789abcdefghij";

	CHECK_STRING(first, expected_answers("", ""));
	CHECK_STRING(render(first, NULL, NULL), NULL);
	CHECK_STRING(render("[", NULL, NULL), first);
	CHECK_STRING(render("{\"projects\":[1]}", NULL, NULL), first);
	CHECK_STRING(render("{\"hasCompletedOnboarding\":false}", NULL, NULL), first);
	CHECK_STRING(render(NULL, "{", NULL), first);
	// Accounts, history and other members of the host's file are never copied.
	CHECK_STRING(render(NULL,
			    "{\"theme\":\"light\",\"verbose\":true,"
			    "\"oauthAccount\":{\"emailAddress\":\"a@b\"},\"projects\":{\"/q\":{}}}",
			    NULL),
		     expected_answers("", ",\"theme\":\"light\",\"verbose\":true"));
	CHECK_STRING(render("{\"theme\":\"own\"}", "{\"theme\":\"light\"}", NULL),
		     expected_answers("", ",\"theme\":\"own\""));
	// Of an API key, only the last 20 characters are stored, as Claude does it.
	CHECK_STRING(render(NULL, NULL, key),
		     expected_answers(
			     "\"customApiKeyResponses\":{\"approved\":[\"0123456789abcdefghij\"]},",
			     ""));
	CHECK_STRING(render(render(NULL, NULL, key), NULL, key), NULL);
	CHECK_STRING(render("{\"customApiKeyResponses\":{\"approved\":\"x\"}}", NULL, key),
		     render(NULL, NULL, key));
	// A short key would be most of the secret. Claude's own answer for it is kept.
	CHECK_STRING(render(NULL, NULL, "0123456789012345678901234567890123456789" + 1), first);
	CHECK_STRING(render("{\"customApiKeyResponses\":{\"approved\":[\"old\",\"short\"]}}", NULL,
			    "short"),
		     expected_answers("\"customApiKeyResponses\":{\"approved\":[\"short\"]},", ""));
	// Nothing remains of a key that is not passed any more.
	CHECK_STRING(render(render(NULL, NULL, key), NULL, NULL),
		     expected_answers("\"customApiKeyResponses\":{\"approved\":[]},", ""));
	// Beside another box, its approval stays.
	CHECK_STRING(render_beside(render(NULL, NULL, key), NULL), NULL);
	CHECK_STRING(render_beside("{\"customApiKeyResponses\":{\"approved\":[\"old\"]}}", key),
		     expected_answers("\"customApiKeyResponses\":{\"approved\":[\"old\","
				      "\"0123456789abcdefghij\"]},",
				      ""));
	CHECK_STRING(normalise_json(&arena, first_run_render(&arena, NULL, NULL, "/p", key, false)),
		     first);
	CHECK(settings_valid(first_run_render(&arena, NULL, NULL, "/p", "\xff\xfe", true)));
}

// Allocates memory that is unmapped when it is freed, so that a use after free crashes.
static void *guarded_alloc(size_t size)
{
	size_t *block = mmap(NULL, size + sizeof(max_align_t), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (block == MAP_FAILED)
		return NULL;
	*block = size + sizeof(max_align_t);
	return (char *)block + sizeof(max_align_t);
}

static void guarded_free(void *memory)
{
	size_t *block = memory ? (size_t *)((char *)memory - sizeof(max_align_t)) : NULL;

	if (block)
		munmap(block, *block);
}

// A path need not be UTF-8, but JSON must be.
static void test_project_not_utf8(void)
{
	int status = -1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		struct arena own = { 0 };
		const char *text;

		json_set_alloc_funcs(guarded_alloc, guarded_free);
		text = first_run_render(&own, NULL, NULL, "/caf\xe9", NULL, true);
		_exit(settings_valid(text) ? 0 : 1);
	}
	waitpid(child, &status, 0);
	CHECK_CASE(status == 0, "a project whose path is not UTF-8 gets valid answers");
}

static const char *words_of(const char *settings)
{
	strings words = { 0 };

	settings_add_words(&arena, HOME, settings, &words);
	return join_lines(&arena, &words);
}

static void test_command_words(void)
{
	CHECK_STRING(words_of(NULL), "");
	CHECK_STRING(words_of("{"), "");
	CHECK_STRING(words_of("{\"statusLine\":{\"command\":\"starship prompt\"}}"), "starship\n");
	CHECK_STRING(words_of("{\"statusLine\":{\"command\":\"/bin/x ~/y /z/../w\"}}"),
		     "/bin/x\n" HOME "/y\n/w\n");
	CHECK_STRING(words_of("{\"statusLine\":{\"command\":\"if x; then y; fi\"}}"), "");
	CHECK_STRING(words_of("{\"statusLine\":{\"command\":7},\"hooks\":{\"Stop\":[{\"hooks\":["
			      "{\"command\":\"say done\"},{\"command\":\"$X\"},7]},7],\"B\":7}}"),
		     "say\n");
}

// A text of too many values, which would take too much memory, is refused. A long string is not.
static void test_value_limit(void)
{
	struct text many = { .arena = &arena };
	struct text quoted = { .arena = &arena };

	text_add(&many, "{\"a\":[0");
	text_add(&quoted, "{\"a\":\"");
	for (int i = 0; i < 400 * 1000; i++) {
		text_add(&many, ",0");
		text_add(&quoted, i % 2 ? ",[{" : "\\\"\\\\");
	}
	text_add(&many, "]}");
	text_add(&quoted, "\"}");
	CHECK(!settings_valid(text_get(&many)));
	CHECK(settings_valid(text_get(&quoted)));
	// An unterminated string.
	text_add(&quoted, "\"");
	CHECK(!settings_valid(text_get(&quoted)));
	text_add(&quoted, "\\");
	CHECK(!settings_valid(text_get(&quoted)));
}

int main(void)
{
	test_valid();
	test_value_limit();
	test_filter();
	test_merge();
	test_added_settings();
	test_interrupted_settings();
	test_answers();
	test_project_not_utf8();
	test_command_words();
	arena_free(&arena);
	return check_done();
}
