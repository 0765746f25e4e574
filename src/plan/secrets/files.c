// SPDX-License-Identifier: MIT
// Names of files that usually contain secrets. Examples and templates of them do not.
#include "plan/secrets/files.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

static const char *const secret_files[] = {
	// Variables
	".env",
	".env.*",
	".envrc",
	"*.env",
	".env~",
	".flaskenv",
	".dev.vars",
	// Private keys and key stores
	"id_rsa",
	"id_dsa",
	"id_ecdsa",
	"id_ecdsa_sk",
	"id_ed25519",
	"id_ed25519_sk",
	"*.pem",
	"*.key",
	"*.p12",
	"*.pfx",
	"*.p8",
	"*.jks",
	"*.keystore",
	"*.ppk",
	"*.kdbx",
	"*.age",
	"*.keytab",
	"*.ovpn",
	"*.gpg",
	"*.keychain",
	"*.keychain-db",
	"wg0.conf",
	"wg1.conf",
	"deploy_key",
	"deploy-key",
	"*-key.json",
	"*_key.json",
	// Passwords and tokens of programs
	".netrc",
	"_netrc",
	".npmrc",
	".yarnrc.yml",
	".pypirc",
	".pgpass",
	".my.cnf",
	".mylogin.cnf",
	".git-credentials",
	".htpasswd",
	".vault-token",
	".*_token",
	".*-token",
	".dockercfg",
	".dockerconfigjson",
	".s3cfg",
	".boto",
	".databrickscfg",
	".rclone.conf",
	"rclone.conf",
	".terraformrc",
	".esmtprc",
	".msmtprc",
	".fetchmailrc",
	".credentials",
	"credentials",
	"credentials.json",
	".credentials.json",
	"credentials.toml",
	"credentials.yml",
	"credentials.yaml",
	"credentials.xml",
	"auth.json",
	"token.json",
	"tokens.json",
	"client_secret*.json",
	"service-account*.json",
	"service_account*.json",
	"serviceaccount*.json",
	"gcp-credentials*.json",
	"google-credentials*.json",
	"firebase-adminsdk*.json",
	"*-firebase-adminsdk-*.json",
	"publishsettings",
	"*.publishsettings",
	"credentials.tfrc.json",
	"token",
	"token.txt",
	"tokens.txt",
	".token",
	"password",
	"password.txt",
	"passwords",
	"passwords.txt",
	"passwords.csv",
	"apikey",
	"apikey.txt",
	".apikey",
	"api_key",
	"api-key",
	"api_key.txt",
	"api-key.txt",
	"api_keys.txt",
	"api-keys.txt",
	".api-key",
	".api_key",
	"oauth.json",
	"adc.json",
	"application_default_credentials.json",
	"msal_token_cache*",
	"cookies.txt",
	"cookies.sqlite",
	"storage_state.json",
	"storagestate.json",
	".bash_history",
	".zsh_history",
	".python_history",
	".psql_history",
	".mysql_history",
	".node_repl_history",
	"key.properties",
	"keystore.properties",
	// Files of secrets
	"secrets",
	"secret",
	"secret.txt",
	"secrets.txt",
	"secrets.json",
	"secrets.toml",
	"secrets.yml",
	"secrets.yaml",
	"secrets.env",
	"secrets.ini",
	"secrets.properties",
	"secret.json",
	"secret.yml",
	"secret.yaml",
	"*.secret",
	"*.secrets",
	".secret",
	".secrets",
	"local.settings.json",
	"wp-config.php",
	// Clusters and infrastructure
	"kubeconfig",
	"*.kubeconfig",
	"kubeconfig.y*ml",
	"*.tfstate",
	"*.tfstate.backup",
	"*.tfvars",
	"*.tfvars.json",
	"vault.yml",
	"vault.yaml",
	".vault_pass",
	".vault_pass.txt",
	".vault-password",
	"vault_password",
};

static const char *const example_files[] = {
	"*.example",    "*.sample",   "*.template", "*.tmpl",        "*.tpl",
	"*.dist",       "*.defaults", "*.schema",   "*.example.*",   "*.sample.*",
	"*.template.*", "*.enc",      "*.sops.*",   "*.pub",         "*public*.pem",
	"cacert*.pem",  "ca-*.pem",   "ca.pem",     "fullchain.pem", "chain.pem",
};

// Matches a name with a pattern, in which '*' stands for any text. Capitals count as small letters.
static bool matches(const char *pattern, const char *name)
{
	for (; *pattern && *pattern != '*'; pattern++, name++)
		if (tolower((unsigned char)*pattern) != tolower((unsigned char)*name))
			return false;
	if (*pattern == '\0')
		return *name == '\0';
	pattern++;
	if (!strchr(pattern, '*')) { // the last one: only the end can differ
		size_t length = strlen(name);
		size_t rest = strlen(pattern);

		return rest <= length && strcasecmp(pattern, name + length - rest) == 0;
	}
	for (; *name; name++)
		if (matches(pattern, name))
			return true;
	return false;
}

// An index of the table of secret files: lists of rows, which 0xff ends. A pattern that starts with
// '*' is in the list of its last character, another one in the list of its first.
struct file_index {
	bool filled;
	unsigned char by_first[256];
	unsigned char by_last[256];
	unsigned char next[ARRAY_SIZE(secret_files)];
};
_Static_assert(ARRAY_SIZE(secret_files) < 0xff, "the index has a number for each row");

// Returns the index, which the first call fills.
static const struct file_index *get_index(void)
{
	static struct file_index index;

	if (index.filled)
		return &index;
	memset(index.by_first, 0xff, sizeof(index.by_first));
	memset(index.by_last, 0xff, sizeof(index.by_last));
	for (size_t row = 0; row < ARRAY_SIZE(secret_files); row++) {
		const char *pattern = secret_files[row];
		char last = pattern[strlen(pattern) - 1];
		unsigned char *list = pattern[0] == '*' ? &index.by_last[(unsigned char)last]
							: &index.by_first[(unsigned char)*pattern];

		index.next[row] = *list;
		*list = (unsigned char)row;
	}
	index.filled = true;
	return &index;
}

// Returns whether a name matches a row of a list.
static bool matches_list(const struct file_index *index, unsigned char row, const char *name)
{
	for (; row != 0xff; row = index->next[row])
		if (matches(secret_files[row], name))
			return true;
	return false;
}

static bool matches_secret(const char *name)
{
	const struct file_index *index = get_index();
	size_t length = strlen(name);
	unsigned char first = (unsigned char)name[0];
	unsigned char last = length ? (unsigned char)name[length - 1] : 0;

	return matches_list(index, index->by_first[tolower(first)], name) ||
	       matches_list(index, index->by_last[tolower(last)], name);
}

static bool matches_any(const char *name, const char *const *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (matches(patterns[i], name))
			return true;
	return false;
}

bool secret_file_name(const char *name)
{
	return matches_secret(name) && !matches_any(name, example_files, ARRAY_SIZE(example_files));
}

bool secret_file_path(const char *path)
{
	static const char *const endings[] = { ".docker/config.json", ".kube/config",
					       "gh/hosts.yml",        ".m2/settings.xml",
					       "config/database.yml", ".gradle/gradle.properties" };

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (str_ends(path, endings[i]))
			return true;
	return strstr(path, ".svn/auth/") || secret_file_name(path_name(path));
}
