// Mutexes whose rules clang checks (-Wthread-safety): which fields a mutex guards, and which functions require it.
#pragma once

#include <mutex>

#ifdef __clang__
#define BOUGH_THREAD_ATTRIBUTE_(x) __attribute__((x))
#else
#define BOUGH_THREAD_ATTRIBUTE_(x)
#endif

/// For a field: it may be accessed only while the mutex is held.
#define BOUGH_GUARDED_BY(mutex) BOUGH_THREAD_ATTRIBUTE_(guarded_by(mutex))
/// For a function: the caller holds the mutex, before and after the call.
#define BOUGH_REQUIRES(...) BOUGH_THREAD_ATTRIBUTE_(requires_capability(__VA_ARGS__))
/// For a function: the caller must not hold the mutex, because the function takes it.
#define BOUGH_EXCLUDES(...) BOUGH_THREAD_ATTRIBUTE_(locks_excluded(__VA_ARGS__))
/// For a mutex: a thread that holds both must have taken this one first.
#define BOUGH_ACQUIRED_BEFORE(...) BOUGH_THREAD_ATTRIBUTE_(acquired_before(__VA_ARGS__))

/// For a function that accesses a guarded field safely, for a reason that clang cannot see.
#define BOUGH_NO_THREAD_SAFETY_ANALYSIS BOUGH_THREAD_ATTRIBUTE_(no_thread_safety_analysis)

namespace bough {

class BOUGH_THREAD_ATTRIBUTE_(capability("mutex")) Mutex {
 public:
  void lock() BOUGH_THREAD_ATTRIBUTE_(acquire_capability()) { mutex_.lock(); }
  void unlock() BOUGH_THREAD_ATTRIBUTE_(release_capability()) { mutex_.unlock(); }
  bool tryLock() BOUGH_THREAD_ATTRIBUTE_(try_acquire_capability(true)) { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

/// Holds a mutex for a scope.
class BOUGH_THREAD_ATTRIBUTE_(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) BOUGH_THREAD_ATTRIBUTE_(acquire_capability(mutex)) : mutex_(mutex) { mutex_.lock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() BOUGH_THREAD_ATTRIBUTE_(release_capability()) { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

/// Releases a mutex that is held, and takes it again at the end of the scope.
class BOUGH_THREAD_ATTRIBUTE_(scoped_lockable) MutexUnlock {
 public:
  explicit MutexUnlock(Mutex& mutex) BOUGH_THREAD_ATTRIBUTE_(release_capability(mutex)) : mutex_(mutex) {
    mutex_.unlock();
  }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;
  ~MutexUnlock() BOUGH_THREAD_ATTRIBUTE_(release_capability()) { mutex_.lock(); }

 private:
  Mutex& mutex_;
};

}  // namespace bough
