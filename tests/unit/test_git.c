// SPDX-License-Identifier: MIT
// The git configuration: its syntax against the real git, and which settings pass.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "plan/git/alias.h"
#include "plan/git/facts.h"
#include "plan/git/parse.h"
#include "plan/git/render.h"
#include "plan/git/rules.h"
#include "plan/git/settings.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUND_TRIPS = 400, DIFFERENTIAL = 150 };

static struct arena arena;
static uint64_t seed = 88172645463325252ULL;

static unsigned int random_below(unsigned int limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned int)(seed % limit);
}

static void store(void *context, const char *name, const char *value)
{
	vec_push(&arena, (git_settings *)context, (struct git_setting){ name, value });
}

// Returns settings as lines for comparison: "name=value|", or "name|" without a value.
static const char *show(const git_settings *settings)
{
	struct text out = { .arena = &arena };

	vec_each(setting, settings) {
		text_add(&out, setting->name);
		if (setting->value)
			text_printf(&out, "=%s", setting->value);
		text_add(&out, "|");
	}
	return text_get(&out);
}

static const char *parse(const char *text)
{
	git_settings settings = { 0 };
	size_t line;

	if (!git_config_parse(&arena, text, store, &settings, &line))
		return arena_printf(&arena, "error in line %zu", line);
	return show(&settings);
}

// Returns what `git config --list` reads from a text, in the form of parse(); "error": git refuses
// it.
static const char *ask_git(const char *text)
{
	char path[] = "/tmp/claudebox-test-XXXXXX";
	int fd = mkstemp(path);
	FILE *git;
	char *bytes = arena_alloc(&arena, 1 << 20);
	size_t length;
	git_settings settings = { 0 };

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return "cannot write";
	close(fd);
	git = popen(arena_printf(&arena, "git config --null --list --file %s 2>/dev/null", path),
		    "r");
	length = git ? fread(bytes, 1, (1 << 20) - 1, git) : 0;
	unlink(path);
	if (!git || pclose(git) != 0)
		return "error";
	for (const char *s = bytes; s < bytes + length; s += strlen(s) + 1) {
		size_t name = strcspn(s, "\n");

		store(&settings, arena_strndup(&arena, s, name), s[name] ? s + name + 1 : NULL);
	}
	return show(&settings);
}

static void test_syntax(void)
{
	static const struct {
		const char *text;
		const char *wanted;
	} cases[] = {
		{ "", "" },
		{ "[a]\nb=c\n", "a.b=c|" },
		{ "\xef\xbb\xbf[A]\r\n\tB = c \r\n", "a.b=c|" },
		{ "[a] b = c # d\n[a]e\n", "a.b=c|a.e|" },
		{ "[a \"B.c\"]\nd = \"x # y\" ; z", "a.B.c.d=x # y|" },
		{ "[a.B]\nc = 1\n", "a.b.c=1|" },
		{ "[a \"q\\\"\\\\\"]\nb = \\\"\\\\\\n\\t\\b\n", "a.q\"\\.b=\"\\\n\t\b|" },
		{ "[a]\nb = one \\\n two\n", "a.b=one  two|" },
		{ "[a]\nb = x\"y  z\"w\n", "a.b=xy  zw|" },
		{ "[a]\nb =\nc = \"\"\n", "a.b=|a.c=|" },
		{ "[a]\n# c\n; d\nb = 1\n", "a.b=1|" },
		{ "[a]\nb = \"x\n", "error in line 2" },
		{ "[a]\nb = \\q\n", "error in line 2" },
		{ "[a\nb = 1\n", "error in line 1" },
		{ "[a \"b\nc\"]\n", "error in line 1" },
		{ "[a b]\n", "error in line 1" },
		{ "[a]\n9 = 1\n", "error in line 2" },
		{ "[a]\nb c = 1\n", "error in line 2" },
		{ "[a]\nb_c = 1\n", "error in line 2" },
		{ "[a \"b\" ]\n", "error in line 1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *git = ask_git(cases[i].text);

		CHECK_STRING(parse(cases[i].text), cases[i].wanted);
		CHECK_STRING(str_equal(git, "error") ? "error" : git,
			     str_starts(cases[i].wanted, "error") ? "error" : cases[i].wanted);
	}
}

// Texts of random tokens: the parser and git agree on each, also on errors.
static void test_random_texts(void)
{
	static const char *const tokens[] = { "[a]\n", "[b \"c\"]", "\n",    " ",       "x", "y = ",
					      "=",     "\"",        "\\n",   "\\\n",    "#", ";",
					      "\\\"",  "v w",       "[d.E]", "\\\\",    "k", "\r\n",
					      "[",     "]",         "z=1\n", "\xc3\xa9" };

	for (int round = 0; round < DIFFERENTIAL * check_stress(); round++) {
		struct text text = { .arena = &arena };
		const char *ours;
		const char *git;

		text_add(&text, "[a]\n");
		for (unsigned int i = random_below(14); i > 0; i--)
			text_add(&text, tokens[random_below(ARRAY_SIZE(tokens))]);
		ours = parse(text_get(&text));
		git = ask_git(text_get(&text));
		if (!str_equal(str_starts(ours, "error") ? "error" : ours, git))
			check_note("text", text_get(&text));
		CHECK_STRING(str_starts(ours, "error") ? "error" : ours, git);
	}
}

static const char *random_text(const char *alphabet, size_t letters, unsigned int longest)
{
	struct text out = { .arena = &arena };

	for (unsigned int i = random_below(longest + 1); i > 0; i--)
		text_add_bytes(&out, &alphabet[random_below((unsigned int)letters)], 1);
	return text_get(&out);
}

// Settings with any bytes: git reads from the generated text what was written into it.
static void test_round_trip(void)
{
	static const char names[] = "]\"\\ .#;=[x\t\x1b\xc3\xa9'$`/:@";
	struct text out = { .arena = &arena };
	git_settings settings = { 0 };
	char any[255];

	for (size_t i = 0; i < sizeof(any); i++)
		any[i] = (char)(i + 1);
	for (int i = 0; i < ROUND_TRIPS; i++) {
		const char *value = i % 7 == 0 ? NULL
				    : i % 2    ? random_text(any, sizeof(any), 24)
					       : random_text("a \t\n\"\\#;[]=\r\b\x7f", 14, 12);
		const char *name = i % 3 ? arena_printf(&arena, "s%u.k%d", random_below(3), i)
					 : arena_printf(&arena, "s.%s.k",
							random_text(names, strlen(names), 8));

		store(&settings, name, value);
	}
	git_render_settings(&out, &settings);
	CHECK_STRING(parse(text_get(&out)), show(&settings));
	CHECK_STRING(ask_git(text_get(&out)), show(&settings));
}

static const struct {
	const char *name;
	const char *value;
	enum git_rule wanted;
} judged[] = {
	{ "init.defaultbranch", "main", GIT_WORD },
	{ "init.templatedir", "~/templates", GIT_TEMPLATE },
	{ "pull.rebase", "true", GIT_WORD },
	{ "pull.rebase", NULL, GIT_WORD },
	{ "pull.rebase", "$(x)", GIT_FORM },
	{ "pull.twohead", "mine", GIT_QUIET },
	{ "merge.conflictstyle", "zdiff3", GIT_WORD },
	{ "merge.ours.driver", "true", GIT_MERGE },
	{ "merge.tool", "meld", GIT_QUIET },
	{ "diff.external", "difft", GIT_DIFF },
	{ "diff.external", "", GIT_QUIET },
	{ "diff.pdf.textconv", "pdftotext", GIT_DIFF },
	{ "diff.python.xfuncname", "^\\s*(def .*)$", GIT_WORD },
	{ "core.autocrlf", "input", GIT_WORD },
	{ "core.hookspath", "~/hooks", GIT_HOOKS },
	{ "core.fsmonitor", "true", GIT_PROGRAM },
	{ "core.fsmonitor", "false", GIT_QUIET },
	{ "core.pager", "delta", GIT_QUIET },
	{ "core.editor", "vim", GIT_QUIET },
	{ "core.sshcommand", "ssh -i key", GIT_QUIET },
	{ "core.excludesfile", "~/.ignore", GIT_QUIET },
	{ "core.excludesfile", "", GIT_WORD },
	{ "commit.template", ".gitmessage", GIT_WORD },
	{ "commit.template", "../outside", GIT_QUIET },
	{ "commit.gpgsign", "true", GIT_SIGNING },
	{ "commit.gpgsign", "0", GIT_QUIET },
	{ "blame.ignorerevsfile", ".git-blame-ignore-revs", GIT_WORD },
	{ "blame.ignorerevsfile", "/etc/shadow", GIT_FORM },
	{ "blame.ignorerevsfile", "../../x", GIT_FORM },
	{ "credential.helper", "store", GIT_QUIET },
	{ "user.signingkey", "ABCD", GIT_QUIET },
	{ "safe.directory", "*", GIT_QUIET },
	{ "gc.worktreepruneexpire", "now", GIT_QUIET },
	{ "http.proxy", "http://user:password@proxy/", GIT_CONNECTION },
	{ "http.sslverify", "false", GIT_CONNECTION },
	{ "http.sslcainfo", "~/ca.pem", GIT_CERTIFICATES },
	{ "http.https://example.org/.sslcapath", "~/ca", GIT_CERTIFICATES },
	{ "hook.check.command", "check", GIT_PROGRAM },
	{ "unknown.setting", "x", GIT_QUIET },
	{ "format.pretty", "%h %s \"x\"", GIT_WORD },
	{ "format.pretty", "\x1b[31m", GIT_FORM },
	{ "pretty.mine", "ghp_0123456789abcdefghijABCDEFGHIJ012345", GIT_SECRET },
	{ "filter.lfs.clean", "git-lfs clean -- %f", GIT_WORD },
	{ "filter.lfs.clean", "git-lfs clean -- %f; evil", GIT_FILTERS },
	{ "filter.lfs.process", "git-lfs filter-process", GIT_WORD },
	{ "filter.lfs.required", NULL, GIT_WORD },
	{ "filter.strip.clean", "nbstripout", GIT_FILTERS },
	{ "filter.strip.required", "true", GIT_QUIET },
	{ "url.https://github.com/.insteadof", "gh:", GIT_WORD },
	{ "url.https://github.com/.insteadof", "git@github.com:", GIT_WORD },
	{ "url.git@github.com:.insteadof", "gh:", GIT_WORD },
	{ "url.git@github.com:.insteadof", "https://github.com/", GIT_SSH },
	{ "url.git@github.com:.pushinsteadof", "https://github.com/", GIT_WORD },
	{ "url.ssh://git@host.example/.insteadof", "https://host.example/", GIT_SSH },
	{ "url.ssh://git:word@host.example/.insteadof", "x:", GIT_SECRET },
	{ "url.https://user:word@host.example/.insteadof", "https://host.example/", GIT_SECRET },
	{ "url.https://token@host.example/.insteadof", "https://host.example/", GIT_SECRET },
	{ "url.https://host.example/.insteadof", "https://u:p@host.example/", GIT_SECRET },
	{ "url.ext::sh -c evil.insteadof", "x:", GIT_LOCAL_ADDRESS },
	{ "url./srv/mirror/.insteadof", "https://host.example/", GIT_LOCAL_ADDRESS },
	{ "url.file:///srv/.insteadof", "https://host.example/", GIT_LOCAL_ADDRESS },
	{ "url.--upload-pack=x:.insteadof", "x:", GIT_LOCAL_ADDRESS },
	{ "alias.st", "status -sb", GIT_WORD },
	{ "alias.lg", "log --graph --pretty='%h %s'", GIT_WORD },
	{ "alias.last", "log -1 HEAD -Sneedle", GIT_WORD },
	{ "alias.amend", "commit --amend --no-edit", GIT_WORD },
	{ "alias.x", "!sh -c evil", GIT_ALIAS_PROGRAM },
	{ "alias.x", " !sh", GIT_ALIAS_PROGRAM },
	{ "alias.x", "-c core.pager=evil log", GIT_ALIAS_PROGRAM },
	{ "alias.x", "--exec-path=/tmp log", GIT_ALIAS_PROGRAM },
	{ "alias.x", "rebase -x evil", GIT_ALIAS_PROGRAM },
	{ "alias.x", "rebase -ix evil", GIT_ALIAS_PROGRAM },
	{ "alias.x", "rebase --exe evil", GIT_ALIAS_PROGRAM },
	{ "alias.x", "rebase \"--ex\"ec=evil", GIT_ALIAS_PROGRAM },
	{ "alias.x", "rebase -\\x evil", GIT_ALIAS_PROGRAM },
	{ "alias.x", "fetch --upload-pack=evil", GIT_ALIAS_PROGRAM },
	{ "alias.x", "grep -nO x", GIT_ALIAS_PROGRAM },
	{ "alias.x", "diff --ext-diff", GIT_ALIAS_PROGRAM },
	{ "alias.x", "difftool", GIT_ALIAS_PROGRAM },
	{ "alias.x", "submodule foreach evil", GIT_ALIAS_PROGRAM },
	{ "alias.x", "bisect run evil", GIT_ALIAS_PROGRAM },
	{ "alias.wt", "worktree add", GIT_ALIAS_PROGRAM },
	{ "alias.wt", "-C x worktree add", GIT_ALIAS_PROGRAM },
	{ "alias.x", "commit -aS", GIT_ALIAS_PROGRAM },
	{ "alias.x", "worktree add", GIT_ALIAS_PROGRAM },
	{ "alias.x", "log \"open", GIT_ALIAS_PROGRAM },
	{ "alias.x", "", GIT_ALIAS_PROGRAM },
	{ "alias.x", NULL, GIT_FORM },
	{ "alias.x.command", "!evil", GIT_ALIAS_PROGRAM },
	{ "alias.x",
	  "push https://x7Kq2m"
	  "Pz9LwT4vBn:@host/x",
	  GIT_SECRET },
	{ "alias.x",
	  "clone https://hunter2"
	  "pass@host/x",
	  GIT_SECRET },
	{ "alias.x",
	  "push https://SECPW7"
	  "tokenab12@github.com/x",
	  GIT_SECRET },
	{ "alias.x", "clone 'https://joe:Hunter2 pass@host/x'", GIT_SECRET },
	{ "alias.x",
	  "clone https://joe:'Hunter2"
	  "pass'@host",
	  GIT_SECRET },
	{ "alias.x", "clone https://joe:Hunter2\\!pass@host", GIT_SECRET },
	{ "alias.x",
	  "config sendemail.smtppass Hunter2"
	  "pass",
	  GIT_ALIAS_PROGRAM },
	{ "alias.x", "config --global http.https://host/.extraHeader x7Kq", GIT_ALIAS_PROGRAM },
	{ "alias.x", "config --get-regexp alias", GIT_WORD },
	{ "alias.x", "fetch ext::/home/x", GIT_ALIAS_PROGRAM },
	{ "alias.x", "push --repo=ext::/home/x", GIT_ALIAS_PROGRAM },
	{ "alias.x", "push git@github.com:ada/x.git", GIT_WORD },
	{ "alias.x", "log @{u}.. --author=ada@example.org", GIT_WORD },
	{ "alias.x", "ls-remote https://host.example:8443/x", GIT_WORD },
	{ "url.https://host.example/.insteadof",
	  "https:/joe:Hunter2"
	  "pass@host/",
	  GIT_SECRET },
	{ "url.https://host.example/.insteadof",
	  "http://user:Hunter6"
	  "pass",
	  GIT_SECRET },
	{ "url.https://host.example/.insteadof", "https:////user:SECURLA8@github.com/",
	  GIT_SECRET },
	{ "url.https://host.example/.insteadof", "https://user:SECURLB2/x@github.com/",
	  GIT_SECRET },
	{ "url.ssh://git@host.example:2222/.insteadof", "work:", GIT_WORD },
};

static void test_rules(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(judged); i++) {
		struct git_setting setting = { judged[i].name, judged[i].value };
		enum git_rule got = git_judge(&arena, &setting, true);

		if (got != judged[i].wanted)
			printf("# %s %s: %d\n", judged[i].name, judged[i].value, got);
		CHECK(got == judged[i].wanted);
	}
	CHECK(git_judge(&arena, &(struct git_setting){ "filter.lfs.clean", "git-lfs clean -- %f" },
			false) == GIT_QUIET);
}

// Each row has a reason, and no key is in two rows.
static void test_tables(void)
{
	for (size_t i = 0; i < git_rule_count; i++) {
		const struct git_rule_row *row = &git_rule_table[i];
		const char *keys = row->keys;
		const char *key;

		CHECK(row->why && *row->why);
		CHECK(row->rule < GIT_SIGNING || git_outside_table[row->rule].why);
		while ((key = str_next_word(&arena, &keys))) {
			const char *name = arena_printf(&arena, "%s.%s", row->section, key);

			CHECK(git_rule_find(&arena, name) == row);
		}
	}
	for (size_t i = 0; i < git_command_count; i++)
		CHECK(!*git_command_table[i].refused == !git_command_table[i].why);
}

int main(void)
{
	test_syntax();
	test_random_texts();
	test_round_trip();
	test_rules();
	test_tables();
	arena_free(&arena);
	return check_done();
}
