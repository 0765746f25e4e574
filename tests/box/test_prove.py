# SPDX-License-Identifier: MIT
"""--prove leaves nothing behind and changes no file of the user, however it ends; and it reports
what the user granted."""
import glob
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from lib.box import CLAUDEBOX, BoxTest, processes_with, tree, until
from lib.broken import Broken, leaks, verdicts
from lib.inet import InetTest
from lib.terminal import Terminal

AS_ROOT = True

SECRETS = (".ssh/id_ed25519", ".gnupg/private", ".aws/credentials", ".kube/config", ".config/gh/hosts.yml", ".mozilla/profiles.ini",
           ".local/share/keyrings/login", ".netrc", ".bash_history", "other/notes", ".claude/CLAUDE.md", ".config/autostart/x")
HANG = "command[-1:] = ['/bin/sleep', '60']"
SECONDS = 2.0


class ProveTest(BoxTest):
    def setUp(self):
        super().setUp()
        for name in SECRETS:
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_text(f"the user's {name}\n")
        self.runtime = self.scratch()
        self.env["XDG_RUNTIME_DIR"] = str(self.runtime)

    def user_files(self):
        """Returns all files but claudebox's own state."""
        return {name: what for name, what in tree(self.home).items() if not name.startswith(".claudebox")}

    def left(self, mark="claudebox-canary-"):
        """Returns the files with that name."""
        found = [str(path) for directory in (self.home, self.runtime) for path in pathlib.Path(directory).rglob(f"*{mark}*")]
        for directory in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/etc", "/var", "/usr", "/usr/bin", self.home.parent):
            found += glob.glob(f"{directory}/{mark}*")
        return found

    def own(self, broken):
        """Returns the name that all canaries of this run start with."""
        return next(line[1] for line in broken.canaries() if line[0] == "abstract")

    def objects(self, broken):
        """Returns the System V objects of that run that still exist."""
        keys = {line[2] for line in broken.canaries() if line[0].startswith("sysv-")}
        found = []
        for kind in ("shm", "sem", "msg"):
            with open(f"/proc/sysvipc/{kind}", encoding="ascii") as table:
                found += [kind for line in list(table)[1:] if line.split()[0] in keys]
        return found

    def gone(self, broken):
        token = next(line[1] for line in broken.canaries() if line[0] == "token")
        self.assertEqual(self.left(self.own(broken)), [])
        self.assertEqual(self.objects(broken), [])
        self.assertTrue(until(lambda: not processes_with(token), 2), "no process is left")
        self.assertTrue(until(lambda: token not in pathlib.Path("/proc/keys").read_text(encoding="utf-8")), "keys are gone")

    def hanging(self, *options):
        """Starts --prove with an attack program that does nothing for a minute."""
        broken = Broken(self, HANG)
        process = subprocess.Popen([CLAUDEBOX, *options, "--prove"], cwd=self.project, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   env={**self.env, "PATH": f"{broken.directory}:{self.env['PATH']}"})
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertTrue(until(lambda: broken.log.exists() and "\nabstract" in broken.log.read_text(), 10))
        self.assertTrue(until(lambda: self.inside(process.pid), 10))
        return broken, process

    @staticmethod
    def inside(pid):
        """Returns whether the box of that claudebox runs its program."""
        done = subprocess.run(["ps", "-eo", "ppid,pid,comm"], stdout=subprocess.PIPE, text=True, check=True).stdout
        rows = [line.split(None, 2) for line in done.splitlines()[1:]]
        family = {str(pid)}
        for _ in range(6):
            family |= {row[1] for row in rows if row[0] in family}
        return any(row[1] in family and row[2] == "sleep" for row in rows)


class Leaves(ProveTest):
    def test_nothing_is_left_and_nothing_changed(self):
        for tier in ("full", "none"):
            before = self.user_files()
            broken = Broken(self)
            done, proof = broken.prove("--network", tier)
            self.assertTrue(proof["complete"], done.stderr)
            self.assertEqual(self.user_files(), before)
            self.gone(broken)
            self.assertEqual(list(self.runtime.iterdir()), [])

    def test_protected_places_are_attacked_and_the_repository_stays_as_it_was(self):
        self.repository(self.project)
        (self.project / ".envrc").write_text("mine\n")
        before = self.user_files()
        times = {path: path.lstat().st_mtime_ns for path in (self.project / ".git").rglob("*")}
        broken = Broken(self)
        done, proof = broken.prove("--network", "none")
        self.assertEqual({name: verdict for name, verdict in verdicts(proof).items() if name.startswith("project-")},
                         {"project-write": "blocked", "project-replace": "blocked", "project-create": "blocked"}, done.stderr)
        places = [row[1:] for row in broken.canaries() if row[0] == "place"]
        for name, kind in ((".git", "pin"), (".git/hooks", "directory"), (".git/config", "file"), (".envrc", "file")):
            self.assertIn([str(self.project / name), kind], places)
        self.assertEqual(self.user_files(), before)
        self.assertEqual({path: path.lstat().st_mtime_ns for path in (self.project / ".git").rglob("*")}, times)
        self.assertEqual(list(self.home.glob(".claudebox/instances/*/quarantine/*")), [])
        self.assertIn("granted", verdicts(Broken(self).prove("--network", "none", "--unprotect", ".envrc")[1])["project-write"])

    def test_what_is_planted(self):
        """Every secret directory gets a file; other places are listed as absent. The list
        contains no content of the user's files."""
        broken = Broken(self)
        broken.prove("--network", "none")
        rows = broken.canaries()
        files = {row[2].rsplit("/", 1)[0] for row in rows if row[0] == "file"}
        for name in (".ssh", ".gnupg", ".aws", ".kube", ".config/gh", ".mozilla", ".local/share/keyrings", ".claudebox", ""):
            self.assertIn(str(self.home / name), files)
        for path in ("/tmp", "/var/tmp", "/dev/shm", str(self.runtime)):
            self.assertIn(path, files)
        absent = {row[2] for row in rows if row[0] == "absent"}
        for path in (self.home / ".netrc", self.home / ".bash_history", self.home / ".azure", "/etc/shadow"):
            self.assertIn(str(path), absent)
        kinds = {row[0] for row in rows}
        self.assertLessEqual({"token", "tier", "env", "fd", "key", "abstract", "unix", "tcp", "udp", "pid", "sysv-shm", "sysv-sem",
                              "sysv-msg", "mqueue", "hostname", "home", "project", "parent", "write", "terminal"}, kinds)
        self.assertNotIn("the user's", broken.log.read_text())

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(number.name):
                before = self.user_files()
                broken, process = self.hanging("--network", "none")
                process.send_signal(number)
                _, errors = process.communicate(timeout=10)
                self.assertEqual(process.returncode, 1, errors)
                self.assertIn(f"signal {int(number)} killed the attack program", errors)
                self.gone(broken)
                self.assertEqual(self.user_files(), before)

    def test_ctrl_c(self):
        broken = Broken(self, HANG)
        terminal = Terminal((CLAUDEBOX, "--network", "none", "--prove"), {**self.env, "PATH": f"{broken.directory}:{self.env['PATH']}"},
                            self.project)
        self.addCleanup(terminal.close)
        self.assertTrue(until(lambda: self.inside(terminal.pid), 10))
        terminal.send("\x03")
        self.assertEqual(terminal.wait(), 1)
        self.assertIn(b"signal 2 killed the attack program", terminal.output)
        self.gone(broken)

    def test_killed_and_cleaned_by_the_next(self):
        broken, process = self.hanging("--network", "none")
        mark = self.own(broken)
        # The next run must not touch one that still runs.
        other, running = self.hanging("--network", "none")
        process.kill()
        process.wait()
        self.assertTrue(until(lambda: not self.inside(process.pid), 3))
        token = next(line[1] for line in broken.canaries() if line[0] == "token")
        self.assertTrue(until(lambda: not processes_with(token), 2), "children end with it")
        keys = [line.split() for line in pathlib.Path("/proc/keys").read_text(encoding="utf-8").splitlines() if token in line]
        self.assertEqual([key for key in keys if key[3] == "perm"], [], "keys vanish by themselves")
        self.assertGreater(len(self.left(mark)), 8, "the test can fail")
        self.assertEqual(len(self.objects(broken)), 3)
        self.assertTrue(Broken(self).prove("--network", "none")[1]["complete"])
        self.assertEqual(self.left(mark), [])
        self.assertEqual(self.objects(broken), [])
        self.assertGreater(len(self.left(self.own(other))), 8)
        self.assertEqual(len(self.objects(other)), 3)
        running.terminate()
        running.communicate(timeout=10)
        self.gone(other)

    def test_a_list_that_was_tampered_with_removes_nothing_else(self):
        keep = self.home / "other/notes"
        planted = self.home / "other/claudebox-canary-012345678901.made"
        planted.write_text("x")
        state = self.home / ".claudebox"
        state.mkdir(mode=0o700)
        name = "prove-claudebox-canary-012345678901"
        litter = self.project / "claudebox-canary-012345678901.link"
        litter.write_text("x")
        (self.project / "claudebox-canary").write_text("the user's")
        (state / name).write_text(f"files\t{self.project}\nfiles\t/nonexistent\npath\t{keep}\npath\t{planted}\npath\t{self.home}/other\npath\tother/x\nqueue\tx\n\n\tx\n")
        Broken(self).prove("--network", "none")
        self.assertTrue(keep.exists())
        self.assertTrue((self.project / "claudebox-canary").exists())
        self.assertFalse(planted.exists())
        self.assertFalse(litter.exists())
        self.assertFalse((state / name).exists())

    def test_a_box_that_cannot_start_leaves_nothing(self):
        broken = Broken(self, "options.insert(0, '--no-such-option')")
        before = self.user_files()
        self.assertEqual(broken.prove()[0].returncode, 125)
        self.gone(broken)
        self.assertEqual(self.user_files(), before)

    def test_directories_that_cannot_be_written(self):
        (self.home / ".ssh").chmod(0o500)
        broken = Broken(self)
        self.assertTrue(broken.prove("--network", "none")[1]["complete"])
        # Root can write in any directory.
        self.assertIn(["absent", "files-ssh", str(self.home / ".ssh")] if os.getuid() else
                      ["file", "files-ssh", str(self.home / ".ssh" / self.own(broken))], broken.canaries())

    def test_on_a_terminal(self):
        """The terminal is attacked too, and no input is left in it for the user's shell."""
        result = self.home / "result.json"
        script = f'"$0" --network none --prove=json >{result}; stty -icanon min 0 time 2; printf "<%s>" "$(head -c 99)"'
        terminal = Terminal(("sh", "-c", script, CLAUDEBOX), self.env, self.project)
        self.addCleanup(terminal.close)
        terminal.expect("<>", 20)
        proof = json.loads(result.read_text())
        self.assertTrue(proof["complete"])
        self.assertEqual(verdicts(proof)["terminal-steal"], "blocked")

    def test_soon_enough(self):
        self.claudebox("--prove")
        best = min(self.timed() for _ in range(3))
        self.assertLess(best, SECONDS)

    def timed(self):
        started = time.monotonic()
        self.claudebox("--network", "full", "--prove")
        return time.monotonic() - started


class Granted(ProveTest):
    def profile(self, **keys):
        directory = self.home / ".claudebox/profiles"
        directory.mkdir(parents=True)
        (self.home / ".claudebox").chmod(0o700)
        (directory / "work.json").write_text(json.dumps(keys))

    def row(self, proof, name):
        return next(row for row in proof["attacks"] if row["name"] == name)

    def test_a_profile_that_mounts_a_secret(self):
        self.profile(network="none", mounts=[{"host": "~/.aws", "mode": "ro"}])
        broken = Broken(self)
        _, proof = broken.prove("--profile", "work")
        row = self.row(proof, "files-cloud")
        self.assertEqual((proof["profile"], row["verdict"]), ("work", "granted"))
        self.assertIn("profile work", row["why"])
        self.assertIn(str(self.home / ".aws"), row["why"])
        self.assertNotIn(str(self.home / ".aws"), broken.log.read_text())
        self.assertEqual(self.row(proof, "files-ssh")["verdict"], "blocked")
        # Without the mount the same attack is blocked.
        self.assertEqual(self.row(Broken(self).prove("--network", "none")[1], "files-cloud")["verdict"], "blocked")

    def test_a_granted_mount_hides_no_other_leak(self):
        _, proof = Broken(self, f"add('--bind', '{self.home}/.kube', '{self.home}/.kube')").prove(
            "--network", "none", "--mount-ro", self.home / ".aws")
        self.assertEqual(self.row(proof, "files-cloud")["verdict"], "leaked")

    def test_a_single_file(self):
        _, proof = Broken(self).prove("--network", "none", "--mount-ro", self.home / ".netrc")
        row = self.row(proof, "files-passwords")
        self.assertEqual(row["verdict"], "granted")
        self.assertIn("--mount-ro", row["why"])

    def test_a_variable(self):
        broken = Broken(self)
        _, proof = broken.prove("--network", "none", env={"CLAUDEBOX_EXTRA_ENV": "GITHUB_TOKEN"})
        row = self.row(proof, "environment-own")
        self.assertEqual(row["verdict"], "granted")
        self.assertIn("GITHUB_TOKEN", row["why"])
        self.assertNotIn(["env", "GITHUB_TOKEN"], broken.canaries())
        self.assertEqual(self.row(proof, "environment-processes")["verdict"], "blocked")

    def test_a_box_that_may_make_boxes(self):
        """Namespaces and set-id files are granted; all other attacks are blocked."""
        self.profile(network="none", nested=True)
        if os.getuid() == 0:
            self.assertIn("refused for root", self.claudebox("--profile", "work", "--prove").stderr)
            return
        done, proof = Broken(self).prove("--profile", "work")
        granted = {row["name"]: row["why"] for row in proof["attacks"] if row["verdict"] == "granted"}
        self.assertEqual(set(granted), {"kernel-user-namespace", "kernel-clone-namespace", "kernel-clone3-namespace", "keys-list", "write-set-id"})
        self.assertEqual(set(granted.values()), {'"nested", profile work'})
        self.assertEqual([row for row in proof["attacks"] if row["verdict"] == "leaked"], [])
        self.assertEqual(done.returncode, 0)

    def test_the_users_own_variables_stay_what_they_are(self):
        broken = Broken(self)
        broken.prove("--network", "none", env={"GITHUB_TOKEN": "the user's own"})
        self.assertNotIn(["env", "GITHUB_TOKEN"], broken.canaries())
        self.assertIn(["env", "NPM_TOKEN"], broken.canaries())


class Inet(InetTest):
    def test_in_the_tier_inet(self):
        before = tree(self.home)
        broken = Broken(self)
        done, proof = broken.prove("--network", "inet")
        self.assertTrue(proof["complete"], done.stderr)
        self.assertEqual(proof["tier"], "inet")
        found = verdicts(proof)
        for name in ("network-loopback-tcp", "network-loopback-udp", "network-host-tcp", "network-host-udp"):
            self.assertEqual(found[name], "blocked", name)
        hosts = {row[2] for row in broken.canaries() if row[0] == "tcp" and row[1] == "host"}
        self.assertIn("192.168.77.5", hosts)
        self.assertEqual({name: what for name, what in tree(self.home).items() if not name.startswith(".claudebox")}, before)

    def test_ports_by_name(self):
        """Reported as granted, with the origin of the grant; all other ports are attacked."""
        self.profile("work", network="inet", host_ports=[8080], publish=[4711])
        broken = Broken(self)
        done, proof = broken.prove("--profile", "work", "--host-port", "443")
        rows = {row["name"]: (row["verdict"], row["why"]) for row in proof["attacks"]}
        self.assertEqual(rows["network-loopback-tcp"], ("granted", "--host-port opens port 443 of the host's loopback; "
                                                                   "profile work opens port 8080 of the host's loopback"))
        self.assertEqual(rows["network-incoming"], ("granted", "profile work opens port 4711 of the box to the host's loopback"))
        self.assertEqual((done.returncode, proof["complete"], proof["leaked"], proof["granted"]), (0, True, 0, 2))
        for name in ("network-loopback-udp", "network-host-tcp", "network-mapped", "network-unspecified"):
            self.assertEqual(rows[name][0], "blocked", rows[name])
        attacked = {row[0]: row[-1] for row in broken.canaries() if row[:2] == ["tcp", "loopback"] or row[0] == "incoming"}
        self.assertEqual(set(attacked), {"tcp", "incoming"})
        self.assertEqual(set(attacked.values()) & {"443", "4711", "8080"}, set())

    def test_ports_without_a_grant(self):
        """A pasta that opens more ports than requested: no grant covers them."""
        broken = Broken(self)
        (broken.directory / "pasta").write_text(PASTA.format(pasta=shutil.which("pasta"), log=str(broken.log)))
        (broken.directory / "pasta").chmod(0o755)
        done, proof = broken.prove("--network", "inet", "--host-port", "8080", "--publish", "4711")
        self.assertIsNotNone(proof, done.stderr)
        self.assertLessEqual({"network-loopback-tcp", "network-incoming"}, set(leaks(proof)))
        self.assertEqual((done.returncode, proof["granted"]), (1, 0))


# Opens the ports of the canaries, which it reads from the list.
PASTA = """#!/usr/bin/python3 -I
import os, signal, sys
with open({log!r}) as log:
    lines = [line.split() for line in log]
words = sys.argv[:]
words[words.index("--tcp-ns") + 1] += "".join("," + line[3] for line in lines if line[:2] == ["tcp", "loopback"])
words[1:1] = [word for line in lines if line[0] == "incoming" for word in ("--tcp-ports", "127.0.0.1/" + line[1])]
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.execv({pasta!r}, words)
"""


if __name__ == "__main__":
    unittest.main()
