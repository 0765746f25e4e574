# SPDX-License-Identifier: MIT
"""The core promises, tried in every kind of project: wherever it lies, whatever its path holds, whatever git says of it."""
import json
import os
import pathlib
import unittest

from lib.box import BoxTest

AS_ROOT = True

# Runs in the box; prints one JSON object. The first argument is the project, the second the host's home.
PROBE = r"""
import json, os, subprocess, sys
project, home = os.fsencode(sys.argv[1]), sys.argv[2]
def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=project)
def can_write(path):
    try:
        with open(os.path.join(os.fsencode(path), b"probe"), "w") as file:
            file.write("x")
        return True
    except OSError:
        return False
mounts = [line.split() for line in open("/proc/self/mountinfo", errors="surrogateescape")]
result = {
    "SAND-02": sorted(name for name in os.environ if "CANARY" in name or "CANARY" in os.environ[name]),
    "SAND-04": [m[m.index("-") + 1] for m in mounts if m[4] == "/"][-1],
    "SAND-04 sealed": not can_write("/"),
    "SAND-05": os.getcwdb() == project and can_write(project),
    "SAND-08": os.path.isdir(os.path.join(home, ".claude")) and not os.path.exists(os.path.join(home, ".claude", "projects", "CANARY")),
    "SAND-09": [name for name in (".ssh", ".aws", ".gnupg", ".config/gh", ".netrc") if os.path.lexists(os.path.join(home, name))],
    "SAND-10": all(os.path.isdir(directory) for directory in os.environ["PATH"].split(":")),
    "SAND-11": can_write("/tmp") and can_write("/dev/shm") and os.path.exists("/proc/self"),
    "SAND-12": os.path.exists("/etc/resolv.conf"),
    "SAND-13": os.path.isfile(os.environ.get("SSL_CERT_FILE", "")),
    "SEC-02": {name: os.readlink("/proc/self/ns/" + name) for name in ("pid", "ipc", "uts", "cgroup", "mnt", "user")},
    "uid": os.getuid(),
    "capabilities": [line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")][0],
    "siblings": sorted(os.listdir(os.path.join(home))),
    "AWARE-01": "claudebox" in open("/etc/claude-code/SANDBOX.md", errors="replace").read(),
}
if run("git", "rev-parse", "--git-dir").returncode == 0:
    open(os.path.join(project, b"committed.txt"), "w").write("x")
    commit = run("git", "add", "committed.txt"), run("git", "commit", "-m", "from the box")
    show = run("git", "show", "--stat", "--format=%an <%ae>")
    result["GIT-01"] = [commit[1].returncode, commit[1].stdout.decode(errors="replace"), show.stdout.decode(errors="replace")]
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
        """Every promise for one project; `git` says whether a commit must succeed."""
        done = self.claudebox("--yes", "--exec", "/usr/bin/python3", "-c", PROBE, project, self.home, cwd=cwd or project,
                              env={"MY_CANARY": "x", "GH_TOKEN": "CANARY", "SSH_AUTH_SOCK": "/CANARY"})
        self.assertEqual(done.returncode, 0, done.stderr[-600:])
        seen = json.loads(done.stdout)
        self.assertEqual(seen["SAND-02"], [])
        self.assertEqual(seen["SAND-04"], "tmpfs")
        for key in ("SAND-04 sealed", "SAND-05", "SAND-08", "SAND-10", "SAND-11", "SAND-12", "SAND-13", "AWARE-01"):
            self.assertTrue(seen[key], key)
        self.assertEqual(seen["SAND-09"], [])
        self.assertNotIn("other-project", seen["siblings"])
        self.assertNotEqual(seen["uid"], 0)
        self.assertEqual(int(seen["capabilities"], 16), 0)
        for name, inside in seen["SEC-02"].items():
            self.assertNotEqual(inside, os.readlink(f"/proc/self/ns/{name}"), name)
        self.assertTrue(os.path.exists(os.path.join(project, "probe")))
        self.assertEqual(git, "GIT-01" in seen)
        if git:
            status, said, shown = seen["GIT-01"]
            self.assertEqual(status, 0, said)
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

    def test_odd_paths(self):
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
