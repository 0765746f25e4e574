# SPDX-License-Identifier: MIT
"""The environment of the box: only listed variables enter it, and no value leaks through /proc or
ps."""
import os
import pathlib
import pwd
import socket
import subprocess
import time
import unittest

from lib.box import CLAUDEBOX, BoxTest, processes_with

AS_ROOT = True

LOCALE_CATEGORIES = ("LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION", "LC_MEASUREMENT", "LC_MESSAGES", "LC_MONETARY", "LC_NAME",
                     "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME")
ALLOWED = ("TERM", "COLORTERM", "EDITOR", "VISUAL", "LANG", "LC_ALL", *LOCALE_CATEGORIES, "TZ", "NO_COLOR",
           "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
GENERATED = ("HOME", "USER", "LOGNAME", "SHELL", "PATH", "TMPDIR", "XDG_RUNTIME_DIR")
OTHERS = ("PWD", "CLAUDEBOX", "CLAUDE_CONFIG_DIR", "CLAUDE_SECURESTORAGE_CONFIG_DIR", "CLAUDE_CODE_SANDBOXED",
          "DISABLE_AUTOUPDATER", "DISABLE_INSTALLATION_CHECKS", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL",
          "SSL_CERT_FILE", "NIX_SSL_CERT_FILE", "NIX_REMOTE", "NPM_CONFIG_GLOBALCONFIG", "CARGO_INSTALL_ROOT", "GOBIN")
SECRET = "sk-ant-canary-5f1e9c77-never-shown-anywhere"


def inside(uid=None):
    """Returns the uid in the box: 1000 for root."""
    return (uid if uid is not None else os.getuid()) or 1000


class Environment(BoxTest):
    def variables(self, env=None, cwd=None):
        """Returns all variables of the first program in the box, read from /proc."""
        done = self.claudebox("--yes", "--exec", "cat", "/proc/self/environ", env=env, cwd=cwd)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.endswith("\0"))
        return dict(entry.split("=", 1) for entry in done.stdout[:-1].split("\0"))

    def test_nothing_unlisted_passes(self):
        hostile = {"AWS_SECRET_ACCESS_KEY": "x", "GITHUB_TOKEN": "x", "SSH_AUTH_SOCK": "/x", "DBUS_SESSION_BUS_ADDRESS": "x",
                   "DISPLAY": ":0", "WAYLAND_DISPLAY": "w", "XAUTHORITY": "/x", "GPG_AGENT_INFO": "x", "DOCKER_HOST": "x",
                   "GIT_ASKPASS": "/x", "GIT_DIR": "/x", "GIT_CONFIG_GLOBAL": "/x", "NODE_OPTIONS": "--require /x",
                   "PYTHONPATH": "/x", "HTTPS_PROXY": "http://u:p@h", "lc_all": "x", "LC": "x", "LC_": "x", "XLC_ALL": "x", "LC_TOKEN": "x", "LC_ALL_2": "x",
                   "TERMINAL": "x", "OLDPWD": "/x", "ANTHROPIC_API_KEY_2": "x",
                   "ANTHROPIC_CUSTOM_HEADERS": "x", "CLAUDE_CODE_SHELL_PREFIX": "/x", "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "1",
                   "CLAUDE_CODE_SESSION_ID": "x", "CLAUDE_CODE_PROCESS_WRAPPER": "/x", "AWS_REGION": "x", "PS1": "x", "_": "/x",
                   "CLAUDEBOX_EXTRA_ENV": "", "XDG_CONFIG_HOME": "/x", "MAIL": "/x"}
        seen = self.variables(hostile)
        self.assertLessEqual(set(seen), {*ALLOWED, *GENERATED, *OTHERS})
        for name in hostile:
            self.assertNotIn(name, seen)

    def test_works_with_an_empty_environment(self):
        done = subprocess.run([CLAUDEBOX, "--yes", "--exec", "env"], cwd=self.project, stdin=subprocess.DEVNULL,
                              env={"HOME": str(self.home)}, capture_output=True, text=True, check=False, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = {line.split("=")[0] for line in done.stdout.splitlines()}
        self.assertLessEqual(names, {*GENERATED, *OTHERS})
        self.assertLessEqual(set(GENERATED), names)

    def test_each_allowed_variable_passes_unchanged(self):
        values = {name: f"value of {name} é \" ' $x\n=;" for name in ALLOWED}
        seen = self.variables(values)
        for name, value in values.items():
            self.assertEqual(seen.get(name), value, name)

    def test_an_editor_that_the_box_lacks_does_not_pass(self):
        tools = self.home / "tools"
        tools.mkdir()
        (tools / "my-editor").write_text("#!/bin/sh\n")
        (tools / "my-editor").chmod(0o755)
        show = 'printf "%s|" "${EDITOR-none}" "${VISUAL-none}"'
        env = {"EDITOR": "my-editor --wait", "VISUAL": str(tools / "my-editor"), "PATH": f"{tools}:{self.env['PATH']}"}
        self.assertEqual(self.box(show, env=env), "none|none|")
        rows = {row["what"]: (row["why"], row["option"]) for row in self.plan(env=env)["left_out"]}
        for name in ("EDITOR", "VISUAL"):
            self.assertEqual(rows[name], ("its program ~/tools/my-editor is not in the box", "--path ~/tools"))
        done = self.claudebox("--yes", "--path", "~/tools", "--exec", "sh", "-c", show, env=env)
        self.assertEqual(done.stdout, f"my-editor --wait|{tools}/my-editor|")
        self.assertEqual(self.box(show, env={**env, "CLAUDEBOX_EXTRA_ENV": "EDITOR"}), "my-editor --wait|none|")  # asked for by name
        self.assertEqual(self.box(show, env={"EDITOR": "sh", "VISUAL": "no-such-editor"}), "sh|no-such-editor|")  # missing outside as well

    def test_unset_stays_unset_and_empty_stays_empty(self):
        del self.env["TERM"]
        seen = self.variables({"EDITOR": "", "TZ": ""})
        self.assertEqual((seen["EDITOR"], seen["TZ"]), ("", ""))
        for name in ("TERM", "VISUAL", "COLORTERM", "LC_ALL", "ANTHROPIC_API_KEY"):
            self.assertNotIn(name, seen)

    def test_generated_variables_are_not_read_from_the_host(self):
        account = pwd.getpwuid(os.getuid()).pw_name
        hostile = {"USER": "mallory", "LOGNAME": "mallory", "SHELL": "/host/evil", "PATH": f"/host/evil:{self.env['PATH']}",
                   "TMPDIR": "/host/evil", "XDG_RUNTIME_DIR": "/host/evil", "PWD": "/host/evil", "CLAUDEBOX": "0",
                   "CLAUDE_CODE_SANDBOXED": "0", "DISABLE_AUTOUPDATER": "0", "NIX_REMOTE": "/host/evil"}
        seen = self.variables(hostile)
        self.assertEqual(seen["USER"], account)
        self.assertEqual(seen["LOGNAME"], account)
        self.assertEqual(seen["HOME"], str(self.home))
        self.assertEqual(seen["PWD"], str(self.project))
        self.assertEqual(seen["TMPDIR"], "/tmp")
        self.assertEqual(seen["XDG_RUNTIME_DIR"], f"/run/user/{inside()}")
        for value in seen.values():
            self.assertNotIn("evil", value)
            self.assertNotEqual(value, "mallory")

    def test_home_is_the_real_path(self):
        link = self.scratch() / "link"
        link.symlink_to(self.home)
        self.assertEqual(self.variables({"HOME": str(link)})["HOME"], str(self.home))

    def test_path_has_only_directories_of_the_box(self):
        out = self.box('IFS=:; for d in $PATH; do [ -d "$d" ] && [ ! -L "$d" ] && echo "$d"; done; echo; echo "$PATH"')
        directories, path = out.rstrip("\n").split("\n\n")
        self.assertEqual(directories.split("\n"), path.split(":"))
        self.assertTrue(all(d.startswith(("/run/claudebox/command", f"{self.home}/.local/bin", "/usr/", "/bin", "/sbin", "/nix/store/")) for d in path.split(":")), path)
        self.assertEqual(len(set(path.split(":"))), len(path.split(":")))

    def test_extra_names_pass(self):
        seen = self.variables({"CLAUDEBOX_EXTRA_ENV": "MY_ORG_TOKEN, other_1 ,_X", "MY_ORG_TOKEN": "a=b\nc", "other_1": "",
                               "_X": "x", "NOT_ASKED": "x"})
        self.assertEqual((seen["MY_ORG_TOKEN"], seen["other_1"], seen["_X"]), ("a=b\nc", "", "x"))
        self.assertNotIn("NOT_ASKED", seen)
        self.assertNotIn("CLAUDEBOX_EXTRA_ENV", seen)

    def test_empty_entries_are_skipped(self):
        for names in (",A1,,", ", ,A1", "A1,\t", ",,,A1,,,"):
            self.assertEqual(self.variables({"CLAUDEBOX_EXTRA_ENV": names, "A1": "1"})["A1"], "1", names)

    def test_an_unset_name_is_skipped(self):
        seen = self.variables({"CLAUDEBOX_EXTRA_ENV": "UNSET_ONE,SET_ONE", "SET_ONE": "1"})
        self.assertNotIn("UNSET_ONE", seen)
        self.assertEqual(seen["SET_ONE"], "1")

    def test_a_name_given_twice_or_on_the_allowlist_passes_once(self):
        done = self.claudebox("--yes", "--exec", "cat", "/proc/self/environ", env={
            "CLAUDEBOX_EXTRA_ENV": "TWICE,TWICE,LANG", "TWICE": "1", "LANG": "C"})
        names = [entry.split("=")[0] for entry in done.stdout.split("\0")]
        self.assertEqual((names.count("TWICE"), names.count("LANG")), (1, 1))

    def test_malformed_names_are_errors(self):
        for name in ("A B", "A=B", "1A", "A-B", "é", "A\n", "A\x1b[31m", "*", "A,-,B", ";A", "$A", "A:B"):
            errors = self.refused(env={"CLAUDEBOX_EXTRA_ENV": name, "A": "1", "B": "2"})
            self.assertIn("CLAUDEBOX_EXTRA_ENV", errors)
            self.assertNotIn("\x1b", errors)

    def test_reserved_names_are_errors(self):
        for name in ("HOME", "USER", "LOGNAME", "SHELL", "PATH", "TMPDIR", "XDG_RUNTIME_DIR", "LD_PRELOAD", "LD_LIBRARY_PATH",
                     "BASH_ENV", "ENV", "IFS", "CLAUDE_CONFIG_DIR", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "SHELLOPTS",
                     "CLAUDEBOX_EXTRA_ENV", "CLAUDE_CODE_SANDBOXED", "PROMPT_COMMAND"):
            errors = self.refused(env={name: self.env.get(name, "x"), "CLAUDEBOX_EXTRA_ENV": f"LANG,{name}"})
            self.assertIn(name, errors)

    def test_dry_run_refuses_malformed_names(self):
        self.refused("--dry-run", env={"CLAUDEBOX_EXTRA_ENV": "1A"})

    def test_certificate_variables_name_a_file_in_the_box(self):
        out = self.box('for f in "$SSL_CERT_FILE" "$NIX_SSL_CERT_FILE"; do grep -c "BEGIN CERT" "$f"; done')
        counts = out.split()
        self.assertEqual(len(counts), 2)
        self.assertTrue(all(int(count) > 0 for count in counts))

    def test_a_certificate_bundle_of_the_host_is_mounted(self):
        bundle = self.scratch() / "my ca.pem"
        bundle.write_text("-----BEGIN CERTIFICATE-----\nMIIBIDCBx6ADAgECAhRcanary\n-----END CERTIFICATE-----\n")
        (bundle.parent / "neighbour").write_text("x")
        out = self.box('cat "$SSL_CERT_FILE"; ls "${SSL_CERT_FILE%/*}"; echo x >>"$SSL_CERT_FILE"', env={
            "SSL_CERT_FILE": str(bundle)})
        self.assertEqual(out, "-----BEGIN CERTIFICATE-----\nMIIBIDCBx6ADAgECAhRcanary\n-----END CERTIFICATE-----\nmy ca.pem\n")
        self.assertNotIn("x\n", bundle.read_text()[-2:])

    def test_a_certificate_variable_cannot_name_a_file_of_the_kernel(self):
        (self.home / "bundle.pem").symlink_to("/proc/self/environ")
        for path in ("/proc/self/environ", "/sys/kernel/mm/transparent_hugepage/enabled", "/dev/null", self.home / "bundle.pem"):
            done = self.claudebox("--yes", "--audit=full", "--exec", "sh", "-c", 'echo "$SSL_CERT_FILE"', env={"SSL_CERT_FILE": str(path)})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn(str(path), done.stdout)
            self.assertRegex(done.stderr, r"SSL_CERT_FILE=\S+ \(it is a file of the kernel\)")

    def test_a_certificate_variable_cannot_mount_a_secret(self):
        secret = self.home / ".ssh" / "id_ed25519"
        secret.parent.mkdir()
        secret.write_text("canary-key")
        link = self.home / "bundle.pem"
        link.symlink_to(secret)
        for path in (secret, link):
            done = self.claudebox("--yes", "--exec", "sh", "-c", 'cat "$SSL_CERT_FILE"; cat "$1"', "sh", str(path),
                                  env={"SSL_CERT_FILE": str(path), "NIX_SSL_CERT_FILE": str(path)})
            self.assertNotIn("canary-key", done.stdout)


class Leaks(BoxTest):
    """Variables that programs in the box and other users of the host can see."""

    def start(self, script, env):
        mark = f"mark-{os.getpid()}-{time.monotonic_ns()}"
        process = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", script, mark], cwd=self.project,
                                   env={**self.env, **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, 10)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.kill)
        return process, mark

    def test_no_value_on_any_command_line_of_the_host(self):
        env = {"ANTHROPIC_API_KEY": SECRET, "CLAUDEBOX_EXTRA_ENV": "MINE", "MINE": SECRET + "-2", "EDITOR": "canary-editor"}
        process, mark = self.start("echo ready; read x", env)
        self.assertEqual(process.stdout.readline(), "ready\n")
        running = processes_with(mark)
        # claudebox, bwrap, init and the agent
        self.assertGreaterEqual(len(running), 4)
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    line = (entry / "cmdline").read_bytes()
                except OSError:
                    continue
                self.assertNotIn(SECRET.encode(), line, entry)
                self.assertNotIn(b"canary-editor", line, entry)

    def test_bwrap_and_init_have_no_environment_at_all(self):
        process, mark = self.start("echo ready; read x", {"ANTHROPIC_API_KEY": SECRET, "UNLISTED": "canary-unlisted"})
        self.assertEqual(process.stdout.readline(), "ready\n")
        for pid in processes_with(mark):
            if pid == process.pid or pathlib.Path(f"/proc/{pid}/comm").read_text() in ("claudebox-kill\n", "claudebox-guard\n"):
                continue  # forks of claudebox, outside the box
            try:
                environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            self.assertNotIn(b"canary-unlisted", environment)

    def test_process_1_has_no_values_in_its_environment_or_arguments(self):
        out = self.box("cat /proc/1/environ /proc/1/cmdline | tr '\\0' '\\n'; echo; "
                       "cat /proc/1/environ >/dev/null && echo readable", env={
            "ANTHROPIC_API_KEY": SECRET, "UNLISTED": "canary-unlisted", "CLAUDEBOX_EXTRA_ENV": "MINE", "MINE": "canary-mine"})
        self.assertNotIn(SECRET, out)
        self.assertNotIn("canary", out)
        self.assertNotIn("setenv", out)

    def test_unlisted_values_are_nowhere_in_proc(self):
        out = self.box("cat /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ 2>/dev/null | tr '\\0' '\\n'", env={
            "UNLISTED": "canary-unlisted", "GITHUB_TOKEN": "canary-token"})
        self.assertIn("CLAUDEBOX=1", out)
        self.assertNotIn("canary", out)

    def test_no_value_on_stderr(self):
        done = self.claudebox("--yes", "--exec", "true", env={"ANTHROPIC_API_KEY": SECRET, "CLAUDEBOX_EXTRA_ENV": "X_TOKEN",
                                                              "X_TOKEN": "abcdefghijkl", "UNLISTED": "canary-unlisted"})
        self.assertNotIn(SECRET, done.stderr)
        self.assertNotIn(SECRET[5:-5], done.stderr)
        self.assertNotIn("abcdefghijkl", done.stderr)
        self.assertNotIn("canary", done.stderr)

    def test_no_secret_on_disk(self):
        """Only the last characters of the API key are stored."""
        self.claudebox("--yes", "--exec", "true", env={"ANTHROPIC_API_KEY": SECRET, "CLAUDEBOX_EXTRA_ENV": "MINE",
                                                       "MINE": "canary-mine"})
        found = subprocess.run(["grep", "-rlE", f"{SECRET}|canary-mine", self.home], stdout=subprocess.PIPE, text=True,
                               check=False)
        self.assertEqual(found.stdout, "")


class HostileCaller(BoxTest):
    """Variables of the caller that change the behaviour of programs do not influence the
    launcher."""

    def test_a_program_planted_first_on_PATH_in_the_project_is_not_run(self):
        for name in ("bwrap", "git", "sh", "env", "true"):
            program = self.project / name
            program.write_text(f"#!/bin/sh\necho hit >>{self.home}/hit\n")
            program.chmod(0o755)
        for path in (f"{self.project}:{self.env['PATH']}", f".:{self.env['PATH']}", f":{self.env['PATH']}"):
            done = self.claudebox("--yes", "--exec", "true", env={"PATH": path})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.claudebox("--check", env={"PATH": path})
        self.assertFalse((self.home / "hit").exists())

    def test_a_link_on_PATH_that_leads_into_the_project_is_not_run(self):
        program = self.project / "evil"
        program.write_text(f"#!/bin/sh\necho hit >>{self.home}/hit\n")
        program.chmod(0o755)
        directory = self.scratch()
        (directory / "bwrap").symlink_to(program)
        (directory / "git").symlink_to(program)
        self.assertEqual(self.claudebox("--yes", "--exec", "true", env={"PATH": f"{directory}:{self.env['PATH']}"}).returncode, 0)
        self.assertFalse((self.home / "hit").exists())

    def test_LD_and_BASH_variables_do_nothing_in_the_box(self):
        script = self.project / "evil.sh"
        script.write_text("echo hit\n")
        hostile = {"BASH_ENV": str(script), "ENV": str(script), "BASH_FUNC_true%%": "() { echo hit; }", "PS4": "$(echo hit)",
                   "SHELLOPTS": "xtrace", "PROMPT_COMMAND": "echo hit", "PYTHONSTARTUP": str(script), "PERL5OPT": "-d"}
        done = self.claudebox("--yes", "--exec", "bash", "-c", "true; env", env=hostile)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("hit", done.stdout)
        for name in hostile:
            self.assertNotIn(f"\n{name}=", "\n" + done.stdout)
        self.assertNotIn("+ ", done.stderr.splitlines()[-1] if done.stderr.strip() else "")

    def test_git_variables_of_the_caller_do_not_change_what_is_found(self):
        other = self.repository(self.home / "other")
        seen = self.plan(env={"GIT_DIR": f"{other}/.git", "GIT_WORK_TREE": str(other), "GIT_COMMON_DIR": f"{other}/.git",
                              "GIT_CEILING_DIRECTORIES": "/", "GIT_EXEC_PATH": str(self.project)})
        self.assertFalse([mount for mount in seen["mounts"] if str(mount["host"]).startswith(str(other))])

    def test_a_relative_HOME_is_ignored(self):
        done = self.claudebox("--dry-run=json", env={"HOME": "relative"})
        self.assertNotIn('"relative', done.stdout)
        self.assertFalse((self.project / "relative").exists())


class RuntimeDirectory(BoxTest):
    def test_the_runtime_directory_is_private_and_has_only_claude_sessions(self):
        out = self.box('stat -c "%a %u %F" "$XDG_RUNTIME_DIR"; ls -A "$XDG_RUNTIME_DIR"; : >"$XDG_RUNTIME_DIR/x" && echo ok')
        self.assertEqual(out.split("\n")[0], f"700 {inside()} directory")
        self.assertLessEqual(set(out.split()[3:]), {"claude-sessions", "ok"})
        self.assertIn("ok", out)

    def test_the_temporary_directory_works(self):
        self.assertEqual(self.box('f=$(mktemp) && echo "${f%/*}"; [ -k /tmp ] && echo sticky').split(), ["/tmp", "sticky"])

    def test_run_has_only_the_expected_entries(self):
        out = self.box("find /run -mindepth 1 -maxdepth 2 | sort").split()
        self.assertLessEqual(set(out), {"/run/claudebox", "/run/claudebox/sign-in", "/run/claudebox/claude", "/run/claudebox/npmrc", "/run/user",
                                        f"/run/user/{inside()}", "/run/claudebox/agent", "/run/claudebox/command"})

    def test_no_socket_of_the_host_is_visible(self):
        servers = []
        for place in (self.home / "agent.sock", pathlib.Path("/tmp") / f"claudebox-test-{os.getpid()}.sock"):
            server = socket.socket(socket.AF_UNIX)
            server.bind(str(place))
            server.listen()
            self.addCleanup(place.unlink)
            self.addCleanup(server.close)
            servers.append(str(place))
        out = self.box("find / -xdev -type s 2>/dev/null; find /tmp /run /var /dev /home /root -type s 2>/dev/null; "
                       'for s; do [ -e "$s" ] && echo "seen $s"; done', *servers,
                       env={"SSH_AUTH_SOCK": servers[0], "DBUS_SESSION_BUS_ADDRESS": f"unix:path={servers[0]}"})
        self.assertEqual(out.replace("/nix/var/nix/daemon-socket/socket\n", ""), "")


if __name__ == "__main__":
    unittest.main()
