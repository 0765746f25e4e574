# SPDX-License-Identifier: MIT
"""A box on a terminal: special keys, job control below a real shell, window size, hang-up,
confirmation."""
import os
import pathlib
import time
import unittest

from lib.box import CLAUDEBOX, processes_with
from lib.on_terminal import CTRL_BACKSLASH, CTRL_C, CTRL_D, CTRL_Z, Direct, OnTerminal

class Keys(OnTerminal):
    def test_ctrl_c_reaches_the_agent_once_and_not_claudebox(self):
        terminal = self.box_on_terminal("trap 'echo GOT' INT; echo READY; for i in 1 2 3 4 5 6; do sleep 0.1; done; exit 5")
        terminal.expect("READY")
        terminal.send(CTRL_C)
        self.assertEqual(terminal.wait(), 5)
        self.assertEqual(terminal.output.count(b"GOT"), 1)

    def test_ctrl_c_ends_an_ordinary_program(self):
        terminal = self.box_on_terminal("echo READY; exec sleep 60")
        terminal.expect("READY")
        terminal.send(CTRL_C)
        self.assertEqual(terminal.wait(), 130)
        self.assert_gone()

    def test_ctrl_backslash_sends_sigquit(self):
        terminal = self.box_on_terminal("ulimit -c 0; trap 'echo QUIT; exit 6' QUIT; echo READY; while :; do sleep 0.1; done")
        terminal.expect("READY")
        terminal.send(CTRL_BACKSLASH)
        terminal.expect("QUIT")
        self.assertEqual(terminal.wait(), 6)

    def test_ctrl_c_and_ctrl_z_are_input_in_raw_mode(self):
        """Claude's screen sets raw mode: Ctrl+C and Ctrl+Z are input."""
        terminal = self.box_on_terminal("stty raw -echo; echo READY; head -c 2 | od -An -tx1; stty sane; exit 3")
        terminal.expect("READY")
        terminal.send(CTRL_C + CTRL_Z)
        terminal.expect("03 1a")
        self.assertEqual(terminal.wait(), 3)

    def test_ctrl_d_is_end_of_input(self):
        terminal = self.box_on_terminal("echo READY; cat; echo END")
        terminal.expect("READY")
        terminal.send("line\n")
        terminal.expect("line\r\nline")
        terminal.send(CTRL_D)
        terminal.expect("END")
        self.assertEqual(terminal.wait(), 0)

    def test_resize_reaches_the_agent(self):
        terminal = self.box_on_terminal("trap 'stty size' WINCH; stty size; echo READY; while :; do sleep 0.05; done", rows=30, columns=90)
        terminal.expect("30 90\r\nREADY")
        terminal.resize(41, 133)
        terminal.expect("41 133")
        terminal.send(CTRL_C)
        self.assertEqual(terminal.wait(), 130)

    def test_the_agent_has_the_terminal(self):
        terminal = self.box_on_terminal("[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && : </dev/tty && echo TTY; read x </dev/tty; echo \"[$x]\"")
        terminal.expect("TTY")
        terminal.send("typed\n")
        terminal.expect(r"\[typed\]")
        self.assertEqual(terminal.wait(), 0)

    def test_ctrl_z_without_a_job_control_shell_is_ignored(self):
        """In an orphaned process group, as the only program of a window or of ssh, a stopped box
        could not be continued."""
        terminal = self.box_on_terminal("echo READY; sleep 1; echo AFTER; exit 8")
        terminal.expect("READY")
        time.sleep(0.2)
        terminal.send(CTRL_Z)
        terminal.expect("AFTER")
        self.assertEqual(terminal.wait(), 8)

    def test_job_control_works_in_a_shell_of_the_box(self):
        terminal = self.open(CLAUDEBOX, "--yes", "--shell", "--norc", "--noprofile", "-i")
        terminal.expect(r"[$#] ")
        terminal.send("PS1='IN''SIDE> '; stty -echo\n")
        terminal.expect("INSIDE> ")
        terminal.send("sleep 60\n")
        time.sleep(0.3)
        terminal.send(CTRL_Z)
        terminal.expect("Stopped")
        terminal.send("fg\n")
        time.sleep(0.2)
        terminal.send(CTRL_C)
        terminal.expect("INSIDE> ")
        terminal.send("exit 7\n")
        self.assertEqual(terminal.wait(), 7)
        self.assertNotIn(b"no job control", terminal.output)

    def test_closing_the_window_ends_all_processes(self):
        terminal = self.box_on_terminal("setsid sleep $0 & echo READY; while :; do sleep 1; done")
        terminal.expect("READY")
        terminal.hang_up()
        self.assert_gone()

    def test_closing_the_window_sends_sighup_to_the_agent(self):
        terminal = self.box_on_terminal("trap 'echo hup >hup; exit' HUP; echo READY; while :; do sleep 0.05; done")
        terminal.expect("READY")
        terminal.hang_up()
        self.assert_gone()
        self.assertEqual((self.project / "hup").read_text(), "hup\n")


    def test_an_agent_that_ignores_sighup_ends_within_six_seconds(self):
        terminal = self.box_on_terminal("trap '' HUP TERM; (setsid sleep $0 &); echo READY; while :; do sleep 1; done")
        terminal.expect("READY")
        terminal.hang_up()
        self.assert_gone(6.5)


class Jobs:
    """claudebox as a job of a real shell with job control."""

    # A shell that is stopped between vfork and exec hangs, with or without a box, so Ctrl+Z is sent
    # while the script sleeps.
    LOOP = "trap 'echo GOT-INT; exit 9' INT; echo READY; while :; do sleep 5; done"

    def run_line(self, terminal, script, ending=""):
        terminal.send(f'"$BOX" --yes --exec sh -c "{script}" "$MARK" 2>/dev/null {ending}\n')

    def test_ctrl_z_then_fg(self):
        terminal = self.shell()
        self.run_line(terminal, self.LOOP)
        terminal.expect("READY")
        time.sleep(0.2)
        for _ in range(3):
            terminal.send(CTRL_Z)
            terminal.expect("Stopped")
            terminal.expect("PROMPT> ")
            self.assertEqual(terminal.foreground(), terminal.pid)
            terminal.send("echo here; fg\n")
            terminal.expect("here")
            time.sleep(0.2)
        terminal.send(CTRL_C)
        terminal.expect("GOT-INT")
        terminal.expect("PROMPT> ")
        terminal.send("echo status $?\n")
        terminal.expect("status 9")

    def test_ctrl_z_then_bg(self):
        terminal = self.shell()
        self.run_line(terminal, "echo READY; i=0; while [ $((i=i+1)) -lt 20 ]; do sleep 0.5; [ -e go ] && exit 4; done".replace("$", "\\$"))
        terminal.expect("READY")
        time.sleep(0.2)
        terminal.send(CTRL_Z)
        terminal.expect("Stopped")
        terminal.send("bg; echo in bg\n")
        terminal.expect("in bg")
        time.sleep(0.2)
        self.assertEqual(terminal.foreground(), terminal.pid)
        (self.project / "go").write_text("")
        terminal.send("wait %1; echo status $?\n")
        terminal.expect("status 4")

    def test_started_in_the_background_then_fg(self):
        terminal = self.shell()
        self.run_line(terminal, self.LOOP, "&")
        terminal.expect("READY")
        self.assertEqual(terminal.foreground(), terminal.pid)
        terminal.send("echo still mine\n")
        terminal.expect("still mine")
        terminal.send("fg\n")
        time.sleep(0.4)
        terminal.send(CTRL_C)
        terminal.expect("GOT-INT")
        terminal.expect("PROMPT> ")

    def test_reading_the_terminal_in_the_background(self):
        terminal = self.shell()
        self.run_line(terminal, "echo READY; read x </dev/tty; echo [\\$x]", "&")
        terminal.expect("READY")
        time.sleep(0.4)
        terminal.send("jobs\n")
        terminal.expect("Stopped")
        terminal.send("fg\n")
        time.sleep(0.4)
        terminal.send("typed\n")
        terminal.expect(r"\[typed\]")
        terminal.expect("PROMPT> ")

    def test_reading_the_terminal_in_an_orphaned_group(self):
        """Without its shell it can neither get the terminal nor be stopped, and must not retry
        forever."""
        terminal = self.shell()
        terminal.send('( "$BOX" --yes --exec sh -c "echo READY; sleep 0.5; cat </dev/tty" "$MARK" 2>/dev/null & )\n')
        terminal.expect("READY")
        time.sleep(0.6)
        self.assert_gone(3)
        terminal.send("echo still mine\n")
        terminal.expect("still mine")

    def test_the_shell_gets_the_foreground_back(self):
        for script in ("exit 0", "exit 3", "kill -9 \\$\\$", "(sleep 0.3 &) ; exit 0", "no-such-command"):
            terminal = self.shell()
            self.run_line(terminal, script)
            terminal.expect("PROMPT> ")
            self.assertEqual(terminal.foreground(), terminal.pid, script)
            terminal.send("cat; echo after\n")
            time.sleep(0.1)
            terminal.send("alive\n" + CTRL_D)
            terminal.expect("alive")
            terminal.expect("after")
            terminal.close()

    def test_the_shell_continues_after_claudebox_is_killed(self):
        terminal = self.shell()
        self.run_line(terminal, "echo READY; sleep 60")
        terminal.expect("READY")
        claudebox = next(pid for pid in processes_with(self.mark)
                         if pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().startswith(os.fsencode(CLAUDEBOX)))
        os.kill(claudebox, 9)
        terminal.expect("Killed")
        terminal.expect("PROMPT> ")
        terminal.send("echo alive\n")
        terminal.expect("alive")
        self.assert_gone()

    def test_a_pipeline_returns_the_foreground(self):
        terminal = self.shell()
        self.run_line(terminal, "while :; do echo y; done", "| head -n 2 | tr y z")
        terminal.expect("z\r\nz\r\n")
        terminal.expect("PROMPT> ")
        self.assertEqual(terminal.foreground(), terminal.pid)

    def test_ctrl_c_also_ends_a_script_that_runs_claudebox(self):
        """A shell script that runs claudebox sees that Ctrl+C ended the agent."""
        script = self.project / "script.sh"
        script.write_text(f'"{CLAUDEBOX}" --yes --exec sh -c "echo READY; exec sleep 60" {self.mark} 2>/dev/null\necho "then $?"\n')
        terminal = self.shell()
        terminal.send("sh script.sh\n")
        terminal.expect("READY")
        terminal.send(CTRL_C)
        terminal.expect("PROMPT> |then 130")
        self.assert_gone()

    def test_hangup_of_the_shell_ends_a_stopped_box(self):
        terminal = self.shell()
        self.run_line(terminal, self.LOOP)
        terminal.expect("READY")
        time.sleep(0.2)
        terminal.send(CTRL_Z)
        terminal.expect("Stopped")
        terminal.hang_up()
        self.assert_gone(3)


class Confirmation(OnTerminal):
    """The agent starts only after the answer yes."""

    def ask(self, answer, *prefix):
        terminal = self.open(*prefix, CLAUDEBOX, "--exec", "sh", "-c", "echo ST''ARTED", self.mark)
        terminal.expect(r"\[y/N\] ")
        terminal.send(answer)
        return terminal

    def test_yes_starts(self):
        for answer in ("y\n", "Y\n", "yes\n"):
            terminal = self.ask(answer)
            self.assertEqual(terminal.wait(), 0)
            self.assertIn(b"STARTED", terminal.output)

    def test_other_answers_do_not_start(self):
        for answer in ("n\n", "\n", "no\n", CTRL_D, "yy\n", " y\n", "nyes\n", "Ja\n", "x" * 300 + "\n", "x" * 62 + "y\n"):
            terminal = self.ask(answer)
            self.assertEqual(terminal.wait(), 125, answer)
            self.assertNotIn(b"STARTED", terminal.output)
            self.assertIn(b"not started", terminal.output)
        self.assertFalse((self.home / ".claudebox").exists())

    def test_ctrl_c_does_not_start(self):
        terminal = self.ask(CTRL_C)
        self.assertIn(terminal.wait(), (-2, 130, 125))
        self.assertNotIn(b"STARTED", terminal.output)

    def test_the_answer_is_read_from_the_terminal_not_from_stdin(self):
        terminal = self.open("sh", "-c", f'yes | "{CLAUDEBOX}" --exec sh -c "echo ST""ARTED" {self.mark}')
        terminal.expect(r"\[y/N\] ")
        self.assertNotIn(b"STARTED", terminal.quiet(0.4))
        terminal.send("n\n")
        self.assertEqual(terminal.wait(), 125)

    def test_the_question_reads_nothing_from_stdin(self):
        terminal = self.open("sh", "-c", f'printf "one\\ntwo\\n" | "{CLAUDEBOX}" --exec cat')
        terminal.expect(r"\[y/N\] ")
        terminal.send("y\n")
        terminal.expect("one\r\ntwo")
        self.assertEqual(terminal.wait(), 0)

    def test_the_audit_comes_before_the_question(self):
        terminal = self.open(CLAUDEBOX, "--exec", "true")
        terminal.expect(r"\[y/N\] ")
        shown = terminal.output.decode()
        self.assertLess(shown.index("Network:"), shown.index("Variables:"))
        self.assertLess(shown.index("Variables:"), shown.index("[y/N]"))

    def test_redirected_stderr_without_yes_is_an_error(self):
        """The audit goes to stderr: a user who cannot read it is not asked."""
        terminal = self.open("sh", "-c", f'"{CLAUDEBOX}" --exec true 2>err; echo "status $?"; cat err')
        terminal.expect("status 125")
        terminal.expect("--yes")


class KeysDirect(Direct, Keys):
    pass


class JobsDirect(Direct, Jobs, OnTerminal):
    pass


class JobsFiltered(Jobs, OnTerminal):
    def test_reading_the_terminal_in_the_background(self):
        """The box always has the foreground of its own terminal: it waits there until claudebox is
        in the foreground again."""
        terminal = self.shell()
        self.run_line(terminal, "echo READY; read x </dev/tty; echo [\\$x]", "&")
        terminal.expect("READY")
        terminal.send("echo mine\n")
        terminal.expect("mine")
        terminal.send("fg\n")
        time.sleep(0.6)
        terminal.send("typed\n")
        terminal.expect(r"\[typed\]")
        terminal.expect("PROMPT> ")

    def test_reading_the_terminal_in_an_orphaned_group(self):
        """It waits and reads no input of the shell; closing the window ends it."""
        terminal = self.shell()
        terminal.send('( "$BOX" --yes --exec sh -c "echo READY; cat </dev/tty" "$MARK" 2>/dev/null & )\n')
        terminal.expect("READY")
        terminal.send("echo still mine\n")
        terminal.expect("still mine")
        terminal.hang_up()
        self.assert_gone(3)


if __name__ == "__main__":
    unittest.main()
