/* bough for every language: the library as functions of C99.
 *
 * Handles. A handle is a number behind a pointer type, never an address. A closed handle, an invalid one, or one of
 * another kind is refused with BOUGH_BAD_HANDLE; nothing is read through it. Closing NULL does nothing.
 *
 * Results. Every call that can fail returns BOUGH_OK or another code, and fills its out-parameters only when it returns
 * BOUGH_OK. bough_error() describes the last failure of a handle on the calling thread, until that thread's next call
 * with the handle. A thread remembers the failures of the 16 handles that failed last.
 *
 * Texts. A bough_text is UTF-8, not terminated, and may contain NUL bytes where the call allows them. A text that goes
 * in is borrowed for the duration of the call and read to its full size; a size of more than 2^40 bytes is refused.
 * Where a text may be absent, an empty one counts as absent, except as the id of bough_move_head() and as
 * `expected_tail`. So do not pass on the empty `parent_id` of a root: as a `branch` it loads every entry. A text that
 * comes out through a `bough_text*` belongs to the caller, who must free it with bough_free(). Texts inside a
 * bough_entry belong to the object that the entry came from.
 *
 * JSON. Trees, lists and reports are returned as one JSON object; each call documents its members. Later versions may
 * add members. Options that are passed as JSON must not have members that the call does not know.
 *
 * Threads. Any thread may make any call; calls on one cursor or follower are serialized. Closing a handle does not wait
 * for calls on other threads, which finish on their own copy, with two exceptions: bough_store_close() waits until
 * everything is written, and bough_follower_close() waits for its callback.
 *
 * Lifetime. Handles of sessions, cursors and followers keep what they need of their store, so handles may be closed in
 * any order. Every handle must be closed once, also after bough_store_close().
 *
 * Costs. An append is one write and one sync, or one round trip to a database. A load costs the lines that it returns.
 * The complete result of a call is in memory.
 *
 * fork(2). A child may use its parent's handles when the store is a folder: the library opens its files again in the
 * child. Calls on other stores return BOUGH_UNSUPPORTED in the child. A follower with a callback does not continue in
 * the child. A cursor or follower that another thread was using during the fork is refused in the child; only closing
 * it is allowed. While another thread is inside SQLite, for a list, a search or usage, fork waits until the statement
 * that it runs has ended.
 *
 * Callbacks run on a thread of the library. They may make any call except bough_follower_close() on their own follower.
 * A callback ends its follower when it returns 0, or when it throws (in C++). It must not leave with longjmp() or end
 * its thread.
 *
 * Compatibility. Numbers, structs and functions never change; new ones get new names. Structs of options carry their
 * size, so a program that was compiled with an older header keeps working. */
#ifndef BOUGH_C_H
#define BOUGH_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BOUGH_API __attribute__((visibility("default")))
#else
#define BOUGH_API
#endif

/* The version of this interface; it increases when something is added. */
#define BOUGH_C_VERSION 2
/* Returns the interface version of the linked library, to compare with the constant above. */
BOUGH_API uint32_t bough_c_version(void);
/* Returns the version of the library, such as "0.1.0". The text lives as long as the program. */
BOUGH_API const char* bough_library_version(void);

/* ---- Codes ---- */

enum {
  BOUGH_OK = 0,
  BOUGH_INVALID_ARGUMENT = 1, /* an id, an option or an entry breaks a rule; correct it and call again */
  BOUGH_NOT_FOUND = 2,        /* there is no such store, session, entry or attachment */
  BOUGH_ALREADY_EXISTS = 3,   /* a session with this id already exists */
  BOUGH_CONFLICT = 4,         /* expected_tail is not the tail (the error names the real one), or the turn is over */
  BOUGH_ID_CONFLICT = 5,      /* an entry with this id exists and has other content */
  BOUGH_HAS_FORKS = 6,        /* other sessions share the history of this session */
  BOUGH_DAMAGED = 7,          /* stored bytes are not what they should be and cannot be read */
  BOUGH_NEWER_FORMAT = 8,     /* a newer version of bough wrote this */
  BOUGH_MIGRATION_NEEDED = 9, /* the session has an older format: readable, not writable */
  BOUGH_READ_ONLY = 10,       /* the storage does not allow writing */
  BOUGH_NO_SPACE = 11,        /* the storage is full; nothing was written */
  BOUGH_BUSY = 12,            /* another process held a lock for too long, or the lease of another turn is running */
  BOUGH_POISONED = 13,        /* a sync failed, so the content of the disk is unknown; reopen the store */
  BOUGH_CLOSED = 14,          /* the store was closed */
  BOUGH_UNSUPPORTED = 15,     /* this kind of store does not support the call */
  BOUGH_IO = 16,              /* the operating system reported an error */
  BOUGH_UNAVAILABLE = 17,     /* the server cannot be reached; nothing was changed */
  BOUGH_TIMEOUT = 18,         /* the server did not answer in time; nothing was changed */
  BOUGH_OUTCOME_UNKNOWN = 19, /* the connection was lost before the answer; repeat with the same entry ids */
  BOUGH_BAD_HANDLE = 100,     /* the handle is closed, or of another kind */
  BOUGH_NO_MEMORY = 101,      /* memory ran out; a call that changes something may have done so already */
  BOUGH_INTERNAL = 102        /* a bug in bough */
};

/* Returns the name of a code, such as "not_found"; "unknown" for any other number. Lives as long as the program. */
BOUGH_API const char* bough_code_name(int32_t code);

/* ---- Texts and handles ---- */

typedef struct bough_text {
  const char* data; /* NULL: absent, where a call allows an absent text */
  size_t size;
} bough_text;

/* Returns a text made from a C string; an absent text for NULL. */
BOUGH_API bough_text bough_text_of(const char* text);
/* Frees a text that came out through a `bough_text*` parameter. */
BOUGH_API void bough_free(bough_text text);

typedef struct bough_store bough_store;
typedef struct bough_session bough_session;
typedef struct bough_entries bough_entries;
typedef struct bough_cursor bough_cursor;
typedef struct bough_follower bough_follower;

typedef struct bough_error_info {
  int32_t code;         /* BOUGH_OK when the handle's last call on this thread succeeded */
  int32_t retryable;    /* 1 when the same call may succeed later, unchanged */
  bough_text message;   /* like all texts here, borrowed until this thread's next call with the handle */
  bough_text hint;      /* what to do next; may be empty */
  bough_text tail;      /* with BOUGH_CONFLICT: the real tail */
  uint64_t batch_place; /* which entry of a batch the error is about, from 1; 0: none of them */
} bough_error_info;

/* Describes the last failure on this thread. `handle` is the handle that failed, or NULL for a call without a handle
 * and for a call that failed to create one, such as bough_store_open. Cannot fail. */
BOUGH_API void bough_error(const void* handle, bough_error_info* out);

/* ---- Stores ---- */

enum { BOUGH_SYNC = 0, BOUGH_BUFFERED = 1, BOUGH_STORE_DEFAULT = -1 };

typedef struct bough_store_options {
  uint32_t struct_size;
  int32_t durability; /* BOUGH_SYNC: a returned append survives a loss of power. BOUGH_BUFFERED: a flushed one */
  uint64_t buffered_entries; /* flush a session after this many buffered entries */
  int32_t buffered_ms;       /* and when an entry has waited this many milliseconds */
  int32_t create;            /* 1: create the store when it is missing */
  uint64_t attachment_bytes; /* larger payloads are stored as attachments */
  int32_t lock_timeout_ms;   /* return BOUGH_BUSY after waiting this long for another process */
} bough_store_options;

/* Sets the defaults. Call it before you set members. */
BOUGH_API void bough_store_options_init(bough_store_options* options, uint32_t struct_size);

/* Opens a store: a folder, a database address, or "memory:". An absent location means the default store. `options` may
 * be NULL. The caller must close the store. BOUGH_NOT_FOUND when there is no store and `create` is 0, or when a
 * database has no tables; BOUGH_INVALID_ARGUMENT when the location is not a folder, or begins with "~/". */
BOUGH_API int32_t bough_store_open(bough_text location, const bough_store_options* options, bough_store** out);
/* Makes everything durable, then closes the store and everything opened from it: calls on those handles return
 * BOUGH_CLOSED, and so do waiting followers. The handles must still be closed. After a retryable failure the store is
 * still open; call this again. After any other failure it is closed, and bough_error(store) says what was lost. */
BOUGH_API int32_t bough_store_close(bough_store* store);
/* Makes everything durable that was appended through this handle. Only useful with BOUGH_BUFFERED. */
BOUGH_API int32_t bough_store_flush(bough_store* store);
/* {"sessionIds":[...]} */
BOUGH_API int32_t bough_store_list_ids(bough_store* store, bough_text* json);

typedef struct bough_new_session {
  uint32_t struct_size;
  bough_text id;    /* absent: a new time-ordered id */
  bough_text key;   /* "agent:channel:peer"; may be absent */
  bough_text cwd;   /* may be absent */
  bough_text title; /* may be absent */
} bough_new_session;

BOUGH_API void bough_new_session_init(bough_new_session* options, uint32_t struct_size);

/* Creates a session, durably, and opens it. `options` may be NULL. BOUGH_ALREADY_EXISTS when a session has that id.
 * After BOUGH_NO_MEMORY the session may exist; if the caller chose the id, another call with that id tells. */
BOUGH_API int32_t bough_session_create(bough_store* store, const bough_new_session* options, bough_session** out);
/* Opens a session by its id. BOUGH_NOT_FOUND when there is none. */
BOUGH_API int32_t bough_session_open(bough_store* store, bough_text id, bough_session** out);
BOUGH_API void bough_session_close(bough_session* session);
/* The session's id. */
BOUGH_API int32_t bough_session_id(bough_session* session, bough_text* id);
/* {"sessionId","entryCount","tailId","headId","origin":{"sessionId","entryId"}|null,"archived","bytes","problemCount"}
 */
BOUGH_API int32_t bough_session_state(bough_session* session, bough_text* json);

/* ---- Entries ---- */

enum {
  BOUGH_ENTRY_REDACTED = 1, /* on load: the payload is hidden, and says by whom and why */
  BOUGH_ENTRY_ROOT = 2      /* on load: the entry has no parent. On append: make it a root */
};

typedef struct bough_entry {
  uint32_t flags;
  bough_text id;        /* append: absent for a new id. With an id of the caller's own, an append can be repeated */
  bough_text parent_id; /* append: absent for the head */
  bough_text type;      /* "message", "custom", ... */
  bough_text timestamp; /* append: absent for the current time */
  bough_text run_id;    /* may be absent */
  bough_text payload;   /* a JSON object */
  bough_text meta;      /* a JSON object; may be absent */
  bough_text extra;     /* members that bough does not know, as "name":value,...; may be absent */
} bough_entry;

typedef struct bough_append_options {
  uint32_t struct_size;
  int32_t durability;       /* BOUGH_STORE_DEFAULT, BOUGH_SYNC or BOUGH_BUFFERED */
  bough_text expected_tail; /* absent: not checked. Otherwise BOUGH_CONFLICT unless this is the tail */
  uint64_t turn;            /* 0: not checked. Otherwise BOUGH_CONFLICT when a later turn has begun; see below */
} bough_append_options;

BOUGH_API void bough_append_options_init(bough_append_options* options, uint32_t struct_size);

typedef struct bough_appended {
  uint64_t appended;
  uint64_t duplicates; /* entries that were already stored, with the same content */
} bough_appended;

/* Appends a batch of 1 to 1,000,000 entries: either all of it is stored, or nothing. `options` and `counts` may be
 * NULL. `last_id` receives the id of the last entry of the batch. With BOUGH_INVALID_ARGUMENT and BOUGH_ID_CONFLICT,
 * batch_place tells which entry is wrong. After BOUGH_NO_MEMORY nothing was stored. After BOUGH_OUTCOME_UNKNOWN and
 * BOUGH_POISONED the batch may be stored: append the same entries with the same ids again, after BOUGH_POISONED in a
 * store that was reopened. */
BOUGH_API int32_t bough_append(bough_session* session, const bough_entry* entries, size_t count,
                               const bough_append_options* options, bough_appended* counts, bough_text* last_id);

/* The result for one entry. */
typedef struct bough_appended_one {
  uint32_t appended; /* 1: stored now; 0: already stored, with the same content */
  uint32_t id_size;
  char id[136]; /* terminated */
} bough_appended_one;

/* Appends one entry. Its id needs no bough_free(). This is the shortest way to a durable line. */
BOUGH_API int32_t bough_append_one(bough_session* session, const bough_entry* entry,
                                   const bough_append_options* options, bough_appended_one* out);

/* Begins a turn. `turn` receives a number greater than that of every earlier turn. From now on, appends that carry an
 * earlier number are refused, from any process or machine. */
BOUGH_API int32_t bough_begin_turn(bough_session* session, uint64_t* turn);
/* Begins a turn that holds the session for `lease_ms` (1 to 3,600,000) by the store's clock. While the lease of another
 * turn is running, returns BOUGH_BUSY at once. So two agents on one session, on any machines, notice each other before
 * either writes. The lease of a process that died ends by itself. bough_begin_turn ignores leases and takes the session
 * over. */
BOUGH_API int32_t bough_lease_turn(bough_session* session, uint64_t lease_ms, uint64_t* turn);
/* Makes the lease of a turn end `lease_ms` from now; 0 ends it. BOUGH_CONFLICT when a later turn has begun. */
BOUGH_API int32_t bough_renew_turn(bough_session* session, uint64_t turn, uint64_t lease_ms);

typedef struct bough_load_options {
  uint32_t struct_size;
  int32_t show_redacted; /* 1: return redacted payloads as they were stored, for audits */
  uint64_t from;         /* the first sequence; with a branch, the first place on it */
  uint64_t limit;        /* the maximum number of entries */
  uint64_t limit_bytes;  /* stop after the entry that brings the payloads to this size */
  uint64_t last;         /* only the last n; 0: all */
  bough_text branch;     /* absent: all entries, in log order. Otherwise the branch that ends in this entry */
  bough_text type;       /* absent: all types */
} bough_load_options;

BOUGH_API void bough_load_options_init(bough_load_options* options, uint32_t struct_size);

/* Loads entries. `options` may be NULL. The caller must close the result. A damaged or lost entry is returned as an
 * entry of type "unreadable". BOUGH_NOT_FOUND when `branch` is not an entry of the session. */
BOUGH_API int32_t bough_load(bough_session* session, const bough_load_options* options, bough_entries** out);
/* Loads one entry. BOUGH_NOT_FOUND when the session has no entry with that id. */
BOUGH_API int32_t bough_load_entry(bough_session* session, bough_text id, bough_entries** out);
/* Loads the conversation from its root to an entry, without control entries; with an absent `id`, up to the head. */
BOUGH_API int32_t bough_load_history(bough_session* session, bough_text id, bough_entries** out);

/* Returns the number of entries; 0 for a closed handle. */
BOUGH_API size_t bough_entries_count(bough_entries* entries);
/* Returns one entry; its texts are valid until the entries are closed. */
BOUGH_API int32_t bough_entries_get(bough_entries* entries, size_t index, bough_entry* out);

/* All entries at once, for bindings: one text after the other, eight texts per entry, in the order of bough_entry. Text
 * t of entry i ends at ends[8 * i + t] and begins where the previous text ends. */
typedef struct bough_packed {
  size_t count;
  const char* bytes;
  size_t size;
  const uint64_t* ends;
  const uint32_t* flags; /* one per entry */
} bough_packed;
BOUGH_API int32_t bough_entries_packed(bough_entries* entries, bough_packed* out);
BOUGH_API void bough_entries_close(bough_entries* entries);

/* Opens a cursor, which reads a session in parts. `position`: absent for the beginning, or the result of an earlier
 * bough_cursor_position. */
BOUGH_API int32_t bough_cursor_open(bough_session* session, bough_text position, bough_cursor** out);
/* Returns the next entries, at most `count` (at least 1), and fewer when their payloads reach 64 MiB. No entries means
 * the end; later calls return what was appended since. After a failure the position of a cursor or follower is
 * unchanged. */
BOUGH_API int32_t bough_cursor_next(bough_cursor* cursor, size_t count, bough_entries** out);
BOUGH_API int32_t bough_cursor_position(bough_cursor* cursor, bough_text* position);
BOUGH_API void bough_cursor_close(bough_cursor* cursor);

/* Follows a session: returns entries as they are appended, by any process. */
BOUGH_API int32_t bough_follower_open(bough_session* session, bough_text position, bough_follower** out);
/* Waits for entries, and returns at most 256. Returns none after the timeout (-1: wait forever) or after
 * bough_follower_stop. BOUGH_INVALID_ARGUMENT for a follower that has a callback. */
BOUGH_API int32_t bough_follower_next(bough_follower* follower, int32_t timeout_ms, bough_entries** out);
BOUGH_API int32_t bough_follower_position(bough_follower* follower, bough_text* position);
/* Ends a wait that is under way, and all later ones. Any thread may call it. */
BOUGH_API int32_t bough_follower_stop(bough_follower* follower);
/* Receives entries, which the callback must close, or NULL and a code when following has failed and ended. Returns 0 to
 * end. */
typedef int32_t (*bough_follow_callback)(void* data, bough_entries* entries, int32_t code);
/* Calls `callback` for new entries, from a thread of the library, until it returns 0 or the follower is stopped or
 * closed. Then calls `destroy` (may be NULL) with `data` on that thread; not if this call itself fails. Can be called
 * once per follower. */
BOUGH_API int32_t bough_follower_start(bough_follower* follower, bough_follow_callback callback, void* data,
                                       void (*destroy)(void*));
/* Stops the follower and closes it. Waits for a callback that is running. */
BOUGH_API void bough_follower_close(bough_follower* follower);

/* ---- Head, labels, redaction, forks ---- */

/* Moves the head, durably. An absent id moves it before the first entry; an empty id is refused. BOUGH_INVALID_ARGUMENT
 * when the entry is not part of the conversation. */
BOUGH_API int32_t bough_move_head(bough_session* session, bough_text entry_id);
BOUGH_API int32_t bough_set_title(bough_session* session, bough_text title);
/* Gives an entry a name, durably. If another entry has a label of that name, the label moves. A name is 1 to 128 bytes
 * of printable text without `~`, does not begin or end with a blank, does not begin with `@`, and is not `-`. */
BOUGH_API int32_t bough_label_set(bough_session* session, bough_text entry_id, bough_text name);
/* BOUGH_NOT_FOUND when there is no such label. */
BOUGH_API int32_t bough_label_remove(bough_session* session, bough_text name);
/* {"labels":[{"name","entryId","timestamp","sessionId"}]} */
BOUGH_API int32_t bough_label_list(bough_session* session, bough_text* json);
/* Hides an entry's payload from every view, durably; the log keeps the payload. `by` and `reason` must not be empty.
 * BOUGH_INVALID_ARGUMENT for a header, a head entry or a redaction. */
BOUGH_API int32_t bough_redact(bough_session* session, bough_text entry_id, bough_text by, bough_text reason);
/* Creates a session that continues from an entry and shares its history, and opens it. `options` may be NULL. Costs the
 * same for a history of any size. BOUGH_INVALID_ARGUMENT when the entry is not part of the conversation. */
BOUGH_API int32_t bough_fork(bough_session* session, bough_text entry_id, const bough_new_session* options,
                             bough_session** out);

/* ---- The tree ---- */

/* {"headId"|null,"entries":[{"entryId","parentId"|null,"role","timestamp","text","labels":[...]}]}: every entry of the
 * conversation in log order, with its text as one line. */
BOUGH_API int32_t bough_tree(bough_session* session, bough_text* json);
/* {"branches":[{"leafId","firstOwnId","length","timestamp","role","lastMessage","labels":[...],"isHead"}]} */
BOUGH_API int32_t bough_branches(bough_session* session, bough_text* json);
/* Compares two branches, each named by its last entry; absent: the head. `other` may be the same session.
 * {"common":[ids],"sameEntries":n,"left":[ids],"right":[ids]} */
BOUGH_API int32_t bough_diff(bough_session* session, bough_text entry_id, bough_session* other,
                             bough_text other_entry_id, bough_text* json);

/* ---- Messages ---- */

/* Builds what a model gets. `options_json` may be absent; its members: "dialect" ("anthropic", "openai-chat",
 * "openai-responses", "gemini", "bough"), "at", "budgetTokens", "keepPendingCalls", "strict", "systemPrompt", "tools",
 * "thinkingAsText".
 * {"dialect","headId","model","system","tools":[...]|null,"messages":[...],"tokens","turnsLeftOut","report":{...}} */
BOUGH_API int32_t bough_context(bough_session* session, bough_text options_json, bough_text* json);
/* {"calls":[{"entryId","toolCallId","name","input","started"}]}: tool calls without a result on the head's branch. */
BOUGH_API int32_t bough_unfinished_calls(bough_session* session, bough_text* json);
/* Converts a list of messages or a request body between dialects. `way_back`: absent, or the "wayBack" of an earlier
 * conversion; with it, everything unedited comes back byte for byte.
 * {"document":"...","wayBack":"...","report":{...}}: document and wayBack are texts that hold JSON. */
BOUGH_API int32_t bough_convert(bough_text document, bough_text from, bough_text to, bough_text way_back,
                                bough_text* json);
/* Makes a fork whose messages are in another dialect, and opens it. `report` may be NULL. BOUGH_UNSUPPORTED for "bough"
 * and "plain". */
BOUGH_API int32_t bough_migrate_provider(bough_session* session, bough_text dialect, bough_session** out,
                                         bough_text* report);

/* ---- Lists, search, usage ----
 *
 * A process that may not update the catalog, such as a database role that can only read, gets answers from what was
 * read before. The result then has a member "outOfDate", a text that says why, and newer entries are missing. */

/* Returns sessions. `query_json` may be absent; its members: "agent", "key", "cwd", "title", "sinceMs", "untilMs",
 * "limit", "skip", and "after": the last row of the previous page, of which "activeMs" and "sessionId" are used. When
 * sessions are added or removed between two pages, "after" neither skips nor repeats a row; "skip" may.
 * {"sessions":[{"sessionId","key","cwd","title","createdMs","activeMs","entries","userMessages","assistantMessages",
 * "branches","condition","inputTokens","outputTokens"}]} */
BOUGH_API int32_t bough_list(bough_store* store, bough_text query_json, bough_text* json);
/* Searches. Members of `query_json`: those of bough_list except "skip" and "after", and "session", "roles" (a list).
 * {"hits":[{"sessionId","title","entryId","role","timestampMs","excerpt"}]} */
BOUGH_API int32_t bough_search(bough_store* store, bough_text words, bough_text query_json, bough_text* json);
/* Sums up usage. Members of `query_json`: "by" ("day", "week", "month", "session", "key", "model"), "sinceMs",
 * "untilMs", "session".
 * {"rows":[{"name","messages","withoutUsage","inputTokens","outputTokens","cacheReadTokens","cacheWriteTokens",
 * "costUsd","costKnown"}],"total":{...}}. "withoutUsage" counts the messages without recorded usage: the sums lack
 * them, and "costKnown" is false. */
BOUGH_API int32_t bough_usage(bough_store* store, bough_text query_json, bough_text* json);

/* ---- Attachments ---- */

/* Stores bytes once, by content, durably. `sha256` receives 64 hex digits. The attachment is unused until an entry
 * contains these digits. */
BOUGH_API int32_t bough_attachment_put(bough_store* store, bough_text bytes, bough_text* sha256);
/* Returns all bytes at once. BOUGH_NOT_FOUND when they are missing, BOUGH_DAMAGED when they do not match their digest.
 */
BOUGH_API int32_t bough_attachment_get(bough_store* store, bough_text sha256, bough_text* bytes);
/* {"unused":[...]}: attachments that no entry names, and leftovers of an interrupted write. Reads every session. */
BOUGH_API int32_t bough_attachment_unused(bough_store* store, bough_text* json);
/* Removes those of the given attachments that are still unused. `request_json` has the form of the result above.
 * {"removed"} */
BOUGH_API int32_t bough_attachment_remove(bough_store* store, bough_text request_json, bough_text* json);

/* ---- Upkeep ---- */

/* {"entries","bytes","problemCount","noteCount","problems":[{"kind","offset","bytes","message"}]} */
BOUGH_API int32_t bough_verify(bough_session* session, bough_text* json);
/* {"tornBytes","damagedLines","indexRebuilt"} */
BOUGH_API int32_t bough_repair(bough_session* session, bough_text* json);
/* Converts a session of an older format to the current one. {"fromFormat","toFormat","entries","keptAs"} */
BOUGH_API int32_t bough_migrate(bough_session* session, bough_text* json);
/* Compresses a session; it can be read as before. {"bytesBefore","bytesAfter"} */
BOUGH_API int32_t bough_archive(bough_session* session, bough_text* json);
/* {"sessionIds":[...]}: the sessions that share the history of this one. */
BOUGH_API int32_t bough_forks(bough_session* session, bough_text* json);
/* Gives a fork its own copy of the history that it shares. With `rest` 1, for a fork whose original session is lost:
 * the part of the history that is left becomes its own. */
BOUGH_API int32_t bough_detach(bough_session* session, int32_t rest);
/* Returns the bytes after the last complete batch that a crash or damage left, and that an append or repair moved
 * aside.
 * {"fileBytes","records":[{"offset","bytes","timestamp","entries":[{"entryId","type"}],"unreadableBytes"}]} */
BOUGH_API int32_t bough_torn(bough_session* session, bough_text* json);
/* Appends the intact entries among them. {"appendedCount","storedCount","movedCount","keptBytes"} */
BOUGH_API int32_t bough_torn_put_back(bough_session* session, bough_text* json);
/* Deletes them, if their size is still the "fileBytes" of bough_torn; otherwise BOUGH_CONFLICT. */
BOUGH_API int32_t bough_torn_drop(bough_session* session, uint64_t file_bytes);

/* Moves a session to the trash. `trash_id` receives its name there. BOUGH_HAS_FORKS when others share its history. */
BOUGH_API int32_t bough_trash(bough_store* store, bough_text session_id, bough_text* trash_id);
/* {"trashed":[{"trashId","sessionId","removedMs","bytes"}]} */
BOUGH_API int32_t bough_trash_list(bough_store* store, bough_text* json);
/* Restores a session. BOUGH_ALREADY_EXISTS when another session has its id; BOUGH_NOT_FOUND when it is not in the
 * trash, or when what it continues is not in the store. */
BOUGH_API int32_t bough_trash_restore(bough_store* store, bough_text trash_id);
/* Removes a session from the trash forever. BOUGH_NOT_FOUND when it is not there; BOUGH_HAS_FORKS when a session that
 * stays shares its history. */
BOUGH_API int32_t bough_trash_remove(bough_store* store, bough_text trash_id);
/* Removes the payloads of entries forever, from every file of the store. The tree stays, and a receipt replaces each
 * payload. Members of `request_json`: "entryIds" (a list), "by", "reason". Cannot reach other stores, exports, backups,
 * or programs that have read the entry.
 * {"timestamp","entries":[{"entryId","receiptId","sha256","bytes"}],"rewritten":[ids],"removedAttachments",
 * "keptAttachments":[...],"unreached":[...]}: `unreached` names files that hold a payload and could not be rewritten.
 */
BOUGH_API int32_t bough_erase(bough_session* session, bough_text request_json, bough_text* json);

#ifdef __cplusplus
}
#endif

#endif
