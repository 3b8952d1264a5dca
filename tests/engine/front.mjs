// SPDX-License-Identifier: MIT
//
// front.mjs: the part of ClickHouse's HTTP interface that Probity uses, backed by a recent engine
// (npm package chdb) in this process. Statements are executed one after another. For tests only: no
// users, passwords or permissions.
//
//   node front.mjs PACKAGES DIRECTORY
//
// PACKAGES contains node_modules; DIRECTORY is for data. Prints "listening on 127.0.0.1:PORT".
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { mkdirSync, writeFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

const [packages, directory] = process.argv.slice(2).map((name) => resolve(name));
const { Session } = createRequire(join(packages, "package.json"))("chdb");
mkdirSync(join(directory, "bodies"), { recursive: true });
const session = new Session(join(directory, "data"));

// Settings that a URL may contain in addition to the database, the statement and its format.
const settings = new Set(["insert_deduplication_token", "max_query_size"]);

// Runs statements in order: the next one begins when the previous one has ended.
let last = Promise.resolve();
let bodies = 0;

function word(text) {
  if (!/^[A-Za-z0-9_]+$/.test(text)) throw new Error(`Code: 36. DB::Exception: bad name ${text}`);
  return text;
}

function literal(text) {
  return `'${text.replace(/[\\']/g, (byte) => `\\${byte}`)}'`;
}

async function execute(url, body) {
  const given = url.searchParams;
  const chosen = [...given.keys()].filter((name) => settings.has(name));
  await session.queryAsync(`USE ${word(given.get("database") ?? "default")}`);
  if (chosen.includes("max_query_size"))
    await session.queryAsync(`SET max_query_size = ${Number(given.get("max_query_size"))}`);
  const insert = /^INSERT INTO ([A-Za-z0-9_]+) FORMAT Native$/.exec(given.get("query") ?? "");
  if (insert === null) {
    const statement = (given.get("query") ?? "") + body.toString("latin1");
    const format = /\sFORMAT\s+(\w+)\s*$/.exec(statement)?.[1];
    const text = format === undefined ? statement : statement.replace(/\sFORMAT\s+\w+\s*$/, "");
    const answer = await session.queryAsync(text, {
      format: format ?? given.get("default_format") ?? "TabSeparated",
    });
    return Buffer.from(answer.bytes());
  }
  // The bytes of a block are data, passed in a file, so that the block becomes one part.
  const path = join(directory, "bodies", `${bodies++}.native`);
  const token = given.get("insert_deduplication_token");
  writeFileSync(path, body);
  try {
    await session.queryAsync(
      `INSERT INTO ${insert[1]} SELECT * FROM file(${literal(path)}, Native) SETTINGS ` +
        "max_insert_threads = 1, max_threads = 1, min_insert_block_size_rows = 100000000" +
        (token === null ? "" : `, insert_deduplication_token = ${literal(token)}`),
    );
  } finally {
    rmSync(path);
  }
  return Buffer.alloc(0);
}

function answer(request, response) {
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    const url = new URL(request.url, "http://127.0.0.1");
    last = last
      .then(() => execute(url, Buffer.concat(pieces)))
      .then(
        (bytes) => response.writeHead(200).end(bytes),
        (error) => response.writeHead(500).end(`${error.message}\n`),
      );
  });
}

const server = createServer(answer);
server.on("checkContinue", (request, response) => {
  response.writeContinue();
  answer(request, response);
});
server.listen(0, "127.0.0.1", () => {
  console.log(`listening on 127.0.0.1:${server.address().port}`);
});
