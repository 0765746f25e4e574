// SPDX-License-Identifier: MIT
// The guard's judgement of git configuration, and its edits. test_guard_git.py compares the edits
// with git.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "plan/guard/address.h"
#include "plan/guard/config_edit.h"
#include "plan/guard/keys.h"

#include <string.h>

static struct arena arena;

static const struct git_key_place top = { .worktree = "/home/u/p", .directory = "/home/u/p/.git" };
static const struct git_key_place modules = { .worktree = "/home/u/p",
					      .directory = "/home/u/p/.git/modules/sub",
					      .is_modules = true };
static const struct git_key_place bare = { .directory = "/home/u/p/bare.git" };
static const struct git_key_place users = { .worktree = "/home/u/p",
					    .directory = "/home/u/p/.git",
					    .is_users = true };
static const struct git_key_place behind = { .worktree = "/home/u/p",
					     .directory = "/home/u/p/.git",
					     .overrides = true };

struct row {
	const char *name;
	const char *value;
};

static void check_rows(const struct row *rows, size_t count, const struct git_key_place *place,
		       bool harmless)
{
	for (size_t i = 0; i < count; i++) {
		const char *reason = git_key_refusal(&arena, rows[i].name, rows[i].value, place);

		CHECK_CASE(!reason == harmless,
			   arena_printf(&arena, "%s=%s is %s%s", rows[i].name,
					rows[i].value ? rows[i].value : "(none)",
					harmless ? "harmless" : "refused: ", reason ? reason : ""));
	}
}

static void test_table(void)
{
	for (size_t i = 0; i < git_key_count; i++) {
		const struct git_key_row *row = &git_key_table[i];

		CHECK_CASE(*row->why && *row->keys &&
				   (row->rule == KEY_CHOICE || row->rule == KEY_FORMAT) ==
					   !!row->words,
			   arena_printf(&arena, "the row of %s %s is complete", row->section,
					row->keys));
		CHECK_CASE(
			strspn(row->keys, "abcdefghijklmnopqrstuvwxyz-*1 ") == strlen(row->keys) &&
				(!strchr(row->keys, '*') || !row->keys[1]),
			arena_printf(&arena, "%s %s: keys in lower case", row->section, row->keys));
	}
}

// What git, clone, submodule, worktree, branch, sparse-checkout and git-lfs write.
static void test_what_git_writes(void)
{
	static const struct row rows[] = {
		{ "core.repositoryformatversion", "1" },
		{ "core.filemode", "true" },
		{ "core.bare", "false" },
		{ "core.bare", NULL },
		{ "core.logallrefupdates", "true" },
		{ "core.ignorecase", "true" },
		{ "core.precomposeunicode", "true" },
		{ "core.autocrlf", "input" },
		{ "core.sparsecheckout", "true" },
		{ "core.untrackedcache", "keep" },
		{ "core.fsmonitor", "false" },
		{ "core.worktree", "/home/u/p" },
		{ "core.worktree", ".." },
		{ "core.bare", "true" },
		{ "remote.origin.fetch", "+refs/*:refs/*" },
		{ "core.sharedrepository", "1" },
		{ "core.sharedrepository", "0660" },
		{ "receive.denynonfastforwards", "true" },
		{ "extensions.worktreeconfig", "true" },
		{ "extensions.objectformat", "sha256" },
		{ "extensions.refstorage", "reftable" },
		{ "extensions.partialclone", "origin" },
		{ "remote.origin.url", "https://example.org/a/b.git" },
		{ "remote.origin.url", "https://user:token@example.org:8443/a/b?c=d" },
		{ "remote.origin.url", "ssh://git@example.org:22/~user/b.git" },
		{ "remote.origin.url", "ssh://git@[2001:db8::1]:22/b.git" },
		{ "remote.origin.url", "git+ssh://example.org/b.git" },
		{ "remote.origin.url", "git@example.org:a/b.git" },
		{ "remote.origin.url", "example.org:b.git" },
		{ "remote.origin.url", "git@[2001:db8::1]:b.git" },
		{ "remote.origin.url", "[git@example.org:22]:b.git" },
		{ "remote.origin.url", "git://example.org/b.git" },
		{ "remote.origin.url", "/home/u/p/sub/.git" },
		{ "remote.origin.url", "/home/u/p" },
		{ "remote.origin.url", "file:///home/u/p/sub" },
		{ "remote.origin.url", "./sub" },
		{ "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*" },
		{ "remote.origin.fetch", "^refs/heads/x" },
		{ "remote.origin.tagopt", "--no-tags" },
		{ "remote.origin.promisor", "true" },
		{ "remote.origin.partialclonefilter", "blob:limit=1m" },
		{ "remote.a/b.prune", "true" },
		{ "branch.main.remote", "origin" },
		{ "branch.main.remote", "." },
		{ "branch.main.merge", "refs/heads/main" },
		{ "branch.f\xc3\xa9/x.y.merge", "refs/heads/f\xc3\xa9/x.y" },
		{ "branch.main.rebase", "true" },
		{ "branch.main.description", "two\nlines; $(not a program)\n" },
		{ "user.name", "A. \"B\" C" },
		{ "user.email", "a@example.org" },
		{ "submodule.lib.url", "https://example.org/lib.git" },
		{ "submodule.lib/x.active", "true" },
		{ "submodule.lib.update", "rebase" },
		{ "submodule.active", "." },
		{ "pull.rebase", "merges" },
		{ "commit.cleanup", "scissors" },
		{ "color.ui", "auto" },
		{ "fetch.fsckobjects", "true" },
		{ "merge.verifysignatures", "true" },
		{ "status.showuntrackedfiles", "all" },
		{ "diff.ignoresubmodules", "none" },
		{ "pager.branch", "false" },
		{ "gc.auto", "0" },
		{ "lfs.repositoryformatversion", "0" },
		{ "lfs.https://example.org/a/b.git/info/lfs.access", "basic" },
	};

	check_rows(rows, ARRAY_SIZE(rows), &top, true);
}

// Entries that run a program, read a file or lead elsewhere.
static void test_refused(void)
{
	static const struct row rows[] = {
		{ "core.fsmonitor", "true" },
		{ "core.fsmonitor", "/tmp/x" },
		{ "core.fsmonitor", NULL },
		{ "core.hookspath", "hooks" },
		{ "core.hookspath", "" },
		{ "core.pager", "less" },
		{ "core.editor", "vi" },
		{ "core.sshcommand", "ssh" },
		{ "core.gitproxy", "x" },
		{ "core.askpass", "x" },
		{ "core.alternaterefscommand", "x" },
		{ "core.attributesfile", "x" },
		{ "core.excludesfile", "/etc/passwd" },
		{ "core.commentchar", "p" },
		{ "core.commentchar", ";" },
		{ "core.commentstring", "pick" },
		{ "core.sharedrepository", "0666" },
		{ "core.sharedrepository", "0777" },
		{ "receive.denynonfastforwards", "false" },
		{ "core.splitindex", "true" },
		{ "core.protectntfs", "false" },
		{ "core.repositoryformatversion", "9" },
		{ "core.untrackedcache", "!x" },
		{ "core.eol", "a/b" },
		{ "core.x.bare", "true" },
		{ "core.logallrefupdates", "false" },
		{ "core.trustctime", "false" },
		{ "core.checkstat", "minimal" },
		{ "core.bigfilethreshold", "1" },
		{ "core.safecrlf", "false" },
		{ "core.fsync", "none" },
		{ "core.ignorestat", "true" },
		{ "bare", "true" },
		{ ".x.y", "true" },
		{ "extensions.refstorage", "files:///tmp" },
		{ "extensions.unknown", "true" },
		{ "extensions.compatobjectformat", "sha256" },
		{ "extensions.noop", "x" },
		{ "extensions.preciousobjects", "false" },
		{ "include.path", "x" },
		{ "includeif.gitdir:/.path", "x" },
		{ "alias.st", "status" },
		{ "filter.lfs.clean", "git-lfs clean -- %f" },
		{ "diff.external", "x" },
		{ "diff.orderfile", "/etc/passwd" },
		{ "diff.x.textconv", "x" },
		{ "diff.x.command", "x" },
		{ "merge.x.driver", "x" },
		{ "merge.tool", "x" },
		{ "mergetool.x.cmd", "x" },
		{ "difftool.x.path", "x" },
		{ "credential.helper", "x" },
		{ "credential.https://example.org.helper", "x" },
		{ "http.proxy", "x" },
		{ "http.https://example.org/.sslverify", "false" },
		{ "url.ext::x.insteadof", "https://" },
		{ "protocol.ext.allow", "always" },
		{ "gpg.program", "x" },
		{ "gpg.ssh.defaultkeycommand", "x" },
		{ "commit.gpgsign", "true" },
		{ "commit.gpgsign", "false" },
		{ "commit.cleanup", "x" },
		{ "tag.gpgsign", "false" },
		{ "push.gpgsign", "false" },
		{ "push.default", "matching" },
		{ "push.followtags", "true" },
		{ "push.recursesubmodules", "on-demand" },
		{ "push.useforceifincludes", "false" },
		{ "fetch.prunetags", "true" },
		{ "fetch.fsckobjects", "false" },
		{ "fetch.showforcedupdates", "false" },
		{ "transfer.fsckobjects", "false" },
		{ "transfer.fsckobjects", "0" },
		{ "transfer.credentialsinurl", "allow" },
		{ "receive.fsckobjects", "false" },
		{ "merge.verifysignatures", "false" },
		{ "status.showuntrackedfiles", "no" },
		{ "diff.ignoresubmodules", "all" },
		{ "diff.ignoresubmodules", "dirty" },
		{ "diff.relative", "true" },
		{ "diff.wordregex", "x" },
		{ "diff.x.binary", "true" },
		{ "diff.x.wordregex", "x" },
		{ "log.showroot", "false" },
		{ "log.diffmerges", "off" },
		{ "color.diff.new", "black black" },
		{ "submodule.lib.ignore", "all" },
		{ "gc.pruneexpire", "now" },
		{ "gc.pruneexpire", "never" },
		{ "gc.reflogexpire", "now" },
		{ "gc.reflogexpireunreachable", "now" },
		{ "gc.refs/stash.reflogexpire", "now" },
		{ "gc.worktreepruneexpire", "now" },
		{ "fsck.missingemail", "ignore" },
		{ "lfs.locksverify", "false" },
		{ "lfs.allowincompletepush", "true" },
		{ "commit.template", "/etc/passwd" },
		{ "log.showsignature", "true" },
		{ "format.pretty", "%G?" },
		{ "format.outputdirectory", "/tmp" },
		{ "rebase.instructionformat", "%s%nexec x" },
		{ "trailer.x.command", "x" },
		{ "sequence.editor", "x" },
		{ "interactive.difffilter", "x" },
		{ "uploadpack.packobjectshook", "x" },
		{ "receive.denycurrentbranch", "updateInstead" },
		{ "tar.tar.gz.command", "x" },
		{ "man.x.cmd", "x" },
		{ "browser.x.cmd", "x" },
		{ "guitool.x.cmd", "x" },
		{ "instaweb.httpd", "x" },
		{ "sendemail.smtpserver", "/tmp/x" },
		{ "gc.recentobjectshook", "x" },
		{ "gc.repackfilterto", "/tmp/x" },
		{ "hook.x.command", "x" },
		{ "fetch.bundleuri", "https://example.org" },
		{ "lfs.url", "https://example.org" },
		{ "lfs.customtransfer.x.path", "x" },
		{ "lfs.extension.x.clean", "x" },
		{ "lfs.storage", "/tmp" },
		{ "pager.status", "x" },
		{ "pull.twohead", "x" },
		{ "branch.main.mergeoptions", "-s x" },
		{ "branch.main.remote", "ext::sh -c x" },
		{ "branch.main.remote", "https://example.org/a/b.git" },
		{ "branch.main.remote", "git@example.org:b.git" },
		{ "branch.main.remote", "./x" },
		{ "branch.main.remote", "x/y" },
		{ "branch.main.remote", "node_modules" },
		{ "branch.main.pushremote", "./node_modules/e.git" },
		{ "remote.pushdefault", "node_modules/e.git" },
		{ "remote.pushdefault", "x/y:z" },
		{ "remote.origin.prunetags", "true" },
		{ "remote.https://example.org/a.url", "https://example.org/b" },
		{ "remote.git@example.org:a.url", "https://example.org/b" },
		{ "remote./srv/a.url", "https://example.org/b" },
		{ "remote.../a.url", "https://example.org/b" },
		{ "branch.main.remote", "../x" },
		{ "branch.main.remote", "/tmp/x" },
		{ "branch.main.remote", "--upload-pack=x" },
		{ "branch.main.remote", NULL },
		{ "branch.main.merge", "a..b" },
		{ "remote.origin.uploadpack", "x" },
		{ "remote.origin.receivepack", "x" },
		{ "remote.origin.vcs", "x" },
		{ "remote.origin.proxy", "x" },
		{ "remote.--upload-pack=x.prune", "true" },
		{ "remote.origin.tagopt", "--upload-pack=x" },
		{ "remote.origin.tagopt", NULL },
		{ "submodule.lib.update", "!x" },
		{ "submodule.../x.url", "https://example.org/a" },
		{ "submodule.a/../../x.active", "true" },
		{ "submodule.lib.gitdir", "x" },
		{ "user.signingkey", "x" },
	};

	check_rows(rows, ARRAY_SIZE(rows), &top, false);
	CHECK_STRING(git_key_refusal(&arena, "core.fsmonitor", "x", &top), "names a program");
	CHECK_STRING(git_key_refusal(&arena, "url.x.insteadof", "y", &top),
		     "can redirect addresses");
	CHECK_STRING(git_key_refusal(&arena, "gc.pruneexpire", "now", &top),
		     "can lose data of the repository");
	CHECK_STRING(git_key_refusal(&arena, "color.diff.new", "black", &top), "can hide changes");
	CHECK_STRING(git_key_refusal(&arena, "tag.gpgsign", "false", &top),
		     "can switch a protection off");
	CHECK_STRING(git_key_refusal(&arena, "new.key", "y", &top), "is not known to be harmless");
	CHECK_STRING(git_key_refusal(&arena, "include.path", "y", &top), "includes another file");
}

// A repository of the user keeps its format, and its branches. A config.worktree does not override
// addresses.
static void test_repository_of_the_user(void)
{
	static const struct row good[] = {
		{ "core.bare", "false" },
		{ "extensions.worktreeconfig", "true" },
		{ "extensions.partialclone", "origin" },
		{ "remote.x.fetch", "+refs/heads/*:refs/remotes/x/*" },
		{ "remote.x.fetch", "refs/pull/*/head:refs/remotes/x/pr/*" },
		{ "remote.x.fetch", "^refs/heads/y" },
		{ "remote.x.fetch", "main" },
	};
	static const struct row bad[] = {
		{ "core.bare", "true" },
		{ "core.bare", NULL },
		{ "core.filemode", "false" },
		{ "core.symlinks", "true" },
		{ "core.sharedrepository", "group" },
		{ "core.repositoryformatversion", "0" },
		{ "core.repositoryformatversion", "1" },
		{ "extensions.objectformat", "sha256" },
		{ "extensions.refstorage", "files" },
		{ "extensions.refstorage", "reftable" },
		{ "extensions.relativeworktrees", "true" },
		{ "extensions.preciousobjects", "true" },
		{ "extensions.worktreeconfig", "false" },
		{ "remote.x.fetch", "+refs/heads/*:refs/heads/*" },
		{ "remote.x.fetch", "+refs/*:refs/*" },
		{ "remote.x.fetch", "refs/tags/*:refs/tags/*" },
	};
	static const struct row redirects[] = {
		{ "remote.origin.pushurl", "https://example.org/x" },
		{ "remote.pushdefault", "x" },
		{ "branch.main.remote", "x" },
	};

	check_rows(good, ARRAY_SIZE(good), &users, true);
	check_rows(bad, ARRAY_SIZE(bad), &users, false);
	check_rows(redirects, ARRAY_SIZE(redirects), &top, true);
	check_rows(redirects, ARRAY_SIZE(redirects), &behind, false);
}

static void test_addresses(void)
{
	static const char *const bad[] = {
		"",
		"ext::sh -c x",
		"fd::3",
		"word::https://example.org/",
		"::x",
		"a+b-c.d::x",
		"https::example.org/x",
		"evil://example.org/x",
		"HTTPS://example.org/x",
		"ftp://example.org/x",
		"-oProxyCommand=x",
		"-x:y",
		"ssh://-oProxyCommand=x/y",
		"ssh://-oProxyCommand=x@example.org/y",
		"ssh://%2doProxyCommand=x/y",
		"ssh://git@-x/y",
		"ssh://example.org:-x/y",
		"ssh://`x`/y",
		"ssh://$(x)@example.org/y",
		"ssh://example.org;x/y",
		"ssh:///y",
		"git@-x:y",
		"$(x):y",
		"a@b@example.org:y",
		"example.org:-y",
		"example.org:",
		"[-x]:y",
		"[::1:y",
		"x[::1]:y",
		"[::1]x:y",
		"https://example.org/a%0ab",
		"https://example.org/a\nb",
		"https://example.org/a\r",
		"https://example.org\\@example.com/",
		"https:///x",
		"https://",
		"/tmp/x",
		"/home/u/pp",
		"/home/u/p/../x",
		"../x",
		"sub/../../x",
		"~/x",
		"~u/x",
		"file:///tmp/x",
		"file://home/u/p",
		"file:///home/u/p/%2e%2e/x",
		"node_modules",
		"./node_modules/e.git",
		"a/node_modules/b/e.git",
		"/home/u/p/__pycache__/e.git",
		"file:///home/u/p/node_modules/e.git",
		".git/e.git",
		".git/modules/lfs",
		".git/modules/a/objects",
		".git/modules/a/.git",
		".git/modules/../e.git",
		".git/modulesx/a",
		"sub/.git/e.git",
		"node_modules/.git/modules/a",
		".GIT/e.git",
		".GIT/modules/a",
	};
	static const char *const local[] = { "/home/u/p",
					     "file:///home/u/p",
					     ".",
					     "sub",
					     "sub/.git",
					     ".git/modules/a/modules/b",
					     "sub/.git/worktrees/w" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_CASE(git_key_refusal(&arena, "remote.x.url", bad[i], &top), bad[i]);
	for (size_t i = 0; i < ARRAY_SIZE(local); i++) {
		CHECK_CASE(!git_key_refusal(&arena, "remote.x.url", local[i], &top), local[i]);
		CHECK_CASE(git_key_refusal(&arena, "remote.x.url", local[i], &bare), local[i]);
	}
	// The worktree of a submodule is not known here, so relative paths mean nothing.
	CHECK(git_key_refusal(&arena, "remote.x.url", "sub", &modules));
	CHECK(!git_key_refusal(&arena, "remote.x.url", "/home/u/p/sub", &modules));
	CHECK_STRING(git_key_path(&arena, "remote.x.url", "./a/../sub", &top), "/home/u/p/sub");
	CHECK_STRING(git_key_path(&arena, "remote.x.url", "file:///home/u/p/a/", &top),
		     "/home/u/p/a");
	CHECK_STRING(git_key_path(&arena, "branch.x.remote", "sub", &top), "/home/u/p/sub");
	CHECK_STRING(git_key_path(&arena, "remote.x.url", "https://example.org/a", &top), NULL);
	CHECK_STRING(git_key_path(&arena, "remote.x.url", "example.org:a", &top), NULL);
	CHECK_STRING(git_key_path(&arena, "remote.pushdefault", "sub", &top), "/home/u/p/sub");
	CHECK_STRING(git_key_path(&arena, "remote.x.fetch", "a", &top), NULL);
}

// To which git directories the `.git` of a worktree may lead, if its path is an address.
static void test_judged_directories(void)
{
	static const char *const listed[] = { "/home/u/main/.git", "/home/u/p/.git/modules/lfs" };
	static const char *const good[] = {
		"/home/u/main/.git",           "/home/u/main/.git/worktrees/p",
		"/home/u/main/.git/modules/a", "/home/u/p/.git/modules/lfs",
		"/home/u/p/.git/modules/a",    "/home/u/p/sub/.git/worktrees/w",
		"/home/u/p/sub.git",           "/home/u/p/.git",
	};
	static const char *const bad[] = {
		"/home/u/main",
		"/home/u/main/.gitx",
		"/home/u/main/.git/x",
		"/home/u/main/.git/modules/a/refs",
		"/home/u/other/.git",
		"/home/u/p/.git/modules/annex",
		"/home/u/p/.git/x",
		"/home/u/p/.GIT/modules/a",
		"/home/u/p/node_modules/a/.git",
		"/tmp",
	};
	const strings directories = { .items = (const char **)listed, .count = ARRAY_SIZE(listed) };
	struct git_key_place place = top;

	place.git_directories = &directories;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CHECK_CASE(git_directory_is_judged(&arena, good[i], &place), good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_CASE(!git_directory_is_judged(&arena, bad[i], &place), bad[i]);
	CHECK(!git_directory_is_judged(&arena, good[0], &top));
	CHECK(!git_directory_is_judged(&arena, "/home/u/p/sub.git", &bare));
}

// Only an address that leads to another repository of this machine waits for a clone.
static void test_addresses_outside(void)
{
	static const char *const none[] = {
		"/home/u/p/x", "node_modules",          "ext::sh -c x",  "/tmp/x::y\n",
		"-x",          "https://example.org/x", "example.org:x", "",
		"/tmp/\\x"
	};

	CHECK_STRING(git_address_outside(&arena, "/tmp/../tmp/x", &top), "/tmp/x");
	CHECK_STRING(git_address_outside(&arena, "file:///tmp/x", &top), "/tmp/x");
	CHECK_STRING(git_address_outside(&arena, "../x", &top), "/home/u/x");
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		CHECK_CASE(!git_address_outside(&arena, none[i], &top), none[i]);
}

static void test_worktree(void)
{
	static const struct row good[] = {
		{ "core.worktree", "../../../sub" },
		{ "core.worktree", "/home/u/p/a/b" },
	};
	static const struct row bad[] = {
		{ "core.worktree", "../../../../x" },
		{ "core.worktree", "/home/u" },
		{ "core.worktree", "/home/u/pp" },
		{ "core.worktree", "/" },
		{ "core.worktree", "" },
		{ "core.worktree", NULL },
		{ "core.worktree", "." },
		{ "core.worktree", "../../hooks" },
		{ "core.worktree", "/home/u/p/x/.GIT/hooks" },
	};
	static const struct row elsewhere[] = {
		{ "core.worktree", "../sub" },
		{ "core.worktree", "." },
	};

	check_rows(good, ARRAY_SIZE(good), &modules, true);
	check_rows(bad, ARRAY_SIZE(bad), &modules, false);
	check_rows(elsewhere, ARRAY_SIZE(elsewhere), &top, false);
	CHECK(git_key_refusal(&arena, "core.worktree", "..", &bare));
	CHECK_STRING(git_key_path(&arena, "core.worktree", "../../../sub", &modules),
		     "/home/u/p/sub");
}

static void test_gitmodules(void)
{
	static const struct row good[] = {
		{ "submodule.a b.path", "lib/a b" },
		{ "submodule.x.url", "https://example.org/x" },
		{ "submodule.x.url", "../x.git" },
		{ "submodule.x.url", "./../../x/y" },
		{ "submodule.x.branch", "." },
		{ "submodule.x.update", "none" },
		{ "submodule.x.ignore", "dirty" },
		{ "submodule.x.shallow", "true" },
		{ "submodule.x.fetchrecursesubmodules", "on-demand" },
	};
	static const struct row bad[] = {
		{ "submodule.x.path", "../x" },
		{ "submodule.x.path", "a/../../x" },
		{ "submodule.x.path", "/x" },
		{ "submodule.x.path", "a/.git/hooks" },
		{ "submodule.x.path", ".GIT" },
		{ "submodule.x.path", "git~1" },
		{ "submodule.x.path", "-x" },
		{ "submodule.x.path", "x\r" },
		{ "submodule.x.path", "" },
		{ "submodule.x.path", NULL },
		{ "submodule.x.url", "/home/u/p" },
		{ "submodule.x.url", "file:///x" },
		{ "submodule.x.url", "x" },
		{ "submodule.x.url", "ext::x" },
		{ "submodule.x.url", "-x" },
		{ "submodule.x.url", ".." },
		{ "submodule.x.url", "../" },
		{ "submodule.x.url", "../../:example.org/x" },
		{ "submodule.x.url", "..//example.org/x" },
		{ "submodule.x.url", "../a:b" },
		{ "submodule.x.url", "../x%0ay" },
		{ "submodule.x.url", NULL },
		{ "submodule.x.update", "!x" },
		{ "submodule.../x.path", "x" },
		{ "submodule.path", "x" },
		{ "core.bare", "true" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CHECK_CASE_STRING(gitmodules_refusal(&arena, good[i].name, good[i].value), NULL,
				  good[i].value);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_CASE(gitmodules_refusal(&arena, bad[i].name, bad[i].value),
			   arena_printf(&arena, "%s=%s", bad[i].name,
					bad[i].value ? bad[i].value : "(none)"));
}

static void test_compare(void)
{
	git_config_changes changes = { 0 };

	CHECK(git_config_compare(&arena, "[a]\nb = 1\nc\nd = 1\nd = 2\n[x]\ny = 1\n",
				 "[A]\nD = 2\nd = 1\nc = \"\"\nb=1\n[e \"F\"]\ng\n", &changes));
	CHECK(changes.count == 4);
	if (changes.count != 4)
		return;
	CHECK_STRING(changes.items[0].name, "a.c");
	CHECK(changes.items[0].before.count == 1 && !changes.items[0].before.items[0]);
	CHECK_STRING(changes.items[0].after.items[0], "");
	CHECK_STRING(changes.items[1].name, "a.d");
	CHECK_STRING(changes.items[1].before.items[0], "1");
	CHECK_STRING(changes.items[1].after.items[0], "2");
	CHECK_STRING(changes.items[2].name, "x.y");
	CHECK(changes.items[2].after.count == 0);
	CHECK_STRING(changes.items[3].name, "e.F.g");
	CHECK(changes.items[3].before.count == 0 && changes.items[3].after.count == 1);
	CHECK(!git_config_compare(&arena, "", "[a", &changes));
	changes.count = 0;
	CHECK(git_config_compare(&arena, "[a]\nb = 1\n[a", "[a]\nb = 1\n", &changes));
	CHECK(changes.count == 1 && changes.items[0].before.count == 0);
}

// Edits keep comments, other entries and the order of the file.
static void test_edit(void)
{
	static const struct {
		const char *text;
		const char *other;
		const char *wanted; // NULL: an error
	} cases[] = {
		{ "", "[a]\nb = 1\n", "[a]\n\tb = 1\n" },
		{ "[a] # x\n[c]\nd", "[c]\nd\n[a]\nb = 1\ne = 2\n",
		  "[a] # x\n\tb = 1\n\te = 2\n[c]\nd" },
		{ "[a]\n\tb = 1 # x\n\t# y\n\tc = 2\n", "[a]\n\tc = 2\n", "[a]\n\t# y\n\tc = 2\n" },
		{ "[a]\nb = 1\n\n[c]\nd = 2\n", "[c]\nd = 2\n", "\n[c]\nd = 2\n" },
		{ "[a]\n# kept\nb = 1\n[c]\nd = 2\n", "[c]\nd = 2\n", "[a]\n# kept\n[c]\nd = 2\n" },
		{ "[a] b = 1\r\nc = 2", "[a]\nc = 2\n", "[a] \r\nc = 2" },
		{ "[a] b = 1", "[a]\nb = 2\n", "[a] \n\tb = 2\n" },
		{ "[a]\nb = 1\\\n2\nc = 3\n", "[a]\nc = 3\n", "[a]\nc = 3\n" },
		{ "[a][c]\nd = 1\n", "[a]\nb\n[c]\nd = 1\n", "[a][c]\nd = 1\n[a]\n\tb\n" },
		{ "[a]\nb = 1", "[a]\nb = 1\n[b \"x\\\"\"]\nc = 1\nd = \"2 \"\n",
		  "[a]\nb = 1\n[b \"x\\\"\"]\n\tc = 1\n\td = \"2 \"\n" },
		{ "\xef\xbb\xbf[a]\nb\n", "x = 1\n[a]\nb\n", "\xef\xbb\xbf\n\tx = 1\n[a]\nb\n" },
		{ "[a]\nb = 1\\\n", "[a]\nb = 1\n[c]\nd\n", "[a]\nb = 1\\\n\n[c]\n\td\n" },
		{ "[a]\nb = \"\n", "[c]\nd\n", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		git_config_changes changes = { 0 };

		CHECK(git_config_compare(&arena, cases[i].text, cases[i].other, &changes));
		CHECK_CASE_STRING(git_config_edit(&arena, cases[i].text, &changes), cases[i].wanted,
				  cases[i].text);
	}
}

static void test_strip(void)
{
	strings refused = { 0 };

	CHECK_STRING(git_config_strip(&arena,
				      "[core]\n\tbare = false\n\tfsmonitor = x\n\tHooksPath = y\n"
				      "[alias]\n\tst = !x\n[core] fsmonitor = z\n"
				      "[remote \"o\"]\n\turl = ext::x\n\tfetch = +a:b ; c\n",
				      &top, &refused),
		     "[core]\n\tbare = false\n \n[remote \"o\"]\n\tfetch = +a:b ; c\n");
	CHECK(refused.count == 4);
	CHECK_STRING(refused.items[0], "core.fsmonitor");
	CHECK_STRING(refused.items[3], "remote.o.url");
	CHECK(!git_config_strip(&arena, "[core", &top, &refused));
}

int main(void)
{
	test_compare();
	test_edit();
	test_strip();
	test_table();
	test_what_git_writes();
	test_refused();
	test_repository_of_the_user();
	test_addresses();
	test_judged_directories();
	test_addresses_outside();
	test_worktree();
	test_gitmodules();
	arena_free(&arena);
	return check_done();
}
