/* Draws distributions of durations: bars on a logarithmic axis, small in tables and large in the
 * details. */
import type { VNode } from "preact";
import type { Bucket } from "./data";
import { count, time } from "./format";

/** A picture has four buckets per power of two: a bucket's number is its position on a logarithmic
 * axis. */
function place(least: number): number {
    if (least < 4)
        return least;
    const octave = Math.floor(Math.log2(least));
    return 4 * (octave - 1) + Math.floor(least / 2 ** (octave - 2)) % 4;
}

function leastOf(bucket: number): number {
    return bucket < 4 ? bucket : (4 + bucket % 4) * 2 ** (Math.floor(bucket / 4) - 1);
}

/** Reports use narrower buckets than a picture can show: merges them. */
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

/** One axis for several distributions, to make them comparable. */
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

const WIDTH = 312;
const HEIGHT = 96;

/** The horizontal axis of a picture. */
interface Scale {
    step: number;
    /** The left edge of a bucket, and the position of a duration in it. */
    left: (least: number) => number;
    x: (ns: number) => number;
    ticks: number[];
}

function scaleOf(histograms: readonly Bucket[][]): Scale {
    const axis = axisOf(histograms);
    const slots = Math.max(axis.end - axis.first, 12);
    const first = axis.first - (slots - (axis.end - axis.first)) / 2;
    const step = WIDTH / slots;
    const left = (least: number): number => (place(least) - first) * step;
    const x = (ns: number): number => {
        const bucket = place(ns);
        const low = leastOf(bucket);
        return (bucket - first + (ns - low) / (leastOf(bucket + 1) - low)) * step;
    };
    const ticks: number[] = [];
    for (let ns = 1; ns < 1e15; ns *= 10) {
        if (x(ns) >= 0 && x(ns) <= WIDTH - 30)
            ticks.push(ns);
    }
    if (ticks.length === 0)
        ticks.push(leastOf(axis.first));
    return { step, left, x, ticks };
}

function Ticks({ scale }: { scale: Scale }): VNode {
    return (
        <>
            {scale.ticks.map((ns) => (
                <g key={ns}>
                    <path d={`M${scale.x(ns).toFixed(1)} 0v${HEIGHT + 4}`} class="tick" />
                    <text x={scale.x(ns) + 3} y={HEIGHT + 14}>{shortTime(ns)}</text>
                </g>))}
        </>
    );
}

const markAt = (x: number): string => `M${Math.max(1, Math.min(x, WIDTH - 1)).toFixed(1)} 0v${HEIGHT}`;

/** mark: a duration to mark. */
export function Histogram({ histogram, mark, label }: { histogram: Bucket[]; mark?: number | undefined; label: string }): VNode {
    if (histogram.length === 0)
        return <p class="none">No durations.</p>;
    const scale = scaleOf([histogram]);
    const most = Math.max(...histogram.map(([, calls]) => calls));
    const total = histogram.reduce((sum, [, calls]) => sum + calls, 0);
    const size = (calls: number): number => Math.max(1.5, Math.sqrt(calls / most) * (HEIGHT - 6));
    return (
        <figure class="histogram">
            <svg width={WIDTH} height={HEIGHT + 18} viewBox={`0 0 ${WIDTH} ${HEIGHT + 18}`} role="img" aria-label={label}>
                <Ticks scale={scale} />
                {histogram.map(([least, calls]) => (
                    <rect key={least} class="bar" x={scale.left(least)} width={Math.max(scale.step - 0.7, 1)}
                        y={HEIGHT - size(calls)} height={size(calls)}>
                        <title>{`${time(least)} to ${time(leastOf(place(least) + 1))}: ${count(calls)} of ${count(total)}`}</title>
                    </rect>))}
                <path d={`M0 ${HEIGHT}h${WIDTH}`} class="axis" />
                {mark !== undefined && <path d={markAt(scale.x(mark))} class="mark" />}
            </svg>
            <figcaption>{label}: {count(total)}; times logarithmic, heights square roots{mark !== undefined ? "; the line marks the selected one" : ""}</figcaption>
        </figure>
    );
}

/** One side of a comparison. median: of its runs; null: unknown. */
export interface Side { histogram: Bucket[]; median: number | null }

/** Both sides of a comparison in one picture: shares of the calls, because the number of runs may
 * differ. The base is filled and the other side is an outline, so that they can be distinguished
 * without color. */
export function Overlay({ base, now, label }: { base: Side; now: Side; label: string }): VNode {
    const sides = [base, now].map(({ histogram, median }) => {
        const total = histogram.reduce((sum, [, calls]) => sum + calls, 0);
        return { median, total, calls: new Map(histogram), most: Math.max(0, ...histogram.map(([, calls]) => calls / total)) };
    });
    const buckets = [...new Set(sides.flatMap(({ calls }) => [...calls.keys()]))].sort((a, b) => a - b);
    if (buckets.length === 0)
        return <p class="none">No durations.</p>;
    const scale = scaleOf([base.histogram, now.histogram]);
    const most = Math.max(...sides.map((side) => side.most));
    const size = (share: number): number => share === 0 ? 0 : Math.max(1.5, Math.sqrt(share / most) * (HEIGHT - 6));
    // A line along the tops of the bars, which is on the axis where there are no calls.
    const path = ({ calls, total }: { calls: Map<number, number>; total: number }): string => {
        let text = "";
        let end = -1;
        for (const least of buckets) {
            const share = (calls.get(least) ?? 0) / Math.max(total, 1);
            if (share === 0)
                continue;
            const [left, top] = [scale.left(least), (HEIGHT - size(share)).toFixed(1)];
            text += Math.abs(left - end) < 0.01 ? `V${top}` : `${end < 0 ? "" : `V${HEIGHT}`}M${left.toFixed(1)} ${HEIGHT}V${top}`;
            end = left + scale.step;
            text += `H${end.toFixed(1)}`;
        }
        return end < 0 ? "" : `${text}V${HEIGHT}`;
    };
    const shareText = (index: number, least: number): string => {
        const { calls, total } = sides[index];
        return `${count(calls.get(least) ?? 0)} of ${count(total)}`;
    };
    return (
        <figure class="histogram overlay">
            <svg width={WIDTH} height={HEIGHT + 18} viewBox={`0 0 ${WIDTH} ${HEIGHT + 18}`} role="img" aria-label={label}>
                <Ticks scale={scale} />
                <path class="of-base" d={path(sides[0])} />
                <path class="of-new" d={path(sides[1])} />
                <path d={`M0 ${HEIGHT}h${WIDTH}`} class="axis" />
                {sides.map(({ median }, index) => median !== null && <path key={index} d={markAt(scale.x(median))} class={index === 0 ? "median of-base" : "median of-new"} data-ns={median} />)}
                {buckets.map((least) => (
                    <rect key={least} class="bucket" x={scale.left(least)} width={scale.step} y={0} height={HEIGHT}
                        data-least={least} data-base={sides[0].calls.get(least) ?? 0} data-new={sides[1].calls.get(least) ?? 0}>
                        <title>{`${time(least)} to ${time(leastOf(place(least) + 1))}: base ${shareText(0, least)}, new ${shareText(1, least)}`}</title>
                    </rect>))}
            </svg>
            <figcaption>
                {sides.map(({ median, total }, index) => <span key={index} class="key"><i class={index === 0 ? "of-base" : "of-new"} /> {index === 0 ? "base" : "new"}: {count(total)}{median !== null ? `, median ${time(median)}` : ""}</span>)}
                Times logarithmic; heights are square roots of the share of each side. Lines mark the medians.
            </figcaption>
        </figure>
    );
}

function shortTime(ns: number): string {
    const [factor, unit] = ns < 1e3 ? [1, "ns"] : ns < 1e6 ? [1e3, "us"] : ns < 1e9 ? [1e6, "ms"] : [1e9, "s"];
    return `${Number((ns / factor).toPrecision(4))}${unit}`;
}
