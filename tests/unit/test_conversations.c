// SPDX-License-Identifier: MIT
// Conversations: names of their directories, ids, arguments of claude, secrets in their lines.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "config/config.h"
#include "fixture.h"
#include "plan/claude/transcript.h"
#include "plan/plan.h"
#include "plan/state/conversations.h"

#include <string.h>

#define ID    "5f47ebef-5929-420c-b2ca-c3ba8a670ad0"
#define LONG  "long-\xc3\xa4-\xf0\x9f\x98\x80-name"
#define LONG3 LONG LONG LONG "/"

static struct arena arena;

// The names that Claude Code 2.1.325 and 2.1.100 gave to these directories.
static void test_slug(void)
{
	static const char *const rows[][2] = {
		{ "/tmp/conv/h/a_b.c \xc3\xbc\xf0\x9f\x98\x80", "-tmp-conv-h-a-b-c----" },
		{ "/home/user/project", "-home-user-project" },
		{ "/tmp/conv/h/p/" LONG3 LONG3 LONG3 LONG3 LONG3 LONG3 LONG LONG LONG,
		  "-tmp-conv-h-p-long------namelong------namelong------name-long------namelong------"
		  "namelong------name-long------namelong------namelong------name-long------namelong--"
		  "----namelong------name-long------name-uttmmt" },
		{ "/a\xff\xfe"
		  "b",
		  "-a--b" },
		{ "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(conversation_slug(&arena, rows[i][0]), rows[i][1], rows[i][1]);
}

static void test_ids(void)
{
	static const char *const bad[] = {
		"",
		"x",
		"../" ID,
		ID "/",
		ID "x",
		ID "\n",
		"5f47ebef-5929-420c-b2ca-c3ba8a670ad",
		"5f47ebef_5929-420c-b2ca-c3ba8a670ad0",
		"gf47ebef-5929-420c-b2ca-c3ba8a670ad0",
		" " ID,
		"-f47ebef-5929-420c-b2ca-c3ba8a670ad0",
		"$(id)bef-5929-420c-b2ca-c3ba8a670ad0",
	};

	CHECK(conversation_id_valid(ID));
	CHECK(conversation_id_valid("5F47EBEF-5929-420C-B2CA-C3BA8A670AD0"));
	CHECK(conversation_name_valid(ID ".jsonl"));
	CHECK(!conversation_name_valid(ID));
	CHECK(!conversation_name_valid(ID ".jsonl.x"));
	CHECK(!conversation_name_valid("agent-" ID ".jsonl"));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_CASE(!conversation_id_valid(bad[i]), bad[i]);
}

static struct config with_arguments(const char *const *words)
{
	struct config config = { 0 };

	for (; *words; words++)
		vec_push(&arena, &config.arguments, *words);
	return config;
}

static void test_arguments(void)
{
	static const struct {
		const char *words[5];
		bool resumed;
		bool printed;
	} rows[] = {
		{ { "--resume", ID }, true, false },
		{ { "-r", ID }, true, false },
		{ { "-r" ID }, true, false },
		{ { "--resume=" ID }, true, false },
		{ { "-p", "x", "--resume", ID }, true, true },
		{ { "--resume", "a title" }, false, false },
		{ { "--resume" }, false, false },
		{ { "--resume", "../" ID }, false, false },
		{ { "--resume=../../" ID }, false, false },
		{ { "--", "--resume", ID }, false, false },
		{ { "--", "-p" }, false, false },
		{ { "--continue" }, false, false },
		{ { "--print" }, false, true },
		{ { "-cp", "x" }, false, true },
		{ { "--permission-mode", "plan" }, false, false },
		{ { "a prompt" }, false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config config = with_arguments(rows[i].words);
		const char *resumed = conversation_resumed(&config);

		CHECK_CASE(rows[i].resumed ? str_equal(resumed, ID) : !resumed, rows[i].words[0]);
		CHECK_CASE(conversation_is_printed(&config) == rows[i].printed, rows[i].words[0]);
	}
}

#define TOKEN \
	"gh"  \
	"p_7Qk29XvLmPq7RtYzW3bN5cY8wL2pD4aB1cD2"

static void test_secrets(void)
{
	static const struct {
		const char *line;
		const char *kind; // NULL: none
	} rows[] = {
		{ "{\"type\":\"user\",\"message\":{\"content\":\"use " TOKEN "\"}}",
		  "a GitHub token" },
		{ "{\"toolUseResult\":{\"stdout\":\"a\\ntoken=" TOKEN "\\n\"}}", "a GitHub token" },
		{ "{\"a\":[{\"b\":[\"" TOKEN "\"]}]}", "a GitHub token" },
		{ "{\"message\":{\"" TOKEN "\":1}}", "a GitHub token" },
		{ "{\"" TOKEN "\":1}", "a GitHub token" },
		{ "{\"x\":\"gh\\u0070_7Qk29XvLmPq7RtYzW3bN5cY8wL2pD4aB1cD2\"}", "a GitHub token" },
		{ "{\"x\":\"" TOKEN "\",\"x\":\"\"}", "a GitHub token" },
		{ "{\"x\":\"" TOKEN, "a GitHub token" },
		{ "plain " TOKEN " text", "a GitHub token" },
		{ "{\"input\":{\"command\":\"curl https://ann:s3cr3tPass9@example.org/\"}}", "" },
		{ "{\"x\":\"-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXktdjEAAAAA\\n\"}",
		  "" },
		{ "{\"message\":{\"content\":\"Authorization: Bearer x7Kq2mPz9LwT"
		  "4vBn8x7Kq2mPz9LwT4vBn8\"}}",
		  "" },
		{ "{\"message\":{\"content\":\"run curl -H \\\"Authorization: Bearer x7Kq2mPz9LwT"
		  "4vBn8x7Kq2mPz9LwT4vBn8\\\" https://x.example\"}}",
		  "" },
		{ "{\"message\":{\"content\":\"Authorization: Bearer 0f8e4c2a9b7d"
		  "61530f8e4c2a9b7d6153\"}}",
		  "" },
		{ "{\"message\":{\"content\":\"Authorization: token x7Kq2mPz9LwT"
		  "4vBn8x7Kq2mPz9LwT4vBn8\"}}",
		  "" },
		{ "{\"message\":{\"content\":\"Authorization: Basic am9lOng3"
		  "S3EybVB6OUx3VA==\"}}",
		  "" },
		{ "{\"message\":{\"content\":\"a\\nPOSTGRES_PASSWORD=Xk9#"
		  "mQ2$vL8pZ\\nb\"}}",
		  "" },
		{ "{\"message\":{\"content\":\"{\\\"auths\\\":{\\\"x\\\":{\\\"auth\\\": \\\"am9lOng3"
		  "S3EybVB6OUx3VA==\\\"}}}\"}}",
		  "" },
		{ "{\"message\":{\"content\":\"{\\\\\\\"auth\\\\\\\": \\\\\\\"am9lOnNl"
		  "Y3JldA==\\\\\\\"}\"}}",
		  "" },
		{ "{\"message\":{\"content\":\"git clone https://joe:x7"
		  "Kq@github.com/x\"}}",
		  "" },
		{ "{\"message\":{\"content\":\"jdbc:oracle:thin:joe/Som"
		  "mer2024@h:1521:x\"}}",
		  "" },
		{ "", NULL },
		{ "{}", NULL },
		{ "{\"message\":{\"content\":\"Authorization: Bearer $TOKEN\"}}", NULL },
		{ "{\"message\":{\"content\":\"the header Authorization: required\"}}", NULL },
		{ "{\"message\":{\"content\":\"https://user:pass1@example.org/\"}}", NULL },
		{ "{\"message\":{\"content\":\"auth: required\"}}", NULL },
		{ "{\"message\":{\"content\":\"jdbc:oracle:thin:@h:1521:x\"}}", NULL },
		{ "{\"message\":{\"content\":\"AUTH=basic\"}}", NULL },
		{ "{\"type\":\"user\",\"sessionId\":\"" ID "\",\"uuid\":\"" ID "\",\"cwd\":\"/x\"}",
		  NULL },
		{ "{\"type\":\"api-request-shape\",\"sessionId\":\"" ID "\",\"shapeHash\":"
		  "\"a535341569c1158da7f1939e33e8d3063cbb81eee40d670d8c2a2b9f655e868b\"}",
		  NULL },
		{ "{\"message\":{\"id\":\"msg_01XFDUDYJgAACzvnptvVoYEL\",\"content\":[{\"type\":"
		  "\"tool_use\",\"id\":\"toolu_01A09q90qw90lq917835lq9\"}]},\"requestId\":"
		  "\"req_011CSHoEeqs5C35K2UUqR7Fy\"}",
		  NULL },
		{ "{\"message\":{\"content\":[{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":"
		  "\"EqQBCkYIBxgCKkDhE7Gf0dJ8kq4mYx9Wn2Ls5Vt1Rb6Zc3Pa8Uo0Ji7Kh4Gd2Fs9Aq1Ew5Ty8\"}]}}",
		  NULL },
		{ "{\"message\":{\"content\":\"the PASSWORD variable, TOKEN=$TOKEN, api_key: str\"}}",
		  NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *kind = transcript_find_secret(rows[i].line);

		if (rows[i].kind && !*rows[i].kind)
			CHECK_CASE(kind != NULL, rows[i].line);
		else
			CHECK_CASE_STRING(kind, rows[i].kind, rows[i].line);
	}
}

static void add_host_conversation(struct world *world)
{
	vec_push(&world->arena, &world->facts.conversations.list,
		 (struct host_conversation){ .name = ID ".jsonl", .size = 10 });
}

static bool names_option(const struct plan *plan)
{
	vec_each(row, &plan->left_out) {
		if (str_equal(row->option, "--import-conversations"))
			return true;
	}
	return false;
}

// The row of what the box lacks, where the question is not asked.
static void test_left_out(void)
{
	static const struct {
		const char *what;
		const char *words[3];
		bool yes, never, answered, no_terminal, import, shell;
		bool asks, row;
	} rows[] = {
		{ .what = "a first start", .asks = true },
		{ .what = "--yes", .yes = true, .row = true },
		{ .what = "never", .never = true, .row = true },
		{ .what = "-p", .words = { "-p", "x" }, .row = true },
		{ .what = "no terminal", .no_terminal = true, .row = true },
		{ .what = "answered", .answered = true },
		{ .what = "answered, --yes", .answered = true, .yes = true },
		{ .what = "--import-conversations", .import = true },
		{ .what = "--shell", .shell = true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world world;

		world_debian(&world);
		world_arguments(&world, rows[i].words);
		add_host_conversation(&world);
		world.config.yes = rows[i].yes;
		world.config.confirm = rows[i].never ? CONFIRM_NEVER : CONFIRM_ALWAYS;
		world.config.import_conversations = rows[i].import;
		world.config.payload = rows[i].shell ? PAYLOAD_SHELL : PAYLOAD_CLAUDE;
		world.facts.conversations.answered = rows[i].answered;
		world.facts.conversations.can_ask = !rows[i].no_terminal;
		CHECK_CASE(world_plan(&world), rows[i].what);
		CHECK_CASE(conversation_offer(&world.config, &world.facts.conversations) ==
				   rows[i].asks,
			   rows[i].what);
		CHECK_CASE(names_option(&world.plan) == rows[i].row, rows[i].what);
		world_free(&world);
	}
}

static void test_resumed_only_on_the_host(void)
{
	static const char *const words[] = { "--resume", ID, NULL };
	struct world world;

	world_debian(&world);
	world_arguments(&world, words);
	CHECK(world_plan(&world));
	add_host_conversation(&world);
	CHECK(!world_plan(&world));
	CHECK_STRING(world.error.message,
		     "conversation '" ID "' is not in the box: only plain claude on this machine "
		     "has it");
	CHECK(strstr(world.error.hint, "claudebox --import-conversations --resume " ID));
	world.error = (struct error){ .arena = &world.arena };
	world.config.import_conversations = true;
	CHECK(world_plan(&world));
	world_free(&world);
}

int main(void)
{
	test_slug();
	test_ids();
	test_arguments();
	test_secrets();
	test_left_out();
	test_resumed_only_on_the_host();
	arena_free(&arena);
	return check_done();
}
