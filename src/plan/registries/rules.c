// SPDX-License-Identifier: MIT
// The table of settings, and the match of a setting with its rows.
#include "plan/registries/rules.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/registries/setting.h"
#include "plan/registries/tools.h"

#include <string.h>

#define WHERE  "where packages come from"
#define WHICH  "which versions are installed"
#define SAFER  "makes an installation safer"
#define LAYOUT "how packages are laid out in the project"
#define TRUST  "the user trusts this host"
#define RETRY  "how often and how long a download is tried"
#define LOGIN  "logs in to a registry"
#define BUNDLE "a company's own certificates"
#define LOOKS  "output of the tool"
#define OWN    "the box has its own"

const struct rule_row rule_table[] = {
	{ TOOL_NPM, RULE_ADDRESS, "registry", WHERE },
	{ TOOL_NPM, RULE_ADDRESS, "@*:registry", WHERE },
	{ TOOL_NPM, RULE_WORD, "replace-registry-host", WHERE },
	{ TOOL_NPM, RULE_WORD, "offline", WHERE },
	{ TOOL_NPM, RULE_WORD, "prefer-offline", WHERE },
	{ TOOL_NPM, RULE_WORD, "ignore-scripts", SAFER },
	{ TOOL_NPM, RULE_WORD, "min-release-age", SAFER },
	{ TOOL_NPM, RULE_WORD, "engine-strict", WHICH },
	{ TOOL_NPM, RULE_WORD, "legacy-peer-deps", WHICH },
	{ TOOL_NPM, RULE_WORD, "strict-peer-deps", WHICH },
	{ TOOL_NPM, RULE_WORD, "save-exact", WHICH },
	{ TOOL_NPM, RULE_WORD, "save-prefix", WHICH },
	{ TOOL_NPM, RULE_WORD, "before", WHICH },
	{ TOOL_NPM, RULE_WORD, "tag", WHICH },
	{ TOOL_NPM, RULE_WORD, "omit", WHICH },
	{ TOOL_NPM, RULE_WORD, "include", WHICH },
	{ TOOL_NPM, RULE_WORD, "package-lock", WHICH },
	{ TOOL_NPM, RULE_WORD, "install-strategy", LAYOUT },
	{ TOOL_NPM, RULE_WORD, "fetch-*", RETRY },
	{ TOOL_NPM, RULE_BUNDLE, "cafile", BUNDLE },
	{ TOOL_NPM, RULE_CREDENTIAL, "*_auth*", LOGIN },
	{ TOOL_NPM, RULE_CREDENTIAL, "*_password", LOGIN },
	{ TOOL_NPM, RULE_CREDENTIAL, "*:username", LOGIN },
	{ TOOL_NPM, RULE_CREDENTIAL, "*tokenHelper", "executes a program that logs in" },
	{ TOOL_NPM, RULE_CREDENTIAL, "*key", LOGIN },
	{ TOOL_NPM, RULE_CREDENTIAL, "*keyfile", LOGIN },
	{ TOOL_NPM, RULE_CREDENTIAL, "*cert", LOGIN },
	{ TOOL_NPM, RULE_CREDENTIAL, "*certfile", LOGIN },
	{ TOOL_NPM, RULE_CREDENTIAL, "otp", LOGIN },
	{ TOOL_NPM, RULE_QUIET, "*:email", "is not used to log in" },
	{ TOOL_NPM, RULE_QUIET, "email", "is not used to log in" },
	{ TOOL_NPM, RULE_QUIET, "*always-auth", "without effect in today's npm" },
	{ TOOL_NPM, RULE_QUIET, "prefix", OWN },
	{ TOOL_NPM, RULE_QUIET, "cache", OWN },
	{ TOOL_NPM, RULE_QUIET, "init-*", "for new packages only" },
	{ TOOL_NPM, RULE_QUIET, "fund", LOOKS },
	{ TOOL_NPM, RULE_QUIET, "audit", LOOKS },
	{ TOOL_NPM, RULE_QUIET, "color", LOOKS },
	{ TOOL_NPM, RULE_QUIET, "progress", LOOKS },
	{ TOOL_NPM, RULE_QUIET, "loglevel", LOOKS },
	{ TOOL_NPM, RULE_QUIET, "update-notifier", LOOKS },

	{ TOOL_YARN, RULE_ADDRESS, "npmRegistryServer", WHERE },
	{ TOOL_YARN, RULE_ADDRESS, "npmScopes * npmRegistryServer", WHERE },
	{ TOOL_YARN, RULE_WORD, "unsafeHttpWhitelist", TRUST },
	{ TOOL_YARN, RULE_WORD, "enableScripts", SAFER },
	{ TOOL_YARN, RULE_WORD, "enableHardenedMode", SAFER },
	{ TOOL_YARN, RULE_WORD, "npmMinimalAgeGate", SAFER },
	{ TOOL_YARN, RULE_WORD, "npmPreapprovedPackages", SAFER },
	{ TOOL_YARN, RULE_WORD, "checksumBehavior", SAFER },
	{ TOOL_YARN, RULE_WORD, "defaultSemverRangePrefix", WHICH },
	{ TOOL_YARN, RULE_WORD, "nodeLinker", LAYOUT },
	{ TOOL_YARN, RULE_WORD, "http*Timeout", RETRY },
	{ TOOL_YARN, RULE_WORD, "httpRetry", RETRY },
	{ TOOL_YARN, RULE_CREDENTIAL, "npmAuth*", LOGIN },
	{ TOOL_YARN, RULE_CREDENTIAL, "npmScopes * npmAuth*", LOGIN },
	{ TOOL_YARN, RULE_CREDENTIAL, "npmRegistries * npmAuth*", LOGIN },
	{ TOOL_YARN, RULE_CREDENTIAL, "https*FilePath", LOGIN },
	{ TOOL_YARN, RULE_QUIET, "npmRegistries * npmAlwaysAuth", "for logins only" },
	{ TOOL_YARN, RULE_QUIET, "npmScopes * npmAlwaysAuth", "for logins only" },
	{ TOOL_YARN, RULE_QUIET, "npmAlwaysAuth", "for logins only" },
	{ TOOL_YARN, RULE_QUIET, "npmScopes * npmPublishRegistry", "for publishing only" },
	{ TOOL_YARN, RULE_QUIET, "npmPublish*", "for publishing only" },
	{ TOOL_YARN, RULE_QUIET, "enableTelemetry", LOOKS },
	{ TOOL_YARN, RULE_QUIET, "enableColors", LOOKS },
	{ TOOL_YARN, RULE_QUIET, "enableProgressBars", LOOKS },
	{ TOOL_YARN, RULE_QUIET, "enableGlobalCache", OWN },
	{ TOOL_YARN, RULE_QUIET, "globalFolder", OWN },
	{ TOOL_YARN, RULE_QUIET, "cacheFolder", OWN },

	{ TOOL_YARN_1, RULE_ADDRESS, "registry", WHERE },
	{ TOOL_YARN_1, RULE_ADDRESS, "@*:registry", WHERE },
	{ TOOL_YARN_1, RULE_WORD, "ignore-scripts", SAFER },
	{ TOOL_YARN_1, RULE_WORD, "save-prefix", WHICH },
	{ TOOL_YARN_1, RULE_WORD, "network-timeout", RETRY },
	{ TOOL_YARN_1, RULE_CREDENTIAL, "*_auth*", LOGIN },
	{ TOOL_YARN_1, RULE_CREDENTIAL, "*_password", LOGIN },
	{ TOOL_YARN_1, RULE_CREDENTIAL, "username", LOGIN },
	{ TOOL_YARN_1, RULE_QUIET, "email", "is not used to log in" },
	{ TOOL_YARN_1, RULE_QUIET, "lastUpdateCheck", LOOKS },
	{ TOOL_YARN_1, RULE_QUIET, "disable-self-update-check", LOOKS },
	{ TOOL_YARN_1, RULE_QUIET, "init-*", "for new packages only" },
	{ TOOL_YARN_1, RULE_QUIET, "prefix", OWN },
	{ TOOL_YARN_1, RULE_QUIET, "cache-folder", OWN },

	{ TOOL_PIP, RULE_ADDRESS, "* index-url", WHERE },
	{ TOOL_PIP, RULE_ADDRESS, "* extra-index-url", WHERE },
	{ TOOL_PIP, RULE_ADDRESS, "* find-links", WHERE },
	{ TOOL_PIP, RULE_WORD, "* no-index", WHERE },
	{ TOOL_PIP, RULE_WORD, "* trusted-host", TRUST },
	{ TOOL_PIP, RULE_WORD, "* require-hashes", SAFER },
	{ TOOL_PIP, RULE_WORD, "* only-binary", SAFER },
	{ TOOL_PIP, RULE_WORD, "* no-binary", WHICH },
	{ TOOL_PIP, RULE_WORD, "* prefer-binary", WHICH },
	{ TOOL_PIP, RULE_WORD, "* pre", WHICH },
	{ TOOL_PIP, RULE_WORD, "* uploaded-prior-to", SAFER },
	{ TOOL_PIP, RULE_WORD, "* require-virtualenv", LAYOUT },
	{ TOOL_PIP, RULE_WORD, "* break-system-packages", LAYOUT },
	{ TOOL_PIP, RULE_WORD, "* timeout", RETRY },
	{ TOOL_PIP, RULE_WORD, "* retries", RETRY },
	{ TOOL_PIP, RULE_WORD, "* default-timeout", RETRY },
	{ TOOL_PIP, RULE_BUNDLE, "* cert", BUNDLE },
	{ TOOL_PIP, RULE_CREDENTIAL, "* client-cert", LOGIN },
	{ TOOL_PIP, RULE_CREDENTIAL, "* *password*", LOGIN },
	{ TOOL_PIP, RULE_QUIET, "* cache-dir", OWN },
	{ TOOL_PIP, RULE_QUIET, "* disable-pip-version-check", LOOKS },
	{ TOOL_PIP, RULE_QUIET, "* no-color", LOOKS },
	{ TOOL_PIP, RULE_QUIET, "* quiet", LOOKS },
	{ TOOL_PIP, RULE_QUIET, "* verbose", LOOKS },
	{ TOOL_PIP, RULE_QUIET, "* progress-bar", LOOKS },
	{ TOOL_PIP, RULE_QUIET, "* no-input", LOOKS },

	{ TOOL_UV, RULE_ADDRESS, "index url", WHERE },
	{ TOOL_UV, RULE_WORD, "index name", WHERE },
	{ TOOL_UV, RULE_WORD, "index default", WHERE },
	{ TOOL_UV, RULE_WORD, "index explicit", WHERE },
	{ TOOL_UV, RULE_WORD, "index format", WHERE },
	{ TOOL_UV, RULE_ADDRESS, "index-url", WHERE },
	{ TOOL_UV, RULE_ADDRESS, "extra-index-url", WHERE },
	{ TOOL_UV, RULE_ADDRESS, "find-links", WHERE },
	{ TOOL_UV, RULE_ADDRESS, "pip index-url", WHERE },
	{ TOOL_UV, RULE_ADDRESS, "pip extra-index-url", WHERE },
	{ TOOL_UV, RULE_ADDRESS, "*-install-mirror", WHERE },
	{ TOOL_UV, RULE_WORD, "no-index", WHERE },
	{ TOOL_UV, RULE_WORD, "index-strategy", WHERE },
	{ TOOL_UV, RULE_WORD, "allow-insecure-host", TRUST },
	{ TOOL_UV, RULE_WORD, "exclude-newer", SAFER },
	{ TOOL_UV, RULE_WORD, "no-build*", SAFER },
	{ TOOL_UV, RULE_WORD, "prerelease", WHICH },
	{ TOOL_UV, RULE_WORD, "resolution", WHICH },
	{ TOOL_UV, RULE_QUIET, "cache-dir", OWN },

	{ TOOL_CARGO, RULE_ADDRESS, "registries * index", WHERE },
	{ TOOL_CARGO, RULE_WORD, "registries * protocol", WHERE },
	{ TOOL_CARGO, RULE_WORD, "registry default", WHERE },
	{ TOOL_CARGO, RULE_ADDRESS, "registry index", WHERE },
	{ TOOL_CARGO, RULE_ADDRESS, "source * registry", WHERE },
	{ TOOL_CARGO, RULE_WORD, "source * replace-with", WHERE },
	{ TOOL_CARGO, RULE_ADDRESS, "source * git", WHERE },
	{ TOOL_CARGO, RULE_WORD, "source * branch", WHERE },
	{ TOOL_CARGO, RULE_WORD, "source * tag", WHERE },
	{ TOOL_CARGO, RULE_WORD, "source * rev", WHERE },
	{ TOOL_CARGO, RULE_WORD, "net retry", RETRY },
	{ TOOL_CARGO, RULE_WORD, "net offline", WHERE },
	{ TOOL_CARGO, RULE_WORD, "net git-fetch-with-cli", "how git registries are fetched" },
	{ TOOL_CARGO, RULE_WORD, "http timeout", RETRY },
	{ TOOL_CARGO, RULE_WORD, "http multiplexing", RETRY },
	{ TOOL_CARGO, RULE_WORD, "resolver incompatible-rust-versions", WHICH },
	{ TOOL_CARGO, RULE_CREDENTIAL, "registries * token", LOGIN },
	{ TOOL_CARGO, RULE_CREDENTIAL, "registries * secret-key*", LOGIN },
	{ TOOL_CARGO, RULE_CREDENTIAL, "registries * credential-provider",
	  "executes a program that logs in" },
	{ TOOL_CARGO, RULE_CREDENTIAL, "registry token", LOGIN },
	{ TOOL_CARGO, RULE_CREDENTIAL, "registry secret-key*", LOGIN },
	{ TOOL_CARGO, RULE_CREDENTIAL, "registry *credential-provider*",
	  "executes a program that logs in" },
	{ TOOL_CARGO, RULE_CREDENTIAL, "credential-alias **", "executes a program that logs in" },
	{ TOOL_CARGO, RULE_LEFT_OUT, "env **", "variables can name programs" },
	{ TOOL_CARGO, RULE_LEFT_OUT, "alias **", "changes what a command means" },
	{ TOOL_CARGO, RULE_LEFT_OUT, "target **", "can name programs: linker, runner" },
	{ TOOL_CARGO, RULE_LEFT_OUT, "profile **", "not about packages" },
	{ TOOL_CARGO, RULE_QUIET, "term **", LOOKS },
	{ TOOL_CARGO, RULE_QUIET, "cargo-new **", "for new packages only" },
	{ TOOL_CARGO, RULE_QUIET, "build jobs", "the box has its own limits" },

	{ TOOL_MAVEN, RULE_ADDRESS, "mirrors mirror url", WHERE },
	{ TOOL_MAVEN, RULE_WORD, "mirrors mirror id", WHERE },
	{ TOOL_MAVEN, RULE_WORD, "mirrors mirror mirrorOf*", WHERE },
	{ TOOL_MAVEN, RULE_WORD, "mirrors mirror layout", WHERE },
	{ TOOL_MAVEN, RULE_WORD, "mirrors mirror blocked", SAFER },
	{ TOOL_MAVEN, RULE_WORD, "profiles profile id", WHERE },
	{ TOOL_MAVEN, RULE_WORD, "profiles profile activation activeByDefault", WHERE },
	{ TOOL_MAVEN, RULE_ADDRESS, "profiles profile *epositories *epository url", WHERE },
	{ TOOL_MAVEN, RULE_WORD, "profiles profile *epositories *epository id", WHERE },
	{ TOOL_MAVEN, RULE_WORD, "profiles profile *epositories *epository layout", WHERE },
	{ TOOL_MAVEN, RULE_WORD, "profiles profile *epositories *epository releases *", WHICH },
	{ TOOL_MAVEN, RULE_WORD, "profiles profile *epositories *epository snapshots *", WHICH },
	{ TOOL_MAVEN, RULE_WORD, "activeProfiles activeProfile", WHERE },
	{ TOOL_MAVEN, RULE_WORD, "pluginGroups pluginGroup", WHERE },
	{ TOOL_MAVEN, RULE_WORD, "offline", WHERE },
	{ TOOL_MAVEN, RULE_CREDENTIAL, "servers **", LOGIN },
	{ TOOL_MAVEN, RULE_LEFT_OUT, "proxies **",
	  "may log in, and the network of the box differs" },
	{ TOOL_MAVEN, RULE_LEFT_OUT, "profiles profile properties **",
	  "properties can hold anything" },
	{ TOOL_MAVEN, RULE_QUIET, "localRepository", OWN },
	{ TOOL_MAVEN, RULE_QUIET, "interactiveMode", LOOKS },
	{ TOOL_MAVEN, RULE_QUIET, "usePluginRegistry", "without effect in today's Maven" },
	{ TOOL_MAVEN, RULE_QUIET, "mirrors mirror name", LOOKS },
	{ TOOL_MAVEN, RULE_QUIET, "profiles profile *epositories *epository name", LOOKS },

	{ TOOL_GRADLE, RULE_CREDENTIAL, "*assword*", LOGIN },
	{ TOOL_GRADLE, RULE_CREDENTIAL, "*oken*", LOGIN },
	{ TOOL_GRADLE, RULE_CREDENTIAL, "*ecret*", LOGIN },
	{ TOOL_GRADLE, RULE_CREDENTIAL, "*ser", LOGIN },
	{ TOOL_GRADLE, RULE_CREDENTIAL, "*sername", LOGIN },
	{ TOOL_GRADLE, RULE_CREDENTIAL, "*Key*", LOGIN },
	{ TOOL_GRADLE, RULE_CREDENTIAL, "signing.*", "signs packages" },
	{ TOOL_GRADLE, RULE_LEFT_OUT, "systemProp.*",
	  "properties of the system change every program" },
	{ TOOL_GRADLE, RULE_ADDRESS, "*Url", WHERE },
	{ TOOL_GRADLE, RULE_ADDRESS, "*URL", WHERE },
	{ TOOL_GRADLE, RULE_ADDRESS, "*url", WHERE },
	{ TOOL_GRADLE, RULE_ADDRESS, "*Uri", WHERE },
	{ TOOL_GRADLE, RULE_ADDRESS, "*egistry", WHERE },
	{ TOOL_GRADLE, RULE_ADDRESS, "*epository", WHERE },
	{ TOOL_GRADLE, RULE_ADDRESS, "*Repo", WHERE },
	{ TOOL_GRADLE, RULE_ADDRESS, "*irror", WHERE },
	{ TOOL_GRADLE, RULE_QUIET, "org.gradle.*", "speed, not packages" },

	{ TOOL_GO, RULE_ADDRESS, "GOPROXY", WHERE },
	{ TOOL_GO, RULE_WORD, "GOPRIVATE", WHERE },
	{ TOOL_GO, RULE_WORD, "GONOPROXY", WHERE },
	{ TOOL_GO, RULE_WORD, "GONOSUMDB", WHERE },
	{ TOOL_GO, RULE_WORD, "GOSUMDB", SAFER },
	{ TOOL_GO, RULE_WORD, "GOVCS", SAFER },
	{ TOOL_GO, RULE_WORD, "GOINSECURE", TRUST },
	{ TOOL_GO, RULE_WORD, "GOTOOLCHAIN", WHICH },
	{ TOOL_GO, RULE_CREDENTIAL, "GOAUTH", LOGIN },
	{ TOOL_GO, RULE_QUIET, "GOPATH", OWN },
	{ TOOL_GO, RULE_QUIET, "GOBIN", OWN },
	{ TOOL_GO, RULE_QUIET, "GO*CACHE", OWN },
	{ TOOL_GO, RULE_QUIET, "GOTELEMETRY*", LOOKS },

	{ TOOL_GEM, RULE_ADDRESS, ":sources", WHERE },
	{ TOOL_GEM, RULE_CREDENTIAL, "*api_key*", LOGIN },
	{ TOOL_GEM, RULE_CREDENTIAL, "*ssl_client_cert", LOGIN },
	{ TOOL_GEM, RULE_QUIET, ":verbose", LOOKS },
	{ TOOL_GEM, RULE_QUIET, ":backtrace", LOOKS },
	{ TOOL_GEM, RULE_QUIET, ":bulk_threshold", RETRY },
	{ TOOL_GEM, RULE_QUIET, ":update_sources", RETRY },

	{ TOOL_BUNDLER, RULE_ADDRESS, "BUNDLE_MIRROR__HTTP*", WHERE },
	{ TOOL_BUNDLER, RULE_ADDRESS, "BUNDLE_MIRROR__ALL", WHERE },
	{ TOOL_BUNDLER, RULE_WORD, "BUNDLE_TIMEOUT", RETRY },
	{ TOOL_BUNDLER, RULE_WORD, "BUNDLE_RETRY", RETRY },
	{ TOOL_BUNDLER, RULE_QUIET, "BUNDLE_PATH", OWN },
	{ TOOL_BUNDLER, RULE_QUIET, "BUNDLE_JOBS", "speed, not packages" },
	{ TOOL_BUNDLER, RULE_QUIET, "BUNDLE_GEM__*", "for new packages only" },
	{ TOOL_BUNDLER, RULE_CREDENTIAL, "BUNDLE_*__*", LOGIN },

	{ TOOL_CONDA, RULE_CHANNEL, "channels", WHERE },
	{ TOOL_CONDA, RULE_ADDRESS, "channel_alias", WHERE },
	{ TOOL_CONDA, RULE_CHANNEL, "default_channels", WHERE },
	{ TOOL_CONDA, RULE_ADDRESS, "custom_channels *", WHERE },
	{ TOOL_CONDA, RULE_WORD, "channel_priority", WHERE },
	{ TOOL_CONDA, RULE_WORD, "denylist_channels", SAFER },
	{ TOOL_CONDA, RULE_WORD, "allowlist_channels", SAFER },
	{ TOOL_CONDA, RULE_WORD, "solver", WHICH },
	{ TOOL_CONDA, RULE_CREDENTIAL, "client_ssl_cert*", LOGIN },
	{ TOOL_CONDA, RULE_CREDENTIAL, "anaconda_upload", LOGIN },
	{ TOOL_CONDA, RULE_QUIET, "auto_activate*", LOOKS },
	{ TOOL_CONDA, RULE_QUIET, "changeps1", LOOKS },
	{ TOOL_CONDA, RULE_QUIET, "envs_dirs", OWN },
	{ TOOL_CONDA, RULE_QUIET, "pkgs_dirs", OWN },
};
const size_t rule_table_count = ARRAY_SIZE(rule_table);

// Returns whether a name matches a pattern with '*'.
static bool matches(const char *pattern, size_t length, const char *name)
{
	size_t star = length;
	const char *retry = NULL;
	size_t at = 0;

	while (*name) {
		if (at < length && pattern[at] == '*') {
			star = at++;
			retry = name;
		} else if (at < length && pattern[at] == *name) {
			at++;
			name++;
		} else if (retry) {
			at = star + 1;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (at < length && pattern[at] == '*')
		at++;
	return at == length;
}

// Returns the number of steps that the pattern tells apart, 0: it does not match.
static size_t match_steps(const char *pattern, const struct setting *setting)
{
	for (size_t i = 0;; i++) {
		size_t length = strcspn(pattern, " ");

		if (length == 2 && str_starts(pattern, "**"))
			return i;
		if (i == setting->depth || !matches(pattern, length, setting->steps[i].name))
			return 0;
		pattern += length;
		if (!*pattern++)
			return i + 1 == setting->depth ? i + 1 : 0;
	}
}

const struct rule_row *rule_find(enum registry_tool tool, const struct setting *setting)
{
	for (size_t i = 0; i < rule_table_count; i++)
		if (rule_table[i].tool == tool && match_steps(rule_table[i].pattern, setting))
			return &rule_table[i];
	return NULL;
}

const char *rule_show(struct arena *arena, const struct rule_row *row,
		      const struct setting *setting)
{
	size_t depth = row ? match_steps(row->pattern, setting) : setting->depth;
	struct text out = { .arena = arena };

	for (size_t i = 0; i < depth; i++)
		text_printf(&out, "%s%s", i ? "." : "", setting->steps[i].name);
	return text_get(&out);
}
