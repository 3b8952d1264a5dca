/* The list of tracks: which stay at the top, in which order they are, and how many rows each has.
 * Makes everything that a pointer can do with tracks in the timeline available by keyboard. */
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Track } from "./lanes";
import { isolated, short } from "./text";
import { TimelineView, titleOf } from "./timeline";

export function TracksDialog({ view, refresh, onClose }: { view: TimelineView; refresh: () => void; onClose: () => void }): VNode {
    const dialog = useRef<HTMLDialogElement>(null);
    const [, setVersion] = useState(0);
    useEffect(() => { dialog.current?.showModal(); }, []);
    const change = (action: () => void): void => {
        action();
        setVersion((version) => version + 1);
        refresh();
    };
    const { layout } = view;
    const shown = view.shown();
    return (
        <dialog ref={dialog} class="tracks" onClose={onClose} aria-label="Tracks">
            <h2>Tracks</h2>
            <p class="faint">Pinned tracks stay at the top. Names can also be dragged.</p>
            <div class="rows">
                <table>
                    <thead><tr><th scope="col">Pin</th><th scope="col" class="text">Track</th><th scope="col">Move</th><th scope="col">Collapse</th><th scope="col">Rows of calls</th></tr></thead>
                    <tbody>
                        {shown.map((thread, index) => {
                            const title = `${titleOf(thread, false)}${thread.track === Track.Thread ? ` ${thread.tid}` : ""}`;
                            const { place } = thread;
                            return (
                                <tr key={place} data-place={place}>
                                    <td><input type="checkbox" aria-label={`Pin ${title}`} checked={layout.pinned.has(place)} onChange={() => { change(() => { view.pin(place); }); }} /></td>
                                    <th scope="row" class="text" title={title}>{isolated(short(title, 60))}</th>
                                    <td class="moves">
                                        <button type="button" aria-label={`Move ${title} up`} disabled={index === 0} onClick={() => { change(() => { view.moveBy(place, -1); }); }}>▲</button>
                                        <button type="button" aria-label={`Move ${title} down`} disabled={index === shown.length - 1} onClick={() => { change(() => { view.moveBy(place, 1); }); }}>▼</button>
                                    </td>
                                    <td>{TimelineView.canFold(thread) && <input type="checkbox" aria-label={`Collapse ${title}`} checked={layout.folded.has(place)} onChange={() => { change(() => { view.fold(place); }); }} />}</td>
                                    <td>{thread.calls.length > 1 && <input type="number" min={1} max={thread.calls.length} aria-label={`Rows of ${title}, at most ${thread.calls.length}`}
                                        placeholder={`of ${thread.calls.length}`} value={Number.isFinite(layout.limits.get(place)) ? layout.limits.get(place) : ""}
                                        onChange={(event) => {
                                            const rows = Number(event.currentTarget.value);
                                            change(() => { view.limit(place, event.currentTarget.value === "" || !(rows >= 1) ? null : Math.floor(rows)); });
                                        }} />}</td>
                                </tr>);
                        })}
                    </tbody>
                </table>
            </div>
            <p class="buttons">
                <button type="button" onClick={() => { change(() => { layout.pinned.clear(); layout.limits.clear(); layout.own = []; layout.order = "first"; view.arrange(); }); }}>Reset</button>
                <button type="button" onClick={() => dialog.current?.close()}>Close</button>
            </p>
        </dialog>
    );
}
