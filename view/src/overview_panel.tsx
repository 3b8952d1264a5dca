/* The first page: the program, whether the trace is complete, and where the time went. */
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { Repairs, TraceInfo } from "./data";
import { probeName } from "./details";
import { bytes, clock, count, counted, named, percent, time } from "./format";
import { clockText, type Hosts, pairTexts } from "./hosts";
import type { Model } from "./lanes";
import type { Shared } from "./state";
import { isolated, short } from "./text";

const POINTS = 400;

/** Number of threads on the CPU, and number of threads, over time. */
function activity(model: Model): { on: Float64Array; there: Float64Array } {
    const on = new Float64Array(POINTS);
    const there = new Float64Array(POINTS);
    const step = (model.last - model.first) / POINTS;
    const add = (to: Float64Array, start: number, length: number, sum: number): void => {
        const from = start - model.first;
        const first = Math.max(0, Math.floor(from / step));
        const last = Math.min(POINTS - 1, Math.floor((from + length) / step));
        for (let i = first; i <= last; i++) {
            const share = length <= 0 ? 0 : Math.max(0, Math.min(from + length, (i + 1) * step) - Math.max(from, i * step)) / length;
            to[i] += sum * share / step;
        }
    };
    for (const thread of model.real) {
        const length = thread.last - thread.first;
        add(there, thread.first, length, length);
        if (!thread.cpuKnown)
            continue;
        add(on, thread.first, length, length);
        const { off } = thread;
        for (let i = 0; off !== null && i < off.size; i++)
            add(on, off.start[i], Math.max(off.length[i], 1), -off.busy[i]);
    }
    return { on, there };
}

function Activity({ model }: { model: Model }): VNode {
    const { on, there } = useMemo(() => activity(model), [model]);
    const width = 800;
    const height = 90;
    const most = Math.max(1, ...there);
    const area = (values: Float64Array): string => {
        let text = `M0 ${height}`;
        values.forEach((value, i) => {
            const y = (height - Math.max(0, value) / most * (height - 4)).toFixed(1);
            text += `L${(i / POINTS * width).toFixed(1)} ${y}L${((i + 1) / POINTS * width).toFixed(1)} ${y}`;
        });
        return `${text}L${width} ${height}z`;
    };
    return (
        <figure class="activity">
            <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label="Threads on the CPU over time">
                <path class="there" d={area(there)} />
                <path class="running" d={area(on)} />
            </svg>
            <figcaption><span>{time(model.first)}</span><span>{time(model.last)}</span></figcaption>
            <p class="legend"><i class="on" /> threads on the CPU <i class="off" /> threads off the CPU; at most {Math.round(most)}</p>
        </figure>
    );
}

function repairTexts(repairs: Repairs): string[] {
    const texts: [number, string, string, string][] = [
        [repairs.unwound, "scope was", "scopes were", "left without a leave (longjmp, or a missing record) and closed by repair"],
        [repairs.open, "scope was", "scopes were", "still open at the end of the records"],
        [repairs.orphans, "leave", "leaves", "had no enter"],
        [repairs.pauses_unmatched, "pause", "pauses", "had no resume"],
        [repairs.resumes_unmatched, "resume", "resumes", "had no pause"],
    ];
    return texts.filter(([number]) => number > 0)
        .map(([number, singular, plural, text]) => `${counted(number, singular, plural)} ${text}.`);
}

const losses: readonly [string, string, string, string][] = [
    ["dropped_no_free_chunk", "record was", "records were", "dropped: no chunk was free"],
    ["dropped_no_memory_or_limit", "record was", "records were", "dropped: no memory, or a limit"],
    ["dropped_not_writable", "record was", "records were", "dropped: the trace could not be written"],
    ["records_missing", "record was written, but is", "records were written, but are", "not in this file"],
    ["damaged_places", "place of the file is", "places of the file are", "damaged"],
    ["stalls", "time", "times", "a thread waited for the writer"],
];

/** "2ns to 10ns a hit, 9ns to 21ns a call; 1.2us to 3.4us in all"; in profile mode only
 * calls. */
function overheadText(info: TraceInfo, profiled: number): string {
    const { overhead, counts } = info;
    if (overhead === null)
        return "not measured";
    const kinds: [string, string[], number][] = [
        ["a hit", ["hit"], counts.hits ?? 0],
        ["a call", info.profile ? ["profiled_own", "profiled_caller"] : ["scope_own", "scope_caller"],
            info.profile ? profiled : counts.scopes ?? 0],
    ];
    const known = kinds.filter(([, parts]) => parts.some((part) => overhead[part] !== undefined));
    const sum = (parts: string[], end: "least_ns" | "most_ns"): number =>
        parts.reduce((total, part) => total + Math.max(0, overhead[part]?.[end] ?? 0), 0);
    const all = (end: "least_ns" | "most_ns"): number =>
        known.reduce((total, [, parts, calls]) => total + calls * sum(parts, end), 0);
    const texts = known.map(([text, parts]) => `${time(sum(parts, "least_ns"))} to ${time(sum(parts, "most_ns"))} ${text}`);
    // With several traces, it is unknown in which of them profile mode was used.
    const sums = all("most_ns") > 0 ? `; ${time(all("least_ns"))} to ${time(all("most_ns"))} in all` : "";
    return known.length === 0 ? "not measured" : texts.join(", ") + sums;
}

function TraceCard({ info, profiled }: { info: TraceInfo; profiled: number }): VNode {
    const counts = losses.filter(([key]) => (info.counts[key] ?? 0) > 0);
    const { program } = info;
    return (
        <section class="card">
            <h2>{short(program.name?.split("/").pop() ?? info.trace, 60)}</h2>
            <p class={info.complete ? "pill good" : "pill bad"}>{info.complete ? "complete" : "INCOMPLETE"}</p>
            <p>{info.why}.</p>
            {info.profile && <p>Profile mode: calls were counted, without time stamps. The counts are in the table of functions.</p>}
            {counts.map(([key, singular, plural, text]) => <p key={key} class="notice">{counted(info.counts[key] ?? 0, singular, plural)} {text}.</p>)}
            <dl class="facts">
                <dt>Command</dt><dd><code>{short(program.arguments.join(" "), 400) || "–"}</code></dd>
                <dt>Process</dt><dd>{program.pid}, {info.state}</dd>
                <dt>Began</dt><dd>{clock(BigInt(Math.round(info.times.started_ns)), 0).replace(/\.\d+$/, "")}</dd>
                <dt>Machine</dt><dd>{program.host ?? "–"}</dd>
                <dt>CPU</dt><dd>{program.cpu ?? "–"}</dd>
                <dt>Kernel</dt><dd>{program.kernel ?? "–"}</dd>
                <dt>Trace</dt><dd>{info.trace}, {bytes(info.counts.file_bytes ?? 0)}, {counted(info.counts.records ?? 0, "record")}</dd>
                <dt>Wall time</dt><dd>within {time(info.times.wall_bound_ns)}, clock {info.times.clock}{info.times.wall_steps > 0 ? `; set ${counted(info.times.wall_steps, "time")} during the run` : ""}</dd>
                <dt>Overhead</dt><dd>{overheadText(info, profiled)}</dd>
                <dt>CPU time</dt><dd>{info.times.cpu_recorded ? `within ${time(info.times.cpu_bound_ns)}` : "not recorded"}</dd>
            </dl>
        </section>
    );
}

/** The hosts of the traces, with their clocks, and the messages by which they were compared. */
function HostsCard({ hosts }: { hosts: Hosts }): VNode | null {
    if (hosts.list.length < 2)
        return null;
    return (
        <section class="card wide hosts">
            <h2>{hosts.list.length} hosts</h2>
            <dl class="facts">
                {hosts.list.map((host, index) => [<dt key={index}>{short(host.name, 60)}</dt>, <dd key={`clock ${index}`}>{clockText(hosts, host)}</dd>])}
            </dl>
            {pairTexts(hosts).map((text) => <p key={text} class="faint">{text}.</p>)}
        </section>
    );
}

function Figure({ value, singular, plural }: { value: number; singular: string; plural: string }): VNode {
    return <div><b>{count(value)}</b><span>{value === 1 ? singular : plural}</span></div>;
}

function Top({ shared }: { shared: Shared }): VNode | null {
    const { functions } = shared.data.report;
    const top = useMemo(() => functions.map((row, index) => ({ row, index }))
        .sort((a, b) => (b.row.self_ns ?? 0) - (a.row.self_ns ?? 0)).slice(0, 10), [functions]);
    if (top.length === 0)
        return null;
    const all = functions.reduce((sum, row) => sum + (row.self_ns ?? 0), 0);
    const most = Math.max(1, top[0].row.self_ns ?? 0);
    return (
        <section class="card">
            <h2>Where the time went</h2>
            <p class="faint">Self time: without callees. The lighter part was off the CPU.</p>
            <ol class="top">
                {top.map(({ row, index }) => (
                    <li key={index}>
                        <button type="button" onClick={() => { shared.go("functions"); shared.select({ of: "function", row: index }); }}>
                            <span class="name">{named(row.name, 60)}</span>
                            <span class="bar" style={{ "--part": String((row.self_ns ?? 0) / most), "--away": String((row.off_cpu_self_ns ?? 0) / Math.max(1, row.self_ns ?? 0)) }} />
                            <span class="number">{time(row.self_ns)}</span>
                            <span class="number faint">{percent((row.self_ns ?? 0) / Math.max(1, all))}</span>
                        </button>
                    </li>))}
            </ol>
        </section>
    );
}

function TopBlocks({ shared }: { shared: Shared }): VNode | null {
    const { blocks: { blocks }, block_histograms: histograms } = shared.data;
    const top = blocks.slice(0, 10);
    if (top.length === 0)
        return null;
    const all = blocks.reduce((sum, block) => sum + block.wall_ns, 0);
    return (
        <section class="card">
            <h2>From probe to probe</h2>
            <p class="faint">Total wall time of blocks. The lighter part was off the CPU.</p>
            <ol class="top">
                {top.map((block, index) => (
                    <li key={index}>
                        <button type="button" onClick={() => { shared.go("blocks"); shared.select({ of: "block", block, histogram: histograms[index] }); }}>
                            <span class="name">{short(`${probeName(block.from, block.from_name)} → ${probeName(block.to, block.to_name)}`, 60)}</span>
                            <span class="bar" style={{ "--part": String(block.wall_ns / Math.max(1, top[0].wall_ns)), "--away": String((block.off_cpu_ns ?? 0) / Math.max(1, block.wall_ns)) }} />
                            <span class="number">{time(block.wall_ns)}</span>
                            <span class="number faint">{percent(block.wall_ns / Math.max(1, all))}</span>
                        </button>
                    </li>))}
            </ol>
        </section>
    );
}

/** Most traces have few threads. If there are very many, lists those that ran longest. */
const THREADS = 100;

function Threads({ shared }: { shared: Shared }): VNode {
    const all = useMemo(() => shared.data.threads.processes.flatMap((process) =>
        process.threads.map((thread) => ({ pid: process.pid, ...thread }))), [shared.data]);
    const shown = useMemo(() => all.length <= THREADS ? all
        : [...all].sort((a, b) => b.lifetime_ns - a.lifetime_ns).slice(0, THREADS), [all]);
    const most = Math.max(1, ...shown.map((thread) => thread.lifetime_ns));
    return (
        <section class="card wide">
            <h2>{count(all.length)} {all.length === 1 ? "thread" : "threads"}</h2>
            <table class="threads">
                <thead><tr><th scope="col" class="text">Thread</th><th scope="col" class="text" colspan={2}>From first to last record</th><th scope="col">On the CPU</th><th scope="col">Off it</th><th scope="col">Calls</th><th scope="col">Hits</th></tr></thead>
                <tbody>
                    {shown.map((thread) => (
                        <tr key={`${thread.pid} ${thread.tid} ${thread.first_ns}`}>
                            <td class="text">{isolated(short(thread.name ?? "", 40))} <span class="faint">{thread.tid}</span></td>
                            <td class="bars"><span class="bar" style={{ "--part": String(thread.lifetime_ns / most), "--away": String((thread.off_cpu_ns ?? 0) / Math.max(1, thread.lifetime_ns)) }} /></td>
                            <td>{time(thread.lifetime_ns)}</td>
                            <td>{time(thread.cpu_ns)}</td>
                            <td>{time(thread.off_cpu_ns)}</td>
                            <td>{count(thread.scopes)}</td>
                            <td>{count(thread.hits)}</td>
                        </tr>))}
                </tbody>
            </table>
            {all.length > shown.length && <p class="faint">{count(all.length - shown.length)} more, which ran less long, are not listed.</p>}
        </section>
    );
}

export function OverviewPanel({ shared }: { shared: Shared }): VNode {
    const { data, model } = shared;
    const repairs = repairTexts(data.report.repairs);
    const totals = data.threads.processes.reduce((sum, process) => ({ scopes: sum.scopes + process.scopes, hits: sum.hits + process.hits }), { scopes: 0, hits: 0 });
    return (
        <div class="overview">
            <section class="card figures">
                <div><b>{time(data.timeline.length_ns)}</b><span>from first to last record</span></div>
                <Figure value={data.threads.processes.reduce((sum, process) => sum + process.threads.length, 0)} singular="thread" plural="threads" />
                {totals.scopes + data.tree.calls_profiled > 0 && <Figure value={totals.scopes + data.tree.calls_profiled} singular="call" plural="calls" />}
                {totals.hits > 0 && <Figure value={totals.hits} singular="hit of a probe" plural="hits of probes" />}
                {data.report.functions.length > 0 && <Figure value={data.report.functions.length} singular="function" plural="functions" />}
            </section>
            {model.lanes.length === 0 && data.report.functions.length === 0 && <section class="card wide"><p>No records of calls or probes are in this trace.</p></section>}
            {model.lanes.length > 0 && <section class="card wide"><h2>Threads on the CPU</h2><Activity model={model} /></section>}
            <Top shared={shared} />
            <TopBlocks shared={shared} />
            <HostsCard hosts={model.hosts} />
            {data.info.map((info, index) => <TraceCard key={index} info={info} profiled={data.info.length === 1 ? data.tree.calls_profiled : 0} />)}
            {repairs.length > 0 && <section class="card"><h2>Repairs</h2>{repairs.map((text) => <p key={text} class="notice">{text}</p>)}</section>}
            <Threads shared={shared} />
        </div>
    );
}
