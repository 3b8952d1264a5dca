/* What all parts of the page share. */
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

/** A comparison is there only where one was asked for. */
export function tabsOf(data: Data): readonly { id: Tab; title: string }[] {
    return data.diff === undefined ? tabs : [...tabs, { id: "diff", title: "Comparison" }];
}

/** What the user pointed at, and is told about at the side. */
export type Selection =
    | { of: "span"; lane: Lane; index: number; last: number }
    | { of: "function"; row: number }
    | { of: "node"; node: FlameNode; share: number }
    | { of: "block"; block: Block; histogram: Bucket[] };

/** How the flame graph is looked at. */
export interface FlameState {
    mode: "merged" | "time" | "change";
    value: Value;
    /** Whose widths boxes have. */
    side: "now" | "base";
    /** In order of time: its place; -1: the one that was longest in calls. */
    thread: number;
}

/** Which functions the table shows; empty texts: all. */
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

/** Of a name of the time line: what the trace tells, or what was found in the program's DWARF. */
export function signatureOf({ data, model }: Shared, name: number): string {
    const row = model.rowOfName[name];
    const told = model.names[name].signature ?? "";
    return told !== "" || row < 0 ? told : data.report.functions[row].signature ?? "";
}

/** Whether a text is asked for: every word of the query is in it, in any case of letters. */
export function matcher(query: string): ((text: string) => boolean) | null {
    const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
    if (words.length === 0)
        return null;
    return (text) => {
        const lower = text.toLowerCase();
        return words.every((word) => lower.includes(word));
    };
}
