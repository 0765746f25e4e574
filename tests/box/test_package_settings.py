# SPDX-License-Identifier: MIT
"""The settings of package managers come along without credentials, and rank below the agent's own.

Every secret is random, so that no value in a file of the box can match it by chance."""
import json
import os
import secrets
import shutil
import unittest

from lib.box import BoxTest
from lib.toolchains import YARN, from_npm

SYSTEM = "/usr/local/bin:/usr/bin:/bin"


def needs(program):
    return unittest.skipUnless(shutil.which(program, path=SYSTEM), f"{program} is not installed")


class PackageSettingsTest(BoxTest):
    def setUp(self):
        super().setUp()
        self.secret = secrets.token_hex(12)
        self.word = "".join(secrets.choice("aeiou" if i % 2 else "bdgklmnprt") for i in range(10))

    def write(self, name, text, mode=0o600):
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def audit(self):
        done = self.claudebox("--yes", "--audit=full", "--exec", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        return " ".join(done.stderr.split())

    def write_all(self):
        """Writes every file that claudebox knows, with the secret wherever one can be."""
        s = self.secret
        self.write(".npmrc", f"registry=https://u:{s}@npm.corp.example/\n@corp:registry=https://{s}@scope.corp.example/\n"
                             f"//npm.corp.example/:_authToken={s}\n_auth={s}\n//x/:_password=\"{s}\"\n; {s}\n"
                             f"cafile=/home/{s}\nproxy=http://u:{s}@proxy.example\nregistry-x={s}\n{s}\n[{s}]\nkey={s}\n")
        self.write(".yarnrc.yml", f"npmAuthToken: {s}\nnpmRegistryServer: 'https://u:{s}@npm.corp.example/'\nnpmScopes:\n  corp:\n"
                                  f"    npmAuthIdent: u:{s}\n    npmRegistryServer: https://scope.corp.example/{s}\n# {s}\nnote: |\n  {s}\n  {s}: {s}\n")
        self.write(".yarnrc", f"registry \"https://u:{s}@npm.corp.example/\"\n\"//npm.corp.example/:_authToken\" {s}\n")
        self.write(".config/pip/pip.conf", f"[global]\nindex-url = https://u:{s}@pypi.corp.example/simple\nextra-index-url =\n  https://{s}@a.example/\n"
                                           f"  https://b.example/{s}/\npassword = {s}\n[{s}]\n{s} = {s}\n")
        self.write(".config/uv/uv.toml", f"[[index]]\nname = 'corp'\nurl = 'https://u:{s}@pypi.corp.example/simple'\n")
        self.write(".cargo/config.toml", f"[registries.corp]\nindex = 'sparse+https://u:{s}@cargo.corp.example/'\ntoken = '{s}'\n[env]\nX = '{s}'\n"
                                         f"[registries.two]\nindex = \"https://two.example/?token={s}\"\ncredential-provider = ['x', '{s}']\n")
        self.write(".m2/settings.xml", f"<settings><servers><server><id>a</id><password>{s}</password></server></servers><mirrors><mirror><id>a</id>"
                                       f"<mirrorOf>*</mirrorOf><url>https://u:{s}@maven.corp.example/</url></mirror></mirrors><!-- {s} --></settings>")
        self.write(".gradle/gradle.properties", f"corpUrl=https\\://u:{s}@maven.corp.example/\ncorpPassword={s}\nother={s}\n")
        self.write(".config/go/env", f"GOPROXY=https://u:{s}@go.corp.example,direct\nGOAUTH={s}\nGOFLAGS={s}\n")
        self.write(".gemrc", f":sources:\n- https://u:{s}@gems.corp.example/\n:rubygems_api_key: {s}\n")
        self.write(".bundle/config", f"BUNDLE_GEMS__CORP__EXAMPLE: \"u:{s}\"\nBUNDLE_MIRROR__HTTPS://GEMS__EXAMPLE/: \"https://u:{s}@m.example/\"\n")
        self.write(".condarc", f"channels:\n  - https://u:{s}@conda.corp.example/t/{s}/x\n  - https://conda.corp.example/y\n"
                               f"channel_alias: https://conda.corp.example/t/{s}\ncustom_channels:\n  a: https://conda.corp.example/t/{s}\n"
                               f"default_channels:\n  - https://conda.corp.example/t/{s}/main\n")


class SecretsTest(PackageSettingsTest):
    def test_no_credential_of_a_package_manager_is_in_the_box(self):
        self.write_all()
        # Everything that the agent can read: all files of its own, and the environment of all processes.
        found = self.box(f"grep -rlsF {self.secret} / --exclude-dir=proc --exclude-dir=usr --exclude-dir=nix; "
                         f"grep -lsF {self.secret} /proc/[0-9]*/environ; echo done; ls /run/claudebox/registries /etc/pip.conf")
        before, after = found.split("done\n")
        # The search itself has the secret among its arguments.
        self.assertEqual([line for line in before.splitlines() if "cmdline" not in line], [])
        for name in ("cargo.toml", "maven.xml", "gradle.properties", "yarnrc.yml", "yarnrc", "go.env", "/etc/pip.conf"):
            self.assertIn(name, after)

    def test_a_token_that_reads_like_a_word_stays_outside_by_its_place(self):
        w = self.word
        self.write(".condarc", f"channels:\n  - https://conda.corp.example/t/{w}/x\n  - t/{w}/y\nchannel_alias: https://conda.corp.example/t/{w}\n"
                               f"custom_channels:\n  a: https://conda.corp.example/t/{w}\ndefault_channels:\n  - https://conda.corp.example/t/{w}/main\n")
        self.write(".npmrc", f"registry=https://npm.corp.example/token/{w}/\n//u:{w}@npm.corp.example/:_authToken=${{HOME}}\n")
        self.write(".gradle/gradle.properties", f"corpUrl=https\\://maven.corp.example/key={w}/\n")
        done = self.claudebox("--yes", "--exec", "cat", "/etc/conda/.condarc", "/run/claudebox/npmrc", "/run/claudebox/registries/gradle.properties")
        self.assertEqual(done.stdout.count("left-out-by-claudebox.invalid"), 7, done.stdout)
        self.assertNotIn(w, done.stdout + done.stderr + self.claudebox("--dry-run=json").stdout)

    def test_no_credential_is_shown(self):
        self.write_all()
        for arguments in (["--dry-run"], ["--dry-run=json"], ["--check"], ["--yes", "--exec", "true"]):
            done = self.claudebox(*arguments)
            self.assertNotIn(self.secret, done.stdout + done.stderr, arguments)

    def test_addresses_pass_without_their_login(self):
        self.write_all()
        text = self.box("cat /run/claudebox/npmrc /run/claudebox/registries/* /etc/pip.conf /etc/uv/uv.toml /etc/gemrc /etc/conda/.condarc")
        for host in ("npm.corp.example", "scope.corp.example", "pypi.corp.example", "a.example", "cargo.corp.example", "maven.corp.example",
                     "go.corp.example", "gems.corp.example", "m.example"):
            self.assertIn(f"//{host}", text)
        # An address that is itself a secret leads nowhere, and not to the public registry.
        self.assertIn("extra-index-url =\n    https://a.example/\n    https://left-out-by-claudebox.invalid/\n", text)
        self.assertIn('[registries.two]\nindex = "https://left-out-by-claudebox.invalid/"', text)

    def test_a_file_of_certificates_passes_if_the_box_has_it(self):
        bundle = "/etc/ssl/certs/ca-certificates.crt"
        self.write(".npmrc", f"cafile={bundle}\n")
        self.write(".config/pip/pip.conf", "[global]\ncert = ~/corp.pem\n")
        text = self.box("cat /run/claudebox/npmrc; cat /etc/pip.conf 2>/dev/null; true")
        self.assertIn(f"cafile={bundle}\n", text)
        self.assertNotIn("corp.pem", text)

    def test_the_audit_names_what_stays_outside(self):
        self.write_all()
        audit = self.audit()
        self.assertIn("package manager settings without credentials: npm, yarn, yarn 1, pip, uv, cargo, maven, gradle", audit)
        self.assertIn("//npm.corp.example/:_authToken", audit)
        report = {row["file"]: row for row in self.plan()["package_settings"]}
        self.assertIn("registries.corp.token", report[str(self.home / ".cargo/config.toml")]["credentials"])
        self.assertIn("env", report[str(self.home / ".cargo/config.toml")]["left_out"])
        self.assertIn("cafile", report[str(self.home / ".npmrc")]["left_out"])
        self.assertIn("servers", report[str(self.home / ".m2/settings.xml")]["credentials"])

    def test_files_that_cannot_be_used_are_named(self):
        self.write(".npmrc", "registry=https://npm.corp.example/\n" + "; x\n" * 70000)
        self.write(".cargo/config.toml", "[registries.corp\nindex = 'x'\n")
        self.write(".m2/settings.xml", "<!DOCTYPE settings [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><settings>&x;</settings>")
        os.mkfifo(self.home / ".yarnrc.yml")
        self.write(".ssh/config", "x\n")
        (self.home / ".condarc").symlink_to(".ssh/config")
        audit = self.audit()
        for line in ("'~/.npmrc': it is longer than 256 KiB", "'~/.cargo/config.toml': line 1 is not understood",
                     "'~/.m2/settings.xml': line 1 is not understood", "'~/.yarnrc.yml': it is not a regular file",
                     "'~/.condarc': it leads to a secret place"):
            self.assertIn(line, audit)

    def test_global_files_of_npm_are_read_without_a_warning(self):
        reports = [row for row in self.plan()["package_settings"] if row["file"].startswith(("/usr", "/etc"))]
        self.assertEqual([row for row in reports if row["problem"]], [])

    def test_a_file_outside_the_home_is_named_and_not_read(self):
        other = self.scratch() / "npmrc"
        other.write_text("registry=https://npm.corp.example/\n")
        done = self.claudebox("--dry-run=json", env={"NPM_CONFIG_USERCONFIG": str(other)})
        self.assertNotIn("npm.corp.example", done.stdout)
        self.assertIn("NPM_CONFIG_USERCONFIG names a file outside of your home directory", done.stdout)

    def test_a_variable_cannot_name_a_secret(self):
        key = self.write(".ssh/id_rsa", f"-----BEGIN OPENSSH PRIVATE KEY-----\n{self.secret}\nregistry=https://npm.corp.example/\nQx7=\n")
        other = self.write("keys/id_ed25519", "registry=https://npm.corp.example/\n")
        self.write(".ssh/config", "[registries.corp]\nindex = 'https://npm.corp.example/'\n")
        self.write(".yarnrc.yml", "npmAuthToken=x\n")
        for variable, value, why in (("NPM_CONFIG_USERCONFIG", key, "'~/.ssh/id_rsa': it lies in a secret place"),
                                     ("PIP_CONFIG_FILE", key, "'~/.ssh/id_rsa': it lies in a secret place"),
                                     ("CARGO_HOME", key.parent, "'~/.ssh/config': it lies in a secret place"),
                                     ("NPM_CONFIG_USERCONFIG", self.home / ".yarnrc.yml", "'~/.yarnrc.yml': it lies in a secret place"),
                                     ("NPM_CONFIG_USERCONFIG", other, "'~/keys/id_ed25519': its name is that of a secret")):
            done = self.claudebox("--yes", "--exec", "cat", "/run/claudebox/npmrc", "/etc/pip.conf", env={variable: str(value)})
            self.assertIn(why, " ".join(done.stderr.split()), variable)
            self.assertNotIn("npm.corp.example", done.stdout)
            self.assertNotIn(self.secret, done.stdout + done.stderr)

    def test_a_variable_names_another_file_of_the_user(self):
        path = self.write("work/.npmrc", "registry=https://npm.corp.example/\n")
        self.assertIn("npm.corp.example", self.box("cat /run/claudebox/npmrc", env={"NPM_CONFIG_USERCONFIG": str(path)}))

    def test_a_hard_link_of_a_secret_is_not_read(self):
        key = self.write(".ssh/id_rsa", "registry=https://npm.corp.example/\nshortkey\n")
        os.link(key, self.home / ".npmrc")
        done = self.claudebox("--yes", "--exec", "cat", "/run/claudebox/npmrc")
        self.assertIn("'~/.npmrc': it has another name (a hard link), which may be that of a secret", " ".join(done.stderr.split()))
        self.assertNotIn("npm.corp.example", done.stdout)
        self.assertNotIn("shortkey", done.stdout + done.stderr)

    def test_a_file_that_is_no_settings_is_named_and_not_shown(self):
        self.write(".npmrc", f"-----BEGIN SOMETHING ELSE-----\n{self.secret}\nQx7shortend=\n")
        done = self.claudebox("--dry-run=json")
        self.assertIn("it has no setting of this tool", done.stdout)
        self.assertNotIn("Qx7shortend", done.stdout + done.stderr)

    def test_long_lists_are_cut_and_the_plan_has_all(self):
        self.write(".npmrc", "registry=https://npm.corp.example/\n" + "".join(f"unknown-{i}=x\n" for i in range(20)) + "two words=x\n")
        own, = [row for row in self.plan()["package_settings"] if row["file"] == str(self.home / ".npmrc")]
        self.assertEqual(own["left_out"], [f"unknown-{i}" for i in range(20)] + ["line 22"])
        audit = self.audit()
        self.assertRegex(audit, r"unknown-7 and \d+ more \(--dry-run=json has all\)")  # the machine may have /etc/pip.conf
        self.write(".npmrc", "registry=https://npm.corp.example/\ntwo words=x\n")
        self.assertIn("~/.npmrc: line 2", self.audit())

    def test_a_linked_file_of_the_user_is_read(self):
        self.write("dotfiles/npmrc", "registry=https://npm.corp.example/\n")
        (self.home / ".npmrc").symlink_to("dotfiles/npmrc")
        self.assertIn("npm.corp.example", self.box("cat /run/claudebox/npmrc"))

    def test_variables_that_name_registries_are_named(self):
        done = self.claudebox("--yes", "--exec", "true", env={"PIP_INDEX_URL": f"https://u:{self.secret}@pypi.corp.example/"})
        self.assertIn("PIP_INDEX_URL", done.stderr)
        self.assertNotIn(self.secret, done.stderr)

    def test_prove_finds_no_login_in_generated_files(self):
        self.write_all()
        done = self.claudebox("--prove=json", timeout=120)
        verdicts = {row["name"]: (row["verdict"], row["why"]) for row in json.loads(done.stdout)["attacks"]}
        self.assertEqual(verdicts["files-generated"][0], "blocked", verdicts["files-generated"])
        self.assertNotEqual(verdicts["files-absent"][0], "leaked", verdicts["files-absent"])
        self.assertNotIn(self.secret, done.stdout + done.stderr)

    def test_a_profile_switches_them_off(self):
        self.write_all()
        self.profile(package_settings="none")
        self.assertEqual(self.box("ls /run/claudebox/registries /etc/pip.conf 2>/dev/null; echo \"$NPM_CONFIG_USERCONFIG\"").strip(), "")
        self.assertIn("package_settings: none", self.audit())

    def test_a_mount_of_the_user_takes_the_place(self):
        self.write(".cargo/config.toml", "[registries.corp]\nindex = 'sparse+https://cargo.corp.example/'\n")
        self.write("own/config.toml", "# mine\n")
        done = self.claudebox("--yes", "--mount-ro", f"{self.home}/own:{self.home}/.cargo", "--exec", "cat", f"{self.home}/.cargo/config.toml")
        self.assertEqual(done.stdout, "# mine\n", done.stderr)
        self.assertIn("a mount covers the place", " ".join(done.stderr.split()))
        self.assertEqual(sorted(os.listdir(self.home / "own")), ["config.toml"])


class RankTest(PackageSettingsTest):
    """With the real programs: the setting is effective, and what the agent sets outranks it."""

    @needs("npm")
    def test_npm(self):
        self.write(".npmrc", "registry=https://npm.corp.example/\n@corp:registry=https://scope.corp.example/\n")
        self.profile(unprotect=[".npmrc"])
        out = self.box("npm config get registry; npm config get @corp:registry; npm config set registry https://mine.example/; npm config get registry; "
                       "echo 'registry=https://project.example/' > .npmrc; echo '{}' > package.json; npm config get registry; npm config get @corp:registry")
        self.assertEqual(out.split(), ["https://npm.corp.example/", "https://scope.corp.example/", "https://mine.example/", "https://project.example/",
                                       "https://scope.corp.example/"])

    @needs("npm")
    def test_a_token_passes_on_purpose_by_a_variable(self):
        self.write(".npmrc", "registry=https://npm.corp.example/\n//npm.corp.example/:_authToken=${CORP_TOKEN}\n")
        self.assertNotIn("_authToken", self.box("cat /run/claudebox/npmrc", env={"CORP_TOKEN": self.secret}))
        self.profile(extra_env_passthrough=["CORP_TOKEN"])
        self.assertIn("_authToken=${CORP_TOKEN}", self.box("cat /run/claudebox/npmrc", env={"CORP_TOKEN": self.secret}))

    def test_a_variable_that_settings_refer_to_is_named(self):
        self.write(".npmrc", "registry=https://${CORP_HOST}/\n//npm.corp.example/:_authToken=${CORP_TOKEN}\n//a.example/:_authToken=${UNSET_TOKEN}\n"
                             "//b.example/:_authToken=Bearer ${CORP_OTHER}\n")
        self.write(".m2/settings.xml", "<settings><servers><server><id>corp</id><password>${env.CORP_PASS}</password></server></servers></settings>")
        self.env.update(CORP_HOST="npm.corp.example", CORP_TOKEN=self.secret, CORP_PASS=self.secret, CORP_OTHER=self.secret)
        rows = [row for row in self.plan()["left_out"] if row["what"].startswith("variable")]
        self.assertEqual(rows, [{"what": f"variable {name}", "why": f"{file} uses it", "option": f'"extra_env_passthrough": ["{name}"]'}
                                for name, file in (("CORP_HOST", "~/.npmrc"), ("CORP_TOKEN", "~/.npmrc"), ("CORP_PASS", "~/.m2/settings.xml"))])
        self.profile(extra_env_passthrough=["CORP_HOST", "CORP_TOKEN", "CORP_PASS"])
        self.assertEqual([row.get("names") for row in self.plan()["left_out"]], [["CORP_OTHER"]])

    @needs("mvn")
    def test_a_password_of_maven_passes_on_purpose_by_a_variable(self):
        self.write(".m2/settings.xml", "<settings><mirrors><mirror><id>corp</id><mirrorOf>*</mirrorOf><url>http://127.0.0.1:8765/corp</url></mirror></mirrors><servers>"
                                       "<server><id>corp</id><username>bob</username><password>${env.CORP_PASS}</password></server>"
                                       f"<server><id>other</id><username>bob</username><password>{self.secret}</password></server></servers></settings>")
        (self.project / "pom.xml").write_text("<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version>"
                                              "<parent><groupId>b</groupId><artifactId>b</artifactId><version>1</version></parent></project>")
        (self.project / "server.py").write_text("""import base64, http.server, subprocess
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        given = self.headers.get("Authorization")
        if given:
            print(base64.b64decode(given.split()[1]).decode(), flush=True)
        self.send_response(404 if given else 401)
        self.send_header("WWW-Authenticate", "Basic realm=x")
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *arguments):
        pass
with http.server.ThreadingHTTPServer(("127.0.0.1", 8765), Handler) as server:
    import threading
    threading.Thread(target=server.serve_forever, daemon=True).start()
    subprocess.run(["mvn", "-B", "validate"], stdout=subprocess.DEVNULL, check=False)
""")
        self.env["CORP_PASS"] = "swordfish"
        file = "cat /run/claudebox/registries/maven.xml"
        self.assertNotIn("server>", self.box(file))
        self.profile(extra_env_passthrough=["CORP_PASS"], network="none")
        self.assertEqual(self.box("python3 server.py", timeout=120).split(), ["bob:swordfish"])
        self.assertEqual(self.box(file).count("<server>"), 1)

    @needs("pip")
    def test_pip(self):
        self.profile(network="none")
        self.write(".config/pip/pip.conf", "[global]\nindex-url = https://pypi.corp.example/simple\nextra-index-url =\n  https://a.example/\n  https://b.example/\n")
        out = self.box("pip=/usr/bin/pip; $pip config list; $pip config set global.index-url https://mine.example/simple >/dev/null; echo; $pip config list; "
                       "$pip download --no-input --retries 0 --timeout 2 private-package 2>&1", timeout=120)
        before, after = out.split("\n\n", 1)
        self.assertIn("global.index-url='https://pypi.corp.example/simple'", before)
        self.assertIn("global.extra-index-url='\\nhttps://a.example/\\nhttps://b.example/'", before)
        self.assertIn("global.index-url='https://mine.example/simple'", after)
        self.assertIn("https://mine.example/simple, https://a.example/, https://b.example/", after)

    @needs("cargo")
    def test_cargo(self):
        self.write(".cargo/config.toml", "[source.crates-io]\nreplace-with = 'corp'\n[source.corp]\nregistry = 'http://127.0.0.1:9/corp'\n")
        (self.project / "src").mkdir()
        (self.project / "src/main.rs").write_text("fn main() {}\n")
        (self.project / "Cargo.toml").write_text("[package]\nname = 'a'\nversion = '0.1.0'\n[dependencies]\nprivate-package = '1'\n")
        out = self.box("/usr/bin/cargo fetch 2>&1; rm ~/.cargo/config.toml; "
                       "printf \"[source.crates-io]\\nreplace-with = 'm'\\n[source.m]\\nregistry = 'http://127.0.0.1:9/mine'\\n\" > ~/.cargo/config.toml; "
                       "echo again; /usr/bin/cargo fetch 2>&1", env={"CARGO_NET_RETRY": "0"}, timeout=120)
        before, after = out.split("again\n")
        self.assertIn("http://127.0.0.1:9/corp", before)
        self.assertIn("http://127.0.0.1:9/mine", after)
        self.assertNotIn("9/corp", after)

    @needs("mvn")
    def test_maven(self):
        self.write(".m2/settings.xml", "<settings><mirrors><mirror><id>corp</id><mirrorOf>*</mirrorOf><url>http://127.0.0.1:9/corp</url></mirror></mirrors></settings>")
        (self.project / "pom.xml").write_text("<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version>"
                                              "<parent><groupId>b</groupId><artifactId>b</artifactId><version>1</version></parent></project>")
        out = self.box("mvn -B validate 2>&1; rm ~/.m2/settings.xml; "
                       "echo '<settings><mirrors><mirror><id>mine</id><mirrorOf>*</mirrorOf><url>http://127.0.0.1:9/mine</url></mirror></mirrors></settings>' "
                       "> ~/.m2/settings.xml; mvn -B -U validate 2>&1", timeout=180)
        self.assertIn("corp (http://127.0.0.1:9/corp", out)
        self.assertIn("mine (http://127.0.0.1:9/mine", out)

    @needs("npm")
    def test_yarn(self):
        yarn = from_npm(YARN, "bin/yarn.js")
        self.write(".yarnrc", "registry \"https://npm.corp.example/\"\n")
        shutil.copytree(yarn.parent.parent, self.project / "yarn")
        self.assertEqual(self.box("node yarn/bin/yarn.js config get registry"), "https://npm.corp.example/\n")

    def test_the_file_of_the_agent_in_a_kept_home_stays(self):
        self.write(".cargo/config.toml", "[registries.corp]\nindex = 'sparse+https://cargo.corp.example/'\n")
        self.assertIn("cargo.corp.example", self.box("cat ~/.cargo/config.toml"))
        self.box("rm ~/.cargo/config.toml; echo '# mine' > ~/.cargo/config.toml")
        self.assertEqual(self.box("cat ~/.cargo/config.toml"), "# mine\n")

    def test_the_box_cannot_change_them(self):
        self.write(".cargo/config.toml", "[registries.corp]\nindex = 'sparse+https://cargo.corp.example/'\n")
        self.write(".npmrc", "registry=https://npm.corp.example/\n")
        out = self.box("for f in /run/claudebox/npmrc ~/.cargo/config.toml; do echo x >> $f; rm -f /run/claudebox/npmrc; done 2>&1; cat /run/claudebox/npmrc")
        self.assertIn("npm.corp.example", out)
        self.assertEqual((self.home / ".npmrc").read_text(), "registry=https://npm.corp.example/\n")


if __name__ == "__main__":
    unittest.main()
