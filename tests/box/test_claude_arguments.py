# SPDX-License-Identifier: MIT
"""Files and directories that arguments of claude name are in the box, read-only, by the rules of --mount-ro. Paths that
Claude's files name are not: the user's are offered, those of a repository are listed."""
import json
import os
import shutil
import unittest

from lib.box import CLAUDEBOX, GIVEN, BoxTest
from lib.terminal import approve

AS_ROOT = True
TOKEN = "gh" + "p_" + "canary0Ab1" * 4  # of no account
CANARY = "canary-7204"


class Arguments(BoxTest):
    def setUp(self):
        super().setUp()
        self.other = self.home / "other"
        (self.other / "sub").mkdir(parents=True)
        (self.other / "file").write_text("content\n")

    def run_claude(self, body, *arguments, **options):
        """Runs a fake claude, a shell script, and returns its output."""
        self.fake_claude(body)
        done = self.claudebox("--yes", *arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr[-600:])
        return done.stdout

    def requested(self, *arguments, **options):
        """Returns the requested mounts of a plan: (reason, path, kind, secret)."""
        return [(mount["why"], mount["path"], mount["kind"], mount["secret"])
                for mount in self.plan(*arguments, **options)["mounts"] if mount["origin"] == "requested"]

    def test_a_directory_is_mounted_read_only(self):
        out = self.run_claude(f"cat {self.other}/file; touch {self.other}/new 2>&1; ls {self.home}", "--add-dir", self.other)
        self.assertIn("content", out)
        self.assertIn("Read-only file system", out)
        self.assertFalse((self.other / "new").exists())

    def test_without_the_argument_it_is_not_there(self):
        self.assertEqual(self.run_claude(f"ls {self.other}/file 2>/dev/null; true"), "")

    def test_each_option_that_names_a_file(self):
        for option in ("--settings", "--mcp-config", "--append-system-prompt-file", "--system-prompt-file", "--plugin-dir", "--agents",
                       "--append-subagent-system-prompt-file", "--plugin-dir-no-mcp"):
            for words in ((option, f"{self.other}/file"), (f"{option}={self.other}/file",), ("--", option, f"{self.other}/file")):
                with self.subTest(words=words):
                    self.assertEqual(self.run_claude(f"cat {self.other}/file; ls -A {self.other}", *words), "content\nfile\n")
                    self.assertEqual(self.requested(*words), [(option, f"{self.other}/file", "read-only", False)])

    def test_words_of_claude_are_unchanged(self):
        words = ("--add-dir", "../other", "sub", "--mcp-config", "~/other/file", "-p", "x")
        (self.project / "sub").mkdir()
        self.assertEqual(self.run_claude('printf "<%s>" "$@"', *words), GIVEN + "".join(f"<{word}>" for word in words))
        self.assertEqual([path for _, path, _, _ in self.requested(*words)], [str(self.other)])

    def test_a_relative_path_means_the_callers_directory(self):
        self.assertEqual(self.run_claude("cat ../other/file", "--settings", "../other/file"), "content\n")

    def test_a_directory_in_the_project_needs_no_mount(self):
        (self.project / "sub").mkdir()
        (self.project / "inner").symlink_to("sub")
        self.assertEqual(self.requested("--add-dir", "sub", self.project, "inner", "."), [])
        self.assertEqual(self.run_claude("touch sub/new && echo written", "--add-dir", "sub"), "written\n")

    def test_several_directories_may_contain_each_other(self):
        self.assertEqual(self.requested("--add-dir", self.other / "sub", self.other, "--plugin-dir", self.other),
                         [("--add-dir", str(self.other), "read-only", False)])
        self.assertEqual(self.requested("--mount-rw", self.other, "--add-dir", self.other),
                         [("--mount-rw", str(self.other), "read-write", False)])

    def lacks(self, *arguments):
        return {row["what"]: (row["why"], row["option"]) for row in self.plan(*arguments)["left_out"]}

    def test_what_the_named_files_name_is_offered(self):
        script = self.other / "hook.sh"
        script.write_text("#!/bin/sh\n")
        script.chmod(0o755)
        settings = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": f"sh {script}"}]}]}}
        servers = {"mcpServers": {"x": {"command": str(script), "args": [str(self.other / "sub")]}, "y": {"command": "sh", "args": ["-c", "true"]}}}
        (self.home / "conf").mkdir()
        (self.home / "conf/s.json").write_text(json.dumps(settings))
        (self.home / "conf/m.json").write_text(json.dumps(servers))
        for words in (("--settings", "~/conf/s.json", "--mcp-config", "~/conf/m.json"),
                      ("--settings", json.dumps(settings), "--mcp-config", json.dumps(servers))):
            with self.subTest(words=words):
                lacks = self.lacks(*words)
                hook = next(key for key in lacks if key.startswith("hook"))
                self.assertTrue(hook.endswith("' of --settings"), hook)
                self.assertEqual(lacks[hook], ("~/other/hook.sh is not in the box", "--mount-ro ~/other"))
                self.assertEqual(lacks["MCP server 'x' of --mcp-config"],
                                 ("its program ~/other/hook.sh is not in the box, ~/other/sub is not in the box", "--path ~/other --mount-ro ~/other/sub"))
                self.assertNotIn("MCP server 'y' of --mcp-config", lacks)
                self.assertEqual([key for key in self.lacks("--mount-ro", "~/other", *words) if " of --" in key], [])

    def test_what_a_named_file_of_the_project_names_is_listed_and_not_offered(self):
        (self.project / "m.json").write_text(json.dumps({"mcpServers": {"x": {"command": str(self.other / "file")}, "y": {"command": "sh"}}}))
        self.assertEqual(self.lacks("--mcp-config", "m.json"), {"~/other/file": ("named by the repository, in m.json", None)})

    def test_the_sandbox_is_mentioned_only_if_the_settings_do(self):
        for content, warned in (({"model": "x"}, False), ({"sandbox": {"enabled": True}}, True), ({"sandbox": {"enabled": False}}, False),
                                ({"sandbox": {"network": {}}}, True)):
            with self.subTest(content=content):
                (self.other / "s.json").write_text(json.dumps(content))
                said = " ".join(self.plan("--settings", self.other / "s.json")["warnings"])
                self.assertEqual("sandbox is not switched off" in said, warned)

    def test_json_is_no_path(self):
        self.assertEqual(self.requested("--settings", '{"a": 1}', "--mcp-config", '{"mcpServers": {}}'), [])

    def test_a_prompt_is_no_path(self):
        self.assertEqual(self.requested("-p", str(self.other), "--append-system-prompt", str(self.other)), [])
        self.assertEqual(self.requested("-p", "--", "--add-dir", str(self.other)), [])

    def test_a_missing_file_is_an_error_before_the_start(self):
        for words in (("--settings", "missing.json"), ("--add-dir", "/nowhere"), ("--mcp-config=~/missing",)):
            self.assertRegex(self.refused("--yes", *words), r"^claudebox: --[a-z-]+: '\S+' does not exist\n")

    def test_a_fifo_and_a_socket_are_refused(self):
        os.mkfifo(self.home / "fifo")
        self.assertIn("neither a file nor a directory", self.refused("--yes", "--settings", "~/fifo"))

    def test_dev_null_is_the_boxs_own(self):
        self.assertEqual(self.requested("--mcp-config", "/dev/null", "--append-system-prompt-file", "/dev/stdin"), [])

    def test_the_audit_and_the_approval_name_it(self):
        approve(self, CLAUDEBOX)
        out = approve(self, CLAUDEBOX, "--audit=full", "--add-dir", self.other)
        self.assertRegex(out, r"\[\+\] +read-only +~/other +\(--add-dir\)")
        self.assertIn("+ mount read-only ~/other", out)
        self.assertIn("- mount read-only ~/other", approve(self, CLAUDEBOX))

    def test_a_file_in_the_hosts_claude_directory_is_mounted_elsewhere(self):
        place = self.home / ".claude" / "my" / "prompt.md"
        place.parent.mkdir(parents=True)
        place.write_text("mine\n")
        (place.parent / "neighbour").write_text(CANARY)
        script = 'for last; do :; done; echo "$last"; cat "${last#*=}"; grep -rs --exclude=claude canary ~ /run/claudebox; true'
        for words in (("--append-system-prompt-file", "~/.claude/my/prompt.md"), (f"--append-system-prompt-file={place}",)):
            out = self.run_claude(script, *words).split("\n")
            self.assertIn(f"/run/claudebox/agent{place}", out[0])
            self.assertEqual(out[1:], ["mine", ""])

    def test_the_settings_of_the_user_are_those_of_the_box(self):
        place = self.home / ".claude" / "settings.json"
        place.parent.mkdir()
        place.write_text(json.dumps({"env": {"MY_TOKEN": TOKEN}, "model": "opus"}))
        out = self.run_claude('for last; do :; done; cat "$last"', "--settings", str(place))
        self.assertIn("opus", out)
        self.assertNotIn("canary", out)

    def test_a_file_with_a_token_is_reported(self):
        config = self.other / "mcp.json"
        config.write_text(json.dumps({"mcpServers": {"a": {"command": "x", "env": {"GITHUB_TOKEN": TOKEN}}}}))
        inside = self.project / "mcp.json"
        shutil.copy(config, inside)
        for path in (config, inside):
            done = self.claudebox("--yes", "--mcp-config", path)
            self.assertIn("which --mcp-config names, contains something like a secret, and the agent can read it", " ".join(done.stderr.split()))
            self.assertNotIn("canary", done.stderr)
        self.assertNotIn("something like a secret", self.claudebox("--yes", "--mcp-config", self.other / "file").stderr)

    def test_a_debug_file_outside_of_the_project_is_reported(self):
        self.assertIn("--debug-file", " ".join(self.plan("--debug-file", "/tmp/log")["warnings"]))
        self.assertNotIn("--debug-file", " ".join(self.plan("--debug-file", "log")["warnings"]))
        self.profile(project="read-only")
        self.assertIn("--debug-file", " ".join(self.plan("--debug-file", "log")["warnings"]))

    def test_a_shell_and_a_command_get_no_mounts_for_their_words(self):
        self.assertEqual(self.requested("--shell", "--add-dir", self.other), [])
        self.assertEqual(self.requested("--exec", "x", "--add-dir", self.other), [])

    def test_a_read_only_project_and_a_pipe(self):
        self.profile(project="read-only")
        self.assertEqual(self.run_claude(f"cat; cat {self.other}/file", "-p", "--add-dir", self.other), "content\n")


class Secrets(BoxTest):
    def setUp(self):
        super().setUp()
        (self.home / ".ssh").mkdir()
        (self.home / ".ssh" / "id_ed25519").write_text(CANARY)
        self.fake_claude(f"grep -rs --exclude=claude {CANARY} ~ . /run /tmp; true")

    def test_a_secret_place_only_by_its_exact_path(self):
        done = self.claudebox("--yes", "--add-dir", "~/.ssh")
        self.assertIn(CANARY, done.stdout)
        self.assertIn("'~/.ssh'" if "'~/.ssh'" in done.stderr else str(self.home / ".ssh"), done.stderr)
        self.assertIn("the agent can read it", " ".join(done.stderr.split()))
        plan = self.plan("--add-dir", "~/.ssh")
        self.assertTrue(any(mount["secret"] for mount in plan["mounts"] if mount["why"] == "--add-dir"))

    def test_a_directory_that_contains_one_is_refused(self):
        self.assertIn("contains your home directory", self.refused("--yes", "--add-dir", self.home))
        (self.home / ".config" / "gh").mkdir(parents=True)
        self.assertIn("contains", self.refused("--yes", "--add-dir", "~/.config"))

    def test_a_link_to_one_is_refused(self):
        (self.home / "harmless").symlink_to(".ssh")
        (self.project / "link").symlink_to(self.home / ".ssh")
        for path in ("~/harmless", "link", "link/id_ed25519"):
            self.assertIn("leads to", self.refused("--yes", "--add-dir", path))

    def test_a_link_in_the_project_does_not_widen_the_box(self):
        (self.home / "private").mkdir()
        (self.project / "docs").symlink_to(self.home / "private")
        self.assertIn("symbolic link", self.refused("--yes", "--add-dir", "docs"))

    def test_a_path_from_outside_through_a_link_in_the_project_is_refused(self):
        notes = self.home / "notes"
        notes.mkdir()
        (self.project / "d").mkdir()
        (self.project / "d/lnk").symlink_to(notes)
        (self.home / "outd").symlink_to(self.project / "d")
        (self.home / "outl").symlink_to(self.project / "d/lnk")
        for path in ("~/outd/lnk", "~/outl"):
            for words in (("--add-dir", path), ("--mount-ro", path), ("--mount-ro", f"{path}:/data"), ("--mount-rw", path), ("--path", path)):
                errors = self.refused("--yes", *words)
                self.assertIn("leads to '~/notes' through the symbolic link '~/project/d/lnk', which a box can change", errors)
        self.assertIn("which a box can change", self.refused("--yes", "--mount-ro", "d/lnk:/data"))

    def test_a_link_in_another_known_project_is_not_followed_out_of_it(self):
        def mounted(name):
            mounts = self.plan("--add-dir", f"../dotfiles/{name}")["mounts"]
            return [mount["path"] for mount in mounts if mount["origin"] == "requested"]

        notes = self.home / "notes"
        notes.mkdir()
        dotfiles = self.home / "dotfiles"
        (dotfiles / "src").mkdir(parents=True)
        (dotfiles / "lib").symlink_to(notes)
        (dotfiles / "inner").symlink_to("src")
        self.assertEqual(mounted("lib"), [str(dotfiles / "lib")])
        self.assertEqual(self.claudebox("--yes", "--exec", "true", cwd=dotfiles).returncode, 0)
        for option in ("--add-dir", "--mount-ro", "--path"):
            self.assertIn("which a box of '~/dotfiles' can change", self.refused("--yes", option, "../dotfiles/lib"))
        self.assertEqual(mounted("inner"), [str(dotfiles / "inner")])

    def test_the_state_of_claudebox_is_refused(self):
        self.claudebox("--yes", "--exec", "true")
        self.assertIn("state of claudebox", self.refused("--yes", "--add-dir", "~/.claudebox"))


class NamedPaths(BoxTest):
    def setUp(self):
        super().setUp()
        (self.home / ".ssh").mkdir()
        (self.home / ".ssh" / "id_ed25519").write_text(CANARY)
        (self.home / ".claude").mkdir()
        self.notes = self.home / "notes"
        self.notes.mkdir()
        self.fake_claude(f"grep -rs --exclude=claude {CANARY} ~ . /run /tmp; ls -A ~; true")

    def left_out(self, *arguments):
        return {row["what"]: row for row in self.plan(*arguments)["left_out"]}

    def instructions(self, text):
        (self.home / ".claude" / "CLAUDE.md").write_text(text)

    def test_imports_of_the_user_are_offered(self):
        (self.notes / "a.md").write_text("see @b.md and @../missing.md")
        (self.notes / "b.md").write_text("x")
        (self.home / ".claude" / "my").mkdir()
        (self.home / ".claude" / "my" / "more.md").write_text("x")
        self.instructions("@~/notes/a.md\n- @my/more.md\nmail @nobody, `@~/notes/c.md`\n")
        (self.notes / "c.md").write_text("x")
        rows = self.left_out()
        self.assertEqual({what: row["option"] for what, row in rows.items()},
                         {"~/notes/a.md": "--mount-ro ~/notes/a.md", "~/notes/b.md": "--mount-ro ~/notes/b.md",
                          "~/.claude/my/more.md": "--append-system-prompt-file ~/.claude/my/more.md"})
        self.assertEqual(self.claudebox("--yes").stdout.count("notes"), 0)

    def test_what_the_box_has_is_not_offered(self):
        (self.notes / "a.md").write_text("x")
        (self.home / ".claude" / "rules").mkdir()
        (self.home / ".claude" / "rules" / "r.md").write_text("x")
        (self.project / "here.md").write_text("x")
        self.instructions(f"@~/notes/a.md @rules/r.md @{self.project}/here.md @/usr/bin/env")
        self.assertEqual(self.left_out("--mount-ro", "~/notes"), {})
        self.assertEqual(self.left_out("--add-dir", "~/notes"), {})

    def test_the_offered_options_work(self):
        (self.notes / "odd:name.md").write_text("x")
        self.instructions("@~/notes/odd:name.md")
        option, path = self.left_out()["~/notes/odd:name.md"]["option"].split(" ")
        self.assertEqual(self.left_out(option, path.replace("\\\\", "\\")), {})

    def test_additional_directories_of_the_user_are_offered(self):
        (self.home / ".claude" / "settings.json").write_text(json.dumps(
            {"permissions": {"additionalDirectories": ["~/notes", str(self.home / ".ssh"), "/nowhere", "."]}}))
        self.assertEqual({what: row["option"] for what, row in self.left_out().items()}, {"~/notes": "--mount-ro ~/notes", "~/.ssh": None})

    def test_imports_that_lead_to_a_secret_place_are_not_offered_and_not_read(self):
        (self.notes / "link.md").symlink_to(self.home / ".ssh" / "id_ed25519")
        (self.home / ".ssh" / "id_ed25519").write_text(f"{CANARY} @~/notes/b.md")
        (self.notes / "b.md").write_text("x")
        self.instructions("@~/notes/link.md @~/.ssh/id_ed25519")
        rows = self.left_out()
        self.assertEqual({what: row["option"] for what, row in rows.items()}, {"~/notes/link.md": None, "~/.ssh/id_ed25519": None})
        self.assertNotIn(CANARY, self.claudebox("--yes").stdout)

    def test_import_cycles_and_odd_files_do_not_hang(self):
        (self.notes / "a.md").write_text("@b.md @a.md")
        (self.notes / "b.md").write_text("@a.md @fifo @directory @loop")
        os.mkfifo(self.notes / "fifo")
        (self.notes / "directory").mkdir()
        (self.notes / "loop").symlink_to("loop")
        self.instructions("@~/notes/a.md @~/notes/fifo @~/.claude/CLAUDE.md")
        self.assertEqual(set(self.left_out()), {"~/notes/a.md", "~/notes/b.md"})

    def test_imports_are_followed_as_deep_as_claude_does(self):
        for number in range(9):
            (self.notes / f"{number}.md").write_text(f"@{number + 1}.md")
        self.instructions("@~/notes/0.md")
        self.assertEqual(sorted(self.left_out()), [f"~/notes/{number}.md" for number in range(5)])

    def test_many_imports_are_bounded(self):
        for number in range(200):
            (self.notes / f"{number}.md").write_text("x")
        self.instructions(" ".join(f"@~/notes/{number}.md" for number in range(200)))
        self.assertLessEqual(len(self.left_out()), 32)

    def test_a_repository_is_listed_and_gets_nothing(self):
        """The attack: a repository names secrets and other directories in every file that Claude reads."""
        (self.project / ".claude").mkdir()
        named = ["~/.ssh", "../notes", str(self.home / ".ssh/id_ed25519")]
        for name in ("settings.json", "settings.local.json"):
            (self.project / ".claude" / name).write_text(json.dumps({"permissions": {"additionalDirectories": named}}))
        (self.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"x": {"command": "~/.ssh/run", "args": ["/root/x", "$HOME/.aws"]}}}))
        (self.project / "CLAUDE.md").write_text(f"@~/.ssh/id_ed25519 @../notes/a.md @{self.home}/.gnupg/x")
        (self.notes / "a.md").write_text("x")
        plan = self.plan()
        rows = plan["left_out"]
        self.assertTrue(rows and all(row["option"] is None and "named by the repository" in row["why"] for row in rows), rows)
        self.assertIn("~/.ssh", [row["what"] for row in rows])
        self.assertLessEqual(len(rows), 6)
        self.assertEqual([mount for mount in plan["mounts"] if mount["origin"] == "requested"], [])
        out = self.claudebox("--yes")
        self.assertNotIn(CANARY, out.stdout)
        self.assertNotIn("notes", out.stdout)
        self.assertNotIn("--mount-ro", out.stderr)

    def test_hooks_and_programs_of_a_repository_are_listed(self):
        (self.project / ".claude").mkdir()
        hook = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "sh ~/scripts/x.sh $CLAUDE_PROJECT_DIR/y.sh"}]}]},
                "statusLine": {"type": "command", "command": "no-such-prompt --x"}}
        (self.project / ".claude/settings.json").write_text(json.dumps(hook))
        (self.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"x": {"command": "no-such-server"}, "y": {"command": "sh"}}}))
        rows = {row["what"]: (row["why"], row["option"]) for row in self.plan()["left_out"]}
        self.assertEqual(rows, {"~/scripts/x.sh": ("named by the repository, in .claude/settings.json", None),
                                "program no-such-prompt": ("named by the repository, in .claude/settings.json", None),
                                "program no-such-server": ("named by the repository, in .mcp.json", None)})

    def test_what_the_user_configures_too_is_listed_once(self):
        program = self.home / "ai" / "hook"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        (self.home / "notes").mkdir(exist_ok=True)
        (self.home / "notes/style.md").write_text("x\n")
        text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "~/ai/hook --x"}]}]}})
        for place in (self.home / ".claude", self.project / ".claude"):
            place.mkdir(exist_ok=True)
            (place / "settings.json").write_text(text)
            (place / "CLAUDE.md").write_text("@~/notes/style.md\n")
        rows = [row for row in self.plan()["left_out"] if "ai/hook" in json.dumps(row) or "style.md" in json.dumps(row)]
        self.assertEqual([(row["what"], bool(row["option"])) for row in rows], [("hook '~/ai/hook --x'", True), ("~/notes/style.md", True)])

    def test_a_repository_cannot_hide_what_the_user_is_offered(self):
        (self.notes / "a.md").write_text("x")
        self.instructions("@~/notes/a.md")
        (self.project / "CLAUDE.md").write_text(" ".join(f"@/x{number}" for number in range(500)) + " @~/notes/a.md")
        self.assertEqual(self.left_out()["~/notes/a.md"]["option"], "--mount-ro ~/notes/a.md")

    def test_imports_of_a_project_file_that_the_user_imports_are_not_the_users(self):
        (self.notes / "a.md").write_text("x")
        (self.project / "here.md").write_text("@~/notes/a.md")
        self.instructions(f"@{self.project}/here.md")
        self.assertEqual(self.left_out(), {})


class OnPath(BoxTest):
    """claude is on the box's PATH, whatever its name and place on the host."""

    def check(self, env=None):
        out = self.box('command -v claude; claude --version; IFS=:; for d in $PATH; do [ -d "$d" ] || echo "missing $d"; done', env=env)
        self.assertEqual(out.split("\n")[1:], ["<--version>", ""], out)
        done = self.claudebox("--yes", "--shell", "-c", "claude --version", env=env)
        self.assertEqual(done.stdout, "<--version>\n")

    def test_under_another_name(self):
        other = self.home / "elsewhere" / "my claude 2"
        other.parent.mkdir()
        shutil.copy(self.home / "bin" / "claude", other)
        self.check({"CLAUDEBOX_CLAUDE": str(other)})

    def test_its_directory_is_not_reported_for_claude_alone(self):
        place = self.home / "own"
        place.mkdir()
        shutil.copy(self.home / "bin" / "claude", place / "claude")
        env = {"PATH": f"{place}:/usr/bin:/bin", "CLAUDEBOX_CLAUDE": ""}
        self.assertEqual(self.plan(env=env)["left_out"], [])
        shutil.copy(place / "claude", place / "deploy")
        self.assertEqual([row["what"] for row in self.plan(env=env)["left_out"]], ["~/own"])

    def test_another_claude_on_PATH_is_not_run(self):
        other = self.home / "real" / "claude"
        other.parent.mkdir()
        shutil.copy(self.home / "bin" / "claude", other)
        self.fake_claude("echo another")
        self.check({"CLAUDEBOX_CLAUDE": str(other), "PATH": f"{self.home}/bin:{self.env['PATH']}"})

    def test_a_wrapper_that_executes_claude_by_name_ends(self):
        self.fake_claude('exec claude "$@"')
        done = self.claudebox("--yes", "--exec", "claude", timeout=20)
        self.assertEqual(done.returncode, 127)
        self.assertIn("its wrapper executes claude by name", done.stderr)

    def test_without_claude_there_is_no_such_directory(self):
        env = {"CLAUDEBOX_CLAUDE": "/nowhere/claude"}
        self.assertNotIn("/run/claudebox/command", self.box("echo $PATH", env=env))

    def test_claude_can_start_itself(self):
        self.fake_claude('if [ "$1" = again ]; then echo twice; else claude again; fi')
        self.assertEqual(self.claudebox("--yes").stdout, "twice\n")
        self.assertEqual(self.box("claude x"), "twice\n")


if __name__ == "__main__":
    unittest.main()
