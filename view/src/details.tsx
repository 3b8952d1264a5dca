/* Details of the selection. */
import type { ComponentChildren, VNode } from "preact";
import { type FunctionRow, Kind } from "./data";
import { type FlameNode, sidesOf } from "./flame";
import { at, clock, count, named, one, percent, signed, time } from "./format";
import { Histogram } from "./histogram";
import { Flag, LaneKind, type Lane } from "./lanes";
import { type Selection, type Shared, signatureOf } from "./state";

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
    return file === undefined || file === "" ? null : <p class="place">{`${file}:${line ?? 0}`}</p>;
}

function Signature({ text }: { text: string }): VNode | null {
    return text === "" ? null : <code class="signature">{text}</code>;
}

function FunctionFacts({ row, shared, mark }: { row: number; shared: Shared; mark?: number }): VNode {
    const facts: FunctionRow = shared.data.report.functions[row];
    const name = shared.data.timeline.report_names[row];
    const slow = name >= 0 ? shared.model.names[name].slow : [];
    return (
        <>
            <h3>All calls</h3>
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
                <Fact name="99 % within">{time(facts.p99_ns)}</Fact>
                <Fact name="Longest">{time(facts.max_ns)}</Fact>
            </Facts>
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
        texts.push("left without its leave (longjmp, or a record that is missing): its end is that of the last record inside");
    if ((flags & Flag.Open) !== 0)
        texts.push("open when the records end");
    if ((flags & Flag.Untimed) !== 0)
        texts.push("entered while profiling was off");
    if ((flags & Flag.Before) !== 0)
        texts.push("entered before the range that this page shows; it counts in no table");
    return texts;
}

function ThreadFact({ lane, shared }: { lane: Lane; shared: Shared }): VNode {
    const thread = shared.model.threads[lane.thread];
    return <Fact name="Thread">{`${thread.name} ${thread.tid}`.trim()}{shared.data.info.length > 1 ? `, process ${thread.pid}` : ""}</Fact>;
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
                <WhenFacts start={lane.start[index]} shared={shared} />
                <ThreadFact lane={lane} shared={shared} />
                <Fact name="Depth">{lane.depth}</Fact>
                {given !== null && <Fact name="Parameters"><code>{given}</code></Fact>}
                {returned !== null && <Fact name="Returned"><code>{returned}</code></Fact>}
            </Facts>
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
    const what = lane.kind === LaneKind.Marks ? "marks" : "calls";
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
                {lane.kind === LaneKind.Calls && <Fact name="Inside them">{time(busy)}</Fact>}
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
            <p>Between two records, wall time went on and CPU time did not: the thread slept, waited, or was not its turn. When exactly in between is not known.</p>
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
            <h2>{what}{name.kind === Kind.Probe || name.kind === Kind.Site ? ` ${name.name}` : ""}</h2>
            {text !== null && <code class="signature">{text}</code>}
            <Facts>
                {name.kind === Kind.Probe && name.name !== String(name.number) && <Fact name="Number">{name.number}</Fact>}
                <WhenFacts start={lane.start[index]} shared={shared} />
                {previous !== null && <Fact name="Since the mark before">{time(previous)}</Fact>}
                <ThreadFact lane={lane} shared={shared} />
            </Facts>
        </>
    );
}

function SpanDetails({ selection, shared }: { selection: Selection & { of: "span" }; shared: Shared }): VNode {
    const { lane, index, last } = selection;
    if (lane.kind === LaneKind.Off)
        return <OffDetails lane={lane} index={index} last={last} shared={shared} />;
    if (last > index || lane.count[index] > 1)
        return <TogetherDetails lane={lane} first={index} last={last} shared={shared} />;
    return lane.kind === LaneKind.Marks
        ? <MarkDetails lane={lane} index={index} shared={shared} />
        : <CallDetails lane={lane} index={index} shared={shared} />;
}

/** A path in the base, with values per run of each side. */
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
    return name === null ? text : `${text} ${name}`;
}

function BlockDetails({ selection, shared }: { selection: Selection & { of: "block" }; shared: Shared }): VNode {
    const { block, histogram } = selection;
    return (
        <>
            <h2>{probeName(block.from, block.from_name)} → {probeName(block.to, block.to_name)}</h2>
            <Facts>
                <Fact name="Times">{count(block.calls)}</Fact>
                <Fact name="Of what follows">{percent(block.probability)}</Fact>
                <Fact name="Wall time">{time(block.wall_ns)}</Fact>
                <Fact name="CPU time">{time(block.cpu_ns)}</Fact>
                <Fact name="Off the CPU">{time(block.off_cpu_ns)}</Fact>
                <Fact name="Least">{time(block.min_ns)}</Fact>
                <Fact name="Mean">{time(block.mean_ns)}</Fact>
                <Fact name="Median">{time(block.p50_ns)}</Fact>
                <Fact name="99 % within">{time(block.p99_ns)}</Fact>
                <Fact name="Longest">{time(block.max_ns)}</Fact>
            </Facts>
            <Histogram histogram={histogram} label="From the one probe to the other" />
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

export function Details({ shared }: { shared: Shared }): VNode | null {
    const { selection } = shared;
    if (selection === null)
        return null;
    const body = (): VNode => {
        switch (selection.of) {
            case "span": return <SpanDetails selection={selection} shared={shared} />;
            case "node": return <NodeDetails selection={selection} shared={shared} />;
            case "block": return <BlockDetails selection={selection} shared={shared} />;
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
