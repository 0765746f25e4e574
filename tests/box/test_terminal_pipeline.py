# SPDX-License-Identifier: MIT
"""The user's terminal beside other programs: pipelines, the background, a stopped box, large input, terminal multiplexers."""
import itertools
import os
import shutil
import termios
import threading
import time
import unittest

from lib.box import CLAUDEBOX, until
from lib.on_terminal import CTRL_C, CTRL_D, CTRL_Z, OnTerminal
from lib.terminal import Answering

# Another program of the pipeline that asks for a password, as sudo and ssh do.
ASK = ('sh -c \'{wait}old=$(stty -g </dev/tty); stty -echo </dev/tty; echo "ASK" >/dev/tty; IFS= read -r x </dev/tty; stty "$old" </dev/tty; '
       'echo "$x" >got; echo "ANSWERED" >/dev/tty{after}\'')


class Pipeline(OnTerminal):
    def setUp(self):
        super().setUp()
        self.terminal = self.shell()

    def line(self, text):
        self.terminal.send(text + "\n")

    def read(self, name):
        return (self.project / name).read_text()

    def is_canonical(self):
        return bool(termios.tcgetattr(self.terminal.fd)[3] & termios.ICANON)

    def test_a_password_for_an_earlier_program_does_not_reach_the_box(self):
        """Standard input of the box is a pipe."""
        self.line(ASK.format(wait="until [ -e up ]; do sleep 0.05; done; ", after="; sleep 0.3") +
                  ' | "$BOX" --yes --exec sh -c "timeout --foreground 3 cat </dev/tty >stolen & touch up; cat; kill \\$!" 2>/dev/null; echo "END"')
        self.terminal.expect("ASK")
        self.assertTrue(self.is_canonical(), "the terminal is in raw mode")
        self.terminal.send("hunter2\n")
        self.terminal.expect("ANSWERED")
        self.terminal.expect("END")
        self.assertEqual((self.read("got"), self.read("stolen")), ("hunter2\n", ""))

    def test_a_password_for_a_later_program_does_not_reach_the_box(self):
        """Standard input is the terminal, standard output is a pipe: the box reads lines until another program asks."""
        self.line('stty echo; "$BOX" --yes --exec sh -c "exec 3<&0; timeout --foreground 9 cat <&3 >stolen & until [ -e got ]; do sleep 0.05; done; sleep 0.3; kill \\$!" 2>&1 | ' +
                  ASK.format(wait="until grep -q line stolen 2>/dev/null; do sleep 0.05; done; ", after="; cat >/dev/null") + '; echo "END"')
        self.assertTrue(until((self.project / "stolen").exists))
        self.terminal.send("line\n")
        self.terminal.expect("ASK")
        self.terminal.send("hunter2\n")
        self.terminal.expect("ANSWERED")
        self.terminal.expect("END")
        self.assertEqual((self.read("got"), self.read("stolen")), ("hunter2\n", "line\n"))

    def test_the_end_of_input_in_a_pipeline(self):
        self.line('stty echo; "$BOX" --yes --exec sh -c "echo READY >&2; cat" | tr a-z A-Z; echo "END"')
        self.terminal.expect("READY")
        time.sleep(0.4)
        self.terminal.send("line\n" + CTRL_D)
        self.terminal.expect("LINE\r\n")
        self.terminal.expect("END")

    def test_the_end_of_a_box_keeps_the_modes_of_another_program(self):
        """A later program of the pipeline has switched off the echo, or reads keys. Nothing is written to its screen."""
        draw = r"printf '\\033[?25l\\033[c' >/dev/tty; "
        for streams, modes, script in (("</dev/null 2>/dev/null", "-echo", ""), ("2>/dev/null", "-echo", draw), ("", "raw -echo", draw), ("</dev/null", "-echo", "")):
            with self.subTest(streams=streams, modes=modes):
                self.line(f'rm -f asked ended; stty sane; {{ "$BOX" --yes --exec sh -c "{script}until [ -e asked ]; do sleep 0.05; done; sleep 0.3" {streams}; touch ended; }} | '
                          f'sh -c \'sleep 0.3; stty -g </dev/tty >before; stty {modes} </dev/tty; stty -g </dev/tty >set; touch asked; '
                          'until [ -e ended ]; do sleep 0.05; done; stty -g </dev/tty >after\'; stty sane -echo; echo "END"')
                self.terminal.expect("END\r")
                self.terminal.expect("PROMPT> ")
                self.assertNotIn(b"\x1b[6n", self.terminal.output)
                self.assertEqual(self.read("after"), self.read("set"))
                self.assertNotEqual(self.read("before"), self.read("set"))

    def test_a_password_for_a_program_that_asked_before_the_box_started(self):
        """The modes that claudebox saves are those of the other program. The box reads lines after that program has ended."""
        self.line('stty sane; { until [ -e asked ]; do sleep 0.05; done; "$BOX" --yes --exec sh -c "head -n 1 >stolen"; stty -g </dev/tty >after; } 2>/dev/null | '
                  'sh -c \'stty -g </dev/tty >before; stty -echo </dev/tty; touch asked; echo "ASK" >/dev/tty; until [ -e stolen ]; do sleep 0.05; done; sleep 0.4; '
                  'echo "NOW" >/dev/tty; IFS= read -r x </dev/tty; echo "$x" >got; stty echo </dev/tty; echo "ANSWERED" >/dev/tty; cat >/dev/null\'; stty -echo; echo "END"')
        self.terminal.expect("^NOW")
        self.terminal.send("hunter2\n")
        self.terminal.expect("^ANSWERED")
        self.terminal.send("line\n")
        self.terminal.expect("END\r")
        self.assertEqual((self.read("got"), self.read("stolen")), ("hunter2\n", "line\n"))
        self.assertEqual(self.read("after"), self.read("before"))

    def test_ctrl_c_and_ctrl_z_without_input(self):
        """Standard input is a pipe: Ctrl+C and Ctrl+Z come as signals and reach the whole process group of the box."""
        self.line('sleep 60 | "$BOX" --yes --exec sh -c "trap \'echo GOT\' INT; echo READY; sleep 30; sleep 30; echo LAST" 2>/dev/null; echo "END"')
        self.terminal.expect("READY\r\n")
        time.sleep(0.2)
        self.terminal.send(CTRL_Z)
        self.terminal.expect("Stopped")
        self.terminal.expect("PROMPT> ")
        self.line("fg")
        time.sleep(0.4)
        self.terminal.send(CTRL_C)
        self.terminal.expect("GOT")
        self.terminal.send(CTRL_C)
        self.terminal.expect("LAST")

    def test_every_combination_of_pipes(self):
        for pipes in itertools.product((False, True), repeat=3):
            with self.subTest(pipes):
                before, after = "echo in | " if pipes[0] else "", " | cat >out" if pipes[1] else ""
                error = "2> >(cat >err)" if pipes[2] else ""
                self.line(f'rm -f where out err; {before}"$BOX" --yes --exec sh -c \'for i in 0 1 2; do [ -t $i ] && x=${{x}}t || x=${{x}}p; done; printf $x >where; '
                          f'[ -t 0 ] || cat; echo out; echo err >&2; exit 3\' {error}{after}; echo "END ${{PIPESTATUS[*]}}"')
                self.terminal.expect("END .*3")
                self.terminal.expect("PROMPT> ")
                self.assertEqual(self.read("where"), "".join("p" if pipe else "t" for pipe in pipes))
                if pipes[1]:
                    self.assertEqual(self.read("out"), "in\nout\n" if pipes[0] else "out\n")
                if pipes[2]:
                    self.assertTrue(until(lambda: "\nerr\n" in "\n" + self.read("err")))

    def test_a_box_in_the_background_without_streams_has_no_terminal(self):
        self.line('"$BOX" --yes --exec sh -c "cat /dev/tty && echo opened; exit 5" </dev/null >out 2>err & wait $!; echo "END $?"')
        self.terminal.expect("END 5")
        self.assertEqual(self.read("out"), "")
        self.assertIn("/dev/tty", self.read("err"))


class Answers(OnTerminal):
    """Modes and answers while claudebox is not in the foreground."""

    MODES = r"printf '\033[?1000h\033[?25l\033[>1u'"
    QUERIES = r"printf '\033[c\033]11;?\033\\\033[6n'"

    def test_a_box_in_the_background_sets_no_modes_and_asks_nothing(self):
        terminal = self.shell(kind=Answering)
        (self.project / "draw.sh").write_text(f"{self.MODES}; {self.QUERIES}; echo drawn; until [ -e go ]; do sleep 0.05; done; echo over\n")
        terminal.send('"$BOX" --yes --exec sh draw.sh 2>/dev/null &\n')
        terminal.expect("drawn")
        terminal.send("echo here\n")
        terminal.expect("here")
        self.assertEqual(terminal.answered, [])
        self.assertNotIn(b"\x1b[?1000h", terminal.output)
        terminal.send("fg\n")
        terminal.expect(r"\x1b\[\?1000h\x1b\[\?25l")  # set when it has the foreground
        (self.project / "go").touch()
        terminal.expect("over")
        terminal.expect(r"\x1b\[\?1000l")
        terminal.expect(r"\x1b\[\?25h")
        terminal.expect("PROMPT> ")

    def test_a_stopped_box_leaves_no_modes_and_no_answers(self):
        terminal = self.shell(kind=Answering)
        (self.project / "stop.sh").write_text(f"stty raw -echo; {self.MODES}; {self.QUERIES}; kill -STOP $$; echo back; sleep 0.3\n")
        terminal.send('"$BOX" --yes --exec sh stop.sh 2>/dev/null\n')
        terminal.expect(r"\x1b\[\?1000h")
        terminal.expect(r"\x1b\[\?1000l")
        terminal.expect("Stopped")
        terminal.expect("PROMPT> ")
        terminal.send("echo typed[]\n")
        terminal.expect(r"^typed\[\]\r\n")
        self.assertNotIn(b"rgb", terminal.output[terminal.output.index(b"Stopped"):])
        terminal.send("fg\n")
        terminal.expect(r"\x1b\[\?1000h")
        terminal.expect("back")
        terminal.expect(r"\x1b\[\?1000l")
        terminal.expect("PROMPT> ")

    def test_without_input_the_box_asks_nothing(self):
        """Answers and events would become input of another program. Modes of the output pass, and are reset."""
        (self.project / "draw.sh").write_text(f"{{ {self.MODES}; {self.QUERIES}; printf '\\033[?1004h\\033[?2004h'; echo drawn; }} >/dev/tty\n")
        for streams in ("true | BOX 2>/dev/null", "BOX </dev/null >/dev/null", "BOX </dev/null 2>/dev/null", "stty sane; BOX 2>/dev/null | cat"):
            with self.subTest(streams):
                line = streams.replace("BOX", '"$BOX" --yes --exec sh draw.sh')
                terminal = self.open("bash", "-c", f'{line}; echo "DONE"; IFS= read -r -t 0.3 -n 100 x; printf "typed[%q]" "$x"', env={"BOX": CLAUDEBOX}, kind=Answering)
                terminal.expect("DONE")
                for sequence in (b"\x1b[?1000h", b"\x1b[?1004h", b"\x1b[?2004h", b"\x1b[>1u", b"\x1b]11"):
                    self.assertNotIn(sequence, terminal.output)
                self.assertEqual(terminal.answered, [])
                self.assertRegex(terminal.output, rb"(?s)\x1b\[\?25l.*\x1b\[\?25h")
                terminal.expect(r"typed\[''\]")

    def test_a_terminal_that_answers_slowly_is_waited_for(self):
        """All answers need more than two seconds, as over a slow link."""
        script = r"stty raw -echo; printf '\033[c'; head -c 20 >/dev/null; printf '\033[c\033[c\033[c\033[c\033[c\033[c'; exit 4"
        terminal = self.open("bash", "-c", f'"$BOX" --yes --exec sh -c "$1" 2>/dev/null; echo "DONE $?"; IFS= read -r -t 0.6 -n 100 x; printf "typed[%q]" "$x"',
                             "bash", script, env={"BOX": CLAUDEBOX}, kind=Answering, delay=0.35)
        terminal.expect("DONE 4")
        terminal.expect(r"typed\[''\]")
        self.assertEqual(len(terminal.answered), 9)

    def test_a_flood_of_queries_is_limited(self):
        terminal = self.open(CLAUDEBOX, "--yes", "--exec", "sh", "-c", r"stty raw -echo; printf '<<<'; i=0; while [ $i -lt 3000 ]; do printf '\033[c'; i=$((i+1)); done; printf '>>>'")
        self.assertEqual(terminal.wait(20), 0)
        self.assertLess(terminal.output.count(b"\x1b[c"), 2000)

    def test_a_flood_of_queries_in_one_sequence_is_limited(self):
        """A terminal that sends nothing gets at most 1024 queries, however they are written and however long it takes."""
        (self.project / "flood.sh").write_text("stty raw -echo; i=0; while [ $i -lt 256 ]; do all=\"$all;$i;?\"; i=$((i+1)); done\n"
                                               "for second in 1 2 3; do for i in 1 2 3; do printf '\\033]4%s\\a' \"$all\"; done; sleep 1.02; done\n")
        terminal = self.open(CLAUDEBOX, "--yes", "--exec", "sh", "flood.sh")
        self.assertEqual(terminal.wait(20), 0)
        self.assertEqual(terminal.output.count(b";255;?"), 4)

    def test_each_answer_prolongs_the_wait(self):
        """All answers to the last queries need more than the two seconds for one."""
        terminal = self.open("bash", "-c", f'"$BOX" --yes --exec sh -c "$1" 2>/dev/null; echo "DONE $?"; IFS= read -r -t 0.6 -n 100 x; printf "typed[%q]" "$x"',
                             "bash", f"stty raw -echo; {self.QUERIES}; {self.QUERIES}; {self.QUERIES}; exit 4", env={"BOX": CLAUDEBOX}, kind=Answering, delay=0.25)
        terminal.expect("DONE 4")
        terminal.expect(r"typed\[''\]")
        self.assertEqual(len(terminal.answered), 11)


class Input(OnTerminal):
    def test_a_large_paste_arrives_whole(self):
        """100 kB in a bracketed paste, to a program that begins to read late."""
        data = b"\x1b[200~" + (b"0123456789abcdef" * 6250) + b"\x1b[201~"
        terminal = self.box_on_terminal(f"stty raw -echo; printf READY; sleep 0.5; head -c {len(data)} >pasted; stty sane; echo OVER")
        terminal.expect("READY")
        writer = threading.Thread(target=lambda: [os.write(terminal.fd, data[at:at + 1000]) for at in range(0, len(data), 1000)])
        writer.start()
        terminal.expect("OVER", 15)
        writer.join(5)
        self.assertEqual((self.project / "pasted").read_bytes(), data)
        self.assertEqual(terminal.wait(), 0)

    def test_a_paste_that_the_box_does_not_read_blocks_nothing(self):
        terminal = self.box_on_terminal("stty raw -echo; printf READY; until [ -e go ]; do sleep 0.05; done; echo OVER; exit 6")
        terminal.expect("READY")
        os.set_blocking(terminal.fd, False)
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            try:
                os.write(terminal.fd, b"x" * 1000)
            except BlockingIOError:
                time.sleep(0.02)
        (self.project / "go").touch()
        terminal.expect("OVER")
        self.assertEqual(terminal.wait(), 6)

    def test_mouse_keys_and_other_input_arrive_unchanged(self):
        data = b"\x1b[<0;10;5M\x1b[<0;10;5m\x1b[97;5u\x1b[27;5;97~\x1b[I\x1bOP\x1b[1;5C\xc3\xbc\x00\x03\x1a\x11\x13\x7f"
        terminal = self.box_on_terminal(rf"stty raw -echo; printf '\033[?1000h\033[?1006h\033[>1uREADY'; head -c {len(data)} | od -An -tx1 -v >got; stty sane; echo OVER")
        terminal.expect("READY")
        terminal.send(data)
        terminal.expect("OVER")
        self.assertEqual(bytes.fromhex((self.project / "got").read_text()), data)

    def test_a_serial_console(self):
        """The size is unknown, and so is the terminal: only the mode that was set is reset."""
        terminal = self.box_on_terminal("stty size; read x; echo \"[$x]\"; printf '\\033[?25l'", rows=0, columns=0, env={"TERM": "vt220"})
        terminal.expect("0 0")
        terminal.send("typed\r")
        terminal.expect(r"\[typed\]")
        self.assertEqual(terminal.wait(), 0)
        self.assertTrue(terminal.output.endswith(b"\x1b[0m\x1b[?25h"))


class Multiplexers(OnTerminal):
    def test_script(self):
        terminal = self.open("script", "-qec", f"{CLAUDEBOX} --yes --exec sh -c 'stty size; read x; echo [$x] $(tty); exit 7'", "/dev/null")
        terminal.expect("24 80")
        terminal.send("typed\n")
        terminal.expect(r"\[\] /dev/pts/\d+|\[typed\]")
        self.assertEqual(terminal.wait(), 7)

    def test_screen(self):
        if not shutil.which("screen"):
            self.skipTest("no screen")
        (self.project / "inside.sh").write_text("stty raw -echo; printf '\\033[?1049h\\033[?25l\\033[2;2HDRAWN'; head -c 1 >key; printf '\\033[?1049l\\033[?25h'; stty sane; echo OVER\n")
        directory = self.home / "screens"
        directory.mkdir(mode=0o700)
        terminal = self.open("screen", "-c", "/dev/null", "-S", self.mark, CLAUDEBOX, "--yes", "--exec", "sh", "-c", "sh inside.sh; sleep 0.3", self.mark,
                             env={"SCREENDIR": str(directory)})
        terminal.expect("DRAWN")
        terminal.send("k")
        terminal.expect("OVER")
        terminal.wait()
        self.assertEqual((self.project / "key").read_text(), "k")
        self.assert_gone()


if __name__ == "__main__":
    unittest.main()
