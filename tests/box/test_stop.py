# SPDX-License-Identifier: MIT
"""A stopped box: no process of it runs, whatever it does, until claudebox is continued."""
import os
import pathlib
import signal
import subprocess
import time
import unittest

from lib.box import CLAUDEBOX, BoxTest, until
from lib.inet import InetTest
from lib.on_terminal import CTRL_C, CTRL_Z, Direct, OnTerminal
from lib.world import bounded

# The agent. Each process counts in a file of its own, the agent itself reads commands.
AGENT = """
import ctypes, os, signal, sys, time

def start(name, prepare, step=lambda: None):
    if os.fork():
        return
    prepare()
    file = os.open(name, os.O_CREAT | os.O_RDWR)
    for count in range(1, 1 << 30):
        os.pwrite(file, b"%d" % count, 0)
        step()
        time.sleep(0.001)

def ignore():
    for number in (signal.SIGTSTP, signal.SIGTTOU, signal.SIGTTIN):
        signal.signal(number, signal.SIG_IGN)

AGENT = os.getpid()

def continue_others():
    # All but the agent, which would not stop at all.
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in (1, AGENT):
            try:
                os.kill(int(name), signal.SIGCONT)
            except ProcessLookupError:
                pass

def chain():
    # A process that creates its successor and ends.
    if os.fork():
        os._exit(0)

def timer():
    # A timer of the kernel that continues the process.
    os.setsid()
    class Event(ctypes.Structure):
        _fields_ = [("value", ctypes.c_void_p), ("number", ctypes.c_int), ("notify", ctypes.c_int), ("pad", ctypes.c_char * 48)]
    libc, place = ctypes.CDLL(None, use_errno=True), ctypes.c_void_p()
    event = Event(None, signal.SIGCONT, 0)
    if libc.timer_create(1, ctypes.byref(event), ctypes.byref(place)) or \\
            libc.timer_settime(place, 0, (ctypes.c_long * 4)(0, 20000000, 0, 20000000), None):
        os._exit(1)

start("ignores", ignore)
start("session", os.setsid)
start("continues", os.setsid, continue_others)
start("continues too", os.setsid, continue_others)
start("chain", ignore, chain)
if "timer" in sys.argv:
    start("timer", timer)
print("READY", flush=True)
for line in sys.stdin:
    if line == "stop\\n":
        os.kill(os.getpid(), signal.SIGSTOP)
    print("again", flush=True)
"""
COUNTERS = ("ignores", "session", "continues", "continues too", "chain")


class Stopped(OnTerminal):
    def counts(self, *names):
        def read(name):
            try:
                return int((self.project / name).read_text() or 0)
            except OSError:
                return 0
        return [read(name) for name in names or COUNTERS]

    def assertAdvance(self, *names):
        before = self.counts(*names)
        self.assertTrue(until(lambda: all(new > old for new, old in zip(self.counts(*names), before, strict=True)), 8),
                        (before, self.counts(*names)))

    def start(self, *arguments):
        (self.project / "agent.py").write_text(AGENT)
        terminal = self.shell()
        words = " ".join(arguments)
        terminal.send(f'"$BOX" --yes --exec python3 agent.py "$MARK" {words} 2>/dev/null\n')
        terminal.expect("READY")
        self.assertAdvance()
        return terminal

    def stopped(self, terminal, text):
        terminal.send(text)
        terminal.expect("Stopped")
        terminal.expect("PROMPT> ")

    def test_no_process_runs_until_fg(self):
        terminal = self.start()
        for text in (CTRL_Z, "stop\n", CTRL_Z):
            self.stopped(terminal, text)
            before = self.counts()
            time.sleep(0.5)
            self.assertEqual(self.counts(), before)
            terminal.send("fg\n")
            self.assertAdvance()
        terminal.send("x\n")
        terminal.expect("again")
        terminal.send(CTRL_C)
        terminal.expect("PROMPT> ")
        self.assert_gone()

    def test_an_agent_that_stops_again_at_once(self):
        """It stops before claudebox has handled SIGCONT."""
        (self.project / "ticks").touch()
        terminal = self.shell()
        terminal.send('"$BOX" --yes --exec sh -c "(while :; do echo >>ticks; sleep 0.02; done) & while :; do kill -STOP \\$\\$; done" "$MARK" 2>/dev/null\n')
        for _ in range(8):
            terminal.expect("Stopped")
            terminal.expect("PROMPT> ")
            before = (self.project / "ticks").read_text()
            time.sleep(0.1)
            self.assertEqual((self.project / "ticks").read_text(), before)
            terminal.send("fg\n")
        terminal.expect("PROMPT> ")
        terminal.send("kill -9 %1; fg\n")
        self.assert_gone()

    def test_bg_continues_the_box(self):
        terminal = self.start()
        self.stopped(terminal, CTRL_Z)
        terminal.send("bg\n")
        self.assertAdvance()
        terminal.send("kill %1; wait\n")
        self.assert_gone()

    def test_a_process_that_a_timer_continues_is_killed(self):
        terminal = self.start("timer")
        self.assertAdvance("timer")
        self.stopped(terminal, CTRL_Z)
        others = self.counts()
        time.sleep(2)
        before = self.counts("timer")
        time.sleep(0.5)
        self.assertEqual(self.counts("timer"), before)
        self.assertEqual(self.counts(), others)
        terminal.send("fg\n")
        self.assertAdvance()


class StoppedDirect(Direct, Stopped):
    """With the user's own terminal. In the background it stops again, because it reads the terminal."""

    test_bg_continues_the_box = None


class Jobs(OnTerminal):
    def test_a_job_that_was_stopped_before_stays_stopped(self):
        """A shell in the box with a stopped job: `fg` of the box does not continue the job, and the shell's
        other job, which waits for input, is not reported as stopped."""
        terminal = self.shell()
        terminal.send('"$BOX" --yes --exec bash --norc --noprofile -i\n')
        terminal.expect(r"bash-[0-9.]+[$#] ")
        terminal.send("PS1='IN''SIDE> '; bind 'set enable-bracketed-paste off'; stty -echo; echo $$ >pid\n")
        terminal.expect("INSIDE> ")
        terminal.send("sh -c 'echo WA''ITS; while :; do sleep 0.02; echo x >>count; done'\n")
        terminal.expect("WAITS")
        self.assertTrue(until((self.project / "count").exists))
        terminal.send(CTRL_Z)
        terminal.expect("INSIDE> ")
        size = (self.project / "count").stat().st_size
        terminal.send("sleep 60 &\n")
        terminal.expect("INSIDE> ")
        terminal.send("suspend -f\n")
        terminal.expect("PROMPT> ")
        terminal.send("fg\n")
        time.sleep(0.3)
        terminal.send("jobs\n")
        self.assertEqual(terminal.expect(r"Stopped[^\n]*\r\n[^\n]*Running").group().count(b"Stopped"), 1)
        self.assertEqual((self.project / "count").stat().st_size, size)
        terminal.send("kill -9 %1 %2; sleep 0.1; exit 7; exit 7\n")
        terminal.expect("PROMPT> ")


# The agent stops itself. Another process of it tries to connect all the time, and the agent itself as
# soon as it is continued.
CONNECTS = """
import errno, os, select, signal, socket, sys, time

def attempt():
    with socket.socket() as connection:
        connection.setblocking(False)
        result = connection.connect_ex((sys.argv[1], 80))
        if result == errno.EINPROGRESS:
            select.select([], [connection], [], 0.02)
            result = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) if select.select([], [connection], [], 0)[1] else errno.ETIMEDOUT
        return errno.errorcode.get(result, "reached")

ours, theirs = os.pipe()
child = os.fork()
if not child:
    os.setsid()
    while True:
        os.write(theirs, (attempt() + " ").encode())
        time.sleep(0.002)
print("ready", flush=True)
sys.stdin.readline()
os.kill(os.getpid(), signal.SIGSTOP)
first = attempt()
time.sleep(0.2)
os.kill(child, signal.SIGKILL)
print("first", first, *set(os.read(ours, 65536).decode().split()), flush=True)
"""


class StoppedInInet(InetTest):
    def test_an_address_that_the_host_got_meanwhile_is_refused_at_the_first_connect(self):
        table = [["tcp", "198.51.104.5", 80]]
        # Not in a session of its own: a group without a parent in its session cannot be stopped.
        process = subprocess.Popen(self.command("--network", "inet", "--yes", "--exec", "/usr/bin/python3", "-c", CONNECTS, table[0][1]),
                                   env=self.env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   process_group=0)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        with bounded(process, 30):
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.stdin.write("go\n")
            process.stdin.flush()
            self.assertTrue(os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1]))
            self.world.run("ip", "addr", "add", "198.51.104.5/24", "dev", "eth0")
            self.addCleanup(self.world.run, "ip", "addr", "del", "198.51.104.5/24", "dev", "eth0")
            self.assertReached(table, self.world.connect(table))
            os.kill(process.pid, signal.SIGCONT)
            words = process.stdout.readline().split()
        self.assertEqual(words[:2], ["first", "ECONNREFUSED"])
        self.assertNotIn("reached", words)


class WithoutTerminal(BoxTest):
    def test_an_agent_that_stops_itself_stops_no_other_process(self):
        """The script and the process beside claudebox are in its process group, with a parent in the same session."""
        script = 'sleep 30 & echo $$ $!; "$BOX" --yes --exec sh -c "kill -STOP \\$\\$; echo again" 2>/dev/null & echo $!; wait $!; echo end; kill %1'
        process = subprocess.Popen(["bash", "-c", script], cwd=self.project, env={**self.env, "BOX": CLAUDEBOX}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, text=True, process_group=0)

        def state(pid):
            return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(") ")[2][0]

        others, box = process.stdout.readline().split(), process.stdout.readline().strip()
        self.assertTrue(until(lambda: state(box) == "T"))
        self.assertEqual([state(pid) for pid in others], ["S", "S"])
        os.kill(int(box), signal.SIGCONT)
        self.assertEqual(process.communicate(timeout=20)[0], "again\nend\n")


if __name__ == "__main__":
    unittest.main()
