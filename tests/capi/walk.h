/* What the parts of the C walk share: checks that say what is not as it should be, and entries. */
#ifndef BOUGH_TESTS_WALK_H
#define BOUGH_TESTS_WALK_H

#include <bough/bough_c.h>

extern int failures;

/* Counts and prints a condition that does not hold. */
void check(int condition, const char* what, int line);
#define CHECK(condition) check((condition), #condition, __LINE__)

/* The same for a call that must succeed. */
void checkOk(int32_t code, const void* handle, const char* what, int line);
#define OK(handle, call) checkOk((call), (handle), #call, __LINE__)

/* A JSON result that must hold a text; it is freed. */
void checkJson(bough_text json, const char* part, int line);
#define HAS(json, part) checkJson((json), (part), __LINE__)

bough_text t(const char* text);
int contains(bough_text text, const char* part);
bough_entry messageEntry(const char* payload);

extern const char kHello[];
extern const char kAnswer[];

/* walk_hard.c */
void walkErasure(bough_store* store);
void walkFork(bough_store* store, bough_session* session);
void walkMistakes(bough_store* store, bough_session* session);

/* walk_handles.c */
void walkHandles(void);
void walkNoPlace(bough_store* store, bough_session* session);

#endif
