# SPDX-License-Identifier: MIT
"""Standard streams that are files, pipes and sockets: the box has pipes of its own, and only bytes pass."""
import array
import fcntl
import json
import os
import pathlib
import pty
import socket
import subprocess
import threading
import unittest

from lib.box import CLAUDEBOX, BoxTest

AS_ROOT = True

# Prints the kind and inode of the descriptors, and tries to get more than bytes out of each of them.
INSIDE = r"""
import array, fcntl, json, os, socket, stat, sys
found = []
for fd in (0, 1, 2):
    status = os.fstat(fd)
    entry = {"fifo": stat.S_ISFIFO(status.st_mode), "inode": status.st_ino, "rights": None, "reopened": None}
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK | os.O_APPEND)
    try:
        socket.socket(fileno=os.dup(fd)).sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [3]))])
        entry["rights"] = "sent"
    except OSError as error:
        entry["rights"] = error.errno
    try:
        other = os.open(f"/proc/self/fd/{fd}", os.O_RDWR | os.O_NONBLOCK)
        os.ftruncate(other, 0)
        entry["reopened"] = "truncated"
    except OSError as error:
        entry["reopened"] = error.errno
    found.append(entry)
open("found.json", "w").write(json.dumps(found))
"""


class Streams(BoxTest):
    def setUp(self):
        super().setUp()
        (self.project / "inside.py").write_text(INSIDE)

    def run_box(self, *command, **streams):
        return subprocess.run([CLAUDEBOX, "--yes", "--exec", *command], cwd=self.project, env=self.env, timeout=20, check=False, **streams)

    def sh(self, script, **options):
        return subprocess.run(["bash", "-c", script], cwd=self.project, env={**self.env, "BOX": CLAUDEBOX}, timeout=20, check=False,
                              **{"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, **options})

    def found(self):
        return json.loads((self.project / "found.json").read_text())

    def check_separate(self, descriptors):
        """Runs the attack with these descriptors and compares them before and after."""
        before = [(fcntl.fcntl(fd, fcntl.F_GETFL), os.fstat(fd).st_ino) for fd in descriptors]
        done = self.run_box("python3", "inside.py", stdin=descriptors[0], stdout=descriptors[1], stderr=descriptors[2])
        self.assertEqual(done.returncode, 0)
        self.assertEqual([(fcntl.fcntl(fd, fcntl.F_GETFL), os.fstat(fd).st_ino) for fd in descriptors], before)
        for entry, (_, inode) in zip(self.found(), before):
            self.assertEqual((entry["fifo"], entry["rights"]), (True, 88))  # ENOTSOCK
            self.assertNotEqual(entry["reopened"], "truncated")
        return [entry["inode"] == inode for entry, (_, inode) in zip(self.found(), before)]

    def test_files_are_out_of_reach(self):
        files = []
        for name in ("in", "out", "err"):
            (self.project.parent / name).write_text("kept\n")
            files.append(os.open(self.project.parent / name, os.O_RDWR | (os.O_APPEND if name != "in" else 0)))
        self.assertEqual(self.check_separate(files), [False] * 3)
        for name in ("in", "out", "err"):
            self.assertTrue((self.project.parent / name).read_text().startswith("kept\n"))

    def test_sockets_are_out_of_reach(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            rights = array.array("i", [os.open("/etc", os.O_RDONLY)])
            ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            self.assertEqual(self.check_separate([theirs.fileno()] * 3), [False] * 3)

    def test_pipes_keep_their_flags_and_their_other_end(self):
        """Standard input is the caller's pipe, opened again; output goes through pipes of the box."""
        ends = [os.pipe() for _ in range(3)]
        try:
            self.assertEqual(self.check_separate([ends[0][0], ends[1][1], ends[2][1]]), [True, False, False])
        finally:
            for fd in sum(ends, ()):
                os.close(fd)

    def test_the_box_does_not_read_what_others_write_to_its_output(self):
        done = self.sh("{ echo secret; \"$BOX\" --yes --exec sh -c 'timeout 0.3 cat </proc/self/fd/1 >stolen; echo mine'; } | { sleep 1; cat; }")
        self.assertEqual(done.stdout, "secret\nmine\n")
        self.assertNotIn("secret", (self.project / "stolen").read_text())

    def test_a_socket_for_input_and_output(self):
        """As node and sshd give to their children: half-close is the end of input, and all output arrives."""
        data = os.urandom(300000)
        ours, theirs = socket.socketpair()
        received = []

        def receive():
            while chunk := ours.recv(65536):
                received.append(chunk)

        def send():
            ours.sendall(data)
            ours.shutdown(socket.SHUT_WR)

        process = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "cat; echo end; exit 7"], cwd=self.project, env=self.env,
                                   stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL)
        theirs.close()
        threads = [threading.Thread(target=work) for work in (receive, send)]
        for thread in threads:
            thread.start()
        self.assertEqual(process.wait(20), 7)
        for thread in threads:
            thread.join(10)
        ours.close()
        self.assertEqual(b"".join(received), data + b"end\n")

    def test_node_gets_and_gives_all_bytes(self):
        if not pathlib.Path("/usr/bin/node").exists():
            self.skipTest("no node")
        (self.project / "parent.js").write_text(
            "const {spawn} = require('child_process');\nconst child = spawn(process.env.BOX, ['--yes', '--exec', 'sh', '-c', 'cat; echo bad >&2; exit 3']);\n"
            "let out = 0, err = ''; child.stdout.on('data', d => out += d.length); child.stderr.on('data', d => err += d);\n"
            "child.on('close', code => console.log(out, err.trim().split('\\n').pop(), code));\n"
            "child.stdin.end('x'.repeat(200000));\n")
        self.assertEqual(self.sh("node parent.js").stdout, "200000 bad 3\n")

    def test_a_reader_that_closes_ends_the_box(self):
        done = self.sh('"$BOX" --yes --exec yes | head -1; echo "${PIPESTATUS[0]}"')
        self.assertEqual(done.stdout, "y\n141\n")
        ours, theirs = socket.socketpair()
        process = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "yes"], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=theirs,
                                   stderr=subprocess.DEVNULL)
        theirs.close()
        ours.recv(2)
        ours.close()
        self.assertEqual(process.wait(10), 141)

    def test_a_slow_reader_gets_everything(self):
        self.assertEqual(self.sh('"$BOX" --yes --exec head -c 500000 /dev/zero | { sleep 0.4; wc -c; }').stdout.strip(), "500000")

    def test_output_to_one_file_keeps_its_order(self):
        script = 'for i in 1 2 3 4 5 6 7 8 9; do echo out; echo err >&2; done'
        self.sh(f"\"$BOX\" --yes --exec sh -c '{script}' >both 2>&1")
        text = (self.project / "both").read_text()
        self.assertIn("out\nerr\n" * 9, text)
        self.assertEqual(text.count("out\n"), 9)
        self.assertEqual(self.sh(f"\"$BOX\" --yes --exec sh -c '{script}' 2>&1 | tail -18").stdout, "out\nerr\n" * 9)

    def test_input_that_the_box_does_not_read_is_left(self):
        (self.project / "list").write_text("one\ntwo\nthree\n")
        self.assertEqual(self.sh('{ "$BOX" --yes --exec true; cat; } <list').stdout, "one\ntwo\nthree\n")
        self.assertEqual(self.sh('{ "$BOX" --yes --exec head -c 4 >/dev/null; cat; } <list').stdout, "two\nthree\n")
        self.assertEqual(self.sh('cat list | { "$BOX" --yes --exec true; cat; }').stdout, "one\ntwo\nthree\n")
        self.assertEqual(self.sh('{ "$BOX" --yes --exec cat; cat; } <list').stdout, "one\ntwo\nthree\n")

    def test_appending_and_named_pipes(self):
        (self.project / "log").write_text("old\n")
        self.sh('"$BOX" --yes --exec echo new >>log; mkfifo pipe; cat pipe >copy & "$BOX" --yes --exec echo through >>pipe; wait')
        self.assertEqual((self.project / "log").read_text(), "old\nnew\n")
        self.assertEqual((self.project / "copy").read_text(), "through\n")

    def test_a_failed_write_is_reported(self):
        done = self.sh('ulimit -f 64; "$BOX" --yes --exec head -c 200000 /dev/zero >out')
        self.assertIn("cannot write to standard output: File too large", done.stderr)

    def test_a_blocked_reader_does_not_keep_claudebox_from_ending(self):
        reading, writing = os.pipe()
        process = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "head -c 100000 /dev/zero & echo done >&2; wait"], cwd=self.project,
                                   env=self.env, stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.DEVNULL)
        os.close(writing)
        process.terminate()
        try:
            process.wait(5)
        finally:
            os.close(reading)

    def test_other_kinds_are_refused(self):
        master, slave = pty.openpty()
        pairs = [socket.socketpair(socket.AF_UNIX, kind) for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET)]
        cases = [(pairs[0][0].fileno(), "a socket for datagrams"), (pairs[1][0].fileno(), "a socket for datagrams"),
                 (master, "the master of a pseudo-terminal")]
        for path in ("/dev/fuse", "/dev/net/tun", "/dev/kvm", "/dev/kmsg"):
            try:
                cases.append((os.open(path, os.O_RDWR), "a device"))
            except OSError:
                continue
        for descriptor, kind in cases:
            for number in (0, 1):
                with self.subTest(kind=kind, number=number):
                    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, ("stdin", "stdout")[number]: descriptor}
                    done = self.run_box("touch", "started", stderr=subprocess.PIPE, text=True, **streams)
                    self.assertEqual(done.returncode, 125)
                    self.assertIn(f"standard {('input', 'output')[number]} is {kind}", done.stderr)
                    self.assertFalse((self.project / "started").exists())
        os.close(slave)
        for name in ("null", "zero", "full", "random", "urandom"):
            with open(f"/dev/{name}", "r+b", buffering=0) as device:
                self.assertEqual(self.run_box("true", stdin=device, stdout=device, stderr=subprocess.DEVNULL).returncode, 0, name)


if __name__ == "__main__":
    unittest.main()
