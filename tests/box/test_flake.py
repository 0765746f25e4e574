# SPDX-License-Identifier: MIT
"""The outputs of flake.nix, and the claudebox that it builds, which runs without the host's /usr."""
import json
import os
import pathlib
import re
import subprocess
import unittest

from box.flake import SOURCE, SYSTEM, SYSTEMS, FlakeTest, evaluate, flake
from lib.inet import InetTest
from lib.nix import NixTest
from lib.other_host import OtherHost

OWN_BUILD = True
NEEDS_NIX = True

TOOLS = ("bash-interactive", "coreutils", "findutils", "gnugrep", "gnused", "gawk", "diffutils", "gnutar", "gzip", "git", "curl", "jq",
         "ripgrep", "fd", "nodejs", "nix", "comma-with-db")
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"

# A program without a C library, which needs the loader only.
FOREIGN = r"""
#if defined(__x86_64__)
__asm__(".globl _start\n_start: mov $1, %eax; mov $1, %edi; lea text(%rip), %rsi; mov $8, %edx; syscall; mov $60, %eax; xor %edi, %edi; syscall\n"
#else
__asm__(".globl _start\n_start: mov x8, 64; mov x0, 1; adr x1, text; mov x2, 8; svc 0; mov x8, 93; mov x0, 0; svc 0\n"
#endif
        "text: .ascii \"foreign\\n\"\n");
"""


class Flake(NixTest):
    def test_outputs_for_both_systems(self):
        for output, names in {"packages": ["claudebox", "default"], "checks": ["default"], "devShells": ["default"]}.items():
            for system in SYSTEMS:
                self.assertEqual(evaluate(f"{output}.{system}", "--apply", "builtins.attrNames"), names)
                self.assertRegex(evaluate(f"{output}.{system}.default.drvPath"), r"^/nix/store/[a-z0-9]{32}-.*\.drv$")
        for system in SYSTEMS:
            app = evaluate(f"apps.{system}.default")
            self.assertEqual((app["type"], app["program"]), ("app", evaluate(f"packages.{system}.default.outPath") + "/bin/claudebox"))

    def test_metadata(self):
        version = re.search(r"version: '([^']+)'", (SOURCE / "meson.build").read_text())[1]
        package = evaluate(f"packages.{SYSTEM}.default", "--apply", "p: { inherit (p) version meta; }")
        self.assertEqual(package["version"], version)
        self.assertEqual((package["meta"]["mainProgram"], package["meta"]["license"]["spdxId"]), ("claudebox", "MIT"))
        self.assertEqual(sorted(package["meta"]["platforms"]), sorted(SYSTEMS))

    def test_compiled_in_paths(self):
        """Each build option has the loader or program of that system, and every dependency of meson.build is an input."""
        for system, loader in zip(SYSTEMS, ("ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2"), strict=True):
            flags = dict(flag[2:].split("=", 1) for flag in evaluate(f"packages.{system}.default.mesonFlags"))
            self.assertEqual(pathlib.Path(flags.pop("box_loader")).name, loader)
            self.assertEqual(flags.pop("tests"), "false")
            self.assertEqual(tuple(path[44:-4] for path in flags.pop("box_path").split(":")), TOOLS)
            self.assertEqual(sorted(flags), ["box_certificates", "bwrap", "git", "nft", "nix", "node", "pasta"])
            for path in flags.values():
                self.assertTrue(path.startswith("/nix/store/"), path)
        needed = set(re.findall(r"dependency\('(\w+)'", (SOURCE / "meson.build").read_text()))
        inputs = evaluate(f"packages.{SYSTEM}.default.buildInputs", "--apply", "map (p: p.name)")
        self.assertEqual(set(inputs), needed)

    def test_options_of_the_build_must_be_store_paths(self):
        build = self.home / "build"
        done = subprocess.run(["meson", "setup", build, SOURCE, "-Dbox_path=/usr/bin"], stdout=subprocess.PIPE, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("must be in /nix/store", done.stdout)


class NixBuild(FlakeTest):
    def claudebox(self, *arguments, env=None, **options):
        """Runs claudebox without PATH: neither claudebox nor the box depends on it."""
        return super().claudebox(*arguments, env={"PATH": "/nowhere", **(env or {})}, **options)

    def host(self, files, basics=()):
        """Returns a function that runs claudebox on another machine with this machine's store."""
        host = OtherHost(self, files, basics=("passwd", "group", "ld.so.cache", *basics))
        return lambda *arguments, env=None: host.claudebox(*arguments, env=env, options=("--ro-bind", "/nix", "/nix"))

    def agent(self, *arguments):
        done = self.claudebox("--yes", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_nix_run(self):
        self.assertEqual(flake("run", "--", "--version").stdout, f"{self.claudebox('--version').stdout}")

    def test_nix_profile_install(self):
        profile = self.home / "profile"
        flake("profile install --profile " + str(profile))
        self.assertEqual(os.path.realpath(profile / "bin/claudebox"), self.under_test)
        self.assertTrue((profile / "share/man/man5/claudebox-profile.5").exists())

    def test_programs_are_in_the_closure(self):
        """The compiled-in paths are in its closure, so garbage collection keeps them."""
        closure = subprocess.run(["nix-store", "--query", "--requisites", self.package], stdout=subprocess.PIPE, text=True, check=True).stdout
        for name in ("bubblewrap", "passt", "nftables", "cacert", "glibc", *TOOLS):
            self.assertRegex(closure, rf"(?m)^/nix/store/\w{{32}}-{name}$")

    def test_PATH_is_store_paths_only(self):
        claude, *path = self.box("echo $PATH", env={"PATH": "/usr/local/bin:/usr/bin:/bin"}).strip().split(":")
        self.assertEqual(claude, "/run/claudebox/command")  # claude is not in the store here
        self.assertEqual(self.box("ls /run/claudebox/command; claude x").split("\n")[0], "claude")
        self.assertEqual(tuple(re.sub(r"^/nix/store/\w{32}-(.*)/bin$", r"\1", entry) for entry in path), TOOLS)
        self.assertRegex(self.box("echo $SHELL"), r"^/nix/store/\w{32}-bash-interactive/bin/bash\n$")

    def test_there_is_no_usr(self):
        out = self.box("find /usr /bin /sbin /lib* -not -type d 2>/dev/null | sort; cut -d ' ' -f 5 /proc/self/mountinfo | sort")
        links = [line for line in out.splitlines() if line.startswith(("/bin", "/usr/bin", "/lib", "/usr/lib/", "/sbin"))]
        self.assertEqual([line for line in links if line != "/usr/lib/os-release"],
                         ["/bin/bash", "/bin/sh", next(line for line in links if "ld-linux" in line), "/usr/bin/env"])
        self.assertFalse({"/usr", "/usr/bin", "/usr/lib", "/bin", "/lib", "/lib64"} & set(out.splitlines()))
        for link in ("/bin/sh", "/bin/bash", "/usr/bin/env"):
            self.assertTrue(self.box(f"readlink {link}").startswith("/nix/store/"))

    def test_tools_work(self):
        (self.project / "script").write_text("#!/usr/bin/env bash\necho $BASH\n")
        (self.project / "script").chmod(0o755)
        self.assertEqual(self.box("""
            git init -q . 2>/dev/null && git add script && git commit -qm first && git log --format=%s
            echo '{"a": [1, 2]}' | jq -c .a
            rg BASH script
            fd scr
            node -p '6 * 7'
            curl -s file://$PWD/script | head -n 1
            ./script | sed 's,.*/,,'
        """), "first\n[1,2]\n2:echo $BASH\n./script\n42\n#!/usr/bin/env bash\nbash\n")

    def test_the_agent_runs(self):
        for first_line in ("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash"):
            self.fake_claude().write_text(f'{first_line}\necho "claude $*"\n')
            self.assertTrue(self.agent("-p", "hi").startswith("claude --dangerously-skip-permissions"), first_line)

    def test_node_agent_uses_node_of_the_store(self):
        for first_line in ("#!/usr/bin/env node", "#!/usr/bin/node"):
            self.fake_claude().write_text(f"{first_line}\nconsole.log(process.version, require('fs').existsSync('/usr/bin/node'))\n")
            self.assertRegex(self.agent(), r"^v\d+\.\S+ false\n$")

    def test_native_agent_uses_the_loader_of_the_store(self):
        """Like Claude's native build: an ELF file with the usual path of the loader, which is a link to the store in the box."""
        source = self.home / "foreign.c"
        source.write_text(FOREIGN)
        loader = next(path for path in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1") if os.path.exists(path))
        subprocess.run(["gcc", "-nostdlib", "-pie", f"-Wl,-dynamic-linker,{loader}", "-o", self.home / "bin/claude", source], check=True)
        self.assertEqual(self.agent(), "foreign\n")
        self.assertTrue(self.box(f"readlink {loader}").startswith("/nix/store/"))

    def test_real_claude_runs(self):
        """The loader of nixpkgs finds the C library in its own directory. This one is Debian's and needs LD_LIBRARY_PATH."""
        if "CLAUDE_NEW" not in os.environ:
            self.skipTest("Claude Code is not installed")
        lib = os.path.dirname(self.box("readlink /lib*/ld-linux*").strip())
        self.fake_claude(f'export LD_LIBRARY_PATH={lib}\nexec {os.environ["CLAUDE_NEW"]} "$@"')
        self.assertRegex(self.agent("--", "--version"), r"^2\.\d+\.\d+ \(Claude Code\)\n$")

    def test_an_agent_that_cannot_run_is_refused(self):
        self.fake_claude().write_text("#!/usr/bin/python3\nprint('x')\n")
        message = self.refused("--yes")
        self.assertIn("needs '/usr/bin/python3', and the box has only the Nix store", message)
        source = self.home / "foreign.c"
        source.write_text(FOREIGN)
        subprocess.run(["gcc", "-nostdlib", "-pie", "-Wl,-dynamic-linker,/lib/ld-musl-x86_64.so.1", "-o", self.home / "bin/claude", source],
                       check=True)
        self.assertIn("needs '/lib/ld-musl-x86_64.so.1'", self.refused("--yes"))
        self.assertEqual(self.box("echo a shell still works"), "a shell still works\n")

    def test_certificates_of_the_host_or_else_of_the_store(self):
        show = ("--yes", "--exec", "sh", "-c", "cat $SSL_CERT_FILE")
        self.assertEqual(self.host({CERTIFICATES: "of the host\n"})(*show).stdout, "of the host\n")
        self.assertEqual(self.host({})(*show).stdout, "certificates of Nix\n")

    def test_host_with_linked_directories(self):
        """/bin is a link on the host and a directory in the box; a claude in it is found."""
        host = self.host({"/etc/localtime": ("->", "/usr/share/zoneinfo/UTC")})
        done = host("--yes", "--exec", "sh", "-c", "type sh; echo fine", env={"CLAUDEBOX_CLAUDE": "/bin/true"})
        self.assertTrue(done.stdout.endswith("fine\n"), done.stderr)

    def test_instructions_mention_the_store(self):
        self.assertIn("those of the Nix store", self.box("cat /etc/claude-code/CLAUDE.md"))

    def test_check(self):
        self.fake_claude("echo 1.2.3")
        done = self.claudebox("--check=json")
        report = json.loads(done.stdout)
        states = {check["name"]: (check["state"], check["detail"]) for check in report["checks"]}
        self.assertEqual((done.returncode, report["starts"]), (0, True), report)
        for name in ("bwrap", "claude", "shell", "git", "pasta", "nft"):
            self.assertEqual(states[name][0], "ok", states[name])
        self.assertTrue(states["shell"][1].startswith("/nix/store/"))

    def test_check_reports_a_claude_with_missing_libraries(self):
        """A program of this machine, which needs libraries that the box does not have."""
        self.env["CLAUDEBOX_CLAUDE"] = "/usr/bin/git"
        checks = {check["name"]: check for check in json.loads(self.claudebox("--check=json").stdout)["checks"]}
        self.assertEqual(checks["claude"]["state"], "broken")
        self.assertIn("libraries of /nix/store only", checks["claude"]["fix"])

    def test_the_dry_run_is_the_same_box(self):
        script = self.claudebox("--dry-run", "--exec", "sh", "-c", "echo $PATH; ls /usr/bin").stdout
        done = subprocess.run(["/bin/sh"], input=script, env=self.env, cwd=self.project, stdout=subprocess.PIPE, text=True, check=True)
        self.assertRegex(done.stdout, r"^/run/claudebox/command:(/nix/store/[^:]*:?)+\nenv\n$")

    def test_proof_finds_no_leak(self):
        done = self.claudebox("--prove=json", "--yes")
        report = json.loads(done.stdout)
        self.assertEqual([row for row in report["attacks"] if row["verdict"] == "leaked"], [])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_nix_shell_and_comma(self):
        if self.alone:
            self.skipTest("the daemon runs as the user")
        self.assertEqual(self.box("nix shell nixpkgs#hello -c hello; , hello"), "hello from Nix\n" * 2)

    def test_packages_use_the_compiled_in_nix(self):
        self.profile("hello")
        self.assertEqual(self.box("hello"), "hello from Nix\n")


class NixBuildAndInet(FlakeTest, InetTest):
    def test_inet_uses_the_compiled_in_pasta_and_nft(self):
        done = self.inet("bash", "-c", 'for address; do (: <>"/dev/tcp/$address/80") 2>/dev/null && echo "$address"; done', "bash",
                         "203.0.113.10", "2001:db8:f::10", "192.168.77.5", "192.168.77.10", "2001:db8:1::5")
        self.assertEqual(done.stdout, "203.0.113.10\n2001:db8:f::10\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
