#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the cost of the tier inet: network.py BUILD [ROUNDS]. Ratios of alternating runs, in network namespaces of its own.

start       until the agent's first byte, against what pasta alone needs to attach to a namespace
throughput  TCP from and to the "internet": the box, the host itself, and a namespace with slirp4netns
latency     one request and answer: on an open connection, and with a new one each
memory      resident beside bwrap and pasta: supervisor, init and the DNS relay
"""
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))
sys.dont_write_bytecode = True

import run  # noqa: E402
from lib.world import World  # noqa: E402

SERVER = """
import socket, threading
def serve(connection):
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        kind = connection.recv(1)
        if kind == b"d":
            chunk = bytes(1 << 20)
            for _ in range(SIZE):
                connection.sendall(chunk)
        elif kind == b"u":
            buffer = bytearray(1 << 20)
            while connection.recv_into(buffer):
                pass
            connection.sendall(b"!")
        else:
            while connection.recv(1):
                connection.sendall(b"!")
listener = socket.create_server(("", 7777), backlog=100)
print("ready", flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""
CLIENT = """
import json, socket, time
def open_connection(kind):
    connection = socket.create_connection(("203.0.113.10", 7777), 20)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(kind)
    return connection
result = {}
with open_connection(b"d") as connection:
    buffer, began = bytearray(1 << 20), time.perf_counter()
    while connection.recv_into(buffer):
        pass
    result["down"] = SIZE / (time.perf_counter() - began)
with open_connection(b"u") as connection:
    chunk, began = bytes(1 << 20), time.perf_counter()
    for _ in range(SIZE):
        connection.sendall(chunk)
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
    result["up"] = SIZE / (time.perf_counter() - began)
with open_connection(b"e") as connection:
    began = time.perf_counter()
    for _ in range(500):
        connection.sendall(b"?")
        connection.recv(1)
    result["request"] = (time.perf_counter() - began) / 500 * 1e6
began = time.perf_counter()
for _ in range(200):
    with open_connection(b"e") as connection:
        connection.sendall(b"?")
        connection.recv(1)
result["connection"] = (time.perf_counter() - began) / 200 * 1e6
print(json.dumps(result))
"""
# Runs as the user, who then owns the namespace: attaches a helper to a new namespace and reports the result.
BESIDE = """
import json, os, subprocess, sys, time
kind, words = sys.argv[1], sys.argv[2:]
holder = subprocess.Popen(["unshare", "--user", "--map-root-user", "--net", "sh", "-c", "echo; exec sleep 100"], stdout=subprocess.PIPE)
holder.stdout.readline()
user, network = f"/proc/{holder.pid}/ns/user", f"/proc/{holder.pid}/ns/net"
moved = [word.replace("/proc/CHILD/ns/net", network).replace("/proc/self/fd/0", user).replace("CHILD", str(holder.pid)) for word in words]
try:
    if kind == "pasta":
        began = time.perf_counter()
        beside = subprocess.Popen(moved, stdout=subprocess.PIPE)
        ready = beside.stdout.readline().strip()
        print((time.perf_counter() - began) * 1000 if ready else "")
    else:
        split = moved.index("--then")
        beside = subprocess.Popen(moved[:split], stdout=subprocess.DEVNULL)
        for _ in range(500):
            if "tap0" in open(f"/proc/{holder.pid}/net/route").read():
                break
            time.sleep(0.02)
        subprocess.run(["nsenter", "--user=" + user, "--preserve-credentials", "--net=" + network, *moved[split + 1:]], check=True)
finally:
    beside.kill()
    holder.kill()
"""
SIZE = "256"
UNITS = {"down": "MiB/s", "up": "MiB/s", "request": "µs", "connection": "µs"}


class Bench:
    def __init__(self, build, directory):
        self.claudebox = str(build / "claudebox")
        self.project = directory / "home" / "project"
        self.project.mkdir(parents=True)
        agent = directory / "claude"
        agent.write_text("#!/bin/sh\n")
        agent.chmod(0o755)
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin", "TERM": "xterm", "LANG": "C.UTF-8",
                            "HOME": str(directory / "home"), "CLAUDEBOX_CLAUDE": str(agent)}
        self.world = World()

    def popen(self, *command, **options):
        return subprocess.Popen([*self.world.as_user(self.project), *map(str, command)], env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **options)

    def first_byte(self, tier):
        """Measures from the start of the program to the first byte of the agent; a prefix that reports when it is done is not counted."""
        script = 'echo start; exec "$@"'
        with self.popen("sh", "-c", script, "sh", self.claudebox, "--network", tier, "--yes", "--exec", "echo", "here") as process:
            process.stdout.read(len("start\n"))
            began = time.perf_counter()
            process.stdout.readline()
            return (time.perf_counter() - began) * 1000

    def beside(self, kind, *words):
        done = subprocess.run([*self.world.as_user(self.project), "/usr/bin/python3", "-c", BESIDE, kind, *words], env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True, timeout=120)
        return json.loads(done.stdout)

    def measure_start(self, rounds):
        done = subprocess.run([*self.world.as_user(self.project), self.claudebox, "--network", "inet", "--dry-run=json", "--exec", "true"],
                              env=self.environment, stdout=subprocess.PIPE, check=True)
        words = json.loads(done.stdout)["inet"]["pasta"]
        runs = {"full": lambda: self.first_byte("full"), "inet": lambda: self.first_byte("inet"), "pasta": lambda: self.beside("pasta", *words)}
        times = {name: [] for name in runs}
        for _ in range(rounds):
            for name, measure in runs.items():
                times[name].append(measure())
        for name, values in times.items():
            print(f"start       {name:11} {statistics.median(values):7.2f} ms median, {min(values):6.2f} ms least")
        over = statistics.median(a - b for a, b in zip(times["inet"], times["pasta"]))
        least = min(times["inet"]) - min(times["pasta"])
        print(f"start       inet over pasta's own attach {over:.1f} ms median, {least:.1f} ms of the least (goal: at most 10)")

    def client(self, prefix):
        done = subprocess.run([*prefix, "/usr/bin/python3", "-c", CLIENT.replace("SIZE", SIZE)], env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, timeout=120)
        return json.loads(done.stdout)

    def with_slirp(self):
        return self.beside("slirp4netns", "slirp4netns", "--configure", "--mtu=65520", "--disable-host-loopback", "--userns-path=/proc/CHILD/ns/user",
                           "CHILD", "tap0", "--then", "/usr/bin/python3", "-c", CLIENT.replace("SIZE", SIZE))

    def measure_traffic(self, rounds):
        server = subprocess.Popen([*self.world.enter(self.world.outside), "/usr/bin/python3", "-c", SERVER.replace("SIZE", SIZE)],
                                  stdout=subprocess.PIPE, text=True)
        server.stdout.readline()
        box = [*self.world.as_user(self.project), self.claudebox, "--network", "inet", "--yes", "--exec"]
        runs = {"host itself": lambda: self.client(self.world.as_user(self.project)), "box": lambda: self.client(box)}
        if shutil.which("slirp4netns"):
            runs["slirp4netns"] = self.with_slirp
        results = {name: [] for name in runs}
        for _ in range(rounds):
            for name, measure in runs.items():
                results[name].append(measure())
        for what, unit in UNITS.items():
            medians = {name: statistics.median(row[what] for row in rows) for name, rows in results.items()}
            text = ", ".join(f"{name} {value:.0f} {unit}" for name, value in medians.items())
            print(f"{'throughput ' if 'MiB' in unit else 'latency    '} {what:10} {text}; box / host {medians['box'] / medians['host itself']:.2f}")
        server.kill()
        server.wait()
        server.stdout.close()

    def measure_memory(self):
        process = self.popen(self.claudebox, "--network", "inet", "--yes", "--exec", "sh", "-c", "echo started; exec sleep 60")
        process.stdout.readline()
        time.sleep(1)
        sizes = {}
        for pid in self.world.other_processes() + [int(pid) for pid in subprocess.run(
                ["pgrep", "-f", "^/proc/self/fd/5 .*echo started"], stdout=subprocess.PIPE, text=True, check=False).stdout.split()]:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            sizes[re.search(r"Name:\s+(\S+)", status)[1]] = int(re.search(r"VmRSS:\s+(\d+)", status)[1])
        process.terminate()
        process.wait()
        process.stdout.close()
        print("memory      " + ", ".join(f"{name} {size} KiB" for name, size in sorted(sizes.items())) +
              "; the supervisor's goal: at most 2048")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    if os.getuid() == 0:
        # The benchmark runs claudebox as an ordinary user, from copies that this user can read.
        with tempfile.TemporaryDirectory(prefix="claudebox-bench-") as stage:
            os.chmod(stage, 0o755)
            shutil.copytree(TESTS, f"{stage}/tests", ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(build / "claudebox", stage)
            user = run.account()
            command = run.as_user(user, ["/usr/bin/python3", f"{stage}/tests/bench/network.py", stage, str(rounds)], pathlib.Path(__file__))
            sys.exit(subprocess.run(command, env={"PATH": os.environ["PATH"], "HOME": user.pw_dir}, cwd="/", check=False).returncode)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="claudebox-bench-", dir=os.path.expanduser("~")))
    try:
        bench = Bench(build, directory)
        try:
            bench.measure_start(rounds)
            bench.measure_traffic(max(rounds // 10, 1))
            bench.measure_memory()
        finally:
            bench.world.close()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
