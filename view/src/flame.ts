/* The flame graph on its canvas: merged call paths, with the outermost functions on top. With two
 * sets of runs, widths are those of one side, and colors show the change. */
import { type Palette, type Theme, toneOf } from "./color";
import type { Timeline, TreeNode } from "./data";
import { percent, signed } from "./format";
import type { Model } from "./lanes";
import { Gauge, isolated } from "./text";

const ROW = 20;

export type Value = "total_ns" | "cpu_total_ns" | "off_cpu_total_ns" | "calls";

/** The part of a value that belongs to the function itself, without its callees. */
const selves = { total_ns: "self_ns", cpu_total_ns: "cpu_self_ns", off_cpu_total_ns: "off_cpu_self_ns", calls: "calls" } as const;

/** A call path, in the runs of the page and in those of the base. */
export interface FlameNode {
    name: string;
    file: string | undefined;
    line: number | undefined;
    now: TreeNode | null;
    base: TreeNode | null;
    children: FlameNode[];
}

export interface Box {
    node: FlameNode;
    parent: Box | null;
    value: number;
    /** Share of the total, from 0 to 1. */
    from: number;
    to: number;
    depth: number;
    children: Box[];
}

/** Joins two trees by path. Either tree may be empty. */
export function pair(now: readonly TreeNode[], base: readonly TreeNode[]): FlameNode[] {
    const made: FlameNode[] = [];
    const waiting = [{ now, base, to: made }];
    for (let task = waiting.pop(); task !== undefined; task = waiting.pop()) {
        const found = new Map<string, FlameNode>();
        for (const [side, nodes] of [["now", task.now], ["base", task.base]] as const) {
            for (const node of nodes) {
                // Does not compare lines, which change from build to build; functions with the same
                // name in one file are rare.
                const key = JSON.stringify([node.name, node.file]);
                let place = found.get(key);
                if (place?.[side] !== null) {
                    place = { name: node.name ?? "", file: node.file, line: node.line, now: null, base: null, children: [] };
                    task.to.push(place);
                    found.set(key, place);
                }
                place[side] = node;
            }
        }
        for (const node of task.to)
            waiting.push({ now: node.now?.children ?? [], base: node.base?.children ?? [], to: node.children });
    }
    return made;
}

function emptyNode(name: string): TreeNode {
    return { name, calls: 0, calls_untimed: 0, calls_repaired: 0, total_ns: 0, self_ns: 0, paused_ns: 0,
        cpu_total_ns: 0, cpu_self_ns: 0, off_cpu_total_ns: 0, off_cpu_self_ns: 0, children: [] };
}

/** Blocks as paths: the process if there are several, the thread, the first probe if several blocks
 * begin at it, the block. */
export function blockTree(model: Model, sums: Timeline["sums"]): TreeNode[] {
    const roots: TreeNode[] = [];
    const found = new Map<string, TreeNode>();
    const hasProcesses = new Set(model.real.map(({ pid }) => pid)).size > 1;
    const fans = new Map<string, number>();
    const key = (thread: number, name: number): string => `${thread} ${model.names[name].number}`;
    for (const [thread, name] of sums)
        fans.set(key(thread, name), (fans.get(key(thread, name)) ?? 0) + 1);
    for (const [place, name, calls, wall, cpu, off] of sums) {
        const thread = model.threads[place];
        const path = [
            ...hasProcesses ? [`process ${thread.pid}`] : [],
            `${thread.name || "thread"} ${thread.tid}`,
            ...(fans.get(key(place, name)) ?? 0) > 1 ? [`after ${model.names[model.names[name].number].name}`] : [],
            model.names[name].name];
        let list = roots;
        path.forEach((title, depth) => {
            const id = JSON.stringify(depth === 0 && hasProcesses ? [path[0]] : [place, ...path.slice(0, depth + 1)]);
            let node = found.get(id);
            if (node === undefined) {
                node = emptyNode(title);
                found.set(id, node);
                list.push(node);
            }
            node.calls += calls;
            node.total_ns = (node.total_ns ?? 0) + wall;
            node.cpu_total_ns = (node.cpu_total_ns ?? 0) + cpu;
            node.off_cpu_total_ns = (node.off_cpu_total_ns ?? 0) + off;
            if (depth === path.length - 1) {
                node.self_ns = (node.self_ns ?? 0) + wall;
                node.cpu_self_ns = (node.cpu_self_ns ?? 0) + cpu;
                node.off_cpu_self_ns = (node.off_cpu_self_ns ?? 0) + off;
            }
            list = node.children;
        });
    }
    return roots;
}

/** The values of a path per run, on each side, and the part of them that belongs to the function
 * itself. */
export interface Sides { now: number; base: number; selfNow: number; selfBase: number }

export function sidesOf(node: FlameNode, value: Value, runs: { now: number; base: number }): Sides {
    return {
        now: (node.now?.[value] ?? 0) / runs.now,
        base: (node.base?.[value] ?? 0) / runs.base,
        selfNow: (node.now?.[selves[value]] ?? 0) / runs.now,
        selfBase: (node.base?.[selves[value]] ?? 0) / runs.base,
    };
}

/** A caller that began before the selected range has no value: it is as wide as its callees. */
function widthsOf(tree: FlameNode[], of: (node: FlameNode) => number): (node: FlameNode) => number {
    const widths = new Map<FlameNode, number>();
    const order = [...tree];
    for (const node of order)
        order.push(...node.children);
    for (const node of order.reverse()) {
        const own = of(node);
        widths.set(node, own > 0 ? own : node.children.reduce((sum, child) => sum + (widths.get(child) ?? 0), 0));
    }
    return (node) => widths.get(node) ?? 0;
}

/** Places the children of each box side by side. The remaining width is the caller's self time. */
export function layout(tree: FlameNode[], value: (node: FlameNode) => number): Box {
    const of = widthsOf(tree, value);
    const sums = (nodes: FlameNode[]): number => nodes.reduce((sum, node) => sum + of(node), 0);
    const node: FlameNode = { name: "all", file: undefined, line: undefined, now: null, base: null, children: tree };
    const root: Box = { node, parent: null, value: sums(tree), from: 0, to: 1, depth: 0, children: [] };
    const waiting = [root];
    for (let box = waiting.pop(); box !== undefined; box = waiting.pop()) {
        const { node: { children }, from, to, depth } = box;
        const all = Math.max(box.value, sums(children));
        let at = from;
        for (const child of [...children].sort((a, b) => of(b) - of(a))) {
            const end = all > 0 ? at + (to - from) * of(child) / all : at;
            if (end > at) {
                const made: Box = { node: child, parent: box, value: of(child), from: at, to: end, depth: depth + 1, children: [] };
                box.children.push(made);
                waiting.push(made);
            }
            at = end;
        }
    }
    return root;
}

/** The change of each box, and the largest change. */
export interface Changes {
    of: (node: FlameNode) => number;
    most: number;
    text: (change: number) => string;
}

export class FlameView {
    width = 0;
    height = 0;
    scroll = 0;
    focus: Box;
    selected: Box | null = null;
    hovered: Box | null = null;
    isMatch: ((text: string) => boolean) | null = null;
    drawn = { boxes: 0, hidden: 0 };

    private depths: { of: Box | null; deepest: number } = { of: null, deepest: 0 };
    private readonly theme: Theme;
    private readonly gauge = new Gauge();

    /** changes: determine the colors; null: colors by name. */
    constructor(readonly root: Box, private readonly palette: Palette, private readonly changes: Changes | null) {
        this.focus = root;
        this.theme = palette.theme;
    }

    xOf(share: number): number {
        return (share - this.focus.from) / (this.focus.to - this.focus.from) * this.width;
    }

    draw(context: CanvasRenderingContext2D): void {
        const { theme } = this;
        this.drawn = { boxes: 0, hidden: 0 };
        this.scrollTo(this.scroll);
        context.fillStyle = theme.paper;
        context.fillRect(0, 0, this.width, this.height);
        context.font = theme.mono;
        context.textBaseline = "middle";
        this.gauge.begin(context);
        const waiting = [this.root];
        for (let box = waiting.pop(); box !== undefined; box = waiting.pop()) {
            const x = this.xOf(box.from);
            const width = this.xOf(box.to) - x;
            if (x > this.width || x + width < 0)
                continue;
            if (width < 0.7) {
                this.drawn.hidden++;
                continue;
            }
            this.drawBox(context, box, x, width);
            waiting.push(...box.children);
        }
    }

    private fillOf(box: Box, isDim: boolean): string {
        if (box.parent === null || isDim)
            return this.theme.panel;
        return this.changes === null ? this.palette.of(box.node.name)
            : toneOf(this.changes.of(box.node) / Math.max(this.changes.most, 1e-9), this.theme);
    }

    private drawBox(context: CanvasRenderingContext2D, box: Box, x: number, width: number): void {
        const { theme } = this;
        const y = box.depth * ROW - this.scroll;
        if (y + ROW < 0 || y > this.height)
            return;
        const isDim = this.isMatch !== null && !this.isMatch(box.node.name);
        const left = Math.max(0, x);
        const right = Math.min(this.width, x + width);
        this.drawn.boxes++;
        context.fillStyle = this.fillOf(box, isDim);
        context.globalAlpha = box.to > this.focus.to + 1e-12 || box.from < this.focus.from - 1e-12 ? 0.55 : 1;
        context.fillRect(left, y, Math.max(0.7, right - left - (width > 3 ? 1 : 0)), ROW - 1);
        context.globalAlpha = 1;
        if (box === this.selected || box === this.hovered) {
            context.strokeStyle = box === this.selected ? theme.accent : theme.faint;
            context.lineWidth = box === this.selected ? 2.5 : 1;
            context.strokeRect(left + 1, y + 1, Math.max(1, right - left - 3), ROW - 3);
        }
        if (right - left < 24)
            return;
        const room = right - left - 7;
        context.fillStyle = isDim ? theme.faint : theme.text;
        const behind = this.behind(box);
        const name = isolated(box.node.name);
        const text = name.length < room && this.gauge.width(`${name}  ${behind}`) <= room ? `${name}  ${behind}` : this.gauge.fit(name, room);
        context.fillText(text, left + 4, y + ROW / 2);
    }

    /** Text after the name, if there is space. */
    private behind(box: Box): string {
        if (this.changes === null || box.parent === null)
            return percent((box.to - box.from) / (this.root.to - this.root.from));
        return signed(this.changes.of(box.node), this.changes.text);
    }

    hit(x: number, y: number): Box | null {
        const depth = Math.floor((y + this.scroll) / ROW);
        const share = this.focus.from + x / this.width * (this.focus.to - this.focus.from);
        let box: Box | undefined = this.root;
        while (box !== undefined && box.depth < depth)
            box = box.children.find((child) => share >= child.from && share < child.to);
        return box ?? null;
    }

    /** The height of the zoomed part beyond that of the canvas. */
    get scrollMax(): number {
        if (this.depths.of !== this.focus) {
            let deepest = 0;
            const waiting = [this.focus];
            for (let box = waiting.pop(); box !== undefined; box = waiting.pop()) {
                deepest = Math.max(deepest, box.depth);
                waiting.push(...box.children);
            }
            this.depths = { of: this.focus, deepest };
        }
        return Math.max(0, (this.depths.deepest + 1) * ROW - this.height);
    }

    scrollTo(y: number): void {
        this.scroll = Math.max(0, Math.min(y, this.scrollMax));
    }

    /** Scrolls a box into view, with some of its callees. */
    reveal(box: Box): void {
        const y = box.depth * ROW;
        if (y < this.scroll || y + 2 * ROW > this.scroll + this.height)
            this.scrollTo(y - this.height / 3);
    }
}
