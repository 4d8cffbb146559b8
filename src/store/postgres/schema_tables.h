// The steps that create the tables, from one version to the next. A step that was released is never changed.
#pragma once

#include <array>
#include <string_view>

namespace bough::postgres {

inline constexpr std::array<std::string_view, 2> kSchemaSteps{
    R"sql(
CREATE TABLE @.sessions (
  session_id text COLLATE "C" NOT NULL,
  life integer NOT NULL,
  trash_id text COLLATE "C",
  trashed_ms bigint,
  format integer NOT NULL,
  entry_count integer NOT NULL,
  bytes bigint NOT NULL,
  tail_id text NOT NULL,
  head_id text NOT NULL,
  head_seq integer NOT NULL,
  head_segment integer NOT NULL,
  head_depth integer NOT NULL,
  head_fresh boolean NOT NULL,
  origin_session text COLLATE "C",
  origin_entry text COLLATE "C",
  shared_count integer NOT NULL,
  fence bigint NOT NULL DEFAULT 0,
  version bigint NOT NULL DEFAULT 1,
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (session_id, life)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX sessions_alive ON @.sessions (session_id) WHERE trash_id IS NULL;
CREATE INDEX sessions_forks ON @.sessions (origin_session) WHERE origin_session IS NOT NULL;

CREATE TABLE @.entries (
  session_id text COLLATE "C" NOT NULL,
  life integer NOT NULL,
  seq integer NOT NULL,
  parent_seq integer NOT NULL,
  segment integer NOT NULL,
  depth integer NOT NULL,
  kind smallint NOT NULL,
  entry_id text COLLATE "C" NOT NULL,
  parent_id text COLLATE "C",
  type text,
  target_id text COLLATE "C",
  attachment text COLLATE "C",
  body bytea NOT NULL,
  PRIMARY KEY (session_id, life, seq),
  UNIQUE (session_id, life, entry_id)
);
CREATE INDEX entries_controls ON @.entries (session_id, life, seq) WHERE kind >= 12;

CREATE TABLE @.attachments (
  sha256 text COLLATE "C" NOT NULL,
  part integer NOT NULL,
  bytes bytea NOT NULL,
  held_until timestamptz,
  PRIMARY KEY (sha256, part)
);
ALTER TABLE @.attachments ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE @.settings (
  name text NOT NULL PRIMARY KEY,
  value text NOT NULL
);
)sql",
    // The function `append` compares the number of a turn.
    ""};

}  // namespace bough::postgres
