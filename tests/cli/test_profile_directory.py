# SPDX-License-Identifier: MIT
"""Profiles by directory: which one a directory chooses, and that nothing but the user's profiles decides."""
import json
import os
import shutil
import unittest

from cli.test_profile import ProfileTest
from lib.box import CLAUDEBOX
from lib.terminal import Terminal


class DirectoryTest(ProfileTest):
    def setUp(self):
        super().setUp()
        self.work = self.home / "work" / "acme"
        self.work.mkdir(parents=True)

    def chosen(self, cwd=None, *arguments, **options):
        """Returns the profile and the pattern that chose it."""
        plan = self.plan(*arguments, cwd=cwd or self.work, **options)
        return plan["profile"], plan.get("profile_directory")

    def warnings(self, cwd=None):
        return [line for line in self.plan(cwd=cwd or self.work)["warnings"] if "profile" in line]


class Choice(DirectoryTest):
    def test_the_directory_chooses(self):
        self.write("work", directories=["~/work/**"], network="none")
        self.assertEqual(self.chosen(), ("work", "~/work/**"))
        self.assertEqual(self.tier(cwd=self.work), "none")
        self.assertEqual(self.chosen(self.project), (None, None))
        self.assertEqual(self.box("cat /proc/net/route | wc -l", cwd=self.work), "1\n")

    def test_order_of_option_variable_directory_and_default(self):
        self.write("default", network="full")
        self.write("work", directories=["~/work/**"], network="none")
        self.write("option", network="full")
        self.assertEqual(self.chosen(), ("work", "~/work/**"))
        self.assertEqual(self.chosen(None, "--profile", "option"), ("option", None))
        self.assertEqual(self.chosen(env={"CLAUDEBOX_PROFILE": "option"}), ("option", None))
        self.assertEqual(self.chosen(env={"CLAUDEBOX_PROFILE": ""}), (None, None))
        self.assertEqual(self.chosen(self.project), ("default", None))

    def test_the_longest_match_wins(self):
        self.write("all", directories=["/**"])
        self.write("home", directories=["~/**"])
        self.write("work", directories=["~/nowhere", "~/work/**"])
        self.write("acme", directories=["~/work/acme/**"])
        self.assertEqual(self.chosen(), ("acme", "~/work/acme/**"))
        self.assertEqual(self.chosen(self.work.parent), ("work", "~/work/**"))
        self.assertEqual(self.chosen(self.project), ("home", "~/**"))
        self.assertEqual(self.chosen(self.scratch()), ("all", "/**"))

    def test_the_longest_pattern_of_one_profile_counts(self):
        self.write("a", directories=["~/**", "~/work/acme"])
        self.write("b", directories=["~/work/**"])
        self.assertEqual(self.chosen(), ("a", "~/work/acme"))

    def test_a_tie_is_an_error_that_names_both(self):
        self.write("one", directories=["~/work/**"])
        self.write("two", directories=[f"{self.home}/work/**/"])
        message, hint = self.refuse("--yes", "--exec", "true", cwd=self.work)
        self.assertEqual(message, f"profiles 'one' (directory '~/work/**') and 'two' (directory '{self.home}/work/**/') match this project "
                                  "equally well")
        self.assertIn("--profile", hint)
        self.assertEqual(self.chosen(None, "--profile", "two"), ("two", None))
        # A longer match of a third one decides.
        self.write("three", directories=["~/work/acme"])
        self.assertEqual(self.chosen(), ("three", "~/work/acme"))

    def test_a_tie_within_one_profile_is_none(self):
        self.write("work", directories=["~/work/**", "~/work/**/"])
        self.assertEqual(self.chosen()[0], "work")

    def test_the_kinds_of_patterns(self):
        for pattern, matches in (("~/work/acme", True), ("~/work/acme/", True), ("~/work", False), ("~/work/*", True), ("~/*", False),
                                 ("~/*/acme", True), ("~/w*k/a*", True), ("~/**/acme", True), ("~/WORK/**", False), (f"{self.home}/work/*", True),
                                 ("~/work//acme", True), ("~/work/acme/**", True), ("~/work/acme/*", False), ("~/work/ac[m]e", False)):
            self.write("work", directories=[pattern])
            self.assertEqual(self.chosen()[0], "work" if matches else None, pattern)

    def test_odd_bytes(self):
        for name in ("a b", "ä\u202e", "x*y", "$(id)", "'\""):
            place = self.home / "odd" / name
            place.mkdir(parents=True, exist_ok=True)
            self.write("odd", directories=[f"~/odd/{name}"])
            self.assertEqual(self.chosen(place), ("odd", f"~/odd/{name}"))
            done = self.claudebox("--yes", "--audit=full", "--exec", "true", cwd=place)
            self.assertNotIn("\u202e", done.stderr)
            self.assertIn("profile odd, by directory ~/odd/", done.stderr)
        undecodable = os.fsencode(self.home / "odd") + b"/\xff\x01"
        os.mkdir(undecodable)
        self.write("odd", directories=["~/odd/*"])
        self.assertEqual(self.chosen(undecodable)[0], "odd")

    def test_an_escaped_key_counts(self):
        self.write("work", '{"director\\u0069es": ["~/work/**"]}')
        self.assertEqual(self.chosen()[0], "work")

    def test_the_directories_of_a_base_do_not_count(self):
        self.write("base", directories=["~/work/**"], network="none")
        self.write("more", extends="base", directories=["~/project"])
        self.write("child", extends="base")
        self.assertEqual(self.chosen(), ("base", "~/work/**"))
        self.assertEqual(self.chosen(self.project), ("more", "~/project"))
        self.assertEqual(self.tier(cwd=self.project), "none")

    def test_fifty_profiles_with_a_hundred_patterns_each(self):
        for i in range(50):
            self.write(f"p{i}", directories=[f"~/x{i}/{k}/**" for k in range(100)])
        self.write("work", directories=["~/work/**"])
        self.assertEqual(self.chosen()[0], "work")


class Links(DirectoryTest):
    def test_the_real_path_counts(self):
        elsewhere = self.scratch() / "data"
        elsewhere.mkdir()
        (self.home / "linked").symlink_to(elsewhere)
        self.write("real", directories=[f"{elsewhere}/**"])
        self.assertEqual(self.chosen(self.home / "linked")[0], "real")
        self.assertEqual(self.chosen(elsewhere)[0], "real")

    def test_links_at_the_beginning_of_a_pattern_in_the_home_are_resolved(self):
        elsewhere = self.scratch() / "data" / "acme"
        elsewhere.mkdir(parents=True)
        (self.home / "linked").symlink_to(elsewhere.parent)
        self.write("work", directories=["~/linked/**"])
        self.assertEqual(self.chosen(elsewhere), ("work", "~/linked/**"))
        self.assertEqual(self.chosen(self.home / "linked" / "acme"), ("work", "~/linked/**"))

    def test_a_link_that_a_box_can_change_is_refused(self):
        """A box must not choose the directory that gets the profile."""
        self.box("ln -s ../work sub")
        self.write("loose", directories=["~/project/sub/**"], network="full")
        message, hint = self.refuse("--yes", "--exec", "true", cwd=self.work, compare=False)
        self.assertRegex(message, r"profile 'loose': directory '~/project/sub/\*\*' leads through the link '~/project/sub', which a box of '~/project' can change")
        self.assertIn("without the link", hint)
        self.assertEqual(self.chosen(self.home / "bin")[0], None)


class Shown(DirectoryTest):
    def test_the_audit_names_the_pattern(self):
        self.write("work", directories=["~/work/**"])
        done = self.claudebox("--yes", "--audit=full", "--exec", "true", cwd=self.work)
        self.assertEqual(done.stderr.splitlines()[0], "claudebox: ~/work/acme (profile work, by directory ~/work/**)")

    def test_check_names_the_pattern(self):
        self.write("work", directories=["~/work/**"])
        done = self.claudebox("--check=json", cwd=self.work)
        rows = {row["name"]: row for row in json.loads(done.stdout)["checks"]}
        self.assertEqual((rows["profile"]["state"], rows["profile"]["detail"]), ("ok", "work, by directory ~/work/**"))
        self.assertEqual(rows["profiles"]["state"], "ok")

    def test_a_change_of_the_choice_is_shown_before_the_question(self):
        def ask():
            terminal = Terminal([CLAUDEBOX, "--exec", "true"], {**self.env, "NO_COLOR": "1"}, str(self.work), columns=200)
            self.addCleanup(terminal.close)
            terminal.expect(r"Start\? \[y/N\]")
            terminal.send("y\n")
            terminal.wait(20)
            return terminal.output.decode()

        self.write("work", directories=["~/work/**"])
        self.assertNotIn("Changed since", ask())
        self.write("acme", directories=["~/work/acme"])
        out = ask()
        self.assertIn("+ profile acme by directory ~/work/acme", out)
        self.assertIn("- profile work by directory ~/work/**", out)
        self.assertNotIn("Changed since", ask())


class Broken(DirectoryTest):
    def test_a_broken_profile_that_does_not_match_stops_nothing(self):
        self.write("work", directories=["~/work/**"])
        for text in ('{"directories": ["~/other/**"], "netwrok": 1}', '{"netwrok": 1}', '{"directories": ["~/other"], "name": "x"}'):
            self.write("broken", text)
            self.assertEqual(self.chosen()[0], "work", text)
            self.assertEqual(self.warnings(), [], text)

    def test_a_broken_profile_that_matches_is_an_error(self):
        self.write("default")
        self.write("broken", '{"directories": ["~/work/**"], "netwrok": 1}')
        message, _ = self.refuse("--yes", "--exec", "true", cwd=self.work)
        self.assertRegex(message, r"profile '~/.claudebox/profiles/broken.json': line 1, column \d+: unknown key 'netwrok'")
        self.assertEqual(self.chosen(self.project)[0], "default")

    def test_a_matching_profile_that_others_can_change_is_an_error(self):
        self.write("default")
        self.write("work", directories=["~/work/**"]).chmod(0o666)
        self.assertIn("can be changed by other users", self.refuse("--yes", "--exec", "true", cwd=self.work)[0])
        self.write("work", directories=["~/work/**"])
        self.profiles.chmod(0o777)
        self.assertIn("can be changed by other users", self.refuse("--yes", "--exec", "true", cwd=self.work)[0])

    def test_an_unreadable_profile_is_a_warning_that_says_what_it_means(self):
        self.write("default", network="none")
        cases = {
            "syntax": lambda: self.write("broken", '{"directories": ["~/work/**"],'),
            "truncated": lambda: self.write("broken", "{"),
            "empty": lambda: self.write("broken", ""),
            "no JSON": lambda: self.write("broken", "not JSON"),
            "no object": lambda: self.write("broken", "[]"),
            "twice": lambda: self.write("broken", '{"directories": ["~/x"], "directories": ["~/work/**"]}'),
            "mode": lambda: self.write("broken", directories=["~/work/**"]).chmod(0),
            "directory": lambda: (self.profiles / "broken.json").mkdir(),
            "fifo": lambda: os.mkfifo(self.profiles / "broken.json"),
            "dangling": lambda: (self.profiles / "broken.json").symlink_to("nowhere"),
            "long": lambda: self.write("broken", " " * 300 * 1024),
            "nul": lambda: self.write("broken", '{"directories": "\0"}'),
            "type": lambda: self.write("broken", directories={"a": 1}),
            "entry": lambda: self.write("broken", directories=["~/x", 3]),
            "relative": lambda: self.write("broken", directories=["work/**"]),
            "dots": lambda: self.write("broken", directories=["~/x/../work/**"]),
            "stars": lambda: self.write("broken", directories=["~/work**"]),
        }
        for name, make in cases.items():
            with self.subTest(name):
                make()
                self.assertEqual(self.tier(cwd=self.work), "none")
                said = self.warnings()
                self.assertEqual(len(said), 1, said)
                self.assertRegex(said[0], r"profile '(~/.claudebox/profiles/)?broken(.json)?'.*; if it is meant for this directory, it is not used$")
                done = self.claudebox("--check=json", cwd=self.work)
                row = next(row for row in json.loads(done.stdout)["checks"] if row["name"] == "profiles")
                self.assertEqual((row["state"], done.returncode), ("broken", 0))
                self.assertIn("broken", row["detail"])
                # With a choice of the user's own, nothing is searched.
                self.assertEqual([line for line in self.plan("--profile", "default", cwd=self.work)["warnings"] if "broken" in line], [])
                path = self.profiles / "broken.json"
                if path.is_dir() and not path.is_symlink():
                    path.rmdir()
                else:
                    path.unlink()

    def test_many_broken_profiles_are_a_few_lines(self):
        for i in range(40):
            self.write(f"b{i}", '{"directories": [')
        self.assertEqual(len(self.warnings()), 6)

    def test_mistakes_in_the_patterns_of_a_chosen_profile(self):
        for value, said in ((["work/**"], "'work/**' is not a full path"), (["~/../x"], "contains '.' or '..'"), (["~/a**"], "must be a whole name"),
                            (["~ann/x"], "another user"), (["/a\u0007"], "control character"), ("~/work", "must be a list of strings, not a string"),
                            ([""], "is not a full path"), ([1], "must be a string"), (["/x"] * 1000, "more than 100 entries"),
                            (["/" + "x" * 5000], "longer than 4095 bytes")):
            self.write("work", directories=value)
            message, _ = self.refuse()
            self.assertIn("line 1, column", message)
            self.assertIn(said, message)

    def test_a_thousand_patterns_that_match_are_an_error_and_not_ignored(self):
        self.write("work", directories=["~/work/**"] * 1000)
        self.assertIn("more than 100 entries", self.refuse("--yes", "--exec", "true", cwd=self.work)[0])


class Repository(DirectoryTest):
    def test_no_file_of_the_project_chooses(self):
        loose = json.dumps({"directories": ["/**", "~/**", "~/work/acme"], "network": "full"})
        self.write("default", network="none")
        for place in (".claudebox/profiles", ".", ".claude", "profiles"):
            (self.work / place).mkdir(parents=True, exist_ok=True)
            for name in ("default.json", "loose.json"):
                (self.work / place / name).write_text(loose)
        self.assertEqual((self.chosen()[0], self.tier(cwd=self.work)), ("default", "none"))

    def test_a_profile_that_leads_into_a_project_is_refused(self):
        self.write("default", network="none")
        (self.work / "mine.json").write_text(json.dumps({"directories": ["~/work/**"], "network": "full"}))
        (self.profiles / "mine.json").symlink_to(self.work / "mine.json")
        self.assertIn("leads to a file that a box can change", self.refuse("--yes", "--exec", "true", cwd=self.work)[0])

    def test_the_project_is_the_directory_and_not_its_repository(self):
        self.repository(self.work)
        (self.work / "deep").mkdir()
        self.write("work", directories=["~/work/acme"])
        self.assertEqual(self.chosen(self.work / "deep")[0], None)
        self.write("work", directories=["~/work/acme/deep"])
        self.assertEqual(self.chosen(self.work / "deep")[0], "work")
        shutil.rmtree(self.work / "deep")


if __name__ == "__main__":
    unittest.main()
