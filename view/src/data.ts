/* The page's data: the JSON of the commands, and the spans of the timeline. Its texts come from
 * traced programs: they are always shown as text, never parsed as markup. */

import { widen } from "./histogram";
import { counted } from "./text";
import type { TileIndex } from "./tiles";

export interface Times {
    calls: number;
    calls_untimed: number;
    calls_repaired: number;
    total_ns: number | null;
    self_ns: number | null;
    paused_ns: number | null;
    self_corrected_ns?: number | null;
    self_error_ns?: number | null;
    cpu_total_ns: number | null;
    cpu_self_ns: number | null;
    off_cpu_total_ns: number | null;
    off_cpu_self_ns: number | null;
}

/** The lower bound of a bucket, and its number of calls. */
export type Bucket = [number, number];

/** Includes the times of single calls. */
export interface CallTimes extends Times {
    elapsed_ns: number | null;
    parallelism: number | null;
    min_ns: number | null;
    mean_ns: number | null;
    p50_ns: number | null;
    p90_ns: number | null;
    p99_ns: number | null;
    max_ns: number | null;
}

export interface FunctionRow extends CallTimes {
    name: string;
    declared: boolean;
    signature?: string;
    file?: string;
    line?: number;
    object?: string;
    histogram: Bucket[];
    /** The same for each thread; missing if there are too many threads for a page. */
    threads?: (CallTimes & { pid: number; tid: number; name: string | null })[];
}

export interface TreeNode extends Times {
    name?: string;
    file?: string;
    line?: number;
    children: TreeNode[];
}

export interface ThreadSums {
    first_ns: number;
    last_ns: number;
    lifetime_ns: number;
    cpu_ns: number | null;
    off_cpu_ns: number | null;
    cpu_share: number | null;
    records: number;
    hits: number;
    scopes: number;
}

export interface ThreadRow extends ThreadSums {
    tid: number;
    name: string | null;
}

export interface Process extends ThreadSums {
    pid: number;
    threads: ThreadRow[];
}

export interface Block {
    from: string;
    from_is_site: boolean;
    from_name: string | null;
    to: string;
    to_is_site: boolean;
    to_name: string | null;
    calls: number;
    probability: number;
    wall_ns: number;
    cpu_ns: number | null;
    off_cpu_ns: number | null;
    min_ns: number;
    mean_ns: number;
    p50_ns: number;
    p90_ns: number;
    p99_ns: number;
    max_ns: number;
    slowest: { pid: number; tid: number; thread: string | null; at_ns: string; wall_ns: number; off_cpu_ns: number | null }[];
}

/** How the clock of a trace's host was compared with other clocks (doc/hosts.md). */
export interface Alignment {
    host: number;
    reference: number;
    linked: boolean;
    offset_ns: number;
    drift_ppm: number;
    /** null: unknown. */
    error_ns: number | null;
    pairs: { from: number; to: number; state: string; by: string; forward: number; backward: number; offset_ns: number; drift_ppm: number; error_ns: number | null }[];
}

export interface TraceInfo {
    trace: string;
    /** null: only one host, or not aligned. */
    alignment: Alignment | null;
    state: string;
    complete: boolean;
    why: string;
    mode: string;
    profile: boolean;
    program: {
        name: string | null;
        arguments: string[];
        directory: string | null;
        pid: number;
        host: string | null;
        kernel: string | null;
        cpu: string | null;
        library: string | null;
    };
    counts: Record<string, number | null>;
    /** The overhead of recording, by kind of record; null: not measured. */
    overhead: Record<string, { least_ns: number; most_ns: number } | undefined> | null;
    times: {
        clock: string;
        wall_bound_ns: number;
        wall_steps: number;
        cpu_recorded: boolean;
        cpu_bound_ns: number | null;
        started_ns: number;
    };
}

export interface Repairs {
    unwound: number;
    open: number;
    orphans: number;
    pauses_unmatched: number;
    resumes_unmatched: number;
}

export const Kind = { Function: 0, Probe: 1, Site: 2, Message: 3, Checkpoint: 4, Block: 5, Holder: 6, Waiter: 7, Length: 8 } as const;

/** thread, depth, start, length, off the CPU, number of values (0: none) */
export type SlowCall = [number, number, number, number, number, number];

export interface Name {
    kind: number;
    /** For a probe, its name; for a block, the name with which it begins; for a holder or waiter,
     * the thread. */
    number: number;
    /** For a block, the name with which it ends; -1: none, since the records end. */
    to?: number;
    name: string;
    file?: string;
    line?: number;
    signature?: string;
    slow: SlowCall[];
}

export interface Timeline {
    first_ns: string;
    since_start_ns: number;
    length_ns: number;
    unit_ns: number;
    calls: number;
    marks: number;
    blocks: number;
    objects_beyond: number;
    requests_beyond: number;
    together: number;
    too_deep: number;
    threads_beyond: number;
    values_min_ns: number;
    spans: number;
    names: Name[];
    report_names: number[];
    /** From and to, in time order. */
    stretches: [number, number][];
    /** The values of --tid. */
    tids: string | null;
    threads: {
        trace: number;
        /** The thread's number in the trace. */
        thread: number;
        pid: number;
        tid: number;
        cpu_known: boolean;
        first_ns: number;
        last_ns: number;
        name: string | null;
        /** Missing: it is a thread. */
        track?: number;
        object?: string;
        lanes: [number, number, number][];
    }[];
    /** Blocks of each thread: thread, name, calls, wall time, CPU time, time off the CPU. */
    sums: [number, number, number, number, number, number][];
    values: [string | null, string | null][];
}

export interface Change {
    base_median: number | null;
    new_median: number | null;
    ratio: number | null;
    low: number | null;
    high: number | null;
    verdict: string;
    runs_needed: number | null;
}

export interface Changed {
    name: string;
    signature: string;
    file: string;
    line: number;
    object: string;
    statistics: Record<"calls" | "self" | "total" | "cpu" | "mean" | "median" | "p99", Change>;
}

/** A block has no self time. */
export interface ChangedBlock {
    name: string;
    /** With names instead of numbers. */
    named: string | null;
    from_is_site: boolean;
    to_is_site: boolean;
    statistics: Record<"calls" | "total" | "cpu" | "mean" | "median" | "p99", Change>;
}

/** The requests that begin at one probe. They have no self or CPU time. */
export interface ChangedRequest {
    name: string;
    named: string | null;
    is_site: boolean;
    statistics: Record<"calls" | "total" | "mean" | "median" | "p99", Change>;
}

/** Durations of the requests that begin at one probe. */
export interface RequestKind { name: string; is_site: boolean; histogram: Bucket[] }

interface Run { trace: string; complete: boolean; why: string }

export interface Comparison {
    method: { confidence: number; tolerance_percent: number; tests: number; runs_without_requests: number; requests_left_out: number };
    base: Run[];
    new: Run[];
    functions: Changed[];
    blocks: ChangedBlock[];
    requests: ChangedRequest[];
}

/** The call tree. */
export interface Tree { nodes_pruned: number; calls_lost: number; calls_profiled: number; tree: TreeNode[] }

/** The waits of threads, with holders and the thread that ended each wait
 * (src/page/view_waits.c). */
export interface WaitsData {
    /** Number of waits that were left out, all of them shorter than this duration. */
    dropped: number;
    least_ns: number;
    /** By slot: the trace, and the thread's number in it. */
    threads: [number, number][];
    /** "lock", its name, its address. */
    names: [string, string, string][];
    list: number[][];
}

/** Sends with their receives in other traces (src/page/view_messages.c). */
export interface MessagesData {
    /** Number of messages that were left out. */
    beyond: number;
    /** Trace and thread of the send, time since the previous send; trace and thread of the receive,
     * length. */
    list: [number, number, number, number, number, number][];
}

/** A call, or a span between two probes, at which the page opens; in ns since recording began. */
export interface Place {
    trace: number;
    /** The thread's number in the trace. */
    thread: number;
    from: number;
    to: number;
    is_call: boolean;
    /** Whether the timeline shows everything. */
    is_whole: boolean;
}

export interface Data {
    /** Missing: the first part. */
    place?: Place;
    waits?: WaitsData;
    /** Missing: there is only one trace. */
    messages?: MessagesData;
    diff?: Comparison;
    /** The tree of the base of the comparison, for all its runs together; the number of runs, or
     * the reason why there is no tree. */
    base?: Tree;
    base_runs?: number;
    base_why?: string | null;
    /** Of the same runs as the tree; present only if the tree is. */
    base_info?: TraceInfo[];
    base_report?: Data["report"];
    base_blocks?: Data["blocks"];
    base_block_histograms?: Bucket[][];
    base_requests?: RequestKind[];
    base_timeline?: Timeline;
    /** Of this page's traces, if there is a comparison. */
    requests?: RequestKind[];
    tool: string;
    /** Whether there is a server that reads windows of the trace. */
    served: boolean;
    /** Files next to the page. */
    tiles?: TileIndex;
    info: TraceInfo[];
    report: { repairs: Repairs; functions: FunctionRow[] };
    threads: { processes: Process[] };
    tree: Tree;
    blocks: { blocks: Block[] };
    block_histograms: Bucket[][];
    timeline: Timeline;
}

async function unpack(id: string): Promise<Uint8Array<ArrayBuffer>> {
    const element = document.getElementById(`probity-${id}`);
    const text = atob(element?.textContent ?? "");
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++)
        packed[i] = text.charCodeAt(i);
    element?.remove();
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Directional marks in a name would reorder adjacent text: they are shown as symbols. */
export function withoutMarks(json: string): string {
    // The commands escape these marks; an escaped backslash before a "u" does not begin an escape.
    return json.replace(/\\(?:u(061c|200[ef]|202[a-e]|206[6-9])|[^])/gi, (all, code?: string) => code === undefined ? all : `\\\\u${code.toLowerCase()}`)
        .replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
            (mark) => `\\\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The names of the programs whose traces are in the page, excluding the base of a comparison. */
export function titleOf(data: Data): string {
    return counted(data.info.map(({ program, trace }) => program.name?.split("/").pop() ?? trace));
}

/** The base, in the form of a page's data; null: only the comparison with it is known. */
export function baseOf({ tool, base, base_info: info, base_report: report, base_blocks: blocks, base_block_histograms: histograms, base_requests: requests, base_timeline: timeline }: Data): Data | null {
    return base === undefined || info === undefined || report === undefined || blocks === undefined || histograms === undefined || requests === undefined || timeline === undefined ? null
        : { tool, served: false, info, report, threads: { processes: [] }, tree: base, blocks, block_histograms: histograms, requests, timeline };
}

/** baseSpans: spans of the base's timeline; empty: none. */
export async function load(): Promise<{ data: Data; spans: Uint8Array; baseSpans: Uint8Array }> {
    const [json, spans, baseSpans] = await Promise.all([unpack("data"), unpack("spans"), document.getElementById("probity-base-spans") === null ? new Uint8Array() : unpack("base-spans")]);
    const text = withoutMarks(new TextDecoder().decode(json));
    // A time since 1970 has more digits than a JavaScript number can hold. Quotes in texts are
    // escaped, so no text has this key.
    const data = JSON.parse(text.replace(/"at_ns": (\d+)/g, '"at_ns": "$1"')) as Data;
    // A page with tiles is the same file with and without the server.
    data.served ||= document.getElementById("probity-windows") !== null;
    for (const row of [...data.report.functions, ...data.base_report?.functions ?? []])
        row.histogram = widen(row.histogram);
    data.block_histograms = data.block_histograms.map(widen);
    if (data.base_block_histograms !== undefined)
        data.base_block_histograms = data.base_block_histograms.map(widen);
    for (const kind of [...data.requests ?? [], ...data.base_requests ?? []])
        kind.histogram = widen(kind.histogram);
    return { data, spans, baseSpans };
}
