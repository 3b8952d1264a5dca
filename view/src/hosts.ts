/* The hosts of the traces, and how their clocks were aligned (doc/hosts.md). */
import type { Alignment, Data, TraceInfo } from "./data";
import { count, time } from "./format";

export interface Host {
    /** Includes its number if another host has the same name, as `probity info` prints it. */
    name: string;
    /** null: not aligned. */
    alignment: Alignment | null;
}

export interface Hosts {
    list: Host[];
    /** The host of each trace. */
    ofTraces: number[];
}

/** Without an alignment, names distinguish hosts. */
const keyOf = ({ alignment, program }: TraceInfo): string => alignment === null ? `name ${program.host ?? ""}` : `number ${alignment.host}`;

export function hostsOf({ info }: Pick<Data, "info">): Hosts {
    const keys = [...new Set(info.map(keyOf))];
    const firsts = keys.map((key) => info[info.findIndex((each) => keyOf(each) === key)]);
    const names = firsts.map(({ program }) => program.host ?? "");
    const list = firsts.map(({ alignment }, index) => {
        const isShared = names[index] === "" || names.indexOf(names[index]) !== names.lastIndexOf(names[index]);
        return { name: isShared ? `${names[index]}#${(alignment?.host ?? index) + 1}` : names[index], alignment };
    });
    return { list, ofTraces: info.map((each) => keys.indexOf(keyOf(each))) };
}

const hostAt = ({ list }: Hosts, number: number): Host | undefined => list.find(({ alignment }) => alignment?.host === number);

const nameAt = (hosts: Hosts, number: number): string => hostAt(hosts, number)?.name ?? `#${number + 1}`;

function offsetText(offset: number, drift: number, error: number | null): string {
    return `${time(Math.abs(offset))} ${offset < 0 ? "behind" : "ahead"}, drifts by ${drift.toFixed(2)} ppm, ${error === null
        ? "error unknown (messages in one direction only)" : `error at most ${time(error)}`}`;
}

/** The clock of a host: such as "aligned to a: it was 1.234s ahead …" */
export function clockText(hosts: Hosts, { alignment }: Host): string {
    if (alignment === null)
        return "clock as it is";
    if (alignment.reference !== alignment.host)
        return `clock aligned to ${nameAt(hosts, alignment.reference)}: it was ${offsetText(alignment.offset_ns, alignment.drift_ppm, alignment.error_ns)}`;
    return alignment.linked ? "clock is the reference" : "clock as it is: no usable messages link it to other hosts";
}

/** A sentence about each pair of hosts that are linked by messages or requests. */
export function pairTexts(hosts: Hosts): string[] {
    const texts = new Set<string>();
    for (const { from, to, state, by, forward, backward, offset_ns: offset, drift_ppm: drift, error_ns: error } of hosts.list.flatMap(({ alignment }) => alignment?.pairs ?? [])) {
        const [left, right] = [nameAt(hosts, from), nameAt(hosts, to)];
        texts.add(state === "contradictory"
            ? `${by} between ${left} and ${right} contradict each other and are not used: a clock was set, or an id was used for two things`
            : `${left} to ${right}: ${count(forward)} ${by}, and ${count(backward)} back: ${right} is ${offsetText(offset, drift, error)}`);
    }
    return [...texts];
}
