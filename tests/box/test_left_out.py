# SPDX-License-Identifier: MIT
"""What the user has outside and not in the box is named, and the option that the audit gives brings it."""
import os
import shutil
import unittest

from lib.toolchains import SECRET, ToolchainTest, program, secret

JDK = "echo jdk; cat \"$(dirname \"$0\")/../lib/text\""


class Java(ToolchainTest):
    """Java installations outside of sdkman."""

    def jdk(self, root):
        program(root / "bin" / "java", JDK)
        (root / "lib").mkdir(exist_ok=True)
        (root / "lib" / "text").write_text("library\n")
        return root

    def sdkman(self, target):
        """A candidate of `sdk install java local TARGET`."""
        candidates = self.home / ".sdkman" / "candidates" / "java"
        candidates.mkdir(parents=True)
        (candidates / "local").symlink_to(target)
        (candidates / "current").symlink_to("local")
        self.env["JAVA_HOME"] = str(candidates / "current")
        self.on_path(candidates / "current" / "bin")

    def test_a_candidate_that_is_a_link_to_the_system(self):
        self.sdkman("/usr")
        self.same("command -v env; ls -d $JAVA_HOME/bin/env")

    def test_a_candidate_that_is_a_link_into_the_home(self):
        self.sdkman(self.jdk(self.home / "jdks" / "21"))
        self.same("command -v java; java; $JAVA_HOME/bin/java; echo $JAVA_HOME")
        self.assertEqual(self.left_out(), {})

    def test_a_candidate_that_is_a_link_to_a_directory_that_others_can_write(self):
        self.sdkman(self.jdk(self.home / "jdks" / "21"))
        (self.home / "jdks").chmod(0o777)
        script = 'echo "${JAVA_HOME-unset}"; java 2>/dev/null || echo none'
        self.assertEqual(self.box(script), "unset\nnone\n")
        option, output = self.follow("~/.sdkman/candidates/java/current", script)
        self.assertEqual((option, output.split("\n", 1)[1]), ("--mount-ro ~/jdks/21", "jdk\nlibrary\n"))

    def test_a_variable_that_names_a_directory_of_the_box(self):
        self.env["JAVA_HOME"] = "/usr/lib"
        self.env["VIRTUAL_ENV"] = str(self.project / ".venv")
        self.env["DOTNET_ROOT"] = "/usr/missing"
        self.assertEqual(self.box("echo $JAVA_HOME $VIRTUAL_ENV ${DOTNET_ROOT-unset}"), f"/usr/lib {self.project}/.venv unset\n")
        for value in ("usr/lib", "/usr/lib\n", "/proc/self", "/etc/shadow", ""):
            self.env["JAVA_HOME"] = value
            self.assertEqual(self.box("echo ${JAVA_HOME-unset}"), "unset\n", value)

    def test_a_variable_that_names_a_directory_outside(self):
        self.env["JAVA_HOME"] = str(self.jdk(self.home / "jdk-21"))
        self.env["JDK_HOME"] = self.env["JAVA_HOME"]
        self.assertEqual(self.box("echo ${JAVA_HOME-unset}"), "unset\n")
        self.assertEqual(self.left_out()["~/jdk-21"]["why"], "JAVA_HOME names it")
        self.assertEqual(self.follow("~/jdk-21", "$JAVA_HOME/bin/java; echo $JDK_HOME"), ("--mount-ro ~/jdk-21", f"jdk\nlibrary\n{self.home}/jdk-21\n"))

    def test_a_variable_that_names_a_link(self):
        self.jdk(self.home / "jdk-21")
        (self.home / "jdk").symlink_to("jdk-21")
        self.env["JAVA_HOME"] = str(self.home / "jdk")
        self.assertEqual(self.follow("~/jdk", "$JAVA_HOME/bin/java"), ("--mount-ro ~/jdk-21", "jdk\nlibrary\n"))

    def test_a_variable_that_names_a_secret_place_has_no_option(self):
        secret(self.home / ".ssh" / "bin" / "java")
        self.env["JAVA_HOME"] = str(self.home / ".ssh")
        self.assertIsNone(self.left_out()["~/.ssh"]["option"])
        self.assertEqual(self.box("echo ${JAVA_HOME-unset}"), "unset\n")


class Advice(ToolchainTest):
    """An option of ours brings no settings that the tables keep outside."""

    def test_a_maven_installation_comes_without_its_settings(self):
        root = self.home / "apache-maven-3.9"
        program(root / "bin" / "mvn", JDK)
        (root / "lib").mkdir()
        (root / "lib" / "text").write_text("library\n")
        (root / "boot").mkdir()
        secret(root / "conf" / "settings.xml")
        for on_path in (False, True):
            if on_path:
                self.on_path(root / "bin")
            else:
                self.env["M2_HOME"] = str(root)
            option, output = self.follow("~/apache-maven-3.9/bin" if on_path else "~/apache-maven-3.9", f"$M2_HOME/bin/mvn; grep -rs {SECRET} ~; true")
            self.assertEqual(option, "--mount-ro ~/apache-maven-3.9/bin --mount-ro ~/apache-maven-3.9/lib --mount-ro ~/apache-maven-3.9/boot")
            self.assertEqual(output, "jdk\nlibrary\n")

    def test_a_python_of_conda_that_is_not_in_use(self):
        root = self.home / "miniconda3"
        program(root / "bin" / "python3", JDK)
        (root / "lib").mkdir()
        (root / "lib" / "text").write_text("library\n")
        secret(root / "conda-meta" / "state")
        secret(root / ".condarc")
        link = self.project / "venv" / "bin" / "python"
        link.parent.mkdir(parents=True)
        link.symlink_to(root / "bin" / "python3")
        option, output = self.follow("~/miniconda3/bin/python3", f"~/miniconda3/bin/python3; venv/bin/python >/dev/null; grep -rs {SECRET} ~; true")
        self.assertEqual((option, output), ("--mount-ro ~/miniconda3/bin --mount-ro ~/miniconda3/lib", "jdk\nlibrary\n"))

    def test_a_manager_that_the_profile_excludes(self):
        version = self.home / ".nvm" / "versions" / "node" / "v22"
        program(version / "bin" / "node", "echo node")
        (version / "lib").mkdir()
        secret(version / "etc" / "npmrc")
        self.on_path(version / "bin")
        self.profile(toolchains="none")
        self.assertEqual(self.left_out()["~/.nvm/versions/node/v22/bin"]["option"], '"toolchains": ["nvm"]')
        self.profile(toolchains=["cargo"])
        self.assertEqual(self.left_out()["~/.nvm/versions/node/v22/bin"]["option"], '"toolchains": ["nvm", "cargo"]')
        self.profile(toolchains=["nvm", "cargo"])
        self.assertEqual(self.box("node"), "node\n")

    def test_secrets_directly_in_a_directory_of_programs(self):
        roots = {".deno": {}, ".bun": {}, ".cargo": {}, "go": {}, ".volta": {}, ".local/share/pnpm": {"PNPM_HOME": "."}, "gobin": {"GOBIN": "."},
                 ".nvm/versions/node/v1": {}, ".pyenv/versions/3": {"PYENV_ROOT": "../.."}, ".sdkman/candidates/java/1": {}, "npm": {}}
        names = (".deploy_token", "deploy_token", ".env", "api-key.json", ".netrc", "client.p12", ".vault_pass", "id_ed25519")
        (self.home / "npm" / "lib" / "node_modules").mkdir(parents=True)
        for root, variables in roots.items():
            at = self.home / root
            bin_ = at if "." in variables.values() else at / "bin"
            program(bin_ / f"tool-{os.path.basename(root)}", "echo tool")
            for name in names:
                secret(bin_ / name)
            self.env.update({key: os.path.normpath(at / value) for key, value in variables.items()})
            self.on_path(bin_)
        self.assertEqual(self.box("for root in .deno .bun .cargo go .volta pnpm gobin v1 3 1 npm; do tool-$root || echo $root; done"), "tool\n" * len(roots))
        self.assert_no_secret()


class Links(ToolchainTest):
    """Links in a directory of the box that lead to something outside."""

    def package(self):
        """A package of the user's own, as `npm link` finds it."""
        package = self.home / "src" / "hello"
        program(package / "cli.js", "echo hello from the package")
        (package / "package.json").write_text('{"name": "hello", "version": "1.0.0", "bin": "cli.js"}\n')
        return package

    def check_package(self, modules, bin_):
        """Links the package, as `npm link` does, and follows the advice."""
        package = self.package()
        modules.mkdir(parents=True, exist_ok=True)
        (modules / "hello").symlink_to(os.path.relpath(package, modules))
        if bin_:
            bin_.mkdir(parents=True, exist_ok=True)
            (bin_ / "hello").symlink_to(os.path.relpath(modules / "hello" / "cli.js", bin_))
            self.on_path(bin_)
        what = f"~/{(modules / 'hello').relative_to(self.home)}"
        self.assertEqual(self.left_out()[what]["why"], "it is a link to ~/src/hello")
        self.assertEqual(self.follow(what, f"{modules}/hello/cli.js"), ("--mount-ro ~/src/hello", "hello from the package\n"))
        if bin_:
            self.assertEqual(self.follow(what, "hello")[1], "hello from the package\n")

    def test_npm_link_in_nvm(self):
        version = self.home / ".nvm" / "versions" / "node" / "v22"
        self.check_package(version / "lib" / "node_modules", version / "bin")

    def test_npm_link_of_a_scope(self):
        version = self.home / ".nvm" / "versions" / "node" / "v22"
        program(version / "bin" / "node", "echo node")
        self.on_path(version / "bin")
        self.check_package(version / "lib" / "node_modules" / "@me", None)

    def test_npm_link_in_a_prefix(self):
        self.check_package(self.home / "npm" / "lib" / "node_modules", self.home / "npm" / "bin")

    def test_npm_link_with_the_prefix_in_local(self):
        self.on_path(self.home / ".local" / "bin")
        (self.home / ".local" / "lib" / "node_modules" / "other").mkdir(parents=True)
        self.check_package(self.home / ".local" / "lib" / "node_modules", self.home / ".local" / "bin")

    def test_links_of_pnpm_and_bun(self):
        for variable, root, modules in (("PNPM_HOME", ".local/share/pnpm", "global/5/node_modules"), ("BUN_INSTALL", ".bun", "install/global/node_modules")):
            with self.subTest(variable):
                self.env[variable] = str(self.home / root)
                self.check_package(self.home / root / modules, None)
                shutil.rmtree(self.home / root)

    @unittest.skipUnless(shutil.which("npm"), "npm is not installed")
    def test_npm_itself_links_a_package(self):
        self.package()
        self.env["NPM_CONFIG_PREFIX"] = str(self.home / "npm")
        self.on_path(self.home / "npm" / "bin")
        self.outside("npm link --offline 2>&1", cwd=self.home / "src" / "hello")
        self.assertEqual(self.outside("hello"), "hello from the package\n")
        self.assertEqual(self.follow("~/npm/lib/node_modules/hello", "hello"), ("--mount-ro ~/src/hello", "hello from the package\n"))

    def test_a_package_that_is_the_project_is_there(self):
        version = self.home / ".nvm" / "versions" / "node" / "v22"
        program(self.project / "cli.js", "echo the project")
        (version / "lib" / "node_modules").mkdir(parents=True)
        (version / "lib" / "node_modules" / "me").symlink_to(self.project)
        (version / "bin").mkdir()
        (version / "bin" / "me").symlink_to("../lib/node_modules/me/cli.js")
        self.on_path(version / "bin")
        self.same("me")
        self.assertEqual(self.left_out(), {})

    def test_links_in_a_requested_directory(self):
        tools = self.home / "tools"
        tools.mkdir()
        program(self.home / "dotfiles" / "deploy", "echo deployed")
        (tools / "deploy").symlink_to("../dotfiles/deploy")
        (tools / "sh2").symlink_to("/bin/sh")
        (tools / "gone").symlink_to("/nowhere/at/all")
        secret(self.home / ".ssh" / "key")
        (tools / "key").symlink_to(self.home / ".ssh" / "key")
        for arguments in (("--path", "~/tools"), ()):
            if not arguments:
                self.profile(path=["~/tools"])
            rows = self.left_out(*arguments)
            self.assertEqual(sorted(rows), ["~/tools/deploy", "~/tools/key"])
            self.assertEqual(rows["~/tools/deploy"]["option"], "--mount-ro ~/dotfiles/deploy")
            self.assertIsNone(rows["~/tools/key"]["option"])
        self.assertEqual(self.follow("~/tools/deploy", "deploy")[1], "deployed\n")

    def test_many_links(self):
        tools = self.home / "tools"
        tools.mkdir()
        for number in range(20):
            (tools / f"n{number:02}").symlink_to(program(self.home / "dotfiles" / str(number), "true"))
        rows = self.left_out("--path", "~/tools")
        self.assertEqual(len(rows), 9)
        self.assertIn("12 more links in ~/tools", rows)

    def test_a_program_of_a_toolchain_that_lies_elsewhere(self):
        root = self.home / ".cargo"
        program(root / "bin" / "tool", "echo tool")
        program(self.home / "elsewhere" / "other", "echo other")
        (root / "bin" / "other").symlink_to(self.home / "elsewhere" / "other")
        self.on_path(root / "bin")
        self.assertEqual(self.follow("~/.cargo/bin/other", "other"), ("--mount-ro ~/elsewhere/other", "other\n"))


class Variables(ToolchainTest):
    """A requested variable that the host does not have."""

    def test_an_unset_variable_is_named(self):
        self.env["CLAUDEBOX_EXTRA_ENV"] = "EMPTY_ONE, MISSING_ONE"
        self.env["EMPTY_ONE"] = ""
        self.profile(extra_env_passthrough=["MISSING_TWO", "LANG"])
        self.assertEqual(self.left_out(), {f"variable {name}": {"what": f"variable {name}", "why": f"not set on the host; requested by {origin}", "option": None}
                                           for name, origin in (("MISSING_TWO", "profile default"), ("MISSING_ONE", "CLAUDEBOX_EXTRA_ENV"))})
        self.assertEqual(self.box('echo "${EMPTY_ONE-unset}" "${MISSING_ONE-unset}"'), " unset\n")
        audit = " ".join(self.claudebox("--yes", "--audit=full", "--exec", "true").stderr.split())
        self.assertIn("variable MISSING_ONE (not set on the host; requested by CLAUDEBOX_EXTRA_ENV)", audit)
        self.assertNotIn("not in the box", self.box("cat /etc/claude-code/CLAUDE.md"))


class LocalRemotes(ToolchainTest):
    """Remotes and submodules whose address is a path of this machine."""

    def setUp(self):
        super().setUp()
        self.repository(self.project)

    def set(self, name, value):
        self.git("config", name, value)

    def rows(self, *arguments):
        return {what: row["why"] for what, row in self.left_out(*arguments).items() if row["why"].startswith(("git's ", "remotes "))}

    def test_a_path_that_the_box_lacks_is_listed_and_not_offered(self):
        self.git("clone", "-q", "--bare", self.project, self.home / "store.git")
        self.set("remote.origin.url", str(self.home / "store.git"))
        self.set("remote.up.url", "../up.git")
        self.set("remote.file.pushurl", "file:///srv/a b.git")
        self.set("submodule.lib.url", str(self.home / ".ssh/lib"))
        found = self.left_out()
        self.assertEqual(self.rows(), {"~/store.git": "git's remote 'origin' is there", "~/up.git": "git's remote 'up' is there",
                                       "/srv/a\\ b.git": "git's remote 'file' is there", "~/.ssh/lib": "git's submodule 'lib' is there"})
        self.assertEqual({found[what]["option"] for what in self.rows()}, {None})
        self.assertRegex(self.claudebox("--audit=full", "--exec", "true").stderr, r"~/store\.git +\S*git's remote 'origin' is there")
        # With the mount, git works and the row is gone.
        mount = ("--mount-rw", str(self.home / "store.git"))
        self.assertNotIn("~/store.git", self.rows(*mount))
        done = self.claudebox("--yes", *mount, "--exec", "git", "fetch", "-q", "origin")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotEqual(self.claudebox("--yes", "--exec", "git", "fetch", "-q", "origin").returncode, 0)

    def test_servers_and_paths_in_the_box_are_no_rows(self):
        for i, value in enumerate(("https://example.com/x", "git@example.com:x/y", "ssh://h/x", "host:/srv/x", "./store", "sub/x.git", "ext::sh -c x",
                                   str(self.project / "x"), "file://" + str(self.project), "/usr/share/x.git", "file://host/srv", "~/x", "")):
            self.set(f"remote.r{i}.url", value)
        self.set("remote.pushdefault", "/srv/x")
        self.set("branch.main.remote", "/srv/x")
        self.assertEqual(self.rows(), {})

    def test_a_hostile_configuration_fills_no_screen(self):
        for i in range(100):
            self.set(f"remote.r{i}.url", f"/srv/{i}.git")
        self.set("remote.\x1b[2J.url", "/srv/\x1b[31mred")
        rows = self.rows()
        self.assertEqual(len(rows), 6)
        self.assertEqual(rows["59 more paths"], "remotes and submodules of git are there")

    def test_control_characters_are_escaped(self):
        self.set("remote.\x1b[2J.url", "/srv/\x1b[31mred")
        self.assertEqual(self.rows(), {"/srv/\\x1b[31mred": "git's remote '\\x1b[2J' is there"})
