# SPDX-License-Identifier: MIT
"""`nixpkgs` means the same in the box as on the host, in every registry, and no token enters the box."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

from lib.inet import InetTest
from lib.nix import NixTest

NEEDS_NIX = True
STAGE = pathlib.Path(os.environ["STAGE"])

# Works like comma: the index has the package of a command, and nix shell provides it.
COMMA = """#!/bin/sh
package=$(grep "/bin/$1\\$" "${NIX_INDEX_DATABASE:-$HOME/.cache/nix-index}/files" | cut -d' ' -f1)
[ -n "$package" ] || { echo "no package has $1" >&2; exit 1; }
exec nix --extra-experimental-features 'nix-command flakes' shell "nixpkgs#$package" -c "$@"
"""


class RegistryTest(NixTest):
    """Writes the user's nix settings and registry, and copies of nixpkgs for the registry."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.alone:
            raise unittest.SkipTest("the daemon runs as the user, so it is not in the box")

    def setUp(self):
        super().setUp()
        self.settings = self.home / ".config/nix"
        self.settings.mkdir(parents=True)

    def copy(self, word, where="copy"):
        """Copies nixpkgs to a directory of the user, with programs that print another word."""
        copy = self.home / where
        shutil.copytree(STAGE / "tests/lib/nixpkgs", copy)
        recipe = copy / "packages.nix"
        recipe.write_text(recipe.read_text().replace("from Nix", f"from {word}"))
        return copy

    def stored(self, word):
        """Adds such a copy to the store and returns its path."""
        return self.nix("store", "add-path", "--name", "source", self.copy(word, word)).stdout.strip()

    def registry(self, path, **flakes):
        entries = [{"from": {"type": "indirect", "id": name}, "to": to} for name, to in flakes.items()]
        path.write_text(json.dumps({"version": 2, "flakes": entries}))

    def write_tokens(self):
        """Writes a canary to every place in settings and registry where a token can be."""
        (self.settings / "netrc").write_text("password CANARY\n")
        (self.settings / "nix.conf").write_text(
            "access-tokens = github.com=ghp_" "CANARY0123456789abcdefghijABCDEFGHIJ\nextra-access-tokens = x=CANARY\n"
            f"netrc-file = {self.settings}/netrc\n!include {self.settings}/CANARY.conf\nmy-plugin-setting = CANARY\n"
            "extra-substituters = https://user:CANARY@cache.example.org\nwarn-dirty = false\n")
        self.registry(self.settings / "registry.json", nixpkgs={"type": "path", "path": self.stored("mine")},
                      private={"type": "git", "url": "https://user:ghp_" "CANARY0123456789abcdefghijABCDEFGHIJ@example.org/x"},
                      token={"type": "tarball", "url": "https://example.org/x?access_token=ghp_" "CANARY0123456789abcdefghijABCDEFGHIJ"})

    def assertNoToken(self, *options):
        """After write_tokens: checks that the box has no token, and that nix uses the other settings."""
        done = self.claudebox(*options, "--yes", "--exec", "sh", "-c",
                              "env; cat /etc/nix/* ~/.config/nix/* 2>/dev/null; nix show-config; nix registry list; nix run nixpkgs#hello")
        self.assertIn("hello from mine", done.stdout)
        self.assertRegex(done.stdout, r"warn-dirty = false")
        self.assertNotIn("CANARY", done.stdout)
        self.assertNotIn("CANARY", self.claudebox(*options, "--dry-run").stdout)
        for name in ("private", "token"):
            self.assertIn(f"! entry '{name}' of the Nix registry is left out: it looks like it contains a secret", done.stderr)


class Registry(RegistryTest):
    def run_hello(self, name="nixpkgs"):
        """Returns the output of nix shell, run and build in the box."""
        return self.box(f"nix shell {name}#hello -c hello; nix run {name}#hello; $(nix build --no-link --json {name}#hello | "
                        "grep -o '/nix/store/[^\"]*-hello\"' | tr -d '\"' | head -n 1)/bin/hello")

    def test_registry_of_the_system(self):
        self.assertEqual(self.run_hello(), "hello from Nix\n" * 3)

    def test_registry_of_the_user(self):
        self.registry(self.settings / "registry.json", nixpkgs={"type": "path", "path": self.stored("mine")})
        self.assertEqual(self.nix("run", "nixpkgs#hello").stdout, "hello from mine\n")
        self.assertEqual(self.run_hello(), "hello from mine\n" * 3)

    def test_user_registry_extends_the_systems(self):
        self.registry(self.settings / "registry.json", other={"type": "path", "path": self.stored("mine")},
                      alias={"type": "indirect", "id": "nixpkgs"})
        self.assertEqual(self.run_hello("other"), "hello from mine\n" * 3)
        self.assertEqual(self.run_hello(), "hello from Nix\n" * 3)
        self.assertEqual(self.box("nix run alias#hello"), "hello from Nix\n")

    def test_registry_of_the_setting_flake_registry(self):
        self.registry(self.home / "global.json", other={"type": "path", "path": self.stored("afar")})
        (self.settings / "nix.conf").write_text(f"flake-registry = {self.home}/global.json\n")
        self.assertEqual(self.nix("run", "other#hello").stdout, "hello from afar\n")
        self.assertEqual(self.run_hello("other"), "hello from afar\n" * 3)

    def test_box_can_change_its_own_registry(self):
        """The change ends with the box if its home is not kept."""
        self.profile(home="none")
        mine = self.stored("mine")
        self.assertEqual(self.box(f"nix registry add nixpkgs path:{mine}; nix run nixpkgs#hello"), "hello from mine\n")
        self.assertEqual(self.run_hello(), "hello from Nix\n" * 3)
        self.assertEqual(os.listdir(self.settings), [])

    def test_entry_for_a_host_directory_gives_a_warning(self):
        copy = self.copy("here")
        self.nix("registry", "add", "nixpkgs", f"path:{copy}")
        done = self.claudebox("--yes", "--exec", "nix", "run", "nixpkgs#hello")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"! entry 'nixpkgs' of the Nix registry does not work in the box: '{copy}' is not mounted", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_packages_of_a_profile_pin_nixpkgs(self):
        """Then a directory of the host works as well, because nix has copied it to the store."""
        self.nix("registry", "add", "nixpkgs", f"path:{self.copy('here')}")
        self.profile("two")
        self.assertEqual(self.run_hello(), "hello from here\n" * 3)
        links = {os.readlink(link) for link in (self.home / ".claudebox/gcroots").iterdir()}
        source, = [link for link in links if link.endswith("-source")]
        self.collect()
        self.assertTrue(os.path.exists(source))
        self.assertEqual(self.plan()["packages"][0]["name"], "two")

    def test_nixpkgs_of_a_profile_is_used_in_the_box(self):
        self.profile("two", nixpkgs=f"path:{self.stored('chosen')}")
        self.assertEqual(self.box("two"), "two from chosen\n")
        self.assertEqual(self.run_hello(), "hello from chosen\n" * 3)
        self.assertEqual(self.run_hello(), "hello from chosen\n" * 3)  # from the cache

    def test_experimental_features_are_enabled(self):
        (self.settings / "nix.conf").write_text("experimental-features =\n")
        self.assertNotEqual(self.nix("run", "nixpkgs#hello", check=False).returncode, 0)
        self.assertEqual(self.run_hello(), "hello from Nix\n" * 3)

    def test_no_token_enters_the_box(self):
        self.write_tokens()
        self.assertNoToken()

    def test_malformed_registry_is_ignored(self):
        for text in ("", "{", "[]", '{"flakes": 1}', '{"flakes": [1, {}, {"from": 1, "to": 2}]}', "\0"):
            (self.settings / "registry.json").write_text(text)
            self.assertEqual(self.box("nix run nixpkgs#hello || true; echo end").splitlines()[-1], "end")

    def test_dry_run_has_the_registry(self):
        self.registry(self.settings / "registry.json", nixpkgs={"type": "path", "path": self.stored("mine")})
        script = self.claudebox("--dry-run", "--exec", "nix", "run", "nixpkgs#hello").stdout
        path = self.home / "script"
        path.write_text(script)
        done = subprocess.run(["sh", path], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.stdout, "hello from mine\n", done.stderr)

    def comma(self):
        """Adds comma to the store and returns a PATH with it."""
        tree = self.home / "comma"
        (tree / "bin").mkdir(parents=True)
        (tree / "bin/,").write_text(COMMA)
        (tree / "bin/,").chmod(0o755)
        return f"{self.env['PATH']}:{self.nix('store', 'add-path', '--name', 'comma', tree).stdout.strip()}/bin"

    def index(self, place):
        place.mkdir(parents=True)
        (place / "files").write_text("hello /bin/hello\ntwo /bin/two\n")

    def test_comma(self):
        self.index(self.home / ".cache/nix-index")
        out = self.box(", two; , nothing 2>&1; touch ~/.cache/nix-index/x 2>/dev/null || echo read-only; touch ~/.cache/y && echo mine",
                       env={"PATH": self.comma()})
        self.assertEqual(out, "two from Nix\nno package has nothing\nread-only\nmine\n")

    def test_comma_with_its_index_elsewhere(self):
        cache = self.scratch()
        self.index(cache / "nix-index")
        self.assertEqual(self.box(", hello", env={"PATH": self.comma(), "XDG_CACHE_HOME": str(cache)}), "hello from Nix\n")

    def test_index_in_the_project_is_ignored(self):
        self.index(self.project / "nix-index")
        done = self.claudebox("--yes", "--exec", ",", "hello", env={"PATH": self.comma(), "XDG_CACHE_HOME": str(self.project)})
        self.assertIn("no package has hello", done.stderr)

    def test_without_the_daemon_there_is_no_index(self):
        self.index(self.home / ".cache/nix-index")
        done = self.claudebox("--yes", "--network", "none", "--exec", "ls", "-A", str(self.home))
        self.assertEqual(done.stdout.split(), [".claude", ".local", "bin", "project"])
        self.assertEqual(self.box("ls -A ~", env={"CLAUDEBOX_PROFILE": ""}).split(), [".cache", ".claude", ".local", "bin", "project"])


class RegistryAndInet(RegistryTest, InetTest):
    def test_registry_of_the_user(self):
        self.profile(nix_daemon=True)
        self.registry(self.settings / "registry.json", nixpkgs={"type": "path", "path": self.stored("mine")})
        self.assertEqual(self.inet("nix", "run", "nixpkgs#hello").stdout, "hello from mine\n")

    def test_nixpkgs_of_a_profile(self):
        self.profile("two", nixpkgs=f"path:{self.stored('chosen')}", nix_daemon=True)
        self.assertEqual(self.inet("sh", "-c", "two; nix run nixpkgs#hello").stdout, "two from chosen\nhello from chosen\n")

    def test_no_token_enters_the_box(self):
        self.profile(nix_daemon=True)
        self.write_tokens()
        self.assertNoToken("--network", "inet")


if __name__ == "__main__":
    unittest.main()
