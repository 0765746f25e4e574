# SPDX-License-Identifier: MIT
"""The DNS relay under attack from the box: it still answers, uses little memory and processor time, and sleeps when idle."""
import contextlib
import os
import pathlib
import random
import select
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest

from unit.relay import (FORMERR, NOTIMP, NXDOMAIN, REFUSED, RELAY, WITH_OPT, RelayTest, code_of, framed, make_answer, make_opt, make_query,
                        read_message)
from lib.stress import STRESS


class Connections(RelayTest):
    def test_messages_of_any_size_in_any_number(self):
        self.stub(1)
        self.start(1)
        connection = self.connect()
        sizes = [0, 1, 500, 2000, 0, 4094 - len(make_query(0)), 0, 0, 3] * 30
        queries = [make_query(i, more=os.urandom(size)) for i, size in enumerate(sizes)]
        threading.Thread(target=connection.sendall, args=(b"".join(map(framed, queries)),), daemon=True).start()
        for number, _ in enumerate(sizes):
            self.assertEqual(read_message(connection), make_answer(make_query(number)))
        for size in (4095, 20000, 65535):
            with self.subTest(size=size):
                connection = self.connect()
                with contextlib.suppress(OSError):
                    connection.sendall(framed(make_query(1).ljust(size, b"x")))
                    self.assertEqual(connection.recv(1), b"")

    def test_own_answers_do_not_split_answers_of_a_server(self):
        """Queries that the DNS relay answers itself, among queries with large answers."""
        self.stub(1, lambda query: make_answer(query, b"y" * 30000))
        self.start(1)
        connection = self.connect()
        queries = [make_query(i, kind=252 if i % 3 else 1) for i in range(60)]
        threading.Thread(target=connection.sendall, args=(b"".join(map(framed, queries)),), daemon=True).start()
        answers = [read_message(connection) for _ in queries]
        answers.sort(key=lambda answer: answer[:2])
        for number, (query, answer) in enumerate(zip(queries, answers, strict=True)):
            self.assertEqual(answer[:2], query[:2])
            if number % 3:
                self.assertEqual((code_of(answer), len(answer)), (REFUSED, len(query)))
            else:
                self.assertEqual(answer, make_answer(query, b"y" * 30000))

    def test_half_closed(self):
        def reply(query):
            time.sleep(0.3)
            return make_answer(query)

        self.stub(1, reply)
        self.start(1)
        connection = self.connect()
        connection.sendall(framed(make_query(1)))
        connection.shutdown(socket.SHUT_WR)
        self.assertEqual(read_message(connection), make_answer(make_query(1)))
        self.assertEqual(connection.recv(1), b"")
        connection = self.connect()
        connection.shutdown(socket.SHUT_WR)
        self.assertEqual(connection.recv(1), b"")

    def test_slow_reader_blocks_its_own_connection_only(self):
        size = 60000
        self.stub(1, lambda query: make_answer(query, b"y" * size))
        self.start(1)
        slow = self.connect()
        count = 200  # 12 MB: more than all buffers on the way
        threading.Thread(target=slow.sendall, args=(framed(make_query(1)) * count,), daemon=True).start()
        time.sleep(0.5)
        before = self.processor_time()
        for _ in range(5):
            self.assertLess(self.ask_tcp()[1], 1)
            self.assertLess(self.ask()[1], 1)
        time.sleep(1)
        self.assertLess(self.processor_time() - before, 0.5)
        for _ in range(count):
            self.assertEqual(read_message(slow), make_answer(make_query(1), b"y" * size))

    def test_more_connections_than_slots(self):
        self.stub(1)
        self.start(1)
        connections = [self.connect() for _ in range(40)]
        answer, took = self.ask_tcp()
        self.assertEqual(code_of(answer), 0)
        self.assertLess(took, 10)
        self.assertLess(self.ask()[1], 1)
        # The first connections were closed; the last ones may be open.
        connections[0].settimeout(1)
        self.assertEqual(connections[0].recv(1), b"")

    def test_connections_that_break(self):
        self.stub(1, lambda query: make_answer(query, b"z" * 60000))
        self.start(1)
        for i in range(60 * STRESS):
            with socket.create_connection(self.address, 15) as connection:
                if i % 3:
                    connection.sendall(framed(make_query(i)) * (i % 7))
                if i % 2:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.assertEqual(code_of(self.ask_tcp()[0]), 0)
        self.assert_idle()

    def test_server_that_closes_connections(self):
        stub = self.stub(1)
        stub.serve_connection = lambda connection: connection.close()
        self.start(1)
        for _ in range(5):
            connection = self.connect()
            with contextlib.suppress(OSError):
                connection.sendall(framed(make_query(1)))
                self.assertEqual(connection.recv(1), b"")
        self.assert_idle()

    def assert_idle(self):
        time.sleep(1.2)
        before = self.process("voluntary_ctxt_switches")
        time.sleep(1)
        self.assertEqual(self.process("voluntary_ctxt_switches"), before)


# Questions that must not reach the host's resolver: name, type, class, response code.
REVERSE6 = ".".join("0" * 24)
OWN = [
    *(("example.org", kind, 1, REFUSED) for kind in (0, 41, 128, 249, 250, 251, 252, 253, 254, 255, 65280, 65535)),
    *(("example.org", 1, family, REFUSED) for family in (0, 2, 3, 4, 254, 255, 0x8001, 65535)),
    ("version.bind", 16, 3, REFUSED), ("_gateway", 1, 1, NXDOMAIN), ("_outbound", 28, 1, NXDOMAIN), ("printer", 1, 1, NXDOMAIN),
    ("printer", 255, 1, REFUSED), ("printer.local", 1, 1, NXDOMAIN), ("_services._dns-sd._udp.LOCAL", 12, 1, NXDOMAIN), ("local", 6, 1, NXDOMAIN),
    *((name + ".in-addr.arpa", 12, 1, NXDOMAIN) for name in (
        "1.77.168.192", "168.192", "lb._dns-sd._udp.0.77.168.192", "1.0.0.10", "10", "9.9.31.172", "31.172", "5.1.101.100", "254.169.254.169",
        "1.0.0.127", "0", "1.0.0.224", "1.18.198", "255.255.255.255", "0/25.1.168.192")),
    *((name + ".ip6.ARPA", 12, 1, NXDOMAIN) for name in (
        f"1.0.0.0.{REVERSE6}.0.8.e.f", "d.f", "7.7.0.0.0.0.d.f", "1.0.0.0.0.0.0.0." + REVERSE6, "a.0.d.4.8.a.0.c." + ".".join("0" * 16) + ".b.9.f.f.4.6.0.0")),
]
FORWARDED = [
    *(("example.org", kind) for kind in (1, 2, 5, 6, 12, 15, 16, 28, 33, 35, 43, 46, 48, 52, 64, 65, 99, 127, 256, 257, 32768, 65279)),
    ("org", 2), ("org", 6), ("org", 43), ("org", 48), ("", 2), ("", 48), ("local.example.org", 1), ("localhost.example", 1), ("app.localhost", 1),
    ("8.8.8.8.in-addr.arpa", 12), ("1.32.172.in-addr.arpa", 12), ("172.in-addr.arpa", 6), ("in-addr.arpa", 6), ("arpa", 2), ("168.192.example.org", 1),
    ("256.168.192x.in-addr.arpa", 12), ("1.0.168.0192.in-addr.arpa", 12), ("8.b.d.0.1.0.0.2.ip6.arpa", 12), ("ip6.arpa", 6), ("10.example.arpa", 1),
]


class Filter(RelayTest):
    """The host's resolver gets ordinary queries only. The DNS relay answers others itself, at once."""

    def test_questions_that_are_not_forwarded(self):
        stub = self.stub(1)
        self.start(1)
        for ask in (self.ask, self.ask_tcp):
            for number, (name, kind, family, code) in enumerate(OWN):
                query = make_query(number, name, kind=kind, family=family)
                answer, took = ask(query)
                self.assertEqual((name, kind, family, code_of(answer)), (name, kind, family, code))
                self.assertEqual((answer[:2], answer[4:6], answer[12:]), (query[:2], b"\0\1", query[12:]))
                self.assertLess(took, 0.5)
        self.assertEqual(stub.seen, [])

    def test_questions_that_are_forwarded(self):
        stub = self.stub(1)
        self.start(1)
        queries = [make_query(number, name, kind=kind) if name else make_query(number, kind=kind)[:12] + b"\0" + struct.pack(">2H", kind, 1)
                   for number, (name, kind) in enumerate(FORWARDED)]
        for query in queries:
            self.assertEqual(self.ask(query)[0], make_answer(query))
        self.assertEqual(stub.seen, queries)

    def test_other_operations_and_malformed_messages(self):
        stub = self.stub(1)
        self.start(1)
        for opcode in range(1, 16):
            for ask in (self.ask, self.ask_tcp):
                answer, _ = ask(make_query(opcode, flags=opcode << 11))
                self.assertEqual((code_of(answer), answer[2] >> 3 & 15, len(answer)), (NOTIMP, opcode, 12))
        opt = make_opt()
        for query in (make_query(1, counts=(0, 0, 0, 0)), make_query(1, counts=(2, 0, 0, 0)), make_query(1, counts=(65535,) * 4),
                      make_query(1, counts=(1, 1, 0, 0)), make_query(1, counts=(1, 0, 1, 0)), make_query(1, counts=WITH_OPT),
                      make_query(1, counts=WITH_OPT, more=opt[:-1]), make_query(1, counts=WITH_OPT, more=opt[:-2] + b"\0\1"),
                      make_query(1, counts=WITH_OPT, more=b"\1x" + opt), make_query(1, counts=WITH_OPT, more=opt.replace(b"\x29", b"\xfa")),
                      make_query(1, counts=(1, 0, 0, 2), more=opt + opt), make_query(1)[:-1], make_query(1)[:12]):
            for ask in (self.ask, self.ask_tcp):
                answer, _ = ask(query)
                self.assertEqual((code_of(answer), answer[:2]), (FORMERR, query[:2]))
        self.assertEqual(stub.seen, [])


class Abuse(RelayTest):
    def flood(self, make, count):
        clients = [self.client() for _ in range(8)]
        for i in range(count * STRESS):
            with contextlib.suppress(OSError):
                clients[i % len(clients)].send(make(i))

    def assert_small(self):
        if b"libasan" not in pathlib.Path(RELAY).read_bytes():
            self.assertLess(self.process("RssAnon"), 1000)

    def test_garbage(self):
        self.stub(1)
        self.start(1)
        noise = random.Random(1)
        self.flood(lambda i: noise.randbytes(noise.randrange(0, 2000)), 20000)
        self.flood(lambda i: make_query(i % 65536)[:12] + noise.randbytes(noise.randrange(0, 300)), 5000)
        self.assertEqual(code_of(self.ask_repeatedly()), 0)
        with contextlib.suppress(OSError):
            for _ in range(30):
                self.connect().sendall(noise.randbytes(5000))
        self.assertEqual(code_of(self.ask_tcp()[0]), 0)
        self.assert_small()

    def ask_repeatedly(self):
        """Repeats a query like any client, because a flood may have filled the queue before it."""
        client = self.client()
        client.settimeout(1)
        query = make_query(1)
        for _ in range(20):
            client.send(query)
            with contextlib.suppress(TimeoutError):
                return client.recv(65535)
        return self.fail("no answer")

    def test_unanswered_queries_are_bounded(self):
        def reply(query):
            return make_answer(query) if b"www" in query else None

        stub = self.stub(1, reply)
        self.start(1)
        self.flood(lambda i: make_query(i % 65536, f"n{i}.silent.example"), 20000)
        self.assertEqual(code_of(self.ask_repeatedly()), 0)
        self.assert_small()
        # The number of slots bounds the queries that the host's resolver receives.
        self.assertLess(len(stub.seen), 5000 * STRESS)

    def test_a_thousand_at_once(self):
        self.stub(1)
        self.start(1)
        client = self.client()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        missing = {i: make_query(i, f"n{i}.example") for i in range(1000)}
        for _ in range(10):
            for query in list(missing.values()):
                client.send(query)
            while missing and select.select([client], [], [], 1)[0]:
                answer = client.recv(65535)
                number = struct.unpack(">H", answer[:2])[0]
                if number in missing:
                    self.assertEqual(answer, make_answer(missing.pop(number)))
        self.assertEqual(len(missing), 0)
        self.assert_small()

    def test_a_flood_takes_little_processor_time(self):
        self.stub(1)
        self.start(1)
        end = time.monotonic() + 2
        client = self.client()
        count = 0
        while time.monotonic() < end:
            client.send(b"x" * 100)
            count += 1
        self.assertGreater(count, 10000)
        self.assertLess(self.processor_time(), 0.1)

    def test_few_descriptors(self):
        for limit in (12, 20, 48):
            with self.subTest(limit=limit):
                self.stub(1, lambda query: make_answer(query) if b"www" in query else None)
                self.start(1, limit=limit)
                self.flood(lambda i: make_query(i % 65536, f"n{i}.silent.example"), 500)
                connections = [self.connect() for _ in range(30)]
                for one in connections:
                    with contextlib.suppress(OSError):
                        one.sendall(framed(make_query(1, "silent.example")))
                time.sleep(0.5)
                before = self.processor_time()
                time.sleep(1)
                self.assertLess(self.processor_time() - before, 0.2)
                for one in connections:
                    one.close()
                self.assertEqual(code_of(self.ask_repeatedly()), 0)
                time.sleep(1)
                self.assertEqual(code_of(self.ask_tcp()[0]), 0)

    def test_no_descriptor_for_a_connection(self):
        self.stub(1, lambda query: None)
        self.start(1, limit=10)
        for i in range(4):
            self.client().send(make_query(i))
        time.sleep(0.1)
        self.connect().sendall(framed(make_query(5)))
        before = self.processor_time()
        time.sleep(2)
        self.assertLess(self.processor_time() - before, 0.2)


class Process(RelayTest):
    def test_idle_relay_does_not_wake_up(self):
        self.stub(1)
        self.start(1)
        for _ in range(50):
            self.ask()
            self.ask_tcp()
        time.sleep(0.3)
        before = self.process("voluntary_ctxt_switches")
        time.sleep(2)
        self.assertEqual(self.process("voluntary_ctxt_switches"), before)
        self.assertLess(self.process("FDSize"), 257)

    def test_inherited_descriptors_are_closed(self):
        self.stub(1)
        reading, writing = os.pipe()
        self.start(1, pass_fds=(writing,))
        os.close(writing)
        self.addCleanup(os.close, reading)
        self.assertEqual(select.select([reading], [], [], 5)[0], [reading])
        self.assertEqual(os.read(reading, 1), b"")

    def test_signals_are_blocked(self):
        self.stub(1)
        self.start(1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGTSTP):
            os.kill(self.relay.pid, number)
        self.assertEqual(code_of(self.ask()[0]), 0)

    def test_relay_ends_with_its_parent(self):
        self.stub(1)
        self.configure(1)
        script = f'"{RELAY}" 127.0.0.1 "{self.conf}" {self.port} & echo $!; wait'
        with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True) as shell:
            numbers = [int(shell.stdout.readline()) for _ in range(2)]
            pid = next(number for number in numbers if self.is_relay(number))
            shell.kill()
            shell.wait()
            for _ in range(100):
                if not self.is_relay(pid):
                    break
                time.sleep(0.05)
            self.assertFalse(self.is_relay(pid))

    @staticmethod
    def is_relay(pid):
        with contextlib.suppress(OSError):
            status = pathlib.Path(f"/proc/{pid}/stat").read_text()
            return "relay" in status and ") Z " not in status
        return False

    def test_wrong_parent_is_refused(self):
        self.configure(1)
        done = subprocess.run([RELAY, "127.0.0.1", self.conf, "1", "1"], stdout=subprocess.PIPE, check=False, timeout=20)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
