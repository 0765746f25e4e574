# SPDX-License-Identifier: MIT
"""git clone in the box, from submodules, worktrees and other places: it never fails, and which addresses stay outside."""
import subprocess
import time

from lib.box import CLAUDEBOX, BoxTest, until
from lib.stress import STRESS

ROUNDS = 20 * STRESS
ALLOW = ("-c", "protocol.file.allow=always")


class Clones(BoxTest):
    def setUp(self):
        super().setUp()
        self.source = self.repository(self.home / "source")
        self.repository(self.project)
        self.git(*ALLOW, "submodule", "add", "-q", self.source, "sub")
        self.git("commit", "-qm", "submodule")
        self.git("worktree", "add", "-q", "tree")

    def address(self, name):
        done = subprocess.run(["git", "-C", self.project / name, "config", "remote.origin.url"], env=self.env, check=False,
                              stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    def clone(self, source, name="x", before="true"):
        """Clones in the box, and returns the address that the clone has outside."""
        done = self.claudebox("--yes", "--exec", "sh", "-c", f"{before}; git clone -q {source} {name}")
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.address(name)

    def clone_often(self, source, before="true"):
        count = ROUNDS
        done = self.claudebox("--yes", "--exec", "sh", "-c",
                              f"{before}; i=0; while [ $i -lt {count} ]; do i=$((i + 1)); git clone -q {source} x$i || echo failed $i; done")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return {self.address(f"x{i + 1}") for i in range(count)}, done.stderr

    def commit(self, place):
        (place / "new.txt").write_text("new\n")
        self.git("add", "new.txt", cwd=place)
        self.git("commit", "-qm", "new", cwd=place)

    def test_submodules_and_worktrees_of_the_project(self):
        for name in ("sub", "tree"):
            with self.subTest(name=name):
                addresses, stderr = self.clone_often(name)
                self.assertEqual(addresses, {str(self.project / name)})
                self.assertNotIn("moved", stderr)
                self.commit(self.project / name)
                self.git("pull", "-q", cwd=self.project / "x7")
                self.assertTrue((self.project / "x7/new.txt").exists())
                for i in range(ROUNDS):
                    subprocess.run(["rm", "-rf", self.project / f"x{i + 1}"], check=True)

    def test_a_source_outside_of_the_project(self):
        """The address does not stay, but git has read it before it goes."""
        addresses, stderr = self.clone_often("/tmp/source", "git init -q /tmp/source; git -C /tmp/source commit -q --allow-empty -m x")
        self.assertEqual(addresses, {""})
        self.assertIn("guard:", stderr)

    def test_a_mounted_source(self):
        done = self.claudebox("--yes", "--mount-ro", self.source, "--exec", "sh", "-c",
                              f"for i in $(seq {ROUNDS // 2}); do git clone -q {self.source} x$i || echo failed; done")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(self.address("x1"), "")

    def test_what_the_box_creates(self):
        """A new worktree and a submodule of a nested repository are repositories of the project too."""
        before = ("git worktree add -q new; git init -q n; git -C n -c user.name=a -c user.email=b commit -q --allow-empty -m x; "
                  "git -C n worktree add -q w")
        self.assertEqual(self.clone("new", before=before), str(self.project / "new"))
        self.assertEqual(self.clone("n/w", "y"), str(self.project / "n/w"))

    def test_a_project_that_is_a_worktree(self):
        tree = self.home / "other"
        self.git("worktree", "add", "-q", tree)
        done = self.claudebox("--yes", "--exec", "git", "clone", "-q", ".", "x", cwd=tree)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.git("config", "remote.origin.url", cwd=tree / "x").strip(), f"{tree}/.")

    def test_git_directories(self):
        """Those of the project, its submodules and worktrees are judged; what else lies in a git directory is not."""
        for i, (place, kept) in enumerate(((".git", True), (".git/modules/sub", True), (".git/modules/lfs", False), (".git/evil", False))):
            with self.subTest(place=place):
                path = self.project / place
                self.box(f"[ -e {path} ] || git init -q --bare {path}; git init -q x{i}; git -C x{i} config remote.origin.url {path}")
                self.assertEqual(self.address(f"x{i}"), str(path) if kept else "")

    def test_pointers_elsewhere(self):
        """A `.git` that names a git directory which the guard does not judge is none of the project."""
        evil = "git init -q --bare {0}; mkdir p; echo gitdir: {0} >p/.git; git init -q x; git -C x config remote.origin.url $PWD/p"
        for place in ("$PWD/.git/objects/evil", "$PWD/node_modules/evil", "$PWD/.git/evil.git", "/tmp/evil"):
            with self.subTest(place=place):
                self.box(evil.format(place))
                self.assertEqual(self.address("x"), "")
                self.box("rm -rf x p .git/objects/evil node_modules")
        self.box("git init -q --bare evil.git; mkdir p; echo gitdir: ../evil.git >p/.git; git init -q x; git -C x config remote.origin.url $PWD/p")
        self.assertEqual(self.address("x"), str(self.project / "p"))

    def test_a_remote_of_the_users_own_repository(self):
        self.box("git remote add a $PWD/sub; git remote add b $PWD/tree; git remote add c $PWD/.git/modules/sub; "
                 "git init -q --bare .git/evil; git remote add d $PWD/.git/evil; git remote add e /tmp")
        self.assertEqual(self.git("remote").split(), ["a", "b", "c"])

    def watch(self, script, names):
        """Returns how long each setting was in the configuration of `n` while the script ran, in seconds."""
        box = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", f"({script}); touch ready; read end"], cwd=self.project, env=self.env,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(box.communicate)
        self.assertTrue(until((self.project / "ready").exists, 30))
        start, gone = time.monotonic(), {}
        while len(gone) < len(names) and time.monotonic() < start + 8:
            text = (self.project / "n/.git/config").read_text()
            gone |= {name: time.monotonic() - start for name in names if name not in text and name not in gone}
            time.sleep(0.005)
        box.communicate("end\n", timeout=30)
        return gone

    def test_only_an_address_waits_and_not_for_long(self):
        """A setting that executes goes at once, also from a repository that is being cloned; so does an address that a box can write."""
        gone = self.watch("git init -q n; cd n; printf '[remote \"origin\"]\\n url = /tmp/far\\n[remote \"b\"]\\n url = ext::sh -c true\\n"
                          f"[remote \"c\"]\\n url = {self.project}/node_modules/x\\n[core]\\n pager = evil\\n' >>.git/config",
                          ["/tmp/far", "ext::", "node_modules", "evil"])
        for name in ("ext::", "node_modules", "evil"):
            self.assertLess(gone[name], 0.5, name)
        self.assertLess(gone["/tmp/far"], 5)

    def test_a_repository_with_a_commit_does_not_wait(self):
        gone = self.watch("git init -q n; cd n; git -c user.name=a -c user.email=b commit -q --allow-empty -m x; git config remote.origin.url /tmp/far",
                          ["/tmp/far"])
        self.assertLess(gone["/tmp/far"], 0.5)
