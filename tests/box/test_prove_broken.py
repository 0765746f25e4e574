# SPDX-License-Identifier: MIT
"""--prove can fail: the box is broken on purpose, one protection at a time, and the attacks that
it blocks must leak."""
import os
import unittest

from box import kernel
from lib.broken import Broken, EnclosedTest, leaks

AS_ROOT = True

ROOT = os.getuid() == 0

# (what is broken, how, attacks that must leak). {home} and {runtime} are replaced.
BREAKAGES = (
    ("the PID namespace", "unscope(); drop('--unshare-pid'); drop('--as-pid-1'); drop('--proc', 1); add('--bind', '/proc', '/proc')",
     {"processes-see", "processes-signal", "environment-command-lines"}),
    ("the IPC namespace", "drop('--unshare-ipc')", {"memory-shm-id", "memory-shm-key", "memory-semaphores", "memory-messages", "memory-mqueue"}),
    ("the network namespace", "unscope(); drop('--unshare-net')",
     {"network-loopback-tcp", "network-loopback-udp", "network-incoming", "sockets-abstract", "network-interfaces"}),
    ("the UTS namespace", "drop('--unshare-uts'); drop('--hostname', 1)", {"identity-host-name"}),
    ("the empty environment", "environment.append('CLAUDEBOX_CANARY=' + token)", {"environment-own"}),
    ("capabilities", "drop('--cap-drop', 1); options[:0] = ['--cap-add', 'ALL']", {"kernel-capabilities"}),
    ("the home", "os.makedirs({home!r} + '/.claude', exist_ok=True); add('--bind', {home!r}, {home!r})", {"files-home", "files-ssh", "files-cloud", "write-create"}),
    ("~/.ssh", "add('--ro-bind', {home!r} + '/.ssh', {home!r} + '/.ssh')", {"files-ssh"}),
    ("/tmp", "add('--bind', '/tmp', '/tmp')", {"files-temporary", "sockets-path"}),
    ("the runtime directory", "add('--ro-bind', {runtime!r}, {runtime!r})", {"files-run", "sockets-path"}),
    ("/dev", "drop('--dev', 1); add('--dev-bind', '/dev', '/dev')", {"files-shared-memory"}),
    ("claudebox's state", "add('--ro-bind', {home!r} + '/.claudebox', {home!r} + '/.claudebox')", {"files-state", "files-other-homes"}),
    ("the filter of package settings", "fd = os.memfd_create('x'); os.write(fd, token.encode()); os.lseek(fd, 0, 0); "
     "os.dup2(fd, int(options[options.index('/run/claudebox/npmrc') - 1]), inheritable=True)", {"files-generated"}),
    ("git data in a plugin", "add('--dir', '/run/claudebox/claude/plugins/one/.git')", {"files-plugins"}),
    ("the directory around the project", "add('--ro-bind', {home!r} + '/work', {home!r} + '/work')", {"files-other-projects", "files-parent"}),
    ("the sealed root", "drop('--remount-ro', 1)", {"write-system"}),
    ("the old root", "add('--ro-bind', '/', '/oldroot')", {"files-old-root"}),
    ("/etc/machine-id", "add('--ro-bind', '/etc/machine-id', '/etc/machine-id')", {"identity-machine-id"}),
    ("/etc/passwd", "add('--ro-bind', '/etc/passwd', '/etc/passwd')", {"identity-users"}),
    ("the list of keys", "at = options.index('/proc/keys'); del options[at - 2:at + 1]", {"keys-list"}),
    ("/sys", "add('--ro-bind', '/sys', '/sys')", {"kernel-sys"}),
    ("closed descriptors", "descriptors[40] = '/'; command[:1] = ['/usr/bin/python3', '-Ic', OTHER_INIT]",
     {"descriptors-inherited", "descriptors-directory"}),
    ("init that is not dumpable", "command[:1] = ['/usr/bin/python3', '-Ic', OTHER_INIT]",
     {"descriptors-init", "processes-ptrace-init", "processes-signal-group"}),
    ("the environment of process 1",
     "drop('--clearenv'); outer['CLAUDEBOX_CANARY'] = token; command[:1] = ['/usr/bin/python3', '-Ic', OTHER_INIT]",
     {"environment-processes"}),
    ("files beside toolchains", "add('--ro-bind', {home!r} + '/.cargo', {home!r} + '/.cargo')", {"files-toolchains"}),
    ("the mounts on protected places", "unmount_places()", {"project-write", "project-replace"}),
    ("the guard", "stop_guard()", {"project-create"}),
    ("read-only programs", "options[:] = [word.replace('--ro-bind', '--bind') for word in options]",
     {"write-programs", "write-toolchains"} if ROOT else {"write-toolchains"}),
)


class Breakage(EnclosedTest):
    def prove(self, breakage, tier="none"):
        text = breakage.format(home=str(self.home), runtime=str(self.runtime))
        done, proof = Broken(self, text).prove("--network", tier)
        self.assertIsNotNone(proof, done.stderr[-800:])
        self.assertTrue(proof["complete"], done.stderr[-800:])
        self.assertEqual(done.returncode, 1 if proof["leaked"] else 0)
        return leaks(proof)

    def test_a_whole_box_leaks_nothing(self):
        self.assertEqual(self.prove(""), {})

    def test_broken(self):
        whole = set(self.prove(""))
        for what, breakage, attacks in BREAKAGES:
            with self.subTest(what):
                self.assertEqual(attacks - set(self.prove(breakage)), set())
                self.assertEqual(attacks & whole, set(), "it leaks without the breakage")

    def test_the_seccomp_filter(self):
        drop = "drop('--seccomp', 1); drop('--add-seccomp-fd', 1)"
        self.assertLessEqual({"kernel-filter", "kernel-filter-init", "terminal-tiocsti", "keys-session", "write-set-id", "kernel-lease",
                              "kernel-snapshots", "processes-init-priority"}, set(self.prove(drop)))

    @unittest.skipIf(kernel.landlock_version() < 6 and "CI" not in os.environ, "this kernel has no scopes")
    def test_the_scopes(self):
        blocked = {"sockets-abstract", "sockets-abstract-datagram"} | ({"sockets-mounted"} if kernel.landlock_version() >= 9 else set())
        self.assertLessEqual(blocked, set(self.prove("unscope()", "full")))
        self.assertEqual(self.prove("", "full"), {})

    def test_user_namespaces(self):
        self.assertLessEqual({"kernel-user-namespace"}, set(self.prove("drop('--disable-userns'); drop('--seccomp', 1); drop('--add-seccomp-fd', 1)")))


if __name__ == "__main__":
    unittest.main()
