/* Goes through every call of bough_c.h as a C99 program does: walk FOLDER. Prints what is not as it should be. */
#include "walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int failures = 0;

void check(int condition, const char* what, int line) {
  if (condition) return;
  printf("line %d: %s\n", line, what);
  ++failures;
}

void checkOk(int32_t code, const void* handle, const char* what, int line) {
  bough_error_info info;
  if (code == BOUGH_OK) return;
  bough_error(handle, &info);
  printf("line %d: %s: %s: %.*s\n", line, what, bough_code_name(code), (int)info.message.size, info.message.data);
  ++failures;
}

bough_text t(const char* text) {
  return bough_text_of(text);
}

int contains(bough_text text, const char* part) {
  return text.data != NULL && strstr(text.data, part) != NULL; /* results are terminated, though nobody promises it */
}

void checkJson(bough_text json, const char* part, int line) {
  if (!contains(json, part)) {
    printf("line %d: %s is not in %.*s\n", line, part, (int)json.size, json.data == NULL ? "" : json.data);
    ++failures;
  }
  bough_free(json);
}

bough_entry messageEntry(const char* payload) {
  bough_entry entry;
  memset(&entry, 0, sizeof entry);
  entry.type = t("message");
  entry.payload = t(payload);
  return entry;
}

const char kHello[] = "{\"dialect\":\"anthropic\",\"message\":{\"role\":\"user\",\"content\":\"Hello \\u6728 1.50\"}}";
const char kAnswer[] =
    "{\"dialect\":\"anthropic\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}"
    "}";

static char* copyOf(bough_text text) {
  char* copy = malloc(text.size + 1);
  memcpy(copy, text.data, text.size);
  copy[text.size] = '\0';
  bough_free(text);
  return copy;
}

static void walkLeases(bough_session* session, uint64_t before) {
  uint64_t mine = 0;
  uint64_t theirs = 0;
  bough_error_info info;
  OK(session, bough_lease_turn(session, 60000, &mine));
  CHECK(mine > before);
  CHECK(bough_lease_turn(session, 60000, &theirs) == BOUGH_BUSY);
  bough_error(session, &info);
  CHECK(info.retryable == 1 && info.hint.size > 0);
  OK(session, bough_renew_turn(session, mine, 60000));
  OK(session, bough_renew_turn(session, mine, 0));
  OK(session, bough_lease_turn(session, 60000, &theirs));
  CHECK(theirs > mine);
  CHECK(bough_renew_turn(session, mine, 60000) == BOUGH_CONFLICT);
  OK(session, bough_renew_turn(session, theirs, 0));
  CHECK(bough_lease_turn(session, 0, &theirs) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_lease_turn(session, UINT64_MAX, &theirs) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_lease_turn(session, 1000, NULL) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_renew_turn(session, UINT64_MAX, 1000) == BOUGH_CONFLICT ||
        bough_renew_turn(session, UINT64_MAX, 1000) == BOUGH_INVALID_ARGUMENT);
}

static void walkAppendOne(bough_store* store) {
  const char kLongId[] =
      "an-id-of-the-greatest-length-that-there-is-.-an-id-of-the-greatest-length-that-there-is-.-"
      "an-id-of-the-greatest-length-that-ther";
  bough_session* session = NULL;
  bough_append_options options;
  bough_appended_one one;
  bough_error_info info;
  bough_entry entry = messageEntry(kHello);

  OK(store, bough_session_create(store, NULL, &session));
  bough_append_options_init(&options, sizeof options);
  OK(session, bough_append_one(session, &entry, &options, &one));
  CHECK(one.appended == 1 && one.id_size > 0 && strlen(one.id) == one.id_size);
  options.expected_tail = t(one.id);
  entry.id = t(kLongId);
  OK(session, bough_append_one(session, &entry, &options, &one));
  CHECK(one.appended == 1 && one.id_size == strlen(kLongId) && strcmp(one.id, kLongId) == 0);
  OK(session, bough_append_one(session, &entry, &options, &one));
  CHECK(one.appended == 0 && strcmp(one.id, kLongId) == 0);
  entry.payload = t(kAnswer);
  CHECK(bough_append_one(session, &entry, NULL, &one) == BOUGH_ID_CONFLICT);
  bough_error(session, &info);
  CHECK(info.batch_place == 1);
  entry.id = t("another");
  CHECK(bough_append_one(session, &entry, &options, &one) == BOUGH_CONFLICT);
  bough_session_close(session);
}

static bough_session* walkAppends(bough_store* store, char** firstId) {
  bough_new_session made;
  bough_session* session = NULL;
  bough_append_options options;
  bough_appended counts;
  bough_entry batch[2];
  bough_text id;
  bough_text last;
  bough_error_info info;
  uint64_t later = 0;

  bough_new_session_init(&made, sizeof made);
  made.key = t("main:c:walk");
  made.title = t("C walk");
  OK(store, bough_session_create(store, &made, &session));
  OK(session, bough_session_id(session, &id));
  bough_free(id);

  batch[0] = messageEntry(kHello);
  batch[0].id = t("hello-1");
  batch[1] = messageEntry(kAnswer);
  OK(session, bough_append(session, batch, 2, NULL, &counts, &last));
  CHECK(counts.appended == 2 && counts.duplicates == 0);
  *firstId = copyOf(last);

  OK(session, bough_append(session, batch, 1, NULL, &counts, &last));
  CHECK(counts.appended == 0 && counts.duplicates == 1);
  bough_free(last);

  batch[0].payload = t(kAnswer);
  CHECK(bough_append(session, batch, 1, NULL, NULL, &last) == BOUGH_ID_CONFLICT);
  bough_error(session, &info);
  CHECK(info.code == BOUGH_ID_CONFLICT && info.message.size > 0 && info.batch_place == 1);

  bough_append_options_init(&options, sizeof options);
  options.expected_tail = t("nobody");
  batch[0].id = t("hello-2");
  CHECK(bough_append(session, batch, 1, &options, NULL, &last) == BOUGH_CONFLICT);
  bough_error(session, &info);
  CHECK(info.tail.size > 0);
  options.expected_tail = t(*firstId);
  options.durability = BOUGH_BUFFERED;
  OK(session, bough_append(session, batch, 1, &options, NULL, &last));
  bough_free(last);
  OK(store, bough_store_flush(store));

  bough_append_options_init(&options, sizeof options);
  OK(session, bough_begin_turn(session, &options.turn));
  OK(session, bough_begin_turn(session, &later));
  CHECK(options.turn > 0 && later > options.turn);
  batch[0].id = t("too-late");
  CHECK(bough_append(session, batch, 1, &options, NULL, &last) == BOUGH_CONFLICT);
  CHECK(bough_begin_turn(session, NULL) == BOUGH_INVALID_ARGUMENT);
  walkLeases(session, later);
  return session;
}

static void walkReading(bough_session* session, const char* answerId) {
  bough_load_options options;
  bough_entries* entries = NULL;
  bough_entry entry;
  bough_packed packed;
  bough_cursor* cursor = NULL;
  bough_text text;

  bough_load_options_init(&options, sizeof options);
  options.branch = t(answerId);
  OK(session, bough_load(session, &options, &entries));
  CHECK(bough_entries_count(entries) == 2);
  OK(entries, bough_entries_get(entries, 0, &entry));
  CHECK(entry.payload.size == strlen(kHello) && memcmp(entry.payload.data, kHello, entry.payload.size) == 0);
  CHECK((entry.flags & BOUGH_ENTRY_ROOT) != 0);
  OK(entries, bough_entries_get(entries, 1, &entry));
  CHECK(entry.parent_id.size == 7 && memcmp(entry.parent_id.data, "hello-1", 7) == 0);
  CHECK(bough_entries_get(entries, 2, &entry) == BOUGH_INVALID_ARGUMENT);
  OK(entries, bough_entries_packed(entries, &packed));
  CHECK(packed.count == 2 && packed.ends[15] == packed.size && packed.ends[0] == 7);
  bough_entries_close(entries);
  CHECK(bough_entries_count(entries) == 0);
  CHECK(bough_entries_get(entries, 0, &entry) == BOUGH_BAD_HANDLE);

  OK(session, bough_load(session, NULL, &entries));
  CHECK(bough_entries_count(entries) >= 4);
  bough_entries_close(entries);
  OK(session, bough_load_entry(session, t("hello-1"), &entries));
  CHECK(bough_entries_count(entries) == 1);
  bough_entries_close(entries);
  CHECK(bough_load_entry(session, t("nobody"), &entries) == BOUGH_NOT_FOUND);
  OK(session, bough_load_history(session, t(NULL), &entries));
  CHECK(bough_entries_count(entries) == 3);
  bough_entries_close(entries);

  OK(session, bough_cursor_open(session, t(NULL), &cursor));
  OK(cursor, bough_cursor_next(cursor, 2, &entries));
  CHECK(bough_entries_count(entries) == 2);
  bough_entries_close(entries);
  OK(cursor, bough_cursor_position(cursor, &text));
  CHECK(text.size > 0);
  bough_free(text);
  bough_cursor_close(cursor);
  CHECK(bough_cursor_next(cursor, 1, &entries) == BOUGH_BAD_HANDLE);
  OK(session, bough_session_state(session, &text));
  HAS(text, "\"headId\":\"hello-2\"");
}

static int32_t countEntries(void* data, bough_entries* entries, int32_t code) {
  size_t* count = data;
  if (code != BOUGH_OK) return 0;
  __atomic_fetch_add(count, bough_entries_count(entries), __ATOMIC_SEQ_CST);
  bough_entries_close(entries);
  return 0; /* one call is enough */
}

static void markDone(void* data) {
  __atomic_fetch_add((size_t*)data, 100, __ATOMIC_SEQ_CST);
}

static void walkFollowing(bough_session* session) {
  bough_follower* follower = NULL;
  bough_entries* entries = NULL;
  bough_text text;
  size_t count = 0;

  OK(session, bough_follower_open(session, t(NULL), &follower));
  OK(follower, bough_follower_next(follower, 10000, &entries));
  CHECK(bough_entries_count(entries) >= 4);
  bough_entries_close(entries);
  OK(follower, bough_follower_next(follower, 0, &entries));
  CHECK(bough_entries_count(entries) == 0);
  bough_entries_close(entries);
  OK(follower, bough_follower_position(follower, &text));
  bough_free(text);
  OK(follower, bough_follower_stop(follower));
  OK(follower, bough_follower_next(follower, -1, &entries));
  bough_entries_close(entries);
  bough_follower_close(follower);
  CHECK(bough_follower_stop(follower) == BOUGH_BAD_HANDLE);

  OK(session, bough_follower_open(session, t(NULL), &follower));
  OK(follower, bough_follower_start(follower, countEntries, &count, markDone));
  CHECK(bough_follower_next(follower, 0, &entries) == BOUGH_INVALID_ARGUMENT);
  while (bough_session_state(session, &text) == BOUGH_OK) { /* until the callback had its entries */
    bough_free(text);
    if (__atomic_load_n(&count, __ATOMIC_SEQ_CST) >= 100) break;
  }
  bough_follower_close(follower);
  CHECK(count >= 104);

  OK(session, bough_follower_open(session, t("hello-2"), &follower));
  count = 0;
  OK(follower, bough_follower_start(follower, countEntries, &count, markDone));
  bough_follower_close(follower); /* ends the wait */
  CHECK(count == 100);
}

static void walkTree(bough_store* store, bough_session* session, const char* answerId) {
  bough_session* fork = NULL;
  bough_text json;
  bough_error_info info;

  OK(session, bough_label_set(session, t("hello-1"), t("start")));
  OK(session, bough_label_list(session, &json));
  HAS(json, "\"name\":\"start\"");
  OK(session, bough_label_remove(session, t("start")));
  CHECK(bough_label_remove(session, t("start")) == BOUGH_NOT_FOUND);
  OK(session, bough_set_title(session, t("Renamed \xe6\x9c\xa8")));
  OK(session, bough_move_head(session, t(answerId)));
  CHECK(bough_move_head(session, t("nobody")) == BOUGH_NOT_FOUND);
  CHECK(bough_move_head(session, t("")) == BOUGH_INVALID_ARGUMENT);

  OK(session, bough_fork(session, t(answerId), NULL, &fork));
  OK(fork, bough_tree(fork, &json));
  HAS(json, "\"entryId\":\"hello-1\"");
  OK(session, bough_branches(session, &json));
  HAS(json, "\"branches\":[{\"leafId\":");
  OK(session, bough_diff(session, t("hello-2"), fork, t(NULL), &json));
  HAS(json, "\"common\":[\"hello-1\"");
  bough_session_close(fork);
  CHECK(bough_tree(fork, &json) == BOUGH_BAD_HANDLE);
  bough_error(fork, &info);
  CHECK(info.code == BOUGH_BAD_HANDLE);

  OK(session, bough_redact(session, t("hello-2"), t("walk"), t("a test")));
  OK(store, bough_store_list_ids(store, &json));
  HAS(json, "\"sessionIds\":[\"");
}

static void walkMessages(bough_session* session) {
  static const char kDocument[] = "[{\"role\":\"user\",\"content\":\"Hello\"}]";
  bough_session* migrated = NULL;
  bough_text json;

  OK(session, bough_context(session, t("{\"dialect\":\"gemini\",\"budgetTokens\":100000}"), &json));
  HAS(json, "\"parts\":[{\"text\":");
  CHECK(bough_context(session, t("{\"dialekt\":\"gemini\"}"), &json) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_context(session, t("{\"budgetTokens\":-1}"), &json) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_context(session, t("{\"strict\":1}"), &json) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_context(session, t("{"), &json) == BOUGH_INVALID_ARGUMENT);
  OK(session, bough_unfinished_calls(session, &json));
  HAS(json, "\"calls\":[]");
  OK(NULL, bough_convert(t(kDocument), t("anthropic"), t("openai-chat"), t(NULL), &json));
  HAS(json, "\"wayBack\":");
  CHECK(bough_convert(t(kDocument), t("anthropic"), t("klingon"), t(NULL), &json) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_convert(t("[\"\xff\"]"), t("bough"), t("bough"), t(NULL), &json) == BOUGH_INVALID_ARGUMENT);
  OK(session, bough_migrate_provider(session, t("gemini"), &migrated, &json));
  HAS(json, "compatible");
  bough_session_close(migrated);
}

static void walkCatalog(bough_store* store) {
  bough_text json;
  OK(store, bough_list(store, t("{\"limit\":5}"), &json));
  HAS(json, "\"title\":\"Renamed");
  OK(store, bough_list(store, t(NULL), &json));
  bough_free(json);
  CHECK(bough_list(store, t("{\"limit\":\"many\"}"), &json) == BOUGH_INVALID_ARGUMENT);
  OK(store, bough_list(store, t("{\"after\":{\"activeMs\":1,\"sessionId\":\"z\",\"title\":\"x\"}}"), &json));
  HAS(json, "{\"sessions\":[]}");
  CHECK(bough_list(store, t("{\"after\":{\"activeMs\":1}}"), &json) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_list(store, t("{\"after\":\"x\"}"), &json) == BOUGH_INVALID_ARGUMENT);
  OK(store, bough_search(store, t("hello"), t("{\"roles\":[\"user\"]}"), &json));
  HAS(json, "\"entryId\":\"hello-1\"");
  CHECK(bough_search(store, t("hello"), t("{\"roles\":[1]}"), &json) == BOUGH_INVALID_ARGUMENT);
  OK(store, bough_usage(store, t("{\"by\":\"model\"}"), &json));
  HAS(json, "\"withoutUsage\":");
  CHECK(bough_usage(store, t("{\"by\":\"moon\"}"), &json) == BOUGH_INVALID_ARGUMENT);
}

static void walkUpkeep(bough_store* store) {
  bough_session* session = NULL;
  bough_entry entry = messageEntry(kHello);
  bough_text json;
  bough_text sha256;
  bough_text id;
  char bytes[3] = {'a', '\0', 'b'};
  bough_text binary;
  binary.data = bytes;
  binary.size = sizeof bytes;

  OK(store, bough_attachment_put(store, binary, &sha256));
  CHECK(sha256.size == 64);
  OK(store, bough_attachment_get(store, sha256, &json));
  CHECK(json.size == 3 && memcmp(json.data, bytes, 3) == 0);
  bough_free(json);
  bough_free(sha256);
  CHECK(bough_attachment_get(store, t("nothing"), &json) != BOUGH_OK);

  OK(store, bough_session_create(store, NULL, &session));
  OK(session, bough_append(session, &entry, 1, NULL, NULL, &json));
  bough_free(json);
  OK(session, bough_verify(session, &json));
  HAS(json, "\"problemCount\":0");
  OK(session, bough_repair(session, &json));
  HAS(json, "\"tornBytes\":0");
  OK(session, bough_migrate(session, &json));
  HAS(json, "\"toFormat\":1");
  OK(session, bough_archive(session, &json));
  HAS(json, "\"bytesAfter\":");
  OK(session, bough_session_id(session, &id));
  OK(store, bough_trash(store, id, &json));
  OK(store, bough_trash_restore(store, json));
  bough_free(json);
  OK(store, bough_trash(store, id, &json));
  CHECK(bough_trash_remove(store, t("mistyped")) == BOUGH_NOT_FOUND);
  OK(store, bough_trash_remove(store, json));
  CHECK(bough_trash_remove(store, json) == BOUGH_NOT_FOUND);
  bough_free(json);
  OK(store, bough_trash_list(store, &json));
  HAS(json, "\"trashed\":[]");
  CHECK(bough_session_open(store, id, &session) == BOUGH_NOT_FOUND);
  bough_free(id);
}

int main(int argumentCount, char** arguments) {
  bough_store_options options;
  bough_store* store = NULL;
  bough_session* session;
  char* answerId = NULL;
  bough_text json;

  if (argumentCount != 2) return 2;
  CHECK(bough_c_version() == BOUGH_C_VERSION);
  CHECK(strlen(bough_library_version()) >= 5);
  bough_store_options_init(&options, sizeof options);
  options.lock_timeout_ms = 5000;
  OK(NULL, bough_store_open(t(arguments[1]), &options, &store));
  walkAppendOne(store);
  session = walkAppends(store, &answerId);
  walkReading(session, answerId);
  walkFollowing(session);
  walkTree(store, session, answerId);
  walkMessages(session);
  walkCatalog(store);
  walkUpkeep(store);
  walkErasure(store);
  walkFork(store, session);
  walkMistakes(store, session);
  walkNoPlace(store, session);
  walkHandles();
  OK(store, bough_store_close(store));
  CHECK(bough_session_state(session, &json) == BOUGH_CLOSED);
  bough_session_close(session);
  CHECK(bough_store_close(store) == BOUGH_BAD_HANDLE);
  CHECK(bough_store_close(NULL) == BOUGH_OK);
  free(answerId);
  printf("walk: %d problems\n", failures);
  return failures == 0 ? 0 : 1;
}
