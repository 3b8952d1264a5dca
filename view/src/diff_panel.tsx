/* Changes between runs: the numbers of `probity diff`. */
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { AlignedPanel } from "./aligned_panel";
import { brief, changeText, hint, type Kind, type Row, rowsOf, type Statistic, tone } from "./change";
import type { Change } from "./data";
import { count, signed, time } from "./format";
import { matcher, type Shared } from "./state";
import { type Column, Table } from "./table";
import { isolated } from "./text";

const shown: readonly [Statistic, string, string][] = [
    ["self", "Self", "Wall time without callees and pauses, over runs"],
    ["cpu", "CPU self", "CPU time without callees and pauses"],
    ["total", "Total", "Wall time of all calls"],
    ["mean", "Mean", "Of single calls: slower per call"],
    ["median", "Median", "Of single calls"],
    ["p99", "p99", "Of single calls"],
    ["calls", "Calls", "How often it was called: called more"],
];

const names: Record<Kind, { title: string; hint: string }> = {
    functions: { title: "Function", hint: "Name and place" },
    blocks: { title: "Block", hint: "From one probe to the next" },
    requests: { title: "Request", hint: "The probe at which it begins" },
};

function isChanged(change: Change | undefined): boolean {
    return change !== undefined && !["same", "inconclusive"].includes(change.verdict);
}

/** What causes a change of time: slower calls, more calls, or both. */
function causeOf({ main, statistics: { mean, calls } }: Row): string {
    // Functions that only one run has have no calls to compare.
    if (main.verdict === "gone" || main.verdict === "added")
        return "";
    const causes = [isChanged(mean) ? `${mean?.verdict === "slower" ? "slower" : "faster"} per call` : "",
        isChanged(calls) ? `called ${calls?.verdict === "fewer" ? "less" : "more"}` : ""].filter((text) => text !== "");
    return causes.length > 0 ? causes.join(", ") : isChanged(main) ? "undetermined" : "";
}

export function DiffPanel({ shared }: { shared: Shared }): VNode {
    const { diff } = shared.data;
    const modes = ([["functions", "Functions", (diff?.functions.length ?? 0) > 0], ["blocks", "Blocks", (diff?.blocks.length ?? 0) > 0],
        ["requests", "Requests", (diff?.requests.length ?? 0) > 0],
        ["timelines", "Timelines", shared.base !== null && shared.base.model.lanes.length > 0 && shared.base.now.lanes.length > 0]] as const).filter(([,, isThere]) => isThere);
    const mode = modes.find(([id]) => id === shared.compared.mode)?.[0] ?? modes.at(0)?.[0] ?? "functions";
    const kind = mode === "timelines" ? "functions" : mode;
    const isFunctions = kind === "functions";
    const what = isFunctions ? "Self" : "Time";
    const all = useMemo(() => diff === undefined ? [] : rowsOf(diff, kind), [diff, kind]);
    const hasCauses = useMemo(() => all.some((row) => causeOf(row) !== ""), [all]);
    const rows = useMemo(() => {
        const isMatch = matcher(shared.query);
        return isMatch === null ? all : all.filter((row) => isMatch(`${row.name} ${row.file}`));
    }, [all, shared.query]);
    const columns = useMemo((): Column<Row>[] => [
        { id: "name", ...names[kind], isText: true, value: (row) => row.name, show: null,
            name: ({ name, file, line }) => isFunctions ? { name, place: `${isolated(file)}:${line}`, whole: `${name}\n${file}:${line}` } : { name } },
        { id: "base", title: `${what}, base`, hint: "Median over the runs of the base", value: (row) => row.main.base_median, show: (row) => time(row.main.base_median) },
        { id: "new", title: `${what}, new`, hint: "Median over the new runs", value: (row) => row.main.new_median, show: (row) => time(row.main.new_median) },
        { id: "impact", title: "Difference", hint: `By how much ${isFunctions ? "self time" : "the time"} changed`,
            value: (row) => Math.abs((row.main.new_median ?? 0) - (row.main.base_median ?? 0)),
            show: (row) => {
                const ns = (row.main.new_median ?? 0) - (row.main.base_median ?? 0);
                return signed(ns, time);
            } },
        { id: "verdict", title: isFunctions ? "Verdict on self time" : "Verdict on time", hint: "Statistical verdict", isText: true, value: (row) => row.main.verdict,
            show: (row) => <span class="named" title={hint(row.main)}><span class={tone(row.main)}>{brief(row.main)}</span></span> },
        // Without a significant change, the list would be empty.
        ...(hasCauses ? [{ id: "cause", title: "Cause", hint: "Whether single calls changed, or their number", isText: true, value: causeOf,
            show: (row: Row) => <span class="named" title={causeOf(row)}><span>{causeOf(row)}</span></span> }] : []),
        ...shown.filter(([key]) => isFunctions || (key !== "self" && (kind === "blocks" || key !== "cpu"))).map(([key, title, text]): Column<Row> => ({ id: key, title: !isFunctions && key === "cpu" ? "CPU" : title, hint: isFunctions ? text : text.replace(" without callees and pauses", ""), value: (row) => row.statistics[key]?.ratio ?? null,
            show: (row) => {
                const each = row.statistics[key];
                return each === undefined ? "–" : <span class={tone(each)} title={hint(each)}>{changeText(each.ratio)}</span>;
            } })),
    ], [hasCauses, isFunctions, kind, what]);
    if (diff === undefined)
        return <p class="none">This page compares no runs.</p>;
    const incomplete = [...diff.base, ...diff.new].filter((run) => !run.complete);
    return (
        <div class="listed compared">
            <p class="status">
                {modes.length > 1 && modes.map(([id, title]) => <button key={id} type="button" aria-pressed={mode === id} onClick={() => { shared.setCompared({ mode: id }); }}>{title}</button>)}
                {diff.functions.length > 0 && <button type="button" onClick={() => { shared.setFlame({ mode: "change" }); shared.go("flame"); }}>Flame graph of the change</button>}
                {(modes.length > 1 || diff.functions.length > 0) && <br class="narrow" />}
                {` ${count(diff.base.length)} ${diff.base.length === 1 ? "run" : "runs"} of the base, ${count(diff.new.length)} new. `}
                {mode !== "timelines" && `Changes of more than ${diff.method.tolerance_percent}%, at ${diff.method.confidence * 100}% confidence, are significant; everything else is faint.`}
                {diff.method.requests_left_out > 0 && ` Requests are not compared: ${diff.method.runs_without_requests} of ${diff.base.length + diff.new.length} runs ${diff.method.runs_without_requests > 1 ? "were" : "was"} stored without them.`}
                {incomplete.length > 0 && ` Not complete: ${incomplete.map((run) => `${run.trace} (${run.why})`).join(", ")}.`}
            </p>
            {mode === "timelines" && shared.base !== null ? <AlignedPanel shared={shared} base={shared.base.model} model={shared.base.now} />
                : <Table key={mode} columns={columns} rows={rows} first="impact" selected={shared.selection?.of === "change" ? shared.selection.row : null} label="Comparison"
                    onSelect={(row) => { shared.select({ of: "change", row }); }} />}
        </div>
    );
}
