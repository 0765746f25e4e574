# SPDX-License-Identifier: MIT
"""Makefile and tools: the required packages of each distribution, the installation of Claude Code, and make's targets."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

OWN_BUILD = True
STAGE = pathlib.Path(os.environ["STAGE"])
QUICK = "OPTIONS=-Doptimization=0"  # the build takes a third of the time
COMPLETIONS = ("bash-completion/completions/claudebox", "zsh/site-functions/_claudebox", "fish/vendor_completions.d/claudebox.fish")
DOCUMENTS = [f"doc/claudebox/{path.relative_to(pathlib.Path(STAGE) / 'doc')}" for path in sorted((pathlib.Path(STAGE) / "doc").rglob("*.md"))]


def run(*command, **options):
    options.setdefault("cwd", STAGE)
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, timeout=300, **options)


class Dependencies(unittest.TestCase):
    def test_each_package_manager_has_a_name_for_each_package(self):
        for manager, names in {"apt": ("bubblewrap", "libjansson-dev", "libmd-dev", "ninja-build"),
                               "dnf": ("bubblewrap", "jansson-devel", "libmd-devel", "ninja-build"),
                               "pacman": ("bubblewrap", "jansson", "libmd", "ninja")}.items():
            done = run("tools/deps.sh", "--dry-run", "--manager", manager, "--all", "build", "run")
            self.assertEqual(done.returncode, 0, done.stderr)
            words = done.stdout.split()
            for name in names:
                self.assertIn(name, words, manager)

    def test_packages_of_one_architecture_are_not_required_on_others(self):
        fake = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, fake)
        wanted = {}
        for machine in ("x86_64", "aarch64"):
            (fake / "uname").write_text(f"#!/bin/sh\necho {machine}\n")
            (fake / "uname").chmod(0o755)
            done = run("tools/deps.sh", "--dry-run", "--manager", "apt", "--all", "test", env={**os.environ, "PATH": f"{fake}:{os.environ['PATH']}"})
            wanted[machine] = set(done.stdout.splitlines()[0].split())
        self.assertEqual(wanted["x86_64"] - wanted["aarch64"], {"user-mode-linux"})
        self.assertLess(wanted["aarch64"], wanted["x86_64"])

    def test_without_missing_packages_no_package_manager_runs(self):
        trap = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, trap)
        for name in ("apt-get", "dnf", "pacman", "sudo"):
            (trap / name).write_text("#!/bin/sh\necho CALLED >&2\nexit 1\n")
            (trap / name).chmod(0o755)
        done = run("tools/deps.sh", "build", "run", "test", env={**os.environ, "PATH": f"{trap}:{os.environ['PATH']}"})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def missing(self, sudo=None):
        """Returns the messages for an ordinary user on a Debian without the required packages."""
        programs = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, programs)
        for name in ("sh", "sed", "tr", "sort", "paste", "env"):
            (programs / name).symlink_to(shutil.which(name))
        for name, body in {"id": "echo 1000", **({"sudo": sudo} if sudo else {})}.items():
            (programs / name).write_text(f"#!/bin/sh\n{body}\n")
            (programs / name).chmod(0o755)
        text = (STAGE / "tools/deps.sh").read_text().replace("PATH=$PATH:/usr/sbin:/sbin\n", "").replace("/etc/os-release", str(programs / "os-release"))
        (programs / "os-release").write_text("ID=debian\n")
        done = run("/bin/sh", "-c", text, "deps.sh", "build", "run", "npm", env={"PATH": str(programs)})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^  bubblewrap: the command 'bwrap'$")
        self.assertRegex(done.stderr, r"(?m)^apt-get .*update\n.*apt-get .* install .*\bmeson\b.*\bbubblewrap\b.*\bnpm\b")
        return done.stderr

    def test_without_sudo_the_commands_for_root_are_printed(self):
        self.assertIn("not root, and there is no sudo", self.missing())

    def test_a_sudo_that_refuses_runs_once(self):
        messages = self.missing(sudo="echo 'sudo: not you' >&2; exit 1")
        self.assertIn("apt failed through sudo", messages)
        self.assertEqual(messages.count("sudo: not you"), 1)

    def test_a_failed_update_does_not_prevent_the_installation(self):
        messages = self.missing(sudo="echo \"ran $*\" >&2; exit 100")
        self.assertRegex(messages, r"(?m)^ran apt-get .*update$")
        self.assertRegex(messages, r"(?m)^ran env .* install ")

    def test_unknown_group_is_an_error(self):
        self.assertEqual(run("tools/deps.sh", "nonsense").returncode, 2)


class Claude(unittest.TestCase):
    def test_an_installed_claude_is_found_without_network(self):
        home = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, home)
        place = home / ".local/bin/claude"
        place.parent.mkdir(parents=True)
        place.write_text("#!/bin/sh\necho 9.9.9\n")
        place.chmod(0o755)
        done = run("tools/claude.sh", env={"HOME": str(home), "PATH": "/usr/bin:/bin"})
        self.assertEqual(done.stdout.strip(), str(place), done.stderr)

    def test_npm_is_required_only_without_claude(self):
        home = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, home)
        variables = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
        if not shutil.which("claude", path=variables["PATH"]):
            self.assertEqual(run("tools/claude.sh", "--needs", env=variables).stdout, "npm\n")
        named = home / "claude"
        named.write_text("#!/bin/sh\n")
        done = run("tools/claude.sh", "--needs", env={**variables, "CLAUDEBOX_CLAUDE": str(named)})
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        named.chmod(0o755)
        done = run("tools/claude.sh", "--needs", env={**variables, "CLAUDEBOX_CLAUDE": str(named)})
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(sorted(home.iterdir()), [named])


class Make(unittest.TestCase):
    def setUp(self):
        self.source = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp")) / "with space"
        self.addCleanup(shutil.rmtree, self.source.parent)
        shutil.copytree(STAGE, self.source, ignore=shutil.ignore_patterns("build*", "claudebox"))

    def test_install_and_uninstall(self):
        root = self.source.parent / "root"
        where = ("PREFIX=/opt/box", f"DESTDIR={root}")
        done = run("make", "install", QUICK, *where, cwd=self.source)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        program = root / "opt/box/bin/claudebox"
        self.assertRegex(run(program, "--version").stdout, r"^claudebox ")
        share = root / "opt/box/share"
        for page in ("man1/claudebox.1", "man7/claudebox-security.7"):
            self.assertIn(".TH", (share / "man" / page).read_text())
        for completion in COMPLETIONS:
            self.assertIn("claudebox", (share / completion).read_text())
        for document in DOCUMENTS:
            self.assertTrue((share / document).read_text().startswith("# "), document)
        page = (share / "man/man5/claudebox-profile.5").read_text()
        self.assertRegex(page, r'(?m)^\.TH "claudebox-profile" "5"')
        self.assertIn("extra_env_passthrough", page)
        done = run("make", "uninstall", *where, cwd=self.source)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([path for path in root.rglob("*") if not path.is_dir() or path.name == "claudebox"], [])

    def test_without_scdoc_everything_but_the_manual_is_installed(self):
        build = self.source.parent / "build"
        self.assertEqual(run("meson", "setup", "-Dman=disabled", build, self.source).returncode, 0)
        installed = json.loads(run("meson", "introspect", "--installed", build).stdout)
        share = "/usr/local/share/"
        self.assertEqual(sorted(installed.values()), sorted(["/usr/local/bin/claudebox", share + "claudebox/apparmor/claudebox",
                                                             *(share + path for path in COMPLETIONS), *(share + path for path in DOCUMENTS)]))

    def test_run_builds_and_starts_in_the_given_directory(self):
        home = self.source.parent / "home"
        project = home / "my project"
        project.mkdir(parents=True)
        claude = home / "claude"
        claude.write_text('#!/bin/sh\necho "9.9.9 <$*> in $PWD"\n')
        claude.chmod(0o755)
        for written in (project, "~/my project"):  # not every shell expands the ~ after DIR=
            done = run("make", "run", QUICK, f"DIR={written}", "ARGS=--yes -p 'two words'", cwd=self.source,
                       env={"HOME": str(home), "PATH": os.environ["PATH"], "CLAUDEBOX_CLAUDE": str(claude)})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn(f'<--dangerously-skip-permissions --settings {{"sandbox":{{"enabled":false}}}} -p two words> in {project}', done.stdout)

    def test_help_names_every_target(self):
        done = run("make", "help", cwd=self.source)
        for target in ("build", "run", "test", "sanitize", "fuzz", "accept", "stress", "lint", "fmt", "bench", "install", "uninstall", "deb", "static", "clean", "help"):
            self.assertRegex(done.stdout, rf"(?m)^{target} ")

    def test_run_builds_the_program_alone(self):
        done = run("make", "--dry-run", "run", cwd=self.source)
        self.assertRegex(done.stdout, r"ninja -C build claudebox\b")
        self.assertNotRegex(done.stdout, r"(?m)ninja -C build *$")

    def test_trials_are_listed_and_an_unknown_one_is_refused(self):
        done = run("tools/try", "--help", cwd=self.source)
        for trial in ("programs", "peers", "deb", "readme", "arm"):
            self.assertRegex(done.stdout, rf"(?m)^  {trial} ")
        for arguments in ((), ("nonsense",)):
            self.assertEqual(run("tools/try", *arguments, cwd=self.source).returncode, 2)

    def test_no_file_names_the_host_of_a_package_registry(self):
        for path in self.source.rglob("*"):
            if path.is_file() and not path.is_symlink() and b"\0" not in (text := path.read_bytes()):
                self.assertNotRegex(text, rb"(?:deb|ftp|security)\.debian\.org/|registry\.npm" + rb"js", path)


if __name__ == "__main__":
    unittest.main()
