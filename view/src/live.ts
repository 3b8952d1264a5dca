/* Spans that are not in the page: when the window of the timeline is narrow enough, spans shorter
 * than the page's unit are read from the trace by the server, or loaded from tiles, and replace
 * the merged ones (doc/tiles.md). Old spans stay until the new ones have arrived. */
import { type Data, Kind, type Name, type Timeline, withoutMarks } from "./data";
import { before, emptyLane, Flag, type Lane, LaneKind, type Model, readThreads, sumUp, type Thread, Track } from "./lanes";
import { type TileRange, Tiles } from "./tiles";
import type { Window } from "./timeline";

const HEAD = 24;
/** Read on each side of the window, as a fraction of it. */
const MARGIN = 0.25;
/** Maximum number of replies that are kept. */
const REPLIES = 6;
/** Maximum number of windows that are not requested again. */
const UNREAD = 50;

/** With tiles, windows with more calls and blocks than this are not read from the trace. */
const FEW = 30_000;

/** Spans that begin in [from, to), to replace the page's own. */
interface Source extends Window {
    /** Values of spans. */
    values: Timeline["values"];
    /** The unit of merged spans; 1: no spans are merged. */
    unit: number;
    /** The spans for a lane of the page. isAll: up to the thread's last record. */
    find: (thread: Thread, own: Lane) => { lanes: Lane[]; late?: Lane | undefined; isAll: boolean };
    /** The page's names for the names of the spans; -1: unknown; null: the names are the same. */
    names: Int32Array | null;
}

function keyOf(names: readonly Name[], name: Name): string {
    if (name.kind === Kind.Block)
        return [name.kind, keyOf(names, names[name.number]), name.to === undefined || name.to < 0 ? "" : keyOf(names, names[name.to])].join("\n");
    return [name.kind, name.kind === Kind.Function ? "" : name.number, name.name, name.file ?? "", name.line ?? "", name.signature ?? ""].join("\t");
}

const laneIn = (thread: Thread | undefined, kind: number, depth: number): Lane | undefined =>
    thread === undefined ? undefined : [thread.off, thread.marks, thread.blocks, thread.states, ...thread.calls].find((lane) => lane?.kind === kind && lane.depth === depth) ?? undefined;

/** Appends a span to a lane that has space for it. */
function copy(to: Lane, at: number, from: Lane, index: number): void {
    to.start[at] = from.start[index];
    to.length[at] = from.length[index];
    to.count[at] = from.count[index];
    to.name[at] = from.name[index];
    to.busy[at] = from.busy[index];
    to.off[at] = from.off[index];
    to.flags[at] = from.flags[index];
    to.values[at] = from.values[index];
    const whole = from.whole.size > 0 ? from.whole.get(index) : undefined;
    if (whole !== undefined)
        to.whole.set(at, whole);
}

/** The same for many consecutive spans. */
function copyAll(to: Lane, at: number, from: Lane, first: number, end: number): void {
    for (const column of ["start", "length", "count", "name", "busy", "off", "flags", "values"] as const)
        to[column].set(from[column].subarray(first, end), at);
    for (const [index, whole] of from.whole) {
        if (index >= first && index < end)
            to.whole.set(at + index - first, whole);
    }
}

export class Live {
    /** Why the spans requested last are not shown. */
    failure: string | null = null;
    isReading = false;
    /** Whether the window has too many records to be read. */
    isFull = false;
    /** Called before spans are replaced; returns what to do afterwards. */
    hold: (() => () => void) | null = null;
    private readonly page = new Map<Lane, Lane>();
    private readonly values: Timeline["values"];
    private readonly numbers = new Map<string, number>();
    private readonly unit: number;
    private readonly tiles: Tiles | null;
    private readonly byTiles = new Map<string, Source>();
    private replies: Source[] = [];
    private shown: Source | null = null;
    /** The same for rows of tracks, which only tiles have. */
    private shownRows: Source | null = null;
    private readonly tracks: Thread[];
    /** Windows that could not be read: because of too many records (why is null), or for another
     * reason. */
    private unread: (Window & { why: string | null })[] = [];
    private wanted: { window: Window; range: TileRange | null } | null = null;

    constructor(private readonly data: Data, private readonly model: Model, private readonly onExchange: () => void) {
        const { names, values, unit_ns: unit } = data.timeline;
        this.unit = unit;
        this.values = values;
        names.forEach((name, number) => {
            const key = name.kind <= Kind.Block ? keyOf(names, name) : "";
            if (key !== "" && !this.numbers.has(key))
                this.numbers.set(key, number);
        });
        for (const lane of [...model.lanes, ...model.real.map(({ states }) => states)]) {
            if (lane !== null)
                this.page.set(lane, { ...lane });
        }
        this.tracks = model.tracks.filter(({ track }) => track === Track.Requests || track === Track.Lock || track === Track.Queue);
        for (const lane of this.tracks.flatMap(({ calls }) => calls))
            this.page.set(lane, { ...lane });
        const tracks = data.timeline.threads.map(({ track }) => track ?? Track.Thread);
        this.tiles = data.tiles !== undefined && data.tiles.levels.length > 0 ? new Tiles(data.tiles, { names: names.length, tracks }) : null;
    }

    /** The source of the spans in the window. */
    get shows(): string {
        return this.isReading ? "reading" : this.shown === null ? "page" : this.shown.unit > 1 ? "tiles" : "trace";
    }

    /** The same for rows of tracks. */
    get rowsShown(): string {
        return this.shownRows === null ? "page" : "tiles";
    }

    /** Spans in the window shorter than this are merged; 1: none are. */
    get unitShown(): number {
        return this.shown === null ? this.unit : this.shown.unit;
    }

    /** Called when the timeline shows this window. */
    want(window: Window, column: number): void {
        const inside = { from: Math.max(0, this.model.first, Math.floor(window.from)), to: Math.min(this.model.last + 1, Math.ceil(window.to)) };
        this.wanted = null;
        this.isFull = false;
        this.failure = null;
        if (this.unit <= 1 || inside.from >= inside.to)
            return;
        if (column >= this.unit) {
            this.exchange(null, null);
            return;
        }
        const { range, failure } = this.tiles?.choose(inside, column) ?? { range: null, failure: null };
        const source = range !== null && this.tiles?.isLoaded(range) === true ? this.sourceOf(this.tiles, range) : null;
        if (this.data.served && (this.tiles === null || this.countIn(inside) <= FEW) && this.wantWindow(inside, source)) {
            // Windows read from the trace have no rows of tracks.
            if (!this.isAsking() && this.tracks.length > 0 && range !== null && source === null)
                this.ask({ window: inside, range });
            return;
        }
        this.failure ??= failure;
        if (range === null || source !== null)
            this.exchange(source, source);
        else
            this.ask({ window: inside, range });
    }

    /** Returns false if the server cannot read the window. rows: for tracks. */
    private wantWindow(inside: Window, rows: Source | null): boolean {
        const covers = (reply: Window): boolean => reply.from <= inside.from && reply.to >= inside.to;
        const isExact = this.shown !== null && this.shown.unit <= 1 && covers(this.shown);
        const reply = isExact ? this.shown : this.replies.find(covers);
        if (reply !== undefined) {
            this.exchange(reply, rows);
            return true;
        }
        const unread = this.unread.find(({ from, to }) => inside.from <= from && inside.to >= to);
        if (unread !== undefined) {
            this.isFull = unread.why === null;
            this.failure = unread.why;
            return false;
        }
        this.ask({ window: inside, range: null });
        return true;
    }

    private isAsking(): boolean {
        return this.wanted !== null;
    }

    private ask(wanted: { window: Window; range: TileRange | null }): void {
        this.wanted = wanted;
        if (!this.isReading)
            void this.read();
    }

    /** The number of calls, blocks and marks in a window, with a proportional part of merged
     * spans. */
    private countIn({ from, to }: Window): number {
        let sum = 0;
        for (const own of this.page.values()) {
            if (own.kind === LaneKind.Off || own.kind === LaneKind.States || own.kind === LaneKind.Rows)
                continue;
            const first = Math.max(0, before(own, from) - 1);
            const end = before(own, to, first);
            sum += own.countBefore[end] - own.countBefore[first];
            for (const i of first < end - 1 ? [first, end - 1] : first < end ? [first] : []) {
                const length = Math.max(1, own.length[i]);
                const inside = Math.min(own.start[i] + length, to) - Math.max(own.start[i], from);
                sum -= own.count[i] * (1 - Math.max(0, inside) / length);
            }
        }
        return sum;
    }

    /** The spans of tiles. Returns the same object for the same tiles. */
    private sourceOf(tiles: Tiles, range: TileRange): Source {
        const key = `${range.level} ${range.from} ${range.to}`;
        let source = this.byTiles.get(key);
        if (source === undefined) {
            source = { from: range.from, to: range.to, values: [], unit: range.unit, names: null,
                find: ({ place }, { kind, depth }) => ({ ...tiles.lanes(range, place, kind, depth), isAll: true }) };
            this.byTiles.set(key, source);
        }
        return source;
    }

    /** Reads the requested windows until there are no new requests. */
    private async read(): Promise<void> {
        this.isReading = true;
        for (let wanted = this.wanted; wanted !== null; wanted = this.wanted) {
            try {
                if (wanted.range !== null)
                    await this.tiles?.load(wanted.range);
                else
                    await this.readWindow(wanted.window);
            } catch (error) {
                this.leaveUnread(wanted.window, `the server does not answer (${String(error)})`);
            }
            if (this.wanted === wanted)
                this.wanted = null;
        }
        this.isReading = false;
        // The timeline requests its window again, and gets the data that has arrived so far.
        this.onRead();
    }

    private onRead(): void {
        this.hold?.()();
        this.onExchange();
    }

    private async readWindow({ from, to }: Window): Promise<void> {
        const margin = Math.ceil((to - from) * MARGIN);
        let reply = await this.fetch(Math.max(0, from - margin), to + margin);
        if (reply.to < to)
            reply = await this.fetch(from, to);
        if (reply.to < to)
            this.leaveUnread({ from, to }, null);
        else
            this.replies = [reply, ...this.replies].slice(0, REPLIES);
    }

    private leaveUnread(window: Window, why: string | null): void {
        this.unread = [{ ...window, why }, ...this.unread].slice(0, UNREAD);
    }

    private async fetch(from: number, to: number): Promise<Source> {
        const response = await fetch(`window?from=${from}&to=${to}`);
        if (!response.ok)
            throw new Error(`status ${response.status}`);
        const bytes = new Uint8Array(await response.arrayBuffer());
        const head = new DataView(bytes.buffer);
        const size = head.getUint32(16, true);
        const timeline = JSON.parse(withoutMarks(new TextDecoder().decode(bytes.subarray(HEAD, HEAD + size)))) as Timeline;
        const threads = new Map(readThreads(timeline, bytes.subarray(HEAD + size), this.model.hosts).filter(({ track }) => track === 0)
            .map((thread) => [this.idOf(timeline, thread), thread]));
        return {
            from: Number(head.getBigUint64(0, true)), to: Number(head.getBigUint64(8, true)), values: timeline.values, unit: 1,
            names: Int32Array.from(timeline.names, (name) => name.kind <= Kind.Block ? this.numbers.get(keyOf(timeline.names, name)) ?? -1 : -1),
            find: (thread, { kind, depth }) => {
                const found = threads.get(this.idOf(this.data.timeline, thread));
                const lane = laneIn(found, kind, depth);
                return { lanes: lane === undefined ? [] : [lane], isAll: thread.last <= (found?.last ?? 0) };
            },
        };
    }

    private idOf(timeline: Timeline, { place }: Thread): string {
        return `${timeline.threads[place].trace} ${timeline.threads[place].thread}`;
    }

    private exchangeIn(threads: readonly Thread[], source: Source | null): void {
        for (const thread of threads) {
            for (const lane of [thread.off, thread.marks, thread.blocks, thread.states, ...thread.calls]) {
                const own = lane === null ? undefined : this.page.get(lane);
                if (lane !== null && own !== undefined)
                    Object.assign(lane, source === null ? own : this.joined(own, source, source.find(thread, own)));
            }
        }
    }

    /** null: shows the page's own spans for threads and for rows of tracks. */
    private exchange(source: Source | null, rows: Source | null): void {
        if (source === this.shown && rows === this.shownRows)
            return;
        const after = this.hold?.();
        if (source !== this.shown)
            this.exchangeIn(this.model.real, source);
        if (rows !== this.shownRows)
            this.exchangeIn(this.tracks, rows);
        this.shown = source;
        this.shownRows = rows;
        this.data.timeline.values = source === null ? this.values : [...this.values, ...source.values];
        after?.();
        this.onExchange();
    }

    /** The page's spans outside of the window, and the long ones in it; between these, the spans of
     * the source. */
    private joined(own: Lane, source: Source, { lanes, late, isAll }: ReturnType<Source["find"]>): Lane {
        const first = before(own, source.from);
        const end = before(own, source.to, first);
        const room = [...lanes, late].reduce((sum, lane) => sum + (lane?.size ?? 0), own.size);
        const lane = emptyLane(own.kind, own.depth, own.thread, room);
        let size = first;
        copyAll(lane, 0, own, 0, first);
        // A merged span that reaches into the window.
        if (size > 0 && lane.count[size - 1] > 1)
            lane.length[size - 1] = Math.min(lane.length[size - 1], source.from - lane.start[size - 1]);
        let from = first;
        /** The beginning of the next span of the page that is kept. */
        const nextLong = (): number => {
            while (from < end && !(own.count[from] === 1 && (own.length[from] >= this.unit || (own.flags[from] & Flag.Before) !== 0)))
                from++;
            return from < end ? own.start[from] : Infinity;
        };
        const copyLong = (until: number): void => {
            while (nextLong() < until)
                copy(lane, size++, own, from++);
        };
        const take = (read: Lane, i: number): void => {
            const areStates = read.kind === LaneKind.States;
            const name = read.kind === LaneKind.Off ? 0 : areStates ? read.name[i] : source.names === null ? read.name[i] : source.names[read.name[i]];
            if (!this.isTaken(read, i, source, isAll) || name < 0)
                return;
            copyLong(read.start[i]);
            copy(lane, size, read, i);
            lane.name[size] = name;
            lane.values[size] += read.values[i] > 0 && !areStates ? this.values.length : 0;
            size++;
        };
        let next = 0;
        const takeLate = (until: number): void => {
            for (; late !== undefined && next < late.size && late.start[next] < until; next++)
                take(late, next);
        };
        /** All spans of a tile, in runs between long spans. */
        const takeTile = (read: Lane): void => {
            const last = before(read, source.to);
            for (let i = before(read, source.from), until = i; i < last; i = until) {
                takeLate(read.start[i]);
                copyLong(read.start[i]);
                const other = Math.min(nextLong(), late?.start[next] ?? Infinity);
                until = Math.min(last, Math.max(i + 1, before(read, other, i)));
                copyAll(lane, size, read, i, until);
                size += until - i;
            }
        };
        for (const read of lanes) {
            for (let i = 0; source.names !== null && i < read.size; i++)
                take(read, i);
            if (source.names === null)
                takeTile(read);
        }
        takeLate(Infinity);
        copyLong(Infinity);
        copyAll(lane, size, own, end, own.size);
        return Live.finished(lane, size + own.size - end);
    }

    /** Whether a span of a source is complete, that is, not cut off at the end of the data read. */
    private isTaken(read: Lane, i: number, source: Source, isAll: boolean): boolean {
        return read.start[i] >= source.from && read.start[i] < source.to && read.length[i] < this.unit &&
            (isAll || (read.flags[i] & Flag.Open) === 0);
    }

    private static finished(lane: Lane, size: number): Lane {
        lane.size = size;
        sumUp(lane, size);
        return lane;
    }
}
