/* Colours: each function keeps its own; those of the page come from the style sheet, so that light,
 * dark and paper are told there only. */

export interface Theme {
    dark: boolean;
    paper: string;
    text: string;
    faint: string;
    line: string;
    panel: string;
    accent: string;
    on: string;
    off: string;
    mark: string;
    font: string;
    mono: string;
}

export function readTheme(printing: boolean): Theme {
    const style = getComputedStyle(document.documentElement);
    const value = (name: string): string => style.getPropertyValue(`--${name}`).trim();
    const dark = !printing && matchMedia("(prefers-color-scheme: dark)").matches;
    return {
        dark,
        paper: printing ? "#ffffff" : value("paper"),
        text: printing ? "#16181d" : value("text"),
        faint: printing ? "#555c68" : value("faint"),
        line: printing ? "#d5d9e0" : value("line"),
        panel: printing ? "#f4f5f7" : value("panel"),
        accent: printing ? "#1a56c4" : value("accent"),
        on: printing ? "#3f9a63" : value("on"),
        off: printing ? "#c9741f" : value("off"),
        mark: printing ? "#7a3fc0" : value("mark"),
        font: "12px system-ui, sans-serif",
        mono: "11.5px ui-monospace, 'Cascadia Mono', Menlo, Consolas, monospace",
    };
}

/** Hues far apart for names that are next to each other in a list: the golden angle. Text on it is
 * dark in light themes and light in dark ones, and reads well on all of them. */
function fill(place: number, dark: boolean): string {
    const hue = (215 + place * 137.508) % 360;
    const part = Math.floor(place / 6) % 3 / 2;
    return dark
        ? `hsl(${hue.toFixed(0)} ${36 + part * 14}% ${31 - part * 6}%)`
        : `hsl(${hue.toFixed(0)} ${70 - part * 18}% ${77 + part * 7}%)`;
}

/** The same name has the same colour everywhere; the names that matter most come first, so that
 * theirs differ most. */
export class Palette {
    private readonly fills = new Map<string, string>();
    private readonly strongs = new Map<string, string>();
    constructor(names: readonly string[], readonly theme: Theme) {
        for (const name of names) {
            if (this.fills.has(name))
                continue;
            const colour = fill(this.fills.size, theme.dark);
            this.fills.set(name, colour);
            this.strongs.set(name, colour.replace(/(\d+(?:\.\d+)?)%\)$/, (_, lightness: string) =>
                `${Number(lightness) + (theme.dark ? 16 : -20)}%)`));
        }
    }

    of(name: string): string {
        return this.fills.get(name) ?? this.theme.line;
    }

    /** Narrow columns need more contrast to the paper than boxes with text in them. */
    strong(name: string): string {
        return this.strongs.get(name) ?? this.theme.faint;
    }
}

/** Steps of the scale of changes, each way. */
export const TONES = 6;

/** From -1 (less) by 0 to 1 (more): blue by grey to orange, which also those tell apart who do not
 * see red and green alike. Square roots, so that what is small can be seen beside what is large. */
export function toneOf(change: number, { dark }: { dark: boolean }): string {
    const step = Math.min(TONES, Math.round(Math.sqrt(Math.abs(change)) * TONES));
    const part = step / TONES;
    if (step === 0)
        return dark ? "hsl(220 6% 30%)" : "hsl(220 8% 90%)";
    const hue = change > 0 ? 24 : 212;
    return dark
        ? `hsl(${hue} ${(20 + part * 55).toFixed(0)}% ${(29 + part * 4).toFixed(0)}%)`
        : `hsl(${hue} ${(45 + part * 45).toFixed(0)}% ${(91 - part * 25).toFixed(0)}%)`;
}
