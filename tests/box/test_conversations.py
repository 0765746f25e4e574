# SPDX-License-Identifier: MIT
"""Conversations: those of plain claude are copied only if the user says so, and the end of a session says how to resume."""
import base64
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import time
import unittest
import uuid

from lib.box import CLAUDEBOX, BoxTest, tree
from lib.terminal import Terminal

AS_ROOT = True
OFFER = r"Plain claude has (\d+) conversations? for this directory"
SECOND = r"with something like a secret too\?"
TOKEN = "gh" "p_7Qk29XvLmPq7RtYzW3bN5cY8wL2pD4aB1cD2"


def slug(path):
    return re.sub(r"[^a-zA-Z0-9]", "-", str(path))


def picture(length):
    """Returns text that looks like an image."""
    return base64.b64encode(random.Random(1).randbytes(length * 3 // 4)).decode()


class ConversationTest(BoxTest):
    def setUp(self):
        super().setUp()
        self.claude = self.home / ".claude"
        self.root = self.home / ".claudebox"
        self.source = self.claude / "projects" / slug(self.project)
        self.instance = self.root / "instances" / hashlib.sha256(os.fsencode(self.project)).hexdigest()[:16]
        self.target = self.instance / "claude/projects" / slug(self.project)

    def conversation(self, text="hello", cwd=None, where=None, number=None):
        """Writes a conversation of plain claude; returns its id."""
        number = number or str(uuid.uuid4())
        path = (where or self.source) / f"{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [{"type": "summary", "summary": "x", "leafUuid": str(uuid.uuid4())},
                 {"type": "user", "cwd": str(cwd or self.project), "sessionId": number, "message": {"role": "user", "content": text}},
                 {"type": "assistant", "cwd": "/elsewhere", "sessionId": number, "message": {"role": "assistant", "content": "yes"}}]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        os.utime(path, (1700000000, 1700000000))
        return number

    def terminal(self, *arguments, env=None, start="y\n"):
        terminal = Terminal([CLAUDEBOX, *map(str, arguments)], {**self.env, "NO_COLOR": "1", **(env or {})}, str(self.project), columns=200)
        self.addCleanup(terminal.close)
        if start:
            terminal.expect(r"Start\? \[y/N\]", 20)
            terminal.send(start)
        return terminal

    def copies(self):
        return sorted(path.name for path in self.target.iterdir()) if self.target.is_dir() else []

    def names(self, *numbers):
        return sorted(f"{number}.jsonl" for number in numbers)

    def answers(self):
        return [path.read_text() for path in self.instance.glob("conversations-*")]

    def imported(self, *arguments, **options):
        """Imports without a question; returns the messages."""
        done = self.claudebox("--import-conversations", "--yes", *(arguments or ("--exec", "true")), **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def left_out(self, *arguments):
        return [row for row in self.plan(*arguments)["left_out"] if row["option"] == "--import-conversations"]


class Offer(ConversationTest):
    def test_no_is_the_default_and_asked_once(self):
        self.conversation()
        for answer in ("\n", "n\n", "x\n", "yy\n", "\x04"):
            terminal = self.terminal()
            terminal.expect(OFFER)
            terminal.expect(r"\[y/N\] ")
            terminal.send(answer)
            self.assertEqual(terminal.wait(20), 0)
            self.assertIn(b"<--dangerously-skip-permissions>", terminal.output)
            self.assertEqual((self.copies(), self.answers()), ([], ["declined\n"]), answer)
            terminal = self.terminal()
            self.assertEqual(terminal.wait(20), 0)
            self.assertNotRegex(terminal.output.decode(), OFFER)
            self.assertEqual(self.left_out(), [])
            next(self.instance.glob("conversations-*")).unlink()

    def test_yes_copies_all(self):
        numbers = [self.conversation() for _ in range(3)]
        before = tree(self.claude)
        terminal = self.terminal()
        self.assertEqual(terminal.expect(OFFER).group(1), b"3")
        terminal.send("y\n")
        self.assertEqual(terminal.wait(20), 0)
        self.assertEqual((self.copies(), self.answers()), (self.names(*numbers), ["copied\n"]))
        self.assertEqual(tree(self.claude), before)
        for name in self.names(*numbers):
            copy = self.target / name
            self.assertEqual(copy.read_bytes(), (self.source / name).read_bytes())
            self.assertEqual((copy.stat().st_mode & 0o7777, copy.stat().st_mtime), (0o600, 1700000000))
        self.assertEqual(self.box("cd ~/.claude/projects/*/ && cat *.jsonl | grep -c hello"), "3\n")
        self.assertNotRegex(self.finish(self.terminal()), OFFER)

    def finish(self, terminal):
        self.assertEqual(terminal.wait(20), 0)
        return terminal.output.decode()

    def test_an_instance_that_was_never_asked(self):
        self.box("true")
        self.conversation()
        terminal = self.terminal()
        terminal.expect(OFFER)
        terminal.send("y\n")
        self.finish(terminal)
        self.assertEqual(len(self.copies()), 1)

    def test_no_start_asks_nothing_and_records_nothing(self):
        self.conversation()
        terminal = self.terminal(start="n\n")
        self.assertEqual(terminal.wait(20), 125)
        self.assertNotRegex(terminal.output.decode(), OFFER)
        self.assertEqual(self.answers(), [])

    def test_not_asked_but_named(self):
        """--yes, -p, "confirm": "never" and a missing terminal answer nothing."""
        self.conversation()
        for arguments, profile in ((("--yes",), {}), (("-p", "x"), {}), (("--yes", "-p", "x"), {}), ((), {"confirm": "never"})):
            self.profile(**profile)
            asks = "--yes" not in arguments and not profile
            out = self.finish(self.terminal("--audit=full", *arguments, start="y\n" if asks else None))
            self.assertNotRegex(out, OFFER)
            self.assertIn("1 conversation of plain claude in this directory", out)
            self.assertIn("--import-conversations", out)
            self.assertEqual((self.copies(), self.answers()), ([], []), arguments)
        self.profile()
        done = self.claudebox("--yes", "--audit=full")
        self.assertIn("--import-conversations", done.stderr)
        self.assertEqual((self.copies(), self.answers()), ([], []))
        self.assertEqual(len(self.left_out()), 1)

    def test_not_asked_for_other_commands(self):
        self.conversation()
        for arguments in (("--shell",), ("--exec", "true")):
            terminal = self.terminal(*arguments)
            if arguments == ("--shell",):
                terminal.send("exit\n")
            self.assertEqual(terminal.wait(20), 0)
            self.assertNotRegex(terminal.output.decode(), OFFER)
        self.assertEqual(self.answers(), [])

    def test_without_conversations_nothing_is_asked(self):
        self.assertNotRegex(self.finish(self.terminal()), OFFER)
        self.assertEqual((self.answers(), self.left_out()), ([], []))

    def test_claude_config_dir(self):
        elsewhere = self.home / "claude config"
        number = self.conversation(where=elsewhere / "projects" / slug(self.project))
        self.imported(env={"CLAUDE_CONFIG_DIR": str(elsewhere)})
        self.assertEqual(self.copies(), self.names(number))

    def test_links_of_the_user_on_the_way(self):
        elsewhere = self.scratch()
        number = self.conversation(where=elsewhere / slug(self.project))
        self.claude.mkdir()
        (self.claude / "projects").symlink_to(elsewhere)
        self.imported()
        self.assertEqual(self.copies(), self.names(number))


class Option(ConversationTest):
    def test_it_copies_and_starts_as_usual(self):
        number = self.conversation()
        done = self.claudebox("--yes", "--import-conversations", "-p", "x")
        self.assertIn("<-p><x>", done.stdout)
        self.assertNotIn("import", done.stdout)
        self.assertIn("copying 1 of 1 conversations", done.stderr)
        self.assertEqual((self.copies(), self.answers()), (self.names(number), ["copied\n"]))

    def test_at_any_time_and_again(self):
        first = self.conversation()
        self.imported()
        second = self.conversation()
        self.assertIn("copying 1 of 1", self.imported())
        self.assertEqual(self.copies(), self.names(first, second))
        self.assertIn("no conversation for this directory that the box lacks", self.imported())

    def test_it_asks_before_the_start_but_not_about_the_copy(self):
        number = self.conversation()
        terminal = self.terminal("--import-conversations", start=None)
        terminal.expect(r"1 conversation of plain claude in this directory: copied into the box")
        terminal.expect(r"Start\? \[y/N\]")
        terminal.send("y\n")
        self.assertEqual(terminal.wait(20), 0)
        self.assertNotRegex(terminal.output.decode(), OFFER)
        self.assertEqual(self.copies(), self.names(number))

    def test_dry_run_changes_nothing(self):
        self.conversation()
        before = tree(self.home)
        plan = self.plan("--import-conversations")
        self.assertTrue(any("--import-conversations" in line for line in plan["warnings"]))
        self.assertEqual(self.claudebox("--dry-run", "--import-conversations").returncode, 0)
        self.assertEqual(tree(self.home), before)

    def test_a_copy_is_never_replaced(self):
        one, two = self.conversation("from the host"), self.conversation("from the host")
        self.imported()
        mine = self.target / f"{one}.jsonl"
        mine.write_text("continued in the box\n")
        (self.target / f"{two}.jsonl").unlink()
        (self.source / f"{one}.jsonl").write_text((self.source / f"{one}.jsonl").read_text() + "{}\n")
        self.imported()
        self.assertEqual(mine.read_text(), "continued in the box\n")
        self.assertIn("from the host", (self.target / f"{two}.jsonl").read_text())

    def test_only_conversations_of_this_directory(self):
        number = self.conversation()
        self.conversation(cwd=self.home / "other", where=self.claude / "projects" / slug(self.home / "other"))
        (self.claude / "history.jsonl").write_text(json.dumps({"display": "a prompt", "project": str(self.project)}) + "\n")
        for name in ("memory/MEMORY.md", f"{number}/subagents/agent-1.jsonl", "agent-12.jsonl", "notes.jsonl", f"{number}.jsonl.bak"):
            (self.source / name).parent.mkdir(parents=True, exist_ok=True)
            (self.source / name).write_text(json.dumps({"cwd": str(self.project)}) + "\n")
        self.imported()
        self.assertEqual(self.copies(), self.names(number))
        self.assertFalse((self.instance / "claude/history.jsonl").exists())

    def test_worktrees_have_their_own(self):
        self.repository(self.project)
        worktree = self.home / "worktree"
        self.git("worktree", "add", "-q", worktree)
        main = self.conversation()
        there = self.conversation(cwd=worktree, where=self.claude / "projects" / slug(worktree))
        self.imported(cwd=worktree)
        self.assertEqual((self.copies(), [path.name for path in self.instance.glob(f"claude/projects/{slug(worktree)}/*")]), ([], self.names(there)))
        self.imported()
        self.assertEqual((self.copies(), len(self.answers())), (self.names(main), 2))


    def test_quiet_says_nothing(self):
        self.conversation()
        self.assertEqual(self.imported("--quiet", "--exec", "true"), "")
        self.assertEqual(self.imported("--quiet", "--exec", "true"), "", "there is none")
        self.assertEqual(len(self.copies()), 1)


class Secrets(ConversationTest):
    def setUp(self):
        super().setUp()
        self.clean = self.conversation()
        self.dirty = self.conversation(f"use {TOKEN} please")

    def test_hits_are_named_and_not_copied(self):
        for arguments in (("--exec", "true"), ("-p", "x")):
            said = self.imported(*arguments)
            self.assertIn(f"secret: {self.dirty}.jsonl, line 2: a GitHub token\n", said)
            self.assertIn("copying 1 of 2 conversations" if arguments[0] == "--exec" else "copying 0 of 1", said)
            self.assertNotIn(TOKEN[8:], said)
            self.assertEqual(self.copies(), self.names(self.clean))

    def test_the_second_question_decides(self):
        for answer, copied in (("\n", (self.clean,)), ("y\n", (self.clean, self.dirty))):
            terminal = self.terminal("--import-conversations")
            terminal.expect(rf"secret: {self.dirty}.jsonl, line 2: a GitHub token")
            terminal.expect(SECOND)
            terminal.send(answer)
            self.assertEqual(terminal.wait(20), 0)
            self.assertNotIn(TOKEN[8:].encode(), terminal.output)
            self.assertEqual(self.copies(), self.names(*copied))

    def test_both_questions(self):
        terminal = self.terminal()
        terminal.expect(OFFER)
        terminal.send("y\n")
        terminal.expect(SECOND)
        terminal.send("n\n")
        self.assertEqual(terminal.wait(20), 0)
        self.assertEqual((self.copies(), self.answers()), (self.names(self.clean), ["copied\n"]))

    def test_places_where_a_secret_can_hide(self):
        head = json.dumps({"cwd": str(self.project)}) + "\n"
        part = 4 * 1024 * 1024
        escaped = "gh\\u0070_" + TOKEN[4:]
        texts = {
            "a long line": head + '{"x": "' + "a " * (part // 2) + TOKEN + '"}\n',
            "the edge of a part": head + " " * (part - len(head) - 20) + TOKEN + " " * part + "\n",
            "the edge of a read": head + '{"x": "' + " " * (part - len(head) - 30) + TOKEN + '"}\n',
            "the last line": head + TOKEN,
            "escapes": head + '{"x": "' + escaped + '"}\n',
            "a key": head + json.dumps({TOKEN: 1}) + "\n",
            "a tool": head + json.dumps({"message": {"content": [{"type": "tool_result", "content": [{"text": f"export T={TOKEN}"}]}]}}) + "\n",
            "behind NUL": head + "\0" + TOKEN + "\n",
            "an image": head + json.dumps({"x": {"data": picture(6000000)}, "y": TOKEN}) + "\n",
            "a private key": head + json.dumps({"x": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n"}) + "\n",
            "a password": head + json.dumps({"x": "curl https://ann:s3cr3tPass9@example.org/"}) + "\n",
            "odd bytes": head + TOKEN + " \udcff\udcfe\n",
        }
        self.imported()
        for what, text in texts.items():
            path = self.source / f"{uuid.uuid4()}.jsonl"
            path.write_bytes(text.encode(errors="surrogateescape"))
            said = self.imported()
            self.assertIn(f"secret: {path.name}, line ", said, what)
            self.assertFalse((self.target / path.name).exists(), what)
            path.unlink()

    def test_long_lines_without_a_secret_are_copied(self):
        path = self.source / f"{uuid.uuid4()}.jsonl"
        path.write_text(json.dumps({"cwd": str(self.project)}) + "\n" + json.dumps({"x": "word " * 3000000}) + "\n")
        self.imported()
        self.assertEqual((self.target / path.name).read_bytes(), path.read_bytes())

    def test_many_hits_are_a_few_lines(self):
        for _ in range(30):
            self.conversation(TOKEN)
        said = self.imported()
        self.assertEqual(len(re.findall("(?m)^secret: ", said)), 11)
        self.assertIn("and in 21 more conversations", said)

    def test_resuming_one_that_is_not_copied_is_an_error(self):
        said = self.refused("--yes", "--import-conversations", "--resume", self.dirty)
        self.assertIn(f"conversation '{self.dirty}' is not copied: it contains something like a secret", said)


class Resume(ConversationTest):
    def test_one_that_only_the_host_has(self):
        number = self.conversation()
        for words in (("--resume", number), ("-r", number), (f"--resume={number}",), ("-p", "x", "--resume", number)):
            said = self.refused("--yes", *words)
            self.assertIn(f"conversation '{number}' is not in the box: only plain claude on this machine has it", said)
            self.assertIn(f"hint: copy the conversations of this directory and resume it: `claudebox --import-conversations --resume {number}`", said)
            self.assertEqual(self.copies(), [])
        done = self.claudebox("--yes", "--import-conversations", "--resume", number)
        self.assertIn(f"<--resume><{number}>", done.stdout)
        done = self.claudebox("--yes", "--resume", number)
        self.assertIn(f"<--resume><{number}>", done.stdout, done.stderr)

    def test_one_to_continue_that_only_the_host_has(self):
        self.conversation()
        for words in (("--continue",), ("-c",), ("-p", "x", "--continue")):
            said = self.refused("--yes", *words)
            self.assertIn("the box has no conversation to continue: only plain claude on this machine has one", said)
            self.assertIn("`claudebox --import-conversations --continue`", said)
        self.assertEqual(self.copies(), [])
        done = self.claudebox("--yes", "--import-conversations", "--continue")
        self.assertIn("<--continue>", done.stdout, done.stderr)
        self.conversation()
        done = self.claudebox("--yes", "--continue")  # the box has one of its own
        self.assertIn("<--continue>", done.stdout, done.stderr)

    def test_after_a_no(self):
        number = self.conversation()
        terminal = self.terminal()
        terminal.expect(OFFER)
        terminal.send("n\n")
        terminal.wait(20)
        self.assertIn("--import-conversations", self.refused("--yes", "--resume", number))

    def test_other_ids_go_to_claude(self):
        number = self.conversation()
        for word in (f"../{slug(self.project)}/{number}", f"{number}/../{number}", "a title", str(uuid.uuid4()), f"{number}\n", "\udcff"):
            done = self.claudebox("--yes", "--resume", word)
            self.assertIn(f"<--resume><{word}>", done.stdout, done.stderr)


class Hostile(ConversationTest):
    """What a box leaves at the destination, and odd files at the source."""

    def test_planted_at_the_destination(self):
        number = self.conversation()
        outside = self.scratch()
        (outside / "victim").write_text("mine\n")
        self.box("true")
        place = slug(self.project)
        plants = (
            f"rm -rf projects; ln -s {outside} projects",
            f"rm -rf projects; mkdir projects; ln -s {outside} projects/{place}",
            f"rm -rf projects; mkdir -p projects/{place}; ln -s {outside}/victim projects/{place}/{number}.jsonl",
            f"rm -rf projects; mkdir -p projects/{place}; ln -s {outside}/new projects/{place}/{number}.jsonl",
            f"rm -rf projects; mkdir -p projects/{place}; mkfifo projects/{place}/{number}.jsonl",
            f"rm -rf projects; mkdir -p projects/{place}/{number}.jsonl",
            "rm -rf projects; mkfifo projects",
            "rm -rf projects; echo x >projects",
            f"rm -rf projects; mkdir projects; echo x >projects/{place}",
            f"rm -rf projects; mkdir -p projects/{place}; chmod 0 projects/{place} projects",
        )
        for plant in plants:
            self.box(f"cd ~/.claude; chmod -R u+rwx projects; {plant}")
            before = tree(outside)
            self.imported(timeout=20)
            self.assertEqual(tree(outside), before, plant)
            self.assertEqual(self.claudebox("--yes", "--exec", "true").returncode, 0)
            if f"{number}.jsonl" not in plant:
                self.assertEqual(self.copies(), self.names(number), plant)

    def test_odd_files_at_the_source(self):
        number = self.conversation()
        secret = self.home / "secret.txt"
        secret.write_text(json.dumps({"cwd": str(self.project), "x": "canary-secret"}) + "\n")
        (self.source / f"{uuid.uuid4()}.jsonl").symlink_to(secret)
        os.mkfifo(self.source / f"{uuid.uuid4()}.jsonl")
        (self.source / f"{uuid.uuid4()}.jsonl").mkdir()
        (self.source / f"{uuid.uuid4()}.jsonl").write_text("")
        (self.source / f"{uuid.uuid4()}.jsonl").write_text("no JSON\n")
        (self.source / f"{uuid.uuid4()}.jsonl").write_text(json.dumps({"type": "summary"}) + "\n")
        (self.source / f"{uuid.uuid4()}.jsonl").write_text("[" * 100000 + "\n")
        os.mkdir(os.fsencode(self.source) + b"/\xff\x1b[31m")
        self.imported(timeout=20)
        self.assertEqual(self.copies(), self.names(number))
        self.assertEqual(self.box("grep -rl canary-secret ~/.claude"), "")

    def test_a_directory_that_is_a_link_to_another_projects(self):
        other = self.home / "other"
        self.conversation(cwd=other, where=self.claude / "projects" / slug(other))
        self.conversation(where=self.claude / "projects" / slug(other))
        self.source.symlink_to(self.claude / "projects" / slug(other))
        self.assertIn("no conversation for this directory", self.imported())
        self.assertEqual(self.copies(), [])

    def test_a_link_that_a_box_can_change_is_not_followed(self):
        """The agent of a project with dotfiles could choose the directory whose files are copied."""
        elsewhere = self.scratch()
        self.conversation(where=elsewhere / "projects" / slug(self.project))
        dotfiles = self.home / "dotfiles"
        dotfiles.mkdir()
        for link, target in ((self.claude, elsewhere), (self.claude / "projects", elsewhere / "projects")):
            with self.subTest(link=link):
                link.parent.mkdir(exist_ok=True)
                link.symlink_to(dotfiles / "planted")
                self.box(f"ln -sfn {target} planted", cwd=dotfiles)
                self.assertIn("no conversation for this directory", self.imported())
                self.assertEqual(self.copies(), [])
                link.unlink()

    def test_another_directory_with_the_same_name(self):
        """Claude gives /x/project and /x-project one directory for their conversations."""
        twin = self.home.parent / f"{self.home.name}-project"
        self.assertEqual(slug(twin), slug(self.project))
        self.conversation("canary of the twin", cwd=twin)
        number = self.conversation()
        self.imported()
        self.assertEqual(self.copies(), self.names(number))

    def test_unreadable(self):
        number = self.conversation()
        self.conversation()
        if os.getuid() == 0:
            return
        for path in self.source.iterdir():
            if path.stem != number:
                path.chmod(0)
        self.imported()
        self.assertEqual(self.copies(), self.names(number))

    def test_a_first_message_with_an_image(self):
        path = self.source / f"{uuid.uuid4()}.jsonl"
        self.source.mkdir(parents=True)
        path.write_text(json.dumps({"message": {"content": [{"data": picture(3000000)}]}, "cwd": str(self.project)}) + "\n")
        self.imported()
        self.assertEqual(self.copies(), [path.name])

    def test_killed_at_any_time(self):
        numbers = [self.conversation("x" * 3000000) for _ in range(6)]
        killed = 0
        for delay in (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7):
            process = subprocess.Popen([CLAUDEBOX, "--yes", "--import-conversations", "--exec", "true"], cwd=self.project, env=self.env,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
            for name in self.copies():  # complete, or under another name
                if not name.startswith(".claudebox-"):
                    self.assertEqual((self.target / name).read_bytes(), (self.source / name).read_bytes())
        self.assertGreater(killed, 0)
        self.imported()
        self.assertEqual([name for name in self.copies() if not name.startswith(".claudebox-")], self.names(*numbers))

    def test_temporary_files_of_a_killed_import_are_removed(self):
        number = self.conversation()
        self.target.mkdir(parents=True)
        self.root.chmod(0o700)
        ended = subprocess.Popen(["true"])
        ended.wait()
        (self.target / f".claudebox-{ended.pid}-{number}.jsonl").write_text("half")
        self.imported()
        self.assertEqual(self.copies(), self.names(number))

    def test_a_full_disk(self):
        numbers = [self.conversation("words " * 60000) for _ in range(4)]
        script = ('mkdir small; mount -t tmpfs -o size=2m,mode=700 tmpfs small; cp -a .claude small/; mkdir small/project; '
                  'export HOME=$PWD/small; cd small/project; '
                  f'mv ../.claude/projects/* "../.claude/projects/$(pwd | tr -c "a-zA-Z0-9\\n" -)"; '
                  'sed -i "s#\\"cwd\\": \\"[^\\"]*project\\"#\\"cwd\\": \\"$PWD\\"#" ../.claude/projects/*/*; '
                  '"$0" --yes --exec true 2>/dev/null; '
                  '"$0" --yes --import-conversations --exec echo started && exit 3; '
                  'find ../.claudebox -name "*.jsonl" -size +0 | wc -l; ls ../.claudebox/instances/*/conversations-* 2>/dev/null || true')
        done = subprocess.run(["unshare", "-Urm", "sh", "-ec", script, CLAUDEBOX], cwd=self.home, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("copying 4 of 4", done.stderr)
        self.assertRegex(done.stderr, "(?m)^claudebox: cannot write conversation '.*': No space left")
        self.assertIn("hint: the disk is full", done.stderr)
        self.assertEqual(done.stdout, "0\n")
        self.assertEqual(len(numbers), 4)


class EndLine(ConversationTest):
    def session(self, body, *arguments, columns=200):
        """Runs a fake claude on a terminal; returns the output and the status."""
        self.env["CLAUDEBOX_CLAUDE"] = str(self.fake_claude(f"d=~/.claude/projects/{slug(self.project)}; mkdir -p $d; {body}"))
        terminal = self.terminal("--yes", *arguments, start=None)
        status = terminal.wait(20)
        return terminal.output.decode(), status

    def write(self, number):
        return f"""echo '{{"type":"user","cwd":"'"$PWD"'","sessionId":"{number}"}}' >$d/{number}.jsonl; """

    def test_the_last_line_resumes(self):
        number = str(uuid.uuid4())
        out, status = self.session(self.write(number) + "echo claude --resume; exit 7")
        self.assertEqual(out.splitlines()[-1], f"resume: claudebox --resume {number}")
        self.assertEqual(status, 7)
        done = self.claudebox("--yes", "--resume", number)
        self.assertEqual(done.returncode, 7)

    def test_the_conversation_that_was_written_last(self):
        old, new = str(uuid.uuid4()), str(uuid.uuid4())
        out, _ = self.session(self.write(new) + self.write(old) + f"touch -d '1 hour ago' $d/{old}.jsonl")
        self.assertIn(f"resume: claudebox --resume {new}\r\n", out)

    def test_nothing_without_a_new_conversation(self):
        number = str(uuid.uuid4())
        self.session(self.write(number))
        for body in (":", "echo '{\"type\":\"mode\"}' >$d/" + str(uuid.uuid4()) + ".jsonl", f"rm -r $d", "rm -r $d; echo x >$d"):
            out, status = self.session(body)
            self.assertNotIn("resume:", out, body)
            self.assertEqual(status, 0)

    def test_not_without_a_screen(self):
        number = str(uuid.uuid4())
        for arguments in (("-p", "x"), ("--print", "x"), ("--exec", str(self.fake_claude()))):
            out, _ = self.session(self.write(number), *arguments)
            self.assertNotIn("resume:", out, arguments)
        done = self.claudebox("--yes")
        self.assertNotIn("resume:", done.stdout + done.stderr)

    def test_a_box_cannot_forge_it(self):
        number = str(uuid.uuid4())
        content = '{"cwd":"/x"}'
        for name in ("$(touch x).jsonl", "../../x.jsonl", f"{number} --yes.jsonl", f"{number};id.jsonl", "\x1b[31m.jsonl", f"{number}\n.jsonl", "x.jsonl",
                     f"{number}.jsonl.x", "-" * 36 + ".jsonl"):
            quoted = name.replace("'", "'\\''")
            out, status = self.session(f"echo '{content}' >$d/'{quoted}'; touch -d '+1 day' $d/*")
            self.assertNotIn("resume:", out, name)
            self.assertEqual(status, 0)
        for plant in (f"ln -s /etc/passwd $d/{number}.jsonl", f"mkfifo $d/{number}.jsonl", f"mkdir $d/{number}.jsonl", f"rm -rf $d; ln -s /etc $d",
                      "rm -rf ~/.claude/projects; ln -s / ~/.claude/projects"):
            out, status = self.session(f"rm -rf $d; mkdir -p $d; {plant}")
            self.assertNotIn("resume:", out, plant)
            self.assertEqual(status, 0)
            self.box("rm -rf ~/.claude/projects")

    def test_thousands_of_files(self):
        number = str(uuid.uuid4())
        out, _ = self.session(f"(cd $d && seq 5000 | xargs touch); {self.write(number)}")
        self.assertIn(f"resume: claudebox --resume {number}", out)


if __name__ == "__main__":
    unittest.main()
