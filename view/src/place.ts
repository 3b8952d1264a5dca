/* The place in the page's address: "#timeline&z=FROM-TO&r=FROM-TO&s=THREAD.KIND.DEPTH.START", in ns
 * since recording began: window, selected range and selected span of the timeline. An address is
 * untrusted input: invalid parts are ignored. */
import type { Data, Place } from "./data";
import { before, type Lane, LaneKind, type Model, type Thread } from "./lanes";
import type { TimelineView, Window } from "./timeline";

function rangeOf(text: string | undefined): Window | null {
    const parts = /^(-?\d{1,16})-(-?\d{1,16})$/.exec(text ?? "");
    return parts === null || Number(parts[1]) >= Number(parts[2]) ? null : { from: Number(parts[1]), to: Number(parts[2]) };
}

/** The lane of a span, and its index: the first span with this beginning. */
function spanOf(model: Model, text: string | undefined): { lane: Lane; index: number } | null {
    const parts = /^(\d{1,6})\.(\d)\.(\d{1,4})\.(-?\d{1,16})$/.exec(text ?? "");
    const [place, kind, depth, start] = (parts ?? []).slice(1).map(Number);
    const thread = place < model.threads.length ? model.threads[place] : null;
    if (parts === null || thread === null)
        return null;
    const lane = [thread.off, thread.marks, thread.blocks, thread.states, ...thread.calls].find((each) => each?.kind === kind && each.depth === depth);
    if (lane == null)
        return null;
    const index = before(lane, start);
    return lane.start[index] === start ? { lane, index } : null;
}

function partsOfHash(): Map<string, string> {
    return new Map(location.hash.slice(1).split("&").slice(1).map((part) => [part.slice(0, 1), part.slice(2)]));
}

/** The range in the address, which any part of the page may have. */
export function rangeOfHash(model: Model): Window | null {
    const range = rangeOf(partsOfHash().get("r"));
    if (range === null)
        return null;
    const inside = { from: Math.max(model.first, range.from), to: Math.min(model.last, range.to) };
    return inside.from < inside.to ? inside : null;
}

/** Moves a view to the place in the address. Returns the span that it selects. */
export function restore(view: TimelineView, model: Model): { lane: Lane; index: number } | null {
    const parts = partsOfHash();
    const window = rangeOf(parts.get("z"));
    if (window !== null)
        view.show(window.from, window.to);
    const span = spanOf(model, parts.get("s"));
    if (span !== null && span.lane.kind !== LaneKind.Off)
        view.selected = span;
    return view.selected;
}

/** Finds the call of a place: of the calls that begin at its start, the one whose end is nearest to
 * its end. For a span between probes, finds the block. */
function spanAt({ blocks, calls }: Thread, { from, to, is_call: isCall }: Place): { lane: Lane; index: number } | null {
    const found = (isCall ? calls : blocks === null ? [] : [blocks])
        .map((lane) => ({ lane, index: before(lane, from) }))
        .filter(({ lane, index }) => index < lane.size && lane.start[index] === from);
    const away = ({ lane, index }: { lane: Lane; index: number }): number => Math.abs(from + lane.length[index] - to);
    found.sort((a, b) => away(a) - away(b));
    return found.length > 0 && (isCall || away(found[0]) === 0) ? found[0] : null;
}

/** Puts the place for which the page was made into the address, if that has none. If the place is
 * neither one call nor one block, selects it as a range. */
export function arrive({ place, timeline }: Data, model: Model): void {
    if (place === undefined || location.hash !== "")
        return;
    const { from, to } = place;
    const at = timeline.threads.findIndex(({ trace, thread, track }) => track === undefined && trace === place.trace && thread === place.thread);
    const span = at < 0 ? null : spanAt(model.threads[at], place);
    const window = place.is_whole ? "" : `&z=${from - (to - from)}-${to + (to - from)}`;
    const selected = span === null ? `&r=${from}-${to}` : `&s=${at}.${span.lane.kind}.${span.lane.depth}.${from}`;
    history.replaceState(null, "", `#timeline${window}${selected}`);
}

/** The address of a part of the page, with the range. */
export function hashOf(tab: string, range: Window | null): string {
    return `#${tab}${range === null ? "" : `&r=${Math.round(range.from)}-${Math.round(range.to)}`}`;
}

/** Puts the place of a view into the address. */
export function remember(view: TimelineView): void {
    const text = ({ from, to }: Window): string => `${Math.round(from)}-${Math.round(to)}`;
    let hash = "#timeline";
    if (view.window.from > view.all.from || view.window.to < view.all.to)
        hash += `&z=${text(view.window)}`;
    if (view.range !== null)
        hash += `&r=${text(view.range)}`;
    if (view.selected !== null) {
        const { lane, index } = view.selected;
        hash += `&s=${lane.thread}.${lane.kind}.${lane.depth}.${lane.start[index]}`;
    }
    if (location.hash !== hash)
        history.replaceState(null, "", hash);
}
