# SPDX-License-Identifier: MIT
"""The seccomp filter: every rule of its table is tried from inside, by every way to make a
system call; namespaces; the terminal; keys."""
import ctypes
import errno
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.terminal import Terminal

AS_ROOT = True
STAGE = pathlib.Path(os.environ["STAGE"])
RULES = json.loads((STAGE / "seccomp_rules.json").read_text())
ON_X86 = os.uname().machine == "x86_64"
HIGH = 0xDEADBEEF << 32
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
# Numbers of calls of 32-bit programs, on i386 and ARM. None of them exists in a box.
GETPID_32 = 20
CALLS_32 = {"getpid": (GETPID_32,), "ioctl": (54,), "keyctl": (288, 311), "mount": (21,), "socketcall": (102,), "socket": (281,), "clone": (120,),
            "unshare": (310, 337), "bpf": (357, 386), "set_tls": (0xF0005,)}
X32_GETPID = 39
KEY_SPEC_USER_KEYRING = -4


def bad(rule, high=0):
    """Returns arguments that meet a rule's conditions. The others are invalid, so that the
    kernel itself would return another error."""
    arguments = [1] * 6
    for at, _, value in rule["conditions"]:
        arguments[at] = value
    return [value | high for value in arguments]


class Calls(BoxTest):
    def setUp(self):
        super().setUp()
        self.helper = self.project / "syscalls"
        shutil.copy(STAGE / "syscalls", self.helper)

    def calls(self, lines, *arguments, prefix=(), tier="none"):
        """Returns the result of each call; `lines` are (HOW, NUMBER, arguments)."""
        text = "".join(f"{how} {number} {' '.join(map(str, values))}\n" for how, number, values in lines)
        done = self.claudebox("--network", tier, "--yes", "--exec", *prefix, self.helper, *arguments, stdin=None, input=text)
        self.assertEqual(done.returncode, 0, done.stderr[-400:])
        results = [int(line) for line in done.stdout.split()]
        self.assertEqual(len(results), len(lines))
        return results

    def refuses(self, *arguments, rules=None, high=0, **more):
        rules = [rule for rule in RULES if rule["number"] >= 0] if rules is None else rules
        results = self.calls([("native", rule["number"], bad(rule, high)) for rule in rules], *arguments, **more)
        wrong = [(rule["call"], rule["conditions"], result) for rule, result in zip(rules, results) if result != -rule["error"]]
        self.assertEqual(wrong, [])
        self.assertTrue(rules)

    def test_every_rule(self):
        self.refuses()

    def test_every_rule_in_full(self):
        self.refuses(tier="full")

    def test_every_rule_from_a_thread(self):
        self.refuses("--thread")

    def test_every_rule_in_a_grandchild_after_execution(self):
        self.refuses(prefix=("sh", "-c", '(exec setsid env "$@"); exit $?', "sh"))

    def test_high_bits_change_nothing(self):
        """The kernel ignores them, and so does the seccomp filter."""
        self.refuses(high=HIGH)

    def test_a_seccomp_filter_of_the_agent_allows_nothing_more(self):
        """Here one that allows every call."""
        script = ("import ctypes, os, struct, sys\n"
                  "rule = struct.pack('<HBBI', 6, 0, 0, 0x7fff0000)\n"
                  "program = ctypes.create_string_buffer(rule)\n"
                  "assert ctypes.CDLL(None).prctl(22, 2, ctypes.byref((ctypes.c_ulong * 2)(1, ctypes.addressof(program)))) == 0\n"
                  "os.execv(sys.argv[1], sys.argv[1:])\n")
        self.refuses(prefix=("/usr/bin/python3", "-c", script))

    def test_calls_of_32_bit_programs_do_not_exist(self):
        outside = subprocess.run([self.helper], input=f"32-bit {GETPID_32}\n", stdout=subprocess.PIPE, text=True, check=False).stdout
        if not outside or int(outside) < 0:
            self.skipTest("the kernel runs no 32-bit programs")
        lines = [("32-bit", number, [1, TIOCSTI, 1]) for numbers in CALLS_32.values() for number in numbers]
        self.assertEqual(set(self.calls(lines)), {-errno.ENOSYS})

    @unittest.skipUnless(ON_X86 or os.environ.get("CI") == "true", "not on this architecture")
    def test_x32_calls_do_not_exist(self):
        lines = [("x32", number, bad(rule)) for rule in RULES for number in (rule["number"],) if number >= 0]
        lines += [("x32", X32_GETPID, []), ("x32", 514, [0, TIOCSTI, 1])]  # 514: its own ioctl
        self.assertEqual(set(self.calls(lines)), {-errno.ENOSYS})
        self.assertEqual(len(lines) > 100, True)

    def test_harmless_neighbours_work(self):
        """The same calls with other arguments are allowed."""
        numbers = {rule["call"]: rule["number"] for rule in RULES}
        results = self.calls([("native", numbers["ioctl"], [99, TIOCSTI + 1, 0]), ("native", numbers["unshare"], [0x400]),
                              ("native", numbers["personality"], [0xFFFFFFFF]), ("native", numbers["socket"], [2, 1, 0]),
                              ("native", numbers["socket"], [10 | HIGH, 2, 0]), ("native", numbers["socket"], [16, 3, 0])])
        self.assertEqual(results[:3], [-errno.EBADF, 0, 0])
        self.assertEqual([result > 2 for result in results[3:]], [True] * 3)

    def test_process_1_has_the_seccomp_filter_too(self):
        seen = self.box("grep -hE '^(Seccomp|NoNewPrivs):' /proc/1/status /proc/self/status").split()
        self.assertEqual(seen, ["NoNewPrivs:", "1", "Seccomp:", "2"] * 2)

    def test_process_1_is_not_dumpable(self):
        seen = self.box("cat /proc/1/environ /proc/1/maps; readlink /proc/1/fd/* /proc/1/exe; strace -p 1 -o /dev/null; echo end", timeout=30)
        self.assertEqual(seen, "end\n")

    def test_the_table_with_nested(self):
        self.profile(nested=True)
        if os.getuid() == 0:
            said = self.refused()
            self.assertIn("refused for root", said)
            return
        self.refuses(rules=[rule for rule in RULES if rule["number"] >= 0 and not rule["unless_nested"]])
        numbers = {rule["call"]: rule["number"] for rule in RULES}
        results = self.calls([("native", numbers["setns"], [99, 0]), ("native", numbers["clone3"], [0, 0]), ("native", numbers["open_tree"], [99])])
        self.assertEqual(results, [-errno.EBADF, -errno.EINVAL, -errno.EFAULT if results[2] == -errno.EFAULT else -errno.EBADF])


class Namespaces(BoxTest):
    TRIES = ("unshare --user true", "unshare --user --map-root-user --mount true", "unshare --net true", "unshare --mount true",
             "unshare --pid --fork true", "nsenter --target 1 --user true", "nsenter --target $$ --mount true", "chroot / true",
             "bwrap --ro-bind / / true", "mount --bind /tmp /mnt", "mount -t tmpfs none /tmp", "umount /tmp")

    def test_none_can_be_made_or_entered(self):
        for attempt in self.TRIES:
            self.assertEqual(self.box(f"{attempt} 2>/dev/null && echo done; true"), "", attempt)

    def pasted(self, *without):
        """Runs the command of --dry-run without some of its options. Returns its output."""
        script = self.claudebox("--dry-run", "--exec", "unshare", "--user", "echo", "made").stdout
        for option in without:
            self.assertIn(f"  {option} \\\n", script)
            script = script.replace(f"  {option} \\\n", "")
        return subprocess.run(["sh", "-c", script], env=self.env, cwd=self.project, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False, timeout=30).stdout

    def test_the_seccomp_filter_and_the_kernel_each_block_alone(self):
        self.assertEqual(self.pasted(), "")
        self.assertEqual(self.pasted("--seccomp 9"), "")
        self.assertEqual(self.pasted("--disable-userns"), "")
        self.assertEqual(self.pasted("--seccomp 9", "--disable-userns"), "made\n")  # shows that the test can fail

    def test_with_nested_they_can(self):
        self.profile(nested=True)
        if os.getuid() == 0:
            self.assertIn("refused for root", self.refused())
            return
        for attempt in (self.TRIES[0], self.TRIES[1], "bwrap --ro-bind / / --proc /proc --dev /dev --unshare-all true"):
            self.assertEqual(self.box(f"{attempt} && echo done"), "done\n", attempt)

    def test_the_audit_and_the_plan_show_nested(self):
        self.profile(nested=True)
        if os.getuid() == 0:
            return
        audit = self.claudebox("--yes", "--exec", "true").stderr
        self.assertRegex(audit, r'namespaces and mounts \("nested", profile default\)')
        plan = self.plan()
        self.assertEqual((plan["filter"], plan["user_namespaces"]), ("nested", True))
        self.profile()
        plan = self.plan()
        self.assertEqual((plan["filter"], plan["user_namespaces"]), ("strict", False))


# Inserts input into the terminal in every way and prints each result.
TYPE = r"""
import errno, fcntl, os, subprocess, sys
for request in (0x5412, 0x541c):
    for target in (0, os.open("/dev/tty", os.O_RDWR)):
        for argument in (b"X", b"\x03X", b"\x02\0"):
            try:
                fcntl.ioctl(target, request, argument)
                print("done", hex(request))
            except OSError as error:
                print(errno.errorcode[error.errno])
text = "".join(f"{how} {number} {fd} {request | high} {0}\n" for how, number in (("native", sys.argv[2]), ("x32", 514), ("x32", 16), ("32-bit", 54))
               for fd in (0, 2) for request in (0x5412, 0x541c) for high in (0, 0xdeadbeef << 32))
done = subprocess.run([sys.argv[1]], input=text, stdout=subprocess.PIPE, text=True)
print(" ".join(done.stdout.split()))
print("tried")
"""


class Keys(BoxTest):
    """Input into the terminal (TIOCSTI, TIOCLINUX), and kernel keyrings."""

    def test_no_input_is_inserted_into_the_terminal(self):
        helper = self.project / "syscalls"
        shutil.copy(STAGE / "syscalls", helper)
        number = next(str(rule["number"]) for rule in RULES if rule["call"] == "ioctl")
        box = shlex.join([CLAUDEBOX, "--yes", "--exec", "/usr/bin/python3", "-c", TYPE, str(helper), number])
        terminal = Terminal(["bash", "-c", f"{box} 2>/dev/null; read -r -t 1 -n 1 typed; echo \"typed[$typed]\""], self.env, self.project)
        self.addCleanup(terminal.close)
        terminal.expect(r"tried\r", 20)
        said = terminal.output.decode()
        self.assertNotIn("done", said)
        self.assertGreaterEqual(said.count("EPERM"), 12)
        numbers = {int(word) for line in said.splitlines() for word in line.split() if word.lstrip("-").isdigit()}
        self.assertLessEqual(numbers, {-errno.EPERM, -errno.ENOSYS, *([] if ON_X86 else [-errno.ENOEXEC])})
        terminal.expect(r"typed\[\]", 5)

    def test_input_is_inserted_without_a_box(self):
        """Where the kernel still allows it."""
        path = pathlib.Path("/proc/sys/dev/tty/legacy_tiocsti")
        if path.exists() and path.read_text().strip() != "1":
            return
        script = "import fcntl; fcntl.ioctl(0, 0x5412, b'X')"
        terminal = Terminal(["bash", "-c", f"/usr/bin/python3 -c {shlex.quote(script)}; read -r -t 1 -n 1 typed; echo \"typed[$typed]\""],
                            self.env, self.project)
        self.addCleanup(terminal.close)
        terminal.expect(r"typed\[X\]", 5)

    def test_the_hosts_keys_are_out_of_reach(self):
        numbers = {rule["call"]: rule["number"] for rule in RULES}
        libc = ctypes.CDLL(None, use_errno=True)
        secret = b"CANARY-KEY"
        serial = libc.syscall(numbers["add_key"], b"user", b"claudebox-test", secret, len(secret), KEY_SPEC_USER_KEYRING)
        self.assertGreater(serial, 0, os.strerror(ctypes.get_errno()))
        self.addCleanup(lambda: libc.syscall(numbers["keyctl"], 21, serial))  # KEYCTL_INVALIDATE
        libc.syscall(numbers["keyctl"], 5, serial, 0x3F3F3F3F)  # KEYCTL_SETPERM: every process that finds it may read it
        script = ("import ctypes, os, sys\n"
                  "libc = ctypes.CDLL(None, use_errno=True)\n"
                  "add, keyctl, request, serial = map(int, sys.argv[1:])\n"
                  "buffer = ctypes.create_string_buffer(100)\n"
                  "tries = [(keyctl, 11, serial, buffer, 100), (keyctl, 8, serial, -4), (keyctl, 8, serial, -3), (keyctl, 0, -4, 1), (keyctl, 0, -3, 1),\n"
                  "         (keyctl, 6, serial, buffer, 100), (request, b'user', b'claudebox-test', 0, 0), (add, b'user', b'x', b'y', 1, -4)]\n"
                  "print({os.strerror(ctypes.get_errno()) if libc.syscall(*call) < 0 else 'done' for call in tries}, buffer.value)\n")
        words = ["/usr/bin/python3", "-c", script, *(str(numbers[name]) for name in ("add_key", "keyctl", "request_key")), str(serial)]
        outside = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertIn("done", outside)  # shows that the test can fail
        for nested in (False, True):
            if nested and os.getuid() == 0:
                continue
            self.profile(nested=nested)
            inside = self.claudebox("--yes", "--exec", *words).stdout
            self.assertEqual(inside, "{'Function not implemented'} b''\n")

    def test_the_seccomp_filter_cannot_be_removed(self):
        """Neither by a debugger, which may trace its own children, nor through another process."""
        script = ("strace -f -o /dev/null -e inject=keyctl:retval=0 true 2>/dev/null; "
                  "strace -f -o /tmp/log -e trace=unshare unshare -U true 2>/dev/null; grep -c EPERM /tmp/log")
        self.assertEqual(self.box(script), "1\n")


if __name__ == "__main__":
    unittest.main()
