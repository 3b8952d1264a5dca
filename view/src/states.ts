/* States of threads from the scheduler: what a thread was blocked on, and which thread caused
 * it. */
import { at, count, percent, time } from "./format";
import { before, type Lane, LaneKind, type Model, State, type Thread } from "./lanes";
import { culpritOf, doingAt, doingText, objectOf, threadOfId, type Wait, waitAt, wakerOf } from "./waits";

/** A thread at a time, and what it was doing; thread null: only its id is known. */
export interface Actor { thread: Thread | null; tid: number; at: number; doing: string; lane: Lane | null; index: number }

export interface Blocked {
    wait: Wait | null;
    holder: Actor | null;
    /** tid 0: an interrupt, such as from a timer or device. null: wakings were not recorded, or
     * were merged. */
    waker: Actor | null;
}

function actorAt(model: Model, thread: Thread | null, tid: number, moment: number): Actor {
    if (thread === null)
        return { thread, tid, at: moment, doing: "", lane: null, index: 0 };
    // What the thread is doing just before it releases a lock or wakes another thread.
    const doing = doingAt(model, thread, moment - 1);
    const states = doing.lane ?? thread.states;
    const index = doing.lane === null && states !== null ? Math.max(0, before(states, moment) - 1) : doing.index;
    return { thread, tid: thread.tid, at: moment, doing: doingText(model, doing), lane: states, index };
}

/** Only of a blocked state that is not merged. */
export function blockedOf(model: Model, lane: Lane, index: number): Blocked {
    const thread = model.threads[lane.thread];
    const [from, to] = [lane.start[index], lane.start[index] + lane.length[index]];
    const wait = waitAt(model, thread, from, to);
    const holder = wait === null ? null : culpritOf(wait);
    const waker = wakerOf(lane, index);
    return {
        wait,
        holder: holder === null ? null : actorAt(model, holder.thread, holder.tid, holder.to),
        waker: waker === null ? null : actorAt(model, waker.tid === 0 ? null : threadOfId(model, waker.tid, thread), waker.tid, waker.at),
    };
}

const isBlocked = (lane: Lane, index: number): boolean =>
    lane.kind === LaneKind.States && lane.count[index] === 1 && lane.name[index] === State.Blocked;

/** The call in which a thread held the object on which another one was blocked, or woke that
 * thread; null: unknown. */
export function causeOf(model: Model, lane: Lane, index: number): { lane: Lane; index: number } | null {
    if (!isBlocked(lane, index))
        return null;
    const { holder, waker } = blockedOf(model, lane, index);
    const actor = [holder, waker].find((each) => each?.lane != null);
    return actor?.lane == null ? null : { lane: actor.lane, index: actor.index };
}

/** "keeper 17 in fill", "thread 4711", "an interrupt (timer or device)" */
export function actorText({ thread, tid, doing }: Actor): string {
    if (thread === null)
        return tid === 0 ? "an interrupt (a timer, a device)" : `thread ${tid}, which is not in this page`;
    return `${thread.name || "thread"} ${tid}${doing === "" ? "" : ` in ${doing}`}`;
}

/** "running on CPU 1", "waiting for a CPU", "blocked" */
export function stateText(lane: Lane, index: number): string {
    switch (lane.name[index]) {
        case State.Running: return `running on CPU ${lane.values[index]}`;
        case State.Runnable: return "waiting for a CPU";
        default: return "blocked";
    }
}

export interface Shares { running: number; runnable: number; blocked: number; all: number; states: number }

export function sharesOf(lane: Lane, first: number, last: number): Shares {
    const [running, runnable, all, states] = [lane.busyBefore, lane.offBefore, lane.lengthBefore, lane.countBefore].map((sums) => sums[last + 1] - sums[first]);
    return { running, runnable, blocked: Math.max(0, all - running - runnable), all, states };
}

export function stateTip(model: Model, lane: Lane, first: number, last: number): string[] {
    if (last > first || lane.count[first] > 1) {
        const { running, runnable, blocked, all, states } = sharesOf(lane, first, last);
        const share = (ns: number): string => `${time(ns)} (${percent(ns / Math.max(1, all))})`;
        return [`${count(states)} states together`, `running ${share(running)}, waiting for a CPU ${share(runnable)}, blocked ${share(blocked)}`];
    }
    const texts = [`${stateText(lane, first)}, ${time(lane.length[first])}`, `from ${at(lane.start[first])}`];
    if (lane.name[first] === State.Runnable && lane.values[first] > 0)
        texts.push(`woken by ${actorText(actorAt(model, threadOfId(model, lane.values[first], model.threads[lane.thread]), lane.values[first], lane.start[first]))}`);
    if (!isBlocked(lane, first))
        return texts;
    const { wait, holder, waker } = blockedOf(model, lane, first);
    return [
        `blocked${wait === null ? "" : ` on ${objectOf(wait)}`}, ${time(lane.length[first])}`,
        holder === null ? "" : `held by ${actorText(holder)}`,
        waker === null ? "" : `woken by ${actorText(waker)}`,
        `from ${at(lane.start[first])}`];
}

/** Splits a thread's time by its states; merged states count in proportion. */
export function splitOf(lane: Lane, from: number, to: number): { running: number; runnable: number; blocked: number } {
    const sums = { running: 0, runnable: 0, blocked: 0 };
    for (let i = Math.max(0, before(lane, from) - 1); i < lane.size && lane.start[i] < to; i++) {
        const inside = Math.min(to, lane.start[i] + lane.length[i]) - Math.max(from, lane.start[i]);
        const part = Math.max(0, inside) / Math.max(1, lane.length[i]);
        sums.running += lane.busy[i] * part;
        sums.runnable += lane.off[i] * part;
        sums.blocked += (lane.length[i] - lane.busy[i] - lane.off[i]) * part;
    }
    return sums;
}
