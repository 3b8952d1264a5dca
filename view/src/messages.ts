/* Messages between traces: each send with its receive. */
import type { Arrow } from "./arrows";
import type { Data } from "./data";
import type { Thread } from "./lanes";

/** In the order in which they were received. */
export function readMessages(data: Data, threads: readonly Thread[]): Arrow[] {
    const messages: Arrow[] = [];
    const { timeline } = data;
    const places = new Map(timeline.threads.map(({ trace, thread, track }, place) => [track === undefined ? `${trace} ${thread}` : "", place]));
    const threadAt = (trace: number, thread: number): Thread | null => {
        const place = places.get(`${trace} ${thread}`);
        return place === undefined ? null : threads[place];
    };
    let sent = timeline.since_start_ns;
    for (const [trace, thread, since, toTrace, toThread, length] of data.messages?.list ?? []) {
        sent += since;
        const [from, to] = [threadAt(trace, thread), threadAt(toTrace, toThread)];
        if (from !== null && to !== null)
            messages.push({ from: { thread: from, at: sent }, to: { thread: to, at: sent + length } });
    }
    return messages;
}

/** Messages that a thread sent or received at one of two times. */
export function messagesAt(messages: readonly Arrow[], thread: Thread, from: number, to: number): Arrow[] {
    const isAt = (end: Arrow["from"]): boolean => end.thread === thread && (end.at === from || end.at === to);
    return messages.filter((message) => isAt(message.from) || isAt(message.to));
}
