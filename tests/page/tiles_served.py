"""Requests tiles from a server, and files that it must not serve.

    tiles_served.py ADDRESS DIRECTORY

Tiles that are symbolic links are not served. Prints a line for each failure."""
import glob
import os
import sys
import urllib.error
import urllib.request

address, directory = sys.argv[1:]


def get(name):
    try:
        with urllib.request.urlopen(address + name) as reply:
            return reply.status, reply.headers["Content-Type"], reply.read()
    except urllib.error.HTTPError as error:
        return error.code, "", b""


for path in glob.glob(f"{directory}/tile-*.js"):
    name = os.path.basename(path)
    status, kind, text = get(name)
    if os.path.islink(path):
        if status != 404:
            print(f"{name}, a link: status {status}")
    elif (status, kind, text) != (200, "text/plain", open(path, "rb").read()):
        print(f"{name}: {status} {kind} {len(text)}")
for name in ("tile-.js", "tile-999999.js", "tile-99999999999999.js", "tile-0.jsx", "tile--1.js",
             "tile-0x1.js", "tile-+1.js", "tiles.txt", "trace-0.index", "index.html", "tile-0.js/",
             "../d/tile-0.js", "tile-..%2ftiles.txt.js", "%2e%2e/run.probity"):
    if get(name)[0] != 404:
        print(f"{name}: status {get(name)[0]}")
if get("window?from=0&to=100000")[0] != 200:
    print("no window")
