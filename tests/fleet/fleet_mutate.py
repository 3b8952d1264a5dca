#!/usr/bin/env python3
"""A server that answers like the database at UPSTREAM (a port), with changes. Prints its port.

A statement "TEST SEED" sets what is changed: 0 nothing, otherwise some replies, always in the same
way. "TEST endless" and "TEST redirect" are faults of all later replies, and "TEST COUNT" replies
with the number of requests since then. Replies of the database are kept by statement, so the
database answers each statement once. If the database cannot be reached, the status is 599.
"""
import http.server
import random
import sys
import urllib.error
import urllib.request
import zlib

EDGES = [0, 1, 2, 3, 7, 8, 10, 27, 63, 64, 127, 128, 129, 255]
TEXTS = [b"\x1b]0;x\x07", b"\n#!\n", b"\x1b[2J", b"../../", b"=cmd(", b"\xff\xfe\x80", b"\0\0\0", b"%s%n",
         b"\xc2\x9b2J"]
upstream = sys.argv[1]
replies = {}
state = {"seed": 0, "fault": "", "count": 0}


def texts_in(body):
    """Beginnings of four printable bytes and more."""
    return [i for i in range(len(body) - 4) if all(32 <= byte < 127 for byte in body[i:i + 4])]


def change(body, chance):
    body = bytearray(body)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        if not body:
            return bytes(chance.choices(EDGES, k=chance.choice((1, 8, 200))))
        at = chance.randrange(len(body))
        what = chance.random()
        if what < 0.25:
            body[at] = chance.choice(EDGES)
        elif what < 0.45:
            body[at:at + 8] = chance.choice((b"\xff" * 8, b"\0" * 8, b"\xff" * 7 + b"\x7f",
                                             b"\0" * 7 + b"\x80", b"\1" + b"\0" * 7))
        elif what < 0.7:
            places = texts_in(body)
            if places:
                at, text = chance.choice(places), chance.choice(TEXTS)
                body[at:at + 4] = (text * 4)[:4] if len(text) < 4 else text[:4]
        elif what < 0.75:
            del body[at:]
        elif what < 0.85:
            body[at:at] = chance.choice(TEXTS)
        elif what < 0.9:
            body *= chance.choice((2, 3, 40))
        else:
            del body[at:at + chance.choice((1, 4, 8, 30))]
        del body[1 << 22:]
    return bytes(body)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body, *headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def endless(self):
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                self.wfile.write(b"\0" * (1 << 20))
        except OSError:
            pass

    def control(self, word):
        if word == b"COUNT":
            return self.answer(200, str(state["count"]).encode())
        state.update(seed=int(word) if word.isdigit() else 0,
                     fault="" if word.isdigit() else word.decode(), count=0)
        return self.answer(200, b"")

    def forward(self, body):
        key = self.path, body
        if key not in replies:
            request = urllib.request.Request(f"http://127.0.0.1:{upstream}{self.path}", body)
            for name in ("X-ClickHouse-User", "X-ClickHouse-Key", "Authorization"):
                if name in self.headers:
                    request.add_header(name, self.headers[name])
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            try:
                with opener.open(request) as reply:
                    replies[key] = reply.status, reply.read()
            except urllib.error.HTTPError as error:
                replies[key] = error.code, error.read()
            except OSError as error:
                return 599, str(error).encode()
        return replies[key]

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if body.startswith(b"TEST "):
            return self.control(body[5:])
        state["count"] += 1
        if state["fault"] == "endless":
            return self.endless()
        if state["fault"] == "redirect":
            return self.answer(307, b"", ("Location", f"http://127.0.0.1:{upstream}{self.path}"))
        status, reply = self.forward(body)
        if status == 599:
            return self.answer(status, reply)
        chance = random.Random(state["seed"] * 1000003 + zlib.crc32(body))
        if state["seed"] != 0 and chance.random() < (0.02 if b"version()" in body else 0.6):
            reply = change(reply, chance)
        return self.answer(status, reply)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
