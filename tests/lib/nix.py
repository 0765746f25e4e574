# SPDX-License-Identifier: MIT
"""Tests on a machine with a Nix daemon: a module that says NEEDS_NIX = True runs on one, made by nix_inside.py.

What `nixpkgs` has there: nixpkgs/packages.nix. It is in the store and in the system's registry, and nothing is ever fetched.
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
    """We are an ordinary user whom the daemon serves; with many users it runs as root and builds as others, else it is us (alone)."""

    @classmethod
    def setUpClass(cls):
        if "NIX_TEST" not in os.environ:
            raise unittest.SkipTest("there is no nix-daemon")
        super().setUpClass()
        cls.alone = os.environ["NIX_TEST"] == "alone"

    def nix(self, *arguments, check=True, **options):
        """nix on the host, as we are."""
        done = subprocess.run(["nix", *map(str, arguments)], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=60, **options)
        if check and done.returncode:
            raise AssertionError(f"nix {' '.join(map(str, arguments))}: {done.stderr}")
        return done

    def profile(self, *packages, name="default", **more):
        """Writes a profile with these packages."""
        super().profile(name, packages=packages, **more)

    def where(self, name):
        """Where a package's outputs are once they are built: {output: path}."""
        outputs = json.loads(self.nix("eval", "--json", f"nixpkgs#{name}", "--apply",
                                      "p: map (o: { name = o; value = p.${o}.outPath; }) p.outputs").stdout)
        return {entry["name"]: entry["value"] for entry in outputs}

    def build(self, name, *options):
        """Builds a package on the host, with nothing that keeps it from being collected; {output: path} of what nix tells."""
        return json.loads(self.nix("build", "--no-link", "--json", *options, f"nixpkgs#{name}").stdout)[0]["outputs"]

    def collect(self):
        """Collects garbage: what nothing refers to is gone from the store."""
        self.nix("store", "gc")

    def own_nixpkgs(self):
        """A copy of nixpkgs for a test to change, which our registry now names; its directory."""
        copy = self.home / "nixpkgs"
        shutil.copytree(HERE / "nixpkgs", copy)
        self.nix("registry", "add", "nixpkgs", f"path:{copy}")
        return copy
