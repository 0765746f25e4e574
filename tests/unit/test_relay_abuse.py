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

from unit.relay import RELAY, RelayTest, code_of, framed, make_answer, make_query, read_message
from lib.stress import STRESS


class Connections(RelayTest):
    def test_messages_of_any_size_in_any_number(self):
        self.stub(1)
        self.start(1)
        connection = self.connect()
        sizes = [0, 1, 500, 4096, 30000, 65535 - len(make_query(0)) - 10]
        queries = [make_query(i, more=os.urandom(size)) for i, size in enumerate(sizes)]
        threading.Thread(target=connection.sendall, args=(b"".join(map(framed, queries)),), daemon=True).start()
        for query in queries:
            self.assertEqual(read_message(connection), make_answer(query))

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
