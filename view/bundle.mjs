// Bundles the page: script and style in one file, which allows no script but its own (by hash) and
// no network at all. Usage: node bundle.mjs OUT
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import * as esbuild from "esbuild";

const out = process.argv[2] ?? "page.html";

const bundled = await esbuild.build({
    entryPoints: ["src/main.tsx"],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome100", "firefox113", "safari16.4"],
    charset: "ascii",
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    tsconfigRaw: "{}", // the same page with and without the checker's settings next to it
});
const style = await esbuild.build({
    entryPoints: ["src/style.css"],
    minify: true,
    write: false,
    charset: "ascii",
});

// Within an element, only its own end tag ends a script.
const script = bundled.outputFiles[0].text.replaceAll("</script", "<\\/script").trim();
const hash = createHash("sha256").update(script).digest("base64");
const page = readFileSync("src/page.html", "utf8")
    .replace("{{policy}}", `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:`)
    .replace("{{style}}", () => style.outputFiles[0].text.trim())
    .replace("{{script}}", () => script);
writeFileSync(out, page);
