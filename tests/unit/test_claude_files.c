// SPDX-License-Identifier: MIT
// Tests of the secrets in Claude's settings, plugins and other files: they are left out and named,
// and harmless content passes unchanged.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "config/config.h"
#include "config/origin.h"
#include "fixture.h"
#include "json_text.h"
#include "plan/claude/files.h"
#include "plan/claude/settings.h"
#include "plan/plan.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;

// Filters settings in a world whose profile names REQUESTED.
static const char *filtered(const char *settings, const char **ret_notes)
{
	struct world world;
	strings notes = { 0 };
	const char *result;

	world_debian(&world);
	vec_push(&world.arena, &world.config.variables,
		 (struct config_variable){ .name = "REQUESTED",
					   .origin = origin_requested("profile") });
	world.config.extra_env = "OTHER, ALSO_REQUESTED";
	world_plan(&world);
	world.facts.user_claude.settings_json = settings;
	result = settings_filter(&world.plan, &world.arena, &world.facts, &notes);
	result = result ? arena_strdup(&arena, result) : NULL;
	*ret_notes = arena_strdup(&arena, join_lines(&arena, &notes));
	world_free(&world);
	return result;
}

// Returns a value that looks random; no complete token is in the repository.
static const char *random_text(size_t length)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	static unsigned int state = 12345;
	char *text = arena_alloc(&arena, length + 1);

	for (size_t i = 0; i < length; i++) {
		state = state * 1664525 + 1013904223;
		text[i] = letters[(state >> 16) % (sizeof(letters) - 1)];
	}
	return text;
}

// Everyday places of secrets: %s is the secret. `named` must be in the notes.
static const struct {
	const char *settings;
	const char *prefix;
	size_t length; // of the random part
	const char *named;
} everyday[] = {
	{ "{\"env\":{\"MYSQL_PWD\":\"%s\"}}", "hunter", 2, "'MYSQL_PWD'" },
	{ "{\"env\":{\"DB_PASS\":\"%s\"}}", "", 14, "'DB_PASS'" },
	{ "{\"env\":{\"GITHUB_PAT\":\"%s\"}}", "ghp_", 36, "'GITHUB_PAT'" },
	{ "{\"env\":{\"OTEL_EXPORTER_OTLP_HEADERS\":\"x-team=%s\"}}", "", 24,
	  "'OTEL_EXPORTER_OTLP_HEADERS'" },
	{ "{\"env\":{\"ANTHROPIC_CUSTOM_HEADERS\":\"X-Corp: %s\"}}", "", 24,
	  "'ANTHROPIC_CUSTOM_HEADERS'" },
	{ "{\"env\":{\"NOTIFY\":\"https://hooks.slack.com/services/T0001/B0001/%s\"}}", "", 24,
	  "'NOTIFY'" },
	{ "{\"env\":{\"SENTRY_DSN\":\"https://%s@o1.ingest.sentry.io/1\"}}", "", 32,
	  "'SENTRY_DSN'" },
	{ "{\"env\":{\"ANTHROPIC_BASE_URL\":\"https://user:%s@proxy.example\"}}", "", 12,
	  "'ANTHROPIC_BASE_URL'" },
	{ "{\"permissions\":{\"allow\":[\"Read\",\"Bash(GITHUB_TOKEN=%s gh pr list)\"]}}", "ghp_",
	  36, "'permissions.allow[1]'" },
	{ "{\"statusLine\":{\"type\":\"command\",\"command\":\"curl -H 'Authorization: Bearer %s' "
	  "https://x.example\"}}",
	  "", 40, "'statusLine'" },
	{ "{\"mcpServers\":{\"db\":{\"command\":\"npx\",\"args\":[\"mcp\",\"--token\",\"%s\"]}}}",
	  "", 32, "'mcpServers.db.args[2]'" },
	{ "{\"extraKnownMarketplaces\":{\"corp\":{\"source\":{\"source\":\"git\",\"url\":"
	  "\"https://%s@github.com/corp/plugins\"}}}}",
	  "ghp_", 36, "'the user part of extraKnownMarketplaces.corp.source.url'" },
	{ "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":"
	  "\"API_KEY=%s notify\"}]}]}}",
	  "", 32, "'hooks.Stop[0].hooks[0]'" },
	{ "{\"awsAuthRefresh\":\"aws sso login --token %s\"}", "", 32, "'awsAuthRefresh'" },
	{ "{\"otelHeadersHelper\":\"echo Bearer %s\"}", "", 32, "'otelHeadersHelper'" },
	{ "{\"apiKeyHelper\":\"echo %s\"}", "sk-ant-api03-", 80, "'apiKeyHelper'" },
	{ "{\"mcpServers\":{\"a\":{\"type\":\"http\",\"url\":\"https://x.example\",\"headers\":"
	  "{\"X-Corp\":\"%s\"}}}}",
	  "", 24, "'mcpServers.a.headers.X-Corp'" },
	{ "{\"permissions\":{\"allow\":[\"Bash(mysql -u root -p%s:*)\"]}}", "", 12,
	  "'permissions.allow[0]'" },
	{ "{\"permissions\":{\"deny\":[\"Bash(curl -ubob:%s:*)\"]}}", "", 12,
	  "'the secret in permissions.deny[0]'" },
	{ "{\"mcpServers\":{\"a\":{\"type\":\"http\",\"url\":\"https://x.example/s/%s/mcp\"}}}", "",
	  32, "'mcpServers.a'" },
	{ "{\"mcpServers\":{\"a\":{\"command\":\"/bin/mysql\",\"args\":[\"-u\",\"-p%s\"]}}}", "",
	  12, "'mcpServers.a.args[1]'" },
	{ "{\"env\":{\"HTTPS_PROXY\":\"bob:%s@proxy:3128\"}}", "", 12, "'HTTPS_PROXY'" },
	{ "{\"a\":{\"%s\":true}}", "ghp_", 36, "'a key in a'" },
	{ "{\"env\":{\"%s\":\"x\"}}", "ghp_", 36, "'...'" },
	{ "{\"env\":{\"REQUESTED\":\"Bearer %s\"}}", "", 40, "'REQUESTED'" },
	{ "{\"a\":[{\"b\":{\"c\":\"%s\"}}]}", "xoxb-1234567890-1234567890-", 24, "'a[0].b.c'" },
};

static void test_everyday_secrets(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(everyday); i++) {
		const char *secret = random_text(everyday[i].length);
		const char *slot = strstr(everyday[i].settings, "%s");
		const char *token = arena_printf(&arena, "%s%s", everyday[i].prefix, secret);
		const char *settings = arena_printf(&arena, "%.*s%s%s",
						    (int)(slot - everyday[i].settings),
						    everyday[i].settings, token, slot + 2);
		const char *notes;
		const char *result = filtered(settings, &notes);

		CHECK_CASE(result && !strstr(result, token), everyday[i].settings);
		CHECK_CASE(strstr(notes, everyday[i].named), everyday[i].named);
		CHECK_CASE(!strstr(notes, token), "... and no note has the value");
	}
}

// Settings without secrets pass unchanged.
static void test_harmless_settings(void)
{
	static const char *const rows[] = {
		"{\"permissions\":{\"allow\":[\"Bash(npm run test:*)\",\"Read(~/.zshrc)\","
		"\"WebFetch(domain:docs.example.org)\",\"Bash(git commit -m:*)\"],\"deny\":["
		"\"Read(./.env)\",\"Read(./secrets/**)\"]}}",
		"{\"env\":{\"ANTHROPIC_BASE_URL\":\"https://gateway.example.org/v1\","
		"\"ANTHROPIC_MODEL\":\"claude-opus-4-5-20251101\",\"BASH_DEFAULT_TIMEOUT_MS\":"
		"\"60000\",\"CLAUDE_CODE_MAX_OUTPUT_TOKENS\":\"32000\",\"DISABLE_TELEMETRY\":\"1\","
		"\"HTTPS_PROXY\":\"http://proxy.example.org:3128\",\"MAX_MCP_OUTPUT_TOKENS\":"
		"\"50000\",\"MCP_TIMEOUT\":\"10000\"}}",
		"{\"env\":{\"ALSO_REQUESTED\":\"x\",\"REQUESTED\":\"plain\"}}",
		"{\"enabledPlugins\":{\"github@claude-plugins-official\":true}}",
		"{\"extraKnownMarketplaces\":{\"m\":{\"source\":{\"repo\":\"a/b\",\"source\":"
		"\"github\"}}}}",
		"{\"statusLine\":{\"command\":\"echo $PWD\",\"type\":\"command\"}}",
		"{\"mcpServers\":{\"a\":{\"headers\":{\"Accept\":\"application/json\","
		"\"Authorization\":\"Bearer ${MY_TOKEN}\"},\"url\":\"https://x.example/mcp\"}}}",
		"{\"cleanupPeriodDays\":20,\"includeCoAuthoredBy\":false,\"model\":\"opus\","
		"\"outputStyle\":\"Explanatory\"}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *notes;
		const char *result = filtered(rows[i], &notes);

		CHECK_CASE_STRING(normalise_json(&arena, result), rows[i], rows[i]);
		CHECK_CASE_STRING(notes, "", rows[i]);
	}
}

static void test_file_names(void)
{
	static const struct {
		const char *name;
		bool directory;
		bool in_modules;
		bool refused;
	} rows[] = {
		{ ".git", true, false, true },
		{ ".git", false, false, true },
		{ ".git", true, true, true },
		{ ".gitignore", false, false, false },
		{ ".env", false, false, true },
		{ ".env", false, true, true },
		{ ".env.example", false, false, false },
		{ "server.pem", false, false, true },
		{ "server.pem", false, true, false },
		{ "secrets", true, false, false },
		{ "SKILL.md", false, false, false },
		{ ".mcp.json", false, false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE(!claude_name_refused(rows[i].name, rows[i].directory,
						rows[i].in_modules) == !rows[i].refused,
			   rows[i].name);
}

// A NUL does not hide a secret, neither in a text nor in a program.
static void test_bytes(void)
{
	static const char *const heads[] = { "a\nb ", "\x7f"
						      "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0>\0\1\0\0" };
	static const size_t lengths[] = { 4, 23 };

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		for (int secret = 0; secret < 2; secret++) {
			char bytes[256] = "";
			const char *content;
			const char *why;
			enum claude_part_kind kind;
			size_t length = lengths[i];

			memcpy(bytes, heads[i], length);
			length += (size_t)snprintf(bytes + length, 100, "%s%s",
						   secret ? "gh"
							    "p_"
							  : "word",
						   random_text(36));
			kind = claude_judge_bytes(&arena, "a.md", bytes, length + 1, false,
						  &content, &why);
			CHECK((kind == CLAUDE_PART_LEFT_OUT) == secret);
		}
}

static void test_file_contents(void)
{
	const char *value = arena_strdup(&arena, random_text(16));
	const char *token = arena_printf(&arena, "ghp_%s", random_text(36));
	const struct {
		const char *name;
		const char *text; // %s is a token
		enum claude_part_kind wanted;
		const char *why;
	} rows[] = {
		{ "hook.sh", "#!/bin/sh\ncurl -H 'X: %s' x\n", CLAUDE_PART_LEFT_OUT,
		  "it contains something like a secret" },
		{ "hook", "#!/bin/sh\nDB_PASSWORD=Tr0ub4dor_and3 run\n", CLAUDE_PART_LEFT_OUT,
		  "it contains something like a secret" },
		{ "hook.sh", "#!/bin/sh\nTOKEN=$(gh auth token)\nKEY=\"$1\"\n", CLAUDE_PART_HOST,
		  NULL },
		{ "a.js", "const token = process.env.TOKEN;\nconst apiKey = getKey(x);\n",
		  CLAUDE_PART_HOST, NULL },
		{ "a.js", "fetch(x, {headers: {a: '%s'}})\n", CLAUDE_PART_LEFT_OUT,
		  "it contains something like a secret" },
		{ "SKILL.md", "Set `API_KEY=your-api-key`, or use `Bearer $TOKEN`.\n",
		  CLAUDE_PART_HOST, NULL },
		{ ".mcp.json",
		  "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"env\":{\"DB_PASS\":\"Tr0ub4dor_3\","
		  "\"REGION\":\"eu\"}}}}",
		  CLAUDE_PART_CLEANED, "'mcpServers.a.env.DB_PASS'" },
		{ "plugin.json", "{\"name\":\"a\",\"author\":\"Jane Doe <jane@example.org>\"}",
		  CLAUDE_PART_HOST, NULL },
		{ "data.json", "{\"a\":[\"x\",\"%s\"]}", CLAUDE_PART_CLEANED, "'a[1]'" },
		{ "data.json", "{\"a\":\"%s\",\"a\":\"x\"}", CLAUDE_PART_CLEANED,
		  "'a repeated member'" },
		{ "data.json", "[\"%s\"]", CLAUDE_PART_LEFT_OUT,
		  "it contains something like a secret" },
		{ "data.json", "{ // %s\n}", CLAUDE_PART_LEFT_OUT,
		  "it contains something like a secret" },
		{ "data.json", "{\"db\":{\"password\":\"Tr0ub4dor_3\"}}", CLAUDE_PART_CLEANED,
		  "'db.password'" },
		{ "C.JSON", "{\"db\":{\"password\":\"Tr0ub4dor_3\"}}", CLAUDE_PART_CLEANED,
		  "'db.password'" },
		{ "a.json5", "{db: {password: 'Tr0ub4dor_3'}}", CLAUDE_PART_LEFT_OUT,
		  "it contains something like a secret" },
		{ "api.json", "{\"headers\":{\"X-Request\":\"yes\"},\"token\":\"string\"}",
		  CLAUDE_PART_HOST, NULL },
		{ ".mcp.json",
		  "{\"env\":[{\"name\":\"DB_PASSWORD\",\"value\":\"Tr0ub4dor_3\"},{\"name\":"
		  "\"MODE\",\"value\":\"ro\"}]}",
		  CLAUDE_PART_CLEANED, "'env[0].value'" },
		{ ".mcp.json",
		  "{\"mcpServers\":{\"a\":{\"url\":\"https://x.example/api/mcp/s/%rQx7Zt2/mcp\"}}}",
		  CLAUDE_PART_CLEANED, "'mcpServers.a'" },
		{ "a.py", "DB_PASSWORD = \"%r\"\n", CLAUDE_PART_LEFT_OUT,
		  "it contains something like a secret" },
		{ "SKILL.md", "---\nhooks:\n  command: \"API_TOKEN=%r run\"\n---\n",
		  CLAUDE_PART_LEFT_OUT, "it contains something like a secret" },
		{ "agent.md", "---\nmcpServers:\n  env:\n    API_KEY: %r\n---\n",
		  CLAUDE_PART_LEFT_OUT, "it contains something like a secret" },
		{ "a.py", "key = '%s'\n", CLAUDE_PART_LEFT_OUT,
		  "it contains something like a secret" },
		{ "a.py", "session = 'abcdefg1 https://u:%r@h/'\n", CLAUDE_PART_LEFT_OUT,
		  "it contains something like a secret" },
		// An example, perhaps: only its line is named.
		{ "a.md", "a\nexport DB_PASSWORD=hunter22\n", CLAUDE_PART_HOST, "2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *slot = strstr(rows[i].text, "%s") ? strstr(rows[i].text, "%s")
							      : strstr(rows[i].text, "%r");
		const char *text = slot ? arena_printf(&arena, "%.*s%s%s",
						       (int)(slot - rows[i].text), rows[i].text,
						       slot[1] == 's' ? token : value, slot + 2)
					: rows[i].text;
		const char *content;
		const char *why;
		enum claude_part_kind kind =
			claude_judge_content(&arena, rows[i].name, text, false, &content, &why);

		CHECK_CASE(kind == rows[i].wanted, rows[i].text);
		CHECK_CASE_STRING(why, rows[i].why, rows[i].text);
		CHECK_CASE(!content || !strstr(content, token), "... and no token is left");
	}
}

static void test_lines(void)
{
	const char *token = arena_printf(&arena, "ghp_%s", random_text(36));
	const char *lines;

	CHECK_STRING(claude_without_secret_lines(&arena, "a\nb\n", &lines), "a\nb\n");
	CHECK(!lines);
	CHECK_STRING(claude_without_secret_lines(
			     &arena, arena_printf(&arena, "a\nuse %s\nb\n", token), &lines),
		     "a\nb\n");
	CHECK_STRING(lines, "2");
	// A private key has several lines; the last line has no newline.
	CHECK_STRING(claude_without_secret_lines(
			     &arena,
			     arena_printf(&arena,
					  "a\n-----BEGIN RSA PRIV"
					  "ATE KEY-----\nx\n-----END RSA PRIV"
					  "ATE KEY-----\nb\nDB_PASSWORD=%s\nc\ntoken: %s",
					  random_text(16), token),
			     &lines),
		     "a\nb\nc\n");
	CHECK_STRING(lines, "2-4, 6, 8");
}

// A rule of company policy that forbids something stays, without the secret in it.
static void test_policy(void)
{
	const char *secret = random_text(16);
	const char *content;
	const char *why;

	CHECK(claude_judge_content(
		      &arena, "managed-settings.json",
		      arena_printf(&arena,
				   "{\"apiKeyHelper\":\"echo %s\",\"permissions\":{\"deny\":"
				   "[\"WebFetch\",\"Bash(curl -u bob:%s *)\"]}}",
				   secret, secret),
		      true, &content, &why) == CLAUDE_PART_CLEANED);
	CHECK(content && !strstr(content, secret) && !strstr(content, "apiKeyHelper"));
	CHECK(content && strstr(content, "\"Bash(curl -u bob:* *)\"") &&
	      strstr(content, "\"WebFetch\""));
	CHECK_STRING(why, "'apiKeyHelper', 'the secret in permissions.deny[1]'");
}

static const char *secrets_in(const char *json)
{
	strings found = { 0 };

	settings_find_secrets(&arena, "f", json, &found);
	return join_lines(&arena, &found);
}

static void test_find_secrets(void)
{
	CHECK_STRING(secrets_in("{"), "");
	CHECK_STRING(secrets_in("[]"), "");
	CHECK_STRING(secrets_in("{\"env\":{\"A\":\"1\",\"API_KEY\":\"x\"}}"), "f: env: API_KEY\n");
	CHECK_STRING(secrets_in("{\"env\":{\"A\":\"ghp_0123456789abcdef0123\"}}"), "f: env: A\n");
	CHECK_STRING(secrets_in("{\"env\":{\"API_KEY\":\"${API_KEY}\",\"TOKEN\":\"\",\"KEY\":7}}"),
		     "");
	CHECK_STRING(secrets_in("{\"mcpServers\":{\"s\":{\"env\":{\"DB_PASSWORD\":\"x\"}}}}"),
		     "f: MCP server 's': DB_PASSWORD\n");
	CHECK_STRING(secrets_in("{\"mcpServers\":{\"s\":{\"headers\":{\"X-Api-Key\":\"x\"}}}}"),
		     "f: MCP server 's': X-Api-Key\n");
	CHECK_STRING(secrets_in("{\"mcpServers\":{\"s\":7,\"t\":{\"env\":[\"TOKEN\"]}}}"), "");
	// Any other place.
	CHECK_STRING(
		secrets_in(
			"{\"permissions\":{\"allow\":[\"Bash(X=ghp_0123456789abcdef0123 gh)\"]}}"),
		"f: permissions.allow[0]\n");
	// The usual place of a secret for an MCP server.
	CHECK_STRING(secrets_in("{\"mcpServers\":{\"s\":{\"headers\":"
				"{\"Authorization\":\"Bearer ghp_0123456789abcdef0123\"}}}}"),
		     "f: MCP server 's': Authorization\n");
	CHECK_STRING(secrets_in("{\"mcpServers\":{\"s\":{\"headers\":"
				"{\"Authorization\":\"Bearer ${MY_TOKEN}\"}}}}"),
		     "");
}

int main(void)
{
	test_everyday_secrets();
	test_harmless_settings();
	test_file_names();
	test_file_contents();
	test_bytes();
	test_policy();
	test_lines();
	test_find_secrets();
	arena_free(&arena);
	return check_done();
}
