# SPDX-License-Identifier: MIT
"""The report of a session of the real Claude Code names each change that the host executes, in the right order, and no harmless one."""
import json
import os

from claude.claude import ClaudeTest

# What the session writes, in the order of the report. The places that are not in git are protected, so git tracks them here.
EXECUTED = [
    (".claude/settings.json", "without-asking"), (".gitattributes", "without-asking"), (".husky/pre-commit", "without-asking"),
    ("out", "without-asking"), ("sub/up", "without-asking"),
    (".envrc", "with-question"), (".vscode/tasks.json", "with-question"),
    ("CMakeLists.txt", "build"), ("Dockerfile", "build"), ("Makefile", "build"), ("build.rs", "build"), ("conftest.py", "build"),
    ("package.json", "build"), ("setup.py", "build"), ("tool", "build"), ("vite.config.js", "build"),
    (".github/workflows/ci.yml", "elsewhere"), (".gitlab-ci.yml", "elsewhere"),
    ("AGENTS.md", "trusted"), ("CLAUDE.md", "trusted"),
]
TRACKED = [".claude/settings.json", ".husky/pre-commit", ".envrc", ".vscode/tasks.json"]
HARMLESS = ["README.md", "src/main.c", "src/Makefile.txt", "data.json", "docs/conftest.py.md", "lib/package.json"]
SCRIPT = r"""
set -e
for f in .claude/settings.json .gitattributes .husky/pre-commit .envrc .vscode/tasks.json CMakeLists.txt Dockerfile Makefile build.rs conftest.py \
         setup.py vite.config.js .github/workflows/ci.yml .gitlab-ci.yml AGENTS.md CLAUDE.md README.md src/main.c src/Makefile.txt data.json docs/conftest.py.md; do
    mkdir -p "$(dirname "$f")"; echo "# changed" >>"$f"
done
echo '{"name": "x", "scripts": {"test": "changed"}}' >package.json
mkdir -p lib sub; echo '{"name": "x", "version": "2"}' >lib/package.json
printf '#!/bin/sh\n' >tool; chmod 755 tool; echo more >>existing
ln -s /etc/passwd out; ln -s ../../elsewhere sub/up; ln -s src inside
"""


class Report(ClaudeTest):
    def test_twenty_changes_in_order_and_no_harmless_one(self):
        self.git("init", "-q")
        for name, text in [(name, "x\n") for name in TRACKED] + [("package.json", '{"name": "x", "scripts": {"test": "x"}}\n'),
                                                              ("lib/package.json", '{"name": "x", "version": "1"}\n'), ("existing", "#!/bin/sh\n")]:
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.project / "existing").chmod(0o755)
        (self.project / "change.sh").write_text(SCRIPT)
        self.git("add", "-A")
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
        done = self.turn("RUN: sh change.sh")
        self.assertIn("DONE", done.stdout)
        self.assertRegex(done.stderr, r"(?m)^report: .*; 20 files that your programs may execute or trust")
        report = json.loads(self.claudebox("--report=json").stdout)
        self.assertEqual([(row["path"], row["when"]) for row in report["executed"]["list"]], EXECUTED)
        self.assertEqual(set(HARMLESS) - {row["path"] for row in report["files"]["list"]}, set())
        text = self.claudebox("--report").stdout
        places = [text.index(f"\n  {name} ") for name, _ in EXECUTED]
        self.assertEqual(places, sorted(places))

    def test_nothing_is_said_when_nothing_happened(self):
        done = self.turn("hello")
        self.assertNotIn("report:", done.stderr)

    def test_the_exit_status_stays_and_the_descriptor_gets_json(self):
        read, write = os.pipe()
        try:
            done = self.claudebox("--yes", "--report-fd", str(write), "--exec", "sh", "-c", "echo 1 >a; exit 7", pass_fds=(write,))
            os.close(write)
            report = json.loads(os.read(read, 65536))
        finally:
            os.close(read)
        self.assertEqual((done.returncode, report["status"], report["files"]["count"]), (7, 7, 1))
