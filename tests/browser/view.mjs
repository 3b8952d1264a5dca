// SPDX-License-Identifier: MIT
//
// view.mjs: tests a page of `probity view` in headless chromium, by mouse and keyboard.
//
//     node view.mjs MODULES DIRECTORY SCENARIO PAGE [JSON]... [-- SCENARIO PAGE [JSON]...]...
//
// MODULES is the node_modules directory with playwright-core. Screenshots are stored in DIRECTORY:
// of the page at the end of each failed scenario and, if PICTURES is set, of each step, for
// inspection. Prints a line for each error, after all times, so that errors are at the end of the
// output; exit status 1 if there are any. In every scenario, a console message, an exception, or a
// request for anything except the page is an error.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [modules, directory, ...rest] = process.argv.slice(2);
const { chromium } = createRequire(`${resolve(modules)}/x.js`)("playwright-core");
let scenario, url, answers;
const errors = [];

function fail(text) {
  errors.push(`${scenario}: ${text}`);
}

function expect(what, expected, found) {
  if (expected !== found)
    fail(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
}

function expectThat(what, holds) {
  if (!holds)
    fail(`${what}: it is not so`);
}

// Next to the page, and under no other name.
const isTile = (address) => address.startsWith(url.replace(/index\.html$/, "")) && /\/tile-\d+\.js$/.test(address);

let page;
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});

async function newPage() {
  const page = await browser.newPage();
  page.setDefaultTimeout(60000);
  page.on("console", (message) => fail(`console: ${message.text()}`));
  page.on("pageerror", (error) => fail(`exception: ${error.message}`));
  page.on("request", (request) => {
    if (request.url() !== url && !request.url().startsWith("blob:") && !request.url().startsWith(`${url}window?`) && !isTile(request.url()))
      fail(`request: ${request.url().slice(0, 200)}`);
  });
  return page;
}

// Ends everything that the page does, and leaves nothing of it: no script, no pointer above it.
async function leave(page) {
  await page.goto("about:blank");
  await page.mouse.move(0, 0);
}

// Scenarios share one page, since a new one takes a second of CPU time, and a document 0.3 s. A
// failed scenario may leave keys pressed, so the next one gets a new page.
async function open(scheme = "light") {
  if (page === undefined)
    page = await newPage();
  else if (page.url() !== "about:blank")
    await leave(page);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ media: null, colorScheme: scheme });
  await page.goto(url);
  await page.waitForSelector("header");
  return page;
}

async function show(page, tab) {
  await page.click(`#tab-${tab}`);
  await page.waitForSelector(`#tab-${tab}[aria-selected=true]`);
}

// Moves the pointer to a place until a tip appears: the page can find what is there only after it
// was drawn.
async function hover(page, x, y) {
  for (let i = 0; await page.locator(".tip").count() === 0; i++) {
    if (i === 500)
      throw new Error(`no tip at ${x}, ${y}`);
    await page.mouse.move(x + i % 2, y);
    await page.evaluate(() => new Promise((drawn) => { requestAnimationFrame(drawn); }));
  }
}

// Returns the parts of a page: only those with contents.
const tabsOf = (page) => page.$$eval("header nav button", (buttons) => buttons.map((button) => button.id.replace("tab-", "")));

// Waits until all previous changes to the page are drawn.
const drawn = (page) => page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => { requestAnimationFrame(done); }); }));

const screenshot = (page, name) => page.screenshot({ path: `${directory}/${scenario}-${name}.png` });

// Ends a step, for inspection. Without a screenshot, which takes 0.3 s of CPU time, the page is
// still drawn, so that an exception while drawing fails the scenario.
const picture = process.env.PICTURES ? screenshot : drawn;

// Returns the table's rows as objects: the sort keys of their cells, and their texts.
const rowsOf = (page) => page.$$eval("tbody tr[aria-rowindex]", (rows) => rows.map((row) =>
  Object.fromEntries([...row.cells].map((cell) => [cell.dataset.column, { value: cell.dataset.value, text: cell.textContent }]))));

// Returns all rows: the table renders only those that are visible or nearly so.
async function allRows(page) {
  const size = Number(await page.getAttribute("table[aria-rowcount]", "aria-rowcount")) - 1;
  const found = [];
  while (found.length < size) {
    const next = `tbody tr[aria-rowindex="${found.length + 2}"]`;
    await page.$eval(".table", (table, row) => { table.scrollTop = row * 27; }, found.length);
    await page.waitForSelector(next, { state: "attached" });
    const first = Number(await page.$eval("tbody tr[aria-rowindex]", (row) => row.ariaRowIndex)) - 2;
    found.push(...(await rowsOf(page)).slice(found.length - first));
  }
  await page.$eval(".table", (table) => { table.scrollTop = 0; });
  return found;
}

// Returns a number as the page formats it.
const digits = (text) => Number(text.match(/[\d.,]+/)[0].replaceAll(",", ""));

// Times are truncated to four digits.
const isShown = (text, ns) => {
  const unit = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }[text.match(/[a-z]+$/)[0]];
  const rest = Math.abs(ns) - digits(text) * unit;
  return rest >= -0.5 && rest <= Math.max(0.001 * Math.abs(ns), 0.5);
};

// Waits until the details have this title: a key or click takes effect only when the page is drawn,
// and until then they are those of the previous selection.
async function titled(page, what, name) {
  await page.waitForFunction((text) => document.querySelector(".details h2")?.textContent === text, name, { timeout: 20000 }).catch(() => undefined);
  expect(what, name, await page.textContent(".details h2"));
}

// Closes the details, so that what opens later is not mistaken for them.
async function closeDetails(page) {
  if (await page.locator(".details").count() > 0)
    await page.click(".details .close");
  await page.waitForSelector(".details", { state: "detached" });
}

const fact = (page, name) => page.textContent(`.details [data-fact="${name}"]`);

// Returns the range that the timeline shows, in ns.
const windowOf = async (page) => ({
  from: Number(await page.getAttribute(".stage", "data-from")),
  to: Number(await page.getAttribute(".stage", "data-to")),
});

// Compares rows by file, thread, calls and self time with those of `probity report --by-thread
// --json`.
async function filters(page, report) {
  const shown = async () => JSON.stringify((await allRows(page)).map((row) => [row.name.value, Number(row.calls.value), Number(row.self_ns.value)]).sort());
  const wanted = (rows) => JSON.stringify(rows.map((row) => [row.name, row.calls, row.self_ns]).sort());
  const bounds = [...report.functions].sort((a, b) => a.calls - b.calls);
  const { calls } = bounds[bounds.length >> 1];
  await page.getByLabel("Calls ≥").fill(String(calls));
  expect("least calls", wanted(report.functions.filter((row) => row.calls >= calls)), await shown());
  expect("still here", "true", await page.getAttribute("#tab-functions", "aria-selected"));
  await page.click("button:has-text('Clear')");
  const self = [...report.functions].sort((a, b) => b.self_ns - a.self_ns)[1].self_ns;
  await page.getByLabel("Self ≥").fill(`${self} ns`);
  expect("least self time", wanted(report.functions.filter((row) => row.self_ns >= self)), await shown());
  await page.getByLabel("Self ≥").fill("much");
  expect("no time", "true", await page.getByLabel("Self ≥").getAttribute("aria-invalid"));
  expect("no filter", wanted(report.functions), await shown());
  await page.click("button:has-text('Clear')");
  const [{ threads: [{ pid, tid }] }] = report.functions;
  await page.getByLabel("Thread").selectOption(`${pid} ${tid}`);
  expect("one thread", wanted(report.functions.flatMap((row) => row.threads.filter((each) => each.tid === tid).map((each) => ({ ...each, name: row.name })))), await shown());
  await picture(page, "filtered");
  await page.click("button:has-text('Clear')");
  await page.getByLabel("File").selectOption(report.functions[0].file);
  expect("one file", wanted(report.functions.filter((row) => row.file === report.functions[0].file)), await shown());
  await page.click("button:has-text('Clear')");
}

// The table has the same numbers as `probity report --json`, in the same order.
async function functions() {
  const [report] = answers;
  const page = await open();
  await show(page, "functions");
  const rows = await rowsOf(page);
  expect("rows", report.functions.length, rows.length);
  const keys = ["name", "calls", "total_ns", "self_ns", "cpu_self_ns", "off_cpu_self_ns", "min_ns", "mean_ns", "p50_ns", "p99_ns", "max_ns"];
  const byName = (a, b) => (a.name < b.name ? -1 : 1);
  const found = rows.map((row) => Object.fromEntries(keys.map((key) => [key, row[key].value]))).sort(byName);
  const wanted = report.functions.map((row) => Object.fromEntries(keys.map((key) => [key, String(row[key] ?? "")]))).sort(byName);
  wanted.forEach((row, i) => keys.forEach((key) => expect(`${row.name} ${key}`, row[key], found[i]?.[key])));
  const selves = rows.map((row) => Number(row.self_ns.value));
  expectThat("sorted by self time", selves.every((value, i) => i === 0 || selves[i - 1] >= value));
  await page.click("th button:has-text('Calls')");
  const calls = (await rowsOf(page)).map((row) => Number(row.calls.value));
  expectThat("sorted by calls", calls.every((value, i) => i === 0 || calls[i - 1] >= value));
  await page.click("th button:has-text('Calls')");
  const reverse = (await rowsOf(page)).map((row) => Number(row.calls.value));
  expect("reverse", JSON.stringify([...reverse].sort((a, b) => a - b)), JSON.stringify(reverse));
  expect("distributions", rows.length, await page.locator("td svg.spark").count());
  await page.keyboard.press("/");
  await page.keyboard.type(report.functions[0].name.toUpperCase());
  await page.waitForFunction(() => / of .* functions/.test(document.querySelector(".tools [role=status]").textContent));
  const filtered = await rowsOf(page);
  expectThat("filter", filtered.length > 0 && filtered.length < rows.length && filtered.some((row) => row.name.value === report.functions[0].name));
  await page.keyboard.press("Escape");
  await filters(page, report);
  await page.locator("tbody tr[aria-rowindex]").first().focus();
  await page.keyboard.press("Enter");
  const chosen = await page.textContent(".details h2");
  const counted = report.functions.find((row) => row.name === chosen);
  expect("details", counted.calls.toLocaleString("en-US"), await fact(page, "Calls"));
  expect("signature", counted.signature, await page.textContent(".details .signature"));
  const bars = await page.$$eval(".details .histogram .bar title", (titles) =>
    titles.map((title) => Number(title.textContent.match(/: ([\d,]+) of/)[1].replaceAll(",", ""))));
  expect("bars", timed(counted), bars.reduce((sum, each) => sum + each, 0));
  await picture(page, "details");
}

// Zooming by wheel and keyboard, panning by drag, search, click.
async function timeline() {
  const [wanted] = answers;
  const page = await open();
  await show(page, "timeline");
  const box = await page.locator("canvas").boundingBox();
  const all = await windowOf(page);
  await page.mouse.move(box.x + 700, box.y + 300);
  await page.mouse.wheel(0, -400);
  await page.waitForFunction((length) => { const { from, to } = document.querySelector(".stage").dataset; return to - from < length * 0.8; }, all.to - all.from);
  const near = await windowOf(page);
  expectThat("the wheel zooms in at the pointer", near.from > all.from && near.to < all.to);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 300, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction((from) => Number(document.querySelector(".stage").dataset.from) > from, near.from);
  const moved = await windowOf(page);
  expectThat("a drag moves and does not zoom", Math.abs((moved.to - moved.from) / (near.to - near.from) - 1) < 1e-6);
  await page.keyboard.press("Home");
  await page.waitForFunction((to) => Math.abs(document.querySelector(".stage").dataset.to - to) < 1, all.to);
  await page.keyboard.press("+");
  await page.waitForFunction((to) => document.querySelector(".stage").dataset.to < to, all.to);
  await page.keyboard.press("Home");
  // By search and keyboard: the first call with this name, and its arguments.
  await page.keyboard.press("/");
  await page.keyboard.type(wanted.name);
  await page.click("button:has-text('Next')");
  await titled(page, "found", wanted.name);
  expect("parameters", wanted.parameters, await fact(page, "Parameters"));
  expect("result", wanted.returned, await fact(page, "Returned"));
  await picture(page, "found");
  await page.focus("canvas");
  await page.keyboard.press("Enter");
  await page.waitForFunction((to) => { const { from, to: end } = document.querySelector(".stage").dataset; return end - from < to / 2; }, all.to);
  await page.keyboard.press("Escape");
  await page.waitForSelector(".details", { state: "detached" });
  await page.fill("input[type=search]", "");
  // By mouse: the outermost call is somewhere above the call that the page was zoomed to.
  let title = null;
  for (let y = 30; y < 240 && title !== wanted.outermost; y += 4) {
    await page.mouse.click(box.x + box.width / 2, box.y + y);
    await drawn(page);
    title = await page.locator(".details h2").count() > 0 ? await page.textContent(".details h2") : null;
  }
  expect("clicked", wanted.outermost, title);
  await picture(page, "clicked");
}

// Returns the color of a canvas at a screen position.
const colorAt = (page, x, y) => page.evaluate(([x, y]) => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const canvas = document.querySelector("canvas");
  const { data } = canvas.getContext("2d").getImageData(x * devicePixelRatio, y * devicePixelRatio, 1, 1);
  done([...data].slice(0, 3).join(", "));
}))), [x, y]);

// One thread's calls in order of time, in the colors of the merged graph.
async function ordered(page, thread) {
  await page.check('label:has-text("Merged")');
  const box = await page.locator("canvas").boundingBox();
  const merged = await colorAt(page, 3, 30);
  await page.check('label:has-text("In order of time")');
  await page.selectOption(".field select", { label: await page.$$eval(".field option", (options, tid) =>
    options.map((option) => option.textContent).find((text) => text.includes(` ${tid} `)), thread.tid) });
  await page.waitForFunction((text) => document.querySelector(".status").textContent.startsWith(text), `${thread.calls.toLocaleString("en-US")} calls`);
  await page.mouse.click(box.x + 4, box.y + 45);
  expect("outermost call", thread.outermost, await page.textContent(".details h2"));
  await page.click(".details .close");
  await page.mouse.move(box.x + 4, box.y + 400);
  expect("color in both", merged, await colorAt(page, 3, 47));
  const all = await windowOf(page);
  await page.mouse.dblclick(box.x + box.width / 2, box.y + 45);
  await page.focus("canvas");
  await page.keyboard.press("]");
  const inner = await page.textContent(".details h2");
  expect("called", thread.called, inner);
  await page.keyboard.press("Enter");
  await page.waitForFunction((length) => { const { from, to } = document.querySelector(".stage").dataset; return to - from < length; }, (all.to - all.from) * 0.9);
  await picture(page, "ordered");
  await page.keyboard.press("Escape");
  await page.waitForFunction((length) => { const { from, to } = document.querySelector(".stage").dataset; return to - from >= length; }, (all.to - all.from) * 0.99);
}

const statusOf = (page) => page.textContent(".status [role=status]");

// Zooming leads to single calls: in refined stretches, in the page itself; elsewhere, by the
// command that the page shows, which is saved in the directory for other scenarios to run.
async function closer() {
  const page = await open();
  await show(page, "timeline");
  await page.waitForFunction(() => document.querySelector(".status").textContent.includes("merged when"));
  await page.click("button:has-text('Next in full')");
  await page.waitForFunction(() => document.querySelector(".status").textContent.includes("every visible call is in this page"));
  expect("command where nothing is missing", 0, await page.locator(".command").count());
  const first = await windowOf(page);
  await picture(page, "full");
  await page.focus("canvas");
  await page.keyboard.press("g");
  await page.waitForFunction((from) => Number(document.querySelector(".stage").dataset.from) > from, first.from);
  await page.waitForFunction(() => document.querySelector(".status").textContent.includes("every visible call is in this page"));
  // Zooms out again, step by step, until calls are merged.
  for (let i = 0; i < 60 && await page.locator(".command").count() === 0; i++) {
    const { from, to } = await windowOf(page);
    await page.keyboard.press("-");
    await page.waitForFunction((length) => { const { from, to } = document.querySelector(".stage").dataset; return to - from !== length; }, to - from);
  }
  const command = await page.textContent(".command code");
  expectThat(`command (${command})`, /^probity view --since [\d.]+s --until [\d.]+s /.test(command));
  expectThat("calls in view", digits(await statusOf(page)) > 0);
  await page.click(".command button");
  expect("selected", command, await page.evaluate(() => String(getSelection())));
  await picture(page, "command");
  writeFileSync(`${directory}/command`, command);
}

// Calls within one nanosecond have no more detailed page, so no command is shown.
async function finest() {
  const [{ together }] = answers;
  const page = await open();
  await show(page, "timeline");
  await page.waitForFunction(() => document.querySelector(".status").textContent !== "");
  expect("word of it", together > 0, (await statusOf(page)).includes("share a nanosecond"));
  expect("commands", 0, await page.locator(".command").count());
}

// A page made by that command has all calls in full detail.
async function part() {
  const page = await open();
  await show(page, "timeline");
  await page.waitForFunction(() => document.querySelector(".status").textContent !== "");
  expectThat("nothing together", !(await page.textContent(".status")).includes("merged when"));
  await picture(page, "all");
}

// The flame graph equals `probity tree --json`; a span equals `probity blocks --json`.
async function flame() {
  const [tree, thread] = answers;
  const page = await open();
  await show(page, "flame");
  await page.focus("canvas");
  await page.keyboard.press("ArrowDown");
  const largest = [...tree.tree].sort((a, b) => b.total_ns - a.total_ns)[0];
  await titled(page, "largest", largest.name);
  expect("calls", largest.calls.toLocaleString("en-US"), await page.locator(".details [data-fact=Calls]").first().textContent());
  await page.keyboard.press("ArrowDown");
  const child = [...largest.children].sort((a, b) => b.total_ns - a.total_ns)[0];
  await titled(page, "its largest", child.name);
  await page.keyboard.press("Enter");
  await page.waitForFunction((name) => document.querySelector(".path").textContent.endsWith(name), child.name);
  await picture(page, "zoomed");
  await page.keyboard.press("Escape");
  for (const [value] of [["CPU time"], ["Off the CPU"], ["Calls"]])
    await page.check(`label:has-text("${value}")`);
  const box = await page.locator("canvas").boundingBox();
  await page.mouse.click(box.x + 40, box.y + 30);
  await page.waitForSelector(".details h2");
  await page.click(".details .close");
  await page.check('label:has-text("Wall time")');
  await ordered(page, thread);
}

// A trace without functions opens with its blocks, and no part is empty.
async function blocks() {
  const [{ blocks: wanted }] = answers;
  const page = await open();
  await page.waitForSelector("#tab-blocks[aria-selected=true]");
  expect("parts", "overview timeline flame blocks", (await tabsOf(page)).join(" "));
  await show(page, "overview");
  expectThat("no figures of calls", !/0calls|functions/.test(await page.textContent(".figures")));
  await show(page, "blocks");
  const rows = await allRows(page);
  expect("rows", wanted.length, rows.length);
  rows.forEach((row, i) => {
    expect(`block ${i} from`, wanted[i].from, row.from.value);
    for (const key of ["calls", "wall_ns", "cpu_ns", "off_cpu_ns", "min_ns", "mean_ns", "p50_ns", "p99_ns", "max_ns"])
      expect(`block ${i} ${key}`, String(wanted[i][key] ?? ""), row[key].value);
  });
  expect("arrows", Math.min(48, wanted.length), await page.locator(".arrow").count());
  await page.locator(".arrow").first().focus();
  await page.keyboard.press("Enter");
  expect("times", wanted[0].calls.toLocaleString("en-US"), await fact(page, "Times"));
  const bars = await page.$$eval(".details .histogram .bar title", (titles) =>
    titles.map((title) => Number(title.textContent.match(/: ([\d,]+) of/)[1].replaceAll(",", ""))));
  expect("bars", wanted[0].calls, bars.reduce((sum, each) => sum + each, 0));
  await picture(page, "chosen");
  await page.locator(".details .slow button").first().click();
  await page.waitForSelector("#tab-timeline[aria-selected=true]");
}

// Times have the same text as in the commands' output: durations of blocks, the beginnings of the
// slowest, and the ends of the timeline. A beginning also equals that of the record in `probity
// csv`.
async function clock() {
  const [{ blocks: wanted, first, last, recorded }] = answers;
  const page = await open();
  await show(page, "overview");
  const ends = await page.$$eval(".activity figcaption span", (spans) => spans.map((span) => span.textContent));
  expect("ends of the timeline", `${first} ${last}`, ends.join(" "));
  await show(page, "blocks");
  for (let i = 0; i < wanted.length; i++) {
    await page.locator("tbody tr[aria-rowindex]").nth(i).click();
    const { wall, mean, p99, max, slow } = wanted[i];
    for (const [name, text] of [["Wall time", wall], ["Mean", mean], ["p99", p99], ["Longest", max]])
      expect(`block ${i}: ${name}`, text, await fact(page, name));
    const found = await page.$$eval(".details .slow button", (buttons) => buttons.map((button) =>
      [button.textContent.match(/ at ([\d.]+s), thread/)[1], button.querySelector("b").textContent].join(" ")));
    expect(`block ${i}: slowest`, slow.join(", "), found.join(", "));
  }
  await page.locator(".details .slow button").first().click();
  await page.waitForSelector("#tab-timeline[aria-selected=true]");
  const begins = (await fact(page, "begins")).split(" ")[0];
  expect("of the last block, in the timeline", wanted[wanted.length - 1].slow[0].split(" ")[0], begins);
  expectThat(`in the CSV (${begins})`, recorded.includes(begins));
}

// Rows of typed probes: blocks in their thread, the stages of a request, the holders of a lock and
// those that wait for it, the length of a queue. Each is selected by its address and has the
// recorded times. Over the whole trace, sums are those of `probity blocks`.
async function tracks() {
  const [{ rows, blocks: wanted }] = answers;
  const page = await open();
  for (const { place, title, begins, took, arrows } of rows) {
    await page.goto("about:blank");
    await page.goto(`${url}#timeline&s=${place}`);
    await page.waitForSelector(".details h2");
    expect(place, title, await page.textContent(".details h2"));
    expect(`${title} begins`, begins, (await fact(page, "begins")).split(" ")[0]);
    const text = await fact(page, "took");
    expectThat(`${title} took ${took} ns (${text})`, isShown(text, took));
    // An item that passes from thread to thread has an arrow; a wait has one from the holder.
    await page.waitForFunction((wanted) => document.querySelector(".stage").dataset.arrows === wanted, arrows ?? "").catch(() => undefined);
    expect(`${title} arrows`, arrows ?? "", await page.getAttribute(".stage", "data-arrows"));
    if (arrows !== "")
      await picture(page, `arrows-${rows.findIndex((row) => row.place === place)}`);
  }
  await picture(page, "rows");
  await page.click(".details .close");
  await page.focus("canvas");
  await page.keyboard.press("Home");
  await page.click("button:has-text('Statistics')");
  await page.waitForSelector('.details [data-fact="length"]');
  const sums = new Map(await page.$$eval(".details .sums tbody[data-name]", (all) =>
    all.map((body) => [body.dataset.name, [...body.querySelectorAll("td")].map((cell) => cell.textContent)])));
  for (const { name, times } of wanted) {
    const [calls, wall, , , ...each] = sums.get(name) ?? [];
    expect(`${name} in the range`, times, [calls, wall, ...each].join(" "));
  }
  await picture(page, "range");
  await show(page, "flame");
  // The first level consists of the two threads, whose blocks are those of the table.
  await page.focus("canvas");
  const threads = [];
  for (const key of ["ArrowDown", "ArrowRight"]) {
    await page.keyboard.press(key);
    await page.waitForFunction((before) => ![undefined, before].includes(document.querySelector(".details h2")?.textContent), threads.at(-1)?.title ?? "Selected range");
    threads.push({ title: await page.textContent(".details h2"), calls: digits(await fact(page, "Calls")) });
  }
  expect("blocks of both threads", wanted.reduce((sum, { times }) => sum + parseInt(times, 10), 0), threads[0].calls + threads[1].calls);
  await picture(page, "flame");
}

// Traces of several hosts: each has a heading above its threads, and its clock is that of `probity
// info --json`. A block that begins with a send has an arrow to the thread that received it.
async function hosts() {
  const [infos, { place, arrow }] = answers;
  const page = await open();
  await show(page, "overview");
  const named = infos.map((info) => info.program.host);
  const texts = await page.$$eval(".hosts dd", (all) => all.map((each) => each.textContent));
  expect("hosts", named.join(" "), (await page.$$eval(".hosts dt", (all) => all.map((each) => each.textContent))).join(" "));
  infos.forEach(({ alignment }, index) => {
    const found = /^clock aligned to (.*): it was (.*) (ahead|behind), drifts by (.*) ppm, error at most (.*)$/.exec(texts[index]);
    if (index === 0 || found === null) {
      expect("the reference", "0 clock is the reference", `${index} ${texts[index]}`);
      return;
    }
    const [, reference, offset, way, drift, error] = found;
    expect(`clock of ${named[index]}`, `${named[0]} ${alignment.offset_ns < 0 ? "behind" : "ahead"} ${alignment.drift_ppm.toFixed(2)}`, `${reference} ${way} ${drift}`);
    expectThat(`its offset ${offset}`, isShown(offset, Math.abs(alignment.offset_ns)));
    expectThat(`its error ${error}`, isShown(error, alignment.error_ns));
  });
  const pairs = new Set(infos.flatMap(({ alignment }) => alignment.pairs.map(({ from, to, by, forward, backward }) => `${named[from]} to ${named[to]}: ${forward.toLocaleString("en-US")} ${by}, and ${backward.toLocaleString("en-US")} back`)));
  expect("pairs", [...pairs].join("; "), (await page.$$eval(".hosts p", (all) => all.map((each) => each.textContent.split(": ").slice(0, 2).join(": ")))).join("; "));
  await picture(page, "overview");
  await show(page, "timeline");
  expect("headings", `${named.join(" ")} All hosts`, await page.getAttribute(".stage", "data-hosts"));
  expect("arrows of all messages", "0", await page.getAttribute(".stage", "data-messages"));
  await picture(page, "timeline");
  await page.goto("about:blank");
  await page.goto(`${url}#timeline&s=${place}`);
  await page.waitForSelector(".details h2");
  const arrows = (await page.getAttribute(".stage", "data-arrows")).split(" ");
  expectThat(`an arrow ${arrow} (${arrows})`, arrows.includes(arrow));
  await page.focus("canvas");
  await page.keyboard.press("f");
  await page.waitForFunction(() => Number(document.querySelector(".stage").dataset.messages) > 0);
  await picture(page, "messages");
}

// The address contains the position; an address that matches nothing has no effect.
async function address() {
  const page = await open();
  await show(page, "timeline");
  const all = await windowOf(page);
  const box = await page.locator("canvas").boundingBox();
  await page.mouse.move(box.x + 700, box.y + 200);
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  await page.waitForFunction((length) => { const { from, to } = document.querySelector(".stage").dataset; return to - from < length * 0.5; }, all.to - all.from);
  const near = await windowOf(page);
  expectThat("W zooms at the pointer", near.from > all.from && near.to < all.to);
  await page.keyboard.press("d");
  await page.waitForFunction((from) => Number(document.querySelector(".stage").dataset.from) > from, near.from);
  await page.keyboard.press("a");
  await page.waitForFunction((from) => Math.abs(Number(document.querySelector(".stage").dataset.from) - from) < 2, near.from);
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + 400, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 800, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const length = await fact(page, "length");
  await page.waitForFunction(() => location.hash.includes("&z=") && location.hash.includes("&r="));
  const kept = await windowOf(page);
  const place = await page.evaluate(() => location.hash);
  await page.goto("about:blank");
  await page.goto(url + place);
  await page.waitForSelector('.details [data-fact="length"]');
  expect("length of the range", length, await fact(page, "length"));
  await page.waitForFunction(([from, to]) => { const { dataset } = document.querySelector(".stage"); return Math.abs(dataset.from - from) < 2 && Math.abs(dataset.to - to) < 2; }, [kept.from, kept.to]);
  for (const odd of ["#timeline&z=9-1&r=x&s=999999.9.9.9", "#timeline&s=0.2.0.1&z=1-<b>", "#nothing", "#timeline&&&z"]) {
    await page.goto("about:blank");
    await page.goto(url + odd);
    await page.waitForSelector("header");
  }
  // Enter in the search field moves from match to match.
  await page.goto("about:blank");
  await page.goto(url);
  await show(page, "timeline");
  const [{ name }] = answers;
  await page.fill("input[aria-label='Search names']", name);
  const starts = [];
  for (let i = 0; i < 3; i++) {
    await page.press("input[aria-label='Search names']", "Enter");
    await page.waitForFunction((last) => (document.querySelector('.details [data-fact="begins"]')?.textContent ?? last) !== last, starts[i - 1] ?? "");
    starts.push(await fact(page, "begins"));
  }
  expectThat(`later and later (${starts})`, starts[0] < starts[1] && starts[1] < starts[2]);
  await page.press("input[aria-label='Search names']", "Shift+Enter");
  await page.waitForFunction((wanted) => document.querySelector('.details [data-fact="begins"]').textContent === wanted, starts[1]);
}

// Many threads of deep recursion: collapsed to one row each, they take a few screens; a click on
// "+N deeper" or a thread's name expands them; order and filter.
async function deep() {
  const [{ threads: count }] = answers;
  const page = await open();
  await show(page, "timeline");
  const height = async () => {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const most = await page.evaluate(() => Number(document.querySelector(".scroll")?.max ?? 0));
    return most + (await page.locator("canvas").boundingBox()).height;
  };
  const folded = await height();
  expectThat(`${count} threads fit in ${folded} px`, folded < 45 * count + 200);
  await picture(page, "folded");
  await page.click("button:text-is('Expand')");
  await page.waitForSelector("button:text-is('Collapse')");
  const open_height = await height();
  expectThat(`unfolded to the depth limit (${open_height})`, open_height > 2 * folded && open_height < 320 * count + 200);
  await picture(page, "unfolded");
  const box = await page.locator("canvas").boundingBox();
  // A thread's strip "+N deeper" expands all its levels.
  let grown = open_height;
  for (let y = 40; y < box.height - 10 && grown === open_height; y += 12) {
    await page.mouse.click(box.x + 230, box.y + y);
    grown = await height();
  }
  expectThat(`deeper (${grown})`, grown > open_height);
  await closeDetails(page); // of calls clicked on the way
  await page.keyboard.press("c");
  await page.waitForSelector("button:text-is('Expand')");
  await page.fill("input[aria-label^='Only threads']", "no such thread");
  expectThat("filtered", await height() < 1000);
  await page.fill("input[aria-label^='Only threads']", "");
  for (const order of ["activity", "name", "first"])
    await page.selectOption("select[aria-label='Order of threads']", order);
  expectThat("height again", Math.abs(await height() - folded) < 2);
  await page.setViewportSize({ width: 390, height: 844 });
  await picture(page, "narrow");
  expectThat("no wider than the screen", await page.evaluate(() => document.documentElement.scrollWidth <= 390));
  await deepFlame(page);
  const hidden = await page.$$eval("header nav button, .choice label", (parts) => parts.filter((part) => {
    const { right, height } = part.getBoundingClientRect();
    return right > innerWidth || height > 32;
  }).map(({ textContent }) => textContent));
  expect("parts and choices beyond the screen, or in two lines", "", hidden.join());
}

// The deepest calls are reached by dragging, as on a touch screen, by the scroll bar, and by keys.
async function deepFlame(page) {
  await show(page, "flame");
  await page.waitForSelector(".scroll");
  const scrolled = (test) => page.waitForFunction(test, undefined, { timeout: 20000 });
  // On a busy machine the page may still be moving its parts when the pointer goes down.
  for (let tries = 0, isDragged = false; !isDragged && tries < 5; tries++) {
    const box = await page.locator("canvas").boundingBox();
    await page.mouse.move(box.x + 100, box.y + 300);
    await page.mouse.down();
    await page.mouse.move(box.x + 100, box.y + 100, { steps: 4 });
    await page.mouse.up();
    isDragged = await page.waitForFunction(() => Number(document.querySelector(".scroll").value) === 200, undefined, { timeout: 4000 }).then(() => true, () => false);
    if (!isDragged && tries < 4)
      await page.locator(".scroll").fill("0");
  }
  expect("dragged", "200", await page.inputValue(".scroll"));
  expect("a drag selects nothing", 0, await page.locator(".details").count());
  await page.locator(".scroll").fill("0");
  await scrolled(() => Number(document.querySelector(".scroll").value) === 0);
  await page.focus("canvas");
  for (let i = 0; i < 40; i++)
    await page.keyboard.press("ArrowDown");
  await scrolled(() => Number(document.querySelector(".scroll").value) > 40 * 20 - document.querySelector("canvas").clientHeight);
  await picture(page, "narrow-flame");
}

// A range in the address: tables and graphs have the numbers of the commands with --since and
// --until, and show the range; without it, they show the whole trace again.
async function ranged() {
  const [{ from, to }, report, tree, blocks] = answers;
  const page = await open();
  await page.goto("about:blank");
  await page.goto(`${url}#timeline&r=${from}-${to}`);
  await page.waitForSelector(".ranged .chip");
  const tabs = await tabsOf(page);
  const isKnown = (tab) => tabs.includes(tab);
  if (isKnown("functions")) {
    await show(page, "functions");
    const rows = new Map((await allRows(page)).map((row) => [row.name.value, row]));
    const wanted = report.functions.filter(({ calls }) => calls > 0);
    expect("functions", wanted.map(({ name }) => name).sort().join(" "), [...rows.keys()].sort().join(" "));
    for (const each of wanted) {
      // Times on the page include pauses.
      const times = each.paused_ns > 0 ? [] : ["total_ns", "self_ns", "min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns"];
      for (const key of ["calls", ...times])
        expect(`${each.name} ${key}`, String(each[key] ?? ""), rows.get(each.name)?.[key].value);
    }
    await page.click(".ranged button:text-is('Command')");
    expectThat("command", (await page.textContent(".ranged code")).startsWith("probity report --since "));
    await closeDetails(page);
    await page.locator("tbody tr[aria-rowindex]").first().click();
    await page.waitForSelector(".details h2");
    expectThat("details of the range", (await page.textContent(".details")).includes("Calls that begin in the range"));
    await picture(page, "functions");
    await show(page, "flame");
    await closeDetails(page);
    await page.focus("canvas");
    await page.keyboard.press("ArrowDown");
    const timeOf = ({ total_ns, paused_ns }) => total_ns + paused_ns;
    const [largest] = [...tree.tree].sort((a, b) => timeOf(b) - timeOf(a));
    await titled(page, "largest path", largest.name);
    expect("calls of the largest path", largest.calls.toLocaleString("en-US"), await page.locator(".details [data-fact=Calls]").first().textContent());
    await picture(page, "flame");
  }
  if (isKnown("blocks")) {
    await show(page, "blocks");
    const keyOf = (from_, to_) => `${from_} -> ${to_}`;
    const rows = new Map((await allRows(page)).map((row) => [keyOf(row.from.value, row.to.value), row]));
    expect("blocks", blocks.blocks.map((each) => keyOf(each.from, each.to)).sort().join(", "), [...rows.keys()].sort().join(", "));
    for (const each of blocks.blocks) {
      for (const key of ["calls", "wall_ns", "min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns"])
        expect(`${each.from} -> ${each.to} ${key}`, String(each[key]), rows.get(keyOf(each.from, each.to))?.[key].value);
    }
    await picture(page, "blocks");
  }
  await page.click(".ranged .chip button");
  await page.waitForSelector(".ranged", { state: "detached" });
  const tab = isKnown("functions") ? "functions" : "blocks";
  await show(page, tab);
  expectThat("more calls than in the range", (await allRows(page)).reduce((sum, row) => sum + Number(row.calls.value), 0) >
    (tab === "functions" ? report.functions : blocks.blocks).reduce((sum, each) => sum + each.calls, 0));
  expectThat("no range in the address", !(await page.evaluate(() => location.hash)).includes("r="));
}

// Times of a range of merged spans are approximate, but self times are no longer than total times.
async function rangedMerged() {
  const [{ from, to }] = answers;
  const page = await open();
  await page.goto("about:blank");
  await page.goto(`${url}#timeline&r=${from}-${to}`);
  await page.waitForSelector(".ranged .chip");
  await show(page, "functions");
  expectThat("marked as approximate", (await page.textContent(".ranged")).includes("approximate"));
  const rows = await allRows(page);
  expectThat("functions", rows.length > 0);
  const ns = (row, key) => Number(row[key].value);
  for (const row of rows) {
    expectThat(`${row.name.value}: self ${row.self_ns.value}, total ${row.total_ns.value}`, ns(row, "self_ns") <= ns(row, "total_ns"));
    expectThat(`${row.name.value}: CPU self ${row.cpu_self_ns.value}`, ns(row, "cpu_self_ns") <= ns(row, "self_ns"));
  }
}

// Callers and callees from the details of a function, in both directions, by the paths of the tree.
async function callers() {
  const [tree, report] = answers;
  const page = await open();
  await show(page, "functions");
  const sums = (name) => {
    const [callers, callees] = [new Map(), new Map()];
    const add = (to, key, calls, total) => {
      const [was, time] = to.get(key) ?? [0, 0];
      to.set(key, [was + calls, time + total]);
    };
    const walk = (node, path) => {
      const caller = path.at(-1);
      const isInside = path.includes(name);
      if (node.name === name && caller !== name)
        add(callers, caller ?? "(outermost)", node.calls, isInside ? 0 : node.total_ns ?? 0);
      if (caller === name && node.name !== name)
        add(callees, node.name, node.calls, path.some((each, i) => each === name && path[i + 1] === node.name) ? 0 : node.total_ns ?? 0);
      node.children.forEach((child) => walk(child, [...path, node.name]));
    };
    tree.tree.forEach((node) => walk(node, []));
    return { callers, callees };
  };
  const names = report.functions.filter(({ calls }) => calls > 0).map(({ name }) => name);
  for (const name of names) {
    await page.locator(`tbody tr:has(td[data-column=name][data-value="${name}"])`).click();
    await page.waitForFunction((text) => document.querySelector(".details h2")?.textContent === text, name);
    const wanted = sums(name);
    for (const [side, title] of [["callers", "Callers"], ["callees", "Callees"]]) {
      const rows = await page.$$eval(`.details [data-side=${title}] tbody tr`, (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
      const called = [...wanted[side]].filter(([, [calls]]) => calls > 0);
      expect(`${title} of ${name}`, called.map(([each]) => each).sort().join(" "), rows.map(([each]) => each).sort().join(" "));
      for (const [each, calls, total] of rows) {
        expect(`${title} of ${name}: ${each}`, wanted[side].get(each)?.[0], digits(calls));
        expectThat(`${title} of ${name}: ${each} ${total}`, isShown(total, wanted[side].get(each)?.[1] ?? -1));
      }
    }
  }
  // Clicking a name in these tables shows that function.
  const link = page.locator(".details .sandwich button").first();
  const next = await link.textContent();
  await link.click();
  await page.waitForFunction((text) => document.querySelector(".details h2")?.textContent === text, next);
  await picture(page, "details");
}

// The number of threads on the CPU, and calls per second, for known spans: from the table and from
// the spans.
async function plots(page) {
  const { buildSync } = createRequire(`${resolve(modules)}/x.js`)("esbuild");
  const source = `import { seriesOf } from "./series";
    const lane = (start, length) => ({ size: start.length, start: Float64Array.from(start), length: Float64Array.from(length),
      busy: Float64Array.from(length), count: new Uint32Array(start.length).fill(1) });
    const thread = (first, last, off, calls) => ({ first, last, off, calls, blocks: null, marks: null, cpuKnown: true });
    const real = [thread(0, 1e6, lane([2e5], [4e5]), [lane([1.1e5, 1.5e5, 9.5e5], [10, 10, 10])]), thread(5e5, 1e6, null, [])];
    const tracks = seriesOf({ first: 0, last: 1e6, threads: real, real });
    globalThis.plots = tracks.map(({ series }) => [[0, 1e5, 10], [599980, 10, 4], [1.5e5 - 5, 10, 2]].map(([from, ns, columns]) =>
      [...series.columns(from, ns, columns)].map((value) => Math.round(value * 100) / 100)));`;
  await page.evaluate(buildSync({ stdin: { contents: source, loader: "ts", resolveDir: fileURLToPath(new URL("../../view/src", import.meta.url)) },
    nodePaths: [resolve(modules)], jsx: "automatic", jsxImportSource: "preact", bundle: true, write: false, format: "iife", target: "chrome100" }).outputFiles[0].text);
  const wide = (values) => JSON.stringify(values.map((value) => Math.round(value)));
  const [cpu, calls] = await page.evaluate(() => globalThis.plots);
  expect("threads on the CPU", "[1,1,0,0,0,1,2,2,2,2]", wide(cpu[0]));
  expect("threads on the CPU, near", "[1,1,2,2]", wide(cpu[1]));
  expect("calls per second", "[0,20000,0,0,0,0,0,0,0,10000]", wide(calls[0]));
  expect("calls per second, near", "[100000000,0]", wide(calls[2]));
}

// Tracks: pinned ones stay at the top, in the chosen order, with the chosen number of rows; by
// pointer, by key and in the list.
async function arrange() {
  const page = await open();
  await plots(page);
  await show(page, "timeline");
  const box = await page.locator("canvas").boundingBox();
  const stage = async (name) => (await page.getAttribute(".stage", `data-${name}`)).split(" ").filter((each) => each !== "").map(Number);
  const settled = (name, wanted) => page.waitForFunction(([key, text]) => document.querySelector(".stage").dataset[key] === text, [name, wanted.join(" ")])
    .catch(async () => expect(name, wanted.join(" "), (await stage(name)).join(" ")));
  const order = await stage("order");
  expectThat("tracks", order.length > 4);
  // By pointer: the first name dragged below the second.
  await page.mouse.move(box.x + 40, box.y + 42);
  await page.mouse.down();
  await page.mouse.move(box.x + 40, box.y + 80, { steps: 4 });
  await picture(page, "dragged");
  await page.mouse.move(box.x + 40, box.y + 1000, { steps: 4 });
  await page.mouse.up();
  const [first, ...others] = order;
  await page.waitForFunction((before) => document.querySelector(".stage").dataset.order !== before, order.join(" "));
  expectThat("moved by pointer", (await stage("order")).indexOf(first) > 0);
  expect("nothing is lost", [...order].sort().join(" "), (await stage("order")).sort().join(" "));
  // By key, at the pointer.
  const before = await stage("order");
  await page.mouse.move(box.x + 40, box.y + 42);
  await page.keyboard.press("Shift+ArrowDown");
  await settled("order", [before[1], before[0], ...before.slice(2)]);
  await page.keyboard.press("t");
  await page.waitForFunction(() => document.querySelector(".stage").dataset.pinned !== "");
  // In the list.
  await page.keyboard.press("l");
  await page.waitForSelector("dialog.tracks");
  await page.click("dialog.tracks button:text-is('Reset')");
  await settled("order", order);
  await settled("pinned", []);
  const last = others.at(-1);
  await page.check(`dialog.tracks tr[data-place="${last}"] input[aria-label^=Pin]`);
  await settled("pinned", [last]);
  await settled("order", [last, ...order.filter((place) => place !== last)]);
  await picture(page, "list");
  const rows = page.locator("dialog.tracks input[type=number]").first();
  await rows.fill("2");
  await rows.press("Enter");
  await page.click("dialog.tracks button:text-is('Close')");
  await page.waitForSelector("dialog.tracks", { state: "detached" });
  await picture(page, "pinned");
  // The pinned track stays in place when the others scroll.
  const strip = { x: box.x, y: box.y + 30, width: box.width - 20, height: 30 };
  await page.mouse.move(box.x + 60, box.y + 300);
  const shown = await page.screenshot({ clip: strip });
  await page.mouse.wheel(0, 400);
  await page.waitForFunction(() => Number(document.querySelector(".scroll")?.value ?? 1) > 0);
  expectThat("pinned stays", shown.equals(await page.screenshot({ clip: strip })));
  // A plot shows the value under the pointer.
  await hover(page, box.x + 600, box.y + 45);
  expectThat("tip of a plot", /^(CPU|Calls|Hits): [\d,.]+ (threads|per second)/.test(await page.innerText(".tip")));
  await page.setViewportSize({ width: 390, height: 844 });
  await picture(page, "narrow");
}

// Contrast as defined by WCAG: text needs 4.5.
function contrast(one, other) {
  const light = (color) => {
    const [r, g, b] = color.match(/\d+/g).map(Number).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [a, b] = [light(one), light(other)].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}

// All colors that names or changes can have, with the color of the text on them, as computed by the
// page's source.
function inked() {
  const { buildSync } = createRequire(`${resolve(modules)}/x.js`)("esbuild");
  const source = `import { Palette, readTheme, toneOf } from "./color";
    const theme = readTheme(false);
    const names = Array.from({ length: 120 }, (_, i) => String(i));
    const palette = new Palette(names, theme);
    const steps = Array.from({ length: 41 }, (_, i) => (i - 20) / 20);
    globalThis.inked = { text: theme.text, paper: theme.paper,
      fills: [...names.map((name) => palette.of(name)), ...steps.map((step) => toneOf(step, theme))],
      strongs: names.map((name) => palette.strong(name)) };`;
  return buildSync({ stdin: { contents: source, loader: "ts", resolveDir: fileURLToPath(new URL("../../view/src", import.meta.url)) },
    bundle: true, write: false, format: "iife", target: "chrome100" }).outputFiles[0].text;
}

// Text on boxes needs a contrast of 4.5, columns too narrow for text 1.5 with the background.
async function inks(page, scheme) {
  await page.evaluate(inked());
  const { text, paper, fills, strongs } = await page.evaluate(() => {
    const probe = document.createElement("i");
    document.body.append(probe);
    const plain = (color) => {
      probe.style.color = color;
      return getComputedStyle(probe).color;
    };
    const { text, paper, fills, strongs } = globalThis.inked;
    return { text: plain(text), paper: plain(paper), fills: fills.map(plain), strongs: strongs.map(plain) };
  });
  expectThat(`${scheme}: ${new Set(fills).size} colors`, new Set(fills).size > 100);
  fills.forEach((fill) => {
    const found = contrast(text, fill);
    if (found < 4.5)
      fail(`${scheme}: text on ${fill}: contrast ${found.toFixed(2)}`);
  });
  strongs.forEach((strong) => {
    const found = contrast(strong, paper);
    if (found < 1.5)
      fail(`${scheme}: column of ${strong}: contrast ${found.toFixed(2)}`);
  });
}

async function themes() {
  for (const scheme of ["light", "dark"]) {
    const page = await open(scheme);
    const colors = await page.evaluate(() => {
      const style = (name) => {
        const probe = document.createElement("i");
        probe.style.color = `var(--${name})`;
        document.body.append(probe);
        const { color } = getComputedStyle(probe);
        probe.remove();
        return color;
      };
      return Object.fromEntries(["paper", "panel", "raised", "text", "faint", "accent", "accent-soft", "good", "good-soft", "bad", "bad-soft", "on", "off", "mark", "bars"].map((name) => [name, style(name)]));
    });
    for (const [text, ground] of [["text", "paper"], ["text", "panel"], ["faint", "paper"], ["faint", "panel"], ["faint", "raised"],
      ["accent", "accent-soft"], ["good", "good-soft"], ["bad", "bad-soft"], ["bad", "raised"]]) {
      const found = contrast(colors[text], colors[ground]);
      if (found < 4.5)
        fail(`${scheme}: ${text} on ${ground}: contrast ${found.toFixed(2)}`);
    }
    for (const figure of ["on", "off", "mark", "bars"]) {
      const found = contrast(colors[figure], colors.paper);
      if (found < 3)
        fail(`${scheme}: ${figure}: contrast ${found.toFixed(2)}`);
    }
    await inks(page, scheme);
    const lightness = contrast(colors.paper, "rgb(0, 0, 0)");
    expectThat(`${scheme} paper`, scheme === "dark" ? lightness < 2 : lightness > 15);
    await show(page, "timeline");
    // In its first frames, the canvas may still have its size from before it was shown.
    const pixel = await page.evaluate((paper) => new Promise((done) => {
      const look = (frames) => {
        const canvas = document.querySelector("canvas");
        const found = [...canvas.getContext("2d").getImageData(canvas.width - 3, canvas.height - 3, 1, 1).data].slice(0, 3).join(", ");
        if (`rgb(${found})` === paper || frames === 0)
          done(found);
        else
          requestAnimationFrame(() => look(frames - 1));
      };
      requestAnimationFrame(() => look(300));
    }), colors.paper);
    expect(`${scheme} canvas`, colors.paper, `rgb(${pixel})`);
    for (const tab of await tabsOf(page)) {
      await show(page, tab);
      await picture(page, `${scheme}-${tab}`);
    }
  }
  const page = await open();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(() => getComputedStyle(document.documentElement).backgroundColor === "rgb(21, 23, 28)");
}

// Printed: the current view, complete and in light colors, without controls.
async function print() {
  const [report] = answers;
  const page = await open("dark");
  await show(page, "functions");
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.waitForFunction(() => getComputedStyle(document.documentElement).backgroundColor === "rgb(255, 255, 255)");
  await page.waitForFunction((rows) => document.querySelectorAll("tbody tr[aria-rowindex]").length === rows, report.functions.length);
  expectThat("no search field", !(await page.isVisible("input[type=search]")));
  const pdf = await page.pdf({ path: `${directory}/print.pdf` });
  expectThat("a document", pdf.length > 10000);
}

// Names are text: shown unchanged, never interpreted as markup.
async function odd() {
  const [report] = answers;
  const page = await open();
  const scripts = await page.evaluate(() => document.scripts.length);
  const tabs = await tabsOf(page);
  for (const tab of tabs) {
    await show(page, tab);
    expect(`${tab}: scripts`, scripts, await page.evaluate(() => document.scripts.length));
    expect(`${tab}: pictures`, 0, await page.locator("img").count());
    expect(`${tab}: owned`, undefined, await page.evaluate(() => window.owned));
    await picture(page, tab);
  }
  await show(page, "blocks");
  const outside = await page.$$eval(".graph .place", (places) => places.filter((place) =>
    place.querySelector("text").getBBox().width > place.querySelector("rect").getBBox().width - 6).map((place) => place.textContent));
  expect("names of probes that leave their boxes", "", outside.join());
  await show(page, "functions");
  const names = (await rowsOf(page)).map((row) => row.name.value).sort();
  const shown = report.functions.map((row) => row.name.replaceAll("\u202e", "\\u202e"));
  expect("names", JSON.stringify(shown.sort()), JSON.stringify(names));
  expectThat("markup as text", (await page.textContent("tbody")).includes("<script>window.owned = 1</script>"));
  for (let i = 0; i < names.length; i++) {
    await page.locator("tbody tr[aria-rowindex]").nth(i).click();
    await page.waitForSelector(".details h2");
  }
  await show(page, "timeline");
  await page.fill("input[type=search]", "with_text");
  for (let i = 0; i < 12; i++) {
    await page.click("button:has-text('Next')");
    expect(`call ${i}`, "with_text", await page.textContent(".details h2"));
  }
  await picture(page, "call");
  // On a phone, long names leave room for numbers, and stay in place while the numbers scroll.
  await page.setViewportSize({ width: 390, height: 844 });
  await show(page, "functions");
  const right = (index) => page.locator("th").nth(index).evaluate((cell) => cell.getBoundingClientRect().right);
  expectThat(`calls end at ${await right(1)} px`, await right(1) <= 390);
  await page.locator(".table").evaluate((table) => table.scrollBy(300, 0));
  expectThat(`the name ends at ${await right(0)} px`, await right(0) > 60 && await right(0) < 240);
  await picture(page, "narrow");
}

// Returns the texts that the canvas draws, in its monospaced font or any, by row and from left to
// right.
async function labelsOf(page, font = "mono") {
  await page.evaluate((font) => {
    window.drawnLabels = new Map();
    const fill = window.fillText ??= CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function fillText(text, x, y, ...rest) {
      if (this.font.includes(font))
        window.drawnLabels.set(`${text} ${x} ${y}`, { text, x, y, width: this.measureText(text).width });
      fill.call(this, text, x, y, ...rest);
    };
  }, font);
  await page.mouse.move(700, 500);
  await drawn(page);
  await page.mouse.move(701, 501);
  await drawn(page);
  return (await page.evaluate(() => [...window.drawnLabels.values()])).sort((a, b) => a.y - b.y || a.x - b.x);
}

// The length of a range covers no number of the ruler, and zooming by keys hides the tip at the
// pointer. On a phone, all parts and choices are in view.
async function rangeRuler(page) {
  const box = await page.locator("canvas").boundingBox();
  for (const place of [0.3, 0.45, 0.6, 0.75]) {
    await page.mouse.move(box.x + box.width * place - 30, box.y + 100);
    await page.keyboard.down("Shift");
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * place + 30, box.y + 100, { steps: 2 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    const texts = (await labelsOf(page, "")).filter(({ y }) => y === 13);
    const over = texts.filter(({ x, width }, i) => i + 1 < texts.length && x + width > texts[i + 1].x);
    expect(`numbers of the ruler below others at ${place}`, "", over.map(({ text }) => text).join());
  }
  await page.keyboard.press("m");
  const { height } = await page.locator("canvas").boundingBox();
  for (let y = 40; y < height - 10 && await page.locator(".tip").count() === 0; y += 5) {
    await page.mouse.move(box.x + 300, box.y + y);
    await drawn(page);
  }
  expect("a tip", 1, await page.locator(".tip").count());
  await page.keyboard.press("w");
  await page.waitForSelector(".tip", { state: "detached" });
  await page.keyboard.press("Home");
}

// Names are cut between visible characters, cover no neighbor however wide they are, and
// right-to-left names do not reorder the text after them.
async function wide() {
  const page = await open();
  const right = /[\u0590-\u05ff]/;
  for (const tab of ["timeline", "flame"]) {
    await show(page, tab);
    // Widths that do not depend on how long anything took.
    if (tab === "flame")
      await page.getByLabel("Calls", { exact: true }).check();
    const labels = await labelsOf(page);
    expectThat(`${tab}: ${labels.length} labels`, labels.length > (tab === "flame" ? 15 : 0));
    const over = labels.filter(({ x, y, width }, i) => labels[i + 1]?.y === y && x + width > labels[i + 1].x);
    expect(`${tab}: labels that reach into the next`, "", over.map(({ text }) => text).join(", "));
    const parts = labels.filter(({ text }) => /[\ud800-\udbff](?![\udc00-\udfff])|(?<!\p{M})\p{L}\p{M}{1,2}…/u.test(text));
    expect(`${tab}: half characters`, "", parts.map(({ text }) => text).join(", "));
    const loose = labels.filter(({ text }) => right.test(text) && !/\u2068[^\u2068]*[\u0590-\u05ff]/.test(text));
    expect(`${tab}: not isolated`, "", loose.map(({ text }) => text).join(", "));
    if (tab === "flame")
      expectThat("from right to left", labels.some(({ text }) => right.test(text)));
    await picture(page, tab);
  }
  await show(page, "blocks");
  const outside = await page.$$eval(".graph .place", (places) => places.filter((place) =>
    place.querySelector("text").getBBox().width > place.querySelector("rect").getBBox().width - 6).map((place) => place.textContent));
  expect("names of probes that leave their boxes", "", outside.join());
  // The number of a probe is to the left of its name, and the arrow is between the two names.
  for (const [tab, row] of [["blocks", "td[data-column=from]"], ["functions", "td[data-column=name]"]]) {
    await show(page, tab);
    const names = await page.$$eval(`${row} .name`, (cells) => cells.map((cell) => ({ text: cell.textContent, isIsolated: getComputedStyle(cell).unicodeBidi === "isolate" || /\u2068/.test(cell.textContent) })));
    expect(`${tab}: rows from right to left that are isolated`, 1, names.filter(({ text, isIsolated }) => right.test(text) && isIsolated).length);
  }
  // Two functions have the same name, because a trace keeps only the beginning of long names: the
  // statistics of a range contain both, and each row leads to its function.
  const rows = new Map((await allRows(page)).map((row) => [row.name.text, row.calls.value]));
  await show(page, "timeline");
  await page.click("button:text-is('Statistics')");
  const sums = page.locator(".details tbody[data-name^='std::map'] button");
  await sums.first().waitFor();
  expect("functions of the same name", 2, await sums.count());
  await rangeRuler(page);
  const calls = await page.$$eval(".details tbody[data-name^='std::map']", (found) => found.slice(0, 2).map((each) => each.rows[1].cells[0].textContent));
  expect("calls of each", [...rows].filter(([name]) => name.startsWith("std::map")).map(([, value]) => value).join(), calls.join());
}

// Long names in tables get the room that other columns leave: the table is no wider than the page.
// Names that are cut are complete in the tooltip; on a narrow page, the columns of numbers stay in
// view.
async function wideTables() {
  const [{ names }] = answers;
  const page = await open();
  for (const tab of (await tabsOf(page)).filter((each) => ["functions", "blocks", "diff"].includes(each))) {
    for (const [width, scheme] of [[1440, "light"], [1440, "dark"], [390, "light"], [390, "dark"]]) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: scheme });
      await show(page, tab);
      await page.waitForSelector(".table .named");
      await drawn(page);
      const found = await page.$$eval(".table .named:has(.name)", (cells) => cells.map((cell) => {
        const name = cell.querySelector(".name");
        return { title: cell.title, isCut: name.scrollWidth > name.clientWidth, width: cell.clientWidth, room: cell.parentElement.clientWidth, isShort: name.scrollWidth < 80 };
      }));
      const { inner, outer } = await page.$eval(".table", ({ scrollWidth, clientWidth }) => ({ inner: scrollWidth, outer: clientWidth }));
      const what = `${tab} at ${width} px`;
      expectThat(`${what}: a table of ${inner} px in ${outer}`, width < 640 || inner <= outer);
      expectThat(`${what}: names that are cut`, found.some(({ isCut }) => isCut));
      expect(`${what}: short names that are cut`, 0, found.filter(({ isCut, isShort }) => isCut && isShort).length);
      expectThat(`${what}: a column of ${found[0].room} px`, found.every(({ room }) => room < (width < 640 ? 0.65 : 0.8) * outer));
      const cut = found.filter(({ isCut }) => isCut).map(({ title }) => title);
      expect(`${what}: cut names that are not whole in the tooltip`, "", cut.filter((title) => !names.some((name) => title.includes(name))).join(", "));
      await picture(page, `${tab}-${width}-${scheme}`);
    }
  }
}

// The title names each program once.
async function title() {
  const page = await open();
  expect("title", answers[0].title, await page.title());
}

async function empty() {
  const page = await open();
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  await page.keyboard.press("2");
  expect("keys under the help", "true", await page.getAttribute("#tab-overview", "aria-selected"));
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { state: "detached" });
  expect("parts", "overview", (await tabsOf(page)).join(" "));
  expectThat("said", (await page.textContent(".panel")).includes("No record"));
  await picture(page, "overview");
}

// The ruler has numbers at any zoom, also on a narrow screen, and they do not overlap.
async function ruler() {
  const page = await open();
  await page.evaluate(() => {
    window.numbers = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
      if (y < 20)
        window.numbers.push({ text, left: x, right: x + this.measureText(text).width });
      fillText.call(this, text, x, y, ...rest);
    };
  });
  await show(page, "timeline");
  for (let width = 320; width < 640; width += 20) {
    for (let i = 0; i < 3; i++) {
      await page.evaluate(() => {
        window.numbers.length = 0;
      });
      if (i === 0)
        await page.setViewportSize({ width, height: 844 });
      else
        await page.keyboard.press("w");
      await page.waitForFunction(() => window.numbers.length > 0);
      const [view, ...numbers] = await page.evaluate(() => window.numbers.slice(window.numbers.findLastIndex(({ text }) => text.endsWith("in view"))));
      expectThat(`numbers, ${width} px, ${view.text}`, numbers.length > 0);
      numbers.forEach(({ text, left, right }, at) => {
        expectThat(`${text} is whole, ${width} px, ${view.text}`, left >= 108 && right <= width && (at === 0 || left > numbers[at - 1].right));
      });
    }
    await page.keyboard.press("0");
  }
}

// Singular forms when the count is one.
async function single() {
  const page = await open();
  const figures = await page.textContent(".figures");
  for (const word of ["1thread", "1call", "1function"])
    expectThat(word, figures.includes(word) && !figures.includes(`${word}s`));
  for (const tab of ["overview", "timeline", "flame", "functions"]) {
    await show(page, tab);
    if (tab === "timeline")
      await page.waitForFunction(() => document.querySelector(".status").textContent !== "");
    expect(`${tab}: plurals`, null, (await page.innerText(".panel")).match(/(^|[^\d.,])1 [a-z]+s\b(?! inside)/));
  }
  await show(page, "timeline");
  await page.waitForFunction(() => document.querySelector(".status").textContent !== "");
  expectThat("in view", (await statusOf(page)).startsWith("1 call in view"));
  await show(page, "functions");
  expectThat("functions", (await page.innerText(".panel")).includes("1 function, "));
  await show(page, "flame");
  const box = await page.locator("canvas").boundingBox();
  await hover(page, box.x + 40, box.y + 30);
  expectThat("tip", /\b1 call\b(?!s)/.test(await page.innerText(".tip")));
}

// Profile mode: the page shows counts, and a note about what is missing; the overhead is the
// trace's.
async function counted() {
  const [report, [info]] = answers;
  const page = await open();
  const text = await page.textContent(".panel");
  const calls = report.functions.reduce((sum, row) => sum + row.calls, 0);
  expectThat("mode", text.includes("Profile mode: calls were counted"));
  expectThat("calls", text.includes(`${calls.toLocaleString("en-US")}calls`));
  const { profiled_own: own, profiled_caller: caller } = info.overhead;
  const [least, most] = ["least_ns", "most_ns"].map((end) => Math.round(own[end] + caller[end]));
  expectThat("overhead", text.includes(`${least}ns to ${most}ns a call`));
}

// Many threads: the last one can be reached, and nothing is drawn off screen.
async function threads() {
  const [wanted] = answers;
  const page = await open();
  expectThat("counted", (await page.textContent(".figures")).includes(`${wanted.threads}threads`));
  await show(page, "timeline");
  const box = await page.locator("canvas").boundingBox();
  await page.mouse.move(box.x + 60, box.y + 300);
  const before = await page.locator("canvas").screenshot();
  await page.mouse.wheel(0, 3000);
  await page.waitForFunction(() => Number(document.querySelector(".scroll").value) > 0);
  expectThat("scrolled", !before.equals(await page.locator("canvas").screenshot()));
  await picture(page, "scrolled");
}

// The changes of self time of all paths, without signs.
function selfChanges(base, now) {
  const names = [...new Set([...base, ...now].map(({ name }) => name))];
  return names.flatMap((name) => {
    const [before, after] = [base, now].map((nodes) => nodes.find((node) => node.name === name));
    return [Math.abs((after?.self_ns ?? 0) - (before?.self_ns ?? 0)), ...selfChanges(before?.children ?? [], after?.children ?? [])];
  });
}

// Each path has the means over the runs of both trees; colors show the change of self time.
async function changes(page, base, now) {
  await page.click("button:has-text('Flame graph of the change')");
  await page.waitForSelector("#tab-flame[aria-selected=true]");
  const shown = async (key) => {
    await page.keyboard.press(key);
    return { name: await page.textContent(".details h2"), rows: await page.$$eval(".sides tbody tr", (rows) =>
      Object.fromEntries(rows.map((row) => [row.cells[0].textContent, [...row.cells].slice(1).map((cell) => cell.textContent)]))) };
  };
  const largest = (nodes) => [...nodes].sort((a, b) => b.total_ns - a.total_ns)[0];
  const wanted = largest(now.tree);
  const before = base.tree.find((each) => each.name === wanted.name);
  await page.focus("canvas");
  const found = await shown("ArrowDown");
  expect("largest path", wanted.name, found.name);
  for (const [row, key] of [["Total", "total_ns"], ["Self", "self_ns"]]) {
    const [base_shown, now_shown, change] = found.rows[row];
    expectThat(`${row} of the base (${base_shown})`, isShown(base_shown, before[key] / 2));
    expectThat(`${row}, new (${now_shown})`, isShown(now_shown, wanted[key] / 2));
    expect(`sign of ${row}`, wanted[key] < before[key] ? "−" : "+", change[0]);
  }
  expect("calls", String(wanted.calls / 2), found.rows.Calls[1]);
  await picture(page, "flame");
  const color = async () => (await colorAt(page, 3, 30)).split(", ").map(Number);
  await page.keyboard.press("Escape");
  const [red, , blue] = await color();
  // A change that is small compared with the largest one is gray.
  const most = Math.max(...selfChanges(base.tree, now.tree));
  if (Math.abs(wanted.self_ns - before.self_ns) > most / 100)
    expectThat(`color (${red}, ${blue})`, wanted.self_ns < before.self_ns ? blue > red : red > blue);
  // Per call: the self time of one call instead of the run.
  await page.check('label:has-text("per call")');
  const per = (tree) => tree.self_ns / tree.calls;
  const at = await page.locator("canvas").boundingBox();
  await hover(page, at.x + 40, at.y + 30);
  const tip = (await page.innerText(".tip")).split("\n").find((line) => line.includes(" self per call"));
  expect("sign of the change per call", per(wanted) < per(before) ? "−" : "+", tip[0]);
  expectThat("scale per call", (await page.textContent(".scale")).includes("self per call"));
  await page.check('label:has-text("in total")');
  await page.check('label:has-text("Base")');
  await page.focus("canvas");
  expect("as wide as the base", largest(base.tree).name, (await shown("ArrowDown")).name);
  await page.check('label:has-text("Calls")');
  await picture(page, "flame-calls");
}

// The comparison equals `probity diff --json`.
async function diff() {
  const [wanted, base, now] = answers;
  const page = await open();
  await page.keyboard.press(String((await tabsOf(page)).indexOf("diff") + 1));
  await page.waitForSelector("#tab-diff[aria-selected=true]");
  // Both new runs are of one program.
  for (const text of [await page.title(), await page.textContent("h1")])
    expect("title", "tree ×2", text.replace(" – Probity", ""));
  const rows = await allRows(page);
  expect("rows", wanted.functions.length, rows.length);
  for (const row of rows) {
    const name = row.name.value;
    const { statistics } = wanted.functions.find((each) => each.name === name);
    expect(`${name} base`, String(statistics.self.base_median ?? ""), row.base.value);
    expect(`${name} new`, String(statistics.self.new_median ?? ""), row.new.value);
    expect(`${name} verdict`, statistics.self.verdict, row.verdict.value);
    for (const key of ["self", "cpu", "total", "median", "p99", "calls"])
      expect(`${name} ${key}`, String(statistics[key].ratio ?? ""), row[key].value);
  }
  await picture(page, "table");
  await changes(page, base, now);
}

// What only one side has is an increase or a decrease, and has no calls whose times changed.
async function oneSided() {
  const [{ name, verdict, tone }] = answers;
  const page = await open();
  await show(page, "diff");
  const row = (await allRows(page)).find((each) => each.name.value === name);
  expect("verdict", verdict, row.verdict.value);
  // No other row has one, so there is no column for it.
  expect("column of causes", 0, await page.locator("[data-column=cause]").count());
  const cell = page.locator("tbody tr[aria-rowindex]").filter({ has: page.locator(`td[data-column=name][data-value=${name}]`) }).locator("td[data-column=verdict] .named span");
  expect("tone", tone, await cell.getAttribute("class"));
}

// Blocks and requests are compared as in `probity diff --json`, with the causes of the change.
async function diffSpans(kind, keys) {
  const [wanted] = answers;
  const page = await open();
  await show(page, "diff");
  if (kind === "requests")
    await page.click(".compared button:text-is('Requests')");
  const rows = await allRows(page);
  expect("rows", wanted[kind].length, rows.length);
  for (const row of rows) {
    const { statistics } = wanted[kind].find(({ name, named }) => (named ?? name) === row.name.value);
    expect(`${row.name.value} base`, String(statistics.total.base_median ?? ""), row.base.value);
    expect(`${row.name.value} verdict`, statistics.total.verdict, row.verdict.value);
    for (const key of keys)
      expect(`${row.name.value} ${key}`, String(statistics[key].ratio ?? ""), row[key].value);
    const isMore = statistics.calls.verdict === "more";
    expect(`${row.name.value} called more`, isMore, (row.cause?.text ?? "").includes("called more"));
  }
  const isChanged = ({ verdict } = { verdict: "same" }) => !["same", "inconclusive"].includes(verdict);
  const hasCauses = wanted[kind].some(({ statistics: { mean, calls, total } }) => !["gone", "added"].includes(total.verdict) && (isChanged(mean) || isChanged(calls) || isChanged(total)));
  expect("has a column of causes", hasCauses, await page.locator("tbody [data-column=cause]").count() > 0);
  await picture(page, "table");
}

// Ten runs per side, the base from a history: enough for a significant change of the number.
async function labelRequests() {
  const [wanted] = answers;
  expectThat("the number of requests has changed", wanted.requests.some(({ statistics }) => statistics.calls.verdict === "more"));
  await diffSpans("requests", ["total", "mean", "median", "p99", "calls"]);
}

const diffBlocks = () => diffSpans("blocks", ["cpu", "total", "mean", "median", "p99", "calls"]);

async function diffRequests() {
  await diffSpans("requests", ["total", "mean", "median", "p99", "calls"]);
  expect("columns of requests", 0, await page.locator("td[data-column=cpu], td[data-column=self]").count());
  await overlaidOf(page, "requests");
}

// Returns the calls of a row of `probity report` that have a duration.
const timed = ({ histogram }) => histogram.reduce((sum, [, calls]) => sum + calls, 0);

// A row of the comparison opens a chart of the distributions of both sides: all calls that `probity
// report`, `blocks` or `model` counts in the traces of each side, and the medians of `probity
// diff`.
async function overlaidOf(page, kind) {
  const [wanted, ...sides] = answers;
  const sums = () => page.$$eval(".details .overlay .bucket", (buckets) => ["base", "new"].map((side) => buckets.reduce((sum, { dataset }) => sum + Number(dataset[side]), 0)));
  const counts = {
    blocks: (side, { name, from_is_site: from, to_is_site: to }) => side.blocks.find((block) => `${block.from} -> ${block.to}` === name && block.from_is_site === from && block.to_is_site === to)?.calls,
    functions: (side, { name, line }) => side.functions.filter((row) => row.name === name && row.line === line).map(timed)[0],
    requests: (side, { name }) => side.requests.find((request) => request.name === name)?.ends,
  };
  const counted = (side, row) => counts[kind](side, row) ?? 0;
  let pictured;
  for (const row of wanted[kind]) {
    const title = row.named ?? row.name;
    const line = page.locator("tbody tr[aria-rowindex]").filter({ has: page.locator(`td[data-column=name][data-value=${JSON.stringify(title)}]`) }).first();
    await line.click();
    await page.waitForFunction((name) => document.querySelector(".details h2")?.textContent === name, title);
    if (sides.every((side) => counted(side, row) === 0)) {
      expect(`${title} without durations`, "No durations.", await page.locator(".details h3:text-is('Durations, base and new') ~ .none").first().textContent());
      continue;
    }
    pictured ??= { line, title };
    expect(`${title} calls`, JSON.stringify(sides.map((side) => counted(side, row))), JSON.stringify(await sums()));
    const { median } = row.statistics;
    const marks = await page.$$eval(".details .overlay .median", (lines) => lines.map(({ dataset }) => Number(dataset.ns)));
    expect(`${title} medians`, JSON.stringify([median.base_median, median.new_median].filter((ns) => ns !== null)), JSON.stringify(marks));
    const keys = await page.locator(".details .overlay .key").allTextContents();
    keys.forEach((text, index) => expectThat(`${title} legend: ${text}`, text.includes(`${["base", "new"][index]}: ${counted(sides[index], row).toLocaleString("en-US")}`)));
  }
  expectThat("a row has durations", pictured !== undefined);
  await pictured.line.click();
  await page.waitForFunction((name) => document.querySelector(".details h2")?.textContent === name, pictured.title);
  for (const [width, scheme] of [[1440, "light"], [1440, "dark"], [390, "light"], [390, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.locator(".details .overlay").scrollIntoViewIfNeeded();
    const colors = await page.$$eval(".details .overlay path.median", (lines) => lines.map((line) => getComputedStyle(line).stroke));
    expectThat(`colors ${colors}`, colors.length < 2 || colors[0] !== colors[1]);
    await picture(page, `${kind}-${width}-${scheme}`);
  }
}

async function overlaid() {
  const page = await open();
  await show(page, "diff");
  await overlaidOf(page, answers[0].functions.length === 0 ? "blocks" : "functions");
}

// Returns the place of a side's call on its canvas: at most three pixels after its beginning.
async function findCall(page, side, zero) {
  const stage = page.locator(`.stage[data-side=${side}]`);
  const { from, to } = await stage.evaluate(({ dataset }) => ({ from: Number(dataset.from), to: Number(dataset.to) }));
  const box = await stage.locator("canvas").boundingBox();
  const gutter = box.width < 640 ? 108 : 190;
  return { box, x: gutter + (zero - from) / (to - from) * (box.width - gutter) };
}

// Both timelines start at the beginning of their chosen calls, and have the same scale. The calls
// are those of `probity log`.
async function alignedRuns() {
  const [{ name, base, now }] = answers;
  const page = await open();
  await show(page, "diff");
  await page.click(".compared button:has-text('Timelines')");
  const sides = () => page.$$eval(".stage", (stages) => stages.map(({ dataset }) => ({ zero: Number(dataset.zero), from: Number(dataset.from), to: Number(dataset.to) })));
  const together = async (what) => {
    const [left, right] = await sides();
    expectThat(`${what}: one scale`, Math.abs((left.to - left.from) / (right.to - right.from) - 1) < 1e-9);
    expectThat(`${what}: aligned`, Math.abs((left.from - left.zero) - (right.from - right.zero)) < 1);
    return left;
  };
  const zeros = async () => JSON.stringify((await sides()).map(({ zero }) => zero));
  await page.getByLabel("Function, block or request").selectOption({ label: name });
  expect("the first calls", JSON.stringify([base[0], now[0]]), await zeros());
  await page.getByLabel("Number of the call, base").fill("3");
  await page.getByLabel("Number of the call, new").fill("5");
  await page.keyboard.press("Tab");
  await page.waitForFunction((zero) => Number(document.querySelector(".stage[data-side=new]").dataset.zero) === zero, now[4]);
  expect("the calls of these numbers", JSON.stringify([base[2], now[4]]), await zeros());
  const all = await together("at first");
  // The wheel zooms both, at the pointer of one; a drag moves both.
  const { box, x } = await findCall(page, "base", base[2]);
  await page.mouse.move(box.x + x, box.y + 60);
  for (let i = 0; i < 30; i++)
    await page.mouse.wheel(0, -100);
  await page.waitForFunction((length) => { const { from, to } = document.querySelector(".stage").dataset; return to - from < length / 1000; }, all.to - all.from);
  const near = await together("zoomed");
  await page.mouse.down();
  await page.mouse.move(box.x + x - 150, box.y + 60, { steps: 3 });
  await page.mouse.up();
  await page.waitForFunction((from) => Number(document.querySelector(".stage").dataset.from) > from, near.from);
  await together("dragged");
  await page.focus(".stage[data-side=new] canvas");
  await page.keyboard.press("Home");
  await page.waitForFunction((to) => Math.abs(document.querySelector(".stage").dataset.to - to) < 1, all.to);
  await page.keyboard.press(",");
  await page.waitForFunction((zero) => Number(document.querySelector(".stage[data-side=new]").dataset.zero) === zero, now[3]);
  // Close up, the calls begin at the first quarter. A call that lost its CPU may be long.
  await page.keyboard.press("f");
  await page.waitForFunction((length) => { const { from, to } = document.querySelector(".stage").dataset; return to - from < length; }, all.to - all.from);
  const close = await together("close up");
  expectThat("the calls are in view", Math.abs((close.zero - close.from) / (close.to - close.from) - 0.25) < 0.01);
  await picture(page, "close");
  await page.keyboard.press("Home");
  await page.waitForFunction((length) => { const { from, to } = document.querySelector(".stage").dataset; return to - from > length / 2; }, all.to - all.from);
  for (const [width, scheme] of [[1440, "light"], [1440, "dark"], [390, "light"], [390, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await picture(page, `${width}-${scheme}`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  // A click chooses a call: here main, the outermost one, so the other side chooses its first call
  // of the same function.
  const [first] = await sides();
  const place = await findCall(page, "base", first.zero);
  for (let y = 30; y < place.box.height && await page.getByLabel("Function, block or request").evaluate((select) => select.selectedOptions[0].text) !== "main"; y += 4)
    await page.mouse.click(place.box.x + place.x + 1, place.box.y + y);
  expect("the outermost call", "main", await page.getByLabel("Function, block or request").evaluate((select) => select.selectedOptions[0].text));
  await together("at main");
  const [left, right] = await sides();
  expectThat("the beginning of main", left.zero < base[0] && right.zero < now[0]);
  await page.click(".compared button:has-text('Functions')");
  await page.locator("tbody tr[aria-rowindex]").filter({ has: page.locator(`td[data-column=name][data-value=${name}]`) }).click();
  await page.click("button:has-text('Align timelines')");
  await page.waitForSelector(".stage[data-side=base]");
  expect("from the details", JSON.stringify([base[0], now[0]]), await zeros());
}

// Requests align timelines, too: by the times at which they begin (`probity csv`), from the list,
// from the details of a row, and by a click on any of their stages.
async function alignedRequests() {
  const [{ name, base, now, stage }] = answers;
  const page = await open();
  await show(page, "diff");
  await page.click(".compared button:has-text('Timelines')");
  const zeros = () => page.$$eval(".stage", (stages) => JSON.stringify(stages.map(({ dataset }) => Number(dataset.zero))));
  const list = page.getByLabel("Function, block or request");
  await list.selectOption({ label: name });
  expect("its group", "Requests", await list.evaluate((select) => select.selectedOptions[0].parentElement.label));
  expect("the first requests", JSON.stringify([base[0], now[0]]), await zeros());
  expectThat("how many", (await page.textContent(".tools")).includes(`of ${base.length}`) && (await page.textContent(".tools")).includes(`of ${now.length}`));
  await page.getByLabel("Number of the request, base").fill("3");
  await page.getByLabel("Number of the request, new").fill("5");
  await page.keyboard.press("Tab");
  await page.waitForFunction((zero) => Number(document.querySelector(".stage[data-side=new]").dataset.zero) === zero, now[4]);
  expect("the requests of these numbers", JSON.stringify([base[2], now[4]]), await zeros());
  await page.click("button:text-is('Requests'):right-of(button:text-is('All'))");
  await drawn(page);
  for (const [width, scheme] of [[1440, "light"], [390, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await picture(page, `${width}-${scheme}`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await drawn(page);
  // A click on a later stage chooses its request. First a block is chosen, so that a wrong click
  // would be detected.
  await list.selectOption({ index: 0 });
  expectThat("a block", (await page.getByLabel("Number of the call, base").count()) === 1);
  await list.selectOption({ label: name });
  await page.getByLabel("Number of the request, base").fill("3");
  await page.keyboard.press("Tab");
  await page.waitForFunction((zero) => Number(document.querySelector(".stage[data-side=base]").dataset.zero) === zero, base[2]);
  await page.focus(".stage[data-side=base] canvas");
  await page.keyboard.press("f");
  await drawn(page);
  const lengthOf = () => page.$eval(".stage[data-side=base]", ({ dataset }) => dataset.to - dataset.from);
  const close = await lengthOf();
  await list.selectOption({ index: 0 });
  await drawn(page);
  await page.focus(".stage[data-side=base] canvas");
  await page.keyboard.press("Home");
  await page.waitForFunction((length) => { const { from, to } = document.querySelector(".stage[data-side=base]").dataset; return to - from > length; }, close);
  // The block may be far from the stage, so the wheel moves the view there, close enough that the
  // request does not end within a pixel.
  const chosen = () => list.evaluate((select) => select.selectedOptions[0].text);
  for (let i = 0; i < 100 && await lengthOf() > close / 64; i++) {
    const { box, x } = await findCall(page, "base", stage);
    await page.mouse.move(box.x + x, box.y + 60);
    await page.mouse.wheel(0, -100);
    await drawn(page);
  }
  const { box, ...at } = await findCall(page, "base", stage);
  expectThat(`in view: ${at.x} of ${box.width}`, at.x > 190 && at.x < box.width);
  for (let y = box.height - 6; y > 30 && (await chosen()) !== name; y -= 4)
    await page.mouse.click(box.x + at.x, box.y + y);
  expect("the request of a stage", name, await chosen());
  const [zero] = JSON.parse(await zeros());
  expectThat("a request that had begun", base.includes(zero) && zero <= stage);
  // The row of the comparison leads to its requests.
  await page.click(".compared button:text-is('Requests')");
  await page.locator("tbody tr[aria-rowindex]").filter({ has: page.locator(`td[data-column=name][data-value=${name}]`) }).click();
  await page.click("button:has-text('Align timelines')");
  await page.waitForSelector(".stage[data-side=base]");
  expect("from the details", JSON.stringify([base[0], now[0]]), await zeros());
}

// Runs from the history have no trees, so colors are by function, and a note on the page reports
// this.
async function labelled() {
  const page = await open();
  await show(page, "flame");
  await page.check('label:has-text("Change")');
  expectThat("why", (await page.textContent(".status")).includes("the history of runs has no call trees"));
  expect("sides", 0, await page.locator('label:has-text("Base")').count());
  await page.focus("canvas");
  await page.keyboard.press("ArrowDown");
  await page.waitForSelector(".details h2");
  await picture(page, "flame");
}

// Measures how long a page takes to load, and to draw its timeline.
async function speed() {
  const [wanted] = answers;
  const start = performance.now();
  const page = await open();
  const opened = performance.now() - start;
  await show(page, "timeline");
  await page.waitForFunction(() => (document.querySelector(".status")?.textContent ?? "") !== "");
  const drawn = performance.now() - start;
  console.error(`${scenario}: opened in ${Math.round(opened)} ms, timeline after ${Math.round(drawn)} ms`);
  if (wanted !== undefined)
    expectThat(`opened within ${wanted.ms} ms (${Math.round(opened)})`, opened <= wanted.ms);
  expectThat("it says that it draws calls together", (await page.textContent(".status")).includes("drawn together"));
}

// Rows of requests, locks and queues come from tiles, even where threads show single calls from the
// trace.
async function tiledRows() {
  const page = await open();
  await show(page, "timeline");
  await page.focus("canvas");
  let source = await sourceOf(page);
  const whole = source.rows;
  const isServed = url.startsWith("http:");
  for (let i = 0; i < 80 && (isServed ? source.spans !== "trace" : source.rows !== "tiles"); i++) {
    await page.keyboard.press("+");
    source = await sourceOf(page);
    if (source.spans === "tiles")
      expect("rows where threads are from tiles", "tiles", source.rows);
  }
  expect("spans of threads", isServed ? "trace" : "tiles", source.spans);
  await page.waitForFunction(() => document.querySelector(".stage").dataset.rows === "tiles");
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    await picture(page, `${isServed ? "served" : "file"}-${scheme}`);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await picture(page, `${isServed ? "served" : "file"}-narrow`);
  await page.focus("canvas");
  await page.keyboard.press("Home");
  await page.waitForFunction((rows) => document.querySelector(".stage").dataset.rows === rows, whole);
}

// Measures a page for bench/view.sh: when its timeline is drawn; how long the page's thread is busy
// with each step of the mouse wheel, from the whole trace to 1 us at random places and back; its
// heap.
async function measured() {
  const first = await open();
  await first.goto("about:blank");
  const start = performance.now();
  await first.goto(`${url}#timeline`);
  await first.waitForFunction(() => (document.querySelector(".status")?.textContent ?? "") !== "");
  const drawn = performance.now() - start;
  const session = await first.context().newCDPSession(first);
  await session.send("Performance.enable");
  const metrics = async () => Object.fromEntries((await session.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
  const frames = () => first.evaluate(() => new Promise((done) => { requestAnimationFrame(() => { requestAnimationFrame(done); }); }));
  const box = await first.locator("canvas").first().boundingBox();
  const steps = [];
  for (let place = 0; place < 10; place++) {
    // The same places in each run.
    const x = box.x + box.width * (0.2 + 0.75 * ((place * 0.618) % 1));
    for (let i = 0; i < 36; i++) {
      await first.evaluate(([at, y, delta]) => {
        const canvas = document.querySelector("canvas");
        canvas.dispatchEvent(new WheelEvent("wheel", { clientX: at, clientY: y, deltaY: delta, ctrlKey: true, bubbles: true, cancelable: true }));
      }, [x, box.y + 60, i < 18 ? -240 : 240]);
      const before = (await metrics()).TaskDuration;
      await frames();
      steps.push(((await metrics()).TaskDuration - before) * 1000);
    }
  }
  await session.send("HeapProfiler.collectGarbage");
  const heap = (await metrics()).JSHeapUsedSize;
  steps.sort((a, b) => a - b);
  const at = (share) => steps[Math.min(steps.length - 1, Math.floor(steps.length * share))];
  console.error(`${scenario}: ${JSON.stringify({ drawn_ms: drawn, step_p50_ms: at(0.5), step_p99_ms: at(0.99), steps: steps.length, heap_bytes: heap })}`);
}

// Returns the spans that a page shows, after the requested data is loaded.
const sourceOf = async (page) => {
  const source = await page.waitForFunction(() => {
    const { dataset } = document.querySelector(".stage");
    return dataset.spans !== "reading" && { ...dataset, status: document.querySelector(".status").textContent };
  });
  return source.jsonValue();
};

// A served page: zooming in shows each call from the trace, zooming out the page's own data.
async function served() {
  for (const scheme of ["light", "dark"]) {
    const page = await open(scheme);
    await show(page, "timeline");
    const source = (wanted) => page.waitForFunction((text) => document.querySelector(".stage")?.dataset.spans === text, wanted);
    const says = (wanted) => page.waitForFunction((text) => (document.querySelector(".status")?.textContent ?? "").includes(text), wanted);
    await source("page");
    await says("zoom in to see each");
    await page.focus("canvas");
    // Where threads were off the CPU, the page itself may contain each call.
    for (let i = 0; i < 80 && (await sourceOf(page)).spans !== "trace"; i++)
      await page.keyboard.press("+");
    await source("trace");
    await says("every visible call is shown, as in the trace");
    await page.keyboard.press("m");
    await page.waitForSelector(".details h2");
    await picture(page, scheme);
    await page.setViewportSize({ width: 390, height: 800 });
    await picture(page, `${scheme}-narrow`);
    await page.keyboard.press("Home");
    await page.waitForFunction(() => document.querySelector(".stage").dataset.spans === "page");
  }
}

// A page with tiles: zooming in shows the tiles' units down to the finest, and with a server each
// call. The first JSON contains the units.
async function tiles() {
  const [{ units }] = answers;
  const page = await open();
  await show(page, "timeline");
  await page.focus("canvas");
  const seen = new Set();
  const whole = await sourceOf(page);
  let source = whole;
  for (let i = 0; i < 80 && source.spans !== "trace"; i++) {
    await page.keyboard.press("+");
    source = await sourceOf(page);
    if (source.spans === "tiles") {
      seen.add(Number(source.unit));
      expectThat(`a unit of the tiles (${source.unit})`, units.includes(Number(source.unit)));
    }
  }
  if (url.startsWith("http:"))
    expect("the spans of the narrowest window", "trace", source.spans);
  else
    expectThat(`the finest unit is shown (${[...seen]})`, seen.has(units[0]));
  await picture(page, url.startsWith("http:") ? "served" : "file");
  await page.keyboard.press("Home");
  await page.waitForFunction(({ from, to, unit }) => {
    const { dataset } = document.querySelector(".stage");
    return dataset.from === from && dataset.to === to && dataset.unit === unit;
  }, whole);
}

// Damaged tiles: the page names one, shows its own data, and continues.
async function garbage() {
  const page = await open();
  await show(page, "timeline");
  await page.focus("canvas");
  let isSaid = false;
  for (let i = 0; i < 80 && !isSaid; i++) {
    await page.keyboard.press("+");
    const { status, spans } = await sourceOf(page);
    expect("spans while tiles cannot be read", "page", spans);
    isSaid = /tile-\d+\.js cannot be read/.test(status);
  }
  expectThat("a tile is named", isSaid);
  await page.keyboard.press("Home");
  await show(page, "functions");
  await page.waitForSelector("tbody tr");
}

// Windows with more records than the server reads: a note on the page reports this, and does not
// claim that each call is shown.
async function cut() {
  const page = await open();
  await page.route("**/window?*", (route) => {
    const from = BigInt(new URL(route.request().url()).searchParams.get("from"));
    const object = JSON.stringify({ since_start_ns: 0, names: [], threads: [], values: [] });
    const head = Buffer.alloc(24);
    head.writeBigUInt64LE(from, 0);
    head.writeBigUInt64LE(from, 8);
    head.writeUInt32LE(object.length, 16);
    return route.fulfill({ body: Buffer.concat([head, Buffer.from(object)]) });
  });
  await show(page, "timeline");
  await page.focus("canvas");
  let isSaid = false;
  for (let i = 0; i < 80 && !isSaid; i++) {
    await page.keyboard.press("+");
    const { status } = await sourceOf(page);
    isSaid = status.includes("too many records in this window");
    expectThat("no claim that each call is shown", !isSaid || !status.includes("every visible call"));
  }
  expectThat("the page says that the window has too many records", isSaid);
  await page.unrouteAll();
}

// Opens a page with a span selected: "THREAD.KIND.DEPTH.START".
async function openAt(page, place) {
  await page.goto("about:blank");
  await page.goto(`${url}#timeline&s=${place}`);
  await page.waitForSelector(".details h2");
}

// Shows the critical path of the selection, by the button or by key. Returns its parts.
async function pathOf(page, isByKey) {
  if (isByKey) {
    await page.focus("canvas");
    await page.keyboard.press("k");
  } else {
    await page.click(".details .critical");
  }
  return await partsOf(page);
}

async function partsOf(page) {
  await page.waitForSelector(".critical-path");
  const all = page.locator(".critical-path > button");
  if (await all.count() > 0)
    await all.click();
  return await page.$$eval(".critical-path li", (parts) => parts.map((part) => part.dataset.part));
}

// The critical path of each span is that of `probity path`, part by part, and sums to its time.
async function paths() {
  const [{ spans, near }] = answers;
  const page = await open();
  for (const [index, { place, ns, parts }] of spans.entries()) {
    await openAt(page, place);
    const found = await pathOf(page, index % 2 > 0);
    const [length, sum] = await page.$eval(".critical-path", ({ dataset }) => [Number(dataset.length), Number(dataset.sum)]);
    expect(`${place} length`, ns, Math.round(length));
    expect(`${place} sum of the parts`, ns, Math.round(sum));
    expect(`${place} is approximate`, near, await page.locator('[data-fact="near"]').count() > 0);
    for (let i = 0; !near && i < Math.max(parts.length, found.length); i++)
      expect(`${place} part ${i}`, parts[i], found[i]);
    if (index === 0) {
      await picture(page, "path");
      const [first] = await page.$$(".critical-path li:nth-child(3) button");
      await first?.click();
      expect("a click on a part keeps the selection", 1, await page.locator(".critical-path").count());
    }
  }
  await page.focus("canvas");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.querySelector(".stage").dataset.path === "0");
}

// Colors of states differ for all kinds of color vision, and from the background.
async function stateColors(page, scheme) {
  const [paper, ...colors] = await page.evaluate(() => ["paper", "running", "runnable", "blocked"].map((name) => {
    const probe = document.createElement("i");
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    const numbers = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
    probe.remove();
    return numbers;
  }));
  // Severe protanopia, deuteranopia and tritanopia: Machado, Oliveira, Fernandes 2009, in linear RGB.
  const visions = { full: [1, 0, 0, 0, 1, 0, 0, 0, 1],
    protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
    deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
    tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039] };
  const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const lab = (color, m) => {
    const [r, g, b] = color.map(linear);
    const [x, y, z] = [0, 3, 6].map((i) => Math.min(1, Math.max(0, m[i] * r + m[i + 1] * g + m[i + 2] * b)));
    const [l, n, s] = [0.4122 * x + 0.5363 * y + 0.0514 * z, 0.2119 * x + 0.6807 * y + 0.1074 * z, 0.0883 * x + 0.2817 * y + 0.63 * z].map(Math.cbrt);
    return [0.2105 * l + 0.7936 * n - 0.0041 * s, 1.978 * l - 2.4286 * n + 0.4506 * s, 0.0259 * l + 0.7828 * n - 0.8087 * s];
  };
  for (const [vision, matrix] of Object.entries(visions)) {
    const seen = [paper, ...colors].map((color) => lab(color, matrix));
    seen.forEach((one, i) => seen.slice(0, i).forEach((other, j) => {
      const away = Math.hypot(...one.map((value, k) => value - other[k]));
      if (away < 0.12)
        fail(`${scheme}, ${vision}: colors ${j} and ${i} of paper and states are ${away.toFixed(3)} apart`);
    }));
  }
}

// A blocked stretch names the thread that held the lock and the one that woke the thread; a click
// and Enter jump there.
async function states() {
  const [{ blocked, running, split }] = answers;
  for (const [width, scheme] of [[1440, "light"], [390, "dark"]]) {
    const page = await open(scheme);
    await page.setViewportSize({ width, height: width > 1000 ? 900 : 844 });
    await stateColors(page, scheme);
    await show(page, "timeline");
    await picture(page, `${width}-${scheme}`);
    expectThat("a legend of states", await page.isVisible(".legend .runnable"));
    await openAt(page, running.place);
    expect("title", `Running on CPU ${running.cpu}`, await page.textContent(".details h2"));
    await openAt(page, blocked.place);
    expect("title", `Blocked on ${blocked.on}`, await page.textContent(".details h2"));
    expect("held by", blocked.holder, await fact(page, "held"));
    expectThat(`took ${blocked.ns}`, isShown(await fact(page, "took"), blocked.ns));
    if (blocked.waker !== null)
      expect("woken by", blocked.waker, await fact(page, "woken"));
    await picture(page, `${width}-${scheme}-blocked`);
    await page.click('.details [data-fact="held"] button');
    await page.waitForFunction((name) => document.querySelector(".details h2").textContent === name, blocked.function);
    await openAt(page, blocked.place);
    await page.focus("canvas");
    await page.keyboard.press("Enter");
    await page.waitForFunction((name) => document.querySelector(".details h2").textContent === name, blocked.function);
    // A small screen has no room for the rows of both threads next to the details.
    if (blocked.waker !== null && width > 1000)
      await page.waitForFunction((arrow) => document.querySelector(".stage").dataset.wakes.split(" ").includes(arrow), blocked.arrow);
    // A call splits by the states of its thread.
    await openAt(page, split.place);
    for (const state of ["running", "runnable", "blocked"])
      expectThat(`${state} ${split[state]} ns (${await fact(page, state)})`, isShown((await fact(page, state)).split(" ")[0], split[state]));
    await pathOf(page, false);
    await picture(page, `${width}-${scheme}-path`);
  }
  // The strip is the first row of a thread, in the color of its state; its tip has the same text.
  const page = await open();
  await openAt(page, running.place);
  await page.focus("canvas");
  await page.keyboard.press("f");
  await page.waitForFunction(({ from, to }) => {
    const { dataset } = document.querySelector(".stage");
    return Number(dataset.from) <= from && Number(dataset.to) >= to && dataset.to - dataset.from < 4 * (to - from) + 1000;
  }, running);
  const { from, to } = await windowOf(page);
  const box = await page.locator("canvas").boundingBox();
  const x = 190 + ((running.from + running.to) / 2 - from) / (to - from) * (box.width - 190);
  const color = await page.evaluate(() => getComputedStyle(document.querySelector(".legend .running")).backgroundColor);
  const y = await page.evaluate(({ x, color }) => {
    const { width, height, clientWidth } = document.querySelector("canvas");
    const column = document.querySelector("canvas").getContext("2d").getImageData(Math.round(x * width / clientWidth), 0, 1, height).data;
    for (let i = 0; i < height; i++) {
      if (`rgb(${[...column.slice(4 * i, 4 * i + 3)].join(", ")})` === color)
        return i * clientWidth / width;
    }
    return -1;
  }, { x, color });
  expectThat("the strip has the color of running", y > 0);
  await hover(page, box.x + x, box.y + y + 3);
  expectThat(`the tip: ${await page.textContent(".tip")}`, (await page.textContent(".tip .first")).startsWith(`running on CPU ${running.cpu}, `));
}

// A page that was written for a call or span opens there, unless its address names another place.
async function arrived() {
  const [{ name, from, to, first, last }] = answers;
  const isWhole = first !== undefined;
  const page = await open();
  await page.waitForSelector("#tab-timeline[aria-selected=true]");
  await page.waitForFunction(() => document.querySelector(".stage").dataset.from !== undefined);
  if (name === undefined) {
    await page.waitForSelector('.details [data-fact="length"]');
    expectThat(`the range is that of the span: ${await fact(page, "length")}`, isShown(await fact(page, "length"), to - from));
  } else {
    await titled(page, "what is selected", name);
    expectThat(`it takes as long: ${await fact(page, "took")}`, isShown(await fact(page, "took"), to - from));
  }
  const place = await page.evaluate(() => location.hash);
  expect("its begin in the address", String(from), /&[rs]=(?:.*\.)?(-?\d+)(?:-\d+)?$/.exec(place)?.[1]);
  const shown = await windowOf(page);
  if (isWhole)
    expectThat(`the whole dump is in view: ${JSON.stringify(shown)}`, shown.from <= first && shown.to >= last);
  else
    expectThat(`it is in view, with a margin: ${JSON.stringify(shown)}`, shown.from < from && shown.to > to && shown.to - shown.from < 4 * (to - from));
  await picture(page, isWhole ? "dump" : "call");
  await page.goto("about:blank");
  await page.goto(`${url}#overview`);
  await page.waitForSelector("#tab-overview[aria-selected=true]");
}

// Takes a picture of the page on which a scenario failed, and closes it.
async function abandon() {
  await page?.screenshot({ path: `${directory}/${scenario}-failed.png`, timeout: 10000 }).catch(() => undefined);
  await page?.close().catch(() => undefined);
  page = undefined;
}

const scenarios = { title, arrived, states, paths, hosts, served, tiles, tiledRows, garbage, cut, functions, timeline, clock, tracks, address, ranged, rangedMerged, callers, arrange, deep, closer, finest, part, flame, blocks, themes, print, odd, wide, wideTables, empty, single, ruler, counted, threads, diff, oneSided, diffBlocks, diffRequests, labelRequests, overlaid, alignedRuns, alignedRequests, labelled, speed, measured };
for (let from = 0, end; from < rest.length; from = end + 1) {
  end = rest.indexOf("--", from);
  end = end < 0 ? rest.length : end;
  let file, jsons;
  [scenario, file, ...jsons] = rest.slice(from, end);
  url = file.startsWith("http://127.0.0.1:") ? file : `file://${resolve(file)}`;
  answers = jsons.map((path) => JSON.parse(readFileSync(path, "utf8")));
  const start = performance.now();
  const before = errors.length;
  try {
    await scenarios[scenario]();
    if (errors.length === before)
      await leave(page);
  } catch (error) {
    fail(String(error.stack ?? error));
  }
  if (errors.length > before)
    await abandon();
  console.error(`${scenario}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
}
await browser.close();
for (const line of errors)
  console.log(line);
process.exit(errors.length > 0 ? 1 : 0);
