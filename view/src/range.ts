/* Statistics of a range of time: times of calls, blocks, threads and locks within it. Spans that
 * reach beyond the range count with the part inside. */
import { Kind } from "./data";
import { Durations } from "./durations";
import { before, Flag, type Lane, LaneKind, type Model, type Thread, Track } from "./lanes";
import type { Window } from "./timeline";

/** Times in the range. Those of functions are self times. */
export interface Sum {
    name: string;
    /** Of a function in the report; -1: none. */
    row: number;
    calls: number;
    wall: number;
    /** null: unknown. */
    cpu: number | null;
    /** Full durations of calls that begin in the range, and of blocks that also end in it. */
    durations: Durations;
}

export interface RangeSums {
    functions: Sum[];
    blocks: Sum[];
    /** Waiting for locks. */
    waits: Sum[];
    threads: { thread: Thread; there: number; cpu: number | null }[];
    calls: number;
    hits: number;
    requests: number;
    /** Whether any of it was merged when the page was written, so that names and shares are
     * approximate. */
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

/** Time of the spans of a lane, and of those inside each span of the lane above. */
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

/** Self times: each call's time minus those of calls one level deeper that begin inside it. */
function addCalls(model: Model, thread: Thread, range: Window, sums: Sums, all: RangeSums): void {
    let inner: { lane: Lane; part: Part } | null = null;
    for (const lane of [...thread.calls].reverse()) {
        const part = partsOf(lane, range);
        const { wall, off, first, end } = part;
        const self = wall.slice();
        const selfOff = off.slice();
        if (inner !== null) {
            for (let i = inner.part.first, at = first; i < inner.part.end; i++) {
                while (at + 1 < end && lane.start[at + 1] <= inner.lane.start[i])
                    at++;
                if (at < end) {
                    self[at - first] -= inner.part.wall[i - inner.part.first];
                    selfOff[at - first] -= inner.part.off[i - inner.part.first];
                }
            }
        }
        // Callees may be longer than the merged calls in which they begin: the rest is in the next ones.
        for (let i = 0; i + 1 < self.length; i++) {
            self[i + 1] += Math.min(0, self[i]);
            selfOff[i + 1] += Math.min(0, selfOff[i]);
        }
        for (let i = first; i < end; i++) {
            const calls = lane.start[i] >= range.from && (lane.flags[i] & Flag.Before) === 0 ? lane.count[i] : 0;
            all.calls += calls;
            all.isNear ||= lane.count[i] > 1;
            const mine = Math.max(0, self[i - first]);
            const sum = sums.add(model.names[lane.name[i]].name, model.rowOfName[lane.name[i]], calls, mine, thread.cpuKnown ? Math.max(0, mine - Math.max(0, selfOff[i - first])) : null);
            if (calls > 0 && (lane.flags[i] & (Flag.Open | Flag.Untimed | Flag.Before)) === 0)
                sum.durations.add(lane.busy[i] / calls, calls);
        }
        inner = { lane, part };
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
    const there = Math.min(thread.last, range.to) - Math.max(thread.first, range.from);
    if (there <= 0)
        return;
    let off = 0;
    if (thread.off !== null) {
        const [first, end] = spansOf(thread.off, range);
        for (let i = first; i < end; i++)
            off += thread.off.busy[i] * partOf(thread.off, i, range);
    }
    all.threads.push({ thread, there, cpu: thread.cpuKnown ? Math.max(0, there - off) : null });
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
    // As in ranged.ts.
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
