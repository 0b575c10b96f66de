// The TypeScript client's side: reads one request a line from standard input, answers each with one line.
//
// A request names a file of payloads (one JSON text a line) and one of messages (a JSON list). The payloads
// go through the client's own pipeline: a subclass of AbstractAgent whose run() parses each payload and
// emits it, so that the client pays neither for HTTP nor for SSE framing. Emitted all at once, its promises
// pile up on long streams; emitted in blocks with the event loop in between, it is usually fastest. Both ways
// are run and the faster one counts.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join, resolve } from "node:path";

const BLOCK = 100;
const require = createRequire(join(resolve(process.argv[2]), "package.json"));
const { AbstractAgent } = require("@ag-ui/client");
const { version } = require("@ag-ui/client/package.json");
const { Observable } = createRequire(require.resolve("@ag-ui/client"))("rxjs");

class Replay extends AbstractAgent {
  constructor(config, payloads, block) {
    super(config);
    this.payloads = payloads;
    this.block = block;
  }

  run() {
    return new Observable((observer) => {
      let next = 0;
      const emit = () => {
        const end = Math.min(next + this.block, this.payloads.length);
        for (; next < end; next++) observer.next(JSON.parse(this.payloads[next]));
        if (next < this.payloads.length) setImmediate(emit);
        else observer.complete();
      };
      emit();
    });
  }
}

async function seconds(payloads, messages, threadId, block) {
  const agent = new Replay({ threadId, initialMessages: messages }, payloads, block);
  globalThis.gc?.();
  const start = performance.now();
  await agent.runAgent();
  const taken = (performance.now() - start) / 1000;
  return { taken, messages: agent.messages.length };
}

const files = new Map();
const read = (path) => {
  if (!files.has(path)) files.set(path, readFileSync(path, "utf-8"));
  return files.get(path);
};

console.log(JSON.stringify({ version }));
for await (const line of createInterface({ input: process.stdin })) {
  const { payloads, messages, threadId } = JSON.parse(line);
  const lines = read(payloads).split("\n").filter(Boolean);
  const held = JSON.parse(read(messages));
  const ways = [];
  for (const block of [lines.length, BLOCK]) ways.push(await seconds(lines, held, threadId, block));
  console.log(JSON.stringify({ seconds: Math.min(...ways.map((way) => way.taken)), messages: ways[0].messages }));
}
