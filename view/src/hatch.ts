/* The pattern of merged spans, drawn once as a tile: drawing lines for each span would take most of
 * the time. */

const PERIOD = 6;

export class Hatch {
    private pattern: CanvasPattern | null = null;
    private made = "";

    /** Draws hatching lines over the contents of a rectangle. */
    fill(context: CanvasRenderingContext2D, color: string, x: number, y: number, width: number, height: number): void {
        const ratio = window.devicePixelRatio || 1;
        const wanted = `${color} ${ratio}`;
        if (this.made !== wanted) {
            this.pattern = this.tile(context, color, ratio);
            this.made = wanted;
        }
        if (this.pattern === null)
            return;
        context.fillStyle = this.pattern;
        context.globalAlpha = 0.45;
        context.fillRect(x, y, width, height);
        context.globalAlpha = 1;
    }

    /** Sharp at any pixel ratio. */
    private tile(context: CanvasRenderingContext2D, color: string, ratio: number): CanvasPattern | null {
        const size = Math.round(PERIOD * ratio);
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = size;
        const lines = canvas.getContext("2d");
        if (lines === null)
            return null;
        lines.strokeStyle = color;
        lines.lineWidth = 1.5 * size / PERIOD;
        lines.beginPath();
        for (let at = -size; at <= size; at += size) {
            lines.moveTo(at - size, 2 * size);
            lines.lineTo(at + 2 * size, -size);
        }
        lines.stroke();
        const pattern = context.createPattern(canvas, "repeat");
        pattern?.setTransform(new DOMMatrix().scale(PERIOD / size));
        return pattern;
    }
}
