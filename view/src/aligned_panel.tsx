/* The timelines of both sides of a comparison, one above the other in the same scale. Time counts
 * from the beginning of a chosen call or request of each side. */
import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { aligned, type Call, callAt, callsOf, isRequest, keyAt } from "./aligned";
import { Canvas, Painter, Tip } from "./canvas";
import { at, count, counted, named, time } from "./format";
import { LaneKind, type Model, Track } from "./lanes";
import type { Shared } from "./state";
import { type Hit, TimelineView, type Window } from "./timeline";

/** A longer list would be useless: a click in a timeline chooses any call. */
const LISTED = 500;

interface Side {
    title: string;
    model: Model;
    view: TimelineView;
    painter: Painter;
    calls: Call[];
    /** The chosen call; null: none. */
    call: Call | null;
}

const startOf = ({ lane, index }: Call): number => lane.start[index];
const zeroOf = ({ call, model }: Side): number => call === null ? model.first : startOf(call);

/** From the first record of either side to the last, relative to the chosen calls. */
function wholeOf(sides: Side[]): Window {
    const from = Math.min(...sides.map((side) => side.model.first - zeroOf(side)));
    const to = Math.max(...sides.map((side) => side.model.last - zeroOf(side)));
    const margin = (to - from) * 0.01;
    return { from: from - margin, to: to + margin };
}

function bounded(window: Window, whole: Window): Window {
    const all = whole.to - whole.from;
    const length = Math.max(Math.min(100, all), Math.min(window.to - window.from, all));
    const middle = (window.from + window.to) / 2;
    const from = Math.max(whole.from, Math.min(middle - length / 2, whole.to - length));
    return { from, to: from + length };
}

function tipOf({ lane, first, last }: Hit, { model, view }: Side): string[] {
    if (lane.kind === LaneKind.Off)
        return ["off the CPU", time(lane.busyBefore[last + 1] - lane.busyBefore[first])];
    const calls = lane.countBefore[last + 1] - lane.countBefore[first];
    if (lane.kind === LaneKind.States)
        return ["states of the thread"];
    const name = named(model.names[lane.name[first]].name, 120);
    const begins = lane.start[first] - (view.zero ?? 0);
    const request = model.threads[lane.thread].track === Track.Requests && calls === 1 ? `request ${lane.off[first]}, ` : "";
    return [calls > 1 ? `${count(calls)} together, mostly ${name}` : name, time(lane.length[first]),
        `${request}from ${begins < 0 ? "" : "+"}${at(begins)}`];
}

interface Drag { x: number; y: number; window: Window; scroll: number; isMoved: boolean }

export function AlignedPanel({ shared, base, model }: { shared: Shared; base: Model; model: Model }): VNode {
    const { compared, palette, data } = shared;
    const { keys } = useMemo(() => aligned(base, model), [base, model]);
    const key = keys.has(compared.key) ? compared.key : keys.keys().next().value ?? "";
    const lists = useMemo(() => [callsOf(base, key), callsOf(model, key)], [base, model, key]);
    const drawn = useMemo(() => ([["base", base], ["new", model]] as const).map(([title, of]) => {
        const painter = new Painter();
        const view = new TimelineView(of, palette);
        painter.drawing = view;
        return { title, model: of, view, painter };
    }), [base, model, palette]);
    const sides = drawn.map((each, index): Side => {
        const calls = lists[index];
        return { ...each, calls, call: calls.at(Math.min(compared.numbers[index], calls.length - 1)) ?? null };
    });
    const numbers = sides.map(({ call, calls }) => call === null ? 0 : calls.indexOf(call));
    const whole = wholeOf(sides);
    const [chosen, setWindow] = useState<Window | null>(null);
    const shown = bounded(chosen ?? whole, whole);
    const [tip, setTip] = useState<{ at: { x: number; y: number }; lines: string[] } | null>(null);
    const drag = useRef<Drag | null>(null);
    const pointer = useRef<number | null>(null);

    for (const side of sides) {
        side.view.zero = zeroOf(side);
        side.view.selected = side.call;
        side.view.window = { from: side.view.zero + shown.from, to: side.view.zero + shown.to };
        side.painter.ask();
    }
    useEffect(() => {
        for (const { view, call, painter } of sides) {
            // Unfolds and scrolls to the chosen row, which is otherwise not visible.
            const { window } = view;
            if (call !== null)
                view.reveal(call.lane, call.index, false);
            view.window = window;
            painter.ask();
        }
    }, [key, ...numbers, drawn]);

    const zoom = (factor: number, middle: number): void => {
        setWindow(bounded({ from: middle - (middle - shown.from) * factor, to: middle + (shown.to - middle) * factor }, whole));
    };
    const pan = (ns: number): void => { setWindow(bounded({ from: shown.from + ns, to: shown.to + ns }, whole)); };
    /** Zooms to the longer of the chosen calls. */
    const closeUp = (): void => {
        const length = Math.max(50, ...sides.map(({ call }) => call?.length ?? 0));
        setWindow(bounded({ from: -length * 0.5, to: length * 1.5 }, whole));
    };
    const choose = (index: number, to: number): void => {
        const next: [number, number] = [numbers[0], numbers[1]];
        next[index] = Math.max(0, Math.min(to, lists[index].length - 1));
        shared.setCompared({ key, numbers: next });
    };
    const isChoice = ({ lane, first, last }: Hit, { threads }: Model): boolean => first === last && (lane.kind === LaneKind.Calls || lane.kind === LaneKind.Blocks ||
        threads[lane.thread].track === Track.Requests);
    /** The other side gets the call with the same number, unless it already shows a call of this
     * function. */
    const chooseCall = (index: number, hit: Hit): void => {
        const call = callAt(hit.lane, hit.first);
        const other = keyAt(sides[index].model, call);
        const number = callsOf(sides[index].model, other).findIndex((each) => each.lane === call.lane && each.index === call.index);
        if (number < 0 || !keys.has(other))
            return;
        if (other === key)
            choose(index, number);
        else
            shared.setCompared({ key: other, numbers: [number, number] });
    };

    const onWheel = ({ view }: Side, event: WheelEvent): void => {
        const unit = event.deltaMode === 1 ? 16 : 1;
        setTip(null);
        if (event.offsetX < view.gutter && !event.ctrlKey) {
            view.scrollTo(view.scroll + event.deltaY * unit);
            setWindow(shown);
        } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            pan((event.deltaX + (event.shiftKey ? event.deltaY : 0)) * unit * view.columnNs);
        } else {
            zoom(Math.exp(Math.max(-120, Math.min(event.deltaY * unit, 120)) * 0.003), view.timeAt(event.offsetX) - (view.zero ?? 0));
        }
    };
    const onPointerDown = ({ view }: Side, event: PointerEvent): void => {
        if (event.button !== 0)
            return;
        (event.currentTarget as HTMLElement).focus({ preventScroll: true });
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        drag.current = { x: event.offsetX, y: event.offsetY, window: shown, scroll: view.scroll, isMoved: false };
    };
    const onPointerMove = (side: Side, event: PointerEvent): void => {
        const { view, painter } = side;
        const from = drag.current;
        pointer.current = event.offsetX >= view.gutter ? view.timeAt(event.offsetX) - (view.zero ?? 0) : null;
        if (from === null) {
            view.hovered = view.hit(event.offsetX, event.offsetY);
            setTip(view.hovered === null ? null : { at: { x: event.clientX, y: event.clientY }, lines: tipOf(view.hovered, side) });
            painter.ask();
            return;
        }
        if (!from.isMoved && Math.abs(event.offsetX - from.x) + Math.abs(event.offsetY - from.y) < 4)
            return;
        from.isMoved = true;
        setTip(null);
        view.scrollTo(from.scroll + from.y - event.offsetY);
        const ns = (from.x - event.offsetX) * view.columnNs;
        setWindow(bounded({ from: from.window.from + ns, to: from.window.to + ns }, whole));
    };
    const onPointerUp = (index: number, event: PointerEvent): void => {
        const from = drag.current;
        const { view, painter } = sides[index];
        drag.current = null;
        if (from === null || from.isMoved)
            return;
        const more = view.moreAt(event.offsetY);
        const hit = view.hit(event.offsetX, event.offsetY);
        const thread = view.threadAt(event.offsetY);
        if (more !== null)
            view.extend(more);
        else if (event.offsetX < view.gutter && thread !== null)
            view.fold(thread.place);
        else if (hit !== null && isChoice(hit, sides[index].model))
            chooseCall(index, hit);
        painter.ask();
    };
    const onKeyDown = (index: number, event: KeyboardEvent): void => {
        if (event.ctrlKey || event.metaKey || event.altKey)
            return;
        const length = shown.to - shown.from;
        const middle = pointer.current ?? (shown.from + shown.to) / 2;
        const left = (): void => { pan(-length / 8); };
        const right = (): void => { pan(length / 8); };
        const closer = (): void => { zoom(1 / 1.5, middle); };
        const further = (): void => { zoom(1.5, middle); };
        const all = (): void => { setWindow(null); };
        const actions: Record<string, (() => void) | undefined> = {
            "ArrowLeft": left, "a": left, "ArrowRight": right, "d": right, "+": closer, "=": closer, "w": closer,
            "-": further, "s": further, "Home": all, "0": all, "f": closeUp, "Enter": closeUp,
            ",": () => { choose(index, numbers[index] - 1); }, ".": () => { choose(index, numbers[index] + 1); },
        };
        const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (action === undefined)
            return;
        event.preventDefault();
        event.stopPropagation();
        action();
    };

    const merged = (data.base_timeline?.together ?? 0) + data.timeline.together;
    const listed = [...[...keys].filter(([each]) => !isRequest(each)).slice(0, LISTED), ...[...keys].filter(([each]) => isRequest(each)).slice(0, LISTED)];
    if (keys.has(key) && !listed.some(([each]) => each === key))
        listed.push([key, keys.get(key) ?? ""]);
    const groups = ([["Functions and blocks", false], ["Requests", true]] as const)
        .map(([title, areRequests]) => ({ title, names: listed.filter(([each]) => isRequest(each) === areRequests) })).filter(({ names }) => names.length > 0);
    const noun = isRequest(key) ? "request" : "call";
    return (
        <>
            <div class="tools">
                <button type="button" title="Zoom in (+)" onClick={() => { zoom(1 / 2, (shown.from + shown.to) / 2); }}>+</button>
                <button type="button" title="Zoom out (-)" onClick={() => { zoom(2, (shown.from + shown.to) / 2); }}>−</button>
                <button type="button" title="All (Home)" onClick={() => { setWindow(null); }}>All</button>
                {keys.size > 0 && <button type="button" title={`Zoom to the chosen ${noun}s (f)`} onClick={closeUp}>{noun === "call" ? "Calls" : "Requests"}</button>}
                {keys.size > 0 && (
                    <label class="field">Zero at
                        <select aria-label="Function, block or request" value={key} onChange={(event) => { shared.setCompared({ key: event.currentTarget.value, numbers: [0, 0] }); }}>
                            {groups.map(({ title, names }) => (
                                <optgroup key={title} label={title}>
                                    {names.map(([each, name]) => <option key={each} value={each}>{named(name, 80)}</option>)}
                                </optgroup>))}
                        </select>
                    </label>)}
                {keys.size > 0 && sides.map(({ title, calls }, index) => (
                    <label key={title} class="field">{title} {noun}
                        <input type="number" min={1} max={calls.length} value={numbers[index] + 1} aria-label={`Number of the ${noun}, ${title}`}
                            onChange={(event) => { choose(index, Math.round(Number(event.currentTarget.value)) - 1); }} /> of {count(calls.length)}
                    </label>))}
            </div>
            {sides.map((side, index) => (
                <div key={side.title} class="stage" data-side={side.title} data-zero={side.view.zero} data-from={side.view.window.from} data-to={side.view.window.to}>
                    <span class={`side of-${side.title}`}>{side.title}</span>
                    <Canvas painter={side.painter} label={`Timeline, ${side.title}. Arrows move, plus and minus zoom both, comma and full stop choose the previous or next ${noun}.`}
                        onWheel={(event) => { onWheel(side, event); }} onPointerDown={(event) => { onPointerDown(side, event); }}
                        onPointerMove={(event) => { onPointerMove(side, event); }} onPointerUp={(event) => { onPointerUp(index, event); }}
                        onPointerLeave={() => { side.view.hovered = null; pointer.current = null; setTip(null); side.painter.ask(); }}
                        onKeyDown={(event) => { onKeyDown(index, event); }} />
                </div>))}
            <p class="status" role="status">
                {keys.size === 0 ? "No function, block or request is in both timelines: time counts from the first record."
                    : `Time counts from the beginning of the chosen ${noun} of each side. Click a call, a block or a request to choose it.`}
                {merged > 0 && ` ${counted(merged, "call is", "calls are")} merged with others, which have no number.`}
            </p>
            {tip !== null && <Tip {...tip} />}
        </>
    );
}
