# SPDX-License-Identifier: MIT
"""The file system of the box: an empty read-only root, system directories read-only, the project, and no other file of the host."""
import os
import pathlib
import pwd
import subprocess
import tempfile
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.other_host import OtherHost

AS_ROOT = True

# Files with secrets (keys, tokens, keyrings, browser profiles, histories) and other files that no box may see.
SECRET_FILES = (
    ".ssh/id_ed25519", ".gnupg/secring.gpg", ".aws/credentials", ".azure/token", ".config/gcloud/creds.db", ".kube/config",
    ".docker/config.json", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".config/gh/hosts.yml", ".password-store/a.gpg",
    ".config/sops/age/keys.txt", ".config/age/key.txt", ".local/share/keyrings/login.keyring", ".mozilla/firefox/p/logins.json",
    ".config/google-chrome/Default/Cookies", ".config/chromium/Default/Cookies", ".config/BraveSoftware/x/Cookies",
    ".bash_history", ".zsh_history", ".local/share/fish/fish_history", ".python_history", ".claude/.credentials.json",
    ".claude/projects/other/x.jsonl", ".claude/history.jsonl", ".claude.json", ".config/git/config", ".gitconfig",
    ".config/autostart/x", ".cargo/credentials.toml", ".pgpass", ".vault-token", "Documents/tax.txt", ".env",
    ".local/share/claudebox-notes", ".cache/x", "other-project/src/main.c", "other-project/.env", ".claudebox/profiles/work.json",
)
CANARY = "canary-7c1d0a"
DEVICES = {"full", "null", "random", "tty", "urandom", "zero"}


def host_user():
    return os.getuid() or 1000


def mounts(text):
    """Parses mountinfo to {mount point: (options, type, root, super options)}. The last mount on a point is the visible one."""
    found = {}
    for line in text.splitlines():
        left, right = line.split(" - ")
        fields = left.split()
        kind, _, super_options = right.split(" ", 2)
        found[fields[4]] = (set(fields[5].split(",")), kind, fields[3], set(super_options.split(",")))
    return found


class Root(BoxTest):
    def mounts(self, **options):
        return mounts(self.box("cat /proc/self/mountinfo", **options))

    def test_root_is_a_read_only_tmpfs(self):
        options, kind, _, _ = self.mounts()["/"]
        self.assertEqual(kind, "tmpfs")
        self.assertIn("ro", options)

    def test_no_file_can_be_created_outside_the_writable_directories(self):
        places = ["/", "/etc", "/usr", "/usr/bin", "/usr/local/bin", "/bin", "/var", "/run", "/run/claudebox", "/run/user", "/home",
                  "/etc/ssl/certs", "/etc/claude-code", str(self.home.parent), "/proc", "/sys"]
        out = self.box('for d; do if mkdir "$d/x$$" 2>/dev/null || : 2>/dev/null >"$d/y$$"; then echo "$d"; fi; done', *places)
        self.assertEqual(out, "")

    def test_the_root_contains_only_planned_entries(self):
        out = set(self.box("ls -A /").split())
        top = {str(self.home).split("/")[1]}
        self.assertLessEqual(out, {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "dev", "proc", "tmp", "run",
                                   "var", "nix"} | top)

    def test_every_mount_is_in_the_plan(self):
        planned = {mount["path"] for mount in self.plan()["mounts"]} | {"/"}
        for point, (_, kind, root, _) in self.mounts().items():
            if point.startswith("/dev/"):
                self.assertTrue(kind in ("devpts", "tmpfs") or os.path.basename(root) in DEVICES, point)
                continue
            if point.startswith("/proc/") and kind == "proc":
                continue  # bwrap covers some directories of /proc when root starts it
            self.assertIn(point, planned, (kind, root))

    def test_writable_mounts_are_the_planned_ones(self):
        writable = {mount["path"] for mount in self.plan()["mounts"] if mount["kind"] in ("read-write", "tmpfs", "proc", "dev")}
        for point, (options, _, _, _) in self.mounts().items():
            if not point.startswith("/dev/") and "ro" not in options:
                self.assertIn(point, writable)

    def test_every_mount_is_nosuid_and_all_but_devices_nodev(self):
        for point, (options, kind, root, _) in self.mounts().items():
            self.assertIn("nosuid", options, point)
            if kind != "devpts" and os.path.basename(root) not in DEVICES:
                self.assertIn("nodev", options, point)

    def test_nothing_can_be_remounted_or_unmounted(self):
        self.profile(nested=os.getuid() != 0)  # a nested box has the system calls for it
        out = self.box("mount -o remount,rw / 2>/dev/null && echo a; umount /usr 2>/dev/null && echo b; "
                       "mount -t tmpfs x /tmp 2>/dev/null && echo c; mount -o remount,rw,bind /usr 2>/dev/null && echo d; "
                       "unshare -Urm sh -c 'mount -o remount,rw,bind /usr 2>/dev/null && echo e; umount -l /tmp 2>/dev/null && echo f; "
                       "mount -o remount,rw / 2>/dev/null && echo g; : >/etc/x 2>/dev/null && echo h' 2>/dev/null; echo end")
        self.assertEqual(out, "end\n")

    def test_no_capability_and_no_new_privileges(self):
        out = self.box("grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status")
        for line in out.splitlines():
            name, value = line.split()
            self.assertEqual(int(value, 16), 1 if name == "NoNewPrivs:" else 0, line)

    def test_the_old_root_is_not_reachable(self):
        self.assertEqual(self.box("ls -d /oldroot /newroot /.old* 2>/dev/null"), "")

    def test_usr_is_the_hosts_and_read_only(self):
        self.assertIn("ro", self.mounts()["/usr"][0])
        self.assertEqual(self.box("ls /usr"), "".join(f"{n}\n" for n in sorted(os.listdir("/usr"))))

    def test_sh_and_env_exist(self):
        self.assertEqual(self.box("/bin/sh -c 'echo 1'; /usr/bin/env echo 2"), "1\n2\n")

    def test_accounts_name_only_the_user_and_nobody(self):
        account = pwd.getpwuid(os.getuid())
        passwd = self.box("cat /etc/passwd").splitlines()
        self.assertEqual([line.split(":")[0] for line in passwd], [account.pw_name, "nobody"])
        self.assertEqual(passwd[0].split(":")[2:4], [str(host_user()), str(account.pw_gid or 1000)])
        self.assertEqual(passwd[0].split(":")[5], str(self.home))
        groups = [line.split(":")[2] for line in self.box("cat /etc/group").splitlines()]
        self.assertEqual(groups, [str(account.pw_gid or 1000), "65534"])
        self.assertEqual(self.box("ls -d /etc/shadow /etc/gshadow /etc/sudoers 2>/dev/null"), "")

    def test_the_agent_is_the_user_and_never_root(self):
        out = self.box("id -u; id -un; cat /proc/self/uid_map")
        self.assertEqual(out.split()[:2], [str(host_user()), pwd.getpwuid(os.getuid()).pw_name])
        self.assertNotEqual(out.split()[0], "0")
        self.assertEqual(out.split()[4], "1")

    def test_etc_contains_only_planned_entries(self):
        planned = {mount["path"].split("/")[2] for mount in self.plan()["mounts"] if mount["path"].startswith("/etc/")}
        self.assertEqual(set(self.box("ls -A /etc").split()), planned)
        self.assertFalse(planned & {"ssh", "shadow", "sudoers", "machine-id", "fstab", "crypttab", "krb5.keytab"})


class Host(BoxTest):
    """No file of the host is visible: files with a mark in their name and content are planted at places of secrets."""

    SEARCH = (f"find / \\( -path /proc -o -path /usr -o -path /sys \\) -prune -o -name '*{CANARY}*' -print 2>/dev/null; "
              f"grep -rlsIF --exclude-dir=proc --exclude-dir=usr --exclude-dir=certs {CANARY} /bin/ /dev/shm /etc /home /root /run /srv "
              "/opt /mnt /media /tmp /var /nix \"$HOME\" 2>/dev/null; "
              'for f; do [ -e "$f" ] && echo "there: $f"; cat "$f" 2>/dev/null; done; echo end')

    def plant(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CANARY)
        (path.parent / f"{CANARY}.txt").write_text("x")
        return str(path)

    def test_no_secret_path_is_visible(self):
        planted = [self.plant(self.home / name) for name in SECRET_FILES]
        (self.home / ".claudebox").chmod(0o700)
        # The box's ~/.claude is the state of the instance and contains no file of the host's.
        self.assertEqual(self.box(self.SEARCH, *planted), "end\n")

    def test_temporary_directories_of_the_host_are_not_visible(self):
        planted = []
        for directory in ("/tmp", "/var/tmp", "/dev/shm"):
            handle, name = tempfile.mkstemp(prefix=CANARY, dir=directory)
            os.write(handle, CANARY.encode())
            os.close(handle)
            self.addCleanup(os.unlink, name)
            planted.append(name)
        self.assertEqual(self.box(self.SEARCH, *planted), "end\n")

    def test_siblings_and_parents_of_the_project_are_not_visible(self):
        self.plant(self.home / "sibling" / "file")
        self.plant(self.home / "notes")
        out = self.box('ls -A "$HOME" ..; ls -A /home /root 2>/dev/null')
        self.assertNotIn("sibling", out)
        self.assertNotIn(CANARY, out)

    def test_home_contains_only_claude_and_the_project(self):
        # bin contains the fake claude
        self.assertLessEqual(set(self.box('ls -A "$HOME"').split()), {".claude", ".local", "project", "bin"})
        self.assertEqual(self.box('ls -A "$HOME/bin"'), "claude\n")

    def test_home_is_writable_and_is_discarded(self):
        self.assertEqual(self.box('echo x >"$HOME/new" && mkdir "$HOME/.ssh" && cat "$HOME/new"'), "x\n")
        self.assertFalse((self.home / "new").exists())
        self.assertFalse((self.home / ".ssh").exists())

    def test_links_out_of_the_project_do_not_resolve(self):
        secret = self.plant(self.home / ".ssh" / "id_rsa")
        (self.project / "link").symlink_to(secret)
        (self.project / "up").symlink_to("../.ssh")
        (self.project / "root").symlink_to("/")
        out = self.box("cat link up/id_rsa root/etc/shadow root/proc/1/root/etc/shadow 2>/dev/null; ls root/root root/home 2>/dev/null "
                       f"| grep {CANARY}")
        self.assertEqual(out, "")

    def test_proc_gives_no_access_to_the_host(self):
        secret = self.plant(self.home / ".ssh" / "id_rsa")
        script = ('for p in /proc/[0-9]* /proc/self /proc/thread-self /proc/[0-9]*/task/*; do for l in root cwd fd/0/.. fd/1/.. fd/2/.. fd/3 '
                  'fd/3/.. fd/4 fd/5 fd/6 fd/10 fd/10/.. root/.. root/proc/1/root; do cat "$p/$l$1" 2>/dev/null; '
                  '[ -e "$p/$l$1" ] && echo "$p/$l"; done; done; echo end')
        self.assertEqual(self.box(script, secret), "end\n")

    def test_process_1_cannot_be_inspected(self):
        out = self.box("ls -l /proc/1/fd /proc/1/cwd /proc/1/root /proc/1/exe /proc/1/map_files 2>/dev/null | grep -- '->'; "
                       "cat /proc/1/environ /proc/1/maps /proc/1/auxv 2>/dev/null | wc -c")
        self.assertEqual(out, "0\n")

    def test_inherited_descriptors_do_not_reach_the_agent(self):
        secret = self.plant(self.home / ".ssh" / "id_rsa")
        directory = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        file = os.open(secret, os.O_RDONLY)
        high = os.dup2(file, 200, inheritable=True)
        for fd in (directory, file, high):
            self.addCleanup(os.close, fd)
        script = ('for f in /proc/self/fd/* /proc/[0-9]*/fd/*; do readlink "$f"; done 2>/dev/null | sort -u; '
                  'for n in 3 4 5 6 7 8 9 10 11 12 13 14 15 16 200; do cat "/proc/self/fd/$n" "/proc/self/fd/$n$1" 2>/dev/null; done')
        done = self.claudebox("--yes", "--exec", "bash", "-c", script, "sh", secret, pass_fds=(directory, file, high))
        self.assertEqual(done.returncode & 0x7e, 0, done.stderr)
        self.assertNotIn(CANARY, done.stdout)
        for line in done.stdout.splitlines():
            self.assertRegex(line, r"^(/dev/null|pipe:\[\d+\]|/proc/\d+/fd|/dev/pts/\d+)$")

    def test_inherited_descriptors_do_not_reach_bwrap(self):
        secret = self.plant(self.home / ".ssh" / "id_rsa")
        file = os.open(secret, os.O_RDONLY)
        self.addCleanup(os.close, file)
        process = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "echo up; read x"], cwd=self.project, env=self.env, pass_fds=(file,),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.assertEqual(process.stdout.readline(), "up\n")
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        bwrap = [pid for pid in children if pathlib.Path(f"/proc/{pid}/comm").read_text() == "bwrap\n"]
        held = [os.readlink(f"/proc/{pid}/fd/{fd}") for pid in bwrap for fd in os.listdir(f"/proc/{pid}/fd")]
        process.communicate("\n", timeout=20)
        self.assertEqual((len(children), len(bwrap)), (3, 1))  # the others are the killer and the guard
        self.assertNotIn(secret, held)

    def test_closed_standard_descriptors_leak_no_file_to_the_box(self):
        """With descriptors 0, 1 and 2 closed, files that claudebox opens would get these numbers and be inherited."""
        secret = self.plant(self.home / ".ssh" / "id_rsa")
        out = self.project / "out"
        script = ('ls -l /proc/self/fd >"$1"; for n in 0 1 2; do [ -e "/proc/self/fd/$n$2" ] && echo leak >>"$1"; '
                  'cat "/proc/self/fd/$n$2" >>"$1" 2>/dev/null; done; :')
        subprocess.run(["sh", "-c", 'exec "$@" 0<&- 1>&- 2>&-', "sh", CLAUDEBOX, "--yes", "--exec", "sh", "-c", script, "sh",
                        str(out), secret], cwd=self.project, env=self.env, timeout=30, check=False)
        text = out.read_text()
        self.assertIn("/proc/", text)
        self.assertNotIn(CANARY, text)
        self.assertNotIn("leak", text)
        self.assertNotIn("memfd", text)

    def test_the_working_directory_gives_no_access_to_the_host(self):
        """The working directory is a mount of the box and gives no access to the host's directories."""
        self.plant(self.home / "sibling" / "file")
        self.assertEqual(self.box("pwd; cd ..; ls sibling 2>/dev/null; cat /proc/self/cwd/sibling/file 2>/dev/null"), f"{self.project}\n")


class Project(BoxTest):
    NAMES = ("with space", "quote'\"quote", "new\nline", "dollar $HOME `id`", "back\\slash", "tab\there", "-rf", "é 日本 \u202e",
             "semi;colon", "star*?[a]", "=", "#hash", "~", "a:b,c", "%s%n")

    def write_and_read(self, path):
        (path / "in").write_text("from host\n")
        done = self.claudebox("--yes", "--exec", "sh", "-c", 'cat in && echo from box >out && pwd', cwd=path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((path / "out").read_text(), "from box\n")
        return done.stdout

    def test_under_home_at_its_own_path(self):
        self.assertEqual(self.write_and_read(self.project), f"from host\n{self.project}\n")

    def test_outside_home_at_its_own_path(self):
        path = self.scratch()
        self.assertEqual(self.write_and_read(path), f"from host\n{path}\n")

    def test_below_tmp_and_shm(self):
        for directory in ("/tmp", "/dev/shm"):
            path = pathlib.Path(tempfile.mkdtemp(prefix="claudebox-test-", dir=directory))
            self.addCleanup(self._remove, path)
            self.assertEqual(self.write_and_read(path), f"from host\n{path}\n")

    def test_odd_names(self):
        for name in self.NAMES:
            path = self.home / "odd" / name
            path.mkdir(parents=True)
            self.assertEqual(self.write_and_read(path), f"from host\n{path}\n", name)

    def test_a_name_that_is_not_utf_8(self):
        path = os.fsencode(self.home) + b"/odd-\xff\xfe\xc3"
        os.mkdir(path)
        out = self.write_and_read(pathlib.Path(os.fsdecode(path)))
        self.assertEqual(os.fsencode(out), b"from host\n" + path + b"\n")

    def test_a_long_path(self):
        path = self.home
        for _ in range(12):
            path = path / ("d" * 200)
        path.mkdir(parents=True)
        self.assertEqual(self.write_and_read(path), f"from host\n{path}\n")

    def test_a_project_reached_through_a_link_has_its_real_path(self):
        link = self.home / "link"
        link.symlink_to(self.project)
        self.assertEqual(self.write_and_read(link), f"from host\n{self.project}\n")

    def test_home_reached_through_a_link(self):
        link = self.scratch() / "home"
        link.symlink_to(self.home)
        done = self.claudebox("--yes", "--exec", "sh", "-c", "pwd; echo x >out; echo $HOME", cwd=link / "project",
                              env={"HOME": str(link)})
        self.assertEqual((done.returncode, done.stdout), (0, f"{self.project}\n{self.home}\n"), done.stderr)

    def test_files_created_in_the_box_belong_to_the_user(self):
        self.box("mkdir d; : >d/f; chmod 640 d/f; ln -s f d/l")
        status = (self.project / "d/f").stat()
        self.assertEqual((status.st_uid, status.st_gid, status.st_mode & 0o777), (os.getuid(), os.getgid(), 0o640))
        self.assertEqual(os.readlink(self.project / "d/l"), "f")

    def test_claudebox_leaves_no_file_in_the_project(self):
        self.box("true")
        self.assertEqual(list(self.project.iterdir()), [])

    def test_changes_of_the_host_are_visible_while_the_box_runs(self):
        process = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "echo up; read x; cat later"], cwd=self.project,
                                   env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.assertEqual(process.stdout.readline(), "up\n")
        (self.project / "later").write_text("seen\n")
        self.assertEqual(process.communicate("\n", timeout=20)[0], "seen\n")

    def test_setuid_in_the_project_has_no_effect(self):
        program = self.project / "id"
        program.write_bytes(pathlib.Path("/usr/bin/id").read_bytes())
        program.chmod(0o6755)
        self.assertEqual(self.box("./id -u"), f"{host_user()}\n")


class Private(BoxTest):
    def test_tmp_is_empty_private_and_works(self):
        name = f"claudebox-{os.getpid()}"
        for place in ("/tmp", "/var/tmp"):
            self.assertEqual(self.box(f"ls -A {place}; echo a >{place}/{name}; cat {place}/{name}; stat -fc %T {place}"), "a\ntmpfs\n")
            self.assertFalse(os.path.exists(f"{place}/{name}"))

    def test_shm_is_empty_private_and_works(self):
        name = f"claudebox-{os.getpid()}"
        self.assertEqual(self.box(f'ls -A /dev/shm; echo a >/dev/shm/{name}; cat /dev/shm/{name}'), "a\n")
        self.assertFalse(os.path.exists(f"/dev/shm/{name}"))

    def test_pts_is_private_and_a_terminal_can_be_created(self):
        out = self.box("ls /dev/pts; script -qec 'tty' /dev/null </dev/null | tr -d '\\r'")
        self.assertEqual(out.splitlines()[-1], "/dev/pts/0")
        self.assertLessEqual(set(out.splitlines()[:-1]), {"ptmx"})

    def test_only_harmless_devices(self):
        self.assertEqual(set(self.box("ls -A /dev").split()) - {"console"},
                         {"core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom",
                          "zero"})
        self.assertEqual(self.box("head -c 4 /dev/urandom | wc -c; echo x >/dev/null; head -c 2 /dev/zero | wc -c").split(), ["4", "2"])

    def test_device_files_cannot_be_changed(self):
        """They are the host's. The mode is the present one, so that nothing changes if it can be set."""
        done = self.claudebox("--yes", "--exec", "sh", "-c", "for name in null zero full random urandom tty; do "
                              "chmod $(stat -c %a /dev/$name) /dev/$name && echo changed $name; done; echo end")
        self.assertEqual(done.stdout, "end\n", done.stderr)

    def test_devices_cannot_be_created(self):
        self.assertEqual(self.box("mknod x b 254 0 2>/dev/null && echo made; mknod /tmp/x c 1 1 2>/dev/null && echo made; echo end"),
                         "end\n")

    def test_proc_shows_only_the_box(self):
        pids = [int(n) for n in self.box("cd /proc; echo [0-9]*").split()]
        self.assertLess(len(pids), 6)
        self.assertLess(max(pids), 20)

    def test_kernel_settings_cannot_be_changed(self):
        """When root starts the box, the agent's uid on the host is 0, and the kernel lets that uid write to /proc/sys.
        With core_pattern alone it could run any program as root outside of the box."""
        knobs = ("kernel/core_pattern", "kernel/core_uses_pid", "kernel/modprobe", "kernel/hotplug", "kernel/poweroff_cmd", "kernel/sysrq",
                 "kernel/panic", "kernel/printk", "kernel/randomize_va_space", "kernel/yama/ptrace_scope", "kernel/kptr_restrict",
                 "kernel/dmesg_restrict", "kernel/threads-max", "kernel/usermodehelper/bset", "vm/drop_caches", "vm/overcommit_memory",
                 "vm/mmap_min_addr", "vm/panic_on_oom", "fs/file-max", "fs/protected_symlinks", "fs/suid_dumpable", "fs/pipe-max-size",
                 "dev/tty/legacy_tiocsti", "net/ipv4/ip_forward", "net/ipv4/conf/all/forwarding", "net/core/somaxconn", "debug/exception-trace")
        out = self.box('for f; do [ -w "$f" ] && echo "$f"; done; echo end', *(f"/proc/sys/{knob}" for knob in knobs), "/proc/sysrq-trigger",
                       "/proc/kcore", "/proc/kmsg", "/proc/mtrr", "/proc/acpi/wakeup", "/proc/irq/default_smp_affinity", "/proc/bus/pci")
        self.assertEqual(out, "end\n")

    def test_cgroups_of_the_host_cannot_be_changed(self):
        """In its own user namespace the agent may mount cgroup2. When root started the box, it would own the files there."""
        self.profile(nested=os.getuid() != 0)
        out = self.box("unshare -UrmC sh -c 'mount -t cgroup2 x /tmp && [ -w /tmp/cgroup.procs ] && mkdir /tmp/claudebox-test-made && "
                       "rmdir /tmp/claudebox-test-made && echo made' 2>/dev/null; echo end")
        self.assertEqual(out, "end\n")

    def test_no_sysfs(self):
        self.assertEqual(self.box("ls -A /sys 2>/dev/null"), "")


class Names(BoxTest):
    """Name resolution and certificates on hosts with the /etc of other distributions."""

    def test_the_resolver_of_this_host(self):
        self.assertEqual(self.box("cat /etc/resolv.conf"), pathlib.Path("/etc/resolv.conf").read_text())
        self.assertIn("127.0.0.1", self.box("getent ahostsv4 localhost"))

    def resolver(self, files):
        host = OtherHost(self, files)
        return host.box("cat /etc/resolv.conf; cat /etc/secret /run/secret 2>/dev/null; : >>/etc/resolv.conf && echo WRITTEN")

    def test_systemd_resolved(self):
        self.assertEqual(self.resolver({
            "/etc/resolv.conf": ("->", "../run/systemd/resolve/stub-resolv.conf"),
            "/run/systemd/resolve/stub-resolv.conf": "nameserver 127.0.0.53\n",
            "/run/systemd/resolve/secret": "hidden\n", "/run/secret": "hidden\n", "/etc/secret": "hidden\n"}),
            "nameserver 127.0.0.53\n")

    def test_a_resolver_file_through_several_links(self):
        self.assertEqual(self.resolver({
            "/etc/resolv.conf": ("->", "static/resolv.conf"),
            "/etc/static": ("->", "/var/etc-now"),
            "/var/etc-now": ("->", "etc-1"),
            "/var/etc-1/resolv.conf": ("->", "/run/resolvconf/../resolvconf/resolv.conf"),
            "/run/resolvconf": ("->", "net"),
            "/run/net/resolv.conf": "nameserver 192.0.2.1\n"}), "nameserver 192.0.2.1\n")

    def test_a_dangling_or_looping_resolver_link_does_not_prevent_the_start(self):
        for target in ("/run/nowhere/resolv.conf", "/etc/resolv.conf"):
            host = OtherHost(self, {"/etc/resolv.conf": ("->", target)})
            self.assertEqual(host.box("echo started"), "started\n")

    def test_no_resolv_conf_at_all(self):
        self.assertEqual(OtherHost(self, {}).box("echo started"), "started\n")

    def bundle(self, files, env=None, store=None):
        host = OtherHost(self, files)
        if store:
            host.add_programs(store, "bash", "sh=bash", "cat", "find")
        return host.box('cat "$SSL_CERT_FILE" && cat "$NIX_SSL_CERT_FILE"; find /etc /nix /var -name "*.key" 2>/dev/null; '
                        'cat /etc/ssl/private/* 2>/dev/null', env=env)

    def test_debian(self):
        self.assertEqual(self.bundle({"/etc/ssl/certs/ca-certificates.crt": "debian\n", "/etc/ssl/private/host.key": "hidden\n"}),
                         "debian\n" * 2)

    def test_fedora(self):
        self.assertEqual(self.bundle({
            "/etc/ssl/certs": ("->", "/etc/pki/tls/certs"), "/etc/ssl/cert.pem": ("->", "/etc/pki/tls/certs/ca-bundle.crt"),
            "/etc/pki/tls/certs/ca-bundle.crt": ("->", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"),
            "/etc/pki/tls/cert.pem": ("->", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"),
            "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem": "fedora\n",
            "/etc/pki/tls/private/localhost.key": "hidden\n", "/etc/pki/nssdb/key4.db": "hidden\n"}), "fedora\n" * 2)

    def test_fedora_only_the_extracted_bundle(self):
        self.assertEqual(self.bundle({"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem": "fedora 43\n"}), "fedora 43\n" * 2)

    def test_arch(self):
        self.assertEqual(self.bundle({
            "/etc/ssl/certs/ca-certificates.crt": ("->", "../../ca-certificates/extracted/tls-ca-bundle.pem"),
            "/etc/ssl/cert.pem": ("->", "../ca-certificates/extracted/tls-ca-bundle.pem"),
            "/etc/ca-certificates/extracted/tls-ca-bundle.pem": "arch\n"}), "arch\n" * 2)

    def test_alpine(self):
        self.assertEqual(self.bundle({"/etc/ssl/cert.pem": "alpine\n", "/etc/ssl/private/host.key": "hidden\n"}), "alpine\n" * 2)

    def test_alpine_with_a_link(self):
        self.assertEqual(self.bundle({"/etc/ssl/cert.pem": ("->", "certs/ca-certificates.crt"),
                                      "/etc/ssl/certs/ca-certificates.crt": "alpine 3\n"}), "alpine 3\n" * 2)

    def test_nixos(self):
        store = "/nix/store/00000000000000000000000000000000-nss-cacert/etc/ssl/certs/ca-bundle.crt"
        files = {
            "/etc/NIXOS": "", "/etc/static": ("->", "/nix/store/11111111111111111111111111111111-etc/etc"),
            "/etc/ssl/certs/ca-certificates.crt": ("->", "/etc/static/ssl/certs/ca-certificates.crt"),
            "/etc/ssl/certs/ca-bundle.crt": ("->", "/etc/static/ssl/certs/ca-bundle.crt"),
            "/nix/store/11111111111111111111111111111111-etc/etc/ssl/certs/ca-certificates.crt": ("->", store),
            "/nix/store/11111111111111111111111111111111-etc/etc/ssl/certs/ca-bundle.crt": ("->", store),
            store: "nixos\n"}
        tools = "/nix/store/22222222222222222222222222222222-tools"
        self.assertEqual(self.bundle(files, env={"PATH": f"{tools}/bin:{self.env['PATH']}"}, store=tools), "nixos\n" * 2)

    def test_nixos_path_has_only_store_directories(self):
        tools = "/nix/store/22222222222222222222222222222222-tools"
        files = {"/etc/NIXOS": "", "/run/current-system": ("->", "/nix/store/3-system"),
                 "/nix/store/3-system/sw/bin/x": "", "/nix/var/nix/db/db.sqlite": "hidden", "/nix/var/nix/profiles/x": "hidden",
                 "/nix/var/nix/daemon-socket/dummy": ""}
        host = OtherHost(self, files)
        host.add_programs(tools, "bash", "sh=bash")
        out = host.box('echo "$PATH"; echo "$NIX_REMOTE"; echo /usr/* /bin/*; cd /nix; echo store/* var/nix/*; : >store/x', env={
            "PATH": f"{self.home}/bin:/run/current-system/sw/bin:{tools}/bin:{self.env['PATH']}"})
        # The Nix daemon trusts root, so root's box does not get it.
        remote, var = ("daemon", "daemon-socket") if os.getuid() else ("", "*")
        self.assertEqual(out, f"/run/claudebox/command:/nix/store/3-system/sw/bin:{tools}/bin\n{remote}\n/usr/* /bin/bash /bin/sh\n"
                              f"{tools[5:]} {tools[5:]}-libraries store/3-system var/nix/{var}\n")

    def test_a_certificate_variable_for_a_missing_file_is_replaced(self):
        out = self.box('cat "$SSL_CERT_FILE" "$NIX_SSL_CERT_FILE" | grep -c BEGIN', env={
            "SSL_CERT_FILE": "/nowhere.pem", "NIX_SSL_CERT_FILE": str(self.home)})
        self.assertGreater(int(out), 1)


if __name__ == "__main__":
    unittest.main()
