/* Spans in lanes, as arrays of numbers: no object is allocated for a span. */
import type { Data, Name, SlowCall } from "./data";

export const LaneKind = { Off: 0, Marks: 1, Calls: 2 } as const;

export const Flag = { Unwound: 1, Open: 2, Untimed: 4, Before: 8 } as const;

export interface Lane {
    kind: number;
    depth: number;
    thread: number;
    size: number;
    start: Float64Array;
    length: Float64Array;
    count: Uint32Array;
    name: Uint32Array;
    busy: Float64Array;
    off: Float64Array;
    flags: Uint8Array;
    values: Uint32Array;
    /** Full durations of spans that began before the range of the page. */
    whole: Map<number, number>;
    /** Running sums, for columns that contain many spans. */
    busyBefore: Float64Array;
    countBefore: Float64Array;
}

export interface Thread {
    place: number;
    pid: number;
    tid: number;
    name: string;
    cpuKnown: boolean;
    first: number;
    last: number;
    off: Lane | null;
    marks: Lane | null;
    calls: Lane[];
}

export interface Model {
    threads: Thread[];
    lanes: Lane[];
    names: Name[];
    /** Maps names of the time line to functions of the report, and back; -1: none. */
    rowOfName: Int32Array;
    /** All names; functions with the most self time first. */
    ranked: string[];
    /** The first and last record. All times of the page are ns since recording began. */
    first: number;
    last: number;
    /** When recording began, ns since 1970. */
    started: bigint;
    /** Intervals in which spans are not merged, although others are. */
    stretches: [number, number][];
}

/** Decodes numbers with 7 bits per byte. Nanoseconds exceed 32 bits, so shifts cannot be used. */
class Numbers {
    private at = 0;
    constructor(private readonly bytes: Uint8Array) {}

    next(): number {
        let byte = this.bytes[this.at++];
        let value = byte & 127;
        for (let factor = 128; byte > 127; factor *= 128) {
            byte = this.bytes[this.at++];
            value += (byte & 127) * factor;
        }
        return value;
    }

    fill(to: { [index: number]: number; length: number }): void {
        for (let i = 0; i < to.length; i++)
            to[i] = this.next();
    }
}

function readLane(numbers: Numbers, thread: number, kind: number, depth: number, size: number, first: number): Lane {
    const lane: Lane = {
        kind, depth, thread, size,
        start: new Float64Array(size),
        length: new Float64Array(size),
        count: new Uint32Array(size),
        name: new Uint32Array(size),
        busy: new Float64Array(size),
        off: new Float64Array(size),
        flags: new Uint8Array(size),
        values: new Uint32Array(size),
        whole: new Map(),
        busyBefore: new Float64Array(size + 1),
        countBefore: new Float64Array(size + 1),
    };
    let time = first;
    for (let i = 0; i < size; i++)
        lane.start[i] = time += numbers.next();
    for (const column of [lane.length, lane.count, lane.name, lane.busy, lane.off, lane.flags, lane.values])
        numbers.fill(column);
    for (let i = 0; i < size; i++) {
        if (kind !== LaneKind.Off && (lane.flags[i] & Flag.Before) !== 0)
            lane.whole.set(i, lane.busy[i]);
        if (lane.count[i] === 1 && kind !== LaneKind.Off)
            lane.busy[i] = lane.length[i];
        lane.busyBefore[i + 1] = lane.busyBefore[i] + lane.busy[i];
        lane.countBefore[i + 1] = lane.countBefore[i] + lane.count[i];
    }
    return lane;
}

export function makeModel(data: Data, bytes: Uint8Array): Model {
    const numbers = new Numbers(bytes);
    const { timeline } = data;
    const first = timeline.since_start_ns;
    const threads: Thread[] = [];
    const rowOfName = new Int32Array(timeline.names.length).fill(-1);
    timeline.threads.forEach((facts, index) => {
        const lanes = facts.lanes.map(([kind, depth, size]) => readLane(numbers, index, kind, depth, size, first));
        threads.push({
            place: index,
            pid: facts.pid,
            tid: facts.tid,
            name: facts.name ?? "",
            cpuKnown: facts.cpu_known,
            first: first + facts.first_ns,
            last: first + facts.last_ns,
            off: lanes.find((lane) => lane.kind === LaneKind.Off) ?? null,
            marks: lanes.find((lane) => lane.kind === LaneKind.Marks) ?? null,
            calls: lanes.filter((lane) => lane.kind === LaneKind.Calls),
        });
    });
    timeline.report_names.forEach((name, row) => {
        if (name >= 0)
            rowOfName[name] = row;
    });
    const lanes = threads.flatMap((thread) =>
        [thread.off, thread.marks, ...thread.calls].filter((lane) => lane !== null));
    const ranked = [...[...data.report.functions].sort((a, b) => (b.self_ns ?? 0) - (a.self_ns ?? 0)), ...timeline.names]
        .map((each) => each.name);
    const names = timeline.names.map((name) => ({ ...name, slow: name.slow.map((slow): SlowCall => {
        const [thread, depth, start, ...rest] = slow;
        return [thread, depth, first + start, ...rest];
    }) }));
    return { threads, lanes, names, rowOfName, ranked, first, last: first + Math.max(timeline.length_ns, 1),
        started: BigInt(timeline.first_ns) - BigInt(first),
        stretches: timeline.stretches.map(([from, to]) => [first + from, first + to]) };
}

/** Number of spans that begin before `time`. */
export function before(lane: Lane, time: number, from = 0): number {
    let low = from;
    let high = lane.size;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (lane.start[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** Number of spans in a window if no calls were merged. */
export function spansIn(model: Model, from: number, to: number): number {
    return model.lanes.reduce((sum, lane) => {
        const first = before(lane, from);
        return sum + lane.countBefore[before(lane, to, first)] - lane.countBefore[first];
    }, 0);
}

/** The span at a time, or the nearest one within `slack`; -1: none. */
export function spanAt(lane: Lane, time: number, slack: number): number {
    const next = before(lane, time);
    let best = -1;
    let least = slack;
    for (let i = Math.max(0, next - 2); i < Math.min(lane.size, next + 2); i++) {
        const end = lane.start[i] + lane.length[i];
        const away = time < lane.start[i] ? lane.start[i] - time : time > end ? time - end : 0;
        if (away <= least && (away < least || best < 0)) {
            best = i;
            least = away;
        }
    }
    return best;
}
