/* A system with few threads left: put in front of libc, it refuses every pthread_create after the first
 * BOUGH_TEST_THREADS of them. Limits of the system itself do not bind root. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_long left = -1; /* negative: as many as are wanted */

__attribute__((constructor)) static void readLimit(void) {
  const char* limit = getenv("BOUGH_TEST_THREADS");
  if (limit != NULL) left = atol(limit);
}

void bough_test_allow_threads(long count) {
  left = count;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*), void* data) {
  typedef int (*Create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static _Atomic(Create) next;
  long now = left;
  if (next == NULL) *(void**)(void*)&next = dlsym(RTLD_NEXT, "pthread_create");
  while (now >= 0) {
    if (now == 0) return EAGAIN;
    if (atomic_compare_exchange_weak(&left, &now, now - 1)) break;
  }
  return next(thread, attributes, work, data);
}
