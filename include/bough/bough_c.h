/* bough for every language: the library behind functions of C99.
 *
 * Handles. A handle is a number behind a pointer type, never an address. A closed handle, a wrong one or one of another
 * kind is refused with BOUGH_BAD_HANDLE; nothing is read through it. Closing NULL does nothing.
 *
 * Results. Every call that can fail returns BOUGH_OK or another code and fills its out-parameters only when it returns
 * BOUGH_OK. bough_error() describes the last failure of a handle on the calling thread, until that thread's next call
 * with the handle. A thread remembers this of the 16 handles that failed last.
 *
 * Texts. A bough_text is UTF-8, not terminated, and may hold NUL bytes where the call allows them. What goes in is
 * borrowed for the call, and read to its whole size; a size of more than 2^40 bytes is refused. What comes out of
 * `bough_text*` is owned by the caller: free it with bough_free(). Texts inside a bough_entry belong to the object they
 * came from.
 *
 * JSON. Trees, lists and reports come as one JSON object; each call says which members it has. Later versions may add
 * members. Options that are given as JSON refuse members that the call does not know.
 *
 * Threads. All calls may come from any thread; calls on one cursor or follower are serialized. Closing a handle waits
 * for no other call: those that are under way on other threads finish on their own copy. Two closes do wait:
 * bough_store_close() for what it writes, bough_follower_close() for its callback.
 *
 * Lifetime. A handle of a session, cursor or follower keeps what it needs of its store: the handles may be closed in
 * any order. Every handle is closed once, also after bough_store_close().
 *
 * Costs. An append is one write and one sync, or one round trip to a database; a load costs the lines that it returns.
 * What a call returns is in memory at once.
 *
 * fork(2). A child may use the handles of its parent when the store is a folder: the library opens its files again
 * there. Calls on other stores return BOUGH_UNSUPPORTED in the child. A follower with a callback does not continue in
 * the child, and a cursor or follower that another thread was using at that moment is refused there; closing it is
 * allowed. fork waits while another thread is inside SQLite, for a list, a search or usage: one statement at most.
 *
 * Callbacks run on a thread of the library. They may call everything but bough_follower_close() of their own follower.
 * A callback ends its follower when it returns 0, or when it throws (in C++).
 *
 * Growth. Numbers, structs and functions below never change; new ones get new names. Structs of options carry their
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

/* The version of this interface; it grows when something is added. */
#define BOUGH_C_VERSION 2
/* The version that the linked library has, to compare with the one above. */
BOUGH_API uint32_t bough_c_version(void);
/* The version of the library, such as "0.1.0". Lives as long as the program. */
BOUGH_API const char* bough_library_version(void);

/* ---- Codes ---- */

enum {
  BOUGH_OK = 0,
  BOUGH_INVALID_ARGUMENT = 1, /* an id, an option or an entry breaks a rule; correct it and call again */
  BOUGH_NOT_FOUND = 2,        /* no such store, session, entry or attachment */
  BOUGH_ALREADY_EXISTS = 3,   /* a session of that id exists already */
  BOUGH_CONFLICT = 4,         /* expected_tail is not the tail; the error names the real one */
  BOUGH_ID_CONFLICT = 5,      /* an entry of that id exists with other content */
  BOUGH_HAS_FORKS = 6,        /* other sessions share this one's history */
  BOUGH_DAMAGED = 7,          /* stored bytes cannot be read as what they should be */
  BOUGH_NEWER_FORMAT = 8,     /* a newer version of bough wrote this */
  BOUGH_MIGRATION_NEEDED = 9, /* the session is in an older format: readable, not writable */
  BOUGH_READ_ONLY = 10,       /* the storage does not let us write */
  BOUGH_NO_SPACE = 11,        /* the storage is full; nothing was written */
  BOUGH_BUSY = 12,            /* another process holds the session's lock for too long, or a lease */
  BOUGH_POISONED = 13,        /* a sync failed, so what the disk holds is unknown; open the store again */
  BOUGH_CLOSED = 14,          /* the store was closed */
  BOUGH_UNSUPPORTED = 15,     /* this kind of store cannot do that */
  BOUGH_IO = 16,              /* the operating system refused */
  BOUGH_UNAVAILABLE = 17,     /* the server cannot be reached; nothing was done */
  BOUGH_TIMEOUT = 18,         /* the server did not answer in time; nothing was done */
  BOUGH_OUTCOME_UNKNOWN = 19, /* the connection was lost before the answer; repeat with the same entry ids */
  BOUGH_BAD_HANDLE = 100,     /* the handle is closed, or is not one of this kind */
  BOUGH_NO_MEMORY = 101,      /* memory ran out; a call that changes something may have done so before */
  BOUGH_INTERNAL = 102        /* a bug in bough */
};

/* "not_found" and so on; "unknown" for a number that is none of the above. Lives as long as the program. */
BOUGH_API const char* bough_code_name(int32_t code);

/* ---- Texts and handles ---- */

typedef struct bough_text {
  const char* data; /* NULL: absent, where a call says that a text may be absent */
  size_t size;
} bough_text;

/* A text from a C string, or an absent one from NULL. */
BOUGH_API bough_text bough_text_of(const char* text);
/* Frees what came out of a `bough_text*` parameter. */
BOUGH_API void bough_free(bough_text text);

typedef struct bough_store bough_store;
typedef struct bough_session bough_session;
typedef struct bough_entries bough_entries;
typedef struct bough_cursor bough_cursor;
typedef struct bough_follower bough_follower;

typedef struct bough_error_info {
  int32_t code;         /* BOUGH_OK when the handle's last call on this thread did not fail */
  int32_t retryable;    /* 1 when the same call may succeed later, unchanged */
  bough_text message;   /* borrowed until this thread's next call with the handle, as all texts here */
  bough_text hint;      /* what to do next; may be empty */
  bough_text tail;      /* with BOUGH_CONFLICT: the real tail */
  uint64_t batch_place; /* which entry of a batch it is about, from 1; 0: none of them */
} bough_error_info;

/* Describes the last failure on this thread. `handle` is the handle that failed, or NULL for a call that had none or
 * made none, as bough_store_open. Cannot fail. */
BOUGH_API void bough_error(const void* handle, bough_error_info* out);

/* ---- Stores ---- */

enum { BOUGH_SYNC = 0, BOUGH_BUFFERED = 1, BOUGH_STORE_DEFAULT = -1 };

typedef struct bough_store_options {
  uint32_t struct_size;
  int32_t durability; /* BOUGH_SYNC: an append survives a loss of power when it returns. BOUGH_BUFFERED: at flush */
  uint64_t buffered_entries; /* flush a session after this many buffered entries */
  int32_t buffered_ms;       /* and after this many milliseconds */
  int32_t create;            /* 1: make the store when it is missing */
  uint64_t attachment_bytes; /* larger payloads are stored as attachments */
  int32_t lock_timeout_ms;   /* BOUGH_BUSY after waiting this long for another process */
} bough_store_options;

/* Fills in the defaults. Call it before setting members. */
BOUGH_API void bough_store_options_init(bough_store_options* options, uint32_t struct_size);

/* Opens a store: a folder, a database's address, or "memory:". An absent location is the default one. `options` may be
 * NULL. Close the store when done. BOUGH_NOT_FOUND when there is no store and `create` is 0, or no tables in a
 * database; BOUGH_INVALID_ARGUMENT when the location is not a folder, or begins with "~/". */
BOUGH_API int32_t bough_store_open(bough_text location, const bough_store_options* options, bough_store** out);
/* Makes everything durable and closes the store and what was opened from it: calls on those handles return
 * BOUGH_CLOSED, also followers that wait. Close the handles all the same. After a retryable failure the store is still
 * open; call it again. After another failure it is closed, and bough_error(store) says what is lost. */
BOUGH_API int32_t bough_store_close(bough_store* store);
/* Makes everything durable that was appended through this handle. Of use with BOUGH_BUFFERED alone. */
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

/* Makes a session, durably, and opens it. `options` may be NULL. BOUGH_ALREADY_EXISTS when there is one of that id.
 * After BOUGH_NO_MEMORY it may have been made: of an id of one's own, the next call says so. */
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
  BOUGH_ENTRY_REDACTED = 1, /* loaded: the payload is hidden, and says by whom and why */
  BOUGH_ENTRY_ROOT = 2      /* the entry has no parent. On append: it shall have none */
};

typedef struct bough_entry {
  uint32_t flags;
  bough_text id;        /* append: absent for a new one. With an id of one's own an append can be repeated safely */
  bough_text parent_id; /* append: absent for the head */
  bough_text type;      /* "message", "custom", ... */
  bough_text timestamp; /* append: left out for the present time */
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
  uint64_t duplicates; /* entries that were stored before, with the same content */
} bough_appended;

/* Appends a batch, at least one entry and at most 1,000,000: all of it is stored, or nothing. `options` and `counts`
 * may be NULL. `last_id` is the id of the last entry of the batch. BOUGH_INVALID_ARGUMENT and BOUGH_ID_CONFLICT name
 * the entry in batch_place. After BOUGH_NO_MEMORY nothing was stored. After BOUGH_OUTCOME_UNKNOWN it may be stored:
 * append the same entries with the same ids again; after BOUGH_POISONED open the store again before. */
BOUGH_API int32_t bough_append(bough_session* session, const bough_entry* entries, size_t count,
                               const bough_append_options* options, bough_appended* counts, bough_text* last_id);

/* What became of one entry. */
typedef struct bough_appended_one {
  uint32_t appended; /* 1; 0 when it was stored before, with the same content */
  uint32_t id_size;
  char id[136]; /* terminated */
} bough_appended_one;

/* The same for one entry, whose id needs no bough_free(): the shortest way to a durable line. */
BOUGH_API int32_t bough_append_one(bough_session* session, const bough_entry* entry,
                                   const bough_append_options* options, bough_appended_one* out);

/* Begins a turn. `turn` is greater than that of every turn before; appends that name an earlier one are refused from
 * now on, whatever process or machine they come from. */
BOUGH_API int32_t bough_begin_turn(bough_session* session, uint64_t* turn);
/* Begins a turn that holds the session for `lease_ms` (1 to 3,600,000) by the store's clock: BOUGH_BUSY, at once, while
 * the lease of another turn runs. So two agents on one session, on whatever machines, see one another before either
 * writes. The lease of a process that died ends by itself. bough_begin_turn asks nobody and takes the session over. */
BOUGH_API int32_t bough_lease_turn(bough_session* session, uint64_t lease_ms, uint64_t* turn);
/* Lets the lease of a turn end `lease_ms` from now; 0 ends it. BOUGH_CONFLICT when a later turn has begun. */
BOUGH_API int32_t bough_renew_turn(bough_session* session, uint64_t turn, uint64_t lease_ms);

typedef struct bough_load_options {
  uint32_t struct_size;
  int32_t show_redacted; /* 1: payloads as they were stored, for audits */
  uint64_t from;         /* the first sequence; with a branch, the first place on it */
  uint64_t limit;        /* how many at most */
  uint64_t limit_bytes;  /* stop after the entry that brings the payloads to this size */
  uint64_t last;         /* only the last n; 0: all */
  bough_text branch;     /* absent: all entries, in log order. Otherwise the branch that ends in this entry */
  bough_text type;       /* absent: all types */
} bough_load_options;

BOUGH_API void bough_load_options_init(bough_load_options* options, uint32_t struct_size);

/* Loads entries. `options` may be NULL. Close the result when done. What is damaged or lost is an entry of the type
 * "unreadable". BOUGH_NOT_FOUND when `branch` names no entry of the session. */
BOUGH_API int32_t bough_load(bough_session* session, const bough_load_options* options, bough_entries** out);
/* Loads one entry. BOUGH_NOT_FOUND when the session has none of that id. */
BOUGH_API int32_t bough_load_entry(bough_session* session, bough_text id, bough_entries** out);
/* Loads the conversation from its root to an entry, without control entries; to the head when `id` is absent. */
BOUGH_API int32_t bough_load_history(bough_session* session, bough_text id, bough_entries** out);

/* 0 for a handle that is closed. */
BOUGH_API size_t bough_entries_count(bough_entries* entries);
/* One entry; its texts are valid until the entries are closed. */
BOUGH_API int32_t bough_entries_get(bough_entries* entries, size_t index, bough_entry* out);

/* All entries at once, for bindings: one text after the other, eight an entry, in the order of bough_entry. Text t of
 * entry i ends at ends[8 * i + t] and begins where the one before it ends. */
typedef struct bough_packed {
  size_t count;
  const char* bytes;
  size_t size;
  const uint64_t* ends;
  const uint32_t* flags; /* one an entry */
} bough_packed;
BOUGH_API int32_t bough_entries_packed(bough_entries* entries, bough_packed* out);
BOUGH_API void bough_entries_close(bough_entries* entries);

/* Reads a session in parts. `position` is absent for the beginning, or what bough_cursor_position gave earlier. */
BOUGH_API int32_t bough_cursor_open(bough_session* session, bough_text position, bough_cursor** out);
/* The next entries, `count` at most and at least 1, fewer when their payloads reach 64 MiB; none only at the end, where
 * later calls return what was appended meanwhile. After a failure the cursor is where it was, and a follower, too. */
BOUGH_API int32_t bough_cursor_next(bough_cursor* cursor, size_t count, bough_entries** out);
BOUGH_API int32_t bough_cursor_position(bough_cursor* cursor, bough_text* position);
BOUGH_API void bough_cursor_close(bough_cursor* cursor);

/* Follows a session: gives entries as they are appended, by whatever process. */
BOUGH_API int32_t bough_follower_open(bough_session* session, bough_text position, bough_follower** out);
/* Waits for entries, and returns at most 256. None when the time is over (-1: forever) or after bough_follower_stop.
 * BOUGH_INVALID_ARGUMENT for a follower that has a callback. */
BOUGH_API int32_t bough_follower_next(bough_follower* follower, int32_t timeout_ms, bough_entries** out);
BOUGH_API int32_t bough_follower_position(bough_follower* follower, bough_text* position);
/* Ends a wait that is under way, and all later ones, from any thread. */
BOUGH_API int32_t bough_follower_stop(bough_follower* follower);
/* Called with entries, which the callback must close, or with NULL and a code when following failed and has ended.
 * Returns 0 to end. */
typedef int32_t (*bough_follow_callback)(void* data, bough_entries* entries, int32_t code);
/* Calls `callback` for what comes, from a thread of the library, until it returns 0 or the follower is stopped or
 * closed. Then `destroy` (may be NULL) is called with `data`, on that thread; not when this call fails. Once a
 * follower. */
BOUGH_API int32_t bough_follower_start(bough_follower* follower, bough_follow_callback callback, void* data,
                                       void (*destroy)(void*));
/* Stops it. Waits until a callback that is running has returned. */
BOUGH_API void bough_follower_close(bough_follower* follower);

/* ---- Head, labels, redaction, forks ---- */

/* Moves the head, durably. An absent id moves it before the first entry; an empty one is refused.
 * BOUGH_INVALID_ARGUMENT when the entry is not part of the conversation. */
BOUGH_API int32_t bough_move_head(bough_session* session, bough_text entry_id);
BOUGH_API int32_t bough_set_title(bough_session* session, bough_text title);
/* Gives an entry a name, durably; a label of that name moves. Names are 1 to 128 bytes of printable text without `~`,
 * with no blank at either end, that do not begin with `@` and are not `-`. */
BOUGH_API int32_t bough_label_set(bough_session* session, bough_text entry_id, bough_text name);
/* BOUGH_NOT_FOUND when there is no such label. */
BOUGH_API int32_t bough_label_remove(bough_session* session, bough_text name);
/* {"labels":[{"name","entryId","timestamp","sessionId"}]} */
BOUGH_API int32_t bough_label_list(bough_session* session, bough_text* json);
/* Hides an entry's payload from every view, durably; the log keeps it. `by` and `reason` must say
 * something. BOUGH_INVALID_ARGUMENT for a header, a head entry and a redaction. */
BOUGH_API int32_t bough_redact(bough_session* session, bough_text entry_id, bough_text by, bough_text reason);
/* Makes a session that continues from an entry, sharing its history, and opens it. `options` may be NULL. Costs the
 * same for any size. BOUGH_INVALID_ARGUMENT when the entry is not part of the conversation. */
BOUGH_API int32_t bough_fork(bough_session* session, bough_text entry_id, const bough_new_session* options,
                             bough_session** out);

/* ---- The tree ---- */

/* {"headId"|null,"entries":[{"entryId","parentId"|null,"role","timestamp","text","labels":[...]}]}: every entry of the
 * conversation in log order, its text cut to one line. */
BOUGH_API int32_t bough_tree(bough_session* session, bough_text* json);
/* {"branches":[{"leafId","firstOwnId","length","timestamp","role","lastMessage","labels":[...],"isHead"}]} */
BOUGH_API int32_t bough_branches(bough_session* session, bough_text* json);
/* Compares two branches, each named by its last entry; absent: the head. The other session may be the same one.
 * {"common":[ids],"sameEntries":n,"left":[ids],"right":[ids]} */
BOUGH_API int32_t bough_diff(bough_session* session, bough_text entry_id, bough_session* other,
                             bough_text other_entry_id, bough_text* json);

/* ---- Messages ---- */

/* What a model gets. `options_json` may be absent; its members: "dialect" ("anthropic", "openai-chat",
 * "openai-responses", "gemini", "bough"), "at", "budgetTokens", "keepPendingCalls", "strict", "systemPrompt", "tools",
 * "thinkingAsText".
 * {"dialect","headId","model","system","tools":[...]|null,"messages":[...],"tokens","turnsLeftOut","report":{...}} */
BOUGH_API int32_t bough_context(bough_session* session, bough_text options_json, bough_text* json);
/* {"calls":[{"entryId","toolCallId","name","input","started"}]}: tool calls without a result on the head's branch. */
BOUGH_API int32_t bough_unfinished_calls(bough_session* session, bough_text* json);
/* Converts a list of messages or a request body between dialects. `way_back` is absent or what an earlier conversion
 * returned under that name: with it everything unedited comes back byte for byte.
 * {"document":"...","wayBack":"...","report":{...}}: document and wayBack are texts that hold JSON. */
BOUGH_API int32_t bough_convert(bough_text document, bough_text from, bough_text to, bough_text way_back,
                                bough_text* json);
/* Makes a fork whose messages are in another dialect, and opens it. `report` may be NULL. BOUGH_UNSUPPORTED for "bough"
 * and "plain". */
BOUGH_API int32_t bough_migrate_provider(bough_session* session, bough_text dialect, bough_session** out,
                                         bough_text* report);

/* ---- Lists, search, usage ----
 *
 * All three answer from what was taken in before when this process may not take in what is new, as a role of a database
 * that only reads. Then the result has a member "outOfDate", a text that says why, and newer entries are missing. */

/* `query_json` may be absent; its members: "agent", "key", "cwd", "title", "sinceMs", "untilMs", "limit", "skip", and
 * "after": the last row of the page before, of which "activeMs" and "sessionId" count. Sessions that are added or
 * removed between two pages hide none and double none with "after"; with "skip" they may.
 * {"sessions":[{"sessionId","key","cwd","title","createdMs","activeMs","entries","userMessages","assistantMessages",
 * "branches","condition","inputTokens","outputTokens"}]} */
BOUGH_API int32_t bough_list(bough_store* store, bough_text query_json, bough_text* json);
/* Members of `query_json` besides those above: "session", "roles" (a list), "limit".
 * {"hits":[{"sessionId","title","entryId","role","timestampMs","excerpt"}]} */
BOUGH_API int32_t bough_search(bough_store* store, bough_text words, bough_text query_json, bough_text* json);
/* Members of `query_json`: "by" ("day", "week", "month", "session", "key", "model"), "sinceMs", "untilMs", "session".
 * {"rows":[{"name","messages","withoutUsage","inputTokens","outputTokens","cacheReadTokens","cacheWriteTokens",
 * "costUsd","costKnown"}],"total":{...}}. "withoutUsage" counts those of the messages of which nobody said what they
 * used: they are in no sum, and "costKnown" is false. */
BOUGH_API int32_t bough_usage(bough_store* store, bough_text query_json, bough_text* json);

/* ---- Attachments ---- */

/* Stores bytes once, by content, durably; `sha256` are 64 hex digits. They are unused until an entry holds these
 * digits. */
BOUGH_API int32_t bough_attachment_put(bough_store* store, bough_text bytes, bough_text* sha256);
/* All bytes at once. BOUGH_NOT_FOUND when they are missing, BOUGH_DAMAGED when they are not what their name says. */
BOUGH_API int32_t bough_attachment_get(bough_store* store, bough_text sha256, bough_text* bytes);
/* {"unused":[...]}: attachments that no entry names, and what an interrupted writing left. Reads every session. */
BOUGH_API int32_t bough_attachment_unused(bough_store* store, bough_text* json);
/* Removes those of the given ones that are still unused: `request_json` has the form of the result above.
 * {"removed"} */
BOUGH_API int32_t bough_attachment_remove(bough_store* store, bough_text request_json, bough_text* json);

/* ---- Upkeep ---- */

/* {"entries","bytes","problemCount","noteCount","problems":[{"kind","offset","bytes","message"}]} */
BOUGH_API int32_t bough_verify(bough_session* session, bough_text* json);
/* {"tornBytes","damagedLines","indexRebuilt"} */
BOUGH_API int32_t bough_repair(bough_session* session, bough_text* json);
/* Brings a session of an older format to the present one. {"fromFormat","toFormat","entries","keptAs"} */
BOUGH_API int32_t bough_migrate(bough_session* session, bough_text* json);
/* Compresses a session; it is read as before. {"bytesBefore","bytesAfter"} */
BOUGH_API int32_t bough_archive(bough_session* session, bough_text* json);
/* {"sessionIds":[...]}: the sessions that share this one's history. */
BOUGH_API int32_t bough_forks(bough_session* session, bough_text* json);
/* Gives a fork its own copy of what it shares. With `rest` 1, when the session that it continues is lost: what is left
 * of its history becomes its own. */
BOUGH_API int32_t bough_detach(bough_session* session, int32_t rest);
/* What a crash or damage left after the last complete batch and an append or repair set aside.
 * {"fileBytes","records":[{"offset","bytes","timestamp","entries":[{"entryId","type"}],"unreadableBytes"}]} */
BOUGH_API int32_t bough_torn(bough_session* session, bough_text* json);
/* Appends the intact entries among it. {"appendedCount","storedCount","movedCount","keptBytes"} */
BOUGH_API int32_t bough_torn_put_back(bough_session* session, bough_text* json);
/* Deletes it, if it is still as large as "fileBytes" said; otherwise BOUGH_CONFLICT. */
BOUGH_API int32_t bough_torn_drop(bough_session* session, uint64_t file_bytes);

/* Moves a session to the trash. `trash_id` names it there. BOUGH_HAS_FORKS when others share its history. */
BOUGH_API int32_t bough_trash(bough_store* store, bough_text session_id, bough_text* trash_id);
/* {"trashed":[{"trashId","sessionId","removedMs","bytes"}]} */
BOUGH_API int32_t bough_trash_list(bough_store* store, bough_text* json);
/* Brings a session back. BOUGH_ALREADY_EXISTS when its id is taken again; BOUGH_NOT_FOUND when it is not in the trash,
 * or when what it continues is not in the store. */
BOUGH_API int32_t bough_trash_restore(bough_store* store, bough_text trash_id);
/* Removes a session from the trash, forever. BOUGH_NOT_FOUND when it is not there; BOUGH_HAS_FORKS when a session that
 * stays shares its history. */
BOUGH_API int32_t bough_trash_remove(bough_store* store, bough_text trash_id);
/* Removes the payloads of entries for good, from every file of the store; the tree stays, and a receipt takes each
 * payload's place. Members of `request_json`: "entryIds" (a list), "by", "reason". Cannot reach other stores, exports,
 * backups, and programs that have read the entry.
 * {"timestamp","entries":[{"entryId","receiptId","sha256","bytes"}],"rewritten":[ids],"removedAttachments",
 * "keptAttachments":[...],"unreached":[...]}: `unreached` names files that hold it and could not be rewritten. */
BOUGH_API int32_t bough_erase(bough_session* session, bough_text request_json, bough_text* json);

#ifdef __cplusplus
}
#endif

#endif
