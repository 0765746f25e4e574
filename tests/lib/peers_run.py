# SPDX-License-Identifier: MIT
"""Measures and attacks each way of peers.py, on the machine of peers_inside.py: peers_run.py ROUNDS."""
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import time
import unittest

from bench.run import bare_bwrap, timed
from lib.canaries import GROUPS, PROBE, Canaries, parse
from lib.peers import WAYS, fill_in, judge, show_attacks, show_start, show_verdict
from lib.terminal import Terminal

HOME = pathlib.Path(os.environ["HOME"])
PROJECT = HOME / "project"
PLACES = {"home": HOME, "project": PROJECT, "claudebox": os.environ["CLAUDEBOX"]}
BASE = "claudebox's bwrap command"
VERSIONS = ("claudebox", "bwrap", "srt", "codex", "firejail", "node")

# Where these things really are: some peers have a list of paths. {token} is a name that tells a file of the host's.
FILES = {
    "ssh": ".ssh/id_ed25519", "gnupg": ".gnupg/private-keys-v1.d/0123.key", "aws": ".aws/credentials", "kube": ".kube/config",
    "gcloud": ".config/gcloud/application_default_credentials.json", "docker": ".docker/config.json", "npmrc": ".npmrc", "pypirc": ".pypirc",
    "git-credentials": ".git-credentials", "gh": ".config/gh/hosts.yml", "netrc": ".netrc", "password-store": ".password-store/mail.gpg",
    "keyrings": ".local/share/keyrings/login.keyring", "mozilla": ".mozilla/firefox/x.default/logins.json",
    "google-chrome": ".config/google-chrome/Default/Login Data", "bash-history": ".bash_history", "claude": ".claude/.credentials.json",
    "home": "{token}", "other-project": "other/{token}", "state": ".claudebox/{token}", "something-new": ".config/something-new/key",
    "temporary": "/tmp/{token}", "shm": "/dev/shm/{token}", "run": "/run/user/{uid}/{token}",
}
EMPTY = ".azure"

# What the other side of it is: does the work go on, and what can be left in the project for the user to run?
WORK = {
    "git commit": "git -c user.name=x -c user.email=x commit -q --allow-empty -m x",
    "changing git's hooks": "echo >>.git/hooks/post-checkout",
    "changing git's configuration": "echo >>.git/config",
}


class RealPlaces(Canaries):
    def files(self):
        for kind, path in FILES.items():
            self.file(kind, self.home / path.format(token=self.token, uid=os.getuid()))
        for directory in (".", "other"):
            self.line("write", os.path.normpath(self.home / directory / f"{self.token}.made"))
        (self.home / EMPTY).mkdir(exist_ok=True)
        self.line("absent", "azure", self.home / EMPTY)


def why_not(way):
    """Why it can't run here; None: it can."""
    if not way.command:
        return None
    program = shutil.which(fill_in(way.command[0], PLACES))
    if not program:
        return "missing: not installed"
    found = os.stat(program)
    if found.st_mode & stat.S_ISUID and found.st_uid != 0:
        return "not tried: setuid, which needs namespaces that root made (sudo make peers)"
    return None


def make_project(way):
    shutil.rmtree(PROJECT, ignore_errors=True)
    subprocess.run(["git", "init", "-q", PROJECT], check=True)
    for path, text in way.files.items():
        (HOME / path).parent.mkdir(exist_ok=True)
        (HOME / path).write_text(fill_in(text, PLACES), encoding="utf-8")


def command_of(way, *words):
    return [*(fill_in(word, PLACES) for word in way.command), *words]


def from_outside(attack, verdict, why, began):
    """Two attacks take for the host's what may be a sandbox's own, and leave no trace: the host knows better."""
    made = re.fullmatch(r"(/.*|)/claudebox-canary-probe was made", why)
    if attack == "write-system" and made and os.stat(made[1] or "/").st_mtime < began:
        return "held", "made in directories of its own"
    opened = re.fullmatch(r"(/.*)/\. can be opened", why)
    if attack == "files-old-root" and opened and os.path.isdir(opened[1]) and not os.listdir(opened[1]):
        return "held", "an empty directory of the machine"
    return verdict, why


def attack(way):
    """The probe, on a terminal as an agent is, with canaries that nobody has had before; what went wrong, or its results."""
    make_project(way)
    test = unittest.TestCase()
    test.home, test.project = HOME, PROJECT
    try:
        canaries = RealPlaces(test).plant()
        canaries.services()
        for other_terminal in os.openpty():
            test.addCleanup(os.close, other_terminal)
        canaries.write_list("none")  # so that everything is tried
        for descriptor in canaries.descriptors:
            os.set_inheritable(descriptor, True)
        shutil.copy(PROBE, PROJECT / "probe")
        (PROJECT / "attack").write_text("#!/bin/sh\nexec ./probe canaries >results\n", encoding="ascii")
        (PROJECT / "attack").chmod(0o755)
        began = time.time()
        terminal = Terminal(command_of(way, "./attack"), {**os.environ, **canaries.env, **way.environment}, PROJECT)
        test.addCleanup(terminal.close)
        status = terminal.wait(60)
        if status or not (PROJECT / "results").exists():
            said = terminal.output.decode(errors="replace").split("\n")
            return f"did not run: exit status {status}, {' / '.join(filter(None, map(str.strip, said)))[-120:]}"
        results = parse((PROJECT / "results").read_text(encoding="utf-8"))
        return {name: from_outside(name, *result, began) for name, result in results.items()}
    finally:
        test.doCleanups()


def work(way):
    """Which of it works."""
    make_project(way)
    return [what for what, script in WORK.items()
            if subprocess.run(command_of(way, "sh", "-c", script), cwd=PROJECT, env={**os.environ, **way.environment}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0]


def measure(ways, rounds):
    """How long `true` takes, taking turns."""
    claudebox = PLACES["claudebox"]
    timed([claudebox, "--yes", "--exec", "true"], os.environ)()  # makes the state that the bare command expects
    script = subprocess.run([claudebox, "--dry-run", "--exec", "true"], check=True, stdout=subprocess.PIPE, text=True).stdout
    runs = {BASE: bare_bwrap(script, os.environ)}
    for way in ways:
        runs[way.name] = timed(command_of(way, "true"), {**os.environ, **way.environment})
    times = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(run() * 1000)
    return times


def show_versions():
    for program in VERSIONS:
        path = PLACES.get(program, program)
        if shutil.which(path):
            said = subprocess.run([path, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
            yield f"{program}: {said.strip().splitlines()[0]}"


def main():
    print(f"{time.strftime('%Y-%m-%d')}, Linux {os.uname().release}, {os.cpu_count()} processors; {', '.join(show_versions())}\n")
    attacked = {way.name: why_not(way) or attack(way) for way in WAYS}
    judged = {way.name: rows if isinstance(rows, str) else judge(way, rows) for way in WAYS for rows in [attacked[way.name]]}
    print("attacks that were held, of those that were tried; ! something leaked that the documents say is held")
    print(*show_attacks(judged, GROUPS), sep="\n")
    for verdict, what in (("leaked", "leaked, although its documents say that it is held"), ("open", "open: gets through, and nobody said that it does not"),
                          ("skipped", "not tried"), ("failed", "failed")):
        lines = list(show_verdict(judged, GROUPS, verdict))
        if lines:
            print(f"\n{what}", *lines, sep="\n")
    ways = [way for way in WAYS if not isinstance(judged[way.name], str)]
    print("\nwhat works in the project")
    for way in ways:
        print(f"{way.name}: {', '.join(work(way)) or 'none of it'}")
    make_project(WAYS[0])
    os.chdir(PROJECT)
    print("\nstart-up of `true`, taking turns; ratio to the bwrap command that claudebox executes")
    print(*show_start(measure(ways, int(sys.argv[1])), BASE), sep="\n")


if __name__ == "__main__":
    main()
