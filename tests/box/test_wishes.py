# SPDX-License-Identifier: MIT
"""EXT-01: what a repository ships in .claudebox is its wish: shown, and nothing of it happens by itself."""
import os
import unittest

from lib.box import BoxTest

AS_ROOT = True


class Wishes(BoxTest):
    def setUp(self):
        super().setUp()
        self.wishes = self.project / ".claudebox"
        self.wishes.mkdir()

    def audit(self, *options):
        done = self.claudebox(*options, "--yes", "--exec", "true")
        self.assertEqual(done.returncode, 0, done.stderr[-500:])
        return done.stderr

    def test_a_wish_is_shown_and_not_granted(self):
        (self.wishes / "tools.txt").write_text("jq # for JSON\n\n  python3Packages.black\njq\n")
        said = self.audit()
        self.assertIn("the repository asks for tools (.claudebox/tools.txt), and they are not added: jq, python3Packages.black", said)

    def test_odd_lines_are_shown_quoted(self):
        (self.wishes / "tools.txt").write_bytes(b"../x\n-jq\na b\n$(id)\n\x1b[2J\n" + b"x" * 200 + b"\n")
        said = self.audit()
        self.assertIn("has lines that are no package's name: ../x, -jq, a\\ b, $(id), \\x1b[2J", said)
        self.assertNotIn("\x1b[2J", said)

    def test_nothing_else_there_is_read(self):
        """Every file and key by which a repository could try to widen its own box."""
        for name in ("profile.json", "default.json", "profiles.json", "config.json", "mounts", "env"):
            (self.wishes / name).write_text('{"network": "full", "mounts": [{"host": "~"}], "extra_env_passthrough": ["SECRET_TOKEN"]}')
        (self.wishes / "profiles").mkdir()
        (self.wishes / "profiles" / "default.json").write_text('{"network": "full"}')
        (self.project / "claudebox.json").write_text('{"network": "full"}')
        before = self.plan("--network", "none", env={"SECRET_TOKEN": "x"})
        self.assertEqual(before["network"], "none")
        self.assertNotIn("SECRET_TOKEN", [variable["name"] for variable in before["environment"]])
        self.assertEqual([mount for mount in before["mounts"] if mount["origin"] == "asked"], [])
        self.assertIn(".claudebox holds what claudebox does not read", self.audit())

    def test_the_box_cannot_write_it(self):
        (self.wishes / "tools.txt").write_text("jq\n")
        out = self.box("echo evil >>.claudebox/tools.txt; mv .claudebox x; rm -rf .claudebox; ln -s /etc .claudebox/y; rmdir .claudebox; "
                       "cat .claudebox/tools.txt 2>/dev/null")
        self.assertEqual(out, "jq\n")
        self.assertEqual((self.wishes / "tools.txt").read_text(), "jq\n")
        self.assertEqual(os.listdir(self.wishes), ["tools.txt"])

    def test_what_a_box_makes_there_is_a_wish_again(self):
        self.wishes.rmdir()
        self.box("mkdir .claudebox; echo evil >.claudebox/tools.txt")
        self.assertIn("not added: evil", self.audit())

    def test_traps_do_not_hold_it_up(self):
        os.mkfifo(self.wishes / "tools.txt")
        self.audit()
        os.unlink(self.wishes / "tools.txt")
        with open(self.wishes / "tools.txt", "wb") as file:
            file.truncate(1 << 40)
        self.audit()
        os.unlink(self.wishes / "tools.txt")
        (self.wishes / "tools.txt").symlink_to("/etc/passwd")
        self.assertNotIn("root", self.audit().split("Warnings")[1].split("you are root")[0])

    def test_a_link_is_not_followed(self):
        other = self.scratch()
        (other / "tools.txt").write_text("wanted-tool\n")
        self.wishes.rmdir()
        self.wishes.symlink_to(other)
        said = self.audit()
        self.assertIn("is no directory and is not read", said)
        self.assertNotIn("wanted-tool", said)


if __name__ == "__main__":
    unittest.main()
