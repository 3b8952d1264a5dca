/* Details of the selection. */
import type { ComponentChildren, VNode } from "preact";
import { useMemo } from "preact/hooks";
import { endsOf, holderOf, stagesOf } from "./arrows";
import { aligned } from "./aligned";
import { changeText, durationsOf, hint, placesOf, type Row, type Statistic, tone } from "./change";
import { type Block, type FunctionRow, Kind, type Name } from "./data";
import { type FlameNode, sidesOf } from "./flame";
import { at, clock, count, named, one, percent, signed, time } from "./format";
import { Histogram, Overlay } from "./histogram";
import { Flag, LaneKind, type Lane, Track } from "./lanes";
import { rangeSums, type Sum } from "./range";
import { Callers } from "./sandwich";
import { type Selection, type Shared, signatureOf } from "./state";
import { PathOf, StateDetails, StateFacts } from "./states_details";
import { isolated } from "./text";
import { levelOf, titleOf } from "./timeline";

function Facts({ children }: { children: ComponentChildren }): VNode {
    return <dl class="facts">{children}</dl>;
}

function Fact({ name, id, children }: { name: string; id?: string; children: ComponentChildren }): VNode {
    return (
        <>
            <dt>{name}</dt>
            <dd data-fact={id ?? name}>{children}</dd>
        </>
    );
}

function Place({ file, line }: { file: string | undefined; line: number | undefined }): VNode | null {
    return file === undefined || file === "" ? null : <p class="place">{`${isolated(file)}:${line ?? 0}`}</p>;
}

function Signature({ text }: { text: string }): VNode | null {
    return text === "" ? null : <code class="signature">{text}</code>;
}

function FunctionFacts({ row, shared, mark, isChange = false }: { row: number; shared: Shared; mark?: number; isChange?: boolean }): VNode {
    const { range } = shared;
    const facts: FunctionRow = (shared.ranged()?.functions ?? shared.data.report.functions)[row];
    const name = shared.data.timeline.report_names[row];
    const slow = (name >= 0 ? shared.model.names[name].slow : []).filter(([,, start]) => range === null || (start >= range.from && start < range.to));
    return (
        <>
            <h3>{range !== null ? "Calls that begin in the range" : isChange ? "All calls of the new side" : "All calls"}</h3>
            <Facts>
                <Fact name="Calls">{count(facts.calls)}</Fact>
                <Fact name="Total">{time(facts.total_ns)}</Fact>
                <Fact name="Self">{time(facts.self_ns)}</Fact>
                {facts.self_corrected_ns != null && <Fact name="Self, less recording">{time(facts.self_corrected_ns)} ± {time(facts.self_error_ns)}</Fact>}
                <Fact name="CPU, self">{time(facts.cpu_self_ns)}</Fact>
                <Fact name="Off CPU, self">{time(facts.off_cpu_self_ns)}</Fact>
                {(facts.paused_ns ?? 0) > 0 && <Fact name="Paused">{time(facts.paused_ns)}</Fact>}
                <Fact name="Mean">{time(facts.mean_ns)}</Fact>
                <Fact name="Median">{time(facts.p50_ns)}</Fact>
                <Fact name="p90">{time(facts.p90_ns)}</Fact>
                <Fact name="p99">{time(facts.p99_ns)}</Fact>
                <Fact name="Longest">{time(facts.max_ns)}</Fact>
            </Facts>
            <Callers row={row} shared={shared} />
            <Histogram histogram={facts.histogram} mark={mark} label="Durations of its calls" />
            {slow.length > 0 && <h3>Slowest calls</h3>}
            <ol class="slow">
                {slow.map(([thread, depth, start, length, off, values], index) => {
                    const [given] = values > 0 ? shared.data.timeline.values[values - 1] : [null];
                    return (
                        <li key={index}>
                            <button type="button" onClick={() => { shared.jump(thread, depth, start, length); }}>
                                <b>{time(length)}</b>
                                {off > 0 && <span>, off the CPU {time(off)}</span>}
                                <span class="faint"> at {at(start)}, thread {shared.model.threads[thread].tid}</span>
                                {given !== null && <code>{given}</code>}
                            </button>
                        </li>);
                })}
            </ol>
        </>
    );
}

function flagsOf(flags: number): string[] {
    const texts = [];
    if ((flags & Flag.Unwound) !== 0)
        texts.push("not closed by a leave (longjmp, or a missing record): it ends with the last record in it");
    if ((flags & Flag.Open) !== 0)
        texts.push((flags & Flag.Before) !== 0 ? "still open at the end of the range" : "still open at the end of the records");
    if ((flags & Flag.Untimed) !== 0)
        texts.push("entered while profiling was off");
    if ((flags & Flag.Before) !== 0)
        texts.push("entered before this page's range; not counted in any table");
    return texts;
}

function ThreadFact({ lane, shared }: { lane: Lane; shared: Shared }): VNode {
    const thread = shared.model.threads[lane.thread];
    if (thread.track !== Track.Thread)
        return <Fact name="Row">{titleOf(thread, false)}</Fact>;
    return <Fact name="Thread">{`${isolated(thread.name)} ${thread.tid}`.trim()}{shared.data.info.length > 1 ? `, process ${thread.pid}` : ""}{shared.model.hosts.list.length > 1 ? ` on ${shared.model.hosts.list[thread.host].name}` : ""}</Fact>;
}

function WhenFacts({ start, shared }: { start: number; shared: Shared }): VNode {
    return (
        <>
            <Fact name="Begins" id="begins">{at(start)} <span class="faint">since recording began</span></Fact>
            <Fact name="Time of day">{clock(shared.model.started, start)}</Fact>
        </>
    );
}

function CallDetails({ lane, index, shared }: { lane: Lane; index: number; shared: Shared }): VNode {
    const number = lane.name[index];
    const name = shared.model.names[number];
    const row = shared.model.rowOfName[number];
    const length = lane.whole.get(index) ?? lane.length[index];
    const off = lane.off[index];
    const [given, returned] = lane.values[index] > 0 ? shared.data.timeline.values[lane.values[index] - 1] : [null, null];
    const { values_min_ns: least } = shared.data.timeline;
    return (
        <>
            <h2>{named(name.name)}</h2>
            <Signature text={signatureOf(shared, number)} />
            <Place file={name.file} line={name.line} />
            {flagsOf(lane.flags[index]).map((text) => <p class="notice" key={text}>This call was {text}.</p>)}
            <Facts>
                <Fact name="Took" id="took">{time(length)}</Fact>
                {shared.model.threads[lane.thread].cpuKnown && <Fact name="On the CPU">{time(length - off)}</Fact>}
                {shared.model.threads[lane.thread].cpuKnown && <Fact name="Off the CPU">{time(off)} {length > 0 ? `(${percent(off / length)})` : ""}</Fact>}
                <StateFacts lane={lane} index={index} shared={shared} />
                <WhenFacts start={lane.start[index]} shared={shared} />
                <ThreadFact lane={lane} shared={shared} />
                <Fact name="Depth">{lane.depth}</Fact>
                {given !== null && <Fact name="Parameters"><code>{given}</code></Fact>}
                {returned !== null && <Fact name="Returned"><code>{returned}</code></Fact>}
            </Facts>
            <PathOf lane={lane} index={index} shared={shared} />
            {given === null && returned === null && length < least &&
                <p class="faint">Parameters are kept of calls from {time(least)} on.</p>}
            {row >= 0 && <FunctionFacts row={row} shared={shared} mark={length} />}
        </>
    );
}

function TogetherDetails({ lane, first, last, shared }: { lane: Lane; first: number; last: number; shared: Shared }): VNode {
    const calls = lane.countBefore[last + 1] - lane.countBefore[first];
    const busy = lane.busyBefore[last + 1] - lane.busyBefore[first];
    const length = lane.start[last] + lane.length[last] - lane.start[first];
    const row = shared.model.rowOfName[lane.name[first]];
    const what = lane.kind === LaneKind.Marks ? "marks" : lane.kind === LaneKind.Blocks ? "blocks" : lane.kind === LaneKind.Calls ? "calls" : "spans";
    return (
        <>
            <h2>{count(calls)} {what} together</h2>
            <p>Mostly <b>{named(shared.model.names[lane.name[first]].name)}</b>. {last > first
                ? "They share a column of the screen: zoom in to separate them."
                : shared.data.timeline.unit_ns <= 1 ? "They have the same time, to the nanosecond."
                : `Each was shorter than ${time(shared.data.timeline.unit_ns)}: they were merged when this page was written. The command below the timeline writes a page that shows each.`}
            </p>
            <Facts>
                <Fact name="From first to last">{time(length)}</Fact>
                {lane.kind !== LaneKind.Marks && <Fact name="Inside them">{time(busy)}</Fact>}
                <WhenFacts start={lane.start[first]} shared={shared} />
                <ThreadFact lane={lane} shared={shared} />
            </Facts>
            {row >= 0 && <FunctionFacts row={row} shared={shared} />}
        </>
    );
}

function OffDetails({ lane, index, last, shared }: { lane: Lane; index: number; last: number; shared: Shared }): VNode {
    const off = lane.busyBefore[last + 1] - lane.busyBefore[index];
    const length = lane.start[last] + lane.length[last] - lane.start[index];
    return (
        <>
            <h2>Off the CPU</h2>
            <p>Between two records, less CPU time than wall time passed: the thread slept, waited, or was preempted. It is not known exactly when.</p>
            <Facts>
                <Fact name="Off the CPU">{time(off)}</Fact>
                <Fact name="Between records">{time(length)}</Fact>
                <WhenFacts start={lane.start[index]} shared={shared} />
                <ThreadFact lane={lane} shared={shared} />
            </Facts>
        </>
    );
}

function MarkDetails({ lane, index, shared }: { lane: Lane; index: number; shared: Shared }): VNode {
    const name = shared.model.names[lane.name[index]];
    const [text] = lane.values[index] > 0 ? shared.data.timeline.values[lane.values[index] - 1] : [null];
    const what = name.kind === Kind.Message ? "Message" : name.kind === Kind.Checkpoint ? "Checkpoint" : "Probe";
    const previous = index > 0 && lane.count[index - 1] === 1 ? lane.start[index] - lane.start[index - 1] : null;
    return (
        <>
            <h2>{what}{name.kind === Kind.Probe || name.kind === Kind.Site ? ` ${isolated(name.name)}` : ""}</h2>
            {text !== null && <code class="signature">{text}</code>}
            <Facts>
                {name.kind === Kind.Probe && name.name !== String(name.number) && <Fact name="Number">{name.number}</Fact>}
                <WhenFacts start={lane.start[index]} shared={shared} />
                {previous !== null && <Fact name="Since the previous mark">{time(previous)}</Fact>}
                <ThreadFact lane={lane} shared={shared} />
            </Facts>
        </>
    );
}

/** For a probe, the key in `probity blocks`: a number, or the name of a site. */
function isProbe(name: Name, text: string, isSite: boolean): boolean {
    return name.kind === Kind.Site ? isSite && text === name.name : !isSite && text === String(name.number);
}

/** The statistics of the blocks between the same probes. */
function statisticsOf(shared: Shared, number: number): (Selection & { of: "block" }) | null {
    const { names } = shared.model;
    const { blocks: { blocks }, block_histograms: histograms } = shared.data;
    const { number: from, to = -1 } = names[number];
    const place = to < 0 ? -1 : blocks.findIndex((block) => isProbe(names[from], block.from, block.from_is_site) && isProbe(names[to], block.to, block.to_is_site));
    return place < 0 ? null : { of: "block", block: blocks[place], histogram: histograms[place] };
}

function BlockSpanDetails({ lane, index, shared }: { lane: Lane; index: number; shared: Shared }): VNode {
    const number = lane.name[index];
    const length = lane.length[index];
    const off = lane.off[index];
    const [text] = lane.values[index] > 0 ? shared.data.timeline.values[lane.values[index] - 1] : [null];
    const isOpen = (lane.flags[index] & Flag.Open) !== 0;
    const all = statisticsOf(shared, number);
    return (
        <>
            <h2>{shared.model.names[number].name}</h2>
            {isOpen && <p class="faint">The last hit of this thread: no other follows.</p>}
            {text !== null && <code class="signature">{text}</code>}
            <Facts>
                {!isOpen && <Fact name="Took" id="took">{time(length)}</Fact>}
                {!isOpen && shared.model.threads[lane.thread].cpuKnown && <Fact name="On the CPU">{time(length - off)}</Fact>}
                {!isOpen && shared.model.threads[lane.thread].cpuKnown && <Fact name="Off the CPU">{time(off)} {length > 0 ? `(${percent(off / length)})` : ""}</Fact>}
                <WhenFacts start={lane.start[index]} shared={shared} />
                <ThreadFact lane={lane} shared={shared} />
            </Facts>
            <PathOf lane={lane} index={index} shared={shared} />
            {all !== null && (
                <>
                    <h3>All of these blocks</h3>
                    <BlockFacts block={all.block} />
                    <Histogram histogram={all.histogram} mark={length} label="From one probe to the other" />
                    <button type="button" onClick={() => { shared.go("blocks"); shared.select(all); }}>Show in the table of blocks</button>
                </>)}
        </>
    );
}

/** A stage of a request, a holder of a lock, a waiter for a lock, or the length of a queue. */
function TrackDetails({ lane, index, shared }: { lane: Lane; index: number; shared: Shared }): VNode {
    const track = shared.model.threads[lane.thread];
    const { name, kind } = shared.model.names[lane.name[index]];
    const { start, length } = lane;
    const [first, last] = track.track === Track.Requests ? stagesOf(lane, index) : [index, index];
    const holder = kind === Kind.Waiter ? holderOf(shared.model, { lane, index }) : null;
    const threads = (i: number): string => {
        const { from, to } = endsOf(shared.model, lane, i);
        return from === null || to === null || from === to ? String((from ?? to)?.tid ?? "") : `${from.tid} → ${to.tid}`;
    };
    const title = kind === Kind.Holder ? `${name} holds it` : kind === Kind.Waiter ? `${name} waits for it` : kind === Kind.Length ? `${count(levelOf(lane, index))} in it` : name;
    return (
        <>
            <h2>{title}</h2>
            <Facts>
                <Fact name="Took" id="took">{time(length[index])}</Fact>
                <WhenFacts start={start[index]} shared={shared} />
                <ThreadFact lane={lane} shared={shared} />
                {holder !== null && <Fact name="Held by" id="holder">{shared.model.names[holder.lane.name[holder.index]].name}, for {time(holder.lane.length[holder.index])}, until {at(holder.lane.start[holder.index] + holder.lane.length[holder.index])}</Fact>}
                {track.track === Track.Requests && <Fact name="Threads" id="threads">{threads(index)}</Fact>}
                {track.object !== "" && track.track !== Track.Requests && <Fact name="Object"><code>{track.object}</code></Fact>}
                {track.track === Track.Requests && <Fact name="Request">{lane.off[index]}</Fact>}
            </Facts>
            <PathOf lane={lane} index={index} shared={shared} />
            {track.track === Track.Requests && last > first && (
                <>
                    <h3>The whole request</h3>
                    <table class="sides">
                        <tbody>
                            {Array.from({ length: last - first + 1 }, (_, i) => first + i).map((i) => (
                                <tr key={i}><th scope="row">{shared.model.names[lane.name[i]].name}</th><td class="faint">{threads(i)}</td><td>{time(length[i])}</td></tr>))}
                            <tr><th scope="row"><b>total</b></th><td /><td><b>{time(start[last] + length[last] - start[first])}</b></td></tr>
                        </tbody>
                    </table>
                </>)}
        </>
    );
}

/** onSelect: called on a click on a name; null: nothing. */
function SumTable({ title, what, sums, all, onSelect }: {
    title: string;
    what: string;
    sums: Sum[];
    all: number;
    onSelect?: (row: number) => (() => void) | null;
}): VNode | null {
    const shown = sums.slice(0, 10);
    if (shown.length === 0)
        return null;
    const most = Math.max(1, shown[0].wall);
    return (
        <>
            <h3>{title}</h3>
            <table class="sums wide-names">
                <thead>
                    <tr><th scope="col">{what}</th><th scope="col">Wall</th><th scope="col">CPU</th><th scope="col">Off CPU</th></tr>
                    <tr class="each"><th scope="col">p50</th><th scope="col">p90</th><th scope="col">p99</th><th scope="col">max</th></tr>
                </thead>
                {shown.map((sum) => {
                    const { p50_ns: p50, p90_ns: p90, p99_ns: p99, max_ns: max } = sum.durations.times();
                    return (
                        <tbody key={`${sum.row} ${sum.name}`} data-name={sum.name} style={{ "--part": String(sum.wall / most) }}>
                            <tr><th scope="rowgroup" colspan={4} title={sum.name}>{onSelect !== undefined && onSelect(sum.row) !== null
                                ? <button type="button" onClick={() => { onSelect(sum.row)?.(); }}>{named(sum.name)}</button> : named(sum.name)}</th></tr>
                            <tr>
                                <td>{count(sum.calls)}</td><td title={percent(sum.wall / Math.max(1, all))}>{time(sum.wall)}</td>
                                <td>{time(sum.cpu)}</td><td>{time(sum.cpu === null ? null : Math.max(0, sum.wall - sum.cpu))}</td>
                            </tr>
                            <tr class="each"><td>{time(p50)}</td><td>{time(p90)}</td><td>{time(p99)}</td><td>{time(max)}</td></tr>
                        </tbody>);
                })}
            </table>
            {sums.length > shown.length && <p class="faint">{count(sums.length - shown.length)} more took less.</p>}
        </>
    );
}

function RangeDetails({ selection, shared }: { selection: Selection & { of: "range" }; shared: Shared }): VNode {
    const { range } = selection;
    const sums = useMemo(() => rangeSums(shared.model, range), [shared.model, range]);
    const length = range.to - range.from;
    const known = sums.threads.filter(({ cpu }) => cpu !== null);
    const cpu = known.reduce((sum, each) => sum + (each.cpu ?? 0), 0);
    const there = known.reduce((sum, each) => sum + each.there, 0);
    const all = (list: Sum[]): number => list.reduce((sum, each) => sum + each.wall, 0);
    return (
        <>
            <h2>Selected range</h2>
            <Facts>
                <Fact name="Length" id="length">{time(length)}</Fact>
                <Fact name="From" id="from">{at(range.from)}</Fact>
                <Fact name="To" id="to">{at(range.to)}</Fact>
                {(sums.calls > 0 || sums.functions.length > 0) && <Fact name="Calls" id="calls">{count(sums.calls)}</Fact>}
                {sums.hits > 0 && <Fact name="Hits" id="hits">{count(sums.hits)}</Fact>}
                <Fact name="Threads">{count(sums.threads.length)}</Fact>
                {known.length > 0 && <Fact name="On the CPU" id="cpu">{time(cpu)}, {(cpu / Math.max(1, length)).toFixed(2)} threads</Fact>}
                {known.length > 0 && <Fact name="Off the CPU" id="off">{time(there - cpu)}</Fact>}
            </Facts>
            <button type="button" onClick={() => { shared.showRange(); }}>Zoom to it</button>
            <p class="faint">Times inside the range. Below them, percentiles of the whole calls and blocks that begin in it.</p>
            <SumTable title="Functions, self time" what="Calls" sums={sums.functions} all={all(sums.functions)} onSelect={(row) => row < 0 ? null : () => { shared.go("functions"); shared.select({ of: "function", row }); }} />
            <SumTable title="Blocks" what="Times" sums={sums.blocks} all={all(sums.blocks)} />
            <SumTable title="Waiting for locks" what="Times" sums={sums.waits} all={all(sums.waits)} />
            <h3>Threads</h3>
            <table class="sums">
                <thead><tr><th scope="col" /><th scope="col">CPU</th><th scope="col">Off CPU</th></tr></thead>
                <tbody>
                    {sums.threads.slice(0, 10).map((each) => (
                        <tr key={each.thread.place} style={{ "--part": String((each.cpu ?? 0) / Math.max(1, length)) }}>
                            <th scope="row">{titleOf(each.thread, false)} <span class="faint">{each.thread.tid}</span></th>
                            <td>{time(each.cpu)}</td><td>{time(each.cpu === null ? null : each.there - each.cpu)}</td>
                        </tr>))}
                </tbody>
            </table>
            {sums.threads.length > 10 && <p class="faint">{count(sums.threads.length - 10)} more.</p>}
            {sums.isNear && <p class="faint">Some spans were merged when the page was written: each merged span counts for the name with the most time in it.</p>}
        </>
    );
}

function SpanDetails({ selection, shared }: { selection: Selection & { of: "span" }; shared: Shared }): VNode {
    const { lane, index, last } = selection;
    if (lane.kind === LaneKind.Off)
        return <OffDetails lane={lane} index={index} last={last} shared={shared} />;
    if (lane.kind === LaneKind.States)
        return <StateDetails lane={lane} index={index} last={last} shared={shared} />;
    if (last > index || lane.count[index] > 1)
        return <TogetherDetails lane={lane} first={index} last={last} shared={shared} />;
    if (lane.kind === LaneKind.Blocks)
        return <BlockSpanDetails lane={lane} index={index} shared={shared} />;
    if (lane.kind === LaneKind.Rows)
        return <TrackDetails lane={lane} index={index} shared={shared} />;
    return lane.kind === LaneKind.Marks
        ? <MarkDetails lane={lane} index={index} shared={shared} />
        : <CallDetails lane={lane} index={index} shared={shared} />;
}

/** A path in the base, with values per run for each side. */
function PathChange({ node, shared }: { node: FlameNode; shared: Shared }): VNode {
    const runs = { now: shared.data.info.length, base: shared.data.base_runs ?? 1 };
    const wall = sidesOf(node, "total_ns", runs);
    const cpu = sidesOf(node, "cpu_total_ns", runs);
    const calls = sidesOf(node, "calls", runs);
    const rows: [string, number, number, (value: number) => string][] = [
        ["Total", wall.base, wall.now, time], ["Self", wall.selfBase, wall.selfNow, time],
        ["CPU total", cpu.base, cpu.now, time], ["CPU self", cpu.selfBase, cpu.selfNow, time],
        ["Calls", calls.base, calls.now, one]];
    return (
        <>
            <h3>Along this path, for one run</h3>
            <table class="sides">
                <thead><tr><th /><th scope="col">Base</th><th scope="col">New</th><th scope="col">Change</th></tr></thead>
                <tbody>
                    {rows.map(([name, base, now, text]) => (
                        <tr key={name}><th scope="row">{name}</th><td>{text(base)}</td><td>{text(now)}</td><td>{signed(now - base, text)}</td></tr>))}
                </tbody>
            </table>
        </>
    );
}

function NodeDetails({ selection, shared }: { selection: Selection & { of: "node" }; shared: Shared }): VNode {
    const { node, share } = selection;
    const isChange = shared.flame.mode === "change" && shared.data.base !== undefined;
    const row = shared.data.report.functions.findIndex((each) =>
        each.name === node.name && each.file === node.file && each.line === node.line);
    return (
        <>
            <h2>{named(node.name)}</h2>
            {row >= 0 && <Signature text={shared.data.report.functions[row].signature ?? ""} />}
            <Place file={node.file} line={node.line} />
            {isChange && <PathChange node={node} shared={shared} />}
            {!isChange && node.now !== null && (
                <>
                    <h3>Along this path{shared.data.info.length > 1 ? `, in all ${shared.data.info.length} runs` : ""}</h3>
                    <Facts>
                        <Fact name="Calls">{count(node.now.calls)}</Fact>
                        <Fact name="Total">{time(node.now.total_ns)} ({percent(share)})</Fact>
                        <Fact name="Self">{time(node.now.self_ns)}</Fact>
                        <Fact name="CPU, total">{time(node.now.cpu_total_ns)}</Fact>
                        <Fact name="Off CPU, total">{time(node.now.off_cpu_total_ns)}</Fact>
                    </Facts>
                </>)}
            {row >= 0 && <FunctionFacts row={row} shared={shared} />}
        </>
    );
}

export function probeName(text: string, name: string | null): string {
    return name === null ? isolated(text) : `${text} ${isolated(name)}`;
}

function BlockFacts({ block }: { block: Block }): VNode {
    return (
        <Facts>
            <Fact name="Times">{count(block.calls)}</Fact>
            <Fact name="Share of successors">{percent(block.probability)}</Fact>
            <Fact name="Wall time">{time(block.wall_ns)}</Fact>
            <Fact name="CPU time">{time(block.cpu_ns)}</Fact>
            <Fact name="Off the CPU" id="Off the CPU, all">{time(block.off_cpu_ns)}</Fact>
            <Fact name="Shortest">{time(block.min_ns)}</Fact>
            <Fact name="Mean">{time(block.mean_ns)}</Fact>
            <Fact name="Median">{time(block.p50_ns)}</Fact>
            <Fact name="p90">{time(block.p90_ns)}</Fact>
            <Fact name="p99">{time(block.p99_ns)}</Fact>
            <Fact name="Longest">{time(block.max_ns)}</Fact>
        </Facts>
    );
}

function BlockDetails({ selection, shared }: { selection: Selection & { of: "block" }; shared: Shared }): VNode {
    const { block, histogram } = selection;
    return (
        <>
            <h2>{probeName(block.from, block.from_name)} → {probeName(block.to, block.to_name)}</h2>
            <BlockFacts block={block} />
            <Histogram histogram={histogram} label="From one probe to the other" />
            {block.slowest.length > 0 && <h3>Slowest</h3>}
            <ol class="slow">
                {block.slowest.map((each, index) => {
                    const start = Number(BigInt(each.at_ns) - shared.model.started);
                    const thread = shared.model.threads.find(({ tid, pid }) => tid === each.tid && pid === each.pid);
                    return (
                        <li key={index}>
                            <button type="button" onClick={() => { if (thread !== undefined) shared.jump(thread.place, -1, start, each.wall_ns); }}>
                                <b>{time(each.wall_ns)}</b>
                                {(each.off_cpu_ns ?? 0) > 0 && <span>, off the CPU {time(each.off_cpu_ns)}</span>}
                                <span class="faint"> at {at(start)}, thread {each.tid}</span>
                            </button>
                        </li>);
                })}
            </ol>
        </>
    );
}

const compared: readonly [Statistic, string][] = [["self", "Self"], ["total", "Total"], ["mean", "Mean"], ["median", "Median"], ["p99", "p99"], ["calls", "Calls"]];

/** A function, block or kind of request on both sides of a comparison. */
function ChangeDetails({ row, shared }: { row: Row; shared: Shared }): VNode {
    const { diff, base_why: why } = shared.data;
    const functions = diff?.functions ?? [];
    const places = row.kind === "functions" ? placesOf(shared.data, row.of, functions) : [];
    const median = row.statistics.median;
    const sides = useMemo(() => [shared.base?.data ?? null, shared.data].map((side) => side === null ? [] : durationsOf(side, row, functions)), [shared.data, shared.base, row]);
    const key = shared.base === null ? null : aligned(shared.base.model, shared.base.now).keyOf(row);
    return (
        <>
            <h2>{named(row.name)}</h2>
            <Place file={row.file} line={row.line} />
            <h3>Change</h3>
            <Facts>
                {compared.map(([id, title]) => {
                    const each = row.statistics[id];
                    const text = (value: number | null): string => value === null ? "–" : id === "calls" ? one(value) : time(value);
                    return each === undefined ? null
                        : <Fact key={id} name={title} id={`change ${id}`}>{text(each.base_median)} → {text(each.new_median)}{each.ratio === null ? ": " : ", "}<span class={tone(each)}>{each.ratio === null ? "" : `${changeText(each.ratio)}: `}{hint(each)}</span></Fact>;
                })}
            </Facts>
            <h3>Durations, base and new</h3>
            {shared.base === null && <p class="faint">Only those of the new runs: {why ?? "the base has none"}.</p>}
            <Overlay base={{ histogram: sides[0], median: median?.base_median ?? null }} now={{ histogram: sides[1], median: median?.new_median ?? null }} label="Durations of both sides" />
            {key !== null && <p><button type="button" onClick={() => { shared.setCompared({ mode: "timelines", key, numbers: [0, 0] }); }}>{row.kind === "requests" ? "Align timelines at these requests" : "Align timelines at its calls"}</button></p>}
            {places.length > 0 && <FunctionFacts row={places[0]} shared={shared} isChange />}
        </>
    );
}

export function Details({ shared }: { shared: Shared }): VNode | null {
    const { selection } = shared;
    if (selection === null)
        return null;
    const body = (): VNode => {
        switch (selection.of) {
            case "span": return <SpanDetails selection={selection} shared={shared} />;
            case "node": return <NodeDetails selection={selection} shared={shared} />;
            case "range": return <RangeDetails selection={selection} shared={shared} />;
            case "block": return <BlockDetails selection={selection} shared={shared} />;
            case "change": return <ChangeDetails row={selection.row} shared={shared} />;
            case "function": {
                const row = shared.data.report.functions[selection.row];
                return (
                    <>
                        <h2>{named(row.name)}</h2>
                        <Signature text={row.signature ?? ""} />
                        <Place file={row.file} line={row.line} />
                        <FunctionFacts row={selection.row} shared={shared} />
                    </>);
            }
        }
    };
    return (
        <aside class="details" aria-label="Details" aria-live="polite">
            <button type="button" class="close" aria-label="Close details" onClick={() => { shared.select(null); }}>×</button>
            {body()}
        </aside>
    );
}
