// SPDX-License-Identifier: MIT
// The detection of secrets: values that are secrets, and values that only resemble them.
#include "base/arena.h"
#include "check.h"
#include "plan/secrets/detect.h"

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
		// The word may be at the end of a long name.
		"A_VERY_LONG_NAME_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA_PASSWORD",
	};
	static const char *const harmless[] = { "",           "TERM", "EDITOR",      "LANG",
						"LC_ALL",     "PATH", "AWS_PROFILE", "AWS_REGION",
						"HTTP_PROXY", "PASS" };

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
		{ "sk-proj-" TAIL, "an API key" },
		{ "sk_live_" TAIL, "a Stripe key" },
		{ "ghp_" TAIL, "a GitHub token" },
		{ "github_pat_" TAIL, "a GitHub token" },
		{ "glpat-" TAIL, "a GitLab token" },
		{ "xoxb-" TAIL, "a Slack token" },
		{ "AKIAIOSFODNN7EXAMPLE", "an AWS key" },
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
		"credentials.json",
		"service-account.json",
		".git-credentials",
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
		"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(secret); i++)
		CHECK_CASE(secret_file_name(secret[i]), secret[i]);
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		CHECK_CASE(!secret_file_name(harmless[i]),
			   arena_printf(&arena, "harmless: %s", harmless[i]));
}

int main(void)
{
	test_names();
	test_values();
	test_files();
	arena_free(&arena);
	return check_done();
}
