#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Compares times between hosts with the truth of make_hosts.py: `check_wires.py TRUTH < PATHS`,
# the output of `probity path --json`. Prints what is wrong.
import json
import sys

WAYS = ["call", "fetch", "data", "reply"]


def main():
    with open(sys.argv[1]) as file:
        truth = json.load(file)
    times = {(name, request): at for host in truth.values() for at, name, request in host["hits"]}
    for span in json.load(sys.stdin)["spans"]:
        request = span["id"]
        wires = [part for part in span["parts"] if part["state"] == "wire"]
        for way, part in zip(WAYS, wires):
            ns, error = part["ns"], part["error_ns"]
            true = times[way + ":receive", request] - times[way + ":send", request]
            if abs(ns - true) > error + 2:  # ticks and anchors are rounded
                print(request, way, "took", true, "ns, shown:", ns, "error:", error)


if __name__ == "__main__":
    main()
