/* Distributions of durations: bars on a logarithmic axis, small in tables and large in the
 * details. */
import type { VNode } from "preact";
import type { Bucket } from "./data";
import { count, time } from "./format";

/** A picture has four buckets per power of two: the number of a bucket is its position on a
 * logarithmic axis. */
function place(least: number): number {
    if (least < 4)
        return least;
    const octave = Math.floor(Math.log2(least));
    return 4 * (octave - 1) + Math.floor(least / 2 ** (octave - 2)) % 4;
}

function leastOf(bucket: number): number {
    return bucket < 4 ? bucket : (4 + bucket % 4) * 2 ** (Math.floor(bucket / 4) - 1);
}

/** Reports use buckets narrower than a picture can show: merges them. */
export function widen(histogram: readonly Bucket[]): Bucket[] {
    const wide: Bucket[] = [];
    for (const [least, calls] of histogram) {
        const start = leastOf(place(least));
        const last = wide[wide.length - 1] as Bucket | undefined;
        if (last?.[0] === start)
            last[1] += calls;
        else
            wide.push([start, calls]);
    }
    return wide;
}

export interface Axis {
    first: number;
    end: number;
}

/** One axis for several distributions, so that they can be compared. */
export function axisOf(histograms: readonly Bucket[][]): Axis {
    let first = Infinity;
    let end = 0;
    for (const histogram of histograms) {
        if (histogram.length === 0)
            continue;
        first = Math.min(first, place(histogram[0][0]));
        end = Math.max(end, place(histogram[histogram.length - 1][0]) + 1);
    }
    return first < end ? { first, end } : { first: 0, end: 1 };
}

export function Spark({ histogram, axis }: { histogram: Bucket[]; axis: Axis }): VNode {
    const width = 96;
    const height = 18;
    const step = width / Math.max(axis.end - axis.first, 8);
    const most = Math.max(1, ...histogram.map(([, calls]) => calls));
    const path = histogram.map(([least, calls]) => {
        const size = Math.max(1.5, Math.sqrt(calls / most) * height);
        const x = (place(least) - axis.first) * step;
        return `M${x.toFixed(1)} ${height}v${(-size).toFixed(1)}h${Math.max(step - 0.4, 1).toFixed(1)}v${size.toFixed(1)}z`;
    }).join("");
    return (
        <svg class="spark" width={width} height={height} role="img" aria-label="distribution of durations">
            <path d={`M0 ${height - 0.5}h${width}`} class="axis" />
            <path d={path} class="bars" />
        </svg>
    );
}

/** mark: a duration to mark. */
export function Histogram({ histogram, mark, label }: { histogram: Bucket[]; mark?: number | undefined; label: string }): VNode {
    if (histogram.length === 0)
        return <p class="none">No durations.</p>;
    const axis = axisOf([histogram]);
    const width = 312;
    const height = 96;
    const slots = Math.max(axis.end - axis.first, 12);
    const first = axis.first - (slots - (axis.end - axis.first)) / 2;
    const step = width / slots;
    const most = Math.max(...histogram.map(([, calls]) => calls));
    const total = histogram.reduce((sum, [, calls]) => sum + calls, 0);
    const x = (ns: number): number => {
        const bucket = place(ns);
        const low = leastOf(bucket);
        return (bucket - first + (ns - low) / (leastOf(bucket + 1) - low)) * step;
    };
    const size = (calls: number): number => Math.max(1.5, Math.sqrt(calls / most) * (height - 6));
    const ticks: number[] = [];
    for (let ns = 1; ns < 1e15; ns *= 10) {
        if (x(ns) >= 0 && x(ns) <= width - 30)
            ticks.push(ns);
    }
    if (ticks.length === 0)
        ticks.push(histogram[0][0]);
    return (
        <figure class="histogram">
            <svg width={width} height={height + 18} viewBox={`0 0 ${width} ${height + 18}`} role="img" aria-label={label}>
                {ticks.map((ns) => (
                    <g key={ns}>
                        <path d={`M${x(ns).toFixed(1)} 0v${height + 4}`} class="tick" />
                        <text x={x(ns) + 3} y={height + 14}>{shortTime(ns)}</text>
                    </g>))}
                {histogram.map(([least, calls]) => (
                    <rect key={least} class="bar" x={(place(least) - first) * step} width={Math.max(step - 0.7, 1)}
                        y={height - size(calls)} height={size(calls)}>
                        <title>{`${time(least)} to ${time(leastOf(place(least) + 1))}: ${count(calls)} of ${count(total)}`}</title>
                    </rect>))}
                <path d={`M0 ${height}h${width}`} class="axis" />
                {mark !== undefined && <path d={`M${Math.max(1, Math.min(x(mark), width - 1)).toFixed(1)} 0v${height}`} class="mark" />}
            </svg>
            <figcaption>{label}: {count(total)}; times logarithmic, heights square roots{mark !== undefined ? "; the line is the one selected" : ""}</figcaption>
        </figure>
    );
}

function shortTime(ns: number): string {
    const [factor, unit] = ns < 1e3 ? [1, "ns"] : ns < 1e6 ? [1e3, "us"] : ns < 1e9 ? [1e6, "ms"] : [1e9, "s"];
    return `${Number((ns / factor).toPrecision(4))}${unit}`;
}
