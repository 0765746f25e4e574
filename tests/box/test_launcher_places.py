# SPDX-License-Identifier: MIT
"""Where the launcher has things mounted: links that a box planted or swaps lead nowhere."""
import threading

from lib.box import CLAUDEBOX, BoxTest, tree
from lib.caller import exchange
from lib.terminal import Terminal

AS_ROOT = True


class Destinations(BoxTest):
    """bwrap follows links on the way to where it mounts, and the host's tree is at /oldroot then."""

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

    def test_links_planted_where_something_is_mounted(self):
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

    def flip(self, place, other, *options, launches=12):
        """Launches while another box exchanges two names; returns the outputs of those that started."""
        stop = threading.Event()

        def run():
            while not stop.is_set():
                exchange(place, other)
        thread = threading.Thread(target=run)
        thread.start()
        try:
            return [self.claudebox("--yes", *options, "--exec", "true") for _ in range(launches)]
        finally:
            stop.set()
            thread.join()

    def test_swapped_between_the_check_and_the_start(self):
        """What is there is never changed, and what is made is empty: bwrap compares before anything starts."""
        (self.project / "x").write_text("own")
        (self.project / "y").symlink_to(f"/oldroot{self.victims}/file")
        self.flip(self.project / "x", self.project / "y", "--mount-ro", f"{self.source}:{self.project}/x")
        self.assertEqual(tree(self.victims), self.before)

    def test_a_wish_swapped_between_the_check_and_the_start(self):
        for target in ("new", "directory", "directory/new"):
            (self.project / ".claudebox").mkdir()
            (self.project / "y").symlink_to(f"/oldroot{self.victims}/{target}")
            self.flip(self.project / ".claudebox", self.project / "y", launches=6)
            self.assertEqual(tree(self.victims), self.before)
            for name in (".claudebox", "y"):
                place = self.project / name
                place.unlink() if place.is_symlink() else place.rmdir()

    def test_replaced_after_the_audit(self):
        """The user takes time to answer."""
        place = self.project / "x"
        for target in (self.victims / "new", f"/oldroot{self.victims}/new"):
            place.write_text("own")
            terminal = Terminal([CLAUDEBOX, "--mount-ro", f"{self.source}:{place}", "--exec", "true"], self.env, str(self.project), columns=200)
            terminal.expect(r"Start\? ")
            place.unlink()
            place.symlink_to(target)
            terminal.send("y\n")
            terminal.expect("changed between the audit and the start")
            place.unlink()
            self.assertEqual(tree(self.victims), self.before)
