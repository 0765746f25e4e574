# SPDX-License-Identifier: MIT
"""Profiles: how one is chosen, which files are read, and the errors before the start."""
import json
import os
import pathlib
import shutil
import stat
import subprocess
import unittest

from lib.box import GIVEN, BoxTest, tree
from lib.other_host import OtherHost

STAGE = pathlib.Path(os.environ["STAGE"])
LIMIT = 256 * 1024


class ProfileTest(BoxTest):
    def setUp(self):
        super().setUp()
        self.state = self.home / ".claudebox"
        self.profiles = self.state / "profiles"
        self.profiles.mkdir(parents=True)
        self.state.chmod(0o700)
        self.profiles.chmod(0o755)

    def write(self, name, *text, **keys):
        path = self.profiles / f"{name}.json"
        path.write_text(text[0] if text else json.dumps(keys))
        path.chmod(0o644)
        return path

    def tier(self, *arguments, **options):
        """Returns the network tier, which shows the profile in use."""
        return self.plan(*arguments, **options)["network"]

    def refuse(self, *arguments, env=None, **options):
        """Returns the message and the hint; checks that nothing in the home directory changes."""
        before = tree(self.home) if options.pop("compare", True) else None
        said = self.refused(*(arguments or ("--yes", "--profile", "work", "--exec", "true")), env=env, **options)
        if before is not None:
            self.assertEqual(tree(self.home), before)
        lines = said.splitlines()
        self.assertEqual(len(lines), 2, said)
        return lines[0].removeprefix("claudebox: "), lines[1].removeprefix("hint: ")


class Choice(ProfileTest):
    def test_no_profile(self):
        self.write("work", network="none")
        self.assertEqual(self.tier(), "full")

    def test_by_option(self):
        self.write("work", network="none")
        self.assertEqual(self.tier("--profile", "work"), "none")
        self.assertEqual(self.tier("--profile=work"), "none")

    def test_by_variable(self):
        self.write("work", network="none")
        self.assertEqual(self.tier(env={"CLAUDEBOX_PROFILE": "work"}), "none")

    def test_by_default(self):
        self.write("default", network="none")
        self.assertEqual(self.tier(), "none")

    def test_order_of_option_variable_and_default(self):
        self.write("default", "not JSON")
        self.write("variable", "not JSON either")
        self.write("option", network="none")
        self.assertEqual(self.tier("--profile", "option", env={"CLAUDEBOX_PROFILE": "variable"}), "none")
        self.write("variable", network="none")
        self.assertEqual(self.tier(env={"CLAUDEBOX_PROFILE": "variable"}), "none")

    def test_an_empty_variable_chooses_no_profile(self):
        self.write("default", network="none")
        self.assertEqual(self.tier(env={"CLAUDEBOX_PROFILE": ""}), "full")

    def test_the_command_line_overrides_the_profile(self):
        self.write("work", network="none")
        self.assertEqual(self.tier("--profile", "work", "--network", "full"), "full")
        self.write("work", network="full")
        self.assertEqual(self.tier("--network", "none", "--profile", "work"), "none")

    def test_the_last_option_counts(self):
        self.write("a", network="none")
        self.write("b", network="full")
        self.assertEqual(self.tier("--profile", "a", "--profile", "b"), "full")

    def test_without_a_directory_there_is_no_profile(self):
        shutil.rmtree(self.profiles)
        self.assertEqual(self.tier(), "full")
        shutil.rmtree(self.state)
        self.assertEqual(self.tier(), "full")
        self.assertFalse(self.state.exists())

    def test_the_option_is_not_passed_to_claude(self):
        self.write("work")
        done = self.claudebox("--yes", "--profile", "work", "-p", "x")
        self.assertEqual(done.stdout, GIVEN + "<-p><x>\n", done.stderr)
        done = self.claudebox("--yes", "--", "--profile", "nowhere")
        self.assertEqual(done.stdout, GIVEN + "<--profile><nowhere>\n")

    def test_the_box_follows_the_profile(self):
        self.write("work", network="none")
        self.assertEqual(self.box("cat /proc/net/route | wc -l", env={"CLAUDEBOX_PROFILE": "work"}), "1\n")

    def test_help_and_version_need_no_profile(self):
        for option in ("--help", "--version"):
            self.assertEqual(self.claudebox(option, "--profile", "nowhere").returncode, 0)

    def test_shipped_examples(self):
        for path in sorted((STAGE / "doc/profiles").glob("*.json")):
            shutil.copy(path, self.profiles)
            wanted = json.loads(path.read_text())
            done = self.claudebox("--check=json", "--profile", path.stem)
            entry = next(e for e in json.loads(done.stdout)["checks"] if e["name"] == "profile")
            self.assertEqual((entry["state"], entry["detail"]), ("ok", wanted["name"]), path)
        self.assertEqual(self.tier("--profile", "offline"), "none")

    def test_a_project_cannot_choose_or_change_a_profile(self):
        """Files of a repository have no effect on the choice or the content of a profile."""
        self.write("work", network="none")
        loose = json.dumps({"network": "full", "name": "default"})
        for directory in (".claudebox/profiles", "profiles", ".", ".claude", ".config/claudebox"):
            place = self.project / directory
            place.mkdir(parents=True, exist_ok=True)
            for name in ("work.json", "default.json", "claudebox.json", "profile.json"):
                (place / name).write_text(loose)
        for name in (".env", ".envrc", ".claudeboxrc", ".claudebox/config"):
            (self.project / name).write_text("CLAUDEBOX_PROFILE=default\n")
        self.assertEqual(self.tier("--profile", "work"), "none")
        self.assertEqual(self.tier("--network", "none"), "none")
        for name in ("./work", "../project/work", ".claudebox/profiles/work", str(self.project / "work")):
            self.assertIn("requires a profile name", self.refused("--yes", "--profile", name, status=2))


class Missing(ProfileTest):
    def test_the_hint_lists_the_profiles_and_the_nearest_name(self):
        for name in ("work", "play", "offline"):
            self.write(name)
        (self.profiles / "notes.txt").write_text("")
        (self.profiles / ".hidden.json").write_text("")
        message, hint = self.refuse("--yes", "--profile", "wrok")
        self.assertEqual(message, "no profile 'wrok' (chosen by --profile)")
        self.assertEqual(hint, "did you mean 'work'? choose one of: offline, play, work")
        message, hint = self.refuse("--yes", env={"CLAUDEBOX_PROFILE": "else"})
        self.assertEqual(message, "no profile 'else' (chosen by CLAUDEBOX_PROFILE)")
        self.assertEqual(hint, "choose one of: offline, play, work")

    def test_the_hint_shows_descriptions(self):
        self.write("work", description="the customer's cloud")
        self.write("play", network="none")
        self.write("broken", "{")
        self.write("evil", '{"description": "\\u202e\\u200bx' + "y" * 150 + '"}')
        said = self.refused("--yes", "--profile", "else", "--exec", "true")
        self.assertRegex(said.split("\n", 1)[1], r"^hint: choose one of:\n  broken\n  evil: \\xe2\\x80\\xae\\xe2\\x80\\x8bxy+\.\.\. \(157 bytes\)\n"
                                                 r"  play\n  work: the customer's cloud\n$")

    def test_many_names_are_cut(self):
        for number in range(20):
            self.write(f"p{number:02}")
        self.assertTrue(self.refuse()[1].endswith("p10, p11 and 8 more"))

    def test_no_profile_exists(self):
        wanted = ("no profile 'work' (chosen by --profile)",
                  "create '~/.claudebox/profiles/work.json'; see claudebox-profile(5)")
        self.assertEqual(self.refuse(), wanted)
        self.profiles.rmdir()
        self.assertEqual(self.refuse(), wanted)
        self.state.rmdir()
        self.assertEqual(self.refuse(), wanted)

    def test_bad_names(self):
        for name in ("../x", "/etc/passwd", ".", "..", "a/b", "-x", ".x", "a b", "x\n", "\x1b[2J", "a" * 65, "ä"):
            said = self.refused("--yes", f"--profile={name}", status=2)
            self.assertIn("requires a profile name", said)
            self.assertNotIn("\x1b", said)
            message, _ = self.refuse("--yes", env={"CLAUDEBOX_PROFILE": name}, compare=False)
            self.assertRegex(message, r"^CLAUDEBOX_PROFILE: '.*' is not a valid profile name$")
        self.assertIn("requires a value", self.refused("--yes", "--profile=", status=2))

    def test_a_dangling_default_is_an_error(self):
        (self.profiles / "default.json").symlink_to("gone.json")
        self.assertEqual(self.refuse("--yes")[0], "no profile 'default' (the default)")


class Extends(ProfileTest):
    def test_extending(self):
        self.write("base", network="none")
        self.write("work", extends="base", confirm="always")
        self.write("more", extends="work", network="full")
        self.assertEqual(self.tier("--profile", "work"), "none")
        self.assertEqual(self.tier("--profile", "more"), "full")

    def test_missing_base(self):
        self.write("base")
        self.write("work", extends="bse")
        self.assertEqual(self.refuse(), ("no profile 'bse' (extended by 'work')",
                                         "did you mean 'base'? choose one of: base, work"))

    def test_cycles(self):
        self.write("work", extends="work")
        self.assertEqual(self.refuse()[0], "profiles extend each other in a cycle: work -> work")
        self.write("work", extends="b")
        self.write("b", extends="c")
        self.write("c", extends="b")
        self.assertEqual(self.refuse()[0], "profiles extend each other in a cycle: work -> b -> c -> b")

    def test_depth(self):
        for number in range(9):
            self.write(f"p{number}", extends=f"p{number + 1}")
        self.write("p9", network="none")
        self.assertEqual(self.tier("--profile", "p1"), "none")
        self.assertEqual(self.refuse("--yes", "--profile", "p0")[0],
                         "profiles extend each other more than 8 levels deep: " + " -> ".join(f"p{n}" for n in range(10)))

    def test_errors_name_the_file(self):
        self.write("base", '{\n  "netwrok": "none"\n}\n')
        self.write("work", extends="base")
        message, hint = self.refuse()
        self.assertEqual(message, "profile '~/.claudebox/profiles/base.json': line 2, column 3: unknown key 'netwrok'")
        self.assertRegex(hint, r"^did you mean 'network'\? known keys: name, ")


class Files(ProfileTest):
    WHERE = "'~/.claudebox/profiles/work.json'"

    def test_links(self):
        """Dotfile managers create symbolic links for the file or its directory."""
        dotfiles = self.home / "dotfiles"
        dotfiles.mkdir()
        (dotfiles / "work.json").write_text('{"network": "none"}')
        (dotfiles / "work.json").chmod(0o644)
        (self.profiles / "work.json").symlink_to("../../dotfiles/work.json")
        self.assertEqual(self.tier("--profile", "work"), "none")
        shutil.rmtree(self.profiles)
        dotfiles.chmod(0o755)
        self.profiles.symlink_to(dotfiles)
        self.assertEqual(self.tier("--profile", "work"), "none")

    def test_links_into_the_project(self):
        """The agent could write the profile of the next box there."""
        dotfiles = self.home / "dotfiles"
        dotfiles.mkdir()
        (dotfiles / "real.json").write_text('{"network": "none"}')
        (dotfiles / "link.json").symlink_to(self.write("other", network="none"))
        for target in ("real.json", "link.json"):
            (self.profiles / "work.json").unlink(missing_ok=True)
            (self.profiles / "work.json").symlink_to(dotfiles / target)
            self.assertEqual(self.tier("--profile", "work"), "none")
            self.assertEqual(self.refuse(cwd=dotfiles)[0], f"profile {self.WHERE} leads to a file that a box can change")
            self.assertEqual(self.tier(cwd=dotfiles), "full")
        self.write("more", extends="work")
        self.assertIn("leads to a file that a box can change", self.refuse("--yes", "--profile", "more", cwd=dotfiles)[0])

    def test_links_into_another_known_project(self):
        """A box of that project can write the profile of the next box."""
        dotfiles = self.home / "dotfiles"
        dotfiles.mkdir()
        (dotfiles / "real.json").write_text('{"network": "none"}')
        (self.home / "link.json").symlink_to(dotfiles / "real.json")
        (self.profiles / "work.json").symlink_to(self.home / "link.json")
        self.assertEqual(self.tier("--profile", "work"), "none")
        self.box("true", cwd=dotfiles)
        message, hint = self.refuse()
        self.assertEqual(message, f"profile {self.WHERE} leads to a file that a box of '~/dotfiles' can change")
        self.assertIn("by a copy", hint)

    def test_links_to_places_of_other_users(self):
        for writable in ("dotfiles", "dotfiles/claude"):
            dotfiles = self.scratch() / "dotfiles"
            (dotfiles / "claude").mkdir(parents=True)
            (dotfiles / "claude" / "work.json").write_text('{"network": "none"}')
            (self.profiles / "work.json").unlink(missing_ok=True)
            (self.profiles / "work.json").symlink_to(dotfiles / "claude" / "work.json")
            self.assertEqual(self.tier("--profile", "work"), "none")
            (dotfiles.parent / writable).chmod(0o777)
            self.assertRegex(self.refuse()[0], rf"^profile {self.WHERE} leads to '.*/work.json', which other users can change")

    def test_a_link_to_itself(self):
        (self.profiles / "work.json").symlink_to("work.json")
        self.assertRegex(self.refuse()[0], rf"^cannot access profile {self.WHERE}: Too many levels")

    def test_writable_by_others(self):
        path = self.write("work", network="none")
        for place, mode, shown in ((self.profiles, 0o777, "~/.claudebox/profiles"), (self.profiles, 0o757, "~/.claudebox/profiles"),
                                   (path, 0o666, "~/.claudebox/profiles/work.json")):
            before = stat.S_IMODE(place.stat().st_mode)
            place.chmod(mode)
            self.assertEqual(self.refuse(), (f"'{shown}' can be changed by other users (mode {mode:o})", f"run `chmod go-w {place}`"))
            place.chmod(before)
        # With a umask of 002 the user's own group can write; it often has no other member.
        path.chmod(0o664)
        self.profiles.chmod(0o775)
        self.assertEqual(self.tier("--profile", "work"), "none")

    def test_a_default_that_others_can_change_is_an_error(self):
        self.write("default", network="none").chmod(0o666)
        self.assertIn("can be changed", self.refuse("--yes")[0])
        self.assertIn("can be changed", self.refuse("--dry-run")[0])

    def test_files_of_another_user(self):
        """In the outer box, files of root belong to the user nobody."""
        host = OtherHost(self, {})
        done = host.claudebox("--dry-run", "--profile", "work", options=("--ro-bind", "/usr/share", self.profiles))
        self.assertEqual(done.returncode, 125)
        self.assertIn("'~/.claudebox/profiles' belongs to another user", done.stderr)
        self.write("work")
        done = host.claudebox("--dry-run", "--profile", "work", options=("--ro-bind", "/etc/passwd", self.profiles / "work.json"))
        self.assertEqual(done.returncode, 125)
        self.assertIn("work.json' belongs to another user", done.stderr)

    def test_not_regular_files(self):
        path = self.profiles / "work.json"
        path.mkdir()
        self.assertEqual(self.refuse()[0], f"profile {self.WHERE} is not a regular file")
        path.rmdir()
        os.mkfifo(path)
        self.assertEqual(self.refuse()[0], f"profile {self.WHERE} is not a regular file")
        for target in ("/dev/zero", "/dev/tty", "/dev/null"):
            path.unlink()
            path.symlink_to(target)
            self.assertEqual(self.refuse()[0], f"profile {self.WHERE} is not a regular file")
        self.profiles.joinpath("work.json").unlink()
        self.profiles.rmdir()
        self.profiles.write_text("")
        self.assertEqual(self.refuse()[0], "no profile 'work' (chosen by --profile)")

    def test_too_long(self):
        path = self.write("work", "{}" + " " * (LIMIT - 2))
        self.assertEqual(self.tier("--profile", "work"), "full")
        with path.open("r+b") as file:
            for size in (LIMIT + 1, 1 << 40):
                file.truncate(size)
                self.assertEqual(self.refuse(compare=False)[0], f"profile {self.WHERE} is longer than 256 KiB")

    def test_not_readable(self):
        self.write("work").chmod(0)
        self.assertEqual(self.refuse(compare=False)[0], f"cannot read profile {self.WHERE}: Permission denied")
        self.profiles.chmod(0)
        self.assertEqual(self.refuse(compare=False)[0], f"cannot access profile {self.WHERE}: Permission denied")
        self.assertEqual(self.refuse("--yes", compare=False)[0],
                         "cannot access profile '~/.claudebox/profiles/default.json': Permission denied")
        self.profiles.chmod(0o700)

    def test_not_text(self):
        path = self.write("work")
        path.write_bytes(b'{"description": "caf\xe9"}')
        self.assertEqual(self.refuse(), (f"profile {self.WHERE}: line 1, column 20: unable to decode byte 0xe9", "save the file as UTF-8"))
        path.write_bytes(b'{"network": "none"}\0{"network": "full"}')
        self.assertEqual(self.refuse()[0], f"profile {self.WHERE} is not text: it contains a NUL byte")
        path.write_bytes(b"\xff\xfe{\0}\0")
        self.assertEqual(self.refuse()[0], f"profile {self.WHERE} is not text: it contains a NUL byte")
        path.write_bytes(b"")
        self.assertEqual(self.refuse(), (f"profile {self.WHERE}: line 1, column 1: the file is empty", "the smallest profile is {}"))

    def test_an_untrusted_state_directory_is_refused_first(self):
        self.write("default", network="none")
        self.state.chmod(0o755)
        self.assertIn("is open to other users", self.refuse("--yes")[0])
        self.assertIn("is open to other users", self.refuse()[0])


class Messages(ProfileTest):
    def test_messages_are_quoted_and_show_no_secret(self):
        self.write("work", '{"\\u001b[2J\\u202e\\n": 1}')
        self.assertEqual(self.refuse()[0].split(": ")[-1], r"unknown key '\x1b[2J\xe2\x80\xae\n'")
        for text in ('{"env": {"TOKEN": "hunter2', '{"env": {"TOKEN": "hunter2\n"}}', '{"env": {"TOKEN": "hunter2\\u0007"}}',
                     '{"env": {"TOKEN": "hunter2" "x"}}', '{"env": {"TOKEN": "hunter2\\q"}}'):
            self.write("work", text)
            self.assertNotIn("hunter2", "".join(self.refuse()))

    def test_check_reports_the_error(self):
        self.write("work", '{"network": "lan"}')
        done = self.claudebox("--check", "--profile", "work")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^broken +profile +profile '.*work.json': line 1, column 13: 'network' is 'lan'")
        self.assertRegex(done.stdout, r'(?m)^ +fix: for example: "network": "inet"$')
        self.assertEqual(done.stderr, "")
        self.write("work", network="none")
        self.assertRegex(self.claudebox("--check", "--profile", "work").stdout, r"(?m)^ok +profile +work$")
        self.assertRegex(self.claudebox("--check").stdout, r"(?m)^ok +profile +none selected$")

    def test_ports_of_the_command_line_need_inet_of_the_profile(self):
        self.write("work", network="none")
        self.assertIn("'--publish' requires --network inet, not none",
                      self.refused("--yes", "--profile", "work", "--publish", "80", status=2))
        self.write("work", network="inet", publish=[3000])
        self.assertEqual(self.tier("--profile", "work", "--network", "none"), "none")

    def test_the_manual_is_valid(self):
        source = (STAGE / "doc/claudebox-profile.5.scd").read_text()
        done = subprocess.run(["scdoc"], input=source, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("extra_env_passthrough", done.stdout)


if __name__ == "__main__":
    unittest.main()
