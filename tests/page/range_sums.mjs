// Checks random ranges of random traces, merged as in the page. The self times of a range never
// exceed the time of the thread in it, nor their CPU times its CPU time. Without merged spans, they
// are exact, and durations are those of calls whose end was recorded. Covers view/src/range.ts (the
// statistics of a range) and view/src/ranged.ts (the tables that follow it). Prints each failure
// and ends with 1 if there is one.
//     node range_sums.mjs MODULE TRACES SEED
// MODULE contains the functions of both files, bundled.
import { argv } from "node:process";
const { rangeSums, rangedOf } = await import(argv[2]);
const traces = Number(argv[3]);
let state = Number(argv[4]) >>> 0;
let failures = 0;
let merges = 0;
let ranges = 0;
let durations = 0;

/** Returns a number in [0, below). Equal seeds give equal sequences. */
function random(below) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor(state / 2 ** 32 * below);
}

function fail(text) {
  failures++;
  if (failures <= 10)
    console.log(`FAILED: ${text}`);
}

/** Calls by depth, each inside its caller: start, end, time off the CPU, name, flags. Times are
 * integers. Flags are those of lanes.ts: one call in four is unwound or open. */
function makeCalls(from, to, depth, lanes, names) {
  for (let at = from + random(3); at < to && lanes.length <= 6;) {
    const end = Math.min(to, at + 1 + random(random(4) === 0 ? to - from : 40));
    const call = { start: at, end, off: 0, name: random(names), flags: random(4) === 0 ? 1 + random(2) : 0 };
    (lanes[depth] ??= []).push(call);
    if (depth < 5 && random(3) > 0)
      makeCalls(at, end, depth + 1, lanes, names);
    at = end + (random(2) === 0 ? 0 : random(20));
  }
}

/** Time off the CPU is at random times, and that of each call is the part during the call. */
function addOff(lanes, offs) {
  for (const call of lanes.flat())
    call.off = offs.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, call.end) - Math.max(from, call.start)), 0);
}

/** Merges spans like the tool: neighbors in a lane become one span with the name of the longest. */
function merged(calls, most) {
  const spans = [];
  for (let i = 0; i < calls.length;) {
    const count = 1 + (most > 1 ? random(most) : 0);
    const part = calls.slice(i, i + count);
    const longest = part.reduce((a, b) => b.end - b.start > a.end - a.start ? b : a);
    spans.push({ start: part[0].start, length: part.at(-1).end - part[0].start, count: part.length, name: longest.name,
      flags: part.reduce((all, { flags }) => all | flags, 0),
      busy: part.reduce((sum, { start, end }) => sum + end - start, 0), off: part.reduce((sum, { off }) => sum + off, 0) });
    merges += part.length > 1 ? 1 : 0;
    i += count;
  }
  return spans;
}

function laneOf(spans, depth) {
  const column = (Type, key) => Type.from(spans, (span) => span[key]);
  return { kind: 2, depth, thread: 0, size: spans.length, start: column(Float64Array, "start"), length: column(Float64Array, "length"),
    count: column(Uint32Array, "count"), name: column(Uint32Array, "name"), busy: column(Float64Array, "busy"), off: column(Float64Array, "off"),
    flags: Uint8Array.from(spans, ({ flags }) => flags ?? 0), values: new Uint32Array(spans.length), whole: new Map() };
}

/** A thread with its calls, and one in which some are merged. */
function makeTrace() {
  const last = 200 + random(2000);
  const names = 1 + random(5);
  const lanes = [];
  makeCalls(0, last, 0, lanes, names);
  const offs = [];
  for (let at = random(50); at < last; at += 1 + random(200)) {
    const end = Math.min(last, at + 1 + random(60));
    offs.push([at, end]);
    at = end;
  }
  addOff(lanes, offs);
  const off = laneOf(offs.map(([from, to]) => ({ start: from, length: to - from, count: 1, name: 0, busy: to - from, off: 0 })), 0);
  const modelOf = (most) => {
    const calls = lanes.map((lane, depth) => laneOf(merged(lane, most), depth));
    const thread = { place: 0, track: 0, pid: 1, tid: 1, name: "t", cpuKnown: true, first: 0, last, off, marks: null, blocks: null, states: null, calls };
    return { threads: [thread], real: [thread], tracks: [], lanes: calls, rowOfName: Int32Array.from({ length: names }, (_, i) => i),
      names: Array.from({ length: names }, (_, i) => ({ kind: 0, name: `f${i}`, number: i })), first: 0, last, started: 0n };
  };
  const functions = Array.from({ length: names }, (_, i) => ({ name: `f${i}` }));
  return { last, names, calls: lanes, offs, exact: modelOf(1), near: modelOf(2 + random(12)),
    data: { report: { functions }, timeline: { report_names: functions.map((_, i) => i) } } };
}

const length = (parts) => parts.reduce((sum, [from, to]) => sum + Math.max(0, to - from), 0);

/** Returns the self time of each name in the range, computed from the calls. */
function exactSelves({ calls, names }, { from, to }) {
  const selves = new Float64Array(names);
  const inside = ({ start, end }) => Math.max(0, Math.min(end, to) - Math.max(start, from));
  calls.forEach((lane, depth) => {
    for (const call of lane) {
      const inner = (calls[depth + 1] ?? []).filter(({ start, end }) => start >= call.start && end <= call.end);
      selves[call.name] += inside(call) - inner.reduce((sum, each) => sum + inside(each), 0);
    }
  });
  return selves;
}

/** Number, shortest and longest of the durations of each name: of calls that begin in the range and
 * have a recorded end. null: there are none. */
function exactDurations({ calls, names }, { from, to }) {
  return Array.from({ length: names }, (_, name) => {
    const times = calls.flat().filter((call) => call.name === name && call.flags === 0 && call.start >= from && call.start < to)
      .map(({ start, end }) => end - start);
    return times.length === 0 ? [0, null, null] : [times.length, Math.min(...times), Math.max(...times)];
  });
}

/** Checks the durations in the statistics of the range, then those in the table. */
function checkDurations(trace, range, sums, ranged, where) {
  exactDurations(trace, range).forEach(([count, least, most], name) => {
    const sum = sums.functions.find(({ row }) => row === name);
    const times = sum?.durations.times() ?? { min_ns: null, max_ns: null };
    if ((sum?.durations.count ?? 0) !== count || times.min_ns !== least || times.max_ns !== most)
      fail(`${where}: ${sum?.durations.count} durations of f${name}, ${times.min_ns} to ${times.max_ns}; expected ${count}, ${least} to ${most}`);
    const row = ranged.functions[name];
    if (row.min_ns !== least || row.max_ns !== most)
      fail(`${where}: durations of f${name} in the table ${row.min_ns} to ${row.max_ns}, expected ${least} to ${most}`);
    durations += count;
  });
}

/** Upper bound of the self time of whole calls that begin in the range: from the first start to the
 * last end. */
function boundOfWhole(model, { from, to }) {
  const counted = model.real[0].calls.flatMap((lane) => Array.from(lane.start, (start, i) => [start, start + lane.length[i]]))
    .filter(([start]) => start >= from && start < to);
  return counted.length === 0 ? 0 : Math.max(...counted.map(([, end]) => end)) - Math.min(...counted.map(([start]) => start));
}

function check(trace, range, seed) {
  const there = Math.min(trace.last, range.to) - Math.max(0, range.from);
  const onCpu = there - length(trace.offs.map(([from, to]) => [Math.max(from, range.from), Math.min(to, range.to)]));
  const selves = exactSelves(trace, range);
  ranges++;
  const where = `seed ${seed}, ${range.from} to ${range.to}`;
  for (const [kind, model] of [["exact", trace.exact], ["merged", trace.near]]) {
    const sums = rangeSums(model, range);
    const wall = sums.functions.reduce((sum, each) => sum + each.wall, 0);
    const cpu = sums.functions.reduce((sum, each) => sum + each.cpu, 0);
    if (wall > there + 1e-6)
      fail(`${where}, ${kind}: self times ${wall}, thread ${there}`);
    if (cpu > onCpu + 1e-6)
      fail(`${where}, ${kind}: CPU self times ${cpu}, thread ${onCpu}`);
    if (sums.functions.some((each) => each.wall < 0 || each.cpu < 0 || each.cpu > each.wall + 1e-6))
      fail(`${where}, ${kind}: negative, or more on the CPU than in all`);
    for (const each of kind === "exact" ? sums.functions : []) {
      if (Math.abs(each.wall - selves[each.row]) > 1e-6)
        fail(`${where}: self time of ${each.name} is ${each.wall}, expected ${selves[each.row]}`);
    }
    const ranged = rangedOf(trace.data, model, range);
    if (kind === "exact")
      checkDurations(trace, range, sums, ranged, where);
    const whole = ranged.functions.reduce((sum, row) => sum + row.self_ns, 0);
    const tree = (nodes) => nodes.reduce((sum, node) => sum + node.self_ns + tree(node.children), 0);
    const most = boundOfWhole(model, range);
    if (whole > most + 1e-6)
      fail(`${where}, ${kind}: self times of whole calls ${whole}, of ${most}`);
    if (tree(ranged.tree) > most + 1e-6)
      fail(`${where}, ${kind}: self times of the tree exceed ${most}`);
  }
}

for (let i = 0; i < traces; i++) {
  const seed = state;
  const trace = makeTrace();
  for (let j = 0; j < 8; j++) {
    const from = random(trace.last);
    check(trace, { from, to: from + 1 + random(trace.last - from) }, seed);
  }
  check(trace, { from: 0, to: trace.last }, seed);
}
console.log(`${traces} traces, ${ranges} ranges, ${merges} merged spans, ${durations} durations, ${failures} failures`);
process.exit(failures > 0 || merges === 0 || durations === 0 ? 1 : 0);
