# SPDX-License-Identifier: MIT
"""Measures and attacks each way of peers.py, in the namespaces of peers_inside.py: peers_run.py
ROUNDS."""
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
from lib.canaries import ATTACK_PROGRAM, GROUPS, Canaries, parse
from lib.peers import WAYS, fill_in, judge, show_attacks, show_start, show_verdict
from lib.terminal import Terminal

HOME = pathlib.Path(os.environ["HOME"])
PROJECT = HOME / "project"
PLACES = {"home": HOME, "project": PROJECT, "claudebox": os.environ["CLAUDEBOX"]}
BASE = "claudebox's bwrap command"
VERSIONS = ("claudebox", "bwrap", "srt", "codex", "firejail", "node")

# (attack, path): the real paths of such files, because some peers have a list of paths. {token} is
# the name of a canary.
FILES = (
    ("files-ssh", ".ssh/id_ed25519"), ("files-gnupg", ".gnupg/private-keys-v1.d/0123.key"), ("files-cloud", ".aws/credentials"),
    ("files-cloud", ".kube/config"), ("files-cloud", ".config/gcloud/application_default_credentials.json"),
    ("files-registries", ".docker/config.json"), ("files-registries", ".npmrc"), ("files-registries", ".pypirc"),
    ("files-git", ".git-credentials"), ("files-git", ".config/gh/hosts.yml"), ("files-passwords", ".netrc"),
    ("files-passwords", ".password-store/mail.gpg"), ("files-passwords", ".local/share/keyrings/login.keyring"),
    ("files-browsers", ".mozilla/firefox/x.default/logins.json"), ("files-browsers", ".config/google-chrome/Default/Login Data"),
    ("files-history", ".bash_history"), ("files-claude", ".claude/.credentials.json"), ("files-home", "{token}"),
    ("files-other-projects", "other/{token}"), ("files-state", ".claudebox/{token}"), ("files-other-homes", ".claudebox/home/{token}"), ("files-others", ".config/something-new/key"),
    ("files-temporary", "/tmp/{token}"), ("files-shared-memory", "/dev/shm/{token}"), ("files-run", "/run/user/{uid}/{token}"),
)
EMPTY = ".azure"

# Which work is possible in the sandbox, and which files that the user later runs can be changed in
# the project.
WORK = {
    "git commit": "git -c user.name=x -c user.email=x commit -q --allow-empty -m x",
    "changing git's hooks": "echo >>.git/hooks/post-checkout",
    "changing git's configuration": "echo >>.git/config",
}


class RealPlaces(Canaries):
    def files(self):
        for attack, path in FILES:
            self.file(attack, self.home / path.format(token=self.token, uid=os.getuid()))
        for directory in (".", "other"):
            self.line("write", os.path.normpath(self.home / directory / f"{self.token}.made"))
        (self.home / EMPTY).mkdir(exist_ok=True)
        self.line("absent", "files-cloud", self.home / EMPTY)


def why_not(way):
    """Returns why a way cannot run on this machine, or None if it can."""
    if not way.command:
        return None
    program = shutil.which(fill_in(way.command[0], PLACES))
    if not program:
        return "missing: not installed"
    found = os.stat(program)
    if found.st_mode & stat.S_ISUID and found.st_uid != 0:
        return "not tried: setuid, which needs namespaces that root made (sudo tools/try peers)"
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
    """Corrects the verdict of two attacks that cannot tell a directory of the sandbox from one
    of the host."""
    made = re.fullmatch(r"(/.*|)/claudebox-canary-attack was created", why)
    if attack == "write-system" and made and os.stat(made[1] or "/").st_mtime < began:
        return "blocked", "created in a directory of the sandbox"
    opened = re.fullmatch(r"(/.*)/\. can be opened", why)
    if attack == "files-old-root" and opened and os.path.isdir(opened[1]) and not os.listdir(opened[1]):
        return "blocked", "an empty directory of the machine"
    return verdict, why


def attack(way):
    """Runs the attack program on a terminal, as an agent runs, with new canaries. Returns its
    results, or a text if it did not run."""
    make_project(way)
    test = unittest.TestCase()
    test.home, test.project = HOME, PROJECT
    try:
        canaries = RealPlaces(test).plant()
        canaries.services()
        for other_terminal in os.openpty():
            test.addCleanup(os.close, other_terminal)
        canaries.write_list("none")  # in this tier every attack is tried
        for descriptor in canaries.descriptors:
            os.set_inheritable(descriptor, True)
        shutil.copy(ATTACK_PROGRAM, PROJECT / "attack-program")
        (PROJECT / "attack").write_text("#!/bin/sh\nexec ./attack-program canaries >results\n", encoding="ascii")
        (PROJECT / "attack").chmod(0o755)
        began = time.time()
        terminal = Terminal(command_of(way, "./attack"), {**os.environ, **canaries.env, **way.environment}, PROJECT)
        test.addCleanup(terminal.close)
        status = terminal.wait(60)
        if status or not (PROJECT / "results").exists():
            output = terminal.output.decode(errors="replace").split("\n")
            return f"did not run: exit status {status}, {' / '.join(filter(None, map(str.strip, output)))[-120:]}"
        results = parse((PROJECT / "results").read_text(encoding="utf-8"))
        return {name: from_outside(name, *result, began) for name, result in results.items()}
    finally:
        test.doCleanups()


def work(way):
    """Returns the work that is possible."""
    make_project(way)
    return [what for what, script in WORK.items()
            if subprocess.run(command_of(way, "sh", "-c", script), cwd=PROJECT, env={**os.environ, **way.environment}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0]


def measure(ways, rounds):
    """Measures how long `true` takes in each way, one round after the other."""
    claudebox = PLACES["claudebox"]
    timed([claudebox, "--yes", "--exec", "true"], os.environ)()  # creates the state that the bare command expects
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
    print("attacks that were blocked, of those that were tried; ! something leaked that the documents say is blocked")
    print(*show_attacks(judged, GROUPS), sep="\n")
    for verdict, what in (("leaked", "leaked, although its documents say that it is blocked"), ("open", "open: succeeds, and its documents do not say that it is blocked"),
                          ("skipped", "not tried"), ("not-run", "failed")):
        lines = list(show_verdict(judged, GROUPS, verdict))
        if lines:
            print(f"\n{what}", *lines, sep="\n")
    ways = [way for way in WAYS if not isinstance(judged[way.name], str)]
    print("\nwhat works in the project")
    for way in ways:
        print(f"{way.name}: {', '.join(work(way)) or 'nothing'}")
    make_project(WAYS[0])
    os.chdir(PROJECT)
    print("\nstart-up of `true`, taking turns; ratio to the bwrap command that claudebox executes")
    print(*show_start(measure(ways, int(sys.argv[1])), BASE), sep="\n")


if __name__ == "__main__":
    main()
