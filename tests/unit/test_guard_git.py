# SPDX-License-Identifier: MIT
"""The guard and the real git read the same index and the same configuration."""
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

GUARD = os.path.join(os.environ["STAGE"], "guard-pure")
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
               "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
LONG = "/".join(["directory" * 20] * 24) + "/end"  # longer than the 12 bits of the flags can say


class GitTest(unittest.TestCase):
    def setUp(self):
        if not shutil.which("git"):
            self.skipTest("git is missing")
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)

    def git(self, *arguments, **options):
        return subprocess.run(["git", "-C", self.directory, *arguments], env=ENVIRONMENT, check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, **options).stdout

    def guard(self, *arguments):
        return subprocess.run([GUARD, *arguments], check=True, stdout=subprocess.PIPE).stdout


class Index(GitTest):
    def init(self, *options):
        self.git("init", "-q", *options)
        self.size = "32" if "--object-format=sha256" in options else "20"
        self.index = self.directory / ".git/index"
        self.blob = self.git("hash-object", "-w", "--stdin", input=b"x").decode().strip()

    def add(self, *entries):
        """Adds entries MODE PATH to the index."""
        lines = "".join(f"{mode} {self.blob}\t{path}\0" for mode, path in entries)
        self.git("update-index", "-z", "--index-info", input=lines.encode())

    def listed(self, *options):
        """Returns what git reads: (mode, path)."""
        rows = self.git("ls-files", "-s", "-z", *options).split(b"\0")[:-1]
        return [(row.split(b" ")[0].decode(), row.split(b"\t", 1)[1]) for row in rows]

    def read(self):
        """Returns what the guard reads: (mode, path), or the text of the result."""
        output = self.guard("index", self.index, self.size)
        if not output.endswith(b"\0"):
            return output.decode()
        return [(row.split(b" ")[0].decode(), row.split(b" ", 2)[2]) for row in output.split(b"\0")[:-1]]

    def add_all(self):
        self.add(("100644", "A"), ("100755", "a/b.sh"), ("120000", "link"), ("160000", "sub/module"), ("160000", "x" * 40), ("100644", "é ü\n\t"),
                 ("100644", LONG), ("100644", LONG + "2"), *(("100644", f"many/{i % 7}/{'n' * (i % 9)}{i}") for i in range(300)))
        for i in range(0, 300, 50):
            self.git("update-index", "--skip-worktree", f"many/{i % 7}/{'n' * (i % 9)}{i}")

    def test_every_version_and_hash(self):
        for version in "2", "3", "4":
            for options in (), ("--object-format=sha256",):
                with self.subTest(version, options=options):
                    shutil.rmtree(self.directory / ".git", ignore_errors=True)
                    self.init(*options)
                    self.add_all()
                    self.git("update-index", "--index-version", version)
                    # Without extended flags, git writes version 2 in place of 3.
                    self.assertEqual(self.index.read_bytes()[7], 4 if version == "4" else 3)
                    listed = self.listed()
                    self.assertIn(("160000", b"sub/module"), listed)
                    self.assertEqual(len(listed), 308)
                    self.assertEqual(self.read(), listed)

    def test_version_2(self):
        self.init()
        self.add(("100644", "a"), ("160000", "b"))
        self.assertEqual(self.index.read_bytes()[7], 2)
        self.assertEqual(self.read(), self.listed())

    def test_stages_of_a_conflict(self):
        self.init()
        lines = "".join(f"100644 {self.blob} {stage}\tconflict\0" for stage in (1, 2, 3))
        self.git("update-index", "-z", "--index-info", input=lines.encode())
        self.assertEqual(self.read(), [("100644", b"conflict")] * 3)

    def test_ids(self):
        for options in (), ("--object-format=sha256",):
            with self.subTest(options):
                shutil.rmtree(self.directory / ".git", ignore_errors=True)
                self.init(*options)
                for name in "a", "b", "c" * 300:
                    (self.directory / name[:9]).write_text(name)
                self.git("add", ".")
                for version in "2", "4":
                    self.git("update-index", "--index-version", version)
                    rows = [re.sub(rb" 0\t", b" ", row) for row in self.git("ls-files", "-s", "-z").split(b"\0")[:-1]]
                    self.assertEqual(len(rows), 3)
                    self.assertEqual(self.guard("index", self.index, self.size).split(b"\0")[:-1], rows)

    def test_an_empty_index(self):
        self.init()
        self.git("read-tree", "--empty")
        self.assertEqual(self.read(), "")

    def test_a_sparse_index_has_directories(self):
        self.init()
        for name in "in/a", "out/b", "out/deep/c", "top":
            (self.directory / name).parent.mkdir(parents=True, exist_ok=True)
            (self.directory / name).write_text("x")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "x")
        self.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
        self.assertEqual(self.read(), self.listed("--sparse"))
        self.assertIn(("040000", b"out/"), self.read())

    def test_a_split_index_is_reported(self):
        self.init()
        self.add_all()
        self.git("update-index", "--split-index")
        self.assertEqual(self.read(), "split")
        # Names of replaced entries are empty in it.
        before = self.index.stat().st_size
        self.add(("100644", "a/b.sh"), ("100755", "many/1/n1"))
        self.assertGreater(self.index.stat().st_size, before)
        self.assertEqual(self.read(), "split")

    def test_extensions(self):
        self.init()
        self.add_all()
        for setting in "index.threads=4", "index.recordOffsetTable=true", "index.recordEndOfIndexEntries=true", "core.untrackedCache=true":
            self.git("config", *setting.split("="))
        self.add(*(("100644", f"large/{i}") for i in range(12000)))
        for version in "2", "4":
            self.git("update-index", "--index-version", version)
            self.git("update-index", "--untracked-cache")
            self.git("update-index", "--force-write-index")
            self.assertIn(b"IEOT", self.index.read_bytes())
            self.assertIn(b"EOIE", self.index.read_bytes())
            self.assertEqual(self.read(), self.listed())

    def test_threads_of_git_cannot_be_shown_other_entries(self):
        """IEOT says where the threads of git begin to read: a table that skips an entry is damage."""
        self.test_extensions()
        good = self.index.read_bytes()
        rows = good.index(b"IEOT") + 12
        offset, count = struct.unpack(">2I", good[rows:rows + 8])
        for row in (offset + 8, count), (offset, count - 1), (offset, 0), (offset, count + 1), (0xffffffff, count):
            with self.subTest(row):
                self.index.write_bytes(good[:rows] + struct.pack(">2I", *row) + good[rows + 8:])
                self.assertEqual(self.read(), "damaged")
        eoie = good.rindex(b"EOIE") + 8
        self.index.write_bytes(good[:eoie] + struct.pack(">I", struct.unpack(">I", good[eoie:eoie + 4])[0] + 8) + good[eoie + 4:])
        self.assertEqual(self.read(), "damaged")

    def test_a_block_shares_no_path_with_the_block_before_it(self):
        """A thread of git reads the first path of its block in version 4 without the path before it."""
        self.init()
        stat = struct.pack(">10I", 0, 0, 0, 0, 0, 0, 0o100644, 0, 0, 0) + b"\x11" * 20
        first = stat + b"\0\5" + b"\0dir/a\0"
        for second, expected in ((b"\5dir/b\0", [("100644", b"dir/a"), ("100644", b"dir/b")]), (b"\1b\0", "damaged")):
            head = b"DIRC" + struct.pack(">2I", 4, 2) + first
            blocks = b"IEOT" + struct.pack(">6I", 20, 1, 12, 1, len(head), 1)
            self.index.write_bytes(head + stat + b"\0\5" + second + blocks + b"\0" * 20)
            self.assertEqual(self.read(), expected)

    def test_damage(self):
        self.init()
        self.add(("100644", "file"), ("160000", "link"))
        good = self.index.read_bytes()
        self.assertEqual(self.read(), [("100644", b"file"), ("160000", b"link")])
        flags = 12 + 40 + 20
        for name, bad in {
            "cut": good[:-21], "short": good[:11], "nothing": b"", "signature": b"X" + good[1:], "version 1": good[:7] + b"\1" + good[8:],
            "version 5": good[:7] + b"\5" + good[8:], "one entry more": good[:11] + b"\3" + good[12:], "many entries": good[:8] + b"\xff" * 4 + good[12:],
            "one entry less": good[:11] + b"\1" + good[12:],
            "a shorter length": good[:flags + 1] + b"\3" + good[flags + 2:], "a longer length": good[:flags + 1] + b"\5" + good[flags + 2:],
            "a length of 4095": good[:flags] + b"\x0f\xff" + good[flags + 2:],
            "no NUL": good[:flags + 2] + b"a" * (len(good) - flags - 2),
            "an unknown extension that matters": good[:-20] + b"what\0\0\0\0" + good[-20:],
            "an extension beyond the end": good[:-20] + b"TREE\0\0\0\1" + good[-20:],
            "bytes behind the extensions": good[:-20] + b"abc" + good[-20:],
        }.items():
            with self.subTest(name):
                self.index.write_bytes(bad)
                self.assertEqual(self.read(), "damaged")
        self.index.write_bytes(good[:-20] + b"WHAT\0\0\0\0" + good[-20:])
        self.assertEqual(len(self.read()), 2)

    def test_no_cut_is_read(self):
        self.init()
        self.add_all()
        self.git("update-index", "--index-version", "4")
        good = self.index.read_bytes()
        for length in range(0, len(good), 97):
            self.index.write_bytes(good[:length])
            self.assertEqual(self.read(), "damaged")


# Pieces of configuration files. Each but the last ones ends a line; all of them together can be read.
HEADERS = ["[a]\n", "[A]\r\n", "[a.B]\n", '[a "b"]\n', '[a "B"] # comment\n', '[r "q\\"u\\\\o"]\n', '[r "x]y"] ; c\n', '[r "k=v"]\n', '[r "é.ü"]\n',
           '[r "#;"]\n', "  [a]  ", "[a][c]\n", '[r ""]\n', "[c] k = on the line\n", "[c]k2\n", "[a.]\n", "[.a]\n"]
ENTRIES = ["k = v\n", "k=w # comment\n", "\tK = \" x \" ; c\r\n", "k\n", "k2 =\n", 'k2 = ""\n', "k3 = one \\\n two # c\n", 'k3 = "a # b" c\n', "k4 = \\\"q\\\\ \\t\\n\\b\n",
           "k5 = é=] [x]\n", "multi = 1\n", "multi = 2\n", "multi\n", "\r\tk6 = v\n", "k7-x=y\n", "k8 = a\\\r\nb\n"]
OTHERS = ["# comment\n", "; [a] k = no\n", "\n", " \t\n", "\r\n", "#\\\n"]
ENDS = ["", "k9 = end", "[a]", "# end", '[r "new"] k = v', "k9", "k9 = x\\\n", "k9 = x\\\r\n"]


class Config(GitTest):
    def write(self, name, text):
        (self.directory / name).write_bytes(text.encode())
        return self.directory / name

    def read(self, path):
        """Returns the values of each name that git reads."""
        values = {}
        for row in self.git("config", "--file", path, "--list", "-z").split(b"\0")[:-1]:
            name, *value = row.split(b"\n", 1)
            values.setdefault(name, []).append(value[0] if value else None)
        return values

    def edit(self, text, before, after):
        """Returns what git reads after the edit, and the text."""
        texts = [self.write(name, content) for name, content in (("text", text), ("before", before), ("after", after))]
        result = self.guard("edit", *texts).decode()
        return self.read(self.write("result", result)), result

    def random_text(self, dice):
        parts = ["\ufeff"] if dice.random() < 0.1 else []
        parts += [dice.choice(ENTRIES)] if dice.random() < 0.1 else []
        for _ in range(dice.randrange(4)):
            parts.append(dice.choice(HEADERS))
            parts += [dice.choice(dice.choice((ENTRIES, ENTRIES, OTHERS))) for _ in range(dice.randrange(5))]
        return "".join(parts) + dice.choice(ENDS)

    def test_git_reads_the_edited_text_like_the_other_one(self):
        dice = random.Random(16)
        for _ in range(150 * max(1, int(os.environ.get("STRESS") or 1))):
            text, other = self.random_text(dice), self.random_text(dice)
            with self.subTest(text, other=other):
                values, result = self.edit(text, text, other)
                self.assertEqual(values, self.read(self.directory / "after"), result)

    def test_a_third_text_gets_the_changes_alone(self):
        dice = random.Random(17)
        for _ in range(60):
            host, before, after = (self.random_text(dice) for _ in range(3))
            with self.subTest(host, before=before, after=after):
                values, result = self.edit(host, before, after)
                old, new = self.read(self.directory / "before"), self.read(self.directory / "after")
                expected = {name: value for name, value in self.read(self.directory / "text").items() if old.get(name) == new.get(name)}
                expected.update({name: value for name, value in new.items() if old.get(name) != value})
                self.assertEqual(values, expected, result)

    def test_no_change_changes_no_byte(self):
        dice = random.Random(18)
        for _ in range(60):
            text = self.random_text(dice)
            self.assertEqual(self.edit(text, text, text)[1], text)

    def test_commands_of_git(self):
        """The changes of a command in one repository give the same configuration in another one."""
        self.git("init", "-q", "-b", "main")
        config = self.directory / ".git/config"
        for command in ("remote add origin https://example.org/x.git", "remote add --tags -m main -t a -t b up git@example.org:y", "config branch.main.remote origin",
                        "config branch.main.merge refs/heads/main", "remote rename origin other", "config --add remote.up.fetch +refs/x:refs/y",
                        "config user.name A\"B", "config branch.a#b.merge x", "remote remove up", "config --unset branch.main.merge",
                        "config --rename-section branch.main branch.x.y", "config --remove-section user"):
            before = config.read_bytes().decode()
            self.git(*command.split())
            after = config.read_bytes().decode()
            values, result = self.edit(before, before, after)
            self.assertEqual(values, self.read(config), command)
            self.assertEqual(len(result.splitlines()), len(after.splitlines()), f"{command}\n{result}")
