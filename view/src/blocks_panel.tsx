/* Probes as boxes and blocks as arrows between them: order, counts and times; and the same as a
 * table. */
import dagre from "@dagrejs/dagre";
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { Block } from "./data";
import { probeName } from "./details";
import { count, counted, percent, time } from "./format";
import { axisOf, Spark } from "./histogram";
import { matcher, type Shared } from "./state";
import { type Column, Table } from "./table";
import { short } from "./text";

/** More arrows than this are unreadable. */
const ARROWS = 48;

/** Sizes in the graph: a box with its probe's name, an arrow's label, the height of an arrow from a
 * box to itself. */
const BOX = 30;
const LABEL = 112;
const LOOP = 34;

/** Length of a name in its box. */
function widthOf(title: string): number {
    const context = document.createElement("canvas").getContext("2d");
    if (context === null)
        return title.length * 7.9;
    context.font = `600 12.5px ${getComputedStyle(document.body).fontFamily}`;
    return context.measureText(title).width;
}

interface Point { x: number; y: number }
interface Arrow { block: Block; points: Point[]; at: Point }
interface Picture { width: number; height: number; places: { name: string; x: number; y: number; width: number }[]; arrows: Arrow[] }

/** The name of a site may look like a number. */
function key(text: string, isSite: boolean): string {
    return `${isSite ? "site" : "probe"} ${text}`;
}

function isLoop(block: Block): boolean {
    return key(block.from, block.from_is_site) === key(block.to, block.to_is_site);
}

/** Where a line from a point to a probe's box meets the box. The layout reserves space for arrows
 * from a box to itself, so its own box is larger. */
function meet(from: Point, box: Point & { width: number }): Point {
    const dx = from.x - box.x;
    const dy = from.y - box.y;
    const part = Math.min(box.width / 2 / Math.max(Math.abs(dx), 1e-9), BOX / 2 / Math.max(Math.abs(dy), 1e-9), 1);
    return { x: box.x + dx * part, y: box.y + dy * part };
}

function arrange(blocks: Block[]): Picture {
    const loops = new Set(blocks.filter(isLoop).map((block) => key(block.from, block.from_is_site)));
    const graph = new dagre.graphlib.Graph({ multigraph: true });
    const size: { rankdir: string; nodesep: number; ranksep: number; edgesep: number; marginx: number; marginy: number; width?: number; height?: number } = { rankdir: "LR", nodesep: 24, ranksep: 26, edgesep: 16, marginx: 12, marginy: 12 };
    graph.setGraph(size);
    graph.setDefaultEdgeLabel(() => ({}));
    for (const block of blocks) {
        for (const [text, isSite, name] of [[block.from, block.from_is_site, block.from_name], [block.to, block.to_is_site, block.to_name]] as const) {
            const title = short(probeName(text, name), 28);
            const hasLoop = loops.has(key(text, isSite));
            graph.setNode(key(text, isSite), { title, width: Math.max(hasLoop ? LABEL : 44, widthOf(title) + 18), height: hasLoop ? BOX + 2 * LOOP : BOX });
        }
        if (!isLoop(block))
            graph.setEdge(key(block.from, block.from_is_site), key(block.to, block.to_is_site), { width: LABEL, height: 18, labelpos: "c" });
    }
    dagre.layout(graph);
    const places = graph.nodes().map((id: string) => {
        const node = graph.node(id) as { title: string; x: number; y: number; width: number };
        return { name: node.title, x: node.x, y: node.y, width: node.width };
    });
    const arrows = blocks.map((block): Arrow => {
        if (isLoop(block)) {
            const { x, y } = graph.node(key(block.from, block.from_is_site)) as Point;
            const points = [[-14, -BOX / 2], [-26, -BOX / 2 - LOOP], [0, -BOX / 2 - LOOP], [26, -BOX / 2 - LOOP], [14, -BOX / 2]];
            return { block, points: points.map(([dx, dy]) => ({ x: x + dx, y: y + dy })), at: { x, y: y - BOX / 2 - LOOP + 2 } };
        }
        const edge = graph.edge(key(block.from, block.from_is_site), key(block.to, block.to_is_site)) as unknown as { points: Point[]; x: number; y: number };
        const ends = [key(block.from, block.from_is_site), key(block.to, block.to_is_site)]
            .map((id) => graph.node(id) as Point & { width: number });
        const inner = edge.points.slice(1, -1);
        return { block, points: [meet(inner[0], ends[0]), ...inner, meet(inner[inner.length - 1], ends[1])], at: { x: edge.x, y: edge.y } };
    });
    return { width: size.width ?? 0, height: size.height ?? 0, places, arrows };
}

function path(points: Point[]): string {
    let text = `M${points[0].x.toFixed(1)} ${points[0].y.toFixed(1)}`;
    for (let i = 1; i < points.length - 1; i++) {
        const end = i + 2 < points.length
            ? { x: (points[i].x + points[i + 1].x) / 2, y: (points[i].y + points[i + 1].y) / 2 } : points[i + 1];
        text += `Q${points[i].x.toFixed(1)} ${points[i].y.toFixed(1)} ${end.x.toFixed(1)} ${end.y.toFixed(1)}`;
    }
    return text;
}

function Graph({ blocks, shared, select }: { blocks: Block[]; shared: Shared; select: (block: Block) => void }): VNode {
    const picture = useMemo(() => arrange(blocks), [blocks]);
    const selected = shared.selection?.of === "block" ? shared.selection.block : null;
    return (
        <div class="graph">
            <svg style={{ width: `max(${Math.round(picture.width * 0.72)}px, min(100%, ${Math.round(picture.width)}px))` }} viewBox={`0 0 ${picture.width} ${picture.height}`} role="group" aria-label="Blocks between probes">
                <defs>
                    <marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse" markerUnits="userSpaceOnUse">
                        <path d="M0 0L8 4L0 8z" />
                    </marker>
                </defs>
                {picture.arrows.map(({ block, points, at }) => (
                    <g key={`${block.from} ${block.to}`} class={block === selected ? "arrow chosen" : "arrow"} role="button" tabindex={0}
                        aria-label={`${block.from} to ${block.to}: ${percent(block.probability)}, mean ${time(block.mean_ns)}`}
                        onClick={() => { select(block); }}
                        onKeyDown={(event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); select(block); } }}>
                        <path class="reach" d={path(points)} />
                        <path class="line" d={path(points)} style={{ strokeWidth: `${1 + block.probability * 3.5}px` }} marker-end="url(#head)" />
                        <rect x={at.x - LABEL / 2 + 2} y={at.y - 9} width={LABEL - 4} height={18} rx={4} />
                        <text x={at.x} y={at.y + 4}>{`${percent(block.probability)} · ${time(block.mean_ns)}`}</text>
                    </g>))}
                {picture.places.map((place) => (
                    <g key={place.name} class="place">
                        <rect x={place.x - place.width / 2} y={place.y - BOX / 2} width={place.width} height={BOX} rx={7} />
                        <text x={place.x} y={place.y + 4.5}>{place.name}</text>
                    </g>))}
            </svg>
        </div>
    );
}

type Key = "wall_ns" | "cpu_ns" | "off_cpu_ns" | "min_ns" | "mean_ns" | "p50_ns" | "p90_ns" | "p99_ns" | "max_ns";

const times: readonly [Key, string, string][] = [
    ["wall_ns", "Wall", "Total wall time"],
    ["cpu_ns", "CPU", "Total CPU time"],
    ["off_cpu_ns", "Off CPU", "Wall time that was not CPU time"],
    ["min_ns", "Min", "The shortest"],
    ["mean_ns", "Mean", "The mean"],
    ["p50_ns", "Median", "Half of them took no longer"],
    ["p90_ns", "p90", "9 of 10 took no longer"],
    ["p99_ns", "p99", "99 of 100 took no longer"],
    ["max_ns", "Max", "The longest"],
];

export function BlocksPanel({ shared }: { shared: Shared }): VNode {
    const ranged = shared.ranged();
    const blocks = ranged?.blocks ?? shared.data.blocks.blocks;
    const histograms = ranged?.histograms ?? shared.data.block_histograms;
    const isMatch = useMemo(() => matcher(shared.query), [shared.query]);
    const rows = useMemo(() => isMatch === null ? blocks
        : blocks.filter((block) => isMatch(`${probeName(block.from, block.from_name)} ${probeName(block.to, block.to_name)}`)), [blocks, isMatch]);
    const drawn = useMemo(() => rows.slice(0, ARROWS), [rows]);
    const columns = useMemo((): Column<Block>[] => {
        const axis = axisOf(histograms);
        return [
            { id: "from", title: "From", hint: "The probe that was hit", isText: true, value: (block) => block.from, show: null, name: (block) => ({ name: probeName(block.from, block.from_name) }) },
            { id: "to", title: "To", hint: "The next probe of the same thread", isText: true, value: (block) => block.to, show: null, name: (block) => ({ name: probeName(block.to, block.to_name) }) },
            { id: "calls", title: "Times", hint: "How often", value: (block) => block.calls, show: (block) => count(block.calls) },
            { id: "probability", title: "Probability", hint: "Share among all that followed the first probe", value: (block) => block.probability, show: (block) => percent(block.probability) },
            ...times.map(([id, title, hint]): Column<Block> => ({ id, title, hint, value: (block) => block[id], show: (block) => time(block[id]) })),
            { id: "distribution", title: "Distribution", hint: "Durations on one logarithmic axis for all blocks; heights are square roots",
                value: (block) => block.p50_ns, show: (block) => <Spark histogram={histograms[blocks.indexOf(block)]} axis={axis} /> },
        ];
    }, [blocks, histograms]);
    if (blocks.length === 0)
        return <p class="none">{ranged === null ? "No two hits of probes follow each other in this trace." : "No two hits of probes follow each other in the range."}</p>;
    const select = (block: Block): void => {
        shared.select({ of: "block", block, histogram: histograms[blocks.indexOf(block)] });
    };
    return (
        <div class="listed blocks">
            <Graph blocks={drawn} shared={shared} select={select} />
            <p class="status" role="status">
                Each arrow shows how often the second probe came right after the first, and how long that took on average.
                {rows.length > drawn.length ? ` The ${drawn.length} blocks with the most time are drawn; ${counted(rows.length - drawn.length, "more is", "more are")} in the table.` : ""}
            </p>
            <Table columns={columns} rows={rows} first="wall_ns" selected={shared.selection?.of === "block" ? shared.selection.block : null}
                label="Blocks" onSelect={select} />
        </div>
    );
}
