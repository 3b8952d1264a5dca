/* Details of a thread's state, and of a critical path. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { at, count, percent, time } from "./format";
import { type Lane, State } from "./lanes";
import { hasPath, type CriticalPath, type PathPart, type PathState, pathOf, sumsOf } from "./path";
import type { Shared } from "./state";
import { type Actor, actorText, blockedOf, sharesOf, splitOf, stateText } from "./states";
import { titleOf } from "./timeline";
import { objectOf, waitText } from "./waits";

/** Number of parts of a path that are listed at first. */
const SHOWN = 60;

/** The thread that held a lock or woke another thread; a click goes to it. */
function ActorFact({ name, id, actor, shared }: { name: string; id: string; actor: Actor; shared: Shared }): VNode {
    const { lane, index } = actor;
    return (
        <>
            <dt>{name}</dt>
            <dd data-fact={id}>{lane === null ? actorText(actor)
                : <button type="button" class="link" title="Jump there" onClick={() => { shared.reveal(lane, index); }}>{actorText(actor)}</button>}</dd>
        </>
    );
}

export function StateDetails({ lane, index, last, shared }: { lane: Lane; index: number; last: number; shared: Shared }): VNode {
    const thread = shared.model.threads[lane.thread];
    const isOne = last === index && lane.count[index] === 1;
    const { wait, holder, waker } = isOne && lane.name[index] === State.Blocked ? blockedOf(shared.model, lane, index) : { wait: null, holder: null, waker: null };
    const { running, runnable, blocked, all, states } = sharesOf(lane, index, last);
    const share = (ns: number): string => `${time(ns)} (${percent(ns / Math.max(1, all))})`;
    const text = isOne ? stateText(lane, index) : `${count(states)} states together`;
    return (
        <>
            <h2>{text.charAt(0).toUpperCase()}{text.slice(1)}{wait === null ? "" : ` on ${objectOf(wait)}`}</h2>
            <dl class="facts">
                <dt>Took</dt><dd data-fact="took">{time(all)}</dd>
                {!isOne && <><dt>Running</dt><dd data-fact="running">{share(running)}</dd></>}
                {!isOne && <><dt>Waiting for a CPU</dt><dd data-fact="runnable">{share(runnable)}</dd></>}
                {!isOne && <><dt>Blocked</dt><dd data-fact="blocked">{share(blocked)}</dd></>}
                {holder !== null && <ActorFact name="Held by" id="held" actor={holder} shared={shared} />}
                {waker !== null && <ActorFact name="Woken by" id="woken" actor={waker} shared={shared} />}
                {isOne && lane.name[index] === State.Blocked && waker === null && <><dt>Woken by</dt><dd data-fact="woken">not recorded</dd></>}
                {wait !== null && <><dt>In a wait of</dt><dd data-fact="wait">{time(wait.to - wait.from)}{wait.isGivenUp ? ", which was given up" : ""}</dd></>}
                <dt>Begins</dt><dd data-fact="begins">{at(lane.start[index])}</dd>
                <dt>Thread</dt><dd data-fact="Thread">{titleOf(thread, false)} {thread.tid}</dd>
            </dl>
            {isOne && holder !== null && <p class="faint">Enter jumps to the holder.</p>}
            {isOne && holder === null && waker?.lane != null && <p class="faint">Enter jumps to the thread that woke it.</p>}
            {!isOne && <p class="faint">{last > index ? "They share a column of the screen: zoom in to separate them." : "They were merged when this page was written."}</p>}
        </>
    );
}

/** Shows how the time of a call is split among the states of its thread. */
export function StateFacts({ lane, index, shared }: { lane: Lane; index: number; shared: Shared }): VNode | null {
    const { states } = shared.model.threads[lane.thread];
    const length = lane.length[index];
    if (states === null || length <= 0)
        return null;
    const { running, runnable, blocked } = splitOf(states, lane.start[index], lane.start[index] + length);
    const share = (ns: number): string => `${time(ns)} (${percent(ns / length)})`;
    return (
        <>
            <dt>Running</dt><dd data-fact="running">{share(running)}</dd>
            <dt>Waiting for a CPU</dt><dd data-fact="runnable">{share(runnable)}</dd>
            <dt>Blocked</dt><dd data-fact="blocked">{share(blocked)}</dd>
        </>
    );
}

const stateNames: Record<PathState, string> = {
    "running": "running", "runnable": "waiting for a CPU", "blocked": "blocked", "wake-up": "wake-up", "waiting": "waiting", "off-cpu": "off the CPU", "unknown": "unknown",
};
const stateClasses: Record<PathState, string> = {
    "running": "running", "runnable": "runnable", "blocked": "blocked", "wake-up": "blocked", "waiting": "blocked", "off-cpu": "blocked", "unknown": "none",
};

function Part({ part, path, shared }: { part: PathPart; path: CriticalPath; shared: Shared }): VNode {
    const { thread, waits } = part;
    const own = waits.at(0)?.thread === thread ? waits[0] : undefined;
    const others = waits.slice(own === undefined ? 0 : 1);
    return (
        <li data-part={[part.from - path.from, part.to - part.from, part.state, thread?.tid ?? 0, waits.length, part.doing].join(" ")}>
            <button type="button" disabled={thread === null} onClick={() => { if (thread !== null) shared.showTime(thread, part.from, part.to); }}>
                <i class={`state ${stateClasses[part.state]}`} /> <b>{time(part.to - part.from)}</b> {stateNames[part.state]}
                <span class="faint"> at +{time(part.from - path.from)}, {percent((part.to - part.from) / Math.max(1, path.to - path.from))}</span>
                <span class="where">{thread === null ? "unknown thread" : `${titleOf(thread, false)} ${thread.tid}`}{part.doing === "" ? "" : ` in ${part.doing}`}
                    {own !== undefined && own.what !== "" && (part.state === "wake-up" ? `, after ${objectOf(own)}` : `, for ${objectOf(own)}`)}</span>
                {others.length > 0 && <span class="where faint">while {others.map(waitText).join(", while ")}</span>}
            </button>
        </li>
    );
}

function PathDetails({ path, shared }: { path: CriticalPath; shared: Shared }): VNode {
    const [isAll, setAll] = useState(false);
    const length = path.to - path.from;
    const shown = isAll ? path.parts : path.parts.slice(0, SHOWN);
    return (
        <section class="critical-path" data-length={length} data-sum={path.parts.reduce((sum, { from, to }) => sum + to - from, 0)}>
            <h3>Critical path</h3>
            {path.why !== "" && <p class="notice" data-fact="near">It is approximate: {path.why}. <code>probity path</code> prints it in full.</p>}
            <table class="sides">
                <tbody>
                    {sumsOf(path).map(({ state, ns }) => (
                        <tr key={state} data-state={state}><th scope="row"><i class={`state ${stateClasses[state]}`} /> {stateNames[state]}</th><td>{time(ns)}</td><td>{percent(ns / Math.max(1, length))}</td></tr>))}
                    <tr><th scope="row"><b>total</b></th><td><b>{time(length)}</b></td><td /></tr>
                </tbody>
            </table>
            <ol class="slow parts">{shown.map((part, index) => <Part key={index} part={part} path={path} shared={shared} />)}</ol>
            {shown.length < path.parts.length && <button type="button" onClick={() => { setAll(true); }}>All {count(path.parts.length)} parts</button>}
        </section>
    );
}

/** The button, and the path of the selection. */
export function PathOf({ lane, index, shared }: { lane: Lane; index: number; shared: Shared }): VNode | null {
    const { path, data, model } = shared;
    const mine = path !== null && path.lane === lane && path.start === lane.start[index] ? path : null;
    if (!hasPath(model, lane, index))
        return null;
    return (
        <>
            <div><button type="button" class="critical" title="What it spent its time on, across threads and locks (k)" aria-pressed={mine !== null} onClick={() => {
                shared.setPath(mine !== null ? null : pathOf(model, lane, index, data.waits?.least_ns ?? 0));
            }}>{mine !== null ? "Hide critical path" : "Critical path"}</button></div>
            {mine !== null && <PathDetails path={mine} shared={shared} />}
        </>
    );
}
