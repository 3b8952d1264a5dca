/* The command that shows a part of the time line in full. */
import type { Data } from "./data";
import type { Window } from "./timeline";

/** As many spans as a page has without --spans, and as many as one still opens quickly with. */
const USUAL = 800_000;
const MOST = 4_000_000;

/** A word of a command line, whatever is in it. */
export function quoted(word: string): string {
    return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** To the nanosecond, and without zeros that say nothing. */
function seconds(ns: number): string {
    return `${(Math.max(0, ns) / 1e9).toFixed(9).replace(/\.?0+$/, "")}s`;
}

/** spans: how many the stretch takes. null: more than a page is for. */
export function commandFor(data: Data, window: Window, spans: number, tid: number | null): string | null {
    if (spans > MOST)
        return null;
    const { timeline, info } = data;
    const from = timeline.since_start_ns + Math.max(0, Math.floor(window.from));
    const to = timeline.since_start_ns + Math.min(timeline.length_ns + 1, Math.ceil(window.to));
    const words = ["probity", "view", "--from", seconds(from), "--to", seconds(Math.max(to, from + 1))];
    const tids = tid === null ? timeline.tids : String(tid);
    if (tids !== null)
        words.push("--tid", tids);
    // A quarter of them is for what is worth it only where not all of them suffice.
    if (spans * 4 / 3 > USUAL - 10)
        words.push("--spans", String(Math.ceil(spans * 4 / 3) + 100));
    words.push("-o", `part-${seconds(from)}.html`);
    return [...words, ...info.map(({ trace }) => trace)].map(quoted).join(" ");
}
