/* The timeline with its controls: wheel, drag, keys, search. */
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Canvas, Painter, Tip } from "./canvas";
import { commandFor } from "./command";
import { at, count, counted, percent, time } from "./format";
import { Kind } from "./data";
import { before, LaneKind, type Lane, spansIn, type Thread, Track } from "./lanes";
import { hasPath, pathOf } from "./path";
import type { Live } from "./live";
import { causeOf, stateTip } from "./states";
import { rangeOfHash, remember, restore } from "./place";
import { matcher, type Shared, signatureOf } from "./state";
import { isolated, short } from "./text";
import { type Hit, levelOf, nextMatch, type Order, TimelineView, titleOf } from "./timeline";
import { TracksDialog } from "./tracks_dialog";

/** Controls for parts of the page outside the timeline. */
export interface TimelineHandle {
    reveal: (lane: Lane, index: number) => void;
    /** Finds the next or previous match of the search. */
    step: (isBackwards: boolean) => void;
    /** Handles a key pressed anywhere on the page. */
    key: (event: KeyboardEvent) => void;
    /** Zooms to the selected range. */
    showRange: () => void;
    showTime: (thread: Thread, from: number, to: number) => void;
}

/** The view before the tab or the theme changed, by index of the thread; -1: all threads. */
const lasts = new Map<number, TimelineView>();

function tipOf(hit: Hit, shared: Shared): string[] {
    const { lane, first, last: end } = hit;
    const calls = lane.countBefore[end + 1] - lane.countBefore[first];
    const busy = lane.busyBefore[end + 1] - lane.busyBefore[first];
    if (lane.kind === LaneKind.Off)
        return ["off the CPU", `${time(busy)} of ${time(lane.start[end] + lane.length[end] - lane.start[first])}`];
    if (lane.kind === LaneKind.States)
        return stateTip(shared.model, lane, first, end);
    const { name, kind } = shared.model.names[lane.name[first]];
    const track = shared.model.threads[lane.thread];
    if (track.track === Track.Queue)
        return [`${titleOf(track, false)}: ${levelText(levelOf(lane, first))}`, `from ${at(lane.start[first])}, for ${time(lane.length[first])}`];
    if (calls > 1)
        return [`${count(calls)} together, mostly ${isolated(short(name, 80))}`, lane.kind === LaneKind.Marks ? "" : `${time(busy)} inside them`];
    if (track.track === Track.Requests)
        return [isolated(short(name, 120)), time(lane.length[first]), `request ${lane.off[first]}, from ${at(lane.start[first])}`];
    if (track.track === Track.Lock)
        return [`${titleOf(track, false)}: ${isolated(short(name, 100))} ${kind === Kind.Holder ? "holds it" : "waits for it"}`, time(lane.length[first]), `from ${at(lane.start[first])}`];
    const values = lane.values[first] > 0 ? shared.data.timeline.values[lane.values[first] - 1] : null;
    if (lane.kind === LaneKind.Marks)
        return [isolated(short(name, 120)), short(values?.[0] ?? "", 160), `at ${at(lane.start[first])}`];
    const off = lane.off[first];
    const whole = lane.whole.get(first);
    return [
        isolated(short(signatureOf(shared, lane.name[first]) || name, 160)),
        `${time(whole ?? lane.length[first])}${whole !== undefined ? ", began before this page" : ""}${off > 0 ? `, off the CPU ${time(off)} (${percent(off / (whole ?? lane.length[first]))})` : ""}`,
        values?.[0] != null ? short(values[0], 160) : "",
        values?.[1] != null ? `returned ${short(values[1], 120)}` : "",
    ];
}

function levelText(level: number): string {
    return Number.isInteger(level) ? count(level) : `${level.toFixed(1)} on average`;
}

/** Explains why spans are still merged, and what helps. */
function hintOf(live: Live, isServed: boolean): string {
    if (live.isReading)
        return "reading shorter ones";
    if (live.failure !== null)
        return live.failure;
    if (live.isFull)
        return "too many records in this window to show each; zoom in";
    return isServed ? "zoom in to see each" : "zoom in for shorter ones, as far as there are tiles";
}

/** The number of visible calls, how many of them are merged, and why. */
function statusOf(view: TimelineView, shared: Shared): Status {
    const { timeline } = shared.data;
    const { calls, blocks, marks, together, merged, hidden } = view.drawn;
    const kinds = [calls > 0 || blocks + marks === 0 ? counted(calls, "call") : "", blocks > 0 ? counted(blocks, "block") : "", marks > 0 ? counted(marks, "mark") : ""];
    const texts = [`${kinds.filter((text) => text !== "").join(", ")} in view`];
    if (hidden > 0)
        texts.push(`${count(hidden)} deeper`);
    if (together > 0)
        texts.push(`${count(together)} of them drawn together: a column is ${time(view.columnNs)}`);
    const short = calls === 0 && blocks > 0 ? "blocks" : "calls";
    // Spans within the same nanosecond cannot be separated on any page.
    const isFinest = timeline.unit_ns <= 1;
    if (merged > 0 && isFinest)
        texts.push(`${count(merged)} share a nanosecond with another (hatched)`);
    else if (merged > 0 && shared.live !== null)
        texts.push(`${count(merged)} are merged (hatched), as ${short} shorter than ${time(shared.live.unitShown)} are: ${hintOf(shared.live, shared.data.served)}`);
    else if (shared.live?.isFull === true || (shared.live !== null && shared.live.failure !== null))
        texts.push(`${short} shorter than ${time(shared.live.unitShown)} may be merged: ${hintOf(shared.live, shared.data.served)}`);
    else if (merged > 0)
        texts.push(`${count(merged)} were merged when the page was written (hatched): ${short} shorter than ${time(timeline.unit_ns)}`);
    else if (timeline.together > 0 && shared.live !== null)
        texts.push(`every visible ${short.slice(0, -1)} is shown, as in the trace`);
    else if (timeline.together > 0)
        texts.push(`every visible ${short.slice(0, -1)} is in this page`);
    if (timeline.too_deep > 0)
        texts.push(`${counted(timeline.too_deep, "call is", "calls are")} nested too deep to be shown`);
    if (timeline.objects_beyond > 0)
        texts.push(`${counted(timeline.objects_beyond, "hit", "hits")} of locks and queues beyond the number that is shown`);
    const lost = shared.data.messages?.beyond ?? 0;
    if (lost > 0)
        texts.push(`${counted(lost, "message")} without an arrow`);
    if (timeline.requests_beyond > 0)
        texts.push(`${counted(timeline.requests_beyond, "request")} without a row`);
    if (timeline.threads_beyond > 0)
        texts.push(`${counted(timeline.threads_beyond, "more thread is", "more threads are")} not shown`);
    if (merged === 0 || isFinest || shared.live !== null)
        return { text: texts.join(" · "), command: null, isTooMuch: false };
    const tid = view.only?.tid ?? null;
    const command = commandFor(shared.data, shared.model, view.window, spansIn(shared.model, view.window.from, view.window.to), tid);
    return { text: texts.join(" · "), command, isTooMuch: command === null };
}

interface Status { text: string; command: string | null; isTooMuch: boolean }

/** A command line to copy. */
function Command({ text }: { text: string }): VNode {
    const [isCopied, setCopied] = useState(false);
    const code = useRef<HTMLElement>(null);
    useEffect(() => { setCopied(false); }, [text]);
    const copy = (): void => {
        // A page opened from a file may have no clipboard: the text is selected so that it can be
        // copied manually.
        const select = (): void => { if (code.current !== null) getSelection()?.selectAllChildren(code.current); };
        const clipboard = navigator.clipboard as Clipboard | undefined;
        select();
        clipboard?.writeText(text).then(() => { setCopied(true); }, select);
    };
    return (
        <span class="command">
            <span>In full:</span> <code ref={code}>{text}</code> <button type="button" onClick={copy}>{isCopied ? "Copied" : "Copy"}</button>
        </span>
    );
}

interface Drag {
    x: number;
    y: number;
    scroll: number;
    from: number;
    to: number;
    isRange: boolean;
    /** The thread that is being moved. */
    thread: Thread | null;
    isMoved: boolean;
}

/** only: shows one thread, as a flame graph in time order; children: additional controls. */
export function TimelinePanel({ shared, handle, only = null, children }: {
    shared: Shared;
    handle?: { current: TimelineHandle | null };
    only?: Thread | null;
    children?: ComponentChildren;
}): VNode {
    const painter = useMemo(() => new Painter(), []);
    const view = useMemo(() => {
        const made = new TimelineView(shared.model, shared.palette, only);
        const last = lasts.get(only?.place ?? -1);
        if (last !== undefined)
            made.adopt(last);
        else if (only === null)
            restore(made, shared.model);
        lasts.set(only?.place ?? -1, made);
        painter.drawing = made;
        return made;
    }, [shared.model, shared.palette, painter, only]);
    const lanes = useMemo(() => only === null ? shared.model.lanes : only.calls, [shared.model, only]);
    const [status, setStatus] = useState<Status>({ text: "", command: null, isTooMuch: false });
    const [tip, setTip] = useState<{ at: { x: number; y: number }; lines: string[] } | null>(null);
    const [place, setPlace] = useState({ scroll: 0, scrollMax: 0, from: view.window.from, to: view.window.to });
    const drag = useRef<Drag | null>(null);
    const pointer = useRef<number | null>(null);
    const row = useRef(0);
    const [isListing, setListing] = useState(false);
    const address = useRef(0);

    const refresh = (): void => {
        painter.ask();
        // Browsers limit how often an address may be changed.
        clearTimeout(address.current);
        if (only === null)
            address.current = window.setTimeout(() => { if (location.hash.startsWith("#timeline")) remember(view); }, 250);
        shared.live?.want(view.window, view.columnNs);
        requestAnimationFrame(() => {
            setStatus(statusOf(view, shared));
            setPlace({ scroll: view.scroll, scrollMax: view.scrollMax, ...view.window });
        });
    };
    const choose = (lane: Lane, index: number, end: number): void => {
        view.selected = { lane, index };
        shared.select({ of: "span", lane, index, last: end });
        refresh();
    };
    /** null: none. */
    const chooseRange = (range: { from: number; to: number } | null): void => {
        const chosen = range === null ? null : {
            from: Math.max(view.all.from, Math.round(Math.min(range.from, range.to))),
            to: Math.min(view.all.to, Math.round(Math.max(range.from, range.to))),
        };
        view.selected = null;
        view.range = chosen !== null && chosen.to > chosen.from ? chosen : null;
        shared.setRange(view.range);
        shared.select(view.range === null ? null : { of: "range", range: view.range });
        refresh();
    };

    // When spans are replaced, the index of the selected one changes.
    useEffect(() => {
        const { live } = shared;
        if (live === null)
            return;
        live.hold = () => {
            const { selected } = view;
            const start = selected === null ? 0 : selected.lane.start[selected.index];
            view.hovered = null;
            return () => {
                if (selected !== null) {
                    const index = Math.max(0, before(selected.lane, start + 0.5) - 1);
                    view.selected = { lane: selected.lane, index };
                    if (shared.selection?.of === "span")
                        shared.select({ of: "span", lane: selected.lane, index, last: index });
                }
                refresh();
            };
        };
        return () => { live.hold = null; };
    });

    const reveal = (lane: Lane, index: number): void => {
        view.reveal(lane, index, false);
        choose(lane, index, index);
    };
    const isFirst = useRef(only === null);
    if (drag.current === null)
        view.range = shared.range;
    useEffect(refresh, [shared.range, view]);

    const isMatch = useMemo(() => matcher(shared.query), [shared.query]);
    const matches = useMemo(() => isMatch === null ? null
        : Uint8Array.from(shared.model.names, (name) => isMatch(name.name) ? 1 : 0), [isMatch, shared.model]);
    view.matches = matches;
    view.path = only === null ? shared.path : null;
    useEffect(refresh, [shared.path, view]);
    useEffect(refresh, [matches, view]);
    useEffect(() => {
        if (isFirst.current) {
            isFirst.current = false;
            if (shared.selection === null && view.selected === null && view.range !== null)
                chooseRange(view.range);
            else if (shared.selection === null && view.selected !== null)
                reveal(view.selected.lane, view.selected.index);
            return;
        }
        if (shared.selection === null && view.selected !== null) {
            view.selected = null;
            refresh();
        }
    }, [shared.selection]);

    const step = (backwards: boolean): void => {
        const found = matches === null ? null : nextMatch(lanes, matches, view.selected, backwards);
        if (found === null)
            return;
        view.reveal(found.lane, found.index, false);
        choose(found.lane, found.index, found.index);
    };

    const onWheel = (event: WheelEvent): void => {
        const unit = event.deltaMode === 1 ? 16 : 1;
        if (event.offsetX < view.gutter && !event.ctrlKey) {
            view.scrollTo(view.scroll + event.deltaY * unit);
        } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            view.pan((event.deltaX + (event.shiftKey ? event.deltaY : 0)) * unit * view.columnNs);
        } else {
            view.zoom(Math.exp(Math.max(-120, Math.min(event.deltaY * unit, 120)) * 0.003), view.timeAt(event.offsetX));
        }
        setTip(null);
        refresh();
    };
    const onPointerDown = (event: PointerEvent): void => {
        if (event.button !== 0)
            return;
        (event.currentTarget as HTMLElement).focus({ preventScroll: true });
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        drag.current = { x: event.offsetX, y: event.offsetY, scroll: view.scroll, from: view.window.from, to: view.window.to, isRange: event.shiftKey, isMoved: false,
            thread: only === null && event.offsetX < view.gutter && event.pointerType !== "touch" ? view.threadAt(event.offsetY) : null };
    };
    const onPointerMove = (event: PointerEvent): void => {
        const from = drag.current;
        pointer.current = event.offsetX;
        row.current = event.offsetY;
        if (from === null) {
            view.hovered = view.hit(event.offsetX, event.offsetY);
            const plot = view.hovered === null ? view.plotAt(event.offsetX, event.offsetY) : null;
            setTip(plot !== null ? { at: { x: event.clientX, y: event.clientY }, lines: plot } : view.hovered === null ? null
                : { at: { x: event.clientX, y: event.clientY }, lines: tipOf(view.hovered, shared).filter((line) => line !== "") });
            painter.ask();
            return;
        }
        if (!from.isMoved && Math.abs(event.offsetX - from.x) + Math.abs(event.offsetY - from.y) < 4)
            return;
        from.isMoved = true;
        setTip(null);
        if (from.thread !== null) {
            view.drop = view.dropAt(event.offsetY)?.edge ?? null;
        } else if (from.isRange) {
            view.range = { from: view.timeAt(from.x), to: view.timeAt(event.offsetX) };
        } else {
            const ns = (from.x - event.offsetX) * view.columnNs;
            view.show(from.from + ns, from.to + ns);
            view.scrollTo(from.scroll + from.y - event.offsetY);
        }
        refresh();
    };
    const onPointerUp = (event: PointerEvent): void => {
        const from = drag.current;
        drag.current = null;
        if (from === null)
            return;
        const more = view.moreAt(event.offsetY);
        view.drop = null;
        if (from.thread !== null && from.isMoved) {
            const to = view.dropAt(event.offsetY);
            if (to !== null)
                view.move(from.thread.place, to.thread.place, to.isAfter);
        } else if (from.isRange && from.isMoved) {
            chooseRange(view.range);
        } else if (!from.isMoved && more !== null) {
            view.extend(more);
        } else if (!from.isMoved && event.offsetX < view.gutter) {
            view.fold(view.threadAt(event.offsetY)?.place ?? 0);
        } else if (!from.isMoved) {
            const hit = view.hit(event.offsetX, event.offsetY);
            if (hit !== null) {
                choose(hit.lane, hit.first, hit.last);
            } else {
                view.selected = null;
                shared.select(null);
            }
        }
        refresh();
    };
    const move = (by: number): void => {
        const { selected } = view;
        if (selected === null)
            return;
        const index = selected.index + by;
        if (index < 0 || index >= selected.lane.size)
            return;
        view.reveal(selected.lane, index, false);
        choose(selected.lane, index, index);
    };
    /** Up to the caller, or down to the first callee. */
    const climb = (by: number): void => {
        const { selected } = view;
        if (selected === null)
            return;
        const lane = shared.model.threads[selected.lane.thread].calls.find((each) => each.depth === selected.lane.depth + by);
        if (lane === undefined)
            return;
        const start = selected.lane.start[selected.index];
        let index = 0;
        while (index + 1 < lane.size && (by < 0 ? lane.start[index + 1] <= start : lane.start[index] < start))
            index++;
        view.reveal(lane, index, false);
        choose(lane, index, index);
    };
    /** Shows the critical path of the selected span, or none. */
    const togglePath = (): void => {
        const { selected } = view;
        const isShown = shared.path !== null && shared.path.lane === selected?.lane && shared.path.start === selected.lane.start[selected.index];
        shared.setPath(selected === null || isShown || !hasPath(shared.model, selected.lane, selected.index) ? null
            : pathOf(shared.model, selected.lane, selected.index, shared.data.waits?.least_ns ?? 0));
    };
    /** From a blocked state, goes to what it was blocked on; otherwise zooms to the selection. */
    const enter = (): void => {
        const { selected } = view;
        const cause = selected === null ? null : causeOf(shared.model, selected.lane, selected.index);
        if (cause !== null)
            reveal(cause.lane, cause.index);
        else if (selected !== null)
            view.reveal(selected.lane, selected.index, true);
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        if (event.ctrlKey || event.metaKey || event.altKey)
            return;
        const length = view.window.to - view.window.from;
        // As in other viewers, keys zoom around the pointer.
        const middle = pointer.current !== null && pointer.current > view.gutter ? view.timeAt(pointer.current) : (view.window.from + view.window.to) / 2;
        // The thread under the pointer, or else that of the selected span.
        const thread = pointer.current !== null ? view.threadAt(row.current) : view.selected === null ? null : shared.model.threads[view.selected.lane.thread];
        if (event.shiftKey && thread !== null && only === null && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
            event.preventDefault();
            view.moveBy(thread.place, event.key === "ArrowUp" ? -1 : 1);
            refresh();
            return;
        }
        const actions: Record<string, (() => void) | undefined> = {
            "ArrowLeft": () => { view.pan(-length / 8); }, "a": () => { view.pan(-length / 8); },
            "ArrowRight": () => { view.pan(length / 8); }, "d": () => { view.pan(length / 8); },
            "+": () => { view.zoom(1 / 1.5, middle); }, "=": () => { view.zoom(1 / 1.5, middle); }, "w": () => { view.zoom(1 / 1.5, middle); },
            "-": () => { view.zoom(1.5, middle); }, "s": () => { view.zoom(1.5, middle); },
            "ArrowUp": () => { view.scrollTo(view.scroll - 54); }, "ArrowDown": () => { view.scrollTo(view.scroll + 54); },
            "PageUp": () => { view.scrollTo(view.scroll - view.height); }, "PageDown": () => { view.scrollTo(view.scroll + view.height); },
            "Home": () => { view.showAll(); }, "0": () => { view.showAll(); },
            "End": () => { view.pan(view.all.to); },
            ",": () => { move(-1); }, ".": () => { move(1); }, "[": () => { climb(-1); }, "]": () => { climb(1); },
            "g": () => { view.showStretch(); }, "n": () => { step(false); }, "p": () => { step(true); }, "c": () => { view.foldAll(); },
            "t": () => { if (thread !== null && only === null) view.pin(thread.place); },
            "l": () => { if (only === null) setListing(true); },
            "v": () => { if (view.selected !== null) view.fold(view.selected.lane.thread); },
            "m": () => { chooseRange(view.selected === null ? view.window : { from: view.selected.lane.start[view.selected.index], to: view.selected.lane.start[view.selected.index] + view.selected.lane.length[view.selected.index] }); },
            "r": () => { if (view.range !== null) view.show(view.range.from, view.range.to); },
            "f": () => { if (view.selected !== null) view.reveal(view.selected.lane, view.selected.index, true); },
            "Enter": enter, "k": togglePath,
            "Escape": () => {
                shared.setRange(null);
                shared.setPath(null);
                shared.select(null);
                if (only !== null)
                    view.showAll();
            },
        };
        const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (action === undefined)
            return;
        event.preventDefault();
        event.stopPropagation();
        // What was under the pointer may be elsewhere afterwards.
        view.hovered = null;
        setTip(null);
        action();
        refresh();
    };

    if (handle !== undefined) {
        handle.current = {
            reveal, step,
            key: onKeyDown,
            showTime: (thread, from, to) => { view.showTime(thread, from, to); refresh(); },
            showRange: () => { if (view.range !== null) view.show(view.range.from, view.range.to); refresh(); },
        };
    }
    useEffect(() => {
        const onHash = (): void => {
            if (only !== null || !location.hash.startsWith("#timeline"))
                return;
            const span = restore(view, shared.model);
            const range = rangeOfHash(shared.model);
            if (range !== null)
                chooseRange(range);
            else if (span !== null)
                reveal(span.lane, span.index);
            refresh();
        };
        addEventListener("hashchange", onHash);
        return () => {
            removeEventListener("hashchange", onHash);
            clearTimeout(address.current);
        };
    }, [view]);

    const hasStates = shared.model.real.some(({ states }) => states !== null);
    const found = matches?.reduce((sum, each) => sum + each, 0) ?? 0;
    if (shared.model.lanes.length === 0) {
        return <p class="none">No record of a call or a probe is in this trace{shared.data.info.some((info) => info.profile)
            ? ": it was recorded in profile mode, which counts calls and has no time stamps. The counts are in the table of functions." : "."}</p>;
    }
    return (
        <div class="drawn">
            <div class="tools">
                {children}
                <button type="button" title="Zoom in (+)" onClick={() => { view.zoom(1 / 2, (view.window.from + view.window.to) / 2); refresh(); }}>+</button>
                <button type="button" title="Zoom out (-)" onClick={() => { view.zoom(2, (view.window.from + view.window.to) / 2); refresh(); }}>−</button>
                <button type="button" title="All (Home)" onClick={() => { view.showAll(); refresh(); }}>All</button>
                {only === null && <button type="button" title="Collapse or expand all threads (c); click a name to collapse one" onClick={() => { view.foldAll(); refresh(); }}>{view.isAnyFolded ? "Expand" : "Collapse"}</button>}
                {only === null && <button type="button" title="Statistics of what is in view (m); or drag over a range with Shift" onClick={() => { chooseRange(view.window); }}>Statistics</button>}
                {only === null && shared.model.real.length > 1 && (
                    <>
                        <label class="field"><span class="wide">Order</span>
                            <select aria-label="Order of threads" value={view.layout.order} onChange={(event) => { view.layout.order = event.currentTarget.value as Order; view.arrange(); refresh(); }}>
                                <option value="first">by first record</option>
                                <option value="activity">by activity</option>
                                <option value="name">by name</option>
                                {view.layout.own.length > 0 && <option value="own">as moved</option>}
                            </select>
                        </label>
                        <label class="field"><input type="search" size={8} placeholder="Threads" aria-label="Only threads with this in name or id" value={view.layout.filter}
                            onInput={(event) => { view.layout.filter = event.currentTarget.value; view.arrange(); refresh(); }} /></label>
                    </>)}
                {only === null && <button type="button" aria-haspopup="dialog" title="Pin, move and limit tracks (l)" onClick={() => { setListing(true); }}>Tracks</button>}
                {shared.model.stretches.length > 0 && <button type="button" title="Next interval in which this page has every call: blue below the ruler (g)"
                    onClick={() => { view.showStretch(); refresh(); }}>Next in full</button>}
                {matches !== null && (
                    <span class="found">
                        <button type="button" disabled={found === 0} onClick={() => { step(true); }}>Previous</button>
                        <button type="button" disabled={found === 0} onClick={() => { step(false); }}>Next</button>
                        {` ${count(found)} ${found === 1 ? "name matches" : "names match"}`}
                    </span>)}
                <span class={hasStates ? "legend of-states" : "legend"}>
                    {hasStates
                        ? <><i class="running" /> running <i class="runnable" /> waiting for a CPU <i class="blocked" /> blocked</>
                        : <><i class="on" /> on the CPU <i class="off" /> off it</>}
                    <span class="merged"> <i class="hatched" /> several together, or waiting</span>
                </span>
            </div>
            <div class="stage" data-from={place.from} data-to={place.to} data-spans={shared.live?.shows ?? "page"} data-unit={shared.live?.unitShown} data-rows={shared.live?.rowsShown ?? "page"} data-hosts={view.shownHosts.join(" ")} data-messages={view.shownMessages.length} data-arrows={view.shownArrows.map(({ from, to }) => `${from.thread.tid}-${to.thread.tid}`).join(" ")}
                data-wakes={view.shownWakes.map(({ from, to }) => `${from.tid}-${to.tid}`).join(" ")} data-path={shared.path?.parts.length ?? 0} data-order={only === null ? view.shown().map((thread) => thread.place).join(" ") : ""} data-pinned={[...view.layout.pinned].join(" ")}>
                <Canvas painter={painter} label={`${only === null ? "Timeline" : "Flame graph in order of time"}. Arrows move, plus and minus zoom, comma and full stop go from call to call, Enter zooms to the one selected.`}
                    onWheel={onWheel} onPointerDown={onPointerDown} onPointerMove={onPointerMove} onPointerUp={onPointerUp}
                    onPointerLeave={() => { view.hovered = null; pointer.current = null; setTip(null); painter.ask(); }}
                    onDblClick={() => { if (view.selected !== null) view.reveal(view.selected.lane, view.selected.index, true); refresh(); }}
                    onKeyDown={onKeyDown} />
                {place.scrollMax > 0 && <input class="scroll" type="range" min={0} max={place.scrollMax} value={place.scroll} aria-label="Scroll threads"
                    onInput={(event) => { view.scrollTo(Number(event.currentTarget.value)); refresh(); }} />}
            </div>
            <p class="status">
                <span role="status">{status.text}</span>
                {status.isTooMuch && " · too many for one page: zoom in for the command that shows each"}
                {status.command !== null && <Command text={status.command} />}
            </p>
            {tip !== null && <Tip {...tip} />}
            {isListing && <TracksDialog view={view} refresh={refresh} onClose={() => { setListing(false); }} />}
        </div>
    );
}
