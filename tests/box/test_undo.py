# SPDX-License-Identifier: MIT
"""--diff, --undo and --undo=commits: exact trees, hostile repositories, odd projects, kills and full disks."""
import contextlib
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import stat
import subprocess
import time

from lib.box import BoxTest, CLAUDEBOX, unless, until
from lib.on_terminal import OnTerminal
from lib.stress import STRESS

AS_ROOT = ("Exact", "Changed", "Hostile")

# Names with every kind of byte that git and a terminal treat in a special way.
ODD_NAMES = [b"a b", b"-n", b"tab\there", b"new\nline", b"quote'\"", b"back\\slash", b"\xff\xfe", "ümläut".encode(), b"*", b"[x]", b":top",
             b"~tilde", b"$HOME", b"con", b"aux.txt", b"git~1", b"x" * 200, b"\x1b[31mred", b"?", b"!ignored", b"#comment", b"trailing "]


def snapshot(root):
    """Returns all files and links below a directory with content, executable bit and target; no empty directories."""
    found = {}
    root = os.fsencode(root)
    for place, directories, files in os.walk(root):
        if b".git" in directories:
            directories.remove(b".git")
        for name in files + [name for name in directories if os.path.islink(os.path.join(place, name))]:
            path = os.path.join(place, name)
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                value = ("link", os.readlink(path))
            elif stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    value = ("file", hashlib.sha256(file.read()).hexdigest(), bool(status.st_mode & 0o100))
            else:
                continue
            found[os.path.relpath(path, root)] = value
    return found


# Edits a tree at random: argv is a seed and the number of edits.
EDIT = r"""
import os, random, shutil, sys
r = random.Random(int(sys.argv[1]))
def entries():
    files, directories = [], [b"."]
    for place, below, names in os.walk(b"."):
        if b".git" in below:
            below.remove(b".git")
        directories += [os.path.join(place, name) for name in below if not os.path.islink(os.path.join(place, name))]
        files += [os.path.join(place, name) for name in names] + [os.path.join(place, name) for name in below if os.path.islink(os.path.join(place, name))]
    return files, directories
def content():
    return bytes(r.randrange(256) for _ in range(r.choice([0, 1, 50, 5000]))) if r.random() < 0.5 else b"line\r\n" * r.randrange(200)
files, directories = entries()
for i in range(int(sys.argv[2])):
    if i % 20 == 0:
        files, directories = entries()
    try:
        file, directory = r.choice(files) if files else b"./none", r.choice(directories)
        what = r.randrange(12)
        new = os.path.join(directory, b"new-%d" % i)
        if what == 0:
            open(file, "wb").write(content())
        elif what == 1:
            os.unlink(file)
        elif what == 2:
            os.chmod(file, r.choice([0o644, 0o755, 0o600, 0o700])) if os.path.isfile(file) and not os.path.islink(file) else None
        elif what == 3:
            os.rename(file, new)
        elif what == 4:
            open(new, "wb").write(content())
        elif what == 5:
            os.symlink(r.choice([b"/etc/passwd", b"..", b"../../..", b".", os.path.basename(file), b"\xff\n"]), new)
        elif what == 6 and directory != b".":
            shutil.rmtree(directory)
        elif what == 7 and directory != b".":
            os.rename(directory, new)
        elif what == 8:
            os.makedirs(os.path.join(new, b"x/y/z")); open(os.path.join(new, b"x/y/z/f"), "wb").write(content())
        elif what == 9:  # a directory in the place of a file
            os.unlink(file); os.mkdir(file); open(os.path.join(file, b"inside"), "wb").write(content())
        elif what == 10 and directory != b".":  # a file or a link in the place of a directory
            shutil.rmtree(directory)
            os.symlink(b"/tmp", directory) if r.random() < 0.5 else open(directory, "wb").write(content())
        elif what == 11:
            open(file, "ab").write(b"more")
    except OSError:
        pass
"""


# Writes other content of the same size and with the same time every few milliseconds.
TOUCH = """
import os, time
end = time.monotonic() + 60
i = 0
while time.monotonic() < end and not os.path.exists("stop"):
    i += 1
    with open("same", "r+") as file:
        file.write("%04d" % i)
    os.utime("same", (1577836800, 1577836800))
    time.sleep(0.01)
open("same", "w").write("last")
os.utime("same", (1577836800, 1577836800))
"""


class UndoTest(BoxTest):
    def undo(self, *arguments, status=0, cwd=None, **options):
        done = self.claudebox("--undo", *arguments, "--yes", cwd=cwd, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def run_box(self, script, *arguments, **options):
        """Runs a script in the box; returns what claudebox printed."""
        done = self.claudebox("--yes", "--exec", "sh", "-c", script, "sh", *arguments, **options)
        self.assertNotEqual(done.returncode, 125, done.stderr)
        return done.stderr

    def edit(self, seed, count):
        (self.home / "edit.py").write_text(EDIT)
        done = self.claudebox("--yes", "--mount-ro", self.home / "edit.py", "--exec", "/usr/bin/python3", self.home / "edit.py", str(seed), str(count))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("cannot be undone", done.stderr)

    def fill(self, count=60, seed=1):
        r = random.Random(seed)
        top = os.fsencode(self.project)
        for i in range(count):
            place = os.path.join(top, *[b"d%d" % r.randrange(4) for _ in range(r.randrange(4))])
            os.makedirs(place, exist_ok=True)
            path = os.path.join(place, r.choice(ODD_NAMES) + b"%d" % i if r.random() < 0.5 else b"file%d" % i)
            if r.random() < 0.1:
                os.symlink(r.choice([b"/etc/passwd", b"..", b"nowhere", b"file1"]), path)
            else:
                with open(path, "wb") as file:
                    file.write(r.randbytes(r.choice([0, 1, 100, 20000])) if r.random() < 0.5 else b"text\n" * r.randrange(100))
                os.chmod(path, r.choice([0o644, 0o755, 0o600]))

    def store(self, project=None):
        found = list((self.home / ".claudebox/instances").glob("*/snapshots/*"))
        return next(path for path in found if project is None or path.name == hashlib.sha256(os.fsencode(project)).hexdigest()[:16])

    def sessions(self):
        return sorted(path for path in (self.store() / "sessions").iterdir() if (path / "record.json").exists())


class Exact(UndoTest):
    """An undo gives back the exact tree, whatever the session did."""

    def check(self, seed, edits):
        before = snapshot(self.project)
        self.edit(seed, edits)
        after = snapshot(self.project)
        self.assertNotEqual(before, after)
        self.undo()
        self.assertEqual(before, snapshot(self.project), f"seed {seed}")
        self.undo()
        self.assertEqual(after, snapshot(self.project), f"the undo of the undo, seed {seed}")
        self.undo()
        self.assertEqual(before, snapshot(self.project), f"the third undo, seed {seed}")

    def test_random_edits_in_a_directory_without_a_repository(self):
        self.fill()
        for seed in range(2 * STRESS):
            self.check(seed, 80)

    def test_random_edits_in_a_dirty_repository(self):
        self.repository(self.project)
        self.fill(seed=2)
        self.git("add", "-A")
        self.git("commit", "-qm", "second")
        (self.project / "file.txt").write_text("dirty\n")
        (self.project / "untracked").write_text("untracked\n")
        for seed in range(100, 100 + 2 * STRESS):
            self.check(seed, 80)

    def test_many_files(self):
        top = self.project / "many"
        for i in range(20000):
            place = top / f"d{i % 50}"
            place.mkdir(parents=True, exist_ok=True)
            (place / f"f{i}").write_text(f"{i}\n")
        before = snapshot(self.project)
        self.run_box("rm -rf many/d1*; find many -name 'f*7' | while read -r f; do echo x >$f; done; mv many/d2 moved")
        self.undo()
        self.assertEqual(before, snapshot(self.project))

    def test_the_repository_itself_may_be_destroyed(self):
        self.repository(self.project)
        (self.project / "untracked").write_text("untracked\n")
        (self.project / "file.txt").write_text("dirty\n")
        before = snapshot(self.project)
        for harm in ("rm -rf .git/objects .git/refs .git/index; rm -f *", "git clean -qfdx; git reset -q --hard; git gc -q --prune=now",
                     "find . -path ./.git -prune -o -type f -print0 | xargs -0 rm -f"):
            self.run_box(harm)
            self.undo()
            self.assertEqual(before, snapshot(self.project), harm)
            if "refs" in harm:
                shutil.rmtree(self.project / ".git")
                self.git("init", "-q")

    def test_a_change_that_restores_size_and_time(self):
        """git compares times by their seconds; a box can restore the time of the last write."""
        same, old = self.project / "same", 1577836800
        for change in ("printf new >same", "printf new >x; touch -r same x; cat x >same", "sed -i s/old/new/ same"):
            with self.subTest(change):
                self.assertTrue(until(lambda: time.time() % 1 < 0.1))  # all of it in one second
                same.write_text("old")
                os.utime(same, (old, old))
                self.run_box(f"{change}; touch -d @{old} same")
                self.assertEqual((same.read_text(), same.stat().st_mtime), ("new", old))
                self.assertIn("+new", self.claudebox("--diff").stdout)
                self.undo()
                self.assertEqual(same.read_text(), "old")
        # A box saves the state of the file while another one changes it.
        with subprocess.Popen([CLAUDEBOX, "--yes", "--quiet", "--exec", "python3", "-c", TOUCH], cwd=self.project, env=self.env) as other:
            for _ in range(3):
                self.assertEqual(self.claudebox("--yes", "--exec", "sleep", "0.6").returncode, 0)
            (self.project / "stop").touch()
            self.assertEqual(other.wait(30), 0)
        self.assertEqual(same.read_text(), "last")
        self.assertIn("+last", self.claudebox("--diff").stdout)

    def test_only_the_named_paths(self):
        for name in ("a", "d/b", "d/c", "db"):
            (self.project / name).parent.mkdir(exist_ok=True)
            (self.project / name).write_text("old\n")
        self.run_box("for f in a d/b d/c db; do echo new >$f; done")
        self.undo("d", "./a")
        self.assertEqual({name: (self.project / name).read_text() for name in ("a", "d/b", "d/c", "db")},
                         {"a": "old\n", "d/b": "old\n", "d/c": "old\n", "db": "new\n"})
        self.refused("--undo", "../x", "--yes", status=2)

    def test_directories_that_the_session_closed(self):
        for name in ("d/e/f", "d/g"):
            (self.project / name).parent.mkdir(parents=True, exist_ok=True)
            (self.project / name).write_text("old\n")
        before = snapshot(self.project)
        self.run_box("echo new >d/e/f; echo n >d/e/n; chmod 0 d/e; chmod 100 d")
        self.undo()
        self.assertEqual(before, snapshot(self.project))

    def test_empty_directories_that_the_session_made_go(self):
        (self.project / "keep").write_text("x")
        self.run_box("mkdir -p a/b/c; echo x >a/b/c/f")
        self.undo()
        self.assertEqual(sorted(os.listdir(self.project)), ["keep"])

    def test_permissions_other_than_the_executable_bit_stay(self):
        file = self.project / "file"
        file.write_text("old\n")
        file.chmod(0o600)
        self.run_box("echo new >file")
        self.undo()
        self.assertEqual((file.read_text(), stat.S_IMODE(file.stat().st_mode)), ("old\n", 0o600))


class Changed(UndoTest):
    """What was changed since the session, or is not the session's, is left."""

    def setUp(self):
        super().setUp()
        (self.project / "a").write_text("old\n")
        (self.project / "b").write_text("old\n")

    def test_files_changed_since_are_left_and_named(self):
        self.run_box("echo new >a; echo new >b; echo n >c")
        (self.project / "a").write_text("mine\n")
        (self.project / "c").write_text("mine\n")
        text = self.undo()
        self.assertRegex(text, r"leave +a \(was changed since")
        self.assertEqual([(self.project / name).read_text() for name in "abc"], ["mine\n", "old\n", "mine\n"])

    def test_a_file_in_the_way_is_left(self):
        self.run_box("rm a")
        (self.project / ".gitignore").write_text("a\n")
        (self.project / "a").mkdir()
        (self.project / "a" / "mine").write_text("mine\n")
        text = self.undo(status=125)
        self.assertIn("nothing that can be taken back", text)
        self.assertEqual((self.project / "a" / "mine").read_text(), "mine\n")

    def test_a_planted_link_is_not_followed(self):
        outside = self.home / "outside"
        outside.mkdir()
        (outside / "b").write_text("outside\n")
        (self.project / "d").mkdir()
        (self.project / "d" / "b").write_text("old\n")
        self.run_box('rm -r d; ln -s "$1" d', str(outside))
        self.undo()
        self.assertEqual(((outside / "b").read_text(), (self.project / "d" / "b").read_text()), ("outside\n", "old\n"))
        # The user makes a link after the session.
        self.run_box("echo new >d/b")
        shutil.rmtree(self.project / "d")
        (self.project / "d").symlink_to(outside)
        self.claudebox("--undo", "--yes")
        self.assertEqual((outside / "b").read_text(), "outside\n")

    def test_the_users_files_that_were_not_saved_are_not_deleted(self):
        self.repository(self.project)
        (self.project / "data").mkdir()
        (self.project / "data/.gitignore").write_text("*\n")
        (self.project / "data/db").write_text("mine\n")
        (self.project / ".gitignore").write_text("*.log\n")
        (self.project / "x.log").write_text("mine\n")
        (self.project / "closed").write_text("mine\n")
        (self.project / "closed").chmod(0)
        time.sleep(0.05)
        self.run_box("rm data/.gitignore; git add -f x.log; chmod 644 closed; mv data data2; echo theirs >new")
        text = self.undo()
        self.assertEqual([(self.project / name).read_text() for name in ("data2/db", "x.log", *(["closed"] if os.getuid() else []))],
                         ["mine\n"] * (3 if os.getuid() else 2))
        self.assertIn("was not saved", text)
        self.assertFalse((self.project / "new").exists())

    def test_files_that_the_session_closed_are_seen_and_restored(self):
        self.run_box("echo new >a; chmod 0 a; echo n >c; chmod 0 c; mkdir q; echo x >q/Makefile; chmod 0 q; chmod 500 .")
        report = json.loads(self.claudebox("--report=json").stdout)
        self.assertEqual(sorted(row["path"] for row in report["files"]["list"]), ["a", "c", "q/Makefile"])
        self.undo()
        self.assertEqual((sorted(os.listdir(self.project)), (self.project / "a").read_text()), (["a", "b"], "old\n"))

    def test_the_rest_follows_an_undo_of_one_path(self):
        self.run_box("echo new >a; echo new >b; echo n >c")
        self.undo("a")
        self.assertEqual([(self.project / name).read_text() for name in "abc"], ["old\n", "new\n", "n\n"])
        self.undo("b")
        self.assertEqual([(self.project / name).read_text() for name in "abc"], ["old\n", "old\n", "n\n"])
        self.undo()
        self.assertFalse((self.project / "c").exists())
        self.undo("a")  # takes back the first undo
        self.assertEqual((self.project / "a").read_text(), "new\n")

    def test_paths_that_nothing_has_changed_are_errors(self):
        self.run_box("echo new >a")
        for words in (["--undo", "nosuch"], ["--diff", "nosuch"], ["--diff=stat", "nosuch"]):
            self.assertIn("'nosuch'", self.refused(*words, "--yes"))
        self.refused("--undo", "", "--yes", status=2)
        self.assertEqual((self.project / "a").read_text(), "new\n")

    def test_permissions_of_a_deleted_file_come_back(self):
        (self.project / "a").chmod(0o600)
        (self.project / "b").chmod(0o440)
        self.run_box("rm -f a b")
        self.undo()
        self.assertEqual([stat.S_IMODE((self.project / name).stat().st_mode) for name in "ab"], [0o600, 0o440])
        self.undo()
        self.undo()
        self.assertEqual([stat.S_IMODE((self.project / name).stat().st_mode) for name in "ab"], [0o600, 0o440])

    def test_the_difference_of_a_path_has_numbers_and_a_patch_with_binaries_applies(self):
        (self.project / "bin").write_bytes(bytes(range(256)))
        self.run_box("echo new >a; printf '\\000\\001' >bin; echo new >b")
        self.assertIn("1 file changed, 1 insertion, 1 deletion", self.claudebox("--diff=stat", "b").stdout)
        patch = self.home / "x.patch"
        with open(patch, "wb") as out:
            subprocess.run([CLAUDEBOX, "--diff"], cwd=self.project, env=self.env, stdout=out, check=True)
        subprocess.run(["git", "apply", "-R", patch], cwd=self.project, env=self.env, check=True)
        self.assertEqual(((self.project / "a").read_text(), (self.project / "bin").read_bytes()), ("old\n", bytes(range(256))))

    def test_ignored_files_are_not_deleted_when_the_session_stops_ignoring_them(self):
        self.repository(self.project)
        (self.project / ".gitignore").write_text("cache/\n")
        (self.project / "cache").mkdir()
        (self.project / "cache" / "mine").write_text("mine\n")
        time.sleep(0.05)
        self.run_box("rm .gitignore; echo theirs >cache/theirs")
        text = self.undo()
        self.assertIn("older than the session", text)
        self.assertEqual(((self.project / "cache" / "mine").read_text(), (self.project / ".gitignore").read_text()), ("mine\n", "cache/\n"))

    def test_it_asks_and_no_changes_nothing(self):
        self.run_box("echo new >a")
        done = self.claudebox("--undo")
        self.assertEqual(done.returncode, 125)
        self.assertIn("restore", done.stderr)
        self.assertEqual((self.project / "a").read_text(), "new\n")

    def test_dry_run_lists_and_changes_nothing(self):
        self.run_box("echo new >a; echo n >c")
        for words in (["--undo", "--dry-run"], ["--dry-run", "--undo"]):
            done = self.claudebox(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"(?s)restore +a\n.*delete +c\n")
        self.assertEqual((self.project / "a").read_text(), "new\n")
        self.refused("--undo", "--diff", status=2)

    def test_refused_while_a_box_runs(self):
        self.run_box("echo new >a")
        running = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "echo on; sleep 20"], cwd=self.project, env=self.env,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.assertEqual(running.stdout.readline(), "on\n")
            self.assertIn("a box of this project runs", self.refused("--undo", "--yes"))
        finally:
            running.terminate()
            running.communicate()
        self.assertEqual((self.project / "a").read_text(), "new\n")

    def test_a_session_without_changes_does_not_hide_the_one_before(self):
        self.run_box("echo new >a")
        self.run_box("true")
        self.undo()
        self.assertEqual((self.project / "a").read_text(), "old\n")

    def test_without_a_session(self):
        for option in ("--undo", "--diff"):
            self.assertIn("has changed a file", self.refused(option, "--yes"))

    def test_off_and_read_only(self):
        self.profile(undo="off")
        self.run_box("echo new >a")
        self.refused("--undo", "--yes")
        self.profile(project="read-only")
        self.run_box("true")
        self.assertFalse(list((self.home / ".claudebox/instances").glob("*/snapshots/*/sessions/*")))


class Projects(UndoTest):
    """Projects of every kind."""

    def test_nested_repositories_and_submodules(self):
        module = self.repository(self.home / "module")
        self.repository(self.project)
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", module, "sub")
        self.git("commit", "-qm", "sub")
        nested = self.repository(self.project / "nested" / "deep")
        (nested / "untracked").write_text("untracked\n")
        before = snapshot(self.project)
        self.run_box("echo x >sub/file.txt; rm nested/deep/untracked; echo y >nested/deep/file.txt; git init -q fresh; echo z >fresh/z")
        self.undo()
        self.assertEqual(before, snapshot(self.project))

    def test_sessions_are_those_of_the_worktree_and_of_the_subdirectory(self):
        self.repository(self.project)
        other = self.home / "other"
        self.git("worktree", "add", "-q", other)
        below = self.project / "sub"
        below.mkdir()
        (below / "s").write_text("old\n")
        for place, name in ((self.project, "file.txt"), (other, "file.txt"), (below, "s")):
            self.run_box(f"echo new >{name}", cwd=place)
        self.undo(cwd=other)
        self.assertEqual([(place / "file.txt").read_text() for place in (self.project, other)], ["new\n", "one\n"])
        self.undo(cwd=below)
        self.assertEqual((below / "s").read_text(), "old\n")
        self.undo()
        self.assertEqual((self.project / "file.txt").read_text(), "one\n")

    def test_autocrlf_filters_and_attributes_change_no_byte(self):
        self.repository(self.project)
        for key, value in (("core.autocrlf", "true"), ("core.eol", "crlf"), ("filter.up.clean", "tr a-z A-Z"), ("filter.up.smudge", "tr A-Z a-z")):
            self.git("config", key, value)
        (self.project / ".gitattributes").write_text("*.txt text\n*.up filter=up\n*.id ident\n*.w working-tree-encoding=UTF-16\n[attr]text filter=up\n")
        for name, data in (("c.txt", b"a\r\nb\r\n"), ("l.txt", b"a\nb\n"), ("f.up", b"Mixed Case\n"), ("i.id", b"$Id: x$\n"), ("u.w", "ä".encode("utf-16"))):
            (self.project / name).write_bytes(data)
        before = snapshot(self.project)
        self.run_box("rm c.txt l.txt f.up i.id u.w")
        self.undo()
        self.assertEqual(before, snapshot(self.project))

    def test_large_file_storage_keeps_content_and_pointers(self):
        self.repository(self.project)
        self.git("lfs", "install", "--local")
        (self.project / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
        (self.project / "big.bin").write_bytes(os.urandom(200000))
        self.git("add", "-A")
        self.git("commit", "-qm", "big")
        before = snapshot(self.project)
        self.run_box("echo small >big.bin")
        self.undo()
        self.assertEqual((before, self.git("status", "--short")), (snapshot(self.project), ""))

    def test_sparse_checkout(self):
        self.repository(self.project)
        for name in ("in", "out"):
            (self.project / name).mkdir()
            (self.project / name / "f").write_text(name)
        self.git("add", "-A")
        self.git("commit", "-qm", "dirs")
        self.git("sparse-checkout", "set", "in")
        before = snapshot(self.project)
        self.run_box("echo x >in/f; mkdir -p out; echo y >out/f")
        self.undo()
        self.assertEqual(before, snapshot(self.project))

    def test_names_that_differ_in_case(self):
        for name in ("readme", "README", "Readme"):
            (self.project / name).write_text(name)
        before = snapshot(self.project)
        self.run_box("echo x >readme; rm README; mv Readme rEADME")
        self.undo()
        self.assertEqual(before, snapshot(self.project))

    def test_files_that_git_tracks_although_it_ignores_them(self):
        self.repository(self.project)
        (self.project / ".gitignore").write_text("*.log\n")
        (self.project / "kept.log").write_text("old\n")
        self.git("add", "-f", "kept.log", ".gitignore")
        self.git("commit", "-qm", "log")
        self.run_box("echo new >kept.log")
        self.undo()
        self.assertEqual((self.project / "kept.log").read_text(), "old\n")

    def test_flags_in_the_index_hide_no_change(self):
        self.repository(self.project)
        self.git("update-index", "--assume-unchanged", "file.txt")
        self.run_box("echo new >file.txt")
        self.undo()
        self.assertEqual((self.project / "file.txt").read_text(), "one\n")

    def test_changes_that_keep_the_size_and_the_time_are_seen(self):
        for name in ("a", "d/b", "d/c"):
            (self.project / name).parent.mkdir(exist_ok=True)
            (self.project / name).write_text("old\n")
            os.utime(self.project / name, (1_600_000_000, 1_600_000_000))
        self.run_box("echo x >other")
        time.sleep(3.5)  # older than what claudebox leaves to git
        self.run_box("echo x >>other")
        before = snapshot(self.project)
        self.run_box("""for f in a d/b; do echo new >$f; touch -d @1600000000 $f; done""")
        self.undo()
        self.assertEqual(before, snapshot(self.project))

    def test_a_link_in_the_place_of_a_directory_to_the_same_files_is_seen(self):
        (self.project / "d").mkdir()
        (self.project / "d/b").write_text("old\n")
        (self.project / ".gitignore").write_text("/d\n/kept\n")
        self.repository(self.project)
        self.git("add", "-f", ".gitignore", "d/b")
        time.sleep(3.5)
        self.run_box("echo x >other")
        before = snapshot(self.project)
        self.run_box("mv d kept; ln -s kept d; echo x >>other")
        (self.project / "d").unlink()
        self.undo()
        self.assertEqual((self.project / "d/b").read_text(), "old\n")
        self.assertLessEqual(before.items(), snapshot(self.project).items())

    def test_a_repository_without_files_and_one_that_gets_some(self):
        for name in ("empty", "full"):
            self.repository(self.project / name)
        (self.project / "empty/file.txt").unlink()
        (self.project / "full/new").write_text("old\n")
        self.run_box("echo x >empty/new; echo y >full/new")
        self.undo()
        self.assertEqual((sorted(os.listdir(self.project / "empty")), (self.project / "full/new").read_text()), ([".git"], "old\n"))

    def test_ignored_files_on_request(self):
        self.repository(self.project)
        (self.project / ".gitignore").write_text("*.env\n")
        (self.project / "x.env").write_text("old\n")
        self.run_box("echo new >x.env")
        self.refused("--undo", "--yes")
        self.profile(undo_ignored=True)
        (self.project / "x.env").write_text("old\n")
        self.run_box("echo new >x.env")
        self.undo()
        self.assertEqual((self.project / "x.env").read_text(), "old\n")

    @unless(os.getuid() == 0)  # root can read every file
    def test_unreadable_files_are_named_and_the_rest_is_saved(self):
        (self.project / "a").write_text("old\n")
        (self.project / "secret").write_text("x")
        (self.project / "secret").chmod(0)
        self.run_box("echo new >a")
        self.assertRegex(" ".join(self.undo().split()), "1 path could not be saved, and is not restored: secret")
        self.assertEqual(json.loads(self.claudebox("--report=json").stdout)["not_saved_paths"], ["secret"])
        self.assertEqual((self.project / "a").read_text(), "old\n")

    def test_repositories_that_are_not_covered_are_named(self):
        for number in range(305):
            git = self.project / f"r{number:03}/.git"
            for name in ("objects", "refs"):
                (git / name).mkdir(parents=True)
            (git / "HEAD").write_text("ref: refs/heads/main\n")
            (git.parent / "f").write_text("old\n")
        self.run_box("echo new >r000/f; echo new >r304/f")
        text = " ".join(self.undo().split())
        self.assertRegex(text, "5 paths could not be saved, and are not restored: r300/, r301/, r302/, r303/, r304/")
        self.assertEqual([(self.project / name / "f").read_text() for name in ("r000", "r304")], ["old\n", "new\n"])


class Commits(UndoTest):
    def setUp(self):
        super().setUp()
        self.repository(self.project)
        self.git("branch", "other")

    def state(self):
        return (self.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags"), (self.project / ".git/HEAD").read_text(),
                self.git("status", "--short"), snapshot(self.project))

    def test_branches_tags_head_and_index_are_restored(self):
        (self.project / "staged").write_text("staged\n")
        self.git("add", "staged")
        before = self.state()
        self.run_box("git commit -qam agent; git checkout -qb new; echo 2 >file.txt; git commit -qam two; git tag t; git branch -D other; git reset -q --soft HEAD~1")
        after = self.state()
        tip = self.git("rev-parse", "new").strip()
        text = self.undo("--undo=commits")
        self.assertEqual(before, self.state(), text)
        kept = self.git("for-each-ref", "--format=%(objectname)", "refs/claudebox")
        self.assertIn(tip, kept)
        self.undo("--undo=commits")
        self.assertEqual(after, self.state())

    def test_files_first_and_commits_later(self):
        before = self.state()
        self.run_box("echo 2 >file.txt; git commit -qam two")
        self.assertIn("--undo=commits", self.undo())
        self.undo("--undo=commits")
        self.assertEqual(before, self.state())

    def test_a_branch_that_was_changed_since_is_left_with_everything(self):
        self.run_box("echo 2 >file.txt; git commit -qam two")
        self.git("commit", "-q", "--allow-empty", "-m", "mine")
        after = self.state()
        self.assertIn("was changed since", self.undo("--undo=commits", status=125))
        self.assertEqual(after, self.state())

    def test_a_link_among_the_references_is_not_followed(self):
        victim = self.home / "victim"
        victim.write_text("mine\n")
        for name in ("logs/HEAD", "logs", "refs/heads/x", "packed-refs"):
            self.run_box("echo 2 >>file.txt; git commit -qam two")
            link = self.project / ".git" / name
            kept = link.with_name(link.name + ".kept")
            if link.exists():
                link.rename(kept)
            link.symlink_to(victim)
            self.assertIn("is a link", self.undo("--undo=commits", status=125))
            self.assertEqual(victim.read_text(), "mine\n")
            link.unlink()
            if kept.exists():
                kept.rename(link)

    def test_no_hook_runs(self):
        self.run_box("echo 2 >file.txt; git commit -qam two")
        for name in ("reference-transaction", "post-checkout", "post-index-change"):
            hook = self.project / ".git/hooks" / name
            hook.write_text(f"#!/bin/sh\ntouch {self.home}/OWNED\n")
            hook.chmod(0o755)
        self.undo("--undo=commits")
        self.assertFalse((self.home / "OWNED").exists())
        self.assertEqual((self.project / "file.txt").read_text(), "one\n")

    def refuse(self, reason):
        """--undo=commits refuses with the reason, and changes nothing."""
        before = (self.state(), self.git("ls-files", "--stage"), self.git("for-each-ref"))
        self.assertIn(reason, self.undo("--undo=commits", status=125))
        self.assertEqual(before, (self.state(), self.git("ls-files", "--stage"), self.git("for-each-ref")))

    def test_a_later_head_is_left_with_everything(self):
        self.run_box("echo 2 >file.txt; git commit -qam two")
        self.git("checkout", "-q", "-f", "other")
        self.refuse("'HEAD' was changed since")

    def test_what_was_staged_later_is_left_with_everything(self):
        self.run_box("echo 2 >file.txt; git commit -qam two")
        (self.project / "mine").write_text("mine\n")
        self.git("add", "mine")
        self.refuse("something was staged since the end of the session")
        self.git("rm", "-q", "--cached", "mine")
        self.git("update-index", "--chmod=+x", "file.txt")
        self.refuse("something was staged since the end of the session")
        self.git("update-index", "--chmod=-x", "file.txt")
        # What git refreshes by itself does not count.
        os.utime(self.project / "file.txt", (1, 1))
        index = (self.project / ".git/index").read_bytes()
        self.git("status")
        self.assertNotEqual(index, (self.project / ".git/index").read_bytes())
        self.undo("--undo=commits")

    def test_an_index_lock_refuses_with_everything(self):
        self.run_box("echo 2 >file.txt; git commit -qam two; git checkout -qb new")
        lock = self.project / ".git/index.lock"
        lock.touch()
        before = self.git("for-each-ref"), (self.project / ".git/HEAD").read_text(), (self.project / "file.txt").read_text()
        self.assertIn("index.lock", self.undo("--undo=commits", status=125))
        self.assertEqual(before, (self.git("for-each-ref"), (self.project / ".git/HEAD").read_text(), (self.project / "file.txt").read_text()))
        self.assertTrue(lock.exists())

    def test_stashes_stay(self):
        (self.project / "file.txt").write_text("mine\n")
        self.git("stash")
        mine = self.git("rev-parse", "stash").strip()
        self.run_box("git stash pop -q; git commit -qam two; echo 3 >file.txt; git stash -q -m theirs")
        report = self.claudebox("--report").stdout
        self.assertIn("stash changed", report)
        self.assertNotIn("deleted reference", report)
        stashes = self.git("stash", "list")
        self.assertIn(f"git stash store {mine[:7]}", self.undo("--undo=commits"))
        self.assertEqual(stashes, self.git("stash", "list"))
        self.assertIn("theirs", stashes)
        self.assertEqual("first\n", self.git("log", "--format=%s"))

    def test_notes_come_back_and_branches_of_remotes_stay(self):
        self.git("notes", "add", "-m", "mine")
        self.git("update-ref", "refs/remotes/origin/main", "main")
        self.run_box("git notes append -m theirs; echo 2 >file.txt; git commit -qam two; git update-ref refs/remotes/origin/main main")
        remote = self.git("rev-parse", "origin/main")
        self.git("update-ref", "refs/remotes/origin/late", "main")  # as by git fetch
        self.undo("--undo=commits")
        self.assertEqual("mine\n", self.git("notes", "show"))
        self.assertEqual(remote, self.git("rev-parse", "origin/main"))

    def conflict(self):
        self.git("checkout", "-q", "other")
        (self.project / "file.txt").write_text("other\n")
        self.git("commit", "-qam", "other")
        self.git("checkout", "-q", "main")

    def test_no_operation_of_the_session_stays(self):
        """Otherwise the next commit is a merge that discards the other side."""
        self.conflict()
        before = self.state()
        for command, name in (("git merge other", "merge"), ("git cherry-pick other", "cherry-pick"), ("git rebase other", "rebase"),
                              ("git revert HEAD~1", "revert"), ("git bisect start HEAD HEAD~1", "bisect")):
            with self.subTest(command=command):
                self.run_box(f"echo 2 >file.txt; git commit -qam two; echo 3 >file.txt; git commit -qam three; {command}")
                text = self.undo("--undo=commits")
                self.assertRegex(text, rf"end +{name}")
                self.assertEqual(before, self.state())
                self.assertEqual([], [file.name for file in (self.project / ".git").iterdir() if file.name.startswith(("MERGE", "CHERRY", "REVERT", "BISECT", "rebase", "seq"))])
                self.assertNotRegex(self.git("status"), "in progress|bisecting|rebasing|All conflicts fixed")
                self.assertEqual("", self.git("for-each-ref", "refs/bisect"))

    def test_an_operation_of_the_user_refuses(self):
        self.conflict()
        self.run_box("echo 2 >file.txt; git commit -qam two")
        subprocess.run(["git", "merge", "-q", "other"], cwd=self.project, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.refuse("a merge was started or has gone on since")

    def test_an_operation_of_the_start_that_has_ended_refuses(self):
        self.conflict()
        (self.project / "file.txt").write_text("mine\n")
        self.git("commit", "-qam", "mine")
        subprocess.run(["git", "merge", "-q", "other"], cwd=self.project, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.run_box("echo both >file.txt; git commit -qam both")
        self.refuse("a merge was in progress at the start")

    def test_what_an_operation_stashed_is_kept(self):
        self.conflict()
        (self.project / "file.txt").write_text("mine\n")
        self.git("commit", "-qam", "mine")
        (self.project / "second").write_text("old\n")
        self.git("add", "second")
        self.git("commit", "-qm", "second")
        (self.project / "second").write_text("dirty\n")
        self.run_box("git rebase -q --autostash other")
        self.undo("--undo=commits")
        self.assertEqual("dirty\n", (self.project / "second").read_text())
        name = self.git("for-each-ref", "--format=%(refname)", "refs/claudebox/*/autostash-*", "refs/claudebox").split()
        stash = next(ref for ref in name if "autostash" in ref)
        self.assertEqual("dirty\n", self.git("show", f"{stash}:second"))

    def test_branches_of_other_worktrees_stay(self):
        self.run_box("git branch new; git branch gone; git branch -f other HEAD; echo 2 >file.txt; git commit -qam two; git branch -f other")
        self.git("worktree", "add", "-q", self.home / "tree", "new")
        self.git("worktree", "add", "-q", self.home / "tree2", "other")
        self.git("worktree", "add", "-q", self.home / "tree3", "gone")
        shutil.rmtree(self.home / "tree3")  # its branch is not checked out any more
        moved = self.git("rev-parse", "other")
        text = self.undo("--undo=commits")
        self.assertRegex(text, r"leave +branch new \(is checked out in another worktree\)")
        self.assertRegex(text, r"leave +branch other \(is checked out in another worktree\)")
        self.assertEqual(moved, self.git("rev-parse", "other"))
        self.assertEqual("first\n", self.git("log", "--format=%s", "main"))
        self.assertNotIn("gone", self.git("branch"))
        self.assertIn("## new", self.git("status", "-sb", cwd=self.home / "tree"))

    def test_head_is_not_set_to_the_branch_of_another_worktree(self):
        self.run_box("git checkout -qb new; echo 2 >file.txt; git commit -qam two")
        self.git("worktree", "add", "-q", self.home / "tree", "main")
        self.refuse("'refs/heads/main' is checked out in another worktree")

    def test_a_branch_in_the_place_of_a_directory_of_branches(self):
        self.git("branch", "a")
        before = self.state()
        self.run_box("git branch -D a; git branch a/b")
        after = self.state()
        self.undo("--undo=commits")
        self.assertEqual(before, self.state())
        self.undo("--undo=commits")
        self.assertEqual(after, self.state())

    def test_the_question_lists_branches_and_tags(self):
        self.git("tag", "v1")
        old = self.git("rev-parse", "--short=7", "HEAD").strip()
        self.run_box("git commit -q --allow-empty -m two; git branch -D other; git tag -d v1; git checkout -qb 'new,é'; git tag 'n\u202e'")
        asked = self.claudebox("--undo=commits").stderr
        self.assertRegex(asked, r"Take back the session of [^:]+:\d\d: 3 branches, 2 tags and HEAD")
        for row in (rf"restore +branch main to {old}", rf"recreate +branch other to {old}", rf"recreate +tag v1 to {old}", r"restore +HEAD to branch main",
                    r"delete +branch new\\,é", r"delete +tag n\\xe2\\x80\\xae"):
            self.assertRegex(asked, row)
        self.assertNotIn("0 files", asked)
        self.assertIn("Took back 3 branches, 2 tags and HEAD. The next claudebox --undo=commits takes back this undo.", self.undo("--undo=commits"))
        # An undo of files alone has nothing to do now, and says what can be done.
        text = self.undo(status=125)
        self.assertIn("claudebox --undo=commits takes back branches", text)
        self.assertIn("`claudebox --undo=commits` restores", text)

    def test_a_repository_that_is_gone(self):
        for harm in ("rm -rf .git", "rm -rf .git/objects .git/refs"):
            with self.subTest(harm=harm):
                self.run_box(f"echo 2 >file.txt; {harm} 2>/dev/null; find .git -type f -delete 2>/dev/null; true")
                report = self.claudebox("--report").stdout
                self.assertIn("the git repository was removed or damaged", report)
                self.assertNotIn("deleted", report)
                self.assertTrue(json.loads(self.claudebox("--report=json").stdout)["repository_lost"])
                self.assertIn("removed or damaged", self.undo("--undo=commits", status=125) + "")
                text = self.undo()
                self.assertNotIn("restores them too", text)
                self.assertIn("cannot be restored: the git repository was removed or damaged", text)
                self.assertEqual("one\n", (self.project / "file.txt").read_text())
                shutil.rmtree(self.project / ".git", ignore_errors=True)
                self.repository(self.project)

    def test_commits_that_are_gone(self):
        self.run_box("rm -rf .git; git init -q -b main; echo 2 >file.txt; git add -A; git -c user.name=x -c user.email=x@y commit -qm new")
        self.refuse("is not in the repository any more")
        text = self.undo()
        self.assertNotIn("restores them too", text)

    def test_the_report_names_lost_commits_first(self):
        self.git("commit", "-q", "--allow-empty", "-m", "two")
        self.git("branch", "-f", "other")
        self.git("branch", "gone")
        old = self.git("rev-parse", "HEAD").strip()
        self.run_box("git checkout -q other; git commit -q --allow-empty -m a; git commit -q --allow-empty -m b; git branch -D gone; "
                     "git branch add; git checkout -q main; git reset -q --hard HEAD~1; git commit -q --allow-empty -m c")
        line = self.claudebox("--report").stdout.splitlines()[0]
        self.assertRegex(line, rf"branch main lost 1 commit \(was {old[:7]}\), deleted branch gone \(was {old[:7]}\), ")
        self.assertIn("branch other moved (2 new commits)", line)
        self.assertIn("new branch add", line)
        rows = {row["name"]: row for row in json.loads(self.claudebox("--report=json").stdout)["references"]}
        self.assertEqual(rows["refs/heads/main"], {"name": "refs/heads/main", "change": "moved", "before": old, "new_commits": 1, "lost_commits": 1,
                                                   "after": self.git("rev-parse", "main").strip()})
        self.assertEqual((rows["refs/heads/gone"]["after"], rows["refs/heads/add"]["before"]), (None, None))

    def test_the_reflog_says_who_it_was(self):
        self.run_box("echo 2 >file.txt; git commit -qam two; git checkout -q --detach; git commit -q --allow-empty -m three; git checkout -qb new")
        self.undo("--undo=commits")
        for name in ("HEAD", "main"):
            self.assertEqual("claudebox --undo", self.git("reflog", "-1", "--format=%gs", name).strip(), name)


class OnScreen(UndoTest, OnTerminal):
    def test_a_patch_has_no_escape_sequences(self):
        (self.project / "a").write_text("old\n")
        self.run_box(r"printf '\033]0;evil\007\033[2J\r\n' >a")
        terminal = self.open(CLAUDEBOX, "--diff", env={"PAGER": "cat", "NO_COLOR": "1"})
        terminal.expect("x1b]0;evil")
        self.assertNotIn(b"\x1b", terminal.output)

    def test_the_question(self):
        (self.project / "a").write_text("old\n")
        self.run_box("echo new >a")
        terminal = self.open(CLAUDEBOX, "--undo")
        terminal.expect("Take this back?")
        terminal.send("y\n")
        terminal.expect("Took back 1 file")
        self.assertEqual((self.project / "a").read_text(), "old\n")


class Hostile(UndoTest):
    def test_links_that_lead_out_by_way_of_others_are_ranked(self):
        (self.project / ".gitignore").write_text("build/\n")
        (self.project / "data").symlink_to(self.home)
        self.repository(self.project)
        self.run_box("mkdir build; ln -s $HOME build/out; ln -s build/out/.bashrc one; ln -s data/.bashrc two; ln -s .gitignore inside")
        rows = {row["path"]: row for row in json.loads(self.claudebox("--report=json").stdout)["executed"]["list"]}
        self.assertEqual(sorted(rows), ["one", "two"])
        self.assertIn("leads out of the project", rows["one"]["why"])

    def test_an_end_that_takes_too_long_is_not_called_without_changes(self):
        script = ('open(".gitignore", "w").write("\\n".join("**/" * 50 + "a" * 40 + "b%d" % i for i in range(300)).replace("a", "a*"))\n'
                  'for i in range(300): open("a" * 200 + str(i), "w").close()')
        done = self.claudebox("--yes", "--exec", "python3", "-c", script)
        self.assertRegex(done.stderr, "undo: .*(in time|git)")
        self.assertFalse(json.loads(self.claudebox("--report=json").stdout)["saved"])
        self.assertNotIn("changed nothing", self.claudebox("--report").stdout)

    """A repository that executes on every occasion: nothing of it runs, before, during and after."""

    def arm(self):
        owned = f"touch {self.home}/OWNED; cat"
        for key in ("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.textconv", "diff.x.command", "diff.external",
                    "core.pager", "pager.diff", "pager.log", "core.editor", "core.sshCommand", "merge.x.driver", "gpg.program", "core.alternateRefsCommand",
                    "uploadpack.packObjectsHook", "credential.helper", "alias.diff-tree"):
            self.git("config", key, ("!" if key.startswith("alias") else "") + owned)
        self.git("config", "log.showSignature", "true")
        (self.project / ".gitattributes").write_text("* filter=x diff=x merge=x ident working-tree-encoding=UTF-16\n")
        (self.project / ".git/info").mkdir(exist_ok=True)
        (self.project / ".git/info/attributes").write_text("* filter=x diff=x\n")
        for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-commit", "fsmonitor-watchman"):
            hook = self.project / ".git/hooks" / name
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(f"#!/bin/sh\n{owned}\n")
            hook.chmod(0o755)
        nested = self.project / "nested"
        nested.mkdir(exist_ok=True)
        self.git("init", "-q", nested)
        self.git("config", "core.fsmonitor", owned, cwd=nested)

    def check_nothing_ran(self):
        self.assertFalse((self.home / "OWNED").exists())

    def test_before_and_after(self):
        self.repository(self.project)
        (self.project / "data").write_text("old\n")
        self.arm()
        (self.home / "OWNED").unlink(missing_ok=True)
        before = snapshot(self.project)
        self.run_box("echo new >data; echo n >nested/n")
        for arguments in (["--diff"], ["--diff=stat"], ["--diff", "data"], ["--report"], ["--undo", "--yes"], ["--undo=commits", "--yes"]):
            self.claudebox(*arguments, env={"PAGER": "cat"})
            self.check_nothing_ran()
        self.assertEqual(before, snapshot(self.project))

    def test_made_hostile_meanwhile(self):
        self.repository(self.project)
        self.run_box("echo new >file.txt")
        self.arm()
        (self.home / "OWNED").unlink(missing_ok=True)
        self.claudebox("--diff")
        self.undo("--undo=commits")
        self.check_nothing_ran()
        self.assertEqual((self.project / "file.txt").read_text(), "one\n")

    def test_the_box_cannot_reach_the_snapshots(self):
        (self.project / "a").write_text("old\n")
        self.run_box("echo new >a")
        self.assertEqual(self.box('ls "$1" 2>&1 | head -1', str(self.store())).strip().endswith("No such file or directory"), True)


class Kills(UndoTest):
    """SIGKILL at any moment loses nothing."""

    def test_during_the_session(self):
        (self.project / "a").write_text("old\n")
        before = snapshot(self.project)
        for delay in [0.0, 0.01, 0.02, 0.04, 0.3] * STRESS:
            process = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "echo new >a; echo n >n; sleep 5"], cwd=self.project, env=self.env,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.assertTrue(until(lambda: not self.locked()), "a process is left")
            if snapshot(self.project) == before:
                continue
            self.assertIn("was killed", self.undo())
            self.assertEqual(before, snapshot(self.project))

    def locked(self):
        return any(subprocess.run(["flock", "-n", path, "true"], check=False).returncode
                   for path in (self.home / ".claudebox").glob("instances/*/instance.lock"))

    def kill_undo(self, option, first, r):
        """Kills an undo when it has taken the first file away, or at any moment."""
        with subprocess.Popen([CLAUDEBOX, option, "--yes"], cwd=self.project, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            end = time.monotonic() + (10 if first else r.random() * 0.15)
            while process.poll() is None and time.monotonic() < end and (not first or os.path.lexists(self.project / first)):
                time.sleep(0.0003)
            process.send_signal(signal.SIGKILL)
            process.communicate()  # until its children have ended too

    def test_during_the_undo(self):
        for i in range(300):
            (self.project / f"f{i}").write_text(f"old {i}\n" * 50)
        before = snapshot(self.project)
        self.run_box("for i in $(seq 0 299); do [ $((i % 3)) = 0 ] && rm f$i || echo new >f$i; done; mkdir d; for i in $(seq 0 99); do echo n >d/n$i; done")
        after = snapshot(self.project)
        contents = set(before.values()) | set(after.values())
        r = random.Random(os.environ.get("KILLS_SEED", "1"))
        interrupted = 0
        for i in range(12 * STRESS):
            self.kill_undo("--undo", "f1" if i % 2 else None, r)
            now = snapshot(self.project)
            interrupted += now not in (before, after)
            self.assertTrue(set(now.values()) <= contents)
            # The next command completes it, or it never began.
            done = self.claudebox("--undo", "--yes")
            self.assertEqual(done.returncode, 0, done.stderr)
            now = snapshot(self.project)
            self.assertTrue(now in (before, after), "files are between two states: " + done.stdout + done.stderr)
            self.assertFalse((self.project / ".claudebox-undo").exists())
            self.assertFalse((self.store() / "undo").exists())
        self.assertTrue(interrupted)

    def forget_record(self, **journal):
        """Puts back the journal of the last undo, as if it was killed before its record was complete."""
        last = self.sessions()[-1]
        record = json.loads((last / "record.json").read_text())
        (last / "record.json").unlink()
        journal = {"id": last.name, "of": record["of"], "now": record["before"], "undecided": False, "steps": []} | journal
        (self.store() / "undo.json").write_text(json.dumps(journal))

    def test_between_the_last_file_and_the_record(self):
        (self.project / "a").write_text("old\n")
        self.run_box("echo new >a")
        self.undo()
        self.forget_record()
        (self.project / "b").write_text("of the user\n")
        self.assertIn("An undo was interrupted", self.claudebox("--undo", "--dry-run").stdout)
        self.assertTrue((self.store() / "undo.json").exists())
        text = self.undo()
        self.assertIn("completed the undo", text)
        self.assertEqual((self.project / "a").read_text(), "old\n")  # and is not taken back
        text = self.undo()
        self.assertRegex(text, r"delete +b\n(.*\n)*claudebox was killed in this undo")  # the end is not known: the list says it
        self.assertEqual((self.project / "a").read_text(), "new\n")
        self.undo()
        self.assertEqual((self.project / "b").read_text(), "of the user\n")
        self.assertFalse((self.store() / "undo.json").exists())

    def test_after_the_record(self):
        (self.project / "a").write_text("old\n")
        self.run_box("echo new >a")
        self.undo()
        last = self.sessions()[-1]
        (self.store() / "undo.json").write_text(json.dumps({"id": last.name, "of": "x", "now": "y", "steps": []}))
        self.assertNotIn("completed", self.undo())
        self.assertEqual((self.project / "a").read_text(), "new\n")
        self.assertFalse((self.store() / "undo.json").exists())

    def test_while_references_change(self):
        """Branches that an undo has changed without its files are put back; the user's own changes since then stay."""
        self.repository(self.project)
        self.git("branch", "other")
        self.run_box("git commit -q --allow-empty -m two; git branch -D other; git branch new; git branch mine")
        heads = self.git("for-each-ref", "refs/heads")
        self.claudebox("--undo=commits", "--yes")
        self.assertNotEqual(self.git("for-each-ref", "refs/heads"), heads)
        self.forget_record(undecided=True)
        stage = self.store() / "undo"
        stage.mkdir()
        (stage / "0.new").write_text("x")
        self.git("branch", "of-the-user", "main")
        self.assertIn("An undo was interrupted", self.claudebox("--undo=commits", "--dry-run").stdout)
        self.assertIn("rolled back", self.claudebox("--undo=commits").stderr)  # without an answer it does no more
        self.git("branch", "-D", "of-the-user")
        self.assertEqual(self.git("for-each-ref", "refs/heads"), heads)
        self.assertFalse(stage.exists() or (self.store() / "undo.json").exists())

    def test_an_interrupt_rolls_the_undo_back_or_comes_too_late(self):
        for i in range(1500):
            (self.project / f"f{i}").write_text(f"old {i}\n")
        trees = [snapshot(self.project)]
        self.run_box("for i in $(seq 0 1499); do echo new >f$i; done")
        trees.append(snapshot(self.project))
        journal = self.store() / "undo.json"
        rolled_back = 0
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGINT] * STRESS:
            now = snapshot(self.project)
            process = subprocess.Popen([CLAUDEBOX, "--undo", "--yes"], cwd=self.project, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       text=True, start_new_session=True)
            end = time.monotonic() + 5
            while not journal.exists() and process.poll() is None and time.monotonic() < end:
                pass
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)  # as a terminal does
            text = process.communicate()[0]
            later = snapshot(self.project)
            self.assertTrue(later in trees, "files are between two states: " + text)
            self.assertFalse((self.store() / "undo").exists() or journal.exists())
            if later == now:
                self.assertRegex(text, r"the undo was interrupted\n(.*\n)*.*nothing was changed")
                self.assertIn("claudebox --undo again", text)
                self.assertEqual(process.returncode, 125)
                rolled_back += 1
            else:
                self.assertEqual(process.returncode, 0, text)
        self.assertTrue(rolled_back)

    def test_during_the_undo_of_commits(self):
        self.repository(self.project)
        self.git("branch", "other")
        for i in range(1500):
            (self.project / f"f{i}").write_text(f"old {i}\n")
        heads, trees = [self.git("for-each-ref", "refs/heads")], [snapshot(self.project)]
        self.run_box("for i in $(seq 0 1499); do echo new >f$i; done; git commit -qam two; git branch -D other; git branch new")
        heads.append(self.git("for-each-ref", "refs/heads"))
        trees.append(snapshot(self.project))
        r = random.Random(os.environ.get("KILLS_SEED", "1"))
        interrupted = 0
        for i in range(12 * STRESS):
            self.kill_undo("--undo=commits", "f0" if i < 6 * STRESS else None, r)
            interrupted += snapshot(self.project) not in trees
            for name in (self.project / ".git").rglob("*.lock"):  # as the message of git says
                name.unlink()
            self.claudebox("--undo=commits", "--yes")
            self.assertIn(self.git("for-each-ref", "refs/heads"), heads)
            self.assertTrue(snapshot(self.project) in trees, "files are between two states")
        self.assertTrue(interrupted)

    @unless(os.getuid())  # needs a file system of its own
    def test_a_full_disk_changes_nothing(self):
        disk = self.home / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=False)
        project = disk / "project"
        project.mkdir()
        for i in range(8):
            (project / f"f{i}").write_bytes(os.urandom(500000))
        self.run_box("for i in 0 1 2 3 4 5 6 7; do echo x >f$i; done", cwd=project)
        (disk / "filler").write_bytes(b"\0" * 5000000)
        after = snapshot(project)
        done = self.claudebox("--undo", "--yes", cwd=project)
        self.assertEqual(done.returncode, 125, done.stdout)
        self.assertIn("No space left", done.stderr)
        self.assertIn("nothing was changed", done.stderr)
        self.assertEqual(after, snapshot(project))
        self.assertFalse((project / ".claudebox-undo").exists())


class Kept(UndoTest):
    def test_ten_sessions_are_kept(self):
        for i in range(13):
            self.run_box(f"echo {i} >a")
        self.assertEqual(len(self.sessions()), 10)
        refs = list((self.store() / "refs/sessions").iterdir())
        self.assertEqual(len(refs), 20)
        self.undo()
        self.assertEqual((self.project / "a").read_text(), "11\n")

    def packs(self):
        return sum(path.stat().st_size for path in (self.store() / "objects/pack").glob("*.pack"))

    def test_old_sessions_go_when_the_snapshots_are_large(self):
        self.profile(limits={"snapshots": "2M"})
        (self.project / "a").write_text("0\n")
        error = ""
        for i in range(6):
            error += self.run_box(f"echo {i} >a; head -c 500000 /dev/urandom >b")
        self.assertRegex(error, r"undo: removed the snapshots of [1-9] old sessions?: those of this project had more than 2\.\d MB")
        self.assertLess(self.packs(), 2 << 20)
        self.assertLess(len(self.sessions()), 6)
        self.assertEqual(subprocess.run(["git", "--git-dir", self.store(), "fsck", "--no-dangling"], capture_output=True, text=True, check=True,
                                        cwd=self.project).stdout, "")
        content = (self.project / "b").read_bytes()
        self.undo()
        self.assertEqual((self.project / "a").read_text(), "4\n")
        self.undo()
        self.assertEqual((self.project / "b").read_bytes(), content)

    def test_nothing_goes_while_a_box_runs(self):
        self.profile(limits={"snapshots": "1M"})
        (self.project / "a").write_bytes(os.urandom(400000))
        before = (self.project / "a").read_bytes()
        with subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "until [ -e end ]; do sleep 0.1; done; rm a end"], cwd=self.project,
                              env=self.env, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as other:
            self.assertTrue(until(lambda: list(self.home.glob(".claudebox/instances/*/snapshots/*/sessions/*/before"))))
            for i in range(4):
                self.assertNotIn("removed", self.run_box("head -c 500000 /dev/urandom >a"))
            (self.project / "a").write_bytes(before)
            (self.project / "end").write_text("")
            self.assertEqual(other.wait(20), 0)
        self.assertGreater(self.packs(), 400000)
        self.undo()
        self.assertEqual((self.project / "a").read_bytes(), before)

    def test_each_worktree_has_its_last_report(self):
        self.run_box("echo 1 >a; echo 'all:' >Makefile")
        report = json.loads(self.claudebox("--report=json").stdout)
        self.assertEqual((report["files"]["count"], [row["path"] for row in report["executed"]["list"]]), (2, ["Makefile"]))
        self.assertIn("make runs its commands", self.claudebox("--report").stdout)


