/* Statistics of a range of time: times of calls, blocks, threads and locks within it. Of spans that
 * reach beyond the range, only the part inside counts. */
import { Kind } from "./data";
import { Durations } from "./durations";
import { before, Flag, type Lane, LaneKind, type Model, type Thread, Track } from "./lanes";
import type { Window } from "./timeline";

/** Times in the range. Those of functions are self times. */
export interface Sum {
    name: string;
    /** Index of a function in the report; -1: none. */
    row: number;
    calls: number;
    wall: number;
    /** null: unknown. */
    cpu: number | null;
    /** Full durations of calls that begin in the range and whose end was recorded, and of blocks
     * that also end in the range. */
    durations: Durations;
}

export interface RangeSums {
    functions: Sum[];
    blocks: Sum[];
    /** Time waiting for locks. */
    waits: Sum[];
    threads: { thread: Thread; there: number; cpu: number | null }[];
    calls: number;
    hits: number;
    requests: number;
    /** Whether any part of the range was merged when the page was written, so that names and shares
     * are approximate. */
    isNear: boolean;
}

/** Indices of the spans that overlap the range. */
function spansOf(lane: Lane, { from, to }: Window): [number, number] {
    let first = before(lane, from);
    while (first > 0 && lane.start[first - 1] + lane.length[first - 1] > from)
        first--;
    return [first, before(lane, to, first)];
}

/** The share of a span that is in the range. */
function partOf(lane: Lane, index: number, { from, to }: Window): number {
    const start = lane.start[index];
    const end = start + lane.length[index];
    return end > start ? Math.max(0, Math.min(to, end) - Math.max(from, start)) / (end - start) : 1;
}

class Sums {
    private readonly found = new Map<string, Sum>();

    /** Functions of different files may have the same name: row distinguishes them. */
    add(name: string, row: number, calls: number, wall: number, cpu: number | null): Sum {
        const key = `${row} ${name}`;
        const sum = this.found.get(key) ?? { name, row, calls: 0, wall: 0, cpu: 0, durations: new Durations() };
        sum.calls += calls;
        sum.wall += wall;
        sum.cpu = sum.cpu === null || cpu === null ? null : sum.cpu + cpu;
        this.found.set(key, sum);
        return sum;
    }

    list(): Sum[] {
        return [...this.found.values()].sort((a, b) => b.wall - a.wall);
    }
}

/** Time of the spans in a lane, and of those inside each span of the lane above. */
interface Part { wall: Float64Array; off: Float64Array; first: number; end: number }

function partsOf(lane: Lane, range: Window): Part {
    const [first, end] = spansOf(lane, range);
    const wall = new Float64Array(end - first);
    const off = new Float64Array(end - first);
    for (let i = first; i < end; i++) {
        const part = partOf(lane, i, range);
        wall[i - first] = lane.busy[i] * part;
        off[i - first] = lane.off[i] * part;
    }
    return { wall, off, first, end };
}

/** How long a thread existed in the range and, if known, how much of that time it was on the
 * CPU. */
function timesOf(thread: Thread, range: Window): { there: number; cpu: number } {
    const there = Math.max(0, Math.min(thread.last, range.to) - Math.max(thread.first, range.from));
    let off = 0;
    if (there > 0 && thread.off !== null) {
        const [first, end] = spansOf(thread.off, range);
        for (let i = first; i < end; i++)
            off += thread.off.busy[i] * partOf(thread.off, i, range);
    }
    return { there, cpu: Math.max(0, there - off) };
}

/** Self times of the calls of a lane in the range, and how much of them was on the CPU. */
interface Selves { lane: Lane; first: number; wall: Float64Array; cpu: Float64Array }

/** Each call's time minus that of calls one level deeper that begin inside it. Callees may be
 * longer than the merged calls in which they begin: the excess is subtracted from the next calls,
 * and any excess after the last call from the preceding ones. */
function selvesOf(lane: Lane, part: Part, inner: { lane: Lane; part: Part } | null): Selves {
    const { first, end } = part;
    const self = part.wall.slice();
    const off = part.off.slice();
    if (inner !== null) {
        for (let i = inner.part.first, at = first; i < inner.part.end; i++) {
            while (at + 1 < end && lane.start[at + 1] <= inner.lane.start[i])
                at++;
            if (at < end) {
                self[at - first] -= inner.part.wall[i - inner.part.first];
                off[at - first] -= inner.part.off[i - inner.part.first];
            }
        }
    }
    for (const times of [self, off]) {
        for (let i = 0; i + 1 < times.length; i++) {
            times[i + 1] += Math.min(0, times[i]);
            times[i] = Math.max(0, times[i]);
        }
        for (let i = times.length - 1; i > 0; i--) {
            times[i - 1] += Math.min(0, times[i]);
            times[i] = Math.max(0, times[i]);
        }
    }
    const wall = self.map((time) => Math.max(0, time));
    return { lane, first, wall, cpu: wall.map((time, i) => Math.max(0, time - Math.max(0, off[i]))) };
}

/** Whether only a part of a call is in the range. */
function isCut(lane: Lane, { first, end }: Part, { from, to }: Window): boolean {
    return first < end && (lane.start[first] < from || lane.start[end - 1] + lane.length[end - 1] > to);
}

/** The part of a merged call that is in the range is estimated from its length, although its calls
 * may be anywhere in it. So callees can have more time in the range than their callers, and the sum
 * of self times can exceed the thread's time. The same applies to time on the CPU in a call that is
 * cut. In these cases, all times are reduced by the same factor. */
function bound(selves: Selves[], { there, cpu }: { there: number; cpu: number }): void {
    const sumOf = (of: "wall" | "cpu"): number => selves.reduce((sum, each) => each[of].reduce((a, b) => a + b, sum), 0);
    const wallFactor = there / Math.max(there, sumOf("wall"), Number.MIN_VALUE);
    const cpuFactor = Math.min(wallFactor, cpu / Math.max(cpu, sumOf("cpu"), Number.MIN_VALUE));
    for (const each of selves) {
        each.wall = each.wall.map((time) => time * wallFactor);
        each.cpu = each.cpu.map((time) => time * cpuFactor);
    }
}

function addCalls(model: Model, thread: Thread, range: Window, sums: Sums, all: RangeSums): void {
    let inner: { lane: Lane; part: Part } | null = null;
    const selves: Selves[] = [];
    let isEstimated = false;
    for (const lane of [...thread.calls].reverse()) {
        const part = partsOf(lane, range);
        selves.push(selvesOf(lane, part, inner));
        const isMerged = lane.count.subarray(part.first, part.end).some((count) => count > 1);
        all.isNear ||= isMerged;
        isEstimated ||= isMerged || isCut(lane, part, range);
        inner = { lane, part };
    }
    if (isEstimated)
        bound(selves, timesOf(thread, range));
    for (const { lane, first, wall, cpu } of selves) {
        for (let i = first; i < first + wall.length; i++) {
            const calls = lane.start[i] >= range.from && (lane.flags[i] & Flag.Before) === 0 ? lane.count[i] : 0;
            all.calls += calls;
            const sum = sums.add(model.names[lane.name[i]].name, model.rowOfName[lane.name[i]], calls, wall[i - first], thread.cpuKnown ? cpu[i - first] : null);
            if (calls > 0 && (lane.flags[i] & (Flag.Open | Flag.Unwound | Flag.Untimed | Flag.Before)) === 0)
                sum.durations.add(lane.busy[i] / calls, calls);
        }
    }
}

function addBlocks(model: Model, thread: Thread, range: Window, sums: Sums, all: RangeSums): void {
    const lane = thread.blocks;
    if (lane === null)
        return;
    const [first, end] = spansOf(lane, range);
    for (let i = first; i < end; i++) {
        const part = partOf(lane, i, range);
        const wall = lane.busy[i] * part;
        const isBegun = lane.start[i] >= range.from;
        all.hits += isBegun ? lane.count[i] : 0;
        all.isNear ||= lane.count[i] > 1;
        if (model.names[lane.name[i]].to === -1)
            continue;
        const sum = sums.add(model.names[lane.name[i]].name, -1, isBegun ? lane.count[i] : 0, wall, thread.cpuKnown ? Math.max(0, wall - lane.off[i] * part) : null);
        if (isBegun && lane.start[i] + lane.length[i] < range.to)
            sum.durations.add(lane.busy[i] / lane.count[i], lane.count[i]);
    }
}

function addThread(thread: Thread, range: Window, all: RangeSums): void {
    const { there, cpu } = timesOf(thread, range);
    if (there > 0)
        all.threads.push({ thread, there, cpu: thread.cpuKnown ? cpu : null });
}

function addTrack(model: Model, track: Thread, range: Window, waits: Sums, all: RangeSums): void {
    for (const lane of track.calls) {
        const [first, end] = spansOf(lane, range);
        for (let i = first; i < end; i++) {
            const name = model.names[lane.name[i]];
            if (name.kind === Kind.Waiter) {
                const sum = waits.add(name.name, -1, lane.start[i] >= range.from ? lane.count[i] : 0, lane.busy[i] * partOf(lane, i, range), null);
                if (lane.start[i] >= range.from && (lane.flags[i] & Flag.Open) === 0)
                    sum.durations.add(lane.busy[i] / lane.count[i], lane.count[i]);
            }
        }
    }
    if (track.track === Track.Requests)
        all.requests += track.calls.filter((lane) => spansOf(lane, range)[1] > spansOf(lane, range)[0]).length;
}

export function rangeSums(model: Model, chosen: Window): RangeSums {
    // The same as in ranged.ts.
    const range = chosen.to >= model.last ? { from: chosen.from, to: model.last + 1 } : chosen;
    const all: RangeSums = { functions: [], blocks: [], waits: [], threads: [], calls: 0, hits: 0, requests: 0, isNear: false };
    const [functions, blocks, waits] = [new Sums(), new Sums(), new Sums()];
    for (const thread of model.real) {
        addThread(thread, range, all);
        addCalls(model, thread, range, functions, all);
        addBlocks(model, thread, range, blocks, all);
        const { marks } = thread;
        if (marks !== null && marks.kind === LaneKind.Marks)
            all.hits += marks.countBefore[before(marks, range.to)] - marks.countBefore[before(marks, range.from)];
    }
    for (const track of model.tracks)
        addTrack(model, track, range, waits, all);
    all.functions = functions.list();
    all.blocks = blocks.list();
    all.waits = waits.list();
    all.threads.sort((a, b) => (b.cpu ?? b.there) - (a.cpu ?? a.there));
    return all;
}
