# SPDX-License-Identifier: MIT
"""The box has the host's Nix store and daemon, and nothing else of /nix."""
import os
import unittest

from lib.box import BoxTest
from lib.other_host import OtherHost

STORE = "/nix/store/00000000000000000000000000000000-tool"
CONF = """experimental-features = nix-command flakes
access-tokens = github.com=ghp_CANARY0123456789abcdef
extra-access-tokens = x=CANARY
netrc-file = /etc/nix/netrc-CANARY
!include /etc/nix/CANARY.conf
substituters = https://cache.example.org https://user:CANARY@private.example.org
max-jobs = 4
"""


class Nix(BoxTest):
    def host(self, **more):
        files = {f"{STORE}/bin/tool": "#!/bin/sh\necho from the store\n", "/nix/var/nix/daemon-socket/keep": "",
                 "/nix/var/nix/db/CANARY": "CANARY", "/nix/var/nix/profiles/CANARY": "CANARY", "/etc/nix/nix.conf": CONF,
                 "/etc/nix/netrc-CANARY": "CANARY"}
        host = OtherHost(self, files | more)
        os.chmod(f"{host.root}{STORE}/bin/tool", 0o755)
        return host

    def test_the_store_is_read_only(self):
        out = self.host().box(f"{STORE}/bin/tool; touch /nix/store/x {STORE}/bin/tool 2>/dev/null && echo written; echo end")
        self.assertEqual(out, "from the store\nend\n")

    def test_only_the_daemons_socket_directory(self):
        out = self.host().box("ls -A /nix /nix/var /nix/var/nix /etc/nix; echo $NIX_REMOTE; grep -r CANARY /nix /etc")
        self.assertNotIn("CANARY", out)
        self.assertEqual(out.split(), ["/etc/nix:", "nix.conf", "/nix:", "store", "var", "/nix/var:", "nix", "/nix/var/nix:",
                                       "daemon-socket", "daemon"])

    def test_settings_have_no_tokens(self):
        out = self.host().box("cat /etc/nix/nix.conf")
        self.assertEqual(out, "experimental-features = nix-command flakes\nmax-jobs = 4\nextra-experimental-features = nix-command flakes\n")

    def test_store_directories_of_PATH_are_kept(self):
        path = f"{self.env['PATH']}:/run/profile/bin:{self.home}/bin"
        host = self.host(**{"/run/profile": ("->", STORE)})
        out = host.box("echo $PATH; tool", env={"PATH": path})
        self.assertIn(f":{STORE}/bin:", out.replace("\n", ":"))
        self.assertIn("from the store", out)
        self.assertNotIn(f"{self.home}/bin", out)

    def test_nixos_has_only_store_paths(self):
        system = "/nix/store/11111111111111111111111111111111-system-path"
        host = self.host(**{"/etc/NIXOS": "", "/run/current-system/sw": ("->", system)})
        host.add_programs(system, "bash", "sh=bash", "env", "ls")
        done = host.claudebox("--yes", "--exec", "/bin/sh", "-c", "echo $PATH; ls /usr/bin /bin; ls /lib /lib64 /usr/lib 2>/dev/null; "
                              "/usr/bin/env bash -c 'echo $SHELL'", env={"PATH": "/run/current-system/sw/bin:/usr/bin"})
        # claude is not in the store here, so its script has a directory of its own
        self.assertEqual(done.stdout, f"/run/claudebox/command:{system}/bin\n/bin:\nbash\nsh\n\n/usr/bin:\nenv\n{system}/bin/bash\n", done.stderr)

    def test_nixos_without_a_shell_on_PATH_is_refused(self):
        done = self.host(**{"/etc/NIXOS": ""}).claudebox("--yes", "--exec", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("no shell", done.stderr)
        self.assertIn("/nix/store only", done.stderr)

    def test_instructions_mention_nix(self):
        self.assertIn("nix shell nixpkgs#NAME", self.host().box("cat /etc/claude-code/SANDBOX.md"))

    def test_host_without_nix(self):
        out = self.box("ls -d /nix /etc/nix 2>/dev/null; echo ${NIX_REMOTE-none}")
        if not os.path.exists("/nix/store"):
            self.assertEqual(out, "none\n")


if __name__ == "__main__":
    unittest.main()
