/* Functions, call tree and blocks of a selected range, from the spans of the timeline: the calls
 * that begin in the range, with all of their time, and the blocks with both hits in it. The
 * commands print the same with --since and --until. */
import { type Block, type Bucket, type CallTimes, type Data, type FunctionRow, Kind, type Timeline, type TreeNode } from "./data";
import { Durations } from "./durations";
import { before, Flag, type Lane, type Model, type Thread } from "./lanes";
import type { Window } from "./timeline";

/** Deeper paths are omitted, as in the rest of the page. */
const DEPTH = 512;
const SLOWEST = 5;

export interface Ranged {
    range: Window;
    /** The same number as in the report, in the same order; most may have no calls. */
    functions: FunctionRow[];
    tree: TreeNode[];
    blocks: Block[];
    histograms: Bucket[][];
    /** Blocks of each thread, in the same form as in the data. */
    sums: Timeline["sums"];
    /** Whether any part of the range was merged when the page was written. */
    isNear: boolean;
}

/** The time of a function, in one thread or in all. */
class Part {
    calls = 0;
    total = 0;
    self = 0;
    off = 0;
    offSelf = 0;
    untimed = 0;
    repaired = 0;
    isCpuKnown = true;
    /** Whether calls were merged. */
    isNear = false;
    /** Self time of calls whose outermost call began before the range, and so is not in the total
     * time. */
    readonly beyond = { self: 0, off: 0 };
    durations = new Durations();

    /** A merged span counts for one name, and its callees for others: self times could exceed total
     * times, both on and off the CPU. */
    bound(): void {
        if (!this.isNear)
            return;
        const { self, off } = this.beyond;
        const cpu = Math.min(this.self - this.offSelf, this.total - this.off + self - off);
        this.offSelf = Math.min(this.offSelf, this.off + off);
        this.self = Math.max(0, cpu) + this.offSelf;
    }

    merge(other: Part): void {
        this.calls += other.calls;
        this.total += other.total;
        this.self += other.self;
        this.off += other.off;
        this.offSelf += other.offSelf;
        this.untimed += other.untimed;
        this.repaired += other.repaired;
        this.isCpuKnown &&= other.isCpuKnown;
        this.durations.merge(other.durations);
    }

    times(): CallTimes {
        const cpu = (value: number): number | null => this.isCpuKnown ? Math.max(0, value) : null;
        return { calls: this.calls, calls_untimed: this.untimed, calls_repaired: this.repaired,
            total_ns: this.total, self_ns: this.self, paused_ns: null, cpu_total_ns: cpu(this.total - this.off), cpu_self_ns: cpu(this.self - this.offSelf),
            off_cpu_total_ns: cpu(this.off), off_cpu_self_ns: cpu(this.offSelf), elapsed_ns: null, parallelism: null, ...this.durations.times() };
    }
}

interface Node { node: TreeNode; children: Map<number, Node> }

function emptyNode(model: Model, name: number): Node {
    const { name: text, file, line } = model.names[name];
    const node: TreeNode = { name: text, calls: 0, calls_untimed: 0, calls_repaired: 0, total_ns: 0, self_ns: 0, paused_ns: null,
        cpu_total_ns: 0, cpu_self_ns: 0, off_cpu_total_ns: 0, off_cpu_self_ns: 0, children: [] };
    return { node: { ...node, ...file === undefined ? {} : { file }, ...line === undefined ? {} : { line } }, children: new Map() };
}

/** A call, or several merged calls. */
interface Call { lane: Lane; index: number; name: number; end: number; inner: number; innerOff: number; path: Node; isOutermost: boolean; isBeyond: boolean }

/** Self time that is added once all calls of the thread are known. */
interface Self { part: Part; node: TreeNode; wall: number; off: number; isBeyond: boolean }

/** The calls of one thread, in the order of their beginnings. */
function* callsOf(thread: Thread, range: Window): Generator<{ lane: Lane; index: number }> {
    const lanes = thread.calls;
    // A call that began before the range may be on the path of a call in the range.
    const at = lanes.map((lane) => Math.max(0, before(lane, range.from) - 1));
    // Callees that begin after the range are still subtracted from the self time of their callers.
    const ends = lanes.map((lane) => lane.size);
    let latest = range.to;
    for (;;) {
        let least = -1;
        for (let i = 0; i < lanes.length; i++) {
            if (at[i] < ends[i] && (least < 0 || lanes[i].start[at[i]] < lanes[least].start[at[least]]))
                least = i;
        }
        if (least < 0)
            return;
        const lane = lanes[least];
        const index = at[least]++;
        const end = lane.start[index] + lane.length[index];
        if (lane.start[index] >= range.from && lane.start[index] < range.to)
            latest = Math.max(latest, end);
        if (lane.start[index] >= latest)
            return;
        yield { lane, index };
    }
}

class Reader {
    readonly parts = new Map<number, Map<number, Part>>();
    readonly roots = new Map<number, Node>();
    isNear = false;
    /** By depth, the time of callees in excess of their merged callers: it belongs to the next call
     * at that depth. */
    private readonly rests = new Map<number, { wall: number; off: number }>();
    /** Of the current thread: self times, and the first start and last end of calls that count. */
    private selves: Self[] = [];
    private first = Infinity;
    private latest = -Infinity;
    constructor(private readonly model: Model, private readonly range: Window) {}

    private partOf(name: number, thread: Thread): Part {
        let threads = this.parts.get(name);
        if (threads === undefined)
            this.parts.set(name, threads = new Map<number, Part>());
        let part = threads.get(thread.place);
        if (part === undefined) {
            threads.set(thread.place, part = new Part());
            part.isCpuKnown = thread.cpuKnown;
        }
        return part;
    }

    private pathOf(name: number, caller: Call | undefined): Node {
        const siblings = caller === undefined ? this.roots : caller.path.children;
        let path = siblings.get(name);
        if (path === undefined) {
            siblings.set(name, path = emptyNode(this.model, name));
            caller?.path.node.children.push(path.node);
        }
        return path;
    }

    private isCounted(lane: Lane, index: number): boolean {
        const start = lane.start[index];
        return start >= this.range.from && start < this.range.to && (lane.flags[index] & Flag.Before) === 0;
    }

    /** Adds a call that has ended, with the time of its callees. */
    private close(thread: Thread, { lane, index, name, inner, innerOff, path, isOutermost, isBeyond }: Call): void {
        const flags = lane.flags[index];
        if (!this.isCounted(lane, index))
            return;
        const count = lane.count[index];
        const isUntimed = (flags & Flag.Untimed) !== 0;
        const wall = isUntimed ? 0 : lane.busy[index];
        const off = isUntimed ? 0 : lane.off[index];
        const rest = isUntimed ? undefined : this.rests.get(lane.depth);
        const [taken, takenOff] = [inner + (rest?.wall ?? 0), innerOff + (rest?.off ?? 0)];
        if (!isUntimed)
            this.rests.set(lane.depth, { wall: Math.max(0, taken - wall), off: Math.max(0, takenOff - off) });
        const self = isUntimed ? 0 : Math.max(0, wall - taken);
        const offSelf = Math.min(self, Math.max(0, off - takenOff));
        const { node } = path;
        const part = this.partOf(name, thread);
        this.isNear ||= count > 1;
        this.first = Math.min(this.first, lane.start[index]);
        this.latest = Math.max(this.latest, lane.start[index] + lane.length[index]);
        this.selves.push({ part, node, wall: self, off: offSelf, isBeyond });
        part.isNear ||= count > 1;
        part.calls += count;
        part.untimed += isUntimed ? count : 0;
        const isRepaired = (flags & (Flag.Open | Flag.Unwound)) !== 0;
        part.repaired += isRepaired ? count : 0;
        part.total += isOutermost ? wall : 0;
        part.off += isOutermost ? off : 0;
        if (!isUntimed && !isRepaired)
            part.durations.add(wall / count, count);
        node.calls += count;
        node.total_ns = (node.total_ns ?? 0) + wall;
        node.cpu_total_ns = (node.cpu_total_ns ?? 0) + (thread.cpuKnown ? wall - off : 0);
        node.off_cpu_total_ns = (node.off_cpu_total_ns ?? 0) + off;
    }

    /** Callees may be longer than the merged calls in which they begin, or may have been merged
     * with earlier calls that do not count, so that self times can exceed the time from the first
     * start to the last end. In this case, all are reduced by the same factor. */
    private addSelves(thread: Thread): void {
        const most = Math.max(0, this.latest - this.first);
        const all = this.selves.reduce((sum, { wall }) => sum + wall, 0);
        const factor = all > most ? most / all : 1;
        for (const { part, node, wall, off, isBeyond } of this.selves) {
            const [self, offSelf] = [wall * factor, off * factor];
            part.self += self;
            part.offSelf += offSelf;
            part.beyond.self += isBeyond ? self : 0;
            part.beyond.off += isBeyond ? offSelf : 0;
            node.self_ns = (node.self_ns ?? 0) + self;
            node.cpu_self_ns = (node.cpu_self_ns ?? 0) + (thread.cpuKnown ? self - offSelf : 0);
            node.off_cpu_self_ns = (node.off_cpu_self_ns ?? 0) + offSelf;
        }
    }

    read(thread: Thread): void {
        const open: Call[] = [];
        /** By name: number of open calls, and whether the outermost one counts. */
        const depths = new Map<number, { calls: number; isCounted: boolean }>();
        this.rests.clear();
        this.selves = [];
        this.first = Infinity;
        this.latest = -Infinity;
        const closeTo = (depth: number): void => {
            while (open.length > depth) {
                const call = open.pop();
                if (call === undefined)
                    return;
                const same = depths.get(call.name);
                if (same !== undefined)
                    same.calls--;
                this.close(thread, call);
            }
        };
        for (const { lane, index } of callsOf(thread, this.range)) {
            const name = lane.name[index];
            if (lane.depth >= DEPTH)
                continue;
            closeTo(Math.min(open.length, lane.depth));
            const caller = open.at(-1);
            const end = lane.start[index] + lane.length[index];
            // Skips calls that ended before the range and called nothing in it.
            if (end < this.range.from && lane.start[index] < this.range.from)
                continue;
            if (caller?.lane.depth === lane.depth - 1) {
                caller.inner += lane.busy[index];
                caller.innerOff += lane.off[index];
            }
            const same = depths.get(name) ?? { calls: 0, isCounted: false };
            const isOutermost = same.calls === 0;
            depths.set(name, same);
            same.calls++;
            if (isOutermost)
                same.isCounted = this.isCounted(lane, index);
            open.push({ lane, index, name, end, inner: 0, innerOff: 0, path: this.pathOf(name, caller), isOutermost,
                isBeyond: !same.isCounted });
        }
        closeTo(0);
        this.addSelves(thread);
    }
}

/** Excludes paths without calls in the range. */
function trimmed(nodes: TreeNode[]): TreeNode[] {
    return nodes.map((node) => ({ ...node, children: trimmed(node.children) })).filter((node) => node.calls > 0 || node.children.length > 0);
}

function functionsOf(data: Data, model: Model, reader: Reader): FunctionRow[] {
    return data.report.functions.map((row, place): FunctionRow => {
        const parts = reader.parts.get(data.timeline.report_names[place]);
        const all = new Part();
        const threads: FunctionRow["threads"] = [];
        for (const [index, part] of parts ?? []) {
            const thread = model.threads[index];
            part.bound();
            all.merge(part);
            threads.push({ ...part.times(), pid: thread.pid, tid: thread.tid, name: thread.name });
        }
        const facts = { ...row };
        delete facts.self_corrected_ns;
        delete facts.self_error_ns;
        return { ...facts, ...all.times(), histogram: all.durations.histogram(), threads };
    });
}

interface Sums { name: number; calls: number; wall: number; off: number; isCpuKnown: boolean; durations: Durations; slowest: Block["slowest"] }

function addBlock(sums: Sums, thread: Thread, lane: Lane, i: number, started: bigint): void {
    const count = lane.count[i];
    sums.calls += count;
    sums.wall += lane.busy[i];
    sums.off += lane.off[i];
    sums.durations.add(lane.busy[i] / count, count);
    const least = sums.slowest.length < SLOWEST ? -1 : sums.slowest[SLOWEST - 1].wall_ns;
    if (count > 1 || lane.busy[i] <= least)
        return;
    sums.slowest.push({ pid: thread.pid, tid: thread.tid, thread: thread.name, at_ns: String(started + BigInt(Math.round(lane.start[i]))),
        wall_ns: lane.busy[i], off_cpu_ns: thread.cpuKnown ? lane.off[i] : null });
    sums.slowest.sort((a, b) => b.wall_ns - a.wall_ns).splice(SLOWEST);
}

/** A probe, as in `probity blocks`: a number and possibly a name, or a site. */
function probeOf(model: Model, name: number): { text: string; isSite: boolean; name: string | null } {
    const { kind, name: text, number } = model.names[name];
    return kind === Kind.Site ? { text, isSite: true, name: null } : { text: String(number), isSite: false, name: text === String(number) ? null : text };
}

function blocksOf(model: Model, range: Window, ranged: Ranged): void {
    const found = new Map<number, Sums>();
    const followed = new Map<number, number>();
    for (const thread of model.real) {
        const mine = new Map<number, [number, number, number]>();
        const lane = thread.blocks;
        if (lane === null)
            continue;
        for (let i = before(lane, range.from); i < lane.size && lane.start[i] < range.to; i++) {
            const name = lane.name[i];
            if ((model.names[name].to ?? -1) < 0 || lane.start[i] + lane.length[i] >= range.to)
                continue;
            let sums = found.get(name);
            if (sums === undefined)
                found.set(name, sums = { name, calls: 0, wall: 0, off: 0, isCpuKnown: true, durations: new Durations(), slowest: [] });
            sums.isCpuKnown &&= thread.cpuKnown;
            ranged.isNear ||= lane.count[i] > 1;
            addBlock(sums, thread, lane, i, model.started);
            const own = mine.get(name) ?? [0, 0, 0];
            mine.set(name, [own[0] + lane.count[i], own[1] + lane.busy[i], own[2] + lane.off[i]]);
            followed.set(model.names[name].number, (followed.get(model.names[name].number) ?? 0) + lane.count[i]);
        }
        for (const [name, [calls, wall, off]] of mine)
            ranged.sums.push([thread.place, name, calls, wall, thread.cpuKnown ? wall - off : 0, off]);
    }
    const sorted = [...found.values()].sort((a, b) => b.wall - a.wall);
    for (const { name, calls, wall, off, isCpuKnown, durations, slowest } of sorted) {
        const { number, to = -1 } = model.names[name];
        const [one, other] = [probeOf(model, number), probeOf(model, to)];
        const { min_ns: min, mean_ns: mean, p50_ns: p50, p90_ns: p90, p99_ns: p99, max_ns: max } = durations.times();
        ranged.blocks.push({ from: one.text, from_is_site: one.isSite, from_name: one.name, to: other.text, to_is_site: other.isSite, to_name: other.name,
            calls, probability: calls / Math.max(1, followed.get(number) ?? 0), wall_ns: wall, cpu_ns: isCpuKnown ? wall - off : null, off_cpu_ns: isCpuKnown ? off : null,
            min_ns: min ?? 0, mean_ns: mean ?? 0, p50_ns: p50 ?? 0, p90_ns: p90 ?? 0, p99_ns: p99 ?? 0, max_ns: max ?? 0, slowest });
        ranged.histograms.push(durations.histogram());
    }
}

export function rangedOf(data: Data, model: Model, chosen: Window): Ranged {
    // The last record is at the end of the timeline, and is in a range that extends to it.
    const range = chosen.to >= model.last ? { from: chosen.from, to: model.last + 1 } : chosen;
    const reader = new Reader(model, range);
    for (const thread of model.real)
        reader.read(thread);
    const ranged: Ranged = { range, functions: functionsOf(data, model, reader), tree: trimmed([...reader.roots.values()].map(({ node }) => node)),
        blocks: [], histograms: [], sums: [], isNear: reader.isNear };
    blocksOf(model, range, ranged);
    return ranged;
}
