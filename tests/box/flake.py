# SPDX-License-Identifier: MIT
"""Builds claudebox with flake.nix, on a machine with a Nix daemon and without a network. Two stand-ins replace the flake's inputs."""
import json
import os
import pathlib
import subprocess
import tempfile

from lib.nix import HERE, SYSTEM, NixTest

SOURCE = pathlib.Path(os.environ["STAGE"])
INPUTS = {"nixpkgs": "nixpkgs-for-build", "nix-index-database": "nix-index-database"}
# flake.lock has the real inputs.
OPTIONS = ["--no-write-lock-file", *(word for name, place in INPUTS.items() for word in ("--override-input", name, f"path:{HERE / place}"))]
SYSTEMS = ("aarch64-linux", "x86_64-linux")


def flake(command, *arguments, output="", check=True):
    """Runs a command of nix on the flake, and returns the finished process."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(["nix", *command.split(), *OPTIONS, f"path:{SOURCE}{output}", *arguments], cwd=home,
                              env={"PATH": os.environ["PATH"], "HOME": home}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, timeout=400)
    if check and done.returncode:
        raise AssertionError(f"nix {command}: {done.stderr[-3000:]}")
    return done


def evaluate(output, *more):
    return json.loads(flake("eval --json", *more, output=f"#{output}").stdout)


class FlakeTest(NixTest):
    """The tests of a class run the claudebox that nix has built. The stand-ins copy the programs of this machine to the store."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.package = pathlib.Path(json.loads(flake("build --no-link --json").stdout)[0]["outputs"]["out"])
        cls.under_test = str(cls.package / "bin/claudebox")


__all__ = ["SOURCE", "SYSTEM", "SYSTEMS", "FlakeTest", "evaluate", "flake"]
