// SPDX-License-Identifier: MIT
// Settings of package managers: each syntax, hostile files, and a secret in every position.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "config/origin.h"
#include "plan/plan.h"
#include "plan/registries/filter.h"
#include "plan/registries/rules.h"
#include "plan/registries/setting.h"
#include "plan/registries/tools.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static struct arena arena;
static struct plan plan;

// Returns the generated text; "line N": the parser refused the text. Stores the report.
static const char *generate(enum registry_tool tool, const char *text, struct plan_registry *report)
{
	struct parsed parsed = { .arena = &arena };
	setting_list kept = { 0 };

	*report = (struct plan_registry){ 0 };
	if (!tool_table[tool].parse(&parsed, text))
		return arena_printf(&arena, "line %zu", parsed.line);
	registries_filter(report, &arena, &plan, tool, &parsed.list, &kept);
	return kept.count ? tool_table[tool].render(&arena, &kept) : "";
}

static void add_report(struct text *out, const char *label, const strings *list)
{
	vec_each(name, list)
		text_printf(out, "%s%s %s", out->length ? ", " : "", label, *name);
}

static const char *show_report(const struct plan_registry *report)
{
	struct text out = { .arena = &arena };

	add_report(&out, "login", &report->credentials);
	add_report(&out, "cleaned", &report->without_login);
	add_report(&out, "replaced", &report->replaced);
	add_report(&out, "out", &report->left_out);
	return text_get(&out);
}

static const struct {
	enum registry_tool tool;
	const char *text;
	const char *generated;
	const char *report;
} cases[] = {
	// npm
	{ TOOL_NPM, "", "", "" },
	{ TOOL_NPM, "\xef\xbb\xbfregistry = https://a.example/\r\n",
	  "registry=https://a.example/\n", "" },
	{ TOOL_NPM, "registry=\"https://a.example/\"\n", "registry=https://a.example/\n", "" },
	{ TOOL_NPM, "registry=https://a.example/ ; old\n#registry=x\n",
	  "registry=https://a.example/\n", "" },
	{ TOOL_NPM, "registry=https://a.example/\nregistry=https://b.example/\n",
	  "registry=https://b.example/\n", "" },
	{ TOOL_NPM, "offline=true\nprefer-offline = true\n", "offline=true\nprefer-offline=true\n",
	  "" },
	{ TOOL_NPM, "omit[]=dev\nomit[]=optional\n", "omit[]=dev\nomit[]=optional\n", "" },
	{ TOOL_NPM, "registry=${NPM_REGISTRY}\n", "registry=${NPM_REGISTRY}\n", "" },
	{ TOOL_NPM, "registry=/srv/registry\n", "", "out registry" },
	{ TOOL_NPM, "registry=https://a.example/\x01\n", "registry=" ADDRESS_LEFT_OUT "\n",
	  "replaced registry" },
	{ TOOL_NPM, "registry=https://a.example/\" b=\"c\n", "registry=" ADDRESS_LEFT_OUT "\n",
	  "replaced registry" },
	{ TOOL_NPM, "script-shell=/tmp/x\ncafile=/x\n\033[31m=1\n", "",
	  "out script-shell, out cafile, out line 3" },
	{ TOOL_NPM, "[x]\nregistry=https://a.example/\n", "", "out x.registry" },
	{ TOOL_NPM, "[x\nregistry=https://a.example/\n", "line 1", "" },
	{ TOOL_NPM, "//a.example/:_authToken=${SET}\n//b.example/:_authToken=${UNSET}\n",
	  "//a.example/:_authToken=${SET}\n", "login //b.example/:_authToken" },
	{ TOOL_NPM, "//a.example/:_authToken=${SET}x\n", "", "login //a.example/:_authToken" },
	{ TOOL_NPM, "//a.example/:_authToken=${HOME}\n//b.example/:_authToken=${LANG}\n", "",
	  "login //a.example/:_authToken, login //b.example/:_authToken" },
	// logins and tokens in names
	{ TOOL_NPM, "//u:hunter2@a.example/:_authToken=${SET}\n", "", "login line 1" },
	{ TOOL_NPM, "//hunter2@a.example/:_authToken=${SET}\n", "", "login line 1" },
	{ TOOL_NPM, "//u:hunter2/:_authToken=${SET}\n", "", "login line 1" },
	{ TOOL_NPM, "u:hunter2@a.example/:_authToken=${SET}\n", "", "login line 1" },
	{ TOOL_NPM, "//a.example/t/hunter2/:_authToken=${SET}\n", "", "login line 1" },
	{ TOOL_NPM, "//a.example/x9Kq2Lm4/:_authToken=${SET}\n", "", "login line 1" },
	{ TOOL_NPM, "//u:hunter2@a.example/:cafile=/x\n", "", "out line 1" },
	{ TOOL_NPM, "//a.example:8443/npm/@corp/:_authToken=${SET}\n",
	  "//a.example:8443/npm/@corp/:_authToken=${SET}\n", "" },
	{ TOOL_BUNDLER, "BUNDLE_MIRROR__HTTPS://A__EXAMPLE/T/HUNTER2/: https://a.example/\n", "",
	  "out line 1" },
	{ TOOL_BUNDLER, "BUNDLE_MIRROR__HTTPS://A__EXAMPLE/: https://b.example/\n",
	  "BUNDLE_MIRROR__HTTPS://A__EXAMPLE/: \"https://b.example/\"\n", "" },
	// logins in addresses
	{ TOOL_NPM, "registry=https://user@a.example/\n", "registry=https://a.example/\n",
	  "cleaned registry" },
	{ TOOL_NPM, "registry=https://a.example:8443/@scope/\n",
	  "registry=https://a.example:8443/@scope/\n", "" },
	{ TOOL_NPM, "registry=https://me:wo/rd@a.example/\n", "registry=" ADDRESS_LEFT_OUT "\n",
	  "replaced registry" },
	{ TOOL_NPM, "registry=https://me:12/34@a.example/\n", "registry=" ADDRESS_LEFT_OUT "\n",
	  "replaced registry" },
	{ TOOL_NPM, "registry=https://me%3Aword%40a.example/\n", "registry=" ADDRESS_LEFT_OUT "\n",
	  "replaced registry" },
	{ TOOL_NPM, "registry=https://a.example/?token=abc\n", "registry=" ADDRESS_LEFT_OUT "\n",
	  "replaced registry" },
	{ TOOL_NPM, "registry=https://[::1]:4873/\n", "registry=https://[::1]:4873/\n", "" },
	// pip
	{ TOOL_PIP, "[global]\nIndex_URL: https://a.example/simple\n",
	  "[global]\nindex-url = https://a.example/simple\n", "" },
	{ TOOL_PIP,
	  "[global]\nextra-index-url = https://a.example/\n    https://b.example/\n# c\n    https://c.example/\n",
	  "[global]\nextra-index-url =\n    https://a.example/\n    https://b.example/\n    https://c.example/\n",
	  "" },
	{ TOOL_PIP, "index-url = https://a.example/\n", "line 1", "" },
	{ TOOL_PIP, "[global]\nindex-url\n", "line 2", "" },
	{ TOOL_PIP,
	  "[global]\nindex-url=https://a.example/\n[install]\nindex-url=https://b.example/\n[global]\ntimeout=1\n",
	  "[global]\nindex-url = https://a.example/\ntimeout = 1\n[install]\nindex-url = https://b.example/\n",
	  "" },
	{ TOOL_PIP, "[glo]bal]\nindex-url = https://a.example/\n", "", "out line 2" },
	// properties
	{ TOOL_GRADLE, "aUrl https\\://a.example/\\\n   b\n! c\nbUrl = https://b.example/\n",
	  "aUrl=https://a.example/b\nbUrl=https://b.example/\n", "" },
	{ TOOL_GRADLE,
	  "aUrl=relative\nsystemProp.x=1\norg.gradle.jvmargs=-Xmx1g\nnexusPassword=x\n", "",
	  "login nexusPassword, out aUrl, out systemProp.x" },
	{ TOOL_GRADLE, "aUrl=https://a.example/\\", "aUrl=https://a.example/\n", "" },
	{ TOOL_GRADLE, "a\\=b\\ url=https://a.example/\n", "", "out line 1" },
	{ TOOL_GRADLE,
	  "fUrl=https://app.example/rest/1/9q8w7e6r5t4y3u2i/crm\n"
	  "gUri=https://app.example/token/hunter2/\n"
	  "hRepository=https://app.example/x?code=hunter22\n",
	  "fUrl=" ADDRESS_LEFT_OUT "\ngUri=" ADDRESS_LEFT_OUT "\nhRepository=" ADDRESS_LEFT_OUT
	  "\n",
	  "replaced fUrl, replaced gUri, replaced hRepository" },
	{ TOOL_GRADLE, "aUrl=hunter2://a\nbUrl=hunter2${x}\ncUrl=${corp}/npm\n",
	  "cUrl=${corp}/npm\n", "out aUrl, out bUrl" },
	// go
	{ TOOL_GO, "GOPROXY=https://a:b@a.example,https://b.example|direct\nGOFLAGS=-x\n",
	  "GOPROXY=https://a.example,https://b.example|direct\n", "cleaned GOPROXY, out GOFLAGS" },
	{ TOOL_GO, "GOPROXY=off\n", "GOPROXY=off\n", "" },
	{ TOOL_GO, "GOPROXY\n", "line 1", "" },
	// yarn 1
	{ TOOL_YARN_1,
	  "# c\nregistry \"https://a.example/\"\n\"@x:registry\" https://b.example/\nyarn-path \"./x.js\"\n",
	  "\"registry\" \"https://a.example/\"\n\"@x:registry\" \"https://b.example/\"\n",
	  "out yarn-path" },
	{ TOOL_YARN_1, "registry \"https://a.example/\n", "line 1", "" },
	{ TOOL_YARN_1, "x:\n  registry y\n", "line 1", "" },
	// YAML
	{ TOOL_YARN,
	  "npmScopes:\n    \"corp\":\n        npmRegistryServer: 'https://a.example/' # c\n    b: {}\nnodeLinker: pnp\n",
	  "npmScopes:\n  corp:\n    npmRegistryServer: \"https://a.example/\"\nnodeLinker: pnp\n",
	  "out npmScopes.b" },
	{ TOOL_YARN,
	  "plugins:\n  - path: x\n    spec: npmRegistryServer\nnpmRegistryServer: https://a.example/\n",
	  "npmRegistryServer: \"https://a.example/\"\n", "out plugins" },
	{ TOOL_YARN,
	  "x: |\n  npmRegistryServer: https://evil.example/\nnpmRegistryServer: https://a.example/\n",
	  "npmRegistryServer: \"https://a.example/\"\n", "out x" },
	{ TOOL_YARN, "npmRegistryServer: &a https://a.example/\n", "", "out npmRegistryServer" },
	{ TOOL_YARN, "npmRegistryServer: \"https://a.example/\\u0041\"\n", "",
	  "out npmRegistryServer" },
	{ TOOL_YARN, "npmRegistryServer: https://a.example/\n  more\n", "line 2", "" },
	{ TOOL_YARN, "\tnpmRegistryServer: https://a.example/\n", "line 1", "" },
	{ TOOL_YARN, "- a\n", "line 1", "" },
	{ TOOL_YARN, "{npmRegistryServer: https://a.example/}\n", "", "out line 1" },
	{ TOOL_YARN, "a: b\n---\nc: d\n", "line 2", "" },
	{ TOOL_YARN, "unsafeHttpWhitelist:\n- a.example\n- b.example\n",
	  "unsafeHttpWhitelist:\n  - a.example\n  - b.example\n", "" },
	{ TOOL_CONDA, "channels:\n  - a\n   - b\n", "line 3", "" },
	// tokens in the path, in each setting of conda that has an address
	{ TOOL_CONDA,
	  "channels:\n  - conda-forge\n"
	  "  - https://a.example/t/ab-145103c7-ff5e-1d1f-1cfb-0a06bb93c8eb/chan\n"
	  "  - t/hunter2/chan\n  - corp/label/dev\n",
	  "channels:\n  - conda-forge\n  - \"" ADDRESS_LEFT_OUT "\"\n  - \"" ADDRESS_LEFT_OUT
	  "\"\n  - corp/label/dev\n",
	  "replaced channels" },
	{ TOOL_CONDA, "channel_alias: https://a.example/t/hunter2/\n",
	  "channel_alias: \"" ADDRESS_LEFT_OUT "\"\n", "replaced channel_alias" },
	{ TOOL_CONDA, "custom_channels:\n  corp: https://a.example/t/hunter2/corp\n",
	  "custom_channels:\n  corp: \"" ADDRESS_LEFT_OUT "\"\n", "replaced custom_channels.corp" },
	{ TOOL_CONDA, "default_channels:\n  - https://a.example/t/hunter2/main\n  - main\n",
	  "default_channels:\n  - \"" ADDRESS_LEFT_OUT "\"\n  - main\n",
	  "replaced default_channels" },
	{ TOOL_CONDA, "allowlist_channels:\n  - https://a.example/t/hunter2/main\n",
	  "allowlist_channels:\n  - \"" ADDRESS_LEFT_OUT "\"\n", "replaced allowlist_channels" },
	// TOML
	{ TOOL_CARGO,
	  "registries.corp.index = \"https://a.example/\" # c\n[registries.'my corp']\nindex = 'x'\n",
	  "[registries.corp]\nindex = \"https://a.example/\"\n", "out line 3" },
	{ TOOL_CARGO,
	  "[source]\na = { registry = \"https://a.example/\" }\n[source.b]\nregistry = \"https://b.example/\"\n",
	  "[source.b]\nregistry = \"https://b.example/\"\n", "out source.a" },
	{ TOOL_CARGO,
	  "[net]\nretry = 3\noffline = true\n[build]\nrustc-wrapper = 'x'\n[alias]\nb = ['build',\n 'x'] # c\n",
	  "[net]\nretry = 3\noffline = true\n", "out build.rustc-wrapper, out alias" },
	{ TOOL_CARGO, "x = \"\"\"\n[registry]\nindex = 'https://evil.example/'\n\"\"\"\n", "line 1",
	  "" },
	{ TOOL_CARGO, "[registries.corp]\nindex = \"https://a.example/\\u0041\"\n", "",
	  "out registries.corp.index" },
	{ TOOL_CARGO, "[registries.corp]\nindex = \"ssh://git@a.example/index\"\n",
	  "[registries.corp]\nindex = \"ssh://git@a.example/index\"\n", "" },
	{ TOOL_CARGO, "[registries.corp]\nindex = \"https://a.example/\n", "line 2", "" },
	{ TOOL_CARGO, "[a]]\n", "line 1", "" },
	{ TOOL_CARGO, "a = [1,\n", "line 1", "" },
	{ TOOL_CARGO, "[registries.corp]\nindex = [['x']]\n", "line 2", "" },
	{ TOOL_UV, "[[index]]\nurl = 'https://a.example/'\n[[index]]\nurl = 'https://b.example/'\n",
	  "[[index]]\nurl = \"https://a.example/\"\n[[index]]\nurl = \"https://b.example/\"\n",
	  "" },
	{ TOOL_UV, "[pip]\nindex-url = 'https://a.example/'\n[x]\n",
	  "[pip]\nindex-url = \"https://a.example/\"\n", "" },
	// XML
	{ TOOL_MAVEN, "<settings/>", "", "" },
	{ TOOL_MAVEN, "<settings xmlns='a>b'><offline>true</offline></settings>\n",
	  "<settings>\n  <offline>true</offline>\n</settings>\n", "" },
	{ TOOL_MAVEN,
	  "<settings><mirrors><mirror><url>https://a.example/?a=1&amp;b=2</url></mirror></mirrors></settings>",
	  "<settings>\n  <mirrors>\n    <mirror>\n      <url>https://a.example/?a=1&amp;b=2</url>\n    </mirror>\n  </mirrors>\n</settings>\n",
	  "" },
	{ TOOL_MAVEN,
	  "<settings><mirrors><mirror><url>https://a.example/&lt;/url&gt;</url></mirror></mirrors></settings>",
	  "<settings>\n  <mirrors>\n    <mirror>\n      <url>" ADDRESS_LEFT_OUT
	  "</url>\n    </mirror>\n  </mirrors>\n</settings>\n",
	  "replaced mirrors.mirror.url" },
	{ TOOL_MAVEN,
	  "<settings><proxies><proxy><password>x</password></proxy></proxies></settings>", "",
	  "out proxies" },
	{ TOOL_MAVEN, "<!DOCTYPE a><settings/>", "line 1", "" },
	{ TOOL_MAVEN, "<settings>\n<offline>&x;</offline></settings>", "line 2", "" },
	{ TOOL_MAVEN, "<settings>\n<offline><![CDATA[true]]></offline></settings>", "line 2", "" },
	{ TOOL_MAVEN, "<settings><a></b></settings>", "line 1", "" },
	{ TOOL_MAVEN, "<settings><a>", "line 1", "" },
	{ TOOL_MAVEN, "<settings/><settings/>", "line 1", "" },
	{ TOOL_MAVEN, "<other><offline>true</offline></other>", "line 1", "" },
	{ TOOL_MAVEN, "<settings><!-- <offline>true</offline> --></settings>", "", "" },
	{ TOOL_MAVEN, "<settings><!-- </settings>", "line 1", "" },
};

static void test_cases(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct plan_registry report;
		const char *text = generate(cases[i].tool, cases[i].text, &report);

		CHECK_CASE_STRING(text, cases[i].generated, cases[i].text);
		CHECK_CASE_STRING(show_report(&report), cases[i].report, cases[i].text);
	}
}

// Each text has the secret in place of every '$'.
static const struct {
	enum registry_tool tool;
	const char *text;
} positions[] = {
	{ TOOL_NPM, "registry=https://u:$@a.example/\n" },
	{ TOOL_NPM, "registry=https://$@a.example/\n" },
	{ TOOL_NPM, "registry=https://$:@a.example/\n" },
	{ TOOL_NPM, "registry=https://a.example/$/\n" },
	{ TOOL_NPM, "registry=https://a.example/?token=$\n" },
	{ TOOL_NPM, "registry=https://a.example/?x=$\n" },
	{ TOOL_NPM, "registry=https://a.example/ ; $\n" },
	{ TOOL_NPM, "registry=$\n" },
	{ TOOL_NPM, "@$:registry=https://a.example/\n" },
	{ TOOL_NPM, "//a.example/:_authToken=$\n//$@a.example/:_password=x\n" },
	{ TOOL_NPM, "$\n$=$\n[$]\n$=$\n" },
	{ TOOL_NPM, "_auth=$\ntag=$\nsave-prefix=$\n" },
	{ TOOL_PIP, "[global]\nindex-url=https://u:$@a.example/\n  https://$@b.example\n $\n" },
	{ TOOL_PIP, "[$]\nindex-url=https://a.example/\ntrusted-host=$\n" },
	{ TOOL_YARN,
	  "npmAuthToken: $\nnpmScopes:\n  $:\n    npmRegistryServer: https://a.example/\n" },
	{ TOOL_YARN, "npmRegistryServer: \"https://u:$@a.example/\"\nx: |\n  $\n$: $\n" },
	{ TOOL_YARN_1, "registry https://u:$@a.example/\n$ $\n" },
	{ TOOL_CARGO, "[registries.$]\nindex = 'https://a.example/'\ntoken = '$'\n" },
	{ TOOL_CARGO,
	  "[registries.a]\nindex = 'sparse+https://u:$@a.example/'\ncredential-provider = ['x', '$']\n" },
	{ TOOL_CARGO, "[env]\n$ = '$'\n[registry]\ndefault = '$'\n" },
	{ TOOL_MAVEN,
	  "<settings><servers><server><password>$</password></server></servers><$>$</$></settings>" },
	{ TOOL_MAVEN,
	  "<settings><mirrors><mirror><url>https://u:$@a.example/</url><id>$</id></mirror></mirrors></settings>" },
	{ TOOL_GRADLE, "aUrl=https\\://u\\:$@a.example/\naPassword=$\nx=$\n$=$\n" },
	{ TOOL_GO, "GOPROXY=https://u:$@a.example,https://$@b.example\nGOPRIVATE=$\n$=$\n" },
	{ TOOL_GEM, ":sources:\n- https://u:$@a.example/\n- https://a.example/$/\n:x: $\n" },
	{ TOOL_BUNDLER,
	  "BUNDLE_A__EXAMPLE: 'u:$'\nBUNDLE_MIRROR__HTTPS://$@A/: https://a.example/\n" },
	{ TOOL_CONDA,
	  "channels:\n- $\n- https://a.example/t/$/b\ncustom_channels:\n  $: https://a.example/\n" },
	{ TOOL_UV, "[[index]]\nname = '$'\nurl = 'https://$@a.example/'\n" },
};

static const char *with_secret(const char *text, const char *secret)
{
	struct text out = { .arena = &arena };

	for (; *text; text++)
		if (*text == '$')
			text_add(&out, secret);
		else
			text_add_bytes(&out, text, 1);
	return text_get(&out);
}

static void test_positions(void)
{
	char secret[64];

	srandom((unsigned int)time(NULL));
	snprintf(secret, sizeof(secret), "%08lx%08lx%08lx", (unsigned long)random() | 1UL << 31,
		 (unsigned long)random() | 1UL << 31, (unsigned long)random() | 1UL << 31);
	for (size_t i = 0; i < ARRAY_SIZE(positions); i++) {
		struct plan_registry report;
		const char *text = generate(positions[i].tool,
					    with_secret(positions[i].text, secret), &report);

		CHECK_CASE(!strstr(text, secret), positions[i].text);
		CHECK_CASE(!strstr(show_report(&report), secret), positions[i].text);
	}
}

static void test_bounds(void)
{
	struct plan_registry report;
	struct text many = { .arena = &arena };
	struct text deep = { .arena = &arena };

	for (int i = 0; i <= MOST_SETTINGS; i++)
		text_printf(&many, "a%d=b\n", i);
	CHECK_STRING(generate(TOOL_NPM, text_get(&many), &report),
		     arena_printf(&arena, "line %d", MOST_SETTINGS + 1));
	text_add(&deep, "<settings>");
	for (int i = 0; i < 20; i++)
		text_add(&deep, "<servers>");
	text_add(&deep, "x");
	for (int i = 0; i < 20; i++)
		text_add(&deep, "</servers>");
	text_add(&deep, "</settings>");
	CHECK_STRING(generate(TOOL_MAVEN, text_get(&deep), &report), "");
	CHECK_STRING(show_report(&report), "login servers");
}

// Every row has a reason, and every tool that is read has rows.
static void test_tables(void)
{
	size_t rows[TOOL_COUNT] = { 0 };

	for (size_t i = 0; i < rule_table_count; i++) {
		CHECK_CASE(rule_table[i].why && *rule_table[i].why, rule_table[i].pattern);
		rows[rule_table[i].tool]++;
	}
	for (size_t i = 0; i < source_table_count; i++) {
		const struct source_row *row = &source_table[i];

		CHECK_CASE(row->unread || (rows[row->tool] && tool_table[row->tool].parse),
			   tool_table[row->tool].name);
	}
	for (int tool = 0; tool < TOOL_COUNT; tool++)
		CHECK_CASE(tool_table[tool].why != NULL, tool_table[tool].name);
}

int main(void)
{
	vec_push(&arena, &plan.variables, (struct plan_variable){ .name = "HOME", .value = "/x" });
	vec_push(&arena, &plan.variables,
		 (struct plan_variable){
			 .name = "LANG", .value = "C", .origin = { .kind = ORIGIN_ALLOWED } });
	vec_push(&arena, &plan.variables,
		 (struct plan_variable){
			 .name = "SET", .value = "x", .origin = origin_requested("--env") });
	test_cases();
	test_positions();
	test_bounds();
	test_tables();
	arena_free(&arena);
	return check_done();
}
