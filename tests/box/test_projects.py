# SPDX-License-Identifier: MIT
"""The main properties of a box, checked in every kind of project: places, unusual paths, and repositories."""
import json
import os
import pathlib
import unittest

from lib.box import BoxTest

AS_ROOT = True

# Runs in the box and prints one JSON object. The first argument is the project, the second the user's home directory.
INSPECT = r"""
import json, os, subprocess, sys
project, home = os.fsencode(sys.argv[1]), sys.argv[2]
def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=project)
def can_write(path):
    try:
        with open(os.path.join(os.fsencode(path), b"written"), "w") as file:
            file.write("x")
        return True
    except OSError:
        return False
mounts = [line.split() for line in open("/proc/self/mountinfo", errors="surrogateescape")]
result = {
    "leaked variables": sorted(name for name in os.environ if "CANARY" in name or "CANARY" in os.environ[name]),
    "root": [m[m.index("-") + 1] for m in mounts if m[4] == "/"][-1],
    "read-only root": not can_write("/"),
    "writable project": os.getcwdb() == project and can_write(project),
    "own Claude state": os.path.isdir(os.path.join(home, ".claude")) and not os.path.exists(os.path.join(home, ".claude", "projects", "CANARY")),
    "visible secrets": [name for name in (".ssh", ".aws", ".gnupg", ".config/gh", ".netrc") if os.path.lexists(os.path.join(home, name))],
    "existing PATH": all(os.path.isdir(directory) for directory in os.environ["PATH"].split(":")),
    "temporary directories": can_write("/tmp") and can_write("/dev/shm") and os.path.exists("/proc/self"),
    "resolver": os.path.exists("/etc/resolv.conf"),
    "certificates": os.path.isfile(os.environ.get("SSL_CERT_FILE", "")),
    "namespaces": {name: os.readlink("/proc/self/ns/" + name) for name in ("pid", "ipc", "uts", "cgroup", "mnt", "user")},
    "uid": os.getuid(),
    "capabilities": [line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")][0],
    "siblings": sorted(os.listdir(os.path.join(home))),
    "instructions": "claudebox" in open("/etc/claude-code/SANDBOX.md", errors="replace").read(),
}
if run("git", "rev-parse", "--git-dir").returncode == 0:
    open(os.path.join(project, b"committed.txt"), "w").write("x")
    commit = run("git", "add", "committed.txt"), run("git", "commit", "-m", "from the box")
    show = run("git", "show", "--stat", "--format=%an <%ae>")
    result["commit"] = [commit[1].returncode, commit[1].stdout.decode(errors="replace"), show.stdout.decode(errors="replace")]
print(json.dumps(result))
"""


class Projects(BoxTest):
    def setUp(self):
        super().setUp()
        for name in (".ssh", ".aws", ".gnupg", ".config/gh"):
            (self.home / name).mkdir(parents=True)
            (self.home / name / "CANARY").write_text("CANARY")
        (self.home / ".netrc").write_text("CANARY")
        (self.home / ".claude" / "projects" / "CANARY").mkdir(parents=True)
        (self.home / "other-project").mkdir()

    def check(self, project, git, cwd=None):
        """Checks every property for one project. `git`: whether it is a repository, in which a commit must succeed."""
        done = self.claudebox("--yes", "--exec", "/usr/bin/python3", "-c", INSPECT, project, self.home, cwd=cwd or project,
                              env={"MY_CANARY": "x", "GH_TOKEN": "CANARY", "SSH_AUTH_SOCK": "/CANARY"})
        self.assertEqual(done.returncode, 0, done.stderr[-600:])
        seen = json.loads(done.stdout)
        self.assertEqual(seen["leaked variables"], [])
        self.assertEqual(seen["root"], "tmpfs")
        for key in ("read-only root", "writable project", "own Claude state", "existing PATH", "temporary directories", "resolver", "certificates", "instructions"):
            self.assertTrue(seen[key], key)
        self.assertEqual(seen["visible secrets"], [])
        self.assertNotIn("other-project", seen["siblings"])
        self.assertNotEqual(seen["uid"], 0)
        self.assertEqual(int(seen["capabilities"], 16), 0)
        for name, inside in seen["namespaces"].items():
            self.assertNotEqual(inside, os.readlink(f"/proc/self/ns/{name}"), name)
        self.assertTrue(os.path.exists(os.path.join(project, "written")))
        self.assertEqual(git, "commit" in seen)
        if git:
            status, output, shown = seen["commit"]
            self.assertEqual(status, 0, output)
            self.assertIn("Ann <ann@example.org>", shown)
            self.assertIn("1 file changed", shown)

    def test_under_home(self):
        self.check(self.project, git=False)

    def test_outside_home(self):
        self.check(self.scratch(), git=False)

    def test_below_tmp(self):
        path = pathlib.Path("/tmp") / f"claudebox-test-{os.getpid()}"
        path.mkdir()
        self.addCleanup(self._remove, path)
        self.check(path, git=False)

    def test_unusual_paths(self):
        for name in ("with space", "it's \"quoted\" `id` $HOME", "new\nline", "ünïcödé 日本", "-dash", "back\\slash", "a:b,c;d", "[~] x (y)"):
            path = self.home / "odd" / name
            self.repository(path)
            self.check(path, git=True)

    def test_path_that_is_not_utf8(self):
        path = os.path.join(os.fsencode(self.home), b"raw\xff\xfe")
        os.mkdir(path)
        self.check(os.fsdecode(path), git=False)

    def test_through_a_link(self):
        link = self.home / "link"
        link.symlink_to(self.repository(self.home / "real"))
        self.check(self.home / "real", git=True, cwd=link)

    def test_repository(self):
        self.check(self.repository(self.home / "repo"), git=True)

    def test_repository_outside_home(self):
        self.check(self.repository(self.scratch() / "repo"), git=True)

    def test_subdirectory(self):
        top = self.repository(self.home / "repo")
        (top / "sub" / "deep").mkdir(parents=True)
        self.check(top / "sub" / "deep", git=True)
        self.assertEqual(self.git("show", "--name-status", "--format=", "HEAD", cwd=top).split(), ["A", "sub/deep/committed.txt"])

    def test_linked_worktree(self):
        top = self.repository(self.home / "repo")
        self.git("worktree", "add", "-q", self.home / "side", cwd=top)
        self.check(self.home / "side", git=True)

    def test_linked_worktree_outside_home(self):
        top = self.repository(self.home / "repo")
        side = self.scratch() / "side"
        self.git("worktree", "add", "-q", side, cwd=top)
        self.check(side, git=True)

    def test_submodule(self):
        inner = self.repository(self.home / "inner")
        outer = self.repository(self.home / "outer")
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "module", cwd=outer)
        self.check(outer / "module", git=True)

    def test_superproject_with_a_submodule(self):
        inner = self.repository(self.home / "inner")
        outer = self.repository(self.home / "outer")
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "module", cwd=outer)
        self.git("commit", "-qm", "module", cwd=outer)
        self.check(outer, git=True)


if __name__ == "__main__":
    unittest.main()
