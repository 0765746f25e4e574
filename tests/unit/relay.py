# SPDX-License-Identifier: MIT
"""Runs the DNS relay alone, with stub servers and clients on the loopback."""
import contextlib
import os
import pathlib
import random
import resource
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

RELAY = os.path.join(os.environ["STAGE"], "relay")
NETWORK = f"127.53.{os.getpid() % 250 + 1}"
FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED = range(1, 6)
WITH_OPT = (1, 0, 0, 1)


def name_of(text):
    return b"".join(bytes([len(part)]) + part.encode() for part in text.split(".")) + b"\0"


def make_query(number, name="www.example.org", flags=0x0100, more=b"", kind=1, family=1, counts=(1, 0, 0, 0)):
    """Returns a query; `kind` is the type and `family` the class of its question, `more` the records behind it."""
    return struct.pack(">6H", number, flags, *counts) + name_of(name) + struct.pack(">2H", kind, family) + more


def make_opt(size=4096, flags=0, options=b"", version=0):
    return b"\0" + struct.pack(">HHBBHH", 41, size, 0, version, flags, len(options)) + options


def make_answer(query, text=b"192.0.2.1", code=0):
    """Returns an answer that the DNS relay accepts; the text identifies the server."""
    return query[:2] + struct.pack(">5H", 0x8180 | code, 1, 1, 0, 0) + query[12:] + text


def code_of(answer):
    return answer[3] & 15


def framed(message):
    return struct.pack(">H", len(message)) + message


def read_exactly(connection, count):
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            break
        data += more
    return data


def read_message(connection):
    """Reads a message by TCP; b"" at end of file."""
    head = read_exactly(connection, 2)
    return read_exactly(connection, struct.unpack(">H", head)[0]) if len(head) == 2 else b""


class Stub:
    """A DNS server: `reply` returns the answer to each query, None for no answer."""

    def __init__(self, address, port, reply):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.reply = reply
        self.seen = []
        self.client = None  # address of the last client by UDP
        self.open = True
        self.udp = socket.socket(family, socket.SOCK_DGRAM)
        self.tcp = socket.socket(family, socket.SOCK_STREAM)
        self.tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self.udp.bind((address, port))
            self.tcp.bind((address, self.udp.getsockname()[1]))
        except OSError:
            self.close()
            raise
        self.tcp.listen(64)
        self.port = self.udp.getsockname()[1]
        for work in (self.serve_udp, self.serve_tcp):
            threading.Thread(target=work, daemon=True).start()

    def serve_udp(self):
        while self.open:
            with contextlib.suppress(OSError):
                query, self.client = self.udp.recvfrom(65535)
                if not self.open:
                    return
                self.seen.append(query)
                answer = self.reply(query)
                if answer is not None:
                    self.udp.sendto(answer, self.client)

    def serve_tcp(self):
        while self.open:
            with contextlib.suppress(OSError):
                connection, _ = self.tcp.accept()
                threading.Thread(target=self.serve_connection, args=(connection,), daemon=True).start()

    def serve_connection(self, connection):
        with connection, contextlib.suppress(OSError):
            while self.open:
                query = read_message(connection)
                if not query:
                    return
                self.seen.append(query)
                answer = self.reply(query)
                if answer is not None:
                    connection.sendall(framed(answer))

    def close(self):
        self.open = False
        for one in (self.udp, self.tcp):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


class RelayTest(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="claudebox-test-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.conf = self.directory / "resolv.conf"
        self.port = 0
        self.stubs = {}
        self.relay = None
        self.address = None
        self.addCleanup(self.stop)

    def stub(self, number, reply=make_answer):
        """Starts a server at the address with this number, and stops an earlier one there. All servers have the same port."""
        if number in self.stubs:
            self.stubs.pop(number).close()
        for _ in range(50):
            with contextlib.suppress(OSError):
                stub = Stub(self.address_of(number), self.port, reply)
                self.stubs[number] = stub
                self.port = stub.port
                self.addCleanup(stub.close)
                return stub
            time.sleep(0.02)
        return self.fail(f"no socket at {self.address_of(number)}")

    @staticmethod
    def address_of(server):
        return f"{NETWORK}.{server}" if isinstance(server, int) else server

    def configure(self, *servers):
        """Replaces resolv.conf; a number stands for an address."""
        fresh = self.conf.with_suffix(".new")
        fresh.write_text("".join(f"nameserver {self.address_of(one)}\n" for one in servers))
        fresh.rename(self.conf)

    def start(self, *servers, limit=None, **options):
        """Starts the DNS relay, and stops an earlier one."""
        self.stop()
        self.configure(*servers)
        log = f":log_path={self.directory}/sanitizer"
        environment = {name: os.environ.get(name, "") + log for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS")}

        def prepare():
            if limit:
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

        self.relay = subprocess.Popen([RELAY, "127.0.0.1", self.conf, str(self.port)], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, preexec_fn=prepare, env={**os.environ, **environment},
                                      **options)
        self.address = ("127.0.0.1", int(self.relay.stdout.readline()))
        self.assertEqual(self.relay.stdout.read(), b"")  # the DNS relay closes its standard output

    def stop(self):
        """Stops the DNS relay, and checks that it was still running and without a report of a sanitizer."""
        if not self.relay:
            return
        status = self.relay.poll()
        if status is None:
            self.relay.kill()
        self.relay.wait()
        self.relay.stdout.close()
        self.relay = None
        reports = "".join(file.read_text(errors="replace") for file in self.directory.glob("sanitizer*"))
        self.assertEqual((status, reports), (None, ""))

    def client(self):
        client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        client.connect(self.address)
        client.settimeout(15)
        self.addCleanup(client.close)
        return client

    def ask(self, query=None, client=None):
        """Sends a query and returns the answer and the time that it took."""
        client = client or self.client()
        started = time.monotonic()
        client.send(query or make_query(random.randrange(65536)))
        answer = client.recv(65535)
        return answer, time.monotonic() - started

    def connect(self):
        connection = socket.create_connection(self.address, 15)
        self.addCleanup(connection.close)
        return connection

    def ask_tcp(self, query=None):
        started = time.monotonic()
        with socket.create_connection(self.address, 15) as connection:
            connection.sendall(framed(query or make_query(random.randrange(65536))))
            return read_message(connection), time.monotonic() - started

    def process(self, field):
        """Returns a number of /proc/PID/status."""
        for line in pathlib.Path(f"/proc/{self.relay.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
        raise KeyError(field)

    def processor_time(self):
        fields = pathlib.Path(f"/proc/{self.relay.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
