# SPDX-License-Identifier: MIT
"""An install directory of another user does not come along."""
import os

from lib.toolchains import ToolchainTest, program

AS_ROOT = True


class OtherUser(ToolchainTest):
    """Only root can give a directory to another user."""

    def test_a_directory_of_another_user_does_not_come_along(self):
        bin_ = program(self.home / ".cargo" / "bin" / "tool", "echo host").parent
        self.on_path(bin_)
        self.assertEqual(self.box("tool"), "host\n")
        if os.getuid():  # an ordinary user can only open it to all others
            bin_.chmod(0o777)
        else:
            os.chown(bin_, 65533, 65533)
        self.assertEqual(self.box("tool 2>/dev/null || echo none"), "none\n")
        self.assertIn({"what": "~/.cargo/bin", "why": "other users can change it", "option": "--mount-ro ~/.cargo/bin"},
                      self.plan()["left_out"])

    def test_the_box_of_root_cannot_change_it_either(self):
        self.on_path(program(self.home / ".cargo" / "bin" / "tool", "echo host").parent)
        self.assertEqual(self.box("echo x > ~/.cargo/bin/tool; rm -rf ~/.cargo/bin; tool"), "host\n")
