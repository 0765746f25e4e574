# SPDX-License-Identifier: MIT
"""A box leaves no set-id file behind, and the programs that ask for one still work where they can."""
import os
import stat
import subprocess
import unittest

from lib.box import BoxTest

AS_ROOT = True

# Tries every way to create a set-id file in the working directory and prints each result.
WAYS = r"""
import ctypes, errno, os, stat, struct
libc = ctypes.CDLL(None, use_errno=True)
def raw(*arguments):
    if libc.syscall(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "")
def plain(name):
    open(name, "w").close()
    return name
def descriptor(mode):
    with open("descriptor", "w") as file:
        os.fchmod(file.fileno(), mode)
def unnamed(mode):
    fd = os.open(".", os.O_RDWR | os.O_TMPFILE, mode)
    os.link(f"/proc/self/fd/{fd}", "unnamed", follow_symlinks=True)
def structure(mode):
    raw(437, -100, b"structure", struct.pack("QQQ", os.O_CREAT | os.O_RDWR, mode, 0), 24)
def pipe(mode):
    os.mkfifo(f"pipe{mode}")
    os.chmod(f"pipe{mode}", mode)
WAYS = {
    "chmod": lambda mode: os.chmod(plain("chmod"), mode),
    "fchmod": descriptor,
    "fchmodat": lambda mode: os.chmod(plain("at"), mode, dir_fd=os.open(".", os.O_RDONLY)),
    "fchmodat2": lambda mode: raw(452, -100, plain("new").encode(), mode, 0),
    "open": lambda mode: os.close(os.open("open", os.O_CREAT | os.O_WRONLY, mode)),
    "open-directory": lambda mode: os.close(os.open("opened", os.O_CREAT | os.O_WRONLY, mode, dir_fd=os.open(".", os.O_RDONLY))),
    "unnamed": unnamed,
    "openat2": structure,
    "mknod": lambda mode: os.mknod("node", stat.S_IFREG | mode),
    "mkdir": lambda mode: os.mkdir("made", mode),
    "pipe": pipe,
}
os.umask(0)
for mode in (0o4755, 0o6755, 0o4711):
    for name, way in WAYS.items():
        try:
            way(mode)
            print(name, "done")
        except OSError as error:
            print(name, errno.errorcode[error.errno])
for name in ("open", "open-directory", "unnamed", "mknod", "chmod", "fchmod", "fchmodat", "fchmodat2"):
    try:
        WAYS[name](0o2755)
        print(name, "done")
    except OSError as error:
        print(name, errno.errorcode[error.errno])
"""


def set_id_files(directory):
    return [path for path in directory.rglob("*") if not path.is_dir() and path.lstat().st_mode & (stat.S_ISUID | stat.S_ISGID)]


class SetIdFiles(BoxTest):
    def test_no_way_creates_one(self):
        (self.project / "ways.py").write_text(WAYS)
        out = self.box("/usr/bin/python3 ways.py").splitlines()
        self.assertEqual(len(out), 3 * 11 + 8)
        self.assertEqual({line.split()[1] for line in out if not line.startswith("openat2 ")}, {"EPERM"}, out)
        self.assertEqual({line for line in out if line.startswith("openat2 ")}, {"openat2 ENOSYS"})
        self.assertEqual(set_id_files(self.project), [])
        self.assertEqual([path for path in self.project.rglob("*") if path.stat().st_mode & stat.S_ISUID], [])

    def test_outside_of_a_box_they_work(self):
        """Shows that the test above can fail."""
        (self.project / "ways.py").write_text(WAYS)
        subprocess.run(["/usr/bin/python3", "ways.py"], cwd=self.project, stdout=subprocess.DEVNULL, check=True)
        self.assertGreaterEqual(len(set_id_files(self.project)), 8)

    def test_shared_repositories_work(self):
        """git sets the bit on directories, before and after it writes objects."""
        script = ("for kind in group all 0660 0640; do git init -q --shared=$kind $kind && cd $kind && echo x >file && git add file && "
                  "git commit -qm one && git gc -q && git repack -adq && git clone -q . copy && cd .. || echo failed $kind; done; "
                  "mkdir team && chmod g+ws team && mkdir team/below && git init -q --bare --shared team/bare && echo end")
        self.assertEqual(self.box(script), "end\n")
        for kind in ("group", "all", "0660", "0640"):
            self.assertTrue((self.project / kind / ".git/objects").stat().st_mode & stat.S_ISGID, kind)
        self.assertEqual(set_id_files(self.project), [])

    def test_programs_that_copy_modes_lose_only_the_bit(self):
        source = self.project / "program"
        source.write_text("content")
        source.chmod(0o4755)
        subprocess.run(["tar", "-cf", "archive.tar", "program"], cwd=self.project, check=True)
        self.box("mkdir x; cp program x/copied; cp -a program x/kept 2>/dev/null; tar -C x -xf archive.tar 2>/dev/null; "
                 "install -m 4755 program x/installed 2>/dev/null; ln /usr/bin/passwd x/linked 2>/dev/null; echo changed >program")
        for name in ("copied", "kept", "program"):
            self.assertEqual((self.project / "x" / name).read_text(), "content", name)
        self.assertEqual(set_id_files(self.project), [])  # a write removes the bit of the existing file

    def test_a_program_without_openat2_uses_openat(self):
        """The call fails as on an older kernel, for which programs have another way."""
        out = self.box("cp -r /etc/passwd copy && tar -cf t.tar copy && mkdir y && tar -C y -xf t.tar && git init -q . && git status --short | wc -l; "
                       "/usr/bin/python3 -c 'import shutil; shutil.copytree(\"y\", \"z\")' && find . -name copy | wc -l")
        self.assertEqual(out.split(), ["3", "3"])

    def test_a_nested_box_can_create_them(self):
        """Images of containers contain such files. SECURITY.md lists it."""
        self.profile(nested=True)
        if os.getuid() == 0:
            self.assertIn("refused for root", self.refused())
            return
        self.assertEqual(self.box("touch a; chmod 4755 a && stat -c %a a"), "4755\n")


if __name__ == "__main__":
    unittest.main()
