# SPDX-License-Identifier: MIT
"""--check and the start on machines without user namespaces for ordinary users: the cause, and a command that fixes it."""
import json
import os
import pathlib
import subprocess
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.other_host import OtherHost

INSTALLED = "/usr/local/bin/claudebox"
PROFILE = "/usr/local/share/claudebox/apparmor/claudebox"
# bwrap's message on Ubuntu, which allows the namespace but no capability in it.
REFUSAL = "bwrap: setting up uid map: Permission denied"


class UserNamespaces(BoxTest):
    def setUp(self):
        super().setUp()
        self.fake_claude("echo 1.0")
        self.host = OtherHost(self, {"/etc/apparmor.d/abi/4.0": ""})
        self.programs = self.home / "programs"
        self.programs.mkdir()
        # The outer bwrap is the real one.
        self.with_bwrap = ("/usr/bin/env", f"PATH={self.programs}:/usr/bin:/bin")

    def bwrap(self, body):
        (self.programs / "bwrap").write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo bubblewrap 0.9.0 && exit 0\n"
                                             f"# words that it is searched for: --disable-userns --ro-bind-fd\n{body}\n")
        (self.programs / "bwrap").chmod(0o755)

    def settings(self, **values):
        """Returns bwrap options that mount these values over the kernel's settings."""
        kernel, user = self.scratch(), self.scratch()
        for name, value in values.items():
            ((user if name.startswith("max_") else kernel) / name).write_text(f"{value}\n")
        return ["--ro-bind", kernel, "/proc/sys/kernel", "--ro-bind", user, "/proc/sys/user"]

    def installed(self):
        profile = self.scratch() / "profile"
        profile.write_text("")
        return ["--tmpfs", "/usr/local", "--ro-bind", CLAUDEBOX, INSTALLED, "--ro-bind", profile, PROFILE]

    def check(self, options, program=CLAUDEBOX):
        done = self.host.run(*self.with_bwrap, program, "--check=json", options=options)
        self.assertEqual(done.returncode, 1, done.stderr)
        return json.loads(done.stdout)["checks"][0]

    def test_AppArmor_is_recognised(self):
        self.bwrap(f"echo {REFUSAL!r} >&2; exit 1")
        found = self.check(self.settings(apparmor_restrict_unprivileged_userns=1))
        self.assertEqual((found["name"], found["state"]), ("bwrap", "broken"))
        self.assertIn("AppArmor", found["detail"])
        self.assertRegex(found["fix"], "^install claudebox .*`sudo make install`")

    def test_an_installed_claudebox_has_a_profile_of_its_own(self):
        self.bwrap(f"echo {REFUSAL!r} >&2; exit 1")
        settings = self.settings(apparmor_restrict_unprivileged_userns=1)
        found = self.check([*self.installed(), *settings], INSTALLED)
        self.assertEqual(found["fix"], f"run `sudo install -m 644 {PROFILE} /etc/apparmor.d/claudebox && sudo apparmor_parser -r "
                                       "/etc/apparmor.d/claudebox`")
        # The profile applies to the installed program only.
        self.assertNotIn(PROFILE, self.check([*self.installed(), *settings])["fix"])

    def test_other_causes(self):
        self.bwrap("echo 'bwrap: No permissions to create a new namespace' >&2; exit 1")
        for values, fix in (({"unprivileged_userns_clone": 0}, "kernel.unprivileged_userns_clone=1"),
                            ({"max_user_namespaces": 0}, "user.max_user_namespaces="),
                            ({"unprivileged_userns_clone": 0, "apparmor_restrict_unprivileged_userns": 1}, "userns_clone")):
            self.assertIn(fix, self.check(self.settings(**values))["fix"])
        found = self.check([])
        self.assertIn("No permissions", found["detail"])

    def start(self, options):
        done = self.host.run(*self.with_bwrap, CLAUDEBOX, "--yes", "--exec", "true", options=options)
        self.assertEqual(done.returncode, 125, done.stderr)
        return done.stderr

    def test_start_shows_the_cause(self):
        self.bwrap(f"echo {REFUSAL!r} >&2; exit 1")
        self.assertRegex(self.start(self.settings(apparmor_restrict_unprivileged_userns=1)), r"(?m)^hint: AppArmor .*sudo ")

    def test_AppArmor_profile_that_allows_regular_files_only(self):
        """Ubuntu 25.04 has such a profile for bwrap, and a box starts its init from a memfd."""
        self.bwrap("for word; do :; done\ncase $word in /proc/self/fd/*) echo \"bwrap: execvp $word: Permission denied\" >&2; exit 1 ;; esac\nexit 0")
        found = self.check(self.settings(apparmor_restrict_unprivileged_userns=1))
        self.assertIn("AppArmor", found["detail"])

    def test_AppArmor_is_not_reported_if_it_allows_bwrap(self):
        """On Ubuntu the setting has the same value if a profile makes an exception for bwrap."""
        self.bwrap('case $* in *"--ro-bind / /"*) exit 125 ;; esac\necho "bwrap: something else" >&2; exit 1')
        message = self.start(self.settings(apparmor_restrict_unprivileged_userns=1))
        self.assertNotIn("AppArmor", message)
        self.assertIn("hint: the message of bwrap is above", message)


class Chroot(BoxTest):
    """The real bwrap, in a chroot with the directories of /."""

    ENTER = """
        for entry in /*; do
            if [ -L "$entry" ]; then cp -P "$entry" "$1"; elif [ -d "$entry" ]; then mkdir "$1$entry" && mount --rbind "$entry" "$1$entry"; fi
        done
        exec chroot "$@"
    """

    def run_there(self, *arguments):
        return subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-euc", self.ENTER, "sh", self.scratch(),
                               "env", f"--chdir={self.project}", CLAUDEBOX, *arguments],
                              env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)

    def test_chroot_is_recognised(self):
        done = self.run_there("--check=json")
        found = json.loads(done.stdout)["checks"][0]
        self.assertEqual((found["name"], found["state"]), ("bwrap", "broken"))
        self.assertIn("this is a chroot", found["detail"])
        self.assertIn("`sudo bwrap --bind ", found["fix"])

    def test_start_shows_the_cause(self):
        done = self.run_there("--yes", "--exec", "true")
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^hint: this is a chroot, .*: enter ")


class Profile(unittest.TestCase):
    def setUp(self):
        self.text = (pathlib.Path(os.environ["STAGE"]) / "packaging/apparmor/claudebox.in").read_text()

    def part(self, name):
        return self.text.split(f"profile {name} ")[1].split("\n}")[0]

    def test_only_bwrap_gets_capabilities_in_a_user_namespace(self):
        self.assertNotIn("userns,", self.part("claudebox"))
        self.assertIn("allow userns,", self.part("claudebox_bwrap"))
        self.assertIn("allow capability,", self.part("claudebox_bwrap"))
        self.assertNotIn("\n  allow capability", self.part("claudebox_agent"))
        self.assertIn("-> &claudebox_bwrap//&claudebox_agent,", self.part("claudebox_bwrap"))

    def test_no_profile_is_attached_to_every_bwrap(self):
        attached = [line.split()[2] for line in self.text.splitlines() if line.startswith("profile ")]
        self.assertEqual([word for word in attached if not word.startswith("flags=")], ["@PROGRAM@"])


if __name__ == "__main__":
    unittest.main()
