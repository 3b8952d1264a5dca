/* A canvas that fills its box, sharp at any pixel ratio, redrawn on request. */
import { useEffect, useRef } from "preact/hooks";
import type { VNode } from "preact";

/** Anything that can be drawn: resized first, then drawn. */
export interface Drawing {
    width: number;
    height: number;
    draw: (context: CanvasRenderingContext2D) => void;
}

/** Draws at most once per frame. */
export class Painter {
    canvas: HTMLCanvasElement | null = null;
    drawing: Drawing | null = null;
    private isAsked = false;

    ask(): void {
        if (this.isAsked)
            return;
        this.isAsked = true;
        requestAnimationFrame(() => {
            this.isAsked = false;
            this.paint();
        });
    }

    paint(): void {
        const { canvas, drawing } = this;
        const context = canvas?.getContext("2d") ?? null;
        if (canvas === null || drawing === null || context === null || canvas.clientWidth === 0)
            return;
        const ratio = window.devicePixelRatio || 1;
        const width = Math.round(canvas.clientWidth * ratio);
        const height = Math.round(canvas.clientHeight * ratio);
        if (canvas.width !== width || canvas.height !== height) {
            canvas.width = width;
            canvas.height = height;
        }
        drawing.width = canvas.clientWidth;
        drawing.height = canvas.clientHeight;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        drawing.draw(context);
    }
}

type Handlers = Partial<{
    onPointerDown: (event: PointerEvent) => void;
    onPointerMove: (event: PointerEvent) => void;
    onPointerUp: (event: PointerEvent) => void;
    onPointerLeave: (event: PointerEvent) => void;
    onDblClick: (event: MouseEvent) => void;
    onKeyDown: (event: KeyboardEvent) => void;
}>;

export function Canvas({ painter, label, onWheel, ...handlers }: Handlers & {
    painter: Painter;
    label: string;
    onWheel?: (event: WheelEvent) => void;
}): VNode {
    const reference = useRef<HTMLCanvasElement>(null);
    const wheel = useRef(onWheel);
    wheel.current = onWheel;
    useEffect(() => {
        const canvas = reference.current;
        if (canvas === null)
            return;
        painter.canvas = canvas;
        const observer = new ResizeObserver(() => { painter.paint(); });
        observer.observe(canvas);
        // Not passive, so that the wheel does not also scroll the page.
        const listener = (event: WheelEvent): void => {
            if (wheel.current !== undefined) {
                event.preventDefault();
                wheel.current(event);
            }
        };
        canvas.addEventListener("wheel", listener, { passive: false });
        painter.paint();
        return () => {
            observer.disconnect();
            canvas.removeEventListener("wheel", listener);
            painter.canvas = null;
        };
    }, [painter]);
    return <canvas ref={reference} tabIndex={0} role="application" aria-label={label} {...handlers} />;
}

export function Tip({ at, lines }: { at: { x: number; y: number }; lines: string[] }): VNode {
    const left = Math.min(at.x + 14, window.innerWidth - 380);
    const top = at.y + 90 > window.innerHeight ? at.y - 70 : at.y + 18;
    return (
        <div class="tip" role="tooltip" style={{ left: `${left}px`, top: `${top}px` }}>
            {lines.map((line, index) => <div key={index} class={index === 0 ? "first" : ""}>{line}</div>)}
        </div>
    );
}
