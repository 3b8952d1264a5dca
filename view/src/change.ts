/* The result of a comparison for a function, a block or a kind of request, and the calls of both
 * sides that it compares. */
import type { Block, Bucket, Change, Changed, ChangedBlock, ChangedRequest, Comparison, Data, FunctionRow } from "./data";

export type Statistic = keyof Changed["statistics"];

export type Kind = "functions" | "blocks" | "requests";

/** A function, a block or a kind of request. */
export type Row = {
    name: string;
    file: string;
    line: number;
    main: Change;
    statistics: Partial<Record<Statistic, Change>>;
} & ({ kind: "functions"; of: Changed } | { kind: "blocks"; of: ChangedBlock } | { kind: "requests"; of: ChangedRequest });

const spanOf = ({ name, named, statistics }: ChangedBlock | ChangedRequest): Pick<Row, "name" | "file" | "line" | "main" | "statistics"> =>
    ({ name: named ?? name, file: "", line: 0, main: statistics.total, statistics });

export function rowsOf({ functions, blocks, requests }: Comparison, kind: Kind): Row[] {
    switch (kind) {
        case "functions": return functions.map((of) => ({ kind, of, name: of.name, file: of.file, line: of.line, main: of.statistics.self, statistics: of.statistics }));
        case "blocks": return blocks.map((of) => ({ kind, of, ...spanOf(of) }));
        case "requests": return requests.map((of) => ({ kind, of, ...spanOf(of) }));
    }
}

export function changeText(ratio: number | null): string {
    if (ratio === null)
        return "–";
    const percent = (ratio - 1) * 100;
    return `${percent > 0 ? "+" : percent < 0 ? "−" : "±"}${Math.abs(percent).toFixed(Math.abs(percent) < 1000 ? 1 : 0)}%`;
}

/** Only significant changes are colored. */
export function tone({ verdict }: Change): string {
    if (verdict === "inconclusive" || verdict === "same")
        return "faint";
    return verdict === "slower" || verdict === "more" || verdict === "added" ? "worse" : "better";
}

/** The verdict and its interval, short enough for a table; `hint` is the full text. */
export function brief(each: Change): string {
    const interval = each.low !== null && each.high !== null ? `, ${changeText(each.low)} to ${changeText(each.high)}` : "";
    return `${each.verdict}${interval}`;
}

export function hint(each: Change): string {
    const interval = each.low !== null && each.high !== null ? `, between ${changeText(each.low)} and ${changeText(each.high)}` : "";
    const needed = each.verdict === "inconclusive" && each.runs_needed !== null ? `; about ${each.runs_needed} runs per side needed` : "";
    return `${each.verdict}${interval}${needed}`;
}

/* ---- The calls of a side ---- */

export const lastPart = (path: string | undefined): string => path?.split("/").pop() ?? "";

/** Whether the comparison considers a report's function to be the same. Does not compare texts that
 * were found in the program, not recorded. */
function isLike(each: FunctionRow, { name, file, signature, object }: Changed): boolean {
    return each.name === name && lastPart(each.object) === object && (file === "" || lastPart(each.file) === file) &&
        (signature === "" || each.signature === signature);
}

/** Their indices in the report: several, if runs of one side differ in lines; none, if functions
 * with the same name cannot be distinguished. */
export function placesOf({ report }: Pick<Data, "report">, wanted: Changed, all: Changed[]): number[] {
    const places = report.functions.flatMap((each, place) => isLike(each, wanted) ? [place] : []);
    const same = all.filter((each) => each.name === wanted.name && each.file === wanted.file && each.signature === wanted.signature && each.object === wanted.object);
    if (same.length === 1)
        return places;
    const byLine = <Each extends { line?: number }>(a: Each, b: Each): number => (a.line ?? 0) - (b.line ?? 0);
    const sorted = places.map((place) => ({ place, line: report.functions[place].line ?? 0 })).sort(byLine);
    return sorted.length === same.length ? [sorted[same.sort(byLine).indexOf(wanted)].place] : [];
}

function isBlockLike(block: Block, { name, from_is_site: from, to_is_site: to }: ChangedBlock): boolean {
    return block.from_is_site === from && block.to_is_site === to && `${block.from} -> ${block.to}` === name;
}

function merge(histograms: Bucket[][]): Bucket[] {
    const all = new Map<number, number>();
    for (const [least, calls] of histograms.flat())
        all.set(least, (all.get(least) ?? 0) + calls);
    return [...all].sort(([a], [b]) => a - b);
}

/** Durations of the calls of a side, in all of its runs. */
export function durationsOf(side: Data, row: Row, functions: Changed[]): Bucket[] {
    switch (row.kind) {
        case "functions": return merge(placesOf(side, row.of, functions).map((place) => side.report.functions[place].histogram));
        case "blocks": return merge(side.block_histograms.filter((_, index) => isBlockLike(side.blocks.blocks[index], row.of)));
        case "requests": return merge((side.requests ?? []).filter(({ name, is_site: isSite }) => name === row.of.name && isSite === row.of.is_site).map(({ histogram }) => histogram));
    }
}
