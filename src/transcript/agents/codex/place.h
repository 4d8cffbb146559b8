// Where Codex keeps its sessions, and how it names them.
#pragma once

#include <bough/transcript.h>

#include <string>
#include <string_view>
#include <vector>

namespace bough::transcript::codex {

std::vector<std::string> folders(const TranscriptHome& home);
bool isTranscript(std::string_view relative);
Result<TranscriptPlace> place(const TranscriptHome& home, const TranscriptFacts& facts);
/// Adds the name that session_index.jsonl has for the thread.
Result<void> addFactsBeside(const std::string& path, TranscriptFacts& facts);
/// Adds the thread's name to session_index.jsonl, when it has one.
Result<void> announce(const TranscriptHome& home, const TranscriptFacts& facts, const std::string& path);

}  // namespace bough::transcript::codex
