/* The time line on its canvas: what is drawn, and where. The amount drawn is limited by the columns
 * of the screen: spans narrower than a column are drawn as one with their neighbours, which are
 * found by bisection, so that drawing takes as long for a minute as for a microsecond. */
import type { Palette, Theme } from "./colour";
import { moment, short, time } from "./format";
import { before, type Lane, LaneKind, type Model, spanAt, type Thread } from "./lanes";

const GUTTER = 168;
const RULER = 26;
const ROW = 18;
const FLAT_ROW = 4;
const FLAME_ROW = 20;
const STRIP = 7;
const MARKS = 13;
const GAP = 9;
/** Number of shades for columns that are partly filled: equal neighbours are drawn as one. */
const SHADES = 8;

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

interface Row {
    lane: Lane | null;
    thread: Thread;
    y: number;
    height: number;
}

export class TimelineView {
    window: Window;
    /** The full extent. */
    readonly all: Window;
    readonly gutter: number;
    scroll = 0;
    width = 0;
    height = 0;
    selected: { lane: Lane; index: number } | null = null;
    hovered: Hit | null = null;
    matches: Uint8Array | null = null;
    range: Window | null = null;
    readonly flat = new Set<number>();
    /** Counts of the last drawing: spans and calls on screen, calls in a column with others, and
     * calls in a merged span, which no zoom separates. */
    drawn = { spans: 0, calls: 0, together: 0, merged: 0 };
    private rows: Row[] = [];
    /** Drawn last, so that nothing covers them. */
    private labels: { text: string; x: number; y: number; isDim: boolean }[] = [];
    private total = 0;
    private readonly theme: Theme;

    /** only: a flame graph in time order, of one thread: calls alone, at full width. */
    constructor(private readonly model: Model, private readonly palette: Palette, readonly only: Thread | null = null) {
        this.gutter = only === null ? GUTTER : 0;
        this.all = only === null ? { from: model.first, to: model.last } : { from: only.first, to: Math.max(only.last, only.first + 1) };
        this.window = { ...this.all };
        this.theme = palette.theme;
        if (model.threads.length > 8 || model.threads.some((thread) => thread.calls.length > 40)) {
            for (const thread of model.threads) {
                if (thread.calls.length > 24)
                    this.flat.add(thread.place);
            }
        }
        this.arrange();
    }

    /** Takes over the position from a predecessor when theme or size has changed. */
    adopt(other: TimelineView): void {
        this.window = other.window;
        this.scroll = other.scroll;
        this.selected = other.selected;
        this.matches = other.matches;
        this.flat.clear();
        other.flat.forEach((place) => this.flat.add(place));
        this.arrange();
    }

    arrange(): void {
        const { only } = this;
        let y = only === null ? GAP - 2 : 4;
        this.rows = [];
        for (const thread of only === null ? this.model.threads : [only]) {
            if (thread.off === null && thread.marks === null && thread.calls.length === 0)
                continue;
            const put = (lane: Lane | null, height: number): void => {
                this.rows.push({ lane, thread, y, height });
                y += height;
            };
            const calls = only !== null ? FLAME_ROW : this.flat.has(thread.place) ? FLAT_ROW : ROW;
            const top = y;
            if (thread.cpuKnown)
                put(thread.off, STRIP);
            if (thread.marks !== null && only === null)
                put(thread.marks, MARKS);
            for (const lane of thread.calls)
                put(lane, calls);
            y = Math.max(y, top + 20) + GAP;
        }
        this.total = y;
        this.scrollTo(this.scroll);
    }

    scrollTo(y: number): void {
        this.scroll = Math.max(0, Math.min(y, this.total + RULER - this.height));
    }

    get scrollMax(): number {
        return Math.max(0, this.total + RULER - this.height);
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

    /** Brings a span into view: its time with a margin, and its lane. */
    reveal(lane: Lane, index: number, zoomed: boolean): void {
        const start = lane.start[index];
        const length = lane.length[index];
        const room = Math.max(length, this.columnNs * 20, 100);
        if (zoomed)
            this.show(start - Math.max(length, 50) * 0.15, start + Math.max(length, 50) * 1.15);
        else if (start < this.window.from || start + length > this.window.to || length < this.columnNs * 3)
            this.show(start - room * 4, start + room * 5);
        this.flat.delete(lane.thread);
        this.arrange();
        const row = this.rows.find((each) => each.lane === lane);
        if (row !== undefined && (row.y < this.scroll || row.y + row.height + RULER > this.scroll + this.height))
            this.scrollTo(row.y - this.height / 3);
    }

    threadAt(y: number): Thread | null {
        let found: Thread | null = null;
        for (const row of this.rows) {
            if (row.y - this.scroll + RULER <= y)
                found = row.thread;
        }
        return y < RULER ? null : found;
    }

    hit(x: number, y: number): Hit | null {
        const row = this.rows.find((each) => {
            const top = each.y - this.scroll + RULER;
            return y >= top && y < top + each.height;
        });
        if (row?.lane == null || x < this.gutter || y < RULER)
            return null;
        const { lane } = row;
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

    /** The longest of several spans in a column names it; if there are very many, the longest of a
     * sample. */
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
        this.drawn = { spans: 0, calls: 0, together: 0, merged: 0 };
        context.fillStyle = theme.paper;
        context.fillRect(0, 0, this.width, this.height);
        context.textBaseline = "middle";
        context.save();
        context.beginPath();
        context.rect(0, RULER, this.width, this.height - RULER);
        context.clip();
        this.drawGrid(context);
        const visible = this.rows.filter((row) => {
            const y = row.y - this.scroll + RULER;
            return y + row.height >= RULER && y < this.height;
        });
        context.save();
        context.beginPath();
        context.rect(this.gutter, RULER, this.width - this.gutter, this.height - RULER);
        context.clip();
        for (const row of visible)
            this.drawRow(context, row);
        for (const thread of new Set(this.only === null ? visible.map((row) => row.thread) : []))
            this.drawAbsence(context, thread);
        this.drawLabels(context);
        this.drawSelection(context);
        context.restore();
        this.drawNames(context);
        context.restore();
        this.drawRuler(context);
        this.drawRange(context);
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
        const y = row.y - this.scroll + RULER;
        if (row.lane === null || row.lane.kind === LaneKind.Off) {
            this.drawStrip(context, row.thread, row.lane, y);
            return;
        }
        if (row.lane.kind === LaneKind.Marks)
            this.drawMarks(context, row.lane, y);
        else
            this.drawCalls(context, row.lane, y, row.height - (row.height > FLAT_ROW ? 1 : 0));
    }

    private tally(lane: Lane, calls: number, spans: number): void {
        if (lane.kind === LaneKind.Off)
            return;
        this.drawn.merged += calls > spans ? calls : 0;
        this.drawn.spans++;
        this.drawn.calls += calls;
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
                let end = before(lane, this.timeAt(column + 1), i + 1);
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
        const ns = this.columnNs;
        let pending = { x: 0, width: 0, colour: "", shade: 0 };
        const flush = (): void => {
            if (pending.width > 0) {
                context.globalAlpha = pending.shade / SHADES;
                context.fillStyle = pending.colour;
                context.fillRect(pending.x, y, pending.width, height);
                context.globalAlpha = 1;
            }
            pending.width = 0;
        };
        this.visit(lane, (i, x, width) => {
            flush();
            this.drawCall(context, lane, i, x, y, width, height);
        }, (first, end, x) => {
            const share = Math.min(1, (lane.busyBefore[end] - lane.busyBefore[first]) / ns);
            const name = lane.name[this.leading(lane, first, end)];
            const colour = this.isDim(name) ? this.theme.line : this.strong(name);
            const shade = Math.max(2, Math.ceil(share * SHADES));
            if (pending.width > 0 && pending.x + pending.width === x && pending.colour === colour && pending.shade === shade) {
                pending.width++;
            } else {
                flush();
                pending = { x, width: 1, colour, shade };
            }
        });
        flush();
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
            this.hatch(context, left, y, right - left, height);
        const room = right - Math.max(left, this.gutter) - 8;
        if (room < 22)
            return;
        const name = this.model.names[lane.name[i]].name;
        const fits = Math.floor(room / 6.4);
        let text = together ? `${lane.count[i].toLocaleString("en-US")} × ${name}` : name;
        const took = time(lane.busy[i]);
        if (fits > text.length + took.length + 2)
            text += `  ${took}`;
        if (fits >= 2)
            this.labels.push({ text: short(text, fits), x: Math.max(left, this.gutter) + 4, y: y + height / 2 + 0.5, isDim: dim });
    }

    /** The pattern of merged spans. */
    private hatch(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
        context.save();
        context.beginPath();
        context.rect(x, y, width, height);
        context.clip();
        context.strokeStyle = this.theme.paper;
        context.globalAlpha = 0.45;
        context.lineWidth = 1.5;
        context.beginPath();
        for (let at = Math.floor(x / 6) * 6 - height; at < x + width; at += 6) {
            context.moveTo(at, y + height);
            context.lineTo(at + height, y);
        }
        context.stroke();
        context.restore();
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
                context.fillText(short(`${lane.count[i]} × ${this.model.names[lane.name[i]].name}`, Math.floor(width / 6.6)),
                    Math.max(x, this.gutter) + 3, y + 7);
            }
        }, (first, end, x) => {
            one(this.leading(lane, first, end), x, lane.countBefore[end] - lane.countBefore[first]);
        });
    }

    /** On CPU, off CPU, or not running yet. */
    private drawStrip(context: CanvasRenderingContext2D, thread: Thread, lane: Lane | null, y: number): void {
        const height = STRIP - 2;
        const left = Math.max(this.gutter, this.xOf(thread.first));
        const right = Math.min(this.width, this.xOf(thread.last));
        context.fillStyle = this.theme.on;
        context.fillRect(left, y, Math.max(1, right - left), height);
        if (lane === null)
            return;
        const put = (x: number, width: number, share: number): void => {
            const from = Math.max(this.gutter, x);
            const size = Math.min(this.width, x + width) - from;
            context.fillStyle = this.theme.paper;
            context.fillRect(from, y, size, height * share);
            context.fillStyle = this.theme.off;
            context.fillRect(from, y, size, height * share);
        };
        this.visit(lane, (i, x, width) => { put(x, width, lane.busy[i] / lane.length[i]); },
            (first, end, x) => {
                put(x, 1, Math.min(1, (lane.busyBefore[end] - lane.busyBefore[first]) / this.columnNs));
            });
    }

    /** Fades calls while their thread was off the CPU. */
    private drawAbsence(context: CanvasRenderingContext2D, thread: Thread): void {
        const rows = this.rows.filter((row) => row.thread === thread && row.lane?.kind === LaneKind.Calls);
        if (thread.off === null || rows.length === 0)
            return;
        const { theme } = this;
        const lane = thread.off;
        const top = rows[0].y - this.scroll + RULER;
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

    private drawSelection(context: CanvasRenderingContext2D): void {
        const mark = (lane: Lane, index: number, colour: string, thick: number): void => {
            const row = this.rows.find((each) => each.lane === lane);
            if (row === undefined)
                return;
            const x = this.xOf(lane.start[index]);
            const width = Math.max(2, lane.length[index] / this.columnNs);
            context.strokeStyle = colour;
            context.lineWidth = thick;
            const from = Math.max(this.gutter - 4, x);
            context.strokeRect(from, row.y - this.scroll + RULER + 0.5,
                Math.min(this.width + 4, x + width) - from - 1, row.height - 2);
        };
        if (this.hovered !== null)
            mark(this.hovered.lane, this.hovered.first, this.theme.faint, 1);
        if (this.selected !== null)
            mark(this.selected.lane, this.selected.index, this.theme.accent, 2.5);
    }

    private drawNames(context: CanvasRenderingContext2D): void {
        const { theme } = this;
        if (this.only !== null)
            return;
        context.fillStyle = theme.panel;
        context.fillRect(0, RULER, this.gutter - 1, this.height - RULER);
        context.fillStyle = theme.line;
        context.fillRect(this.gutter - 1, RULER, 1, this.height - RULER);
        let previous: Thread | null = null;
        for (const row of this.rows) {
            if (row.thread === previous)
                continue;
            previous = row.thread;
            const y = row.y - this.scroll + RULER;
            if (y > this.height)
                break;
            context.fillStyle = theme.line;
            context.fillRect(0, y - Math.ceil(GAP / 2), this.width, 1);
            context.fillStyle = theme.text;
            context.font = `600 ${theme.font}`;
            const fold = row.thread.calls.length > 1 ? (this.flat.has(row.thread.place) ? "▸ " : "▾ ") : "";
            context.fillText(fold + short(row.thread.name || "thread", 14), 8, y + 8);
            context.font = theme.font;
            context.fillStyle = theme.faint;
            const id = String(row.thread.tid);
            context.fillText(id, this.gutter - 10 - context.measureText(id).width, y + 8);
        }
    }

    private step(): number {
        const least = this.columnNs * 110;
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
        for (let at = Math.ceil(this.window.from / step) * step; at <= this.window.to; at += step)
            context.fillRect(Math.round(this.xOf(at)), RULER, 1, this.height);
        context.globalAlpha = 1;
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
        if (this.only === null)
            context.fillText(`${time(this.window.to - this.window.from)} in sight`, 8, RULER / 2);
        this.drawStretches(context);
        for (let at = Math.ceil(this.window.from / step) * step; at <= this.window.to; at += step) {
            const x = Math.round(this.xOf(at));
            if (x < this.gutter)
                continue;
            context.fillStyle = theme.line;
            context.fillRect(x, RULER - 7, 1, 7);
            context.fillStyle = theme.faint;
            // A truncated number would be another number.
            const text = moment(at, step, this.window.to);
            if (x + 4 + context.measureText(text).width <= this.width)
                context.fillText(text, x + 4, RULER / 2);
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
        // A merged span that began before it may extend into it.
        const begin = lanes.reduce((latest, lane) => {
            const last = before(lane, from) - 1;
            const end = last >= 0 && lane.count[last] > 1 ? lane.start[last] + lane.length[last] : 0;
            return Math.max(latest, Math.min(end, to - 1));
        }, from);
        this.show(begin + (to - begin) * 0.01, to - (to - begin) * 0.01);
    }

    private drawRange(context: CanvasRenderingContext2D): void {
        if (this.range === null)
            return;
        const from = this.xOf(Math.min(this.range.from, this.range.to));
        const to = this.xOf(Math.max(this.range.from, this.range.to));
        context.fillStyle = this.theme.accent;
        context.globalAlpha = 0.15;
        context.fillRect(from, RULER, to - from, this.height);
        context.globalAlpha = 1;
        context.fillRect(from, RULER, 1, this.height);
        context.fillRect(to, RULER, 1, this.height);
        context.fillText(time(Math.abs(this.range.to - this.range.from)), to + 4, RULER + 12);
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
