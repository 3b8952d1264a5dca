"""Compares windows of a served page with the calls of an SQLite export, and attacks the server.

    serve_windows.py ADDRESS DATABASE

Prints a line for each failure, and the number of calls compared."""
import http.client
import json
import os
import random
import socket
import sqlite3
import struct
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tool"))
import page_spans  # noqa: E402

address, database = sys.argv[1:]
place = urllib.parse.urlsplit(address)
host, port, token = place.netloc, place.port, place.path


def get(path, method="GET", headers=None, body=None):
    """Status and body of one request; 0 if the connection is closed without a reply."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    try:
        connection.request(method, path, body, headers or {})
        reply = connection.getresponse()
        return reply.status, reply.read()
    except (http.client.HTTPException, ConnectionError):
        return 0, b""
    finally:
        connection.close()


def expect(what, wanted, found):
    if wanted != found:
        print(f"{what}: expected {wanted}, found {found}")


def window(begin, end):
    """End of what was read, and the calls, by tid, depth, start and length."""
    status, data = get(f"{token}window?from={begin}&to={end}")
    expect(f"status of the window from {begin}", 200, status)
    first, last, size, _ = struct.unpack_from("<QQII", data)
    expect("begin of the window", begin, first)
    timeline = json.loads(data[24:24 + size])
    calls = []
    for (place, kind, _), spans in page_spans.lanes_of(timeline, data[24 + size:]):
        for span in spans:
            if kind == page_spans.CALLS and begin <= span.start < last and span.flags & 2 == 0:
                expect("calls in a span", 1, span.count)
                name = timeline["names"][span.name]["name"]
                calls.append((timeline["threads"][place]["tid"], name, span.start, span.length))
    return last, calls


def compare():
    base = sqlite3.connect(database)
    (start,) = base.execute("select min(start_ns) from trace").fetchone()
    (first, last) = base.execute("select min(enter_ns), max(enter_ns) from call").fetchone()
    unit = json.loads(sys.stdin.read())["unit"]
    compared = 0
    # The last record is in the last window.
    for length in [1 << power for power in range(8, 21)]:
        begin = random.Random(length).randrange(first, last) - start
        for begin in (begin, last - start - length + 1):
            begin = max(begin, 0)
            end, found = window(begin, begin + length)
            wanted = base.execute(
                "select tid, function.name, enter_ns - ?, elapsed_ns from call join thread using (thread)"
                " join function using (function) where enter_ns >= ? and enter_ns < ? and elapsed_ns < ?",
                (start, start + begin, start + end, unit)).fetchall()
            found = [call for call in found if call[3] < unit]
            expect(f"calls in {length} ns from {begin}", sorted(wanted), sorted(found))
            compared += len(wanted)
    print(f"compared {compared}" if compared > 0 else "nothing was compared")


def attack():
    wrong = token[1:-2] + ("0" if token[-2] != "0" else "1")
    for path in ("/", "/index.html", f"/{wrong}/", f"/{wrong}/window?from=0&to=1", token[:-1], f"{token}x",
                 f"{token}../../../../etc/passwd", f"{token}%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
                 f"/{'0' * 32}/", f"{token}window/", f"/{token}", "/" + "a" * 9000):
        expect(f"status of {path[:60]}", 404, get(path)[0])
    for other in (f"127.0.0.1:{port + 1}", "127.0.0.1", f"evil.example:{port}", f"localhost.:{port}", "", f"[::1]:{port}"):
        expect(f"status with Host {other}", 403, get(token, headers={"Host": other})[0])
    expect("status with Host localhost", 200, get(token, headers={"Host": f"localhost:{port}"})[0])
    for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT"):
        expect(f"status of {method}", 405, get(token, method)[0])
    expect("status of a body", 405, get(token, "POST", body=b"x" * 3000000)[0] or 405)
    for query in ("", "?from=0", "?from=a&to=b", "?from=5&to=5", "?from=-1&to=5", "?from=0&to=99999999999999999999",
                  "?from=0x1&to=0x2", "?from=0&to=+5"):
        expect(f"status of window{query}", 400, get(f"{token}window{query}")[0])
    expect("window far away", 200, get(f"{token}window?from=9000000000000000000&to=9100000000000000000")[0])
    expect("huge header", True, get(token, headers={"X": "a" * 200000})[0] in (0, 413, 431))
    # More than the server accepts, or has room for: this does not wait for those.
    many = [socket.socket() for _ in range(200)]
    for connection in many:
        connection.setblocking(False)
        connection.connect_ex(("127.0.0.1", port))
    for connection in many[::2]:
        try:
            connection.send(b"GET / HTTP/1.1\r\nHost: ")
        except OSError:
            pass
    for connection in many:
        connection.close()
    status, page = get(token)
    expect("status after all", 200, status)
    expect("policy", True, b"connect-src 'self'; script-src 'sha256-" in page and b"default-src 'none'" in page)


attack()
compare()
