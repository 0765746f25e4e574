# SPDX-License-Identifier: MIT
"""The end of a box: the user's terminal has its old modes again, and no answers to the agent's
queries as input."""
import os
import signal
import termios
import time
import unittest

from lib.box import CLAUDEBOX, processes_with, until
from lib.on_terminal import Direct, OnTerminal
from lib.screen import Screen
from lib.terminal import Answering, Terminal

# Modes that an agent can leave set, and queries that it may have sent last.
MODES = ("?1049h ?1000h ?1002h ?1003h ?1006h ?1015h ?1004h ?2004h ?25l ?1h >1u >4;2m ?2026h ?2031h ?2048h 5;10r 4h ?7l 31m").split()
SET_MODES = "printf '" + "".join(rf"\033[{mode}" for mode in MODES) + r"\033=\016\033]8;;https://example.org\033\\'"
QUERIES = r"printf '\033[c\033[>c\033[6n\033[>0q\033]11;?\033\\\033[5n'"
RAW = "stty raw -echo"
# The sequences that reset these modes.
RESETS = ("?1000l ?1002l ?1003l ?1006l ?1015l ?1004l ?2004l ?25h ?1l <99u >4;0m ?2026l ?2031l ?2048l r 4l ?7h 0m").split()
# Shell code that prints the pending input.
PRINT_INPUT = "IFS= read -r -t 0.4 -n 1000 x; printf 'typed[%q]\\n' \"$x\"\n"


class End:
    def modes(self, terminal):
        return termios.tcgetattr(terminal.fd)

    def run_in_script(self, script, env=None, kind=Answering, **options):
        """Runs claudebox from a script, which changes no modes itself. The script prints READY,
        starts the box after the test has saved the modes, and prints DONE and the pending input."""
        terminal = self.open("bash", "-c", f'stty -echo; echo READY; read -r; "$BOX" --yes --exec sh -c "$1" {self.mark} 2>/dev/null; '
                             f'echo "DONE $?"; {PRINT_INPUT}', "bash", script,
                             env={"BOX": CLAUDEBOX, **(env or {})}, kind=kind, **options)
        terminal.expect("READY\r\n")
        terminal.before = self.modes(terminal)
        terminal.send("\n")
        return terminal

    def assert_clean(self, terminal):
        terminal.expect(r"typed\[''\]")
        self.assertEqual(self.modes(terminal), terminal.before)

    def assert_reset(self, terminal, output):
        for mode in RESETS:
            self.assertIn(f"\x1b[{mode}".encode(), output)
        self.assertIn(b"\x1b[?1049l", output)
        self.assertIn(b"\x1b>", output)
        self.assertIn(b"\x0f", output)
        self.assertIn(b"\x1b]8;;\x1b\\", output)

    def test_modes_are_reset_and_answers_discarded(self):
        for ending in ("exit 3", "kill -9 $$", "kill -TERM $$"):
            with self.subTest(ending):
                terminal = self.run_in_script(f"{RAW}; sleep 0.1; {SET_MODES}; {QUERIES}; {ending}")
                terminal.expect("DONE (3|137|143)")
                self.assert_reset(terminal, terminal.output[:terminal.seen])
                self.assert_clean(terminal)
                self.assertEqual(len(terminal.answered), 8, "the six queries of the agent and the two of claudebox were answered")

    def test_slow_answers_are_waited_for(self):
        terminal = self.run_in_script(f"{RAW}; {QUERIES}", delay=0.02)
        terminal.expect("DONE 0")
        self.assert_clean(terminal)

    def test_an_agent_that_restores_its_line_modes_is_still_detected(self):
        """As Claude does: raw mode for a while, the old line modes at the end, but modes of the
        screen left set."""
        terminal = self.run_in_script(f"old=$(stty -g); {RAW}; sleep 0.5; {SET_MODES}; {QUERIES}; stty $old")
        terminal.expect("DONE 0")
        self.assert_reset(terminal, terminal.output[:terminal.seen])
        self.assert_clean(terminal)

    def test_reset_after_a_signal_to_claudebox(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number):
                terminal = self.run_in_script(f"{RAW}; {SET_MODES}; {QUERIES}; echo UP; exec sleep {self.mark}")
                terminal.expect("UP")
                box = min(pid for pid in processes_with(self.mark) if self.name(pid) == "claudebox")
                os.kill(box, number)
                terminal.expect(f"DONE {128 + number}")
                self.assert_clean(terminal)
                self.assert_gone()

    def test_flags_of_the_open_terminal_are_as_before(self):
        """TIOCEXCL, O_NONBLOCK and O_APPEND stay set on an open terminal that the box shares with the shell."""
        (self.project / "flags.py").write_text(
            "import fcntl, os, termios\nfor fd in (0, 1):\n    fcntl.ioctl(fd, termios.TIOCEXCL)\n"
            "    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK | os.O_APPEND)\n")
        show = "grep flags /proc/self/fdinfo/0; python3 -c 'import fcntl; print(fcntl.ioctl(0, 0x80045440, b\"0000\"))'"
        terminal = self.open("bash", "-c", f'show() {{ {show}; }}; a=$(show); "$BOX" --yes --exec python3 flags.py 2>/dev/null; echo "DONE $?"; b=$(show); '
                             '[ "$a" = "$b" ] && echo SAME || echo "DIFFER [$a] [$b]"', env={"BOX": CLAUDEBOX})
        terminal.expect("DONE 0")
        terminal.expect("SAME")

    def test_reset_after_the_box_is_killed(self):
        terminal = self.run_in_script(f"{RAW}; {SET_MODES}; {QUERIES}; echo UP; exec sleep {self.mark}")
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

    def test_a_terminal_that_never_answers_does_not_block_the_exit(self):
        terminal = self.run_in_script(f"{RAW}; {SET_MODES}; {QUERIES}", kind=Terminal)
        start = time.monotonic()
        terminal.expect("DONE 0")
        self.assertLess(time.monotonic() - start, 4)
        self.assert_clean(terminal)

    def test_a_terminal_that_accepts_no_output_does_not_block_the_exit(self):
        """The test does not read the output, and the buffer of the terminal is full."""
        terminal = self.run_in_script(f"{RAW}; touch up; (trap '' PIPE; while :; do echo {'x' * 200}; done) & sleep 0.5; exit 4", kind=Terminal)
        self.assertTrue(until((self.project / "up").exists))
        self.assertTrue(until(lambda: "claudebox" not in map(self.name, processes_with(self.mark)), 6))

    def test_a_closed_window_does_not_block_the_exit(self):
        terminal = self.run_in_script(f"{RAW}; {SET_MODES}; trap '' HUP; touch up; sleep 0.3; exit 0")
        self.assertTrue(until((self.project / "up").exists))
        terminal.hang_up()
        self.assert_gone(3)

    def test_nothing_is_written_to_an_unknown_terminal(self):
        for term in ("dumb", "", "unknown", "vt52", "emacs"):
            with self.subTest(term):
                terminal = self.run_in_script(f"{RAW}; sleep 0.1; printf UP; exit 0", env={"TERM": term})
                terminal.expect("DONE 0")
                self.assertNotIn(b"\x1b", terminal.output)
                self.assert_clean(terminal)

    def test_the_linux_console_gets_only_supported_sequences(self):
        terminal = self.run_in_script(f"{RAW}; sleep 0.1; printf '\\033[?25l'; exit 0", env={"TERM": "linux"})
        terminal.expect("DONE 0")
        self.assertIn(b"\x1b[?25h", terminal.output)
        for unknown in (b"\x1b[<", b"\x1b[>", b"\x1b]"):
            self.assertNotIn(unknown, terminal.output)

    def test_input_typed_ahead_of_a_program_that_only_prints_is_kept(self):
        terminal = self.shell()
        terminal.send(f'"$BOX" --yes --exec sh -c "echo READY; sleep 0.4; echo OVER" {self.mark} 2>/dev/null\n')
        terminal.expect("READY")
        terminal.send("echo typed-$((40 + 2))\n")
        terminal.expect("OVER")
        terminal.expect("typed-42")

    def test_nothing_is_written_after_a_program_that_only_prints(self):
        for script in ("true", "echo text", "exit 3"):
            terminal = self.run_in_script(script)
            terminal.expect("DONE")
            self.assertNotIn(b"\x1b", terminal.output)
            self.assert_clean(terminal)
            self.assertEqual(terminal.answered, [])

    def test_in_the_background_the_terminal_is_not_changed(self):
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
    """On tmux, a real terminal emulator, which reports its modes."""

    STATE = "#{alternate_on}#{mouse_any_flag}#{mouse_sgr_flag}#{keypad_flag}#{keypad_cursor_flag}#{insert_flag} #{cursor_flag}#{wrap_flag} " \
            "#{scroll_region_upper}-#{scroll_region_lower}"

    def screen(self, script, term=None):
        screen = Screen()
        self.addCleanup(screen.close)
        line = f'printf "one\\ntwo\\n"; {term or ""} {CLAUDEBOX} --yes --exec sh -c "$1" {self.mark} 2>/dev/null; echo "DONE $?"; {PRINT_INPUT} sleep 60'
        screen.start(["bash", "-c", line, "bash", script], env=self.env, rows=20, cols=60, cwd=str(self.project))
        screen.wait_for(r"typed\[", timeout=15)
        return screen

    def test_tmux_has_its_old_modes(self):
        screen = self.screen(f"{RAW}; sleep 0.1; {SET_MODES}; {QUERIES}; exit 0")
        self.assertEqual(screen.tmux("display-message", "-p", self.STATE).strip(), "000000 11 0-19")
        self.assertIn("typed['']", screen.text())

    def test_the_cursor_does_not_move_if_no_mode_was_set(self):
        """Also after an earlier program on the alternate screen, whose cursor position tmux would
        restore."""
        for term in ("", "TMUX=x TERM=xterm-256color", "TERM=linux"):
            screen = self.screen(f"{RAW}; sleep 0.1; printf '\\033[?1049h\\033[9;9Hx\\033[?1049lthree\\r\\nfour\\r\\n'; exit 0", term)
            self.assertRegex(screen.text(), r"(?m)\Aone\ntwo\nthree\nfour\nDONE 0\ntyped\[''\]\n")


class EndOnScreenDirect(Direct, EndOnScreen):
    pass


class EndDirect(Direct, End, OnTerminal):
    pass


class EndFiltered(End, OnTerminal):
    def test_an_unknown_terminal_gets_the_resets_of_used_modes(self):
        """The agent has written such sequences, so the terminal gets those that reset them, and answers are discarded."""
        for term in ("putty-256color", "vt220", "foobar", "XTERM"):
            with self.subTest(term):
                terminal = self.run_in_script(f"{RAW}; {SET_MODES}; {QUERIES}; exit 3", env={"TERM": term})
                terminal.expect("DONE 3")
                self.assert_reset(terminal, terminal.output[:terminal.seen])
                self.assert_clean(terminal)
                self.assertEqual(len(terminal.answered), 8)
        terminal = self.run_in_script(f"{RAW}; printf '\\033[?1000h'; exit 3", env={"TERM": "foobar"})
        terminal.expect("DONE 3")
        self.assertIn(b"\x1b[?1000h\x1b[0m\x1b[?1000lDONE", terminal.output)
        self.assert_clean(terminal)

    def test_a_dumb_terminal_gets_no_modes_and_no_queries(self):
        for term in ("dumb", ""):
            with self.subTest(term):
                terminal = self.run_in_script(f"{RAW}; {SET_MODES}; {QUERIES}; echo text; exit 3", env={"TERM": term})
                terminal.expect("DONE 3")
                self.assertIn(b"text", terminal.output)
                self.assertEqual(terminal.output.count(b"\x1b"), terminal.output.count(b"\x1b[31m"))
                self.assertEqual(terminal.answered, [])
                self.assert_clean(terminal)

    def test_key_codes_of_both_screens_are_reset(self):
        terminal = self.run_in_script(rf"{RAW}; printf '\033[?1049h\033[>31u\033[?1049l'; exit 3")
        terminal.expect("DONE 3")
        self.assertIn(b"\x1b[?1049h\x1b[<99u\x1b[?1049l\x1b[<99u", terminal.output)
        self.assert_clean(terminal)

    # With the terminal filter, input typed ahead goes to the terminal of the box.
    test_input_typed_ahead_of_a_program_that_only_prints_is_kept = None


if __name__ == "__main__":
    unittest.main()
