/* The flame graph on its canvas: who called whom, merged; the outermost functions on top. */
import type { Palette, Theme } from "./colour";
import type { TreeNode } from "./data";
import { percent, short } from "./format";

const ROW = 20;

export type Value = "total_ns" | "cpu_total_ns" | "off_cpu_total_ns" | "calls";

export interface Box {
    node: TreeNode;
    parent: Box | null;
    value: number;
    /** Share of all, from 0 to 1. */
    from: number;
    to: number;
    depth: number;
    children: Box[];
}

/** Lays the children of each box side by side. What the boxes of callees lack is the caller's own. */
export function layout(tree: TreeNode[], value: Value): Box {
    const of = (node: TreeNode): number => node[value] ?? 0;
    const sums = (nodes: TreeNode[]): number => nodes.reduce((sum, node) => sum + of(node), 0);
    const node: TreeNode = {
        calls: tree.reduce((sum, each) => sum + each.calls, 0), calls_untimed: 0, calls_repaired: 0,
        total_ns: tree.reduce((sum, each) => sum + (each.total_ns ?? 0), 0), self_ns: null, paused_ns: null,
        cpu_total_ns: tree.reduce((sum, each) => sum + (each.cpu_total_ns ?? 0), 0), cpu_self_ns: null,
        off_cpu_total_ns: tree.reduce((sum, each) => sum + (each.off_cpu_total_ns ?? 0), 0), off_cpu_self_ns: null,
        children: tree,
    };
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

export class FlameView {
    width = 0;
    height = 0;
    scroll = 0;
    focus: Box;
    selected: Box | null = null;
    hovered: Box | null = null;
    isMatch: ((text: string) => boolean) | null = null;
    drawn = { boxes: 0, hidden: 0 };

    private readonly theme: Theme;

    constructor(readonly root: Box, private readonly palette: Palette) {
        this.focus = root;
        this.theme = palette.theme;
    }

    xOf(share: number): number {
        return (share - this.focus.from) / (this.focus.to - this.focus.from) * this.width;
    }

    draw(context: CanvasRenderingContext2D): void {
        const { theme } = this;
        this.drawn = { boxes: 0, hidden: 0 };
        context.fillStyle = theme.paper;
        context.fillRect(0, 0, this.width, this.height);
        context.font = theme.mono;
        context.textBaseline = "middle";
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

    private drawBox(context: CanvasRenderingContext2D, box: Box, x: number, width: number): void {
        const { theme } = this;
        const y = box.depth * ROW - this.scroll;
        if (y + ROW < 0 || y > this.height)
            return;
        const name = box.node.name ?? "all";
        const isDim = this.isMatch !== null && !this.isMatch(name);
        const left = Math.max(0, x);
        const right = Math.min(this.width, x + width);
        this.drawn.boxes++;
        context.fillStyle = box.parent === null || isDim ? theme.panel : this.palette.of(name);
        context.globalAlpha = box.to > this.focus.to + 1e-12 || box.from < this.focus.from - 1e-12 ? 0.55 : 1;
        context.fillRect(left, y, Math.max(0.7, right - left - (width > 3 ? 1 : 0)), ROW - 1);
        context.globalAlpha = 1;
        if (box === this.selected || box === this.hovered) {
            context.strokeStyle = box === this.selected ? theme.accent : theme.faint;
            context.lineWidth = box === this.selected ? 2.5 : 1;
            context.strokeRect(left + 1, y + 1, Math.max(1, right - left - 3), ROW - 3);
        }
        const fits = Math.floor((right - left - 8) / 6.7);
        if (fits < 3)
            return;
        context.fillStyle = isDim ? theme.faint : theme.text;
        const share = percent((box.to - box.from) / (this.root.to - this.root.from));
        const text = fits > name.length + share.length + 2 ? `${name}  ${share}` : short(name, fits);
        context.fillText(text, left + 4, y + ROW / 2);
    }

    hit(x: number, y: number): Box | null {
        const depth = Math.floor((y + this.scroll) / ROW);
        const share = this.focus.from + x / this.width * (this.focus.to - this.focus.from);
        let box: Box | undefined = this.root;
        while (box !== undefined && box.depth < depth)
            box = box.children.find((child) => share >= child.from && share < child.to);
        return box ?? null;
    }

    scrollBy(y: number): void {
        let deepest = 0;
        const waiting = [this.root];
        for (let box = waiting.pop(); box !== undefined; box = waiting.pop()) {
            deepest = Math.max(deepest, box.depth);
            waiting.push(...box.children);
        }
        const most = Math.max(0, (deepest + 1) * ROW - this.height);
        this.scroll = Math.max(0, Math.min(this.scroll + y, most));
    }
}
