# SPDX-License-Identifier: MIT
"""Every sentence of the instructions for Claude has a test that shows it to be true from inside a box."""
import ast
import os
import pathlib
import re
import unittest

from lib.box import BoxTest
from lib.instructions import FILE, HEAD, sentences
from lib.other_host import OtherHost
from lib.toolchains import program

STAGE = pathlib.Path(os.environ["STAGE"])
GOLDEN = STAGE / "tests" / "golden"
TOOLS = "box/test_instructions_tools.py"
FILES = "box/test_instructions_files.py"
KERNEL = "box/test_instructions_kernel.py"
INET = "box/test_instructions_inet.py"
GUARD = "box/test_guard_more.py"
PODMAN = "programs/test_podman.py"

# A pattern for a sentence, and the tests that show it. A pattern of a request to Claude names tests of the facts behind it.
TABLE = {
    r"This session runs in a box that the user started with `claudebox`\.": [f"{FILES}:test_the_session_is_in_a_box"],
    r"The box replaces permission questions: you do not have to ask before you run commands or change files\.":
        ["cli/test_agent.py:test_claude_runs_without_permission_questions", "claude/test_turn.py:test_bypasses_permissions"],
    # The project and the home directory
    r"You can write to the project `.*`, to `/tmp` and to your home directory\.": [f"{FILES}:test_home_of_the_project"],
    r"Of these, only the project and your home directory are kept after this session: put results in the project\.":
        [f"{FILES}:test_home_of_the_project"],
    r"Of these, only the project and your own state in `~/\.claude` are kept after this session: put results in the project\.":
        [f"{FILES}:test_home_in_memory"],
    r"The project `.*` is read-only\.": [f"{FILES}:test_read_only_project"],
    r"You can write to `/tmp` and to your home directory\.": [f"{FILES}:test_read_only_project"],
    r"Of these, only your home directory is kept after this session\.": [f"{FILES}:test_read_only_project"],
    r"Of these, only your own state in `~/\.claude` is kept after this session\.": [f"{FILES}:test_read_only_project_with_a_home_in_memory"],
    r"Sessions in this project share the home directory; it is not the user's own on the host\.": [f"{FILES}:test_home_of_the_project"],
    r"Sessions in other projects can share the home directory; it is not the user's own on the host\.": [f"{FILES}:test_shared_home"],
    r"Do not put anything of this project there\.": [f"{FILES}:test_shared_home"],
    r"Every session has a new home directory, in memory; it is not the user's own on the host\.": [f"{FILES}:test_home_in_memory"],
    r"`npm install -g`, `cargo install` and `go install` put programs into `~/\.local/bin`, which is on `PATH`, and they are there in the "
        r"next session\.": [f"{TOOLS}:test_programs_that_package_managers_install", f"{TOOLS}:test_places_that_the_user_replaced"],
    r"`npm install -g`, `cargo install` and `go install` put programs into `~/\.local/bin`, which is on `PATH`\.":
        [f"{TOOLS}:test_programs_in_a_home_in_memory"],
    r"`npm install -g`, `cargo install` and `go install` put programs into `~/\.local/bin`, which is not on `PATH`(?:, and they are there in "
        r"the next session)?\.": [f"{TOOLS}:test_a_box_of_the_nix_store"],
    r"The user added `.*`; you can write to it, and changes are kept\.": [f"{FILES}:test_mounts_of_the_user"],
    r"The user added `.*`, read-only\.": [f"{FILES}:test_mounts_of_the_user"],
    r"The rest of the worktree `.*` is read-only\.": [f"{FILES}:test_subdirectory_of_a_repository"],
    r"This is a linked worktree\.": [f"{FILES}:test_linked_worktree"],
    r"Of the main worktree `.*`, only the git directory is in the box, unless the user added more: the user does not see other files that you write there\.":
        [f"{FILES}:test_linked_worktree", f"{FILES}:test_parts_of_the_main_worktree_that_the_user_added"],
    r"Of the main worktree `.*`, only the git directory and this worktree are in the box, unless the user added more: the user does "
        r"not see other files that you write there\.": [f"{FILES}:test_worktree_in_the_main_worktree"],
    r"git works, including commits\.": [f"{FILES}:test_subdirectory_of_a_repository", f"{FILES}:test_linked_worktree"],
    r"claudebox adds no keys and no passwords: leave pushing, fetching from private repositories and signing to the user\.":
        ["box/test_git.py:test_no_agent_socket", "box/test_git.py:test_the_hosts_git_configuration_is_not_in_the_box",
        "box/test_git.py:test_a_host_that_requests_signatures"],
    r"Create worktrees only inside of the project: `git worktree add \.worktrees/NAME`, with a file `\.worktrees/\.gitignore` that has the "
        r"line `\*`\.": ["box/test_git_config.py:test_a_project_in_the_home", "box/test_git_config.py:test_other_places"],
    r"The user does not see files beside the project, in `/tmp` or in your home directory, and git refuses worktrees there\.":
        ["box/test_git_config.py:test_a_project_in_the_home", "box/test_git_config.py:test_a_project_elsewhere", "box/test_git_config.py:test_other_places"],
    r"Protected are files that programs of the user execute or trust: hooks and configuration of git, and settings of agents, editors, shells "
        r"and package managers \(`\.claude/settings\.json`, `\.mcp\.json`, `\.vscode`, `\.envrc`, `\.cargo/config\.toml` and others\)\.":
        [f"{GUARD}:test_the_instructions_name_what_is_protected", "box/test_guard.py:test_a_place_that_exists_cannot_be_changed"],
    r"Such a file is read-only if it exists, and is moved away at once if you create it; if you create it again and again, the box is stopped\.":
        [f"{GUARD}:test_the_instructions_name_what_is_protected", "box/test_guard.py:test_a_loop_that_creates_a_place_again_ends_the_box"],
    r"Files that git tracks are not protected\.": ["box/test_guard.py:test_a_tracked_file_stays_writable_and_a_checkout_is_complete"],
    r"Settings that you change with `git config` reach the user's repository when this session ends; those that make git execute a program "
        r"stay in the box\.": [f"{GUARD}:test_the_instructions_say_which_settings_of_git_stay_in_the_box"],
    r"`\.husky/_` is a copy of the user's directory with generated hooks: git here runs them, and what you change there stays in the box\.":
        ["box/test_guard_hooks.py:test_git_in_the_box_runs_the_hooks",
        "box/test_guard_hooks.py:test_what_the_box_writes_is_not_executed_outside_and_not_lost"],
    r"`\.vscode` is not protected in this session: the user lets you write it\.": [f"{GUARD}:test_the_instructions_name_what_is_protected"],
    r"If the user wants such a file, say so: the user finds it with `claudebox --quarantine`, or starts the next session with `--unprotect PATH`\.":
        [f"{GUARD}:test_the_instructions_name_what_is_protected", "box/test_guard.py:test_an_excepted_place_can_be_written_and_is_shown_in_red"],
    # Programs
    r"The host's programs and libraries are available\.": [f"{TOOLS}:test_programs_of_the_host"],
    r"Programs and libraries are those of the Nix store, and `/usr` is almost empty\.": [f"{TOOLS}:test_a_box_of_the_nix_store",
        "box/test_flake.py:test_there_is_no_usr"],
    r"They are read-only: `sudo` and the installation of system packages do not work\.": [f"{TOOLS}:test_programs_of_the_host"],
    r"Package managers of programming languages can install into the project or the home directory\.":
        [f"{TOOLS}:test_programs_that_package_managers_install"],
    r"Package managers of programming languages can install into the home directory\.": [f"{TOOLS}:test_packages_with_a_read_only_project"],
    r"The user added `.*` \(Nix packages, first in `PATH`\)\.": ["box/test_packages.py:test_packages_come_first_in_PATH_in_order"],
    r"Toolchains of the user, read-only: .*\.": [f"{TOOLS}:test_toolchains"],
    r"They are on `PATH` as outside\.": [f"{TOOLS}:test_toolchains"],
    r"To add a version to one of them, ask the user: it is available from the next session on\.": [f"{TOOLS}:test_toolchains"],
    r"Some programs or settings of the user are not in the box\.": [f"{TOOLS}:test_programs_that_stay_outside"],
    r"If you need one, tell the user: claudebox lists them before the start, under \"Not in the box\", with options that bring them\.":
        [f"{TOOLS}:test_programs_that_stay_outside", "box/test_toolchains.py:test_programs_that_need_the_files_beside_them"],
    r"If a tool is missing, run it with `nix shell nixpkgs#NAME -c COMMAND`, or with `, COMMAND` if comma is installed\.":
        ["box/test_nix_daemon.py:test_nix_shell", "box/test_nix_registry.py:test_comma"],
    r"The result stays in `/nix/store` after this session\.": ["box/test_nix_daemon.py:test_nix_shell"],
    r"If a tool is missing, ask the user to install it with the host's package manager\.": [f"{TOOLS}:test_a_tool_that_the_user_installs"],
    r"If a tool is missing, ask the user to add its Nix package to `packages` of a profile\.": [f"{TOOLS}:test_a_box_of_the_nix_store",
        "box/test_packages.py:test_packages_work_without_network", "box/test_flake.py:test_packages_use_the_compiled_in_nix"],
    r"It is available from the next session on\.": [f"{TOOLS}:test_a_tool_that_the_user_installs",
        "box/test_flake.py:test_packages_use_the_compiled_in_nix"],
    r"`nix shell` and other commands that need the Nix daemon fail, because the box does not have it: .*\.":
        ["box/test_nix_trusted.py:test_nix_in_the_box_says_why_and_what_to_change",
        "box/test_nix_daemon.py:test_nix_without_the_daemon_says_which_key_adds_it"],
    r"The user's settings of package managers, such as registries, are in effect \(.*\), without logins that the user did not pass\.":
        [f"{TOOLS}:test_settings_of_package_managers", "box/test_package_settings.py:test_no_credential_of_a_package_manager_is_in_the_box",
        "box/test_package_settings.py:test_a_token_passes_on_purpose_by_a_variable"],
    r"What you set in your home directory ranks above them; a file there that is a link to `/run/claudebox` is read-only, and you can "
        r"replace it\.": [f"{TOOLS}:test_settings_of_package_managers", "box/test_package_settings.py:test_pip", "box/test_package_settings.py:test_maven"],
    r"If a registry refuses access \(401, 403\), or its host name ends in `\.invalid`, tell the user, and do not install the package from "
        r"another registry: its name may be that of another package there\.": ["box/test_package_settings.py:test_addresses_pass_without_their_login"],
    # Network
    r"The network is the host's own\.": ["box/test_network.py:test_full_is_the_hosts_network"],
    r"A server that you start listens on the host's `localhost` too\.": ["box/test_network.py:test_a_server_in_full_listens_on_the_hosts_localhost"],
    r"There is no network, on purpose: you cannot download anything or reach a server outside\.":
        ["box/test_network.py:test_none_reaches_nothing_of_the_host", "box/test_network.py:test_none_has_no_other_interface"],
    r"`localhost` is the box's own\.": ["box/test_network.py:test_none_has_a_working_loopback",
        "box/test_network.py:test_none_reaches_nothing_of_the_host", f"{INET}:test_the_internet_and_nothing_else"],
    r"You have internet access with name resolution, and can download packages\.": [f"{INET}:test_the_internet_and_nothing_else"],
    r"Private networks \(LAN, VPN, cloud metadata\) and services of this machine are refused, on purpose\.":
        [f"{INET}:test_the_internet_and_nothing_else", "box/test_inet.py:test_forbidden_addresses_are_refused_at_once"],
    r"An exception: `127\.0\.0\.1:\d+` is a service of the user on the host\.": [f"{INET}:test_ports"],
    r"The user can reach a server that you start on port (\d+) at `http://127\.0\.0\.1:\1`\.": [f"{INET}:test_ports"],
    # Kernel
    r"You can create user namespaces and mounts: bubblewrap and Chromium with its own sandbox work\.":
        [f"{KERNEL}:test_a_nested_box", "programs/test_browser.py:test_with_its_own_sandbox"],
    r"You cannot create user namespaces or mounts: Docker, podman, bubblewrap and Claude Code's own sandbox do not work, and Chromium needs "
        r"`--no-sandbox`\.": [f"{KERNEL}:test_an_ordinary_box", f"{PODMAN}:test_in_an_ordinary_box_it_does_not_start",
        "claude/test_sandbox.py:test_without_the_option_the_bash_tool_fails",
        "programs/test_browser.py:test_its_sandbox_in_an_ordinary_box_fails_with_a_message", "programs/test_browser.py:test_without"],
    r"io_uring, bpf, perf, kernel keyrings, raw sockets and unusual socket families are disabled\.": [f"{KERNEL}:test_an_ordinary_box",
        "box/test_seccomp.py:test_every_rule"],
    r"io_uring, bpf, perf, kernel keyrings and unusual socket families are disabled\.": [f"{KERNEL}:test_a_nested_box",
        "box/test_seccomp.py:test_the_table_with_nested"],
    r"Debuggers and strace work on processes that they start\.": [f"{KERNEL}:test_an_ordinary_box", f"{KERNEL}:test_a_nested_box"],
    r"podman, if it is installed, works with crun\.": [f"{PODMAN}:test_a_container_in_every_tier"],
    r"A container uses the network and the ports of this box: `-p` and networks of its own do not work and are not needed, `--network none` "
        r"works\.": [f"{PODMAN}:test_a_container_in_every_tier", f"{PODMAN}:test_a_container_without_network",
        f"{PODMAN}:test_ports_and_networks_of_its_own_do_not_work_and_are_not_needed"],
    r"A container has one user, its root, which is you: `--user`, and images or installers that switch to another user, fail \(use `--user "
        r"0` or `apt-get -o APT::Sandbox::User=root`\)\.": [f"{PODMAN}:test_a_second_user_fails_with_a_message", f"{PODMAN}:test_the_project_in_a_container",
        f"{PODMAN}:test_an_installer_that_switches_to_another_user"],
    r"Images are stored in memory and are lost after this session\.": [f"{KERNEL}:test_images_of_podman_are_in_memory",
        f"{PODMAN}:test_images_are_lost_after_the_session"],
    # Limits
    r"This box has at most .*\.": ["box/test_limits.py:test_the_instructions_name_the_limits", "box/test_limits.py:test_limits_are_in_effect_inside_the_box"],
    r"At the limit of processes, no further one can be started\.": ["box/test_limits.py:test_limits_are_in_effect_inside_the_box"],
    r"A process that uses too much memory is killed; files in `/tmp` (?:and in the home directory )?count as memory\.":
        ["box/test_limits.py:test_limits_are_in_effect_inside_the_box", "box/test_limits.py:test_files_in_memory_count_as_memory"],
    r"Do not retry: run fewer processes at once \(`make -j2`\)\.": ["box/test_limits.py:test_limits_are_in_effect_inside_the_box"],
    # The rest
    r"MCP servers that you add with `claude mcp add`, with any scope but `project`, are for the boxes of this project only, and are kept\.":
        ["claude/test_mcp.py:test_a_server_follows_the_host_and_the_box_keeps_its_own"],
    r"To have one everywhere, the user runs `claude mcp add` outside of the box\.":
        ["claude/test_mcp.py:test_a_server_follows_the_host_and_the_box_keeps_its_own"],
    r"Not in the box, unless the user added it: SSH and GPG keys, cloud and registry credentials, the user's other projects and the rest of "
        r"the home directory, shell history, Docker, D-Bus, the desktop and its clipboard\.": [f"{FILES}:test_what_is_not_in_the_box"],
    r"If the box refuses an operation or lacks a file \(permission denied, read-only file system, no such file outside the project\), that is "
        r"intended: do not retry and do not work around it\.": [f"{FILES}:test_what_is_not_in_the_box"],
    r"Tell the user what you need and why\.": [f"{FILES}:test_what_is_not_in_the_box"],
}
COMMENT = re.compile(r"(?<!:)//[^\n]*|^#[^\n]*", re.M)  # not that of an address
LITERALS = re.compile(r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*')
SHORT = 8  # characters; a shorter part of a format is found in any text


def parts_of_strings(source):
    """Returns the parts, between conversions, of the string literals of a C file."""
    found = []
    for literal in LITERALS.findall(COMMENT.sub("", source)):
        text = "".join(ast.literal_eval(word) for word in re.findall(r'"(?:[^"\\]|\\.)*"', literal))
        found += [part for part in re.split(r"%[a-z]+|\n", text) if len(part) >= SHORT and " " in part]
    return found


class Table(BoxTest):
    def text(self, *options, host=None, cwd=None, **keys):
        self.profile(**keys)
        return (host or self).claudebox("--yes", *options, "--exec", "cat", FILE, cwd=cwd).stdout

    def texts(self):
        """Returns the instructions of boxes of many kinds, and those of the golden plans, some of which need Nix, cgroups or pasta."""
        repository = self.repository(self.home / "repository")
        linked, inner = self.home / "linked", repository / "inner"
        for place in (linked, inner):
            self.git("worktree", "add", "-q", place, cwd=repository)
        (repository / "sub").mkdir()
        (repository / ".husky/_").mkdir(parents=True)
        (repository / ".husky/_/.gitignore").write_text("*")
        self.git("config", "core.hooksPath", ".husky/_", cwd=repository)
        self.env["PATH"] = f"{program(self.home / '.cargo/bin/tool', 'true').parent}:{program(self.home / 'tools/x', 'true').parent}:{self.env['PATH']}"
        (self.home / ".npmrc").write_text("registry=https://npm.corp.example/\n")
        with_daemon = OtherHost(self, {"/nix/store/x/y": "", "/nix/var/nix/daemon-socket/keep": ""})
        with_podman = OtherHost(self, {"/etc/containers/policy.json": "{}"})
        texts = [self.text(), self.text(home="none"), self.text(home="shared"), self.text(project="read-only"), self.text(nested=True),
                 self.text(project="read-only", home="none"), self.text(toolchains="none", package_settings="none"),
                 self.text("--network", "none"), self.text("--mount-ro", self.home / "tools"), self.text("--mount-rw", self.home / "tools"), self.text("--unprotect", ".vscode"),
                 self.text(cwd=repository), self.text(cwd=repository / "sub"), self.text(cwd=linked), self.text(cwd=inner),
                 self.text(host=with_daemon), self.text(host=with_podman, nested=True)]
        return texts + [path.read_text() for path in GOLDEN.rglob("instructions.txt")]

    def test_every_sentence_is_shown_by_a_test(self):
        texts = self.texts()
        unused = set(TABLE)
        for sentence in sorted({sentence for text in texts for sentence in sentences(text)}):
            rows = {pattern for pattern in TABLE if re.fullmatch(pattern, sentence)}
            self.assertTrue(rows, f"no test shows: {sentence}")
            unused -= rows
        self.assertEqual(unused, set(), "no box has these sentences")
        # All that the source can say is in one of the texts, so that no sentence escapes the table.
        everything = "\n".join(texts)
        tables = (STAGE / "src/plan/tables.c").read_text().split("tier_table[")[1].split("};\n")[0]
        tiers = re.findall(rf"\.instructions =\s*({LITERALS.pattern})", tables)
        self.assertEqual(len(tiers), 3)
        for part in parts_of_strings((STAGE / "src/plan/claude/instructions.c").read_text() + ";".join(tiers)):
            self.assertTrue(part in everything, f"no box has {part!r}")

    def test_every_named_test_exists(self):
        for names in TABLE.values():
            self.assertTrue(names)
            for name in names:
                file, test = name.split(":")
                self.assertRegex((STAGE / "tests" / file).read_text(), rf"(?m)^ +def {test}\(", name)

    def test_the_file_begins_with_the_box(self):
        self.assertTrue(self.text().startswith(HEAD))


if __name__ == "__main__":
    unittest.main()
