# SPDX-License-Identifier: MIT
"""Processes of the box: exit status, signals, namespaces, and no process left after the end."""
import contextlib
import os
import pathlib
import select
import signal
import socket
import stat
import subprocess
import time
import unittest

from lib.box import CLAUDEBOX, BoxTest, processes_with, until
from lib.stress import STRESS

AS_ROOT = True
NAMESPACES = ("pid", "ipc", "uts", "cgroup", "mnt", "user")


def namespace_pids(pid):
    """Returns the pids of a process, from this pid namespace to the innermost."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("NSpid:"):
            return [int(word) for word in line.split()[1:]]
    return []


class Running(BoxTest):
    """Starts boxes in the background and kills what is left of them at the end."""

    def start(self, script, *prefix, shell="sh", **options):
        # Unique, and a valid argument of sleep.
        self.mark = f"1000.{os.getpid()}{time.monotonic_ns()}"
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL} | options
        # A new session, so that signals to its process group do not reach the test.
        process = subprocess.Popen([*prefix, CLAUDEBOX, "--yes", "--exec", shell, "-c", script, self.mark], cwd=self.project,
                                   env=self.env, text=True, start_new_session=True, **options)
        self.addCleanup(self.end, process, self.mark)
        return process

    def ready(self, script, *prefix, **options):
        process = self.start(script, *prefix, **options)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def end(self, process, mark):
        process.kill()
        process.wait(10)
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()
        for pid in processes_with(mark):
            os.kill(pid, signal.SIGKILL)

    def gone(self, seconds=1.0):
        return until(lambda: not processes_with(self.mark), seconds)

    def parts(self, process):
        """Returns the pids of claudebox, bwrap, init and the agent."""
        pids = processes_with(self.mark)
        inner = {pid: namespace_pids(pid) for pid in pids}
        init = next(pid for pid in pids if len(inner[pid]) > 1 and inner[pid][-1] == 1)
        agent = next(pid for pid in pids if len(inner[pid]) > 1 and inner[pid][-1] == 2)
        bwrap = next(pid for pid in pids if pathlib.Path(f"/proc/{pid}/comm").read_text() == "bwrap\n")
        return {"claudebox": process.pid, "bwrap": bwrap, "init": init, "agent": agent}


class ExitStatus(BoxTest):
    def status(self, *command, **options):
        return self.claudebox("--yes", "--exec", *command, **options).returncode

    def test_the_exit_status_is_that_of_the_command(self):
        for code in (0, 1, 2, 3, 42, 77, 99, 124, 125, 126, 127, 128, 129, 130, 137, 143, 192, 200, 254, 255):
            self.assertEqual(self.status("sh", "-c", f"exit {code}"), code)

    def test_the_exit_status_is_that_of_claude(self):
        self.fake_claude("exit 37")
        self.assertEqual(self.claudebox("--yes").returncode, 37)

    def test_death_by_a_signal_is_128_plus_its_number(self):
        for number in (1, 2, 3, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15, 31, 34, 64):
            self.assertEqual(self.status("sh", "-c", f"ulimit -c 0; kill -{number} $$; sleep 5"), 128 + number)

    def test_not_found_is_127(self):
        for command in ("no-such-command", "/no/such/command", "./nothing"):
            done = self.claudebox("--yes", "--exec", command)
            self.assertEqual(done.returncode, 127)
            self.assertRegex(done.stderr, r"(?m)^claudebox: .*" + command)
            self.assertRegex(done.stderr, r"(?m)^hint: ")

    def test_not_executable_is_126(self):
        (self.project / "plain").write_text("x")
        (self.project / "text").write_text("not a program\n")
        (self.project / "text").chmod(0o755)
        (self.project / "directory").mkdir()
        for command in ("./plain", "./directory", "./text", "/etc/passwd"):
            self.assertEqual(self.status(command), 126, command)

    def test_missing_interpreter_is_127(self):
        (self.project / "script").write_text("#!/no/such/interpreter\n")
        (self.project / "script").chmod(0o755)
        self.assertEqual(self.status("./script"), 127)

    def test_a_command_is_found_on_the_boxs_path_only(self):
        program = self.home / "bin" / "mine"
        program.write_text("#!/bin/sh\necho mine\n")
        program.chmod(0o755)
        self.assertEqual(self.status("mine", env={"PATH": f"{self.home}/bin:{self.env['PATH']}"}), 127)

    def test_arguments_are_passed_without_a_shell(self):
        done = self.claudebox("--yes", "--exec", "printf", "%s|", "$HOME", "`id`", "a b", "*", "", "'", "\\")
        self.assertEqual(done.stdout, "$HOME|`id`|a b|*||'|\\|")


class Namespaces(BoxTest):
    def test_private_namespaces(self):
        out = self.box("for n in pid ipc uts cgroup mnt user; do readlink /proc/self/ns/$n; done").split()
        for name, inside in zip(NAMESPACES, out, strict=True):
            self.assertRegex(inside, rf"^{name}:\[\d+\]$")
            self.assertNotEqual(inside, os.readlink(f"/proc/self/ns/{name}"))

    def test_two_boxes_share_no_namespace(self):
        script = "for n in pid ipc uts cgroup mnt user; do readlink /proc/self/ns/$n; done; echo; read x"
        first = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", script], cwd=self.project, env=self.env,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        lines = []
        while (line := first.stdout.readline().strip()):
            lines.append(line)
        second = self.box(script).split()
        first.communicate("\n", timeout=10)
        self.assertEqual(len(lines), 6)
        self.assertFalse(set(lines) & set(second))

    def test_the_hostname_is_claudebox(self):
        self.assertEqual(self.box("uname -n"), "claudebox\n")

    def test_shared_memory_of_the_host_is_not_seen(self):
        made = subprocess.run(["ipcmk", "-M", "4096"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[-1]
        self.addCleanup(subprocess.run, ["ipcrm", "-m", made], check=False)
        self.assertIn(f" {made} ", subprocess.run(["ipcs", "-m"], stdout=subprocess.PIPE, text=True, check=True).stdout)
        self.assertEqual(self.box("tail -n +2 /proc/sysvipc/shm"), "")

    def test_processes_of_the_host_cannot_be_seen_or_signalled(self):
        victim = subprocess.Popen(["sleep", "60"])
        self.addCleanup(victim.wait)
        self.addCleanup(victim.kill)
        out = self.box('[ -e "/proc/$1" ] && echo seen; for s in 0 9 15; do kill -$s "$1" 2>/dev/null && echo signalled; done; '
                       'kill -9 -1; echo end', str(victim.pid))
        self.assertEqual(out, "end\n")
        self.assertIsNone(victim.poll())

    def test_process_1_is_init_and_cannot_be_killed(self):
        out = self.box("cat /proc/1/comm; for s in 9 15 1 2 19; do kill -$s 1; done; sleep 0.1; echo alive")
        self.assertEqual(out, "claudebox-init\nalive\n")

    def test_the_agent_leads_its_own_process_group(self):
        out = self.box("trap 'echo hit' TERM; kill -TERM 0; sed 's/.*) //' /proc/$$/stat | cut -d' ' -f2,3,5; exit 5")
        self.assertIn("hit", out)

    def test_kill_0_inside_does_not_reach_claudebox(self):
        done = self.claudebox("--yes", "--exec", "sh", "-c", "trap '' TERM HUP INT; kill -TERM 0; kill -HUP 0; kill -INT 0; exit 5",
                              start_new_session=True)
        self.assertEqual(done.returncode, 5)


class Signals(Running):
    def test_each_signal_reaches_the_agent_once(self):
        for name in ("TERM", "HUP", "INT", "QUIT", "USR1", "USR2"):
            process = self.ready(f"trap 'echo got' {name}; echo ready; for i in 1 2 3 4 5 6 7 8; do sleep 0.05; done; exit 9")
            process.send_signal(getattr(signal, f"SIG{name}"))
            self.assertEqual((process.stdout.read(), process.wait(10)), ("got\n", 9), name)

    def test_the_default_action_of_a_signal_ends_the_box(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1):
            process = self.ready("ulimit -c 0; echo ready; exec sleep 60")
            process.send_signal(number)
            self.assertEqual(process.wait(5), 128 + number)
            self.assertTrue(self.gone())

    def test_the_agent_can_take_time_to_end(self):
        process = self.ready("trap 'sleep 0.8; echo saved; exit 7' TERM; echo ready; while :; do sleep 0.05; done")
        process.terminate()
        self.assertEqual((process.stdout.read(), process.wait(10)), ("saved\n", 7))

    def test_an_agent_can_ignore_a_signal(self):
        process = self.ready("trap '' TERM; echo ready; sleep 0.3; exit 3")
        process.terminate()
        self.assertEqual(process.wait(10), 3)

    def test_a_signal_to_the_whole_group_arrives_once(self):
        """Ctrl+C in a pipeline and timeout(1) signal the group of claudebox and bwrap; the agent is
        in another group."""
        process = self.ready("trap 'echo got' INT; echo ready; for i in 1 2 3 4 5 6; do sleep 0.05; done; exit 9")
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual((process.stdout.read(), process.wait(10)), ("got\n", 9))

    def test_signals_during_the_start_are_not_lost(self):
        for number in range(8 * STRESS):
            process = self.start("sleep 20")
            time.sleep(0.003 * number / STRESS)
            process.terminate()
            self.assertIn(process.wait(5), (143, -15))
            self.assertTrue(self.gone())

    def test_nohup_is_honoured(self):
        process = self.ready("echo ready; sleep 0.3; exit 4", "nohup")
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(10), 4)

    def test_signals_are_at_their_defaults_for_the_agent(self):
        out = self.box("grep -E '^Sig(Blk|Ign|Pnd)' /proc/self/status")
        for line in out.splitlines():
            self.assertEqual(int(line.split()[1], 16), 0, line)

    def test_ignored_signals_stay_ignored(self):
        done = subprocess.run(["sh", "-c", "trap '' PIPE HUP; exec \"$@\"", "sh", CLAUDEBOX, "--yes", "--exec", "grep", "SigIgn",
                               "/proc/self/status"], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=20)
        self.assertEqual(int(done.stdout.split()[1], 16), 1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGHUP - 1))

    def test_an_agent_that_stops_itself_without_a_terminal_is_continued(self):
        process = self.ready("echo ready; kill -STOP $$; exit 6")
        self.assertEqual(process.wait(5), 6)


class End(Running):
    """No process of the box survives for more than a second, whichever process is killed."""

    def killed(self, who):
        process = self.ready("(setsid sleep $0 & setsid nohup sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1; done' $0 &) 2>/dev/null; "
                             "sleep 0.1; echo ready; while :; do sleep 1; done")
        parts = self.parts(process)
        self.assertGreaterEqual(len(processes_with(self.mark)), 6)
        os.kill(parts[who], signal.SIGKILL)
        self.assertTrue(self.gone(1.0), [pathlib.Path(f"/proc/{p}/cmdline").read_bytes() for p in processes_with(self.mark)])
        return process.wait(5)

    def test_claudebox_killed(self):
        self.assertEqual(self.killed("claudebox"), -9)

    def test_claudebox_killed_while_process_1_gets_no_processor_time(self):
        """The agent lowers the priority of the session that it shares with process 1, and keeps the processors
        busy from other sessions."""
        if not pathlib.Path("/proc/self/autogroup").exists():
            self.skipTest("this kernel has no groups of sessions")
        process = self.ready("echo 19 >/proc/self/autogroup; for i in $(seq 24); do setsid sh -c 'while :; do :; done' $0 & done; "
                             "echo ready; sleep $0")
        process.kill()
        process.wait(5)
        self.assertTrue(self.gone(5))  # without the guard 5 to 14 seconds, on a machine without other load

    def test_bwrap_killed(self):
        self.assertEqual(self.killed("bwrap"), 137)

    def test_init_killed(self):
        self.assertEqual(self.killed("init"), 137)

    def test_agent_killed(self):
        self.assertEqual(self.killed("agent"), 137)

    def test_killed_during_the_start(self):
        for number in range(15 * STRESS):
            process = self.start("sleep $0")
            time.sleep(0.002 * number / STRESS)
            process.kill()
            process.wait(5)
            self.assertTrue(self.gone(1.0), number)

    def test_background_processes_end_with_the_agent(self):
        process = self.ready("sleep $0 & setsid sleep $0 & (nohup sh -c 'sleep $0; :' $0 >/dev/null 2>&1 &); echo ready")
        self.assertEqual(process.wait(5), 0)
        self.assertEqual(process.stdout.read(), "")
        self.assertTrue(self.gone(0.2))

    def test_background_processes_can_handle_sigterm(self):
        process = self.ready("sh -c 'trap \"sleep 0.1; echo saved >saved; exit\" TERM; echo ready; while :; do sleep 0.02; done' $0 & "
                             "sleep 0.2")
        self.assertEqual(process.wait(5), 0)
        self.assertEqual((self.project / "saved").read_text(), "saved\n")

    def test_a_stopped_box_ends_when_it_is_continued(self):
        """All its processes are stopped one by one; after claudebox is killed, none of them
        continues to run."""
        process = self.ready("echo ready; sleep $0")
        stopped = processes_with(self.mark)
        self.assertGreaterEqual(len(stopped), 4)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        process.kill()
        process.wait(5)
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.assertTrue(self.gone(1.0))

    def test_orphans_are_reaped(self):
        out = self.box("for i in 1 2 3 4 5; do (sleep 0.05 &); done; sleep 0.4; grep -l 'State:.Z' /proc/[0-9]*/status; echo end")
        self.assertEqual(out, "end\n")

    def test_two_boxes_at_once_in_one_project(self):
        first = self.ready("echo ready; sleep 0.5; exit 3")
        self.assertEqual(self.box("echo second"), "second\n")
        self.assertEqual(first.wait(10), 3)

    def test_many_boxes_started_together(self):
        boxes = [subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", f"exit {n}"], cwd=self.project, env=self.env,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                 for n in range(12)]
        errors = [process.communicate(timeout=30)[1] for process in boxes]
        self.assertEqual([process.returncode for process in boxes], list(range(12)), errors)


class Streams(BoxTest):
    def test_10_megabytes_pass_unchanged(self):
        data = os.urandom(10 * 1024 * 1024)
        done = subprocess.run([CLAUDEBOX, "--yes", "--exec", "cat"], cwd=self.project, env=self.env, input=data, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=30, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout == data)

    def test_stdout_and_stderr_stay_separate(self):
        done = self.claudebox("--yes", "--exec", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual(done.stdout, "out\n")
        self.assertTrue(done.stderr.endswith("\nerr\n"))

    def test_a_closed_output_pipe_ends_the_box(self):
        started = time.monotonic()
        done = subprocess.run(["bash", "-c", '"$0" --yes --exec yes 2>/dev/null | head -n 1; echo "${PIPESTATUS[0]}"', CLAUDEBOX],
                              cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              timeout=20, check=False)
        self.assertEqual(done.stdout, "y\n141\n")
        self.assertLess(time.monotonic() - started, 5)

    def test_end_of_input_reaches_the_agent(self):
        done = self.claudebox("--yes", "--exec", "cat", input="last line", stdin=None)
        self.assertEqual((done.stdout, done.returncode), ("last line", 0))

    def test_unread_input_is_left_for_the_caller(self):
        out = subprocess.run(["sh", "-c", '(head -n 0; "$0" --yes --exec true 2>/dev/null; cat) <f', CLAUDEBOX], cwd=self._with_file("rest\n"),
                             env=self.env, stdout=subprocess.PIPE, text=True, timeout=20, check=False).stdout
        self.assertEqual(out, "rest\n")

    def test_a_directory_and_an_o_path_descriptor_are_refused(self):
        """From a directory, /proc/self/fd/0/.. leads to every file of the host."""
        (self.project / "file").write_text("x")
        for flags, path in ((os.O_RDONLY, self.project), (os.O_PATH, self.project), (os.O_PATH, self.project / "file"), (os.O_RDONLY, "/")):
            for number in (0, 1, 2):
                with self.subTest(flags=flags, path=path, number=number):
                    descriptor = os.open(path, flags)
                    streams = {0: subprocess.DEVNULL, 1: subprocess.PIPE, 2: subprocess.PIPE, number: descriptor}
                    done = subprocess.run([CLAUDEBOX, "--yes", "--exec", "touch", "started"], cwd=self.project, env=self.env, stdin=streams[0],
                                          stdout=streams[1], stderr=streams[2], timeout=20, check=False)
                    os.close(descriptor)
                    self.assertEqual(done.returncode, 125)
                    self.assertFalse((self.project / "started").exists())
                    if number != 2:
                        self.assertIn(b"the agent could reach more than the box through it", done.stderr)

    def test_sockets_and_kernel_objects_as_standard_streams_are_refused(self):
        """A TCP socket would stay in the host's network in every tier."""
        with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as connection, \
                socket.socket(socket.AF_NETLINK, socket.SOCK_RAW) as netlink, select.epoll() as poll:
            namespace = os.open("/proc/self/ns/net", os.O_RDONLY)
            pidfd = os.pidfd_open(os.getpid())
            for descriptor, kind in ((connection, "a network socket"), (server, "a network socket"), (netlink, "a network socket"),
                                     (poll, "a kernel object"), (pidfd, "a kernel object"), (namespace, "a namespace")):
                with self.subTest(kind=kind, descriptor=descriptor):
                    done = subprocess.run([CLAUDEBOX, "--yes", "--network", "none", "--exec", "true"], cwd=self.project, env=self.env,
                                          stdin=descriptor, capture_output=True, text=True, timeout=20, check=False)
                    self.assertEqual(done.returncode, 125)
                    self.assertIn(f"standard input is {kind}", done.stderr)
            os.close(namespace)
            os.close(pidfd)

    def test_a_unix_socket_is_a_standard_stream(self):
        """As sshd, socat and node give to their children."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            done = subprocess.run([CLAUDEBOX, "--yes", "--exec", "echo", "through"], cwd=self.project, env=self.env, stdin=theirs, stdout=theirs,
                                  stderr=subprocess.PIPE, text=True, timeout=20, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(ours.recv(100), b"through\n")

    if os.getuid() == 0:  # only root can create a device
        def test_a_block_device_is_refused(self):
            os.mknod(self.project / "disk", 0o600 | stat.S_IFBLK, os.makedev(7, 200))
            descriptor = os.open(self.project / "disk", os.O_PATH)
            done = subprocess.run([CLAUDEBOX, "--yes", "--exec", "true"], cwd=self.project, env=self.env, stdin=descriptor,
                                  capture_output=True, timeout=20, check=False)
            os.close(descriptor)
            self.assertEqual(done.returncode, 125)
            self.assertIn(b"standard input is a block device", done.stderr)

    def _with_file(self, text):
        (self.project / "f").write_text(text)
        return self.project


if __name__ == "__main__":
    unittest.main()
