# SPDX-License-Identifier: MIT
"""Finds claude at every usual place, through links and wrappers. Only the files that it needs are in the box, read-only."""
import os
import pathlib
import shutil
import stat
import subprocess
import unittest

from lib.box import GIVEN, BoxTest

PRINTED = GIVEN + "<-p>\n"
SCRIPT = '#!/bin/sh\nprintf "<%s>" "$@"; echo\n'


class Agent(BoxTest):
    def setUp(self):
        super().setUp()
        del self.env["CLAUDEBOX_CLAUDE"]
        shutil.rmtree(self.home / "bin")

    def program(self, path, text=SCRIPT, mode=0o755):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def start(self, path=None, env=None, words=("-p",)):
        more = {"PATH": f"{path}:{self.env['PATH']}"} if path else {}
        done = self.claudebox("--yes", *words, env={**more, **(env or {})})
        self.assertEqual(done.returncode, 0, done.stderr[-400:])
        return done.stdout

    def mounted(self, path=None, env=None):
        """Returns the host paths that are mounted for claude."""
        more = {"PATH": f"{path}:{self.env['PATH']}"} if path else {}
        return {mount["host"] for mount in self.plan(env={**more, **(env or {})})["mounts"]
                if mount["why"] == "claude" and mount["kind"] in ("read-only", "read-write")}

    def test_on_PATH(self):
        program = self.program(self.home / "tools" / "claude")
        self.program(self.home / "tools" / "neighbour")
        self.assertEqual(self.start(program.parent), PRINTED)
        self.assertEqual(self.mounted(program.parent), {str(program)})
        self.assertEqual(self.box("ls -A ~/tools", env={"PATH": f"{program.parent}:{self.env['PATH']}"}), "claude\n")

    def test_the_first_absolute_entry_on_PATH_wins(self):
        self.program(self.project / "claude", "#!/bin/sh\necho planted\n")
        first = self.program(self.home / "one" / "claude")
        self.program(self.home / "two" / "claude", "#!/bin/sh\necho two\n")
        for path in (f".:{first.parent}:{self.home}/two", f":{first.parent}:{self.home}/two", f"bin:{first.parent}"):
            self.assertEqual(self.start(path), PRINTED)

    def test_CLAUDEBOX_CLAUDE_takes_precedence_over_PATH(self):
        self.program(self.home / "one" / "claude", "#!/bin/sh\necho path\n")
        chosen = self.program(self.home / "two" / "my claude")
        self.assertEqual(self.start(self.home / "one", env={"CLAUDEBOX_CLAUDE": str(chosen)}), PRINTED)

    def test_CLAUDEBOX_CLAUDE_must_be_absolute(self):
        """A relative path would name a different program in each project."""
        self.program(self.project / "here")
        for chosen in ("here", "./here"):
            self.assertIn("absolute", self.refused("--yes", env={"CLAUDEBOX_CLAUDE": chosen}))

    def test_a_chain_of_links(self):
        real = self.program(self.home / "deep" / "store" / "claude-1.0")
        (real.parent / "secret").write_text("canary")
        for link, target in (("a/claude", "../b/link"), ("b/link", f"{self.home}/c"), ("c", "deep/store/claude-1.0")):
            (self.home / link).parent.mkdir(exist_ok=True)
            (self.home / link).symlink_to(target)
        self.assertEqual(self.start(self.home / "a"), PRINTED)
        self.assertEqual(self.mounted(self.home / "a"), {str(real)})
        self.assertEqual(self.box("ls ~/deep/store; cat ~/deep/store/secret 2>/dev/null", env={"PATH": f"{self.home}/a:{self.env['PATH']}"}),
                         "claude-1.0\n")

    def test_a_link_to_itself(self):
        (self.home / "a").mkdir()
        (self.home / "a" / "claude").symlink_to("claude")
        done = self.claudebox("--yes", env={"CLAUDEBOX_CLAUDE": f"{self.home}/a/claude"})
        self.assertEqual(done.returncode, 125)
        self.assertIn("hint: ", done.stderr)

    def test_native_program_in_versions(self):
        versions = self.home / ".local/share/claude/versions"
        versions.mkdir(parents=True)
        shutil.copy("/usr/bin/printf", versions / "9.9.9")
        shutil.copy("/usr/bin/printf", versions / "9.9.8")
        (self.home / ".local/share/claude/secret").write_text("canary")
        link = self.home / ".local/bin/claude"
        link.parent.mkdir()
        link.symlink_to("../share/claude/versions/9.9.9")
        # without PATH, the directory of the installer is searched
        for path in (None, link.parent):
            self.assertEqual(self.mounted(path), {str(versions / "9.9.9")})
        self.assertEqual(self.plan()["command"][:2], [str(versions / "9.9.9"), "--dangerously-skip-permissions"])
        self.assertEqual(self.box("find ~/.local -type f; ls -l ~/.local/share/claude/versions | wc -l"),
                         f"{versions}/9.9.9\n2\n")
        self.assertEqual(self.claudebox("--yes", "--exec", str(versions / "9.9.9"), "%s", "runs").stdout, "runs")

    def node(self):
        """Creates a fake node outside of the system directories. It prints its arguments."""
        return self.program(self.home / "node" / "bin" / "node", '#!/bin/sh\nprintf "[%s]" "${1##*/}"; shift; printf "<%s>" "$@"; echo\n')

    def package(self, shebang="#!/usr/bin/env node"):
        package = self.home / "npm/lib/node_modules/@anthropic-ai/claude-code"
        self.program(package / "cli.js", f"{shebang}\nimport './vendor/x.js'\n")
        (package / "package.json").write_text('{"name": "@anthropic-ai/claude-code"}')
        (package / "vendor").mkdir()
        (package / "vendor/x.js").write_text("x")
        other = self.home / "npm/lib/node_modules/other"
        other.mkdir()
        (other / "secret.js").write_text("canary")
        link = self.home / "npm/bin/claude"
        link.parent.mkdir(parents=True)
        link.symlink_to("../lib/node_modules/@anthropic-ai/claude-code/cli.js")
        return package, link.parent

    def test_npm_package_with_node_from_PATH(self):
        self.profile(toolchains="none")  # npm's prefix would come along
        package, directory = self.package()
        node = self.node()
        path = f"{directory}:{node.parent}"
        self.assertEqual(self.start(path), f"[cli.js]{PRINTED}")
        self.assertEqual(self.mounted(path), {str(package), str(node)})
        out = self.box("cat ~/npm/lib/node_modules/@anthropic-ai/claude-code/vendor/x.js; ls ~/npm/lib/node_modules; echo x >~/npm/lib/x; "
                       "echo x >>~/npm/lib/node_modules/@anthropic-ai/claude-code/cli.js", env={"PATH": f"{path}:{self.env['PATH']}"})
        self.assertEqual(out, "x@anthropic-ai\n")
        self.assertIn("import", (package / "cli.js").read_text())

    def test_secrets_in_the_npm_package_are_reported(self):
        package, directory = self.package()
        (package / ".env").write_text("TOKEN=canary\n")
        (package / ".npmrc").write_text("//registry/:_authToken=canary\n")
        warnings = self.plan(env={"PATH": f"{directory}:{self.node().parent}:{self.env['PATH']}"})["warnings"]
        found = [warning for warning in warnings if "looks like a secret, and the agent can read it" in warning]
        self.assertEqual({name for name in (".env", ".npmrc") for warning in found if f"claude-code/{name}'" in warning}, {".env", ".npmrc"})

    def test_npm_package_with_options_to_node(self):
        _, directory = self.package("#!/usr/bin/env -S node --no-warnings --enable-source-maps")
        node = self.node()
        self.assertEqual(self.start(f"{directory}:{node.parent}"), f"[cli.js]{PRINTED}")

    def test_npm_package_without_node(self):
        _, directory = self.package()
        bare = self.scratch()
        (bare / "bwrap").symlink_to("/usr/bin/bwrap")
        done = self.claudebox("--yes", env={"PATH": f"{directory}:{bare}"})
        self.assertEqual(done.returncode, 125)
        self.assertIn("node", done.stderr)
        self.assertIn("hint: ", done.stderr)

    def test_node_in_the_project_is_not_used(self):
        """A project directory on PATH (PATH=.:…, node_modules/.bin) must not decide which node runs claude."""
        _, directory = self.package()
        node = self.node()
        self.program(self.project / "node", "#!/bin/sh\necho planted\n")
        self.assertEqual(self.start(f".:{directory}:{node.parent}"), f"[cli.js]{PRINTED}")

    def test_wrapper_with_exec(self):
        real = self.program(self.home / "real dir" / "claude-real")
        (self.home / "real dir" / "secret").write_text("canary")
        wrapper = self.program(self.home / "w" / "claude", f'#!/bin/bash\n# a wrapper\nexport X=1\nexec "{real}" --wrapped "$@"\n')
        self.assertEqual(self.start(wrapper.parent), "<--wrapped>" + PRINTED)
        self.assertEqual(self.mounted(wrapper.parent), {str(wrapper), str(real)})

    def test_wrapper_with_home_and_env(self):
        real = self.program(self.home / "opt" / "claude-real")
        bad = []
        for line in ('exec "$HOME/opt/claude-real" "$@"', "exec ~/opt/claude-real $@", "exec env A=1 ${HOME}/opt/claude-real \"$@\"",
                     f"  exec -a claude {real} \"$@\""):
            wrapper = self.program(self.home / "w" / "claude", f"#!/bin/bash\n{line}\n")
            done = self.claudebox("--yes", "-p", env={"PATH": f"{wrapper.parent}:{self.env['PATH']}"})
            if done.stdout != PRINTED:
                bad.append(line)
        self.assertEqual(bad, [])

    def test_wrapper_of_the_local_installation(self):
        """~/.claude/local/claude: the box has its own ~/.claude, so the program is mounted at another path."""
        package = self.home / ".claude/local/node_modules/@anthropic-ai/claude-code"
        self.program(package / "cli.js", "#!/usr/bin/env node\n")
        (package / "package.json").write_text('{"name": "@anthropic-ai/claude-code"}')
        (package.parent.parent / ".bin").mkdir()
        (package.parent.parent / ".bin/claude").symlink_to("../@anthropic-ai/claude-code/cli.js")
        (self.home / ".claude/local/secret").write_text("canary")
        wrapper = self.program(self.home / ".claude/local/claude", f'#!/bin/bash\nexec "{self.home}/.claude/local/node_modules/.bin/claude" "$@"\n')
        node = self.node()
        for chosen in ({"CLAUDEBOX_CLAUDE": str(wrapper)}, {}):
            self.assertEqual(self.start(node.parent, env=chosen), f"[cli.js]{PRINTED}")
        self.assertEqual(self.box("grep -rs canary ~ /run/claudebox", env={"PATH": f"{node.parent}:{self.env['PATH']}"}), "")

    def test_wrappers_that_run_each_other(self):
        one, two = self.home / "w" / "claude", self.home / "w" / "two"
        self.program(one, f'#!/bin/sh\nexec {two} "$@"\n')
        self.program(two, f'#!/bin/sh\nexec {one} "$@"\n')
        done = self.claudebox("--yes", env={"CLAUDEBOX_CLAUDE": str(one)}, timeout=10)
        self.assertEqual(done.returncode, 125)
        self.assertIn("wrapper", done.stderr)
        self.program(one, '#!/bin/sh\nexec "$0" "$@"\n')
        self.claudebox("--dry-run", env={"CLAUDEBOX_CLAUDE": str(one)}, timeout=10)
        self.program(one, '#!/bin/sh\nexec claude "$@"\n')
        self.claudebox("--dry-run", env={"PATH": f"{one.parent}:{self.env['PATH']}"}, timeout=10)

    def test_a_wrapper_that_contains_a_secret_is_reported(self):
        token = "gh" + "p_" + "canary0Ab1" * 4
        for line in ("export GITHUB_TOKEN=canary0815", f"X={token[:40]}", 'MY_API_KEY="canary0Kq83ZpLw71XvB5tNcR2" exec sh',
                     f"curl 'https://{token[:40]}@github.com/x' # in the middle of a word", "mysql --password=Tr0ub4dor_canary7 x"):
            wrapper = self.program(self.home / "w" / "claude", f'#!/bin/sh\n{line}\nprintf x\n')
            done = self.claudebox("--yes", "--exec", "true", env={"CLAUDEBOX_CLAUDE": str(wrapper)})
            self.assertIn("contains something like a secret", done.stderr, line)
            self.assertNotIn("canary", done.stderr)
        wrapper = self.program(self.home / "w" / "claude", '#!/bin/sh\nexport GITHUB_TOKEN=$MY_TOKEN\nexport KEYBOARD=us\nexec printf x "$@"\n')
        done = self.claudebox("--yes", "--exec", "true", env={"CLAUDEBOX_CLAUDE": str(wrapper)})
        self.assertEqual(done.returncode, 0)

    def test_a_wrapper_mounts_only_the_files_that_it_names(self):
        """A package.json above a file, as in a repository of many projects, does not bring that directory along."""
        real = self.program(self.home / "opt" / "claude-real")
        mono = self.home / "mono"
        for name in ("conf/x.json", "conf/keys.json", "other/secret", "conf/dir/file"):
            (mono / name).parent.mkdir(parents=True, exist_ok=True)
            (mono / name).write_text("{}")
        for content in ('{"name": "mono"}', "{}", "[", '{"name": ["@anthropic-ai/claude-code"]}'):
            (mono / "package.json").write_text(content)
            wrapper = self.program(self.home / "w" / "claude", f'#!/bin/sh\nexec {real} --mcp-config {mono}/conf/x.json "$@"\n')
            self.assertEqual(self.mounted(wrapper.parent), {str(wrapper), str(real), f"{mono}/conf/x.json"}, content)
        self.assertEqual(self.box("find ~/mono -type f", env={"PATH": f"{wrapper.parent}:{self.env['PATH']}"}), f"{mono}/conf/x.json\n")
        # A secret in such a file is reported, and a directory has to be mounted by name.
        (mono / "conf/x.json").write_text('{"mcpServers": {"a": {"command": "x", "env": {"DB_PASS": "canary-4711"}}}}')
        wrapper = self.program(self.home / "w" / "claude", f'#!/bin/sh\nexec {real} --mcp-config {mono}/conf/x.json --add-dir {mono} "$@"\n')
        self.assertEqual(self.mounted(wrapper.parent), {str(wrapper), str(real), f"{mono}/conf/x.json"})
        said = " ".join(self.claudebox("--yes", "--exec", "true", env={"CLAUDEBOX_CLAUDE": str(wrapper)}).stderr.split())
        self.assertIn("conf/x.json', which the script that starts claude names, contains something like a secret", said)
        self.assertIn("mono', which the script that starts claude names, is a directory and is not mounted; --mount-ro mounts it", said)
        self.assertNotIn("canary", said)

    def test_a_script_outside_of_the_package_of_claude(self):
        """Of a repository around a script for node, only the script is mounted."""
        node = self.node()
        script = self.program(self.home / "mono" / "bin" / "claude", "#!/usr/bin/env node\n")
        (self.home / "mono" / "package.json").write_text('{"name": "mono"}')
        path = f"{script.parent}:{node.parent}"
        self.assertEqual(self.start(path), f"[claude]{PRINTED}")
        self.assertEqual(self.mounted(path), {str(script), str(node)})

    def test_wrapper_that_runs_the_package_with_node(self):
        package, _ = self.package()
        node = self.node()
        wrapper = self.program(self.home / "w" / "claude", f'#!/bin/sh\nexec {node} {package}/cli.js "$@"\n')
        self.assertEqual(self.start(wrapper.parent), f"[cli.js]{PRINTED}")
        self.assertEqual(self.mounted(wrapper.parent), {str(wrapper), str(node), str(package)})

    def test_a_wrapper_cannot_mount_a_secret(self):
        """Paths in a wrapper are mounted, but none of them may mount a secret place."""
        ssh = self.home / ".ssh"
        ssh.mkdir()
        (ssh / "id_rsa").write_text("canary-key")
        real = self.program(self.home / "opt" / "claude-real", f"#!/bin/sh\ncat {ssh}/id_rsa\n")
        for line in (f"exec {real} --key {ssh}/id_rsa", f"exec {real} {ssh}", f"exec {real} {self.home}", f"exec {real} /"):
            wrapper = self.program(self.home / "w" / "claude", f"#!/bin/sh\n{line}\n")
            done = self.claudebox("--yes", env={"CLAUDEBOX_CLAUDE": str(wrapper)})
            self.assertNotIn("canary-key", done.stdout)
            self.assertNotIn("this is a bug in claudebox", done.stderr, line)

    def test_claude_in_a_secret_place_is_refused(self):
        program = self.program(self.home / ".aws" / "claude")
        done = self.claudebox("--yes", env={"CLAUDEBOX_CLAUDE": str(program)})
        self.assertEqual(done.returncode, 125)
        self.assertNotIn("this is a bug in claudebox", done.stderr)

    def test_CLAUDEBOX_CLAUDE_may_be_in_the_project(self):
        """The user may set CLAUDEBOX_CLAUDE to a program in the project."""
        program = self.program(self.project / "claude")
        self.assertEqual(self.start(env={"CLAUDEBOX_CLAUDE": str(program)}), PRINTED)

    def test_claude_is_read_only(self):
        program = self.program(self.home / "tools" / "claude", f'#!/bin/sh\necho x >>"$0"; rm -f "$0"; [ -e "$0" ] && echo there\n')
        before = program.read_text()
        self.assertEqual(self.start(program.parent), "there\n")
        self.assertEqual(program.read_text(), before)

    def test_a_shell_gets_the_same_mounts(self):
        program = self.program(self.home / "tools" / "claude")
        env = {"PATH": f"{program.parent}:{self.env['PATH']}"}
        with_claude = self.plan(env=env)["mounts"]
        with_shell = self.plan("--shell", env=env)["mounts"]
        self.assertEqual([m for m in with_claude if m["kind"] != "generated"], [m for m in with_shell if m["kind"] != "generated"])

    def test_special_files_do_not_hang(self):
        fifo = self.home / "fifo"
        os.mkfifo(fifo)
        huge = self.home / "huge"
        with open(huge, "wb") as file:
            file.write(b"#!/bin/sh\n")
            file.truncate(1 << 40)
        huge.chmod(0o755)
        fifo.chmod(fifo.stat().st_mode | stat.S_IXUSR)
        for path in (fifo, huge, "/dev/zero"):
            done = self.claudebox("--dry-run", env={"CLAUDEBOX_CLAUDE": str(path)}, timeout=10)
            self.assertIn(done.returncode, (0, 125))

    def test_claude_runs_without_permission_questions(self):
        program = self.program(self.home / "tools" / "claude")
        for words in ((), ("-p", "x"), ("--", "--help")):
            self.assertTrue(self.start(program.parent, words=words).startswith(GIVEN))

    def test_a_compiled_program(self):
        source = self.home / "main.c"
        source.write_text('#include <stdio.h>\nint main(int n, char **v) { for (int i = 1; i < n; i++) printf("<%s>", v[i]); puts(""); }\n')
        program = self.home / "elf" / "claude"
        program.parent.mkdir()
        subprocess.run(["cc", "-o", program, source], check=True)
        self.assertEqual(self.start(program.parent), PRINTED)
        self.assertEqual(self.mounted(program.parent), {str(program)})
        self.assertFalse(pathlib.Path(f"{self.project}/claude").exists())


if __name__ == "__main__":
    unittest.main()
