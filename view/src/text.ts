/* Prepares names for drawing: cuts them between visible characters, measures them if characters may
 * differ in width, and keeps them from reordering the text around them. */

/** In a monospaced font each of these is equally wide; a canvas draws white space as a blank. */
const plain = /^[\t-\r\x20-\x7e]*$/;

/** Right-to-left scripts, and the characters that override the direction. */
const turned = /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** No screen has space for more characters than this. */
const LONGEST = 600;

const segmenter = "Segmenter" in Intl ? new Intl.Segmenter("en", { granularity: "grapheme" }) : null;

/** Letters with their accents, and joined emoji, are one character. Returns only the first
 * characters of a long text. */
export function characters(text: string): string[] {
    if (plain.test(text))
        return Array.from(text);
    const start = text.slice(0, LONGEST * 8);
    return segmenter === null ? Array.from(start) : Array.from(segmenter.segment(start), ({ segment }) => segment);
}

/** A name that is isolated: its direction, or a character that changes the direction, does not
 * affect the text around it. */
export function isolated(name: string): string {
    return turned.test(name) ? `\u2068${name}\u2069` : name;
}

/** At most `length` characters. */
export function short(text: string, length: number): string {
    if (text.length <= length)
        return text;
    if (plain.test(text))
        return `${text.slice(0, length - 1)}…`;
    const each = characters(text);
    return each.length <= length ? text : `${each.slice(0, Math.max(0, length - 1)).join("")}…`;
}

/** Names in their order, each only once: "server ×5, client". */
export function counted(names: string[]): string {
    const counts = new Map<string, number>();
    for (const name of names)
        counts.set(name, (counts.get(name) ?? 0) + 1);
    return Array.from(counts, ([name, count]) => count === 1 ? name : `${name} ×${count}`).join(", ");
}

/** Widths of texts in one font of a canvas. */
export class Gauge {
    private readonly known = new Map<string, number>();
    private context: CanvasRenderingContext2D | null = null;
    private character = 6.7;

    /** Call before texts are measured: uses the current font of the context. */
    begin(context: CanvasRenderingContext2D): void {
        this.context = context;
        this.character = context.measureText("MMMMMMMMMM").width / 10;
    }

    width(text: string): number {
        if (this.context === null || plain.test(text))
            return text.length * this.character;
        let width = this.known.get(text);
        if (width === undefined) {
            if (this.known.size > 10000)
                this.known.clear();
            this.known.set(text, width = this.context.measureText(text).width);
        }
        return width;
    }

    /** As much of a text as fits, with an ellipsis if it is cut; empty if not even one character
     * fits. */
    fit(text: string, room: number): string {
        const fits = Math.floor(room / this.character);
        if (plain.test(text))
            return fits < 2 && fits < text.length ? "" : short(text, fits);
        if (text.length < LONGEST && this.width(text) <= room)
            return text;
        const each = characters(text).slice(0, LONGEST);
        let [least, most] = [0, each.length - 1];
        while (least < most) {
            const middle = Math.ceil((least + most) / 2);
            if (this.width(`${each.slice(0, middle).join("")}…`) <= room)
                least = middle;
            else
                most = middle - 1;
        }
        return least === 0 ? "" : `${each.slice(0, least).join("")}…`;
    }
}
