# SPDX-License-Identifier: MIT
"""--check: one line for each check, with details and a fix, and the exit status."""
import json
import os
import pathlib
import re
import socket
import tempfile
import unittest

from lib.box import CLAUDEBOX, BoxTest, tree
from lib.other_host import OtherHost
from lib.terminal import Terminal

NAMES = ["bwrap", "claude", "shell", "state", "project", "guard", "profile", "profiles", "path", "toolchains", "landlock", "git", "undo", "tools", "names", "pasta", "nft",
         "inet", "limits", "nix",
         "packages", "terminal"]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
REQUIRED = {"bwrap", "claude", "shell", "state", "project", "guard", "profile"}


class Check(BoxTest):
    def setUp(self):
        super().setUp()
        self.fake_claude('[ "$1" = --version ] && echo "9.9.9 (Fake Code)"')

    def check(self, cwd=None, env=None):
        """Returns {name: entry}, the whole JSON and the text, and checks that both formats agree."""
        done = self.claudebox("--check=json", cwd=cwd, env=env)
        whole = json.loads(done.stdout)
        text = self.claudebox("--check", cwd=cwd, env=env)
        self.assertEqual(done.returncode, text.returncode)
        self.assertEqual(done.returncode, 0 if whole["starts"] else 1)
        entries = {entry["name"]: entry for entry in whole["checks"]}
        for name, entry in entries.items():
            self.assertRegex(text.stdout, rf"(?m)^{entry['state']} +{name} ")
        self.assertEqual((done.stderr, text.stderr), ("", ""))
        return entries, whole, text.stdout

    def test_all_checks_pass(self):
        entries, whole, text = self.check()
        self.assertEqual(list(entries), NAMES)
        self.assertTrue(whole["starts"], text)
        self.assertEqual({name for name, entry in entries.items() if entry["required"]}, REQUIRED)
        for name in REQUIRED:
            self.assertEqual(entries[name]["state"], "ok", entries[name])
        self.assertIn("9.9.9", entries["claude"]["detail"])
        self.assertIn("creates a sandbox", entries["bwrap"]["detail"])

    def test_one_line_per_check_and_a_fix_for_each_problem(self):
        _, _, text = self.check()
        *lines, last = [line for line in text.splitlines() if not line.startswith(" ")]
        self.assertEqual(last, "claudebox can start here")
        self.assertEqual([line.split()[1] for line in lines], NAMES)
        for line in lines:
            self.assertRegex(line, r"^(ok|missing|broken) ")
        self.assertEqual(text.count("fix: "), sum(not line.startswith("ok ") for line in lines))

    def test_optional_checks_do_not_fail(self):
        directory = self.scratch()
        (directory / "bwrap").symlink_to("/usr/bin/bwrap")
        entries, whole, _ = self.check(env={"PATH": str(directory)})
        self.assertEqual({entries[name]["state"] for name in ("git", "pasta", "inet")}, {"missing"})
        self.assertTrue(whole["starts"])

    def test_missing_requirement_fails(self):
        cases = {
            "bwrap": {"env": {"PATH": "/nonexistent"}},
            "claude": {"env": {"CLAUDEBOX_CLAUDE": "/nonexistent"}},
            "project": {"cwd": self.home},
        }
        for name, case in cases.items():
            entries, whole, _ = self.check(**case)
            self.assertNotEqual(entries[name]["state"], "ok", name)
            self.assertTrue(entries[name]["fix"])
            self.assertFalse(whole["starts"])

    def test_a_claude_that_does_not_run(self):
        for body in ("exit 1", "exec /nonexistent", "kill -9 $$"):
            self.fake_claude(body)
            entries, whole, _ = self.check()
            self.assertEqual(entries["claude"]["state"], "broken")
            self.assertFalse(whole["starts"])

    def test_claude_runs_in_a_sandbox(self):
        """claude can neither write files nor use the network."""
        self.fake_claude(f'echo x >{self.home}/hit; echo x >/tmp/claudebox-hit; cat /proc/net/dev | grep -c eth; echo 1.0')
        self.claudebox("--check")
        self.assertFalse((self.home / "hit").exists())
        self.assertFalse(os.path.exists("/tmp/claudebox-hit"))

    def test_claude_sees_no_secret_and_no_socket(self):
        """claude may come from the project (PATH often has node_modules/.bin), so it gets no more access than in a box."""
        secret = self.home / ".ssh" / "id_rsa"
        secret.parent.mkdir()
        secret.write_text("canary-key")
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        server.bind(str(self.home / "docker.sock"))
        server.listen()
        self.fake_claude(f'cat {secret}; [ -S {self.home}/docker.sock ] && echo canary-socket; echo 1.0')
        entries, _, text = self.check()
        self.assertNotIn("canary", text + json.dumps(entries))

    def test_claude_does_not_see_the_callers_secrets(self):
        self.fake_claude('env | grep -i canary; echo 1.0')
        entries, _, text = self.check(env={"ANTHROPIC_API_KEY": "canary-key", "GITHUB_TOKEN": "canary-token"})
        self.assertNotIn("canary", text + json.dumps(entries))

    def test_claude_in_any_directory_works(self):
        """A claude that starts in a box is reported as ok, in any directory."""
        for directory in (self.home / "opt", self.scratch(), self._in_tmp()):
            directory.mkdir(exist_ok=True)
            program = directory / "claude"
            program.write_text("#!/bin/sh\necho 1.2.3\n")
            program.chmod(0o755)
            self.assertEqual(self.claudebox("--yes", env={"CLAUDEBOX_CLAUDE": str(program)}).stdout, "1.2.3\n")
            entries, _, _ = self.check(env={"CLAUDEBOX_CLAUDE": str(program)})
            self.assertEqual(entries["claude"]["state"], "ok", entries["claude"])

    def _in_tmp(self):
        path = pathlib.Path(tempfile.mkdtemp(prefix="claudebox-test-", dir="/tmp"))
        self.addCleanup(self._remove, path)
        return path

    def test_the_state_directory(self):
        entries, _, _ = self.check()
        self.assertEqual(entries["state"]["state"], "ok")
        self.box("true")
        self.assertIn("700", self.check()[0]["state"]["detail"])
        (self.home / ".claudebox").chmod(0o755)
        entries, whole, _ = self.check()
        self.assertEqual((entries["state"]["state"], whole["starts"]), ("broken", False))
        self.assertIn("chmod 700", entries["state"]["fix"])

    def test_changes_nothing(self):
        before = tree(self.home)
        self.check()
        self.assertEqual(tree(self.home), before)

    def test_the_terminal(self):
        self.assertEqual(self.claudebox("--check", start_new_session=True).returncode, 0)
        self.assertRegex(self.claudebox("--check", start_new_session=True).stdout, r"(?m)^missing +terminal ")
        terminal = Terminal((CLAUDEBOX, "--check"), self.env, self.project)
        self.addCleanup(terminal.close)
        self.assertEqual(terminal.wait(), 0)
        self.assertRegex(COLOUR.sub("", terminal.output.decode()), r"(?m)^  ok +terminal ")

    def report(self, columns=80, **env):
        """Returns the output on a terminal."""
        terminal = Terminal((CLAUDEBOX, "--check"), {**self.env, **env}, self.project, columns=columns)
        self.addCleanup(terminal.close)
        terminal.wait(20)
        return terminal.output.decode().replace("\r\n", "\n")

    def test_terminal_gets_a_grouped_report(self):
        text = self.report()
        plain = COLOUR.sub("", text)
        heads = re.findall(r"(?m)^[A-Z].*$", plain)
        self.assertEqual(heads, ["Every box", "This machine", "Network inet", "Nix"])
        self.assertEqual(sorted(re.findall(r"(?m)^  (?:ok|missing|broken) +(\w+)", plain)), sorted(NAMES))
        self.assertTrue(plain.endswith("\n\nclaudebox can start here\n"))
        self.assertIn("  \x1b[32mok\x1b[0m       bwrap ", text)

    def test_colours_show_the_severity(self):
        text = self.report(CLAUDEBOX_CLAUDE="/nonexistent", PATH="/nonexistent")
        self.assertRegex(text, r"\x1b\[1;31mbroken\x1b\[0m +claude ")
        self.assertRegex(text, r"\x1b\[33mmissing\x1b\[0m +bwrap ")
        self.assertTrue(COLOUR.sub("", text).endswith("claudebox cannot start here: 2 problems to fix\n"))
        self.assertIn("\x1b[1;31mcannot", text)

    def test_no_colour_with_NO_COLOR_or_a_dumb_terminal(self):
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\x1b", self.report(**env))
        self.assertIn("\x1b", self.report(NO_COLOR=""))

    def test_fits_the_screen(self):
        words = None
        for columns in (40, 59, 60, 80, 120, 200):
            for locale in ("C", "C.UTF-8"):
                text = self.report(columns, LC_ALL=locale, PATH="/nonexistent", NO_COLOR="1")
                self.assertLessEqual(max(map(len, text.splitlines())), columns)
                self.assertTrue(text.isascii())
                # Except for line breaks, the text is the same at any width.
                joined = re.sub(r"\s", "", text)
                self.assertEqual(words or joined, joined, columns)
                words = joined

    def test_summary_has_the_number_of_problems(self):
        whole = json.loads(self.claudebox("--check=json", env={"PATH": "/nonexistent"}).stdout)
        self.assertEqual((whole["starts"], whole["to_fix"]), (False, 1))
        self.assertTrue(self.claudebox("--check", env={"PATH": "/nonexistent"}).stdout.endswith("\nclaudebox cannot start here: 1 problem to fix\n"))

    def test_nix(self):
        host = OtherHost(self, {"/nix/store/x/y": "", "/nix/var/nix/daemon-socket/dummy": ""})
        whole = json.loads(host.claudebox("--check=json").stdout)
        nix = next(entry for entry in whole["checks"] if entry["name"] == "nix")
        self.assertEqual(nix["state"], "broken")
        self.assertIn("daemon", nix["detail"])
        self.assertTrue(whole["starts"], whole)

    def test_tools_of_the_box(self):
        """The tools are those of the box's PATH, not of the host's."""
        outside = self.home / "tools"
        outside.mkdir()
        for name in ("rg", "fdfind"):
            (outside / name).write_text("#!/bin/sh\n")
            (outside / name).chmod(0o755)
        host = OtherHost(self, {})
        def row(*more):
            done = host.run("/usr/bin/env", f"PATH={outside}:/usr/bin", CLAUDEBOX, "--check=json", *more)
            return [entry for entry in json.loads(done.stdout)["checks"] if entry["name"] == "tools"][0]
        missing = [name for name, other in (("rg", "rg"), ("fd", "fdfind")) if not pathlib.Path("/usr/bin", other).exists()]
        found = row()
        self.assertEqual(found["state"], "missing" if missing else "ok", found)
        for name in missing:
            self.assertRegex(found["detail"], rf"the box has no [a-z ,]*\b{name}\b.*; it has")
        for name in ("git", "bash", "node"):
            self.assertRegex(found["detail"], rf"(it has|^)[a-z ,]*\b{name}\b")
        self.assertEqual(row("--path", outside)["state"], "ok")

    def test_resolv_conf(self):
        for files, detail in (({}, "/etc/resolv.conf does not exist"),
                              ({"/etc/resolv.conf": ("->", "../run/resolve/stub.conf")},
                               "/etc/resolv.conf is a link to '../run/resolve/stub.conf', which does not exist")):
            host = OtherHost(self, files)
            done = host.run(CLAUDEBOX, "--check=json")
            row, = [entry for entry in json.loads(done.stdout)["checks"] if entry["name"] == "names"]
            self.assertEqual((row["state"], row["detail"], done.returncode), ("broken", detail, 0))
            self.assertIn(f"! host names cannot be looked up, here and in the box: {detail}", " ".join(host.claudebox("--yes", "--exec", "true").stderr.split()))
            self.assertNotIn("host names", host.claudebox("--yes", "--network", "none", "--exec", "true").stderr)

    def test_packages_without_a_daemon(self):
        """The error and the check name the daemon: nix is there."""
        if not os.path.exists("/usr/bin/nix"):
            self.skipTest("nix is not installed")
        host = OtherHost(self, {"/nix/store/keep": ""})
        options = ["--ro-bind", host.root / "nix", "/nix"]
        self.profile("default", packages=["hello"])
        done = host.claudebox("--yes", "--exec", "true", options=options)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertRegex(done.stderr, r"'packages\[0\]': 'hello': nix is installed, but it cannot connect to the daemon: ")
        self.assertIn("nix-daemon", done.stderr)
        rows = {entry["name"]: entry for entry in json.loads(host.run(CLAUDEBOX, "--check=json", options=options).stdout)["checks"]}
        self.assertEqual((rows["nix"]["state"], rows["nix"]["required"]), ("broken", True))
        self.assertIn("cannot connect to the daemon", rows["nix"]["detail"])

    def test_packages_need_nix(self):
        profiles = self.home / ".claudebox/profiles"
        profiles.mkdir(parents=True)
        profiles.parent.chmod(0o700)
        (profiles / "default.json").write_text('{"packages": ["hello"]}')
        whole = json.loads(OtherHost(self, {}).claudebox("--check=json").stdout)
        entries = {entry["name"]: entry for entry in whole["checks"]}
        self.assertFalse(whole["starts"])
        self.assertEqual((entries["nix"]["state"], entries["nix"]["required"]), ("missing", True))
        self.assertIn("install Nix", entries["nix"]["fix"])

    def test_a_helper_that_hangs_is_bounded(self):
        directory = self.scratch()
        (directory / "nft").write_text("#!/bin/sh\necho version 1\nexec >/dev/null 2>&1\nexec sleep 300\n")
        (directory / "nft").chmod(0o755)
        done = self.claudebox("--check", env={"PATH": f"{directory}:{self.env['PATH']}"}, timeout=15)
        self.assertRegex(done.stdout, r"(?m)^(broken|ok) +nft ")

    def test_unknown_output_format_is_a_usage_error(self):
        self.assertEqual(self.claudebox("--check=yaml").returncode, 2)
        self.assertIsNone(re.search(r"\x1b", self.claudebox("--check").stdout))


if __name__ == "__main__":
    unittest.main()
