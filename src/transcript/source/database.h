// Sessions that an agent keeps in an SQLite database (OpenClaw from 2026.7 on), read as if each were a file of lines.
//
// A session in a database is named `PATH.sqlite#ID`, what a name cannot hold as in a URL (`%2F`). Its bytes are the
// events in their order, one a line: a row of `transcript_events` has the JSON text (`event_json`) or the same text
// packed with zstd (`event_zstd`). Generations that were reset or deleted are in `session_transcript_archives`, each
// under the name of the file it would be.
//
// Nothing is ever written: not to the database, and no file beside it.
#pragma once

#include <bough/transcript.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transcript/source/record.h"

namespace bough::transcript {

struct DatabasePlace {
  std::string file;
  std::string session;
};

/// The parts of a name `PATH.sqlite#ID`; none for other names.
std::optional<DatabasePlace> placeInDatabase(const std::string& path);

/// Whether a file's name is that of a database.
bool isDatabaseName(std::string_view path);

/// All sessions in a database. Damaged when it cannot be read; Unsupported when it holds no transcripts.
Result<std::vector<FoundTranscript>> sessionsInDatabase(const std::string& file, std::string_view agent);

/// The lines of one session. NotFound when the database does not have it.
Result<std::unique_ptr<ByteSource>> openInDatabase(const DatabasePlace& place);

/// What the database says of a session: its key, and the agent's own record of it (a JSON object, or empty).
struct DatabaseFacts {
  std::string key;
  std::string record;
};
Result<DatabaseFacts> factsInDatabase(const DatabasePlace& place);

}  // namespace bough::transcript
