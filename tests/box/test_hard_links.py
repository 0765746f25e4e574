# SPDX-License-Identifier: MIT
"""Hard links: files of the project with another name outside are reported, and no link passes a secret or decides about a box."""
import os
import shutil

from lib.box import BoxTest

AS_ROOT = True
OBJECTS, MODULES, PYTHON, FILES = ("objects of the repository", "packages in node_modules", "packages of the virtual environment",
                                   "files have another name")


class HardLinks(BoxTest):
    def warned(self, *arguments, cwd=None):
        """Returns the warnings about hard links."""
        return [text for text in self.plan(*arguments, cwd=cwd)["warnings"] if "hard links" in text]

    def link(self, path, target):
        """Creates a file outside of the project and a hard link to it."""
        for place in (path, target):
            place.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("content\n")
        os.link(target, path)

    def test_a_repository_that_was_cloned_by_path(self):
        source = self.repository(self.home / "source")
        clone = self.home / "clone"
        self.git("clone", "-q", source, clone, cwd=self.home)
        shown, = self.warned(cwd=clone)
        self.assertTrue(shown.startswith(OBJECTS) and "`git gc`" in shown, shown)
        # The danger is real: the box changes an object of the other repository.
        name = next(path for path in (clone / ".git/objects").glob("??/*") if path.stat().st_nlink > 1).relative_to(clone)
        self.box(f"chmod u+w {name} && echo changed >{name}", cwd=clone)
        self.assertEqual((source / name).read_text(), "changed\n")
        shutil.rmtree(clone)
        shutil.rmtree(source)
        self.repository(source)
        self.git("gc", "-q", cwd=source)
        self.git("clone", "-q", source, clone, cwd=self.home)
        self.assertEqual(len(self.warned(cwd=clone)), 1)
        self.git("gc", "-q", cwd=clone)
        self.assertEqual(self.warned(cwd=clone), [])
        self.git("clone", "-q", "--no-hardlinks", source, self.home / "third", cwd=self.home)
        self.assertEqual(self.warned(cwd=self.home / "third"), [])

    def test_packages_that_are_linked_to_a_store(self):
        for path, wanted in (("node_modules/.pnpm/is-odd@3.0.1/node_modules/is-odd/package.json", MODULES),
                             ("node_modules/is-odd/package.json", MODULES), ("node_modules/@types/node/package.json", MODULES),
                             (".venv/lib/python3.12/site-packages/six-1.16.0.dist-info/METADATA", PYTHON),
                             (".venv/lib/python3.12/site-packages/six.py", PYTHON)):
            with self.subTest(path):
                self.link(self.project / path, self.home / "store/x")
                shown, = self.warned()
                self.assertTrue(shown.startswith(wanted) and "=copy" in shown and path.split("/")[-1] in shown, shown)
                shutil.rmtree(self.project / path.split("/", maxsplit=1)[0])
                shutil.rmtree(self.home / "store")

    def test_files_of_the_project_and_of_writable_mounts(self):
        data = self.home / "data"
        self.link(self.project / "a/notes.txt", self.home / "outside.txt")
        self.link(data / "shared.txt", self.home / "other.txt")
        for arguments, names in (((), ["a/notes.txt"]), (("--mount-ro", data), ["a/notes.txt"]),
                                 (("--mount-rw", data), ["a/notes.txt", "shared.txt"])):
            shown, = self.warned(*arguments)
            self.assertTrue(shown.startswith(FILES), shown)
            self.assertEqual([name for name in ("a/notes.txt", "shared.txt") if name in shown], names)
        profiles = self.home / ".claudebox/profiles"
        profiles.mkdir(mode=0o700, parents=True)
        os.chmod(profiles.parent, 0o700)
        (profiles / "ro.json").write_text('{"project": "read-only"}')
        self.assertEqual(self.warned("--profile", "ro"), [])

    def test_links_that_stay_inside_are_no_reason_for_a_warning(self):
        self.repository(self.project)
        for directory in ("target/debug/deps", "build", "src", ".git/lfs"):
            (self.project / directory).mkdir(parents=True, exist_ok=True)
        self.link(self.project / "target/debug/x", self.project / "target/debug/deps/x-1")
        self.link(self.project / "src/a", self.project / "b")
        self.link(self.project / "build/x.o", self.home / "ccache/x.o")
        self.assertEqual(self.warned(), [])

    def test_a_profile_with_another_name_is_refused(self):
        profiles = self.home / ".claudebox/profiles"
        profiles.mkdir(mode=0o700, parents=True)
        os.chmod(profiles.parent, 0o700)
        self.link(profiles / "work.json", self.project / "planted.json")
        (self.project / "planted.json").write_text('{"network": "none"}')
        self.assertIn("hard link", self.refused("--profile", "work", "--exec", "true"))
        os.unlink(self.project / "planted.json")
        self.assertEqual(self.claudebox("--profile", "work", "--dry-run").returncode, 0)

    def test_another_name_of_a_secret_is_not_passed(self):
        (self.home / ".ssh").mkdir(mode=0o700)
        (self.home / ".aws").mkdir()
        self.link(self.home / "certificates/ca.pem", self.home / ".ssh/id_ed25519")
        self.link(self.home / "certificates/token", self.home / ".netrc")
        self.link(self.home / "certificates/good.pem", self.home / "store/good.pem")
        certificate = "-----BEGIN CERTIFICATE-----\nMIIBIDCBx6ADAgECAhRcanary\n-----END CERTIFICATE-----\n"
        for name in ("ca.pem", "token", "good.pem"):
            (self.home / "certificates" / name).write_text(certificate)  # so that only the other name counts
        for name in ("ca.pem", "token"):
            path = self.home / "certificates" / name
            done = self.claudebox("--yes", "--exec", "cat", path, env={"SSL_CERT_FILE": str(path)})
            self.assertNotEqual(done.returncode, 125, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertIn("leads to a secret place", done.stderr)
            self.assertIn("leads to '", self.refused("--mount-ro", f"{path}:~/x", "--exec", "true"))
        path = self.home / "certificates/good.pem"
        self.assertEqual(self.box("cat \"$1\"", path, env={"SSL_CERT_FILE": str(path)}), certificate)
