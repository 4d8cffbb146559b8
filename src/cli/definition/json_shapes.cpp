#include "cli/definition/json_shapes.h"

#include <array>

namespace bough::cli {
namespace {

constexpr auto kParts = std::to_array<JsonShape>({
    {"Entry",
     "{schema: 2, entryId: text, parentId: text | null, type: text, timestamp: text, role: text, redacted: bool, "
     "parts: Part[]}",
     "An entry in readable form. `role` is user, assistant, system or tool; for entries that are not messages, it is "
     "their type."},
    {"Part", "{kind: text, name: text | null, callId: text | null, text: text, isError: bool}",
     "`name` is the tool of a call or a result (null for a result whose call is missing), `callId` is the id of the "
     "call, `text` is its arguments or what it returned."},
    {"Session",
     "{sessionId: text, key: text | null, agent: text | null, cwd: text | null, title: text | null, titleSource: text, "
     "created: text, lastActive: text, durationMs: count, messages: {user: count, assistant: count, tool: count, "
     "system: count}, toolCalls: count, toolFailures: count, tokens: Tokens | null, costUsd: number | null, costKnown: "
     "bool, models: Model[], entries: count, branches: count, bytes: count, state: text, pinned: bool, timeToLiveMs: "
     "count | null, problem: text | null, origin: Place | null, cwdMissing: bool, nextTurn?: NextTurn | null, "
     "metadata?: any}",
     "`state` is live, archived, unfinished, damaged or missing. `origin` is the entry that a fork continues from. "
     "`tokens` is null when no answer said what it used."},
    {"NextTurn",
     "{contextTokens: count, model: text | null, isWarm: bool, warmUsd: number | null, coldUsd: number | null}",
     "With `--long`: what the next turn of a session reads, and what that costs (docs/prices.md). `isWarm`: the "
     "provider's cache probably still holds it."},
    {"Tokens",
     "{inputTokens: count, outputTokens: count, cacheReadTokens: count, cacheWriteTokens: count, reasoningTokens: "
     "count, cacheWriteHourTokens: count, totalTokens: count}",
     ""},
    {"RecentSession",
     "{sessionId: text, title: text | null, key: text | null, lastActive: text, entries: count, bytes: count, state: "
     "text}",
     ""},
    {"Place", "{sessionId: text, entryId: text}", ""},
    {"Model",
     "{model: text, messages: count, inputTokens: count, outputTokens: count, cacheReadTokens: count, "
     "cacheWriteTokens: count, "
     "reasoningTokens: count, cacheWriteHourTokens: count, totalTokens: count, costUsd: number | null}",
     "The usage of one model. `costUsd` is null when the price of the model or the usage of its answers is unknown."},
    {"UsageRow",
     "{name: text, title: text | null, messages: count, withoutId: count, withoutUsage: count, inputTokens: count, "
     "outputTokens: count, "
     "cacheReadTokens: "
     "count, "
     "cacheWriteTokens: count, reasoningTokens: count, cacheWriteHourTokens: count, totalTokens: count, costUsd: "
     "number | null, costKnown: bool, "
     "models: "
     "Model[]}",
     "`withoutId` is the number of messages that may be counted twice, because they have no id that distinguishes a "
     "copy from a second answer. `withoutUsage` is the number of messages whose provider did not say what they used: "
     "their tokens are not included, and `costUsd` is null when there are no other messages."},
    {"Hit",
     "{sessionId: text, title: text | null, entryId: text | null, role: text, timestamp: text, score: number, excerpt: "
     "{text: text, "
     "found: bool}[], before?: Near[], after?: Near[]}",
     "`entryId` is null when the words are in the title; then `role` is title. With `-C`, `before` and `after` are "
     "the messages around the hit."},
    {"Near", "{entryId: text, role: text, text: text}", "A message, shortened."},
    {"Report",
     "{compatible: bool, warnings: any[], lossyFields: any[], lossyCounts: any, betas?: text[], messages: count, "
     "lossyMessages: count, restored: count, "
     "signatures: any[], findings: any[], findingsDropped: count}",
     "What a conversion between providers loses (docs/messages.md)."},
    {"BranchEnd", "{sessionId: text, entryId: text | null, entries: Entry[]}", ""},
    {"Command",
     "{name: text, summary: text, usage: text, details: text, examples: text, options: {name: text, syntax: text, "
     "help: text, required: bool, choices?: text[]}[]}",
     ""},
    {"Spent",
     "{inputTokens: count, outputTokens: count, cacheReadTokens: count, cacheWriteTokens: count, reasoningTokens: "
     "count, cacheWriteHourTokens?: count}",
     "The tokens of one answer or one turn."},
    {"Context",
     "{schema: 1, sessionId: text, headId: text | null, dialect: text, model?: text, provider?: text, thinkingLevel?: "
     "text, "
     "tokens: count, countedTokens: count, turnsLeftOut: count, messagesLeftOut: count, firstEntryId: text | "
     "null, summaryEntryId: text | null, request: any, report: Report}",
     "What a model gets."},
    {"RequestStep",
     "{schema: 1, entryId: text, messages: count, sameMessages: count, tokens: count, newTokens: count, extends: bool, "
     "reason: text | null}",
     "One request, compared with the request before it. `extends`: it begins with that request, byte for byte; "
     "otherwise `reason` says why not. `newTokens` are those of its `tokens` that come after the common beginning."},
    {"Repaired",
     "{schema: 1, sessionId: text, tornBytes: count, damagedLines: count, indexRebuilt: bool, removedFiles: any[], "
     "otherCopies: any[], appendable: bool}",
     "A session of the store."},
    {"CleanCopy",
     "{schema: 1, agent: text, file: text, messages: count, entries: count, recovered: count, unreadable: count, "
     "leftOut: count}",
     "A copy of another agent's file."},
    {"Migrated",
     "{schema: 1, sessionId: text, fromFormat: count, toFormat: count, entries: count, keptAs: text | null, problems: "
     "any[]}",
     "A session of the store."},
    {"MigratedFile", "{schema: 1, file: text, messages: count}",
     "The file of lines that was made beside the JSON document of an older MyAgents."},
    {"RemovedAttachments", "{schema: 1, removedAttachments: count}", ""},
});

constexpr auto kCommands = std::to_array<JsonShape>({
    {"bough", "{schema: 2, store: text, sessionCount: count, sessions: RecentSession[], attention: RecentSession[]}",
     "The answer of `bough` without a command."},
    {"error", "{error: {code: text, message: text, hint: text | null, retryable: bool, actualTail?: text}}",
     "What every command prints on stderr when it fails."},
    {"append",
     "{schema: 1, sessionId: text, lastAppendedEntryId: text, appendedCount: count, duplicateCount: count, tornBytes: "
     "count, "
     "problemCount: count}",
     ""},
    {"archive", "{schema: 1, sessionId: text, bytesBefore: count, bytesAfter: count}", "One line for each session."},
    {"branches",
     "{schema: 2, sessionId: text, branches: {leafId: text, firstOwnId: text, length: count, ownLength: count, "
     "timestamp: text, role: "
     "text | null, lastMessage: text | null, names: text[], isHead: bool, isOrphan: bool}[]}",
     ""},
    {"cat",
     "{id: text, parentId: text | null, type: text, timestamp: text, runId?: text, payload: any, meta?: any, seal?: "
     "text}",
     "The log as it is stored (docs/format.md). One line for each entry."},
    {"chat",
     "{schema: 1, event: text, sessionId?: text, model?: text, restoredTurns?: count, entryId?: text, toolCallId?: "
     "text, name?: text, text?: text, isError?: bool, waitMs?: count, durationMs?: count, usage?: Spent | null, "
     "withoutUsage?: count, toolCount?: "
     "count, contextTokens?: count}",
     "One line for each event of a turn (docs/agent.md)."},
    {"compat", "{schema: 1, sessionId: text, to: text, report: Report}", ""},
    {"completion", "{schema: 1, shell?: text, script?: text, candidates?: text[]}",
     "The script, or the words that can come next."},
    {"context", "Context | RequestStep",
     "`request` is in the form of the provider. With `--explain`, one line for each request instead."},
    {"copy", "{schema: 1, sessionId: text, present: count, copied: count}", "One line for each session."},
    {"diff",
     "{schema: 1, common: {count: count, sameEntries: count, lastEntryId: text | null}, left: BranchEnd, right: "
     "BranchEnd}",
     ""},
    {"doctor", "{schema: 1, findings: {health: text, what: text, advice: text | null}[]}", ""},
    {"erase",
     "{schema: 1, sessionId: text, erased: bool, matches?: {entryId: text, type: text, timestamp: text, bytes: "
     "count}[], timestamp?: text, "
     "entries?: {entryId: text, receiptId: text, sha256: text, bytes: count}[], rewritten?: text[], "
     "removedAttachments?: count, keptAttachments?: text[], unreached?: text[], notReached?: text[]}",
     "What was erased, or what would be erased."},
    {"export",
     "{schema: 1, sessionId: text, agent?: text, agentSessionId?: text, format?: text, file?: text, entries?: count, "
     "verbatim?: count, sameBytes?: bool, carried?: count, files?: any[], report: Report}",
     "One `file`; or `files`, when all branches are exported."},
    {"follow", "Entry", "One line for each entry."},
    {"fork", "{schema: 1, sessionId: text, parentSession: Place}", ""},
    {"heads",
     "{schema: 1, sessionId: text, heads: {entryId: text | null, timestamp: text | null, role: text | null, text: "
     "text}[]}",
     "The first one is the head itself; its `timestamp` is null."},
    {"help",
     "{schema: 1, groups?: {title: text, commands: any[]}[], options?: any[], command?: Command, format?: text, text?: "
     "text}",
     "All commands, one command, or the reference."},
    {"import",
     "{schema: 1, sessionId: text, agent: text, file: text, created: bool, appended: count, messages: count, "
     "recovered: count, "
     "unreadable: count, rewritten: bool, damage: any[]}",
     "One line for each file."},
    {"keep", "{schema: 1, state: text, file: text, command: text | null}",
     "The service that imports sessions of other agents, and what it runs."},
    {"label", "{schema: 1, sessionId: text, name: text, entryId: text | null}",
     "`entryId` is null when the label was removed."},
    {"labels", "{schema: 1, sessionId: text, labels: {name: text, entryId: text, timestamp: text, sessionId: text}[]}",
     ""},
    {"ls", "{schema: 2, store: text | null, sessionCount: count, sessions: Session[]}",
     "`sessionCount` is the number of all sessions that match. `store` is null when the sessions are those of other "
     "agents."},
    {"migrate", "Migrated | MigratedFile", "`Migrated` for a session of the store, `MigratedFile` for a file."},
    {"migrate-provider",
     "{schema: 1, sessionId: text, sourceSessionId: text, sourceEntryId: text, migratedFrom: text, migratedTo: text, "
     "migratedAt: text, "
     "nodes: count, verbatim: count, synthetic: count, report: Report}",
     ""},
    {"new", "{schema: 1, sessionId: text, format: count}", ""},
    {"prune",
     "{schema: 1, applied?: bool, moved?: count, bytes?: count, sessions?: {sessionId: text, title: text | null, "
     "lastActive: "
     "text, bytes: count, expired: text}[], removed?: count, files?: {agent: text, file: text, bytes: count, modified: "
     "text, sessionId?: text, removed: bool}[], sessionId?: text, entryId?: text, defaultTimeToLiveMs?: count | null}",
     "The expired sessions. With `--agents`: `files`, and how many were removed. Other forms of the command confirm "
     "what they set."},
    {"redact", "{schema: 1, sessionId: text, entryId: text, redactionId: text, by: text, reason: text}", ""},
    {"reindex", "{schema: 1, sessions: count, entries: count, notes: text[]}", ""},
    {"rename", "{schema: 1, sessionId: text, title: text | null}", "`title` is null when it was removed."},
    {"repair", "Repaired | CleanCopy | RemovedAttachments",
     "`Repaired` for a session of the store, `CleanCopy` for another agent's file, `RemovedAttachments` for the "
     "attachments."},
    {"replay", "{schema: 1, place: count, sinceStartMs: count, sincePreviousMs: count, failed: bool, entry: Entry}",
     "One line for each entry."},
    {"restore", "{schema: 1, sessionId: text, name: text, headId: text}", ""},
    {"resume",
     "{schema: 1, agent: text, agentSessionId: text, file: text, cwd: text | null, cwdMissing: bool, command: text, "
     "written: "
     "bool, carried: count, report: "
     "Report}",
     ""},
    {"rm", "{schema: 1, sessionId: text, trashId: text, bytes: count}", "One line for each session."},
    {"schema", "{schema?: 1, commands?: text[]}", "The list of commands; for one command, its JSON Schema."},
    {"search",
     "{schema: count, more?: bool, hits?: Hit[], sessions?: {sessionId: text, title: text | null, hitCount: count}[]}",
     "With `--sessions-with`: `sessions`; otherwise `hits` and `more`."},
    {"show", "Entry", "One line for each entry."},
    {"store", "{schema: 1, store: text, versionBefore: count | null, version: count | null}",
     "The versions are those of a database; a folder has none."},
    {"switch", "{schema: 1, sessionId: text, headId: text | null}", "`headId` is null before the first entry."},
    {"sync", "{schema: 1, sessionId: text, toLeft: count, toRight: count, notes: text[]}",
     "One line for each session."},
    {"torn",
     "{schema: 1, sessionId: text, file?: text, records?: {offset: count, bytes: count, timestamp: text, "
     "unreadableBytes: count, entries: any[]}[], appendedCount?: count, storedCount?: count, movedCount?: count, "
     "keptBytes?: count, droppedBytes?: count}",
     "The bytes that a crash left, or what was done with them."},
    {"trash",
     "{schema: 1, sessionId?: text, removed?: count, bytes?: count, trash?: {trashId: text, sessionId: text, title: "
     "text | null, removed: text, "
     "bytes: count}[]}",
     "The list, the session that was restored, or what was removed for good."},
    {"tree",
     "{schema: 2, sessionId: text, headId: text | null, branchCount: count, problemCount: count, entries: {entryId: "
     "text, parentId: text "
     "| null, sequence: count, depth: count, timestamp: text, role: text, text: text, failed: bool, labels: text[], "
     "problem: text | "
     "null}[]}",
     "All entries in the order of the log. Each names its parent, so nothing is nested."},
    {"usage",
     "{schema: count, by?: text, rows?: UsageRow[], total?: UsageRow, unknownModels?: text[], prices?: {model: text, "
     "input: number, "
     "output: number, cacheRead: number, cacheWrite: number}[]}",
     "With `--price-table`: `prices`, in dollars per million tokens; otherwise all other members."},
    {"verify",
     "{schema: 1, sessionId: text, entries: count, bytes: count, problemCount: count, noteCount: count, problems: "
     "any[]}",
     "One line for each session."},
    {"version", "{schema: 1, version: text, format: count}", "`format` is the format of new session files."},
});

}  // namespace

std::span<const JsonShape> commandShapes() {
  return kCommands;
}

std::span<const JsonShape> partShapes() {
  return kParts;
}

}  // namespace bough::cli
