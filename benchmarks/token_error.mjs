// Shows how much estimateTokens differs from a real tokenizer (o200k), for each kind of text.
// Usage: node benchmarks/token_error.mjs BENCH_PROGRAM FOLDER_WITH_NODE_MODULES
// The folder must have gpt-tokenizer installed: npm install --prefix FOLDER gpt-tokenizer@4
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [program, folder] = process.argv.slice(2);
if (!program || !folder) {
  console.error("usage: node benchmarks/token_error.mjs BENCH_PROGRAM FOLDER_WITH_NODE_MODULES");
  process.exit(2);
}
const tokenizer = path.join(path.resolve(folder), "node_modules/gpt-tokenizer/esm/encoding/o200k_base.js");
const { encode } = await import(pathToFileURL(tokenizer));
const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "..");
const read = (...names) => names.map((name) => fs.readFileSync(path.join(root, name), "utf8")).join("\n");

// Bytes that cannot be guessed, but are the same in every run.
function noise(bytes) {
  const parts = [];
  for (let i = 0; parts.length * 32 < bytes; ++i) parts.push(createHash("sha256").update(`noise ${i}`).digest());
  return Buffer.concat(parts).subarray(0, bytes);
}

const kinds = {
  English: read("benchmarks/texts/english.txt", "docs/architecture.md", "CONTRIBUTING.md"),
  Chinese: read("benchmarks/texts/chinese.txt"),
  Russian: read("benchmarks/texts/russian.txt"),
  code: read("src/message/plan/plan.cpp", "src/store/session_store.cpp", "tests/cli/run.py", "benchmarks/token_error.mjs"),
  JSON: read("benchmarks/texts/config.json", "tests/golden/format/batches.jsonl"),
  logs: read("benchmarks/texts/log.txt"),
  base64: noise(6000).toString("base64"),
};

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "bough-tokens-"));
let worst = 0;
console.log("| text | bytes | o200k | estimate | error | bytes / 4 |\n|---|---|---|---|---|---|");
for (const [kind, text] of Object.entries(kinds)) {
  const file = path.join(scratch, "text");
  fs.writeFileSync(file, text);
  const real = encode(text, { disallowedSpecial: new Set() }).length;
  const estimate = Number(execFileSync(program, ["--estimate", file]));
  const bytes = Buffer.byteLength(text);
  const percent = (value) => `${value > real ? "+" : "−"}${Math.abs((100 * (value - real)) / real).toFixed(0)}%`;
  worst = Math.max(worst, Math.abs(estimate - real) / real);
  console.log(`| ${kind} | ${bytes} | ${real} | ${estimate} | ${percent(estimate)} | ${percent(bytes / 4)} |`);
}
fs.rmSync(scratch, { recursive: true });
if (worst > 0.25) {
  console.error(`the worst error is ${(100 * worst).toFixed(0)}%, more than 25%`);
  process.exit(1);
}
