// SPDX-License-Identifier: MIT
// The package managers whose settings come along.
#include "plan/registries/tools.h"

#include "base/arena.h"
#include "config/names.h"
#include "plan/home/installs.h"
#include "plan/plan.h"
#include "plan/registries/lines.h"
#include "plan/registries/render.h"
#include "plan/registries/toml.h"
#include "plan/registries/xml.h"
#include "plan/registries/yaml.h"

#define LINKED(name) BOX_RUN "/registries/" name

const struct tool_row tool_table[TOOL_COUNT] = {
	[TOOL_NPM] = { "npm", npmrc_parse, settings_render_lines, BOX_NPMRC, NULL,
		       "//claudebox.invalid/:_authToken=$\n_password=$\n"
		       "@claudebox:registry=https://user:$@claudebox.invalid/\n",
		       "npm's global file ranks below ~/.npmrc" },
	[TOOL_YARN] = { "yarn", yaml_parse, settings_render_yaml, LINKED("yarnrc.yml"),
			"~/.yarnrc.yml",
			"npmAuthToken: $\n"
			"npmRegistryServer: https://user:$@claudebox.invalid/\n",
			"yarn has no file of the system" },
	[TOOL_YARN_1] = { "yarn 1", yarnrc_parse, settings_render_yarnrc, LINKED("yarnrc"),
			  "~/.yarnrc",
			  "_authToken $\n"
			  "\"@claudebox:registry\" https://user:$@claudebox.invalid/\n",
			  "yarn 1 has a file of the system, but below its own prefix" },
	[TOOL_PIP] = { "pip", pip_parse, settings_render_sections, "/etc/pip.conf", NULL,
		       "[claudebox]\npassword = $\nfind-links = https://user:$@claudebox.invalid/\n",
		       "pip's file of the system ranks below the user's" },
	[TOOL_UV] = { "uv", toml_parse, settings_render_toml, "/etc/uv/uv.toml", NULL,
		      "[[index]]\nname = 'claudebox'\nurl = 'https://user:$@claudebox.invalid/'\n",
		      "uv's file of the system ranks below the user's" },
	[TOOL_CARGO] = { "cargo", toml_parse, settings_render_toml, LINKED("cargo.toml"),
			 "~/.cargo/config.toml",
			 "[registries.claudebox]\ntoken = '$'\n"
			 "index = 'https://user:$@claudebox.invalid/'\n",
			 "a file above the project would rank above ~/.cargo" },
	[TOOL_MAVEN] = { "maven", maven_parse, settings_render_maven, LINKED("maven.xml"),
			 "~/.m2/settings.xml",
			 "<servers><server><password>$</password></server></servers>\n"
			 "<mirrors><mirror><id>claudebox</id><mirrorOf>claudebox</mirrorOf>"
			 "<url>https://user:$@claudebox.invalid/</url></mirror></mirrors>\n",
			 "the system's file lies where Maven is installed" },
	[TOOL_GRADLE] = { "gradle", properties_parse, settings_render_lines,
			  LINKED("gradle.properties"), "~/.gradle/gradle.properties",
			  "claudeboxPassword=$\nclaudeboxUrl=https://user:$@claudebox.invalid/\n",
			  "gradle reads properties only from its home and the project" },
	[TOOL_GO] = { "go", variables_parse, settings_render_lines, LINKED("go.env"),
		      "~/.config/go/env", "GOAUTH=$\nGOSUMDB=https://user:$@claudebox.invalid\n",
		      "the system's file lies where go is installed" },
	[TOOL_GEM] = { "gem", yaml_parse, settings_render_yaml, "/etc/gemrc", NULL,
		       ":claudebox_api_key: $\n",
		       "gem's file of the system ranks below the user's" },
	[TOOL_BUNDLER] = { "bundler", yaml_parse, settings_render_yaml, LINKED("bundle"),
			   "~/.bundle/config", "BUNDLE_CLAUDEBOX__INVALID: \"user:$\"\n",
			   "bundler has no file of the system" },
	[TOOL_CONDA] = { "conda", yaml_parse, settings_render_yaml, "/etc/conda/.condarc", NULL,
			 "channel_alias: https://user:$@claudebox.invalid/t/$\n",
			 "conda's file of the system ranks below the user's" },
	[TOOL_COMPOSER] = { "composer", .why = "its file is only named" },
	[TOOL_BUN] = { "bun", .why = "its file is only named" },
};

#define RUNS_PROGRAM "gradle executes it"

const struct source_row source_table[] = {
	// The generated file takes the place of npm's own global one, wherever that is.
	{ TOOL_NPM, false, "/etc/npmrc" },
	{ TOOL_NPM, false, "/usr/etc/npmrc" },
	{ TOOL_NPM, false, "/usr/local/etc/npmrc" },
	{ TOOL_NPM, false, "~/.npmrc", "NPM_CONFIG_USERCONFIG" },
	{ TOOL_YARN, false, "~/.yarnrc.yml" },
	{ TOOL_YARN_1, false, "~/.yarnrc" },
	{ TOOL_PIP, false, "/etc/xdg/pip/pip.conf" },
	{ TOOL_PIP, false, "/etc/pip.conf" },
	{ TOOL_PIP, false, "~/.pip/pip.conf" },
	{ TOOL_PIP, false, "@/pip/pip.conf" },
	{ TOOL_PIP, false, NULL, "PIP_CONFIG_FILE" },
	{ TOOL_UV, false, "@/uv/uv.toml", "UV_CONFIG_FILE" },
	{ TOOL_CARGO, true, "~/.cargo/config.toml", "CARGO_HOME" },
	{ TOOL_CARGO, true, "~/.cargo/config", "CARGO_HOME" },
	{ TOOL_MAVEN, false, "~/.m2/settings.xml" },
	{ TOOL_GRADLE, true, "~/.gradle/gradle.properties", "GRADLE_USER_HOME" },
	{ TOOL_GRADLE, true, "~/.gradle/init.gradle", "GRADLE_USER_HOME", .unread = RUNS_PROGRAM },
	{ TOOL_GRADLE, true, "~/.gradle/init.gradle.kts", "GRADLE_USER_HOME",
	  .unread = RUNS_PROGRAM },
	{ TOOL_GRADLE, true, "~/.gradle/init.d", "GRADLE_USER_HOME", .unread = RUNS_PROGRAM },
	{ TOOL_GO, false, "@/go/env", "GOENV" },
	{ TOOL_GEM, false, "~/.gemrc", "GEMRC" },
	{ TOOL_BUNDLER, false, "~/.bundle/config", "BUNDLE_USER_CONFIG" },
	{ TOOL_CONDA, false, "~/.condarc", "CONDARC" },
	{ TOOL_COMPOSER, true, "@/composer/config.json", "COMPOSER_HOME",
	  .unread = "claudebox cannot separate its repositories from its logins" },
	{ TOOL_BUN, false, "~/.bunfig.toml",
	  .unread = "bun ranks it above the project's .npmrc, so claudebox generates none" },
};
const size_t source_table_count = ARRAY_SIZE(source_table);

const struct variable_row registry_variables[] = {
	{ "NPM_CONFIG_REGISTRY", "npm" },
	{ "npm_config_registry", "npm" },
	{ "YARN_NPM_REGISTRY_SERVER", "yarn" },
	{ "YARN_REGISTRY", "yarn 1" },
	{ "BUN_CONFIG_REGISTRY", "bun" },
	{ "PIP_INDEX_URL", "pip" },
	{ "PIP_EXTRA_INDEX_URL", "pip" },
	{ "UV_INDEX", "uv" },
	{ "UV_DEFAULT_INDEX", "uv" },
	{ "UV_INDEX_URL", "uv" },
	{ "UV_EXTRA_INDEX_URL", "uv" },
	{ "CARGO_REGISTRIES_*", "cargo" },
	{ "CARGO_REGISTRY_DEFAULT", "cargo" },
	{ "CARGO_SOURCE_*", "cargo" },
	{ "GOPROXY", "go" },
	{ "GOPRIVATE", "go" },
	{ "BUNDLE_MIRROR_*", "bundler" },
	{ "CONDA_CHANNELS", "conda" },
};
const size_t registry_variable_count = ARRAY_SIZE(registry_variables);
