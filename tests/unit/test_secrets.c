// SPDX-License-Identifier: MIT
// The detection of secrets: values that are secrets, and values that only resemble them.
#include "base/arena.h"
#include "check.h"
#include "plan/secrets/detect.h"
#include "plan/secrets/git_config.h"
#include "plan/secrets/npmrc.h"

static struct arena arena;

static void test_names(void)
{
	static const char *const secret[] = {
		"ANTHROPIC_API_KEY",
		"GITHUB_TOKEN",
		"AWS_SECRET_ACCESS_KEY",
		"DB_PASSWORD",
		"GOOGLE_APPLICATION_CREDENTIALS",
		"my_token",
		"Api-Key",
		"MYSQL_PASSWD",
		"GPG_PASSPHRASE",
		"NPM_CONFIG__AUTHTOKEN",
		"CLIENT_SECRET",
		"X-Api-Key",
		"MYSQL_PWD",
		"DB_PASS",
		"GITHUB_PAT",
		"OTEL_EXPORTER_OTLP_HEADERS",
		"ANTHROPIC_CUSTOM_HEADERS",
		"SENTRY_DSN",
		"SLACK_WEBHOOK",
		"SESSION_COOKIE",
		"dbAPIKey",
		"apikey2",
		"DATABASE_URL",
		// The word may be at the end of a long name.
		"A_VERY_LONG_NAME_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA_PASSWORD",
	};
	static const char *const harmless[] = { "",           "TERM", "EDITOR",      "LANG",
						"LC_ALL",     "PATH", "AWS_PROFILE", "AWS_REGION",
						"HTTP_PROXY", "PWD",  "OLDPWD" };

	for (size_t i = 0; i < ARRAY_SIZE(secret); i++)
		CHECK_CASE(secret_name(secret[i]), secret[i]);
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		CHECK_CASE(!secret_name(harmless[i]), harmless[i]);
}

#define TAIL "0123456789abcdefABCDEF0123456789abcdef"

static void test_values(void)
{
	static const char *const secret[][2] = {
		{ "sk-ant-api03-" TAIL, "an Anthropic key" },
		{ "sk-proj-" TAIL, "an OpenAI key" },
		{ "sk_live_" TAIL, "a Stripe key" },
		{ "ghp_" TAIL, "a GitHub token" },
		{ "github_pat_" TAIL, "a GitHub token" },
		{ "glpat-" TAIL, "a GitLab token" },
		{ "xoxb-" TAIL, "a Slack token" },
		{ "AKIA"
		  "IOSFODNN7EXAMPLE",
		  "an AWS key" },
		{ "AIza" TAIL, "a Google key" },
		{ "npm_" TAIL, "an npm token" },
		{ "pypi-" TAIL, "a PyPI token" },
		{ "hf_" TAIL, "a Hugging Face token" },
		{ "tskey-auth-" TAIL, "a Tailscale key" },
		{ "AGE-SECRET-KEY-1" TAIL, "an age key" },
		{ "-----BEGIN OPENSSH PRIVATE KEY-----\n", "a private key" },
		{ "x\n-----BEGIN RSA PRIVATE KEY-----\n", "a private key" },
		{ "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcdef", "a web token" },
		{ "https://user:word@example.org/x", "an address with a password" },
		{ "redis://:word@cache:6379", "an address with a password" },
		{ "postgres://u:p@h/db?x=1", "an address with a password" },
		{ "https://cache.example https://u:p@mine.example", "an address with a password" },
		{ "HTTPS://user:word@example.org/x", "an address with a password" },
		{ "https%3A%2F%2Fuser%3Aword%40example.org", "an address with a password" },
		{ "https%3a//user:word@example.org", "an address with a password" },
		{ "https:%2F%2Fuser:word@example.org", "an address with a password" },
		{ "https:\\/\\/user:word@example.org", "an address with a password" },
		{ "https://user%3Aword@example.org", "an address with a password" },
		{ "https://user:word%40example.org", "an address with a password" },
		{ "Bash(git clone HTTPS://user:word@example.org/*)", "an address with a password" },
		{ "https://user:${TOKEN:-word}@example.org", "an address with a password" },
		// As in HTTP headers.
		{ "Bearer ghp_" TAIL, "a GitHub token" },
		{ "Bearer sk-ant-api03-" TAIL, "an Anthropic key" },
	};
	static const char *const harmless[] = {
		"",
		"vim",
		"xterm-256color",
		"sk-",
		"sk-short",
		"AKIA",
		"npm_",
		"ghp_short",
		"https://example.org/",
		"https://user@example.org/",
		"https://example.org/a:b@c",
		"https://user:@example.org/",
		"https://user:${TOKEN}@example.org/",
		"https://user:${TOKEN:-}@example.org/",
		"https://example.org:8080/a%40b",
		"https:/user:word/example.org",
		"mailto:a@b",
		"eyJ",
		"eyJhbGciOiJIUzI1NiJ9",
		"/home/user/.ssh/id_rsa",
		"en_US.UTF-8",
		"Bearer",
		"skip-this-one-please-it-is-long",
	};

	for (size_t i = 0; i < ARRAY_SIZE(secret); i++)
		CHECK_CASE_STRING(secret_value(secret[i][0]), secret[i][1], secret[i][0]);
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		CHECK_CASE_STRING(secret_value(harmless[i]), NULL,
				  arena_printf(&arena, "harmless: %s", harmless[i]));
}

static void test_files(void)
{
	static const char *const secret[] = {
		".env",
		".env.local",
		".env.production",
		".envrc",
		"id_rsa",
		"id_ed25519",
		"server.key",
		"cert.pem",
		"store.p12",
		"store.jks",
		"keys.kdbx",
		"prod.tfvars",
		"terraform.tfstate",
		".npmrc",
		".netrc",
		".deploy_token",
		".my-token",
		"credentials.json",
		"service-account.json",
		".git-credentials",
		".pgpass",
		"prod.tfstate",
		"kubeconfig",
		"staging.kubeconfig",
		"secrets.yaml",
		"Secrets.YML",
		"master.key",
		"db.secret",
		".my.cnf",
		".dockercfg",
		"auth.json",
		"service-account-prod.json",
		"deploy-key.json",
		"client.ovpn",
		"http.keytab",
		".htpasswd",
		"credentials",
		"credentials.toml",
		"token",
		"passwords.txt",
		"API_Key.txt",
		"secring.gpg",
		"wg0.conf",
		"msal_token_cache.json",
		"login.keychain",
		".zsh_history",
		".env~",
	};
	static const char *const harmless[] = {
		".env.example",
		".env.sample",
		".env.template",
		".env.dist",
		".env.local.example",
		".environment",
		"env",
		"id_rsa.pub",
		"key.c",
		"keys.md",
		"README.md",
		"package.json",
		"pem",
		".gitignore",
		"token.c",
		"secrets.yaml.example",
		"secrets.example.yaml",
		"secrets.enc",
		"prod.tfvars.sample",
		"ca.pem",
		"keyboard.json",
		"monkey.json",
		"credentials.go",
		"secrets.py",
		"kubeconfig.go",
		"authors.json",
		"environment.ts",
		"",
	};

	static const char *const paths[] = { "a/.kube/config", "a/.docker/config.json",
					     "a/config/database.yml", "a/.svn/auth/svn.simple/1",
					     "a/.gradle/gradle.properties" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		CHECK_CASE(secret_file_path(paths[i]), paths[i]);
	for (size_t i = 0; i < ARRAY_SIZE(secret); i++)
		CHECK_CASE(secret_file_name(secret[i]), secret[i]);
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		CHECK_CASE(!secret_file_name(harmless[i]),
			   arena_printf(&arena, "harmless: %s", harmless[i]));
}

// The text without the secrets that secret_find() returns, one after the other.
static const char *masked(const char *text)
{
	struct text out = { .arena = &arena };
	size_t start;
	size_t length;

	while (secret_find(text, &start, &length)) {
		text_add_bytes(&out, text, start);
		text_add(&out, "***");
		text += start + length;
	}
	text_add(&out, text);
	return text_get(&out);
}

static void test_npmrc(void)
{
	static const char *const with[] = {
		"//registry.example/:_authToken=hunter2\n",
		"_auth = dXNlcjpodW50ZXIy",
		"save-exact=true\r\n  _password=\"x\"\r\n",
		"_auth[]=x",
		"//r.example/:_authToken=${A}${B}",
		"//r.example/:_authToken=${A}x",
		"_AUTHTOKEN=x",
		"key=-----BEGIN",
		"otp=123456",
		"registry=https://user:hunter2@r.example/\n",
		"# npm_"
		"7Qk29XvLmPq7RtYzW3bN5cY8wL2pD4aB1cE2\n",
	};
	static const char *const without[] = {
		"",
		"\n\n",
		"save-exact=true\n",
		"registry=https://r.example/\n@a:registry=https://b.example/\n",
		"//r.example/:_authToken=${NPM_TOKEN}\n",
		"//r.example/:_authToken = \"${NPM_TOKEN}\"\r\n",
		"_auth=\n_password = \n",
		"# _auth=x\n;_auth=x\n",
		"always-auth=true\n",
		"_auth",
		"=",
	};

	for (size_t i = 0; i < ARRAY_SIZE(with); i++)
		CHECK_CASE(secret_npmrc(with[i]), with[i]);
	for (size_t i = 0; i < ARRAY_SIZE(without); i++)
		CHECK_CASE(!secret_npmrc(without[i]), without[i]);
}

static void test_places(void)
{
	CHECK_STRING(masked("Bash(GITHUB_TOKEN=ghp_" TAIL " gh pr list)"),
		     "Bash(GITHUB_TOKEN=*** gh pr list)");
	CHECK_STRING(masked("MYSQL_PWD=hunter22 mysql; curl -u bot:hunter22 x"),
		     "MYSQL_PWD=*** mysql; curl -u bot:*** x");
	CHECK_STRING(masked("{\"password\": \"a b c1\", \"user\": \"x\"}"),
		     "{\"password\": \"***\", \"user\": \"x\"}");
	CHECK_STRING(masked("https://ghp_" TAIL "@github.com/a https://u:p@h/x"),
		     "https://***@github.com/a https://u:***@h/x");
	CHECK_STRING(masked("x?u=https%3A%2F%2Fu%3Apw12%40h%2Fa"),
		     "x?u=https%3A%2F%2Fu%3A***%40h%2Fa");
	CHECK_STRING(masked("run --token " TAIL " --force"), "run --token *** --force");
	CHECK_STRING(masked("-H 'Authorization: Bearer " TAIL "' x"),
		     "-H 'Authorization: Bearer ***' x");
	CHECK_STRING(masked("machine h login u password abc12"), "machine h login u password ***");
	CHECK_STRING(masked("a -----BEGIN RSA PRIV"
			    "ATE KEY-----\nx\n-----END RSA PRIV"
			    "ATE KEY----- b"),
		     "a *** b");
	CHECK_STRING(masked("<a><password>hunter22</password></a>"),
		     "<a><password>***</password></a>");
	CHECK_STRING(masked("Bash(mysql -phunter22 -e x:*)"), "Bash(mysql -p*** -e x:*)");
	CHECK_STRING(masked("Bash(sshpass -p 'hunter22' ssh:*)"), "Bash(sshpass -p '***' ssh:*)");
	CHECK_STRING(masked("docker run -p 8080:80 x; mysql -p x; docker login -p $PW; vault login "
			    "-method=oidc; ssh -p 2222 bob@h:22; app:1.2@sha256:" TAIL),
		     "docker run -p 8080:80 x; mysql -p x; docker login -p $PW; vault login "
		     "-method=oidc; ssh -p 2222 bob@h:22; app:1.2@sha256:" TAIL);
	CHECK_STRING(masked("task-" TAIL " --password-stdin x"),
		     "task-" TAIL " --password-stdin x");
}

static void test_variables(void)
{
	const char *kind;

	// These words are reported whatever the value is.
	CHECK(secret_variable("MY_KEY", "x", &kind) == SECRET_BY_NAME);
	CHECK(secret_variable("X_TOKEN_FILE", "/x", &kind) == SECRET_BY_NAME);
	CHECK(secret_variable("MYSQL_PWD", "hunter22", &kind) == SECRET_BY_NAME);
	CHECK(secret_variable("PWD", "/home/user", &kind) == SECRET_NONE);
	CHECK(secret_variable("SSH_AUTH_SOCK", "/run/user/1000/keyring/ssh", &kind) == SECRET_NONE);
	CHECK(secret_variable("GIT_AUTHOR_NAME", "Ada", &kind) == SECRET_NONE);
	CHECK(secret_variable("NOTE", "see ghp_" TAIL, &kind) == SECRET_BY_SHAPE);
	CHECK_STRING(kind, "a GitHub token");
	CHECK_STRING(secret_text("DB_PASS", "hunter22"), "a password");
	CHECK_STRING(secret_text("DB_PASS", "${DB_PASS}"), NULL);
	CHECK_STRING(secret_text("X", "MYSQL_PWD=hunter22 mysql"), "a password");
}

static const char *git_secrets(const char *text)
{
	struct text out = { .arena = &arena };
	strings found = { 0 };

	secret_git_config(&arena, text, &found);
	vec_each(name, &found)
		text_printf(&out, "%s\n", *name);
	return text_get(&out);
}

static void test_git_config(void)
{
	CHECK_STRING(git_secrets("[remote \"origin\"]\n\turl = https://ghp_" TAIL
				 "@github.com/a\n"),
		     "remote.origin.url\n");
	CHECK_STRING(
		git_secrets("[remote \"a b\"]\n\turl=https://u:p@h/a\n\tpushurl = https://u:p@h/a"),
		"remote.a.b.url\nremote.a.b.pushurl\n");
	CHECK_STRING(git_secrets(
			     "[http \"https://github.com/\"]\n\textraheader = AUTHORIZATION: basic "
			     "eDp0b2tlbi10b2tlbg==\n"),
		     "http.https://github.com/.extraheader\n");
	CHECK_STRING(git_secrets("[url \"https://u:word@h/\"]\n\tinsteadOf = gh:\n"), "url\n");
	CHECK_STRING(git_secrets(
			     "[remote \"origin\"]\n\turl = git@github.com:a/b.git\n"
			     "\tfetch = +refs/heads/*:refs/remotes/origin/*\n[user]\n\tname = A\n"
			     "# https://u:p@h/a\n[core]\n\tbare = false\n"),
		     "");
}

int main(void)
{
	test_git_config();
	test_npmrc();
	test_places();
	test_variables();
	test_names();
	test_values();
	test_files();
	arena_free(&arena);
	return check_done();
}
