/* State shared by all parts of the page. */
import type { Palette } from "./colour";
import type { Block, Bucket, Data } from "./data";
import type { FlameNode, Value } from "./flame";
import type { Lane, Model } from "./lanes";

export type Tab = "overview" | "timeline" | "flame" | "functions" | "blocks" | "diff";

export const tabs: readonly { id: Tab; title: string }[] = [
    { id: "overview", title: "Overview" },
    { id: "timeline", title: "Time line" },
    { id: "flame", title: "Flame graph" },
    { id: "functions", title: "Functions" },
    { id: "blocks", title: "Blocks" },
];

/** The comparison has a tab only if one was requested. */
export function tabsOf(data: Data): readonly { id: Tab; title: string }[] {
    return data.diff === undefined ? tabs : [...tabs, { id: "diff", title: "Comparison" }];
}

/** The selection, described in the details. */
export type Selection =
    | { of: "span"; lane: Lane; index: number; last: number }
    | { of: "function"; row: number }
    | { of: "node"; node: FlameNode; share: number }
    | { of: "block"; block: Block; histogram: Bucket[] };

/** Settings of the flame graph. */
export interface FlameState {
    mode: "merged" | "time" | "change";
    value: Value;
    /** The side that determines the widths of boxes. */
    side: "now" | "base";
    /** In time order: index of the thread; -1: the one with the most time in calls. */
    thread: number;
}

/** The functions shown in the table; empty texts: all. */
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
    /** Shows a span in the time line; depth -1: a mark. */
    jump: (thread: number, depth: number, start: number, length: number) => void;
}

/** For a name of the time line: the signature from the trace, or from the program's DWARF. */
export function signatureOf({ data, model }: Shared, name: number): string {
    const row = model.rowOfName[name];
    const told = model.names[name].signature ?? "";
    return told !== "" || row < 0 ? told : data.report.functions[row].signature ?? "";
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
