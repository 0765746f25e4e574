# SPDX-License-Identifier: MIT
"""git in the box: it works at every place of a project in its repository, and a forged .git opens no other repository."""
import hashlib
import os
import subprocess
import time
import unittest

from lib.box import BoxTest, tree

AS_ROOT = True
COMMIT = 'echo two >>file.txt && git commit -qam second && git log -1 --format="%s|%an|%ae|%cn|%ce|%G?"'
COMMITTED = "second|Ann|ann@example.org|Ann|ann@example.org|N\n"


class GitTest(BoxTest):
    def run_box(self, script, cwd, **options):
        done = self.claudebox("--yes", "--exec", "sh", "-c", script, cwd=cwd, **options)
        self.assertNotEqual(done.returncode, 125, done.stderr)
        return done

    def host_mounts(self, cwd):
        """Returns the host paths that are mounted for the project."""
        return {mount["host"]: mount["kind"] for mount in self.plan(cwd=cwd)["mounts"]
                if mount["kind"] in ("read-only", "read-write") and str(mount["host"]).startswith(str(self.home))
                and "/.claudebox/" not in mount["host"] and not mount["host"].endswith("/bin/claude")}

    def instance(self, cwd):
        return os.path.basename(self.plan(cwd=cwd)["instance"])


class Secrets(GitTest):
    def test_a_login_in_the_configuration_gives_a_warning(self):
        top = self.repository(self.home / "repo")
        secret = "ghp_" + hashlib.sha256(os.urandom(8)).hexdigest()[:36]
        self.git("remote", "add", "origin", f"https://{secret}@github.com/a/b.git", cwd=top)
        self.git("worktree", "add", "-q", self.home / "tree", cwd=top)
        self.git("remote", "add", "clean", "https://github.com/a/b.git", cwd=top)
        for cwd in (top, self.home / "tree"):
            warnings = "\n".join(self.plan(cwd=cwd)["warnings"])
            self.assertIn("git configuration", warnings)
            self.assertIn("remote.origin.url", warnings)
            self.assertIn("git remote set-url", warnings)
            self.assertNotIn("remote.clean", warnings)
            self.assertNotIn(secret, warnings)

    def test_secrets_in_the_repository_around_the_project_give_a_warning(self):
        top = self.repository(self.home / "repo")
        (top / "a/b").mkdir(parents=True)
        (top / "deploy").mkdir()
        for name in ("deploy/.env", "a/b/.env", "README.env.example"):
            (top / name).write_text("x")
        warnings = "\n".join(self.plan(cwd=top / "a/b")["warnings"])
        self.assertIn("files in the repository around the project that look like secrets: deploy/.env", warnings)
        self.assertIn("files in the project that look like secrets: .env", warnings)
        self.assertNotIn("a/b/.env", warnings)
        self.assertNotIn("around", "\n".join(self.plan(cwd=top)["warnings"]))


class Repository(GitTest):
    def test_plain_repository(self):
        self.repository(self.project)
        done = self.run_box("git status --porcelain; " + COMMIT, self.project)
        self.assertEqual(done.stdout, COMMITTED, done.stderr)
        self.assertEqual(self.git("log", "-1", "--format=%s %an"), "second Ann\n")
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.git("fsck", "--strict")

    def test_subdirectory(self):
        top = self.repository(self.home / "repo")
        sub = top / "a" / "b"
        sub.mkdir(parents=True)
        (sub / "file.txt").write_text("inner\n")
        (top / "outside.txt").write_text("outside\n")
        self.git("add", ".", cwd=top)
        self.git("commit", "-qm", "more", cwd=top)
        done = self.run_box("git status --porcelain; (echo change >>../../outside.txt; rm -f ../../outside.txt; touch ../../new; mkdir ../x) 2>/dev/null; "
                            + COMMIT + "; git show --stat --format= HEAD", sub)
        self.assertIn(COMMITTED, done.stdout)
        self.assertNotIn("outside", done.stdout)
        self.assertEqual(done.stdout.splitlines()[0], COMMITTED.strip())
        self.assertEqual((top / "outside.txt").read_text(), "outside\n")
        self.assertFalse((top / "new").exists() or (top / "a" / "x").exists())
        self.assertEqual(self.git("ls-files", cwd=top).split(), ["a/b/file.txt", "file.txt", "outside.txt"])

    def test_linked_worktree(self):
        main = self.repository(self.home / "main")
        (main / "secret-uncommitted.txt").write_text("canary")
        tree_path = self.home / "linked"
        self.git("worktree", "add", "-q", "-b", "topic", tree_path, cwd=main)
        done = self.run_box("git status --porcelain; " + COMMIT, tree_path)
        self.assertEqual(done.stdout, COMMITTED, done.stderr)
        self.assertEqual(self.git("log", "-1", "--format=%s", "topic", cwd=main), "second\n")
        self.assertEqual(self.host_mounts(tree_path), {str(tree_path): "read-write", str(main / ".git"): "read-write"})
        self.assertEqual(self.run_box(f"cat {main}/secret-uncommitted.txt {main}/file.txt", tree_path).stdout, "")

    def test_subdirectory_of_a_linked_worktree(self):
        main = self.repository(self.home / "main")
        (main / "sub").mkdir()
        (main / "sub" / "file.txt").write_text("x\n")
        self.git("add", ".", cwd=main)
        self.git("commit", "-qm", "sub", cwd=main)
        linked = self.home / "linked"
        self.git("worktree", "add", "-q", "-b", "topic", linked, cwd=main)
        done = self.run_box("git status --porcelain; " + COMMIT, linked / "sub")
        self.assertEqual(done.stdout, COMMITTED, done.stderr)

    def test_worktree_inside_the_main_repository(self):
        main = self.repository(self.project)
        linked = main / ".worktrees" / "topic"
        self.git("worktree", "add", "-q", "-b", "topic", linked, cwd=main)
        self.assertEqual(self.run_box(COMMIT, linked).stdout, COMMITTED)
        self.assertEqual(self.git("status", "--porcelain", "-uno", cwd=main), "")

    def submodule(self):
        inner = self.repository(self.home / "inner")
        outer = self.repository(self.home / "outer")
        self.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "lib", cwd=outer)
        self.git("commit", "-qm", "submodule", cwd=outer)
        return outer

    def test_submodule_as_project(self):
        outer = self.submodule()
        done = self.run_box("git status --porcelain; " + COMMIT, outer / "lib")
        self.assertEqual(done.stdout, COMMITTED, done.stderr)
        self.assertEqual(self.git("log", "-1", "--format=%s", cwd=outer / "lib"), "second\n")
        self.assertEqual(self.host_mounts(outer / "lib"),
                         {str(outer / "lib"): "read-write", str(outer / ".git/modules/lib"): "read-write"})

    def test_superproject(self):
        outer = self.submodule()
        done = self.run_box(f"cd lib && {COMMIT} && cd .. && git commit -qam bump && git status --porcelain", outer)
        self.assertEqual(done.stdout, COMMITTED, done.stderr)

    def test_worktree_of_a_bare_repository(self):
        source = self.repository(self.home / "source")
        bare = self.home / "bare.git"
        self.git("clone", "-q", "--bare", source, bare, cwd=self.home)
        linked = self.home / "checkout"
        self.git("worktree", "add", "-q", linked, "main", cwd=bare)
        done = self.run_box("git status --porcelain; " + COMMIT, linked)
        self.assertEqual(done.stdout, COMMITTED, done.stderr)

    def test_separate_git_dir(self):
        """With --separate-git-dir the git directory does not name the worktree, so it cannot be verified."""
        self.git("config", "--global", "user.name", "Ann", cwd=self.home)
        self.git("init", "-q", "--separate-git-dir", self.home / "store.git", self.project)
        done = self.claudebox("--yes", "--exec", "true")
        self.assertEqual(done.returncode, 0)
        self.assertIn("does not point back", done.stderr)

    def test_not_a_repository(self):
        done = self.run_box("git status; git init -q . && git commit -q --allow-empty -m first && git log --format=%s", self.project)
        self.assertEqual(done.stdout, "first\n")
        self.assertIn("not a git repository", done.stderr)

    def test_an_unborn_repository(self):
        self.git("init", "-q", self.project)
        self.assertEqual(self.run_box("git commit -q --allow-empty -m first && git log --format=%s", self.project).stdout, "first\n")

    def test_identity_of_the_repository_wins(self):
        self.repository(self.project)
        self.git("config", "user.email", "work@example.com")
        self.assertEqual(self.run_box("git commit -q --allow-empty -m x; git log -1 --format=%ae", self.project).stdout, "work@example.com\n")

    def test_identity_from_an_included_file(self):
        (self.home / "work.inc").write_text("[user]\n\temail = included@example.com\n")
        self.repository(self.project)
        with open(self.home / ".gitconfig", "a", encoding="utf-8") as file:
            file.write(f'[includeIf "gitdir:{self.project}/"]\n\tpath = work.inc\n')
        self.assertEqual(self.run_box("git commit -q --allow-empty -m x; git log -1 --format=%ae", self.project).stdout,
                         "included@example.com\n")

    def test_hostile_identity_stays_an_identity(self):
        name = 'A"\n[core]\n\tsshCommand = touch /tmp/x\\ ; #'
        self.repository(self.project, name=name)
        out = self.run_box("git config --list --show-origin | grep -v '^file:.git/config'; git var GIT_AUTHOR_IDENT", self.project).stdout
        self.assertNotIn("core.sshcommand", out.lower().replace(name.lower(), ""))
        self.assertEqual(self.run_box("git config core.sshCommand", self.project).stdout, "")

    def test_an_identity_with_a_secret_stays_outside(self):
        token = "ghp_" + "a1B2c3" * 6
        for name, email, kept in ((f"Ann sk-ant-api03-{'x1Y2' * 20}", "ann@example.org", "Claude User <ann@example.org>"),
                                  ("Ann", f"https://bob:{token}@github.com", "Ann <claude@localhost>")):
            with self.subTest(email=email):
                self.git("config", "--global", "user.name", name, cwd=self.home)
                self.git("config", "--global", "user.email", email, cwd=self.home)
                self.assertIn(kept, self.box("git var GIT_AUTHOR_IDENT; cat /etc/gitconfig >/dev/null"))
                for option in ("--dry-run", "--dry-run=json", "--check"):
                    done = self.claudebox(option, "--exec", "true") if option != "--check" else self.claudebox(option)
                    self.assertNotIn("sk-ant", done.stdout + done.stderr)
                    self.assertNotIn(token, done.stdout + done.stderr)
                left_out = {row["what"]: row["why"] for row in self.plan()["left_out"]}
                self.assertEqual(left_out["git user.name" if name != "Ann" else "git user.email"], "they contain something like a login or a token")

    def test_a_missing_identity_on_the_host_is_reported(self):
        self.git("init", "-q", self.project)
        done = self.run_box("git commit -q --allow-empty -m x && git log -1 --format=%s", self.project)
        self.assertEqual(done.stdout, "x\n")
        self.assertIn("user.name", done.stderr)

    def test_safe_directory_trusts_the_project(self):
        self.repository(self.project)
        self.assertEqual(self.run_box("git config --get-all safe.directory", self.project).stdout.split("\n")[0], str(self.project))
        odd = self.repository(self.home / 'with "quotes" and \\ é')
        self.assertEqual(self.run_box("git config --get-all safe.directory; git rev-parse HEAD >/dev/null && echo ok", odd).stdout,
                         f"{odd}\n{odd}/*\nok\n")

    def test_a_path_with_newline(self):
        odd = self.repository(self.home / "new\nline")
        self.assertEqual(self.run_box(COMMIT, odd).stdout, COMMITTED)


class Canonical(GitTest):
    """The instance belongs to the repository, not to the working directory."""

    @staticmethod
    def digest(path):
        return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]

    def test_instance_is_the_digest_of_the_canonical_root(self):
        self.assertEqual(self.instance(self.project), self.digest(self.project))
        self.repository(self.project)
        self.assertEqual(self.instance(self.project), self.digest(self.project))

    def test_instance_is_shared_by_subdirectories_and_worktrees(self):
        main = self.repository(self.home / "main")
        (main / "a" / "b").mkdir(parents=True)
        linked = self.home / "linked"
        self.git("worktree", "add", "-q", "-b", "topic", linked, cwd=main)
        wanted = self.digest(main)
        self.assertEqual([self.instance(path) for path in (main, main / "a/b", linked)], [wanted] * 3)

    def test_two_repositories_have_two_instances(self):
        one, two = self.repository(self.home / "one"), self.repository(self.home / "two")
        self.assertNotEqual(self.instance(one), self.instance(two))

    def test_a_path_that_is_not_utf_8(self):
        path = os.fsencode(self.home) + b"/odd-\xff"
        os.mkdir(path)
        self.assertEqual(self.instance(os.fsdecode(path)), hashlib.sha256(path).hexdigest()[:16])


class NoKeys(GitTest):
    def test_a_repository_that_requests_signatures(self):
        self.repository(self.project)
        self.git("config", "commit.gpgsign", "true")
        self.git("config", "tag.gpgSign", "true")
        self.git("config", "user.signingkey", "ABCDEF")
        done = self.run_box(COMMIT + " && git tag -m t v1 && echo tagged", self.project)
        self.assertEqual(done.stdout, COMMITTED + "tagged\n", done.stderr)
        self.assertIn("not signed", done.stderr)

    def test_a_host_that_requests_signatures(self):
        self.repository(self.project)
        self.git("config", "--global", "commit.gpgsign", "true")
        self.git("config", "--global", "gpg.format", "ssh")
        self.git("config", "--global", "user.signingkey", "~/.ssh/id_ed25519")
        self.assertEqual(self.run_box(COMMIT, self.project).stdout, COMMITTED)

    def test_the_hosts_git_configuration_is_not_in_the_box(self):
        self.repository(self.project)
        self.git("config", "--global", "credential.helper", "store")
        self.git("config", "--global", "url.https://user:canary@example.org/.insteadOf", "gh:")
        self.git("config", "--global", "http.extraHeader", "Authorization: canary")
        self.git("config", "--global", "core.sshCommand", "canary")
        self.git("config", "--global", "alias.x", "!canary")
        (self.home / ".git-credentials").write_text("https://u:canary@example.org\n")
        (self.home / ".config/git").mkdir(parents=True)
        (self.home / ".config/git/config").write_text("[x]\n\ty = canary\n")
        (self.home / ".config/git/credentials").write_text("canary\n")
        out = self.run_box('git config --list --show-origin; cat ~/.gitconfig ~/.config/git/* ~/.git-credentials /etc/gitconfig 2>/dev/null; '
                           'git config credential.helper; env; printf "protocol=https\\nhost=example.org\\n\\n" | GIT_TERMINAL_PROMPT=0 git credential fill',
                           self.project, env={"SSH_AUTH_SOCK": "/canary", "GIT_ASKPASS": "/canary", "SSH_ASKPASS": "/canary",
                                              "GPG_AGENT_INFO": "/canary", "GIT_SSH_COMMAND": "canary", "GNUPGHOME": "/canary"}).stdout
        self.assertNotIn("canary", out)
        self.assertNotIn("credential", out)
        self.assertIn("user.name=Ann", out)

    def test_no_agent_socket(self):
        self.assertEqual(self.box('echo "$SSH_AUTH_SOCK$GPG_TTY$GPG_AGENT_INFO"; ls -A ~/.gnupg ~/.ssh 2>/dev/null',
                                  env={"SSH_AUTH_SOCK": "/x", "GPG_TTY": "/x"}), "\n")


class Hostile(GitTest):
    """A box can write .git: its content is used only when the git directory points back."""

    def check_forged(self, content, warning="git is not available"):
        """Checks that a .git file with this content adds no mount and causes a warning."""
        (self.project / ".git").write_text(content)
        before = tree(self.home / "other") if (self.home / "other").exists() else None
        self.assertEqual(self.host_mounts(self.project), {str(self.project): "read-write"})
        done = self.run_box("ls; git status", self.project)
        self.assertIn("Warnings:", done.stderr)
        self.assertIn(warning, done.stderr)
        self.assertEqual(self.instance(self.project), hashlib.sha256(os.fsencode(self.project)).hexdigest()[:16])
        if before is not None:
            self.assertEqual(tree(self.home / "other"), before)
        return done

    def test_another_projects_git_directory(self):
        other = self.repository(self.home / "other")
        for content in (f"gitdir: {other}/.git\n", f"gitdir: {other}/.git", "gitdir: ../other/.git\n", f"gitdir: {other}/.git/\n",
                        f"gitdir: {self.home}/./project/../other/.git\n"):
            self.check_forged(content, "does not point back")

    def test_a_worktree_of_another_project(self):
        other = self.repository(self.home / "other")
        self.git("worktree", "add", "-q", "-b", "t", self.home / "real", cwd=other)
        self.check_forged(f"gitdir: {other}/.git/worktrees/real\n", "does not point back")

    def test_secret_places_and_system_directories(self):
        ssh = self.home / ".ssh"
        ssh.mkdir()
        (ssh / "id_rsa").write_text("canary")
        (ssh / "HEAD").write_text("ref: refs/heads/main\n")
        (ssh / "objects").mkdir()
        for target in (ssh, "/", self.home, "/etc", "/proc/self/cwd", "/proc/self/root", f"{self.home}/.claude"):
            self.check_forged(f"gitdir: {target}\n")

    def test_a_secret_directory_that_points_back(self):
        """A valid repository in a secret place is not mounted."""
        ssh = self.home / ".ssh"
        self.repository(self.project)
        (self.project / ".git").rename(ssh)
        self.git("--git-dir", ssh, "config", "core.worktree", self.project)
        self.check_forged(f"gitdir: {ssh}\n", "git is not available")

    def test_a_commondir_planted_in_the_project(self):
        """A git directory in the project whose commondir is another project's."""
        other = self.repository(self.home / "other")
        fake = self.project / "fake"
        fake.mkdir()
        (fake / "HEAD").write_text("ref: refs/heads/main\n")
        (fake / "commondir").write_text(f"{other}/.git\n")
        (fake / "gitdir").write_text(f"{self.project}/.git\n")
        self.check_forged("gitdir: fake\n")

    def test_a_git_directory_with_a_commondir(self):
        """.git is a directory, but its commondir is another project's."""
        other = self.repository(self.home / "other")
        self.repository(self.project)
        (self.project / ".git" / "commondir").write_text(f"{other}/.git\n")
        self.assertEqual(self.host_mounts(self.project), {str(self.project): "read-write"})

    def test_git_is_a_link_to_another_repository(self):
        other = self.repository(self.home / "other")
        (self.project / ".git").symlink_to(other / ".git")
        self.assertEqual(self.host_mounts(self.project), {str(self.project): "read-write"})
        done = self.run_box("git log", self.project)
        self.assertEqual(done.stdout, "")
        self.assertIn("git is not available", done.stderr)

    def test_a_git_file_whose_path_contains_a_link(self):
        other = self.repository(self.home / "other")
        (self.project / "way").symlink_to(other)
        self.check_forged("gitdir: way/.git\n", "does not point back")

    def test_a_forged_worktree_directory_is_not_used(self):
        """The other repository's own file must contain the path of this .git; a file that the box wrote does not count."""
        other = self.repository(self.home / "other")
        forged = self.project / "forged"
        forged.mkdir()
        (forged / "HEAD").write_text("ref: refs/heads/main\n")
        (forged / "gitdir").write_text(f"{self.project}/.git\n")
        (forged / "commondir").write_text("../../other/.git\n")
        self.check_forged(f"gitdir: {forged}\n")
        self.assertTrue(other.exists())

    def check_starts(self, seconds=3.0, cwd=None):
        """Checks that the box starts within that time."""
        started = time.monotonic()
        done = self.run_box("echo started", cwd or self.project, timeout=20)
        self.assertLess(time.monotonic() - started, seconds)
        self.assertEqual(done.stdout, "started\n")
        return done

    def test_a_fifo_does_not_hang(self):
        os.mkfifo(self.project / ".git")
        self.assertIn("neither a directory nor a file", self.check_starts().stderr)

    def test_a_huge_file_does_not_hang(self):
        with open(self.project / ".git", "wb") as file:
            file.truncate(1 << 40)
        self.check_starts()

    def test_a_config_that_includes_a_fifo_does_not_hang(self):
        self.repository(self.project)
        os.mkfifo(self.project / "fifo")
        with open(self.project / ".git/config", "a", encoding="utf-8") as file:
            file.write("[include]\n\tpath = ../fifo\n")
        self.check_starts()
        self.assertEqual(subprocess.run(["pgrep", "-f", f"git -C {self.project}"], stdout=subprocess.PIPE, check=False).stdout, b"")

    def test_a_config_that_is_a_fifo_does_not_hang(self):
        self.repository(self.project)
        (self.project / ".git/config").unlink()
        os.mkfifo(self.project / ".git/config")
        self.check_starts()

    def test_a_gitdir_file_that_is_a_fifo_does_not_hang(self):
        main = self.repository(self.home / "main")
        linked = self.home / "linked"
        self.git("worktree", "add", "-q", "-b", "t", linked, cwd=main)
        (main / ".git/worktrees/linked/gitdir").unlink()
        os.mkfifo(main / ".git/worktrees/linked/gitdir")
        self.check_starts(cwd=linked)

    def test_the_configuration_of_a_repository_runs_nothing(self):
        self.repository(self.project)
        for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "diff.external", "gpg.program", "alias.config",
                    "credential.helper", "include.path", "core.hooksPath"):
            self.git("config", key, f"!touch {self.home}/hit; touch {self.home}/hit")
        self.git("config", "core.fsmonitor", f"touch {self.home}/hit; :")
        self.claudebox("--yes", "--exec", "true")
        self.claudebox("--check")
        self.plan()
        self.assertFalse((self.home / "hit").exists())

    def test_a_repository_that_contains_the_home_directory_is_not_used(self):
        self.git("config", "--global", "user.name", "Ann", cwd=self.home)
        self.git("init", "-q", self.home)
        self.assertEqual(self.host_mounts(self.project), {str(self.project): "read-write"})
        done = self.run_box("git status; ls -A ~", self.project)
        self.assertIn("contains secrets", done.stderr)
        self.assertNotIn(".git\n", done.stdout)
        self.assertEqual(self.instance(self.project), hashlib.sha256(os.fsencode(self.project)).hexdigest()[:16])

    def test_a_broken_repository_in_between_does_not_hide_the_outer_one(self):
        top = self.repository(self.home / "repo")
        sub = top / "sub"
        (sub / ".git").mkdir(parents=True)
        self.assertEqual(self.host_mounts(sub)[str(top)], "read-only")

    def test_files_planted_in_a_subdirectory_add_no_mounts(self):
        """Files that a box wrote in a subdirectory must not add mounts at the next start."""
        top = self.repository(self.home / "repo")
        sub = top / "sub"
        sub.mkdir()
        (sub / "x").write_text("x")
        before = self.host_mounts(sub)
        self.run_box(f"ln -s {self.home} .git 2>/dev/null; mkdir y; ln -s / y/.git", sub)
        after = self.host_mounts(sub)
        self.assertLessEqual(set(after), set(before))


if __name__ == "__main__":
    unittest.main()
