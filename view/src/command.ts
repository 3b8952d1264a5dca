/* The command that shows a part of the timeline without merged spans. */
import type { Data } from "./data";
import type { Model } from "./lanes";
import type { Window } from "./timeline";

/** The number of spans of a page without --spans, and the largest number that still opens
 * quickly. */
const USUAL = 640_000;
const MOST = 4_000_000;

/** Quotes any text as one word of a command line. */
export function quoted(word: string): string {
    return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Exact to the nanosecond, without trailing zeros. */
function seconds(ns: number): string {
    return `${(Math.max(0, ns) / 1e9).toFixed(9).replace(/\.?0+$/, "")}s`;
}

/** The command, with the numbers of a range. */
export function rangeCommand(data: Data, model: Model, range: Window, command: string): string {
    const to = range.to >= model.last ? model.last + 1 : range.to;
    const words = ["probity", command, "--since", seconds(range.from), "--until", seconds(to)];
    if (data.timeline.tids !== null)
        words.push("--tid", data.timeline.tids);
    return [...words, ...data.info.map(({ trace }) => trace)].map(quoted).join(" ");
}

/** spans: number of spans in the interval. null: too many for a page. */
export function commandFor(data: Data, model: Model, window: Window, spans: number, tid: number | null): string | null {
    if (spans > MOST)
        return null;
    const { timeline, info } = data;
    const from = Math.max(model.first, Math.floor(window.from));
    const to = Math.min(model.last + 1, Math.ceil(window.to));
    const words = ["probity", "view", "--since", seconds(from), "--until", seconds(Math.max(to, from + 1))];
    const tids = tid === null ? timeline.tids : String(tid);
    if (tids !== null)
        words.push("--tid", tids);
    // A quarter of the spans is reserved for refined intervals, unless all spans fit.
    if (spans * 4 / 3 > USUAL - 10)
        words.push("--spans", String(Math.ceil(spans * 4 / 3) + 100));
    words.push("-o", `part-${seconds(from)}.html`);
    return [...words, ...info.map(({ trace }) => trace)].map(quoted).join(" ");
}
