# SPDX-License-Identifier: MIT
"""The ways to run a command in a project that are compared, each as its own documents say, and how the results are counted."""
import collections
import dataclasses
import fnmatch
import json
import statistics
import textwrap

# From the npm registry: package and version, by the name of the prefix that each has in the cache. srt wants node 22.12 or later.
PACKAGES = {"srt": ("@anthropic-ai/sandbox-runtime", "0.0.83"), "codex": ("@openai/codex", "0.166.0"), "node": ("node-linux-{machine}", "22.23.3")}
MACHINES = {"x86_64": "x64", "aarch64": "arm64"}


@dataclasses.dataclass(frozen=True)
class Way:
    """One way; what is to be run follows `command`. Words in braces, there and in `files` (by path below the home), are filled in.

    `promises`: which attacks its documents say it holds, as patterns, and `but` which of them it openly does not. Anything else that gets
    through is open, and not a leak.
    """
    name: str
    command: tuple
    promises: tuple = ()
    but: tuple = ()
    files: dict = dataclasses.field(default_factory=dict)
    environment: dict = dataclasses.field(default_factory=dict)

    def promised(self, attack):
        return any(fnmatch.fnmatch(attack, p) for p in self.promises) and not any(fnmatch.fnmatch(attack, p) for p in self.but)


# The network and what is reached through it, for who has it cut off.
NO_NETWORK = tuple(f"network-{name}" for name in (
    "loopback-*", "host-*", "mapped", "unspecified", "incoming", "metadata", "private", "gateway", "multicast", "outside", "interfaces"))
HOME = tuple(f"files-{name}" for name in (
    "ssh", "gnupg", "cloud", "registries", "git", "passwords", "browsers", "history", "claude", "home", "other-projects", "state", "others",
    "absent", "parent"))
NAMESPACES = ("kernel-user-namespace", "kernel-clone-namespace", "kernel-clone3-namespace")

# As bubblewrap's README does it, with the project, and links without which nothing starts on Debian.
BWRAP = ("bwrap", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/lib", "/lib", "--symlink", "usr/bin", "/bin",
         "--proc", "/proc", "--dev", "/dev", "--unshare-pid", "--new-session", "--bind", "{project}", "{project}", "--chdir", "{project}")

# In full the host's network is there; in inet an interface of its own, and the internet.
IN_FULL = (*NO_NETWORK, "sockets-list", "identity-interfaces")
IN_INET = ("network-outside", "network-interfaces")

# README, "Configuration": the project can be written, no domain is allowed; strict is its recipe "Workspace-only filesystem access".
SRT = {"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []}}
SRT_STRICT = SRT | {"filesystem": {"denyRead": ["/home"], "allowRead": ["."], "allowWrite": ["."], "denyWrite": []}}
# "How It Works", "Unix Socket Restrictions (Linux)" and "The command stays in the namespaces made for it".
SRT_PROMISES = ("write-*", *NO_NETWORK, "sockets-*", *NAMESPACES, "kernel-enter-namespace", "kernel-io-uring", "mounts-*", "processes-*",
                "descriptors-init")
SRT_BUT = ("processes-signal-group",)

# developers.openai.com/codex/permissions: the built-in profile for a project, and "Workspace write without network".
CODEX_STRICT = """
[permissions.project-edit.filesystem]
":minimal" = "read"

[permissions.project-edit.filesystem.":workspace_roots"]
"." = "write"

[permissions.project-edit.network]
enabled = false
"""
CODEX_PROMISES = ("write-*", *NO_NETWORK, "sockets-*", "kernel-filter", "kernel-no-new-privileges")

# default.profile is what firejail(1) takes for a program without one. Strict is its profile.template with all that a shell, compilers and
# interpreters in a project can bear.
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
# In a PID namespace it takes itself to be in a sandbox already, and does nothing, unless it is told that this is a container.
IN_CONTAINER = {"container": "lxc"}

WAYS = (
    Way("no sandbox", ()),
    Way("bwrap, plain", BWRAP),
    Way("claudebox", ("{claudebox}", "--yes", "--exec"), ("*",), IN_FULL),
    Way("claudebox, inet", ("{claudebox}", "--network", "inet", "--yes", "--exec"), ("*",), IN_INET),
    Way("claudebox, none", ("{claudebox}", "--network", "none", "--yes", "--exec"), ("*",)),
    Way("srt", ("srt", "--"), SRT_PROMISES, SRT_BUT, {".srt-settings.json": json.dumps(SRT)}),
    Way("srt, strict", ("srt", "--settings", "{home}/strict.json", "--"), (*SRT_PROMISES, *HOME), SRT_BUT, {"strict.json": json.dumps(SRT_STRICT)}),
    # What lies in /tmp can be written.
    Way("codex", ("codex", "sandbox", "-P", ":workspace", "--"), CODEX_PROMISES, ("write-canaries",)),
    Way("codex, strict", ("codex", "sandbox", "-P", "project-edit", "--"), (*CODEX_PROMISES, *HOME), (), {".codex/config.toml": CODEX_STRICT}),
    Way("firejail", ("firejail",), FIREJAIL_PROMISES, FIREJAIL_BUT, {}, IN_CONTAINER),
    Way("firejail, strict", ("firejail", "--profile={home}/strict.profile"), FIREJAIL_STRICT_PROMISES, FIREJAIL_BUT,
        {"strict.profile": FIREJAIL_STRICT}, IN_CONTAINER),
)


def fill_in(text, places):
    """Only these words in braces: the files of some have braces of their own."""
    for word, place in places.items():
        text = text.replace(f"{{{word}}}", str(place))
    return text


def judge(way, results):
    """{attack: (verdict, why)} as the probe has it, with "open" for what gets through where nothing was promised."""
    return {attack: ("open" if verdict == "leaked" and not way.promised(attack) else verdict, why) for attack, (verdict, why) in results.items()}


def count(judged, groups):
    """{group: {verdict: number}}, in the order of the groups."""
    counted = {group: collections.Counter() for group in groups.values()}
    for attack, (verdict, _) in judged.items():
        counted[groups[attack]][verdict] += 1
    return counted


def show_attacks(judged, groups):
    """A line for each way: how many attacks were held, of those that were tried; `judged` has text for one that did not run."""
    heads = list(dict.fromkeys(groups.values()))
    width = max(map(len, judged), default=0)
    yield " ".join([" " * width, *heads, "  held  open  leaked  not tried"])
    for name, rows in judged.items():
        if isinstance(rows, str):
            yield f"{name:{width}} {rows}"
            continue
        cells, total = [], collections.Counter()
        for group, found in count(rows, groups).items():
            total += found
            tried = sum(found[verdict] for verdict in ("held", "open", "leaked"))
            cells.append(f"{found['held']}/{tried}{'!' if found['leaked'] else ''}".rjust(len(group)))
        rest = total.total() - total["held"] - total["open"] - total["leaked"]
        yield " ".join([f"{name:{width}}", *cells, f"{total['held']:6}{total['open']:6}{total['leaked']:8}{rest:11}"])


def show_verdict(judged, groups, verdict):
    """What has this verdict, by group: which attacks, without the name of the group."""
    for name, rows in judged.items():
        found = {}
        for attack, (given, _) in ({} if isinstance(rows, str) else rows).items():
            if given == verdict:
                found.setdefault(groups[attack], []).append(attack.partition("-")[2])
        if found:
            text = "; ".join(f"{group}: {', '.join(attacks)}" for group, attacks in found.items())
            yield from textwrap.wrap(f"{name}: {text}", 150, subsequent_indent="  ", break_on_hyphens=False)


def show_start(times, base):
    """A line for each: its median, and the median of its ratios to `base` in the same round."""
    for name, values in times.items():
        ratio = statistics.median(a / b for a, b in zip(values, times[base]))
        yield f"{name:28} {statistics.median(values):8.2f} ms median {min(values):8.2f} ms least {ratio:7.2f} times"
