/* Handles that are wrong, and handles of a store that was closed: every call refuses them. */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "walk.h"

#define REFUSED(call) CHECK((call) == BOUGH_BAD_HANDLE)

static void refuseAsStore(void* handle) {
  bough_text json;
  bough_session* session;
  if (handle != NULL) REFUSED(bough_store_close(handle));
  REFUSED(bough_store_flush(handle));
  REFUSED(bough_store_list_ids(handle, &json));
  REFUSED(bough_session_create(handle, NULL, &session));
  REFUSED(bough_session_open(handle, t("a"), &session));
  REFUSED(bough_list(handle, t(NULL), &json));
  REFUSED(bough_search(handle, t("a"), t(NULL), &json));
  REFUSED(bough_usage(handle, t(NULL), &json));
  REFUSED(bough_attachment_put(handle, t("a"), &json));
  REFUSED(bough_attachment_get(handle, t("a"), &json));
  REFUSED(bough_attachment_unused(handle, &json));
  REFUSED(bough_attachment_remove(handle, t("{}"), &json));
  REFUSED(bough_trash(handle, t("a"), &json));
  REFUSED(bough_trash_list(handle, &json));
  REFUSED(bough_trash_restore(handle, t("a")));
  REFUSED(bough_trash_remove(handle, t("a")));
}

static void refuseAsSession(void* handle, bough_session* good) {
  bough_text json;
  bough_session* session;
  bough_entries* entries;
  bough_cursor* cursor;
  bough_follower* follower;
  bough_entry entry = messageEntry(kHello);
  uint64_t turn;
  bough_appended_one one;
  REFUSED(bough_session_id(handle, &json));
  REFUSED(bough_session_state(handle, &json));
  REFUSED(bough_append(handle, &entry, 1, NULL, NULL, &json));
  REFUSED(bough_append_one(handle, &entry, NULL, &one));
  REFUSED(bough_begin_turn(handle, &turn));
  REFUSED(bough_lease_turn(handle, 1000, &turn));
  REFUSED(bough_renew_turn(handle, 1, 1000));
  REFUSED(bough_load(handle, NULL, &entries));
  REFUSED(bough_load_entry(handle, t("a"), &entries));
  REFUSED(bough_load_history(handle, t(NULL), &entries));
  REFUSED(bough_cursor_open(handle, t(NULL), &cursor));
  REFUSED(bough_follower_open(handle, t(NULL), &follower));
  REFUSED(bough_move_head(handle, t("a")));
  REFUSED(bough_set_title(handle, t("a")));
  REFUSED(bough_label_set(handle, t("a"), t("b")));
  REFUSED(bough_label_remove(handle, t("a")));
  REFUSED(bough_label_list(handle, &json));
  REFUSED(bough_redact(handle, t("a"), t("b"), t("c")));
  REFUSED(bough_fork(handle, t("a"), NULL, &session));
  REFUSED(bough_tree(handle, &json));
  REFUSED(bough_branches(handle, &json));
  REFUSED(bough_diff(handle, t(NULL), handle, t(NULL), &json));
  REFUSED(bough_diff(good, t(NULL), handle, t(NULL), &json));
  REFUSED(bough_context(handle, t(NULL), &json));
  REFUSED(bough_unfinished_calls(handle, &json));
  REFUSED(bough_migrate_provider(handle, t("gemini"), &session, &json));
  REFUSED(bough_verify(handle, &json));
  REFUSED(bough_repair(handle, &json));
  REFUSED(bough_migrate(handle, &json));
  REFUSED(bough_archive(handle, &json));
  REFUSED(bough_forks(handle, &json));
  REFUSED(bough_detach(handle, 0));
  REFUSED(bough_torn(handle, &json));
  REFUSED(bough_torn_put_back(handle, &json));
  REFUSED(bough_torn_drop(handle, 0));
  REFUSED(bough_erase(handle, t("{}"), &json));
  bough_session_close(handle);
}

static void refuseAsRest(void* handle, int asEntries, int asCursor, int asFollower) {
  bough_text json;
  bough_entries* entries;
  bough_entry entry;
  bough_packed packed;
  if (asEntries) {
    CHECK(bough_entries_count(handle) == 0);
    REFUSED(bough_entries_get(handle, 0, &entry));
    REFUSED(bough_entries_packed(handle, &packed));
    bough_entries_close(handle);
  }
  if (asCursor) {
    REFUSED(bough_cursor_next(handle, 1, &entries));
    REFUSED(bough_cursor_position(handle, &json));
    bough_cursor_close(handle);
  }
  if (asFollower) {
    REFUSED(bough_follower_next(handle, 0, &entries));
    REFUSED(bough_follower_position(handle, &json));
    REFUSED(bough_follower_stop(handle));
    REFUSED(bough_follower_start(handle, NULL, NULL, NULL));
    bough_follower_close(handle);
  }
}

static int ended[2]; /* a pipe: the code that ended the following */

static int32_t tellEnd(void* data, bough_entries* entries, int32_t code) {
  const char byte = (char)code;
  (void)data;
  bough_entries_close(entries);
  if (code != BOUGH_OK) CHECK(write(ended[1], &byte, 1) == 1);
  return 1;
}

/* What was opened from a store that is closed meanwhile; one of the followers waits then. */
static void walkClosedStore(bough_store* store, bough_session* session, bough_entries* entries, bough_cursor* cursor,
                            bough_follower* follower) {
  bough_follower* waiting = NULL;
  bough_entries* none;
  bough_text text;
  struct pollfd end;
  char code = 0;

  CHECK(pipe(ended) == 0);
  OK(session, bough_follower_open(session, t(NULL), &waiting));
  OK(waiting, bough_follower_start(waiting, tellEnd, NULL, NULL));
  OK(store, bough_store_close(store));
  end.fd = ended[0];
  end.events = POLLIN;
  CHECK(poll(&end, 1, 60000) == 1 && read(ended[0], &code, 1) == 1 && code == BOUGH_CLOSED);
  bough_follower_close(waiting);
  CHECK(bough_cursor_next(cursor, 1, &none) == BOUGH_CLOSED);
  CHECK(bough_follower_next(follower, -1, &none) == BOUGH_CLOSED);
  CHECK(bough_session_state(session, &text) == BOUGH_CLOSED);
  CHECK(bough_session_create(store, NULL, &session) == BOUGH_BAD_HANDLE);
  CHECK(bough_entries_count(entries) == 2);
  close(ended[0]);
  close(ended[1]);
}

/* Each handle keeps what it failed with until its next call, whatever other handles do. */
static void walkErrors(bough_store* store, bough_session* session) {
  bough_session* none = NULL;
  bough_text json;
  bough_error_info info;
  bough_error_info again;
  uintptr_t wrong;

  CHECK(bough_session_open(store, t("nobody"), &none) == BOUGH_NOT_FOUND);
  bough_error(store, &info);
  CHECK(bough_load_entry(session, t("nobody"), NULL) != BOUGH_OK);
  OK(session, bough_session_state(session, &json));
  bough_free(json);
  bough_error(session, &again);
  CHECK(again.code == BOUGH_OK);
  bough_error(store, &again);
  CHECK(again.code == BOUGH_NOT_FOUND && again.message.data == info.message.data && contains(again.message, "nobody"));
  for (wrong = 1; wrong < 1000; ++wrong) CHECK(bough_store_flush((bough_store*)wrong) == BOUGH_BAD_HANDLE);
  bough_error((void*)(wrong - 1), &again);
  CHECK(again.code == BOUGH_BAD_HANDLE);
  OK(store, bough_store_flush(store));
  bough_error(store, &again);
  CHECK(again.code == BOUGH_OK);
}

void walkHandles(void) {
  bough_store* store = NULL;
  bough_session* session = NULL;
  bough_session* closed = NULL;
  bough_entries* entries = NULL;
  bough_cursor* cursor = NULL;
  bough_follower* follower = NULL;
  bough_entry entry = messageEntry(kHello);
  bough_text text;
  void* wrong[5];
  size_t i;

  OK(NULL, bough_store_open(t("memory:"), NULL, &store));
  OK(store, bough_session_create(store, NULL, &session));
  OK(session, bough_append(session, &entry, 1, NULL, NULL, &text));
  bough_free(text);
  OK(store, bough_session_create(store, NULL, &closed));
  bough_session_close(closed);
  OK(session, bough_load(session, NULL, &entries));
  OK(session, bough_cursor_open(session, t(NULL), &cursor));
  OK(session, bough_follower_open(session, t(NULL), &follower));
  walkErrors(store, session);

  wrong[0] = NULL;
  wrong[1] = closed;
  wrong[2] = &entry;
  wrong[3] = (void*)UINTPTR_MAX;
  wrong[4] = (void*)((uintptr_t)follower + 1); /* the next one, which is not open yet */
  for (i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    refuseAsStore(wrong[i]);
    refuseAsSession(wrong[i], session);
    refuseAsRest(wrong[i], 1, 1, 1);
  }
  refuseAsStore(session);
  refuseAsStore(entries);
  refuseAsStore(cursor);
  refuseAsStore(follower);
  refuseAsSession(store, session);
  refuseAsSession(entries, session);
  refuseAsSession(cursor, session);
  refuseAsSession(follower, session);
  refuseAsRest(store, 1, 1, 1);
  refuseAsRest(session, 1, 1, 1);
  refuseAsRest(entries, 0, 1, 1);
  refuseAsRest(cursor, 1, 0, 1);
  refuseAsRest(follower, 1, 1, 0);

  CHECK(bough_cursor_next(cursor, 0, &entries) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_entries_count(entries) == 2);
  walkClosedStore(store, session, entries, cursor, follower);
  bough_entries_close(entries);
  bough_cursor_close(cursor);
  bough_follower_close(follower);
  bough_session_close(session);
}

/* A call that has no place for its result changes nothing. */
void walkNoPlace(bough_store* store, bough_session* session) {
  bough_text json;
  CHECK(bough_store_open(t("never-made"), NULL, NULL) == BOUGH_INVALID_ARGUMENT);
  CHECK(access("never-made", F_OK) != 0);
  CHECK(bough_attachment_put(store, t("never stored"), NULL) == BOUGH_INVALID_ARGUMENT);
  OK(store, bough_attachment_unused(store, &json));
  HAS(json, "\"unused\":[]");
  CHECK(bough_archive(session, NULL) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_repair(session, NULL) == BOUGH_INVALID_ARGUMENT);
  CHECK(bough_migrate(session, NULL) == BOUGH_INVALID_ARGUMENT);
  OK(session, bough_session_state(session, &json));
  HAS(json, "\"archived\":false");
}
