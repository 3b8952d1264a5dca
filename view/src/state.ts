/* State shared by all parts of the page. */
import type { Row } from "./change";
import type { Palette } from "./color";
import type { Block, Bucket, Data } from "./data";
import type { FlameNode, Value } from "./flame";
import type { Lane, Model, Thread } from "./lanes";
import type { Live } from "./live";
import type { CriticalPath } from "./path";
import type { Ranged } from "./ranged";
import type { Window } from "./timeline";

export type Tab = "overview" | "timeline" | "flame" | "functions" | "blocks" | "diff";

const titles: Record<Tab, string> = {
    overview: "Overview", timeline: "Timeline", flame: "Flame graph", functions: "Functions", blocks: "Blocks", diff: "Comparison",
};

/** The parts of the page that have anything to show. */
export function tabsOf(data: Data): readonly { id: Tab; title: string }[] {
    const isShown: Record<Tab, boolean> = {
        overview: true,
        timeline: data.timeline.spans > 0,
        flame: data.tree.tree.length > 0 || (data.base?.tree.length ?? 0) > 0 || data.timeline.sums.length > 0,
        functions: data.report.functions.length > 0,
        blocks: data.blocks.blocks.length > 0,
        diff: data.diff !== undefined,
    };
    return (Object.keys(titles) as Tab[]).filter((id) => isShown[id]).map((id) => ({ id, title: titles[id] }));
}

/** The first part that a page shows: blocks, if the trace has no functions. */
export function firstTab(data: Data): Tab {
    return data.report.functions.length === 0 && data.blocks.blocks.length > 0 && data.diff === undefined ? "blocks" : "overview";
}

/** The selection, described in the details. */
export type Selection =
    | { of: "span"; lane: Lane; index: number; last: number }
    | { of: "function"; row: number }
    | { of: "node"; node: FlameNode; share: number }
    | { of: "block"; block: Block; histogram: Bucket[] }
    | { of: "change"; row: Row }
    | { of: "range"; range: Window };

/** Settings of the flame graph. */
export interface FlameState {
    mode: "merged" | "time" | "blocks" | "change";
    value: Value;
    /** The side that determines the widths of boxes. */
    side: "now" | "base";
    /** What the colors of a comparison show: the change of the total time, or of a single call. */
    per: "all" | "call";
    /** In time order: index of the thread; -1: the thread with the most time in calls. */
    thread: number;
}

/** Settings of the comparison. */
export interface ComparedState {
    /** null: the first one that exists. */
    mode: "functions" | "blocks" | "requests" | "timelines" | null;
    /** The function, block or kind of request at which timelines are aligned (aligned.ts); empty: the
     * first. */
    key: string;
    /** The number of the call on each side, from 0. */
    numbers: [number, number];
}

/** Filters of the table of functions; empty texts: all functions. */
export interface FunctionFilter {
    file: string;
    /** "PID TID" */
    thread: string;
    calls: string;
    self: string;
}

export const everything: FunctionFilter = { file: "", thread: "", calls: "", self: "" };

export interface Shared {
    data: Data;
    model: Model;
    /** The base of the comparison; null: none, or only the comparison is known. now: the model of this
     * page without spans from tiles. */
    base: { data: Data; model: Model; now: Model } | null;
    compared: ComparedState;
    setCompared: (change: Partial<ComparedState>) => void;
    /** Only of a served page. */
    live: Live | null;
    palette: Palette;
    query: string;
    setQuery: (query: string) => void;
    filter: FunctionFilter;
    setFilter: (filter: FunctionFilter) => void;
    selection: Selection | null;
    select: (selection: Selection | null) => void;
    go: (tab: Tab) => void;
    flame: FlameState;
    setFlame: (change: Partial<FlameState>) => void;
    /** Shows a span in the timeline; depth -1: a block. */
    jump: (thread: number, depth: number, start: number, length: number) => void;
    /** The selected range, which the flame graph, functions and blocks follow; null: none. */
    range: Window | null;
    setRange: (range: Window | null) => void;
    /** Statistics of the range; computed when first needed. */
    ranged: () => Ranged | null;
    /** Shows a time of a thread in the timeline, without selecting anything. */
    showTime: (thread: Thread, from: number, to: number) => void;
    /** Selects a span in the timeline. */
    reveal: (lane: Lane, index: number) => void;
    /** The critical path that is highlighted. */
    path: CriticalPath | null;
    setPath: (path: CriticalPath | null) => void;
    /** Zooms the timeline to the selected range. */
    showRange: () => void;
}

/** For a name in the timeline: the signature from the trace or from the program's DWARF. */
export function signatureOf({ data, model }: Shared, name: number): string {
    const row = model.rowOfName[name];
    const own = model.names[name].signature ?? "";
    return own !== "" || row < 0 ? own : data.report.functions[row].signature ?? "";
}

/** Whether a text matches the query: it contains every word, ignoring case. */
export function matcher(query: string): ((text: string) => boolean) | null {
    const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
    if (words.length === 0)
        return null;
    return (text) => {
        const lower = text.toLowerCase();
        return words.every((word) => lower.includes(word));
    };
}
