// SPDX-License-Identifier: MIT
// The Nix daemon's greeting, nix.conf, the registry in the box, and which box gets the daemon.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "config/config.h"
#include "config/options/table.h"
#include "fixture.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/nix/daemon.h"
#include "plan/nix/registry.h"
#include "plan/plan.h"
#include "plan/tables.h"

#include <string.h>

static const char *const greeting_names[] = {
	[NIX_GREETING_INCOMPLETE] = "incomplete",   [NIX_GREETING_INVALID] = "invalid",
	[NIX_GREETING_UNKNOWN] = "unknown",         [NIX_GREETING_TRUSTED] = "trusted",
	[NIX_GREETING_NOT_TRUSTED] = "not trusted",
};

#define MAGIC     "oixd\0\0\0\0"
#define V1_34     "\x22\x01\0\0\0\0\0\0"
#define V1_35     "\x23\x01\0\0\0\0\0\0"
#define V1_38     "\x26\x01\0\0\0\0\0\0"
#define VERSION   "\6\0\0\0\0\0\0\0002.30.1\0\0"
#define NUMBER(n) n "\0\0\0\0\0\0\0"

static const char *greeting_of(const char *bytes, size_t size)
{
	return greeting_names[nix_parse_greeting((const unsigned char *)bytes, size)];
}
#define GREETING(text) greeting_of(text, sizeof(text) - 1)

static void test_greeting(void)
{
	static const char whole[] = MAGIC V1_38 VERSION NUMBER("\2");
	unsigned char hello[NIX_HELLO_SIZE];

	nix_render_hello(hello);
	CHECK(memcmp(hello, "cxin\0\0\0\0\x23\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
		     NIX_HELLO_SIZE) == 0);
	CHECK_STRING(GREETING(MAGIC V1_38 VERSION NUMBER("\1")), "trusted");
	CHECK_STRING(GREETING(MAGIC V1_35 VERSION NUMBER("\2")), "not trusted");
	CHECK_STRING(GREETING(MAGIC V1_35 NUMBER("\0") NUMBER("\2")), "not trusted");
	CHECK_STRING(GREETING(MAGIC V1_35 VERSION NUMBER("\0")), "unknown");
	CHECK_STRING(GREETING(MAGIC V1_35 VERSION NUMBER("\3")), "invalid");
	CHECK_STRING(GREETING(MAGIC V1_35 VERSION "\2\0\0\0\0\0\0\1"), "invalid");
	CHECK_STRING(GREETING(MAGIC V1_34), "unknown");
	CHECK_STRING(GREETING(MAGIC "\x23\x02\0\0\0\0\0\0" VERSION NUMBER("\2")), "invalid");
	CHECK_STRING(GREETING(MAGIC "\x23\x01\1\0\0\0\0\0" VERSION NUMBER("\2")), "invalid");
	CHECK_STRING(GREETING("oixd\1\0\0\0" V1_35 VERSION NUMBER("\2")), "invalid");
	CHECK_STRING(GREETING(MAGIC V1_35 "\1\1\0\0\0\0\0\0"), "invalid");
	CHECK_STRING(GREETING(MAGIC V1_35 "\xff\xff\xff\xff\xff\xff\xff\xff"), "invalid");
	for (size_t size = 0; size < sizeof(whole) - 1; size++)
		CHECK_CASE_STRING(greeting_of(whole, size), "incomplete", "a part of the greeting");
}

struct file {
	const char *path;
	const char *text; // NULL: it cannot be read
};
static const struct file *files;

static const char *read_file(struct arena *arena, const char *path, bool *ret_missing)
{
	(void)arena;
	*ret_missing = false;
	for (const struct file *file = files; file->path; file++)
		if (str_equal(file->path, path))
			return file->text;
	*ret_missing = true;
	return NULL;
}

// Returns "users|sandbox", with a '?' at the end if the settings are incomplete.
static const char *settings_of(struct arena *arena, const struct file *all)
{
	struct nix_settings settings = nix_default_settings;
	struct text out = { .arena = arena };

	files = all;
	nix_parse_settings(&settings, arena, "/etc/nix/nix.conf", read_file);
	vec_each(user, &settings.trusted_users)
		text_printf(&out, "%s%s", out.length ? " " : "", *user);
	text_printf(&out, "|%s%s", settings.sandbox, settings.incomplete ? "?" : "");
	return text_get(&out);
}

#define CONF(text) ((const struct file[]){ { "/etc/nix/nix.conf", text }, { 0 } })

static void test_settings(void)
{
	static const struct {
		const char *text;
		const char *wanted;
	} cases[] = {
		{ "", "root|true" },
		{ "cores = 2\nsandbox = false", "root|false" },
		{ "trusted-users = root ann @wheel\n", "root ann @wheel|true" },
		{ "trusted-users =\n", "|true" },
		{ "\ttrusted-users\t=\tann\r\n", "ann|true" },
		{ "extra-trusted-users = ann\n", "root ann|true" },
		{ "trusted-users = ann # bob\n# trusted-users = eve\n", "ann|true" },
		{ "trusted-users = ann#bob\n", "ann|true" },
		{ "trusted-users = ann\nextra-trusted-users = *\n", "ann *|true" },
		{ "extra-trusted-users = ann\ntrusted-users = bob\n", "bob|true" },
		{ "trusted-users=ann\n", "root|true?" },
		{ "trusted-users ann\n", "root|true?" },
		{ "word\n", "root|true?" },
		{ "include\n", "root|true?" },
		{ "include a b\n", "root|true?" },
		{ "build-use-sandbox = relaxed\n", "root|relaxed" },
		{ "sandbox =\n", "root|" },
		{ "sandbox-paths = false\n", "root|true" },
		{ "include nix.conf\n", "root|true?" },
		{ "!include missing\n", "root|true" },
		{ "include missing\n", "root|true?" },
	};
	struct arena arena = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK_CASE_STRING(settings_of(&arena, CONF(cases[i].text)), cases[i].wanted,
				  cases[i].text);
	CHECK_STRING(settings_of(&arena, CONF(NULL)), "root|true?");
	CHECK_STRING(settings_of(&arena, &(const struct file){ 0 }), "root|true");
	arena_free(&arena);
}

static void test_includes(void)
{
	static const struct file both[] = {
		{ "/etc/nix/nix.conf",
		  "trusted-users = a\n!include x/one.conf\nextra-trusted-users = d\n" },
		{ "/etc/nix/x/one.conf", "extra-trusted-users = b\ninclude two.conf\n" },
		{ "/etc/nix/x/two.conf", "extra-trusted-users = c\ninclude /abs\n" },
		{ "/abs", "sandbox = false\n" },
		{ 0 },
	};
	static const struct file closed[] = {
		{ "/etc/nix/nix.conf", "!include secret\n" },
		{ "/etc/nix/secret", NULL },
		{ 0 },
	};
	struct arena arena = { 0 };

	CHECK_STRING(settings_of(&arena, both), "a b c d|false");
	CHECK_STRING(settings_of(&arena, closed), "root|true?");
	arena_free(&arena);
}

static bool has_daemon(struct world *world)
{
	return world_plan(world) && plan_provides(&world->plan, "/nix/var/nix/daemon-socket");
}

// A user whom the daemon trusts does not get it in the box, in any tier and with any profile.
static void test_boxes_with_the_daemon(void)
{
	for (int tier = 0; tier < NETWORK_TIER_COUNT; tier++) {
		for (int requested = 0; requested < 2; requested++) {
			struct world world;
			bool allowed = tier == NETWORK_FULL || requested;

			world_nixos(&world);
			world_connect(&world);
			world.config.network = (enum network_tier)tier;
			world.config.nix_daemon = requested;
			CHECK(has_daemon(&world) == allowed);
			CHECK((world.plan.nix_daemon_left_out == NULL) == allowed);
			world.facts.nix.unsandboxed = true;
			CHECK(has_daemon(&world) == allowed);
			world.facts.nix.ours = true;
			CHECK(!has_daemon(&world));
			world.facts.nix = (struct nix_facts){ .trust = NIX_TRUST_YES };
			CHECK(!has_daemon(&world));
			world.facts.nix = (struct nix_facts){ 0 };
			CHECK(!has_daemon(&world));
			world.facts.nix.trust = NIX_TRUST_NO;
			world.facts.uid = 0;
			CHECK(!has_daemon(&world));
			CHECK(world.plan.mounts.count && world.plan.nix_daemon_left_out);
			world_free(&world);
		}
	}
}

// plan_check refuses a mount that contains a daemon that was left out.
static void test_mounts_of_the_daemon(void)
{
	static const char *const sources[] = { "/nix/var/nix/daemon-socket",
					       "/nix/var/nix/daemon-socket/socket", "/nix/var/nix",
					       "/nix" };
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		struct world world;

		world_nixos(&world);
		world.facts.nix.trust = NIX_TRUST_YES;
		CHECK(world_plan(&world));
		plan_add_mount(&world.plan, &world.arena,
			       (struct plan_mount){ .kind = MOUNT_READ_ONLY,
						    .source = sources[i],
						    .path = "/mnt" });
		CHECK_CASE(!plan_check(&world.plan, &world.facts, &world.error), sources[i]);
		CHECK(strstr(world.error.message, "the Nix daemon's socket") != NULL);
		world_free(&world);
	}
}

#define PINNED                                                                                                   \
	"{\"from\":{\"type\":\"indirect\",\"id\":\"nixpkgs\"},\"to\":{\"type\":\"github\",\"owner\":\"NixOS\","  \
	"\"repo\":\"nixpkgs\",\"rev\":\"0123456789abcdef0123456789abcdef01234567\",\"lastModified\":1700000000," \
	"\"narHash\":\"sha256-F9FUjwE8ZkIRC0cIH3gDWXd8eZyE4T0kS1bkgn9KMTA=\"},\"exact\":true}"
#define FLAKES(entries) "{\"version\":2,\"flakes\":[" entries "]}"
#define ENTRY(id, to)   "{\"from\":{\"type\":\"indirect\",\"id\":\"" id "\"},\"to\":{" to "}}"
#define TOKEN  \
	"ghp_" \
	"0123456789abcdefghijABCDEFGHIJ012345"

// The generated registry: the user's entries take precedence over the system's, and those over the
// entries of the file of flake-registry; entries with secrets are left out.
static void test_registry(void)
{
	struct world world = { 0 };
	struct nix_facts *nix = &world.facts.nix;
	const char *registry;

	world_nixos(&world);
	CHECK(world_plan(&world) && !world_data(&world, NIX_REGISTRY));
	nix->user_registry =
		FLAKES(PINNED "," ENTRY("mine", "\"type\":\"path\",\"path\":\"/home/user/x\""));
	nix->system_registry = FLAKES(
		ENTRY("nixpkgs", "\"type\":\"path\",\"path\":\"/nix/store/system\"") "," ENTRY(
			"other", "\"type\":\"path\",\"path\":\"/nix/store/other\""));
	nix->global_registry = FLAKES(
		ENTRY("other", "\"type\":\"path\",\"path\":\"/nix/store/global\"") "," ENTRY("a", "\"type\":\"git\",\"url\":\"https://example.org/?token=x1\"") "," ENTRY(
			"b",
			"\"type\":\"git\",\"url\":\"https://u:" TOKEN
			"@example.org/\"") "," ENTRY("c",
						     "\"type\":\"tarball\",\"url\":\"https://example.org/x?y=" TOKEN
						     "\""));
	CHECK(world_plan(&world));
	registry = world_data(&world, NIX_REGISTRY);
	CHECK(registry && strstr(registry, "0123456789abcdef01234567") &&
	      strstr(registry, "sha256-F9FU") && strstr(registry, "/home/user/x") &&
	      strstr(registry, "/nix/store/other"));
	CHECK(registry && !strstr(registry, "/nix/store/system") &&
	      !strstr(registry, "/nix/store/global") && !strstr(registry, "example.org"));
	world.facts.nixpkgs = "/nix/store/pinned-source";
	CHECK(world_plan(&world));
	registry = world_data(&world, NIX_REGISTRY);
	CHECK(registry && strstr(registry, "pinned-source") && !strstr(registry, "NixOS"));
	world.config.network = NETWORK_NONE;
	CHECK(world_plan(&world) && !world_data(&world, NIX_REGISTRY));
	world_connect(&world);
	world.config.nix_daemon = true;
	for (int tier = 0; tier < NETWORK_TIER_COUNT; tier++) {
		world.config.network = (enum network_tier)tier;
		CHECK(world_plan(&world));
		CHECK_CASE_STRING(world_data(&world, NIX_REGISTRY), registry,
				  network_tier_names[tier]);
		CHECK_CASE(world_data(&world, "/etc/nix/nix.conf") != NULL,
			   network_tier_names[tier]);
	}
	world_free(&world);
}

static void test_client_settings(void)
{
	struct world world = { 0 };

	world_nixos(&world);
	world.facts.nix_conf_text = "cores = 4\naccess-tokens = x=y\n"
				    "substituters = https://example.org/?key=abc\n"
				    "trusted-public-keys = cache.example.org-1:AAAA=\n";
	world.facts.nix.user_settings = "max-jobs = 2\n plugin-files = /x\naccess-tokens = a=b\n"
					"include /x\nflake-registry=/home/user/r.json # mine\n";
	CHECK_STRING(plan_nix_settings(&world.arena, &world.facts),
		     "cores = 4\ntrusted-public-keys = cache.example.org-1:AAAA=\nmax-jobs = 2\n"
		     "flake-registry=/home/user/r.json # mine\n"
		     "extra-experimental-features = nix-command flakes\n"
		     "flake-registry = /etc/nix/registry.json\n");
	CHECK_STRING(plan_nix_registry_file(&world.arena, &world.facts), "/home/user/r.json");
	world.facts.nix.user_settings = "flake-registry = https://example.org/r.json\n";
	CHECK(!plan_nix_registry_file(&world.arena, &world.facts));
	world.facts.nix.user_settings = "flake-registry = /nix/store/x/r.json\n";
	CHECK(!plan_nix_registry_file(&world.arena, &world.facts));
	world_free(&world);
}

int main(void)
{
	test_greeting();
	test_settings();
	test_includes();
	test_boxes_with_the_daemon();
	test_mounts_of_the_daemon();
	test_registry();
	test_client_settings();
	return check_done();
}
