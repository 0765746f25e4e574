# SPDX-License-Identifier: MIT
"""--quarantine: the list, putting an item back, removing all; with hostile names, contents and places."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from lib.box import CLAUDEBOX, BoxTest, tree
from lib.on_terminal import OnTerminal
from lib.stress import STRESS

AS_ROOT = True
SECRET = "ghp_" + "abcdefghij0123456789ABCDEFGHIJklmnop"
MOVED = "sleep 0.3"  # the guard moves what the lines before have made


class QuarantineTest(BoxTest):
    def instance(self, project=None):
        return self.home / ".claudebox" / "instances" / hashlib.sha256(os.fsencode(project or self.project)).hexdigest()[:16]

    def quarantine(self, project=None):
        return self.instance(project) / "quarantine"

    def make(self, script, cwd=None):
        """Lets a box create files that the guard moves."""
        self.box(f"{script}\n{MOVED}", cwd=cwd)

    def plant(self, path, number=0, item=b"planted\n", **changes):
        """Writes an item as the guard does; returns its directory."""
        place = self.quarantine() / f"17949962753{number:02}-0"
        place.mkdir(parents=True)
        record = {"path": str(path), "why": "git runs the programs that it names", "moved_ms": 1794996275300 + number, "copied": False} | changes
        (place / "record.json").write_text(json.dumps(record))
        if item is not None:
            (place / "item").write_bytes(item)
        return place

    def run_it(self, word=None, *arguments, status=0, cwd=None, **options):
        done = self.claudebox("--quarantine" + (f"={word}" if word is not None else ""), *arguments, cwd=cwd, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def items(self, cwd=None):
        listed = json.loads(self.run_it("json", cwd=cwd))
        self.assertEqual(listed["version"], 1)
        return listed["items"]

    def paths(self, cwd=None):
        return [os.path.relpath(item["path"], cwd or self.project) for item in self.items(cwd)]

    def restore(self, word="1", status=0, cwd=None, **options):
        return self.run_it(word, "--yes", status=status, cwd=cwd, **options)


class Listing(QuarantineTest):
    def test_an_empty_quarantine_is_one_line(self):
        self.assertEqual(self.run_it(), "the quarantine of this project is empty\n")
        self.assertFalse((self.home / ".claudebox").exists())
        self.box("true")
        self.assertEqual(self.run_it(), "the quarantine of this project is empty\n")
        self.assertEqual(self.items(), [])
        self.assertEqual(self.run_it("clear"), "the quarantine of this project is empty\n")

    def test_items_are_numbered_from_the_oldest_on(self):
        self.make(f"echo one >.envrc; {MOVED}; echo two >.mcp.json; {MOVED}; printf 'x\\n' >.envrc")
        rows = self.items()
        self.assertEqual([(row["number"], row["path"], row["why"]) for row in rows],
                         [(1, f"{self.project}/.envrc", "direnv runs it"),
                          (2, f"{self.project}/.mcp.json", "Claude Code starts the servers that it names"), (3, f"{self.project}/.envrc", "direnv runs it")])
        self.assertEqual(sorted(rows[0]), ["copied", "difference", "file", "id", "item", "moved_ms", "number", "obstacle", "path", "present", "problem", "settings", "why"])
        self.assertEqual(rows[0]["item"], {"kind": "file", "size": 4, "size_complete": True, "files": 0, "target": None})
        self.assertAlmostEqual(rows[0]["moved_ms"] / 1000, time.time(), delta=60)
        self.assertEqual([pathlib.Path(row["file"]).read_text() for row in rows], ["one\n", "two\n", "x\n"])
        text = self.run_it()
        self.assertRegex(text, r"(?m)\A1  ~/project/\.envrc\n    \d+-0, moved \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: direnv runs it; a file of 4 bytes; "
                               r"nothing is at its place now\n    ~/\.claudebox/instances/[0-9a-f]{16}/quarantine/\d+-0/item\n    \+one\n2  ~/project/\.mcp\.json\n")

    def test_the_difference_is_against_the_file_at_the_place(self):
        self.make("seq 30 >.envrc")
        (self.project / ".envrc").write_text("".join(f"{n}\n" for n in range(1, 31) if n != 7) + "tail\n")
        self.assertEqual(self.items()[0]["difference"], {"equal": False, "binary": False, "lines": ["@ line 7", "+7", "@ line 31", "-tail"],
                                                         "more": 0, "complete": True})
        shutil.copy(self.quarantine() / self.items()[0]["id"] / "item", self.project / ".envrc")
        self.assertTrue(self.items()[0]["difference"]["equal"])
        self.assertIn("the same is at its place now", self.run_it())

    def test_at_most_20_lines(self):
        self.make("seq 1000 >.envrc")
        text = self.run_it()
        self.assertIn("    +20\n    (and 980 more lines)\n", text)
        self.assertNotIn("+21", text)

    def test_binary_content_is_named(self):
        self.make(r"printf 'a\0\033[31mb' >.envrc")
        self.assertIn("    (binary content)\n", self.run_it())
        self.assertNotIn("31m", self.run_it())

    def test_kinds(self):
        self.make("ln -s /etc/shadow .envrc; mkfifo .mcp.json; printf '#!/bin/sh\\n' >new; chmod 755 new; mv new .bashrc; "
                  "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\".zshrc\")'")
        kinds = {os.path.basename(row["path"]): row["item"]["kind"] for row in self.items()}
        self.assertEqual(kinds, {".envrc": "link", ".mcp.json": "fifo", ".bashrc": "program", ".zshrc": "other"})
        self.assertEqual(self.items()[0]["item"]["target"], "/etc/shadow")
        self.assertNotIn("root:", self.run_it())

    def test_a_directory_lists_its_files(self):
        self.box("true")
        place = self.plant(self.project / ".husky", item=None)
        for name in ("b", "a", "d/c"):
            (place / "item" / name).parent.mkdir(parents=True, exist_ok=True)
            (place / "item" / name).write_text("12345")
        (place / "item/link").symlink_to("/")
        row, = self.items()
        self.assertEqual((row["item"]["kind"], row["item"]["files"], row["item"]["size"]), ("directory", 4, 15))
        self.assertEqual(row["difference"]["lines"], ["+a", "+b", "+d/c", "+link"])
        for number in range(40):
            (place / "item" / f"x{number}").write_text("")
        self.assertIn("    (and 24 more files)\n", self.run_it())

    def test_secrets_are_masked(self):
        self.make(f"echo 'export TOKEN={SECRET}' >.envrc")
        (self.project / ".envrc").write_text(f"TOKEN={SECRET[:-1]}0\n")
        for text in (self.run_it(), self.run_it("json")):
            self.assertNotIn(SECRET[4:20], text)
            self.assertIn("TOKEN=****", text)

    def test_instances_and_gc_count_the_items(self):
        self.make("echo x >.envrc; echo y >.mcp.json")
        self.assertIn(", 2 items in quarantine, ", self.claudebox("--instances").stdout)
        self.assertEqual(json.loads(self.claudebox("--instances=json").stdout)["instances"][0]["quarantined"], 2)
        shutil.rmtree(self.project)
        done = self.claudebox("--gc", "--yes", cwd=self.home)
        self.assertRegex(done.stdout, r", 2 items in quarantine, used(.|\n)*\nRemoved 1 instance, .*, 2 items in quarantine\.\n\Z")
        self.assertFalse(self.instance().exists())

    def test_an_instance_without_items_says_nothing(self):
        self.box("true")
        self.assertNotIn("quarantine", self.claudebox("--instances").stdout)

    def test_a_new_directory_at_the_path_has_an_empty_quarantine(self):
        self.make("echo x >.envrc")
        shutil.rmtree(self.project)
        self.project.mkdir()
        self.assertIn("is empty", self.run_it())


class Usage(QuarantineTest):
    def test_numbers_out_of_range_name_the_range(self):
        self.assertIn("the quarantine of this project is empty", self.run_it("1", status=2))
        for number in range(3):
            self.plant(self.project / f"f{number}", number)
        for word in ("0", "4", "00", "99999999999999999999999999", "1-1", "17949962753000-0"):
            text = self.run_it(word, "--yes", status=2)
            self.assertIn(f"there is no item {word} ", text)
            self.assertIn("numbers are 1 to 3", text)
        self.assertEqual(len(self.items()), 3)

    def test_unknown_words(self):
        for word in ("", "x", "all", "../1", "1-0-0", "-1", "\x1b[2J", "json2"):
            text = self.run_it(word, "--yes", status=2)
            self.assertIn("accepts json, clear, the number of an item or its id", text)
            self.assertNotIn("\x1b", text)

    def test_no_command_and_no_arguments(self):
        self.assertIn("accepts no command", self.run_it(None, "--exec", "true", status=2))
        self.assertIn("accepts no command", self.run_it(None, "--shell", status=2))

    def test_a_state_directory_that_is_open_to_others_is_refused(self):
        self.plant(self.project / ".envrc")
        (self.home / ".claudebox").chmod(0o755)
        self.assertIn("is open to other users", self.run_it("1", "--yes", status=125))

    def setUp(self):
        super().setUp()
        (self.home / ".claudebox").mkdir(mode=0o700)
        (self.home / ".claudebox/version").write_text("1\n")


class Restoring(QuarantineTest):
    def test_by_number_and_by_id(self):
        self.make("printf 'one\\n' >.envrc; printf 'two\\n' >.mcp.json; chmod 751 .mcp.json")
        before = {os.path.basename(row["path"]): row for row in self.items()}
        self.assertEqual(self.restore(before[".mcp.json"]["id"]), "Put back ~/project/.mcp.json.\n")
        self.assertEqual((self.project / ".mcp.json").read_text(), "two\n")
        self.restore("1")
        self.assertEqual((self.project / ".envrc").read_text(), "one\n")
        self.assertEqual((self.items(), os.listdir(self.quarantine())), ([], []))

    def test_a_directory_a_link_and_a_fifo(self):
        self.make("ln -s /nowhere .envrc; mkfifo .mcp.json")
        place = self.plant(self.project / ".husky", 99, item=None)
        (place / "item/d").mkdir(parents=True)
        (place / "item/d/hook").write_text("x")
        for _ in range(3):
            self.restore()
        self.assertEqual(os.readlink(self.project / ".envrc"), "/nowhere")
        self.assertTrue((self.project / ".mcp.json").is_fifo())
        self.assertEqual((self.project / ".husky/d/hook").read_text(), "x")

    def test_a_taken_place_is_refused(self):
        self.make("echo box >.envrc")
        for create in (lambda path: path.write_text("mine"), lambda path: path.mkdir(), lambda path: path.symlink_to("/nowhere"), os.mkfifo):
            create(self.project / ".envrc")
            before = tree(self.home)
            self.assertIn("another file is at its place", self.restore(status=125))
            self.assertEqual(tree(self.home), before)
            path = self.project / ".envrc"
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()

    def test_a_missing_directory_of_the_project_is_created(self):
        self.make("mkdir -p a/b; echo x >a/b/.envrc")
        self.assertFalse((self.project / "a").exists())
        self.assertIsNone(self.items()[0]["obstacle"])
        self.restore()
        self.assertEqual((self.project / "a/b/.envrc").read_text(), "x\n")
        self.assertEqual(self.items(), [])

    def test_a_missing_directory_elsewhere_is_named_and_not_created(self):
        self.make("echo x >.envrc")
        self.plant(self.home / "a/b/.envrc", 99)
        self.assertIn(f"'{self.home}/a' does not exist any more", self.restore("1", status=125))
        self.assertFalse((self.home / "a").exists())
        self.assertIn("'", self.items()[0]["obstacle"])
        self.assertEqual(len(self.items()), 2)

    def test_a_link_on_the_way_is_refused(self):
        victim = self.home / "victim"
        (victim / "b").mkdir(parents=True)
        for link, target in (("a", victim), ("a/b", victim)):
            self.make("mkdir -p a/b; echo x >a/b/.envrc; touch a/b/kept")
            shutil.rmtree(self.project / link)
            (self.project / link).symlink_to(target)
            self.assertIn(f"'{self.project}/{link}' is a symbolic link now", self.restore(status=125))
            self.assertIn("is a symbolic link now", self.run_it())
            (self.project / link).unlink()
            shutil.rmtree(self.project / "a", ignore_errors=True)
            self.run_it("clear", "--yes")
        (self.project / "a").write_text("")
        self.plant(self.project / "a/b/.envrc")
        self.assertIn("is not a directory now", self.restore(status=125))
        self.assertEqual(list(victim.rglob("*")), [victim / "b"])

    def test_a_running_box_refuses(self):
        self.make("echo x >.envrc")
        with subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "echo up; read line"], cwd=self.project, env=self.env, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as box:
            box.stdout.readline()
            text = self.restore(status=125)
            self.assertIn("a box of this project runs", text)
            self.assertIn("--unprotect", text)
            self.assertEqual(self.paths(), [".envrc"])  # the list works meanwhile
            box.stdin.close()
        self.restore()

    def test_a_box_keeps_what_was_put_back(self):
        self.make("echo x >.envrc")
        self.restore()
        self.make("cat .envrc; echo y >.envrc")
        self.assertEqual((self.project / ".envrc").read_text(), "x\n")
        self.assertEqual(self.items(), [])

    def config(self, *, present, item):
        """Plants a configuration of which the place kept a harmless version."""
        config = self.project / ".git/config"
        config.parent.mkdir(exist_ok=True)
        config.write_text(present)
        self.plant(config, item=item.encode(), copied=True)
        return config

    def test_only_the_refused_settings_of_a_configuration_are_put_back(self):
        """What others wrote to the file meanwhile stays, and half of a file does no harm."""
        present = "[core]\n\tbare = false\n\tworktree = ..\n[remote \"origin\"]\n\tfetch = x\n[branch \"b\"]\n\tmerge = refs/heads/b\n"
        config = self.config(present=present, item="[core]\n\tbare = true\n\tpager = evil\n[user]\n\tname = old\n[remote \"origin\"]\n\turl = ext::x\n")
        config.chmod(0o640)
        row, = self.items()
        self.assertEqual((row["settings"], row["difference"]["lines"]), (2, ["@ line 4", "+        pager = evil", "@ line 7", "+        url = ext::x"]))
        self.assertIn("putting it back changes these lines of the file at its place", self.run_it())
        self.assertEqual(self.restore(), "Wrote 2 settings to ~/project/.git/config.\n")
        self.assertEqual(config.read_text(), present.replace("= ..\n", "= ..\n\tpager = evil\n").replace("= x\n", "= x\n\turl = ext::x\n"))
        self.assertEqual(config.stat().st_mode & 0o777, 0o640)
        self.assertEqual((os.listdir(config.parent), os.listdir(self.quarantine())), (["config"], []))

    def test_a_value_at_the_place_stays_before_that_of_the_item(self):
        config = self.config(present="[core]\n\tpager = mine\n", item="[core]\n\tpager = box\n")
        self.restore()
        values = subprocess.run(["git", "config", "-f", config, "--get-all", "core.pager"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(values, "mine\nbox\n")

    def test_the_item_of_another_box_does_not_revert_settings(self):
        """Two boxes, one after the other, each with a copy of its own."""
        subprocess.run(["git", "init", "-q", self.project], check=True)
        self.git("remote", "add", "origin", "https://example.com/x")
        with subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "git config core.pager evil; echo up; read line"], cwd=self.project, env=self.env,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as box:
            box.stdout.readline()
            self.box("git config user.name Meanwhile; git config branch.x.remote origin")
            box.stdin.close()
        self.assertEqual(self.restore(), "Wrote 1 setting to ~/project/.git/config.\n")
        text = (self.project / ".git/config").read_text()
        for word in ("Meanwhile", '[branch "x"]', "pager = evil"):
            self.assertIn(word, text)

    def test_settings_that_are_there_already_remove_the_item(self):
        """The state after a kill between the two steps."""
        config = self.config(present="[core]\n\tpager = x\n\tbare = false\n", item="[core]\n\tpager = x\n")
        before = config.read_bytes()
        self.assertIn("the file at its place has its settings", self.run_it())
        self.assertIn("had all settings; the item was removed", self.restore())
        self.assertEqual((config.read_bytes(), self.items()), (before, []))

    def test_a_missing_configuration_is_put_back_whole(self):
        config = self.config(present="", item="[core]\n\tpager = x\n")
        config.unlink()
        self.assertEqual(self.items()[0]["settings"], None)
        self.assertEqual(self.restore(), "Put back ~/project/.git/config.\n")
        self.assertEqual((config.read_text(), self.items()), ("[core]\n\tpager = x\n", []))

    def test_a_configuration_that_cannot_be_merged_changes_nothing(self):
        good = "[core]\n\tpager = x\n"
        for present, item, message in (("[core", good, "git cannot read the file at its place"), (good, "[core", "git cannot read it"),
                                       ("a\0", good, "the file at its place cannot be read"), ("", "a\0", "git cannot read it"),
                                       ("", "[user]\n\tname = A\n", "it has no setting that the guard refuses"),
                                       ("", "[alias]\n" + "".join(f"\ta{n} = x\n" for n in range(1001)), "it has too many settings"),
                                       ("", "[alias]\n" + "\ta = x\n" * 1001, "it has too many values")):
            self.config(present=present, item=item)
            before = tree(self.home)
            self.assertIn(message, self.restore(status=125))
            self.assertEqual(tree(self.home), before)
            self.run_it()
            self.run_it("clear", "--yes")

    def test_a_lock_of_git_is_respected(self):
        config = self.config(present="", item="[core]\n\tpager = x\n")
        (config.parent / "config.lock").write_text("")
        self.assertIn("'config.lock' exists", self.restore(status=125))
        self.assertEqual((config.read_text(), len(self.items())), ("", 1))
        (config.parent / "config.lock").unlink()
        self.restore()

    def test_a_kill_at_any_moment_keeps_the_item_or_the_settings(self):
        for round_ in range(8 * STRESS):
            config = self.config(present="[core]\n\tbare = false\n", item="[core]\n\tpager = x\n")
            process = subprocess.Popen([CLAUDEBOX, "--quarantine=1", "--yes"], cwd=self.project, env=self.env, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(0.002 * round_ % 0.03)
            process.send_signal(signal.SIGKILL)
            process.wait()
            (config.parent / "config.lock").unlink(missing_ok=True)
            if self.items():
                self.restore()
            self.assertEqual(config.read_text(), "[core]\n\tbare = false\n\tpager = x\n")
            self.assertEqual(self.items(), [])
            for rest in self.quarantine().iterdir():
                shutil.rmtree(rest)

    def test_settings_are_added_to_a_file_alone(self):
        for create in (lambda path: path.mkdir(), lambda path: path.symlink_to("file")):
            create(self.project / "config")
            self.plant(self.project / "config", copied=True)
            self.assertIn("another file is at its place", self.restore(status=125))
            self.run_it("clear", "--yes")
            shutil.rmtree(self.project / "config", ignore_errors=True)

    def test_a_full_or_read_only_place_loses_nothing(self):
        if os.getuid() == 0:
            return  # root may write everywhere
        self.make("mkdir a; echo x >a/.envrc; touch a/kept")
        (self.project / "a").chmod(0o555)
        before = tree(self.quarantine())
        self.assertIn("the item is still in the quarantine", self.restore(status=125))
        self.assertEqual(tree(self.quarantine()), before)
        (self.project / "a").chmod(0o755)
        self.restore()

    def test_rests_of_a_kill_are_not_listed_and_are_removed(self):
        self.plant(self.project / "gone", 1, item=None)
        self.plant(self.project / ".envrc", 2)
        (self.quarantine() / "1794996275303-0").mkdir()
        self.assertEqual(self.paths(), [".envrc"])
        self.restore()
        self.assertEqual(os.listdir(self.quarantine()), [])

    def setUp(self):
        super().setUp()
        self.box("true")  # creates the state


class Asking(OnTerminal, QuarantineTest):
    def ask(self, word, answer, env=None):
        terminal = self.open(CLAUDEBOX, f"--quarantine={word}", env=env)
        terminal.expect(r"\[y/N\]")
        terminal.send(answer)
        terminal.wait(20)
        return re.sub(r"\x1b\[[0-9;]*m", "", terminal.output.decode())

    def test_path_and_difference_come_before_the_question(self):
        self.make("echo 'export A=1' >.envrc")
        for answer in ("n\n", "\n", "x\n", "\x04"):
            text = self.ask("1", answer)
            self.assertRegex(text, r"(?s)1  ~/project/\.envrc\r\n.*direnv runs it.*\+export A=1\r\n.*Put it back\? \[y/N\]")
            self.assertIn("nothing was put back", text)
            self.assertIn("the quarantine is as it was", text)
            self.assertNotIn("--yes", text)
            self.assertFalse((self.project / ".envrc").exists())
        self.ask("1", "y\n")
        self.assertEqual((self.project / ".envrc").read_text(), "export A=1\n")

    def test_an_item_without_a_directory_can_be_removed(self):
        """A directory of the project is created again, but one elsewhere is not."""
        self.make("mkdir b; echo y >b/.envrc")
        self.plant(self.home / "a/.envrc")
        for answer in ("n\n", "\n"):
            text = self.ask("1", answer)
            self.assertRegex(" ".join(text.split()), r"it cannot be put back: '.*/a' does not exist any more.*"
                                                     r"It cannot be put back\. Remove the item permanently\? \[y/N\]")
            self.assertIn("nothing was removed", text)
            self.assertEqual(len(self.items()), 2)
        self.assertIn("Removed the item.", self.ask("1", "y\n"))
        self.assertEqual(self.paths(), ["b/.envrc"])
        self.assertEqual(len(os.listdir(self.quarantine())), 1)

    def test_clear_names_count_and_size(self):
        self.make("echo x >.envrc; echo y >.mcp.json; echo z >file")
        self.assertRegex(self.ask("clear", "n\n"), r"Permanently remove 2 items \(4 bytes\) of the quarantine\? \[y/N\]")
        self.assertEqual(len(self.items()), 2)
        self.assertIn("Removed 2 items.", self.ask("clear", "y\n"))
        self.assertEqual((self.items(), os.listdir(self.quarantine())), ([], []))
        self.assertTrue((self.project / "file").exists())

    def test_exactly_the_settings_that_are_added_come_before_the_question(self):
        self.box("true")
        config = self.project / ".git/config"
        config.parent.mkdir()
        config.write_text("[user]\n\tname = New\n")
        self.plant(config, item=b"[user]\n\tname = Old\n[core]\n\tpager = x\n", copied=True)
        text = self.ask("1", "n\n")
        self.assertRegex(text, r"\r\n    \+\[core\]\r\n    \+        pager = x\r\n")
        self.assertIn("Add these settings to the file at its place? [y/N]", text)
        self.assertNotIn("Old", text)
        self.ask("1", "y\n")
        self.assertEqual(config.read_text(), "[user]\n\tname = New\n[core]\n\tpager = x\n")

    def test_no_terminal_is_an_error(self):
        self.make("echo x >.envrc")
        for word in ("1", "clear"):
            text = self.run_it(word, status=125)
            self.assertIn("there is no terminal", text)
            self.assertIn("--yes", text)
        self.assertEqual(len(self.items()), 1)

    def test_a_box_that_starts_during_the_question(self):
        self.make("echo x >.envrc")
        terminal = self.open(CLAUDEBOX, "--quarantine=1")
        terminal.expect(r"\[y/N\]")
        self.box("true")  # does not wait for the answer
        with subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "echo up; read line"], cwd=self.project, env=self.env, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as box:
            box.stdout.readline()
            terminal.send("y\n")
            terminal.wait(20)
            self.assertIn("a box of this project runs", " ".join(terminal.output.decode().split()))
            box.stdin.close()
        self.assertEqual(self.paths(), [".envrc"])


class Hostile(QuarantineTest):
    # Names of directories that a box makes, as printf(1) writes them.
    NAMES = (r"a\nb", r"\033[2J\033]0;x\007", r"\377\376", "x" * 255, r"\302\205\342\200\256", " ", "'\"$(id)", "-n", r"a\\b")

    def test_names(self):
        for name in self.NAMES:
            with self.subTest(name):
                self.box(f'd="$(printf -- "$1")"; mkdir -- "$d"; echo x >"$d/.envrc"; {MOVED}', name)
                text = self.run_it()
                self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
                self.assertRegex(text.encode(errors="surrogateescape").decode(), r"\A1  ~/project/.+/\.envrc\n    \d")
                self.assertEqual(len(self.items()), 1)
                self.restore()
                found, = self.project.rglob(".envrc")
                self.assertEqual(found.read_text(), "x\n")
                shutil.rmtree(found.parent)

    def test_names_in_a_directory(self):
        place = os.fsencode(self.plant(self.project / ".husky", item=None) / "item")
        os.mkdir(place)
        for name in (b"a\nb", b"\x1b[2J", b"\xff", b"x" * 255, b"..."):
            with open(os.path.join(place, name), "wb"):
                pass
        text = self.run_it()
        self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        self.assertIn("+a\\nb\n", text)
        self.assertIn("+\\xff\n", text)
        self.restore()
        self.assertEqual(len(os.listdir(self.project / ".husky")), 5)

    def test_content(self):
        """No byte of an item moves the cursor or starts a line that looks like another item."""
        place = self.plant(self.project / ".envrc", item=bytes(range(1, 256)) * 4 + b"\n2  ~/project/.forged\r\n" + "e\u0301".encode() * 90000)
        text = self.run_it()
        self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        self.assertNotRegex(text, r"(?m)^2  ")
        self.assertLess(len(text), 20000)
        self.assertIn("    (and more)\n", text)
        (place / "item").write_bytes(b"\n" * 1000000)
        self.assertIn("(and at least 65516 more lines)", self.run_it())

    def test_huge_files_and_deep_trees_are_read_in_part(self):
        with open(self.plant(self.project / ".envrc", 1) / "item", "wb") as file:
            file.truncate(1 << 40)
        with open(self.project / ".envrc", "wb") as file:
            file.truncate(1 << 40)
        deep = self.plant(self.project / ".husky", 2, item=None)
        os.mkdir(deep / "item")
        descriptor = os.open(deep / "item", os.O_RDONLY)
        for _ in range(500):
            os.mkdir("d", dir_fd=descriptor)
            descriptor, previous = os.open("d", os.O_RDONLY, dir_fd=descriptor), descriptor
            os.close(previous)
        os.close(descriptor)
        started = time.monotonic()
        text = self.run_it()
        self.assertLess(time.monotonic() - started, 5)
        self.assertIn("a file of 1.0 TB", text)
        self.assertIn("a directory with at least 0 files", text)
        self.run_it("clear", "--yes")
        self.assertEqual(os.listdir(self.quarantine()), [])

    def test_a_fifo_at_the_place_does_not_block(self):
        self.plant(self.project / ".envrc")
        os.mkfifo(self.project / ".envrc")
        self.assertIn("a FIFO is at its place now", self.run_it(timeout=10))

    def test_links_are_not_followed(self):
        secret = self.home / "secret"
        secret.write_text("canary\n")
        (self.plant(self.project / ".envrc", 1, item=None) / "item").symlink_to(secret)
        self.plant(self.project / ".mcp.json", 2)
        (self.project / ".mcp.json").symlink_to(secret)
        self.assertNotIn("canary", self.run_it() + self.run_it("json"))
        self.run_it("clear", "--yes")
        self.assertEqual(secret.read_text(), "canary\n")

    def test_broken_records_are_not_listed(self):
        for number, text in enumerate(("", "[]", "{", "7", '{"path": 7}')):
            (self.plant(self.project / "x", number) / "record.json").write_text(text)
        for row in self.items():
            self.assertEqual((row["path"], row["obstacle"]), ("", "its path is not known"))
            self.assertIn("its path is not known", self.restore(row["id"], status=125))

    def test_many_items(self):
        for number in range(100):
            self.plant(self.project / f"f{number}", number, item=b"x\n" * 40000)
        self.assertEqual([row["number"] for row in self.items()], list(range(1, 101)))
        self.assertIn("Removed 100 items.", self.run_it("clear", "--yes"))

    def setUp(self):
        super().setUp()
        self.box("true")


class OtherFileSystem(QuarantineTest):
    """The project is on a tmpfs, the state on the disk of the home."""

    def setUp(self):
        super().setUp()
        if os.stat("/dev/shm").st_dev == os.stat(self.home).st_dev:
            self.skipTest("/dev/shm is on the file system of the home")
        self.project = pathlib.Path(tempfile.mkdtemp(prefix="claudebox-test-", dir="/dev/shm")) / "project"
        self.project.mkdir()
        self.addCleanup(self._remove, self.project.parent)
        self.box("true")

    def test_all_kinds_come_back(self):
        self.make("echo x >new; chmod 751 new; touch -d 2020-01-02 new; mv new .envrc; ln -s /nowhere .mcp.json; mkfifo .bashrc")
        place = self.plant(self.project / ".husky", 99, item=None)
        (place / "item/d").mkdir(parents=True)
        (place / "item/d/hook").write_text("x")
        self.assertEqual(len(self.items()), 4)
        for _ in range(4):
            self.restore()
        status = (self.project / ".envrc").stat()
        self.assertEqual((status.st_mode & 0o777, time.gmtime(status.st_mtime).tm_year), (0o751, 2020))
        self.assertEqual(os.readlink(self.project / ".mcp.json"), "/nowhere")
        self.assertTrue((self.project / ".bashrc").is_fifo())
        self.assertEqual((self.project / ".husky/d/hook").read_text(), "x")
        self.assertEqual(sorted(os.listdir(self.project)), [".bashrc", ".envrc", ".husky", ".mcp.json"])
        self.assertEqual(os.listdir(self.quarantine()), [])

    def test_a_taken_place_is_refused(self):
        self.plant(self.project / ".envrc")
        (self.project / ".envrc").write_text("mine")
        self.assertIn("another file is at its place", self.restore(status=125))
        self.assertEqual((self.project / ".envrc").read_text(), "mine")
        self.assertEqual(len(self.items()), 1)

    def test_settings_are_added_to_the_present_file(self):
        (self.project / "config").write_text("[core]\n")
        self.plant(self.project / "config", item=b"[core]\n\tpager = x\n", copied=True)
        self.assertIn("Wrote 1 setting to ", self.restore())
        self.assertEqual((self.project / "config").read_text(), "[core]\n\tpager = x\n")
        self.assertEqual(os.listdir(self.quarantine()), [])

    def test_a_kill_at_any_moment_loses_nothing(self):
        """The item is in the quarantine or at its place, whole; the next command finishes."""
        content = os.urandom(1 << 22)
        for round_ in range(8 * STRESS):
            self.plant(self.project / ".envrc", item=content)
            process = subprocess.Popen([CLAUDEBOX, "--quarantine=1", "--yes"], cwd=self.project, env=self.env, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(0.003 * round_ % 0.03)
            process.send_signal(signal.SIGKILL)
            process.wait()
            place = self.project / ".envrc"
            if place.exists():
                self.assertEqual(place.read_bytes(), content)
                self.run_it("clear", "--yes")
            else:
                self.restore()
                self.assertEqual(place.read_bytes(), content)
            self.assertEqual(self.items(), [])
            place.unlink()
            for rest in self.quarantine().iterdir():
                shutil.rmtree(rest)


class FullDisk(QuarantineTest):
    def test_a_full_disk_loses_nothing(self):
        """The place is on a small tmpfs of a mount namespace."""
        self.box("true")
        place = self.plant(self.project / "small/.envrc", item=b"x" * 300000)
        (self.project / "small").mkdir()
        script = ('mount -t tmpfs -o size=64k tmpfs small; "$0" --quarantine=1 --yes || echo "status $?"; ls -A small; '
                  'umount small; mount -t tmpfs -o size=1m tmpfs small; "$0" --quarantine=1 --yes; wc -c <small/.envrc')
        done = subprocess.run(["unshare", "-Urm", "sh", "-c", script, CLAUDEBOX], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.stdout, "status 125\nPut back ~/project/small/.envrc.\n300000\n", done.stderr)
        self.assertIn("No space left on device", done.stderr)
        self.assertFalse(place.exists())
