# SPDX-License-Identifier: MIT
"""The user's git configuration: what passes gives the same result in the box as outside, and nothing else passes."""
import os
import pathlib
import shutil
import subprocess
import time
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.other_host import OtherHost
from lib.terminal import Terminal

AS_ROOT = True
TOKEN = "ghp_" + "Zq7" * 12


class ConfigTest(BoxTest):
    def setUp(self):
        super().setUp()
        self.repository(self.project)

    def set(self, name, value):
        self.git("config", "--global", "--add", name, value)

    def write(self, text, name=".gitconfig"):
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
        return path

    def outside(self, script, cwd=None):
        return subprocess.run(["sh", "-c", script], cwd=cwd or self.project, env=self.env, check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout

    def assert_same(self, script, wanted=None, cwd=None):
        """Checks that a script prints the same outside and in the box, and not nothing. It must not change the project."""
        outside = self.outside(script, cwd)
        self.assertTrue(outside)
        self.assertEqual(self.box(script, cwd=cwd), outside)
        if wanted is not None:
            self.assertEqual(outside, wanted)

    def settings(self, **options):
        """Returns the names of the settings in the box, without those of the machine: a package may have run `git lfs install`."""
        return [name for name in self.plan(**options)["git_settings"] if not name.startswith("filter.lfs.")]

    def left_out(self, **options):
        return {row["what"]: (row["why"], row["option"]) for row in self.plan(**options)["left_out"] if row["what"].startswith("git")}


class Results(ConfigTest):
    def test_plain_settings(self):
        values = {"init.defaultbranch": "trunk", "pull.rebase": "merges", "push.default": "current", "rebase.autosquash": "true",
                  "merge.conflictstyle": "zdiff3", "diff.algorithm": "histogram", "fetch.prune": "true", "rerere.enabled": "true",
                  "column.ui": "auto", "branch.sort": "-committerdate", "core.quotepath": "false", "core.autocrlf": "input",
                  "log.date": "format:%Y-%m-%d %H:%M", "status.short": "true", "color.ui": "always", "tag.sort": "version:refname",
                  "pretty.mine": '%h "%s" \\ # ; é', "alias.lg": "log --pretty='format:%s \"q\"'", "url.https://example.org/.insteadof": "gh:",
                  "diff.ini.xfuncname": "^\\[.*\\]$", "commit.verbose": "true"}
        for name, value in values.items():
            self.set(name, value)
        self.assert_same("; ".join(f"git config --null --get {name}" for name in values))
        self.assertEqual(sorted(self.settings()), sorted(values))

    def test_the_branch_of_a_new_repository(self):
        self.set("init.defaultBranch", "trunk")
        self.assert_same("d=$(mktemp -d) && git init -q $d && git -C $d symbolic-ref HEAD", "refs/heads/trunk\n")

    def test_a_conflict_looks_the_same(self):
        self.set("merge.conflictStyle", "diff3")
        self.assert_same("d=$(mktemp -d); cd $d; printf 1 >a; printf 2 >b; printf 3 >c; git merge-file -p --diff3 a b c >/dev/null; git init -q -b m .; "
                         "git add a; git commit -qm 0; git checkout -qb o; echo o >a; git commit -qam o; git checkout -q m; echo m >a; "
                         "git commit -qam m; git merge -q o >/dev/null; sed 's/[|<>] .*//;s/| [0-9a-f]*//' a")

    def test_an_alias_and_an_address(self):
        self.set("alias.st", "status --short --branch")
        self.set("url.https://git.example.org/.insteadOf", "work:")
        self.assert_same("git st; git ls-remote --get-url work:team/x", "## main\nhttps://git.example.org/team/x\n")

    def test_ignored_files_and_attributes(self):
        """Of a setting, and at the usual place."""
        (self.project / "ignored.tmp").write_text("x")
        (self.project / "shown.txt").write_text("x")
        self.write("*.tmp\n", ".config/git/ignore")
        self.write("*.txt mine=yes\n", ".config/git/attributes")
        script = "git status --short; git check-attr mine shown.txt"
        self.assert_same(script, "?? shown.txt\nshown.txt: mine: yes\n")
        self.set("core.excludesFile", "~/my ignore")
        self.set("core.attributesFile", str(self.home / "my-attributes"))
        self.write("shown.*\n", "my ignore")
        self.write("*.tmp mine=no\n", "my-attributes")
        self.assert_same("git status --short; git check-attr mine ignored.tmp", "?? ignored.tmp\nignored.tmp: mine: no\n")
        self.assertFalse((self.project / ".gitignore").exists())

    def test_no_ignored_files(self):
        self.write("*.txt\n", ".config/git/ignore")
        self.set("core.excludesFile", "")
        (self.project / "shown.txt").write_text("x")
        self.assert_same("git status --short", "?? shown.txt\n")

    def test_line_ends(self):
        self.set("core.autocrlf", "input")
        self.assert_same("d=$(mktemp -d); cd $d; git init -q .; printf 'a\\r\\n' >a; git add a 2>/dev/null; git show :a | od -c")

    def test_the_template_of_messages(self):
        self.set("commit.template", "~/template.txt")
        self.write("Why:\n\nTest:\n", "template.txt")
        self.assert_same("GIT_EDITOR=cat git commit --dry-run >/dev/null; d=$(mktemp -d); cd $d; git init -q .; "
                         "GIT_EDITOR='head -n 3' git commit --allow-empty 2>/dev/null", "Why:\n\nTest:\n")
        self.set("commit.template", ".template")
        self.assert_same("git config --get commit.template", ".template\n")

    def test_values_are_written_exactly(self):
        """No value becomes a section or another setting."""
        values = ["a\n[core]\n\tpager = evil", 'q" ; # \\ \\n', " blank ", "tab\tnew\n", "é ü"]
        for number, value in enumerate(values):
            self.git("config", "--global", f"pretty.p{number}", value)
        script = "; ".join(f"git config --null --get pretty.p{number}" for number in range(len(values)))
        self.assert_same(script + "; git config --get core.pager", "".join(value + "\0" for value in values))

    def test_the_repository_and_the_agent_rank_above(self):
        self.set("pull.ff", "only")
        self.git("config", "pull.ff", "true")
        self.assert_same("git config pull.ff", "true\n")
        self.assertEqual(self.box("git config --global status.short true; git config status.short; git config --global --list"), "true\nstatus.short=true\n")

    def test_a_setting_without_a_value(self):
        self.write("[fetch]\n\tprune\n[push] followTags\n")
        self.assert_same("git config --list --null | grep -z 'fetch\\|push'; git config --type=bool fetch.prune")


class Includes(ConfigTest):
    def include(self, condition, name="work.inc"):
        self.write(f'[includeIf "{condition}"]\n\tpath = {name}\n')
        self.write(f"[user]\n\temail = work@example.org\n[alias]\n\twork = status\n", name)

    def test_an_include_counts_where_it_stands(self):
        self.write("[pull]\n\tff = one\n[include]\n\tpath = sub/a.inc\n[pull]\n\trebase = two\n")
        self.write("[pull]\n\tff = only\n\trebase = inner\n[include]\n\tpath = b.inc\n", "sub/a.inc")
        self.write("[push]\n\tdefault = nothing\n", "sub/b.inc")
        self.assert_same("git config --get pull.ff; git config --get pull.rebase; git config --get push.default", "only\ntwo\nnothing\n")

    def test_directories(self):
        patterns = {f"gitdir:{self.project}/": True, "gitdir:~/project/": True, "gitdir:project/": True, "gitdir:~/PROJECT/": False,
                    "gitdir/i:~/PROJECT/": True, "gitdir:~/": True, "gitdir:~/other/": False, "gitdir:./project/": True,
                    "gitdir:~/pro*/.git": True, "gitdir:**/.git": True, "gitdir:~/project": False, "gitdir:~/pro?ect/**": True,
                    "gitdir:/**/project/**": True, "onbranch:main": True, "onbranch:feature/": False, "onbranch:ma*": True,
                    "hasconfig:remote.*.url:https://git.example.org/team/**": True, "hasconfig:remote.*.url:https://git.example.org/*": False,
                    "unknown:x": False}
        self.git("remote", "add", "origin", "https://git.example.org/team/x/y.git")
        plain = (self.home / ".gitconfig").read_text()
        for condition, holds in patterns.items():
            with self.subTest(condition):
                (self.home / ".gitconfig").write_text(plain)
                (self.home / "work.inc").unlink(missing_ok=True)
                self.include(condition)
                wanted = "work@example.org" if holds else "ann@example.org"
                self.assertEqual(self.outside("git config user.email").strip(), wanted)
                self.assertEqual("alias.work" in self.settings(), holds)

    def test_the_identity_of_a_directory(self):
        self.include("gitdir:~/work/")
        work = self.home / "work/one"
        self.git("init", "-q", "-b", "main", work)
        self.git("commit", "-q", "--allow-empty", "-m", "x", cwd=work)
        self.git("worktree", "add", "-q", self.home / "elsewhere", cwd=work)
        (work / "sub").mkdir()
        for cwd in (work, work / "sub", self.home / "elsewhere"):
            self.assert_same("git config user.email", "work@example.org\n", cwd=cwd)
        self.assert_same("git config user.email", "ann@example.org\n")
        (self.home / "work/new").mkdir()
        self.assertEqual(self.box("git init -q . && git config user.email", cwd=self.home / "work/new"), "work@example.org\n")

    def test_hostile_files(self):
        """Includes that lead to secrets, to files that block, and in circles: nothing of them passes, and the start does not hang."""
        (self.home / ".ssh").mkdir()
        self.write(f"[alias]\n\tcanary = log {TOKEN}\n", ".ssh/config")
        os.symlink(".ssh/config", self.home / "link.inc")
        os.mkfifo(self.home / "fifo")
        self.write("[alias]\n\tcanary = log\n" + "#" * 300000, "long.inc")
        self.write("[include]\n\tpath = circle.inc\n\tpath = circle.inc\n[alias]\n\tround = status\n", "circle.inc")
        self.write("[alias]\n\tcanary = log\n[broken\n", "broken.inc")
        self.write("[alias]\n\tcanary = log\n", ".env")
        self.write("[alias]\n\tcanary = log\n", "linked")
        os.link(self.home / "linked", self.home / "linked.inc")
        names = {"~/.ssh/config": "it lies in a secret place", "link.inc": "it leads to a secret place", "fifo": "it is not a regular file",
                 "long.inc": "it is longer than 256 KiB", "/dev/zero": "it is a file of the kernel", "/proc/self/environ": "it is a file of the kernel",
                 "broken.inc": "line 3 is not understood", ".env": "its name is that of a secret", "linked.inc": "it has another name",
                 ".": "it lies in a secret place", "missing.inc": None}
        self.write("[alias]\n\tfirst = status\n")
        for name in names:
            self.write(f"[include]\n\tpath = {name}\n")
        self.write("[include]\n\tpath = circle.inc\n[alias]\n\tlast = status\n")
        plan = self.plan()
        self.assertEqual({name for name in plan["git_settings"] if name.startswith("alias.")}, {"alias.first", "alias.round", "alias.last"})
        rows = {row["what"]: row["why"] for row in plan["left_out"]}
        for name, why in names.items():
            path = str(pathlib.Path("~") / name[2:]) if name.startswith("~") else name if name.startswith("/") else str(pathlib.Path("~") / name)
            if why is None:
                self.assertNotIn(f"git configuration {path}", rows)
            else:
                self.assertTrue(rows[f"git configuration {path}"].startswith(why), rows)
        self.assertTrue(any("circle" in row for row in rows), rows)
        out = self.box("git config --list; cat /etc/gitconfig")
        self.assertNotIn("canary", out)
        self.assertNotIn(TOKEN, out)

    def test_many_conditions_and_remotes_do_not_delay_the_start(self):
        with open(self.project / ".git/config", "a", encoding="utf-8") as file:
            for number in range(1400):
                file.write(f'[remote "r{number}"]\n\turl = https://git.example.org/{"a" * 120}/{number}\n')
        self.write("[pull]\n\tff = only\n")
        self.write('[includeIf "hasconfig:remote.*.url:**b"]\n\tpath = none.inc\n' * 2000)
        start = time.monotonic()
        plan = self.plan()
        self.assertLess(time.monotonic() - start, 8)
        self.assertIn("pull.ff", plan["git_settings"])
        self.assertIn({"what": "git configuration ~/.gitconfig", "option": None,
                       "why": "it has too many conditions (includeIf) for this repository: the later ones count as false"}, plan["left_out"])

    def test_many_remotes_of_a_repository_leave_an_ordinary_condition_as_it_is(self):
        with open(self.project / ".git/config", "a", encoding="utf-8") as file:
            for number in range(1400):
                file.write(f'[remote "r{number}"]\n\turl = https://git.example.org/{"a" * 120}/{number}\n')
            file.write('[includeIf "hasconfig:remote.*.url:**b"]\n\tpath = none.inc\n' * 2000)
        self.include("hasconfig:remote.*.url:https://git.example.org/**/1399")
        self.assertIn("alias.work", self.settings())

    def test_paths_that_are_not_supported_are_named(self):
        self.write("[include]\n\tpath = ~erin/git.inc\n\tpath = %(prefix)/etc/git.inc\n\tpath =\n[alias]\n\tx = status\n")
        self.write('[includeIf "gitdir:/nowhere/"]\n\tpath = ~bob/git.inc\n')
        self.assertIn("alias.x", self.settings())
        self.assertEqual(self.left_out(), {"git configuration ~erin/git.inc": ("a path in the home of another user is not supported", None),
                                           "git configuration %(prefix)/etc/git.inc": ("a path that begins with % is not supported", None)})

    def test_a_broken_file_is_named(self):
        (self.home / ".gitconfig").write_text("[alias]\n\tx = status\n[")
        plan = self.plan()
        self.assertEqual(self.settings(), [])
        self.assertIn({"what": "git configuration ~/.gitconfig", "why": "line 3 is not understood", "option": None}, plan["left_out"])

    def test_the_repository_adds_nothing(self):
        """Neither its configuration nor a file that it includes reaches the generated file."""
        (self.project / "more.inc").write_text("[alias]\n\tcanary = log\n[commit]\n\tgpgsign = true\n[user]\n\tname = canary\n")
        with open(self.project / ".git/config", "a", encoding="utf-8") as file:
            file.write(f"[include]\n\tpath = ../more.inc\n\tpath = {self.home}/.ssh/x\n[alias]\n\tcanary2 = log\n[core]\n\texcludesFile = {self.home}/.ssh/id\n"
                       "[url \"https://canary.example/\"]\n\tinsteadOf = https://\n")
        (self.home / ".ssh").mkdir()
        self.write("[alias]\n\tcanary = log\n", ".ssh/x")
        self.write("canary", ".ssh/id")
        done = self.claudebox("--yes", "--exec", "sh", "-c", "cat /etc/gitconfig; ls /run/claudebox/git; git config commit.gpgsign")
        self.assertNotIn("canary", done.stdout)
        self.assertTrue(done.stdout.endswith("\nfalse\n"), done.stdout)
        self.assertIn("not signed", done.stderr)
        self.assertEqual(self.settings(), [])

    def test_no_program_is_started_for_it(self):
        self.include("gitdir:~/")
        fake = self.home / "path/git"
        fake.parent.mkdir()
        fake.write_text(f"#!/bin/sh\necho hit >>{self.home}/hit\nexec /usr/bin/git \"$@\"\n")
        fake.chmod(0o755)
        self.assertIn("alias.work", self.settings(env={"PATH": f"{fake.parent}:{self.env['PATH']}"}))
        self.assertFalse((self.home / "hit").exists())


class Advice(ConfigTest):
    """The option that the audit gives brings the setting, tried for each row."""

    def program(self, name, text):
        path = self.write("#!/bin/sh\n" + text, name)
        path.chmod(0o755)
        return path

    def advice(self, name, value):
        """Sets a global setting, and returns the options of claudebox and the command of git that its row names."""
        self.set(name, value)
        key = name.rsplit(".", 1)
        option = self.left_out()[f"git {key[0]}.{key[1].lower()}"][1]
        self.git("config", "--global", "--unset-all", name)
        mounts, _, command = option.rpartition(", and ")
        return mounts.replace("~", str(self.home)).split(), command.removesuffix(", in the repository")

    def follow(self, name, value, script):
        """Follows `git config --local, in the repository; --path DIR if the box lacks the program`."""
        options, command = self.advice(name, value)
        self.assertEqual((options, command), ([], "git config --local, in the repository; --path DIR if the box lacks the program"))
        self.git("config", "--local", name, value)
        path = ("--path", self.home / "tools") if (self.home / "tools").exists() else ()
        done = self.claudebox("--yes", *path, "--exec", "sh", "-c", script)
        self.git("config", "--local", "--unset", name)
        return done.stdout

    def test_hooks(self):
        self.program("hooks/pre-commit", "echo my hook >&2; exit 3\n")
        options, command = self.advice("core.hooksPath", "~/hooks")
        self.assertEqual(self.box("git commit -q --allow-empty -m x; echo $?"), "0\n")
        self.outside(command)
        done = self.claudebox("--yes", *options, "--exec", "sh", "-c", "git commit -q --allow-empty -m y; echo $?")
        self.assertEqual((done.stdout, "my hook" in done.stderr), ("1\n", True), done.stderr)

    def test_hooks_of_the_repository(self):
        """A relative directory is in the project."""
        hooks = self.project / ".githooks"
        hooks.mkdir()
        (hooks / "pre-commit").write_text("#!/bin/sh\nexit 3\n")
        (hooks / "pre-commit").chmod(0o755)
        options, command = self.advice("core.hooksPath", ".githooks")
        self.outside(command)
        self.assertEqual((options, self.box("git commit -q --allow-empty -m y; echo $?")), ([], "1\n"))

    def test_a_template(self):
        self.write("from the template\n", "tpl/description")
        options, command = self.advice("init.templateDir", "~/tpl")
        self.assertEqual(self.box("git config --local init.templateDir ~/tpl; git init -q a; cat a/.git/description | head -c 7; git config --unset init.templateDir"), "Unnamed")
        done = self.claudebox("--yes", *options, "--exec", "sh", "-c", f"{command} -q b; cat b/.git/description")
        self.assertEqual(done.stdout, "from the template\n", done.stderr)

    def test_no_directory_of_secrets_is_advised(self):
        (self.home / ".ssh").mkdir()
        self.set("core.hooksPath", "~/.ssh/hooks")
        self.set("init.templateDir", f"/srv/{TOKEN}")
        rows = self.left_out()
        self.assertIsNone(rows["git core.hookspath"][1])
        self.assertIsNone(rows["git init.templatedir"][1])

    def test_programs(self):
        self.program("tools/mine", "echo from my program\n")
        self.program("tools/convert", "echo from my program; cat \"$1\"\n")
        (self.project / ".gitattributes").write_text("*.f filter=mine\n*.t diff=mine\n*.m merge=mine\n")
        self.write("x\n", "project/new.f")
        self.write("x\n", "project/a.t")
        self.git("add", "a.t")
        (self.project / "a.t").write_text("y\n")
        show = "git --no-pager diff a.t"
        self.assertIn("from my program", self.follow("diff.external", "mine", show))
        self.assertIn("from my program", self.follow("diff.mine.command", "mine", show))
        self.assertIn("from my program", self.follow("diff.mine.textconv", "convert", show))
        self.assertEqual(self.follow("filter.mine.clean", "mine", "git add new.f; git show :new.f"), "from my program\n")
        script = ("echo base >c.m; git add c.m; git commit -qm b; git checkout -qb other; echo other >c.m; git commit -qam o; git checkout -q main; "
                  "echo main >c.m; git commit -qam m; git merge other")
        self.assertIn("from my program", self.follow("merge.mine.driver", "mine", script))
        self.assertIn("Sign: from my program", self.follow("trailer.Sign.cmd", "mine", "printf 's\\n\\nx\\n' | git interpret-trailers --trailer Sign:x"))
        self.program("tools/watch", "echo ran >>watched; printf 'token\\0/\\0'\n")
        self.assertEqual(self.follow("core.fsmonitor", "watch", "git status >/dev/null; head -n 1 watched"), "ran\n")

    def test_connections(self):
        self.write("not a certificate\n", "ca.pem")
        for name, value, seen in (("http.proxy", "http://127.0.0.1:9", "127.0.0.1 port 9"), ("http.sslCAInfo", str(self.home / "ca.pem"), "ca.pem")):
            with self.subTest(name):
                options, command = self.advice(name, value)
                self.assertEqual((options, command), (["--mount-ro", "FILE"] if "CA" in name else [], "git config --local"))
                self.git("config", "--local", name, value)
                mount = ("--mount-ro", value) if "CA" in name else ()
                done = self.claudebox("--yes", "--network", "none", *mount, "--exec", "sh", "-c",
                                      f"git config {name}; cat {value} 2>/dev/null; git ls-remote http://127.0.0.1:1/x")
                self.assertIn(seen, done.stdout + done.stderr)
                self.assertEqual("not a certificate" in done.stdout, "CA" in name)
                self.git("config", "--local", "--unset", name)


class LeftOut(ConfigTest):
    def test_settings_that_change_results_are_named(self):
        for name, value in (("commit.gpgsign", "true"), ("core.hooksPath", "~/hooks"), ("init.templateDir", "~/t"), ("filter.strip.clean", "strip"),
                            ("diff.external", "difft"), ("diff.pdf.textconv", "pdf"), ("merge.ours.driver", "true"), ("core.fsmonitor", "true"),
                            ("http.proxy", f"http://u:{TOKEN}@p/"), ("alias.sh", "!evil"), ("alias.x", "rebase -x evil"), ("core.pager", "less"),
                            ("credential.helper", "store"), ("core.editor", "vi"), ("url.git@example.org:.insteadOf", "https://example.org/"),
                            (f"url.https://u:{TOKEN}@example.org/.insteadOf", "https://example.org/"), ("pretty.t", TOKEN),
                            ("blame.ignoreRevsFile", "/etc/hosts")):
            self.set(name, value)
        rows = self.left_out()
        self.assertEqual(set(rows), {"git commit.gpgsign", "git core.hookspath", "git init.templatedir", "git filter.strip.clean", "git diff.external, diff.pdf.textconv",
                                     "git merge.ours.driver", "git core.fsmonitor", "git http.proxy", "git alias.sh, alias.x", "git url.*.insteadOf",
                                     "git blame.ignorerevsfile", "git url.*.insteadOf, pretty.t"})
        self.assertEqual(rows["git core.hookspath"][1], "--mount-ro ~/hooks, and git config --local core.hooksPath ~/hooks, in the repository")
        self.assertEqual(self.settings(), [])
        done = self.claudebox("--dry-run")
        everything = done.stdout + done.stderr + self.claudebox("--dry-run=json").stdout + self.box("git config --list; cat /etc/gitconfig; env")
        for secret in (TOKEN, "difft", "evil", "credential.helper", "core.pager"):
            self.assertNotIn(secret, everything)

    def test_an_ordinary_configuration_leaves_nothing_out(self):
        for name, value in (("credential.helper", "cache"), ("core.editor", "vi"), ("commit.gpgsign", "false"), ("pull.rebase", "true"),
                            ("gui.fontui", "x"), ("safe.directory", "/x"), ("user.signingkey", "ABC")):
            self.set(name, value)
        self.assertEqual(self.left_out(), {})
        self.assertEqual(self.settings(), ["pull.rebase"])

    def test_copies_with_a_secret(self):
        self.set("core.excludesFile", "~/ignore")
        self.write(f"# token {TOKEN}\n*.tmp\n", "ignore")
        self.set("commit.template", "~/.ssh/id_ed25519")
        (self.home / ".ssh").mkdir()
        self.write("private", ".ssh/id_ed25519")
        self.assertEqual(self.left_out(), {"git's file ~/ignore": ("it contains something like a secret", None),
                                           "git's file ~/.ssh/id_ed25519": ("it lies in a secret place", None)})
        self.assertEqual(self.box("ls -A /run/claudebox/git"), "bin\ncheck\n")

    def test_copies_of_a_secret_place(self):
        """A secret place is not copied, whatever its content."""
        for name in (".claude/history.jsonl", ".claude/projects/x/a.jsonl", ".m2/settings-security.xml", ".viminfo", ".gemini/x", ".config/hub"):
            self.write("word\n", name)
            for setting in ("core.excludesFile", "core.attributesFile", "commit.template"):
                with self.subTest(name, setting=setting):
                    self.set(setting, f"~/{name}")
                    self.assertEqual(self.left_out()[f"git's file ~/{name}"], ("it lies in a secret place", None))
            self.assertEqual(self.box("ls -A /run/claudebox/git"), "bin\ncheck\n")

    def test_a_filter_that_the_repository_uses(self):
        self.set("filter.strip.clean", "sed d")
        (self.project / ".gitattributes").write_text("# filter=no\n*.ipynb filter=strip\n*.x filter=unknown\n")
        warnings = "\n".join(self.plan()["warnings"])
        self.assertIn("use filters of your git configuration, which do not run in the box (add them with `git config --local`): strip", warnings)
        self.assertNotIn("unknown", warnings)
        self.git("config", "--local", "filter.strip.clean", "sed s/secret/gone/")
        script = "cp /dev/null x.ipynb; echo secret >x.ipynb; git add x.ipynb; git show :x.ipynb; git rm -qf x.ipynb"
        self.assert_same(script, "gone\n")

    def test_the_audit_names_settings(self):
        self.set("alias.st", "status")
        for number in range(20):
            self.set(f"alias.a{number}", "status")
        audit = " ".join(self.claudebox("--yes", "--audit=full", "--exec", "true").stderr.split())
        self.assertRegex(audit, r"/etc/gitconfig \(your name and e-mail for commits, and settings: .*alias.st, alias.a0, .* and 1\d more\)")

    def test_addresses_and_filters_are_changes(self):
        def ask():
            terminal = Terminal([CLAUDEBOX, "--exec", "true"], {**self.env, "NO_COLOR": "1"}, str(self.project), columns=200)
            self.addCleanup(terminal.close)
            terminal.expect(r"Start\? \[y/N\]")
            terminal.send("y\n")
            terminal.wait(20)
            return terminal.output.decode()
        ask()
        self.set("alias.st", "status")
        self.set("pull.rebase", "true")
        self.assertNotIn("Changed since", ask())
        self.set("url.https://example.org/.insteadOf", "work:")
        self.assertIn("+ git url.https://example.org/.insteadof work:", ask())
        self.assertNotIn("Changed since", ask())
        self.git("config", "--global", "--remove-section", "url.https://example.org/")
        self.assertIn("- git url.https://example.org/.insteadof work:", ask())


@unittest.skipUnless(shutil.which("git-lfs"), "git-lfs is not installed")
class Lfs(ConfigTest):
    SCRIPT = ("printf '%0200000d' 7 >big.bin && git add . && git commit -qm big && git show HEAD:big.bin | head -n 2 && git status --short && "
              "rm big.bin && git checkout -q big.bin && wc -c <big.bin; git status --short; git lfs ls-files --name-only")
    POINTER = ("version https://git-lfs.github.com/spec/v1\noid sha256:")

    def setUp(self):
        super().setUp()
        self.git("lfs", "install", cwd=self.home)
        (self.project / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")

    def test_a_commit_stores_a_pointer(self):
        out = self.box(self.SCRIPT)
        self.assertTrue(out.startswith(self.POINTER), out)
        self.assertTrue(out.endswith("200000\nbig.bin\n"), out)
        self.assertEqual(self.git("status", "--short"), "")
        self.assertLess(int(self.git("cat-file", "-s", "HEAD:big.bin")), 200)
        self.assertNotIn("git-lfs", "".join(self.plan()["warnings"]))
        self.git("reset", "-q", "--hard", "HEAD~1")
        (self.project / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
        self.assertEqual(self.outside(self.SCRIPT), out)

    def test_a_checkout_in_the_box_has_the_files(self):
        self.outside(self.SCRIPT)
        self.assert_same("git checkout -q HEAD~1 && ls; git checkout -q main && wc -c <big.bin; git status --short", "file.txt\n200000\n")
        self.assert_same("d=$(mktemp -d); git clone -q . $d/c 2>/dev/null; git -C $d/c lfs ls-files -n", "big.bin\n")

    def test_a_linked_worktree(self):
        self.outside(self.SCRIPT)
        self.git("worktree", "add", "-q", "-b", "topic", self.home / "linked")
        out = self.box("printf '%0300000d' 8 >new.bin && git add . && git commit -qm n && git show HEAD:new.bin | head -n 2; git status --short", cwd=self.home / "linked")
        self.assertTrue(out.startswith(self.POINTER), out)
        self.assertEqual(self.git("status", "--short", cwd=self.home / "linked"), "")

    def missing(self):
        """Returns the warnings on a host without git-lfs in the directories of the system."""
        host = OtherHost(self, {})
        done = host.run(CLAUDEBOX, "--yes", "--exec", "git", "config", "--get-regexp", "filter", options=("--ro-bind", "/dev/null", shutil.which("git-lfs")))
        return " ".join(done.stderr.split()), done.stdout

    def test_without_git_lfs(self):
        text, filters = self.missing()
        self.assertIn("the repository uses git-lfs, which is not in the box: a commit would store whole files instead of pointers; install git-lfs on the host", text)
        self.assertEqual(filters, "")
        own = self.home / "tools/git-lfs"
        own.parent.mkdir()
        shutil.copy(shutil.which("git-lfs"), own)
        self.env["PATH"] += f":{own.parent}"
        self.assertIn("start with --path ~/tools", self.missing()[0])

    def test_a_repository_without_lfs_gives_no_warning(self):
        (self.project / ".gitattributes").unlink()
        self.assertNotIn("git-lfs", self.missing()[0])

    def test_other_values(self):
        self.git("config", "--global", "filter.lfs.clean", "evil %f")
        self.git("config", "--global", "--unset", "filter.lfs.process")
        self.git("config", "--global", "--unset", "filter.lfs.smudge")
        self.git("config", "--global", "--unset", "filter.lfs.required")
        self.assertIn("is not what `git lfs install` writes", "".join(self.plan()["warnings"]))
        self.assertEqual(self.box("git config filter.lfs.clean"), "")


class Worktrees(ConfigTest):
    """A worktree is created where the user has it too, or not at all."""

    def check(self, project):
        script = ("for path in ../x \"$HOME/x\" /tmp/x; do git worktree add \"$path\"; echo $?; git worktree add -b new \"$path\"; echo $?; done; "
                  "git -C .git worktree add ../../x; echo $?; git branch --list --format='%(refname:short)'; ls .git/worktrees 2>/dev/null; "
                  "mkdir .worktrees && echo '*' >.worktrees/.gitignore && git worktree add -q .worktrees/x 2>/dev/null && cd .worktrees/x && "
                  "echo y >new && git add new && git commit -qm in-worktree && git log -1 --format=%s; cd ../..; git status --short")
        done = self.claudebox("--yes", "--exec", "sh", "-c", script, cwd=project)
        self.assertEqual(done.stdout, "128\n" * 7 + "main\nin-worktree\n", done.stderr)
        self.assertIn("is not kept for the user, so nothing was created", done.stderr)
        self.assertIn(f"git worktree add {project}/.worktrees/NAME", done.stderr)
        self.assertNotIn("prunable", self.git("worktree", "list", "--porcelain", cwd=project))
        self.assertEqual((project / ".worktrees/x/new").read_text(), "y\n")
        self.assertEqual(self.git("status", "--short", cwd=project), "")
        self.assertEqual(self.git("log", "-1", "--format=%s", cwd=project / ".worktrees/x"), "in-worktree\n")

    def test_a_project_in_the_home(self):
        self.check(self.project)

    def test_a_project_elsewhere(self):
        self.check(self.repository(self.scratch() / "pro ject"))

    def test_an_empty_home(self):
        self.profile(home="none")
        self.check(self.project)

    def test_other_places(self):
        data = self.scratch()
        self.git("worktree", "add", "-q", self.home / "linked")
        for options, cwd, path in ((("--mount-rw", data), self.project, data / "one"), ((), self.home / "linked", "inner"), ((), self.home / "linked", self.project / ".git/wt")):
            done = self.claudebox("--yes", *options, "--exec", "git", "worktree", "add", "-q", "--detach", path, cwd=cwd)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((cwd / path / "file.txt").exists())

    def test_a_worktree_is_not_moved_away(self):
        done = self.claudebox("--yes", "--exec", "sh", "-c", "git worktree add -q .worktrees/a; git worktree move .worktrees/a ../a; echo $?; "
                                                             "git worktree move .worktrees/a .worktrees/b; echo $?; ls .worktrees")
        self.assertEqual(done.stdout, "128\n0\nb\n", done.stderr)

    def test_aliases_of_the_repository(self):
        for name, value in (("a", "worktree add"), ("b", "worktree"), ("c", "b add -b 'new branch'"), ("s", "!git worktree add"), ("t", "s"),
                            ("f", "!f() { echo from $PWD in $GIT_PREFIX; git a \"$@\"; }; f"), ("st", "status --short"),
                            ("p", "!git -C sub worktree add ../../x; echo $?")):
            self.git("config", "--local", f"alias.{name}", value)
        (self.project / "sub").mkdir()
        script = ("git a ../x; echo $?; git b add -b n ../x; echo $?; git c ../x; echo $?; git s ../x; echo $?; git t ../x; echo $?; git -C sub a ../../x; echo $?; "
                  "git -c alias.y='!git worktree add' y ../x; echo $?; git -c alias.a=status -c alias.y='worktree add' y ../x; echo $?; cd sub; git f ../x; echo $?; git p; cd ..; "
                  "git branch --list --format='%(refname:short)'; ls .git/worktrees 2>/dev/null; git st; git c .w/one 2>&1 | grep -o .new.branch..is.*; "
                  "git s -q .w/two; git -C sub t -q .w/three; ls .w sub; git nosuch 2>&1 | head -n 1")
        done = self.claudebox("--yes", "--exec", "sh", "-c", script)
        self.assertEqual(done.stdout, "128\n" * 8 + f"from {self.project} in sub/\n128\n128\nmain\n"
                         "'new branch' is not a valid branch name\n.w:\nthree\ntwo\n\nsub:\n"
                         "git: 'nosuch' is not a git command. See 'git --help'.\n", done.stderr)
        self.assertEqual(done.stderr.count("is not kept for the user"), 10, done.stderr)

    def test_the_program_finds_git_by_any_path_to_itself(self):
        self.assertEqual(self.box("mkdir ~/l; ln -s /run/claudebox/git/bin/git ~/l/git; PATH=/run/claudebox/git/bin/:~/l:/run/./claudebox/git/bin::/nowhere:/usr/bin:/bin; "
                                  "for c in rev-parse nosuch; do timeout 5 git $c >/dev/null 2>&1; echo $?; done"), "0\n1\n")

    def test_the_program_costs_no_shell(self):
        """A shell takes longer than all of the program; the fastest of many runs is steady on a busy machine."""
        script = ("import os,time\nbest={}\nfor n in range(300):\n for p in ('/usr/bin/git','/run/claudebox/git/bin/git','/bin/sh'):\n"
                  "  t=time.perf_counter()\n  a=['x','-c',':'] if p=='/bin/sh' else ['git','--version']\n"
                  "  os.waitpid(os.posix_spawn(p,a,os.environ,file_actions=[(os.POSIX_SPAWN_OPEN,1,'/dev/null',os.O_WRONLY,0)]),0)\n"
                  "  best[p]=min(best.get(p,9),time.perf_counter()-t)\nprint(*best.values())\n")
        done = self.claudebox("--yes", "--exec", "python3", "-c", script)
        bare, wrapped, shell = map(float, done.stdout.split())
        self.assertLess(wrapped - bare, shell, done.stdout)

    def test_a_repository_of_the_box_is_free(self):
        self.assertEqual(self.box("cd /tmp; git init -q r; cd r; git commit -q --allow-empty -m y; git worktree add -q ../r2 && echo $?"), "0\n")

    def test_git_is_otherwise_git(self):
        self.assert_same("git log --format='a  b' -1 -- '' file.txt; git worktree list | wc -l; git nosuch; echo $?; git worktree; echo $?; printf x | git hash-object --stdin")
        self.assertEqual(self.box("PATH=/usr/bin:/bin:$PATH; git --version >/dev/null; echo $?; PATH=/run/claudebox/git/bin git --version; echo $?"), "0\n127\n")

    def test_the_instructions_name_the_place(self):
        self.assertIn("git worktree add .worktrees/NAME", self.box("cat /etc/claude-code/CLAUDE.md"))

    def test_a_read_only_project_has_plain_git(self):
        self.profile(project="read-only")
        self.assertEqual(self.box("command -v git"), "/usr/bin/git\n")


class Safe(ConfigTest):
    def test_the_default_identity(self):
        (self.home / ".gitconfig").unlink()
        self.assertEqual(self.box("git commit -q --allow-empty -m x; git log -1 --format='%an <%ae>'"), "Claude User <claude@localhost>\n")
        self.assertIn("the author of commits is 'Claude User <claude@localhost>'", " ".join(self.plan()["warnings"]))
        self.git("config", "--global", "user.name", "Ann")
        self.assertEqual(self.box("git config user.name; git config user.email"), "Ann\nclaude@localhost\n")

    def test_nested_repositories(self):
        """Also of another user: git in root's box refuses them without safe.directory."""
        inner = self.repository(self.project / "libs/inner")
        if os.getuid() == 0:
            subprocess.run(["chown", "-R", "12345", inner], check=True)
            subprocess.run(["chown", "-R", "12345", self.project / ".git"], check=True)
        out = self.box("git -C libs/inner log --format=%s; git log --format=%s; git config --get-all safe.directory")
        self.assertEqual(out, f"first\nfirst\n{self.project}\n{self.project}/*\n{inner}\n")
        out = self.box("mkdir new && git -C new init -q . && git -C new commit -q --allow-empty -m x && git -C new log --format=%s")
        self.assertEqual(out, "x\n")


if __name__ == "__main__":
    unittest.main()
