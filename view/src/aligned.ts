/* The calls and blocks at which the timelines of two runs can be aligned. */
import { lastPart } from "./change";
import { Kind, type Name } from "./data";
import { Flag, type Lane, type Model } from "./lanes";

export interface Call { lane: Lane; index: number }

/** What identifies a function or a block in both sides; lines may have changed. */
const keyOf = ({ kind, name, file }: Pick<Name, "kind" | "name" | "file">): string => `${kind} ${lastPart(file)} ${name}`;

/** Merged spans are several calls, and those from before the range have no beginning. */
function each(model: Model, visit: (lane: Lane, index: number) => void): void {
    for (const { blocks, calls } of model.real) {
        for (const lane of blocks === null ? calls : [blocks, ...calls]) {
            for (let i = 0; i < lane.size; i++) {
                if (lane.count[i] === 1 && (lane.flags[i] & Flag.Before) === 0)
                    visit(lane, i);
            }
        }
    }
}

/** In the order in which they begin. */
export function callsOf(model: Model, key: string): Call[] {
    const isWanted = model.names.map((name) => keyOf(name) === key);
    const calls: Call[] = [];
    each(model, (lane, index) => {
        if (isWanted[lane.name[index]])
            calls.push({ lane, index });
    });
    return calls.sort((a, b) => a.lane.start[a.index] - b.lane.start[b.index]);
}

export function keyAt(model: Model, { lane, index }: Call): string {
    return keyOf(model.names[lane.name[index]]);
}

function keysOf(model: Model): Set<string> {
    const isThere = new Uint8Array(model.names.length);
    each(model, (lane, index) => { isThere[lane.name[index]] = 1; });
    return new Set(model.names.filter((_, name) => isThere[name] === 1).map(keyOf));
}

/** What both sides call. */
export interface Common {
    keys: Map<string, string>;
    /** null: not in both. */
    keyOf: (name: string, file: string) => string | null;
}

const commons = new WeakMap<Model, Common>();

/** The most important first. A page has one base. */
export function aligned(base: Model, now: Model): Common {
    const known = commons.get(now);
    if (known !== undefined)
        return known;
    const [left, right] = [keysOf(base), keysOf(now)];
    const ranks = new Map([...now.ranked].reverse().map((name, index) => [name, index]));
    const keys = new Map(now.names.map((name): [string, string] => [keyOf(name), name.name])
        .filter(([key]) => left.has(key) && right.has(key))
        .sort(([, a], [, b]) => (ranks.get(b) ?? 0) - (ranks.get(a) ?? 0)));
    const made = { keys, keyOf: (name: string, file: string): string | null => {
        const key = keyOf({ kind: Kind.Function, name, file });
        return keys.has(key) ? key : null;
    } };
    commons.set(now, made);
    return made;
}
