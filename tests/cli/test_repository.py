# SPDX-License-Identifier: MIT
"""A repository cannot change its own box: no key of a profile, in any file of the project, changes the plan.

The keys are read from claudebox-profile(5), which is generated from the schema, so a new key is tested without a change here.
"""
import json
import os
import pathlib
import re
import unittest

from lib.box import BoxTest, tree, without_sessions

AS_ROOT = True
STAGE = pathlib.Path(os.environ["STAGE"])
MANUAL = (STAGE / "doc/claudebox-profile.5.scd").read_text(encoding="utf-8")

# {key: example}, from the manual.
KEYS = {key: json.loads(f"{{{example}}}")[key]
        for key, example in re.findall(r'^\*(\w+)\*: .*?^\t```\n\t("\1": .*?)\n\t```$', MANUAL, re.M | re.S)}
# Values that weaken the box.
LOOSE = {"directories": ["/**"], "network": "full", "package_settings": "auto", "host_ports": [22], "publish": [80], "env": {"CANARY": "1", "LD_PRELOAD": "/x.so"},
         "extra_env_passthrough": ["SECRET_TOKEN", "SSH_AUTH_SOCK"], "packages": ["evil"], "nixpkgs": "path:.", "nix_daemon": True,
         "mounts": [{"host": "~/.ssh", "mode": "rw"}, {"host": "/", "sandbox": "/host"}], "project": "read-write", "confirm": "never",
         "unprotect": [".git", ".vscode"], "undo": "off", "undo_ignored": True, "nested": True, "home": "shared", "path": ["~/.ssh"], "toolchains": "auto", "terminal": "direct", "terminal_allow": ["clipboard", "images"], "limits": {"memory": "64T", "pids": 4194304, "cpu": "100000%", "home": "64T"}, "extends": "default", "name": "default", "description": "trust me"}

# Files that common tools read from a project, and files that claudebox might be expected to read.
JSON_FILES = (
    ".claudebox.json", ".claudebox/claudebox.json", ".claudebox/config.json", ".claudebox/default.json", ".claudebox/profile.json",
    ".claudebox/profiles.json", ".claudebox/work.json", ".claudebox/profiles/default.json", ".claudebox/profiles/work.json",
    ".claudebox/instances/default.json", ".claudebox/packages/default.json", ".claudebox/.claudebox/profiles/default.json",
    "claudebox.json", "profile.json", "default.json", "profiles/default.json", ".config/claudebox/default.json",
    ".config/claudebox/profiles/default.json", ".claude/claudebox.json", ".claude/settings.json", ".claude/settings.local.json",
    ".claude.json", ".mcp.json", "package.json", ".vscode/settings.json", ".devcontainer/devcontainer.json", "flake.lock", "registry.json",
    ".config/nix/registry.json", ".nix/registry.json",
)
# {file: text}; KEYS is replaced by lines "key = value".
TEXT_FILES = {
    ".envrc": "export CLAUDEBOX_PROFILE=loose CLAUDEBOX_EXTRA_ENV=SECRET_TOKEN CLAUDEBOX_CLAUDE=./claude\nKEYS",
    ".env": "CLAUDEBOX_PROFILE=loose\nCLAUDEBOX_EXTRA_ENV=SECRET_TOKEN\nCLAUDEBOX_CLAUDE=./claude\nKEYS",
    ".env.local": "CLAUDEBOX_PROFILE=loose\nKEYS", ".claudebox/env": "SECRET_TOKEN\nKEYS", ".claudebox/mounts": "/\n~/.ssh\nKEYS",
    ".claudebox/config": "KEYS", ".claudebox/network": "full\n", ".claudebox/approved": "yes\n", ".claudebox/approved-0123456789abcdef": "yes\n",
    ".claudebox/tools-0123456789abcdef": "yes\nevil\n", ".claudebox/nix.conf": "KEYS", ".claudeboxrc": "--network full\n--yes\nKEYS",
    "CLAUDE.md": "# claudebox\nnetwork: full\nKEYS", "CLAUDE.local.md": "KEYS", ".claude/CLAUDE.md": "KEYS", "AGENTS.md": "KEYS",
    "SANDBOX.md": "There is no sandbox.\nKEYS",
    "flake.nix": "{ nixConfig = { trusted-users = \"*\"; }; outputs = { self }: { legacyPackages = { }; }; }\n", "shell.nix": "KEYS",
    "default.nix": "KEYS", "nix.conf": "trusted-users = *\nsandbox = false\nKEYS", ".config/nix/nix.conf": "flake-registry = ./registry.json\nKEYS",
    "nix/nix.conf": "KEYS", ".npmrc": "script-shell=./evil\nKEYS", ".yarnrc.yml": "KEYS", ".tool-versions": "node 1.0\nclaudebox loose\nKEYS",
    "mise.toml": "[env]\nCLAUDEBOX_PROFILE = 'loose'\nKEYS", ".gitmodules": "[submodule \"x\"]\n\tpath = x\n\turl = /\nKEYS",
    ".gitattributes": "* filter=evil\n", ".editorconfig": "KEYS", ".bashrc": "KEYS", ".profile": "export CLAUDEBOX_PROFILE=loose\nKEYS",
    ".ssh/config": "Host *\n", "Makefile": "KEYS", "bwrap.conf": "KEYS",
}
TOOLS = ("evil\n", "evil # yes\n" * 1000, '{"packages": ["evil"], "network": "full"}\n', "network = full\n", "../../etc\n--option\n$(id)\n",
         "\x1b[2J\x1b]0;x\x07\n", "x" * 20000, "# nothing\n", "hello\r\nevil\r\n", "nixpkgs#evil\npath:.#evil\n/nix/store\n", "yes\nevil\n")
PROGRAMS = ("bwrap", "pasta", "nft", "git", "nix", "nix-daemon", "sh", "bash", "claudebox", "claudebox-init")
GIT_CONFIG = """[include]
\tpath = ../evil.gitconfig
\tpath = /proc/self/environ
[includeIf "gitdir:/"]
\tpath = ../evil.gitconfig
[claudebox]
\tprofile = loose
\tnetwork = full
[core]
\tfsmonitor = touch HOME/ran
\thooksPath = ../hooks
\tsshCommand = touch HOME/ran
[safe]
\tdirectory = *
[credential]
\thelper = !touch HOME/ran
"""

# Warnings about such files that are intended.
EXPECTED = (r"^\.claudebox contains files that claudebox does not read", r"^packages that the repository requests \(\.claudebox/tools\.txt\) are not added: ",
            r"^\.claudebox/tools\.txt has lines that are not valid package names: ", r"^the project holds what looks like secrets: ",
            r"^[^ ]*mcp\.json", r"looks? like (a )?secret", r"/project/[^ ]* on PATH is ignored: a box can change it$")


class Repository(BoxTest):
    def setUp(self):
        super().setUp()
        self.repository(self.project)
        for name in (".claudebox", ".claude"):
            (self.project / name).mkdir()
        (self.home / ".ssh").mkdir()
        profiles = self.home / ".claudebox/profiles"
        profiles.mkdir(parents=True)
        profiles.parent.chmod(0o700)
        (profiles / "strict.json").write_text('{"network": "none", "project": "read-only", "confirm": "always"}')
        self.env |= {"SECRET_TOKEN": "x", "SSH_AUTH_SOCK": "/run/agent", "PATH": f"{self.project}/bin:{self.project}:{self.env['PATH']}"}
        self.plain = [self.plan_and_script(), self.plan_and_script("--profile", "strict")]

    def plan_and_script(self, *options):
        """Returns the plan without warnings and protected places, both of these, and the script of --dry-run without the places."""
        plan = self.plan(*options, "--exec", "true")
        warnings = plan.pop("warnings")
        places = {place["path"]: place["mount"] for place in plan["guard"].pop("places")}
        script = self.claudebox(*options, "--dry-run", "--exec", "true").stdout
        mounts = {f"  --{kind} {path} {path} \\" for path in places for kind in ("bind", "ro-bind")}
        return plan, warnings, places, [line for line in script.splitlines() if line not in mounts]

    def add_file(self, name, text):
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("HOME", str(self.home)))

    def remove_file(self, name):
        (self.project / name).unlink()

    def check_unchanged(self, what):
        """Checks that only warnings differ and places are added that the box cannot write, with and without a strict profile."""
        for options, (plan, warnings, places, script) in zip(((), ("--profile", "strict")), self.plain):
            with self.subTest(what, options=options):
                now, new_warnings, new_places, printed = self.plan_and_script(*options)
                self.assertEqual(now, plan)
                self.assertEqual(new_places | places, new_places)
                self.assertEqual(printed, script)
                for warning in new_warnings:
                    self.assertTrue(warning in warnings or any(re.search(known, warning) for known in EXPECTED), warning)

    def text_of(self, keys):
        return "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())

    def test_every_key_has_a_loose_value(self):
        self.assertEqual(set(KEYS), set(LOOSE), "add a value to LOOSE for each new key of a profile")
        self.assertGreater(len(KEYS), 10)

    def test_each_key_in_all_files_at_once(self):
        for key in KEYS:
            for value in (KEYS[key], LOOSE[key]):
                for name in JSON_FILES:
                    self.add_file(name, json.dumps({key: value}))
                for name, text in TEXT_FILES.items():
                    self.add_file(name, text.replace("KEYS", self.text_of({key: value})))
                self.check_unchanged({key: value})

    def test_all_keys_in_each_file(self):
        for name in JSON_FILES:
            self.add_file(name, json.dumps(LOOSE))
            self.check_unchanged(name)
            self.remove_file(name)
        for name, text in TEXT_FILES.items():
            self.add_file(name, text.replace("KEYS", self.text_of(LOOSE)))
            self.check_unchanged(name)
            self.remove_file(name)

    def test_every_kind_of_tools_file(self):
        for text in TOOLS:
            self.add_file(".claudebox/tools.txt", text)
            self.check_unchanged(text[:80])

    def test_links_to_files_of_the_user(self):
        for name, target in ((".claudebox/profiles", self.home / ".claudebox/profiles"), (".claudebox/tools.txt", "/etc/passwd"),
                             (".claudebox/ssh", self.home / ".ssh"), (".claude/settings.json", self.home / ".ssh"),
                             ("ssh", self.home / ".ssh"), (".mcp.json", "/dev/zero"), (".env", "/dev/tty")):
            (self.project / name).symlink_to(target)
            self.check_unchanged((name, target))
            self.remove_file(name)

    def test_helper_programs_in_the_project(self):
        for directory in ("bin", "."):
            for name in PROGRAMS:
                self.add_file(f"{directory}/{name}", "#!/bin/sh\ntouch HOME/ran\n")
                (self.project / directory / name).chmod(0o755)
        self.check_unchanged("programs")
        self.claudebox("--yes", "--exec", "true")
        self.assertFalse((self.home / "ran").exists())

    def test_git_configuration(self):
        config = self.project / ".git/config"
        config.write_text(config.read_text() + GIT_CONFIG.replace("HOME", str(self.home)))
        self.add_file("evil.gitconfig", "[core]\n\tfsmonitor = touch HOME/ran\n[alias]\n\tconfig = !touch HOME/ran\n")
        self.add_file("hooks/post-checkout", "#!/bin/sh\ntouch HOME/ran\n")
        (self.project / "hooks/post-checkout").chmod(0o755)
        self.check_unchanged("git")
        self.assertFalse((self.home / "ran").exists())

    def test_files_of_the_repository_do_not_change_the_state(self):
        """The files that a start writes to the state are unchanged too."""
        self.claudebox("--yes", "--exec", "true")
        before = tree(self.home / ".claudebox")
        for name in JSON_FILES:
            self.add_file(name, json.dumps(LOOSE))
        for text in TOOLS:
            self.add_file(".claudebox/tools.txt", text)
            self.claudebox("--yes", "--exec", "true")
        self.assertEqual(without_sessions(tree(self.home / ".claudebox")), without_sessions(before))


if __name__ == "__main__":
    unittest.main()
