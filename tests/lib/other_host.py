# SPDX-License-Identifier: MIT
"""Another host for claudebox: an outer bwrap with its own /etc, /run or programs, the real /usr, and the home of the test."""
import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
# The files of /etc that programs need to run.
BASICS = ("passwd", "group", "ld.so.cache", "nsswitch.conf", "alternatives", "hosts")


class OtherHost:
    """`files` is {path: content}; the content ("->", target) is a link, None is an empty directory."""

    def __init__(self, test, files, usr="/usr", basics=BASICS):
        self.test = test
        self.root = test.scratch()
        for name in basics:
            source = pathlib.Path("/etc") / name
            target = self.root / "etc" / name
            target.parent.mkdir(exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True)
            elif source.exists():
                shutil.copy(source, target)
        for path, content in files.items():
            place = self.root / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                place.mkdir(exist_ok=True)
            elif isinstance(content, tuple):
                place.symlink_to(content[1])
            else:
                place.write_text(content)
        self.prefix = ["bwrap"]
        for entry in sorted(self.root.iterdir()):
            self.prefix += ["--bind", str(entry), f"/{entry.name}"]
        if usr:
            self.prefix += ["--ro-bind", usr, "/usr"]
        for name in ("bin", "sbin", "lib", "lib32", "lib64"):
            if (pathlib.Path("/") / name).is_symlink() and not (self.root / name).exists():
                self.prefix += ["--symlink", f"usr/{name}", f"/{name}"]
        stage = os.environ["STAGE"]
        # The whole /proc: otherwise the kernel does not let the inner box mount its own.
        self.prefix += ["--dev-bind", "/dev", "/dev", "--bind", "/proc", "/proc", "--tmpfs", "/tmp",
                        "--ro-bind", stage, stage, "--bind", str(test.home), str(test.home),
                        "--die-with-parent"]

    def add_programs(self, store, *names):
        """Adds programs of this machine at a path of the store, with their libraries, so that a box without /usr can run them."""
        libraries = f"{store}-libraries"
        collect = ["/usr/bin/python3", HERE / "nixpkgs-for-build/collect.py", HERE / "nixpkgs-for-build/launcher.c"]
        programs = [name for name in names if "=" not in name]
        for place, words in ((libraries, ["--libraries", *programs]), (store, ["--programs", libraries, *names])):
            subprocess.run([*collect, *words], check=True, env={**os.environ, "out": place, "ROOT": str(self.root)})

    def run(self, *command, env=None, cwd=None, options=(), stdin=subprocess.DEVNULL, **more):
        """Runs a command on that host. `options` are added to those of the outer bwrap, `more` to those of subprocess.run."""
        return subprocess.run([*self.prefix, *map(str, options), "--chdir", str(cwd or self.test.project), "--", *map(str, command)],
                              env={**self.test.env, **(env or {})}, stdin=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="surrogateescape", check=False, timeout=60, **more)

    def claudebox(self, *arguments, **options):
        return self.run(self.test.under_test, *arguments, **options)

    def box(self, script, *arguments, **options):
        done = self.claudebox("--yes", "--exec", "sh", "-c", script, "sh", *arguments, **options)
        self.test.assertNotEqual(done.returncode, 125, done.stderr)
        return done.stdout
