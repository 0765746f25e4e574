# SPDX-License-Identifier: MIT
"""The Nix daemon's greeting, or else its settings, show whether it trusts the user. In doubt it is not mounted."""
import os
import pwd
import socket
import struct
import threading
import time
import unittest

from lib.box import BoxTest
from lib.other_host import OtherHost

STORE = "/nix/store/00000000000000000000000000000000-tool/bin/tool"
MAGIC, HELLO = 0x6478696f, struct.pack("<4Q", 0x6e697863, 0x123, 0, 0)
ME = pwd.getpwuid(os.getuid()).pw_name


def greeting(trust, version=0x126, name=b"2.30.1"):
    """Returns the greeting of a Nix daemon; it contains the trust since protocol 1.35."""
    text = struct.pack("<Q", len(name)) + name + bytes(-len(name) % 8)
    return struct.pack("<2Q", MAGIC, version) + text + (struct.pack("<Q", trust) if version >= 0x123 else b"")


class Daemon:
    """Sends the same pieces to every client."""

    def __init__(self, test, path, *pieces, pause=0.0, close=False):
        self.received, self.pieces, self.pause, self.close = b"", pieces, pause, close
        self.server = socket.socket(socket.AF_UNIX)
        # The absolute path may be too long for a socket's address.
        directory = os.open(path.parent, os.O_PATH)
        self.server.bind(f"/proc/self/fd/{directory}/{path.name}")
        os.close(directory)
        self.server.listen()
        self.open = []
        test.addCleanup(self.end)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                client = self.server.accept()[0]
            except OSError:
                return
            try:
                self.received = client.recv(64)
                for piece in self.pieces:
                    client.sendall(piece)
                    time.sleep(self.pause)
            except OSError:
                pass
            if self.close:
                client.close()
            else:
                self.open.append(client)

    def end(self):
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        for client in self.open:
            client.close()


class NixGreeting(BoxTest):
    def ask(self, *pieces, settings=None, more=None, arguments=(), **options):
        """Starts a box and returns why it has no daemon; "" if it has one."""
        files = {STORE: "", "/nix/var/nix/daemon-socket/keep": ""} | (more or {})
        if settings is not None:
            files["/etc/nix/nix.conf"] = settings
        host = OtherHost(self, files)
        self.daemon = None
        if pieces or options:
            self.daemon = Daemon(self, host.root / "nix/var/nix/daemon-socket/socket", *pieces, **options)
        done = host.claudebox(*arguments, "--yes", "--audit=full", "--exec", "sh", "-c", "ls -d /nix/var/nix/daemon-socket 2>/dev/null")
        self.assertNotEqual(done.returncode, 125, done.stderr)
        inside = done.stdout == "/nix/var/nix/daemon-socket\n"
        lines = done.stderr.split("the box does not have the Nix daemon: ")
        self.assertEqual(inside, len(lines) == 1, done.stderr)
        self.audit = done.stderr
        return "" if inside else lines[1].splitlines()[0]

    def test_trust_in_the_greeting(self):
        self.assertEqual(self.ask(greeting(2)), "")
        self.assertEqual(self.daemon.received, HELLO)
        self.assertIn("it trusts you", self.ask(greeting(1)))

    def test_greeting_takes_precedence_over_settings(self):
        self.assertEqual(self.ask(greeting(2), settings="trusted-users = *\n"), "")
        self.assertIn("it trusts you", self.ask(greeting(1), settings="trusted-users = root\n"))

    def test_greeting_in_pieces(self):
        pieces = [greeting(2)[i:i + 5] for i in range(0, len(greeting(2)), 5)]
        self.assertEqual(self.ask(*pieces, pause=0.01), "")

    def test_version_strings_of_any_length(self):
        for length in (0, 7, 8, 9, 256):
            self.assertEqual(self.ask(greeting(2, name=b"x" * length)), "")
        self.assertIn("does not report", self.ask(greeting(2, name=b"x" * 257)))

    def test_old_daemon_is_judged_by_its_settings(self):
        for version in (0x115, 0x121, 0x122):
            with self.subTest(version):
                self.assertEqual(self.ask(greeting(None, version)), "")
                self.assertIn("it trusts you", self.ask(greeting(None, version), settings=f"trusted-users = root {ME}\n"))

    def test_unknown_trust_is_judged_by_the_settings(self):
        self.assertEqual(self.ask(greeting(0), settings="trusted-users = root @nobodys-group\n"), "")
        self.assertIn("it trusts you", self.ask(greeting(0), settings="trusted-users = *\n"))

    def test_invalid_greeting_is_refused(self):
        for pieces in ([b"HTTP/1.1 400 Bad Request\r\n\r\n"], [greeting(3)], [greeting(2, 0x226)], [greeting(2)[:-1]], [b"x" * 4096]):
            with self.subTest(pieces):
                self.assertIn("does not report", self.ask(*pieces, close=True))

    def test_silent_daemon_is_refused(self):
        self.assertIn("does not report", self.ask(close=True))
        start = time.monotonic()
        self.assertIn("does not report", self.ask(close=False))
        self.assertLess(time.monotonic() - start, 10)

    def test_box_without_daemon_does_not_wait_for_it(self):
        self.assertIn("its builds and downloads", self.ask(close=False, arguments=("--network", "none")))
        self.assertEqual(self.daemon.received, b"")
        profiles = self.home / ".claudebox/profiles"
        profiles.mkdir()
        (profiles / "default.json").write_text('{"network": "none"}')
        times = []
        for _ in range(3):  # on a busy machine one may be slow
            start = time.monotonic()
            self.assertIn("its builds and downloads", self.ask(close=False))
            times.append(time.monotonic() - start)
        self.assertLess(min(times), 1.9)
        # If a profile requests the daemon, claudebox connects to it.
        (profiles / "default.json").write_text('{"nix_daemon": true}')
        self.assertEqual(self.ask(greeting(2), arguments=("--network", "none")), "")
        self.assertEqual(self.daemon.received, HELLO)
        self.assertIn("it trusts you", self.ask(greeting(1), arguments=("--network", "none")))

    def test_stopped_daemon_is_judged_by_its_settings(self):
        self.assertEqual(self.ask(), "")
        for users in (ME, str(os.getuid()), f"nobody {ME}", "*", f"@{ME}"):
            with self.subTest(users):
                self.assertIn("it trusts you", self.ask(settings=f"trusted-users = {users} # comment\n"))
        self.assertIn("it trusts you", self.ask(settings=f"extra-trusted-users = {ME}\n"))
        self.assertEqual(self.ask(settings=f"trusted-users = {ME}\ntrusted-users = root\n# trusted-users = *\n"), "")

    def test_settings_in_other_files(self):
        self.assertIn("it trusts you", self.ask(settings="include a/b.conf\n", more={
            "/etc/nix/a/b.conf": "!include ../c.conf\n", "/etc/nix/c.conf": f"trusted-users = {ME}\n"}))
        self.assertIn("it trusts you", self.ask(more={"/etc/xdg/nix/nix.conf": f"trusted-users = {ME}\n"}))
        self.assertEqual(self.ask(settings="!include missing.conf\n"), "")
        self.assertIn("does not report", self.ask(settings="include missing.conf\n"))
        self.assertIn("does not report", self.ask(settings="include nix.conf\n"))
        self.assertIn("does not report", self.ask(settings="!include d\n", more={"/etc/nix/d": None}))
        self.assertIn("does not report", self.ask(settings=f"trusted-users={ME}\n"))

    def test_own_daemon_without_sandbox_is_refused(self):
        self.assertIn("it runs as you", self.ask(greeting(2), settings="sandbox = false\n"))
        self.assertEqual(self.ask(greeting(2), settings="sandbox = true\n"), "")

    def test_builds_without_a_sandbox_are_warned_about(self):
        self.assertEqual(self.ask(settings="sandbox = relaxed\n"), "")
        self.assertIn("the Nix daemon builds without a sandbox", self.audit)


if __name__ == "__main__":
    unittest.main()
