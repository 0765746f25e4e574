# SPDX-License-Identifier: MIT
"""Places that git tracks are writable: the start says which, and which of them a box has made writable."""
import os
import time

from lib.box import CLAUDEBOX, BoxTest
from lib.terminal import Terminal

GIT = "git -c user.name=a -c user.email=b"


class TrackedTest(BoxTest):
    def setUp(self):
        super().setUp()
        self.repository(self.project)
        self.make(".envrc", "sub/.envrc")

    def make(self, *names):
        for name in names:
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("export A=1\n")

    def start(self, *options, script="true", cwd=None):
        """Starts a box without a question and returns the warnings on places, on one line."""
        done = self.claudebox("--yes", *options, "--exec", "sh", "-c", script, cwd=cwd)
        self.assertEqual(done.returncode, 0, done.stderr)
        return " ".join(done.stderr.split())

    def ask(self, *options, answer="y\n"):
        """Starts on a terminal with a question. Returns the output, and whether there was a question."""
        terminal = Terminal([CLAUDEBOX, *options, "--exec", "sh", "-c", "echo RUNS-$((40 + 2))"], {**self.env, "NO_COLOR": "1"}, str(self.project), columns=200)
        self.addCleanup(terminal.close)
        try:
            terminal.expect(r"Start\? \[y/N\]|RUNS-42")
        except TimeoutError:
            self.fail(terminal.output.decode())
        asked = b"Start?" in terminal.output
        if asked:
            terminal.send(answer)
        terminal.wait(20)
        return terminal.output.decode(), asked

    def tracked(self, **options):
        return self.plan(**options)["guard"]["tracked"]

    def writes(self, name="project/.envrc"):
        """Returns whether a box can change a place."""
        path = self.home / name
        before = path.read_text()
        self.box(f"echo evil >>{path}")
        changed = path.read_text() != before
        path.write_text(before)
        return changed


class Released(TrackedTest):
    def test_a_place_that_a_box_has_added_to_the_index(self):
        for name in (".envrc", "sub/.envrc"):
            with self.subTest(name=name):
                self.assertNotIn("earlier session", self.start(script=f"git add -f {name}"))
                self.assertIn(f"'{name}' was protected in an earlier session and is writable now, because git tracks it", self.start())
                self.assertTrue(self.writes(f"project/{name}"))
                self.assertNotIn("earlier session", self.start())

    def test_several_places(self):
        self.start(script="git add -f .envrc sub/.envrc")
        self.assertIn("'.envrc', 'sub/.envrc' were protected in an earlier session and are writable now, because git tracks them", self.start())

    def test_an_entry_of_a_directory_that_git_tracks_in_part(self):
        self.make(".vscode/settings.json", ".vscode/tasks.json")
        self.git("add", ".vscode/settings.json")
        self.start(script="git add -f .vscode/tasks.json")
        self.assertIn("'.vscode/tasks.json' was protected", self.start())

    def test_other_forms_of_an_index_entry(self):
        for command in ("git add -N -f {0}", "git update-index --add {0}", "git add -f {0}; git update-index --assume-unchanged {0}",
                        f"git add -f {{0}}; {GIT} commit -qm x"):
            for name in (".envrc", "sub/.envrc"):
                with self.subTest(command=command, name=name):
                    self.start(script=command.format(name))
                    self.assertIn(f"'{name}' was protected", self.start())
                    self.git("rm", "-q", "--cached", "--ignore-unmatch", name)
                    self.start()

    def test_a_place_that_a_start_without_a_box_has_seen(self):
        """Only a box counts as the last session: --dry-run and --check change nothing."""
        self.start()
        self.git("add", "-f", ".envrc")
        self.claudebox("--dry-run")
        self.claudebox("--check")
        self.claudebox("--prove", timeout=120)
        self.assertIn("'.envrc' was protected", self.start())

    def test_a_quiet_start_does_not_hide_it(self):
        self.start(script="git add -f .envrc")
        self.assertEqual(self.start("--quiet"), "")
        self.assertIn("'.envrc' was protected", self.start())

    def test_new_tracked_places_are_no_warning(self):
        """What did not exist in the last session was not protected in it."""
        self.start()
        time.sleep(0.05)
        self.make(".npmrc", "new/.npmrc")
        self.git("add", ".npmrc", "new/.npmrc")
        self.assertNotIn("earlier session", self.start())
        self.assertTrue({".npmrc", "new/.npmrc"} <= set(self.tracked()))

    def test_an_excepted_place_was_not_protected(self):
        for options in (("--unprotect", ".envrc"), ("--unprotect", "**/.envrc")):
            with self.subTest(options=options):
                self.start(*options)
                self.git("add", "-f", ".envrc")
                self.assertNotIn("'.envrc'", self.start())
                self.git("rm", "-q", "--cached", ".envrc")
        self.start()
        self.git("add", "-f", ".envrc")
        self.assertNotIn("earlier session", self.start("--unprotect", ".envrc"))

    def test_each_worktree_has_its_own_record(self):
        tree = self.home / "tree"
        self.git("worktree", "add", "-q", tree)
        (tree / ".envrc").write_text("x\n")
        self.start(cwd=tree)
        self.start(script="git add -f .envrc")
        self.assertNotIn("earlier session", self.start(cwd=tree))
        self.assertIn("'.envrc' was protected", self.start())

    def test_a_subdirectory_as_project(self):
        sub = self.project / "sub"
        self.start(script="git add -f .envrc", cwd=sub)
        self.assertIn("'.envrc' was protected", self.start(cwd=sub))
        self.assertEqual(self.tracked(cwd=sub), [".envrc"])

    def test_the_box_cannot_reach_the_record(self):
        self.start()
        record, = self.home.glob(".claudebox/instances/*/guarded-*")
        self.assertEqual(record.stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.box("find / -name 'guarded-*' -not -path '/proc/*' 2>/dev/null; true"), "")


class Approved(TrackedTest):
    def test_a_place_that_became_writable_is_a_change_in_every_form(self):
        self.assertNotIn("Changed", self.ask()[0])
        self.box("git add -f .envrc sub/.envrc")
        self.start()  # the warning was there, perhaps in a log
        for out in (self.ask(answer="n\n")[0], self.start()):
            self.assertIn("+ writable .envrc (git tracks it)", out)
            self.assertIn("+ writable sub/.envrc (git tracks it)", out)
        self.ask()
        self.assertNotIn("git tracks", self.start())

    def test_confirm_changed_asks(self):
        self.profile(confirm="changed")
        self.assertTrue(self.ask()[1])
        self.assertFalse(self.ask()[1])
        self.box("git add -f .envrc")
        out, asked = self.ask()
        self.assertTrue(asked)
        self.assertIn("+ writable .envrc (git tracks it)", out)
        self.assertFalse(self.ask()[1])
        self.git("rm", "-q", "--cached", ".envrc")
        out, asked = self.ask()  # the box is smaller
        self.assertFalse(asked)
        self.assertIn("No longer in the box: writable .envrc (git tracks it)", out)

    def test_it_is_no_reason_for_an_empty_home(self):
        self.ask()
        self.box("git add -f .envrc")
        self.assertNotIn("empty home", self.ask(answer="n\n")[0])


class Unreadable(TrackedTest):
    def damage(self):
        index = self.project / ".git/index"
        index.write_bytes(b"DIRC" + os.urandom(200))

    def test_without_a_record_all_places_are_writable_and_named(self):
        self.damage()
        self.assertIn("git's index cannot be read (it is split or damaged), so all places that exist count as tracked, and the box can "
                      "write them: '.envrc'", self.start())

    def test_a_box_makes_no_place_writable_by_damage(self):
        for script in ("git update-index --split-index", "echo DIRCevil >.git/index"):
            with self.subTest(script=script):
                self.git("reset", "-q")
                self.start()
                self.assertNotIn("cannot be read", self.start(script=script))
                self.assertIn("git's index cannot be read (it is split or damaged): of the places that programs outside execute, those are "
                              "writable that git tracked at the last start", self.start())
                self.assertFalse(self.writes())
                self.assertFalse(self.writes("project/sub/.envrc"))
                (self.project / ".git/index").unlink()

    def test_what_git_tracked_stays_writable(self):
        self.git("add", "-f", ".envrc", "sub/.envrc")
        self.start()
        self.git("update-index", "--split-index")
        for _ in range(2):
            self.assertEqual(self.tracked(), [".envrc", "sub/.envrc"])
            self.assertTrue(self.writes())
            self.assertTrue(self.writes("project/sub/.envrc"))
