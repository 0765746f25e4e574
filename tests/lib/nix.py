# SPDX-License-Identifier: MIT
"""Base class for tests with a Nix daemon. A module with NEEDS_NIX = True runs in the environment of nix_inside.py.

`nixpkgs` is the flake with nixpkgs/packages.nix there. It is in the store and in the system's registry. Nothing is fetched.
"""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

from lib.box import BoxTest

HERE = pathlib.Path(__file__).resolve().parent
SYSTEM = f"{os.uname().machine}-linux"


class NixTest(BoxTest):
    """The test runs as an ordinary user of the daemon. The daemon runs as root and builds as other users, or, if there are no
    other user ids (`alone`), it runs and builds as this user."""

    @classmethod
    def setUpClass(cls):
        if "NIX_TEST" not in os.environ:
            raise unittest.SkipTest("there is no nix-daemon")
        super().setUpClass()
        cls.alone = os.environ["NIX_TEST"] == "alone"

    def nix(self, *arguments, check=True, **options):
        """Runs nix on the host, as the user of the test."""
        done = subprocess.run(["nix", *map(str, arguments)], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=60, **options)
        if check and done.returncode:
            raise AssertionError(f"nix {' '.join(map(str, arguments))}: {done.stderr}")
        return done

    def profile(self, *packages, name="default", **more):
        """Writes a profile with these packages."""
        super().profile(name, packages=packages, **more)

    def where(self, name):
        """Returns the paths that a package's outputs have when they are built: {output: path}."""
        outputs = json.loads(self.nix("eval", "--json", f"nixpkgs#{name}", "--apply",
                                      "p: map (o: { name = o; value = p.${o}.outPath; }) p.outputs").stdout)
        return {entry["name"]: entry["value"] for entry in outputs}

    def build(self, name, *options):
        """Builds a package on the host without a link that would keep it from garbage collection. Returns {output: path}."""
        return json.loads(self.nix("build", "--no-link", "--json", *options, f"nixpkgs#{name}").stdout)[0]["outputs"]

    def collect(self):
        """Runs the garbage collection of the store."""
        self.nix("store", "gc")

    def own_nixpkgs(self):
        """Copies nixpkgs for a test to change, and adds the copy to the user's registry. Returns its directory."""
        copy = self.home / "nixpkgs"
        shutil.copytree(HERE / "nixpkgs", copy)
        self.nix("registry", "add", "nixpkgs", f"path:{copy}")
        return copy
