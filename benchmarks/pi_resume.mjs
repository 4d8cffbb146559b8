// Resumes a session with pi's own SessionManager and prints the seconds it took.
// Usage: node benchmarks/pi_resume.mjs FOLDER_WITH_NODE_MODULES SESSION.jsonl
// The folder must have pi installed: npm install --prefix FOLDER @mariozechner/pi-coding-agent@0.73.1
import path from "node:path";
import { pathToFileURL } from "node:url";

const [folder, file] = process.argv.slice(2);
const dist = path.join(path.resolve(folder), "node_modules/@mariozechner/pi-coding-agent/dist/core");
const { SessionManager } = await import(pathToFileURL(path.join(dist, "session-manager.js")));
const { convertToLlm } = await import(pathToFileURL(path.join(dist, "messages.js")));
const begin = process.hrtime.bigint();
const manager = SessionManager.open(file);
const messages = convertToLlm(manager.buildSessionContext().messages);
const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
if (messages.length < 1000) throw new Error(`pi found only ${messages.length} messages`);
console.log(seconds);
