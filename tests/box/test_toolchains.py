# SPDX-License-Identifier: MIT
"""Toolchains of the user work in the box as outside, read-only, without the secrets beside them; PATH keeps its order."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.terminal import approve
from lib.toolchains import SECRET, ToolchainTest, find_mise, program, secret

JAVA = next((str(path.parent.parent) for path in sorted(pathlib.Path("/usr/lib/jvm").glob("*/bin/javac"))), None)


def needs(name):
    return unittest.skipUnless(shutil.which(name), f"{name} is not installed")


class SameProgram(ToolchainTest):
    """The same program inside as outside, and a project builds with it, offline."""

    @needs("npm")
    def test_node_of_nvm(self):
        self.on_path(self.nvm("v22.9.0", "v20.1.0") / "v22.9.0" / "bin")
        self.same("command -v node; node --version; npm --version; echo $NVM_DIR")
        self.same("if command -v manpath >/dev/null; then manpath 2>&1 >/dev/null; fi; echo quiet")  # nvm calls it
        (self.project / "package.json").write_text(json.dumps({"name": "hello", "version": "1.0.0", "scripts": {"build": "node -p 6*7"}}))
        self.assertIn("42", self.box("npm run build --offline"))
        self.assertEqual(self.box("ls ~/.nvm/versions/node"), "v20.1.0\nv22.9.0\n")
        self.assert_no_secret()

    @needs("node")
    def test_node_of_fnm_behind_the_link_of_a_shell(self):
        root = self.home / ".local" / "share" / "fnm"
        installed = root / "node-versions" / "v22.9.0" / "installation"
        program(installed / "bin" / "node", copy="/usr/bin/node")
        secret(installed / "etc" / "npmrc")
        (root / "aliases").mkdir()
        (root / "aliases" / "default").symlink_to(installed)
        shell = self.home / ".local" / "state" / "fnm_multishells" / "123_456"
        shell.parent.mkdir(parents=True)
        shell.symlink_to(installed)
        self.on_path(shell / "bin")
        self.assertEqual(self.box("command -v node").strip(), str(installed / "bin" / "node"))
        self.assertEqual(self.box("node --version; ls ~/.local/share/fnm/aliases/default/"), self.outside("node --version") + "bin\n")
        self.assert_no_secret()

    @needs("cargo")
    def test_cargo_builds_offline(self):
        self.on_path(self.cargo())
        self.same("command -v cargo; cargo --version; rustc --version")
        self.box("cargo init -q --offline --vcs none --name hello . 2>&1")
        self.assertEqual(self.box("cargo build -q --offline && ./target/debug/hello"), "Hello, world!\n")
        self.assertEqual(self.box("cat ~/.rustup/settings.toml"), 'default_toolchain = "stable"\n')
        self.assert_no_secret()

    @needs("cargo")
    def test_a_secret_that_a_program_writes_during_the_session_stays_outside(self):
        self.on_path(self.cargo())
        (self.home / ".cargo" / "credentials.toml").unlink()
        box = subprocess.Popen([self.under_test, "--yes", "--exec", "sh", "-c", f"read line; grep -rs {SECRET} ~; ls -A ~/.cargo; cat ~/.cargo/bin/late"],
                               cwd=self.project, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # What `cargo login` does: a new file and a rename. A new program, too, to see that the directory is the host's.
        new = secret(self.home / ".cargo" / "credentials.toml.new")
        new.rename(self.home / ".cargo" / "credentials.toml")
        program(self.home / ".cargo" / "bin" / "late", "echo late")
        output, _ = box.communicate("go\n", timeout=60)
        self.assertEqual(output, "bin\n#!/bin/sh\necho late\n")

    @needs("go")
    def test_go_of_sdk_and_gopath(self):
        root = os.path.realpath("/usr/lib/go")
        sdk = self.home / "sdk" / "go1.19"
        for part in ("bin", "pkg", "src", "misc", "VERSION"):
            at = os.path.realpath(os.path.join(root, part))
            if os.path.isdir(at):
                shutil.copytree(at, sdk / part, symlinks=False)
            elif os.path.exists(at):
                sdk.mkdir(parents=True, exist_ok=True)
                shutil.copy(at, sdk / part)
        program(self.home / "go" / "bin" / "go1.19", f'exec {sdk}/bin/go "$@"')
        self.env["GOROOT"] = str(sdk)
        self.on_path(self.home / "go" / "bin", sdk / "bin")
        self.same("command -v go; command -v go1.19; go version; go env GOROOT")
        (self.project / "main.go").write_text('package main\nimport "fmt"\nfunc main() { fmt.Println("hello go") }\n')
        (self.project / "go.mod").write_text("module hello\n")
        self.assertEqual(self.box("go build -o hello . && ./hello"), "hello go\n")

    @unittest.skipUnless(JAVA, "no JDK")
    def test_java_of_sdkman(self):
        candidates = self.home / ".sdkman" / "candidates" / "java"
        shutil.copytree(JAVA, candidates / "17-test", symlinks=False, ignore_dangling_symlinks=True)
        (candidates / "current").symlink_to("17-test")
        secret(self.home / ".sdkman" / "etc" / "config")
        secret(self.home / ".sdkman" / "candidates" / "maven" / "3.9" / "conf" / "settings.xml")
        program(self.home / ".sdkman" / "candidates" / "maven" / "3.9" / "bin" / "mvn", "echo maven")
        (self.home / ".sdkman" / "candidates" / "maven" / "current").symlink_to("3.9")
        self.env["JAVA_HOME"] = str(candidates / "current")
        self.on_path(candidates / "current" / "bin", self.home / ".sdkman" / "candidates" / "maven" / "current" / "bin")
        self.same("command -v java; command -v mvn; java --version; mvn; echo $JAVA_HOME")
        (self.project / "Main.java").write_text('class Main { public static void main(String[] a) { System.out.println("hello java"); } }\n')
        self.assertEqual(self.box("javac Main.java && java Main"), "hello java\n")
        self.assert_no_secret()

    def test_programs_of_uv_and_pipx_in_local_bin(self):
        local = self.home / ".local"
        python = local / "share" / "uv" / "python" / "cpython-3.11-linux" / "bin" / "python3.11"
        program(python, copy="/usr/bin/python3")
        for manager in ("uv/tools/ruff", "pipx/venvs/black"):
            venv = local / "share" / manager
            name = venv.name
            (venv / "bin").mkdir(parents=True)
            (venv / "bin" / "python").symlink_to(python)
            (venv / "pyvenv.cfg").write_text(f"home = {python.parent}\n")
            (venv / "bin" / name).write_text(f"#!{venv}/bin/python\nimport sys\nprint('{name}', sys.prefix)\n")
            (venv / "bin" / name).chmod(0o755)
            (local / "bin").mkdir(exist_ok=True)
            (local / "bin" / name).symlink_to(venv / "bin" / name)
            secret(venv / "pip.conf")
        secret(local / "share" / "uv" / "credentials" / "one")
        program(local / "bin" / "uv", "echo uv itself")
        program(local / "bin" / "deploy", "echo not a toolchain")
        self.on_path(local / "bin")
        self.same("ruff; black; uv")
        self.assertEqual(self.box("for name in ruff black uv deploy; do command -v $name; done").split(), [f"/run/claudebox/bin/{name}" for name in ("ruff", "black", "uv")])
        self.assert_no_secret()
        rows = self.plan()["left_out"]
        self.assertIn({"what": "~/.local/bin", "why": "1 program: deploy", "option": "--mount-ro ~/.local/bin/deploy"}, rows)
        self.assertEqual(self.box("deploy; ruff", env={}), self.outside("ruff"))
        self.assertEqual(self.claudebox("--yes", "--mount-ro", "~/.local/bin/deploy", "--exec", "deploy").stdout, "not a toolchain\n")

    def test_a_virtual_environment_has_the_python_of_a_manager_in_use(self):
        version = self.home / ".pyenv" / "versions" / "3.11.9"
        program(version / "bin" / "python3.11", copy="/usr/bin/python3")
        (self.project / ".venv" / "bin").mkdir(parents=True)
        (self.project / ".venv" / "bin" / "python").symlink_to(version / "bin" / "python3.11")
        self.env["PYENV_ROOT"] = str(self.home / ".pyenv")
        self.same(".venv/bin/python --version")
        self.assertIn("toolchain pyenv", self.claudebox("--dry-run=json").stdout)
        del self.env["PYENV_ROOT"]
        self.assertEqual(self.plan()["toolchains"], [])
        rows = {row["what"]: row["option"] for row in self.plan()["left_out"]}
        self.assertEqual(rows["~/.pyenv/versions/3.11.9/bin/python3.11"], "--mount-ro ~/.pyenv/versions/3.11.9")

    @needs("rbenv")
    def test_shims_of_rbenv_choose_the_version_of_the_project(self):
        self.rbenv(v3_1="one", v3_2="two")
        self.assertEqual(self.same("command -v tool; tool").split()[-1], "one")
        (self.project / ".ruby-version").write_text("3.2\n")
        self.assertEqual(self.same("tool"), "two\n")
        self.assert_no_secret()

    def test_shims_of_asdf(self):
        root = self.home / ".asdf"
        program(self.home / ".local" / "bin" / "asdf", """
version=$(cat .tool-versions ~/.tool-versions 2>/dev/null | sed -n 's/^tool //p' | head -1)
"$ASDF_DATA_DIR/plugins/tool/bin/exec-env"; shift; name=$1; shift
exec "$ASDF_DATA_DIR/installs/tool/$version/bin/$name" "$@" """)
        program(root / "shims" / "tool", 'exec asdf exec tool "$@"')
        program(root / "plugins" / "tool" / "bin" / "exec-env", "echo plugin")
        secret(root / "plugins" / "tool" / ".git" / "config")
        for version in ("1.0", "2.0"):
            program(root / "installs" / "tool" / version / "bin" / "tool", f"echo {version}")
            secret(root / "installs" / "tool" / version / ".hex" / "hex.config")
        (self.home / ".tool-versions").write_text("tool 1.0\n")
        self.env["ASDF_DATA_DIR"] = str(root)
        self.on_path(root / "shims", self.home / ".local" / "bin")
        self.assertEqual(self.same("tool"), "plugin\n1.0\n")
        (self.project / ".tool-versions").write_text("tool 2.0\n")
        self.assertEqual(self.same("tool"), "plugin\n2.0\n")
        self.assert_no_secret()

    def test_mise_itself(self):
        mise = find_mise()
        if not mise:
            self.skipTest("mise cannot be downloaded")
        data = self.home / ".local" / "share" / "mise"
        program(self.home / ".local" / "bin" / "mise", copy=mise)
        for version in ("20.1.0", "22.9.0"):
            program(data / "installs" / "node" / version / "bin" / "node", f"echo node {version}")
            secret(data / "installs" / "node" / version / "etc" / "npmrc")
        (data / "shims").mkdir()
        (data / "shims" / "node").symlink_to(self.home / ".local" / "bin" / "mise")
        config = self.home / ".config" / "mise" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f'[env]\nMY_VALUE = "{SECRET}"\n[tools]\nnode = "20.1.0"\n')
        self.on_path(data / "shims", self.home / ".local" / "bin")
        self.env["MISE_OFFLINE"] = "1"
        self.profile(env={"MISE_OFFLINE": "1"})
        self.assertEqual(self.same("node"), "node 20.1.0\n")
        (self.project / ".tool-versions").write_text("node 22.9.0\n")
        self.assertEqual(self.same("node"), "node 22.9.0\n")
        self.assert_no_secret()

    def test_optional_programs(self):
        prefix = self.home / "npm"
        program(prefix / "lib" / "node_modules" / "hello" / "cli.js", "echo npm prefix")
        (prefix / "bin").mkdir()
        (prefix / "bin" / "hello").symlink_to("../lib/node_modules/hello/cli.js")
        secret(prefix / "etc" / "npmrc")
        self.on_path(prefix / "bin")
        self.same("command -v hello; hello")
        self.assert_no_secret()
        self.assertEqual([row["name"] for row in self.plan()["toolchains"]], ["npm"])


class Protection(ToolchainTest):
    """An install directory cannot be changed, secrets stay outside, and what is not trusted does not come along."""

    def test_an_install_directory_cannot_be_changed(self):
        bin_ = program(self.home / ".cargo" / "bin" / "tool", "echo host").parent
        self.on_path(bin_)
        output = self.box("echo x > ~/.cargo/bin/tool; rm -f ~/.cargo/bin/tool; touch ~/.cargo/bin/new; chmod 0 ~/.cargo/bin/tool; "
                          "mv ~/.cargo/bin ~/.cargo/old; rm -rf ~/.cargo/bin; umount ~/.cargo/bin; tool; ls ~/.cargo/bin")
        self.assertEqual(output, "host\ntool\n")
        self.assertEqual(os.listdir(bin_), ["tool"])

    def test_the_home_of_the_host_is_gone_before_the_agent_starts(self):
        self.on_path(program(self.home / ".cargo" / "bin" / "tool", "echo host").parent)
        secret(self.home / "notes.txt")
        output = self.box(f"ls -A $XDG_RUNTIME_DIR | grep staged; grep -c staged /proc/self/mountinfo; grep -rs {SECRET} $XDG_RUNTIME_DIR ~")
        self.assertEqual(output, "0\n")

    def test_a_directory_with_the_name_of_a_secret_comes_entry_by_entry(self):
        bin_ = program(self.home / ".cargo" / "bin" / "tool", "echo host").parent
        secret(bin_ / "credentials.toml")
        self.on_path(bin_)
        self.assertEqual(self.box("tool; ls ~/.cargo/bin"), "host\ntool\n")
        self.assertTrue(any(row["what"] == "~/.cargo/bin/credentials.toml" for row in self.plan()["left_out"]))
        self.assert_no_secret()

    def test_a_link_to_a_secret_place_dangles_and_is_reported(self):
        bin_ = program(self.home / ".cargo" / "bin" / "tool", "echo host").parent
        secret(self.home / ".ssh" / "key")
        (bin_ / "key").symlink_to(self.home / ".ssh" / "key")
        (self.home / ".deno").mkdir()
        (self.home / ".deno" / "bin").symlink_to(self.home / ".ssh")
        self.on_path(bin_, self.home / ".deno" / "bin")
        self.assertEqual(self.box("tool; cat ~/.cargo/bin/key ~/.deno/bin/key 2>/dev/null; true"), "host\n")
        rows = self.plan()["left_out"]
        self.assertIn({"what": "~/.cargo/bin/key", "why": "it is a link to ~/.ssh/key", "option": None}, rows)
        self.assertTrue(any(row["what"] == "~/.deno/bin" for row in rows))
        self.assert_no_secret()

    def test_a_directory_that_others_can_write_does_not_come_along(self):
        bin_ = program(self.home / ".cargo" / "bin" / "tool", "echo host").parent
        self.on_path(bin_)
        for place in (bin_, bin_.parent):
            place.chmod(0o777)
            self.assertEqual(self.box("tool 2>/dev/null || echo none"), "none\n")
            rows = self.plan()["left_out"]
            self.assertTrue(any("other users can change it" == row["why"] for row in rows), rows)
            place.chmod(0o755)
        self.assertEqual(self.box("tool"), "host\n")

    def test_a_directory_that_a_box_can_write_does_not_come_along(self):
        other = self.home / "other"
        other.mkdir()
        self.box("true", cwd=other)
        self.env["CARGO_HOME"] = str(other / "cargo")
        self.on_path(program(other / "cargo" / "bin" / "tool", "echo from a box").parent)
        self.assertEqual(self.box("tool 2>/dev/null || echo none"), "none\n")
        self.assertIn("can change it", json.dumps(self.plan()["left_out"]))

    def test_a_repository_cannot_choose_a_toolchain(self):
        secret(self.home / "private" / "versions" / "1" / "bin" / "python")
        (self.project / ".venv" / "bin").mkdir(parents=True)
        (self.project / ".venv" / "bin" / "python").symlink_to(self.home / "private" / "versions" / "1" / "bin" / "python")
        (self.project / ".claudebox").mkdir()
        (self.project / ".claudebox" / "profile.json").write_text('{"path": ["~/private"], "toolchains": "auto"}')
        (self.project / ".env").write_text(f"PYENV_ROOT={self.home}/private\nPATH={self.home}/private\n")
        self.assert_no_secret()
        self.assertEqual(self.plan()["toolchains"], [])

    def test_a_link_in_the_project_brings_no_manager_and_chooses_no_advice(self):
        link = self.project / ".venv" / "bin" / "python"
        link.parent.mkdir(parents=True)
        programs = (".cargo/bin/cargo", ".nvm/versions/node/v22/bin/node", "miniconda3/bin/python", ".pyenv/versions/3/bin/python3",
                    ".rbenv/versions/3/bin/python3", "private/bin/python", "python", ".pyenv/versions/3/bin/secret")
        (self.home / "miniconda3/lib").mkdir(parents=True)
        secret(self.home / "miniconda3/conda-meta/state")  # has variables and tokens
        advised = {".pyenv/versions/3/bin/python3": "--mount-ro ~/.pyenv/versions/3",
                   "miniconda3/bin/python": "--mount-ro ~/miniconda3/bin --mount-ro ~/miniconda3/lib"}
        for name in programs:
            link.unlink(missing_ok=True)
            link.symlink_to(program(self.home / name, f"echo {SECRET}"))
            plan = self.plan()
            self.assertEqual(plan["toolchains"], [], name)
            rows = {row["what"]: row["option"] for row in plan["left_out"]}
            self.assertEqual(rows["~/" + name], advised.get(name), name)
            self.assertEqual(self.box(".venv/bin/python 2>/dev/null; true"), "", name)
        self.assert_no_secret()

    def test_the_settings_of_conda_stay_outside(self):
        base = self.home / "miniconda3"
        for at in (base, base / "envs" / "e"):
            program(at / "bin" / "tool", "echo tool")
            for name in ("conda-meta/state", "conda-meta/history", "etc/conda/activate.d/env_vars.sh", "etc/conda/deactivate.d/x.sh",
                         "etc/conda/env_vars.d/x", ".condarc", "pip.conf"):
                secret(at / name)
        self.env["CONDA_EXE"] = str(base / "bin" / "conda")
        self.on_path(base / "envs" / "e" / "bin", base / "bin")
        self.same("command -v tool; tool; ~/miniconda3/bin/tool")
        self.assert_no_secret()

    def test_settings_beside_the_programs_of_an_installation_stay_outside(self):
        home = self.home
        places = {
            ".sdkman/candidates/gradle/8": ("gradle.properties", "init.d/x.gradle"),
            ".sdkman/candidates/springboot/3": (".env", "config/application.yml"),
            ".sdkman/candidates/java/17": ("client.p12", "conf/management/jmxremote.password", "conf/x.jks"),
            ".volta/tools/image/packages/one": ("etc/npmrc", ".npmrc"),
            ".volta/tools/image/packages/@a/two": ("etc/npmrc", ".npmrc"),
            ".volta/tools/image/yarn/1": (".yarnrc", "etc/npmrc"),
            ".local/share/pnpm/.tools/pnpm/9": ("etc/npmrc", ".npmrc"),
            ".local/share/fnm": ("etc/npmrc",),
            "opt/jdk": (),
        }
        for place, secrets in places.items():
            program(home / place / "bin" / "tool", "echo tool")
            for name in secrets:
                secret(home / place / name)
        for place in (".local/share/pnpm/global/5", ".bun/install/global"):
            (home / place / "node_modules" / "x").mkdir(parents=True)
            secret(home / place / ".npmrc")
            secret(home / place / "bunfig.toml")
        (home / ".sdkman/candidates/java/17/conf/security").mkdir()
        (home / ".sdkman/candidates/java/17/conf/net.properties").write_text("x\n")
        self.env.update(SDKMAN_DIR=str(home / ".sdkman"), VOLTA_HOME=str(home / ".volta"), PNPM_HOME=str(home / ".local/share/pnpm"),
                        BUN_INSTALL=str(home / ".bun"), FNM_DIR=str(home / ".local/share"))
        self.on_path(home / ".volta/bin")
        self.assert_no_secret()
        programs = self.box("cd; ls -d .*/candidates/*/*/bin/tool .volta/tools/image/*/*/bin/tool .volta/tools/image/packages/@a/two/bin/tool "
                            ".local/share/pnpm/.tools/pnpm/9/bin/tool .bun/install/global/node_modules/x .local/share/pnpm/global/5/node_modules/x "
                            ".sdkman/candidates/java/17/conf/*").split()
        self.assertEqual(len(programs), 11, programs)

    def test_a_go_installation_comes_without_addresses_with_a_login(self):
        for version in ("go1.22", "go1.23"):
            program(self.home / "sdk" / version / "bin" / "go", "echo go")
            (self.home / "sdk" / version / "go.env").write_text(f"# defaults\nGOPROXY=https://bob:{SECRET}@proxy.example,direct\nGOTOOLCHAIN={version}\n")
        self.on_path(self.home / "sdk" / "go1.22" / "bin")
        self.assertEqual(self.box("cat ~/sdk/go1.22/go.env ~/sdk/go1.23/go.env"), "GOTOOLCHAIN=go1.22\nGOTOOLCHAIN=go1.23\n")
        self.assertIn({"what": "lines of ~/sdk/go1.22/go.env", "why": "the copy in the box has no secrets and no variables", "option": None}, self.plan()["left_out"])
        self.assert_no_secret()

    def test_settings_of_rustup_and_mise_are_copied_without_variables_and_projects(self):
        self.on_path(program(self.home / ".cargo" / "bin" / "tool", "echo").parent, program(self.home / ".local" / "share" / "mise" / "shims" / "x", "echo").parent)
        (self.home / ".rustup").mkdir()
        (self.home / ".rustup" / "settings.toml").write_text(f'version = "12"\n[overrides]\n"/home/{SECRET}" = "stable"\n')
        config = self.home / ".config" / "mise" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f'env.B = "{SECRET}"\nenv = {{ A = "{SECRET}" }}\n[tasks.x]\nrun = """\n[tools]\na = "{SECRET}"\n"""\n[tools]\nnode = "20"\n'
                          f'x = {{ version = "1", install_env = {{ T = "{SECRET}" }} }}\n[tools.x.env]\nT = "{SECRET}"\n')
        self.assertEqual(self.box("cat ~/.rustup/settings.toml ~/.config/mise/config.toml"), 'version = "12"\n[tools]\nnode = "20"\n')
        self.assert_no_secret()

    def test_programs_of_local_bin_come_only_for_a_toolchain(self):
        local = self.home / ".local" / "bin"
        local.mkdir(parents=True)
        other = self.home / "other"
        fake = program(other / "fake" / "bin" / "node", f"echo {SECRET}")
        self.box("true", cwd=other)
        secret(self.home / "private" / "plain.txt")
        (self.home / ".claude").mkdir(exist_ok=True)
        secret(self.home / ".claude" / "settings.json").chmod(0o755)
        secret(local / "notes.txt")
        program(local / "deploy", f"echo {SECRET}")
        for name, target in {"gitx": fake, "uv": fake, "plain": self.home / "private" / "plain.txt", "mise": self.home / ".claude" / "settings.json"}.items():
            (local / name).symlink_to(target)
        secret(local / "uvx")  # not executable
        program(local / "pipx", f"echo {SECRET}").chmod(0o777)
        self.on_path(local)
        home = str(self.home)
        for variables in ({}, {"GOPATH": home}, {"CONDA_EXE": home + "/bin/conda"}, {"HOMEBREW_PREFIX": home}, {"PIPX_HOME": home + "/.local"},
                          {"NPM_CONFIG_PREFIX": home + "/.local"}, {"GOPATH": home + "/.local"}, {"GOBIN": str(local)}):
            with self.subTest(variables):
                self.assertEqual(self.box(f"ls /run/claudebox/bin 2>/dev/null; grep -rsl {SECRET} ~/.local /run; true", env=variables), "")
                plan = json.loads(self.claudebox("--dry-run=json", env=variables).stdout)
                self.assertNotIn("local", [row["name"] for row in plan["toolchains"]])

    def test_a_part_with_a_project_in_it_does_not_come_along(self):
        version = self.home / ".nvm" / "versions" / "node" / "v24"
        node = program(version / "bin" / "node", "echo host")
        project = version / "lib" / "node_modules" / "mine"
        project.mkdir(parents=True)
        (version / "include").mkdir()
        self.on_path(node.parent)
        self.assertEqual(self.box("node; ls ~/.nvm/versions/node/v24/lib"), "host\nnode_modules\n")
        self.box("true", cwd=project)
        self.assertEqual(self.box("node; ls ~/.nvm/versions/node/v24/lib; true"), "host\n")  # at most an empty directory of the kept home
        self.assertIn("a box of '~/.nvm/versions/node/v24/lib/node_modules/mine' can change", json.dumps(self.plan()["left_out"]))
        # The version itself as a project: its box replaces node.
        self.box("rm bin/node; printf '#!/bin/sh\necho planted\n' > bin/node; chmod 755 bin/node", cwd=version)
        self.assertEqual(self.outside("node"), "planted\n")
        self.assertEqual(self.box("node 2>/dev/null | grep planted; true"), "")
        self.assertIn("a box of '~/.nvm/versions/node/v24' can change", json.dumps(self.plan()["left_out"]))

    def test_a_program_on_path_that_others_can_write_does_not_come_along(self):
        for root in (self.home / ".cargo", self.home / ".nvm" / "versions" / "node" / "v1"):
            bin_ = program(root / "bin" / "good", "echo good").parent
            program(bin_ / "evil", "echo evil").chmod(0o777)
            (bin_ / "link").symlink_to("good")
            with self.subTest(root):
                self.assertEqual(self.box(f"good; link; evil 2>/dev/null; ls {bin_}", env={"PATH": f"{bin_}:{self.env['PATH']}"}), "good\ngood\ngood\nlink\n")
                rows = json.loads(self.claudebox("--dry-run=json", env={"PATH": f"{bin_}:{self.env['PATH']}"}).stdout)["left_out"]
                self.assertIn({"what": f"~/{bin_.relative_to(self.home)}/evil", "why": "other users can change it", "option": None}, rows)

    def test_a_root_that_is_a_link(self):
        data = self.scratch() / "cargo"
        program(data / "bin" / "tool", "echo linked")
        secret(data / "credentials.toml")
        (self.home / ".cargo").symlink_to(data)
        self.on_path(self.home / ".cargo" / "bin")
        self.assertEqual(self.box("tool; touch ~/.cargo/registry && ls ~/.cargo"), "linked\nbin\nregistry\n")
        self.assertEqual(sorted(os.listdir(data)), ["bin", "credentials.toml"])
        self.assert_no_secret()

    def test_a_manager_that_is_half_there(self):
        (self.home / ".nvm").mkdir()
        (self.home / ".nvm" / "versions").write_text("not a directory\n")
        (self.home / ".cargo" / "bin").mkdir(parents=True)
        (self.home / ".pyenv").symlink_to("missing")
        self.env.update(NVM_DIR=str(self.home / ".nvm"), PYENV_ROOT=str(self.home / ".pyenv"), VOLTA_HOME="relative", BUN_INSTALL="")
        self.on_path(self.home / ".cargo" / "bin", self.home / ".pyenv" / "shims")
        self.assertEqual(self.box("echo works"), "works\n")


class Path(ToolchainTest):
    """PATH names nothing that is not there, and keeps the user's order."""

    def path(self, *arguments, env=None):
        done = self.claudebox("--yes", *arguments, "--exec", "sh", "-c", 'echo "$PATH"; IFS=:; for d in $PATH; do [ -d "$d" ] || echo "missing $d"; done', env=env)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[1:], [], done.stderr)
        return lines[0].split(":")

    def test_the_order_of_the_user_is_kept(self):
        cargo = program(self.home / ".cargo" / "bin" / "git", "echo git of cargo").parent
        self.env["PATH"] = f"/usr/bin:{cargo}:/bin:{self.home}/bin:/usr/local/bin"
        path = self.path()
        self.assertEqual([entry for entry in path if entry in ("/usr/bin", str(cargo), "/usr/local/bin")],
                         ["/usr/bin", str(cargo), "/usr/local/bin"])
        self.env["PATH"] = f"{cargo}:/usr/bin"
        self.assertEqual(self.box("git"), "git of cargo\n")

    def test_requested_directories_come_first(self):
        tools = program(self.home / "tools" / "bin" / "git", "echo mine").parent
        self.assertEqual(self.path("--path", "~/tools/bin", "--path", "/usr/games")[:2], [str(tools), "/usr/games"])
        self.assertEqual(self.claudebox("--yes", "--path", tools, "--exec", "git").stdout, "mine\n")
        self.profile(path=["~/tools/bin"])
        self.assertEqual(self.path()[0], str(tools))
        self.assertEqual(self.claudebox("--yes", "--exec", "sh", "-c", f"git; echo x > {tools}/git").stdout, "mine\n")

    def test_a_requested_directory_has_the_rules_of_a_mount(self):
        program(self.home / "tools" / "git", "echo mine")
        secret(self.home / ".ssh" / "key")
        self.box("true")
        self.assertIn("is a file", self.refused("--yes", "--path", "~/tools/git", "--exec", "true"))
        self.assertIn("leads to", self.refused("--yes", "--path", self.link(), "--exec", "true"))
        self.assertIn("home directory", self.refused("--yes", "--path", "~", "--exec", "true"))
        self.assertIn("does not exist", self.refused("--yes", "--path", "~/missing", "--exec", "true"))
        self.assertIn("state of claudebox", self.refused("--yes", "--path", "~/.claudebox", "--exec", "true"))

    def test_a_requested_directory_has_no_colon(self):
        program(self.home / "a:b" / "bin" / "tool", "echo tool")
        error = self.refused("--yes", "--path", f"{self.home}/a:b", "--exec", "true", status=2)
        self.assertIn("option '--path' requires one directory without ':'", error)
        self.assertIn("has a ':'", self.refused("--yes", "--path", "bin", "--exec", "true", cwd=self.home / "a:b"))
        self.profile(path=["~/tools", "~/a:b/bin"])
        error = self.refused()
        self.assertIn("'path[1]' has a ':'", error)
        self.assertRegex(error, r"line \d+, column \d+")

    def link(self):
        link = self.home / "innocent"
        link.symlink_to(self.home / ".ssh")
        return link

    def test_odd_entries(self):
        self.env["PATH"] = f"relative::.:{self.home}/a\nb:{self.home}/\x1b[31m:{self.home}/caf\xe9:{self.home}/missing:{self.home}/.ssh:/usr/bin:/usr/bin/../bin:/usr/bin"
        for name in ("a\nb", "\x1b[31m", "caf\xe9", ".ssh"):
            (self.home / name).mkdir()
        path = self.path()
        self.assertEqual(path.count("/usr/bin"), 1)
        self.assertEqual([entry for entry in path if str(self.home) in entry], [f"{self.home}/.local/bin"])
        audit = self.claudebox("--yes", "--audit=full", "--exec", "true").stderr
        self.assertNotIn("\x1b[31m", audit)
        for reason in ("is relative", "has control characters", "it is in a secret place", "--path"):
            self.assertIn(reason, audit)

    def test_two_hundred_entries(self):
        for number in range(200):
            program(self.home / "tools" / str(number) / "tool", "echo left out")
        cargo = program(self.home / ".cargo" / "bin" / "tool", "echo cargo").parent
        self.env["PATH"] = ":".join([*(f"{self.home}/tools/{number}" for number in range(200)), str(cargo), "/usr/bin", *[f"/nowhere/{n}" for n in range(400)]])
        self.assertEqual(self.box("tool"), "cargo\n")
        plan = self.plan()
        self.assertGreaterEqual(len(plan["left_out"]), 200)
        self.assertIn("more PATH entries", json.dumps(plan["left_out"]))
        self.env["PATH"] = "/usr/bin:" + ":".join("/x" * 2000 for _ in range(30))
        self.assertEqual(self.box("echo works"), "works\n")

    def test_another_program_of_the_same_name_is_named(self):
        program(self.home / "bin2" / "git", "echo other git")
        self.on_path(self.home / "bin2")
        rows = [row for row in self.plan()["left_out"] if row["what"] == "~/bin2/git"]
        self.assertEqual(len(rows), 1)
        self.assertIn("/usr/bin/git", rows[0]["why"])
        self.assertEqual(rows[0]["option"], "--path ~/bin2")
        self.assertEqual(self.plan("--path", "~/bin2")["left_out"], [])


class Choice(ToolchainTest):
    """The profile chooses, and the approval compares managers, not versions."""

    def setUp(self):
        super().setUp()
        self.on_path(program(self.home / ".cargo" / "bin" / "tool", "echo cargo").parent,
                     program(self.home / ".deno" / "bin" / "other", "echo deno").parent)

    def test_none_and_a_list(self):
        self.assertEqual(self.box("tool; other"), "cargo\ndeno\n")
        self.profile(toolchains="none")
        self.assertEqual(self.box("tool; other; true"), "")
        self.profile(toolchains=["deno"])
        self.assertEqual(self.box("tool; other"), "deno\n")
        self.profile(toolchains="auto")
        self.assertEqual(self.box("tool; other"), "cargo\ndeno\n")

    def test_a_wrong_name_has_a_suggestion(self):
        self.profile(toolchains=["cargp"])
        self.assertIn("did you mean 'cargo'?", self.refused())
        self.profile(toolchains="non")
        self.assertIn("did you mean 'none'?", self.refused())
        self.profile(toolchains="cargo")
        self.assertIn('["cargo"]', self.refused())

    def approve(self):
        return approve(self, CLAUDEBOX, "--exec", "true")

    def test_an_update_is_no_change_and_a_new_manager_is(self):
        program(self.home / ".rustup" / "toolchains" / "stable" / "bin" / "rustc", "echo stable")
        self.approve()
        program(self.home / ".cargo" / "bin" / "new", "echo new")
        program(self.home / ".rustup" / "toolchains" / "beta" / "bin" / "rustc", "echo beta")
        self.assertEqual(self.plan()["changes"], [])
        self.assertNotIn("Changed", self.approve())
        self.on_path(program(self.home / ".bun" / "bin" / "bun", "echo bun").parent)
        self.assertEqual(self.plan()["changes"], [f"+ toolchain bun {self.home}/.bun"])
        self.assertIn("+ toolchain bun ~/.bun", self.approve())
        self.assertIn(f"+ path {self.home}/tools", self.plan("--path", program(self.home / "tools" / "x", "true").parent)["changes"])

    def test_works_with_every_kind_of_home_and_project(self):
        for keys in ({"home": "none"}, {"home": "shared"}, {"project": "read-only"}, {"nested": True}):
            self.profile(**keys)
            if keys == {"nested": True} and os.getuid() == 0:
                continue
            self.assertEqual(self.box("tool; other; touch ~/.cargo/bin/x 2>/dev/null || echo read-only"), "cargo\ndeno\nread-only\n", keys)

    def test_instructions_and_check_name_them(self):
        text = self.box("cat /etc/claude-code/CLAUDE.md")
        self.assertIn(f"cargo (`{self.home}/.cargo`)", text)
        self.assertIn("deno", text)
        rows = {row["name"]: row for row in json.loads(self.claudebox("--check=json").stdout)["checks"]}
        self.assertEqual(rows["toolchains"]["detail"], "deno, cargo")


class Advice(ToolchainTest):
    """The option of a line under "Not in the box" brings what the line names."""

    def test_programs_that_need_the_files_beside_them(self):
        program(self.home / "jdk/bin/tool", 'cat "$(dirname "$0")/../lib/text"')
        (self.home / "jdk/lib").mkdir()
        (self.home / "jdk/lib/text").write_text("from lib\n")
        self.on_path(self.home / "jdk/bin")
        self.assertEqual(self.follow("~/jdk/bin", "tool"), ("--mount-ro ~/jdk", "from lib\n"))

    def test_a_link_on_PATH(self):
        program(self.home / "real/tool", "echo found")
        (self.home / "link").symlink_to("real")
        self.on_path(self.home / "link")
        self.assertEqual(self.follow("~/link", "tool"), ("--path ~/real", "found\n"))

    def test_a_program_of_the_users_own_local_directory(self):
        program(self.home / ".local/bin/mytool", "echo found")
        self.on_path(self.home / ".local/bin")
        script = "mytool; echo x >~/.local/bin/new && echo writable"
        self.assertEqual(self.follow("~/.local/bin", script), ("--mount-ro ~/.local/bin/mytool", "found\nwritable\n"))

    def test_directories_that_are_refused(self):
        (self.home / ".ssh").mkdir()
        (self.home / ".local/bin").mkdir(parents=True)
        self.assertIn("cannot be in a secret place", self.refused("--yes", "--path", "~/.ssh", "--exec", "true"))
        self.assertIn("mount single programs", self.refused("--yes", "--path", "~/.local/bin", "--exec", "true"))

    def test_a_directory_that_the_host_lacks_is_not_listed(self):
        self.on_path(self.home / "gone")
        self.assertEqual([row for row in self.plan()["left_out"] if "gone" in row["what"]], [])


class Errors(BoxTest):
    """Messages that name what is missing, and the option that brings it."""

    def test_a_command_that_is_a_link_to_a_program_outside(self):
        python = program(self.home / "pythons" / "3.99" / "bin" / "python3", copy="/usr/bin/python3")
        (self.project / "venv" / "bin").mkdir(parents=True)
        (self.project / "venv" / "bin" / "python").symlink_to(python)
        done = self.claudebox("--yes", "--exec", "./venv/bin/python", "--version")
        self.assertEqual(done.returncode, 127)
        self.assertIn(f"it is a link to '{python}', which is not there", done.stderr)
        self.assertIn("--mount-ro mounts", done.stderr)
        self.assertNotIn("--mount-ro ~", done.stderr)  # the project chose the link
        done = self.claudebox("--yes", "--mount-ro", "~/pythons/3.99", "--exec", "./venv/bin/python", "--version")
        self.assertEqual((done.returncode, done.stdout[:6]), (0, "Python"), done.stderr)

    def test_a_mount_is_refused_only_for_a_secret_that_exists(self):
        program(self.home / ".cargo" / "bin" / "tool", "echo cargo")
        done = self.claudebox("--yes", "--mount-ro", "~/.cargo", "--exec", "sh", "-c", "~/.cargo/bin/tool")
        self.assertEqual(done.stdout, "cargo\n", done.stderr)
        self.assertRegex(done.stderr, r"if it\s+appears")
        secret(self.home / ".cargo" / "credentials.toml")
        self.assertIn("contains", self.refused("--yes", "--mount-ro", "~/.cargo", "--exec", "true"))
