"""Checks thread states on a page of `probity view`, and prints what a browser should show.

    page_states.py PAGE THREADS PATH OUT SPANS

THREADS: of `probity threads --json`; PATH: of `probity path --json`, of serve() or requests.
Checks that the states of each thread sum to what THREADS has, within its lifetime, that semaphores
which are signals have no holders, and that spans and waits are within the budget of SPANS. Writes
to OUT, for tests/browser/view.mjs: the spans of PATH with
their places on the page; a stretch in which the server was blocked on the lock, with who held it
and who woke it; and how the slowest call splits. Exit status 1 if a check fails.
"""
import json
import sys

from page_spans import CALLS, ROWS, RUNNABLE, RUNNING, STATES, lanes_of, read_page

REQUESTS = 1
BLOCKED = 3
HOLDER = 6


def read_lanes(data, spans):
    """By place of a thread: (kind, depth) and spans as (start, length, count, name, busy, off, last)."""
    found = [{} for _ in data["timeline"]["threads"]]
    for (place, kind, depth), lane in lanes_of(data["timeline"], spans):
        kind = CALLS if kind == ROWS else kind
        found[place][kind, depth] = [(*span[:6], span.last) for span in lane]
    return found


def clip(spans, begin, end):
    """Time running, waiting for a CPU, blocked in [begin, end), of merged states in proportion."""
    sums = [0, 0, 0]
    for start, length, _, _, busy, off, _ in spans:
        part = max(0, min(end, start + length) - max(begin, start)) / max(1, length)
        for i, ns in enumerate((busy, off, length - busy - off)):
            sums[i] += ns * part
    return sums


def check_sums(data, lanes, wanted, faults):
    since, unit = data["timeline"]["since_start_ns"], data["timeline"]["unit_ns"]
    for place, thread in enumerate(data["timeline"]["threads"]):
        if "track" in thread:
            continue
        if (STATES, 0) not in lanes[place]:
            faults.append(f"thread {thread['tid']} has no states")
            continue
        if lanes[place][STATES, 0][0][1] == 0:
            faults.append(f"thread {thread['tid']}: states from before the first record are shown")
        found = clip(lanes[place][STATES, 0], since + thread["first_ns"],
                     since + thread["last_ns"])
        row = wanted[thread["tid"]]
        for name, ns in zip(("running_ns", "waiting_ns", "blocked_ns"), found):
            if abs(ns - row[name]) > 2 * unit + 100:
                faults.append(f"thread {thread['tid']}: {name} {ns}, not {row[name]}")


def doing_at(data, lanes, at):
    """The innermost function of the program that is open just before a time."""
    name = None
    for (kind, _), spans in sorted(lanes.items()):
        for start, length, _, number, *_ in spans if kind == CALLS else []:
            function = data["timeline"]["names"][number]
            if start < at <= start + length and not function["file"].startswith("libc/"):
                name = function["name"]
    return name


def find_blocked(data, lanes):
    """The first stretch in which the server is blocked in take(), and the keeper has the table."""
    threads = data["timeline"]["threads"]
    place = {thread["name"]: i for i, thread in enumerate(threads) if "track" not in thread}
    if "server" not in place:
        return None
    server, keeper = place["server"], place["keeper"]
    states = lanes[server][STATES, 0]
    names = data["waits"]["names"]
    slot = data["waits"]["threads"].index([0, threads[server]["thread"]])
    at = data["timeline"]["since_start_ns"]
    for wait in data["waits"]["list"]:
        at += wait[1]
        if wait[0] != slot or names[wait[3]][:2] != ["lock", "mutex table"] or len(wait) < 10:
            continue
        for i, (start, length, count, name, *_) in enumerate(states[:-1]):
            inside = min(start + length, at + wait[2]) - max(start, at)
            if count > 1 or name != BLOCKED or inside * 2 < length or length < 1000000:
                continue
            following = states[i + 1]
            is_woken = following[2] == 1 and following[3] == RUNNABLE and following[6] > 0
            if is_woken and following[6] != threads[keeper]["tid"]:
                continue
            held_until = at + wait[8] + wait[9]
            text = f"keeper {threads[keeper]['tid']} in "
            doing = doing_at(data, lanes[keeper], held_until - 1)
            return {"place": f"{server}.{STATES}.0.{start}", "on": "lock mutex table",
                    "ns": length, "function": "fill", "holder": text + doing,
                    "arrow": f"{threads[keeper]['tid']}-{threads[server]['tid']}",
                    "waker": text + "fill" if is_woken else None}
    return None


def find_running(data, lanes):
    """The longest stretch in which the first thread with states runs, between the first record and
    the last one: the timeline has no more, and cuts what was before and after."""
    timeline = data["timeline"]
    end = timeline["since_start_ns"] + max(thread["last_ns"] for thread in timeline["threads"]
                                           if "track" not in thread)
    for place, thread in enumerate(lanes):
        spans = [each for each in thread.get((STATES, 0), [])
                 if each[2:4] == (1, RUNNING) and each[0] > timeline["since_start_ns"]
                 and each[0] + each[1] <= end]
        if spans:
            start, length, _, _, _, _, cpu = max(spans, key=lambda each: each[1])
            return {"place": f"{place}.{STATES}.0.{start}", "from": start, "to": start + length,
                    "cpu": cpu}
    return None


def part_text(part):
    doing = " > ".join(name for name in (part["function"], part["call"]) if name is not None)
    return " ".join(map(str, (part["offset_ns"], part["ns"], part["state"], part["tid"],
                              len(part["waits"]), doing)))


def is_at(timeline, span, start, each):
    """Whether a span of the page is the call, or the first stage of the request."""
    if span["id"] is not None:
        return each[0] == start and each[2] == 1
    return each[:3] == (start, span["ns"], 1) and \
        timeline["names"][each[3]]["name"] == "serve"


def spans_of(data, lanes, path):
    """The spans of a path, with their places; spans merged with others are left out."""
    timeline, found = data["timeline"], []
    started = int(timeline["first_ns"]) - timeline["since_start_ns"]
    for span in path["spans"]:
        start = span["at_ns"] - started
        for place, thread in enumerate(timeline["threads"]):
            is_request = span["id"] is not None
            if (thread.get("track") != REQUESTS) if is_request else (thread["tid"] != span["tid"]):
                continue
            for (kind, depth), spans in lanes[place].items():
                if kind == CALLS and any(is_at(timeline, span, start, each) for each in spans):
                    found.append({"place": f"{place}.{ROWS if is_request else CALLS}.{depth}."
                                           f"{start}", "ns": span["ns"],
                                  "parts": [part_text(part) for part in span["parts"]]})
    return found


def check_holders(data, lanes, faults):
    """One thread posts each semaphore and another waits for it: only the mutex has holders."""
    names = data["timeline"]["names"]
    for place, thread in enumerate(data["timeline"]["threads"]):
        if "track" not in thread or thread["name"] not in ("mutex", "semaphore"):
            continue
        kinds = {names[span[3]]["kind"] for spans in lanes[place].values() for span in spans}
        if (HOLDER in kinds) != (thread["name"] == "mutex"):
            faults.append(f"{thread['name']}: spans of kinds {kinds}")


def main():
    page_name, threads_name, path_name, out_name, spans_max = sys.argv[1:]
    data, span_bytes = read_page(page_name)
    lanes = read_lanes(data, span_bytes)
    rows = {thread["tid"]: thread for process in json.load(open(threads_name))["processes"]
            for thread in process["threads"]}
    path = json.load(open(path_name))
    faults = []
    check_sums(data, lanes, rows, faults)
    check_holders(data, lanes, faults)
    used = sum(len(spans) for thread in lanes for spans in thread.values())
    kept = len(data["waits"]["list"])
    if used > int(spans_max) or kept > int(spans_max) / 32 + 1:
        faults.append(f"{used} spans and {kept} waits, at most {spans_max}")
    spans = spans_of(data, lanes, path)
    if len(spans) != len(path["spans"]):
        faults.append(f"{len(spans)} of {len(path['spans'])} calls are on the page")
    blocked = find_blocked(data, lanes)
    is_merged = data["timeline"]["together"] > 0
    if blocked is None and any(t["name"] == "server" for t in rows.values()):
        faults.append("the server is never blocked on the lock")
    first = path["spans"][0]
    split = None
    for place, thread in enumerate(data["timeline"]["threads"]):
        if thread["tid"] == first["tid"] and "track" not in thread and spans:
            start = int(spans[0]["place"].split(".")[3])
            sums = clip(lanes[place][STATES, 0], start, start + first["ns"])
            split = dict(zip(("running", "runnable", "blocked"), sums),
                         place=spans[0]["place"])
    json.dump({"spans": spans, "blocked": blocked, "running": find_running(data, lanes),
               "split": split, "near": is_merged}, open(out_name, "w"))
    for fault in faults:
        print(f"FAILED: {page_name}: {fault}", file=sys.stderr)
    sys.exit(bool(faults))


main()
