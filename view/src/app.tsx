/* The frame of the page: tabs, search, help, and the panel with details of the selection. */
import { Component, type ComponentChildren, type VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { BlocksPanel } from "./blocks_panel";
import { Palette, readTheme } from "./color";
import { type Data, titleOf } from "./data";
import { Details } from "./details";
import { DiffPanel } from "./diff_panel";
import { FlamePanel } from "./flame_panel";
import { FunctionsPanel } from "./functions_panel";
import { before, type Lane, type Model, type Thread } from "./lanes";
import { Live } from "./live";
import { OverviewPanel } from "./overview_panel";
import { type CriticalPath, pathOf } from "./path";
import { hashOf, rangeOfHash } from "./place";
import { RangeBar } from "./range_bar";
import { type Ranged, rangedOf } from "./ranged";
import { type ComparedState, everything, firstTab, type FlameState, type Selection, type Shared, type Tab, tabsOf } from "./state";
import { isolated, short } from "./text";
import type { Window } from "./timeline";
import { type TimelineHandle, TimelinePanel } from "./timeline_panel";

const keys: readonly [string, string][] = [
    ["1, 2 …", "the parts of this page"],
    ["/", "search names (all words must match); Escape clears the search"],
    ["Wheel", "timeline: zoom at the pointer; over the names: scroll"],
    ["Shift + wheel, drag", "timeline: pan"],
    ["Shift + drag, M", "timeline: statistics of a range; of the selected span, or of the view"],
    ["R", "timeline: zoom to the selected range"],
    ["W S, A D, arrows, + −", "timeline: zoom at the pointer, pan"],
    [", . and [ ]", "timeline: previous and next call; caller, first callee"],
    ["Enter in the search field, N, P", "timeline: next (Shift: previous) match"],
    ["Enter, F, double click", "zoom to the selection"],
    ["Arrows, Backspace", "flame graph: caller, callee, neighbors; one level out"],
    ["K", "timeline: critical path of the selected call, block or request"],
    ["Enter", "in a blocked state: jump to the thread that held the lock, or woke it"],
    ["G", "timeline: next region with every call (blue below the ruler)"],
    ["C, V; click on a name", "timeline: collapse or expand all threads, or one"],
    ["T, L", "timeline: pin the thread at the pointer to the top; list of tracks"],
    ["Drag a name, Shift + ↑ ↓", "timeline: move a thread"],
    ["Home, 0", "show everything"],
    ["Escape", "close the side panel; timeline: also clear the range"],
    ["?", "this help"],
];

function Help({ onClose }: { onClose: () => void }): VNode {
    const dialog = useRef<HTMLDialogElement>(null);
    useEffect(() => { dialog.current?.showModal(); }, []);
    return (
        <dialog ref={dialog} onClose={onClose} aria-label="Keys">
            <h2>Keys and mouse</h2>
            <dl class="keys">{keys.map(([name, text]) => <div key={name}><dt>{name}</dt><dd>{text}</dd></div>)}</dl>
            <p class="faint">A hatched box is several merged calls; the command below the timeline writes a page that shows each. An orange strip above a thread means that it was off the CPU; its calls are faded there. With states from the scheduler (probity record --sched), the strip shows when it ran, waited for a CPU and was blocked, and arrows show who woke it.</p>
            <button type="button" onClick={() => dialog.current?.close()}>Close</button>
        </dialog>
    );
}

/** Keeps a failure in one part from affecting the others. */
class Guard extends Component<{ children: ComponentChildren }, { failure: string | null }> {
    override state: { failure: string | null } = { failure: null };

    static override getDerivedStateFromError(error: unknown): { failure: string } {
        return { failure: String(error) };
    }

    override componentDidCatch(error: unknown): void {
        console.error(error);
    }

    render(): ComponentChildren {
        return this.state.failure === null ? this.props.children
            : <p class="none">This part of the page failed: {this.state.failure}</p>;
    }
}

function tabOfHash(data: Data): Tab {
    const [first] = location.hash.slice(1).split("&");
    return tabsOf(data).find(({ id }) => id === first)?.id ?? firstTab(data);
}

function useTheme(): ReturnType<typeof readTheme> {
    const [printing, setPrinting] = useState(false);
    const [dark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
    useEffect(() => {
        const media = matchMedia("(prefers-color-scheme: dark)");
        const change = (): void => { setDark(media.matches); };
        const before = (): void => { setPrinting(true); };
        const after = (): void => { setPrinting(false); };
        media.addEventListener("change", change);
        addEventListener("beforeprint", before);
        addEventListener("afterprint", after);
        return () => {
            media.removeEventListener("change", change);
            removeEventListener("beforeprint", before);
            removeEventListener("afterprint", after);
        };
    }, []);
    return useMemo(() => readTheme(printing), [printing, dark]);
}

export function App({ data, model, base }: { data: Data; model: Model; base: Shared["base"] }): VNode {
    const [tab, setTab] = useState<Tab>(() => tabOfHash(data));
    const [query, setQuery] = useState("");
    const [selection, setSelection] = useState<Selection | null>(null);
    const [range, setRangeOnly] = useState<Window | null>(() => rangeOfHash(model));
    const latest = useRef(range);
    latest.current = range;
    const [flame, setFlame] = useState<FlameState>({ mode: "merged", value: "total_ns", side: "now", per: "all", thread: -1 });
    const [compared, setCompared] = useState<ComparedState>({ mode: null, key: "", numbers: [0, 0] });
    const [filter, setFilter] = useState(everything);
    const [isHelping, setHelping] = useState(false);
    const [path, setPath] = useState<CriticalPath | null>(null);
    const search = useRef<HTMLInputElement>(null);
    const handle = useRef<TimelineHandle | null>(null);
    const pending = useRef<(() => void) | null>(null);
    const theme = useTheme();
    const parts = useMemo(() => tabsOf(data), [data]);
    const palette = useMemo(() => new Palette([...model.ranked, ...base?.model.ranked ?? []], theme), [model, base, theme]);

    // When spans are replaced, their statistics change.
    const [exchanged, setExchanged] = useState(0);
    const live = useMemo(() => data.served || (data.tiles?.levels.length ?? 0) > 0 ? new Live(data, model, () => { setExchanged((was) => was + 1); }) : null, [data, model]);
    // With finer spans, the path is finer.
    useEffect(() => {
        if (path === null)
            return;
        const index = before(path.lane, path.start + 0.5) - 1;
        setPath(index >= 0 && path.lane.start[index] === path.start ? pathOf(model, path.lane, index, data.waits?.least_ns ?? 0) : null);
    }, [exchanged]);
    const ranged = useMemo(() => {
        let made: Ranged | null = null;
        return (): Ranged | null => made ??= range === null ? null : rangedOf(data, model, range);
    }, [data, model, range, exchanged]);
    const setRange = (to: Window | null): void => {
        setRangeOnly(to);
        latest.current = to;
        // A selection in a table or graph belongs to the previous range.
        if (to === null)
            setSelection((was) => was === null || was.of === "span" || was.of === "function" ? was : null);
        if (tab !== "timeline")
            history.replaceState(null, "", hashOf(tab, to));
    };
    const go = (to: Tab): void => {
        setTab(to);
        history.replaceState(null, "", hashOf(to, latest.current));
    };
    /** Runs an action on the timeline once it is shown. */
    const inTimeline = (action: () => void): void => {
        if (tab === "timeline") {
            action();
        } else {
            pending.current = action;
            go("timeline");
        }
    };
    const reveal = (lane: Lane, index: number): void => { inTimeline(() => handle.current?.reveal(lane, index)); };
    const showTime = (thread: Thread, from: number, to: number): void => { inTimeline(() => handle.current?.showTime(thread, from, to)); };
    const jump = (thread: number, depth: number, start: number, length: number): void => {
        const { calls, blocks } = model.threads[thread];
        const lane = depth < 0 ? blocks : calls.find((each) => each.depth === depth) ?? calls[0];
        if (lane === null)
            return;
        const next = before(lane, start + 0.5);
        let index = Math.max(0, next - 1);
        // A merged span can only be found by its position.
        while (index > 0 && lane.start[index] + lane.length[index] < start + length && lane.start[index] > start)
            index--;
        reveal(lane, index);
    };
    useEffect(() => {
        const action = pending.current;
        pending.current = null;
        action?.();
    }, [tab]);

    useEffect(() => {
        const onKey = (event: KeyboardEvent): void => {
            const isTyping = event.target instanceof HTMLSelectElement ||
                (event.target instanceof HTMLInputElement && ["search", "text"].includes(event.target.type));
            // The help is a dialog and handles keys itself, in particular Escape.
            if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog") !== null)
                return;
            if (isTyping) {
                if (event.key === "Escape") {
                    if (event.target === search.current)
                        setQuery("");
                    (event.target as HTMLElement).blur();
                }
                return;
            }
            const place = ["1", "2", "3", "4", "5", "6"].indexOf(event.key);
            if (place >= 0 && place < parts.length)
                go(parts[place].id);
            else if (event.key === "/")
                search.current?.focus();
            else if (event.key === "?")
                setHelping(true);
            else if (event.key === "Escape")
                setSelection(null);
            else {
                // Keys of the timeline work wherever the focus is, except keys that buttons use.
                if ((event.key.length === 1 && event.key !== " ") || event.target === document.body)
                    handle.current?.key(event);
                return;
            }
            event.preventDefault();
        };
        const onHash = (): void => {
            setTab(tabOfHash(data));
            setRangeOnly(rangeOfHash(model));
        };
        addEventListener("keydown", onKey);
        addEventListener("hashchange", onHash);
        return () => {
            removeEventListener("keydown", onKey);
            removeEventListener("hashchange", onHash);
        };
    }, []);

    /** Enter in the search field goes to the next match in the timeline, with Shift to the previous
     * one. */
    const find = (isBackwards: boolean): void => {
        if (tab === "timeline") {
            handle.current?.step(isBackwards);
        } else if (tab === "overview") {
            pending.current = () => handle.current?.step(isBackwards);
            go("timeline");
        }
    };

    const shared: Shared = { showTime, reveal, path, setPath, showRange: () => handle.current?.showRange(), data, model, base, compared, live, palette, range, setRange, ranged, query, setQuery, filter, setFilter, selection, select: setSelection, go, jump, flame,
        setFlame: (change) => { setFlame({ ...flame, ...change }); },
        setCompared: (change) => { setCompared({ ...compared, ...change }); } };
    const isComplete = data.info.every((info) => info.complete);
    const title = titleOf(data);
    const panel = (): VNode => {
        switch (tab) {
            case "overview": return <OverviewPanel shared={shared} />;
            case "timeline": return <TimelinePanel shared={shared} handle={handle} />;
            case "flame": return <FlamePanel shared={shared} />;
            case "functions": return <FunctionsPanel shared={shared} />;
            case "blocks": return <BlocksPanel shared={shared} />;
            case "diff": return <DiffPanel shared={shared} />;
        }
    };
    const moveTab = (event: KeyboardEvent): void => {
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (step === 0)
            return;
        const next = parts[(parts.findIndex(({ id }) => id === tab) + step + parts.length) % parts.length];
        go(next.id);
        document.getElementById(`tab-${next.id}`)?.focus();
        event.preventDefault();
    };
    return (
        <div class="page">
            <header>
                <h1 title={title}>{isolated(short(title, 40))}</h1>
                <span class={isComplete ? "pill good" : "pill bad"}>{isComplete ? "complete" : "INCOMPLETE"}</span>
                <nav role="tablist" aria-label="Parts" onKeyDown={moveTab}>
                    {parts.map(({ id, title: name }, index) => (
                        <button key={id} id={`tab-${id}`} type="button" role="tab" aria-selected={tab === id} aria-controls="panel"
                            tabIndex={tab === id ? 0 : -1} title={`${name} (${index + 1})`} onClick={() => { go(id); }}>{name}</button>))}
                </nav>
                <input ref={search} type="search" placeholder="Search  /" aria-label="Search names" value={query}
                    onInput={(event) => { setQuery(event.currentTarget.value); }}
                    onKeyDown={(event) => { if (event.key === "Enter") find(event.shiftKey); }} />
                <button type="button" class="help" aria-label="Help" title="Keys and pointer (?)" onClick={() => { setHelping(true); }}>?</button>
            </header>
            <main>
                <div id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`} class="panel">
                    <RangeBar shared={shared} tab={tab} />
                    <Guard key={`${tab} ${tab === "flame" ? flame.mode : ""}`}>{panel()}</Guard>
                </div>
                <Guard key={`details-${selection === null ? "none" : selection.of}`}><Details shared={shared} /></Guard>
            </main>
            {isHelping && <Help onClose={() => { setHelping(false); }} />}
        </div>
    );
}
