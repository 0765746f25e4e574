// SPDX-License-Identifier: MIT
// Tests of the user's account file: its reduced form, the merge, references, and the addresses of
// MCP servers.
#include "base/arena.h"
#include "base/json.h"
#include "base/json_skim.h"
#include "base/text.h"
#include "check.h"
#include "config/config.h"
#include "fixture.h"
#include "json_text.h"
#include "plan/claude/preferences.h"
#include "plan/mcp/account.h"
#include "plan/mcp/reach.h"
#include "plan/mcp/references.h"
#include "plan/mcp/secrets.h"
#include "plan/plan.h"

#include <stddef.h>

static struct arena arena;

// Returns the members of an object as they are written, and whether it is complete.
static const char *skim(const char *object)
{
	struct json_skim state = json_skim_start(object);
	struct text out = { .arena = &arena };
	struct json_member member;

	while (json_skim_next(&state, &member))
		text_printf(&out, "<%.*s=%.*s>", (int)member.key_length, member.key,
			    (int)member.value_length, member.value);
	text_add(&out, state.complete ? "." : "!");
	return text_get(&out);
}

static void test_skim(void)
{
	static const struct {
		const char *text;
		const char *wanted;
	} rows[] = {
		{ NULL, "!" },
		{ "", "!" },
		{ "[]", "!" },
		{ "{}", "." },
		{ " { } x", "." },
		{ "{\"a\":1}", "<a=1>." },
		{ "{ \"a\" : [1, {\"b\": \"}]\"}] , \"c\" : \"x\\\"}\" }",
		  "<a=[1, {\"b\": \"}]\"}]><c=\"x\\\"}\">." },
		{ "{\"a\":{\"b\":{}},\"a\":null,\"\":false}", "<a={\"b\":{}}><a=null><=false>." },
		{ "{\"a\":1,}", "<a=1>!" },
		{ "{\"a\":1 \"b\":2}", "<a=1>!" },
		{ "{,\"a\":1}", "!" },
		{ "{\"a\"}", "!" },
		{ "{\"a\":}", "!" },
		{ "{\"a\":[", "!" },
		{ "{\"a\":\"x", "!" },
		{ "{\"a\":\"x\\", "!" },
		{ "{\"a", "!" },
		{ "{\"a\":1", "<a=1>!" },
		{ "{a:1}", "!" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(skim(rows[i].text), rows[i].wanted,
				  rows[i].text ? rows[i].text : "no text");
}

static void test_reduce(void)
{
	static const struct {
		const char *text;
		const char *wanted;
	} rows[] = {
		{ NULL, NULL },
		{ "", "" },
		{ "[]", "" },
		{ "{", "" },
		{ "{}", "{}" },
		{ "{\"theme\":\"light\",\"userID\":\"x\",\"verbose\":1,\"editorMode\":\"a b\"}",
		  "{\"theme\":\"light\"}" },
		{ "{\"mcpServers\":{\"a\":{}},\"mcpServers\":{\"b\":{}}}",
		  "{\"mcpServers\":{\"b\":{}}}" },
		{ "{\"mcpServers\":{\"a\":}}", "{\"mcpServers\":null}" },
		{ "{\"projects\":{\"/q\":{\"mcpServers\":{\"x\":{}}},\"/p\":{\"history\":[1],"
		  "\"mcpServers\":{\"y\":{}},\"disabledMcpServers\":[\"z\"]},\"/p/\":{\"a\":1}}}",
		  "{\"projects\":{\"/p\":{\"disabledMcpServers\":[\"z\"],\"mcpServers\":{\"y\":{}}}}}" },
		{ "{\"projects\":[\"/p\"]}", "{}" },
		{ "{\"projects\":{\"/p\":[]}}", "{\"projects\":{\"/p\":{}}}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(normalise_json(&arena,
						 account_reduce(&arena, rows[i].text, "/p")),
				  rows[i].wanted, rows[i].text ? rows[i].text : "no file");
	CHECK_STRING(normalise_json(
			     &arena,
			     account_reduce(&arena,
					    "{\"projects\":{\"/a \\\"b\\\\\":{\"mcpServers\":7}}}",
					    "/a \"b\\")),
		     "{\"projects\":{\"/a \\\"b\\\\\":{\"mcpServers\":7}}}");
	CHECK_STRING(normalise_json(&arena, account_reduce(&arena, "{\"projects\":{\"/\xe9\":{}}}",
							   "/\xe9")),
		     "{}");
}

static const char *merged(enum merge_mode mode, const char *base, const char *host,
			  const char *instance)
{
	JSON_OWNED *old = json_read_object(base, 0);
	JSON_OWNED *new = json_read_object(host, 0);
	JSON_OWNED *own = json_read_object(instance, 0);

	account_merge(mode, own, old, new, "/p");
	return normalise_json(&arena, json_write(&arena, own, 0));
}

#define LOCAL(servers) "{\"projects\":{\"/p\":{\"mcpServers\":" servers "}}}"

static void test_merge(void)
{
	static const struct {
		const char *what;
		const char *base, *host, *box;
		const char *wanted;
	} rows[] = {
		{ "nothing", NULL, NULL, "{\"a\":1}", "{\"a\":1}" },
		{ "the first start", NULL, "{\"theme\":\"l\",\"mcpServers\":{\"s\":{}}}", "{}",
		  "{\"mcpServers\":{\"s\":{}},\"theme\":\"l\"}" },
		{ "an instance of an earlier claudebox", NULL, "{\"theme\":\"l\"}",
		  "{\"theme\":\"d\"}", "{\"theme\":\"d\"}" },
		{ "changed on the host", "{\"theme\":\"l\",\"mcpServers\":{\"s\":{\"a\":1}}}",
		  "{\"theme\":\"d\",\"mcpServers\":{\"s\":{\"a\":2}}}",
		  "{\"theme\":\"l\",\"mcpServers\":{\"s\":{\"a\":1}}}",
		  "{\"mcpServers\":{\"s\":{\"a\":2}},\"theme\":\"d\"}" },
		{ "removed on the host", "{\"theme\":\"l\",\"mcpServers\":{\"s\":{}}}", "{}",
		  "{\"theme\":\"l\",\"mcpServers\":{\"s\":{},\"own\":{}}}",
		  "{\"mcpServers\":{\"own\":{}}}" },
		{ "changed in the box", "{\"theme\":\"l\",\"mcpServers\":{\"s\":{}}}",
		  "{\"theme\":\"d\",\"mcpServers\":{\"s\":{\"a\":1}}}",
		  "{\"theme\":\"x\",\"mcpServers\":{\"s\":{\"b\":1}}}",
		  "{\"mcpServers\":{\"s\":{\"b\":1}},\"theme\":\"x\"}" },
		{ "removed in the box", "{\"theme\":\"l\",\"mcpServers\":{\"s\":{}}}",
		  "{\"theme\":\"l\",\"mcpServers\":{\"s\":{}}}", "{\"mcpServers\":{}}",
		  "{\"mcpServers\":{}}" },
		{ "wrong types in the box", NULL, "{\"mcpServers\":{\"s\":{}}}",
		  "{\"mcpServers\":[1],\"projects\":7}",
		  "{\"mcpServers\":{\"s\":{}},\"projects\":7}" },
		{ "a server of the project", NULL, LOCAL("{\"s\":{}}"),
		  "{\"projects\":{\"/p\":{\"a\":1},\"/q\":{\"b\":2}}}",
		  "{\"projects\":{\"/p\":{\"a\":1,\"mcpServers\":{\"s\":{}}},\"/q\":{\"b\":2}}}" },
		{ "a server of the project is removed on the host", LOCAL("{\"s\":{}}"), "{}",
		  LOCAL("{\"s\":{},\"t\":{}}"), LOCAL("{\"t\":{}}") },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(merged(MERGE_ALL, rows[i].base, rows[i].host, rows[i].box),
				  rows[i].wanted, rows[i].what);
}

// Beside another box, a start only adds, and the base too: the next one sees the same changes.
static void test_merge_beside(void)
{
	static const struct {
		const char *what;
		const char *base, *host, *box;
		const char *wanted, *next;
	} rows[] = {
		{ "changed on the host", "{\"theme\":\"l\",\"mcpServers\":{\"s\":{\"a\":1}}}",
		  "{\"theme\":\"d\",\"mcpServers\":{\"s\":{\"a\":2}}}",
		  "{\"theme\":\"l\",\"mcpServers\":{\"s\":{\"a\":1}}}",
		  "{\"mcpServers\":{\"s\":{\"a\":1}},\"theme\":\"l\"}",
		  "{\"mcpServers\":{\"s\":{\"a\":1}},\"theme\":\"l\"}" },
		{ "removed and added on the host", "{\"theme\":\"l\",\"mcpServers\":{\"s\":{}}}",
		  "{\"verbose\":true,\"mcpServers\":{\"t\":{}}}",
		  "{\"theme\":\"l\",\"mcpServers\":{\"s\":{}}}",
		  "{\"mcpServers\":{\"s\":{},\"t\":{}},\"theme\":\"l\",\"verbose\":true}",
		  "{\"mcpServers\":{\"s\":{},\"t\":{}},\"theme\":\"l\",\"verbose\":true}" },
		{ "removed in the box", "{\"mcpServers\":{\"s\":{}}}",
		  "{\"mcpServers\":{\"s\":{}}}", "{\"mcpServers\":{}}", "{\"mcpServers\":{}}",
		  "{\"mcpServers\":{\"s\":{}}}" },
		{ "a server of the project is removed on the host", LOCAL("{\"s\":{}}"), "{}",
		  LOCAL("{\"s\":{},\"t\":{}}"), LOCAL("{\"s\":{},\"t\":{}}"), LOCAL("{\"s\":{}}") },
		{ "a server of the project is added on the host", LOCAL("{\"s\":{}}"),
		  LOCAL("{\"u\":{}}"), LOCAL("{\"s\":{}}"), LOCAL("{\"s\":{},\"u\":{}}"),
		  LOCAL("{\"s\":{},\"u\":{}}") },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct account_texts texts = { .base = rows[i].base,
						     .host = rows[i].host,
						     .box = rows[i].box };

		CHECK_CASE_STRING(merged(MERGE_ADDED, rows[i].base, rows[i].host, rows[i].box),
				  rows[i].wanted, rows[i].what);
		CHECK_CASE_STRING(normalise_json(&arena,
						 account_next_base(&arena, MERGE_ADDED,
								   rows[i].host, &texts, "/p")),
				  rows[i].next, rows[i].what);
	}
}

static const char *look_up(const void *environment, const char *name)
{
	return str_equal(name, "A") ? environment : NULL;
}

static void test_references(void)
{
	static const struct {
		const char *text;
		const char *wanted;
		const char *missing;
	} rows[] = {
		{ "", "", "" },
		{ "$A", "$A", "" },
		{ "x${A}y", "xvaluey", "" },
		{ "${A}${B}${A}", "value${B}value", "B\n" },
		{ "${B:-d}", "d", "" },
		{ "${B:-}", "", "" },
		{ "${A:-d}", "value", "" },
		{ "${", "${", "" },
		{ "${A", "${A", "" },
		{ "${}x", "${}x", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		strings missing = { 0 };

		CHECK_CASE_STRING(references_expand(&arena, rows[i].text, look_up, "value",
						    &missing),
				  rows[i].wanted, rows[i].text);
		CHECK_CASE_STRING(join_lines(&arena, &missing), rows[i].missing, "... and missing");
	}
}

static void test_secrets(void)
{
	static const struct {
		const char *before;
		const char *argument;
		bool secret;
	} rows[] = {
		{ "-c", "curl -H 'Authorization: token Sommer2024' https://x.example", true },
		{ "--header", "Authorization: Bearer abcm3", true },
		{ "--header", "Authorization: Bearer ${TOKEN}", false },
		{ "--header", "X-Custom: x7Kq2mPz9LwT4vBn8", true },
		{ "--header", "Accept: application/json", false },
		{ NULL, "--header=X-Custom: x7Kq2mPz", true },
		{ "--pat", "Sommer2024", true },
		{ "--auth", "Sommer2024", true },
		{ "--auth", "basic", false },
		{ NULL, "--pat=Sommer2024", true },
		{ "--port", "8080", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE(server_argument_is_secret(rows[i].before, rows[i].argument) ==
				   rows[i].secret,
			   rows[i].argument);
	CHECK(server_default_is_secret(&arena, "${API_KEY:-Sommer2024}"));
	CHECK(server_default_is_secret(&arena, "x ${A} ${TOK:-Sommer2024}"));
	CHECK(!server_default_is_secret(&arena, "${HOST:-localhost}"));
	CHECK(server_value_is_secret("GITHUB_PAT", "Sommer2024"));
	CHECK(server_value_is_secret("SMTP_AUTH", "Sommer2024"));
	CHECK(server_value_is_secret("COOKIE", "Sommer2024"));
	CHECK(!server_value_is_secret("SMTP_AUTH", "plain"));
}

static void test_reach(void)
{
	static const struct {
		const char *address;
		const char *in_inet; // the option, "": reachable, "-": never
	} rows[] = {
		{ "https://mcp.example.com/mcp", "" },
		{ "http://93.184.215.14:8080/", "" },
		{ "http://localhost:8123/mcp", "--host-port 8123" },
		{ "http://LOCALHOST", "--host-port 80" },
		{ "http://x.localhost:99", "--host-port 99" },
		{ "http://127.1.2.3:8000/x", "--host-port 8000" },
		{ "https://[::1]/", "--host-port 443" },
		{ "http://0.0.0.0:8000", "--host-port 8000" },
		{ "http://localhost:4000/", "" }, // forwarded
		{ "http://127.0.0.1:4000", "" },
		{ "http://me@localhost.:8123/", "--host-port 8123" },
		{ "http://10.1.2.3/", "--network full" },
		{ "http://172.16.0.1:4000/", "--network full" },
		{ "http://[fd00::1]:80/", "--network full" },
		{ "http://169.254.169.254/", "--network full" },
		{ "http://nas/", "--network full" },
		{ "http://nas.local", "--network full" },
		{ "http://git.corp.internal/", "--network full" },
		{ "ftp://a.example.com/", "-" },
		{ "http://", "-" },
		{ "http://a.example.com:99999/", "-" },
		{ "http://[::1", "-" },
		{ "mcp.example.com", "-" },
	};
	struct world world;

	world_debian(&world);
	world_connect(&world);
	world.config.network = NETWORK_INET;
	vec_push(&world.arena, &world.config.host_ports, (struct config_port){ .number = 4000 });
	CHECK(world_plan(&world));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *option;
		const char *why = reach_problem(&world.plan, &arena, rows[i].address, &option);

		CHECK_CASE_STRING(!why     ? ""
				  : option ? option
					   : "-",
				  rows[i].in_inet, rows[i].address);
	}
	world_free(&world);
}

static void test_preferences(void)
{
	for (size_t i = 0; i < preference_count; i++)
		CHECK_CASE(preference_table[i].why && *preference_table[i].why,
			   preference_table[i].name);
}

static size_t server_count(bool managed, const char *instance)
{
	struct world world;
	size_t count;

	world_debian(&world);
	world.facts.user_claude.account_json = "{\"mcpServers\":{\"a\":{\"command\":\"/bin/sh\"}}}";
	world.facts.state.account_base = instance ? world.facts.user_claude.account_json : NULL;
	world.facts.state.instance_json = instance;
	if (managed)
		world_file(&world, FILE_REGULAR, BOX_POLICY "/managed-mcp.json",
			   BOX_POLICY "/managed-mcp.json");
	vec_push(&world.arena, &world.facts.user_claude.command_files,
		 world_followed(&world, FILE_REGULAR, "/bin/sh", "/usr/bin/dash", "/bin", "usr/bin",
				"/usr/bin/sh", "dash", NO_MORE));
	CHECK(world_plan(&world));
	count = world.plan.servers.count;
	world_free(&world);
	return count;
}

static void test_servers_in_effect(void)
{
	CHECK(server_count(false, NULL) == 1);
	CHECK(server_count(true, NULL) == 0);
	CHECK_CASE(server_count(false, "{\"mcpServers\":{}}") == 0, "the box has removed it");
}

int main(void)
{
	test_servers_in_effect();
	test_skim();
	test_reduce();
	test_merge();
	test_merge_beside();
	test_references();
	test_secrets();
	test_reach();
	test_preferences();
	arena_free(&arena);
	return check_done();
}
