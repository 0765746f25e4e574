# SPDX-License-Identifier: MIT
"""Files of the user that come along by themselves are not read through links that a box can change, nor from secret places."""
import os
import unittest

from lib.toolchains import ToolchainTest, program

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n-----END OPENSSH PRIVATE KEY-----\n"
DIARY = "claudebox-canary-of-the-diary"


class Dotfiles(ToolchainTest):
    """~/dotfiles is a project, and files of the home are links into it."""

    def setUp(self):
        super().setUp()
        self.dotfiles = self.home / "dotfiles"
        self.dotfiles.mkdir()
        for path, text in ((".ssh/id_rsa", KEY), ("notes/diary.txt", DIARY), ("other/secret-plan.md", DIARY)):
            (self.home / path).parent.mkdir(exist_ok=True)
            (self.home / path).write_text(text)
        self.agent("true")  # claudebox knows the project from now on

    def agent(self, script):
        """What an agent does in a box of the dotfiles."""
        done = self.claudebox("--yes", "--exec", "sh", "-euc", script, cwd=self.dotfiles)
        self.assertEqual(done.returncode, 0, done.stderr)

    def link(self, name, target, text="harmless\n"):
        """Makes ~/NAME a link to a file of the dotfiles, with this text."""
        (self.dotfiles / target).parent.mkdir(parents=True, exist_ok=True)
        (self.dotfiles / target).write_text(text)
        (self.home / name).parent.mkdir(parents=True, exist_ok=True)
        (self.home / name).symlink_to(self.dotfiles / target)

    def look(self, command):
        """Runs a command in boxes of both projects. Returns the output of both, and the audits."""
        results = [self.claudebox("--yes", "--audit=full", "--exec", "sh", "-c", command, cwd=cwd) for cwd in (self.dotfiles, self.project)]
        return "".join(done.stdout for done in results), " ".join(" ".join(done.stderr for done in results).split())

    def test_settings_of_toolchains(self):
        program(self.home / ".asdf/shims/a", "echo a")
        self.on_path(self.home / ".asdf/shims")
        self.link(".tool-versions", "tv", "nodejs 20\n")
        self.assertEqual(self.look("cat ~/.tool-versions")[0], "nodejs 20\n" * 2)
        for target in (".ssh/id_rsa", "notes/diary.txt", ".claudebox/version"):
            self.agent(f"ln -sfn {self.home}/{target} tv")
            out, audit = self.look("cat ~/.tool-versions")
            self.assertEqual(out, "")
            self.assertIn("can change the link", audit)
        (self.home / ".tool-versions").unlink()
        (self.home / ".tool-versions").symlink_to(self.home / ".ssh/id_rsa")
        out, audit = self.look("cat ~/.tool-versions")
        self.assertEqual(out, "")
        self.assertIn("~/.tool-versions (it leads to a secret place)", audit)

    def test_files_of_git(self):
        self.link(".config/git/ignore", "ignore", "*.o\n")
        self.assertIn("*.o", self.look("cat /run/claudebox/git/ignore")[0])
        self.agent(f"ln -sfn {self.home}/notes/diary.txt ignore")
        out, audit = self.look("cat /run/claudebox/git/* /etc/gitconfig")
        self.assertNotIn(DIARY, out)
        self.assertIn("can change the link", audit)

    def test_files_that_a_configuration_of_a_box_names(self):
        self.link(".gitconfig", "gitconfig", "[user]\n\tname = Me\n\temail = me@example.org\n[alias]\n\tst = status\n")
        self.assertEqual(self.look("git config user.name; git config alias.st")[0], "Me\nstatus\n" * 2)
        (self.home / "inc").write_text(f"[user]\n\tname = {DIARY}\n")
        self.agent("printf '[core]\\n\\texcludesFile = ~/notes/diary.txt\\n\\tattributesFile = ~/notes/diary.txt\\n[commit]\\n\\ttemplate = ~/notes/diary.txt\\n"
                   "[include]\\n\\tpath = ~/inc\\n' >>gitconfig")
        out, audit = self.look("cat /run/claudebox/git/* /etc/gitconfig; git config user.name")
        self.assertNotIn(DIARY, out)
        self.assertIn("Me\n", out)
        self.assertRegex(audit, r"notes/diary\.txt \([^)]*box")

    def test_a_configuration_that_includes_itself(self):
        (self.home / ".gitconfig").write_text("[include]\n\tpath = ~/.gitconfig\n[alias]\n\tst = status\n")
        self.assertEqual(self.box("git config --get-all alias.st"), "status\n")

    def test_directories_of_claude(self):
        self.link(".claude/commands/x", "claude/x")
        os.rename(self.home / ".claude/commands", self.home / "gone")
        (self.dotfiles / "claude/commands").mkdir()
        (self.dotfiles / "claude/commands/mine.md").write_text("mine\n")
        (self.home / ".claude/commands").symlink_to(self.dotfiles / "claude/commands")
        self.assertEqual(self.look("ls ~/.claude/commands/")[0], "mine.md\n" * 2)
        self.agent("mv claude/commands claude/kept")
        for target in ("/proc", f"{self.home}/.claudebox/instances", f"{self.home}/other"):
            self.agent(f"ln -sfn {target} claude/commands")
            out, audit = self.look("ls ~/.claude/commands/")
            self.assertEqual(out, "", target)
            self.assertIn("/.claude/commands", audit)

    def test_settings_of_claude(self):
        self.link(".claude/settings.json", "settings.json", '{"theme": "dark"}\n')
        self.assertIn("dark", self.look("cat ~/.claude/settings.json")[0])
        (self.home / ".docker").mkdir()
        (self.home / ".docker/config.json").write_text('{"currentContext": "%s"}' % DIARY)
        (self.home / "other/x.json").write_text('{"currentContext": "%s"}' % DIARY)
        for target in (".docker/config.json", "other/x.json"):
            self.agent(f"ln -sfn {self.home}/{target} settings.json")
            out, audit = self.look("cat ~/.claude/settings.json")
            self.assertNotIn(DIARY, out)
            self.assertIn("/.claude/settings.json", audit)


if __name__ == "__main__":
    unittest.main()
