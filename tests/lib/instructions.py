# SPDX-License-Identifier: MIT
"""The instructions for Claude in a box, sentence by sentence."""
from lib.box import BoxTest

FILE = "/etc/claude-code/CLAUDE.md"
HEAD = "# You are in a sandbox (claudebox)\n"
MARK = "--- end of the instructions ---\n"


def sentences(text):
    """Splits the instructions of claudebox, without those of a company before them."""
    lines = text[text.index(HEAD) + len(HEAD):].splitlines()
    return [sentence.rstrip(".") + "." for line in lines if line for sentence in line.removeprefix("- ").split(". ")]


class InstructionsTest(BoxTest):
    def told(self, script, *words, options=(), host=None, **more):
        """Runs a script in a box. Returns the sentences of its instructions, and the script's output."""
        command = ["--yes", *options, "--exec", "sh", "-c", f"cat {FILE}; echo '{MARK.strip()}'; {script}", "sh", *words]
        done = (host or self).claudebox(*command, **more)
        self.assertNotEqual(done.returncode, 125, done.stderr)
        text, output = done.stdout.split(MARK)
        return sentences(text), output

    def assertTold(self, told, *parts):
        """Checks that sentences begin with these words."""
        for part in parts:
            self.assertTrue([sentence for sentence in told if sentence.startswith(part)], f"{part!r} is not in {told}")

    def assertNotTold(self, told, *parts):
        for part in parts:
            self.assertEqual([sentence for sentence in told if part in sentence], [])
