/* The table of functions: the numbers of `probity report`. */
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { FunctionRow } from "./data";
import { count, counted, parseTime, time } from "./format";
import { axisOf, Spark } from "./histogram";
import { everything, matcher, type Shared } from "./state";
import { type Column, Table } from "./table";
import { isolated, short } from "./text";

type Key = "total_ns" | "self_ns" | "cpu_self_ns" | "off_cpu_self_ns" | "min_ns" | "mean_ns" | "p50_ns" | "p90_ns" | "p99_ns" | "max_ns";

const times: readonly [Key, string, string][] = [
    ["total_ns", "Total", "Wall time of all calls, callees included; of recursive calls, only the outermost counts"],
    ["self_ns", "Self", "Wall time without callees and pauses"],
    ["cpu_self_ns", "CPU self", "CPU time without callees and pauses"],
    ["off_cpu_self_ns", "Off CPU self", "Self time in which the thread was not on the CPU"],
    ["min_ns", "Min", "The shortest call"],
    ["mean_ns", "Mean", "The mean call"],
    ["p50_ns", "Median", "Half of the calls took no longer"],
    ["p90_ns", "p90", "9 of 10 calls took no longer"],
    ["p99_ns", "p99", "99 of 100 calls took no longer"],
    ["max_ns", "Max", "The longest call"],
];

/** A row of the table: a function, or its part in one thread. */
interface Row extends FunctionRow { place: number }

/** All functions, or those with calls in the selected range. */
function functionsOf({ data, ranged }: Shared): FunctionRow[] {
    return ranged()?.functions ?? data.report.functions;
}

function rowsOf(functions: FunctionRow[], thread: string, isRanged: boolean): Row[] {
    if (thread === "")
        return functions.map((row, place) => ({ ...row, place })).filter((row) => !isRanged || row.calls > 0);
    return functions.flatMap((row, place) => (row.threads ?? [])
        .filter(({ pid, tid }) => `${pid} ${tid}` === thread)
        .map((part) => ({ ...row, ...part, name: row.name, place })));
}

function threadsOf(functions: FunctionRow[]): [string, string][] {
    const found = new Map<string, { title: string; self: number }>();
    for (const { threads } of functions) {
        for (const { pid, tid, name, self_ns: self } of threads ?? []) {
            const key = `${pid} ${tid}`;
            const each = found.get(key) ?? { title: `${isolated(short(name ?? "thread", 30))} ${tid}`, self: 0 };
            each.self += self ?? 0;
            found.set(key, each);
        }
    }
    return [...found].sort(([, a], [, b]) => b.self - a.self).map(([key, { title, self }]) => [key, `${title} · ${time(self)}`]);
}

function Filters({ shared, shown, all }: { shared: Shared; shown: Row[]; all: number }): VNode {
    const { filter, setFilter } = shared;
    const functions = functionsOf(shared);
    const files = useMemo(() => [...new Set(functions.map((row) => row.file ?? ""))].filter((file) => file !== "").sort(), [functions]);
    const threads = useMemo(() => threadsOf(functions), [functions]);
    const self = shown.reduce((sum, row) => sum + (row.self_ns ?? 0), 0);
    const isFiltered = shared.query !== "" || Object.values(filter).some((text) => text !== "");
    return (
        <div class="tools" role="search">
            <label class="field">Name <input type="search" size={14} value={shared.query} title="Words that must all be in name, signature or file"
                onInput={(event) => { shared.setQuery(event.currentTarget.value); }} /></label>
            <label class="field">File
                <select value={filter.file} onChange={(event) => { setFilter({ ...filter, file: event.currentTarget.value }); }}>
                    <option value="">all {count(files.length)}</option>
                    {files.map((file) => <option key={file} value={file}>{isolated(short(file, 60))}</option>)}
                </select>
            </label>
            {threads.length > 0 ? (
                <label class="field">Thread
                    <select value={filter.thread} onChange={(event) => { setFilter({ ...filter, thread: event.currentTarget.value }); }}>
                        <option value="">all {count(threads.length)}</option>
                        {threads.map(([key, title]) => <option key={key} value={key}>{title}</option>)}
                    </select>
                </label>) : <span class="faint" title="Too many functions and threads for this page">by thread: see `probity report --by-thread`</span>}
            <label class="field">Calls ≥ <input type="text" inputMode="numeric" size={7} value={filter.calls} aria-invalid={filter.calls !== "" && !/^\d+$/.test(filter.calls)}
                onInput={(event) => { setFilter({ ...filter, calls: event.currentTarget.value.trim() }); }} /></label>
            <label class="field">Self ≥ <input type="text" size={7} placeholder="1 ms" value={filter.self} aria-invalid={filter.self !== "" && parseTime(filter.self) === null}
                onInput={(event) => { setFilter({ ...filter, self: event.currentTarget.value }); }} /></label>
            <button type="button" disabled={!isFiltered} onClick={() => { setFilter(everything); shared.setQuery(""); }}>Clear</button>
            <span class="legend" role="status">{isFiltered ? `${count(shown.length)} of ${counted(all, "function")}, ` : `${counted(shown.length, "function")}, `}{time(self)} self</span>
        </div>
    );
}

export function FunctionsPanel({ shared }: { shared: Shared }): VNode {
    const { filter, query } = shared;
    const functions = functionsOf(shared);
    const all = useMemo(() => rowsOf(functions, filter.thread, shared.range !== null), [functions, filter.thread, shared.range]);
    const rows = useMemo(() => {
        const isMatch = matcher(query);
        const calls = /^\d+$/.test(filter.calls) ? Number(filter.calls) : 0;
        const self = parseTime(filter.self) ?? 0;
        return all.filter((row) => (filter.file === "" || row.file === filter.file) && row.calls >= calls && (row.self_ns ?? 0) >= self &&
            (isMatch === null || isMatch(`${row.name} ${row.signature ?? ""} ${row.file ?? ""}`)));
    }, [all, query, filter]);
    const columns = useMemo((): Column<Row>[] => {
        const axis = axisOf(functions.map((row) => row.histogram));
        const most = Math.max(1, ...all.map((row) => row.self_ns ?? 0));
        return [
            { id: "name", title: "Function", hint: "Name and place", isText: true, value: (row) => row.name, show: null,
                name: ({ name, signature, file, line = 0 }) => file === undefined ? { name, whole: signature ?? name }
                    : { name, place: `${isolated(file.split("/").pop() ?? "")}:${line}`, whole: `${signature ?? name}\n${file}:${line}` } },
            { id: "calls", title: "Calls", hint: "How often it was called", value: (row) => row.calls, show: (row) => count(row.calls) },
            ...times.map(([key, title, hint]): Column<Row> => ({ id: key, title, hint, value: (row) => row[key],
                show: (row) => key !== "self_ns" ? time(row[key]) : (
                    <span class="meter" style={{ "--part": String((row.self_ns ?? 0) / most) }}>{time(row.self_ns)}</span>) })),
            { id: "distribution", title: "Distribution", hint: "Durations of calls, of all threads, on one logarithmic axis for all functions; heights are square roots",
                value: (row) => row.p50_ns, show: (row) => <Spark histogram={row.histogram} axis={axis} /> },
        ];
    }, [functions, all]);
    if (functions.length === 0)
        return <p class="none">This trace has no function calls.</p>;
    const place = shared.selection?.of === "function" ? shared.selection.row : -1;
    return (
        <div class="listed">
            <Filters shared={shared} shown={rows} all={all.length} />
            {rows.length === 0 && <p class="none">{shared.range !== null && all.length === 0 ? "No call begins in the range." : "No function matches."}</p>}
            {rows.length > 0 && <Table columns={columns} rows={rows} first="self_ns" selected={rows.find((row) => row.place === place) ?? null} label="Functions"
                onSelect={(row) => { shared.select({ of: "function", row: row.place }); }} />}
        </div>
    );
}
