/* Changes between runs: the numbers of `probity diff`. */
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { Change, Changed } from "./data";
import { count, named, short, signed, time } from "./format";
import { matcher, type Shared } from "./state";
import { type Column, Table } from "./table";

type Statistic = keyof Changed["statistics"];

const shown: readonly [Statistic, string, string][] = [
    ["self", "Self", "Wall time without callees and pauses, over runs"],
    ["cpu", "CPU self", "CPU time without callees and pauses"],
    ["total", "Total", "Wall time of all calls"],
    ["median", "Median", "Of single calls"],
    ["p99", "p99", "Of single calls"],
    ["calls", "Calls", "How often it was called"],
];

function change(ratio: number | null): string {
    if (ratio === null)
        return "–";
    const percent = (ratio - 1) * 100;
    return `${percent > 0 ? "+" : percent < 0 ? "−" : "±"}${Math.abs(percent).toFixed(Math.abs(percent) < 1000 ? 1 : 0)}%`;
}

/** Only significant changes are coloured. */
function tone({ verdict }: Change): string {
    if (verdict === "inconclusive" || verdict === "same")
        return "faint";
    return verdict === "slower" || verdict === "more" || verdict === "new" ? "worse" : "better";
}

function hint(each: Change): string {
    const interval = each.low !== null && each.high !== null ? `, between ${change(each.low)} and ${change(each.high)}` : "";
    const needed = each.verdict === "inconclusive" && each.runs_needed !== null ? `; about ${each.runs_needed} runs per side needed` : "";
    return `${each.verdict}${interval}${needed}`;
}

export function DiffPanel({ shared }: { shared: Shared }): VNode {
    const { diff } = shared.data;
    const all = diff?.functions ?? [];
    const rows = useMemo(() => {
        const isMatch = matcher(shared.query);
        return isMatch === null ? all : all.filter((row) => isMatch(`${row.name} ${row.file}`));
    }, [all, shared.query]);
    const columns = useMemo((): Column<Changed>[] => [
        { id: "name", title: "Function", hint: "Name and place", isText: true, value: (row) => row.name,
            show: (row) => <span class="name">{short(named(row.name), 200)} <span class="faint">{row.file}:{row.line}</span></span> },
        { id: "base", title: "Self, base", hint: "Median over the runs of the base", value: (row) => row.statistics.self.base_median, show: (row) => time(row.statistics.self.base_median) },
        { id: "new", title: "Self, new", hint: "Median over the new runs", value: (row) => row.statistics.self.new_median, show: (row) => time(row.statistics.self.new_median) },
        { id: "impact", title: "Difference", hint: "By how much self time changed",
            value: (row) => Math.abs((row.statistics.self.new_median ?? 0) - (row.statistics.self.base_median ?? 0)),
            show: (row) => {
                const ns = (row.statistics.self.new_median ?? 0) - (row.statistics.self.base_median ?? 0);
                return signed(ns, time);
            } },
        ...shown.map(([key, title, what]): Column<Changed> => ({ id: key, title, hint: what, value: (row) => row.statistics[key].ratio,
            show: (row) => <span class={tone(row.statistics[key])} title={hint(row.statistics[key])}>{change(row.statistics[key].ratio)}</span> })),
        { id: "verdict", title: "Verdict on self time", hint: "What is established of self time", isText: true, value: (row) => row.statistics.self.verdict,
            show: (row) => <span class={tone(row.statistics.self)}>{hint(row.statistics.self)}</span> },
    ], []);
    if (diff === undefined)
        return <p class="none">This page compares no runs.</p>;
    const incomplete = [...diff.base, ...diff.new].filter((run) => !run.complete);
    return (
        <div class="listed">
            <p class="status">
                <button type="button" onClick={() => { shared.setFlame({ mode: "change" }); shared.go("flame"); }}>Flame graph of the change</button>
                {` ${count(diff.base.length)} ${diff.base.length === 1 ? "run" : "runs"} of the base, ${count(diff.new.length)} new. `}
                {`A change is established with ${diff.method.confidence * 100}% confidence and beyond ${diff.method.tolerance_percent}%; all else is faint.`}
                {incomplete.length > 0 && ` Not complete: ${incomplete.map((run) => `${run.trace} (${run.why})`).join(", ")}.`}
            </p>
            <Table columns={columns} rows={rows} first="impact" selected={null} label="Comparison"
                onSelect={(row) => {
                    const place = shared.data.report.functions.findIndex((each) => each.name === row.name && each.line === row.line);
                    if (place >= 0)
                        shared.select({ of: "function", row: place });
                }} />
        </div>
    );
}
