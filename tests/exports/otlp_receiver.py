#!/usr/bin/env python3
"""Receives requests on loopback, for tests: otlp_receiver.py DIRECTORY PLAN

Prints its port. Saves the body of each accepted request as DIRECTORY/body.N, and its headers as
DIRECTORY/headers.N. PLAN: how to answer the first requests, one line "STATUS RETRY_AFTER RESPONSE"
each ("-": none; RESPONSE: hexadecimal). Later requests get 200.
"""
import http.server
import sys

directory, plan = sys.argv[1], [line.split() for line in open(sys.argv[2])]
taken = 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global taken
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, retry, answer = plan.pop(0) if plan else ("200", "-", "-")
        if status == "200":
            with open(f"{directory}/body.{taken:06}", "wb") as file:
                file.write(body)
            with open(f"{directory}/headers.{taken:06}", "w") as file:
                file.write(f"{self.path}\n{self.headers}")
            taken += 1
        answer = b"" if answer == "-" else bytes.fromhex(answer)
        self.send_response(int(status))
        if retry != "-":
            self.send_header("Retry-After", retry)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
