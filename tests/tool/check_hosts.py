#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Compares aligned records with the truth of make_hosts.py: `check_hosts.py TRUTH INFO CSV`. Each
# record must be within the stated error of its host, and each receive later than its send. Prints
# what is wrong, and nothing else.
import csv
import json
import sys


def main():
    with open(sys.argv[1]) as file:
        truth = json.load(file)
    with open(sys.argv[2]) as file:
        info = json.load(file)
    aligned = {host: [] for host in truth}
    with open(sys.argv[3]) as file:
        for row in csv.reader(file):
            host = "abc"[int(row[0]) // 1000 - 1]
            aligned[host].append(int(row[-2]) * 10**9 + int(row[-1]))
    times = {}
    for trace, (host, facts) in zip(info, truth.items()):
        error = trace["alignment"]["error_ns"] + 2  # ticks and anchors are rounded
        if len(aligned[host]) != len(facts["hits"]):
            print(host, "has", len(aligned[host]), "records")
        worst = max(abs(got - hit[0]) for got, hit in zip(aligned[host], facts["hits"]))
        if worst > error:
            print(host, "is off by", worst, "ns, stated:", error)
        for got, (_, name, request) in zip(aligned[host], facts["hits"]):
            times[name, request] = got
    for (name, request), at in times.items():
        message, _, role = name.partition(":")
        if role == "send" and times.get((message + ":receive", request), at) < at:
            print(name, request, "is received before it is sent")


if __name__ == "__main__":
    main()
