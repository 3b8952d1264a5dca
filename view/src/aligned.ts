/* The calls, blocks and requests at which the timelines of two runs can be aligned. */
import { isFirstStage, stagesOf } from "./arrows";
import { lastPart, type Row } from "./change";
import { Kind } from "./data";
import { Flag, type Lane, LaneKind, type Model, Track } from "./lanes";

/** A call, a block, or the first stage of a request. */
export interface Call {
    lane: Lane;
    index: number;
    /** Of a request: up to its last hit. */
    length: number;
}

/** A function, a block or a kind of request on both sides; lines may have changed. */
interface Key { key: string; title: string }

/** A role at the end of a probe's name, which `probity diff` omits, too. */
const BEGIN = ":begin";

const requestOf = (name: string, isSite: boolean): string => `request ${String(isSite)} ${isSite && name.endsWith(BEGIN) ? name.slice(0, -BEGIN.length) : name}`;
const blockOf = (name: string, isFromSite: boolean, isToSite: boolean): string => `block ${String(isFromSite)} ${String(isToSite)} ${name}`;
const functionOf = (name: string, file: string | undefined): string => `function ${lastPart(file)} ${name}`;

export const isRequest = (key: string): boolean => key.startsWith("request ");

/** A probe as in `probity diff`: the name of a site, or else a number. */
function probeOf({ names }: Model, place: number): { text: string; isSite: boolean } {
    const { kind, name, number } = names[place];
    return kind === Kind.Site ? { text: name, isSite: true } : { text: String(number), isSite: false };
}

function keyOfName(model: Model, place: number): Key {
    const { kind, name, file, number, to = -1 } = model.names[place];
    if (kind !== Kind.Block)
        return { key: functionOf(name, file), title: name };
    const from = probeOf(model, number);
    const end = to < 0 ? { text: "", isSite: false } : probeOf(model, to);
    return { key: blockOf(`${from.text} -> ${end.text}`, from.isSite, end.isSite), title: name };
}

/** Of a request, identified by the name of its first stage. */
function keyOfStage(model: Model, place: number): Key {
    const { number } = model.names[place];
    const { text, isSite } = probeOf(model, number);
    const { name } = model.names[number];
    return { key: requestOf(text, isSite), title: isSite && name.endsWith(BEGIN) ? name.slice(0, -BEGIN.length) : name };
}

/** Merged spans are several calls, and spans from before the range have no beginning. */
function each(model: Model, visit: (lane: Lane, index: number) => void): void {
    for (const { track, blocks, calls } of model.threads) {
        if (track !== Track.Thread && track !== Track.Requests)
            continue;
        for (const lane of blocks === null ? calls : [blocks, ...calls]) {
            for (let i = 0; i < lane.size; i++) {
                if (lane.count[i] === 1 && (lane.flags[i] & Flag.Before) === 0 && (lane.kind !== LaneKind.Rows || isFirstStage(lane, i)))
                    visit(lane, i);
            }
        }
    }
}

/** By name: keys of calls and blocks, or of requests whose first stage has the name; empty: no
 * keys. */
function keysOf(model: Model): { calls: Key[]; stages: Key[] } {
    const none = { key: "", title: "" };
    return { calls: model.names.map((_, place) => keyOfName(model, place)),
        stages: model.names.map(({ kind }, place) => kind === Kind.Block ? keyOfStage(model, place) : none) };
}

/** A call, or the request of a stage. */
export function callAt(lane: Lane, index: number): Call {
    if (lane.kind !== LaneKind.Rows)
        return { lane, index, length: lane.length[index] };
    const [first, last] = stagesOf(lane, index);
    return { lane, index: first, length: lane.start[last] + lane.length[last] - lane.start[first] };
}

/** In the order of their beginnings. */
export function callsOf(model: Model, key: string): Call[] {
    const { calls, stages } = keysOf(model);
    const isWanted = (isRequest(key) ? stages : calls).map((name) => name.key === key);
    const found: Call[] = [];
    each(model, (lane, index) => {
        if ((lane.kind === LaneKind.Rows) === isRequest(key) && isWanted[lane.name[index]])
            found.push(callAt(lane, index));
    });
    return found.sort((a, b) => a.lane.start[a.index] - b.lane.start[b.index]);
}

export function keyAt(model: Model, { lane, index }: Call): string {
    return (lane.kind === LaneKind.Rows ? keyOfStage : keyOfName)(model, lane.name[index]).key;
}

function titlesOf(model: Model): Map<string, string> {
    const { calls, stages } = keysOf(model);
    const there = { calls: new Uint8Array(calls.length), stages: new Uint8Array(calls.length) };
    each(model, (lane, index) => { (lane.kind === LaneKind.Rows ? there.stages : there.calls)[lane.name[index]] = 1; });
    return new Map([...calls.filter((_, name) => there.calls[name] === 1), ...stages.filter((_, name) => there.stages[name] === 1)]
        .map(({ key, title }): [string, string] => [key, title]));
}

/** Functions, blocks and kinds of requests that both sides have. */
export interface Common {
    /** Including titles: requests are last. */
    keys: Map<string, string>;
    /** null: not on both sides. */
    keyOf: (row: Row) => string | null;
}

const commons = new WeakMap<Model, Common>();

/** The most important ones first. A page has one base. */
export function aligned(base: Model, now: Model): Common {
    const known = commons.get(now);
    if (known !== undefined)
        return known;
    const left = titlesOf(base);
    const ranks = new Map([...now.ranked].reverse().map((name, index) => [name, index]));
    const keys = new Map([...titlesOf(now)].filter(([key]) => left.has(key))
        .sort(([one, a], [other, b]) => Number(isRequest(one)) - Number(isRequest(other)) || (ranks.get(b) ?? 0) - (ranks.get(a) ?? 0)));
    const made = { keys, keyOf: (row: Row): string | null => {
        const key = row.kind === "functions" ? functionOf(row.name, row.file)
            : row.kind === "blocks" ? blockOf(row.of.name, row.of.from_is_site, row.of.to_is_site) : requestOf(row.of.name, row.of.is_site);
        return keys.has(key) ? key : null;
    } };
    commons.set(now, made);
    return made;
}
