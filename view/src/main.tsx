/* Unpacks the data and starts the page. */
import { render } from "preact";
import { App } from "./app";
import { baseOf, load, titleOf } from "./data";
import { makeModel } from "./lanes";
import { arrive } from "./place";

function fail(error: unknown): void {
    const paragraph = document.createElement("p");
    paragraph.className = "loading";
    paragraph.textContent = `This page cannot be shown: ${String(error)}. It requires a browser from 2023 or later, and the complete file.`;
    document.getElementById("app")?.replaceChildren(paragraph);
    console.error(error);
}

async function start(): Promise<void> {
    const root = document.getElementById("app");
    if (root === null)
        return;
    const { data, spans, baseSpans } = await load();
    document.title = `${titleOf(data)} – Probity`;
    const model = makeModel(data, spans);
    const baseData = baseOf(data);
    const base = baseData === null ? null : { data: baseData, model: makeModel(baseData, baseSpans), now: data.tiles === undefined ? model : makeModel(data, spans) };
    arrive(data, model);
    root.replaceChildren();
    render(<App data={data} model={model} base={base} />, root);
}

start().catch(fail);
