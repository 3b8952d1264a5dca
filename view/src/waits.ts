/* Waits of threads: the object, the thread that held it, and the thread that ended the wait. */
import type { Data } from "./data";
import { before, type Lane, type Model, State, type Thread } from "./lanes";

/** A thread that held the object during a part of the wait. */
export interface Holder { thread: Thread | null; tid: number; from: number; to: number }

export interface Wait {
    thread: Thread;
    from: number;
    to: number;
    /** "lock", "condition", "file", "peer", "call" or "sleep". */
    what: string;
    name: string;
    /** The object's address; "0x0": none. */
    object: string;
    isGivenUp: boolean;
    holders: Holder[];
    /** The thread that ended it, and when. */
    waker: Thread | null;
    wakerAt: number;
}

/** Number of fields of a wait before its holders. */
const FIXED = 7;

export function readWaits(data: Data, threads: readonly Thread[]): Wait[][] {
    const waits: Wait[][] = threads.map(() => []);
    if (data.waits === undefined)
        return waits;
    const { timeline, waits: { threads: slots, names, list } } = data;
    const places = new Map(timeline.threads.map(({ trace, thread, track }, place) => [track === undefined ? `${trace} ${thread}` : "", place]));
    const threadAt = (slot: number): Thread | null => {
        const ids = slot < 0 ? null : slots[slot];
        const place = ids === null ? undefined : places.get(`${ids[0]} ${ids[1]}`);
        return place === undefined ? null : threads[place];
    };
    let from = timeline.since_start_ns;
    for (const wait of list) {
        const [slot, since, length, name, isGivenUp, waker, wakerAt] = wait;
        const thread = threadAt(slot);
        from += since;
        if (thread === null)
            continue;
        const holders: Holder[] = [];
        for (let i = FIXED; i + 2 < wait.length; i += 3)
            holders.push({ thread: threadAt(wait[i]), tid: wait[i] < 0 ? -1 - wait[i] : threadAt(wait[i])?.tid ?? 0, from: from + wait[i + 1], to: from + wait[i + 1] + wait[i + 2] });
        const [what, text, object] = names[name];
        waits[thread.place].push({ thread, from, to: from + length, what, name: text, object, isGivenUp: isGivenUp > 0, holders, waker: threadAt(waker), wakerAt: from + wakerAt });
    }
    for (const of of waits)
        of.sort((a, b) => a.from - b.from);
    return waits;
}

/** "lock mutex table", "sleep nanosleep" */
export function objectOf({ what, name, object }: Wait): string {
    return `${what} ${name || object}`;
}

/** Whether it is a call to the C library, which is a wait if the thread was off the CPU in it. */
export const isCall = ({ what }: Wait): boolean => what !== "lock" && what !== "condition";

/** The latest wait of a thread that overlaps [from, to), except calls that ended after `known`;
 * null: none. */
export function latestWait(model: Model, thread: Thread, from: number, to: number, known = Infinity): Wait | null {
    const waits = model.waits[thread.place];
    let [low, high] = [0, waits.length];
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (waits[middle].from < to)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0 && isCall(waits[low - 1]) && waits[low - 1].to > known)
        low--;
    return low > 0 && waits[low - 1].to > from ? waits[low - 1] : null;
}

/** The wait that takes most of a blocked period; null: unknown. */
export function waitAt(model: Model, thread: Thread, from: number, to: number): Wait | null {
    const wait = latestWait(model, thread, from, to);
    return wait !== null && Math.min(wait.to, to) - Math.max(wait.from, from) >= (to - from) / 2 ? wait : null;
}

/** The last holder to release before the wait ended. */
export function culpritOf(wait: Wait): Holder | null {
    return wait.holders.reduce<Holder | null>((last, holder) => last === null || holder.to > last.to ? holder : last, null);
}

const isLibc = (model: Model, lane: Lane, index: number): boolean => (model.names[lane.name[index]].file ?? "").startsWith("libc/");

/** The innermost calls at a time: the one in the program, and the call to the C library that it
 * made. */
export interface Doing { lane: Lane | null; index: number; call: string; isNear: boolean }

export function doingAt(model: Model, thread: Thread, at: number): Doing {
    const doing: Doing = { lane: null, index: 0, call: "", isNear: false };
    for (const lane of thread.calls) {
        const index = before(lane, at + 0.5) - 1;
        if (index < 0 || lane.start[index] + lane.length[index] <= at)
            continue;
        doing.isNear ||= lane.count[index] > 1;
        if (isLibc(model, lane, index))
            doing.call = model.names[lane.name[index]].name;
        else
            Object.assign(doing, { lane, index, call: "" });
    }
    return doing;
}

/** "fill", "serve > read"; "": nothing was recorded. */
export function doingText(model: Model, { lane, index, call }: Doing): string {
    const name = lane === null ? "" : model.names[lane.name[index]].name;
    return call === "" ? name : name === "" ? call : `${name} > ${call}`;
}

/** The thread with this id, of the same process if there are several. */
export function threadOfId(model: Model, tid: number, near: Thread): Thread | null {
    const found = model.real.filter((thread) => thread.tid === tid);
    return found.find(({ pid }) => pid === near.pid) ?? found.at(0) ?? null;
}

/** The thread that woke another at the end of a blocked period, from the next state. null: not
 * recorded; 0: not a known thread. */
export function wakerOf(lane: Lane, index: number): { tid: number; at: number } | null {
    const next = index + 1;
    const end = lane.start[index] + lane.length[index];
    return next < lane.size && lane.count[next] === 1 && lane.name[next] === State.Runnable && lane.start[next] === end
        ? { tid: lane.values[next], at: end } : null;
}

/** Used for a wait that was not recorded: a thread was blocked. */
export function blockOf(thread: Thread, from: number, to: number): Wait {
    return { thread, from, to, what: "", name: "", object: "", isGivenUp: false, holders: [], waker: null, wakerAt: to };
}

/** "server waits for lock mutex table", "server is blocked" */
export function waitText(wait: Wait): string {
    return `${wait.thread.name || "thread"} ${wait.thread.tid} ${wait.what === "" ? "is blocked" : `waits for ${objectOf(wait)}`}`;
}
