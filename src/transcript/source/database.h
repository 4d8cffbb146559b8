// Sessions that an agent keeps in an SQLite database (OpenClaw since 2026.7), read as if each were a file of lines.
//
// A session in a database is named `PATH.sqlite#ID`; characters that are not allowed in a name are escaped as in a URL
// (`%2F`). Its bytes are the events in order, one per line: a row of `transcript_events` has the JSON text
// (`event_json`), or the same text compressed with zstd (`event_zstd`). Generations that were reset or deleted are in
// `session_transcript_archives`, each under the file name that it would have.
//
// Nothing is ever written: neither to the database nor to a file next to it.
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

/// Returns the parts of a name `PATH.sqlite#ID`; std::nullopt for any other name.
std::optional<DatabasePlace> placeInDatabase(const std::string& path);

/// Returns whether a file name is that of a database.
bool isDatabaseName(std::string_view path);

/// Returns all sessions in a database. Damaged when the database cannot be read; Unsupported when it has no
/// transcripts.
Result<std::vector<FoundTranscript>> sessionsInDatabase(const std::string& file, std::string_view agent);

/// Opens the lines of one session. NotFound when the database does not have it.
Result<std::unique_ptr<ByteSource>> openInDatabase(const DatabasePlace& place);

/// What the database says about a session: its key, and the agent's own record of it (a JSON object, or empty).
struct DatabaseFacts {
  std::string key;
  std::string record;
};
Result<DatabaseFacts> factsInDatabase(const DatabasePlace& place);

}  // namespace bough::transcript
