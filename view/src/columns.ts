/* Draws narrow columns of many rows as an image, once per row: drawing a rectangle for each column
 * would take most of the time. */

const FIRST_LINES = 64;

/** Converts colors of the style sheet to opaque pixels: the lowest byte is red. */
class Pixels {
    private readonly known = new Map<string, number>();
    private readonly context: CanvasRenderingContext2D | null;

    constructor() {
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = 1;
        this.context = canvas.getContext("2d", { willReadFrequently: true });
    }

    of(color: string): number {
        let pixel = this.known.get(color);
        if (pixel === undefined) {
            pixel = this.read(color);
            this.known.set(color, pixel);
        }
        return pixel;
    }

    private read(color: string): number {
        if (this.context === null)
            return 0;
        this.context.fillStyle = color;
        this.context.fillRect(0, 0, 1, 1);
        const [red, green, blue] = this.context.getImageData(0, 0, 1, 1).data;
        return red | green << 8 | blue << 16;
    }
}

export class Columns {
    private readonly canvas = document.createElement("canvas");
    private readonly context = this.canvas.getContext("2d");
    private readonly pixels = new Pixels();
    private image = new ImageData(1, FIRST_LINES);
    /** The pixels of the image. Little-endian, like all systems that run browsers. */
    private words = new Uint32Array(this.image.data.buffer);
    private rows: { line: number; lines: number; y: number; height: number }[] = [];
    private used = 0;

    /** Begins a drawing that is `width` columns wide. */
    begin(width: number): void {
        const columns = Math.max(1, Math.ceil(width));
        if (columns !== this.image.width)
            this.resize(columns, this.image.height);
        this.words.fill(0, 0, this.used * columns);
        this.rows = [];
        this.used = 0;
    }

    private resize(width: number, height: number): void {
        const kept = width === this.image.width ? this.words.subarray(0, this.used * width) : null;
        this.image = new ImageData(width, height);
        this.words = new Uint32Array(this.image.data.buffer);
        if (kept !== null)
            this.words.set(kept);
    }

    /** Begins a row of `lines` pixels, which are stretched to its height. */
    row(y: number, height: number, lines: number): void {
        let most = this.image.height;
        while (this.used + lines > most)
            most *= 2;
        if (most > this.image.height)
            this.resize(this.image.width, most);
        this.rows.push({ line: this.used, lines, y, height });
        this.used += lines;
    }

    /** Fills lines of a column of the current row. alpha: 0 to 1. */
    put(x: number, from: number, to: number, color: string, alpha: number): void {
        const { width } = this.image;
        if (x < 0 || x >= width)
            return;
        const word = (this.pixels.of(color) | Math.round(alpha * 255) << 24) >>> 0;
        const { line } = this.rows[this.rows.length - 1];
        for (let i = from; i < to; i++)
            this.words[(line + i) * width + x] = word;
    }

    /** Draws all rows, with column 0 at x, and begins a new drawing. */
    draw(context: CanvasRenderingContext2D, x: number): void {
        const { canvas, image, used } = this;
        if (used > 0 && this.context !== null) {
            // Changing the size clears the image.
            if (canvas.width !== image.width || canvas.height !== image.height) {
                canvas.width = image.width;
                canvas.height = image.height;
            }
            this.context.putImageData(image, 0, 0, 0, 0, image.width, used);
            const wasSmooth = context.imageSmoothingEnabled;
            context.imageSmoothingEnabled = false;
            for (const { line, lines, y, height } of this.rows)
                context.drawImage(canvas, 0, line, image.width, lines, x, y, image.width, height);
            context.imageSmoothingEnabled = wasSmooth;
        }
        this.begin(image.width);
    }
}
