# SPDX-License-Identifier: MIT
"""Runs every command of README.md and doc/faq.md as it is written, here or in the named test. A command in no list is a failure."""
import json
import os
import pathlib
import re
import subprocess
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.inet import InetTest

STAGE = pathlib.Path(os.environ["STAGE"])

DOCUMENTS = ("README.md", "doc/faq.md")

# Run by a shell in a project, with a default profile that asks nothing and a stand-in for claude.
HERE = {
    "cd ~/my-project", "claudebox", "claudebox --help", "claudebox --check", 'claudebox -p "fix the tests" --model opus', "claudebox -- --help",
    "claudebox mcp add x -- cmd --yes", "claudebox --import-conversations",
    "claudebox --shell", "claudebox --dry-run", "claudebox --prove", "claudebox --instances", "claudebox --gc", "claudebox --quarantine", "claudebox --audit=full",
    "install -d -m 700 ~/.claudebox ~/.claudebox/profiles", 'CLAUDEBOX_EXTRA_ENV="GH_TOKEN,PGHOST" claudebox',
}
# These need a network of their own: the test examines their plan instead.
PLANNED = {"claudebox --profile work", "claudebox --network inet --publish 3000"}
# Run by another test: its file, and text in that file that shows it.
ELSEWHERE = {
    "make run": ("cli/test_front_door.py", "test_run_builds_and_starts_in_the_given_directory"),
    "make run DIR=~/my-project ARGS='-p \"explain this code\"'": ("cli/test_front_door.py", "test_run_builds_and_starts_in_the_given_directory"),
    "sudo make install": ("cli/test_front_door.py", "test_install_and_uninstall"),
    "make install PREFIX=$HOME/.local": ("cli/test_front_door.py", "test_install_and_uninstall"),
    "make uninstall": ("cli/test_front_door.py", "test_install_and_uninstall"),
    "nix run .": ("box/test_flake.py", "def test_nix_run("),
    "nix profile install .": ("box/test_flake.py", "def test_nix_profile_install("),
    "nix shell": ("box/test_nix_daemon.py", "nix shell"),
    "nix run": ("box/test_nix_daemon.py", "nix run"),
    "nix build": ("box/test_nix_daemon.py", "nix build"),
    "claudebox --gc=home": ("box/test_home.py", '"--gc=home"'),
    "git stash -u": ("box/test_git_commands.py", "git stash -u"),
    "git clean": ("box/test_git_commands.py", "git clean"),
    "claudebox --diff": ("box/test_undo.py", '"--diff"'),
    "claudebox --undo": ("box/test_undo.py", '"--undo"'),
    "claudebox --undo=commits": ("box/test_undo.py", '"--undo=commits"'),
    "claudebox --check --network inet": ("cli/test_readme.py", "test_check_of_a_network_tier"),
}
# Run on a fresh system, by `tools/try readme`.
FRESH = {"make test", "make deb && sudo apt install ./build-deb/claudebox_*.deb", "make static"}
# Run by no test, with the reason.
NOWHERE = {
    "git rebase --exec 'git commit --amend --no-edit -S' main": "needs a key",
    "git push": "needs a server",
}
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )?(?:claudebox|make|nix|sudo|install|git|cd)(?: |$)")


def commands(text):
    """Returns the lines of shell blocks and the commands between backquotes."""
    found = set()
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        found |= {re.sub(r"\s+#.*", "", line).strip() for line in block.splitlines()}
    # A command may be wrapped at the end of a line.
    plain = re.sub(r"\s+", " ", re.sub(r"```.*?```", "", text, flags=re.S))
    found |= {code for code in re.findall(r"`([^`]+)`", plain) if COMMAND.match(code)}
    return found - {""}


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
        found = set().union(*(commands((STAGE / name).read_text(encoding="utf-8")) for name in DOCUMENTS))
        self.assertEqual(found ^ set(listed), set())

    def test_readme_is_short(self):
        self.assertLessEqual(len((STAGE / "README.md").read_text(encoding="utf-8").splitlines()), 130)

    def test_commands_of_other_tests_are_in_them(self):
        for command, (file, words) in ELSEWHERE.items():
            with self.subTest(command):
                self.assertIn(words, (STAGE / "tests" / file).read_text(encoding="utf-8"))

    def test_commands_of_a_fresh_system_are_in_its_script(self):
        script = (STAGE / "tools/trials/fresh.sh").read_text(encoding="utf-8")
        for command in FRESH:
            self.assertIn(command, script)

    def test_the_directory_for_profiles_is_accepted(self):
        self.assertEqual(self.run_as_written("install -d -m 700 ~/.claudebox ~/.claudebox/profiles").returncode, 0)
        self.assertEqual(self.run_as_written("claudebox --yes").returncode, 0)

    def test_commands_run_as_written(self):
        (self.profile_directory() / "default.json").write_text('{"confirm": "never"}')
        for command in sorted(HERE):
            with self.subTest(command):
                done = self.run_as_written(command)
                self.assertEqual(done.returncode, 0, done.stderr[-600:])

    def test_the_example_profile_is_accepted(self):
        example = re.search(r"```json\n(.*?)```", (STAGE / "README.md").read_text(encoding="utf-8"), re.S).group(1)
        (self.profile_directory() / "work.json").write_text(example)
        for command in sorted(PLANNED):
            with self.subTest(command):
                done = self.run_as_written(f"{command} --dry-run=json")
                self.assertEqual(done.returncode, 0, done.stderr[-600:])
                self.assertEqual(json.loads(done.stdout)["network"], "inet")


class ReadmeNetwork(InetTest):
    """Runs in a network of its own."""

    def test_check_of_a_network_tier(self):
        done = self.claudebox("--check", "--network", "inet")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^ok +inet +connects a box, IPv4 and IPv6$")


if __name__ == "__main__":
    unittest.main()
