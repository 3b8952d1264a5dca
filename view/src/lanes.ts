/* Spans in lanes, as arrays of numbers: no object is allocated for a span. */
import type { Arrow } from "./arrows";
import { type Data, Kind, type Name, type SlowCall, type Timeline } from "./data";
import { type Hosts, hostsOf } from "./hosts";
import { readMessages } from "./messages";
import { type Series, seriesOf } from "./series";
import { isolated } from "./text";
import { readWaits, type Wait } from "./waits";

/** The rows of a track. */
export const LaneKind = { Off: 0, Marks: 1, Calls: 2, Blocks: 3, Rows: 4, States: 5 } as const;

/** States of a thread from the scheduler: names of spans in a lane of states. */
export const State = { Running: 1, Runnable: 2, Blocked: 3 } as const;

/** The page computes the last two of these. */
export const Track = { Thread: 0, Requests: 1, Lock: 2, Queue: 3, Cpu: 4, Rate: 5 } as const;

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
    /** Running sums, for columns with many spans. */
    busyBefore: Float64Array;
    countBefore: Float64Array;
    /** For states, of the time waiting for a CPU and of all known time. busy: running; off: waiting
     * for a CPU; values: the CPU, or the id of the waker. */
    offBefore: Float64Array;
    lengthBefore: Float64Array;
}

/** A thread; or a track (requests, a lock, a queue), whose rows are in `calls`. */
export interface Thread {
    place: number;
    track: number;
    /** Only of a lock or a queue. */
    object: string;
    /** Index of its host; -1: none. */
    host: number;
    pid: number;
    tid: number;
    name: string;
    cpuKnown: boolean;
    first: number;
    last: number;
    off: Lane | null;
    marks: Lane | null;
    blocks: Lane | null;
    states: Lane | null;
    calls: Lane[];
    /** Time on the CPU if known, else in calls or blocks. */
    active: number;
    /** Only of a plot, which has no lanes. */
    series?: Series;
}

export interface Model {
    /** All threads and tracks, numbered as in the data; only the threads; and the others. */
    threads: Thread[];
    real: Thread[];
    tracks: Thread[];
    /** Only of threads. */
    lanes: Lane[];
    names: Name[];
    /** Maps names of the timeline to functions of the report, and back; -1: none. */
    rowOfName: Int32Array;
    /** All names, starting with functions with the most self time. */
    ranked: string[];
    /** The first and last record. All times of the page are ns since recording began. */
    first: number;
    last: number;
    /** When recording began, in ns since 1970. */
    started: bigint;
    /** Intervals in which spans are not merged, although spans elsewhere are. */
    stretches: [number, number][];
    hosts: Hosts;
    messages: Arrow[];
    /** The waits of each thread, by the thread's index, in the order of their beginnings. */
    waits: Wait[][];
}

/** Decodes numbers stored with 7 bits per byte. Nanoseconds exceed 32 bits, so shifts cannot be
 * used. */
export class Bytes {
    private at = 0;
    constructor(private readonly bytes: Uint8Array) {}

    get left(): number {
        return this.bytes.length - this.at;
    }

    /** Decodes a column: the lowest 7 bits of each number, then the next 7 bits of numbers that
     * have more. */
    column(size: number): Float64Array {
        const values = new Float64Array(size);
        const going = Uint32Array.from(values, (_, i) => i);
        for (let count = size, factor = 1; count > 0; factor *= 128) {
            if (count > this.left)
                throw new Error("the spans are cut off");
            let kept = 0;
            for (let i = 0; i < count; i++) {
                const byte = this.bytes[this.at++];
                const index = going[i];
                values[index] += (byte & 127) * factor;
                if (byte > 127)
                    going[kept++] = index;
            }
            count = kept;
        }
        return values;
    }

    /** Decodes zigzag coding: 0, -1, 1, -2 … */
    signed(size: number): Float64Array {
        return this.column(size).map((value) => value % 2 === 0 ? value / 2 : -(value + 1) / 2);
    }
}

/** A lane without spans; sizes are those of its arrays. */
export function emptyLane(kind: number, depth: number, thread: number, size: number): Lane {
    return {
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
        offBefore: new Float64Array(kind === LaneKind.States ? size + 1 : 0),
        lengthBefore: new Float64Array(kind === LaneKind.States ? size + 1 : 0),
    };
}

/** Computes the running sums for the first `size` spans. */
export function sumUp(lane: Lane, size: number): void {
    for (let i = 0; i < size; i++) {
        lane.busyBefore[i + 1] = lane.busyBefore[i] + lane.busy[i];
        lane.countBefore[i + 1] = lane.countBefore[i] + lane.count[i];
    }
    for (let i = 0; i < size && lane.kind === LaneKind.States; i++) {
        lane.offBefore[i + 1] = lane.offBefore[i] + lane.off[i];
        lane.lengthBefore[i + 1] = lane.lengthBefore[i] + lane.length[i];
    }
}

/** The name of an unmerged state determines its times. */
function setStateTimes({ size, length, count, name, busy, off }: Lane): void {
    for (let i = 0; i < size; i++) {
        if (count[i] > 1)
            continue;
        busy[i] = name[i] === State.Running ? length[i] : 0;
        off[i] = name[i] === State.Runnable ? length[i] : 0;
    }
}

/** The kind of a thread's or track's lane, from its kind in the data. */
export const laneKindOf = (track: number, kind: number): number => track !== Track.Thread && kind === LaneKind.Calls ? LaneKind.Rows : kind;

/** Each column has one number for each span. */
const COLUMNS = 8;

export interface Source { numbers: Bytes; first: number; values: number }

/** isQueue: busy times are lengths of a queue, multiplied by durations. */
export function readLane(source: Source, thread: number, kind: number, depth: number, size: number, isQueue: boolean): Lane {
    const { numbers } = source;
    if (!(size * COLUMNS <= numbers.left))
        throw new Error("the spans are cut off");
    const lane = emptyLane(kind, depth, thread, size);
    const gaps = numbers.signed(size);
    lane.length.set(numbers.column(size));
    for (let i = 0, end = source.first; i < size; i++) {
        lane.start[i] = end + gaps[i];
        end = lane.start[i] + lane.length[i];
    }
    lane.count.set(numbers.column(size));
    lane.name.set(numbers.column(size));
    const rests = numbers.signed(size);
    lane.busy.set(lane.length.map((length, i) => length - rests[i]));
    if (kind === LaneKind.Rows)
        numbers.signed(size).reduce((id, step, i) => lane.off[i] = id + step, 0);
    else
        lane.off.set(numbers.column(size));
    lane.flags.set(numbers.column(size));
    const last = numbers.column(size);
    if (kind === LaneKind.States) {
        lane.values.set(last);
        setStateTimes(lane);
        sumUp(lane, size);
        return lane;
    }
    for (let i = 0; i < size; i++)
        lane.values[i] = last[i] > 0 ? ++source.values : 0;
    for (let i = 0; i < size; i++) {
        if (kind !== LaneKind.Off && (lane.flags[i] & Flag.Before) !== 0)
            lane.whole.set(i, lane.busy[i]);
        if (lane.count[i] === 1 && kind !== LaneKind.Off)
            lane.busy[i] = lane.length[i] * (isQueue ? lane.off[i] : 1);
    }
    sumUp(lane, size);
    return lane;
}

/** "read → parsed"; "worker 17". Texts for names that are only numbers in the data. */
function textOf(name: Name, { names, threads }: Data["timeline"]): string {
    if (name.kind === Kind.Block)
        return `${isolated(names[name.number].name)} →${name.to !== undefined && name.to >= 0 ? ` ${isolated(names[name.to].name)}` : ""}`;
    if (name.kind === Kind.Holder || name.kind === Kind.Waiter)
        return `${isolated(threads[name.number].name ?? "thread")} ${threads[name.number].tid}`;
    return name.kind === Kind.Length ? "length" : name.name;
}

function activeOf(thread: Thread): number {
    const sum = (lane: Lane | null | undefined): number => lane == null ? 0 : lane.busyBefore[lane.size];
    return thread.cpuKnown ? thread.last - thread.first - sum(thread.off)
        : Math.max(sum(thread.calls.find((lane) => lane.depth === 0)), sum(thread.blocks));
}

export function readThreads(timeline: Timeline, bytes: Uint8Array, hosts: Hosts): Thread[] {
    const first = timeline.since_start_ns;
    const source = { numbers: new Bytes(bytes), first, values: 0 };
    return timeline.threads.map((facts, index): Thread => {
        const track = facts.track ?? Track.Thread;
        const lanes = facts.lanes.map(([kind, depth, size]) =>
            readLane(source, index, laneKindOf(track, kind), depth, size, track === Track.Queue));
        const one = (kind: number): Lane | null => lanes.find((lane) => lane.kind === kind) ?? null;
        const thread = {
            place: index, track,
            object: facts.object ?? "",
            host: hosts.ofTraces[facts.trace] ?? -1,
            pid: facts.pid,
            tid: facts.tid,
            name: facts.name ?? "",
            cpuKnown: facts.cpu_known,
            first: first + facts.first_ns,
            last: first + facts.last_ns,
            off: one(LaneKind.Off),
            marks: one(LaneKind.Marks),
            blocks: one(LaneKind.Blocks),
            states: one(LaneKind.States),
            calls: lanes.filter((lane) => lane.kind === LaneKind.Calls || lane.kind === LaneKind.Rows),
            active: 0,
        };
        thread.active = activeOf(thread);
        return thread;
    });
}

export function makeModel(data: Data, bytes: Uint8Array): Model {
    const { timeline } = data;
    const first = timeline.since_start_ns;
    const hosts = hostsOf(data);
    const threads = readThreads(timeline, bytes, hosts);
    const rowOfName = new Int32Array(timeline.names.length).fill(-1);
    timeline.report_names.forEach((name, row) => {
        if (name >= 0)
            rowOfName[name] = row;
    });
    const real = threads.filter(({ track }) => track === Track.Thread);
    threads.push(...seriesOf({ first, last: first + Math.max(timeline.length_ns, 1), threads, real }));
    const lanes = real.flatMap((thread) =>
        [thread.off, thread.marks, thread.blocks, ...thread.calls].filter((lane) => lane !== null));
    const names = timeline.names.map((name) => ({ ...name, name: textOf(name, timeline), slow: name.slow.map((slow): SlowCall => {
        const [thread, depth, start, ...rest] = slow;
        return [thread, depth, first + start, ...rest];
    }) }));
    const walls = new Map<number, number>();
    timeline.sums.forEach(([, name, , wall]) => walls.set(name, (walls.get(name) ?? 0) + wall));
    const ranked = [
        ...[...data.report.functions].sort((a, b) => (b.self_ns ?? 0) - (a.self_ns ?? 0)),
        ...[...walls].sort(([, a], [, b]) => b - a).map(([name]) => names[name]),
        ...names].map((each) => each.name);
    return { threads, real, tracks: threads.filter(({ track }) => track !== Track.Thread), lanes, names, rowOfName, ranked,
        first, last: first + Math.max(timeline.length_ns, 1),
        started: BigInt(timeline.first_ns) - BigInt(first),
        stretches: timeline.stretches.map(([from, to]) => [first + from, first + to]),
        hosts,
        messages: readMessages(data, threads),
        waits: readWaits(data, threads) };
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

/** The same, for a time that is usually shortly after the span at `from`. */
export function beforeNear(lane: Lane, time: number, from: number): number {
    let step = 1;
    let low = from;
    while (low + step < lane.size && lane.start[low + step] < time) {
        low += step;
        step *= 2;
    }
    let high = Math.min(lane.size, low + step + 1);
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (lane.start[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** Number of spans that a window would have without merging of calls. */
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
