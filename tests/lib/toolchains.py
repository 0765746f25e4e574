# SPDX-License-Identifier: MIT
"""Homes with toolchains: real programs of the machine, copied into the layouts of toolchain managers."""
import os
import pathlib
import shutil
import subprocess

from lib.box import BoxTest

SECRET = "claudebox-beside-the-tool"
MISE = "@jdxcode/mise-linux-x64@2026.9.15"
YARN = "yarn@1.22.22"


def program(path, text=None, copy=None):
    """Creates a program: a shell script, or a copy of a program of the machine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if copy:
        shutil.copy(os.path.realpath(copy), path)
    else:
        path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def secret(path):
    """Creates a file with a secret."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SECRET + "\n")
    return path


def from_npm(package, program):
    """Returns a program of an npm package, downloaded once; None if it cannot be had."""
    cache = pathlib.Path(os.path.expanduser("~/.cache/claudebox-test-npm")) / package.replace("/", "-")
    binary = cache / "package" / program
    if not binary.exists() and shutil.which("npm"):
        cache.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["npm", "pack", "--silent", package], cwd=cache, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode == 0:
            subprocess.run(["tar", "xzf", done.stdout.strip()], cwd=cache, check=True)
            (cache / done.stdout.strip()).unlink()
    return binary if binary.exists() else None


def find_mise():
    """Returns the mise program; None if it cannot be had."""
    return from_npm(MISE, "bin/mise") if os.uname().machine == "x86_64" else None


class ToolchainTest(BoxTest):
    """A home whose PATH a test fills; the system's directories come last."""

    def setUp(self):
        super().setUp()
        self.system = "/usr/local/bin:/usr/bin:/bin"
        self.env["PATH"] = self.system

    def on_path(self, *directories):
        self.env["PATH"] = ":".join([*map(str, directories), self.env["PATH"]])

    def outside(self, script, cwd=None):
        """Runs a script on the host, with the same environment."""
        return subprocess.run(["sh", "-c", script], cwd=cwd or self.project, env=self.env, capture_output=True, text=True,
                              timeout=60, check=False).stdout

    def same(self, script, cwd=None):
        """Checks that a script prints the same in the box as outside, and something. Returns it."""
        outside = self.outside(script, cwd)
        self.assertTrue(outside.strip(), script)
        self.assertEqual(self.box(script, cwd=cwd), outside)
        return outside

    def assert_no_secret(self, *arguments):
        """Checks that no file in the box's home has the text of the secrets."""
        found = self.box(f"grep -rsl {SECRET} ~ /run /opt 2>/dev/null; true", *arguments)
        self.assertEqual(found, "")

    def left_out(self, *arguments):
        """Returns the rows about what the box lacks, by what they name."""
        return {row["what"]: row for row in self.plan(*arguments)["left_out"]}

    def follow(self, what, script):
        """Runs a script in the box with the option of a row. Returns the option and the output."""
        option = self.left_out()[what]["option"]
        arguments = option.replace("~", str(self.home)).split()
        done = self.claudebox("--yes", *arguments, "--exec", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(what, self.left_out(*arguments))
        return option, done.stdout

    # Managers

    def nvm(self, *versions):
        root = self.home / ".nvm"
        for version in versions:
            at = root / "versions" / "node" / version
            program(at / "bin" / "node", copy="/usr/bin/node")
            shutil.copytree(os.path.realpath("/usr/lib/node_modules/npm") if os.path.exists("/usr/lib/node_modules/npm")
                            else "/usr/share/nodejs/npm", at / "lib" / "node_modules" / "npm", symlinks=True)
            (at / "bin" / "npm").symlink_to("../lib/node_modules/npm/bin/npm-cli.js")
            secret(at / "etc" / "npmrc")
        (root / "alias").mkdir()
        (root / "alias" / "default").write_text(versions[0] + "\n")
        self.env["NVM_DIR"] = str(root)
        return root / "versions" / "node"

    def cargo(self):
        """The layout of rustup, with the machine's own cargo and rustc behind links."""
        stable = self.home / ".rustup" / "toolchains" / "stable"
        for name in ("cargo", "rustc"):
            program(stable / "bin" / name, copy=f"/usr/bin/{name}")
            link = self.home / ".cargo" / "bin" / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(stable / "bin" / name)
        (stable / "lib").mkdir()
        (stable / "lib" / "rustlib").symlink_to("/usr/lib/rustlib")  # the libraries of the same rustc
        (self.home / ".rustup" / "settings.toml").write_text('default_toolchain = "stable"\n')
        secret(self.home / ".cargo" / "credentials.toml")
        return self.home / ".cargo" / "bin"

    def rbenv(self, **versions):
        """The real rbenv with programs `tool` that print a text."""
        root = self.home / ".rbenv"
        shutil.copytree("/usr/lib/rbenv", root, symlinks=True)
        (root / "bin").mkdir()
        (root / "bin" / "rbenv").symlink_to("../libexec/rbenv")
        for version, text in versions.items():
            program(root / "versions" / version.replace("_", ".").lstrip("v") / "bin" / "tool", f"echo {text}")
            secret(root / "versions" / version.replace("_", ".").lstrip("v") / "etc" / "gemrc")
        (root / "version").write_text(list(versions)[0].replace("_", ".").lstrip("v") + "\n")
        self.env["RBENV_ROOT"] = str(root)
        self.on_path(root / "shims", root / "bin")
        self.outside("rbenv rehash")
        return root
