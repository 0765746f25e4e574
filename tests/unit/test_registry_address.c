// SPDX-License-Identifier: MIT
// Tokens in the addresses of package registries: random ones in every place, and addresses without.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "plan/registries/address.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct arena arena;

// Addresses with a token. '#' stands for 16 random letters and digits, '$' for a UUID, '!' for 16
// hexadecimal digits, '^' for 8 mixed characters, '<' for 32 digits, '>' for four groups of 6.
static const char *const token_addresses[] = {
	"https://a.example/t/ab-$/channel",
	"https://a.example/t/^/channel",
	"https://a.example/t/abc/channel",
	"https://a.example/T/hunter2/channel",
	"https://a.example/conda/t/$/channel",
	"https://a.example/t/#/channel/label/dev",
	"https://a.example:8443/t/secretword/channel",
	"https://a.example/%74/hunter2/channel",
	"https://a.example/t%2Fhunter2/channel",
	"https://a.example/%2574/hunter2/channel",
	"https://dl.cloudsmith.io/#/org/repo/",
	"https://dl.cloudsmith.io/hunter/org/repo/npm/",
	"https://DL.Cloudsmith.IO./hunter/org/repo/",
	"https://dl.cloudsmith.io:443/hunter/org/repo/",
	"https://npm.fury.io/hunter/me/",
	"https://pypi.fury.io/#/me/",
	"https://packagecloud.io/priv/hunter/org/repo/",
	"https://a.example/priv/!/org/repo/",
	"https://a.example/$/",
	"https://a.example/feeds/$/index.json",
	"https://a.example/12345678-1234-1234-1234-123456789012/",
	"https://a.example/x-$-y/",
	"https://a.example/#",
	"https://a.example/#/simple/",
	"https://a.example/simple/#/",
	"https://a.example/npm-#/",
	"https://a.example/npm.#.x/",
	"https://a.example/npm_#_x/",
	"https://a.example/~#/",
	"https://a.example/@#/",
	"https://a.example/!/",
	"https://a.example/repo/!/npm",
	"https://a.example/repo-!/npm",
	"https://a.example/!!/",
	"https://a.example/^/",
	"https://a.example/^/simple",
	"https://a.example/repo/^",
	"https://a.example/repo-^",
	"https://a.example/repo;^/x",
	"https://a.example/repo,^/x",
	"https://a.example/repo=^/x",
	"https://a.example/repo:^/x",
	"https://a.example/repo(^)/x",
	"https://a.example/</",
	"https://a.example/feeds/</simple",
	"https://a.example/>/",
	"https://a.example/x/>/simple/",
	"https://a.example/qwzkxvbnmtrplkjsdf/",
	"https://a.example/QWZKXVBNMTRPLKJSDF/",
	"https://a.example/rest/1/9q8w7e6r5t4y3u2i/crm",
	"https://a.example/token/hunter2/",
	"https://a.example/Token/hunter2/",
	"https://a.example/tokens/hunter2/",
	"https://a.example/key/hunter2/",
	"https://a.example/key=hunter2/",
	"https://a.example/x;key=hunter2/",
	"https://a.example/api-key/hunter2/",
	"https://a.example/api_key/hunter2/",
	"https://a.example/apikey=hunter2/",
	"https://a.example/auth/hunter2/",
	"https://a.example/secret/hunter2/",
	"https://a.example/password/hunter2/",
	"https://a.example/pass:hunter2/",
	"https://a.example/access_token=hunter2/",
	"https://a.example/client_secret=hunter2/",
	"https://a.example/entitlement/hunter2/",
	"https://a.example/?hunter22",
	"https://a.example/?x=hunter22",
	"https://a.example/?format=^",
	"https://a.example/?a=1&x=hunter22",
	"https://a.example/?a=1;x=hunter22",
	"https://a.example/?key=1",
	"https://a.example/#hunter22",
	"https://#.a.example/",
	"https://^.a.example/simple",
	"https://a-!.example/simple",
	"https://a.example,https://b.example/t/x1/y",
	"https://a.example|https://b.example/#/y",
	"https://a.example/${A}/#/",
	"sparse+https://a.example/#/",
	"ssh://git@a.example/#/",
};

static const char *const harmless_addresses[] = {
	"https://a.example",
	"https://a.example/",
	"https://a.example:8443/",
	"http://localhost:4873/",
	"http://127.0.0.1:8081/repository/npm/",
	"https://[fd00:1234:abcd:9a8b::1]:4873/npm/",
	"https://auth:8443/npm/",
	"https://a.example/artifactory/api/npm/npm-virtual-releases/",
	"https://a.example/artifactory/api/pypi/pypi-remote/simple",
	"https://a.example/artifactory/libs-release-local",
	"https://a.example/artifactory/libs-snapshot-local/",
	"https://a.example/artifactory/api/conda/conda-forge-remote",
	"https://a.example/artifactory/api/cargo/cargo-local/index/",
	"https://a.example/artifactory/api/go/go-virtual",
	"https://a.example/artifactory/api/gems/gems-2/",
	"https://a.example/nexus-repository/maven-central-2/",
	"https://a.example/nexus/content/groups/public",
	"https://a.example/repository/npm-group/",
	"https://a.example/repository/pypi-proxy/simple",
	"https://a.example/repository/com.example.internal/",
	"https://a.example/repository/releases-2024/",
	"https://a.example/repository/releases-2024-q1/",
	"https://a.example/java11-libs/",
	"https://a.example/java11-libs-release-2/",
	"https://a.example/java11libs/",
	"https://a.example/node20-packages/",
	"https://a.example/node20-packages-v2/",
	"https://a.example/python3.11-cp311-manylinux2014/",
	"https://a.example/v3/index.json",
	"https://a.example/api/v4/projects/12345678/packages/npm/",
	"https://a.example/api/v4/groups/1234/-/packages/pypi/simple",
	"https://a.example/api/packages/team/npm/",
	"https://a.example/team/_packaging/feed/npm/registry/",
	"https://a.example/team/_packaging/Feed_Name/nuget/v3/index.json",
	"https://corp-123456789012.d.a.eu-west-1.example/npm/corp/",
	"https://europe-west1-npm.pkg.example/my-project-4711/npm-repo/",
	"https://a.example/conda-forge/linux-64",
	"https://a.example/pkgs/main/noarch",
	"https://a.example/channel/label/dev",
	"https://a.example/wheels/cu121",
	"https://a.example/whl/rocm6.2",
	"https://a.example/simple/",
	"https://a.example/root/pypi/+simple/",
	"https://a.example/@corp/",
	"https://a.example/~user/repo/",
	"https://a.example/maven2",
	"https://a.example/m2/repo",
	"https://a.example/libsRelease/",
	"https://a.example/GitHubPackages/",
	"https://a.example/MyCompanyRepo/",
	"https://a.example/SNAPSHOT/RELEASE/",
	"https://a.example/ubuntu-24.04/x86_64/",
	"https://a.example/debian12/amd64/",
	"https://a.example/el9/arm64/3rdparty/",
	"https://a.example/infrastructure-and-platform-engineering/",
	"https://a.example/plattformentwicklung/",
	"https://a.example/depots/logiciels-internes/",
	"https://a.example/2024/11/18/",
	"https://a.example/20241118/",
	"https://a.example/1.2.3-rc.1/",
	"https://a.example/?a=1&b=2",
	"https://a.example/?format=json",
	"https://a.example/?api-version=2024-01-31",
	"https://a.example/?repository=libs-release",
	"https://a.example/${NPM_TOKEN}/npm/",
	"https://a.example/t/${CONDA_TOKEN}/channel",
	"https://a.example/my%20repo/npm/",
	"https://dl.cloudsmith.io/public/org/repo/npm/",
	"https://packagecloud.io/org/repo/",
	"https://a.example,https://b.example|direct",
	"sparse+https://a.example/index/",
	"ssh://git@a.example/team/index.git",
};

static void add_random(struct text *out, const char *alphabet, size_t count)
{
	while (count-- > 0)
		text_add_bytes(out, &alphabet[(size_t)random() % strlen(alphabet)], 1);
}

// Adds random letters and digits that mix: every third character is a digit, and the case changes.
static void add_mixed(struct text *out, size_t count)
{
	static const char *const alphabets[] = { "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
						 "abcdefghijklmnopqrstuvwxyz", "0123456789" };
	size_t first = (size_t)random() % 3;

	for (size_t i = 0; i < count; i++)
		add_random(out, alphabets[(first + i) % 3], 1);
}

static const char *with_tokens(const char *text)
{
	static const char hex[] = "0123456789abcdef";
	struct text out = { .arena = &arena };

	for (; *text; text++) {
		size_t groups = *text == '$' || *text == '>' ? 4 : 0;

		if (*text == '$')
			add_random(&out, hex, 8);
		for (size_t i = 0; i < groups; i++) {
			text_add(&out, *text == '$' ? "-" : i ? "." : "");
			if (*text == '$')
				add_random(&out, hex, i < 3 ? 4 : 12);
			else
				add_mixed(&out, 6);
		}
		if (*text == '#' || *text == '^')
			add_mixed(&out, *text == '#' ? 16 : 8);
		else if (*text == '!')
			add_random(&out, hex, 16);
		else if (*text == '<')
			add_random(&out, "0123456789", 32);
		else if (!groups)
			text_add_bytes(&out, text, 1);
	}
	return text_get(&out);
}

static void test_addresses(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(token_addresses); i++)
		for (int round = 0; round < 20; round++) {
			const char *address = with_tokens(token_addresses[i]);

			if (!address_has_token(&arena, address))
				check_note("passes", address);
			CHECK_CASE(address_has_token(&arena, address), token_addresses[i]);
		}
	for (size_t i = 0; i < ARRAY_SIZE(harmless_addresses); i++)
		CHECK_CASE(!address_has_token(&arena, harmless_addresses[i]),
			   harmless_addresses[i]);
}

// Returns how many of 1000 random segments of an alphabet are recognised.
static int recognised(const char *alphabet, size_t length)
{
	int count = 0;

	for (int i = 0; i < 1000; i++) {
		struct text out = { .arena = &arena };

		text_add(&out, "https://a.example/");
		add_random(&out, alphabet, length);
		text_add(&out, "/npm/");
		count += address_has_token(&arena, text_get(&out));
	}
	return count;
}

// The shares that doc/package-settings.md gives, with a margin for chance.
static void test_recognised(void)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	static const char numbered[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	static const char both[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	static const struct {
		const char *alphabet;
		size_t length;
		int least;
	} shares[] = {
		{ all, 8, 800 },       { all, 12, 960 },      { all, 16, 980 },
		{ all, 20, 990 },      { numbered, 8, 700 },  { numbered, 12, 950 },
		{ numbered, 16, 980 }, { numbered, 20, 990 }, { both, 16, 940 },
		{ both, 20, 970 },     { letters, 16, 750 },  { letters, 20, 820 },
		{ letters, 25, 1000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		int count = recognised(shares[i].alphabet, shares[i].length);
		const char *label = arena_printf(&arena, "%zu characters of %zu: %d of 1000",
						 shares[i].length, strlen(shares[i].alphabet),
						 count);

		CHECK_CASE(count >= shares[i].least, label);
	}
}

// Every row has a reason.
static void test_tables(void)
{
	for (size_t i = 0; i < token_word_count; i++)
		CHECK_CASE(token_words[i].why != NULL, token_words[i].word);
	for (size_t i = 0; i < token_host_count; i++)
		CHECK_CASE(token_hosts[i].why != NULL, token_hosts[i].host);
	for (size_t i = 0; i < harmless_parameter_count; i++)
		CHECK_CASE(harmless_parameters[i].why != NULL, harmless_parameters[i].name);
}

int main(void)
{
	srandom((unsigned int)time(NULL));
	test_addresses();
	test_recognised();
	test_tables();
	arena_free(&arena);
	return check_done();
}
