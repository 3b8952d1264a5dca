/* Shows what a part of the page covers while a range of time is selected, and how to go back. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { rangeCommand } from "./command";
import { at, time } from "./format";
import type { Shared, Tab } from "./state";

const texts: Partial<Record<Tab, string>> = {
    flame: "only calls that begin in it", functions: "only calls that begin in it", blocks: "only blocks that begin and end in it",
};

function coverOf(shared: Shared, tab: Tab): string {
    if (tab === "flame" && shared.flame.mode === "change")
        return "the comparison covers everything";
    if (tab === "flame" && shared.flame.mode === "time")
        return "marked below";
    if (tab === "flame" && shared.flame.mode === "blocks")
        return texts.blocks ?? "";
    return texts[tab] ?? (tab === "timeline" ? "" : "this part covers everything");
}

export function RangeBar({ shared, tab }: { shared: Shared; tab: Tab }): VNode | null {
    const { range, data } = shared;
    const [isShown, setShown] = useState(false);
    if (range === null)
        return null;
    const isFollowing = tab === "functions" || tab === "blocks" || (tab === "flame" && (shared.flame.mode === "merged" || shared.flame.mode === "blocks"));
    const cover = coverOf(shared, tab);
    const command = isFollowing ? rangeCommand(data, shared.model, range, tab === "functions" ? "report" : tab === "blocks" || shared.flame.mode === "blocks" ? "blocks" : "tree") : null;
    return (
        <div class="ranged" role="status">
            <span class="chip">
                {`range: ${at(range.from)} – ${at(range.to)}`}
                <button type="button" aria-label="Clear the range" title="Clear the range" onClick={() => { shared.setRange(null); }}>✕</button>
            </span>
            <span>{`${time(range.to - range.from)}${cover === "" ? "" : `: ${cover}`}`}</span>
            {isFollowing && shared.ranged()?.isNear === true && <span title="Calls or blocks in this range were merged when the page was written. The command counts each.">approximate: some were merged</span>}
            {isFollowing && tab !== "blocks" && data.report.functions.some((row) => (row.paused_ns ?? 0) > 0) && <span title="The command excludes them.">times include pauses</span>}
            {command !== null && <button type="button" aria-expanded={isShown} onClick={() => { setShown(!isShown); }}>Command</button>}
            {tab !== "timeline" && <button type="button" onClick={() => { shared.go("timeline"); }}>Timeline</button>}
            {command !== null && isShown && <code>{command}</code>}
        </div>
    );
}
