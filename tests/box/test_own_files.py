# SPDX-License-Identifier: MIT
"""Files that claudebox uses because they are the user's own: a box cannot choose other files by links in a project."""
import json
import os

from lib.box import BoxTest

SECRET = "OWNFILESECRETBODY"
DIARY = "diary-line-of-the-user"


class OwnFilesTest(BoxTest):
    """~/dotfiles is a project, and files of the home are links into it."""

    def setUp(self):
        super().setUp()
        self.dotfiles = self.home / "dotfiles"
        self.dotfiles.mkdir()
        for name in (".ssh/id_rsa", ".docker/config.json", ".netrc", ".bash_history"):
            self.write(name, json.dumps({"unknownKey": SECRET}) if name.endswith("json") else f"tool {SECRET}\n")
        self.write("notes/diary.txt", DIARY + "\n")

    def write(self, name, text):
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def link(self, name, target):
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)

    def agent(self, script):
        """Runs a script as the agent of a box in ~/dotfiles."""
        self.assertEqual(self.box(f"{script} && echo done", cwd=self.dotfiles), "done\n")

    def reasons(self):
        plan = self.plan()
        return "\n".join([f"{row['what']}: {row['why']}" for row in plan["left_out"]] + plan["warnings"])

    def copies(self):
        return {row["path"]: row["copy_of"] for row in self.plan()["mounts"] if "copy_of" in row}


class Toolchains(OwnFilesTest):
    def setUp(self):
        super().setUp()
        program = self.write(".asdf/shims/tool", "#!/bin/sh\n")
        program.chmod(0o755)
        self.write(".asdf/installs/tool/1.0/bin/tool", "#!/bin/sh\n").chmod(0o755)
        self.env["PATH"] = f"{program.parent}:{self.env['PATH']}"
        self.env["ASDF_DATA_DIR"] = str(self.home / ".asdf")

    def versions(self):
        return self.box("cat ~/.tool-versions 2>/dev/null; true")

    def test_a_file_in_a_project_is_content(self):
        self.write("dotfiles/tv", "tool 1.0\n")
        self.link(".tool-versions", "dotfiles/tv")
        self.agent("true")
        self.assertEqual(self.versions(), "tool 1.0\n")
        self.assertIn(str(self.dotfiles / "tv"), self.copies().values())
        self.assertIn(".tool-versions from ~/dotfiles/tv", self.claudebox("--audit=full", "--yes", "--exec", "true").stderr)

    def test_a_link_that_a_box_made_is_not_followed(self):
        self.write("dotfiles/tv", "tool 1.0\n")
        self.link(".tool-versions", "dotfiles/tv")
        for target in (".ssh/id_rsa", ".netrc", ".bash_history", "notes/diary.txt"):
            with self.subTest(target=target):
                self.agent(f"ln -sfn {self.home / target} tv")
                self.assertEqual(self.versions(), "")
                self.assertIn("can change the link", self.reasons())

    def test_direct_links(self):
        self.box("true")
        record = next((self.home / ".claudebox" / "instances").glob("*/*"))
        for target, why in ((self.home / ".ssh/id_rsa", "leads to a secret place"), ("/proc/self/status", "file of the kernel"),
                            (record, "state of claudebox")):
            with self.subTest(target=target):
                self.link(".tool-versions", target)
                self.assertEqual(self.versions(), "")
                self.assertIn(why, self.reasons())
                (self.home / ".tool-versions").unlink()

    def test_a_hard_link(self):
        os.link(self.home / ".ssh/id_rsa", self.home / ".tool-versions")
        self.assertEqual(self.versions(), "")
        self.assertIn("hard link", self.reasons())


class Git(OwnFilesTest):
    def setUp(self):
        super().setUp()
        self.write("dotfiles/gitconfig", "[user]\nname = Ann\nemail = ann@example.org\n[alias]\nst = status\n")
        self.link(".gitconfig", "dotfiles/gitconfig")
        self.write("dotfiles/ignore", "*.mine\n")
        self.link(".config/git/ignore", self.dotfiles / "ignore")

    def ignored(self):
        return self.box('cat "$(git config core.excludesFile)" "$(git config commit.template)" 2>/dev/null; true')

    def test_files_in_a_project_are_content(self):
        self.agent("true")
        self.assertEqual(self.box("git config user.name; git config alias.st"), "Ann\nstatus\n")
        self.assertEqual(self.ignored(), "*.mine\n")
        self.assertIn(str(self.dotfiles / "ignore"), self.copies().values())

    def test_a_box_cannot_name_files(self):
        self.write("notes/inc", "[alias]\nfromdiary = status\n")
        self.agent("printf '[core]\\nexcludesFile=~/notes/diary.txt\\n[commit]\\ntemplate=~/notes/diary.txt\\n[include]\\npath=~/notes/inc\\n' >>gitconfig")
        self.assertNotIn(DIARY, self.ignored())
        self.assertEqual(self.box("git config alias.fromdiary; true"), "")
        self.assertIn("git's file ~/notes/diary.txt: a box can change the file that names it", self.reasons())
        self.assertIn("git configuration ~/notes/inc: a box can change the file that names it", self.reasons())

    def test_a_link_that_a_box_made_is_not_followed(self):
        self.agent(f"ln -sfn {self.home}/notes/diary.txt ignore")
        self.assertNotIn(DIARY, self.ignored())
        self.assertIn("can change the link", self.reasons())

    def test_a_file_that_includes_itself_is_named_once(self):
        (self.home / ".gitconfig").unlink()
        self.write(".gitconfig", "[include]\npath = ~/.gitconfig\n[core]\npager = less\n")
        reasons = self.reasons().splitlines()
        self.assertEqual(len(reasons), len(set(reasons)))
        self.assertEqual(len([row for row in reasons if "includes itself" in row]), 1)


class Claude(OwnFilesTest):
    def commands(self):
        return self.box("ls ~/.claude/commands/ 2>/dev/null; true").split()

    def test_a_directory_in_a_project_is_content(self):
        self.write("dotfiles/claude/commands/mine.md", "text\n")
        self.link(".claude/commands", self.dotfiles / "claude" / "commands")
        self.agent("true")
        self.assertEqual(self.commands(), ["mine.md"])

    def test_a_link_that_a_box_made_is_not_mounted(self):
        self.write("dotfiles/claude/commands/mine.md", "text\n")
        self.link(".claude/commands", self.dotfiles / "claude" / "commands")
        for target in ("/proc", "/sys", "/var/log", self.home / ".claudebox" / "instances", self.home / "notes"):
            with self.subTest(target=target):
                self.agent(f"rm -rf claude/commands && ln -s {target} claude/commands")
                self.assertEqual(self.commands(), [])
                self.assertRegex(self.reasons(), "commands' is left out: .*(can change the link|file of the kernel)")

    def test_direct_links_to_the_kernel_and_to_the_state(self):
        self.box("true")
        for target in ("/proc", "/sys", self.home / ".claudebox" / "instances"):
            with self.subTest(target=target):
                self.link(".claude/commands", target)
                self.assertEqual(self.commands(), [])
                self.assertIn("is left out", self.reasons())
                (self.home / ".claude" / "commands").unlink()

    def test_settings(self):
        self.write("dotfiles/s.json", '{"theme": "light"}')
        self.link(".claude/settings.json", self.dotfiles / "s.json")
        self.agent("true")
        self.assertNotIn("is left out", self.reasons())
        self.assertIn("light", self.box("cat ~/.claude/settings.json"))
        self.agent(f"ln -sfn {self.home}/.docker/config.json s.json")
        self.assertNotIn(SECRET, self.box("cat ~/.claude/settings.json"))
        self.assertIn("can change the link", self.reasons())

    def test_settings_by_a_direct_link_to_a_secret(self):
        for name in (".claude/settings.json", ".claude.json"):
            with self.subTest(name=name):
                self.link(name, self.home / ".docker" / "config.json")
                self.assertNotIn(SECRET, self.box("cat ~/.claude/settings.json ~/.claude/.claude.json 2>/dev/null; true"))
                self.assertIn("leads to a secret place", self.reasons())
                (self.home / name).unlink()
