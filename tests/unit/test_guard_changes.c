// SPDX-License-Identifier: MIT
// Which changes of a box's copy of a git configuration reach the host, and which settings of an
// .npmrc are harmless.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "plan/guard/applied.h"
#include "plan/guard/changes.h"
#include "plan/guard/npmrc.h"

static struct arena arena;

static const struct git_key_place place = { .worktree = "/home/u/p",
					    .directory = "/home/u/p/.git",
					    .is_users = true };

#define ORIGIN \
	"[remote \"origin\"]\nurl = https://example.org/a\nfetch = +refs/heads/*:refs/remotes/origin/*\n"
#define LOCAL "[remote \"origin\"]\nurl = /srv/a\nfetch = +refs/heads/*:refs/remotes/origin/*\n"
#define MAIN  "[branch \"main\"]\nremote = origin\nmerge = refs/heads/main\n"
#define UP \
	"[remote \"up\"]\nurl = https://example.org/up\nfetch = +refs/heads/*:refs/remotes/up/*\n"
#define SUB "[submodule \"lib\"]\nactive = true\nurl = /srv/lib\n"

struct change_case {
	const char *what;
	const char *base;
	const char *copy;
	const char *applied; // names, separated by blanks
	const char *refused;
	const char *kept;
	const char *host; // NULL: the same as at the start
	const char *conflict;
};

static const struct change_case probes[] = {
	{ "git init in a box finds other modes", "[core]\nfilemode = true\n",
	  "[core]\nfilemode = false\nsymlinks = false\nignorecase = true\nprecomposeunicode = true\n",
	  "", "", "", NULL, "" },
	{ "and other settings of the section are applied", "[core]\nfilemode = true\n",
	  "[core]\nautocrlf = input\n", "core.autocrlf", "", "", NULL, "" },
	{ "a bare repository", "[core]\nbare = false\n", "[core]\nbare = true\n", "", "core.bare",
	  "", NULL, "" },
	{ "a bare repository, by removal", "[core]\nbare = false\n", "", "core.bare", "", "", NULL,
	  "" },
};

static const struct change_case formats[] = {
	{ "git sparse-checkout", "[core]\nbare = false\n",
	  "[core]\nbare = false\n[extensions]\nworktreeConfig = true\n",
	  "extensions.worktreeconfig", "", "", NULL, "" },
	{ "git sparse-checkout in a worktree of a bare repository", "[core]\nbare = true\n",
	  "[extensions]\nworktreeConfig = true\n", "", "extensions.worktreeconfig", "core.bare",
	  NULL, "" },
	{ "config.worktree has no effect any more", "[extensions]\nworktreeConfig = true\n", "", "",
	  "", "extensions.worktreeconfig", NULL, "" },
	{ "an extension of the other version of the format",
	  "[core]\nrepositoryformatversion = 0\n",
	  "[core]\nrepositoryformatversion = 0\n[extensions]\nrefStorage = files\n", "",
	  "extensions.refstorage", "", NULL, "" },
	{ "git refs migrate",
	  "[core]\nrepositoryformatversion = 1\n[extensions]\nrefStorage = reftable\n",
	  "[core]\nrepositoryformatversion = 0\n", "", "core.repositoryformatversion",
	  "extensions.refstorage", NULL, "" },
};

static const struct change_case remotes[] = {
	{ "a new remote", ORIGIN, ORIGIN UP, "remote.up.url remote.up.fetch", "", "", NULL, "" },
	{ "a new remote with a local address", ORIGIN,
	  ORIGIN "[remote \"up\"]\nurl = /srv/b\nfetch = +refs/heads/*:refs/remotes/up/*\n", "",
	  "remote.up.url remote.up.fetch", "", NULL, "" },
	{ "a branch of it", ORIGIN,
	  ORIGIN
	  "[remote \"up\"]\nurl = /srv/b\n[branch \"x\"]\nremote = up\nmerge = refs/heads/x\n"
	  "description = y\n",
	  "branch.x.description", "remote.up.url branch.x.remote branch.x.merge", "", NULL, "" },
	{ "a branch that follows a new remote", ORIGIN,
	  ORIGIN UP "[branch \"main\"]\nremote = up\nmerge = refs/heads/main\n",
	  "remote.up.url remote.up.fetch", "branch.main.remote branch.main.merge", "", NULL, "" },
	{ "a branch that follows a remote of the user", ORIGIN,
	  ORIGIN "[branch \"x\"]\nremote = origin\nmerge = refs/heads/x\n",
	  "branch.x.remote branch.x.merge", "", "", NULL, "" },
	{ "a new remote that updates references of another", ORIGIN,
	  ORIGIN "[remote \"up\"]\nurl = https://example.com/u\n"
		 "fetch = +refs/heads/main:refs/remotes/origin/main\n",
	  "remote.up.url", "remote.up.fetch", "", NULL, "" },
	{ "a pattern that includes another remote", ORIGIN,
	  ORIGIN "[remote \"o\"]\nurl = https://example.com/u\n"
		 "fetch = +refs/heads/*:refs/remotes/o*\n",
	  "remote.o.url", "remote.o.fetch", "", NULL, "" },
	{ "a remote for missing objects", ORIGIN,
	  ORIGIN UP "promisor = true\npartialclonefilter = blob:none\n"
		    "[extensions]\npartialclone = up\n",
	  "remote.up.url remote.up.fetch",
	  "remote.up.promisor remote.up.partialclonefilter extensions.partialclone", "", NULL, "" },
	{ "a new remote with a program", ORIGIN, ORIGIN UP "uploadpack = x\n",
	  "remote.up.url remote.up.fetch", "remote.up.uploadpack", "", NULL, "" },
	{ "a new remote among dependencies", "",
	  "[remote \"up\"]\nurl = ./node_modules/e.git\npushurl = https://example.org/x\n", "",
	  "remote.up.url remote.up.pushurl", "", NULL, "" },
	{ "git remote rename", LOCAL MAIN,
	  "[remote \"o2\"]\nurl = /srv/a\nfetch = +refs/heads/*:refs/remotes/o2/*\n"
	  "[branch \"main\"]\nremote = o2\nmerge = refs/heads/main\n",
	  "remote.origin.url remote.origin.fetch branch.main.remote remote.o2.url remote.o2.fetch",
	  "", "", NULL, "" },
	{ "git remote rename, with push settings",
	  LOCAL "pushurl = /srv/c\nproxy = x\n[remote]\npushdefault = origin\n"
		"[branch \"m\"]\npushremote = origin\n",
	  "[remote \"o2\"]\nurl = /srv/a\npushurl = /srv/c\nproxy = x\n[remote]\npushdefault = o2\n"
	  "[branch \"m\"]\npushremote = o2\n",
	  "remote.origin.url remote.origin.fetch remote.origin.pushurl remote.origin.proxy "
	  "remote.pushdefault branch.m.pushremote remote.o2.url remote.o2.pushurl remote.o2.proxy",
	  "", "", NULL, "" },
	{ "a rename that adds another address", LOCAL MAIN,
	  "[remote \"o2\"]\nurl = /srv/a\nurl = https://example.org/x\n"
	  "[branch \"main\"]\nremote = o2\nmerge = refs/heads/main\n",
	  "remote.origin.url remote.origin.fetch", "branch.main.remote remote.o2.url", "", NULL,
	  "" },
	{ "the program of a remote for another address",
	  "[remote \"a\"]\nurl = https://example.org/a\nvcs = ext\n",
	  "[remote \"a\"]\nurl = https://example.org/a\nvcs = ext\n"
	  "[remote \"b\"]\nurl = ./evil\nvcs = ext\n",
	  "remote.b.url", "remote.b.vcs", "", NULL, "" },
	{ "the program of a remote without an address", "[remote \"a\"]\nvcs = ext\n",
	  "[remote \"a\"]\nvcs = ext\n[remote \"b\"]\nvcs = ext\n", "", "remote.b.vcs", "", NULL,
	  "" },
	{ "git remote remove", LOCAL MAIN "[remote]\npushdefault = origin\n", "",
	  "remote.origin.url remote.origin.fetch branch.main.remote branch.main.merge "
	  "remote.pushdefault",
	  "", "", NULL, "" },
	{ "the same with a program", LOCAL "uploadpack = x\n", "",
	  "remote.origin.url remote.origin.fetch remote.origin.uploadpack", "", "", NULL, "" },
	{ "the address alone is removed", ORIGIN,
	  "[remote \"origin\"]\nfetch = +refs/heads/*:refs/remotes/origin/*\n", "", "",
	  "remote.origin.url", NULL, "" },
	{ "all is removed, and something else is added", ORIGIN,
	  "[remote \"origin\"]\nprune = true\n", "remote.origin.fetch remote.origin.prune", "",
	  "remote.origin.url", NULL, "" },
	{ "a repair of a remote without an address", "[remote \"x\"]\nfetch = y\n",
	  "[remote \"x\"]\nfetch = y\nurl = https://example.org/x\n", "remote.x.url", "", "", NULL,
	  "" },
};

static const struct change_case redirects[] = {
	{ "another address", ORIGIN, "[remote \"origin\"]\nurl = https://example.com/b\n",
	  "remote.origin.fetch", "remote.origin.url", "", NULL, "" },
	{ "a second address", "[remote \"o\"]\nurl = https://example.org/a\n",
	  "[remote \"o\"]\nurl = https://example.org/a\nurl = https://example.com/b\n", "",
	  "remote.o.url", "", NULL, "" },
	{ "another address instead of a local one", LOCAL,
	  "[remote \"origin\"]\nurl = https://example.com/b\n", "remote.origin.fetch",
	  "remote.origin.url", "", NULL, "" },
	{ "an address of pushes", ORIGIN, ORIGIN "pushurl = https://example.com/b\n", "",
	  "remote.origin.pushurl", "", NULL, "" },
	{ "an address of pushes, removed", ORIGIN "pushurl = https://example.com/b\n", ORIGIN, "",
	  "", "remote.origin.pushurl", NULL, "" },
	{ "what a push sends", ORIGIN, ORIGIN "mirror = true\npush = +refs/*:refs/*\n", "",
	  "remote.origin.mirror remote.origin.push", "", NULL, "" },
	{ "of a new remote", "", UP "pushurl = https://example.org/b\nmirror = true\n",
	  "remote.up.url remote.up.fetch remote.up.pushurl remote.up.mirror", "", "", NULL, "" },
	{ "the remote of all pushes", ORIGIN UP, ORIGIN UP "[remote]\npushdefault = up\n", "",
	  "remote.pushdefault", "", NULL, "" },
	{ "the same, removed", ORIGIN UP "[remote]\npushdefault = up\n", ORIGIN UP, "", "",
	  "remote.pushdefault", NULL, "" },
	{ "the remote of a branch's pushes", ORIGIN UP MAIN, ORIGIN UP MAIN "pushremote = up\n", "",
	  "branch.main.pushremote", "", NULL, "" },
	{ "the same, removed", ORIGIN UP MAIN "pushremote = up\n", ORIGIN UP MAIN, "", "",
	  "branch.main.pushremote", NULL, "" },
	{ "the same with the branch", ORIGIN UP MAIN "pushremote = up\n", ORIGIN UP,
	  "branch.main.remote branch.main.merge branch.main.pushremote", "", "", NULL, "" },
	{ "the remote of a branch", ORIGIN UP MAIN,
	  ORIGIN UP "[branch \"main\"]\nremote = up\nmerge = refs/heads/x\n", "",
	  "branch.main.remote branch.main.merge", "", NULL, "" },
	{ "the branch that a branch follows", ORIGIN MAIN,
	  ORIGIN "[branch \"main\"]\nremote = origin\nmerge = refs/heads/x\n", "branch.main.merge",
	  "", "", NULL, "" },
	{ "a branch that follows none", ORIGIN UP "[branch \"x\"]\ndescription = y\n",
	  ORIGIN UP "[branch \"x\"]\ndescription = y\nremote = up\nmerge = refs/heads/x\n",
	  "branch.x.remote branch.x.merge", "", "", NULL, "" },
	{ "a branch of this repository", "", "[branch \"x\"]\nremote = .\nmerge = refs/heads/y\n",
	  "branch.x.remote branch.x.merge", "", "", NULL, "" },
	{ "a remote that does not exist", ORIGIN,
	  ORIGIN "[branch \"x\"]\nremote = up\nmerge = refs/heads/x\n", "",
	  "branch.x.remote branch.x.merge", "", NULL, "" },
	{ "a remote that is removed", ORIGIN, MAIN, "remote.origin.url remote.origin.fetch",
	  "branch.main.remote branch.main.merge", "", NULL, "" },
	{ "git branch --unset-upstream", ORIGIN MAIN, ORIGIN,
	  "branch.main.remote branch.main.merge", "", "", NULL, "" },
	{ "git branch -m",
	  ORIGIN "[branch \"a\"]\nremote = /srv/x\nmergeoptions = -s x\npushremote = y\n",
	  ORIGIN "[branch \"b\"]\nremote = /srv/x\nmergeoptions = -s x\npushremote = y\n",
	  "branch.a.remote branch.a.mergeoptions branch.a.pushremote branch.b.remote "
	  "branch.b.mergeoptions branch.b.pushremote",
	  "", "", NULL, "" },
};

static const struct change_case others[] = {
	{ "git submodule deinit", SUB, "", "submodule.lib.active submodule.lib.url", "", "", NULL,
	  "" },
	{ "git submodule set-url", SUB,
	  "[submodule \"lib\"]\nactive = true\nurl = https://example.org/lib\n",
	  "submodule.lib.url", "", "", NULL, "" },
	{ "a new submodule with a local address", "", SUB, "",
	  "submodule.lib.active submodule.lib.url", "", NULL, "" },
	{ "a setting that executes is removed",
	  "[core]\nhooksPath = hooks\n[filter \"x\"]\nclean = y\n", "", "", "",
	  "core.hookspath filter.x.clean", NULL, "" },
	{ "a check is removed", "[transfer]\nfsckObjects = true\n", "", "", "",
	  "transfer.fsckobjects", NULL, "" },
	{ "a check is switched on", "", "[transfer]\nfsckObjects\n", "transfer.fsckobjects", "", "",
	  NULL, "" },
	{ "an address under another name is a redirect",
	  "[url \"ssh://git@example.org/\"]\ninsteadOf = https://example.org/\n",
	  "[url \"ssh://git@example.org/\"]\ninsteadOf = https://example.org/\n"
	  "[url \"https://example.com/\"]\ninsteadOf = https://example.org/\n",
	  "", "url.https://example.com/.insteadof", "", NULL, "" },
	{ "settings without a row", "", "[alias]\nco = checkout\n[foo]\nbar = 1\n", "",
	  "alias.co foo.bar", "", NULL, "" },
	{ "the host has changed the same", "[user]\nname = a\nemail = b\n",
	  "[user]\nname = c\nemail = d\n", "", "", "", "[user]\nname = c\nemail = x\n",
	  "user.email" },
	{ "the host has added the remote", "", UP "pushurl = https://example.org/b\n", "",
	  "remote.up.pushurl", "", UP, "" },
};

static const char *join(const strings *names)
{
	struct text text = { .arena = &arena };

	vec_each(name, names)
		text_printf(&text, "%s%s", text.length ? " " : "", *name);
	return text_get(&text);
}

static void check_cases(const struct change_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct change_case *c = &cases[i];
		struct git_config_texts texts = { .base = c->base,
						  .copy = c->copy,
						  .host = c->host ? c->host : c->base };
		struct git_division division;
		strings applied = { 0 };

		CHECK(git_changes_divide(&arena, &texts, &place, git_key_refusal, &division));
		vec_each(change, &division.harmless)
			vec_push(&arena, &applied, change->name);
		CHECK_CASE_STRING(join(&applied), c->applied, c->what);
		CHECK_CASE_STRING(join(&division.refused), c->refused, c->what);
		CHECK_CASE_STRING(join(&division.kept), c->kept, c->what);
		CHECK_CASE_STRING(join(&division.conflict), c->conflict, c->what);
	}
}

static void test_told_settings(void)
{
	static const char *const told[] = {
		"user.email",  "core.autocrlf",      "push.default",          "pull.rebase",
		"branch.sort", "branch.main.rebase", "branch.a.b.pushremote", "remote.pushdefault",
		"pager.log",   "submodule.recurse",  "branch.remote",         "remotes.a.url",
		"color.ui",
	};
	static const char *const routine[] = {
		"branch.main.remote",   "branch.a.b.merge", "branch.main.vscode-merge-base",
		"remote.origin.url",    "remote.a.b.fetch", "submodule.lib.url",
		"submodule.lib.active",
	};

	for (size_t i = 0; i < ARRAY_SIZE(told); i++)
		CHECK_CASE(git_setting_is_told(told[i]), told[i]);
	for (size_t i = 0; i < ARRAY_SIZE(routine); i++)
		CHECK_CASE(!git_setting_is_told(routine[i]), routine[i]);
}

static void test_texts_that_cannot_be_parsed(void)
{
	struct git_config_texts texts = { .base = "", .copy = "[a", .host = "" };
	struct git_division division;

	CHECK(!git_changes_divide(&arena, &texts, &place, git_key_refusal, &division));
	texts = (struct git_config_texts){ .base = "", .copy = "", .host = "[a" };
	CHECK(!git_changes_divide(&arena, &texts, &place, git_key_refusal, &division));
}

static void test_npmrc(void)
{
	static const char *const good[] = {
		"",
		"# x\n; y\n\n  fund = false\r\nsave-exact=true\nomit[]=dev\n",
		"ignore-scripts=true\nignore-scripts\n ignore-scripts = true \r\n",
		"audit=true\nengine-strict=true\npackage-lock=true\nlockfile=true\n",
	};
	static const char *const bad[] = {
		"ignore-scripts=false",
		"ignore-scripts=",
		"ignore-scripts=0",
		"ignore-scripts=true false",
		"ignore-scripts[]=true",
		"fund=false\nignore-scripts = false\n",
		"audit=false",
		"audit-level=none",
		"engine-strict=false",
		"package-lock=false",
		"lockfile=false",
		"sign-git-tag=false",
		"strict-ssl=false",
		"loglevel=silent",
		"registry=https://example.org/",
		"@x:registry=https://example.org/",
		"//example.org/:_authToken=x",
		"script-shell=x",
		"message=${HOME}",
		"[fund]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CHECK_CASE(npmrc_is_harmless(&arena, good[i]), good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_CASE(!npmrc_is_harmless(&arena, bad[i]), bad[i]);
}

int main(void)
{
	check_cases(probes, ARRAY_SIZE(probes));
	check_cases(formats, ARRAY_SIZE(formats));
	check_cases(remotes, ARRAY_SIZE(remotes));
	check_cases(redirects, ARRAY_SIZE(redirects));
	check_cases(others, ARRAY_SIZE(others));
	test_texts_that_cannot_be_parsed();
	test_told_settings();
	test_npmrc();
	arena_free(&arena);
	return check_done();
}
