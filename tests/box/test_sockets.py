# SPDX-License-Identifier: MIT
"""Sockets of the host in mounted directories: blocked where the kernel can, otherwise reported; known ones are refused."""
import os
import socket

from box import kernel
from lib.box import BoxTest

AS_ROOT = True
CAN_BLOCK = kernel.landlock_version() >= 9
WARNING = "can connect to sockets of this machine"

# Connects to sockets of the host, and to one that the box creates in the project. Renames between directories.
INSIDE = """
import os, socket, sys
for path in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        print("connected")
    except OSError as error:
        print(error.strerror)
server = socket.socket(socket.AF_UNIX)
server.bind("own.sock")
server.listen()
socket.socket(socket.AF_UNIX).connect("own.sock")
os.unlink("own.sock")
os.makedirs("one/two")
os.rename("one/two", "three")
os.removedirs("one")
os.rmdir("three")
print("own works")
"""


class Sockets(BoxTest):
    def listen(self, path, relative=False):
        """Creates a socket that a program of the host listens on."""
        path.parent.mkdir(parents=True, exist_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        here = os.getcwd()
        try:
            os.chdir(path.parent)
            listener.bind(path.name if relative else str(path))
        finally:
            os.chdir(here)
        listener.listen()
        return path

    def test_sockets_in_mounts_are_blocked_or_reported(self):
        top = self.repository(self.home / "repo")
        project = top / "sub"
        project.mkdir()
        sockets = [self.listen(project / "a.sock", relative=True), self.listen(top / "db/b.sock", relative=True),
                   self.listen(self.home / "data/deep/er/and/deeper/c.sock"), self.listen(top / ".git/fsmonitor.ipc", relative=True)]
        self.listen(self.home / "elsewhere/d.sock")
        for tier in ("none", "full"):
            done = self.claudebox("--yes", "--network", tier, "--mount-ro", self.home / "data", "--exec", "python3", "-c", INSIDE, *sockets,
                                  cwd=project)
            result = "Permission denied" if CAN_BLOCK else "connected"
            self.assertEqual(done.stdout.splitlines(), [result] * 4 + ["own works"], done.stderr)
            found = [line for line in done.stderr.replace("\n    ", " ").splitlines() if WARNING in line]
            self.assertEqual(len(found), 0 if CAN_BLOCK else 1, done.stderr)
            for path in sockets if found else ():
                self.assertIn("~/" + str(path.relative_to(self.home)), found[0])
            self.assertNotIn("elsewhere", done.stderr)

    def test_no_socket_no_warning(self):
        self.listen(self.home / ".local/share/x/s")
        self.assertNotIn(WARNING, str(self.plan()["warnings"]))
        self.listen(self.project / "s")
        self.assertEqual(WARNING in str(self.plan()["warnings"]), not CAN_BLOCK)

    def test_known_sockets_are_refused(self):
        agent = self.listen(self.home / "agents/ssh/agent.1")
        other = self.listen(self.home / "agents/other/x.sock")
        link = self.home / "link"
        link.symlink_to(agent.parent)
        runtime = self.home / "runtime"
        self.listen(runtime / "wayland-7")
        for variable, value in (("SSH_AUTH_SOCK", agent), ("DBUS_SESSION_BUS_ADDRESS", f"unix:path={agent},guid=0"), ("TMUX", f"{agent},1,0"),
                                ("DOCKER_HOST", f"unix://{agent}"), ("GPG_AGENT_INFO", f"{agent}:0:1"), ("SSH_AUTH_SOCK", link / "agent.1")):
            env = {variable: str(value)}
            for source in (agent.parent, agent.parent.parent, link):
                with self.subTest(variable, source=source):
                    message = self.refused("--mount-ro", f"{source}:~/x", "--exec", "true", env=env)
                    self.assertIn("socket: ", message)
                    self.assertIn("does not stop a connection", message)
            self.assertEqual(self.claudebox("--dry-run", "--mount-ro", other.parent, env=env).returncode, 0)
        self.assertIn("neither a file nor a directory", self.refused("--mount-ro", agent, "--exec", "true", env={"SSH_AUTH_SOCK": str(agent)}))
        self.assertIn("Wayland", self.refused("--mount-ro", runtime, "--exec", "true",
                                              env={"XDG_RUNTIME_DIR": str(runtime), "WAYLAND_DISPLAY": "wayland-7"}))
        self.assertIn("socket: ", self.refused("--mount-ro", "/tmp/.X11-unix", "--exec", "true")
                      if os.path.isdir("/tmp/.X11-unix") else "socket: ")
        self.assertIn("SSH agent", self.refused("--exec", "true", cwd=agent.parent, env={"SSH_AUTH_SOCK": str(agent)}))

    def test_a_variable_that_names_no_socket_refuses_nothing(self):
        for value in ("/", str(self.home), str(self.project), "relative", "", str(self.project / "missing")):
            self.assertEqual(self.claudebox("--dry-run", env={"SSH_AUTH_SOCK": value}).returncode, 0, value)
