#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares claudebox with other sandboxes that can run on this machine: peers.py BUILD [ROUNDS].

attacks   runs the attack program of --prove with the same canaries in each: what is blocked, open or leaked
start     measures `true` in each, relative to the bwrap command that claudebox executes

Everything runs in namespaces of its own (lib/peers_inside.py). lib/peers.py has the ways to start
each sandbox, lib/peers_run.py the runs.
"""
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))
sys.dont_write_bytecode = True

import run  # noqa: E402
from lib.peers import MACHINES, PACKAGES  # noqa: E402


def installed(prefix, package):
    try:
        return json.loads((prefix / "lib/node_modules" / package / "package.json").read_text(encoding="utf-8"))["version"]
    except FileNotFoundError:
        return None


def install(cache):
    """Installs each package in its own prefix, which is moved into place when it is complete. A
    missing package is reported later."""
    peers = cache / "peers"
    peers.mkdir(exist_ok=True)
    for name, (package, version) in PACKAGES.items():
        package = package.format(machine=MACHINES.get(platform.machine(), platform.machine()))
        if installed(peers / name, package) == version:
            continue
        print(f"claudebox: installing {package} {version} from the npm registry into '{peers / name}'", file=sys.stderr)
        with tempfile.TemporaryDirectory(dir=cache, prefix="peers-") as stage:
            done = subprocess.run(["npm", "install", "--global", "--prefix", f"{stage}/new", "--cache", f"{stage}/cache", "--ignore-scripts",
                                   "--include=optional", "--engine-strict=false", "--no-audit", "--no-fund", "--no-update-notifier",
                                   "--loglevel=error", f"{package}@{version}"], stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
            if done.returncode == 0 and installed(pathlib.Path(stage, "new"), package) == version:
                shutil.rmtree(peers / name, ignore_errors=True)
                os.rename(f"{stage}/new", peers / name)
    subprocess.run(["chmod", "-R", "a+rX", peers], check=True)
    return peers


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    rounds = sys.argv[2] if len(sys.argv) > 2 else "30"
    user = run.account()
    peers = install(run.cache_directory())
    with tempfile.TemporaryDirectory(prefix="claudebox-peers-", dir="/var/tmp") as directory:
        stage = pathlib.Path(directory)
        run.stage(build, stage)
        agent = stage / "claude"
        agent.write_text("#!/bin/sh\n")
        agent.chmod(0o755)
        environment = run.environment(user, stage, {"CLAUDEBOX_CLAUDE": str(agent), "XDG_RUNTIME_DIR": f"/run/user/{user.pw_uid}"})
        command = [*run.with_tun(), "/usr/bin/python3", stage / "tests/lib/peers_inside.py", str(user.pw_uid), peers, "/usr/bin/python3",
                   stage / "tests/lib/peers_run.py", rounds]
        sys.exit(subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, cwd="/", check=False).returncode)


if __name__ == "__main__":
    main()
