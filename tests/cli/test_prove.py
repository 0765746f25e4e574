# SPDX-License-Identifier: MIT
"""--prove: its options, table, JSON and exit status. tests/box checks what the attacks find."""
import json
import os
import re
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.broken import Broken
from lib.terminal import Terminal

SUMMARY = r"^\d+ blocked, \d+ leaked, \d+ open by design, \d+ granted, \d+ skipped$"
VERDICTS = {"blocked", "leaked", "open", "granted", "skipped", "not-run"}


class Prove(BoxTest):
    def on_terminal(self, *options, columns=80, env=None):
        terminal = Terminal((CLAUDEBOX, "--prove", *options), {**self.env, **(env or {})}, self.project, columns=columns)
        self.addCleanup(terminal.close)
        terminal.wait(20)
        return terminal.output.replace(b"\r\n", b"\n").decode()

    def fails(self, breakage, status):
        done, proof = Broken(self, breakage).prove()
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr, proof

    def test_it_runs_alone(self):
        for words in (("--prove", "hello"), ("--prove", "--shell"), ("--prove", "--exec", "ls"), ("--prove=yes",)):
            self.assertIn("--prove", self.refused(*words, status=2))
        self.assertRegex(self.claudebox("--help").stdout, r"(?m)^ +--prove\[=json\] ")

    def test_it_needs_no_confirmation_and_no_claude(self):
        done = self.claudebox("--network", "none", "--prove", env={"CLAUDEBOX_CLAUDE": "/nonexistent"})
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertRegex(done.stdout, "(?m)" + SUMMARY)
        self.assertEqual(done.stderr, "")

    def test_a_project_that_is_refused(self):
        self.refused("--prove", cwd=self.home)

    def test_the_table(self):
        done = self.claudebox("--network", "none", "--prove")
        lines = done.stdout.splitlines()
        self.assertRegex(lines[-1], SUMMARY)
        self.assertEqual(lines[1], "network none")
        self.assertNotIn("\x1b", done.stdout)
        rows = [line.split()[:2] for line in lines[2:-1] if re.match(r"  [a-z]", line)]
        proof = json.loads(self.claudebox("--network", "none", "--prove=json").stdout)
        self.assertEqual([row[0] for row in rows], [row["name"] for row in proof["attacks"]])
        self.assertEqual([line for line in lines[2:-1] if re.match("[a-z]", line)],
                         list(dict.fromkeys(row["group"] for row in proof["attacks"])))
        counts = {word: sum(row[1].lower() == word for row in rows) for word in ("blocked", "leaked", "open", "granted", "skipped")}
        self.assertEqual([int(number) for number in re.findall(r"\d+", lines[-1])], list(counts.values()))

    def test_as_json(self):
        done = self.claudebox("--network", "none", "--prove=json")
        proof = json.loads(done.stdout)
        self.assertEqual((proof["version"], proof["tier"], proof["profile"], proof["complete"]), (1, "none", None, True))
        self.assertEqual(proof["project"], str(self.project))
        for row in proof["attacks"]:
            self.assertEqual(list(row), ["name", "group", "tried", "verdict", "why", "blocked_by"])
            self.assertIn(row["verdict"], VERDICTS)
            self.assertTrue(all(row.values()), row)
        for verdict in VERDICTS:
            self.assertEqual(proof[verdict], sum(row["verdict"] == verdict for row in proof["attacks"]))
        self.assertEqual(done.returncode, 1 if proof["leaked"] else 0)

    def test_no_wider_than_the_terminal(self):
        for columns in (40, 71, 72, 80, 132):
            text = self.on_terminal("--network", "none", columns=columns, env={"NO_COLOR": "1"})
            self.assertRegex(" ".join(text.split("\n\n")[-1].split()), SUMMARY)
            self.assertEqual([line for line in text.splitlines() if len(line) > columns], [])
            self.assertNotIn("\x1b", text)

    def test_colour_only_on_a_terminal_that_wants_it(self):
        self.assertIn("\x1b[1menvironment\x1b[0m", self.on_terminal("--network", "none"))
        self.assertNotIn("\x1b", self.on_terminal("--network", "none", env={"NO_COLOR": "1"}))
        self.assertNotIn("\x1b", self.on_terminal("--network", "none", env={"TERM": "dumb"}))
        self.assertNotIn("\x1b", self.on_terminal("=json")[:0] + self.claudebox("--prove").stdout)

    def test_a_box_that_cannot_start(self):
        errors, proof = self.fails("options.insert(0, '--no-such-option')", 125)
        self.assertIsNone(proof)
        self.assertIn("Unknown option --no-such-option", errors, "the message of bwrap")
        self.assertRegex(errors, r"(?m)^claudebox: cannot set up the sandbox")
        errors, proof = self.fails("command[-1] = '/run/claudebox/nothing'", 125)
        self.assertIsNone(proof)

    def test_an_attack_program_that_does_not_finish_proves_nothing(self):
        for script, words in (("kill -SEGV $$", "signal 11"), ("exit 3", "status 3"), ("exit 0", "exited early"),
                              ("echo end\t999\t-", "attacks did not run"), ("printf 'files-ssh\tblocked\tx\n'", "exited early")):
            errors, proof = self.fails(f"command[-1:] = ['/bin/sh', '-c', {'ulimit -c 0; ' + script!r}]", 1)
            self.assertIn("claudebox: the proof is incomplete: ", errors)
            self.assertIn(words, errors)
            self.assertFalse(proof["complete"])
            self.assertGreater(proof["not-run"], 60)

    def test_control_characters_from_the_attack_program_are_escaped(self):
        say = r"printf 'files-ssh\tleaked\t\033[2J\r\302\205\377x\n'"
        broken = Broken(self, f"command[-1:] = ['/bin/sh', '-c', {say!r}]")
        done = self.claudebox("--prove", env={"PATH": f"{broken.directory}:{self.env['PATH']}"})
        self.assertIn(r"\x1b[2J\r", done.stdout)
        self.assertNotRegex(done.stdout, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        proof = broken.prove()[1]
        self.assertEqual(proof["leaked"], 1)

    def test_redirected_input_is_not_passed_to_the_box(self):
        secret = self.scratch() / "redirected"
        secret.write_text("secret")
        broken = Broken(self, "command[-1:] = ['/bin/sh', '-c', 'readlink /proc/self/fd/0 >&2; cat >&2']")
        with open(secret, encoding="ascii") as file:
            done = broken.prove(stdin=file)[0]
        self.assertIn("/dev/null", done.stderr)
        self.assertNotIn("secret", done.stderr)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = self.run_with_output(full)
        self.assertEqual(done.returncode, 125)
        self.assertIn("cannot write", done.stderr)

    def run_with_output(self, file):
        import subprocess
        return subprocess.run([CLAUDEBOX, "--prove"], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=file,
                              stderr=subprocess.PIPE, text=True, timeout=30, check=False)


if __name__ == "__main__":
    unittest.main()
