# SPDX-License-Identifier: MIT
"""Mount points in directories that a box can write to: symbolic links that a box plants or swaps
are not followed."""
import os
import threading

from lib.box import CLAUDEBOX, BoxTest, tree
from lib.caller import exchange
from lib.stress import STRESS
from lib.terminal import Terminal

AS_ROOT = True


class Destinations(BoxTest):
    """bwrap follows symbolic links on the way to a mount point, while the host's root is at
    /oldroot."""

    def setUp(self):
        super().setUp()
        self.victims = self.home / "victims"
        (self.victims / "directory").mkdir(parents=True)
        (self.victims / "file").write_text("victim")
        self.source = self.home / "source"
        self.source.write_text("SOURCE")
        self.directory = self.home / "sources"
        self.directory.mkdir()
        self.before = tree(self.victims)

    def targets(self):
        for name in ("file", "directory", "new", "directory/new"):
            yield f"/oldroot{self.victims}/{name}"
            yield f"../../../../../../../../oldroot{self.victims}/{name}"
            yield f"{self.victims}/{name}"

    def test_symbolic_links_planted_at_mount_points(self):
        self.repository(self.home / "repo")
        for target in self.targets():
            for name in (".claudebox", ".git", "x", "sub"):
                place = self.project / name
                place.symlink_to(target)
                self.claudebox("--yes", "--exec", "true")
                for wanted in (f"{self.source}:{self.project}/x", f"{self.directory}:{self.project}/sub", f"{self.directory}:{self.project}/sub/y"):
                    if name in wanted:
                        self.assertEqual(self.claudebox("--yes", "--mount-ro", wanted, "--exec", "true").returncode, 125)
                place.unlink()
                self.assertEqual(tree(self.victims), self.before, (name, target))
        self.assertEqual(list(self.project.iterdir()), [])

    def flip(self, place, target, *options, directory=None, launches=8):
        """Launches boxes while another thread exchanges a name and a symbolic link; returns how
        many started."""
        link = place.with_name("link")
        link.symlink_to(target)
        stop = threading.Event()
        start = os.open(directory or self.project, os.O_PATH)  # its name changes meanwhile

        def run():
            while not stop.is_set():
                exchange(place, link)
        thread = threading.Thread(target=run)
        thread.start()
        try:
            codes = [self.claudebox("--yes", *options, "--exec", "true", cwd="/", preexec_fn=lambda: os.fchdir(start)).returncode for _ in range(launches * STRESS)]
        finally:
            stop.set()
            thread.join()
            os.close(start)
        self.assertLessEqual(set(codes), {0, 125})
        self.assertEqual(tree(self.victims), self.before, (place, target, options))
        if place.is_symlink():
            exchange(place, link)
        if link.is_symlink():
            link.unlink()
        elif link.exists() and not place.exists():  # the guard has moved the symbolic link to quarantine
            link.rename(place)
        return codes.count(0)

    def test_mount_points_swapped_during_the_start(self):
        """Existing files are not changed, and missing files are not created."""
        started = 0
        (self.project / "x").write_text("own")
        (self.project / "sub" / "deep").mkdir(parents=True)
        (self.project / "sub" / "x").write_text("own")
        for option in ("--mount-ro", "--mount-rw"):
            for target in ("file", "new"):
                started += self.flip(self.project / "x", f"/oldroot{self.victims}/{target}", option, f"{self.source}:{self.project}/x")
            for name, source in ("x", self.source), ("deep", self.directory):
                started += self.flip(self.project / "sub", f"/oldroot{self.victims}/directory", option, f"{source}:{self.project}/sub/{name}")
        self.assertGreater(started, 0)

    def test_a_project_swapped_during_the_start(self):
        """The project, .git and .claudebox are mounts in a repository that is another box's
        project."""
        top = self.repository(self.home / "repo")
        project = top / "sub" / "deep"
        (project / ".claudebox").mkdir(parents=True)
        started = 0
        for place, target in (top / "sub", "directory"), (project, "directory"), (top / ".git", "new"), (project / ".claudebox", "new"):
            started += self.flip(place, f"/oldroot{self.victims}/{target}", directory=project)
        self.assertGreater(started, 0)

    def test_claudebox_directory_swapped_during_the_start(self):
        (self.project / ".claudebox").mkdir()
        for target in ("new", "directory", "directory/new"):
            self.flip(self.project / ".claudebox", f"/oldroot{self.victims}/{target}", launches=6)

    def nested(self, env=None):
        """Runs a box with mounts inside other mounts; checks what it can write and its working
        directory."""
        top = self.repository(self.home / "repo")
        project = top / "sub" / "deep"
        (project / ".claudebox").mkdir(parents=True)
        (project / "x").write_text("own")
        (project / "y").mkdir()
        script = ("pwd; cat x; for place in . y ../ ../.. .claudebox ../../.git; do touch $place/new && echo $place; done; echo more >>x && echo x;"
                  "mv .claudebox z; echo end; cat /proc/self/mountinfo; ls -A $XDG_RUNTIME_DIR")
        done = self.claudebox("--yes", "--mount-ro", f"{self.source}:{project}/x", "--mount-rw", f"{self.directory}:{project}/y",
                              "--exec", "sh", "-c", script, cwd=project, env=env)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:5], [str(project), "SOURCE.", "y", "../../.git", "end"], done.stderr)
        self.assertEqual(lines[-1], "claude-sessions")
        self.assertNotIn("staged", done.stdout)
        self.assertEqual({path.name for path in project.iterdir()}, {".claudebox", "new", "x", "y"})
        self.assertEqual(((project / "x").read_text(), self.source.read_text()), ("own", "SOURCE"))
        self.assertEqual([path.name for path in self.directory.iterdir()], ["new"])
        self.assertEqual(list((project / "y").iterdir()) + list((project / ".claudebox").iterdir()), [])

    def test_nested_mounts(self):
        self.nested()

    def test_nested_mounts_with_an_old_bwrap(self):
        """A bwrap without --bind-fd."""
        program = self.home / "tools" / "bwrap"
        program.parent.mkdir()
        program.write_text('#!/bin/sh\n# --disable-userns\nexec /usr/bin/bwrap "$@"\n')
        program.chmod(0o755)
        self.nested(env={"PATH": f"{program.parent}:{self.env['PATH']}"})

    def test_nested_mounts_with_user_namespaces(self):
        self.profile(nested=os.getuid() != 0)  # not available to root
        self.nested()

    def replaced_during_the_question(self, path, replace, *arguments):
        """Starts claudebox, replaces the file while it waits for the answer, and answers yes."""
        terminal = Terminal([CLAUDEBOX, *arguments], self.env, str(self.project), columns=200)
        self.addCleanup(terminal.close)
        terminal.expect(r"Start\? ")
        path.unlink()
        replace()
        terminal.send("y\n")
        return terminal

    def test_a_mount_source_replaced_after_the_audit_is_refused(self):
        """The box gets the file that the audit showed, or nothing starts."""
        source = self.home / "shown"
        replacements = {
            "another file": lambda: (self.home / "other").rename(source),
            "a link to a secret": lambda: source.symlink_to(self.home / "other"),
            "a directory": source.mkdir,
        }
        for name, replace in replacements.items():
            with self.subTest(name):
                source.write_text("shown")
                (self.home / "other").write_text("not shown")
                terminal = self.replaced_during_the_question(source, replace, "--mount-ro", f"{source}:/mnt/file", "--exec", "cat", "/mnt/file")
                terminal.expect("changed between the audit and the start|cannot open")
                self.assertNotIn(b"not shown", terminal.output)
                if source.is_dir() and not source.is_symlink():
                    source.rmdir()
                source.unlink(missing_ok=True)

    def test_a_mount_point_replaced_after_the_audit_is_refused(self):
        """The file is replaced while claudebox waits for the answer."""
        place = self.project / "x"
        replacements = {
            "a link": lambda: place.symlink_to(self.victims / "new"),
            "a link that only bwrap can follow": lambda: place.symlink_to(f"/oldroot{self.victims}/new"),
            "a link to what the box has": lambda: place.symlink_to("/etc/passwd"),
            "another file": lambda: (self.project / "other").rename(place),
            "a directory": place.mkdir,
            "nothing": lambda: None,
        }
        for name, replace in replacements.items():
            with self.subTest(name):
                place.write_text("own")
                (self.project / "other").write_text("other")
                terminal = self.replaced_during_the_question(place, replace, "--mount-ro", f"{self.source}:{place}", "--exec", "echo", "ran")
                terminal.expect("changed between the audit and the start")
                self.assertNotIn(b"\nran\r", terminal.output)
                self.assertEqual(tree(self.victims), self.before)
                self.assertEqual(os.path.lexists(place), name != "nothing")
                if name == "a directory":
                    place.rmdir()
                place.unlink(missing_ok=True)
