# SPDX-License-Identifier: MIT
"""Errors in a profile that depend on the machine give file, line, column and key like all others."""
import json
import os
import unittest

from lib.box import BoxTest
from lib.other_host import OtherHost

FILE = "~/.claudebox/profiles/work.json"

# Mounts of a profile, the line and column, and the rest of the message. HOME, PROJECT and DATA (another directory) are
# replaced by paths.
SOURCES = [
    ('[{"host": "~/nothing"}]', "1, 22", "'mounts[0].host': '~/nothing' does not exist"),
    ('[\n  {"host": "DATA"},\n  {"mode": "rw", "host": "DATA/nothing"}\n]', "3, 26", "'mounts[1].host': 'DATA/nothing' does not exist"),
    ('[{"host": "~/dangling"}]', "1, 22", "'mounts[0].host': '~/dangling' does not exist"),
    ('[{"host": "nothing\\u202e"}]', "1, 22", r"'mounts[0].host': 'nothing\xe2\x80\xae' does not exist"),
    ('[{"host": "DATA/fifo"}]', "1, 22", "'mounts[0].host': 'DATA/fifo' is neither a file nor a directory"),
    ('[{"host": "~", "sandbox": "/opt/x"}]', "1, 22", "'mounts[0].host': '~' contains your home directory"),
    ('[{"host": "/", "sandbox": "/opt/x"}]', "1, 22", "'mounts[0].host': '/' contains your home directory"),
    ('[{"host": "~/.claudebox", "sandbox": "/opt/x"}]', "1, 22", "'mounts[0].host': '~/.claudebox' contains the state of claudebox"),
    ('[{"host": "~/.claudebox/profiles"}]', "1, 22", "'mounts[0].host': '~/.claudebox/profiles' contains the state of claudebox"),
    ('[{"host": "~/innocent"}]', "1, 22", "'mounts[0].host': '~/innocent' leads to 'HOME/.aws' (AWS credentials)"),
    ('[{"host": "~/.config"}]', "1, 22", "'mounts[0].host': '~/.config' contains 'HOME/.config/gh' (GitHub tokens)"),
]
DESTINATIONS = [
    ('[{"host": "DATA", "sandbox": "/"}]', "1, SANDBOX", "'mounts[0].sandbox': '/' would hide '/proc' (the box's processes)"),
    ('[{"host": "DATA", "sandbox": "/proc/sys"}]', "1, SANDBOX",
     "'mounts[0].sandbox': '/proc/sys' would hide '/proc' (the box's processes)"),
    ('[{"host": "DATA", "sandbox": "/nix"}]', "1, SANDBOX", "'mounts[0].sandbox': '/nix' would hide '/nix/store' (programs (Nix))"),
    ('[{"host": "DATA", "sandbox": "/run/claudebox/x"}]', "1, SANDBOX",
     "'mounts[0].sandbox': '/run/claudebox/x' would hide '/run/claudebox' (files of claudebox)"),
    ('[{"host": "DATA", "sandbox": "."}]', "1, SANDBOX", "'mounts[0].sandbox': '.' would hide 'PROJECT'"),
    ('[{"host": "DATA", "sandbox": "/usr"}]', "1, SANDBOX", "'mounts[0].sandbox': '/usr' would hide '/usr' (programs)"),
    ('[{"host": "DATA", "sandbox": "/usr/bin"}]', "1, SANDBOX", "'mounts[0].sandbox': '/usr/bin' would hide '/usr' (programs)"),
    ('[{"host": "DATA", "sandbox": "~/.claude/x"}]', "1, SANDBOX", "'mounts[0].sandbox': '~/.claude/x' would lie in Claude's state"),
    ('[{"host": "/usr"}]', "1, 22", "'mounts[0].host': '/usr' would hide '/usr' (programs)"),
    ('[{"host": "DATA", "sandbox": "/opt/a"},\n {"host": "DATA/sub", "sandbox": "/opt/a/b"}]', "2, NEXT",
     "'mounts[1].sandbox': '/opt/a/b' overlaps the mount at '/opt/a'"),
    ('[{"host": "DATA/sub"},\n {"host": "DATA"}]', "2, 11", "'mounts[1].host': 'DATA' overlaps the mount at 'DATA/sub'"),
    ('[{"host": "DATA", "sandbox": "missing"}]', "1, SANDBOX", "'mounts[0].sandbox': 'missing' requires that 'PROJECT/missing' exists"),
    ('[{"host": "DATA", "sandbox": "planted"}]', "1, SANDBOX", "'mounts[0].sandbox': 'planted' would be mounted through a symbolic link"),
]


class Late(BoxTest):
    def setUp(self):
        super().setUp()
        self.data = self.scratch()
        (self.data / "sub").mkdir()
        os.mkfifo(self.data / "fifo")
        (self.home / "dangling").symlink_to("gone")
        (self.home / ".aws").mkdir()
        (self.home / ".config/gh").mkdir(parents=True)
        (self.home / "innocent").symlink_to(".aws")
        (self.project / "planted").symlink_to(self.data)
        self.profiles = self.home / ".claudebox/profiles"
        self.profiles.mkdir(parents=True)
        self.profiles.parent.chmod(0o700)

    def fill(self, text):
        return text.replace("HOME", str(self.home)).replace("PROJECT", str(self.project)).replace("DATA", str(self.data))

    def message(self, *arguments):
        """Returns the message and the hint."""
        lines = self.refused(*arguments).splitlines()
        self.assertEqual(len(lines), 2, lines)
        return lines[0].removeprefix("claudebox: "), lines[1]

    def message_for(self, mounts):
        (self.profiles / "work.json").write_text(f'{{"mounts": {self.fill(mounts)}}}')
        return self.message("--yes", "--profile", "work", "--exec", "true")

    def test_each_mount_that_is_refused(self):
        data = len(str(self.data))
        for mounts, place, wanted in SOURCES + DESTINATIONS:
            with self.subTest(mounts):
                place = place.replace("SANDBOX", str(37 + data)).replace("NEXT", str(30 + data))
                line, column = place.split(", ")
                message, hint = self.message_for(mounts)
                self.assertEqual(message, f"profile '{FILE}': line {line}, column {column}: {self.fill(wanted)}")
                self.assertNotIn("PATH:DEST", hint)

    def test_the_message_names_the_file_with_the_mount(self):
        (self.profiles / "base.json").write_text('{\n  "mounts": [{"host": "~/nothing"}]\n}\n')
        (self.profiles / "work.json").write_text('{"extends": "base"}')
        self.assertEqual(self.message("--yes", "--profile", "work", "--exec", "true")[0],
                         "profile '~/.claudebox/profiles/base.json': line 2, column 23: 'mounts[0].host': '~/nothing' does not exist")
        (self.profiles / "work.json").write_text('{"extends": "base",\n"mounts": [{"host": "~/none", "sandbox": "~/nothing"}]}')
        self.assertEqual(self.message("--yes", "--profile", "work", "--exec", "true")[0],
                         f"profile '{FILE}': line 2, column 21: 'mounts[0].host': '~/none' does not exist")

    def test_an_option_is_named_itself(self):
        self.assertEqual(self.message("--mount-ro", "~/nothing", "--yes")[0], "--mount-ro: mount '~/nothing' does not exist")

    def test_a_mount_with_the_nix_daemon(self):
        host = OtherHost(self, {"/nix/store/x/y": "", "/nix/var/nix/daemon-socket/keep": ""})
        (self.profiles / "work.json").write_text(json.dumps(
            {"network": "none", "mounts": [{"host": "/nix/var/nix", "sandbox": "/opt/nix"}]}))
        done = host.claudebox("--yes", "--profile", "work", "--exec", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn(f"profile '{FILE}': line 1, column 41: 'mounts[0].host': '/nix/var/nix' contains the Nix daemon's socket\n", done.stderr)

    def test_check_reports_it_too(self):
        self.message_for('[{"host": "~/nothing"}]')
        done = self.claudebox("--check", "--profile", "work")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"profile '{FILE}': line 1, column 22: 'mounts[0].host': '~/nothing' does not exist\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
