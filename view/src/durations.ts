/* Durations counted in buckets, with the percentiles that the commands print: the buckets and the
 * ranks are those of src/analysis/histogram.c. */
import type { Bucket } from "./data";
import { widen } from "./histogram";

/** Number of buckets per power of two. */
const PARTS = 128;

function octaveOf(value: number): number {
    return value >= 2 ** 31 ? 31 + octaveOf(Math.floor(value / 2 ** 31)) : 31 - Math.clz32(value);
}

function bucketOf(value: number): number {
    if (value < PARTS)
        return value;
    const octave = octaveOf(value);
    return (octave - 6) * PARTS + Math.floor(value / 2 ** (octave - 7)) % PARTS;
}

/** The lower bound of a bucket, and its width. */
function boundsOf(bucket: number): [number, number] {
    const page = Math.floor(bucket / PARTS);
    const width = page > 0 ? 2 ** (page - 1) : 1;
    return [((page > 0 ? PARTS : 0) + bucket % PARTS) * width, width];
}

export class Durations {
    count = 0;
    min = Infinity;
    max = 0;
    sum = 0;
    private readonly buckets = new Map<number, number>();

    add(ns: number, times = 1): void {
        const value = Math.max(0, Math.round(ns));
        const bucket = bucketOf(value);
        this.buckets.set(bucket, (this.buckets.get(bucket) ?? 0) + times);
        this.count += times;
        this.sum += value * times;
        this.min = Math.min(this.min, value);
        this.max = Math.max(this.max, value);
    }

    merge(other: Durations): void {
        for (const [bucket, times] of other.buckets)
            this.buckets.set(bucket, (this.buckets.get(bucket) ?? 0) + times);
        this.count += other.count;
        this.sum += other.sum;
        this.min = Math.min(this.min, other.min);
        this.max = Math.max(this.max, other.max);
    }

    private sorted(): [number, number][] {
        return [...this.buckets].sort(([a], [b]) => a - b);
    }

    /** null: no durations were counted. */
    quantile(perMille: number): number | null {
        if (this.count === 0)
            return null;
        const rank = Math.max(1, Math.ceil(this.count * perMille / 1000));
        if (rank === 1 || rank === this.count)
            return rank === 1 ? this.min : this.max;
        let seen = 0;
        for (const [bucket, times] of this.sorted()) {
            seen += times;
            if (seen < rank)
                continue;
            const [least, width] = boundsOf(bucket);
            return Math.max(this.min, Math.min(this.max, least + Math.floor(width / 2)));
        }
        return this.max;
    }

    get mean(): number | null {
        return this.count === 0 ? null : Math.floor(this.sum / this.count);
    }

    histogram(): Bucket[] {
        return widen(this.sorted().map(([bucket, times]) => [boundsOf(bucket)[0], times]));
    }

    /** In the form of the members of a report's row. */
    times(): { min_ns: number | null; mean_ns: number | null; p50_ns: number | null; p90_ns: number | null; p99_ns: number | null; max_ns: number | null } {
        const isEmpty = this.count === 0;
        return { min_ns: isEmpty ? null : this.min, mean_ns: this.mean, p50_ns: this.quantile(500), p90_ns: this.quantile(900),
            p99_ns: this.quantile(990), max_ns: isEmpty ? null : this.max };
    }
}
