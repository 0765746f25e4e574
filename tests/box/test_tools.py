# SPDX-License-Identifier: MIT
"""Development tools work in the box under the seccomp filter, in every tier: threads, child processes, debuggers, servers."""
import json
import os
import shutil
import unittest

from lib.box import LOOPBACK, BoxTest
from lib.inet import InetTest

AS_ROOT = True

PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int answer;
static void *work(void *unused) { (void)unused; answer = 42; return NULL; }
int main(void)
{
	pthread_t thread;
	int status = 1;
	if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
		return 1;
	if (fork() == 0)
		_exit(0);
	wait(&status);
	printf("answer %d\n", answer + status + system("true"));
	return 0;
}
"""
NODE = r"""
const { Worker } = require("worker_threads"), { execFileSync, fork } = require("child_process"), fs = require("fs");
const net = require("net"), os = require("os"), zlib = require("zlib");
os.networkInterfaces();
const server = net.createServer(s => s.end("served")).listen(0, "127.0.0.1", () => {
  net.connect(server.address().port, "127.0.0.1").on("data", data => {
    server.close();
    new Worker("require('worker_threads').parentPort.postMessage('worker')", { eval: true }).on("message", word => {
      fs.promises.readFile("/etc/passwd").then(() => new Promise(done => zlib.gzip("x", done))).then(() => {
        fs.watch(".").close();
        console.log(String(data), word, execFileSync("sh", ["-c", "echo child"]).toString().trim());
      });
    });
  });
});
"""
JAVA = r"""
import java.util.concurrent.*;
public class Main {
  public static void main(String[] a) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    int sum = 0;
    Callable<Integer> one = () -> 1;
    for (Future<Integer> f : pool.invokeAll(java.util.Collections.nCopies(8, one))) sum += f.get();
    pool.shutdown();
    new java.net.ServerSocket(0).close();
    java.net.NetworkInterface.getNetworkInterfaces();
    System.out.println("java " + sum + " " + new String(new ProcessBuilder("echo", "child").start().getInputStream().readAllBytes()).trim());
  }
}
"""
GO = r"""
package main
import ("fmt"; "net"; "os/exec"; "sync")
func main() {
	var group sync.WaitGroup
	for i := 0; i < 100; i++ { group.Add(1); go func() { defer group.Done(); exec.Command("true").Run() }() }
	group.Wait()
	net.Interfaces()
	out, err := exec.Command("echo", "child").Output()
	fmt.Println("go", string(out[:5]), err)
}
"""
RUST = r"""
fn main() {
    let all: Vec<_> = (0..8).map(|i| std::thread::spawn(move || i)).collect();
    let sum: i32 = all.into_iter().map(|t| t.join().unwrap()).sum();
    let out = std::process::Command::new("echo").arg("child").output().unwrap();
    println!("rust {} {}", sum, String::from_utf8_lossy(&out.stdout).trim());
}
"""
FILES = {"program.c": PROGRAM, "loopback.py": LOOPBACK, "node.js": NODE, "Main.java": JAVA, "main.go": GO, "main.rs": RUST,
         "Makefile": "all: a b c d\na b c d:\n\t@sleep 0.01; echo $@ > $@.out\n",
         "package/package.json": json.dumps({"name": "little", "version": "1.0.0", "main": "index.js"}),
         "package/index.js": "module.exports = 'from npm'\n",
         "parallel.py": "import multiprocessing, threading\nif __name__ == '__main__':\n"
                        "    thread = threading.Thread(target=print, args=('thread',)); thread.start(); thread.join()\n"
                        "    print(sum(multiprocessing.Pool(3).map(abs, range(-3, 4))))\n"}
# Program, script, and the last line that the script prints. A program in the first column is optional and is tried in one tier only.
TOOLS = (
    ("", "gcc -O1 -o program program.c -pthread && ./program", "answer 42"),
    ("", "make -j4 && cat a.out d.out | tr '\\n' ' '", "a d"),
    ("", "gcc -g -o program program.c -pthread && strace -f -o /tmp/trace ./program && grep -c '+++ exited' /tmp/trace", "4"),
    ("", "gcc -g -o program program.c -pthread && gdb -q -batch -ex 'break work' -ex run -ex next -ex 'print answer' ./program "
         "2>/dev/null | grep -a '^Thread 2.*hit Break\\|= 0\\|= 42' | tail -n 1 | cut -d ' ' -f 1", "$1"),
    ("", "git init -q repo && cd repo && echo x > f && git add f && git -c user.name=a -c user.email=b commit -qm m && git gc -q && git log --format=%s", "m"),
    ("", "/usr/bin/python3 parallel.py", "12"),
    ("", "/usr/bin/python3 loopback.py | tail -n 1", "x"),
    ("", "/usr/bin/python3 -c \"import sqlite3; c = sqlite3.connect('db'); c.execute('create table t (a)'); print(c.execute('pragma journal_mode=wal').fetchone()[0])\"",
     "wal"),
    ("", "/usr/bin/python3 -m venv --without-pip venv && venv/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'", "True"),
    ("", "(/usr/bin/python3 -m http.server -b 127.0.0.1 PORT >/dev/null 2>&1 & echo $! > pid); for i in 1 2 3 4 5 6 7 8 9; do sleep 0.2; "
         "/usr/bin/python3 -c \"import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:PORT/Makefile').status)\" 2>/dev/null && break; "
         "done; kill $(cat pid)", "200"),
    ("", "node node.js", "served worker child"),
    ("", "npm pack --silent ./package >/dev/null && npm install --silent --offline --no-audit --no-fund ./little-1.0.0.tgz >/dev/null && "
         "node -p \"require('little')\"", "from npm"),
    ("", "perl -e 'use threads; print defined(fork) ? \"\" : \"no\"; wait; print \"perl\\n\"' | tail -n 1", "perl"),
    ("", "tmux -L box -f /dev/null new-session -d 'echo in-tmux > tmux.out' ; for i in 1 2 3 4 5; do sleep 0.2; test -s tmux.out && break; done; cat tmux.out",
     "in-tmux"),
    ("", "openssl genpkey -algorithm ed25519 -out k 2>/dev/null && head -n 1 k", "-----BEGIN PRIVATE KEY-----"),
    ("ssh-keygen", "ssh-keygen -q -t ed25519 -N '' -f key && cut -d ' ' -f 1 key.pub", "ssh-ed25519"),
    ("sqlite3", "sqlite3 other.db 'create table t (a); select 7'", "7"),
    ("javac", "javac Main.java && java Main", "java 8 child"),
    ("go", "GOFLAGS=-mod=mod GO111MODULE=off GOCACHE=/tmp/go go build -o gone main.go && ./gone", "go child <nil>"),
    ("cargo", "cargo new -q --vcs none hello && cd hello && cargo build -q --offline && ./target/debug/hello", "Hello, world!"),
    ("redis-server", "redis-server --port 0 --unixsocket /tmp/redis --save '' --daemonize yes >/dev/null; for i in 1 2 3 4 5 6 7 8 9; do sleep 0.2; "
                     "redis-cli -s /tmp/redis ping 2>/dev/null && break; done", "PONG"),
    ("rustc", "rustc -o rusty main.rs && ./rusty", "rust 28 child"),
)


def prepare(project):
    for name, text in FILES.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)


# In the host's network, root's module runs beside the user's.
REQUIRED = [(name, script.replace("PORT", str(18080 + (os.getuid() == 0))), wanted) for name, script, wanted in TOOLS if not name]


class Tools(BoxTest):
    def run_tools(self, tools, *options):
        prepare(self.project)
        for name, script, wanted in tools:
            with self.subTest(script[:60]):
                done = self.claudebox("--yes", *options, "--exec", "sh", "-c", script, timeout=120)
                self.assertEqual((done.stdout.strip().split("\n")[-1].strip(), done.returncode), (wanted, 0), done.stderr[-600:] + name)

    def test_tools_in_full(self):
        self.run_tools(REQUIRED)

    def test_optional_tools_if_installed(self):
        self.run_tools([row for row in TOOLS if row[0] and shutil.which(row[0])])

    def test_tools_in_none(self):
        self.run_tools(REQUIRED, "--network", "none")


class Inet(InetTest):
    def test_tools_in_inet(self):
        prepare(self.project)
        script = self.project / "all.sh"
        script.write_text("\n".join(f"echo \"$(cd {self.project}; {script})\" | tail -n 1" for _, script, _ in REQUIRED))
        done = self.inet("sh", script, timeout=180)
        self.assertEqual([line.strip() for line in done.stdout.splitlines()], [wanted for _, _, wanted in REQUIRED], done.stderr[-800:])


if __name__ == "__main__":
    unittest.main()
