/* Tiles next to the page (doc/tiles.md): spans at units finer than the page's, by level and time. A
 * page opened as a file may load them only as scripts; a page from a server fetches them and never
 * executes them. File contents are checked: a file may belong to another page, be damaged, or be an
 * error page. */
import { Bytes, type Lane, LaneKind, laneKindOf, readLane, Track } from "./lanes";
import type { Window } from "./timeline";

export interface TileLevel {
    unit_ns: number;
    tile_ns: number;
    /** The number of the level's first file. */
    file: number;
    /** The number of spans in each tile; 0: it has no file. */
    spans: number[];
}

export interface TileIndex {
    id: string;
    from_ns: number;
    /** The file of spans that are in no tile; -1: none. */
    late: number;
    lost: number;
    /** The finest level first. */
    levels: TileLevel[];
}

/** The lanes of each thread, by the thread's index in the page. */
export type Tile = Map<number, Lane[]>;

/** Consecutive tiles of a level. */
export interface TileRange extends Window {
    level: number;
    unit: number;
    files: number[];
}

/** More spans than a screen can show. */
const SPANS_SHOWN = 600_000;
/** Maximum number of spans that are kept, about 70 bytes each. */
const SPANS_KEPT = 1_500_000;
const BYTES_MAX = 128 << 20;

interface Contents { id: string; file: number; from_ns: number; threads: { place: number; lanes: [number, number, number][] }[] }

const waiting = new Map<number, (text: string) => void>();
(globalThis as unknown as Record<string, unknown>).probityTile = (file: number, text: string): void => { waiting.get(file)?.(text); };

function script(file: number): Promise<string> {
    return new Promise((resolve, reject) => {
        const element = document.createElement("script");
        const end = (): void => { waiting.delete(file); element.remove(); };
        waiting.set(file, (text) => { end(); resolve(text); });
        element.onload = () => { end(); reject(new Error("it is not a tile")); };
        element.onerror = () => { end(); reject(new Error("it cannot be loaded")); };
        element.src = `tile-${file}.js`;
        document.head.append(element);
    });
}

async function fetched(file: number): Promise<string> {
    const response = await fetch(`tile-${file}.js`);
    if (!response.ok)
        throw new Error(`status ${response.status}`);
    const text = (await response.text()).trimEnd();
    const [begin, end] = [`probityTile(${file},"`, "\");"];
    if (!text.startsWith(begin) || !text.endsWith(end))
        throw new Error("it is not a tile");
    return text.slice(begin.length, -end.length);
}

async function unpack(text: string): Promise<Uint8Array> {
    const characters = atob(text);
    const packed = new Uint8Array(characters.length);
    for (let i = 0; i < characters.length; i++)
        packed[i] = characters.charCodeAt(i);
    const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
    const parts: Uint8Array[] = [];
    let size = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
        parts.push(part.value);
        size += part.value.length;
        if (size > BYTES_MAX)
            throw new Error("it is too large");
    }
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
        bytes.set(part, at);
        at += part.length;
    }
    return bytes;
}

/** The parts of the page that a tile refers to: the number of names, and the kind of each thread
 * or track. */
export interface Owner { names: number; tracks: readonly number[] }

function parse(bytes: Uint8Array, file: number, id: string, { names, tracks }: Owner): Tile {
    const size = new DataView(bytes.buffer).getUint32(0, true);
    const contents = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size))) as Contents;
    if (contents.id !== id || contents.file !== file)
        throw new Error("it belongs to another page");
    const source = { numbers: new Bytes(bytes.subarray(4 + size)), first: contents.from_ns, values: 0 };
    return new Map(contents.threads.map(({ place, lanes }) => [place, lanes.map(([kind, depth, count]) => {
        if (!(place in tracks))
            throw new Error("it has unknown threads");
        const lane = readLane(source, place, laneKindOf(tracks[place], kind), depth, count, tracks[place] === Track.Queue);
        if (kind === LaneKind.States)
            return lane;
        if (lane.name.some((name) => name >= names))
            throw new Error("it has unknown names");
        lane.values.fill(0);
        return lane;
    })]));
}

export class Tiles {
    /** Why files could not be read. */
    private readonly bad = new Map<number, string>();
    private readonly kept = new Map<number, Tile>();
    private keptSpans = 0;

    constructor(private readonly index: TileIndex, private readonly owner: Owner) {}

    private rangeAt(level: number, window: Window): TileRange {
        const { unit_ns: unit, tile_ns: length, file, spans } = this.index.levels[level];
        const clip = (number: number): number => Math.min(Math.max(number, 0), spans.length - 1);
        // A span that began before the window may reach into it.
        const first = clip(Math.floor((window.from - this.longest - this.index.from_ns) / length));
        const last = clip(Math.floor((window.to - this.index.from_ns) / length));
        const files: number[] = [];
        for (let number = first; number <= last; number++) {
            if (spans[number] > 0)
                files.push(file + number);
        }
        return { level, unit, files, from: this.index.from_ns + first * length, to: this.index.from_ns + (last + 1) * length };
    }

    private get longest(): number {
        return this.index.levels[this.index.levels.length - 1].unit_ns * 2;
    }

    private spansOf({ level, files }: TileRange): number {
        const { file, spans } = this.index.levels[level];
        return files.reduce((sum, number) => sum + spans[number - file], 0);
    }

    /** The tiles of a window for columns of some width: those of the coarsest level that still
     * fills each column, or of a coarser level if that one cannot be read or has too many spans.
     * null: there is none. failure: why a better level is not shown. */
    choose(window: Window, column: number): { range: TileRange | null; failure: string | null } {
        const { levels } = this.index;
        let failure: string | null = null;
        let level = levels.length - 1;
        while (level > 0 && levels[level].unit_ns > column)
            level--;
        for (; level < levels.length; level++) {
            const range = this.rangeAt(level, window);
            const bad = [...range.files, this.index.late].find((file) => this.bad.has(file));
            if (bad !== undefined)
                failure ??= `tile-${bad}.js cannot be read: ${this.bad.get(bad) ?? ""}`;
            else if (this.spansOf(range) <= SPANS_SHOWN)
                return { range, failure };
        }
        return { range: null, failure };
    }

    isLoaded({ files }: TileRange): boolean {
        return [...files, this.index.late].every((file) => file < 0 || this.kept.has(file));
    }

    /** Loads missing files. A file that cannot be read is not requested again. */
    async load({ files }: TileRange): Promise<void> {
        const isFile = location.protocol === "file:";
        await Promise.all([...files, this.index.late].map(async (file) => {
            if (file < 0 || this.kept.has(file) || this.bad.has(file))
                return;
            try {
                const bytes = await unpack(await (isFile ? script(file) : fetched(file)));
                this.keep(file, parse(bytes, file, this.index.id, this.owner), files);
            } catch (error) {
                this.bad.set(file, error instanceof Error ? error.message : String(error));
            }
        }));
    }

    private static sizeOf(tile: Tile): number {
        let size = 0;
        for (const lanes of tile.values())
            size += lanes.reduce((sum, lane) => sum + lane.size, 0);
        return size;
    }

    /** Evicts the oldest tiles, except those that are needed now. */
    private keep(file: number, tile: Tile, needed: readonly number[]): void {
        this.kept.set(file, tile);
        this.keptSpans += Tiles.sizeOf(tile);
        for (const [other, old] of this.kept) {
            if (this.keptSpans <= SPANS_KEPT)
                return;
            if (other === this.index.late || needed.includes(other))
                continue;
            this.kept.delete(other);
            this.keptSpans -= Tiles.sizeOf(old);
        }
    }

    /** A lane's spans in a loaded range, tile by tile; then the late ones. */
    lanes({ files }: TileRange, place: number, kind: number, depth: number): { lanes: Lane[]; late: Lane | undefined } {
        const find = (file: number): Lane | undefined => this.kept.get(file)?.get(place)?.find((lane) => lane.kind === kind && lane.depth === depth);
        return { lanes: files.map(find).filter((lane) => lane !== undefined), late: find(this.index.late) };
    }
}
