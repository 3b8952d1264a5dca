/* The flame graph with its controls: merged, in time order, or by change. */
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Canvas, Painter, Tip } from "./canvas";
import { TONES, toneOf } from "./color";
import type { Changed, Comparison, TreeNode } from "./data";
import { counted, percent, signed, time } from "./format";
import { blockTree, type Box, type Changes, type FlameNode, FlameView, layout, pair, sidesOf, type Value } from "./flame";
import type { Thread } from "./lanes";
import { type FlameState, matcher, type Shared } from "./state";
import { isolated, short } from "./text";
import { TimelinePanel } from "./timeline_panel";

const values: readonly { id: Value; title: string }[] = [
    { id: "total_ns", title: "Wall time" },
    { id: "cpu_total_ns", title: "CPU time" },
    { id: "off_cpu_total_ns", title: "Off the CPU" },
    { id: "calls", title: "Calls" },
];

function valueText(value: Value): (amount: number) => string {
    return value === "calls" ? (amount) => counted(amount, "call") : time;
}

function Choice<Id extends string>({ legend, name, options, chosen, choose }: {
    legend: string;
    name: string;
    options: readonly { id: Id; title: string; hint?: string }[];
    chosen: Id;
    choose: (id: Id) => void;
}): VNode {
    return (
        <fieldset class="choice">
            <legend class="away">{legend}</legend>
            {options.map(({ id, title, hint }) => (
                <label key={id} title={hint ?? ""}>
                    <input type="radio" name={name} value={id} checked={chosen === id} onChange={() => { choose(id); }} />
                    {title}
                </label>))}
        </fieldset>
    );
}

/** Selects what the graph shows. */
function Modes({ shared }: { shared: Shared }): VNode {
    const modes: { id: FlameState["mode"]; title: string; hint: string }[] = [
        { id: "merged", title: "Merged", hint: "Equal paths of all threads merged, largest first" },
        { id: "time", title: "In order of time", hint: "The calls of one thread, one after the other" },
    ];
    if (shared.data.tree.tree.length === 0)
        modes.splice(0);
    if (shared.data.timeline.sums.length > 0)
        modes.push({ id: "blocks", title: "Blocks", hint: "What each thread did between its probes" });
    if (shared.data.diff !== undefined)
        modes.push({ id: "change", title: "Change", hint: "Equal paths merged, colored by change from the base" });
    if (modes.length < 2)
        return <></>;
    return <div class="modes"><Choice legend="Kind of flame graph" name="flame-mode" options={modes} chosen={shared.flame.mode}
        choose={(mode) => { shared.setFlame({ mode }); }} /></div>;
}

/* ---- In time order --------------------------------------------------------------------------- */

function busy(thread: Thread): number {
    const outermost = thread.calls.find((lane) => lane.depth === 0);
    return outermost === undefined ? 0 : outermost.busyBefore[outermost.size];
}

function TimeFlame({ shared }: { shared: Shared }): VNode {
    const threads = useMemo(() => shared.model.threads.filter((thread) => thread.calls.length > 0), [shared.model]);
    const longest = useMemo(() => threads.reduce<Thread | null>((best, each) => best === null || busy(each) > busy(best) ? each : best, null), [threads]);
    const thread = threads.find(({ place }) => place === shared.flame.thread) ?? longest;
    if (thread === null) {
        return (
            <div class="drawn">
                <div class="tools"><Modes shared={shared} /></div>
                <p class="none">This trace has no function calls with times.</p>
            </div>);
    }
    return (
        <TimelinePanel key={thread.place} shared={shared} only={thread}>
            <Modes shared={shared} />
            <label class="field">Thread
                <select value={thread.place} onChange={(event) => { shared.setFlame({ thread: Number(event.currentTarget.value) }); }}>
                    {threads.map((each) => (
                        <option key={each.place} value={each.place}>
                            {`${isolated(short(each.name || "thread", 30))} ${each.tid}${shared.data.info.length > 1 ? ` of ${each.pid}` : ""} · ${time(busy(each))} in calls`}
                        </option>))}
                </select>
            </label>
        </TimelinePanel>
    );
}

/* ---- Merged ------------------------------------------------------------------------------------- */

/** The history has no call paths, so each box shows the change of its function. */
function changesOfFunctions(diff: Comparison, value: Value): (node: FlameNode) => number {
    const statistic = ({ total_ns: "self", cpu_total_ns: "cpu", off_cpu_total_ns: "self", calls: "calls" } as const)[value];
    const key = (name: string, file: string): string => JSON.stringify([name, file.split("/").pop()]);
    const found = new Map(diff.functions.map((each) => [key(each.name, each.file), each.statistics[statistic]]));
    return (node) => {
        const change = found.get(key(node.name, node.file ?? ""));
        return (change?.new_median ?? 0) - (change?.base_median ?? 0);
    };
}

function verdictOf(shared: Shared, node: FlameNode): Changed | undefined {
    return shared.data.diff?.functions.find((each) => each.name === node.name && each.file === node.file?.split("/").pop());
}

function each(nodes: FlameNode[], visit: (node: FlameNode) => void): void {
    const waiting = [...nodes];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
        visit(node);
        waiting.push(...node.children);
    }
}

interface Picture {
    root: Box;
    changes: Changes | null;
    of: (node: FlameNode) => number;
    /** Per run, in paths that only the other side has. */
    unseen: number;
}

function pictureOf(shared: Shared, value: Value, isChange: boolean, tree: TreeNode[]): Picture {
    const { data, flame } = shared;
    const base = isChange ? data.base : undefined;
    const runs = base === undefined ? { now: 1, base: 1 } : { now: data.info.length, base: Math.max(data.base_runs ?? 1, 1) };
    const nodes = pair(tree, base?.tree ?? []);
    const side = base === undefined ? "now" : flame.side;
    const of = (node: FlameNode): number => sidesOf(node, value, runs)[side];
    const root = layout(nodes, of);
    if (!isChange || data.diff === undefined)
        return { root, changes: null, of, unseen: 0 };
    const change = base === undefined ? changesOfFunctions(data.diff, value) : (node: FlameNode): number => {
        const { selfNow, selfBase } = sidesOf(node, value, runs);
        if (flame.per === "all" || value === "calls")
            return selfNow - selfBase;
        // For a path that one side lacks, no call can be compared.
        const calls = sidesOf(node, "calls", runs);
        return calls.now > 0 && calls.base > 0 ? selfNow / calls.now - selfBase / calls.base : 0;
    };
    let most = 0;
    let unseen = 0;
    each(nodes, (node) => {
        most = Math.max(most, Math.abs(change(node)));
        if (node[side] === null) {
            const sides = sidesOf(node, value, runs);
            unseen += side === "now" ? sides.selfBase : sides.selfNow;
        }
    });
    return { root, changes: { of: change, most, text: valueText(value) }, of, unseen };
}

function Scale({ shared, changes }: { shared: Shared; changes: Changes }): VNode {
    const isCall = shared.flame.per === "call" && shared.flame.value !== "calls" && shared.data.base !== undefined;
    const steps = Array.from({ length: 2 * TONES + 1 }, (_, i) => Math.sign(i - TONES) * ((i - TONES) / TONES) ** 2);
    return (
        <span class="legend scale" role="img" aria-label={`Colors from ${changes.text(changes.most)} less to ${changes.text(changes.most)} more`}>
            {`−${changes.text(changes.most)}`}
            {steps.map((step) => <i key={step} style={{ background: toneOf(step, shared.palette.theme) }} />)}
            {`+${changes.text(changes.most)} self per ${isCall ? "call" : "run"}`}
        </span>
    );
}

function tipOf(box: Box, picture: Picture, shared: Shared, value: Value): string[] {
    const text = valueText(value);
    const { node } = box;
    const lines = [isolated(short(node.name, 120)), `${text(box.value)}, ${percent(box.value / Math.max(1e-9, picture.root.value))} of all`];
    if (picture.changes === null || box.parent === null) {
        lines.push(node.now === null ? "" : counted(node.now.calls, shared.flame.mode === "blocks" || shared.data.tree.tree.length === 0 ? "block" : "call"));
        return lines;
    }
    const runs = { now: shared.data.info.length, base: Math.max(shared.data.base_runs ?? 1, 1) };
    if (shared.data.base === undefined) {
        lines.push(`${signed(picture.changes.of(node), text)} self per run`);
    } else {
        const self = sidesOf(node, value, runs);
        const calls = sidesOf(node, "calls", runs);
        lines.push(`${signed(self.selfNow - self.selfBase, text)} self per run`);
        if (value !== "calls" && calls.now > 0 && calls.base > 0)
            lines.push(`${signed(self.selfNow / calls.now - self.selfBase / calls.base, text)} self per call, ${signed(calls.now - calls.base, (amount) => counted(amount, "call"))} per run`);
    }
    if (shared.data.base !== undefined && (node.now === null || node.base === null))
        lines.push(node.now === null ? "only in the base" : "only in the new runs");
    const verdict = verdictOf(shared, node)?.statistics.self;
    if (verdict !== undefined)
        lines.push(`the function, over all its paths: ${verdict.verdict}`);
    return lines;
}

function MergedFlame({ shared, isChange, isBlocks }: { shared: Shared; isChange: boolean; isBlocks: boolean }): VNode {
    const { data: { timeline, tree, base, base_why: why }, flame: { value, side, per } } = shared;
    const [tip, setTip] = useState<{ at: { x: number; y: number }; lines: string[] } | null>(null);
    const [focus, setFocus] = useState<string[]>([]);
    const ranged = isChange ? null : shared.ranged();
    const painter = useMemo(() => new Painter(), []);
    const picture = useMemo(() => pictureOf(shared, value, isChange, isBlocks ? blockTree(shared.model, ranged?.sums ?? timeline.sums) : ranged?.tree ?? tree.tree),
        [tree, value, side, per, isChange, isBlocks, ranged]);
    const { root, changes } = picture;
    const view = useMemo(() => {
        const made = new FlameView(root, shared.palette, changes);
        painter.drawing = made;
        setFocus([]);
        return made;
    }, [picture, shared.palette, painter]);
    view.isMatch = useMemo(() => matcher(shared.query), [shared.query]);
    const [place, setPlace] = useState({ scroll: 0, scrollMax: 0 });
    const drag = useRef<{ y: number; scroll: number; isMoved: boolean } | null>(null);
    const refresh = (): void => {
        painter.ask();
        requestAnimationFrame(() => { setPlace({ scroll: view.scroll, scrollMax: view.scrollMax }); });
    };
    useEffect(refresh, [view, shared.query, shared.selection]);

    const select = (box: Box): void => {
        view.selected = box;
        if (box.parent !== null)
            shared.select({ of: "node", node: box.node, share: box.value / Math.max(1e-9, root.value) });
        refresh();
    };
    const zoomTo = (box: Box): void => {
        view.focus = box;
        const path = [];
        for (let at = box; at.parent !== null; at = at.parent)
            path.unshift(at.node.name);
        setFocus(path);
        refresh();
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        const at = view.selected ?? root;
        const siblings = at.parent?.children ?? [];
        const place = siblings.indexOf(at);
        const target = { ArrowUp: at.parent, ArrowDown: at.children[0], ArrowLeft: siblings[place - 1], ArrowRight: siblings[place + 1] }[event.key];
        if (event.key === "Enter")
            zoomTo(at);
        else if (event.key === "Escape" || event.key === "Home" || event.key === "0")
            zoomTo(root);
        else if (event.key === "Backspace")
            zoomTo(view.focus.parent ?? root);
        else if (target != null) {
            view.reveal(target);
            select(target);
        }
        else
            return;
        event.preventDefault();
        event.stopPropagation();
    };
    /** Time in matching calls, excluding those inside other matching calls. */
    const found = useMemo(() => {
        const isMatch = matcher(shared.query);
        if (isMatch === null)
            return null;
        let sum = 0;
        const waiting = [root];
        for (let box = waiting.pop(); box !== undefined; box = waiting.pop()) {
            if (isMatch(box.node.name))
                sum += box.value;
            else
                waiting.push(...box.children);
        }
        return sum / Math.max(1e-9, root.value);
    }, [root, shared.query]);

    const sides = [{ id: "now" as const, title: "New" }, { id: "base" as const, title: "Base" }];
    let legend: ComponentChildren = isBlocks ? "thread › probe › block to the next probe" : "merged over time and threads";
    if (changes !== null)
        legend = <Scale shared={shared} changes={changes} />;
    return (
        <div class="drawn">
            <div class="tools">
                <Modes shared={shared} />
                <Choice legend="Width of the boxes" name="flame-value" options={values.filter(({ id }) => !isChange || base !== undefined || id !== "off_cpu_total_ns")}
                    chosen={value} choose={(id) => { shared.setFlame({ value: id }); }} />
                {isChange && base !== undefined && (
                    <span class="field">as wide as <Choice legend="Side that sets the widths" name="flame-side" options={sides} chosen={side}
                        choose={(id) => { shared.setFlame({ side: id }); }} /></span>)}
                {isChange && base !== undefined && value !== "calls" && (
                    <span class="field">change <Choice legend="What the colors show" name="flame-per" options={[
                        { id: "all" as const, title: "in total", hint: "Slower calls, and more of them" },
                        { id: "call" as const, title: "per call", hint: "Slower calls alone; Calls shows whether there are more" }]}
                        chosen={per} choose={(id) => { shared.setFlame({ per: id }); }} /></span>)}
                <button type="button" disabled={focus.length === 0} onClick={() => { zoomTo(root); }}>All</button>
                <span class="path">{focus.length > 0 ? short(focus.map(isolated).join(" › "), 120) : ""}</span>
                {found !== null && <span class="found">{percent(found)} matches</span>}
                <span class="legend">{legend}</span>
            </div>
            <div class="stage">
                <Canvas painter={painter} label="Flame graph. Arrows go from function to function, Enter zooms in, Escape shows all."
                    onWheel={(event) => {
                        if (event.ctrlKey) {
                            const box = event.deltaY < 0 ? view.hit(event.offsetX, event.offsetY) : view.focus.parent;
                            zoomTo(box ?? root);
                        } else {
                            view.scrollTo(view.scroll + event.deltaY);
                            refresh();
                        }
                    }}
                    onPointerDown={(event) => {
                        if (event.button !== 0)
                            return;
                        (event.currentTarget as HTMLElement).focus({ preventScroll: true });
                        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
                        drag.current = { y: event.offsetY, scroll: view.scroll, isMoved: false };
                    }}
                    onPointerMove={(event) => {
                        const from = drag.current;
                        if (from !== null && (from.isMoved || Math.abs(event.offsetY - from.y) >= 4)) {
                            from.isMoved = true;
                            view.scrollTo(from.scroll + from.y - event.offsetY);
                            setTip(null);
                            refresh();
                            return;
                        }
                        view.hovered = view.hit(event.offsetX, event.offsetY);
                        const box = view.hovered;
                        setTip(box === null ? null : {
                            at: { x: event.clientX, y: event.clientY },
                            lines: tipOf(box, picture, shared, value).filter((line) => line !== ""),
                        });
                        painter.ask();
                    }}
                    onPointerLeave={() => { view.hovered = null; setTip(null); painter.ask(); }}
                    onPointerUp={(event) => {
                        const from = drag.current;
                        drag.current = null;
                        const box = view.hit(event.offsetX, event.offsetY);
                        if (from?.isMoved !== true && box !== null)
                            select(box);
                    }}
                    onDblClick={(event) => { const box = view.hit(event.offsetX, event.offsetY); if (box !== null) zoomTo(box); }}
                    onKeyDown={onKeyDown} />
                {place.scrollMax > 0 && <input class="scroll" type="range" min={0} max={place.scrollMax} value={place.scroll} aria-label="Scroll to deeper calls"
                    onInput={(event) => { view.scrollTo(Number(event.currentTarget.value)); refresh(); }} />}
            </div>
            <p class="status" role="status">
                {`A box is as wide as its ${value === "calls" ? "number of calls" : "time"}; boxes narrower than a pixel are not drawn. Double click or Enter zooms in, Escape shows all.`}
                {isChange && base !== undefined ? ` Orange is more than in the base, blue is less; the scale shows by how much. ${picture.unseen > 0 ? `${valueText(value)(picture.unseen)} were in paths that exist only on the other side: choose it to see them.` : ""}` : ""}
                {isChange && base === undefined ? ` Colors are the change of each function over all its paths: ${why ?? ""}.` : ""}
                {!isBlocks && ranged === null && tree.nodes_pruned + (isChange ? base?.nodes_pruned ?? 0 : 0) > 0 ? ` ${counted(tree.nodes_pruned + (isChange ? base?.nodes_pruned ?? 0 : 0), "small path was", "small paths were")} left out of this page; \`probity tree\` has all.` : ""}
                {!isBlocks && ranged === null && tree.calls_lost > 0 ? ` ${counted(tree.calls_lost, "call is", "calls are")} on no path here: there were too many paths.` : ""}
            </p>
            {tip !== null && <Tip {...tip} />}
        </div>
    );
}

export function FlamePanel({ shared }: { shared: Shared }): VNode {
    const { tree, base } = shared.data;
    const isChange = shared.flame.mode === "change" && shared.data.diff !== undefined;
    if (shared.flame.mode === "blocks" || (tree.tree.length === 0 && (base?.tree.length ?? 0) === 0 && shared.data.timeline.sums.length > 0))
        return <MergedFlame shared={shared} isChange={false} isBlocks />;
    if (tree.tree.length === 0 && (base?.tree.length ?? 0) === 0)
        return <p class="none">This trace has no function calls.{tree.calls_profiled > 0 ? " It was recorded in profile mode, which keeps no call paths." : ""}</p>;
    return shared.flame.mode === "time" ? <TimeFlame shared={shared} /> : <MergedFlame shared={shared} isChange={isChange} isBlocks={false} />;
}
