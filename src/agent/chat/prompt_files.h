// The files that a prompt names: `@notes.txt`, `@"two words.png"`.
#pragma once

#include <string>
#include <vector>

#include "bough/agent/loop.h"

namespace bough::agent {

/// A prompt with the files that it names.
struct ReadPrompt {
  UserMessage message;
  std::vector<std::string> notices{};  ///< For people: what looks like a file and is none, and what was sent.
};

/// Reads a prompt. `@` at the beginning of a word names a file: text goes into the message as a block of its own, so do
/// images (PNG, JPEG, GIF, WebP) and PDFs. A word that names no file stays what it is. InvalidArgument for a file that
/// is too large or neither of these, and, unless `outside`, for a file outside of the working folder.
Result<ReadPrompt> readPromptFiles(const std::string& text, const WorkingFolder& folder, const std::string& home,
                                   bool outside);

}  // namespace bough::agent
