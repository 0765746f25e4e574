# SPDX-License-Identifier: MIT
"""With a real Nix daemon: the packages of a profile are in the box, or an error gives the name and the reason."""
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import time
import unittest

from lib.box import CLAUDEBOX, processes_with, tree, until
from lib.nix import NixTest

NEEDS_NIX = True
SLEEPS = "sleep\x0030\x00"


class PackagesTest(NixTest):
    def setUp(self):
        super().setUp()
        # A wrapper that adds a line to a file for each call of nix.
        self.calls = self.home / "calls"
        wrapper = self.home / "bin/nix"
        wrapper.write_text(f'#!/bin/sh\necho "$@" >>{self.calls}\nexec /usr/bin/nix "$@"\n')
        wrapper.chmod(0o755)
        self.env["PATH"] = f"{self.home}/bin:{self.env['PATH']}"

    def called(self):
        """Returns how often nix has run since the last call."""
        count = len(self.calls.read_text().splitlines()) if self.calls.exists() else 0
        self.calls.unlink(missing_ok=True)
        return count

    def roots(self):
        """Returns the store paths that claudebox keeps, without nixpkgs itself."""
        return {path for path in map(os.readlink, (self.home / ".claudebox/gcroots").iterdir()) if not path.endswith("-source")}

    def cache(self):
        return list((self.home / ".claudebox/packages").glob("*.json"))

    def refusal(self, *packages, **more):
        """Checks that claudebox refuses to start with these packages, and returns its messages."""
        self.profile(*packages, **more)
        return self.refused()


class Packages(PackagesTest):
    def test_a_program_of_a_package_runs(self):
        self.profile("hello")
        self.assertEqual(self.box("hello; command -v hello"), f"hello from Nix\n{self.where('hello')['out']}/bin/hello\n")

    def test_packages_come_first_in_PATH_in_order(self):
        self.profile("two", "late", "hello")
        text, path = self.box("cat /etc/claude-code/CLAUDE.md; echo $PATH").strip().rsplit("\n", 1)
        self.assertIn("- The user added `two`, `late`, `hello` (Nix packages, first in `PATH`).\n", text)
        path = path.split(":")
        self.assertEqual(path[:3], [f"{self.where('two')['bin']}/bin", f"{self.where('late')['out']}/bin",
                                    f"{self.where('hello')['out']}/bin"])
        self.assertIn("/usr/bin", path)

    def test_packages_work_without_network(self):
        self.profile("hello")
        self.assertEqual(self.claudebox("--yes", "--network", "none", "--exec", "hello").stdout, "hello from Nix\n")

    def test_all_outputs_with_programs(self):
        self.profile("both", "hidden", "two", "python3Packages.tool")
        self.assertEqual(self.box("both; both-extra; hidden; two; nested"),
                         "".join(f"{name} from Nix\n" for name in ("both", "both-extra", "hidden", "two", "nested")))

    def test_a_package_without_programs_is_no_error(self):
        self.profile("nobin", "file", "hello")
        done = self.claudebox("--yes", "--audit=full", "--exec", "hello")
        self.assertEqual(done.stdout, "hello from Nix\n")
        for name in ("nobin", "file"):
            self.assertRegex(done.stderr, rf"\[\+\] {name} +{self.where(name)['out']} \(profile default; without programs\)\n")

    def test_audit_and_plan_show_the_origin(self):
        self.profile("hello", name="work")
        done = self.claudebox("--profile", "work", "--yes", "--audit=full", "--exec", "cat", "/etc/claude-code/SANDBOX.md")
        hello = self.where("hello")["out"]
        self.assertIn(f"\nPackages:  from Nix, first in PATH\n  [+] hello {hello} (profile work)\n", done.stderr)
        self.assertRegex(done.stderr, rf"\[~\] PATH +{hello}/bin\n")
        self.assertIn("The user added `hello`", done.stdout)
        self.assertEqual(self.plan("--profile", "work")["packages"],
                         [{"name": "hello", "path": hello, "bin": f"{hello}/bin", "origin": "profile work"}])

    def test_the_reference_can_be_chosen(self):
        copy = self.home / "other"
        shutil.copytree(pathlib.Path(os.environ["STAGE"]) / "tests/lib/nixpkgs", copy)
        recipe = copy / "packages.nix"
        recipe.write_text(recipe.read_text().replace("from Nix", "from another"))
        self.profile("hello", nixpkgs=f"path:{copy}")
        self.assertEqual(self.box("hello"), "hello from another\n")

    def test_the_same_package_twice_is_there_once(self):
        self.profile("hello", "hello")
        self.assertEqual(self.box("echo $PATH").count(self.where("hello")["out"]), 1)

    def test_dry_run_changes_no_files(self):
        self.profile("hello")
        before = {name: value for name, value in tree(self.home).items() if not name.startswith((".cache", "calls"))}
        self.assertEqual(len(self.plan()["packages"]), 1)
        self.assertEqual({name: value for name, value in tree(self.home).items() if not name.startswith((".cache", "calls"))}, before)

    def test_nix_does_not_run_if_no_box_can_start(self):
        self.profile("hello")
        self.refused(cwd=self.home)
        self.assertEqual(self.called(), 0)


class PackagesErrors(PackagesTest):
    def test_a_name_that_does_not_exist(self):
        message = self.refusal("hello", "helo")
        self.assertIn("claudebox: profile '~/.claudebox/profiles/default.json': line 1, column 24: 'packages[1]': 'helo' is not in 'nixpkgs'\n", message)
        self.assertIn("hint: did you mean hello?\n", message)
        self.assertIn("hint: search for the name: `nix search nixpkgs WORD`\n", self.refusal("nothing-like-it"))

    def test_a_name_that_cannot_be_evaluated(self):
        for packages in (["unfree"], ["hello", "unfree", "two"]):
            self.assertIn("'unfree' cannot be used: Package ‘unfree-1.0’ has an unfree license",
                          self.refusal(*packages))
        self.assertIn("'packages[1]': 'insecure' cannot be used: Package ‘insecure-1.0’ is marked as insecure",
                      self.refusal("hello", "insecure"))

    def test_a_name_that_is_no_package(self):
        for name in ("notAPackage", "python3Packages"):
            message = self.refusal("hello", name)
            self.assertIn(f"'packages[1]': '{name}' cannot be used: ", message)
            self.assertIn("is not a derivation", message)

    def test_a_build_that_fails_shows_its_last_lines(self):
        message = self.refusal("hello", "broken")
        self.assertIn("'packages[1]': 'broken' cannot be built: ", message)
        self.assertIn("\n  > first line of the log\n  > why it fails\n", message)
        self.assertIn("hint: remove it from the list, or run `nix build nixpkgs#broken` to see the whole log\n", message)
        self.assertEqual(self.cache(), [])

    def test_nix_is_missing(self):
        (self.home / "bin/nix").unlink()
        self.profile("hello")
        empty = self.scratch()
        for name in ("bwrap", "git"):
            (empty / name).symlink_to(shutil.which(name))
        message = self.refused("--yes", "--exec", "true", env={"PATH": str(empty)})
        self.assertIn("claudebox: profile '~/.claudebox/profiles/default.json': line 1, column 15: 'packages[0]': 'hello': nix is not installed\n", message)
        self.assertIn("hint: install Nix", message)

    def test_nix_of_the_project_is_not_used(self):
        trap = self.project / "nix"
        trap.write_text(f"#!/bin/sh\ntouch {self.home}/ran\n")
        trap.chmod(0o755)
        self.profile("hello")
        self.assertEqual(self.box("hello", env={"PATH": f"{self.project}:{self.env['PATH']}"}), "hello from Nix\n")
        self.assertFalse((self.home / "ran").exists())

    def test_the_callers_environment_changes_nothing(self):
        settings = self.project / "nix"
        settings.mkdir()
        (settings / "nix.conf").write_text("flake-registry = /nowhere\n")
        self.profile("hello")
        hostile = {"NIX_CONFIG": "experimental-features =", "NIX_REMOTE": "/nowhere", "NIX_CONF_DIR": "/nowhere",
                   "NIX_USER_CONF_FILES": "/nowhere", "NIX_PATH": "nixpkgs=/nowhere", "NIX_STORE_DIR": "/nowhere",
                   "XDG_CONFIG_HOME": str(self.project), "XDG_CACHE_HOME": str(self.project)}
        self.assertEqual(self.box("hello", env=hostile), "hello from Nix\n")
        self.assertEqual(os.listdir(self.project), ["nix"])

    def test_hostile_names_are_refused_before_nix_runs(self):
        for name in ("--option", "-f", "hello^*", "hello#x", "../x", "/nix/store", "hello;x", "$(id)", "a b", "a\nb", "", ".", "a..b",
                     "hello.", "“x”", "x" * 300, "nixpkgs#hello", 'a."b"'):
            with self.subTest(name):
                self.profile(name)
                self.assertNotIn(self.claudebox("--yes", "--exec", "true").returncode, (0, 1))
        for reference in ("--help", "", ".", "./x", "~/x", "path:.", "x#y", "a b", "a\nb"):
            with self.subTest(reference):
                self.profile("hello", nixpkgs=reference)
                self.assertNotIn(self.claudebox("--yes", "--exec", "true").returncode, (0, 1))
        self.assertEqual(self.called(), 0)

    def test_a_reference_that_leads_nowhere(self):
        message = self.refusal("hello", nixpkgs="path:/nowhere")
        self.assertIn("claudebox: profile '~/.claudebox/profiles/default.json': line 1, column 36: 'nixpkgs': 'path:/nowhere' cannot be used: ", message)
        self.assertIn("No such file", message)
        self.assertIn("cannot find flake", self.refusal("hello", nixpkgs="nopkgs"))

    def test_messages_of_nix_are_escaped(self):
        copy = self.own_nixpkgs()
        recipe = copy / "packages.nix"
        recipe.write_text(recipe.read_text().replace("notAPackage =", 'evil = throw "\x1b[31mred\x1b]0;title\x07\\rover";\n  notAPackage ='))
        message = self.refusal("hello", "evil")
        self.assertIn("'packages[1]': 'evil'", message)
        self.assertNotRegex(message, r"[\x00-\x09\x0b-\x1f\x7f]")


class PackagesProgress(PackagesTest):
    def test_pipe_gets_one_line_for_each_build(self):
        self.profile("late", "python3Packages.tool")
        for path in (self.where("late")["out"], self.where("python3Packages.tool")["out"]):
            if os.path.exists(path):
                self.nix("store", "delete", path)
        first = self.claudebox("--yes", "--exec", "true").stderr
        self.assertIn("claudebox: building late\n", first)
        self.assertIn("claudebox: building nested\n", first)
        self.assertNotIn("building", self.claudebox("--yes", "--exec", "true").stderr)

    def test_quiet_shows_no_progress(self):
        self.profile("late")
        if os.path.exists(self.where("late")["out"]):
            self.nix("store", "delete", self.where("late")["out"])
        self.assertEqual(self.claudebox("--yes", "--quiet", "--exec", "true").stderr, "")
        self.assertTrue(os.path.exists(self.where("late")["out"]))

    def slow(self):
        """Starts claudebox with a package that takes long to build, and waits for the build."""
        self.profile("slow")
        box = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "true"], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(box.kill)
        self.assertTrue(until(lambda: processes_with(SLEEPS), 20))
        return box

    def test_a_signal_stops_the_build_and_nothing_is_started(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                box = self.slow()
                box.send_signal(number)
                message = box.communicate(timeout=10)[1]
                self.assertEqual(box.returncode, 128 + number)
                self.assertIn("claudebox: interrupted while nix was running", message)
                self.assertNotIn("Mounts:", message)
                self.assertTrue(until(lambda: not processes_with(SLEEPS)))
                self.assertEqual(processes_with("nixpkgs\x00") + processes_with("#slow\x00"), [])

    def test_nix_ends_when_claudebox_is_killed(self):
        box = self.slow()
        box.kill()
        box.communicate(timeout=10)
        self.assertTrue(until(lambda: not processes_with(SLEEPS) and not processes_with("#slow\x00")))

    def test_terminal_shows_one_line_and_Ctrl_C_stops_nix(self):
        self.profile("slow")
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.project)
            os.execve(CLAUDEBOX, [CLAUDEBOX, "--exec", "true"], self.env)
        self.addCleanup(os.close, terminal)
        seen = b""
        end = time.monotonic() + 20
        while b"building slow" not in seen and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 4096)
        self.assertTrue(until(lambda: processes_with(SLEEPS), 20))
        os.write(terminal, b"\x03")
        try:
            while True:
                seen += os.read(terminal, 4096)
        except OSError:
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)
        self.assertIn(b"\rclaudebox: building slow\x1b[K", seen)
        self.assertIn(b"\r\x1b[Kclaudebox: interrupted", seen)
        self.assertTrue(until(lambda: not processes_with(SLEEPS)))


class PackagesCache(PackagesTest):
    def test_second_start_does_not_run_nix(self):
        self.profile("hello", "two")
        self.box("true")
        self.assertEqual(self.called(), 3)
        self.assertEqual(self.box("hello; two"), "hello from Nix\ntwo from Nix\n")
        self.assertEqual(self.called(), 0)
        self.profile("two", "hello")
        self.box("true")
        self.assertGreater(self.called(), 0)

    def test_cache_is_private_and_links_keep_the_packages(self):
        self.profile("hello", "both")
        self.box("true")
        for name in ("packages", "gcroots"):
            self.assertEqual((self.home / ".claudebox" / name).stat().st_mode & 0o7777, 0o700)
        self.assertEqual([file.stat().st_mode & 0o7777 for file in self.cache()], [0o600])
        self.assertEqual(self.roots(), {self.where("hello")["out"], *self.where("both").values()})
        self.collect()
        self.assertEqual(self.box("hello; both-extra"), "hello from Nix\nboth-extra from Nix\n")
        self.called()

    def test_missing_store_path_is_built_again(self):
        self.profile("late")
        self.box("true")
        for link in (self.home / ".claudebox/gcroots").iterdir():
            link.unlink()
        self.collect()
        self.assertFalse(os.path.exists(self.where("late")["out"]))
        self.called()
        self.assertEqual(self.box("late"), "late from Nix\n")
        self.assertEqual(self.called(), 3)
        self.assertEqual(self.roots(), {self.where("late")["out"]})

    def test_damaged_cache_file_is_replaced(self):
        self.profile("hello")
        self.box("true")
        file, = self.cache()
        good = json.loads(file.read_text())
        evil = json.loads(file.read_text())
        evil["packages"][0]["outputs"] = [{"path": str(self.project), "bin": True}]
        for text in ("", "{", "[]", "{}", json.dumps(evil), json.dumps(good | {"stamp": "x"}), json.dumps(good | {"until": 1}),
                     json.dumps(good | {"until": 2 ** 40}), json.dumps(good | {"packages": []}), "x" * 2_000_000):
            with self.subTest(text[:60]):
                self.called()
                file.write_text(text)
                self.assertEqual(self.box("hello"), "hello from Nix\n")
                self.assertEqual(self.called(), 3)
                self.assertEqual(json.loads(file.read_text()), good)

    def test_links_in_place_of_the_cache_are_not_followed(self):
        self.profile("hello")
        elsewhere = self.scratch()
        for name in ("gcroots", "packages"):
            with self.subTest(name):
                place = self.home / ".claudebox" / name
                place.symlink_to(elsewhere)
                self.refused()
                place.unlink()
                self.assertEqual(os.listdir(elsewhere), [])
        self.box("true")
        file, = self.cache()
        target = elsewhere / "target"
        target.write_text("mine")
        file.unlink()
        file.symlink_to(target)
        self.assertEqual(self.box("hello"), "hello from Nix\n")
        self.assertEqual(target.read_text(), "mine")

    def test_changed_registry_invalidates_the_cache(self):
        self.profile("hello")
        self.assertEqual(self.box("hello"), "hello from Nix\n")
        copy = self.own_nixpkgs()
        recipe = copy / "packages.nix"
        recipe.write_text(recipe.read_text().replace("from Nix", "from mine"))
        self.assertEqual(self.box("hello"), "hello from mine\n")
        mine = self.roots()
        self.assertEqual(len(mine), 1)
        # A directory can change at any time, so nix always runs.
        recipe.write_text(recipe.read_text().replace("from mine", "from now"))
        self.assertEqual(self.box("hello"), "hello from now\n")
        self.assertEqual(len(self.roots()), 1)
        self.assertNotEqual(self.roots(), mine)
        self.assertEqual(self.cache(), [])

    def test_unused_cache_entries_are_removed(self):
        self.profile("hello", name="old")
        self.claudebox("--profile", "old", "--yes", "--exec", "true")
        old = {*self.cache(), *(self.home / ".claudebox/gcroots").iterdir()}
        self.assertEqual(len(old), 3)
        for path in old:
            os.utime(path, (0, time.time() - 40 * 86400), follow_symlinks=False)
        self.profile("two")
        self.box("true")
        self.assertEqual([path for path in old if os.path.lexists(path)], [])
        self.assertEqual(self.roots(), {self.where("two")["bin"]})

    def test_used_cache_entries_are_kept(self):
        self.profile("hello")
        self.box("true")
        file, = self.cache()
        os.utime(file, (0, time.time() - 40 * 86400))
        self.box("true")
        self.assertLess(time.time() - file.stat().st_mtime, 1000)


if __name__ == "__main__":
    unittest.main()
