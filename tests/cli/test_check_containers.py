# SPDX-License-Identifier: MIT
"""--check and the start inside of containers, CI jobs and WSL 1: the restriction that refuses the sandbox, and the option that lifts it."""
import errno
import json
import os
import struct
import tempfile
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.other_host import OtherHost

# Numbers of unshare and clone, of which Docker's filter refuses those with CLONE_NEWUSER, and of clone3.
CALLS = {"x86_64": (272, 56, 435), "aarch64": (97, 220, 435)}.get(os.uname().machine)
CLONE_NEWUSER = 0x10000000
ALLOW, REFUSE, UNKNOWN = 0x7fff0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS


def seccomp_filter():
    """Returns a filter as Docker's default one: no user namespaces."""
    unshare, clone, clone3 = CALLS
    load, equal, any_bit, end = 0x20, 0x15, 0x45, 0x06
    program = [(load, 0, 0, 0), (equal, 4, 0, clone3), (equal, 1, 0, unshare), (equal, 0, 3, clone),
               (load, 0, 0, 16), (any_bit, 2, 1, CLONE_NEWUSER), (end, 0, 0, UNKNOWN), (end, 0, 0, ALLOW), (end, 0, 0, REFUSE)]
    return b"".join(struct.pack("HBBI", *line) for line in program)


class ContainerTest(BoxTest):
    def setUp(self):
        super().setUp()
        self.fake_claude("echo 1.0")

    def check(self, files, options=(), env=None, refuse_namespaces=False, command=("--check=json",), status=1):
        """Runs claudebox on a host with these files, restricted as a container is. Returns its output and errors."""
        host = OtherHost(self, files)
        with tempfile.TemporaryFile() as program:
            program.write(seccomp_filter())
            program.seek(0)
            more = ["--seccomp", str(program.fileno())] if refuse_namespaces else []
            done = host.run(CLAUDEBOX, *command, options=[*options, *more], env=env, pass_fds=[program.fileno()])
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def bwrap_row(self, *arguments, **options):
        row = json.loads(self.check(*arguments, **options).stdout)["checks"][0]
        self.assertEqual((row["name"], row["state"]), ("bwrap", "broken"))
        return row["detail"], row["fix"]

    # As an engine does it: something is mounted over a part of /proc.
    MASKED = ("--tmpfs", "/proc/sys/kernel")


@unittest.skipUnless(CALLS, "the numbers of the system calls are not known")
class Namespaces(ContainerTest):
    """A real seccomp filter that refuses user namespaces."""

    def refused(self, files, env=None):
        return self.bwrap_row(files, env=env, refuse_namespaces=True)

    def test_Docker(self):
        detail, fix = self.refused({"/.dockerenv": ""})
        self.assertIn("user namespaces are refused in this Docker container, by a seccomp filter", detail)
        for option in ("seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined"):
            self.assertIn(f"--security-opt {option}", fix)

    def test_podman(self):
        detail, fix = self.refused({"/run/.containerenv": ""})
        self.assertIn("in this podman container", detail)
        self.assertIn("--security-opt unmask=ALL", fix)

    def test_Kubernetes(self):
        detail, fix = self.refused({"/.dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "192.0.2.1"})
        self.assertIn("in this pod", detail)
        for setting in ("hostUsers: false", "seccompProfile: {type: Unconfined}", "procMount: Unmasked"):
            self.assertIn(setting, fix)

    def test_Codespaces_and_dev_containers(self):
        for variable in ("CODESPACES", "REMOTE_CONTAINERS"):
            fix = self.refused({"/.dockerenv": ""}, {variable: "true"})[1]
            self.assertIn('"--security-opt=seccomp=unconfined"', fix)
            self.assertIn("devcontainer.json", fix)

    def test_jobs_of_continuous_integration(self):
        self.assertIn("`container:` of the job", self.refused({"/.dockerenv": ""}, {"GITHUB_ACTIONS": "true", "CI": "true"})[1])
        self.assertIn("config.toml", self.refused({"/.dockerenv": ""}, {"GITLAB_CI": "true", "CI": "true"})[1])

    def test_another_service_with_a_seccomp_filter(self):
        detail, fix = self.refused({})
        self.assertRegex(detail, "user namespaces are refused, by a seccomp filter$")
        self.assertIn("seccomp filter", fix)

    def test_a_setting_of_AppArmor_is_not_the_cause(self):
        """Ubuntu has it set, and a container shows it. The filter refuses first."""
        settings = self.scratch()
        (settings / "apparmor_restrict_unprivileged_userns").write_text("1\n")
        detail, fix = self.bwrap_row({"/.dockerenv": ""}, ["--ro-bind", settings, "/proc/sys/kernel"], refuse_namespaces=True)
        self.assertIn("by a seccomp filter", detail)
        self.assertIn("seccomp=unconfined", fix)

    def test_the_start_shows_the_same(self):
        done = self.check({"/.dockerenv": ""}, command=("--yes", "--exec", "true"), refuse_namespaces=True, status=125)
        self.assertRegex(done.stderr, r"(?m)^hint: user namespaces are refused in this Docker container.*seccomp=unconfined")


class Mounts(ContainerTest):
    def test_a_masked_part_of_proc(self):
        detail, fix = self.bwrap_row({"/run/.containerenv": ""}, self.MASKED)
        self.assertIn("a /proc of its own is refused in this podman container, because parts of the present /proc are masked", detail)
        self.assertIn("unmask=ALL", fix)

    def test_a_container_that_allows_sandboxes(self):
        done = self.check({"/.dockerenv": ""}, env={"KUBERNETES_SERVICE_HOST": "192.0.2.1"}, status=0)
        self.assertEqual(json.loads(done.stdout)["checks"][0]["state"], "ok")


class OtherSystems(ContainerTest):
    """Places in which no option helps. The files are theirs, the refusal is that of a masked /proc."""

    def file(self, text):
        path = self.scratch() / "file"
        path.write_text(text)
        return path

    def test_WSL_1_and_not_WSL_2(self):
        for text, found in (("4.4.0-19041-Microsoft\n", True), ("5.15.167.4-microsoft-standard-WSL2\n", False)):
            kernel = self.scratch()
            (kernel / "osrelease").write_text(text)
            detail, fix = self.bwrap_row({}, ["--ro-bind", kernel, "/proc/sys/kernel"])
            self.assertEqual(("WSL 1" in detail, "wsl --set-version" in fix), (found, found), detail)

    def test_gVisor(self):
        for text in ("Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n", "Linux version 4.19.0 gVisor\n"):
            detail, fix = self.bwrap_row({}, ["--ro-bind", self.file(text), "/proc/version"])
            self.assertIn("in gVisor", detail)
            self.assertIn("--runtime runc", fix)

    def test_Flatpak(self):
        self.assertIn("flatpak-spawn --host claudebox", self.bwrap_row({"/.flatpak-info": ""}, self.MASKED)[1])

    def test_LXC(self):
        self.assertIn("security.nesting true", self.bwrap_row({"/run/systemd/container": "lxc"}, self.MASKED)[1])

    def test_a_box_of_claudebox(self):
        done = self.claudebox("--yes", "--mount-ro", os.environ["STAGE"], "--exec", CLAUDEBOX, "--check=json")
        row = json.loads(done.stdout)["checks"][0]
        self.assertIn("in this box of claudebox", row["detail"])
        self.assertIn('"nested": true', row["fix"])


if __name__ == "__main__":
    unittest.main()
