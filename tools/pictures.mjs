// SPDX-License-Identifier: MIT
//
// pictures.mjs: takes the screenshots for the README from pages of `probity view`, in headless
// chromium.
//
//     node pictures.mjs MODULES SERVER_PAGE COMPARISON_PAGE DIRECTORY
//
// MODULES is the node_modules directory with playwright-core. Run by tools/pictures.sh.
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, server, comparison, directory] = process.argv.slice(2);
const { chromium } = createRequire(`${resolve(modules)}/x.js`)("playwright-core");
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});

async function open(file, tab, width, height) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: "light" });
  await page.goto(`${pathToFileURL(resolve(file))}#${tab}`);
  await page.waitForSelector(`#tab-${tab}[aria-selected=true]`);
  return page;
}

// The canvas is redrawn in the next frame after each change.
const drawn = (page) => page.evaluate(() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(done))));

const picture = (page, name) => page.screenshot({ path: `${directory}/${name}.png` });

// Selects the first request that is completely on the page, to show its times and those of its
// function.
let page = await open(server, "timeline", 1280, 560);
await page.keyboard.press("/");
await page.keyboard.type("worker_serve_request");
do {
  await page.click("button:has-text('Next')");
  await page.waitForSelector(".details h2");
} while (await page.isVisible(".details .notice"));
await page.fill("input[type=search]", "");
await page.evaluate(() => document.activeElement.blur());
await page.mouse.move(640, 552);
await drawn(page);
await picture(page, "timeline");

page = await open(comparison, "diff", 1400, 290);
await page.waitForSelector("tbody tr[aria-rowindex]");
await drawn(page);
await picture(page, "diff");
await browser.close();
