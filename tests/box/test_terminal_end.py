# SPDX-License-Identifier: MIT
"""What is left of the agent in the terminal when the box has ended: nothing."""
import os
import signal
import termios
import time
import unittest

from lib.box import CLAUDEBOX, processes_with, until
from lib.on_terminal import Direct, OnTerminal
from lib.screen import Screen
from lib.terminal import Answering, Terminal

# All that an agent can leave on, and the questions that it may have asked last.
MODES = ("?1049h ?1000h ?1002h ?1003h ?1006h ?1015h ?1004h ?2004h ?25l ?1h >1u >4;2m ?2026h ?2031h ?2048h 5;10r 4h ?7l 31m").split()
LEAVE = "printf '" + "".join(rf"\033[{mode}" for mode in MODES) + r"\033=\016\033]8;;https://example.org\033\\'"
ASK = r"printf '\033[c\033[>c\033[6n\033[>0q\033]11;?\033\\\033[5n'"
RAW = "stty raw -echo"
# What undoes each of them.
UNDONE = ("?1000l ?1002l ?1003l ?1006l ?1015l ?1004l ?2004l ?25h ?1l <99u >4;0m ?2026l ?2031l ?2048l r 4l ?7h 0m").split()
# A shell's way to see whether something was typed.
LOOK = "IFS= read -r -t 0.4 -n 1000 x; printf 'typed[%q]\\n' \"$x\"\n"


class End:
    def modes(self, terminal):
        return termios.tcgetattr(terminal.fd)

    def around(self, script, env=None, kind=Answering, **options):
        """A script around claudebox, so that its own shell changes no mode: READY, the box when we have seen the modes, DONE, and what was typed."""
        terminal = self.open("bash", "-c", f'stty -echo; echo READY; read -r; "$BOX" --yes --exec sh -c "$1" {self.mark} 2>/dev/null; '
                             f'echo "DONE $?"; {LOOK}', "bash", script,
                             env={"BOX": CLAUDEBOX, **(env or {})}, kind=kind, **options)
        terminal.expect("READY\r\n")
        terminal.before = self.modes(terminal)
        terminal.send("\n")
        return terminal

    def assert_clean(self, terminal):
        terminal.expect(r"typed\[''\]")
        self.assertEqual(self.modes(terminal), terminal.before)

    def assert_reset(self, terminal, output):
        for mode in UNDONE:
            self.assertIn(f"\x1b[{mode}".encode(), output)
        self.assertIn(b"\x1b[?1049l", output)
        self.assertIn(b"\x1b>", output)
        self.assertIn(b"\x0f", output)
        self.assertIn(b"\x1b]8;;\x1b\\", output)

    def test_all_left_on_and_questions_last(self):
        for ending in ("exit 3", "kill -9 $$", "kill -TERM $$"):
            with self.subTest(ending):
                terminal = self.around(f"{RAW}; sleep 0.1; {LEAVE}; {ASK}; {ending}")
                terminal.expect("DONE (3|137|143)")
                self.assert_reset(terminal, terminal.output[:terminal.seen])
                self.assert_clean(terminal)
                self.assertEqual(len(terminal.answered), 8, "all six questions and our two were answered")

    def test_slow_answers_are_waited_for(self):
        terminal = self.around(f"{RAW}; {ASK}", delay=0.02)
        terminal.expect("DONE 0")
        self.assert_clean(terminal)

    def test_an_agent_that_tidies_its_line_up_is_seen_all_the_same(self):
        """As Claude does: raw for a while, sane at the end; the screen's modes are another matter."""
        terminal = self.around(f"old=$(stty -g); {RAW}; sleep 0.5; {LEAVE}; {ASK}; stty $old")
        terminal.expect("DONE 0")
        self.assert_reset(terminal, terminal.output[:terminal.seen])
        self.assert_clean(terminal)

    def test_ended_from_outside(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number):
                terminal = self.around(f"{RAW}; {LEAVE}; {ASK}; echo UP; exec sleep {self.mark}")
                terminal.expect("UP")
                box = min(pid for pid in processes_with(self.mark) if self.name(pid) == "claudebox")
                os.kill(box, number)
                terminal.expect(f"DONE {128 + number}")
                self.assert_clean(terminal)
                self.assert_gone()

    def test_the_whole_box_killed(self):
        terminal = self.around(f"{RAW}; {LEAVE}; {ASK}; echo UP; exec sleep {self.mark}")
        terminal.expect("UP")
        os.kill(next(pid for pid in processes_with(self.mark) if self.name(pid) == "claudebox-init"), signal.SIGKILL)
        terminal.expect("DONE 137")
        self.assert_reset(terminal, terminal.output[:terminal.seen])
        self.assert_clean(terminal)

    @staticmethod
    def name(pid):
        try:
            with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                return file.read().strip()
        except OSError:
            return ""

    def test_one_that_never_answers_does_not_hang_it(self):
        terminal = self.around(f"{RAW}; {LEAVE}; {ASK}", kind=Terminal)
        start = time.monotonic()
        terminal.expect("DONE 0")
        self.assertLess(time.monotonic() - start, 4)
        self.assert_clean(terminal)

    def test_one_that_takes_no_output_does_not_hang_it(self):
        """Nobody reads the screen, and it is full."""
        terminal = self.around(f"{RAW}; touch up; (trap '' PIPE; while :; do echo {'x' * 200}; done) & sleep 0.5; exit 4", kind=Terminal)
        self.assertTrue(until((self.project / "up").exists))
        self.assertTrue(until(lambda: "claudebox" not in map(self.name, processes_with(self.mark)), 6))

    def test_a_closed_window_does_not_hang_it(self):
        terminal = self.around(f"{RAW}; {LEAVE}; trap '' HUP; touch up; sleep 0.3; exit 0")
        self.assertTrue(until((self.project / "up").exists))
        terminal.hang_up()
        self.assert_gone(3)

    def test_nothing_is_written_to_one_that_would_show_it(self):
        for term in ("dumb", "", "unknown", "vt52", "emacs"):
            with self.subTest(term):
                terminal = self.around(f"{RAW}; sleep 0.1; printf UP; exit 0", env={"TERM": term})
                terminal.expect("DONE 0")
                self.assertNotIn(b"\x1b", terminal.output)
                self.assert_clean(terminal)

    def test_linux_console_gets_only_what_it_knows(self):
        terminal = self.around(f"{RAW}; sleep 0.1; printf '\\033[?25l'; exit 0", env={"TERM": "linux"})
        terminal.expect("DONE 0")
        self.assertIn(b"\x1b[?25h", terminal.output)
        for unknown in (b"\x1b[<", b"\x1b[>", b"\x1b]"):
            self.assertNotIn(unknown, terminal.output)

    def test_a_program_that_only_prints_leaves_type_ahead_alone(self):
        terminal = self.shell()
        terminal.send(f'"$BOX" --yes --exec sh -c "echo READY; sleep 0.4; echo OVER" {self.mark} 2>/dev/null\n')
        terminal.expect("READY")
        terminal.send("echo typed-$((40 + 2))\n")
        terminal.expect("OVER")
        terminal.expect("typed-42")

    def test_plain_programs_see_no_difference(self):
        for script in ("true", "echo text", "exit 3"):
            terminal = self.around(script)
            terminal.expect("DONE")
            self.assertNotIn(b"\x1b", terminal.output)
            self.assert_clean(terminal)
            self.assertEqual(terminal.answered, [])

    def test_from_the_background_it_is_not_touched(self):
        terminal = self.shell()
        before = self.modes(terminal)
        terminal.send(f'"$BOX" --yes --exec sh -c "sleep 0.4" {self.mark} 2>/dev/null & echo go\n')
        terminal.expect("PROMPT> ")
        seen = len(terminal.output)
        self.assertTrue(until(lambda: processes_with(self.mark)))
        self.assert_gone(5)
        time.sleep(0.3)
        terminal.send("echo mine\n")
        terminal.expect("mine")
        self.assertNotIn(b"\x1b", terminal.output[seen:])
        terminal.expect("PROMPT> ")
        self.assertEqual(self.modes(terminal), before)


class EndOnScreen(OnTerminal):
    """On a real terminal emulator: what it says about itself."""

    STATE = "#{alternate_on}#{mouse_any_flag}#{mouse_sgr_flag}#{keypad_flag}#{keypad_cursor_flag}#{insert_flag} #{cursor_flag}#{wrap_flag} " \
            "#{scroll_region_upper}-#{scroll_region_lower}"

    def screen(self, script, term=None):
        screen = Screen()
        self.addCleanup(screen.close)
        line = f'printf "one\\ntwo\\n"; {term or ""} {CLAUDEBOX} --yes --exec sh -c "$1" {self.mark} 2>/dev/null; echo "DONE $?"; {LOOK} sleep 60'
        screen.start(["bash", "-c", line, "bash", script], env=self.env, rows=20, cols=60, cwd=str(self.project))
        screen.wait_for(r"typed\[", timeout=15)
        return screen

    def test_tmux_is_as_before(self):
        screen = self.screen(f"{RAW}; sleep 0.1; {LEAVE}; {ASK}; exit 0")
        self.assertEqual(screen.tmux("display-message", "-p", self.STATE).strip(), "000000 11 0-19")
        self.assertIn("typed['']", screen.text())

    def test_nothing_moves_where_nothing_was_left(self):
        """Also after an earlier program that was on the other screen: tmux would go back to where the cursor was then."""
        for term in ("", "TMUX=x TERM=xterm-256color", "TERM=linux"):
            screen = self.screen(f"{RAW}; sleep 0.1; printf '\\033[?1049h\\033[9;9Hx\\033[?1049lthree\\r\\nfour\\r\\n'; exit 0", term)
            self.assertRegex(screen.text(), r"(?m)\Aone\ntwo\nthree\nfour\nDONE 0\ntyped\[''\]\n")


class EndOnScreenDirect(Direct, EndOnScreen):
    pass


class EndDirect(Direct, End, OnTerminal):
    pass


class EndFiltered(End, OnTerminal):
    # What was typed has gone to the box's own terminal.
    test_a_program_that_only_prints_leaves_type_ahead_alone = None


if __name__ == "__main__":
    unittest.main()
