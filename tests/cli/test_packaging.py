# SPDX-License-Identifier: MIT
"""packaging/: the packages agree with the build, and the AppArmor profile names the installed program."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

STAGE = pathlib.Path(os.environ["STAGE"])
PACKAGING = STAGE / "packaging"


def run(*command, **options):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, timeout=300, **options)


class Packages(unittest.TestCase):
    def test_one_version(self):
        version = re.search(r"(?m)^  version: '(.*)',$", (STAGE / "meson.build").read_text())[1]
        self.assertEqual(re.search(r'(?m)^ +version = "(.*)";$', (STAGE / "flake.nix").read_text())[1], version)
        self.assertRegex(run(os.environ["CLAUDEBOX"], "--version").stdout, rf"^claudebox {re.escape(version)}\n")

    def test_each_library_is_a_build_dependency(self):
        modules = set(re.findall(r"dependency\('(\w+)'", (STAGE / "meson.build").read_text()))
        self.assertIn("jansson", modules)
        control = (PACKAGING / "debian/control").read_text()
        for module in modules:
            self.assertIn(f" lib{module.removeprefix('lib')}-dev,\n", control)

    def test_packages_are_for_the_architectures_of_init(self):
        known = set(re.findall(r"\w+64", re.search(r'#error "supported machines are (.*?):', (STAGE / "src/freestanding/syscall.h").read_text())[1]))
        self.assertLessEqual({"x86_64", "aarch64"}, known)
        debian = {"x86_64": "amd64", "aarch64": "arm64"}
        control = re.search(r"(?m)^Architecture: (.*)$", (PACKAGING / "debian/control").read_text())[1]
        self.assertEqual(set(control.split()), {debian.get(name, name) for name in known})

    def test_the_profile_is_installed_for_the_program_that_is_installed(self):
        place = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, place)
        done = run("meson", "setup", place / "build", STAGE, "--prefix=/opt/box", "-Dman=disabled")
        self.assertEqual(done.returncode, 0, done.stdout)
        profile = (place / "build/claudebox.apparmor").read_text()
        self.assertIn("profile claudebox /opt/box/bin/claudebox flags=", profile)
        self.assertNotIn("@BWRAP@", profile)
        self.assertIn("/opt/box/share/claudebox/apparmor/claudebox", run("meson", "introspect", "--installed", place / "build").stdout)


class MaintainerScripts(unittest.TestCase):
    """postinst and postrm, on copies of the system's directories."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "etc/apparmor.d/abi").mkdir(parents=True)
        self.link = self.root / "etc/apparmor.d/claudebox"

    def script(self, name, *arguments):
        text = (PACKAGING / f"debian/claudebox.{name}").read_text().replace("=/etc/", f"={self.root}/etc/")
        done = run("sh", "-euc", text.replace(" /etc/", f" {self.root}/etc/"), name, *arguments)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_an_AppArmor_that_does_not_know_user_namespaces_gets_no_profile(self):
        self.script("postinst", "configure")
        self.assertFalse(self.link.is_symlink())
        self.script("postrm", "remove")

    def test_the_profile_is_enabled_and_disabled(self):
        (self.root / "etc/apparmor.d/abi/4.0").write_text("")
        self.script("postinst", "configure")
        self.assertEqual(os.readlink(self.link), "/usr/share/claudebox/apparmor/claudebox")
        self.script("postinst", "configure", "0.0.1")
        self.script("postrm", "upgrade")
        self.assertTrue(self.link.is_symlink())
        self.script("postrm", "remove")
        self.assertFalse(self.link.is_symlink())

    def test_a_profile_of_the_administrator_is_kept(self):
        (self.root / "etc/apparmor.d/abi/4.0").write_text("")
        self.link.write_text("mine")
        self.script("postinst", "configure")
        self.script("postrm", "remove")
        self.assertEqual(self.link.read_text(), "mine")


if __name__ == "__main__":
    unittest.main()
