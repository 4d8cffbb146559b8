/* The parts of the walk where something is removed, forked or wrong. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "walk.h"

void walkErasure(bough_store* store) {
  static const char kRequest[] = "{\"entryIds\":[\"secret\"],\"by\":\"walk\",\"reason\":\"a test\"}";
  bough_session* session = NULL;
  bough_session* fork = NULL;
  bough_entries* entries = NULL;
  bough_entry entry = messageEntry("{\"dialect\":\"bough\",\"message\":{\"role\":\"user\",\"content\":\"hunter2\"}}");
  bough_text json;

  OK(store, bough_session_create(store, NULL, &session));
  entry.id = t("secret");
  OK(session, bough_append(session, &entry, 1, NULL, NULL, &json));
  bough_free(json);
  OK(session, bough_fork(session, t("secret"), NULL, &fork));
  OK(session, bough_forks(session, &json));
  HAS(json, "\"sessionIds\":[\"");
  OK(fork, bough_detach(fork, 0));
  OK(fork, bough_detach(fork, 1)); /* it shares nothing any more */
  OK(session, bough_forks(session, &json));
  HAS(json, "\"sessionIds\":[]");

  CHECK(bough_erase(session, t("{\"entryIds\":[\"secret\"]}"), &json) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_erase(session, t("{\"entryIds\":\"secret\"}"), &json) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_erase(session, t(NULL), &json) == BOUGH_INVALID_ARGUMENT);
  OK(session, bough_erase(session, t(kRequest), &json));
  HAS(json, "\"receiptId\":");
  OK(session, bough_load_entry(session, t("secret"), &entries));
  OK(entries, bough_entries_get(entries, 0, &entry));
  CHECK(strstr(entry.payload.data, "hunter2") == NULL);
  bough_entries_close(entries);

  OK(session, bough_torn(session, &json));
  HAS(json, "\"fileBytes\":0");
  CHECK(bough_torn_put_back(session, &json) == BOUGH_OK ? (bough_free(json), 1) : 1);
  CHECK(bough_torn_drop(session, 12) != BOUGH_OK);
  OK(store, bough_attachment_unused(store, &json)); /* walkUpkeep stored three bytes that no entry names */
  CHECK(contains(json, "\"unused\":[\""));
  {
    bough_text removed;
    OK(store, bough_attachment_remove(store, json, &removed));
    HAS(removed, "\"removed\":1");
  }
  bough_free(json);
  OK(store, bough_attachment_unused(store, &json));
  HAS(json, "\"unused\":[]");
  bough_session_close(fork);
  bough_session_close(session);
}

static bough_follower* own = NULL;

static int32_t closeOwn(void* data, bough_entries* entries, int32_t code) {
  (void)data;
  (void)code;
  bough_entries_close(entries);
  bough_follower_close(own); /* not allowed: it only stops */
  return 1;
}

static int32_t ignoreEntries(void* data, bough_entries* entries, int32_t code) {
  (void)data;
  (void)code;
  bough_entries_close(entries);
  return 1;
}

/* The allocator of the address sanitizer is not made for fork(2) beside threads: a child may wait for ever for a lock
   that a thread of its parent held. There nothing else runs. */
#if defined(__SANITIZE_ADDRESS__)
static const int kForksBesideThreads = 0;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
static const int kForksBesideThreads = 0;
#else
static const int kForksBesideThreads = 1;
#endif
#else
static const int kForksBesideThreads = 1;
#endif

/* Parent and child go on after fork(2), also while a thread of the library waits for entries. */
void walkFork(bough_store* store, bough_session* session) {
  bough_follower* busy = NULL;
  bough_follower* idle = NULL;
  bough_cursor* cursor = NULL;
  bough_entries* entries = NULL;
  bough_entry entry = messageEntry(kHello);
  bough_text text;
  pid_t child;
  int status = 0;

  OK(session, bough_follower_open(session, t(NULL), &own));
  OK(own, bough_follower_start(own, closeOwn, NULL, NULL));
  bough_follower_close(own);
  CHECK(bough_follower_stop(own) == BOUGH_BAD_HANDLE);
  OK(store, bough_list(store, t(NULL), &text));
  bough_free(text);
  OK(session, bough_follower_open(session, t("hello-2"), &busy));
  if (kForksBesideThreads) OK(busy, bough_follower_start(busy, ignoreEntries, NULL, NULL));
  OK(session, bough_follower_open(session, t("hello-2"), &idle));
  OK(session, bough_cursor_open(session, t(NULL), &cursor));
  fflush(stdout);
  child = fork();
  entry.id = t(child == 0 ? "of-the-child" : "of-the-parent");
  OK(session, bough_append(session, &entry, 1, NULL, NULL, &text));
  bough_free(text);
  OK(store, bough_list(store, t(NULL), &text));
  bough_free(text);
  OK(cursor, bough_cursor_next(cursor, 1, &entries));
  bough_entries_close(entries);
  OK(idle, bough_follower_next(idle, 10000, &entries));
  bough_entries_close(entries);
  if (kForksBesideThreads) {
    CHECK(bough_follower_next(busy, 0, &entries) == BOUGH_INVALID_ARGUMENT);
    OK(busy, bough_follower_stop(busy));
  }
  bough_follower_close(busy);
  CHECK(bough_follower_stop(busy) == BOUGH_BAD_HANDLE);
  bough_follower_close(idle);
  bough_cursor_close(cursor);
  if (child == 0) {
    bough_session_close(session);
    OK(store, bough_store_close(store));
    fflush(stdout);
    _exit(failures == 0 ? 0 : 1);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  OK(session, bough_load_entry(session, t("of-the-child"), &entries));
  bough_entries_close(entries);
}

void walkMistakes(bough_store* store, bough_session* session) {
  bough_store* other = NULL;
  bough_session* none = NULL;
  bough_text json;
  bough_text bad;
  bough_entry entry = messageEntry("{\"a\":\"\xff\"}");
  bough_append_options wrong;
  bough_load_options load;
  bough_entries* entries = NULL;
  bough_appended_one one;
  bough_error_info info;

  CHECK(bough_store_open(t("~/sessions"), NULL, &other) != BOUGH_OK);
  bough_error(NULL, &info);
  CHECK(info.code != BOUGH_OK && info.message.size > 0);
  CHECK(bough_store_flush((bough_store*)session) == BOUGH_BAD_HANDLE);
  CHECK(bough_store_flush((bough_store*)0x10) == BOUGH_BAD_HANDLE);
  CHECK(bough_store_flush(NULL) == BOUGH_BAD_HANDLE);
  CHECK(bough_session_state(session, NULL) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_session_open(store, t("../etc"), &none) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_session_open(store, t(NULL), &none) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_append(session, &entry, 1, NULL, NULL, &json) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_append(session, NULL, 1, NULL, NULL, &json) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_append_one(session, NULL, NULL, &one) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_append_one(session, &entry, NULL, NULL) == BOUGH_INVALID_ARGUMENT);
  entry = messageEntry(kHello);
  entry.flags = 64;
  CHECK(bough_append(session, &entry, 1, NULL, NULL, &json) == BOUGH_INVALID_ARGUMENT);
  entry.flags = 0;
  CHECK(bough_append(session, &entry, (size_t)-1, NULL, NULL, &json) == BOUGH_INVALID_ARGUMENT);
  bad.data = kHello;
  bad.size = (size_t)-1;
  entry.payload = bad;
  CHECK(bough_append(session, &entry, 1, NULL, NULL, &json) == BOUGH_INVALID_ARGUMENT);
  for (bad.size = (size_t)1 << 62; bad.size > (size_t)1 << 40; bad.size /= 2) { /* no memory has so many bytes */
    entry.payload = bad;
    CHECK(bough_append(session, &entry, 1, NULL, NULL, &json) == BOUGH_INVALID_ARGUMENT);
    CHECK(bough_list(store, bad, &json) == BOUGH_INVALID_ARGUMENT);
    CHECK(bough_attachment_put(store, bad, &json) == BOUGH_INVALID_ARGUMENT);
    CHECK(bough_convert(bad, t("anthropic"), t("gemini"), t(NULL), &json) == BOUGH_INVALID_ARGUMENT);
  }
  bad.data = NULL;
  bad.size = 4;
  entry.payload = bad;
  CHECK(bough_append(session, &entry, 1, NULL, NULL, &json) == BOUGH_INVALID_ARGUMENT);
  entry.payload = t(kHello);
  memset(&wrong, 0, sizeof wrong);
  CHECK(bough_append(session, &entry, 1, &wrong, NULL, &json) == BOUGH_INVALID_ARGUMENT);
  wrong.struct_size = 4096;
  CHECK(bough_append(session, &entry, 1, &wrong, NULL, &json) == BOUGH_INVALID_ARGUMENT);
  bough_append_options_init(&wrong, sizeof wrong);
  wrong.expected_tail = t("a");
  for (wrong.struct_size = 1; wrong.struct_size < sizeof wrong; ++wrong.struct_size) { /* would cut a member in two */
    if (wrong.struct_size % sizeof(void*) == 0) continue;
    CHECK(bough_append(session, &entry, 1, &wrong, NULL, &json) == BOUGH_INVALID_ARGUMENT);
  }
  bough_append_options_init(&wrong, sizeof wrong);
  wrong.expected_tail = t(""); /* not absent: no tail is empty */
  CHECK(bough_append(session, &entry, 1, &wrong, NULL, &json) == BOUGH_CONFLICT);
  bough_load_options_init(&load, sizeof load);
  load.branch = t(""); /* absent, like the empty parent_id of a root */
  OK(session, bough_load(session, &load, &entries));
  CHECK(bough_entries_count(entries) > 1);
  bough_entries_close(entries);
  CHECK(bough_move_head(session, t("")) == BOUGH_INVALID_ARGUMENT);
  wrong.durability = 7;
  CHECK(bough_append(session, &entry, 1, &wrong, NULL, &json) == BOUGH_INVALID_ARGUMENT);
  bad.data = "a\0b";
  bad.size = 3;
  CHECK(bough_session_open(store, bad, &none) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_session_create(store, NULL, NULL) == BOUGH_INVALID_ARGUMENT);
  CHECK(strcmp(bough_code_name(12345), "unknown") == 0);
  bough_error(session, NULL);
}
