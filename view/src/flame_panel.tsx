/* The flame graph with what controls it. */
import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Canvas, Painter, Tip } from "./canvas";
import { count, percent, short, time } from "./format";
import { type Box, FlameView, layout, type Value } from "./flame";
import { matcher, type Shared } from "./state";

const values: readonly { id: Value; title: string }[] = [
    { id: "total_ns", title: "Wall time" },
    { id: "cpu_total_ns", title: "CPU time" },
    { id: "off_cpu_total_ns", title: "Off the CPU" },
    { id: "calls", title: "Calls" },
];

function valueText(value: Value, amount: number): string {
    return value === "calls" ? `${count(amount)} calls` : time(amount);
}

export function FlamePanel({ shared }: { shared: Shared }): VNode {
    const { tree } = shared.data;
    const [value, setValue] = useState<Value>("total_ns");
    const [tip, setTip] = useState<{ at: { x: number; y: number }; lines: string[] } | null>(null);
    const [focus, setFocus] = useState<string[]>([]);
    const painter = useMemo(() => new Painter(), []);
    const root = useMemo(() => layout(tree.tree, value), [tree, value]);
    const view = useMemo(() => {
        const made = new FlameView(root, shared.palette);
        painter.drawing = made;
        return made;
    }, [root, shared.palette, painter]);
    view.isMatch = useMemo(() => matcher(shared.query), [shared.query]);
    useEffect(() => { painter.ask(); }, [view, shared.query]);

    const select = (box: Box): void => {
        view.selected = box;
        if (box.node.name !== undefined)
            shared.select({ of: "node", node: box.node, share: box.value / Math.max(1, root.value) });
        painter.ask();
    };
    const zoomTo = (box: Box): void => {
        view.focus = box;
        const path = [];
        for (let at = box; at.parent !== null; at = at.parent)
            path.unshift(at.node.name ?? "");
        setFocus(path);
        painter.ask();
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
        else if (target != null)
            select(target);
        else
            return;
        event.preventDefault();
        event.stopPropagation();
    };
    /** Time in what matches, of calls outside of other calls that match. */
    const found = useMemo(() => {
        const isMatch = matcher(shared.query);
        if (isMatch === null)
            return null;
        let sum = 0;
        const waiting = [root];
        for (let box = waiting.pop(); box !== undefined; box = waiting.pop()) {
            if (isMatch(box.node.name ?? ""))
                sum += box.value;
            else
                waiting.push(...box.children);
        }
        return sum / Math.max(1, root.value);
    }, [root, shared.query]);

    if (tree.tree.length === 0)
        return <p class="none">No calls of functions are in this trace.{tree.calls_profiled > 0 ? " It was made in profile mode, which keeps no paths of calls." : ""}</p>;
    return (
        <div class="drawn">
            <div class="tools">
                <fieldset class="choice">
                    <legend class="away">Width of the boxes</legend>
                    {values.map(({ id, title }) => (
                        <label key={id}>
                            <input type="radio" name="flame-value" checked={value === id} onChange={() => { setValue(id); setFocus([]); }} />
                            {title}
                        </label>))}
                </fieldset>
                <button type="button" disabled={focus.length === 0} onClick={() => { zoomTo(root); }}>All</button>
                <span class="path">{focus.length > 0 ? short(focus.join(" › "), 120) : ""}</span>
                {found !== null && <span class="found">{percent(found)} matches</span>}
                <span class="legend">merged over time and threads; in order of time: <button type="button" class="link" onClick={() => { shared.go("timeline"); }}>time line</button></span>
            </div>
            <div class="stage">
                <Canvas painter={painter} label="Flame graph. Arrows go from function to function, Enter zooms in, Escape shows all."
                    onWheel={(event) => {
                        if (event.ctrlKey) {
                            const box = event.deltaY < 0 ? view.hit(event.offsetX, event.offsetY) : view.focus.parent;
                            zoomTo(box ?? root);
                        } else {
                            view.scrollBy(event.deltaY);
                            painter.ask();
                        }
                    }}
                    onPointerMove={(event) => {
                        view.hovered = view.hit(event.offsetX, event.offsetY);
                        const box = view.hovered;
                        setTip(box === null ? null : {
                            at: { x: event.clientX, y: event.clientY },
                            lines: [short(box.node.name ?? "all", 120), `${valueText(value, box.value)}, ${percent(box.value / Math.max(1, root.value))} of all`,
                                `${count(box.node.calls)} calls`],
                        });
                        painter.ask();
                    }}
                    onPointerLeave={() => { view.hovered = null; setTip(null); painter.ask(); }}
                    onPointerUp={(event) => { const box = view.hit(event.offsetX, event.offsetY); if (box !== null) select(box); }}
                    onDblClick={(event) => { const box = view.hit(event.offsetX, event.offsetY); if (box !== null) zoomTo(box); }}
                    onKeyDown={onKeyDown} />
            </div>
            <p class="status" role="status">
                {`A box is as wide as its ${valueText(value, 0).includes("calls") ? "number of calls" : "time"}; boxes narrower than a pixel are not drawn. Double click or Enter zooms in, Escape shows all.`}
                {tree.nodes_pruned > 0 ? ` ${count(tree.nodes_pruned)} small paths were left out of this page; \`probity tree\` has them.` : ""}
                {tree.calls_lost > 0 ? ` ${count(tree.calls_lost)} calls are on no path here: there were too many paths.` : ""}
            </p>
            {tip !== null && <Tip {...tip} />}
        </div>
    );
}
