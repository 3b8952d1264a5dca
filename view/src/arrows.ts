/* Arrows between threads: how a request passes from one to the next, which thread another waited for
 * at a lock, and messages between traces. */
import { Kind } from "./data";
import { before, type Lane, LaneKind, type Model, type Thread, Track } from "./lanes";
import { messagesAt } from "./messages";

export interface End { thread: Thread; at: number }

export interface Arrow { from: End; to: End }

interface Place { lane: Lane; index: number }

/** The thread with a hit of a probe at a time; null: none, or the hit was merged with others. */
export function threadAt(model: Model, probe: number, at: number): Thread | null {
    for (const thread of model.real) {
        for (const lane of [thread.blocks, thread.marks]) {
            for (let i = lane === null ? 0 : before(lane, at); lane !== null && i < lane.size && lane.start[i] === at; i++) {
                const name = model.names[lane.name[i]];
                if (lane.count[i] === 1 && (lane.kind === LaneKind.Blocks ? name.number : lane.name[i]) === probe)
                    return thread;
            }
        }
    }
    return null;
}

/** Whether the span after this one is the next stage of the same request. */
function isNextStage({ start, length, count, off }: Lane, i: number): boolean {
    return count[i] === 1 && count[i + 1] === 1 && off[i] === off[i + 1] && start[i] + length[i] === start[i + 1];
}

/** First and last stage of the request to which a stage belongs. */
export function stagesOf(lane: Lane, index: number): [number, number] {
    let [first, last] = [index, index];
    while (first > 0 && isNextStage(lane, first - 1))
        first--;
    while (last + 1 < lane.size && isNextStage(lane, last))
        last++;
    return [first, last];
}

/** Whether a request begins with a stage. Merged stages right before it may belong to it. */
export function isFirstStage(lane: Lane, index: number): boolean {
    const before = index - 1;
    return index === 0 || (!isNextStage(lane, before) &&
        (lane.count[before] === 1 || lane.start[before] + lane.length[before] < lane.start[index]));
}

/** The threads in which a stage begins and ends. */
export function endsOf(model: Model, lane: Lane, index: number): { from: Thread | null; to: Thread | null } {
    const { number, to = -1 } = model.names[lane.name[index]];
    return {
        from: threadAt(model, number, lane.start[index]),
        to: to < 0 ? null : threadAt(model, to, lane.start[index] + lane.length[index]),
    };
}

function arrowsOfRequest(model: Model, { lane, index }: Place): Arrow[] {
    const [first, last] = stagesOf(lane, index);
    const arrows: Arrow[] = [];
    for (let i = first; i <= last; i++) {
        const { from, to } = endsOf(model, lane, i);
        if (from !== null && to !== null && from !== to)
            arrows.push({ from: { thread: from, at: lane.start[i] }, to: { thread: to, at: lane.start[i] + lane.length[i] } });
    }
    return arrows;
}

/** The thread that last held the lock while a thread waited for it; null: unknown. */
export function holderOf(model: Model, { lane, index }: Place): Place | null {
    const begin = lane.start[index];
    const end = begin + lane.length[index];
    const waiter = model.names[lane.name[index]].number;
    let found: Place | null = null;
    for (const other of model.threads[lane.thread].calls) {
        for (let i = before(other, end) - 1; i >= 0 && other.start[i] + other.length[i] > begin; i--) {
            const { kind, number } = model.names[other.name[i]];
            if (kind !== Kind.Holder || other.count[i] > 1 || number === waiter || other.start[i] + other.length[i] > end)
                continue;
            if (found === null || other.start[i] + other.length[i] > found.lane.start[found.index] + found.lane.length[found.index])
                found = { lane: other, index: i };
        }
    }
    return found;
}

function arrowOfWait(model: Model, wait: Place): Arrow | null {
    const holder = holderOf(model, wait);
    if (holder === null)
        return null;
    const threadOf = ({ lane, index }: Place): Thread => model.threads[model.names[lane.name[index]].number];
    const endOf = ({ lane, index }: Place): number => lane.start[index] + lane.length[index];
    return { from: { thread: threadOf(holder), at: endOf(holder) }, to: { thread: threadOf(wait), at: endOf(wait) } };
}

/** The stage of a request that begins with the same hit as a block. */
function stageAt(model: Model, block: Place): Place | null {
    const at = block.lane.start[block.index];
    const { number } = model.names[block.lane.name[block.index]];
    for (const track of model.tracks) {
        for (const lane of track.track === Track.Requests ? track.calls : []) {
            for (let i = before(lane, at); i < lane.size && lane.start[i] === at; i++) {
                if (lane.count[i] === 1 && model.names[lane.name[i]].number === number)
                    return { lane, index: i };
            }
        }
    }
    return null;
}

/** The arrows of the selected span. */
export function arrowsOf(model: Model, selected: Place | null): Arrow[] {
    if (selected === null || selected.lane.count[selected.index] > 1)
        return [];
    const track = model.threads[selected.lane.thread];
    if (selected.lane.kind === LaneKind.Blocks || selected.lane.kind === LaneKind.Marks) {
        const stage = selected.lane.kind === LaneKind.Blocks ? stageAt(model, selected) : null;
        const begin = selected.lane.start[selected.index];
        return [...stage === null ? [] : arrowsOfRequest(model, stage),
            ...messagesAt(model.messages, track, begin, begin + selected.lane.length[selected.index])];
    }
    if (track.track === Track.Requests)
        return arrowsOfRequest(model, selected);
    if (track.track !== Track.Lock)
        return [];
    if (model.names[selected.lane.name[selected.index]].kind === Kind.Waiter)
        return [arrowOfWait(model, selected)].filter((arrow) => arrow !== null);
    // The arrows from a holder to all threads that were waiting for it.
    const end = selected.lane.start[selected.index] + selected.lane.length[selected.index];
    return track.calls.flatMap((lane) => {
        const found: Arrow[] = [];
        for (let i = Math.max(0, before(lane, end) - 64); i < lane.size && lane.start[i] < end; i++) {
            if (lane.count[i] > 1 || model.names[lane.name[i]].kind !== Kind.Waiter)
                continue;
            const holder = holderOf(model, { lane, index: i });
            const arrow = holder?.lane === selected.lane && holder.index === selected.index ? arrowOfWait(model, { lane, index: i }) : null;
            if (arrow !== null)
                found.push(arrow);
        }
        return found;
    });
}
