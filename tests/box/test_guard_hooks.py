# SPDX-License-Identifier: MIT
"""Hooks that a tool generates at each install: the box writes a copy of the directory, which the host never executes."""
import os
import pathlib
import signal
import subprocess

from box import kernel
from box.test_guard import RENAME, GuardTest
from lib.box import until
from lib.broken import Broken, verdicts
from lib.instructions import InstructionsTest

AS_ROOT = True

# Does what husky 9 does in the script `prepare`: its index.js and the file `husky` of its package, in shell.
HUSKY = r"""set -e
git config core.hooksPath .husky/_
rm -f .husky/_/husky.sh
mkdir -p .husky/_
printf '*' >.husky/_/.gitignore
cat >.husky/_/h <<'END'
#!/usr/bin/env sh
n=$(basename "$0")
s=$(dirname "$(dirname "$0")")/$n
[ ! -f "$s" ] && exit 0
export PATH="node_modules/.bin:$PATH"
sh -e "$s" "$@"
END
for n in pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit applypatch-msg pre-applypatch post-applypatch pre-rebase \
    post-rewrite post-checkout post-merge pre-push pre-auto-gc; do
    [ -e ".husky/_/$n" ] || { : >".husky/_/$n"; chmod 755 ".husky/_/$n"; }
    printf '#!/usr/bin/env sh\n. "$(dirname "$0")/h"' >".husky/_/$n"
done
printf 'echo "husky - DEPRECATED"\n' >.husky/_/husky.sh
"""
LINE = "guard: changes of '.husky/_' stayed in the box (claudebox --quarantine has them)"


class Husky(GuardTest, InstructionsTest):
    def setUp(self):
        super().setUp()
        (self.project / ".husky").mkdir()
        (self.project / ".husky/pre-commit").write_text("echo hook >>hook.log\n")
        (self.project / "install.sh").write_text(HUSKY)
        (self.project / ".gitignore").write_text("hook.log\n")
        self.git("add", ".")
        self.git("commit", "-qm", "husky")
        self.hooks = self.project / ".husky/_"

    def install(self):
        subprocess.run(["sh", "install.sh"], cwd=self.project, env=self.env, check=True)

    def files(self):
        return {path.name: (path.read_text(), path.stat().st_mode) for path in self.hooks.iterdir()}

    def run_box(self, script):
        done = self.claudebox("--yes", "--exec", "sh", "-c", script)
        self.assertNotEqual(done.returncode, 125, done.stderr)
        return done

    def test_an_install_works_and_changes_nothing_outside(self):
        self.install()
        before, inode = self.files(), self.hooks.stat().st_ino
        for _ in range(2):
            done = self.run_box("sh install.sh && sh install.sh && echo installed")
            self.assertEqual(done.stdout, "installed\n", done.stderr)
            self.assertNotIn("guard: ", done.stderr)
        self.assertEqual((self.files(), self.hooks.stat().st_ino), (before, inode))
        self.assertEqual(self.quarantine(), [])
        self.assertEqual(list(self.home.glob(".claudebox/instances/*/git-config-*")), [])

    def test_git_in_the_box_runs_the_hooks(self):
        self.install()
        self.assertEqual(self.run_box("git commit -q --allow-empty -m x && cat hook.log").stdout, "hook\n")
        done = self.run_box(r"printf '#!/bin/sh\necho own >>hook.log\n' >.husky/_/commit-msg; chmod +x .husky/_/commit-msg; "
                            "git commit -q --allow-empty -m x; tail -1 hook.log")
        self.assertEqual(done.stdout, "own\n", done.stderr)

    def test_what_the_box_writes_is_not_executed_outside_and_not_lost(self):
        self.install()
        before = self.files()
        done = self.run_box(RENAME + f"""
        printf '#!/bin/sh\\ntouch {self.marker}\\n' >.husky/_/pre-commit; cp .husky/_/pre-commit .husky/_/new-hook
        chmod +x .husky/_/new-hook; rm .husky/_/h; mkdir .husky/_/d; ln -s /nowhere .husky/_/link
        r .husky h || echo parent; r .husky/_ away || echo pinned; rmdir .husky/_ || echo kept; sleep 0.3""")
        self.assertEqual(done.stdout, "parent\npinned\nkept\n")
        self.assertIn(LINE, done.stderr)
        self.assertEqual(self.files(), before)
        self.assertFalse(self.trigger())
        self.assertEqual(self.quarantine(), [".husky/_"])
        item = next(self.home.glob(".claudebox/instances/*/quarantine/*/item"))
        self.assertIn(str(self.marker), (item / "new-hook").read_text())
        self.assertEqual(os.readlink(item / "link"), "/nowhere")
        self.assertIn("another file is at its place", self.claudebox("--quarantine=1", "--yes").stderr)

    def test_hostile_copies(self):
        """The box can also reach the copy itself: removed, closed, replaced, too large, a FIFO in it."""
        self.install()
        before = self.files()
        copy = "cd /run/claudebox/git-config; "
        for number, script in enumerate(("chmod 0 .husky/_", copy + "rm -rf hooks-*", copy + "mv hooks-* other; ln -s /etc hooks-1", copy + "rm -rf hooks-*; mkfifo hooks-1",
                                         "rm .husky/_/h; mkfifo .husky/_/h", "head -c 2000000 /dev/zero >.husky/_/h", "chmod 644 .husky/_/pre-commit",
                                         "i=0; while [ $i -lt 100 ]; do : >.husky/_/$i; i=$((i+1)); done")):
            with self.subTest(script):
                done = self.run_box(script)
                if number:
                    self.assertIn("guard: changes of '.husky/_' stayed in the box", done.stderr)
                self.assertEqual(self.files(), before)
                self.assertEqual(list(self.home.glob(".claudebox/instances/*/git-config-*")), [])

    def test_a_killed_launch_loses_nothing(self):
        self.install()
        process = self.start("echo mine >.husky/_/h; echo ready; sleep 60")
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertTrue(until(lambda: not pathlib.Path(f"/proc/{process.pid}").exists()))
        self.assertTrue(until(lambda: LINE.removeprefix("guard: ") in self.run_box("true").stderr))
        self.assertEqual(self.quarantine(), [".husky/_"])

    def test_the_host_installs_meanwhile(self):
        self.install()
        script = self.project / "install.sh"
        for replaced in (False, True):
            process = self.start("echo ready; while [ ! -e go ]; do sleep 0.01; done; sleep 0.4; sh install.sh && echo installed; echo mine >.husky/_/h; sleep 0.2")
            self.assertEqual(process.stdout.readline(), "ready\n")
            if replaced:
                subprocess.run(["rm", "-rf", self.hooks], check=True)
            script.write_text(HUSKY.replace("set -e\n", f"set -e\n# {replaced}\n", 1).replace("DEPRECATED", f"DEPRECATED {replaced}"))
            self.install()
            after = None if replaced else self.files()  # the guard may move new ones meanwhile
            (self.project / "go").touch()
            out, err = process.communicate(timeout=60)
            self.assertEqual(out, "installed\n", err)
            if not replaced:
                self.assertEqual(self.files(), after)
            # Files in a directory that the host has removed and created again may be the box's.
            self.assertEqual([path for path in self.hooks.glob("*") if path.read_text() == "mine\n"], [])
            (self.project / "go").unlink()

    def test_two_boxes(self):
        self.install()
        first = self.start("echo one >.husky/_/h; echo ready; while [ ! -e go ]; do sleep 0.01; done; cat .husky/_/h")
        self.assertEqual(first.stdout.readline(), "ready\n")
        self.assertEqual(self.run_box("head -1 .husky/_/h; echo two >.husky/_/h").stdout, "#!/usr/bin/env sh\n")
        (self.project / "go").touch()
        out, err = first.communicate(timeout=60)
        self.assertEqual(out, "one\n", err)
        self.assertEqual(self.quarantine(), [".husky/_", ".husky/_"])

    def test_a_fresh_clone(self):
        """The first install is in the box: the files are moved, and nothing of it stays. After one outside, installs work."""
        done = self.run_box("sh install.sh && echo installed; sleep 0.4")
        self.assertEqual(done.stdout, "installed\n")
        self.assertIn("core.hookspath", done.stderr)
        self.assertFalse(self.hooks.exists())
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assertEqual(self.run_box("sh install.sh && echo installed; sleep 0.4").stdout, "installed\n")
        self.install()
        self.assertEqual(self.run_box("sh install.sh && echo installed").stdout, "installed\n")

    def test_it_is_shown(self):
        self.install()
        mounts = {os.path.relpath(place["path"], self.project): place["mount"] for place in self.plan()["guard"]["places"]}
        self.assertEqual((mounts[".husky"], mounts[".husky/_"]), ("pinned", "copy"))
        self.assertFalse([path for path in mounts if path.startswith(".husky/_/")])
        self.assertIn("copy       .husky/_ (", self.claudebox("--yes", "--audit=full", "--exec", "true").stderr)
        self.assertIn("except the directory: '.husky/_'", self.refused("--yes", "--unprotect", ".husky/_/h", "--exec", "true", status=2))
        done = self.claudebox("--yes", "--unprotect", ".husky/_", "--exec", "sh", "-c", "echo box >.husky/_/h; sleep 0.2")
        self.assertEqual((self.hooks / "h").read_text(), "box\n", done.stderr)


    def test_the_instructions_name_the_copy(self):
        self.install()
        told, _ = self.told("true")
        self.assertTold(told, "`.husky/_` is a copy of the user's directory with generated hooks")
        (self.hooks / ".gitignore").write_text("x\n")
        told, _ = self.told("true")
        self.assertNotTold(told, "`.husky/_` is a copy")

    def test_without_mounts_of_copies_the_directory_is_read_only(self):
        self.install()
        before = self.files()
        done = self.claudebox("--yes", "--exec", "sh", "-c", "echo x >.husky/_/h || echo refused", preexec_fn=kernel.without("open_tree", "move_mount"))
        self.assertEqual(done.stdout, "refused\n", done.stderr)
        self.assertEqual(self.files(), before)

    def test_the_attack_program_finds_no_way_in(self):
        self.install()
        before = self.files()
        broken = Broken(self)
        done, proof = broken.prove("--network", "none")
        self.assertEqual(verdicts(proof)["project-write"], "blocked", done.stderr)
        kinds = {row[1]: row[2] for row in broken.canaries() if row[0] == "place"}
        self.assertRegex(kinds[str(self.hooks)], r"^/run/claudebox/git-config/hooks-\d+$")
        self.assertEqual(self.files(), before)


class Others(GuardTest):
    def mount(self, path):
        return {os.path.relpath(place["path"], self.project): place["mount"] for place in self.plan()["guard"]["places"]}.get(path)

    def hooks(self, path, ignore="*\n"):
        directory = self.project / path
        directory.mkdir(parents=True)
        (directory / "pre-commit").write_text("#!/bin/sh\n")
        (directory / ".gitignore").write_text(ignore)
        return directory

    def test_husky_8_has_its_hooks_beside_the_generated_directory(self):
        self.git("config", "core.hooksPath", ".husky")
        (self.project / ".husky").mkdir()
        (self.project / ".husky/pre-commit").write_text("#!/bin/sh\n")
        self.git("add", ".")
        self.git("commit", "-qm", "husky")
        self.hooks(".husky/_")
        self.assertEqual(self.box("echo x >.husky/_/husky.sh && echo written; echo x >.husky/_/pre-commit && echo written"), "written\nwritten\n")
        self.assertFalse((self.project / ".husky/_/husky.sh").exists())
        self.assertEqual((self.project / ".husky/_/pre-commit").read_text(), "#!/bin/sh\n")

    def test_hooks_that_the_user_wrote_are_read_only(self):
        self.git("config", "core.hooksPath", "tools/hooks")
        directory = self.hooks("tools/hooks", ignore="*.log\n")
        self.assertEqual(self.mount("tools/hooks"), "read-only")
        (directory / ".gitignore").write_text("*\n!pre-commit\n")
        self.assertEqual(self.mount("tools/hooks"), "read-only")
        (directory / ".gitignore").write_text("*\n")
        self.assertEqual(self.mount("tools/hooks"), "copy")
        (directory / "d").mkdir()
        self.assertEqual(self.mount("tools/hooks"), "read-only")
        (directory / "d").rmdir()
        (directory / "link").symlink_to("pre-commit")
        self.assertEqual(self.mount("tools/hooks"), "read-only")
        (directory / "link").unlink()
        (directory / "large").write_text("x" * 70000)
        self.assertEqual(self.mount("tools/hooks"), "read-only")
        (directory / "large").unlink()
        self.git("add", "-f", "tools/hooks/pre-commit")
        self.assertEqual(self.mount("tools/hooks"), "pinned")
        self.assertEqual(self.mount("tools/hooks/.gitignore"), "read-only")

    def test_other_directories_that_ignore_themselves_are_read_only(self):
        self.hooks(".vscode")
        self.assertEqual(self.mount(".vscode"), "read-only")
        self.assertEqual(self.box("echo x >.vscode/tasks.json || echo refused"), "refused\n")
