/* Callers and callees of a function: the paths of the call tree through it, merged. */
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { TreeNode } from "./data";
import { count, named, percent, time } from "./format";
import type { Shared } from "./state";

/** A caller or callee of the function. */
export interface Neighbor {
    name: string;
    file: string | undefined;
    line: number | undefined;
    calls: number;
    total: number;
}

export interface Neighbors {
    callers: Neighbor[];
    callees: Neighbor[];
    /** Direct calls of the function by itself. */
    recursive: number;
    /** Only of outermost calls. */
    total: number;
    calls: number;
    self: number;
}

interface Key { name?: string | undefined; file?: string | undefined; line?: number | undefined }

function keyOf({ name, file, line }: Key): string {
    return JSON.stringify([name ?? "", file ?? "", line ?? 0]);
}

function add(to: Map<string, Neighbor>, node: Key, calls: number, total: number): void {
    const key = keyOf(node);
    const sum = to.get(key) ?? { name: node.name ?? "", file: node.file, line: node.line, calls: 0, total: 0 };
    sum.calls += calls;
    sum.total += total;
    to.set(key, sum);
}

/** A call inside another call of the same function adds no time, since the outer call includes
 * it. */
export function neighborsOf(tree: readonly TreeNode[], wanted: Key): Neighbors {
    const callers = new Map<string, Neighbor>();
    const callees = new Map<string, Neighbor>();
    const sums = { recursive: 0, total: 0, calls: 0, self: 0 };
    const target = keyOf(wanted);
    /** isInside: below the function; seen: its callees on this path, below it. */
    interface Task { node: TreeNode; caller: TreeNode | null; isInside: boolean; seen: readonly string[] }
    const waiting: Task[] = tree.map((node) => ({ node, caller: null, isInside: false, seen: [] }));
    for (let task = waiting.pop(); task !== undefined; task = waiting.pop()) {
        const { node, caller, isInside } = task;
        let { seen } = task;
        const key = keyOf(node);
        const isTarget = key === target;
        const isBelow = caller !== null && keyOf(caller) === target;
        if (isTarget) {
            sums.calls += node.calls;
            sums.self += node.self_ns ?? 0;
            sums.total += isInside ? 0 : node.total_ns ?? 0;
            if (isBelow)
                sums.recursive += node.calls;
            else
                add(callers, caller ?? { name: "(outermost)" }, node.calls, isInside ? 0 : node.total_ns ?? 0);
        } else if (isBelow) {
            add(callees, node, node.calls, seen.includes(key) ? 0 : node.total_ns ?? 0);
            seen = [...seen, key];
        }
        for (const child of node.children)
            waiting.push({ node: child, caller: node, isInside: isInside || isTarget, seen });
    }
    const list = (found: Map<string, Neighbor>): Neighbor[] =>
        [...found.values()].filter(({ calls }) => calls > 0).sort((a, b) => b.total - a.total || b.calls - a.calls);
    return { callers: list(callers), callees: list(callees), ...sums };
}

const SHOWN = 12;

function Side({ title, list, total, shared }: { title: string; list: Neighbor[]; total: number; shared: Shared }): VNode | null {
    if (list.length === 0)
        return null;
    const { functions } = shared.data.report;
    return (
        <>
            <h3>{title}</h3>
            <table class="sums sandwich" data-side={title}>
                <thead><tr><th scope="col" /><th scope="col">Calls</th><th scope="col">Total</th></tr></thead>
                <tbody>
                    {list.slice(0, SHOWN).map((each) => {
                        const row = functions.findIndex((one) => keyOf(one) === keyOf(each));
                        return (
                            <tr key={keyOf(each)} style={{ "--part": String(Math.min(1, each.total / Math.max(1, total))) }}>
                                <th scope="row">{row < 0 ? named(each.name)
                                    : <button type="button" onClick={() => { shared.select({ of: "function", row }); }}>{named(each.name)}</button>}</th>
                                <td>{count(each.calls)}</td>
                                <td title={`${percent(each.total / Math.max(1, total))} of the function's total`}>{time(each.total)}</td>
                            </tr>);
                    })}
                </tbody>
            </table>
            {list.length > SHOWN && <p class="faint">{count(list.length - SHOWN)} more took less.</p>}
        </>
    );
}

export function Callers({ row, shared }: { row: number; shared: Shared }): VNode | null {
    const tree = shared.ranged()?.tree ?? shared.data.tree.tree;
    const { name, file, line } = shared.data.report.functions[row];
    const found = useMemo(() => neighborsOf(tree, { name, file, line }), [tree, name, file, line]);
    if (found.calls === 0)
        return null;
    return (
        <>
            <Side title="Callers" list={found.callers} total={found.total} shared={shared} />
            {found.recursive > 0 && <p class="faint" data-fact="recursive">{`${count(found.recursive)} of its calls were recursive; their time is in the outermost call, and counted once.`}</p>}
            <Side title="Callees" list={found.callees} total={found.total} shared={shared} />
        </>
    );
}
