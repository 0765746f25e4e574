# SPDX-License-Identifier: MIT
"""The DNS relay forwards queries and their answers only, and handles servers that fail."""
import contextlib
import os
import random
import socket
import struct
import threading
import time
import unittest

from unit.relay import (FORMERR, NOTIMP, REFUSED, SERVFAIL, WITH_OPT, RelayTest, code_of, framed, make_answer, make_opt, make_query,
                        read_message)


class Answers(RelayTest):
    def test_answer_is_forwarded_unchanged(self):
        stub = self.stub(1)
        self.start(1)
        query = make_query(4711, flags=0x0130, more=make_opt(flags=0x8000), counts=WITH_OPT)
        for ask in (self.ask, self.ask_tcp):
            self.assertEqual(ask(query)[0], make_answer(query))
        self.assertEqual(stub.seen, [query] * 2)

    def test_query_is_written_anew(self):
        """Options, trailing bytes, unknown flags and a missing request for recursion do not reach a server."""
        stub = self.stub(1)
        self.start(1)
        options = b"".join(struct.pack(">HH", code, 8) + b"x" * 8 for code in (3, 8, 10, 12, 65001))
        plain, extended = make_query(7), make_query(7, more=make_opt(1232, 0x8000), counts=WITH_OPT)
        for sent, wanted in ((make_query(7, more=b"trailing"), plain), (make_query(7, flags=0), plain), (make_query(7, flags=0x07c8), plain),
                             (make_query(7, more=make_opt(1232, 0xffff, options, 1), counts=WITH_OPT), extended),
                             (make_query(7, more=make_opt(1232, 0x8000) + b"trailing", counts=WITH_OPT), extended)):
            for ask in (self.ask, self.ask_tcp):
                stub.seen.clear()
                self.assertEqual(code_of(ask(sent)[0]), 0)
                self.assertEqual(stub.seen, [wanted])

    def test_big_answers_by_udp(self):
        for size in (512, 4096, 60000):
            with self.subTest(size=size):
                self.stub(1, lambda query, size=size: make_answer(query, b"x" * size))
                self.start(1)
                query = make_query(1)
                self.assertEqual(self.ask(query)[0], make_answer(query, b"x" * size))

    def test_long_queries_are_accepted_by_tcp_only(self):
        stub = self.stub(1)
        self.start(1)
        client = self.client()
        client.send(make_query(1, more=b"x" * 480))
        longest = make_query(2, more=b"x" * (512 - len(make_query(2))))
        self.assertEqual(self.ask(longest, client)[0], make_answer(make_query(2)))
        self.assertEqual(stub.seen, [make_query(2)])
        for size in (512, 4094 - len(make_query(3))):
            self.assertEqual(self.ask_tcp(make_query(3, more=os.urandom(size)))[0], make_answer(make_query(3)))

    def test_ipv6_servers(self):
        if not os.path.exists("/proc/net/if_inet6"):
            self.skipTest("no IPv6 here")
        self.stub("::1")
        for server in ("::1", "::1%lo", "::1%1"):
            with self.subTest(server=server):
                self.start(server)
                query = make_query(1)
                self.assertEqual(self.ask(query)[0], make_answer(query))
                self.assertEqual(self.ask_tcp(query)[0], make_answer(query))

    def test_only_standard_queries_are_forwarded(self):
        stub = self.stub(1)
        self.start(1)
        client = self.client()
        bad = [b"", b"x" * 11, make_query(1, flags=0x8100), make_query(1, flags=0x2800), make_query(1, flags=0x2000),
               make_query(1)[:-1], b"\0\1\1\0\0\2" + make_query(1)[6:], b"\0\1\1\0\0\1\0\0\0\0\0\0\xc0\x0c\0\1\0\1"]
        for message in bad:
            client.send(message)
        query = make_query(2)
        client.send(query)
        answers = [client.recv(65535) for _ in range(6)]
        self.assertEqual(sorted(code_of(answer) for answer in answers[:-1]), [FORMERR] * 3 + [NOTIMP] * 2)
        self.assertEqual({len(answer) for answer in answers[:-1]}, {12})
        self.assertEqual(answers[-1], make_answer(query))
        self.assertEqual(stub.seen, [query])
        # What is no query at all ends a connection.
        for message in (b"\0\1x", framed(b"x" * 11), framed(make_query(1, flags=0x8100)), b"GET / HTTP/1.0\r\n\r\n"):
            connection = self.connect()
            with contextlib.suppress(OSError):
                connection.sendall(message)
                self.assertEqual(connection.recv(1), b"")
        # The second message of a connection is checked as well, also if it arrives byte by byte.
        connection = self.connect()
        connection.sendall(framed(query))
        self.assertEqual(read_message(connection), make_answer(query))
        for byte in framed(make_query(3, flags=0x2800)):
            connection.sendall(bytes([byte]))
            time.sleep(0.005)
        self.assertEqual(code_of(read_message(connection)), NOTIMP)
        self.assertEqual(stub.seen, [query] * 2)

    def test_forged_answers_are_ignored(self):
        """Answers from other addresses, and answers with another id or question, are ignored."""
        def reply(query):
            for number in (1, 2):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
                    stranger.bind((self.address_of(number), 0))
                    stranger.sendto(make_answer(query, b"forged"), stub.client)
            other = bytes([query[0] ^ 1]) + query[1:]
            for forged in (make_answer(other, b"forged"), make_answer(query.replace(b"www", b"wwx"), b"forged"),
                           query, b"", query[:2], make_answer(query, b"forged")[:14]):
                stub.udp.sendto(forged, stub.client)
            return make_answer(query)

        stub = self.stub(1, reply)
        self.start(1)
        for _ in range(20):
            query = make_query(random.randrange(65536))
            self.assertEqual(self.ask(query)[0], make_answer(query))

    def test_a_forgery_alone_is_no_answer(self):
        """Positive control: in the test above, the right answer is not just the first one."""
        self.stub(1, lambda query: make_answer(query.replace(b"www", b"wwx"), b"forged"))
        self.stub(2)
        self.start(1, 2)
        query = make_query(1)
        answer, took = self.ask(query)
        self.assertEqual(answer, make_answer(query))
        self.assertGreater(took, 0.9)


class Servers(RelayTest):
    def test_unreachable_server_causes_no_delay(self):
        self.stub(3)
        self.start(1, 2, 3)
        for _ in range(3):
            answer, took = self.ask()
            self.assertEqual(code_of(answer), 0)
            self.assertLess(took, 0.5)
        answer, took = self.ask_tcp()
        self.assertEqual(code_of(answer), 0)
        self.assertLess(took, 0.5)

    def test_silent_server_delays_one_query(self):
        silent = self.stub(1, lambda query: None)
        self.stub(2)
        self.start(1, 2)
        answer, took = self.ask()
        self.assertEqual(code_of(answer), 0)
        self.assertTrue(0.9 < took < 3, took)
        for _ in range(5):
            self.assertLess(self.ask()[1], 0.5)
        self.assertEqual(len(silent.seen), 1)

    def test_a_silent_server_is_tried_again(self):
        self.stub(1, lambda query: None)
        self.stub(2)
        self.start(1, 2)
        self.ask()
        first = self.stub(1)
        self.ask()
        self.assertEqual(len(first.seen), 0)
        time.sleep(31)
        self.assertLess(self.ask()[1], 0.5)
        self.assertEqual(len(first.seen), 1)

    def test_a_slow_server_stays_the_first(self):
        """A slow answer does not send later queries to a server that may know less."""
        def reply(query):
            return None if b"hard" in query else make_answer(query, b"first")

        self.stub(1, reply)
        self.stub(2, lambda query: make_answer(query, b"second"))
        self.start(1, 2)
        hard = self.client()
        hard.send(make_query(1, "hard.example.org"))
        time.sleep(0.5)
        self.assertTrue(self.ask()[0].endswith(b"first"))
        self.assertTrue(hard.recv(65535).endswith(b"second"))
        self.assertTrue(self.ask()[0].endswith(b"first"))

    def test_repeated_query_is_sent_to_the_next_server(self):
        self.stub(1, lambda query: None)
        second = self.stub(2, lambda query: None)
        self.stub(3)
        self.start(1, 2, 3)
        client = self.client()
        query = make_query(7)
        started = time.monotonic()
        for _ in range(3):
            client.send(query)
            time.sleep(0.02)
        self.assertEqual(client.recv(65535), make_answer(query))
        self.assertLess(time.monotonic() - started, 0.9)
        self.assertEqual(second.seen, [query])

    def test_late_answer_is_forwarded(self):
        def reply(query):
            time.sleep(1.3)
            return make_answer(query, b"late")

        self.stub(1, reply)
        self.stub(2, lambda query: None)
        self.start(1, 2)
        self.assertTrue(self.ask()[0].endswith(b"late"))

    def test_server_with_an_error_is_skipped(self):
        for code in (SERVFAIL, 4, REFUSED):
            with self.subTest(code=code):
                self.stub(1, lambda query, code=code: make_answer(query, b"bad", code))
                self.stub(2, lambda query: make_answer(query, b"good"))
                self.start(1, 2)
                answer, took = self.ask()
                self.assertTrue(answer.endswith(b"good"))
                self.assertLess(took, 0.5)

    def test_other_codes_are_answers(self):
        self.stub(1, lambda query: make_answer(query, b"", 3))
        second = self.stub(2)
        self.start(1, 2)
        self.assertEqual(code_of(self.ask()[0]), 3)
        self.assertEqual(second.seen, [])

    def test_last_error_is_returned_if_all_servers_fail(self):
        self.stub(1, lambda query: make_answer(query, b"one", SERVFAIL))
        self.stub(2, lambda query: make_answer(query, b"two", REFUSED))
        self.start(1, 2)
        answer, took = self.ask()
        self.assertEqual((code_of(answer), answer[-3:]), (REFUSED, b"two"))
        self.assertLess(took, 0.5)

    def test_error_is_returned_after_a_short_timeout(self):
        self.stub(1, lambda query: make_answer(query, b"one", REFUSED))
        self.stub(2, lambda query: None)
        self.start(1, 2)
        query = make_query(9)
        answer, took = self.ask(query)
        self.assertEqual((code_of(answer), answer[:2], answer[12:]), (REFUSED, query[:2], query[12:]))
        self.assertTrue(2 < took < 5, took)

    def test_unreachable_servers_give_an_error_at_once(self):
        self.stub(1).close()
        self.start(2, 3)
        query = make_query(9)
        answer, took = self.ask(query)
        self.assertEqual((code_of(answer), answer[12:]), (SERVFAIL, query[12:]))
        self.assertLess(took, 0.5)
        self.assertEqual(self.ask_tcp()[0], b"")

    def test_a_changed_file_is_read_again(self):
        first = self.stub(1)
        second = self.stub(2)
        self.start(1)
        self.ask()
        self.configure(2)
        time.sleep(1.1)
        self.ask()
        self.assertEqual((len(first.seen), len(second.seen)), (1, 1))
        self.conf.unlink()  # as while the file is replaced
        time.sleep(1.1)
        self.ask()
        self.configure(1)
        time.sleep(1.1)
        self.ask_tcp()
        self.assertEqual((len(first.seen), len(second.seen)), (2, 2))

    def test_waiting_queries_are_sent_to_new_servers(self):
        self.stub(1, lambda query: None)
        self.stub(2)
        self.start(1)
        waiting = self.client()
        waiting.send(make_query(5, "waiting.example.org"))
        self.configure(2)
        time.sleep(1.1)
        self.ask()
        waiting.settimeout(1)
        self.assertEqual(code_of(waiting.recv(65535)), 0)

    def test_malformed_resolv_conf(self):
        self.stub(1)
        self.start(2)
        noise = os.urandom(5000).replace(b"\n", b"").replace(b"\0", b"")
        # Three invalid addresses, then a valid one, and one beyond the part that is read.
        self.conf.write_bytes(b"nameserver 1.2.3.4.5\nnameserver ::::\nnameserver x\n" + noise +
                              f"\nnameserver {self.address_of(1)}\n".encode() + b"#" * 20000 + b"\nnameserver 127.99.99.99\n")
        time.sleep(1.1)
        self.assertEqual(code_of(self.ask()[0]), 0)


if __name__ == "__main__":
    unittest.main()
