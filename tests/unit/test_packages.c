// SPDX-License-Identifier: MIT
// Packages: validation of requests, parsing of nix's output, and the cache.
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "check.h"
#include "config/config.h"
#include "fixture.h"
#include "plan/facts.h"
#include "plan/nix/package_cache.h"
#include "plan/nix/package_messages.h"
#include "plan/nix/packages.h"

#include <string.h>

#define HASH  "0123456789abcdfghijklmnpqrsvwxyz"
#define STORE "/nix/store/" HASH "-"

static struct arena arena;

static void test_references(void)
{
	static const char *const kind_names[] = { "local", "remote", "fixed" };
	static const char revision[] = "0123456789abcdef0123456789abcdef01234567";
	static const struct {
		const char *url; // %s: a revision
		const char *wanted;
	} cases[] = {
		{ "path:/nix/store/x-source", "fixed" },
		{ "path:/nix/store/../../home/x", "local" },
		{ "path:/home/x", "local" },
		{ "path:/home/x?narHash=sha256-AAAA=", "fixed" },
		{ "git+file:///home/x", "local" },
		{ "git+file:///home/x?ref=main&rev=%s", "fixed" },
		{ "git+file:///home/x?revCount=%s", "local" },
		{ "git+https://example.org/x?ref=main", "remote" },
		{ "git+https://example.org/x?rev=abc", "remote" },
		{ "github:NixOS/nixpkgs", "remote" },
		{ "github:NixOS/nixpkgs/nixos-24.11", "remote" },
		{ "github:NixOS/nixpkgs/%s", "fixed" },
		{ "github:NixOS/nixpkgs/%s0", "remote" },
		{ "gitlab:a/b/%s?host=example.org", "fixed" },
		{ "https://example.org/nixpkgs.tar.gz", "remote" },
		{ "tarball+file:///home/x.tar", "local" },
		{ "flake:nixpkgs", "local" },
		{ "", "local" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *mark = strstr(cases[i].url, "%s");
		const char *url = mark ? arena_printf(&arena, "%.*s%s%s",
						      (int)(mark - cases[i].url), cases[i].url,
						      revision, mark + 2)
				       : cases[i].url;

		CHECK_CASE_STRING(kind_names[packages_reference_kind(url)], cases[i].wanted, url);
	}
}

static const char *check_of(const char *name, const char *reference)
{
	struct config config = { .nixpkgs = reference };
	struct error error = { .arena = &arena };

	vec_push(&arena, &config.packages,
		 (struct config_package){ name, origin_requested("profile x") });
	return packages_check(&config, &error) ? "" : error.message;
}

static void test_requests(void)
{
	static const char *const bad_names[] = { "",     "-f",    "--x", "a#b", "a^b", "a b",
						 "a\nb", ".",     "a.",  ".a",  "a/b", "a..b",
						 "$x",   "\"a\"", "a;b", "a'b" };
	static const char *const bad_references[] = { "",    "-x",       "--help", "a#b", "a b",
						      "a\n", ".",        "./x",    "~/x", "path:.",
						      "a^b", "\303\244", "a\"" };

	CHECK_STRING(check_of("hello", NULL), "");
	CHECK_STRING(check_of("python3Packages.black", "github:NixOS/nixpkgs/nixos-24.11"), "");
	CHECK_STRING(check_of("gtk+", "path:/home/x?dir=a&b=c%20d"), "");
	CHECK_STRING(check_of("a b", NULL), "package 'a b' (profile x): not a valid package name");
	CHECK_STRING(check_of("a", "./x"), "nixpkgs './x' is relative");
	for (size_t i = 0; i < ARRAY_SIZE(bad_names); i++)
		CHECK_CASE(*check_of(bad_names[i], NULL), bad_names[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad_references); i++)
		CHECK_CASE(*check_of("a", bad_references[i]), bad_references[i]);
}

static const char *outputs_text(const package_outputs *outputs)
{
	struct text out = { .arena = &arena };

	vec_each(output, outputs)
		text_printf(&out, "%s=%s ", output->name, output->path ? output->path : "?");
	return text_get(&out);
}

static const char *derivation_of(const char *text)
{
	package_outputs outputs = { 0 };

	return packages_parse_derivation(&arena, text, &outputs) ? outputs_text(&outputs) : NULL;
}

static void test_derivations(void)
{
	static const char *const bad[] = {
		"",
		"Derive(",
		"Derive([])",
		"Derive([],[],[]",
		"Derive([(\"out\"",
		"Derive([(\"out\",\"" STORE "x\",\"\",\"\")",
		"Derive([(\"out\",\"" STORE "x\",\"\")]",
		"Derive([(\"out\",\"/home/x\",\"\",\"\")],",
		"Derive([(\"out\",\"" STORE "x/../y\",\"\",\"\")],",
		"Derive([(\"o\\\"ut\",\"" STORE "x\",\"\",\"\")],",
		"Derive([(\"out\",\"" STORE "x\",\"\",\"\"),",
	};

	CHECK_STRING(derivation_of("Derive([(\"out\",\"" STORE "x\",\"\",\"\")],[],[\"a\"])"),
		     "out=" STORE "x ");
	CHECK_STRING(derivation_of("Derive([(\"bin\",\"" STORE
				   "x-bin\",\"\",\"\"),(\"man\",\"\",\"r:sha256\",\"\")],"),
		     "bin=" STORE "x-bin man=? ");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_CASE(!derivation_of(bad[i]), bad[i]);
	CHECK(packages_output_is_auxiliary("man"));
	CHECK(!packages_output_is_auxiliary("bin"));
}

static const char *builds_of(const char *json)
{
	struct text out = { .arena = &arena };
	package_builds builds = { 0 };

	if (!packages_parse_builds(&arena, json, &builds))
		return NULL;
	vec_each(one, &builds)
		text_printf(&out, "%s: %s", one->derivation + strlen(STORE),
			    outputs_text(&one->outputs));
	return text_get(&out);
}

static void test_builds_and_sources(void)
{
	static const char *const bad[] = {
		"",
		"{}",
		"[1]",
		"[{}]",
		"[{\"drvPath\":\"/etc/x.drv\",\"outputs\":{}}]",
		"[{\"drvPath\":\"" STORE "x.drv\",\"outputs\":{\"out\":\"/etc\"}}]",
		"[{\"drvPath\":\"" STORE "x.drv\",\"outputs\":{\"out\":\"" STORE "a/b\"}}]",
	};
	struct package_source source;

	CHECK_STRING(builds_of("[]"), "");
	CHECK_STRING(builds_of("[{\"drvPath\":\"" STORE "b.drv\",\"outputs\":{\"out\":\"" STORE
			       "b\"},\"startTime\":0},"
			       "{\"drvPath\":\"" STORE "a.drv\",\"outputs\":{\"bin\":\"" STORE
			       "a-bin\",\"man\":null}}]"),
		     "b.drv: out=" STORE "b a.drv: bin=" STORE "a-bin man=? ");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_CASE(!builds_of(bad[i]), bad[i]);
	CHECK(packages_parse_source(
		&arena,
		"{\"url\":\"path:/nix/store/x?narHash=y\",\"resolvedUrl\":\"path:/home/x\"}",
		&source));
	CHECK_STRING(source.url, "path:/nix/store/x?narHash=y");
	CHECK(source.kind == REFERENCE_LOCAL);
	CHECK(!packages_parse_source(&arena, "{\"url\":\"--x\",\"resolvedUrl\":\"path:/home/x\"}",
				     &source));
	CHECK(!packages_parse_source(&arena, "{\"url\":\"a\"}", &source));
	CHECK(!packages_parse_source(&arena, "[]", &source));
}

static struct package_request request_of(const char *reference, const char *stamp,
					 const char *first, const char *second)
{
	struct package_request request = { reference, "x86_64", stamp, { 0 } };

	vec_push(&arena, &request.names, first);
	if (second)
		vec_push(&arena, &request.names, second);
	return request;
}

static void test_cache(void)
{
	struct package_request request = request_of("nixpkgs", "1:2:3", "a", "b");
	struct package_request other;
	struct package_answer answer = { .nixpkgs = STORE "source" };
	struct package_answer read = { 0 };
	const char *fixed;
	const char *remote;

	vec_push(&arena, &answer.rows,
		 (struct package_facts){ "a", { 0 }, STORE "a", STORE "a/bin" });
	vec_push(&arena, &answer.rows,
		 (struct package_facts){ "a", { 0 }, STORE "a2", STORE "a2/bin" });
	vec_push(&arena, &answer.rows, (struct package_facts){ "b", { 0 }, STORE "b", NULL });
	fixed = packages_render_cache(&arena, &request, &answer, REFERENCE_FIXED, 1000);
	remote = packages_render_cache(&arena, &request, &answer, REFERENCE_REMOTE, 1000);
	CHECK(packages_parse_cache(&arena, fixed, &request, 1L << 40, &read) &&
	      read.rows.count == 3);
	CHECK_STRING(read.rows.items[1].bin, STORE "a2/bin");
	CHECK_STRING(read.rows.items[2].path, STORE "b");
	CHECK(read.rows.items[2].bin == NULL);
	CHECK_STRING(read.nixpkgs, STORE "source");
	answer.nixpkgs = NULL;
	CHECK(packages_parse_cache(
		&arena, packages_render_cache(&arena, &request, &answer, REFERENCE_FIXED, 1000),
		&request, 1000, &read));
	CHECK(read.nixpkgs == NULL);
	answer.nixpkgs = "/home/user/nixpkgs";
	CHECK(!packages_parse_cache(
		&arena, packages_render_cache(&arena, &request, &answer, REFERENCE_FIXED, 1000),
		&request, 1000, &read));
	CHECK(packages_parse_cache(&arena, remote, &request, 1000, &read));
	CHECK(packages_parse_cache(&arena, remote, &request, 1000 + PACKAGES_REMOTE_SECONDS - 1,
				   &read));
	CHECK(!packages_parse_cache(&arena, remote, &request, 1000 + PACKAGES_REMOTE_SECONDS,
				    &read));
	CHECK(!packages_parse_cache(&arena, remote, &request, 999, &read));
	other = request_of("nixpkgs", "1:2:4", "a", "b");
	CHECK(!packages_parse_cache(&arena, fixed, &other, 1000, &read));
	CHECK_STRING(packages_key(&arena, &other), packages_key(&arena, &request));
	other = request_of("other", "1:2:3", "a", "b");
	CHECK(!packages_parse_cache(&arena, fixed, &other, 1000, &read));
	CHECK(!str_equal(packages_key(&arena, &other), packages_key(&arena, &request)));
	other = request_of("nixpkgs", "1:2:3", "b", "a");
	CHECK(!packages_parse_cache(&arena, fixed, &other, 1000, &read));
	CHECK(!str_equal(packages_key(&arena, &other), packages_key(&arena, &request)));
	other = request_of("nixpkgs", "1:2:3", "a", NULL);
	CHECK(!packages_parse_cache(&arena, fixed, &other, 1000, &read));
	CHECK(!packages_parse_cache(&arena, NULL, &request, 1000, &read));
	CHECK(strlen(packages_key(&arena, &request)) == 32);
}

static void test_messages(void)
{
	static const char build[] = "building '" STORE "b.drv'...\n"
				    "error: builder for '" STORE "b.drv' failed with exit code 3;\n"
				    "       last 1 log lines:\n"
				    "       > why \033[31mit fails\n"
				    "error: 1 dependencies of derivation '" STORE
				    "a.drv' failed to build\n";
	static const char trace[] =
		"error:\n       … while evaluating\n\n       error: the reason\n"
		"(use '--show-trace' to show detailed location information)\n";

	CHECK_STRING(packages_parse_progress(&arena, "building '" STORE "hello-2.1.drv'..."),
		     "building hello-2.1");
	CHECK_STRING(packages_parse_progress(&arena,
					     "copying path '" STORE "x' from 'https://c.org'..."),
		     "fetching x");
	CHECK_STRING(packages_parse_progress(&arena, "building '" STORE "\033[2J.drv'..."),
		     "building \\x1b[2J");
	CHECK(!packages_parse_progress(&arena, "building '/nix/store/short'..."));
	CHECK(!packages_parse_progress(&arena, "building '" STORE "x"));
	CHECK(!packages_parse_progress(&arena, "warning: building"));
	CHECK_STRING(packages_parse_reason(&arena, build, true),
		     "builder for '" STORE "b.drv' failed with exit code 3;\n"
		     "  last 1 log lines:\n"
		     "  > why \\x1b[31mit fails");
	CHECK_STRING(packages_parse_reason(&arena, trace, false), "the reason");
	CHECK_STRING(packages_parse_reason(&arena, "", false), "nix gives no reason");
	CHECK_STRING(packages_parse_reason(&arena, "something else\n", true), "something else");
	CHECK_STRING(packages_parse_suggestion(&arena,
					       "error: x\n       Did you mean one of a or b?\n"),
		     "did you mean one of a or b?");
	CHECK(!packages_parse_suggestion(&arena, "error: x\n"));
}

// A plan with packages is refused if the box has no store.
static void test_plan(void)
{
	struct world world;

	world_debian(&world);
	vec_push(&world.arena, &world.facts.packages,
		 (struct package_facts){ "a", { 0 }, STORE "a", STORE "a/bin" });
	CHECK(!world_plan(&world));
	world_free(&world);
}

int main(void)
{
	test_references();
	test_requests();
	test_derivations();
	test_builds_and_sources();
	test_cache();
	test_messages();
	test_plan();
	arena_free(&arena);
	return check_done();
}
