/* A served page: when the window of the timeline is narrow enough, spans shorter than the page's
 * unit are read from the trace, and exchanged for the merged ones (doc/tiles.md). What is there
 * stays until the reply has come. */
import { type Data, Kind, type Name, type Timeline, withoutMarks } from "./data";
import { before, emptyLane, Flag, type Lane, LaneKind, type Model, readThreads, type Thread } from "./lanes";
import type { Window } from "./timeline";

const HEAD = 24;
/** Read on each side of the window, as a share of it. */
const MARGIN = 0.25;
/** Replies that are kept. */
const REPLIES = 6;

/** Spans that begin in [from, to). */
interface Reply extends Window {
    timeline: Timeline;
    /** By kind and depth of the lane; by number of trace and thread. */
    threads: Map<string, Thread>;
    /** Names of the page for those of the reply; -1: unknown. */
    names: Int32Array;
}

function keyOf(names: readonly Name[], name: Name): string {
    if (name.kind === Kind.Block)
        return [name.kind, keyOf(names, names[name.number]), name.to === undefined || name.to < 0 ? "" : keyOf(names, names[name.to])].join("\n");
    return [name.kind, name.kind === Kind.Function ? "" : name.number, name.name, name.file ?? "", name.line ?? "", name.signature ?? ""].join("\t");
}

const laneIn = (thread: Thread | undefined, kind: number, depth: number): Lane | undefined =>
    thread === undefined ? undefined : [thread.off, thread.marks, thread.blocks, ...thread.calls].find((lane) => lane?.kind === kind && lane.depth === depth) ?? undefined;

/** Appends spans to a lane that has room for them. */
function copy(to: Lane, at: number, from: Lane, index: number): void {
    to.start[at] = from.start[index];
    to.length[at] = from.length[index];
    to.count[at] = from.count[index];
    to.name[at] = from.name[index];
    to.busy[at] = from.busy[index];
    to.off[at] = from.off[index];
    to.flags[at] = from.flags[index];
    to.values[at] = from.values[index];
    const whole = from.whole.get(index);
    if (whole !== undefined)
        to.whole.set(at, whole);
}

export class Live {
    /** Why the last window could not be read. */
    failure: string | null = null;
    isReading = false;
    /** Called before spans are exchanged; returns what to do afterwards. */
    hold: (() => () => void) | null = null;
    private readonly page = new Map<Lane, Lane>();
    private readonly values: Timeline["values"];
    private readonly numbers = new Map<string, number>();
    private readonly unit: number;
    private replies: Reply[] = [];
    private shown: Reply | null = null;
    /** Windows with too many records. */
    private full: Window[] = [];
    private wanted: Window | null = null;

    constructor(private readonly data: Data, private readonly model: Model, private readonly onExchange: () => void) {
        const { names, values, unit_ns: unit } = data.timeline;
        this.unit = unit;
        this.values = values;
        names.forEach((name, number) => {
            const key = name.kind <= Kind.Block ? keyOf(names, name) : "";
            if (key !== "" && !this.numbers.has(key))
                this.numbers.set(key, number);
        });
        for (const lane of model.lanes)
            this.page.set(lane, { ...lane });
    }

    /** Where the spans of the window are from. */
    get shows(): string {
        return this.isReading ? "reading" : this.shown === null ? "page" : "trace";
    }

    /** The timeline shows this window. */
    want(window: Window, column: number): void {
        const inside = { from: Math.max(0, this.model.first, Math.floor(window.from)), to: Math.min(this.model.last + 1, Math.ceil(window.to)) };
        this.wanted = null;
        if (this.unit <= 1 || inside.from >= inside.to)
            return;
        if (column >= this.unit) {
            this.exchange(null);
            return;
        }
        const covers = (reply: Window): boolean => reply.from <= inside.from && reply.to >= inside.to;
        const reply = this.shown !== null && covers(this.shown) ? this.shown : this.replies.find(covers);
        if (reply !== undefined) {
            this.exchange(reply);
            return;
        }
        if (this.full.some(({ from, to }) => inside.from <= from && inside.to >= to)) {
            this.exchange(null);
            return;
        }
        this.wanted = inside;
        if (!this.isReading)
            void this.read();
    }

    /** Reads what is wanted, until nothing new is. */
    private async read(): Promise<void> {
        this.isReading = true;
        for (let window = this.wanted; window !== null; window = this.wanted) {
            const { from, to } = window;
            const margin = Math.ceil((to - from) * MARGIN);
            try {
                let reply = await this.ask(Math.max(0, from - margin), to + margin);
                if (reply.to < to)
                    reply = await this.ask(from, to);
                this.failure = null;
                if (reply.to < to)
                    this.full.push({ from, to });
                else
                    this.replies = [reply, ...this.replies].slice(0, REPLIES);
                if (this.wanted === window) {
                    this.wanted = null;
                    this.exchange(reply.to < to ? null : reply);
                }
            } catch (error) {
                this.failure = `the server does not answer (${String(error)})`;
                this.wanted = null;
            }
        }
        this.isReading = false;
        this.onExchange();
    }

    private async ask(from: number, to: number): Promise<Reply> {
        const response = await fetch(`window?from=${from}&to=${to}`);
        if (!response.ok)
            throw new Error(`status ${response.status}`);
        const bytes = new Uint8Array(await response.arrayBuffer());
        const head = new DataView(bytes.buffer);
        const size = head.getUint32(16, true);
        const timeline = JSON.parse(withoutMarks(new TextDecoder().decode(bytes.subarray(HEAD, HEAD + size)))) as Timeline;
        const threads = readThreads(timeline, bytes.subarray(HEAD + size));
        const names = Int32Array.from(timeline.names, (name) => name.kind <= Kind.Block ? this.numbers.get(keyOf(timeline.names, name)) ?? -1 : -1);
        return {
            from: Number(head.getBigUint64(0, true)), to: Number(head.getBigUint64(8, true)), timeline, names,
            threads: new Map(threads.filter(({ track }) => track === 0).map((thread) => [this.idOf(timeline, thread), thread])),
        };
    }

    private idOf(timeline: Timeline, { place }: Thread): string {
        return `${timeline.threads[place].trace} ${timeline.threads[place].thread}`;
    }

    /** null: shows the page's own spans. */
    private exchange(reply: Reply | null): void {
        if (reply === this.shown)
            return;
        const after = this.hold?.();
        this.shown = reply;
        this.data.timeline.values = reply === null ? this.values : [...this.values, ...reply.timeline.values];
        for (const thread of this.model.real) {
            const found = reply?.threads.get(this.idOf(this.data.timeline, thread));
            for (const lane of [thread.off, thread.marks, thread.blocks, ...thread.calls]) {
                const own = lane === null ? undefined : this.page.get(lane);
                if (lane !== null && own !== undefined)
                    Object.assign(lane, reply === null ? own : this.joined(own, reply, laneIn(found, lane.kind, lane.depth), thread.last <= (found?.last ?? 0)));
            }
        }
        after?.();
        this.onExchange();
    }

    /** The page's spans outside of the window, and the long ones in it; between them, those of the
     * reply. isAll: the reply has the thread's last record. */
    private joined(own: Lane, reply: Reply, read: Lane | undefined, isAll: boolean): Lane {
        const first = before(own, reply.from);
        const end = before(own, reply.to, first);
        const room = own.size + (read?.size ?? 0);
        const lane = emptyLane(own.kind, own.depth, own.thread, room);
        let size = 0;
        for (let i = 0; i < first; i++)
            copy(lane, size++, own, i);
        // A merged span that reaches into the window.
        if (size > 0 && lane.count[size - 1] > 1)
            lane.length[size - 1] = Math.min(lane.length[size - 1], reply.from - lane.start[size - 1]);
        let from = first;
        const copyLong = (until: number): void => {
            for (; from < end && own.start[from] < until; from++) {
                if (own.count[from] === 1 && own.length[from] >= this.unit)
                    copy(lane, size++, own, from);
            }
        };
        for (let i = 0; read !== undefined && i < read.size; i++) {
            const name = read.kind === LaneKind.Off ? 0 : reply.names[read.name[i]];
            if (!this.isTaken(read, i, reply, isAll) || name < 0)
                continue;
            copyLong(read.start[i]);
            copy(lane, size, read, i);
            lane.name[size] = name;
            lane.values[size] += read.values[i] > 0 ? this.values.length : 0;
            size++;
        }
        copyLong(Infinity);
        for (let i = end; i < own.size; i++)
            copy(lane, size++, own, i);
        return Live.finished(lane, size);
    }

    /** Whether a span of a reply is one: it is not cut off at the end of what was read. */
    private isTaken(read: Lane, i: number, reply: Reply, isAll: boolean): boolean {
        return read.start[i] >= reply.from && read.start[i] < reply.to && read.length[i] < this.unit &&
            (isAll || (read.flags[i] & Flag.Open) === 0);
    }

    private static finished(lane: Lane, size: number): Lane {
        lane.size = size;
        for (let i = 0; i < size; i++) {
            lane.busyBefore[i + 1] = lane.busyBefore[i] + lane.busy[i];
            lane.countBefore[i + 1] = lane.countBefore[i] + lane.count[i];
        }
        return lane;
    }
}
