#!/usr/bin/env python3
"""Stands in for a ClickHouse server from 22.8 on, which remembers tokens of inserts, with faults on
request. Prints its port. Keeps, by table and block, the rows of each insert that it executes, and
the tokens of all.

    fleet_server.py [FAULT] [CERTIFICATE KEY]

    lost      the first insert of block 1 of a table is acknowledged, and lost, but its token kept
    full      every other insert fails: no space on its disk
    slow      every third insert is executed, but answered only after the connection is closed
    refused   two of five connections, at random, are closed at once
    late      a server without tokens, which has every block with a deadline after that
"""
import http.server
import random
import re
import ssl
import struct
import sys
import threading
import time

fault = sys.argv[1] if len(sys.argv) > 1 else ""
lock = threading.Lock()
tables = {}
tokens = set()
offered = {}
lost = set()
counts = {"inserts": 0}
chance = random.Random(1)


def length_at(body, at):
    length = shift = 0
    while True:
        byte = body[at]
        at += 1
        length |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return length, at


def text(value):
    return bytes([len(value)]) + value.encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def insert(self, body):
        id_of = re.search(r"query_id=probity-[0-9a-f]{16}-(\w+)-([0-9a-f]+)&", self.path)
        table, block = id_of.groups()
        token = re.search(r"insert_deduplication_token=([\w-]+)", self.path)
        rows = length_at(body, length_at(body, 0)[1])[0]
        number = counts["inserts"] = counts["inserts"] + 1
        if "throwIf" in self.path:
            return self.answer(500, b"Code: 395, e.displayText() = DB::Exception: throwIf\n")
        if fault == "late" and len(block) < 8:
            tables.setdefault(table, {}).setdefault(int(block), []).append(rows)
        if token is None:
            return self.answer(200, b"")
        offered.setdefault(table, {}).setdefault(block, []).append(token[1])
        if fault == "full" and number % 2 == 0:
            return self.answer(500, b"Code: 243. DB::Exception: Cannot reserve, not enough space\n")
        is_new = token[1] not in tokens
        tokens.add(token[1])
        if fault == "lost" and block == "1" and table not in lost:
            lost.add(table)
        elif is_new:
            tables.setdefault(table, {}).setdefault(int(block), []).append(rows)
        if fault == "slow" and number % 3 == 0:
            self.close_connection = True
            return None
        return self.answer(200, b"")

    def ask(self, sql):
        if "version()" in sql:
            return self.answer(200, text("18.16.1" if fault == "late" else "26.7.1.1"))
        if "system.replicas" in sql:
            return self.answer(200, b"\0\0")
        if "probity_versions" in sql:
            return self.answer(200, struct.pack("<I", 3))
        if "now()" in sql:
            return self.answer(200, struct.pack("<I", int(time.time())))
        if "probity_senders" in sql:
            return self.answer(200, b"")
        if "system.processes" in sql:
            return self.answer(200, struct.pack("<Q", 0))
        if sql.startswith("SELECT 1"):
            return self.answer(200, b"\1")
        if sql.startswith("TEST TOKENS"):
            return self.answer(200, "".join(
                f"{len(attempts)} {len(set(attempts))}\n" for of_table in offered.values()
                for attempts in of_table.values()).encode())
        blocks = tables.get(re.search(r"FROM (\w+)", sql)[1], {})
        if "GROUP BY block" in sql:
            return self.answer(200, b"".join(struct.pack("<IQ", block, sum(rows))
                                             for block, rows in sorted(blocks.items())))
        one = re.search(r"block = (\d+)", sql)
        if one:
            return self.answer(200, struct.pack("<Q", sum(blocks.get(int(one[1]), []))))
        if sql.startswith("TEST"):
            return self.answer(200, repr(sorted(map(list, blocks.items()))).encode())
        return self.answer(200, b"")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with lock:
            if "INSERT" in self.path:
                return self.insert(body)
            return self.ask(body.decode())


class Server(http.server.ThreadingHTTPServer):
    def verify_request(self, request, address):
        return fault != "refused" or chance.random() < 0.6


server = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
