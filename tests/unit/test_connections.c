// SPDX-License-Identifier: MIT
// Connections: addresses with logins in every spelling, what the box reaches, files of
// certificates, the tables, and the variables of a plan.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "config/config.h"
#include "config/names.h"
#include "fixture.h"
#include "plan/claude/variables.h"
#include "plan/connections/certificates.h"
#include "plan/connections/endpoint.h"
#include "plan/connections/tables.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/secrets/detect.h"

#include <string.h>

static struct arena arena;

static void test_logins(void)
{
	static const char *const refused[] = {
		"http://user:word@proxy.example:3128",
		"http://user@proxy.example:3128",
		"http://:word@proxy.example",
		"user:word@proxy.example:3128",
		"http://user:word%40proxy.example:3128",
		"http://user%3Aword%40proxy.example",
		"http://user:word%2540proxy.example",
		"http://user:wo/rd@proxy.example:3128",
		"http://user:wo?rd@proxy.example:3128",
		"http://user:wo#rd@proxy.example:3128",
		"http://user:word@[2001:db8::1]:3128",
		"http://user:word\\@proxy.example",
		"http:\\\\user:word@proxy.example",
		"http://proxy.example:3128/?token=hunter2hunter2",
		"http://proxy.example:3128/t/hunter2",
		"http://proxy.example:word",
		"http://proxy.example:31280000",
		"http://user:word",
		"http://pro xy.example",
		"http://proxy.example\n:3128",
		"http://proxy.example\x1b[31m",
		"http://pr\xc3\xb6xy.example",
		"http://[::1",
		"http://[fe80::1%eth0]:3128",
		"http://[x]:80",
		"://proxy.example",
		"ht tp://proxy.example",
		"http://",
		"http:///path",
		"http://$(id)",
		"http://a,b",
	};
	static const char *const passing[] = {
		"http://proxy.example:3128",   "http://proxy.example:3128/",
		"proxy.example:3128",          "proxy.example",
		"http://10.1.2.3:3128",        "https://squid-eu-west-1.corp.example:8080",
		"socks5h://127.0.0.1:1080",    "http://[2001:db8::1]:3128",
		"http://[fe80::1]:3128",       "http://localhost:8888",
		"HTTP://Proxy.Example.:3128",  "https://gateway.corp.example/anthropic",
		"https://llm.example/v1/team", "http://proxy_1.example:3128",
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct endpoint endpoint = endpoint_parse(&arena, refused[i]);

		CHECK_CASE(endpoint.login || endpoint.odd, refused[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(passing); i++) {
		struct endpoint endpoint = endpoint_parse(&arena, passing[i]);

		CHECK_CASE(!endpoint.login && !endpoint.odd, passing[i]);
	}
}

// NO_PROXY is a list of hosts. Anything else in it may be a secret.
static void test_lists(void)
{
	static const struct {
		const char *list;
		const char *why; // NULL: it passes
	} rows[] = {
		{ "", NULL },
		{ "*", NULL },
		{ "localhost,127.0.0.1,::1,.corp.example,10.0.0.0/8", NULL },
		{ "localhost, *.corp.example , [fd00::1]:8080 fd00::/8,", NULL },
		{ "bob:pw@proxy.example", "it looks like a secret" },
		{ "localhost,bob%40proxy.example", "it looks like a secret" },
		{ "localhost,ghp_Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7", "it looks like a secret" },
		{ "localhost\nHTTP_PROXY=x", "it has control characters" },
		{ "localhost\t", "it has control characters" },
		{ "b\xc3\xbc"
		  "cher.example",
		  "it has control characters" },
		{ "localhost\x7f", "it has control characters" },
		{ "http://proxy.example/path", "an entry of it is no host, domain or address" },
		{ "10.0.0.0/8/9", "an entry of it is no host, domain or address" },
		{ "10.0.0.0/x", "an entry of it is no host, domain or address" },
		{ "localhost,$(id)", "an entry of it is no host, domain or address" },
		{ "localhost;other", "an entry of it is no host, domain or address" },
		{ "a.example,b?c", "an entry of it is no host, domain or address" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(endpoint_list_problem(rows[i].list), rows[i].why, rows[i].list);
}

static void test_obstacles(void)
{
	static const struct {
		const char *address;
		const char *option; // NULL: the box reaches it, as far as can be known
	} rows[] = {
		{ "http://proxy.example:3128", NULL },
		{ "http://203.0.113.9:3128", NULL },
		{ "http://10.0.0.1:3128", "--network full" },
		{ "http://[fd00::1]:3128", "--network full" },
		{ "http://[::ffff:10.0.0.1]:3128", "--network full" },
		{ "http://169.254.169.254", "--network full" },
		{ "http://127.0.0.1:3128", "--host-port 3128" },
		{ "http://localhost:3128", "--host-port 3128" },
		{ "http://LocalHost.", "--host-port 80" },
		{ "http://a.localhost:3128", "--host-port 3128" },
		{ "127.0.0.1", "--network full" },
		{ "http://127.0.0.53:3128", "--network full" },
		{ "http://[::1]:3128", "--network full" },
		{ "http://127.0.0.1:8080", NULL },
		{ "http://localhost:8080", NULL },
	};
	const struct config_port port = { .number = 8080 };
	struct world world;

	world_debian(&world);
	world_connect(&world);
	vec_push(&world.arena, &world.config.host_ports, port);
	world.config.network = NETWORK_INET;
	CHECK(world_plan(&world));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct endpoint endpoint = endpoint_parse(&arena, rows[i].address);
		const char *option;
		const char *why = endpoint_obstacle(&arena, &world.plan, &endpoint, &option);

		CHECK_CASE_STRING(why ? option : NULL, rows[i].option, rows[i].address);
	}
	world_free(&world);
}

// The start of a certificate: a sequence in a sequence, and the version.
#define CERTIFICATE_START "MIIBIDCBx6ADAgECAhRcanary"
#define PEM(kind)         "-----BEGIN " kind "-----\n" CERTIFICATE_START "\n-----END " kind "-----\n"

static void test_certificates(void)
{
	static const struct {
		const char *text;
		bool passes;
	} rows[] = {
		{ PEM("CERTIFICATE"), true },
		{ "# Subject: Corp\n" PEM("CERTIFICATE") PEM("TRUSTED CERTIFICATE"), true },
		{ "MD5 Fingerprint=C5:A1:B7:FF:73:DD:D6:D7:34:32:18:DF:FC:3C:AD:88\n" PEM(
			  "CERTIFICATE"),
		  true },
		{ PEM("CERTIFICATE") PEM("PRIVATE KEY"), false },
		{ PEM("RSA PRIVATE KEY") PEM("CERTIFICATE"), false },
		{ PEM("OPENSSH PRIVATE KEY"), false },
		{ PEM("CERTIFICATE") "-----begin private key-----\n", false },
		{ "password", false },
		{ "", false },
		{ "Corp CA\r\n=======\r\n" PEM("CERTIFICATE"), true },
		{ "## SHA256: a3f328c21e39ddd1f2be1cea43ac0dec819eaa20a90425d7da901a11531b3aa5\n" PEM(
			  "CERTIFICATE"),
		  true },
		{ "Certificate:\n    Data:\n        Serial Number:\n            0b:f3:9b\n"
		  "        Issuer: C = DE, CN = Corp\n" PEM("CERTIFICATE"),
		  true },
		{ "subject=CN = Corp\nserial=0BF39B05405827AD2F4729E859B44DEB5F174D88\n" PEM(
			  "CERTIFICATE") PEM("X509 CRL"),
		  true },
		{ PEM("CERTIFICATE") "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfi"
				     "CYzQ8rT5uWk3Lm\n",
		  false },
		{ PEM("CERTIFICATE") "password: Xk9mQ2"
				     "vL8pZ\n",
		  false },
		{ PEM("CERTIFICATE") "# password: Xk9mQ2"
				     "vL8pZ\n",
		  false },
		{ PEM("CERTIFICATE") "export PGPASSWORD=Xk9mQ2"
				     "vL\n",
		  false },
		{ PEM("CERTIFICATE") "a word\n", false },
		{ PEM("CERTIFICATE") PEM("PRIVATE  KEY"), false },
		{ PEM("CERTIFICATE") PEM("PUBLIC KEY"), false },
		{ PEM("CERTIFICATE") "MC4CAQAwBQYDK2VwBCIEINGJ1uSpT6AMhg4yuHhvlweR4EFFuZvEXt\n",
		  false },
		{ PEM("CERTIFICATE") "# MC4CAQAwBQYDK2VwBCIEINGJ1uSpT6AMhg4yuHhvlweR4EFFuZvEXt\n",
		  false },
		{ PEM("CERTIFICATE") "privateExponent:\n    0b:f3:9b:05:40:58:27\n", false },
		{ PEM("CERTIFICATE") "    0b:f3:9b:05:40:58:27\n", false },
		{ PEM("CERTIFICATE") "{\"kty\":\"OKP\",\"d\":\"nWGxne\"}\n", false },
		{ "-----BEGIN CERTIFICATE-----\nMC4CAQAwBQYDK2VwBCIEINGJ\n-----END CERTIFICATE-----\n",
		  false },
		{ "-----BEGIN CERTIFICATE-----\n" CERTIFICATE_START "\npassword: x\n"
		  "-----END CERTIFICATE-----\n",
		  false },
		{ "-----BEGIN CERTIFICATE-----\n" CERTIFICATE_START "\n", false },
		{ PEM("CERTIFICATE") "https://user:hunter2hunter2@proxy.example\n", false },
		{ PEM("CERTIFICATE") "x gh"
				     "p_k3Rz9QmV1xT7bN5cY8wL2pD4sF6hJ0aG1eU3\n",
		  false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE(!certificate_problem(&arena, rows[i].text) == rows[i].passes,
			   rows[i].text);
}

static bool is_reason(const char *text)
{
	return text && *text && strlen(text) < 60;
}

static void check_rows(const struct variable_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		CHECK_CASE(is_reason(rows[i].why), rows[i].name);
		CHECK_CASE(!variable_row_find(reserved_variables, reserved_variable_count,
					      rows[i].name),
			   rows[i].name);
	}
}

// No variable of Claude that passes logs in, names a program, or undoes a setting of the box.
static void test_tables(void)
{
	static const char *const never[] = {
		"CLAUDE_CODE_SUBPROCESS_ENV_SCRUB",
		"CLAUDE_CONFIG_DIR",
		"CLAUDE_CODE_PROCESS_WRAPPER",
		"CLAUDE_CODE_SHELL_PREFIX",
		"CLAUDE_CODE_SHELL",
		"ANTHROPIC_CUSTOM_HEADERS",
		"ANTHROPIC_UNIX_SOCKET",
		"CLAUDE_CODE_CLIENT_KEY",
		"CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
		"CLAUDE_CODE_SESSION_ID",
		"CLAUDE_CODE_ENTRYPOINT",
		"CLAUDE_CODE_SSE_PORT",
		"CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
		"ANTHROPIC_FOUNDRY_API_KEY",
		"DISABLE_OTHER_PROGRAM",
		"AWS_REGION",
		"OTEL_EXPORTER_OTLP_ENDPOINT",
		"ANTHROPIC_IDENTITY_TOKEN",
	};

	check_rows(claude_variables, claude_variable_count);
	check_rows(settings_variables, settings_variable_count);
	check_rows(proxy_variables, proxy_variable_count);
	check_rows(login_variables, login_variable_count);
	check_rows(refused_variables, refused_variable_count);
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		CHECK_CASE(!claude_variable_find(never[i], "1"), never[i]);
	for (size_t i = 0; i < claude_variable_count; i++)
		CHECK_CASE(!variable_row_find(refused_variables, refused_variable_count,
					      claude_variables[i].name),
			   claude_variables[i].name);
	for (size_t i = 0; i < certificate_table_count; i++)
		CHECK_CASE(is_reason(certificate_table[i].why), certificate_table[i].name);
	for (size_t i = 0; i < cloud_table_count; i++) {
		CHECK_CASE(is_reason(cloud_table[i].why), cloud_table[i].name);
		CHECK_CASE(claude_variable_find(cloud_table[i].enable, "1") &&
				   claude_variable_find(cloud_table[i].skip, "1"),
			   cloud_table[i].name);
	}
	CHECK(claude_variable_find("CLAUDE_CODE_MAX_RETRIES", "3"));
	CHECK(!claude_variable_find("CLAUDE_CODE_MAX_RETRIES", "a long text that is no number"));
}

static const struct plan_left_out *find_left_out(const struct world *world, const char *what)
{
	vec_each(row, &world->plan.left_out) {
		if (strstr(row->what, what))
			return row;
	}
	return NULL;
}

static const char *left_out_option(const struct world *world, const char *what)
{
	const struct plan_left_out *row = find_left_out(world, what);

	return row ? row->option : "no row";
}

static void test_base_url(void)
{
	static const char *const hostile[] = {
		"ANTHROPIC_BASE_URL=https://user:word@gateway.example",
		"ANTHROPIC_BASE_URL=https://gateway.example/t/hunter2",
		"ANTHROPIC_BASE_URL=https://gateway.example/k3Rz9QmV1xT7bN5cY8wL2pD4",
		"ANTHROPIC_BASE_URL=https://gateway.example/\x1b]0;x",
	};
	struct world world;

	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		const struct plan_left_out *row;

		world_debian(&world);
		world_variable(&world, hostile[i]);
		CHECK(world_plan(&world));
		// Claude must not use Anthropic's own address instead.
		CHECK_CASE(str_ends(plan_variable(&world.plan, "ANTHROPIC_BASE_URL"), ".invalid/"),
			   hostile[i]);
		row = find_left_out(&world, "ANTHROPIC_BASE_URL");
		CHECK_STRING(row ? row->what : NULL, "ANTHROPIC_BASE_URL");
		CHECK_STRING(row ? row->option : NULL, "CLAUDEBOX_EXTRA_ENV=ANTHROPIC_BASE_URL");
		world_free(&world);
	}
	// The filter of the settings removes the address.
	world_debian(&world);
	world.facts.user_claude.settings_json =
		"{\"env\":{\"ANTHROPIC_BASE_URL\":\"https://canary@gateway.example\","
		"\"HTTPS_PROXY\":\"http://canary@proxy.example\"}}";
	CHECK(world_plan(&world));
	CHECK(str_ends(plan_variable(&world.plan, "ANTHROPIC_BASE_URL"), ".invalid/"));
	vec_each(file, &world.plan.state.files)
		CHECK(!strstr(file->alone.content, "canary"));
	CHECK(world.plan.state.files.count > 0);
	world_free(&world);

	world_debian(&world);
	world_variable(&world, hostile[0]);
	world.config.extra_env = "ANTHROPIC_BASE_URL";
	CHECK(world_plan(&world));
	CHECK_STRING(plan_variable(&world.plan, "ANTHROPIC_BASE_URL"),
		     "https://user:word@gateway.example");
	CHECK(!find_left_out(&world, "ANTHROPIC_BASE_URL"));
	world_free(&world);
}

static void test_clouds(void)
{
	struct world world;

	world_debian(&world);
	world_variable(&world, "CLAUDE_CODE_USE_BEDROCK=1");
	world_variable(&world, "AWS_REGION=eu-west-1");
	world_variable(&world, "AWS_SECRET_ACCESS_KEY=k3Rz9QmV1xT7bN5cY8wL2pD4sF6hJ0aG1eU3kkkk");
	world_variable(&world, "AWS_ACCESS_KEY_ID=x");
	CHECK(world_plan(&world));
	CHECK_STRING(plan_variable(&world.plan, "CLAUDE_CODE_USE_BEDROCK"), "1");
	CHECK_STRING(plan_variable(&world.plan, "AWS_REGION"), "eu-west-1");
	CHECK(!plan_variable(&world.plan, "AWS_SECRET_ACCESS_KEY"));
	CHECK_STRING(left_out_option(&world, "credentials of Amazon Bedrock"),
		     "CLAUDEBOX_EXTRA_ENV=AWS_ACCESS_KEY_ID,AWS_SECRET_ACCESS_KEY");
	CHECK(!find_left_out(&world, "variables: "));
	world_free(&world);

	world_debian(&world);
	world_variable(&world, "CLAUDE_CODE_USE_BEDROCK=0");
	world_variable(&world, "AWS_REGION=eu-west-1");
	CHECK(world_plan(&world));
	CHECK(!plan_variable(&world.plan, "AWS_REGION"));
	CHECK(!find_left_out(&world, "credentials of"));
	world_free(&world);

	world_debian(&world);
	world_variable(&world, "CLAUDE_CODE_USE_VERTEX=1");
	world_variable(&world, "GOOGLE_APPLICATION_CREDENTIALS=" HOME "/key.json");
	world_variable(&world, "CLAUDE_CODE_USE_FOUNDRY=1");
	CHECK(world_plan(&world));
	CHECK_STRING(
		left_out_option(&world, "credentials of Google Vertex AI"),
		"CLAUDEBOX_EXTRA_ENV=GOOGLE_APPLICATION_CREDENTIALS with --mount-ro ~/key.json");
	CHECK_STRING(left_out_option(&world, "credentials of Microsoft Foundry"),
		     "--mount-ro ~/.azure");
	world_free(&world);

	world_debian(&world);
	world_variable(&world, "CLAUDE_CODE_USE_FOUNDRY=1");
	world.facts.secrets.count = 0;
	CHECK(world_plan(&world));
	CHECK_STRING(left_out_option(&world, "credentials of Microsoft Foundry"),
		     "set ANTHROPIC_FOUNDRY_API_KEY, and "
		     "CLAUDEBOX_EXTRA_ENV=ANTHROPIC_FOUNDRY_API_KEY");
	world_free(&world);

	// A gateway logs in.
	world_debian(&world);
	world_variable(&world, "CLAUDE_CODE_USE_BEDROCK=1");
	world_variable(&world, "CLAUDE_CODE_SKIP_BEDROCK_AUTH=1");
	CHECK(world_plan(&world));
	CHECK(!find_left_out(&world, "credentials of"));
	world_free(&world);

	// The switch is in the user's settings.
	world_debian(&world);
	world.facts.user_claude.settings_json = "{\"env\":{\"CLAUDE_CODE_USE_BEDROCK\":\"1\"}}";
	world_variable(&world, "AWS_PROFILE=work");
	CHECK(world_plan(&world));
	CHECK_STRING(left_out_option(&world, "credentials of Amazon Bedrock"),
		     "CLAUDEBOX_EXTRA_ENV=AWS_PROFILE with --mount-ro ~/.aws");
	world_free(&world);
}

static const struct plan_variable *find_variable(const struct world *world, const char *name)
{
	vec_each(variable, &world->plan.variables) {
		if (str_equal(variable->name, name))
			return variable;
	}
	return NULL;
}

// The login of the API is a secret, also if its value looks like a word.
static void test_logins_are_secret(void)
{
	struct world world;

	for (size_t i = 0; i < login_variable_count; i++) {
		const struct plan_variable *variable;

		world_debian(&world);
		world_variable(&world, arena_printf(&arena, "%s=word", login_variables[i].name));
		CHECK(world_plan(&world));
		variable = find_variable(&world, login_variables[i].name);
		CHECK_CASE(variable && variable->secret, login_variables[i].name);
		world_free(&world);
	}
}

// A file that nothing has examined does not come along.
static void test_unexamined_certificates(void)
{
	struct world world;
	const struct certificate_facts bad = { .path = HOME "/ca.pem",
					       .origin = "NODE_EXTRA_CA_CERTS",
					       .problem = "the file has a private key in it" };

	world_debian(&world);
	world_variable(&world, "NODE_EXTRA_CA_CERTS=" HOME "/ca.pem");
	world_variable(&world, "CURL_CA_BUNDLE=ca.pem");
	vec_push(&world.arena, &world.facts.certificates, bad);
	CHECK(world_plan(&world));
	CHECK(!plan_provides(&world.plan, HOME "/ca.pem"));
	CHECK(!plan_variable(&world.plan, "NODE_EXTRA_CA_CERTS"));
	CHECK_STRING(find_left_out(&world, "NODE_EXTRA_CA_CERTS=~/ca.pem")->why, bad.problem);
	CHECK_STRING(find_left_out(&world, "CURL_CA_BUNDLE=ca.pem")->why, "it is no absolute path");
	world_free(&world);
}

static bool has_change(const struct world *world, const char *wanted)
{
	vec_each(change, &world->plan.changes) {
		if (str_equal(*change, wanted))
			return true;
	}
	return false;
}

// The login is a change when it first appears, and when it is gone.
static void test_login_in_approval(void)
{
	static const char line[] = "login " HOME "/.claude/.credentials.json";
	struct world world;

	for (int present = 0; present < 2; present++) {
		world_debian(&world);
		world.facts.user_claude.has_credentials = present;
		world.facts.state.approved = present ? "network full\n"
						     : arena_printf(&arena, "%s\n", line);
		CHECK(world_plan(&world));
		CHECK(has_change(&world, arena_printf(&arena, "%s %s", present ? "+" : "-", line)));
		world.facts.state.approved = present ? arena_printf(&arena, "%s\n", line) : "";
		CHECK(world_plan(&world));
		CHECK(!has_change(&world, arena_printf(&arena, "+ %s", line)));
		world_free(&world);
	}
}

int main(void)
{
	test_logins();
	test_lists();
	test_obstacles();
	test_certificates();
	test_tables();
	test_base_url();
	test_clouds();
	test_logins_are_secret();
	test_unexamined_certificates();
	test_login_in_approval();
	arena_free(&arena);
	return check_done();
}
