/* Rates that the page computes itself: threads on the CPU, calls and hits per second. When zoomed
 * out, they are computed from a table that is built once; when zoomed in, from the few spans in
 * view. */
import { before, type Lane, type Model, type Thread, Track } from "./lanes";

const BINS = 131072;

export interface Series {
    title: string;
    /** Shown after a value. */
    unit: string;
    /** The value in each column of a window; every column is `ns` wide. */
    columns: (from: number, ns: number, columns: number) => Float64Array;
}

/** Adds `amount`, spread evenly over a time, to columns of equal width. */
function spread(to: Float64Array, from: number, ns: number, start: number, length: number, amount: number): void {
    const first = (start - from) / ns;
    const end = Math.max((start + length - from) / ns, first + 1e-9);
    for (let i = Math.max(0, Math.floor(first)); i < to.length && i < end; i++)
        to[i] += amount * (Math.min(end, i + 1) - Math.max(first, i)) / (end - first);
}

type Fill = (to: Float64Array, from: number, ns: number) => void;

/** Sums per column, computed by `fill`, which must not depend on the width of columns. */
class Table {
    private prefix: Float64Array | null = null;
    private readonly bin: number;
    constructor(private readonly first: number, last: number, private readonly fill: Fill) {
        this.bin = (last + 1 - first) / BINS;
    }

    private at(time: number, prefix: Float64Array): number {
        const place = Math.max(0, Math.min(BINS, (time - this.first) / this.bin));
        const whole = Math.min(BINS - 1, Math.floor(place));
        return prefix[whole] + (prefix[whole + 1] - prefix[whole]) * (place - whole);
    }

    sums(from: number, ns: number, columns: number): Float64Array {
        const sums = new Float64Array(columns);
        if (ns < this.bin * 2) {
            this.fill(sums, from, ns);
            return sums;
        }
        if (this.prefix === null) {
            const bins = new Float64Array(BINS);
            this.fill(bins, this.first, this.bin);
            this.prefix = new Float64Array(BINS + 1);
            for (let i = 0; i < BINS; i++)
                this.prefix[i + 1] = this.prefix[i] + bins[i];
        }
        for (let i = 0, last = this.at(from, this.prefix); i < columns; i++) {
            const next = this.at(from + (i + 1) * ns, this.prefix);
            sums[i] = next - last;
            last = next;
        }
        return sums;
    }
}

function running(threads: readonly Thread[]): Fill {
    return (to, from, ns) => {
        const end = from + ns * to.length;
        for (const thread of threads) {
            const { off } = thread;
            const length = thread.last - thread.first;
            if (length > 0)
                spread(to, from, ns, thread.first, length, length);
            for (let i = off === null ? 0 : Math.max(0, before(off, from) - 1); off !== null && i < off.size && off.start[i] < end; i++)
                spread(to, from, ns, off.start[i], off.length[i], -off.busy[i]);
        }
    };
}

/** A span counts in the column in which it begins; merged spans are spread evenly over their
 * length. */
function begun(lanes: readonly Lane[]): Fill {
    return (to, from, ns) => {
        const end = from + ns * to.length;
        for (const lane of lanes) {
            for (let i = Math.max(0, before(lane, from) - 1); i < lane.size && lane.start[i] < end; i++) {
                if (lane.count[i] > 1)
                    spread(to, from, ns, lane.start[i], lane.length[i], lane.count[i]);
                else if (lane.start[i] >= from)
                    to[Math.min(to.length - 1, Math.floor((lane.start[i] - from) / ns))]++;
            }
        }
    };
}

function track(model: { first: number }, place: number, kind: number, series: Series): Thread {
    return { place, track: kind, object: "", host: -1, pid: 0, tid: 0, name: series.title, cpuKnown: false, first: model.first, last: model.first,
        off: null, marks: null, blocks: null, states: null, calls: [], active: 0, series };
}

/** The tracks of these rates, which are added to those in the data. */
export function seriesOf(model: Pick<Model, "first" | "last" | "threads" | "real">): Thread[] {
    const made: Thread[] = [];
    const add = (kind: number, title: string, unit: string, fill: Fill, scale: (ns: number) => number): void => {
        const table = new Table(model.first, model.last, fill);
        made.push(track(model, model.threads.length + made.length, kind, { title, unit, columns: (from, ns, columns) => {
            const sums = table.sums(from, ns, columns);
            return sums.map((sum) => Math.max(0, sum * scale(ns)));
        } }));
    };
    const known = model.real.filter((thread) => thread.cpuKnown && thread.last > thread.first);
    const calls = model.real.flatMap((thread) => thread.calls);
    const hits = model.real.flatMap((thread) => [thread.blocks, thread.marks].filter((lane) => lane !== null));
    if (known.length > 0)
        add(Track.Cpu, "CPU", model.real.every((thread) => thread.cpuKnown || thread.last <= thread.first) ? "threads" : "threads with CPU time", running(known), (ns) => 1 / ns);
    if (calls.length > 0)
        add(Track.Rate, "Calls", "per second", begun(calls), (ns) => 1e9 / ns);
    if (hits.length > 0)
        add(Track.Rate, "Hits", "per second", begun(hits), (ns) => 1e9 / ns);
    return made;
}
