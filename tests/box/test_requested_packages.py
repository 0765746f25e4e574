# SPDX-License-Identifier: MIT
"""Packages that a repository requests in .claudebox are shown, and not added without the user's consent."""
import os
import unittest

from lib.box import BoxTest

AS_ROOT = True


class RequestedPackages(BoxTest):
    def setUp(self):
        super().setUp()
        self.directory = self.project / ".claudebox"
        self.directory.mkdir()

    def audit(self, *options):
        done = self.claudebox(*options, "--yes", "--exec", "true")
        self.assertEqual(done.returncode, 0, done.stderr[-500:])
        return done.stderr

    def test_request_is_shown_and_not_granted(self):
        (self.directory / "tools.txt").write_text("jq # for JSON\n\n  python3Packages.black\njq\n")
        message = self.audit()
        self.assertIn("packages that the repository requests (.claudebox/tools.txt) are not added: jq, python3Packages.black", message)

    def test_invalid_lines_are_shown_quoted(self):
        (self.directory / "tools.txt").write_bytes(b"../x\n-jq\na b\n$(id)\n\x1b[2J\n" + b"x" * 200 + b"\n")
        message = self.audit()
        self.assertIn("has lines that are not valid package names: ../x, -jq, a\\ b, $(id), \\x1b[2J", message)
        self.assertNotIn("\x1b[2J", message)

    def test_other_files_are_not_read(self):
        """Tries files and keys with which a repository could try to extend its own box."""
        for name in ("profile.json", "default.json", "profiles.json", "config.json", "mounts", "env"):
            (self.directory / name).write_text('{"network": "full", "mounts": [{"host": "~"}], "extra_env_passthrough": ["SECRET_TOKEN"]}')
        (self.directory / "profiles").mkdir()
        (self.directory / "profiles" / "default.json").write_text('{"network": "full"}')
        (self.project / "claudebox.json").write_text('{"network": "full"}')
        before = self.plan("--network", "none", env={"SECRET_TOKEN": "x"})
        self.assertEqual(before["network"], "none")
        self.assertNotIn("SECRET_TOKEN", [variable["name"] for variable in before["environment"]])
        self.assertEqual([mount for mount in before["mounts"] if mount["origin"] == "requested"], [])
        self.assertIn(".claudebox contains files that claudebox does not read", self.audit())

    def test_box_cannot_change_the_list(self):
        (self.directory / "tools.txt").write_text("jq\n")
        out = self.box("echo evil >>.claudebox/tools.txt; mv .claudebox x; rm -rf .claudebox; ln -s /etc .claudebox/y; rmdir .claudebox; "
                       "cat .claudebox/tools.txt 2>/dev/null")
        self.assertEqual(out, "jq\n")
        self.assertEqual((self.directory / "tools.txt").read_text(), "jq\n")
        self.assertEqual(os.listdir(self.directory), ["tools.txt"])

    def test_list_written_by_a_box_is_no_request(self):
        self.directory.rmdir()
        self.box("mkdir .claudebox; echo evil >.claudebox/tools.txt")
        self.assertNotIn("evil", self.audit())

    def test_list_that_git_tracks_is_a_request_again_when_a_box_changes_it(self):
        """A checkout has to be able to replace the file."""
        (self.directory / "tools.txt").write_text("jq\n")
        self.repository(self.project)
        self.box("echo evil >.claudebox/tools.txt")
        self.assertIn("not added: evil", self.audit())

    def test_special_files_do_not_block(self):
        os.mkfifo(self.directory / "tools.txt")
        self.audit()
        os.unlink(self.directory / "tools.txt")
        with open(self.directory / "tools.txt", "wb") as file:
            file.truncate(1 << 40)
        self.audit()
        os.unlink(self.directory / "tools.txt")
        (self.directory / "tools.txt").symlink_to("/etc/passwd")
        self.assertNotIn("root", self.audit().split("Warnings")[1].split("you are root")[0])

    def test_a_link_is_not_followed(self):
        other = self.scratch()
        (other / "tools.txt").write_text("linked-package\n")
        self.directory.rmdir()
        self.directory.symlink_to(other)
        message = self.audit()
        self.assertIn("is not a directory and is not read", message)
        self.assertNotIn("linked-package", message)


if __name__ == "__main__":
    unittest.main()
