# SPDX-License-Identifier: MIT
"""Every command in README is run as it is written, here or in the test that is named; one that is in neither list is a failure."""
import json
import os
import pathlib
import re
import subprocess
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.inet import InetTest

STAGE = pathlib.Path(os.environ["STAGE"])

# Run in a project, by a shell, with a default profile that asks nothing and a stand-in for claude.
HERE = {
    "cd ~/my-project", "claudebox", "claudebox --check", 'claudebox -p "fix the tests" --model opus', "claudebox --shell", "claudebox --dry-run",
    "claudebox --prove", "claudebox --instances", "claudebox --gc", "install -d -m 700 ~/.claudebox ~/.claudebox/profiles",
    'CLAUDEBOX_EXTRA_ENV="GH_TOKEN,PGHOST" claudebox',
}
# These need a network of their own or a question: as they are, and the plan is looked at instead.
PLANNED = {"claudebox --profile work", "claudebox --network inet --publish 3000"}
# Run by another test: the file, and words in it that show so.
ELSEWHERE = {
    "make run": ("cli/test_front_door.py", "test_run_builds_and_starts_in_the_given_directory"),
    "make run DIR=~/my-project ARGS='-p \"explain this code\"'": ("cli/test_front_door.py", "test_run_builds_and_starts_in_the_given_directory"),
    "sudo make install": ("cli/test_front_door.py", "test_install_and_uninstall"),
    "make install PREFIX=$HOME/.local": ("cli/test_front_door.py", "test_install_and_uninstall"),
    "make uninstall": ("cli/test_front_door.py", "test_install_and_uninstall"),
    "nix run .": ("box/test_flake.py", "test_NIX_01_nix_run"),
    "nix profile install .": ("box/test_flake.py", "test_NIX_01_nix_profile_install"),
    "nix shell": ("box/test_nix_daemon.py", "nix shell"),
    "nix run": ("box/test_nix_daemon.py", "nix run"),
    "nix build": ("box/test_nix_daemon.py", "nix build"),
    "claudebox --check --network inet": ("cli/test_readme.py", "test_the_check_of_a_network"),
}
# Run on a fresh system, by `make try-readme`.
FRESH = {"make test", "make deb && sudo apt install ./build-deb/claudebox_*.deb", "make static"}
# Run by no test, and why.
NOWHERE = {
    "make bench": "it measures",
    "make peers": "it installs other programs and measures",
    "rpmbuild -ba": "it is another system's",
    "cd packaging && makepkg -si": "it is another system's",
    "nix flake lock": "it needs the network",
    "nix flake update": "it needs the network",
    "git rebase --exec 'git commit --amend --no-edit -S' main": "it needs a key",
    "git push": "it needs a server",
}
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )?(?:claudebox|make|nix|sudo|install|git|cd|rpmbuild)(?: |$)")


def commands():
    text = (STAGE / "README.md").read_text(encoding="utf-8")
    found = set()
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        found |= {re.sub(r"\s+#.*", "", line).strip() for line in block.splitlines()}
    found |= {code for code in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S)) if COMMAND.match(code)}
    return found - {"", "claudebox_", "make ", "nix"}


class Readme(BoxTest):
    def setUp(self):
        super().setUp()
        self.project = self.home / "my-project"
        self.project.mkdir()
        (self.home / "notes").mkdir()
        os.symlink(CLAUDEBOX, self.home / "bin/claudebox")
        self.env["PATH"] = f"{self.home}/bin:{self.env['PATH']}"
        self.env["GH_TOKEN"] = "made-up"

    def profile_directory(self):
        for path in (self.home / ".claudebox", self.home / ".claudebox/profiles"):
            path.mkdir(mode=0o700)
        return self.home / ".claudebox/profiles"

    def run_as_written(self, command):
        return subprocess.run(["sh", "-c", command], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60, check=False)

    def test_every_command_is_in_one_of_the_lists(self):
        listed = [*HERE, *PLANNED, *ELSEWHERE, *FRESH, *NOWHERE]
        self.assertEqual(len(listed), len(set(listed)))
        self.assertEqual(commands() ^ set(listed), set())

    def test_elsewhere_is_there(self):
        for command, (file, words) in ELSEWHERE.items():
            with self.subTest(command):
                self.assertIn(words, (STAGE / "tests" / file).read_text(encoding="utf-8"))

    def test_fresh_is_there(self):
        script = (STAGE / "tools/fresh.sh").read_text(encoding="utf-8")
        for command in FRESH:
            self.assertIn(command, script)

    def test_the_place_for_profiles(self):
        self.assertEqual(self.run_as_written("install -d -m 700 ~/.claudebox ~/.claudebox/profiles").returncode, 0)
        self.assertEqual(self.run_as_written("claudebox --yes").returncode, 0)

    def test_as_written(self):
        (self.profile_directory() / "default.json").write_text('{"confirm": "never"}')
        for command in sorted(HERE):
            with self.subTest(command):
                done = self.run_as_written(command)
                self.assertEqual(done.returncode, 0, done.stderr[-600:])

    def test_the_profile_of_the_example(self):
        example = re.search(r"(?m)^    (\{ \"network\".*?\})\n\n", (STAGE / "README.md").read_text(encoding="utf-8"), re.S).group(1)
        (self.profile_directory() / "work.json").write_text(example)
        for command in sorted(PLANNED):
            with self.subTest(command):
                done = self.run_as_written(f"{command} --dry-run=json")
                self.assertEqual(done.returncode, 0, done.stderr[-600:])
                self.assertEqual(json.loads(done.stdout)["network"], "inet")


class ReadmeNetwork(InetTest):
    """In a network of the test's own."""

    def test_the_check_of_a_network(self):
        done = self.claudebox("--check", "--network", "inet")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^ok +inet +connects a box, IPv4 and IPv6$")


if __name__ == "__main__":
    unittest.main()
