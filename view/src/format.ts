/* Formats numbers and names as text. */
import { isolated, short } from "./text";

const groups = new Intl.NumberFormat("en-US");

/** 1,234,567 */
export function count(value: number): string {
    return groups.format(value);
}

/** A mean of numbers of calls. */
export function one(value: number): string {
    return Number.isInteger(value) ? count(value) : value.toFixed(1);
}

/** "1 call", "2,000 calls" */
export function counted(value: number, singular: string, plural = `${singular}s`): string {
    return `${one(value)} ${value === 1 ? singular : plural}`;
}

const HOUR = 3600e9;

/** Four digits in a suitable unit, as the commands print them: "1.234us". Truncated, because
 * 999.96us must not become a millisecond. */
export function time(ns: number | null | undefined): string {
    if (ns === null || ns === undefined)
        return "–";
    const size = Math.round(Math.abs(ns));
    const sign = ns < 0 && size > 0 ? "−" : "";
    if (size < 1000)
        return `${sign}${size}ns`;
    const [factor, unit] = size < 1e6 ? [1e3, "us"] : size < 1e9 ? [1e6, "ms"]
        : size < 99999e9 ? [1e9, "s"] : [HOUR, "h"];
    const whole = Math.floor(size / factor);
    const digits = whole < 10 ? 3 : whole < 100 ? 2 : whole < 1000 ? 1 : 0;
    const scale = 10 ** digits;
    const fraction = Math.min(scale - 1, Math.floor(size % factor / factor * scale));
    return `${sign}${whole}${digits > 0 ? `.${String(fraction).padStart(digits, "0")}` : ""}${unit}`;
}

/** A point in time, in seconds since recording began, as the commands print it: "3.961293217s". */
export function at(ns: number): string {
    const size = Math.round(Math.abs(ns));
    return `${ns < 0 && size > 0 ? "−" : ""}${Math.floor(size / 1e9)}.${String(size % 1e9).padStart(9, "0")}s`;
}

/** "1.5 ms" to ns; without a unit: ms. null if it is not a time. */
export function parseTime(text: string): number | null {
    const parts = /^\s*(\d*\.?\d+)\s*(ns|us|µs|ms|s|)\s*$/.exec(text);
    return parts === null ? null
        : Number(parts[1]) * ({ ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 }[parts[2]] ?? 1e6);
}

/** A point in time, with enough digits to distinguish points `step` ns apart, in a unit suitable
 * for `largest`. */
export function moment(ns: number, step: number, largest: number): string {
    const units = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]] as const;
    const [factor, unit] = units.find(([size]) => Math.abs(largest) >= size) ?? units[3];
    const digits = Math.max(0, Math.ceil(Math.log10(factor / Math.max(step, 1)) - 1e-9));
    return ns === 0 ? "0" : `${(ns / factor).toFixed(Math.min(digits, 9))}${unit}`;
}

/** Puts the sign before the text of the absolute value. */
export function signed(value: number, text: (size: number) => string): string {
    return `${value > 0 ? "+" : value < 0 ? "−" : "±"}${text(Math.abs(value))}`;
}

/** "12.3%", as the commands print it. */
export function percent(share: number): string {
    return `${(share * 100).toFixed(1)}%`;
}

export function bytes(value: number): string {
    if (value < 1024)
        return `${value} B`;
    const power = Math.min(Math.floor(Math.log2(value) / 10), 4);
    return `${(value / 2 ** (10 * power)).toPrecision(3)} ${["", "KiB", "MiB", "GiB", "TiB"][power]}`;
}

/** A time of day: `ns` after `start` (ns since 1970). */
export function clock(start: bigint, ns: number): string {
    const all = start + BigInt(Math.round(ns));
    const date = new Date(Number(all / 1000000n));
    const two = (value: number): string => String(value).padStart(2, "0");
    const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
    const fraction = String(all % 1000000000n).padStart(9, "0");
    return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${fraction}`;
}

/** A name as text of the page, at most `length` characters. An empty name would be invisible and
 * could not be clicked. */
export function named(name: string, length = Infinity): string {
    return name.trim() === "" ? "(no name)" : isolated(short(name, length));
}
