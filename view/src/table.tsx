/* A table that can be sorted by any column and renders only visible rows. */
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { short } from "./text";

/** A name, which gets the width left by the other columns: it is cut only if there is not
 * enough. */
export interface Named {
    name: string;
    /** Shown faintly, after the name. */
    place?: string;
    /** The tooltip, if it contains more than the name. */
    whole?: string;
}

export interface Column<Row> {
    id: string;
    title: string;
    /** Explanation of the column. */
    hint: string;
    /** Sort key: numbers largest first, texts ascending; null last. */
    value: (row: Row) => number | string | null;
    show: ((row: Row) => ComponentChildren) | null;
    isText?: boolean;
    /** Used in place of `show`. */
    name?: (row: Row) => Named;
}

const ROW = 27;
/** Paper cannot be scrolled: all rows are printed, up to this limit. */
const PRINTED = 500;
/** No screen has space for more characters than this. */
const SHOWN = 600;
/** Of the names, only the longest ones are measured. */
const MEASURED = 16;

const nameText = ({ name }: Named): string => name.trim() === "" ? "(no name)" : short(name, SHOWN);

/** The width of the widest name, including its place, in pixels. */
function widestOf(all: Named[]): number {
    const context = document.createElement("canvas").getContext("2d");
    const texts = all.map((each) => `${nameText(each)} ${each.place ?? ""}`).sort((a, b) => b.length - a.length).slice(0, MEASURED);
    if (context === null)
        return 300;
    context.font = `14px ${getComputedStyle(document.body).fontFamily}`;
    return Math.ceil(Math.max(0, ...texts.map((text) => context.measureText(text).width)));
}

/** `dir` keeps the direction of a name from affecting the text around it; a right-to-left name is
 * cut at its left end. */
function NameCell({ of }: { of: Named }): VNode {
    return (
        <span class="named" title={of.whole ?? of.name}>
            <span class="name" dir="auto">{nameText(of)}</span>{of.place !== undefined && <>{" "}<span class="faint">{of.place}</span></>}
        </span>
    );
}

export function Table<Row extends object>({ columns, rows, first, selected, onSelect, label }: {
    columns: Column<Row>[];
    rows: Row[];
    first: string;
    selected: Row | null;
    onSelect: (row: Row) => void;
    label: string;
}): VNode {
    const [order, setOrder] = useState({ id: first, isReverse: false });
    const [top, setTop] = useState(0);
    const [height, setHeight] = useState(800);
    const [isPrinting, setPrinting] = useState(false);
    const box = useRef<HTMLDivElement>(null);
    const sorted = useMemo(() => {
        const column = columns.find((each) => each.id === order.id) ?? columns[0];
        const sign = (column.isText === true ? 1 : -1) * (order.isReverse ? -1 : 1);
        return rows.map((row) => ({ row, value: column.value(row) })).sort((a, b) => {
            if (a.value === null || b.value === null)
                return Number(a.value === null) - Number(b.value === null);
            if (typeof a.value === "string" || typeof b.value === "string")
                return sign * String(a.value).localeCompare(String(b.value));
            return sign * (a.value - b.value);
        }).map(({ row }) => row);
    }, [rows, order, columns]);

    useEffect(() => {
        const element = box.current;
        const before = (): void => { setPrinting(true); };
        const after = (): void => { setPrinting(false); };
        const observer = new ResizeObserver(() => { setHeight(element?.clientHeight ?? 800); });
        if (element !== null)
            observer.observe(element);
        addEventListener("beforeprint", before);
        addEventListener("afterprint", after);
        return () => {
            observer.disconnect();
            removeEventListener("beforeprint", before);
            removeEventListener("afterprint", after);
        };
    }, []);

    const widths = useMemo(() => columns.map(({ name }) => name === undefined ? undefined : { width: `${widestOf(rows.map(name)) + 24}px` }), [columns, rows]);
    const begin = isPrinting ? 0 : Math.max(0, Math.floor(top / ROW) - 10);
    const end = isPrinting ? Math.min(sorted.length, PRINTED) : Math.min(sorted.length, Math.ceil((top + height) / ROW) + 10);
    const sort = (id: string): void => {
        setOrder({ id, isReverse: order.id === id ? !order.isReverse : false });
    };
    const onKeyDown = (event: KeyboardEvent, row: Row): void => {
        const from = event.currentTarget as HTMLElement;
        const to = event.key === "ArrowDown" ? from.nextElementSibling : event.key === "ArrowUp" ? from.previousElementSibling : null;
        if (event.key === "Enter" || event.key === " ")
            onSelect(row);
        else if (to instanceof HTMLElement && to.tabIndex === 0)
            to.focus();
        else
            return;
        event.preventDefault();
    };
    return (
        <div class="table" ref={box} onScroll={(event) => { setTop(event.currentTarget.scrollTop); }}>
            <table aria-label={label} aria-rowcount={sorted.length + 1}>
                <thead>
                    <tr>
                        {columns.map((column) => (
                            <th key={column.id} scope="col" class={column.isText === true ? "text" : ""} title={column.hint}
                                aria-sort={order.id !== column.id ? "none" : (column.isText === true) === order.isReverse ? "descending" : "ascending"}>
                                <button type="button" onClick={() => { sort(column.id); }}>
                                    {column.title}<span aria-hidden="true">{order.id !== column.id ? "" : (column.isText === true) === order.isReverse ? " ▾" : " ▴"}</span>
                                </button>
                            </th>))}
                    </tr>
                </thead>
                <tbody>
                    {begin > 0 && <tr class="room" style={{ height: `${begin * ROW}px` }} />}
                    {sorted.slice(begin, end).map((row, index) => (
                        <tr key={begin + index} tabIndex={0} aria-rowindex={begin + index + 2} aria-selected={row === selected}
                            onClick={() => { onSelect(row); }} onKeyDown={(event) => { onKeyDown(event, row); }}>
                            {columns.map((column, place) => (
                                <td key={column.id} class={column.isText === true ? "text" : ""} style={widths[place]} data-column={column.id}
                                    data-value={String(column.value(row) ?? "")}>{column.name !== undefined ? <NameCell of={column.name(row)} /> : column.show?.(row)}</td>))}
                        </tr>))}
                    {end < sorted.length && !isPrinting && <tr class="room" style={{ height: `${(sorted.length - end) * ROW}px` }} />}
                </tbody>
            </table>
            {isPrinting && sorted.length > PRINTED && <p>{sorted.length - PRINTED} more are not printed.</p>}
        </div>
    );
}
