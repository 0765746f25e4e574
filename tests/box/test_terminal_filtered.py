# SPDX-License-Identifier: MIT
"""The default, `"terminal": "filtered"`: the agent's output passes the terminal filter, and the box
cannot reach the user's terminal."""
import fcntl
import json
import os
import struct
import subprocess
import termios
import time
import unittest

from lib.box import CLAUDEBOX, processes_with, until
from lib.on_terminal import CTRL_C, Direct, OnTerminal
from lib.terminal import Answering

AS_ROOT = True

# Output of the box, and the part of it that reaches the terminal; None: all.
# tests/unit/test_terminal.c tests every kind of sequence.
ROWS = (
    (b"plain \xc3\xbc \xe2\x94\x80", None),
    (b"\x1b[1;31mred\x1b[0m\x1b[2K\x1b[3C", None),
    (b"\x1b[?1049h\x1b[?1000;1006h\x1b[?25l\x1b[?2004h\x1b[?1049l", None),
    (b"\x1b]11;?\x1b\\", None),
    (b"\x1b]8;;https://example.org\x1b\\x\x1b]8;;\x1b\\", None),
    (b"\x1b]52;c;cm0gLXJmIH4K\x07", b""),  # the clipboard
    (b"\x1b]52;c;?\x07", b""),
    (b"\x9d52;c;QUJD\x9c", b"\xef\xbf\xbd52;c;QUJD\xef\xbf\xbd"),
    (b"\xc2\x9d52;c;QUJD\xc2\x9c", b"52;c;QUJD"),
    (b"\x1b]0;title\x07\x1b]2;gr\xc3\xbc\xc3\x9f\x1b\\\x1b]9;note\x07\x1b]777;notify;a;b\x07", None),
    (b"\x1b]2;a\nb\xc2\x9b21t\x07", b"\x1b]2;ab21t\x07"),
    (b"\x1b[21t", b""),  # the title would become input
    (b"\x1b[8;5;5t\x1b[2t", b""),  # window size and state
    (b"\x1b]9;7;sh\x07\x1b]99;a=report;x\x07\x1b]7;file:///etc\x07", b""),
    (b"\x1b[?1007h\x1b[>1;3m\x1b[>4;1f\x1b[?6h", b""),  # modes that cannot be reset
    (b"\x1bPtmux;\x1b\x1b]52;c;QUJD\x07\x1b\\", b""),  # through tmux
    (b"\x1bP$qm\x1b\\\x1b_Ga=q;AAAA\x1b\\", b""),
    (b"\x1b[5i\x1b[?4i\x05", b""),  # the printer, the answerback
    (b"\x1b]1337;File=name=eA==:AAAA\x07", b""),
    (b"\x1b]4;1;red\x07\x1b]11;#ffffff\x07", b""),
    (b"\x1b]8;;file:///etc/passwd\x1b\\x", b"x"),
)


def octal(data):
    return "".join(f"\\{byte:03o}" for byte in data)


class Filter(OnTerminal):
    def through(self, *cases):
        """Returns what the terminal receives of each case. A case is a list of writes."""
        (self.project / "write.py").write_text(
            "import sys, time\nfor case in eval(sys.argv[1]):\n    sys.stdout.buffer.write(b'<<<')\n    for data in case:\n"
            "        sys.stdout.buffer.write(data); sys.stdout.flush(); time.sleep(0.01)\n    sys.stdout.buffer.write(b'>>>')\n")
        terminal = self.open(CLAUDEBOX, "--yes", "--exec", "sh", "-c", "stty raw -echo; python3 write.py \"$1\"", self.mark, repr(cases))
        self.assertEqual(terminal.wait(), 0)
        self.output = terminal.output
        return [part.partition(b">>>")[0] for part in terminal.output.split(b"<<<")[1:]]

    def test_terminal_filter_passes_only_listed_sequences(self):
        got = self.through(*([written] for written, _ in ROWS))
        self.assertEqual(got, [written if left is None else left for written, left in ROWS])

    def test_split_writes_give_the_same_result(self):
        written = b"a\x1b]52;c;QUJD\x07b\xe2\x94\x80\x1b[31mc"
        got = self.through(*([written[:at], written[at:]] for at in range(1, len(written), 3)))
        self.assertEqual(set(got), {b"ab\xe2\x94\x80\x1b[31mc"})

    def test_answers_reach_the_agent(self):
        terminal = self.open(CLAUDEBOX, "--yes", "--exec", "bash", "-c",
                             "stty raw -echo; printf '\\033[6n'; IFS= read -r -d R x; stty sane; printf 'got[%q]\\n' \"$x\"; exit 4",
                             self.mark, kind=Answering)
        terminal.expect(r"got\[\$'\\E\[12;34'\]")
        self.assertEqual(terminal.wait(), 4)

    def test_all_output_arrives(self):
        terminal = self.open(CLAUDEBOX, "--yes", "--exec", "sh", "-c", "i=0; while [ $i -lt 3000 ]; do echo line-$i; i=$((i + 1)); done", self.mark)
        self.assertEqual(terminal.wait(), 0)
        lines = terminal.output.split(b"\r\n")
        self.assertEqual([line for line in lines if line.startswith(b"line-")], [b"line-%d" % i for i in range(3000)])

    def test_errors_before_the_start_are_printed(self):
        terminal = self.open(CLAUDEBOX, "--yes", "--exec", "no-such-program")
        self.assertEqual(terminal.wait(), 127)
        self.assertIn(b"cannot execute 'no-such-program'", terminal.output)
        self.assertNotIn(b"\n\n\n", terminal.output)


class FilterDirect(Direct, Filter):
    """Without the terminal filter all output passes, so the tests above can fail."""

    test_split_writes_give_the_same_result = None

    def test_terminal_filter_passes_only_listed_sequences(self):
        self.assertEqual(self.through(*([written] for written, _ in ROWS)), [written for written, _ in ROWS])


CLIPBOARD, SIXEL, KITTY = b"\x1b]52;c;QUJD\x07", b"\x1bPq#0~\x1b\\", b"\x1b_Ga=T,t=d;QUJD\x1b\\"


class Allowed(Filter):
    """The profile key "terminal_allow"."""

    test_terminal_filter_passes_only_listed_sequences = test_split_writes_give_the_same_result = None
    test_answers_reach_the_agent = test_all_output_arrives = test_errors_before_the_start_are_printed = None

    def profile(self, text):
        directory = self.home / ".claudebox" / "profiles"
        directory.mkdir(parents=True, exist_ok=True)
        for path in (directory.parent, directory):
            path.chmod(0o700)
        (directory / "default.json").write_text(text)

    def test_each_class_passes_only_if_it_is_allowed(self):
        cases = [CLIPBOARD], [b"\x1b]52;c;?\x07"], [SIXEL], [KITTY], [b"\x1b_Ga=T,t=f;L2V0Yw==\x1b\\"], [b"\x1b]2;t\x07"], [b"\x07"]
        silent = b"\x1b_Ga=T,t=d,q=2;QUJD\x1b\\"
        for allowed, wanted in ((["clipboard"], [CLIPBOARD, b"", b"", b"", b"", b"", b""]),
                                (["images", "title"], [b"", b"", SIXEL, silent, b"", b"\x1b]2;t\x07", b""]),
                                ([], [b""] * 7)):
            with self.subTest(allowed):
                self.profile(json.dumps({"terminal_allow": allowed}))
                self.assertEqual(self.through(*cases), wanted)

    def test_large_data_passes_whole(self):
        self.profile('{"terminal_allow": ["clipboard", "images"]}')
        data = b"\x1b]52;c;" + b"QUJD" * 20000 + b"\x07"
        (self.project / "data").write_bytes(b"<<<" + data + b">>>")
        terminal = self.open(CLAUDEBOX, "--yes", "--exec", "sh", "-c", "stty raw -echo; cat data", self.mark)
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(terminal.output.partition(b"<<<")[2].partition(b">>>")[0], data)

    def test_the_end_names_what_was_dropped_and_the_key(self):
        self.through([CLIPBOARD, CLIPBOARD], [KITTY, b"\x1b_Gm=0;QUJD\x1b\\", b"\x1b]52;c;?\x07\x1b[21t"])
        self.assertRegex(b" ".join(self.output.split()),
                         rb'terminal: 2 clipboard writes, 1 image of the box dropped; to allow: "terminal_allow": \["title", "notify", "clipboard", "images"\] in a profile')
        self.through([b"text\x1b]52;c;?\x07\x1b[21t\x1b[5i"])
        self.assertNotIn(b"terminal:", self.output)
        self.profile('{"terminal_allow": ["clipboard"]}')
        self.through([CLIPBOARD])
        self.assertNotIn(b"dropped", self.output)

    def test_grants_are_shown_and_approved(self):
        for text, wanted in (('{}', b"+ network full"), ('{"terminal_allow": ["clipboard"]}', b"+ terminal_allow clipboard"),
                             ('{"terminal_allow": ["notify", "title"]}', b"- terminal_allow clipboard")):
            self.profile(text)
            terminal = self.open(CLAUDEBOX, "--exec", "true", env={"NO_COLOR": "1"})
            terminal.expect(r"\[y/N\] ")
            if text != "{}":
                self.assertIn(wanted, terminal.output)
            self.assertEqual(b"clipboard: the agent decides what you paste next" in b" ".join(terminal.output.split()), wanted.startswith(b"+ terminal"))
            terminal.send("y\n")
            self.assertEqual(terminal.wait(), 0)
        self.profile('{"terminal_allow": ["images"]}')
        self.assertEqual(self.plan()["settings"]["terminal_allow"]["value"], ["images"])
        self.assertIn("terminal_allow", self.claudebox("--dry-run").stdout)

    def test_an_unknown_class_is_an_error_with_a_suggestion(self):
        self.profile('{"terminal_allow":\n ["title", "clipbord"]}')
        done = self.claudebox("--dry-run")
        self.assertEqual(done.returncode, 125)
        self.assertIn("line 2, column 12", done.stderr)
        self.assertIn("did you mean 'clipboard'?", done.stderr)


class Separation(OnTerminal):
    """The box has no access to the user's terminal."""

    def test_the_box_has_another_terminal_on_all_descriptors(self):
        script = ("import os; ids = {os.fstat(fd).st_rdev for fd in (0, 1, 2)}; tty = os.open('/dev/tty', os.O_RDWR);"
                  "print('same', len(ids), 'rdev', ids.pop(), 'own', os.getsid(0), os.tcgetpgrp(tty) == os.getpgrp())")
        terminal = self.open(CLAUDEBOX, "--yes", "--exec", "python3", "-c", script)
        found = terminal.expect(r"same 1 rdev (\d+) own 1 True")
        self.assertEqual(terminal.wait(), 0)
        TIOCGPTN = 0x80045430
        number = struct.unpack("I", fcntl.ioctl(terminal.fd, TIOCGPTN, b"\0\0\0\0"))[0]
        self.assertNotEqual(int(found[1]), os.makedev(136, number))

    def test_characters_pushed_into_its_input_stay_in_the_box(self):
        """TIOCSTI, if the kernel allows it, adds input to the terminal of the box."""
        script = ("import fcntl, termios, sys\nfor c in 'echo INJECTED\\n':\n"
                  "    try: fcntl.ioctl(0, termios.TIOCSTI, c.encode())\n    except OSError as e: print('no', e.errno); break\n")
        (self.project / "push.py").write_text(script)
        terminal = self.shell()
        terminal.send(f'"$BOX" --yes --exec python3 push.py {self.mark} 2>/dev/null\n')
        terminal.expect("PROMPT> ")
        terminal.send("echo over\n")
        terminal.expect("over")
        self.assertNotIn(b"\nINJECTED", terminal.quiet(0.3))

    def test_modes_set_in_the_box_do_not_change_the_users_terminal(self):
        terminal = self.shell()
        terminal.send(f'"$BOX" --yes --exec sh -c "stty raw -echo; sleep 0.3; stty -a | grep -c -- -icanon" {self.mark} 2>/dev/null; echo "after $?"\n')
        terminal.expect("after 0")
        terminal.send("stty -a | grep -o -- '-*icanon'\n")
        terminal.expect(r"^(PROMPT> )?icanon")

    def test_only_descriptors_that_are_terminals_are_replaced(self):
        cases = (
            ("", "ttt"), ("</dev/null", "-tt"), (">out", "t-t"), ("2>err", "tt-"), ("</dev/null 2>err", "-t-"), ("</dev/null >out", "--t"),
        )
        look = 'x=; for i in 0 1 2; do if [ -t $i ]; then x=${x}t; else x=$x-; fi; done; echo $x >where; : </dev/tty && echo tty >>where'
        for redirections, wanted in cases:
            with self.subTest(redirections):
                terminal = self.open("sh", "-c", f'"{CLAUDEBOX}" --yes --exec sh -c \'{look}\' {redirections}; echo "END $?"')
                terminal.expect("END 0")
                self.assertEqual((self.project / "where").read_text(), f"{wanted}\ntty\n")

    def test_with_all_descriptors_redirected_the_box_has_no_terminal(self):
        terminal = self.open("sh", "-c", f'"{CLAUDEBOX}" --yes --exec sh -c ": </dev/tty" </dev/null >out 2>err; echo "END $?"')
        terminal.expect("END [12]")
        self.assertIn("/dev/tty", (self.project / "err").read_text())

    def test_without_a_terminal_the_streams_are_passed_through(self):
        done = self.claudebox("--yes", "--exec", "sh", "-c", "cat; echo err >&2; exit 3", stdin=None, input="through\n")
        self.assertEqual((done.returncode, done.stdout), (3, "through\n"))
        self.assertTrue(done.stderr.endswith("err\n"))

    def test_a_terminal_that_is_not_the_controlling_one_is_refused(self):
        master, slave = os.openpty()
        self.addCleanup(os.close, master)
        done = subprocess.run([CLAUDEBOX, "--yes", "--exec", "true"], cwd=self.project, env=self.env, stdin=slave, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=20, check=False, start_new_session=True)
        os.close(slave)
        self.assertEqual(done.returncode, 125)
        self.assertIn("cannot filter the terminal of descriptor 0", done.stderr)

    def test_ctrl_c_works_while_the_output_is_blocked(self):
        """The test does not read the output; Ctrl+C still ends the box."""
        terminal = self.open(CLAUDEBOX, "--yes", "--exec", "sh", "-c", "touch up; while :; do echo y; done", self.mark)
        self.assertTrue(until((self.project / "up").exists))
        time.sleep(0.3)
        terminal.send(CTRL_C)
        self.assertTrue(until(lambda: not processes_with(self.mark), 6))

    def test_the_box_ends_when_claudebox_is_killed(self):
        terminal = self.box_on_terminal("trap '' HUP; echo READY; while :; do sleep 1; done")
        terminal.expect("READY")
        os.kill(terminal.pid, 9)
        self.assert_gone()

    def test_the_box_starts_with_the_size_of_the_users_terminal(self):
        terminal = self.box_on_terminal("stty size; kill -STOP $$", rows=33, columns=101)
        terminal.expect("33 101")
        fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 20, 0, 0))
        terminal.close()
        self.assert_gone()


class Audit(Direct, OnTerminal):
    def test_direct_is_shown_as_a_danger(self):
        done = self.claudebox("--yes", "--exec", "true")
        self.assertIn("Terminal:\n  direct: the box has your own terminal", done.stderr)
        self.assertEqual(self.plan()["terminal"], "direct")

    def test_the_default_is_filtered(self):
        del self.env["CLAUDEBOX_PROFILE"]
        self.assertNotIn("Terminal:", self.claudebox("--yes", "--exec", "true").stderr)
        self.assertEqual(self.plan()["terminal"], "filtered")
        self.assertIn("claudebox gives the box a terminal of its own", self.claudebox("--dry-run").stdout)

    def test_a_changed_terminal_setting_is_shown_before_the_question(self):
        profile = self.home / ".claudebox" / "profiles" / "direct.json"
        for text, wanted in (('{"terminal": "filtered"}', None), ('{"terminal": "direct"}', "+ terminal direct"),
                             ('{"terminal": "filtered"}', "- terminal direct"), ('{}', None)):
            profile.write_text(text)
            terminal = self.open(CLAUDEBOX, "--exec", "true", env={"NO_COLOR": "1"})
            terminal.expect(r"\[y/N\] ")
            self.assertEqual(wanted.encode() in terminal.output if wanted else b"terminal direct" not in terminal.output, True)
            terminal.send("y\n")
            self.assertEqual(terminal.wait(), 0)


if __name__ == "__main__":
    unittest.main()
