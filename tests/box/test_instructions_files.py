# SPDX-License-Identifier: MIT
"""What the instructions for Claude say about files is true in the box: the project, the home directory, git, what is missing."""
import os
import unittest

from lib.instructions import InstructionsTest

AS_ROOT = True

SHARED = "Sessions in other projects can share the home directory"


class Home(InstructionsTest):
    WRITE = "echo 1 >made; echo 2 >/tmp/made; echo 3 >~/made; echo 4 >~/.claude/made; ls made /tmp/made ~/made ~/.claude/made 2>/dev/null | wc -l"
    READ = "cat made /tmp/made ~/made ~/.claude/made 2>/dev/null; true"

    def sessions(self, count, kept, **keys):
        """Writes to four places in one session and reads them in the next one. Returns the sentences."""
        self.profile(**keys)
        told, output = self.told(self.WRITE)
        self.assertEqual(output, f"{count}\n")
        self.assertEqual(self.box(self.READ).split(), kept)
        for place in (self.home / "made", self.home / ".claude/made"):
            self.assertFalse(place.exists(), "the home directory is not the user's own on the host")
        return told

    def of_another_project(self):
        other = self.home / "other"
        other.mkdir()
        return self.box("cat ~/made 2>/dev/null; true", cwd=other)

    def test_the_session_is_in_a_box(self):
        told, output = self.told("echo $CLAUDEBOX; cat /proc/1/comm; grep -c . /proc/self/mountinfo >/dev/null && ls /proc | grep -c '^[0-9]'")
        self.assertTold(told, "This session runs in a box")
        marked, first, processes = output.split()
        self.assertEqual(marked, "1")
        self.assertNotIn(first, ("systemd", "init"))
        self.assertLess(int(processes), 10)

    def test_home_of_the_project(self):
        told = self.sessions(4, ["1", "3", "4"])
        self.assertTold(told, f"You can write to the project `{self.project}`, to `/tmp` and to your home directory.",
                        "Of these, only the project and your home directory are kept", "Sessions in this project share the home directory")
        self.assertNotTold(told, SHARED, "in memory", "is read-only.")
        self.assertEqual((self.project / "made").read_text(), "1\n")
        self.assertEqual(self.of_another_project(), "")

    def test_home_in_memory(self):
        told = self.sessions(4, ["1", "4"], home="none")
        self.assertTold(told, "Of these, only the project and your own state in `~/.claude` are kept", "Every session has a new home directory, in memory")
        self.assertNotTold(told, "share the home directory", "in the next session.")
        self.assertEqual(self.box("stat -f -c %T ~ /tmp"), "tmpfs\ntmpfs\n")

    def test_shared_home(self):
        told = self.sessions(4, ["1", "3", "4"], home="shared")
        self.assertTold(told, SHARED, "Do not put anything of this project there.", "Of these, only the project and your home directory are kept")
        self.assertEqual(self.of_another_project(), "3\n")

    def test_read_only_project(self):
        told = self.sessions(3, ["3", "4"], project="read-only")
        self.assertTold(told, f"The project `{self.project}` is read-only.", "You can write to `/tmp` and to your home directory.",
                        "Of these, only your home directory is kept after this session.")
        self.assertNotTold(told, "put results in the project", "into the project or")

    def test_read_only_project_with_a_home_in_memory(self):
        told = self.sessions(3, ["4"], project="read-only", home="none")
        self.assertTold(told, "Of these, only your own state in `~/.claude` is kept after this session.")

    def test_mounts_of_the_user(self):
        for name in ("read", "write"):
            (self.home / name).mkdir()
        told, output = self.told("echo 1 >~/read/x; echo 2 >~/write/x; ls ~/read ~/write", options=("--mount-ro", "~/read", "--mount-rw", "~/write"))
        self.assertTold(told, f"The user added `{self.home}/read`, read-only.", f"The user added `{self.home}/write`; you can write to it, and changes are kept.")
        self.assertEqual(output.split()[-1], "x")
        self.assertEqual(((self.home / "write/x").read_text(), os.listdir(self.home / "read")), ("2\n", []))
        self.assertNotTold(self.told("true")[0], "The user added")


class Git(InstructionsTest):
    WORKS = "git works, including commits."

    def setUp(self):
        super().setUp()
        self.main = self.repository(self.home / "main")

    def commit(self, place):
        """A script that commits a new file of a directory and prints the subject."""
        return f"cd {place} && echo new >new.txt && git add new.txt && git commit -qm 'of the box' && git log -1 --format=%s"

    def test_subdirectory_of_a_repository(self):
        sub = self.main / "sub"
        sub.mkdir()
        told, output = self.told(f"echo x >../file.txt; echo x >../planted; {self.commit('.')}", cwd=sub)
        self.assertTold(told, f"The rest of the worktree `{self.main}` is read-only.", self.WORKS, "claudebox adds no keys and no passwords")
        self.assertNotTold(told, "linked worktree")
        self.assertEqual(output, "of the box\n")
        self.assertEqual(self.git("log", "-1", "--format=%s", cwd=self.main), "of the box\n")
        self.assertEqual(((self.main / "file.txt").read_text(), (self.main / "planted").exists()), ("one\n", False))

    def test_linked_worktree(self):
        linked = self.home / "linked"
        self.git("worktree", "add", "-q", linked, cwd=self.main)
        told, output = self.told(f"{self.commit('.')}; ls -A {self.main}; echo x >{self.main}/unseen && echo written", cwd=linked)
        self.assertTold(told, "This is a linked worktree.", f"Of the main worktree `{self.main}`, only the git directory is in the box", self.WORKS)
        self.assertNotTold(told, "The rest of the worktree")
        self.assertEqual(output, "of the box\n.git\nwritten\n")
        self.assertFalse((self.main / "unseen").exists())
        self.assertEqual(self.git("log", "-1", "--format=%s", cwd=linked), "of the box\n")

    def test_worktree_in_the_main_worktree(self):
        inner = self.main / "inner"
        self.git("worktree", "add", "-q", inner, cwd=self.main)
        told, output = self.told(f"{self.commit('.')}; ls -A {self.main}; echo x >{self.main}/unseen", cwd=inner)
        self.assertTold(told, f"Of the main worktree `{self.main}`, only the git directory and this worktree are in the box")
        self.assertEqual(output, "of the box\n.git\ninner\n")
        self.assertFalse((self.main / "unseen").exists())

    def test_parts_of_the_main_worktree_that_the_user_added(self):
        linked = self.home / "linked"
        self.git("worktree", "add", "-q", linked, cwd=self.main)
        (self.main / "sub").mkdir()
        (self.main / "sub/file").write_text("added\n")
        told, output = self.told(f"cat {self.main}/sub/file; ls -A {self.main}", options=("--mount-ro", self.main / "sub"), cwd=linked)
        self.assertTold(told, f"Of the main worktree `{self.main}`, only the git directory is in the box, unless the user added more")
        self.assertEqual(output, "added\n.git\nsub\n")
        done = self.claudebox("--yes", "--mount-ro", self.main, "--exec", "true", cwd=linked)
        self.assertIn("would hide", done.stderr)

    def test_without_commits_git_is_not_mentioned(self):
        self.assertNotTold(self.told("true")[0], "git works", "worktree")
        self.profile(project="read-only")
        told, output = self.told(f"{self.commit('.')} 2>/dev/null || echo refused", cwd=self.main)
        self.assertNotTold(told, "git works")
        self.assertEqual(output, "refused\n")


class Missing(InstructionsTest):
    SECRETS = (".ssh/id_ed25519", ".gnupg/private-keys-v1.d/x.key", ".aws/credentials", ".config/gcloud/credentials.db", ".kube/config",
               ".cargo/credentials.toml", ".docker/config.json", ".bash_history", "other/notes", "Documents/letter")
    SOCKETS = ("/run/docker.sock", "/var/run/docker.sock", "/run/podman", "/run/dbus", "/tmp/.X11-unix", "/run/user/*/bus", "/run/user/*/wayland-*",
               "/run/user/*/pipewire-*")
    VARIABLES = ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "SSH_AUTH_SOCK", "DOCKER_HOST", "GPG_AGENT_INFO")

    def test_what_is_not_in_the_box(self):
        for name in self.SECRETS:
            place = self.home / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("CANARY\n")
        (self.home / ".npmrc").write_text("//npm.corp.example/:_authToken=CANARY\n")
        env = {name: "/tmp/CANARY" for name in self.VARIABLES}
        told, output = self.told(f"grep -rls CANARY ~ /run /etc /tmp; ls -d {' '.join(self.SOCKETS)} 2>/dev/null; env | grep -E '^({'|'.join(self.VARIABLES)})='; "
                                 "cat ~/other/notes 2>&1 | grep -o 'No such file.*'; mkdir /x 2>&1 | grep -o 'Read-only.*'; "
                                 "cat /proc/1/environ 2>&1 | grep -io 'permission denied'", env=env)
        self.assertTold(told, "Not in the box, unless the user added it", "If the box refuses an operation or lacks a file", "Tell the user what you need")
        self.assertEqual(output.lower().splitlines(), ["no such file or directory", "read-only file system", "permission denied"])
        # What the user adds is there.
        name = self.SECRETS[2]
        self.assertEqual(self.told(f"cat ~/{name}", options=("--mount-ro", f"~/{name}"))[1], "CANARY\n")


if __name__ == "__main__":
    unittest.main()
