// The files that a prompt names: `@notes.txt`, `@"two words.png"`.
#pragma once

#include <string>
#include <vector>

#include "bough/agent/loop.h"

namespace bough::agent {

/// A prompt together with the files that it names.
struct ReadPrompt {
  UserMessage message;
  std::vector<std::string> notices{};  ///< For people: words that look like files but are not, and which files were
                                       ///< sent.
};

/// Reads a prompt and its files. `@` at the beginning of a word names a file. Text files, images (PNG, JPEG, GIF, WebP)
/// and PDFs each become a block of the message. A word that names no file stays as it is. Fails with InvalidArgument
/// for a file that is too large or of another type, and, unless `allowOutside`, for a file outside the working folder.
Result<ReadPrompt> readPromptFiles(const std::string& text, const WorkingFolder& folder, const std::string& home,
                                   bool allowOutside);

}  // namespace bough::agent
