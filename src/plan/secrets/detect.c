// SPDX-License-Identifier: MIT
// Detects secrets by the name of a variable, the shape of a value, and the name of a file.
#include "plan/secrets/detect.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

static const char *const secret_words[] = {
	"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL",
};

struct token_shape {
	const char *prefix;
	size_t min_length;
	const char *what;
};

static const struct token_shape token_shapes[] = {
	{ "sk-ant-", 20, "an Anthropic key" },
	{ "sk-", 24, "an API key" },
	{ "sk_live_", 16, "a Stripe key" },
	{ "rk_live_", 16, "a Stripe key" },
	{ "ghp_", 20, "a GitHub token" },
	{ "gho_", 20, "a GitHub token" },
	{ "ghu_", 20, "a GitHub token" },
	{ "ghs_", 20, "a GitHub token" },
	{ "ghr_", 20, "a GitHub token" },
	{ "github_pat_", 20, "a GitHub token" },
	{ "glpat-", 20, "a GitLab token" },
	{ "xoxb-", 16, "a Slack token" },
	{ "xoxp-", 16, "a Slack token" },
	{ "xoxa-", 16, "a Slack token" },
	{ "xapp-", 16, "a Slack token" },
	{ "AKIA", 20, "an AWS key" },
	{ "ASIA", 20, "an AWS key" },
	{ "AIza", 30, "a Google key" },
	{ "ya29.", 20, "a Google token" },
	{ "npm_", 20, "an npm token" },
	{ "pypi-", 20, "a PyPI token" },
	{ "hf_", 20, "a Hugging Face token" },
	{ "dop_v1_", 20, "a DigitalOcean token" },
	{ "tskey-", 16, "a Tailscale key" },
	{ "SG.", 30, "a SendGrid key" },
	{ "AGE-SECRET-KEY-1", 20, "an age key" },
	{ "-----BEGIN", 20, "a private key" },
};

const char *secret_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(secret_words); i++)
		if (strcasestr(name, secret_words[i]))
			return "its name looks like a secret's";
	return NULL;
}

// Returns whether a value contains scheme://user:password@host.
static bool has_url_password(const char *value)
{
	for (const char *authority = value; (authority = strstr(authority, "://"));) {
		const char *colon;
		const char *at;

		authority += 3;
		at = memchr(authority, '@', strcspn(authority, "/?# "));
		colon = at ? memchr(authority, ':', (size_t)(at - authority)) : NULL;
		if (colon && at - colon > 1)
			return true;
	}
	return false;
}

// Returns whether a value is a JSON Web Token: header.payload.signature, where header and payload
// are JSON objects in base64.
static bool is_web_token(const char *value)
{
	const char *dot = strchr(value, '.');

	return str_starts(value, "eyJ") && strlen(value) > 40 && dot &&
	       str_starts(dot + 1, "eyJ") && strchr(dot + 1, '.');
}

const char *secret_value(const char *value)
{
	const char *bearer = str_after(value, "Bearer ");
	size_t length;

	value = bearer ? bearer : value;
	length = strlen(value);
	for (size_t i = 0; i < ARRAY_SIZE(token_shapes); i++)
		if (length >= token_shapes[i].min_length &&
		    str_starts(value, token_shapes[i].prefix))
			return token_shapes[i].what;
	if (strstr(value, "PRIVATE KEY-----"))
		return "a private key";
	if (is_web_token(value))
		return "a web token";
	if (has_url_password(value))
		return "an address with a password";
	return NULL;
}

enum secret_sign secret_variable(const char *name, const char *value, const char **ret_kind)
{
	bool by_name = secret_name(name);

	*ret_kind = by_name ? NULL : secret_value(value);
	return by_name ? SECRET_BY_NAME : *ret_kind ? SECRET_BY_SHAPE : SECRET_NONE;
}

static const char *const key_file_names[] = {
	"id_rsa",
	"id_dsa",
	"id_ecdsa",
	"id_ed25519",
	".netrc",
	".npmrc",
	".pypirc",
	".pgpass",
	".git-credentials",
	".htpasswd",
	".vault-token",
	".credentials.json",
	"credentials.json",
	"service-account.json",
	"terraform.tfstate",
};
static const char *const key_file_endings[] = {
	".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".kdbx", ".age", ".tfvars",
};
// Examples of .env files contain no secrets.
static const char *const example_endings[] = {
	".example", ".sample", ".template", ".dist", ".defaults",
};

bool secret_file_name(const char *name)
{
	if (str_equal(name, ".env") || str_equal(name, ".envrc") || str_starts(name, ".env.")) {
		for (size_t i = 0; i < ARRAY_SIZE(example_endings); i++)
			if (str_ends(name, example_endings[i]))
				return false;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(key_file_names); i++)
		if (str_equal(name, key_file_names[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(key_file_endings); i++)
		if (str_ends(name, key_file_endings[i]))
			return true;
	return false;
}
