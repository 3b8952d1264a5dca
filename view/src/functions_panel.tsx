/* The table of functions: the numbers of `probity report`. */
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { FunctionRow } from "./data";
import { count, named, short, time } from "./format";
import { axisOf, Spark } from "./histogram";
import { matcher, type Shared } from "./state";
import { type Column, Table } from "./table";

type Key = "total_ns" | "self_ns" | "cpu_self_ns" | "off_cpu_self_ns" | "min_ns" | "mean_ns" | "p50_ns" | "p99_ns" | "max_ns";

const times: readonly [Key, string, string][] = [
    ["total_ns", "Total", "Wall time of all calls, callees included; of recursive calls the outermost counts"],
    ["self_ns", "Self", "Wall time without callees and pauses"],
    ["cpu_self_ns", "CPU self", "CPU time without callees and pauses"],
    ["off_cpu_self_ns", "Off CPU self", "Self time in which the thread was not on the CPU"],
    ["min_ns", "Min", "The shortest call"],
    ["mean_ns", "Mean", "The mean call"],
    ["p50_ns", "Median", "Half of the calls took no longer"],
    ["p99_ns", "99 %", "99 of 100 calls took no longer"],
    ["max_ns", "Max", "The longest call"],
];

export function FunctionsPanel({ shared }: { shared: Shared }): VNode {
    const { functions } = shared.data.report;
    const rows = useMemo(() => {
        const isMatch = matcher(shared.query);
        return isMatch === null ? functions
            : functions.filter((row) => isMatch(`${row.name} ${row.signature ?? ""} ${row.file ?? ""}`));
    }, [functions, shared.query]);
    const columns = useMemo((): Column<FunctionRow>[] => {
        const axis = axisOf(functions.map((row) => row.histogram));
        const most = Math.max(1, ...functions.map((row) => row.self_ns ?? 0));
        return [
            { id: "name", title: "Function", hint: "Name and place", isText: true, value: (row) => row.name,
                show: (row) => (
                    <span class="name" title={`${row.signature ?? row.name}\n${row.file ?? ""}:${row.line ?? 0}`}>
                        {short(named(row.name), 300)} <span class="faint">{row.file === undefined ? "" : `${row.file.split("/").pop() ?? ""}:${row.line ?? 0}`}</span>
                    </span>) },
            { id: "calls", title: "Calls", hint: "How often it was called", value: (row) => row.calls, show: (row) => count(row.calls) },
            ...times.map(([key, title, hint]): Column<FunctionRow> => ({ id: key, title, hint, value: (row) => row[key],
                show: (row) => key !== "self_ns" ? time(row[key]) : (
                    <span class="meter" style={{ "--part": String((row.self_ns ?? 0) / most) }}>{time(row.self_ns)}</span>) })),
            { id: "distribution", title: "Distribution", hint: "Durations of calls on one logarithmic axis for all functions; heights are square roots",
                value: (row) => row.p50_ns, show: (row) => <Spark histogram={row.histogram} axis={axis} /> },
        ];
    }, [functions]);
    if (functions.length === 0)
        return <p class="none">No calls of functions are in this trace.</p>;
    const selected = shared.selection?.of === "function" ? functions[shared.selection.row] : null;
    return (
        <div class="listed">
            {rows.length < functions.length && <p class="status" role="status">{count(rows.length)} of {count(functions.length)} functions match</p>}
            <Table columns={columns} rows={rows} first="self_ns" selected={selected} label="Functions"
                onSelect={(row) => { shared.select({ of: "function", row: functions.indexOf(row) }); }} />
        </div>
    );
}
