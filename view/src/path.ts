/* The critical path of a call, block or request: how its time was spent, across threads and locks,
 * as `probity path` prints it (doc/calls.md, "Critical path"; src/answers/path/path_walk.c). Going
 * backwards from the end, the thread's running time is on the path; at a wait, the path moves to
 * the thread that caused the wait. Each moment is in exactly one part. */
import { stagesOf, endsOf } from "./arrows";
import { time } from "./format";
import { before, Flag, type Lane, LaneKind, type Model, State, type Thread, Track } from "./lanes";
import { blockOf, doingAt, doingText, isCall, latestWait, threadOfId, type Wait, wakerOf } from "./waits";

/** runnable: waiting for a CPU. wake-up: after the lock was released or the waiter notified, until
 * it was woken. Only without thread states: waiting: in a part of a wait that no thread caused;
 * off-cpu: off the CPU, for no recorded reason. */
export type PathState = "running" | "runnable" | "blocked" | "wake-up" | "waiting" | "off-cpu" | "unknown";

export interface PathPart {
    from: number;
    to: number;
    state: PathState;
    thread: Thread | null;
    doing: string;
    /** The waits through which the path reached this thread, the innermost first. */
    waits: readonly Wait[];
}

export interface CriticalPath {
    /** The selected span. */
    lane: Lane;
    index: number;
    start: number;
    from: number;
    to: number;
    parts: PathPart[];
    /** Why the path is not exact; "": it equals the output of `probity path`. */
    why: string;
}

/** Maximum number of moves to another thread. */
const DEPTH = 16;
/** Further changes of calls and states are not followed. */
const PARTS = 20_000;

interface Leg { thread: Thread | null; from: number; to: number; waits: readonly Wait[]; depth: number }

/** How time off the CPU is classified, and what the thread was doing during all of it; null: as
 * shown by its calls. */
interface Own { off: "waiting" | "wake-up" | "off-cpu"; doing: string | null }

class Walk {
    /** The last part first. */
    readonly parts: PathPart[] = [];
    isNear = false;
    /** end: that of the span. `probity path` reads no further, although only later records show
     * whether a call that had not ended was a wait. */
    constructor(private readonly model: Model, private readonly end: number) {}

    private add(leg: Leg, from: number, to: number, state: PathState, doing: string): void {
        const last = this.parts.at(-1);
        if (from >= to)
            return;
        const isAlike = last?.state === state && last.thread === leg.thread && last.waits === leg.waits && last.doing === doing;
        if (last !== undefined && (isAlike || this.parts.length >= PARTS)) {
            if (!isAlike)
                last.state = "unknown";
            last.from = from;
        } else {
            this.parts.push({ from, to, state, thread: leg.thread, doing, waits: leg.waits });
        }
    }

    /** Times between which the innermost call of a thread does not change, the latest first. */
    private changes(thread: Thread, from: number, to: number): number[] {
        const times = new Set<number>([from]);
        for (const lane of thread.calls) {
            for (let i = Math.max(0, before(lane, from) - 1); i < lane.size && lane.start[i] < to && times.size < PARTS * 2; i++) {
                for (const at of [lane.start[i], lane.start[i] + lane.length[i]]) {
                    if (at > from && at < to)
                        times.add(at);
                }
            }
        }
        return [...times].sort((a, b) => b - a);
    }

    /** A period in which the thread's state does not change, split by its calls. */
    private addDoing(leg: Leg, from: number, to: number, state: PathState, all: string | null): void {
        if (all !== null) {
            this.add(leg, from, to, state, all);
            return;
        }
        if (leg.thread === null) {
            this.add(leg, from, to, "unknown", "");
            return;
        }
        for (const at of from < to ? this.changes(leg.thread, from, to) : []) {
            const doing = doingAt(this.model, leg.thread, at);
            this.isNear ||= doing.isNear;
            this.add(leg, at, to, state, doingText(this.model, doing));
            to = at;
        }
    }

    /** Merged states: their order is unknown. */
    private addMerged(leg: Leg, lane: Lane, i: number, from: number, to: number, { off, doing }: Own): void {
        const part = (to - from) / Math.max(1, lane.length[i]);
        const running = lane.busy[i] * part;
        const runnable = lane.off[i] * part;
        this.isNear = true;
        this.addDoing(leg, to - running, to, "running", doing);
        this.addDoing(leg, to - running - runnable, to - running, "runnable", doing);
        this.addDoing(leg, from, to - running - runnable, off === "wake-up" ? off : "blocked", doing);
    }

    /** A period in which a thread was blocked. If the block ends within it, the path moves to the
     * thread that woke it. */
    private addBlocked(leg: Leg, lane: Lane, i: number, from: number, to: number, { off, doing }: Own): void {
        const { thread } = leg;
        const isEnd = to === lane.start[i] + lane.length[i] && leg.depth < DEPTH && off !== "wake-up";
        const waker = isEnd && thread !== null ? wakerOf(lane, i) : null;
        const woke = waker === null || thread === null ? null : threadOfId(this.model, waker.tid, thread);
        if (thread === null || woke === null || woke === thread || woke.pid !== thread.pid) {
            this.addDoing(leg, from, to, off === "wake-up" ? off : "blocked", doing);
            return;
        }
        const waits = leg.waits.at(0)?.thread === thread ? leg.waits : [blockOf(thread, from, to), ...leg.waits];
        this.goOver({ ...leg, waits }, woke, from, to);
    }

    /** By the scheduler's states. */
    private addStates(leg: Leg, thread: Thread, lane: Lane, from: number, to: number, own: Own): void {
        for (let i = before(lane, to) - 1; to > from; i--) {
            const begin = i < 0 ? from : Math.max(from, lane.start[i]);
            const end = i < 0 ? from : Math.min(to, lane.start[i] + lane.length[i]);
            this.addTimes(leg, thread, Math.max(end, from), to, own);
            if (end <= from)
                return;
            if (lane.count[i] > 1)
                this.addMerged(leg, lane, i, begin, end, own);
            else if (lane.name[i] === State.Blocked)
                this.addBlocked(leg, lane, i, begin, end, own);
            else
                this.addDoing(leg, begin, end, lane.name[i] === State.Running ? "running" : "runnable", own.doing);
            to = begin;
        }
    }

    /** Without states: by CPU time. It is unknown when, between two records, a thread was off the
     * CPU; that time is shown before the time on the CPU. */
    private addTimes(leg: Leg, thread: Thread, from: number, to: number, { off, doing }: Own): void {
        const lane = thread.off;
        if (doing !== null) {
            this.add(leg, from, to, off, doing);
            return;
        }
        // Before the thread's first record and after its last one, nothing is known.
        this.addDoing(leg, Math.max(from, thread.last), to, "unknown", null);
        to = Math.min(to, Math.max(from, thread.last));
        const least = Math.min(to, Math.max(from, thread.first));
        for (let i = lane === null ? -1 : before(lane, to) - 1; lane !== null && to > least; i--) {
            const end = i < 0 ? least : Math.min(to, lane.start[i] + lane.length[i]);
            this.addDoing(leg, Math.max(end, least), to, "running", null);
            if (end <= least) {
                to = least;
                break;
            }
            const begin = Math.max(least, lane.start[i]);
            const ran = (lane.length[i] - lane.busy[i]) * (end - begin) / Math.max(1, lane.length[i]);
            this.addDoing(leg, end - ran, end, "running", null);
            this.addDoing(leg, begin, end - ran, off, null);
            to = begin;
        }
        this.addDoing(leg, least, to, thread.cpuKnown ? "running" : "unknown", null);
        this.addDoing(leg, from, least, "unknown", null);
    }

    private addTime(leg: Leg, from: number, to: number, own: Own): void {
        const { thread } = leg;
        if (thread?.states != null)
            this.addStates(leg, thread, thread.states, from, to, own);
        else if (thread !== null)
            this.addTimes(leg, thread, from, to, own);
        else
            this.add(leg, from, to, "unknown", "");
    }

    private goOver(leg: Leg, thread: Thread, from: number, to: number): void {
        this.walk({ thread, from, to, waits: leg.waits, depth: leg.depth + 1 });
    }

    private addHolders(inner: Leg, wait: Wait, from: number, to: number, doing: string): void {
        let off: Own["off"] = "wake-up";
        for (let i = wait.holders.length - 1; i >= 0 && to > from; i--) {
            const holder = wait.holders[i];
            const begin = Math.max(holder.from, from);
            const end = Math.min(holder.to, to);
            if (begin >= end || holder.thread === null)
                continue;
            this.addTime(inner, end, to, { off, doing });
            this.goOver(inner, holder.thread, begin, end);
            to = begin;
            off = "waiting";
        }
        this.addTime(inner, from, to, { off: "waiting", doing });
    }

    private addWait(leg: Leg, wait: Wait, from: number, to: number): void {
        const inner: Leg = { ...leg, from, to, waits: [wait, ...leg.waits] };
        const woken = Math.min(wait.wakerAt, to);
        const begun = doingAt(this.model, wait.thread, wait.from);
        const doing = doingText(this.model, begun);
        this.isNear ||= begun.isNear;
        if (isCall(wait)) {
            this.addTime(inner, from, to, { off: "waiting", doing: null });
        } else if (leg.depth < DEPTH && wait.holders.length > 0) {
            this.addHolders(inner, wait, from, to, doing);
        } else if (leg.depth < DEPTH && wait.waker !== null && wait.wakerAt > from) {
            this.addTime(inner, woken, to, { off: "wake-up", doing });
            this.goOver(inner, wait.waker, from, woken);
        } else {
            this.addTime(inner, from, to, { off: "waiting", doing });
        }
    }

    walk(leg: Leg): void {
        let { to } = leg;
        while (to > leg.from) {
            const wait = leg.thread === null ? null : latestWait(this.model, leg.thread, leg.from, to, this.end);
            const end = wait === null ? leg.from : Math.min(wait.to, to);
            this.addTime(leg, end, to, { off: "off-cpu", doing: null });
            if (wait === null)
                return;
            const begin = Math.max(wait.from, leg.from);
            this.addWait(leg, wait, begin, end);
            to = begin;
        }
    }
}

/** The threads in which a request was, with the time since when; for calls and blocks, there is
 * only one. */
function hopsOf(model: Model, lane: Lane, index: number): { thread: Thread | null; from: number; to: number }[] {
    const thread = model.threads[lane.thread];
    if (thread.track !== Track.Requests)
        return [{ thread, from: lane.start[index], to: lane.start[index] + lane.length[index] }];
    const [first, last] = stagesOf(lane, index);
    const hops = [{ thread: endsOf(model, lane, first).from, from: lane.start[first], to: lane.start[first] }];
    for (let i = first; i <= last; i++) {
        const { to: thread } = endsOf(model, lane, i);
        const hop = hops[hops.length - 1];
        const end = lane.start[i] + lane.length[i];
        // After its last hit in a thread, the request belongs to the next one.
        if (hop.thread === thread)
            hop.to = end;
        else
            hops.push({ thread, from: lane.start[i], to: end });
    }
    return hops;
}

/** Whether a critical path can be shown for a span. */
export function hasPath(model: Model, lane: Lane, index: number): boolean {
    const { track } = model.threads[lane.thread];
    return lane.length[index] > 0 && lane.count[index] === 1 && (lane.flags[index] & (Flag.Before | Flag.Open)) === 0 &&
        (lane.kind === LaneKind.Calls || lane.kind === LaneKind.Blocks || (lane.kind === LaneKind.Rows && track === Track.Requests));
}

/** least: shorter waits are not in the page; 0: all waits are. */
export function pathOf(model: Model, lane: Lane, index: number, least: number): CriticalPath {
    const hops = hopsOf(model, lane, index);
    const walk = new Walk(model, hops[hops.length - 1].to);
    for (const hop of [...hops].reverse())
        walk.walk({ ...hop, waits: [], depth: 0 });
    const parts = walk.parts.reverse();
    const why = [
        parts.some(({ thread }) => thread !== null && thread.states === null) ? "the trace has no thread states from the scheduler" : "",
        walk.isNear ? "it leads through calls or states that are merged in this page" : "",
        least > 0 ? `the page has no waits shorter than ${time(least)}` : "",
        walk.parts.length >= PARTS ? "it has too many parts" : ""].filter((text) => text !== "");
    return { lane, index, start: lane.start[index], from: hops[0].from, to: hops[hops.length - 1].to, parts, why: why.join("; ") };
}

/** The time in each state, and the time spent waiting for each object, longest first. */
export function sumsOf({ parts }: CriticalPath): { state: PathState; ns: number }[] {
    const sums = new Map<PathState, number>();
    for (const { state, from, to } of parts)
        sums.set(state, (sums.get(state) ?? 0) + to - from);
    return [...sums].map(([state, ns]) => ({ state, ns })).sort((a, b) => b.ns - a.ns);
}
