/* Colors: each function keeps its color. Colors of the page come from the style sheet, the only
 * place that defines them for light, dark and print. */

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
    running: string;
    runnable: string;
    blocked: string;
    mark: string;
    bars: string;
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
        running: printing ? "#0072b2" : value("running"),
        runnable: printing ? "#e69f00" : value("runnable"),
        blocked: printing ? "#b7bdc9" : value("blocked"),
        mark: printing ? "#7a3fc0" : value("mark"),
        bars: printing ? "#5b83c9" : value("bars"),
        font: "12px system-ui, sans-serif",
        mono: "11.5px ui-monospace, 'Cascadia Mono', Menlo, Consolas, monospace",
    };
}

/** Neighboring names in a list get distant hues, using the golden angle. Text on them is dark in
 * light themes and light in dark themes, and readable on all hues. */
function fill(place: number, dark: boolean): string {
    const hue = (215 + place * 137.508) % 360;
    const part = Math.floor(place / 6) % 3 / 2;
    return dark
        ? `hsl(${hue.toFixed(0)} ${36 + part * 14}% ${31 - part * 6}%)`
        : `hsl(${hue.toFixed(0)} ${70 - part * 18}% ${77 + part * 7}%)`;
}

/** The same name has the same color everywhere; the most important names come first and have the
 * most distinct colors. */
export class Palette {
    private readonly fills = new Map<string, string>();
    private readonly strongs = new Map<string, string>();
    constructor(names: readonly string[], readonly theme: Theme) {
        for (const name of names) {
            if (this.fills.has(name))
                continue;
            const color = fill(this.fills.size, theme.dark);
            this.fills.set(name, color);
            this.strongs.set(name, color.replace(/ (\d+(?:\.\d+)?)% (\d+(?:\.\d+)?)%\)$/, (_, saturation: string, lightness: string) =>
                ` ${Math.round(Number(saturation) * 0.72)}% ${Number(lightness) + (theme.dark ? 16 : -18)}%)`));
        }
    }

    of(name: string): string {
        return this.fills.get(name) ?? this.theme.line;
    }

    /** Narrow columns need more contrast with the background than boxes with text. */
    strong(name: string): string {
        return this.strongs.get(name) ?? this.theme.faint;
    }
}

/** Steps of the scale of changes, in each direction. */
export const TONES = 6;

/** From -1 (less) through 0 to 1 (more): blue, gray, orange, which can also be distinguished with
 * red-green color blindness. Square roots make small changes visible next to large ones. */
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
