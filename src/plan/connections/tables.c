// SPDX-License-Identifier: MIT
// The tables of connections, each row with its reason.
#include "plan/connections/tables.h"

#include "base/arena.h"

#include <strings.h>

const struct variable_row proxy_variables[] = {
	{ "HTTP_PROXY", "proxy" }, { "HTTPS_PROXY", "proxy" },
	{ "ALL_PROXY", "proxy" },  { "NO_PROXY", "hosts without a proxy" },
	{ "http_proxy", "proxy" }, { "https_proxy", "proxy" },
	{ "all_proxy", "proxy" },  { "no_proxy", "hosts without a proxy" },
};
const size_t proxy_variable_count = ARRAY_SIZE(proxy_variables);

bool proxy_variable_is_list(const char *name)
{
	return strcasecmp(name, "NO_PROXY") == 0;
}

const struct certificate_row certificate_table[] = {
	{ "SSL_CERT_FILE", "openssl, curl, python, go, ruby, uv", true },
	{ "NIX_SSL_CERT_FILE", "programs of Nix", true },
	{ "SSL_CERT_DIR", "openssl, go" },
	{ "NODE_EXTRA_CA_CERTS", "node, Claude Code" },
	{ "REQUESTS_CA_BUNDLE", "python-requests, pip" },
	{ "CURL_CA_BUNDLE", "curl, python-requests" },
	{ "GIT_SSL_CAINFO", "git" },
	{ "GIT_SSL_CAPATH", "git" },
	{ "PIP_CERT", "pip" },
	{ "AWS_CA_BUNDLE", "the programs of AWS, Bedrock" },
	{ "CARGO_HTTP_CAINFO", "cargo" },
	{ "DENO_CERT", "deno" },
	{ "npm_config_cafile", "npm" },
	{ "NPM_CONFIG_CAFILE", "npm" },
	{ "BUNDLE_SSL_CA_CERT", "bundler" },
	{ "HEX_CACERTS_PATH", "hex" },
	{ "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "gRPC" },
	{ "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "the programs of Google Cloud" },
};
const size_t certificate_table_count = ARRAY_SIZE(certificate_table);

const struct variable_row login_variables[] = {
	{ "ANTHROPIC_API_KEY", "credentials for Claude" },
	{ "ANTHROPIC_AUTH_TOKEN", "credentials for Claude" },
	{ "CLAUDE_CODE_OAUTH_TOKEN", "credentials for Claude" },
};
const size_t login_variable_count = ARRAY_SIZE(login_variables);

#define PROGRAM "it names a program of the host"
#define FILES   "it names files of the host"

// CLAUDE_CODE_SUBPROCESS_ENV_SCRUB and CLAUDE_CONFIG_DIR are reserved (src/config/names.c).
// Variables that Claude Code sets for its own child processes are in no table: they describe
// another session.
const struct variable_row refused_variables[] = {
	{ "ANTHROPIC_CUSTOM_HEADERS", "headers often log in" },
	{ "ANTHROPIC_UNIX_SOCKET", "it names a socket of the host" },
	{ "ANTHROPIC_IDENTITY_TOKEN*", "it logs in" },
	{ "CLAUDE_CODE_CLIENT_CERT", "it logs in" },
	{ "CLAUDE_CODE_CLIENT_KEY*", "it logs in" },
	{ "CLAUDE_CODE_PROCESS_WRAPPER", PROGRAM },
	{ "CLAUDE_CODE_SHELL", PROGRAM },
	{ "CLAUDE_CODE_SHELL_PREFIX", PROGRAM },
	{ "CLAUDE_CODE_TEAMMATE_COMMAND", PROGRAM },
	{ "CLAUDE_ENV_FILE", FILES },
	{ "CLAUDE_CODE_PLUGIN_DIRS", FILES },
	{ "CLAUDE_CODE_PLUGIN_SEED_DIR", FILES },
	{ "CLAUDE_CODE_DEBUG_LOGS_DIR", FILES },
	{ "CLAUDE_CODE_REMOTE_SETTINGS_PATH", FILES },
};
const size_t refused_variable_count = ARRAY_SIZE(refused_variables);

#define AWS_REGIONS                                \
	{                                          \
		"AWS_REGION", "AWS_DEFAULT_REGION" \
	}
#define AWS_KEYS "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"
#define WHOLE    "they open the whole cloud account, not only Claude"

const struct cloud_row cloud_table[] = {
	{ "Amazon Bedrock",
	  "CLAUDE_CODE_USE_BEDROCK",
	  "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
	  AWS_REGIONS,
	  { "AWS_BEARER_TOKEN_BEDROCK", AWS_KEYS },
	  "~/.aws",
	  WHOLE },
	{ "Amazon Bedrock (Mantle)",
	  "CLAUDE_CODE_USE_MANTLE",
	  "CLAUDE_CODE_SKIP_MANTLE_AUTH",
	  AWS_REGIONS,
	  { "AWS_BEARER_TOKEN_BEDROCK", AWS_KEYS },
	  "~/.aws",
	  WHOLE },
	{ "Claude on AWS",
	  "CLAUDE_CODE_USE_ANTHROPIC_AWS",
	  "CLAUDE_CODE_SKIP_ANTHROPIC_AWS_AUTH",
	  AWS_REGIONS,
	  { "ANTHROPIC_AWS_API_KEY", AWS_KEYS },
	  "~/.aws",
	  WHOLE },
	{ "Google Vertex AI",
	  "CLAUDE_CODE_USE_VERTEX",
	  "CLAUDE_CODE_SKIP_VERTEX_AUTH",
	  { "CLOUD_ML_REGION", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT" },
	  { "GOOGLE_APPLICATION_CREDENTIALS" },
	  "~/.config/gcloud",
	  WHOLE },
	{ "Claude on Google Cloud",
	  "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD",
	  "CLAUDE_CODE_SKIP_ANTHROPIC_GOOGLE_CLOUD_AUTH",
	  { "CLOUD_ML_REGION", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT" },
	  { "GOOGLE_APPLICATION_CREDENTIALS" },
	  "~/.config/gcloud",
	  WHOLE },
	{ "Microsoft Foundry",
	  "CLAUDE_CODE_USE_FOUNDRY",
	  "CLAUDE_CODE_SKIP_FOUNDRY_AUTH",
	  { NULL },
	  { "ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_AUTH_TOKEN", "AZURE_CLIENT_ID",
	    "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID" },
	  "~/.azure",
	  WHOLE },
};
const size_t cloud_table_count = ARRAY_SIZE(cloud_table);
