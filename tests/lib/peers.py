# SPDX-License-Identifier: MIT
"""The sandboxes that are compared, each started as its own documents describe, and the tables of
the results."""
import collections
import dataclasses
import fnmatch
import json
import statistics
import textwrap

# Packages of the npm registry: name and version, by the name of the prefix in the cache. srt needs
# node 22.12 or later.
PACKAGES = {"srt": ("@anthropic-ai/sandbox-runtime", "0.0.83"), "codex": ("@openai/codex", "0.166.0"), "node": ("node-linux-{machine}", "22.23.3")}
MACHINES = {"x86_64": "x64", "aarch64": "arm64"}


@dataclasses.dataclass(frozen=True)
class Way:
    """A way to run a command, which follows `command`. Words in braces, there and in `files` (by
    path below the home), are replaced.

    `promises` are patterns of the attacks that it blocks according to its documents, and `but`
    those of them that the documents exclude. Any other attack that succeeds counts as open, not as
    a leak.
    """
    name: str
    command: tuple
    promises: tuple = ()
    but: tuple = ()
    files: dict = dataclasses.field(default_factory=dict)
    environment: dict = dataclasses.field(default_factory=dict)

    def promised(self, attack):
        return any(fnmatch.fnmatch(attack, p) for p in self.promises) and not any(fnmatch.fnmatch(attack, p) for p in self.but)


# Attacks that a sandbox without network blocks.
NO_NETWORK = tuple(f"network-{name}" for name in (
    "loopback-*", "host-*", "mapped", "unspecified", "incoming", "metadata", "private", "gateway", "multicast", "dns", "outside", "interfaces"))
HOME = tuple(f"files-{name}" for name in (
    "ssh", "gnupg", "cloud", "registries", "git", "passwords", "browsers", "history", "claude", "home", "other-projects", "state", "others",
    "absent", "parent"))
NAMESPACES = ("kernel-user-namespace", "kernel-clone-namespace", "kernel-clone3-namespace")

# The example of bubblewrap's README, with the project, and the links that programs on Debian need.
BWRAP = ("bwrap", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/lib", "/lib", "--symlink", "usr/bin", "/bin",
         "--proc", "/proc", "--dev", "/dev", "--unshare-pid", "--new-session", "--bind", "{project}", "{project}", "--chdir", "{project}")

# The tier full has the host's network; the tier inet has its own interface and the internet.
IN_FULL = (*NO_NETWORK, "sockets-list", "identity-interfaces")
IN_INET = ("network-outside", "network-interfaces")

# README, "Configuration": the project is writable, no domain is allowed; strict is its recipe
# "Workspace-only filesystem access".
SRT = {"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []}}
SRT_STRICT = SRT | {"filesystem": {"denyRead": ["/home"], "allowRead": ["."], "allowWrite": ["."], "denyWrite": []}}
# "How It Works", "Unix Socket Restrictions (Linux)" and "The command stays in the namespaces made
# for it".
SRT_PROMISES = ("write-*", *NO_NETWORK, "sockets-*", *NAMESPACES, "kernel-enter-namespace", "kernel-io-uring", "mounts-*", "processes-*",
                "descriptors-init")
SRT_BUT = ("processes-signal-group",)

# developers.openai.com/codex/permissions: the built-in profile for a project, and "Workspace write
# without network".
CODEX_STRICT = """
[permissions.project-edit.filesystem]
":minimal" = "read"

[permissions.project-edit.filesystem.":workspace_roots"]
"." = "write"

[permissions.project-edit.network]
enabled = false
"""
CODEX_PROMISES = ("write-*", *NO_NETWORK, "sockets-*", "kernel-filter", "kernel-no-new-privileges")

# firejail(1) uses default.profile for a program without a profile. Strict is its profile.template
# with every option with which a shell, compilers and interpreters in a project still work.
FIREJAIL_STRICT = """
include disable-common.inc
include disable-proc.inc
include disable-programs.inc
include disable-xdg.inc
whitelist {project}
include whitelist-common.inc
include whitelist-run-common.inc
include whitelist-runuser-common.inc
include whitelist-usr-share-common.inc
include whitelist-var-common.inc
caps.drop all
ipc-namespace
machine-id
net none
no3d
nodvd
nogroups
noinput
nonewprivs
noprinters
noroot
nosound
notv
nou2f
novideo
protocol unix,inet,inet6
seccomp
seccomp.block-secondary
tracelog
x11 none
disable-mnt
private-cache
private-dev
private-etc alternatives,ca-certificates,group,hosts,ld.so.cache,ld.so.conf,ld.so.conf.d,localtime,nsswitch.conf,passwd,resolv.conf,ssl
private-tmp
dbus-user none
dbus-system none
restrict-namespaces
"""
FIREJAIL_PROMISES = ("files-ssh", "files-gnupg", "files-cloud", "files-passwords", "files-browsers", "files-history", "kernel-filter",
                     "kernel-no-new-privileges", "kernel-capabilities", "kernel-become-root", "kernel-setuid-programs", *NAMESPACES,
                     "processes-*", "network-packet", "network-netlink", "network-bluetooth")
FIREJAIL_STRICT_PROMISES = (*FIREJAIL_PROMISES, *HOME, *NO_NETWORK, "files-temporary", "memory-shm-*", "memory-semaphores", "memory-messages",
                            "memory-mqueue", "sockets-*", "identity-machine-id", "kernel-32-bit", "kernel-devices", "mounts-disks", "write-*")
FIREJAIL_BUT = ("processes-signal-group",)
# In a PID namespace firejail assumes that it is in a sandbox already, and does nothing, unless this
# variable names a container.
IN_CONTAINER = {"container": "lxc"}

WAYS = (
    Way("no sandbox", ()),
    Way("bwrap, plain", BWRAP),
    Way("claudebox", ("{claudebox}", "--yes", "--exec"), ("*",), IN_FULL),
    Way("claudebox, inet", ("{claudebox}", "--network", "inet", "--yes", "--exec"), ("*",), IN_INET),
    Way("claudebox, none", ("{claudebox}", "--network", "none", "--yes", "--exec"), ("*",)),
    Way("srt", ("srt", "--"), SRT_PROMISES, SRT_BUT, {".srt-settings.json": json.dumps(SRT)}),
    Way("srt, strict", ("srt", "--settings", "{home}/strict.json", "--"), (*SRT_PROMISES, *HOME), SRT_BUT, {"strict.json": json.dumps(SRT_STRICT)}),
    # Files in /tmp are writable.
    Way("codex", ("codex", "sandbox", "-P", ":workspace", "--"), CODEX_PROMISES, ("write-canaries",)),
    Way("codex, strict", ("codex", "sandbox", "-P", "project-edit", "--"), (*CODEX_PROMISES, *HOME), (), {".codex/config.toml": CODEX_STRICT}),
    Way("firejail", ("firejail",), FIREJAIL_PROMISES, FIREJAIL_BUT, {}, IN_CONTAINER),
    Way("firejail, strict", ("firejail", "--profile={home}/strict.profile"), FIREJAIL_STRICT_PROMISES, FIREJAIL_BUT,
        {"strict.profile": FIREJAIL_STRICT}, IN_CONTAINER),
)


def fill_in(text, places):
    """Replaces these words in braces only, because some files contain other braces."""
    for word, place in places.items():
        text = text.replace(f"{{{word}}}", str(place))
    return text


def judge(way, results):
    """Returns {attack: (verdict, why)} of the attack program, with "open" for leaks that the way
    does not promise to block."""
    return {attack: ("open" if verdict == "leaked" and not way.promised(attack) else verdict, why) for attack, (verdict, why) in results.items()}


def count(judged, groups):
    """Returns {group: {verdict: number}}, in the order of the groups."""
    counted = {group: collections.Counter() for group in groups.values()}
    for attack, (verdict, _) in judged.items():
        counted[groups[attack]][verdict] += 1
    return counted


def show_attacks(judged, groups):
    """Yields a line for each way: how many of the attacks were blocked. `judged` has a text for
    a way that did not run."""
    heads = list(dict.fromkeys(groups.values()))
    width = max(map(len, judged), default=0)
    yield " ".join([" " * width, *heads, "  blocked  open  leaked  not tried"])
    for name, rows in judged.items():
        if isinstance(rows, str):
            yield f"{name:{width}} {rows}"
            continue
        cells, total = [], collections.Counter()
        for group, found in count(rows, groups).items():
            total += found
            tried = sum(found[verdict] for verdict in ("blocked", "open", "leaked"))
            cells.append(f"{found['blocked']}/{tried}{'!' if found['leaked'] else ''}".rjust(len(group)))
        rest = total.total() - total["blocked"] - total["open"] - total["leaked"]
        yield " ".join([f"{name:{width}}", *cells, f"{total['blocked']:9}{total['open']:6}{total['leaked']:8}{rest:11}"])


def show_verdict(judged, groups, verdict):
    """Yields the attacks with this verdict by group, without the name of the group."""
    for name, rows in judged.items():
        found = {}
        for attack, (given, _) in ({} if isinstance(rows, str) else rows).items():
            if given == verdict:
                found.setdefault(groups[attack], []).append(attack.partition("-")[2])
        if found:
            text = "; ".join(f"{group}: {', '.join(attacks)}" for group, attacks in found.items())
            yield from textwrap.wrap(f"{name}: {text}", 150, subsequent_indent="  ", break_on_hyphens=False)


def show_start(times, base):
    """Yields a line for each: the median, the minimum, and the median of the ratios to `base` in
    the same round."""
    for name, values in times.items():
        ratio = statistics.median(a / b for a, b in zip(values, times[base]))
        yield f"{name:28} {statistics.median(values):8.2f} ms median {min(values):8.2f} ms least {ratio:7.2f} times"
