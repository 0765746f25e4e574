# SPDX-License-Identifier: MIT
"""The guard on a terminal: the line about a moved file, and the question about a box that goes on creating one."""
from lib.box import CLAUDEBOX
from lib.on_terminal import OnTerminal

LOOP = "n=0; while [ $n -lt 100000 ] && [ ! -e stop ]; do echo evil >.envrc; n=$((n+1)); done; echo after-the-loop"


class OnATerminal(OnTerminal):
    def start(self, script):
        terminal = self.open(CLAUDEBOX, "--exec", "sh", "-c", script, self.mark)
        terminal.expect(r"Start\?.*\[y/N")
        terminal.send("y\n")
        return terminal

    def test_a_moved_file_is_told_at_once(self):
        terminal = self.start("echo x >.envrc; sleep 0.5; echo still-here; read x")
        terminal.expect(r"guard: moved \.envrc \(claudebox --quarantine\)\x1b")
        terminal.expect("still-here")
        terminal.send("\n")
        terminal.expect("moved to quarantine: .*/.envrc")
        self.assertEqual(terminal.wait(), 0)

    def test_the_notice_counts_and_is_whole_on_a_narrow_screen(self):
        script = "for i in $(seq 11); do mkdir packages-$i; echo x >packages-$i/.envrc; sleep 0.1; done; sleep 0.5; echo still-here"
        terminal = self.open(CLAUDEBOX, "--yes", "--exec", "sh", "-c", script, self.mark, columns=40)
        terminal.expect(r"\x1b\[7mguard: moved [^\x1b]{,12}\.envrc: --quarantine\x1b")
        terminal.expect(r"\x1b\[7mguard: 2 files moved: --quarantine\x1b")
        terminal.expect(r"\x1b\[7mguard: 11 files moved: --quarantine\x1b")
        terminal.expect("still-here")
        terminal.expect("and 3 more")
        self.assertEqual(terminal.wait(), 0)

    def test_a_box_that_goes_on_creating_a_place_is_stopped_and_can_be_ended(self):
        terminal = self.start(LOOP)
        terminal.expect(r"again and again \(--unprotect lets it\); the box\s+is stopped")
        terminal.expect(r"Continue the box or end it\? \[c/E\]")
        self.assertFalse((self.project / ".envrc").exists())
        terminal.send("\n")
        self.assertEqual(terminal.wait(), 123)
        self.assertFalse((self.project / ".envrc").exists())
        self.assert_gone()

    def test_a_box_whose_project_cannot_be_watched_starts_only_after_a_question(self):
        for i in range(30):
            (self.project / f"directory-{i}").mkdir()
        limited = ("unshare", "-Ur", "sh", "-ec", 'echo 20 >/proc/sys/user/max_inotify_watches; exec "$@"', "sh", CLAUDEBOX)
        for answer, status in (("n\n", 125), ("\n", 125), ("y\n", 0)):
            terminal = self.open(*limited, "--exec", "sh", "-c", "echo has-started", self.mark)
            terminal.expect(r"Start\?.*\[y/N")
            terminal.send("y\n")
            terminal.expect("limit of inotify watches is reached")
            terminal.expect(r"Start the box\? \[y/N\]")
            terminal.send(answer)
            terminal.expect("cannot watch all directories of the project" if status else "has-started")
            self.assertEqual(terminal.wait(), status)
        self.assert_gone()

    def test_the_user_can_continue_the_box(self):
        terminal = self.start("sleep 0.2; " + LOOP + "; sleep 0.2")
        terminal.expect(r"Continue the box or end it\? \[c/E\]")
        (self.project / "stop").touch()
        terminal.send("c\n")
        terminal.expect("after-the-loop")
        self.assertEqual(terminal.wait(), 0)
        self.assertFalse((self.project / ".envrc").exists())
