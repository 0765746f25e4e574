# SPDX-License-Identifier: MIT
"""What the instructions for Claude say about programs is true in the box, with the real package managers, offline."""
import json
import os
import subprocess
import unittest
import zipfile

from lib.instructions import InstructionsTest
from lib.other_host import OtherHost
from lib.toolchains import ToolchainTest, program

INSTALLS = "`npm install -g`, `cargo install` and `go install` put programs into `~/.local/bin`"
LEFT_OUT = "Some programs or settings of the user are not in the box."
NPM = "npm install --silent --offline --no-audit --no-fund"
PIP = "/usr/bin/pip3 install --quiet --no-index --disable-pip-version-check --target"


def needs(*names):
    missing = [name for name in names if not os.path.exists(f"/usr/bin/{name}")]
    return unittest.skipIf(missing, f"not installed: {missing}")


class Packages(InstructionsTest):
    def setUp(self):
        super().setUp()
        self.env["PATH"] = "/usr/local/bin:/usr/bin:/bin"

    def write(self, path, text):
        place = self.project / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place

    def npm_package(self):
        self.write("js/package.json", json.dumps({"name": "of-npm", "version": "1.0.0", "bin": {"of-npm": "cli.js"}}))
        self.write("js/cli.js", "#!/usr/bin/env node\nconsole.log('npm')\n").chmod(0o755)

    def wheel(self):
        """A package of Python, ready to install."""
        name = self.project / "of_pip-1-py3-none-any.whl"
        with zipfile.ZipFile(name, "w") as archive:
            archive.writestr("of_pip.py", "print('pip')\n")
            archive.writestr("of_pip-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: of-pip\nVersion: 1\n")
            archive.writestr("of_pip-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr("of_pip-1.dist-info/RECORD", "")

    @needs("npm", "cargo", "go", "pip3")
    def test_programs_that_package_managers_install(self):
        self.npm_package()
        self.wheel()
        self.write("rs/Cargo.toml", "[package]\nname = 'of-cargo'\nversion = '1.0.0'\nedition = '2018'\n[profile.release]\nopt-level = 0\n")
        self.write("rs/src/main.rs", "fn main() { println!(\"cargo\"); }\n")
        self.write("go/go.mod", "module of-go\n")
        self.write("go/main.go", "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"go\\n\") }\n")
        self.profile(network="none")
        told, _ = self.told(f"{NPM} -g ./js; cargo install -q --offline --path rs; (cd go && go install .); {NPM} --prefix . ./js; {PIP} py of_pip*.whl; "
                            f"{PIP} ~/py of_pip*.whl", timeout=180)
        self.assertTold(told, f"{INSTALLS}, which is on `PATH`, and they are there in the next session.",
                        "Package managers of programming languages can install into the project or the home directory.")
        self.assertEqual(self.box("cd /tmp; of-npm; of-cargo; of-go; for name in npm cargo go; do command -v of-$name; done; $OLDPWD/node_modules/.bin/of-npm; "
                                  "PYTHONPATH=$OLDPWD/py python3 -m of_pip; PYTHONPATH=~/py python3 -m of_pip"),
                         "npm\ncargo\ngo\n" + "".join(f"{self.home}/.local/bin/of-{name}\n" for name in ("npm", "cargo", "go")) + "npm\npip\npip\n")

    @needs("npm")
    def test_programs_in_a_home_in_memory(self):
        self.npm_package()
        self.profile(network="none", home="none")
        told, output = self.told(f"{NPM} -g ./js; of-npm; command -v of-npm")
        self.assertTold(told, f"{INSTALLS}, which is on `PATH`.")
        self.assertEqual(output, f"npm\n{self.home}/.local/bin/of-npm\n")
        self.assertEqual(self.box("command -v of-npm; ls ~/.local/bin"), "")

    @needs("pip3")
    def test_packages_with_a_read_only_project(self):
        self.wheel()
        self.profile(network="none", project="read-only")
        told, output = self.told(f"{PIP} ~/py of_pip*.whl; PYTHONPATH=~/py python3 -m of_pip; {PIP} ./py of_pip*.whl >/dev/null 2>&1 || echo refused")
        self.assertTold(told, "Package managers of programming languages can install into the home directory.")
        self.assertEqual(output, "pip\nrefused\n")

    def test_places_that_the_user_replaced(self):
        """A mount or a variable of the user changes where programs are installed; the sentence is then not there."""
        (self.home / ".local/bin").mkdir(parents=True)
        for place in ("~/.local", "~/.local/bin"):
            told, output = self.told("touch ~/.local/bin/x 2>/dev/null || echo read-only", options=("--mount-ro", place))
            self.assertNotTold(told, "npm install -g")
            self.assertEqual(output, "read-only\n")
        self.profile(env={"GOBIN": "/tmp/bin"})
        told, output = self.told("echo $GOBIN")
        self.assertNotTold(told, "npm install -g")
        self.assertEqual(output, "/tmp/bin\n")

    def test_programs_of_the_host(self):
        there = "ls /usr/bin /usr/lib | wc -l; python3 -c 'import ssl, sys; print(sys.version, ssl.OPENSSL_VERSION)'"
        outside = subprocess.run(["sh", "-c", there], env=self.env, stdout=subprocess.PIPE, text=True, check=True).stdout
        # A package manager that does not exist fails as well.
        refused = ("sudo -n true", "touch /usr/bin/x", "rm /usr/bin/env", "apt-get install -y hello", "dpkg --unpack x.deb", "dnf install -y hello",
                   "pacman --noconfirm -S hello", "su -c true")
        told, output = self.told(f"{there}; grep NoNewPrivs /proc/self/status; " + "; ".join(f"{word} >/dev/null 2>&1 </dev/null && echo '{word} works'" for word in refused))
        self.assertTold(told, "The host's programs and libraries are available.", "They are read-only: `sudo` and the installation of system packages do not work.")
        self.assertNotTold(told, "Nix store")
        self.assertEqual(output, f"{outside}NoNewPrivs:\t1\n")

    def test_a_tool_that_the_user_installs(self):
        host = OtherHost(self, {})
        local = self.scratch()
        options = ("--ro-bind", local, "/usr/local/bin")
        script = "missing-tool 2>/dev/null || echo missing"
        told, output = self.told(script, host=Place(host, options))
        self.assertTold(told, "If a tool is missing, ask the user to install it with the host's package manager.", "It is available from the next session on.")
        self.assertEqual(output, "missing\n")
        program(local / "missing-tool", "echo installed")
        self.assertEqual(self.told(script, host=Place(host, options))[1], "installed\n")

    def test_a_box_of_the_nix_store(self):
        system = "/nix/store/11111111111111111111111111111111-system-path"
        host = OtherHost(self, {"/nix/var/nix/daemon-socket/keep": "", "/etc/NIXOS": "", "/run/current-system/sw": ("->", system)})
        host.add_programs(system, "bash", "sh=bash", "env", "cat", "ls")
        env = {"PATH": "/run/current-system/sw/bin:/usr/bin"}
        told, output = self.told("echo $PATH; echo $GOBIN $CARGO_INSTALL_ROOT; cat $NPM_CONFIG_GLOBALCONFIG; ls /usr /usr/bin", host=host, env=env,
                                 options=("--network", "none"))
        self.assertTold(told, "Programs and libraries are those of the Nix store, and `/usr` is almost empty.",
                        f"{INSTALLS}, which is not on `PATH`, and they are there in the next session.",
                        "If a tool is missing, ask the user to add its Nix package to `packages` of a profile.")
        self.assertNotTold(told, "host's package manager", "run it with `nix shell")
        lines = output.splitlines()
        self.assertEqual(lines[:2], [f"/run/claudebox/command:{system}/bin", f"{self.home}/.local/bin {self.home}/.local"])
        self.assertIn("prefix=${HOME}/.local", lines)
        self.assertEqual(lines[-5:], ["/usr:", "bin", "", "/usr/bin:", "env"])
        told, _ = self.told("true", host=host, env=env)
        self.assertTold(told, "If a tool is missing, run it with `nix shell nixpkgs#NAME -c COMMAND`")
        self.assertNotTold(told, "`packages`")

    @needs("npm", "cargo", "go")
    def test_settings_of_package_managers(self):
        (self.home / ".npmrc").write_text("registry=https://npm.corp.example/\n//npm.corp.example/:_authToken=CANARY\n")
        for path, text in ((".cargo/config.toml", "[registries.corp]\nindex = 'sparse+https://cargo.corp.example/'\n"),
                           (".config/go/env", "GOPROXY=https://go.corp.example\n")):
            (self.home / path).parent.mkdir(parents=True)
            (self.home / path).write_text(text)
        told, output = self.told(
            "npm config get registry; npm config set registry https://mine.example/; npm config get registry; grep -rs CANARY ~ /run /etc; "
            "go env GOPROXY; go env -w GOPROXY=https://mine.example 2>/dev/null; for file in ~/.cargo/config.toml ~/.config/go/env; do "
            "readlink $file; echo x 2>/dev/null >>$file && echo written; rm $file; echo '# mine' >$file; cat $file; done")
        self.assertTold(told, "The user's settings of package managers, such as registries, are in effect (npm, ", "What you set in your home directory ranks above",
                        "If a registry refuses access (401, 403)")
        lines = output.splitlines()
        self.assertEqual(lines[:3], ["https://npm.corp.example/", "https://mine.example/", "https://go.corp.example"])
        self.assertEqual(lines[3:], ["/run/claudebox/registries/cargo.toml", "# mine", "/run/claudebox/registries/go.env", "# mine"])
        self.assertEqual(self.box("cat ~/.cargo/config.toml ~/.config/go/env; npm config get registry"), "# mine\n# mine\nhttps://mine.example/\n")
        self.profile(package_settings="none")
        self.assertNotTold(self.told("true")[0], "settings of package managers")


class Place:
    """Another host with more options for its own bwrap."""

    def __init__(self, host, options):
        self.host = host
        self.options = options

    def claudebox(self, *arguments, **more):
        return self.host.claudebox(*arguments, options=self.options, **more)


class Toolchains(InstructionsTest, ToolchainTest):
    def test_toolchains(self):
        node = self.home / ".nvm/versions/node"
        program(node / "v1.0.0/bin/node", "echo v1")
        program(self.home / ".rustup/toolchains/stable/bin/rustc", "echo rustc")
        cargo = program(self.home / ".cargo/bin/cargo", "echo cargo").parent
        self.env["NVM_DIR"] = str(self.home / ".nvm")
        self.on_path(node / "v1.0.0/bin", cargo)
        same = "command -v node; command -v cargo; node; cargo; echo $NVM_DIR"
        script = (f"{same}; for file in ~/.nvm/versions/node/v1.0.0/bin/node ~/.cargo/bin/cargo ~/.rustup/toolchains/stable/bin/rustc; do "
                  "for try in \"rm -f $file\" \"touch $file.new\" \"chmod 777 $file\"; do $try 2>/dev/null && echo $try; done; done; ls ~/.nvm/versions/node")
        told, output = self.told(script)
        home = self.home
        self.assertTold(told, f"Toolchains of the user, read-only: nvm (`{home}/.nvm`), cargo (`{home}/.cargo`, `{home}/.rustup`).",
                        "They are on `PATH` as outside.", "To add a version to one of them, ask the user")
        self.assertNotTold(told, LEFT_OUT)
        self.assertEqual(output, self.outside(same) + "v1.0.0\n")
        self.assertEqual((os.listdir(node), os.listdir(cargo)), (["v1.0.0"], ["cargo"]))
        program(node / "v2.0.0/bin/node", "echo v2")
        self.assertEqual(self.box("ls ~/.nvm/versions/node; ~/.nvm/versions/node/v2.0.0/bin/node"), "v1.0.0\nv2.0.0\nv2\n")
        self.profile(toolchains="none")
        self.assertNotTold(self.told("true")[0], "Toolchains of the user", "To add a version")

    def test_programs_that_stay_outside(self):
        program(self.home / "plain/one", "echo one")
        program(self.home / "kit/bin/two", 'cat "$(dirname "$0")/../lib/text"')
        (self.home / "kit/lib").mkdir()
        (self.home / "kit/lib/text").write_text("two\n")
        self.on_path(self.home / "plain", self.home / "kit/bin")
        done = self.claudebox("--yes", "--audit=full", "--exec", "sh", "-c", "one; two")
        listed = " ".join(done.stderr.split("Not in the box:")[1].split("\n\n")[0].split())
        self.assertEqual(done.stdout, "")
        options = [row["option"] for row in self.plan()["left_out"]]
        self.assertEqual(sorted(options), ["--mount-ro ~/kit", "--path ~/plain"])
        told, _ = self.told("true")
        self.assertTold(told, LEFT_OUT, "If you need one, tell the user: claudebox lists them before the start, under \"Not in the box\"")
        for option in options:
            self.assertIn(option, listed)
        told, output = self.told("one; two", options=[word for option in options for word in option.split()])
        self.assertEqual(output, "one\ntwo\n")
        self.assertNotTold(told, LEFT_OUT)

    def test_no_option_brings_what_stays_outside(self):
        """The sentence is not there for rows that no option brings, such as a relative entry of PATH."""
        self.env["PATH"] = f"bin:{self.system}"
        self.assertEqual([row["option"] for row in self.plan()["left_out"]], [None])
        self.assertNotTold(self.told("true")[0], LEFT_OUT, "Not in the box\"")


if __name__ == "__main__":
    unittest.main()
