# SPDX-License-Identifier: MIT
"""--mount-ro and --mount-rw: sources, destinations, symbolic links, secrets, and what a mount must
not hide."""
import os
import socket
import unittest

from lib.box import BoxTest

AS_ROOT = True


class Mounts(BoxTest):
    def setUp(self):
        super().setUp()
        self.data = self.scratch()
        (self.data / "file").write_text("content\n")
        (self.data / "sub").mkdir()
        self.there = self.home / "there"
        self.there.mkdir()
        (self.there / "mine").write_text("mine\n")

    def mounted(self, script, *options, cwd=None):
        done = self.claudebox(*options, "--yes", "--exec", "sh", "-c", script, cwd=cwd)
        self.assertNotEqual(done.returncode, 125, done.stderr[-400:])
        return done.stdout

    def refusal(self, option, path):
        return self.refused(f"--mount-{option}", path, "--yes", "--exec", "true")

    def test_mount_ro_of_a_directory_is_read_only(self):
        out = self.mounted(f"cat {self.data}/file; touch {self.data}/new 2>&1", "--mount-ro", self.data)
        self.assertIn("content", out)
        self.assertIn("Read-only file system", out)
        self.assertFalse((self.data / "new").exists())

    def test_mount_rw_of_a_directory_is_writable(self):
        self.mounted(f"echo new >{self.data}/new", "--mount-rw", self.data)
        self.assertEqual((self.data / "new").read_text(), "new\n")

    def test_mount_of_a_single_file(self):
        out = self.mounted(f"ls -A {self.data}; cat {self.data}/file", "--mount-ro", self.data / "file")
        self.assertEqual(out, "file\ncontent\n")

    def test_another_destination(self):
        out = self.mounted("cat ~/else/where/file /opt/x", "--mount-ro", f"{self.data}:~/else/where", "--mount-ro", f"{self.data}/file:/opt/x")
        self.assertEqual(out, "content\ncontent\n")
        self.assertFalse((self.home / "else").exists())

    def test_home_and_relative_paths(self):
        (self.project / "notes").mkdir()
        self.assertEqual(self.mounted("cat ~/there/mine", "--mount-ro", "~/there"), "mine\n")
        self.assertEqual(self.mounted(f"cat {self.there}/mine", "--mount-ro", "../there"), "mine\n")
        self.assertEqual(self.mounted("cat notes/mine", "--mount-ro", "~/there:notes"), "mine\n")

    def test_a_colon_in_a_path(self):
        odd = self.data / "a:b"
        odd.mkdir()
        (odd / "x").write_text("odd\n")
        self.assertEqual(self.mounted("cat /o:p/x", "--mount-ro", f"{self.data}/a\\:b:/o\\:p"), "odd\n")

    def test_a_source_that_is_a_symbolic_link(self):
        (self.home / "link").symlink_to(self.data)
        self.assertEqual(self.mounted("cat ~/link/file", "--mount-ro", "~/link"), "content\n")

    def test_a_destination_in_the_project_must_exist(self):
        before = sorted(os.listdir(self.project))
        self.assertIn("requires that", self.refusal("ro", f"{self.data}:missing"))
        self.assertIn("requires that", self.refusal("ro", f"{self.data}/file:missing"))
        self.assertEqual(sorted(os.listdir(self.project)), before)

    def test_a_destination_in_the_project_follows_no_symbolic_link(self):
        victim = self.scratch()
        (self.project / "planted").symlink_to(victim)
        (self.project / "deep").symlink_to("/oldroot" + str(victim))
        for place in ("planted", "planted/x", "deep"):
            errors = self.refusal("ro", f"{self.data}:{place}")
            self.assertRegex(errors, "symbolic link|needs")
        self.assertEqual(os.listdir(victim), [])

    def test_a_mount_must_not_hide_parts_of_the_box(self):
        for place in ("/", "/proc", "/proc/sys", "/dev/shm", "/usr", "/nix/store", "/nix", "~", str(self.home.parent), "~/.claude", "~/.claude/x",
                      "/run/claudebox", "/etc/claude-code", "/etc", ".", str(self.project), str(self.project.parent), "/tmp", "~/bin"):
            with self.subTest(place):
                self.refusal("ro", f"{self.data}:{place}")

    def test_overlapping_destinations_are_refused(self):
        for second in (f"{self.there}:/opt/a", f"{self.there}:/opt/a/b", f"{self.there}:/opt"):
            errors = self.refused("--mount-ro", f"{self.data}:/opt/a", "--mount-ro", second, "--yes", "--exec", "true")
            self.assertRegex(errors, "overlaps|hide")

    def test_invalid_sources_are_refused(self):
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(str(self.data / "socket"))
        os.mkfifo(self.data / "fifo")
        for path in (self.data / "nothing", self.data / "socket", self.data / "fifo", "/dev/null", self.home, "/", "~/.claudebox", self.home.parent):
            with self.subTest(path):
                self.refusal("ro", f"{path}:/opt/x")

    def test_a_secret_place_is_mounted_only_by_its_own_path(self):
        for name in (".ssh", ".aws", ".config/gh"):
            (self.home / name).mkdir(parents=True)
        (self.home / ".aws" / "credentials").write_text("CANARY\n")
        (self.home / "innocent").symlink_to(self.home / ".aws")
        (self.home / "file").symlink_to(self.home / ".aws" / "credentials")
        for path in ("~/innocent", "~/file", "~/.config"):
            self.assertRegex(self.refusal("ro", f"{path}:/opt/x"), "leads to|contains")
        done = self.claudebox("--mount-ro", "~/.aws/credentials", "--audit=full", "--yes", "--exec", "sh", "-c", "cat ~/.aws/credentials; ls -A ~/.aws")
        self.assertEqual(done.stdout, "CANARY\ncredentials\n", done.stderr[-300:])
        self.assertIn("SECRET: AWS credentials", done.stderr)
        self.assertIn("the agent can read it", done.stderr)

    def test_a_secret_that_a_variable_moves(self):
        place = self.home / "xx/cc"
        (place / "projects/-other").mkdir(parents=True)
        for name in (".credentials.json", ".claude.json", "history.jsonl"):
            (place / name).write_text("{}")
        (self.home / "k/b").mkdir(parents=True)
        (self.home / "k/a").write_text("x")
        moved = {"CLAUDE_CONFIG_DIR": str(place), "KUBECONFIG": f"/dev/null:{self.home}/k/a:~/k/b", "XDG_CONFIG_HOME": str(self.home / "set")}
        (self.home / "set/gh").mkdir(parents=True)
        self.env.update(moved)
        for path in ("~/xx", "~/xx/cc", "~/k", "~/set"):
            for mode in ("ro", "rw"):
                with self.subTest(path, mode=mode):
                    self.assertIn("contains", self.refusal(mode, f"{path}:/opt/x"))
        for path, what in (("~/xx/cc/projects", "conversations"), ("~/xx/cc/.credentials.json", "Claude credentials"), ("~/k/a", "Kubernetes"),
                           ("~/k/b", "Kubernetes"), ("~/set/gh", "GitHub tokens")):
            with self.subTest(path):
                secrets = {mount["path"]: mount.get("secret") for mount in self.plan("--mount-ro", f"{path}:/opt/x")["mounts"]}
                self.assertTrue(secrets["/opt/x"])
                self.assertIn(what, self.claudebox("--mount-ro", f"{path}:/opt/x", "--yes", "--exec", "true").stderr)

    def test_a_variable_that_names_a_place_in_the_project_or_the_home(self):
        """direnv sets such variables; the project is not refused for them."""
        for variable, value in (("KUBECONFIG", self.project / ".kube/config"), ("GNUPGHOME", self.home), ("DOCKER_CONFIG", "/"), ("HISTFILE", "/dev/null"),
                                ("AWS_CONFIG_FILE", "relative"), ("NETRC", ""), ("PGPASSFILE", "~")):
            with self.subTest(variable):
                self.env[variable] = str(value)
                self.assertEqual(self.claudebox("--yes", "--exec", "true").returncode, 0)

    def test_conversations_are_a_secret_place(self):
        (self.home / ".claude/projects").mkdir(parents=True)
        (self.home / ".claude/history.jsonl").write_text("")
        self.assertIn("contains", self.refusal("ro", "~/.claude:/opt/x"))
        for name in ("projects", "history.jsonl"):
            self.assertRegex(self.claudebox("--mount-ro", f"~/.claude/{name}:/opt/x", "--yes", "--exec", "true").stderr, "conversations|prompts")

    def test_mounts_are_shown_in_the_audit(self):
        done = self.claudebox("--mount-ro", self.data, "--mount-rw", f"{self.there}:/opt/there", "--audit=full", "--yes", "--exec", "cat", "/etc/claude-code/SANDBOX.md")
        self.assertRegex(done.stderr, rf"\[\+\] read-only +{self.data} +\(--mount-ro\)")
        self.assertRegex(done.stderr, r"\[\+\] read-write +/opt/there <- ~/there +\(--mount-rw\)")
        self.assertIn("/opt/there", done.stdout)
        kinds = {mount["path"]: (mount["kind"], mount["origin"]) for mount in self.plan("--mount-ro", self.data)["mounts"]}
        self.assertEqual(kinds[str(self.data)], ("read-only", "requested"))

    def test_dry_run_includes_the_mount(self):
        done = self.claudebox("--mount-ro", f"{self.data}:/opt/x", "--dry-run", "--exec", "true")
        self.assertIn(f"--ro-bind {self.data} /opt/x", done.stdout)


if __name__ == "__main__":
    unittest.main()
