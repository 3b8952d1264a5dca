/* The timeline on its canvas: layout and drawing. The amount drawn is limited by the columns of the
 * screen: spans narrower than a column are drawn as one with their neighbors, which are found by
 * binary search, so that drawing a minute takes no longer than drawing a microsecond. */
import { type Arrow, arrowsOf, type End } from "./arrows";
import type { Palette, Theme } from "./color";
import { Columns } from "./columns";
import { Kind } from "./data";
import { count, moment, time } from "./format";
import { Hatch } from "./hatch";
import { clockText } from "./hosts";
import { before, beforeNear, type Lane, LaneKind, type Model, spanAt, State, type Thread, Track } from "./lanes";
import type { CriticalPath } from "./path";
import type { Series } from "./series";
import { characters, Gauge, isolated, short } from "./text";
import { threadOfId } from "./waits";

const RULER = 26;
const ROW = 18;
const FLAME_ROW = 20;
const BLOCK_ROW = 20;
const TRACK_ROW = 14;
const QUEUE_ROW = 44;
/** All lanes of a folded thread share one row. */
const FOLDED = 22;
const PLOT_ROW = 38;
const MORE = 13;
const STRIP = 7;
const STATES = 10;
/** Number of steps in which shares of states are drawn. */
const STATE_LINES = 16;
/** Arrows from wakers are shown if the distance between them is at least this. */
const WAKE_ROOM = 14;
const WAKES_SHOWN = 300;
/** If there are more messages than this, they are shown only if selected. */
const MESSAGES_SHOWN = 100;
const MARKS = 13;
const GAP = 9;
/** A line with the name of a host, above its threads. */
const HOST_ROW = 24;
/** Number of shades for partly filled columns: equal neighbors are drawn as one. */
const SHADES = 8;
/** Calls deeper than this are hidden until requested. */
const DEPTH = 12;
/** Rows of tracks that are shown by default. */
const TRACK_ROWS = 8;
/** Pinned threads use at most this share of the height. */
const HEAD = 0.6;
/** Threads are folded at first if they need more pixels than this. */
const ROOM = 1600;
/** Boxes narrower than this have no label. */
const LABEL = 24;

export interface Window {
    from: number;
    to: number;
}

export interface Hit {
    lane: Lane;
    /** First and last span, which differ if several share a column. */
    first: number;
    last: number;
}

const enum Look { Strip, States, Marks, Blocks, Calls, Folded, More, Rows, InFlight, Queue, Plot }

interface Row {
    look: Look;
    /** A single lane, except in folded rows; null: a thread that was never off the CPU. */
    lanes: (Lane | null)[];
    thread: Thread;
    y: number;
    height: number;
    /** For "+N deeper". */
    text: string;
    isPinned: boolean;
}

/** own: the order set by the user. */
export type Order = "first" | "activity" | "name" | "own";

/** Settings of the view other than the window, which are kept if theme or part changes. */
interface Layout {
    folded: Set<number>;
    /** Number of rows by thread; missing: the default. */
    limits: Map<number, number>;
    order: Order;
    filter: string;
    /** Threads that stay at the top. */
    pinned: Set<number>;
    /** All threads in the order chosen by the user; empty: not changed. */
    own: number[];
}

export class TimelineView {
    window: Window;
    /** The full extent. */
    readonly all: Window;
    scroll = 0;
    width = 0;
    height = 0;
    /** length: that of several spans that are selected together; missing: that of this span. */
    selected: { lane: Lane; index: number; length?: number } | null = null;
    hovered: Hit | null = null;
    matches: Uint8Array | null = null;
    /** The selected range, for which statistics are shown. */
    range: Window | null = null;
    path: CriticalPath | null = null;
    /** The zero of the ruler, which is marked; null: when recording began. */
    zero: number | null = null;
    layout: Layout = { folded: new Set(), limits: new Map(), order: "first", filter: "", pinned: new Set(), own: [] };
    /** Where a dragged thread would be placed; null: none is being dragged. */
    drop: number | null = null;
    private arrows: { of: { lane: Lane; index: number } | null; list: Arrow[] } = { of: null, list: [] };
    /** Counts of the last drawing: calls, blocks and marks on screen, those that share a column,
     * those in a merged span, which zooming cannot separate, and calls in hidden lanes. */
    drawn = { spans: 0, calls: 0, blocks: 0, marks: 0, together: 0, merged: 0, hidden: 0 };
    private rows: Row[] = [];
    /** Where the rows of a thread end. */
    private readonly bottoms = new Map<Thread, number>();
    /** The same, including the space for its name. */
    private readonly ends = new Map<Thread, number>();
    /** Names of hosts, above their threads, if there are several hosts. */
    private hosts: { host: number; y: number; isPinned: boolean }[] = [];
    /** Drawn last, so that nothing covers them. */
    private readonly columns = new Columns();
    private readonly hatch = new Hatch();
    private labels: { text: string; x: number; y: number; isDim: boolean }[] = [];
    private total = 0;
    /** Height of the pinned rows. */
    private pins = 0;
    private readonly theme: Theme;
    private readonly gauge = new Gauge();

    /** only: draws a flame graph in time order, for one thread: only calls, at full width. */
    constructor(private readonly model: Model, private readonly palette: Palette, readonly only: Thread | null = null) {
        this.all = only === null ? { from: model.first, to: model.last } : { from: only.first, to: Math.max(only.last, only.first + 1) };
        this.window = { ...this.all };
        this.theme = palette.theme;
        this.arrange();
        if (only === null && this.total > ROOM) {
            for (const thread of model.threads) {
                if (TimelineView.canFold(thread))
                    this.layout.folded.add(thread.place);
            }
            this.arrange();
        }
    }

    /** Takes over the position of a predecessor after theme or size has changed. */
    adopt(other: TimelineView): void {
        this.window = other.window;
        this.scroll = other.scroll;
        this.selected = other.selected;
        this.matches = other.matches;
        this.range = other.range;
        this.path = other.path;
        this.layout = other.layout;
        this.arrange();
    }

    static canFold(thread: Thread): boolean {
        return thread.track === Track.Thread ? thread.calls.length > 1 || (thread.calls.length > 0 && thread.blocks !== null)
            : thread.calls.length > 1;
    }

    get gutter(): number {
        return this.only !== null ? 0 : this.width < 640 ? 108 : 190;
    }

    /** The part of the height used by pinned rows. */
    private get head(): number {
        return this.pins === 0 ? 0 : Math.min(this.pins, Math.max(60, (this.height - RULER) * HEAD));
    }

    private topOf(row: Row): number {
        return RULER + row.y + (row.isPinned ? 0 : this.head - this.scroll);
    }

    /** Threads in the chosen order, filtered; then requests, locks and queues, CPU and rates. Those
     * of one host are adjacent, unless the user has moved any. */
    shown(filter = this.layout.filter): Thread[] {
        const { order, own } = this.layout;
        const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== "");
        const isShown = (thread: Thread): boolean => (thread.off !== null || thread.states !== null || thread.marks !== null || thread.blocks !== null || thread.calls.length > 0 || thread.series !== undefined) && words.every((word) => titleOf(thread).toLowerCase().includes(word) || String(thread.pid) === word);
        const threads = this.model.real.filter(isShown);
        if (order === "activity")
            threads.sort((a, b) => b.active - a.active);
        if (order === "name")
            threads.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }) || a.tid - b.tid);
        const all = [...threads, ...this.model.tracks.filter(isShown)
            .sort((a, b) => a.track - b.track || a.place - b.place)];
        const rank = ({ host }: Thread): number => host < 0 ? this.model.hosts.list.length : host;
        if (order !== "own")
            all.sort((a, b) => rank(a) - rank(b));
        if (order === "own") {
            const ranks = new Map(own.map((place, rank) => [place, rank]));
            all.sort((a, b) => (ranks.get(a.place) ?? own.length) - (ranks.get(b.place) ?? own.length));
        }
        return [...all.filter(({ place }) => this.layout.pinned.has(place)), ...all.filter(({ place }) => !this.layout.pinned.has(place))];
    }

    pin(place: number): void {
        if (!this.layout.pinned.delete(place))
            this.layout.pinned.add(place);
        this.arrange();
    }

    /** Moves a thread before or after another one. */
    move(place: number, target: number, isAfter: boolean): void {
        const order = this.shown("").map((thread) => thread.place).filter((each) => each !== place);
        const to = order.indexOf(target);
        if (place === target || to < 0)
            return;
        order.splice(to + (isAfter ? 1 : 0), 0, place);
        this.layout.own = order;
        this.layout.order = "own";
        this.arrange();
    }

    /** Moves a thread past its neighbor. */
    moveBy(place: number, by: -1 | 1): void {
        const shown = this.shown();
        const next = shown[shown.findIndex((thread) => thread.place === place) + by] as Thread | undefined;
        if (next !== undefined)
            this.move(place, next.place, by > 0);
    }

    /** Number of rows of calls that a thread shows; null: the default. */
    limit(place: number, rows: number | null): void {
        if (rows === null)
            this.layout.limits.delete(place);
        else
            this.layout.limits.set(place, rows);
        this.layout.folded.delete(place);
        this.arrange();
    }

    arrange(): void {
        const { only } = this;
        let y = only === null ? GAP - 2 : 4;
        let wasPinned = false;
        let host: number | null = null;
        this.rows = [];
        this.hosts = [];
        this.pins = 0;
        for (const thread of only === null ? this.shown() : [only]) {
            const isPinned = only === null && this.layout.pinned.has(thread.place);
            if (wasPinned && !isPinned) {
                this.pins = y;
                y = GAP - 2;
            }
            if (only === null && this.model.hosts.list.length > 1 && (thread.host !== host || isPinned !== wasPinned)) {
                host = thread.host;
                this.hosts.push({ host, y, isPinned });
                y += HOST_ROW;
            }
            wasPinned = isPinned;
            const put = (look: Look, lanes: (Lane | null)[], height: number, text = ""): void => {
                this.rows.push({ look, lanes, thread, y, height, text, isPinned });
                y += height;
            };
            const top = y;
            if (thread.track === Track.Thread)
                this.arrangeThread(thread, put);
            else
                this.arrangeTrack(thread, put);
            this.bottoms.set(thread, y);
            // The name of a lock or queue requires the first line.
            const isLow = thread.track !== Track.Lock && thread.track !== Track.Queue && (this.isFolded(thread) || thread.calls.length === 0);
            y = Math.max(y, top + (isLow ? 24 : 34)) + GAP;
            this.ends.set(thread, y - GAP);
        }
        if (wasPinned)
            this.pins = y;
        this.total = wasPinned ? 0 : y;
        this.scrollTo(this.scroll);
    }

    private isFolded(thread: Thread): boolean {
        return this.layout.folded.has(thread.place);
    }

    private arrangeThread(thread: Thread, put: (look: Look, lanes: (Lane | null)[], height: number, text?: string) => void): void {
        const isOnly = this.only !== null;
        const { calls, marks, blocks } = thread;
        if (thread.states !== null)
            put(Look.States, [thread.states], STATES);
        else if (thread.cpuKnown)
            put(Look.Strip, [thread.off], STRIP);
        if (this.isFolded(thread) && !isOnly) {
            put(Look.Folded, [...blocks === null ? [] : [blocks], ...calls], FOLDED);
            return;
        }
        if (marks !== null && !isOnly)
            put(Look.Marks, [marks], MARKS);
        if (blocks !== null && !isOnly)
            put(Look.Blocks, [blocks], BLOCK_ROW);
        const limit = isOnly ? Infinity : this.layout.limits.get(thread.place) ?? DEPTH;
        const count = calls.length <= limit + 1 ? calls.length : limit;
        for (const lane of calls.slice(0, count))
            put(Look.Calls, [lane], isOnly ? FLAME_ROW : ROW);
        if (count < calls.length)
            put(Look.More, calls.slice(count), MORE, `+${calls.length - count} deeper`);
        else if (calls.length > DEPTH + 1 && !isOnly)
            put(Look.More, [], MORE, `− ${calls.length - DEPTH} deepest`);
    }

    private arrangeTrack(track: Thread, put: (look: Look, lanes: (Lane | null)[], height: number, text?: string) => void): void {
        const { calls } = track;
        if (track.series !== undefined) {
            put(Look.Plot, [], PLOT_ROW);
            return;
        }
        if (track.track === Track.Queue) {
            put(Look.Queue, calls, QUEUE_ROW);
            return;
        }
        if (this.isFolded(track)) {
            put(track.track === Track.Requests ? Look.InFlight : Look.Folded, calls, track.track === Track.Requests ? 34 : FOLDED);
            return;
        }
        const limit = this.layout.limits.get(track.place) ?? TRACK_ROWS;
        const count = calls.length <= limit + 1 ? calls.length : limit;
        if (count < calls.length)
            put(Look.InFlight, calls, 30);
        for (const lane of calls.slice(0, count))
            put(Look.Rows, [lane], track.track === Track.Lock ? ROW : TRACK_ROW);
        if (count < calls.length)
            put(Look.More, calls.slice(count), MORE, `+${calls.length - count} rows`);
        else if (calls.length > TRACK_ROWS + 1)
            put(Look.More, [], MORE, `− ${calls.length - TRACK_ROWS} rows`);
    }

    /** Shows all rows of a thread, or the default number. */
    extend(thread: Thread): void {
        if (this.layout.limits.get(thread.place) === Infinity)
            this.layout.limits.delete(thread.place);
        else
            this.layout.limits.set(thread.place, Infinity);
        this.arrange();
    }

    fold(place: number): void {
        const thread = this.model.threads[place];
        if (!this.layout.folded.delete(place) && TimelineView.canFold(thread))
            this.layout.folded.add(place);
        this.arrange();
    }

    /** Folds all threads, or unfolds them if any is folded. */
    foldAll(): void {
        const { folded } = this.layout;
        const isFolded = folded.size > 0;
        folded.clear();
        if (!isFolded)
            this.model.threads.filter((thread) => TimelineView.canFold(thread)).forEach((thread) => folded.add(thread.place));
        this.arrange();
    }

    get isAnyFolded(): boolean {
        return this.layout.folded.size > 0;
    }

    scrollTo(y: number): void {
        this.scroll = Math.max(0, Math.min(y, this.scrollMax));
    }

    get scrollMax(): number {
        return Math.max(0, this.total + RULER + this.head - this.height);
    }

    get columnNs(): number {
        return (this.window.to - this.window.from) / Math.max(1, this.width - this.gutter);
    }

    timeAt(x: number): number {
        return this.window.from + (x - this.gutter) * this.columnNs;
    }

    xOf(ns: number): number {
        return this.gutter + (ns - this.window.from) / this.columnNs;
    }

    show(from: number, to: number): void {
        const all = this.all.to - this.all.from;
        const least = Math.min(100, all);
        const length = Math.max(least, Math.min(to - from, all * 1.02));
        const slack = all * 0.01;
        let start = (from + to - length) / 2;
        start = Math.max(this.all.from - slack, Math.min(start, this.all.to + slack - length));
        this.window = { from: start, to: start + length };
    }

    showAll(): void {
        this.show(this.all.from, this.all.to);
    }

    zoom(factor: number, at: number): void {
        const { from, to } = this.window;
        this.show(at - (at - from) * factor, at + (to - at) * factor);
    }

    pan(ns: number): void {
        const { from, to } = this.window;
        this.show(from + ns, to + ns);
    }

    /** Scrolls and zooms to a span: its time with a margin, and its lane. */
    reveal(lane: Lane, index: number, zoomed: boolean): void {
        const start = lane.start[index];
        const length = lane.length[index];
        const room = Math.max(length, this.columnNs * 20, 100);
        if (zoomed)
            this.show(start - Math.max(length, 50) * 0.15, start + Math.max(length, 50) * 1.15);
        else if (start < this.window.from || start + length > this.window.to || length < this.columnNs * 3)
            this.show(start - room * 4, start + room * 5);
        this.layout.folded.delete(lane.thread);
        if (this.rowOf(lane) === undefined)
            this.layout.limits.set(lane.thread, Infinity);
        this.arrange();
        if (this.rowOf(lane) === undefined && this.layout.filter !== "") {
            this.layout.filter = "";
            this.arrange();
        }
        const row = this.rowOf(lane);
        if (row !== undefined && !row.isPinned && (row.y < this.scroll || row.y + row.height + RULER + this.head > this.scroll + this.height))
            this.scrollTo(row.y - (this.height - this.head) / 3);
    }

    private rowOf(lane: Lane): Row | undefined {
        return this.rows.find((row) => row.look !== Look.More && row.look !== Look.InFlight && row.lanes.includes(lane));
    }

    private rowAt(y: number): Row | undefined {
        const isPinned = y < RULER + this.head;
        return y < RULER ? undefined : this.rows.find((row) => row.isPinned === isPinned && y >= this.topOf(row) && y < this.topOf(row) + row.height);
    }

    threadAt(y: number): Thread | null {
        let found: Thread | null = null;
        const isPinned = y < RULER + this.head;
        for (const row of this.rows) {
            if (row.isPinned === isPinned && this.topOf(row) - GAP / 2 <= y)
                found = row.thread;
        }
        return y < RULER ? null : found;
    }

    /** The thread whose "+N deeper" is at this position. */
    moreAt(y: number): Thread | null {
        const row = this.rowAt(y);
        return row?.look === Look.More ? row.thread : null;
    }

    hit(x: number, y: number): Hit | null {
        const row = this.rowAt(y);
        if (row === undefined || x < this.gutter || row.look === Look.More || row.look === Look.InFlight || row.lanes.length === 0)
            return null;
        const part = (y - this.topOf(row)) / row.height;
        const lane = row.lanes[Math.min(row.lanes.length - 1, Math.floor(part * row.lanes.length))];
        if (lane === null)
            return null;
        const index = spanAt(lane, this.timeAt(x), this.columnNs * (lane.kind === LaneKind.Marks ? 3 : 1.5));
        if (index < 0)
            return null;
        if (lane.length[index] >= this.columnNs * 1.5)
            return { lane, first: index, last: index };
        const column = Math.floor(this.timeAt(x) / this.columnNs) * this.columnNs;
        const first = Math.min(index, before(lane, column));
        const last = Math.max(index, before(lane, column + this.columnNs, first) - 1);
        return { lane, first, last };
    }

    private isDim(name: number): boolean {
        return this.matches !== null && this.matches[name] === 0;
    }

    /** In a column with several spans, the longest one provides the name; with very many, the
     * longest of a sample. */
    private leading(lane: Lane, first: number, end: number): number {
        const step = Math.max(1, Math.floor((end - first) / 16));
        let best = first;
        for (let i = first; i < end; i += step) {
            if (lane.busy[i] > lane.busy[best])
                best = i;
        }
        if (this.matches !== null && this.isDim(lane.name[best])) {
            for (let i = first; i < Math.min(end, first + 64); i++) {
                if (!this.isDim(lane.name[i]))
                    return i;
            }
        }
        return best;
    }

    draw(context: CanvasRenderingContext2D): void {
        const { theme } = this;
        this.drawn = { spans: 0, calls: 0, blocks: 0, marks: 0, together: 0, merged: 0, hidden: 0 };
        this.scrollTo(this.scroll);
        context.fillStyle = theme.paper;
        context.fillRect(0, 0, this.width, this.height);
        context.textBaseline = "middle";
        context.font = theme.mono;
        this.gauge.begin(context);
        this.drawPart(context, false, RULER + this.head, this.height);
        if (this.head > 0) {
            this.drawPart(context, true, RULER, RULER + this.head);
            context.fillStyle = theme.accent;
            context.fillRect(0, RULER + this.head - 2, this.width, 2);
        }
        this.drawWakes(context);
        this.drawArrows(context);
        this.drawPathLine(context);
        this.drawRuler(context);
        this.drawRange(context);
        this.drawZero(context);
        this.drawDrop(context);
    }

    /** Draws either the pinned rows or the others. */
    private drawPart(context: CanvasRenderingContext2D, isPinned: boolean, top: number, bottom: number): void {
        context.save();
        context.beginPath();
        context.rect(0, top, this.width, bottom - top);
        context.clip();
        this.drawBands(context, isPinned);
        this.drawGrid(context);
        const visible = this.rows.filter((row) => {
            const y = this.topOf(row);
            return row.isPinned === isPinned && y + row.height >= top && y < bottom;
        });
        context.save();
        context.beginPath();
        context.rect(this.gutter, top, this.width - this.gutter, bottom - top);
        context.clip();
        this.columns.begin(this.width - this.gutter);
        for (const row of visible)
            this.drawRow(context, row);
        this.columns.draw(context, this.gutter);
        for (const thread of new Set(this.only === null ? visible.map((row) => row.thread) : []))
            this.drawAbsence(context, thread);
        this.drawLabels(context);
        for (const thread of new Set(this.path !== null && this.only === null ? visible.map((row) => row.thread) : []))
            this.drawPath(context, thread, isPinned);
        this.drawSelection(context, isPinned);
        context.restore();
        this.drawNames(context, isPinned);
        context.restore();
    }

    /** Where a dragged thread would be placed. */
    private drawDrop(context: CanvasRenderingContext2D): void {
        if (this.drop === null)
            return;
        context.fillStyle = this.theme.accent;
        context.fillRect(0, this.drop - 1.5, this.width, 3);
    }

    /** The position of a pointer in the list of threads: the thread there, whether in its lower
     * half, and the nearer edge. */
    dropAt(y: number): { thread: Thread; isAfter: boolean; edge: number } | null {
        const thread = this.threadAt(Math.max(y, RULER + 1));
        const rows = this.rows.filter((row) => row.thread === thread);
        if (thread === null || rows.length === 0)
            return null;
        const top = this.topOf(rows[0]) - GAP / 2;
        const last = rows[rows.length - 1];
        const bottom = Math.max(this.topOf(last) + last.height, top + 28) + GAP / 2;
        const isAfter = y > (top + bottom) / 2;
        return { thread, isAfter, edge: isAfter ? bottom : top };
    }

    /** Arrows for the selection. */
    get shownArrows(): Arrow[] {
        const { selected, arrows } = this;
        if (this.only !== null)
            return [];
        if (selected?.lane !== arrows.of?.lane || selected?.index !== arrows.of?.index)
            this.arrows = { of: selected, list: arrowsOf(this.model, selected) };
        return this.arrows.list;
    }

    /** The middle of the row in which a thread shows its probes, or else of its first row. */
    private middleOf(thread: Thread): { y: number; isPinned: boolean } | null {
        const rows = this.rows.filter((row) => row.thread === thread);
        const row = rows.find(({ look }) => look === Look.Blocks || look === Look.Folded || look === Look.Marks) ?? rows.at(0);
        return row === undefined ? null : { y: this.topOf(row) + row.height / 2, isPinned: row.isPinned };
    }

    /** Messages in view, if there are few. */
    get shownMessages(): Arrow[] {
        const { from, to } = this.window;
        const shown = this.only !== null ? [] : this.model.messages.filter((message) => message.from.at < to && message.to.at > from);
        return shown.length > MESSAGES_SHOWN ? [] : shown;
    }

    /** The position of an end of an arrow. */
    private placeOf({ thread, at }: End): { x: number; y: number } | null {
        const middle = this.middleOf(thread);
        return middle === null ? null : { x: this.xOf(at), y: middle.isPinned ? middle.y : Math.max(RULER + this.head, middle.y) };
    }

    private drawArrow(context: CanvasRenderingContext2D, arrow: Arrow): void {
        const [from, to] = [this.placeOf(arrow.from), this.placeOf(arrow.to)];
        if (from === null || to === null)
            return;
        // Curved, so that both ends are visible if they are at almost the same time.
        const bend = Math.max(14, Math.abs(to.x - from.x) / 2);
        context.beginPath();
        context.moveTo(from.x, from.y);
        context.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x, to.y);
        context.stroke();
        context.beginPath();
        context.arc(from.x, from.y, 3, 0, 7);
        context.fill();
        context.beginPath();
        context.moveTo(to.x + 1, to.y);
        context.lineTo(to.x - 8, to.y - 4.5);
        context.lineTo(to.x - 8, to.y + 4.5);
        context.fill();
    }

    private drawArrows(context: CanvasRenderingContext2D): void {
        context.save();
        context.beginPath();
        context.rect(this.gutter, RULER, this.width - this.gutter, this.height - RULER);
        context.clip();
        context.strokeStyle = this.theme.text;
        context.fillStyle = this.theme.text;
        context.lineWidth = 1;
        context.globalAlpha = 0.7;
        for (const message of this.shownMessages)
            this.drawArrow(context, message);
        context.globalAlpha = 1;
        context.strokeStyle = this.theme.accent;
        context.fillStyle = this.theme.accent;
        context.lineWidth = 1.8;
        for (const arrow of this.shownArrows)
            this.drawArrow(context, arrow);
        context.restore();
    }

    /** Every other thread has a background, so that its row is easy to follow. */
    private drawBands(context: CanvasRenderingContext2D, isPinned: boolean): void {
        if (this.only !== null)
            return;
        const rows = this.rows.filter((row) => row.isPinned === isPinned);
        let isOdd = false;
        context.fillStyle = this.theme.panel;
        rows.forEach((row, index) => {
            if (index > 0 && rows[index - 1].thread === row.thread)
                return;
            const next = rows.slice(index).find(({ thread }) => thread !== row.thread);
            const top = this.topOf(row) - GAP / 2;
            const bottom = (next === undefined ? this.topOf(row) - row.y + (isPinned ? this.pins : this.total) : this.topOf(next)) - GAP / 2;
            isOdd = !isOdd;
            if (!isOdd || bottom < 0 || top > this.height)
                return;
            context.globalAlpha = 0.6;
            context.fillRect(this.gutter, top, this.width, bottom - top);
            context.globalAlpha = 1;
        });
    }

    private drawLabels(context: CanvasRenderingContext2D): void {
        context.font = this.theme.mono;
        for (const { text, x, y, isDim } of this.labels) {
            context.fillStyle = isDim ? this.theme.faint : this.theme.text;
            context.fillText(text, x, y);
        }
        this.labels = [];
    }

    private drawRow(context: CanvasRenderingContext2D, row: Row): void {
        const y = this.topOf(row);
        const [lane = null] = row.lanes;
        switch (row.look) {
            case Look.Strip: this.drawStrip(context, row.thread, lane, y); break;
            case Look.States: if (lane !== null) this.drawStates(context, lane, y); break;
            case Look.Marks: if (lane !== null) this.drawMarks(context, lane, y); break;
            case Look.Blocks:
            case Look.Calls:
            case Look.Rows: if (lane !== null) this.drawCalls(context, lane, y, row.height - (row.height > 6 ? 1 : 0)); break;
            case Look.Folded: this.drawFolded(context, row, y); break;
            case Look.InFlight: this.drawInFlight(context, row, y); break;
            case Look.Queue: if (lane !== null) this.drawQueue(context, lane, y, row.height); break;
            case Look.Plot: if (row.thread.series !== undefined) this.drawPlot(context, row.thread.series, y, row.height); break;
            case Look.More: this.drawMore(context, row, y); break;
        }
    }

    /** Lanes on top of each other, as thin as necessary. If there are more lanes than pixels, some
     * are left out. */
    private drawFolded(context: CanvasRenderingContext2D, row: Row, y: number): void {
        const { lanes, height } = row;
        const step = height / lanes.length;
        const stride = Math.max(1, Math.ceil(1 / step));
        for (let i = 0; i < lanes.length; i++) {
            const lane = lanes[i];
            if (lane === null)
                continue;
            if (i % stride === 0)
                this.drawCalls(context, lane, y + i * step, Math.max(1, step * stride - (step > 4 ? 1 : 0)));
            else
                this.hide(lane);
        }
    }

    private hide(lane: Lane): void {
        this.drawn.hidden += lane.countBefore[before(lane, this.window.to)] - lane.countBefore[before(lane, this.window.from)];
    }

    private drawMore(context: CanvasRenderingContext2D, row: Row, y: number): void {
        context.font = this.theme.font;
        context.fillStyle = this.theme.faint;
        context.fillText(row.text, this.gutter + 6, y + row.height / 2);
        for (const lane of row.lanes) {
            if (lane !== null && row.thread.track === Track.Thread)
                this.hide(lane);
        }
    }

    /** Number of requests in flight over time. */
    private drawInFlight(context: CanvasRenderingContext2D, row: Row, y: number): void {
        const height = row.height - 2;
        const counts = new Float64Array(Math.ceil(this.width - this.gutter) + 1);
        for (const lane of row.lanes) {
            if (lane !== null)
                this.cover(lane, counts);
        }
        const most = Math.max(1, row.lanes.length);
        context.fillStyle = this.theme.bars;
        context.beginPath();
        context.moveTo(this.gutter, y + height);
        counts.forEach((count, x) => {
            const top = y + height - Math.min(1, count / most) * height;
            context.lineTo(this.gutter + x, top);
            context.lineTo(this.gutter + x + 1, top);
        });
        context.lineTo(this.gutter + counts.length, y + height);
        context.fill();
    }

    /** Adds the busy time of a lane to the columns in which it is, as a fraction of a column. */
    private cover(lane: Lane, columns: Float64Array): void {
        const add = (first: number, end: number): void => {
            const from = this.xOf(lane.start[first]) - this.gutter;
            const to = Math.max(this.xOf(lane.start[end - 1] + lane.length[end - 1]) - this.gutter, from + 1e-6);
            const share = (lane.busyBefore[end] - lane.busyBefore[first]) / this.columnNs / (to - from);
            for (let column = Math.max(0, Math.floor(from)); column < Math.min(columns.length, to); column++)
                columns[column] += share * (Math.min(to, column + 1) - Math.max(from, column));
        };
        this.visit(lane, (i) => { add(i, i + 1); }, add);
    }

    /** The length of a queue, in steps; in merged spans and narrow columns, the mean. */
    private drawQueue(context: CanvasRenderingContext2D, lane: Lane, y: number, height: number): void {
        const means = new Float64Array(Math.max(1, Math.ceil(this.width - this.gutter)));
        this.cover(lane, means);
        const isMean = means.some((mean) => Math.abs(mean - Math.round(mean)) >= 0.005);
        this.drawSteps(context, means, y, height, (most, least) => `${isMean ? "mean of a column: " : ""}max ${levelText(most)}, min ${levelText(least)}`);
    }

    private drawPlot(context: CanvasRenderingContext2D, series: Series, y: number, height: number): void {
        const values = series.columns(this.window.from, this.columnNs, Math.max(1, Math.ceil(this.width - this.gutter)));
        this.drawSteps(context, values, y, height, (most, least) => `max ${levelText(most)}, min ${levelText(least)} ${series.unit}`);
    }

    /** The value of a plot at a column; null: no plot is there. */
    plotAt(x: number, y: number): string[] | null {
        const series = this.rowAt(y)?.thread.series;
        if (series === undefined || x < this.gutter)
            return null;
        const [value] = series.columns(this.timeAt(Math.floor(x)), this.columnNs, 1);
        return [`${series.title}: ${levelText(value)} ${series.unit}`, `mean of ${time(this.columnNs)} at ${moment(this.timeAt(x), this.columnNs, this.window.to)}`];
    }

    /** A filled line of steps, one per column. */
    private drawSteps(context: CanvasRenderingContext2D, values: Float64Array, y: number, height: number, text: (most: number, least: number) => string): void {
        let most = 0;
        let least = Infinity;
        for (const value of values) {
            most = Math.max(most, value);
            least = Math.min(least, value);
        }
        const bottom = y + height - 3;
        const top = (level: number): number => bottom - level / Math.max(most, 1e-9) * (height - 16);
        context.beginPath();
        context.moveTo(this.gutter, top(values[0]));
        let last = values[0];
        // Equal neighbors form one step.
        for (let x = 1; x < values.length; x++) {
            if (values[x] === last)
                continue;
            context.lineTo(this.gutter + x, top(last));
            last = values[x];
            context.lineTo(this.gutter + x, top(last));
        }
        context.lineTo(this.gutter + values.length, top(last));
        context.strokeStyle = this.theme.bars;
        context.lineWidth = 1.5;
        context.stroke();
        context.lineTo(this.gutter + values.length, bottom);
        context.lineTo(this.gutter, bottom);
        context.fillStyle = this.theme.bars;
        context.globalAlpha = 0.28;
        context.fill();
        context.globalAlpha = 1;
        this.labels.push({ text: text(most, least), x: this.gutter + 6, y: y + 6, isDim: true });
    }

    private tally(lane: Lane, calls: number, spans: number): void {
        if (lane.kind === LaneKind.Off || lane.kind === LaneKind.Rows || lane.kind === LaneKind.States)
            return;
        this.drawn.merged += calls > spans ? calls : 0;
        this.drawn.spans++;
        this.drawn[lane.kind === LaneKind.Blocks ? "blocks" : lane.kind === LaneKind.Marks ? "marks" : "calls"] += calls;
        this.drawn.together += calls > 1 ? calls : 0;
    }

    /** Visits the visible spans: wide ones separately, narrow ones by column. */
    private visit(lane: Lane, wide: (index: number, x: number, width: number) => void,
        narrow: (first: number, end: number, x: number) => void): void {
        const ns = this.columnNs;
        const { from, to } = this.window;
        let i = Math.max(0, before(lane, from) - 1);
        while (i < lane.size && lane.start[i] < to) {
            const x = this.xOf(lane.start[i]);
            const width = lane.length[i] / ns;
            if (x + width < this.gutter - 1) {
                i++;
            } else if (width >= 1.5) {
                wide(i, x, width);
                this.tally(lane, lane.count[i], 1);
                i++;
            } else {
                const column = Math.floor(x);
                let end = beforeNear(lane, this.timeAt(column + 1), i + 1);
                // Only the last span that begins in a column can extend beyond it.
                if (end - 1 > i && lane.length[end - 1] >= ns * 1.5)
                    end--;
                narrow(i, end, column);
                this.tally(lane, lane.countBefore[end] - lane.countBefore[i], end - i);
                i = end;
            }
        }
    }

    private drawCalls(context: CanvasRenderingContext2D, lane: Lane, y: number, height: number): void {
        this.columns.row(y, height, 1);
        this.visit(lane, (i, x, width) => {
            this.drawCall(context, lane, i, x, y, width, height);
        }, (first, end, x) => {
            const share = Math.min(1, (lane.busyBefore[end] - lane.busyBefore[first]) / this.columnNs);
            const name = lane.name[this.leading(lane, first, end)];
            const color = this.isDim(name) ? this.theme.line : this.strong(name);
            this.columns.put(x - this.gutter, 0, 1, color, Math.max(3, Math.ceil(share * SHADES)) / SHADES);
        });
    }

    private strong(name: number): string {
        return this.palette.strong(this.model.names[name].name);
    }

    private drawCall(context: CanvasRenderingContext2D, lane: Lane, i: number, x: number, y: number,
        width: number, height: number): void {
        const dim = this.isDim(lane.name[i]);
        const left = Math.max(x, this.gutter - 2);
        const right = Math.min(x + width, this.width + 2);
        const together = lane.count[i] > 1;
        context.fillStyle = dim ? this.theme.panel : this.palette.of(this.model.names[lane.name[i]].name);
        context.globalAlpha = together ? Math.max(0.35, Math.min(1, lane.busy[i] / lane.length[i])) : 1;
        context.fillRect(left, y, Math.max(1, right - left - (width > 4 ? 1 : 0)), height);
        context.globalAlpha = 1;
        if (height < 10)
            return;
        if (together && width > 3)
            this.hatch.fill(context, this.theme.paper, left, y, right - left, height);
        const kind = this.model.names[lane.name[i]].kind;
        if (lane.kind === LaneKind.Blocks && width > 3) {
            // The hit with which it begins.
            context.fillStyle = dim ? this.theme.line : this.strong(lane.name[i]);
            context.fillRect(left, y, 2, height);
        }
        if (kind === Kind.Waiter && width > 3)
            this.hatch.fill(context, this.theme.paper, left, y, right - left, height);
        const visible = right - Math.max(left, this.gutter);
        if (visible < LABEL)
            return;
        this.labels.push({ text: this.labelOf(lane, i, visible - 7), x: Math.max(left, this.gutter) + 4, y: y + height / 2 + 0.5, isDim: dim });
    }

    /** The longest label that fits: the name with the duration, the name, the first probe of a
     * block, or a part of it. */
    private labelOf(lane: Lane, i: number, room: number): string {
        const { gauge, model: { names } } = this;
        const { kind, number } = names[lane.name[i]];
        const name = isolated(names[lane.name[i]].name);
        const text = kind === Kind.Holder ? `${name} holds` : kind === Kind.Waiter ? `${name} waits` : name;
        // A character may have no width, but a text this long is always cut.
        if (text.length < room && gauge.width(text) <= room) {
            const times = lane.count[i] > 1 ? `${count(lane.count[i])} × ` : "";
            const took = `  ${time(lane.busy[i])}`;
            const left = room - gauge.width(text) - gauge.width(times);
            return left < 0 ? text : gauge.width(took) <= left ? `${times}${text}${took}` : `${times}${text}`;
        }
        return gauge.fit(kind === Kind.Block ? isolated(names[number].name) : text, room);
    }

    private drawMarks(context: CanvasRenderingContext2D, lane: Lane, y: number): void {
        const one = (i: number, x: number, calls: number): void => {
            const dim = this.isDim(lane.name[i]);
            context.fillStyle = dim ? this.theme.line : this.strong(lane.name[i]);
            if (calls > 1) {
                context.fillRect(x, y + 2, 1, MARKS - 5);
                return;
            }
            context.fillRect(x, y + 2, 1, MARKS - 5);
            context.beginPath();
            context.moveTo(x - 3, y + 1);
            context.lineTo(x + 4, y + 1);
            context.lineTo(x + 0.5, y + 6);
            context.fill();
        };
        this.visit(lane, (i, x, width) => {
            context.globalAlpha = 0.6;
            context.fillStyle = this.isDim(lane.name[i]) ? this.theme.line : this.strong(lane.name[i]);
            context.fillRect(x, y + 3, width, MARKS - 7);
            context.globalAlpha = 1;
            if (width > 60) {
                context.fillStyle = this.theme.text;
                context.font = this.theme.mono;
                context.fillText(this.gauge.fit(`${lane.count[i]} × ${isolated(this.model.names[lane.name[i]].name)}`, width - 6),
                    Math.max(x, this.gutter) + 3, y + 7);
            }
        }, (first, end, x) => {
            one(this.leading(lane, first, end), x, lane.countBefore[end] - lane.countBefore[first]);
        });
    }

    /** On CPU, off CPU, or not yet running. */
    private drawStrip(context: CanvasRenderingContext2D, thread: Thread, lane: Lane | null, y: number): void {
        const height = STRIP - 2;
        const left = Math.max(this.gutter, this.xOf(thread.first));
        const right = Math.min(this.width, this.xOf(thread.last));
        context.fillStyle = this.theme.on;
        context.fillRect(left, y, Math.max(1, right - left), height);
        if (lane === null)
            return;
        context.fillStyle = this.theme.off;
        this.columns.row(y, height, SHADES);
        this.visit(lane, (i, x, width) => {
            const from = Math.max(this.gutter, x);
            context.fillRect(from, y, Math.min(this.width, x + width) - from, height * lane.busy[i] / lane.length[i]);
        }, (first, end, x) => {
            const share = Math.min(1, (lane.busyBefore[end] - lane.busyBefore[first]) / this.columnNs);
            this.columns.put(x - this.gutter, 0, Math.ceil(share * SHADES), this.theme.off, 1);
        });
    }

    /** Running, waiting for a CPU and blocked, stacked: spans that are merged, or share a column,
     * show the share of each. */
    private drawStates(context: CanvasRenderingContext2D, lane: Lane, y: number): void {
        const height = STATES - 2;
        const { running, runnable, blocked } = this.theme;
        const colors = [running, runnable, blocked];
        const tops = [0, 0, 0];
        // Sets the end of each part, in lines from the bottom.
        const split = (first: number, end: number, of: number): void => {
            const scale = STATE_LINES / of;
            const ran = (lane.busyBefore[end] - lane.busyBefore[first]) * scale;
            const waited = (lane.offBefore[end] - lane.offBefore[first]) * scale;
            const all = (lane.lengthBefore[end] - lane.lengthBefore[first]) * scale;
            tops[0] = Math.round(ran);
            tops[1] = tops[0] + Math.round(waited);
            tops[2] = Math.min(STATE_LINES, tops[1] + Math.round(Math.max(0, all - ran - waited)));
        };
        this.columns.row(y, height, STATE_LINES);
        this.visit(lane, (i, x, width) => {
            const from = Math.max(this.gutter, x);
            split(i, i + 1, Math.max(1, lane.length[i]));
            for (let part = 0, bottom = 0; part < tops.length; bottom = tops[part++]) {
                context.fillStyle = colors[part];
                context.fillRect(from, y + height * (1 - tops[part] / STATE_LINES), Math.min(this.width, x + width) - from,
                    height * (tops[part] - bottom) / STATE_LINES);
            }
        }, (first, end, x) => {
            split(first, end, Math.max(this.columnNs, lane.lengthBefore[end] - lane.lengthBefore[first]));
            for (let part = 0, bottom = 0; part < tops.length; bottom = tops[part++])
                this.columns.put(x - this.gutter, STATE_LINES - tops[part], STATE_LINES - bottom, colors[part], 1);
        });
    }

    /** The middle of the row of a thread's states; null: not in view. */
    private statesAt(thread: Thread | null): number | null {
        const row = thread === null ? undefined : this.rows.find((each) => each.thread === thread && each.look === Look.States);
        if (row === undefined)
            return null;
        const y = this.topOf(row) + STATES / 2 - 1;
        return y < RULER + (row.isPinned ? 0 : this.head) || y > this.height ? null : y;
    }

    /** The thread that woke another, if there is space for it. */
    get shownWakes(): { from: Thread; to: Thread; at: number }[] {
        const shown: { from: Thread; to: Thread; at: number }[] = [];
        for (const thread of this.only === null ? this.model.real : []) {
            const lane = thread.states;
            if (lane === null || this.statesAt(thread) === null)
                continue;
            const [first, end] = [before(lane, this.window.from), before(lane, this.window.to)];
            if (end - first > (this.width - this.gutter) / WAKE_ROOM * 3)
                continue;
            let last = -Infinity;
            for (let i = first; i < end && shown.length < WAKES_SHOWN; i++) {
                const waker = lane.count[i] === 1 && lane.name[i] === State.Runnable && lane.values[i] > 0 ? threadOfId(this.model, lane.values[i], thread) : null;
                const x = this.xOf(lane.start[i]);
                if (waker === null || waker === thread || x < last + WAKE_ROOM || this.statesAt(waker) === null)
                    continue;
                shown.push({ from: waker, to: thread, at: lane.start[i] });
                last = x;
            }
        }
        return shown;
    }

    private drawWakes(context: CanvasRenderingContext2D): void {
        context.save();
        context.beginPath();
        context.rect(this.gutter, RULER, this.width - this.gutter, this.height - RULER);
        context.clip();
        context.strokeStyle = this.theme.text;
        context.fillStyle = this.theme.text;
        context.lineWidth = 1;
        for (const { from, to, at } of this.shownWakes) {
            const [top, bottom] = [this.statesAt(from), this.statesAt(to)];
            if (top === null || bottom === null)
                continue;
            const x = Math.round(this.xOf(at)) + 0.5;
            const sign = bottom > top ? 1 : -1;
            context.globalAlpha = 0.75;
            context.beginPath();
            context.moveTo(x, top);
            context.lineTo(x, bottom - sign * 4);
            context.stroke();
            context.globalAlpha = 1;
            context.beginPath();
            context.arc(x, top, 2, 0, 7);
            context.fill();
            context.beginPath();
            context.moveTo(x, bottom - sign * 3);
            context.lineTo(x - 3.5, bottom - sign * 9);
            context.lineTo(x + 3.5, bottom - sign * 9);
            context.fill();
        }
        context.restore();
    }

    /** Where the path is in a thread, in pixels; parts that are close together are joined. */
    private pathIn(thread: Thread): [number, number][] {
        const found: [number, number][] = [];
        for (const part of this.path?.parts ?? []) {
            if (part.thread !== thread || part.to < this.window.from || part.from > this.window.to)
                continue;
            const from = Math.max(this.gutter, this.xOf(part.from));
            const to = Math.min(this.width, Math.max(this.xOf(part.to), from + 1));
            const last = found.at(-1);
            if (last !== undefined && from <= last[1] + 0.5)
                last[1] = Math.max(last[1], to);
            else if (to > from)
                found.push([from, to]);
        }
        return found;
    }

    private extentOf(thread: Thread): { top: number; bottom: number } | null {
        const rows = this.rows.filter((row) => row.thread === thread);
        const last = rows.at(-1);
        return last === undefined ? null : { top: this.topOf(rows[0]), bottom: this.topOf(last) + last.height };
    }

    /** Fades everything that is not on the path, and draws a line above everything else. */
    private drawPath(context: CanvasRenderingContext2D, thread: Thread, isPinned: boolean): void {
        const extent = this.extentOf(thread);
        if (extent === null || this.layout.pinned.has(thread.place) !== isPinned || thread.track !== Track.Thread)
            return;
        const { top, bottom } = extent;
        let x = this.gutter;
        for (const [from, to] of [...this.pathIn(thread), [this.width, this.width]]) {
            context.fillStyle = this.theme.paper;
            context.globalAlpha = 0.62;
            context.fillRect(x, top - 1, from - x, bottom - top + 1);
            context.globalAlpha = 1;
            context.fillStyle = this.theme.accent;
            context.fillRect(from, top - 3, to - from, 2.5);
            context.fillRect(from, bottom, to - from, 1);
            x = to;
        }
    }

    /** Where the path moves from one thread to another. */
    private drawPathLine(context: CanvasRenderingContext2D): void {
        const parts = this.only === null ? this.path?.parts ?? [] : [];
        context.save();
        context.beginPath();
        context.rect(this.gutter, RULER + this.head, this.width - this.gutter, this.height - RULER);
        context.clip();
        context.fillStyle = this.theme.accent;
        let last = -Infinity;
        for (let i = 1; i < parts.length; i++) {
            const [one, other] = [parts[i - 1].thread, parts[i].thread];
            const x = Math.round(this.xOf(parts[i].from));
            if (one === other || one === null || other === null || x < last + 2 || x < this.gutter || x > this.width)
                continue;
            const [from, to] = [this.extentOf(one), this.extentOf(other)];
            if (from === null || to === null)
                continue;
            const top = Math.min(from.top, to.top) - 3;
            context.fillRect(x - 0.75, top, 1.5, Math.max(from.top, to.top) - top);
            last = x;
        }
        context.restore();
    }

    /** Scrolls to a time of a thread. */
    showTime(thread: Thread, from: number, to: number): void {
        const room = Math.max(to - from, this.columnNs * 20, 100);
        if (from < this.window.from || to > this.window.to || to - from < this.columnNs * 3)
            this.show(from - room * 2, to + room * 2);
        const extent = this.extentOf(thread);
        if (extent !== null && (extent.top < RULER + this.head || extent.bottom > this.height) && !this.layout.pinned.has(thread.place))
            this.scrollTo(extent.top + this.scroll - this.head - RULER - (this.height - this.head) / 3);
    }

    /** Fades calls while their thread was off the CPU. */
    private drawAbsence(context: CanvasRenderingContext2D, thread: Thread): void {
        const rows = this.rows.filter((row) => row.thread === thread && (row.look === Look.Calls || row.look === Look.Blocks || row.look === Look.Folded));
        if (thread.off === null || rows.length === 0)
            return;
        const { theme } = this;
        const lane = thread.off;
        const top = this.topOf(rows[0]);
        const last = rows[rows.length - 1];
        const height = last.y + last.height - rows[0].y;
        context.fillStyle = this.theme.paper;
        this.visit(lane, (i, x, width) => {
            const share = lane.busy[i] / lane.length[i];
            if (share < 0.2 || lane.count[i] > 1)
                return;
            context.globalAlpha = (theme.dark ? 0.4 : 0.55) * share;
            context.fillRect(x, top, width, height);
        }, () => undefined);
        context.globalAlpha = 1;
    }

    private drawSelection(context: CanvasRenderingContext2D, isPinned: boolean): void {
        const mark = (lane: Lane, index: number, color: string, thick: number, length = lane.length[index]): void => {
            const row = this.rowOf(lane);
            if (row?.isPinned !== isPinned)
                return;
            const x = this.xOf(lane.start[index]);
            const width = Math.max(2, length / this.columnNs);
            const step = row.height / row.lanes.length;
            context.strokeStyle = color;
            context.lineWidth = thick;
            const from = Math.max(this.gutter - 4, x);
            context.strokeRect(from, this.topOf(row) + row.lanes.indexOf(lane) * step + 0.5,
                Math.min(this.width + 4, x + width) - from - 1, Math.max(step - 2, 1.5));
        };
        if (this.hovered !== null)
            mark(this.hovered.lane, this.hovered.first, this.theme.faint, 1);
        if (this.selected !== null)
            mark(this.selected.lane, this.selected.index, this.theme.accent, 2.5, this.selected.length);
    }

    private drawNames(context: CanvasRenderingContext2D, isPinned: boolean): void {
        const { theme } = this;
        if (this.only !== null)
            return;
        context.fillStyle = theme.panel;
        context.fillRect(0, RULER, this.gutter - 1, this.height - RULER);
        context.fillStyle = theme.line;
        context.fillRect(this.gutter - 1, RULER, 1, this.height - RULER);
        this.drawHosts(context, isPinned);
        let previous: Thread | null = null;
        for (const row of this.rows) {
            if (row.thread === previous || row.isPinned !== isPinned)
                continue;
            previous = row.thread;
            const y = this.topOf(row);
            if (y > this.height)
                break;
            context.fillStyle = theme.line;
            context.fillRect(0, y - Math.ceil(GAP / 2), this.width, 1);
            if (y > -40)
                this.drawHead(context, row, y);
        }
    }

    /** The headings, from top to bottom. */
    get shownHosts(): string[] {
        return this.hosts.map(({ host }) => host < 0 ? "All hosts" : this.model.hosts.list[host].name);
    }

    /** The name of each host and its clock, above its threads. */
    private drawHosts(context: CanvasRenderingContext2D, isPinned: boolean): void {
        const { theme, model: { hosts } } = this;
        for (const each of this.hosts.filter((host) => host.isPinned === isPinned)) {
            const y = RULER + each.y + (isPinned ? 0 : this.head - this.scroll) - Math.ceil(GAP / 2);
            if (y < -HOST_ROW || y > this.height)
                continue;
            const host = each.host < 0 ? null : hosts.list[each.host];
            context.fillStyle = theme.panel;
            context.fillRect(0, y, this.width, HOST_ROW);
            context.fillStyle = theme.line;
            context.fillRect(0, y, this.width, 1);
            context.font = `600 ${theme.font}`;
            context.fillStyle = theme.text;
            const name = isolated(short(host?.name ?? "All hosts", 60));
            context.fillText(name, 8, y + HOST_ROW / 2 + 1);
            const x = Math.max(this.gutter + 6, 8 + context.measureText(name).width + 14);
            context.font = theme.font;
            context.fillStyle = theme.faint;
            context.fillText(host === null ? "" : clockText(hosts, host), x, y + HOST_ROW / 2 + 1);
        }
    }

    /** The name and, on a second line, the thread id and process, if any. */
    private drawHead(context: CanvasRenderingContext2D, row: Row, y: number): void {
        const { theme, gutter } = this;
        const { thread } = row;
        // In a narrow column without space for the id next to the name, the name may extend into
        // the gap.
        const hasTwo = (this.ends.get(thread) ?? 0) - row.y >= (gutter < 150 ? 24 : 30);
        const pin = row.isPinned ? "⚲ " : "";
        const fold = pin + (!TimelineView.canFold(thread) ? "" : this.isFolded(thread) ? "▸ " : "▾ ");
        const ids = thread.track !== Track.Thread ? subtitleOf(thread, this.model.tracks)
            : this.model.real.some(({ pid }) => pid !== thread.pid) ? `${thread.tid} of ${thread.pid}` : String(thread.tid);
        context.font = theme.font;
        const idWidth = context.measureText(ids).width;
        context.font = `600 ${theme.font}`;
        // If there is little space, the name comes first.
        const room = gutter - 18 - (hasTwo || gutter < 150 ? 0 : idWidth + 6);
        // Names of threads often differ only at the end.
        const title = titleOf(thread, false);
        const each = characters(title);
        const end = each.length > 8 ? each.slice(-3) : [];
        let name = fold + isolated(title);
        for (let left = each.length - end.length - 1; left > 1 && context.measureText(name).width > room; left--)
            name = fold + isolated([...each.slice(0, left), "…", ...end].join(""));
        const nameWidth = context.measureText(name).width;
        context.fillStyle = theme.text;
        context.fillText(name, 8, y + 9);
        context.font = theme.font;
        context.fillStyle = theme.faint;
        if (hasTwo)
            context.fillText(ids, 8 + (fold === "" ? 0 : 14), y + 25, gutter - 30);
        else if (nameWidth + idWidth + 24 < gutter)
            context.fillText(ids, gutter - 10 - idWidth, y + 9);
    }

    /** The distance between the ruler's marks. Even a narrow screen has two or three of them. */
    private step(): number {
        const least = this.columnNs * Math.min(110, (this.width - this.gutter) / 3);
        let step = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
        for (const factor of [1, 2, 5, 10]) {
            if (step * factor >= least) {
                step *= factor;
                break;
            }
        }
        return step;
    }

    private drawGrid(context: CanvasRenderingContext2D): void {
        const step = this.step();
        context.fillStyle = this.theme.line;
        context.globalAlpha = 0.55;
        const zero = this.zero ?? 0;
        for (let at = Math.ceil((this.window.from - zero) / step) * step; at <= this.window.to - zero; at += step)
            context.fillRect(Math.round(this.xOf(at + zero)), RULER, 1, this.height);
        context.globalAlpha = 1;
    }

    /** The line at zero, if chosen by the user. */
    private drawZero(context: CanvasRenderingContext2D): void {
        const x = this.zero === null ? -1 : Math.round(this.xOf(this.zero));
        if (x < this.gutter || x > this.width)
            return;
        context.fillStyle = this.theme.accent;
        context.fillRect(x - 1, 0, 2, this.height);
    }

    private drawRuler(context: CanvasRenderingContext2D): void {
        const { theme } = this;
        const step = this.step();
        context.fillStyle = theme.panel;
        context.fillRect(0, 0, this.width, RULER);
        context.fillStyle = theme.line;
        context.fillRect(0, RULER - 1, this.width, 1);
        context.font = theme.font;
        context.fillStyle = theme.faint;
        if (this.only === null && this.zero === null)
            context.fillText(`${time(this.window.to - this.window.from)} in view`, 8, RULER / 2);
        this.drawStretches(context);
        const length = this.rangeLength(context);
        context.font = theme.font;
        let taken = this.gutter;
        const zero = this.zero ?? 0;
        const largest = this.zero === null ? this.window.to : Math.max(Math.abs(this.window.from - zero), Math.abs(this.window.to - zero));
        for (let at = Math.ceil((this.window.from - zero) / step) * step; at <= this.window.to - zero; at += step) {
            const x = Math.round(this.xOf(at + zero));
            if (x < this.gutter)
                continue;
            context.fillStyle = theme.line;
            context.fillRect(x, RULER - 7, 1, 7);
            context.fillStyle = theme.faint;
            // A truncated number would be a different number. The last one may be to the left of
            // its mark.
            const text = moment(at, step, largest).replace("-", "−");
            const { width } = context.measureText(text);
            const left = x + 4 + width <= this.width ? x + 4 : x - 4 - width;
            // The length of the range covers anything below it.
            if (left < taken + 4 || (length !== null && left < length.right && left + width > length.left))
                continue;
            context.fillText(text, left, RULER / 2);
            taken = left + width;
        }
    }

    /** Below the ruler: intervals in which spans are not merged. */
    private drawStretches(context: CanvasRenderingContext2D): void {
        context.fillStyle = this.theme.accent;
        for (const [from, to] of this.model.stretches) {
            const left = Math.max(this.gutter, this.xOf(from));
            const right = Math.min(this.width, this.xOf(to));
            if (right > this.gutter && left < this.width)
                context.fillRect(left, RULER - 4, Math.max(right - left, 1.5), 4);
        }
    }

    /** Zooms to the next interval in which spans are not merged. */
    showStretch(): void {
        const { model: { lanes, stretches }, window } = this;
        const middle = (window.from + window.to) / 2;
        const after = stretches.findIndex(([from, to]) => (from + to) / 2 > middle + 1 && to > this.all.from && from < this.all.to);
        const [from, to] = stretches[Math.max(after, 0)];
        // A merged span that began before the interval may extend into it.
        const begin = lanes.reduce((latest, lane) => {
            const last = before(lane, from) - 1;
            const end = last >= 0 && lane.count[last] > 1 ? lane.start[last] + lane.length[last] : 0;
            return Math.max(latest, Math.min(end, to - 1));
        }, from);
        this.show(begin + (to - begin) * 0.01, to - (to - begin) * 0.01);
    }

    /** The length of the selected range, as text in the ruler. Sets the ruler's font. */
    private rangeLength(context: CanvasRenderingContext2D): { from: number; to: number; text: string; left: number; right: number } | null {
        if (this.range === null)
            return null;
        const from = Math.max(this.gutter, this.xOf(Math.min(this.range.from, this.range.to)));
        const to = Math.min(this.width, this.xOf(Math.max(this.range.from, this.range.to)));
        if (to < this.gutter || from > this.width)
            return null;
        const text = time(Math.abs(this.range.to - this.range.from));
        context.font = `600 ${this.theme.font}`;
        const { width } = context.measureText(text);
        const x = Math.max(this.gutter, Math.min((from + to - width) / 2, this.width - width - 8));
        return { from, to, text, left: x - 6, right: x + width + 6 };
    }

    private drawRange(context: CanvasRenderingContext2D): void {
        const length = this.rangeLength(context);
        if (length === null)
            return;
        const { from, to, text, left, right } = length;
        context.fillStyle = this.theme.accent;
        context.globalAlpha = 0.12;
        context.fillRect(from, RULER, to - from, this.height);
        context.globalAlpha = 1;
        context.fillRect(from, 0, 1.5, this.height);
        context.fillRect(to - 1.5, 0, 1.5, this.height);
        context.fillRect(left, 3, right - left, RULER - 7);
        context.fillStyle = this.theme.paper;
        context.fillText(text, left + 6, RULER / 2);
    }
}

/** The next span after the selected one whose name matches; wraps around. */
export function nextMatch(lanes: readonly Lane[], matches: Uint8Array, after: { lane: Lane; index: number } | null,
    backwards: boolean): { lane: Lane; index: number } | null {
    const sign = backwards ? -1 : 1;
    const from = after === null ? -Infinity : after.lane.start[after.index] * sign;
    const order = (lane: Lane): number => lanes.indexOf(lane);
    let best: { lane: Lane; index: number } | null = null;
    let first: { lane: Lane; index: number } | null = null;
    const isBefore = (a: { lane: Lane; index: number }, b: { lane: Lane; index: number } | null): boolean => {
        if (b === null)
            return true;
        const difference = (a.lane.start[a.index] - b.lane.start[b.index]) * sign;
        return difference < 0 || (difference === 0 && order(a.lane) * sign < order(b.lane) * sign);
    };
    for (const lane of lanes) {
        if (lane.kind === LaneKind.Off)
            continue;
        for (let index = 0; index < lane.size; index++) {
            if (matches[lane.name[index]] === 0)
                continue;
            const found = { lane, index };
            if (isBefore(found, first))
                first = found;
            const at = lane.start[index] * sign;
            const isBehind = after === null || at > from ||
                (at === from && order(lane) * sign > order(after.lane) * sign);
            if (isBehind && isBefore(found, best))
                best = found;
        }
    }
    return best ?? first;
}

/** The length of a queue, or the mean if changes were merged. */
export function levelOf(lane: Lane, index: number): number {
    return lane.count[index] > 1 ? lane.busy[index] / Math.max(1, lane.length[index]) : lane.off[index];
}

/** "3", "0.25", "1,234,567" */
function levelText(level: number): string {
    return level >= 100 || Math.abs(level - Math.round(level)) < 0.005 ? Math.round(level).toLocaleString("en-US") : level.toPrecision(3);
}

/** "worker 17", "Requests", "lock cache". With ids, for filters. */
export function titleOf(thread: Thread, withIds = true): string {
    const ids = withIds ? ` ${thread.tid} ${thread.object}` : "";
    switch (thread.track) {
        case Track.Requests: return "Requests";
        case Track.Lock: return `Lock ${thread.name}${thread.name === "" || withIds ? thread.object : ""}`;
        case Track.Queue: return `Queue ${thread.name}${thread.name === "" || withIds ? thread.object : ""}`;
        case Track.Cpu: return "CPU";
        case Track.Rate: return thread.name;
        default: return `${thread.name || "thread"}${ids}`;
    }
}

function subtitleOf(track: Thread, tracks: readonly Thread[]): string {
    if (track.series !== undefined)
        return track.series.unit;
    // The address distinguishes objects with the same name.
    if (track.object !== "" && track.name !== "" && tracks.some((each) => each !== track && each.track === track.track && each.name === track.name))
        return track.object;
    return track.track === Track.Requests ? `${track.calls.length} at once` : track.track === Track.Lock ? "held, waited for" : "length";
}
